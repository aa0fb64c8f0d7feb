//! Packets of the network in the events of one stream: which event classes record them, and at which instants
//! each counts. [`mod@crate::extract`] reads the events.

use isochrone_ctf::Trace;
use isochrone_ctf::schema::ClockClass;
use isochrone_net::tracer::pending::{SplitArrival, Stamp};
use isochrone_net::tracer::{self, Extractor};
use isochrone_net::{Direction, Seen, Sighting, StreamRef};
use isochrone_time::RawNs;

use crate::traffic::Traffic;

/// Takes packets of the network out of the events of one stream.
pub(crate) struct PacketDecoder {
    /// By event class.
    pub(crate) extractors: Vec<Option<Box<dyn Extractor>>>,
    clock: usize,
    place: StreamRef,
    pub(crate) traffic: Traffic,
    /// Parts of what two events record of an arrival, since they were last taken.
    pub(crate) halves: Vec<(Stamp, SplitArrival)>,
    /// Whether there can be any.
    pub(crate) has_split_arrivals: bool,
}

impl PacketDecoder {
    pub(crate) fn new(trace: &Trace, stream: usize, clock: usize, place: StreamRef) -> Self {
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
        let has_split_arrivals = tracer::has_split_arrivals(plan);
        Self { extractors, clock, place, traffic, halves: Vec::new(), has_split_arrivals }
    }

    /// Apart, so that the loop over all events stays small. `times`: that of the proof, and that of the
    /// event.
    #[inline(never)]
    pub(crate) fn keep(
        &mut self,
        seen: Seen,
        direction: Direction,
        times: Option<(RawNs, RawNs)>,
        out: &mut Vec<Sighting>,
    ) {
        let passed = self.traffic.of_mut(direction);
        match seen {
            Seen::Packet(packet) => {
                passed.packets += 1;
                if let Some((time, raw)) = times {
                    let Self { clock, place, .. } = *self;
                    out.push(Sighting { clock, time, raw, place, direction, device: 0, packet });
                }
            }
            Seen::SplitArrival(half) => {
                match &half {
                    SplitArrival::Pending { .. } => {}
                    SplitArrival::Completes { packet: Some(_), .. } => passed.packets += 1,
                    SplitArrival::Completes { packet: None, .. } => passed.other += 1,
                }
                let place = self.place;
                self.halves.extend(times.map(|(time, raw)| (Stamp { time, raw, place }, half)));
            }
            Seen::OtherProtocol => passed.other += 1,
            Seen::NoHeader => passed.bare += 1,
            Seen::Loopback => {}
        }
    }
}

/// The instant that proves least, and that of the event itself: a departure is not before its stamp, an
/// arrival not after the latest time that its stamp can mean.
pub(crate) fn times(stamps: &ClockClass, cycles: u64, direction: Direction) -> Option<(RawNs, RawNs)> {
    let raw = RawNs(i64::try_from(stamps.raw_ns(cycles)).ok()?);
    match direction {
        Direction::Sent => Some((raw, raw)),
        Direction::Received => Some((RawNs(i64::try_from(stamps.latest_raw_ns(cycles)).ok()?), raw)),
    }
}
