//! Packets: the events that a recipe makes with dynamic probes, which hold the first bytes of each packet, as
//! LTTng's events of the network, which hold its headers.
//!
//! A probe is known by its fields: `skb` (the address of the packet in the kernel), `len` and an array `hdr`;
//! and by its name, `tx` or `rx`. What is sent begins with the header of the link, what is received with that
//! of the network.

use crate::bytes::Order;
use crate::event_format::{EventFormat, Field, Form};

/// Which way a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Sent,
    Received,
}

/// Bytes of a header of Ethernet.
const ETHERNET: usize = 14;
/// Bytes of a tag of a virtual network in it.
const VLAN: usize = 4;
const IPV4: usize = 20;
const IPV6: usize = 40;

/// A probe of packets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Probe<'f> {
    pub(crate) direction: Direction,
    /// The address of a packet in the kernel.
    pub(crate) address: &'f Field,
    /// Its length.
    pub(crate) length: &'f Field,
    /// Its first bytes.
    pub(crate) header: &'f Field,
}

/// The probe that a format is of.
pub(crate) fn probe(format: &EventFormat) -> Option<Probe<'_>> {
    let direction = match &*format.name {
        "tx" => Direction::Sent,
        "rx" => Direction::Received,
        _ => return None,
    };
    let number = |name: &str| {
        format.field(name).filter(|field| field.form == Form::One && (1..=8).contains(&field.size))
    };
    let header = format.field("hdr").filter(|field| field.form == Form::Array)?;
    Some(Probe { direction, address: number("skb")?, length: number("len")?, header })
}

/// Which way the packets go of the kernel's own events of a format, which have no headers.
pub(crate) fn without_headers(format: &EventFormat) -> Option<Direction> {
    match (&*format.system, &*format.name) {
        ("net", "net_dev_queue") => Some(Direction::Sent),
        ("net", "netif_receive_skb") => Some(Direction::Received),
        _ => None,
    }
}

/// The name of LTTng's event.
pub(crate) fn event_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Sent => "net_dev_queue",
        Direction::Received => "net_if_receive_skb",
    }
}

/// The fields of LTTng's event, in TSDL. Those of the headers are in the order in which they lie there.
pub(crate) fn fields(order: Order) -> String {
    let order = match order {
        Order::Little => "le",
        Order::Big => "be",
    };
    let own = format!("integer {{ size = 8; align = 8; signed = 0; byte_order = {order}; }}");
    let bits = |size: u32, align: u32| {
        format!("integer {{ size = {size}; align = {align}; signed = 0; byte_order = be; }}")
    };
    let (half, byte, word, long) = (bits(4, 1), bits(8, 8), bits(16, 8), bits(32, 8));
    let (reserved, flags) = (bits(3, 1), bits(9, 1));
    let tcp = format!(
        "{word} _source_port; {word} _dest_port; {long} _seq; {long} _ack_seq; {half} _data_offset; \
         {reserved} _reserved; {flags} _flags; {word} _window_size; {word} _checksum; {word} _urg_ptr;"
    );
    let udp = format!("{word} _source_port; {word} _dest_port; {word} _len; {word} _check;");
    let icmp = format!("{byte} _type; {byte} _code; {word} _checksum; {long} _gateway;");
    // What a header of the transport is stands before the header of the network, whose bytes are not split.
    let transport = format!(
        "variant <_transport_header_type> {{ struct {{ }} _unknown; struct {{ {tcp} }} _tcp; \
         struct {{ {udp} }} _udp; struct {{ {icmp} }} _icmp; }} _transport_header;"
    );
    let kinds = |names: &str, name: &str| format!("enum : {own} {{ {names} }} _{name};");
    let transports = kinds("_unknown = 0, _tcp = 1, _udp = 2, _icmp = 3", "transport_header_type");
    let networks = kinds("_unknown = 0, _ipv4 = 1, _ipv6 = 2", "network_header_type");
    let ipv4 = format!(
        "{transports} {half} _version; {half} _ihl; {byte} _tos; {word} _tot_len; {word} _id; \
         {word} _frag_off; {byte} _ttl; {byte} _protocol; {word} _checksum; {byte} _saddr[4]; \
         {byte} _daddr[4]; {transport}"
    );
    let ipv6 = format!(
        "{transports} {half} _version; {byte_1} _prio; {flow} _flow_lbl; {word} _payload_len; \
         {byte} _nexthdr; {byte} _hop_limit; {word} _saddr[8]; {word} _daddr[8]; {transport}",
        byte_1 = bits(8, 1),
        flow = bits(20, 1),
    );
    format!(
        "string _name; {networks} variant <_network_header_type> {{ struct {{ }} _unknown; \
         struct {{ {ipv4} }} _ipv4; struct {{ {ipv6} }} _ipv6; }} _network_header; "
    )
}

