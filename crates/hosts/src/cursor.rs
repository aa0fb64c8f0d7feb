//! The events of one source from a time on, with times that never go back.
//!
//! Events of a stream keep their order. Where one is earlier than the one before it (LTTng of old stamps
//! packets that overlap by a few µs), it counts as of the time of that one. So "the events of a stream from a
//! time on" is one stretch of it, and a cut gives each event to one window wherever it is.

use isochrone_ctf::{DecodeError, Diagnostic, Event, PacketEvents};
use isochrone_time::{RawNs, Window};

use crate::losses::{LossKind, StreamLoss};
use crate::source::{EventSource, LATEST};

/// A source that is being read.
#[derive(Debug)]
pub(crate) struct StreamCursor<'p, 't> {
    source: &'p EventSource<'t>,
    /// Number of the source.
    number: usize,
    /// What begins at this time or later is not read.
    end: RawNs,
    /// The packet after the one that is being read.
    next_packet: usize,
    events: Option<PacketEvents<'t>>,
    /// No event of the packet counts as later than this.
    latest: RawNs,
    /// `RawNs` of the last event: later ones count as no earlier.
    now: RawNs,
    /// The last stamp of the packet; the least time before the first.
    stamp: RawNs,
    /// The next event.
    head: Option<Event<'t>>,
    /// Losses found at the ends of packets that were read, to be fetched by the reader.
    pub(crate) found: Vec<FoundLoss>,
}

/// A loss that is known only after the packet was read in which it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoundLoss {
    pub(crate) loss: StreamLoss,
    /// The first instant at which something may be missing: after all events of the packet, as they count.
    pub(crate) at: RawNs,
    /// Where and why the rest of the packet cannot be decoded. `None`: the tracer discarded events after the
    /// packet's last one; [`EventSource::losses`](crate::Host::losses) have that, with an earlier begin.
    pub(crate) broken: Option<Broken>,
}

/// Why the rest of a packet cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken {
    packet: usize,
    bit: u64,
    error: Refusal,
}

/// Why an event ends its packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Refusal {
    /// It cannot be decoded.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// It is earlier than the one before it: the clock went wrong, or the packet is damaged.
    #[error("an event has the time {time} ns, which is {by} ns before the event that precedes it")]
    GoesBack { time: RawNs, by: i64 },
    /// See [`LATEST`].
    #[error("an event has the time {0} ns, which is later than any clock shows that was set")]
    TooLate(RawNs),
}

/// Refuses a time that no event can have after one at `before`.
fn check(time: RawNs, before: RawNs) -> Result<(), Refusal> {
    match time {
        _ if time > LATEST => Err(Refusal::TooLate(time)),
        _ if time < before => Err(Refusal::GoesBack { time, by: before - time }),
        _ => Ok(()),
    }
}

impl Broken {
    /// The diagnostic.
    pub(crate) fn diagnostic(&self, source: &EventSource<'_>) -> Option<Diagnostic> {
        let packet = source.packet(self.packet)?;
        let message = format!("the rest of the packet is skipped: {}", self.error);
        Some(source.trace.loss(packet, self.bit, message))
    }
}

impl<'p, 't> StreamCursor<'p, 't> {
    /// Moves to the first event of a window or after it, and gives its time.
    pub(crate) fn new(
        source: &'p EventSource<'t>,
        number: usize,
        window: Window<RawNs>,
    ) -> (Self, Option<RawNs>) {
        let from = window.start;
        let mut cursor = Self {
            source,
            number,
            end: window.end,
            next_packet: source.packet_at(from),
            events: None,
            latest: RawNs::MAX,
            now: source.clamp_start,
            stamp: RawNs::MIN,
            head: None,
            found: Vec::new(),
        };
        let mut time = cursor.advance();
        while time.is_some_and(|time| time < from) {
            time = cursor.advance();
        }
        (cursor, time)
    }

    /// The source.
    #[inline]
    pub(crate) fn source(&self) -> &'p EventSource<'t> {
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

    /// Moves to the next event; gives the time that it counts as.
    #[inline]
    pub(crate) fn advance(&mut self) -> Option<RawNs> {
        loop {
            if let Some(event) = self.events.as_mut().and_then(Iterator::next) {
                let own = event.cycles().map(|cycles| self.source.scale().time(cycles));
                if let Some(own) = own {
                    if let Err(error) = check(own, self.stamp) {
                        self.events = None;
                        self.end_packet(Some((0, error)));
                        continue;
                    }
                    self.stamp = own;
                }
                let own = own.unwrap_or(self.now);
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

    /// Moves on to the next packet; `false` at the end of the source, or of what is asked for.
    #[cold]
    fn next_packet(&mut self) -> bool {
        if let Some(events) = self.events.take() {
            self.end_packet(events.error().map(|(bit, error)| (bit, error.into())));
            if let Some(done) = self.source.packet(self.next_packet - 1) {
                self.source.trace.forget(done);
            }
        }
        let packet = self.next_packet;
        if packet >= self.source.packets.end || self.source.earliest_of(packet) >= self.end {
            return false;
        }
        self.next_packet += 1;
        self.latest = self.source.latest_of(packet);
        self.stamp = RawNs::MIN;
        self.now = self.now.max(self.source.earliest_of(packet));
        self.events = Some(self.source.trace.packet(self.source.stream, packet));
        true
    }

    /// Notes what a packet turns out to lack at its end. Where the loss begins and ends does not depend on
    /// where reading began.
    fn end_packet(&mut self, refused: Option<(u64, Refusal)>) {
        let (source, packet) = (self.source, self.next_packet - 1);
        // What was discarded after the last event of the packet.
        if let Some(loss) = source.discarded_after(packet) {
            let from = self.now.clamp(loss.from.min(loss.to), loss.to);
            let loss = StreamLoss { from, source: self.number, ..loss };
            self.found.push(FoundLoss { loss, at: self.now.saturating_add(1), broken: None });
        }
        let Some((bit, error)) = refused else { return };
        let begin = source.begin_of(packet).unwrap_or(source.clamp_start).max(source.clamp_start);
        let times = source.trace.packet(source.stream, packet).filter_map(|event| event.cycles());
        let mut before = RawNs::MIN;
        let is_read = |&time: &RawNs| check(time, std::mem::replace(&mut before, time)).is_ok();
        let last = times.map(|cycles| source.scale().time(cycles)).take_while(is_read).last();
        let last = last.unwrap_or(begin);
        let from = last.min(self.latest).max(begin);
        // Not before what was handed out: else it might belong to a window that did not come to it.
        let to = source.end_of(packet).min(self.latest).max(from).max(self.now);
        let loss = StreamLoss { from, to, source: self.number, what: LossKind::UndecodableTail };
        let at = from.max(self.now).saturating_add(1);
        self.found.push(FoundLoss { loss, at, broken: Some(Broken { packet, bit, error }) });
    }
}

/// Ends within a packet, of which the reader of the next window has the rest, and may be done with it.
impl Drop for StreamCursor<'_, '_> {
    fn drop(&mut self) {
        if self.events.is_some()
            && let Some(packet) = self.source.packet(self.next_packet - 1)
        {
            self.source.trace.forget(packet);
        }
    }
}
