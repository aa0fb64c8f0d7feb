//! Exchanges: a message from one host to another, and one back that answers it. They show round trips, and
//! LTTV's regression is made of them.
//!
//! Of TCP an answer acknowledges what it answers, as LTTV has it: the last segment of the connection whose
//! sequence number is below the answer's acknowledgement number. In a list of messages without such numbers,
//! an answer is the next message back. Used by `isochrone-sync` for `linreg`, and by its `evaluation`.
//!
//! Messages come in no order, so those of a pair of hosts wait until they can be sorted: at most
//! `MAX_WAITING` of each.

use std::collections::{BTreeMap, HashMap, VecDeque};

use isochrone_net::{flags, known, protocol};
use isochrone_time::RawNs;

use crate::matcher::{Matched, Message};

/// Messages of a pair that wait to be sorted; of more, the earlier half is looked at. More than a matching
/// gives out of order.
const MAX_WAITING: usize = 1 << 16;
/// Messages of a connection that wait for their answer; of more, the earliest is forgotten.
const MAX_UNANSWERED: usize = 256;
/// Connections of a pair with messages that wait for their answer; of more, all are forgotten.
const MAX_CONNECTIONS: usize = 1 << 14;
/// How far an acknowledgement may be ahead of what it acknowledges where connections cannot be distinguished:
/// a large window.
const WINDOW: u32 = 1 << 21;

/// A message and its answer, each time on the clock of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// The clock of the host that began.
    pub first: usize,
    /// The clock of the host that answered.
    pub second: usize,
    /// When the message left, on `first`.
    pub sent: RawNs,
    /// When it arrived, on `second`.
    pub received: RawNs,
    /// When the answer left, on `second`.
    pub answered: RawNs,
    /// When that arrived, on `first`.
    pub returned: RawNs,
}

impl Exchange {
    /// How long both messages were on their ways, ns: the same on all clocks that run at one rate.
    pub fn round_trip_ns(&self) -> i64 {
        (self.returned - self.sent).saturating_sub(self.answered - self.received)
    }
}

/// What a message says of those before it. The order is that in which they are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    message: Message,
    /// Identifies the connection; the same in both directions.
    connection: Connection,
    numbers: Option<Numbers>,
}

/// Two ports, the lower first; nothing where they are not known.
type Connection = Option<(u16, u16)>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Numbers {
    seq: u32,
    /// Nothing where the message acknowledges nothing.
    ack: Option<u32>,
    /// Whether it will be acknowledged.
    is_acknowledged: bool,
}

/// Finds exchanges among messages as they come.
#[derive(Debug, Default)]
pub struct Exchanges {
    pairs: BTreeMap<(usize, usize), Pair>,
}

#[derive(Debug, Default)]
struct Pair {
    waiting: Vec<Part>,
    /// By connection and whether the lower clock sent them.
    unanswered: HashMap<(Connection, bool), VecDeque<Part>>,
}

/// Where exchanges go.
pub type ExchangeSink<'s> = &'s mut dyn FnMut(Exchange);

impl Exchanges {
    /// Takes a message between hosts as the matching gives it out. `O(1)` almost always.
    pub fn add(&mut self, matched: &Matched, sink: ExchangeSink<'_>) {
        let key = &matched.received.key;
        if key.protocol != protocol::TCP {
            return;
        }
        let (low, high) = (key.ports.0.min(key.ports.1), key.ports.0.max(key.ports.1));
        let carries = key.size > 0 || key.flags & (flags::SYN | flags::FIN) != 0 || !key.knows(known::SIZE);
        let numbers = Numbers {
            seq: key.seq(),
            ack: (key.flags & flags::ACK != 0).then(|| key.ack()),
            is_acknowledged: carries,
        };
        let connection = key.knows(known::PORTS).then_some((low, high));
        self.take(Part { message: matched.message(), connection, numbers: Some(numbers) }, sink);
    }

    /// Takes a message of a list, with its sequence number and its acknowledgement number where the list has
    /// them (0: none).
    pub fn add_listed(&mut self, message: Message, numbers: Option<(u32, u32)>, sink: ExchangeSink<'_>) {
        let numbers =
            numbers.map(|(seq, ack)| Numbers { seq, ack: (ack != 0).then_some(ack), is_acknowledged: true });
        self.take(Part { message, connection: None, numbers }, sink);
    }

    fn take(&mut self, part: Part, sink: ExchangeSink<'_>) {
        let Message { sender, receiver, .. } = part.message;
        let pair = self.pairs.entry((sender.min(receiver), sender.max(receiver))).or_default();
        pair.waiting.push(part);
        if pair.waiting.len() >= MAX_WAITING {
            pair.look(MAX_WAITING / 2, sink);
        }
    }

