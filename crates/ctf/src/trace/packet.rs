//! Events of one packet, and of one stream packet by packet.

use std::ops::Range;

use isochrone_diagnostic::{Diagnostic, DiagnosticLog, Severity};

use super::event::Event;
use super::{Packet, Position, Trace};
use crate::error::DecodeError;
use crate::plan::{Cursor, EmptyElements, EventPlan, EventTime, Ignore, StreamPlan, run, walk};

/// A first event that is this many cycles after its packet's start may have been moved by a wrong start: half
/// of what LTTng's shortest times can express.
const FAR: u64 = 1 << 26;

/// The events of one packet in order. What follows an undecodable event is lost: [`Self::error`] says why.
#[derive(Debug)]
pub struct PacketEvents<'t> {
    trace: &'t Trace,
    packet: &'t Packet,
    stream: usize,
    /// Number of the packet in its stream.
    number: usize,
    plan: &'t StreamPlan,
    /// Its limit is 0 once decoding has stopped.
    cursor: Cursor<'t>,
    time: EventTime,
    /// Where it was begun, if not with the first event: bit and time of the event before.
    from: (u64, u64),
    slots: Vec<u64>,
    error: Option<(u64, DecodeError)>,
}

impl<'t> PacketEvents<'t> {
    /// `slots` is a buffer to use again.
    pub(super) fn new(trace: &'t Trace, stream: usize, number: usize, slots: Vec<u64>) -> Self {
        let mut events = Self::untried(trace, stream, number, slots);
        let room = events.time.latest - events.time.now.min(events.time.latest);
        if events.time.latest < u64::MAX && room >= FAR {
            events.refuse_if_moved();
        }
        events
    }

    /// Refuses the whole packet if its first event may have been moved by a wrap and a later one then has a
    /// time that it cannot have: a packet that is longer than a wrap would give out moved events until there.
    fn refuse_if_moved(&mut self) {
        let mut trial = Self::untried(self.trace, self.stream, self.number, Vec::new());
        let far = self.time.now.saturating_add(FAR);
        if trial.next().is_some_and(|first| first.cycles >= far) {
            trial.by_ref().for_each(drop);
            if let Some((_, error @ DecodeError::OutsidePacket { .. })) = trial.error {
                self.stop(self.cursor.at, error);
            }
        }
    }

    fn untried(trace: &'t Trace, stream: usize, number: usize, mut slots: Vec<u64>) -> Self {
        let packets = &trace.streams()[stream].packets;
        let packet = &packets[number];
        let plan = trace.stream_plan(stream);
        slots.resize(trace.plan().slot_count, 0);
        let mut cursor = Cursor::new(trace.packet_bytes(packet));
        cursor.limit = packet.content_bits.min(cursor.limit);
        let mut error = None;
        if plan.needs_headers {
            for node in trace.plan().packet_header.iter().chain(&plan.packet_context) {
                // The headers were walked when the packet was found: this fails only if the file was cut
                // since.
                error =
                    error.or(walk(node, &mut cursor, &mut slots, &mut Ignore).err().map(|e| (cursor.at, e)));
            }
        }
        cursor.at = packet.header_bits.into();
        if error.is_some() {
            cursor.limit = 0;
        }
        let time = trace.time_rule(stream).times(packets, number);
        Self { trace, packet, stream, number, plan, cursor, time, from: (0, 0), slots, error }
    }

    /// Where the next event begins, and the time of the one before. After an error this decodes all again:
    /// the time before each event is not kept for that.
    fn place(&self) -> (u64, u64) {
        let Some((bit, _)) = self.error else { return (self.cursor.at, self.time.now) };
        let again = Self::new(self.trace, self.stream, self.number, Vec::new());
        let mut again = again.resume(self.from.0, self.from.1);
        while again.cursor.at < bit && again.next().is_some() {}
        (bit, again.time.now)
    }

    /// Continues after an event that was read before.
    fn resume(mut self, bit: u64, now: u64) -> Self {
        if bit > self.cursor.at {
            (self.cursor.at, self.time.now, self.from) = (bit, now, (bit, now));
        }
        self
    }

    /// Where and why decoding stopped before the end of the packet: bit in the packet, reason.
    pub fn error(&self) -> Option<(u64, DecodeError)> {
        self.error
    }

    // An event is eleven words: where this is inlined, those that are not used are never written.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn decode(&mut self) -> Result<Event<'t>, DecodeError> {
        let header = self.cursor.at;
        let plan = self.plan;
        let id = plan.decode_header(&mut self.cursor, &mut self.slots, &mut self.time)?;
        let class = plan.event(id)?;
        self.cursor.align(class.body_align);
        let body = self.cursor.at;
        match class.body_bits {
            Some(bits) => {
                self.cursor.take(bits)?;
            }
            None => self.skip_body(class)?,
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
            cycles: self.time.now,
            stream: self.stream,
            plan,
            class,
        })
    }

    /// Moves after a body whose size is not constant.
    #[inline(never)]
    fn skip_body(&mut self, class: &EventPlan) -> Result<(), DecodeError> {
        let mut empty = EmptyElements::new();
        if let Some(context) = &self.plan.context_skip {
            run(context, &mut self.cursor, &mut self.slots, &mut empty)?;
        }
        run(&class.skip, &mut self.cursor, &mut self.slots, &mut empty)
    }

    /// Ends the packet at an event that cannot be decoded.
    #[cold]
    fn stop(&mut self, start: u64, error: DecodeError) {
        self.error = Some((start, error));
        self.cursor.limit = 0;
    }
}

