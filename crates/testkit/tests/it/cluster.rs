//! Simulated clusters: what is written is what was simulated, and physics holds.

use std::collections::{HashMap, HashSet};

use crate::common::{events, field, files, open};
use isochrone_ctf::{Event, Value};
use isochrone_testkit::{
    ByteOrder, Cluster, EventHeader, Family, IpVersion, Misuse, NetLayout, SimClock, SimLink, SimPacket,
    TestkitError,
};

fn number(event: &Event<'_>, path: &str) -> u64 {
    match field(event, path) {
        Some(Value::Unsigned(number)) => number,
        other => panic!("{path} is {other:?}"),
    }
}

/// Sequence and acknowledgement number and raw time of the events with a name, over all CPUs, sorted.
fn seen(directory: &std::path::Path, name: &str, tcp: &str) -> Vec<(i64, u32, u32)> {
    let trace = open(directory);
    let mut seen = Vec::new();
    for stream in 0..trace.streams().len() {
        let clock = trace.clock(stream).unwrap();
        for event in events(&trace, stream).iter().filter(|event| event.name() == Some(name)) {
            let raw = clock.raw_ns(event.cycles().unwrap()) as i64;
            seen.push((
                raw,
                number(event, &format!("{tcp}seq")) as u32,
                number(event, &format!("{tcp}ack_seq")) as u32,
            ));
        }
    }
    seen.sort_unstable();
    seen
}

#[test]
fn traces_hold_what_was_simulated_in_every_family() {
    let families = [
        (Family::IPV4, "net_dev_queue", "net_if_receive_skb", "network_header.ipv4.transport_header.tcp."),
        (Family::IPV6, "net_dev_queue", "net_if_receive_skb", "network_header.ipv6.transport_header.tcp."),
        (
            Family::Net(IpVersion::V4, NetLayout::V2_9),
            "net_dev_queue",
            "net_if_receive_skb",
            "network_header.ipv4.transport_header.tcp.",
        ),
        (
            Family::Net(IpVersion::V6, NetLayout::V2_9),
            "net_dev_queue",
            "net_if_receive_skb",
            "network_header.ipv6.transport_header.tcp.",
        ),
        (Family::Addons, "inet_sock_local_out", "inet_sock_local_in", ""),
    ];
    let mut cluster = Cluster::mesh(4).messages(200).seconds(5).lossy(50).retransmitting(30);
    cluster.hosts.iter_mut().for_each(|host| host.cpus = 2);
    for (family, out, into, tcp) in families {
        let directory = tempfile::tempdir().unwrap();
        let simulation = cluster
            .write_with(directory.path(), family, |host, trace| {
                if host % 2 == 1 {
                    trace.byte_order(ByteOrder::Big).header(EventHeader::Large).aligned(true);
                }
            })
            .unwrap();
        for (number, host) in cluster.hosts.iter().enumerate() {
            let path = directory.path().join(&host.name).join("kernel");
            let numbers = |p: &SimPacket, raw| (raw, p.segment.seq, p.segment.ack);
            let mut sent: Vec<_> = simulation.sent(number).map(|p| numbers(p, p.sent_raw)).collect();
            let mut received: Vec<_> =
                simulation.received(number).map(|p| numbers(p, p.received_raw.unwrap())).collect();
            sent.sort_unstable();
            received.sort_unstable();
            assert!(sent.len() > 200 && received.len() > 200);
            assert_eq!(seen(&path, out, tcp), sent, "{family:?}");
            assert_eq!(seen(&path, into, tcp), received, "{family:?}");
        }
    }
}

