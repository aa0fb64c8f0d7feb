//! What the extractors of every tracer family find in a trace is what was sent: every family, layout, version
//! of IP and protocol, over links of all kinds.

use isochrone_ctf::Trace;
use isochrone_matching::{Extraction, extract};
use isochrone_net::{Datagram, Direction, Echo, Origin, Packet, Segment, Transport, flags};
use isochrone_testkit::{
    self as testkit, ByteOrder, Cluster, EventHeader, Family, IpVersion, NetLayout, Protocol, SimPacket,
    Simulation,
};

const PROTOCOLS: [Protocol; 3] = [Protocol::Tcp, Protocol::Udp, Protocol::Echo];
const LAYOUTS: [NetLayout; 3] = [NetLayout::V2_9, NetLayout::V2_11, NetLayout::V2_13];

/// All families over both versions of IP.
fn families() -> Vec<Family> {
    let versions = [IpVersion::V4, IpVersion::V6];
    let net = versions.into_iter().flat_map(|ip| LAYOUTS.map(|layout| Family::Net(ip, layout)));
    let experimental = versions.map(Family::Experimental);
    net.chain(experimental).chain([Family::Addons, Family::LttvExtended]).collect()
}

/// Writes the trace of a host and extracts what is in it.
fn extraction(cluster: &Cluster, simulation: &Simulation, host: usize, family: Family) -> Extraction {
    let directory = tempfile::tempdir().unwrap();
    let mut trace = cluster
        .trace(simulation, host, family, |trace| {
            if host % 2 == 1 {
                trace.byte_order(ByteOrder::Big).header(EventHeader::Large).aligned(true);
                trace.context("integer { size = 32; align = 32; signed = 1; } _tid;");
            }
        })
        .unwrap();
    trace.write(directory.path()).unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    extract(&[(&trace, host)], &|_| {})
}

/// What a family records of a packet as it passes a host; `None` where it does not know the protocol.
fn recorded(
    cluster: &Cluster,
    packet: &SimPacket,
    segment: testkit::Segment,
    host: usize,
    direction: Direction,
    family: Family,
) -> Option<Packet> {
    let ends = cluster.endpoints(packet, host).unwrap();
    let ip = match family {
        Family::Net(ip, _) | Family::Experimental(ip) => ip,
        Family::Addons | Family::LttvExtended => IpVersion::V4,
    };
    let (addons, lttv) = (family == Family::Addons, family == Family::LttvExtended);
    let known_flags = if lttv { 0x17 } else { flags::ALL };
    let all_protocols = matches!(family, Family::Net(_, NetLayout::V2_13));
    let transport = match packet.protocol {
        Protocol::Tcp => Transport::Tcp(Segment {
            ports: (!addons).then_some(ends.ports),
            seq: segment.seq,
            ack: segment.ack,
            flags: segment.flags as u8 & known_flags,
            known_flags,
            payload: (!addons).then_some(segment.payload.into()),
        }),
        Protocol::Udp if all_protocols || lttv => {
            let complete = !lttv || direction == Direction::Received;
            Transport::Udp(Datagram {
                ports: complete.then_some(ends.ports),
                length: Some(segment.payload + 8),
                data: (lttv && complete).then(|| packet.data()),
                check: None,
            })
        }
        Protocol::Echo if all_protocols && ip == IpVersion::V4 => Transport::Echo(Echo {
            reply: packet.reply,
            identifier: ends.identifier,
            sequence: segment.seq as u16,
        }),
        Protocol::Udp | Protocol::Echo => return None,
    };
    let identified = ip == IpVersion::V4 && !addons && !lttv;
    let addresses = (!addons).then(|| ends.addresses(ip));
    Some(Packet { addresses, transport, ip_id: identified.then_some(segment.ip_id) })
}

/// All that a host's trace should record, in the order of time.
fn expected(
    cluster: &Cluster,
    simulation: &Simulation,
    host: usize,
    family: Family,
) -> Vec<(usize, i64, Direction, Packet)> {
    let mut all = Vec::new();
    let mut add = |packet: &SimPacket, segment, time, direction| {
        let packet = recorded(cluster, packet, segment, host, direction, family);
        all.extend(packet.map(|packet| (host, time, direction, packet)));
    };
    for packet in simulation.sent(host) {
        add(packet, packet.segment, packet.sent_raw, Direction::Sent);
    }
    for packet in simulation.received(host) {
        for arrival in simulation.arrivals(packet) {
            add(packet, arrival.segment, arrival.received_raw, Direction::Received);
        }
    }
    all.sort();
    all
}

