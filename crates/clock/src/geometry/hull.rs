//! The half hull: of all messages of one direction, those that a line can still touch.
//!
//! A message from a to b is a point the relation must pass *below* (upper points); only the lower convex
//! chain of such points matters. A message from b to a is a point to pass *above* (lower points); only their
//! upper chain matters. [`crate::geometry::corridor`] holds one of each.
//!
//! The chain is the classical one of Andrew (1979) and of Duda et al. (1987) for clocks, kept incrementally
//! for points in any order: find the position, reject the point if it lies behind the chain, otherwise remove
//! the neighbours it hides.

use crate::exact::Fraction;
use crate::geometry::point::Point;
use crate::geometry::slope::{Slope, SlopeBand};

/// On which side of the relation the points lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The relation passes at or below the points: relation(x) ≤ y.
    Upper,
    /// The relation passes at or above the points: relation(x) ≥ y.
    Lower,
}

impl Side {
    /// Both sides.
    pub(crate) const BOTH: [Self; 2] = [Self::Upper, Self::Lower];

    /// The side on which the same messages lie with the clocks in the other order.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Upper => Self::Lower,
            Self::Lower => Self::Upper,
        }
    }

    /// Whether `middle` lies strictly on the relation's side of the chord from `left` to `right`.
    ///
    /// Differences of times are below 2⁶², their products below 2¹²⁴: exact.
    pub(crate) fn bends(self, left: Point, middle: Point, right: Point) -> bool {
        let (ax, ay) = ((middle.x - left.x) as i128, (middle.y - left.y) as i128);
        let (bx, by) = ((right.x - left.x) as i128, (right.y - left.y) as i128);
        let turn = ax * by - ay * bx;
        match self {
            Self::Upper => turn > 0,
            Self::Lower => turn < 0,
        }
    }
}

/// The convex chain of one side, sorted by x, strictly convex: equal sets of points give equal chains.
///
/// ```
/// use isochrone_clock::{HalfHull, Point, Side};
/// let mut hull = HalfHull::new(Side::Upper);
/// for (x, y) in [(0, 10), (4, 30), (8, 10), (4, 5)] {
///     hull.insert(Point::new(x, y)?);
/// }
/// assert_eq!(hull.len(), 3); // (4, 30) proves nothing that (4, 5) does not
/// # Ok::<(), isochrone_clock::ClockError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HalfHull {
    side: Side,
    points: Vec<Point>,
}

impl HalfHull {
    /// An empty hull of that side.
    pub const fn new(side: Side) -> Self {
        Self { side, points: Vec::new() }
    }

    /// The side of the relation that the points are on.
    pub fn side(&self) -> Side {
        self.side
    }

