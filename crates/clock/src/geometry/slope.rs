//! Exact rates: the slope of a line between two clocks is a ratio of two differences of nanoseconds.
//!
//! [`Slope`] is the number, [`SlopeRange`] a range that may be open, [`SlopeBand`] one that is closed and
//! positive. The corridor produces ranges, the prior narrows them, [`crate::geometry::bounded`] and
//! [`crate::geometry::margin`] work in a band.

use std::cmp::Ordering;

use crate::error::ClockError;
use crate::exact::Fraction;
use crate::geometry::point::Point;

/// The fastest slew of a kernel: Linux lets `adjtimex` set the tick within ± 10 %, and the frequency within ±
/// 500 ppm on top of that; `adjtime` adds 500 ppm.
pub(crate) const FASTEST: f64 = 0.11;

/// Expected maximal difference of the rates of two computers' clocks when messages do not show it, in parts
/// per million.
///
/// Crystals of computers are specified at ± 50 to 100 ppm and the kernel slews by at most 500 ppm.
pub const RATE_PRIOR_PPM: u32 = 500;

/// No two clocks of this crate run at rates more than this factor apart; what lies beyond is not a clock.
///
/// It closes every range of rates, so that a corridor always has a highest and a lowest line.
pub const MAX_RATE_FACTOR: i64 = 1000;

/// Largest rise or run of a slope: the difference of two times within ±[`crate::MAX_ABS_NS`].
const MAX_DIFFERENCE: i64 = 1 << 62;

/// An exact slope `dy / dx`, with `dx > 0`; compared by value, so that 1/2 equals 2/4.
///
/// ```
/// use isochrone_clock::Slope;
/// let fast = Slope::from_ppb(12_500);
/// assert!(fast > Slope::ONE);
/// assert!((fast.ppm() - 12.5).abs() < 1e-12);
/// assert_eq!(Slope::new(2, 4)?, Slope::new(1, 2)?);
/// # Ok::<(), isochrone_clock::ClockError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Slope {
    pub(super) dy: i64,
    pub(super) dx: i64,
}

impl Slope {
    /// Two clocks of the same rate.
    pub const ONE: Self = Self { dy: 1, dx: 1 };

    /// The slope `dy / dx`.
    ///
    /// # Errors
    /// [`ClockError::BadSlope`] unless `0 < dx <= 2⁶²` and `|dy| <= 2⁶²`.
    pub fn new(dy: i64, dx: i64) -> Result<Self, ClockError> {
        let possible = (1..=MAX_DIFFERENCE).contains(&dx) && (-MAX_DIFFERENCE..=MAX_DIFFERENCE).contains(&dy);
        if possible { Ok(Self { dy, dx }) } else { Err(ClockError::BadSlope { dy, dx }) }
    }

    /// 1 + `ppb`·10⁻⁹. Saturates at ±2⁶¹ parts per billion.
    pub fn from_ppb(ppb: i64) -> Self {
        const BILLION: i64 = 1_000_000_000;
        Self { dy: BILLION + ppb.clamp(-MAX_DIFFERENCE / 2, MAX_DIFFERENCE / 2), dx: BILLION }
    }

    /// The slope from `left` to `right`; `None` unless `right` lies strictly to the right.
    pub fn between(left: Point, right: Point) -> Option<Self> {
        // Coordinates are bounded by 2⁶¹, so the differences cannot overflow.
        let dx = right.x() - left.x();
        (dx > 0).then(|| Self { dy: right.y() - left.y(), dx })
    }

    /// Rise, ns.
    pub fn dy(self) -> i64 {
        self.dy
    }

    /// Run, ns; positive.
    pub fn dx(self) -> i64 {
        self.dx
    }

    /// (slope − 1)·10⁶, for people. The difference is taken in integers, so a rate within a part per billion
    /// of 1 keeps its digits.
    pub fn ppm(self) -> f64 {
        (self.dy as i128 - self.dx as i128) as f64 / self.dx as f64 * 1e6
    }

    /// The slope of the inverse relation; `None` unless this one is positive.
    pub fn recip(self) -> Option<Self> {
        (self.dy > 0).then_some(Self { dy: self.dx, dx: self.dy })
    }

    /// Whether the slope is above zero: a clock that runs forward.
    pub fn is_positive(self) -> bool {
        self.dy > 0
    }

    /// Height at `x` of the line of this slope through `point`, exactly.
    ///
    /// For any `x` within ±2⁶² the numerator stays below 2¹²⁷.
    pub(crate) fn height(self, point: Point, x: i64) -> Fraction {
        let run = x as i128 - point.x() as i128;
        Fraction { num: point.y() as i128 * self.dx as i128 + self.dy as i128 * run, den: self.dx as i128 }
    }
}

impl Ord for Slope {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.dy as i128 * other.dx as i128).cmp(&(other.dy as i128 * self.dx as i128))
    }
}

