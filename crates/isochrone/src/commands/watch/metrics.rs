//! Metrics of `isochrone watch`: for a server, for a file that is replaced, and for a directory of files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use isochrone_analysis::Report;
use isochrone_experiment::{HostProgress, Step, StepClock};
use isochrone_export::openmetrics::{Family, Sample, families, text, text_at};
use isochrone_files::output;
use isochrone_time::{UnixNs, Window};

use crate::render::plain::Plain;

/// Outputs of metrics.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    /// The text that a server sends.
    pub(super) shared: Arc<Mutex<String>>,
    /// A file with the current metrics.
    pub(super) file: Option<PathBuf>,
    /// A directory with a file for each chunk and each step.
    pub(super) backfill: Option<PathBuf>,
}

impl Metrics {
    /// Publishes the current metrics.
    pub(super) fn show(&self, all: &[Family]) -> anyhow::Result<()> {
        let shown = text(all);
        // The server has them before the file, which a reader may be waiting for.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&shown);
        self.file.as_deref().map_or(Ok(()), |file| replace(file, &shown))
    }

    /// Whether nothing has been published yet.
    pub(super) fn is_unpublished(&self) -> bool {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Keeps the metrics of a host at its watermark.
    pub(super) fn keep_host(&self, host: &HostProgress, reports: &[Report]) -> anyhow::Result<()> {
        let (Some(directory), Some(at)) = (&self.backfill, host.watermark) else { return Ok(()) };
        let all = [of_hosts(std::slice::from_ref(host)), families(reports)].concat();
        keep(directory, at, &host.host, &text_at(&[(&all, Some(at))]))
    }

    /// Keeps the metrics of a host at its last event.
    pub(super) fn keep_last(&self, host: &str, end: UnixNs, reports: &[Report]) -> anyhow::Result<()> {
        let Some(directory) = &self.backfill else { return Ok(()) };
        keep(directory, end, host, &text_at(&[(&families(reports), Some(end))]))
    }

    /// Keeps the metrics of a step: new ones as they were at its start, all as they are at its end.
    pub(super) fn keep_step(
        &self,
        step: Window<UnixNs>,
        before: &[Family],
        after: &[Family],
    ) -> anyhow::Result<()> {
        let Some(directory) = &self.backfill else { return Ok(()) };
        let text = text_at(&[(before, Some(step.start)), (after, Some(step.end))]);
        keep(directory, step.end, "steps", &text)
    }
}

/// Writes a file for an instant, named so that files sort by time. The same instant gives the same file, so that a process that was killed
/// before it had recorded the write writes it again.
fn keep(directory: &Path, at: UnixNs, of: &str, shown: &str) -> anyhow::Result<()> {
    let of: String =
        of.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    replace(&directory.join(format!("{:020}-{of}.om", at.0)), shown)
}

/// Writes a file whole or not at all: a collector may read it at any time.
fn replace(file: &Path, shown: &str) -> anyhow::Result<()> {
    output::write(file, shown.as_bytes()).with_context(|| format!("cannot write {}", Plain(file.display())))
}

/// Creates a directory for files of metrics.
pub(super) fn make_directory(path: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(path).with_context(|| format!("cannot write {}", Plain(path.display())))
}

fn family(name: &str, help: &str, is_counter: bool, samples: Vec<Sample>) -> Family {
    Family { name: name.to_owned(), help: help.to_owned(), is_counter, samples }
}

/// The progress of each host.
pub(super) fn of_hosts(progress: &[HostProgress]) -> Vec<Family> {
    let labels = |host: &HostProgress, value| Sample::count(&[("host", &host.host)], value);
    let each = |of: fn(&HostProgress) -> u64| -> Vec<Sample> {
        progress.iter().map(|host| labels(host, of(host))).collect()
    };
    let watermark = |host: &HostProgress| Some(Sample::seconds(&[("host", &host.host)], host.watermark?.0));
    vec![
        family("isochrone_watch_chunks", "Chunks that were mapped", true, each(|host| host.chunks)),
        family("isochrone_watch_events", "Events in them", true, each(|host| host.events)),
        family(
            "isochrone_watch_losses",
            "Times in which something is missing",
            true,
            each(|host| host.losses),
        ),
        family("isochrone_watch_waiting", "Chunks that wait for others", false, each(|host| host.waiting)),
        family(
            "isochrone_watch_watermark_seconds",
            "All before this Unix time is in the figures",
            false,
            progress.iter().filter_map(watermark).collect(),
        ),
    ]
}

/// The number of steps, and the end of the last.
pub(super) fn of_steps(number: u64, end: Option<UnixNs>) -> Vec<Family> {
    vec![
        family(
            "isochrone_watch_steps",
            "Steps that were asked about across hosts",
            true,
            vec![Sample::count(&[], number)],
        ),
        family(
            "isochrone_watch_step_end_seconds",
            "All before this Unix time is in the figures of steps",
            false,
            end.map(|end| Sample::seconds(&[], end.0)).into_iter().collect(),
        ),
    ]
}

/// The clocks at the end of the last step, and late hosts.
pub(super) fn of_step(step: &Step) -> Vec<Family> {
    let each = |of: fn(&StepClock) -> Option<i128>| -> Vec<Sample> {
        let sample = |clock: &StepClock| Some(Sample::seconds(&[("host", &clock.host)], of(clock)?));
        step.clocks.iter().filter_map(sample).collect()
    };
    vec![
        family(
            "isochrone_watch_late_seconds",
            "Time of a host that is in no step, as it came when steps of that time had been published",
            true,
            each(|clock| Some(clock.late_ns)),
        ),
        family(
            "isochrone_clock_uncertainty_seconds",
            "How far the time of a host can be off, at the end of the last step",
            false,
            each(|clock| clock.uncertainty_ns.map(i128::from)),
        ),
        family(
            "isochrone_clock_revised_seconds",
            "How much later the end of the step before is than it was published",
            false,
            each(|clock| clock.revised_ns.map(i128::from)),
        ),
    ]
}
