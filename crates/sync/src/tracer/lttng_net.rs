//! The network tracepoints of LTTng-modules 2.9 and later: `net_dev_queue` and `net_if_receive_skb` with the headers of
//! network and transport in them.
//!
//! Three layouts exist over the versions; all of them are variants whose tags the metadata name, so the fields are found
//! by their names and never by position.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use isochrone_ctf::plan::{EventPlan, Name, StreamPlan};
use isochrone_ctf::schema::IntegerClass;
use isochrone_ctf::{Event, FieldRef, Visitor};

use super::{Extractor, Seen};
use crate::record::{Direction, Packet, Segment, Transport, flags};

/// A packet is handed to a device for sending.
pub(super) const QUEUE: &str = "net_dev_queue";
/// A packet has come from a device.
pub(super) const RECEIVE: &str = "net_if_receive_skb";
/// The same before LTTng-modules 2.7 renamed it, and for kernels' own name.
pub(super) const RECEIVE_OLD: &str = "netif_receive_skb";

/// Packets on this device never leave the host.
const LOOPBACK: &[u8] = b"lo";

struct NetEvent {
    direction: Direction,
    device: Option<FieldRef>,
    header: FieldRef,
}

pub(super) fn extractor(stream: &StreamPlan, class: &EventPlan) -> Option<Box<dyn Extractor>> {
    let direction = match class.name.as_deref()? {
        QUEUE => Direction::Sent,
        RECEIVE | RECEIVE_OLD => Direction::Received,
        _ => return None,
    };
    // Tracers before 2.9 have the events without the headers.
    let header = class.payload_field(stream, &["network_header"])?;
    let device = class.payload_field(stream, &["name"]);
    Some(Box::new(NetEvent { direction, device, header }))
}

impl Extractor for NetEvent {
    fn seen(&self, event: &Event<'_>) -> Seen {
        if self.device.as_ref().and_then(|device| event.text(device)) == Some(LOOPBACK) {
            return Seen::Loopback;
        }
        let mut headers = Headers::default();
        if event.visit_field(&self.header, &mut headers).is_none() || !headers.network {
            return Seen::NoHeader;
        }
        headers.into_packet().map_or(Seen::OtherProtocol, Seen::Packet)
    }

    fn direction(&self) -> Direction {
        self.direction
    }
}

/// The fields of network and transport header that matter, as the visit brings them.
#[derive(Debug, Default)]
struct Headers {
    field: Field,
    /// Whether there is a network header at all.
    network: bool,
    version_4: bool,
    tcp: bool,
    ihl: u64,
    total_length: Option<u64>,
    payload_length: Option<u64>,
    ip_id: Option<u16>,
    source: Vec<u16>,
    destination: Vec<u16>,
    source_port: u16,
    destination_port: u16,
    seq: u32,
    ack: u32,
    data_offset: u64,
    flags: u8,
}

/// The member being visited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Field {
    #[default]
    Other,
    Ihl,
    TotalLength,
    PayloadLength,
    Id,
    Source,
    Destination,
    SourcePort,
    DestinationPort,
    Seq,
    Ack,
    DataOffset,
    Flags,
}

impl Field {
    fn named(name: &str) -> Self {
        match name {
            "ihl" => Self::Ihl,
            "tot_len" => Self::TotalLength,
            "payload_len" => Self::PayloadLength,
            "id" => Self::Id,
            "saddr" => Self::Source,
            "daddr" => Self::Destination,
            "source_port" => Self::SourcePort,
            "dest_port" => Self::DestinationPort,
            "seq" => Self::Seq,
            "ack_seq" => Self::Ack,
            "data_offset" => Self::DataOffset,
            "flags" => Self::Flags,
            _ => Self::Other,
        }
    }
}

impl Visitor for Headers {
    fn member(&mut self, _: usize, name: &Name) {
        self.field = Field::named(name.shown());
    }

    fn begin_variant(&mut self, _: usize, name: &Name) {
        match name.shown() {
            "ipv4" => (self.network, self.version_4) = (true, true),
            "ipv6" => self.network = true,
            "tcp" => self.tcp = true,
            _ => {}
        }
    }

    fn unsigned(&mut self, _: &IntegerClass, value: u64) {
        match self.field {
            Field::Other => {}
            Field::Ihl => self.ihl = value,
            Field::TotalLength => self.total_length = Some(value),
            Field::PayloadLength => self.payload_length = Some(value),
            Field::Id => self.ip_id = Some(value as u16),
            Field::Source => self.source.push(value as u16),
            Field::Destination => self.destination.push(value as u16),
            Field::SourcePort => self.source_port = value as u16,
            Field::DestinationPort => self.destination_port = value as u16,
            Field::Seq => self.seq = value as u32,
            Field::Ack => self.ack = value as u32,
            Field::DataOffset => self.data_offset = value,
            Field::Flags => self.flags = value as u8,
        }
    }
}

impl Headers {
    fn into_packet(self) -> Option<Packet> {
        if !self.tcp {
            return None;
        }
        let addresses = Some((address(&self.source)?, address(&self.destination)?));
        // Lengths of headers are counted in words of four bytes.
        let words = self.data_offset.saturating_add(if self.version_4 { self.ihl } else { 0 });
        let length = if self.version_4 { self.total_length? } else { self.payload_length? };
        let payload = length.checked_sub(words.saturating_mul(4)).map(|payload| payload as u32);
        let segment = Segment {
            ports: Some((self.source_port, self.destination_port)),
            seq: self.seq,
            ack: self.ack,
            flags: self.flags,
            known_flags: flags::ALL,
            payload,
        };
        Some(Packet { addresses, transport: Transport::Tcp(segment), ip_id: self.ip_id })
    }
}

/// An address from its elements: four bytes, or eight words.
fn address(elements: &[u16]) -> Option<IpAddr> {
    match *elements {
        [a, b, c, d] => Some(Ipv4Addr::from([a, b, c, d].map(|byte| byte as u8)).into()),
        _ => <[u16; 8]>::try_from(elements).ok().map(|words| Ipv6Addr::from(words).into()),
    }
}