impl PartialOrd for Slope {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Slope {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Slope {}

/// A closed range of slopes; a side that is `None` is unbounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SlopeRange {
    /// The least slope allowed.
    pub min: Option<Slope>,
    /// The greatest slope allowed.
    pub max: Option<Slope>,
}

impl SlopeRange {
    /// Every slope.
    pub const UNBOUNDED: Self = Self { min: None, max: None };

    /// 1 ± `ppm`·10⁻⁶; without a lower bound from a million ppm on.
    pub fn prior(ppm: u32) -> Self {
        let ppb = i64::from(ppm) * 1000;
        Self { min: Some(Slope::from_ppb(-ppb)).filter(|s| s.is_positive()), max: Some(Slope::from_ppb(ppb)) }
    }

    /// The slopes in both ranges.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        // `None` sorts below every slope: right for `max` of two minima, and filtered away for `min` of two
        // maxima.
        Self { min: self.min.max(other.min), max: [self.max, other.max].into_iter().flatten().min() }
    }

    /// Whether no slope is in the range.
    pub fn is_empty(self) -> bool {
        matches!((self.min, self.max), (Some(min), Some(max)) if min > max)
    }

    /// Whether `slope` is in the range.
    pub fn contains(self, slope: Slope) -> bool {
        self.min.is_none_or(|min| min <= slope) && self.max.is_none_or(|max| slope <= max)
    }

    /// The range within what two clocks can have at all (`MAX_RATE_FACTOR`); `None` when nothing is left.
    pub fn closed(self) -> Option<SlopeBand> {
        let possible = Self {
            min: Some(Slope { dy: 1, dx: MAX_RATE_FACTOR }),
            max: Some(Slope { dy: MAX_RATE_FACTOR, dx: 1 }),
        };
        let Self { min: Some(min), max: Some(max) } = self.intersect(possible) else { return None };
        (min <= max).then_some(SlopeBand { min, max })
    }
}

/// A non-empty closed range of positive slopes; made by [`SlopeRange::closed`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlopeBand {
    min: Slope,
    max: Slope,
}

impl SlopeBand {
    /// The least slope.
    pub fn min(self) -> Slope {
        self.min
    }

    /// The greatest slope.
    pub fn max(self) -> Slope {
        self.max
    }

    /// The slope of the band nearest to `slope`.
    pub fn clamp(self, slope: Slope) -> Slope {
        slope.clamp(self.min, self.max)
    }

    /// The slopes of the inverse relations.
    #[must_use]
    pub fn recip(self) -> Self {
        let flip = |s: Slope| Slope { dy: s.dx, dx: s.dy };
        Self { min: flip(self.max), max: flip(self.min) }
    }

    /// The same slopes as a range.
    pub fn range(self) -> SlopeRange {
        SlopeRange { min: Some(self.min), max: Some(self.max) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MAX_ABS_NS;

    fn slope(dy: i64, dx: i64) -> Slope {
        Slope::new(dy, dx).unwrap()
    }

    #[test]
    fn compares_by_value_at_the_extremes() {
        let huge = 2 * MAX_ABS_NS;
        assert!(slope(huge, 1) > slope(huge - 1, 1));
        assert!(slope(huge - 1, huge) < slope(huge, huge));
        assert!(slope(-huge, 1) < slope(-1, huge));
        assert_eq!(slope(huge, huge), Slope::ONE);
        assert!(Slope::new(1, 0).is_err());
        assert!(Slope::new(i64::MIN, 1).is_err());
    }

    #[test]
    fn ppm_keeps_small_differences() {
        let s = slope((1 << 60) + 1, 1 << 60);
        assert!(s.ppm() > 0.0 && s.ppm() < 1e-11);
        assert!((Slope::from_ppb(-500_000).ppm() + 500.0).abs() < 1e-9);
    }

    #[test]
    fn ranges_intersect() {
        let prior = SlopeRange::prior(500);
        assert_eq!(prior.intersect(SlopeRange::UNBOUNDED), prior);
        let fast = SlopeRange { min: Some(slope(2, 1)), max: None };
        assert!(prior.intersect(fast).is_empty());
        assert_eq!(fast.intersect(prior).max, prior.max);
        assert_eq!(fast.closed().map(SlopeBand::max), Some(slope(1000, 1)));
        assert!(SlopeRange { min: None, max: Some(slope(-1, 1)) }.closed().is_none());
        assert_eq!(SlopeRange::prior(1_000_000).min, None);
        assert!(!prior.is_empty() && prior.contains(Slope::ONE));
    }

    #[test]
    fn reciprocals() {
        assert_eq!(slope(3, 4).recip(), Some(slope(4, 3)));
        assert_eq!(slope(-3, 4).recip(), None);
        let band = SlopeRange::prior(500).closed().unwrap();
        assert_eq!(band.recip().recip(), band);
        assert!(band.recip().max() > Slope::from_ppb(500_000));
        assert_eq!(band.clamp(slope(9, 1)), band.max());
        assert_eq!(band.range().min, Some(band.min()));
    }
}
