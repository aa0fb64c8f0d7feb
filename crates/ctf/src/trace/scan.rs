//! Finding the packets of a stream file by hopping from header to header, as far as the file goes; it may
//! grow.

use std::collections::HashMap;
use std::path::Path;

use isochrone_diagnostic::{Diagnostic, DiagnosticLog, Severity};
use uuid::Uuid;

use super::times::Times;
use crate::bits;
use crate::error::DecodeError;
use crate::plan::{Cursor, Node, NodeKind, Plan, Visitor, walk};
use crate::schema::{IntegerClass, Role};

/// First word of a packet that has a magic number.
const MAGIC: u64 = 0xc1fc_1fc1;

/// This many packets of a trace may be as small as they like.
const FREE_PACKETS: u64 = 1 << 17;

/// Beyond [`FREE_PACKETS`], packets have at least this many bytes on the average: each takes [`Packet`]s of
/// memory, and no tracer writes packets that hold little more than their heads.
const MIN_PACKET_BYTES: u64 = 32;

/// Number of packets a trace has, and their bytes: of all its files.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Tally {
    packets: u64,
    bytes: u64,
}

impl Tally {
    pub(super) fn add(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }

    fn count(&mut self, packet: &Packet) {
        self.add(Self { packets: 1, bytes: packet.total_bits / 8 });
    }

    /// Why no more packets are looked for.
    fn is_exceeded(self) -> Option<String> {
        let least = self.packets.saturating_sub(FREE_PACKETS).saturating_mul(MIN_PACKET_BYTES);
        (self.bytes < least).then(|| {
            format!(
                "the trace has {} packets before them, of {} bytes on the average: beyond {FREE_PACKETS} packets they must be larger",
                self.packets,
                self.bytes / self.packets.max(1)
            )
        })
    }
}

/// Where a packet is and what its header says. Kept for every packet of a trace, and packets can be tiny: 72
/// bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// Index of its file in the trace.
    pub(crate) file: u32,
    /// Number in its file, packets that were skipped included.
    pub number: u32,
    /// Byte of the file where it begins.
    pub offset: u64,
    /// Size in bits, padding included; a multiple of 8.
    pub total_bits: u64,
    /// Size in bits up to the end of its last event.
    pub content_bits: u64,
    /// Free-running count of discarded events; 0 where the class has none.
    pub(crate) discarded: u64,
    /// Number in its stream; 0 where the class has none.
    pub(crate) sequence: u64,
    begin: u64,
    end: u64,
    /// Where its first event may begin.
    pub(super) header_bits: u32,
    has_begin: bool,
    end_known: EndKnown,
    /// Whether it says nothing of its size: it takes what is left of the file, and grows with it.
    pub(super) open_ended: bool,
}

/// Whether a packet records when it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndKnown {
    No,
    /// In fewer bits than the clock has.
    LowBits,
    Whole,
}

impl Packet {
    /// Time at its begin in cycles.
    #[inline]
    pub fn begin(&self) -> Option<u64> {
        self.has_begin.then_some(self.begin)
    }

    /// Time at its end in cycles.
    #[inline]
    pub fn end(&self) -> Option<u64> {
        (self.end_known != EndKnown::No).then_some(self.end)
    }

    /// Whether its end may be wraps of its few bits too early.
    pub(super) fn has_narrow_end(&self) -> bool {
        self.end_known == EndKnown::LowBits
    }
}

/// A packet that was found, and the stream it belongs to.
pub(super) struct Scanned {
    pub(super) packet: Packet,
    /// Index of its stream class.
    pub(super) class: usize,
    pub(super) stream_id: Option<u64>,
    /// Whether it was handed out before: see [`Scan::find_skipped`].
    pub(super) known: bool,
    /// The uuid that it carries if it is not the trace's.
    other_uuid: Option<Uuid>,
}

/// Whose packets a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// A packet is of this trace, or says nothing.
    Own,
    /// All packets carry the uuid of another trace, the first one this.
    Other(Uuid),
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

/// Why the scan of a file cannot continue, or a packet cannot be used.
enum ScanError {
    /// Where the next packet begins is unknown.
    Tail(String),
    /// Only this packet of this many bits is lost.
    Packet { message: String, bits: u64, unknown_class: bool },
}

/// What distinguishes packets of a trace from other bytes.
#[derive(Clone, Copy)]
pub(super) struct Description<'d> {
    pub(super) plan: &'d Plan,
    pub(super) uuid: Option<Uuid>,
}

