//! Metadata of CTF 2: JSON lowered to the [`Schema`].
//!
//! [`fragments`] splits the text into JSON values, [`json_ref`] walks through them and knows the way
//! ([`find`] where that is in the text), [`document`] reads the fragments in order (with [`clocks`]),
//! [`classes`] field classes (with [`numbers`] and [`compound`]), [`locations`] finds the fields
//! that lengths and selectors are, [`roles`] marks what the reader itself needs. `crate::lower` does the same
//! for TSDL; its limits hold here too, and its notes keep what is odd.

mod classes;
mod clocks;
mod compound;
mod document;
mod find;
mod fragments;
mod json_ref;
mod locations;
mod numbers;
mod roles;

use crate::schema::Schema;
use crate::text_error::{Notes, Result, TextError};

use classes::Classes;
use document::Document;
pub(crate) use fragments::SEPARATOR;
pub(crate) use locations::origin_name;
pub(crate) use roles::role_name;

/// Whether a text is JSON rather than TSDL.
pub(crate) fn is_json(text: &str) -> bool {
    text.trim_start().starts_with([SEPARATOR, '{'])
}

/// Understands a text. Linear in the text and in the field classes it stands for, whose number is limited.
pub(crate) fn lower(text: &str) -> Result<(Schema, Vec<TextError>)> {
    let mut notes = Notes::default();
    let fragments = fragments::parse(text, &mut notes)?;
    if fragments.is_empty() {
        return Err(TextError::new(0, "the metadata are empty"));
    }
    let Document { classes, schema, .. } =
        Document::read(&fragments, Classes { notes, ..Classes::default() })?;
    Ok((schema, classes.notes.into_vec()))
}

/// Notes something that only release candidates of CTF 2 have.
fn release_candidate(notes: &mut Notes, offset: usize, what: &str) {
    notes.add(offset, format!("{what} is of a release candidate of CTF 2; read all the same"));
}