    /// The vertices by increasing x.
    pub fn vertices(&self) -> &[Point] {
        &self.points
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether no point was inserted.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Takes a point into account; whether it became a vertex. O(log h) when it does not (the usual case),
    /// plus O(h) to move vertices when it does.
    pub fn insert(&mut self, point: Point) -> bool {
        let at = self.points.partition_point(|v| v.x < point.x);
        let same_x = self.points.get(at).filter(|v| v.x == point.x).copied();
        if let Some(vertex) = same_x {
            if !self.tighter(point, vertex) {
                return false;
            }
        } else if let (Some(before), Some(&after)) =
            (at.checked_sub(1).map(|i| self.points[i]), self.points.get(at))
            && !self.bends(before, point, after)
        {
            return false;
        }
        self.replace_hidden(at, at + usize::from(same_x.is_some()), point);
        true
    }

    /// [`Self::insert`] for points that come in the order of x: O(1) amortized.
    pub(crate) fn append(&mut self, point: Point) {
        match self.points.last() {
            Some(last) if point.x <= last.x => {
                self.insert(point);
            }
            _ => {
                let end = self.points.len();
                self.replace_hidden(end, end, point);
            }
        }
    }

    /// Takes all vertices of `other` into account: the hull of the union. The sides must agree; a hull of the
    /// other side is ignored, since its points say nothing about this side.
    pub fn merge(&mut self, other: &Self) {
        if self.side == other.side {
            for &point in &other.points {
                self.insert(point);
            }
        }
    }

    /// The same messages with the clocks in the other order, of those that are vertices.
    pub(crate) fn mirrored(&self) -> Self {
        let mut mirrored = Self::new(self.side.other());
        for vertex in &self.points {
            mirrored.insert(vertex.swapped());
        }
        mirrored
    }

    /// The vertex that a line of that slope touches first: for upper points the one that minimises `y −
    /// slope·x`, for lower points the one that maximises it. Ties: the leftmost. `None` when empty. O(log h).
    pub fn support(&self, slope: Slope) -> Option<Point> {
        let upper = self.side == Side::Upper;
        self.first_where(|edge| if upper { edge >= slope } else { edge <= slope })
    }

    /// The extreme height at `x` over all lines whose slope is in the band and that do not cross this side:
    /// the highest for upper points, the lowest for lower ones. `None` when empty.
    ///
    /// For a slope b, the best line touches the support of b; its height at x is concave in b (convex for
    /// lower points) with derivative x − (x of the support). So the best b is the slope of the edge that
    /// spans x, as near as the band allows.
    pub(crate) fn extreme(&self, x: i64, band: SlopeBand) -> Option<Fraction> {
        let (first, last) = (self.points.first()?, self.points.last()?);
        // Left of an upper chain the highest line is the flattest; of a lower chain the lowest is the
        // steepest.
        let (left_of_all, right_of_all) = match self.side {
            Side::Upper => (band.min(), band.max()),
            Side::Lower => (band.max(), band.min()),
        };
        let best = if x <= first.x {
            left_of_all
        } else if x >= last.x {
            right_of_all
        } else {
            let right = self.points.partition_point(|v| v.x < x);
            band.clamp(Slope::between(self.points[right - 1], self.points[right])?)
        };
        Some(best.height(self.support(best)?, x))
    }

    /// Puts `point` in place of `points[left..right]` and of every neighbour that it hides.
    fn replace_hidden(&mut self, mut left: usize, mut right: usize, point: Point) {
        while left >= 2 && !self.bends(self.points[left - 2], self.points[left - 1], point) {
            left -= 1;
        }
        while right + 1 < self.points.len() && !self.bends(point, self.points[right], self.points[right + 1])
        {
            right += 1;
        }
        self.points.splice(left..right, [point]);
    }

    /// The first vertex whose edge to the right satisfies `reached` (monotone along the chain), else the last
    /// vertex.
    fn first_where(&self, reached: impl Fn(Slope) -> bool) -> Option<Point> {
        let (mut low, mut high) = (0, self.points.len().checked_sub(1)?);
        while low < high {
            let middle = usize::midpoint(low, high);
            if Slope::between(self.points[middle], self.points[middle + 1]).is_some_and(&reached) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        self.points.get(low).copied()
    }

    /// Whether `point` forbids more than a vertex at the same x.
    fn tighter(&self, point: Point, vertex: Point) -> bool {
        match self.side {
            Side::Upper => point.y < vertex.y,
            Side::Lower => point.y > vertex.y,
        }
    }

    fn bends(&self, left: Point, middle: Point, right: Point) -> bool {
        self.side.bends(left, middle, right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MAX_ABS_NS;
    use proptest::prelude::*;

    fn hull_of(side: Side, points: &[(i64, i64)]) -> HalfHull {
        let mut hull = HalfHull::new(side);
        for &(x, y) in points {
            hull.insert(Point::new(x, y).unwrap());
        }
        hull
    }

    /// A point is a vertex when no chord of two others (or equal x) passes at or under it.
    fn brute_force(side: Side, points: &[(i64, i64)]) -> Vec<Point> {
        let sign = if side == Side::Upper { 1 } else { -1 };
        let p: Vec<(i64, i64)> = points.iter().map(|&(x, y)| (x, sign * y)).collect();
        let hidden = |q: (i64, i64)| {
            p.iter().any(|a| a.0 == q.0 && a.1 < q.1)
                || p.iter().any(|a| {
                    a.0 < q.0
                        && p.iter()
                            .any(|b| b.0 > q.0 && (b.1 - a.1) * (q.0 - a.0) <= (q.1 - a.1) * (b.0 - a.0))
                })
        };
        let mut kept: Vec<_> = p.iter().filter(|&&q| !hidden(q)).collect();
        kept.sort_unstable();
        kept.dedup();
        kept.into_iter().map(|&(x, y)| Point::new(x, sign * y).unwrap()).collect()
    }

    #[test]
    fn extremes_do_not_overflow() {
        let m = MAX_ABS_NS;
        let hull = hull_of(Side::Upper, &[(-m, m), (m, m), (0, -m), (1, -m), (-1, m)]);
        assert_eq!(hull.len(), 4);
        assert!(Point::new(m + 1, 0).is_err() && Point::new(0, i64::MIN).is_err());
        assert!(HalfHull::new(Side::Lower).support(Slope::ONE).is_none());
    }

    #[test]
    fn equal_x_keeps_the_tighter() {
        assert_eq!(hull_of(Side::Upper, &[(1, 5), (1, 3), (1, 4)]).vertices(), &[Point { x: 1, y: 3 }]);
        assert_eq!(hull_of(Side::Lower, &[(1, 5), (1, 3), (1, 4)]).vertices(), &[Point { x: 1, y: 5 }]);
    }

    fn sides() -> impl Strategy<Value = Side> {
        prop_oneof![Just(Side::Upper), Just(Side::Lower)]
    }

    proptest! {
        #[test]
        fn equals_brute_force_in_any_order(
            side in sides(),
            points in prop::collection::vec((-12i64..12, -12i64..12), 0..24),
            order in any::<u64>(),
        ) {
            let hull = hull_of(side, &points);
            prop_assert_eq!(hull.vertices(), &brute_force(side, &points)[..]);
            let mut shuffled = points.clone();
            let mut state = order | 1;
            for i in (1..shuffled.len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                shuffled.swap(i, (state >> 33) as usize % (i + 1));
            }
            prop_assert_eq!(hull_of(side, &shuffled), hull);
        }

        #[test]
        fn merge_is_the_hull_of_the_union(
            side in sides(),
            p in prop::collection::vec((-50i64..50, -50i64..50), 0..20),
            q in prop::collection::vec((-50i64..50, -50i64..50), 0..20),
        ) {
            let mut merged = hull_of(side, &p);
            merged.merge(&hull_of(side, &q));
            prop_assert_eq!(merged, hull_of(side, &[p, q].concat()));
        }

        #[test]
        fn support_is_extreme(
            side in sides(),
            points in prop::collection::vec((-50i64..50, -50i64..50), 1..20),
            dy in -20i64..20, dx in 1i64..20,
        ) {
            let hull = hull_of(side, &points);
            let slope = Slope::new(dy, dx).unwrap();
            let cost = |x: i64, y: i64| y * dx - dy * x;
            let found = hull.support(slope).unwrap();
            let all = points.iter().map(|&(x, y)| cost(x, y));
            let best = if side == Side::Upper { all.min() } else { all.max() };
            prop_assert_eq!(Some(cost(found.x, found.y)), best);
        }
    }
}
