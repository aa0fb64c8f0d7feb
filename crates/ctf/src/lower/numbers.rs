//! Integers and floating point numbers.

use super::attributes;
use super::placing::Placing;
use super::types::{Lowered, Types};
use crate::schema::{FieldClass, FloatClass, IntegerClass, MAX_INTEGER_BITS};
use crate::text_error::{Result, TextError};
use crate::tsdl::{Assignment, Declarator, Path, ValueKind};

/// A number of bits that an integer can have, of TSDL and of JSON.
pub(crate) fn integer_size(bits: impl TryInto<u32> + std::fmt::Display + Copy, offset: usize) -> Result<u32> {
    let size = bits.try_into().ok().filter(|size| (1..=MAX_INTEGER_BITS).contains(size));
    size.ok_or_else(|| {
        TextError::new(offset, format!("an integer of {bits} bits: 1 to {MAX_INTEGER_BITS} are possible"))
    })
}

impl Types<'_> {
    pub(super) fn integer(&mut self, offset: usize, attributes: &[Assignment<'_>]) -> Result<Lowered> {
        self.budget.charge_attributes(attributes.len(), offset)?;
        let mut size = None;
        let mut align = None;
        let mut character = false;
        let mut class = IntegerClass::unsigned(0, 1, self.native);
        for Assignment { path, value } in attributes {
            match path.parts.as_slice() {
                ["size"] => size = Some((value.offset, attributes::integer(value)?)),
                ["align"] => align = Some(attributes::alignment(value)?),
                ["signed"] => class.signed = attributes::boolean(value)?,
                ["byte_order"] => class.byte_order = attributes::byte_order(value)?.unwrap_or(self.native),
                ["base"] => {
                    class.base = attributes::base(value)?;
                    if matches!(value.kind, ValueKind::String(_)) {
                        self.notes.add(value.offset, "a base is a number or a word, not a string");
                    }
                }
                ["encoding"] => character = attributes::is_character(value)?,
                ["map"] => class.clock = Some(self.clock(value)?),
                _ => self.unknown_attribute(path, "an integer"),
            }
        }
        let (at, size) = size.ok_or_else(|| TextError::new(offset, "an integer needs a size"))?;
        class.size = integer_size(size, at)?;
        class.align = align.unwrap_or(if class.size.is_multiple_of(8) { 8 } else { 1 });
        // Only then do the characters follow each other without gaps.
        let character = character && class.size == 8 && class.align == 8;
        Ok(Lowered { character, ..Lowered::leaf(class.into()) })
    }

    fn clock(&self, value: &crate::tsdl::Value<'_>) -> Result<usize> {
        let name = attributes::clock_name(value)
            .ok_or_else(|| TextError::new(value.offset, "an integer is mapped to `clock.NAME.value`"))?;
        self.clocks
            .get(name)
            .copied()
            .ok_or_else(|| TextError::new(value.offset, format!("no clock is called `{name}`")))
    }

    /// An attribute of a writer's own: it does not change the layout.
    pub(super) fn unknown_attribute(&mut self, path: &Path<'_>, of: &str) {
        self.notes.add(path.offset, format!("the attribute `{path}` of {of} is unknown; ignored"));
    }

    /// `type name : bits`: the integer type is the unit that such fields share.
    pub(super) fn bit_field(
        &mut self,
        unit: Lowered,
        bits: u64,
        declarator: &Declarator<'_>,
        placing: &mut Placing,
    ) -> Result<Lowered> {
        let name = declarator.name;
        let (FieldClass::Integer(mut class) | FieldClass::WideInteger(mut class)) = unit.class else {
            return Err(TextError::new(name.offset, "only an integer can be a bit field"));
        };
        let size = integer_size(bits, name.offset)?;
        if size > class.size {
            let message = format!("a bit field of {bits} bits does not fit its type of {}", class.size);
            return Err(TextError::new(name.offset, message));
        }
        let align = placing.bit_field(size, &class).unwrap_or_else(|| {
            let message =
                format!("where the unit of the bit field `{}` ends is unknown; taken as packed", name.text);
            self.notes.add(name.offset, message);
            1
        });
        (class.size, class.align) = (size, align);
        Ok(Lowered::leaf(class.into()))
    }

    pub(super) fn float(&mut self, offset: usize, attributes: &[Assignment<'_>]) -> Result<Lowered> {
        self.budget.charge_attributes(attributes.len(), offset)?;
        let (mut exponent, mut mantissa) = (0, 0);
        let mut class = FloatClass { size: 0, align: 8, byte_order: self.native, reversed: false };
        for Assignment { path, value } in attributes {
            match path.parts.as_slice() {
                ["exp_dig"] => exponent = attributes::unsigned(value)?,
                ["mant_dig"] => mantissa = attributes::unsigned(value)?,
                ["align"] => class.align = attributes::alignment(value)?,
                ["byte_order"] => class.byte_order = attributes::byte_order(value)?.unwrap_or(self.native),
                _ => self.unknown_attribute(path, "a floating point number"),
            }
        }
        class.size = match (exponent, mantissa) {
            (5, 11) => 16,
            (8, 24) => 32,
            (11, 53) => 64,
            (15, 113) => 128,
            _ => {
                let message = format!(
                    "a floating point number with {exponent} exponent and {mantissa} mantissa digits: \
                     5 and 11, 8 and 24, 11 and 53 or 15 and 113 are possible"
                );
                return Err(TextError::new(offset, message));
            }
        };
        Ok(Lowered::leaf(FieldClass::Float(class)))
    }
}
