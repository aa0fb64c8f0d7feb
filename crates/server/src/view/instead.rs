//! Who had the CPU while threads waited for it: during one wait, and during all waits of a window.
//!
//! The CPU of a wait is the one on which the thread runs next; where that was not seen, it is unknown. Used
//! by: `state_at.rs`, and the statistics of the page.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use isochrone_experiment::Work;
use isochrone_store::{State, StateRow, ThreadRow};
use isochrone_time::{RawNs, SinceOrigin, Window};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::{Clock, ExperimentView};
use crate::error::Result;
use crate::works::next_part;

/// Rows of spans of a host that are in memory at once.
const AT_ONCE: u64 = 2_000_000;

/// Threads of one answer.
const MAX_THREADS: usize = 1000;

/// What ran while a thread waited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Ran {
    /// Null: an idle task.
    row: Option<u32>,
    label: String,
    total_ns: i64,
}

/// What ran during a wait for a CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Meanwhile {
    /// The row of the CPU.
    cpu: u32,
    /// Those that ran longest first.
    ran: Vec<Ran>,
    /// Time in which it is unknown what ran.
    unknown_ns: i64,
}

/// What ran during all waits for CPUs in a window.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Instead {
    /// Number of waits, and their time in the window.
    waits: u64,
    wait_ns: i64,
    /// Part of it in which it is unknown what ran, or for which CPU the thread waited.
    unknown_ns: i64,
    /// Those that ran longest first, [`MAX_THREADS`] of `ran_count`.
    ran: Vec<Ran>,
    ran_count: usize,
    /// The query with the same sums.
    command: String,
}

/// Sums by host and thread, ns.
type Sums = BTreeMap<(usize, ThreadRow), i64>;

/// A time on a host's own clock, as durations are.
type Time = Window<RawNs>;

/// Slices of a CPU by time: when, and which thread.
type Slices = Vec<(Time, ThreadRow)>;

/// Adds up what ran on a CPU during waits for it, by thread: a slice counts once for each wait that it is
/// within. Both come in any order; where slices overlap, the first counts. Gives the time of the waits in
/// which nothing known ran, ns. `O(n log n)` in waits and slices, however many slices are within a wait.
fn add_ran(waits: &[Time], slices: &mut Slices, mut add: impl FnMut(ThreadRow, i64)) -> i64 {
    let (mut starts, mut ends): (Vec<i128>, Vec<i128>) =
        waits.iter().map(|wait| (i128::from(wait.start.0), i128::from(wait.end.0))).unzip();
    starts.sort_unstable();
    ends.sort_unstable();
    // Of all waits together, the time that has passed until an instant: of each that has started, less what
    // has passed since its end. Instants come in order.
    let (mut started, mut ended, mut sum_of_starts, mut sum_of_ends) = (0, 0, 0, 0);
    let mut passed = |at: RawNs| {
        let at = i128::from(at.0);
        while let Some(start) = starts.get(started).filter(|start| **start < at) {
            (started, sum_of_starts) = (started + 1, sum_of_starts + start);
        }
        while let Some(end) = ends.get(ended).filter(|end| **end < at) {
            (ended, sum_of_ends) = (ended + 1, sum_of_ends + end);
        }
        (started as i128 * at - sum_of_starts) - (ended as i128 * at - sum_of_ends)
    };
    slices.sort_unstable_by_key(|(time, thread)| (time.start, time.end, *thread));
    let mut rest: i64 = waits.iter().map(|wait| wait.end - wait.start).sum();
    let mut last = RawNs(i64::MIN);
    for (time, thread) in slices {
        let before = passed(time.start.max(last));
        last = last.max(time.end);
        let ran = i64::try_from(passed(last) - before).unwrap_or(i64::MAX);
        if ran > 0 {
            add(*thread, ran);
            rest -= ran;
        }
    }
    rest
}

