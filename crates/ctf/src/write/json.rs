//! A schema as the JSON of CTF 2: the inverse of `crate::json_metadata`. Called by [`super::metadata`].
//!
//! Enumerations and flags are written as field class aliases, because many fields can share the mappings of one.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::metadata::Inexpressible;
use crate::json_metadata::{SEPARATOR, origin_name, role_name};
use crate::schema::{
    Base, ByteOrder, ClockClass, Encoding, EnvironmentValue, EventClass, FieldClass, FloatClass,
    IntegerClass, IntegerForm, Length, Location, Mapping, Owner, Schema, Scope, StreamClass, StructClass,
    UserAttributes,
};

type Result<T> = std::result::Result<T, Inexpressible>;
type Object = Map<String, Value>;

/// The whole text.
pub(super) fn text(schema: &Schema) -> Result<String> {
    let mut writer = Writer {
        schema,
        out: String::new(),
        aliases: HashMap::new(),
        clock_ids: clock_ids(&schema.clocks),
        booleans: HashSet::new(),
        here: Here::default(),
    };
    writer.preamble();
    writer.trace()?;
    for (index, clock) in schema.clocks.iter().enumerate() {
        let object = clock_class(clock, &writer.clock_ids[index]);
        writer.fragment("clock-class", object, &Owner::Clock(index));
    }
    for stream in &schema.streams {
        writer.stream(stream)?;
        for event in &stream.events {
            writer.event(stream.id, event)?;
        }
    }
    Ok(writer.out)
}

struct Writer<'s> {
    schema: &'s Schema,
    out: String,
    /// Names of the aliases written so far: by the address of the mappings, which live as long as the schema, and all
    /// else that the field class says.
    aliases: HashMap<(*const Mapping, String), String>,
    clock_ids: Vec<String>,
    /// Truth values decoded so far: as selectors they need no ranges.
    booleans: HashSet<Location>,
    here: Here,
}

/// The field being written.
#[derive(Default)]
struct Here {
    scope: Option<Scope>,
    stream: Option<u64>,
    event: Option<u64>,
    /// Names of members from the scope's root to the field.
    path: Vec<String>,
    /// How much of the path leads to each of the structures around it, outermost first.
    structures: Vec<usize>,
    /// Indices on the way; see [`Owner::Field`].
    steps: Vec<usize>,
}

