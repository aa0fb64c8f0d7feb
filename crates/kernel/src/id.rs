//! Identity of threads: by tid and begin of life, or as the unidentified thread that ran on a CPU.
//!
//! Everything else in this crate is keyed by [`ThreadId`]. When pieces of a trace are merged, ids that were
//! relative to a piece's begin are resolved by the piece before: [`ThreadAliases`] carries the result.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;

use compact_str::CompactString;
// A time in this crate is one of the host's clock, without any offset.
pub(crate) use isochrone_time::RawNs as Time;
use serde::{Deserialize, Serialize};

/// A short text: the name of a system call, of an interrupt, of a thread. Up to 24 bytes are kept in place.
pub type Name = CompactString;

/// Stands for the begin of the current piece: what existed then has existed since.
pub const PIECE_BEGIN: Time = Time::MIN;

/// A thread of one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ThreadId {
    /// The idle task of a CPU: all of them have the number 0.
    Idle(u32),
    /// A thread by its tid and the begin of its life, because tids are reused. [`PIECE_BEGIN`]: the thread
    /// that had the tid at the begin of the piece.
    Thread {
        /// Its tid in the host's initial pid namespace.
        tid: i32,
        /// When it was forked, or when it was first seen after another thread of that tid had died.
        born: Time,
    },
    /// The thread that ran on a CPU at an instant, while no event has identified it.
    Unidentified {
        /// The CPU.
        cpu: u32,
        /// The instant: [`PIECE_BEGIN`], or the end of a loss.
        since: Time,
    },
}

/// Hashes one word for each thread: tables are accessed at every event.
impl Hash for ThreadId {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let word = |number: u32, time: Time| u64::from(number) ^ (time.ns() as u64).rotate_left(32);
        state.write_u64(match *self {
            Self::Idle(cpu) => word(cpu, Time::MAX),
            Self::Thread { tid, born } => word(tid as u32, born),
            Self::Unidentified { cpu, since } => !word(cpu, since),
        });
    }
}

impl ThreadId {
    /// Its tid, if known.
    pub fn tid(self) -> Option<i32> {
        match self {
            Self::Idle(_) => Some(0),
            Self::Thread { tid, .. } => Some(tid),
            Self::Unidentified { .. } => None,
        }
    }

    /// Whether the facts of a thread under this id are older than those under the id that it turns out to
    /// have: an unidentified thread was seen on its CPU before the events that identify it, but after those
    /// before a loss.
    pub(crate) fn was_before_alias(self) -> bool {
        !matches!(self, Self::Unidentified { since, .. } if since != PIECE_BEGIN)
    }

    /// The leader of its process: tids are reused, so it is the last thread with the tid of the process
    /// that is not younger than the thread. It need not have been seen itself. `last`: the last thread of a
    /// range that is known.
    pub fn leader(self, pid: i32, last: impl FnOnce(RangeInclusive<Self>) -> Option<Self>) -> Option<Self> {
        let Self::Thread { tid, born } = self else { return None };
        if pid == tid {
            return Some(self);
        }
        let first = Self::Thread { tid: pid, born: PIECE_BEGIN };
        Some(last(first..=Self::Thread { tid: pid, born }).unwrap_or(first))
    }

    /// Whether it is an idle task.
    pub fn is_idle(self) -> bool {
        matches!(self, Self::Idle(_))
    }
}

/// Aliases: threads that were identified as others. A thread that is not in the list keeps its id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreadAliases(BTreeMap<ThreadId, ThreadId>);

impl ThreadAliases {
    /// Adds that `from` is `to`.
    pub fn add(&mut self, from: ThreadId, to: ThreadId) {
        if from != to {
            self.0.insert(from, to);
        }
    }

    /// Resolves a thread. Logarithmic in the list, which has a few entries.
    pub fn of(&self, thread: ThreadId) -> ThreadId {
        self.0.get(&thread).copied().unwrap_or(thread)
    }

    /// Resolves a thread in place.
    pub fn change(&self, thread: &mut ThreadId) {
        *thread = self.of(*thread);
    }

    /// As [`Self::change`], if there is a thread.
    pub fn change_some(&self, thread: &mut Option<ThreadId>) {
        *thread = thread.map(|thread| self.of(thread));
    }

    /// Whether there are no aliases.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All aliases: old id, new id.
    pub fn iter(&self) -> impl Iterator<Item = (ThreadId, ThreadId)> + '_ {
        self.0.iter().map(|(&from, &to)| (from, to))
    }
}

/// A pid namespace, and the tid and pid of a thread there. Each container has its own, below that of the
/// host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespace {
    /// Tid of the thread there.
    pub vtid: i32,
    /// Pid of its process there, if recorded.
    pub vpid: Option<i32>,
    /// Nesting depth of the namespace: 0 is that of the host.
    pub level: u32,
    /// Inode number of the namespace, if recorded.
    pub inode: Option<u64>,
}
