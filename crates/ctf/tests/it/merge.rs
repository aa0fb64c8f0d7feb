//! The order of events of many streams: by time; what has equal times, and what times that go back do to it.

use crate::bytes;
use std::collections::VecDeque;

use crate::common::{metadata, write};
use isochrone_ctf::merge::Merge;
use isochrone_ctf::{Diagnostic, Event, Trace};
use proptest::prelude::*;

/// A packet with events of these times, each with the same byte: what it records as its begin and its end, times, byte.
type Packet<'p> = (u64, u64, &'p [u64], char);

fn bytes_of(&(begin, end, times, byte): &Packet<'_>) -> Vec<u8> {
    let bits = (20 + times.len() * 9) as u16 * 8;
    let mut packet = bytes!(bits, bits, begin, end);
    packet.extend(times.iter().flat_map(|time| bytes!(*time, byte as u8)));
    packet
}

/// Time and byte of an event.
fn shown(event: &Event<'_>) -> (u64, char) {
    let field = event.class().payload_field(event.stream_plan(), &["n"]).unwrap();
    (event.cycles().unwrap(), char::from(event.unsigned(&field).unwrap() as u8))
}

/// The order in which the events of traces come, each of them with one stream file of these packets.
fn merged(traces: &[&[Packet<'_>]]) -> Vec<(u64, char)> {
    let text = metadata(
        "stream { packet.context := struct { u16 packet_size; u16 content_size; t64 timestamp_begin; t64 timestamp_end; }; \
         event.header := struct { t64 t; }; }; event { name = x; fields := struct { u8 n; }; };",
    );
    let file = |packets: &&[Packet<'_>]| packets.iter().flat_map(bytes_of).collect::<Vec<u8>>();
    let directories: Vec<_> = traces.iter().map(|packets| write(&text, &[("s", &file(packets))])).collect();
    let traces: Vec<_> = directories.iter().map(|directory| Trace::open(directory.path()).unwrap()).collect();
    assert!(!traces.iter().flat_map(Trace::diagnostics).any(Diagnostic::is_loss));
    let streams = traces.iter().enumerate().map(|(n, trace)| (n, trace.events(0)));
    let merge = Merge::new(streams, |_, event: &Event<'_>| event.cycles());
    merge.map(|(_, _, event)| shown(&event)).collect()
}

fn check(name: &str, traces: &[&[Packet<'_>]], expect: &str) {
    let events: Vec<_> = merged(traces).iter().map(|(time, byte)| format!("{byte}{time}")).collect();
    assert_eq!(events.join(" "), expect, "{name}");
}

#[test]
fn times_decide_and_then_the_order_of_the_streams() {
    check("no streams", &[], "");
    check("one", &[&[(1, 9, &[1, 2, 2], 'a')]], "a1 a2 a2");
    check("times", &[&[(1, 9, &[2, 5], 'a')], &[(1, 9, &[1, 3, 6], 'b')]], "b1 a2 b3 a5 b6");
    let [a, b, c]: [&[Packet<'_>]; 3] =
        [&[(1, 9, &[3, 3, 4], 'a')], &[(1, 9, &[3, 3], 'b')], &[(1, 9, &[3], 'c')]];
    check("ties", &[a, b, c], "a3 a3 b3 b3 c3 a4");
    check("ties, the other way round", &[c, b, a], "c3 b3 b3 a3 a3 a4");
}

#[test]
fn packets_overlap() {
    let other: &[Packet<'_>] = &[(1, 99, &[4, 10, 11, 30], 'z')];
    // As LTTng up to 2.3 has it: a packet begins before the one before it has ended, but the events are in order.
    let overlap: &[Packet<'_>] = &[(1, 12, &[2, 10], 'a'), (10, 40, &[11, 20], 'b')];
    check("packets", &[overlap, other], "a2 z4 a10 z10 b11 z11 b20 z30");
    // Packets come by their begins, whatever their order in the file, and those that begin at the same time in that order.
    let unsorted: &[Packet<'_>] = &[(10, 40, &[11, 20], 'b'), (1, 12, &[2, 10], 'a')];
    check("packets out of order", &[unsorted, other], "a2 z4 a10 z10 b11 z11 b20 z30");
    let same: &[Packet<'_>] = &[(5, 9, &[5, 6], 'b'), (5, 9, &[6, 7], 'a')];
    check("packets that begin together", &[same, other], "z4 b5 b6 a6 a7 z10 z11 z30");
    // Where events overlap, they come packet after packet. What is late comes as soon as what is before it has come.
    let events: &[Packet<'_>] = &[(1, 40, &[2, 30], 'a'), (10, 40, &[10, 29, 31], 'b')];
    check("events", &[events, other], "a2 z4 z10 z11 a30 b10 b29 z30 b31");
    check("events of the second stream", &[other, events], "a2 z4 z10 z11 z30 a30 b10 b29 b31");
}

proptest! {
    /// Streams of any times, also such that go back: the head with the least time is the next, of several the first.
    #[test]
    fn the_least_head_is_the_next(streams in prop::collection::vec(prop::collection::vec(0_u64..20, 0..9), 0..7)) {
        let packets: Vec<[Packet<'_>; 1]> =
            streams.iter().zip('a'..).map(|(times, byte)| [(0, 99, times.as_slice(), byte)]).collect();
        let traces: Vec<&[Packet<'_>]> = packets.iter().map(<[_; 1]>::as_slice).collect();
        let mut heads: Vec<(VecDeque<u64>, char)> = streams.iter().map(|times| times.iter().copied().collect()).zip('a'..).collect();
        let mut expect = Vec::new();
        while let Some((times, byte)) = heads.iter_mut().filter(|(times, _)| !times.is_empty()).min_by_key(|(times, _)| times[0]) {
            expect.extend(times.pop_front().map(|time| (time, *byte)));
        }
        prop_assert_eq!(merged(&traces), expect);
    }
}
