//! The sweep: states of all threads from one pass over spans in the order of their starts.
//!
//! Spans overlap: a thread is on a CPU, in a call, and the CPU handles an interrupt. A [`Sweep`] takes them
//! by their starts; each thread keeps the ends of what it is in, and before something starts for it, what has
//! ended by then is removed. Whenever its state changes, the time since the last change becomes a row. So the
//! rows of a thread follow each other without holes and overlaps, from its start to its end.
//!
//! * On a CPU: `interrupted` while that handles an interrupt or softirq, else `syscall` or `usermode`, or
//!   `running` where it is unknown whether it is in a call.
//! * Off it: `wait-cpu` after a wake-up or when it was preempted, else `blocked`, with the call that it is
//!   in, or the page fault.
//! * After its fork: `wait-fork`, unless a loss may have hidden that it was woken; after its end: `dead`,
//!   until its tid is reused.
//! * What no span covers is `unknown`.
//!
//! A thread is on one CPU and in one call at a time. Where an event is missing that the tracer did not
//! report, spans say otherwise: then the one that began last counts, and when it has ended the other again
//! ([`crate::interval_stack`]). So a state is a function of the spans that cover its time, and a window of
//! them gives the same states as all of them.

use crate::interval_stack::{Interval, IntervalStack, NEVER};
use crate::merge::SweepSpan;
use crate::names::NameId;
use crate::state::State;
use crate::threads::ThreadName;
use isochrone_time::RawNs;
use rustc_hash::FxHashMap;

/// A call that a thread is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Call {
    /// Exits of old tracers record no name.
    pub(crate) name: Option<NameId>,
    pub(crate) fd: Option<i32>,
}

impl Call {
    /// A page fault, in place of a call: no name of a call has this number.
    pub(crate) const PAGE_FAULT: Self = Self { name: Some(NameId(u32::MAX)), fd: None };
}

/// The state of a thread, and what belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Activity {
    pub(crate) state: State,
    pub(crate) cpu: Option<u32>,
    pub(crate) call: Option<Call>,
    pub(crate) waker: Option<u32>,
}

/// A time in which a thread is in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) thread: u32,
    pub(crate) start: RawNs,
    pub(crate) end: RawNs,
    pub(crate) activity: Activity,
}

/// The life of a thread, known before the sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Life {
    /// The start of its rows.
    pub(crate) start: RawNs,
    /// Its rows end here: its tid is reused from now on, or nothing is known any more.
    pub(crate) end: RawNs,
    /// If it was forked at its start and has not been woken yet: until when nothing is missing that could
    /// show that it was.
    pub(crate) new_until: Option<RawNs>,
    /// When it ended.
    pub(crate) died: Option<RawNs>,
    pub(crate) mode: Mode,
}

/// What a thread does that is on a CPU and in no call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It runs in user mode.
    User,
    /// It is a kernel thread.
    Kernel,
    /// Unknown: calls were not recorded, or nothing says what kind of thread it is.
    Unknown,
}

/// Indexes of the ends of a thread.
mod slot {
    pub(super) const SLICE: usize = 0;
    pub(super) const INTERRUPT: usize = 1;
    pub(super) const LATENCY: usize = 2;
    pub(super) const OFF: usize = 3;
    pub(super) const CALL: usize = 4;
    /// Its life, after which it is dead.
    pub(super) const DEATH: usize = 5;
    /// What is known of a new thread.
    pub(super) const NEW: usize = 6;
    /// A page fault of its program.
    pub(super) const FAULT: usize = 7;
    /// Number of indexes.
    pub(super) const COUNT: usize = 8;
}

/// The stage of a thread's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It was forked and has not been woken.
    New,
    Alive,
    Dead,
}

/// A thread in the sweep.
#[derive(Debug, Clone)]
struct Thread {
    /// The first of `ends`.
    next: RawNs,
    /// The start of its next row.
    since: RawNs,
    now: Activity,
    /// By [`slot`]: when it ends, or [`NEVER`].
    ends: [RawNs; slot::COUNT],
    /// The CPUs that it is on.
    slices: IntervalStack<u32>,
    /// The calls that it is in; `None`: that it may be in, and which is unknown.
    calls: IntervalStack<Option<Call>>,
    waker: Option<u32>,
    is_preempted: bool,
    stage: Stage,
    mode: Mode,
    /// No row is later.
    end: RawNs,
}

