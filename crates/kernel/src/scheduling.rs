//! Handlers of scheduler events of a [`PartialState`]: switch, wake-up, fork, exec.
//!
//! The other half of `partial_state.rs`. Identifies threads and tids, and passes the consequences to waits
//! and files.

use crate::call_owner::CallOwner;
use crate::calls::clone_flag;
use crate::event::{EventContext, ForkEvent, PrevState, TaskRef};
use crate::files::FileOp;
use crate::id::{Name, PIECE_BEGIN, ThreadAliases, ThreadId, Time};
use crate::in_flight::{CallTracker, OwnedCall};
use crate::partial_state::PartialState;
use crate::span::{Cause, Spans, ThreadChange, ThreadEvent, Wakeup};
use crate::thread::SchedChange;
use crate::timeline::NextThread;

/// Maximum bytes of a thread's name (`TASK_COMM_LEN` of Linux, without the zero at its end).
const MAX_COMM: usize = 15;

impl<S: Spans> PartialState<S> {
    pub(crate) fn switch(
        &mut self,
        context: &EventContext<'_>,
        prev: TaskRef<'_>,
        prev_state: PrevState,
        next: TaskRef<'_>,
    ) {
        let (at, cpu, loss_count) = (context.time, context.cpu, self.losses.kernel.loss_count(context.time));
        let prev_thread = self.threads.of_task_on(cpu, prev, at);
        if let (Some(tid), Some(pid)) = (context.tid, context.pid)
            && tid == prev.tid
            && tid != 0
        {
            self.threads.or_default(prev_thread).set_pid(pid, at);
        }
        self.resolve_current(cpu, prev_thread);
        if prev_state == PrevState::Dead && !prev_thread.is_idle() {
            self.threads.tids.end(prev_thread);
            self.threads.or_default(prev_thread).facts.dead = Some(at);
            self.emit_change(prev_thread, at, ThreadChange::Died);
            self.leave_process(prev_thread, at);
        }
        let next_thread = self.threads.of_task_on(cpu, next, at);
        let priority = next.priority;
        let is_first = self.is_first();
        let Self { cpus, threads, deferred, spans, .. } = self;
        let on = cpus.or_default(cpu);
        let next = NextThread { thread: next_thread, priority: Some(priority) };
        on.timeline.switch(cpu, at, prev_thread, next, spans);
        on.switched = Some(at);
        on.contexts.switch();
        let here = CallOwner::Cpu(cpu);
        if prev_thread.is_idle() {
            // Idle tasks make no calls: a switch is missing.
            CallTracker { is_first, deferred, spans }.drop(&mut on.call, here);
        } else {
            let thread = threads.or_default(prev_thread);
            thread.waits.step(prev_thread, SchedChange::OffCpu { at, prev_state }, loss_count, spans);
            let on_cpu = OwnedCall { owner: here, call: &mut on.call };
            let off_cpu = OwnedCall { owner: CallOwner::OffCpu(prev_thread), call: &mut thread.call_off };
            CallTracker { is_first, deferred, spans }.transfer(on_cpu, off_cpu);
        }
        if !next_thread.is_idle() {
            let thread = threads.or_default(next_thread);
            thread.facts.priority = Some(priority);
            thread.waits.step(next_thread, SchedChange::On { at, cpu, priority }, loss_count, spans);
            let on_cpu = OwnedCall { owner: here, call: &mut on.call };
            let off_cpu = OwnedCall { owner: CallOwner::OffCpu(next_thread), call: &mut thread.call_off };
            CallTracker { is_first, deferred, spans }.transfer(off_cpu, on_cpu);
        }
        if prev_state == PrevState::Dead {
            self.end_thread(prev_thread, at);
        }
    }

