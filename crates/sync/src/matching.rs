//! Pairing sightings to messages.
//!
//! A key that was seen leaving one host once and arriving at another once is a message. Everything else is counted and
//! left out: with two departures or two arrivals of one key (a retransmission without an IP id, the same packet on two
//! devices) it is not certain which belong together, and one wrong pair falsifies every bound.

use std::collections::HashMap;

use crate::record::{Direction, Packet, Sighting};

/// A packet that left one host and arrived at another. Times are raw ns of the clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    /// Clock of the sender.
    pub sender: usize,
    /// When it left.
    pub sent: i64,
    /// Clock of the receiver.
    pub receiver: usize,
    /// When it arrived.
    pub received: i64,
}

/// What the matching of all sightings gave.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// The messages, sorted.
    pub messages: Vec<Message>,
    /// Per ordered pair `(sender, receiver)`: keys seen at both, but more than once at one of them.
    pub ambiguous: HashMap<(usize, usize), u64>,
    /// Sightings that no sighting on another host answers.
    pub unmatched: u64,
}

/// Collects sightings in any order.
#[derive(Debug, Default)]
pub struct Matcher {
    keys: HashMap<Packet, Sightings>,
}

/// Where a key was seen. Nearly all keys are seen twice.
#[derive(Debug, Default)]
struct Sightings {
    sent: Vec<(usize, i64)>,
    received: Vec<(usize, i64)>,
}

impl Matcher {
    /// Adds a sighting; `O(1)`.
    pub fn add(&mut self, sighting: Sighting) {
        let seen = self.keys.entry(sighting.packet).or_default();
        let side = match sighting.direction {
            Direction::Sent => &mut seen.sent,
            Direction::Received => &mut seen.received,
        };
        side.push((sighting.clock, sighting.time));
    }

    /// Pairs what was added; `O(n log n)`. The result does not depend on the order of adding.
    pub fn finish(self) -> Matches {
        let mut matches = Matches::default();
        for mut seen in self.keys.into_values() {
            seen.merge_repeated();
            settle(&seen, &mut matches);
        }
        matches.messages.sort_unstable();
        matches
    }
}

impl Sightings {
    /// One sighting in two overlapping traces of a host is one sighting.
    fn merge_repeated(&mut self) {
        for side in [&mut self.sent, &mut self.received] {
            side.sort_unstable();
            side.dedup();
        }
    }
}

/// Judges all sightings of one key, sorted: those of one clock are neighbours.
fn settle(seen: &Sightings, matches: &mut Matches) {
    let same_clock = |(a, _): &(usize, i64), (b, _): &(usize, i64)| a == b;
    // Forwarding hosts send what they received: which departure an arrival belongs to is not certain.
    let one_sender = seen.sent.chunk_by(same_clock).nth(1).is_none();
    let mut answered = false;
    for arrivals in seen.received.chunk_by(same_clock) {
        for departures in seen.sent.chunk_by(same_clock) {
            let ((sender, sent), (receiver, received)) = (departures[0], arrivals[0]);
            if sender == receiver {
                continue;
            }
            answered = true;
            if one_sender && departures.len() == 1 && arrivals.len() == 1 {
                matches.messages.push(Message { sender, sent, receiver, received });
            } else {
                *matches.ambiguous.entry((sender, receiver)).or_default() += 1;
            }
        }
    }
    if !answered {
        matches.unmatched += (seen.sent.len() + seen.received.len()) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Segment, Transport};

    fn packet(seq: u32) -> Packet {
        let segment = Segment { ports: None, seq, ack: 0, flags: 0, known_flags: 0, payload: None };
        Packet { addresses: None, transport: Transport::Tcp(segment), ip_id: None }
    }

    /// Sightings as `(seq, direction, clock, time)`.
    fn check(sightings: &[(u32, char, usize, i64)], messages: &[(usize, i64, usize, i64)], ambiguous: u64) {
        let mut forward = Matcher::default();
        let mut backward = Matcher::default();
        let all: Vec<Sighting> = sightings
            .iter()
            .map(|&(seq, way, clock, time)| Sighting {
                clock,
                time,
                direction: if way == '>' { Direction::Sent } else { Direction::Received },
                packet: packet(seq),
            })
            .collect();
        all.iter().cloned().for_each(|s| forward.add(s));
        all.into_iter().rev().for_each(|s| backward.add(s));
        let matches = forward.finish();
        assert_eq!(matches, backward.finish(), "the order of arrival must not matter");
        let found: Vec<_> =
            matches.messages.iter().map(|m| (m.sender, m.sent, m.receiver, m.received)).collect();
        assert_eq!(found, messages);
        assert_eq!(matches.ambiguous.values().sum::<u64>(), ambiguous);
    }

    #[test]
    fn a_departure_and_an_arrival_are_a_message() {
        check(
            &[(1, '>', 0, 10), (1, '<', 1, 500), (2, '>', 1, 510), (2, '<', 0, 30)],
            &[(0, 10, 1, 500), (1, 510, 0, 30)],
            0,
        );
    }

    #[test]
    fn loopback_is_no_message() {
        check(&[(1, '>', 0, 10), (1, '<', 0, 11)], &[], 0);
    }

    #[test]
    fn a_retransmission_is_ambiguous() {
        check(&[(1, '>', 0, 10), (1, '>', 0, 210), (1, '<', 1, 500)], &[], 1);
        check(&[(1, '>', 0, 10), (1, '<', 1, 500), (1, '<', 1, 501)], &[], 1);
    }

    #[test]
    fn a_sighting_in_two_traces_is_one() {
        check(&[(1, '>', 0, 10), (1, '>', 0, 10), (1, '<', 1, 500), (1, '<', 1, 500)], &[(0, 10, 1, 500)], 0);
    }

    #[test]
    fn every_receiver_of_a_broadcast_counts() {
        check(&[(1, '>', 0, 10), (1, '<', 1, 500), (1, '<', 2, 77)], &[(0, 10, 1, 500), (0, 10, 2, 77)], 0);
    }

    #[test]
    fn a_forwarded_packet_is_ambiguous() {
        check(&[(1, '>', 0, 10), (1, '<', 1, 500), (1, '>', 1, 501), (1, '<', 2, 77)], &[], 3);
    }

    #[test]
    fn unanswered_sightings_are_counted() {
        let mut matcher = Matcher::default();
        matcher.add(Sighting { clock: 0, time: 1, direction: Direction::Sent, packet: packet(1) });
        assert_eq!(matcher.finish(), Matches { unmatched: 1, ..Matches::default() });
    }
}