/// A header of the network and what follows it.
struct Network<'h> {
    /// The option of the header's variant.
    kind: u8,
    header: &'h [u8],
    protocol: u8,
    /// Whether the header of the transport follows: in the first fragment alone.
    is_first: bool,
    rest: &'h [u8],
    is_loopback: bool,
}

/// Appends the fields of an event of a packet that starts with some bytes. `device`: its name, if known.
pub(crate) fn put(direction: Direction, start: &[u8], device: &[u8], out: &mut Vec<u8>) {
    let found = match direction {
        Direction::Sent => behind_link(start).or_else(|| network(start)),
        Direction::Received => network(start),
    };
    let device: &[u8] = match &found {
        Some(found) if device.is_empty() && found.is_loopback => b"lo",
        _ => device,
    };
    out.extend_from_slice(device);
    out.push(0);
    let Some(Network { kind, header, protocol, is_first, rest, .. }) = found else { return out.push(0) };
    let transport = match protocol {
        _ if !is_first => None,
        6 => rest.get(..20).map(|header| (1, header)),
        17 => rest.get(..8).map(|header| (2, header)),
        1 if kind == 1 => rest.get(..8).map(|header| (3, header)),
        _ => None,
    };
    out.extend_from_slice(&[kind, transport.map_or(0, |(option, _)| option)]);
    out.extend_from_slice(header);
    out.extend_from_slice(transport.map_or(&[], |(_, header)| header));
}

/// The network's header behind that of the link.
fn behind_link(start: &[u8]) -> Option<Network<'_>> {
    let kind = |at: usize| Some([*start.get(at)?, *start.get(at + 1)?]);
    let at = match kind(ETHERNET - 2)? {
        [0x81, 0x00] => ETHERNET + VLAN,
        _ => ETHERNET,
    };
    let version = match kind(at - 2)? {
        [0x08, 0x00] => 4,
        [0x86, 0xdd] => 6,
        _ => return None,
    };
    network(start.get(at..)?).filter(|_| start[at] >> 4 == version)
}

/// The network's header that some bytes start with.
fn network(start: &[u8]) -> Option<Network<'_>> {
    match start.first()? >> 4 {
        4 => {
            let header = start.get(..IPV4)?;
            let length = usize::from(header[0] & 15) * 4;
            let fragment = u16::from_be_bytes([header[6], header[7]]) & 0x1fff;
            let rest = start.get(length..).filter(|_| length >= IPV4)?;
            let is_loopback = header[16] == 127 || header[12..16] == header[16..20];
            let is_first = fragment == 0;
            Some(Network { kind: 1, header, protocol: header[9], is_first, rest, is_loopback })
        }
        6 => {
            let (header, rest) = start.split_at_checked(IPV6)?;
            let is_loopback = header[8..24] == header[24..40];
            Some(Network { kind: 2, header, protocol: header[6], is_first: true, rest, is_loopback })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A segment of TCP as it is sent, with the header of the link.
    fn segment() -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame
            .extend_from_slice(&[8, 0, 0x45, 0, 0, 40, 0, 7, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend_from_slice(&[0x1f, 0x90, 0, 80, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x18, 1, 0, 0, 0, 0, 0]);
        frame
    }

    fn shown(direction: Direction, start: &[u8], device: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        put(direction, start, device, &mut out);
        out
    }

    #[test]
    fn headers_are_copied() {
        let frame = segment();
        let sent = shown(Direction::Sent, &frame, b"eth0");
        assert_eq!(sent[..7], *b"eth0\0\x01\x01");
        assert_eq!(sent[7..], frame[14..]);
        assert_eq!(shown(Direction::Received, &frame[14..], b"")[3..], frame[14..]);
    }

    #[test]
    fn what_is_cut_or_unknown_has_no_header() {
        let frame = segment();
        assert_eq!(shown(Direction::Sent, &frame[..30], b""), [0, 0]);
        assert_eq!(shown(Direction::Received, &[0x10; 64], b""), [0, 0]);
        // The header of the network alone.
        assert_eq!(shown(Direction::Received, &frame[14..40], b"")[..3], [0, 1, 0]);
        // A later fragment.
        let mut fragment = frame[14..].to_vec();
        fragment[7] = 9;
        assert_eq!(shown(Direction::Received, &fragment, b"")[..3], [0, 1, 0]);
    }

    #[test]
    fn what_stays_on_the_host() {
        let mut packet = segment()[14..].to_vec();
        packet[19] = 1;
        assert_eq!(shown(Direction::Received, &packet, b"")[..3], *b"lo\0");
    }
}
