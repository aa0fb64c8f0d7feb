//! `syscallstats`: system calls by thread: how many, how long, what came of them, and those of which one end is
//! missing.

use std::collections::BTreeMap;

use isochrone_kernel::{CanonicalMap, Half, HalfSyscall, Name, Spans, Syscall, ThreadAliases, ThreadId};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::errno::{errno_name, error_in};
use crate::options::Options;
use crate::stats::{Stats, duration};
use crate::table::{Cell, Table, Unit};
use crate::window::When;

/// Calls of a host's threads.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SyscallStats {
    /// By thread and name in one table: one look-up a call, and the copy of a name allocates nothing.
    calls: CanonicalMap<(ThreadId, Name), Calls>,
    halves: CanonicalMap<(ThreadId, Option<Name>), Halves>,
}

/// Calls of one name.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Calls {
    stats: Stats,
    /// How many returned each of the errors.
    errors: BTreeMap<u16, u64>,
}

/// Calls of one name of which one end is missing.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Halves {
    entries: u64,
    exits: u64,
}

impl Calls {
    fn absorb(&mut self, other: Self) {
        self.stats.absorb(other.stats);
        for (error, count) in other.errors {
            *self.errors.entry(error).or_default() += count;
        }
    }

    fn failed(&self) -> u64 {
        self.errors.values().sum()
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
        calls.stats.add(duration(call.begin, call.end));
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
    fn new(_: &Options, _: When) -> Self {
        Self::default()
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let mut syscalls = Table::new(
            "syscalls",
            "Per-TID system call statistics",
            &[
                ("host", Unit::None),
                ("pid", Unit::None),
                ("tid", Unit::None),
                ("comm", Unit::None),
                ("syscall", Unit::None),
                ("count", Unit::Count),
                ("total_ns", Unit::Ns),
                ("min_ns", Unit::Ns),
                ("max_ns", Unit::Ns),
                ("errors", Unit::Count),
                ("avg_ns", Unit::Ns),
                ("stdev_ns", Unit::Ns),
            ],
        );
        let mut returns = Table::new(
            "returns",
            "Return values",
            &[
                ("host", Unit::None),
                ("pid", Unit::None),
                ("tid", Unit::None),
                ("comm", Unit::None),
                ("syscall", Unit::None),
                ("result", Unit::None),
                ("count", Unit::Count),
            ],
        );
        let mut totals = Table::new(
            "totals",
            "Total system calls",
            &[
                ("host", Unit::None),
                ("pid", Unit::None),
                ("tid", Unit::None),
                ("comm", Unit::None),
                ("count", Unit::Count),
                ("total_ns", Unit::Ns),
                ("errors", Unit::Count),
            ],
        );
        let mut unfinished = Table::new(
            "unfinished",
            "System calls of which one end is missing",
            &[
                ("host", Unit::None),
                ("pid", Unit::None),
                ("tid", Unit::None),
                ("comm", Unit::None),
                ("syscall", Unit::None),
                ("entries", Unit::Count),
                ("exits", Unit::Count),
            ],
        );
        for result in hosts {
            for of_thread in result.of.calls.sorted().chunk_by(|a, b| a.0.0 == b.0.0) {
                let Some(who) = result.who(of_thread[0].0.0, options) else { continue };
                let row = |rest: &[Cell]| -> Vec<Cell> {
                    [result.name()].into_iter().chain(who.cells()).chain(rest.iter().cloned()).collect()
                };
                let (mut all, mut failed) = (Stats::default(), 0);
                for ((_, name), calls) in of_thread {
                    let [count, min, avg, max, stdev, total] = calls.stats.cells();
                    let errors = calls.failed();
                    syscalls.row(row(&[name.into(), count, total, min, max, errors.into(), avg, stdev]));
                    let succeeded = calls.stats.count().saturating_sub(errors);
                    if succeeded > 0 {
                        returns.row(row(&[name.into(), Cell::text("success"), succeeded.into()]));
                    }
                    for (&error, &count) in &calls.errors {
                        returns.row(row(&[name.into(), Cell::text(&errno_name(error)), count.into()]));
                    }
                    all.absorb(calls.stats);
                    failed += errors;
                }
                totals.row(row(&[all.count().into(), all.total().into(), failed.into()]));
            }
            for ((thread, name), halves) in result.of.halves.sorted() {
                let Some(who) = result.who(*thread, options) else { continue };
                let rest = [name.as_ref().into(), halves.entries.into(), halves.exits.into()];
                unfinished.row([result.name()].into_iter().chain(who.cells()).chain(rest).collect());
            }
        }
        vec![syscalls, returns, totals, unfinished]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Filter;
    use crate::registry::AnalysisKind;
    use crate::testing::{call, check, half, thread};
    use crate::window::Window;
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
                "syscalls: host pid tid comm syscall count total_ns min_ns max_ns errors avg_ns stdev_ns",
                "h 1 1 init read 1 1 1 1 0 1 ?",
                "h 2 2 worker close 1 1 1 1 0 1 ?",
                "h 2 2 worker read 2 60 20 40 1 30 14.142135623730951",
                "returns: host pid tid comm syscall result count",
                "h 1 1 init read success 1",
                "h 2 2 worker close success 1",
                "h 2 2 worker read success 1",
                "h 2 2 worker read EAGAIN 1",
                "totals: host pid tid comm count total_ns errors",
                "h 1 1 init 1 1 0",
                "h 2 2 worker 3 61 1",
                "unfinished: host pid tid comm syscall entries exits",
                "h 1 1 init exit_group 1 0",
                "h 2 2 worker ? 0 1",
            ],
        );
    }

    #[test]
    fn those_that_end_in_the_window_and_are_long() {
        check(
            AnalysisKind::SyscallStats,
            &spans(),
            &Options { filter: Filter { min_ns: Some(20), ..Filter::default() }, ..Options::default() },
            When { window: Window { begin: Some(30), end: Some(70) }, at: None },
            &[
                "syscalls: host pid tid comm syscall count total_ns min_ns max_ns errors avg_ns stdev_ns",
                "h 2 2 worker read 1 20 20 20 0 20 ?",
                "returns: host pid tid comm syscall result count",
                "h 2 2 worker read success 1",
                "totals: host pid tid comm count total_ns errors",
                "h 2 2 worker 1 20 0",
                "unfinished: host pid tid comm syscall entries exits",
            ],
        );
    }
}
