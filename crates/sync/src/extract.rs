//! One pass over all traces: sightings of packets, first and last events, what each trace holds and lacks.

use isochrone_ctf::{Diagnostic, Lost, StreamEvents, Trace};
use rayon::prelude::*;

use crate::Progress;
use crate::record::{Direction, Sighting};
use crate::tracer;

/// What one trace gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceFacts {
    /// Events decoded.
    pub events: u64,
    /// Raw time of the first event, ns.
    pub first: Option<i64>,
    /// Raw time of the last event, ns.
    pub last: Option<i64>,
    /// Events that tell of a packet that could be a message: sent, received.
    pub packets: (u64, u64),
    /// Events of the right kind that hold no header to match by: sent, received.
    pub bare: (u64, u64),
    /// Whether the metadata declare a usable event for sending, for receiving.
    pub declared: (bool, bool),
    /// Whether the metadata declare such an event without packet headers, as tracers before LTTng-modules 2.9 do.
    pub headerless: (bool, bool),
    /// Events the tracer discarded.
    pub discarded_events: u64,
    /// Packets the tracer lost.
    pub discarded_packets: u64,
    /// What could not be decoded.
    pub diagnostics: Vec<Diagnostic>,
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
            (Some(extractor), _) => *side(&mut facts.declared, extractor.direction()) = true,
            (None, Some(direction)) => *side(&mut facts.headerless, direction) = true,
            (None, None) => {}
        }
    }
    let mut sightings = Vec::new();
    let Some(class) = trace.clock(stream) else { return (facts, sightings) };
    // A coarse clock's stamp means any instant up to the next tick.
    let tick = i64::try_from(1_000_000_000_u64.div_ceil(class.frequency)).unwrap_or(i64::MAX);
    let mut events = trace.events(stream);
    let mut last_packet = None;
    for event in events.by_ref() {
        if last_packet.is_none_or(|packet| !std::ptr::eq(packet, event.packet())) {
            last_packet = Some(event.packet());
            progress(event.packet().total_bits / 8);
        }
        facts.events += 1;
        let Some(time) = event.cycles().and_then(|cycles| i64::try_from(class.raw_ns(cycles)).ok()) else {
            continue;
        };
        facts.first = Some(facts.first.map_or(time, |first| first.min(time)));
        facts.last = Some(facts.last.map_or(time, |last| last.max(time)));
        let Some(extractor) = &extractors[event.class().index] else { continue };
        let direction = extractor.direction();
        match extractor.packet(&event) {
            Some(key) => {
                *side(&mut facts.packets, direction) += 1;
                let time = match direction {
                    Direction::Sent => time,
                    Direction::Received => time.saturating_add(tick - 1),
                };
                sightings.push(Sighting { clock, time, direction, key });
            }
            None => *side(&mut facts.bare, direction) += 1,
        }
    }
    facts.note_losses(trace, stream, &events);
    (facts, sightings)
}

fn side<T>(pair: &mut (T, T), direction: Direction) -> &mut T {
    match direction {
        Direction::Sent => &mut pair.0,
        Direction::Received => &mut pair.1,
    }
}

impl TraceFacts {
    fn note_losses(&mut self, trace: &Trace, stream: usize, events: &StreamEvents<'_>) {
        for loss in trace.losses(stream) {
            match loss.lost {
                Lost::Events(count) => self.discarded_events += count,
                Lost::Packets(count) => self.discarded_packets += count,
            }
        }
        self.diagnostics.extend_from_slice(events.diagnostics());
    }

    /// Adds what another stream of the same trace gave.
    fn join(&mut self, other: Self) {
        self.events += other.events;
        self.first = [self.first, other.first].into_iter().flatten().min();
        self.last = self.last.max(other.last);
        self.packets.0 += other.packets.0;
        self.packets.1 += other.packets.1;
        self.bare.0 += other.bare.0;
        self.bare.1 += other.bare.1;
        self.declared.0 |= other.declared.0;
        self.declared.1 |= other.declared.1;
        self.headerless.0 |= other.headerless.0;
        self.headerless.1 |= other.headerless.1;
        self.discarded_events += other.discarded_events;
        self.discarded_packets += other.discarded_packets;
        self.diagnostics.extend(other.diagnostics);
    }
}
