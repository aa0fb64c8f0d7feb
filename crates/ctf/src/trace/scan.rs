//! Finding the packets of a stream file by hopping from header to header.

use std::collections::HashMap;
use std::path::Path;

use uuid::Uuid;

use super::index::IndexEntry;
use super::times::Times;
use crate::bits;
use crate::complaints::Complaints;
use crate::error::{DecodeError, Diagnostic, Severity};
use crate::plan::{Cursor, Node, NodeKind, Plan, Visitor, walk};
use crate::schema::{IntegerClass, Role};

/// First word of a packet that has a magic number.
const MAGIC: u64 = 0xc1fc_1fc1;

/// Where a packet is and what its header says. Kept for every packet of a trace, and packets can be tiny.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// Index of its file in the trace.
    pub(crate) file: u32,
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
    /// Free-running count of discarded events; 0 where the class has none.
    pub(crate) discarded: u64,
    /// Number in its stream; 0 where the class has none.
    pub(crate) sequence: u64,
}

/// A packet and the stream it belongs to.
pub(crate) struct Scanned {
    pub(crate) packet: Packet,
    pub(crate) class: usize,
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
    discarded: u64,
    sequence: u64,
}

impl Visitor for Roles {
    fn unsigned(&mut self, class: &IntegerClass, value: u64) {
        self.variable_unsigned(class, value, class.size);
    }

    fn blob(&mut self, role: Option<Role>, bytes: &[u8]) {
        if role == Some(Role::TraceUuid) {
            self.uuid.extend_from_slice(bytes);
        }
    }

    fn variable_unsigned(&mut self, class: &IntegerClass, value: u64, bits: u32) {
        match class.role {
            Some(Role::PacketMagic) => self.magic = Some(value),
            Some(Role::TraceUuid) => self.uuid.push(value as u8),
            Some(Role::StreamClassId) => self.class_id = Some(value),
            Some(Role::StreamId) => self.stream_id = Some(value),
            Some(Role::PacketTotalLength) => self.total_bits = Some(value),
            Some(Role::PacketContentLength) => self.content_bits = Some(value),
            Some(Role::PacketBegin) => self.begin = Some((value, bits)),
            Some(Role::PacketEnd) => self.end = Some((value, bits)),
            Some(Role::DiscardedEvents) => self.discarded = value,
            Some(Role::PacketSequenceNumber) => self.sequence = value,
            Some(Role::EventClassId | Role::Timestamp) | None => {}
        }
    }

    fn signed(&mut self, class: &IntegerClass, value: i64) {
        // Counters and times run through all values of their bits, whatever sign they are declared with.
        self.unsigned(class, bits::low_bits(value as u64, class.size));
    }
}

/// Why the scan of a file cannot go on, or a packet cannot be used.
enum Bad {
    /// Where the next packet begins is unknown.
    Tail(String),
    /// Only this packet of so many bits is lost.
    Packet(String, u64),
}

