//! System calls in flight: entries wait for their exits.
//!
//! Part of a `PartialState`. Where events do not carry their thread's id, a call is owned by the CPU that it was made on: the
//! thread that runs there made it, identified or not. The thread that leaves the CPU takes the call along and brings it to
//! the CPU where it runs next; so calls follow the switches alone. Where events carry the thread's id, the thread owns its
//! calls and switches do not matter.
//!
//! What an owner has when a piece begins is known to the piece before. Until they are merged it is passed on like a call
//! ([`PendingCall::InheritedFrom`]), and what happens to it is applied at the merge ([`DeferredEffect`]).
//!
//! An exit belongs to an entry only if nothing between them can be missing: if no other thread can have run on the CPU in
//! between, or else if all CPUs were recorded ([`CallPoint::is_of_call`]).

use isochrone_net::Flow;
use serde::{Deserialize, Serialize};

use crate::calls::{Effect, Entry, Exit, clone_flag, is_about_files};
use crate::canonical_map::CanonicalMap;
use crate::completeness::LossCount;
use crate::contexts::Contexts;
use crate::event::EventContext;
use crate::files::{Files, Returned};
use crate::id::{ThreadAliases, ThreadId, Time};
use crate::partial_state::{Cpu, PartialState};
use crate::span::{Half, HalfSyscall, Poll, Spans, Syscall};

/// The owner of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum CallOwner {
    /// A CPU: the call of the thread that runs there.
    Cpu(u32),
    /// A thread that is off the CPUs.
    OffCpu(ThreadId),
    /// A thread whose events carry its id.
    Named(ThreadId),
}

/// The call that an owner has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PendingCall {
    /// The owner still has what it had when the piece began; in the first piece, nothing.
    #[default]
    Inherited,
    /// What another owner had when the piece began, or this one itself, after it was elsewhere.
    InheritedFrom(CallOwner),
    /// Nothing. Never stored in the first piece, where [`Self::Inherited`] means the same: equal states are equal bytes.
    None,
    Call(OpenCall),
}

/// A call in flight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenCall {
    entry: Entry,
    point: CallPoint,
    /// Whether it has made a thread: it makes at most one.
    has_forked: bool,
    /// The first packet that it sent.
    flow: Option<Box<Flow>>,
}

/// Time, CPU and thread of an entry or an exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CallPoint {
    thread: ThreadId,
    at: Time,
    cpu: u32,
    /// When the last switch of the CPU before it was; `None` if the piece has none.
    switched: Option<Time>,
    /// Losses of the CPU.
    cpu_losses: LossCount,
    loss_count: LossCount,
}

/// The state at the end of a piece that events of the next piece are related to.
pub(crate) struct Seam {
    losses: u64,
    /// Of each CPU: when its last switch was, and the number of its losses.
    cpus: CanonicalMap<u32, (Option<Time>, u64)>,
    /// The same of CPUs without events in the piece.
    unseen: (Option<Time>, u64),
}

/// What happens to a call whose entry is in an earlier piece.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeferredEffect {
    /// It makes a thread.
    forked: Option<(ThreadId, CallPoint)>,
    end: Option<CallEnd>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum CallEnd {
    /// Its exit.
    Exit { point: CallPoint, exit: Exit },
    /// Another call begins in its place: its exit is lost.
    Unseen,
}

/// The deferred effects on the calls that owners had when the piece began.
pub(crate) type DeferredEffects = CanonicalMap<CallOwner, DeferredEffect>;

impl PendingCall {
    fn shift(&mut self, seam: &Seam) {
        if let Self::Call(open) = self {
            open.point.shift(seam);
        }
    }

    pub(crate) fn rename(&mut self, aliases: &ThreadAliases) {
        match self {
            Self::Inherited | Self::None => {}
            Self::InheritedFrom(owner) => *owner = owner.renamed(aliases),
            Self::Call(open) => open.point.thread = aliases.of(open.point.thread),
        }
    }

    /// Emits a call that has no exit at the end of the trace.
    pub(crate) fn finish(&self, spans: &mut impl Spans) {
        if let Self::Call(open) = self {
            open.emit_begin(spans);
        }
    }
}

impl CallOwner {
    pub(crate) fn renamed(self, aliases: &ThreadAliases) -> Self {
        match self {
            Self::Cpu(_) => self,
            Self::OffCpu(thread) => Self::OffCpu(aliases.of(thread)),
            Self::Named(thread) => Self::Named(aliases.of(thread)),
        }
    }
}

impl DeferredEffect {
    fn shift(&mut self, seam: &Seam) {
        if let Some((_, point)) = &mut self.forked {
            point.shift(seam);
        }
        if let Some(CallEnd::Exit { point, .. }) = &mut self.end {
            point.shift(seam);
        }
    }

