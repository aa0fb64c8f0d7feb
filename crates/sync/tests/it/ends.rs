//! Every message keeps both of its records: each is found again as an event of the stream that the message
//! names, at the same raw time and with the same key, by a reader that knows nothing of the matching.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use isochrone_capture::Capture;
use isochrone_files::Inputs;
use isochrone_matching::{End, Matched};
use isochrone_net::{Direction, PacketKey, Seen, StreamRef, captured, tracer};
use isochrone_sync::{Options, Outcome, synchronize_with};
use isochrone_time::RawNs;

/// Where a record is, when, which way, and of which packet.
type Record = (StreamRef, RawNs, Direction, PacketKey);

/// All packets that the events of some inputs record, and the frames of their captures, either way.
fn records(inputs: &Inputs) -> HashSet<Record> {
    let mut found = HashSet::new();
    for (number, input) in inputs.traces.iter().enumerate() {
        let trace = &input.trace;
        for stream in 0..trace.streams().len() {
            let (plan, stamps) = (trace.stream_plan(stream), trace.clock(stream).unwrap());
            let extractors: Vec<_> = plan.events.iter().map(|class| tracer::extractor(plan, class)).collect();
            let place = StreamRef::of_trace(number, stream);
            for event in trace.events(stream) {
                let Some(extractor) = &extractors[event.class().index] else { continue };
                let raw = RawNs(i64::try_from(stamps.raw_ns(event.cycles().unwrap())).unwrap());
                if let Seen::Packet(packet) = extractor.seen(&event) {
                    found.insert((place, raw, extractor.direction(), packet.key()));
                }
            }
        }
    }
    for (number, capture) in inputs.captures.iter().enumerate() {
        for frame in Capture::open(&capture.path).unwrap() {
            let place = StreamRef::of_capture(number, frame.interface);
            if let Seen::Packet(packet) = captured::seen(&frame) {
                let both = [Direction::Sent, Direction::Received];
                found.extend(both.map(|way| (place, RawNs(frame.stamp.earliest_ns), way, packet.key())));
            }
        }
    }
    found
}

fn check(name: &str, paths: &[PathBuf]) {
    let inputs = Inputs::open(paths);
    let mut messages: Vec<Matched> = Vec::new();
    let sink = &mut |message: &Matched| messages.push(*message);
    // The switch of the scenarios stamps each frame before it sends it on.
    let vantage = inputs.captures.iter().map(|capture| (capture.host(), "inline".parse().unwrap())).collect();
    let options = Options { vantage, ..Options::default() };
    let outcome = synchronize_with(&inputs, &options, &|_| {}, sink).unwrap();
    assert_eq!(messages.len() as u64, outcome.packets.messages(), "{name}");
    assert!(messages.len() > 100, "{name}: {}", messages.len());
    let records = records(&inputs);
    for message in &messages {
        let Matched { sent, received } = message;
        assert_eq!((sent.direction, received.direction), (Direction::Sent, Direction::Received));
        assert!(sent.key.agrees(&received.key), "{name}: {message:?}");
        // A reception may count later than its event, within one tick of its clock; a departure never does.
        assert!(sent.time == sent.raw && received.raw <= received.time, "{name}: {message:?}");
        for end in [sent, received] {
            let record = (end.place, end.raw, end.direction, end.key);
            assert!(records.contains(&record), "{name}: {end:?} is not in the inputs");
            assert_eq!(clock_of(&outcome, end), clock_at(&inputs, &outcome, end.place), "{name}: {end:?}");
        }
        held_against_bounds(name, &outcome, message);
    }
    // One departure of a flow is one record: no two messages between the same hosts share an arrival.
    let arrivals: HashSet<_> =
        messages.iter().map(|m| (m.sent.clock, m.received.place, m.received.raw, m.received.key)).collect();
    assert_eq!(arrivals.len(), messages.len(), "{name}");
}

/// The host that the number of a clock means.
fn clock_of<'o>(outcome: &'o Outcome, end: &End) -> &'o str {
    &outcome.clocks.get(outcome.numbers[end.clock].unwrap()).unwrap().entry.host
}

/// The host that a stream is of.
fn clock_at<'o>(inputs: &Inputs, outcome: &'o Outcome, place: StreamRef) -> &'o str {
    let path: &Path = match place.origin {
        isochrone_net::Origin::Trace(trace) => inputs.traces[trace as usize].path(),
        isochrone_net::Origin::Capture(capture) => &inputs.captures[capture as usize].path,
    };
    let path = path.display().to_string();
    let is_its = |clock: &&isochrone_corrections::Clock| clock.entry.traces.iter().any(|t| t.path == path);
    &outcome.clocks.iter().find(is_its).unwrap().entry.host
}

/// By the bounds of its link, no message surely arrives before it left.
fn held_against_bounds(name: &str, outcome: &Outcome, message: &Matched) {
    let clock = |end: &End| outcome.clocks.get(outcome.numbers[end.clock].unwrap()).unwrap();
    let (from, to) = (clock(&message.sent), clock(&message.received));
    let related = outcome.clocks.related(from, to, message.sent.time).unwrap();
    if let Some(earliest) = related.bounds.0 {
        assert!(earliest <= message.received.time, "{name}: {message:?} {related:?}");
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn both_ends_of_every_message_are_events() {
    for name in ["chain3", "udp2"] {
        check(name, &[crate::common::shared("vm").join(name)]);
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn frames_of_captures_are_found_again() {
    let scratch = tempfile::tempdir().unwrap();
    let scenario = crate::common::shared("vm").join("chain3");
    let capture = scratch.path().join("switch.pcap");
    std::fs::write(&capture, crate::common::plain(&scenario.join("switch.pcap.zst"))).unwrap();
    check("chain3 with its switch", &[scenario, capture]);
}
