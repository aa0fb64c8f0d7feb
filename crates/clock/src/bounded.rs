//! A corridor within a range of rates: the lowest and the highest time of the other clock at any instant.
//!
//! This is the guarantee of a link. [`crate::corridor::Corridor::within`] makes one; [`crate::joint`] chains
//! them along paths.

use crate::corridor::Corridor;
use crate::margin::MarginLine;
use crate::slope::SlopeBand;

/// A feasible corridor whose rates are closed on both sides.
///
/// ```
/// use isochrone_clock::{Corridor, SlopeRange};
/// let mut link = Corridor::new();
/// link.a_to_b(0, 100)?; // one message: an upper bound, and none below
/// let bounded = link.within(SlopeRange::prior(500))?;
/// assert_eq!(bounded.hi(0), Some(100));
/// assert_eq!(bounded.hi(1_000_000), Some(1_000_600)); // 500 ppm of a millisecond
/// assert_eq!(bounded.lo(0), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounded {
    corridor: Corridor,
    band: SlopeBand,
    prior_contradicted: bool,
}

impl Bounded {
    pub(crate) fn new(corridor: Corridor, band: SlopeBand, prior_contradicted: bool) -> Self {
        Self { corridor, band, prior_contradicted }
    }

    /// The messages behind it.
    pub fn corridor(&self) -> &Corridor {
        &self.corridor
    }

    /// The rates of the relations considered: those the messages allow within the prior, or, when
    /// these contradict each other, those the messages allow.
    pub fn band(&self) -> SlopeBand {
        self.band
    }

    /// Whether the messages contradicted the prior on the rate.
    pub fn prior_contradicted(&self) -> bool {
        self.prior_contradicted
    }

    /// The highest time of b, over all relations of the corridor, when a shows `x`, rounded up.
    ///
    /// As a maximum of increasing lines it increases with x and is **convex**: a chord between two of its
    /// values lies above it, so sampling it and interpolating stays a bound. `None` without messages from a
    /// to b, or when the value does not fit. O(log h), exact before rounding.
    pub fn hi(&self, x: i64) -> Option<i64> {
        self.corridor.upper().extreme(in_range(x)?, self.band)?.ceil()
    }

    /// The lowest time of b when a shows `x`, rounded down; increasing and **concave** in x. `None` without
    /// messages from b to a, or when the value does not fit.
    pub fn lo(&self, x: i64) -> Option<i64> {
        self.corridor.lower().extreme(in_range(x)?, self.band)?.floor()
    }

    /// Bounds of b − a at the instant when a shows `x`: (`lo(x)` − x, `hi(x)` − x).
    pub fn offset_bounds_at(&self, x: i64) -> (Option<i64>, Option<i64>) {
        let offset = |bound: Option<i64>| bound.and_then(|y| y.checked_sub(x));
        (offset(self.lo(x)), offset(self.hi(x)))
    }

    /// The relation that stays farthest from all messages, within the band. `None` without messages of both
    /// directions.
    pub fn margin_line(&self) -> Option<MarginLine> {
        MarginLine::of(&self.corridor, self.band)
    }

    /// The same with the clocks in the other order: all relations inverted.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        Self {
            corridor: self.corridor.mirrored(),
            band: self.band.recip(),
            prior_contradicted: self.prior_contradicted,
        }
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
        let b = corridor(&[(-m, m), (m, m)], &[(-m, -m), (m, -m)]).within(SlopeRange::prior(500)).unwrap();
        for x in [-m, -1, 0, 1, m] {
            assert!(b.lo(x).is_some() && b.hi(x).is_some(), "{x}");
        }
        assert_eq!(b.hi(i64::MAX), None);
        assert_eq!(b.lo(i64::MIN), None);
        let steep = corridor(&[(-m, -m)], &[(-m, -m)]).within(SlopeRange::UNBOUNDED).unwrap();
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
            if let Ok(b) = c.within(SlopeRange::prior(ppm)) {
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
            if let Ok(b) = corridor(&upper, &lower).within(SlopeRange::prior(100_000)) {
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
            if let Ok(b) = corridor(&upper, &lower).within(SlopeRange::prior(200_000)) {
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
