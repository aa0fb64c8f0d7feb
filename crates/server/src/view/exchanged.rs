//! The messages that rows sent and received in a window, by the pair of rows at their ends.
//!
//! Used by: the statistics of the page.

use std::collections::BTreeMap;

use isochrone_time::{SinceOrigin, Window};
use serde::Serialize;

use super::rows::RowKind;
use super::state_at::instant;
use super::{CommandLine, ExperimentView};
use crate::error::Result;

/// Pairs of one answer.
const MAX_PAIRS: usize = 1000;

/// The messages of an area.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Exchanged {
    /// Those with the most messages first: [`MAX_PAIRS`] of `pair_count`.
    pairs: Vec<Pair>,
    pair_count: usize,
    /// The number of all of them.
    total: u64,
    command: String,
}

/// The messages from one row to another: those of MPI programs are pairs of their own.
#[derive(Debug, Serialize)]
struct Pair {
    from: u32,
    from_label: String,
    to: u32,
    to_label: String,
    is_mpi: bool,
    count: u64,
    /// Those that arrive before they were sent.
    inverted: u64,
    /// From the send to the reception, ns: the least, all together, the most.
    min_ns: i64,
    total_ns: i64,
    max_ns: i64,
}

/// Whether messages are those of MPI, and the rows that sent and received them.
type Ends = (bool, [u32; 2]);
/// As in [`Pair`]: number of messages, of inverted ones, and the latencies.
type Sum = (u64, u64, i64, i64, i64);

impl ExperimentView<'_> {
    /// The messages of which an end is in a window on the common clock, and of a row that is one of `rows` or
    /// below one of them; without rows, of any. Linear in all messages.
    pub(crate) fn exchanged(&self, rows: Option<&[u32]>, window: Window<SinceOrigin>) -> Result<Exchanged> {
        let mut pairs: BTreeMap<Ends, Sum> = BTreeMap::new();
        let is_asked = |row: u32| rows.is_none_or(|rows| self.rows.is_below(row, rows));
        let messages = self.messages()?;
        for (is_mpi, list) in [(false, &messages.all), (true, &messages.mpi)] {
            for message in list {
                let mut ends = message.rows.into_iter().zip(message.common);
                if ends.any(|(row, at)| window.start <= at && at < window.end && is_asked(row)) {
                    let [sent, received] = message.common;
                    let took = received - sent;
                    let sum = pairs.entry((is_mpi, message.rows)).or_insert((0, 0, i64::MAX, 0, i64::MIN));
                    *sum = (
                        sum.0 + 1,
                        sum.1 + u64::from(took < 0),
                        sum.2.min(took),
                        sum.3 + took,
                        sum.4.max(took),
                    );
                }
            }
        }
        let pair = |((is_mpi, [from, to]), sum): (Ends, Sum)| {
            let (count, inverted, min_ns, total_ns, max_ns) = sum;
            let (from_label, to_label) = (self.rows.title(from), self.rows.title(to));
            Pair { from, from_label, to, to_label, is_mpi, count, inverted, min_ns, total_ns, max_ns }
        };
        let mut pairs: Vec<Pair> = pairs.into_iter().map(pair).collect();
        let (pair_count, total) = (pairs.len(), pairs.iter().map(|pair| pair.count).sum());
        pairs.sort_by_key(|pair| std::cmp::Reverse(pair.count));
        pairs.truncate(MAX_PAIRS);
        Ok(Exchanged { pairs, pair_count, total, command: self.exchanged_command(rows, window) })
    }

    /// The rows as a condition of a query about an end of packets, with `AND` before it; `None` where it
    /// would have to name too many threads, or what a CPU did without one.
    fn named_ends(&self, rows: Option<&[u32]>, prefix: &str) -> Option<String> {
        let kinds = || rows.unwrap_or_default().iter().filter_map(|&row| self.rows.get(row));
        if rows.is_some() && kinds().all(|row| row.kind == RowKind::Host) {
            let names = kinds().map(|row| format!("'{}'", row.label.replace('\'', "''")));
            return Some(format!(" AND {prefix}host IN ({})", names.collect::<Vec<_>>().join(", ")));
        }
        let has_threads = kinds().all(|row| matches!(row.kind, RowKind::Process | RowKind::Thread));
        if has_threads { self.named_threads(rows, prefix) } else { None }
    }

    /// The query with the same sums of packets, if there is one.
    fn exchanged_command(&self, rows: Option<&[u32]>, window: Window<SinceOrigin>) -> String {
        let [start, end] = [window.start, window.end].map(|at| instant(self.unix(at)));
        let side = |side: &str| {
            let of_rows = self.named_ends(rows, &format!("{side}_"))?;
            Some(format!("({side}_time >= '{start}' AND {side}_time < '{end}'{of_rows})"))
        };
        let Some((sent, received)) = side("sent").zip(side("received")) else { return String::new() };
        let query = format!(
            "SELECT sent_host, sent_thread, sent_tid, sent_comm, received_host, received_thread, \
             received_tid, received_comm, count(*) AS count, min(latency_ns) AS min_ns, \
             sum(latency_ns) AS total_ns, max(latency_ns) AS max_ns FROM messages WHERE {sent} OR {received} \
             GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY count DESC"
        );
        self.command.of(&format!("sql -c {}", CommandLine::quoted(&query)))
    }
}
