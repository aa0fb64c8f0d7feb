//! An event source: one stream of one trace, with its times in ns, and where a cut goes through it.

use std::ops::Range;

use crate::window::Time;
use isochrone_ctf::schema::ClockClass;
use isochrone_ctf::{Event, Packet, Trace};

use crate::absent::records_switches;
use crate::context::PacketContext;
use crate::losses::StreamLoss;

/// Events of some tracers lie a few µs outside of what their packet says of itself (LTTng before 2.11 stamps the end of a
/// packet before its last events). Packets are looked through for a cut that is nearer to them than this, ns. Events that are
/// later than that come at this time: so a cut never has to look further, and the order of events is that of the whole.
pub const SLACK: Time = 100_000;

/// No event is later on the clock that stamps it, raw ns: 73 years of a clock that counts from a boot, the year 2043 of one that counts
/// from 1970. What is later was damaged, or stamped by a clock that was not set.
pub(crate) const LATEST: Time = 1 << 61;

/// A stream of a trace of a host.
#[derive(Debug)]
pub struct EventSource<'t> {
    pub(crate) trace: &'t Trace,
    /// Number of the trace in [`Host::traces`](crate::Host::traces).
    pub trace_number: usize,
    /// Number of the stream in [`Trace::streams`].
    pub stream: usize,
    /// Which of the streams that go on from chunk to chunk it is part of: the same number for the same stream of all
    /// chunks of a rotated session.
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
    pub(crate) floor: Time,
    /// Packets after whose last event the tracer discarded some, and that loss; by packet.
    pub(crate) discards: Vec<(usize, StreamLoss)>,
    /// When the host ends, as all of its packets say.
    pub(crate) host_end: Time,
    scale: Scale<'t>,
    /// By packet of the trace's stream.
    marks: Vec<PacketBounds>,
    /// Bytes of all packets.
    bytes: u64,
}

/// Bounds of a packet, for the search for cuts.
#[derive(Debug, Clone, Copy)]
struct PacketBounds {
    /// Latest end of this packet and of all before it, as they say.
    reach: Time,
    /// No event of this packet or of those before it counts as later.
    latest: Time,
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

    /// Raw ns in 64 bits; [`Time::MAX`] is left for the end of everything.
    #[inline]
    pub(crate) fn time(self, cycles: u64) -> Time {
        let raw = if self.is_ns { i64::try_from(cycles) } else { i64::try_from(self.clock.raw_ns(cycles)) };
        raw.unwrap_or(Time::MAX - 1).min(Time::MAX - 1)
    }
}

