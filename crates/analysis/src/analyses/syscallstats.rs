//! `syscallstats`: system calls by name and by thread or process: number, duration, results, and those whose
//! entry or exit is missing. The most time comes first.

use std::collections::BTreeMap;

use isochrone_kernel::{
    CanonicalMap, Half, HalfSyscall, Name, SpanKind, Spans, Syscall, ThreadAliases, ThreadId,
};
use isochrone_strace::{errno_name, error_in};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::figures::histogram::Histogram;
use crate::figures::stats::{Stats, duration};
use crate::host_totals::host_totals;
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::table::{Cell, Table, Unit};
use crate::window::When;

/// Calls of a host's threads.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SyscallStats {
    /// By thread and name in one table: one look-up a call, and the copy of a name allocates nothing.
    calls: CanonicalMap<(ThreadId, Name), Calls>,
    halves: CanonicalMap<(ThreadId, Option<Name>), Halves>,
}

/// Calls of one name.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Calls {
    stats: Stats,
    durations: Histogram,
    /// Number of calls that returned each of the errors.
    errors: BTreeMap<u16, u64>,
}

/// Calls of one name whose entry or exit is missing.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Halves {
    entries: u64,
    exits: u64,
}

/// The table with the columns of [`Calls::cells`].
fn call_columns(table: Table) -> Table {
    table
        .with_columns(Unit::Count, &["count"])
        .with_columns(Unit::Ns, &["total_ns", "min_ns", "max_ns"])
        .with_columns(Unit::Count, &["errors"])
        .with_columns(Unit::Ns, &["avg_ns", "stdev_ns", "p50_ns", "p95_ns", "p99_ns"])
}

impl Calls {
    fn absorb(&mut self, other: Self) {
        self.stats.absorb(other.stats);
        self.durations.absorb(&other.durations);
        for (error, count) in other.errors {
            *self.errors.entry(error).or_default() += count;
        }
    }

    fn failed(&self) -> u64 {
        self.errors.values().sum()
    }

    /// The cells of [`call_columns`].
    fn cells(&self) -> [Cell; 10] {
        let [count, min, avg, max, stdev, total] = self.stats.cells();
        let at = |part| Cell::from(self.durations.quantile(part, 100).map(|(_, most)| most));
        [count, total, min, max, self.failed().into(), avg, stdev, at(50), at(95), at(99)]
    }
}

impl Halves {
    fn absorb(&mut self, other: Self) {
        self.entries += other.entries;
        self.exits += other.exits;
    }
}

impl Spans for SyscallStats {
    fn syscall(&mut self, call: &Syscall<'_>) {
        let calls = self.calls.or_default((call.thread, call.entry.name.clone()));
        let ns = duration(call.begin, call.end);
        calls.stats.add(ns);
        calls.durations.add(ns);
        if let Some(error) = error_in(call.exit.ret) {
            *calls.errors.entry(error).or_default() += 1;
        }
    }

    fn half_syscall(&mut self, half: &HalfSyscall<'_>) {
        let halves = self.halves.or_default((half.thread, half.name.cloned()));
        match half.half {
            Half::Begin => halves.entries += 1,
            Half::End => halves.exits += 1,
        }
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.calls.rekey(|(thread, name)| (aliases.of(*thread), name.clone()), Calls::absorb);
        self.halves.rekey(|(thread, name)| (aliases.of(*thread), name.clone()), Halves::absorb);
    }

    fn absorb(&mut self, right: Self) {
        self.calls.absorb(right.calls, Calls::absorb);
        self.halves.absorb(right.halves, Halves::absorb);
    }
}

