//! Finding the packets of a stream file by hopping from header to header.

use std::path::Path;

use uuid::Uuid;

use super::index::IndexEntry;
use crate::error::{DecodeError, Diagnostic, Severity};
use crate::plan::{Cursor, Plan, Visitor, extend_time, walk};
use crate::schema::{IntegerClass, Role};

/// First word of a packet that has a magic number.
const MAGIC: u64 = 0xc1fc_1fc1;

/// Where a packet is and what its header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// Index of its file in the trace.
    pub(crate) file: usize,
    /// Number in its file.
    pub number: u64,
    /// Byte of the file where it begins.
    pub offset: u64,
    /// Size in bits, padding included; a multiple of 8.
    pub total_bits: u64,
    /// Size in bits up to the end of its last event.
    pub content_bits: u64,
    /// Where its first event may begin.
    pub(crate) header_bits: u64,
    /// Time at its begin in cycles.
    pub begin: Option<u64>,
    /// Time at its end in cycles.
    pub end: Option<u64>,
    /// Free-running count of discarded events, and the bits of the counter.
    pub(crate) discarded: Option<(u64, u32)>,
    /// Number in its stream, and the bits of that number.
    pub(crate) sequence: Option<(u64, u32)>,
}

/// A packet and the stream it belongs to.
pub(crate) struct Scanned {
    pub(crate) packet: Packet,
    pub(crate) class: usize,
    pub(crate) class_id: u64,
    pub(crate) stream_id: Option<u64>,
}

/// What a packet's header and context say, gathered in one walk.
#[derive(Default)]
struct Roles {
    magic: Option<u64>,
    uuid: Vec<u8>,
    class_id: Option<u64>,
    stream_id: Option<u64>,
    total_bits: Option<u64>,
    content_bits: Option<u64>,
    begin: Option<(u64, u32)>,
    end: Option<(u64, u32)>,
    discarded: Option<(u64, u32)>,
    sequence: Option<(u64, u32)>,
}

impl Visitor for Roles {
    fn unsigned(&mut self, class: &IntegerClass, value: u64) {
        let sized = Some((value, class.size));
        match class.role {
            Some(Role::PacketMagic) => self.magic = Some(value),
            Some(Role::TraceUuid) => self.uuid.push(value as u8),
            Some(Role::StreamClassId) => self.class_id = Some(value),
            Some(Role::StreamId) => self.stream_id = Some(value),
            Some(Role::PacketTotalLength) => self.total_bits = Some(value),
            Some(Role::PacketContentLength) => self.content_bits = Some(value),
            Some(Role::PacketBegin) => self.begin = sized,
            Some(Role::PacketEnd) => self.end = sized,
            Some(Role::DiscardedEvents) => self.discarded = sized,
            Some(Role::PacketSequenceNumber) => self.sequence = sized,
            Some(Role::EventClassId | Role::Timestamp) | None => {}
        }
    }

    fn signed(&mut self, class: &IntegerClass, value: i64) {
        self.unsigned(class, value as u64);
    }
}

/// Why the scan of a file cannot go on, or a packet cannot be used.
enum Bad {
    /// Where the next packet begins is unknown.
    Tail(String),
    /// Only this packet of so many bits is lost.
    Packet(String, u64),
}

