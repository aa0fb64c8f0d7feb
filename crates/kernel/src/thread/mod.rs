//! The state of one thread in a piece: its facts, its calls, its waits.
//!
//! Part of a `PartialState`. What a piece sees first of a thread waits as its *head* for the last state of
//! the piece before.

mod facts;
mod faults;
mod names;
mod table;
mod waits;

use serde::{Deserialize, Serialize};

pub use facts::Facts;
pub(crate) use faults::Faults;
pub use faults::PageFault;
pub use names::Names;
pub(crate) use table::{MayEnd, ThreadTable, sort_exec_renames};
pub(crate) use waits::{SchedChange, Waits};

use crate::id::{Name, PIECE_BEGIN, ThreadAliases, ThreadId, Time};
use crate::in_flight::PendingCall;
use crate::loss_tracker::LossCount;
use crate::span::Spans;

/// The last membership of a thread that was passed to the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Membership {
    /// It is of the process with this pid.
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
    fact_times: FactTimes,
    /// When it ended, in a piece that keeps it beyond that: it has no later facts.
    ended: Option<Time>,
    /// The thread that it was until an exec renumbered it: the facts of that are to be added to its own. The
    /// piece may not know them yet.
    pub(crate) was: Option<ThreadId>,
    /// Its process as passed to the files: while it makes calls, because a thread that has ended is of none.
    pub(crate) membership: Option<Membership>,
    /// Its call, if its events carry its id.
    pub(crate) call: PendingCall,
    /// Its call while it is off the CPUs, if they do not.
    pub(crate) call_off: PendingCall,
    pub(crate) waits: Waits,
    /// Its page faults, where the trace records them.
    pub(crate) faults: Option<Box<Faults>>,
}

/// Times of the last facts from events whose thread may be unidentified. Such a thread and a known one may
/// turn out to be one after events of both alternated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct FactTimes {
    comm: Time,
    pid: Time,
    program: Time,
}

impl Default for FactTimes {
    fn default() -> Self {
        Self { comm: PIECE_BEGIN, pid: PIECE_BEGIN, program: PIECE_BEGIN }
    }
}

impl Thread {
    /// It has ended.
    pub(crate) fn end(&mut self, at: Time) {
        self.ended.get_or_insert(at);
    }

    /// It turned out to be `id`: it has not ended if it got its number anew in the instant at which it was
    /// seen first.
    pub(crate) fn begin_anew(&mut self, id: ThreadId) {
        self.ended.take_if(|end| matches!(id, ThreadId::Thread { born, .. } if born == *end));
    }

    /// Sets the program that it executes.
    pub(crate) fn set_program(&mut self, filename: &[u8], at: Time) {
        if self.ended.is_none() {
            self.facts.program = Some(Name::from_utf8_lossy(filename));
            self.fact_times.program = at;
        }
    }

    /// Sets its name; an empty one is ignored.
    pub(crate) fn set_comm(&mut self, comm: &[u8], at: Time) {
        if !comm.is_empty() && self.ended.is_none() {
            self.facts.names.see(comm, at);
            self.fact_times.comm = at;
        }
    }

    /// Sets its pid.
    pub(crate) fn set_pid(&mut self, pid: i32, at: Time) {
        if self.ended.is_none() {
            self.facts.pid = Some(pid);
            self.fact_times.pid = at;
        }
    }

    /// Drops facts from events after an instant.
    fn forget_since(&mut self, end: Time) {
        let Self { facts, fact_times: FactTimes { comm, pid, program }, .. } = self;
        facts.names.end(end);
        *comm = end.min(*comm);
        facts.pid.take_if(|_| *pid > end);
        facts.program.take_if(|_| *program > end);
    }

    /// Sets its process, while it makes calls. Returns whether the files do not know it yet.
    pub(crate) fn join(&mut self, pid: i32, at: Time) -> bool {
        self.set_pid(pid, at);
        self.membership.replace(Membership::Of(pid)) != Some(Membership::Of(pid))
    }

    /// Merges the state of the same thread under another id. The later facts count; of equal times, those of
    /// `there`.
    pub(crate) fn learn(&mut self, there: &mut Self) {
        self.ended = self.ended.into_iter().chain(there.ended).min();
        if let Some(end) = self.ended {
            self.forget_since(end);
            there.forget_since(end);
        }
        let Self { facts, fact_times, .. } = self;
        let mut names = std::mem::take(&mut facts.names);
        names.interleave(std::mem::take(&mut there.facts.names), fact_times.comm, there.fact_times.comm);
        let pid = facts.pid.take_if(|_| there.fact_times.pid < fact_times.pid);
        let program = facts.program.take_if(|_| there.fact_times.program < fact_times.program);
        facts.append(std::mem::take(&mut there.facts));
        facts.names = names;
        facts.pid = pid.or(facts.pid);
        facts.program = program.or(facts.program.take());
        fact_times.comm = fact_times.comm.max(there.fact_times.comm);
        fact_times.pid = fact_times.pid.max(there.fact_times.pid);
        fact_times.program = fact_times.program.max(there.fact_times.program);
        self.was = there.was.or(self.was);
        self.membership = there.membership.or(self.membership);
        // The first sighting counts.
        self.first = self.first.into_iter().chain(there.first).min();
    }

    /// Its page faults, to be followed.
    pub(crate) fn faults(&mut self) -> &mut Faults {
        self.faults.get_or_insert_default()
    }

    /// Appends what it waited for in the next piece, which has been shifted by the losses of this one, which
    /// ends at `boundary`. `follows_faults`: whether the trace records page faults.
    pub(crate) fn append(
        &mut self,
        id: ThreadId,
        right: &Self,
        boundary: LossCount,
        follows_faults: bool,
        spans: &mut impl Spans,
    ) {
        self.waits.append(id, right.waits, boundary, spans);
        if let Some(right) = right.faults.as_deref().filter(|_| follows_faults) {
            self.faults().append(id, *right, spans);
        }
    }

    pub(crate) fn rename(&mut self, aliases: &ThreadAliases) {
        self.waits.rename(aliases);
        self.call.rename(aliases);
        self.call_off.rename(aliases);
        aliases.change_some(&mut self.was);
    }
}
