//! Network and transport headers, also of packets that were captured in part: lengths come from the headers,
//! never from how much was captured.
//!
//! Tunnels are looked into where their headers say what is in them: IP in IP (RFC 2003, 2473, 4213), GRE (RFC
//! 2784, 2890), Ethernet and MPLS in IP (RFC 3378, 4023). VXLAN (RFC 7348) has a UDP port alone: a datagram
//! to it counts as a tunnel only where the lengths of all headers agree, else as what it is.

use std::net::IpAddr;

use crate::link::{self, LinkPayload};
use crate::protocol::Protocol;

use etherparse::{
    IpFragOffset, IpNumber, Ipv6FragmentHeaderSlice, LaxIpSlice, LaxIpv4Slice, LaxIpv6Slice, ip_number,
};

/// What a frame carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A packet of either version of IP.
    Ip(IpPacket),
    /// Something else: ARP, a protocol of bridges, a link type that is not known.
    Other(Protocol),
    /// The network header was not captured, or is none.
    Cut,
}

/// An IP packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IpPacket {
    /// Who sent it.
    pub source: IpAddr,
    /// To whom.
    pub destination: IpAddr,
    /// What follows the network header and its extensions, as the internet protocol counts protocols.
    pub protocol: u8,
    /// Number of more routers it may pass (time to live, hop limit).
    pub hops: u8,
    /// Identification (IPv4).
    pub id: Option<u16>,
    /// Which part of a packet it is that was cut up on its way.
    pub fragment: Option<Fragment>,
    /// Length from the network header on, bytes, as it states it (the length on the wire where it states
    /// none).
    pub length: u32,
    /// What is after the network header.
    pub transport: Transport,
}

/// Which part of a packet a fragment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    /// Bytes of the packet before it.
    pub offset: u32,
    /// Whether more follow.
    pub more: bool,
}

/// A transport header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// A TCP segment.
    Tcp {
        /// Source and destination.
        ports: (u16, u16),
        /// Sequence number.
        seq: u32,
        /// Acknowledgement number.
        ack: u32,
        /// The eight flags, FIN lowest.
        flags: u8,
        /// Bytes after the TCP header; `None` where the headers contradict each other.
        payload: Option<u32>,
    },
    /// A UDP datagram.
    Udp {
        /// Source and destination.
        ports: (u16, u16),
        /// Length of header and payload, bytes, as the header states it.
        length: u16,
        /// The first eight bytes of the payload as a big-endian number, zeros after a shorter one; `None`
        /// where not all of them were captured.
        data: Option<u64>,
        /// A digest of the first [`DIGEST_BYTES`] bytes of the payload, of all of a shorter one; `None` where
        /// not all of them were captured. Payloads of different digests are different.
        check: Option<u16>,
    },
    /// An ICMP echo, of either version of IP.
    Echo {
        /// Whether it is a reply.
        reply: bool,
        /// Identifier.
        identifier: u16,
        /// Sequence number.
        sequence: u16,
    },
    /// A tunnel, and what is in it: what [`IpPacket::tunnel`] names.
    Tunnel(Box<Content>),
    /// Another protocol, another kind of ICMP message, or a fragment without the transport header.
    Other,
    /// One of these, whose header was not captured.
    Cut,
}

impl IpPacket {
    /// Whether it, or the packet in a tunnel that it is of, was sent from this address. Linear in the
    /// tunnels, of which there are few.
    pub fn is_from(&self, address: IpAddr) -> bool {
        let inside = match &self.transport {
            Transport::Tunnel(inner) => matches!(&**inner, Content::Ip(inner) if inner.is_from(address)),
            _ => false,
        };
        inside || self.source == address
    }

    /// Which kind of tunnel it is a packet of; nothing where it is none.
    pub fn tunnel(&self) -> Option<Protocol> {
        let protocol = Protocol::Ip(self.protocol);
        let is_udp = self.protocol == ip_number::UDP.0;
        matches!(self.transport, Transport::Tunnel(_)).then_some(if is_udp {
            Protocol::Vxlan
        } else {
            protocol
        })
    }
}

