//! Where the members of a structure come to lie, as far as constant sizes show: whether neighbours that share
//! a byte have one byte order, and where the units of bit fields end. For TSDL and JSON alike.

use super::limits::Measure;
use crate::bits;
use crate::schema::{ByteOrder, FieldClass, IntegerClass};

/// Larger than any alignment.
const ANY_ALIGNMENT: u64 = 1 << 32;

/// Where the next member may begin.
#[derive(Debug)]
pub(crate) struct Placing {
    /// Bits from the start of the structure, which is taken as aligned to all that is in it, modulo
    /// `modulus`.
    at: u64,
    /// A power of two; 1 where nothing is known.
    modulus: u64,
    /// Byte order of the field of constant size that ends there.
    order: Option<ByteOrder>,
    /// Alignment that the units of bit fields ask of the structure.
    units: u32,
}

impl Placing {
    /// The start of a structure.
    pub(crate) fn begin() -> Self {
        Self { at: 0, modulus: ANY_ALIGNMENT, order: None, units: 1 }
    }

    /// Somewhere.
    pub(crate) fn unknown() -> Self {
        Self { at: 0, modulus: 1, order: None, units: 1 }
    }

    /// Alignment that the structure needs for its bit fields to lie as they were placed.
    pub(crate) fn units(&self) -> u32 {
        self.units
    }

    /// Continues after a field; `false` if it shares a byte with the one before it and has another byte
    /// order: then their bits overlap.
    pub(crate) fn pass(&mut self, class: &FieldClass, measure: Measure) -> bool {
        let (size, align, order) = match class {
            FieldClass::Integer(class) | FieldClass::WideInteger(class) => {
                (class.size, class.align, class.byte_order)
            }
            FieldClass::Float(class) => (class.size, class.align, class.byte_order),
            _ => {
                let at_border = self.modulus >= 8 && self.at.is_multiple_of(8);
                let modulus = if measure.ends_at_byte(at_border) { 8 } else { 1 };
                (self.at, self.modulus, self.order) = (0, modulus, None);
                return true;
            }
        };
        let begin = if u64::from(align) > self.modulus { 0 } else { bits::align_up(self.at, align) };
        self.modulus = self.modulus.max(align.into());
        let alone = begin.is_multiple_of(8) || self.modulus < 8;
        let fits = alone || self.order.is_none_or(|before| before == order);
        self.at = (begin + u64::from(size)) % self.modulus;
        self.order = Some(order);
        fits
    }

    /// Alignment of a bit field of this many bits that begins here (CTF 1.8 section 4.1.6): where it does not
    /// fit the rest of its unit, it begins the next one. A unit that is not aligned to its own size has no
    /// borders to respect. `None`: it is undefined where the unit ends.
    pub(crate) fn bit_field(&mut self, size: u32, unit: &IntegerClass) -> Option<u32> {
        if unit.align < unit.size || !unit.size.is_power_of_two() {
            return Some(1);
        }
        if self.modulus < u64::from(unit.size) {
            return None;
        }
        self.units = self.units.max(unit.size);
        let used = self.at % u64::from(unit.size);
        let fits = used > 0 && used + u64::from(size) <= u64::from(unit.size);
        Some(if fits { 1 } else { unit.size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Encoding, StringClass};

    fn pass(placing: &mut Placing, class: &FieldClass) -> bool {
        placing.pass(class, Measure::leaf(class))
    }

    #[test]
    fn neighbours_in_a_byte_have_one_byte_order() {
        let check = |fields: &[(u32, u32, ByteOrder)], expect: bool| {
            let mut placing = Placing::begin();
            let fit = fields.iter().all(|&(size, align, order)| {
                pass(&mut placing, &FieldClass::Integer(IntegerClass::unsigned(size, align, order)))
            });
            assert_eq!(fit, expect, "{fields:?}");
        };
        let (le, be) = (ByteOrder::Little, ByteOrder::Big);
        check(&[(4, 1, be), (4, 1, le)], false);
        check(&[(4, 1, le), (4, 1, le)], true);
        check(&[(8, 1, be), (4, 1, le)], true);
        check(&[(4, 1, be), (4, 8, le)], true);
        check(&[(4, 1, be), (4, 4, le)], false);
        check(&[(12, 1, be), (32, 16, le), (3, 1, le), (5, 1, be)], false);
    }

    #[test]
    fn bit_fields_do_not_cross_their_units() {
        let unit = IntegerClass::unsigned(16, 16, ByteOrder::Little);
        let check = |before: &[(u32, u32)], size: u32, expect: Option<u32>| {
            let mut placing = Placing::begin();
            for &(size, align) in before {
                pass(
                    &mut placing,
                    &FieldClass::Integer(IntegerClass::unsigned(size, align, ByteOrder::Little)),
                );
            }
            assert_eq!(placing.bit_field(size, &unit), expect, "{before:?} {size}");
            assert_eq!(placing.units(), 16);
        };
        check(&[], 12, Some(16));
        check(&[(12, 16)], 4, Some(1));
        check(&[(12, 16)], 5, Some(16));
        check(&[(8, 8)], 8, Some(1));
        check(&[(8, 8)], 9, Some(16));
        check(&[(32, 32), (3, 1)], 13, Some(1));
        let packed = IntegerClass::unsigned(16, 8, ByteOrder::Little);
        assert_eq!(Placing::begin().bit_field(5, &packed), Some(1));
        let mut after_text = Placing::begin();
        pass(&mut after_text, &FieldClass::String(StringClass { encoding: Encoding::Utf8 }));
        assert_eq!(after_text.bit_field(5, &unit), None);
        pass(&mut after_text, &FieldClass::Integer(IntegerClass::unsigned(32, 32, ByteOrder::Little)));
        assert_eq!(after_text.bit_field(5, &unit), Some(16));
    }
}
