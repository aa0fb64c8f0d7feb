//! Sums of what threads did in a window: by state, by thread, by call.

use std::collections::BTreeMap;

use isochrone_experiment::Work;
use isochrone_kernel::Name;
use isochrone_store::{State, ThreadRow, Totals};
use isochrone_time::{RawNs, SinceOrigin, Window};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::rows::RowKind;
use super::state_at::instant;
use super::{Clock, CommandLine, ExperimentView, HostView};
use crate::error::Result;
use crate::works::next_part;

/// Rows of spans of a window that are looked at in a moment, and that are in memory at once.
const MAX_SPANS: u64 = 2_000_000;

/// Threads that a query names, and hosts.
const MAX_NAMED: usize = 500;
const MAX_HOSTS: usize = 20;

/// The sums of a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Statistics {
    states: Vec<StateSum>,
    /// Those with the most CPU time first.
    pub(crate) threads: Vec<ThreadSum>,
    /// How many threads there are.
    thread_count: usize,
    /// Those with the most time first.
    pub(crate) calls: Vec<CallSum>,
    /// The queries with the same sums of states and of calls.
    command: String,
    calls_command: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct StateSum {
    state: &'static str,
    style: u8,
    total_ns: i64,
}

/// Parts of a query of what hosts did in a window.
pub(super) struct SqlWindows {
    /// The windows of hosts, `from_raw` to `to_raw`.
    pub(super) joined: String,
    /// The condition that spans are in them.
    pub(super) inside: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ThreadSum {
    pub(crate) row: u32,
    label: String,
    pub(crate) by_state: ByState,
}

/// Time by number of the state, ns.
type ByState = [i64; State::ALL.len()];

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CallSum {
    pub(crate) call: String,
    pub(crate) count: u64,
    pub(crate) total_ns: i64,
    pub(crate) max_ns: i64,
}

impl HostView<'_> {
    /// Whether a window has too many spans to look at each in a moment.
    pub(super) fn is_large(&self, raw: Window<RawNs>) -> bool {
        self.rows_about(raw, |_| true) > i128::from(MAX_SPANS)
    }
}

