//! A packet as one host (or a switch) saw it, normalized so that records of different tracers can be
//! compared.
//!
//! [`crate::tracer`] and [`crate::captured`] make these; by its [`crate::PacketKey`] one is compared with
//! others. What a tracer does not record is `None`, and is left out of the comparison.

use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

use crate::tracer::pending::SplitArrival;

/// Protocol numbers of the internet protocol.
pub mod protocol {
    /// ICMP of IPv4.
    pub const ICMP: u8 = 1;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// ICMP of IPv6.
    pub const ICMP_6: u8 = 58;
}

/// Bits of the TCP header that are compared as flags.
pub mod flags {
    /// FIN.
    pub const FIN: u8 = 0x01;
    /// SYN.
    pub const SYN: u8 = 0x02;
    /// RST.
    pub const RST: u8 = 0x04;
    /// PSH: of a segment cut up on its way, only the last part carries it.
    pub const PSH: u8 = 0x08;
    /// ACK.
    pub const ACK: u8 = 0x10;
    /// All eight, CWR to FIN.
    pub const ALL: u8 = 0xff;
}

/// What an event of a tracer, or a frame of a capture, records of a packet: the packet, or why there is none to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// A packet that has an identity.
    Packet(Packet),
    /// One of the two events that record an arrival: [`ArrivalJoiner`](crate::tracer::pending::ArrivalJoiner) makes packets
    /// of them.
    SplitArrival(SplitArrival),
    /// A packet of a protocol that is not matched, a broadcast, or a later fragment of a packet.
    OtherProtocol,
    /// A packet without its headers.
    NoHeader,
    /// A packet that never leaves the host.
    Loopback,
}

/// What identifies a packet on its way.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Packet {
    /// Source and destination.
    pub addresses: Option<(IpAddr, IpAddr)>,
    /// What follows the network header.
    pub transport: Transport,
    /// IPv4 identification: distinguishes a retransmission from its original.
    pub ip_id: Option<u16>,
}

impl Packet {
    /// Whether it may be for more than one host: a multicast, or what may be a broadcast. `O(1)`.
    pub fn is_for_many(&self) -> bool {
        match self.addresses {
            // Which addresses of a network mean all its hosts is not in the packet: those that may are taken
            // for it.
            Some((_, IpAddr::V4(address))) => address.is_multicast() || address.octets()[3] == 255,
            Some((_, IpAddr::V6(address))) => address.is_multicast(),
            None => false,
        }
    }
}

/// The part of a packet after its network header.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Transport {
    /// A TCP segment.
    Tcp(Segment),
    /// A UDP datagram.
    Udp(Datagram),
    /// An ICMP echo request or reply, of either version of IP.
    Echo(Echo),
}

/// A TCP segment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Segment {
    /// Source and destination port.
    pub ports: Option<(u16, u16)>,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// The flags, of which only those of `known_flags` may be set.
    pub flags: u8,
    /// The flags that the tracer records.
    pub known_flags: u8,
    /// Bytes after the TCP header: up to 64 KiB where segmentation is left to the device.
    pub payload: Option<u32>,
}

/// A UDP datagram.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Datagram {
    /// Source and destination port.
    pub ports: Option<(u16, u16)>,
    /// Length of header and payload, bytes.
    pub length: Option<u16>,
    /// The first eight bytes of the payload as a big-endian number, zeros after a shorter one.
    pub data: Option<u64>,
    /// A digest of more of the payload, of records that hold so much of it: datagrams of different digests
    /// are different. No part of a [`crate::PacketKey`].
    pub check: Option<u16>,
}

/// An ICMP echo request or reply.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Echo {
    /// Whether it is a reply.
    pub reply: bool,
    /// Identifier.
    pub identifier: u16,
    /// Sequence number.
    pub sequence: u16,
}

/// From where to where a packet goes: a TCP segment or a UDP datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Flow {
    /// [`protocol::TCP`] or [`protocol::UDP`].
    pub protocol: u8,
    /// Address and port that it comes from.
    pub source: SocketAddr,
    /// Address and port that it goes to.
    pub destination: SocketAddr,
}

/// What a packet of a [`Flow`] carries, as far as its headers say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Carried {
    /// Bytes after the TCP or UDP header.
    pub payload: Option<u32>,
    /// Sequence number of a TCP segment.
    pub seq: Option<u32>,
    /// [Flags](flags) of a TCP segment.
    pub flags: Option<u8>,
}

/// Which way a packet passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Direction {
    /// It left the host.
    Sent,
    /// It arrived at the host.
    Received,
}
