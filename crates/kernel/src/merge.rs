//! Merges the partial states of two neighbouring pieces.
//!
//! Thread ids of a piece are relative to its begin: a thread that existed already, an unidentified thread on a CPU. So ids
//! are resolved first, in both pieces; then each part of the right piece is appended to that of the left, as if its first
//! events had just arrived. What the left piece does not know either stays open, for the piece before it. The operation is
//! associative, and an empty piece is its identity.

use crate::border::Border;
use crate::completeness::LossCount;
use crate::id::{PIECE_BEGIN, ThreadAliases, ThreadId};
use crate::in_flight::{CallOwner, DeferredEffect, PendingCall};
use crate::partial_state::{Cpu, PartialState, united};
use crate::span::Spans;

/// Two pieces that are not neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a piece that begins at {begin:?} does not follow one that ends at {end:?}")]
pub struct MergeError {
    /// Where the left one ends.
    pub end: Border,
    /// Where the right one begins.
    pub begin: Border,
}

/// Threads that may have ended.
#[derive(Debug, Default)]
struct MayEnd {
    threads: Vec<ThreadId>,
    /// Threads that had ended before.
    strays: Vec<ThreadId>,
    /// Threads that an exec renumbered: new id, old id.
    heirs: Vec<(ThreadId, ThreadId)>,
}

impl<S: Spans> PartialState<S> {
    /// Merges the piece that follows. The result is that of one pass over the events of both, byte for byte, for any
    /// partition of a trace and any order of merges. `O(n log n)` in what both have kept.
    ///
    /// # Errors
    /// When `right` does not begin where this piece ends.
    pub fn merge(mut self, mut right: Self) -> Result<Self, MergeError> {
        if self.end != right.begin {
            return Err(MergeError { end: self.end, begin: right.begin });
        }
        self.settle_names(&mut right);
        let (seam, losses) = (self.seam(), self.complete.losses());
        let ended = self.may_end(&right);
        let mut calls = self.append_threads(&mut right);
        calls.extend(self.append_cpus(&mut right));
        self.append_calls(calls, &seam, &mut right);
        right.requests.shift(losses);
        let programs = self.programs_complete.losses();
        right.phases.change(|begin| begin.loss_count.shift(programs), |end| end.loss_count.shift(programs));
        right.periods.shift(losses, programs);
        let is_first = self.is_first();
        let Self { requests, phases, periods, spans, .. } = &mut self;
        periods.append(right.periods, is_first, spans);
        requests.append(right.requests, spans);
        phases.append(right.phases, |key, begin, end| key.emit(begin, end, spans));
        self.files.append(right.files, &mut self.spans);
        right.disks.into_iter().for_each(|(device, name)| {
            self.disks.entry(device).or_insert(name);
        });
        self.tids.append(right.tids);
        self.inherit(ended.heirs);
        self.retire_ended(ended.threads, &ended.strays);
        self.spans.absorb(right.spans);
        self.end = right.end;
        self.range = united(self.range, right.range);
        self.programs_range = united(self.programs_range, right.programs_range);
        self.events += right.events;
        self.complete.append(right.complete, right.begin);
        self.programs_complete.append(right.programs_complete, right.begin);
        self.events_lost = self.events_lost.saturating_add(right.events_lost);
        self.gaps.extend(right.gaps);
        self.missed.append(right.missed);
        self.referenced_cpus.extend(right.referenced_cpus);
        self.referenced_cpus.sort_unstable();
        self.referenced_cpus.dedup();
        Ok(self)
    }

    /// Collects threads that may have ended when the next piece is appended.
    fn may_end(&self, right: &Self) -> MayEnd {
        if !self.is_first() {
            return MayEnd::default();
        }
        let of_right = || right.threads.unordered();
        let mut threads: Vec<ThreadId> = of_right().map(|(&thread, _)| thread).collect();
        threads.extend(self.tids.replaced_by(&right.tids));
        threads.sort_unstable();
        threads.dedup();
        let is_stray =
            |thread: &&ThreadId| self.threads.get(thread).is_none() && self.tids.was_over(**thread);
        let strays = of_right().map(|(thread, _)| thread).filter(is_stray).copied().collect();
        let heirs = of_right().filter_map(|(&thread, there)| Some((thread, there.was?))).collect();
        MayEnd { threads, strays, heirs }
    }

