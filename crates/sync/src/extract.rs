//! One pass over traces: sightings of packets, first and last events, counts, what each trace holds and lacks.

use isochrone_ctf::schema::ClockClass;
use isochrone_ctf::{Diagnostic, Lost, Trace};
use rayon::prelude::*;

use crate::Progress;
use crate::record::{Direction, Sighting};
use crate::tracer::{self, Seen};

/// What one trace gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceFacts {
    /// Events decoded.
    pub events: u64,
    /// Per stream: events and bytes of each event class, in the order of the stream class.
    pub classes: Vec<Vec<(u64, u64)>>,
    /// Time of the first event in cycles.
    pub first: Option<u64>,
    /// Time of the last event in cycles.
    pub last: Option<u64>,
    /// What shows packets leave.
    pub sent: Traffic,
    /// What shows packets arrive.
    pub received: Traffic,
    /// Events the tracer discarded.
    pub discarded_events: u64,
    /// Packets the tracer lost.
    pub discarded_packets: u64,
    /// What could not be decoded.
    pub diagnostics: Vec<Diagnostic>,
}

/// What a trace shows of packets in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Packets that can be matched.
    pub packets: u64,
    /// Packets of protocols that are not matched.
    pub other: u64,
    /// Packets that were recorded without their headers.
    pub bare: u64,
    /// Whether the metadata declare an event with packet headers.
    pub declared: bool,
    /// Whether they declare such an event without headers, as tracers before LTTng-modules 2.9 do.
    pub headerless: bool,
}

/// What all traces gave.
#[derive(Debug, Default)]
pub struct Extraction {
    /// By trace.
    pub facts: Vec<TraceFacts>,
    /// All sightings, by trace and stream.
    pub sightings: Vec<Sighting>,
}

/// Reads traces, several streams at a time; each comes with the index of its clock. Linear in the events; memory is
/// proportional to the sightings.
pub fn extract(traces: &[(&Trace, usize)], progress: Progress<'_>) -> Extraction {
    let streams: Vec<(usize, usize)> = traces
        .iter()
        .enumerate()
        .flat_map(|(index, (trace, _))| (0..trace.streams().len()).map(move |stream| (index, stream)))
        .collect();
    let read: Vec<_> = streams
        .par_iter()
        .map(|&(index, stream)| {
            let (trace, clock) = traces[index];
            stream_sightings(trace, stream, clock, progress)
        })
        .collect();
    let mut extraction =
        Extraction { facts: vec![TraceFacts::default(); traces.len()], sightings: Vec::new() };
    for ((index, _), (facts, sightings)) in streams.into_iter().zip(read) {
        extraction.facts[index].join(facts);
        extraction.sightings.extend(sightings);
    }
    extraction
}

fn stream_sightings(
    trace: &Trace,
    stream: usize,
    clock: usize,
    progress: Progress<'_>,
) -> (TraceFacts, Vec<Sighting>) {
    let plan = trace.stream_plan(stream);
    let extractors: Vec<_> = plan.events.iter().map(|class| tracer::extractor(plan, class)).collect();
    let mut facts = TraceFacts::default();
    for (class, extractor) in plan.events.iter().zip(&extractors) {
        match (extractor, class.name.as_deref().and_then(tracer::direction_of)) {
            (Some(extractor), _) => facts.traffic(extractor.direction()).declared = true,
            (None, Some(direction)) => facts.traffic(direction).headerless = true,
            (None, None) => {}
        }
    }
    let mut sightings = Vec::new();
    let mut classes = vec![(0, 0); plan.events.len()];
    let stamps = trace.clock(stream);
    let mut events = trace.events(stream);
    let mut last_packet = None;
    for event in events.by_ref() {
        if last_packet.is_none_or(|packet| !std::ptr::eq(packet, event.packet())) {
            last_packet = Some(event.packet());
            progress(event.packet().total_bits / 8);
        }
        let class = event.class().index;
        let (count, bytes) = &mut classes[class];
        *count += 1;
        *bytes += event.size();
        let cycles = event.cycles();
        facts.first = facts.first.or(cycles).min(cycles);
        facts.last = facts.last.max(cycles);
        let Some(extractor) = &extractors[class] else { continue };
        let direction = extractor.direction();
        match extractor.seen(&event) {
            Seen::Packet(key) => {
                facts.traffic(direction).packets += 1;
                if let Some(time) =
                    stamps.zip(cycles).and_then(|(stamps, cycles)| time(stamps, cycles, direction))
                {
                    sightings.push(Sighting { clock, time, direction, key });
                }
            }
            Seen::OtherProtocol => facts.traffic(direction).other += 1,
            Seen::NoHeader => facts.traffic(direction).bare += 1,
            Seen::Loopback => {}
        }
    }
    facts.events = classes.iter().map(|(count, _)| count).sum();
    facts.classes = vec![classes];
    facts.diagnostics = events.diagnostics().to_vec();
    for loss in trace.losses(stream) {
        match loss.lost {
            Lost::Events(count) => facts.discarded_events = facts.discarded_events.saturating_add(count),
            Lost::Packets(count) => facts.discarded_packets = facts.discarded_packets.saturating_add(count),
        }
    }
    (facts, sightings)
}

/// The instant that proves least: a departure is not before its stamp, an arrival not behind the latest time that its
/// stamp can mean.
fn time(stamps: &ClockClass, cycles: u64, direction: Direction) -> Option<i64> {
    let raw = match direction {
        Direction::Sent => stamps.raw_ns(cycles),
        Direction::Received => stamps.latest_raw_ns(cycles),
    };
    i64::try_from(raw).ok()
}

impl TraceFacts {
    fn traffic(&mut self, direction: Direction) -> &mut Traffic {
        match direction {
            Direction::Sent => &mut self.sent,
            Direction::Received => &mut self.received,
        }
    }

    /// Adds what another stream of the same trace gave.
    fn join(&mut self, other: Self) {
        self.events += other.events;
        self.classes.extend(other.classes);
        self.first = [self.first, other.first].into_iter().flatten().min();
        self.last = self.last.max(other.last);
        self.sent.join(other.sent);
        self.received.join(other.received);
        self.discarded_events = self.discarded_events.saturating_add(other.discarded_events);
        self.discarded_packets = self.discarded_packets.saturating_add(other.discarded_packets);
        self.diagnostics.extend(other.diagnostics);
    }
}

impl Traffic {
    /// Adds what another source shows.
    pub fn join(&mut self, other: Self) {
        self.packets += other.packets;
        self.other += other.other;
        self.bare += other.bare;
        self.declared |= other.declared;
        self.headerless |= other.headerless;
    }
}
