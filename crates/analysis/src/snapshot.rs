//! The state of all threads and CPUs of a host at one instant, composed of the spans that contain it.
//!
//! The state of a thread is composed of spans of several kinds: it is on a CPU, off all of them or woken and
//! waiting for one; it is in a call or not; its CPU is interrupted or not. [`crate::AnalysisSet`] collects it
//! once for all analyses that show it (`processes`, `syscalls`): they have it from [`crate::HostResult`].

use std::collections::{BTreeMap, BTreeSet};

use isochrone_kernel::calls::WITHOUT_EXIT;
use isochrone_kernel::{
    CanonicalMap, Half, HalfSyscall, Irq, Missed, Name, OffCpu, OffCpuReason, SchedLatency, Slice, Softirq,
    Spans, Syscall, ThreadAliases, ThreadId, Unknown,
};
use isochrone_time::RawNs;
use serde::{Deserialize, Serialize};

use crate::host::HostContext;
use crate::interrupt::InterruptSource;
use crate::needs::Need;
use crate::storage::sorted_rows::SortedRows;
use crate::window::contains;

/// Collects the spans that contain an instant. Memory: proportional to threads and CPUs, not to spans.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SnapshotBuilder {
    /// Raw ns.
    at: RawNs,
    /// All CPUs that occur.
    cpus: BTreeSet<u32>,
    ran: SortedRows<RunningSlice>,
    interrupts: SortedRows<Interrupt>,
    rests: SortedRows<OffCpuSlice>,
    calls: SortedRows<CallSpan>,
    /// The ends of calls nearest to the instant, for calls whose entry or exit is missing.
    near: CanonicalMap<ThreadId, NearestEnds>,
    /// Whether any call was recorded.
    has_calls: bool,
}

/// The running slice of a CPU.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct RunningSlice {
    begin: RawNs,
    cpu: u32,
    /// `None`: unknown.
    thread: Option<ThreadId>,
}

/// A handler that interrupted a CPU. The last of those of a CPU is the innermost.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Interrupt {
    begin: RawNs,
    cpu: u32,
    source: InterruptSource,
}

/// A thread off all CPUs: blocked, preempted, or waiting for a CPU.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct OffCpuSlice {
    begin: RawNs,
    thread: ThreadId,
    /// `None`: it was woken and waited for a CPU.
    reason: Option<OffCpuReason>,
    /// Who woke it, where it was.
    waker: Option<ThreadId>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct CallSpan {
    begin: RawNs,
    thread: ThreadId,
    name: Name,
}

/// The last end of a call that a thread showed at the instant or before, and the first after it: when,
/// whether that leaves it in a call at the instant, and which call.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct NearestEnds {
    before: Option<(RawNs, bool, Option<Name>)>,
    after: Option<(RawNs, bool, Option<Name>)>,
}

impl NearestEnds {
    fn absorb(&mut self, other: Self) {
        self.before = self.before.take().max(other.before);
        self.after = match (self.after.take(), other.after) {
            // Of one instant, the exit comes first: a call begins there after another one has ended.
            (Some(left), Some(right)) => {
                let (ranks_left, ranks_right) = ((left.0, !left.1), (right.0, !right.1));
                Some(if (ranks_left, &left.2) <= (ranks_right, &right.2) { left } else { right })
            }
            (left, right) => left.or(right),
        };
    }
}

/// Whether a thread is in a call whose entry or exit is missing.
enum InCall<'i> {
    Yes(CurrentCall<'i>),
    Perhaps,
    No,
}

impl NearestEnds {
    /// Whether the thread is in a call at an instant. `missed`: when events may be missing.
    fn call_at(&self, at: RawNs, missed: &Missed) -> InCall<'_> {
        let is_open =
            |name: &Option<Name>| name.as_ref().is_none_or(|name| !WITHOUT_EXIT.contains(&name.as_str()));
        let entered = self.before.as_ref().filter(|(_, is_entry, name)| *is_entry && is_open(name));
        let returned = self.after.as_ref().filter(|(_, is_exit, _)| *is_exit);
        let (before, next) = (self.before.as_ref().map(|end| end.0), self.after.as_ref().map(|end| end.0));
        if let Some((begin, _, name)) = entered {
            let is_in = missed.sure_until(*begin, next).is_none_or(|until| at < until);
            let call = CurrentCall { name: name.as_ref(), since: Some(*begin), is_half: true };
            if is_in || returned.is_none() {
                return if is_in { InCall::Yes(call) } else { InCall::Perhaps };
            }
        }
        let Some((end, _, name)) = returned else { return InCall::No };
        if missed.sure_since(before, *end).is_none_or(|since| since <= at) {
            return InCall::Yes(CurrentCall { name: name.as_ref(), since: None, is_half: true });
        }
        // In none, until something may be missing.
        let lost = before.and_then(|before| missed.first_since(before)).filter(|at| at < end);
        if entered.is_some() || lost.is_none_or(|lost| lost <= at) { InCall::Perhaps } else { InCall::No }
    }
}

