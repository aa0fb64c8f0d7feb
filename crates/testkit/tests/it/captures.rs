//! Captures read back with a library: every frame is a packet that was sent, at a time between sending and arrival.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::Path;

use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};
use isochrone_testkit::{
    CaptureLink, Cluster, Endpoints, IpVersion, Protocol, SimPacket, Simulation, UNIX_EPOCH_NS,
};

/// Time, length on the wire, and the bytes that were kept.
struct Frame {
    time: i64,
    length: usize,
    bytes: Vec<u8>,
}

/// The kind of link and the frames of a capture.
fn read(path: &Path) -> (u32, Vec<Frame>) {
    let bytes = std::fs::read(path).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!([word(0), word(4), word(16)], [0xa1b2_3c4d, 0x0004_0002, 160]);
    let (mut at, mut frames) = (24, Vec::new());
    while at < bytes.len() {
        let kept = word(at + 8) as usize;
        let time = i64::from(word(at)) * 1_000_000_000 + i64::from(word(at + 4));
        let frame = bytes[at + 16..at + 16 + kept].to_vec();
        frames.push(Frame { time, length: word(at + 12) as usize, bytes: frame });
        at += 16 + kept;
    }
    assert!(frames.is_sorted_by_key(|frame| frame.time));
    (word(20), frames)
}

/// What a packet is known by: numbers that no other of its link has.
fn key(slice: &LaxSlicedPacket<'_>) -> (u64, u64) {
    let rest = |bytes: [u8; 4]| u64::from(u32::from_be_bytes(bytes));
    match slice.transport.as_ref().unwrap() {
        TransportSlice::Tcp(tcp) => (tcp.sequence_number().into(), tcp.acknowledgment_number().into()),
        TransportSlice::Udp(udp) => {
            let mut data = [0; 8];
            data.iter_mut().zip(udp.payload()).for_each(|(byte, &data)| *byte = data);
            (udp.length().into(), u64::from_be_bytes(data))
        }
        TransportSlice::Icmpv4(icmp) => (rest(icmp.bytes5to8()), icmp.type_u8().into()),
        TransportSlice::Icmpv6(icmp) => (rest(icmp.bytes5to8()), icmp.type_u8().into()),
        TransportSlice::Igmp(_) => panic!("no host joins groups"),
    }
}

fn key_of(packet: &SimPacket, ends: &Endpoints, ip: IpVersion) -> (u64, u64) {
    let segment = packet.segment;
    let kind = match (ip, packet.reply) {
        (IpVersion::V4, true) => 0,
        (IpVersion::V4, false) => 8,
        (IpVersion::V6, reply) => 128 + u64::from(reply),
    };
    match packet.protocol {
        Protocol::Tcp => (segment.seq.into(), segment.ack.into()),
        Protocol::Udp => (u64::from(segment.payload) + 8, packet.data()),
        Protocol::Echo => (u64::from(ends.identifier) << 16 | u64::from(segment.seq), kind),
    }
}

fn addresses(slice: &LaxSlicedPacket<'_>) -> (IpAddr, IpAddr) {
    match slice.net.as_ref().unwrap() {
        LaxNetSlice::Ipv4(v4) => (v4.header().source_addr().into(), v4.header().destination_addr().into()),
        LaxNetSlice::Ipv6(v6) => (v6.header().source_addr().into(), v6.header().destination_addr().into()),
        LaxNetSlice::Arp(_) => panic!("no host asks for addresses"),
    }
}

fn slice(bytes: &[u8], link: CaptureLink) -> LaxSlicedPacket<'_> {
    match link {
        CaptureLink::Ethernet => LaxSlicedPacket::from_ethernet(bytes).unwrap(),
        CaptureLink::LinuxCooked => LaxSlicedPacket::from_ip(&bytes[16..]).unwrap(),
        CaptureLink::LinuxCooked2 => LaxSlicedPacket::from_ip(&bytes[20..]).unwrap(),
    }
}

const PROTOCOLS: [Protocol; 3] = [Protocol::Tcp, Protocol::Udp, Protocol::Echo];

/// Two hosts, the first in a virtual network and behind a translator.
fn cluster(protocol: Protocol) -> Cluster {
    let mut cluster = Cluster::chain(2).messages(400).seconds(5).lossy(50);
    cluster.hosts[0].vlan = true;
    (cluster.links[0].protocol, cluster.links[0].translated) = (protocol, true);
    cluster
}

