//! What a piece knows of one thread: who it is, what it calls, why it is off the CPUs.
//!
//! Part of a `Chunk`. What a piece sees first of a thread waits as its *head* for what the piece before knows last.

mod facts;
mod waits;

use serde::{Deserialize, Serialize};

pub use facts::Facts;
pub(crate) use facts::set_name;
pub(crate) use waits::{Move, Waits};

use crate::id::{BEGIN, Renames, ThreadId, Time};
use crate::under_way::Held;

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
    said: Said,
    /// The thread that it was until an exec gave it another number: what was known of that is to be known of it. The piece may
    /// not know it yet.
    pub(crate) was: Option<ThreadId>,
    /// The process that the files were told it is of: while it calls, because a thread that has ended is of none.
    pub(crate) seat: Option<Seat>,
    /// Its call, if its events tell that they are its own.
    pub(crate) call: Held,
    /// Its call while it is off the CPUs, if they do not.
    pub(crate) call_off: Held,
    pub(crate) waits: Waits,
}

/// When facts were said last that events tell which may not know yet whose they are. Such a thread and a known one may turn out
/// to be one after both were seen in turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Said {
    comm: Time,
    pid: Time,
}

impl Default for Said {
    fn default() -> Self {
        Self { comm: BEGIN, pid: BEGIN }
    }
}

impl Thread {
    /// It is called so; an empty name says nothing.
    pub(crate) fn set_comm(&mut self, comm: &[u8], at: Time) {
        if !comm.is_empty() {
            set_name(&mut self.facts.comm, comm);
            self.said.comm = at;
        }
    }

    /// It is of the process with this number.
    pub(crate) fn set_pid(&mut self, pid: i32, at: Time) {
        self.facts.pid = Some(pid);
        self.said.pid = at;
    }

    /// Takes over what is known of it elsewhere. What was said last counts: of the same time, what is there.
    pub(crate) fn learn(&mut self, there: &mut Self) {
        let Self { facts, said, .. } = self;
        let comm = facts.comm.take_if(|_| there.said.comm < said.comm);
        let pid = facts.pid.take_if(|_| there.said.pid < said.pid);
        facts.append(std::mem::take(&mut there.facts));
        facts.comm = comm.or(facts.comm.take());
        facts.pid = pid.or(facts.pid);
        said.comm = said.comm.max(there.said.comm);
        said.pid = said.pid.max(there.said.pid);
        self.was = there.was.or(self.was);
        self.seat = there.seat.or(self.seat);
        self.sighted(there.first);
    }

    /// Moves on by the losses of the pieces before.
    pub(crate) fn shift(&mut self, losses: u64) {
        self.waits.shift(losses);
    }

    pub(crate) fn rename(&mut self, renames: &Renames) {
        self.waits.rename(renames);
        self.call.rename(renames);
        self.call_off.rename(renames);
        self.was = self.was.map(|was| renames.of(was));
    }

    /// The later of two sightings counts for nothing.
    fn sighted(&mut self, at: Option<Time>) {
        self.first = match (self.first, at) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
}
