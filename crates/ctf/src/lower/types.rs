//! Types as written become field classes. Named types are lowered where they are used, because the lengths
//! and tags inside refer to fields of that place. Here: names and structures; the other kinds have files of
//! their own.

use std::collections::{HashMap, HashSet};

use super::attributes;
use super::enums::Enums;
use super::fields::{Fields, Site};
use super::limits::{Budget, Measure};
use super::placing::Placing;
use super::scope::{Definition, Named, Namespace, ScopeId, Scopes};
use crate::schema::{ByteOrder, Encoding, FieldClass, IntegerClass, Location, StringClass, StructClass};
use crate::text_error::{Notes, Result, TextError};
use crate::tsdl::{
    Assignment, Declaration, Declarator, MAX_NESTING, Member, Path, Struct, Type, TypeKind, is_reserved,
};

/// What types need to know of the trace.
pub(super) struct Types<'a> {
    pub(super) scopes: Scopes<'a>,
    /// Byte order of integers that state none.
    pub(super) native: ByteOrder,
    /// Numbers of the clocks in the schema, by name.
    pub(super) clocks: HashMap<String, usize>,
    pub(super) enums: Enums<'a>,
    pub(super) budget: Budget,
    pub(super) notes: Notes,
    /// Addresses of the definitions that something has used.
    pub(super) used: HashSet<*const ()>,
    /// Addresses of the definitions being lowered, outermost first.
    open: Vec<*const ()>,
    /// Whether a length or a tag was looked for and not found: a type that is used elsewhere may find it
    /// there.
    pub(super) missed: bool,
    depth: usize,
}

