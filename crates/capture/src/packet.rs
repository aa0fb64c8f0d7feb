//! Network and transport headers, also of packets that were captured in part: lengths come from the headers, never from
//! how much was captured.

use std::net::IpAddr;

use etherparse::{
    IpFragOffset, IpNumber, Ipv6FragmentHeaderSlice, LaxIpSlice, LaxIpv4Slice, LaxIpv6Slice, ip_number,
};

/// What a frame carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A packet of either version of IP.
    Ip(IpPacket),
    /// Something else: ARP, a protocol of bridges, a link type that is not known.
    Other,
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
    /// How many more routers it may pass (time to live, hop limit).
    pub hops: u8,
    /// Identification (IPv4).
    pub id: Option<u16>,
    /// Which part of a packet it is that was cut up on its way.
    pub fragment: Option<Fragment>,
    /// Length from the network header on, bytes, as it states it (the length on the wire where it states none).
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
        /// The first eight bytes of the payload as a big-endian number, zeros after a shorter one; `None` where not all
        /// of them were captured.
        data: Option<u64>,
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
    /// Another protocol, another kind of ICMP message, or a fragment without the transport header.
    Other,
    /// One of these, whose header was not captured.
    Cut,
}

/// Reads a packet: `bytes` from the network header on, of `wire` bytes on the wire.
pub(crate) fn read(bytes: &[u8], wire: u32) -> Content {
    let Ok((slice, stopped)) = LaxIpSlice::from_slice(bytes) else { return Content::Cut };
    let Network { stated, headers, hops, id, fragment } = match &slice {
        LaxIpSlice::Ipv4(packet) => Network::of_4(packet),
        LaxIpSlice::Ipv6(packet) => Network::of_6(packet),
    };
    // Super segments above 64 KiB state no length.
    let length = if stated < headers { wire } else { stated };
    let payload = slice.payload();
    let transport = match (fragment, stopped) {
        (Some(Fragment { offset: 1.., .. }), _) => Transport::Other,
        (_, Some(_)) => Transport::Cut,
        (_, None) => transport(payload.ip_number, payload.payload, length.checked_sub(headers)),
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

/// The first fragment header that cuts a packet up, among extension headers that are all there but perhaps the last.
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

/// Reads a transport header. By hand: its first bytes hold all that is needed, and no more of it may have been captured.
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
    let there = match length {
        0 => 8,
        length => usize::from(length).saturating_sub(HEADER).min(8),
    };
    let data = payload.get(..there).map(|first| {
        let mut eight = [0; 8];
        eight[..there].copy_from_slice(first);
        u64::from_be_bytes(eight)
    });
    Some(Transport::Udp { ports: (word(bytes, 0)?, word(bytes, 2)?), length, data })
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
