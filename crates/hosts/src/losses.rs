//! What the traces of a host lack: events that were discarded, packets that never came, packets that cannot
//! be decoded.
//!
//! `isochrone-ctf` reports the losses within a trace; here those between the chunks of a rotated session are
//! added. [`crate::coverage`] finds gaps, and which streams begin late or end early.

use isochrone_ctf::{Lost, Packet, PacketCounters, Trace};
use isochrone_time::{RawNs, Window};
use serde::{Deserialize, Serialize};

use crate::source::{EventSource, SLACK};

/// A time in which events of a stream are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StreamLoss {
    /// First time from which nothing is missing, raw ns; not before `from`. Among events, losses have their
    /// place here.
    pub to: RawNs,
    /// Last time before which nothing is missing, raw ns.
    pub from: RawNs,
    /// Number of the stream's source in [`Host::sources`](crate::Host::sources).
    pub source: usize,
    /// What is missing.
    pub what: LossKind,
}

/// Where a loss begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StreamLossBegin {
    /// The first instant at which events may be missing, raw ns: all events before it are there.
    pub at: RawNs,
    /// What begins there.
    pub loss: StreamLoss,
}

impl StreamLossBegin {
    /// Whether it begins in a window: whether the last instant before it, at which nothing is missing, lies
    /// there. So it does not depend on what a window cuts off whether a loss begins in it.
    pub fn is_in(&self, window: Window<RawNs>) -> bool {
        window.contains(self.at.saturating_sub(1))
    }

    /// Whether it begins before a window and reaches into it.
    pub fn reaches_into(&self, window: Window<RawNs>) -> bool {
        self.at <= window.start && self.loss.to >= window.start
    }

    /// Of a loss of a host that begins at `begin`, known before reading.
    pub(crate) fn new(loss: StreamLoss, begin: RawNs) -> Self {
        // Before all events, whatever their packets say.
        let first = begin.saturating_sub(2 * SLACK);
        let at = if loss.from <= begin { first } else { loss.from.saturating_add(1) };
        Self { at, loss }
    }
}

/// What is missing from a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum LossKind {
    /// Number of events, which the tracer had no room for.
    Events(u64),
    /// Number of packets.
    Packets(u64),
    /// The rest of a packet that cannot be decoded.
    UndecodableTail,
    /// Nothing, but the times of its packets overlap: the clock went back, and the order of events is
    /// unknown.
    Disorder,
    /// Everything: the file of the stream is not there.
    All,
    /// The stream begins later than others of its channel: of what its CPU did before, nothing was recorded
    /// or kept.
    NotBegun,
    /// The stream ends earlier than others of its channel.
    Over,
}

impl LossKind {
    /// Whether something was recorded, or should have been, that is not there.
    pub fn is_loss(self) -> bool {
        !matches!(self, Self::NotBegun | Self::Over)
    }
}

/// A logical stream: one stream of a host through all chunks of its session.
#[derive(Debug)]
pub(crate) struct LogicalStream<'s, 't> {
    /// Number in [`Host::sources`](crate::Host::sources), rank of the chunk in the session, source; in the
    /// order of time.
    pub(crate) parts: Vec<(usize, usize, &'s EventSource<'t>)>,
    /// Ranks of the first and the last chunk of the session that hold anything.
    pub(crate) ranks: (usize, usize),
    /// Whether a chunk without packets of this stream has its file anyway.
    pub(crate) is_quiet: bool,
}

/// First and last raw time of all that is known of a host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) begin: RawNs,
    pub(crate) end: RawNs,
}

/// The losses of one logical stream.
#[derive(Debug, Default)]
pub(crate) struct StreamLosses {
    pub(crate) losses: Vec<StreamLoss>,
    /// Events that LTTng discarded: source, packet that counts them, loss. They were discarded after the last
    /// event of that packet: LTTng counts when it has no room for the packet after it, and ends the packet
    /// when there is room again.
    pub(crate) discards: Vec<(usize, usize, StreamLoss)>,
    /// Times between chunks that hold packets which are not there.
    pub(crate) holes: Vec<(RawNs, RawNs)>,
}

impl StreamLosses {
    /// Adds a loss that a packet of a source shows.
    fn add(&mut self, loss: StreamLoss, source: &EventSource<'_>, packet: usize) {
        self.losses.push(loss);
        if let LossKind::Events(_) = loss.what
            && is_of_lttng(source.trace)
        {
            self.discards.push((loss.source, packet, loss));
        }
    }
}

/// Whether one of LTTng's tracers wrote a trace.
fn is_of_lttng(trace: &Trace) -> bool {
    trace.schema().environment_text("tracer_name").is_some_and(|name| name.starts_with("lttng"))
}

