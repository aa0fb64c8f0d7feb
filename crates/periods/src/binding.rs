//! Finds the fields of expressions in an event class, once, and reads them from each event of it.

use std::borrow::Cow;

use isochrone_ctf::plan::{EventPlan, NodeKind, StreamPlan, Visitor};
use isochrone_ctf::schema::{FloatClass, Scope};
use isochrone_ctf::{Event, FieldRef};

use crate::expr::Found;
use crate::field::{Field, FieldScope, Fields};
use crate::packet::PacketFields;
use crate::value::Value;

/// Where the events of a class have some [`Fields`].
#[derive(Debug)]
pub struct Binding(Vec<Bound>);

/// Where a field is.
#[derive(Debug)]
enum Bound {
    /// All events of the class have the same.
    Known(Value),
    /// No event has it.
    Missing,
    /// The CPU.
    Cpu,
    /// In the event.
    Field(FieldRef),
    /// In the context of its packet.
    Packet(String),
}

/// An event, and what is known of it besides its fields.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'r, 't> {
    /// The event.
    pub event: &'r Event<'t>,
    /// The CPU that recorded it, if known.
    pub cpu: Option<u32>,
    /// The context of its packet.
    pub packet: &'r PacketFields,
}

impl Binding {
    /// Finds fields in an event class of a host's trace.
    pub fn new(fields: &Fields, class: &EventPlan, stream: &StreamPlan, host: &str) -> Self {
        let bound = |field: &Field| match field {
            Field::Name => {
                class.name.as_deref().map_or(Bound::Missing, |name| Bound::Known(Value::Text(name.into())))
            }
            Field::Host => Bound::Known(Value::Text(host.into())),
            Field::Cpu => Bound::Cpu,
            Field::Named(scope, name) => find(*scope, name, class, stream).unwrap_or(Bound::Missing),
        };
        Self(fields.iter().map(bound).collect())
    }

    /// Whether events of a class can have a field.
    pub fn has(field: &Field, class: &EventPlan, stream: &StreamPlan) -> bool {
        match field {
            Field::Name | Field::Host | Field::Cpu => true,
            Field::Named(scope, name) => find(*scope, name, class, stream).is_some(),
        }
    }

    /// What is known of a field before an event is read.
    pub(crate) fn of_class(&self, number: usize) -> Found<'_> {
        match self.0.get(number) {
            Some(Bound::Known(value)) => Found::Value(value),
            Some(Bound::Missing) | None => Found::Missing,
            Some(Bound::Cpu | Bound::Field(_) | Bound::Packet(_)) => Found::Open,
        }
    }

    /// Whether a field needs the context of the packet.
    pub fn needs_packet(&self) -> bool {
        self.0.iter().any(|bound| matches!(bound, Bound::Packet(_)))
    }

    /// Reads a field by its number. `None`: the event does not have it, or it is neither a number nor a text.
    pub fn read<'b>(&'b self, number: usize, from: Reading<'b, '_>) -> Option<Cow<'b, Value>> {
        match self.0.get(number)? {
            Bound::Known(value) => Some(Cow::Borrowed(value)),
            Bound::Missing => None,
            Bound::Cpu => from.cpu.map(|cpu| Cow::Owned(Value::Number(cpu.into()))),
            Bound::Field(field) => value(from.event, field).map(Cow::Owned),
            Bound::Packet(name) => from.packet.get(name).map(Cow::Borrowed),
        }
    }
}

/// A field of a class by its name; else by the names on the way to it.
fn find(scope: FieldScope, name: &str, class: &EventPlan, stream: &StreamPlan) -> Option<Bound> {
    let path: Vec<&str> = name.split('.').collect();
    let field = |scope: Scope| {
        let whole = class.field(stream, scope, &[name]);
        whole.or_else(|| class.field(stream, scope, &path).filter(|_| path.len() > 1)).map(Bound::Field)
    };
    let context = || field(Scope::SpecificContext).or_else(|| field(Scope::CommonContext));
    let packet = || {
        let NodeKind::Struct(members) = &stream.packet_context.as_ref()?.kind else { return None };
        let has = members.iter().any(|(member, _)| member.shown() == name);
        has.then(|| Bound::Packet(name.to_owned()))
    };
    match scope {
        FieldScope::Any => field(Scope::Payload).or_else(context).or_else(packet),
        FieldScope::Payload => field(Scope::Payload),
        FieldScope::Context => context(),
        FieldScope::StreamContext => field(Scope::CommonContext),
        FieldScope::PacketContext => packet(),
    }
}

/// A number or a text of an event.
fn value(event: &Event<'_>, field: &FieldRef) -> Option<Value> {
    let number = event.signed(field).map(i128::from).or_else(|| event.unsigned(field).map(i128::from));
    if let Some(number) = number {
        return Some(Value::Number(number));
    }
    if let Some(text) = event.text(field) {
        return Some(Value::text(text));
    }
    let mut float = FindFloat(None);
    event.visit_field(field, &mut float);
    float.0.map(|float| Value::Real(float.into()))
}

struct FindFloat(Option<f64>);

impl Visitor for FindFloat {
    fn float(&mut self, _: &FloatClass, value: f64) {
        self.0 = Some(value);
    }
}
