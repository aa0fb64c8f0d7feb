//! A schema as the JSON of CTF 2: the inverse of `crate::json_metadata`. Called by [`super::metadata()`].
//! Here the fragments; [`super::json_classes`] writes field classes, [`super::json_text`] keeps the text and
//! what is said once for many uses.

use std::collections::{HashMap, HashSet};

use super::json_text::{Shared, Text};
use super::metadata::{Result, field_location};
use crate::schema::{
    ClockClass, EnvironmentValue, EventClass, Owner, Schema, Scope, StreamClass, StructClass,
};

/// The whole text.
pub(super) fn text(schema: &Schema) -> Result<String> {
    let mut writer =
        Writer { schema, text: Text::default(), clock_ids: clock_ids(&schema.clocks), here: Here::default() };
    writer.preamble()?;
    writer.trace()?;
    for (index, clock) in schema.clocks.iter().enumerate() {
        writer.clock(index, clock).map_err(|error| error.inside(&format!("clock `{}`", clock.name)))?;
    }
    for stream in &schema.streams {
        writer.stream(stream)?;
        for event in &stream.events {
            writer.event(stream.id, event)?;
        }
    }
    writer.text.into_string()
}

/// The text so far, and where it has come to.
pub(super) struct Writer<'s> {
    pub(super) schema: &'s Schema,
    pub(super) text: Text<'s>,
    clock_ids: Vec<String>,
    pub(super) here: Here<'s>,
}

/// The field being written.
#[derive(Default)]
pub(super) struct Here<'s> {
    pub(super) scope: Option<Scope>,
    pub(super) stream: Option<u64>,
    pub(super) event: Option<u64>,
    /// Names of members from the scope's root to the field.
    pub(super) path: Vec<&'s str>,
    /// How much of the path leads to each of the structures around it, outermost first.
    pub(super) structures: Vec<usize>,
    /// Indices on the way; see [`Owner::Field`].
    pub(super) steps: Vec<usize>,
}

impl<'s> Writer<'s> {
    /// Ends a fragment.
    fn close(&mut self, owner: &Owner) -> Result<()> {
        let attributes = self.schema.attributes.get(owner).map(Shared::Attributes);
        self.text.shared("attributes", attributes)?;
        self.text.close_fragment()
    }

    fn preamble(&mut self) -> Result<()> {
        self.text.open("preamble")?;
        self.text.property("version", self.schema.version.0)?;
        self.text.set("uuid", self.schema.uuid.map(uuid::Uuid::into_bytes))?;
        self.close(&Owner::Preamble)
    }

    fn trace(&mut self) -> Result<()> {
        let schema = self.schema;
        self.text.open("trace-class")?;
        self.identify([&schema.namespace, &schema.name, &schema.uid].map(Option::as_ref))?;
        if !schema.environment.is_empty() {
            self.text.name("environment")?;
            self.text.raw("{");
            for (name, value) in &schema.environment {
                match value {
                    EnvironmentValue::Integer(number) => self.text.property(name, number)?,
                    EnvironmentValue::Text(text) => self.text.property(name, text)?,
                }
            }
            self.text.raw("}");
        }
        self.scope("packet-header-field-class", Scope::PacketHeader, schema.packet_header.as_ref())?;
        self.close(&Owner::Trace)
    }

