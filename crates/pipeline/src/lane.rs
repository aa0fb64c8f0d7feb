//! The events of one source from a time on, with times that never go back.
//!
//! Events of a stream keep their order. Where one is earlier than the one before it (LTTng of old stamps packets that overlap
//! by a few µs), it counts as of the time of that one. So "the events of a stream from a time on" is one stretch of it, and
//! a cut gives each event to one piece wherever it is.

use isochrone_ctf::{DecodeError, Diagnostic, Event, PacketEvents, Severity};
use isochrone_kernel::Time;

use crate::border::Piece;
use crate::losses::{Lacking, Loss};
use crate::source::Source;

/// A source that is being read.
#[derive(Debug)]
pub(crate) struct Lane<'p, 't> {
    source: &'p Source<'t>,
    /// Number of the source.
    number: usize,
    /// What begins at this time or later is not read.
    until: Time,
    /// The packet behind the one that is being read.
    next_packet: usize,
    events: Option<PacketEvents<'t>>,
    /// No event of the packet counts as later than this.
    latest: Time,
    /// Time of the last event: later ones count as no earlier.
    now: Time,
    /// The next event.
    head: Option<Event<'t>>,
    /// Packets that broke, to be fetched by the reader.
    pub(crate) broken: Vec<Broken>,
}

/// A packet whose rest cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) loss: Loss,
    packet: usize,
    bit: u64,
    error: DecodeError,
}

impl Broken {
    /// What there is to say.
    pub(crate) fn diagnostic(&self, source: &Source<'_>) -> Option<Diagnostic> {
        let packet = source.packet(self.packet)?;
        Some(Diagnostic {
            severity: Severity::Loss,
            path: source.trace.packet_path(packet),
            packet: Some(packet.number.into()),
            offset: Some(packet.offset + self.bit / 8),
            message: format!("the rest of the packet is skipped: {}", self.error),
        })
    }
}

impl<'p, 't> Lane<'p, 't> {
    /// Goes to the first event of a piece or behind it, and gives its time.
    pub(crate) fn new(source: &'p Source<'t>, number: usize, piece: Piece) -> (Self, Option<Time>) {
        let from = piece.from.time();
        let mut lane = Self {
            source,
            number,
            until: piece.to.time(),
            next_packet: source.packet_at(from),
            events: None,
            latest: Time::MAX,
            now: source.floor,
            head: None,
            broken: Vec::new(),
        };
        let mut time = lane.advance();
        while time.is_some_and(|time| time < from) {
            time = lane.advance();
        }
        (lane, time)
    }

    /// The source.
    #[inline]
    pub(crate) fn source(&self) -> &'p Source<'t> {
        self.source
    }

    /// Number of the source.
    #[inline]
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// The next event.
    #[inline]
    pub(crate) fn head(&self) -> Option<&Event<'t>> {
        self.head.as_ref()
    }

    /// Goes to the next event; gives the time that it counts as.
    #[inline]
    pub(crate) fn advance(&mut self) -> Option<Time> {
        loop {
            if let Some(event) = self.events.as_mut().and_then(Iterator::next) {
                let own = event.cycles().map_or(self.now, |cycles| self.source.scale().time(cycles));
                self.now = own.min(self.latest).max(self.now);
                self.head = Some(event);
                return Some(self.now);
            }
            if !self.next_packet() {
                self.head = None;
                return None;
            }
        }
    }

    /// Goes on to the next packet; `false` at the end of the source, or of what is asked for.
    #[cold]
    fn next_packet(&mut self) -> bool {
        if let Some(events) = self.events.take() {
            self.end_packet(&events);
        }
        let packet = self.next_packet;
        if packet >= self.source.packets.end || self.source.earliest_of(packet) >= self.until {
            return false;
        }
        self.next_packet += 1;
        self.latest = self.source.latest_of(packet);
        self.now = self.now.max(self.source.earliest_of(packet));
        self.events = Some(self.source.trace.packet(self.source.stream, packet));
        true
    }

    /// Notes if a packet broke. Where the loss begins and ends does not depend on where reading began.
    fn end_packet(&mut self, events: &PacketEvents<'t>) {
        let Some((bit, error)) = events.error() else { return };
        let (source, packet) = (self.source, self.next_packet - 1);
        let begin = source.begin_of(packet).unwrap_or(source.floor).max(source.floor);
        let times = source.trace.packet(source.stream, packet).filter_map(|event| event.cycles());
        let last = times.max().map_or(begin, |cycles| source.scale().time(cycles));
        let from = last.min(self.latest).max(begin);
        // Not before what was handed out: else it might belong to a piece that did not come to it.
        let to = source.end_of(packet).min(self.latest).max(from).max(self.now);
        let loss = Loss { from, to, source: self.number, what: Lacking::Rest };
        self.broken.push(Broken { loss, packet, bit, error });
    }
}
