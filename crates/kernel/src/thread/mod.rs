//! What a piece knows of one thread: who it is, what it calls, why it is off the CPUs.
//!
//! Part of a `Chunk`. What a piece sees first of a thread waits as its *head* for what the piece before knows last.
//!
//! A loss of events may concern every thread. Instead of going through all of them, the pieces count their losses, and
//! what was true at one count is not relied on at another: see [`Epoch`].

mod calls;
mod facts;
mod waits;

use serde::{Deserialize, Serialize};

pub(crate) use calls::{Calls, Ended};
pub use facts::Facts;
pub(crate) use facts::set_name;
pub(crate) use waits::{Move, Waits};

use crate::id::{Renames, ThreadId, Time};

/// How many losses the piece had had by then, on all CPUs.
pub(crate) type Epoch = u64;

/// What the files were told last of a thread's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Seat {
    /// It is of the one with this number.
    Of(i32),
    /// It has ended: if it is seen again, an event is missing.
    Gone,
}

/// A thread in one piece.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Thread {
    /// The first event that named it.
    pub(crate) first: Option<Time>,
    pub(crate) facts: Facts,
    /// The thread that it was until an exec gave it another number: what was known of that is to be known of it. The piece may
    /// not know it yet.
    pub(crate) was: Option<ThreadId>,
    /// The process that the files were told it is of: while it calls, because a thread that has ended is of none.
    pub(crate) seat: Option<Seat>,
    pub(crate) calls: Calls,
    pub(crate) waits: Waits,
}

impl Thread {
    /// Moves on by the losses of the pieces before.
    pub(crate) fn shift(&mut self, losses: Epoch) {
        self.calls.shift(losses);
        self.waits.shift(losses);
    }

    pub(crate) fn rename(&mut self, renames: &Renames) {
        self.waits.rename(renames);
        self.calls.rename(renames);
        self.was = self.was.map(|was| renames.of(was));
    }

    /// The later of two sightings counts for nothing.
    pub(crate) fn sighted(&mut self, at: Option<Time>) {
        self.first = match (self.first, at) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
}
