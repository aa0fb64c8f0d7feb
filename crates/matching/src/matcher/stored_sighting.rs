//! A sighting as the matcher keeps it: the key of its packet, and where its record is found again. 64 bytes,
//! whatever the packet.

use std::cmp::Ordering;

use isochrone_net::{Direction, PacketKey, Sighting, StreamRef, Transport, flags, known, protocol};
use isochrone_time::RawNs;

use super::End;

/// What was found out about the sighting: bits of [`StoredSighting::bits`].
pub(super) mod bit {
    /// The packet left the host; else it arrived.
    pub const SENT: u16 = 1;
    /// The packet is for more than one host.
    pub const GROUP: u16 = 1 << 1;
    /// An equal packet may have left before.
    pub const DOUBTFUL: u16 = 1 << 2;
    /// No equal packet left before.
    pub const FRESH: u16 = 1 << 3;
    /// None of its bytes left before.
    pub const FRESH_BYTES: u16 = 1 << 4;
    /// It is part of a message, or is counted as ambiguous.
    pub const ANSWERED: u16 = 1 << 5;
    /// It has been judged.
    pub const DONE: u16 = 1 << 6;
    /// Its key comes again and again without a pause.
    pub const CROWDED: u16 = 1 << 7;
    /// It is counted as ambiguous, unless its bytes decide it.
    pub const AMBIGUOUS: u16 = 1 << 8;
    /// The payload is known by its digest, too.
    pub const CHECKED: u16 = 1 << 9;
    /// Its identification does not distinguish it from other packets: its sender uses it again and again.
    pub const WORN_ID: u16 = 1 << 10;
    /// From here on: which device saw it, 0 where that is not known.
    pub const DEVICE: u32 = 11;
}

/// A sighting that waits for its equals. Their order makes equal packets neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StoredSighting {
    /// What identifies the packet.
    pub(super) key: PacketKey,
    /// The raw time that counts in a proof.
    pub(super) time: RawNs,
    pub(super) clock: u32,
    /// How far the raw time of the event itself is from that, ns: before it where a packet arrived, by less
    /// than a tick of the clock, and after it where one left, by how late its stamp may be. More than 4 s are
    /// cut off.
    pub(super) off: u32,
    /// Where the event is.
    pub(super) place: StreamRef,
    /// A digest of the payload, where it is known.
    pub(super) check: u16,
    pub(super) bits: u16,
}

/// The parts of UDP datagrams that only some tracers record: they cannot be part of the loosest key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Mixed {
    /// By whether it is IPv6: a bit for each of the combinations of id and data that were seen.
    seen: [u8; 2],
}

impl Mixed {
    /// Takes note of what is known of a datagram; whether that changes the keys.
    pub(super) fn note(&mut self, kept: &StoredSighting) -> bool {
        if kept.key.protocol != protocol::UDP {
            return false;
        }
        let before = (self.ids(kept), self.data(kept));
        let combination = u8::from(kept.key.knows(known::ID)) | u8::from(kept.key.knows(known::DATA)) << 1;
        self.seen[usize::from(kept.key.knows(known::V6))] |= 1 << combination;
        before != (self.ids(kept), self.data(kept))
    }

    fn ids(self, kept: &StoredSighting) -> bool {
        let seen = self.seen[usize::from(kept.key.knows(known::V6))];
        seen & 0b0101 != 0 && seen & 0b1010 != 0
    }

    fn data(self, kept: &StoredSighting) -> bool {
        let seen = self.seen[usize::from(kept.key.knows(known::V6))];
        seen & 0b0011 != 0 && seen & 0b1100 != 0
    }
}

impl StoredSighting {
    pub(super) fn new(sighting: &Sighting) -> Self {
        let Sighting { clock, time, raw, place, direction, device, packet } = sighting;
        let bit = |condition: bool, bit: u16| if condition { bit } else { 0 };
        let check = match &packet.transport {
            Transport::Udp(datagram) => datagram.check,
            _ => None,
        };
        Self {
            key: packet.key(),
            time: *time,
            clock: *clock as u32,
            off: u32::try_from(time.ns().abs_diff(raw.ns())).unwrap_or(u32::MAX),
            place: *place,
            check: check.unwrap_or_default(),
            bits: bit(*direction == Direction::Sent, bit::SENT)
                | bit(packet.is_for_many(), bit::GROUP)
                | bit(check.is_some(), bit::CHECKED)
                | u16::from(*device) << bit::DEVICE,
        }
    }