/// The losses of a series. What has no start began with the host, what has no end lasts as long as it.
pub(crate) fn of_series(series: &LogicalStream<'_, '_>, extent: Extent) -> StreamLosses {
    let mut found = StreamLosses::default();
    let mut before: Option<(usize, &EventSource<'_>, PacketCounters)> = None;
    let last_part = series.parts.iter().rfind(|part| !part.2.packets.is_empty()).map(|part| part.0);
    for &(number, rank, source) in &series.parts {
        if source.packets.is_empty() {
            continue;
        }
        let first = source.packets.start;
        at_seam((number, rank, source), before, series, extent, &mut found);
        let time = |cycles| source.scale().time(cycles);
        found.losses.extend(overlaps(number, source));
        for loss in source.trace.losses(source.stream) {
            // The one before the first packet is between chunks, or older than the trace. That after the last
            // one is reported with the first packet of the next chunk, if there is one.
            let is_after = loss.before_packet >= source.packets.end;
            if loss.before_packet <= first || is_after && Some(number) != last_part {
                continue;
            }
            let from = loss.begin.map_or(extent.begin, time);
            let next = source.packet(loss.before_packet + 1).and_then(Packet::begin);
            let to = loss.end.or(next).map_or(extent.end, time).max(from);
            let what = match loss.lost {
                Lost::Events(count) => LossKind::Events(count),
                Lost::Packets(count) => LossKind::Packets(count),
            };
            found.add(StreamLoss { from, to, source: number, what }, source, loss.before_packet);
        }
        before = source.counters_of(source.packets.end - 1).map(|counters| (rank, source, counters));
    }
    // A tracer of the kernel writes a packet of each CPU to each chunk.
    if let Some((rank, last, _)) = before
        && last.is_kernel
        && !series.is_quiet
        && rank < series.ranks.1
        && let Some(&(number, ..)) = series.parts.last()
    {
        let from = last.end().unwrap_or(extent.end);
        found.losses.push(StreamLoss { from, to: extent.end.max(from), source: number, what: LossKind::All });
    }
    found
}

/// Where a packet begins before the one before it ends, by more than tracers do: the clock went back, and
/// what happened first in that time is unknown.
fn overlaps(number: usize, source: &EventSource<'_>) -> impl Iterator<Item = StreamLoss> {
    source.packets.clone().skip(1).filter_map(move |packet| {
        let (from, to) = (source.begin_of(packet)?, source.end_reached(packet - 1)?);
        let what = LossKind::Disorder;
        (to.saturating_since(from) > SLACK).then_some(StreamLoss { from, to, source: number, what })
    })
}

/// Losses between the last packet of a chunk and the first of the next one.
fn at_seam(
    (number, rank, source): (usize, usize, &EventSource<'_>),
    before: Option<(usize, &EventSource<'_>, PacketCounters)>,
    series: &LogicalStream<'_, '_>,
    extent: Extent,
    found: &mut StreamLosses,
) {
    let first = source.packets.start;
    let Some(packet) = source.packet(first) else { return };
    let Some(counters) = source.counters_of(first) else { return };
    let begin = source.begin_of(first).unwrap_or(extent.begin);
    let end = packet.end().map_or(begin, |end| source.scale().time(end)).max(begin);
    let loss = |from: RawNs, to: RawNs, what| StreamLoss { from, to: to.max(from), source: number, what };
    let is_first = counters.sequence.is_none_or(|number| number.value == 0);
    let Some((last_rank, last, known)) = before else {
        // A stream that does not begin with its first packet is a part of one: what was lost before is not
        // known.
        let discarded = counters.discarded.map_or(0, |count| count.value);
        if discarded > 0 && is_first {
            // LTTng begins it with the buffer, before anything can be discarded.
            let is_numbered = counters.sequence.is_some() && is_of_lttng(source.trace);
            let from = if is_numbered { begin } else { extent.begin };
            found.add(loss(from, end, LossKind::Events(discarded)), source, first);
        } else if rank > series.ranks.0 && !is_first && source.is_kernel && !series.is_quiet {
            found.losses.push(loss(extent.begin, begin, LossKind::All));
        }
        return;
    };
    let from = last.end().unwrap_or(begin);
    let events = counters.discarded.zip(known.discarded).and_then(|(now, then)| now.since(then));
    if let Some(count) = events.filter(|&count| count > 0) {
        found.add(loss(from, end, LossKind::Events(count)), source, first);
    }
    let what = match missing_packets(known, counters) {
        Some(0) => return,
        Some(count) => LossKind::Packets(count),
        None if rank > last_rank + 1 && source.is_kernel && !series.is_quiet => LossKind::All,
        None => return,
    };
    let hole = loss(from, begin, what);
    found.holes.push((hole.from, hole.to));
    found.losses.push(hole);
}

/// Number of packets are missing between two packets; `None` where their stream does not number them, or they
/// do not follow each other.
fn missing_packets(before: PacketCounters, after: PacketCounters) -> Option<u64> {
    after.sequence?.since(before.sequence?)?.checked_sub(1)
}
