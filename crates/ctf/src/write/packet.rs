//! One packet after the other: head, events, then sizes and times filled in.

use super::encode::{BitWriter, EncodeError, encode_by, for_roles, put_integer, reserve};
use crate::bits;
use crate::plan::{Cursor, EventPlan, LttngHeader, Node, Plan, StreamPlan, extend_time, walk};
use crate::schema::{Role, Scope};
use crate::trace::index::IndexEntry;
use crate::trace::times::Times;
use crate::trace::{Event, Packet, Trace};
use crate::value::{Value, ValueVisitor};

/// Packets that outgrow the size they were given end at a multiple of this many bytes, as the tracer's own
/// do.
const PAGE_BITS: u64 = 4096 * 8;

/// The values at the head of a packet. Sizes and times in them are filled in by the writer; all else is kept.
#[derive(Debug, Clone)]
pub struct PacketHead {
    /// Value of the packet header, if the trace has one.
    pub header: Option<Value>,
    /// Value of the packet context, if the stream class has one.
    pub context: Option<Value>,
    /// Time at the packet's start in cycles.
    pub begin: u64,
}

impl PacketHead {
    /// The head of a packet of a trace; it begins at 0 where that says nothing of its time.
    pub fn of(trace: &Trace, stream: usize, packet: &Packet) -> Self {
        let mut slots = trace.plan().new_slots();
        let mut cursor = Cursor::new(trace.packet_bytes(packet));
        let nodes = [&trace.plan().packet_header, &trace.stream_plan(stream).packet_context];
        let [header, context] = nodes.map(|node| {
            let mut visitor = ValueVisitor::default();
            walk(node.as_ref()?, &mut cursor, &mut slots, &mut visitor).ok()?;
            visitor.into_value()
        });
        Self { header, context, begin: packet.begin().unwrap_or(0) }
    }
}

