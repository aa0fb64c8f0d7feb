//! The line that stays farthest from all messages of a corridor.
//!
//! Of all lines of slope b, the highest that no upper point contradicts and the lowest that no lower point
//! contradicts are parallel; the line halfway between them has the greatest margin for that b. The best b
//! maximises the gap. As a function of b the gap is concave and piecewise linear, with the slopes of the hull
//! edges as its corners, and its derivative is (x of the support in the lower hull) − (x of the support in
//! the upper hull). So the maximum is found by comparing slopes and abscissas only: nothing is ever
//! multiplied three times.
//!
//! Both sides are turned to be upper ones: lower points are reflected through the origin, so that the gap of
//! slope b is the sum of the two least values of y − b·x. Chains of points that come sorted serve as half
//! hulls that exist for a moment only: without a fold, without a suspect.
//!
//! In an infeasible corridor the gap is negative, and the same line is the one of least violation.
//! `crate::link::judge` uses it for links that contradict themselves; estimates are those of
//! `crate::estimate::folds`.

use crate::exact::{Fraction, floor_div, saturate};
use crate::geometry::hull::{HalfHull, Side};
use crate::geometry::slope::{Slope, SlopeBand};
use crate::geometry::{corridor::Corridor, point::Point};

/// Adds a point that is not left of the chain's last, and at the same x not below it. O(1) amortised.
pub(crate) fn extend(chain: &mut Vec<Point>, point: Point) {
    if chain.last().is_some_and(|last| last.x == point.x) {
        return;
    }
    while let [.., left, middle] = chain[..]
        && !Side::Upper.bends(left, middle, point)
    {
        chain.pop();
    }
    chain.push(point);
}

/// The lower convex chain of points sorted by x, then y. O(n).
pub(crate) fn chain(points: impl IntoIterator<Item = Point>) -> Vec<Point> {
    let mut chain = Vec::new();
    points.into_iter().for_each(|p| extend(&mut chain, p));
    chain
}

/// The slope of greatest gap between two chains.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Margin {
    pub(crate) slope: Slope,
    /// The first and the last vertex that the parallel of that slope touches, of either chain.
    pub(crate) touched: [(usize, usize); 2],
    /// The vertical gap of the two parallels, ns, times `slope.dx()`. Negative when no line fits.
    pub(crate) scaled_gap: i128,
}

impl Margin {
    /// The best slope of the band, of several the least; `None` when a chain is empty. O(h).
    ///
    /// With b the supports move to the right on either (turned) chain, and the gap grows as long as their
    /// abscissas add up to less than zero.
    pub(crate) fn of(chains: [&[Point]; 2], band: SlopeBand) -> Option<Self> {
        if chains.iter().any(|c| c.is_empty()) {
            return None;
        }
        let edge =
            |side: usize, i: usize| chains[side].get(i + 1).and_then(|&p| Slope::between(chains[side][i], p));
        let mut slope = band.min();
        let mut first = [0, 1].map(|s| {
            let mut i = 0;
            while edge(s, i).is_some_and(|e| e < slope) {
                i += 1;
            }
            i
        });
        loop {
            let last = [0, 1].map(|s| first[s] + usize::from(edge(s, first[s]) == Some(slope)));
            let grows = chains[0][last[0]].x + chains[1][last[1]].x < 0;
            if !grows || slope == band.max() {
                let touched = [0, 1].map(|s| (first[s], last[s]));
                let [p, q] = [0, 1].map(|s| chains[s][first[s]]);
                // Sums and slopes are at most 2⁶², so the products are at most 2¹²⁴.
                let (rise, run) = ((p.y + q.y) as i128, (p.x + q.x) as i128);
                let scaled_gap = rise * slope.dx() as i128 - slope.dy() as i128 * run;
                return Some(Self { slope, touched, scaled_gap });
            }
            let corners = [edge(0, last[0]), edge(1, last[1]), Some(band.max())];
            slope = corners.into_iter().flatten().min().unwrap_or(band.max());
            first = last;
        }
    }

    /// The line halfway between the parallels; of the chains that it was made of.
    pub(crate) fn line(&self, chains: [&[Point]; 2]) -> MarginLine {
        let [upper, lower] = [0, 1].map(|s| chains[s][self.touched[s].0]);
        MarginLine { slope: self.slope, upper, lower: lower.reflected() }
    }

    /// Whether no line of the band satisfies all points.
    pub(crate) fn is_contradictory(&self) -> bool {
        self.scaled_gap < 0
    }

    /// Vertical distance of the two parallels, ns.
    pub(crate) fn gap(&self) -> f64 {
        self.scaled_gap as f64 / self.slope.dx() as f64
    }
}

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
        let turned: Vec<Point> = lower.vertices().iter().rev().map(|p| p.reflected()).collect();
        let chains = [upper.vertices(), &turned];
        Some(Margin::of(chains, band)?.line(chains))
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
    use crate::geometry::corridor::tests::corridor;
    use crate::geometry::slope::SlopeRange;
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
