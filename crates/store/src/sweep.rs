//! What every thread does from when to when: one sweep over the spans of a host in the order of time.
//!
//! Spans overlap: a thread is on a CPU, in a call, and the CPU handles an interrupt. A [`Sweep`] takes their begins as they come and
//! keeps their ends in a heap; whenever something changes for a thread, the time since the last change becomes a row. So rows
//! of a thread follow each other without holes and overlaps, from its begin to its end.
//!
//! * On a CPU: `interrupted` while that handles an interrupt or softirq, else `syscall` or `usermode`.
//! * Off it: `wait-cpu` after a wake-up or when it was preempted, else `blocked`, with the call that it is in.
//! * After its fork: `wait-fork`; after its end: `dead`, until its number is given to another thread.
//! * Whatever no span covers is `unknown`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::merge::Input;
use crate::state::State;
use crate::threads::Numbered;
use crate::writer::number_of;
use isochrone_kernel::OffCpuReason;
use rustc_hash::FxHashMap;

/// What a thread does, and all that belongs to it. Names of calls are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Doing {
    pub(crate) state: State,
    pub(crate) cpu: Option<u32>,
    pub(crate) call: Option<u32>,
    pub(crate) fd: Option<i32>,
    pub(crate) waker: Option<u32>,
}

/// A row of the table of states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) thread: u32,
    pub(crate) begin: i64,
    pub(crate) end: i64,
    pub(crate) doing: Doing,
}

/// A call that a thread is in.
#[derive(Debug, Clone, Copy)]
struct Call {
    name: u32,
    fd: Option<i32>,
    /// Tells it from the one before it.
    serial: u64,
}

/// A thread in the sweep.
#[derive(Debug, Clone, Copy)]
struct Thread {
    /// Rows begin here.
    since: i64,
    now: Doing,
    /// The last row, which may go on.
    last: Option<Row>,
    cpu: Option<u32>,
    waits: Option<Wait>,
    off: Option<u8>,
    call: Option<Call>,
    life: Life,
    is_kernel: bool,
}

/// A wait for a CPU.
#[derive(Debug, Clone, Copy)]
struct Wait {
    waker: Option<u32>,
}

/// How far a thread has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    /// It was made and has not been woken.
    New,
    Alive,
    Dead,
    /// Its number is that of another one.
    Over,
}

/// What ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Slice {
        thread: u32,
        cpu: u32,
    },
    Interrupt {
        cpu: u32,
    },
    Call {
        thread: u32,
        serial: u64,
    },
    SchedLatency {
        thread: u32,
    },
    OffCpu {
        thread: u32,
    },
    /// Another thread has the number from now on.
    Number {
        thread: u32,
    },
}

impl Thread {
    /// It is no longer new.
    fn wake(&mut self) {
        if self.life == Life::New {
            self.life = Life::Alive;
        }
    }
}

/// A CPU in the sweep.
#[derive(Debug, Clone, Copy, Default)]
struct Cpu {
    thread: Option<u32>,
    interrupts: u32,
}

/// The sweep over a host.
#[derive(Debug)]
pub(crate) struct Sweep<'n> {
    numbered: &'n Numbered,
    threads: Vec<Option<Thread>>,
    cpus: FxHashMap<u32, Cpu>,
    ends: BinaryHeap<Reverse<(i64, End)>>,
    names: FxHashMap<String, u32>,
    list: Vec<String>,
    serial: u64,
    range: (i64, i64),
}

const NOTHING: Doing = Doing { state: State::Unknown, cpu: None, call: None, fd: None, waker: None };

impl<'n> Sweep<'n> {
    /// Over the threads of a host, between its first and its last event.
    pub(crate) fn new(numbered: &'n Numbered, range: (i64, i64)) -> Self {
        let mut sweep = Self {
            numbered,
            threads: Vec::with_capacity(numbered.threads.len()),
            cpus: FxHashMap::default(),
            ends: BinaryHeap::new(),
            names: FxHashMap::default(),
            list: Vec::new(),
            serial: 0,
            range,
        };
        let mut before: Option<(i32, u32)> = None;
        for (number, row) in (0..).zip(&numbered.threads) {
            let Some(tid) = row.tid else {
                sweep.threads.push(None);
                continue;
            };
            let mut thread = Thread {
                since: row.begin.max(range.0),
                now: NOTHING,
                last: None,
                cpu: None,
                waits: None,
                off: None,
                call: None,
                life: Life::Alive,
                is_kernel: row.is_kernel == Some(true),
            };
            if let Some((at, name)) = &numbered.first_calls[number as usize] {
                let call = sweep.call(name, None);
                thread.call = Some(call);
                sweep.ends.push(Reverse((*at, End::Call { thread: number, serial: call.serial })));
            }
            // Threads of one number come one after the other, by begin.
            if let Some((_, last)) = before.filter(|before| before.0 == tid) {
                sweep.ends.push(Reverse((thread.since, End::Number { thread: last })));
            }
            before = Some((tid, number));
            thread.now = composed(&thread, &sweep.cpus);
            sweep.threads.push(Some(thread));
        }
        sweep
    }

