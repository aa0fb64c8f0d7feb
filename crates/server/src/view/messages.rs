//! Messages between hosts, and those of MPI programs: the rows that sent and received them, on either clock,
//! and the bounds of their times.

use std::collections::{BTreeMap, BTreeSet};

use isochrone_corrections::picture::between;
use isochrone_store::{MessageEnd, MpiMessageEnd, StoreError, ThreadRow};
use isochrone_time::{RawNs, SinceOrigin, Window};
use rustc_hash::FxHashMap;
use serde::{Serialize, Serializer};

use super::{Clock, ExperimentView};

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

/// All messages of an experiment. They take 48 bytes each.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    /// The packets between hosts.
    pub(crate) all: Vec<Message>,
    /// Those of MPI programs, within hosts, too.
    pub(crate) mpi: Vec<Message>,
    /// Number of packets that arrive before they are sent, on the hosts' own clocks.
    pub(crate) inverted_own: usize,
    /// Number of packets that arrive before they are sent, on the common clock.
    pub(crate) inverted: usize,
    /// The ranks of the rows that are ends of messages of MPI programs; `None`: several.
    pub(crate) ranks: BTreeMap<u32, Option<i64>>,
}

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
    /// Reads all messages and the threads that sent and received them. `O(n log n)` in the messages.
    pub(super) fn new(view: &ExperimentView<'_>) -> Result<Self, StoreError> {
        let hosts: FxHashMap<u32, usize> =
            view.hosts.iter().enumerate().map(|(index, host)| (host.number, index)).collect();
        let mut ends: Vec<[MessageEnd; 2]> = Vec::new();
        view.store.messages(|message| {
            if hosts.contains_key(&message.sent.host) && hosts.contains_key(&message.received.host) {
                ends.push([message.sent, message.received]);
            }
        })?;
        let runners = runners(view, &hosts, &ends)?;
        let end = |end: &MessageEnd, thread: Option<ThreadRow>| {
            let host = hosts[&end.host];
            let of_thread = thread.and_then(|thread| view.rows.of_thread(host, thread));
            // Idle tasks have no row: then it is what the CPU did.
            (host, of_thread.unwrap_or_else(|| view.rows.of_cpu(host, end.cpu)), end.at)
        };
        let message = |([sent, received], threads): (&[MessageEnd; 2], &[Option<ThreadRow>; 2])| {
            view.message([end(sent, threads[0]), end(received, threads[1])])
        };
        let all = sorted(ends.iter().zip(&runners).map(message));
        let inverted = |clock| {
            let times = all.iter().map(|message| view.times_of(message, clock));
            times.filter(|[sent, received]| received < sent).count()
        };
        let (inverted_own, inverted) = (inverted(Clock::Own), inverted(Clock::Common));
        let (mpi, ranks) = of_mpi(view, &hosts)?;
        Ok(Self { all, mpi, inverted_own, inverted, ranks })
    }
}

/// The threads that ran at the ends of messages, if known. Ends are looked up in the order of time, so that
/// each batch of packets is read about once: `O(n log n)` in the messages, whatever else hosts sent and
/// received. `hosts`: indices by number.
fn runners(
    view: &ExperimentView<'_>,
    hosts: &FxHashMap<u32, usize>,
    ends: &[[MessageEnd; 2]],
) -> Result<Vec<[Option<ThreadRow>; 2]>, StoreError> {
    let mut order: Vec<(usize, usize)> =
        (0..ends.len()).flat_map(|message| [(message, 0), (message, 1)]).collect();
    order.sort_unstable_by_key(|&(message, end)| (ends[message][end].host, ends[message][end].at));
    let mut runners = vec![[None; 2]; ends.len()];
    for (message, end) in order {
        let MessageEnd { host, at, cpu } = ends[message][end];
        let Some(cpu) = cpu else { continue };
        let runner = view.hosts[hosts[&host]].store.runner_at_packet(at, cpu, end == 0)?;
        runners[message][end] = runner.and_then(|runner| runner.thread);
    }
    Ok(runners)
}

