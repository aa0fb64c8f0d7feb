//! Fields at constant offsets after the start of a body, or of a section of one: read without walking what is
//! before them.

use super::program::Known;
use super::walk::Text;
use crate::bits;
use crate::schema::{ByteOrder, IntegerClass};

/// An integer at a constant offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FixedInteger {
    /// Bits after the start.
    offset: u64,
    size: u32,
    order: ByteOrder,
    signed: bool,
}

impl FixedInteger {
    pub(crate) fn new(offset: u64, class: &IntegerClass) -> Self {
        Self { offset, size: class.size, order: class.byte_order, signed: class.signed }
    }

    /// Its bits, sign-extended, after this bit.
    #[inline]
    pub(crate) fn read(self, bytes: &[u8], begin: u64) -> u64 {
        bits::extend(bits::read(bytes, begin + self.offset, self.size, self.order), self.size, self.signed)
    }
}

/// An integer within eight bytes from a byte border on: these are loaded at once and shifted up and down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word {
    /// Bytes after the start.
    byte: u32,
    up: u8,
    down: u8,
    integer: FixedInteger,
}

impl Word {
    /// `None` for an integer over nine bytes, and where it does not lie after a border of bytes.
    pub(crate) fn new(integer: FixedInteger, begin: Known) -> Option<Self> {
        let shift = (integer.offset % 8) as u32;
        let unused = 64_u32.checked_sub(shift + integer.size)?;
        let up = match integer.order {
            ByteOrder::Little => unused,
            ByteOrder::Big => shift,
        };
        let byte = u32::try_from(integer.offset / 8).ok()?;
        let word = Self { byte, up: up as u8, down: (64 - integer.size) as u8, integer };
        begin.is_byte_border().then_some(word)
    }

    /// Whether it is signed.
    #[inline]
    pub(crate) fn signed(self) -> bool {
        self.integer.signed
    }

    /// Its bits, sign-extended, after this bit, which is at a border of bytes.
    #[inline]
    pub(crate) fn read(&self, bytes: &[u8], begin: u64) -> u64 {
        let first = (begin / 8) as usize + self.byte as usize;
        let Some(eight) = bits::eight_bytes(bytes, first) else { return self.read_at_end(bytes, begin) };
        let word = match self.integer.order {
            ByteOrder::Little => u64::from_le_bytes(*eight),
            ByteOrder::Big => u64::from_be_bytes(*eight),
        };
        let top = word << self.up;
        if self.integer.signed { ((top as i64) >> self.down) as u64 } else { top >> self.down }
    }

    /// As [`Self::read`], within the last eight bytes.
    #[cold]
    fn read_at_end(&self, bytes: &[u8], begin: u64) -> u64 {
        self.integer.read(bytes, begin)
    }
}

/// Text that begins at a constant offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FixedText {
    /// Bits after the start.
    pub(crate) offset: u64,
    /// Bytes that it has; `None`: it ends with a NUL.
    pub(crate) length: Option<u64>,
}

impl FixedText {
    /// Its bytes up to the first NUL, in a body that was walked when the event was found: it has them all.
    #[inline]
    pub(crate) fn read(self, bytes: &[u8], body: u64) -> &[u8] {
        let rest = bytes.get(((body + self.offset) / 8) as usize..).unwrap_or_default();
        let field = match self.length {
            Some(length) => rest.get(..length as usize).unwrap_or_default(),
            None => rest,
        };
        Text { field }.shown()
    }

    /// Its first `N` bytes whatever they are, in a body as for [`Self::read`]; `None` where it may be
    /// shorter.
    #[inline]
    pub(crate) fn head<const N: usize>(self, bytes: &[u8], body: u64) -> Option<&[u8; N]> {
        if self.length? < N as u64 {
            return None;
        }
        bytes.get(((body + self.offset) / 8) as usize..)?.first_chunk()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A word is the integer that it was made of, at the end of the bytes, too.
        #[test]
        fn words_are_integers(
            bytes in proptest::collection::vec(any::<u8>(), 40),
            begin in 0_u64..8,
            offset in 0_u64..128,
            size in 1_u32..=64,
            big: bool,
            signed: bool,
        ) {
            let order = if big { ByteOrder::Big } else { ByteOrder::Little };
            let integer = FixedInteger { offset, size, order, signed };
            let shift = (offset % 8) as u32;
            let word = Word::new(integer, Known::aligned(8));
            prop_assert_eq!(word.is_some(), shift + size <= 64);
            if let Some(word) = word {
                prop_assert_eq!(word.read(&bytes, begin * 8), integer.read(&bytes, begin * 8));
            }
            prop_assert_eq!(Word::new(integer, Known::aligned(4)), None);
        }

        /// The first 16 bytes of a text have a way of their own to its end.
        #[test]
        fn short_texts_end_where_long_ones_do(bytes in proptest::collection::vec(prop_oneof![Just(0), Just(1), Just(0x80), any::<u8>()], 0..40)) {
            let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
            prop_assert_eq!(Text { field: &bytes }.shown(), &bytes[..end]);
        }
    }

    #[test]
    fn texts_end_with_a_nul_or_with_the_field() {
        let check = |length, expect: &str| {
            assert_eq!(FixedText { offset: 8, length }.read(b"..bash\0\0zsh\0", 8), expect.as_bytes());
        };
        check(None, "bash");
        check(Some(8), "bash");
        check(Some(3), "bas");
        check(Some(0), "");
    }

    #[test]
    fn the_first_bytes_of_long_texts_are_given_as_they_are() {
        let check = |length, expect: Option<&[u8; 6]>| {
            assert_eq!(FixedText { offset: 8, length }.head::<6>(b"..bash\0r\0", 8), expect);
        };
        check(Some(8), Some(b"bash\0r"));
        check(Some(6), Some(b"bash\0r"));
        check(Some(5), None);
        check(None, None);
    }
}
