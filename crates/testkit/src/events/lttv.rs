//! The markers of LTTng 0.x that LTTV synchronized by: `dev_xmit_extended` for what is sent, `dev_receive` and then
//! `tcpv4_rcv_extended` or `udpv4_rcv_extended` for what arrives.

use isochrone_ctf::schema::ByteOrder;

use super::{ICMP, IP_WORDS, SHORT_HEADER, TCP, TCP_WORDS, UDP, after_network, buffer};
use crate::assign::Given;
use crate::classes::Fields;
use crate::cluster::Protocol;
use crate::lttng::LttngTrace;
use crate::packets::{PacketStage, View, Way};
use crate::traffic::Segment;

/// The number of IPv4 among the protocols of Ethernet.
const IPV4: u16 = 0x0800;
/// TCP flags.
const FIN: u16 = 0x01;
const SYN: u16 = 0x02;
const RST: u16 = 0x04;
const ACK: u16 = 0x10;

pub(super) fn describe(trace: &mut LttngTrace) {
    let addresses = |fields: Fields| fields.network_hex(32, "saddr").network_hex(32, "daddr");
    let tcp = |fields: Fields| {
        let fields = addresses(fields)
            .network(16, "tot_len")
            .unsigned(8, "ihl")
            .network(16, "source")
            .network(16, "dest")
            .network(32, "seq")
            .network(32, "ack_seq");
        ["doff", "ack", "rst", "syn", "fin"].into_iter().fold(fields, |fields, name| fields.unsigned(8, name))
    };
    let skb = || Fields::default().hex(64, "skb");
    let transmit = tcp(skb().network_hex(16, "network_protocol").unsigned(8, "transport_protocol"));
    let udp = addresses(skb())
        .unsigned(8, "unicast")
        .network(16, "ulen")
        .network(16, "source")
        .network(16, "dest")
        .hex(64, "data_start");
    trace
        .define("dev_xmit_extended", &transmit.text)
        .define("dev_receive", &skb().network_hex(16, "protocol").text)
        .define("tcpv4_rcv_extended", &tcp(skb()).text)
        .define("udpv4_rcv_extended", &udp.text);
}

pub(super) fn event(view: &View<'_>) -> (&'static str, Vec<Given<'static>>) {
    let packet = view.passing.packet;
    let skb = ("skb", buffer(&view.passing).into());
    match (view.passing.way, view.passing.stage, packet.protocol) {
        (Way::Out, ..) => ("dev_xmit_extended", transmitted(view, skb)),
        (Way::In, PacketStage::First, _) => ("dev_receive", vec![skb, ("protocol", IPV4.into())]),
        (Way::In, PacketStage::Second, Protocol::Tcp) => {
            let mut fields = vec![skb];
            fields.extend(network(view));
            fields.extend(tcp(view));
            ("tcpv4_rcv_extended", fields)
        }
        (Way::In, PacketStage::Second, _) => ("udpv4_rcv_extended", received_datagram(view, skb)),
    }
}

fn addresses(view: &View<'_>) -> [Given<'static>; 2] {
    let (source, destination) = view.ends.v4;
    [("saddr", source.to_bits().into()), ("daddr", destination.to_bits().into())]
}

fn network(view: &View<'_>) -> impl Iterator<Item = Given<'static>> {
    let total = after_network(view.passing.packet.protocol, view.passing.segment) + IP_WORDS * 4;
    addresses(view).into_iter().chain([("tot_len", total.into()), ("ihl", IP_WORDS.into())])
}

fn tcp(view: &View<'_>) -> [Given<'static>; 9] {
    let Segment { seq, ack, flags, .. } = view.passing.segment;
    let flag = |bit: u16| u8::from(flags & bit != 0).into();
    let (source, destination) = view.ends.ports;
    [
        ("source", source.into()),
        ("dest", destination.into()),
        ("seq", seq.into()),
        ("ack_seq", ack.into()),
        ("doff", TCP_WORDS.into()),
        ("ack", flag(ACK)),
        ("rst", flag(RST)),
        ("syn", flag(SYN)),
        ("fin", flag(FIN)),
    ]
}

/// Of UDP, the probe reads no ports.
fn transmitted(view: &View<'_>, skb: Given<'static>) -> Vec<Given<'static>> {
    let protocol = match view.passing.packet.protocol {
        Protocol::Tcp => TCP,
        Protocol::Udp => UDP,
        Protocol::Echo => ICMP,
    };
    let mut fields = vec![skb, ("network_protocol", IPV4.into()), ("transport_protocol", protocol.into())];
    fields.extend(network(view));
    if view.passing.packet.protocol == Protocol::Tcp {
        fields.extend(tcp(view));
    }
    fields
}

fn received_datagram(view: &View<'_>, skb: Given<'static>) -> Vec<Given<'static>> {
    let (source, destination) = view.ends.ports;
    // The probe reads memory as a number of the host.
    let data = match view.byte_order {
        ByteOrder::Little => view.passing.packet.data().swap_bytes(),
        ByteOrder::Big => view.passing.packet.data(),
    };
    let mut fields = vec![skb];
    fields.extend(addresses(view));
    fields.extend([
        ("unicast", 1.into()),
        ("ulen", (SHORT_HEADER + view.passing.segment.payload).into()),
        ("source", source.into()),
        ("dest", destination.into()),
        ("data_start", data.into()),
    ]);
    fields
}
