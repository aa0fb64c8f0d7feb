//! Events elsewhere in time than their packet: what is damage costs the rest of the packet, and what tracers are known to do
//! costs nothing.

use crate::bytes;
use crate::common::{COMPACT, TYPES, read, write};

const S: u64 = 1_000_000_000;

/// A packet: begin, end, times of its events.
type Packet<'p> = (u64, u64, &'p [u64]);

/// Metadata of a tracer: an event is its time in 64 bits.
fn described(environment: &str, clock: &str) -> String {
    format!(
        "/* CTF 1.8 */ trace {{ major = 1; minor = 8; byte_order = le; }}; env {{ {environment} }}; {clock} {TYPES}
         stream {{ packet.context := struct {{ t64 timestamp_begin; t64 timestamp_end; u64 packet_size; u64 content_size; }};
         event.header := struct {{ t64 timestamp; }}; }}; event {{ name = e; fields := struct {{ u8 n; }}; }};"
    )
}

fn bytes_of(packets: &[Packet<'_>]) -> Vec<u8> {
    let packet = |&(begin, end, events): &Packet<'_>| {
        let bits = (32 + 9 * events.len() as u64) * 8;
        let events = events.iter().flat_map(|time| bytes!(*time, 1_u8));
        bytes!(begin, end, bits, bits).into_iter().chain(events).collect::<Vec<u8>>()
    };
    packets.iter().flat_map(packet).collect()
}