#[test]
fn headers_say_who_speaks_to_whom() {
    let directory = tempfile::tempdir().unwrap();
    let cluster = Cluster::star(3).messages(100).seconds(1);
    let simulation = cluster.write(directory.path(), Family::IPV4).unwrap();
    let trace = open(&directory.path().join("h0/kernel"));
    let ipv4 = |name: &str| format!("network_header.ipv4.{name}");
    let address = |host: u64| Value::Array([10, 0, 0, host + 1].map(Value::Unsigned).to_vec());
    let by_id: HashMap<(usize, u16), &SimPacket> =
        simulation.packets.iter().map(|p| ((p.from, p.segment.ip_id), p)).collect();
    assert_eq!(by_id.len(), simulation.packets.len());
    let found = events(&trace, 0);
    assert_eq!(found.len(), 200);
    for event in found {
        let sender = (0..3).find(|&host| field(&event, &ipv4("saddr")) == Some(address(host))).unwrap();
        let packet = by_id[&(sender as usize, number(&event, &ipv4("id")) as u16)];
        assert_eq!(field(&event, &ipv4("daddr")), Some(address(packet.to as u64)));
        let header =
            4 * (number(&event, &ipv4("ihl")) + number(&event, &ipv4("transport_header.tcp.data_offset")));
        assert_eq!(number(&event, &ipv4("tot_len")) - header, u64::from(packet.segment.payload));
        assert_eq!(number(&event, &ipv4("transport_header.tcp.flags")), u64::from(packet.segment.flags));
        let ports =
            ["source_port", "dest_port"].map(|n| number(&event, &ipv4(&format!("transport_header.tcp.{n}"))));
        let (low, high) = (5000 + packet.link as u64, 40_000 + packet.link as u64);
        assert_eq!(ports, if packet.from > packet.to { [high, low] } else { [low, high] });
    }
}

#[test]
fn packets_take_their_time_and_numbers_run_on() {
    let mut link = SimLink { min_delay_ns: [30_000, 70_000], ..SimLink::between(0, 1) };
    link.messages = 5_000;
    let cluster = Cluster { links: vec![link], ..Cluster::chain(2) };
    let simulation = cluster.simulate().unwrap();
    assert_eq!(simulation.packets.len(), 5_000);
    let mut next: [Option<u32>; 2] = [None, None];
    for packet in &simulation.packets {
        let delay = packet.received_true.unwrap() - packet.sent_true;
        assert!(delay >= link.min_delay_ns[packet.from]);
        let expected =
            next[packet.from].replace(packet.segment.seq.wrapping_add(packet.segment.payload.into()));
        assert!(expected.is_none_or(|expected| expected == packet.segment.seq));
        assert_eq!(packet.sent_raw, cluster.hosts[packet.from].clock.raw(packet.sent_true));
    }
    for direction in [0, 1] {
        let delays = simulation.sent(direction).map(|p| p.received_true.unwrap() - p.sent_true);
        let (count, sum) = delays.fold((0, 0), |(count, sum), delay| (count + 1, sum + delay));
        let mean = sum / count - link.min_delay_ns[direction];
        assert!((2_000..2_700).contains(&count));
        assert!((185_000..215_000).contains(&mean), "{mean}");
    }
}

#[test]
fn losses_and_retransmissions_are_as_many_as_asked() {
    let lossy = Cluster::chain(2).messages(10_000).lossy(100).simulate().unwrap();
    let lost = lossy.packets.iter().filter(|p| p.received_true.is_none()).count();
    assert!((900..1_100).contains(&lost), "{lost}");

    let again = Cluster::chain(2).messages(10_000).retransmitting(100).simulate().unwrap();
    let copies: Vec<_> = again.packets.iter().filter(|p| p.retransmission).collect();
    assert!((900..1_100).contains(&copies.len()), "{}", copies.len());
    let lost = again.packets.iter().filter(|p| p.received_true.is_none()).count();
    assert!((400..600).contains(&lost), "{lost}");
    for copy in copies {
        let same =
            |p: &&SimPacket| (p.from, p.segment.seq) == (copy.from, copy.segment.seq) && !p.retransmission;
        let original = again.packets.iter().find(same).unwrap();
        assert!(copy.sent_true >= original.sent_true + 200_000_000);
        assert_ne!(copy.segment.ip_id, original.segment.ip_id);
        let ip_id = original.segment.ip_id;
        assert_eq!(isochrone_testkit::Segment { ip_id, ..copy.segment }, original.segment);
    }

    let one_way = Cluster::star(4).messages(100).one_way().simulate().unwrap();
    assert_eq!(one_way.packets.iter().map(|p| p.from).collect::<HashSet<_>>(), HashSet::from([0]));
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let write = |seed| {
        let directory = tempfile::tempdir().unwrap();
        let cluster = Cluster::chain(3).messages(300).seconds(3).retransmitting(20).seeded(seed);
        cluster.write(directory.path(), Family::IPV6).unwrap();
        files(directory.path())
    };
    assert_eq!(write(1), write(1));
    assert_ne!(write(1), write(2));
}

