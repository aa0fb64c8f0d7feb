//! `syscalls`: every call with its arguments, as `strace` shows them; of one instant, those that were in
//! progress then; and what all CPUs ran at that instant or, where requested, when each of the calls ended.
//!
//! `call_row` has the rows, `call_filter` decides which calls are requested, `cpu_context` has what ran when
//! they ended.

mod call_filter;
mod call_row;
mod cpu_context;

use std::collections::BTreeSet;
use std::iter;

use isochrone_kernel::files::FileSpan;
use isochrone_kernel::{HalfSyscall, Slice, Spans, Syscall, ThreadAliases};
use isochrone_time::RawNs;
use serde::{Deserialize, Serialize};

use self::call_filter::CallFilter;
use self::call_row::CallRow;
use self::cpu_context::CpuContext;
use crate::analysis::{Analysis, HostResult};
use crate::cpu_states;
use crate::file_io::fd_names::{self, FdNames};
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::note::Note;
use crate::output::table::{Table, Unit, Visibility};
use crate::snapshot::Snapshot;
use crate::storage::log_rows::LogRows;
use crate::window::{When, contains};

/// Calls of a host's threads.
#[derive(Debug, Serialize, Deserialize)]
pub struct Syscalls {
    /// The instant that they are to contain, if one is requested.
    at: Option<RawNs>,
    call_filter: CallFilter,
    calls: LogRows<CallRow>,
    files: LogRows<FileSpan>,
    /// Where that is requested.
    around: Option<CpuContext>,
}

impl Spans for Syscalls {
    fn syscall(&mut self, call: &Syscall<'_>) {
        let is_there = self.at.is_none_or(|at| contains(call.begin, at, call.end));
        if is_there && self.call_filter.call(call) {
            self.calls.push(CallRow::of(call));
        }
    }

    fn half_syscall(&mut self, half: &HalfSyscall<'_>) {
        // Of an instant, it takes both sides to know whether the thread was in a call: the snapshot has them.
        if self.at.is_none() && self.call_filter.half(half) {
            self.calls.push(CallRow::of_half(half));
        }
    }

    fn file(&mut self, file: &FileSpan) {
        self.files.push(file.clone());
    }

    fn slice(&mut self, slice: &Slice) {
        if let Some(around) = &mut self.around {
            around.slice(slice);
        }
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.calls.rename(aliases);
        self.files.rename(aliases);
        self.around.iter_mut().for_each(|around| around.rename(aliases));
    }

    fn absorb(&mut self, right: Self) {
        self.calls.absorb(right.calls);
        self.files.absorb(right.files);
        if let (Some(around), Some(right)) = (&mut self.around, right.around) {
            around.absorb(right);
        }
    }
}

impl Analysis for Syscalls {
    const AT_INSTANT: bool = true;
    const SNAPSHOT: bool = true;
    const FILES: bool = true;

    const ACCEPTS: &'static [OptionKind] = &[
        OptionKind::Threads,
        OptionKind::Cpus,
        OptionKind::Durations,
        OptionKind::Calls,
        OptionKind::Errors,
        OptionKind::Around,
        OptionKind::Instant,
    ];
    const NEEDS: &'static [Need] = &[Need::Calls, Need::FileCalls];

    fn new(options: &Options, when: When) -> Self {
        Self {
            at: when.at,
            call_filter: CallFilter::new(options, when),
            calls: LogRows::new(&options.scratch),
            files: LogRows::new(&options.scratch),
            // Of an instant, the snapshot shows what ran then.
            around: (options.calls.around && when.at.is_none()).then(CpuContext::default),
        }
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let mut table = Table::new("syscalls", "System calls", &[])
            .with_columns(Unit::None, &["host"])
            .with_columns(Unit::Time, &["begin_ns", "end_ns"])
            .with_columns(Unit::Ns, &["duration_ns"])
            .with_columns(Unit::None, &["cpu", "pid", "tid", "comm", "syscall", "result", "error", "line"])
            .kept_in(&options.scratch)
            .by_time("begin_ns")
            // The line has all of it.
            .show(&["syscall", "result", "error", "end_ns"], Visibility::Hidden)
            .show(&["line"], Visibility::Trailing);
        let mut running = cpu_states::table();
        let mut is_running_shown = false;
        // What ran around calls is of all of them.
        let is_around = hosts.iter().any(|result| result.of.around.is_some());
        let (most, mut total) = (options.rows_of_log().filter(|_| !is_around), 0);
        for result in hosts {
            let fd_names = FdNames::new(result.host, &result.of.files);
            let mut in_progress = Vec::new();
            if let Some(instant) = result.instant {
                is_running_shown = true;
                let snapshot = instant.snapshot(result.host);
                cpu_states::rows(result, instant.at(), &snapshot, options, &mut running);
                in_progress = halves(result, instant.at(), &snapshot);
                in_progress.sort_unstable();
            }
            let mut ends = BTreeSet::new();
            total += result.of.calls.len() + in_progress.len();
            for call in in_order(result.of.calls.sorted(), in_progress).take(most.unwrap_or(usize::MAX)) {
                if let Some(row) = call.row(&fd_names, result, options) {
                    table.add(row);
                    if result.of.around.is_some() {
                        ends.extend(call.end);
                    }
                }
            }
            if let Some(around) = &result.of.around {
                is_running_shown = true;
                around.rows(&ends, result, &mut running);
            }
        }
        if most.is_some() {
            table.total_rows = Some(total as u64);
        }
        let mut tables = vec![table];
        tables.extend(is_running_shown.then_some(running));
        tables
    }

    fn notes(hosts: &[HostResult<'_, Self>]) -> Vec<Note> {
        fd_names::notes(hosts.iter().map(|result| (result.host, &result.of.files)))
    }
}

