//! The rules of the matcher as tables: sightings and what they must give, in either order and in rounds of
//! any length.

use std::net::IpAddr;

use proptest::prelude::*;

use super::{Matcher, Message, Summary, Traced};
use isochrone_net::{Datagram, Direction, Echo, Packet, Segment, Sighting, StreamRef, Transport, flags};
use isochrone_time::{RawNs, Window};

/// A second.
pub(super) const S: i64 = 1_000_000_000;
/// A millisecond.
pub(super) const MS: i64 = 1_000_000;
/// Most scenes begin when tracing has gone on for some time.
const LATE: i64 = 10 * S;

/// A sighting to be described.
#[derive(Debug, Clone)]
pub(super) struct Seen(pub(super) Sighting);

/// A segment of 100 bytes from 10.0.0.1:1000 to 10.0.0.2:80 at a host: `>` sent, `<` received.
pub(super) fn tcp(clock: usize, way: char, time: i64) -> Seen {
    let segment = Segment {
        ports: Some((1000, 80)),
        seq: 1,
        ack: 1,
        flags: flags::ACK,
        known_flags: flags::ALL,
        payload: Some(100),
    };
    seen(clock, way, time, Transport::Tcp(segment))
}

/// A datagram of 50 bytes between the same.
fn udp(clock: usize, way: char, time: i64) -> Seen {
    seen(
        clock,
        way,
        time,
        Transport::Udp(Datagram { ports: Some((1000, 80)), length: Some(50), data: None, check: None }),
    )
}

/// An echo request between the same.
fn echo(clock: usize, way: char, time: i64, sequence: u16) -> Seen {
    seen(clock, way, time, Transport::Echo(Echo { reply: false, identifier: 7, sequence }))
}

fn seen(clock: usize, way: char, time: i64, transport: Transport) -> Seen {
    let direction = if way == '>' { Direction::Sent } else { Direction::Received };
    let addresses = Some((IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2])));
    let packet = Packet { addresses, transport, ip_id: None };
    Seen(Sighting {
        clock,
        time: RawNs(time),
        raw: RawNs(time),
        place: StreamRef::of_trace(clock, 0),
        direction,
        device: 0,
        packet,
    })
}

impl Seen {
    fn segment(mut self, change: impl FnOnce(&mut Segment)) -> Self {
        if let Transport::Tcp(segment) = &mut self.0.packet.transport {
            change(segment);
        }
        self
    }

    pub(super) fn seq(self, seq: u32) -> Self {
        self.segment(|segment| segment.seq = seq)
    }

    pub(super) fn ack(self, ack: u32) -> Self {
        self.segment(|segment| segment.ack = ack)
    }

    pub(super) fn payload(self, payload: u32) -> Self {
        self.segment(|segment| segment.payload = Some(payload))
    }

    pub(super) fn flags(self, flags: u8) -> Self {
        self.segment(|segment| segment.flags = flags)
    }

    pub(super) fn id(mut self, id: u16) -> Self {
        self.0.packet.ip_id = Some(id);
        self
    }

    fn from(mut self, last: u8) -> Self {
        self.0.packet.addresses = Some((IpAddr::from([10, 0, 0, last]), IpAddr::from([10, 0, 0, 2])));
        self
    }

    fn length(mut self, bytes: u16) -> Self {
        if let Transport::Udp(datagram) = &mut self.0.packet.transport {
            datagram.length = Some(bytes);
        }
        self
    }

    /// With a digest of its payload.
    fn check(mut self, check: u16) -> Self {
        if let Transport::Udp(datagram) = &mut self.0.packet.transport {
            datagram.check = Some(check);
        }
        self
    }

    fn device(mut self, device: u8) -> Self {
        self.0.device = device;
        self
    }

    /// What lttng-addons know of a segment: neither addresses nor ports nor payload nor id.
    fn addons(mut self) -> Self {
        self.0.packet.addresses = None;
        self.0.packet.ip_id = None;
        self.segment(|segment| (segment.ports, segment.payload) = (None, None))
    }

