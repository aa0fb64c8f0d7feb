//! How far the rate of a clock may be from constant: the one number that every guarantee is conditional on.
//!
//! Under the model, the instantaneous rate of each clock stays within ± ρ of a constant between two knots. The rate
//! of one clock against another then stays within ± 2ρ of a constant, and a message at `x` bounds the relation at `t`
//! by its own half-plane relaxed by 2ρ·|t − x|. [`crate::bounded`] applies that; [`crate::link`] raises ρ where the
//! messages prove it too small.

use crate::exact::ceil_div;
use crate::slope::Slope;

const TRILLION: i128 = 1_000_000_000_000;

/// How far the rate between two clocks may be from constant, in parts per trillion.
///
/// ```
/// use isochrone_clock::Wander;
/// let pair = Wander::of_pair_ppm(0.1)?; // each clock within ± 0.1 ppm
/// assert_eq!(pair.over(10_000_000_000), 2_000); // 10 s at 0.2 ppm
/// # Ok::<(), isochrone_clock::ClockError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Wander {
    ppt: u64,
}

/// Default ρ of one clock, ppm.
///
/// The sources of `RADclock`, a clock daemon for common computers, take 0.1 ppm as the bound on a rate's error where the
/// temperature is excellently stable, 0.5 ppm where it is good and 1 ppm where it is poor (after Veitch, Ridoux and Korada,
/// "Robust synchronization of absolute and difference clocks over networks", IEEE/ACM Transactions on Networking 17(2),
/// 2009). The default is the first: a trace is short against what heats a room. Where that is not so, say more.
pub const WANDER_PPM: f64 = 0.1;

/// Largest ρ accepted, ppm: beyond, a rate says nothing.
pub const MAX_WANDER_PPM: f64 = 100_000.0;

impl Wander {
    /// Clocks that are straight lines.
    pub const NONE: Self = Self { ppt: 0 };

    /// Of two clocks that each stay within ± `ppm`; rounded up.
    ///
    /// # Errors
    /// [`crate::ClockError::BadWander`] unless it is within 0 and [`MAX_WANDER_PPM`].
    pub fn of_pair_ppm(ppm: f64) -> Result<Self, crate::ClockError> {
        if !(0.0..=MAX_WANDER_PPM).contains(&ppm) {
            return Err(crate::ClockError::BadWander);
        }
        Ok(Self { ppt: (2e6 * ppm).ceil() as u64 })
    }

    /// The rate between two clocks within ± `rate` (dimensionless) of a constant; saturates at the limits.
    pub(crate) fn of_rate(rate: f64) -> Self {
        Self { ppt: (rate * 1e12).ceil().clamp(0.0, 2e6 * MAX_WANDER_PPM) as u64 }
    }

    /// Parts per million of one clock: half of what the pair has.
    pub fn clock_ppm(self) -> f64 {
        self.ppt as f64 * 0.5e-6
    }

    /// As a dimensionless rate, of the pair.
    pub fn rate(self) -> f64 {
        self.ppt as f64 * 1e-12
    }

    /// Of two relations one after the other.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { ppt: self.ppt + other.ppt }
    }

    /// By how much the relation can leave a line over `ns` at most, ns, rounded up.
    pub fn over(self, ns: i64) -> i64 {
        // Below 2⁶³ · 2⁴⁰.
        ceil_div((ns as i128).abs() * self.ppt as i128, TRILLION) as i64
    }

    /// The same in the units of the other clock, when that runs at `rate` at most.
    pub(crate) fn over_at(self, ns: i64, rate: Slope) -> i64 {
        match (self.ppt, ns) {
            (0, _) | (_, 0) => 0,
            // Times are below 2⁶², ρ at most 20 %, a rate at most 1000: the product is below 2¹²⁸ with room.
            _ => ceil_div(self.over(ns) as i128 * rate.dy().max(0) as i128, rate.dx() as i128)
                .min(crate::MAX_ABS_NS as i128) as i64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_up_and_never_overflows() {
        let check =
            |ppm, ns, expect| assert_eq!(Wander::of_pair_ppm(ppm).unwrap().over(ns), expect, "{ppm} {ns}");
        check(0.0, i64::MAX, 0);
        check(0.1, 1, 1);
        check(0.1, -5_000_000, 1);
        check(0.1, 5_000_001, 2);
        assert!(Wander::of_pair_ppm(MAX_WANDER_PPM).unwrap().over(i64::MIN) > 0);
        let most = Wander::of_pair_ppm(MAX_WANDER_PPM).unwrap();
        assert_eq!(most.over_at(i64::MAX, Slope::new(1000, 1).unwrap()), crate::MAX_ABS_NS);
        assert_eq!(Wander::of_pair_ppm(0.1).unwrap().over_at(10_000_000, Slope::new(4, 1).unwrap()), 8);
        assert!(Wander::of_pair_ppm(-0.1).is_err() && Wander::of_pair_ppm(f64::NAN).is_err());
    }
}
