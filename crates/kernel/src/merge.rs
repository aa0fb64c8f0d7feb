//! Merges the partial states of two neighbouring pieces.
//!
//! Thread ids of a piece are relative to its begin: a thread that existed already, an unidentified thread on
//! a CPU. So ids are resolved first, in both pieces; then each part of the right piece is appended to that of
//! the left, as if its first events had just arrived. What the left piece does not know either stays open,
//! for the piece before it. The operation is associative, and an empty piece is its identity.

use crate::border::Border;
use crate::cpu::Cpu;
use crate::id::{PIECE_BEGIN, ThreadAliases, ThreadId};
use crate::in_flight::DeferredEffect;
use crate::partial_state::PartialState;
use crate::span::Spans;

/// Two pieces that are not neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a piece that begins at {begin:?} does not follow one that ends at {end:?}")]
pub struct MergeError {
    /// End of the left piece.
    pub end: Border,
    /// Begin of the right piece.
    pub begin: Border,
}

impl<S: Spans> PartialState<S> {
    /// Merges the piece that follows. The result is that of one pass over the events of both, byte for byte,
    /// for any partition of a trace and any order of merges. `O(n log n)` in what both have kept.
    ///
    /// # Errors
    /// When `right` does not begin where this piece ends.
    pub fn merge(mut self, mut right: Self) -> Result<Self, MergeError> {
        if self.end() != right.begin() {
            return Err(MergeError { end: self.end(), begin: right.begin() });
        }
        self.resolve_names(&mut right);
        let (is_first, before) = (self.is_first(), self.losses.before_next());
        let unseen = [&self, &right].map(Self::unseen_cpu);
        let boundary = self.cpus.boundary(before.kernel, &unseen[0]);
        let ended = is_first.then(|| self.threads.may_end(&right.threads));

        self.threads.follows_faults |= right.threads.follows_faults;
        let (threads, at_end) = (right.threads.take(), self.losses.kernel.at_end());
        let mut calls = self.threads.append(threads, before.kernel, at_end, &mut self.spans);
        let border = right.begin();
        let joined =
            self.cpus.append(right.cpus, border, [&unseen[0], &unseen[1]], is_first, &mut self.spans);
        for (owner, flow) in joined.sent {
            self.calls().sent(owner, flow);
        }
        calls.extend(joined.calls);
        self.calls().append(calls, &boundary, right.deferred, &mut right.files);

        self.periods.append(right.periods, before, is_first, &mut self.spans);
        self.disks.append(right.disks, before, &mut self.spans);
        self.programs.append(right.programs, before, &mut self.spans);
        self.files.append(right.files, &mut self.spans);
        self.threads.tids.append(right.threads.tids);
        if let Some(ended) = ended {
            self.retire_ended(ended);
        }
        self.spans.absorb(right.spans);
        self.losses.append(right.losses, border);
        self.extent.append(right.extent);
        Ok(self)
    }

    /// Resolves the ids of both pieces that are relative to the border between them.
    fn resolve_names(&mut self, right: &mut Self) {
        let mut in_right = ThreadAliases::default();
        for (id, thread) in right.threads.unordered() {
            if let (ThreadId::Thread { tid, born: PIECE_BEGIN }, Some(first)) = (id, thread.first)
                && let Some(known) = self.threads.tids.name_of(tid, first)
            {
                in_right.add(id, known);
            }
        }
        let mut in_left = ThreadAliases::default();
        for (cpu, _) in right.cpus.unordered().chain(self.cpus.unordered()) {
            let first = right.cpus.get(cpu).and_then(|cpu| cpu.timeline.first_to_leave());
            // The thread of the last switch was unidentified until a switch shows which one left; that of a
            // loss that lasts stays so.
            if let Some(prev) = first
                && let last @ ThreadId::Unidentified { since, .. } = self.last_on(cpu)
                && (since != PIECE_BEGIN || self.is_first())
            {
                in_left.add(last, in_right.of(prev));
            }
            // The earlier observation takes precedence over the later one: a switch may be missing in
            // between.
            let begin = ThreadId::Unidentified { cpu, since: PIECE_BEGIN };
            in_right.add(begin, in_left.of(self.current_on(cpu)));
        }
        self.rename(&in_left);
        right.rename(&in_right);
    }

    /// Identifies the threads that ran at the begin of the piece as those that left first: there is no piece
    /// before.
    pub(crate) fn resolve_begin(&mut self) {
        let mut aliases = ThreadAliases::default();
        for (number, cpu) in self.cpus.unordered() {
            if let Some(prev) = cpu.timeline.first_to_leave() {
                aliases.add(ThreadId::Unidentified { cpu: number, since: PIECE_BEGIN }, prev);
            }
        }
        self.rename(&aliases);
    }

    /// The thread that runs on a CPU at the end of the piece.
    fn current_on(&self, cpu: u32) -> ThreadId {
        match self.cpus.get(cpu) {
            Some(known) => known.current_at_end(cpu, self.begin()),
            None => self.last_on(cpu),
        }
    }

    /// The thread to which a CPU switched last, whatever is missing since.
    fn last_on(&self, cpu: u32) -> ThreadId {
        match self.cpus.get(cpu) {
            Some(known) => known.timeline.current(cpu),
            None => self.unseen_cpu().timeline.current(cpu),
        }
    }

    /// The state of a CPU that has no event in this piece.
    fn unseen_cpu(&self) -> Cpu {
        self.losses.gaps.first().copied().map(Cpu::missing).unwrap_or_default()
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

    /// Renames threads in all but the files and the consumer. Linear in threads and open requests, not in
    /// past events.
    pub(crate) fn rename_parts(&mut self, aliases: &ThreadAliases) {
        self.cpus.rename(aliases);
        self.deferred.unordered_mut().for_each(|(_, deferred)| deferred.rename(aliases));
        self.deferred.rekey(|owner| owner.renamed(aliases), DeferredEffect::append);
        self.disks.rename(aliases);
        self.periods.rename(aliases);
        self.threads.rename(aliases, &mut self.spans);
        self.programs.rename(aliases, &mut self.spans);
    }
}
