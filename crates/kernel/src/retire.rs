//! Retires threads that have ended: their facts are emitted once, and the model keeps only live threads.
//!
//! Only the first piece of a trace knows all facts of a thread; so a later piece keeps its threads until it
//! is merged with that. A thread has ended when it left its CPU for good, when an exec gave it another tid,
//! or when another thread got its tid although its end was not seen.

use crate::id::{ThreadId, Time};
use crate::partial_state::PartialState;
use crate::span::{Retired, Spans};
use crate::thread::{MayEnd, Thread};

impl<S: Spans> PartialState<S> {
    /// A thread has ended: no later event adds facts. Where a switch is missing, later events may name it.
    pub(crate) fn end_thread(&mut self, thread: ThreadId, at: Time) {
        if self.is_first() {
            self.retire(thread);
        } else if let Some(known) = self.threads.get_mut(thread) {
            known.end(at);
        }
    }

    /// Retires a thread that has ended.
    fn retire(&mut self, thread: ThreadId) {
        if self.is_first()
            && let Some(facts) = self.forget(thread).map(|known| known.facts.settled(thread))
        {
            self.spans.retired(&Retired { thread, facts });
        }
    }

    /// Retires threads that ended with the piece that was appended, after those that an exec renamed have
    /// their facts.
    pub(crate) fn retire_ended(&mut self, ended: MayEnd) {
        let MayEnd { threads, orphans, exec_renames } = ended;
        self.threads.inherit(exec_renames);
        for thread in threads {
            if !self.threads.tids.is_over(thread) {
                continue;
            }
            if orphans.contains(&thread) {
                self.forget(thread);
            } else {
                self.retire(thread);
            }
        }
    }

    /// Drops facts of threads that had ended before the events that name them, where a switch is missing.
    pub(crate) fn forget_orphans(&mut self) {
        if self.is_first() {
            for thread in self.threads.ended() {
                self.forget(thread);
            }
        }
    }

    /// Drops a thread, and emits what is open of it.
    fn forget(&mut self, thread: ThreadId) -> Option<Thread> {
        let known = self.threads.remove(thread)?;
        known.call.finish(&mut self.spans);
        known.call_off.finish(&mut self.spans);
        known.waits.finish_begin(thread, &mut self.spans);
        if let Some(faults) = &known.faults {
            faults.finish(thread, None, &mut self.spans);
        }
        Some(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WithThreads;
    use crate::border::Border;
    use crate::event::{EventContext, ForkEvent, KernelEvent, PrevState, TaskRef};

    fn task(tid: i32) -> TaskRef<'static> {
        TaskRef { tid, comm: b"sh", priority: 20 }
    }

    fn event(chunk: &mut PartialState<impl Spans>, time: Time, what: KernelEvent<'_>) {
        chunk.event(
            &EventContext {
                time,
                cpu: 0,
                tid: None,
                has_kernel_tid: false,
                pid: None,
                comm: None,
                is_user: false,
                session: 0,
                has_faults: false,
            },
            what,
        );
    }

    /// A shell forks a thread, which runs and ends: at four instants from `at` on.
    fn live_and_die(chunk: &mut PartialState<impl Spans>, at: Time, tid: i32) {
        let (parent_pid, child_pid) = (Some(1), Some(tid));
        event(
            chunk,
            at,
            KernelEvent::Fork(ForkEvent {
                parent: 1,
                parent_pid,
                child: tid,
                child_pid,
                child_comm: b"sh",
                inner: None,
            }),
        );
        let waits = PrevState::OffCpu(crate::OffCpuReason::Blocked);
        event(chunk, at + 1, KernelEvent::Switch { prev: task(1), prev_state: waits, next: task(tid) });
        event(chunk, at + 2, KernelEvent::Exit(task(tid)));
        event(
            chunk,
            at + 3,
            KernelEvent::Switch { prev: task(tid), prev_state: PrevState::Dead, next: task(1) },
        );
    }

    fn bytes(chunk: &PartialState<()>) -> usize {
        postcard::to_stdvec(chunk).unwrap().len()
    }

    /// Tids are reused, as on Linux; the size does not depend on how many threads there have been.
    #[test]
    fn a_million_short_lives_leave_nothing() {
        const NUMBERS: i32 = 1_000;
        let mut chunk = PartialState::new(Border::Begin, ());
        let mut sizes = Vec::new();
        for n in 0..1_000_000 {
            live_and_die(&mut chunk, Time(i64::from(n) * 10), 2 + n % NUMBERS);
            assert!(chunk.threads.unordered().count() <= 2, "{n}");
            if n % 250_000 == 249_999 {
                sizes.push(bytes(&chunk));
            }
        }
        assert!(sizes.iter().all(|&size| size < 50 * NUMBERS as usize), "{sizes:?}");
        // Only larger numbers themselves take more bytes.
        assert!(sizes[3] < sizes[0] + sizes[0] / 4, "{sizes:?}");
    }

    /// `WithThreads` keeps all threads, for all cuts.
    #[test]
    fn those_who_ended_are_reported() {
        let piece = |from: Border, to: Border, tids: std::ops::Range<i32>| {
            let mut chunk = PartialState::new(from, WithThreads::new(crate::Recorder::default()));
            tids.for_each(|n| live_and_die(&mut chunk, Time(i64::from(n) * 10), 2 + n % 2));
            chunk.close(to);
            chunk
        };
        let whole = piece(Border::Begin, Border::End, 0..6);
        assert_eq!(whole.threads.unordered().count(), 1);
        let expect = whole.clone().finish().with_threads().threads;
        // The shell, and three lives of each of two tids.
        assert_eq!(expect.iter().count(), 7);
        for cut in 0..=6 {
            let cut_at = Border::At(Time(i64::from(cut) * 10));
            let left = piece(Border::Begin, cut_at, 0..cut);
            let both = left.merge(piece(cut_at, Border::End, cut..6)).unwrap();
            assert_eq!(both.threads, whole.threads, "cut at {cut}");
            assert_eq!(both.finish().with_threads().threads, expect, "cut at {cut}");
        }
    }

    #[test]
    fn a_number_that_is_given_again_ends_a_thread() {
        let mut chunk = PartialState::new(Border::Begin, WithThreads::new(()));
        for at in [10, 20, 30].map(Time) {
            let (parent_pid, child_pid) = (Some(1), Some(7));
            event(
                &mut chunk,
                at,
                KernelEvent::Fork(ForkEvent {
                    parent: 1,
                    parent_pid,
                    child: 7,
                    child_pid,
                    child_comm: b"x",
                    inner: None,
                }),
            );
        }
        assert_eq!(chunk.threads.unordered().count(), 2);
        assert_eq!(chunk.finish().with_threads().threads.iter().count(), 4);
    }
}