#[test]
fn clocks_that_bend_and_tick_slowly_are_written_as_they_show() {
    let directory = tempfile::tempdir().unwrap();
    let bent =
        SimClock::new(1_000_000_000, 20_000).step(2_000_000_000, 10_000_000).sine(95_000, 600_000_000_000);
    let mut cluster = Cluster::chain(2).messages(500).seconds(5).clock(1, bent);
    cluster.hosts[0].frequency = 24_000_000;
    let simulation = cluster.write(directory.path(), Family::IPV4).unwrap();
    let tcp = "network_header.ipv4.transport_header.tcp.";
    let ticks = seen(&directory.path().join("h0/kernel"), "net_dev_queue", tcp);
    let sent = simulation.sent(0).map(|p| p.sent_raw);
    // A cycle takes 42 ns.
    assert!(ticks.iter().zip(sent).all(|(&(stamp, ..), raw)| (0..=42).contains(&(raw - stamp))));
    let arrivals = seen(&directory.path().join("h1/kernel"), "net_if_receive_skb", tcp);
    let mut received: Vec<_> = simulation.received(1).map(|p| p.received_raw.unwrap()).collect();
    received.sort_unstable();
    assert_eq!(arrivals.iter().map(|&(raw, ..)| raw).collect::<Vec<_>>(), received);
}

#[test]
fn impossible_clusters_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let negative = Cluster::chain(2).clock(0, SimClock::new(-1_000_000_000_000, 0));
    let error = negative.write(directory.path(), Family::IPV4).err().unwrap();
    assert!(matches!(error, TestkitError::Misuse(Misuse::BeforeZero { .. })), "{error}");
    let mut unlinked = Cluster::chain(2);
    unlinked.links.push(SimLink::between(1, 5));
    assert_eq!(unlinked.simulate(), Err(Misuse::NoHost(5)));
    let back = Cluster::chain(2).clock(0, SimClock::new(1 << 40, 0).step(30_000_000_000, -1_000_000_000));
    let error = back.write(directory.path(), Family::IPV4).err().unwrap();
    assert!(matches!(error, TestkitError::Misuse(Misuse::BackInTime { .. })), "{error}");
}

#[test]
fn a_host_can_be_written_in_rotations() {
    let directory = tempfile::tempdir().unwrap();
    let cluster = Cluster::chain(2).messages(200).seconds(4);
    let simulation = cluster.simulate().unwrap();
    let cut = cluster.hosts[0].clock.raw(2_000_000_000) as u64;
    let mut trace = cluster.trace(&simulation, 0, Family::IPV4, |_| {}).unwrap();
    trace.write_rotated(directory.path(), &[cut]).unwrap();
    let counts = ["archives/0/kernel", "archives/1/kernel"].map(|chunk| {
        let trace = open(&directory.path().join(chunk));
        events(&trace, 0).len()
    });
    assert_eq!(counts.iter().sum::<usize>() as u64, trace.events());
    assert!(counts.iter().all(|&count| count > 50));
}
