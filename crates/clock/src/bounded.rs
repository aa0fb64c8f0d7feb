//! A corridor within a range of rates: the lowest and the highest time of the other clock at any instant.
//!
//! This is the guarantee of a link. [`crate::corridor::Corridor::within`] makes one; [`crate::relation`] joins them
//! over the breaks of a clock, and [`crate::reach`] joins links.
//!
//! Where rates are constant, the highest relation at an instant is a tangent of the half hull. Where the rate may leave
//! its constant by ± w, a message at x bounds the relation at t by its own half-plane relaxed by w·|t − x|: then the
//! tangent is that of the relaxed points, and messages near t say more than vertices far away. All points are moved
//! by whole nanoseconds, outward, so the decision stays exact in integers.

use crate::corridor::Corridor;
use crate::exact::Fraction;
use crate::hull::{HalfHull, Side};
use crate::point::Point;
use crate::slope::SlopeBand;
use crate::wander::Wander;

/// A feasible corridor whose rates are closed on both sides.
///
/// ```
/// use isochrone_clock::{Corridor, SlopeRange, Wander};
/// let mut link = Corridor::new();
/// link.a_to_b(0, 100)?; // one message: an upper bound, and none below
/// let bounded = link.within(SlopeRange::prior(500), Wander::NONE)?;
/// assert_eq!(bounded.hi(0), Some(100));
/// assert_eq!(bounded.hi(1_000_000), Some(1_000_600)); // 500 ppm of a millisecond
/// assert_eq!(bounded.lo(0), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounded {
    upper: Points,
    lower: Points,
    band: SlopeBand,
    wander: Wander,
    prior_contradicted: bool,
}

/// The messages of one direction that can matter at some instant.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Points {
    /// For rates that are constant.
    Hull(HalfHull),
    /// For rates that wander, by x.
    Near(Side, Vec<Point>),
}

impl Bounded {
    pub(crate) fn new(
        corridor: &Corridor,
        band: SlopeBand,
        wander: Wander,
        prior_contradicted: bool,
    ) -> Self {
        let points = |side| Points::of(corridor.hull(side), corridor.points(side), wander, band);
        Self { upper: points(Side::Upper), lower: points(Side::Lower), band, wander, prior_contradicted }
    }

    /// The rates of the relations considered (the constants, where rates wander about them): those the
    /// messages allow within the prior, or, when these contradict each other, those the messages allow.
    pub fn band(&self) -> SlopeBand {
        self.band
    }

    /// How far rates may leave their constant.
    pub fn wander(&self) -> Wander {
        self.wander
    }

    /// Whether the messages contradicted the prior on the rate.
    pub fn prior_contradicted(&self) -> bool {
        self.prior_contradicted
    }

    /// The highest time of b, over all relations of the corridor, when a shows `x`, rounded up. Increasing in x; where
    /// rates are constant also **convex**. `None` without messages from a to b, or when the value does not fit.
    ///
    /// O(log h) for constant rates, else linear in the messages that matter; exact before rounding.
    pub fn hi(&self, x: i64) -> Option<i64> {
        self.upper.extreme(in_range(x)?, self.band, self.wander)?.ceil()
    }

    /// The lowest time of b when a shows `x`, rounded down; see [`Self::hi`]. `None` without messages from b to a, or
    /// when the value does not fit.
    pub fn lo(&self, x: i64) -> Option<i64> {
        self.lower.extreme(in_range(x)?, self.band, self.wander)?.floor()
    }

    /// Bounds of b − a at the instant when a shows `x`: (`lo(x)` − x, `hi(x)` − x).
    pub fn offset_bounds_at(&self, x: i64) -> (Option<i64>, Option<i64>) {
        let offset = |bound: Option<i64>| bound.and_then(|y| y.checked_sub(x));
        (offset(self.lo(x)), offset(self.hi(x)))
    }

    /// The same with the clocks in the other order: all relations inverted.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        let band = self.band.recip();
        Self {
            upper: self.lower.swapped(self.wander, band),
            lower: self.upper.swapped(self.wander, band),
            band,
            ..*self
        }
    }

    /// The same when every message may be wrong by `ns` against us; `None` when that leaves the range of times.
    pub(crate) fn relaxed(&self, ns: i64) -> Option<Self> {
        let (upper, lower) = (self.upper.shifted(ns)?, self.lower.shifted(ns.checked_neg()?)?);
        Some(Self { upper, lower, ..*self })
    }
}

