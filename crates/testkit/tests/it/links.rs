//! Links of all kinds: what is sent in one and arrives in parts, what is answered, what is rare, and what is true of all.

use std::collections::HashSet;

use isochrone_testkit::{Cluster, Protocol, SimClock, SimLink, SimPacket, Simulation};

fn simulate(change: impl Fn(&mut SimLink)) -> Simulation {
    Cluster::chain(2).messages(2_000).each_link(change).simulate().unwrap()
}

#[test]
fn what_the_devices_cut_arrives_whole() {
    let simulation = simulate(|link| link.offload = true);
    let mut merged = 0;
    for packet in &simulation.packets {
        let segment = packet.segment;
        let parts: Vec<_> = simulation.arrivals(packet).collect();
        let mut next = segment.seq;
        for (part, n) in parts.iter().zip(1..) {
            assert_eq!(part.segment.seq, next);
            next = next.wrapping_add(part.segment.payload.into());
            let frames = part.segment.seq.wrapping_sub(segment.seq) / 1448;
            assert_eq!(part.segment.ip_id, segment.ip_id.wrapping_add(frames as u16));
            let push = if n == parts.len() { segment.flags & 8 } else { 0 };
            assert_eq!(part.segment.flags, segment.flags & !8 | push);
            assert!(part.received_true >= packet.sent_true + 50_000);
        }
        assert_eq!(next, segment.seq.wrapping_add(segment.payload.into()));
        assert!(parts.is_sorted_by_key(|part| part.received_true));
        merged += usize::from(packet.frames() > 1 && parts.len() < packet.frames().into());
    }
    let large = simulation.packets.iter().filter(|packet| packet.frames() > 1).count();
    assert!((900..1_100).contains(&large) && merged > 800, "{large} {merged}");
    assert_eq!(simulation.packets.iter().map(SimPacket::frames).max(), Some(45));
    // Identifications run on by frames, so that none is used twice before the numbers do.
    for host in 0..2 {
        let sent: Vec<_> = simulation.sent(host).collect();
        for pair in sent.windows(2) {
            assert_eq!(pair[1].segment.ip_id, pair[0].segment.ip_id.wrapping_add(pair[0].frames()));
        }
    }
}

#[test]
fn echoes_are_answered_once_if_they_arrive() {
    let simulation = simulate(|link| (link.protocol, link.lost_permille) = (Protocol::Echo, 200));
    let requests: Vec<_> = simulation.packets.iter().filter(|packet| !packet.reply).collect();
    let arrived = requests.iter().filter(|packet| packet.received_true.is_some()).count();
    let replies: HashSet<_> = simulation.packets.iter().filter(|p| p.reply).map(|p| p.segment.seq).collect();
    assert_eq!((requests.len(), replies.len()), (1_000, arrived));
    assert!((750..850).contains(&arrived), "{arrived}");
}

#[test]
fn one_direction_may_be_rare() {
    for (permille, expect) in [(0, 0..1), (10, 8..40), (500, 900..1_100), (1000, 2_000..2_001)] {
        let simulation = simulate(|link| link.back_permille = permille);
        let back = simulation.sent(1).count();
        assert!(expect.contains(&back), "{permille}: {back}");
    }
}

#[test]
fn messages_are_what_was_sent_once_and_arrived_once() {
    let cluster = Cluster::with_links(3, [(0, 1), (1, 2), (2, 2)]).messages(2_000);
    let cluster = cluster.lossy(100).retransmitting(100).each_link(|link| link.offload = link.a == 1);
    let simulation = cluster.simulate().unwrap();
    let messages: Vec<_> = simulation.messages().collect();
    // Of the first link about 0.9 · 0.9 of all, of the second about half of these, of the last none.
    assert!((2_200..2_800).contains(&messages.len()), "{}", messages.len());
    for (sender, sent, receiver, received) in messages {
        let [sent, received] =
            [(sender, sent), (receiver, received)].map(|(host, raw)| cluster.hosts[host].clock.true_ns(raw));
        assert!(sender != receiver && received - sent > 49_990, "{sent} {received}");
    }
}

#[test]
fn a_host_that_stands_still_neither_sends_nor_receives() {
    let (from, to) = (2_000_000_000, 3_000_000_000);
    let clock = SimClock::new(5_000_000_000, 50_000).stop(from, to - from);
    let cluster = Cluster::chain(2).seconds(10).messages(5_000).retransmitting(50).clock(1, clock);
    let simulation = cluster.simulate().unwrap();
    let asleep = from..to;
    assert!(simulation.sent(1).all(|packet| !asleep.contains(&packet.sent_true)));
    assert!(simulation.received(1).all(|packet| !asleep.contains(&packet.received_true.unwrap())));
    assert!(simulation.sent(0).any(|packet| asleep.contains(&packet.sent_true)));
    let directory = tempfile::tempdir().unwrap();
    cluster.write(directory.path(), isochrone_testkit::Family::IPV4).unwrap();
}
