//! What the head of a packet holds beside times and sizes: its CPU, its number, its count of discarded events.
//!
//! [`crate::losses`] compares these across the chunks of a rotated session, which `isochrone-ctf` reads as traces of their
//! own.

use isochrone_ctf::plan::{Cursor, Name, Visitor, walk};
use isochrone_ctf::schema::{IntegerClass, Role};
use isochrone_ctf::{Packet, Trace};

/// A free-running counter of so many bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counter {
    pub(crate) value: u64,
    bits: u32,
}

impl Counter {
    /// How far it has moved on from an earlier value. A step down is a wrap where the counter is narrow enough to wrap and
    /// the step that it makes of it is less than half the range; else the counter was reset and nothing is known.
    pub(crate) fn since(self, before: Self) -> Option<u64> {
        if self.value >= before.value {
            return Some(self.value - before.value);
        }
        let range = 1_u64.checked_shl(self.bits).filter(|_| self.bits < 64)?;
        let wrapped = self.value.checked_add(range)?.checked_sub(before.value)?;
        (wrapped <= range / 2).then_some(wrapped)
    }
}

/// Parts of the head of a packet; `None` where its stream has no such field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PacketContext {
    /// `cpu_id`.
    pub(crate) cpu: Option<u32>,
    /// Number of the packet in its stream.
    pub(crate) sequence: Option<Counter>,
    /// Events of the stream discarded so far.
    pub(crate) discarded: Option<Counter>,
}

impl PacketContext {
    /// Of a packet of a stream. What cannot be decoded (the file was cut since the trace was opened) is missing.
    pub(crate) fn of(trace: &Trace, stream: usize, packet: &Packet) -> Self {
        let mut slots = trace.plan().new_slots();
        let mut cursor = Cursor::new(trace.packet_bytes(packet));
        let mut gather = Gather::default();
        for node in trace.plan().packet_header.iter().chain(&trace.stream_plan(stream).packet_context) {
            if walk(node, &mut cursor, &mut slots, &mut gather).is_err() {
                break;
            }
        }
        gather.context
    }
}

#[derive(Default)]
struct Gather {
    context: PacketContext,
    /// Whether the next value is that of `cpu_id`.
    is_cpu: bool,
}

impl Visitor for Gather {
    fn member(&mut self, _: usize, name: &Name) {
        self.is_cpu = name.shown() == "cpu_id";
    }

    fn unsigned(&mut self, class: &IntegerClass, value: u64) {
        let counter = Some(Counter { value, bits: class.size });
        match class.role {
            Some(Role::PacketSequenceNumber) => self.context.sequence = counter,
            Some(Role::DiscardedEvents) => self.context.discarded = counter,
            None if self.is_cpu => self.context.cpu = u32::try_from(value).ok(),
            _ => {}
        }
    }

    fn signed(&mut self, class: &IntegerClass, value: i64) {
        // Counters run through all values of their bits, whatever sign they are declared with.
        let mask = u64::MAX >> (64 - class.size.clamp(1, 64));
        self.unsigned(class, value as u64 & mask);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_wrap_or_are_reset() {
        let check = |from, to, bits, expect| {
            assert_eq!(Counter { value: to, bits }.since(Counter { value: from, bits }), expect);
        };
        check(3, 8, 64, Some(5));
        check(8, 3, 64, None);
        check(250, 3, 8, Some(9));
        check(100, 3, 8, None);
        check(0xffff_ffff, 0, 32, Some(1));
    }
}