/// A call that a thread is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CurrentCall<'i> {
    /// Its name, where known.
    pub name: Option<&'i Name>,
    /// When it began, raw ns, where that was seen.
    pub since: Option<RawNs>,
    /// Whether one of its ends is missing.
    pub is_half: bool,
}

/// What a thread was doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadSnapshot {
    /// What.
    pub state: State,
    /// Since when, raw ns; `None` where that is not known.
    pub since: Option<RawNs>,
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
    /// Off the CPU, though it is runnable, or waiting for something.
    OffCpu(OffCpuReason),
    /// Unknown.
    Unknown,
}

impl State {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Woken => "woken",
            Self::OffCpu(reason) => reason.name(),
            Self::Unknown => "unknown",
        }
    }
}

/// What a CPU was doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuSnapshot<'i> {
    /// The CPU.
    pub cpu: u32,
    /// Who ran; `None` where it is unknown.
    pub thread: Option<ThreadId>,
    /// Since when, raw ns.
    pub since: Option<RawNs>,
    /// The innermost interrupt and its begin.
    pub interrupt: Option<(&'i InterruptSource, RawNs)>,
}

impl Spans for SnapshotBuilder {
    fn slice(&mut self, slice: &Slice) {
        self.cpus.insert(slice.cpu);
        if contains(slice.begin, self.at, slice.end) {
            self.ran.push(RunningSlice { begin: slice.begin, cpu: slice.cpu, thread: Some(slice.thread) });
        }
    }

    fn unknown(&mut self, unknown: &Unknown) {
        self.cpus.insert(unknown.cpu);
        if contains(unknown.begin, self.at, unknown.end) {
            self.ran.push(RunningSlice { begin: unknown.begin, cpu: unknown.cpu, thread: None });
        }
    }

    fn irq(&mut self, irq: &Irq) {
        if contains(irq.begin, self.at, irq.end) {
            self.interrupts.push(Interrupt {
                begin: irq.begin,
                cpu: irq.cpu,
                source: InterruptSource::of(irq),
            });
        }
    }

    fn softirq(&mut self, softirq: &Softirq) {
        if contains(softirq.begin, self.at, softirq.end) {
            let source = InterruptSource::Soft(softirq.vector);
            self.interrupts.push(Interrupt { begin: softirq.begin, cpu: softirq.cpu, source });
        }
    }

    fn sched_latency(&mut self, latency: &SchedLatency) {
        if contains(latency.begin, self.at, latency.end) {
            let SchedLatency { thread, waker, begin, .. } = *latency;
            self.rests.push(OffCpuSlice { begin, thread, reason: None, waker });
        }
    }

    fn off_cpu(&mut self, off_cpu: &OffCpu) {
        if contains(off_cpu.begin, self.at, off_cpu.end) {
            self.rests.push(OffCpuSlice {
                begin: off_cpu.begin,
                thread: off_cpu.thread,
                reason: Some(off_cpu.reason),
                waker: None,
            });
        }
    }

    fn syscall(&mut self, call: &Syscall<'_>) {
        self.has_calls = true;
        if contains(call.begin, self.at, call.end) {
            self.calls.push(CallSpan {
                begin: call.begin,
                thread: call.thread,
                name: call.entry.name.clone(),
            });
        } else {
            let near = if call.end <= self.at {
                NearestEnds { before: Some((call.end, false, None)), after: None }
            } else {
                NearestEnds { before: None, after: Some((call.begin, false, None)) }
            };
            self.near.or_default(call.thread).absorb(near);
        }
    }

    fn half_syscall(&mut self, half: &HalfSyscall<'_>) {
        self.has_calls = true;
        let near = if half.at <= self.at {
            NearestEnds { before: Some((half.at, half.half == Half::Begin, half.name.cloned())), after: None }
        } else {
            NearestEnds { before: None, after: Some((half.at, half.half == Half::End, half.name.cloned())) }
        };
        self.near.or_default(half.thread).absorb(near);
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        let of = |thread: &mut Option<ThreadId>| *thread = thread.map(|thread| aliases.of(thread));
        self.ran.iter_mut().for_each(|ran| of(&mut ran.thread));
        for rest in self.rests.iter_mut() {
            rest.thread = aliases.of(rest.thread);
            of(&mut rest.waker);
        }
        self.calls.iter_mut().for_each(|call| call.thread = aliases.of(call.thread));
        self.near.rekey(|&thread| aliases.of(thread), NearestEnds::absorb);
    }

    fn absorb(&mut self, mut right: Self) {
        self.cpus.append(&mut right.cpus);
        self.ran.absorb(right.ran);
        self.interrupts.absorb(right.interrupts);
        self.rests.absorb(right.rests);
        self.calls.absorb(right.calls);
        self.near.absorb(right.near, NearestEnds::absorb);
        self.has_calls |= right.has_calls;
    }
}

impl SnapshotBuilder {
    /// Of an instant, raw ns.
    pub fn new(at: RawNs) -> Self {
        Self { at, ..Self::default() }
    }

    /// The instant.
    pub fn at(&self) -> RawNs {
        self.at
    }