impl<'t> Iterator for PacketEvents<'t> {
    type Item = Event<'t>;

    #[allow(clippy::inline_always)] // As above.
    #[inline(always)]
    fn next(&mut self) -> Option<Event<'t>> {
        if self.cursor.at >= self.cursor.limit {
            return None;
        }
        let start = self.cursor.at;
        match self.decode() {
            Ok(event) => Some(event),
            Err(error) => {
                self.stop(start, error);
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
    /// Packets that are still to be read, by index.
    packets: Range<usize>,
    current: Option<PacketEvents<'t>>,
    growing: bool,
    complaints: DiagnosticLog,
}

impl<'t> StreamEvents<'t> {
    pub(super) fn new(trace: &'t Trace, stream: usize, from: Position) -> Self {
        let Position { packet, bit, now } = from;
        let (complaints, growing) = (DiagnosticLog::default(), false);
        let packets = packet..trace.streams()[stream].packets.len();
        let mut events = Self { trace, stream, packets, current: None, growing, complaints };
        if bit > 0 && events.next_packet() {
            events.current = events.current.map(|current| current.resume(bit, now));
        }
        events
    }

    /// Ends, without a complaint, where more of the trace may make the next event readable: at an event of a
    /// class that the metadata do not describe ([`Self::awaits_class`]), and within the event that the last
    /// packet ends in if that packet says nothing of its size. Tracers may write the metadata after the
    /// events; to read on, take [`Self::position`] to [`Trace::events_from`] after a [`Trace::refresh`],
    /// without this call when the trace has ended.
    #[must_use]
    pub fn while_growing(self) -> Self {
        Self { growing: true, ..self }
    }

    /// Number of the stream in [`Trace::streams`].
    pub fn stream(&self) -> usize {
        self.stream
    }

    /// The place after the last event that was given. Linear in the events of its packet where they end with
    /// an error.
    pub fn position(&self) -> Position {
        match &self.current {
            Some(current) => {
                let (bit, now) = current.place();
                Position { packet: self.packets.start - 1, bit, now }
            }
            None => Position::from(self.packets.start),
        }
    }

    /// The id of the event class that the events have ended for; see [`Self::while_growing`].
    pub fn awaits_class(&self) -> Option<u64> {
        match self.current.as_ref().filter(|_| self.growing)?.error {
            Some((_, DecodeError::UnknownEventClass(id))) => Some(id),
            _ => None,
        }
    }

    /// Only the events of some packets, by their positions in [`Stream::packets`](super::Stream::packets):
    /// several threads can share a stream.
    ///
    /// ```no_run
    /// # let trace = isochrone_ctf::Trace::open("trace/kernel".as_ref())?;
    /// let middle = trace.streams()[0].packets.len() / 2;
    /// let (first, second) = std::thread::scope(|threads| {
    ///     let second = threads.spawn(|| trace.events(0).within(middle..usize::MAX).count());
    ///     (trace.events(0).within(0..middle).count(), second.join())
    /// });
    /// # Ok::<(), isochrone_ctf::Error>(())
    /// ```
    #[must_use]
    pub fn within(self, packets: Range<usize>) -> Self {
        let count = self.trace.streams()[self.stream].packets.len();
        let packets = packets.start.min(count)..packets.end.min(count);
        Self { packets, current: None, ..self }
    }

    /// What went wrong so far. After a fixed number of them, one diagnostic counts the rest.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.complaints.as_slice()
    }

    /// Moves on to the next packet; `false` at the end of the stream.
    #[cold]
    fn next_packet(&mut self) -> bool {
        if self.growing && self.may_continue() {
            return false;
        }
        let mut slots = Vec::new();
        if let Some(done) = self.current.take() {
            if let Some((at, error)) = done.error {
                self.complaints.add(Severity::Loss, || self.trace.packet_loss(done.packet, at, &error));
            }
            self.trace.forget(done.packet);
            slots = done.slots;
        }
        let Some(index) = self.packets.next() else { return false };
        self.current = Some(PacketEvents::new(self.trace, self.stream, index, slots));
        true
    }

    /// Whether more events may come out of the packet that was read last when the trace has grown.
    fn may_continue(&self) -> bool {
        let Some(current) = &self.current else { return false };
        let is_last = self.packets.start >= self.trace.streams()[self.stream].packets.len();
        self.awaits_class().is_some() || (current.packet.open_ended && is_last)
    }
}

impl<'t> Iterator for StreamEvents<'t> {
    type Item = Event<'t>;

    #[allow(clippy::inline_always)] // As above.
    #[inline(always)]
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
