//! `net_dev_queue` and `net_if_receive_skb` of LTTng-modules: the headers of network and transport as they lie in a packet.

use super::{ICMP, ICMP_6, IP_WORDS, SHORT_HEADER, TCP, TCP_WORDS, UDP, after_network, buffer};
use crate::assign::Given;
use crate::classes::NetLayout;
use crate::cluster::Protocol;
use crate::packets::{IpVersion, PacketStage, View, Way};

const ETHERNET_BYTES: u32 = 14;
/// Do not fragment.
const WHOLE: u16 = 0x4000;
/// Types of ICMP messages.
const ECHO_REPLY: u8 = 0;
const ECHO_REQUEST: u8 = 8;

/// Names of the fields of transport headers, and of the field that chooses one.
struct Names {
    kind: &'static str,
    tcp: [&'static str; 7],
    udp: [&'static str; 3],
    icmp: [&'static str; 2],
}

/// The names below the header of one version of IP.
macro_rules! names {
    ($ip:literal) => {
        Names {
            kind: concat!("network_header.", $ip, ".transport_header_type"),
            tcp: [
                concat!("network_header.", $ip, ".transport_header.tcp.source_port"),
                concat!("network_header.", $ip, ".transport_header.tcp.dest_port"),
                concat!("network_header.", $ip, ".transport_header.tcp.seq"),
                concat!("network_header.", $ip, ".transport_header.tcp.ack_seq"),
                concat!("network_header.", $ip, ".transport_header.tcp.data_offset"),
                concat!("network_header.", $ip, ".transport_header.tcp.flags"),
                concat!("network_header.", $ip, ".transport_header.tcp.window_size"),
            ],
            udp: [
                concat!("network_header.", $ip, ".transport_header.udp.source_port"),
                concat!("network_header.", $ip, ".transport_header.udp.dest_port"),
                concat!("network_header.", $ip, ".transport_header.udp.len"),
            ],
            icmp: [
                concat!("network_header.", $ip, ".transport_header.icmp.type"),
                concat!("network_header.", $ip, ".transport_header.icmp.gateway"),
            ],
        }
    };
}

const V4: Names = names!("ipv4");
const V6: Names = names!("ipv6");

/// The device that a packet passes.
pub(super) fn device(view: &View<'_>) -> &'static str {
    let passing = &view.passing;
    match (passing.packet.from == passing.packet.to, passing.way, passing.stage) {
        (true, ..) => "lo",
        (false, Way::Out, PacketStage::First) if view.host.vlan => "eth0.42",
        _ => "eth0",
    }
}

pub(super) fn event(
    view: &View<'_>,
    ip: IpVersion,
    layout: NetLayout,
) -> (&'static str, Vec<Given<'static>>) {
    let (packet, segment) = (view.passing.packet, view.passing.segment);
    let after = after_network(packet.protocol, segment);
    let (name, ethernet) = match view.passing.way {
        Way::Out => ("net_dev_queue", ETHERNET_BYTES),
        // What arrives has lost its Ethernet header by then.
        Way::In => ("net_if_receive_skb", 0),
    };
    let ip_bytes: u16 = match ip {
        IpVersion::V4 => IP_WORDS * 4,
        IpVersion::V6 => 40,
    };
    let mut fields: Vec<Given<'static>> = vec![
        ("skbaddr", buffer(&view.passing).into()),
        ("len", (u32::from(after + ip_bytes) + ethernet).into()),
        ("name", device(view).into()),
    ];
    if view.host.headerless && view.passing.way == Way::In {
        return (name, fields);
    }
    let protocol = match (packet.protocol, ip) {
        (Protocol::Tcp, _) => TCP,
        (Protocol::Udp, _) => UDP,
        (Protocol::Echo, IpVersion::V4) => ICMP,
        (Protocol::Echo, IpVersion::V6) => ICMP_6,
    };
    match ip {
        IpVersion::V4 => fields.extend([
            ("network_header_type", "ipv4".into()),
            ("network_header.ipv4.version", 4.into()),
            ("network_header.ipv4.ihl", IP_WORDS.into()),
            ("network_header.ipv4.tot_len", (after + ip_bytes).into()),
            ("network_header.ipv4.id", segment.ip_id.into()),
            ("network_header.ipv4.frag_off", WHOLE.into()),
            ("network_header.ipv4.ttl", 64.into()),
            ("network_header.ipv4.protocol", protocol.into()),
            ("network_header.ipv4.saddr", view.ends.v4.0.octets().into()),
            ("network_header.ipv4.daddr", view.ends.v4.1.octets().into()),
        ]),
        IpVersion::V6 => fields.extend([
            ("network_header_type", "ipv6".into()),
            ("network_header.ipv6.version", 6.into()),
            ("network_header.ipv6.payload_len", after.into()),
            ("network_header.ipv6.nexthdr", protocol.into()),
            ("network_header.ipv6.hop_limit", 64.into()),
            ("network_header.ipv6.saddr", view.ends.v6.0.segments().into()),
            ("network_header.ipv6.daddr", view.ends.v6.1.segments().into()),
        ]),
    }
    transport(view, ip, layout, &mut fields);
    (name, fields)
}

/// The transport header, if the layout has it.
fn transport(view: &View<'_>, ip: IpVersion, layout: NetLayout, fields: &mut Vec<Given<'static>>) {
    let (packet, segment, ends) = (view.passing.packet, view.passing.segment, &view.ends);
    let names = match ip {
        IpVersion::V4 => V4,
        IpVersion::V6 => V6,
    };
    let kind = match (packet.protocol, ip, layout) {
        (Protocol::Tcp, ..) => "tcp",
        (_, _, NetLayout::V2_9 | NetLayout::V2_11) | (Protocol::Echo, IpVersion::V6, _) => "unknown",
        (Protocol::Udp, ..) => "udp",
        (Protocol::Echo, IpVersion::V4, _) => "icmp",
    };
    if layout != NetLayout::V2_9 {
        fields.push((names.kind, kind.into()));
    }
    let (source, destination) = ends.ports;
    match kind {
        "tcp" => fields.extend(names.tcp.into_iter().zip([
            source.into(),
            destination.into(),
            segment.seq.into(),
            segment.ack.into(),
            TCP_WORDS.into(),
            segment.flags.into(),
            501.into(),
        ])),
        "udp" => {
            let length = SHORT_HEADER + segment.payload;
            fields.extend(names.udp.into_iter().zip([source.into(), destination.into(), length.into()]));
        }
        "icmp" => {
            let kind = if packet.reply { ECHO_REPLY } else { ECHO_REQUEST };
            let rest = u32::from(ends.identifier) << 16 | segment.seq & 0xffff;
            fields.extend(names.icmp.into_iter().zip([kind.into(), rest.into()]));
        }
        _ => {}
    }
}
