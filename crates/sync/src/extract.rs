//! One pass over traces. [`survey`] gathers what each of them holds and lacks; [`extract`] also looks into the packets of
//! the network, and keeps those that can be matched.

use isochrone_ctf::schema::ClockClass;
use isochrone_ctf::{Event, Trace};
use rayon::prelude::*;

use crate::Progress;
use crate::facts::{StreamFacts, Tally, TraceFacts};
use crate::record::{Direction, Sighting};
use crate::tracer::pending::{self, Half};
use crate::tracer::{self, Extractor, Seen};
use crate::traffic::Traffic;

/// What all traces gave.
#[derive(Debug, Default)]
pub struct Extraction {
    /// By trace.
    pub facts: Vec<TraceFacts>,
    /// What each trace shows of the network.
    pub traffic: Vec<Traffic>,
    /// All sightings, by trace and stream.
    pub sightings: Vec<Sighting>,
}

/// Reads traces, several streams at a time; each comes with the index of its clock. Linear in the events; memory is
/// proportional to the sightings.
pub fn extract(traces: &[(&Trace, usize)], progress: Progress<'_>) -> Extraction {
    let only: Vec<&Trace> = traces.iter().map(|(trace, _)| *trace).collect();
    let look = |index: usize, stream| Some(NetworkLook::new(only[index], stream, traces[index].1));
    let mut extraction = Extraction {
        facts: vec![TraceFacts::default(); traces.len()],
        traffic: vec![Traffic::default(); traces.len()],
        sightings: Vec::new(),
    };
    // By trace: the event that completes a reception may lie in another stream.
    let mut halves: Vec<Vec<(i64, Half)>> = vec![Vec::new(); traces.len()];
    for (index, facts, look) in read(&only, look, progress) {
        extraction.facts[index].streams.push(facts);
        if let Some(look) = look {
            extraction.traffic[index].join(look.traffic);
            extraction.sightings.extend(look.sightings);
            halves[index].extend(look.halves);
        }
    }
    let direction = Direction::Received;
    for (index, (halves, &(_, clock))) in halves.into_iter().zip(traces).enumerate() {
        let joined = pending::join(halves);
        extraction.traffic[index].of_mut(direction).unstamped += joined.lost;
        let sighting = |(time, packet)| Sighting { clock, time, direction, packet };
        extraction.sightings.extend(joined.received.into_iter().map(sighting));
    }
    extraction
}

/// Reads traces as [`extract`] does, but no event's fields: what can be told without a look into the packets of the
/// network, which takes longer than all the rest on a host that talks much. Linear in the events; memory does not depend
/// on their number.
pub fn survey(traces: &[&Trace], progress: Progress<'_>) -> Vec<TraceFacts> {
    let mut facts = vec![TraceFacts::default(); traces.len()];
    for (index, stream, _) in read(traces, |_, _| None, progress) {
        facts[index].streams.push(stream);
    }
    facts
}

/// Takes packets of the network out of the events of one stream.
struct NetworkLook<'t> {
    clock: usize,
    stamps: Option<&'t ClockClass>,
    /// By event class.
    extractors: Vec<Option<Box<dyn Extractor>>>,
    traffic: Traffic,
    sightings: Vec<Sighting>,
    halves: Vec<(i64, Half)>,
}

impl<'t> NetworkLook<'t> {
    fn new(trace: &'t Trace, stream: usize, clock: usize) -> Self {
        let plan = trace.stream_plan(stream);
        let extractors: Vec<_> = plan.events.iter().map(|class| tracer::extractor(plan, class)).collect();
        let mut traffic = Traffic::default();
        for (class, extractor) in plan.events.iter().zip(&extractors) {
            match (extractor, class.name.as_deref().and_then(tracer::direction_of)) {
                (Some(extractor), _) => traffic.of_mut(extractor.direction()).declared = true,
                (None, Some(direction)) => traffic.of_mut(direction).headerless = true,
                (None, None) => {}
            }
        }
        let stamps = trace.clock(stream);
        Self { clock, stamps, extractors, traffic, sightings: Vec::new(), halves: Vec::new() }
    }

    #[inline]
    fn at(&mut self, event: &Event<'_>) {
        if let Some(extractor) = &self.extractors[event.class().index] {
            let direction = extractor.direction();
            let seen = extractor.seen(event);
            self.keep(event, direction, seen);
        }
    }

    /// Apart, so that the loop over all events stays small.
    #[inline(never)]
    fn keep(&mut self, event: &Event<'_>, direction: Direction, seen: Seen) {
        let stamp = self.stamps.zip(event.cycles());
        let time = stamp.and_then(|(stamps, cycles)| time(stamps, cycles, direction));
        let passed = self.traffic.of_mut(direction);
        match seen {
            Seen::Packet(packet) => {
                passed.packets += 1;
                let sighting = |time| Sighting { clock: self.clock, time, direction, packet };
                self.sightings.extend(time.map(sighting));
            }
            Seen::Half(half) => {
                match &half {
                    Half::Pending { .. } => {}
                    Half::Completes { packet: Some(_), .. } => passed.packets += 1,
                    Half::Completes { packet: None, .. } => passed.other += 1,
                }
                self.halves.extend(time.map(|time| (time, half)));
            }
            Seen::OtherProtocol => passed.other += 1,
            Seen::NoHeader => passed.bare += 1,
            Seen::Loopback => {}
        }
    }
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

/// The index of a trace, and what one of its streams gave.
type Read<'t> = (usize, StreamFacts, Option<NetworkLook<'t>>);

/// Reads all streams, by trace and stream. `look` is asked, for the index of a trace and that of a stream in it, how to
/// look at the stream's events beyond counting them.
fn read<'t>(
    traces: &[&'t Trace],
    look: impl Fn(usize, usize) -> Option<NetworkLook<'t>> + Sync,
    progress: Progress<'_>,
) -> Vec<Read<'t>> {
    let streams: Vec<(usize, usize)> = traces
        .iter()
        .enumerate()
        .flat_map(|(index, trace)| (0..trace.streams().len()).map(move |stream| (index, stream)))
        .collect();
    streams
        .par_iter()
        .map(|&(index, stream)| {
            let mut look = look(index, stream);
            (index, read_stream(traces[index], stream, look.as_mut(), progress), look)
        })
        .collect()
}

/// One function for all who read, not one each: the compiler makes the decoder a part of the only loop that there is.
fn read_stream(
    trace: &Trace,
    stream: usize,
    mut look: Option<&mut NetworkLook<'_>>,
    progress: Progress<'_>,
) -> StreamFacts {
    let mut classes = vec![Tally::default(); trace.stream_plan(stream).events.len()];
    let (mut first, mut last) = (None, None);
    let mut events = trace.events(stream);
    let mut last_packet = None;
    for event in events.by_ref() {
        if last_packet.is_none_or(|packet| !std::ptr::eq(packet, event.packet())) {
            last_packet = Some(event.packet());
            progress(event.packet().total_bits / 8);
        }
        let tally = &mut classes[event.class().index];
        tally.count += 1;
        tally.bytes += event.size();
        let cycles = event.cycles();
        first = first.or(cycles).min(cycles);
        last = last.max(cycles);
        if let Some(look) = &mut look {
            look.at(&event);
        }
    }
    let diagnostics = events.diagnostics().to_vec();
    StreamFacts { classes, first, last, losses: trace.losses(stream), diagnostics }
}
