//! The CPUs of a host in one piece: what each did, and which of them events of others name.
//!
//! Part of a `PartialState`.

use isochrone_net::Flow;
use serde::{Deserialize, Serialize};

use crate::border::{Border, CpuLoss, CpuLossBegin};
use crate::call_owner::CallOwner;
use crate::contexts::Contexts;
use crate::dense_map::DenseMap;
use crate::id::{PIECE_BEGIN, ThreadAliases, ThreadId, Time};
use crate::in_flight::{BoundaryState, CallPoint, PendingCall};
use crate::interrupts::Interrupts;
use crate::loss_tracker::LossTracker;
use crate::span::{Spans, Unknown};
use crate::timeline::Timeline;

/// Fewer CPUs than this are indexes of a list.
const LOW_CPUS: usize = 64;

/// More CPUs than any Linux supports.
const MAX_CPUS: u32 = 8192;

/// A CPU in one piece.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cpu {
    pub(crate) timeline: Timeline,
    pub(crate) interrupts: Interrupts,
    pub(crate) contexts: Contexts,
    /// The call of the thread that runs here.
    pub(crate) call: PendingCall,
    /// Time of the last switch.
    pub(crate) switched: Option<Time>,
    /// Losses of its events.
    pub(crate) losses: LossTracker,
    /// Losses among which switches may be: while one lasts, it is unknown which thread runs.
    switch_losses: LossTracker,
    /// The stream of the CPU has ended: nothing is known from this instant on, raw ns.
    over: Option<Time>,
}

impl Cpu {
    /// The state of a CPU whose events are all missing since `from`, until `to`.
    pub(crate) fn missing((from, to): (Time, Time)) -> Self {
        Self {
            timeline: Timeline::missing(from, to),
            interrupts: Interrupts::missing(),
            contexts: Contexts::missing(),
            losses: LossTracker::missing(),
            ..Self::default()
        }
    }

    /// The thread that runs here at an event, possibly unidentified. `piece`: the begin of the piece.
    pub(crate) fn current(&self, cpu: u32, at: Time, piece: Border) -> ThreadId {
        self.unless_missing(cpu, self.switch_losses.missing_since(at), piece)
    }

    /// As [`Self::current`], at the end of a piece that is closed.
    pub(crate) fn current_at_end(&self, cpu: u32, piece: Border) -> ThreadId {
        self.unless_missing(cpu, self.switch_losses.missing_at_end(), piece)
    }

    /// Whether switches may be missing at an event.
    pub(crate) fn lacks_switches(&self, at: Time) -> bool {
        self.switch_losses.missing_since(at).is_some()
    }

    fn unless_missing(&self, cpu: u32, missing: Option<Time>, piece: Border) -> ThreadId {
        match missing {
            // The piece before knows since when.
            Some(since) if since <= piece.time() => ThreadId::Unidentified { cpu, since: PIECE_BEGIN },
            Some(since) => ThreadId::Unidentified { cpu, since },
            None => self.timeline.current(cpu),
        }
    }

    /// The point of an event of a call. `cpu`: the number of this CPU; `losses`: those of all CPUs.
    #[inline]
    pub(crate) fn call_point(&self, cpu: u32, thread: ThreadId, at: Time, losses: &LossTracker) -> CallPoint {
        let (switched, cpu_losses) = (self.switched, self.losses.loss_count(at));
        CallPoint { thread, at, cpu, switched, cpu_losses, loss_count: losses.loss_count(at) }
    }

    /// Begins a loss; `piece`: the begin of the piece.
    pub(crate) fn loss_begins(&mut self, begin: &CpuLossBegin, piece: Border) {
        let &CpuLossBegin { at, to, has_switches, .. } = begin;
        self.losses.begin(at, to, piece);
        if has_switches {
            self.switch_losses.begin(at, to, piece);
            if to == Time::MAX {
                // The instant before is the last one at which the state is known.
                let last = at.saturating_sub(1);
                self.over = Some(self.over.map_or(last, |before| before.min(last)));
            }
        }
    }

    /// Ends a loss.
    pub(crate) fn on_loss(&mut self, loss: &CpuLoss, spans: &mut impl Spans) {
        self.losses.end();
        if loss.has_switches {
            self.switch_losses.end();
            self.timeline.on_loss(loss.cpu, loss.from, loss.to, spans);
        }
        self.interrupts.on_loss();
        self.contexts.on_loss();
    }
}

/// The CPUs of a piece.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cpus {
    by_number: DenseMap<u32, Cpu, LOW_CPUS>,
    /// CPUs that events of others refer to, sorted.
    referenced: Vec<u32>,
}

/// What changes in a piece when its CPUs are joined with those of the next one.
pub(crate) struct JoinedCpus {
    /// The calls that the CPUs own, where these are others than before.
    pub(crate) calls: Vec<(CallOwner, PendingCall)>,
    /// The first packets of calls that were in flight between the pieces.
    pub(crate) sent: Vec<(CallOwner, Flow)>,
}

