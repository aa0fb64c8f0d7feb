//! The log of one CPU, cut into packets and encoded.
//!
//! [`crate::lttng`] fills the logs and puts the packets into files. Where a packet ends is decided before it is written,
//! because its head holds counts that are known at its end only.

use std::ops::Range;

use isochrone_ctf::Value;
use isochrone_ctf::plan::extend_time;
use isochrone_ctf::write::{EncodeError, PacketHead, PacketWriter};

use crate::compiled::{Body, Compiled};
use crate::metadata::EventHeader;

/// First word of a packet.
const MAGIC: u64 = 0xc1fc_1fc1;
/// Bits of packet header and context: 32 and 52 bytes in every layout.
const HEAD_BITS: u64 = (32 + 52) * 8;

/// What was recorded on one CPU, in order.
#[derive(Debug, Default)]
pub(crate) struct CpuLog {
    entries: Vec<Entry>,
    /// The bodies of most events, one after the other.
    bytes: Vec<u8>,
    last: u64,
    events: u64,
}

#[derive(Debug)]
enum Entry {
    Event { cycles: u64, class: usize, body: Place },
    Cut,
    Discard(u64),
}

/// Where the body of an event is.
#[derive(Debug)]
enum Place {
    Bytes(Range<usize>),
    Values(Box<(Vec<Value>, u64)>),
}

/// A packet to be written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    /// Its part of the entries.
    entries: Range<usize>,
    /// The rotation chunk that it belongs to.
    pub(crate) chunk: usize,
    pub(crate) begin: u64,
    pub(crate) end: u64,
    /// Events discarded so far.
    discarded: u64,
    sequence: u64,
}

/// How events lie in packets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Geometry {
    pub(crate) header: EventHeader,
    pub(crate) aligned: bool,
    pub(crate) packet_bits: u64,
}