impl ExperimentView<'_> {
    /// What ran on the CPU that a thread waited for, while it did. `None`: it is unknown for which it waited.
    /// Linear in the slices of that time.
    pub(super) fn meanwhile(&self, host: usize, wait: &StateRow) -> Result<Option<Meanwhile>> {
        let Some(cpu) = self.cpu_of_wait(host, wait)? else { return Ok(None) };
        let mut sums = Sums::new();
        let mut slices =
            self.slices(host, Window::new(wait.start, wait.end))?.remove(&cpu).unwrap_or_default();
        let unknown_ns = add_ran(&[Window::new(wait.start, wait.end)], &mut slices, |thread, ns| {
            *sums.entry((host, thread)).or_default() += ns;
        });
        let cpu = self.rows.of_cpu(host, Some(cpu));
        Ok(Some(Meanwhile { cpu, ran: self.ran(&sums), unknown_ns }))
    }

    /// What ran during the waits for a CPU in a window on the common clock: those of all threads, or of those
    /// that are one of `rows` or below one of them. `O(n log n)` in the spans of the window, which are read
    /// part by part.
    pub(crate) fn instead(
        &self,
        rows: Option<&[u32]>,
        window: Window<SinceOrigin>,
        work: &Work,
    ) -> Result<Instead> {
        let mut all = Instead::default();
        let mut sums = Sums::new();
        for (index, host) in self.hosts.iter().enumerate() {
            let raw = self.recorded(index, window, Clock::Common);
            let threads = self.threads_below(index, rows);
            if threads.is_empty() || raw.is_empty() {
                continue;
            }
            let parts = host.store.parts(raw, AT_ONCE);
            work.expect(parts.len() as u64);
            for part in parts {
                next_part(work)?;
                let mut slices = self.slices(index, part)?;
                let mut waits: FxHashMap<u32, Vec<Time>> = FxHashMap::default();
                let states = host.store.states(&threads, part)?;
                for (place, wait) in states.iter().enumerate().filter(|(_, it)| it.state == State::WaitCpu) {
                    let next = states.get(place + 1).filter(|next| next.thread == wait.thread);
                    let cpu = match next {
                        Some(next) => next.cpu,
                        None => self.cpu_of_wait(index, wait)?,
                    };
                    // One that crosses parts is one.
                    all.waits += u64::from(wait.start > part.start || part.start == raw.start);
                    let time = Window::new(wait.start, wait.end);
                    all.wait_ns += time.end - time.start;
                    match cpu {
                        Some(cpu) => waits.entry(cpu).or_default().push(time),
                        None => all.unknown_ns += time.end - time.start,
                    }
                }
                for (cpu, waits) in waits {
                    let mut slices = slices.remove(&cpu).unwrap_or_default();
                    all.unknown_ns += add_ran(&waits, &mut slices, |thread, ns| {
                        *sums.entry((index, thread)).or_default() += ns;
                    });
                }
            }
        }
        all.ran = self.ran(&sums);
        all.ran_count = all.ran.len();
        all.ran.truncate(MAX_THREADS);
        all.command = self.instead_command(rows, window);
        Ok(all)
    }

    /// The query with the same sums; empty where it would have to name too many threads or hosts.
    fn instead_command(&self, rows: Option<&[u32]>, window: Window<SinceOrigin>) -> String {
        let (Some(windows), Some(of_rows)) = (self.windows_for_sql(window), self.named_threads(rows, ""))
        else {
            return String::new();
        };
        self.sql(&format!(
            "WITH spans AS (SELECT host, thread, state, begin_time_raw, end_time_raw, lead(cpu) OVER \
             (PARTITION BY host, thread ORDER BY begin_time_raw) AS next_cpu FROM thread_states), waits AS \
             (SELECT host AS on_host, next_cpu, greatest(begin_time_raw, from_raw) AS from_ns, \
             least(end_time_raw, to_raw) AS to_ns FROM spans {} WHERE state = 'wait-cpu' AND begin_time_raw \
             < to_raw AND end_time_raw > from_raw{of_rows}) SELECT host, thread, tid, comm, \
             sum(least(end_time_raw, to_ns) - greatest(begin_time_raw, from_ns)) AS total_ns FROM slices \
             JOIN waits ON host = on_host AND cpu = next_cpu WHERE begin_time_raw < to_ns AND end_time_raw > \
             from_ns GROUP BY host, thread, tid, comm ORDER BY total_ns DESC, host, thread",
            windows.joined
        ))
    }

    /// The CPU that a thread waited for.
    fn cpu_of_wait(&self, host: usize, wait: &StateRow) -> Result<Option<u32>> {
        let store = &self.hosts[host].store;
        let Some(wait) = store.whole_state(wait.thread, wait.start)? else { return Ok(None) };
        Ok(store.next_state(&wait)?.and_then(|next| next.cpu))
    }

    /// What ran on the CPUs of a host in a window, by CPU.
    fn slices(&self, host: usize, window: Window<RawNs>) -> Result<FxHashMap<u32, Slices>> {
        let mut by_cpu: FxHashMap<u32, Slices> = FxHashMap::default();
        self.hosts[host].store.slices(window, |slice| {
            if let Some(thread) = slice.thread {
                let time = Window::new(slice.start, slice.end);
                by_cpu.entry(slice.cpu).or_default().push((time, thread));
            }
        })?;
        Ok(by_cpu)
    }

    /// Sums with the rows of their threads, the greatest first. Idle tasks of a host are one.
    fn ran(&self, sums: &Sums) -> Vec<Ran> {
        let mut by_row: BTreeMap<(usize, Option<u32>), i64> = BTreeMap::new();
        for (&(host, thread), ns) in sums {
            *by_row.entry((host, self.rows.of_thread(host, thread))).or_default() += ns;
        }
        let label = |host: usize, row: Option<u32>| match row {
            Some(row) => self.rows.title(row),
            None => format!("{} idle", self.hosts[host].name),
        };
        let ran = by_row.into_iter().filter(|(_, ns)| *ns > 0);
        let mut ran: Vec<Ran> =
            ran.map(|((host, row), total_ns)| Ran { row, label: label(host, row), total_ns }).collect();
        ran.sort_by_key(|ran| (Reverse(ran.total_ns), ran.row));
        ran
    }
}

