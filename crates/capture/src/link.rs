//! The link layer of a frame: from whom to whom on the wire, and where the network header begins.

use std::fmt;

use etherparse::Ethernet2HeaderSlice;

use crate::packet;
use crate::protocol::Protocol;

/// Tags and labels that one frame can have; more are no traffic.
const MAX_TAGS: usize = 16;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// Ethernet in something else.
const ETHERNET: u16 = 0x6558;
const MPLS: u16 = 0x8847;
/// To several hosts.
const MPLS_MULTICAST: u16 = 0x8848;
const PPPOE: u16 = 0x8864;
/// Provider backbone bridges: Ethernet in Ethernet (802.1ah).
const PBB: u16 = 0x88e7;
/// Less than this is a length (802.3), not a type.
const FIRST_TYPE: u16 = 0x0600;
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
    /// Index of the device that saw it, which a cooked header of version 2 holds.
    pub device: Option<u32>,
    /// Whether it passed a loopback device and never left the host, by all that it shows: frames of such a
    /// device have no addresses.
    pub is_loopback: bool,
    /// What the packet is wrapped in besides VLAN tags, the outermost: MPLS, `PPPoE`.
    pub wrapped: Option<Protocol>,
}

impl Link {
    /// Whether both addresses are there and zero: on a loopback device, or where a caller removed them.
    pub fn has_no_stations(&self) -> bool {
        let zero = Some(Mac([0; 6]));
        self.source == zero && self.destination == zero
    }
}

/// What is after the link layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkPayload {
    /// A network header of either version of IP, at this byte.
    Ip(usize),
    /// Something else.
    Other(Protocol),
    /// Not enough was captured to decide.
    Cut,
}

/// Unwraps a frame of `wire` bytes on the wire; `None` where the link type is not known.
pub(crate) fn unwrap(link_type: u16, frame: &[u8], wire: u32) -> Option<(Link, LinkPayload)> {
    let (link, found) = match link_type {
        // Family of addresses in the byte order of the capturing host, or of the network.
        0 | 108 => (Link::default(), Found::plain(ip_from(link_type, frame, 4))),
        1 => ethernet(frame, wire),
        12 | 14 | 101 | 228 | 229 => (Link::default(), Found::plain(ip_from(link_type, frame, 0))),
        113 => cooked_1(frame, wire),
        276 => cooked_2(frame, wire),
        _ => return None,
    };
    Some((Link { wrapped: found.wrapped, ..link }, found.payload))
}

/// IP of whatever version its first byte shows.
fn ip_from(link_type: u16, frame: &[u8], at: usize) -> LinkPayload {
    match frame.get(at).map(|byte| byte >> 4) {
        Some(4 | 6) => LinkPayload::Ip(at),
        Some(_) => LinkPayload::Other(Protocol::Link(link_type)),
        None => LinkPayload::Cut,
    }
}

fn ethernet(frame: &[u8], wire: u32) -> (Link, Found) {
    let Ok(header) = Ethernet2HeaderSlice::from_slice(frame) else {
        return (Link::default(), Found::plain(LinkPayload::Cut));
    };
    let (source, destination) = (Mac(header.source()), Mac(header.destination()));
    let link = Link { source: Some(source), destination: Some(destination), ..Link::default() };
    let link = Link { is_loopback: link.has_no_stations(), ..link };
    (link, after_type(header.ether_type().0, frame, header.slice().len(), wire))
}

/// What a walk over tags, labels and wrappers came to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    /// The outermost wrapper, besides VLAN tags.
    wrapped: Option<Protocol>,
    pub(crate) payload: LinkPayload,
}

impl Found {
    fn plain(payload: LinkPayload) -> Self {
        Self { wrapped: None, payload }
    }
}

/// What follows an ether type, at a byte of `frame`, which had `wire` bytes on the wire: after VLAN tags
/// (802.1Q, 802.1ad, and what came before that), labels of MPLS, and the headers of `PPPoE`, PBB, SNAP and
/// Ethernet. Constant time.
pub(crate) fn after_type(ether_type: u16, frame: &[u8], at: usize, wire: u32) -> Found {
    let mut wrapped = None;
    let payload = walk(ether_type, frame, at, wire, &mut wrapped).unwrap_or(LinkPayload::Cut);
    Found { wrapped, payload }
}

