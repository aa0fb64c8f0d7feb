//! Field classes as the JSON of CTF 2; a part of [`super::json`].

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::json::{Here, Object, Writer, set};
use super::metadata::Inexpressible;
use crate::json_metadata::{SEPARATOR, origin_name, role_name};
use crate::schema::{
    Base, ByteOrder, Encoding, FieldClass, FloatClass, IntegerClass, IntegerForm, Length, Location, Mapping,
    Owner, StructClass, UserAttributes,
};

type Result<T> = std::result::Result<T, Inexpressible>;

impl Writer<'_> {
    /// The user attributes of the field here, or of its holder.
    pub(super) fn attributes(&self, holder: bool) -> Option<UserAttributes> {
        if self.schema.attributes.is_empty() {
            return None;
        }
        let Here { scope, stream, event, steps, .. } = &self.here;
        let (stream, event, steps) = (*stream, *event, steps.clone());
        self.schema.attributes.get(&Owner::Field { stream, event, scope: (*scope)?, steps, holder }).cloned()
    }

    /// A field class, or the alias of one.
    fn class(&mut self, class: &FieldClass) -> Result<Value> {
        let attributes = self.attributes(false);
        let mut object = match class {
            FieldClass::Integer(class) | FieldClass::WideInteger(class) => {
                return self.integer(class, attributes, false);
            }
            FieldClass::VarInteger(class) => return self.integer(class, attributes, true),
            FieldClass::Float(class) => float(class),
            FieldClass::String(class) => encoded("null-terminated-string", class.encoding),
            FieldClass::Text(class) if class.align == 8 => {
                let mut object = encoded("", class.encoding);
                self.sized(&mut object, "string", &class.length);
                object
            }
            FieldClass::Text(_) => return Err("text that is not aligned to bytes".into()),
            FieldClass::Blob(class) => {
                let mut object = Object::new();
                self.sized(&mut object, "blob", &class.length);
                set(&mut object, "media-type", class.media_type.clone());
                set(&mut object, "roles", class.role.map(|role| vec![role_name(role)]));
                object
            }
            FieldClass::Struct(class) => self.structure(class)?,
            FieldClass::Array(class) => {
                let mut object = Object::new();
                self.sized(&mut object, "array", &class.length);
                if class.min_align > 1 {
                    object.insert("minimum-alignment".to_owned(), class.min_align.into());
                }
                self.here.steps.push(0);
                object.insert("element-field-class".to_owned(), self.class(&class.element)?);
                self.here.steps.pop();
                object
            }
            FieldClass::Variant(class) => {
                if !class.transparent {
                    return Err("a variant whose options have names in locations".into());
                }
                let mut options = Vec::with_capacity(class.options.len());
                for (index, option) in class.options.iter().enumerate() {
                    self.here.steps.push(index);
                    let mut object = Object::new();
                    // What has no name is called so.
                    set(&mut object, "name", Some(option.name.as_str()).filter(|name| *name != "null"));
                    object.insert("selector-field-ranges".to_owned(), ranges(&option.ranges)?);
                    object.insert("field-class".to_owned(), self.class(&option.class)?);
                    set(&mut object, "attributes", self.attributes(true));
                    options.push(Value::Object(object));
                    self.here.steps.pop();
                }
                json_object(
                    "variant",
                    [
                        ("selector-field-location", self.location(&class.selector)),
                        ("options", options.into()),
                    ],
                )
            }
            FieldClass::Optional(class) => {
                let selector = self.location(&class.selector);
                self.here.steps.push(0);
                let inner = self.class(&class.class)?;
                self.here.steps.pop();
                let mut object =
                    json_object("optional", [("selector-field-location", selector), ("field-class", inner)]);
                if !self.booleans.contains(&class.selector) {
                    object.insert("selector-field-ranges".to_owned(), ranges(&class.ranges)?);
                }
                object
            }
        };
        set(&mut object, "attributes", attributes);
        Ok(object.into())
    }

    pub(super) fn structure(&mut self, class: &StructClass) -> Result<Object> {
        self.here.structures.push(self.here.path.len());
        let mut members = Vec::with_capacity(class.members.len());
        for (index, member) in class.members.iter().enumerate() {
            self.here.path.push(member.name.clone());
            self.here.steps.push(index);
            let mut object = Object::new();
            object.insert("name".to_owned(), member.name.as_str().into());
            object.insert("field-class".to_owned(), self.class(&member.class)?);
            set(&mut object, "attributes", self.attributes(true));
            members.push(Value::Object(object));
            self.here.steps.pop();
            self.here.path.pop();
        }
        self.here.structures.pop();
        let mut object = json_object("structure", [("member-classes", members.into())]);
        if class.min_align > 1 {
            object.insert("minimum-alignment".to_owned(), class.min_align.into());
        }
        Ok(object)
    }

    fn integer(
        &mut self,
        class: &IntegerClass,
        attributes: Option<UserAttributes>,
        variable: bool,
    ) -> Result<Value> {
        if class.form == IntegerForm::Boolean
            && let Some(scope) = self.here.scope
        {
            self.booleans.insert(Location { scope, path: self.here.path.clone() });
        }
        let mut object = integer(class, variable);
        set(&mut object, "roles", class.role.map(|role| vec![role_name(role)]));
        let Some(mappings) = &class.mappings else {
            set(&mut object, "attributes", attributes);
            return Ok(object.into());
        };
        let key = (mappings.as_ptr(), Value::from(object.clone()).to_string());
        if attributes.is_none()
            && let Some(name) = self.aliases.get(&key)
        {
            return Ok(name.as_str().into());
        }
        let mut sets: BTreeMap<&str, Vec<(i128, i128)>> = BTreeMap::new();
        for Mapping { label, first, last } in mappings {
            sets.entry(label).or_default().push((*first, *last));
        }
        let sets = sets.into_iter().map(|(label, set)| Ok((label.to_owned(), ranges(&set)?)));
        let property = if class.form == IntegerForm::Bits { "flags" } else { "mappings" };
        object.insert(property.to_owned(), sets.collect::<Result<Object>>()?.into());
        if attributes.is_some() {
            set(&mut object, "attributes", attributes);
            return Ok(object.into());
        }
        let name = format!("mapped-{}", self.aliases.len());
        let alias = [
            ("type", "field-class-alias".into()),
            ("name", name.as_str().into()),
            ("field-class", object.into()),
        ];
        let alias: Object =
            alias.into_iter().map(|(name, value): (&str, Value)| (name.to_owned(), value)).collect();
        self.out += &format!("{SEPARATOR}{}\n", Value::Object(alias));
        self.aliases.insert(key, name.clone());
        Ok(name.into())
    }

    /// Type and length of what has either kind of length.
    fn sized(&self, object: &mut Object, what: &str, length: &Length) {
        let (kind, property, value) = match length {
            Length::Static(count) => ("static", "length", Value::from(*count)),
            Length::Dynamic(location) => ("dynamic", "length-field-location", self.location(location)),
        };
        object.insert("type".to_owned(), format!("{kind}-length-{what}").into());
        object.insert(property.to_owned(), value);
    }

    /// The way to a field: from the innermost structure up and down again, or from the root of another scope.
    fn location(&self, location: &Location) -> Value {
        let Here { scope, path, structures, .. } = &self.here;
        if *scope != Some(location.scope) {
            return json!({"origin": origin_name(location.scope), "path": location.path});
        }
        let common = |depth: &&usize| location.path.starts_with(&path[..**depth]);
        let up = structures.iter().rev().take_while(|depth| !common(depth)).count();
        let depth = structures.iter().rev().find(common).copied().unwrap_or(0);
        let down = location.path[depth..].iter().map(|name| Value::from(name.as_str()));
        let steps: Vec<Value> = std::iter::repeat_n(Value::Null, up).chain(down).collect();
        json!({ "path": steps })
    }
}

