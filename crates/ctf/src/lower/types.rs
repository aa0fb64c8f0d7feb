//! Types as written become field classes. Named types are lowered where they are used, because the lengths and tags
//! inside refer to fields of that place.

use super::fields::Fields;
use super::scope::{Definition, Named, Namespace, ScopeId, Scopes};
use super::{Complaint, attributes};
use crate::schema::{
    ArrayClass, Base, ByteOrder, FieldClass, FloatClass, IntegerClass, Length, Mapping, StringClass,
    StructClass, TextClass, VariantClass, VariantOption,
};
use crate::tsdl::{
    ArrayLength, Assignment, Declaration, Declarator, Enum, Enumerator, MAX_NESTING, Member, Path, Struct,
    Type, TypeKind, Variant,
};

type Result<T> = std::result::Result<T, Complaint>;

/// Named types can stand for exponentially many fields. Real traces have some ten thousand; this many take some
/// hundred megabytes.
const MAX_FIELD_CLASSES: usize = 1 << 20;

/// What types need to know of the trace.
pub(super) struct Types<'a> {
    pub(super) scopes: Scopes<'a>,
    /// Byte order of integers that state none.
    pub(super) native: ByteOrder,
    /// Names of the clocks, in the order of the schema.
    pub(super) clocks: Vec<String>,
    made: usize,
    depth: usize,
}

/// A field class, and whether arrays of it are text.
struct Lowered {
    class: FieldClass,
    character: bool,
}

impl From<FieldClass> for Lowered {
    fn from(class: FieldClass) -> Self {
        Self { class, character: false }
    }
}

impl<'a> Types<'a> {
    pub(super) fn new(native: ByteOrder, clocks: Vec<String>) -> Self {
        Self { scopes: Scopes::new(), native, clocks, made: 0, depth: 0 }
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

    /// A type with a tag and a body declares its tag wherever it stands.
    fn declare_tags(&mut self, scope: ScopeId, written: &'a Type<'a>) {
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

    fn lower(&mut self, scope: ScopeId, fields: &mut Fields<'_>, written: &'a Type<'a>) -> Result<Lowered> {
        self.made += 1;
        if self.made > MAX_FIELD_CLASSES {
            let message = format!("the metadata stand for more than {MAX_FIELD_CLASSES} field classes");
            return Err(Complaint::new(written.offset, message));
        }
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
                arrays(fields, lowered, lengths)
            }
            TypeKind::Integer(attributes) => self.integer(offset, attributes),
            TypeKind::FloatingPoint(attributes) => Ok(self.float(offset, attributes)?.into()),
            TypeKind::String(attributes) => {
                for Assignment { path, value } in attributes.iter().filter(|a| a.path.is("encoding")) {
                    if !attributes::is_character(value)? {
                        return Err(Complaint::new(path.offset, "a string needs a character encoding"));
                    }
                }
                Ok(FieldClass::String(StringClass).into())
            }
            TypeKind::Enum(class) => Ok(self.enumeration(scope, fields, offset, class)?.into()),
            TypeKind::Struct(class) => Ok(self.structure(scope, fields, offset, class)?.into()),
            TypeKind::Variant(class) => Ok(self.variant(scope, fields, offset, class)?.into()),
        }
    }

