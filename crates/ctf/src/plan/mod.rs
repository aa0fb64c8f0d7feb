//! The decode plan: a [`Schema`](crate::schema::Schema) compiled for reading.
//!
//! Two views of every event class are kept. The *skip program* (`program`) is a flat list of steps that finds
//! the end of an event: all that has a constant size is folded into one step. The *nodes* (`node`) hold the
//! fields as a tree and are walked when values are asked for. Lengths and selectors live in numbered slots,
//! so that no name is looked up while decoding; `slots` gives the numbers. `lttng` recognises LTTng's event
//! headers, `header` decodes them without either. `variable` reads numbers of variable length, `encodings`
//! text that is not UTF-8, `fixed` what lies at a constant offset. `field_ref` finds fields by name, `gather`
//! many integers at once, `ids` classes by id.
//!
//! `crate::trace` finds packets and applies the plan to them.

mod compile;
mod encodings;
mod field_ref;
mod fixed;
mod gather;
mod header;
mod ids;
mod lttng;
mod node;
mod program;
mod slots;
pub(crate) mod variable;
mod walk;

pub use compile::{EventPlan, Plan, StreamPlan};
pub(crate) use encodings::from_utf8;
pub use field_ref::FieldRef;
pub(crate) use fixed::{FixedInteger, Word};
pub(crate) use gather::Gather;
pub(crate) use header::EventTime;
pub use header::{HeaderForm, extend_time};
pub(crate) use lttng::LttngHeader;
pub use node::{Count, Name, Node, NodeKind, OptionNode, Selector};
pub(crate) use program::{Known, run};
pub(crate) use walk::{EmptyElements, Ignore, find_nul};
pub use walk::{Text, Visitor, walk};

/// A place in a packet: all positions in bits from the packet's start.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    /// The packet's bytes, at least up to `limit`.
    pub bytes: &'a [u8],
    /// Next bit to decode.
    pub at: u64,
    /// First bit after the packet's content.
    pub limit: u64,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `bytes` with all of them as content.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, limit: bytes.len() as u64 * 8 }
    }

    /// Moves over `bits` if the content holds them; gives the position before.
    #[inline]
    pub(crate) fn take(&mut self, bits: u64) -> Result<u64, crate::DecodeError> {
        let start = self.at;
        match start.checked_add(bits) {
            Some(end) if end <= self.limit => {
                self.at = end;
                Ok(start)
            }
            _ => Err(crate::DecodeError::PastEnd { bits }),
        }
    }

    /// Moves to the next multiple of `align` bits.
    #[inline]
    pub(crate) fn align(&mut self, align: u32) {
        self.at = crate::bits::align_up(self.at, align);
    }

    /// Moves over this many bytes at a byte border; gives them.
    #[inline]
    pub(crate) fn take_bytes(&mut self, count: u64) -> Result<&'a [u8], crate::DecodeError> {
        let total = count.checked_mul(8).ok_or(crate::DecodeError::TooManyElements(count))?;
        let start = (self.take(total)? / 8) as usize;
        Ok(self.bytes.get(start..start + count as usize).unwrap_or_default())
    }

    /// Moves after the next NUL byte; gives the bytes before it.
    #[inline]
    pub(crate) fn take_string(&mut self) -> Result<&'a [u8], crate::DecodeError> {
        self.align(8);
        let start = (self.at / 8) as usize;
        let content = self.bytes.get(start..(self.limit / 8) as usize).unwrap_or_default();
        let length = walk::find_nul(content).ok_or(crate::DecodeError::UnterminatedString)?;
        self.at += (length as u64 + 1) * 8;
        Ok(&content[..length])
    }
}
