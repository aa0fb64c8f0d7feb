//! Retires threads that have ended: their facts are emitted once, and the model keeps only live threads.
//!
//! Only the first piece of a trace knows all facts of a thread; so a later piece keeps its threads until it is merged with
//! that. A thread has ended when it left its CPU for good, when an exec gave it another tid, or when another thread got its
//! tid although its end was not seen.

use std::collections::BTreeMap;
use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use crate::canonical_map::CanonicalMap;
use crate::finished::Finished;
use crate::id::{PIECE_BEGIN, ThreadAliases, ThreadId};
use crate::partial_state::PartialState;
use crate::span::Spans;
use crate::span_kinds;
use crate::thread::{Facts, Thread};

/// A thread that has ended, with all facts. It is emitted once, and the model drops the thread: consumers that need names of
/// threads later keep them ([`WithThreads`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retired {
    /// The thread.
    pub thread: ThreadId,
    /// Its facts.
    pub facts: Facts,
}

impl<S: Spans> PartialState<S> {
    /// Retires a thread that has ended: no later event can add facts.
    pub(crate) fn retire(&mut self, thread: ThreadId) {
        if !self.is_first() {
            return;
        }
        if let Some(there) = self.threads.remove(&thread) {
            there.finish_calls(thread, &mut self.spans);
            self.spans.retired(&Retired { thread, facts: there.facts.settled(thread) });
        }
    }

    /// Gives renumbered threads the facts of the threads that they were before an exec. `heirs`: new id, old id.
    pub(crate) fn inherit(&mut self, mut heirs: Vec<(ThreadId, ThreadId)>) {
        if !self.is_first() {
            return;
        }
        sort_heirs(&mut heirs);
        for (heir, was) in heirs {
            let before = self.threads.get(&was).map(|there| there.facts.clone());
            if let Some(there) = self.threads.get_mut(&heir) {
                there.was = None;
                if let Some(before) = before {
                    there.facts.inherit(before);
                }
            }
        }
    }

    /// Retires those of some threads that have ended; `strays`: those of them that had been retired before.
    pub(crate) fn retire_ended(&mut self, threads: Vec<ThreadId>, strays: &[ThreadId]) {
        if !self.is_first() {
            return;
        }
        for thread in threads {
            if !self.tids.is_over(thread) {
                continue;
            }
            if strays.contains(&thread) {
                self.forget(thread);
            } else {
                self.retire(thread);
            }
        }
    }

    /// Drops facts of threads that had ended before the events that name them, where a switch is missing.
    pub(crate) fn forget_strays(&mut self) {
        if self.is_first() {
            let over = self
                .threads
                .unordered()
                .map(|(&thread, _)| thread)
                .filter(|&thread| self.tids.is_over(thread));
            let mut over: Vec<ThreadId> = over.collect();
            over.sort_unstable();
            for thread in over {
                self.forget(thread);
            }
        }
    }

    fn forget(&mut self, thread: ThreadId) {
        if let Some(there) = self.threads.remove(&thread) {
            there.finish_calls(thread, &mut self.spans);
        }
    }
}

impl Thread {
    /// Emits what is open of a thread that has ended.
    fn finish_calls(&self, thread: ThreadId, spans: &mut impl Spans) {
        self.call.finish(spans);
        self.call_off.finish(spans);
        self.waits.finish_begin(thread, spans);
    }
}

/// Sorts heirs by begin of life: a later heir may have been an earlier one before its own exec.
pub(crate) fn sort_heirs(heirs: &mut [(ThreadId, ThreadId)]) {
    heirs.sort_by_key(|&(heir, _)| match heir {
        ThreadId::Thread { born, .. } => born,
        ThreadId::Idle(_) | ThreadId::Unidentified { .. } => PIECE_BEGIN,
    });
}

/// A consumer that keeps retired threads, beside another consumer: one record for each of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WithThreads<S> {
    /// The other consumer.
    pub inner: S,
    ended: CanonicalMap<ThreadId, Facts>,
}

impl<S> WithThreads<S> {
    /// Wraps a consumer.
    pub fn new(inner: S) -> Self {
        Self { inner, ended: CanonicalMap::default() }
    }
}