/// How many events are read, and what is lost.
#[track_caller]
fn check(name: &str, environment: &str, packets: &[Packet<'_>], events: usize, lost: &[&str]) {
    let clock = "clock { name = m; freq = 1000000000; };";
    let trace = write(&described(environment, clock), &[("s", &bytes_of(packets))]);
    let reading = read(trace.path()).unwrap();
    assert_eq!(reading.events.len(), events, "{name}: {:?}", reading.events);
    let losses: Vec<_> = reading.diagnostics.iter().filter(|line| line.starts_with("Loss")).collect();
    assert_eq!(losses, lost, "{name}");
}

const MODULES: [&str; 2] = [
    "tracer_name = \"lttng-modules\"; tracer_major = 2; tracer_minor = 9; tracer_patchlevel = 12;",
    "tracer_name = \"lttng-modules\"; tracer_major = 2; tracer_minor = 9; tracer_patchlevel = 13;",
];
const UST: [&str; 2] = [
    "tracer_name = \"lttng-ust\"; tracer_major = 2; tracer_minor = 10;",
    "tracer_name = \"lttng-ust\"; tracer_major = 2; tracer_minor = 11;",
];
const BARECTF: [&str; 2] = [
    "tracer_name = \"barectf\"; tracer_major = 2; tracer_minor = 3; tracer_patch = 0;",
    "tracer_name = \"barectf\"; tracer_major = 2; tracer_minor = 3; tracer_patch = 1;",
];

#[test]
fn events_far_from_their_packet_are_lost_with_its_rest() {
    let late = "Loss s packet 0 byte 41: the rest of the packet is skipped: an event has the time 3000000000 (in cycles), and \
                those of its packet lie between 999000000 and 2001000000";
    let packets: [Packet<'_>; 2] = [(S, 2 * S, &[S, 3 * S, 2 * S]), (2 * S, 4 * S, &[2 * S, 3 * S])];
    check("late", "", &packets, 3, &[late]);
    let early = "Loss s packet 0 byte 41: the rest of the packet is skipped: an event has the time 500000000 (in cycles), and \
                 those of its packet lie between 999000000 and 2001000000";
    check("early", "", &[(S, 2 * S, &[S, S / 2, 2 * S])], 1, &[early]);
    // Between two packets: it may be of either, but for tracers whose ends are right.
    let between: [Packet<'_>; 2] = [(S, 2 * S, &[S, 3 * S]), (5 * S, 6 * S, &[4 * S, 6 * S])];
    check("between", "", &between, 4, &[]);
    for environment in [MODULES[1], UST[1]] {
        check(environment, environment, &between, 3, &[late]);
    }
    // The last packet of a tracer that is not known to be wrong.
    for environment in ["", MODULES[1], UST[1], BARECTF[1]] {
        check(environment, environment, &[(S, 2 * S, &[S, 3 * S])], 1, &[late]);
    }
}

#[test]
fn what_tracers_do_costs_nothing() {
    let check = |name, environment, packets: &[Packet<'_>]| {
        let events = packets.iter().map(|(_, _, events)| events.len()).sum();
        check(name, environment, packets, events, &[]);
    };
    for environment in ["", MODULES[0], MODULES[1], UST[0], UST[1], BARECTF[0], BARECTF[1]] {
        check(
            "packets overlap by microseconds",
            environment,
            &[(S, 2 * S + 900, &[S, 2 * S + 900]), (2 * S, 3 * S, &[2 * S + 901, 3 * S])],
        );
        check("no end", environment, &[(S, 0, &[S, 9 * S]), (10 * S, 0, &[11 * S])]);
        check("neither begin nor end", environment, &[(0, 0, &[S, 9 * S])]);
        check("an end before the begin", environment, &[(S, S - 1, &[S, 9 * S])]);
        check("some microseconds outside", environment, &[(S, 2 * S, &[S - 9_000, 2 * S + 9_000])]);
    }
    for environment in [MODULES[0], UST[0]] {
        check("ends too early", environment, &[(S, S, &[S, 2 * S]), (2 * S, 2 * S, &[2 * S, 5 * S])]);
    }
    check("begins too late", BARECTF[0], &[(2 * S, 3 * S, &[S, 3 * S]), (5 * S, 6 * S, &[4 * S])]);
}

#[test]
fn clocks_of_any_frequency_have_the_same_slack() {
    let check = |frequency: u64, end: u64, time: u64, events: usize| {
        let clock = format!("clock {{ name = m; freq = {frequency}; }};");
        let trace = write(&described("", &clock), &[("s", &bytes_of(&[(0, end, &[time])]))]);
        let reading = read(trace.path()).unwrap();
        assert_eq!(reading.events.len(), events, "{frequency} {end} {time}: {:?}", reading.diagnostics);
    };
    check(1, 10, 11, 1);
    check(1, 10, 12, 0);
    check(3_000_000_000, 10, 3_000_010, 1);
    check(3_000_000_000, 10, 3_000_011, 0);
    check(u64::MAX, u64::MAX, u64::MAX, 1);
}

#[test]
fn a_wrong_begin_moves_events_by_a_wrap_and_is_noticed() {
    // LTTng's compact header: 27 bits of time, which wrap after 134 ms.
    let text = format!(
        "/* CTF 1.8 */ trace {{ major = 1; minor = 8; byte_order = le; }}; clock {{ name = m; freq = 1000000000; }}; {TYPES}
         stream {{ packet.context := struct {{ t64 timestamp_begin; t64 timestamp_end; u64 packet_size; u64 content_size; }};
         event.header := {COMPACT}; }};
         event {{ name = e; id = 0; fields := struct {{ u8 n; }}; }};"
    );
    let check_until = |begin: u64, end: u64, events: usize, times: &[u64], extended: bool| {
        let event = |time: &u64| match extended {
            false => bytes!((*time as u32 & 0x7ff_ffff) << 5, 1_u8),
            true => bytes!(31_u8, 0_u32, *time, 1_u8),
        };
        let body: Vec<u8> = times.iter().flat_map(event).collect();
        let bits = (32 + body.len() as u64) * 8;
        let packet = [bytes!(begin, end, bits, bits), body].concat();
        let trace = write(&text, &[("s", &packet)]);
        let reading = read(trace.path()).unwrap();
        let found = (reading.events.len(), reading.diagnostics.len());
        assert_eq!(found, (events, usize::from(events < times.len())), "{begin} {:?}", reading.diagnostics);
    };
    let check =
        |begin, events, times: &[u64], extended| check_until(begin, 50_000_000, events, times, extended);
    for extended in [false, true] {
        check(1_000, 3, &[1_000, 2_000, 49_000_000], extended);
    }
    check(1_500, 0, &[1_000, 2_000, 49_000_000], false);
    check(2_500_000, 0, &[1_000, 2_000, 49_000_000], true);
    check(1_000, 1, &[1_000, 60_000_000, 70_000_000], true);
    // A packet that is longer than a wrap: all its events are moved, and the last ones too far.
    let long: Vec<u64> = (0..10).map(|n| 1_000 + n * 100_000_000).collect();
    check_until(1_000, 900_001_000, 10, &long, false);
    check_until(1_500, 900_001_000, 0, &long, false);
    // A first event that comes late is none that was moved.
    check_until(1_000, 900_001_000, 9, &long[1..], false);
}
