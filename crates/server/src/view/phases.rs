//! The time of threads in phases of their programs: by thread and phase, and what is in none of them.
//!
//! Of MPI programs, phases are the calls of MPI: what is in none of them computes. Used by: the statistics of
//! the page.

use std::collections::BTreeMap;

use isochrone_experiment::Work;
use isochrone_kernel::Name;
use isochrone_time::{RawNs, SinceOrigin, Window};
use serde::Serialize;

use super::rows::RowKind;
use super::{Clock, ExperimentView};
use crate::error::{ApiError, Result};

/// Threads of one answer.
const MAX_THREADS: usize = 1000;

/// The phases of threads in a window.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Phases {
    /// In the order of the tree, [`MAX_THREADS`] at most.
    threads: Vec<ThreadPhases>,
    thread_count: usize,
    command: String,
}

/// The phases of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ThreadPhases {
    row: u32,
    label: String,
    /// Its life in the window, and the part of it in no phase.
    all_ns: i64,
    outside_ns: i64,
    /// Those with the most time first. Phases in other phases count for both.
    phases: Vec<PhaseSum>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct PhaseSum {
    phase: String,
    count: u64,
    total_ns: i64,
    max_ns: i64,
}

impl ExperimentView<'_> {
    /// The phases of threads in a window on the common clock: of all threads that have any, or of those that
    /// are one of `rows` or below one of them. Linear in the phases of the window.
    pub(crate) fn phases_of(
        &self,
        rows: Option<&[u32]>,
        window: Window<SinceOrigin>,
        work: &Work,
    ) -> Result<Phases> {
        let mut all =
            Phases { command: self.command_of("analyze periodstats", Some(window)), ..Phases::default() };
        for row in self.rows.all.iter().filter(|row| row.kind == RowKind::Phase) {
            let (Some(thread), Some(of)) = (row.thread, row.parent) else { continue };
            if rows.is_some_and(|rows| !self.rows.is_below(row.id, rows)) {
                continue;
            }
            let lived =
                row.begin.zip(row.end).map_or(window, |(begin, end)| window.clip(Window::new(begin, end)));
            let life = self.recorded(row.host, lived, Clock::Common);
            let store = &self.hosts[row.host].store;
            if life.is_empty() {
                continue;
            }
            all.thread_count += 1;
            if work.is_stopped() {
                return Err(ApiError::stopped());
            }
            if all.threads.len() == MAX_THREADS {
                continue;
            }
            // On the host's own clock, as all durations are.
            let length = |time: Window<RawNs>| time.end - time.start;
            let mut sums: BTreeMap<Name, PhaseSum> = BTreeMap::new();
            let mut inside: Vec<Window<RawNs>> = Vec::new();
            for phase in store.phases_of(thread, life)? {
                let part = Window::new(phase.start, phase.end).clip(life);
                let none = PhaseSum { phase: phase.name.to_string(), count: 0, total_ns: 0, max_ns: 0 };
                let sum = sums.entry(phase.name).or_insert(none);
                sum.count += 1;
                sum.total_ns += length(part);
                sum.max_ns = sum.max_ns.max(length(part));
                inside.push(part);
            }
            let mut phases: Vec<PhaseSum> = sums.into_values().collect();
            phases.sort_by_key(|sum| std::cmp::Reverse(sum.total_ns));
            let outside_ns = length(life) - union(inside).into_iter().map(length).sum::<i64>();
            let label = self.rows.title(of);
            all.threads.push(ThreadPhases { row: of, label, all_ns: length(life), outside_ns, phases });
        }
        Ok(all)
    }
}

/// Times without overlaps that cover the same.
fn union(mut times: Vec<Window<RawNs>>) -> Vec<Window<RawNs>> {
    times.sort_unstable_by_key(|time| (time.start, time.end));
    let mut joined: Vec<Window<RawNs>> = Vec::new();
    for time in times.into_iter().filter(|time| !time.is_empty()) {
        match joined.last_mut() {
            Some(last) if time.start <= last.end => last.end = last.end.max(time.end),
            _ => joined.push(time),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_joined() {
        let window = |(start, end)| Window::new(RawNs(start), RawNs(end));
        let joined = |times: &[(i64, i64)]| {
            let joined = union(times.iter().copied().map(window).collect());
            joined.iter().map(|it| (it.start.0, it.end.0)).collect::<Vec<_>>()
        };
        assert_eq!(joined(&[]), []);
        assert_eq!(joined(&[(5, 9), (1, 3), (2, 2)]), [(1, 3), (5, 9)]);
        assert_eq!(joined(&[(1, 9), (2, 3), (9, 12), (20, 21)]), [(1, 12), (20, 21)]);
    }
}