/// Tunnels in each other that are looked into; what is deeper is [`Transport::Other`].
pub(crate) const MAX_TUNNELS: usize = 4;

/// Bytes of a datagram's payload that its digest is of: captures of 96 bytes of each frame hold them.
pub const DIGEST_BYTES: usize = 32;

/// Reads a packet: `bytes` from the network header on, of `wire` bytes on the wire.
pub(crate) fn read(bytes: &[u8], wire: u32) -> Content {
    within(0, bytes, wire)
}

/// The same within this many tunnels.
fn within(tunnels: usize, bytes: &[u8], wire: u32) -> Content {
    let Ok((slice, stopped)) = LaxIpSlice::from_slice(bytes) else { return Content::Cut };
    let Network { stated, headers, hops, id, fragment } = match &slice {
        LaxIpSlice::Ipv4(packet) => Network::of_4(packet),
        LaxIpSlice::Ipv6(packet) => Network::of_6(packet),
    };
    // Super segments above 64 KiB state no length.
    let length = if stated < headers { wire } else { stated };
    let payload = slice.payload();
    let left = length.checked_sub(headers);
    let transport = match (fragment, stopped) {
        (Some(Fragment { offset: 1.., .. }), _) => Transport::Other,
        (_, Some(_)) => Transport::Cut,
        (_, None) => tunnel(tunnels, payload.ip_number, payload.payload, left.unwrap_or_default())
            .unwrap_or_else(|| transport(payload.ip_number, payload.payload, left)),
    };
    Content::Ip(IpPacket {
        source: slice.source_addr(),
        destination: slice.destination_addr(),
        protocol: payload.ip_number.0,
        hops,
        id,
        fragment,
        length,
        transport,
    })
}

/// What the headers of the network say; lengths in bytes.
struct Network {
    /// From the network header on; 0 where it is not stated.
    stated: u32,
    /// Of the header and its extensions.
    headers: u32,
    hops: u8,
    id: Option<u16>,
    fragment: Option<Fragment>,
}

impl Network {
    fn of_4(packet: &LaxIpv4Slice<'_>) -> Self {
        let header = packet.header();
        let extension = packet.extensions().auth.map_or(0, |auth| auth.slice().len());
        Self {
            stated: u32::from(header.total_len()),
            headers: (header.slice().len() + extension) as u32,
            hops: header.ttl(),
            id: Some(header.identification()),
            fragment: Fragment::of(header.fragments_offset(), header.more_fragments()),
        }
    }

    fn of_6(packet: &LaxIpv6Slice<'_>) -> Self {
        let (header, extensions) = (packet.header(), packet.extensions());
        let fragment = fragment_header(header.next_header(), extensions.slice());
        let fixed = header.slice().len() as u32;
        Self {
            stated: match u32::from(header.payload_length()) {
                0 => 0,
                payload => payload + fixed,
            },
            headers: fixed + extensions.slice().len() as u32,
            hops: header.hop_limit(),
            id: None,
            fragment,
        }
    }
}

/// The first fragment header that cuts a packet up, among extension headers that are all there but perhaps
/// the last.
///
/// `etherparse` has an iterator over them, which (in 0.21) reads beyond headers that were cut off.
fn fragment_header(mut kind: IpNumber, mut headers: &[u8]) -> Option<Fragment> {
    while let Some(&[next, words]) = headers.first_chunk() {
        let length = match kind {
            ip_number::IPV6_FRAG => {
                let part = Ipv6FragmentHeaderSlice::from_slice(headers).ok()?;
                let found = Fragment::of(part.fragment_offset(), part.more_fragments());
                if found.is_some() {
                    return found;
                }
                part.slice().len()
            }
            // The one header that counts words of four bytes.
            ip_number::AUTH => (usize::from(words) + 2) * 4,
            _ => (usize::from(words) + 1) * 8,
        };
        (kind, headers) = (IpNumber(next), headers.get(length..)?);
    }
    None
}

impl Fragment {
    /// `None` for a whole packet.
    fn of(offset: IpFragOffset, more: bool) -> Option<Self> {
        let offset = u32::from(offset.byte_offset());
        (offset > 0 || more).then_some(Self { offset, more })
    }
}

