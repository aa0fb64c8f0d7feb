//! `net_dev_queue` and `netif_receive_skb` of the `net_data_experimental` branch. How the transport header is named is
//! known from its readers; how the network header is, is a guess.

use super::{IP_WORDS, TCP_WORDS, after_network, buffer, net};
use crate::assign::Given;
use crate::classes::Fields;
use crate::cluster::Protocol;
use crate::lttng::LttngTrace;
use crate::packets::{IpVersion, View, Way};

const EVENTS: [&str; 2] = ["net_dev_queue", "netif_receive_skb"];

pub(super) fn describe(trace: &mut LttngTrace) {
    let v4 = Fields::default()
        .network(4, "version")
        .network(4, "ihl")
        .network(16, "tot_len")
        .network_hex(16, "id")
        .network_hex(32, "saddr")
        .network_hex(32, "daddr")
        .text;
    let v6 = Fields::default()
        .network(16, "payload_len")
        .network_hex(16, "saddr[8]")
        .network_hex(16, "daddr[8]")
        .text;
    let tcp = Fields::default()
        .network(16, "source")
        .network(16, "dest")
        .network(32, "seq")
        .network(32, "ack_seq")
        .network(4, "doff")
        .network(3, "reserved")
        .network_hex(9, "flags")
        .network(16, "window")
        .text;
    let choice = |labels: &str, name: &str| {
        format!("\t\tenum : integer {{ size = 8; align = 8; signed = 0; }} {{ {labels} }} _{name};")
    };
    let fields = Fields::default()
        .hex(64, "skbaddr")
        .unsigned(32, "len")
        .string("name")
        .line(&choice("\"_nhtype_unknown\" = 0, \"_nhtype_ipv4\" = 1, \"_nhtype_ipv6\" = 2", "network_type"))
        .line("\t\tvariant <_network_type> {\n\t\tstruct { } _nhtype_unknown;")
        .line(&format!("\t\tstruct {{\n{v4}\t\t}} _nhtype_ipv4;\n\t\tstruct {{\n{v6}\t\t}} _nhtype_ipv6;"))
        .line("\t\t} _network_fields;")
        .line(&choice("\"_thtype_unknown\" = 0, \"_thtype_tcp\" = 1", "transport_type"))
        .line("\t\tvariant <_transport_type> {\n\t\tstruct { } _thtype_unknown;")
        .line(&format!("\t\tstruct {{\n{tcp}\t\t}} _thtype_tcp;\n\t\t}} _transport_fields;"))
        .text;
    for name in EVENTS {
        trace.define(name, &fields);
    }
    trace.environment("tracer_minor", 3.into());
}

pub(super) fn event(view: &View<'_>, ip: IpVersion) -> (&'static str, Vec<Given<'static>>) {
    let (packet, segment, ends) = (view.passing.packet, view.passing.segment, &view.ends);
    let after = after_network(packet.protocol, segment);
    let name = EVENTS[usize::from(view.passing.way == Way::In)];
    let mut fields: Vec<Given<'static>> = vec![
        ("skbaddr", buffer(&view.passing).into()),
        ("len", u32::from(after).into()),
        ("name", net::device(view).into()),
    ];
    if view.host.headerless && view.passing.way == Way::In {
        return (name, fields);
    }
    match ip {
        IpVersion::V4 => fields.extend([
            ("network_type", "nhtype_ipv4".into()),
            ("network_fields.nhtype_ipv4.version", 4.into()),
            ("network_fields.nhtype_ipv4.ihl", IP_WORDS.into()),
            ("network_fields.nhtype_ipv4.tot_len", (after + IP_WORDS * 4).into()),
            ("network_fields.nhtype_ipv4.id", segment.ip_id.into()),
            ("network_fields.nhtype_ipv4.saddr", ends.v4.0.to_bits().into()),
            ("network_fields.nhtype_ipv4.daddr", ends.v4.1.to_bits().into()),
        ]),
        IpVersion::V6 => fields.extend([
            ("network_type", "nhtype_ipv6".into()),
            ("network_fields.nhtype_ipv6.payload_len", after.into()),
            ("network_fields.nhtype_ipv6.saddr", ends.v6.0.segments().into()),
            ("network_fields.nhtype_ipv6.daddr", ends.v6.1.segments().into()),
        ]),
    }
    if packet.protocol == Protocol::Tcp {
        fields.extend([
            ("transport_type", "thtype_tcp".into()),
            ("transport_fields.thtype_tcp.source", ends.ports.0.into()),
            ("transport_fields.thtype_tcp.dest", ends.ports.1.into()),
            ("transport_fields.thtype_tcp.seq", segment.seq.into()),
            ("transport_fields.thtype_tcp.ack_seq", segment.ack.into()),
            ("transport_fields.thtype_tcp.doff", TCP_WORDS.into()),
            ("transport_fields.thtype_tcp.flags", segment.flags.into()),
        ]);
    }
    (name, fields)
}
