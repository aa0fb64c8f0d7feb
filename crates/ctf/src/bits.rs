//! Reading and writing integers of any size at any bit position, in both byte orders.
//!
//! Bit order follows the byte order, as CTF 1.8 section 4.1.5 defines: in little endian the first field takes
//! the low bits of a byte, in big endian the high bits. The decoders call [`read`] after their own bounds
//! check.

use crate::schema::ByteOrder;

/// Reads `size` (1 to 64) bits at bit `at`. Bits beyond `bytes` read as 0; callers check bounds before.
///
/// Nearly all fields lie within eight bytes that are all there: these are loaded at once, whatever the
/// field's size.
#[inline]
pub fn read(bytes: &[u8], at: u64, size: u32, order: ByteOrder) -> u64 {
    let first = (at / 8) as usize;
    let shift = (at % 8) as u32;
    if shift + size <= 64
        && let Some(eight) = eight_bytes(bytes, first)
    {
        return match order {
            ByteOrder::Little => (u64::from_le_bytes(*eight) >> shift) & (u64::MAX >> (64 - size)),
            ByteOrder::Big => (u64::from_be_bytes(*eight) << shift) >> (64 - size),
        };
    }
    read_at_edge(bytes, first, shift, size, order)
}

/// Eight bytes from `first` on, if they are all there.
#[inline]
pub fn eight_bytes(bytes: &[u8], first: usize) -> Option<&[u8; 8]> {
    // One comparison: as a place in mapped bytes `first` is far from overflow.
    bytes.get(first..first + 8)?.first_chunk()
}

/// The first eight bytes as a little-endian word, zeros in place of those that are not there.
#[inline]
pub fn first_word(bytes: &[u8]) -> u64 {
    if let Some(eight) = bytes.first_chunk() {
        return u64::from_le_bytes(*eight);
    }
    // Parts that overlap: no loop, and no copy of unknown length.
    let count = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let [first, last] = [first, last].map(|four: &[u8; 4]| u64::from(u32::from_le_bytes(*four)));
        return first | last << (8 * (count - 4));
    }
    let byte = |index: usize| bytes.get(index).map_or(0, |byte| u64::from(*byte) << (8 * index));
    byte(0) | byte(1) | byte(2)
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

/// Reads any number of bits at bit `at` as bytes, the most significant one first. Bits beyond `bytes` read as
/// 0.
pub fn read_wide(bytes: &[u8], at: u64, size: u32, order: ByteOrder, reversed: bool) -> Vec<u8> {
    let mut number: Vec<u8> = (0..size)
        .step_by(8)
        .map(|low| {
            let (part, at) = wide_part(at, low, size, order, reversed);
            let raw = read(bytes, at, part, order);
            if reversed { mirror(raw, part) as u8 } else { raw as u8 }
        })
        .collect();
    number.reverse();
    number
}

/// The inverse of [`read_wide`]: the low `size` bits of a number of this many bytes at least.
pub fn write_wide(bytes: &mut Vec<u8>, at: u64, size: u32, order: ByteOrder, reversed: bool, number: &[u8]) {
    for (byte, low) in number.iter().rev().zip((0..size).step_by(8)) {
        let (part, at) = wide_part(at, low, size, order, reversed);
        let raw = low_bits(u64::from(*byte), part);
        write(bytes, at, part, order, if reversed { mirror(raw, part) } else { raw });
    }
}

/// Number of bits the byte from bit `low` of a number on has, and where they lie.
fn wide_part(at: u64, low: u32, size: u32, order: ByteOrder, reversed: bool) -> (u32, u64) {
    let part = (size - low).min(8);
    // Which end of the field the low bits are at.
    let from_begin = (order == ByteOrder::Little) != reversed;
    (part, at + u64::from(if from_begin { low } else { size - low - part }))
}

/// Fills the first byte of a number of `size` bits up with its sign.
pub fn sign_fill(number: &mut [u8], size: u32) {
    let used = (size - 1) % 8 + 1;
    if let Some(first) = number.first_mut() {
        *first = sign_extend(u64::from(*first), used) as u8;
    }
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

    #[test]
    fn wide_numbers_of_known_bytes() {
        let check = |order, reversed, expect: &[u8]| {
            // 70 bits after the first 3: the low 3 of the first byte and all of the others.
            let bytes = [0x17, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0, 0x01];
            assert_eq!(read_wide(&bytes, 3, 70, order, reversed), expect, "{order:?} {reversed}");
        };
        let forward = 0x0000_01f0_debc_9a78_5634_1217_u128 >> 3 & ((1 << 70) - 1);
        check(ByteOrder::Little, false, &forward.to_be_bytes()[7..]);
        check(ByteOrder::Little, true, &(forward.reverse_bits() >> 58).to_be_bytes()[7..]);
        let forward = 0x1712_3456_789a_bcde_f001_u128 >> 7 & ((1 << 70) - 1);
        check(ByteOrder::Big, false, &forward.to_be_bytes()[7..]);
        check(ByteOrder::Big, true, &(forward.reverse_bits() >> 58).to_be_bytes()[7..]);
    }

    proptest! {
        #[test]
        fn wide_numbers_come_back(
            before in proptest::collection::vec(any::<u8>(), 40),
            number in proptest::collection::vec(any::<u8>(), 9..24),
            at in 0_u64..50,
            cut in 0_u32..8,
            big: bool,
            reversed: bool,
        ) {
            let order = if big { ByteOrder::Big } else { ByteOrder::Little };
            let size = number.len() as u32 * 8 - cut;
            let mut number = number;
            number[0] &= 0xff >> cut;
            let mut bytes = before.clone();
            write_wide(&mut bytes, at, size, order, reversed, &number);
            prop_assert_eq!(read_wide(&bytes, at, size, order, reversed), number);
            if at > 0 {
                prop_assert_eq!(read(&bytes, at - 1, 1, order), read(&before, at - 1, 1, order));
            }
            let after = at + u64::from(size);
            prop_assert_eq!(read(&bytes, after, 1, order), read(&before, after, 1, order));
        }

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