    /// Names of calls, by number.
    pub(crate) fn names(&self) -> &[String] {
        &self.list
    }

    fn call(&mut self, name: &str, fd: Option<i32>) -> Call {
        let number = match self.names.get(name) {
            Some(&number) => number,
            None => {
                let number = self.list.len() as u32;
                self.list.push(name.to_owned());
                self.names.insert(name.to_owned(), number);
                number
            }
        };
        self.serial += 1;
        Call { name: number, fd, serial: self.serial }
    }

    /// Takes the next span, which begins at `at`, not before any that came before it.
    pub(crate) fn begin(&mut self, at: i64, input: Input<'_>, rows: &mut impl FnMut(Row)) {
        self.end_until(at, rows);
        let thread_of = |name: u32| self.numbered.thread(name);
        match input {
            Input::Slice { thread, cpu, end } => {
                let thread = thread_of(thread);
                self.cpus.entry(cpu).or_default().thread = thread;
                let Some(thread) = thread else { return };
                self.change(thread, at, rows, |it| {
                    it.cpu = Some(cpu);
                    it.wake();
                });
                self.ends.push(Reverse((end, End::Slice { thread, cpu })));
            }
            Input::OffCpu { thread, why, end } => {
                let Some(thread) = thread_of(thread) else { return };
                self.change(thread, at, rows, |it| it.off = Some(why));
                self.ends.push(Reverse((end, End::OffCpu { thread })));
            }
            Input::SchedLatency { thread, waker, end } => {
                let Some(thread) = thread_of(thread) else { return };
                let waker = waker.and_then(thread_of);
                self.change(thread, at, rows, |it| {
                    it.waits = Some(Wait { waker });
                    it.wake();
                });
                self.ends.push(Reverse((end, End::SchedLatency { thread })));
            }
            Input::Call { thread, name, fd, end } => {
                let Some(thread) = thread_of(thread) else { return };
                let call = self.call(name, fd);
                self.change(thread, at, rows, |it| it.call = Some(call));
                if let Some(end) = end {
                    self.ends.push(Reverse((end, End::Call { thread, serial: call.serial })));
                }
            }
            Input::Interrupt { cpu, end } => {
                let there = self.cpus.entry(cpu).or_default();
                there.interrupts += 1;
                let thread = there.thread;
                if let Some(thread) = thread {
                    self.change(thread, at, rows, |_| ());
                }
                self.ends.push(Reverse((end, End::Interrupt { cpu })));
            }
            Input::Forked { thread } => {
                let Some(thread) = thread_of(thread) else { return };
                self.change(thread, at, rows, |it| it.life = Life::New);
            }
            Input::Died { thread } => {
                let Some(thread) = thread_of(thread) else { return };
                self.change(thread, at, rows, |it| (it.life, it.call) = (Life::Dead, None));
            }
        }
    }

    /// Ends what ends by an instant.
    fn end_until(&mut self, at: i64, rows: &mut impl FnMut(Row)) {
        while let Some(&Reverse((time, end))) = self.ends.peek()
            && time <= at
        {
            self.ends.pop();
            self.end(time, end, rows);
        }
    }

    fn end(&mut self, at: i64, end: End, rows: &mut impl FnMut(Row)) {
        match end {
            End::Slice { thread, cpu } => {
                let there = self.cpus.entry(cpu).or_default();
                if there.thread == Some(thread) {
                    there.thread = None;
                }
                self.change(thread, at, rows, |it| it.cpu = it.cpu.filter(|&now| now != cpu));
            }
            End::Interrupt { cpu } => {
                let there = self.cpus.entry(cpu).or_default();
                there.interrupts = there.interrupts.saturating_sub(1);
                if let Some(thread) = there.thread {
                    self.change(thread, at, rows, |_| ());
                }
            }
            End::Call { thread, serial } => {
                self.change(thread, at, rows, |it| it.call = it.call.filter(|call| call.serial != serial));
            }
            End::SchedLatency { thread } => self.change(thread, at, rows, |it| it.waits = None),
            End::OffCpu { thread } => self.change(thread, at, rows, |it| it.off = None),
            End::Number { thread } => {
                self.change(thread, at, rows, |_| ());
                if let Some(Some(it)) = self.threads.get_mut(thread as usize) {
                    close(thread, it, at, rows);
                    it.life = Life::Over;
                }
            }
        }
    }

