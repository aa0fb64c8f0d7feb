//! A sighting as the matcher keeps it: 48 bytes, whatever the packet, and the comparison of two of them.

use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;

use crate::record::{Direction, Sighting, Transport, flags, protocol};

/// What is known of a packet, and what was found out about the sighting: bits of [`Kept::bits`].
pub(super) mod bit {
    /// Addresses are known.
    pub const ADDRESSES: u16 = 1;
    /// Ports are known.
    pub const PORTS: u16 = 1 << 1;
    /// The size of the payload is known.
    pub const SIZE: u16 = 1 << 2;
    /// The IP identification is known.
    pub const ID: u16 = 1 << 3;
    /// The begin of the payload is known.
    pub const DATA: u16 = 1 << 4;
    /// All bits that say what is known.
    pub const KNOWN: u16 = 0x1f;
    /// The packet left the host; else it arrived.
    pub const SENT: u16 = 1 << 5;
    /// The packet is for more than one host.
    pub const GROUP: u16 = 1 << 6;
    /// The packet is one of IPv6.
    pub const V6: u16 = 1 << 7;
    /// An equal packet may have left before.
    pub const DOUBTFUL: u16 = 1 << 8;
    /// No equal packet left before.
    pub const FRESH: u16 = 1 << 9;
    /// None of its bytes left before.
    pub const FRESH_BYTES: u16 = 1 << 10;
    /// It is part of a message, or is counted as ambiguous.
    pub const ANSWERED: u16 = 1 << 11;
    /// It has been judged.
    pub const DONE: u16 = 1 << 12;
    /// It is counted as ambiguous, unless its bytes tell more.
    pub const AMBIGUOUS: u16 = 1 << 14;
    /// Its key comes again and again without a pause.
    pub const CROWDED: u16 = 1 << 13;
}

/// A sighting. The order of two of them puts equal packets beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kept {
    /// Raw time, ns.
    pub(super) time: i64,
    /// A hash of the addresses: of 64 bits, so that among the packets of a window no two pairs share one.
    pub(super) addresses: u64,
    /// TCP: sequence and acknowledgement number. Echo: its kind, identifier and number. UDP: begin of the payload.
    pub(super) word: u64,
    pub(super) ports: (u16, u16),
    /// Bytes of payload (TCP), or with the header (UDP).
    pub(super) size: u32,
    pub(super) clock: u32,
    pub(super) ip_id: u16,
    pub(super) bits: u16,
    pub(super) flags: u8,
    pub(super) known_flags: u8,
    pub(super) protocol: u8,
}

/// The parts of UDP datagrams that only some tracers record: they cannot be part of the loosest key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Mixed {
    /// By whether it is IPv6: a bit for each of the combinations of id and data that were seen.
    seen: [u8; 2],
}

impl Mixed {
    /// Takes note of what is known of a datagram; whether that changes the keys.
    pub(super) fn note(&mut self, kept: &Kept) -> bool {
        if kept.protocol != protocol::UDP {
            return false;
        }
        let before = (self.ids(kept), self.data(kept));
        let combination = u8::from(kept.has(bit::ID)) | u8::from(kept.has(bit::DATA)) << 1;
        self.seen[usize::from(kept.has(bit::V6))] |= 1 << combination;
        before != (self.ids(kept), self.data(kept))
    }

    fn ids(self, kept: &Kept) -> bool {
        let seen = self.seen[usize::from(kept.has(bit::V6))];
        seen & 0b0101 != 0 && seen & 0b1010 != 0
    }

    fn data(self, kept: &Kept) -> bool {
        let seen = self.seen[usize::from(kept.has(bit::V6))];
        seen & 0b0011 != 0 && seen & 0b1100 != 0
    }
}

impl Kept {
    pub(super) fn new(sighting: &Sighting) -> Self {
        let packet = &sighting.packet;
        let mut kept = Self {
            time: sighting.time,
            addresses: 0,
            word: 0,
            ports: (0, 0),
            size: 0,
            clock: sighting.clock as u32,
            ip_id: 0,
            bits: 0,
            flags: 0,
            known_flags: 0,
            protocol: 0,
        };
        kept.set_if(sighting.direction == Direction::Sent, bit::SENT);
        if let Some((source, destination)) = packet.addresses {
            let mut hasher = DefaultHasher::new();
            (source, destination).hash(&mut hasher);
            kept.addresses = hasher.finish();
            kept.bits |= bit::ADDRESSES;
            kept.set_if(source.is_ipv6(), bit::V6);
            kept.set_if(is_for_many(&destination), bit::GROUP);
        }
        if let Some(id) = packet.ip_id {
            kept.ip_id = id;
            kept.bits |= bit::ID;
        }
        match &packet.transport {
            Transport::Tcp(segment) => {
                kept.protocol = protocol::TCP;
                kept.word = u64::from(segment.seq) << 32 | u64::from(segment.ack);
                kept.set_ports(segment.ports);
                kept.set_size(segment.payload);
                // Of a segment cut up on its way, only the first part says that the window was reduced.
                kept.known_flags = segment.known_flags & !CWR;
                kept.flags = segment.flags & kept.known_flags;
            }
            Transport::Udp(datagram) => {
                kept.protocol = protocol::UDP;
                kept.set_ports(datagram.ports);
                kept.set_size(datagram.length.map(u32::from));
                kept.word = datagram.data.unwrap_or_default();
                kept.set_if(datagram.data.is_some(), bit::DATA);
            }
            Transport::Echo(echo) => {
                kept.protocol = protocol::ICMP;
                kept.word =
                    u64::from(echo.reply) << 32 | u64::from(echo.identifier) << 16 | u64::from(echo.sequence);
            }
        }
        kept
    }