/// A CPU in the sweep.
#[derive(Debug, Clone)]
struct Cpu {
    /// The threads that are on it, and until when: mostly one.
    threads: Vec<(u32, RawNs)>,
    /// It handles interrupts until then.
    interrupted: RawNs,
    /// Whether a thread was ever seen to run there.
    has_run: bool,
}

impl Default for Cpu {
    fn default() -> Self {
        Self { threads: Vec::new(), interrupted: RawNs::MIN, has_run: false }
    }
}

const NOTHING: Activity = Activity { state: State::Unknown, cpu: None, call: None, waker: None };

impl Thread {
    fn new(life: &Life) -> Self {
        let mut thread = Self {
            next: NEVER,
            since: life.start,
            now: NOTHING,
            ends: [NEVER; slot::COUNT],
            slices: IntervalStack::default(),
            calls: IntervalStack::default(),
            waker: None,
            is_preempted: false,
            stage: if life.new_until.is_some_and(|until| until > life.start) {
                Stage::New
            } else {
                Stage::Alive
            },
            mode: life.mode,
            end: life.end,
        };
        if let (Stage::New, Some(until)) = (thread.stage, life.new_until) {
            thread.ends[slot::NEW] = until;
        }
        thread.set(slot::DEATH, life.died.unwrap_or(NEVER));
        thread.now = thread.activity();
        thread
    }

    /// It is no longer new, as far as known.
    fn wake(&mut self) {
        if self.stage == Stage::New {
            self.stage = Stage::Alive;
            self.set(slot::NEW, NEVER);
        }
    }

    #[inline]
    fn is(&self, what: usize) -> bool {
        self.ends[what] != NEVER
    }

    #[inline]
    fn set(&mut self, what: usize, end: RawNs) {
        self.ends[what] = end;
        self.next = self.ends.iter().copied().fold(NEVER, RawNs::min);
    }

    /// Its CPU, if it is on one.
    #[inline]
    fn cpu(&self) -> Option<u32> {
        self.slices.top()
    }

    /// It is on a CPU.
    #[inline]
    fn run(&mut self, slice: Interval<u32>, cpus: &FxHashMap<u32, Cpu>) {
        self.slices.add(slice);
        self.ends[slot::INTERRUPT] = self.interrupted_until(slice.start, cpus);
        self.set(slot::SLICE, self.slices.end());
    }

    /// When the interrupts of its CPU end, if there are any.
    #[inline]
    fn interrupted_until(&self, at: RawNs, cpus: &FxHashMap<u32, Cpu>) -> RawNs {
        let until = self.cpu().and_then(|cpu| cpus.get(&cpu)).map(|cpu| cpu.interrupted);
        until.filter(|&until| until > at).unwrap_or(NEVER)
    }

    /// It is in a call, or may be in one.
    #[inline]
    fn enter(&mut self, call: Interval<Option<Call>>) {
        self.calls.add(call);
        self.set(slot::CALL, self.calls.end());
    }

