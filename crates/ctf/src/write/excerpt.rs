//! Excerpts: all packets of a trace, with some of their events.
//!
//! Packet headers and contexts keep their values but for sizes, so that numbers, counters and times of
//! packets are those of the trace; events keep their bodies, and headers get the long form where the events
//! before them are left out. Read with the metadata of the trace, an excerpt gives the events that it has
//! with the times that they have in the trace.

use std::mem;
use std::ops::Range;
use std::ptr;

use super::copy::{packets_by_file, unwritable};
use super::encode::EncodeError;
use super::packet::{PacketHead, PacketWriter};
use crate::error::Error;
use crate::schema::Role;
use crate::trace::event_place::EventPlace;
use crate::trace::{Event, Packet, Trace};

/// A stream file of an excerpt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcerptFile {
    /// Name of the stream file in the trace directory.
    pub name: String,
    /// Its packets.
    pub bytes: Vec<u8>,
}

/// Which events of a trace an excerpt has. Streams and event classes are given by their indices.
///
/// Packets of several streams come in any order, and more events than the candidates may come: for the
/// excerpt to be the same, what is chosen of a stream depends on its packets before and on its candidates
/// alone, and what is no candidate after a packet is none later.
pub trait Choose {
    /// The cycles of the clock of a stream, outside of which all events are candidates.
    fn window(&self, stream: usize) -> Range<u64>;

    /// Whether events of a class may be in the excerpt, or be of interest for others of their packet: the
    /// candidates. Is called again after each packet until [`is_settled`](Self::is_settled).
    fn is_candidate(&self, stream: usize, class: usize) -> bool;

    /// Whether the candidates of a stream stay those that they are.
    fn is_settled(&self, stream: usize) -> bool;

    /// Sets the flags, `false` at first, of those that are in the excerpt. Is given the candidates of a
    /// packet, its first event, and the one with which its content ends; packets of one stream come in the
    /// order of time as far as their files have them in that order. Of a packet that cannot be decoded to its
    /// end, the flags do not matter.
    fn choose(&mut self, stream: usize, events: &[Event<'_>], flags: &mut [bool]);
}

/// Events, and their bytes, headers included.
pub type ClassCount = (u64, u64);

/// Bytes that are kept of what follows the packets of a file: of a packet that was cut off, more than its
/// head.
const MOST_REST: usize = 1 << 16;

/// Writes all packets of a trace with those events that a choice selects. Packets that cannot be decoded to
/// their ends come with the events before that, and are kept as they are, whatever is selected. So is what
/// lies between packets and after them: it shows that something is missing.
///
/// Whoever reads the trace anyway can show the events to a [`SeenPacket`] of each stream, so that they are
/// not read again; the excerpt is the same.
pub struct ExcerptWriter<'t, C> {
    trace: &'t Trace,
    choice: C,
    /// By stream.
    streams: Vec<StreamWriter>,
    /// Candidates of one packet, and whether each is in the excerpt.
    events: Vec<Event<'t>>,
    flags: Vec<bool>,
}

/// What is written of a stream.
struct StreamWriter {
    /// Index of the first packet that is not written yet.
    next: usize,
    /// Whether its packets can be written before their file is: it has them in the order of the stream.
    in_order: bool,
    /// By index of the event class.
    counts: Vec<ClassCount>,
    /// What packets are read into.
    read: Option<SeenPacket>,
}

/// The packet of a stream whose events are seen at the moment. Memory: the candidates of one packet.
pub struct SeenPacket {
    stream: usize,
    /// Its address, which is only compared.
    packet: usize,
    /// Bit where the next event begins; [`MISSED`]: an event was left out.
    at: u64,
    /// Bit where its content ends.
    end: u64,
    /// See [`Choose::window`].
    window: Range<u64>,
    /// What headers of events are aligned to, bits less one. Without headers, sizes are those of bodies.
    header_mask: Option<u64>,
    /// By index of the event class: whether its events are candidates, and how many there are.
    classes: Vec<(bool, ClassCount)>,
    /// See [`Choose::is_settled`].
    is_settled: bool,
    /// The candidates.
    places: Vec<EventPlace>,
}

/// Not all events of a packet were seen.
const MISSED: u64 = u64::MAX;

impl SeenPacket {
    /// Takes an event of the stream that somebody reads, each at most once and in their order. Returns
    /// whether it is the last one of a packet of which all were seen: then that can be written with
    /// [`ExcerptWriter::write_seen`], before the next one.
    // It is a few instructions for most events: calling it costs as many again.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub fn see(&mut self, event: &Event<'_>) -> bool {
        let place = EventPlace::of(event);
        let mut is_edge = false;
        if self.at != place.header || self.packet != ptr::from_ref(event.packet()).addr() {
            if !event.is_first() {
                self.at = MISSED;
                return false;
            }
            self.begin(event);
            is_edge = true;
        }
        self.at = place.end;
        // As `Event::size`, without a look at the stream class.
        let start = self.header_mask.map_or(place.body, |mask| (place.header + mask) & !mask);
        let (is_candidate, (events, bytes)) = &mut self.classes[place.class];
        (*events, *bytes) = (*events + 1, *bytes + (place.end - start).div_ceil(8));
        let is_last = place.end >= self.end;
        if *is_candidate || is_edge || is_last || !self.window.contains(&place.cycles) {
            self.keep(place);
        }
        is_last
    }

