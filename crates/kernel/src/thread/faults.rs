//! Page faults of one thread: which is open.
//!
//! Tracers record where a fault starts, mostly not where it ends. It is over where the thread is next seen to
//! go on: it makes or ends a call, faults again, or exits. Part of a [`Thread`](super::Thread), and followed
//! only where the trace has events of page faults. What the thread did in it is what other spans say of it in
//! that time.

use serde::{Deserialize, Serialize};

use crate::event::FaultEvent;
use crate::id::{ThreadId, Time};
use crate::loss_tracker::LossCount;
use crate::span::Spans;

/// A page fault: a thread touched memory that had no page yet, or not for this use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageFault {
    /// The thread.
    pub thread: ThreadId,
    /// The CPU on which it started.
    pub cpu: u32,
    /// Start.
    pub begin: Time,
    /// When the thread was next seen to go on, and it is over; or the end of the trace. `None` if events are
    /// missing until then.
    pub end: Option<Time>,
    /// The address that was touched.
    pub address: u64,
    /// Address of the instruction that touched it.
    pub ip: u64,
    /// The processor's error code, if recorded.
    pub code: Option<u64>,
    /// Whether the program touched it; else the kernel did for it, mostly in a call.
    pub is_user: bool,
}

/// The page faults of one thread in one piece.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Faults {
    /// When it was first seen to go on: the end of the fault that is open at the end of the piece before.
    first: Option<(Time, LossCount)>,
    /// The fault that is open at the end of the piece.
    open: Option<Open>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Open {
    at: Time,
    cpu: u32,
    event: FaultEvent,
    loss_count: LossCount,
}

impl Faults {
    pub(crate) fn shift(&mut self, losses: u64) {
        let Self { first, open } = self;
        if let Some((_, count)) = first {
            count.shift(losses);
        }
        if let Some(open) = open {
            open.loss_count.shift(losses);
        }
    }

    /// It is seen to go on: the fault that is open is over.
    pub(crate) fn goes_on(&mut self, thread: ThreadId, at: Time, count: LossCount, spans: &mut impl Spans) {
        self.first.get_or_insert((at, count));
        if let Some(open) = self.open.take() {
            open.ends(thread, Some((at, count)), spans);
        }
    }

    /// It faults.
    pub(crate) fn fault(
        &mut self,
        (thread, cpu): (ThreadId, u32),
        at: Time,
        event: FaultEvent,
        loss_count: LossCount,
        spans: &mut impl Spans,
    ) {
        self.goes_on(thread, at, loss_count, spans);
        self.open = Some(Open { at, cpu, event, loss_count });
    }

    /// Appends the next piece, which has been shifted by the losses of this one. Where a switch is
    /// missing, two CPUs seem to run the thread at once, and what it did on them may come in any order.
    pub(crate) fn append(&mut self, thread: ThreadId, right: Self, spans: &mut impl Spans) {
        let Some((at, count)) = right.first else { return };
        let first = self.first.get_or_insert((at, count));
        if at < first.0 {
            *first = (at, count);
        }
        self.open = match (self.open.take(), right.open) {
            (Some(open), later) if open.at <= at => {
                open.ends(thread, Some((at, count)), spans);
                later
            }
            (Some(open), Some(later)) if open.at < later.at => {
                open.ends(thread, None, spans);
                Some(later)
            }
            (Some(open), Some(earlier)) => {
                earlier.ends(thread, Some((open.at, open.loss_count)), spans);
                Some(open)
            }
            (open, later) => open.or(later),
        };
    }

    /// Emits the fault that is open when the trace ends, or the thread is forgotten; `None`: what ended it
    /// was not seen.
    pub(crate) fn finish(&self, thread: ThreadId, end: Option<(Time, LossCount)>, spans: &mut impl Spans) {
        if let Some(open) = self.open {
            open.ends(thread, end, spans);
        }
    }
}

impl Open {
    fn ends(self, thread: ThreadId, end: Option<(Time, LossCount)>, spans: &mut impl Spans) {
        let end = end.filter(|&(_, count)| self.loss_count.no_loss_between(count)).map(|(at, _)| at);
        let Self { at, cpu, event: FaultEvent { address, ip, code, is_user }, .. } = self;
        spans.page_fault(&PageFault { thread, cpu, begin: at, end, address, ip, code, is_user });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{PIECE_BEGIN, ThreadAliases};

    #[derive(Default)]
    struct Emitted(Vec<(i64, Option<i64>)>);

    impl Spans for Emitted {
        fn page_fault(&mut self, span: &PageFault) {
            self.0.push((span.begin.0, span.end.map(|end| end.0)));
        }
        fn rename(&mut self, _: &ThreadAliases) {}
        fn absorb(&mut self, _: Self) {}
    }

    const THREAD: ThreadId = ThreadId::Thread { tid: 7, born: PIECE_BEGIN };

    /// Letters, each at the next ns: a fault, a call, a loss; cut before each of them.
    fn check(script: &str, expect: &[(i64, Option<i64>)]) {
        for cut in 0..=script.len() {
            let mut emitted = Emitted::default();
            let mut pieces = [Faults::default(); 2];
            let mut losses = [0, 0];
            for (index, letter) in script.chars().enumerate() {
                let (at, right) = (Time(index as i64), usize::from(index >= cut));
                let count = LossCount::of(losses[right]);
                let faults = &mut pieces[right];
                match letter {
                    'f' => {
                        let event = FaultEvent { address: 0, ip: 0, code: None, is_user: true };
                        faults.fault((THREAD, 0), at, event, count, &mut emitted);
                    }
                    'c' => faults.goes_on(THREAD, at, count, &mut emitted),
                    _ => losses[right] += 1,
                }
            }
            let [mut left, mut right] = pieces;
            right.shift(losses[0]);
            left.append(THREAD, right, &mut emitted);
            left.finish(THREAD, Some((Time(9), LossCount::of(losses[0] + losses[1]))), &mut emitted);
            emitted.0.sort_unstable();
            assert_eq!(emitted.0, expect, "{script} cut at {cut}");
        }
    }

    #[test]
    fn a_fault_lasts_until_its_thread_goes_on() {
        check("fcc", &[(0, Some(1))]);
        check("ffcf", &[(0, Some(1)), (1, Some(2)), (3, Some(9))]);
        check("cf", &[(1, Some(9))]);
        // Events are missing until then.
        check("flcf", &[(0, None), (3, Some(9))]);
        check("fl", &[(0, None)]);
    }
}
