//! The context of a packet as values: what all its events share.

use isochrone_ctf::plan::{Name as FieldName, Visitor};
use isochrone_ctf::schema::{FloatClass, IntegerClass};
use isochrone_ctf::{Packet, Text, Trace};

use crate::value::Value;

/// The numbers and texts in the context of a packet, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PacketFields(Vec<(String, Value)>);

impl PacketFields {
    /// Reads the context of a packet of a stream of a trace. Linear in its size.
    pub fn of(trace: &Trace, stream: usize, packet: &Packet) -> Self {
        let mut collector = Collector::default();
        trace.visit_packet_context(stream, packet, &mut collector);
        Self(collector.fields)
    }

    /// The value of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

/// Collects members of the outermost structure; structures within one are passed over.
#[derive(Debug, Default)]
struct Collector {
    depth: usize,
    name: Option<String>,
    fields: Vec<(String, Value)>,
}

impl Collector {
    fn put(&mut self, value: Value) {
        if self.depth == 1
            && let Some(name) = self.name.take()
        {
            self.fields.push((name, value));
        }
    }
}

impl Visitor for Collector {
    fn begin_struct(&mut self) {
        self.depth += 1;
    }

    fn end_struct(&mut self) {
        self.depth -= 1;
    }

    fn begin_array(&mut self, _: u64) {
        self.depth += 1;
    }

    fn end_array(&mut self) {
        self.depth -= 1;
    }

    fn member(&mut self, _: usize, name: &FieldName) {
        if self.depth == 1 {
            self.name = Some(name.shown().to_owned());
        }
    }

    fn unsigned(&mut self, _: &IntegerClass, value: u64) {
        self.put(Value::Number(value.into()));
    }

    fn signed(&mut self, _: &IntegerClass, value: i64) {
        self.put(Value::Number(value.into()));
    }

    fn float(&mut self, _: &FloatClass, value: f64) {
        self.put(Value::Real(value.into()));
    }

    fn text(&mut self, text: Text<'_>) {
        self.put(Value::text(text.shown()));
    }
}
