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
}

/// Sums by host and thread, ns.
type Sums = BTreeMap<(usize, ThreadRow), i64>;

/// What ran on each CPU of a host in a window.
struct Slices(FxHashMap<u32, Vec<(RawNs, RawNs, ThreadRow)>>);

impl Slices {
    /// Adds what ran on a CPU in a time to the sums, by how long times are; gives the rest of the time.
    fn add(
        &self,
        (host, cpu): (usize, u32),
        time: Window<RawNs>,
        length: impl Fn(RawNs, RawNs) -> i64,
        sums: &mut Sums,
    ) -> i64 {
        let of_cpu = self.0.get(&cpu).map(Vec::as_slice).unwrap_or_default();
        let first = of_cpu.partition_point(|(_, end, _)| *end <= time.start);
        let mut rest = length(time.start, time.end);
        for (start, end, thread) in of_cpu[first..].iter().take_while(|(start, ..)| *start < time.end) {
            let ns = length((*start).max(time.start), (*end).min(time.end));
            *sums.entry((host, *thread)).or_default() += ns;
            rest -= ns;
        }
        rest
    }
}

impl ExperimentView<'_> {
    /// What ran on the CPU that a thread waited for, while it did. `None`: it is unknown for which it waited.
    /// Linear in the slices of that time.
    pub(super) fn meanwhile(&self, host: usize, wait: &StateRow) -> Result<Option<Meanwhile>> {
        let Some(cpu) = self.cpu_of_wait(host, wait)? else { return Ok(None) };
        let time = Window::new(wait.start, wait.end);
        let mut sums = Sums::new();
        let length = |start, end| self.length(host, start, end);
        let unknown_ns = self.slices(host, time)?.add((host, cpu), time, length, &mut sums);
        let cpu = self.rows.of_cpu(host, Some(cpu));
        Ok(Some(Meanwhile { cpu, ran: self.ran(&sums), unknown_ns }))
    }

    /// What ran during the waits for a CPU in a window on the common clock: those of all threads, or of those
    /// that are one of `rows` or below one of them. Linear in the spans of the window, which are read part by
    /// part, and in the slices during each wait.
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
            let parts = host.parts(raw, AT_ONCE);
            work.expect(parts.len() as u64);
            for part in parts {
                next_part(work)?;
                let slices = self.slices(index, part)?;
                let states = host.store.states(&threads, part)?;
                for (place, wait) in states.iter().enumerate().filter(|(_, it)| it.state == State::WaitCpu) {
                    let next = states.get(place + 1).filter(|next| next.thread == wait.thread);
                    let cpu = match next.and_then(|next| next.cpu) {
                        Some(cpu) => Some(cpu),
                        None => self.cpu_of_wait(index, wait)?,
                    };
                    let time = Window::new(wait.start, wait.end);
                    // One that crosses parts is one.
                    all.waits += u64::from(wait.start > part.start || part.start == raw.start);
                    let length = |start, end| self.length(index, start, end);
                    all.wait_ns += length(time.start, time.end);
                    all.unknown_ns += match cpu {
                        Some(cpu) => slices.add((index, cpu), time, length, &mut sums),
                        None => length(time.start, time.end),
                    };
                }
            }
        }
        all.ran = self.ran(&sums);
        all.ran_count = all.ran.len();
        all.ran.truncate(MAX_THREADS);
        Ok(all)
    }

    /// A duration on the common clock.
    fn length(&self, host: usize, start: RawNs, end: RawNs) -> i64 {
        self.at(host, end, Clock::Common) - self.at(host, start, Clock::Common)
    }

    /// The CPU that a thread waited for.
    fn cpu_of_wait(&self, host: usize, wait: &StateRow) -> Result<Option<u32>> {
        let store = &self.hosts[host].store;
        let Some(wait) = store.whole_state(wait.thread, wait.start)? else { return Ok(None) };
        Ok(store.next_state(&wait)?.and_then(|next| next.cpu))
    }

    /// What ran on the CPUs of a host in a window.
    fn slices(&self, host: usize, window: Window<RawNs>) -> Result<Slices> {
        let mut by_cpu: FxHashMap<u32, Vec<(RawNs, RawNs, ThreadRow)>> = FxHashMap::default();
        self.hosts[host].store.slices(window, |slice| {
            if let Some(thread) = slice.thread {
                by_cpu.entry(slice.cpu).or_default().push((slice.start, slice.end, thread));
            }
        })?;
        for of_cpu in by_cpu.values_mut() {
            of_cpu.sort_unstable();
        }
        Ok(Slices(by_cpu))
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

    use crate::tests::ask_example;
    use crate::view::rows::RowKind;

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
                assert_eq!(ran + meanwhile.unknown_ns, view.length(1, wait.start, wait.end));
            }
            assert_eq!(
                of_each,
                view.instead(Some(&[view.rows.of_host(1).unwrap()]), view.extent, &Work::default())?.wait_ns
            );
            Ok(())
        });
    }
}