impl CpuLog {
    /// Time of the last event.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    pub(crate) fn event(&mut self, cycles: u64, class: usize, body: Body) {
        let body = match body {
            Body::Bytes(bytes) => {
                let start = self.bytes.len();
                self.bytes.extend(bytes);
                Place::Bytes(start..self.bytes.len())
            }
            Body::Values(values, bits) => Place::Values(Box::new((values, bits))),
        };
        self.entries.push(Entry::Event { cycles, class, body });
        self.last = cycles;
        self.events += 1;
    }

    pub(crate) fn cut(&mut self) {
        self.entries.push(Entry::Cut);
    }

    pub(crate) fn discard(&mut self, count: u64) {
        self.entries.push(Entry::Discard(count));
    }

    /// Divides the log: at full packets, where asked, and at the times of rotation.
    pub(crate) fn packets(&self, compiled: &Compiled, geometry: Geometry, rotations: &[u64]) -> Vec<Packet> {
        let mut cutter = Cutter::default();
        for (n, entry) in self.entries.iter().enumerate() {
            match entry {
                Entry::Cut => {
                    cutter.open(n, cutter.last);
                    cutter.close(n);
                }
                Entry::Discard(count) => {
                    cutter.discarded += count;
                    cutter.unreported |= *count > 0;
                }
                Entry::Event { cycles, class, body } => {
                    while rotations.get(cutter.chunk).is_some_and(|rotation| cycles >= rotation) {
                        cutter.close(n);
                        cutter.chunk += 1;
                    }
                    let id = compiled.event_plan(*class).id;
                    let align = compiled.body_align(*class);
                    let after = |at: u64, now: u64| {
                        let body_at =
                            at_multiple(geometry.event_header_end(at, now, id, *cycles), align.into());
                        body_at + body.bits()
                    };
                    if let Some(open) = &cutter.open
                        && after(open.at, cutter.last) > geometry.packet_bits
                    {
                        cutter.close(n);
                    }
                    let now = if cutter.open.is_some() { cutter.last } else { *cycles };
                    let open = cutter.open(n, *cycles);
                    open.at = after(open.at, now);
                    cutter.last = *cycles;
                }
            }
        }
        let end = self.entries.len();
        if cutter.unreported {
            cutter.open(end, cutter.last);
        }
        cutter.close(end);
        cutter.packets
    }

    /// Writes the events of a packet between its head and its end.
    pub(crate) fn encode(
        &self,
        packet: &Packet,
        head: &HeadValues,
        compiled: &Compiled,
        writer: &mut PacketWriter<'_>,
    ) -> Result<(), EncodeError> {
        writer.begin(head.of(packet))?;
        for entry in &self.entries[packet.entries.clone()] {
            let Entry::Event { cycles, class, body } = entry else { continue };
            writer.event(compiled.event_plan(*class), *cycles, None)?;
            match body {
                Place::Bytes(range) => {
                    writer.body_bytes(&self.bytes[range.clone()]);
                }
                Place::Values(values) => {
                    for (node, value) in compiled.nodes(*class).zip(&values.0) {
                        writer.field(node, value)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Place {
    /// Bits that the body takes, nearly.
    fn bits(&self) -> u64 {
        match self {
            Self::Bytes(range) => range.len() as u64 * 8,
            Self::Values(values) => values.1,
        }
    }
}

/// Gathers entries to packets.
#[derive(Debug, Default)]
struct Cutter {
    packets: Vec<Packet>,
    open: Option<OpenPacket>,
    chunk: usize,
    last: u64,
    discarded: u64,
    /// Whether events were discarded that no packet has counted yet.
    unreported: bool,
}

#[derive(Debug)]
struct OpenPacket {
    first: usize,
    begin: u64,
    /// Where its content ends.
    at: u64,
}

impl Cutter {
    fn open(&mut self, first: usize, begin: u64) -> &mut OpenPacket {
        self.open.get_or_insert(OpenPacket { first, begin, at: HEAD_BITS })
    }

    fn close(&mut self, end: usize) {
        let Some(OpenPacket { first, begin, .. }) = self.open.take() else { return };
        self.packets.push(Packet {
            entries: first..end,
            chunk: self.chunk,
            begin,
            end: self.last,
            discarded: self.discarded,
            sequence: self.packets.len() as u64,
        });
        self.unreported = false;
    }
}

impl Geometry {
    /// Where the header of an event ends that begins at `at` or at the next border.
    fn event_header_end(self, at: u64, now: u64, id: u64, cycles: u64) -> u64 {
        let align = |bits: u64| if self.aligned { bits } else { 8 };
        let (id_bits, time_bits, header_align) = match self.header {
            EventHeader::Compact => (5, 27, align(32)),
            EventHeader::Large => (16, 32, align(16)),
        };
        let after_id = at_multiple(at, header_align) + id_bits;
        let low = cycles & ((1 << time_bits) - 1);
        if id < (1 << id_bits) - 1 && extend_time(now, low, time_bits) == cycles {
            let time_align = if self.header == EventHeader::Compact { 1 } else { align(32) };
            at_multiple(after_id, time_align) + u64::from(time_bits)
        } else {
            at_multiple(at_multiple(after_id, align(64)) + 32, align(64)) + 64
        }
    }
}

fn at_multiple(at: u64, align: u64) -> u64 {
    at.next_multiple_of(align)
}

/// What the packets of a stream have in common.
#[derive(Debug)]
pub(crate) struct HeadValues {
    pub(crate) uuid: [u8; 16],
    /// The number of the class of streams.
    pub(crate) channel: u32,
    pub(crate) cpu: u32,
}

impl HeadValues {
    fn of(&self, packet: &Packet) -> PacketHead {
        self.values(packet.begin, packet.sequence, packet.discarded)
    }

    /// The head of a packet of a stream without losses.
    pub(crate) fn at(&self, begin: u64, sequence: u64) -> PacketHead {
        self.values(begin, sequence, 0)
    }

    /// Sizes and times are filled in by the packet writer.
    fn values(&self, begin: u64, sequence: u64, discarded: u64) -> PacketHead {
        let uuid = self.uuid.iter().map(|&byte| Value::Unsigned(byte.into())).collect();
        let cpu = Value::Unsigned(self.cpu.into());
        let zero = || Value::Unsigned(0);
        let channel = Value::Unsigned(self.channel.into());
        let header = [Value::Unsigned(MAGIC), Value::Array(uuid), channel, cpu.clone()];
        let counts = [Value::Unsigned(sequence), Value::Unsigned(discarded), cpu];
        let context = [zero(), zero(), zero(), zero()].into_iter().chain(counts);
        PacketHead {
            header: Some(Value::Struct(header.into())),
            context: Some(Value::Struct(context.collect())),
            begin,
        }
    }
}
