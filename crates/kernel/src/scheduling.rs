//! What threads do, as a [`Chunk`] takes it: who is switched to, woken and forked, who executes a program.
//!
//! The other half of `chunk.rs`. Who was there, which number means whom, and what follows for waits and files is
//! settled here.

use crate::calls::clone_flag;
use crate::chunk::{COMM, Chunk, Turn};
use crate::files::FileOp;
use crate::happening::{Left, Moment, Party};
use crate::id::{BEGIN, Name, Renames, ThreadId, Time};
use crate::span::{Spans, ThreadChange, ThreadEvent, Wakeup};
use crate::thread::{Move, set_name};
use crate::under_way::{Keeper, Ledger};

impl<S: Spans> Chunk<S> {
    pub(crate) fn switch(&mut self, moment: &Moment<'_>, prev: Party<'_>, left: Left, next: Party<'_>) {
        let (at, cpu, epoch) = (moment.time, moment.cpu, self.complete.epoch(moment.time));
        let prev_thread = self.named_on(cpu, prev, at);
        if let (Some(tid), Some(pid)) = (moment.tid, moment.pid)
            && tid == prev.tid
            && tid != 0
        {
            self.threads.or_default(prev_thread).set_pid(pid, at);
        }
        self.settle_current(cpu, prev_thread);
        if left == Left::Dead && !prev_thread.is_idle() {
            self.lives.end(prev_thread);
            self.threads.or_default(prev_thread).facts.dead = Some(at);
            self.emit_change(prev_thread, at, ThreadChange::Died);
            self.unseat(prev_thread, at);
        }
        let next_thread = self.named_on(cpu, next, at);
        let priority = next.priority;
        let is_first = self.is_first();
        let Self { cpus, threads, dues, spans, .. } = self;
        let on = cpus.or_default(cpu);
        on.timeline.switch(cpu, at, prev_thread, (next_thread, Some(priority)), spans);
        on.turn = Some(Turn::Switch(at));
        let here = Keeper::Cpu(cpu);
        if prev_thread.is_idle() {
            // Idle tasks call nothing: a switch is missing.
            Ledger { is_first, dues, spans }.drop(&mut on.call, here);
        } else {
            let there = threads.or_default(prev_thread);
            there.waits.step(prev_thread, Move::Off { at, left }, epoch, spans);
            let off = (&mut there.call_off, Keeper::Off(prev_thread));
            Ledger { is_first, dues, spans }.hand_on((&mut on.call, here), off);
        }
        if !next_thread.is_idle() {
            let there = threads.or_default(next_thread);
            there.facts.priority = Some(priority);
            there.waits.step(next_thread, Move::On { at, cpu, priority }, epoch, spans);
            let off = (&mut there.call_off, Keeper::Off(next_thread));
            Ledger { is_first, dues, spans }.hand_on(off, (&mut on.call, here));
        }
    }

    /// Says who it is that runs on a CPU, if nobody knew.
    fn settle_current(&mut self, cpu: u32, thread: ThreadId) {
        let current = self.cpus.or_default(cpu).timeline.current(cpu);
        // Who ran at the begin of a piece is known to the one before, unless there is none.
        if let ThreadId::Running { since, .. } = current
            && (since != BEGIN || self.is_first())
        {
            let mut renames = Renames::default();
            renames.add(current, thread);
            self.rename_parts(&renames);
            self.untold.add(current, thread);
        }
    }

    pub(crate) fn wakeup(&mut self, moment: &Moment<'_>, who: Party<'_>, target_cpu: Option<u32>) {
        if let Some(cpu) = target_cpu {
            self.mention(cpu);
        }
        let waker = self.current(moment);
        let (at, epoch) = (moment.time, self.complete.epoch(moment.time));
        if let Some(thread) = self.named(who, at) {
            self.spans.wakeup(&Wakeup { thread, at, cpu: moment.cpu, target_cpu, waker });
            self.threads.or_default(thread).waits.wake(thread, at, Some(waker), epoch, &mut self.spans);
        }
    }

    pub(crate) fn emit_change(&mut self, thread: ThreadId, at: Time, what: ThreadChange) {
        self.spans.thread_event(&ThreadEvent { thread, at, what });
    }

    pub(crate) fn fork(
        &mut self,
        moment: &Moment<'_>,
        parent: i32,
        parent_pid: Option<i32>,
        child: i32,
        child_pid: Option<i32>,
        comm: &[u8],
    ) {
        let (at, epoch) = (moment.time, self.complete.epoch(moment.time));
        let parent = self.numbered(parent, at);
        // Its calls are those of whoever runs here, who may not have a name yet.
        let caller = Self::keeper(self.current(moment), moment);
        if let Some(pid) = parent_pid {
            self.seat(parent, pid, at);
        }
        let thread = self.lives.begin(child, at);
        let seen = self.seen(thread, moment);
        let flags = self.fork_in_call(caller, (thread, seen));
        let shares_table = match (flags, child_pid) {
            (Some(flags), _) => flags & clone_flag::FILES != 0,
            // Further threads of a process share all they can.
            (None, Some(pid)) => pid != child,
            (None, None) => false,
        };
        let there = self.threads.or_default(thread);
        there.first = Some(at);
        there.facts.was_forked = true;
        there.waits.fork(epoch);
        there.set_comm(comm, at);
        if child_pid.is_none_or(|pid| pid == child) {
            there.facts.parent = parent_pid.or(parent.tid());
        }
        self.emit_change(thread, at, ThreadChange::Forked { parent, comm: Name::from_utf8_lossy(comm) });
        let is_guess = flags.is_none();
        self.files.note(FileOp::Fork { parent, child: thread, at, shares_table, is_guess }, &mut self.spans);
        if let Some(pid) = child_pid {
            self.seat(thread, pid, at);
        }
    }

    pub(crate) fn exec(
        &mut self,
        moment: &Moment<'_>,
        filename: &[u8],
        tid: Option<i32>,
        old_tid: Option<i32>,
    ) {
        let at = moment.time;
        let mut thread = match old_tid.or(tid) {
            Some(tid) => self.numbered(tid, at),
            None => self.current(moment),
        };
        if let (Some(tid), Some(old)) = (tid, old_tid)
            && tid != old
        {
            thread = self.take_number_of_leader(moment, thread, tid);
        }
        self.emit_change(thread, at, ThreadChange::Executed { program: Name::from_utf8_lossy(filename) });
        self.files.note(FileOp::Exec { thread, at }, &mut self.spans);
        let there = self.threads.or_default(thread);
        set_name(&mut there.facts.program, filename);
        let base = filename.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        there.set_comm(&base[..base.len().min(COMM)], at);
    }

    /// A thread that executes a program becomes the first thread of its process: all others are gone, and it has the number of
    /// the process from now on.
    fn take_number_of_leader(&mut self, moment: &Moment<'_>, thread: ThreadId, tid: i32) -> ThreadId {
        let (at, cpu, epoch) = (moment.time, moment.cpu, self.complete.epoch(moment.time));
        self.lives.end(thread);
        let leader = self.lives.begin(tid, at);
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
        self.unseat(thread, at);
        self.settle_current(cpu, thread);
        self.move_call(thread, leader);
        self.cpus.or_default(cpu).timeline.switch(cpu, at, thread, (leader, None), &mut self.spans);
        let Self { threads, spans, .. } = self;
        threads.or_default(thread).waits.step(thread, Move::Off { at, left: Left::Dead }, epoch, spans);
        threads.or_default(leader).waits.step(leader, Move::On { at, cpu, priority: 0 }, epoch, spans);
        leader
    }
}