/// Builds the packets of one stream.
#[derive(Debug)]
pub struct PacketWriter<'p> {
    plan: &'p Plan,
    stream: &'p StreamPlan,
    out: BitWriter,
    head: PacketHead,
    /// Bits that the head took when the packet was begun.
    head_bits: u64,
    now: u64,
    /// Byte where the packet will lie in its file.
    offset: u64,
    /// Times of the packet before in the file.
    before: Option<Times>,
    /// Whether times in packet heads are written as they are given.
    verbatim_heads: bool,
    /// Whether times in event headers are written as they are given.
    verbatim_headers: bool,
    /// What was written for lengths and selectors.
    slots: Vec<u64>,
    /// Whether all that an event's body can refer to is in the slots.
    knows_header: bool,
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
        let head = PacketHead { header: None, context: None, begin: 0 };
        Self {
            plan,
            stream: &plan.streams[class],
            out: BitWriter::default(),
            head,
            head_bits: 0,
            now: 0,
            offset: 0,
            before: None,
            verbatim_heads: false,
            verbatim_headers: false,
            slots: plan.new_slots(),
            knows_header: true,
        }
    }

    /// A writer whose first packet lies after another one of its stream.
    pub(super) fn after(plan: &'p Plan, class: usize, before: Option<Times>) -> Self {
        Self { before, ..Self::new(plan, class) }
    }

    /// A writer that writes times in packet heads and event headers as they are given: what has been read
    /// gives the same times again.
    pub(super) fn verbatim(plan: &'p Plan, class: usize) -> Self {
        Self { verbatim_headers: true, ..Self::excerpt(plan, class) }
    }

    /// A writer that writes times in packet heads as they are given, and event headers anew.
    pub(super) fn excerpt(plan: &'p Plan, class: usize) -> Self {
        Self { verbatim_heads: true, ..Self::new(plan, class) }
    }

    /// Begins a packet.
    ///
    /// # Errors
    /// The head is of another shape than the schema says.
    pub fn begin(&mut self, head: PacketHead) -> Result<(), EncodeError> {
        self.out.clear();
        // Where a reader starts from.
        self.now = if self.stream.context_bits(Role::PacketBegin).is_some() { head.begin } else { 0 };
        self.head = head;
        let nodes = [&self.plan.packet_header, &self.stream.packet_context];
        for (node, value) in nodes.into_iter().zip([&mut self.head.header, &mut self.head.context]) {
            if let Some((node, value)) = node.as_ref().zip(value.as_mut()) {
                reserve(node, value, !self.verbatim_heads);
            }
        }
        self.write_head()?;
        self.head_bits = self.out.at();
        Ok(())
    }

    /// Bits of the packet written so far, its head included.
    pub fn content_bits(&self) -> u64 {
        self.out.at()
    }

    /// Times of the last packet that was finished.
    pub(super) fn times(&self) -> Option<Times> {
        self.before
    }

    fn write_head(&mut self) -> Result<(), EncodeError> {
        let nodes = [&self.plan.packet_header, &self.stream.packet_context];
        for (node, value) in nodes.into_iter().zip([&self.head.header, &self.head.context]) {
            if let Some(node) = node {
                let value = value.as_ref().ok_or(EncodeError::Mismatch)?;
                encode_by(node, value, &mut self.out, &mut Some(&mut self.slots))?;
            }
        }
        Ok(())
    }

    /// Begins an event: writes its header, in the short form where the time allows it. The body must follow.
    ///
    /// `generic` is the value of a header that is not of LTTng's shape; its time is filled in.
    ///
    /// # Errors
    /// The time or the id does not fit the header, or a generic header is missing or of another shape.
    pub fn event(
        &mut self,
        class: &EventPlan,
        cycles: u64,
        generic: Option<Value>,
    ) -> Result<(), EncodeError> {
        if let Some(header) = &self.stream.event_header {
            let lttng = self.stream.lttng_header.as_ref().filter(|_| generic.is_none());
            self.knows_header = lttng.is_none() || !self.stream.needs_headers;
            match lttng {
                Some(lttng) => write_lttng(lttng, &mut self.out, class.id, self.now, cycles)?,
                None => self.generic_header(header, cycles, generic.ok_or(EncodeError::Mismatch)?)?,
            }
        }
        self.out.align(class.body_align);
        self.now = cycles;
        Ok(())
    }

    fn generic_header(&mut self, node: &Node, cycles: u64, mut value: Value) -> Result<(), EncodeError> {
        if self.verbatim_headers {
            return self.field(node, &value);
        }
        // What a reader will make of the header: the last stamp in it counts.
        let mut read_back = None;
        let mut now = self.now;
        for_roles(node, &mut value, &mut |role, class, raw| {
            if role == Role::Timestamp {
                *raw = bits::low_bits(cycles, class.size);
                now = extend_time(now, *raw, class.size);
                read_back = Some((now, class.size));
            }
        });
        match read_back {
            Some((time, bits)) if time != cycles => Err(EncodeError::TimeGap { bits }),
            _ => self.field(node, &value),
        }
    }

    /// Begins an event with the body of another one of the same class and plan: contexts and payload stay as
    /// they are.
    ///
    /// # Errors
    /// As [`Self::event`].
    pub fn copy_event(&mut self, event: &Event<'_>, cycles: u64) -> Result<(), EncodeError> {
        let generic = match &self.stream.event_header {
            Some(_) if self.stream.lttng_header.is_none() => {
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
        self.body_values(class, event)
    }

    /// Writes an event again, by the class of its number here, from the values of its header, contexts and
    /// payload.
    ///
    /// # Errors
    /// As [`Self::event`].
    pub(super) fn rewrite_event(&mut self, event: &Event<'_>, cycles: u64) -> Result<(), EncodeError> {
        let header = match &self.stream.event_header {
            Some(_) => Some(event.header_value().ok_or(EncodeError::Mismatch)?),
            None => None,
        };
        let class = self.stream.events.get(event.class().index).ok_or(EncodeError::Mismatch)?;
        self.event(class, cycles, header)?;
        let body_at = self.out.at();
        match self.body_values(class, event) {
            // Text that is not what its encoding says has other bytes as a value: then its own are taken.
            Err(EncodeError::Mismatch) => self.body_as_it_is(event, body_at),
            written => written,
        }
    }

    /// The bytes of an event's body, where it begins at the same bit of the packet.
    fn body_as_it_is(&mut self, event: &Event<'_>, at: u64) -> Result<(), EncodeError> {
        let (bytes, start, end) = event.body();
        if start != at || !start.is_multiple_of(8) {
            return Err(EncodeError::Mismatch);
        }
        self.out.go_to(start);
        self.out.bytes_aligned(&bytes[(start / 8) as usize..end.div_ceil(8) as usize]);
        self.out.go_to(end);
        Ok(())
    }

    /// What lies from bit `at` of a packet on and cannot be decoded: it is written as it is where no field
    /// would show that the content ends before it. All before it must have been written.
    pub(super) fn rest_without_end(&mut self, packet: &[u8], at: u64) -> Result<(), EncodeError> {
        if self.stream.context_bits(Role::PacketContentLength).is_some() {
            return Ok(());
        }
        if self.out.at() != at {
            return Err(EncodeError::Mismatch);
        }
        // A byte that has been begun has the same bits already.
        self.out.go_to(at / 8 * 8);
        self.out.bytes_aligned(packet.get((at / 8) as usize..).unwrap_or_default());
        Ok(())
    }

    /// Contexts and payload of an event, by their values.
    fn body_values(&mut self, class: &EventPlan, event: &Event<'_>) -> Result<(), EncodeError> {
        for scope in [Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
            let Some(node) = class.scope(self.stream, scope) else { continue };
            let mut visitor = ValueVisitor::default();
            event.visit(scope, &mut visitor).map_err(|_| EncodeError::Mismatch)?;
            self.field(node, &visitor.into_value().ok_or(EncodeError::Mismatch)?)?;
        }
        Ok(())
    }

    /// The body of an event, encoded before: for writing many events with the same body. It must not depend
    /// on its place in the packet (all alignments at most that of its start).
    pub fn body_bytes(&mut self, body: &[u8]) {
        self.out.bytes_aligned(body);
    }

    /// A part of an event's body from a value. The parts come in the order of their scopes.
    ///
    /// # Errors
    /// The value is of another shape than the field; or its lengths and options are not those that the fields
    /// written before hold.
    pub fn field(&mut self, node: &Node, value: &Value) -> Result<(), EncodeError> {
        encode_by(node, value, &mut self.out, &mut self.knows_header.then_some(&mut self.slots))
    }

    /// Ends the packet: fills in sizes and times, pads to `total_bits` or, where that is too small, to whole
    /// pages. A packet that has no field for the size of its content gets no padding, because a reader would
    /// take it for events.
    ///
    /// # Errors
    /// The head is of another shape than the schema says, or a size or a time does not fit its field.
    pub fn finish(&mut self, end: u64, total_bits: u64) -> Result<WrittenPacket<'_>, EncodeError> {
        let content_bits = self.out.at();
        let total_bits = self.total_bits(content_bits, total_bits)?;
        let begin = self.head.begin;
        let mut entry =
            IndexEntry { offset: self.offset, total_bits, content_bits, begin, end, ..IndexEntry::default() };
        entry.stream_class = self.stream.id;
        let mut lost_time = None;
        let before = self.before;
        // The low bits of a time, if a reader makes the whole of them.
        let mut low = |cycles: u64, bits: u32, read: &dyn Fn(u64) -> u64| {
            let raw = bits::low_bits(cycles, bits);
            if bits < u64::BITS && read(raw) != cycles {
                lost_time = Some(EncodeError::PacketTime { cycles, bits });
            }
            raw
        };
        let nodes = [&self.plan.packet_header, &self.stream.packet_context];
        for (node, value) in nodes.into_iter().zip([&mut self.head.header, &mut self.head.context]) {
            let Some((node, value)) = node.as_ref().zip(value.as_mut()) else { continue };
            for_roles(node, value, &mut |role, class, raw| match role {
                Role::PacketTotalLength => *raw = total_bits,
                Role::PacketContentLength => *raw = content_bits,
                Role::PacketBegin | Role::PacketEnd if self.verbatim_heads => {}
                Role::PacketBegin => {
                    *raw = low(begin, class.size, &|raw| Times::begin(before.as_ref(), raw, class.size));
                }
                Role::PacketEnd => *raw = low(end, class.size, &|raw| Times::end(begin, raw, class.size)),
                Role::DiscardedEvents => entry.discarded = *raw,
                Role::StreamId => entry.stream = *raw,
                Role::PacketSequenceNumber => entry.sequence = *raw,
                _ => {}
            });
        }
        if let Some(error) = lost_time {
            return Err(error);
        }
        self.out.go_to(0);
        self.write_head()?;
        if self.out.at() != self.head_bits {
            return Err(EncodeError::GrowingHead);
        }
        self.out.go_to(content_bits);
        self.offset += total_bits / 8;
        // As a reader knows them.
        let told = self.stream.context_bits(Role::PacketEnd).is_some();
        self.before = Some(Times::of(begin, told.then_some(end)));
        Ok(WrittenPacket { bytes: self.out.padded(total_bits), entry })
    }

    /// The size of a packet with this content.
    fn total_bits(&self, content_bits: u64, wanted: u64) -> Result<u64, EncodeError> {
        if self.stream.context_bits(Role::PacketContentLength).is_none() {
            return match content_bits.is_multiple_of(8) {
                true => Ok(content_bits),
                false => Err(EncodeError::Padding { bits: content_bits }),
            };
        }
        Ok(match content_bits <= wanted {
            true => bits::align_up(wanted, 8),
            false => content_bits.div_ceil(PAGE_BITS) * PAGE_BITS,
        })
    }
}

/// Writes an event header of LTTng's shape: the short form where the id chooses it and a reader extends the
/// time right.
fn write_lttng(
    header: &LttngHeader,
    out: &mut BitWriter,
    id: u64,
    now: u64,
    cycles: u64,
) -> Result<(), EncodeError> {
    let low = |bits: u32| {
        let low = bits::low_bits(cycles, bits);
        (extend_time(now, low, bits) == cycles).then_some(low)
    };
    out.align(header.align);
    if let Some(low) = low(header.short_time.size).filter(|_| header.is_short(id)) {
        put_integer(&header.id, id, out)?;
        out.align(header.short_align);
        return put_integer(&header.short_time, low, out);
    }
    let bits = header.full_time.size;
    let low = low(bits).ok_or(EncodeError::TimeGap { bits })?;
    put_integer(&header.id, header.escape, out)?;
    out.align(header.full_align);
    put_integer(&header.full_id, id, out)?;
    put_integer(&header.full_time, low, out)
}
