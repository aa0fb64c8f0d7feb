//! `processes`: all threads; or, of one instant, what every thread and every CPU did.
//!
//! A begin or an end that is unknown is one that was not seen: the thread was there before the trace, or
//! still when it ended.

use std::collections::BTreeSet;

use isochrone_kernel::{CanonicalMap, HalfSyscall, Slice, Spans, Syscall, ThreadAliases, ThreadId};
use isochrone_time::{RawNs, Window};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::cpu_states::{self, call_cells, interrupt_cell, none_if};
use crate::figures::stats::duration;
use crate::host::ThreadIdentity;
use crate::host_totals::host_totals;
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::table::{Cell, Table, Unit};
use crate::snapshot::Snapshot;
use crate::window::When;

/// What a host's threads used in a window. What they did at an instant is not kept here:
/// `HostResult::instant` has it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Processes {
    threads: CanonicalMap<ThreadId, Used>,
    /// Whether no instant is requested.
    is_of_window: bool,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Used {
    cpu_ns: u64,
    calls: u64,
    /// When it was first and last seen to run or to call.
    seen: Option<(RawNs, RawNs)>,
}

impl Used {
    fn seen(&mut self, begin: RawNs, end: RawNs) {
        let (first, last) = self.seen.unwrap_or((begin, end));
        self.seen = Some((first.min(begin), last.max(end)));
    }

    fn absorb(&mut self, other: Self) {
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
        self.calls = self.calls.saturating_add(other.calls);
        if let Some((begin, end)) = other.seen {
            self.seen(begin, end);
        }
    }
}

impl Spans for Processes {
    fn slice(&mut self, slice: &Slice) {
        if self.is_of_window && !slice.thread.is_idle() {
            let used = self.threads.or_default(slice.thread);
            used.cpu_ns = used.cpu_ns.saturating_add(duration(slice.begin, slice.end));
            used.seen(slice.begin, slice.end);
        }
    }

    fn syscall(&mut self, call: &Syscall<'_>) {
        if self.is_of_window {
            let used = self.threads.or_default(call.thread);
            used.calls += 1;
            // Not when it began: that may be before the window.
            used.seen(call.end, call.end);
        }
    }

    fn half_syscall(&mut self, half: &HalfSyscall<'_>) {
        if self.is_of_window {
            self.threads.or_default(half.thread).seen(half.at, half.at);
        }
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.threads.rekey(|&thread| aliases.of(thread), Used::absorb);
    }

    fn absorb(&mut self, right: Self) {
        self.threads.absorb(right.threads, Used::absorb);
    }
}

impl Analysis for Processes {
    const AT_INSTANT: bool = true;
    const SNAPSHOT: bool = true;

    const ACCEPTS: &'static [OptionKind] = &[OptionKind::Threads, OptionKind::Cpus, OptionKind::Instant];
    const NEEDS: &'static [Need] = &[Need::Switches, Need::Calls, Need::FileCalls, Need::Lives, Need::Dump];

    fn new(_: &Options, when: When) -> Self {
        Self { threads: CanonicalMap::default(), is_of_window: when.at.is_none() }
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        if hosts.iter().any(|result| result.instant.is_some()) {
            let (mut states, mut running) = (states_table(), cpu_states::table());
            for result in hosts {
                let Some(instant) = result.instant else { continue };
                let snapshot = instant.snapshot(result.host);
                states_rows(result, instant.at(), &snapshot, options, &mut states);
                cpu_states::rows(result, instant.at(), &snapshot, options, &mut running);
            }
            vec![states, running]
        } else {
            let mut tables = vec![processes(hosts, options)];
            tables.extend(host_totals(hosts, total_columns, |result| vec![totals(result, options)]));
            tables
        }
    }
}

/// All threads of a host that are known in any way, and no idle tasks.
fn all_threads(
    result: &HostResult<'_, Processes>,
    more: impl Iterator<Item = ThreadId>,
) -> BTreeSet<ThreadId> {
    result.host.threads().into_iter().chain(more).filter(|thread| !thread.is_idle()).collect()
}

/// The threads of a host that are requested and lived in the window: who each is, and what it used.
fn asked<'r>(
    result: &'r HostResult<'_, Processes>,
    options: &'r Options,
) -> impl Iterator<Item = (ThreadId, ThreadIdentity<'r>, Used)> {
    let Window { start: from, end: to } = result.window;
    let all = all_threads(result, result.of.threads.unordered().map(|(&thread, _)| thread));
    all.into_iter().filter_map(move |thread| {
        let who = result.who(thread, options)?;
        if who.died.is_some_and(|died| died < from) || who.born.is_some_and(|born| born > to) {
            return None;
        }
        Some((thread, who, result.of.threads.get(&thread).copied().unwrap_or_default()))
    })
}

/// The table with the columns of [`totals`].
fn total_columns(table: Table) -> Table {
    let table = table.with_columns(Unit::Count, &["processes", "threads"]);
    table.with_columns(Unit::Ns, &["cpu_ns"]).with_columns(Unit::Count, &["syscalls"])
}

