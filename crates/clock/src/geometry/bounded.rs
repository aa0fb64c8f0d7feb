//! A corridor within a range of rates: the lowest and the highest time of the other clock at any instant.
//!
//! This is the guarantee of a link. [`crate::geometry::corridor::Corridor::within`] makes one; `relation`
//! joins them over the breaks of a clock, and `reach` joins links.
//!
//! Where rates are constant, the highest relation at an instant is a tangent of the half hull. Where the rate
//! may leave its constant by ± w, a message at x bounds the relation at t by its own half-plane relaxed by
//! w·|t − x|: then the tangent is that of the relaxed points, and messages near t say more than vertices far
//! away. All points are moved by whole nanoseconds, outward, so the decision stays exact in integers.

use crate::exact::Fraction;
use crate::geometry::corridor::{Corridor, Extremes, Infeasible};
use crate::geometry::hull::{HalfHull, Side};
use crate::geometry::slope::{SlopeBand, SlopeRange};
use crate::geometry::{point::Point, wander::Wander};

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
    /// For rates that wander.
    Near(Near),
}

/// The messages of one direction by x, each with the next of the convex chain of all before it, and of all
/// after it: from any instant, the chains of either side can be walked away from it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Near {
    side: Side,
    points: Vec<Point>,
    /// Index of the neighbour in the chain of the points up to this one; its own where it is the first.
    before: Vec<u32>,
    /// The same for the points from this one on.
    after: Vec<u32>,
}

impl Bounded {
    pub(crate) fn new(
        corridor: &Corridor,
        band: SlopeBand,
        wander: Wander,
        prior_contradicted: bool,
    ) -> Self {
        let points = |side| match wander {
            Wander::NONE => Points::Hull(corridor.hull(side)),
            _ => Points::Near(Near::of(side, corridor.points(side).collect())),
        };
        Self { upper: points(Side::Upper), lower: points(Side::Lower), band, wander, prior_contradicted }
    }

    /// The rates of the relations considered (the constants, where rates wander about them): those the
    /// messages allow within the prior, or, when these contradict each other, those the messages allow.
    pub fn band(&self) -> SlopeBand {
        self.band
    }

    /// Maximal deviation of rates from their constant.
    pub fn wander(&self) -> Wander {
        self.wander
    }

    /// Whether the messages contradicted the prior on the rate.
    pub fn prior_contradicted(&self) -> bool {
        self.prior_contradicted
    }

    /// The highest time of b, over all relations of the corridor, when a shows `x`, rounded up. Increasing in
    /// x; where rates are constant also **convex**. `None` without messages from a to b, or when the value
    /// does not fit.
    ///
    /// O(log h) for constant rates, else O(h); exact before rounding, but for a nanosecond outward where
    /// rates wander.
    pub fn hi(&self, x: i64) -> Option<i64> {
        self.upper.extreme(in_range(x)?, self.band, self.wander)?.ceil()
    }

    /// The lowest time of b when a shows `x`, rounded down; see [`Self::hi`]. `None` without messages from b
    /// to a, or when the value does not fit.
    pub fn lo(&self, x: i64) -> Option<i64> {
        self.lower.extreme(in_range(x)?, self.band, self.wander)?.floor()
    }

    /// The same with the clocks in the other order: all relations inverted.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        let band = self.band.recip();
        // 1 / (1 − w) is a little more than 1 + w.
        let rate = self.wander.rate();
        let wander = if rate > 0.0 { Wander::of_rate(rate / (1.0 - rate)) } else { Wander::NONE };
        Self { upper: self.lower.swapped(), lower: self.upper.swapped(), band, wander, ..*self }
    }

    /// The same when every message may be wrong by `ns` against us; `None` when that leaves the range of
    /// times.
    pub(crate) fn relaxed(&self, ns: i64) -> Option<Self> {
        let (upper, lower) = (self.upper.shifted(ns)?, self.lower.shifted(ns.checked_neg()?)?);
        Some(Self { upper, lower, ..*self })
    }
}

impl Corridor {
    /// The corridor within a prior range of rates, for rates that may wander. When the messages contradict
    /// the prior, the messages win and the result says so.
    ///
    /// # Errors
    /// [`Infeasible`] when no relation of the model satisfies all messages, or when the rates are not those
    /// of clocks.
    pub fn within(&self, prior: SlopeRange, wander: Wander) -> Result<Bounded, Infeasible> {
        let rates = self.constants(wander)?;
        let narrowed = rates.intersect(prior);
        let (band, prior_contradicted) = match narrowed.closed().filter(|_| !narrowed.is_empty()) {
            Some(band) => (band, false),
            None => (rates.closed().ok_or(Infeasible::NotAClock { rates })?, true),
        };
        Ok(Bounded::new(self, band, wander, prior_contradicted))
    }

    /// The constants about which the rate (db/da) may wander by what the messages allow.
    ///
    /// A function whose rate stays within ± w of a constant passes between all messages exactly if every pair
    /// of them leaves room for the constant (`McShane` 1934). For messages that a line satisfies, the pairs
    /// of the half hulls are the extreme ones; else all that are kept are compared, O(k²).
    fn constants(&self, wander: Wander) -> Result<SlopeRange, Infeasible> {
        match self.rates() {
            Err(Infeasible::Crossed { min, max, min_pair, max_pair }) if wander != Wander::NONE => {
                let kept = |side| self.points(side).collect::<Vec<_>>();
                let rates = Extremes::of(&kept(Side::Lower), &kept(Side::Upper)).rates()?;
                let constants = rates.widened(wander);
                let (min, max) = (rates.min.unwrap_or(min), rates.max.unwrap_or(max));
                let crossed = Infeasible::Crossed { min, max, min_pair, max_pair };
                if constants.is_empty() { Err(crossed) } else { Ok(constants) }
            }
            rates => rates.map(|rates| rates.widened(wander)),
        }
    }
}

