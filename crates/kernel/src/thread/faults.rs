//! Page faults of one thread: which is open, and what the thread did in it.
//!
//! Tracers record where a fault starts, mostly not where it ends. It is over where the thread is next seen to
//! go on: it makes or ends a call, faults again, or exits. Part of a [`Thread`](super::Thread), and followed
//! only where the trace has events of page faults.

use serde::{Deserialize, Serialize};

use crate::event::FaultEvent;
use crate::id::{ThreadId, Time};
use crate::loss_tracker::LossCount;
use crate::span::{OffCpu, OffCpuReason, PageFault, Spans, WithinFault};

/// The page faults of one thread in one piece.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Faults {
    /// What the thread did before it was first seen to go on: within the fault that is open at the end of the
    /// piece before, if one is.
    before: Done,
    /// When it was first seen to go on.
    first: Option<(Time, LossCount)>,
    /// The fault that is open at the end of the piece.
    open: Option<Open>,
}

/// What a thread did since it was last seen to go on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Done {
    waits: u64,
    /// ns.
    waited: i64,
    has_requested: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Open {
    at: Time,
    cpu: u32,
    event: FaultEvent,
    loss_count: LossCount,
    done: Done,
}

impl Faults {
    pub(crate) fn shift(&mut self, losses: u64) {
        let Self { first, open, before: _ } = self;
        first.iter_mut().for_each(|(_, count)| count.shift(losses));
        open.iter_mut().for_each(|open| open.loss_count.shift(losses));
    }

    /// What is done now belongs to it.
    fn done(&mut self) -> Option<&mut Done> {
        match &mut self.open {
            Some(open) => Some(&mut open.done),
            None => self.first.is_none().then_some(&mut self.before),
        }
    }

    /// A time off the CPUs is over. Where the thread went on meanwhile, a switch is missing: then it is of no
    /// fault.
    pub(crate) fn was_off(&mut self, off: &OffCpu) {
        let is_wait = matches!(off.reason, OffCpuReason::Blocked | OffCpuReason::Uninterruptible);
        if is_wait
            && self.open.is_none_or(|open| open.at <= off.begin)
            && let Some(done) = self.done()
        {
            done.add(Done { waits: 1, waited: off.end - off.begin, has_requested: false });
        }
    }

    /// Whether the thread goes on in this piece before an instant.
    pub(crate) fn goes_on_before(&self, at: Time) -> bool {
        self.first.is_some_and(|(first, _)| first < at)
    }

    /// It requests something from a disk.
    pub(crate) fn requests(&mut self) {
        if let Some(done) = self.done() {
            done.has_requested = true;
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
        self.open = Some(Open { at, cpu, event, loss_count, done: Done::default() });
    }

    /// Appends the next piece, which has been shifted by the losses of this one.
    pub(crate) fn append(&mut self, thread: ThreadId, right: Self, spans: &mut impl Spans) {
        if let Some(done) = self.done() {
            done.add(right.before);
        }
        if let Some((at, count)) = right.first {
            self.goes_on(thread, at, count, spans);
            self.open = right.open;
        }
    }

    /// Emits the fault that is open when the trace ends, or the thread is forgotten; `None`: what ended it
    /// was not seen.
    pub(crate) fn finish(&self, thread: ThreadId, end: Option<(Time, LossCount)>, spans: &mut impl Spans) {
        if let Some(open) = self.open {
            open.ends(thread, end, spans);
        }
    }
}

impl Done {
    fn add(&mut self, other: Self) {
        self.waits = self.waits.saturating_add(other.waits);
        self.waited = self.waited.saturating_add(other.waited);
        self.has_requested |= other.has_requested;
    }
}

impl Open {
    fn ends(self, thread: ThreadId, end: Option<(Time, LossCount)>, spans: &mut impl Spans) {
        let end = end.filter(|&(_, count)| self.loss_count.no_loss_between(count)).map(|(at, _)| at);
        let Self { at, cpu, event, done, .. } = self;
        let FaultEvent { address, ip, code, is_user, follows, .. } = event;
        // In a call, what the thread waits for may be the call's.
        let is_its_own = is_user || (done.waits == 0 && !done.has_requested);
        let within = (end.is_some() && is_its_own && follows.calls).then_some(WithinFault {
            waits: done.waits,
            waited_ns: done.waited,
            has_requested: follows.disks.then_some(done.has_requested),
        });
        spans.page_fault(&PageFault { thread, cpu, begin: at, end, address, ip, code, is_user, within });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::FaultFollows;
    use crate::id::{PIECE_BEGIN, ThreadAliases};

    #[derive(Default)]
    struct Emitted(Vec<(i64, Option<i64>, Option<(u64, i64, bool)>)>);

    impl Spans for Emitted {
        fn page_fault(&mut self, span: &PageFault) {
            let within = span.within.map(|it| (it.waits, it.waited_ns, it.has_requested == Some(true)));
            self.0.push((span.begin.0, span.end.map(|end| end.0), within));
        }
        fn rename(&mut self, _: &ThreadAliases) {}
        fn absorb(&mut self, _: Self) {}
    }

    const THREAD: ThreadId = ThreadId::Thread { tid: 7, born: PIECE_BEGIN };

    /// Letters, each at the next ns: a user fault, a fault of the kernel (`k`), a call, a request, a wait of
    /// a ns, a loss; cut before each of them.
    fn check(script: &str, expect: &[(i64, Option<i64>, Option<(u64, i64, bool)>)]) {
        for cut in 0..=script.len() {
            let mut emitted = Emitted::default();
            let mut pieces = [Faults::default(); 2];
            let mut losses = [0, 0];
            for (index, letter) in script.chars().enumerate() {
                let (at, right) = (Time(index as i64), usize::from(index >= cut));
                let count = LossCount::of(losses[right]);
                let faults = &mut pieces[right];
                match letter {
                    'u' | 'k' => {
                        let follows = FaultFollows { calls: true, disks: true };
                        let event =
                            FaultEvent { address: 0, ip: 0, code: None, is_user: letter == 'u', follows };
                        faults.fault((THREAD, 0), at, event, count, &mut emitted);
                    }
                    'c' => faults.goes_on(THREAD, at, count, &mut emitted),
                    'r' => faults.requests(),
                    'w' => faults.was_off(&OffCpu {
                        thread: THREAD,
                        reason: OffCpuReason::Uninterruptible,
                        begin: Time(at.0 - 1),
                        end: at,
                        waker: None,
                    }),
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
    fn what_is_done_until_a_thread_goes_on_is_in_the_fault() {
        check("urwcw", &[(0, Some(3), Some((1, 1, true)))]);
        check("uuwwc", &[(0, Some(1), Some((0, 0, false))), (1, Some(4), Some((2, 2, false)))]);
        check("wcrwuw", &[(4, Some(9), Some((1, 1, false)))]);
        check("uw", &[(0, Some(9), Some((1, 1, false)))]);
    }

    #[test]
    fn what_is_missing_is_unknown() {
        check("urwlcu", &[(0, None, None), (5, Some(9), Some((0, 0, false)))]);
        check("uwl", &[(0, None, None)]);
        check("lulc", &[(1, None, None)]);
        // Whether the call or the fault in it waited is unknown.
        check("ckwckc", &[(1, Some(3), None), (4, Some(5), Some((0, 0, false)))]);
    }
}
