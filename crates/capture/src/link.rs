//! The link layer of a frame: from whom to whom on the wire, and where the network header begins.

use std::fmt;

use etherparse::{Ethernet2HeaderSlice, SingleVlanHeaderSlice};

/// Tags that one frame can have; more are no traffic.
const MAX_TAGS: usize = 8;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// Ether types of VLAN tags: 802.1Q, 802.1ad, and what came before that.
const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// Hardware type of the loopback device in cooked headers.
const HARDWARE_LOOPBACK: u16 = 772;

/// An Ethernet address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// Whether it stands for several stations: broadcast and multicast.
    pub fn is_group(self) -> bool {
        self.0[0] & 1 != 0
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// What a cooked header says of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketType {
    /// Sent to the host of the capture.
    ToUs,
    /// Broadcast by another host.
    Broadcast,
    /// Multicast by another host.
    Multicast,
    /// Sent by another host to another host.
    ToOther,
    /// Sent by the host of the capture.
    FromUs,
}

impl PacketType {
    fn of(number: u16) -> Option<Self> {
        Some(match number {
            0 => Self::ToUs,
            1 => Self::Broadcast,
            2 => Self::Multicast,
            3 => Self::ToOther,
            4 => Self::FromUs,
            _ => return None,
        })
    }
}

/// The link layer of a frame, as far as its link type has one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Link {
    /// Who sent it.
    pub source: Option<Mac>,
    /// To whom.
    pub destination: Option<Mac>,
    /// What a cooked header says.
    pub packet_type: Option<PacketType>,
    /// Whether it passed a loopback device and never left the host.
    pub is_loopback: bool,
}

/// What is after the link layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkPayload {
    /// A network header of either version of IP, at this byte.
    Ip(usize),
    /// Something else.
    Other,
    /// Not enough was captured to decide.
    Cut,
}

/// Unwraps a frame; `None` where the link type is not known.
pub(crate) fn unwrap(link_type: u16, frame: &[u8]) -> Option<(Link, LinkPayload)> {
    Some(match link_type {
        // Family of addresses in the byte order of the capturing host, or of the network.
        0 | 108 => (Link::default(), ip_from(frame, 4)),
        1 => ethernet(frame),
        12 | 14 | 101 | 228 | 229 => (Link::default(), ip_from(frame, 0)),
        113 => cooked_1(frame),
        276 => cooked_2(frame),
        _ => return None,
    })
}

/// IP of whatever version its first byte shows.
fn ip_from(frame: &[u8], at: usize) -> LinkPayload {
    match frame.get(at).map(|byte| byte >> 4) {
        Some(4 | 6) => LinkPayload::Ip(at),
        Some(_) => LinkPayload::Other,
        None => LinkPayload::Cut,
    }
}

fn ethernet(frame: &[u8]) -> (Link, LinkPayload) {
    let Ok(header) = Ethernet2HeaderSlice::from_slice(frame) else {
        return (Link::default(), LinkPayload::Cut);
    };
    let (source, destination) = (header.source(), header.destination());
    let link = Link {
        source: Some(Mac(source)),
        destination: Some(Mac(destination)),
        packet_type: None,
        // Only the loopback device has frames without addresses.
        is_loopback: source == [0; 6] && destination == [0; 6],
    };
    (link, after_type(header.ether_type().0, frame, header.slice().len()))
}

/// What follows an ether type, at a byte, after VLAN tags.
fn after_type(mut ether_type: u16, frame: &[u8], mut at: usize) -> LinkPayload {
    for _ in 0..MAX_TAGS {
        if !TAGS.contains(&ether_type) {
            break;
        }
        let Ok(tag) = SingleVlanHeaderSlice::from_slice(frame.get(at..).unwrap_or_default()) else {
            return LinkPayload::Cut;
        };
        ether_type = tag.ether_type().0;
        at += tag.slice().len();
    }
    match ether_type {
        IPV4 | IPV6 => LinkPayload::Ip(at),
        _ => LinkPayload::Other,
    }
}

/// Linux cooked capture: packet type, hardware type, length of the address, address, ether type.
fn cooked_1(frame: &[u8]) -> (Link, LinkPayload) {
    let Some(head) = frame.first_chunk::<16>() else { return (Link::default(), LinkPayload::Cut) };
    let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let link = cooked(word(0), word(2), word(4), [head[6], head[7], head[8], head[9], head[10], head[11]]);
    (link, after_type(word(14), frame, 16))
}

/// Its second version: ether type, two unused bytes, index of the interface, hardware type, packet type, length of the
/// address, address.
fn cooked_2(frame: &[u8]) -> (Link, LinkPayload) {
    let Some(head) = frame.first_chunk::<20>() else { return (Link::default(), LinkPayload::Cut) };
    let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let address = [head[12], head[13], head[14], head[15], head[16], head[17]];
    let link = cooked(u16::from(head[10]), word(8), u16::from(head[11]), address);
    (link, after_type(word(0), frame, 20))
}

fn cooked(packet_type: u16, hardware: u16, address_length: u16, address: [u8; 6]) -> Link {
    Link {
        source: (address_length == 6).then_some(Mac(address)),
        destination: None,
        packet_type: PacketType::of(packet_type),
        is_loopback: hardware == HARDWARE_LOOPBACK,
    }
}