/// All packets of a file that can be used; complaints go to `diagnostics`. Linear in the number of packets.
pub(crate) fn packets(
    plan: &Plan,
    uuid: Option<Uuid>,
    path: &Path,
    bytes: &[u8],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Scanned> {
    let mut found = Vec::new();
    let mut offset = 0;
    let mut number = 0;
    let mut slots = plan.new_slots();
    while offset < bytes.len() {
        let mut complain = |severity, message| {
            let offset = Some(offset as u64);
            diagnostics.push(Diagnostic {
                severity,
                path: path.to_owned(),
                packet: Some(number),
                offset,
                message,
            });
        };
        let bits = match packet_at(plan, uuid, &bytes[offset..], &mut slots) {
            Ok((mut scanned, note)) => {
                if let Some(note) = note {
                    complain(Severity::Note, note);
                }
                scanned.packet.number = number;
                scanned.packet.offset = offset as u64;
                let bits = scanned.packet.total_bits;
                found.push(scanned);
                bits
            }
            Err(Bad::Packet(message, bits)) => {
                complain(Severity::Loss, format!("packet skipped: {message}"));
                bits
            }
            Err(Bad::Tail(message)) => {
                let left = bytes.len() - offset;
                complain(Severity::Loss, format!("the last {left} bytes of the file are skipped: {message}"));
                break;
            }
        };
        offset += (bits / 8) as usize;
        number += 1;
    }
    found
}

/// Reads the header of the packet at the begin of `bytes`.
fn packet_at(
    plan: &Plan,
    uuid: Option<Uuid>,
    bytes: &[u8],
    slots: &mut [u64],
) -> Result<(Scanned, Option<String>), Bad> {
    let available = bytes.len() as u64 * 8;
    let mut cursor = Cursor::new(bytes);
    let mut roles = Roles::default();
    let tail = |error: DecodeError| Bad::Tail(format!("no packet header: {error}"));
    if let Some(header) = &plan.packet_header {
        walk(header, &mut cursor, slots, &mut roles).map_err(tail)?;
    }
    let class_id = roles.class_id;
    let class = match class_id {
        Some(id) => plan.streams.iter().position(|s| s.id == id),
        None => (!plan.streams.is_empty()).then_some(0),
    };
    let wrong_magic = roles.magic.filter(|&magic| magic != MAGIC);
    let Some(class) = class else {
        return Err(Bad::Tail(match wrong_magic {
            Some(magic) => format!("no packet: its magic number is {magic:#x}, not {MAGIC:#x}"),
            None => format!("no stream class has the id {}", class_id.unwrap_or(0)),
        }));
    };
    let stream = &plan.streams[class];
    if let Some(context) = &stream.packet_context {
        walk(context, &mut cursor, slots, &mut roles).map_err(tail)?;
    }
    let total_bits = roles.total_bits.unwrap_or(available);
    let content_bits = roles.content_bits.unwrap_or(total_bits);
    if let Some(magic) = wrong_magic {
        let message = format!("its magic number is {magic:#x}, not {MAGIC:#x}");
        // A size that a packet could have is trusted to lead to the next one.
        let plausible = total_bits.is_multiple_of(8) && (cursor.at..=available).contains(&total_bits);
        return Err(if plausible { Bad::Packet(message, total_bits) } else { Bad::Tail(message) });
    }
    if !total_bits.is_multiple_of(8) || total_bits < cursor.at {
        return Err(Bad::Tail(format!("a packet of {total_bits} bits is impossible")));
    }
    if total_bits > available {
        return Err(Bad::Tail(format!("a packet of {} bytes was cut off", total_bits / 8)));
    }
    if content_bits > total_bits || content_bits < cursor.at {
        return Err(Bad::Packet(format!("content of {content_bits} bits is impossible"), total_bits));
    }
    let other_trace = uuid.is_some_and(|uuid| !roles.uuid.is_empty() && roles.uuid != *uuid.as_bytes());
    let note =
        other_trace.then(|| "the packet carries the uuid of another trace; read all the same".to_owned());
    let begin = roles.begin.map(|(value, _)| value);
    let end = roles.end.map(|(value, bits)| extend_time(begin.unwrap_or(0), value, bits));
    let packet = Packet {
        file: 0,
        number: 0,
        offset: 0,
        total_bits,
        content_bits,
        header_bits: cursor.at,
        begin,
        end,
        discarded: roles.discarded,
        sequence: roles.sequence,
    };
    Ok((Scanned { packet, class, class_id: stream.id, stream_id: roles.stream_id }, note))
}

/// The first entry of an index that differs from the packets themselves; `None` where they agree.
pub(crate) fn first_disagreement(entries: &[IndexEntry], scanned: &[Scanned]) -> Option<usize> {
    let same = |entry: &IndexEntry, s: &Scanned| {
        let p = &s.packet;
        entry.offset == p.offset
            && entry.total_bits == p.total_bits
            && entry.content_bits == p.content_bits
            && p.begin.is_none_or(|begin| begin == entry.begin)
            && p.end.is_none_or(|end| end == entry.end)
            && entry.stream_class == s.class_id
    };
    let agreeing = entries.iter().zip(scanned).take_while(|(entry, s)| same(entry, s)).count();
    (agreeing < entries.len().max(scanned.len())).then_some(agreeing)
}
