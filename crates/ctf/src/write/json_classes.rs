//! Field classes as the JSON of CTF 2; a part of [`super::json`].
//!
//! Each writes its object but for the brace at the end, and returns how deep it is: [`super::json_text`] ends
//! it. What other readers refuse is refused here, where there are words for it.

use super::json::{Here, Writer};
use super::json_text::{Numbers, Shared};
use super::metadata::Result;
use crate::json_metadata::{origin_name, role_name};
use crate::lower::limits::MAX_NESTING;
use crate::schema::{
    Base, BlobClass, ByteOrder, Encoding, FieldClass, FloatClass, IntegerClass, IntegerForm, Length,
    Location, OptionalClass, Owner, Role, StructClass, UserAttributes, VariantClass,
};

/// Depth of the JSON of a class without others inside: its location has a path.
const LEAF: u32 = 3;
/// As [`LEAF`]: a variant has options with ranges.
const CHOICE: u32 = 5;

impl<'s> Writer<'s> {
    /// The user attributes of the field here, or of its holder.
    fn attributes(&self, holder: bool) -> Option<&'s UserAttributes> {
        if self.schema.attributes.is_empty() {
            return None;
        }
        let Here { scope, stream, event, steps, .. } = &self.here;
        let (stream, event, steps) = (*stream, *event, steps.clone());
        self.schema.attributes.get(&Owner::Field { stream, event, scope: (*scope)?, steps, holder })
    }

    /// Ends the class here.
    pub(super) fn close_class(&mut self, begin: usize, depth: u32) -> Result<u32> {
        self.text.shared("attributes", self.attributes(false).map(Shared::Attributes))?;
        self.text.close_class(begin, depth)
    }

    /// A field class, or the alias of one.
    fn class(&mut self, class: &'s FieldClass) -> Result<u32> {
        if self.here.steps.len() > MAX_NESTING {
            return Err(format!("classes nested deeper than {MAX_NESTING}").into());
        }
        let begin = self.text.position();
        let depth = match class {
            FieldClass::Integer(class) | FieldClass::WideInteger(class) => self.integer(class, false)?,
            FieldClass::VarInteger(class) => self.integer(class, true)?,
            FieldClass::Float(class) => self.float(class)?,
            FieldClass::String(class) => {
                self.text.open("null-terminated-string")?;
                self.encoding(class.encoding)?
            }
            FieldClass::Text(class) if class.align == 8 => {
                self.sized("string", &class.length)?;
                self.encoding(class.encoding)?
            }
            FieldClass::Text(_) => return Err("text that is not aligned to bytes".into()),
            FieldClass::Blob(class) => self.blob(class)?,
            FieldClass::Struct(class) => self.structure(class)?,
            FieldClass::Array(class) => {
                self.sized("array", &class.length)?;
                self.alignment("minimum-alignment", class.min_align)?;
                self.text.name("element-field-class")?;
                self.here.steps.push(0);
                let depth = self.class(&class.element)?;
                self.here.steps.pop();
                LEAF.max(1 + depth)
            }
            FieldClass::Variant(class) => self.variant(class)?,
            FieldClass::Optional(class) => self.optional(class)?,
        };
        self.close_class(begin, depth)
    }

    pub(super) fn structure(&mut self, class: &'s StructClass) -> Result<u32> {
        self.text.open("structure")?;
        self.alignment("minimum-alignment", class.min_align)?;
        self.text.name("member-classes")?;
        self.text.raw("[");
        self.here.structures.push(self.here.path.len());
        let mut deepest = 0;
        for (index, member) in class.members.iter().enumerate() {
            self.here.path.push(&member.name);
            self.here.steps.push(index);
            self.text.next();
            self.text.raw("{");
            self.text.property("name", &member.name)?;
            deepest = deepest.max(self.held(&member.class)?);
            self.here.steps.pop();
            self.here.path.pop();
        }
        self.here.structures.pop();
        self.text.raw("]");
        Ok(3 + deepest)
    }

    /// The class of a member or an option; ends the object of that.
    fn held(&mut self, class: &'s FieldClass) -> Result<u32> {
        self.text.name("field-class")?;
        let depth = self.class(class)?;
        self.text.shared("attributes", self.attributes(true).map(Shared::Attributes))?;
        self.text.raw("}");
        Ok(depth)
    }

    fn variant(&mut self, class: &'s VariantClass) -> Result<u32> {
        if !class.transparent {
            return Err("a variant whose options have names in locations".into());
        }
        one_option_for_each(class)?;
        self.text.open("variant")?;
        self.location("selector-field-location", &class.selector)?;
        self.text.name("options")?;
        self.text.raw("[");
        let mut deepest = 0;
        for (index, option) in class.options.iter().enumerate() {
            self.here.steps.push(index);
            self.text.next();
            self.text.raw("{");
            // What has no name is called so.
            self.text.set("name", Some(&option.name).filter(|name| *name != "null"))?;
            self.ranges(&option.ranges)?;
            deepest = deepest.max(self.held(&option.class)?);
            self.here.steps.pop();
        }
        self.text.raw("]");
        Ok(CHOICE.max(3 + deepest))
    }

    fn optional(&mut self, class: &'s OptionalClass) -> Result<u32> {
        self.text.open("optional")?;
        self.location("selector-field-location", &class.selector)?;
        if !class.selector_is_boolean {
            self.ranges(&class.ranges)?;
        }
        self.text.name("field-class")?;
        self.here.steps.push(0);
        let depth = self.class(&class.class)?;
        self.here.steps.pop();
        Ok(LEAF.max(1 + depth))
    }

    /// Values of a selector.
    fn ranges(&mut self, ranges: &[(i128, i128)]) -> Result<()> {
        if ranges.is_empty() {
            return Err("an option that is never chosen".into());
        }
        Numbers::Any.check(ranges)?;
        self.text.property("selector-field-ranges", ranges)
    }

    fn integer(&mut self, class: &'s IntegerClass, variable: bool) -> Result<u32> {
        let sign = if class.signed { "signed" } else { "unsigned" };
        if variable {
            self.text.open(&format!("variable-length-{sign}-integer"))?;
        } else {
            let kind = match (class.form, &class.mappings) {
                (IntegerForm::Number, _) => &format!("fixed-length-{sign}-integer"),
                (IntegerForm::Boolean, _) => "fixed-length-boolean",
                (IntegerForm::Bits, Some(_)) => "fixed-length-bit-map",
                (IntegerForm::Bits, None) => "fixed-length-bit-array",
            };
            self.layout(kind, class.size, class.align, class.byte_order, class.reversed)?;
        }
        let base = match class.base {
            Base::Binary => Some(2),
            Base::Octal => Some(8),
            Base::Decimal => None,
            Base::Hexadecimal => Some(16),
        };
        self.text.set("preferred-display-base", base)?;
        if let Some(role) = class.role {
            let name = role_name(role);
            if class.signed || class.size > 64 || class.form != IntegerForm::Number {
                let message =
                    format!("the role `{name}` of what is not an unsigned integer of at most 64 bits");
                return Err(message.into());
            }
            if role == Role::PacketMagic && (variable || class.size != 32 || self.here.steps != [0]) {
                let message = format!("the role `{name}` of what is not the first field, of 32 bits");
                return Err(message.into());
            }
            self.text.property("roles", [name])?;
        }
        let (property, numbers) = match class.form {
            IntegerForm::Bits => ("flags", Numbers::Bits(class.size)),
            _ => ("mappings", Numbers::Any),
        };
        let mappings = class.mappings.as_ref().map(|mappings| Shared::Mappings(mappings, numbers));
        self.text.shared(property, mappings)?;
        Ok(LEAF)
    }

    fn float(&mut self, class: &FloatClass) -> Result<u32> {
        let kind = "fixed-length-floating-point-number";
        self.layout(kind, class.size, class.align, class.byte_order, class.reversed)?;
        Ok(LEAF)
    }

    /// What all fields of fixed length have.
    fn layout(&mut self, kind: &str, size: u32, align: u32, order: ByteOrder, reversed: bool) -> Result<()> {
        let (byte_order, unusual) = match order {
            ByteOrder::Little => ("little-endian", "last-to-first"),
            ByteOrder::Big => ("big-endian", "first-to-last"),
        };
        if size == 0 {
            return Err("a field of no bits".into());
        }
        self.text.open(kind)?;
        self.text.property("length", size)?;
        self.text.property("byte-order", byte_order)?;
        self.text.set("bit-order", reversed.then_some(unusual))?;
        self.alignment("alignment", align)
    }

    fn alignment(&mut self, property: &str, align: u32) -> Result<()> {
        if !align.is_power_of_two() {
            return Err(format!("an alignment of {align} bits").into());
        }
        self.text.set(property, Some(align).filter(|&align| align > 1))
    }

    fn encoding(&mut self, encoding: Encoding) -> Result<u32> {
        let name = match encoding {
            Encoding::Utf8 => None,
            Encoding::Utf16(ByteOrder::Little) => Some("utf-16le"),
            Encoding::Utf16(ByteOrder::Big) => Some("utf-16be"),
            Encoding::Utf32(ByteOrder::Little) => Some("utf-32le"),
            Encoding::Utf32(ByteOrder::Big) => Some("utf-32be"),
        };
        self.text.set("encoding", name)?;
        Ok(LEAF)
    }

    fn blob(&mut self, class: &BlobClass) -> Result<u32> {
        self.sized("blob", &class.length)?;
        self.text.set("media-type", class.media_type.as_ref())?;
        if let Some(role) = class.role {
            let name = role_name(role);
            if role != Role::TraceUuid || class.length != Length::Static(16) {
                return Err(format!("the role `{name}` of what is not a BLOB of 16 bytes for a uuid").into());
            }
            if self.schema.uuid.is_none() {
                return Err(format!("the role `{name}` in a trace without a uuid").into());
            }
            self.text.property("roles", [name])?;
        }
        Ok(LEAF)
    }

    /// Type and length of what has either kind of length.
    fn sized(&mut self, what: &str, length: &Length) -> Result<()> {
        match length {
            Length::Static(count) => {
                self.text.open(&format!("static-length-{what}"))?;
                self.text.property("length", count)
            }
            Length::Dynamic(location) => {
                self.text.open(&format!("dynamic-length-{what}"))?;
                self.location("length-field-location", location)
            }
        }
    }

    /// The way to a field: from the innermost structure up and down again, or from the root of another scope.
    fn location(&mut self, property: &str, location: &Location) -> Result<()> {
        if location.path.is_empty() {
            return Err("a location without names".into());
        }
        self.text.name(property)?;
        self.text.raw("{");
        let Here { scope, path, structures, .. } = &self.here;
        if *scope == Some(location.scope) {
            let shared = location.path.iter().zip(path).take_while(|(a, b)| a == b).count();
            let common = |depth: &&usize| **depth <= shared;
            let up = structures.iter().rev().take_while(|depth| !common(depth)).count();
            let depth = structures.iter().rev().find(common).copied().unwrap_or(0);
            let down = location.path[depth..].iter().map(|name| Some(name.as_str()));
            let steps: Vec<Option<&str>> = std::iter::repeat_n(None, up).chain(down).collect();
            self.text.property("path", steps)?;
        } else {
            self.text.property("origin", origin_name(location.scope))?;
            self.text.property("path", &location.path)?;
        }
        self.text.raw("}");
        Ok(())
    }
}

/// Refuses a variant two of whose options one selector value would choose.
fn one_option_for_each(class: &VariantClass) -> Result<()> {
    let options = class.options.iter().enumerate();
    let mut ranges: Vec<_> = options
        .flat_map(|(index, option)| option.ranges.iter().map(move |&(first, last)| (first, last, index)))
        .collect();
    ranges.sort_unstable();
    // The last one of the ranges so far.
    let mut reach: Option<(i128, usize)> = None;
    for (first, last, index) in ranges {
        if let Some((end, other)) = reach
            && first <= end
            && other != index
        {
            let name = |index: usize| &class.options[index].name;
            return Err(
                format!("options `{}` and `{}` that {first} both chooses", name(other), name(index)).into()
            );
        }
        reach = reach.max(Some((last, index)));
    }
    Ok(())
}