impl ExperimentView<'_> {
    /// Whether a window on the common clock has too many spans to look at each of them.
    pub(crate) fn is_large(&self, window: Window<SinceOrigin>) -> bool {
        let mut hosts = self.hosts.iter().enumerate();
        hosts.any(|(index, host)| host.is_large(self.recorded(index, window, Clock::Common)))
    }

    /// CPU time of threads in a window on the common clock, by row, ns of their hosts' clocks. Linear in the
    /// threads.
    pub(crate) fn activity(&self, window: Window<SinceOrigin>, work: &Work) -> Result<Vec<(u32, i64)>> {
        let mut all = Vec::new();
        for index in 0..self.hosts.len() {
            let threads = self.threads_below(index, None);
            let Totals { states, .. } = self.sums_of(index, &threads, window, (false, MAX_SPANS), work)?;
            let rows = threads.iter().map(|thread| self.rows.of_thread(index, *thread)).zip(&states);
            all.extend(
                rows.filter_map(|(row, by_state)| Some((row?, on_cpu(by_state)))).filter(|it| it.1 > 0),
            );
        }
        all.sort_unstable();
        Ok(all)
    }

    /// What some threads of a host did in a window on the common clock: time by state, and calls.
    fn sums_of(
        &self,
        host: usize,
        threads: &[ThreadRow],
        window: Window<SinceOrigin>,
        (has_calls, at_once): (bool, u64),
        work: &Work,
    ) -> Result<Totals> {
        let raw = self.recorded(host, window, Clock::Common);
        let mut sums = self.hosts[host].store.sums(threads, raw, has_calls, at_once);
        work.expect(sums.parts_left() as u64);
        while let Some(part) = sums.next_part() {
            next_part(work)?;
            sums.add(part)?;
        }
        Ok(sums.finish()?)
    }

    /// The threads below some rows as a condition of a query, with `AND` before it: by their numbers in the
    /// store, because a tid may be that of several threads, one after the other. Empty for all threads;
    /// `None` where it would have to name too many. `prefix`: of the names of the columns.
    pub(super) fn named_threads(&self, rows: Option<&[u32]>, prefix: &str) -> Option<String> {
        let Some(rows) = rows else { return Some(String::new()) };
        let threads = self.rows.all.iter().filter(|row| row.kind == RowKind::Thread);
        let below = threads.filter(|row| self.rows.is_below(row.id, rows));
        let mut named: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for row in below {
            named.entry(row.host).or_default().extend(row.thread.map(|thread| thread.0.to_string()));
        }
        let count: usize = named.values().map(Vec::len).sum();
        let of_host = |(host, threads): (usize, Vec<String>)| {
            let host = self.hosts[host].name.replace('\'', "''");
            format!("{prefix}host = '{host}' AND {prefix}thread IN ({})", threads.join(", "))
        };
        let named: Vec<String> = named.into_iter().map(of_host).collect();
        (1..=MAX_NAMED).contains(&count).then(|| format!(" AND ({})", named.join(" OR ")))
    }

    /// The queries with the same sums of states and of calls; empty where they would have to name too many
    /// threads or hosts.
    fn sums_commands(&self, rows: Option<&[u32]>, window: Window<SinceOrigin>) -> [String; 2] {
        let (Some(windows), Some(of_rows)) = (self.windows_for_sql(window), self.named_threads(rows, ""))
        else {
            return Default::default();
        };
        let (joined, inside) = (windows.joined, windows.inside);
        let states = format!(
            "SELECT host, thread, tid, comm, state, sum(least(end_time_raw, to_raw) - \
             greatest(begin_time_raw, from_raw)) AS total_ns FROM thread_states {joined} WHERE state <> \
             'dead' AND {inside}{of_rows} GROUP BY host, thread, tid, comm, state ORDER BY host, thread, \
             state"
        );
        let calls = format!(
            "SELECT name, count(*) AS count, sum(least(end_time_raw, to_raw) - greatest(begin_time_raw, \
             from_raw)) AS total_ns, max(least(end_time_raw, to_raw) - greatest(begin_time_raw, from_raw)) \
             AS max_ns FROM syscalls {joined} WHERE {inside}{of_rows} GROUP BY name ORDER BY total_ns DESC, \
             name"
        );
        [states, calls].map(|query| self.sql(&query))
    }

    /// The command of a query.
    pub(super) fn sql(&self, query: &str) -> String {
        self.command.of(&format!("sql -c {}", CommandLine::quoted(query)))
    }

    /// A window as parts of a query of times of hosts' own clocks; none with too many hosts, or where none
    /// recorded in it.
    pub(super) fn windows_for_sql(&self, window: Window<SinceOrigin>) -> Option<SqlWindows> {
        /// What times on the common clock are rounded by, and more.
        const MARGIN_NS: i64 = 1_000;
        if self.hosts.len() > MAX_HOSTS {
            return None;
        }
        let of_host = |(index, host): (usize, &HostView<'_>)| {
            let raw = self.recorded(index, window, Clock::Common);
            let name = host.name.replace('\'', "''");
            (!raw.is_empty()).then(|| format!("('{name}', {}, {})", raw.start.0, raw.end.0))
        };
        let windows: Vec<String> = self.hosts.iter().enumerate().filter_map(of_host).collect();
        let around = [window.start.saturating_add(-MARGIN_NS), window.end.saturating_add(MARGIN_NS)];
        let [start, end] = around.map(|at| instant(self.unix(at)));
        (!windows.is_empty()).then(|| SqlWindows {
            joined: format!(
                "JOIN (VALUES {}) AS windows(of_host, from_raw, to_raw) ON host = of_host",
                windows.join(", ")
            ),
            inside: format!(
                "begin_time_raw < to_raw AND end_time_raw > from_raw AND begin_time < '{end}' AND end_time > \
                 '{start}'"
            ),
        })
    }

    /// The threads of a host that are one of some rows, or below one of them, sorted; all, if there are none.
    pub(super) fn threads_below(&self, host: usize, rows: Option<&[u32]>) -> Vec<ThreadRow> {
        let of_host = self.rows.all.iter().filter(|row| row.kind == RowKind::Thread && row.host == host);
        let wanted = of_host.filter(|row| rows.is_none_or(|rows| self.rows.is_below(row.id, rows)));
        let mut numbers: Vec<ThreadRow> = wanted.filter_map(|row| row.thread).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The sums of a window on the common clock: of all threads, or of those that are one of `rows` or below
    /// one of them. Durations are of the hosts' own clocks. Linear in the threads.
    pub(crate) fn statistics(
        &self,
        rows: Option<&[u32]>,
        window: Window<SinceOrigin>,
        work: &Work,
    ) -> Result<Statistics> {
        self.added_up(rows, window, MAX_SPANS, work)
    }

    /// As [`Self::statistics`]: `at_once` is how many spans of a host are about in memory.
    fn added_up(
        &self,
        rows: Option<&[u32]>,
        window: Window<SinceOrigin>,
        at_once: u64,
        work: &Work,
    ) -> Result<Statistics> {
        let mut threads: Vec<ThreadSum> = Vec::new();
        let mut calls: FxHashMap<Name, isochrone_store::CallSum> = FxHashMap::default();
        for index in 0..self.hosts.len() {
            let numbers = self.threads_below(index, rows);
            if numbers.is_empty() {
                continue;
            }
            let Totals { states, calls: of_host } =
                self.sums_of(index, &numbers, window, (true, at_once), work)?;
            for (thread, by_state) in numbers.into_iter().zip(states) {
                let row = self.rows.of_thread(index, thread).filter(|_| by_state.iter().any(|&ns| ns > 0));
                threads.extend(row.map(|row| ThreadSum { row, label: self.rows.title(row), by_state }));
            }
            for (name, sum) in of_host {
                calls.entry(name).or_default().absorb(sum);
            }
        }
        let sum = |state: State| threads.iter().map(|thread| thread.by_state[state as usize]).sum::<i64>();
        let states = State::ALL.into_iter().filter(|&state| state != State::Dead);
        let states = states.map(|it| StateSum { state: it.name(), style: it as u8, total_ns: sum(it) });
        let states = states.filter(|sum| sum.total_ns > 0).collect();
        threads.sort_by_key(|thread| (std::cmp::Reverse(on_cpu(&thread.by_state)), thread.row));
        let call = |(name, sum): (Name, isochrone_store::CallSum)| {
            let isochrone_store::CallSum { count, total_ns, max_ns } = sum;
            CallSum { call: name.to_string(), count, total_ns, max_ns }
        };
        let mut calls: Vec<CallSum> = calls.into_iter().map(call).collect();
        calls.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.call.cmp(&b.call)));
        let [command, calls_command] = self.sums_commands(rows, window);
        Ok(Statistics { states, thread_count: threads.len(), threads, calls, command, calls_command })
    }
}

