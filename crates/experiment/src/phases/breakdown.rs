//! Where the time of phases went: the states of their threads, cut at their ends, by call, by file or peer,
//! and by cause.
//!
//! The store is read in windows of a second, so that memory does not grow with the trace: what is kept are
//! the sums. The times of a phase's parts add up to its own, exactly; time of which the trace says nothing is
//! unknown.

use std::collections::BTreeMap;

use isochrone_kernel::Name;
use isochrone_store::{Cause, HostStore, PAGE_FAULT, State, StoreError, ThreadRow};
use isochrone_time::{RawNs, Window};

use crate::loaded::{Loaded, shown};

/// How much of a trace is read at once, ns.
const WINDOW: i64 = 1 << 30;

/// One phase of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instance {
    /// Its name.
    pub(crate) name: Name,
    /// The thread in the store, if known.
    pub(crate) thread: Option<ThreadRow>,
    pub(crate) start: RawNs,
    pub(crate) end: RawNs,
}

/// Time by what a thread did, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Spent {
    pub(super) running: u64,
    pub(super) interrupted: u64,
    pub(super) wait_cpu: u64,
    pub(super) blocked: u64,
    pub(super) unknown: u64,
}

impl Spent {
    pub(super) fn total(&self) -> u64 {
        [self.running, self.interrupted, self.wait_cpu, self.blocked, self.unknown].iter().sum()
    }

    fn add(&mut self, state: State, ns: u64) {
        *match state {
            State::UserMode | State::Syscall | State::Running => &mut self.running,
            State::Interrupted => &mut self.interrupted,
            State::WaitCpu => &mut self.wait_cpu,
            State::Blocked => &mut self.blocked,
            State::Unknown | State::WaitFork | State::Dead => &mut self.unknown,
        } += ns;
    }
}

/// A number of calls, and the time in them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) count: u64,
    pub(super) spent: Spent,
}

/// A file or the peer of a socket: its name and what it is.
pub(super) type FileName = (Option<Name>, Option<Name>);

/// The sums of a host, by name of the phase.
#[derive(Debug, Default)]
pub(super) struct Breakdown {
    /// By call; `None`: in none.
    pub(super) calls: BTreeMap<(Name, Option<Name>), Counted>,
    pub(super) files: BTreeMap<(Name, FileName), Counted>,
    /// By cause and detail: how often, and for how long, ns.
    pub(super) causes: BTreeMap<(Name, Cause, Name), (u64, u64)>,
}

/// The sums over instances, which are sorted by their starts.
pub(super) fn breakdown(store: &HostStore, instances: &[Instance]) -> Result<Breakdown, StoreError> {
    let mut sums = Breakdown::default();
    let mut active: Vec<&Instance> = Vec::new();
    let mut rest = instances.iter().peekable();
    let mut from = RawNs::MIN;
    loop {
        active.retain(|instance| instance.end > from);
        if active.is_empty() {
            match rest.peek() {
                Some(next) => from = from.max(next.start),
                None => return Ok(sums),
            }
        }
        let to = from.saturating_add(WINDOW);
        while let Some(next) = rest.next_if(|next| next.start < to) {
            if next.end > next.start {
                active.push(next);
            }
        }
        if !active.is_empty() {
            let mut threads: Vec<ThreadRow> = active.iter().filter_map(|instance| instance.thread).collect();
            threads.sort_unstable();
            threads.dedup();
            Loaded::read(store, Window::new(from, to), &threads)?.add(&active, &mut sums)?;
        }
        from = to;
    }
}

impl Loaded<'_> {
    fn add(&self, active: &[&Instance], sums: &mut Breakdown) -> Result<(), StoreError> {
        for instance in active {
            let part = self.window.clip(Window::new(instance.start, instance.end));
            let mut covered = 0;
            if let Some(thread) = instance.thread {
                covered = self.add_states(instance, thread, part, sums)?;
                self.add_counts(instance, thread, part, sums);
            }
            // Before the thread was known, or without one.
            let unknown = ((part.end - part.start) as u64).saturating_sub(covered);
            if unknown > 0 {
                sums.calls.entry((instance.name.clone(), None)).or_default().spent.unknown += unknown;
                let is_new = instance.start >= self.window.start;
                sums.wait(instance, (Cause::Unknown, Name::default()), unknown, is_new);
            }
        }
        Ok(())
    }

    /// Adds the states of a phase's part; returns how much of it they cover, ns.
    fn add_states(
        &self,
        instance: &Instance,
        thread: ThreadRow,
        Window { start, end }: Window<RawNs>,
        sums: &mut Breakdown,
    ) -> Result<u64, StoreError> {
        let Some(rows) = self.rows.get(&thread) else { return Ok(0) };
        let mut covered = 0;
        let first = rows.partition_point(|row| row.end <= start);
        for row in rows[first..].iter().take_while(|row| row.start < end) {
            let ns = (row.end.min(end) - row.start.max(start)) as u64;
            covered += ns;
            let call = row.syscall.as_deref().filter(|call| *call != PAGE_FAULT).map(Name::from);
            sums.calls.entry((instance.name.clone(), call)).or_default().spent.add(row.state, ns);
            if let Some(fd) = row.fd {
                let file = self.file_name(thread, fd, row.start);
                sums.files.entry((instance.name.clone(), file)).or_default().spent.add(row.state, ns);
            }
            let is_new = row.start >= self.window.start || instance.start >= self.window.start;
            sums.wait(instance, self.cause(row)?, ns, is_new);
        }
        Ok(covered)
    }

    /// Counts the calls that a phase's part is the first to see of the phase.
    fn add_counts(&self, instance: &Instance, thread: ThreadRow, part: Window<RawNs>, sums: &mut Breakdown) {
        let calls = self.calls.get(&thread).map_or(&[][..], Vec::as_slice);
        let overlap = calls.iter().filter(|call| call.start < part.end && call.end > part.start);
        for call in overlap.filter(|call| call.start.max(instance.start) >= self.window.start) {
            let key = (instance.name.clone(), Some(call.name.clone()));
            sums.calls.entry(key).or_default().count += 1;
            if let Some(fd) = call.fd {
                let file = self.file_name(thread, fd, call.start);
                sums.files.entry((instance.name.clone(), file)).or_default().count += 1;
            }
        }
    }

    fn file_name(&self, thread: ThreadRow, fd: i32, at: RawNs) -> FileName {
        self.file(thread, fd, at)
            .map_or((None, None), |file| (shown(file), file.kind.as_deref().map(Name::from)))
    }
}

impl Breakdown {
    fn wait(&mut self, instance: &Instance, (cause, detail): (Cause, Name), ns: u64, is_new: bool) {
        let (count, total) = self.causes.entry((instance.name.clone(), cause, detail)).or_default();
        *count += u64::from(is_new);
        *total += ns;
    }
}
