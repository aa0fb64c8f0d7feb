//! An event source: one stream of one trace, with its times in ns, and where a cut goes through it.

use std::ops::Range;

use isochrone_ctf::plan::{Cursor, Name, Visitor, walk};
use isochrone_ctf::schema::{ClockClass, IntegerClass};
use isochrone_ctf::{Event, Packet, PacketCounters, Trace};
use isochrone_time::RawNs;

use crate::absent::records_switches;
use crate::losses::StreamLoss;

/// Events of some tracers lie a few µs outside of what their packet says of itself (LTTng before 2.11 stamps
/// the end of a packet before its last events). Packets are looked through for a cut that is nearer to them
/// than this, ns. Events that are later than that come at this time: so a cut never has to look further, and
/// the order of events is that of the whole.
pub const SLACK: i64 = 100_000;

/// No event is later on the clock that stamps it, raw ns: 73 years of a clock that counts from a boot, the
/// year 2043 of one that counts from 1970. What is later was damaged, or stamped by a clock that was not set.
pub(crate) const LATEST: RawNs = RawNs(1 << 61);

/// A stream of a trace of a host.
#[derive(Debug)]
pub struct EventSource<'t> {
    pub(crate) trace: &'t Trace,
    /// Number of the trace in [`Host::traces`](crate::Host::traces).
    pub trace_number: usize,
    /// Number of the stream in [`Trace::streams`].
    pub stream: usize,
    /// Which of the streams that continue from chunk to chunk it is part of: the same number for the same
    /// stream of all chunks of a rotated session.
    pub series: usize,
    /// The CPU, where packets record it.
    pub cpu: Option<u32>,
    /// Whether the kernel's tracer wrote it.
    pub is_kernel: bool,
    /// Whether it records which thread runs.
    pub has_switches: bool,
    /// Its packets: without those that an earlier chunk of the stream has, too.
    pub(crate) packets: Range<usize>,
    /// Earlier times count as this one: those after a chunk that is missing.
    pub(crate) clamp_start: RawNs,
    /// Packets after whose last event the tracer discarded some, and that loss; by packet.
    pub(crate) discards: Vec<(usize, StreamLoss)>,
    /// When the host ends, as all of its packets say.
    pub(crate) host_end: RawNs,
    scale: Scale<'t>,
    /// By packet of the trace's stream.
    packet_bounds: Vec<PacketBounds>,
    /// Bytes of all packets.
    bytes: u64,
}

/// Bounds of a packet, for the search for cuts.
#[derive(Debug, Clone, Copy)]
struct PacketBounds {
    /// Latest end of this packet and of all before it, as they say.
    running_max_end: RawNs,
    /// No event of this packet or of those before it counts as later.
    latest: RawNs,
    /// Bytes of all packets before it.
    bytes_before: u64,
}

/// From cycles to raw ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale<'t> {
    clock: &'t ClockClass,
    /// Cycles are ns.
    is_ns: bool,
}

impl<'t> Scale<'t> {
    pub(crate) fn new(clock: &'t ClockClass) -> Self {
        Self { clock, is_ns: clock.frequency == 1_000_000_000 }
    }

    /// Raw ns in 64 bits; [`RawNs::MAX`] is left for the end of everything.
    #[inline]
    pub(crate) fn time(self, cycles: u64) -> RawNs {
        let raw = if self.is_ns { i64::try_from(cycles) } else { i64::try_from(self.clock.raw_ns(cycles)) };
        RawNs(raw.unwrap_or(i64::MAX - 1).min(i64::MAX - 1))
    }
}

impl<'t> EventSource<'t> {
    /// A stream of a trace; `None` where no clock stamps it or it has no packets.
    pub(crate) fn new(trace: &'t Trace, trace_number: usize, stream: usize, is_kernel: bool) -> Option<Self> {
        let scale = Scale::new(trace.clock(stream)?);
        let packets = &trace.streams()[stream].packets;
        let cpu = cpu_of(trace, stream, packets.first()?);
        let mut packet_bounds: Vec<PacketBounds> = Vec::with_capacity(packets.len());
        let (mut running_max_end, mut bytes) = (RawNs::MIN, 0);
        for (number, packet) in packets.iter().enumerate() {
            let sane_end = |packet: &Packet| sane_end(scale, packet);
            let next = packets.get(number + 1).and_then(Packet::begin);
            let begin = packet.begin().map_or(RawNs::MIN, |begin| scale.time(begin));
            let end =
                sane_end(packet).or(next).or_else(|| last_before_nonsense(trace, scale, stream, number));
            running_max_end = running_max_end.max(end.map_or(RawNs::MAX, |end| scale.time(end))).max(begin);
            let latest =
                next.map_or(RawNs::MAX, |next| scale.time(next).max(running_max_end).saturating_add(SLACK));
            let before = packet_bounds.last().map_or(RawNs::MIN, |mark| mark.latest);
            packet_bounds.push(PacketBounds {
                running_max_end,
                latest: latest.max(before),
                bytes_before: bytes,
            });
            bytes += packet.total_bits / 8;
        }
        let packets = 0..packet_bounds.len();
        let clamp_start = RawNs::MIN;
        Some(Self {
            trace,
            trace_number,
            stream,
            series: 0,
            cpu,
            is_kernel,
            has_switches: records_switches(trace.stream_plan(stream)),
            packets,
            clamp_start,
            discards: Vec::new(),
            host_end: RawNs::MAX,
            scale,
            packet_bounds,
            bytes,
        })
    }