impl<S> Finished<WithThreads<S>> {
    /// The model with all threads, including those that have ended. `O(n log n)`.
    pub fn with_threads(self) -> Finished<S> {
        let mut ended = BTreeMap::new();
        let Ok(mut model) = self.try_with_spans(|spans| {
            ended = spans.ended.into_sorted().into_iter().collect();
            Ok::<_, Infallible>(spans.inner)
        });
        model.threads.add(ended);
        model
    }
}

macro_rules! forward {
    (@one retired $Type:ty) => {
        fn retired(&mut self, it: &$Type) {
            self.inner.retired(it);
            self.ended.insert(it.thread, it.facts.clone());
        }
    };
    (@one $method:ident $Type:ty) => {
        #[inline]
        fn $method(&mut self, it: &$Type) {
            self.inner.$method(it);
        }
    };
    ($($(#[$doc:meta])* $method:ident $Variant:ident $Type:ty => $Owned:ty;)*) => {
        impl<S: Spans> Spans for WithThreads<S> {
            $(forward!(@one $method $Type);)*

            #[inline]
            fn wants_files(&self) -> bool {
                self.inner.wants_files()
            }

            fn rename(&mut self, aliases: &ThreadAliases) {
                self.inner.rename(aliases);
            }

            fn absorb(&mut self, right: Self) {
                self.inner.absorb(right.inner);
                self.ended.absorb(right.ended, |left, right| *left = right);
            }
        }
    };
}

span_kinds!(forward);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::border::Border;
    use crate::event::{EventContext, KernelEvent, PrevState, TaskRef};
    use crate::id::Time;

    fn party(tid: i32) -> TaskRef<'static> {
        TaskRef { tid, comm: b"sh", priority: 20 }
    }

    fn event(chunk: &mut PartialState<impl Spans>, time: Time, what: KernelEvent<'_>) {
        chunk.event(
            &EventContext { time, cpu: 0, tid: None, pid: None, comm: None, is_user: false, session: 0 },
            what,
        );
    }

    /// A shell forks a thread, which runs and ends: at four instants from `at` on.
    fn live_and_die(chunk: &mut PartialState<impl Spans>, at: Time, tid: i32) {
        let (parent_pid, child_pid) = (Some(1), Some(tid));
        event(
            chunk,
            at,
            KernelEvent::Fork {
                parent: 1,
                parent_pid,
                child: tid,
                child_pid,
                child_comm: b"sh",
                inner: None,
            },
        );
        let waits = PrevState::OffCpu(crate::OffCpuReason::Blocked);
        event(chunk, at + 1, KernelEvent::Switch { prev: party(1), prev_state: waits, next: party(tid) });
        event(chunk, at + 2, KernelEvent::Exit(party(tid)));
        event(
            chunk,
            at + 3,
            KernelEvent::Switch { prev: party(tid), prev_state: PrevState::Dead, next: party(1) },
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
            live_and_die(&mut chunk, Time::from(n) * 10, 2 + n % NUMBERS);
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
            tids.for_each(|n| live_and_die(&mut chunk, Time::from(n) * 10, 2 + n % 2));
            chunk.close(to);
            chunk
        };
        let whole = piece(Border::Begin, Border::End, 0..6);
        assert_eq!(whole.threads.unordered().count(), 1);
        let expect = whole.clone().finish().with_threads().threads;
        // The shell, and three lives of each of two tids.
        assert_eq!(expect.iter().count(), 7);
        for cut in 0..=6 {
            let seam = Border::At(Time::from(cut) * 10);
            let left = piece(Border::Begin, seam, 0..cut);
            let both = left.merge(piece(seam, Border::End, cut..6)).unwrap();
            assert_eq!(both.threads, whole.threads, "cut at {cut}");
            assert_eq!(both.finish().with_threads().threads, expect, "cut at {cut}");
        }
    }

    #[test]
    fn a_number_that_is_given_again_ends_a_thread() {
        let mut chunk = PartialState::new(Border::Begin, WithThreads::new(()));
        for at in [10, 20, 30] {
            let (parent_pid, child_pid) = (Some(1), Some(7));
            event(
                &mut chunk,
                at,
                KernelEvent::Fork {
                    parent: 1,
                    parent_pid,
                    child: 7,
                    child_pid,
                    child_comm: b"x",
                    inner: None,
                },
            );
        }
        assert_eq!(chunk.threads.unordered().count(), 2);
        assert_eq!(chunk.finish().with_threads().threads.iter().count(), 4);
    }
}
