//! Corrections: exact, monotone, invertible maps from a clock's raw time to the reference's raw time.
//!
//! A correction is a list of knots with straight lines between them and a rate before the first and after the
//! last. Everything is integer arithmetic rounded down, so that all who apply the same correction get the
//! same nanosecond. `crate::network::joint` makes corrections; readers of traces apply them.

use crate::MAX_ABS_NS;
use crate::error::{ClockError, checked_time};
use crate::exact::{floor_div, saturate};
use crate::rate::Rate;

/// A continuous, non-decreasing, piecewise-affine map of raw time to reference time.
///
/// ```
/// use isochrone_clock::Correction;
/// let c = Correction::through(vec![(0, 1_000), (1_000_000, 1_001_010)])?;
/// assert_eq!(c.apply(500_000), 501_005);
/// assert_eq!(c.apply(2_000_000), 2_001_020); // the last rate goes on
/// assert_eq!(c.invert(501_005), 500_000);
/// # Ok::<(), isochrone_clock::ClockError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    knots: Vec<(i64, i64)>,
    rate_before: Rate,
    rate_after: Rate,
}

impl Correction {
    /// A correction through `knots` (raw ns, reference ns), with the given rates outside them.
    ///
    /// # Errors
    /// [`ClockError::TooFewRows`] without a knot, [`ClockError::OutOfOrder`] unless raw increases strictly
    /// and reference does not decrease, [`ClockError::TimeOutOfRange`] beyond ±[`MAX_ABS_NS`].
    pub fn new(knots: Vec<(i64, i64)>, rate_before: Rate, rate_after: Rate) -> Result<Self, ClockError> {
        if knots.is_empty() {
            return Err(ClockError::TooFewRows { needed: 1, got: 0 });
        }
        for &(raw, reference) in &knots {
            checked_time(raw)?;
            checked_time(reference)?;
        }
        let disorder = knots.windows(2).position(|w| w[1].0 <= w[0].0 || w[1].1 < w[0].1);
        match disorder {
            Some(row) => Err(ClockError::OutOfOrder { row: row + 1 }),
            None => Ok(Self { knots, rate_before, rate_after }),
        }
    }

    /// A correction through `knots` that goes on outside them at the rates of the first and of the last
    /// piece.
    ///
    /// # Errors
    /// As [`Correction::new`]; [`ClockError::TooFewRows`] with fewer than two knots; [`ClockError::BadRate`]
    /// when the first or the last piece is flat.
    pub fn through(knots: Vec<(i64, i64)>) -> Result<Self, ClockError> {
        let ([first, second, ..], [.., before_last, last]) = (&knots[..], &knots[..]) else {
            return Err(ClockError::TooFewRows { needed: 2, got: knots.len() });
        };
        let (before, after) = (Rate::between(*first, *second)?, Rate::between(*before_last, *last)?);
        Self::new(knots, before, after)
    }

    /// The correction of the reference itself, with knots at `begin` and `end` (moved into ±[`MAX_ABS_NS`];
    /// one knot when they are the same or out of order).
    pub fn identity(begin: i64, end: i64) -> Self {
        let inside = |t: i64| t.clamp(-MAX_ABS_NS, MAX_ABS_NS);
        let (begin, end) = (inside(begin), inside(end));
        let knots = if begin < end { vec![(begin, begin), (end, end)] } else { vec![(begin, begin)] };
        Self { knots, rate_before: Rate::ONE, rate_after: Rate::ONE }
    }

    /// The knots: (raw ns, reference ns).
    pub fn knots(&self) -> &[(i64, i64)] {
        &self.knots
    }

    /// The rate before the first knot.
    pub fn rate_before(&self) -> Rate {
        self.rate_before
    }

    /// The rate after the last knot.
    pub fn rate_after(&self) -> Rate {
        self.rate_after
    }

    /// The reference time at raw time `raw`, rounded down; the nearest `i64` when it does not fit.
    ///
    /// Exact at knots, never decreasing. O(log k).
    pub fn apply(&self, raw: i64) -> i64 {
        let right = self.knots.partition_point(|k| k.0 <= raw);
        let time = match (right.checked_sub(1).map(|i| self.knots[i]), self.knots.get(right).copied()) {
            (Some(left), Some(next)) => {
                // Differences of times in range are below 2⁶², products below 2¹²⁴.
                let (dx, dy) = ((next.0 - left.0) as i128, (next.1 - left.1) as i128);
                left.1 as i128 + floor_div((raw - left.0) as i128 * dy, dx)
            }
            (Some(last), None) => extrapolate(last, self.rate_after, raw),
            (None, Some(first)) => extrapolate(first, self.rate_before, raw),
            // The constructors leave no correction without knots.
            (None, None) => raw as i128,
        };
        saturate(time)
    }

    /// The greatest raw time whose [`Correction::apply`] is at most `reference`; the nearest `i64` when there
    /// is none.
    ///
    /// `apply(invert(apply(t))) == apply(t)` for every t. O(log k).
    pub fn invert(&self, reference: i64) -> i64 {
        if reference == i64::MAX {
            return i64::MAX; // apply saturates there: every raw time qualifies.
        }
        let right = self.knots.partition_point(|k| k.1 <= reference);
        let raw = match (right.checked_sub(1).map(|i| self.knots[i]), self.knots.get(right).copied()) {
            (Some(left), Some(next)) => {
                // ⌊d·dy/dx⌋ ≤ q  ⇔  d·dy < (q + 1)·dx; here q < dy, hence dy > 0 and d < dx.
                let (dx, dy) = ((next.0 - left.0) as i128, (next.1 - left.1) as i128);
                let q = (reference - left.1) as i128;
                left.0 as i128 + floor_div((q + 1) * dx - 1, dy)
            }
            (Some(last), None) => {
                last.0 as i128 + self.rate_after.longest(reference as i128 - last.1 as i128)
            }
            (None, Some(first)) => {
                first.0 as i128 + self.rate_before.longest(reference as i128 - first.1 as i128)
            }
            (None, None) => reference as i128,
        };
        saturate(raw)
    }
}