/// Rows of two logs, each in its order, in one order.
fn in_order<T: Ord>(left: impl Iterator<Item = T>, right: Vec<T>) -> impl Iterator<Item = T> {
    let (mut left, mut right) = (left.peekable(), right.into_iter().peekable());
    iter::from_fn(move || match (left.peek(), right.peek()) {
        (Some(a), Some(b)) if b < a => right.next(),
        (None, _) => right.next(),
        _ => left.next(),
    })
}

/// Calls in progress at an instant whose entry or exit is missing.
fn halves(result: &HostResult<'_, Syscalls>, at: RawNs, snapshot: &Snapshot<'_>) -> Vec<CallRow> {
    // A new thread comes out of a call that another one entered.
    let is_alive = |thread| {
        let who = result.host.thread(thread).unwrap_or_default();
        who.born.is_none_or(|born| born <= at) && who.died.is_none_or(|died| died > at)
    };
    snapshot
        .half_calls()
        .filter(|&(thread, call)| is_alive(thread) && result.of.call_filter.in_progress(thread, call, at))
        .map(|(thread, call)| CallRow::in_progress(thread, call))
        .collect()
}

#[cfg(test)]
mod tests {
    use isochrone_kernel::Half;
    use isochrone_kernel::calls::{Effect, Opener, Use};
    use wildmatch::WildMatch;

    use super::*;
    use crate::options::{Calls, Filter};
    use crate::registry::AnalysisKind;
    use crate::testing::{call, check, file, half, idle, irq, line, slice, thread};
    use isochrone_kernel::Span;

    const CALLS: &str =
        "syscalls: host begin_ns end_ns duration_ns cpu pid tid comm syscall result error line";
    const RUNNING: &str = "running: host at_ns cpu pid tid comm since_ns mode syscall syscall_since_ns interrupt \
                           interrupt_since_ns";

    /// Thread 3 opens a file, which thread 2 of the same process writes to until the disk is full.
    fn spans() -> Vec<Span> {
        let open = Effect::Open { call: Opener::Open, dir: None, path: "/tmp/x".into(), flags: 1 };
        let write = || Effect::Use { fd: 3, what: Use::Write };
        vec![
            line(thread(3), "open", "\"/tmp/x\", O_WRONLY", open, (10, 12, 3)),
            line(thread(2), "write", "3, \"a\", 1", write(), (20, 25, 1)),
            line(thread(2), "write", "3, \"b\", 1", write(), (30, 70, -28)),
            line(thread(2), "close", "3", Effect::Close { fd: 3 }, (80, 81, 0)),
            call(thread(1), "wait4", 40, 60, -10),
            half(thread(1), Some("nanosleep"), 90, Half::Begin),
            half(thread(3), Some("futex"), 95, Half::End),
            Span::File(Box::new(file(thread(3), 3, "/tmp/x", 12, 81))),
            slice(0, idle(0), 0, 65),
            slice(0, thread(2), 65, 100),
            slice(1, thread(1), 5, 70),
            slice(1, thread(3), 70, 100),
            irq(1, 4, "tty", 45, 55),
        ]
    }

