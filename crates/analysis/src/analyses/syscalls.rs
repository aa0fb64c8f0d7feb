//! `syscalls`: every call with its arguments, as `strace` shows them; of one instant, those that were in progress
//! then. Beside, what all CPUs ran at that instant or, where asked for, when each of the calls ended.

use std::collections::BTreeSet;

use isochrone_kernel::calls::line;
use isochrone_kernel::files::FileSpan;
use isochrone_kernel::{
    Half, HalfSyscall, Irq, Latency, Name, Off, Renames, Slice, Softirq, Spans, Syscall, ThreadId, Time,
    Unknown,
};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, Heard};
use crate::annotated::{annotated, makes, taken};
use crate::errno::{errno_name, error_in};
use crate::gate::Gate;
use crate::instant::{CpuDoing, Instant};
use crate::kept::Log;
use crate::opened::Opened;
use crate::options::Options;
use crate::running::{self, time};
use crate::stats::duration;
use crate::table::{Cell, Table, Unit};
use crate::window::{When, Window, contains};

/// Calls of a host's threads.
#[derive(Debug, Serialize, Deserialize)]
pub struct Syscalls {
    wanted: Wanted,
    calls: Log<Call>,
    files: Log<FileSpan>,
    instant: Option<Instant>,
    /// What every CPU ran, where that is asked for around calls.
    ran: Log<Ran>,
}

/// Which calls are asked for. An empty set: all.
#[derive(Debug, Serialize, Deserialize)]
struct Wanted {
    names: BTreeSet<Name>,
    errors: BTreeSet<u16>,
    around: bool,
    /// Of an instant, all spans are heard: CPUs and durations are looked at here.
    gate: Gate,
}

/// A call. The order of the fields is that of the rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Call {
    /// Its begin; where that was not seen, its end.
    at: Time,
    begin: Option<Time>,
    end: Option<Time>,
    cpu: Option<u32>,
    thread: ThreadId,
    name: Option<Name>,
    ret: Option<i64>,
    line: Box<str>,
    /// The descriptors that it took.
    fds: [Option<i32>; 2],
    /// Whether it returned one.
    makes: bool,
}

/// A CPU that ran a thread.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Ran {
    cpu: u32,
    begin: Time,
    end: Time,
    thread: ThreadId,
}

impl Wanted {
    fn new(options: &Options) -> Self {
        let calls = &options.calls;
        Self {
            names: calls.names.iter().map(Name::from).collect(),
            errors: calls.errors.iter().copied().collect(),
            around: calls.around,
            gate: Gate::new(options, Window::default()),
        }
    }

    fn name(&self, name: Option<&Name>) -> bool {
        self.names.is_empty() || name.is_some_and(|name| self.names.contains(name))
    }

    fn call(&self, call: &Syscall<'_>) -> bool {
        let error = || error_in(call.exit.ret).is_some_and(|error| self.errors.contains(&error));
        (self.errors.is_empty() || error()) && self.name(Some(&call.entry.name))
    }

    fn half(&self, half: &HalfSyscall<'_>) -> bool {
        self.errors.is_empty() && self.name(half.name) && self.gate.half_syscall(half)
    }
}

/// A call of which one end is missing, as a line.
fn half_line(name: Option<&Name>, half: Half) -> String {
    let name = name.map_or("?", Name::as_str);
    match half {
        Half::Begin => format!("{name}(...) = ?"),
        Half::End => format!("{name}(...) = ..."),
    }
}

impl Spans for Syscalls {
    fn syscall(&mut self, call: &Syscall<'_>) {
        if let Some(instant) = &mut self.instant {
            instant.syscall(call);
            if !contains(call.begin, instant.at(), call.end) || !self.wanted.gate.syscall(call) {
                return;
            }
        }
        if !self.wanted.call(call) {
            return;
        }
        self.calls.push(Call {
            at: call.begin,
            begin: Some(call.begin),
            end: Some(call.end),
            cpu: Some(call.cpu),
            thread: call.thread,
            name: Some(call.entry.name.clone()),
            ret: Some(call.exit.ret),
            line: line(Some(call.entry), Some(call.exit)).into(),
            fds: taken(&call.entry.effect),
            makes: makes(&call.entry.effect),
        });
    }

    fn half_syscall(&mut self, half: &HalfSyscall<'_>) {
        match &mut self.instant {
            Some(instant) => instant.half_syscall(half),
            None if self.wanted.half(half) => {
                let (begin, end) = match half.half {
                    Half::Begin => (Some(half.at), None),
                    Half::End => (None, Some(half.at)),
                };
                self.calls.push(Call {
                    at: half.at,
                    begin,
                    end,
                    cpu: None,
                    thread: half.thread,
                    name: half.name.cloned(),
                    ret: None,
                    line: half_line(half.name, half.half).into(),
                    fds: [None; 2],
                    makes: false,
                });
            }
            None => {}
        }
    }

