//! The order of events is total, and the same for any cuts and any number of threads.

use crate::common::{Raw, Said, open, same_for_all_cuts, write_raw};
use isochrone_hosts::Hosts;
use isochrone_pipeline::{Border, Cuts, Piece, Plan};
use isochrone_testkit::{Bulk, LttngTrace};
use isochrone_time::RawNs;
use proptest::prelude::*;

/// Times and sources of a host's events, in order; cut in any way they are the same. The host knows the first
/// and the last of them.
fn ordered(streams: &[Vec<Raw>]) -> Vec<(i64, usize, u64)> {
    let directory = tempfile::tempdir().unwrap();
    write_raw(directory.path(), streams);
    let traces = open(directory.path());
    let hosts = Hosts::group(&traces);
    let host = &hosts.hosts[0];
    let said = same_for_all_cuts(host);
    let event = |said| match said {
        Said::Event(time, source, own, ..) => Some((time.ns(), source, own)),
        _ => None,
    };
    let events: Vec<_> = said.model.into_iter().filter_map(event).collect();
    let times = [events.first(), events.last()].map(|event| event.map(|&(time, ..)| RawNs(time)));
    assert_eq!([host.first_event(), host.last_event()], times);
    events
}

/// Packets of a stream: begin, end, times.
fn stream(packets: &[(u64, u64, &[u64])]) -> Vec<Raw> {
    let packet = |(number, &(begin, end, times)): (u64, &(u64, u64, &[u64]))| Raw {
        begin,
        end,
        number,
        times: times.to_vec(),
        ..Raw::default()
    };
    (0..).zip(packets).map(packet).collect()
}

#[test]
fn times_decide_and_then_the_order_of_the_streams() {
    let check = |streams: &[Vec<Raw>], expect: &[(i64, usize, u64)]| {
        assert_eq!(ordered(streams), expect, "{streams:?}");
    };
    let a = stream(&[(1, 9, &[3, 3, 4])]);
    let b = stream(&[(1, 9, &[3, 3])]);
    check(&[a.clone(), b.clone()], &[(3, 0, 3), (3, 0, 3), (3, 1, 3), (3, 1, 3), (4, 0, 4)]);
    check(&[b, a], &[(3, 0, 3), (3, 0, 3), (3, 1, 3), (3, 1, 3), (4, 1, 4)]);
    // What steps back counts as what was before it.
    let back = stream(&[(1, 12, &[2, 10]), (8, 20, &[8, 9, 20])]);
    let other = stream(&[(1, 30, &[9, 10, 11])]);
    let expect =
        [(2, 0, 2), (9, 1, 9), (10, 0, 10), (10, 0, 8), (10, 0, 9), (10, 1, 10), (11, 1, 11), (20, 0, 20)];
    check(&[back, other], &expect);
    // Ends that are nonsense, packets without events, events after the end of their packet.
    let odd = stream(&[(5, 0, &[6, 9]), (10, 10, &[]), (10, 11, &[14, 15]), (15, 15, &[15])]);
    check(&[odd], &[(6, 0, 6), (9, 0, 9), (14, 0, 14), (15, 0, 15), (15, 0, 15)]);
}

#[test]
fn events_far_from_their_packet_are_drawn_near() {
    let far = stream(&[(1_000_000, 1_000_010, &[5, 2_900_000]), (2_000_000, 2_000_001, &[2_000_001])]);
    let found = ordered(&[far]);
    assert_eq!(found, [(900_000, 0, 5), (2_100_000, 0, 2_900_000), (2_100_000, 0, 2_000_001)]);
    // Those that are too far cost the rest of their packet.
    let too_far =
        stream(&[(1_000_000, 1_000_010, &[5, 900_000_000, 1_000_005]), (2_000_000, 2_000_001, &[2_000_001])]);
    assert_eq!(ordered(&[too_far]), [(900_000, 0, 5), (2_000_001, 0, 2_000_001)]);
}

/// How many events of a stream are read: packets that have begin, end and number of another one are left out,
/// and packets end before an event that is more than 1 ms from them and from their neighbours, or earlier
/// than the event before it.
fn readable(packets: &[Raw]) -> usize {
    const SLACK: u64 = 1_000_000;
    let mut sorted: Vec<&Raw> = Vec::new();
    for packet in packets {
        let key = |packet: &Raw| (packet.begin, packet.end, packet.number);
        if !sorted.iter().any(|other| key(other) == key(packet)) {
            sorted.push(packet);
        }
    }
    sorted.sort_by_key(|packet| packet.begin);
    let end = |packet: &Raw| Some(packet.end).filter(|&end| end > 0 && end >= packet.begin);
    let count = |(n, packet): (usize, &&Raw)| {
        let before = n.checked_sub(1).and_then(|before| end(sorted[before]));
        let earliest = before.map_or(packet.begin, |end| end.min(packet.begin)).saturating_sub(SLACK);
        let next = sorted.get(n + 1).map_or(0, |next| next.begin);
        let latest = end(packet).map_or(u64::MAX, |end| end.max(next) + SLACK);
        let mut now = 0;
        let is_read = |&&time: &&u64| {
            let goes_on = time >= now;
            now = time;
            goes_on && (earliest..=latest).contains(&time)
        };
        packet.times.iter().take_while(is_read).count()
    };
    sorted.iter().enumerate().map(count).sum()
}