    /// Its state, from its spans.
    #[inline]
    fn activity(&self) -> Activity {
        if self.stage == Stage::Dead {
            return Activity { state: State::Dead, ..NOTHING };
        }
        let call = self.calls.top();
        let (is_in_call, call) = (call.map(|call| call.is_some()), call.flatten());
        if let Some(cpu) = self.cpu() {
            let state = match (is_in_call, self.mode) {
                _ if self.is(slot::INTERRUPT) => State::Interrupted,
                (Some(true), _) | (_, Mode::Kernel) => State::Syscall,
                (Some(false), _) | (None, Mode::Unknown) => State::Running,
                (None, Mode::User) => State::UserMode,
            };
            return Activity { state, cpu: Some(cpu), call, waker: None };
        }
        let call = call.or_else(|| self.is(slot::FAULT).then_some(Call::PAGE_FAULT));
        match () {
            () if self.is(slot::LATENCY) => {
                Activity { state: State::WaitCpu, cpu: None, call, waker: self.waker }
            }
            () if !self.is(slot::OFF) => {
                // In a call, perhaps, but neither on a CPU nor off it.
                let state = if self.stage == Stage::New { State::WaitFork } else { State::Unknown };
                Activity { state, ..NOTHING }
            }
            () if self.is_preempted => {
                // Whether the fault was over by then is unknown.
                let call = call.filter(|&call| call != Call::PAGE_FAULT);
                Activity { state: State::WaitCpu, cpu: None, call, waker: None }
            }
            () => Activity { state: State::Blocked, cpu: None, call, waker: None },
        }
    }

    /// If its state changes at an instant, emits the row before it.
    #[inline]
    fn change(&mut self, number: u32, at: RawNs, rows: &mut dyn FnMut(Row)) {
        let activity = self.activity();
        if activity != self.now {
            self.settle(number, at, rows);
            self.now = activity;
        }
    }

    /// Emits the row of its state until an instant.
    #[inline]
    fn settle(&mut self, number: u32, at: RawNs, rows: &mut dyn FnMut(Row)) {
        let at = at.min(self.end);
        if at > self.since {
            rows(Row { thread: number, start: self.since, end: at, activity: self.now });
            self.since = at;
        }
    }

    /// Ends what ends by an instant.
    #[inline]
    fn end_until(&mut self, number: u32, at: RawNs, cpus: &FxHashMap<u32, Cpu>, rows: &mut dyn FnMut(Row)) {
        while self.next <= at {
            let ended = self.next;
            if self.ends[slot::NEW] <= ended {
                self.wake();
            }
            if self.ends[slot::DEATH] <= ended {
                self.stage = Stage::Dead;
            }
            if self.ends[slot::SLICE] <= ended {
                self.slices.end_until(ended);
                self.ends[slot::SLICE] = self.slices.end();
                self.ends[slot::INTERRUPT] = self.interrupted_until(ended, cpus);
            }
            if self.ends[slot::CALL] <= ended {
                self.calls.end_until(ended);
                self.ends[slot::CALL] = self.calls.end();
            }
            for end in &mut self.ends {
                if *end <= ended {
                    *end = NEVER;
                }
            }
            self.next = self.ends.iter().copied().fold(NEVER, RawNs::min);
            self.change(number, ended, rows);
        }
    }
}

/// The sweep over some threads.
#[derive(Debug)]
pub(crate) struct Sweep {
    threads: Vec<Thread>,
    cpus: FxHashMap<u32, Cpu>,
}

impl Sweep {
    /// Over threads by number.
    pub(crate) fn new(lives: &[Life]) -> Self {
        Self { threads: lives.iter().map(Thread::new).collect(), cpus: FxHashMap::default() }
    }

