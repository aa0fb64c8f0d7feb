//! Walking fields: the values of an event, pushed to a visitor.

use super::node::{Name, Node, NodeKind};
use super::{Cursor, encodings, variable};
use crate::DecodeError;
use crate::bits;
use crate::floats;
use crate::schema::{Encoding, FloatClass, IntegerClass, Role};

/// Array elements that take no space, in one event or one structure of a packet's head: more would cost time
/// without costing input.
const MAX_EMPTY_ELEMENTS: u64 = 65_536;

/// Number of array elements that take no space may still come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EmptyElements(u64);

impl EmptyElements {
    /// As many as an event may have.
    pub(crate) fn new() -> Self {
        Self(MAX_EMPTY_ELEMENTS)
    }

    /// Takes `count` elements that count as `each` empty ones.
    #[inline]
    pub(crate) fn take(&mut self, count: u64, each: u64) -> Result<(), DecodeError> {
        let left = count.checked_mul(each).and_then(|taken| self.0.checked_sub(taken));
        self.0 = left.ok_or(DecodeError::TooManyElements(count))?;
        Ok(())
    }

    /// Number of were taken since there were `before` left.
    pub(crate) fn since(self, before: Self) -> u64 {
        before.0 - self.0
    }
}

/// Receives the values of fields in decoding order. Every method does nothing unless overridden.
///
/// A structure is `begin_struct`, then `member` before each member's value, then `end_struct`; arrays and
/// variants likewise.
pub trait Visitor {
    /// An unsigned integer.
    fn unsigned(&mut self, _class: &IntegerClass, _value: u64) {}
    /// A signed integer.
    fn signed(&mut self, _class: &IntegerClass, _value: i64) {}
    /// An unsigned integer of variable length that took this many bits.
    fn variable_unsigned(&mut self, class: &IntegerClass, value: u64, bits: u32) {
        let _ = bits;
        self.unsigned(class, value);
    }
    /// A signed integer of variable length that took this many bits.
    fn variable_signed(&mut self, class: &IntegerClass, value: i64, bits: u32) {
        let _ = bits;
        self.signed(class, value);
    }
    /// An integer of more than 64 bits: its bytes, the most significant one first, filled up with its sign.
    /// One of variable length comes here where it is written with more than 64 bits, as many bytes as it
    /// takes; `class.size` is then 64.
    fn wide(&mut self, _class: &IntegerClass, _bytes: &[u8]) {}
    /// A floating point number that binary64 cannot hold: its bytes, the one with the sign first.
    fn wide_float(&mut self, _class: &FloatClass, _bytes: &[u8]) {}
    /// A floating point number; binary16 and binary32 are widened, which is exact. NaNs keep their sign and
    /// payload.
    fn float(&mut self, _class: &FloatClass, _value: f64) {}
    /// Text.
    fn text(&mut self, _text: Text<'_>) {}
    /// Bytes, and what the reader itself needs them for.
    fn blob(&mut self, _role: Option<Role>, _bytes: &[u8]) {}
    /// A structure begins.
    fn begin_struct(&mut self) {}
    /// The next value is this member.
    fn member(&mut self, _index: usize, _name: &Name) {}
    /// The structure has ended.
    fn end_struct(&mut self) {}
    /// An array of `count` elements begins.
    fn begin_array(&mut self, _count: u64) {}
    /// The next value is this element.
    fn element(&mut self, _index: u64) {}
    /// The array has ended.
    fn end_array(&mut self) {}
    /// The next value is the chosen option of a variant.
    fn begin_variant(&mut self, _index: usize, _name: &Name) {}
    /// The variant has ended.
    fn end_variant(&mut self) {}
    /// An optional field: the next value is the field itself if it is there.
    fn begin_optional(&mut self, _present: bool) {}
    /// The optional field has ended, whether it was there or not.
    fn end_optional(&mut self) {}
}

/// Fills slots and moves on; calls no visitor.
pub(crate) struct Ignore;

impl Visitor for Ignore {}

/// The bytes of a text field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a> {
    /// All bytes of the field: of a string, without its NUL. Text that is written in UTF-16 or UTF-32 comes
    /// as UTF-8.
    pub field: &'a [u8],
}

impl<'a> Text<'a> {
    /// What is shown: up to the first NUL.
    #[inline]
    pub fn shown(self) -> &'a [u8] {
        &self.field[..find_nul(self.field).unwrap_or(self.field.len())]
    }
}

/// Where the first NUL is. Most texts are names of at most 15 bytes (`TASK_COMM_LEN`): these are worth some
/// instructions without a call.
#[inline]
pub(crate) fn find_nul(bytes: &[u8]) -> Option<usize> {
    const ONES: u128 = u128::MAX / 0xff;
    let Some(sixteen) = bytes.first_chunk() else { return memchr::memchr(0, bytes) };
    let text = u128::from_le_bytes(*sixteen);
    // The lowest bit that is set is in the first byte that is zero; those above it may be of a borrow.
    let zeros = text.wrapping_sub(ONES) & !text & (ONES << 7);
    if zeros != 0 {
        return Some((zeros.trailing_zeros() / 8) as usize);
    }
    Some(16 + memchr::memchr(0, bytes.get(16..)?)?)
}