    /// Changes what is known of a thread at an instant. If it does something else then, what it did becomes a row.
    fn change(&mut self, number: u32, at: i64, rows: &mut impl FnMut(Row), change: impl FnOnce(&mut Thread)) {
        let Some(Some(thread)) = self.threads.get_mut(number as usize) else { return };
        change(thread);
        let now = composed(thread, &self.cpus);
        if now != thread.now && thread.life != Life::Over {
            settle(number, thread, at, rows);
            thread.now = now;
        }
    }

    /// Ends the sweep at the end of the trace.
    pub(crate) fn finish(mut self, rows: &mut impl FnMut(Row)) {
        let end = self.range.1;
        self.end_until(end, rows);
        for (number, thread) in (0..).zip(&mut self.threads) {
            if let Some(thread) = thread.as_mut().filter(|thread| thread.life != Life::Over) {
                close(number, thread, end, rows);
            }
        }
    }
}

/// What a thread does, as far as its spans tell.
fn composed(thread: &Thread, cpus: &FxHashMap<u32, Cpu>) -> Doing {
    let call = thread.call.map(|call| call.name);
    let fd = thread.call.and_then(|call| call.fd);
    let doing = Doing { call, fd, ..NOTHING };
    if thread.life == Life::Dead {
        return Doing { state: State::Dead, ..NOTHING };
    }
    if let Some(cpu) = thread.cpu {
        let is_interrupted = cpus.get(&cpu).is_some_and(|cpu| cpu.interrupts > 0);
        let state = match is_interrupted {
            true => State::Interrupted,
            false if call.is_some() || thread.is_kernel => State::Syscall,
            false => State::UserMode,
        };
        return Doing { state, cpu: Some(cpu), ..doing };
    }
    if let Some(wait) = thread.waits {
        return Doing { state: State::WaitCpu, waker: wait.waker, ..doing };
    }
    match thread.off {
        Some(why) if why == number_of(OffCpuReason::Preempted) => Doing { state: State::WaitCpu, ..doing },
        Some(_) => Doing { state: State::Blocked, ..doing },
        None if thread.life == Life::New => Doing { state: State::WaitFork, ..NOTHING },
        // In a call, perhaps, but neither on a CPU nor off it.
        None => NOTHING,
    }
}

/// What a thread has done until an instant becomes a row, or a part of the last one.
fn settle(number: u32, thread: &mut Thread, at: i64, rows: &mut impl FnMut(Row)) {
    if at <= thread.since {
        return;
    }
    let row = Row { thread: number, begin: thread.since, end: at, doing: thread.now };
    thread.since = at;
    match &mut thread.last {
        Some(last) if last.doing == row.doing => last.end = at,
        last => {
            if let Some(last) = last.replace(row) {
                rows(last);
            }
        }
    }
}