#[test]
fn pieces_may_be_empty_and_cuts_equal() {
    let directory = tempfile::tempdir().unwrap();
    write_raw(directory.path(), &[stream(&[(10, 20, &[10, 20])])]);
    let traces = open(directory.path());
    let hosts = Hosts::group(&traces);
    let host = &hosts.hosts[0];
    let plan = Plan::new(host, &Cuts::At([15, 12, 15, 100].map(RawNs).into()));
    assert_eq!(plan.steps().len(), 4);
    let count = |from, to| host.read(Piece { from, to }.window()).count();
    let at = |ns| Border::At(RawNs(ns));
    assert_eq!(count(at(12), at(15)), 0);
    assert_eq!(count(at(15), at(12)), 0);
    assert_eq!(count(at(10), at(20)), 1);
    assert_eq!(count(at(20), Border::End), 1);
    assert_eq!(count(at(21), Border::End), 0);
}

#[test]
fn plans_cut_as_asked() {
    let directory = tempfile::tempdir().unwrap();
    Bulk { events: 20_000, cpus: 2, packet_bytes: 4096, ..Bulk::default() }.write(directory.path()).unwrap();
    let traces = open(directory.path());
    let hosts = Hosts::group(&traces);
    let host = &hosts.hosts[0];
    let whole = same_for_all_cuts(host);
    assert_eq!(whole.report.events, 20_000);
    let check = |cuts: &Cuts, pieces| assert_eq!(Plan::new(host, cuts).steps().len(), pieces, "{cuts:?}");
    check(&Cuts::Whole, 1);
    check(&Cuts::Times(5), 5);
    check(&Cuts::Bytes(6), 6);
    check(&Cuts::Packets(4), 4);
    check(&Cuts::Archives, 1);
    check(&Cuts::Times(0), 1);
    let sizes = Plan::new(host, &Cuts::Bytes(8));
    for step in sizes.steps() {
        let events = host.read(step.piece.window()).count();
        assert!((2_000..3_000).contains(&events), "{events} events in {step:?}");
    }
    assert_eq!(Plan::for_threads(host, 1).steps().len(), 1);
    assert_eq!(Plan::for_threads(host, 3).steps().len(), 3);
}

#[test]
fn a_rotated_session_is_the_session() {
    let [whole, rotated] = [(), ()].map(|()| tempfile::tempdir().unwrap());
    let mut host = LttngTrace::kernel("web");
    host.cpus(3).packet_size(4096);
    for n in 0..3_000_u64 {
        host.event((n % 7 % 3) as u32, 1_000 + n / 2 * 10, "irq_handler_exit", &[("ret", 1.into())]);
    }
    host.write(whole.path()).unwrap();
    host.write_rotated(rotated.path(), &[2_000, 2_010, 2_011, 9_000, 1 << 40]).unwrap();
    let said = [whole, rotated].map(|directory| {
        let traces = open(directory.path());
        let hosts = Hosts::group(&traces);
        assert_eq!(hosts.hosts.len(), 1);
        let host = &hosts.hosts[0];
        assert!(host.gaps().is_empty() && host.losses().is_empty(), "{:?}", host.losses());
        let said = same_for_all_cuts(host).model;
        let series = |source: usize| host.sources()[source].series;
        let event = |said: &Said| match *said {
            Said::Event(time, source, own, class, _) => Some((time, series(source), own, class)),
            // CPUs begin and end one after the other.
            Said::LossBegin(begin) if !begin.loss.what.is_loss() => None,
            _ => panic!("{said:?}"),
        };
        said.iter().filter_map(event).collect::<Vec<_>>()
    });
    assert_eq!(said[0].len(), 3_000);
    assert_eq!(said[0], said[1]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Streams of any times in any packets: those that overlap, go back, break, or say nonsense of
    /// themselves.
    #[test]
    fn cuts_change_nothing(
        streams in prop::collection::vec(
            prop::collection::vec((0_u64..60, 0_u64..90, prop::collection::vec(0_u64..100, 0..5), 0_u8..6, 0_u64..3), 0..5),
            1..4,
        ),
        scale in prop::sample::select(vec![1_u64, 1_000, 100_000]),
    ) {
        let packet = |(begin, end, times, breaks, lost): (u64, u64, Vec<u64>, u8, u64), number: u64| Raw {
            begin: begin * scale,
            end: end * scale,
            number: number * (1 + lost % 2),
            discarded: number / 2 * lost,
            times: times.into_iter().map(|time| time * scale).collect(),
            breaks: breaks == 0,
        };
        let streams: Vec<Vec<Raw>> = streams
            .into_iter()
            .map(|packets| packets.into_iter().zip(0..).map(|(p, n)| packet(p, n)).collect())
            .collect();
        let count: usize = streams.iter().map(|packets| readable(packets)).sum();
        if streams.iter().flatten().next().is_some() {
            prop_assert_eq!(ordered(&streams).len(), count);
        }
    }
}