    fn settle_names(&mut self, right: &mut Self) {
        let mut in_right = ThreadAliases::default();
        for (&thread, known) in right.threads.unordered() {
            if let (ThreadId::Thread { tid, born: PIECE_BEGIN }, Some(first)) = (thread, known.first)
                && let Some(name) = self.tids.name_of(tid, first)
            {
                in_right.add(thread, name);
            }
        }
        let mut in_left = ThreadAliases::default();
        for cpu in right.cpus.unordered().map(|(cpu, _)| cpu).chain(self.cpus.unordered().map(|(cpu, _)| cpu))
        {
            let current = self.current_on(cpu);
            let first = right.first_to_leave(cpu).map(|prev| in_right.of(prev));
            let begin = ThreadId::Unidentified { cpu, since: PIECE_BEGIN };
            match (current, first) {
                // The thread there was unidentified until a switch showed which one left.
                (ThreadId::Unidentified { since, .. }, Some(prev))
                    if since != PIECE_BEGIN || self.is_first() =>
                {
                    in_left.add(current, prev);
                    in_right.add(begin, prev);
                }
                // The earlier observation takes precedence over the later one: a switch may be missing in between.
                _ => in_right.add(begin, current),
            }
        }
        self.rename(&in_left);
        right.rename(&in_right);
    }

    /// The thread that left a CPU first, if the piece begins with it.
    fn first_to_leave(&self, cpu: u32) -> Option<ThreadId> {
        self.cpus.get(cpu)?.timeline.first_to_leave()
    }

    /// Identifies the threads that ran at the begin of the piece as those that left first: there is no piece before.
    pub(crate) fn settle_begin(&mut self) {
        let mut aliases = ThreadAliases::default();
        for (cpu, there) in self.cpus.unordered() {
            if let Some(prev) = there.timeline.first_to_leave() {
                aliases.add(ThreadId::Unidentified { cpu, since: PIECE_BEGIN }, prev);
            }
        }
        self.rename(&aliases);
    }

    /// The thread that runs on a CPU at the end of the piece.
    fn current_on(&self, cpu: u32) -> ThreadId {
        match self.cpus.get(cpu) {
            Some(there) => there.current_at_end(cpu, self.begin),
            None => self.unseen_cpu().timeline.current(cpu),
        }
    }

    /// The state of a CPU that has no event in this piece.
    pub(crate) fn unseen_cpu(&self) -> Cpu {
        self.gaps.first().copied().map(Cpu::missing).unwrap_or_default()
    }

    /// Returns the calls that the threads own where that has changed.
    fn append_threads(&mut self, right: &mut Self) -> Vec<(CallOwner, PendingCall)> {
        let mut calls = Vec::new();
        let (losses, seam) = (self.complete.losses(), self.complete.last());
        let mut keep = |owner, pending: &mut PendingCall| {
            if *pending != PendingCall::Inherited {
                calls.push((owner, std::mem::take(pending)));
            }
        };
        for (thread, mut there) in std::mem::take(&mut right.threads).into_unordered() {
            there.shift(losses);
            keep(CallOwner::Named(thread), &mut there.call);
            keep(CallOwner::OffCpu(thread), &mut there.call_off);
            match self.threads.get_mut(&thread) {
                Some(here) => {
                    here.learn(&mut there);
                    here.waits.append(thread, there.waits, seam, &mut self.spans);
                }
                None => {
                    self.threads.insert(thread, there);
                }
            }
        }
        calls
    }