impl Cpus {
    #[inline]
    pub(crate) fn get(&self, cpu: u32) -> Option<&Cpu> {
        self.by_number.get(cpu)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, cpu: u32) -> Option<&mut Cpu> {
        self.by_number.get_mut(cpu)
    }

    #[inline]
    pub(crate) fn or_default(&mut self, cpu: u32) -> &mut Cpu {
        self.by_number.or_default(cpu)
    }

    /// The state at the end of the piece. `losses`: those of all CPUs; `unseen`: the state of a CPU without
    /// events.
    pub(crate) fn boundary(&self, losses: u64, unseen: &Cpu) -> BoundaryState {
        let of = |cpu: &Cpu| (cpu.switched, cpu.losses.losses());
        let cpus = self.unordered().map(|(number, cpu)| (number, of(cpu))).collect();
        BoundaryState { losses, cpus, unseen: of(unseen) }
    }

    /// All of them, in arbitrary order.
    pub(crate) fn unordered(&self) -> impl Iterator<Item = (u32, &Cpu)> {
        self.by_number.unordered()
    }

    /// Records that there is a CPU.
    pub(crate) fn reference(&mut self, cpu: u32) {
        // Only a few: the list is small, and bad input must not make it grow.
        if let Err(index) = self.referenced.binary_search(&cpu)
            && cpu < MAX_CPUS
        {
            self.referenced.insert(index, cpu);
        }
    }

    /// The contexts of a CPU, which are unknown while some of its events are missing.
    pub(crate) fn contexts_at(&mut self, cpu: u32, at: Time) -> &mut Contexts {
        let cpu = self.or_default(cpu);
        if cpu.losses.missing_since(at).is_some() {
            cpu.contexts.on_loss();
        }
        &mut cpu.contexts
    }

    /// Closes the piece.
    pub(crate) fn close(&mut self, end: Border) {
        for (_, cpu) in self.by_number.unordered_mut() {
            cpu.losses.close(end);
            cpu.switch_losses.close(end);
        }
    }

    pub(crate) fn rename(&mut self, aliases: &ThreadAliases) {
        for (_, cpu) in self.by_number.unordered_mut() {
            cpu.timeline.rename(aliases);
            cpu.call.rename(aliases);
            cpu.contexts.rename(aliases);
        }
    }

    /// Appends the next piece, which begins at `border`. `unseen`: the state of a CPU without events in this
    /// piece, and in the next one.
    pub(crate) fn append(
        &mut self,
        right: Self,
        border: Border,
        unseen: [&Cpu; 2],
        is_first: bool,
        spans: &mut impl Spans,
    ) -> JoinedCpus {
        let [unseen_left, unseen_right] = unseen;
        let mut all = right.by_number;
        if *unseen_right != Cpu::default() {
            for (cpu, _) in self.by_number.unordered() {
                all.or_insert_with(cpu, || unseen_right.clone());
            }
        }
        let (mut calls, mut sent) = (Vec::new(), Vec::new());
        for (cpu, right) in all.into_sorted() {
            let left = self.by_number.or_insert_with(cpu, || unseen_left.clone());
            sent.extend(left.contexts.append(right.contexts, is_first, spans));
            left.timeline.append(cpu, right.timeline, spans);
            left.interrupts.append(cpu, right.interrupts, spans);
            left.switched = right.switched.or(left.switched);
            left.losses.append(right.losses, border);
            left.switch_losses.append(right.switch_losses, border);
            left.over = left.over.into_iter().chain(right.over).min();
            calls.push((CallOwner::Cpu(cpu), right.call));
        }
        calls.retain(|(_, pending)| *pending != PendingCall::Inherited);
        self.referenced.extend(right.referenced);
        self.referenced.sort_unstable();
        self.referenced.dedup();
        JoinedCpus { calls, sent }
    }

    /// Emits what is open at either end of the trace, if that has any event of the kernel. `range`: its first
    /// and its last event.
    pub(crate) fn finish(&self, range: Option<(Time, Time)>, spans: &mut impl Spans) {
        let Some(range) = range else { return };
        for (number, cpu) in self.by_number.sorted() {
            cpu.timeline.finish(number, range, cpu.over, spans);
            cpu.interrupts.finish(number, spans);
            cpu.contexts.finish(spans);
            cpu.call.finish(spans);
        }
    }

    /// Emits that it is unknown what CPUs did that only other events name. Returns these CPUs.
    pub(crate) fn finish_missing(self, range: (Time, Time), spans: &mut impl Spans) -> Vec<u32> {
        let mut missing = self.referenced;
        missing.retain(|cpu| self.by_number.get(*cpu).is_none());
        for &cpu in &missing {
            spans.unknown(&Unknown { cpu, thread: None, begin: range.0, end: range.1 });
        }
        missing
    }
}