    /// Looks at all that waits.
    pub fn finish(&mut self, sink: ExchangeSink<'_>) {
        for pair in self.pairs.values_mut() {
            pair.look(usize::MAX, sink);
        }
    }
}

impl Pair {
    /// Looks at the earliest of the messages that wait.
    fn look(&mut self, most: usize, sink: ExchangeSink<'_>) {
        // By the clock of the lower host, on which every message has a time.
        let at = |part: &Part| match part.message.sender < part.message.receiver {
            true => part.message.sent,
            false => part.message.received,
        };
        self.waiting.sort_unstable_by_key(|part| (at(part), *part));
        for part in self.waiting.drain(..most.min(self.waiting.len())) {
            if self.unanswered.len() > MAX_CONNECTIONS {
                self.unanswered.clear();
            }
            let is_low = part.message.sender < part.message.receiver;
            if part.numbers.is_none_or(|numbers| numbers.ack.is_some())
                && let Some(queue) = self.unanswered.get_mut(&(part.connection, !is_low))
                && let Some(answered) = last_answered(queue, &part)
            {
                sink(exchange(&answered, &part));
            }
            if part.numbers.is_none_or(|numbers| numbers.is_acknowledged) {
                let queue = self.unanswered.entry((part.connection, is_low)).or_default();
                if queue.len() == MAX_UNANSWERED {
                    queue.pop_front();
                }
                queue.push_back(part);
            }
        }
    }
}

/// Takes out all that a message answers; the last of it.
fn last_answered(queue: &mut VecDeque<Part>, by: &Part) -> Option<Part> {
    let is_answered = |part: &Part| {
        let numbers = part.numbers.zip(by.numbers);
        part.message.received <= by.message.sent
            && numbers.is_none_or(|(part, by)| by.ack.is_some_and(|ack| is_below(part.seq, ack)))
            && (part.connection.is_some()
                || numbers
                    .is_none_or(|(part, by)| by.ack.is_some_and(|ack| ack.wrapping_sub(part.seq) <= WINDOW)))
    };
    let mut last = None;
    queue.retain(|part| {
        let answered = is_answered(part);
        if answered {
            last = Some(*part);
        }
        !answered
    });
    last
}

/// Whether a sequence number comes before another one; they wrap.
fn is_below(seq: u32, ack: u32) -> bool {
    ack.wrapping_sub(seq).cast_signed() > 0
}

fn exchange(message: &Part, answer: &Part) -> Exchange {
    Exchange {
        first: message.message.sender,
        second: message.message.receiver,
        sent: message.message.sent,
        received: message.message.received,
        answered: answer.message.sent,
        returned: answer.message.received,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sender, sent, received; sequence number and acknowledgement.
    type Listed = (usize, i64, i64, Option<(u32, u32)>);

    fn found(messages: &[Listed]) -> Vec<(usize, i64, i64)> {
        let mut exchanges = Exchanges::default();
        let mut found = Vec::new();
        let mut sink =
            |exchange: Exchange| found.push((exchange.first, exchange.sent.ns(), exchange.round_trip_ns()));
        for &(sender, sent, received, numbers) in messages {
            let (sent, received) = (RawNs(sent), RawNs(received));
            let message = Message { sender, sent, receiver: 1 - sender, received };
            exchanges.add_listed(message, numbers, &mut sink);
        }
        exchanges.finish(&mut sink);
        found
    }

    #[test]
    fn an_answer_acknowledges_the_last_that_it_can() {
        let (first, second, answer) =
            ((0, 0, 10, Some((100, 1))), (0, 3, 14, Some((200, 1))), (1, 20, 40, Some((1, 201))));
        // Both wait; the last one counts.
        assert_eq!(found(&[first, second, answer]), [(0, 3, 31)]);
        // In whatever order they come.
        assert_eq!(found(&[answer, second, first]), [(0, 3, 31)]);
        // It acknowledges the first alone.
        assert_eq!(found(&[first, second, (1, 20, 40, Some((1, 150)))]), [(0, 0, 30)]);
        // It left before the second had arrived.
        assert_eq!(found(&[first, second, (1, 12, 40, Some((1, 201)))]), [(0, 0, 38)]);
        // It acknowledges nothing.
        assert_eq!(found(&[first, second, (1, 20, 40, Some((1, 0)))]), []);
        // Numbers wrap.
        assert_eq!(found(&[(0, 0, 10, Some((u32::MAX - 5, 1))), (1, 20, 40, Some((1, 7)))]), [(0, 0, 30)]);
    }

    #[test]
    fn without_numbers_the_next_message_back_is_the_answer() {
        let messages = [(0, 0, 10, None), (1, 20, 40, None), (1, 22, 41, None), (0, 50, 60, None)];
        assert_eq!(found(&messages), [(0, 0, 30), (1, 22, 29)]);
    }
}
