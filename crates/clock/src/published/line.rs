//! Lines with exact rational coefficients, and their decimals.
//!
//! A published method ends in two numbers, slope and offset. They are kept as fractions of whole numbers of
//! any size, so that they can be written with any number of digits. Used by the methods, by
//! [`super::reduction`], which chains lines, and by [`mod@super::placed`], which turns them into corrections.

use num_bigint::BigInt;
use num_integer::Integer as _;
use num_rational::BigRational;
use num_traits::{One as _, Signed as _, ToPrimitive as _, Zero as _};

use crate::geometry::{Point, Slope};

/// An affine relation between two clocks, y = slope · x + offset, in ns of both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    slope: BigRational,
    offset: BigRational,
}

impl Line {
    /// Two clocks that show the same.
    pub fn identity() -> Self {
        Self { slope: BigRational::one(), offset: BigRational::zero() }
    }

    /// A line by its coefficients.
    pub fn new(slope: BigRational, offset: BigRational) -> Self {
        Self { slope, offset }
    }

    /// The line through two points; `None` unless the second lies strictly to the right.
    pub(crate) fn through((left, right): (Point, Point)) -> Option<Self> {
        let slope = Slope::between(left, right)?;
        Some(Self::of_slope(ratio(slope.dy(), slope.dx()), left))
    }

    /// The line of a slope through a point.
    pub(crate) fn of_slope(slope: BigRational, point: Point) -> Self {
        let offset = integer(point.y()) - &slope * integer(point.x());
        Self { slope, offset }
    }

    /// Rise of y for a rise of 1 in x.
    pub fn slope(&self) -> &BigRational {
        &self.slope
    }

    /// y where x is 0, ns.
    pub fn offset(&self) -> &BigRational {
        &self.offset
    }

    /// The height at an x.
    pub(crate) fn height(&self, x: i64) -> BigRational {
        &self.slope * integer(x) + &self.offset
    }

    /// The height at an x, rounded down; `None` beyond 64 bits.
    pub fn at(&self, x: i64) -> Option<i64> {
        self.height(x).floor().to_integer().to_i64()
    }

    /// x by y; `None` for a flat line.
    pub fn inverse(&self) -> Option<Self> {
        if self.slope.is_zero() {
            return None;
        }
        let slope = self.slope.recip();
        let offset = -(&slope * &self.offset);
        Some(Self { slope, offset })
    }

    /// First this line, then the `next` one.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        Self { slope: &next.slope * &self.slope, offset: &next.slope * &self.offset + &next.offset }
    }

    /// The same relation when `x_offset` is added to all x and `y_offset` to all y: that of Unix times from
    /// that of raw times.
    #[must_use]
    pub fn with_offsets(&self, x_offset: i64, y_offset: i64) -> Self {
        let offset = &self.offset + integer(y_offset) - &self.slope * integer(x_offset);
        Self { slope: self.slope.clone(), offset }
    }

    /// Half way between two lines, by slope and by offset.
    #[must_use]
    pub(crate) fn mean(&self, other: &Self) -> Self {
        let two = BigRational::from_integer(2.into());
        Self { slope: (&self.slope + &other.slope) / &two, offset: (&self.offset + &other.offset) / &two }
    }

    /// With coefficients of at most `places` decimal places: chains of lines stay of bounded size.
    #[must_use]
    pub(crate) fn rounded(&self, places: u32) -> Self {
        let scale = BigInt::from(10).pow(places);
        let round =
            |value: &BigRational| BigRational::new((value * &scale).round().to_integer(), scale.clone());
        Self { slope: round(&self.slope), offset: round(&self.offset) }
    }
}

/// A whole number of ns.
pub(crate) fn integer(value: i64) -> BigRational {
    BigRational::from_integer(value.into())
}

/// The quotient of two numbers of ns; the second is not 0.
pub(crate) fn ratio(numerator: i64, denominator: i64) -> BigRational {
    BigRational::new(numerator.into(), denominator.into())
}

