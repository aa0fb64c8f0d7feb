//! Link types, tags, extension headers, fragments, and packets of which only a part was captured.

use crate::common::*;
use etherparse::{PacketBuilder, VlanId, ip_number};
use isochrone_capture::{Content, Fragment, Frame, Mac, PacketType, Protocol, Transport};

/// The frame of a file with one.
fn one(link_type: u32, frame: &[u8]) -> Frame {
    let (mut frames, wrong) = read(&pcap(link_type, &[frame.to_vec()]));
    assert_eq!((frames.len(), wrong.len()), (1, 0), "{wrong:?}");
    frames.remove(0)
}

#[test]
fn every_link_type_leads_to_the_packet() {
    let expect = one(1, &tcp()).content;
    assert_eq!(
        ip(&one(1, &tcp())).transport,
        Transport::Tcp { ports: (1000, 80), seq: 77, ack: 99, flags: 0x18, payload: Some(100) }
    );
    let inner = &tcp()[14..];
    let (addresses, rest) = tcp().split_at(12).pipe(|(a, b)| (a.to_vec(), b.to_vec()));
    let tagged = |tags: &[u8]| [&addresses[..], tags, &rest].concat();
    // Packet type, hardware type, length of the address, address, ether type.
    let cooked = |kind: u8, hardware: [u8; 2]| {
        [&[0, kind][..], &hardware, &[0, 6], &A, &[0, 0], &[0x08, 0x00], inner].concat()
    };
    let cooked_2 =
        |kind: u8| [&[0x08, 0x00, 0, 0, 0, 0, 0, 3, 0, 1, kind, 6][..], &A, &[0, 0], inner].concat();
    let check = |link_type: u32, frame: &[u8], kind: Option<PacketType>| {
        let found = one(link_type, frame);
        assert_eq!(found.content, expect, "link type {link_type}");
        assert_eq!(found.link.packet_type, kind);
        assert!(!found.link.is_loopback);
        if kind.is_some() {
            assert_eq!((found.link.source, found.link.destination), (Some(Mac(A)), None));
        } else if link_type == 1 {
            assert_eq!((found.link.source, found.link.destination), (Some(Mac(A)), Some(Mac(B))));
        }
    };
    check(1, &tcp(), None);
    check(1, &tagged(&[0x81, 0, 0, 42]), None);
    check(1, &tagged(&[0x88, 0xa8, 0, 42, 0x81, 0, 0, 43]), None);
    check(1, &tagged(&[0x91, 0, 0, 42, 0x81, 0, 0, 43]), None);
    for link_type in [12, 14, 101, 228, 229] {
        check(link_type, inner, None);
    }
    check(0, &[&[2, 0, 0, 0], inner].concat(), None);
    check(0, &[&[0, 0, 0, 2], inner].concat(), None);
    check(108, &[&[0, 0, 0, 2], inner].concat(), None);
    let kinds = [
        (0, PacketType::ToUs),
        (1, PacketType::Broadcast),
        (2, PacketType::Multicast),
        (3, PacketType::ToOther),
        (4, PacketType::FromUs),
    ];
    for (number, kind) in kinds {
        check(113, &cooked(number, [0, 1]), Some(kind));
        check(276, &cooked_2(number), Some(kind));
    }
    assert!(one(113, &cooked(0, [3, 4])).link.is_loopback);
    assert!(one(1, &[&[0; 12][..], &rest].concat()).link.is_loopback);
}

#[test]
fn what_is_no_ip_is_reported() {
    let check = |link_type: u32, frame: &[u8], expect: &Content| {
        assert_eq!(&one(link_type, frame).content, expect, "{link_type} {frame:?}");
    };
    let arp = [&B[..], &A, &[0x08, 0x06], &[0; 28]].concat();
    check(1, &arp, &Content::Other(Protocol::EtherType(0x0806)));
    // A length instead of a type: IEEE 802.3.
    check(1, &[&B[..], &A, &[0, 38], &[0x42; 38]].concat(), &Content::Other(Protocol::Llc(0x42)));
    check(1, &arp[..13], &Content::Cut);
    check(1, &[&B[..], &A, &[0x81, 0, 0]].concat(), &Content::Cut);
    check(1, &tcp()[..14 + 19], &Content::Cut);
    check(101, &[0x70; 40], &Content::Other(Protocol::Link(101)));
    check(101, &[], &Content::Cut);
    check(113, &[0; 15], &Content::Cut);
    check(276, &[0; 19], &Content::Cut);
}

