//! Steps of watched sessions: what is asked across hosts of one part of time after the other, from a store of the chunks that have it.

use isochrone_analysis::{Options, Report};
use isochrone_crosshost::{Cluster, accounting, messages};
use isochrone_experiment::{
    Experiment, Indexing, Inputs, PhaseFilter, Spread, Step, TimedHost, Times, Watch, index, is_on_one_clock,
    phases,
};
use isochrone_export::openmetrics::Family;
use isochrone_export::steps::StepFigures;
use isochrone_store::Store;
use isochrone_sync::unfinished::UnfinishedDirectory;
use serde::{Deserialize, Serialize};

use super::error_in_words;
use super::figures::{Figures, of_step, of_steps};
use crate::ExitStatus;
use crate::arguments::Stepped;
use crate::output::tell;
use crate::render::figures;
use crate::render::plain::{Plain, plain};

/// What is asked of steps, and what came of those so far.
pub(super) struct Steps<'w> {
    asked: &'w [Stepped],
    options: &'w Options,
    spread: Spread,
    found: isochrone_experiment::Steps,
    kept: Kept,
    /// Where stores of steps are made.
    directory: UnfinishedDirectory,
    /// What the last step said of itself and of the clocks.
    of_last: Vec<Family>,
    /// The last step of all was made: nothing is to be counted once more.
    is_over: bool,
    quiet: bool,
}

/// What is written down.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    /// Names of what was asked.
    asked: Vec<String>,
    figures: StepFigures,
}

impl<'w> Steps<'w> {
    pub(super) fn new(
        watch: &Watch<'_>,
        (asked, options, spread): (&'w [Stepped], &'w Options, Spread),
        quiet: bool,
    ) -> anyhow::Result<Self> {
        let names: Vec<String> = asked.iter().map(|stepped| stepped.name().to_owned()).collect();
        let (found, kept) = isochrone_experiment::Steps::new::<Kept>(watch).map_err(error_in_words)?;
        anyhow::ensure!(
            kept.as_ref().is_none_or(|kept| kept.asked == names),
            "--state: was kept for {}; name another directory, or delete it",
            kept.as_ref().map(|kept| kept.asked.join(", ")).unwrap_or_default()
        );
        let kept = kept.unwrap_or_else(|| Kept { asked: names, figures: StepFigures::default() });
        let directory = UnfinishedDirectory::temporary("isochrone-watch")?;
        let of_last = of_steps(found.published());
        Ok(Self { asked, options, spread, found, kept, directory, of_last, is_over: false, quiet })
    }

    /// Makes the steps that can be made, writes what comes of them to where figures are kept, and gives their tables to `show`. Whether something of that time
    /// is in no step.
    pub(super) fn make(
        &mut self,
        watch: &mut Watch<'_>,
        is_last: bool,
        figures: &Figures,
        show: impl Fn(Vec<Report>, usize) -> anyhow::Result<()>,
    ) -> anyhow::Result<ExitStatus> {
        let mut ending = ExitStatus::Done;
        while !self.is_over
            && let Some(step) = self.found.next(watch, is_last).map_err(error_in_words)?
        {
            self.step(watch, &step, figures, &show)?;
            ending = ending.max(self.tell(&step));
            self.is_over = step.is_last;
            if step.is_last {
                break;
            }
            self.found.done(watch, &step, &self.kept).map_err(error_in_words)?;
        }
        Ok(ending)
    }

    fn step(
        &mut self,
        watch: &Watch<'_>,
        step: &Step,
        figures: &Figures,
        show: impl Fn(Vec<Report>, usize) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let inputs = Inputs::open(&step.chunks);
        let path = self.directory.path().join("store");
        index(&Experiment::new(&inputs, None), &path, self.spread, Indexing::default())?;
        let store = Store::open(&path)?;
        let experiment = Experiment::new(&inputs, self.found.clocks(watch));
        let hosts: Vec<&TimedHost<'_>> =
            experiment.hosts().iter().filter(|host| host.timing.is_some()).collect();
        let cluster = Cluster::open(&store, &hosts, self.found.clocks(watch))?;
        let begin = step.begin.or(cluster.range().map(|(first, _)| first.into())).unwrap_or(step.end);
        let bound = |at: i128| at.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        let window = Some((bound(begin), bound(step.end)));
        let is_synchronized = is_on_one_clock(&hosts);
        let mut reports = Vec::with_capacity(self.asked.len());
        for stepped in self.asked {
            reports.push(match stepped {
                Stepped::Phases => {
                    let times = Times { begin: Some(begin), end: Some(step.end), at: None };
                    let asked = PhaseFilter { filter: &self.options.filter, times };
                    let report = phases(&store, &hosts, None, asked, is_synchronized)?;
                    Report { range: Some([begin, step.end]), ..report }
                }
                Stepped::Messages => messages(&cluster, window, false, is_synchronized)?,
                Stepped::Accounting => accounting(&cluster, window, is_synchronized)?,
            });
        }
        let kept = &mut self.kept.figures;
        kept.begin();
        for report in &reports {
            kept.add(report);
        }
        self.of_last = [of_steps((step.number + 1, Some(step.end))), of_step(step)].concat();
        figures.keep_step((begin, step.end), &kept.before(), &self.families())?;
        for report in &mut reports {
            report.arrange(self.options);
        }
        show(reports, hosts.len())
    }

    /// The figures of all steps so far.
    pub(super) fn families(&self) -> Vec<Family> {
        [self.of_last.clone(), self.kept.figures.families()].concat()
    }

    /// Says what was published and turned out to be otherwise, and what came too late for it.
    fn tell(&self, step: &Step) -> ExitStatus {
        let mut ending = ExitStatus::Done;
        for (host, (from, to)) in step.clocks.iter().filter_map(|clock| Some((&clock.host, clock.late?))) {
            let lasted = figures::duration(i64::try_from(to - from).unwrap_or(i64::MAX));
            tell!(
                "warning: {}: {lasted} of it came when steps of that time had been published: what happened on it then is in none of them",
                plain(host)
            );
            ending = ExitStatus::Partly;
        }
        for clock in step.clocks.iter().filter(|clock| clock.is_beyond) {
            let by = figures::duration(clock.revised_ns.unwrap_or_default());
            tell!(
                "warning: {}: the end of the step before is {by} later than it was published, which is beyond its bounds then",
                plain(&clock.host)
            );
        }
        if self.kept.figures.left_out() > 0 && !self.quiet {
            let left_out = figures::count(self.kept.figures.left_out());
            tell!("note: there are too many series of steps; values that are left out: {}", Plain(left_out));
        }
        ending
    }
}
