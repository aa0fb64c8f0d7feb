//! A rate as an exact decimal: what a correction uses outside its knots, and what an artefact can store as
//! text.
//!
//! A decimal, not a float, so that the number that is written is the number that is applied, in every
//! language. Used by [`crate::correction`].

use std::fmt;
use std::str::FromStr;

use crate::error::ClockError;
use crate::exact::floor_div;

/// Number of decimals of a [`Rate`].
pub const RATE_DECIMALS: usize = 15;

/// 10^[`RATE_DECIMALS`].
const SCALE: i128 = 1_000_000_000_000_000;

/// Largest rate: no quotient of two differences of raw times is greater.
const MAX_UNITS: i128 = SCALE << 64;

/// A positive rate, reference nanoseconds per local nanosecond, in whole units of 10⁻¹⁵.
///
/// ```
/// use isochrone_clock::Rate;
/// let rate: Rate = "1.0000123456789".parse()?;
/// assert_eq!(rate.to_string(), "1.000012345678900");
/// assert_eq!(rate.elapsed(1_000_000_000), 1_000_012_345);
/// # Ok::<(), isochrone_clock::ClockError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(i128);

impl Rate {
    /// Two clocks of the same rate.
    pub const ONE: Self = Self(SCALE);

    /// The rate between two knots, (`reference` difference) / (`raw` difference), rounded down to 10⁻¹⁵, at
    /// least 10⁻¹⁵.
    ///
    /// # Errors
    /// [`ClockError::BadRate`] unless both differences are positive.
    pub fn of(reference: i128, raw: i128) -> Result<Self, ClockError> {
        let possible = 1..=(1i128 << 65);
        if !possible.contains(&reference) || !possible.contains(&raw) {
            return Err(ClockError::BadRate);
        }
        Ok(Self(floor_div(reference * SCALE, raw).clamp(1, MAX_UNITS)))
    }

    /// The rate between two knots (raw ns, reference ns); as [`Self::of`].
    pub(crate) fn between(from: (i64, i64), to: (i64, i64)) -> Result<Self, ClockError> {
        Self::of(to.1 as i128 - from.1 as i128, to.0 as i128 - from.0 as i128)
    }

    /// The rate in units of 10⁻¹⁵.
    pub fn units(self) -> i128 {
        self.0
    }

    /// (rate − 1)·10⁶, for people.
    pub fn ppm(self) -> f64 {
        (self.0 - SCALE) as f64 / SCALE as f64 * 1e6
    }

    /// Reference time that passes while `raw` ns pass locally (negative: before), rounded down. Saturates far
    /// outside `i64`.
    pub fn elapsed(self, raw: i128) -> i128 {
        floor_div(self.0.saturating_mul(raw), SCALE)
    }

    /// The greatest local duration whose [`Rate::elapsed`] is at most `reference`. Saturates far outside
    /// `i64`.
    pub fn longest(self, reference: i128) -> i128 {
        // ⌊units·d / SCALE⌋ ≤ q  ⇔  units·d < (q + 1)·SCALE  ⇔  d ≤ ⌊((q + 1)·SCALE − 1) / units⌋.
        floor_div(reference.saturating_add(1).saturating_mul(SCALE).saturating_sub(1), self.0)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:0RATE_DECIMALS$}", self.0 / SCALE, self.0 % SCALE)
    }
}

impl FromStr for Rate {
    type Err = ClockError;

    /// Digits, optionally a point and up to 15 decimals; nothing else, and not zero.
    fn from_str(text: &str) -> Result<Self, ClockError> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        if !is_number(whole) || !is_number(decimals) || decimals.len() > RATE_DECIMALS {
            return Err(ClockError::BadRate);
        }
        let whole: i128 = whole.parse().map_err(|_| ClockError::BadRate)?;
        let decimals: i128 =
            format!("{decimals:0<RATE_DECIMALS$}").parse().map_err(|_| ClockError::BadRate)?;
        let units = whole.checked_mul(SCALE).and_then(|w| w.checked_add(decimals));
        units.filter(|u| (1..=MAX_UNITS).contains(u)).map(Self).ok_or(ClockError::BadRate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_is_exact() {
        for text in ["1.000012345678901", "0.000000000000001", "4.100000000000000", "1000.000000000000000"] {
            assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
        }
        assert_eq!("1".parse::<Rate>().unwrap(), Rate::ONE);
        for bad in
            ["", ".", "1.", ".5", "-1.0", "+1", "1e3", "0", "0.0", "1.0000000000000001", "1,5", " 1", "٣"]
        {
            assert_eq!(bad.parse::<Rate>(), Err(ClockError::BadRate), "{bad:?}");
        }
        assert!("9".repeat(60).parse::<Rate>().is_err());
    }

    #[test]
    fn from_knots() {
        assert_eq!(Rate::of(3, 2).unwrap().to_string(), "1.500000000000000");
        assert_eq!(Rate::of(1, i128::from(u64::MAX)).unwrap().units(), 1);
        assert!(Rate::of(0, 1).is_err() && Rate::of(1, 0).is_err() && Rate::of(i128::MAX, 1).is_err());
        assert!((Rate::of(1_000_010, 1_000_000).unwrap().ppm() - 10.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn longest_inverts_elapsed(units in 1i128..(SCALE * 1000), q in any::<i64>()) {
            let (rate, q) = (Rate(units), q as i128);
            let d = rate.longest(q);
            prop_assert!(rate.elapsed(d) <= q);
            prop_assert!(rate.elapsed(d + 1) > q);
        }

        #[test]
        fn nothing_overflows(units in 1i128..=MAX_UNITS, q in any::<i128>()) {
            let rate = Rate(units);
            let _ = (rate.longest(q), rate.elapsed(q), rate.ppm(), rate.to_string());
        }
    }
}