/// Messages by time.
fn sorted(messages: impl Iterator<Item = Message>) -> Vec<Message> {
    let mut all: Vec<Message> = messages.collect();
    all.sort_by_key(|message| (message.common, message.rows));
    all
}

/// Messages of MPI programs, and the ranks of their rows.
type OfMpi = (Vec<Message>, BTreeMap<u32, Option<i64>>);

/// The messages of MPI programs between threads that have rows, and their ranks. `hosts`: indices by number.
/// Linear in them and in the threads of all hosts.
fn of_mpi(view: &ExperimentView<'_>, hosts: &FxHashMap<u32, usize>) -> Result<OfMpi, StoreError> {
    let mut ends: Vec<[MpiMessageEnd; 2]> = Vec::new();
    view.store.mpi(|message| ends.push([message.sent, message.received]))?;
    if ends.is_empty() {
        return Ok(OfMpi::default());
    }
    let threads: Vec<_> = view.hosts.iter().map(|host| host.store.threads_by_tid()).collect();
    let end = |end: &MpiMessageEnd| {
        let host = *hosts.get(&end.host)?;
        Some((host, view.rows.of_thread(host, *threads[host].get(&end.tid?)?)?, end.at))
    };
    let mut ranks: BTreeMap<u32, Option<i64>> = BTreeMap::new();
    for it in ends.iter().flatten() {
        if let Some((_, row, _)) = end(it) {
            let rank = ranks.entry(row).or_insert(Some(it.rank));
            *rank = rank.filter(|rank| *rank == it.rank);
        }
    }
    let message = |[sent, received]: &[MpiMessageEnd; 2]| Some(view.message([end(sent)?, end(received)?]));
    Ok((sorted(ends.iter().filter_map(message)), ranks))
}

/// At most so many of a list, evenly chosen.
fn some(all: &[usize], limit: usize) -> Vec<usize> {
    let count = all.len().min(limit);
    (0..count).map(|place| all[place * all.len() / count]).collect()
}

impl ExperimentView<'_> {
    /// Number of messages that each row sent or received in a window on the common clock, those of MPI too.
    pub(crate) fn messages_of_rows(&self, window: Window<SinceOrigin>) -> Vec<(u32, u64)> {
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        for message in self.messages.all.iter().chain(&self.messages.mpi) {
            for (row, at) in message.rows.into_iter().zip(message.common) {
                if window.start <= at && at <= window.end {
                    *counts.entry(row).or_default() += 1;
                }
            }
        }
        counts.into_iter().collect()
    }

    /// A message by the host, the row and the raw time of both ends.
    fn message(&self, ends: [(usize, u32, RawNs); 2]) -> Message {
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
    pub(crate) fn directions(&self) -> Vec<(usize, usize)> {
        let pair = |message: &Message| (usize::from(message.hosts[0]), usize::from(message.hosts[1]));
        let pairs: BTreeSet<(usize, usize)> = self.messages.all.iter().map(pair).collect();
        pairs.into_iter().collect()
    }

    /// The messages among some that have an end in a window, or span it, or, with `are_received`, that are
    /// received in it, as the command lists them: their number, and `limit` of them, by time: those that
    /// arrive before they were sent, and of the others, evenly chosen, as many as there is room for. Linear
    /// in the messages.
    pub(crate) fn arrows(
        &self,
        messages: &[Message],
        window: Window<SinceOrigin>,
        clock: Clock,
        are_received: bool,
        limit: usize,
    ) -> (usize, Vec<Arrow>) {
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
        (inside.len(), chosen.into_iter().map(arrow).collect())
    }

    /// The distance of the reception of a message from where it is drawn, on the clock of the sender, ns:
    /// proven bounds, likely error. `None` on the hosts' own clocks, and where nothing is proven.
    pub(crate) fn bounds(&self, message: &Message, clock: Clock) -> Option<(i64, i64, i64)> {
        let clocks = self.opened.clocks().filter(|_| clock == Clock::Common)?;
        let of = |end: usize| self.hosts[usize::from(message.hosts[end])].timing.clock();
        between(clocks, of(1)?, of(0)?, message.raw[1])
    }
}
