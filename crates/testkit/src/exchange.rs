//! Requests and answers between two steered clocks: when they are sent, and how long they take.
//!
//! Simpler than [`crate::connection`], which simulates packets: here only the times of messages matter, and what makes them
//! hard to use for a synchronization: silences, and congestion of one direction. [`crate::steered_cluster`] draws them.

use crate::clock::SimClock;
use crate::random::Random;

/// `(sender, raw time of sending, receiver, raw time of arrival)`.
pub type SimMessage = (usize, i64, usize, i64);

const NS_PER_S: i64 = 1_000_000_000;
/// Least delays of a direction, ns.
const FLOORS_NS: (u64, u64) = (15_000, 300_000);
/// Means of what comes on top of them, ns.
const MEANS_NS: (u64, u64) = (10_000, 400_000);
/// Messages in a second.
const RATES: (u64, u64) = (1, 1_000);
/// Mean time until a request is answered, ns.
const ANSWER_NS: u64 = 200_000;
/// So many of a thousand delays are longer, …
const TAIL_PERMILLE: u32 = 20;
/// … what comes on top of the least delay so many times.
const TAIL_FACTOR: i64 = 20;
/// However few messages there are in a second, there are so many rounds.
const FEWEST_ROUNDS: i64 = 20;

/// One direction takes longer for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Congestion {
    /// 0: that of the requests, 1: that of the answers.
    pub direction: usize,
    /// Begin, ns of true time.
    pub from_ns: i64,
    /// End, ns of true time.
    pub to_ns: i64,
    /// How much longer the least delay is meanwhile.
    pub by_ns: i64,
}

/// Rounds of request and answer between two hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// Index of the host that asks.
    pub asks: usize,
    /// Index of the host that answers.
    pub answers: usize,
    /// From one request to the next, about, ns.
    pub every_ns: i64,
    /// Least delay of requests and of answers, without congestion, ns.
    pub floors_ns: [i64; 2],
    /// Mean of the exponentially distributed rest of a delay, ns.
    pub mean_extra_ns: u64,
    /// Begin and end of spans of true time without a request, ns.
    pub silences: Vec<(i64, i64)>,
    /// If there is any.
    pub congestion: Option<Congestion>,
}

impl Exchange {
    /// An exchange during a trace of so many seconds, with at most so many messages.
    pub fn random([asks, answers]: [usize; 2], seconds: u64, most: u64, random: &mut Random) -> Self {
        let span = seconds as i64 * NS_PER_S;
        let fastest = span / (most / 2).max(1) as i64 + 1;
        let every = 2 * NS_PER_S / random.within(RATES) as i64;
        Self {
            asks,
            answers,
            every_ns: every.min(span / FEWEST_ROUNDS).max(fastest),
            floors_ns: floors(random),
            mean_extra_ns: random.within(MEANS_NS),
            silences: if random.permille(333) { silences(span, random) } else { Vec::new() },
            congestion: random.permille(333).then(|| congestion(span, random)),
        }
    }

    /// The messages of a trace, by the clocks of the host that asks and of the one that answers. A host that stands still
    /// sends and receives when it goes on.
    pub fn messages(&self, clocks: [&SimClock; 2], seconds: u64, random: &mut Random) -> Vec<SimMessage> {
        let mut messages = Vec::new();
        let rounds = (0..seconds as i64 * NS_PER_S).step_by(self.every_ns.max(1) as usize);
        for begin in rounds {
            // Not at equal distances: what is regular could hide behind the regular acts of a daemon.
            let asked = clocks[0].awake(begin + random.below(self.every_ns as u64 / 5 + 1) as i64);
            if self.silences.iter().any(|silence| (silence.0..silence.1).contains(&asked)) {
                continue;
            }
            let heard = clocks[1].awake(asked + self.delay(0, asked, random));
            let answered = clocks[1].awake(heard + random.exponential(ANSWER_NS));
            let back = clocks[0].awake(answered + self.delay(1, answered, random));
            let raw = |clock: usize, at: i64| clocks[clock].raw(at);
            messages.push((self.asks, raw(0, asked), self.answers, raw(1, heard)));
            messages.push((self.answers, raw(1, answered), self.asks, raw(0, back)));
        }
        messages
    }

    fn delay(&self, direction: usize, sent: i64, random: &mut Random) -> i64 {
        let extra = random.exponential(self.mean_extra_ns);
        let extra = if random.permille(TAIL_PERMILLE) { extra * TAIL_FACTOR } else { extra };
        let congested = self
            .congestion
            .filter(|c| c.direction == direction && (c.from_ns..c.to_ns).contains(&sent))
            .map_or(0, |c| c.by_ns);
        self.floors_ns[direction] + extra + congested
    }
}

