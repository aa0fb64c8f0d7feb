//! Messages between hosts, and those of MPI programs: the rows that sent and received them, on either clock,
//! and the bounds of their times.

use std::collections::{BTreeMap, BTreeSet};

use isochrone_corrections::picture::between;
use isochrone_store::{MessageEnd, MpiMessage, MpiMessageEnd, StoreError};
use isochrone_time::{RawNs, SinceOrigin, Window};
use rustc_hash::FxHashMap;
use serde::{Serialize, Serializer};

use super::{Clock, ExperimentView, get_or_make};
use crate::error::Result as ApiResult;

/// A message, in about the order of their sends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message {
    /// Indices of the hosts.
    pub(crate) hosts: [u16; 2],
    /// Rows: of the thread that ran, else of the CPU, else of the host.
    pub(crate) rows: [u32; 2],
    /// Raw times of both ends.
    raw: [RawNs; 2],
    /// Times of both ends on the common clock.
    pub(crate) common: [SinceOrigin; 2],
}

impl Message {
    /// The raw time of an end: 0 of the send, 1 of the reception.
    pub(crate) fn raw(&self, end: usize) -> RawNs {
        self.raw[end]
    }

    /// Whether it was sent from one host to another.
    pub(crate) fn is_between(&self, from: usize, to: usize) -> bool {
        self.hosts.map(usize::from) == [from, to]
    }
}

/// All messages of an experiment, read at the first request for them. They take 48 bytes each.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    /// The packets between hosts.
    pub(crate) all: Vec<Message>,
    /// Those of MPI programs, within hosts, too.
    pub(crate) mpi: Vec<Message>,
    /// Those of packets.
    pub(crate) counts: MessageCounts,
}

/// How many packets between hosts there are, and how many arrive before they are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct MessageCounts {
    count: usize,
    /// Inverted on the hosts' own clocks.
    inverted_own: usize,
    /// Inverted on the common clock.
    inverted: usize,
}

/// The host, the row and the raw time of an end.
type End = (usize, u32, RawNs);

/// A message as it is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Arrow {
    /// From and to.
    pub(crate) rows: [u32; 2],
    /// Sent and received.
    pub(crate) times: [SinceOrigin; 2],
    bounds: Option<(i64, i64, i64)>,
}

impl Arrow {
    /// Whether it is received before it is sent.
    pub(crate) fn is_inverted(&self) -> bool {
        self.times[1] < self.times[0]
    }
}

impl Serialize for Arrow {
    /// As the list of numbers that `docs/page-api.md` describes: there are very many of them.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ([from, to], [sent, received], bounds) = (self.rows, self.times, self.bounds);
        let (lo, hi, likely) = (bounds.map(|it| it.0), bounds.map(|it| it.1), bounds.map(|it| it.2));
        (from, to, sent, received, likely, lo, hi, u8::from(self.is_inverted())).serialize(serializer)
    }
}

impl Messages {
    /// Reads all messages. `O(n log n)` in them, and linear in the threads of hosts with MPI programs.
    fn new(view: &ExperimentView<'_>) -> Result<Self, StoreError> {
        let hosts: FxHashMap<u32, usize> =
            view.hosts.iter().enumerate().map(|(index, host)| (host.number, index)).collect();
        let end = |end: MessageEnd| {
            let host = *hosts.get(&end.host)?;
            let of_thread = end.thread.and_then(|thread| view.rows.of_thread(host, thread));
            // Idle tasks have no row: then it is what the CPU did.
            Some((host, of_thread.unwrap_or_else(|| view.rows.of_cpu(host, end.cpu)), end.at))
        };
        let mut all = Vec::new();
        view.store.messages(|message| {
            all.extend(end(message.sent()).zip(end(message.received())).map(|ends| view.message(ends)));
        })?;
        let inverted = |clock| {
            let times = all.iter().map(|message| view.times_of(message, clock));
            times.filter(|[sent, received]| received < sent).count()
        };
        let counts = MessageCounts {
            count: all.len(),
            inverted_own: inverted(Clock::Own),
            inverted: inverted(Clock::Common),
        };
        Ok(Self { all: sorted(all), mpi: of_mpi(view, &hosts)?, counts })
    }
}

/// Messages by time.
fn sorted(mut all: Vec<Message>) -> Vec<Message> {
    all.sort_by_key(|message| (message.common, message.rows));
    all
}

