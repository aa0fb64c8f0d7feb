//! Packets, losses, rotations, clocks and mistakes of traces written by hand.

use crate::common::{events, files, open, times};
use isochrone_ctf::{Loss, Lost, find_traces};
use isochrone_testkit::{ByteOrder, ClockSpec, EventHeader, LttngTrace, Misuse, TestkitError};

/// Two CPUs with events of several kinds at uneven times.
fn busy_host() -> LttngTrace {
    let mut host = LttngTrace::kernel("web");
    host.cpus(2).packet_size(4096);
    for n in 0..2_000_u64 {
        let cpu = (n % 3 == 0).into();
        let time = 1_000_000 + n * n * 50;
        match n % 4 {
            0 => host.event(cpu, time, "sched_switch", &[("next_tid", (n as i32).into())]),
            1 => host.event(cpu, time, "irq_handler_entry", &[("name", format!("irq{n}").into())]),
            2 => host.event(cpu, time, "irq_handler_exit", &[("ret", 1.into())]),
            _ => host.event(cpu, time, "net_dev_queue", &[("name", "lo".into())]),
        };
    }
    host
}

#[test]
fn packets_are_full_pages_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let mut host = busy_host();
    host.write(directory.path()).unwrap();
    let trace = open(directory.path());
    assert_eq!(host.events(), 2_000);
    assert_eq!((0..2).map(|stream| events(&trace, stream).len()).sum::<usize>(), 2_000);
    for stream in trace.streams() {
        assert_eq!(stream.file, format!("ch_{}", stream.id.unwrap()));
        assert!(stream.packets.len() > 3);
        let (last, full) = stream.packets.split_last().unwrap();
        for packet in full {
            assert_eq!(packet.total_bits, 4096 * 8);
            assert!(packet.content_bits > 4000 * 8, "a packet of {} bits was cut early", packet.content_bits);
        }
        assert_eq!(last.total_bits, 4096 * 8);
        assert!(stream.packets.iter().is_sorted_by_key(|packet| (packet.begin(), packet.end())));
    }
    assert!((0..2).all(|stream| trace.losses(stream).is_empty()));
    let environment = |name| trace.schema().environment_text(name);
    assert_eq!((environment("hostname"), environment("domain")), (Some("web"), Some("kernel")));
}

#[test]
fn the_same_description_gives_the_same_bytes() {
    let [a, b] = [(), ()].map(|()| tempfile::tempdir().unwrap());
    let mut host = busy_host();
    host.write(a.path()).unwrap();
    busy_host().write(b.path()).unwrap();
    assert_eq!(files(a.path()), files(b.path()));
    host.write(b.path()).unwrap();
    assert_eq!(files(a.path()), files(b.path()));
}

#[test]
fn packets_end_where_asked() {
    let directory = tempfile::tempdir().unwrap();
    let mut host = LttngTrace::kernel("web");
    host.event(0, 10, "irq_handler_exit", &[]).end_packet(0).end_packet(0);
    host.event(0, 20, "irq_handler_exit", &[]).event(0, 30, "irq_handler_exit", &[]).end_packet(0);
    host.write(directory.path()).unwrap();
    let trace = open(directory.path());
    let packets = &trace.streams()[0].packets;
    let spans: Vec<_> = packets.iter().map(|p| (p.begin().unwrap(), p.end().unwrap())).collect();
    assert_eq!(spans, [(10, 10), (10, 10), (20, 30)]);
    let counts: Vec<_> = (0..3).map(|packet| trace.packet(0, packet).count()).collect();
    assert_eq!(counts, [1, 0, 2]);
}

#[test]
fn an_event_larger_than_a_packet_gets_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let mut host = LttngTrace::kernel("web");
    host.packet_size(100);
    for n in 0..3 {
        host.event(0, n, "irq_handler_entry", &[("name", "x".repeat(5000).into())]);
    }
    host.write(directory.path()).unwrap();
    let trace = open(directory.path());
    assert_eq!(trace.streams()[0].packets.iter().map(|p| p.total_bits / 8).collect::<Vec<_>>(), [8192; 3]);
}

