//! Events of one packet, and of one stream packet by packet.

use super::event::Event;
use super::{Packet, Position, Trace};
use crate::complaints::Complaints;
use crate::error::{DecodeError, Diagnostic, Severity};
use crate::plan::{Cursor, EmptyElements, Ignore, StreamPlan, run, walk};

/// The events of one packet in order. What follows an undecodable event is lost: [`Self::error`] says why.
#[derive(Debug)]
pub struct PacketEvents<'t> {
    trace: &'t Trace,
    packet: &'t Packet,
    stream: usize,
    plan: &'t StreamPlan,
    cursor: Cursor<'t>,
    /// Time of the last event.
    now: u64,
    slots: Vec<u64>,
    error: Option<(u64, DecodeError)>,
}

impl<'t> PacketEvents<'t> {
    /// `slots` is a buffer to use again.
    pub(super) fn new(trace: &'t Trace, stream: usize, packet: &'t Packet, mut slots: Vec<u64>) -> Self {
        let plan = trace.stream_plan(stream);
        slots.resize(trace.plan().slot_count, 0);
        let mut cursor = Cursor::new(trace.packet_bytes(packet));
        cursor.limit = packet.content_bits.min(cursor.limit);
        let mut error = None;
        if plan.needs_headers {
            for node in trace.plan().packet_header.iter().chain(&plan.packet_context) {
                // Cannot fail: the headers were walked when the packet was found.
                error =
                    error.or(walk(node, &mut cursor, &mut slots, &mut Ignore).err().map(|e| (cursor.at, e)));
            }
        }
        cursor.at = packet.header_bits.into();
        Self { trace, packet, stream, plan, cursor, now: packet.begin().unwrap_or(0), slots, error }
    }

    /// Goes on behind an event that was read before.
    fn resume(mut self, bit: u64, now: u64) -> Self {
        if bit > self.cursor.at {
            (self.cursor.at, self.now) = (bit, now);
        }
        self
    }

    /// Where and why decoding stopped before the end of the packet: bit in the packet, reason.
    pub fn error(&self) -> Option<(u64, DecodeError)> {
        self.error
    }

    #[inline]
    fn decode(&mut self) -> Result<Event<'t>, DecodeError> {
        let header = self.cursor.at;
        let plan = self.plan;
        let id = plan.decode_header(&mut self.cursor, &mut self.slots, &mut self.now)?;
        let class = plan.event(id)?;
        self.cursor.align(class.body_align);
        let body = self.cursor.at;
        match class.body_bits {
            Some(bits) => {
                self.cursor.take(bits)?;
            }
            None => {
                let mut empty = EmptyElements::new();
                if let Some(context) = &plan.context_skip {
                    run(context, &mut self.cursor, &mut self.slots, &mut empty)?;
                }
                run(&class.skip, &mut self.cursor, &mut self.slots, &mut empty)?;
            }
        }
        if self.cursor.at == header {
            return Err(DecodeError::EmptyEvent);
        }
        Ok(Event {
            trace: self.trace,
            packet: self.packet,
            bytes: self.cursor.bytes,
            header,
            body,
            end: self.cursor.at,
            cycles: self.now,
            stream: self.stream,
            plan,
            class,
        })
    }
}

impl<'t> Iterator for PacketEvents<'t> {
    type Item = Event<'t>;

    #[inline]
    fn next(&mut self) -> Option<Event<'t>> {
        if self.cursor.at >= self.cursor.limit || self.error.is_some() {
            return None;
        }
        let (start, now) = (self.cursor.at, self.now);
        match self.decode() {
            Ok(event) => Some(event),
            Err(error) => {
                self.error = Some((start, error));
                // As it was, for those who go on here when the trace has grown.
                (self.cursor.at, self.now) = (start, now);
                None
            }
        }
    }
}

/// The events of one stream in order, over all its packets.
///
/// A packet that cannot be decoded to its end costs the rest of that packet and leaves a diagnostic.
#[derive(Debug)]
pub struct StreamEvents<'t> {
    trace: &'t Trace,
    stream: usize,
    next_packet: usize,
    current: Option<PacketEvents<'t>>,
    growing: bool,
    complaints: Complaints,
}

impl<'t> StreamEvents<'t> {
    pub(super) fn new(trace: &'t Trace, stream: usize, from: Position) -> Self {
        let Position { packet: next_packet, bit, now } = from;
        let (complaints, growing) = (Complaints::default(), false);
        let mut events = Self { trace, stream, next_packet, current: None, growing, complaints };
        if bit > 0 && events.next_packet() {
            events.current = events.current.map(|current| current.resume(bit, now));
        }
        events
    }

    /// Ends, without a complaint, where more of the trace may make the next event readable: at an event of a class that
    /// the metadata do not describe ([`Self::awaits_class`]), and within the event that the last packet ends in if that
    /// packet says nothing of its size. Tracers may write the metadata behind the events; to read on, take
    /// [`Self::position`] to [`Trace::events_from`] after a [`Trace::refresh`], without this call when the trace has ended.
    #[must_use]
    pub fn while_growing(self) -> Self {
        Self { growing: true, ..self }
    }

    /// Number of the stream in [`Trace::streams`].
    pub fn stream(&self) -> usize {
        self.stream
    }

    /// The place behind the last event that was given.
    pub fn position(&self) -> Position {
        match &self.current {
            Some(current) => {
                Position { packet: self.next_packet - 1, bit: current.cursor.at, now: current.now }
            }
            None => Position::from(self.next_packet),
        }
    }

    /// The id of the event class that the events have ended for; see [`Self::while_growing`].
    pub fn awaits_class(&self) -> Option<u64> {
        match self.current.as_ref().filter(|_| self.growing)?.error {
            Some((_, DecodeError::UnknownEventClass(id))) => Some(id),
            _ => None,
        }
    }

    /// What went wrong so far. Behind a number that nobody would read, one diagnostic counts the rest.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.complaints.as_slice()
    }

    /// Goes on to the next packet; `false` at the end of the stream.
    fn next_packet(&mut self) -> bool {
        if self.growing && self.may_continue() {
            return false;
        }
        let mut slots = Vec::new();
        if let Some(done) = self.current.take() {
            if let Some((at, error)) = done.error {
                self.complaints.add(Severity::Loss, || self.trace.packet_loss(done.packet, at, &error));
            }
            slots = done.slots;
        }
        let Some(packet) = self.trace.streams()[self.stream].packets.get(self.next_packet) else {
            return false;
        };
        self.next_packet += 1;
        self.current = Some(PacketEvents::new(self.trace, self.stream, packet, slots));
        true
    }

    /// Whether more events may come out of the packet that was read last when the trace has grown.
    fn may_continue(&self) -> bool {
        let Some(current) = &self.current else { return false };
        let is_last = self.next_packet >= self.trace.streams()[self.stream].packets.len();
        self.awaits_class().is_some() || (current.packet.open_ended && is_last)
    }
}

impl<'t> Iterator for StreamEvents<'t> {
    type Item = Event<'t>;

    #[inline]
    fn next(&mut self) -> Option<Event<'t>> {
        loop {
            if let Some(event) = self.current.as_mut().and_then(Iterator::next) {
                return Some(event);
            }
            if !self.next_packet() {
                return None;
            }
        }
    }
}