    /// What LTTV's events know of a segment: no PSH, no id.
    fn lttv(mut self) -> Self {
        self.0.packet.ip_id = None;
        self.segment(|segment| {
            segment.known_flags = flags::ALL & !flags::PSH;
            segment.flags &= segment.known_flags;
        })
    }

    pub(super) fn done(self) -> Sighting {
        self.0
    }
}

/// All clocks begin at 0 and count Unix time.
pub(super) fn clocks(losses: &[(i64, i64)]) -> Vec<Traced> {
    let window = |&(start, end): &(i64, i64)| Window::new(RawNs(start), RawNs(end));
    let traced = |clock| Traced {
        span: window(&(0, 1000 * S)),
        offset_ns: 0,
        losses: if clock == 0 { losses.iter().map(window).collect() } else { Vec::new() },
    };
    (0..5).map(traced).collect()
}

/// Matches sightings that come in rounds of some length; sorted.
pub(super) fn matched(clocks: &[Traced], sightings: &[Sighting], round: i64) -> (Vec<Message>, Summary) {
    let mut matcher = Matcher::new(clocks);
    let mut messages = Vec::new();
    let last = sightings.iter().map(|sighting| sighting.time).max().unwrap_or(RawNs(0));
    let mut from = RawNs::MIN;
    let mut until = RawNs(0);
    while from < last {
        let due = sightings.iter().filter(|s| (from..until).contains(&s.time)).cloned();
        matcher.round(due, &vec![until - 1; clocks.len()], &mut |found| messages.push(found.message()));
        from = until;
        until = until.saturating_add(round);
    }
    let rest = sightings.iter().filter(|s| s.time >= from).cloned();
    matcher.round(rest, &vec![until; clocks.len()], &mut |found| messages.push(found.message()));
    let summary = matcher.finish(&mut |found| messages.push(found.message()));
    messages.sort_unstable();
    assert_eq!(summary.messages(), messages.len() as u64);
    (messages, summary)
}

fn check_with(
    losses: &[(i64, i64)],
    scene: &[Seen],
    expect: &[(usize, i64, usize, i64)],
    ambiguous: u64,
) -> Summary {
    let clocks = clocks(losses);
    let mut sightings: Vec<Sighting> = scene.iter().cloned().map(Seen::done).collect();
    let (messages, summary) = matched(&clocks, &sightings, 1000 * S);
    let found: Vec<_> =
        messages.iter().map(|m| (m.sender, m.sent.ns(), m.receiver, m.received.ns())).collect();
    assert_eq!(found, expect);
    assert_eq!(summary.pairs.values().map(|pair| pair.ambiguous).sum::<u64>(), ambiguous);
    for round in [1000 * S, 7 * S, 300 * MS] {
        sightings.reverse();
        assert_eq!(
            matched(&clocks, &sightings, round),
            (messages.clone(), summary.clone()),
            "rounds of {round} ns"
        );
    }
    summary
}

/// Sightings, the messages `(sender, sent, receiver, received)` among them, and how many are ambiguous.
pub(super) fn check(scene: &[Seen], expect: &[(usize, i64, usize, i64)], ambiguous: u64) -> Summary {
    check_with(&[], scene, expect, ambiguous)
}

/// A connection of which host 0 has sent for some time, so that what follows is known to be new.
pub(super) fn settled(mut scene: Vec<Seen>) -> Vec<Seen> {
    scene.push(tcp(0, '>', 0).seq(0).ack(0).payload(0).flags(flags::SYN));
    scene
}

#[test]
fn a_departure_and_an_arrival_are_a_message() {
    check(&[tcp(0, '>', 10).id(5), tcp(1, '<', 500).id(5)], &[(0, 10, 1, 500)], 0);
    // A receiver's clock may be far behind.
    check(&[tcp(0, '>', LATE).id(5), tcp(1, '<', 30).id(5)], &[(0, LATE, 1, 30)], 0);
    check(&[tcp(0, '>', 10).id(5), tcp(1, '<', 500).id(6)], &[], 0);
    check(&[tcp(0, '>', 10).id(5).payload(0), tcp(1, '<', 500).id(5).payload(0).flags(0)], &[], 0);
}

