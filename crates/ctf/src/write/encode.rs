//! Encoding values by their compiled fields.

use std::borrow::Cow;

use crate::bits;
use crate::floats;
use crate::plan::{Node, NodeKind, from_utf8, variable};
use crate::schema::{ByteOrder, Encoding, IntegerClass, Role};
use crate::value::Value;

/// Why a value cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The value is of another shape than the field.
    #[error("a value does not fit its field")]
    Mismatch,
    /// The event is too far in time from the one before for the header's bits of time.
    #[error("an event comes too late after the one before for the {bits} bits of time in its header")]
    TimeGap {
        /// Bits of time that the header holds.
        bits: u32,
    },
    /// A time of the packet's head cannot be told from its field, not even with the packet before.
    #[error("the {bits} bits of a packet's time cannot tell {cycles} cycles from other times")]
    PacketTime {
        /// The time.
        cycles: u64,
        /// Bits of the field.
        bits: u32,
    },
    /// A number with more bits than its field.
    #[error("the number {value} does not fit a field of {bits} bits")]
    TooLarge {
        /// The number.
        value: u64,
        /// Bits of the field.
        bits: u32,
    },
    /// The head of a packet takes another space with its sizes and times than without.
    #[error("the head of the packet grows with its sizes and times")]
    GrowingHead,
    /// A packet without a field for the size of its content, whose content does not end at a byte: the bits behind it
    /// would be read as events.
    #[error("content of {bits} bits does not fill the packet, and no field tells where it ends")]
    Padding {
        /// Bits of the content.
        bits: u64,
    },
}

/// A growing packet: bits appended at its end.
#[derive(Debug, Clone, Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    at: u64,
}

impl BitWriter {
    /// Where the next bit goes.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// What has been written; the last byte may be incomplete.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Forgets everything but the memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.at = 0;
    }

    /// Goes back to overwrite from the begin; [`Self::resume`] returns.
    pub(super) fn rewind(&mut self) -> u64 {
        std::mem::take(&mut self.at)
    }

    pub(super) fn resume(&mut self, at: u64) {
        self.at = at;
    }

    /// Pads with zeros to a multiple of `align` bits.
    pub fn align(&mut self, align: u32) {
        self.at = bits::align_up(self.at, align);
    }

    /// Appends the low bits of a number.
    pub fn integer(&mut self, size: u32, order: ByteOrder, value: u64) {
        bits::write(&mut self.bytes, self.at, size, order, value);
        self.at += u64::from(size);
    }

    /// Appends a number of more than 64 bits, given as its bytes, the most significant one first.
    ///
    /// # Errors
    /// It has not as many bytes as the field.
    pub fn wide(
        &mut self,
        size: u32,
        order: ByteOrder,
        reversed: bool,
        number: &[u8],
    ) -> Result<(), EncodeError> {
        if number.len() != size.div_ceil(8) as usize {
            return Err(EncodeError::Mismatch);
        }
        bits::write_wide(&mut self.bytes, self.at, size, order, reversed, number);
        self.at += u64::from(size);
        Ok(())
    }

    /// Appends bytes at a byte border.
    pub fn bytes_aligned(&mut self, bytes: &[u8]) {
        self.align(8);
        let start = (self.at / 8) as usize;
        let end = start + bytes.len();
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[start..end].copy_from_slice(bytes);
        self.at = end as u64 * 8;
    }

    /// The packet, padded with zeros to `bits`.
    pub(super) fn padded(&mut self, bits: u64) -> &[u8] {
        let length = bits.div_ceil(8) as usize;
        self.bytes.resize(length.max(self.bytes.len()), 0);
        &self.bytes[..length]
    }
}

/// Appends a value; arrays take their length from the value, variants their option.
///
/// # Errors
/// The value is of another shape than the field, or a number has too many bits for it.
pub fn encode(node: &Node, value: &Value, out: &mut BitWriter) -> Result<(), EncodeError> {
    out.align(node.align);
    match (&node.kind, value) {
        (NodeKind::Integer { class, .. }, value) => put_integer(class, raw(value)?, out)?,
        (NodeKind::Float(class), Value::Float(value)) if class.size <= 64 => {
            let raw = floats::narrow_float(*value, class.size);
            out.integer(class.size, class.byte_order, mirrored(raw, class.size, class.reversed));
        }
        (NodeKind::Float(class), Value::Wide(number)) => {
            out.wide(class.size, class.byte_order, class.reversed, number)?;
        }
        (NodeKind::WideInteger(class), Value::Wide(number)) => {
            out.wide(class.size, class.byte_order, class.reversed, number)?;
        }
        (NodeKind::VarInteger { class, .. }, Value::Wide(number)) => {
            out.bytes_aligned(&variable::write_wide(number, class.signed));
        }
        (NodeKind::VarInteger { class, .. }, Value::Padded(raw, bytes)) => {
            out.bytes_aligned(&variable::write_padded(*raw, class.signed, *bytes));
        }
        (NodeKind::VarInteger { class, .. }, value) => {
            out.bytes_aligned(&variable::write(raw(value)?, class.signed));
        }
        (NodeKind::String(encoding), Value::Text(text)) => {
            if text.contains(&0) {
                return Err(EncodeError::Mismatch);
            }
            out.bytes_aligned(&encoded(text, *encoding)?);
            out.bytes_aligned(&vec![0; encoding.unit()]);
        }
        (NodeKind::Text(count, encoding), Value::Text(text)) => {
            let text = encoded(text, *encoding)?;
            match count.fixed() {
                Some(length) if text.len() as u64 > length => return Err(EncodeError::Mismatch),
                length => {
                    out.bytes_aligned(&text);
                    let missing = length.map_or(0, |length| length as usize - text.len());
                    out.bytes_aligned(&vec![0; missing]);
                }
            }
        }
        (NodeKind::Blob(count, _), Value::Blob(bytes)) => {
            if count.fixed().is_some_and(|fixed| fixed != bytes.len() as u64) {
                return Err(EncodeError::Mismatch);
            }
            out.bytes_aligned(bytes);
        }
        // The uuid of a trace is an array in CTF 1.8 and a BLOB in CTF 2.
        (NodeKind::Blob(..), Value::Array(numbers)) => {
            let byte =
                |number: &Value| raw(number).and_then(|n| n.try_into().map_err(|_| EncodeError::Mismatch));
            let bytes = numbers.iter().map(byte).collect::<Result<Vec<u8>, _>>()?;
            encode(node, &Value::Blob(bytes), out)?;
        }
        (NodeKind::Optional(_, inner), Value::Optional(value)) => {
            if let Some(value) = value {
                encode(inner, value, out)?;
            }
        }
        (NodeKind::Struct(members), Value::Struct(values)) if members.len() == values.len() => {
            for ((_, member), value) in members.iter().zip(values) {
                encode(member, value, out)?;
            }
        }
        (NodeKind::Array(count, element), Value::Array(values)) => {
            if count.fixed().is_some_and(|fixed| fixed != values.len() as u64) {
                return Err(EncodeError::Mismatch);
            }
            for value in values {
                encode(element, value, out)?;
            }
        }
        (NodeKind::Variant(_, options), Value::Variant(index, value)) => {
            let option = options.get(*index).ok_or(EncodeError::Mismatch)?;
            encode(&option.node, value, out)?;
        }
        _ => return Err(EncodeError::Mismatch),
    }
    Ok(())
}

