//! Sums of what threads did in a window: by state, by thread, by call.

use std::collections::BTreeMap;

use isochrone_experiment::Work;
use isochrone_kernel::Name;
use isochrone_store::{State, ThreadRow};
use isochrone_time::{RawNs, SinceOrigin, Window};
use serde::Serialize;

use super::rows::RowKind;
use super::state_at::instant;
use super::{Clock, CommandLine, ExperimentView, HostView};
use crate::error::Result;
use crate::works::next_part;

/// Rows of spans of a window that are looked at in a moment, and that are in memory at once.
const MAX_SPANS: u64 = 2_000_000;

/// Threads that a query names.
const MAX_NAMED: usize = 20;

/// The sums of a window.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Statistics {
    /// Whether the window was added up.
    is_whole: bool,
    states: Vec<StateSum>,
    /// Those with the most CPU time first.
    pub(crate) threads: Vec<ThreadSum>,
    /// How many threads there are.
    thread_count: usize,
    /// Those with the most time first.
    pub(crate) calls: Vec<CallSum>,
    command: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct StateSum {
    state: &'static str,
    style: u8,
    total_ns: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ThreadSum {
    pub(crate) row: u32,
    label: String,
    /// By number of the state, ns.
    pub(crate) by_state: [i64; State::ALL.len()],
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CallSum {
    pub(crate) call: String,
    pub(crate) count: u64,
    pub(crate) total_ns: i64,
    pub(crate) max_ns: i64,
}

impl HostView<'_> {
    /// Whether a window has about more spans than so many.
    fn has_more_spans(&self, raw: Window<RawNs>, most: u64) -> bool {
        self.rows_about(raw, |_| true) > i128::from(most)
    }

    /// Whether a window has too many spans to look at each in a moment.
    pub(super) fn is_large(&self, raw: Window<RawNs>) -> bool {
        self.has_more_spans(raw, MAX_SPANS)
    }

    /// A window in parts of about so many spans.
    pub(super) fn parts(&self, raw: Window<RawNs>, spans: u64) -> Vec<Window<RawNs>> {
        let cuts = self.store.cuts(spans).into_iter().filter(|cut| raw.start < *cut && *cut < raw.end);
        let edges: Vec<RawNs> = std::iter::once(raw.start).chain(cuts).chain([raw.end]).collect();
        edges.windows(2).map(|edges| Window::new(edges[0], edges[1])).collect()
    }
}

impl ExperimentView<'_> {
    /// Whether a window on the common clock has too many spans to look at each of them.
    pub(crate) fn is_large(&self, window: Window<SinceOrigin>) -> bool {
        let mut hosts = self.hosts.iter().enumerate();
        hosts.any(|(index, host)| host.is_large(self.recorded(index, window, Clock::Common)))
    }

    /// The sums of a window on the common clock: of all threads, or of those that are one of `rows` or below
    /// one of them. Linear in the spans of the window, which are read part by part. `is_quick`: nothing is
    /// added up where a host has too many of them for that to be a matter of a moment.
    pub(crate) fn statistics(
        &self,
        rows: Option<&[u32]>,
        window: Window<SinceOrigin>,
        is_quick: bool,
        work: &Work,
    ) -> Result<Statistics> {
        if is_quick && self.is_large(window) {
            let command = self.sums_command(rows, window);
            return Ok(Statistics { is_whole: false, command, ..Statistics::default() });
        }
        self.added_up(rows, window, MAX_SPANS, work)
    }

    /// CPU time of threads in a window on the common clock, by row, ns. Linear in the slices of the window.
    pub(crate) fn activity(&self, window: Window<SinceOrigin>) -> Result<Vec<(u32, i64)>> {
        let mut sums: BTreeMap<u32, i64> = BTreeMap::new();
        for (index, host) in self.hosts.iter().enumerate() {
            let raw = self.recorded(index, window, Clock::Common);
            host.store.slices(raw, |slice| {
                let part = Window::new(slice.start, slice.end).clip(raw);
                // Idle tasks have no row.
                let row = slice.thread.and_then(|thread| self.rows.of_thread(index, thread));
                if let Some(row) = row.filter(|_| !part.is_empty()) {
                    *sums.entry(row).or_default() += part.end - part.start;
                }
            })?;
        }
        Ok(sums.into_iter().collect())
    }

    /// The threads below some rows as a condition of a query, with `AND` before it: by their numbers in the
    /// store, because a tid may be that of several threads, one after the other. Empty for all threads;
    /// `None` where it would have to name too many. `prefix`: of the names of the columns.
    pub(super) fn named_threads(&self, rows: Option<&[u32]>, prefix: &str) -> Option<String> {
        let Some(rows) = rows else { return Some(String::new()) };
        let threads = self.rows.all.iter().filter(|row| row.kind == RowKind::Thread);
        let below = threads.filter(|row| self.rows.is_below(row.id, rows));
        let named = below.filter_map(|row| {
            let host = self.hosts[row.host].name.replace('\'', "''");
            Some(format!("{prefix}host = '{host}' AND {prefix}thread = {}", row.thread?.0))
        });
        let named: Vec<String> = named.take(MAX_NAMED + 1).collect();
        (1..=MAX_NAMED).contains(&named.len()).then(|| format!(" AND ({})", named.join(" OR ")))
    }

    /// The query with the same sums of states; none where it would have to name too many threads.
    fn sums_command(&self, rows: Option<&[u32]>, window: Window<SinceOrigin>) -> String {
        let Some(of_rows) = self.named_threads(rows, "") else { return String::new() };
        let [start, end] = [window.start, window.end].map(|at| instant(self.unix(at)));
        let query = format!(
            "SELECT host, thread, tid, comm, state, sum(CAST(least(end_time, TIMESTAMP '{end}') AS BIGINT) - \
             CAST(greatest(begin_time, TIMESTAMP '{start}') AS BIGINT)) AS total_ns FROM thread_states \
             WHERE state <> 'dead' AND begin_time < '{end}' AND end_time > '{start}'{of_rows} \
             GROUP BY host, thread, tid, comm, state ORDER BY host, thread, state"
        );
        self.command.of(&format!("sql -c {}", CommandLine::quoted(&query)))
    }

    /// The threads of a host that are one of some rows, or below one of them, sorted; all, if there are none.
    pub(super) fn threads_below(&self, host: usize, rows: Option<&[u32]>) -> Vec<ThreadRow> {
        let of_host = self.rows.all.iter().filter(|row| row.kind == RowKind::Thread && row.host == host);
        let wanted = of_host.filter(|row| rows.is_none_or(|rows| self.rows.is_below(row.id, rows)));
        let mut numbers: Vec<ThreadRow> = wanted.filter_map(|row| row.thread).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The sums: `at_once` is how many spans of a host are about in memory.
    fn added_up(
        &self,
        rows: Option<&[u32]>,
        window: Window<SinceOrigin>,
        at_once: u64,
        work: &Work,
    ) -> Result<Statistics> {
        let mut by_row: BTreeMap<u32, [i64; State::ALL.len()]> = BTreeMap::new();
        let mut calls: BTreeMap<Name, CallSum> = BTreeMap::new();
        for (index, host) in self.hosts.iter().enumerate() {
            let raw = self.recorded(index, window, Clock::Common);
            let numbers = self.threads_below(index, rows);
            if numbers.is_empty() || raw.is_empty() {
                continue;
            }
            let parts = host.parts(raw, at_once);
            work.expect(parts.len() as u64);
            for part in parts {
                next_part(work)?;
                for state in host.store.states(&numbers, part)? {
                    let Some(row) = self.rows.of_thread(index, state.thread) else { continue };
                    // Its duration on the clock that is shown.
                    let at = |raw| self.at(index, raw, Clock::Common);
                    by_row.entry(row).or_default()[state.state as usize] += at(state.end) - at(state.start);
                }
                for call in host.store.calls_between(&numbers, part)? {
                    let inside = call.end.min(part.end) - call.start.max(part.start);
                    let name = call.name.to_string();
                    let none = CallSum { call: name, count: 0, total_ns: 0, max_ns: 0 };
                    let sum = calls.entry(call.name).or_insert(none);
                    // One that crosses parts is one.
                    sum.count += u64::from(call.start >= part.start || part.start == raw.start);
                    sum.total_ns += inside.max(0);
                    // As the sum, of the window alone.
                    let of_window = call.end.min(raw.end) - call.start.max(raw.start);
                    sum.max_ns = sum.max_ns.max(of_window);
                }
            }
        }
        let sums = by_row.into_iter();
        let mut threads: Vec<ThreadSum> =
            sums.map(|(row, by_state)| ThreadSum { row, label: self.rows.title(row), by_state }).collect();
        let sum = |state: State| threads.iter().map(|thread| thread.by_state[state as usize]).sum::<i64>();
        let states = State::ALL.into_iter().filter(|&state| state != State::Dead);
        let states = states.map(|it| StateSum { state: it.name(), style: it as u8, total_ns: sum(it) });
        let states = states.filter(|sum| sum.total_ns > 0).collect();
        let on_cpu = |thread: &ThreadSum| {
            let states = State::ALL.into_iter().filter(|state| state.is_on_cpu());
            states.map(|state| thread.by_state[state as usize]).sum::<i64>()
        };
        threads.sort_by_key(|thread| (std::cmp::Reverse(on_cpu(thread)), thread.row));
        let mut calls: Vec<CallSum> = calls.into_values().collect();
        calls.sort_by_key(|call| std::cmp::Reverse(call.total_ns));
        let (thread_count, command) = (threads.len(), self.sums_command(rows, window));
        Ok(Statistics { is_whole: true, states, threads, thread_count, calls, command })
    }
}

#[cfg(test)]
mod tests {
    use isochrone_experiment::Work;

    use crate::tests::ask_example;

    #[test]
    fn sums_are_the_same_in_parts() {
        ask_example(|view| {
            let whole = view.added_up(None, view.extent, u64::MAX, &Work::default())?;
            assert!(view.hosts.iter().all(|host| host.parts(host.range, 1).len() > 3));
            assert_eq!(whole, view.added_up(None, view.extent, 1, &Work::default())?);
            Ok(())
        });
    }

    #[test]
    fn activity_is_the_time_on_cpus() {
        ask_example(|view| {
            let states = view.added_up(None, view.extent, u64::MAX, &Work::default())?;
            let cpu = |row: u32| {
                let thread = states.threads.iter().find(|thread| thread.row == row);
                thread.map_or(0, |it| [1, 2, 3, 8].iter().map(|&state| it.by_state[state]).sum())
            };
            let activity = view.activity(view.extent)?;
            assert!(activity.len() > 20);
            for (row, ns) in activity {
                // The clocks' rates are up to 100 ppm apart.
                assert!((ns - cpu(row)).abs() <= 50 + ns / 5_000, "{row}: {ns} {}", cpu(row));
            }
            Ok(())
        });
    }
}