impl Points {
    fn of(hull: HalfHull, all: impl Iterator<Item = Point>, wander: Wander, band: SlopeBand) -> Self {
        if wander == Wander::NONE {
            return Self::Hull(hull);
        }
        let rate = band.max().dy() as f64 / band.max().dx() as f64 * wander.rate();
        let side = hull.side();
        let chain = hull.vertices();
        let mut right = 0;
        // Whether the point lies so far behind the chain that no wander between its neighbours there brings it
        // forward. Keeping too few points would only widen the bounds: floating point does no harm here.
        let hidden = |p: &Point| {
            while right < chain.len() && chain[right].x() < p.x() {
                right += 1;
            }
            let (Some(a), Some(b)) = (right.checked_sub(1).map(|left| chain[left]), chain.get(right)) else {
                return false;
            };
            if b.x() == p.x() {
                return b.y() != p.y();
            }
            let (from_a, to_b) = ((p.x() - a.x()) as f64, (b.x() - p.x()) as f64);
            let chord = (b.y() - a.y()) as f64 * (from_a / (from_a + to_b));
            let behind = match side {
                Side::Upper => (p.y() - a.y()) as f64 - chord,
                Side::Lower => chord - (p.y() - a.y()) as f64,
            };
            behind > 2.0 * rate * from_a * to_b / (from_a + to_b) + 2.0
        };
        let mut hidden = hidden;
        Self::Near(side, all.filter(|p| !hidden(p)).collect())
    }

    fn extreme(&self, x: i64, band: SlopeBand, wander: Wander) -> Option<Fraction> {
        match self {
            Self::Hull(hull) => hull.extreme(x, band),
            Self::Near(side, points) => {
                let mut hull = HalfHull::new(*side);
                for p in points {
                    // Both within ±2⁶¹.
                    let by = wander.over_at(x - p.x(), band.max());
                    let y = if *side == Side::Upper { p.y() + by } else { p.y() - by };
                    hull.append(Point { x: p.x(), y });
                }
                hull.extreme(x, band)
            }
        }
    }

    fn swapped(&self, wander: Wander, band: SlopeBand) -> Self {
        let (side, points) = match self {
            Self::Hull(hull) => (hull.side(), hull.vertices()),
            Self::Near(side, points) => (*side, &points[..]),
        };
        let mut points: Vec<Point> = points.iter().map(|p| p.swapped()).collect();
        points.sort_unstable();
        let mut hull = HalfHull::new(side.other());
        for &p in &points {
            hull.append(p);
        }
        Self::of(hull, points.into_iter(), wander, band)
    }

    fn shifted(&self, by: i64) -> Option<Self> {
        let moved = |p: &Point| Point::new(p.x(), p.y().checked_add(by)?).ok();
        Some(match self {
            Self::Hull(hull) => {
                let mut shifted = HalfHull::new(hull.side());
                for vertex in hull.vertices() {
                    shifted.append(moved(vertex)?);
                }
                Self::Hull(shifted)
            }
            Self::Near(side, points) => Self::Near(*side, points.iter().map(moved).collect::<Option<_>>()?),
        })
    }
}