    /// The snapshot of all spans so far. Of an instant outside of the host's [window](HostContext::window)
    /// calls whose entry or exit is missing are unknown.
    pub fn snapshot(&self, host: &dyn HostContext) -> Snapshot<'_> {
        let is_traced = host.window().is_some_and(|window| (window.start..=window.end).contains(&self.at));
        let mut threads: BTreeMap<ThreadId, ThreadSnapshot> = BTreeMap::new();
        // The weakest evidence first: what is certain takes its place.
        for rest in self.rests.sorted() {
            let state = rest.reason.map_or(State::Woken, State::OffCpu);
            let since = Some(rest.begin);
            threads.insert(rest.thread, ThreadSnapshot { state, since, cpu: None, waker: rest.waker });
        }
        let interrupts: BTreeMap<u32, &Interrupt> =
            self.interrupts.sorted().into_iter().map(|interrupt| (interrupt.cpu, interrupt)).collect();
        let mut cpus: BTreeMap<u32, CpuSnapshot<'_>> = self
            .cpus
            .iter()
            .map(|&cpu| (cpu, CpuSnapshot { cpu, thread: None, since: None, interrupt: None }))
            .collect();
        for ran in self.ran.sorted() {
            let interrupt = interrupts.get(&ran.cpu).map(|interrupt| (&interrupt.source, interrupt.begin));
            let (cpu, since) = (ran.cpu, Some(ran.begin));
            cpus.insert(cpu, CpuSnapshot { cpu, thread: ran.thread, since, interrupt });
            if let Some(thread) = ran.thread {
                let state = if interrupt.is_some() { State::Interrupted } else { State::Running };
                threads.insert(thread, ThreadSnapshot { state, since, cpu: Some(cpu), waker: None });
            }
        }
        let (mut calls, mut unsure) = (BTreeMap::new(), BTreeSet::new());
        let always = Missed::always();
        // What has no exit in a trace without exits has ended some time.
        let missed = if host.lacks(Need::Calls) { &always } else { host.missed() };
        for (&thread, near) in self.near.unordered().filter(|_| is_traced) {
            match near.call_at(self.at, missed) {
                InCall::Yes(call) => drop(calls.insert(thread, call)),
                InCall::Perhaps => drop(unsure.insert(thread)),
                InCall::No => {}
            }
        }
        for call in self.calls.sorted() {
            let in_call = CurrentCall { name: Some(&call.name), since: Some(call.begin), is_half: false };
            calls.insert(call.thread, in_call);
            unsure.remove(&call.thread);
        }
        let makes_calls = |thread: &ThreadId| {
            let is_known = || host.thread(*thread).is_some_and(|who| who.is_kernel.is_some());
            self.near.get(thread).is_some() || calls.contains_key(thread) || is_known()
        };
        let others = threads.keys().filter(|thread| !makes_calls(thread)).copied().collect::<Vec<_>>();
        unsure.extend(others);
        let has_calls = self.has_calls && !host.lacks(Need::Calls) && !host.lacks(Need::EveryCall);
        Snapshot { threads, cpus: cpus.into_values().collect(), calls, unsure, has_calls }
    }
}

/// Threads and CPUs at an instant.
pub struct Snapshot<'i> {
    threads: BTreeMap<ThreadId, ThreadSnapshot>,
    calls: BTreeMap<ThreadId, CurrentCall<'i>>,
    /// Threads that may have been in a call of which an end was lost.
    unsure: BTreeSet<ThreadId>,
    /// All CPUs that occur, in their order.
    pub cpus: Vec<CpuSnapshot<'i>>,
    /// Whether calls are traced at all.
    has_calls: bool,
}

impl<'i> Snapshot<'i> {
    /// What a thread was doing.
    pub fn thread(&self, thread: ThreadId) -> ThreadSnapshot {
        let unknown = ThreadSnapshot { state: State::Unknown, since: None, cpu: None, waker: None };
        self.threads.get(&thread).copied().unwrap_or(unknown)
    }

    /// The call that a thread was in.
    pub fn call(&self, thread: ThreadId) -> Option<CurrentCall<'i>> {
        self.calls.get(&thread).copied()
    }

    /// Whether it is known that a thread on a CPU is in a call or in none.
    pub fn is_sure(&self, thread: ThreadId) -> bool {
        self.has_calls && !self.unsure.contains(&thread)
    }

    /// The calls whose entry or exit is missing.
    pub fn half_calls(&self) -> impl Iterator<Item = (ThreadId, CurrentCall<'i>)> + '_ {
        self.calls.iter().filter(|(_, call)| call.is_half).map(|(&thread, &call)| (thread, call))
    }

    /// A handler that interrupted a CPU.
    pub fn interrupt(&self, cpu: Option<u32>) -> Option<(&'i InterruptSource, RawNs)> {
        self.cpus.iter().find(|doing| Some(doing.cpu) == cpu)?.interrupt
    }

    /// All threads that were doing something, in their order.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.threads.keys().chain(self.calls.keys()).copied()
    }
}
