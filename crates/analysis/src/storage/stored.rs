//! Cells of a table as they are stored: in the form of `postcard`, of which what most cells are, small
//! integers and texts with numbers, is written and read without it.

use std::borrow::Cow;

use isochrone_kernel::Name;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::file_io::annotated_call::AnnotatedCall;
use crate::output::cell::Cell;
use crate::storage::encoding::append;

/// Bytes of the longest texts that have numbers: longer ones rarely occur twice.
const LONGEST_SHARED: usize = 24;
/// Maximum number of texts that have numbers.
const MAX_SHARED: usize = 1 << 16;

/// Short texts by their numbers.
#[derive(Clone, Default)]
pub(crate) struct Texts {
    all: Vec<Name>,
    numbers: FxHashMap<Name, u32>,
}

/// A cell as it is stored.
#[derive(Serialize, Deserialize)]
enum Stored<'t> {
    Null,
    None,
    /// From the first integer of the column: mostly near enough for a small number, which is faster to read.
    Int(i64),
    /// As [`Self::Int`].
    Far(i128),
    Float(f64),
    Shared(u32),
    Text(&'t str),
    Call(Cow<'t, AnnotatedCall>),
}

/// The first bytes of [`Stored`] cells: the indexes of their variants.
mod tag {
    pub(super) const NULL: u8 = 0;
    pub(super) const NONE: u8 = 1;
    pub(super) const INT: u8 = 2;
    pub(super) const SHARED: u8 = 5;
}

/// A cell that is looked at where it is stored.
#[derive(Debug)]
pub(crate) enum View<'r> {
    Unknown,
    NotApplicable,
    Int(i128),
    Float(f64),
    Text(&'r str),
    Call(Box<AnnotatedCall>),
}

impl From<View<'_>> for Cell {
    fn from(view: View<'_>) -> Self {
        match view {
            View::Unknown => Self::Unknown,
            View::NotApplicable => Self::NotApplicable,
            View::Int(value) => Self::Int(value),
            View::Float(value) => Self::Float(value),
            View::Text(text) => Self::text(text),
            View::Call(call) => Self::Call(call),
        }
    }
}

impl Texts {
    /// The number of a text, if it has one or gets one.
    fn number(&mut self, text: &Name) -> Option<u32> {
        if let Some(number) = self.numbers.get(text) {
            return Some(*number);
        }
        if text.len() > LONGEST_SHARED || self.all.len() >= MAX_SHARED {
            return None;
        }
        let number = self.all.len() as u32;
        self.all.push(text.clone());
        self.numbers.insert(text.clone(), number);
        Some(number)
    }
}

/// Appends a cell of a column. `base`: the first integer of the column.
pub(crate) fn push(cell: &Cell, base: &mut Option<i128>, texts: &mut Texts, bytes: &mut Vec<u8>) {
    let stored = match cell {
        Cell::Unknown => return bytes.push(tag::NULL),
        Cell::NotApplicable => return bytes.push(tag::NONE),
        Cell::Float(value) => Stored::Float(*value),
        Cell::Int(value) => {
            let from = value.wrapping_sub(*base.get_or_insert(*value));
            match i64::try_from(from) {
                // Zigzag: small numbers of either sign are few bytes.
                Ok(from) => return push_number(tag::INT, ((from << 1) ^ (from >> 63)) as u64, bytes),
                Err(_) => Stored::Far(from),
            }
        }
        Cell::Text(text) => match texts.number(text) {
            Some(number) => return push_number(tag::SHARED, number.into(), bytes),
            None => Stored::Text(text),
        },
        Cell::Call(call) => Stored::Call(Cow::Borrowed(call)),
    };
    append(&stored, bytes);
}

/// Appends a tag and a number, seven bits in a byte, the lowest first.
fn push_number(tag: u8, mut number: u64, bytes: &mut Vec<u8>) {
    let (mut text, mut length) = ([tag; 11], 1);
    while number >= 0x80 {
        text[length] = number as u8 | 0x80;
        (number, length) = (number >> 7, length + 1);
    }
    text[length] = number as u8;
    // A copy of constant length takes no call.
    let end = bytes.len() + length + 1;
    bytes.extend_from_slice(&text);
    bytes.truncate(end);
}

/// Takes such a number from the start of some bytes.
#[inline]
fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

/// The cells of a row, one by one.
pub(crate) struct Views<'r> {
    pub(crate) rest: &'r [u8],
    /// By column: its first integer.
    pub(crate) bases: std::slice::Iter<'r, Option<i128>>,
    pub(crate) texts: &'r Texts,
}

impl<'r> Iterator for Views<'r> {
    type Item = View<'r>;

    #[inline]
    fn next(&mut self) -> Option<View<'r>> {
        let (&first, mut rest) = self.rest.split_first()?;
        let base = self.bases.next().copied().flatten().unwrap_or(0);
        let view = match first {
            tag::NULL => View::Unknown,
            tag::NONE => View::NotApplicable,
            tag::INT => {
                let zigzag = take_number(&mut rest)?;
                let from = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
                View::Int(i128::from(from).wrapping_add(base))
            }
            tag::SHARED => {
                let number = take_number(&mut rest)?;
                self.texts.all.get(number as usize).map_or(View::Unknown, |text| View::Text(text))
            }
            _ => return self.rare(base),
        };
        self.rest = rest;
        Some(view)
    }
}

impl<'r> Views<'r> {
    /// The next cell, by `postcard`.
    #[inline(never)]
    fn rare(&mut self, base: i128) -> Option<View<'r>> {
        let (stored, rest) = postcard::take_from_bytes(self.rest).ok()?;
        self.rest = rest;
        Some(match stored {
            Stored::Far(from) => View::Int(from.wrapping_add(base)),
            Stored::Float(value) => View::Float(value),
            Stored::Text(text) => View::Text(text),
            Stored::Call(call) => View::Call(Box::new(call.into_owned())),
            // These have a shorter way.
            Stored::Null | Stored::None | Stored::Int(_) | Stored::Shared(_) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn short_ways_are_those_of_postcard(from: i64, shift in 0_u32..64, number: u32) {
            let (from, number) = (from >> shift, number >> (shift / 2));
            for (tag, value, stored) in [
                (tag::INT, ((from << 1) ^ (from >> 63)) as u64, Stored::Int(from)),
                (tag::SHARED, number.into(), Stored::Shared(number)),
            ] {
                let mut bytes = vec![7];
                push_number(tag, value, &mut bytes);
                prop_assert_eq!(&bytes[1..], postcard::to_stdvec(&stored).unwrap());
                prop_assert_eq!(take_number(&mut &bytes[2..]), Some(value));
                prop_assert_eq!(take_number(&mut &bytes[2..bytes.len() - 1]), None);
            }
            prop_assert_eq!(postcard::to_stdvec(&Stored::Null).unwrap(), [tag::NULL]);
            prop_assert_eq!(postcard::to_stdvec(&Stored::None).unwrap(), [tag::NONE]);
        }
    }
}