    /// Identifies the thread that runs on a CPU, if it was unidentified.
    fn resolve_current(&mut self, cpu: u32, thread: ThreadId) {
        let current = self.cpus.or_default(cpu).timeline.current(cpu);
        // The thread at the begin of a piece is identified by the piece before, unless there is none.
        if let ThreadId::Unidentified { since, .. } = current
            && (since != PIECE_BEGIN || self.is_first())
        {
            let mut aliases = ThreadAliases::default();
            aliases.add(current, thread);
            self.rename_parts(&aliases);
            // A piece that does not know its begin executes no file operations: its log, which may be long,
            // is renamed once at the end.
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
        let waker = self.current_thread(context);
        let (at, loss_count) = (context.time, self.losses.kernel.loss_count(context.time));
        if let Some(thread) = self.threads.of_task(who, at) {
            let (cpu, is_first) = (context.cpu, self.is_first());
            let wake = Wakeup { thread, at, cpu, target_cpu, waker, cause };
            if let Some(wake) = self.cpus.contexts_at(cpu, at).wake(wake, is_first) {
                self.spans.wakeup(&wake);
            }
            self.threads.or_default(thread).waits.wake(thread, at, Some(waker), loss_count, &mut self.spans);
        }
    }

    pub(crate) fn emit_change(&mut self, thread: ThreadId, at: Time, what: ThreadChange) {
        self.spans.thread_event(&ThreadEvent { thread, at, what });
    }

    pub(crate) fn fork(&mut self, context: &EventContext<'_>, event: &ForkEvent<'_>) {
        let &ForkEvent { parent, parent_pid, child, child_pid, child_comm: comm, inner } = event;
        let (at, loss_count) = (context.time, self.losses.kernel.loss_count(context.time));
        let (parent, _) = self.threads.by_tid(parent, at);
        // The call is owned by the thread that runs here, which may be unidentified.
        let caller = CallOwner::of(self.current_thread(context), context.tid, context.cpu);
        if let Some(pid) = parent_pid {
            self.join_process(parent, pid, at);
        }
        let thread = ThreadId::Thread { tid: child, born: at };
        let point = self.call_point(thread, context, |_| {});
        // Before a thread ends that had the child's number: where a switch is missing, it may be the caller.
        let flags = self.calls().fork(caller, thread, point);
        if let (_, Some(gone)) = self.threads.tids.begin(child, at) {
            self.end_thread(gone, at);
        }
        let shares_table = match (flags, child_pid) {
            (Some(flags), _) => flags & clone_flag::FILES != 0,
            // Further threads of a process share all they can.
            (None, Some(pid)) => pid != child,
            (None, None) => false,
        };
        let known = self.threads.or_default(thread);
        known.first = Some(at);
        known.facts.was_forked = true;
        known.facts.inner = inner;
        known.waits.fork(loss_count);
        known.set_comm(comm, at);
        if child_pid.is_none_or(|pid| pid == child) {
            known.facts.parent = parent_pid.or(parent.tid());
        }
        self.emit_change(thread, at, ThreadChange::Forked { parent, comm: Name::from_utf8_lossy(comm) });
        let is_guess = flags.is_none();
        self.files.note(FileOp::Fork { parent, child: thread, at, shares_table, is_guess }, &mut self.spans);
        if let Some(pid) = child_pid {
            self.join_process(thread, pid, at);
        }
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
            Some(tid) => self.threads.by_tid(tid, at).0,
            None => self.current_thread(context),
        };
        if let (Some(tid), Some(old)) = (tid, old_tid)
            && tid != old
        {
            thread = self.take_number_of_leader(context, thread, tid);
        }
        self.emit_change(thread, at, ThreadChange::Executed { program: Name::from_utf8_lossy(filename) });
        self.files.note(FileOp::Exec { thread, at }, &mut self.spans);
        let known = self.threads.or_default(thread);
        if !filename.is_empty() {
            known.set_program(filename, at);
        }
        let base = filename.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        known.set_comm(&base[..base.len().min(MAX_COMM)], at);
    }

    /// A thread that executes a program becomes the leader of its process: all other threads end, and it has
    /// the tid of the leader from now on.
    fn take_number_of_leader(&mut self, context: &EventContext<'_>, thread: ThreadId, tid: i32) -> ThreadId {
        let (at, cpu, loss_count) = (context.time, context.cpu, self.losses.kernel.loss_count(context.time));
        self.threads.tids.end(thread);
        let (leader, gone) = self.threads.tids.begin(tid, at);
        if let Some(gone) = gone {
            self.end_thread(gone, at);
        }
        let known = self.threads.or_default(leader);
        known.first = Some(at);
        known.was = Some(thread);
        known.set_pid(tid, at);
        self.threads.or_default(thread).facts.dead = Some(at);
        self.emit_change(leader, at, ThreadChange::Renumbered { was: thread });
        self.emit_change(thread, at, ThreadChange::Died);
        self.files.note(
            FileOp::Fork { parent: thread, child: leader, at, shares_table: true, is_guess: false },
            &mut self.spans,
        );
        self.leave_process(thread, at);
        self.resolve_current(cpu, thread);
        self.calls().move_call(thread, leader);
        let Self { cpus, threads, spans, .. } = self;
        let next = NextThread { thread: leader, priority: None };
        cpus.or_default(cpu).timeline.switch(cpu, at, thread, next, spans);
        let off = SchedChange::OffCpu { at, prev_state: PrevState::Dead };
        threads.or_default(thread).waits.step(thread, off, loss_count, spans);
        let on = SchedChange::On { at, cpu, priority: 0 };
        threads.or_default(leader).waits.step(leader, on, loss_count, spans);
        if self.is_first() {
            self.threads.inherit(vec![(leader, thread)]);
        }
        self.end_thread(thread, at);
        leader
    }
}
