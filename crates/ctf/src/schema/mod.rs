//! The schema of a trace: what its metadata says, whatever language said it.
//!
//! TSDL (CTF 1.8) is lowered to this model by `crate::lower`, JSON (CTF 2) by `crate::json_metadata`: it is
//! the model of CTF 2 (field classes, roles, locations, mappings), which can say all that TSDL can.
//! [`crate::plan`] compiles it for decoding. Nothing here knows bytes of a stream.

mod attributes;
mod clock;
mod field;
mod integer;

use std::collections::BTreeMap;

use uuid::Uuid;

pub use attributes::{Attributes, Owner, UserAttributes};
pub use clock::{ClockClass, ClockOrigin};
pub use field::{
    ArrayClass, BlobClass, ByteOrder, Encoding, FieldClass, FloatClass, Length, Location, Member,
    OptionalClass, Role, Scope, StringClass, StructClass, TextClass, VariantClass, VariantOption, shown_name,
};
pub(crate) use integer::MAX_INTEGER_BITS;
pub use integer::{Base, IntegerClass, IntegerForm, Mapping, Mappings};

/// Everything the metadata of one trace declares.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// Version of the format, `(major, minor)`: `(1, 8)` for TSDL, `(2, 0)` for JSON.
    pub version: (u32, u32),
    /// Identity of the trace; packets may repeat it.
    pub uuid: Option<Uuid>,
    /// The space of names that the trace's name and uid are unique in (CTF 2).
    pub namespace: Option<String>,
    /// Name of the trace, as its trace class declares it (CTF 2).
    pub name: Option<String>,
    /// Unique name of the trace, as its trace class declares it (CTF 2).
    pub uid: Option<String>,
    /// Byte order of integers that do not state their own.
    pub byte_order: ByteOrder,
    /// The `env` block: who traced what, where. Names in bytewise order.
    pub environment: BTreeMap<String, EnvironmentValue>,
    /// Clock classes in the order of their declaration.
    pub clocks: Vec<ClockClass>,
    /// Structure at the head of every packet.
    pub packet_header: Option<StructClass>,
    /// Data stream classes by ascending id.
    pub streams: Vec<StreamClass>,
    /// What the writer says of parts of the metadata, for other readers (CTF 2).
    pub attributes: Attributes,
}

/// The entry of the environment that says which events of another trace a trace has, in words, where it is
/// not all of a time: [`cut_trace`](crate::write::cut_trace) writes it.
pub const CUT_OF: &str = "isochrone_cut";

/// One entry of the trace environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvironmentValue {
    /// A signed 64-bit number.
    Integer(i64),
    /// Text.
    Text(String),
}

/// A data stream class: what all packets and events of a kind of stream have in common.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StreamClass {
    /// Number that a packet header names the class by (0 where a trace has one class only).
    pub id: u64,
    /// The space of names that its name and uid are unique in (CTF 2).
    pub namespace: Option<String>,
    /// Name of the class (CTF 2).
    pub name: Option<String>,
    /// Unique name of the class (CTF 2).
    pub uid: Option<String>,
    /// Index into [`Schema::clocks`] of the clock that stamps packets and events.
    pub clock: Option<usize>,
    /// Structure after the packet header.
    pub packet_context: Option<StructClass>,
    /// Structure at the head of every event record.
    pub event_header: Option<StructClass>,
    /// Structure after every event header (`event.context` of a TSDL stream).
    pub common_context: Option<StructClass>,
    /// Event record classes by ascending id.
    pub events: Vec<EventClass>,
}

/// An event record class.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EventClass {
    /// Number that the event header names the class by.
    pub id: u64,
    /// The space of names that its name and uid are unique in (CTF 2).
    pub namespace: Option<String>,
    /// Name, for example `sched_switch`. CTF 1.8 demands one, CTF 2 does not.
    pub name: Option<String>,
    /// Unique name of the class (CTF 2).
    pub uid: Option<String>,
    /// The tracer's log level, where given.
    pub log_level: Option<i64>,
    /// Context of this class alone.
    pub specific_context: Option<StructClass>,
    /// The fields of the event itself.
    pub payload: Option<StructClass>,
}

impl Schema {
    /// A schema of a version that declares nothing yet.
    pub fn empty(version: (u32, u32), byte_order: ByteOrder) -> Self {
        Self {
            version,
            byte_order,
            uuid: None,
            namespace: None,
            name: None,
            uid: None,
            environment: BTreeMap::new(),
            clocks: Vec::new(),
            packet_header: None,
            streams: Vec::new(),
            attributes: Attributes::default(),
        }
    }

    /// The stream class with this id; `O(log n)`.
    pub fn stream(&self, id: u64) -> Option<&StreamClass> {
        self.streams.binary_search_by_key(&id, |s| s.id).ok().map(|i| &self.streams[i])
    }

    /// An entry of the environment that is text.
    pub fn environment_text(&self, name: &str) -> Option<&str> {
        match self.environment.get(name) {
            Some(EnvironmentValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The clock that all stamped stream classes share, if there is exactly one such.
    pub fn single_clock(&self) -> Option<&ClockClass> {
        let mut used = self.streams.iter().filter_map(|s| s.clock);
        let first = used.next()?;
        used.all(|c| c == first).then(|| &self.clocks[first])
    }
}
