//! `isochrone events`: events of many traces in the order of time.

use std::collections::BTreeMap;

use isochrone_ctf::Event;
use isochrone_experiment::{TimedTrace, TimedTraces, check_names};

use super::{host_selection, open, time_base};
use crate::ExitStatus;
use crate::arguments::Events;
use crate::output::{self, tell};
use crate::render::events::Printer;
use crate::render::plain::plain;
use crate::render::{complaints, figures};

pub(crate) fn run(arguments: &Events, quiet: bool) -> anyhow::Result<ExitStatus> {
    let base = time_base(arguments.sync.as_deref())?;
    let (opened, mut ending) = open(&arguments.traces, base, quiet)?;
    let experiment = opened.experiment();
    let TimedTraces { traces: mut sources, uncorrected } = experiment.traces();
    for input in uncorrected {
        ending = ending.max(host_selection::leave_out_unsynchronized(input.path().display()));
    }
    anyhow::ensure!(!sources.is_empty(), host_selection::OTHER_CLOCKS);
    check_names(&arguments.hosts, sources.iter().map(|source| source.host.as_str()))
        .map_err(|error| host_selection::unknown_host(&error))?;
    sources.retain(|source| arguments.hosts.is_empty() || arguments.hosts.contains(&source.host));
    host_selection::warn_of_islands(
        sources.iter().filter_map(TimedTrace::clock),
        "; the order of events of different islands is not known",
    );

    let mut merge = experiment.events(&sources);
    let mut outside = vec![0_u64; sources.len()];
    output::print(|stdout| {
        let mut printer = Printer::new(arguments, &sources, stdout);
        for (source, unix_ns, event) in merge.by_ref() {
            if selected(arguments, unix_ns, &event) {
                outside[source] += u64::from(sources[source].is_outside(&event));
                printer.event(source, unix_ns, &event)?;
            }
        }
        Ok(printer.finish()?)
    })?;
    experiment.hosts().iter().for_each(|host| complaints::of_host(&host.traced, quiet));
    if !quiet {
        note_extrapolated(&sources, &outside);
    }
    let lost: Vec<_> = merge.diagnostics().cloned().collect();
    Ok(ending.max(complaints::show(&lost, quiet)))
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

fn selected(arguments: &Events, unix_ns: Option<i128>, event: &Event<'_>) -> bool {
    let Events { begin, end, names, .. } = arguments;
    let in_time = match unix_ns {
        Some(time) => begin.is_none_or(|begin| time >= begin) && end.is_none_or(|end| time < end),
        None => begin.is_none() && end.is_none(),
    };
    let name = event.name().unwrap_or_default();
    in_time && (names.is_empty() || names.iter().any(|pattern| matches(pattern, name)))
}

/// Whether a name fits a pattern in which `*` stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns() {
        let check = |pattern, name, expect| assert_eq!(matches(pattern, name), expect, "{pattern} {name}");
        check("sched_switch", "sched_switch", true);
        check("sched_switch", "sched_switch2", false);
        check("sched_*", "sched_switch", true);
        check("*", "", true);
        check("*_entry_*", "syscall_entry_read", true);
        check("*_entry_*", "syscall_entry", false);
        check("a*a", "a", false);
        check("*read", "syscall_entry_read", true);
    }
}