impl Writer<'_> {
    /// Appends a fragment of this type.
    fn fragment(&mut self, kind: &str, mut object: Object, owner: &Owner) {
        object.insert("type".to_owned(), kind.into());
        set(&mut object, "attributes", self.schema.attributes.get(owner).map(UserAttributes::clone));
        self.out.push(SEPARATOR);
        self.out += &Value::Object(object).to_string();
        self.out.push('\n');
    }

    fn preamble(&mut self) {
        let mut object = Object::new();
        object.insert("version".to_owned(), self.schema.version.0.into());
        set(&mut object, "uuid", self.schema.uuid.map(|uuid| uuid.as_bytes().to_vec()));
        self.fragment("preamble", object, &Owner::Preamble);
    }

    fn trace(&mut self) -> Result<()> {
        let schema = self.schema;
        let mut object = Object::new();
        identify(&mut object, &schema.namespace, &schema.name, &schema.uid);
        if !schema.environment.is_empty() {
            let entries = schema.environment.iter().map(|(name, value)| {
                let value = match value {
                    EnvironmentValue::Integer(number) => Value::from(*number),
                    EnvironmentValue::Text(text) => Value::from(text.as_str()),
                };
                (name.clone(), value)
            });
            object.insert("environment".to_owned(), entries.collect::<Object>().into());
        }
        let header = &schema.packet_header;
        self.scope(&mut object, "packet-header-field-class", Scope::PacketHeader, header)?;
        self.fragment("trace-class", object, &Owner::Trace);
        Ok(())
    }

    fn stream(&mut self, stream: &StreamClass) -> Result<()> {
        let mut object = Object::new();
        object.insert("id".to_owned(), stream.id.into());
        identify(&mut object, &stream.namespace, &stream.name, &stream.uid);
        let clock = stream.clock.map(|clock| self.clock_ids[clock].as_str());
        set(&mut object, "default-clock-class-id", clock);
        self.here = Here { stream: Some(stream.id), ..Here::default() };
        for (name, scope, class) in [
            ("packet-context-field-class", Scope::PacketContext, &stream.packet_context),
            ("event-record-header-field-class", Scope::EventHeader, &stream.event_header),
            ("event-record-common-context-field-class", Scope::CommonContext, &stream.common_context),
        ] {
            self.scope(&mut object, name, scope, class)?;
        }
        self.fragment("data-stream-class", object, &Owner::Stream(stream.id));
        Ok(())
    }

    fn event(&mut self, stream: u64, event: &EventClass) -> Result<()> {
        let mut object = Object::new();
        object.insert("id".to_owned(), event.id.into());
        object.insert("data-stream-class-id".to_owned(), stream.into());
        identify(&mut object, &event.namespace, &event.name, &event.uid);
        self.here = Here { stream: Some(stream), event: Some(event.id), ..Here::default() };
        for (name, scope, class) in [
            ("specific-context-field-class", Scope::SpecificContext, &event.specific_context),
            ("payload-field-class", Scope::Payload, &event.payload),
        ] {
            self.scope(&mut object, name, scope, class)?;
        }
        self.fragment("event-record-class", object, &Owner::Event { stream, id: event.id });
        Ok(())
    }

    /// The structure of a scope, if there is one.
    fn scope(
        &mut self,
        object: &mut Object,
        name: &str,
        scope: Scope,
        class: &Option<StructClass>,
    ) -> Result<()> {
        let Some(class) = class else { return Ok(()) };
        self.here.scope = Some(scope);
        self.booleans.retain(|location| location.scope < scope);
        let mut structure = self.structure(class)?;
        set(&mut structure, "attributes", self.attributes(false));
        object.insert(name.to_owned(), structure.into());
        Ok(())
    }

    /// The user attributes of the field here, or of its holder.
    fn attributes(&self, holder: bool) -> Option<UserAttributes> {
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

    fn structure(&mut self, class: &StructClass) -> Result<Object> {
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

/// An id for each clock class: its name, with a number where another one has the same.
fn clock_ids(clocks: &[ClockClass]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::with_capacity(clocks.len());
    for clock in clocks {
        let numbered = (2..).map(|n| format!("{}-{n}", clock.name));
        let free = std::iter::once(clock.name.clone()).chain(numbered).find(|id| !ids.contains(id));
        ids.extend(free);
    }
    ids
}

fn clock_class(clock: &ClockClass, id: &str) -> Object {
    let mut object = Object::new();
    object.insert("id".to_owned(), id.into());
    identify(&mut object, &clock.namespace, &Some(clock.name.clone()), &clock.uid);
    set(&mut object, "description", clock.description.clone());
    object.insert("frequency".to_owned(), clock.frequency.into());
    set(&mut object, "precision", Some(clock.precision).filter(|&cycles| cycles > 0));
    set(&mut object, "accuracy", clock.accuracy);
    let origin = clock.origin.as_ref().map(|origin| {
        let mut object = Object::new();
        identify(&mut object, &origin.namespace, &Some(origin.name.clone()), &Some(origin.uid.clone()));
        Value::from(object)
    });
    set(&mut object, "origin", origin.or_else(|| clock.absolute.then(|| "unix-epoch".into())));
    let offset = json!({"seconds": clock.offset_s, "cycles": clock.offset_cycles});
    object.insert("offset-from-origin".to_owned(), offset);
    object
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

/// Sets a property that is there.
fn set(object: &mut Object, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        object.insert(name.to_owned(), value.into());
    }
}

fn identify(object: &mut Object, namespace: &Option<String>, name: &Option<String>, uid: &Option<String>) {
    set(object, "namespace", namespace.clone());
    set(object, "name", name.clone());
    set(object, "uid", uid.clone());
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