/// What is in a tunnel; `None` where this is none, or what it carries cannot be told. `left`: bytes after the
/// network header.
fn tunnel(tunnels: usize, protocol: IpNumber, bytes: &[u8], left: u32) -> Option<Transport> {
    const MPLS_IN_IP: IpNumber = IpNumber(137);
    const MPLS: u16 = 0x8847;
    const ETHERNET: u16 = 0x6558;
    if tunnels >= MAX_TUNNELS {
        return None;
    }
    let inner = |kind, at| Some(after_type(tunnels, kind, bytes, at, left));
    let content = match protocol {
        ip_number::IPV4 => of_version(tunnels, 4, bytes, left)?,
        ip_number::IPV6 => of_version(tunnels, 6, bytes, left)?,
        ip_number::GRE => match gre(bytes) {
            Some(Gre::Carries(kind, at)) => inner(kind, at)?,
            Some(Gre::Other) => return None,
            None => Content::Cut,
        },
        ip_number::ETHER_IP => match bytes.first_chunk() {
            Some([0x30, 0]) => inner(ETHERNET, 2)?,
            Some(_) => return None,
            None => Content::Cut,
        },
        MPLS_IN_IP => inner(MPLS, 0)?,
        ip_number::UDP => vxlan(tunnels, bytes)?,
        _ => return None,
    };
    Some(Transport::Tunnel(Box::new(content)))
}

/// A packet of one version of IP alone.
fn of_version(tunnels: usize, version: u8, bytes: &[u8], wire: u32) -> Option<Content> {
    match bytes.first() {
        Some(first) if first >> 4 == version => Some(within(tunnels + 1, bytes, wire)),
        Some(_) => None,
        None => Some(Content::Cut),
    }
}

/// What follows an ether type, at a byte, in a tunnel.
fn after_type(tunnels: usize, kind: u16, bytes: &[u8], at: usize, wire: u32) -> Content {
    match link::after_type(kind, bytes, at, wire).payload {
        LinkPayload::Ip(at) => {
            within(tunnels + 1, bytes.get(at..).unwrap_or_default(), wire.saturating_sub(at as u32))
        }
        LinkPayload::Other(protocol) => Content::Other(protocol),
        LinkPayload::Cut => Content::Cut,
    }
}

/// What a header of GRE says.
enum Gre {
    /// This ether type, from this byte on.
    Carries(u16, usize),
    /// Another version (PPTP), a route, or copies of frames of elsewhere (ERSPAN), which are no packets on
    /// their way.
    Other,
}

/// `None`: not enough of it was captured.
fn gre(bytes: &[u8]) -> Option<Gre> {
    const CHECKSUM: u8 = 0x80;
    const ROUTE: u8 = 0x40;
    const KEY: u8 = 0x20;
    const SEQUENCE: u8 = 0x10;
    let &[flags, version, ..] = bytes else { return None };
    let kind = word(bytes, 2)?;
    if version & 7 != 0 || flags & ROUTE != 0 || matches!(kind, 0x88be | 0x22eb) {
        return Some(Gre::Other);
    }
    let words = [CHECKSUM, KEY, SEQUENCE].into_iter().filter(|flag| flags & flag != 0).count();
    Some(Gre::Carries(kind, 4 + 4 * words))
}

/// What is in a datagram of VXLAN; `None` where it is another datagram, or one that carries no packet of IP:
/// such a one is known by its own numbers.
fn vxlan(tunnels: usize, bytes: &[u8]) -> Option<Content> {
    /// That of RFC 7348, and the one that Linux uses where none is set.
    const PORTS: [u16; 2] = [4789, 8472];
    const UDP: usize = 8;
    const HEADERS: usize = 16;
    const ETHERNET: u16 = 0x6558;
    if !PORTS.contains(&word(bytes, 2)?) {
        return None;
    }
    let stated = usize::from(word(bytes, 4)?);
    let Some(&[flags, .., reserved]) = bytes.get(UDP..HEADERS) else {
        return (stated >= HEADERS).then_some(Content::Cut);
    };
    // It has an identifier, and perhaps a group of policies.
    if flags & !0x80 != 8 || reserved != 0 {
        return None;
    }
    match link::after_type(ETHERNET, bytes, HEADERS, stated as u32).payload {
        LinkPayload::Ip(at) => {
            let (inner, wire) = (bytes.get(at..).unwrap_or_default(), stated.checked_sub(at)? as u32);
            match is_whole(inner, wire) {
                Some(true) => Some(within(tunnels + 1, inner, wire)),
                Some(false) => None,
                None => Some(Content::Cut),
            }
        }
        LinkPayload::Other(_) => None,
        LinkPayload::Cut => Some(Content::Cut),
    }
}

