//! What a packet is known by on its way: a key of fixed size, and the comparison of two of them.
//!
//! Records of different tracers hold different parts of a packet. A key says which parts it knows
//! ([`known`]); parts that only one of two keys knows are left out of [`PacketKey::agrees`]. Two records of
//! one packet by tracers that record the same parts have equal keys, so keys can be looked up, sorted and
//! written down.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::packet::{Packet, Transport, protocol};

/// Parts of a packet that a key knows: bits of [`PacketKey::known`].
pub mod known {
    /// Addresses.
    pub const ADDRESSES: u8 = 1;
    /// Ports.
    pub const PORTS: u8 = 1 << 1;
    /// The size of the payload.
    pub const SIZE: u8 = 1 << 2;
    /// The IP identification.
    pub const ID: u8 = 1 << 3;
    /// The start of the payload.
    pub const DATA: u8 = 1 << 4;
    /// Not a part: the addresses are those of IPv6.
    pub const V6: u8 = 1 << 7;
}

/// Set on the first part only of a segment that is cut up on its way: no part of its identity.
const CWR: u8 = 0x80;

/// The identity of a packet, 32 bytes. The order has no meaning but that equal packets are neighbours. What
/// is not known is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PacketKey {
    /// As in [`protocol`]; ICMP of either version of IP is [`protocol::ICMP`].
    pub protocol: u8,
    /// TCP: sequence number in the upper, acknowledgement number in the lower half. Echo: whether it is a
    /// reply (bit 32), identifier (from bit 16), sequence number. UDP: the first eight bytes of the payload.
    pub word: u64,
    /// Source and destination.
    pub ports: (u16, u16),
    /// Bytes of payload (TCP), or with the header (UDP).
    pub size: u32,
    /// A digest of source and destination.
    pub addresses: u64,
    /// IPv4 identification.
    pub ip_id: u16,
    /// TCP flags, without CWR.
    pub flags: u8,
    /// The flags that the tracer records.
    pub known_flags: u8,
    /// Which parts are known: bits of [`known`].
    pub known: u8,
}

impl Packet {
    /// What it is known by. `O(1)`.
    pub fn key(&self) -> PacketKey {
        PacketKey::of(self)
    }
}

impl PacketKey {
    /// The key of a packet. `O(1)`.
    pub fn of(packet: &Packet) -> Self {
        let mut key = Self {
            protocol: 0,
            word: 0,
            ports: (0, 0),
            size: 0,
            addresses: 0,
            ip_id: packet.ip_id.unwrap_or_default(),
            flags: 0,
            known_flags: 0,
            known: if packet.ip_id.is_some() { known::ID } else { 0 },
        };
        if let Some((source, destination)) = &packet.addresses {
            key.addresses = digest(source, destination);
            key.known |= known::ADDRESSES | if source.is_ipv6() { known::V6 } else { 0 };
        }
        match &packet.transport {
            Transport::Tcp(segment) => {
                key.protocol = protocol::TCP;
                key.word = u64::from(segment.seq) << 32 | u64::from(segment.ack);
                key.set_ports(segment.ports);
                key.set_size(segment.payload);
                key.known_flags = segment.known_flags & !CWR;
                key.flags = segment.flags & key.known_flags;
            }
            Transport::Udp(datagram) => {
                key.protocol = protocol::UDP;
                key.set_ports(datagram.ports);
                key.set_size(datagram.length.map(u32::from));
                key.word = datagram.data.unwrap_or_default();
                key.known |= if datagram.data.is_some() { known::DATA } else { 0 };
            }
            Transport::Echo(echo) => {
                key.protocol = protocol::ICMP;
                key.word =
                    u64::from(echo.reply) << 32 | u64::from(echo.identifier) << 16 | u64::from(echo.sequence);
            }
        }
        key
    }

    fn set_ports(&mut self, ports: Option<(u16, u16)>) {
        self.known |= if ports.is_some() { known::PORTS } else { 0 };
        self.ports = ports.unwrap_or_default();
    }

    fn set_size(&mut self, size: Option<u32>) {
        self.known |= if size.is_some() { known::SIZE } else { 0 };
        self.size = size.unwrap_or_default();
    }

    /// Whether all these parts are known: bits of [`known`].
    pub fn knows(&self, parts: u8) -> bool {
        self.known & parts == parts
    }

    /// TCP: the sequence number.
    pub fn seq(&self) -> u32 {
        (self.word >> 32) as u32
    }

    /// TCP: the acknowledgement number.
    pub fn ack(&self) -> u32 {
        self.word as u32
    }

    /// Whether both can be the same packet by all that is known of both. `O(1)`.
    pub fn agrees(&self, other: &Self) -> bool {
        let both = self.known & other.known;
        let same = |part: u8, equal: bool| both & part == 0 || equal;
        self.agrees_but_for_endpoints(other)
            && same(known::ADDRESSES, self.addresses == other.addresses)
            && same(known::PORTS, self.ports == other.ports)
    }

    /// Whether both can be the same packet if a translator between them changed its addresses and ports.
    /// `O(1)`.
    pub fn agrees_but_for_endpoints(&self, other: &Self) -> bool {
        let both = self.known & other.known;
        let same = |part: u8, equal: bool| both & part == 0 || equal;
        let word = self.protocol != protocol::UDP || both & known::DATA != 0;
        self.protocol == other.protocol
            && (!word || self.word == other.word)
            && same(known::SIZE, self.size == other.size)
            && same(known::ID, self.ip_id == other.ip_id)
            && (self.flags ^ other.flags) & self.known_flags & other.known_flags == 0
    }
}