#[test]
fn echoes_and_datagrams_are_messages() {
    let sightings = [echo(0, '>', 10, 1), echo(1, '<', 20, 1), echo(0, '>', 30, 2), echo(1, '<', 40, 2)];
    check(&sightings, &[(0, 10, 1, 20), (0, 30, 1, 40)], 0);
    check(&[udp(0, '>', 10).id(3), udp(1, '<', 20).id(3), udp(1, '<', 21).id(4)], &[(0, 10, 1, 20)], 0);
    // Without identification: unlike all others, and not right after tracing began.
    check(&[udp(0, '>', LATE), udp(1, '<', LATE + 20)], &[(0, LATE, 1, LATE + 20)], 0);
    check(&[udp(0, '>', 10), udp(1, '<', 20)], &[], 1);
    let beats = |n: i64| (0..n).flat_map(|k| [udp(0, '>', LATE + k * S), udp(1, '<', LATE + k * S + 20)]);
    check(&beats(2).collect::<Vec<_>>(), &[], 2);
    // However long they go on, and whatever is lost in the end.
    let mut endless: Vec<Seen> = beats(200).collect();
    endless.remove(endless.len() - 1);
    endless.remove(endless.len() - 2);
    let summary = matched(&clocks(&[]), &endless.into_iter().map(Seen::done).collect::<Vec<_>>(), 5 * S).1;
    assert_eq!(summary.messages(), 0);
    let other = udp(0, '>', LATE + 5).length(51);
    check(&[udp(0, '>', LATE), other, udp(1, '<', LATE + 20)], &[(0, LATE, 1, LATE + 20)], 0);
}

#[test]
fn tracers_that_know_less_are_compared_by_what_both_know() {
    let net = |clock, way, time| tcp(clock, way, time).id(9).flags(flags::ACK | flags::PSH);
    check(&[net(0, '>', 10).addons(), net(1, '<', 20)], &[(0, 10, 1, 20)], 0);
    check(&[net(0, '>', LATE).lttv(), net(1, '<', LATE + 5).addons()], &[], 1);
    let scene = settled(vec![net(0, '>', 10).lttv(), net(1, '<', 20)]);
    check(&scene, &[(0, 10, 1, 20)], 0);
    check(&settled(vec![net(0, '>', 10).lttv(), net(1, '<', 20).flags(flags::ACK)]), &[(0, 10, 1, 20)], 0);
    check(&[net(0, '>', 10).addons(), net(1, '<', 20).flags(flags::ACK)], &[], 0);
    // Two connections that differ in what only one of two tracers knows are not mixed up.
    let two = [net(0, '>', 10), net(0, '>', 11).from(3), net(1, '<', 20), net(1, '<', 21).from(3)];
    check(&two, &[(0, 10, 1, 20), (0, 11, 1, 21)], 0);
    let two = [net(0, '>', 10), net(0, '>', 11).from(3), net(1, '<', 20).addons(), net(1, '<', 21).addons()];
    check(&two, &[], 2);
}

#[test]
fn copies_are_distinguished_by_their_identification() {
    let scene = [
        tcp(0, '>', 10).id(5),
        tcp(0, '>', 210 * MS).id(6),
        tcp(1, '<', 20).id(5),
        tcp(1, '<', 220 * MS).id(6),
    ];
    check(&scene, &[(0, 10, 1, 20), (0, 210 * MS, 1, 220 * MS)], 0);
    // The network doubled it.
    check(&[tcp(0, '>', 10).id(5), tcp(1, '<', 20).id(5), tcp(1, '<', S).id(5)], &[(0, 10, 1, 20)], 0);
    // Zero is no identification.
    check(&[tcp(0, '>', 10).id(0), tcp(0, '>', 210 * MS).id(0), tcp(1, '<', 220 * MS).id(0)], &[], 1);
}

