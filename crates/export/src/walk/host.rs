//! A host while it is exported: its store, its clock and its rows.

use std::collections::BTreeMap;
use std::io;

use isochrone_analysis::Steps;
use isochrone_experiment::{TimedHost, Timing, steps};
use isochrone_store::{HostStore, StateRow, ThreadRow};

use super::figures::Figures;
use super::{ExportError, Exported, PART_ROWS};
use crate::timeline::{Flow, Lanes, Place, Row, Timeline};

/// Rows of a thread.
#[derive(Debug)]
pub(super) struct ThreadRows {
    /// Its own row, with its calls.
    pub(super) row: Row,
    pub(super) states: Row,
    pub(super) calls: Lanes,
    pub(super) phases: Lanes,
    /// Its state at the end of the last part, which may go on in the next one; and the flow that ends where it begins.
    pub(super) state: Option<(StateRow, Option<Flow>)>,
}

/// Rows of a CPU.
#[derive(Debug)]
pub(super) struct CpuRows {
    row: Row,
    /// What ran.
    pub(super) running: Lanes,
    /// Interrupts and softirqs, and packets that they handled.
    pub(super) interrupts: Lanes,
}

/// A host.
#[derive(Debug)]
pub(super) struct Host<'e> {
    /// Its place among the hosts.
    pub(super) place: u32,
    pub(super) name: String,
    /// Its number in the table of messages.
    pub(super) number: u32,
    pub(super) store: HostStore,
    pub(super) timing: Timing<'e>,
    /// The time that is exported, raw ns; its end does not belong to it.
    pub(super) window: (i64, i64),
    /// Its heading.
    pub(super) row: Row,
    /// By number; `None` of idle tasks.
    pub(super) threads: Vec<Option<ThreadRows>>,
    /// Numbers of threads that have rows.
    pub(super) numbers: Vec<u32>,
    cpus: BTreeMap<u32, CpuRows>,
    pub(super) disks: BTreeMap<u32, Lanes>,
    pub(super) figures: Figures,
}

impl<'e> Host<'e> {
    /// Opens a host and adds rows for it, its processes and its threads. `None`: it has no events, or no clock.
    pub(super) fn open<T: Timeline>(
        exported: &Exported<'_, 'e>,
        timed: &TimedHost<'e>,
        place: u32,
        every: u64,
        to: &mut T,
    ) -> Result<Option<Self>, ExportError> {
        let entry = exported.store.manifest().hosts.iter().find(|entry| entry.id == timed.traced.id);
        let (Some(entry), Some(timing)) = (entry, timed.timing) else { return Ok(None) };
        let Some((first, last)) = entry.range else { return Ok(None) };
        let asked = exported.times.on(timing).window;
        // What is at the last event belongs to it.
        let after = last.saturating_add(1);
        let window = (asked.begin.unwrap_or(first).max(first), asked.end.unwrap_or(after).min(after));
        if window.0 >= window.1 {
            return Ok(None);
        }
        let steps: Steps = steps(every, exported.times, timed, timing)?;
        let name = timed.name();
        let row = to.row(&Place::Host { host: place, name })?;
        let mut host = Self {
            place,
            name: name.to_owned(),
            number: entry.number,
            store: exported.store.host(entry)?,
            timing,
            window,
            row,
            threads: Vec::new(),
            numbers: Vec::new(),
            cpus: BTreeMap::new(),
            disks: BTreeMap::new(),
            figures: Figures::new(steps),
        };
        host.add_threads(to)?;
        Ok(Some(host))
    }

    /// Rows of all processes with their threads, by pid.
    fn add_threads<T: Timeline>(&mut self, to: &mut T) -> io::Result<()> {
        let mut processes: BTreeMap<i32, Vec<u32>> = BTreeMap::new();
        for (number, thread) in (0..).zip(self.store.threads()) {
            self.threads.push(None);
            if let Some(tid) = thread.tid {
                processes.entry(thread.pid.unwrap_or(tid)).or_default().push(number);
                self.numbers.push(number);
            }
        }
        let place = self.place;
        for (pid, numbers) in processes {
            let thread = |number: u32| self.store.threads().get(number as usize);
            // A pid may have been that of several processes, one after the other: what the last one is called.
            let main =
                numbers.iter().rev().filter_map(|&number| thread(number)).find(|it| it.tid == Some(pid));
            let name = name_of(main.or_else(|| thread(*numbers.first()?)));
            to.row(&Place::Process { host: place, pid, name, host_name: &self.name })?;
            for number in numbers {
                let Some(it) = thread(number) else { continue };
                let Some(tid) = it.tid else { continue };
                let row = to.row(&Place::Thread { host: place, pid, tid, name: name_of(Some(it)) })?;
                let states = to.row(&Place::Under { parent: row, name: "state" })?;
                let (calls, phases) = (Lanes::of(row), Lanes::default());
                self.threads[number as usize] = Some(ThreadRows { row, states, calls, phases, state: None });
            }
        }
        Ok(())
    }

