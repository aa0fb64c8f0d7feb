//! Encoding values by their compiled fields.

use std::borrow::Cow;

use crate::bits;
use crate::floats;
use crate::plan::{Count, Node, NodeKind, Selector, from_utf8, variable};
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
    /// A time of the packet's head cannot be recovered from its field, not even with the packet before.
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
    /// A packet without a field for the size of its content, whose content does not end at a byte: the bits
    /// after it would be read as events.
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

    /// Continues at another bit; what is written there already is overwritten.
    pub(super) fn go_to(&mut self, at: u64) {
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

/// Appends a value; arrays take their length from the value, variants their option. That these are what the
/// fields for lengths and selectors say is up to the caller, as they may lie elsewhere;
/// [`PacketWriter`](super::PacketWriter) sees to it.
///
/// # Errors
/// The value is of another shape than the field, or a number does not fit it.
pub fn encode(node: &Node, value: &Value, out: &mut BitWriter) -> Result<(), EncodeError> {
    encode_by(node, value, out, &mut None)
}

/// As [`encode`]. With slots, which hold what was written before, lengths and selectors must be what the
/// value has.
pub(super) fn encode_by(
    node: &Node,
    value: &Value,
    out: &mut BitWriter,
    slots: &mut Option<&mut [u64]>,
) -> Result<(), EncodeError> {
    out.align(node.align);
    match (&node.kind, value) {
        (NodeKind::Integer { class, slot }, value) => {
            let raw = raw(value, class)?;
            keep(*slot, slots, raw);
            put_integer(class, raw, out)?;
        }
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
        (NodeKind::VarInteger { class, slot }, value) => {
            let (raw, bytes) = match value {
                Value::Padded(_, bytes) if *bytes > variable::MAX_BYTES => return Err(EncodeError::Mismatch),
                Value::Padded(raw, bytes) => (*raw, *bytes),
                _ => (raw(value, class)?, 1),
            };
            keep(*slot, slots, raw);
            out.bytes_aligned(&variable::write_padded(raw, class.signed, bytes));
        }
        (NodeKind::String(encoding), Value::Text(text)) => {
            if text.contains(&0) {
                return Err(EncodeError::Mismatch);
            }
            out.bytes_aligned(&encoded(text, *encoding)?);
            out.bytes_aligned(&vec![0; encoding.unit()]);
        }
        (NodeKind::Text(Count::Static(length), encoding), Value::Text(text)) => {
            let text = encoded(text, *encoding)?;
            let missing = length.checked_sub(text.len() as u64).ok_or(EncodeError::Mismatch)?;
            out.bytes_aligned(&text);
            out.bytes_aligned(&vec![0; missing as usize]);
        }
        (NodeKind::Text(count, encoding), Value::Text(text)) => {
            let text = encoded(text, *encoding)?;
            check_count(*count, text.len(), slots)?;
            out.bytes_aligned(&text);
        }
        (NodeKind::Blob(count, _), Value::Blob(bytes)) => {
            check_count(*count, bytes.len(), slots)?;
            out.bytes_aligned(bytes);
        }
        // The uuid of a trace is an array in CTF 1.8 and a BLOB in CTF 2.
        (NodeKind::Blob(..), Value::Array(numbers)) => {
            let byte = |number: &Value| match number {
                Value::Unsigned(number) => u8::try_from(*number).map_err(|_| EncodeError::Mismatch),
                _ => Err(EncodeError::Mismatch),
            };
            let bytes = numbers.iter().map(byte).collect::<Result<Vec<u8>, _>>()?;
            encode_by(node, &Value::Blob(bytes), out, slots)?;
        }
        (NodeKind::Optional(selector, inner), Value::Optional(value)) => {
            check_choice(selector, value.is_some().then_some(0), slots)?;
            if let Some(value) = value {
                encode_by(inner, value, out, slots)?;
            }
        }
        (NodeKind::Struct(members), Value::Struct(values)) if members.len() == values.len() => {
            for ((_, member), value) in members.iter().zip(values) {
                encode_by(member, value, out, slots)?;
            }
        }
        (NodeKind::Array(count, element), Value::Array(values)) => {
            check_count(*count, values.len(), slots)?;
            for value in values {
                encode_by(element, value, out, slots)?;
            }
        }
        (NodeKind::Variant(selector, options), Value::Variant(index, value)) => {
            let option = options.get(*index).ok_or(EncodeError::Mismatch)?;
            check_choice(selector, Some(*index), slots)?;
            encode_by(&option.node, value, out, slots)?;
        }
        _ => return Err(EncodeError::Mismatch),
    }
    Ok(())
}

fn keep(slot: Option<u32>, slots: &mut Option<&mut [u64]>, raw: u64) {
    if let (Some(slot), Some(slots)) = (slot, slots) {
        slots[slot as usize] = raw;
    }
}

/// Whether a length is that of the value.
fn check_count(count: Count, length: usize, slots: &Option<&mut [u64]>) -> Result<(), EncodeError> {
    let expect = match (count, slots) {
        (Count::Static(count), _) => count,
        (Count::Slot(slot), Some(slots)) => slots[slot as usize],
        (Count::Slot(_), None) => return Ok(()),
    };
    if expect == length as u64 { Ok(()) } else { Err(EncodeError::Mismatch) }
}

/// Whether a selector chooses what the value has.
fn check_choice(
    selector: &Selector,
    choice: Option<usize>,
    slots: &mut Option<&mut [u64]>,
) -> Result<(), EncodeError> {
    let Some(slots) = slots else { return Ok(()) };
    if selector.chosen(slots).ok() == choice { Ok(()) } else { Err(EncodeError::Mismatch) }
}

/// Appends a number at its alignment. Its low bits must give it back.
pub(super) fn put_integer(class: &IntegerClass, raw: u64, out: &mut BitWriter) -> Result<(), EncodeError> {
    let kept = bits::low_bits(raw, class.size);
    if bits::extend(kept, class.size, class.signed) != raw {
        return Err(EncodeError::TooLarge { value: raw, bits: class.size });
    }
    out.align(class.align);
    out.integer(class.size, class.byte_order, mirrored(raw, class.size, class.reversed));
    Ok(())
}

fn mirrored(raw: u64, size: u32, reversed: bool) -> u64 {
    if reversed { bits::mirror(raw, size) } else { raw }
}

/// Text, which values hold as UTF-8 (or as any bytes, where the field is meant to be UTF-8), in a field's
/// encoding.
fn encoded(text: &[u8], encoding: Encoding) -> Result<Cow<'_, [u8]>, EncodeError> {
    match encoding {
        Encoding::Utf8 => Ok(text.into()),
        _ => from_utf8(text, encoding).map(Cow::Owned).ok_or(EncodeError::Mismatch),
    }
}