impl Analysis for SyscallStats {
    const STORED: &'static [SpanKind] = &[SpanKind::Syscall, SpanKind::HalfSyscall];
    const ACCEPTS: &'static [OptionKind] = &[
        OptionKind::Threads,
        OptionKind::Cpus,
        OptionKind::Durations,
        OptionKind::Calls,
        OptionKind::Processes,
    ];
    const NEEDS: &'static [Need] = &[Need::Calls, Need::FileCalls];

    fn new(_: &Options, _: When) -> Self {
        Self::default()
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let title = |by_process, by_thread| if options.by_process { by_process } else { by_thread };
        let table = |name, title, key: &[&'static str]| {
            Table::new(name, title, &[]).with_columns(Unit::None, key).top()
        };
        let mut names = call_columns(table("names", "System calls by name", &["host", "syscall"]));
        let by_name = title("System calls by process and name", "System calls by thread and name");
        let mut syscalls =
            call_columns(table("syscalls", by_name, &["host", "pid", "tid", "comm", "syscall"]));
        let key = ["host", "pid", "tid", "comm", "syscall", "result"];
        let mut returns =
            table("returns", "Results of system calls", &key).with_columns(Unit::Count, &["count"]);
        let by_thread = title("System calls by process", "System calls by thread");
        let mut totals = table("totals", by_thread, &key[..4])
            .with_columns(Unit::Count, &["count"])
            .with_columns(Unit::Ns, &["total_ns"])
            .with_columns(Unit::Count, &["errors"]);
        let mut unfinished = table("unfinished", "System calls of which one end is missing", &key[..5])
            .with_columns(Unit::Count, &["entries", "exits"]);
        for result in hosts {
            let mut by_name: BTreeMap<&Name, Calls> = BTreeMap::new();
            // References in a list: there may be millions of threads.
            let mut by_group: Vec<(ThreadId, &Name, &Calls)> = Vec::new();
            for ((thread, name), calls) in result.of.calls.sorted() {
                let Some(group) =
                    result.group(*thread, options).filter(|_| is_requested(Some(name), options))
                else {
                    continue;
                };
                by_name.entry(name).or_default().absorb(calls.clone());
                by_group.push((group, name, calls));
            }
            for (name, calls) in &by_name {
                names.add(result.row().cell(*name).cells(calls.cells()));
            }
            // Threads of a group stay in their order.
            by_group.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
            for of_group in by_group.chunk_by(|a, b| a.0 == b.0) {
                let group = of_group[0].0;
                let key = || result.group_row(group, options);
                let (mut all, mut failed) = (Stats::default(), 0);
                for of_name in of_group.chunk_by(|a, b| a.1 == b.1) {
                    let name = of_name[0].1;
                    let mut calls = Calls::default();
                    for (.., of_thread) in of_name {
                        calls.absorb((*of_thread).clone());
                    }
                    syscalls.add(key().cell(name).cells(calls.cells()));
                    let errors = calls.failed();
                    let succeeded = calls.stats.count().saturating_sub(errors);
                    let result =
                        |result: &str, count: u64| key().cell(name).cell(Cell::text(result)).cell(count);
                    if succeeded > 0 {
                        returns.add(result("success", succeeded));
                    }
                    for (&error, &count) in &calls.errors {
                        returns.add(result(&errno_name(error), count));
                    }
                    all.absorb(calls.stats);
                    failed += errors;
                }
                totals.add(key().cell(all.count()).cell(all.total()).cell(failed));
            }
            let mut halves: BTreeMap<(ThreadId, Option<&Name>), Halves> = BTreeMap::new();
            for ((thread, name), half) in result.of.halves.sorted() {
                let Some(group) =
                    result.group(*thread, options).filter(|_| is_requested(name.as_ref(), options))
                else {
                    continue;
                };
                halves.entry((group, name.as_ref())).or_default().absorb(*half);
            }
            for ((group, name), halves) in halves {
                let row = result.group_row(group, options).cell(name);
                unfinished.add(row.cells([halves.entries, halves.exits]));
            }
        }
        // Stable: what is as large stays in the order of hosts, threads and names.
        for table in [&mut names, &mut syscalls, &mut totals] {
            table.sort("total_ns");
        }
        returns.sort("count");
        unfinished.sort("entries");
        let mut tables = vec![names, syscalls, returns, totals, unfinished];
        tables.extend(host_totals(hosts, call_columns, |result| {
            let mut all = Calls::default();
            for ((thread, name), calls) in result.of.calls.unordered() {
                if is_requested(Some(name), options) && result.who(*thread, options).is_some() {
                    all.absorb(calls.clone());
                }
            }
            vec![all.cells().map(|cell| result.known(Need::Calls, cell))]
        }));
        tables
    }
}