/// Beyond the range of times the arithmetic is no longer exact, and no clock is there either.
fn in_range(x: i64) -> Option<i64> {
    crate::error::checked_time(x).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corridor::tests::corridor;
    use crate::slope::{Slope, SlopeRange};
    use crate::{MAX_ABS_NS, Point};
    use proptest::prelude::*;

    type Messages = Vec<(i64, i64)>;

    #[test]
    fn extremes_do_not_overflow() {
        let m = MAX_ABS_NS;
        let b = corridor(&[(-m, m), (m, m)], &[(-m, -m), (m, -m)])
            .within(SlopeRange::prior(500), Wander::NONE)
            .unwrap();
        for x in [-m, -1, 0, 1, m] {
            assert!(b.lo(x).is_some() && b.hi(x).is_some(), "{x}");
        }
        assert_eq!(b.hi(i64::MAX), None);
        assert_eq!(b.lo(i64::MIN), None);
        let steep = corridor(&[(-m, -m)], &[(-m, -m)]).within(SlopeRange::UNBOUNDED, Wander::NONE).unwrap();
        assert_eq!(steep.hi(m), None);
        assert_eq!(steep.hi(-m), Some(-m));
    }

    /// Candidate slopes at which an extreme can be reached: the ends of the band and every slope between two
    /// points in it.
    fn candidates(points: &[(i64, i64)], band: SlopeBand) -> Vec<Slope> {
        let mut out = vec![band.min(), band.max()];
        for &(ax, ay) in points {
            for &(bx, by) in points {
                let (a, b) = (Point::new(ax, ay).unwrap(), Point::new(bx, by).unwrap());
                out.extend(Slope::between(a, b).filter(|&s| band.clamp(s) == s));
            }
        }
        out
    }

    /// max over slopes of min over points of the height at x, as a ceiling; the same mirrored for the lower
    /// side.
    fn brute_hi(points: &[(i64, i64)], x: i64, band: SlopeBand) -> Option<i64> {
        let cost = |s: Slope| {
            let (dy, dx) = (s.dy() as i128, s.dx() as i128);
            let least = points.iter().map(|&(px, py)| py as i128 * dx + dy * (x - px) as i128).min()?;
            Some(crate::exact::ceil_div(least, dx) as i64)
        };
        candidates(points, band).into_iter().filter_map(cost).max()
    }

    fn brute_lo(points: &[(i64, i64)], x: i64, band: SlopeBand) -> Option<i64> {
        // y → −y, x → −x keeps slopes and swaps the sides.
        let turned: Messages = points.iter().map(|&(px, py)| (-px, -py)).collect();
        brute_hi(&turned, -x, band).map(|y| -y)
    }

    fn messages() -> impl Strategy<Value = Messages> {
        prop::collection::vec((-60i64..60, -60i64..60), 0..9)
    }

    proptest! {
        #[test]
        fn bounds_equal_brute_force(
            upper in messages(), lower in messages(), lift in 0i64..150,
            x in -200i64..200, ppm in prop_oneof![Just(500u32), Just(300_000), Just(2_000_000)],
        ) {
            let upper: Messages = upper.into_iter().map(|(x, y)| (x, y + lift)).collect();
            let c = corridor(&upper, &lower);
            if let Ok(b) = c.within(SlopeRange::prior(ppm), Wander::NONE) {
                prop_assert_eq!(b.hi(x), brute_hi(&upper, x, b.band()));
                prop_assert_eq!(b.lo(x), brute_lo(&lower, x, b.band()));
                if let (Some(lo), Some(hi)) = (b.lo(x), b.hi(x)) {
                    prop_assert!(lo <= hi);
                }
            }
        }

        #[test]
        fn hi_is_convex_and_lo_concave(upper in messages(), lower in messages(), a in -200i64..0, w in 1i64..100) {
            let upper: Messages = upper.into_iter().map(|(x, y)| (x, y + 130)).collect();
            if let Ok(b) = corridor(&upper, &lower).within(SlopeRange::prior(100_000), Wander::NONE) {
                // Up to the one nanosecond of each rounding.
                if let (Some(p), Some(q), Some(r)) = (b.hi(a), b.hi(a + w), b.hi(a + 2 * w)) {
                    prop_assert!(p <= q && q <= r && 2 * q <= p + r + 2);
                }
                if let (Some(p), Some(q), Some(r)) = (b.lo(a), b.lo(a + w), b.lo(a + 2 * w)) {
                    prop_assert!(p <= q && q <= r && 2 * q >= p + r - 2);
                }
            }
        }

        #[test]
        fn the_mirror_bounds_the_inverse(upper in messages(), lower in messages(), x in -100i64..100) {
            let upper: Messages = upper.into_iter().map(|(x, y)| (x, y + 130)).collect();
            if let Ok(b) = corridor(&upper, &lower).within(SlopeRange::prior(200_000), Wander::NONE) {
                let mirror = b.mirrored();
                prop_assert_eq!(mirror.mirrored().hi(x), b.hi(x));
                prop_assert_eq!(mirror.mirrored().lo(x), b.lo(x));
                // The highest relation, taken back, is the lowest inverse: x is not before lo⁻¹(hi(x)) by
                // more than rounding. (A nanosecond of y is at most 1.25 of x here, unless the prior was
                // overruled.)
                let back = b.hi(x).and_then(|y| mirror.lo(y)).filter(|_| !b.prior_contradicted());
                if let Some(back) = back {
                    prop_assert!(back <= x + 2 && back >= x - 2, "{} {}", back, x);
                }
            }
        }
    }
}