/// Addresses, and what a packet is known by.
type Key = ((IpAddr, IpAddr), (u64, u64));

/// Packets by their addresses and what they are known by, as a host sees them.
fn by_key<'s>(
    cluster: &Cluster,
    simulation: &'s Simulation,
    viewer: usize,
    ip: IpVersion,
) -> HashMap<Key, &'s SimPacket> {
    let keyed = simulation.packets.iter().map(|packet| {
        let ends = cluster.endpoints(packet, viewer).unwrap();
        ((ends.addresses(ip), key_of(packet, &ends, ip)), packet)
    });
    let keyed: HashMap<_, _> = keyed.collect();
    assert_eq!(keyed.len(), simulation.packets.len());
    keyed
}

#[test]
fn a_switch_sees_every_frame_on_its_way() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("switch.pcap");
    for protocol in PROTOCOLS {
        for ip in [IpVersion::V4, IpVersion::V6] {
            let cluster = cluster(protocol);
            let simulation = cluster.simulate().unwrap();
            cluster.write_switch_capture(&simulation, ip, &path).unwrap();
            let mut packets = by_key(&cluster, &simulation, 0, ip);
            let (link, frames) = read(&path);
            assert_eq!(link, 1);
            for frame in frames {
                let slice = slice(&frame.bytes, CaptureLink::Ethernet);
                let packet = packets.remove(&(addresses(&slice), key(&slice))).unwrap();
                let at = frame.time - UNIX_EPOCH_NS;
                let latest = packet.received_true.unwrap_or(packet.sent_true + 50_000);
                assert!(packet.sent_true < at && at < latest);
                assert_eq!(slice.vlan_ids().len(), usize::from(packet.from == 0));
                assert_eq!(frame.bytes.len(), frame.length.min(160));
            }
            // What is missing was lost before the switch.
            assert!(packets.values().all(|packet| packet.received_true.is_none()));
            assert!((2..30).contains(&packets.len()), "{}", packets.len());
        }
    }
}

#[test]
fn a_switch_sees_the_frames_of_large_departures() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("switch.pcap");
    let cluster = Cluster::chain(2).messages(100).seconds(5).each_link(|link| link.offload = true);
    let simulation = cluster.simulate().unwrap();
    cluster.write_switch_capture(&simulation, IpVersion::V4, &path).unwrap();
    let (_, frames) = read(&path);
    let expect: usize = simulation.packets.iter().map(|packet| usize::from(packet.frames())).sum();
    assert!(expect > 1_000 && frames.len() == expect);
    assert!(frames.iter().all(|frame| frame.length <= 1514));
    let bytes: usize = frames.iter().map(|frame| frame.length - 14 - 52).sum();
    let sent: usize = simulation.packets.iter().map(|packet| usize::from(packet.segment.payload)).sum();
    assert_eq!(bytes, sent);
}

#[test]
fn a_host_captures_what_passes_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("host.pcap");
    let links =
        [(CaptureLink::Ethernet, 1), (CaptureLink::LinuxCooked, 113), (CaptureLink::LinuxCooked2, 276)];
    for (host, protocol) in [0, 1].into_iter().flat_map(|host| PROTOCOLS.map(|protocol| (host, protocol))) {
        for ((link, number), ip) in links.into_iter().flat_map(|l| [(l, IpVersion::V4), (l, IpVersion::V6)]) {
            let cluster = cluster(protocol);
            let simulation = cluster.simulate().unwrap();
            cluster.write_host_capture(&simulation, host, ip, link, &path).unwrap();
            let mut packets = by_key(&cluster, &simulation, host, ip);
            let (found, frames) = read(&path);
            assert_eq!(found, number);
            let unix = cluster.hosts[host].clock.unix_offset_ns();
            for frame in frames {
                let slice = slice(&frame.bytes, link);
                let packet = packets.remove(&(addresses(&slice), key(&slice))).unwrap();
                let raw = if packet.from == host { Some(packet.sent_raw) } else { packet.received_raw };
                assert_eq!(Some(frame.time - unix), raw);
            }
            assert!(packets.values().all(|packet| packet.to == host && packet.received_raw.is_none()));
        }
    }
}