/// Hands all packets of a file that can be used to `found`; complaints go to `complaints`. Linear in the number of
/// packets.
pub(crate) fn packets(
    plan: &Plan,
    uuid: Option<Uuid>,
    path: &Path,
    bytes: &[u8],
    complaints: &mut Complaints,
    mut found: impl FnMut(Scanned),
) {
    let mut offset = 0;
    let mut number = 0;
    let mut scan = Scan { plan, uuid, slots: plan.new_slots(), times: HashMap::new() };
    while offset < bytes.len() {
        let mut complain = |severity, message| {
            let at = Some(offset as u64);
            complaints.add(severity, || Diagnostic {
                severity,
                path: path.to_owned(),
                packet: Some(number),
                offset: at,
                message,
            });
        };
        let bits = match scan.packet_at(&bytes[offset..]) {
            Ok((mut scanned, notes)) => {
                notes.into_iter().flatten().for_each(|note| complain(Severity::Note, note.to_owned()));
                scanned.packet.number = number;
                scanned.packet.offset = offset as u64;
                let bits = scanned.packet.total_bits;
                found(scanned);
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
}

/// The scan of one file.
struct Scan<'p> {
    plan: &'p Plan,
    uuid: Option<Uuid>,
    slots: Vec<u64>,
    /// Times of the packet before, for streams whose begins are narrower than the clock.
    times: HashMap<(usize, Option<u64>), Times>,
}

type Notes = [Option<&'static str>; 2];

impl Scan<'_> {
    /// Reads the header of the packet at the begin of `bytes`.
    fn packet_at(&mut self, bytes: &[u8]) -> Result<(Scanned, Notes), Bad> {
        let plan = self.plan;
        let available = bytes.len() as u64 * 8;
        let mut cursor = Cursor::new(bytes);
        let mut roles = Roles::default();
        let tail = |error: DecodeError| Bad::Tail(format!("no packet header: {error}"));
        if let Some(header) = &plan.packet_header {
            walk(header, &mut cursor, &mut self.slots, &mut roles).map_err(tail)?;
        }
        let class_id = roles.class_id;
        let wrong_magic = roles.magic.filter(|&magic| magic != MAGIC);
        let magic_message = |magic: u64| format!("its magic number is {magic:#x}, not {MAGIC:#x}");
        let Some(class) = plan.stream(class_id) else {
            if let Some(magic) = wrong_magic {
                return Err(Bad::Tail(format!("no packet: {}", magic_message(magic))));
            }
            let message = format!("no stream class has the id {}", class_id.unwrap_or(0));
            return Err(match self.shared_size(&mut cursor, roles) {
                Some(total_bits) => Bad::Packet(message, total_bits),
                None => Bad::Tail(message),
            });
        };
        let stream = &plan.streams[class];
        if let Some(context) = &stream.packet_context {
            walk(context, &mut cursor, &mut self.slots, &mut roles).map_err(tail)?;
        }
        // A packet that tells only its content has no padding.
        let content = roles.content_bits.map(|bits| bits.saturating_add(7) & !7);
        let total_bits = roles.total_bits.or(content).unwrap_or(available);
        let content_bits = roles.content_bits.unwrap_or(total_bits);
        if let Some(magic) = wrong_magic {
            // A size that a packet could have is trusted to lead to the next one.
            let message = magic_message(magic);
            let plausible = is_plausible(total_bits, &cursor);
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
        let other_trace =
            self.uuid.is_some_and(|uuid| !roles.uuid.is_empty() && roles.uuid != *uuid.as_bytes());
        let (begin, end) = self.extended((class, roles.stream_id), roles.begin, roles.end);
        let ends_early = begin.zip(end).is_some_and(|(begin, end)| end < begin);
        let notes = [
            other_trace.then_some("the packet carries the uuid of another trace; read all the same"),
            ends_early.then_some("the packet ends before it begins; read all the same"),
        ];
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
        Ok((Scanned { packet, class, stream_id: roles.stream_id }, notes))
    }

    /// The size of a packet of an unknown class, where the contexts of all classes begin in the same way.
    fn shared_size(&mut self, cursor: &mut Cursor<'_>, mut roles: Roles) -> Option<u64> {
        let Node { align, kind: NodeKind::Struct(members), .. } =
            self.plan.streams.first()?.packet_context.as_ref()?
        else {
            return None;
        };
        cursor.align(*align);
        for (_, member) in &members[..self.plan.size_members] {
            walk(member, cursor, &mut self.slots, &mut roles).ok()?;
        }
        roles.total_bits.filter(|&total_bits| is_plausible(total_bits, cursor))
    }

    /// Begin and end of a packet; what is narrower than the clock is extended by the packet before.
    fn extended(
        &mut self,
        stream: (usize, Option<u64>),
        begin: Option<(u64, u32)>,
        end: Option<(u64, u32)>,
    ) -> (Option<u64>, Option<u64>) {
        let full = |(value, bits): (u64, u32)| (bits >= u64::BITS).then_some(value);
        let extended_begin = begin.map(|(value, bits)| {
            full((value, bits)).unwrap_or_else(|| Times::begin(self.times.get(&stream), value, bits))
        });
        let extended_end = end.map(|(value, bits)| Times::end(extended_begin.unwrap_or(0), value, bits));
        if begin.is_some_and(|begin| full(begin).is_none()) {
            self.times.insert(stream, Times::of(extended_begin.unwrap_or(0), extended_end));
        }
        (extended_begin, extended_end)
    }
}

/// Whether a packet whose header ends at the cursor can have this size.
fn is_plausible(total_bits: u64, cursor: &Cursor<'_>) -> bool {
    total_bits.is_multiple_of(8) && (cursor.at.max(1)..=cursor.limit).contains(&total_bits)
}

/// Compares the entries of an index with the packets, one after the other.
pub(crate) struct IndexCheck {
    entries: Vec<IndexEntry>,
    /// How many packets agreed before the first that did not.
    agreeing: usize,
    disagreed: bool,
}

impl IndexCheck {
    pub(crate) fn new(entries: Vec<IndexEntry>) -> Self {
        Self { entries, agreeing: 0, disagreed: false }
    }

    pub(crate) fn next(&mut self, p: &Packet, stream_class: u64) {
        let same = |entry: &IndexEntry| {
            entry.offset == p.offset
                && entry.total_bits == p.total_bits
                && entry.content_bits == p.content_bits
                && p.begin.is_none_or(|begin| begin == entry.begin)
                && p.end.is_none_or(|end| end == entry.end)
                && entry.stream_class == stream_class
        };
        self.disagreed |= !self.entries.get(self.agreeing).is_some_and(same);
        self.agreeing += usize::from(!self.disagreed);
    }

    /// The first entry that differs from the packets themselves; `None` where they agree.
    pub(crate) fn first_disagreement(&self) -> Option<usize> {
        (self.disagreed || self.agreeing < self.entries.len()).then_some(self.agreeing)
    }
}
