//! Integer classes: numbers, enumerations, truth values and bits.

use std::ops::Deref;
use std::sync::Arc;

use super::field::{ByteOrder, Role};
use crate::bits;

/// Preferred base for showing an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// `0b101`
    Binary,
    /// `017`
    Octal,
    /// `17`
    Decimal,
    /// `0x1F`
    Hexadecimal,
}

/// The most bits of a field of fixed length: what is longer is no number. Readers get more than 64 bits as
/// bytes, which are made again for each field.
pub(crate) const MAX_INTEGER_BITS: u32 = 1 << 16;

/// An integer. Of one of variable length `size` is 64 (what needs more is given as bytes) and `align` is 8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntegerClass {
    /// Bits: 1 to 64, of a [wide one](super::FieldClass::WideInteger) 65 to 65,536.
    pub size: u32,
    /// Alignment in bits from the packet's start, a power of two.
    pub align: u32,
    /// Two's complement or unsigned.
    pub signed: bool,
    /// Order of its bytes.
    pub byte_order: ByteOrder,
    /// How to show it.
    pub base: Base,
    /// Names of ranges of values: an enumeration. `None` for a plain number.
    pub mappings: Option<Mappings>,
    /// What the reader needs it for.
    pub role: Option<Role>,
    /// Index of the clock class whose time it holds.
    pub clock: Option<usize>,
    /// What its bits stand for.
    pub form: IntegerForm,
    /// Whether its bits come in the order that is unusual for its byte order: the number read is mirrored, so
    /// that its lowest bit becomes the highest.
    pub reversed: bool,
}

/// What the bits of an integer stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegerForm {
    /// A number.
    Number,
    /// A truth value: any bit that is set makes it true.
    Boolean,
    /// Bits; the mappings, if there are any, name ranges of bits, counted from the lowest.
    Bits,
}

impl IntegerClass {
    /// A plain number without sign, of this many bits at multiples of `align` bits.
    pub fn unsigned(size: u32, align: u32, byte_order: ByteOrder) -> Self {
        Self {
            size,
            align,
            signed: false,
            byte_order,
            base: Base::Decimal,
            mappings: None,
            role: None,
            clock: None,
            form: IntegerForm::Number,
            reversed: false,
        }
    }

    /// The bits of such a field of at most 64 bits, without its sign.
    #[inline]
    pub(crate) fn read(&self, bytes: &[u8], at: u64) -> u64 {
        let raw = bits::read(bytes, at, self.size, self.byte_order);
        if self.reversed { bits::mirror(raw, self.size) } else { raw }
    }

    /// The names of a value, in the order of the mappings; of bits, all names that one of the set bits has.
    pub fn labels(&self, value: i128) -> impl Iterator<Item = &str> {
        let bits = self.form == IntegerForm::Bits;
        self.labels_where(move |mapping| match bits {
            true => mapping.bits(64).any(|bit| value >> bit & 1 == 1),
            false => (mapping.first..=mapping.last).contains(&value),
        })
    }

    /// The names of a value of any size, given as the visitor gets it: its bytes, the most significant one
    /// first.
    pub fn wide_labels(&self, bytes: &[u8]) -> impl Iterator<Item = &str> {
        let bits = self.form == IntegerForm::Bits;
        let value = if self.signed { signed_value(bytes) } else { unsigned_value(bytes) };
        self.labels_where(move |mapping| match bits {
            true => mapping.bits(bytes.len() as u64 * 8).any(|bit| {
                let byte = bytes[bytes.len() - 1 - (bit / 8) as usize];
                byte >> (bit % 8) & 1 == 1
            }),
            false => value.is_some_and(|value| (mapping.first..=mapping.last).contains(&value)),
        })
    }

    fn labels_where(&self, names: impl Fn(&Mapping) -> bool) -> impl Iterator<Item = &str> {
        let mappings = self.mappings.as_deref().unwrap_or_default().iter();
        mappings.filter(move |mapping| names(mapping)).map(|mapping| mapping.label.as_str())
    }
}

/// The value of big-endian bytes, if 128 bits with a sign can hold it: no mapping reaches beyond.
fn unsigned_value(bytes: &[u8]) -> Option<i128> {
    let (high, low) = bytes.split_at(bytes.len().saturating_sub(16));
    let zeros = high.iter().all(|&byte| byte == 0);
    i128::try_from(low.iter().fold(0, |value: u128, &byte| value << 8 | u128::from(byte)))
        .ok()
        .filter(|_| zeros)
}

/// As [`unsigned_value`], of two's complement.
fn signed_value(bytes: &[u8]) -> Option<i128> {
    let negative = bytes.first().is_some_and(|&byte| byte >= 0x80);
    let flip = if negative { 0xff } else { 0 };
    let magnitude: Vec<u8> = bytes.iter().map(|byte| byte ^ flip).collect();
    unsigned_value(&magnitude).map(|value| if negative { !value } else { value })
}

/// A name for a range of integers, both ends included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// The name, exactly as declared.
    pub label: String,
    /// Smallest value.
    pub first: i128,
    /// Largest value.
    pub last: i128,
}

impl Mapping {
    /// The bits below `count` that it names, counted from the lowest.
    fn bits(&self, count: u64) -> std::ops::RangeInclusive<i128> {
        self.first.max(0)..=self.last.min(i128::from(count) - 1)
    }
}

/// The mappings of an enumeration. All fields of one enumeration share them: named types can stand for many
/// fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mappings(Arc<[Mapping]>);

impl From<Vec<Mapping>> for Mappings {
    fn from(mappings: Vec<Mapping>) -> Self {
        Self(mappings.into())
    }
}

impl Deref for Mappings {
    type Target = [Mapping];

    fn deref(&self) -> &[Mapping] {
        &self.0
    }
}

impl<'m> IntoIterator for &'m Mappings {
    type Item = &'m Mapping;
    type IntoIter = std::slice::Iter<'m, Mapping>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_many_bytes() {
        let check = |bytes: &[u8], unsigned: Option<i128>, signed: Option<i128>| {
            assert_eq!((unsigned_value(bytes), signed_value(bytes)), (unsigned, signed), "{bytes:?}");
        };
        check(&[0, 0, 7], Some(7), Some(7));
        check(&[0xff, 0xfe], Some(0xfffe), Some(-2));
        check(&[0; 20], Some(0), Some(0));
        check(&[0xff; 20], None, Some(-1));
        check(&[0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], None, Some(i128::MIN));
        check(&[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], None, None);
    }
}
