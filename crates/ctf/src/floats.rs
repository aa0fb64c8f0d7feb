//! Floating point numbers of 16, 32 and 64 bits as binary64 and back, bit by bit.

/// The binary64 of the same value as a number of `size` bits: 16, 32 or 64. NaNs keep their sign and payload,
/// also signalling ones, which a conversion by the processor would change.
#[inline]
pub(crate) fn widen_float(raw: u64, size: u32) -> f64 {
    match size {
        16 => widen_half(raw),
        32 => widen_single(raw as u32),
        _ => f64::from_bits(raw),
    }
}

#[inline]
fn widen_single(raw: u32) -> f64 {
    let value = f32::from_bits(raw);
    if !value.is_nan() {
        return value.into();
    }
    let (sign, payload) = (u64::from(raw >> 31), u64::from(raw & 0x007f_ffff));
    f64::from_bits(sign << 63 | 0x7ff << 52 | payload << 29)
}

fn widen_half(raw: u64) -> f64 {
    let (sign, exponent, fraction) = (raw >> 15 & 1, raw >> 10 & 31, raw & 0x3ff);
    let magnitude = match exponent {
        31 => f64::from_bits(0x7ff << 52 | fraction << 42),
        // 2⁻²⁴ is the unit of what has no exponent.
        0 => fraction as f64 / f64::from(1_u32 << 24),
        _ => f64::from_bits((exponent + 1023 - 15) << 52 | fraction << 42),
    };
    f64::from_bits(sign << 63 | magnitude.to_bits())
}

/// The inverse of [`widen_float`]; other numbers are rounded.
pub(crate) fn narrow_float(value: f64, size: u32) -> u64 {
    match size {
        16 => narrow_half(value),
        32 => narrow_single(value).into(),
        _ => value.to_bits(),
    }
}

/// Rounds to the nearest number, of two the even one.
fn narrow_half(value: f64) -> u64 {
    let raw = value.to_bits();
    let (sign, fraction) = (raw >> 63 << 15, raw >> 42 & 0x3ff);
    if value.is_nan() {
        // As in `narrow_single`.
        return sign | 0x7c00 | if fraction == 0 { 0x200 } else { fraction };
    }
    let magnitude = value.abs();
    // Beyond the middle between the largest number and the next one there would be.
    if magnitude >= 65_520.0 {
        return sign | 0x7c00;
    }
    // The unit of the last place of numbers of this size: powers of two, so that the division is exact.
    let exponent = (magnitude.to_bits() >> 52).max(1023 - 14);
    let unit = f64::from_bits((exponent - 10) << 52);
    let units = (magnitude / unit).round_ties_even() as u64;
    // A sum carries from the fraction to the exponent as it should.
    sign | (((exponent - (1023 - 14)) << 10) + units)
}

fn narrow_single(value: f64) -> u32 {
    let narrow = value as f32;
    if !value.is_nan() {
        return narrow.to_bits();
    }
    let raw = value.to_bits();
    let (sign, payload) = ((raw >> 63) as u32, (raw >> 29) as u32 & 0x007f_ffff);
    // A payload that binary32 has no bits for must not make an infinity of a NaN.
    let payload = if payload == 0 { 0x0040_0000 } else { payload };
    sign << 31 | 0xff << 23 | payload
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_known_bits() {
        let check = |raw: u64, value: f64| {
            assert_eq!(widen_float(raw, 16).to_bits(), value.to_bits(), "{raw:#x}");
            assert_eq!(narrow_float(value, 16), raw, "{value}");
        };
        check(0x0000, 0.0);
        check(0x8000, -0.0);
        check(0x3c00, 1.0);
        check(0xc500, -5.0);
        check(0x7bff, 65_504.0);
        check(0x0001, 2_f64.powi(-24));
        check(0x03ff, 1023.0 * 2_f64.powi(-24));
        check(0x0400, 2_f64.powi(-14));
        check(0x7c00, f64::INFINITY);
        check(0xfc00, f64::NEG_INFINITY);
    }

    #[test]
    fn halves_are_rounded_to_even() {
        let check = |value: f64, raw: u64| assert_eq!(narrow_float(value, 16), raw, "{value}");
        check(2049.0, 0x6800);
        check(2051.0, 0x6802);
        check(65_519.9, 0x7bff);
        check(65_520.0, 0x7c00);
        check(2_f64.powi(-25), 0);
        check(3.0 * 2_f64.powi(-25), 2);
        check(f64::MIN_POSITIVE, 0);
    }

    #[test]
    fn all_halves_come_back() {
        for raw in 0..=u64::from(u16::MAX) {
            assert_eq!(narrow_float(widen_float(raw, 16), 16), raw, "{raw:#x}");
        }
    }

    #[test]
    fn singles_come_back_with_the_payloads_of_nans() {
        for raw in [0_u32, 0x8000_0000, 0x3f80_0000, 0x7f80_0000, 0x7fc0_0001, 0xffa0_0000, 1] {
            assert_eq!(narrow_float(widen_float(raw.into(), 32), 32), u64::from(raw), "{raw:#x}");
        }
    }
}