/// Whether calls of a name are requested.
fn is_requested(name: Option<&Name>, options: &Options) -> bool {
    let asked = &options.calls.names;
    asked.is_empty() || name.is_some_and(|name| asked.iter().any(|asked| asked.matches(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Calls, Filter};
    use crate::registry::AnalysisKind;
    use crate::testing::{call, check, half, thread, window};
    use isochrone_kernel::Span;

    fn spans() -> Vec<Span> {
        vec![
            call(thread(2), "read", 10, 30, 64),
            call(thread(2), "read", 30, 70, -11),
            call(thread(2), "close", 70, 71, 0),
            call(thread(1), "read", 5, 6, -4096),
            half(thread(1), Some("exit_group"), 90, Half::Begin),
            half(thread(2), None, 2, Half::End),
        ]
    }

    #[test]
    fn all() {
        check(
            AnalysisKind::SyscallStats,
            &spans(),
            &Options::default(),
            When::default(),
            &[
                "names: host syscall count total_ns min_ns max_ns errors avg_ns stdev_ns p50_ns p95_ns p99_ns",
                "h read 3 61 1 40 1 20.333333333333332 19.5021366350801 20 40 40",
                "h close 1 1 1 1 0 1 ? 1 1 1",
                "syscalls: host pid tid comm syscall count total_ns min_ns max_ns errors avg_ns stdev_ns p50_ns p95_ns p99_ns",
                "h 2 2 worker read 2 60 20 40 1 30 14.142135623730951 20 40 40",
                "h 1 1 init read 1 1 1 1 0 1 ? 1 1 1",
                "h 2 2 worker close 1 1 1 1 0 1 ? 1 1 1",
                "returns: host pid tid comm syscall result count",
                "h 1 1 init read success 1",
                "h 2 2 worker close success 1",
                "h 2 2 worker read success 1",
                "h 2 2 worker read EAGAIN 1",
                "totals: host pid tid comm count total_ns errors",
                "h 2 2 worker 3 61 1",
                "h 1 1 init 1 1 0",
                "unfinished: host pid tid comm syscall entries exits",
                "h 1 1 init exit_group 1 0",
                "h 2 2 worker ? 0 1",
            ],
        );
    }

    #[test]
    fn by_process_and_name() {
        let spans = [
            call(thread(2), "read", 10, 30, 64),
            call(thread(3), "read", 40, 50, -11),
            call(thread(3), "openat", 60, 61, 3),
            half(thread(3), Some("read"), 90, Half::Begin),
        ];
        let calls = Calls { names: vec![wildmatch::WildMatch::new("re*")], ..Calls::default() };
        check(
            AnalysisKind::SyscallStats,
            &spans,
            &Options { by_process: true, calls, ..Options::default() },
            When::default(),
            &[
                "names: host syscall count total_ns min_ns max_ns errors avg_ns stdev_ns p50_ns p95_ns p99_ns",
                "h read 2 30 10 20 1 15 7.0710678118654755 10 20 20",
                "syscalls: host pid tid comm syscall count total_ns min_ns max_ns errors avg_ns stdev_ns p50_ns p95_ns p99_ns",
                "h 2 2 worker read 2 30 10 20 1 15 7.0710678118654755 10 20 20",
                "returns: host pid tid comm syscall result count",
                "h 2 2 worker read success 1",
                "h 2 2 worker read EAGAIN 1",
                "totals: host pid tid comm count total_ns errors",
                "h 2 2 worker 2 30 1",
                "unfinished: host pid tid comm syscall entries exits",
                "h 2 2 worker read 1 0",
            ],
        );
    }

    #[test]
    fn those_that_end_in_the_window_and_are_long() {
        check(
            AnalysisKind::SyscallStats,
            &spans(),
            &Options { filter: Filter { min_ns: Some(20), ..Filter::default() }, ..Options::default() },
            When { window: window(30, 70), at: None },
            &[
                "names: host syscall count total_ns min_ns max_ns errors avg_ns stdev_ns p50_ns p95_ns p99_ns",
                "h read 1 20 20 20 0 20 ? 20 20 20",
                "syscalls: host pid tid comm syscall count total_ns min_ns max_ns errors avg_ns stdev_ns p50_ns p95_ns p99_ns",
                "h 2 2 worker read 1 20 20 20 0 20 ? 20 20 20",
                "returns: host pid tid comm syscall result count",
                "h 2 2 worker read success 1",
                "totals: host pid tid comm count total_ns errors",
                "h 2 2 worker 1 20 0",
                "unfinished: host pid tid comm syscall entries exits",
            ],
        );
    }
}
