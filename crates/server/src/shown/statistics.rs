//! What threads did in a window, added up: by state, by thread, by call.

use std::collections::BTreeMap;

use isochrone_kernel::Name;
use isochrone_store::State;
use serde::Serialize;

use super::rows::Kind;
use super::{Clock, Shown};
use crate::error::ApiError;

/// Pixels by which a window of very many states is added up.
const PIXELS: u32 = 4000;

/// Of windows with more rows of spans, states are added up by pixels.
const MOST_SPANS: i128 = 2_000_000;

/// The sums of a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Statistics {
    states: Vec<OfState>,
    /// Those with the most CPU time first.
    pub(crate) threads: Vec<OfThread>,
    pub(crate) calls: Vec<OfCall>,
    command: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct OfState {
    state: &'static str,
    style: u8,
    total_ns: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct OfThread {
    pub(crate) row: u32,
    label: String,
    /// By number of the state, ns.
    pub(crate) by_state: [i64; State::ALL.len()],
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct OfCall {
    pub(crate) call: String,
    pub(crate) count: u64,
    pub(crate) total_ns: i64,
    pub(crate) max_ns: i64,
}

impl super::Host<'_, '_> {
    /// Whether a window, raw ns, has so many spans that looking at each takes long.
    fn is_large(&self, raw: (i64, i64)) -> bool {
        self.rows_about(raw, |_| true) > MOST_SPANS
    }
}

impl Shown<'_> {
    /// Whether a window since the origin has so many spans that looking at each takes long.
    pub(crate) fn is_large(&self, window: (i64, i64)) -> bool {
        let of_host = |(place, host): (usize, &super::Host<'_, '_>)| {
            let raw = self.raw_window(place, window, Clock::Common);
            host.is_large((raw.0.max(host.range.0), raw.1.min(host.range.1)))
        };
        self.hosts.iter().enumerate().any(of_host)
    }

    /// The sums of a window since the origin. `rows`: of these threads, and of the threads below these rows; `None`: of all.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn statistics(
        &self,
        rows: Option<&[u32]>,
        window: (i64, i64),
    ) -> Result<Statistics, ApiError> {
        let mut threads: Vec<OfThread> = Vec::new();
        let mut calls: BTreeMap<Name, OfCall> = BTreeMap::new();
        for (place, host) in self.hosts.iter().enumerate() {
            let raw = self.raw_window(place, window, Clock::Common);
            let raw = (raw.0.max(host.range.0), raw.1.min(host.range.1));
            let mut numbers: Vec<u32> = self
                .rows
                .all
                .iter()
                .filter(|row| row.kind == Kind::Thread && row.host == place)
                .filter(|row| rows.is_none_or(|rows| self.is_below(row.id, rows)))
                .map(|row| row.number)
                .collect();
            numbers.sort_unstable();
            if numbers.is_empty() || raw.0 >= raw.1 {
                continue;
            }
            let is_large = host.is_large(raw);
            let states = match is_large {
                true => host.store.pixels(&numbers, raw, PIXELS)?,
                false => host.store.states(&numbers, raw)?,
            };
            for state in states {
                let Some(row) = self.rows.of_thread(place, state.thread) else { continue };
                if threads.last().is_none_or(|last| last.row != row) {
                    threads.push(OfThread {
                        row,
                        label: self.rows.title(row),
                        by_state: [0; State::ALL.len()],
                    });
                }
                if let Some(last) = threads.last_mut() {
                    // As long as it was on the clock that is shown.
                    let at = |raw| self.at(place, raw, Clock::Common);
                    last.by_state[state.state as usize] += at(state.end) - at(state.begin);
                }
            }
            if is_large {
                continue;
            }
            for call in host.store.calls_between(&numbers, raw)? {
                let inside = call.end.min(raw.1) - call.begin.max(raw.0);
                let name = call.name.to_string();
                let of =
                    calls.entry(call.name).or_insert(OfCall { call: name, count: 0, total_ns: 0, max_ns: 0 });
                of.count += 1;
                of.total_ns += inside.max(0);
                of.max_ns = of.max_ns.max(call.end - call.begin);
            }
        }
        let sum = |state: State| threads.iter().map(|thread| thread.by_state[state as usize]).sum::<i64>();
        let states = State::ALL
            .into_iter()
            .filter(|&state| state != State::Dead)
            .map(|state| OfState { state: state.name(), style: state as u8, total_ns: sum(state) })
            .filter(|of| of.total_ns > 0)
            .collect();
        let on_cpu = |thread: &OfThread| thread.by_state[1] + thread.by_state[2] + thread.by_state[3];
        threads.sort_by_key(|thread| (std::cmp::Reverse(on_cpu(thread)), thread.row));
        let mut calls: Vec<OfCall> = calls.into_values().collect();
        calls.sort_by_key(|call| std::cmp::Reverse(call.total_ns));
        let command = self.command_of("states", Some(window));
        Ok(Statistics { states, threads, calls, command })
    }

    /// Whether a row is one of some, or below one of them.
    pub(crate) fn is_below(&self, id: u32, rows: &[u32]) -> bool {
        let mut at = Some(id);
        while let Some(row) = at.and_then(|at| self.rows.get(at)) {
            if rows.contains(&row.id) {
                return true;
            }
            at = row.parent;
        }
        false
    }
}
