//! `isochrone events`: events of many traces in the order of time.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;

use isochrone_analysis::{Need, lacking};
use isochrone_experiment::{
    Experiment, Explainer, Opened, PART_ROWS, Spread, TimedTrace, TimedTraces, stored_hosts,
};
use isochrone_hosts::SLACK;
use isochrone_time::UnixNs;
use isochrone_timing::{TimedHost, Times, check_names, extent, recorded};

use super::event_counts::Counts;
use super::filter::Filter;
use super::{host_selection, index, named, open_named, periods};
use crate::arguments::{EventFilters, EventFormat, Events};
use crate::event_cpu::EventCpus;
use crate::output::{self, Console, note, warning};
use crate::progress::Progress;
use crate::render::events::{EventTime, Explained, Printer, Style};
use crate::render::plain::{Plain, plain};
use crate::render::{complaints, figures};

/// Why --date is refused.
pub(super) const DATE_OF_TEXT: &str = "--date applies to --format text only: the others have whole times";

/// Number of events between updates of the progress.
const PROGRESS_INTERVAL: u64 = 1 << 12;

/// Refuses mapped chunks: they have a part of the events only.
///
/// # Errors
/// A file of mapped chunks was named.
pub(super) fn refuse_chunks(experiment: &Experiment<'_>) -> anyhow::Result<()> {
    anyhow::ensure!(
        experiment.chunks().is_none(),
        "mapped pieces hold a part of the events only: name the traces that they were mapped of"
    );
    Ok(())
}

pub(crate) fn run(arguments: &Events, console: &Console) -> anyhow::Result<()> {
    anyhow::ensure!(!arguments.date || arguments.format == EventFormat::Text, DATE_OF_TEXT);
    let definitions = periods::definitions(&arguments.periods, &[])?;
    let named = named(&arguments.traces)?;
    let opened = open_named(&named, None, arguments.clock.time_base()?, console)?;
    let experiment = opened.experiment();
    refuse_chunks(&experiment)?;
    let filters = &arguments.filters;
    let (sources, times) = chosen(&experiment, &opened, filters, console)?;
    let is_corrected = sources.iter().any(|source| source.clock().is_some());
    anyhow::ensure!(!arguments.bounds || is_corrected, host_selection::NO_BOUNDS);
    note_own_clocks(&experiment, &opened, &sources, console);
    let mut filter = Filter::new(filters, &arguments.follow, times, &sources)?;
    let store = match arguments.explain {
        true => Some(index::store(&named, None, &opened, Spread::default(), console)?),
        false => None,
    };
    let stores = store.as_ref().map(stored_hosts).transpose()?.unwrap_or_default();
    let explainer = || Explainer::new(&experiment, &sources, &stores, &arguments.fd_fields, PART_ROWS);
    let mut explainer = arguments.explain.then(explainer).transpose()?;
    if let (Some(explainer), Some(definitions)) = (&mut explainer, definitions) {
        let hosts: Vec<_> = hosts_of(&experiment, &sources).collect();
        let found = periods::found(&hosts, Spread::default(), &definitions, console)?;
        for (host, found) in hosts.iter().zip(&found) {
            explainer.add_periods(&host.traced.id, found);
        }
    }
    let (mut explained, mut cpus) = (Explained::default(), EventCpus::default());
    let mut merge = experiment.events(&sources);
    let mut outside = vec![0_u64; sources.len()];
    let mut backwards = Backwards::default();
    let limit = arguments.limit.map_or(u64::MAX, NonZeroU64::get);
    let mut counts = arguments.count.then(|| Counts::new(&arguments.by, &sources)).transpose()?;
    let mut left = if arguments.count { u64::MAX } else { limit };
    let (first, last) = extent(hosts_of(&experiment, &sources)).unwrap_or_default();
    let since_first = |time: UnixNs| u64::try_from(time - first).unwrap_or(0);
    let doing = if arguments.count { "counting events" } else { "writing events" };
    let bar = Progress::over_time(since_first(last), doing, console);
    output::print(|stdout| {
        let mut printer = Printer::new(Style::of(arguments), &sources, opened.clocks(), &mut *stdout);
        for ((source, unix, event), number) in merge.by_ref().zip(0_u64..) {
            if number.is_multiple_of(PROGRESS_INTERVAL)
                && let Some(time) = unix
            {
                bar.reach(since_first(time));
            }
            backwards.add(source, unix);
            if filter.keeps(source, &sources[source].host, unix, &event) {
                outside[source] += u64::from(sources[source].is_outside(&event));
                if let Some(counts) = &mut counts {
                    counts.add(source, &sources[source].host, cpus.of(source, &event), &event);
                    continue;
                }
                match &mut explainer {
                    None => printer.event(source, unix, &event)?,
                    Some(explainer) => {
                        let when =
                            EventTime { source: &sources[source], raw: sources[source].raw(&event), unix };
                        let known = explainer.explain(source, cpus.of(source, &event), when.raw, &event)?;
                        let shown = explained.of(arguments.format, &known, when);
                        printer.explained(source, unix, &event, shown)?;
                    }
                }
                left -= 1;
                if left == 0 {
                    break;
                }
            }
        }
        bar.finish();
        match counts.take() {
            Some(counts) => {
                for (field, name) in counts.mistaken() {
                    console.note(format_args!(
                        "no event that was counted has the field {field}; what each one has is --by '${name}'"
                    ));
                }
                Ok(counts.print(arguments.format, limit, stdout)?)
            }
            None => Ok(printer.finish().map(drop)?),
        }
    })?;
    experiment.hosts().iter().for_each(|host| complaints::of_host(host, console));
    filter.note_unmatched(console);
    note_extrapolated(&sources, &outside, console);
    let lost: Vec<_> = merge.diagnostics().cloned().collect();
    complaints::show(&lost, console);
    backwards.report(&sources, console);
    if let Some(explainer) = &explainer {
        note_unknown(explainer, &experiment, &sources, console);
    }
    Ok(())
}