    fn integer(&self, offset: usize, attributes: &[Assignment<'_>]) -> Result<Lowered> {
        let mut size = None;
        let mut align = None;
        let mut character = false;
        let mut class = IntegerClass {
            size: 0,
            align: 1,
            signed: false,
            byte_order: self.native,
            base: Base::Decimal,
            mappings: None,
            role: None,
            clock: None,
        };
        for Assignment { path, value } in attributes {
            match path.parts.as_slice() {
                ["size"] => size = Some((value.offset, attributes::integer(value)?)),
                ["align"] => align = Some(attributes::alignment(value)?),
                ["signed"] => class.signed = attributes::boolean(value)?,
                ["byte_order"] => class.byte_order = attributes::byte_order(value)?.unwrap_or(self.native),
                ["base"] => class.base = attributes::base(value)?,
                ["encoding"] => character = attributes::is_character(value)?,
                ["map"] => class.clock = Some(self.clock(value)?),
                // Attributes of writers' own do not change the layout.
                _ => {}
            }
        }
        let (at, size) = size.ok_or_else(|| Complaint::new(offset, "an integer needs a size"))?;
        class.size = u32::try_from(size)
            .ok()
            .filter(|size| (1..=64).contains(size))
            .ok_or_else(|| Complaint::new(at, format!("an integer of {size} bits: 1 to 64 are possible")))?;
        class.align = align.unwrap_or(if class.size.is_multiple_of(8) { 8 } else { 1 });
        // Only then do the characters follow each other without gaps.
        let character = character && class.size == 8 && class.align == 8;
        Ok(Lowered { class: FieldClass::Integer(class), character })
    }

    fn clock(&self, value: &crate::tsdl::Value<'_>) -> Result<usize> {
        let name = attributes::clock_name(value)
            .ok_or_else(|| Complaint::new(value.offset, "an integer is mapped to `clock.NAME.value`"))?;
        self.clocks
            .iter()
            .position(|clock| clock == name)
            .ok_or_else(|| Complaint::new(value.offset, format!("no clock is called `{name}`")))
    }

    fn float(&self, offset: usize, attributes: &[Assignment<'_>]) -> Result<FieldClass> {
        let (mut exponent, mut mantissa) = (0, 0);
        let mut class = FloatClass { size: 0, align: 8, byte_order: self.native };
        for Assignment { path, value } in attributes {
            match path.parts.as_slice() {
                ["exp_dig"] => exponent = attributes::unsigned(value)?,
                ["mant_dig"] => mantissa = attributes::unsigned(value)?,
                ["align"] => class.align = attributes::alignment(value)?,
                ["byte_order"] => class.byte_order = attributes::byte_order(value)?.unwrap_or(self.native),
                _ => {}
            }
        }
        class.size = match (exponent, mantissa) {
            (8, 24) => 32,
            (11, 53) => 64,
            _ => {
                let message = format!(
                    "a floating point number with {exponent} exponent and {mantissa} mantissa digits: \
                     8 and 24 or 11 and 53 are possible"
                );
                return Err(Complaint::new(offset, message));
            }
        };
        Ok(FieldClass::Float(class))
    }

    fn enumeration(
        &mut self,
        scope: ScopeId,
        fields: &mut Fields<'_>,
        offset: usize,
        class: &'a Enum<'a>,
    ) -> Result<FieldClass> {
        let Some(enumerators) = &class.enumerators else {
            let (name, named) = self.tagged(scope, Namespace::Enum, class.name, offset)?;
            let Definition::Enum(definition) = named.definition else {
                return Err(Complaint::new(offset, format!("no enum is called `{name}`")));
            };
            return self.enumeration(named.scope, fields, offset, definition);
        };
        let container = match &class.container {
            Some(container) => self.lower(scope, fields, container)?.class,
            None => self.named_int(scope, fields, offset)?,
        };
        let FieldClass::Integer(mut integer) = container else {
            return Err(Complaint::new(offset, "the values of an enum are integers"));
        };
        integer.mappings = Some(mappings(enumerators)?);
        Ok(FieldClass::Integer(integer))
    }

    /// `int`, the container of an enum that names none.
    fn named_int(&mut self, scope: ScopeId, fields: &mut Fields<'_>, offset: usize) -> Result<FieldClass> {
        let missing = || Complaint::new(offset, "an enum without a container needs a type called `int`");
        let named = self.scopes.find(scope, Namespace::Alias, "int").ok_or_else(missing)?;
        let Definition::Alias(target, _) = named.definition else { return Err(missing()) };
        Ok(self.lower(named.scope, fields, target)?.class)
    }

    fn tagged(
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
    ) -> Result<FieldClass> {
        let min_align = class.align.as_ref().map_or(Ok(1), attributes::alignment)?;
        let Some(members) = &class.members else {
            let (name, named) = self.tagged(scope, Namespace::Struct, class.name, offset)?;
            let Definition::Struct(definition) = named.definition else {
                return Err(Complaint::new(offset, format!("no struct is called `{name}`")));
            };
            let FieldClass::Struct(lowered) = self.structure(named.scope, fields, offset, definition)? else {
                return Err(Complaint::new(offset, format!("`{name}` is no struct")));
            };
            return Ok(FieldClass::Struct(StructClass {
                min_align: lowered.min_align.max(min_align),
                ..lowered
            }));
        };
        let scope = self.scopes.enter(scope);
        fields.begin_struct();
        for member in members {
            match member {
                Member::Declaration(declaration) => self.declare(scope, declaration),
                Member::Field(field) => {
                    self.declare_tags(scope, &field.target);
                    for declarator in &field.declarators {
                        let name = declarator.name;
                        let class = self.declared(scope, fields, &field.target, declarator)?;
                        if !fields.add(name.text, class) {
                            let message = format!("two members of the structure are called `{}`", name.text);
                            return Err(Complaint::new(name.offset, message));
                        }
                    }
                }
            }
        }
        Ok(FieldClass::Struct(StructClass { members: fields.end_struct(), min_align }))
    }

    /// The class of a field: its type with the bits and the array lengths of its declarator.
    fn declared(
        &mut self,
        scope: ScopeId,
        fields: &mut Fields<'_>,
        target: &'a Type<'a>,
        declarator: &Declarator<'_>,
    ) -> Result<FieldClass> {
        fields.enter(declarator.name.text);
        let mut lowered = self.lower(scope, fields, target)?;
        if let Some(bits) = declarator.bits {
            let FieldClass::Integer(class) = &mut lowered.class else {
                return Err(Complaint::new(declarator.name.offset, "only an integer can be a bit field"));
            };
            class.size =
                u32::try_from(bits).ok().filter(|size| (1..=64).contains(size)).ok_or_else(|| {
                    Complaint::new(
                        declarator.name.offset,
                        format!("a bit field of {bits} bits: 1 to 64 are possible"),
                    )
                })?;
            class.align = 1;
            lowered.character = false;
        }
        let class = arrays(fields, lowered, &declarator.lengths)?.class;
        fields.leave();
        Ok(class)
    }

    fn variant(
        &mut self,
        scope: ScopeId,
        fields: &mut Fields<'_>,
        offset: usize,
        class: &'a Variant<'a>,
    ) -> Result<FieldClass> {
        let mut tag = class.tag.as_ref();
        let (mut scope, mut definition) = (scope, class);
        if class.members.is_none() {
            let (name, named) = self.tagged(scope, Namespace::Variant, class.name, offset)?;
            let Definition::Variant(found) = named.definition else {
                return Err(Complaint::new(offset, format!("no variant is called `{name}`")));
            };
            (scope, definition) = (named.scope, found);
            tag = tag.or(found.tag.as_ref());
        }
        let tag = tag.ok_or_else(|| Complaint::new(offset, "a variant needs a tag: `variant <field>`"))?;
        let (selector, class) = fields.find(tag)?;
        let mappings = class
            .mappings
            .clone()
            .ok_or_else(|| Complaint::new(tag.offset, format!("`{tag}` is no enum: it cannot be a tag")))?;
        let scope = self.scopes.enter(scope);
        let mut options: Vec<VariantOption> = Vec::new();
        for member in definition.members.iter().flatten() {
            let field = match member {
                Member::Declaration(declaration) => {
                    self.declare(scope, declaration);
                    continue;
                }
                Member::Field(field) => field,
            };
            self.declare_tags(scope, &field.target);
            for declarator in &field.declarators {
                let name = declarator.name.text;
                if options.iter().any(|o| o.name == name) {
                    let message = format!("two options of the variant are called `{name}`");
                    return Err(Complaint::new(declarator.name.offset, message));
                }
                let class = self.declared(scope, fields, &field.target, declarator)?;
                options.push(VariantOption { name: name.to_owned(), ranges: ranges(&mappings, name), class });
            }
        }
        Ok(FieldClass::Variant(VariantClass { selector, options }))
    }
}

/// Wraps a class in arrays; the last length is the innermost.
fn arrays(fields: &Fields<'_>, mut lowered: Lowered, lengths: &[ArrayLength<'_>]) -> Result<Lowered> {
    for length in lengths.iter().rev() {
        let length = match length {
            ArrayLength::Fixed { count, .. } => Length::Static(*count),
            ArrayLength::Field(path) => Length::Dynamic(length_of(fields, path)?),
        };
        lowered = match lowered {
            Lowered { class, character: true } => {
                FieldClass::Text(TextClass { length, align: class.align() }).into()
            }
            Lowered { class, .. } => {
                FieldClass::Array(ArrayClass { length, element: Box::new(class) }).into()
            }
        };
    }
    Ok(lowered)
}

/// The field that holds a length.
fn length_of(fields: &Fields<'_>, path: &Path<'_>) -> Result<crate::schema::Location> {
    let (location, class) = fields.find(path)?;
    if class.signed {
        let message = format!("`{path}` is not an unsigned integer: it cannot be a length");
        return Err(Complaint::new(path.offset, message));
    }
    Ok(location)
}

/// The values whose label names an option. Writers keep labels and options clear of reserved words in different ways,
/// so that a leading underscore may stand on one side only.
fn ranges(mappings: &[Mapping], option: &str) -> Vec<(i128, i128)> {
    let of = |matches: &dyn Fn(&str) -> bool| -> Vec<_> {
        mappings.iter().filter(|m| matches(&m.label)).map(|m| (m.first, m.last)).collect()
    };
    let exact = of(&|label| label == option);
    if !exact.is_empty() {
        return exact;
    }
    of(&|label| crate::schema::shown_name(label) == crate::schema::shown_name(option))
}

/// The mappings of an enum; a label without a value is one more than the value before it.
fn mappings(enumerators: &[Enumerator<'_>]) -> Result<Vec<Mapping>> {
    let mut next = 0;
    let mut mappings = Vec::with_capacity(enumerators.len());
    for Enumerator { offset, label, range } in enumerators {
        let (first, last) = range.map_or((next, next), |(first, last)| (first.as_i128(), last.as_i128()));
        if first > last {
            let message = format!("the range of `{label}` begins behind its end");
            return Err(Complaint::new(*offset, message));
        }
        next = last + 1;
        mappings.push(Mapping { label: label.clone().into_owned(), first, last });
    }
    Ok(mappings)
}
