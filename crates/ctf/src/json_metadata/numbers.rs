//! Integers of fixed and variable length, truth values, bits, and floating point numbers.

use super::classes::{Classes, Lowered};
use super::json_ref::JsonRef;
use super::locations::{Here, KeyKind};
use super::roles;
use crate::lower::numbers::integer_size;
use crate::schema::{
    Base, ByteOrder, FieldClass, FloatClass, IntegerClass, IntegerForm, MAX_INTEGER_BITS, Mapping, Mappings,
    Role,
};
use crate::text_error::{Result, TextError};

/// Properties of all fields of fixed length.
const LAYOUT: [&str; 4] = ["length", "byte-order", "bit-order", "alignment"];

impl<'j> Classes<'j> {
    /// Integers of fixed length; `enumeration`: a release candidate's name for one with mappings.
    pub(super) fn fixed_integer(
        &mut self,
        node: &JsonRef<'j, '_>,
        kind: &str,
        enumeration: bool,
        here: &mut Here<'_>,
    ) -> Result<Lowered> {
        let size = node.need("length")?;
        let bits = size.unsigned()?;
        let bits = integer_size(bits, 0).map_err(|TextError { message, .. }| size.error(message))?;
        let mut class = IntegerClass { size: bits, align: alignment(node, "alignment")?, ..new(kind) };
        (class.byte_order, class.reversed) = orders(node)?;
        let own = self.integer_properties(node, kind, enumeration, &mut class, here)?;
        node.only(&[&LAYOUT, own].concat(), &mut self.notes)?;
        Ok(Lowered::leaf(class.into()))
    }

    /// LEB128.
    pub(super) fn variable_integer(
        &mut self,
        node: &JsonRef<'j, '_>,
        kind: &str,
        enumeration: bool,
        here: &mut Here<'_>,
    ) -> Result<Lowered> {
        let mut class = new(kind);
        let own = self.integer_properties(node, kind, enumeration, &mut class, here)?;
        node.only(own, &mut self.notes)?;
        Ok(Lowered::leaf(FieldClass::VarInteger(class)))
    }

    /// What does not depend on the layout. Gives the names of the properties.
    fn integer_properties(
        &mut self,
        node: &JsonRef<'j, '_>,
        kind: &str,
        enumeration: bool,
        class: &mut IntegerClass,
        here: &mut Here<'_>,
    ) -> Result<&'static [&'static str]> {
        let key = match class.form {
            IntegerForm::Boolean => Some(KeyKind::Boolean),
            IntegerForm::Bits => None,
            // Nothing can be counted or chosen by so large a number.
            _ if class.size > 64 => None,
            IntegerForm::Number if class.signed => Some(KeyKind::Signed),
            IntegerForm::Number => Some(KeyKind::Unsigned),
        };
        if let Some(key) = key {
            let cost = here.add_key(key);
            self.budget.charge(cost, node.offset)?;
        }
        if class.form != IntegerForm::Number {
            if kind != "fixed-length-bit-map" {
                return Ok(&[]);
            }
            class.mappings = Some(self.mappings(&node.need("flags")?, Some(class.size))?);
            return Ok(&["flags"]);
        }
        class.mappings = match node.get("mappings") {
            Some(mappings) => Some(self.mappings(&mappings, None)?).filter(|m| enumeration || !m.is_empty()),
            None => None,
        };
        class.base = match node.get("preferred-display-base") {
            None => Base::Decimal,
            Some(base) => match base.unsigned()? {
                2 => Base::Binary,
                8 => Base::Octal,
                10 => Base::Decimal,
                16 => Base::Hexadecimal,
                other => return Err(base.error(format!("the base {other} is none of 2, 8, 10 and 16"))),
            },
        };
        class.role = roles::of(node, here, &mut self.notes)?;
        if class.role == Some(Role::TraceUuid) {
            return Err(node.error("an integer cannot hold a uuid"));
        }
        if class.role.is_some() && (class.signed || class.size > 64) {
            return Err(node.error("a field with a role is an unsigned integer of at most 64 bits"));
        }
        if let Some(Role::PacketBegin | Role::PacketEnd | Role::Timestamp) = class.role {
            class.clock = here.clock;
        }
        Ok(&["mappings", "preferred-display-base", "roles"])
    }

    /// Names of ranges of numbers, or of bits below a number.
    fn mappings(&mut self, node: &JsonRef<'j, '_>, bits: Option<u32>) -> Result<Mappings> {
        let made_from: *const _ = node.value;
        if let Some(mappings) = self.mappings.get(&made_from) {
            return Ok(mappings.clone());
        }
        let mut mappings = Vec::new();
        for (label, set) in node.properties()? {
            for range in set.elements()? {
                let (first, last) = range_of(&range)?;
                if bits.is_some_and(|bits| first < 0 || last >= i128::from(bits)) {
                    return Err(range.error("the field has no such bits"));
                }
                mappings.push(Mapping { label: label.to_owned(), first, last });
            }
        }
        let mappings = Mappings::from(mappings);
        self.mappings.insert(made_from, mappings.clone());
        Ok(mappings)
    }

    /// The interchange formats of IEEE 754.
    pub(super) fn float(&mut self, node: &JsonRef<'j, '_>) -> Result<Lowered> {
        node.only(&LAYOUT, &mut self.notes)?;
        let length = node.need("length")?;
        let size = match length.unsigned()? {
            bits @ (16 | 32 | 64) => bits as u32,
            bits @ 128.. if bits.is_multiple_of(32) && bits <= MAX_INTEGER_BITS.into() => bits as u32,
            other => {
                let message = format!(
                    "a floating point number of {other} bits: 16, 32, 64, 128 and larger multiples of 32 up to \
                     {MAX_INTEGER_BITS} are possible"
                );
                return Err(length.error(message));
            }
        };
        let (byte_order, reversed) = orders(node)?;
        let align = alignment(node, "alignment")?;
        Ok(Lowered::leaf(FieldClass::Float(FloatClass { size, align, byte_order, reversed })))
    }
}