/// The traces and the times that some filters choose.
///
/// # Errors
/// A host or a time is unknown, or no trace has a clock of the requested time base.
pub(super) fn chosen<'e>(
    experiment: &'e Experiment<'_>,
    opened: &Opened,
    filters: &EventFilters,
    console: &Console,
) -> anyhow::Result<(Vec<TimedTrace<'e>>, Times)> {
    let TimedTraces { traces: mut sources, uncorrected } = experiment.traces();
    for input in uncorrected {
        host_selection::warn_uncorrected(input.path().display(), console);
    }
    anyhow::ensure!(!sources.is_empty(), host_selection::OTHER_CLOCKS);
    check_names(&filters.hosts, sources.iter().map(|source| source.host.as_str()))
        .map_err(|error| host_selection::unknown_host(&error))?;
    sources.retain(|source| filters.hosts.is_empty() || filters.hosts.contains(&source.host));
    let clocks = sources.iter().filter_map(TimedTrace::clock);
    host_selection::report_clocks(opened, clocks, ": the order of their events is unknown", console);
    host_selection::note_names(hosts_of(experiment, &sources), console);
    let given = [filters.window.begin, filters.window.end, None];
    let times = host_selection::times(given, &hosts_of(experiment, &sources).collect::<Vec<_>>())?;
    if !console.is_quiet() && !filters.names.is_empty() {
        let classes = sources.iter().flat_map(|source| &source.trace().schema().streams);
        let known =
            classes.flat_map(|stream| &stream.events).filter_map(|event| event.name.clone()).collect();
        host_selection::note_unmatched("event", &filters.names, &known, console);
    }
    Ok((sources, times))
}

/// What to do about a host without a trace of its kernel.
const RECORD_KERNEL: &str = "before the next recording, type: lttng enable-event --kernel --all";