/// Appends a number at its alignment. Its low bits must give it back, with a sign or without.
pub(super) fn put_integer(class: &IntegerClass, raw: u64, out: &mut BitWriter) -> Result<(), EncodeError> {
    let kept = bits::low_bits(raw, class.size);
    if kept != raw && bits::sign_extend(kept, class.size) as u64 != raw {
        return Err(EncodeError::TooLarge { value: raw, bits: class.size });
    }
    out.align(class.align);
    out.integer(class.size, class.byte_order, mirrored(raw, class.size, class.reversed));
    Ok(())
}

fn mirrored(raw: u64, size: u32, reversed: bool) -> u64 {
    if reversed { bits::mirror(raw, size) } else { raw }
}

/// Text, which values hold as UTF-8 (or as any bytes, where the field is meant to be UTF-8), in a field's encoding.
fn encoded(text: &[u8], encoding: Encoding) -> Result<Cow<'_, [u8]>, EncodeError> {
    match encoding {
        Encoding::Utf8 => Ok(text.into()),
        _ => from_utf8(text, encoding).map(Cow::Owned).ok_or(EncodeError::Mismatch),
    }
}

fn raw(value: &Value) -> Result<u64, EncodeError> {
    match value {
        Value::Unsigned(value) => Ok(*value),
        Value::Signed(value) => Ok(*value as u64),
        _ => Err(EncodeError::Mismatch),
    }
}

/// Gives sizes and times of variable length at the head of a packet the space of the largest number: they are known when
/// the events behind them have been written.
pub(super) fn reserve(node: &Node, value: &mut Value) {
    match (&node.kind, value) {
        (NodeKind::VarInteger { class, .. }, value @ Value::Unsigned(_)) => {
            let known_later =
                [Role::PacketTotalLength, Role::PacketContentLength, Role::PacketBegin, Role::PacketEnd];
            if class.role.is_some_and(|role| known_later.contains(&role)) {
                *value = Value::Padded(0, variable::MAX_BYTES);
            }
        }
        (NodeKind::Struct(members), Value::Struct(values)) => {
            for ((_, member), value) in members.iter().zip(values) {
                reserve(member, value);
            }
        }
        _ => {}
    }
}

/// Calls `change` on every integer inside a value that has a role.
pub(super) fn for_roles(
    node: &Node,
    value: &mut Value,
    change: &mut dyn FnMut(Role, &IntegerClass, &mut u64),
) {
    match (&node.kind, value) {
        (NodeKind::Integer { class, .. } | NodeKind::VarInteger { class, .. }, Value::Unsigned(raw)) => {
            if let Some(role) = class.role {
                change(role, class, raw);
            }
        }
        (NodeKind::VarInteger { class, .. }, value @ Value::Padded(..)) => {
            let (Some(role), &mut Value::Padded(before, _)) = (class.role, &mut *value) else { return };
            let mut raw = before;
            change(role, class, &mut raw);
            if let Value::Padded(number, bytes) = value
                && variable::write(raw, class.signed).len() <= *bytes as usize
            {
                *number = raw;
            } else {
                *value = Value::Unsigned(raw);
            }
        }
        (NodeKind::Integer { class, .. }, Value::Signed(signed)) => {
            if let Some(role) = class.role {
                let mut raw = *signed as u64;
                change(role, class, &mut raw);
                *signed = raw as i64;
            }
        }
        (NodeKind::Struct(members), Value::Struct(values)) => {
            for ((_, member), value) in members.iter().zip(values) {
                for_roles(member, value, change);
            }
        }
        (NodeKind::Array(_, element), Value::Array(values)) => {
            for value in values {
                for_roles(element, value, change);
            }
        }
        (NodeKind::Variant(_, options), Value::Variant(index, value)) => {
            if let Some(option) = options.get(*index) {
                for_roles(&option.node, value, change);
            }
        }
        (NodeKind::Optional(_, inner), Value::Optional(Some(value))) => for_roles(inner, value, change),
        _ => {}
    }
}