    /// The trace.
    pub fn trace(&self) -> &'t Trace {
        self.trace
    }

    pub(crate) fn scale(&self) -> Scale<'t> {
        self.scale
    }

    pub(crate) fn packet(&self, number: usize) -> Option<&'t Packet> {
        self.trace.streams()[self.stream].packets.get(number)
    }

    /// The counters in the head of a packet.
    pub(crate) fn counters_of(&self, packet: usize) -> Option<PacketCounters> {
        Some(self.trace.packet_counters(self.stream, self.packet(packet)?))
    }

    /// When a packet begins, if it says so, raw ns.
    pub fn begin_of(&self, packet: usize) -> Option<RawNs> {
        Some(self.scale.time(self.packet(packet)?.begin()?))
    }

    /// When a packet ends, as far as it or the one after it records that; else when the host ends. Raw ns.
    pub fn end_of(&self, packet: usize) -> RawNs {
        let own = self.packet(packet).and_then(|packet| sane_end(self.scale, packet));
        let end = own.or_else(|| self.packet(packet + 1)?.begin());
        end.map_or(self.host_end, |end| self.scale.time(end))
    }

    /// The loss of events that the tracer discarded after the last event of a packet.
    pub(crate) fn discarded_after(&self, packet: usize) -> Option<StreamLoss> {
        let at = self.discards.binary_search_by_key(&packet, |&(packet, _)| packet).ok()?;
        self.discards.get(at).map(|&(_, loss)| loss)
    }

    /// When a packet and all before it have ended, as they say; `None` where one does not. Raw ns.
    pub(crate) fn end_reached(&self, packet: usize) -> Option<RawNs> {
        Some(self.packet_bounds.get(packet)?.running_max_end)
            .filter(|&running_max_end| running_max_end < RawNs::MAX)
    }

    /// No event of a packet counts as later than this.
    pub(crate) fn latest_of(&self, packet: usize) -> RawNs {
        self.packet_bounds.get(packet).map_or(RawNs::MAX, |mark| mark.latest)
    }

    /// No event of a packet counts as earlier than this. It never goes back from packet to packet.
    pub(crate) fn earliest_of(&self, packet: usize) -> RawNs {
        self.begin_of(packet)
            .map_or(self.clamp_start, |begin| begin.saturating_sub(SLACK).max(self.clamp_start))
    }

    /// Nothing counts as later than this: what comes after is in other chunks.
    pub(crate) fn end_by(&mut self, time: RawNs) {
        for mark in self.packet_bounds.iter_mut().rev().take_while(|mark| mark.latest > time) {
            mark.latest = time;
        }
    }

    /// The stream continues in another chunk, at this time: the end of the last packet is as sure as that of
    /// the others.
    pub(crate) fn goes_on(&mut self, time: RawNs) {
        if let Some(running_max_end) = self.end() {
            self.end_by(time.max(running_max_end).saturating_add(SLACK));
        }
    }

    /// The first packet of the trace's stream that is read: an earlier chunk may have those before it, too
    /// (snapshots of a buffer hold what the one before held).
    pub fn first_packet(&self) -> usize {
        self.packets.start
    }

    /// The packets of the trace's stream that are read.
    pub fn packets(&self) -> Range<usize> {
        self.packets.clone()
    }

    /// The events of one packet, with the times that they count as where nothing before it is read, raw ns:
    /// callers that take a sample need no others.
    pub fn events_of(&self, packet: usize) -> impl Iterator<Item = (RawNs, Event<'t>)> + use<'t, '_> {
        let (mut now, latest, scale) = (self.earliest_of(packet), self.latest_of(packet), self.scale);
        self.trace.packet(self.stream, packet).map(move |event| {
            let own = event.cycles().map_or(now, |cycles| scale.time(cycles));
            now = own.min(latest).max(now);
            (now, event)
        })
    }

    /// When the source begins, as its first packet says.
    pub fn begin(&self) -> Option<RawNs> {
        self.begin_of(self.packets.start)
    }

    /// When the source ends, as its packets say; `None` where the last one does not.
    pub fn end(&self) -> Option<RawNs> {
        let last = self.packets.clone().last()?;
        Some(self.packet_bounds.get(last)?.running_max_end)
            .filter(|&running_max_end| running_max_end < RawNs::MAX)
    }

    /// Bytes of its packets.
    pub fn bytes(&self) -> u64 {
        self.bytes_to(self.packets.end) - self.bytes_to(self.packets.start)
    }

    fn bytes_to(&self, packet: usize) -> u64 {
        self.packet_bounds.get(packet).map_or(self.bytes, |mark| mark.bytes_before)
    }

    /// When its packets begin, as far as they say so.
    pub fn packet_begins(&self) -> impl Iterator<Item = RawNs> + '_ {
        self.packets.clone().filter_map(|packet| self.begin_of(packet))
    }

    /// Bytes of what lies before a time, as if events were spread evenly in each packet. Logarithmic.
    pub fn bytes_before(&self, time: RawNs) -> u64 {
        let packets = &self.trace.streams()[self.stream].packets[self.packets.clone()];
        let begun = packets.partition_point(|p| p.begin().is_none_or(|begin| self.scale.time(begin) < time));
        let before =
            |count: usize| self.bytes_to(self.packets.start + count) - self.bytes_to(self.packets.start);
        let Some(number) = begun.checked_sub(1) else { return 0 };
        let (first, all) = (before(number), before(begun));
        let (begin, end) =
            (self.begin_of(self.packets.start + number), self.end_of(self.packets.start + number));
        match begin {
            Some(begin) if end > time && end < RawNs::MAX => {
                let part = |ns: i64, of: i64| u128::from(all - first) * ns as u128 / of.max(1) as u128;
                first + part(time - begin, end - begin) as u64
            }
            _ => all,
        }
    }

    /// The first packet that may have events at a raw time or later. Logarithmic.
    pub(crate) fn packet_at(&self, time: RawNs) -> usize {
        let packet_bounds = &self.packet_bounds[self.packets.clone()];
        self.packets.start + packet_bounds.partition_point(|mark| mark.latest < time)
    }
}