    /// Consumes the next span, which begins at `at`, not before any earlier one. `thread_of`: the number of a
    /// thread in the sweep by that in the span; spans of other threads are ignored. Emits rows that end: two
    /// successive rows of a thread may be equal.
    #[inline]
    pub(crate) fn begin(
        &mut self,
        at: RawNs,
        span: SweepSpan,
        thread_of: impl Fn(ThreadName) -> Option<u32>,
        rows: &mut dyn FnMut(Row),
    ) {
        let Self { threads, cpus } = self;
        match span {
            SweepSpan::Slice { thread, cpu, end } => {
                let there = cpus.entry(cpu).or_default();
                there.has_run = true;
                there.threads.retain(|&(_, until)| until > at);
                there.threads.extend(thread_of(thread).map(|thread| (thread, end)));
            }
            SweepSpan::Interrupt { cpu, end } => {
                let there = cpus.entry(cpu).or_default();
                // What has ended by now has ended before this interrupt.
                let mut here = std::mem::take(&mut there.threads);
                here.retain(|&(_, until)| until > at);
                for &(number, _) in &here {
                    if let Some(it) = threads.get_mut(number as usize) {
                        it.end_until(number, at, cpus, rows);
                    }
                }
                let there = cpus.entry(cpu).or_default();
                there.interrupted = there.interrupted.max(end);
                there.threads = here;
            }
            _ => {}
        }
        let cpus = &*cpus;
        let mut change = |thread: Option<u32>, change: &mut dyn FnMut(&mut Thread)| {
            let Some(number) = thread else { return };
            let Some(it) = threads.get_mut(number as usize) else { return };
            it.end_until(number, at, cpus, rows);
            change(it);
            it.change(number, at, rows);
        };
        match span {
            SweepSpan::Slice { thread, cpu, end } => change(thread_of(thread), &mut |it| {
                it.wake();
                it.run(Interval { start: at, end, what: cpu }, cpus);
            }),
            SweepSpan::OffCpu { thread, is_preempted, end } => change(thread_of(thread), &mut |it| {
                it.is_preempted = is_preempted;
                it.set(slot::OFF, end);
            }),
            SweepSpan::SchedLatency { thread, waker, end } => change(thread_of(thread), &mut |it| {
                it.waker = waker;
                it.wake();
                it.set(slot::LATENCY, end);
            }),
            SweepSpan::Call { thread, name, fd, end } => change(thread_of(thread), &mut |it| {
                it.enter(Interval { start: at, end, what: Some(Call { name, fd }) });
            }),
            SweepSpan::OpenCall { thread, call, end } => change(Some(thread.0), &mut |it| {
                it.enter(Interval { start: at, end, what: call });
            }),
            SweepSpan::PageFault { thread, is_user: true, end } => change(thread_of(thread), &mut |it| {
                it.set(slot::FAULT, if end > at { end } else { NEVER });
            }),
            // Half calls are read before, and become open calls.
            SweepSpan::PageFault { is_user: false, .. } | SweepSpan::HalfCall { .. } => {}
            SweepSpan::Interrupt { cpu, .. } => {
                for &(thread, _) in cpus.get(&cpu).map_or(&[][..], |there| &there.threads) {
                    change(Some(thread), &mut |it| {
                        if it.cpu() == Some(cpu) {
                            it.set(slot::INTERRUPT, it.interrupted_until(at, cpus));
                        }
                    });
                }
            }
        }
    }

    /// Ends the sweep at an instant.
    pub(crate) fn finish(mut self, at: RawNs, rows: &mut dyn FnMut(Row)) {
        for (number, thread) in (0..).zip(&mut self.threads) {
            thread.end_until(number, at, &self.cpus, rows);
            thread.settle(number, at, rows);
        }
    }

