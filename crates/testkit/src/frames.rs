//! The bytes of packets on a wire: a link header of any kind, IP, transport, payload.
//!
//! [`crate::capture`] puts them into files.

use std::net::{Ipv4Addr, Ipv6Addr};

use etherparse::{
    IcmpEchoHeader, Icmpv4Type, Icmpv6Type, IpHeaders, IpNumber, Ipv4Extensions, Ipv4Header, Ipv6Extensions,
    Ipv6FlowLabel, Ipv6Header, PacketBuilder, TcpHeader, TcpOptionElement,
};

use crate::addresses::Endpoints;
use crate::cluster::Protocol;
use crate::error::Misuse;
use crate::packets::{IpVersion, Way};
use crate::traffic::{Segment, SimPacket};

/// What comes before the network header in a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptureLink {
    /// Ethernet.
    Ethernet,
    /// Linux cooked capture, as of the device `any`.
    LinuxCooked,
    /// The second version of it.
    LinuxCooked2,
}

/// The numbers of IPv4 and IPv6 among the protocols of Ethernet, and that of a tag of a virtual network.
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const TAG: u16 = 0x8100;
/// The virtual network of all hosts that are in one.
const VLAN: u16 = 42;
/// Hops that a packet may go.
const TTL: u8 = 64;
/// Index of the device `eth0`.
const DEVICE: u16 = 2;
/// `ARPHRD_ETHER`.
const ETHERNET_DEVICE: u16 = 1;

impl CaptureLink {
    /// Its number in capture files.
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::Ethernet => 1,
            Self::LinuxCooked => 113,
            Self::LinuxCooked2 => 276,
        }
    }

    /// The link header of a packet that passes a device.
    pub(crate) fn header(self, packet: &SimPacket, way: Way, ip: IpVersion, tagged: bool) -> Vec<u8> {
        let protocol = match ip {
            IpVersion::V4 => IPV4,
            IpVersion::V6 => IPV6,
        };
        // To us, or from us.
        let kind: u8 = if way == Way::Out { 4 } else { 0 };
        let words = |words: &[u16]| -> Vec<u8> { words.iter().flat_map(|word| word.to_be_bytes()).collect() };
        let tag = if tagged { words(&[TAG, VLAN]) } else { Vec::new() };
        let [from, to] = [packet.from, packet.to].map(|host| mac(host).to_vec());
        match self {
            Self::Ethernet => [to, from, tag, words(&[protocol])].concat(),
            Self::LinuxCooked => {
                [words(&[kind.into(), ETHERNET_DEVICE, 6]), from, words(&[0, protocol])].concat()
            }
            Self::LinuxCooked2 => {
                let begin = words(&[protocol, 0, 0, DEVICE, ETHERNET_DEVICE]);
                [begin, vec![kind, 6], from, vec![0, 0]].concat()
            }
        }
    }
}

fn mac(host: usize) -> [u8; 6] {
    let [high, low] = (host as u16 + 1).to_be_bytes();
    [2, 0, 0, 0, high, low]
}

/// A packet from its network header on, with right lengths and sums.
pub(crate) fn network(
    packet: &SimPacket,
    segment: Segment,
    ends: &Endpoints,
    ip: IpVersion,
) -> Result<Vec<u8>, Misuse> {
    let builder = PacketBuilder::ip(match ip {
        IpVersion::V4 => ipv4(ends.v4, segment.ip_id)?,
        IpVersion::V6 => ipv6(ends.v6),
    });
    let mut payload = vec![0; segment.payload.into()];
    for (byte, data) in payload.iter_mut().zip(packet.data().to_be_bytes()) {
        *byte = data;
    }
    let mut bytes = Vec::new();
    let (source, destination) = ends.ports;
    let echo = IcmpEchoHeader { id: ends.identifier, seq: segment.seq as u16 };
    match (packet.protocol, ip) {
        (Protocol::Tcp, _) => {
            builder.tcp_header(tcp(segment, ends.ports)?).write(&mut bytes, &payload).map_err(refused)?;
        }
        (Protocol::Udp, _) => {
            builder.udp(source, destination).write(&mut bytes, &payload).map_err(refused)?;
        }
        (Protocol::Echo, IpVersion::V4) => {
            let kind = if packet.reply { Icmpv4Type::EchoReply(echo) } else { Icmpv4Type::EchoRequest(echo) };
            builder.icmpv4(kind).write(&mut bytes, &payload).map_err(refused)?;
        }
        (Protocol::Echo, IpVersion::V6) => {
            let kind = if packet.reply { Icmpv6Type::EchoReply(echo) } else { Icmpv6Type::EchoRequest(echo) };
            builder.icmpv6(kind).write(&mut bytes, &payload).map_err(refused)?;
        }
    }
    Ok(bytes)
}

fn refused(error: impl std::fmt::Display) -> Misuse {
    Misuse::Frame(error.to_string())
}

/// Lengths and protocols are filled in when the packet is complete.
fn ipv4((source, destination): (Ipv4Addr, Ipv4Addr), id: u16) -> Result<IpHeaders, Misuse> {
    let header = Ipv4Header::new(0, TTL, IpNumber::TCP, source.octets(), destination.octets());
    let mut header = header.map_err(refused)?;
    (header.identification, header.dont_fragment) = (id, true);
    Ok(IpHeaders::Ipv4(header, Ipv4Extensions::default()))
}

fn ipv6((source, destination): (Ipv6Addr, Ipv6Addr)) -> IpHeaders {
    let header = Ipv6Header {
        traffic_class: 0,
        flow_label: Ipv6FlowLabel::ZERO,
        payload_length: 0,
        next_header: IpNumber::TCP,
        hop_limit: TTL,
        source: source.octets(),
        destination: destination.octets(),
    };
    IpHeaders::Ipv6(header, Ipv6Extensions::default())
}

fn tcp(segment: Segment, (source, destination): (u16, u16)) -> Result<TcpHeader, Misuse> {
    let flag = |bit: u16| segment.flags & bit != 0;
    let mut header = TcpHeader::new(source, destination, segment.seq, 501);
    header.acknowledgment_number = segment.ack;
    (header.fin, header.syn, header.rst, header.psh) = (flag(1), flag(2), flag(4), flag(8));
    (header.ack, header.urg, header.ece, header.cwr) = (flag(0x10), flag(0x20), flag(0x40), flag(0x80));
    let stamps = TcpOptionElement::Timestamp(segment.seq, segment.ack);
    header.set_options(&[TcpOptionElement::Noop, TcpOptionElement::Noop, stamps]).map_err(refused)?;
    Ok(header)
}
