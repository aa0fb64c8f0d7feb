//! The metadata of a trace: its text in the words of LTTng, plain or in packets.
//!
//! [`crate::lttng`] describes a trace, this file spells it, [`crate::compiled`] reads the spelling back.

use std::fmt::Write as _;

use isochrone_ctf::schema::ByteOrder;
use uuid::Uuid;

use crate::classes::naturally_aligned;
use crate::value::FieldValue;

/// How the events of a trace begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EventHeader {
    /// 5 bits of id and 27 bits of time; a longer form where these do not suffice.
    #[default]
    Compact,
    /// 16 bits of id and 32 bits of time; a longer form where these do not suffice.
    Large,
}

/// The clock of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockSpec {
    /// Identity of the clock, the boot id under Linux; traces with the same one share a time line.
    pub uuid: Option<Uuid>,
    /// Unix time of the clock's zero in ns.
    pub offset_ns: i64,
    /// Cycles per second.
    pub frequency: u64,
}

/// An event class.
#[derive(Debug, Clone)]
pub(crate) struct EventText {
    pub(crate) id: u64,
    pub(crate) name: String,
    /// The members of its payload in TSDL.
    pub(crate) fields: String,
}

/// A channel: a class of streams, and which events it records.
#[derive(Debug, Clone)]
pub(crate) struct Channel {
    /// Its files are called so, with the number of the CPU.
    pub(crate) name: String,
    /// Begins of the names of its events. The first channel has those that no other one takes.
    pub(crate) events: Vec<String>,
}

impl Channel {
    /// The only channel of most traces.
    pub(crate) fn only() -> Self {
        Self { name: "ch".to_owned(), events: Vec::new() }
    }
}

/// Everything that the metadata say.
#[derive(Debug, Clone)]
pub(crate) struct Description {
    pub(crate) uuid: Uuid,
    pub(crate) environment: Vec<(String, FieldValue)>,
    pub(crate) clock: ClockSpec,
    pub(crate) header: EventHeader,
    pub(crate) byte_order: ByteOrder,
    pub(crate) aligned: bool,
    /// The members of the context of all events in TSDL.
    pub(crate) context: Option<String>,
    pub(crate) events: Vec<EventText>,
    /// At least one.
    pub(crate) channels: Vec<Channel>,
}

const TYPES: &str = "\
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = false; } := unsigned long;
typealias integer { size = 5; align = 1; signed = false; } := uint5_t;
typealias integer { size = 27; align = 1; signed = false; } := uint27_t;
";

const TIMES: &str = "\
typealias integer { size = 27; align = 1; signed = false; map = clock.monotonic.value; } := uint27_clock_monotonic_t;
typealias integer { size = 32; align = 8; signed = false; map = clock.monotonic.value; } := uint32_clock_monotonic_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := uint64_clock_monotonic_t;

struct packet_context {
	uint64_clock_monotonic_t timestamp_begin;
	uint64_clock_monotonic_t timestamp_end;
	uint64_t content_size;
	uint64_t packet_size;
	uint64_t packet_seq_num;
	unsigned long events_discarded;
	uint32_t cpu_id;
};
";

impl Description {
    /// The metadata as one text.
    pub(crate) fn text(&self) -> String {
        let clauses = [TYPES.to_owned(), self.trace(), self.environment(), self.clock(), TIMES.to_owned()];
        let streams = (0..self.channels.len()).map(|id| self.stream(id));
        let events = self.events.iter().map(|it| event(it, self.channel_of(&it.name)));
        let parts: Vec<String> =
            clauses.into_iter().chain([self.event_header()]).chain(streams).chain(events).collect();
        let text = format!("/* CTF 1.8 */\n\n{}", parts.join("\n"));
        if self.aligned { naturally_aligned(&text) } else { text }
    }

    /// The number of the channel that records an event.
    fn channel_of(&self, event: &str) -> usize {
        let takes = |channel: &Channel| channel.events.iter().any(|begin| event.starts_with(begin));
        self.channels.iter().position(takes).unwrap_or(0)
    }

    fn trace(&self) -> String {
        let byte_order = match self.byte_order {
            ByteOrder::Little => "le",
            ByteOrder::Big => "be",
        };
        format!(
            "trace {{\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"{}\";\n\tbyte_order = {byte_order};\n\
             \tpacket.header := struct {{\n\t\tuint32_t magic;\n\t\tuint8_t uuid[16];\n\t\tuint32_t stream_id;\n\
             \t\tuint64_t stream_instance_id;\n\t}};\n}};\n",
            self.uuid
        )
    }