#[cfg(test)]
mod tests {
    use isochrone_experiment::Work;
    use isochrone_store::State;
    use isochrone_time::Window;

    use super::*;
    use crate::tests::ask_example;
    use crate::view::rows::RowKind;

    /// Waits that overlap, against each of them alone.
    #[test]
    fn slices_count_once_for_each_wait() {
        let mut random = isochrone_testkit::Random::new(3);
        for _ in 0..200 {
            let mut some = |most: u64| random.below(most) as i64;
            let time = |start: i64, length: i64| Window::new(RawNs(start), RawNs(start + length));
            let waits: Vec<Time> = (0..some(6)).map(|_| time(some(100), some(40))).collect();
            let (mut at, mut slices) = (0, Vec::new());
            while at < 120 {
                let (start, length) = (at + some(5), some(20));
                slices.push((time(start, length), ThreadRow(some(3) as u32)));
                at = start + length;
            }
            let mut expect = [0; 3];
            for (slice, thread) in &slices {
                expect[thread.index()] += waits
                    .iter()
                    .map(|wait| wait.clip(*slice))
                    .map(|it| (it.end - it.start).max(0))
                    .sum::<i64>();
            }
            let mut found = [0; 3];
            let rest = add_ran(&waits, &mut slices, |thread, ns| found[thread.index()] += ns);
            assert_eq!(found, expect);
            let all: i64 = waits.iter().map(|wait| wait.end - wait.start).sum();
            assert_eq!(rest + found.iter().sum::<i64>(), all);
        }
    }

    /// What ran, what was idle and what is unknown make up the waits; those of all threads are those of each.
    #[test]
    fn the_time_of_waits_is_divided_among_what_ran() {
        ask_example(|view| {
            let all = view.instead(None, view.extent, &Work::default())?;
            assert!(all.waits > 100 && all.ran.len() == all.ran_count);
            let ran: i64 = all.ran.iter().map(|it| it.total_ns).sum();
            assert_eq!(ran + all.unknown_ns, all.wait_ns);
            let middle = view.extent.start.saturating_add((view.extent.end - view.extent.start) / 2);
            let [mut wait_ns, mut unknown_ns] = [0, 0];
            for half in [Window::new(view.extent.start, middle), Window::new(middle, view.extent.end)] {
                let of_half = view.instead(None, half, &Work::default())?;
                wait_ns += of_half.wait_ns;
                unknown_ns += of_half.unknown_ns;
            }
            assert_eq!((wait_ns, unknown_ns), (all.wait_ns, all.unknown_ns));
            let threads = view.rows.all.iter().filter(|row| row.kind == RowKind::Thread && row.host == 1);
            let mut of_each = 0;
            for row in threads {
                of_each += view.instead(Some(&[row.id]), view.extent, &Work::default())?.wait_ns;
                // One wait of it, alone.
                let states = view.hosts[1].store.states(&[row.thread.unwrap()], view.hosts[1].range)?;
                let wait =
                    states.iter().filter(|it| it.state == State::WaitCpu).max_by_key(|it| it.end - it.start);
                let Some(wait) = wait else { continue };
                let Some(meanwhile) = view.meanwhile(1, wait)? else { continue };
                let ran: i64 = meanwhile.ran.iter().map(|it| it.total_ns).sum();
                assert_eq!(ran + meanwhile.unknown_ns, wait.end - wait.start);
            }
            assert_eq!(
                of_each,
                view.instead(Some(&[view.rows.of_host(1).unwrap()]), view.extent, &Work::default())?.wait_ns
            );
            Ok(())
        });
    }
}
