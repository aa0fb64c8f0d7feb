//! What a host did at one instant: which spans contain it, and what they say of each thread and each CPU.
//!
//! The state of a thread is composed of spans that know nothing of each other: it is on a CPU, off all of them or
//! woken and waiting for one; it is in a call or not; its CPU is interrupted or not. [`crate::Asked`] listens once for
//! all analyses that show it (`processes`, `syscalls`): they have it from [`crate::Heard`].

use std::collections::{BTreeMap, BTreeSet};

use isochrone_kernel::{
    Half, HalfSyscall, Irq, Keyed, Latency, Name, Off, Renames, Slice, Softirq, Spans, Syscall, ThreadId,
    Time, Unknown, Why,
};
use serde::{Deserialize, Serialize};

use crate::interrupt::Source;
use crate::kept::Log;
use crate::window::contains;

/// Spans that contain an instant. It grows with threads and CPUs, not with what passes.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Instant {
    /// Raw ns.
    at: Time,
    /// All CPUs that were heard of.
    cpus: BTreeSet<u32>,
    ran: Log<Ran>,
    interrupts: Log<Interrupt>,
    rests: Log<Rest>,
    calls: Log<Call>,
    /// What is next to the instant, for calls of which one end is missing.
    near: Keyed<ThreadId, Near>,
    /// Whether any call was heard of.
    has_calls: bool,
}

/// What a CPU ran.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Ran {
    begin: Time,
    cpu: u32,
    /// `None`: nobody knows.
    thread: Option<ThreadId>,
}

/// What interrupted a CPU. The last of those of a CPU is the innermost.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Interrupt {
    begin: Time,
    cpu: u32,
    source: Source,
}

/// A thread that was on no CPU.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Rest {
    begin: Time,
    thread: ThreadId,
    /// `None`: it was woken and waited for a CPU.
    why: Option<Why>,
    /// Who woke it, where it was.
    waker: Option<ThreadId>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Call {
    begin: Time,
    thread: ThreadId,
    name: Name,
}

/// The last end of a call that a thread showed at the instant or before, and the first after it: when, whether that
/// leaves it in a call at the instant, and which call.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Near {
    before: Option<(Time, bool, Option<Name>)>,
    after: Option<(Time, bool, Option<Name>)>,
}

impl Near {
    fn absorb(&mut self, other: Self) {
        self.before = self.before.take().max(other.before);
        self.after = match (self.after.take(), other.after) {
            (Some(left), Some(right)) => Some(left.min(right)),
            (left, right) => left.or(right),
        };
    }
}

/// A call that a thread is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InCall<'i> {
    /// Its name, where known.
    pub name: Option<&'i Name>,
    /// When it began, raw ns, where that was seen.
    pub since: Option<Time>,
    /// Whether one of its ends is missing.
    pub is_half: bool,
}

/// What a thread was doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doing {
    /// What.
    pub state: State,
    /// Since when, raw ns; `None` where that is not known.
    pub since: Option<Time>,
    /// On which CPU.
    pub cpu: Option<u32>,
    /// Who woke it, if it waits for a CPU.
    pub waker: Option<ThreadId>,
}

/// The state of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// On a CPU.
    Running,
    /// On a CPU that handles an interrupt.
    Interrupted,
    /// Woken, and waiting for a CPU.
    Woken,
    /// Off the CPU, though it could go on, or waiting for something.
    Off(Why),
    /// Nobody knows.
    Unknown,
}

impl State {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Woken => "woken",
            Self::Off(Why::Preempted) => "preempted",
            Self::Off(Why::Blocked) => "blocked",
            Self::Off(Why::Uninterruptible) => "uninterruptible",
            Self::Off(Why::Stopped) => "stopped",
            Self::Unknown => "unknown",
        }
    }
}

/// What a CPU was doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuDoing<'i> {
    /// The CPU.
    pub cpu: u32,
    /// Who ran; `None` where nobody knows.
    pub thread: Option<ThreadId>,
    /// Since when, raw ns.
    pub since: Option<Time>,
    /// The innermost interrupt and its begin.
    pub interrupt: Option<(&'i Source, Time)>,
}