/// What explanations are made of.
const NEEDS: [Need; 13] = [
    Need::Switches,
    Need::Wakeups,
    Need::Decisions,
    Need::Calls,
    Need::EveryCall,
    Need::Descriptors,
    Need::Closes,
    Need::Dump,
    Need::Interrupts,
    Need::HardInterrupts,
    Need::Softirqs,
    Need::Timers,
    Need::Threads,
];

/// Notes what was not recorded for explanations, and how many events are of no thread that is known.
fn note_unknown(
    explainer: &Explainer<'_>,
    experiment: &Experiment<'_>,
    sources: &[TimedTrace<'_>],
    console: &Console,
) {
    let (traced, others): (Vec<_>, Vec<_>) =
        hosts_of(experiment, sources).partition(|host| host.traced.has_kernel());
    for host in others {
        note!(
            console,
            "{}: its kernel was not traced: no more is known than what its events say; {RECORD_KERNEL}",
            plain(host.name())
        );
    }
    for note in lacking(&NEEDS, &recorded(&traced)) {
        note!(console, "{}", Plain(note.shown(|ns| figures::span(ns.into()))));
    }
    for (host, count) in explainer.unknown() {
        let (host, events) = (plain(host), figures::plural(count, "event"));
        note!(console, "{host}: no event says which thread ran at the time of {events}: explained as `?`");
    }
}

/// Events that are earlier than others before them in their stream, by more than tracers allow ([`SLACK`]).
#[derive(Debug, Default)]
struct Backwards {
    latest: Option<UnixNs>,
    count: u64,
    longest: i128,
    first: usize,
}

impl Backwards {
    /// Adds the next event in the order of time, of a source.
    fn add(&mut self, source: usize, unix: Option<UnixNs>) {
        let Some(time) = unix else { return };
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

    fn report(&self, sources: &[TimedTrace<'_>], console: &Console) {
        if self.count > 0 {
            let path = sources[self.first].trace().path().display();
            let (are, events) =
                (if self.count == 1 { "is" } else { "are" }, figures::plural(self.count, "event"));
            let longest = figures::duration(i64::try_from(self.longest).unwrap_or(i64::MAX));
            warning!(
                "{}: {events} {are} earlier than events before them in their stream, by up to {longest}: their times cannot be trusted",
                Plain(path)
            );
        }
        console.partial_if(self.count > 0);
    }
}

/// The hosts of some traces.
pub(super) fn hosts_of<'e, 'o, 's: 'e>(
    experiment: &'e Experiment<'o>,
    sources: impl IntoIterator<Item = &'s TimedTrace<'s>>,
) -> impl Iterator<Item = &'e TimedHost<'o>> {
    let indices: BTreeSet<usize> = sources.into_iter().map(|source| source.place).collect();
    let is_of =
        move |host: &&TimedHost<'_>| host.traced.trace_indices.iter().any(|index| indices.contains(index));
    experiment.hosts().iter().filter(is_of)
}

/// Notes that several hosts are on their own clocks.
fn note_own_clocks(
    experiment: &Experiment<'_>,
    opened: &Opened,
    sources: &[TimedTrace<'_>],
    console: &Console,
) {
    let hosts = hosts_of(experiment, sources).count();
    if opened.clocks().is_none() && hosts > 1 {
        let hosts = figures::plural(hosts, "host");
        note!(
            console,
            "{hosts}, each on its own clock: the order of events of different hosts is meaningless"
        );
    }
}

/// Notes events outside the time that was synchronized, where corrections have no bounds.
fn note_extrapolated(sources: &[TimedTrace<'_>], outside: &[u64], console: &Console) {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for (source, &outside) in sources.iter().zip(outside) {
        *counts.entry(&source.host).or_default() += outside;
    }
    for (host, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        let (count, host) = (figures::count(count), plain(host));
        note!(
            console,
            "{count} events of {host} lie outside the time that was synchronized: they have no bounds"
        );
    }
}
