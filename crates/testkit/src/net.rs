//! The fields of the network tracepoints `net_dev_queue` and `net_if_receive_skb`: headers of IPv4 or IPv6 in one
//! variant, of TCP (UDP, ICMP) in another inside it.
//!
//! [`crate::classes`] names the events; [`crate::packets`] fills their fields.

use crate::classes::{Fields, NetLayout};

/// The payload of both events.
pub(crate) fn fields(layout: NetLayout) -> String {
    let transport = transport(layout);
    Fields::default()
        .hex(64, "skbaddr")
        .unsigned(32, "len")
        .string("name")
        .line(&enumeration("", &[("_unknown", "0"), ("_ipv4", "1"), ("_ipv6", "2")], "network_header_type"))
        .line("\t\tvariant <_network_header_type> {")
        .line("\t\tstruct {\n\t\t} _unknown;")
        .line(&format!("\t\tstruct {{\n{}{}\t\t}} _ipv4;", ipv4(layout), transport("_protocol")))
        .line(&format!("\t\tstruct {{\n{}{}\t\t}} _ipv6;", ipv6(layout), transport("_nexthdr")))
        .line("\t\t} _network_header;")
        .text
}

fn ipv4(layout: NetLayout) -> String {
    Fields::default()
        .network(4, "version")
        .network(4, "ihl")
        .network(8, "tos")
        .network(16, "tot_len")
        .network_hex(16, "id")
        .network(16, "frag_off")
        .network(8, "ttl")
        .line(&protocol(layout, "protocol"))
        .network_hex(16, "checksum")
        .line("\t\tstruct { } align(8) _saddr_padding;")
        .network(8, "saddr[4]")
        .line("\t\tstruct { } align(8) _daddr_padding;")
        .network(8, "daddr[4]")
        .text
}

fn ipv6(layout: NetLayout) -> String {
    Fields::default()
        .network(4, "version")
        .network(4, "prio")
        .line("\t\tstruct { } align(8) _flow_lbl_padding;")
        .network_hex(8, "flow_lbl[3]")
        .network(16, "payload_len")
        .line(&protocol(layout, "nexthdr"))
        .network(8, "hop_limit")
        .line("\t\tstruct { } align(8) _saddr_padding;")
        .network_hex(16, "saddr[8]")
        .line("\t\tstruct { } align(8) _daddr_padding;")
        .network_hex(16, "daddr[8]")
        .text
}

/// The protocol number, with names for the protocols whose headers the version records.
fn protocol(layout: NetLayout, name: &str) -> String {
    let labels: &[(&str, &str)] = match layout {
        NetLayout::V2_9 | NetLayout::V2_11 => {
            &[("_unknown", "0 ... 5"), ("_tcp", "6"), ("_unknown", "7 ... 255")]
        }
        NetLayout::V2_13 => &[
            ("_unknown", "0"),
            ("_icmp", "1"),
            ("_unknown", "2 ... 5"),
            ("_tcp", "6"),
            ("_unknown", "7 ... 16"),
            ("_udp", "17"),
            ("_unknown", "18 ... 255"),
        ],
    };
    enumeration(" byte_order = be;", labels, name)
}

/// The transport header: what chooses it (unless the protocol number of the network header does) and the choices.
fn transport(layout: NetLayout) -> impl Fn(&str) -> String {
    let option = |name: &str, text: String| format!("\t\tstruct {{\n{text}\t\t}} _{name};");
    let unknown_and_tcp = [option("unknown", String::new()), option("tcp", tcp())];
    move |protocol| match layout {
        NetLayout::V2_9 => {
            Fields::default()
                .line(&format!("\t\tvariant <{protocol}> {{"))
                .line(&unknown_and_tcp.concat())
                .line("\t\t} _transport_header;")
                .text
        }
        NetLayout::V2_11 => {
            Fields::default()
                .line(&enumeration("", &[("_unknown", "0"), ("_tcp", "1")], "transport_header_type"))
                .line("\t\tvariant <_transport_header_type> {")
                .line(&unknown_and_tcp.concat())
                .line("\t\t} _transport_header;")
                .text
        }
        NetLayout::V2_13 => {
            Fields::default()
                .line(&enumeration(
                    "",
                    &[("_unknown", "0"), ("_tcp", "1"), ("_udp", "2"), ("_icmp", "3")],
                    "transport_header_type",
                ))
                .line("\t\tvariant <_transport_header_type> {")
                .line(&unknown_and_tcp.concat())
                .line(&option("udp", udp()))
                .line(&option("icmp", icmp()))
                .line("\t\t} _transport_header;")
                .text
        }
    }
}

fn tcp() -> String {
    Fields::default()
        .network(16, "source_port")
        .network(16, "dest_port")
        .network(32, "seq")
        .network(32, "ack_seq")
        .network(4, "data_offset")
        .network(3, "reserved")
        .network_hex(9, "flags")
        .network(16, "window_size")
        .network_hex(16, "checksum")
        .network(16, "urg_ptr")
        .text
}

fn udp() -> String {
    Fields::default()
        .network(16, "source_port")
        .network(16, "dest_port")
        .network(16, "len")
        .network(16, "check")
        .text
}

fn icmp() -> String {
    Fields::default()
        .network(8, "type")
        .network(8, "code")
        .network(16, "checksum")
        .network(32, "gateway")
        .text
}

/// An enumeration in a byte.
fn enumeration(order: &str, labels: &[(&str, &str)], name: &str) -> String {
    let labels: Vec<String> = labels.iter().map(|(label, range)| format!("\"{label}\" = {range}")).collect();
    format!(
        "\t\tenum : integer {{ size = 8; align = 8; signed = 0; encoding = none; base = 10;{order} }} {{ {} }} _{name};",
        labels.join(", ")
    )
}
