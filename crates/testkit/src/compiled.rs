//! A description that has been read back: event classes by name, and the encoding of their bodies.
//!
//! Bodies are encoded when an event is recorded and kept as bytes, a tenth of what values would take. Where the padding
//! within a body depends on its place in the packet, values are kept all the same. [`crate::stream`] makes packets of
//! both.

use std::collections::HashMap;

use isochrone_ctf::Value;
use isochrone_ctf::plan::{EventPlan, Node, Plan};
use isochrone_ctf::schema::{FieldClass, Location, Schema, Scope, StructClass};
use isochrone_ctf::write::{BitWriter, EncodeError, PacketWriter, encode};

use crate::assign::{Assignment, Given, needed};
use crate::error::Misuse;

/// Prefix of the names of context fields.
const CONTEXT: &str = "context.";

/// Metadata ready for writing.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) text: String,
    pub(crate) plan: Plan,
    schema: Schema,
    classes: Vec<Class>,
    /// Numbers of classes.
    by_name: HashMap<String, usize>,
}

/// What recording an event of a class needs.
#[derive(Debug)]
struct Class {
    /// The number of its class of streams, and its own among the events of that.
    place: (usize, usize),
    body_align: u32,
    /// Whether the body looks the same wherever it begins.
    movable: bool,
    needed: Vec<Location>,
}

/// The contexts and the payload of an event.
#[derive(Debug)]
pub(crate) enum Body {
    /// As bytes that fit any place.
    Bytes(Vec<u8>),
    /// As values, and about the bits that they take.
    Values(Vec<Value>, u64),
}

impl Compiled {
    pub(crate) fn new(text: String) -> Result<Self, Misuse> {
        let schema = parse(&text)?;
        let plan = Plan::compile(&schema);
        let mut compiled = Self { text, plan, classes: Vec::new(), by_name: HashMap::new(), schema };
        for (number, stream) in compiled.schema.streams.iter().enumerate() {
            for (event, class) in stream.events.iter().enumerate() {
                let name = class.name.clone().unwrap_or_default();
                compiled.by_name.insert(name, compiled.classes.len());
                compiled.classes.push(compiled.class_at((number, event)));
            }
        }
        Ok(compiled)
    }

    fn class_at(&self, place: (usize, usize)) -> Class {
        let scopes: Vec<_> = self.scopes(place).map(|(_, _, class)| class).collect();
        let body_align = scopes.first().map_or(1, |class| class.align());
        let strictest = scopes.iter().map(|class| strictest_in_struct(class)).max().unwrap_or(1);
        Class { place, body_align, movable: strictest <= body_align.max(8), needed: needed(&scopes) }
    }

    /// The structures of an event's body: scope, prefix of the names of its fields, class.
    fn scopes(
        &self,
        (stream, index): (usize, usize),
    ) -> impl Iterator<Item = (Scope, &'static str, &StructClass)> {
        let stream = &self.schema.streams[stream];
        let context = stream.common_context.as_ref().map(|class| (Scope::CommonContext, CONTEXT, class));
        let payload = stream.events[index].payload.as_ref().map(|class| (Scope::Payload, "", class));
        context.into_iter().chain(payload)
    }

    pub(crate) fn class(&self, name: &str) -> Result<usize, Misuse> {
        self.by_name.get(name).copied().ok_or_else(|| Misuse::UnknownClass { name: name.to_owned() })
    }

    pub(crate) fn event_plan(&self, class: usize) -> &EventPlan {
        let (stream, index) = self.classes[class].place;
        &self.plan.streams[stream].events[index]
    }

    /// The number of the class of streams that records a class of events.
    pub(crate) fn channel(&self, class: usize) -> usize {
        self.classes[class].place.0
    }

    pub(crate) fn body_align(&self, class: usize) -> u32 {
        self.classes[class].body_align
    }

    /// The fields of an event's body that values are encoded by.
    pub(crate) fn nodes(&self, class: usize) -> impl Iterator<Item = &Node> {
        let context = self.plan.streams[self.channel(class)].common_context.as_ref();
        context.into_iter().chain(&self.event_plan(class).payload)
    }

    /// Writes an event with a body of its class.
    pub(crate) fn write(
        &self,
        writer: &mut PacketWriter<'_>,
        class: usize,
        cycles: u64,
        body: &Body,
    ) -> Result<(), EncodeError> {
        writer.event(self.event_plan(class), cycles, None)?;
        match body {
            Body::Bytes(bytes) => writer.body_bytes(bytes),
            Body::Values(values, _) => {
                for (node, value) in self.nodes(class).zip(values) {
                    writer.field(node, value)?;
                }
            }
        }
        Ok(())
    }

    /// The body of an event.
    pub(crate) fn body(&self, name: &str, index: usize, given: &[Given<'_>]) -> Result<Body, Misuse> {
        let class = &self.classes[index];
        let mut assignment = Assignment::new(name, given, &class.needed);
        let values =
            self.scopes(class.place).map(|(scope, prefix, class)| assignment.scope(scope, prefix, class));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        assignment.finish()?;
        let mut out = BitWriter::default();
        for (node, value) in self.nodes(index).zip(&values) {
            encode(node, value, &mut out).map_err(|error| Misuse::BadValue {
                class: name.to_owned(),
                field: "payload".to_owned(),
                reason: error.to_string(),
            })?;
        }
        if class.movable && out.at().is_multiple_of(8) {
            let mut bytes = out.bytes().to_vec();
            bytes.resize((out.at() / 8) as usize, 0);
            Ok(Body::Bytes(bytes))
        } else {
            // At its place the padding may be more. A guess will do: a packet that outgrows its size ends a page later.
            Ok(Body::Values(values, out.at() + 64))
        }
    }
}

fn parse(text: &str) -> Result<Schema, Misuse> {
    isochrone_ctf::parse_metadata(text).map_err(|error| Misuse::Metadata(error.to_string()))
}

/// The strictest alignment of a structure and all inside it.
fn strictest_in_struct(class: &StructClass) -> u32 {
    class.members.iter().map(|member| strictest(&member.class)).fold(class.align(), u32::max)
}

fn strictest(class: &FieldClass) -> u32 {
    match class {
        FieldClass::Struct(class) => strictest_in_struct(class),
        FieldClass::Array(class) => strictest(&class.element),
        FieldClass::Variant(class) => class.options.iter().map(|o| strictest(&o.class)).max().unwrap_or(1),
        other => other.align(),
    }
}
