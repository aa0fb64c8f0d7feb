//! Packets in tunnels: the same as without, or counted by name; and never another one, wherever a frame was cut.

use crate::common::*;
use etherparse::{IpNumber, PacketBuilder};
use isochrone_capture::{Content, Frame, Transport};
use proptest::prelude::*;

/// What an IP packet is wrapped in, to become another one.
#[derive(Debug, Clone, Copy)]
enum Tunnel {
    /// IP in IP of this version.
    Ip(u8),
    /// GRE over this version of IP: with a key, a sequence number, a sum.
    Gre(u8, [bool; 3]),
    /// Ethernet in GRE, with a VLAN tag or without.
    GreEthernet(bool),
    EtherIp,
    /// MPLS in IP, with so many labels.
    Mpls(usize),
    /// VXLAN over this version of IP, to this port.
    Vxlan(u8, u16),
}

/// What an IP packet is wrapped in, to become a frame of Ethernet.
#[derive(Debug, Clone, Copy)]
enum Wrapper {
    None,
    Mpls(usize),
    /// Ethernet below labels, after a control word or without one.
    Pseudowire(bool),
    Pppoe,
    Snap,
    Pbb,
}

fn ether_type(packet: &[u8]) -> [u8; 2] {
    if packet[0] >> 4 == 4 { [8, 0] } else { [0x86, 0xdd] }
}

fn ethernet(kind: [u8; 2], payload: &[u8]) -> Vec<u8> {
    [&B[..], &A, &kind, payload].concat()
}

fn labels(count: usize) -> Vec<u8> {
    (1..=count).flat_map(|label| [0, label as u8, u8::from(label == count), 64]).collect()
}

/// An IP packet of a version and a protocol.
fn over(version: u8, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    match version {
        4 => PacketBuilder::ipv4([172, 16, 0, 1], [172, 16, 0, 2], 61),
        _ => PacketBuilder::ipv6([3; 16], [4; 16], 61),
    }
    .write(&mut packet, IpNumber(protocol), payload)
    .unwrap();
    packet
}

impl Tunnel {
    fn around(self, packet: &[u8]) -> Vec<u8> {
        let protocol = if packet[0] >> 4 == 4 { 4 } else { 41 };
        let frame = ethernet(ether_type(packet), packet);
        match self {
            Self::Ip(version) => over(version, protocol, packet),
            Self::Gre(version, with) => {
                let flags = with.iter().zip([0x20, 0x10, 0x80]).map(|(&with, flag)| u8::from(with) * flag);
                let words = vec![9; 4 * with.iter().filter(|&&with| with).count()];
                let header = [&[flags.sum(), 0][..], &ether_type(packet), &words].concat();
                over(version, 47, &[&header[..], packet].concat())
            }
            Self::GreEthernet(tagged) => {
                let tag = if tagged { &[0x81, 0, 0, 9][..] } else { &[] };
                let frame = [&frame[..12], tag, &frame[12..]].concat();
                over(4, 47, &[&[0, 0, 0x65, 0x58][..], &frame].concat())
            }
            Self::EtherIp => over(4, 97, &[&[0x30, 0][..], &frame].concat()),
            Self::Mpls(count) => over(4, 137, &[&labels(count)[..], packet].concat()),
            Self::Vxlan(version, port) => {
                let length = (16 + frame.len() as u16).to_be_bytes();
                let datagram =
                    [&[200, 9][..], &port.to_be_bytes(), &length, &[0, 0, 8, 0, 0, 0, 0, 0, 42, 0], &frame];
                over(version, 17, &datagram.concat())
            }
        }
    }
}

impl Wrapper {
    fn around(self, packet: &[u8], tags: usize) -> Vec<u8> {
        let kind = ether_type(packet);
        let (outer, payload) = match self {
            Self::None => (kind, packet.to_vec()),
            Self::Mpls(count) => ([0x88, 0x47], [&labels(count)[..], packet].concat()),
            Self::Pseudowire(control) => {
                let word = if control { &[0, 0, 0, 7][..] } else { &[] };
                ([0x88, 0x47], [&labels(1)[..], word, &ethernet(kind, packet)].concat())
            }
            Self::Pppoe => {
                let protocol = if kind == [8, 0] { [0, 0x21] } else { [0, 0x57] };
                let length = (packet.len() as u16 + 2).to_be_bytes();
                ([0x88, 0x64], [&[0x11, 0, 0, 5][..], &length, &protocol, packet].concat())
            }
            Self::Snap => {
                let length = packet.len() as u16 + 8;
                (length.to_be_bytes(), [&[0xaa, 0xaa, 3, 0, 0, 0][..], &kind, packet].concat())
            }
            Self::Pbb => ([0x88, 0xe7], [&[0, 0, 0, 9][..], &ethernet(kind, packet)].concat()),
        };
        let mut tagged = Vec::new();
        let mut types: Vec<[u8; 2]> = vec![[0x88, 0xa8]; tags.saturating_sub(1)];
        types.extend((tags > 0).then_some([0x81, 0]));
        types.push(outer);
        for kind in &types[1..] {
            tagged.extend([0, 5]);
            tagged.extend(kind);
        }
        ethernet(types[0], &[tagged, payload].concat())
    }
}

