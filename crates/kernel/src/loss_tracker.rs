//! Losses of a piece, and between which instants nothing is missing.
//!
//! What one CPU does not show may have happened on another: a thread that goes to sleep here may have run
//! there, and its call may have returned there. Two ends are therefore joined only if all CPUs were recorded
//! between them. Instead of visiting all that is open when events are lost, a piece counts its losses; an end
//! carries the count of its time, a [`LossCount`], and two ends with different counts are not joined. Part of
//! a `PartialState`: one for the kernel, one for programs, two for each CPU; [`Losses`] are those of the
//! whole host.

use serde::{Deserialize, Serialize};

use crate::border::Border;
use crate::id::Time;
use crate::missed::Missed;

/// The number of losses before an instant; `None` while events are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LossCount(Option<u64>);

impl LossCount {
    /// The count at the begin of a piece, and at its end if nothing is missing from it.
    pub(crate) const ZERO: Self = Self(Some(0));

    #[cfg(test)]
    pub(crate) fn of(losses: u64) -> Self {
        Self(Some(losses))
    }

    /// Whether nothing is missing between two instants. False for an instant within a loss, even with itself.
    pub(crate) fn no_loss_between(self, other: Self) -> bool {
        self.0.is_some() && self == other
    }

    /// Adds the losses of the piece before.
    pub(crate) fn shift(&mut self, losses: u64) {
        self.0 = self.0.map(|count| count.saturating_add(losses));
    }
}

/// The losses of a piece.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LossTracker {
    /// Number of losses that have ended.
    losses: u64,
    /// The last time in which something is missing, on any CPU.
    missing: Option<Missing>,
}

/// The losses of a host in a piece.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Losses {
    /// Losses of the kernel's events, on all CPUs.
    pub(crate) kernel: LossTracker,
    /// Losses of programs' events.
    pub(crate) programs: LossTracker,
    /// Number of lost events, as far as known.
    pub(crate) events: u64,
    /// Times in which events of the kernel may be missing.
    pub(crate) missed: Missed,
    /// Missing pieces between merged ones, raw ns: from, to.
    pub(crate) gaps: Vec<(Time, Time)>,
}

/// The numbers of losses before a piece: loss counts of the piece grow by them when it is appended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LossesBefore {
    pub(crate) kernel: u64,
    pub(crate) programs: u64,
}

impl Losses {
    /// The losses of a piece that is missing.
    pub(crate) fn missing(from: Time, to: Time) -> Self {
        let mut losses =
            Self { kernel: LossTracker::missing(), programs: LossTracker::missing(), ..Self::default() };
        losses.gaps.push((from, to));
        losses.missed.add(from, to);
        losses
    }

    /// Closes the piece.
    pub(crate) fn close(&mut self, end: Border) {
        self.kernel.close(end);
        self.programs.close(end);
    }

    /// Numbers of losses, for the next piece.
    pub(crate) fn before_next(&self) -> LossesBefore {
        LossesBefore { kernel: self.kernel.losses(), programs: self.programs.losses() }
    }

    /// Appends the losses of the next piece, which begins at `border`.
    pub(crate) fn append(&mut self, right: Self, border: Border) {
        self.kernel.append(right.kernel, border);
        self.programs.append(right.programs, border);
        self.events = self.events.saturating_add(right.events);
        self.missed.append(right.missed);
        self.gaps.extend(right.gaps);
    }
}

/// Overlapping losses, as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Missing {
    /// The first instant at which something may be missing, not before the piece.
    since: Time,
    /// The first instant from which nothing is missing.
    until: Time,
}

impl LossTracker {
    /// The losses of a piece that is missing.
    pub(crate) fn missing() -> Self {
        Self { losses: 1, missing: None }
    }

    /// Number of losses that have ended.
    pub(crate) fn losses(&self) -> u64 {
        self.losses
    }

    /// Begins a loss. One that began before the piece counts from the piece's begin.
    pub(crate) fn begin(&mut self, at: Time, until: Time, piece: Border) {
        let new = Missing { since: at.max(piece.time()), until };
        self.missing = Some(match self.missing {
            Some(Missing { since, until }) if until >= new.since => {
                Missing { since: since.min(new.since), until: until.max(new.until) }
            }
            _ => new,
        });
    }

    /// Ends a loss.
    pub(crate) fn end(&mut self) {
        self.losses += 1;
    }

    /// Since when something is missing at an instant that is not before any earlier event, not before the
    /// piece; `None` if nothing is.
    pub(crate) fn missing_since(&self, at: Time) -> Option<Time> {
        self.missing.filter(|missing| missing.since <= at && at < missing.until).map(|missing| missing.since)
    }

