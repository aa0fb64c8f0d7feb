//! Sums of what threads did in a window: by state, by thread, by call.

use std::collections::BTreeMap;

use isochrone_kernel::Name;
use isochrone_store::{State, ThreadRow};
use isochrone_time::{RawNs, SinceOrigin, Window};
use serde::Serialize;

use super::rows::RowKind;
use super::{Clock, ExperimentView, HostView};
use crate::error::Result;

/// Pixels by which a window of very many states is added up.
const PIXELS: u32 = 4000;

/// Rows of spans of a window from which on its states are added up by pixels.
const MAX_SPANS: i128 = 2_000_000;

/// The sums of a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Statistics {
    states: Vec<StateSum>,
    /// Those with the most CPU time first.
    pub(crate) threads: Vec<ThreadSum>,
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
    /// Whether a window has too many spans to look at each of them.
    fn is_large(&self, raw: Window<RawNs>) -> bool {
        self.rows_about(raw, |_| true) > MAX_SPANS
    }
}

impl ExperimentView<'_> {
    /// Whether a window on the common clock has too many spans to look at each of them.
    pub(crate) fn is_large(&self, window: Window<SinceOrigin>) -> bool {
        let mut hosts = self.hosts.iter().enumerate();
        hosts.any(|(index, host)| host.is_large(self.recorded(index, window, Clock::Common)))
    }

    /// The sums of a window on the common clock: of all threads, or of those that are one of `rows` or below
    /// one of them.
    pub(crate) fn statistics(&self, rows: Option<&[u32]>, window: Window<SinceOrigin>) -> Result<Statistics> {
        let mut threads: Vec<ThreadSum> = Vec::new();
        let mut calls: BTreeMap<Name, CallSum> = BTreeMap::new();
        for (index, host) in self.hosts.iter().enumerate() {
            let raw = self.recorded(index, window, Clock::Common);
            let of_host = self.rows.all.iter().filter(|row| row.kind == RowKind::Thread && row.host == index);
            let wanted = of_host.filter(|row| rows.is_none_or(|rows| self.rows.is_below(row.id, rows)));
            let mut numbers: Vec<ThreadRow> = wanted.filter_map(|row| row.thread).collect();
            numbers.sort_unstable();
            if numbers.is_empty() || raw.is_empty() {
                continue;
            }
            let is_large = host.is_large(raw);
            let states = match is_large {
                true => host.store.pixels(&numbers, raw, PIXELS)?,
                false => host.store.states(&numbers, raw)?,
            };
            for state in states {
                let Some(row) = self.rows.of_thread(index, state.thread) else { continue };
                if threads.last().is_none_or(|last| last.row != row) {
                    let by_state = [0; State::ALL.len()];
                    threads.push(ThreadSum { row, label: self.rows.title(row), by_state });
                }
                if let Some(last) = threads.last_mut() {
                    // Its duration on the clock that is shown.
                    let at = |raw| self.at(index, raw, Clock::Common);
                    last.by_state[state.state as usize] += at(state.end) - at(state.start);
                }
            }
            if is_large {
                continue;
            }
            for call in host.store.calls_between(&numbers, raw)? {
                let inside = call.end.min(raw.end) - call.start.max(raw.start);
                let name = call.name.to_string();
                let none = CallSum { call: name, count: 0, total_ns: 0, max_ns: 0 };
                let sum = calls.entry(call.name).or_insert(none);
                sum.count += 1;
                sum.total_ns += inside.max(0);
                sum.max_ns = sum.max_ns.max(call.end - call.start);
            }
        }
        let sum = |state: State| threads.iter().map(|thread| thread.by_state[state as usize]).sum::<i64>();
        let states = State::ALL.into_iter().filter(|&state| state != State::Dead);
        let states = states.map(|it| StateSum { state: it.name(), style: it as u8, total_ns: sum(it) });
        let states = states.filter(|sum| sum.total_ns > 0).collect();
        let on_cpu = |thread: &ThreadSum| thread.by_state[1] + thread.by_state[2] + thread.by_state[3];
        threads.sort_by_key(|thread| (std::cmp::Reverse(on_cpu(thread)), thread.row));
        let mut calls: Vec<CallSum> = calls.into_values().collect();
        calls.sort_by_key(|call| std::cmp::Reverse(call.total_ns));
        Ok(Statistics { states, threads, calls, command: self.command_of("states", Some(window)) })
    }
}
