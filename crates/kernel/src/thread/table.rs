//! The threads of a piece, by id and by tid.
//!
//! Part of a `PartialState`. Tids are reused: [`TidTable`] has the thread that has a tid now.

use serde::{Deserialize, Serialize};

use super::{Faults, Thread};
use crate::call_owner::CallOwner;
use crate::canonical_map::CanonicalMap;
use crate::event::TaskRef;
use crate::id::{PIECE_BEGIN, ThreadAliases, ThreadId, Time};
use crate::in_flight::PendingCall;
use crate::loss_tracker::LossCount;
use crate::span::Spans;
use crate::tid_table::TidTable;

/// The threads of a piece.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ThreadTable {
    by_id: CanonicalMap<ThreadId, Thread>,
    pub(crate) tids: TidTable,
    /// Whether the trace records page faults.
    pub(crate) follows_faults: bool,
}

/// A thread that an exec gave another id: new id, old id.
pub(crate) type ExecRename = (ThreadId, ThreadId);

/// Threads that may have ended when the next piece is appended.
#[derive(Debug, Default)]
pub(crate) struct MayEnd {
    /// All of them, sorted.
    pub(crate) threads: Vec<ThreadId>,
    /// Those that had ended before.
    pub(crate) orphans: Vec<ThreadId>,
    pub(crate) exec_renames: Vec<ExecRename>,
}

/// Sorts threads by begin of life: a thread that was renamed later may have been renamed by an earlier exec.
pub(crate) fn sort_exec_renames(renames: &mut [ExecRename]) {
    renames.sort_by_key(|&(thread, _)| match thread {
        ThreadId::Thread { born, .. } => born,
        ThreadId::Idle(_) | ThreadId::Unidentified { .. } => PIECE_BEGIN,
    });
}

impl ThreadTable {
    #[inline]
    pub(crate) fn get(&self, thread: ThreadId) -> Option<&Thread> {
        self.by_id.get(&thread)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, thread: ThreadId) -> Option<&mut Thread> {
        self.by_id.get_mut(&thread)
    }

    #[inline]
    pub(crate) fn or_default(&mut self, thread: ThreadId) -> &mut Thread {
        self.by_id.or_default(thread)
    }

    /// The page faults of a thread; `None` where none are recorded. Also of idle tasks: at the start
    /// of a piece it is unknown which thread runs.
    #[inline]
    pub(crate) fn faults(&mut self, thread: ThreadId) -> Option<&mut Faults> {
        self.follows_faults.then(|| self.by_id.or_default(thread).faults())
    }

    pub(crate) fn remove(&mut self, thread: ThreadId) -> Option<Thread> {
        self.by_id.remove(&thread)
    }

    /// All threads, in arbitrary order.
    pub(crate) fn unordered(&self) -> impl Iterator<Item = (ThreadId, &Thread)> {
        self.by_id.unordered().map(|(&id, thread)| (id, thread))
    }

    /// Takes all threads, by id.
    pub(crate) fn into_sorted(self) -> Vec<(ThreadId, Thread)> {
        self.by_id.into_sorted()
    }

    /// The thread that has a tid at a time.
    #[inline]
    pub(crate) fn by_tid(&mut self, tid: i32, at: Time) -> (ThreadId, &mut Thread) {
        let id = self.tids.get(tid, at);
        let thread = self.by_id.or_default(id);
        thread.first.get_or_insert(at);
        (id, thread)
    }

    /// The thread of a task that an event names, unless it is an idle task.
    #[inline]
    pub(crate) fn of_task(&mut self, task: TaskRef<'_>, at: Time) -> Option<ThreadId> {
        if task.tid == 0 {
            return None;
        }
        let (id, thread) = self.by_tid(task.tid, at);
        thread.set_comm(task.comm, at);
        Some(id)
    }

    /// As [`Self::of_task`], of a task on a CPU, which may be the idle task of that.
    #[inline]
    pub(crate) fn of_task_on(&mut self, cpu: u32, task: TaskRef<'_>, at: Time) -> ThreadId {
        self.of_task(task, at).unwrap_or(ThreadId::Idle(cpu))
    }