#[test]
fn lengths_come_from_headers() {
    // How much of a TCP segment over IPv4 is captured, and whether that is enough.
    for captured in 0..tcp().len() {
        let record = pcap_record(LITTLE, 1, 0, &tcp(), captured);
        let (frames, wrong) = read(&[pcap_header(LITTLE, 0xa1b2_3c4d, 1), record].concat());
        assert_eq!(wrong.len(), 0);
        let found = &frames[0].content;
        match captured {
            0..34 => assert_eq!(*found, Content::Cut, "{captured}"),
            34..48 => assert_eq!(ip(&frames[0]).transport, Transport::Cut, "{captured}"),
            _ => assert_eq!(*found, one(1, &tcp()).content, "{captured}"),
        }
    }
    // Ethernet pads short frames; the padding is no payload.
    let mut short = Vec::new();
    let builder = PacketBuilder::ethernet2(A, B).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
    builder.tcp(1000, 80, 77, 512).write(&mut short, &[]).unwrap();
    short.resize(60, 0);
    assert!(matches!(ip(&one(1, &short)).transport, Transport::Tcp { payload: Some(0), .. }));
    assert_eq!((ip(&one(1, &short)).length, one(1, &short).wire), (40, 60));
    // A super segment states no length: the length on the wire gives it.
    let mut large = [tcp(), vec![0; 70_000]].concat();
    large[16..18].fill(0);
    assert!(matches!(ip(&one(1, &large)).transport, Transport::Tcp { payload: Some(70_100), .. }));
    // Headers that contradict each other.
    let mut bad = tcp();
    bad[46] = 0xff;
    bad[16..18].copy_from_slice(&[0, 60]);
    assert!(matches!(ip(&one(1, &bad)).transport, Transport::Tcp { payload: None, .. }));
}

#[test]
fn datagrams_show_their_first_bytes() {
    let datagram = |payload: &[u8]| {
        let mut frame = Vec::new();
        let builder = PacketBuilder::ipv6([1; 16], [2; 16], 64);
        builder.udp(53, 5353).write(&mut frame, payload).unwrap();
        frame
    };
    let check = |frame: &[u8], length: u16, data: Option<u64>| {
        let Transport::Udp { check, .. } = ip(&one(101, frame)).transport else { panic!("no datagram") };
        assert_eq!(ip(&one(101, frame)).transport, Transport::Udp { ports: (53, 5353), length, data, check });
        check
    };
    check(&datagram(&[1, 2, 3, 4, 5, 6, 7, 8, 9]), 17, Some(0x0102_0304_0506_0708));
    check(&datagram(&[1, 2]), 10, Some(0x0102_0000_0000_0000));
    check(&datagram(&[]), 8, Some(0));
    check(&datagram(&[1; 20])[..55], 28, None);
    check(&datagram(&[1; 20])[..56], 28, Some(0x0101_0101_0101_0101));
    // What is behind them, up to a limit, and only where all of it was captured.
    let nine = |last| check(&datagram(&[1, 2, 3, 4, 5, 6, 7, 8, last]), 17, Some(0x0102_0304_0506_0708));
    assert!(nine(9).is_some() && nine(9) != nine(10));
    let long = |last| [&[1; 32][..], &[last]].concat();
    let of_long = |bytes: &[u8]| check(bytes, 41, Some(0x0101_0101_0101_0101));
    assert_eq!(of_long(&datagram(&long(1))), of_long(&datagram(&long(2))));
    assert_eq!(of_long(&datagram(&long(1))[..79]), None);
    assert!(of_long(&datagram(&long(1))[..80]).is_some());
}