    pub(crate) fn rename(&mut self, aliases: &ThreadAliases) {
        if let Some((child, _)) = &mut self.forked {
            *child = aliases.of(*child);
        }
        if let Some(CallEnd::Exit { point, .. }) = &mut self.end {
            point.thread = aliases.of(point.thread);
        }
    }

    /// Appends a later effect: the first of each kind counts.
    pub(crate) fn append(&mut self, later: Self) {
        self.forked = self.forked.or(later.forked);
        self.end = self.end.take().or(later.end);
    }

    /// Emits an exit that has no entry at the begin of the trace.
    pub(crate) fn finish(&self, spans: &mut impl Spans) {
        if let Some(CallEnd::Exit { point, exit, .. }) = &self.end {
            point.emit_end(exit, spans);
        }
    }
}

impl OpenCall {
    /// The call makes a thread. Returns its clone flags, if it is a call that does so.
    fn fork(&mut self, point: CallPoint) -> Option<u64> {
        if !point.is_of_call(self.point) || self.has_forked {
            return None;
        }
        self.has_forked = true;
        self.entry.effect.clone_flags()
    }

    /// Emits the call that has ended. Returns the entry if the exit belongs to the same call.
    fn close(&self, point: CallPoint, exit: &Exit, spans: &mut impl Spans) -> Option<&Entry> {
        let Self { entry, point: CallPoint { at: begin, .. }, .. } = self;
        let names_agree = exit.name.as_ref().is_none_or(|name| *name == entry.name);
        if !point.is_of_call(self.point) || !names_agree {
            self.emit_begin(spans);
            point.emit_end(exit, spans);
            return None;
        }
        let CallPoint { thread, at: end, cpu, .. } = point;
        spans.syscall(&Syscall { thread, cpu, begin: *begin, end, entry, exit });
        if let Some(poll) = Poll::of_call(thread, end, entry, exit) {
            spans.poll(&poll);
        }
        Some(entry)
    }

    fn emit_begin(&self, spans: &mut impl Spans) {
        let (CallPoint { thread, at, cpu, .. }, entry) = (self.point, &self.entry);
        let (name, entry) = (Some(&entry.name), Some(entry));
        spans.half_syscall(&HalfSyscall { thread, cpu, name, at, half: Half::Begin, entry });
    }
}

impl CallPoint {
    /// Whether no other call can have been in between, if this is the exit after an entry or what a call did.
    fn is_of_call(self, entry: Self) -> bool {
        let is_alone = (self.cpu, self.switched) == (entry.cpu, entry.switched);
        is_alone && self.cpu_losses.agrees(entry.cpu_losses) || self.loss_count.agrees(entry.loss_count)
    }

    fn shift(&mut self, seam: &Seam) {
        self.loss_count.shift(seam.losses);
        let (switched, losses) = seam.cpus.get(&self.cpu).copied().unwrap_or(seam.unseen);
        self.switched = self.switched.or(switched);
        self.cpu_losses.shift(losses);
    }

    fn emit_end(self, exit: &Exit, spans: &mut impl Spans) {
        let Self { thread, at, cpu, .. } = self;
        let name = exit.name.as_ref();
        spans.half_syscall(&HalfSyscall { thread, cpu, name, at, half: Half::End, entry: None });
    }

    /// The returned call as the file tables take it.
    fn returned<'c>(
        self,
        entry: Option<&'c Entry>,
        exit: &'c Exit,
        flow: Option<&'c Flow>,
    ) -> Option<Returned<'c>> {
        let Self { thread, at, .. } = self;
        let (effect, name) = match entry {
            Some(entry) => (Some(&entry.effect), None),
            None => (None, exit.name.as_ref()),
        };
        let concerns_files =
            effect.is_none_or(Effect::concerns_files) && name.is_none_or(|name| is_about_files(name));
        let flow = flow.filter(|_| effect.is_some());
        concerns_files.then_some(Returned {
            thread,
            at,
            effect,
            name,
            ret: exit.ret,
            output: &exit.output,
            flow,
        })
    }
}

/// What changes of calls need of a partial state, beside the owners.
pub(crate) struct CallTracker<'c, S> {
    pub(crate) is_first: bool,
    pub(crate) deferred_effects: &'c mut DeferredEffects,
    pub(crate) spans: &'c mut S,
}

