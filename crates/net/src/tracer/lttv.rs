//! The events that LTTV synchronized by: markers of the channel `net` of LTTng 0.x, in traces converted to
//! CTF.
//!
//! `dev_xmit_extended` records a departure. An arrival is recorded by two events: `dev_receive` when the
//! packet comes from its device, and `tcpv4_rcv_extended` or `udpv4_rcv_extended` when its headers are known;
//! [`super::pending`] joins them. Broadcasts are no messages between two hosts and are passed over. IPv4
//! only; of UDP, departures have no ports.

use std::net::{IpAddr, Ipv4Addr};

use isochrone_ctf::plan::{EventPlan, NodeKind, StreamPlan};
use isochrone_ctf::schema::ByteOrder;
use isochrone_ctf::{Event, FieldRef};

use super::Extractor;
use super::pending::SplitArrival;
use crate::packet::{Datagram, Direction, Packet, Seen, Segment, Transport, flags, protocol};

/// A packet is handed to a device for sending.
const TRANSMIT: &str = "dev_xmit_extended";
/// A packet has come from a device.
const ARRIVE: &str = "dev_receive";
/// A TCP segment has come to its protocol.
const TCP: &str = "tcpv4_rcv_extended";
/// A UDP datagram has come to its protocol.
const UDP: &str = "udpv4_rcv_extended";

/// The number of IPv4 among the protocols of Ethernet; converters may have left it in network order.
const IPV4: [u64; 2] = [0x0800, 0x0008];
/// Bytes of a UDP header.
const UDP_HEADER: u16 = 8;
/// The flags that have a field of their own.
const FLAGS: [(&str, u8); 4] =
    [("ack", flags::ACK), ("rst", flags::RST), ("syn", flags::SYN), ("fin", flags::FIN)];

/// The direction of an event that has headers, by its name.
pub(super) fn direction(event: &str) -> Option<Direction> {
    match marker(event) {
        TRANSMIT => Some(Direction::Sent),
        TCP | UDP => Some(Direction::Received),
        _ => None,
    }
}

/// Whether an event is a half of what records an arrival.
pub(super) fn is_half(event: &str) -> bool {
    matches!(marker(event), ARRIVE | TCP | UDP)
}

/// The name of the marker without that of its channel, which converters may put before it.
fn marker(event: &str) -> &str {
    event.strip_prefix("net").and_then(|rest| rest.strip_prefix(['_', '.'])).unwrap_or(event)
}

pub(super) fn extractor(stream: &StreamPlan, class: &EventPlan) -> Option<Box<dyn Extractor>> {
    let find = Find { stream, class };
    Some(match marker(class.name.as_deref()?) {
        TRANSMIT => Box::new(find.transmit()?),
        ARRIVE => Box::new(Arrival { skb: find.field("skb")?, protocol: find.field("protocol")? }),
        TCP => {
            Box::new(TcpReception { skb: find.field("skb")?, addresses: find.addresses()?, tcp: find.tcp()? })
        }
        UDP => Box::new(find.datagram()?),
        _ => return None,
    })
}

/// Finds the fields of a class.
struct Find<'p> {
    stream: &'p StreamPlan,
    class: &'p EventPlan,
}

impl Find<'_> {
    fn field(&self, name: &str) -> Option<FieldRef> {
        self.class.payload_field(self.stream, &[name])
    }

    fn addresses(&self) -> Option<[FieldRef; 2]> {
        Some([self.field("saddr")?, self.field("daddr")?])
    }

    fn tcp(&self) -> Option<TcpFields> {
        let flags = FLAGS.map(|(name, bit)| self.field(name).map(|field| (field, bit)));
        Some(TcpFields {
            total_length: self.field("tot_len")?,
            ihl: self.field("ihl")?,
            source: self.field("source")?,
            destination: self.field("dest")?,
            seq: self.field("seq")?,
            ack: self.field("ack_seq")?,
            data_offset: self.field("doff")?,
            flags: flags.into_iter().collect::<Option<_>>()?,
        })
    }

    fn transmit(&self) -> Option<Transmission> {
        Some(Transmission {
            network: self.field("network_protocol")?,
            transport: self.field("transport_protocol")?,
            addresses: self.addresses()?,
            tcp: self.tcp()?,
        })
    }

    fn datagram(&self) -> Option<UdpReception> {
        let (_, data) = self.class.payload.as_ref()?.member("data_start")?;
        let NodeKind::Integer { class: data, .. } = &data.kind else { return None };
        Some(UdpReception {
            skb: self.field("skb")?,
            addresses: self.addresses()?,
            unicast: self.field("unicast")?,
            length: self.field("ulen")?,
            source: self.field("source")?,
            destination: self.field("dest")?,
            data: self.field("data_start")?,
            data_order: data.byte_order,
        })
    }
}