/// Nearly the same both ways; in a tenth of the cases one way takes up to four times as long.
fn floors(random: &mut Random) -> [i64; 2] {
    let one = random.within(FLOORS_NS) as i64;
    let percent = if random.permille(100) { 100 + random.below(301) } else { 100 + random.below(31) };
    let longest = FLOORS_NS.1 as i64;
    let other = one * percent as i64 / 100;
    // What would be too long is shortened, and the other with it.
    let [one, other] = if other > longest { [longest * 100 / percent as i64, longest] } else { [one, other] };
    if random.permille(500) { [one, other] } else { [other, one] }
}

/// One to three pauses of 1 to 20 % of the trace each.
fn silences(span: i64, random: &mut Random) -> Vec<(i64, i64)> {
    let count = 1 + random.below(3);
    let mut silence = |_| {
        let length = span / 1_000 * (10 + random.below(191) as i64);
        let begin = random.below((span - length) as u64) as i64;
        (begin, begin + length)
    };
    (0..count).map(&mut silence).collect()
}

/// For 5 to 20 % of the trace, by 0.2 to 2 ms.
fn congestion(span: i64, random: &mut Random) -> Congestion {
    let length = span / 1_000 * (50 + random.below(151) as i64);
    let from_ns = random.below((span - length) as u64) as i64;
    let by_ns = random.within((200_000, 2_000_000)) as i64;
    Congestion { direction: random.below(2) as usize, from_ns, to_ns: from_ns + length, by_ns }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(seed: u64) -> (Exchange, u64, Vec<SimMessage>) {
        let mut random = Random::new(seed);
        let seconds = random.within((10, 1_200));
        let exchange = Exchange::random([4, 2], seconds, 3_000, &mut random);
        // Clocks that show true time: delays can be seen in the messages.
        let clocks = [SimClock::new(0, 0), SimClock::new(0, 0)];
        let messages = exchange.messages([&clocks[0], &clocks[1]], seconds, &mut random);
        (exchange, seconds, messages)
    }

    #[test]
    fn exchanges_are_as_promised() {
        let (mut lopsided, mut silent, mut congested) = (0, 0, 0);
        for seed in 0..300 {
            let (exchange, seconds, messages) = drawn(seed);
            assert!((4..=3_000).contains(&messages.len()), "{}", messages.len());
            let [least, most] = [exchange.floors_ns.iter().min(), exchange.floors_ns.iter().max()];
            let (least, most) = (*least.unwrap(), *most.unwrap());
            assert!(most <= 300_000 && most <= 4 * least + 4, "{least} {most}");
            lopsided += usize::from(most * 10 > least * 14);
            silent += usize::from(!exchange.silences.is_empty());
            congested += usize::from(exchange.congestion.is_some());
            for silence in &exchange.silences {
                let share = (silence.1 - silence.0) / (seconds as i64 * 10_000_000);
                assert!((0..=20).contains(&share), "{share}");
            }
        }
        assert!((15..45).contains(&lopsided), "{lopsided}");
        assert!((75..125).contains(&silent) && (75..125).contains(&congested), "{silent} {congested}");
    }

    #[test]
    fn no_message_is_faster_than_its_floor() {
        for seed in 0..100 {
            let (exchange, _, messages) = drawn(seed);
            let mut longer = 0;
            for &(from, sent, to, received) in &messages {
                assert_eq!(from + to, 6);
                let direction = usize::from(from == 2);
                let congested = exchange
                    .congestion
                    .is_some_and(|c| c.direction == direction && (c.from_ns..c.to_ns).contains(&sent));
                let floor = exchange.floors_ns[direction]
                    + exchange.congestion.filter(|_| congested).map_or(0, |c| c.by_ns);
                assert!(received - sent >= floor, "seed {seed}");
                longer += usize::from(received - sent > floor + 8 * exchange.mean_extra_ns as i64);
                let asked = from == 4;
                assert!(!asked || exchange.silences.iter().all(|s| !(s.0..s.1).contains(&sent)));
            }
            assert!(longer * 20 < messages.len(), "{longer} of {}", messages.len());
        }
    }

    #[test]
    fn a_host_that_stands_still_sends_nothing() {
        let mut random = Random::new(1);
        let exchange = Exchange { silences: Vec::new(), ..Exchange::random([0, 1], 20, 2_000, &mut random) };
        let stopped = SimClock::new(0, 0).stop(5 * NS_PER_S, NS_PER_S);
        let messages = exchange.messages([&stopped, &SimClock::new(0, 0)], 20, &mut random);
        let during = 5 * NS_PER_S..6 * NS_PER_S;
        // The other clock shows true time.
        assert!(messages.iter().all(|m| m.0 == 0 || !during.contains(&m.1) || m.3 == 5 * NS_PER_S));
        assert!(messages.iter().filter(|m| m.0 == 0).all(|m| !during.contains(&m.3)));
    }
}