impl<S: Spans> CallTracker<'_, S> {
    /// Takes what an owner has; it has nothing afterwards.
    fn take(&self, pending: &mut PendingCall, owner: CallOwner) -> PendingCall {
        match pending {
            PendingCall::Inherited if self.is_first => PendingCall::None,
            PendingCall::Inherited => {
                *pending = PendingCall::None;
                PendingCall::InheritedFrom(owner)
            }
            _ => std::mem::replace(pending, self.nothing()),
        }
    }

    /// Drops what an owner has: its exit was not seen.
    pub(crate) fn drop(&mut self, pending: &mut PendingCall, owner: CallOwner) {
        match pending {
            PendingCall::None => return,
            PendingCall::Inherited if self.is_first => return,
            PendingCall::Inherited => self.lose(owner),
            PendingCall::InheritedFrom(before) => self.lose(*before),
            PendingCall::Call(open) => open.emit_begin(self.spans),
        }
        *pending = self.nothing();
    }

    fn lose(&mut self, before: CallOwner) {
        self.deferred_effects.or_default(before).end.get_or_insert(CallEnd::Unseen);
    }

    /// Moves what one owner has to another.
    pub(crate) fn transfer(
        &mut self,
        (from, giver): (&mut PendingCall, CallOwner),
        (to, taker): (&mut PendingCall, CallOwner),
    ) {
        self.drop(to, taker);
        match self.take(from, giver) {
            PendingCall::None => {}
            pending => *to = pending,
        }
    }

    fn nothing(&self) -> PendingCall {
        if self.is_first { PendingCall::Inherited } else { PendingCall::None }
    }
}

impl<S: Spans> PartialState<S> {
    /// The owner of the calls of the thread that an event comes from.
    pub(crate) fn owner(thread: ThreadId, context: &EventContext<'_>) -> CallOwner {
        match context.tid {
            Some(tid) if tid != 0 => CallOwner::Named(thread),
            _ => CallOwner::Cpu(context.cpu),
        }
    }

    /// The call point of an event. `change` applies the event to the contexts of its CPU.
    #[inline]
    pub(crate) fn call_point(
        &mut self,
        thread: ThreadId,
        context: &EventContext<'_>,
        change: impl FnOnce(&mut Contexts),
    ) -> CallPoint {
        let EventContext { time: at, cpu, .. } = *context;
        let there = self.cpus.or_default(cpu);
        change(&mut there.contexts);
        let (switched, cpu_losses) = (there.switched, there.complete.loss_count(at));
        CallPoint { thread, at, cpu, switched, cpu_losses, loss_count: self.complete.loss_count(at) }
    }

    /// The seam at the end of the piece.
    pub(crate) fn seam(&self) -> Seam {
        let of = |there: &Cpu| (there.switched, there.complete.losses());
        let cpus = self.cpus.unordered().map(|(cpu, there)| (cpu, of(there))).collect();
        Seam { losses: self.complete.losses(), cpus, unseen: of(&self.unseen_cpu()) }
    }

    /// A call begins.
    pub(crate) fn begin_call(&mut self, owner: CallOwner, point: CallPoint, entry: Entry) {
        let (pending, mut tracker, _) = self.pending(owner);
        tracker.drop(pending, owner);
        *pending = PendingCall::Call(OpenCall { entry, point, has_forked: false, flow: None });
    }

    /// A call ends.
    pub(crate) fn end_call(&mut self, owner: CallOwner, point: CallPoint, exit: &Exit) {
        let (pending, tracker, files) = self.pending(owner);
        let before = match pending {
            PendingCall::Call(open) => {
                let entry = open.close(point, exit, tracker.spans);
                if let Some(call) = point.returned(entry, exit, open.flow.as_deref()) {
                    files.returned(&call, tracker.spans);
                }
                *pending = tracker.nothing();
                return;
            }
            PendingCall::InheritedFrom(before) => Some(*before),
            PendingCall::Inherited if !tracker.is_first => Some(owner),
            PendingCall::Inherited | PendingCall::None => None,
        };
        match before {
            Some(before) => {
                let end = || CallEnd::Exit { point, exit: exit.clone() };
                tracker.deferred_effects.or_default(before).end.get_or_insert_with(end);
            }
            None => point.emit_end(exit, tracker.spans),
        }
        if let Some(call) = point.returned(None, exit, None) {
            files.returned(&call, tracker.spans);
        }
        *pending = tracker.nothing();
    }

    /// A call makes a thread. Returns the clone flags of the call, if known.
    pub(crate) fn fork_in_call(
        &mut self,
        owner: CallOwner,
        (child, point): (ThreadId, CallPoint),
    ) -> Option<u64> {
        let (pending, tracker, _) = self.pending(owner);
        let before = match pending {
            PendingCall::Call(open) => return open.fork(point),
            PendingCall::Inherited if !tracker.is_first => owner,
            PendingCall::Inherited | PendingCall::None => return None,
            PendingCall::InheritedFrom(before) => *before,
        };
        tracker.deferred_effects.or_default(before).forked.get_or_insert((child, point));
        None
    }

