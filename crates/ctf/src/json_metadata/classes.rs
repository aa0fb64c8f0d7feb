//! Field classes: which kind a JSON object is, and the kinds that hold no others. [`super::numbers`] reads
//! integers and numbers, [`super::compound`] what holds other classes, aliases are classes with
//! names.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::json_ref::{Detached, JsonRef};
use super::locations::{Here, KeyKind};
use super::roles;
use crate::lower::limits::{Budget, MAX_NESTING, Measure};
use crate::schema::{
    Attributes, BlobClass, ByteOrder, Encoding, FieldClass, Length, Location, Mappings, Owner, Role,
    StringClass, TextClass, UserAttributes,
};
use crate::text_error::{Notes, Result};

/// A field class and how large it is.
#[derive(Debug)]
pub(super) struct Lowered {
    pub(super) class: FieldClass,
    pub(super) measure: Measure,
}

impl Lowered {
    pub(super) fn leaf(class: FieldClass) -> Self {
        Self { measure: Measure::leaf(&class), class }
    }
}

/// Field class aliases: names for field classes, which stand for a copy of the class wherever they are used.
#[derive(Debug, Default)]
pub(super) struct Aliases<'j> {
    by_name: HashMap<&'j str, (usize, Detached<'j>)>,
    /// While an alias is read, its own number: it sees the ones before.
    reading: Option<usize>,
}

impl<'j> Aliases<'j> {
    /// Adds an alias; `false` if the name is taken.
    pub(super) fn add(&mut self, name: &'j str, class: Detached<'j>) -> bool {
        let number = self.by_name.len();
        self.by_name.insert(name, (number, class)).is_none()
    }

    /// Begins to read what a name stands for; what is given besides goes to [`Self::leave`].
    pub(super) fn enter(&mut self, name: &str) -> Option<(Detached<'j>, Option<usize>)> {
        let &(number, class) = self.by_name.get(name)?;
        if self.reading.is_some_and(|reading| number >= reading) {
            return None;
        }
        Some((class, self.reading.replace(number)))
    }

    pub(super) fn leave(&mut self, before: Option<usize>) {
        self.reading = before;
    }
}

/// What turns JSON into field classes.
#[derive(Debug, Default)]
pub(super) struct Classes<'j> {
    pub(super) aliases: Aliases<'j>,
    pub(super) notes: Notes,
    pub(super) budget: Budget,
    /// Mappings made so far, by the JSON they were made from: all uses of an alias share them.
    pub(super) mappings: HashMap<*const Value, Mappings>,
    /// User attributes found so far.
    pub(super) attributes: Attributes,
    /// The same by the JSON they were made from, likewise shared.
    pub(super) shared_attributes: HashMap<*const Value, Arc<UserAttributes>>,
    /// Classes around the one being read.
    pub(super) depth: usize,
}

impl<'j> Classes<'j> {
    /// Reads a field class, or the one that an alias stands for.
    pub(super) fn class(&mut self, node: &JsonRef<'j, '_>, here: &mut Here<'_>) -> Result<Lowered> {
        self.budget.charge(1, node.offset)?;
        let Some(name) = node.value.as_str() else { return self.nested(node, here) };
        let (mut alias, hidden) = self.enter(node, name)?;
        // An alias can stand for another one: names are no levels.
        while let Some(name) = alias.node().value.as_str() {
            self.budget.charge(1, node.offset)?;
            alias = self.enter(&alias.node(), name)?.0;
        }
        let lowered = self.nested(&alias.node(), here);
        self.aliases.leave(hidden);
        lowered
    }

    /// What an alias stands for; see [`Aliases::enter`].
    fn enter(&mut self, node: &JsonRef<'j, '_>, name: &str) -> Result<(Detached<'j>, Option<usize>)> {
        let unknown = || node.error(format!("no field class alias before this is called `{name}`"));
        self.aliases.enter(name).ok_or_else(unknown)
    }

    /// Reads a field class inside of those around it.
    fn nested(&mut self, node: &JsonRef<'j, '_>, here: &mut Here<'_>) -> Result<Lowered> {
        if self.depth >= MAX_NESTING {
            return Err(node.error(format!("field classes nested deeper than {MAX_NESTING}")));
        }
        self.depth += 1;
        self.field_attributes(node, here, false)?;
        let lowered = self.object(node, here);
        self.depth -= 1;
        lowered
    }

    /// Keeps the user attributes of a field class, or of its holder.
    pub(super) fn field_attributes(
        &mut self,
        node: &JsonRef<'j, '_>,
        here: &Here<'_>,
        holder: bool,
    ) -> Result<()> {
        match node.attributes() {
            Some(_) => self.keep_attributes(node, here.owner(holder)),
            None => Ok(()),
        }
    }

    /// Keeps the user attributes of a part of the metadata, if it has any.
    pub(super) fn keep_attributes(&mut self, node: &JsonRef<'j, '_>, owner: Owner) -> Result<()> {
        let Some(attributes) = node.attributes() else { return Ok(()) };
        let object = attributes.object()?;
        self.budget.charge(1, node.offset)?;
        let shared = self.shared_attributes.entry(attributes.value);
        self.attributes.insert(owner, Arc::clone(shared.or_insert_with(|| Arc::new(object.clone()))));
        Ok(())
    }