/// Reads a pair of addresses.
fn addresses(event: &Event<'_>, fields: &[FieldRef; 2]) -> Option<(IpAddr, IpAddr)> {
    let address = |field| Some(IpAddr::from(Ipv4Addr::from(event.unsigned(field)? as u32)));
    Some((address(&fields[0])?, address(&fields[1])?))
}

/// The fields of a TCP segment in an IPv4 packet.
struct TcpFields {
    total_length: FieldRef,
    ihl: FieldRef,
    source: FieldRef,
    destination: FieldRef,
    seq: FieldRef,
    ack: FieldRef,
    data_offset: FieldRef,
    /// With the bit that each sets.
    flags: Vec<(FieldRef, u8)>,
}

impl TcpFields {
    /// Bytes after the IPv4 header.
    fn after_network(&self, event: &Event<'_>) -> Option<u64> {
        let ihl = event.unsigned(&self.ihl)?;
        event.unsigned(&self.total_length)?.checked_sub(ihl.saturating_mul(4))
    }

    fn segment(&self, event: &Event<'_>) -> Option<Segment> {
        let mut set = 0;
        for (field, bit) in &self.flags {
            set |= if event.unsigned(field)? == 0 { 0 } else { *bit };
        }
        let header = event.unsigned(&self.data_offset)?.saturating_mul(4);
        let payload = self.after_network(event).and_then(|bytes| bytes.checked_sub(header));
        Some(Segment {
            ports: Some((event.unsigned(&self.source)? as u16, event.unsigned(&self.destination)? as u16)),
            seq: event.unsigned(&self.seq)? as u32,
            ack: event.unsigned(&self.ack)? as u32,
            flags: set,
            known_flags: FLAGS.iter().fold(0, |known, (_, bit)| known | bit),
            payload: payload.map(|bytes| bytes as u32),
        })
    }
}

/// `dev_xmit_extended`.
struct Transmission {
    network: FieldRef,
    transport: FieldRef,
    addresses: [FieldRef; 2],
    tcp: TcpFields,
}

impl Transmission {
    fn packet(&self, event: &Event<'_>) -> Option<Packet> {
        // Of other protocols the fields were never written and hold what was in memory.
        if !IPV4.contains(&event.unsigned(&self.network)?) {
            return None;
        }
        let transport = match event.unsigned(&self.transport)? as u8 {
            protocol::TCP => Transport::Tcp(self.tcp.segment(event)?),
            protocol::UDP => {
                let length = self.tcp.after_network(event).and_then(|bytes| u16::try_from(bytes).ok());
                Transport::Udp(Datagram { ports: None, length, data: None, check: None })
            }
            _ => return None,
        };
        Some(Packet { addresses: addresses(event, &self.addresses), transport, ip_id: None })
    }
}

impl Extractor for Transmission {
    fn seen(&self, event: &Event<'_>) -> Seen {
        self.packet(event).map_or(Seen::OtherProtocol, Seen::Packet)
    }

    fn direction(&self) -> Direction {
        Direction::Sent
    }
}

/// `dev_receive`.
struct Arrival {
    skb: FieldRef,
    protocol: FieldRef,
}

impl Extractor for Arrival {
    fn seen(&self, event: &Event<'_>) -> Seen {
        let ipv4 = event.unsigned(&self.protocol).is_some_and(|protocol| IPV4.contains(&protocol));
        match event.unsigned(&self.skb).filter(|_| ipv4) {
            Some(skb) => Seen::SplitArrival(SplitArrival::Pending { skb }),
            None => Seen::OtherProtocol,
        }
    }

