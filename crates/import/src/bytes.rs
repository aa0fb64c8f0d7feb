//! Numbers and texts at the start of some bytes, in the byte order of the machine that wrote them. Nothing is
//! allocated by what they say, and what is cut is an error.

use std::fmt::Write as _;

/// The end came before what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is cut")]
pub(crate) struct Cut;

/// The rest of some bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bytes<'b> {
    rest: &'b [u8],
    order: Order,
}

/// A byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Big,
}

impl Order {
    /// A number of at most 8 bytes.
    pub(crate) fn number(self, bytes: &[u8]) -> u64 {
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        match self {
            Self::Little => bytes.iter().rev().fold(0, add),
            Self::Big => bytes.iter().fold(0, add),
        }
    }

    /// The low bytes of a number.
    pub(crate) fn low(self, number: &[u8], size: usize) -> &[u8] {
        match self {
            Self::Little => &number[..size.min(number.len())],
            Self::Big => &number[number.len().saturating_sub(size)..],
        }
    }

    /// The bytes of a number of 32 bits.
    pub(crate) fn four(self, number: u32) -> [u8; 4] {
        match self {
            Self::Little => number.to_le_bytes(),
            Self::Big => number.to_be_bytes(),
        }
    }

    /// The bytes of a number of 64 bits.
    pub(crate) fn eight(self, number: u64) -> [u8; 8] {
        match self {
            Self::Little => number.to_le_bytes(),
            Self::Big => number.to_be_bytes(),
        }
    }
}

impl<'b> Bytes<'b> {
    pub(crate) fn new(rest: &'b [u8], order: Order) -> Self {
        Self { rest, order }
    }

    pub(crate) fn rest(self) -> &'b [u8] {
        self.rest
    }

    pub(crate) fn is_empty(self) -> bool {
        self.rest.is_empty()
    }

    /// The next bytes.
    pub(crate) fn take(&mut self, count: u64) -> Result<&'b [u8], Cut> {
        let count = usize::try_from(count).map_err(|_| Cut)?;
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Cut)?;
        self.rest = rest;
        Ok(taken)
    }

    fn number(&mut self, bytes: u64) -> Result<u64, Cut> {
        let order = self.order;
        self.take(bytes).map(|bytes| order.number(bytes))
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Cut> {
        self.number(1).map(|number| number as u8)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Cut> {
        self.number(2).map(|number| number as u16)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Cut> {
        self.number(4).map(|number| number as u32)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Cut> {
        self.number(8)
    }

    /// The text up to the next NUL, which is skipped.
    pub(crate) fn text(&mut self) -> Result<String, Cut> {
        let end = self.rest.iter().position(|byte| *byte == 0).ok_or(Cut)?;
        let text = String::from_utf8_lossy(&self.rest[..end]).into_owned();
        self.rest = &self.rest[end + 1..];
        Ok(text)
    }
}

/// Bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The bytes of a text up to its first NUL.
pub(crate) fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_is_an_error() {
        let mut bytes = Bytes::new(&[1, 2, 3, b'a', 0, 9], Order::Little);
        assert_eq!(bytes.u16(), Ok(0x0201));
        assert_eq!(bytes.u8(), Ok(3));
        assert_eq!(bytes.text(), Ok("a".to_owned()));
        assert_eq!(bytes.u16(), Err(Cut));
        assert_eq!(bytes.u8(), Ok(9));
        assert!(bytes.is_empty());
        assert_eq!(bytes.take(u64::MAX), Err(Cut));
        assert_eq!(Bytes::new(b"abc", Order::Big).text(), Err(Cut));
    }

    #[test]
    fn both_byte_orders() {
        assert_eq!(Order::Big.number(&[1, 2]), 0x0102);
        assert_eq!(Order::Little.low(&[1, 2, 3, 4], 2), [1, 2]);
        assert_eq!(Order::Big.low(&[1, 2, 3, 4], 2), [3, 4]);
        assert_eq!(Order::Big.four(1), [0, 0, 0, 1]);
    }
}