#[test]
fn of_copies_without_identification_the_first_departure_counts_if_it_surely_is_the_first() {
    let copies = vec![tcp(0, '>', 10), tcp(0, '>', 210 * MS), tcp(1, '<', 220 * MS), tcp(1, '<', 230 * MS)];
    check(&settled(copies.clone()), &[(0, 10, 1, 220 * MS)], 1);
    check(&settled(copies[..3].to_vec()), &[(0, 10, 1, 220 * MS)], 0);
    // An earlier one may have left before tracing began, or unseen.
    check(&copies, &[], 2);
    check(&copies[1..3], &[], 1);
    let begun: Vec<Seen> = settled(copies.clone());
    check_with(&[(5, 6)], &begun, &[], 2);
    // Sent a second time when the first was seen to leave long ago: what arrives may be of either.
    let late = settled(vec![tcp(0, '>', 10), tcp(0, '>', 30 * S), tcp(1, '<', 30 * S + 5)]);
    check(&late, &[(0, 10, 1, 30 * S + 5)], 0);
}

#[test]
fn what_stays_on_a_host_is_no_message() {
    check(&[tcp(0, '>', 10).id(5), tcp(0, '<', 11).id(5)], &[], 0);
    let summary = check(&[tcp(0, '>', 10).id(5).payload(0)], &[], 0);
    assert_eq!(summary.unmatched, [1, 0, 0, 0, 0]);
}

#[test]
fn one_packet_on_several_devices_is_one() {
    // The lower of two devices is nearer to the wire; the first arrival is the nearest.
    let scene = [tcp(0, '>', 10).id(5), tcp(0, '>', 14).id(5), tcp(1, '<', 50).id(5), tcp(1, '<', 53).id(5)];
    check(&scene, &[(0, 14, 1, 50)], 0);
    // Three may lie side by side.
    let scene = [tcp(0, '>', 10).id(5), tcp(0, '>', 14).id(5), tcp(0, '>', 15).id(5), tcp(1, '<', 50).id(5)];
    check(&scene, &[(0, 10, 1, 50)], 0);
    // Without identification they may be two packets.
    check(&settled(vec![tcp(0, '>', 10), tcp(0, '>', 14), tcp(1, '<', 50)]), &[(0, 10, 1, 50)], 0);
    // In two overlapping traces.
    check(&[udp(0, '>', LATE), udp(0, '>', LATE), udp(1, '<', 50 + LATE)], &[(0, LATE, 1, 50 + LATE)], 0);
}

/// Raw sockets write one identification into all that they send.
#[test]
fn identifications_that_come_again_are_none() {
    const APART: i64 = 100_000;
    let two = |datagram: &dyn Fn(Seen, u16) -> Seen, apart: i64| {
        let at = |clock, way, time, which| datagram(udp(clock, way, time).id(7), which);
        vec![at(0, '>', 10, 1), at(0, '>', 10 + apart, 2), at(1, '<', 20, 1), at(1, '<', 20 + apart, 2)]
    };
    let each = |apart: i64| [(0, 10, 1, 20), (0, 10 + apart, 1, 20 + apart)];
    // The payloads tell them apart, however near they are, and so do lengths.
    for apart in [APART, 50 * MS] {
        check(&two(&|seen, which| seen.check(which), apart), &each(apart), 0);
        let scene = two(&|seen, which| seen.length(50 + which).check(which), apart);
        check(&scene, &each(apart), 0);
    }
    // Equal ones, of which nothing tells which is which: near to each other they count as copies of one, of
    // which the first is before all.
    for known in [true, false] {
        let equal = |seen: Seen, _| if known { seen.check(1).device(1) } else { seen };
        check(&two(&equal, APART), &each(APART)[..1], 0);
        check(&two(&equal, 50 * MS), &[], 2);
        // The first was lost on its way, or what it arrived as.
        let mut lost = two(&equal, 50 * MS);
        lost.remove(2);
        check(&lost, &[], 1);
    }
    // One end does not know the payload: then nothing is certain.
    let half = |seen: Seen, which| if seen.0.clock == 0 { seen } else { seen.check(which) };
    check(&two(&half, APART), &[], 2);
    // A generator of segments repeats one.
    let segment = |way, time| tcp(usize::from(way == '<'), way, time).id(1);
    let other = tcp(0, '>', 5).id(1).seq(5000);
    let copies = vec![other, segment('>', 210 * MS), segment('<', 100), segment('<', 220 * MS)];
    check(&copies, &[], 1);
    // Devices on top of each other are not two packets, and those of one device are.
    let twice = |devices: [u8; 2]| {
        let sent = devices.iter().zip(0..).map(|(&device, at)| tcp(0, '>', 10 + at).id(5).device(device));
        sent.chain([tcp(1, '<', 50).id(5)]).collect::<Vec<_>>()
    };
    check(&twice([1, 2]), &[(0, 11, 1, 50)], 0);
    check(&twice([0, 0]), &[(0, 11, 1, 50)], 0);
    check(&twice([1, 1]), &[(0, 10, 1, 50)], 0);
}

