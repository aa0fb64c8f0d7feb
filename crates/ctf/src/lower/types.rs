//! Types as written become field classes. Named types are lowered where they are used, because the lengths and tags
//! inside refer to fields of that place. Here: names and structures; the other kinds have files of their own.

use std::collections::HashMap;

use super::enums::Enums;
use super::fields::Fields;
use super::limits::{Budget, Measure};
use super::numbers::integer_size;
use super::scope::{Definition, Named, Namespace, ScopeId, Scopes};
use super::{Complaint, attributes};
use crate::schema::{ByteOrder, Encoding, FieldClass, IntegerClass, Location, StringClass, StructClass};
use crate::tsdl::{Assignment, Declaration, Declarator, MAX_NESTING, Member, Path, Struct, Type, TypeKind};

type Result<T> = std::result::Result<T, Complaint>;

/// What types need to know of the trace.
pub(super) struct Types<'a> {
    pub(super) scopes: Scopes<'a>,
    /// Byte order of integers that state none.
    pub(super) native: ByteOrder,
    /// Numbers of the clocks in the schema, by name.
    pub(super) clocks: HashMap<String, usize>,
    pub(super) enums: Enums<'a>,
    pub(super) budget: Budget,
    depth: usize,
}

/// A field class and what the types around it need to know.
pub(super) struct Lowered {
    pub(super) class: FieldClass,
    /// Whether arrays of it are text.
    pub(super) character: bool,
    pub(super) measure: Measure,
}

impl Lowered {
    pub(super) fn leaf(class: FieldClass) -> Self {
        Self { measure: Measure::leaf(&class), class, character: false }
    }
}

impl<'a> Types<'a> {
    pub(super) fn new(native: ByteOrder, clocks: HashMap<String, usize>) -> Self {
        let (enums, budget) = (Enums::default(), Budget::default());
        Self { scopes: Scopes::new(), native, clocks, enums, budget, depth: 0 }
    }

    /// Makes the name of a declaration known.
    pub(super) fn declare(&mut self, scope: ScopeId, declaration: &'a Declaration<'a>) {
        match declaration {
            Declaration::Typedef(typedef) => {
                self.declare_tags(scope, &typedef.target);
                for Declarator { name, lengths, .. } in &typedef.declarators {
                    let definition = Definition::Alias(&typedef.target, lengths);
                    self.scopes.define(scope, Namespace::Alias, name.text, definition);
                }
            }
            Declaration::Typealias(alias) => {
                self.declare_tags(scope, &alias.target);
                let definition = Definition::Alias(&alias.target, &alias.lengths);
                self.scopes.define(scope, Namespace::Alias, &alias.name.text, definition);
            }
            Declaration::Type(declared) => self.declare_tags(scope, declared),
        }
    }

    /// A declaration in the body of a type, which is declared anew with each use of that type.
    pub(super) fn declare_inside(
        &mut self,
        scope: ScopeId,
        declaration: &'a Declaration<'a>,
        offset: usize,
    ) -> Result<()> {
        let names = match declaration {
            Declaration::Typedef(typedef) => typedef.declarators.len(),
            Declaration::Typealias(_) | Declaration::Type(_) => 1,
        };
        self.budget.charge(names, offset)?;
        self.declare(scope, declaration);
        Ok(())
    }

    /// A type with a tag and a body declares its tag wherever it stands.
    pub(super) fn declare_tags(&mut self, scope: ScopeId, written: &'a Type<'a>) {
        let (namespace, name, definition) = match &written.kind {
            TypeKind::Struct(s) if s.members.is_some() => (Namespace::Struct, s.name, Definition::Struct(s)),
            TypeKind::Variant(v) if v.members.is_some() => {
                (Namespace::Variant, v.name, Definition::Variant(v))
            }
            TypeKind::Enum(e) if e.enumerators.is_some() => (Namespace::Enum, e.name, Definition::Enum(e)),
            _ => return,
        };
        if let Some(name) = name {
            self.scopes.define(scope, namespace, name.text, definition);
        }
    }

    /// A type that must be a structure: the root of a scope of fields.
    pub(super) fn root(
        &mut self,
        scope: ScopeId,
        fields: &mut Fields<'_>,
        written: &'a Type<'a>,
    ) -> Result<StructClass> {
        self.declare_tags(scope, written);
        match self.lower(scope, fields, written)?.class {
            FieldClass::Struct(class) => Ok(class),
            _ => Err(Complaint::new(written.offset, "a structure is needed here")),
        }
    }

    pub(super) fn lower(
        &mut self,
        scope: ScopeId,
        fields: &mut Fields<'_>,
        written: &'a Type<'a>,
    ) -> Result<Lowered> {
        self.budget.charge(1, written.offset)?;
        if self.depth >= MAX_NESTING {
            return Err(Complaint::new(written.offset, format!("types nested deeper than {MAX_NESTING}")));
        }
        self.depth += 1;
        let lowered = self.lower_kind(scope, fields, written);
        self.depth -= 1;
        lowered
    }

