//! The line that stays farthest from all messages of a corridor.
//!
//! Of all lines of slope b, the highest that no upper point contradicts and the lowest that no lower point
//! contradicts are parallel; the line halfway between them has the greatest margin for that b. The best b
//! maximises the gap. As a function of b the gap is concave and piecewise linear, with the slopes of the hull
//! edges as its corners, and its derivative is (x of the support in the lower hull) − (x of the support in
//! the upper hull). So the maximum is found by comparing slopes and abscissas only: nothing is ever
//! multiplied three times.
//!
//! In an infeasible corridor the gap is negative, and the same line is the one of least violation.
//! [`crate::link`] uses it for links that contradict themselves; estimates are those of [`crate::folds`].

use crate::corridor::Corridor;
use crate::exact::{Fraction, floor_div, saturate};
use crate::hull::HalfHull;
use crate::point::Point;
use crate::slope::{Slope, SlopeBand};

/// The line halfway between two parallel lines, one through an upper and one through a lower point.
///
/// ```
/// use isochrone_clock::{Corridor, MarginLine, SlopeRange};
/// let mut link = Corridor::new();
/// link.a_to_b(0, 100)?;
/// link.b_to_a(1_000, 1_000)?;
/// let band = SlopeRange::prior(0).closed().ok_or("not empty")?;
/// let line = MarginLine::of(&link, band).ok_or("both directions have messages")?;
/// assert_eq!((line.at(0), line.margin_ns()), (50, 50));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarginLine {
    slope: Slope,
    upper: Point,
    lower: Point,
}

impl MarginLine {
    /// The line of greatest margin among the slopes of `band`; `None` unless there are messages both ways.
    ///
    /// Deterministic: of several best slopes the least, of several touched vertices the leftmost. O(h log h).
    pub fn of(corridor: &Corridor, band: SlopeBand) -> Option<Self> {
        Self::between(&corridor.upper(), &corridor.lower(), band)
    }

    /// The same between two half hulls.
    pub(crate) fn between(upper: &HalfHull, lower: &HalfHull, band: SlopeBand) -> Option<Self> {
        let mut corners: Vec<Slope> =
            upper.edges().chain(lower.edges()).filter(|&s| band.clamp(s) == s).collect();
        corners.extend([band.min(), band.max()]);
        corners.sort_unstable();
        // The gap grows past a corner as long as the lower support is to the right of the upper one.
        let grows_after = |&b: &Slope| match (upper.support_after(b), lower.support_after(b)) {
            (Some(u), Some(l)) => l.x() > u.x(),
            _ => false,
        };
        let best = corners.partition_point(grows_after).min(corners.len() - 1);
        let slope = corners[best];
        Some(Self { slope, upper: upper.support(slope)?, lower: lower.support(slope)? })
    }

    /// The rate db/da of the line.
    pub fn slope(&self) -> Slope {
        self.slope
    }

    /// The upper point that the upper parallel touches.
    pub fn upper(&self) -> Point {
        self.upper
    }

    /// The lower point that the lower parallel touches.
    pub fn lower(&self) -> Point {
        self.lower
    }

    /// Time of b when a shows `x`: the mean of the two parallels, rounded down; the nearest `i64` when it
    /// does not fit.
    pub fn at(&self, x: i64) -> i64 {
        let Fraction { num: above, den } = self.slope.height(self.upper, x);
        let Fraction { num: below, .. } = self.slope.height(self.lower, x);
        // Each numerator is below 1.5·2¹²⁵ in magnitude for any i64, so the sum fits.
        saturate(floor_div(above + below, 2 * den))
    }

    /// Half the vertical gap between the parallels, ns, rounded down: how early any message could have been
    /// received without contradicting the line. Negative in an infeasible corridor: minus the least
    /// violation.
    pub fn margin_ns(&self) -> i64 {
        let (dy, dx) = (self.slope.dy() as i128, self.slope.dx() as i128);
        let rise = (self.upper.y() - self.lower.y()) as i128;
        let run = (self.upper.x() - self.lower.x()) as i128;
        saturate(floor_div(rise * dx - dy * run, 2 * dx))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MAX_ABS_NS;
    use crate::corridor::tests::corridor;
    use crate::slope::SlopeRange;
    use proptest::prelude::*;

    fn band(ppm: u32) -> SlopeBand {
        SlopeRange::prior(ppm).closed().unwrap()
    }

    #[test]
    fn needs_both_directions() {
        assert!(MarginLine::of(&corridor(&[(0, 1)], &[]), band(500)).is_none());
        assert!(MarginLine::of(&corridor(&[], &[(0, 1)]), band(500)).is_none());
    }

    #[test]
    fn extremes_do_not_overflow() {
        let m = MAX_ABS_NS;
        let line = MarginLine::of(&corridor(&[(-m, m), (m, m)], &[(-m, -m), (m, -m)]), band(500)).unwrap();
        assert!(line.margin_ns() > 0);
        assert!(line.at(i64::MIN) < line.at(0) && line.at(0) < line.at(i64::MAX));
    }

    #[test]
    fn an_impossible_pair_is_violated_evenly() {
        let line = MarginLine::of(&corridor(&[(0, 0)], &[(0, 7)]), band(500)).unwrap();
        assert_eq!((line.margin_ns(), line.at(0)), (-4, 3));
    }

    /// The doubled, dx-scaled gap of slope dy/dx, by enumeration.
    fn gap(upper: &[(i64, i64)], lower: &[(i64, i64)], s: Slope) -> (i128, i128) {
        let cost = |&(x, y): &(i64, i64)| y as i128 * s.dx() as i128 - s.dy() as i128 * x as i128;
        let above = upper.iter().map(cost).min().unwrap();
        let below = lower.iter().map(cost).max().unwrap();
        (above - below, s.dx() as i128)
    }

    proptest! {
        #[test]
        fn no_other_slope_has_a_greater_margin(
            upper in prop::collection::vec((-60i64..60, -60i64..60), 1..10),
            lower in prop::collection::vec((-60i64..60, -60i64..60), 1..10),
            ppm in prop_oneof![Just(500u32), Just(300_000), Just(2_000_000)],
        ) {
            let band = band(ppm);
            let line = MarginLine::of(&corridor(&upper, &lower), band).unwrap();
            let (best, best_dx) = gap(&upper, &lower, line.slope());
            prop_assert_eq!(line.margin_ns() as i128, floor_div(best, 2 * best_dx));
            for dx in 1..40 {
                for dy in 1..60 {
                    let s = Slope::new(dy, dx).unwrap();
                    if band.clamp(s) == s {
                        let (other, other_dx) = gap(&upper, &lower, s);
                        prop_assert!(other * best_dx <= best * other_dx, "{:?} beats {:?}", s, line);
                    }
                }
            }
        }

        #[test]
        fn the_line_of_a_feasible_corridor_is_inside(
            upper in prop::collection::vec((-60i64..60, -60i64..60), 1..10),
            lower in prop::collection::vec((-60i64..60, -60i64..60), 1..10),
            x in -300i64..300,
        ) {
            let upper: Vec<_> = upper.into_iter().map(|(x, y)| (x, y + 140)).collect();
            let c = corridor(&upper, &lower);
            if let Ok(bounded) = c.within(SlopeRange::prior(100_000), crate::Wander::NONE) {
                let line = MarginLine::of(&c, bounded.band()).unwrap();
                prop_assert!(line.margin_ns() >= 0);
                prop_assert!(bounded.lo(x).unwrap() <= line.at(x) && line.at(x) <= bounded.hi(x).unwrap());
            }
        }
    }
}