/// The rates before the first and after the last of some knots, by time: those over the first and the last
/// `near` ns, or a little more. `None` without knots.
///
/// # Errors
/// Each by itself: the map does not rise there, or is one instant.
pub(crate) fn end_rates(knots: &[(i64, i64)], near: i64) -> Option<[Result<Rate, ClockError>; 2]> {
    let (first, last) = (*knots.first()?, *knots.last()?);
    let after = knots.partition_point(|k| k.0 < first.0.saturating_add(near));
    let before = knots.partition_point(|k| k.0 <= last.0.saturating_sub(near));
    let after = knots.get(after).copied().unwrap_or(last);
    let before = before.checked_sub(1).and_then(|at| knots.get(at)).copied().unwrap_or(first);
    Some([Rate::between(first, after), Rate::between(before, last)])
}

fn extrapolate(knot: (i64, i64), rate: Rate, raw: i64) -> i128 {
    (knot.1 as i128).saturating_add(rate.elapsed(raw as i128 - knot.0 as i128))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn validates() {
        assert!(Correction::new(vec![], Rate::ONE, Rate::ONE).is_err());
        assert!(Correction::new(vec![(0, 0), (0, 1)], Rate::ONE, Rate::ONE).is_err());
        assert!(Correction::new(vec![(0, 1), (1, 0)], Rate::ONE, Rate::ONE).is_err());
        assert!(Correction::new(vec![(0, i64::MIN)], Rate::ONE, Rate::ONE).is_err());
        assert!(Correction::through(vec![(0, 0)]).is_err());
        assert_eq!(Correction::through(vec![(0, 0), (5, 0)]), Err(ClockError::BadRate));
        assert!(Correction::new(vec![(0, 0), (5, 0)], Rate::ONE, Rate::ONE).is_ok());
    }

    #[test]
    fn identity_is_identity() {
        let c = Correction::identity(-5, 9);
        for t in [i64::MIN, -6, -5, 0, 9, 10, i64::MAX] {
            assert_eq!((c.apply(t), c.invert(t)), (t, t));
        }
        assert_eq!(Correction::identity(3, 3).knots(), &[(3, 3)]);
        assert_eq!(Correction::identity(i64::MIN, i64::MAX).apply(7), 7);
    }

    #[test]
    fn flat_pieces_invert_to_their_right_end() {
        let c = Correction::new(vec![(0, 0), (10, 10), (20, 10), (30, 20)], Rate::ONE, Rate::ONE).unwrap();
        assert_eq!(c.apply(15), 10);
        assert_eq!(c.invert(10), 20);
        assert_eq!(c.invert(9), 9);
        assert_eq!((c.knots().len(), c.rate_before(), c.rate_after()), (4, Rate::ONE, Rate::ONE));
    }

    fn corrections() -> impl Strategy<Value = Correction> {
        let steps = prop::collection::vec((1i64..1_000_000, 0i64..1_000_000), 1..6);
        let rate = (1i128..5_000_000_000).prop_map(|n| Rate::of(n, 1_000_000_000).unwrap());
        (any::<i32>(), any::<i32>(), steps, rate.clone(), rate).prop_map(|(x, y, steps, before, after)| {
            let (mut x, mut y) = (i64::from(x), i64::from(y));
            let mut knots = vec![(x, y)];
            for (dx, dy) in steps {
                (x, y) = (x + dx, y + dy);
                knots.push((x, y));
            }
            Correction::new(knots, before, after).unwrap()
        })
    }

    fn times() -> impl Strategy<Value = i64> {
        prop_oneof![any::<i64>(), any::<i32>().prop_map(i64::from), Just(i64::MIN), Just(i64::MAX)]
    }

    proptest! {
        #[test]
        fn monotone_exact_and_invertible(c in corrections(), s in times(), t in times()) {
            let (s, t) = (s.min(t), s.max(t));
            prop_assert!(c.apply(s) <= c.apply(t));
            for &(raw, reference) in c.knots() {
                prop_assert_eq!(c.apply(raw), reference);
            }
            let there = c.apply(t);
            prop_assert_eq!(c.apply(c.invert(there)), there);
            prop_assert!(c.invert(there) >= t);
        }

        #[test]
        fn invert_gives_the_greatest(c in corrections(), reference in times()) {
            let raw = c.invert(reference);
            prop_assert!(raw == i64::MIN || c.apply(raw) <= reference);
            prop_assert!(raw == i64::MAX || c.apply(raw + 1) > reference);
        }

        #[test]
        fn wide_knots_do_not_overflow(t in any::<i64>(), u in 1 - MAX_ABS_NS..MAX_ABS_NS) {
            let m = MAX_ABS_NS;
            let c = Correction::through(vec![(-m, -m), (u, m - 1), (m, m)]);
            if let Ok(c) = c {
                prop_assert_eq!(c.apply(c.invert(c.apply(t))), c.apply(t));
            }
        }
    }
}