/// A thread has no rows after an instant.
fn close(number: u32, thread: &mut Thread, at: i64, rows: &mut impl FnMut(Row)) {
    settle(number, thread, at, rows);
    if let Some(last) = thread.last.take() {
        rows(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::ThreadRow;

    fn thread(tid: i32, begin: i64) -> ThreadRow {
        ThreadRow {
            tid: Some(tid),
            idle_of_cpu: None,
            pid: Some(tid),
            comm: None,
            parent: None,
            is_kernel: None,
            begin,
            end: 100,
            is_begin_seen: begin > 0,
            is_end_seen: false,
        }
    }

    /// Threads 0 and 1, whose names in spans are 0 and 1; thread 2 has the number of thread 1 from 50 on.
    fn numbered() -> Numbered {
        Numbered {
            threads: vec![thread(10, 0), thread(11, 20), thread(11, 50)],
            names: vec![Some(0), Some(1), Some(2), None],
            first_calls: vec![None, None, None],
        }
    }

    /// What spans make of the states of threads, by thread: `BEGIN state [cpu] [call]`.
    fn check(numbered: &Numbered, spans: &[(i64, Input<'_>)], expect: [&str; 3]) {
        let mut rows = Vec::new();
        let mut sweep = Sweep::new(numbered, (0, 100));
        for &(at, input) in spans {
            sweep.begin(at, input, &mut |row| rows.push(row));
        }
        let names = sweep.names().to_vec();
        sweep.finish(&mut |row| rows.push(row));
        for (number, expect) in (0..).zip(expect) {
            let mut ends = Vec::new();
            let of_thread = rows.iter().filter(|row| row.thread == number);
            let shown = of_thread.map(|row| {
                ends.push((row.begin, row.end));
                let cpu = row.doing.cpu.map_or(String::new(), |cpu| format!(" on {cpu}"));
                let call =
                    row.doing.call.map_or(String::new(), |call| format!(" in {}", names[call as usize]));
                format!("{} {}{cpu}{call}", row.begin, row.doing.state)
            });
            assert_eq!(shown.collect::<Vec<_>>().join(", "), expect);
            assert!(ends.windows(2).all(|pair| pair[0].1 == pair[1].0), "{ends:?}");
            let life = numbered.threads[number as usize].begin;
            let last = if number == 1 { 50 } else { 100 };
            assert_eq!((ends.first().map(|it| it.0), ends.last().map(|it| it.1)), (Some(life), Some(last)));
        }
    }

    const NOTHING: [&str; 3] = ["0 unknown", "20 unknown", "50 unknown"];

    #[test]
    fn nothing_is_known_without_spans() {
        check(&numbered(), &[], NOTHING);
        // Of a thread that nobody knows.
        check(&numbered(), &[(5, Input::Slice { thread: 3, cpu: 0, end: 9 })], NOTHING);
    }

    #[test]
    fn calls_and_interrupts_lie_over_the_time_on_a_cpu() {
        let spans = [
            (10, Input::Slice { thread: 0, cpu: 1, end: 40 }),
            (15, Input::Call { thread: 0, name: "read", fd: Some(3), end: Some(60) }),
            (20, Input::Interrupt { cpu: 1, end: 26 }),
            (22, Input::Interrupt { cpu: 1, end: 24 }),
            // Another CPU.
            (28, Input::Interrupt { cpu: 0, end: 32 }),
            (40, Input::OffCpu { thread: 0, why: number_of(OffCpuReason::Blocked), end: 50 }),
            (50, Input::SchedLatency { thread: 0, waker: Some(1), end: 55 }),
            (55, Input::Slice { thread: 0, cpu: 0, end: 70 }),
            (70, Input::OffCpu { thread: 0, why: number_of(OffCpuReason::Preempted), end: 90 }),
        ];
        let expect = "0 unknown, 10 usermode on 1, 15 syscall on 1 in read, 20 interrupted on 1 in read, \
                      26 syscall on 1 in read, 40 blocked in read, 50 wait-cpu in read, 55 syscall on 0 in read, \
                      60 usermode on 0, 70 wait-cpu, 90 unknown";
        check(&numbered(), &spans, [expect, NOTHING[1], NOTHING[2]]);
    }

    #[test]
    fn threads_begin_and_end() {
        let spans = [
            (20, Input::Forked { thread: 1 }),
            (25, Input::SchedLatency { thread: 1, waker: Some(0), end: 30 }),
            (30, Input::Slice { thread: 1, cpu: 0, end: 40 }),
            (40, Input::Died { thread: 1 }),
            (50, Input::Forked { thread: 2 }),
        ];
        let expect = ["0 unknown", "20 wait-fork, 25 wait-cpu, 30 usermode on 0, 40 dead", "50 wait-fork"];
        check(&numbered(), &spans, expect);
    }

    #[test]
    fn calls_that_are_known_by_half() {
        let mut all = numbered();
        all.first_calls[0] = Some((30, "poll".to_owned()));
        let spans = [
            (0, Input::OffCpu { thread: 0, why: number_of(OffCpuReason::Blocked), end: 20 }),
            (20, Input::Slice { thread: 0, cpu: 0, end: 60 }),
            (50, Input::Call { thread: 0, name: "exit_group", fd: None, end: None }),
            (60, Input::OffCpu { thread: 0, why: number_of(OffCpuReason::Uninterruptible), end: 100 }),
        ];
        let expect = "0 blocked in poll, 20 syscall on 0 in poll, 30 usermode on 0, 50 syscall on 0 in exit_group, \
                      60 blocked in exit_group";
        check(&all, &spans, [expect, NOTHING[1], NOTHING[2]]);
    }

    #[test]
    fn what_the_kernel_runs_is_no_program() {
        let mut all = numbered();
        all.threads[0].is_kernel = Some(true);
        let spans = [(10, Input::Slice { thread: 0, cpu: 0, end: 20 })];
        check(&all, &spans, ["0 unknown, 10 syscall on 0, 20 unknown", NOTHING[1], NOTHING[2]]);
    }
}
