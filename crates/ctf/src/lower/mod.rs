//! Lowering: from the syntax tree of TSDL to the [`Schema`].
//!
//! [`blocks`] goes through the blocks of the text (with [`clocks`]), [`types`] turns written types into field classes
//! (with [`numbers`], [`enums`], [`arrays`] and [`variants`]), [`scope`] knows the names of types, [`fields`] the fields
//! that lengths and tags refer to, [`placing`] which fields share bytes, [`roles`] what the reader itself needs, [`limits`]
//! how much metadata may stand for. [`notes`] keeps what is odd and read all the same; [`unused`] looks for it in types
//! that no event has.

mod arrays;
mod attributes;
mod blocks;
mod clocks;
mod enums;
mod fields;
pub(crate) mod limits;
pub(crate) mod notes;
pub(crate) mod numbers;
pub(crate) mod placing;
mod roles;
mod scope;
mod types;
mod unused;
mod variants;

pub(crate) use fields::absolute_name;

use crate::schema::Schema;
use crate::tsdl;

/// Parses and lowers a TSDL text. Linear in the text and in the field classes it stands for, whose number is limited.
///
/// # Errors
/// What is wrong with the text, and where.
pub(crate) fn lower(text: &str) -> Result<(Schema, Vec<Complaint>), Complaint> {
    let ast = tsdl::parse(text).map_err(|e| Complaint::new(e.offset, e.message))?;
    if ast.items.is_empty() {
        let message = "the metadata are empty: was the session stopped before its traces were copied?";
        return Err(Complaint::new(0, message));
    }
    blocks::lower(&ast)
}

/// What is wrong at which byte of the text.
#[derive(Debug)]
pub(crate) struct Complaint {
    pub(crate) offset: usize,
    pub(crate) message: String,
}

impl Complaint {
    pub(crate) fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, message: message.into() }
    }
}
