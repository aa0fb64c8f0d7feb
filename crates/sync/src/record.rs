//! A packet as a trace saw it, normalized so that records of different tracers can be compared.

use std::net::IpAddr;

/// Protocol numbers of the internet protocol.
pub mod protocol {
    /// TCP.
    pub const TCP: u8 = 6;
}

/// Bits of the TCP flags that are compared: FIN, SYN, RST, PSH, ACK, URG, ECE, CWR.
pub const TCP_FLAGS: u16 = 0xff;

/// What identifies a packet on its way. A tracer that does not record a part leaves it out.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PacketKey {
    /// Source and destination.
    pub addresses: Option<(IpAddr, IpAddr)>,
    /// Source and destination port.
    pub ports: Option<(u16, u16)>,
    /// Protocol number.
    pub protocol: u8,
    /// TCP sequence number.
    pub seq: u32,
    /// TCP acknowledgement number.
    pub ack: u32,
    /// TCP flags, the bits of [`TCP_FLAGS`].
    pub flags: u16,
    /// Bytes behind the TCP header.
    pub payload: Option<u32>,
    /// IPv4 identification: tells a retransmission from its original.
    pub ip_id: Option<u16>,
}

/// Which way a packet passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// It left the host.
    Sent,
    /// It arrived at the host.
    Received,
}

/// A packet seen at a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// Index of the host's clock.
    pub clock: usize,
    /// Raw time there, ns. For a reception the latest instant that the stamp can mean, for a departure the earliest.
    pub time: i64,
    /// Which way.
    pub direction: Direction,
    /// Which packet.
    pub key: PacketKey,
}