    fn file(&mut self, file: &FileSpan) {
        self.files.push(file.clone());
    }

    fn slice(&mut self, slice: &Slice) {
        if let Some(instant) = &mut self.instant {
            instant.slice(slice);
        } else if self.wanted.around {
            let Slice { cpu, begin, end, thread, .. } = *slice;
            self.ran.push(Ran { cpu, begin, end, thread });
        }
    }

    fn unknown(&mut self, unknown: &Unknown) {
        if let Some(instant) = &mut self.instant {
            instant.unknown(unknown);
        }
    }

    fn irq(&mut self, irq: &Irq) {
        if let Some(instant) = &mut self.instant {
            instant.irq(irq);
        }
    }

    fn softirq(&mut self, softirq: &Softirq) {
        if let Some(instant) = &mut self.instant {
            instant.softirq(softirq);
        }
    }

    fn latency(&mut self, latency: &Latency) {
        if let Some(instant) = &mut self.instant {
            instant.latency(latency);
        }
    }

    fn off(&mut self, off: &Off) {
        if let Some(instant) = &mut self.instant {
            instant.off(off);
        }
    }

    fn rename(&mut self, renames: &Renames) {
        self.calls.iter_mut().for_each(|call| call.thread = renames.of(call.thread));
        self.files.iter_mut().for_each(|file| file.rename(renames));
        self.ran.iter_mut().for_each(|ran| ran.thread = renames.of(ran.thread));
        if let Some(instant) = &mut self.instant {
            instant.rename(renames);
        }
    }

    fn absorb(&mut self, right: Self) {
        self.calls.absorb(right.calls);
        self.files.absorb(right.files);
        self.ran.absorb(right.ran);
        if let (Some(instant), Some(right)) = (&mut self.instant, right.instant) {
            instant.absorb(right);
        }
    }
}

impl Analysis for Syscalls {
    const INSTANT: bool = true;

    fn new(options: &Options, when: When) -> Self {
        Self {
            wanted: Wanted::new(options),
            calls: Log::default(),
            files: Log::default(),
            instant: when.at.map(Instant::new),
            ran: Log::default(),
        }
    }

