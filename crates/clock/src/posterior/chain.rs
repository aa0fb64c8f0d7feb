//! Convex chains of sorted points, and the line that stays farthest from two of them; exact.
//!
//! The same mathematics as in [`crate::hull`] and [`crate::margin`], for points that come sorted and for
//! corridors that exist for a moment only: without a fold, without a suspect. Both sides are turned to be
//! upper ones ([`super::floor`]), so that the gap of slope b is the sum of the two least values of y − b·x.

use super::floor::Kept;
use crate::point::Point;
use crate::slope::{Slope, SlopeBand};

/// Adds a point that is not left of the chain's last, and at the same x not below it. O(1) amortised.
pub(crate) fn extend(chain: &mut Vec<Point>, point: Point) {
    if chain.last().is_some_and(|last| last.x == point.x) {
        return;
    }
    while let [.., left, middle] = chain[..]
        && !bends(left, middle, point)
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

/// The chain of all points but one vertex: only what lies between the vertex's neighbours can come to light.
///
/// `kept` are the points of the chain, sorted. O(h) and the points between the neighbours.
pub(crate) fn chain_without(kept: &[Kept], chain: &[Point], vertex: usize) -> Vec<Point> {
    let mut rest = chain[..vertex].to_vec();
    let from = rest.last().map_or(0, |left| kept.partition_point(|k| k.point.x <= left.x));
    let to = chain.get(vertex + 1).map_or(kept.len(), |right| kept.partition_point(|k| k.point.x < right.x));
    let gone = position(kept, chain[vertex]);
    for (index, k) in kept.iter().enumerate().take(to).skip(from) {
        if index != gone {
            extend(&mut rest, k.point);
        }
    }
    chain[vertex + 1..].iter().for_each(|&p| extend(&mut rest, p));
    rest
}

/// Where the first of the points at `point` is among sorted ones.
pub(crate) fn position(kept: &[Kept], point: Point) -> usize {
    kept.partition_point(|k| k.point < point)
}

/// Whether the chain turns upward at `middle`. Exact: differences are below 2⁶², products below 2¹²⁴.
fn bends(left: Point, middle: Point, right: Point) -> bool {
    let (ax, ay) = ((middle.x - left.x) as i128, (middle.y - left.y) as i128);
    let (bx, by) = ((right.x - left.x) as i128, (right.y - left.y) as i128);
    ax * by - ay * bx > 0
}

/// The slope of greatest gap between two chains.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Margin {
    pub(crate) slope: Slope,
    /// The first and the last vertex that the parallel of that slope touches, of either chain.
    pub(crate) touched: [(usize, usize); 2],
    /// The vertical gap of the two parallels, ns, times `slope.dx()`. Negative when no line fits.
    scaled_gap: i128,
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

    /// Whether no line of the band satisfies all points.
    pub(crate) fn is_contradictory(&self) -> bool {
        self.scaled_gap < 0
    }

    /// Vertical distance of the two parallels, ns.
    pub(crate) fn gap(&self) -> f64 {
        self.scaled_gap as f64 / self.slope.dx() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hull::{HalfHull, Side};
    use crate::posterior::floor::{Floor, reflected};
    use crate::slope::SlopeRange;
    use proptest::prelude::*;

    fn points(all: &[(i64, i64)]) -> Vec<Point> {
        all.iter().map(|&(x, y)| Point::new(x, y).unwrap()).collect()
    }

    /// The gap of a slope over all points, as a fraction.
    fn gap(upper: &[Point], lower: &[Point], s: Slope) -> (i128, i128) {
        let cost = |p: &Point| p.y as i128 * s.dx() as i128 - s.dy() as i128 * p.x as i128;
        let above = upper.iter().map(cost).min().unwrap();
        (above - lower.iter().map(cost).max().unwrap(), s.dx() as i128)
    }

    #[test]
    fn extremes_do_not_overflow() {
        let m = crate::MAX_ABS_NS;
        let band = SlopeRange::UNBOUNDED.closed().unwrap();
        let upper = chain(points(&[(-m, m), (0, -m), (m, m)]));
        let lower = chain(points(&[(-m, -m), (m, -m)]));
        let margin = Margin::of([&upper, &lower], band).unwrap();
        assert!(margin.gap().is_finite() && margin.is_contradictory());
        assert!(Margin::of([&upper, &[]], band).is_none());
    }

    proptest! {
        #[test]
        fn the_chain_is_the_half_hull(all in prop::collection::vec((-15i64..15, -15i64..15), 1..40)) {
            let floor = Floor::of_all(points(&all));
            for side in [Side::Upper, Side::Lower] {
                let mut hull = HalfHull::new(side);
                for p in points(&all) {
                    hull.insert(p);
                }
                let mut own = chain(floor.turned(side).into_iter().map(|k| k.point));
                if side == Side::Lower {
                    own.reverse();
                    own = own.into_iter().map(reflected).collect();
                }
                prop_assert_eq!(&own[..], hull.vertices());
            }
        }

        #[test]
        fn without_a_vertex_it_is_the_chain_of_the_others(
            all in prop::collection::vec((-15i64..15, -15i64..15), 1..40),
            vertex in any::<prop::sample::Index>(),
        ) {
            let kept = Floor::of_all(points(&all)).turned(Side::Upper);
            let whole = chain(kept.iter().map(|k| k.point));
            let vertex = vertex.index(whole.len());
            let mut others = kept.clone();
            others.remove(position(&kept, whole[vertex]));
            prop_assert_eq!(
                chain_without(&kept, &whole, vertex),
                chain(others.iter().map(|k| k.point))
            );
        }

        #[test]
        fn no_other_slope_has_a_greater_gap(
            upper in prop::collection::vec((-60i64..60, -60i64..60), 1..10),
            lower in prop::collection::vec((-60i64..60, -60i64..60), 1..10),
            ppm in prop_oneof![Just(500u32), Just(300_000), Just(2_000_000)],
        ) {
            let band = SlopeRange::prior(ppm).closed().unwrap();
            let (upper, lower) = (points(&upper), points(&lower));
            let [u, l] = [(&upper, Side::Upper), (&lower, Side::Lower)].map(|(p, side)| {
                chain(Floor::of_all(p.clone()).turned(side).into_iter().map(|k| k.point))
            });
            let margin = Margin::of([&u, &l], band).unwrap();
            let best = gap(&upper, &lower, margin.slope);
            prop_assert_eq!((margin.scaled_gap, margin.slope.dx() as i128), best);
            for (dx, dy) in (1..40).flat_map(|dx| (1..60).map(move |dy| (dx, dy))) {
                let s = Slope::new(dy, dx).unwrap();
                if band.clamp(s) == s {
                    let other = gap(&upper, &lower, s);
                    prop_assert!(other.0 * best.1 <= best.0 * other.1, "{:?} beats {:?}", s, margin);
                }
            }
            // All that is said to be touched is.
            for (chain, (first, last)) in [&u, &l].into_iter().zip(margin.touched) {
                let cost = |p: Point| {
                    p.y as i128 * margin.slope.dx() as i128 - margin.slope.dy() as i128 * p.x as i128
                };
                let least = chain.iter().map(|&p| cost(p)).min().unwrap();
                prop_assert_eq!((cost(chain[first]), cost(chain[last])), (least, least));
            }
        }
    }
}
