//! Where a clock was set or stopped: the shortest span of time that must hold the change.
//!
//! Between a message that proves "not before" and a later one that proves "not after", the rate of the
//! relation is bounded; two neighbouring messages on either side of a step prove a rate that no clock has.
//! The pair with the most impossible rate lies closest around the step. [`crate::link`] cuts there.

use crate::geometry::{Corridor, Point, Side};
use crate::span::Span;

/// A rate that differs by more than this from the link's own is no slew but a step, or a slew so fast that
/// nothing can be said during it: NTP slews by up to 500 ppm.
pub(crate) const ABRUPT: f64 = 1e-3;

/// So many messages may lie in the zone of a step.
const MAX_INSIDE: usize = 10;

/// Where something happened: between these times of a, if a was set, or between these times of b, if b was.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Zone {
    x: (i64, i64),
    y: (i64, i64),
}

impl Zone {
    /// Whether a message says something about the time before: a break spoils a message only for what its own
    /// clock showed.
    pub(crate) fn is_before(&self, p: Point) -> bool {
        p.x() <= self.x.0 && p.y() <= self.y.0
    }

    /// Whether a message says something about the time after.
    pub(crate) fn is_after(&self, p: Point) -> bool {
        p.x() >= self.x.1 && p.y() >= self.y.1 && !self.is_before(p)
    }

    /// Whether hardly a message lies in it: a slew shows after a while only, a step at once.
    pub(crate) fn is_sudden(&self, corridor: &Corridor) -> bool {
        corridor.all_points().filter(|&(_, p)| !self.is_before(p) && !self.is_after(p)).count() <= MAX_INSIDE
    }

    /// The middle, a's time.
    pub(crate) fn middle(&self) -> i64 {
        self.x.0.midpoint(self.x.1)
    }
}

/// The zone around the most impossible rate of the messages; `None` if no rate differs by more than `least`.
///
/// O(k²) for k messages kept: only for links that contradict themselves. Which zone is cut is a choice, so
/// floating point decides; that the parts are free of contradiction is decided exactly.
pub(crate) fn steepest(corridor: &Corridor, least: f64) -> Option<Zone> {
    let Span { begin, end } = corridor.x_range()?;
    let y = corridor.y_range()?;
    let usual = (y.end - y.begin) as f64 / (end - begin).max(1) as f64;
    let mut worst = (least * usual, None);
    for lower in corridor.points(Side::Lower) {
        for upper in corridor.points(Side::Upper) {
            let (dx, dy) = ((upper.x() - lower.x()) as f64, (upper.y() - lower.y()) as f64);
            let ends = |a: i64, b: i64| (a.min(b), a.max(b));
            let zone = Zone { x: ends(lower.x(), upper.x()), y: ends(lower.y(), upper.y()) };
            if dx == 0.0 && dy < 0.0 {
                return Some(zone);
            }
            let rate = dy / dx;
            // Lower, then upper: the relation rises by at most dy. Upper, then lower: by at least dy.
            let beyond = if dx > 0.0 { usual - rate } else { rate - usual };
            if beyond.is_finite() && beyond > worst.0 {
                worst = (beyond, Some(zone));
            }
        }
    }
    worst.1
}