impl<'t> EventSource<'t> {
    /// A stream of a trace; `None` where no clock stamps it or it has no packets.
    pub(crate) fn new(trace: &'t Trace, trace_number: usize, stream: usize, is_kernel: bool) -> Option<Self> {
        let scale = Scale::new(trace.clock(stream)?);
        let packets = &trace.streams()[stream].packets;
        let cpu = PacketContext::of(trace, stream, packets.first()?).cpu;
        let mut marks: Vec<PacketBounds> = Vec::with_capacity(packets.len());
        let (mut reach, mut bytes) = (Time::MIN, 0);
        for (number, packet) in packets.iter().enumerate() {
            let sane_end = |packet: &Packet| sane_end(scale, packet);
            let next = packets.get(number + 1).and_then(Packet::begin);
            let begin = packet.begin().map_or(Time::MIN, |begin| scale.time(begin));
            let end =
                sane_end(packet).or(next).or_else(|| last_before_nonsense(trace, scale, stream, number));
            reach = reach.max(end.map_or(Time::MAX, |end| scale.time(end))).max(begin);
            let latest = next.map_or(Time::MAX, |next| scale.time(next).max(reach).saturating_add(SLACK));
            let before = marks.last().map_or(Time::MIN, |mark| mark.latest);
            marks.push(PacketBounds { reach, latest: latest.max(before), bytes_before: bytes });
            bytes += packet.total_bits / 8;
        }
        let packets = 0..marks.len();
        let floor = Time::MIN;
        Some(Self {
            trace,
            trace_number,
            stream,
            series: 0,
            cpu,
            is_kernel,
            has_switches: records_switches(trace.stream_plan(stream)),
            packets,
            floor,
            discards: Vec::new(),
            host_end: Time::MAX,
            scale,
            marks,
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

    /// What the head of a packet holds.
    pub(crate) fn context_of(&self, packet: usize) -> Option<PacketContext> {
        Some(PacketContext::of(self.trace, self.stream, self.packet(packet)?))
    }

    /// When a packet begins, if it says so, raw ns.
    pub fn begin_of(&self, packet: usize) -> Option<Time> {
        Some(self.scale.time(self.packet(packet)?.begin()?))
    }

    /// When a packet ends, as far as it or the one after it records that; else when the host ends. Raw ns.
    pub fn end_of(&self, packet: usize) -> Time {
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
    pub(crate) fn reach_of(&self, packet: usize) -> Option<Time> {
        Some(self.marks.get(packet)?.reach).filter(|&reach| reach < Time::MAX)
    }

    /// No event of a packet counts as later than this.
    pub(crate) fn latest_of(&self, packet: usize) -> Time {
        self.marks.get(packet).map_or(Time::MAX, |mark| mark.latest)
    }

    /// No event of a packet counts as earlier than this. It never goes back from packet to packet.
    pub(crate) fn earliest_of(&self, packet: usize) -> Time {
        self.begin_of(packet).map_or(self.floor, |begin| begin.saturating_sub(SLACK).max(self.floor))
    }

    /// Nothing counts as later than this: what comes after is in other chunks.
    pub(crate) fn end_by(&mut self, time: Time) {
        for mark in self.marks.iter_mut().rev().take_while(|mark| mark.latest > time) {
            mark.latest = time;
        }
    }

    /// The stream goes on in another chunk, at this time: the end of the last packet is as sure as that of the others.
    pub(crate) fn goes_on(&mut self, time: Time) {
        if let Some(reach) = self.end() {
            self.end_by(time.max(reach).saturating_add(SLACK));
        }
    }

    /// The first packet of the trace's stream that is read: an earlier chunk may have those before it, too (snapshots of a
    /// buffer hold what the one before held).
    pub fn first_packet(&self) -> usize {
        self.packets.start
    }

    /// The packets of the trace's stream that are read.
    pub fn packets(&self) -> Range<usize> {
        self.packets.clone()
    }

    /// The events of one packet, with the times that they count as where nothing before it is read, raw ns: those who take a sample need no others.
    pub fn events_of(&self, packet: usize) -> impl Iterator<Item = (Time, Event<'t>)> + use<'t, '_> {
        let (mut now, latest, scale) = (self.earliest_of(packet), self.latest_of(packet), self.scale);
        self.trace.packet(self.stream, packet).map(move |event| {
            let own = event.cycles().map_or(now, |cycles| scale.time(cycles));
            now = own.min(latest).max(now);
            (now, event)
        })
    }

    /// When the source begins, as its first packet says.
    pub fn begin(&self) -> Option<Time> {
        self.begin_of(self.packets.start)
    }

    /// When the source ends, as its packets say; `None` where the last one does not.
    pub fn end(&self) -> Option<Time> {
        let last = self.packets.clone().last()?;
        Some(self.marks.get(last)?.reach).filter(|&reach| reach < Time::MAX)
    }

    /// Bytes of its packets.
    pub fn bytes(&self) -> u64 {
        self.bytes_to(self.packets.end) - self.bytes_to(self.packets.start)
    }

    fn bytes_to(&self, packet: usize) -> u64 {
        self.marks.get(packet).map_or(self.bytes, |mark| mark.bytes_before)
    }

    /// When its packets begin, as far as they say so.
    pub fn packet_begins(&self) -> impl Iterator<Item = Time> + '_ {
        self.packets.clone().filter_map(|packet| self.begin_of(packet))
    }

    /// Bytes of what lies before a time, as if events were spread evenly in each packet. Logarithmic.
    pub fn bytes_before(&self, time: Time) -> u64 {
        let packets = &self.trace.streams()[self.stream].packets[self.packets.clone()];
        let begun = packets.partition_point(|p| p.begin().is_none_or(|begin| self.scale.time(begin) < time));
        let before =
            |count: usize| self.bytes_to(self.packets.start + count) - self.bytes_to(self.packets.start);
        let Some(number) = begun.checked_sub(1) else { return 0 };
        let (first, all) = (before(number), before(begun));
        let (begin, end) =
            (self.begin_of(self.packets.start + number), self.end_of(self.packets.start + number));
        match begin {
            Some(begin) if end > time && end < Time::MAX => {
                let part = |ns: Time, of: Time| u128::from(all - first) * ns as u128 / of.max(1) as u128;
                first + part(time - begin, end - begin) as u64
            }
            _ => all,
        }
    }

    /// The first packet that may have events at a raw time or later. Logarithmic.
    pub(crate) fn packet_at(&self, time: Time) -> usize {
        let marks = &self.marks[self.packets.clone()];
        self.packets.start + marks.partition_point(|mark| mark.latest < time)
    }
}

/// The end of a packet. Where a tracer was killed it is nonsense, and where its clock was.
fn sane_end(scale: Scale<'_>, packet: &Packet) -> Option<u64> {
    packet.end().filter(|&end| Some(end) >= packet.begin() && scale.time(end) <= LATEST)
}

/// The last event of a packet whose end is later than any event can be: its tracer took it from such an event, which is not read.
fn last_before_nonsense(trace: &Trace, scale: Scale<'_>, stream: usize, packet: usize) -> Option<u64> {
    let found = trace.streams()[stream].packets.get(packet)?;
    found.end().filter(|&end| Some(end) >= found.begin())?;
    let times = trace.packet(stream, packet).filter_map(|event| event.cycles());
    times.filter(|&cycles| scale.time(cycles) <= LATEST).max()
}