impl Origin {
    /// The uuid of the other trace.
    pub(super) fn other(self) -> Option<Uuid> {
        match self {
            Self::Own => None,
            Self::Other(uuid) => Some(uuid),
        }
    }
}

impl Description<'_> {
    /// Whose packets a file holds; `None` where it has none yet. Looks no further than to the first packet of
    /// this trace.
    pub(super) fn origin(self, bytes: &[u8]) -> Option<Origin> {
        let (mut times, mut slots) = (HashMap::new(), self.plan.new_slots());
        let mut reader = HeaderReader { description: self, times: &mut times, slots: &mut slots };
        let (mut other, mut offset) = (None, 0);
        while let Some(rest) = bytes.get(offset..).filter(|rest| !rest.is_empty()) {
            let bits = match reader.packet_at(rest) {
                Ok((Scanned { other_uuid: None, .. }, _)) => return Some(Origin::Own),
                Ok((Scanned { other_uuid: Some(uuid), packet, .. }, _)) => {
                    other.get_or_insert(Origin::Other(uuid));
                    packet.total_bits
                }
                Err(ScanError::Packet { bits, .. }) => bits,
                Err(ScanError::Tail(_)) => break,
            };
            offset += (bits / 8) as usize;
        }
        other
    }
}

/// How far a file has been searched for packets, and what those after need to know. The file may grow.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Byte where the next packet begins.
    offset: usize,
    /// Its number in the file.
    number: u32,
    /// Whether it has been found and is open-ended: it may get more bytes.
    open: bool,
    /// End of the last packet that was found.
    end: usize,
    /// Size of the packet before.
    last_bits: Option<u64>,
    /// What was handed out.
    tally: Tally,
    /// Times of the packet before, for streams whose begins are narrower than the clock; by the stream's
    /// class id and number.
    times: HashMap<(u64, Option<u64>), Times>,
    complaints: DiagnosticLog,
    /// Why nothing after `offset` can be used as long as the file is as it is.
    tail: Option<Diagnostic>,
    /// Whether packets were skipped because no stream class has their id.
    skipped_unknown: bool,
    /// Where packets up to a byte have been handed out before if their class is one of these (by id).
    before: Option<(usize, Vec<u64>)>,
}

impl Scan {
    /// What was wrong with the packets. A packet that was cut off comes last, and only as long as it is.
    pub(super) fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.complaints.as_slice().iter().chain(&self.tail)
    }

    /// End of the last packet that was found, in bytes.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// What was handed out so far.
    pub(super) fn tally(&self) -> Tally {
        self.tally
    }

    /// Whether there can be something new in a file of this length.
    pub(super) fn is_done(&self, length: usize) -> bool {
        self.tail.is_none() && self.end == length && self.before.is_none()
    }

    /// Begins again if packets were skipped because no stream class had their id: for metadata that have new
    /// classes. `known` are the ids of the classes before. All complaints are made again.
    pub(super) fn find_skipped(&mut self, known: &[u64]) -> bool {
        let again = self.skipped_unknown;
        if again {
            *self = Self { before: Some((self.offset, known.to_vec())), ..Self::default() };
        }
        again
    }

    /// Hands all further packets of a file that can be used to `found`. Linear in their number. `all` counts
    /// those of all files.
    pub(super) fn run(
        &mut self,
        description: Description<'_>,
        path: &Path,
        bytes: &[u8],
        all: &mut Tally,
        mut found: impl FnMut(Scanned),
    ) {
        self.tail = None;
        let mut slots = description.plan.new_slots();
        while self.offset < bytes.len() {
            let (offset, number) = (self.offset, self.number);
            let at = |diagnostic: Diagnostic| diagnostic.at(u64::from(number), offset as u64);
            let tail = |message: String| {
                let left = bytes.len() - offset;
                let message = format!("the last {left} bytes of the file are skipped: {message}");
                at(Diagnostic::loss(path, message))
            };
            let Some(next_number) = number.checked_add(1) else {
                self.tail = Some(tail(format!("more than {number} packets are not counted")));
                break;
            };
            if let Some(why) = all.is_exceeded() {
                self.tail = Some(tail(why));
                break;
            }
            let mut reader = HeaderReader { description, times: &mut self.times, slots: &mut slots };
            let bits = match reader.packet_at(&bytes[offset..]) {
                Ok((mut scanned, notes)) => {
                    // What was noted when an open-ended packet was found first need not be said again.
                    for note in notes.into_iter().flatten().filter(|_| !self.open) {
                        self.complaints.add(Severity::Note, || at(Diagnostic::note(path, note)));
                    }
                    if let Some(bits) = self.last_bits
                        && reader.has_swallowed(&scanned.packet, &bytes[offset..], bits)
                    {
                        let (told, size) = (scanned.packet.total_bits / 8, bits / 8);
                        self.complaints.add(Severity::Note, || {
                            let message = format!(
                                "another packet begins within its {told} bytes: it is taken to be {size} bytes long, as the one before"
                            );
                            at(Diagnostic::note(path, message))
                        });
                        scanned.packet.total_bits = bits;
                    }
                    self.last_bits = Some(scanned.packet.total_bits);
                    scanned.packet.number = number;
                    scanned.packet.offset = offset as u64;
                    scanned.known = self.is_known(offset, description.plan.streams[scanned.class].id);
                    let bits = scanned.packet.total_bits;
                    self.open = scanned.packet.open_ended;
                    self.tally.count(&scanned.packet);
                    all.count(&scanned.packet);
                    found(scanned);
                    bits
                }
                Err(ScanError::Packet { message, bits, unknown_class }) => {
                    self.skipped_unknown |= unknown_class;
                    let message = format!("packet skipped: {message}");
                    self.complaints.add(Severity::Loss, || at(Diagnostic::loss(path, message)));
                    bits
                }
                Err(ScanError::Tail(message)) => {
                    self.tail = Some(tail(message));
                    break;
                }
            };
            self.end = offset + (bits / 8) as usize;
            if self.open {
                break;
            }
            (self.offset, self.number) = (self.end, next_number);
        }
        self.before.take_if(|(end, _)| *end <= self.offset);
    }

    /// Whether a packet at this byte, of the class with this id, was handed out before.
    fn is_known(&self, offset: usize, class: u64) -> bool {
        self.before.as_ref().is_some_and(|(end, classes)| offset < *end && classes.contains(&class))
    }
}