impl Points {
    fn extreme(&self, x: i64, band: SlopeBand, wander: Wander) -> Option<Fraction> {
        match self {
            Self::Hull(hull) => hull.extreme(x, band),
            Self::Near(near) => near.extreme(x, band, wander),
        }
    }

    fn swapped(&self) -> Self {
        match self {
            Self::Hull(hull) => Self::Hull(hull.mirrored()),
            Self::Near(near) => {
                Self::Near(Near::of(near.side.other(), near.points.iter().map(|p| p.swapped()).collect()))
            }
        }
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
            Self::Near(near) => {
                Self::Near(Near::of(near.side, near.points.iter().map(moved).collect::<Option<_>>()?))
            }
        })
    }
}

impl Near {
    fn of(side: Side, mut points: Vec<Point>) -> Self {
        // Of two at one instant the tighter counts.
        points.sort_unstable_by_key(|p| (p.x(), if side == Side::Upper { p.y() } else { -p.y() }));
        points.dedup_by_key(|p| p.x());
        let before = chain(side, &points);
        let turned: Vec<Point> = points.iter().rev().map(|p| Point { x: -p.x(), y: p.y() }).collect();
        let last = points.len().saturating_sub(1) as u32;
        let after = chain(side, &turned).into_iter().rev().map(|neighbour| last - neighbour).collect();
        Self { side, points, before, after }
    }

    /// The tangent at `x` of all points, each relaxed by what the rate can wander between it and `x`.
    ///
    /// To the left of `x`, relaxing turns the plane by the wander, to the right by its opposite: only points
    /// of the convex chain of either side can touch, but for the rounding of each by a nanosecond, outward.
    /// O(h).
    fn extreme(&self, x: i64, band: SlopeBand, wander: Wander) -> Option<Fraction> {
        let relaxed = |p: Point| {
            let by = wander.over_at(x - p.x(), band.max());
            Point { x: p.x(), y: if self.side == Side::Upper { p.y() + by } else { p.y() - by } }
        };
        let right = self.points.partition_point(|p| p.x() <= x);
        let mut hull = HalfHull::new(self.side);
        let left: Vec<Point> = self.walk(&self.before, right.checked_sub(1)).collect();
        left.into_iter().rev().for_each(|p| hull.append(relaxed(p)));
        self.walk(&self.after, Some(right)).for_each(|p| hull.append(relaxed(p)));
        hull.extreme(x, band)
    }

    fn walk<'n>(&'n self, links: &'n [u32], from: Option<usize>) -> impl Iterator<Item = Point> + 'n {
        let next = |&at: &usize| {
            let next = links[at] as usize;
            (next != at).then_some(next)
        };
        let first = from.filter(|&at| at < self.points.len());
        std::iter::successors(first, next).map(|at| self.points[at])
    }
}

/// For each of some points by x, the neighbour in the convex chain of those up to it; its own index for the
/// first.
fn chain(side: Side, points: &[Point]) -> Vec<u32> {
    let mut before: Vec<u32> = Vec::with_capacity(points.len());
    for (at, &point) in points.iter().enumerate() {
        let mut neighbour = at.saturating_sub(1);
        while let Some(&next) = before.get(neighbour)
            && next as usize != neighbour
            && !side.bends(points[next as usize], points[neighbour], point)
        {
            neighbour = next as usize;
        }
        before.push(neighbour as u32);
    }
    before
}

/// Beyond the range of times the arithmetic is no longer exact, and no clock is there either.
fn in_range(x: i64) -> Option<i64> {
    crate::error::checked_time(x).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MAX_ABS_NS;
    use crate::geometry::corridor::tests::corridor;
    use crate::geometry::point::Point;
    use crate::geometry::slope::{Slope, SlopeRange};
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
        fn wander_relaxes_every_message_by_its_distance(
            upper in messages(), lower in messages(), x in -200_000i64..200_000, ppm in prop_oneof![Just(10.0), Just(2_000.0)],
        ) {
            let spread = |m: &Messages, lift: i64| -> Messages { m.iter().map(|&(x, y)| (x * 1000, y * 1000 + lift)).collect() };
            let (upper, lower) = (spread(&upper, 140_000), spread(&lower, 0));
            let wander = Wander::of_pair_ppm(ppm).unwrap();
            if let Ok(b) = corridor(&upper, &lower).within(SlopeRange::prior(300_000), wander) {
                // All points, relaxed one by one.
                let relaxed = |points: &Messages, sign: i64| -> Messages {
                    let by = |px: i64| sign * wander.over_at(x - px, b.band().max());
                    points.iter().map(|&(px, py)| (px, py + by(px))).collect()
                };
                let near = |a: Option<i64>, b: Option<i64>| a.zip(b).is_none_or(|(a, b)| (a - b).abs() <= 2) && a.is_some() == b.is_some();
                let (hi, lo) = (brute_hi(&relaxed(&upper, 1), x, b.band()), brute_lo(&relaxed(&lower, -1), x, b.band()));
                prop_assert!(near(b.hi(x), hi) && near(b.lo(x), lo), "{:?} {:?} {:?} {:?}", b.hi(x), hi, b.lo(x), lo);
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