    /// Parts of its time, raw ns: together they hold all that begins in the window.
    pub(super) fn parts(&self) -> Vec<(i64, i64)> {
        let (first, last) = self.window;
        let mut cuts = self.store.cuts(PART_ROWS);
        cuts.retain(|&cut| first < cut && cut < last);
        let begins = std::iter::once(first).chain(cuts.iter().copied());
        begins.zip(cuts.iter().copied().chain([last])).collect()
    }

    /// A raw time, Unix ns.
    #[inline]
    pub(super) fn common(&self, raw: i64) -> i64 {
        self.timing.unix_ns(raw).clamp(0, i64::MAX.into()) as i64
    }

    /// The rows of a thread. `None`: it is an idle task, or was never identified.
    pub(super) fn thread(&mut self, number: Option<u32>) -> Option<&mut ThreadRows> {
        self.threads.get_mut(number? as usize)?.as_mut()
    }

    /// The row of a thread, unless it is an idle task or was never identified.
    pub(super) fn row_of(&self, number: Option<u32>) -> Option<Row> {
        Some(self.threads.get(number? as usize)?.as_ref()?.row)
    }

    /// What a thread is called.
    pub(super) fn name_of(&self, number: Option<u32>) -> &str {
        name_of(number.and_then(|number| self.store.threads().get(number as usize)))
    }

    /// The rows of a CPU.
    pub(super) fn cpu<T: Timeline>(&mut self, cpu: u32, to: &mut T) -> io::Result<&mut CpuRows> {
        let rows = match self.cpus.entry(cpu) {
            std::collections::btree_map::Entry::Occupied(there) => there.into_mut(),
            std::collections::btree_map::Entry::Vacant(free) => {
                let row = to.row(&Place::Under { parent: self.row, name: &format!("CPU {cpu}") })?;
                free.insert(CpuRows { row, running: Lanes::of(row), interrupts: Lanes::default() })
            }
        };
        Ok(rows)
    }

    /// The first row of the interrupts of a CPU; of packets and wake-ups that belong to no thread.
    pub(super) fn interrupts_of<T: Timeline>(&mut self, cpu: u32, to: &mut T) -> io::Result<Row> {
        let there = self.cpu(cpu, to)?;
        if let Some(row) = there.interrupts.first() {
            return Ok(row);
        }
        let row = there.interrupts_row(to)?;
        there.interrupts = Lanes::of(row);
        Ok(row)
    }

    /// Ends all that is open.
    pub(super) fn finish<T: Timeline>(&mut self, to: &mut T) -> io::Result<()> {
        let numbers = std::mem::take(&mut self.numbers);
        for &number in &numbers {
            self.settle(number, to)?;
            if let Some(rows) = self.thread(Some(number)) {
                rows.calls.finish(to)?;
                rows.phases.finish(to)?;
            }
        }
        self.numbers = numbers;
        for cpu in self.cpus.values_mut() {
            cpu.running.finish(to)?;
            cpu.interrupts.finish(to)?;
        }
        self.disks.values_mut().try_for_each(|disk| disk.finish(to))
    }
}

impl CpuRows {
    /// Adds a row for interrupts.
    pub(super) fn interrupts_row<T: Timeline>(&self, to: &mut T) -> io::Result<Row> {
        to.row(&Place::Under { parent: self.row, name: "interrupts" })
    }

    /// Where more of what runs goes, should it ever overlap.
    pub(super) fn row(&self) -> Row {
        self.row
    }
}

/// What a thread is called.
fn name_of(thread: Option<&ThreadRow>) -> &str {
    thread.and_then(|thread| thread.comm.as_deref()).unwrap_or("?")
}