/// Decodes one field, filling slots on the way; the cursor ends after it. Linear in the bits of the field.
///
/// # Errors
/// The field does not fit the packet's content, a selector chooses nothing, or too many elements of arrays
/// take no space. The visitor has then seen what came before.
pub fn walk<V: Visitor>(
    node: &Node,
    cursor: &mut Cursor<'_>,
    slots: &mut [u64],
    visitor: &mut V,
) -> Result<(), DecodeError> {
    walk_inside(node, cursor, slots, visitor, &mut EmptyElements::new())
}

fn walk_inside<V: Visitor>(
    node: &Node,
    cursor: &mut Cursor<'_>,
    slots: &mut [u64],
    visitor: &mut V,
    empty: &mut EmptyElements,
) -> Result<(), DecodeError> {
    cursor.align(node.align);
    match &node.kind {
        NodeKind::Integer { class, slot } => integer(class, *slot, cursor, slots, visitor)?,
        NodeKind::VarInteger { class, slot } => {
            let (start, needed) = (*cursor, slot.is_some() || class.role.is_some());
            let (raw, width) = match variable::read(cursor, class.signed) {
                Err(DecodeError::TooLarge { .. }) if !needed => {
                    *cursor = start;
                    visitor.wide(class, &variable::read_wide(cursor, class.signed)?);
                    return Ok(());
                }
                read => read?,
            };
            keep(*slot, slots, raw);
            if class.signed {
                visitor.variable_signed(class, raw as i64, width);
            } else {
                visitor.variable_unsigned(class, raw, width);
            }
        }
        NodeKind::Float(class) => {
            let at = cursor.take(class.size.into())?;
            let (size, order, reversed) = (class.size, class.byte_order, class.reversed);
            if size > 64 {
                visitor.wide_float(class, &bits::read_wide(cursor.bytes, at, size, order, reversed));
                return Ok(());
            }
            let read = bits::read(cursor.bytes, at, size, order);
            let raw = if reversed { bits::mirror(read, size) } else { read };
            visitor.float(class, floats::widen_float(raw, size));
        }
        NodeKind::WideInteger(class) => {
            let at = cursor.take(class.size.into())?;
            let mut bytes = bits::read_wide(cursor.bytes, at, class.size, class.byte_order, class.reversed);
            if class.signed {
                bits::sign_fill(&mut bytes, class.size);
            }
            visitor.wide(class, &bytes);
        }
        NodeKind::String(Encoding::Utf8) => {
            let field = cursor.take_string()?;
            visitor.text(Text { field });
        }
        NodeKind::String(encoding) => {
            let field = encodings::to_utf8(encodings::take_string(cursor, *encoding)?, *encoding);
            visitor.text(Text { field: field.as_bytes() });
        }
        NodeKind::Text(count, encoding) => {
            let field = cursor.take_bytes(count.get(slots))?;
            match encoding {
                Encoding::Utf8 => visitor.text(Text { field }),
                _ => visitor.text(Text { field: encodings::to_utf8(field, *encoding).as_bytes() }),
            }
        }
        NodeKind::Blob(count, role) => visitor.blob(*role, cursor.take_bytes(count.get(slots))?),
        NodeKind::Struct(members) => {
            visitor.begin_struct();
            for (index, (name, member)) in members.iter().enumerate() {
                visitor.member(index, name);
                // Most members are integers: these need no call.
                if let NodeKind::Integer { class, slot } = &member.kind {
                    cursor.align(member.align);
                    integer(class, *slot, cursor, slots, visitor)?;
                } else {
                    walk_inside(member, cursor, slots, visitor, empty)?;
                }
            }
            visitor.end_struct();
        }
        NodeKind::Array(count, element) => {
            let count = count.get(slots);
            let bits_left = cursor.limit - cursor.at.min(cursor.limit);
            if count > bits_left.saturating_add(empty.0) {
                return Err(DecodeError::TooManyElements(count));
            }
            visitor.begin_array(count);
            for index in 0..count {
                visitor.element(index);
                cursor.align(element.align);
                let at = cursor.at;
                walk_inside(element, cursor, slots, visitor, empty)?;
                if cursor.at == at && empty.take(1, 1).is_err() {
                    return Err(DecodeError::TooManyElements(count));
                }
            }
            visitor.end_array();
        }
        NodeKind::Variant(selector, options) => {
            let index = selector.choose(slots)?;
            let option = &options[index];
            visitor.begin_variant(index, &option.name);
            walk_inside(&option.node, cursor, slots, visitor, empty)?;
            visitor.end_variant();
        }
        NodeKind::Optional(selector, inner) => {
            let present = selector.chosen(slots).is_ok();
            visitor.begin_optional(present);
            if present {
                walk_inside(inner, cursor, slots, visitor, empty)?;
            }
            visitor.end_optional();
        }
    }
    Ok(())
}

#[allow(clippy::inline_always)] // Most of what is walked: a call would cost as much as what it does.
#[inline(always)]
fn integer<V: Visitor>(
    class: &IntegerClass,
    slot: Option<u32>,
    cursor: &mut Cursor<'_>,
    slots: &mut [u64],
    visitor: &mut V,
) -> Result<(), DecodeError> {
    let at = cursor.take(class.size.into())?;
    let raw = class.read(cursor.bytes, at);
    if class.signed {
        let value = bits::sign_extend(raw, class.size);
        keep(slot, slots, value as u64);
        visitor.signed(class, value);
    } else {
        keep(slot, slots, raw);
        visitor.unsigned(class, raw);
    }
    Ok(())
}

#[inline]
fn keep(slot: Option<u32>, slots: &mut [u64], value: u64) {
    if let Some(slot) = slot {
        slots[slot as usize] = value;
    }
}
