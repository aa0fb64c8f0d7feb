//! What a stream lacks: events discarded when the tracer's buffers were full, packets overwritten or never sent, packets
//! that were written and are not there any more.

use std::collections::BTreeMap;

use super::missing::Proven;
use super::{Packet, Stream};
use crate::plan::StreamPlan;
use crate::schema::Role;

/// A gap in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// What is missing.
    pub lost: Lost,
    /// Number of the packet (in the stream's order) before which it is missing; the number of all packets where it is
    /// missing after the last one, by an index.
    pub before_packet: usize,
    /// End of the packet before, in cycles; where the stream begins with the loss, it is unknown, or by an index.
    pub begin: Option<u64>,
    /// Latest time that may be affected, in cycles: for events the end of the packet that reports them, for packets
    /// the begin of the packet after, or the end of the last of them where there is none.
    pub end: Option<u64>,
}

/// What a gap has swallowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// So many events.
    Events(u64),
    /// So many packets.
    Packets(u64),
}

/// The losses of a stream in order: a packet's own counters against those of the packet before. Counters wrap by the
/// width of their fields; one that goes down otherwise has been reset and says nothing. `absent` are packets that indexes
/// list and that are not there; where packets are numbered, those between others are counted by their numbers.
pub(super) fn of(stream: &Stream, plan: &StreamPlan, absent: &[Proven]) -> Vec<Loss> {
    let timed = plan.clock.is_some();
    let count_bits = plan.context_bits(Role::DiscardedEvents);
    let sequence_bits = plan.context_bits(Role::PacketSequenceNumber);
    let mut losses = Vec::new();
    let mut previous: Option<&Packet> = None;
    for (before_packet, packet) in stream.packets.iter().enumerate() {
        let begin = previous.and_then(Packet::end).filter(|_| timed);
        let mut lose = |lost, end: Option<u64>| {
            losses.push(Loss { lost, before_packet, begin, end: end.filter(|_| timed) });
        };
        if let Some(bits) = count_bits {
            let before = previous.map_or(0, |p| p.discarded);
            if let Some(missing) = distance(before, packet.discarded, bits).filter(|&n| n > 0) {
                lose(Lost::Events(missing), packet.end());
            }
        }
        if let Some((last, bits)) = previous.map(|p| p.sequence).zip(sequence_bits) {
            let missing = distance(last, packet.sequence, bits).unwrap_or(0).saturating_sub(1);
            if missing > 0 {
                lose(Lost::Packets(missing), packet.begin());
            }
        }
        previous = Some(packet);
    }
    for (place, absent) in by_place(&stream.packets, absent) {
        let (before, after) =
            (place.checked_sub(1).map(|last| &stream.packets[last]), stream.packets.get(place));
        if before.is_none() || after.is_none() || sequence_bits.is_none() {
            losses.push(Loss {
                lost: Lost::Packets(absent.packets),
                before_packet: place,
                begin: before.map_or(Some(absent.begin), Packet::end).filter(|_| timed),
                end: after.map_or(Some(absent.end), Packet::begin).filter(|_| timed),
            });
        }
    }
    losses.sort_by_key(|loss| loss.before_packet);
    losses
}

/// Packets that are not there, by the place where they were.
fn by_place(packets: &[Packet], absent: &[Proven]) -> BTreeMap<usize, Absent> {
    let mut places: BTreeMap<usize, Absent> = BTreeMap::new();
    for proven in absent {
        let place = packets.partition_point(|packet| packet.begin() <= Some(proven.begin));
        let absent = places.entry(place).or_insert(Absent { packets: 0, begin: u64::MAX, end: 0 });
        absent.packets = absent.packets.saturating_add(proven.packets);
        (absent.begin, absent.end) = (absent.begin.min(proven.begin), absent.end.max(proven.end));
    }
    places
}

/// Packets that are not there.
struct Absent {
    packets: u64,
    begin: u64,
    end: u64,
}

/// How far a counter of `bits` bits has moved on. A step down is a wrap where the counter is narrow enough to wrap
/// and the step that it makes of it is less than half the range, else a reset.
fn distance(from: u64, to: u64, bits: u32) -> Option<u64> {
    if to >= from {
        return Some(to - from);
    }
    let range = 1_u64.checked_shl(bits).filter(|_| bits < 64)?;
    let wrapped = (to + range).checked_sub(from)?;
    (wrapped <= range / 2).then_some(wrapped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_wrap_or_are_reset() {
        let check = |from, to, bits, expect| assert_eq!(distance(from, to, bits), expect);
        check(3, 8, 64, Some(5));
        check(8, 3, 64, None);
        check(250, 3, 8, Some(9));
        check(100, 3, 8, None);
        check(0xffff_ffff, 0, 32, Some(1));
    }
}