fn totals(result: &HostResult<'_, Processes>, options: &Options) -> [Cell; 4] {
    let mut processes = BTreeSet::new();
    let (mut threads, mut all) = (0_u64, Used::default());
    for (thread, who, used) in asked(result, options) {
        processes.insert(who.process(thread));
        threads += 1;
        all.absorb(used);
    }
    let (cpu, calls) = (result.known(Need::Switches, all.cpu_ns), result.known(Need::Calls, all.calls));
    [(processes.len() as u64).into(), threads.into(), cpu, calls]
}

fn processes(hosts: &[HostResult<'_, Processes>], options: &Options) -> Table {
    let mut table = Table::new("processes", "Threads", &[])
        .with_columns(
            Unit::None,
            &["host", "pid", "tid", "comm", "ppid", "kernel", "pid_namespace", "vpid", "vtid"],
        )
        .with_columns(Unit::Time, &["begin_ns", "end_ns", "first_seen_ns", "last_seen_ns"])
        .with_columns(Unit::Ns, &["cpu_ns"])
        .with_columns(Unit::Count, &["syscalls"]);
    for result in hosts {
        for (_, who, used) in asked(result, options) {
            let row = result.row().cells(who.cells());
            table.add(row.cells([
                who.ppid.into(),
                who.is_kernel.map(Cell::yes_or_no).into(),
                who.inner.and_then(|it| it.inode).into(),
                who.inner.and_then(|it| it.vpid).into(),
                who.inner.map(|it| it.vtid).into(),
                result.time_or_unknown(who.born),
                result.known(Need::Switches, result.time_or_unknown(who.died)),
                result.time_or_unknown(used.seen.map(|(first, _)| first)),
                result.time_or_unknown(used.seen.map(|(_, last)| last)),
                result.known(Need::Switches, used.cpu_ns),
                result.known(Need::Calls, used.calls),
            ]));
        }
    }
    table
}

fn states_table() -> Table {
    Table::new("states", "What every thread did", &[])
        .with_columns(Unit::None, &["host"])
        .with_columns(Unit::Time, &["at_ns"])
        .with_columns(Unit::None, &["pid", "tid", "comm", "state"])
        .with_columns(Unit::Time, &["since_ns"])
        .with_columns(Unit::None, &["cpu", "mode", "syscall"])
        .with_columns(Unit::Time, &["syscall_since_ns"])
        .with_columns(Unit::None, &["interrupt", "waker_tid", "waker_comm"])
}

fn states_rows(
    result: &HostResult<'_, Processes>,
    at: RawNs,
    snapshot: &Snapshot<'_>,
    options: &Options,
    table: &mut Table,
) {
    let cpus = &options.filter.cpus;
    for thread in all_threads(result, snapshot.threads()) {
        let Some(who) = result.who_at(thread, at, options) else { continue };
        if who.died.is_some_and(|died| died <= at) || who.born.is_some_and(|born| born > at) {
            continue;
        }
        let doing = snapshot.thread(thread);
        if !cpus.is_empty() && !doing.cpu.is_some_and(|cpu| cpus.contains(&cpu)) {
            continue;
        }
        let call = snapshot.call(thread);
        // Where it is off the CPU, it will continue with what it was in.
        let mode =
            cpu_states::mode(thread, &who, call.is_some(), doing.cpu.is_some() && snapshot.is_sure(thread));
        let waker = doing
            .waker
            .map_or_else(ThreadIdentity::default, |waker| ThreadIdentity::at(result.host, waker, at));
        // A thread that waits is on no CPU, and only one that was woken has a waker.
        let state = doing.state.name();
        let (is_off, is_on) = (!matches!(state, "running" | "interrupted" | "unknown"), doing.cpu.is_some());
        let is_elsewhere = matches!(mode, Some("kernel" | "user"));
        let call = call_cells(result, call).map(|cell| none_if(is_elsewhere, cell));
        let interrupt = interrupt_cell(snapshot.interrupt(doing.cpu).map(|(source, _)| source));
        let has_none = doing.waker.is_none() && state != "unknown";
        let row = result.row().cell(result.time(at)).cells(who.cells()).cell(Cell::text(state));
        let row = row.cell(result.time_or_unknown(doing.since)).cell(none_if(is_off, doing.cpu.into()));
        let row = row.cell(mode.map(Cell::text)).cells(call).cell(none_if(is_off || is_on, interrupt));
        table.add(row.cells([waker.tid.into(), waker.comm()].map(|cell| none_if(has_none, cell))));
    }
}

#[cfg(test)]
mod tests {
    use isochrone_kernel::{Half, OffCpuReason};

    use super::*;
    use crate::options::Filter;
    use crate::registry::AnalysisKind;
    use crate::testing::{
        call, check, half, idle, irq, latency, off_cpu, slice, softirq, thread, unknown, window,
    };
    use isochrone_kernel::Span;

    const THREADS: &str = "processes: host pid tid comm ppid kernel pid_namespace vpid vtid begin_ns end_ns first_seen_ns last_seen_ns cpu_ns syscalls";
    const STATES: &str = "states: host at_ns pid tid comm state since_ns cpu mode syscall syscall_since_ns interrupt \
                          waker_tid waker_comm";
    const RUNNING: &str = "running: host at_ns cpu pid tid comm since_ns mode syscall syscall_since_ns interrupt \
                           interrupt_since_ns";

    /// CPU 0: thread 1, then 2; CPU 1: unknown, then 3.
    fn spans() -> Vec<Span> {
        vec![
            slice(0, thread(1), 0, 40),
            slice(0, idle(0), 40, 50),
            slice(0, thread(2), 50, 100),
            unknown(1, Some(thread(3)), 0, 30),
            slice(1, thread(3), 30, 80),
            slice(1, idle(1), 80, 100),
            call(thread(1), "nanosleep", 35, 95, 0),
            call(thread(2), "read", 15, 55, 7),
            call(thread(2), "write", 60, 65, 7),
            off_cpu(thread(1), OffCpuReason::Blocked, 40, 90),
            off_cpu(thread(2), OffCpuReason::Uninterruptible, 10, 44),
            latency(thread(2), 0, 20, 44, 50),
            irq(1, 27, "virtio", 42, 48),
            softirq(1, 3, None, 40, 49),
            softirq(0, 1, None, 42, 43),
            half(thread(3), Some("exit"), 75, Half::Begin),
            half(thread(3), Some("futex"), 32, Half::End),
        ]
    }

    #[test]
    fn who_was_there() {
        check(
            AnalysisKind::Processes,
            &spans(),
            &Options::default(),
            When::default(),
            &[
                THREADS,
                "h 1 1 init 0 no ? ? ? ? ? 1000 1095 40 1",
                "h 2 2 worker 1 no ? ? ? 1010 ? 1050 1100 50 2",
                "h 2 3 worker 1 no ? ? ? 1020 1090 1030 1080 50 0",
            ],
        );
        check(
            AnalysisKind::Processes,
            &spans(),
            &Options { filter: Filter { tids: vec![2, 3], ..Filter::default() }, ..Options::default() },
            When { window: window(i64::MIN, 15), at: None },
            &[THREADS, "h 2 2 worker 1 no ? ? ? 1010 ? ? ? 0 0"],
        );
    }

    #[test]
    fn what_they_did_at_an_instant() {
        let check = |at, cpus: &[u32], expect: &[&str]| {
            let filter = Filter { cpus: cpus.to_vec(), ..Filter::default() };
            let options = Options { filter, ..Options::default() };
            // The window does not matter.
            let when = When { window: window(0, 1), at: Some(RawNs(at)) };
            check(AnalysisKind::Processes, &spans(), &options, when, expect);
        };
        check(
            46,
            &[],
            &[
                STATES,
                "h 1046 1 1 init blocked 1040 ? syscall nanosleep 1035 ? ? ?",
                "h 1046 2 2 worker woken 1044 ? syscall read 1015 ? 1 init",
                "h 1046 2 3 worker interrupted 1030 1 user ? ? IRQ 27 virtio ? ?",
                RUNNING,
                "h 1046 0 0 0 swapper/0 1040 idle ? ? ? ?",
                "h 1046 1 2 3 worker 1030 user ? ? IRQ 27 virtio 1042",
            ],
        );
        check(
            31,
            &[],
            &[
                STATES,
                "h 1031 1 1 init running 1000 0 user ? ? ? ? ?",
                "h 1031 2 2 worker uninterruptible 1010 ? syscall read 1015 ? ? ?",
                "h 1031 2 3 worker running 1030 1 syscall futex ? ? ? ?",
                RUNNING,
                "h 1031 0 1 1 init 1000 user ? ? ? ?",
                "h 1031 1 2 3 worker 1030 syscall futex ? ? ?",
            ],
        );
        // Before it was born; and what is unknown.
        check(
            5,
            &[],
            &[
                STATES,
                "h 1005 1 1 init running 1000 0 user ? ? ? ? ?",
                RUNNING,
                "h 1005 0 1 1 init 1000 user ? ? ? ?",
                "h 1005 1 ? ? ? 1000 unknown ? ? ? ?",
            ],
        );
        check(
            77,
            &[1],
            &[
                STATES,
                "h 1077 2 3 worker running 1030 1 syscall exit 1075 ? ? ?",
                RUNNING,
                "h 1077 1 2 3 worker 1030 syscall exit 1075 ? ?",
            ],
        );
    }

    #[test]
    fn nobody_knows_of_calls_that_are_not_traced() {
        let expect = [
            STATES,
            "h 1005 1 1 init running 1000 0 ? ? ? ? ? ?",
            RUNNING,
            "h 1005 0 1 1 init 1000 ? ? ? ? ?",
        ];
        let when = When { at: Some(RawNs(5)), ..When::default() };
        check(AnalysisKind::Processes, &[slice(0, thread(1), 0, 40)], &Options::default(), when, &expect);
    }
}
