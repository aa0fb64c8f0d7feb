//! Integer arithmetic shared by the exact predicates: division with a chosen rounding, narrowing with a
//! chosen fate.
//!
//! Everything here is total: no input panics (denominators are positive by construction of the callers, and a
//! non-positive one is treated as 1 rather than trapped).

/// ⌊num / den⌋ for a positive `den`.
pub(crate) fn floor_div(num: i128, den: i128) -> i128 {
    let (whole, rest) = divided(num, den);
    if rest < 0 { whole - 1 } else { whole }
}

/// ⌈num / den⌉ for a positive `den`.
pub(crate) fn ceil_div(num: i128, den: i128) -> i128 {
    let (whole, rest) = divided(num, den);
    if rest > 0 { whole + 1 } else { whole }
}

/// The quotient, rounded toward zero, and what is left of `num`, with its sign.
fn divided(num: i128, den: i128) -> (i128, i128) {
    debug_assert!(den > 0);
    // A denominator below 1 cannot happen; `max` keeps release builds total, and also rules out the one
    // overflowing case, MIN / -1.
    let den = den.max(1);
    // Most numbers are small, and the hardware divides those many times as fast.
    let whole = match (i64::try_from(num), i64::try_from(den)) {
        (Ok(num), Ok(den)) => i128::from(num / den),
        _ => num / den,
    };
    (whole, num - whole * den)
}

/// The nearest `i64`.
pub(crate) fn saturate(value: i128) -> i64 {
    value.clamp(i64::MIN as i128, i64::MAX as i128) as i64
}

/// A value known exactly as `num / den`, `den > 0`, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fraction {
    pub(crate) num: i128,
    pub(crate) den: i128,
}

impl Fraction {
    /// The greatest `i64` not above, `None` when it does not fit.
    pub(crate) fn floor(self) -> Option<i64> {
        i64::try_from(floor_div(self.num, self.den)).ok()
    }

    /// The least `i64` not below, `None` when it does not fit.
    pub(crate) fn ceil(self) -> Option<i64> {
        i64::try_from(ceil_div(self.num, self.den)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn division_rounds_as_named() {
        assert_eq!((floor_div(7, 2), ceil_div(7, 2)), (3, 4));
        assert_eq!((floor_div(-7, 2), ceil_div(-7, 2)), (-4, -3));
        assert_eq!((floor_div(-8, 2), ceil_div(-8, 2)), (-4, -4));
        assert_eq!((floor_div(0, 5), ceil_div(0, 5)), (0, 0));
        assert_eq!((floor_div(i128::MIN, 1), ceil_div(i128::MAX, 1)), (i128::MIN, i128::MAX));
    }

    proptest! {
        /// Small numbers are divided in another way than great ones.
        #[test]
        fn quotients_are_next_to_the_fraction(num in any::<i128>(), den in 1..i128::MAX, by in 0..127u32, den_by in 0..127u32) {
            let (num, den) = (num >> by, (den >> den_by).max(1));
            let (floor, ceil) = (floor_div(num, den), ceil_div(num, den));
            prop_assert_eq!(floor, num.div_euclid(den));
            prop_assert_eq!(ceil - floor, i128::from(num.rem_euclid(den) != 0));
        }
    }

    #[test]
    fn narrowing() {
        assert_eq!(saturate(i128::MAX), i64::MAX);
        assert_eq!(saturate(i128::MIN), i64::MIN);
        assert_eq!(Fraction { num: 1 << 70, den: 1 }.floor(), None);
        assert_eq!(Fraction { num: -3, den: 2 }.floor(), Some(-2));
        assert_eq!(Fraction { num: -3, den: 2 }.ceil(), Some(-1));
    }
}