/// The messages of MPI programs between threads that have rows. `hosts`: indices by number. Linear in them
/// and in the threads of all hosts.
fn of_mpi(view: &ExperimentView<'_>, hosts: &FxHashMap<u32, usize>) -> Result<Vec<Message>, StoreError> {
    let mut found = Vec::new();
    view.store.mpi(|message| found.push(message))?;
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let threads: Vec<_> = view.hosts.iter().map(|host| host.store.threads_by_tid()).collect();
    let end = |end: MpiMessageEnd| {
        let host = *hosts.get(&end.host)?;
        Some((host, view.rows.of_thread(host, *threads[host].get(&end.tid?)?)?, end.at))
    };
    let of = |message: MpiMessage| Some(view.message(end(message.sent()).zip(end(message.received()))?));
    Ok(sorted(found.into_iter().filter_map(of).collect()))
}

/// At most so many of a list, evenly chosen.
pub(super) fn some<T: Copy>(all: &[T], limit: usize) -> Vec<T> {
    let count = all.len().min(limit);
    (0..count).map(|place| all[place * all.len() / count]).collect()
}

impl ExperimentView<'_> {
    /// All messages. Read at the first request for them.
    pub(crate) fn messages(&self) -> ApiResult<&Messages> {
        get_or_make(&self.messages, || Messages::new(self))
    }

    /// Number of messages that each row sent or received in a window on the common clock, those of MPI too.
    pub(crate) fn messages_of_rows(&self, window: Window<SinceOrigin>) -> ApiResult<Vec<(u32, u64)>> {
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        let messages = self.messages()?;
        for message in messages.all.iter().chain(&messages.mpi) {
            for (row, at) in message.rows.into_iter().zip(message.common) {
                if window.start <= at && at <= window.end {
                    *counts.entry(row).or_default() += 1;
                }
            }
        }
        Ok(counts.into_iter().collect())
    }

    /// A message by the host, the row and the raw time of both ends.
    fn message(&self, (sent, received): (End, End)) -> Message {
        let ends = [sent, received];
        Message {
            hosts: ends.map(|(host, ..)| host as u16),
            rows: ends.map(|(_, row, _)| row),
            raw: ends.map(|(.., raw)| raw),
            common: ends.map(|(host, _, raw)| self.at(host, raw, Clock::Common)),
        }
    }

    /// The times at which a message was sent and received, on a clock.
    pub(crate) fn times_of(&self, message: &Message, clock: Clock) -> [SinceOrigin; 2] {
        match clock {
            Clock::Common => message.common,
            Clock::Own => [0, 1].map(|end| self.at(message.hosts[end].into(), message.raw[end], clock)),
        }
    }

    /// The pairs of hosts, by index, between which there are messages: from, to.
    pub(crate) fn directions(&self) -> ApiResult<Vec<(usize, usize)>> {
        let pair = |message: &Message| (usize::from(message.hosts[0]), usize::from(message.hosts[1]));
        let pairs: BTreeSet<(usize, usize)> = self.messages()?.all.iter().map(pair).collect();
        Ok(pairs.into_iter().collect())
    }

    /// The messages among some that have an end in a window, or span it, or, with `are_received`, that are
    /// received in it, as the command lists them: their number, that of those that arrive before they were
    /// sent, and `limit` of them, by time: those, and of the others, evenly chosen, as many as there is room
    /// for. Linear in the messages.
    pub(crate) fn arrows(
        &self,
        messages: &[Message],
        window: Window<SinceOrigin>,
        clock: Clock,
        are_received: bool,
        limit: usize,
    ) -> (usize, usize, Vec<Arrow>) {
        let inside: Vec<(&Message, [SinceOrigin; 2])> = messages
            .iter()
            .map(|message| (message, self.times_of(message, clock)))
            .filter(|(_, [sent, received])| match are_received {
                true => window.start <= *received && *received < window.end,
                false => *sent.min(received) < window.end && *sent.max(received) >= window.start,
            })
            .collect();
        let is_inverted = |place: &usize| inside[*place].1[1] < inside[*place].1[0];
        let (inverted, others): (Vec<usize>, Vec<usize>) = (0..inside.len()).partition(is_inverted);
        let mut chosen = some(&inverted, limit);
        chosen.extend(some(&others, limit.saturating_sub(chosen.len())));
        chosen.sort_unstable();
        let arrow = |place: usize| {
            let (message, times) = inside[place];
            Arrow { rows: message.rows, times, bounds: self.bounds(message, clock) }
        };
        (inside.len(), inverted.len(), chosen.into_iter().map(arrow).collect())
    }

    /// The distance of the reception of a message from where it is drawn, on the clock of the sender, ns:
    /// proven bounds, likely error. `None` on the hosts' own clocks, and where nothing is proven.
    pub(crate) fn bounds(&self, message: &Message, clock: Clock) -> Option<(i64, i64, i64)> {
        let clocks = self.opened.clocks().filter(|_| clock == Clock::Common)?;
        let of = |end: usize| self.hosts[usize::from(message.hosts[end])].timing.clock();
        between(clocks, of(1)?, of(0)?, message.raw[1])
    }
}
