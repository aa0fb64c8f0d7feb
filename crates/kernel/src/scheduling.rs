//! Handlers of scheduler events of a [`PartialState`]: switch, wake-up, fork, exec.
//!
//! The other half of `partial_state.rs`. Identifies threads and tids, and passes the consequences to waits and files.

use crate::calls::clone_flag;
use crate::event::{EventContext, PrevState, TaskRef};
use crate::files::FileOp;
use crate::id::{Name, PIECE_BEGIN, ThreadAliases, ThreadId, Time};
use crate::in_flight::{CallOwner, CallTracker};
use crate::partial_state::{COMM, PartialState};
use crate::span::{Cause, Spans, ThreadChange, ThreadEvent, Wakeup};
use crate::thread::SchedChange;

impl<S: Spans> PartialState<S> {
    pub(crate) fn switch(
        &mut self,
        context: &EventContext<'_>,
        prev: TaskRef<'_>,
        prev_state: PrevState,
        next: TaskRef<'_>,
    ) {
        let (at, cpu, loss_count) = (context.time, context.cpu, self.complete.loss_count(context.time));
        let prev_thread = self.named_on(cpu, prev, at);
        if let (Some(tid), Some(pid)) = (context.tid, context.pid)
            && tid == prev.tid
            && tid != 0
        {
            self.threads.or_default(prev_thread).set_pid(pid, at);
        }
        self.settle_current(cpu, prev_thread);
        if prev_state == PrevState::Dead && !prev_thread.is_idle() {
            self.tids.end(prev_thread);
            self.threads.or_default(prev_thread).facts.dead = Some(at);
            self.emit_change(prev_thread, at, ThreadChange::Died);
            self.leave_process(prev_thread, at);
        }
        let next_thread = self.named_on(cpu, next, at);
        let priority = next.priority;
        let is_first = self.is_first();
        let Self { cpus, threads, deferred_effects, spans, .. } = self;
        let on = cpus.or_default(cpu);
        on.timeline.switch(cpu, at, prev_thread, (next_thread, Some(priority)), spans);
        on.switched = Some(at);
        on.contexts.switch();
        let here = CallOwner::Cpu(cpu);
        if prev_thread.is_idle() {
            // Idle tasks make no calls: a switch is missing.
            CallTracker { is_first, deferred_effects, spans }.drop(&mut on.call, here);
        } else {
            let there = threads.or_default(prev_thread);
            there.waits.step(prev_thread, SchedChange::OffCpu { at, prev_state }, loss_count, spans);
            let off_cpu = (&mut there.call_off, CallOwner::OffCpu(prev_thread));
            CallTracker { is_first, deferred_effects, spans }.transfer((&mut on.call, here), off_cpu);
        }
        if !next_thread.is_idle() {
            let there = threads.or_default(next_thread);
            there.facts.priority = Some(priority);
            there.waits.step(next_thread, SchedChange::On { at, cpu, priority }, loss_count, spans);
            let off_cpu = (&mut there.call_off, CallOwner::OffCpu(next_thread));
            CallTracker { is_first, deferred_effects, spans }.transfer(off_cpu, (&mut on.call, here));
        }
        if prev_state == PrevState::Dead {
            self.retire(prev_thread);
        }
    }

    /// Identifies the thread that runs on a CPU, if it was unidentified.
    fn settle_current(&mut self, cpu: u32, thread: ThreadId) {
        let current = self.cpus.or_default(cpu).timeline.current(cpu);
        // The thread at the begin of a piece is identified by the piece before, unless there is none.
        if let ThreadId::Unidentified { since, .. } = current
            && (since != PIECE_BEGIN || self.is_first())
        {
            let mut aliases = ThreadAliases::default();
            aliases.add(current, thread);
            self.rename_parts(&aliases);
            // A piece that does not know its begin executes no file operations: its log, which may be long, is renamed once
            // at the end.
            if self.is_first() {
                self.rename_in_files(&aliases);
            }
            self.pending_aliases.add(current, thread);
        }
    }

    pub(crate) fn wakeup(
        &mut self,
        context: &EventContext<'_>,
        who: TaskRef<'_>,
        target_cpu: Option<u32>,
        cause: Cause,
    ) {
        if let Some(cpu) = target_cpu {
            self.reference_cpu(cpu);
        }
        let waker = self.current(context);
        let (at, loss_count) = (context.time, self.complete.loss_count(context.time));
        if let Some(thread) = self.named(who, at) {
            let (cpu, is_first) = (context.cpu, self.is_first());
            let wake = Wakeup { thread, at, cpu, target_cpu, waker, cause };
            if let Some(wake) = self.contexts_at(cpu, at).wake(wake, is_first) {
                self.spans.wakeup(&wake);
            }
            self.threads.or_default(thread).waits.wake(thread, at, Some(waker), loss_count, &mut self.spans);
        }
    }