    fn asks(names: &[&str], errors: &[u16], around: bool) -> Options {
        let names = names.iter().map(|name| WildMatch::new(name)).collect();
        Options { calls: Calls { names, errors: errors.to_vec(), around }, ..Options::default() }
    }

    const OPEN: &str = "h 1010 1012 2 0 2 3 worker open 3 ? open(\"/tmp/x\", O_WRONLY) = 3</tmp/x>";
    const FULL: &str = "h 1030 1070 40 0 2 2 worker write -28 ENOSPC write(3</tmp/x>, \"b\", 1) = -1 ENOSPC \
                        (No space left on device)";
    const CLOSE: &str = "h 1080 1081 1 0 2 2 worker close 0 ? close(3</tmp/x>) = 0";
    const WAIT: &str = "h 1040 1060 20 0 1 1 init wait4 -10 ECHILD wait4() = -1 ECHILD (No child processes)";
    const SLEEP: &str = "h 1090 ? ? ? 1 1 init nanosleep ? ? nanosleep(...) = ?";

    #[test]
    fn a_log_in_the_order_of_time() {
        let check = |options: &Options, expect: &[&str]| {
            check(AnalysisKind::Syscalls, &spans(), options, When::default(), &[&[CALLS], expect].concat());
        };
        check(
            &Options::default(),
            &[
                OPEN,
                "h 1020 1025 5 0 2 2 worker write 1 ? write(3</tmp/x>, \"a\", 1) = 1",
                FULL,
                WAIT,
                CLOSE,
                SLEEP,
                "h ? 1095 ? ? 2 3 worker futex ? ? futex(...) = ...",
            ],
        );
        check(&asks(&["close", "open"], &[], false), &[OPEN, CLOSE]);
        check(&asks(&["?lose", "op*"], &[], false), &[OPEN, CLOSE]);
        check(&asks(&[], &[28, 10], false), &[FULL, WAIT]);
        check(&asks(&["wait4", "open"], &[28, 10], false), &[WAIT]);
        let filter = Filter { tids: vec![1], min_ns: Some(2), ..Filter::default() };
        check(&Options { filter, ..Options::default() }, &[WAIT]);
    }

    #[test]
    fn what_else_ran_when_it_failed() {
        let around = [
            CALLS,
            FULL,
            RUNNING,
            "h 1070 0 2 2 worker 1065 ? ? ? ? ?",
            "h 1070 1 2 3 worker 1070 ? ? ? ? ?",
        ];
        check(AnalysisKind::Syscalls, &spans(), &asks(&[], &[28], true), When::default(), &around);
    }

    #[test]
    fn those_in_progress() {
        let check = |at, options: &Options, expect: &[&str]| {
            let when = When { at: Some(RawNs(at)), ..When::default() };
            check(AnalysisKind::Syscalls, &spans(), options, when, expect);
        };
        let running = [
            RUNNING,
            "h 1050 0 0 0 swapper/0 1000 idle ? ? ? ?",
            "h 1050 1 1 1 init 1005 syscall wait4 1040 IRQ 4 tty 1045",
        ];
        check(50, &Options::default(), &[&[CALLS, FULL, WAIT][..], &running].concat());
        check(50, &asks(&["write"], &[], false), &[&[CALLS, FULL][..], &running].concat());
        let filter = Filter { max_ns: Some(30), ..Filter::default() };
        check(50, &Options { filter, ..Options::default() }, &[&[CALLS, WAIT][..], &running].concat());
        // Thread 3 is not born at 15: it comes out of the call by which another one made it.
        let newborn =
            [half(thread(3), Some("clone"), 22, Half::End), half(thread(2), Some("clone"), 22, Half::End)];
        let when = When { at: Some(RawNs(15)), ..When::default() };
        let expect = [CALLS, "h ? ? ? ? 2 2 worker clone ? ? clone(...) = ?", RUNNING];
        crate::testing::check(AnalysisKind::Syscalls, &newborn, &Options::default(), when, &expect);
        check(
            92,
            &Options::default(),
            &[
                CALLS,
                SLEEP,
                RUNNING,
                "h 1092 0 2 2 worker 1065 user ? ? ? ?",
                // It came out of a call at 95 whose entry was not recorded.
                "h 1092 1 2 3 worker 1070 ? ? ? ? ?",
            ],
        );
    }
}
