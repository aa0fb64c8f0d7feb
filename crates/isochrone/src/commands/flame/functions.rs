//! Flame graphs of functions, whose entries and exits programs recorded.

use std::collections::BTreeSet;

use isochrone_experiment::{CallStacks, FUNCTION_EVENTS, Function, MAPPING_EVENTS, Opened, StackCounts};
use isochrone_export::flame::Flame;
use isochrone_time::{UnixNs, Window};
use isochrone_timing::Times;

use super::symbols::{NamedSymbols, file_name};
use crate::arguments::EventFilters;
use crate::commands::each_event::each_event;
use crate::commands::events::{chosen, refuse_chunks};
use crate::commands::filter::Filter;
use crate::output::{Console, note};
use crate::render::figures;
use crate::render::plain::plain;

/// The functions of the threads that were chosen.
pub(super) fn functions(
    filters: &EventFilters,
    opened: &Opened,
    symbols: &[NamedSymbols],
    console: &Console,
) -> anyhow::Result<Flame> {
    let experiment = opened.experiment();
    refuse_chunks(&experiment)?;
    let (traces, times) = chosen(&experiment, opened, filters, console)?;
    let mut filter = Filter::new(filters, &[], Times::default(), &traces)?;
    let window = Window::new(times.start.unwrap_or(UnixNs::MIN), times.end.unwrap_or(UnixNs::MAX));
    let mut stacks = CallStacks::new(window);
    let from = (opened, &*traces);
    each_event(&experiment, from, "reading calls of functions", console, |source, host, unix, event| {
        let name = event.name().unwrap_or_default();
        let (is_mapping, is_function) = (name.starts_with(MAPPING_EVENTS), name.starts_with(FUNCTION_EVENTS));
        let Some(at) = unix.filter(|_| is_mapping || is_function) else { return };
        if is_mapping || filter.keeps(source, host, unix, event) {
            stacks.add(source, host, at, event);
        }
    });
    filter.note_unmatched(console);
    let is_filtered = !filters.hosts.is_empty() || filter.has_threads();
    note_unused(stacks.counts(), is_filtered, console)?;
    check_symbols(&stacks, symbols)?;
    let mut flame = Flame::default();
    stacks.each(|host, program, functions, ns| {
        let first = format!("{host} {}", program.unwrap_or("?"));
        let names = functions.iter().map(|function| name(function, symbols));
        flame.add(std::iter::once(first).chain(names), ns);
    });
    Ok(flame)
}

/// Reports events of functions that could not be used.
fn note_unused(counts: StackCounts, is_filtered: bool, console: &Console) -> anyhow::Result<()> {
    let StackCounts { events, of_no_thread, not_entered, not_left, open, too_deep, recorded_twice } = counts;
    anyhow::ensure!(
        events > 0 || is_filtered,
        "no program recorded its functions: compile it with -finstrument-functions, run it with \
         LD_PRELOAD=liblttng-ust-cyg-profile.so, and type: lttng enable-event --userspace \
         'lttng_ust_cyg_profile*'"
    );
    anyhow::ensure!(
        of_no_thread < events || events == 0,
        "the events of functions have no context `vtid`, without which threads are mixed up; before the next \
         recording, type: lttng add-context --userspace --type vtid --type vpid --type procname"
    );
    anyhow::ensure!(
        recorded_twice == 0,
        "several sessions recorded the functions of a process at one time, whose times would add up: name \
         the traces of one session (processes: {})",
        figures::count(recorded_twice)
    );
    for (count, what) in [
        (of_no_thread, "events of functions of no thread that is known: left out"),
        (
            not_entered,
            "exits of functions whose entry is not in the traces: their time is in what called them",
        ),
        (not_left, "functions whose exit is not in the traces: they end with what called them"),
        (open, "functions that had not ended: their time is that up to the last event of their thread"),
        (too_deep, "calls in very deep stacks: their time is in what called them"),
    ] {
        if count > 0 {
            note!(console, "{what}: {}", figures::count(count));
        }
    }
    Ok(())
}

/// Refuses names of functions without the name of a file, where they would name those of several files.
fn check_symbols(stacks: &CallStacks, symbols: &[NamedSymbols]) -> anyhow::Result<()> {
    let mut files = BTreeSet::new();
    stacks.each(|_, _, functions, _| {
        let has = |function: &&Function<'_>| {
            symbols.iter().any(|it| it.is_of_any() && it.of_function(function).is_some())
        };
        let paths = functions.iter().filter(has).filter_map(|function| Some(function.binary?.0.to_owned()));
        files.extend(paths);
    });
    let list = |files: BTreeSet<String>| files.into_iter().collect::<Vec<_>>().join(", ");
    anyhow::ensure!(
        files.len() <= 1,
        "--symbols FILE would name functions of several programs: give NAME=FILE for one of {}",
        plain(&list(files))
    );
    Ok(())
}

/// The name of a function; where it is not known, what is mapped there or its address.
fn name(function: &Function<'_>, symbols: &[NamedSymbols]) -> String {
    if let Some(name) = symbols.iter().find_map(|named| named.of_function(function)) {
        return name.to_owned();
    }
    match function.binary {
        Some((path, offset)) => format!("{}+{offset:#x}", file_name(path).unwrap_or(path)),
        None => format!("{:#x}", function.address),
    }
}
