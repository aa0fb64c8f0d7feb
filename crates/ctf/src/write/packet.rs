//! One packet after the other: head, events, then sizes and times filled in.

use super::encode::{BitWriter, EncodeError, encode, for_roles};
use crate::bits;
use crate::plan::{EventPlan, Node, NodeKind, Plan, StreamPlan, extend_time};
use crate::schema::{Role, Scope};
use crate::trace::Event;
use crate::trace::index::IndexEntry;
use crate::value::{Value, ValueVisitor};

/// Packets that outgrow the size they were given end at a multiple of this many bytes, as the tracer's own do.
const PAGE_BITS: u64 = 4096 * 8;

/// The values at the head of a packet. Sizes and times in them are filled in by the writer; all else is kept.
#[derive(Debug, Clone)]
pub struct PacketHead {
    /// Value of the packet header, if the trace has one.
    pub header: Option<Value>,
    /// Value of the packet context, if the stream class has one.
    pub context: Option<Value>,
    /// Time at the packet's begin in cycles.
    pub begin: u64,
}

/// Builds the packets of one stream.
#[derive(Debug)]
pub struct PacketWriter<'p> {
    plan: &'p Plan,
    stream: &'p StreamPlan,
    out: BitWriter,
    head: PacketHead,
    now: u64,
    /// Byte where the packet will lie in its file.
    offset: u64,
}

/// A finished packet.
#[derive(Debug)]
pub struct WrittenPacket<'w> {
    /// Its bytes, padding included.
    pub bytes: &'w [u8],
    /// Its entry for the index of the file.
    pub entry: IndexEntry,
}

impl<'p> PacketWriter<'p> {
    /// A writer for the stream class at `class` of a plan.
    pub fn new(plan: &'p Plan, class: usize) -> Self {
        Self::at(plan, class, 0)
    }

    /// A writer whose first packet lies at this byte of its file.
    pub(super) fn at(plan: &'p Plan, class: usize, offset: u64) -> Self {
        let head = PacketHead { header: None, context: None, begin: 0 };
        let stream = &plan.streams[class];
        Self { plan, stream, out: BitWriter::default(), head, now: 0, offset }
    }

    /// Begins a packet.
    ///
    /// # Errors
    /// The head is of another shape than the schema says.
    pub fn begin(&mut self, head: PacketHead) -> Result<(), EncodeError> {
        self.out.clear();
        self.now = head.begin;
        self.head = head;
        self.write_head()
    }

    fn write_head(&mut self) -> Result<(), EncodeError> {
        let nodes = [&self.plan.packet_header, &self.stream.packet_context];
        for (node, value) in nodes.into_iter().zip([&self.head.header, &self.head.context]) {
            if let Some(node) = node {
                encode(node, value.as_ref().ok_or(EncodeError::Mismatch)?, &mut self.out)?;
            }
        }
        Ok(())
    }

    /// Begins an event: writes its header, in the short form where the time allows it. The body must follow.
    ///
    /// `generic` is the value of a header that is not LTTng's; its time is filled in.
    ///
    /// # Errors
    /// The time does not fit the header, or a generic header is missing or of another shape.
    pub fn event(
        &mut self,
        class: &EventPlan,
        cycles: u64,
        generic: Option<Value>,
    ) -> Result<(), EncodeError> {
        if let Some(header) = &self.stream.event_header {
            match LttngHeader::of(header).filter(|_| generic.is_none()) {
                Some(lttng) => lttng.write(&mut self.out, class.id, self.now, cycles),
                None => self.generic_header(header, cycles, generic.ok_or(EncodeError::Mismatch)?)?,
            }
        }
        self.out.align(class.body_align);
        self.now = cycles;
        Ok(())
    }

    fn generic_header(&mut self, node: &Node, cycles: u64, mut value: Value) -> Result<(), EncodeError> {
        // What a reader will make of the header: the last stamp in it counts.
        let mut read_back = None;
        let now = self.now;
        for_roles(node, &mut value, &mut |role, class, raw| {
            if role == Role::Timestamp {
                *raw = cycles & (u64::MAX >> (64 - class.size));
                read_back = Some((extend_time(now, *raw, class.size), class.size));
            }
        });
        match read_back {
            Some((time, bits)) if time != cycles => Err(EncodeError::TimeGap { bits }),
            _ => encode(node, &value, &mut self.out),
        }
    }

    /// Begins an event with the body of another one of the same class and plan: contexts and payload stay as they are.
    ///
    /// # Errors
    /// As [`Self::event`].
    pub fn copy_event(&mut self, event: &Event<'_>, cycles: u64) -> Result<(), EncodeError> {
        let generic = match &self.stream.event_header {
            Some(header) if LttngHeader::of(header).is_none() => {
                Some(event.header_value().ok_or(EncodeError::Mismatch)?)
            }
            _ => None,
        };
        let class = event.class();
        self.event(class, cycles, generic)?;
        // Bytes can be copied where the padding between fields comes out the same.
        let (bytes, start, end) = event.body();
        let moved = start.abs_diff(self.out.at());
        if start.is_multiple_of(8)
            && end.is_multiple_of(8)
            && moved.is_multiple_of(class.max_align.max(8).into())
        {
            self.out.bytes_aligned(&bytes[(start / 8) as usize..(end / 8) as usize]);
            return Ok(());
        }
        for scope in [Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
            let Some(node) = event.node(scope) else { continue };
            let mut visitor = ValueVisitor::default();
            event.visit(scope, &mut visitor).map_err(|_| EncodeError::Mismatch)?;
            encode(node, &visitor.into_value().ok_or(EncodeError::Mismatch)?, &mut self.out)?;
        }
        Ok(())
    }