#[test]
fn echoes_of_both_versions() {
    let check = |frame: &[u8], expect: &Transport| assert_eq!(&ip(&one(101, frame)).transport, expect);
    let written = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut frame = Vec::new();
        write(&mut frame);
        frame
    };
    let four = || PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
    let six = || PacketBuilder::ipv6([1; 16], [2; 16], 64);
    let echo = |reply| Transport::Echo { reply, identifier: 7, sequence: 9 };
    check(&written(&|out| four().icmpv4_echo_request(7, 9).write(out, &[0; 8]).unwrap()), &echo(false));
    check(&written(&|out| four().icmpv4_echo_reply(7, 9).write(out, &[0; 8]).unwrap()), &echo(true));
    check(&written(&|out| six().icmpv6_echo_request(7, 9).write(out, &[0; 8]).unwrap()), &echo(false));
    check(&written(&|out| six().icmpv6_echo_reply(7, 9).write(out, &[0; 8]).unwrap()), &echo(true));
    let unreachable = written(&|out| four().icmpv4_raw(3, 1, [0; 4]).write(out, &[0; 28]).unwrap());
    check(&unreachable, &Transport::Other);
}

#[test]
fn extensions_and_fragments() {
    // IPv6 with hop-by-hop options, a route, destination options and a fragment header before TCP.
    let segment = &tcp()[34..];
    let fragmented = |offset: u16, more: u16| {
        let extensions = [
            &[43, 0, 0, 0, 0, 0, 0, 0][..],
            &[60, 0, 0, 0, 0, 0, 0, 0],
            &[44, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &[&[6, 0][..], &(offset | more).to_be_bytes(), &[0, 0, 0, 1]].concat(),
        ]
        .concat();
        let length = ((extensions.len() + segment.len()) as u16).to_be_bytes();
        [&[0x60, 0, 0, 0][..], &length, &[0, 64], &[1; 16], &[2; 16], &extensions, segment].concat()
    };
    let check = |offset, more, fragment: Option<Fragment>| {
        let found = one(101, &fragmented(offset, more));
        let packet = ip(&found);
        assert_eq!((packet.fragment, packet.protocol, packet.hops, packet.id), (fragment, 6, 64, None));
        match offset {
            0 => assert_eq!(packet.transport, ip(&one(1, &tcp())).transport),
            _ => assert_eq!(packet.transport, Transport::Other),
        }
    };
    check(0, 0, None);
    check(0, 1, Some(Fragment { offset: 0, more: true }));
    check(160, 0, Some(Fragment { offset: 160, more: false }));
    // Cut within the extensions.
    let cut = pcap_record(LITTLE, 1, 0, &fragmented(0, 0), 60);
    let (frames, _) = read(&[pcap_header(LITTLE, 0xa1b2_3c4d, 101), cut].concat());
    assert_eq!(ip(&frames[0]).transport, Transport::Cut);
    // IPv4.
    let mut later = tcp();
    later[20..22].copy_from_slice(&[0, 10]);
    let found = one(1, &later);
    assert_eq!(ip(&found).fragment, Some(Fragment { offset: 80, more: false }));
    assert_eq!((&ip(&found).transport, ip(&found).id), (&Transport::Other, Some(0)));
}

#[test]
fn the_builders_tags_are_ours() {
    let mut frame = Vec::new();
    PacketBuilder::ethernet2(A, B)
        .double_vlan(VlanId::try_new(1).unwrap(), VlanId::try_new(2).unwrap())
        .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .udp(1, 2)
        .write(&mut frame, &[9; 8])
        .unwrap();
    assert_eq!(ip(&one(1, &frame)).protocol, ip_number::UDP.0);
}

/// Splits and goes on in one expression.
trait Pipe: Sized {
    fn pipe<T>(self, f: impl FnOnce(Self) -> T) -> T {
        f(self)
    }
}

impl<T> Pipe for T {}
