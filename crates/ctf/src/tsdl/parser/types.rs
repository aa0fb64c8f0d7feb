//! Type specifiers: built-in types, structs, variants, enums and references to named types.

use std::borrow::Cow;

use super::super::ast::{Assignment, Enum, Enumerator, Name, Path, Struct, Type, TypeKind, Value, Variant};
use super::super::token::{Reserved, TokenKind, reserved, shortened};
use super::super::{MAX_LABELS, MAX_NESTING};
use super::Parser;
use crate::text_error::{Result, TextError};

impl<'a> Parser<'a> {
    /// A type with no name after it: after `:=`, on the left side of a typealias, after an enum.
    pub(super) fn lone_type(&mut self) -> Result<Type<'a>> {
        self.nested_type(false)
    }

    /// A type with the name of a field or of a new type after it.
    pub(super) fn named_type(&mut self) -> Result<Type<'a>> {
        self.nested_type(true)
    }

    /// A type, one level deeper than what it stands in. All recursion of the parser comes through here.
    fn nested_type(&mut self, name_follows: bool) -> Result<Type<'a>> {
        if self.nesting >= MAX_NESTING {
            return Err(TextError::new(
                self.current.offset,
                format!("types are nested more than {MAX_NESTING} levels deep"),
            ));
        }
        self.nesting += 1;
        self.skip_const()?;
        let offset = self.current.offset;
        let kind = self.type_kind(name_follows)?;
        self.skip_const()?;
        self.nesting -= 1;
        Ok(Type { offset, kind })
    }

    /// Skips `const`, which means nothing to a reader.
    fn skip_const(&mut self) -> Result<()> {
        while self.current.kind == TokenKind::Word("const") {
            self.advance()?;
        }
        Ok(())
    }

    /// What the type is, by its first word.
    fn type_kind(&mut self, name_follows: bool) -> Result<TypeKind<'a>> {
        let TokenKind::Word(word) = self.current.kind else {
            return Err(self.expected("a type"));
        };
        match word {
            "integer" => self.braced_attributes("integer").map(TypeKind::Integer),
            "floating_point" => self.braced_attributes("floating_point").map(TypeKind::FloatingPoint),
            "string" => {
                self.advance()?;
                let attributes = if self.at("{") { self.attributes()? } else { Vec::new() };
                Ok(TypeKind::String(attributes))
            }
            "struct" => self.structure().map(|it| TypeKind::Struct(Box::new(it))),
            "variant" => self.variant().map(|it| TypeKind::Variant(Box::new(it))),
            "enum" => self.enumeration().map(|it| TypeKind::Enum(Box::new(it))),
            _ => match self.type_words(name_follows)? {
                Some(name) => Ok(TypeKind::Named(name)),
                None => Err(self.expected("a type")),
            },
        }
    }

    /// `keyword { attributes }` of a type that has no default size.
    fn braced_attributes(&mut self, keyword: &str) -> Result<Vec<Assignment<'a>>> {
        self.advance()?;
        if !self.at("{") {
            return Err(self.expected_symbol("{", &format!("after `{keyword}`")));
        }
        self.attributes()
    }

    /// `struct name { members } align(n)`
    fn structure(&mut self) -> Result<Struct<'a>> {
        self.advance()?;
        let name = self.tag()?;
        let members = if self.at("{") { Some(self.members()?) } else { None };
        if name.is_none() && members.is_none() {
            return Err(self.expected("a name or `{` after `struct`"));
        }
        let align = self.align()?;
        Ok(Struct { name, members, align })
    }

    /// `align(n)`, if it is there. A field may have the name `align`, so the parenthesis decides.
    fn align(&mut self) -> Result<Option<Value<'a>>> {
        if self.current.kind != TokenKind::Word("align") || self.peek() != TokenKind::Symbol("(") {
            return Ok(None);
        }
        self.advance()?;
        self.expect("(", "after `align`")?;
        let value = self.value()?;
        self.expect(")", "after the alignment")?;
        Ok(Some(value))
    }

    /// `variant name <tag> { members }`
    fn variant(&mut self) -> Result<Variant<'a>> {
        self.advance()?;
        let name = self.tag()?;
        let tag = if self.at("<") { Some(self.variant_tag()?) } else { None };
        let members = if self.at("{") { Some(self.members()?) } else { None };
        if name.is_none() && members.is_none() {
            let what = if tag.is_none() { "a name, `<` or `{` after `variant`" } else { "`{` after the tag" };
            return Err(self.expected(what));
        }
        Ok(Variant { name, tag, members })
    }

    /// `<path>`; the current token is the `<`.
    fn variant_tag(&mut self) -> Result<Path<'a>> {
        self.advance()?;
        let path = self.path("the field that selects the option")?;
        self.expect(">", "after the tag of the variant")?;
        Ok(path)
    }

    /// `enum name : container { enumerators }`
    fn enumeration(&mut self) -> Result<Enum<'a>> {
        self.advance()?;
        let name = self.tag()?;
        let container = if self.accept(":")? { Some(self.lone_type()?) } else { None };
        let enumerators = if self.at("{") { Some(self.enumerators()?) } else { None };
        if enumerators.is_none() && (name.is_none() || container.is_some()) {
            let what = match (&name, &container) {
                (None, None) => "a name, `:` or `{` after `enum`",
                _ => "`{` after the type of the enum",
            };
            return Err(self.expected(what));
        }
        Ok(Enum { name, container, enumerators })
    }

    /// `{ label, label = value, label = first ... last }`; the current token is the `{`.
    fn enumerators(&mut self) -> Result<Vec<Enumerator<'a>>> {
        let opening = self.advance()?;
        let mut enumerators = Vec::new();
        while !self.closes(opening)? {
            self.labels += 1;
            if self.labels > MAX_LABELS {
                let message = format!("more than {MAX_LABELS} labels of enums");
                return Err(TextError::new(self.current.offset, message));
            }
            enumerators.push(self.enumerator()?);
            if !self.at("}") {
                if self.current.kind == TokenKind::End {
                    continue;
                }
                self.expect(",", "or `}` after the enumerator")?;
            }
        }
        Ok(enumerators)
    }

    /// One label and its values. Any word may be a label.
    fn enumerator(&mut self) -> Result<Enumerator<'a>> {
        let offset = self.current.offset;
        let label = match self.current.kind {
            TokenKind::Word(word) => {
                self.advance()?;
                Cow::Borrowed(word)
            }
            TokenKind::String(_) => self.string()?,
            _ => return Err(self.expected("a label or `}`")),
        };
        let mut range = None;
        if self.accept("=")? {
            let first = self.integer()?;
            let last = if self.accept("...")? { self.integer()? } else { first };
            range = Some((first, last));
        }
        Ok(Enumerator { offset, label, range })
    }

    /// The name after `struct`, `variant` or `enum`, if it is there. Names of blocks and built-in types
    /// may be tags, since only a tag can stand here; a keyword of C cannot.
    fn tag(&mut self) -> Result<Option<Name<'a>>> {
        let TokenKind::Word(text) = self.current.kind else {
            return Ok(None);
        };
        match reserved(text) {
            Reserved::No | Reserved::Other => {
                let offset = self.advance()?.offset;
                Ok(Some(Name { offset, text }))
            }
            _ => Err(TextError::new(
                self.current.offset,
                format!("`{}` is a reserved word and cannot name a type", shortened(text)),
            )),
        }
    }
}