    /// A part of an event's body from a value.
    ///
    /// # Errors
    /// The value is of another shape than the field.
    pub fn field(&mut self, node: &Node, value: &Value) -> Result<(), EncodeError> {
        encode(node, value, &mut self.out)
    }

    /// Ends the packet: fills in sizes and times, pads to `total_bits` or, where that is too small, to whole pages.
    ///
    /// # Errors
    /// The head is of another shape than the schema says.
    pub fn finish(&mut self, end: u64, total_bits: u64) -> Result<WrittenPacket<'_>, EncodeError> {
        let content_bits = self.out.at();
        let total_bits = if content_bits <= total_bits {
            bits::align_up(total_bits, 8)
        } else {
            content_bits.div_ceil(PAGE_BITS) * PAGE_BITS
        };
        let begin = self.head.begin;
        let mut entry =
            IndexEntry { offset: self.offset, total_bits, content_bits, begin, end, ..IndexEntry::default() };
        entry.stream_class = self.stream.id;
        let nodes = [&self.plan.packet_header, &self.stream.packet_context];
        for (node, value) in nodes.into_iter().zip([&mut self.head.header, &mut self.head.context]) {
            let Some((node, value)) = node.as_ref().zip(value.as_mut()) else { continue };
            for_roles(node, value, &mut |role, class, raw| match role {
                Role::PacketTotalLength => *raw = total_bits,
                Role::PacketContentLength => *raw = content_bits,
                Role::PacketBegin => *raw = begin & (u64::MAX >> (64 - class.size)),
                Role::PacketEnd => *raw = end & (u64::MAX >> (64 - class.size)),
                Role::DiscardedEvents => entry.discarded = *raw,
                Role::StreamId => entry.stream = *raw,
                Role::PacketSequenceNumber => entry.sequence = *raw,
                _ => {}
            });
        }
        self.out.rewind();
        self.write_head()?;
        self.out.resume(content_bits);
        self.offset += total_bits / 8;
        Ok(WrittenPacket { bytes: self.out.padded(total_bits), entry })
    }
}

/// LTTng's event header at any alignment: `{ id; variant { compact: { time }, extended: { id; time } } }`.
struct LttngHeader<'n> {
    node: &'n Node,
    id: &'n Node,
    short: &'n Node,
    full: &'n Node,
}

impl<'n> LttngHeader<'n> {
    fn of(node: &'n Node) -> Option<Self> {
        let NodeKind::Struct(members) = &node.kind else { return None };
        let [(_, id), (_, choice)] = members.as_slice() else { return None };
        let NodeKind::Variant(_, options) = &choice.kind else { return None };
        let [short, full] = options.as_slice() else { return None };
        let roles = |node: &Node| match &node.kind {
            NodeKind::Struct(members) => members.iter().map(|(_, member)| role(member)).collect(),
            _ => Vec::new(),
        };
        let right = role(id) == Some(Role::EventClassId)
            && roles(&short.node) == [Some(Role::Timestamp)]
            && roles(&full.node) == [Some(Role::EventClassId), Some(Role::Timestamp)];
        right.then_some(Self { node, id, short: &short.node, full: &full.node })
    }

    /// The id is short where it is below the escape value (all bits set), the time where a reader extends it right.
    fn write(&self, out: &mut BitWriter, id: u64, now: u64, cycles: u64) {
        let escape = u64::MAX >> (64 - size(self.id));
        let time_bits = members(self.short).next().map_or(64, size);
        let low = cycles & (u64::MAX >> (64 - time_bits));
        out.align(self.node.align);
        if id < escape && extend_time(now, low, time_bits) == cycles {
            put(out, self.id, id);
            out.align(self.short.align);
            members(self.short).for_each(|time| put(out, time, low));
        } else {
            put(out, self.id, escape);
            out.align(self.full.align);
            members(self.full).zip([id, cycles]).for_each(|(member, value)| put(out, member, value));
        }
    }
}

fn members(node: &Node) -> impl Iterator<Item = &Node> {
    let members = match &node.kind {
        NodeKind::Struct(members) => members.as_slice(),
        _ => &[],
    };
    members.iter().map(|(_, member)| member)
}

fn role(node: &Node) -> Option<Role> {
    match &node.kind {
        NodeKind::Integer { class, .. } => class.role,
        _ => None,
    }
}

fn size(node: &Node) -> u32 {
    match &node.kind {
        NodeKind::Integer { class, .. } => class.size,
        _ => 64,
    }
}

fn put(out: &mut BitWriter, node: &Node, value: u64) {
    if let NodeKind::Integer { class, .. } = &node.kind {
        out.align(node.align);
        out.integer(class.size, class.byte_order, value);
    }
}