    #[inline(never)]
    fn keep(&mut self, candidate: EventPlace) {
        self.places.push(candidate);
    }

    /// Whether all events of a packet were seen, and none of another one since.
    fn is_whole(&self, packet: &Packet) -> bool {
        self.packet == ptr::from_ref(packet).addr() && self.at != MISSED && self.at >= self.end
    }

    #[cold]
    fn begin(&mut self, first: &Event<'_>) {
        self.packet = ptr::from_ref(first.packet()).addr();
        self.end = first.content_end();
        self.clear();
    }

    fn clear(&mut self) {
        self.places.clear();
        self.classes.iter_mut().for_each(|(_, count)| *count = (0, 0));
    }
}

impl<'t, C: Choose> ExcerptWriter<'t, C> {
    /// For a trace. `O(n log n)` in its packets, linear in the event classes of all streams.
    pub fn new(trace: &'t Trace, choice: C) -> Self {
        let stream = |stream: usize| StreamWriter {
            next: 0,
            in_order: true,
            counts: vec![(0, 0); trace.stream_plan(stream).events.len()],
            read: None,
        };
        let mut streams: Vec<StreamWriter> = (0..trace.streams().len()).map(stream).collect();
        let mut expected = vec![0; streams.len()];
        for (stream, number) in packets_by_file(trace).into_iter().flatten() {
            streams[stream].in_order &= number == expected[stream];
            expected[stream] += 1;
        }
        Self { trace, choice, streams, events: Vec::new(), flags: Vec::new() }
    }

    /// What can be shown the events of a stream, of which none was seen yet. Linear in its event classes.
    pub fn seen_packet(&self, stream: usize) -> SeenPacket {
        let plan = self.trace.stream_plan(stream);
        let classes = (0..plan.events.len()).map(|class| (self.is_candidate(stream, class), (0, 0)));
        SeenPacket {
            stream,
            packet: 0,
            at: MISSED,
            end: 0,
            window: self.choice.window(stream),
            header_mask: plan.event_header.as_ref().map(|header| u64::from(header.align) - 1),
            classes: classes.collect(),
            is_settled: self.choice.is_settled(stream),
            places: Vec::new(),
        }
    }

    fn is_candidate(&self, stream: usize, class: usize) -> bool {
        // Those that are left out may bridge gaps, see `write_selected`.
        narrow_time(self.trace, stream).is_some() || self.choice.is_candidate(stream, class)
    }

