//! What losses leave in doubt: since when a descriptor may have changed, and which numbers were used by
//! threads whose table is not known.

use serde::{Deserialize, Serialize};

use super::super::open::{FileEnd, OpenFile};
use crate::dense_map::DenseMap;
use crate::id::{ThreadId, Time};
use crate::span::file::ClosedBy;

/// Numbers below this are indexes of a list, of a mebibyte at most: busy servers have some ten thousand
/// descriptors.
const STRAY_FDS: usize = 1 << 16;

/// What is uncertain, and since when.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Doubts {
    /// Number of losses that have begun, plus those that have ended.
    losses: u64,
    /// When each of these was: they are in the order of time but for losses of several CPUs that overlap.
    times: Vec<Time>,
    /// Begins of the losses since the last end of one.
    begun: Vec<Time>,
    /// Something may be missing until this time.
    missing_until: Option<Time>,
    /// By number: when it was last opened or closed by a thread whose fork may be hidden by a loss. The table
    /// of that thread may be that of any other one: `clone(2)` with `CLONE_FILES` shares it.
    strays: DenseMap<i32, Time, STRAY_FDS>,
    /// When such a thread last closed all numbers of a range.
    ranges: Option<Time>,
}

impl Doubts {
    /// A loss begins.
    pub(super) fn begin_loss(&mut self, at: Time, to: Time) {
        self.losses += 1;
        self.times.push(at);
        self.begun.push(at);
        self.missing_until = self.missing_until.max(Some(to));
    }

    /// A loss ends.
    pub(super) fn end_loss(&mut self) {
        self.losses += 1;
        // What is missing until then is so since the loss began.
        self.times.extend(self.times.last().copied());
        self.begun.clear();
    }

    /// Whether anything has been lost so far.
    pub(super) fn are_any(&self) -> bool {
        self.losses > 0
    }

    /// The number of losses that had certainly begun or ended at an instant, for what is opened then: what is
    /// opened during a loss is as doubtful as what was opened before.
    #[inline]
    pub(super) fn losses_at(&self, at: Time) -> u64 {
        self.losses - u64::from(self.missing_until.is_some_and(|until| at < until))
    }

    /// Whether a loss has begun or ended since there were `losses`.
    pub(super) fn are_newer(&self, losses: u64) -> bool {
        self.losses > losses
    }

    /// The time of the first loss after `losses` of them. `O(1)`.
    fn first_after(&self, losses: u64) -> Option<Time> {
        self.times.get(losses as usize).copied()
    }

    /// Since when events are missing in the life of a descriptor that ends.
    pub(super) fn doubtful_from(&self, file: &OpenFile, end: &FileEnd) -> Option<Time> {
        (end.losses > file.losses).then(|| self.first_after(file.losses).unwrap_or(file.begin))
    }

    /// A thread whose table is not known opens or closes a number.
    pub(super) fn stray(&mut self, fd: i32, at: Time) {
        self.strays.insert(fd, at);
    }

    /// A thread whose table is not known closes numbers of a range.
    pub(super) fn stray_range(&mut self, at: Time) {
        self.ranges = Some(at);
    }

    /// The end of a descriptor that is closed now.
    pub(super) fn end(&self, at: Time, by: ClosedBy, closer: ThreadId) -> FileEnd {
        FileEnd { at, by, closer: Some(closer), losses: self.losses, doubtful_from: None }
    }

    /// The unseen end of a descriptor whose number was reused by `next`.
    pub(super) fn end_unseen(&self, next: &OpenFile) -> FileEnd {
        let (at, closer) = (next.begin, next.about.thread);
        FileEnd { at, by: ClosedBy::Unseen, closer, losses: self.losses, doubtful_from: None }
    }

    /// The end of descriptors with the trace. A loss that begins after it hides nothing.
    pub(super) fn end_of_trace(&self, at: Time, closer: Option<ThreadId>) -> FileEnd {
        let later = self.begun.iter().filter(|&&begin| begin > at).count() as u64;
        FileEnd { at, by: ClosedBy::TraceEnd, closer, losses: self.losses - later, doubtful_from: None }
    }

    /// Whether a stray thread may have closed or opened a descriptor since it was opened.
    pub(super) fn is_of_strays(&self, fd: i32, file: &OpenFile) -> bool {
        self.strays.get(fd).copied().max(self.ranges).is_some_and(|at| at >= file.begin)
    }
}