/// Time on CPUs.
fn on_cpu(by_state: &ByState) -> i64 {
    let states = State::ALL.into_iter().filter(|state| state.is_on_cpu());
    states.map(|state| by_state[state as usize]).sum()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use isochrone_experiment::Work;

    use crate::tests::ask_example;

    #[test]
    fn sums_are_the_same_in_parts() {
        ask_example(|view| {
            let whole = view.added_up(None, view.extent, u64::MAX, &Work::default())?;
            assert!(view.hosts.iter().all(|host| host.store.parts(host.range, 1).len() > 3));
            assert_eq!(whole, view.added_up(None, view.extent, 1, &Work::default())?);
            Ok(())
        });
    }

    #[test]
    fn activity_is_the_time_on_cpus() {
        ask_example(|view| {
            let mut expected: BTreeMap<u32, i64> = BTreeMap::new();
            for (index, host) in view.hosts.iter().enumerate() {
                host.store.slices(host.range, |slice| {
                    // Idle tasks have no row.
                    let row = slice.thread.and_then(|thread| view.rows.of_thread(index, thread));
                    if let Some(row) = row.filter(|_| slice.end > slice.start) {
                        *expected.entry(row).or_default() += slice.end - slice.start;
                    }
                })?;
            }
            assert!(expected.len() > 20);
            assert_eq!(
                view.activity(view.extent, &Work::default())?,
                expected.into_iter().collect::<Vec<_>>()
            );
            Ok(())
        });
    }
}