    /// Writes a packet whose last event [`SeenPacket::see`] has just returned `true` for, and those of its
    /// stream before that are not written yet, which are read: `put` is given the indices of the stream and
    /// of the packet, and the bytes. Nothing is written after any other event, nor of a stream whose packets
    /// lie in its file in another order than that of time.
    ///
    /// # Errors
    /// A packet cannot be encoded again; what `put` returns. The writer is of no use then.
    pub fn write_seen<E: From<Error>>(
        &mut self,
        seen: &mut SeenPacket,
        event: &Event<'_>,
        mut put: impl FnMut(usize, usize, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let stream = seen.stream;
        let packets = &self.trace.streams()[stream].packets;
        let StreamWriter { next, in_order, .. } = self.streams[stream];
        let is_seen = in_order && seen.is_whole(event.packet());
        let mut left = (next..packets.len()).filter(|_| is_seen);
        let found = left.find(|&number| ptr::eq(&raw const packets[number], event.packet()));
        let Some(number) = found else { return Ok(()) };
        let mut bytes = Vec::new();
        for before in next..number {
            bytes.clear();
            self.read(stream, before, &mut bytes)?;
            put(stream, before, &bytes)?;
        }
        self.streams[stream].next = number + 1;
        bytes.clear();
        self.choose(number, seen);
        self.write(stream, number, &mut bytes)?;
        put(stream, number, &bytes)
    }

    /// Writes what is left. `made` appends what was put of a packet, by the indices of the stream and of the
    /// packet; `done` gets each file. Gives what the streams have of each event class, by their indices.
    ///
    /// Linear in the packets, and in the events that were not seen; memory is the candidates of one packet
    /// and the excerpt of one file.
    ///
    /// # Errors
    /// A packet cannot be encoded again; what `made` or `done` returns.
    pub fn finish<E: From<Error>>(
        mut self,
        mut made: impl FnMut(usize, usize, &mut Vec<u8>) -> Result<(), E>,
        mut done: impl FnMut(ExcerptFile) -> Result<(), E>,
    ) -> Result<Vec<Vec<ClassCount>>, E> {
        let trace = self.trace;
        for (file, (name, packets)) in trace.file_names().zip(packets_by_file(trace)).enumerate() {
            let (mut bytes, raw, mut at) = (Vec::new(), trace.file_bytes(file), 0);
            for (stream, number) in packets {
                let packet = &trace.streams()[stream].packets[number];
                let start = packet.offset as usize;
                bytes.extend_from_slice(raw.get(at..start).unwrap_or_default());
                at = start + (packet.total_bits / 8) as usize;
                match number < self.streams[stream].next {
                    true => made(stream, number, &mut bytes)?,
                    false => self.read(stream, number, &mut bytes)?,
                }
            }
            let rest = raw.get(at..).unwrap_or_default();
            bytes.extend_from_slice(&rest[..rest.len().min(MOST_REST)]);
            done(ExcerptFile { name: name.to_owned(), bytes })?;
        }
        Ok(self.streams.into_iter().map(|stream| stream.counts).collect())
    }

    /// Reads the events of a packet, and appends what is written of it.
    fn read(&mut self, stream: usize, number: usize, bytes: &mut Vec<u8>) -> Result<(), Error> {
        let trace = self.trace;
        let packet = &trace.streams()[stream].packets[number];
        let mut seen = self.streams[stream].read.take().unwrap_or_else(|| self.seen_packet(stream));
        seen.clear();
        let mut decoded = trace.packet(stream, number);
        for event in decoded.by_ref() {
            seen.see(&event);
        }
        let is_broken = decoded.error().is_some();
        self.choose(number, &mut seen);
        self.streams[stream].read = Some(seen);
        match is_broken {
            true => bytes.extend_from_slice(trace.packet_bytes(packet)),
            false => self.write(stream, number, bytes)?,
        }
        trace.forget(packet);
        Ok(())
    }

    /// Takes what was seen of a packet as that of its stream, and chooses among the candidates.
    fn choose(&mut self, number: usize, seen: &mut SeenPacket) {
        let stream = seen.stream;
        self.events.clear();
        self.events.extend(EventPlace::events(&seen.places, self.trace, stream, number));
        self.flags.clear();
        self.flags.resize(self.events.len(), false);
        self.choice.choose(stream, &self.events, &mut self.flags);
        for (count, (_, (events, bytes))) in self.streams[stream].counts.iter_mut().zip(&seen.classes) {
            *count = (count.0 + events, count.1 + bytes);
        }
        seen.at = MISSED;
        if !mem::replace(&mut seen.is_settled, self.choice.is_settled(stream)) {
            for (class, (is_candidate, _)) in seen.classes.iter_mut().enumerate() {
                *is_candidate = self.is_candidate(stream, class);
            }
        }
    }

    /// Appends a packet with those of its candidates that are chosen.
    fn write(&self, stream: usize, number: usize, bytes: &mut Vec<u8>) -> Result<(), Error> {
        let packet = &self.trace.streams()[stream].packets[number];
        let written = write_packet(self.trace, stream, packet, &self.events, &self.flags, bytes);
        written.map_err(|error| unwritable(self.trace, packet, &error))
    }
}

/// Appends a packet with the events that have a flag.
fn write_packet(
    trace: &Trace,
    stream: usize,
    packet: &Packet,
    events: &[Event<'_>],
    flags: &[bool],
    bytes: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let head = PacketHead::of(trace, stream, packet);
    let begin = head.begin;
    let class = trace.streams()[stream].class;
    let mut writer = PacketWriter::excerpt(trace.plan(), class);
    writer.begin(head)?;
    let last = write_selected(trace, stream, events.iter().zip(flags.iter().copied()), begin, &mut writer)?;
    let total_bits = writer.content_bits().next_multiple_of(8);
    bytes.extend_from_slice(writer.finish(packet.end().unwrap_or(last), total_bits)?.bytes);
    Ok(())
}

/// Writes the events with a flag into a packet that was begun at `begin`; gives the time of the last one in
/// cycles. Where headers could not show the time since the one before, so are events without a flag.
pub(super) fn write_selected<'e, 't: 'e>(
    trace: &Trace,
    stream: usize,
    events: impl Iterator<Item = (&'e Event<'t>, bool)>,
    begin: u64,
    writer: &mut PacketWriter<'_>,
) -> Result<u64, EncodeError> {
    let bits = narrow_time(trace, stream);
    let mut last = begin;
    let mut skipped: Option<&Event<'_>> = None;
    for (event, flag) in events {
        let cycles = event.cycles().unwrap_or(0);
        // A header of few bits shows no gap that is longer than they count.
        if let Some(bits) = bits {
            if let Some(before) = skipped
                && cycles.saturating_sub(last) >> bits > 0
            {
                last = before.cycles().unwrap_or(0);
                writer.copy_event(before, last)?;
            }
            skipped = (!flag).then_some(event);
        }
        if flag {
            writer.copy_event(event, cycles)?;
            last = cycles;
        }
    }
    Ok(last)
}

/// Bits of the time in event headers that are not of LTTng's shape, which have a long form, where they are
/// fewer than those of the clock.
pub(super) fn narrow_time(trace: &Trace, stream: usize) -> Option<u32> {
    let plan = trace.stream_plan(stream);
    if plan.lttng_header.is_some() {
        return None;
    }
    plan.event_header.as_ref()?.role_bits(Role::Timestamp).filter(|&bits| bits < u64::BITS)
}