/// The bits of a number, sign-extended. Either kind of value will do, if the field can hold it.
fn raw(value: &Value, class: &IntegerClass) -> Result<u64, EncodeError> {
    let (raw, fits) = match *value {
        Value::Unsigned(value) => (value, !class.signed || i64::try_from(value).is_ok()),
        Value::Signed(value) => (value as u64, class.signed || value >= 0),
        _ => return Err(EncodeError::Mismatch),
    };
    if fits { Ok(raw) } else { Err(EncodeError::TooLarge { value: raw, bits: class.size }) }
}

/// Gives sizes and times of variable length at the head of a packet space for other values, which are known
/// when the events after them have been written: as much as they take now, or that of the largest number.
pub(super) fn reserve(node: &Node, value: &mut Value, largest: bool) {
    use Role::{PacketBegin, PacketContentLength, PacketEnd, PacketTotalLength};
    let known_later = [PacketTotalLength, PacketContentLength, PacketBegin, PacketEnd];
    each_integer(node, value, &mut |number, value| {
        let NodeKind::VarInteger { class, .. } = number else { return };
        let (raw, bytes) = match value {
            Value::Unsigned(raw) => (*raw, variable::write(*raw, false).len() as u32),
            Value::Padded(raw, bytes) => (*raw, *bytes),
            _ => return,
        };
        if class.role.is_some_and(|role| known_later.contains(&role)) {
            *value = Value::Padded(raw, if largest { variable::MAX_BYTES } else { bytes });
        }
    });
}

/// Calls `change` on every integer inside a value that has a role.
pub(super) fn for_roles(
    node: &Node,
    value: &mut Value,
    change: &mut dyn FnMut(Role, &IntegerClass, &mut u64),
) {
    each_integer(node, value, &mut |number, value| {
        let (NodeKind::Integer { class, .. } | NodeKind::VarInteger { class, .. }) = number else { return };
        let Some(role) = class.role else { return };
        match value {
            Value::Unsigned(raw) => change(role, class, raw),
            Value::Signed(signed) if matches!(number, NodeKind::Integer { .. }) => {
                let mut raw = *signed as u64;
                change(role, class, &mut raw);
                *signed = bits::sign_extend(bits::low_bits(raw, class.size), class.size);
            }
            Value::Padded(number, bytes) => {
                change(role, class, number);
                // It keeps its space while that suffices.
                if variable::write(*number, class.signed).len() > *bytes as usize {
                    *value = Value::Unsigned(*number);
                }
            }
            _ => {}
        }
    });
}

/// Calls `change` on the value of every integer of fixed or variable length inside a value.
fn each_integer(node: &Node, value: &mut Value, change: &mut dyn FnMut(&NodeKind, &mut Value)) {
    match (&node.kind, value) {
        (number @ (NodeKind::Integer { .. } | NodeKind::VarInteger { .. }), value) => change(number, value),
        (NodeKind::Struct(members), Value::Struct(values)) => {
            for ((_, member), value) in members.iter().zip(values) {
                each_integer(member, value, change);
            }
        }
        (NodeKind::Array(_, element), Value::Array(values)) => {
            for value in values {
                each_integer(element, value, change);
            }
        }
        (NodeKind::Variant(_, options), Value::Variant(index, value)) => {
            if let Some(option) = options.get(*index) {
                each_integer(&option.node, value, change);
            }
        }
        (NodeKind::Optional(_, inner), Value::Optional(Some(value))) => each_integer(inner, value, change),
        _ => {}
    }
}