    /// Since when something is missing at the end of a piece that is closed.
    pub(crate) fn missing_at_end(&self) -> Option<Time> {
        self.missing.map(|missing| missing.since)
    }

    /// The loss count of an event, which is not before any earlier event.
    pub(crate) fn loss_count(&self, at: Time) -> LossCount {
        LossCount(self.missing_since(at).is_none().then_some(self.losses))
    }

    /// The loss count at the end of the piece, for what is seen first in the next one.
    pub(crate) fn at_end(&self) -> LossCount {
        LossCount(self.missing.is_none().then_some(self.losses))
    }

    /// Closes the piece: only what is missing beyond its end is kept.
    pub(crate) fn close(&mut self, end: Border) {
        self.missing = self.missing.filter(|missing| missing.until >= end.time());
    }

    /// Appends the losses of the next piece, which begins at `border`.
    pub(crate) fn append(&mut self, right: Self, border: Border) {
        // A file may have any number.
        self.losses = self.losses.saturating_add(right.losses);
        self.missing = match (self.missing, right.missing) {
            (Some(left), Some(right)) if right.since <= border.time() => {
                Some(Missing { since: left.since, until: right.until })
            }
            (_, right) => right,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks whether two instants agree against the truth, for all cuts of one history. Losses: first
    /// instant of which something is missing, first one from which nothing is.
    #[test]
    fn instants_are_joined_only_if_nothing_is_missing() {
        let check = |losses: &[(i64, i64)], a: i64, b: i64, expect: bool| {
            for cut in [i64::MIN, 5, 10, 12, 15, 20, 25, 30].map(Time) {
                let borders = [Border::Begin, Border::At(cut), Border::End];
                let mut pieces = [LossTracker::default(); 2];
                let mut seen: Vec<(usize, LossCount)> = Vec::new();
                for (number, piece) in pieces.iter_mut().enumerate() {
                    let (from, to) = (borders[number].time(), borders[number + 1].time());
                    for at in (0..40).map(Time).filter(|at| (from..to).contains(at)) {
                        for (begin, until) in losses.iter().map(|&(from, to)| (Time(from), Time(to))) {
                            let is_open = begin < from && until >= from && at == from;
                            if begin == at || is_open {
                                piece.begin(begin, until, borders[number]);
                            }
                            if until == at {
                                piece.end();
                            }
                        }
                        if at == Time(a) || at == Time(b) {
                            seen.push((number, piece.loss_count(at)));
                        }
                    }
                    piece.close(borders[number + 1]);
                }
                // What is seen in the right piece comes after the losses of the left one.
                let losses_before = pieces[0].losses();
                for (_, loss_count) in seen.iter_mut().filter(|(number, _)| *number == 1) {
                    loss_count.shift(losses_before);
                }
                let [(_, first), (_, second)] = seen[..] else { panic!("{seen:?}") };
                assert_eq!(first.no_loss_between(second), expect, "{losses:?} {a} {b}, cut at {cut}");
            }
        };
        check(&[], 3, 9, true);
        check(&[(10, 20)], 3, 9, true);
        check(&[(10, 20)], 21, 30, true);
        check(&[(10, 20)], 20, 30, true);
        check(&[(10, 20)], 3, 20, false);
        check(&[(10, 20)], 3, 15, false);
        check(&[(10, 20)], 12, 15, false);
        check(&[(10, 20)], 12, 25, false);
        check(&[(10, 20), (15, 30)], 21, 25, false);
        check(&[(10, 12), (20, 22)], 14, 18, true);
        check(&[(0, 12)], 3, 5, false);
        check(&[(10, i64::MAX)], 12, 30, false);
        check(&[(10, i64::MAX)], 3, 9, true);
    }

    #[test]
    fn pieces_add_up() {
        let whole = {
            let mut whole = LossTracker::default();
            whole.begin(Time(10), Time(20), Border::Begin);
            whole.begin(Time(15), Time(40), Border::Begin);
            whole.end();
            whole.close(Border::At(Time(30)));
            whole
        };
        let mut left = LossTracker::default();
        left.begin(Time(10), Time(20), Border::Begin);
        left.close(Border::At(Time(12)));
        let mut right = LossTracker::default();
        right.begin(Time(10), Time(20), Border::At(Time(12)));
        right.begin(Time(15), Time(40), Border::At(Time(12)));
        right.end();
        right.close(Border::At(Time(30)));
        left.append(right, Border::At(Time(12)));
        assert_eq!(left, whole);
    }
}