impl Spans for Instant {
    fn slice(&mut self, slice: &Slice) {
        self.cpus.insert(slice.cpu);
        if contains(slice.begin, self.at, slice.end) {
            self.ran.push(Ran { begin: slice.begin, cpu: slice.cpu, thread: Some(slice.thread) });
        }
    }

    fn unknown(&mut self, unknown: &Unknown) {
        self.cpus.insert(unknown.cpu);
        if contains(unknown.begin, self.at, unknown.end) {
            self.ran.push(Ran { begin: unknown.begin, cpu: unknown.cpu, thread: None });
        }
    }

    fn irq(&mut self, irq: &Irq) {
        if contains(irq.begin, self.at, irq.end) {
            self.interrupts.push(Interrupt { begin: irq.begin, cpu: irq.cpu, source: Source::of(irq) });
        }
    }

    fn softirq(&mut self, softirq: &Softirq) {
        if contains(softirq.begin, self.at, softirq.end) {
            let source = Source::Soft(softirq.vector);
            self.interrupts.push(Interrupt { begin: softirq.begin, cpu: softirq.cpu, source });
        }
    }

    fn latency(&mut self, latency: &Latency) {
        if contains(latency.begin, self.at, latency.end) {
            let Latency { thread, waker, begin, .. } = *latency;
            self.rests.push(Rest { begin, thread, why: None, waker });
        }
    }

    fn off(&mut self, off: &Off) {
        if contains(off.begin, self.at, off.end) {
            self.rests.push(Rest { begin: off.begin, thread: off.thread, why: Some(off.why), waker: None });
        }
    }

    fn syscall(&mut self, call: &Syscall<'_>) {
        self.has_calls = true;
        if contains(call.begin, self.at, call.end) {
            self.calls.push(Call { begin: call.begin, thread: call.thread, name: call.entry.name.clone() });
        } else {
            let near = if call.end <= self.at {
                Near { before: Some((call.end, false, None)), after: None }
            } else {
                Near { before: None, after: Some((call.begin, false, None)) }
            };
            self.near.or_default(call.thread).absorb(near);
        }
    }

    fn half_syscall(&mut self, half: &HalfSyscall<'_>) {
        self.has_calls = true;
        let near = if half.at <= self.at {
            Near { before: Some((half.at, half.half == Half::Begin, half.name.cloned())), after: None }
        } else {
            Near { before: None, after: Some((half.at, half.half == Half::End, half.name.cloned())) }
        };
        self.near.or_default(half.thread).absorb(near);
    }

    fn rename(&mut self, renames: &Renames) {
        let of = |thread: &mut Option<ThreadId>| *thread = thread.map(|thread| renames.of(thread));
        self.ran.iter_mut().for_each(|ran| of(&mut ran.thread));
        for rest in self.rests.iter_mut() {
            rest.thread = renames.of(rest.thread);
            of(&mut rest.waker);
        }
        self.calls.iter_mut().for_each(|call| call.thread = renames.of(call.thread));
        self.near.rekey(|&thread| renames.of(thread), Near::absorb);
    }

    fn absorb(&mut self, mut right: Self) {
        self.cpus.append(&mut right.cpus);
        self.ran.absorb(right.ran);
        self.interrupts.absorb(right.interrupts);
        self.rests.absorb(right.rests);
        self.calls.absorb(right.calls);
        self.near.absorb(right.near, Near::absorb);
        self.has_calls |= right.has_calls;
    }
}

impl Instant {
    /// Of an instant, raw ns.
    pub fn new(at: Time) -> Self {
        Self { at, ..Self::default() }
    }

    /// The instant, raw ns.
    pub fn at(&self) -> Time {
        self.at
    }