    /// The sighting as an end of a message.
    pub(super) fn end(&self) -> End {
        End {
            clock: self.clock as usize,
            time: self.time,
            raw: match self.has(bit::SENT) {
                true => self.time.saturating_add(i64::from(self.off)),
                false => self.time.saturating_sub(i64::from(self.off)),
            },
            place: self.place,
            direction: if self.has(bit::SENT) { Direction::Sent } else { Direction::Received },
            key: self.key,
        }
    }

    /// Whether two records are of one event that two overlapping traces of a host hold.
    pub(super) fn is_again(&self, other: &Self) -> bool {
        let Self { key, time, clock, off: _, place: _, check, bits } = *self;
        (key, time, clock, check, bits) == (other.key, other.time, other.clock, other.check, other.bits)
    }

    /// The order in which one of such records comes first, whatever the order of reading.
    pub(super) fn compare_places(&self, other: &Self) -> Ordering {
        (self.place, self.off).cmp(&(other.place, other.off))
    }

    pub(super) fn has(&self, bits: u16) -> bool {
        self.bits & bits == bits
    }

    /// Whether its identification distinguishes it from its repetitions. Zero is what systems write that keep
    /// no count.
    pub(super) fn has_unique_id(&self) -> bool {
        self.key.knows(known::ID) && self.key.ip_id != 0 && !self.has(bit::WORN_ID)
    }

    /// Whether another device of the host saw the other one, as far as that is known.
    pub(super) fn is_elsewhere(&self, other: &Self) -> bool {
        let [a, b] = [self.bits, other.bits].map(|bits| bits >> bit::DEVICE);
        a != b || a == 0
    }

    /// Whether both can be the same packet by all that is known of both.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        self.key.agrees(&other.key) && self.payload_agrees(other)
    }

    /// Whether both can be the same packet if a translator between them changed its addresses and ports.
    pub(super) fn agrees_but_for_endpoints(&self, other: &Self) -> bool {
        self.key.agrees_but_for_endpoints(&other.key) && self.payload_agrees(other)
    }

    fn payload_agrees(&self, other: &Self) -> bool {
        self.bits & other.bits & bit::CHECKED == 0 || self.check == other.check
    }

    /// Whether it is a segment whose connection and bytes are known.
    pub(super) fn carries_bytes(&self) -> bool {
        self.key.protocol == protocol::TCP
            && self.key.knows(known::ADDRESSES | known::PORTS | known::SIZE)
            && self.key.size > 0
            && self.key.flags & flags::SYN == 0
    }

    /// The loosest key: packets that differ in it are different packets, whatever is known of them. A
    /// datagram's is its ports and length, with what else all tracers record.
    pub(super) fn loosest(&self, mixed: Mixed) -> (u8, u64, u64, u16) {
        let PacketKey { protocol, word, ports, size, ip_id, .. } = self.key;
        if protocol != protocol::UDP {
            return (protocol, word, 0, 0);
        }
        let ports = u64::from(ports.0) << 48 | u64::from(ports.1) << 32;
        let data = if mixed.data(self) { 0 } else { word };
        let id = if mixed.ids(self) { 0 } else { ip_id };
        (protocol, ports | u64::from(size), data, id)
    }

    /// Everything that identifies the packet, as far as it is known.
    pub(super) fn identity(&self) -> impl Ord + use<> {
        let PacketKey { addresses, word, ports, size, ip_id, flags, protocol, .. } = self.key;
        (protocol, word, ports, size, addresses, ip_id, flags, self.check)
    }

    /// What is known of the packet.
    pub(super) fn knowledge(&self) -> (u8, u8, bool) {
        (self.key.known, self.key.known_flags, self.has(bit::CHECKED))
    }

    /// The order of what is kept: equal packets are neighbours, those of one host and direction by their
    /// times.
    pub(super) fn compare(&self, other: &Self, mixed: Mixed) -> Ordering {
        let place = |kept: &Self| (kept.clock, kept.bits & bit::SENT, kept.time);
        self.loosest(mixed)
            .cmp(&other.loosest(mixed))
            .then_with(|| self.identity().cmp(&other.identity()))
            .then_with(|| self.knowledge().cmp(&other.knowledge()))
            .then_with(|| place(self).cmp(&place(other)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_small() {
        assert_eq!(size_of::<StoredSighting>(), 64);
    }
}
