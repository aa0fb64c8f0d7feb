//! Walking fields: the values of an event, pushed to whoever asked for them.

use super::Cursor;
use super::node::{Name, Node, NodeKind};
use crate::DecodeError;
use crate::bits;
use crate::schema::{FloatClass, IntegerClass};

/// Arrays of elements that take no space may not be longer than this: they would cost time without costing input.
const MAX_EMPTY_ELEMENTS: u64 = 65_536;

/// Receives the values of fields in decoding order. Every method does nothing unless overridden.
///
/// A structure is `begin_struct`, then `member` before each member's value, then `end_struct`; arrays and variants
/// likewise.
pub trait Visitor {
    /// An unsigned integer.
    fn unsigned(&mut self, class: &IntegerClass, value: u64) {
        let _ = (class, value);
    }
    /// A signed integer.
    fn signed(&mut self, class: &IntegerClass, value: i64) {
        let _ = (class, value);
    }
    /// A floating point number; binary32 is widened, which is exact.
    fn float(&mut self, class: &FloatClass, value: f64) {
        let _ = (class, value);
    }
    /// Text.
    fn text(&mut self, text: Text<'_>) {
        let _ = text;
    }
    /// A structure begins.
    fn begin_struct(&mut self) {}
    /// The next value is this member.
    fn member(&mut self, index: usize, name: &Name) {
        let _ = (index, name);
    }
    /// The structure has ended.
    fn end_struct(&mut self) {}
    /// An array of `count` elements begins.
    fn begin_array(&mut self, count: u64) {
        let _ = count;
    }
    /// The next value is this element.
    fn element(&mut self, index: u64) {
        let _ = index;
    }
    /// The array has ended.
    fn end_array(&mut self) {}
    /// The next value is the chosen option of a variant.
    fn begin_variant(&mut self, index: usize, name: &Name) {
        let _ = (index, name);
    }
    /// The variant has ended.
    fn end_variant(&mut self) {}
}

/// Fills slots and moves on; tells nobody.
pub(crate) struct Ignore;

impl Visitor for Ignore {}

/// The bytes of a text field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a> {
    /// All bytes of the field: of a string, without its NUL.
    pub field: &'a [u8],
}

impl<'a> Text<'a> {
    /// What is shown: up to the first NUL.
    pub fn shown(self) -> &'a [u8] {
        &self.field[..memchr::memchr(0, self.field).unwrap_or(self.field.len())]
    }
}

/// Decodes one field, filling slots on the way; the cursor ends behind it. Linear in the bits of the field.
///
/// # Errors
/// The field does not fit the packet's content, or a selector chooses nothing. The visitor has then seen what came before.
pub fn walk<V: Visitor>(
    node: &Node,
    cursor: &mut Cursor<'_>,
    slots: &mut [u64],
    visitor: &mut V,
) -> Result<(), DecodeError> {
    cursor.align(node.align);
    match &node.kind {
        NodeKind::Integer { class, slot } => {
            let at = cursor.take(class.size.into())?;
            let raw = bits::read(cursor.bytes, at, class.size, class.byte_order);
            if class.signed {
                let value = bits::sign_extend(raw, class.size);
                keep(*slot, slots, value as u64);
                visitor.signed(class, value);
            } else {
                keep(*slot, slots, raw);
                visitor.unsigned(class, raw);
            }
        }
        NodeKind::Float(class) => {
            let at = cursor.take(class.size.into())?;
            let raw = bits::read(cursor.bytes, at, class.size, class.byte_order);
            let value =
                if class.size == 32 { f32::from_bits(raw as u32).into() } else { f64::from_bits(raw) };
            visitor.float(class, value);
        }
        NodeKind::String => {
            let field = cursor.take_string()?;
            visitor.text(Text { field });
        }
        NodeKind::Text(count) => {
            let count = count.get(slots);
            let total = count.checked_mul(8).ok_or(DecodeError::TooManyElements(count))?;
            let start = (cursor.take(total)? / 8) as usize;
            let field = cursor.bytes.get(start..start + count as usize).unwrap_or_default();
            visitor.text(Text { field });
        }
        NodeKind::Struct(members) => {
            visitor.begin_struct();
            for (index, (name, member)) in members.iter().enumerate() {
                visitor.member(index, name);
                walk(member, cursor, slots, visitor)?;
            }
            visitor.end_struct();
        }
        NodeKind::Array(count, element) => {
            let count = count.get(slots);
            if count > (cursor.limit - cursor.at.min(cursor.limit)).max(MAX_EMPTY_ELEMENTS) {
                return Err(DecodeError::TooManyElements(count));
            }
            visitor.begin_array(count);
            let start = cursor.at;
            for index in 0..count {
                visitor.element(index);
                walk(element, cursor, slots, visitor)?;
                if index >= MAX_EMPTY_ELEMENTS && cursor.at == start {
                    return Err(DecodeError::TooManyElements(count));
                }
            }
            visitor.end_array();
        }
        NodeKind::Variant(selector, options) => {
            let index = selector.choose(slots)?;
            let option = &options[index];
            visitor.begin_variant(index, &option.name);
            walk(&option.node, cursor, slots, visitor)?;
            visitor.end_variant();
        }
    }
    Ok(())
}

#[inline]
fn keep(slot: Option<u32>, slots: &mut [u64], value: u64) {
    if let Some(slot) = slot {
        slots[slot as usize] = value;
    }
}