/// An integer but for its names and roles.
fn integer(class: &IntegerClass, variable: bool) -> Object {
    let sign = if class.signed { "signed" } else { "unsigned" };
    let base = match class.base {
        Base::Binary => Some(2),
        Base::Octal => Some(8),
        Base::Decimal => None,
        Base::Hexadecimal => Some(16),
    };
    if variable {
        let mut object = json_object(&format!("variable-length-{sign}-integer"), []);
        set(&mut object, "preferred-display-base", base);
        return object;
    }
    let kind = match (class.form, &class.mappings) {
        (IntegerForm::Number, _) => format!("fixed-length-{sign}-integer"),
        (IntegerForm::Boolean, _) => "fixed-length-boolean".to_owned(),
        (IntegerForm::Bits, Some(_)) => "fixed-length-bit-map".to_owned(),
        (IntegerForm::Bits, None) => "fixed-length-bit-array".to_owned(),
    };
    let mut object = layout(&kind, class.size, class.align, class.byte_order, class.reversed);
    set(&mut object, "preferred-display-base", base);
    object
}

fn float(class: &FloatClass) -> Object {
    let kind = "fixed-length-floating-point-number";
    layout(kind, class.size, class.align, class.byte_order, class.reversed)
}

/// What all fields of fixed length have.
fn layout(kind: &str, size: u32, align: u32, order: ByteOrder, reversed: bool) -> Object {
    let (byte_order, unusual) = match order {
        ByteOrder::Little => ("little-endian", "last-to-first"),
        ByteOrder::Big => ("big-endian", "first-to-last"),
    };
    let mut object = json_object(kind, [("length", size.into()), ("byte-order", byte_order.into())]);
    set(&mut object, "bit-order", reversed.then_some(unusual));
    set(&mut object, "alignment", Some(align).filter(|&align| align > 1));
    object
}

fn encoded(kind: &str, encoding: Encoding) -> Object {
    let name = match encoding {
        Encoding::Utf8 => None,
        Encoding::Utf16(ByteOrder::Little) => Some("utf-16le"),
        Encoding::Utf16(ByteOrder::Big) => Some("utf-16be"),
        Encoding::Utf32(ByteOrder::Little) => Some("utf-32le"),
        Encoding::Utf32(ByteOrder::Big) => Some("utf-32be"),
    };
    let mut object = json_object(kind, []);
    set(&mut object, "encoding", name);
    object
}

fn json_object<const N: usize>(kind: &str, properties: [(&str, Value); N]) -> Object {
    let kind = ("type".to_owned(), Value::from(kind));
    std::iter::once(kind).chain(properties.map(|(name, value)| (name.to_owned(), value))).collect()
}

/// A set of integers.
fn ranges(set: &[(i128, i128)]) -> Result<Value> {
    if set.is_empty() {
        return Err("an option that is never chosen".into());
    }
    let number = |number: i128| {
        let unsigned = u64::try_from(number).map(Value::from);
        unsigned
            .or_else(|_| i64::try_from(number).map(Value::from))
            .map_err(|_| Inexpressible::from(format!("the number {number}")))
    };
    set.iter().map(|&(first, last)| Ok(json!([number(first)?, number(last)?]))).collect()
}