    fn object(&mut self, node: &JsonRef<'j, '_>, here: &mut Here<'_>) -> Result<Lowered> {
        let kind = node.need("type")?;
        let name = kind.text()?;
        let (name, enumeration) = match name.strip_suffix("-enumeration") {
            Some(rest) if rest.ends_with("signed") => {
                super::release_candidate(&mut self.notes, node.offset, &format!("the field class `{name}`"));
                (format!("{rest}-integer"), true)
            }
            _ => (name.to_owned(), false),
        };
        match name.as_str() {
            "fixed-length-unsigned-integer"
            | "fixed-length-signed-integer"
            | "fixed-length-boolean"
            | "fixed-length-bit-array"
            | "fixed-length-bit-map" => self.fixed_integer(node, &name, enumeration, here),
            "variable-length-unsigned-integer" | "variable-length-signed-integer" => {
                self.variable_integer(node, &name, enumeration, here)
            }
            "fixed-length-floating-point-number" => self.float(node),
            "null-terminated-string" => {
                node.only(&["encoding"], &mut self.notes)?;
                let encoding = encoding(node)?;
                Ok(Lowered::leaf(FieldClass::String(StringClass { encoding })))
            }
            "static-length-string" | "dynamic-length-string" => {
                node.only(&["encoding", "length", "length-field-location"], &mut self.notes)?;
                let (length, measure) = self.bytes(node, &name, here)?;
                let encoding = encoding(node)?;
                if let Length::Static(count) = length
                    && !count.is_multiple_of(encoding.unit() as u64)
                {
                    let message = format!("{count} bytes are not a whole number of the encoding's units");
                    return Err(node.error(message));
                }
                let class = FieldClass::Text(TextClass { length, align: 8, encoding });
                Ok(Lowered { class, measure })
            }
            "static-length-blob" | "dynamic-length-blob" => {
                let known = ["media-type", "length", "length-field-location", "roles"];
                node.only(&known, &mut self.notes)?;
                let (length, measure) = self.bytes(node, &name, here)?;
                let role = roles::of(node, here, &mut self.notes)?;
                if role.is_some() && (role, &length) != (Some(Role::TraceUuid), &Length::Static(16)) {
                    return Err(node.error("a BLOB of 16 bytes can hold a uuid; it has no other role"));
                }
                let media_type = node.text_of("media-type")?;
                Ok(Lowered { class: FieldClass::Blob(BlobClass { length, role, media_type }), measure })
            }
            "structure" => self.structure(node, here),
            "static-length-array" | "dynamic-length-array" => self.array(node, &name, here),
            "variant" => self.variant(node, here),
            "optional" => self.optional(node, here),
            _ => Err(kind.error(format!("unknown field class `{name}`"))),
        }
    }

    /// The length of strings and BLOBs.
    fn bytes(
        &mut self,
        node: &JsonRef<'j, '_>,
        kind: &str,
        here: &mut Here<'_>,
    ) -> Result<(Length, Measure)> {
        let length = self.length(node, kind, here)?;
        let count = match &length {
            Length::Static(count) => Some(*count),
            Length::Dynamic(_) => None,
        };
        Ok((length, Measure::byte().times(count, node.offset)?))
    }

    /// A length that the metadata give, or the field that holds it.
    pub(super) fn length(&mut self, node: &JsonRef<'j, '_>, kind: &str, here: &Here<'_>) -> Result<Length> {
        if kind.starts_with("static") {
            return Ok(Length::Static(node.need("length")?.unsigned()?));
        }
        let location = node.need("length-field-location")?;
        match self.key(&location, here)? {
            (found, KeyKind::Unsigned) => Ok(Length::Dynamic(found)),
            _ => Err(location.error("a length is an unsigned integer")),
        }
    }

    /// The field that a location means.
    pub(super) fn key(&mut self, node: &JsonRef<'j, '_>, here: &Here<'_>) -> Result<(Location, KeyKind)> {
        let (location, kind) = here.resolve(node, &mut self.notes)?;
        self.budget.charge_location(&location.path, 0, node.offset)?;
        Ok((location, kind))
    }
}

fn encoding(node: &JsonRef<'_, '_>) -> Result<Encoding> {
    let Some(encoding) = node.get("encoding") else { return Ok(Encoding::Utf8) };
    match encoding.text()? {
        "utf-8" => Ok(Encoding::Utf8),
        "utf-16le" => Ok(Encoding::Utf16(ByteOrder::Little)),
        "utf-16be" => Ok(Encoding::Utf16(ByteOrder::Big)),
        "utf-32le" => Ok(Encoding::Utf32(ByteOrder::Little)),
        "utf-32be" => Ok(Encoding::Utf32(ByteOrder::Big)),
        other => Err(encoding.error(format!("`{other}` is not an encoding of text"))),
    }
}
