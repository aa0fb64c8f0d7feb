//! `isochrone events`: events of many traces in the order of time.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use isochrone_experiment::{Experiment, Opened, TimedHost, TimedTrace, TimedTraces, check_names, extent};
use isochrone_hosts::SLACK;

use super::filter::Filter;
use super::{host_selection, open};
use crate::ExitStatus;
use crate::arguments::{EventFormat, Events};
use crate::output::{self, tell};
use crate::progress::Progress;
use crate::render::events::{Printer, Style};
use crate::render::plain::{Plain, plain};
use crate::render::{complaints, figures};

/// After so many events it is told how far they go.
const TELL_EVERY: u64 = 1 << 12;

pub(crate) fn run(arguments: &Events, quiet: bool) -> anyhow::Result<ExitStatus> {
    anyhow::ensure!(
        !arguments.date || arguments.format == EventFormat::Text,
        "--date applies to --format text only: the others have whole times"
    );
    let (opened, mut ending) = open(&arguments.traces, arguments.clock.time_base()?, quiet)?;
    let experiment = opened.experiment();
    let TimedTraces { traces: mut sources, uncorrected } = experiment.traces();
    for input in uncorrected {
        ending = ending.max(host_selection::leave_out_unsynchronized(input.path().display()));
    }
    anyhow::ensure!(!sources.is_empty(), host_selection::OTHER_CLOCKS);
    check_names(&arguments.hosts, sources.iter().map(|source| source.host.as_str()))
        .map_err(|error| host_selection::unknown_host(&error))?;
    sources.retain(|source| arguments.hosts.is_empty() || arguments.hosts.contains(&source.host));
    let is_corrected = sources.iter().any(|source| source.clock().is_some());
    anyhow::ensure!(!arguments.bounds || is_corrected, host_selection::NO_BOUNDS);
    ending = ending.max(host_selection::tell_clocks(
        &opened,
        sources.iter().filter_map(TimedTrace::clock),
        ": the order of their events is not known",
        quiet,
    ));
    tell_own_clocks(&experiment, &opened, &sources, quiet);
    host_selection::tell_names(hosts_of(&experiment, &sources), quiet);
    let extent = extent(hosts_of(&experiment, &sources));
    let times = host_selection::times([arguments.begin, arguments.end, None], extent)?;

    let mut filter = Filter::new(arguments, times, &sources)?;
    if !quiet && !arguments.names.is_empty() {
        let classes = sources.iter().flat_map(|source| &source.trace().schema().streams);
        let known =
            classes.flat_map(|stream| &stream.events).filter_map(|event| event.name.clone()).collect();
        host_selection::tell_unmatched("event", &arguments.names, &known);
    }
    let mut merge = experiment.events(&sources);
    let mut outside = vec![0_u64; sources.len()];
    let mut backwards = Backwards::default();
    let mut left = arguments.limit.map_or(u64::MAX, NonZeroU64::get);
    let (first, last) = extent.unwrap_or_default();
    let since_first = |time: i128| u64::try_from(time - first).unwrap_or(0);
    let bar = Progress::over_time(since_first(last), "writing events", quiet);
    output::print(|stdout| {
        let mut printer = Printer::new(Style::of(arguments), &sources, opened.clocks(), stdout);
        for ((source, unix_ns, event), number) in merge.by_ref().zip(0_u64..) {
            if number.is_multiple_of(TELL_EVERY)
                && let Some(time) = unix_ns
            {
                bar.reach(since_first(time));
            }
            backwards.see(source, unix_ns);
            if filter.keeps((source, &sources[source].host), unix_ns, &event) {
                outside[source] += u64::from(sources[source].is_outside(&event));
                printer.event(source, unix_ns, &event)?;
                left -= 1;
                if left == 0 {
                    break;
                }
            }
        }
        Ok(printer.finish()?)
    })?;
    bar.finish();
    experiment.hosts().iter().for_each(|host| complaints::of_host(&host.traced, quiet));
    if !quiet {
        note_extrapolated(&sources, &outside);
    }
    let lost: Vec<_> = merge.diagnostics().cloned().collect();
    Ok(ending.max(complaints::show(&lost, quiet)).max(backwards.tell(&sources)))
}

/// Events that are earlier than others before them in their stream, by more than tracers do ([`SLACK`]): where stamps go back, there is
/// no order of time.
#[derive(Debug, Default)]
struct Backwards {
    latest: Option<i128>,
    count: u64,
    longest: i128,
    first: usize,
}

impl Backwards {
    /// The next event in the order of time, of a source.
    fn see(&mut self, source: usize, unix_ns: Option<i128>) {
        let Some(time) = unix_ns else { return };
        match self.latest {
            Some(latest) if latest - time > i128::from(SLACK) => {
                if self.count == 0 {
                    self.first = source;
                }
                self.count += 1;
                self.longest = self.longest.max(latest - time);
            }
            Some(latest) if latest >= time => {}
            _ => self.latest = Some(time),
        }
    }

    fn tell(&self, sources: &[TimedTrace<'_>]) -> ExitStatus {
        if self.count > 0 {
            let path = sources[self.first].trace().path().display();
            let (are, events) =
                (if self.count == 1 { "is" } else { "are" }, figures::plural(self.count, "event"));
            let longest = figures::duration(i64::try_from(self.longest).unwrap_or(i64::MAX));
            tell!(
                "warning: {}: {events} {are} earlier than events before them in their stream, by up to {longest}: their times are not to be trusted",
                Plain(path)
            );
        }
        ExitStatus::partly_if(self.count > 0)
    }
}

/// The hosts that some traces are of.
fn hosts_of<'e, 'o>(
    experiment: &'e Experiment<'o>,
    sources: &[TimedTrace<'_>],
) -> impl Iterator<Item = &'e TimedHost<'o>> {
    let is_of =
        |host: &&TimedHost<'_>| sources.iter().any(|source| host.traced.places.contains(&source.place));
    experiment.hosts().iter().filter(is_of)
}

/// Several hosts on their own clocks are in no order that means anything.
fn tell_own_clocks(experiment: &Experiment<'_>, opened: &Opened, sources: &[TimedTrace<'_>], quiet: bool) {
    let hosts = hosts_of(experiment, sources).count();
    if opened.clocks().is_none() && hosts > 1 && !quiet {
        let hosts = figures::plural(hosts, "host");
        tell!("note: {hosts}, each on its own clock: the order of events of different hosts means nothing");
    }
}

/// Corrections go on beyond what they were made from, but nothing is sure there.
fn note_extrapolated(sources: &[TimedTrace<'_>], outside: &[u64]) {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for (source, &outside) in sources.iter().zip(outside) {
        *counts.entry(&source.host).or_default() += outside;
    }
    for (host, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        let (count, host) = (figures::count(count), plain(host));
        tell!(
            "note: {count} events of {host} lie outside the time that was synchronized: they have no bounds"
        );
    }
}
