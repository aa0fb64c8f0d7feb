//! Reading and writing integers of any size at any bit position, in both byte orders.
//!
//! Bit order follows the byte order, as CTF 1.8 section 4.1.5 defines: in little endian the first field takes the low
//! bits of a byte, in big endian the high bits. The decoders call [`read`] behind their own bounds check.

use crate::schema::ByteOrder;

/// Reads `size` (1 to 64) bits at bit `at`. Bits beyond `bytes` read as 0; callers check bounds before.
///
/// Nearly all fields lie within eight bytes that are all there: these are loaded at once, whatever the field's size.
#[inline]
pub fn read(bytes: &[u8], at: u64, size: u32, order: ByteOrder) -> u64 {
    let first = (at / 8) as usize;
    let shift = (at % 8) as u32;
    if shift + size <= 64
        && let Some(eight) = bytes.get(first..).and_then(|rest| rest.first_chunk::<8>())
    {
        return match order {
            ByteOrder::Little => (u64::from_le_bytes(*eight) >> shift) & (u64::MAX >> (64 - size)),
            ByteOrder::Big => (u64::from_be_bytes(*eight) << shift) >> (64 - size),
        };
    }
    read_at_edge(bytes, first, shift, size, order)
}

/// Fields over nine bytes, and those at the end of the bytes.
#[inline(never)]
fn read_at_edge(bytes: &[u8], first: usize, shift: u32, size: u32, order: ByteOrder) -> u64 {
    let count = (shift + size).div_ceil(8) as usize;
    let mut window = [0; 16];
    let available = bytes.get(first..).unwrap_or_default();
    let take = count.min(available.len());
    let mask = u64::MAX >> (64 - size);
    match order {
        ByteOrder::Little => {
            window[..take].copy_from_slice(&available[..take]);
            (u128::from_le_bytes(window) >> shift) as u64 & mask
        }
        ByteOrder::Big => {
            window[16 - count..16 - count + take].copy_from_slice(&available[..take]);
            (u128::from_be_bytes(window) >> (count as u32 * 8 - shift - size)) as u64 & mask
        }
    }
}

/// The low `size` (1 to 64) bits of a number in the opposite order.
#[inline]
pub fn mirror(value: u64, size: u32) -> u64 {
    value.reverse_bits() >> (64 - size)
}

/// Widens the two's complement number of `size` bits in the low bits of `raw`.
#[inline]
pub fn sign_extend(raw: u64, size: u32) -> i64 {
    let unused = 64 - size;
    ((raw << unused) as i64) >> unused
}

/// The low `size` (1 to 64) bits of an integer field as its value: a signed one widened, as two's complement.
#[inline]
pub fn extend(raw: u64, size: u32, signed: bool) -> u64 {
    if signed { sign_extend(raw, size) as u64 } else { raw }
}

/// Rounds a bit position up to a multiple of `align`, a power of two.
#[inline]
pub fn align_up(at: u64, align: u32) -> u64 {
    let mask = u64::from(align) - 1;
    (at + mask) & !mask
}

/// [`align_up`] for sizes that come from metadata and may be of any size.
pub fn checked_align_up(at: u64, align: u32) -> Option<u64> {
    let mask = u64::from(align) - 1;
    Some(at.checked_add(mask)? & !mask)
}

/// The low `size` (1 to 64) bits of a number.
#[inline]
pub fn low_bits(value: u64, size: u32) -> u64 {
    value & (u64::MAX >> (64 - size))
}

/// The binary64 of the same value as a binary32. NaNs keep their sign and payload, also signalling ones, which a
/// conversion by the processor would change.
#[inline]
pub fn widen_float(raw: u32) -> f64 {
    let value = f32::from_bits(raw);
    if !value.is_nan() {
        return value.into();
    }
    let (sign, payload) = (u64::from(raw >> 31), u64::from(raw & 0x007f_ffff));
    f64::from_bits(sign << 63 | 0x7ff << 52 | payload << 29)
}

/// The inverse of [`widen_float`]; other numbers are rounded.
pub fn narrow_float(value: f64) -> u32 {
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

/// Writes the low `size` bits of `value` at bit `at`, growing `bytes` with zeros as needed.
pub fn write(bytes: &mut Vec<u8>, at: u64, size: u32, order: ByteOrder, value: u64) {
    let first = (at / 8) as usize;
    let shift = (at % 8) as u32;
    let count = (shift + size).div_ceil(8) as usize;
    if bytes.len() < first + count {
        bytes.resize(first + count, 0);
    }
    let mask = u128::from(u64::MAX >> (64 - size));
    let value = u128::from(value) & mask;
    let window = &mut bytes[first..first + count];
    let up = match order {
        ByteOrder::Little => shift,
        ByteOrder::Big => {
            // From here on the window is little endian.
            window.reverse();
            count as u32 * 8 - shift - size
        }
    };
    for (i, byte) in window.iter_mut().enumerate() {
        let keep = !(((mask << up) >> (8 * i)) as u8);
        *byte = (*byte & keep) | ((value << up) >> (8 * i)) as u8;
    }
    if order == ByteOrder::Big {
        window.reverse();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The struct {a: 4 = 0xE, b: 32 = 0xA1B2C3D4, c: 4 = 0xF} in both byte orders.
    #[test]
    fn neighbours_share_bytes() {
        for (order, bytes) in [
            (ByteOrder::Big, [0xea, 0x1b, 0x2c, 0x3d, 0x4f]),
            (ByteOrder::Little, [0x4e, 0x3d, 0x2c, 0x1b, 0xfa]),
        ] {
            assert_eq!(read(&bytes, 0, 4, order), 0xe);
            assert_eq!(read(&bytes, 4, 32, order), 0xa1b2_c3d4);
            assert_eq!(read(&bytes, 36, 4, order), 0xf);
            let mut written = Vec::new();
            write(&mut written, 0, 4, order, 0xe);
            write(&mut written, 4, 32, order, 0xa1b2_c3d4);
            write(&mut written, 36, 4, order, 0xf);
            assert_eq!(written, bytes);
        }
    }

    proptest! {
        #[test]
        fn writing_then_reading_is_identity(
            before in proptest::collection::vec(any::<u8>(), 24),
            at in 0_u64..100,
            size in 1_u32..=64,
            value: u64,
            big: bool,
        ) {
            let order = if big { ByteOrder::Big } else { ByteOrder::Little };
            let value = value & (u64::MAX >> (64 - size));
            let mut bytes = before.clone();
            write(&mut bytes, at, size, order, value);
            prop_assert_eq!(read(&bytes, at, size, order), value);
            // Neighbouring bits of the same order stay as they were.
            if at > 0 {
                prop_assert_eq!(read(&bytes, at - 1, 1, order), read(&before, at - 1, 1, order));
            }
            let after = at + u64::from(size);
            prop_assert_eq!(read(&bytes, after, 1, order), read(&before, after, 1, order));
        }

        #[test]
        fn sign_extension_keeps_the_value(value: i64, size in 1_u32..=64) {
            let shortened = (value << (64 - size)) >> (64 - size);
            prop_assert_eq!(sign_extend(shortened as u64 & (u64::MAX >> (64 - size)), size), shortened);
        }
    }
}
