//! How good a synchronization is, by the messages themselves: what LTTV's analysis `eval` (Poirier, 2009)
//! says.
//!
//! A message that is received before it was sent shows that clocks are not on one; one that is faster than
//! half of the least round trip that was measured shows it, too. Latencies of both directions are counted by
//! size, and the least round trips of each pair are found from exchanges, which need no common clock. Nothing
//! here estimates. [`floors`] reads measured round trips; `isochrone sync eval` shows the result.
//!
//! Memory: a fixed size for each pair of hosts, and what [`isochrone_matching::exchanges`] keeps.

pub mod floors;

use std::collections::BTreeMap;

use floors::Floors;

use isochrone_matching::exchanges::{Exchange, Exchanges};
use isochrone_matching::{Matched, Message};

/// Classes of latencies in a decade.
const PER_DECADE: u32 = 5;
/// Upper end of the lowest class, ns.
const MIN_CLASS_NS: u64 = 100;
/// Decades: to 100 s.
const DECADES: u32 = 9;

/// The messages from one host to another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Way {
    /// Number of messages.
    pub messages: u64,
    /// Received at the time at which they were sent, or before.
    pub inverted: u64,
    /// Of the others, those that took less than half of the measured round trip.
    pub too_fast: u64,
    /// Messages without a measured round trip.
    pub unmeasured: u64,
    /// The least latency, ns.
    pub least_ns: Option<i64>,
    /// The greatest latency, ns.
    pub greatest_ns: Option<i64>,
    /// Sum of all latencies, ns.
    pub sum_ns: i128,
    /// By class of latency: how many that are positive.
    pub classes: Vec<u64>,
}

/// The exchanges of two hosts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RoundTrips {
    /// Number of exchanges.
    pub count: u64,
    /// The least time that both messages of one took, ns.
    pub least_ns: Option<i64>,
    /// The least measured round trip, ns.
    pub given_ns: Option<i64>,
}

/// The messages of all directions, by sender and receiver.
pub type Ways = BTreeMap<(usize, usize), Way>;

/// The exchanges of all pairs of hosts, the lower number first.
pub type AllRoundTrips = BTreeMap<(usize, usize), RoundTrips>;

/// Statistics of the messages of a synchronization. Clocks have the numbers that messages have.
#[derive(Debug, Default)]
pub struct Evaluation {
    floors: Floors,
    ways: Ways,
    round_trips: AllRoundTrips,
    exchanges: Exchanges,
}

impl Evaluation {
    /// With measured least round trips.
    pub fn new(floors: Floors) -> Self {
        Self { floors, ..Self::default() }
    }

    /// Takes a message and its latency on the common clock, ns; `None` where the clocks of its hosts cannot
    /// be compared.
    pub fn add(&mut self, matched: &Matched, latency_ns: Option<i64>) {
        let message = matched.message();
        let given = self.floors.of((message.sender, message.receiver), Some(&matched.received.key));
        self.count(message, latency_ns, given);
        let round_trips = &mut self.round_trips;
        self.exchanges.add(matched, &mut |exchange| complete(round_trips, &exchange));
    }

    /// The same for a message of a list.
    pub fn add_listed(&mut self, message: Message, numbers: Option<(u32, u32)>, latency_ns: Option<i64>) {
        let given = self.floors.of((message.sender, message.receiver), None);
        self.count(message, latency_ns, given);
        let round_trips = &mut self.round_trips;
        self.exchanges.add_listed(message, numbers, &mut |exchange| complete(round_trips, &exchange));
    }

    fn count(&mut self, message: Message, latency_ns: Option<i64>, given: Option<i64>) {
        let Message { sender, receiver, .. } = message;
        let way = self.ways.entry((sender, receiver)).or_default();
        way.messages += 1;
        way.unmeasured += u64::from(given.is_none());
        if let Some(given) = given {
            let pair = self.round_trips.entry((sender.min(receiver), sender.max(receiver))).or_default();
            pair.given_ns = Some(pair.given_ns.map_or(given, |known| known.min(given)));
        }
        let Some(latency) = latency_ns else { return };
        way.least_ns = Some(way.least_ns.map_or(latency, |least| least.min(latency)));
        way.greatest_ns = Some(way.greatest_ns.map_or(latency, |greatest| greatest.max(latency)));
        way.sum_ns += i128::from(latency);
        if latency <= 0 {
            way.inverted += 1;
            return;
        }
        way.too_fast += u64::from(given.is_some_and(|given| i128::from(latency) * 2 < i128::from(given)));
        way.classes.resize(class_count(), 0);
        way.classes[class_of(latency as u64)] += 1;
    }

