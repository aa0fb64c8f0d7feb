//! Cuts the text into tokens, skipping white space and comments. Asked by the parser, one token at a time.
//!
//! A [`Lexer`] is a text and a position, so it is cheap to copy: the parser looks ahead by asking a copy.

use super::literal;
use super::token::{Token, TokenKind, shortened};
use crate::text_error::{Result, TextError};

/// A position in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Lexer<'a> {
    /// At the start of a text, after its byte order mark if it has one.
    pub(super) fn new(text: &'a str) -> Self {
        let position = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { text, position }
    }

    /// The next token; [`TokenKind::End`] at the end and ever after.
    pub(super) fn next_token(&mut self) -> Result<Token<'a>> {
        self.skip_blank()?;
        let mut offset = self.position;
        let kind = match self.rest().as_bytes() {
            [] => TokenKind::End,
            // C's wide strings: the prefix says nothing that matters here, so the token begins after it.
            [b'L', b'"', ..] => {
                self.position += 1;
                offset = self.position;
                TokenKind::String(self.string_literal()?)
            }
            // What C has as character constants is a short string here: as a number it would have no use.
            [b'"' | b'\'', ..] => TokenKind::String(self.string_literal()?),
            [b'a'..=b'z' | b'A'..=b'Z' | b'_', ..] => TokenKind::Word(self.word()),
            [b'0'..=b'9', ..] => TokenKind::Number(self.number()?),
            _ => TokenKind::Symbol(self.symbol()?),
        };
        Ok(Token { kind, offset })
    }

    /// What has not been read yet.
    fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or_default()
    }

    /// Skips white space and both kinds of comments.
    fn skip_blank(&mut self) -> Result<()> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n', '\u{b}', '\u{c}']);
            self.position += rest.len() - trimmed.len();
            if let Some(comment) = trimmed.strip_prefix("/*") {
                let Some(end) = comment.find("*/") else {
                    return Err(TextError::new(self.position, "this comment is never closed with `*/`"));
                };
                self.position += end + 4;
            } else if trimmed.starts_with("//") {
                self.position += trimmed.find('\n').unwrap_or(trimmed.len());
            } else {
                return Ok(());
            }
        }
    }

    /// Takes a run of letters, digits and underscores.
    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest
            .bytes()
            .position(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_'))
            .unwrap_or(rest.len());
        self.position += end;
        rest.get(..end).unwrap_or_default()
    }

    /// Takes an integer literal. Letters that follow directly are part of it, so that `1x` is one wrong
    /// number instead of a number and a name.
    fn number(&mut self) -> Result<u64> {
        let offset = self.position;
        let value = literal::integer(self.word(), offset)?;
        match self.rest().as_bytes() {
            [b'.', b'0'..=b'9', ..] => Err(TextError::new(
                offset,
                "TSDL has integer constants only, this is a floating-point number",
            )),
            _ => Ok(value),
        }
    }

    /// Takes a string literal and returns what is between its quotes.
    fn string_literal(&mut self) -> Result<&'a str> {
        let offset = self.position;
        let Some((quote, content)) = self.rest().split_at_checked(1) else {
            return Err(TextError::new(offset, "expected a string"));
        };
        let mut escaped = false;
        for (index, byte) in content.bytes().enumerate() {
            match byte {
                b'\n' => break,
                0 => {
                    return Err(TextError::new(
                        offset + 1 + index,
                        "a string cannot contain a NUL character",
                    ));
                }
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                _ if quote.as_bytes().contains(&byte) => {
                    self.position += index + 2;
                    return Ok(content.get(..index).unwrap_or_default());
                }
                _ => {}
            }
        }
        Err(TextError::new(
            offset,
            format!("this string is not closed with `{quote}` before the end of its line"),
        ))
    }

    /// Takes a punctuation mark.
    fn symbol(&mut self) -> Result<&'static str> {
        let rest = self.rest();
        let symbol = match rest.as_bytes() {
            [b':', b'=', ..] => ":=",
            [b'.', b'.', b'.', ..] => "...",
            [b'{', ..] => "{",
            [b'}', ..] => "}",
            [b'[', ..] => "[",
            [b']', ..] => "]",
            [b'(', ..] => "(",
            [b')', ..] => ")",
            [b'<', ..] => "<",
            [b'>', ..] => ">",
            [b';', ..] => ";",
            [b',', ..] => ",",
            [b':', ..] => ":",
            [b'.', ..] => ".",
            [b'=', ..] => "=",
            [b'*', ..] => "*",
            [b'+', ..] => "+",
            [b'-', ..] => "-",
            _ => {
                let character = rest.chars().next().unwrap_or_default();
                return Err(TextError::new(
                    self.position,
                    format!("unexpected character `{}`", shortened(character.encode_utf8(&mut [0; 4]))),
                ));
            }
        };
        self.position += symbol.len();
        Ok(symbol)
    }
}
