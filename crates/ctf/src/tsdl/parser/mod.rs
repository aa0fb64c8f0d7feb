//! The parser: recursive descent over the tokens, one method per rule of the grammar.
//!
//! This file has the top level, the blocks and the tools that all rules use; `declarations`, `types`
//! and `expressions` have the rules below. No rule knows which names are types: a run of words is cut
//! into type and field name by what follows it.

mod declarations;
mod expressions;
mod types;

use super::ast::{Assignment, Ast, Block, BlockKind, Entry, Item, TypeAssignment};
use super::lexer::Lexer;
use super::token::{Reserved, Token, TokenKind, reserved, shortened};
use crate::text_error::{Result, TextError};

/// The state of parsing: the current token, and the text after it.
#[derive(Debug)]
pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    current: Token<'a>,
    nesting: usize,
    /// Labels of enums so far.
    labels: usize,
    notes: Vec<TextError>,
}

impl<'a> Parser<'a> {
    /// A parser at the start of a text.
    pub(super) fn new(text: &'a str) -> Result<Self> {
        let mut lexer = Lexer::new(text);
        let current = lexer.next_token()?;
        Ok(Self { lexer, current, nesting: 0, labels: 0, notes: Vec::new() })
    }

    /// Parses everything up to the end of the text.
    pub(super) fn parse(mut self) -> Result<Ast<'a>> {
        let mut items = Vec::new();
        loop {
            match self.current.kind {
                TokenKind::End => return Ok(Ast { items, notes: self.notes }),
                TokenKind::Symbol(";") => {
                    self.advance()?;
                }
                TokenKind::Word(word) if reserved(word) == Reserved::Declares => {
                    items.push(Item::Declaration(self.declaration()?));
                }
                TokenKind::Word(word) => items.push(Item::Block(self.block(word)?)),
                _ => return Err(self.expected("a declaration or a block such as `event { … };`")),
            }
        }
    }

    /// `keyword { entries };`
    fn block(&mut self, keyword: &'a str) -> Result<Block<'a>> {
        let kind = match keyword {
            "trace" => BlockKind::Trace,
            "env" => BlockKind::Env,
            "clock" => BlockKind::Clock,
            "stream" => BlockKind::Stream,
            "event" => BlockKind::Event,
            "callsite" => BlockKind::Callsite,
            other => BlockKind::Unknown(other),
        };
        let offset = self.advance()?.offset;
        if self.current.kind != TokenKind::Symbol("{") {
            return Err(self.expected(&format!("`{{` after `{}`", shortened(keyword))));
        }
        let opening = self.advance()?;
        let mut entries = Vec::new();
        while !self.closes(opening)? {
            if self.accept(";")? {
                continue;
            }
            entries.push(self.entry()?);
        }
        let end = self.current.offset + 1;
        self.expect(";", "after the block")?;
        Ok(Block { offset, end, kind, entries })
    }

    /// One entry of a block, up to and with its semicolon.
    fn entry(&mut self) -> Result<Entry<'a>> {
        let TokenKind::Word(word) = self.current.kind else {
            return Err(self.expected("an attribute, a declaration or `}`"));
        };
        if reserved(word) == Reserved::Declares {
            return Ok(Entry::Declaration(self.declaration()?));
        }
        let path = self.path("an attribute")?;
        if self.accept("=")? {
            let value = self.value()?;
            self.expect(";", "after the value")?;
            Ok(Entry::Value(Assignment { path, value }))
        } else if self.accept(":=")? {
            let target = self.lone_type()?;
            self.expect(";", "after the type")?;
            Ok(Entry::Type(TypeAssignment { path, target }))
        } else {
            Err(self.expected(&format!("`=` or `:=` after `{}`", shortened(&path.to_string()))))
        }
    }

    /// Takes the current token and reads the next one.
    fn advance(&mut self) -> Result<Token<'a>> {
        let next = self.lexer.next_token()?;
        Ok(std::mem::replace(&mut self.current, next))
    }

    /// The token after the current one, which stays where it is. What cannot be read is no token to
    /// decide by; the error comes up when the parser gets there.
    fn peek(&self) -> TokenKind<'a> {
        let mut ahead = self.lexer;
        ahead.next_token().map_or(TokenKind::End, |token| token.kind)
    }

    /// Whether the current token is this punctuation mark.
    fn at(&self, symbol: &'static str) -> bool {
        self.current.kind == TokenKind::Symbol(symbol)
    }

    /// Takes the current token if it is this punctuation mark.
    fn accept(&mut self, symbol: &'static str) -> Result<bool> {
        let there = self.at(symbol);
        if there {
            self.advance()?;
        }
        Ok(there)
    }

    /// Takes the current token, which must be this punctuation mark; `place` says where in the grammar.
    fn expect(&mut self, symbol: &'static str, place: &str) -> Result<Token<'a>> {
        if self.at(symbol) { self.advance() } else { Err(self.expected_symbol(symbol, place)) }
    }

    /// Takes the `}` of a body if it is there; `opening` is the `{`, named when the text ends before.
    fn closes(&mut self, opening: Token<'a>) -> Result<bool> {
        if self.current.kind == TokenKind::End {
            return Err(TextError::new(opening.offset, "this `{` is never closed with `}`"));
        }
        self.accept("}")
    }

    /// The error that something else stands where `what` should.
    fn expected(&self, what: &str) -> TextError {
        TextError::new(self.current.offset, format!("expected {what}, found {}", self.current.kind))
    }

    /// [`Self::expected`] for a punctuation mark.
    fn expected_symbol(&self, symbol: &'static str, place: &str) -> TextError {
        self.expected(&format!("`{symbol}` {place}"))
    }
}
