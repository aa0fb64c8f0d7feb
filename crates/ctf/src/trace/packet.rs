//! Events of one packet, and of one stream packet by packet.

use super::event::Event;
use super::{Packet, Trace};
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
        slots.resize(trace.plan.slot_count, 0);
        let mut cursor = Cursor::new(trace.packet_bytes(packet));
        cursor.limit = packet.content_bits.min(cursor.limit);
        let mut error = None;
        if plan.needs_headers {
            for node in trace.plan.packet_header.iter().chain(&plan.packet_context) {
                // Cannot fail: the headers were walked when the packet was found.
                error =
                    error.or(walk(node, &mut cursor, &mut slots, &mut Ignore).err().map(|e| (cursor.at, e)));
            }
        }
        cursor.at = packet.header_bits;
        Self { trace, packet, stream, plan, cursor, now: packet.begin.unwrap_or(0), slots, error }
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
        let start = self.cursor.at;
        match self.decode() {
            Ok(event) => Some(event),
            Err(error) => {
                self.error = Some((start, error));
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
    complaints: Complaints,
}

impl<'t> StreamEvents<'t> {
    pub(super) fn new(trace: &'t Trace, stream: usize) -> Self {
        Self { trace, stream, next_packet: 0, current: None, complaints: Complaints::default() }
    }

    /// What went wrong so far. Behind a number that nobody would read, one diagnostic counts the rest.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.complaints.as_slice()
    }

    /// Goes on to the next packet; `false` at the end of the stream.
    fn next_packet(&mut self) -> bool {
        let mut slots = Vec::new();
        if let Some(done) = self.current.take() {
            if let Some((at, error)) = done.error {
                self.report(at, error);
            }
            slots = done.slots;
        }
        let Some(packet) = self.trace.streams[self.stream].packets.get(self.next_packet) else {
            return false;
        };
        self.next_packet += 1;
        self.current = Some(PacketEvents::new(self.trace, self.stream, packet, slots));
        true
    }

    fn report(&mut self, at: u64, error: DecodeError) {
        let Some(packet) = self.trace.streams[self.stream].packets.get(self.next_packet - 1) else { return };
        self.complaints.add(Severity::Loss, || self.trace.packet_loss(packet, at, &error));
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
