//! Messages between hosts, and those of MPI programs: which rows sent and received them, on either clock, and how sure the times of their ends are.

use isochrone_store::{MessageEnd, MpiMessageEnd, StoreError};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::{Clock, Shown};

/// A message, in about the order of their sends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message {
    /// Places of the hosts.
    pub(crate) hosts: [u16; 2],
    /// Rows: of the thread that ran, else of the CPU, else of the host.
    pub(crate) rows: [u32; 2],
    /// Raw times of both ends.
    pub(crate) raw: [i64; 2],
    /// Times of both ends on the common clock, since the origin.
    pub(crate) common: [i64; 2],
}

/// All messages of an experiment. They take 48 bytes each.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    /// The packets between hosts.
    pub(crate) all: Vec<Message>,
    /// Those of MPI programs, within hosts too.
    pub(crate) mpi: Vec<Message>,
    /// How many arrive before they are sent, on the hosts' own clocks and on the common one.
    pub(crate) inverted_own: usize,
    pub(crate) inverted: usize,
}

/// A message as the page draws it: rows, times, likely error, sure bounds around the reception, whether it is inverted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Arrow(
    pub(crate) u32,
    pub(crate) u32,
    pub(crate) i64,
    pub(crate) i64,
    pub(crate) Option<i64>,
    pub(crate) Option<i64>,
    pub(crate) Option<i64>,
    pub(crate) u8,
);

impl Messages {
    /// Reads all messages, and finds who sent and received them. Linear in them and in the packets of all hosts.
    pub(crate) fn new(shown: &Shown<'_>) -> Result<Self, StoreError> {
        let places: FxHashMap<u32, usize> =
            shown.hosts.iter().enumerate().map(|(place, host)| (host.number, place)).collect();
        let mut ends: Vec<[MessageEnd; 2]> = Vec::new();
        shown.store.messages(|message| {
            if places.contains_key(&message.sent.host) && places.contains_key(&message.received.host) {
                ends.push([message.sent, message.received]);
            }
        })?;
        // Only of packets that are messages.
        let mut runners: Vec<FxHashMap<(i64, u32, bool), Option<u32>>> =
            vec![FxHashMap::default(); shown.hosts.len()];
        for [sent, received] in &ends {
            for (end, is_sent) in [(sent, true), (received, false)] {
                if let Some(cpu) = end.cpu {
                    runners[places[&end.host]].insert((end.at, cpu, is_sent), None);
                }
            }
        }
        for (host, runners) in shown.hosts.iter().zip(&mut runners).filter(|(_, it)| !it.is_empty()) {
            host.store.runners_at_packets(|packet, thread| {
                if let Some(runner) = runners.get_mut(&packet) {
                    *runner = Some(thread);
                }
            })?;
        }
        let row = |end: &MessageEnd, is_sent: bool| {
            let place = places[&end.host];
            let thread = end.cpu.and_then(|cpu| *runners[place].get(&(end.at, cpu, is_sent))?);
            let of_thread = thread.and_then(|thread| shown.rows.of_thread(place, thread));
            // Idle tasks have no row: then it is what the CPU did.
            of_thread.unwrap_or_else(|| shown.rows.of_cpu(place, end.cpu))
        };
        let mut all: Vec<Message> = ends
            .iter()
            .map(|[sent, received]| {
                let hosts = [places[&sent.host], places[&received.host]];
                let common = [
                    shown.at(hosts[0], sent.at, Clock::Common),
                    shown.at(hosts[1], received.at, Clock::Common),
                ];
                let rows = [row(sent, true), row(received, false)];
                Message { hosts: hosts.map(|host| host as u16), rows, raw: [sent.at, received.at], common }
            })
            .collect();
        all.sort_by_key(|message| (message.common, message.rows));
        let inverted_own = all
            .iter()
            .filter(|message| {
                let own = |end: usize| shown.at(message.hosts[end].into(), message.raw[end], Clock::Own);
                own(1) < own(0)
            })
            .count();
        let inverted = all.iter().filter(|message| message.common[1] < message.common[0]).count();
        Ok(Self { all, mpi: of_mpi(shown, &places)?, inverted_own, inverted })
    }
}