    fn environment(&self) -> String {
        let mut text = "env {\n".to_owned();
        for (name, value) in &self.environment {
            let value = match value {
                FieldValue::Integer(value) => value.to_string(),
                FieldValue::Text(value) => format!("\"{}\"", escaped(value)),
                // TSDL has no others.
                FieldValue::Float(_) | FieldValue::Array(_) => continue,
            };
            let written = writeln!(text, "\t{name} = {value};");
            debug_assert!(written.is_ok(), "a string takes every write");
        }
        text + "};\n"
    }

    fn clock(&self) -> String {
        let ClockSpec { uuid, offset_ns, frequency } = self.clock;
        let uuid = uuid.map(|uuid| format!("\tuuid = \"{uuid}\";\n")).unwrap_or_default();
        let offset = if frequency == 1_000_000_000 {
            format!("\toffset = {offset_ns};\n")
        } else {
            let (seconds, rest) = (offset_ns.div_euclid(1_000_000_000), offset_ns.rem_euclid(1_000_000_000));
            let cycles = i128::from(rest) * i128::from(frequency) / 1_000_000_000;
            format!("\toffset_s = {seconds};\n\toffset = {cycles};\n")
        };
        format!(
            "clock {{\n\tname = \"monotonic\";\n{uuid}\tdescription = \"Monotonic Clock\";\n\
             \tfreq = {frequency};\n{offset}}};\n"
        )
    }

    fn event_header(&self) -> String {
        let (name, id, escape, time) = match self.header {
            EventHeader::Compact => ("compact", "uint5_t", 31, "uint27_clock_monotonic_t"),
            EventHeader::Large => ("large", "uint16_t", 65_535, "uint32_clock_monotonic_t"),
        };
        let last = escape - 1;
        let align = match (self.aligned, self.header) {
            (false, _) => 8,
            (true, EventHeader::Compact) => 32,
            (true, EventHeader::Large) => 16,
        };
        format!(
            "struct event_header_{name} {{\n\tenum : {id} {{ compact = 0 ... {last}, extended = {escape} }} id;\n\
             \tvariant <id> {{\n\t\tstruct {{\n\t\t\t{time} timestamp;\n\t\t}} compact;\n\
             \t\tstruct {{\n\t\t\tuint32_t id;\n\t\t\tuint64_clock_monotonic_t timestamp;\n\t\t}} extended;\n\
             \t}} v;\n}} align({align});\n"
        )
    }

    fn stream(&self, id: usize) -> String {
        let name = match self.header {
            EventHeader::Compact => "compact",
            EventHeader::Large => "large",
        };
        let context =
            self.context.as_deref().map(|fields| format!("\tevent.context := struct {{\n{fields}\n\t}};\n"));
        format!(
            "stream {{\n\tid = {id};\n\tevent.header := struct event_header_{name};\n\
             \tpacket.context := struct packet_context;\n{}}};\n",
            context.unwrap_or_default()
        )
    }
}

fn event(event: &EventText, channel: usize) -> String {
    let EventText { id, name, fields } = event;
    format!(
        "event {{\n\tname = \"{}\";\n\tid = {id};\n\tstream_id = {channel};\n\tfields := struct {{\n{fields}\n\t}};\n}};\n",
        escaped(name)
    )
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// First word of a metadata packet.
const PACKET_MAGIC: u32 = 0x75d1_1d57;
/// Bytes of a metadata packet and of its header, as LTTng cuts them.
const PACKET_BYTES: usize = 4096;
const PACKET_HEADER: usize = 37;

/// The text in packets, as LTTng writes it.
pub(crate) fn in_packets(text: &str, uuid: Uuid, order: ByteOrder) -> Vec<u8> {
    let word = |value: u32| match order {
        ByteOrder::Little => value.to_le_bytes(),
        ByteOrder::Big => value.to_be_bytes(),
    };
    let mut bytes = Vec::new();
    for part in text.as_bytes().chunks(PACKET_BYTES - PACKET_HEADER) {
        let end = bytes.len() + PACKET_BYTES;
        bytes.extend(word(PACKET_MAGIC));
        bytes.extend(uuid.as_bytes());
        let checksum = 0;
        let content_bits = (PACKET_HEADER + part.len()) as u32 * 8;
        for value in [checksum, content_bits, PACKET_BYTES as u32 * 8] {
            bytes.extend(word(value));
        }
        // No compression, encryption or checksum scheme; version 1.8.
        bytes.extend([0, 0, 0, 1, 8]);
        bytes.extend(part);
        bytes.resize(end, 0);
    }
    bytes
}
