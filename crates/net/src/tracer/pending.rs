//! Receptions that two events record: one when the packet comes from its device, with nothing but the address
//! of its buffer, and a later one with its headers.
//!
//! The time is that of the first event. The second may come on another CPU, so that the events of all streams
//! of a trace are put in the order of time before they are joined: [`ArrivalJoiner`] does both.

use std::collections::{HashMap, VecDeque};

use isochrone_time::RawNs;

use crate::packet::Packet;
use crate::sighting::StreamRef;

/// A buffer is forgotten after this many later receptions: those that wait between device and transport at
/// one time are far fewer, and packets whose headers no event records would else wait for ever.
const CAPACITY: usize = 65_536;

/// When an event was recorded, and where it is found again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The latest raw time that its stamp can mean.
    pub time: RawNs,
    /// Its raw time.
    pub raw: RawNs,
    /// Its stream.
    pub place: StreamRef,
}

/// What one event records of such a reception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SplitArrival {
    /// A packet has come, in the buffer at this address.
    Pending {
        /// Address of the buffer.
        skb: u64,
    },
    /// The packet that came in this buffer before is this one.
    Completes {
        /// Address of the buffer.
        skb: u64,
        /// The packet; `None` where it is one that is not matched.
        packet: Option<Packet>,
    },
}

/// The packets of one host that have come from a device and wait for their headers.
#[derive(Debug)]
pub struct Receptions {
    /// By the address of the buffer: when it came, and the how many-th it was.
    waiting: HashMap<u64, (Stamp, u64)>,
    /// The latest receptions: number and buffer.
    latest: VecDeque<(u64, u64)>,
    count: u64,
    capacity: usize,
}

impl Default for Receptions {
    fn default() -> Self {
        Self::with_capacity(CAPACITY)
    }
}

impl Receptions {
    fn with_capacity(capacity: usize) -> Self {
        Self { waiting: HashMap::new(), latest: VecDeque::new(), count: 0, capacity }
    }

    /// A packet has come in a buffer. If one is waiting in that buffer, it was never completed, and is
    /// forgotten: the kernel uses its buffers again. `O(1)`.
    pub fn received(&mut self, skb: u64, stamp: Stamp) {
        if self.latest.len() >= self.capacity
            && let Some((number, oldest)) = self.latest.pop_front()
            && self.waiting.get(&oldest).is_some_and(|&(_, known)| known == number)
        {
            self.waiting.remove(&oldest);
        }
        self.waiting.insert(skb, (stamp, self.count));
        self.latest.push_back((self.count, skb));
        self.count += 1;
    }

    /// The headers of the packet in a buffer are known: when it came. `None` where nothing waits in the
    /// buffer. `O(1)`.
    pub fn completed(&mut self, skb: u64) -> Option<Stamp> {
        self.waiting.remove(&skb).map(|(stamp, _)| stamp)
    }
}

/// Joins what the streams of one trace record, a stretch of time after the other.
#[derive(Debug, Default)]
pub struct ArrivalJoiner {
    receptions: Receptions,
    /// What was recorded at later times than have been joined.
    waiting: Vec<(Stamp, SplitArrival)>,
    lost: u64,
}

impl ArrivalJoiner {
    /// Adds what a stream records, in its order. Streams are added in the same order for every stretch of
    /// time.
    pub fn add(&mut self, halves: impl IntoIterator<Item = (Stamp, SplitArrival)>) {
        self.waiting.extend(halves);
    }

    /// Joins what happened before a raw time, up to which all streams have been added: stamp of reception and
    /// packet, in the order of completion. `O(n log n)` in what waits.
    pub fn before(&mut self, time: RawNs) -> Vec<(Stamp, Packet)> {
        // Stable: what one CPU recorded at one time stays in its order.
        self.waiting.sort_by_key(|(stamp, _)| stamp.time);
        let ready = self.waiting.partition_point(|(stamp, _)| stamp.time < time);
        let mut received = Vec::new();
        for (stamp, half) in self.waiting.drain(..ready) {
            match half {
                SplitArrival::Pending { skb } => self.receptions.received(skb, stamp),
                SplitArrival::Completes { skb, packet } => match (self.receptions.completed(skb), packet) {
                    (Some(stamp), Some(packet)) => received.push((stamp, packet)),
                    (None, Some(_)) => self.lost += 1,
                    (_, None) => {}
                },
            }
        }
        received
    }

    /// Packets whose reception was not recorded: the tracer lost events.
    pub fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Segment, Transport};

    fn packet(seq: u32) -> Packet {
        let segment = Segment { ports: None, seq, ack: 0, flags: 0, known_flags: 0, payload: None };
        Packet { addresses: None, transport: Transport::Tcp(segment), ip_id: None }
    }

    fn stamp(time: i64) -> Stamp {
        Stamp { time: RawNs(time), raw: RawNs(time - 1), place: StreamRef::of_trace(0, time as usize) }
    }

    /// Halves as `(time, buffer, sequence number)`: none for a packet that comes, 0 for one that is not
    /// matched.
    fn check(halves: &[(i64, u64, Option<u32>)], received: &[(i64, u32)], lost: u64) {
        let half = |&(time, skb, seq): &(i64, u64, Option<u32>)| match seq {
            None => (stamp(time), SplitArrival::Pending { skb }),
            Some(seq) => {
                (stamp(time), SplitArrival::Completes { skb, packet: (seq > 0).then(|| packet(seq)) })
            }
        };
        let expect: Vec<_> = received.iter().map(|&(time, seq)| (stamp(time), packet(seq))).collect();
        let mut at_once = ArrivalJoiner::default();
        at_once.add(halves.iter().map(half));
        assert_eq!((at_once.before(RawNs::MAX), at_once.lost()), (expect.clone(), lost));
        // Instant by instant.
        let (mut joiner, mut found) = (ArrivalJoiner::default(), Vec::new());
        for instant in 0..40 {
            joiner.add(halves.iter().filter(|half| half.0 == instant).map(half));
            found.extend(joiner.before(RawNs(instant + 1)));
        }
        assert_eq!((found, joiner.lost()), (expect, lost));
    }

    #[test]
    fn the_time_is_that_of_the_device() {
        check(&[(10, 1, None), (12, 2, None), (15, 2, Some(7)), (19, 1, Some(8))], &[(12, 7), (10, 8)], 0);
    }

    #[test]
    fn another_cpu_may_complete() {
        // The first stream holds the completion, the second the reception.
        check(&[(15, 1, Some(7)), (10, 1, None)], &[(10, 7)], 0);
        // At one time, what the first stream says comes first.
        check(&[(10, 1, None), (10, 1, Some(7))], &[(10, 7)], 0);
    }

    #[test]
    fn the_latest_packet_in_a_buffer_counts() {
        check(&[(10, 1, None), (20, 1, None), (25, 1, Some(7)), (26, 1, Some(8))], &[(20, 7)], 1);
    }

    #[test]
    fn what_is_not_matched_frees_its_buffer() {
        check(&[(10, 1, None), (11, 1, Some(0)), (12, 1, Some(7)), (13, 2, Some(0))], &[], 1);
    }

    #[test]
    fn the_oldest_is_forgotten() {
        let mut receptions = Receptions::with_capacity(3);
        for skb in [1, 2, 1, 3, 4] {
            receptions.received(skb, stamp(skb as i64 * 10));
        }
        assert_eq!(receptions.waiting.len(), 3);
        let completed = [1, 2, 3, 4].map(|skb| receptions.completed(skb).map(|stamp| stamp.time.ns()));
        assert_eq!(completed, [Some(10), None, Some(30), Some(40)]);
    }
}
