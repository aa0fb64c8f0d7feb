//! Walking fields: the values of an event, pushed to whoever asked for them.

use super::Cursor;
use super::node::{Name, Node, NodeKind};
use crate::DecodeError;
use crate::bits;
use crate::schema::{FloatClass, IntegerClass};

/// Array elements that take no space, in one event or one structure of a packet's head: more would cost time without
/// costing input.
const MAX_EMPTY_ELEMENTS: u64 = 65_536;

/// How many array elements that take no space may still come.
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

    /// How many were taken since there were `before` left.
    pub(crate) fn since(self, before: Self) -> u64 {
        before.0 - self.0
    }
}

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
    /// A floating point number; binary32 is widened, which is exact. NaNs keep their sign and payload.
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
/// The field does not fit the packet's content, a selector chooses nothing, or too many elements of arrays take no
/// space. The visitor has then seen what came before.
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
            let value = if class.size == 32 { bits::widen_float(raw as u32) } else { f64::from_bits(raw) };
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
                walk_inside(member, cursor, slots, visitor, empty)?;
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
    }
    Ok(())
}

#[inline]
fn keep(slot: Option<u32>, slots: &mut [u64], value: u64) {
    if let Some(slot) = slot {
        slots[slot as usize] = value;
    }
}