/// A number as a decimal with `digits` significant digits, rounded half to even; zeros at the end of a
/// fraction are left out.
///
/// ```
/// use isochrone_clock::published::decimal;
/// use num_rational::BigRational;
/// let third = BigRational::new(2.into(), (-3).into());
/// assert_eq!(decimal(&third, 5), "-0.66667");
/// assert_eq!(decimal(&BigRational::from_integer(123_456.into()), 3), "123000");
/// ```
pub fn decimal(value: &BigRational, digits: usize) -> String {
    if value.is_zero() {
        return "0".to_owned();
    }
    let digits = digits.max(1) as i64;
    let size = value.abs();
    let length = |number: &BigInt| number.magnitude().to_string().len() as i64;
    // The decimal position of the first digit, 1 for units; or one more.
    let first = length(size.numer()) - length(size.denom()) + 1;
    let reaches = !truncated(&size, 1 - first).is_zero();
    let mut places = digits - if reaches { first } else { first - 1 };
    let mut shown = scaled(&size, places);
    if length(&shown) > digits {
        // All nines were rounded up.
        places -= 1;
        shown = scaled(&size, places);
    }
    let text = shown.to_string();
    let sign = if value.is_negative() { "-" } else { "" };
    let Some(places) = usize::try_from(places).ok().filter(|places| *places > 0) else {
        return format!("{sign}{text}{}", "0".repeat(places.unsigned_abs() as usize));
    };
    let padded = format!("{text:0>width$}", width = places + 1);
    let (whole, fraction) = padded.split_at(padded.len() - places);
    match fraction.trim_end_matches('0') {
        "" => format!("{sign}{whole}"),
        fraction => format!("{sign}{whole}.{fraction}"),
    }
}

/// value · 10^places, rounded down, for a value that is not negative.
fn truncated(value: &BigRational, places: i64) -> BigInt {
    let (numerator, denominator) = fraction(value, places);
    numerator / denominator
}

/// value · 10^places, rounded half to even, for a value that is not negative.
fn scaled(value: &BigRational, places: i64) -> BigInt {
    let (numerator, denominator) = fraction(value, places);
    let (quotient, rest) = numerator.div_rem(&denominator);
    let twice: BigInt = rest * 2;
    let up = twice > denominator || (twice == denominator && quotient.is_odd());
    if up { quotient + 1 } else { quotient }
}

/// value · 10^places as numerator and denominator.
fn fraction(value: &BigRational, places: i64) -> (BigInt, BigInt) {
    let power = BigInt::from(10).pow(places.unsigned_abs() as u32);
    match places >= 0 {
        true => (value.numer() * power, value.denom().clone()),
        false => (value.numer().clone(), value.denom() * power),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_are_rounded_half_to_even() {
        let check = |numerator: i64, denominator: i64, digits: usize, expect: &str| {
            assert_eq!(decimal(&ratio(numerator, denominator), digits), expect, "{numerator}/{denominator}");
        };
        check(0, 1, 5, "0");
        check(1, 1, 34, "1");
        check(1, 3, 4, "0.3333");
        check(-2, 3, 1, "-0.7");
        check(996, 1000, 2, "1");
        check(2, 3, 4, "0.6667");
        check(1, 8, 2, "0.12");
        check(3, 8, 2, "0.38");
        check(-1, 800, 2, "-0.0012");
        check(99_999, 100_000, 3, "1");
        check(99_999, 1, 3, "100000");
        check(123_456, 1, 6, "123456");
        check(1_234_565, 1, 6, "1234560");
        check(i64::MAX, 1, 19, "9223372036854775807");
        check(1, i64::MAX, 3, "0.000000000000000000108");
    }

    #[test]
    fn lines_chain_and_invert() {
        let line = |slope: (i64, i64), offset: i64| Line::new(ratio(slope.0, slope.1), integer(offset));
        let f = line((3, 2), 5);
        assert_eq!(f.then(&f.inverse().unwrap()), Line::identity());
        assert_eq!((f.at(4), f.at(1), f.at(-1)), (Some(11), Some(6), Some(3)));
        assert_eq!(f.with_offsets(100, 1000).at(104), Some(1011));
        assert_eq!(line((0, 1), 5).inverse(), None);
        assert_eq!(line((1, 3), 0).rounded(3).slope(), &ratio(333, 1000));
        assert_eq!(f.mean(&line((1, 2), 7)), line((1, 1), 6));
    }

    proptest! {
        #[test]
        fn a_decimal_is_as_near_as_its_digits(n in any::<i64>(), d in 1..i64::MAX, digits in 1usize..40) {
            let value = ratio(n, d);
            let text = decimal(&value, digits);
            let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
            let back: BigInt = format!("{whole}{fraction}").parse().unwrap();
            let back = BigRational::new(back, BigInt::from(10).pow(fraction.len() as u32));
            let error = (&back - &value).abs() * BigInt::from(10).pow(digits as u32 - 1) * BigInt::from(2);
            prop_assert!(error <= value.abs(), "{text}");
            let significant = text.trim_start_matches(['-', '0', '.']).replace('.', "");
            prop_assert!(significant.trim_end_matches('0').len() <= digits);
        }
    }
}