impl ScanError {
    fn packet(message: String, bits: u64) -> Self {
        Self::Packet { message, bits, unknown_class: false }
    }
}

/// Reads packet headers.
struct HeaderReader<'s> {
    description: Description<'s>,
    times: &'s mut HashMap<(u64, Option<u64>), Times>,
    slots: &'s mut [u64],
}

type Notes = [Option<&'static str>; 2];

impl HeaderReader<'_> {
    /// Reads the header of the packet at the start of `bytes`.
    fn packet_at(&mut self, bytes: &[u8]) -> Result<(Scanned, Notes), ScanError> {
        let Description { plan, uuid } = self.description;
        let available = bytes.len() as u64 * 8;
        let mut cursor = Cursor::new(bytes);
        let mut roles = Roles::default();
        let tail = |error: DecodeError| ScanError::Tail(format!("no packet header: {error}"));
        if let Some(header) = &plan.packet_header {
            walk(header, &mut cursor, self.slots, &mut roles).map_err(tail)?;
        }
        let class_id = roles.class_id;
        let wrong_magic = roles.magic.filter(|&magic| magic != MAGIC);
        let magic_message = |magic: u64| format!("its magic number is {magic:#x}, not {MAGIC:#x}");
        let Some(class) = plan.stream(class_id) else {
            if let Some(magic) = wrong_magic {
                return Err(ScanError::Tail(format!("no packet: {}", magic_message(magic))));
            }
            let message = format!("no stream class has the id {}", class_id.unwrap_or(0));
            return Err(match self.shared_size(&mut cursor, roles) {
                Some(bits) => ScanError::Packet { message, bits, unknown_class: true },
                None => ScanError::Tail(message),
            });
        };
        let stream = &plan.streams[class];
        if let Some(context) = &stream.packet_context {
            walk(context, &mut cursor, self.slots, &mut roles).map_err(tail)?;
        }
        // A packet that records only the size of its content has no padding.
        let content = roles.content_bits.map(|bits| bits.saturating_add(7) & !7);
        let recorded_bits = roles.total_bits.or(content);
        let total_bits = recorded_bits.unwrap_or(available);
        let content_bits = roles.content_bits.unwrap_or(total_bits);
        if let Some(magic) = wrong_magic {
            // A size that a packet could have is trusted to lead to the next one.
            let message = magic_message(magic);
            let plausible = is_plausible(total_bits, &cursor);
            return Err(if plausible {
                ScanError::packet(message, total_bits)
            } else {
                ScanError::Tail(message)
            });
        }
        if !total_bits.is_multiple_of(8) || total_bits < cursor.at {
            return Err(ScanError::Tail(format!("a packet of {total_bits} bits is impossible")));
        }
        if total_bits > available {
            return Err(ScanError::Tail(format!("a packet of {} bytes was cut off", total_bits / 8)));
        }
        if content_bits > total_bits || content_bits < cursor.at {
            return Err(ScanError::packet(
                format!("content of {content_bits} bits is impossible"),
                total_bits,
            ));
        }
        let Ok(header_bits) = u32::try_from(cursor.at) else {
            return Err(ScanError::packet(format!("a head of {} bits is too long", cursor.at), total_bits));
        };
        let carried = Uuid::from_slice(&roles.uuid).ok();
        let other_uuid = uuid.and_then(|own| carried.filter(|&carried| carried != own));
        let open_ended = recorded_bits.is_none();
        let (begin, end) = self.extended((stream.id, roles.stream_id), open_ended, roles.begin, roles.end);
        let ends_early = begin.zip(end).is_some_and(|(begin, end)| end < begin);
        let notes = [
            other_uuid.is_some().then_some("the packet carries the uuid of another trace; read all the same"),
            ends_early.then_some("the packet ends before it begins; read all the same"),
        ];
        let packet = Packet {
            file: 0,
            number: 0,
            offset: 0,
            total_bits,
            content_bits,
            discarded: roles.discarded,
            sequence: roles.sequence,
            begin: begin.unwrap_or(0),
            end: end.unwrap_or(0),
            header_bits,
            has_begin: begin.is_some(),
            end_known: match roles.end {
                None => EndKnown::No,
                Some((_, bits)) if bits < u64::BITS => EndKnown::LowBits,
                Some(_) => EndKnown::Whole,
            },
            open_ended,
        };
        Ok((Scanned { packet, class, stream_id: roles.stream_id, known: false, other_uuid }, notes))
    }

    /// Whether a packet has a damaged size, which reaches over the next one: that begins, with its magic
    /// number, where this one would end if it had this many bits, and all of its content is before. Tracers
    /// give all packets of a file one size.
    fn has_swallowed(&mut self, packet: &Packet, bytes: &[u8], bits: u64) -> bool {
        let is_possible = bits < packet.total_bits && packet.content_bits <= bits && bits.is_multiple_of(8);
        let Some(next) =
            usize::try_from(bits / 8).ok().filter(|_| is_possible).and_then(|at| bytes.get(at..))
        else {
            return false;
        };
        let Description { plan, uuid } = self.description;
        let mut roles = Roles::default();
        let is_read = plan
            .packet_header
            .as_ref()
            .is_some_and(|header| walk(header, &mut Cursor::new(next), self.slots, &mut roles).is_ok());
        let carried = Uuid::from_slice(&roles.uuid).ok();
        is_read
            && roles.magic == Some(MAGIC)
            && carried.is_none_or(|carried| uuid.is_none_or(|own| own == carried))
    }

    /// The size of a packet of an unknown class, where the contexts of all classes begin in the same way.
    fn shared_size(&mut self, cursor: &mut Cursor<'_>, mut roles: Roles) -> Option<u64> {
        let Node { align, kind: NodeKind::Struct(members), .. } =
            self.description.plan.streams.first()?.packet_context.as_ref()?
        else {
            return None;
        };
        cursor.align(*align);
        for (_, member) in &members[..self.description.plan.size_members] {
            walk(member, cursor, self.slots, &mut roles).ok()?;
        }
        roles.total_bits.filter(|&total_bits| is_plausible(total_bits, cursor))
    }

    /// Start and end of a packet; what is narrower than the clock is extended by the packet before.
    fn extended(
        &mut self,
        stream: (u64, Option<u64>),
        open_ended: bool,
        begin: Option<(u64, u32)>,
        end: Option<(u64, u32)>,
    ) -> (Option<u64>, Option<u64>) {
        let full = |(value, bits): (u64, u32)| (bits >= u64::BITS).then_some(value);
        let extended_begin = begin.map(|(value, bits)| {
            full((value, bits)).unwrap_or_else(|| Times::begin(self.times.get(&stream), value, bits))
        });
        let extended_end = end.map(|(value, bits)| Times::end(extended_begin.unwrap_or(0), value, bits));
        // No packet of the file comes after an open-ended one.
        if begin.is_some_and(|begin| full(begin).is_none()) && !open_ended {
            self.times.insert(stream, Times::of(extended_begin.unwrap_or(0), extended_end));
        }
        (extended_begin, extended_end)
    }
}

/// Whether a packet whose header ends at the cursor can have this size.
fn is_plausible(total_bits: u64, cursor: &Cursor<'_>) -> bool {
    total_bits.is_multiple_of(8) && (cursor.at.max(1)..=cursor.limit).contains(&total_bits)
}
