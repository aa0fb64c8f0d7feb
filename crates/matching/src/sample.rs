//! Some of the messages of each pair of hosts, kept while they are matched: for pictures.
//!
//! Of each direction a fixed number is kept, whatever their number and order: those whose hash is least,
//! which is a sample without a pattern. And of each pair those that bound the clocks ([`Corridor`]), because
//! a picture without them would not show what is proven. All together take a fixed size.

use std::collections::{BTreeMap, BinaryHeap};

use isochrone_clock::{Corridor, HalfHull, MAX_WINDOWS};
use isochrone_time::RawNs;

use crate::matcher::Message;

/// Messages kept of one direction, most.
const MAX_OF_DIRECTION: usize = 4096;
/// Messages kept of one direction, at least, however many hosts there are.
const MIN_OF_DIRECTION: usize = 64;
/// Messages kept of all directions together: 24 bytes each.
const MAX_OF_ALL: usize = 1 << 20;

/// The messages that were kept.
#[derive(Debug, Default)]
pub struct MessageSample {
    pairs: BTreeMap<(usize, usize), PairSample>,
}

/// The messages of two clocks `a < b`.
#[derive(Debug, Default)]
pub struct PairSample {
    corridor: Corridor,
    forth: DirectionSample,
    back: DirectionSample,
}

/// Some messages of one direction.
#[derive(Debug, Default)]
struct DirectionSample {
    count: u64,
    /// Hash, sent, received; the greatest hash first.
    kept: BinaryHeap<(u64, RawNs, RawNs)>,
}

impl MessageSample {
    /// Takes a message. `O(log n)` in what is kept.
    pub fn add(&mut self, message: &Message) {
        let &Message { sender, sent, receiver, received } = message;
        let pair = (sender.min(receiver), sender.max(receiver));
        let known = self.pairs.len();
        self.pairs.entry(pair).or_insert_with(PairSample::limited);
        let most = self.most();
        if self.pairs.len() > known {
            for kept in self.pairs.values_mut() {
                kept.forth.limit(most);
                kept.back.limit(most);
            }
        }
        let Some(kept) = self.pairs.get_mut(&pair) else { return };
        let is_forth = sender < receiver;
        // Times that are out of range bound nothing; they are counted where messages are.
        let _ = match is_forth {
            true => kept.corridor.a_to_b(sent.ns(), received.ns()),
            false => kept.corridor.b_to_a(sent.ns(), received.ns()),
        };
        (if is_forth { &mut kept.forth } else { &mut kept.back }).add(sent, received, most);
    }

    fn most(&self) -> usize {
        (MAX_OF_ALL / (2 * self.pairs.len().max(1))).clamp(MIN_OF_DIRECTION, MAX_OF_DIRECTION)
    }

    /// What was kept, by pairs of clocks.
    pub fn pairs(&self) -> impl Iterator<Item = ((usize, usize), &PairSample)> {
        self.pairs.iter().map(|(&pair, kept)| (pair, kept))
    }
}

impl PairSample {
    fn limited() -> Self {
        Self { corridor: Corridor::new().limited_to(MAX_WINDOWS), ..Self::default() }
    }

    /// Number of messages, kept or not: from a to b, and from b to a.
    pub fn counts(&self) -> (u64, u64) {
        (self.forth.count, self.back.count)
    }

    /// Those of a direction that were kept, by the time at which they were sent: (sent, received).
    pub fn messages(&self, is_forth: bool) -> Vec<(RawNs, RawNs)> {
        let way = if is_forth { &self.forth } else { &self.back };
        let mut messages: Vec<(RawNs, RawNs)> =
            way.kept.iter().map(|&(_, sent, received)| (sent, received)).collect();
        messages.sort_unstable();
        messages
    }

    /// Whether those of a direction are all that there were.
    pub fn is_whole(&self, is_forth: bool) -> bool {
        let way = if is_forth { &self.forth } else { &self.back };
        way.count == way.kept.len() as u64
    }

    /// The half hull of all messages from a to b.
    pub fn upper(&self) -> HalfHull {
        self.corridor.upper()
    }

    /// The half hull of all messages from b to a.
    pub fn lower(&self) -> HalfHull {
        self.corridor.lower()
    }
}

impl DirectionSample {
    fn add(&mut self, sent: RawNs, received: RawNs, most: usize) {
        self.count += 1;
        let hash = hash(sent, received);
        if self.kept.len() < most
            || self.kept.peek().is_some_and(|greatest| (hash, sent, received) < *greatest)
        {
            self.kept.push((hash, sent, received));
            self.limit(most);
        }
    }

    fn limit(&mut self, most: usize) {
        while self.kept.len() > most {
            self.kept.pop();
        }
    }
}

/// The finalizer of `SplitMix64` (Steele, Lea, Flood 2014) over both times.
fn hash(sent: RawNs, received: RawNs) -> u64 {
    let mixed = |word: u64| {
        let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    };
    mixed(mixed(sent.ns().cast_unsigned()).wrapping_add(received.ns().cast_unsigned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(number: i64) -> Message {
        let sent = RawNs(number * 1000);
        Message { sender: 0, sent, receiver: 1, received: sent + 50 + number % 7 }
    }

    fn kept(numbers: impl Iterator<Item = i64>) -> (Vec<(RawNs, RawNs)>, bool, (u64, u64)) {
        let mut sample = MessageSample::default();
        numbers.for_each(|number| sample.add(&message(number)));
        let (_, pair) = sample.pairs().next().unwrap();
        (pair.messages(true), pair.is_whole(true), pair.counts())
    }

    #[test]
    fn few_are_kept_whole_and_many_in_part_in_any_order() {
        let (messages, is_whole, counts) = kept(0..100);
        assert_eq!((messages.len(), is_whole, counts), (100, true, (100, 0)));
        let many = 20_000;
        let (messages, is_whole, counts) = kept(0..many);
        assert_eq!((messages.len(), is_whole, counts), (MAX_OF_DIRECTION, false, (many as u64, 0)));
        assert_eq!(kept((0..many).rev()).0, messages);
        // All of the time is in it.
        let halves = messages.iter().filter(|message| message.0 < RawNs(many * 500)).count();
        assert!((MAX_OF_DIRECTION * 2 / 5..MAX_OF_DIRECTION * 3 / 5).contains(&halves), "{halves}");
    }

    #[test]
    fn of_many_pairs_less_is_kept_of_each() {
        let mut sample = MessageSample::default();
        for number in 0..5000 {
            sample.add(&message(number));
        }
        for other in 2..1000 {
            sample.add(&Message { sender: 0, sent: RawNs(0), receiver: other, received: RawNs(1) });
        }
        let (_, first) = sample.pairs().next().unwrap();
        assert_eq!(first.messages(true).len(), MAX_OF_ALL / (2 * 999));
        assert_eq!(first.upper().len(), first.upper().vertices().len());
        assert!(!first.upper().is_empty() && first.lower().is_empty());
    }
}