    pub(crate) fn emit_change(&mut self, thread: ThreadId, at: Time, what: ThreadChange) {
        self.spans.thread_event(&ThreadEvent { thread, at, what });
    }

    pub(crate) fn fork(
        &mut self,
        context: &EventContext<'_>,
        parent: i32,
        parent_pid: Option<i32>,
        child: i32,
        child_pid: Option<i32>,
        comm: &[u8],
    ) -> ThreadId {
        let (at, loss_count) = (context.time, self.complete.loss_count(context.time));
        let parent = self.numbered(parent, at);
        // The call is owned by the thread that runs here, which may be unidentified.
        let caller = Self::owner(self.current(context), context);
        if let Some(pid) = parent_pid {
            self.join_process(parent, pid, at);
        }
        let (thread, gone) = self.tids.begin(child, at);
        if let Some(gone) = gone {
            self.retire(gone);
        }
        let point = self.call_point(thread, context, |_| {});
        let flags = self.fork_in_call(caller, (thread, point));
        let shares_table = match (flags, child_pid) {
            (Some(flags), _) => flags & clone_flag::FILES != 0,
            // Further threads of a process share all they can.
            (None, Some(pid)) => pid != child,
            (None, None) => false,
        };
        let there = self.threads.or_default(thread);
        there.first = Some(at);
        there.facts.was_forked = true;
        there.waits.fork(loss_count);
        there.set_comm(comm, at);
        if child_pid.is_none_or(|pid| pid == child) {
            there.facts.parent = parent_pid.or(parent.tid());
        }
        self.emit_change(thread, at, ThreadChange::Forked { parent, comm: Name::from_utf8_lossy(comm) });
        let is_guess = flags.is_none();
        self.files.note(FileOp::Fork { parent, child: thread, at, shares_table, is_guess }, &mut self.spans);
        if let Some(pid) = child_pid {
            self.join_process(thread, pid, at);
        }
        thread
    }

    pub(crate) fn exec(
        &mut self,
        context: &EventContext<'_>,
        filename: &[u8],
        tid: Option<i32>,
        old_tid: Option<i32>,
    ) {
        let at = context.time;
        let mut thread = match old_tid.or(tid) {
            Some(tid) => self.numbered(tid, at),
            None => self.current(context),
        };
        if let (Some(tid), Some(old)) = (tid, old_tid)
            && tid != old
        {
            thread = self.take_number_of_leader(context, thread, tid);
        }
        self.emit_change(thread, at, ThreadChange::Executed { program: Name::from_utf8_lossy(filename) });
        self.files.note(FileOp::Exec { thread, at }, &mut self.spans);
        let there = self.threads.or_default(thread);
        if !filename.is_empty() {
            there.facts.program = Some(Name::from_utf8_lossy(filename));
        }
        let base = filename.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        there.set_comm(&base[..base.len().min(COMM)], at);
    }

    /// A thread that executes a program becomes the leader of its process: all other threads end, and it has the tid of the
    /// leader from now on.
    fn take_number_of_leader(&mut self, context: &EventContext<'_>, thread: ThreadId, tid: i32) -> ThreadId {
        let (at, cpu, loss_count) = (context.time, context.cpu, self.complete.loss_count(context.time));
        self.tids.end(thread);
        let (leader, gone) = self.tids.begin(tid, at);
        if let Some(gone) = gone {
            self.retire(gone);
        }
        let there = self.threads.or_default(leader);
        there.first = Some(at);
        there.was = Some(thread);
        there.set_pid(tid, at);
        self.threads.or_default(thread).facts.dead = Some(at);
        self.emit_change(leader, at, ThreadChange::Renumbered { was: thread });
        self.emit_change(thread, at, ThreadChange::Died);
        self.files.note(
            FileOp::Fork { parent: thread, child: leader, at, shares_table: true, is_guess: false },
            &mut self.spans,
        );
        self.leave_process(thread, at);
        self.settle_current(cpu, thread);
        self.move_call(thread, leader);
        self.cpus.or_default(cpu).timeline.switch(cpu, at, thread, (leader, None), &mut self.spans);
        let Self { threads, spans, .. } = self;
        threads.or_default(thread).waits.step(
            thread,
            SchedChange::OffCpu { at, prev_state: PrevState::Dead },
            loss_count,
            spans,
        );
        threads.or_default(leader).waits.step(
            leader,
            SchedChange::On { at, cpu, priority: 0 },
            loss_count,
            spans,
        );
        self.inherit(vec![(leader, thread)]);
        self.retire(thread);
        leader
    }
}