/// The messages of MPI programs between threads that have rows. `places`: by number of the host. Linear in them and in the threads of all hosts.
fn of_mpi(shown: &Shown<'_>, places: &FxHashMap<u32, usize>) -> Result<Vec<Message>, StoreError> {
    let mut ends: Vec<[MpiMessageEnd; 2]> = Vec::new();
    shown.store.mpi(|message| ends.push([message.sent, message.received]))?;
    if ends.is_empty() {
        return Ok(Vec::new());
    }
    let threads: Vec<_> = shown.hosts.iter().map(|host| host.store.threads_by_tid()).collect();
    let end = |end: &MpiMessageEnd| {
        let place = *places.get(&end.host)?;
        let row = shown.rows.of_thread(place, *threads[place].get(&end.tid?)?)?;
        Some((place, row, end.at, shown.at(place, end.at, Clock::Common)))
    };
    let message = |[sent, received]: &[MpiMessageEnd; 2]| {
        let (from, to) = (end(sent)?, end(received)?);
        let (hosts, rows) = ([from.0 as u16, to.0 as u16], [from.1, to.1]);
        Some(Message { hosts, rows, raw: [from.2, to.2], common: [from.3, to.3] })
    };
    let mut all: Vec<Message> = ends.iter().filter_map(message).collect();
    all.sort_by_key(|message| (message.common, message.rows));
    Ok(all)
}

impl Shown<'_> {
    /// The pairs of hosts between which there are messages: from, to, by their places.
    pub(crate) fn directions(&self) -> Vec<(usize, usize)> {
        let pair = |message: &Message| (usize::from(message.hosts[0]), usize::from(message.hosts[1]));
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for message in &self.messages.all {
            if let Err(place) = pairs.binary_search(&pair(message)) {
                pairs.insert(place, pair(message));
            }
        }
        pairs
    }

    /// Those among some messages that have an end in a window, or span it: how many, and `limit` of them, evenly chosen. Linear in the messages.
    pub(crate) fn arrows(
        &self,
        messages: &[Message],
        window: (i64, i64),
        clock: Clock,
        limit: usize,
    ) -> (usize, Vec<Arrow>) {
        let times = |message: &Message| match clock {
            Clock::Common => message.common,
            Clock::Own => [0, 1].map(|end| self.at(message.hosts[end].into(), message.raw[end], Clock::Own)),
        };
        let inside: Vec<(&Message, [i64; 2])> = messages
            .iter()
            .map(|message| (message, times(message)))
            .filter(|(_, [sent, received])| {
                let (first, last) = (*sent.min(received), *sent.max(received));
                first < window.1 && last >= window.0
            })
            .collect();
        let total = inside.len();
        let step = total.div_ceil(limit.max(1)).max(1);
        let arrow = |(message, [sent, received]): &(&Message, [i64; 2])| {
            let sure = self.surely(message, clock);
            Arrow(
                message.rows[0],
                message.rows[1],
                *sent,
                *received,
                sure.map(|(.., likely)| likely),
                sure.map(|(lo, ..)| lo),
                sure.map(|(_, hi, _)| hi),
                u8::from(received < sent),
            )
        };
        (total, inside.iter().step_by(step).map(arrow).collect())
    }

    /// How far the reception can be from where it is drawn, as seen from the sender: surely before, surely after, likely. `None` on the
    /// hosts' own clocks, and where nothing is proven.
    pub(crate) fn surely(&self, message: &Message, clock: Clock) -> Option<(i64, i64, i64)> {
        let clocks = self.opened.clocks().filter(|_| clock == Clock::Common)?;
        let of = |end: usize| self.hosts[usize::from(message.hosts[end])].timing.clock();
        let related = clocks.related(of(1)?, of(0)?, message.raw[1]).filter(|related| related.proven)?;
        let (lo, hi) = (related.bounds.0?, related.bounds.1?);
        Some((lo - related.time, hi - related.time, related.e95?))
    }
}