    fn direction(&self) -> Direction {
        Direction::Received
    }
}

/// `tcpv4_rcv_extended`.
struct TcpReception {
    skb: FieldRef,
    addresses: [FieldRef; 2],
    tcp: TcpFields,
}

impl Extractor for TcpReception {
    fn seen(&self, event: &Event<'_>) -> Seen {
        let Some(skb) = event.unsigned(&self.skb) else { return Seen::NoHeader };
        let packet = self.tcp.segment(event).map(|segment| Packet {
            addresses: addresses(event, &self.addresses),
            transport: Transport::Tcp(segment),
            ip_id: None,
        });
        Seen::SplitArrival(SplitArrival::Completes { skb, packet })
    }

    fn direction(&self) -> Direction {
        Direction::Received
    }
}

/// `udpv4_rcv_extended`.
struct UdpReception {
    skb: FieldRef,
    addresses: [FieldRef; 2],
    unicast: FieldRef,
    length: FieldRef,
    source: FieldRef,
    destination: FieldRef,
    data: FieldRef,
    data_order: ByteOrder,
}

impl UdpReception {
    fn packet(&self, event: &Event<'_>) -> Option<Packet> {
        if event.unsigned(&self.unicast)? == 0 {
            return None;
        }
        let length = event.unsigned(&self.length)? as u16;
        let datagram = Datagram {
            ports: Some((event.unsigned(&self.source)? as u16, event.unsigned(&self.destination)? as u16)),
            length: Some(length),
            data: first_bytes(event.unsigned(&self.data)?, self.data_order, length),
            check: None,
        };
        let addresses = addresses(event, &self.addresses);
        Some(Packet { addresses, transport: Transport::Udp(datagram), ip_id: None })
    }
}

impl Extractor for UdpReception {
    fn seen(&self, event: &Event<'_>) -> Seen {
        let Some(skb) = event.unsigned(&self.skb) else { return Seen::NoHeader };
        Seen::SplitArrival(SplitArrival::Completes { skb, packet: self.packet(event) })
    }

    fn direction(&self) -> Direction {
        Direction::Received
    }
}

/// The first bytes of the payload: the field is memory read as a number of the host. What follows a payload
/// shorter than eight bytes is not a part of it. The probe writes zero where the payload is not in the
/// buffer: then it is unknown.
fn first_bytes(word: u64, order: ByteOrder, length: u16) -> Option<u64> {
    let bytes = match order {
        ByteOrder::Little => word.swap_bytes(),
        ByteOrder::Big => word,
    };
    let present = u32::from(length.saturating_sub(UDP_HEADER).min(8));
    let data = bytes & !u64::MAX.checked_shr(present * 8).unwrap_or(0);
    (data != 0 || present == 0).then_some(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_channel_may_stand_before_the_marker() {
        for (event, expect) in [
            ("dev_xmit_extended", Some(Direction::Sent)),
            ("net_dev_xmit_extended", Some(Direction::Sent)),
            ("net.tcpv4_rcv_extended", Some(Direction::Received)),
            ("netdev_xmit_extended", None),
            ("net_dev_xmit", None),
            // Has no headers: it counts with the event that completes it.
            ("dev_receive", None),
        ] {
            assert_eq!(direction(event), expect, "{event}");
        }
    }

    #[test]
    fn data_are_the_bytes_in_their_order() {
        let check = |word, order, length, expect| assert_eq!(first_bytes(word, order, length), expect);
        check(0x0807_0605_0403_0201, ByteOrder::Little, 100, Some(0x0102_0304_0506_0708));
        check(0x0102_0304_0506_0708, ByteOrder::Big, 100, Some(0x0102_0304_0506_0708));
        check(0x0807_0605_0403_0201, ByteOrder::Little, 11, Some(0x0102_0300_0000_0000));
        check(0x0807_0605_0403_0201, ByteOrder::Little, 8, Some(0));
        check(0, ByteOrder::Little, 100, None);
    }
}