/// What a field is looked up for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Length,
    Tag,
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
    pub(super) fn new(native: ByteOrder, clocks: HashMap<String, usize>, notes: Notes) -> Self {
        Self {
            scopes: Scopes::new(),
            native,
            clocks,
            enums: Enums::default(),
            budget: Budget::default(),
            notes,
            used: HashSet::new(),
            open: Vec::new(),
            missed: false,
            depth: 0,
        }
    }

    /// Makes the names of a declaration known, which stands at a site of a structure or outside of all.
    pub(super) fn declare(&mut self, scope: ScopeId, site: Option<Site>, declaration: &'a Declaration<'a>) {
        match declaration {
            Declaration::Typedef(typedef) => {
                self.declare_tags(scope, site, &typedef.target);
                for Declarator { name, lengths, .. } in &typedef.declarators {
                    let definition = Definition::Alias(&typedef.target, lengths);
                    let named = Named { definition, scope, site };
                    self.define(Namespace::Alias, name.text, name.offset, named);
                }
            }
            Declaration::Typealias(alias) => {
                self.declare_tags(scope, site, &alias.target);
                let definition = Definition::Alias(&alias.target, &alias.lengths);
                let named = Named { definition, scope, site };
                self.define(Namespace::Alias, &alias.name.text, alias.name.offset, named);
            }
            Declaration::Type(declared) => self.declare_tags(scope, site, declared),
        }
    }

    fn define(&mut self, namespace: Namespace, name: &'a str, offset: usize, named: Named<'a>) {
        if !self.scopes.define(namespace, name, named) {
            // Not valid (CTF 1.8 section 7.3.1), but nothing is lost by it.
            self.notes.add(offset, format!("the type `{name}` is declared twice in one scope"));
        }
    }

    /// A declaration in the body of a type, which is declared again with each use of that type.
    pub(super) fn declare_inside(
        &mut self,
        scope: ScopeId,
        site: Option<Site>,
        declaration: &'a Declaration<'a>,
        offset: usize,
    ) -> Result<()> {
        let names = match declaration {
            Declaration::Typedef(typedef) => typedef.declarators.len(),
            Declaration::Typealias(_) | Declaration::Type(_) => 1,
        };
        self.budget.charge(names, offset)?;
        self.declare(scope, site, declaration);
        Ok(())
    }

    /// A type with a tag and a body declares its tag wherever it stands.
    pub(super) fn declare_tags(&mut self, scope: ScopeId, site: Option<Site>, written: &'a Type<'a>) {
        let (namespace, name, definition) = match &written.kind {
            TypeKind::Struct(s) if s.members.is_some() => (Namespace::Struct, s.name, Definition::Struct(s)),
            TypeKind::Variant(v) if v.members.is_some() => {
                (Namespace::Variant, v.name, Definition::Variant(v))
            }
            TypeKind::Enum(e) if e.enumerators.is_some() => (Namespace::Enum, e.name, Definition::Enum(e)),
            _ => return,
        };
        if let Some(name) = name {
            self.define(namespace, name.text, name.offset, Named { definition, scope, site });
        }
    }

    /// A type that must be a structure: the root of a scope of fields.
    pub(super) fn root(
        &mut self,
        scope: ScopeId,
        fields: &mut Fields<'_>,
        written: &'a Type<'a>,
    ) -> Result<StructClass> {
        self.declare_tags(scope, None, written);
        match self.lower(scope, fields, written)?.class {
            FieldClass::Struct(class) => Ok(class),
            _ => Err(TextError::new(written.offset, "a structure is needed here")),
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
            return Err(TextError::new(written.offset, format!("types nested deeper than {MAX_NESTING}")));
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
                let unknown = || TextError::new(offset, format!("no type is called `{name}`"));
                let named = self.scopes.find(scope, Namespace::Alias, name).ok_or_else(unknown)?;
                let Definition::Alias(target, lengths) = named.definition else { return Err(unknown()) };
                self.using(fields, named, (name, offset), |types, fields| {
                    let lowered = types.lower(named.scope, fields, target)?;
                    types.arrays(fields, lowered, lengths)
                })
            }
            TypeKind::Integer(attributes) => self.integer(offset, attributes),
            TypeKind::FloatingPoint(attributes) => self.float(offset, attributes),
            TypeKind::String(attributes) => {
                self.budget.charge_attributes(attributes.len(), offset)?;
                for Assignment { path, value } in attributes {
                    if !path.is("encoding") {
                        self.unknown_attribute(path, "a string");
                    } else if !attributes::is_character(value)? {
                        return Err(TextError::new(path.offset, "a string needs a character encoding"));
                    }
                }
                Ok(Lowered::leaf(FieldClass::String(StringClass { encoding: Encoding::Utf8 })))
            }
            TypeKind::Enum(class) => self.enumeration(scope, fields, offset, class),
            TypeKind::Struct(class) => self.structure(scope, fields, offset, class),
            TypeKind::Variant(class) => self.variant(scope, fields, offset, class),
        }
    }

    /// The definition of a type that is used by its tag.
    pub(super) fn tagged(
        &self,
        scope: ScopeId,
        namespace: Namespace,
        name: Option<crate::tsdl::Name<'a>>,
        offset: usize,
    ) -> Result<(&'a str, Named<'a>)> {
        let name = name.ok_or_else(|| TextError::new(offset, "a type needs a name or a body"))?.text;
        let what = match namespace {
            Namespace::Struct => "struct",
            Namespace::Variant => "variant",
            Namespace::Enum => "enum",
            Namespace::Alias => "type",
        };
        let unknown = || TextError::new(offset, format!("no {what} is called `{name}`"));
        Ok((name, self.scopes.find(scope, namespace, name).ok_or_else(unknown)?))
    }

    /// Lowers what the name of a type stands for.
    pub(super) fn using(
        &mut self,
        fields: &mut Fields<'_>,
        named: Named<'a>,
        (name, offset): (&str, usize),
        lower: impl FnOnce(&mut Self, &mut Fields<'_>) -> Result<Lowered>,
    ) -> Result<Lowered> {
        let address = named.definition.address();
        if self.open.contains(&address) {
            return Err(TextError::new(offset, format!("the type `{name}` contains itself")));
        }
        self.used.insert(address);
        self.open.push(address);
        fields.enter_definition(named.site);
        let lowered = lower(self, fields);
        fields.leave_definition(named.site);
        self.open.pop();
        lowered
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
                return Err(TextError::new(offset, format!("no struct is called `{name}`")));
            };
            let mut lowered = self.using(fields, named, (name, offset), |types, fields| {
                types.structure(named.scope, fields, offset, definition)
            })?;
            if let FieldClass::Struct(class) = &mut lowered.class {
                class.min_align = class.min_align.max(min_align);
            }
            return Ok(Lowered { measure: lowered.measure.aligned(min_align), ..lowered });
        };
        let scope = self.scopes.enter(scope);
        fields.begin_struct();
        let mut measure = Measure::empty(min_align);
        let mut placing = Placing::begin();
        // The first member that begins in the byte of a neighbour with another byte order.
        let mut overlapping = None;
        for member in members {
            let field = match member {
                Member::Declaration(declaration) => {
                    self.declare_inside(scope, fields.site(), declaration, offset)?;
                    continue;
                }
                Member::Field(field) => field,
            };
            self.declare_tags(scope, fields.site(), &field.target);
            for declarator in &field.declarators {
                let name = declarator.name;
                let lowered = self.declared(scope, fields, &field.target, declarator, &mut placing)?;
                measure = measure.and(lowered.measure, name.offset)?;
                if !placing.pass(&lowered.class, lowered.measure) {
                    overlapping = overlapping.or(Some(name));
                }
                if !fields.add(name.text, lowered.class) {
                    let message = format!("two members of the structure are called `{}`", name.text);
                    return Err(TextError::new(name.offset, message));
                }
            }
        }
        if let Some(name) = overlapping.filter(|_| fields.is_root() || measure.begins_at_byte()) {
            let message = format!(
                "`{}` begins inside a byte with another byte order than the field before it: their values can be wrong",
                name.text
            );
            self.notes.add(name.offset, message);
        }
        let min_align = min_align.max(placing.units());
        let class = FieldClass::Struct(StructClass { members: fields.end_struct(), min_align });
        Ok(Lowered { class, character: false, measure: measure.aligned(min_align) })
    }

    /// The class of a field that begins there: its type with the bits and the array lengths of its
    /// declarator.
    pub(super) fn declared(
        &mut self,
        scope: ScopeId,
        fields: &mut Fields<'_>,
        target: &'a Type<'a>,
        declarator: &Declarator<'_>,
        placing: &mut Placing,
    ) -> Result<Lowered> {
        let name = declarator.name;
        self.budget.charge_name(name.text, name.offset)?;
        if is_reserved(name.text) {
            self.notes.add(name.offset, format!("the reserved word `{}` is the name of a field", name.text));
        }
        fields.enter(name.text);
        let mut lowered = self.lower(scope, fields, target)?;
        if let Some(bits) = declarator.bits {
            lowered = self.bit_field(lowered, bits, declarator, placing)?;
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
        purpose: Purpose,
    ) -> Result<(Location, &'f IntegerClass)> {
        let (found, compared) = fields.find(path);
        let Some((location, class)) = found else {
            self.missed = true;
            return Err(TextError::new(path.offset, format!("no field before this one is called `{path}`")));
        };
        let class = match class {
            FieldClass::Integer(class) => Some(class),
            FieldClass::WideInteger(_) => {
                let message = format!("`{path}` has more than 64 bits: it can be neither a length nor a tag");
                return Err(TextError::new(path.offset, message));
            }
            _ => None,
        };
        let class = class.filter(|class| match purpose {
            Purpose::Length => !class.signed,
            Purpose::Tag => class.mappings.is_some(),
        });
        let class = class.ok_or_else(|| {
            let what = match purpose {
                Purpose::Length => "not an unsigned integer: it cannot be a length",
                Purpose::Tag => "not an enum: it cannot be a tag",
            };
            TextError::new(path.offset, format!("`{path}` is {what}"))
        })?;
        self.budget.charge_location(&location.path, compared, path.offset)?;
        Ok((location, class))
    }
}