    fn lower_kind(
        &mut self,
        scope: ScopeId,
        fields: &mut Fields<'_>,
        written: &'a Type<'a>,
    ) -> Result<Lowered> {
        let offset = written.offset;
        match &written.kind {
            TypeKind::Named(name) => {
                let unknown = || Complaint::new(offset, format!("no type is called `{name}`"));
                let named = self.scopes.find(scope, Namespace::Alias, name).ok_or_else(unknown)?;
                let Definition::Alias(target, lengths) = named.definition else { return Err(unknown()) };
                let lowered = self.lower(named.scope, fields, target)?;
                self.arrays(fields, lowered, lengths)
            }
            TypeKind::Integer(attributes) => self.integer(offset, attributes),
            TypeKind::FloatingPoint(attributes) => self.float(offset, attributes),
            TypeKind::String(attributes) => {
                self.budget.charge_attributes(attributes.len(), offset)?;
                for Assignment { path, value } in attributes.iter().filter(|a| a.path.is("encoding")) {
                    if !attributes::is_character(value)? {
                        return Err(Complaint::new(path.offset, "a string needs a character encoding"));
                    }
                }
                Ok(Lowered::leaf(FieldClass::String(StringClass { encoding: Encoding::Utf8 })))
            }
            TypeKind::Enum(class) => self.enumeration(scope, fields, offset, class),
            TypeKind::Struct(class) => self.structure(scope, fields, offset, class),
            TypeKind::Variant(class) => self.variant(scope, fields, offset, class),
        }
    }

    pub(super) fn tagged(
        &self,
        scope: ScopeId,
        namespace: Namespace,
        name: Option<crate::tsdl::Name<'a>>,
        offset: usize,
    ) -> Result<(&'a str, Named<'a>)> {
        let name = name.ok_or_else(|| Complaint::new(offset, "a type needs a name or a body"))?.text;
        let what = match namespace {
            Namespace::Struct => "struct",
            Namespace::Variant => "variant",
            Namespace::Enum => "enum",
            Namespace::Alias => "type",
        };
        let unknown = || Complaint::new(offset, format!("no {what} is called `{name}`"));
        Ok((name, self.scopes.find(scope, namespace, name).ok_or_else(unknown)?))
    }

    fn structure(
        &mut self,
        scope: ScopeId,
        fields: &mut Fields<'_>,
        offset: usize,
        class: &'a Struct<'a>,
    ) -> Result<Lowered> {
        let min_align = class.align.as_ref().map_or(Ok(1), attributes::alignment)?;
        let Some(members) = &class.members else {
            let (name, named) = self.tagged(scope, Namespace::Struct, class.name, offset)?;
            let Definition::Struct(definition) = named.definition else {
                return Err(Complaint::new(offset, format!("no struct is called `{name}`")));
            };
            let mut lowered = self.structure(named.scope, fields, offset, definition)?;
            if let FieldClass::Struct(class) = &mut lowered.class {
                class.min_align = class.min_align.max(min_align);
            }
            return Ok(Lowered { measure: lowered.measure.aligned(min_align), ..lowered });
        };
        let scope = self.scopes.enter(scope);
        fields.begin_struct();
        let mut measure = Measure::empty(min_align);
        for member in members {
            match member {
                Member::Declaration(declaration) => self.declare_inside(scope, declaration, offset)?,
                Member::Field(field) => {
                    self.declare_tags(scope, &field.target);
                    for declarator in &field.declarators {
                        let name = declarator.name;
                        let lowered = self.declared(scope, fields, &field.target, declarator)?;
                        measure = measure.and(lowered.measure, name.offset)?;
                        if !fields.add(name.text, lowered.class) {
                            let message = format!("two members of the structure are called `{}`", name.text);
                            return Err(Complaint::new(name.offset, message));
                        }
                    }
                }
            }
        }
        let class = FieldClass::Struct(StructClass { members: fields.end_struct(), min_align });
        Ok(Lowered { class, character: false, measure })
    }

    /// The class of a field: its type with the bits and the array lengths of its declarator.
    pub(super) fn declared(
        &mut self,
        scope: ScopeId,
        fields: &mut Fields<'_>,
        target: &'a Type<'a>,
        declarator: &Declarator<'_>,
    ) -> Result<Lowered> {
        let name = declarator.name;
        self.budget.charge_name(name.text, name.offset)?;
        fields.enter(name.text);
        let mut lowered = self.lower(scope, fields, target)?;
        if let Some(bits) = declarator.bits {
            let (FieldClass::Integer(mut class) | FieldClass::WideInteger(mut class)) = lowered.class else {
                return Err(Complaint::new(name.offset, "only an integer can be a bit field"));
            };
            class.size = integer_size(bits, name.offset)?;
            class.align = 1;
            lowered = Lowered::leaf(class.into());
        }
        let lowered = self.arrays(fields, lowered, &declarator.lengths)?;
        fields.leave();
        Ok(lowered)
    }

    /// The integer that a length or a tag refers to.
    pub(super) fn find_field<'f>(
        &mut self,
        fields: &'f Fields<'_>,
        path: &Path<'_>,
    ) -> Result<(Location, &'f IntegerClass)> {
        let (found, compared) = fields.find(path);
        let (location, class) = found?;
        self.budget.charge_location(&location.path, compared, path.offset)?;
        Ok((location, class))
    }
}
