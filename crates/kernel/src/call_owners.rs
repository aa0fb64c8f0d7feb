//! System calls of a piece by their owners: what events and merges do to them.
//!
//! A view of the parts of a `PartialState` that calls concern; `in_flight` has the calls themselves.

use isochrone_net::Flow;

use crate::call_owner::CallOwner;
use crate::calls::{Entry, Exit, clone_flag};
use crate::canonical_map::CanonicalMap;
use crate::cpu::Cpus;
use crate::files::Files;
use crate::id::ThreadId;
use crate::in_flight::{
    BoundaryState, CallEnd, CallPoint, CallTracker, DeferredEffect, DeferredEffects, OpenCall, PendingCall,
};
use crate::span::Spans;
use crate::thread::ThreadTable;

/// The owners of calls, and all else that a change of a call concerns.
pub(crate) struct CallOwners<'p, S> {
    pub(crate) is_first: bool,
    pub(crate) cpus: &'p mut Cpus,
    pub(crate) threads: &'p mut ThreadTable,
    pub(crate) deferred: &'p mut DeferredEffects,
    pub(crate) files: &'p mut Files,
    pub(crate) spans: &'p mut S,
}

impl<S: Spans> CallOwners<'_, S> {
    /// The call that an owner has, and what is needed to change it.
    #[inline]
    fn pending(&mut self, owner: CallOwner) -> (&mut PendingCall, CallTracker<'_, S>, &mut Files) {
        let Self { is_first, cpus, threads, deferred, files, spans } = self;
        let pending = match owner {
            CallOwner::Cpu(cpu) => &mut cpus.or_default(cpu).call,
            CallOwner::OffCpu(thread) => &mut threads.or_default(thread).call_off,
            CallOwner::Named(thread) => &mut threads.or_default(thread).call,
        };
        // It has no call of before: what ends a call of it is not for the piece before.
        if *pending == PendingCall::Inherited && !*is_first && owner.is_born() {
            *pending = PendingCall::None;
        }
        (pending, CallTracker { is_first: *is_first, deferred, spans }, files)
    }

    /// A call begins.
    pub(crate) fn begin(&mut self, owner: CallOwner, point: CallPoint, entry: Entry) {
        let (pending, mut tracker, _) = self.pending(owner);
        tracker.drop(pending, owner);
        *pending = PendingCall::Call(OpenCall::new(entry, point));
    }

    /// A call begins of a thread that no event shows.
    pub(crate) fn begin_of_unknown(&mut self, point: CallPoint, entry: Entry) {
        OpenCall::new(entry, point).emit_begin(self.spans);
    }

    /// A call ends of a thread that no event shows: which of those that have begun, is unknown.
    pub(crate) fn end_of_unknown(&mut self, point: CallPoint, exit: &Exit) {
        point.emit_end(exit, self.spans);
        if let Some(call) = point.returned(None, exit, None) {
            self.files.returned(&call, self.spans);
        }
    }

    /// A call ends.
    pub(crate) fn end(&mut self, owner: CallOwner, point: CallPoint, exit: &Exit) {
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
                tracker.deferred.or_default(before).end.get_or_insert_with(end);
            }
            None => point.emit_end(exit, tracker.spans),
        }
        if let Some(call) = point.returned(None, exit, None) {
            files.returned(&call, tracker.spans);
        }
        *pending = tracker.nothing();
    }

    /// A call makes a thread, `child`. Returns the clone flags of the call, if known.
    pub(crate) fn fork(&mut self, owner: CallOwner, child: ThreadId, point: CallPoint) -> Option<u64> {
        let (pending, tracker, _) = self.pending(owner);
        let before = match pending {
            PendingCall::Call(open) => return open.fork(point),
            PendingCall::Inherited if !tracker.is_first => owner,
            PendingCall::Inherited | PendingCall::None => return None,
            PendingCall::InheritedFrom(before) => *before,
        };
        tracker.deferred.or_default(before).forked.get_or_insert((child, point));
        None
    }

    /// A call sends its first packet.
    pub(crate) fn sent(&mut self, owner: CallOwner, flow: Flow) {
        // Nothing is made for an owner that does not exist.
        let pending = match owner {
            CallOwner::Cpu(cpu) => self.cpus.get_mut(cpu).map(|cpu| &mut cpu.call),
            CallOwner::OffCpu(thread) => self.threads.get_mut(thread).map(|thread| &mut thread.call_off),
            CallOwner::Named(thread) => self.threads.get_mut(thread).map(|thread| &mut thread.call),
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

    /// Appends the next piece: `changed` is what owners have there, where it is not what they had before;
    /// `deferred` is applied to calls of this piece; `right_files` are the descriptors of the next piece.
    pub(crate) fn append(
        &mut self,
        changed: Vec<(CallOwner, PendingCall)>,
        boundary: &BoundaryState,
        deferred: DeferredEffects,
        right_files: &mut Files,
    ) {
        let mut before: CanonicalMap<CallOwner, PendingCall> =
            changed.iter().map(|&(owner, _)| (owner, self.take(owner))).collect();
        for (owner, mut deferred) in deferred.into_unordered() {
            deferred.shift(boundary);
            let pending = before.remove(&owner).unwrap_or_else(|| self.take(owner));
            let pending = self.apply(deferred, pending, right_files);
            before.insert(owner, pending);
        }
        let mut after = Vec::with_capacity(changed.len());
        for (owner, mut pending) in changed {
            if let PendingCall::InheritedFrom(other) = pending {
                pending = before.remove(&other).unwrap_or(PendingCall::None);
            } else {
                pending.shift(boundary);
            }
            after.push((owner, pending));
        }
        // What is left was not changed, or it is nothing and what follows overwrites it.
        for (owner, pending) in before.into_unordered().chain(after) {
            self.set(owner, pending);
        }
    }

    /// Applies a deferred effect to a call. Returns the call if it is still in flight.
    fn apply(&mut self, deferred: DeferredEffect, pending: PendingCall, files: &mut Files) -> PendingCall {
        let mut open = match pending {
            PendingCall::Call(open) => open,
            PendingCall::InheritedFrom(before) => {
                let is_open = deferred.end.is_none();
                self.deferred.or_default(before).append(deferred);
                return if is_open { pending } else { PendingCall::None };
            }
            PendingCall::Inherited | PendingCall::None => {
                deferred.finish(self.spans);
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
            Some(CallEnd::Unseen) => open.emit_begin(self.spans),
            Some(CallEnd::Exit { point, exit }) => {
                if let Some(entry) = open.close(point, &exit, self.spans) {
                    files.fill(point.thread, point.at, &entry.effect, open.flow.as_deref());
                }
            }
        }
        PendingCall::None
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
