//! The guaranteed interval of one clock along its path to the reference.
//!
//! With increasing relations, the highest time after two links is the second link's highest time at the first
//! link's highest time; the same for the lowest. A composition of increasing convex functions is convex
//! (concave for the lowest), so rows sampled at any instants and joined by chords stay outside the truth.
//! [`crate::joint`] calls this once per clock.

use crate::MAX_ABS_NS;
use crate::bounded::Bounded;
use crate::correction::Correction;
use crate::error::ClockError;
use crate::interval::{Interval, IntervalRow, MAX_BOUND_NS};
use crate::span::Span;

/// Most rows of a clock's interval.
pub const MAX_ROWS: usize = 64;

/// The lowest and highest reference time at some instants of a clock.
#[derive(Debug)]
pub(crate) struct Bounds {
    /// (raw, lo, hi), raw strictly increasing.
    rows: Vec<(i64, i64, i64)>,
    /// By how much rounding to whole nanoseconds can push an estimate out, ns.
    rounding: i64,
}

impl Bounds {
    /// The bounds of a clock with that span, along `path`: the relations from the clock to the next, and so
    /// on to the reference. An empty path is that of the reference.
    pub(crate) fn along(path: &[&Bounded], span: Span) -> Self {
        let rows = instants(path.first().copied(), span).into_iter().map(|raw| {
            let lo = path.iter().try_fold(raw, |t, hop| hop.lo(t));
            let hi = path.iter().try_fold(raw, |t, hop| hop.hi(t));
            // A bound beyond the range of times is as good as none.
            let lo = lo.unwrap_or(-MAX_BOUND_NS).clamp(-MAX_BOUND_NS, MAX_BOUND_NS);
            let hi = hi.unwrap_or(MAX_BOUND_NS).clamp(-MAX_BOUND_NS, MAX_BOUND_NS);
            (raw, lo, hi)
        });
        Self { rows: rows.collect(), rounding: path.len() as i64 + 2 }
    }

    /// Whether the estimate is within the bounds at every row, but for the rounding to whole nanoseconds.
    pub(crate) fn contain(&self, estimate: &Correction) -> bool {
        self.rows.iter().all(|&(raw, lo, hi)| {
            let t = estimate.apply(raw);
            lo.saturating_sub(self.rounding) <= t && t <= hi.saturating_add(self.rounding)
        })
    }

    /// The interval to publish with that estimate. Where rounding left the estimate outside, the row is
    /// widened to hold it.
    ///
    /// e95 is, for now, the half width of the interval, rounded up: the estimate is seldom farther from the truth,
    /// but a statistical figure it is not.
    pub(crate) fn around(&self, estimate: &Correction) -> Result<Interval, ClockError> {
        let rows = self.rows.iter().map(|&(raw, lo, hi)| {
            let t = estimate.apply(raw).clamp(-MAX_BOUND_NS, MAX_BOUND_NS);
            let (lo, hi) = (lo.min(t), hi.max(t));
            // Differences of values within ±2⁶² may be 2⁶³: saturate.
            IntervalRow { raw, lo, hi, e95: hi.saturating_sub(lo).saturating_add(1) / 2 }
        });
        Interval::new(rows.collect())
    }
}

/// The ends of the span, and the instants inside at which the bounds of the first hop bend.
fn instants(first: Option<&Bounded>, span: Span) -> Vec<i64> {
    let corridor = first.map(Bounded::corridor);
    let bends = corridor.into_iter().flat_map(|c| c.upper().vertices().iter().chain(c.lower().vertices()));
    let mut inside: Vec<i64> = bends.map(|v| v.x()).filter(|&x| span.begin < x && x < span.end).collect();
    inside.sort_unstable();
    inside.dedup();
    let room = MAX_ROWS - 2;
    if inside.len() > room {
        // Evenly by rank: vertices are dense where the bounds bend most.
        let kept = (0..room).map(|i| inside[i * inside.len() / room]);
        inside = kept.collect();
    }
    let end = if span.end > span.begin { Some(span.end) } else { None };
    [span.begin.clamp(-MAX_ABS_NS, MAX_ABS_NS)].into_iter().chain(inside).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Corridor, SlopeRange};

    fn curved(vertices: i64) -> Bounded {
        let mut c = Corridor::new();
        for i in -vertices..=vertices {
            // A very flat parabola on either side: every message is a vertex.
            c.a_to_b(i * 1_000_000, i * 1_000_000 + 1000 + i * i).unwrap();
            c.b_to_a(i * 1_000_000 - 1000 - i * i, i * 1_000_000).unwrap();
        }
        c.within(SlopeRange::prior(500)).unwrap()
    }

    #[test]
    fn rows_are_thinned_and_stay_outward() {
        let bounded = curved(100);
        let span = Span { begin: -90_500_000, end: 99_000_000 };
        let bounds = Bounds::along(&[&bounded], span);
        assert_eq!(bounds.rows.len(), MAX_ROWS);
        let estimate = Correction::identity(span.begin, span.end);
        assert!(bounds.contain(&estimate));
        let interval = bounds.around(&estimate).unwrap();
        for t in (span.begin..=span.end).step_by(77_777) {
            let (lo, hi, e95) = interval.at(t).unwrap();
            assert!(lo <= bounded.lo(t).unwrap() && hi >= bounded.hi(t).unwrap() && e95 >= (hi - lo) / 2);
        }
    }

    #[test]
    fn the_reference_is_certain() {
        let span = Span { begin: 3, end: 9 };
        let interval = Bounds::along(&[], span).around(&Correction::identity(3, 9)).unwrap();
        assert_eq!((interval.at(3), interval.at(9)), (Some((3, 3, 0)), Some((9, 9, 0))));
    }

    #[test]
    fn an_estimate_outside_is_not_accepted() {
        let bounded = curved(3);
        let span = Span { begin: 0, end: 1_000_000 };
        let bounds = Bounds::along(&[&bounded], span);
        let shifted = Correction::through(vec![(0, 5000), (1_000_000, 1_005_000)]).unwrap();
        assert!(!bounds.contain(&shifted));
    }
}
