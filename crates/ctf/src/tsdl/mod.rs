//! TSDL, the C-like language in which CTF 1.8 describes a trace: from text to a syntax tree.
//!
//! ```text
//! text ──lexer──▶ tokens ──parser──▶ Ast ──(the lowering, not here)──▶ layouts of streams and events
//! ```
//!
//! This folder knows the grammar and nothing else. It does not look up a type, does not know which attributes
//! an integer may have and does not mind two fields of one name: all that needs scopes and belongs to the
//! lowering. In return everything that was written is in the tree, with the byte offset at which it was
//! written, so that a later complaint can show the line in question ([`crate::text_error::excerpt`]).
//!
//! The text comes from a file that may be damaged or hostile. The parser therefore takes time linear
//! in the length of the text, builds a tree whose size is a fixed multiple of it, refuses nesting
//! beyond [`MAX_NESTING`], and returns every complaint as a [`TextError`](crate::text_error::TextError).
//!
//! Where the specification and the existing writers leave a choice, this front end is lenient: a
//! reserved word may name a field wherever it cannot be mistaken for something else, stray semicolons
//! are skipped, and adjacent string literals are joined as in C ([`Ast::notes`] says where).

mod ast;
mod lexer;
mod literal;
mod parser;
mod token;

#[cfg(test)]
mod tests;

pub use ast::*;

/// How deep types may be nested in each other. Writers stay below ten; the limit bounds the stack of
/// the parser and of everything that walks its tree, against metadata with 100,000 nested structs.
pub const MAX_NESTING: usize = 256;

/// Labels of all enums of a text: each takes some hundred bytes, and as few as two of the text. Real metadata
/// have some thousand.
const MAX_LABELS: usize = 1 << 20;

/// Whether a word is a keyword of TSDL, which the grammar does not allow as the name of a field.
pub fn is_reserved(word: &str) -> bool {
    token::reserved(word) != token::Reserved::No
}

/// Parses a whole metadata text.
///
/// The text may use LF or CRLF and may begin with a byte order mark; the customary first line
/// `/* CTF 1.8 */` is a comment like any other, whether it is there is for the caller to check.
/// The tree borrows its names from `text`.
pub fn parse(text: &str) -> crate::text_error::Result<Ast<'_>> {
    parser::Parser::new(text)?.parse()
}
