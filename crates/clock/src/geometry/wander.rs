//! How far the rate of a clock may be from constant: the one number that every guarantee is conditional on.
//!
//! Under the model, the instantaneous rate of each clock stays within ± ρ of a constant between two knots.
//! The rate of one clock against another then stays within ± 2ρ of a constant, and a message at `x` bounds
//! the relation at `t` by its own half-plane relaxed by 2ρ·|t − x|. [`crate::geometry::bounded`] applies
//! that; [`crate::link`] raises ρ where the messages prove it too small.

use crate::error::{ClockError, MAX_WANDER_PPM};
use crate::exact::ceil_div;
use crate::geometry::slope::{Slope, SlopeRange};

const TRILLION: i128 = 1_000_000_000_000;

/// Maximal deviation of the rate between two clocks from a constant, in parts per trillion.
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
/// The sources of `RADclock`, a clock daemon for common computers, take 0.1 ppm as the bound on a rate's
/// error where the temperature is excellently stable, 0.5 ppm where it is good and 1 ppm where it is poor
/// (after Veitch, Ridoux and Korada, "Robust synchronization of absolute and difference clocks over
/// networks", IEEE/ACM Transactions on Networking 17(2), 2009). The default is the first: a trace is short
/// against what heats a room. Where that is not so, say more.
pub const WANDER_PPM: f64 = 0.1;

impl Wander {
    /// Clocks that are straight lines.
    pub const NONE: Self = Self { ppt: 0 };

    /// Of two clocks that each stay within ± `ppm`; rounded up.
    ///
    /// # Errors
    /// [`ClockError::BadWander`] unless it is within 0 and [`MAX_WANDER_PPM`].
    pub fn of_pair_ppm(ppm: f64) -> Result<Self, ClockError> {
        if !(0.0..=MAX_WANDER_PPM).contains(&ppm) {
            return Err(ClockError::BadWander);
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

impl SlopeRange {
    /// The constants that rates can have which come to lie in this range somewhere: wider by what may be
    /// between.
    #[must_use]
    pub fn widened(self, wander: Wander) -> Self {
        Self { min: self.min.map(|s| moved(s, wander, -1)), max: self.max.map(|s| moved(s, wander, 1)) }
    }
}

/// The slope moved down (−1) or up (1) by how much the rate may wander about it, rounded away from it to a
/// multiple of 2⁻⁴⁰. Slopes beyond all clocks stay as they are.
fn moved(slope: Slope, wander: Wander, sign: i64) -> Slope {
    const GRID: i64 = 1 << 40;
    let steps = slope.dy as i128 * GRID as i128 / slope.dx as i128;
    if wander == Wander::NONE || steps.abs() > (GRID as i128) << 20 {
        return slope;
    }
    let steps = steps as i64;
    Slope { dy: steps + sign * (wander.over(steps) + 1), dx: GRID }
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

    #[test]
    fn widening_is_outward() {
        let slope = |dy, dx| Slope::new(dy, dx).unwrap();
        let wander = Wander::of_pair_ppm(0.1).unwrap();
        let range = SlopeRange { min: Some(slope(-1, 3)), max: Some(Slope::ONE) };
        let wide = range.widened(wander);
        assert!(wide.min.unwrap() < range.min.unwrap() && wide.max.unwrap() > range.max.unwrap());
        assert!((wide.max.unwrap().ppm() - 0.2).abs() < 1e-5, "{}", wide.max.unwrap().ppm());
        assert_eq!(range.widened(Wander::NONE), range);
        let steep = SlopeRange { min: None, max: Some(slope(1 << 62, 1)) };
        assert_eq!(steep.widened(wander), steep);
    }
}
