//! Reads all events of some traces, with progress, and reports what could not be read.

use isochrone_ctf::Event;
use isochrone_experiment::{Experiment, Opened, TimedTrace};
use isochrone_time::UnixNs;

use crate::output::Console;
use crate::progress::Progress;
use crate::render::complaints;

/// Passes on all events of some traces, in the order of time: the index of the trace among them, its host,
/// the time on the requested clock.
pub(super) fn each_event(
    experiment: &Experiment<'_>,
    (opened, traces): (&Opened, &[TimedTrace<'_>]),
    doing: &'static str,
    console: &Console,
    mut each: impl FnMut(usize, &str, Option<UnixNs>, &Event<'_>),
) {
    let bar = Progress::over_bytes(opened.inputs(), doing, console);
    let mut merge = experiment.events(traces);
    for (source, unix, event) in merge.by_ref() {
        each(source, &traces[source].host, unix, &event);
    }
    bar.finish();
    experiment.hosts().iter().for_each(|host| complaints::of_host(host, console));
    let lost: Vec<_> = merge.diagnostics().cloned().collect();
    complaints::show(&lost, console);
}
