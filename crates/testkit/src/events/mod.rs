//! The events of each tracer family: their classes, and their fields for a packet that passes a host. One file a family.

mod addons;
mod experimental;
mod lttv;
mod net;

use crate::assign::Given;
use crate::cluster::{Protocol, SimHost};
use crate::lttng::LttngTrace;
use crate::packets::{Family, Passing, View, Way};
use crate::traffic::Segment;

/// 32 bytes: the TCP header with timestamps.
pub(crate) const TCP_WORDS: u16 = 8;
/// Words of the IPv4 header.
const IP_WORDS: u16 = 5;
/// Bytes of the headers of UDP and of ICMP.
const SHORT_HEADER: u16 = 8;
/// Numbers of protocols over IP.
const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMP_6: u8 = 58;

/// A packet leaves through the virtual device and so much later through the real one.
const VLAN_NS: i64 = 2_000;
/// A packet comes to its protocol so much after it came from its device, and up to as much later.
const PROTOCOL_NS: i64 = 4_000;

/// Declares the event classes of a family.
pub(crate) fn describe(family: Family, trace: &mut LttngTrace) {
    match family {
        Family::Net(_, layout) => {
            trace.net_layout(layout);
        }
        Family::Experimental(_) => experimental::describe(trace),
        Family::LttvExtended => lttv::describe(trace),
        Family::Addons => {}
    }
}

/// Name and fields of the event that records a packet, if the family sees such packets.
pub(crate) fn event(view: &View<'_>, family: Family) -> Option<(&'static str, Vec<Given<'static>>)> {
    let tcp = view.passing.packet.protocol == Protocol::Tcp;
    Some(match family {
        Family::Net(ip, layout) => net::event(view, ip, layout),
        Family::Experimental(ip) => experimental::event(view, ip),
        Family::Addons if tcp => addons::event(view),
        Family::Addons => return None,
        Family::LttvExtended => lttv::event(view),
    })
}

/// When the second event that records a packet comes after the first, if there is one.
pub(crate) fn second_after(family: Family, host: &SimHost, first: &Passing<'_>) -> Option<i64> {
    let packet = first.packet;
    match (family, first.way) {
        (Family::Net(..) | Family::Experimental(_), Way::Out) => {
            (host.vlan && packet.from != packet.to).then_some(VLAN_NS)
        }
        (Family::LttvExtended, Way::In) => {
            let late = i64::from(first.segment.seq) % PROTOCOL_NS;
            (packet.protocol != Protocol::Echo).then_some(PROTOCOL_NS + late)
        }
        _ => None,
    }
}

/// Bytes after the network header.
fn after_network(protocol: Protocol, segment: Segment) -> u16 {
    let header = match protocol {
        Protocol::Tcp => TCP_WORDS * 4,
        Protocol::Udp | Protocol::Echo => SHORT_HEADER,
    };
    header + segment.payload
}

/// A kernel address that differs from packet to packet.
fn buffer(passing: &Passing<'_>) -> u64 {
    let direction = u64::from(passing.packet.from > passing.packet.to);
    let own = u64::from(passing.segment.seq) << 8 | (passing.packet.link as u64 & 0x7f) << 1 | direction;
    0xffff_8880_0000_0000 | own << 4
}