    /// Returns the calls that the CPUs own where that has changed.
    fn append_cpus(&mut self, right: &mut Self) -> Vec<(CallOwner, PendingCall)> {
        let mut calls = Vec::new();
        let (unseen_left, unseen_right) = (self.unseen_cpu(), right.unseen_cpu());
        let mut there = std::mem::take(&mut right.cpus);
        if unseen_right != Cpu::default() {
            for (cpu, _) in self.cpus.unordered() {
                there.or_insert_with(cpu, || unseen_right.clone());
            }
        }
        let (is_first, mut sent) = (self.is_first(), Vec::new());
        for (cpu, there) in there.into_sorted() {
            let here = self.cpus.or_insert_with(cpu, || unseen_left.clone());
            sent.extend(here.contexts.append(there.contexts, is_first, &mut self.spans));
            here.timeline.append(cpu, there.timeline, &mut self.spans);
            here.interrupts.append(cpu, there.interrupts, &mut self.spans);
            here.switched = there.switched.or(here.switched);
            here.complete.append(there.complete, right.begin);
            here.switches_complete.append(there.switches_complete, right.begin);
            here.over = here.over.into_iter().chain(there.over).min();
            calls.push((CallOwner::Cpu(cpu), there.call));
        }
        calls.retain(|(_, pending)| *pending != PendingCall::Inherited);
        for (owner, flow) in sent {
            self.sent_in_call(owner, flow);
        }
        calls
    }

    /// Renames threads.
    fn rename(&mut self, aliases: &ThreadAliases) {
        self.emit_aliases();
        if !aliases.is_empty() {
            self.rename_parts(aliases);
            self.rename_in_files(aliases);
            self.spans.rename(aliases);
        }
    }

    /// Passes aliases to the consumer that it does not have yet.
    pub(crate) fn emit_aliases(&mut self) {
        let pending_aliases = std::mem::take(&mut self.pending_aliases);
        if !pending_aliases.is_empty() {
            self.rename_in_files(&pending_aliases);
            self.spans.rename(&pending_aliases);
        }
    }

    /// Renames threads in the log of file operations, which executes what has become known.
    pub(crate) fn rename_in_files(&mut self, aliases: &ThreadAliases) {
        self.files.rename(aliases);
        self.files.settle(&mut self.spans);
    }

    /// Renames threads in all but the files and the consumer. Linear in threads and open requests, not in past events.
    pub(crate) fn rename_parts(&mut self, aliases: &ThreadAliases) {
        for (_, cpu) in self.cpus.unordered_mut() {
            cpu.timeline.rename(aliases);
            cpu.call.rename(aliases);
            cpu.contexts.rename(aliases);
        }
        self.tids.rename(aliases);
        self.threads.unordered_mut().for_each(|(_, thread)| thread.rename(aliases));
        self.deferred_effects.unordered_mut().for_each(|(_, deferred)| deferred.rename(aliases));
        self.deferred_effects.rekey(|owner| owner.renamed(aliases), DeferredEffect::append);
        self.requests.rename(aliases);
        self.periods.rename(aliases);
        // What the union of two threads makes known is emitted with the resolved ids.
        self.rekey_threads(aliases);
        let Self { phases, spans, .. } = self;
        phases.rekey(
            |key| key.renamed(aliases),
            |key| was_before(key.thread),
            |key, begin, end| key.emit(begin, end, spans),
        );
    }

    fn rekey_threads(&mut self, aliases: &ThreadAliases) {
        let moved: Vec<_> =
            aliases.iter().filter_map(|(from, to)| Some((from, to, self.threads.remove(&from)?))).collect();
        for (from, thread, there) in moved {
            match self.threads.get_mut(&thread) {
                None => {
                    self.threads.insert(thread, there);
                }
                // Two threads are one.
                Some(known) => {
                    let mut later = if was_before(from) { std::mem::replace(known, there) } else { there };
                    known.learn(&mut later);
                    for (call, later) in
                        [(&mut known.call, later.call), (&mut known.call_off, later.call_off)]
                    {
                        if later != PendingCall::Inherited {
                            *call = later;
                        }
                    }
                    known.waits.append(thread, later.waits, LossCount::ZERO, &mut self.spans);
                }
            }
        }
    }
}

/// Whether the facts of a thread under its old id are older than those under its other id: an unidentified thread was seen on
/// its CPU before the events that identify it, but after those before a loss.
fn was_before(old: ThreadId) -> bool {
    !matches!(old, ThreadId::Unidentified { since, .. } if since != PIECE_BEGIN)
}