/// `None`: not enough was captured.
fn walk(
    mut kind: u16,
    frame: &[u8],
    mut at: usize,
    wire: u32,
    wrapped: &mut Option<Protocol>,
) -> Option<LinkPayload> {
    for _ in 0..MAX_TAGS {
        let this = Protocol::EtherType(kind);
        let other = Some(LinkPayload::Other(this));
        (kind, at) = match kind {
            IPV4 | IPV6 => return Some(LinkPayload::Ip(at)),
            0x8100 | 0x88a8 | 0x9100 => (word(frame, at + 2)?, at + 4),
            ETHERNET => (word(frame, at + 12)?, at + 14),
            PBB => {
                wrapped.get_or_insert(this);
                (word(frame, at + 16)?, at + 18)
            }
            PPPOE => {
                // Version and type, and the code of data.
                if frame.get(at..at + 2)? != [0x11, 0] {
                    return other;
                }
                wrapped.get_or_insert(this);
                match word(frame, at + 6)? {
                    0x0021 | 0x0057 => (IPV4, at + 8),
                    number => return Some(LinkPayload::Other(Protocol::Ppp(number))),
                }
            }
            MPLS | MPLS_MULTICAST => {
                let end = frame.get(at + 2)? & 1 == 1;
                let payload = if end { Some(below_labels(frame, at + 4, wire)?) } else { None };
                // What no caller can tell is called after its labels alone.
                if !matches!(payload, Some(LinkPayload::Other(_))) {
                    wrapped.get_or_insert(this);
                } else if *wrapped == Some(this) {
                    *wrapped = None;
                }
                match payload {
                    None => (kind, at + 4),
                    found => return found,
                }
            }
            0..FIRST_TYPE => match frame.get(at..at + 3)? {
                // With the ether types of Ethernet, or of bridges of other networks.
                [0xaa, 0xaa, 3] if matches!(frame.get(at + 3..at + 6)?, [0, 0, 0 | 0xf8]) => {
                    wrapped.get_or_insert(Protocol::Llc(0xaa));
                    (word(frame, at + 6)?, at + 8)
                }
                [access_point, ..] => return Some(LinkPayload::Other(Protocol::Llc(*access_point))),
                [] => return None,
            },
            _ => return other,
        };
    }
    Some(LinkPayload::Other(Protocol::EtherType(kind)))
}

/// What is below the last label of MPLS, which no number shows: IP where it is a packet by its version, its
/// lengths and its sum (an address of Ethernet can begin as IP does), Ethernet where there is such a packet
/// in it, after a control word or without one (RFC 4448).
fn below_labels(frame: &[u8], at: usize, wire: u32) -> Option<LinkPayload> {
    let is_packet = |at: usize| {
        let rest = frame.get(at..).filter(|rest| !rest.is_empty())?;
        packet::is_whole(rest, wire.saturating_sub(at as u32))
    };
    if is_packet(at)? {
        return Some(LinkPayload::Ip(at));
    }
    let control_word = if frame.get(at..at + 2)? == [0, 0] { [4, 0] } else { [0, 0] };
    for begin in control_word {
        let (mut kind, mut inner) = (word(frame, at + begin + 12)?, at + begin + 14);
        for _ in 0..MAX_TAGS {
            if !matches!(kind, 0x8100 | 0x88a8) {
                break;
            }
            (kind, inner) = (word(frame, inner + 2)?, inner + 4);
        }
        if matches!(kind, IPV4 | IPV6) && is_packet(inner)? {
            return Some(LinkPayload::Ip(inner));
        }
    }
    Some(LinkPayload::Other(Protocol::EtherType(MPLS)))
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|&two| u16::from_be_bytes(two))
}

/// Linux cooked capture: packet type, hardware type, length of the address, address, ether type.
fn cooked_1(frame: &[u8], wire: u32) -> (Link, Found) {
    let Some(head) = frame.first_chunk::<16>() else {
        return (Link::default(), Found::plain(LinkPayload::Cut));
    };
    let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let link = cooked(word(0), word(2), word(4), [head[6], head[7], head[8], head[9], head[10], head[11]]);
    (link, after_type(word(14), frame, 16, wire))
}

/// Its second version: ether type, two unused bytes, index of the interface, hardware type, packet type,
/// length of the address, address.
fn cooked_2(frame: &[u8], wire: u32) -> (Link, Found) {
    let Some(head) = frame.first_chunk::<20>() else {
        return (Link::default(), Found::plain(LinkPayload::Cut));
    };
    let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let address = [head[12], head[13], head[14], head[15], head[16], head[17]];
    let device = Some(u32::from_be_bytes([head[4], head[5], head[6], head[7]]));
    let link = Link { device, ..cooked(u16::from(head[10]), word(8), u16::from(head[11]), address) };
    (link, after_type(word(0), frame, 20, wire))
}

fn cooked(packet_type: u16, hardware: u16, address_length: u16, address: [u8; 6]) -> Link {
    Link {
        source: (address_length == 6).then_some(Mac(address)),
        destination: None,
        packet_type: PacketType::of(packet_type),
        device: None,
        is_loopback: hardware == HARDWARE_LOOPBACK,
        wrapped: None,
    }
}