/// A request behind a pure acknowledgement has its numbers.
#[test]
fn translated_segments_are_told_apart_by_size_flags_and_identification() {
    let at = |host: usize, way, time| if host == 0 { tcp(0, way, time).from(9) } else { tcp(1, way, time) };
    let pair = |id: u16, payload: u32, time: i64| {
        [(0, '>', time), (1, '<', time + 10)]
            .map(|(host, way, time)| at(host, way, time).id(id).payload(payload))
    };
    let scene = [pair(5, 0, 10), pair(6, 100, 30)].concat();
    let summary = check(&scene, &[(0, 10, 1, 20), (0, 30, 1, 40)], 0);
    assert_eq!(summary.pairs[&(0, 1)].translated, 2);
    // Two that only their identifications tell apart.
    check(&[pair(5, 0, 10), pair(6, 0, 30)].concat(), &[(0, 10, 1, 20), (0, 30, 1, 40)], 0);
    // Two that nothing tells apart.
    check(&[pair(5, 0, 10), pair(5, 0, 30)].concat(), &[], 0);
}

#[test]
fn hosts_in_transit_pass_on_what_they_received() {
    let through = |clock: usize, time: i64| [tcp(clock, '<', time).id(5), tcp(clock, '>', time + 2).id(5)];
    let ends = [tcp(0, '>', 10).id(5), tcp(1, '<', 90).id(5)];
    let scene: Vec<Seen> = ends.iter().cloned().chain(through(2, 30)).collect();
    check(&scene, &[(0, 10, 1, 90), (0, 10, 2, 30), (2, 32, 1, 90)], 0);
    // Which of two came first is not known.
    let scene: Vec<Seen> = scene.into_iter().chain(through(3, 50)).collect();
    let expect = [(0, 10, 1, 90), (0, 10, 2, 30), (0, 10, 3, 50), (2, 32, 1, 90), (3, 52, 1, 90)];
    check(&scene, &expect, 0);
    // The origin was not traced.
    check(&[through(2, 30).to_vec(), vec![tcp(1, '<', 90).id(5)]].concat(), &[(2, 32, 1, 90)], 0);
    // A switch that does not know where a host is sends to all.
    let all = [tcp(0, '>', 10).id(5), tcp(1, '<', 50).id(5), tcp(2, '<', 51).id(5)];
    check(&all, &[(0, 10, 1, 50), (0, 10, 2, 51)], 0);
    // Two hosts cannot both be the origin.
    check(&[tcp(0, '>', 10).id(5), tcp(1, '>', 11).id(5), tcp(2, '<', 51).id(5)], &[], 2);
}