    /// What was going on, to be asked.
    pub fn picture(&self) -> Picture<'_> {
        let mut threads: BTreeMap<ThreadId, Doing> = BTreeMap::new();
        // The weakest evidence first: what is certain takes its place.
        for rest in self.rests.sorted() {
            let state = rest.why.map_or(State::Woken, State::Off);
            let since = Some(rest.begin);
            threads.insert(rest.thread, Doing { state, since, cpu: None, waker: rest.waker });
        }
        let interrupts: BTreeMap<u32, &Interrupt> =
            self.interrupts.sorted().into_iter().map(|interrupt| (interrupt.cpu, interrupt)).collect();
        let mut cpus: BTreeMap<u32, CpuDoing<'_>> = self
            .cpus
            .iter()
            .map(|&cpu| (cpu, CpuDoing { cpu, thread: None, since: None, interrupt: None }))
            .collect();
        for ran in self.ran.sorted() {
            let interrupt = interrupts.get(&ran.cpu).map(|interrupt| (&interrupt.source, interrupt.begin));
            let (cpu, since) = (ran.cpu, Some(ran.begin));
            cpus.insert(cpu, CpuDoing { cpu, thread: ran.thread, since, interrupt });
            if let Some(thread) = ran.thread {
                let state = if interrupt.is_some() { State::Interrupted } else { State::Running };
                threads.insert(thread, Doing { state, since, cpu: Some(cpu), waker: None });
            }
        }
        let (mut calls, mut unsure) = (BTreeMap::new(), BTreeSet::new());
        for (&thread, near) in self.near.unordered() {
            match (&near.before, &near.after) {
                // It never returned, or an entry and an exit of the same call were seen on either side of a loss.
                (Some((begin, true, name)), None) => {
                    calls.insert(thread, InCall { name: name.as_ref(), since: Some(*begin), is_half: true });
                }
                (Some((begin, true, name)), Some((_, true, after))) if name == after => {
                    calls.insert(thread, InCall { name: name.as_ref(), since: Some(*begin), is_half: true });
                }
                // It entered before the trace began.
                (None, Some((_, true, name))) => {
                    calls.insert(thread, InCall { name: name.as_ref(), since: None, is_half: true });
                }
                // An exit or an entry was lost, before the instant or after it.
                (Some((_, true, _)), Some(_)) | (Some(_), Some((_, true, _))) => {
                    unsure.insert(thread);
                }
                (None | Some((_, false, _)), None | Some((_, false, _))) => {}
            }
        }
        for call in self.calls.sorted() {
            let in_call = InCall { name: Some(&call.name), since: Some(call.begin), is_half: false };
            calls.insert(call.thread, in_call);
            unsure.remove(&call.thread);
        }
        Picture { threads, cpus: cpus.into_values().collect(), calls, unsure, has_calls: self.has_calls }
    }
}

/// Threads and CPUs at an instant.
pub struct Picture<'i> {
    threads: BTreeMap<ThreadId, Doing>,
    calls: BTreeMap<ThreadId, InCall<'i>>,
    /// Threads that may have been in a call of which an end was lost.
    unsure: BTreeSet<ThreadId>,
    /// All CPUs that were heard of, in their order.
    pub cpus: Vec<CpuDoing<'i>>,
    /// Whether calls are traced at all.
    has_calls: bool,
}

impl<'i> Picture<'i> {
    /// What a thread was doing.
    pub fn thread(&self, thread: ThreadId) -> Doing {
        let unknown = Doing { state: State::Unknown, since: None, cpu: None, waker: None };
        self.threads.get(&thread).copied().unwrap_or(unknown)
    }

    /// The call that a thread was in.
    pub fn call(&self, thread: ThreadId) -> Option<InCall<'i>> {
        self.calls.get(&thread).copied()
    }

    /// Whether it is known that a thread on a CPU is in a call or in none.
    pub fn is_sure(&self, thread: ThreadId) -> bool {
        self.has_calls && !self.unsure.contains(&thread)
    }

    /// The calls of which one end is missing.
    pub fn half_calls(&self) -> impl Iterator<Item = (ThreadId, InCall<'i>)> + '_ {
        self.calls.iter().filter(|(_, call)| call.is_half).map(|(&thread, &call)| (thread, call))
    }

    /// What interrupted a CPU.
    pub fn interrupt(&self, cpu: Option<u32>) -> Option<(&'i Source, Time)> {
        self.cpus.iter().find(|doing| Some(doing.cpu) == cpu)?.interrupt
    }

    /// All threads that were doing something, in their order.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.threads.keys().chain(self.calls.keys()).copied()
    }
}