    /// The CPUs that threads were seen to run on.
    pub(crate) fn cpus(&self) -> impl Iterator<Item = u32> + '_ {
        self.cpus.iter().filter(|(_, there)| there.has_run).map(|(&cpu, _)| cpu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::ThreadRow;

    const NONE: Life =
        Life { start: RawNs(0), end: RawNs(100), new_until: None, died: None, mode: Mode::User };

    /// Threads 0 and 1; thread 2 has the tid of thread 1 from 50 on.
    const LIVES: [Life; 3] =
        [NONE, Life { start: RawNs(20), end: RawNs(50), ..NONE }, Life { start: RawNs(50), ..NONE }];

    const NAMES: [&str; 3] = ["read", "poll", "exit_group"];

    fn call(name: &str) -> Option<NameId> {
        NAMES.iter().position(|known| *known == name).map(|number| NameId(number as u32))
    }

    /// Checks the states of threads, by thread: `BEGIN state [cpu] [call]`.
    fn check(lives: [Life; 3], spans: &[(i64, SweepSpan)], expect: [&str; 3]) {
        let mut rows = Vec::new();
        let mut sweep = Sweep::new(&lives);
        let thread_of = |name: ThreadName| Some(name.0).filter(|&number| number < 3);
        for &(at, input) in spans {
            sweep.begin(RawNs(at), input, thread_of, &mut |row| rows.push(row));
        }
        sweep.finish(RawNs(100), &mut |row| rows.push(row));
        for (number, expect) in (0..).zip(expect) {
            let mut of_thread: Vec<Row> = rows.iter().filter(|row| row.thread == number).copied().collect();
            of_thread.dedup_by(|next, row| {
                let is_alike = row.activity == next.activity && row.end == next.start;
                if is_alike {
                    row.end = next.end;
                }
                is_alike
            });
            let shown = of_thread.iter().map(|row| {
                let cpu = row.activity.cpu.map_or(String::new(), |cpu| format!(" on {cpu}"));
                let name = |call: Call| call.name.map_or("?", |name| NAMES[name.0 as usize]);
                let call = row.activity.call.map_or(String::new(), |call| format!(" in {}", name(call)));
                format!("{} {}{cpu}{call}", row.start, row.activity.state)
            });
            assert_eq!(shown.collect::<Vec<_>>().join(", "), expect);
            assert!(of_thread.windows(2).all(|pair| pair[0].end == pair[1].start), "{of_thread:?}");
            let life = &lives[number as usize];
            let whole = (of_thread.first().map(|it| it.start), of_thread.last().map(|it| it.end));
            assert_eq!(whole, (Some(life.start), Some(life.end)));
        }
    }

    const NOTHING: [&str; 3] = ["0 unknown", "20 unknown", "50 unknown"];

    #[test]
    fn nothing_is_known_without_spans() {
        check(LIVES, &[], NOTHING);
        // Of an unknown thread.
        check(LIVES, &[(5, SweepSpan::Slice { thread: ThreadName(3), cpu: 0, end: RawNs(9) })], NOTHING);
    }

    #[test]
    fn calls_and_interrupts_lie_over_the_time_on_a_cpu() {
        let spans = [
            (10, SweepSpan::Slice { thread: ThreadName(0), cpu: 1, end: RawNs(40) }),
            (15, SweepSpan::Call { thread: ThreadName(0), name: call("read"), fd: Some(3), end: RawNs(60) }),
            (20, SweepSpan::Interrupt { cpu: 1, end: RawNs(26) }),
            (22, SweepSpan::Interrupt { cpu: 1, end: RawNs(24) }),
            // Another CPU.
            (28, SweepSpan::Interrupt { cpu: 0, end: RawNs(32) }),
            (40, SweepSpan::OffCpu { thread: ThreadName(0), is_preempted: false, end: RawNs(50) }),
            (50, SweepSpan::SchedLatency { thread: ThreadName(0), waker: Some(1), end: RawNs(55) }),
            // It is interrupted before the thread runs, and afterwards.
            (53, SweepSpan::Interrupt { cpu: 0, end: RawNs(57) }),
            (55, SweepSpan::Slice { thread: ThreadName(0), cpu: 0, end: RawNs(70) }),
            (70, SweepSpan::OffCpu { thread: ThreadName(0), is_preempted: true, end: RawNs(90) }),
        ];
        let expect = "0 unknown, 10 usermode on 1, 15 syscall on 1 in read, 20 interrupted on 1 in read, \
                      26 syscall on 1 in read, 40 blocked in read, 50 wait-cpu in read, 55 interrupted on 0 in read, \
                      57 syscall on 0 in read, 60 usermode on 0, 70 wait-cpu, 90 unknown";
        check(LIVES, &spans, [expect, NOTHING[1], NOTHING[2]]);
    }

    #[test]
    fn spans_that_exclude_each_other_count_by_their_begins() {
        let spans = [
            (10, SweepSpan::Slice { thread: ThreadName(0), cpu: 0, end: RawNs(90) }),
            (20, SweepSpan::Call { thread: ThreadName(0), name: call("poll"), fd: None, end: RawNs(80) }),
            (30, SweepSpan::Slice { thread: ThreadName(0), cpu: 1, end: RawNs(50) }),
            (35, SweepSpan::Call { thread: ThreadName(0), name: call("read"), fd: None, end: RawNs(45) }),
            // Of the CPU that it goes on with at 50.
            (40, SweepSpan::Interrupt { cpu: 0, end: RawNs(55) }),
        ];
        let expect = "0 unknown, 10 usermode on 0, 20 syscall on 0 in poll, 30 syscall on 1 in poll, \
                      35 syscall on 1 in read, 45 syscall on 1 in poll, 50 interrupted on 0 in poll, \
                      55 syscall on 0 in poll, 80 usermode on 0, 90 unknown";
        check(LIVES, &spans, [expect, NOTHING[1], NOTHING[2]]);
    }

    #[test]
    fn an_interrupt_begins_after_what_has_ended_before_it() {
        let spans = [
            (10, SweepSpan::Slice { thread: ThreadName(0), cpu: 0, end: RawNs(90) }),
            (20, SweepSpan::Slice { thread: ThreadName(0), cpu: 1, end: RawNs(40) }),
            // Another thread is said to be on the same CPU.
            (30, SweepSpan::Slice { thread: ThreadName(1), cpu: 0, end: RawNs(45) }),
            (60, SweepSpan::Interrupt { cpu: 0, end: RawNs(70) }),
        ];
        let expect = [
            "0 unknown, 10 usermode on 0, 20 usermode on 1, 40 usermode on 0, 60 interrupted on 0, 70 usermode on 0, 90 unknown",
            "20 unknown, 30 usermode on 0, 45 unknown",
            NOTHING[2],
        ];
        check(LIVES, &spans, expect);
    }

    #[test]
    fn threads_begin_and_end() {
        let mut lives = LIVES;
        (lives[1].new_until, lives[1].died, lives[2].new_until) =
            (Some(RawNs(90)), Some(RawNs(40)), Some(RawNs(60)));
        let spans = [
            (25, SweepSpan::SchedLatency { thread: ThreadName(1), waker: Some(0), end: RawNs(30) }),
            (30, SweepSpan::Slice { thread: ThreadName(1), cpu: 0, end: RawNs(40) }),
        ];
        let expect =
            ["0 unknown", "20 wait-fork, 25 wait-cpu, 30 usermode on 0, 40 dead", "50 wait-fork, 60 unknown"];
        check(lives, &spans, expect);
    }

    #[test]
    fn calls_that_are_known_by_half() {
        let open = |at, name, end| {
            let name: Option<&str> = name;
            let call = name.map(|name| Call { name: call(name), fd: None });
            (at, SweepSpan::OpenCall { thread: ThreadRow(0), call, end: RawNs(end) })
        };
        let spans = [
            (0, SweepSpan::OffCpu { thread: ThreadName(0), is_preempted: false, end: RawNs(20) }),
            open(0, Some("poll"), 30),
            (20, SweepSpan::Slice { thread: ThreadName(0), cpu: 0, end: RawNs(60) }),
            open(35, Some("read"), 40),
            open(40, None, 45),
            open(50, Some("exit_group"), 80),
            (60, SweepSpan::OffCpu { thread: ThreadName(0), is_preempted: false, end: RawNs(100) }),
            open(80, None, 101),
        ];
        let expect = "0 blocked in poll, 20 syscall on 0 in poll, 30 usermode on 0, 35 syscall on 0 in read, \
                      40 running on 0, 45 usermode on 0, 50 syscall on 0 in exit_group, 60 blocked in exit_group, 80 blocked";
        check(LIVES, &spans, [expect, NOTHING[1], NOTHING[2]]);
    }

    #[test]
    fn what_the_kernel_runs_is_no_program() {
        let mut lives = LIVES;
        (lives[0].mode, lives[1].mode) = (Mode::Kernel, Mode::Unknown);
        let spans = [
            (10, SweepSpan::Slice { thread: ThreadName(0), cpu: 0, end: RawNs(20) }),
            (30, SweepSpan::Slice { thread: ThreadName(1), cpu: 0, end: RawNs(40) }),
        ];
        let expect = ["0 unknown, 10 syscall on 0, 20 unknown", "20 unknown, 30 running on 0, 40 unknown"];
        check(lives, &spans, [expect[0], expect[1], NOTHING[2]]);
    }
}