/// An integer class of a kind as it is without properties: of 64 bits, at byte borders.
fn new(kind: &str) -> IntegerClass {
    IntegerClass {
        signed: kind.ends_with("-signed-integer"),
        form: match kind {
            "fixed-length-boolean" => IntegerForm::Boolean,
            "fixed-length-bit-array" | "fixed-length-bit-map" => IntegerForm::Bits,
            _ => IntegerForm::Number,
        },
        ..IntegerClass::unsigned(64, 8, ByteOrder::Little)
    }
}

/// The byte order, and whether the bit order is not the one that goes with it.
fn orders(node: &JsonRef<'_, '_>) -> Result<(ByteOrder, bool)> {
    let byte_order = node.need("byte-order")?;
    let (order, usual) = match byte_order.text()? {
        "little-endian" => (ByteOrder::Little, "first-to-last"),
        "big-endian" => (ByteOrder::Big, "last-to-first"),
        other => return Err(byte_order.error(format!("`{other}` is not a byte order"))),
    };
    let Some(bit_order) = node.get("bit-order") else { return Ok((order, false)) };
    match bit_order.text()? {
        name @ ("first-to-last" | "last-to-first") => Ok((order, name != usual)),
        other => Err(bit_order.error(format!("`{other}` is not a bit order"))),
    }
}

/// An alignment in bits; 1 where it is not given.
pub(super) fn alignment(node: &JsonRef<'_, '_>, name: &str) -> Result<u32> {
    let Some(alignment) = node.get(name) else { return Ok(1) };
    let bits = alignment.unsigned()?;
    let align = u32::try_from(bits).ok().filter(|bits| bits.is_power_of_two() && *bits <= 1 << 30);
    align.ok_or_else(|| alignment.error(format!("{bits} bits are not a possible alignment")))
}

/// A range of integers, both ends included.
pub(super) fn range_of(node: &JsonRef<'_, '_>) -> Result<(i128, i128)> {
    let ends: Vec<i128> = node.elements()?.map(|end| end.integer()).collect::<Result<_>>()?;
    match ends.as_slice() {
        [first, last] if first <= last => Ok((*first, *last)),
        [first, last] => Err(node.error(format!("the range ends ({last}) before it begins ({first})"))),
        _ => Err(node.error("a range has a first and a last number")),
    }
}
