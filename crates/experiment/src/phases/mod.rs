//! The tables of `phases`: how long the phases of programs take, and where their time goes. From a store, on
//! the clock that is asked for.
//!
//! A phase is of the thread that it begins in. Phases come from the store (what programs recorded as begins
//! and ends), or are periods that were found in a pass of their own ([`crate::periods()`]).

mod breakdown;

use std::collections::BTreeMap;

use isochrone_analysis::{Cell, Filter, Note, Report, Table, Unit, VERSION, nearest_rank};
use isochrone_kernel::{Name, ThreadId};
use isochrone_store::{HostStore, Store, StoreError, ThreadInfo, ThreadRow};
use isochrone_time::{RawNs, UnixNs, Window};
use isochrone_timing::{TimedHost, Times};

use crate::model::ModelledHost;
use crate::periods::{PeriodLog, unfinished};
use crate::states::is_selected;
pub(crate) use breakdown::Instance;
use breakdown::{Breakdown, Counted, breakdown};

/// Which phases are asked for.
#[derive(Debug, Clone, Copy)]
pub struct PhaseFilter<'f> {
    /// Of which threads, and of what durations.
    pub filter: &'f Filter,
    /// Those that end in this time.
    pub times: Times,
}

/// The tables of the phases of hosts, in the order of the hosts. `periods`: the periods of each host, instead
/// of what its programs recorded. `is_synchronized`: whether the hosts' times are on one clock.
///
/// # Errors
/// The store cannot be read.
pub fn phases(
    store: &Store,
    hosts: &[&TimedHost<'_>],
    periods: Option<&[ModelledHost<'_, PeriodLog>]>,
    asked: PhaseFilter<'_>,
    is_synchronized: bool,
) -> Result<Report, StoreError> {
    let mut tables = Tables::new();
    let mut range: Option<[UnixNs; 2]> = None;
    let mut notes = Vec::new();
    for (place, host) in hosts.iter().enumerate() {
        let Some(timing) = host.timing else { continue };
        let entries = &store.manifest().hosts;
        let Some(entry) = entries.iter().find(|entry| entry.id == host.traced.id) else { continue };
        let there = store.host(entry)?;
        let recorded_by_programs = periods.is_none().then(|| programs_extent(host)).flatten();
        if let Some(range_here) = entry.range.map(|range| overlap(range, recorded_by_programs)) {
            let here = [timing.unix(range_here.start), timing.unix(range_here.end)];
            range = Some(range.map_or(here, |all| [all[0].min(here[0]), all[1].max(here[1])]));
        }
        let window = asked.times.on(timing).window;
        let mut instances = match periods.and_then(|periods| periods.get(place)) {
            Some(host) => {
                notes.extend(unfinished(host_name(host), &host.model.period_tallies));
                of_periods(&there, host)
            }
            None => recorded(&there, window)?,
        };
        instances.retain(|it| {
            (window.start..window.end).contains(&it.end)
                && keeps(asked.filter, host.name(), it, there.threads())
        });
        let without = instances.iter().filter(|it| it.thread.is_none()).count();
        if without > 0 {
            let text = format!(
                "{}: phases of idle tasks, or of threads that are not known, whose time is unknown: {without}",
                host.name()
            );
            notes.push(Note::default().text(&text));
        }
        instances
            .sort_by(|a, b| (a.start, a.end, a.thread, &a.name).cmp(&(b.start, b.end, b.thread, &b.name)));
        tables.add(host.name(), &instances, &breakdown(&there, &instances)?);
    }
    Ok(Report {
        analysis: "phases",
        version: VERSION,
        sync: is_synchronized,
        range,
        tables: tables.finish(),
        notes,
    })
}

/// The first and the last event of programs: before, their tracer had not started. Two packets of each stream
/// are read.
fn programs_extent(host: &TimedHost<'_>) -> Option<Window<RawNs>> {
    let of_programs = || host.traced.sources().iter().filter(|source| !source.is_kernel);
    let first = of_programs().filter_map(|source| {
        source.packets().find_map(|packet| source.events_of(packet).next()).map(|(at, _)| at)
    });
    let last = of_programs().filter_map(|source| {
        source.packets().rev().find_map(|packet| source.events_of(packet).last()).map(|(at, _)| at)
    });
    Some(Window::new(first.min()?, last.max()?))
}

/// The part of a range that is in another one; all of it where they have nothing in common.
fn overlap(range: Window<RawNs>, other: Option<Window<RawNs>>) -> Window<RawNs> {
    other.map(|other| range.clip(other)).filter(|both| both.start <= both.end).unwrap_or(range)
}

fn host_name<'h>(host: &'h ModelledHost<'_, PeriodLog>) -> &'h str {
    isochrone_analysis::HostContext::name(host)
}

/// The phases that programs recorded.
fn recorded(there: &HostStore, window: Window<RawNs>) -> Result<Vec<Instance>, StoreError> {
    let phases = there.phases_between(window)?.into_iter();
    Ok(phases.map(|it| Instance { name: it.name, thread: it.thread, start: it.start, end: it.end }).collect())
}

/// Periods as phases of the threads that they begin in.
pub(crate) fn of_periods(there: &HostStore, host: &ModelledHost<'_, PeriodLog>) -> Vec<Instance> {
    let mut by_tid: BTreeMap<i32, Vec<ThreadRow>> = BTreeMap::new();
    for (row, thread) in (0..).map(ThreadRow).zip(there.threads()) {
        if let Some(tid) = thread.tid {
            by_tid.entry(tid).or_default().push(row);
        }
    }
    // Of those that had a number one after the other, the last that had begun by then.
    let row = |thread: ThreadId, at: RawNs| {
        let ThreadId::Thread { tid, .. } = thread else { return None };
        let all = by_tid.get(&tid)?;
        let start = |row: ThreadRow| there.thread(row).map(|thread| thread.start);
        let known = all.iter().copied().filter(|&row| start(row).is_some_and(|start| start <= at));
        known.max_by_key(|&row| start(row)).or_else(|| all.first().copied())
    };
    let instance = |it: &isochrone_kernel::Period| Instance {
        name: it.name.clone(),
        thread: row(it.thread, it.begin),
        start: it.begin,
        end: it.end,
    };
    host.model.spans.iter().map(instance).collect()
}

fn keeps(filter: &Filter, host: &str, it: &Instance, threads: &[ThreadInfo]) -> bool {
    let ns = it.end.saturating_since(it.start).max(0) as u64;
    let is_long = filter.min_ns.is_none_or(|min| ns >= min) && filter.max_ns.is_none_or(|max| ns <= max);
    let thread = it.thread.and_then(|thread| threads.get(thread.0 as usize));
    is_long && (!filter.has_threads() || thread.is_some_and(|thread| is_selected(host, thread, filter)))
}

/// The four tables.
struct Tables {
    phases: Table,
    calls: Table,
    files: Table,
    waits: Table,
}

/// The columns of what threads did, after `total_ns`.
const SPENT: [(&str, Unit); 5] = [
    ("running_ns", Unit::Ns),
    ("interrupted_ns", Unit::Ns),
    ("wait_cpu_ns", Unit::Ns),
    ("blocked_ns", Unit::Ns),
    ("unknown_ns", Unit::Ns),
];

impl Tables {
    fn new() -> Self {
        let columns = |about: &[(&'static str, Unit)], more: &[(&'static str, Unit)]| {
            let first = [("host", Unit::None), ("phase", Unit::None)];
            let figures = [("count", Unit::Count), ("total_ns", Unit::Ns)];
            [&first, about, &figures, more].concat()
        };
        let quantiles =
            [("min_ns", Unit::Ns), ("p50_ns", Unit::Ns), ("p95_ns", Unit::Ns), ("max_ns", Unit::Ns)];
        let file = [("file", Unit::None), ("kind", Unit::None)];
        let cause = [("cause", Unit::None), ("detail", Unit::None)];
        Self {
            phases: Table::new("phases", "Phases", &columns(&[], &quantiles)),
            calls: Table::new(
                "phase_calls",
                "Time by system call",
                &columns(&[("call", Unit::None)], &SPENT),
            ),
            files: Table::new("phase_files", "Time by file or peer", &columns(&file, &SPENT)),
            waits: Table::new("phase_waits", "Time by cause", &columns(&cause, &[])),
        }
    }

    fn add(&mut self, host: &str, instances: &[Instance], sums: &Breakdown) {
        let mut durations: BTreeMap<&Name, Vec<u64>> = BTreeMap::new();
        for it in instances {
            let ns = it.end.saturating_since(it.start).max(0) as u64;
            durations.entry(&it.name).or_default().push(ns);
        }
        let text = |name: &Option<Name>| name.as_ref().map_or(Cell::Unknown, |name| Cell::text(name));
        for (name, mut all) in durations {
            all.sort_unstable();
            let total: u128 = all.iter().map(|&ns| u128::from(ns)).sum();
            let head = [Cell::text(host), Cell::text(name)];
            let figures = [(all.len() as u64).into(), (total as i128).into()];
            let quantiles = [quantile(&all, 0), quantile(&all, 50), quantile(&all, 95), quantile(&all, 100)];
            self.phases.row(head.iter().cloned().chain(figures).chain(quantiles).collect());
            let key = |of: &Name| of == name;
            for ((_, call), counted) in sorted(sums.calls.iter().filter(|((of, _), _)| key(of))) {
                // Outside of all calls there is no name to know.
                let call = match call {
                    None => Cell::NotApplicable,
                    Some(call) if call.is_empty() => Cell::Unknown,
                    Some(call) => Cell::text(call),
                };
                self.calls.row(spent(head.iter().cloned().chain([call]), counted));
            }
            for ((_, (file, kind)), counted) in sorted(sums.files.iter().filter(|((of, _), _)| key(of))) {
                self.files.row(spent(head.iter().cloned().chain([text(file), text(kind)]), counted));
            }
            let mut waits: Vec<_> = sums.causes.iter().filter(|((of, ..), _)| key(of)).collect();
            waits.sort_by_key(|(_, (_, ns))| std::cmp::Reverse(*ns));
            for ((_, cause, detail), &(count, ns)) in waits {
                let detail = if detail.is_empty() { Cell::NotApplicable } else { Cell::text(detail) };
                let cells = [Cell::text(cause.name()), detail, count.into(), ns.into()];
                self.waits.row(head.iter().cloned().chain(cells).collect());
            }
        }
    }

    fn finish(self) -> Vec<Table> {
        let Self { phases, calls, files, waits } = self;
        let group = |table: Table| table.draw("total_ns", 2);
        vec![phases.draw("total_ns", 0), group(calls), group(files), group(waits)]
    }
}

/// The most time first; those that took as much stay in the order of their names.
fn sorted<'s, K>(rows: impl Iterator<Item = (&'s K, &'s Counted)>) -> Vec<(&'s K, &'s Counted)> {
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by_key(|(_, counted)| std::cmp::Reverse(counted.spent.total()));
    rows
}

fn spent(head: impl Iterator<Item = Cell>, counted: &Counted) -> Vec<Cell> {
    let it = &counted.spent;
    let figures =
        [counted.count, it.total(), it.running, it.interrupted, it.wait_cpu, it.blocked, it.unknown];
    head.chain(figures.map(Cell::from)).collect()
}

/// The duration that `percent` percent of all, which are sorted, do not exceed.
fn quantile(sorted: &[u64], percent: usize) -> Cell {
    nearest_rank(sorted, percent).copied().into()
}
