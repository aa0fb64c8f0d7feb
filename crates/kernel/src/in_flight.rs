//! System calls in flight: entries wait for their exits.
//!
//! Part of a `PartialState`. Where events do not carry their thread's id, a call is owned by the CPU that it
//! was made on: the thread that runs there made it, identified or not. The thread that leaves the CPU takes
//! the call along and brings it to the CPU where it runs next; so calls follow the switches alone. Where
//! events carry the thread's id, the thread owns its calls and switches do not matter.
//!
//! What an owner has when a piece begins is known to the piece before. Until they are merged it is passed on
//! like a call ([`PendingCall::InheritedFrom`]), and what happens to it is applied at the merge
//! ([`DeferredEffect`]).
//!
//! An exit belongs to an entry only if nothing between them can be missing: if no other thread can have run
//! on the CPU in between, or else if all CPUs were recorded ([`CallPoint::is_of_call`]).

use isochrone_net::Flow;
use serde::{Deserialize, Serialize};

use crate::call_owner::CallOwner;
use crate::calls::{Effect, Entry, Exit, is_about_files};
use crate::canonical_map::CanonicalMap;
use crate::files::Returned;
use crate::id::{ThreadAliases, ThreadId, Time};
use crate::loss_tracker::LossCount;
use crate::span::{Half, HalfSyscall, ObjectUse, Poll, Spans, Syscall};

/// The call that an owner has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PendingCall {
    /// The owner still has what it had when the piece began; in the first piece, nothing.
    #[default]
    Inherited,
    /// What another owner had when the piece began, or this one itself, after it was elsewhere.
    InheritedFrom(CallOwner),
    /// Nothing. Never stored in the first piece, where [`Self::Inherited`] means the same: equal states are
    /// equal bytes.
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
    pub(crate) flow: Option<Box<Flow>>,
}

/// Time, CPU and thread of an entry or an exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CallPoint {
    pub(crate) thread: ThreadId,
    pub(crate) at: Time,
    pub(crate) cpu: u32,
    /// Time of the last switch of the CPU before it; `None` if the piece has none.
    pub(crate) switched: Option<Time>,
    /// Losses of the CPU.
    pub(crate) cpu_losses: LossCount,
    pub(crate) loss_count: LossCount,
}

/// The state at the end of a piece that events of the next piece are related to.
pub(crate) struct BoundaryState {
    pub(crate) losses: u64,
    /// Of each CPU: the time of its last switch, and the number of its losses.
    pub(crate) cpus: CanonicalMap<u32, (Option<Time>, u64)>,
    /// The same of CPUs without events in the piece.
    pub(crate) unseen: (Option<Time>, u64),
}

/// What happens to a call whose entry is in an earlier piece.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeferredEffect {
    /// It makes a thread.
    pub(crate) forked: Option<(ThreadId, CallPoint)>,
    pub(crate) end: Option<CallEnd>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CallEnd {
    /// Its exit.
    Exit { point: CallPoint, exit: Exit },
    /// Another call begins in its place: its exit is lost.
    Unseen,
}

/// The deferred effects on the calls that owners had when the piece began.
pub(crate) type DeferredEffects = CanonicalMap<CallOwner, DeferredEffect>;

impl PendingCall {
    pub(crate) fn shift(&mut self, boundary: &BoundaryState) {
        if let Self::Call(open) = self {
            open.point.shift(boundary);
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

impl DeferredEffect {
    pub(crate) fn shift(&mut self, boundary: &BoundaryState) {
        if let Some((_, point)) = &mut self.forked {
            point.shift(boundary);
        }
        if let Some(CallEnd::Exit { point, .. }) = &mut self.end {
            point.shift(boundary);
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
    pub(crate) fn new(entry: Entry, point: CallPoint) -> Self {
        Self { entry, point, has_forked: false, flow: None }
    }

    /// The call makes a thread. Returns its clone flags, if it is a call that does so.
    pub(crate) fn fork(&mut self, point: CallPoint) -> Option<u64> {
        if !point.is_of_call(self.point) || self.has_forked {
            return None;
        }
        self.has_forked = true;
        self.entry.effect.clone_flags()
    }

    /// Emits the call that has ended. Returns the entry if the exit belongs to the same call.
    pub(crate) fn close(&self, point: CallPoint, exit: &Exit, spans: &mut impl Spans) -> Option<&Entry> {
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
        if let Some(used) = ObjectUse::of_call(thread, end, entry, exit) {
            spans.object_use(&used);
        }
        Some(entry)
    }

    pub(crate) fn emit_begin(&self, spans: &mut impl Spans) {
        let (CallPoint { thread, at, cpu, .. }, entry) = (self.point, &self.entry);
        let (name, entry) = (Some(&entry.name), Some(entry));
        spans.half_syscall(&HalfSyscall { thread, cpu, name, at, half: Half::Begin, entry });
    }
}

impl CallPoint {
    /// Whether no other call can have been in between, if this is the exit after an entry or what a call did.
    fn is_of_call(self, entry: Self) -> bool {
        let is_alone = (self.cpu, self.switched) == (entry.cpu, entry.switched);
        is_alone && self.cpu_losses.no_loss_between(entry.cpu_losses)
            || self.loss_count.no_loss_between(entry.loss_count)
    }

    fn shift(&mut self, boundary: &BoundaryState) {
        self.loss_count.shift(boundary.losses);
        let (switched, losses) = boundary.cpus.get(&self.cpu).copied().unwrap_or(boundary.unseen);
        self.switched = self.switched.or(switched);
        self.cpu_losses.shift(losses);
    }

    pub(crate) fn emit_end(self, exit: &Exit, spans: &mut impl Spans) {
        let Self { thread, at, cpu, .. } = self;
        let name = exit.name.as_ref();
        spans.half_syscall(&HalfSyscall { thread, cpu, name, at, half: Half::End, entry: None });
    }

    /// The returned call as the file tables take it.
    pub(crate) fn returned<'c>(
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

/// The call that an owner has, to be changed.
pub(crate) struct OwnedCall<'c> {
    pub(crate) owner: CallOwner,
    pub(crate) call: &'c mut PendingCall,
}

/// What changes of calls need besides the owners.
pub(crate) struct CallTracker<'c, S> {
    pub(crate) is_first: bool,
    pub(crate) deferred: &'c mut DeferredEffects,
    pub(crate) spans: &'c mut S,
}

impl<S: Spans> CallTracker<'_, S> {
    /// Takes what an owner has; it has nothing afterwards.
    pub(crate) fn take(&self, pending: &mut PendingCall, owner: CallOwner) -> PendingCall {
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
            PendingCall::Inherited => self.on_loss(owner),
            PendingCall::InheritedFrom(before) => self.on_loss(*before),
            PendingCall::Call(open) => open.emit_begin(self.spans),
        }
        *pending = self.nothing();
    }

    fn on_loss(&mut self, before: CallOwner) {
        self.deferred.or_default(before).end.get_or_insert(CallEnd::Unseen);
    }

    /// Moves what one owner has to another.
    pub(crate) fn transfer(&mut self, from: OwnedCall<'_>, to: OwnedCall<'_>) {
        let OwnedCall { owner, call } = to;
        self.drop(call, owner);
        let OwnedCall { owner: giver, call: given } = from;
        match self.take(given, giver) {
            PendingCall::None => {}
            pending => *call = pending,
        }
    }

    pub(crate) fn nothing(&self) -> PendingCall {
        if self.is_first { PendingCall::Inherited } else { PendingCall::None }
    }
}
