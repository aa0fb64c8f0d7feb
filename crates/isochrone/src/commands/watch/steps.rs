//! Steps of watched sessions: analyses across hosts of successive parts of time, from a store of their
//! chunks.

use isochrone_analysis::{Options, Report};
use isochrone_crosshost::{Cluster, accounting, messages};
use isochrone_experiment::{Experiment, Indexing, Inputs, PhaseFilter, Spread, Step, Watch, index, phases};
use isochrone_export::openmetrics::Family;
use isochrone_export::steps::StepMetrics;
use isochrone_store::Store;
use isochrone_time::Window;
use isochrone_timing::{TimedHost, Times, is_on_one_clock};
use isochrone_unfinished::UnfinishedDirectory;
use serde::{Deserialize, Serialize};

use super::metrics::{Metrics, of_step, of_steps};
use super::watch_error;
use crate::arguments::Stepped;
use crate::output::{Console, note, warn_partial, warning};
use crate::render::figures;
use crate::render::plain::{Plain, plain};

/// What is computed of steps, and the results so far.
pub(super) struct Steps<'w> {
    stepped: &'w [Stepped],
    options: &'w Options,
    spread: Spread,
    source: isochrone_experiment::Steps,
    kept: Kept,
    /// Directory of the stores of steps.
    directory: UnfinishedDirectory,
    /// Metrics of the last step and its clocks.
    of_last: Vec<Family>,
    /// The last step of all was made, and must not be counted again.
    is_over: bool,
}

/// What is kept in the journal.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    /// Names of what is computed.
    #[serde(rename = "asked")]
    stepped: Vec<String>,
    #[serde(rename = "figures")]
    metrics: StepMetrics,
}

impl<'w> Steps<'w> {
    pub(super) fn new(
        watch: &Watch<'_>,
        stepped: &'w [Stepped],
        options: &'w Options,
        spread: Spread,
    ) -> anyhow::Result<Self> {
        let names: Vec<String> = stepped.iter().map(|stepped| stepped.name().to_owned()).collect();
        let (steps, kept) = isochrone_experiment::Steps::new::<Kept>(watch).map_err(watch_error)?;
        anyhow::ensure!(
            kept.as_ref().is_none_or(|kept| kept.stepped == names),
            "--state: was made for {}; name another directory, or delete it",
            kept.as_ref().map(|kept| kept.stepped.join(", ")).unwrap_or_default()
        );
        let kept = kept.unwrap_or_else(|| Kept { stepped: names, metrics: StepMetrics::default() });
        let directory = UnfinishedDirectory::temporary("isochrone-watch")?;
        let (number, end) = steps.published();
        let of_last = of_steps(number, end);
        Ok(Self { stepped, options, spread, source: steps, kept, directory, of_last, is_over: false })
    }

    /// Makes the steps that can be made, keeps their metrics, and passes their tables to `show`.
    pub(super) fn make(
        &mut self,
        watch: &mut Watch<'_>,
        is_last: bool,
        metrics: &Metrics,
        console: &Console,
        show: impl Fn(Vec<Report>, usize) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        while !self.is_over
            && let Some(step) = self.source.next(watch, is_last).map_err(watch_error)?
        {
            self.step(watch, &step, metrics, &show)?;
            self.report(&step, console);
            self.is_over = step.is_last;
            if step.is_last {
                break;
            }
            self.source.done(watch, &step, &self.kept).map_err(watch_error)?;
        }
        Ok(())
    }

    fn step(
        &mut self,
        watch: &Watch<'_>,
        step: &Step,
        metrics: &Metrics,
        show: impl Fn(Vec<Report>, usize) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let inputs = Inputs::open(&step.chunks);
        let path = self.directory.path().join("store");
        index(&Experiment::new(&inputs, None), &path, self.spread, Indexing::default())?;
        let store = Store::open(&path)?;
        let experiment = Experiment::new(&inputs, self.source.clocks(watch));
        let hosts: Vec<&TimedHost<'_>> =
            experiment.hosts().iter().filter(|host| host.timing.is_some()).collect();
        let cluster = Cluster::open(&store, &hosts, self.source.clocks(watch))?;
        let start = step.start.or(cluster.range().map(|range| range.start)).unwrap_or(step.end);
        let span = Window::new(start, step.end);
        let window = Some(span);
        let is_synchronized = is_on_one_clock(&hosts);
        let mut reports = Vec::with_capacity(self.stepped.len());
        for stepped in self.stepped {
            reports.push(match stepped {
                Stepped::Phases => {
                    let times = Times { start: Some(start), end: Some(step.end), at: None };
                    let filter = PhaseFilter { filter: &self.options.filter, times };
                    let report = phases(&store, &hosts, None, filter, is_synchronized)?;
                    Report { range: Some([start, step.end]), ..report }
                }
                Stepped::Messages => messages(&cluster, window, false, is_synchronized)?,
                Stepped::Accounting => accounting(&cluster, window, is_synchronized)?,
            });
        }
        let kept = &mut self.kept.metrics;
        kept.begin();
        for report in &reports {
            kept.add(report);
        }
        self.of_last = [of_steps(step.number + 1, Some(span.end)), of_step(step)].concat();
        metrics.keep_step(span, &kept.before(), &self.families())?;
        for report in &mut reports {
            report.sort_and_limit(self.options);
        }
        show(reports, hosts.len())
    }

    /// The metrics of all steps so far.
    pub(super) fn families(&self) -> Vec<Family> {
        [self.of_last.clone(), self.kept.metrics.families()].concat()
    }

    /// Reports what was revised after it was published, and what was too late for it.
    fn report(&self, step: &Step, console: &Console) {
        for (host, late) in step.clocks.iter().filter_map(|clock| Some((&clock.host, clock.late?))) {
            let lasted = figures::duration(late.end.saturating_since(late.start));
            warn_partial!(
                console,
                "{}: {lasted} of it appeared when steps of that time had been published, and are in none of them",
                plain(host)
            );
        }
        for clock in step.clocks.iter().filter(|clock| clock.is_beyond) {
            let by = figures::duration(clock.revised_ns.unwrap_or_default());
            warning!(
                "{}: the end of the previous step is {by} later than it was published, which is beyond its bounds then",
                plain(&clock.host)
            );
        }
        if self.kept.metrics.left_out() > 0 {
            let left_out = figures::count(self.kept.metrics.left_out());
            note!(console, "too many series of steps; number of values left out: {}", Plain(left_out));
        }
    }
}
