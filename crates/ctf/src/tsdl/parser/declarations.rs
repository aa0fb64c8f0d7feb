//! `typedef`, `typealias`, named types, and the members of structs and variants.

use std::borrow::Cow;

use super::super::ast::{
    Declaration, Declarator, Field, Member, Name, Type, TypeKind, TypeName, Typealias, Typedef,
};
use super::super::token::{Reserved, TokenKind, reserved, shortened};
use super::Parser;
use crate::text_error::{Result, TextError};

/// What a declarator names, for messages and for what is allowed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    /// A field: may be a bit field, and may have the name of a keyword.
    Field,
    /// A type: must be distinguished from keywords when it is used.
    Type,
}

impl<'a> Parser<'a> {
    /// A declaration at the top level or in a block, with its semicolon; the current word begins one.
    pub(super) fn declaration(&mut self) -> Result<Declaration<'a>> {
        match self.current.kind {
            TokenKind::Word("typedef") => self.typedef().map(Declaration::Typedef),
            TokenKind::Word("typealias") => self.typealias().map(Declaration::Typealias),
            _ => {
                let target = self.lone_type()?;
                self.end_of_type_declaration(&target)?;
                Ok(Declaration::Type(target))
            }
        }
    }

    /// `typedef type name, …;`
    fn typedef(&mut self) -> Result<Typedef<'a>> {
        let offset = self.advance()?.offset;
        let target = self.named_type()?;
        let declarators = self.declarators(Naming::Type)?;
        Ok(Typedef { offset, target, declarators })
    }

    /// `typealias type := name;`
    fn typealias(&mut self) -> Result<Typealias<'a>> {
        let offset = self.advance()?.offset;
        let target = self.lone_type()?;
        let lengths = self.array_lengths()?;
        self.expect(":=", "after the type")?;
        let name_offset = self.current.offset;
        let Some(text) = self.type_words(false)? else {
            return Err(self.expected("the name of the new type after `:=`"));
        };
        self.expect(";", "after the name of the new type")?;
        Ok(Typealias { offset, target, lengths, name: TypeName { offset: name_offset, text } })
    }

    /// The semicolon after the declaration of a struct, variant or enum. C allows several types in one
    /// declaration, so existing readers accept `struct a { … } struct b { … };` and so does this one.
    fn end_of_type_declaration(&mut self, declared: &Type<'_>) -> Result<()> {
        match self.current.kind {
            TokenKind::Word(word) if has_body(declared) && reserved(word) == Reserved::Declares => Ok(()),
            _ => self.expect(";", "after the declaration").map(drop),
        }
    }

    /// `{ members }` of a struct or a variant; the current token is the `{`.
    pub(super) fn members(&mut self) -> Result<Vec<Member<'a>>> {
        let opening = self.advance()?;
        let mut members = Vec::new();
        while !self.closes(opening)? {
            if self.accept(";")? {
                continue;
            }
            members.push(self.member()?);
        }
        Ok(members)
    }

    /// One field or one declaration, with its semicolon.
    fn member(&mut self) -> Result<Member<'a>> {
        if let TokenKind::Word("typedef" | "typealias") = self.current.kind {
            return self.declaration().map(Member::Declaration);
        }
        let target = self.named_type()?;
        // A tag with a body and no field: the body of a struct is a scope in which types may be declared.
        if self.at(";") && has_name(&target) && has_body(&target) {
            self.advance()?;
            return Ok(Member::Declaration(Declaration::Type(target)));
        }
        let declarators = self.declarators(Naming::Field)?;
        Ok(Member::Field(Field { target, declarators }))
    }

    /// One or more names with commas between, and the semicolon after.
    fn declarators(&mut self, naming: Naming) -> Result<Vec<Declarator<'a>>> {
        let mut declarators = Vec::new();
        loop {
            declarators.push(self.declarator(naming)?);
            if !self.accept(",")? {
                break;
            }
        }
        declarators.shrink_to_fit();
        let place = match naming {
            Naming::Field => "after the field name",
            Naming::Type => "after the name of the new type",
        };
        self.expect(";", place)?;
        Ok(declarators)
    }

    /// A name, its bit size and its array lengths.
    fn declarator(&mut self, naming: Naming) -> Result<Declarator<'a>> {
        let name = match naming {
            Naming::Field => self.field_name()?,
            Naming::Type => self.new_type_name()?,
        };
        let mut bits = None;
        if naming == Naming::Field && self.accept(":")? {
            let TokenKind::Number(count) = self.current.kind else {
                return Err(self.expected("the number of bits after `:`"));
            };
            self.advance()?;
            bits = Some(count);
        }
        let lengths = self.array_lengths()?;
        Ok(Declarator { name, bits, lengths })
    }

    /// The name of a field: any word that cannot be the start of the next declaration.
    fn field_name(&mut self) -> Result<Name<'a>> {
        let offset = self.current.offset;
        if let TokenKind::Word(text) = self.current.kind {
            let is_name = reserved(text) != Reserved::Declares
                || matches!(self.peek(), TokenKind::Symbol(";" | "," | "[" | ":"));
            if is_name {
                self.advance()?;
                return Ok(Name { offset, text });
            }
        }
        Err(self.expected("a field name"))
    }

    /// The name that a typedef makes: a word that nothing is reserved for.
    fn new_type_name(&mut self) -> Result<Name<'a>> {
        match self.current.kind {
            TokenKind::Word(text) if reserved(text) == Reserved::No => {
                let offset = self.advance()?.offset;
                Ok(Name { offset, text })
            }
            TokenKind::Word(text) => Err(TextError::new(
                self.current.offset,
                format!("`{}` is a reserved word and cannot name a type", shortened(text)),
            )),
            _ => Err(self.expected("the name of the new type")),
        }
    }

    /// The words of a type name, with stars after, as [`TypeName::text`] spells them; `None` if there
    /// are none. With `name_follows` the last word may be the name of a field and then stays: an
    /// identifier belongs to the type when it is the first word, or when more of the type follows it.
    pub(super) fn type_words(&mut self, name_follows: bool) -> Result<Option<Cow<'a, str>>> {
        let mut words: Option<Cow<'a, str>> = None;
        while let TokenKind::Word(word) = self.current.kind {
            match reserved(word) {
                Reserved::Const => {}
                Reserved::CType => append_word(&mut words, word),
                Reserved::No if words.is_none() || !name_follows || self.type_continues() => {
                    append_word(&mut words, word);
                }
                _ => break,
            }
            self.advance()?;
        }
        if words.is_some() {
            while self.accept("*")? {
                append_word(&mut words, "*");
                while self.current.kind == TokenKind::Word("const") {
                    self.advance()?;
                }
            }
        }
        Ok(words)
    }

    /// Whether the token after the current one shows that the current word is not the field name yet.
    fn type_continues(&self) -> bool {
        match self.peek() {
            TokenKind::Word(word) => reserved(word) != Reserved::Declares,
            TokenKind::Symbol("*") => true,
            _ => false,
        }
    }
}

/// Appends a word, with a space before it unless it is the first.
fn append_word<'a>(words: &mut Option<Cow<'a, str>>, word: &'a str) {
    match words {
        None => *words = Some(Cow::Borrowed(word)),
        Some(text) => {
            let text = text.to_mut();
            text.push(' ');
            text.push_str(word);
        }
    }
}

/// Whether a type is a struct, variant or enum with a tag.
fn has_name(written: &Type<'_>) -> bool {
    match &written.kind {
        TypeKind::Struct(it) => it.name.is_some(),
        TypeKind::Variant(it) => it.name.is_some(),
        TypeKind::Enum(it) => it.name.is_some(),
        _ => false,
    }
}

/// Whether a type is a struct, variant or enum with a body.
fn has_body(written: &Type<'_>) -> bool {
    match &written.kind {
        TypeKind::Struct(it) => it.members.is_some(),
        TypeKind::Variant(it) => it.members.is_some(),
        TypeKind::Enum(it) => it.enumerators.is_some(),
        _ => false,
    }
}