/// Checks all hosts of a cluster.
fn check(cluster: &Cluster, family: Family) {
    let simulation = cluster.simulate().unwrap();
    for host in 0..cluster.hosts.len() {
        let sightings = extraction(cluster, &simulation, host, family).sightings;
        // Clocks that count ns leave no doubt of the instant.
        assert!(sightings.iter().all(|s| s.raw == s.time && s.place.origin == Origin::Trace(0)));
        let mut found: Vec<_> =
            sightings.into_iter().map(|s| (s.clock, s.time.ns(), s.direction, s.packet)).collect();
        found.sort();
        let expect = expected(cluster, &simulation, host, family);
        assert_eq!(found.len(), expect.len(), "{family:?}, host {host}");
        for (found, expect) in found.iter().zip(&expect) {
            assert_eq!(found, expect, "{family:?}, host {host}");
        }
    }
}

/// Sightings of all hosts, and packets of other protocols.
fn counts(cluster: &Cluster, family: Family) -> (usize, u64) {
    let simulation = cluster.simulate().unwrap();
    let of_host = |host| {
        let extraction = extraction(cluster, &simulation, host, family);
        let other = [Direction::Sent, Direction::Received].map(|way| extraction.traffic[0].of(way).other);
        (extraction.sightings.len(), other[0] + other[1])
    };
    (0..cluster.hosts.len()).map(of_host).fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1))
}

#[test]
fn every_family_gives_what_was_sent() {
    for family in families() {
        for protocol in PROTOCOLS {
            let mut cluster = Cluster::star(3).messages(150).seconds(5).lossy(30).retransmitting(30);
            cluster.hosts.iter_mut().for_each(|host| host.cpus = 2);
            check(&cluster.each_link(|link| link.protocol = protocol), family);
        }
    }
}

#[test]
fn families_that_do_not_know_a_protocol_say_so() {
    for family in families() {
        for protocol in PROTOCOLS {
            let cluster = Cluster::chain(2).messages(100).seconds(5);
            let cluster = cluster.each_link(|link| link.protocol = protocol);
            let known = match (family, protocol) {
                (_, Protocol::Tcp)
                | (Family::Net(_, NetLayout::V2_13) | Family::LttvExtended, Protocol::Udp)
                | (Family::Net(IpVersion::V4, NetLayout::V2_13), Protocol::Echo) => true,
                (_, Protocol::Udp | Protocol::Echo) => false,
            };
            let other = match family {
                _ if known => 0,
                // No event records other packets.
                Family::Addons => 0,
                // A packet that came from its device and to no protocol is not recorded.
                Family::LttvExtended => 100,
                Family::Net(..) | Family::Experimental(_) => 200,
            };
            let expect = if known { (200, 0) } else { (0, other) };
            assert_eq!(counts(&cluster, family), expect, "{family:?} {protocol:?}");
        }
    }
}

#[test]
fn links_of_all_kinds_come_back() {
    for family in families() {
        let cluster = Cluster::chain(3).messages(150).seconds(5);
        check(&cluster.clone().each_link(|link| link.offload = true), family);
        check(&cluster.clone().each_link(|link| link.translated = true), family);
        check(&cluster.each_link(|link| link.back_permille = 20), family);
    }
}

#[test]
fn virtual_networks_and_devices_without_headers() {
    for family in families().into_iter().filter(|f| matches!(f, Family::Net(..) | Family::Experimental(_))) {
        let mut cluster = Cluster::chain(2).messages(100).seconds(5);
        (cluster.hosts[0].vlan, cluster.hosts[1].headerless) = (true, true);
        let simulation = cluster.simulate().unwrap();
        let sent = simulation.sent(0).count();
        let passed = |host, way| {
            let extraction = extraction(&cluster, &simulation, host, family);
            let passed = extraction.traffic[0].of(way);
            (passed.packets, passed.bare)
        };
        assert_eq!(passed(0, Direction::Sent), (2 * sent as u64, 0), "{family:?}");
        assert_eq!(passed(1, Direction::Received), (0, sent as u64), "{family:?}");
    }
}

#[test]
fn a_host_that_talks_to_itself_is_passed_over() {
    for family in [Family::IPV4, Family::IPV6, Family::Experimental(IpVersion::V4)] {
        let cluster = Cluster::with_links(1, [(0, 0)]).messages(50).seconds(5);
        assert_eq!(counts(&cluster, family), (0, 0), "{family:?}");
    }
}