#[test]
fn discarded_events_are_reported_by_the_packet_that_ends_next() {
    let directory = tempfile::tempdir().unwrap();
    let mut host = LttngTrace::kernel("web");
    host.event(0, 10, "irq_handler_exit", &[]).end_packet(0);
    host.event(0, 20, "irq_handler_exit", &[]).discard(0, 5).discard(0, 2);
    host.event(0, 30, "irq_handler_exit", &[]).end_packet(0);
    host.event(0, 40, "irq_handler_exit", &[]).end_packet(0).discard(0, 1);
    host.write(directory.path()).unwrap();
    let trace = open(directory.path());
    let loss = |count, before_packet, begin, end| Loss {
        lost: Lost::Events(count),
        before_packet,
        begin: Some(begin),
        end: Some(end),
    };
    assert_eq!(trace.losses(0), [loss(7, 1, 10, 30), loss(1, 3, 40, 40)]);
}

#[test]
fn rotated_chunks_join_to_the_whole() {
    let [whole, rotated] = [(), ()].map(|()| tempfile::tempdir().unwrap());
    let mut host = busy_host();
    // The last chunk is empty on both CPUs, the first border falls on an event.
    let rotations = [1_000_000 + 50 * 50 * 50, 90_000_000, 90_000_001, 1 << 40];
    host.write(whole.path()).unwrap();
    host.write_rotated(rotated.path(), &rotations).unwrap();
    let whole = open(whole.path());
    let chunks = find_traces(rotated.path()).unwrap().traces;
    assert_eq!(chunks.len(), 5);
    assert_eq!(chunks[1], rotated.path().join("archives/1/kernel"));
    let mut joined = [Vec::new(), Vec::new()];
    let mut sequence_start = 0;
    for (n, chunk) in chunks.iter().enumerate() {
        let trace = open(chunk);
        assert_eq!(trace.schema().uuid, whole.schema().uuid);
        for (stream, info) in trace.streams().iter().enumerate() {
            let found = times(&trace, stream);
            assert!(found.iter().all(|&(t, _)| n == 0 || t >= rotations[n - 1]));
            assert!(found.iter().all(|&(t, _)| rotations.get(n).is_none_or(|&end| t < end)));
            assert_eq!(trace.losses(stream), []);
            sequence_start += usize::from(info.packets.len() > 1);
            joined[info.id.unwrap() as usize].extend(found);
        }
    }
    assert!(sequence_start > 0, "no chunk had packets to check the numbers of");
    assert_eq!(joined, [times(&whole, 0), times(&whole, 1)]);
}

#[test]
fn clocks_are_declared_as_described() {
    let check = |offset_ns: i64, frequency: u64, expect_ns: i128| {
        let directory = tempfile::tempdir().unwrap();
        let mut host = LttngTrace::kernel("web");
        let uuid = host.clock_spec().uuid;
        host.clock(ClockSpec { uuid, offset_ns, frequency }).event(0, frequency * 2, "sched_switch", &[]);
        host.write(directory.path()).unwrap();
        let trace = open(directory.path());
        let clock = trace.clock(0).unwrap();
        assert_eq!((clock.uuid, clock.frequency), (uuid, frequency));
        assert_eq!(clock.ns_from_origin(events(&trace, 0)[0].cycles().unwrap()), expect_ns);
    };
    check(1_700_000_000_123_456_789, 1_000_000_000, 1_700_000_002_123_456_789);
    check(1_700_000_000_500_000_000, 24_000_000, 1_700_000_002_500_000_000);
    check(-5, 1_000_000_000, 1_999_999_995);
    check(-1_500_000_000, 3_000_000_000, 500_000_000);
}

#[test]
fn kernel_and_user_space_share_the_clock_of_their_host() {
    let uuid = |trace: LttngTrace| trace.clock_spec().uuid.unwrap();
    assert_eq!(uuid(LttngTrace::kernel("web")), uuid(LttngTrace::user_space("web")));
    assert_ne!(uuid(LttngTrace::kernel("web")), uuid(LttngTrace::kernel("db")));
}

