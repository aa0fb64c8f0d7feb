//! Tokens, and which words are reserved. Made by the lexer, consumed by the parser.

use std::fmt;

/// Number of characters of a token an error message repeats; the excerpt shows the rest.
const MAX_SHOWN: usize = 40;

/// One token and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// What it is.
    pub(super) kind: TokenKind<'a>,
    /// Byte offset of its first character.
    pub(super) offset: usize,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind<'a> {
    /// An identifier or a keyword; which of them depends on the place.
    Word(&'a str),
    /// An unsigned integer literal; signs are tokens of their own.
    Number(u64),
    /// A string literal: the text between the quotes, escapes not yet decoded.
    String(&'a str),
    /// A punctuation mark, as it is written.
    Symbol(&'static str),
    /// The end of the text; comes again and again.
    End,
}

/// As it appears after "found" in an error message.
impl fmt::Display for TokenKind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => write!(f, "`{}`", shortened(word)),
            Self::Number(number) => write!(f, "the number {number}"),
            Self::String(text) => write!(f, "the string \"{}\"", shortened(text)),
            Self::Symbol(symbol) => write!(f, "`{symbol}`"),
            Self::End => f.write_str("the end of the text"),
        }
    }
}

/// A piece of source text, cut to a length that suits a message, control characters escaped.
pub(super) fn shortened(text: &str) -> String {
    let mut characters = text.chars();
    let mut short = String::new();
    for character in characters.by_ref().take(MAX_SHOWN) {
        if character.is_control() {
            short.extend(character.escape_default());
        } else {
            short.push(character);
        }
    }
    if characters.next().is_some() {
        short.push('…');
    }
    short
}

/// What the grammar reserves a word for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reserved {
    /// Nothing: an identifier.
    No,
    /// A word of C type names such as `unsigned` and `long`, which may stand in a row.
    CType,
    /// `const`: allowed in every type, without meaning.
    Const,
    /// A word that begins a declaration: `typedef`, `typealias`, `struct`, `variant`, `enum`.
    Declares,
    /// Any other keyword: names of blocks and built-in types.
    Other,
}

/// Looks a word up among the reserved ones.
pub(super) fn reserved(word: &str) -> Reserved {
    match word {
        "void" | "char" | "short" | "int" | "long" | "float" | "double" | "signed" | "unsigned" | "_Bool"
        | "_Complex" | "_Imaginary" => Reserved::CType,
        "const" => Reserved::Const,
        "typedef" | "typealias" | "struct" | "variant" | "enum" => Reserved::Declares,
        "align" | "callsite" | "clock" | "env" | "event" | "floating_point" | "integer" | "stream"
        | "string" | "trace" => Reserved::Other,
        _ => Reserved::No,
    }
}
