//! Numbers as digits, appended to a buffer. A line of text holds ten of them: how they are written decides
//! how long it takes to show events.
//!
//! Eight digits are found at once, as the bytes of a 64-bit integer, and leading zeros are shifted out. No
//! branch depends on the number of digits, and nothing is copied whose length is not known beforehand: a
//! formatter with a buffer of its own costs such a copy for each number, which takes longer than finding the
//! digits. Numbers beyond 64 bits are left to `itoa`.

/// What eight digits can express.
const EIGHT_DIGITS: u64 = 100_000_000;
/// Bytes that the longest number takes: twenty digits.
pub(crate) const MOST: usize = 20;
/// The digit zero in all bytes.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Appends a number in base ten.
#[inline]
pub fn decimal(out: &mut Vec<u8>, value: u64) {
    if value < EIGHT_DIGITS {
        shortened(out, tens(value), ZEROS);
    } else {
        decimal_long(out, value);
    }
}

/// Appends a signed number in base ten.
#[inline]
pub fn signed(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    decimal(out, value.unsigned_abs());
}

/// Appends the nanoseconds of a second: nine digits, zeros in front.
#[inline]
pub fn nanoseconds(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&nine(value));
}

/// The nanoseconds of a second: nine digits, zeros in front.
#[inline]
pub fn nine(value: u32) -> [u8; 9] {
    let value = u64::from(value);
    let [a, b, c, d, e, f, g, h] = (tens(value % EIGHT_DIGITS) + ZEROS).to_le_bytes();
    [b'0' + (value / EIGHT_DIGITS % 10) as u8, a, b, c, d, e, f, g, h]
}

/// Appends `0x` and the digits of a number, in capitals.
pub(crate) fn hexadecimal(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(b"0x");
    let [high, low] = [(value >> 32) as u32, value as u32].map(sixteens);
    if value >> 32 == 0 {
        shortened(out, low, capitals(low) - low);
    } else {
        shortened(out, high, capitals(high) - high);
        out.extend_from_slice(&capitals(low).to_le_bytes());
    }
}

/// Writes a number in base ten; gives its length. What comes after it may change, too: [`MOST`] bytes have to
/// be there.
#[inline]
pub(crate) fn write_decimal(out: &mut [u8], value: u64) -> Option<usize> {
    if value < EIGHT_DIGITS {
        write_shortened(out, tens(value), ZEROS)
    } else {
        write_decimal_long(out, value)
    }
}

#[inline(never)]
fn write_decimal_long(out: &mut [u8], value: u64) -> Option<usize> {
    let (high, low) = (value / EIGHT_DIGITS, value % EIGHT_DIGITS);
    let length = write_decimal(out, high)?;
    *out.get_mut(length..)?.first_chunk_mut()? = (tens(low) + ZEROS).to_le_bytes();
    Some(length + 8)
}

/// As [`write_decimal`], `0x` and the digits of a number in capitals.
pub(crate) fn write_hexadecimal(out: &mut [u8], value: u64) -> Option<usize> {
    out.get_mut(..2)?.copy_from_slice(b"0x");
    let digits = out.get_mut(2..)?;
    let [high, low] = [(value >> 32) as u32, value as u32].map(sixteens);
    if value >> 32 == 0 {
        return Some(2 + write_shortened(digits, low, capitals(low) - low)?);
    }
    let length = write_shortened(digits, high, capitals(high) - high)?;
    *digits.get_mut(length..)?.first_chunk_mut()? = capitals(low).to_le_bytes();
    Some(2 + length + 8)
}

#[inline]
fn write_shortened(out: &mut [u8], digits: u64, signs: u64) -> Option<usize> {
    let (text, length) = without_zeros(digits, signs);
    *out.first_chunk_mut()? = text;
    Some(length)
}

/// Appends the first `length` bytes. To copy all of them and then to drop the others takes a few
/// instructions, where a copy of unknown length takes a call.
#[inline]
pub(crate) fn first_bytes<const N: usize>(out: &mut Vec<u8>, bytes: &[u8; N], length: usize) {
    let end = out.len() + length;
    out.extend_from_slice(bytes);
    out.truncate(end);
}

#[inline(never)]
fn decimal_long(out: &mut Vec<u8>, value: u64) {
    let (high, low) = (value / EIGHT_DIGITS, value % EIGHT_DIGITS);
    decimal(out, high);
    padded(out, tens(low));
}

/// The eight decimal digits of a number below [`EIGHT_DIGITS`], the first one in the lowest byte. Divides
/// two, four and eight numbers at a time by multiplying with reciprocals, as Paul Khuong describes ("How to
/// print integers really fast", 2017).
#[inline]
fn tens(value: u64) -> u64 {
    let fours = (value / 10_000) | ((value % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x7f_0000_007f;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((twos - 10 * tens) << 8)
}

/// The eight hexadecimal digits of a number, the first one in the lowest byte.
#[inline]
fn sixteens(value: u32) -> u64 {
    let value = u64::from(value);
    let halves = (value | value << 16) & 0x0000_ffff_0000_ffff;
    let bytes = (halves | halves << 8) & 0x00ff_00ff_00ff_00ff;
    let nibbles = (bytes | bytes << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    nibbles.swap_bytes()
}

/// Hexadecimal digits as characters.
#[inline]
fn capitals(digits: u64) -> u64 {
    let letters = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    digits + ZEROS + letters * u64::from(b'A' - b'9' - 1)
}

/// Number of of eight digits are zeros in front, if the last digit stays.
#[inline]
fn zeros_in_front(digits: u64) -> u32 {
    (digits | 1 << 56).trailing_zeros() / 8
}

/// Digits as characters, by what is added to them, from the first one on that is not zero; how many these
/// are.
#[inline]
fn without_zeros(digits: u64, signs: u64) -> ([u8; 8], usize) {
    let zeros = zeros_in_front(digits);
    (((digits + signs) >> (8 * zeros)).to_le_bytes(), 8 - zeros as usize)
}

#[inline]
fn shortened(out: &mut Vec<u8>, digits: u64, signs: u64) {
    let (text, length) = without_zeros(digits, signs);
    first_bytes(out, &text, length);
}

#[inline]
fn padded(out: &mut Vec<u8>, digits: u64) {
    out.extend_from_slice(&(digits + ZEROS).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(value: u64) {
        let written = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut out = b"x".to_vec();
            write(&mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(&|out| decimal(out, value)), format!("x{value}"));
        assert_eq!(written(&|out| signed(out, value as i64)), format!("x{}", value as i64));
        assert_eq!(written(&|out| hexadecimal(out, value)), format!("x0x{value:X}"));
        let into = |write: fn(&mut [u8], u64) -> Option<usize>| {
            let mut out = [b'x'; MOST];
            let length = write(&mut out, value).unwrap();
            String::from_utf8_lossy(&out[..length]).into_owned()
        };
        assert_eq!(into(write_decimal), value.to_string());
        assert_eq!(into(write_hexadecimal), format!("0x{value:X}"));
        let ns = value % 1_000_000_000;
        assert_eq!(written(&|out| nanoseconds(out, ns as u32)), format!("x{ns:09}"));
    }

    #[test]
    fn numbers_around_powers() {
        let powers = (0..20).map(|n| 10_u64.pow(n)).chain((0..64).map(|n| 1 << n)).chain([u64::MAX, 0]);
        powers.flat_map(|power| [power.wrapping_sub(1), power, power.wrapping_add(1)]).for_each(check);
        (0..100_000).for_each(check);
    }

    proptest! {
        #[test]
        fn any_number(value: u64, shift in 0_u32..64) {
            check(value >> shift);
        }
    }
}