#[test]
fn environments_hold_any_text() {
    let directory = tempfile::tempdir().unwrap();
    let mut host = LttngTrace::kernel("we\"b\\");
    host.environment("note", "two\nlines".into()).environment("tracer_patchlevel", (-1).into());
    host.byte_order(ByteOrder::Big).metadata_in_packets(true);
    host.write(directory.path()).unwrap();
    let trace = open(directory.path());
    assert_eq!(trace.schema().environment_text("hostname"), Some("we\"b\\"));
    assert_eq!(trace.schema().environment_text("note"), Some("two\nlines"));
    assert_eq!(trace.streams().len(), 0);
}

#[test]
fn only_the_classes_asked_for_are_declared() {
    let directory = tempfile::tempdir().unwrap();
    let mut host = LttngTrace::kernel("web");
    host.only(&["sched_switch"]).define("tick", "").event(0, 1, "tick", &[]);
    host.write(directory.path()).unwrap();
    let trace = open(directory.path());
    let names: Vec<_> = trace.schema().streams[0].events.iter().filter_map(|e| e.name.as_deref()).collect();
    assert_eq!(names, ["sched_switch", "tick"]);
}

#[test]
fn mistakes_are_reported_when_the_trace_is_written() {
    let check = |make: &dyn Fn(&mut LttngTrace), expect: &str| {
        let directory = tempfile::tempdir().unwrap();
        let mut host = LttngTrace::kernel("web");
        make(&mut host);
        for _ in 0..2 {
            let error = host.write(directory.path()).unwrap_err();
            assert!(matches!(error, TestkitError::Misuse(_)));
            assert_eq!(error.to_string(), expect);
        }
    };
    check(
        &|h| {
            h.event(0, 1, "sched_swap", &[]);
        },
        "there is no event class sched_swap",
    );
    check(
        &|h| {
            h.event(1, 1, "sched_switch", &[]);
        },
        "there is no CPU 1: the host has 1",
    );
    check(
        &|h| {
            h.end_packet(7);
        },
        "there is no CPU 7: the host has 1",
    );
    check(
        &|h| {
            h.event(0, 5, "sched_switch", &[]).event(0, 4, "sched_switch", &[]);
        },
        "an event of CPU 0 at 4 comes after one at 5",
    );
    check(
        &|h| {
            h.event(0, 5, "sched_switch", &[]).header(EventHeader::Large);
        },
        "the trace must be described before its first event",
    );
    check(
        &|h| {
            h.event(0, 1, "sched_switch", &[("tid", 1.into())]);
        },
        "sched_switch has no field tid here",
    );
    check(
        &|h| {
            h.event(0, 1, "net_dev_queue", &[("network_header.ipv4.ihl", 5.into())]);
        },
        "net_dev_queue has no field network_header.ipv4.ihl here",
    );
    check(
        &|h| {
            h.event(0, 1, "sched_switch", &[("prev_tid", (1_u64 << 31).into())]);
        },
        "sched_switch: prev_tid: 2147483648 does not fit its 32 bits",
    );
    check(
        &|h| {
            h.event(0, 1, "sched_switch", &[("prev_comm", "a name of seventeen".into())]);
        },
        "sched_switch: prev_comm: the text is longer than 16 bytes",
    );
    check(
        &|h| {
            h.event(0, 1, "net_dev_queue", &[("network_header_type", "ipx".into())]);
        },
        "net_dev_queue: network_header_type: no value is called ipx",
    );
    check(
        &|h| {
            h.event(0, 1, "irq_handler_entry", &[("name", 3.into())]);
        },
        "irq_handler_entry: name: Integer(3) is of another kind than the field",
    );
    let mut host = LttngTrace::kernel("web");
    host.define("broken", "integer { size = 0; } _n;");
    let error = host.write(tempfile::tempdir().unwrap().path()).unwrap_err();
    assert!(matches!(error, TestkitError::Misuse(Misuse::Metadata(_))), "{error}");
}