    fn clock(&mut self, index: usize, clock: &ClockClass) -> Result<()> {
        // What is read back would be another clock: the maker of the schema has to decide.
        let Some(cycles) = u64::try_from(clock.offset_cycles).ok().filter(|&n| n < clock.frequency) else {
            let (cycles, frequency) = (clock.offset_cycles, clock.frequency);
            let message = format!(
                "an offset of {cycles} cycles at {frequency} Hz: they must be less than a second and not negative \
                 (`to_ctf_2` carries whole seconds)"
            );
            return Err(message.into());
        };
        if clock.absolute && clock.origin.is_some() {
            return Err("two origins of a clock".into());
        }
        self.text.open("clock-class")?;
        self.text.property("id", &self.clock_ids[index])?;
        self.identify([clock.namespace.as_ref(), Some(&clock.name), clock.uid.as_ref()])?;
        self.text.set("description", clock.description.as_ref())?;
        self.text.property("frequency", clock.frequency)?;
        self.text.set("precision", Some(clock.precision).filter(|&cycles| cycles > 0))?;
        self.text.set("accuracy", clock.accuracy)?;
        if let Some(origin) = &clock.origin {
            self.text.name("origin")?;
            self.text.raw("{");
            self.identify([origin.namespace.as_ref(), Some(&origin.name), Some(&origin.uid)])?;
            self.text.raw("}");
        }
        self.text.set("origin", clock.absolute.then_some("unix-epoch"))?;
        self.text.name("offset-from-origin")?;
        self.text.raw("{");
        self.text.property("seconds", clock.offset_s)?;
        self.text.property("cycles", cycles)?;
        self.text.raw("}");
        self.close(&Owner::Clock(index))
    }

    fn stream(&mut self, stream: &'s StreamClass) -> Result<()> {
        self.text.open("data-stream-class")?;
        self.text.property("id", stream.id)?;
        self.identify([&stream.namespace, &stream.name, &stream.uid].map(Option::as_ref))?;
        if let Some(clock) = stream.clock {
            let id =
                self.clock_ids.get(clock).ok_or_else(|| format!("stream {} without its clock", stream.id))?;
            self.text.property("default-clock-class-id", id)?;
        }
        self.here = Here { stream: Some(stream.id), ..Here::default() };
        for (name, scope, class) in [
            ("packet-context-field-class", Scope::PacketContext, &stream.packet_context),
            ("event-record-header-field-class", Scope::EventHeader, &stream.event_header),
            ("event-record-common-context-field-class", Scope::CommonContext, &stream.common_context),
        ] {
            self.scope(name, scope, class.as_ref())?;
        }
        self.close(&Owner::Stream(stream.id))
    }

    fn event(&mut self, stream: u64, event: &'s EventClass) -> Result<()> {
        self.text.open("event-record-class")?;
        self.text.property("id", event.id)?;
        self.text.property("data-stream-class-id", stream)?;
        self.identify([&event.namespace, &event.name, &event.uid].map(Option::as_ref))?;
        self.here = Here { stream: Some(stream), event: Some(event.id), ..Here::default() };
        for (name, scope, class) in [
            ("specific-context-field-class", Scope::SpecificContext, &event.specific_context),
            ("payload-field-class", Scope::Payload, &event.payload),
        ] {
            self.scope(name, scope, class.as_ref())?;
        }
        self.close(&Owner::Event { stream, id: event.id })
    }

    /// The structure of a scope, if there is one.
    fn scope(&mut self, name: &str, scope: Scope, class: Option<&'s StructClass>) -> Result<()> {
        let Some(class) = class else { return Ok(()) };
        self.here.scope = Some(scope);
        self.text.name(name)?;
        let begin = self.text.position();
        let written = self.structure(class).and_then(|depth| self.close_class(begin, depth));
        written.map(drop).map_err(|error| {
            // An error leaves the place where it was found.
            let Here { scope, stream, event, path, .. } = &self.here;
            error.inside(&field_location(*scope, path, *event, *stream))
        })
    }

    /// What names a part of the metadata: namespace, name, uid.
    fn identify(&mut self, names: [Option<&String>; 3]) -> Result<()> {
        for (property, name) in ["namespace", "name", "uid"].into_iter().zip(names) {
            self.text.set(property, name)?;
        }
        Ok(())
    }
}

/// An id for each clock class: its name, with a number where another one has the same.
fn clock_ids(clocks: &[ClockClass]) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut numbers: HashMap<&str, u64> = HashMap::new();
    let mut ids = Vec::with_capacity(clocks.len());
    for clock in clocks {
        let mut id = clock.name.clone();
        while !taken.insert(id.clone()) {
            let number = numbers.entry(&clock.name).or_insert(1);
            *number += 1;
            id = format!("{}-{number}", clock.name);
        }
        ids.push(id);
    }
    ids
}