    /// All messages have come: the ways and the round trips, by pairs of hosts.
    pub fn finish(mut self) -> (Ways, AllRoundTrips) {
        let round_trips = &mut self.round_trips;
        self.exchanges.finish(&mut |exchange| complete(round_trips, &exchange));
        (self.ways, self.round_trips)
    }
}

fn complete(round_trips: &mut AllRoundTrips, exchange: &Exchange) {
    let (a, b) = (exchange.first.min(exchange.second), exchange.first.max(exchange.second));
    let found = round_trips.entry((a, b)).or_default();
    let took = exchange.round_trip_ns();
    found.count += 1;
    found.least_ns = Some(found.least_ns.map_or(took, |least| least.min(took)));
}

/// Number of classes of latencies.
fn class_count() -> usize {
    (PER_DECADE * DECADES) as usize + 1
}

/// The class of a latency: the first whose upper end is not below it.
fn class_of(latency: u64) -> usize {
    (0..class_count() - 1)
        .find(|&class| class_end(class).is_some_and(|end| latency <= end))
        .unwrap_or(class_count() - 1)
}

/// The greatest latency of a class, ns; nothing for the last one, which holds all that are greater.
pub fn class_end(class: usize) -> Option<u64> {
    /// 10^(1/5), 10^(2/5), …, to what is shown.
    const STEPS: [u64; PER_DECADE as usize] = [100, 158, 251, 398, 631];
    let (decade, step) = (class as u32 / PER_DECADE, class % PER_DECADE as usize);
    (decade < DECADES).then(|| STEPS[step] * MIN_CLASS_NS / 100 * 10_u64.pow(decade))
}

#[cfg(test)]
mod tests {
    use isochrone_time::RawNs;

    use super::*;

    #[test]
    fn latencies_fall_into_classes() {
        let check = |latency, expect_end: Option<u64>| {
            assert_eq!(class_end(class_of(latency)), expect_end, "{latency}");
        };
        check(1, Some(100));
        check(100, Some(100));
        check(101, Some(158));
        check(1000, Some(1000));
        check(700_000, Some(1_000_000));
        check(63_100_000_000, Some(63_100_000_000));
        check(63_100_000_001, None);
        assert!((1..class_count() - 1).all(|class| class_end(class) > class_end(class - 1)));
    }

    #[test]
    fn messages_are_judged_by_what_was_measured() {
        let floors = Floors::parse("0 1 0.2 # ms\n", "rtt".as_ref()).unwrap();
        let floors = floors.for_hosts(&["0".to_owned(), "1".to_owned(), "2".to_owned()]);
        let mut evaluation = Evaluation::new(floors);
        for (sender, receiver, latency) in
            [(0, 1, 100_000), (0, 1, 99_999), (0, 1, 0), (1, 0, -5), (1, 0, 300), (0, 2, 7)]
        {
            let (sent, received) = (RawNs(1000), RawNs(1000 + latency));
            let message = Message { sender, sent, receiver, received };
            evaluation.add_listed(message, None, Some(latency));
        }
        let (ways, round_trips) = evaluation.finish();
        let of = |way: (usize, usize)| {
            let Way { messages, inverted, too_fast, unmeasured, .. } = ways[&way];
            (messages, inverted, too_fast, unmeasured)
        };
        assert_eq!(of((0, 1)), (3, 1, 1, 0));
        // What was measured from the other end is good for this one, where nothing else is.
        assert_eq!(of((1, 0)), (2, 1, 1, 0));
        assert_eq!(of((0, 2)), (1, 0, 0, 1));
        assert_eq!(round_trips[&(0, 1)].given_ns, Some(200_000));
        assert_eq!((ways[&(0, 1)].least_ns, ways[&(0, 1)].greatest_ns), (Some(0), Some(100_000)));
    }
}