/// Packets of all that is matched, of both versions of IP.
fn packets() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let mut add = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut packet = Vec::new();
        write(&mut packet);
        all.push(packet);
    };
    let four = || PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
    let six = || PacketBuilder::ipv6([1; 16], [2; 16], 64);
    add(&|out| four().tcp(1000, 80, 77, 512).ack(99).psh().write(out, &[7; 30]).unwrap());
    add(&|out| six().tcp(1000, 80, 77, 512).ack(99).write(out, &[]).unwrap());
    add(&|out| four().udp(53, 5353).write(out, &[1, 2, 3, 4, 5, 6, 7, 8, 9]).unwrap());
    add(&|out| six().udp(53, 5353).write(out, &[1, 2]).unwrap());
    add(&|out| four().icmpv4_echo_request(7, 9).write(out, &[0; 8]).unwrap());
    add(&|out| six().icmpv6_echo_reply(7, 9).write(out, &[0; 8]).unwrap());
    all
}

fn captured(link_type: u32, frame: &[u8], captured: usize) -> Frame {
    let record = pcap_record(LITTLE, 1, 0, frame, captured);
    let (mut frames, wrong) = read(&[pcap_header(LITTLE, 0xa1b2_3c4d, link_type), record].concat());
    assert_eq!((frames.len(), wrong.len()), (1, 0), "{wrong:?}");
    frames.remove(0)
}

/// What is in all tunnels.
fn innermost(content: &Content) -> &Content {
    match content {
        Content::Ip(packet) => match &packet.transport {
            Transport::Tunnel(inner) => innermost(inner),
            _ => content,
        },
        _ => content,
    }
}

/// Whether this is too little to be matched.
fn is_cut(content: &Content) -> bool {
    match content {
        Content::Ip(packet) => packet.transport == Transport::Cut,
        Content::Other(_) => false,
        Content::Cut => true,
    }
}

/// The same, the begin of the payload of a datagram and its digest left aside.
fn without_data(content: &Content) -> Content {
    let mut content = content.clone();
    if let Content::Ip(packet) = &mut content
        && let Transport::Udp { data, check, .. } = &mut packet.transport
    {
        (*data, *check) = (None, None);
    }
    content
}

/// The same, where less of the payload was captured than its digest is of.
fn without_check(content: &Content) -> Content {
    let mut content = content.clone();
    if let Content::Ip(packet) = &mut content
        && let Transport::Udp { check, .. } = &mut packet.transport
    {
        *check = None;
    }
    content
}

fn tunnels() -> impl Strategy<Value = Tunnel> {
    let version = || prop::sample::select(vec![4_u8, 6]);
    prop_oneof![
        version().prop_map(Tunnel::Ip),
        (version(), any::<[bool; 3]>()).prop_map(|(version, with)| Tunnel::Gre(version, with)),
        any::<bool>().prop_map(Tunnel::GreEthernet),
        Just(Tunnel::EtherIp),
        (1_usize..4).prop_map(Tunnel::Mpls),
        (version(), prop::sample::select(vec![4789_u16, 8472])).prop_map(|(v, port)| Tunnel::Vxlan(v, port)),
    ]
}