    fn tables(hosts: &[Heard<'_, Self>], options: &Options) -> Vec<Table> {
        const COLUMNS: &[(&str, Unit)] = &[
            ("host", Unit::None),
            ("begin_ns", Unit::Time),
            ("end_ns", Unit::Time),
            ("duration_ns", Unit::Ns),
            ("cpu", Unit::None),
            ("pid", Unit::None),
            ("tid", Unit::None),
            ("comm", Unit::None),
            ("syscall", Unit::None),
            ("result", Unit::None),
            ("error", Unit::None),
            ("line", Unit::None),
        ];
        let mut table = Table::new("syscalls", "System calls", COLUMNS);
        let mut running = running::table();
        let mut is_running_told = false;
        for heard in hosts {
            let opened = Opened::new(heard.host, &heard.of.files);
            let mut calls: Vec<Call> = heard.of.calls.sorted().into_iter().cloned().collect();
            if let Some(instant) = &heard.of.instant {
                is_running_told = true;
                let picture = instant.picture();
                running::rows(heard, instant.at(), &picture, options, &mut running);
                calls.extend(halves(&heard.of.wanted, heard, instant));
                calls.sort();
            }
            let mut ends = BTreeSet::new();
            for call in &calls {
                if let Some(row) = row(call, &opened, heard, options) {
                    table.row(row);
                    ends.extend(call.end);
                }
            }
            if heard.of.wanted.around && heard.of.instant.is_none() {
                is_running_told = true;
                around(&ends, heard, &mut running);
            }
        }
        let mut tables = vec![table];
        tables.extend(is_running_told.then_some(running));
        tables
    }
}

/// Calls in progress at an instant of which one end is missing.
fn halves(wanted: &Wanted, heard: &Heard<'_, Syscalls>, instant: &Instant) -> Vec<Call> {
    let at = instant.at();
    // A new thread comes out of a call that another one entered.
    let is_alive = |thread| {
        let who = heard.host.thread(thread).unwrap_or_default();
        who.born.is_none_or(|born| born <= at) && who.died.is_none_or(|died| died > at)
    };
    let picture = instant.picture();
    let halves = picture.half_calls().filter(|&(thread, _)| is_alive(thread)).filter_map(|(thread, call)| {
        let half = if call.since.is_some() { Half::Begin } else { Half::End };
        wanted.half(&HalfSyscall { thread, name: call.name, at, half }).then(|| Call {
            at: call.since.unwrap_or(Time::MIN),
            begin: call.since,
            end: None,
            cpu: None,
            thread,
            name: call.name.cloned(),
            ret: None,
            line: half_line(call.name, Half::Begin).into(),
            fds: [None; 2],
            makes: false,
        })
    });
    halves.collect()
}

fn row(
    call: &Call,
    opened: &Opened<'_>,
    heard: &Heard<'_, Syscalls>,
    options: &Options,
) -> Option<Vec<Cell>> {
    let who = heard.who(call.thread, options)?;
    let name_of = |fd: i32, at| Some((fd, opened.name(call.thread, fd, at)?));
    let taken: Vec<_> = call.fds.iter().flatten().filter_map(|&fd| name_of(fd, call.at)).collect();
    let made = call.ret.filter(|ret| call.makes && *ret >= 0).and_then(|ret| name_of(ret as i32, call.end?));
    let ns = call.begin.zip(call.end).map(|(begin, end)| duration(begin, end));
    let error = call.ret.and_then(error_in).map(errno_name);
    let mut cells =
        vec![heard.name(), time(heard, call.begin), time(heard, call.end), ns.into(), call.cpu.into()];
    cells.extend(who.cells());
    cells.extend([
        call.name.as_ref().into(),
        call.ret.into(),
        error.map_or(Cell::Null, |error| Cell::text(&error)),
        Cell::text(&annotated(&call.line, &taken, made)),
    ]);
    Some(cells)
}

/// What every CPU ran at each of some instants.
fn around(ends: &BTreeSet<Time>, heard: &Heard<'_, Syscalls>, table: &mut Table) {
    let ran = heard.of.ran.sorted();
    let cpus: Vec<&[&Ran]> = ran.chunk_by(|a, b| a.cpu == b.cpu).collect();
    for &at in ends {
        for slices in &cpus {
            let before = slices.partition_point(|ran| ran.begin <= at);
            let here = slices[..before].last().filter(|ran| at < ran.end);
            let doing = CpuDoing {
                cpu: slices[0].cpu,
                thread: here.map(|ran| ran.thread),
                since: here.map(|ran| ran.begin),
                interrupt: None,
            };
            running::row(heard, at, &doing, None, false, table);
        }
    }
}

#[cfg(test)]
mod tests {
    use isochrone_kernel::calls::{Effect, Opener, Use};

    use super::*;
    use crate::options::{Calls, Filter};
    use crate::registry::Kind;
    use crate::testing::{Recorded, call, check, file, half, idle, irq, line, slice, thread};

    const CALLS: &str =
        "syscalls: host begin_ns end_ns duration_ns cpu pid tid comm syscall result error line";
    const RUNNING: &str = "running: host at_ns cpu pid tid comm since_ns mode syscall syscall_since_ns interrupt \
                           interrupt_since_ns";

    /// Thread 3 opens a file, which thread 2 of the same process writes to until the disk is full.
    fn spans() -> Vec<Recorded> {
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
            Recorded::File(Box::new(file(thread(3), 3, "/tmp/x", 12, 81))),
            slice(0, idle(0), 0, 65),
            slice(0, thread(2), 65, 100),
            slice(1, thread(1), 5, 70),
            slice(1, thread(3), 70, 100),
            irq(1, 4, "tty", 45, 55),
        ]
    }

    fn asks(names: &[&str], errors: &[u16], around: bool) -> Options {
        let names = names.iter().map(ToString::to_string).collect();
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
            check(Kind::Syscalls, &spans(), options, When::default(), &[&[CALLS], expect].concat());
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
        check(Kind::Syscalls, &spans(), &asks(&[], &[28], true), When::default(), &around);
    }

    #[test]
    fn those_in_progress() {
        let check = |at, options: &Options, expect: &[&str]| {
            let when = When { at: Some(at), ..When::default() };
            check(Kind::Syscalls, &spans(), options, when, expect);
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
        let when = When { at: Some(15), ..When::default() };
        let expect = [CALLS, "h ? ? ? ? 2 2 worker clone ? ? clone(...) = ?", RUNNING];
        crate::testing::check(Kind::Syscalls, &newborn, &Options::default(), when, &expect);
        check(
            92,
            &Options::default(),
            &[
                CALLS,
                SLEEP,
                RUNNING,
                "h 1092 0 2 2 worker 1065 user ? ? ? ?",
                // It came out of a call at 95 of which nobody saw the begin.
                "h 1092 1 2 3 worker 1070 ? ? ? ? ?",
            ],
        );
    }
}
