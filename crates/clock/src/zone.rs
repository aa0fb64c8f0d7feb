//! Where a clock was set or stopped: the shortest span of time that must hold the change.
//!
//! Between a message that proves "not before" and a later one that proves "not after", the rate of the relation is
//! bounded; two neighbouring messages on either side of a step prove a rate that no clock has. The pair with the most
//! impossible rate lies closest around the step. [`crate::link`] cuts there.

use crate::corridor::Corridor;
use crate::hull::Side;

/// A rate that differs by more than this from the link's own is no slew but a step, or a slew so fast that nothing can be
/// said during it: NTP slews by up to 500 ppm.
pub(crate) const ABRUPT: f64 = 1e-3;

/// The span (a's time) around the most impossible rate of the messages; `None` if no rate is abrupt.
///
/// O(k²) for k messages kept: only for links that contradict themselves. Which span is cut is a choice, so floating
/// point decides; that the parts are free of contradiction is decided exactly.
pub(crate) fn steepest(corridor: &Corridor) -> Option<(i64, i64)> {
    let (begin, end) = corridor.x_range()?;
    let (first, last) = corridor.y_range()?;
    let usual = (last - first) as f64 / (end - begin).max(1) as f64;
    let mut worst = (ABRUPT * usual, None);
    for lower in corridor.points(Side::Lower) {
        for upper in corridor.points(Side::Upper) {
            let (dx, dy) = ((upper.x() - lower.x()) as f64, (upper.y() - lower.y()) as f64);
            if dx == 0.0 && dy < 0.0 {
                return Some((lower.x(), lower.x()));
            }
            let rate = dy / dx;
            // Lower, then upper: the relation rises by at most dy. Upper, then lower: by at least dy.
            let beyond = if dx > 0.0 { usual - rate } else { rate - usual };
            if beyond.is_finite() && beyond > worst.0 {
                worst = (beyond, Some((lower.x().min(upper.x()), lower.x().max(upper.x()))));
            }
        }
    }
    worst.1
}