/// Whether this is a packet of IP by its version, its lengths and, where it has one, its sum; of `wire` bytes
/// on the wire. `None`: too little of its header was captured.
pub(crate) fn is_whole(bytes: &[u8], wire: u32) -> Option<bool> {
    match bytes.first()? {
        first @ 0x45..=0x4f => {
            let header = usize::from(first & 15) * 4;
            let length = u32::from(word(bytes, 2)?);
            if length < header as u32 || length > wire {
                return Some(false);
            }
            let words = bytes.get(..header)?.chunks_exact(2);
            let sum: u32 = words.map(|two| u32::from(two[0]) << 8 | u32::from(two[1])).sum();
            let folded = (sum & 0xffff) + (sum >> 16);
            Some((folded & 0xffff) + (folded >> 16) == 0xffff)
        }
        0x60..=0x6f => {
            const HEADER: u32 = 40;
            let payload = u32::from(word(bytes, 4)?);
            Some(payload > 0 && payload + HEADER <= wire)
        }
        _ => Some(false),
    }
}

/// Reads a transport header. By hand: its first bytes hold all that is needed, and no more of it may have
/// been captured.
fn transport(protocol: IpNumber, bytes: &[u8], length: Option<u32>) -> Transport {
    match protocol {
        ip_number::TCP => tcp(bytes, length).unwrap_or(Transport::Cut),
        ip_number::UDP => udp(bytes).unwrap_or(Transport::Cut),
        ip_number::ICMP => echo(bytes, 8, 0).unwrap_or(Transport::Cut),
        ip_number::IPV6_ICMP => echo(bytes, 128, 129).unwrap_or(Transport::Cut),
        _ => Transport::Other,
    }
}

fn tcp(bytes: &[u8], length: Option<u32>) -> Option<Transport> {
    let header = u32::from(*bytes.get(12)? >> 4) * 4;
    Some(Transport::Tcp {
        ports: (word(bytes, 0)?, word(bytes, 2)?),
        seq: long(bytes, 4)?,
        ack: long(bytes, 8)?,
        flags: *bytes.get(13)?,
        payload: length.and_then(|length| length.checked_sub(header)),
    })
}

fn udp(bytes: &[u8]) -> Option<Transport> {
    const HEADER: usize = 8;
    let length = word(bytes, 4)?;
    let (_, payload) = bytes.split_at_checked(HEADER)?;
    // A length of 0 is that of a datagram beyond 64 KiB.
    let stated = if length == 0 { DIGEST_BYTES } else { usize::from(length).saturating_sub(HEADER) };
    let there = stated.min(8);
    let data = payload.get(..there).map(|first| {
        let mut eight = [0; 8];
        eight[..there].copy_from_slice(first);
        u64::from_be_bytes(eight)
    });
    let check = payload.get(..stated.min(DIGEST_BYTES)).map(digest);
    Some(Transport::Udp { ports: (word(bytes, 0)?, word(bytes, 2)?), length, data, check })
}

/// 16 bits of a hash: FNV-1a, folded.
fn digest(bytes: &[u8]) -> u16 {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48) as u16
}

fn echo(bytes: &[u8], request: u8, reply: u8) -> Option<Transport> {
    let kind = *bytes.first()?;
    if kind != request && kind != reply {
        return Some(Transport::Other);
    }
    Some(Transport::Echo { reply: kind == reply, identifier: word(bytes, 4)?, sequence: word(bytes, 6)? })
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|&two| u16::from_be_bytes(two))
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|&four| u32::from_be_bytes(four))
}