/// The end of a packet. Where a tracer was killed it is nonsense, and where its clock was.
fn sane_end(scale: Scale<'_>, packet: &Packet) -> Option<u64> {
    packet.end().filter(|&end| Some(end) >= packet.begin() && scale.time(end) <= LATEST)
}

/// The last event of a packet whose end is later than any event can be: its tracer took it from such an
/// event, which is not read.
fn last_before_nonsense(trace: &Trace, scale: Scale<'_>, stream: usize, packet: usize) -> Option<u64> {
    let found = trace.streams()[stream].packets.get(packet)?;
    found.end().filter(|&end| Some(end) >= found.begin())?;
    let times = trace.packet(stream, packet).filter_map(|event| event.cycles());
    times.filter(|&cycles| scale.time(cycles) <= LATEST).max()
}

/// The CPU of a packet, as `cpu_id` in its header or its context records it. What cannot be decoded (the
/// file was cut since the trace was opened) is missing.
fn cpu_of(trace: &Trace, stream: usize, packet: &Packet) -> Option<u32> {
    let mut slots = trace.plan().new_slots();
    let mut cursor = Cursor::new(trace.packet_bytes(packet));
    let mut finder = CpuFinder::default();
    for node in trace.plan().packet_header.iter().chain(&trace.stream_plan(stream).packet_context) {
        if walk(node, &mut cursor, &mut slots, &mut finder).is_err() {
            break;
        }
    }
    finder.cpu
}

#[derive(Default)]
struct CpuFinder {
    cpu: Option<u32>,
    /// Whether the next value is that of `cpu_id`.
    is_cpu: bool,
}

impl Visitor for CpuFinder {
    fn member(&mut self, _: usize, name: &Name) {
        self.is_cpu = name.shown() == "cpu_id";
    }

    fn unsigned(&mut self, _: &IntegerClass, value: u64) {
        if self.is_cpu {
            self.cpu = u32::try_from(value).ok();
        }
    }

    fn signed(&mut self, class: &IntegerClass, value: i64) {
        // The bits of the field, whatever its sign.
        self.unsigned(class, value as u64 & (u64::MAX >> (64 - class.size.clamp(1, 64))));
    }
}
