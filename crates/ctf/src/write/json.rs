//! A schema as the JSON of CTF 2: the inverse of `crate::json_metadata`. Called by [`super::metadata()`]. Here the fragments;
//! [`super::json_classes`] writes field classes.
//!
//! Enumerations and flags are written as field class aliases, because many fields can share the mappings of one.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::metadata::Inexpressible;
use crate::json_metadata::SEPARATOR;
use crate::schema::{
    ClockClass, EnvironmentValue, EventClass, Location, Mapping, Owner, Schema, Scope, StreamClass,
    StructClass,
};

type Result<T> = std::result::Result<T, Inexpressible>;
pub(super) type Object = Map<String, Value>;

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

/// The text so far, and what has been said in it.
pub(super) struct Writer<'s> {
    pub(super) schema: &'s Schema,
    pub(super) out: String,
    /// Names of the aliases written so far: by the address of the mappings, which live as long as the schema, and all
    /// else that the field class says.
    pub(super) aliases: HashMap<(*const Mapping, String), String>,
    clock_ids: Vec<String>,
    /// Truth values decoded so far: as selectors they need no ranges.
    pub(super) booleans: HashSet<Location>,
    pub(super) here: Here,
}

/// The field being written.
#[derive(Default)]
pub(super) struct Here {
    pub(super) scope: Option<Scope>,
    pub(super) stream: Option<u64>,
    pub(super) event: Option<u64>,
    /// Names of members from the scope's root to the field.
    pub(super) path: Vec<String>,
    /// How much of the path leads to each of the structures around it, outermost first.
    pub(super) structures: Vec<usize>,
    /// Indices on the way; see [`Owner::Field`].
    pub(super) steps: Vec<usize>,
}

impl Writer<'_> {
    /// Appends a fragment of this type.
    fn fragment(&mut self, kind: &str, mut object: Object, owner: &Owner) {
        object.insert("type".to_owned(), kind.into());
        set(&mut object, "attributes", self.schema.attributes.get(owner).cloned());
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
        identify(&mut object, [&schema.namespace, &schema.name, &schema.uid].map(Option::as_ref));
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
        let header = schema.packet_header.as_ref();
        self.scope(&mut object, "packet-header-field-class", Scope::PacketHeader, header)?;
        self.fragment("trace-class", object, &Owner::Trace);
        Ok(())
    }

    fn stream(&mut self, stream: &StreamClass) -> Result<()> {
        let mut object = Object::new();
        object.insert("id".to_owned(), stream.id.into());
        identify(&mut object, [&stream.namespace, &stream.name, &stream.uid].map(Option::as_ref));
        let clock = stream.clock.map(|clock| self.clock_ids[clock].as_str());
        set(&mut object, "default-clock-class-id", clock);
        self.here = Here { stream: Some(stream.id), ..Here::default() };
        for (name, scope, class) in [
            ("packet-context-field-class", Scope::PacketContext, &stream.packet_context),
            ("event-record-header-field-class", Scope::EventHeader, &stream.event_header),
            ("event-record-common-context-field-class", Scope::CommonContext, &stream.common_context),
        ] {
            self.scope(&mut object, name, scope, class.as_ref())?;
        }
        self.fragment("data-stream-class", object, &Owner::Stream(stream.id));
        Ok(())
    }

    fn event(&mut self, stream: u64, event: &EventClass) -> Result<()> {
        let mut object = Object::new();
        object.insert("id".to_owned(), event.id.into());
        object.insert("data-stream-class-id".to_owned(), stream.into());
        identify(&mut object, [&event.namespace, &event.name, &event.uid].map(Option::as_ref));
        self.here = Here { stream: Some(stream), event: Some(event.id), ..Here::default() };
        for (name, scope, class) in [
            ("specific-context-field-class", Scope::SpecificContext, &event.specific_context),
            ("payload-field-class", Scope::Payload, &event.payload),
        ] {
            self.scope(&mut object, name, scope, class.as_ref())?;
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
        class: Option<&StructClass>,
    ) -> Result<()> {
        let Some(class) = class else { return Ok(()) };
        self.here.scope = Some(scope);
        self.booleans.retain(|location| location.scope < scope);
        let mut structure = self.structure(class)?;
        set(&mut structure, "attributes", self.attributes(false));
        object.insert(name.to_owned(), structure.into());
        Ok(())
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
    identify(&mut object, [clock.namespace.as_ref(), Some(&clock.name), clock.uid.as_ref()]);
    set(&mut object, "description", clock.description.clone());
    object.insert("frequency".to_owned(), clock.frequency.into());
    set(&mut object, "precision", Some(clock.precision).filter(|&cycles| cycles > 0));
    set(&mut object, "accuracy", clock.accuracy);
    let origin = clock.origin.as_ref().map(|origin| {
        let mut object = Object::new();
        identify(&mut object, [origin.namespace.as_ref(), Some(&origin.name), Some(&origin.uid)]);
        Value::from(object)
    });
    set(&mut object, "origin", origin.or_else(|| clock.absolute.then(|| "unix-epoch".into())));
    let offset = json!({"seconds": clock.offset_s, "cycles": clock.offset_cycles});
    object.insert("offset-from-origin".to_owned(), offset);
    object
}

/// Sets a property that is there.
pub(super) fn set(object: &mut Object, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        object.insert(name.to_owned(), value.into());
    }
}

/// Sets what names a part of the metadata: namespace, name, uid.
fn identify(object: &mut Object, names: [Option<&String>; 3]) {
    for (property, name) in ["namespace", "name", "uid"].into_iter().zip(names) {
        set(object, property, name.cloned());
    }
}
