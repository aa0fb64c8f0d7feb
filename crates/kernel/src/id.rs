//! Who is who: threads by their numbers and lives, and threads that are known only as whoever ran on a CPU.
//!
//! Everything else in this crate keys what it counts by [`ThreadId`]. When pieces of a trace are merged, names that were
//! relative to a piece's begin get their meaning from the piece before: [`ThreadAliases`] carries them.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

/// A short text: the name of a system call, of an interrupt, of a thread. Up to 24 bytes are kept in place.
pub type Name = CompactString;

/// Raw time on a host's clock, ns: what the clock itself shows, without any offset.
pub type Time = i64;

/// Stands for the begin of the piece in hand, whatever that is: what was there already has been there since.
pub const PIECE_BEGIN: Time = Time::MIN;

/// A thread of one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ThreadId {
    /// The idle task of a CPU: all of them have the number 0.
    Idle(u32),
    /// A thread by its number and the begin of its life, because numbers are used again. [`PIECE_BEGIN`]: whoever had the number
    /// at the begin of the piece.
    Thread {
        /// Its number, as all of the host sees it (not as a namespace does).
        tid: i32,
        /// When it was forked, or when it was first seen after another one of that number had died.
        born: Time,
    },
    /// Whoever ran on a CPU at an instant, while nothing has told yet who that is.
    Unidentified {
        /// The CPU.
        cpu: u32,
        /// The instant: [`PIECE_BEGIN`], or the end of a loss.
        since: Time,
    },
}

/// One word for each thread: tables are looked into at every event.
impl Hash for ThreadId {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let word = |number: u32, time: Time| u64::from(number) ^ (time as u64).rotate_left(32);
        state.write_u64(match *self {
            Self::Idle(cpu) => word(cpu, Time::MAX),
            Self::Thread { tid, born } => word(tid as u32, born),
            Self::Unidentified { cpu, since } => !word(cpu, since),
        });
    }
}

impl ThreadId {
    /// Its number, if that is known.
    pub fn tid(self) -> Option<i32> {
        match self {
            Self::Idle(_) => Some(0),
            Self::Thread { tid, .. } => Some(tid),
            Self::Unidentified { .. } => None,
        }
    }

    /// Whether it is an idle task.
    pub fn is_idle(self) -> bool {
        matches!(self, Self::Idle(_))
    }
}

/// Threads that turned out to be others. A thread that is not in the list keeps its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreadAliases(BTreeMap<ThreadId, ThreadId>);

impl ThreadAliases {
    /// Notes that `from` is `to`.
    pub fn add(&mut self, from: ThreadId, to: ThreadId) {
        if from != to {
            self.0.insert(from, to);
        }
    }

    /// What a thread is called now. Logarithmic in the list, which has a few entries.
    pub fn of(&self, thread: ThreadId) -> ThreadId {
        self.0.get(&thread).copied().unwrap_or(thread)
    }

    /// Calls a thread what it is called now.
    pub fn change(&self, thread: &mut ThreadId) {
        *thread = self.of(*thread);
    }

    /// As [`Self::change`], where a thread is known.
    pub fn change_some(&self, thread: &mut Option<ThreadId>) {
        *thread = thread.map(|thread| self.of(thread));
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The threads that are called otherwise now: before, after.
    pub fn iter(&self) -> impl Iterator<Item = (ThreadId, ThreadId)> + '_ {
        self.0.iter().map(|(&from, &to)| (from, to))
    }
}
