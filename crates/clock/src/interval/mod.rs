//! Uncertainty over time: where the reference time of a clock can be, row by row, and between rows outward.
//!
//! The rows come from `crate::network::joint`, which knows that the upper bound is convex and the lower one
//! concave in time: a chord between two rows can only be too wide. Beyond the rows nothing is promised.

mod outline;
mod rows;
mod thinned;

pub(crate) use outline::Outline;
pub(crate) use rows::{BoundPoints, Bounds, KnownAt, Row, to_interval};
pub(crate) use thinned::{thinned_correction, thinned_to};

use crate::correction::Correction;
use crate::error::{ClockError, checked_time};
use crate::exact::{ceil_div, floor_div};

/// Largest absolute bound of a row, ns: 2⁶².
pub const MAX_BOUND_NS: i64 = 1 << 62;

/// A time within what a bound can be.
pub(crate) fn limited(time: i64) -> i64 {
    time.clamp(-MAX_BOUND_NS, MAX_BOUND_NS)
}

/// The uncertainty at one instant of a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntervalRow {
    /// The instant, raw ns of the clock itself.
    pub raw: i64,
    /// The reference's time is not before this, ns.
    pub lo: i64,
    /// The reference's time is not after this, ns.
    pub hi: i64,
    /// A realistic error of the estimate, ns.
    pub e95: i64,
}

/// Rows of uncertainty by increasing raw time.
///
/// ```
/// use isochrone_clock::{Interval, IntervalRow};
/// let row = |raw, lo, hi, e95| IntervalRow { raw, lo, hi, e95 };
/// let interval = Interval::new(vec![row(0, -5, 5, 2), row(10, 4, 17, 3)])?;
/// assert_eq!(interval.at(5), Some((-1, 11, 3))); // −0.5, 11 and 2.5, rounded outward
/// assert_eq!(interval.at(11), None);
/// # Ok::<(), isochrone_clock::ClockError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interval {
    rows: Vec<IntervalRow>,
}

impl Interval {
    /// An interval from its rows.
    ///
    /// # Errors
    /// [`ClockError::TooFewRows`] without a row, [`ClockError::OutOfOrder`] unless raw increases strictly,
    /// [`ClockError::TimeOutOfRange`], [`ClockError::BadInterval`] for `lo > hi`, a negative `e95` or a value
    /// beyond ±`MAX_BOUND_NS`.
    pub fn new(rows: Vec<IntervalRow>) -> Result<Self, ClockError> {
        if rows.is_empty() {
            return Err(ClockError::TooFewRows { needed: 1, got: 0 });
        }
        for (row, r) in rows.iter().enumerate() {
            checked_time(r.raw)?;
            // `e95` may span the whole range of bounds and some; only its sign matters for exactness.
            if r.lo > r.hi || r.e95 < 0 || r.lo < -MAX_BOUND_NS || r.hi > MAX_BOUND_NS {
                return Err(ClockError::BadInterval { row });
            }
        }
        match rows.windows(2).position(|w| w[1].raw <= w[0].raw) {
            Some(row) => Err(ClockError::OutOfOrder { row: row + 1 }),
            None => Ok(Self { rows }),
        }
    }

    /// The rows.
    pub fn rows(&self) -> &[IntervalRow] {
        &self.rows
    }

    /// (lo, hi, e95) at raw time `raw`: linear between the two rows around it, each rounded outward.
    /// `None` before the first and after the last row. O(log rows).
    pub fn at(&self, raw: i64) -> Option<(i64, i64, i64)> {
        let right = self.rows.partition_point(|r| r.raw < raw);
        let next = self.rows.get(right)?;
        if next.raw == raw {
            return Some((next.lo, next.hi, next.e95));
        }
        let left = self.rows.get(right.checked_sub(1)?)?;
        let (run, whole) = ((raw - left.raw) as i128, (next.raw - left.raw) as i128);
        // A rise is below 2⁶⁴ and a run below 2⁶²: exact. Results lie between the rows' values, so they fit.
        let rise = |from: i64, to: i64| (to as i128 - from as i128) * run;
        let down = |from: i64, to: i64| (from as i128 + floor_div(rise(from, to), whole)) as i64;
        let up = |from: i64, to: i64| (from as i128 + ceil_div(rise(from, to), whole)) as i64;
        Some((down(left.lo, next.lo), up(left.hi, next.hi), up(left.e95, next.e95)))
    }

    /// Maximal error of a correction by this interval, ns: least and greatest over the rows. The estimate
    /// need not lie in the middle of its interval, so this is more than the half width. Between rows it is
    /// never larger than the greatest, where the correction is straight.
    pub fn error_range(&self, correction: &Correction) -> (i64, i64) {
        let error = |r: &IntervalRow| {
            let estimate = correction.apply(r.raw);
            r.hi.saturating_sub(estimate).max(estimate.saturating_sub(r.lo))
        };
        let errors = self.rows.iter().map(error);
        (errors.clone().min().unwrap_or(0), errors.max().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(raw: i64, lo: i64, hi: i64, e95: i64) -> IntervalRow {
        IntervalRow { raw, lo, hi, e95 }
    }

    #[test]
    fn validates() {
        assert!(Interval::new(vec![]).is_err());
        assert!(Interval::new(vec![row(0, 1, 0, 0)]).is_err());
        assert!(Interval::new(vec![row(0, 0, 0, -1)]).is_err());
        assert!(Interval::new(vec![row(0, 0, 0, 0), row(0, 0, 0, 0)]).is_err());
        assert!(Interval::new(vec![row(i64::MAX, 0, 0, 0)]).is_err());
        assert!(Interval::new(vec![row(0, i64::MIN, 0, 0)]).is_err());
    }

    #[test]
    fn nothing_is_promised_outside() {
        let i = Interval::new(vec![row(3, 1, 5, 2)]).unwrap();
        assert_eq!((i.at(2), i.at(3), i.at(4)), (None, Some((1, 5, 2)), None));
        assert_eq!(i.rows().len(), 1);
    }

    proptest! {
        #[test]
        fn between_rows_is_outward(
            (a, b) in (-1000i64..0, 1i64..1000), t in 0i64..1000,
            l in any::<[i16; 2]>(), w in any::<[u8; 2]>(), e in any::<[u8; 2]>(),
        ) {
            let r = [
                row(a, l[0].into(), i64::from(l[0]) + i64::from(w[0]), e[0].into()),
                row(b, l[1].into(), i64::from(l[1]) + i64::from(w[1]), e[1].into()),
            ];
            let raw = a + t % (b - a + 1);
            let (lo, hi, e95) = Interval::new(r.to_vec()).unwrap().at(raw).unwrap();
            let exact = |p: i64, q: i64| p * (b - raw) + q * (raw - a); // times (b − a)
            let (dx, lo_x) = (b - a, exact(r[0].lo, r[1].lo));
            let (hi_x, e_x) = (exact(r[0].hi, r[1].hi), exact(r[0].e95, r[1].e95));
            prop_assert!(lo * dx <= lo_x && lo_x < (lo + 1) * dx);
            prop_assert!(hi * dx >= hi_x && hi_x > (hi - 1) * dx);
            prop_assert!(e95 * dx >= e_x && e_x > (e95 - 1) * dx);
        }
    }
}