fn wrappers() -> impl Strategy<Value = Wrapper> {
    prop_oneof![
        Just(Wrapper::None),
        (1_usize..5).prop_map(Wrapper::Mpls),
        any::<bool>().prop_map(Wrapper::Pseudowire),
        Just(Wrapper::Pppoe),
        Just(Wrapper::Snap),
        Just(Wrapper::Pbb),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// However packets are nested, the innermost is what it is alone; and wherever the frame was cut, it is that packet or none.
    #[test]
    fn the_same_packet_in_any_nesting(
        packet in 0_usize..6,
        nested in prop::collection::vec(tunnels(), 0..5),
        wrapper in wrappers(),
        tags in 0_usize..4,
        padding in prop::sample::select(vec![0_usize, 4]),
    ) {
        let packet = &packets()[packet];
        let alone = captured(101, packet, usize::MAX).content;
        let outer = nested.iter().fold(packet.clone(), |packet, tunnel| tunnel.around(&packet));
        let mut frame = wrapper.around(&outer, tags);
        frame.resize(frame.len() + padding, 0);
        let whole = captured(1, &frame, usize::MAX);
        prop_assert_eq!(innermost(&whole.content), &alone);
        for end in 0..frame.len() {
            let found = captured(1, &frame, end);
            let inner = innermost(&found.content);
            let same = without_data(inner) == without_data(&alone);
            prop_assert!(is_cut(inner) || same, "{end} of {}: {inner:?}", frame.len());
            if same {
                prop_assert!([alone.clone(), without_check(&alone), without_data(&alone)].contains(inner), "{end}: {inner:?}");
            }
        }
    }

    /// No byte that is wrong makes it panic, and it is always something that has a name.
    #[test]
    fn any_byte_may_be_wrong(
        packet in 0_usize..6,
        nested in prop::collection::vec(tunnels(), 0..6),
        wrapper in wrappers(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        end in any::<prop::sample::Index>(),
    ) {
        let outer = nested.iter().fold(packets()[packet].clone(), |packet, tunnel| tunnel.around(&packet));
        let mut frame = wrapper.around(&outer, 1);
        for (at, byte) in changes {
            let at = at.index(frame.len());
            frame[at] = byte;
        }
        let found = captured(1, &frame, end.index(frame.len() + 1));
        prop_assert!(!found.kind().to_string().is_empty());
    }
}

#[test]
fn frames_are_named_by_what_they_hold() {
    let check = |frame: &[u8], expect: &str| {
        assert_eq!(captured(1, frame, usize::MAX).kind().to_string(), expect);
    };
    let of_type = |kind: u16, payload: &[u8]| ethernet(kind.to_be_bytes(), payload);
    let of_ip = |protocol, payload: &[u8]| ethernet([8, 0], &over(4, protocol, payload));
    let tcp = &packets()[0];
    check(&of_type(0x0800, tcp), "TCP");
    check(&Wrapper::Pppoe.around(&Tunnel::Gre(6, [false; 3]).around(tcp), 2), "TCP in GRE in PPPoE");
    check(
        &Wrapper::Mpls(2).around(&Tunnel::Vxlan(4, 4789).around(&packets()[5]), 0),
        "ICMPv6 in VXLAN in MPLS",
    );
    check(&Wrapper::Snap.around(tcp, 0), "TCP in SNAP");
    check(&Wrapper::Pbb.around(tcp, 0), "TCP in PBB");
    check(&of_ip(50, &[1; 40]), "ESP");
    check(&of_ip(132, &[1; 40]), "SCTP");
    check(&of_ip(47, &[0x30, 1, 0x88, 0x0b, 0, 9, 0, 9, 0, 0, 0, 1, 0xff, 3]), "GRE");
    check(&of_ip(47, &[&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1][..], &[9; 60]].concat()), "GRE");
    check(&of_ip(47, &[&[0, 0, 0x65, 0x58][..], &of_type(0x0806, &[1; 28])].concat()), "ARP in GRE");
    check(&of_type(0x0806, &[1; 28]), "ARP");
    check(&of_type(0x8863, &[0x11, 9, 0, 0, 0, 0]), "PPPoE discovery");
    check(&of_type(0x8864, &[0x11, 0, 0, 5, 0, 6, 0xc0, 0x21, 1, 1]), "PPP LCP in PPPoE");
    check(&of_type(0x8864, &[0x12, 0, 0, 5, 0, 6, 0, 0x21, 1, 1]), "PPPoE");
    check(&of_type(0x88e5, &[0x2c; 60]), "MACsec");
    check(&of_type(0x8847, &[&[0, 1, 1, 64][..], &[0x10; 60]].concat()), "MPLS");
    check(&of_type(0x1234, &[1; 50]), "ether type 0x1234");
    check(&of_type(38, &[0x42; 38]), "STP");
    check(&of_type(38, &[&[0xaa, 0xaa, 3, 0, 0, 0x0c][..], &[1; 32]].concat()), "SNAP");
    let mut later = of_ip(6, &[7; 64]);
    later[20..22].copy_from_slice(&[0, 10]);
    check(&later, "later fragments of TCP");
    check(&of_ip(6, &[7; 9]), "cut TCP");
    check(&of_ip(47, &[0]), "cut frames in GRE");
    check(&[0; 9], "cut frames");
    // A datagram to the port of VXLAN that is none, and one that carries no packet of IP, are what they are.
    let mut other = Tunnel::Vxlan(4, 4789).around(tcp);
    other[28] = 0x40;
    check(&of_type(0x0800, &other), "UDP");
    let mut wrong = Tunnel::Vxlan(4, 4789).around(tcp);
    wrong[20 + 16 + 14 + 8] ^= 1;
    check(&of_type(0x0800, &wrong), "UDP");
    // Deeper than any network.
    let deep = (0..5).fold(tcp.clone(), |packet, _| Tunnel::Ip(4).around(&packet));
    check(&of_type(0x0800, &deep), "IP-in-IP in IP-in-IP in IP-in-IP in IP-in-IP");
}