/// 64 bits that stand for source and destination: among the packets of a window no two pairs share them but
/// by an accident of one in 2⁶⁴ for each two. The same on every machine and in every version of this crate,
/// since keys are written down. The words of the addresses go one after the other through the finalizer of
/// `SplitMix64` (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014). `O(1)`.
pub fn digest(source: &IpAddr, destination: &IpAddr) -> u64 {
    let mut state = 0;
    for address in [source, destination] {
        let (version, bits) = match address {
            IpAddr::V4(address) => (4, u128::from(address.to_bits())),
            IpAddr::V6(address) => (6, address.to_bits()),
        };
        for word in [version, (bits >> 64) as u64, bits as u64] {
            state = mixed(state ^ word);
        }
    }
    state
}

fn mixed(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::packet::{Datagram, Echo, Segment, flags};

    fn tcp() -> Packet {
        let addresses = ["10.0.0.1", "10.0.0.2"].map(|text| text.parse().unwrap());
        let segment = Segment {
            ports: Some((4000, 80)),
            seq: 7,
            ack: 9,
            flags: flags::ACK | flags::PSH,
            known_flags: flags::ALL,
            payload: Some(100),
        };
        let transport = Transport::Tcp(segment);
        Packet { addresses: Some((addresses[0], addresses[1])), transport, ip_id: Some(3) }
    }

    fn changed(change: impl Fn(&mut Packet, &mut Segment)) -> Packet {
        let mut packet = tcp();
        let Transport::Tcp(mut segment) = packet.transport.clone() else { unreachable!() };
        change(&mut packet, &mut segment);
        Packet { transport: Transport::Tcp(segment), ..packet }
    }

    /// A change of a segment, and whether the result can be the same packet.
    #[test]
    fn what_is_known_of_both_must_be_equal() {
        let check = |change: &dyn Fn(&mut Packet, &mut Segment), agrees: bool, but_for_places: bool| {
            let (one, other) = (tcp().key(), changed(change).key());
            assert_eq!(one.agrees(&other), agrees, "{other:?}");
            assert_eq!(other.agrees(&one), agrees, "{other:?}");
            assert_eq!(one.agrees_but_for_endpoints(&other), but_for_places, "{other:?}");
            // Equal keys are of equal packets, as far as the identity goes.
            assert!(one != other || agrees);
        };
        check(&|_, _| {}, true, true);
        check(&|_, s| s.seq = 8, false, false);
        check(&|_, s| s.ack = 8, false, false);
        check(&|_, s| s.payload = Some(99), false, false);
        check(&|_, s| s.payload = None, true, true);
        check(&|_, s| s.ports = Some((4001, 80)), false, true);
        check(&|_, s| s.ports = None, true, true);
        check(&|_, s| s.flags = flags::ACK, false, false);
        check(&|_, s| s.flags |= CWR, true, true);
        check(&|_, s| (s.flags, s.known_flags) = (flags::ACK, flags::ACK), true, true);
        check(&|p, _| p.ip_id = Some(4), false, false);
        check(&|p, _| p.ip_id = None, true, true);
        check(&|p, _| p.addresses = None, true, true);
        check(&|p, _| p.addresses = p.addresses.map(|(a, b)| (b, a)), false, true);
    }

    #[test]
    fn datagrams_and_echoes_have_keys_of_their_own() {
        let of = |transport| Packet { addresses: None, transport, ip_id: None }.key();
        let udp =
            |data| of(Transport::Udp(Datagram { ports: Some((1, 2)), length: Some(20), data, check: None }));
        assert!(udp(Some(5)).agrees(&udp(None)) && !udp(Some(5)).agrees(&udp(Some(6))));
        assert_ne!(udp(Some(0)), udp(None));
        let echo = |reply, sequence| of(Transport::Echo(Echo { reply, identifier: 1, sequence }));
        assert!(!echo(true, 1).agrees(&echo(false, 1)) && !echo(true, 1).agrees(&echo(true, 2)));
        assert_eq!(echo(true, 1), echo(true, 1));
    }

    #[test]
    fn keys_are_small_and_are_written_down() {
        assert_eq!(size_of::<PacketKey>(), 32);
        let bytes = postcard::to_stdvec(&tcp().key()).unwrap();
        assert_eq!(postcard::from_bytes::<PacketKey>(&bytes).unwrap(), tcp().key());
        // Files hold digests: what they are must not change.
        assert_eq!(tcp().key().addresses, 0x8619_14e5_1958_064a);
    }

    proptest! {
        #[test]
        fn neighbouring_addresses_have_digests_of_their_own(first: u32, count in 2u32..200) {
            let address = |n: u32| IpAddr::from(first.wrapping_add(n).to_be_bytes());
            let pairs = (0..count).flat_map(|n| [(address(n), address(n + 1)), (address(n + 1), address(n))]);
            let digests: HashSet<u64> = pairs.map(|(a, b)| digest(&a, &b)).collect();
            prop_assert_eq!(digests.len(), 2 * count as usize);
        }
    }
}