    fn set_if(&mut self, condition: bool, bits: u16) {
        if condition {
            self.bits |= bits;
        }
    }

    fn set_ports(&mut self, ports: Option<(u16, u16)>) {
        self.set_if(ports.is_some(), bit::PORTS);
        self.ports = ports.unwrap_or_default();
    }

    fn set_size(&mut self, size: Option<u32>) {
        self.set_if(size.is_some(), bit::SIZE);
        self.size = size.unwrap_or_default();
    }

    pub(super) fn has(&self, bits: u16) -> bool {
        self.bits & bits == bits
    }

    pub(super) fn seq(&self) -> u32 {
        (self.word >> 32) as u32
    }

    pub(super) fn ack(&self) -> u32 {
        self.word as u32
    }

    /// Whether its identification tells it from its repetitions. Zero is what systems write that keep no count.
    pub(super) fn has_unique_id(&self) -> bool {
        self.has(bit::ID) && self.ip_id != 0
    }

    /// Whether it is a segment whose connection and bytes are known.
    pub(super) fn carries_bytes(&self) -> bool {
        self.protocol == protocol::TCP
            && self.has(bit::ADDRESSES | bit::PORTS | bit::SIZE)
            && self.size > 0
            && self.flags & flags::SYN == 0
    }

    /// The loosest key: packets that differ in it are different packets, whatever is known of them. A datagram's is
    /// its ports and length, with what else all tracers tell.
    pub(super) fn key(&self, mixed: Mixed) -> (u8, u64, u64, u16) {
        if self.protocol != protocol::UDP {
            return (self.protocol, self.word, 0, 0);
        }
        let ports = u64::from(self.ports.0) << 48 | u64::from(self.ports.1) << 32;
        let data = if mixed.data(self) { 0 } else { self.word };
        let id = if mixed.ids(self) { 0 } else { self.ip_id };
        (self.protocol, ports | u64::from(self.size), data, id)
    }

    /// Everything that identifies the packet, as far as it is known.
    pub(super) fn identity(&self) -> impl Ord + use<> {
        let Self { addresses, word, ports, size, ip_id, flags, protocol, .. } = *self;
        (protocol, word, ports, size, addresses, ip_id, flags)
    }

    /// What is known of the packet.
    pub(super) fn knowledge(&self) -> (u16, u8) {
        (self.bits & (bit::KNOWN | bit::V6), self.known_flags)
    }

    /// The order of what is kept: equal packets are neighbours, those of one host and direction by their times.
    pub(super) fn compare(&self, other: &Self, mixed: Mixed) -> Ordering {
        let place = |kept: &Self| (kept.clock, kept.bits & bit::SENT, kept.time);
        self.key(mixed)
            .cmp(&other.key(mixed))
            .then_with(|| self.identity().cmp(&other.identity()))
            .then_with(|| self.knowledge().cmp(&other.knowledge()))
            .then_with(|| place(self).cmp(&place(other)))
    }

    /// Whether both can be the same packet by all that is known of both.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        let both = self.bits & other.bits;
        let same = |bits: u16, equal: bool| both & bits == 0 || equal;
        self.agrees_but_for_places(other)
            && same(bit::ADDRESSES, self.addresses == other.addresses)
            && same(bit::PORTS, self.ports == other.ports)
    }

    /// Whether both can be the same packet if a translator between them changed its addresses and ports.
    pub(super) fn agrees_but_for_places(&self, other: &Self) -> bool {
        let both = self.bits & other.bits;
        let same = |bits: u16, equal: bool| both & bits == 0 || equal;
        let word = self.protocol != protocol::UDP || both & bit::DATA != 0;
        self.protocol == other.protocol
            && (!word || self.word == other.word)
            && same(bit::SIZE, self.size == other.size)
            && same(bit::ID, self.ip_id == other.ip_id)
            && (self.flags ^ other.flags) & self.known_flags & other.known_flags == 0
    }
}

/// Set on the first part only of a segment that is cut up.
const CWR: u8 = 0x80;

fn is_for_many(destination: &IpAddr) -> bool {
    match destination {
        // Which addresses of a network mean all its hosts is not in the packet: those that may are taken for it.
        IpAddr::V4(address) => address.is_multicast() || address.octets()[3] == 255,
        IpAddr::V6(address) => address.is_multicast(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_small() {
        assert_eq!(size_of::<Kept>(), 48);
    }
}