#[test]
fn translated_addresses_are_matched_last_and_counted() {
    let summary = check(&[tcp(0, '>', 10).id(5).from(9), tcp(1, '<', 50).id(5)], &[(0, 10, 1, 50)], 0);
    assert_eq!(summary.pairs[&(0, 1)].translated, 1);
    check(&[tcp(0, '>', 10).id(5).from(9), tcp(1, '<', 50).id(6)], &[], 0);
    check(&[tcp(0, '>', 10).id(5).from(9).ack(0), tcp(1, '<', 50).id(5).ack(0)], &[], 0);
    // The untranslated one is there, or a second that it may be.
    let scene = [tcp(0, '>', 10).id(5).from(9), tcp(0, '>', 11).id(5), tcp(1, '<', 50).id(5)];
    assert_eq!(check(&scene, &[(0, 11, 1, 50)], 0).pairs[&(0, 1)].translated, 0);
    let scene = [tcp(0, '>', 10).id(5).from(9), tcp(0, '>', 11).id(5).from(8), tcp(1, '<', 50).id(5)];
    check(&scene, &[], 0);
}

#[test]
fn clocks_far_apart_find_each_other() {
    let far =
        Traced { span: Window::new(RawNs(5000 * S), RawNs(6000 * S)), offset_ns: 0, losses: Vec::new() };
    let clocks = [clocks(&[]).remove(0), far];
    let scene: Vec<Sighting> = (0..100)
        .flat_map(|k: u16| {
            let time = i64::from(k) * S;
            [tcp(0, '>', time).id(k + 1), tcp(1, '<', 5000 * S + time).id(k + 1)]
        })
        .map(Seen::done)
        .collect();
    assert_eq!(matched(&clocks, &scene, 3 * S).0.len(), 100);
}

#[test]
fn memory_is_bounded() {
    // Nothing ties the clocks, or all packets are equal.
    for (distinct, expect) in [(true, 400), (false, 0)] {
        let mut matcher = Matcher::new(&clocks(&[]));
        matcher.most_kept = 1000;
        let mut most = 0;
        for round in 0..50 {
            let of_round = (0..200).map(|k| {
                let seq = if distinct { round * 200 + k } else { 0 };
                tcp(0, '>', i64::from(round) * 20 * MS + i64::from(k)).seq(seq).payload(0).done()
            });
            matcher.round(of_round, &[RawNs(i64::from(round + 1) * 20 * MS); 5], &mut |_| {});
            most = most.max(matcher.held());
        }
        assert!(most <= 1000 && most >= expect, "{most}");
        let summary = matcher.finish(&mut |_| {});
        assert_eq!(summary.unmatched[0], 10_000);
        assert!(summary.expired > 5000);
    }
}

proptest! {
    /// Whatever was seen, neither the order nor the rounds matter. (Clocks that were wrong by seconds could
    /// find each other in different ways.)
    #[test]
    fn neither_order_nor_rounds_matter(
        scene in prop::collection::vec(
            (0usize..4, any::<bool>(), 0i64..200, 0u32..6, 0u16..4, 0u32..3, 0u8..3),
            0..40,
        ),
        round in 1i64..300,
    ) {
        let sighting = |(clock, sent, time, seq, id, payload, kind): (usize, bool, i64, u32, u16, u32, u8)| {
            let way = if sent { '>' } else { '<' };
            let seen = tcp(clock, way, time * MS).seq(seq * 100).payload(payload * 100);
            match kind {
                0 => seen.id(id).0,
                1 => seen.0,
                _ => udp(clock, way, time * MS).id(id).0,
            }
        };
        let mut sightings: Vec<Sighting> = scene.into_iter().map(sighting).collect();
        let whole = matched(&clocks(&[]), &sightings, 1000 * S);
        sightings.reverse();
        prop_assert_eq!(&matched(&clocks(&[]), &sightings, 1000 * S), &whole);
        prop_assert_eq!(&matched(&clocks(&[]), &sightings, round * MS), &whole);
    }
}
