//! Values, paths, integers, array lengths and attribute lists.

use std::borrow::Cow;

use super::super::ast::{ArrayLength, Assignment, Integer, Path, Value, ValueKind};
use super::super::literal;
use super::super::token::{Reserved, TokenKind, reserved};
use super::Parser;
use crate::text_error::{Result, TextError};

impl<'a> Parser<'a> {
    /// A value: what may stand after `=` and in `align( )`.
    pub(super) fn value(&mut self) -> Result<Value<'a>> {
        let offset = self.current.offset;
        let kind = match self.current.kind {
            TokenKind::Number(_) | TokenKind::Symbol("+" | "-") => ValueKind::Integer(self.integer()?),
            TokenKind::String(_) => ValueKind::String(self.string()?),
            TokenKind::Word(word) if reserved(word) == Reserved::Declares => {
                return Err(TextError::new(
                    offset,
                    format!("expected a value, found `{word}`; a type is assigned with `:=`"),
                ));
            }
            TokenKind::Word(_) => ValueKind::Path(self.path("a value")?),
            _ => return Err(self.expected("a value")),
        };
        Ok(Value { offset, kind })
    }

    /// An integer with any number of signs.
    pub(super) fn integer(&mut self) -> Result<Integer> {
        let mut negative = false;
        loop {
            match self.current.kind {
                TokenKind::Symbol("-") => negative = !negative,
                TokenKind::Symbol("+") => {}
                TokenKind::Number(magnitude) => {
                    self.advance()?;
                    return Ok(Integer { negative: negative && magnitude != 0, magnitude });
                }
                _ => return Err(self.expected("an integer")),
            }
            self.advance()?;
        }
    }

    /// One string literal or several in a row, which make one string.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>> {
        let offset = self.current.offset;
        let mut whole: Option<Cow<'a, str>> = None;
        let mut joined = false;
        while let TokenKind::String(raw) = self.current.kind {
            // One byte for the opening quote.
            let part = literal::string(raw, self.current.offset + 1)?;
            self.advance()?;
            match &mut whole {
                None => whole = Some(part),
                Some(text) => {
                    text.to_mut().push_str(&part);
                    joined = true;
                }
            }
        }
        if joined {
            self.notes.push(TextError::new(offset, "strings in a row are not TSDL; joined as in C"));
        }
        whole.ok_or_else(|| self.expected("a string"))
    }

    /// Names joined by dots. Any word may be a name, so the path of a field may begin with `stream`;
    /// but words that begin a declaration are mistakes at the start of a path.
    pub(super) fn path(&mut self, what: &str) -> Result<Path<'a>> {
        let offset = self.current.offset;
        let first = match self.current.kind {
            TokenKind::Word(word) if reserved(word) != Reserved::Declares => word,
            _ => return Err(self.expected(what)),
        };
        self.advance()?;
        let mut parts = vec![first];
        while self.accept(".")? {
            let TokenKind::Word(part) = self.current.kind else {
                return Err(self.expected("a name after `.`"));
            };
            self.advance()?;
            parts.push(part);
        }
        parts.shrink_to_fit();
        Ok(Path { offset, parts })
    }

    /// Any number of `[length]`.
    pub(super) fn array_lengths(&mut self) -> Result<Vec<ArrayLength<'a>>> {
        let mut lengths = Vec::new();
        while self.accept("[")? {
            let offset = self.current.offset;
            lengths.push(match self.current.kind {
                TokenKind::Number(_) | TokenKind::Symbol("+" | "-") => {
                    let count = self
                        .integer()?
                        .as_u64()
                        .ok_or_else(|| TextError::new(offset, "an array cannot have a negative length"))?;
                    ArrayLength::Fixed { offset, count }
                }
                _ => ArrayLength::Field(self.path("an array length (a number or a field)")?),
            });
            self.expect("]", "after the array length")?;
        }
        lengths.shrink_to_fit();
        Ok(lengths)
    }

    /// `{ path = value; … }`, the attributes of a built-in type; the current token is the `{`.
    pub(super) fn attributes(&mut self) -> Result<Vec<Assignment<'a>>> {
        let opening = self.advance()?;
        let mut attributes = Vec::new();
        while !self.closes(opening)? {
            if self.accept(";")? {
                continue;
            }
            let path = self.path("an attribute or `}`")?;
            self.expect("=", "after the attribute name")?;
            let value = self.value()?;
            self.expect(";", "after the attribute value")?;
            attributes.push(Assignment { path, value });
        }
        Ok(attributes)
    }
}