    /// Threads that have ended although later events name them, where a switch is missing; sorted.
    pub(crate) fn ended(&self) -> Vec<ThreadId> {
        let mut ended: Vec<_> =
            self.by_id.unordered().map(|(&id, _)| id).filter(|&id| self.tids.is_over(id)).collect();
        ended.sort_unstable();
        ended
    }

    /// Threads that may have ended when the threads of the next piece are appended.
    pub(crate) fn may_end(&self, right: &Self) -> MayEnd {
        let mut threads: Vec<ThreadId> = right.unordered().map(|(id, _)| id).collect();
        threads.extend(self.tids.replaced_by(&right.tids));
        threads.sort_unstable();
        threads.dedup();
        let is_orphan = |id: &ThreadId| self.get(*id).is_none() && self.tids.was_over(*id);
        let orphans = right.unordered().map(|(id, _)| id).filter(is_orphan).collect();
        let exec_renames = right.unordered().filter_map(|(id, thread)| Some((id, thread.was?))).collect();
        MayEnd { threads, orphans, exec_renames }
    }

    /// Gives renamed threads the facts of the threads that they were before an exec.
    pub(crate) fn inherit(&mut self, mut renames: Vec<ExecRename>) {
        sort_exec_renames(&mut renames);
        for (id, was) in renames {
            let before = self.get(was).map(|thread| thread.facts.clone());
            if let Some(thread) = self.get_mut(id) {
                thread.was = None;
                if let Some(before) = before {
                    thread.facts.inherit(before);
                }
            }
        }
    }

    /// Appends the threads of the next piece, without their tids. `losses`: of this piece; `boundary`: the
    /// loss count at its end. Returns the calls that threads own where these are others than before.
    pub(crate) fn append(
        &mut self,
        right: CanonicalMap<ThreadId, Thread>,
        losses: u64,
        boundary: LossCount,
        spans: &mut impl Spans,
    ) -> Vec<(CallOwner, PendingCall)> {
        let (mut calls, follows_faults) = (Vec::new(), self.follows_faults);
        let mut keep = |owner, pending: &mut PendingCall| {
            if *pending != PendingCall::Inherited {
                calls.push((owner, std::mem::take(pending)));
            }
        };
        for (id, mut right) in right.into_unordered() {
            right.waits.shift(losses);
            if let Some(faults) = &mut right.faults {
                faults.shift(losses);
            }
            keep(CallOwner::Named(id), &mut right.call);
            keep(CallOwner::OffCpu(id), &mut right.call_off);
            self.by_id.join(id, right, |left, mut right| {
                left.learn(&mut right);
                left.append(id, &right, boundary, follows_faults, spans);
            });
        }
        calls
    }

    /// Takes the threads out, and leaves their tids.
    pub(crate) fn take(&mut self) -> CanonicalMap<ThreadId, Thread> {
        std::mem::take(&mut self.by_id)
    }

    /// Renames threads. What the union of two threads makes known is emitted with the resolved ids.
    pub(crate) fn rename(&mut self, aliases: &ThreadAliases, spans: &mut impl Spans) {
        self.tids.rename(aliases);
        self.by_id.unordered_mut().for_each(|(_, thread)| thread.rename(aliases));
        let follows_faults = self.follows_faults;
        let moved: Vec<_> =
            aliases.iter().filter_map(|(from, to)| Some((from, to, self.by_id.remove(&from)?))).collect();
        for (from, id, thread) in moved {
            // Two threads are one.
            self.by_id.join(id, thread, |known, mut thread| {
                thread.begin_anew(id);
                let mut later =
                    if from.was_before_alias() { std::mem::replace(known, thread) } else { thread };
                known.learn(&mut later);
                let calls = [&mut later.call, &mut later.call_off].map(std::mem::take);
                for (call, later) in [&mut known.call, &mut known.call_off].into_iter().zip(calls) {
                    if later != PendingCall::Inherited {
                        call.finish(spans);
                        *call = later;
                    }
                }
                known.append(id, &later, LossCount::ZERO, follows_faults, spans);
            });
        }
    }
}
