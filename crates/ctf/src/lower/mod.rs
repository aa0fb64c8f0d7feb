//! Lowering: from the syntax tree of TSDL to the [`Schema`].
//!
//! [`blocks`] goes through the blocks of the text, [`types`] turns written types into field
//! classes (with [`numbers`], [`enums`], [`arrays`] and [`variants`]), [`scope`] knows the names of types,
//! [`fields`] the fields that lengths and tags refer to, [`placing`] which fields share bytes, [`roles`] what
//! the reader itself needs, [`limits`] how much metadata may stand for. [`unused`] checks the types that no
//! event has.

mod arrays;
mod attributes;
mod blocks;
mod enums;
mod fields;
pub(crate) mod limits;
pub(crate) mod numbers;
pub(crate) mod placing;
mod roles;
mod scope;
mod types;
mod unused;
mod variants;

pub(crate) use fields::absolute_name;

use crate::schema::Schema;
use crate::text_error::{Result, TextError};
use crate::tsdl;

/// Parses and lowers a TSDL text. Linear in the text and in the field classes it stands for, whose number is
/// limited.
///
/// # Errors
/// What is wrong with the text, and where.
pub(crate) fn lower(text: &str) -> Result<(Schema, Vec<TextError>)> {
    let ast = tsdl::parse(text)?;
    if ast.items.is_empty() {
        let message = "the metadata are empty: was the session stopped before its traces were copied?";
        return Err(TextError::new(0, message));
    }
    blocks::lower(&ast)
}
