//! What a stream lacks: events discarded when the tracer's buffers were full, packets overwritten or never
//! sent, packets that were written and are not there any more.

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
    /// Number of the packet (in the stream's order) before which it is missing; the number of all packets
    /// where it is missing after the last one, by an index.
    pub before_packet: usize,
    /// End of the packet before, in cycles; where the stream begins with the loss, it is unknown, or by an
    /// index.
    pub begin: Option<u64>,
    /// Latest time that may be affected, in cycles: for events the end of the packet that reports them, for
    /// packets the start of the packet after, or the end of the last of them where there is none.
    pub end: Option<u64>,
}

/// What a gap has swallowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// Number of events.
    Events(u64),
    /// Number of packets.
    Packets(u64),
}

/// The losses of a stream in order: a packet's own counters against those of the packet before. Counters wrap
/// by the width of their fields; one that goes down otherwise has been reset and says nothing. `absent` are
/// packets that indexes list and that are not there; where packets are numbered, those between others are
/// counted by their numbers.
pub(super) fn of(stream: &Stream, plan: &StreamPlan, absent: &[Proven]) -> Vec<Loss> {
    let timed = plan.clock.is_some();
    let is_numbered = plan.context_bits(Role::PacketSequenceNumber).is_some();
    let mut losses = Vec::new();
    let mut previous: Option<&Packet> = None;
    for (before_packet, packet) in stream.packets.iter().enumerate() {
        let begin = previous.and_then(Packet::end).filter(|_| timed);
        let mut lose = |lost, end: Option<u64>| {
            losses.push(Loss { lost, before_packet, begin, end: end.filter(|_| timed) });
        };
        let counters = PacketCounters::of(packet, plan);
        let before = previous.map(|previous| PacketCounters::of(previous, plan));
        if let Some(now) = counters.discarded {
            let before = before.and_then(|before| before.discarded).unwrap_or(Counter { value: 0, ..now });
            if let Some(missing) = now.since(before).filter(|&missing| missing > 0) {
                lose(Lost::Events(missing), packet.end());
            }
        }
        if let Some((now, before)) = counters.sequence.zip(before.and_then(|before| before.sequence)) {
            let missing = now.since(before).unwrap_or(0).saturating_sub(1);
            if missing > 0 {
                lose(Lost::Packets(missing), packet.begin());
            }
        }
        previous = Some(packet);
    }
    for (index, absent) in by_index(&stream.packets, absent) {
        let (before, after) =
            (index.checked_sub(1).map(|last| &stream.packets[last]), stream.packets.get(index));
        if before.is_none() || after.is_none() || !is_numbered {
            losses.push(Loss {
                lost: Lost::Packets(absent.packets),
                before_packet: index,
                begin: before.map_or(Some(absent.begin), Packet::end).filter(|_| timed),
                end: after.map_or(Some(absent.end), Packet::begin).filter(|_| timed),
            });
        }
    }
    losses.sort_by_key(|loss| loss.before_packet);
    losses
}

/// Packets that are not there, by the index where they were.
fn by_index(packets: &[Packet], absent: &[Proven]) -> BTreeMap<usize, Absent> {
    let mut indices: BTreeMap<usize, Absent> = BTreeMap::new();
    for proven in absent {
        let index = packets.partition_point(|packet| packet.begin() <= Some(proven.begin));
        let absent = indices.entry(index).or_insert(Absent { packets: 0, begin: u64::MAX, end: 0 });
        absent.packets = absent.packets.saturating_add(proven.packets);
        (absent.begin, absent.end) = (absent.begin.min(proven.begin), absent.end.max(proven.end));
    }
    indices
}

/// Packets that are not there.
struct Absent {
    packets: u64,
    begin: u64,
    end: u64,
}

/// A free-running counter in the head of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter {
    /// Its value, below 2 to the power of its number of bits.
    pub value: u64,
    bits: u32,
}

impl Counter {
    /// How far it has advanced since an earlier value. A step down is a wrap if the counter is narrow enough to wrap and the
    /// step that results is at most half the range. Else the counter was reset: `None`.
    pub fn since(self, earlier: Self) -> Option<u64> {
        if self.value >= earlier.value {
            return Some(self.value - earlier.value);
        }
        let range = 1_u64.checked_shl(self.bits).filter(|_| self.bits < 64)?;
        let wrapped = self.value.checked_add(range)?.checked_sub(earlier.value)?;
        (wrapped <= range / 2).then_some(wrapped)
    }
}

/// The counters of a packet; `None` where its stream class has no such field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketCounters {
    /// Number of the packet in its stream.
    pub sequence: Option<Counter>,
    /// Events of the stream that were discarded so far.
    pub discarded: Option<Counter>,
}

impl PacketCounters {
    pub(super) fn of(packet: &Packet, plan: &StreamPlan) -> Self {
        let counter = |role, value| plan.context_bits(role).map(|bits| Counter { value, bits });
        Self {
            sequence: counter(Role::PacketSequenceNumber, packet.sequence),
            discarded: counter(Role::DiscardedEvents, packet.discarded),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_wrap_or_are_reset() {
        let check = |from, to, bits, expect| {
            let counter = |value| Counter { value, bits };
            assert_eq!(counter(to).since(counter(from)), expect);
        };
        check(3, 8, 64, Some(5));
        check(8, 3, 64, None);
        check(250, 3, 8, Some(9));
        check(100, 3, 8, None);
        check(0xffff_ffff, 0, 32, Some(1));
    }
}
