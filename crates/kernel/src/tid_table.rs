//! The table of tids: which thread has a tid now. Tids are reused.
//!
//! Part of a `PartialState`.

use serde::{Deserialize, Serialize};

use crate::canonical_map::CanonicalMap;
use crate::id::{PIECE_BEGIN, ThreadAliases, ThreadId, Time};

/// The last thread of each tid.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TidTable(CanonicalMap<i32, TidOwner>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct TidOwner {
    thread: ThreadId,
    is_dead: bool,
}

impl TidTable {
    /// Returns the thread that has the tid at `at`. If the last one is dead, this is another one whose begin
    /// was not seen; if the piece has seen none, it may be from before the piece.
    #[inline]
    pub(crate) fn get(&mut self, tid: i32, at: Time) -> ThreadId {
        match self.0.get_mut(&tid) {
            Some(life) if !life.is_dead => life.thread,
            Some(life) => {
                *life = TidOwner { thread: ThreadId::Thread { tid, born: at }, is_dead: false };
                life.thread
            }
            None => {
                let thread = ThreadId::Thread { tid, born: PIECE_BEGIN };
                self.0.insert(tid, TidOwner { thread, is_dead: false });
                thread
            }
        }
    }

    /// A thread begins. Returns it, and the thread that had the tid before, if its end was not seen.
    pub(crate) fn begin(&mut self, tid: i32, at: Time) -> (ThreadId, Option<ThreadId>) {
        let thread = ThreadId::Thread { tid, born: at };
        let before = self.0.insert(tid, TidOwner { thread, is_dead: false });
        (thread, before.filter(|life| !life.is_dead && life.thread != thread).map(|life| life.thread))
    }

    /// Whether a thread has ended, or another one has its tid.
    pub(crate) fn is_over(&self, thread: ThreadId) -> bool {
        let life = thread.tid().and_then(|tid| self.0.get(&tid));
        life.is_some_and(|life| life.is_dead || life.thread != thread)
    }

    /// As [`Self::is_over`], of a thread that may begin later.
    pub(crate) fn was_over(&self, thread: ThreadId) -> bool {
        let ThreadId::Thread { tid, born } = thread else { return false };
        self.0.get(&tid).is_some_and(|life| match life.thread {
            ThreadId::Thread { born: last, .. } if born == last => life.is_dead,
            ThreadId::Thread { born: last, .. } => born < last,
            ThreadId::Idle(_) | ThreadId::Unidentified { .. } => false,
        })
    }

    /// Threads of this piece whose tids other threads have in the next one.
    pub(crate) fn replaced_by(&self, right: &Self) -> Vec<ThreadId> {
        let replaced = right.0.unordered().filter_map(|(tid, life)| {
            self.0.get(tid).map(|own| own.thread).filter(|&thread| thread != life.thread)
        });
        replaced.collect()
    }

    /// A thread has ended.
    pub(crate) fn end(&mut self, thread: ThreadId) {
        if let Some(tid) = thread.tid()
            && let Some(life) = self.0.get_mut(&tid)
            && life.thread == thread
        {
            life.is_dead = true;
        }
    }

    /// The id of a thread of the next piece that existed at its begin, if this piece has seen its tid;
    /// `first`: when it was first seen there.
    pub(crate) fn name_of(&self, tid: i32, first: Time) -> Option<ThreadId> {
        let life = self.0.get(&tid)?;
        Some(if life.is_dead { ThreadId::Thread { tid, born: first } } else { life.thread })
    }

    pub(crate) fn rename(&mut self, aliases: &ThreadAliases) {
        self.0.unordered_mut().for_each(|(_, life)| life.thread = aliases.of(life.thread));
    }

    /// Appends the next piece: the later lives are the last ones.
    pub(crate) fn append(&mut self, right: Self) {
        self.0.absorb(right.0, |left, right| *left = right);
    }
}