    /// A call sends its first packet.
    pub(crate) fn sent_in_call(&mut self, owner: CallOwner, flow: Flow) {
        // Nothing is made for an owner that does not exist.
        let pending = match owner {
            CallOwner::Cpu(cpu) => self.cpus.get_mut(cpu).map(|cpu| &mut cpu.call),
            CallOwner::OffCpu(thread) => self.threads.get_mut(&thread).map(|thread| &mut thread.call_off),
            CallOwner::Named(thread) => self.threads.get_mut(&thread).map(|thread| &mut thread.call),
        };
        if let Some(PendingCall::Call(open)) = pending {
            open.flow.get_or_insert_with(|| Box::new(flow));
        }
    }

    /// A thread whose events carry its id gets another id.
    pub(crate) fn move_call(&mut self, from: ThreadId, to: ThreadId) {
        let (from, to) = (CallOwner::Named(from), CallOwner::Named(to));
        let call = self.take(from);
        let (pending, mut tracker, _) = self.pending(to);
        tracker.drop(pending, to);
        self.set(to, call);
    }

    /// Appends the next piece: `changed` is what owners have there, where it is not what they had before. Deferred effects on
    /// calls of this piece are applied.
    pub(crate) fn append_calls(
        &mut self,
        changed: Vec<(CallOwner, PendingCall)>,
        seam: &Seam,
        right: &mut Self,
    ) {
        let mut before: CanonicalMap<CallOwner, PendingCall> =
            changed.iter().map(|&(owner, _)| (owner, self.take(owner))).collect();
        for (owner, mut deferred) in std::mem::take(&mut right.deferred_effects).into_unordered() {
            deferred.shift(seam);
            let pending = before.remove(&owner).unwrap_or_else(|| self.take(owner));
            let pending = self.settle(deferred, pending, &mut right.files);
            before.insert(owner, pending);
        }
        let mut after = Vec::with_capacity(changed.len());
        for (owner, mut pending) in changed {
            if let PendingCall::InheritedFrom(other) = pending {
                pending = before.remove(&other).unwrap_or(PendingCall::None);
            } else {
                pending.shift(seam);
            }
            after.push((owner, pending));
        }
        // What is left was not changed, or it is nothing and what follows overwrites it.
        for (owner, pending) in before.into_unordered().chain(after) {
            self.set(owner, pending);
        }
    }

    /// Applies a deferred effect to a call. Returns the call if it is still in flight.
    fn settle(&mut self, deferred: DeferredEffect, pending: PendingCall, files: &mut Files) -> PendingCall {
        let mut open = match pending {
            PendingCall::Call(open) => open,
            PendingCall::InheritedFrom(before) => {
                let goes_on = deferred.end.is_none();
                self.deferred_effects.or_default(before).append(deferred);
                return if goes_on { pending } else { PendingCall::None };
            }
            PendingCall::Inherited | PendingCall::None => {
                deferred.finish(&mut self.spans);
                return PendingCall::None;
            }
        };
        if let Some((child, point)) = deferred.forked
            && let Some(flags) = open.fork(point)
        {
            files.share(child, flags & clone_flag::FILES != 0);
        }
        match deferred.end {
            None => return PendingCall::Call(open),
            Some(CallEnd::Unseen) => open.emit_begin(&mut self.spans),
            Some(CallEnd::Exit { point, exit }) => {
                if let Some(entry) = open.close(point, &exit, &mut self.spans) {
                    files.fill(point.thread, point.at, &entry.effect, open.flow.as_deref());
                }
            }
        }
        PendingCall::None
    }

    /// What an owner has, and what is needed to change it.
    fn pending(&mut self, owner: CallOwner) -> (&mut PendingCall, CallTracker<'_, S>, &mut Files) {
        let is_first = self.is_first();
        let Self { cpus, threads, deferred_effects, files, spans, .. } = self;
        let pending = match owner {
            CallOwner::Cpu(cpu) => &mut cpus.or_default(cpu).call,
            CallOwner::OffCpu(thread) => &mut threads.or_default(thread).call_off,
            CallOwner::Named(thread) => &mut threads.or_default(thread).call,
        };
        (pending, CallTracker { is_first, deferred_effects, spans }, files)
    }

    fn take(&mut self, owner: CallOwner) -> PendingCall {
        let (pending, tracker, _) = self.pending(owner);
        tracker.take(pending, owner)
    }

    fn set(&mut self, owner: CallOwner, value: PendingCall) {
        let (pending, tracker, _) = self.pending(owner);
        *pending = if matches!(value, PendingCall::None) { tracker.nothing() } else { value };
    }
}
