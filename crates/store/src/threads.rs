//! Threads of a host by their final numbers.

use std::collections::BTreeMap;

use isochrone_kernel::{CanonicalMap, Missed, Name, Names, Namespace, PIECE_BEGIN, ThreadId, Threads};
use isochrone_time::{RawNs, Window};
use serde::{Deserialize, Serialize};

use crate::manifest::Recorded;
use crate::sweep::{Life, Mode};
use crate::tables::ThreadTableRow;
use crate::writer::RowThreads;

/// Number of a thread of a host: the index of its row in the table `threads`, and in
/// [`HostStore::threads`](crate::HostStore::threads).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ThreadRow(pub u32);

impl ThreadRow {
    /// The index in [`HostStore::threads`](crate::HostStore::threads).
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Number of a thread in rows of spans: the index of its row in the table `thread_names`, which has its
/// [`ThreadRow`], if it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadName(pub u32);

impl ThreadName {
    /// The index in the table `thread_names`.
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A thread of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadInfo {
    /// Its tid in the host's initial pid namespace; `None` for idle tasks.
    pub tid: Option<i32>,
    /// The CPU whose idle task it is.
    pub idle_of_cpu: Option<u32>,
    /// Pid of its process.
    pub pid: Option<i32>,
    /// Its last name.
    pub comm: Option<String>,
    /// All of its names, if it had several.
    pub names: Names,
    /// Pid of the parent of its process.
    pub parent: Option<i32>,
    /// Whether it is a kernel thread.
    pub is_kernel: Option<bool>,
    /// Its ids in its innermost pid namespace.
    pub inner: Option<Namespace>,
    /// When it started: the start of the trace, if it existed before.
    pub start: RawNs,
    /// When it ended: the end of the trace, if it had not.
    pub end: RawNs,
    /// Whether its start was seen.
    pub is_start_seen: bool,
    /// Whether its end was seen.
    pub is_end_seen: bool,
    /// When it started to exit; it runs on for a while.
    pub exited: Option<RawNs>,
    /// Of threads whose start was seen: until when a first wake-up cannot have been missed. `None`: at no
    /// time.
    pub known_new_until: Option<RawNs>,
    /// When it was woken first or was first on a CPU; only of threads whose start was seen.
    pub woken: Option<RawNs>,
}

impl ThreadInfo {
    /// All of its names, the last one first.
    pub fn comms(&self) -> impl Iterator<Item = &str> {
        self.comm.as_deref().into_iter().chain(self.names.iter().map(|(_, name)| name.as_str()))
    }

    /// Its name at an instant: the last one that was seen until then. `O(log n)` in its names.
    pub fn comm_at(&self, at: RawNs) -> Option<&str> {
        self.names.at(at).map(Name::as_str).or(self.comm.as_deref())
    }
}

impl From<ThreadTableRow> for ThreadInfo {
    fn from(row: ThreadTableRow) -> Self {
        Self {
            tid: row.tid,
            idle_of_cpu: row.idle_of_cpu,
            pid: row.pid,
            comm: row.comm.map(|comm| comm.to_string()),
            names: Names::default(),
            parent: row.parent,
            is_kernel: row.is_kernel,
            inner: row.vtid.map(|vtid| Namespace {
                vtid,
                vpid: row.vpid,
                level: row.pid_namespace_level.unwrap_or_default(),
                inode: row.pid_namespace,
            }),
            start: row.start,
            known_new_until: row.known_new_until,
            end: row.end,
            is_start_seen: row.is_start_seen,
            is_end_seen: row.is_end_seen,
            exited: row.exited,
            woken: row.woken,
        }
    }
}

/// All threads of a host, and the threads of the numbers in rows of spans.
#[derive(Debug, Default)]
pub(crate) struct NumberedThreads {
    pub(crate) threads: Vec<ThreadInfo>,
    /// By number in rows of spans: number of the thread, if it is known.
    pub(crate) names: Vec<Option<ThreadRow>>,
}

impl NumberedThreads {
    /// Numbers threads in the order of their ids. `range`: from the first to the last event.
    pub(crate) fn new(
        threads: &Threads,
        named: CanonicalMap<ThreadId, RowThreads>,
        range: Window<RawNs>,
    ) -> Self {
        let mut all: BTreeMap<ThreadId, Option<RowThreads>> =
            named.into_sorted().into_iter().map(|(thread, named)| (thread, Some(named))).collect();
        for (thread, _) in threads.iter() {
            all.entry(thread).or_default();
        }
        let numbers = all.values().flatten().flat_map(RowThreads::iter);
        let most = numbers.map(|number| number.index() + 1).max().unwrap_or(0);
        let mut numbered = Self { names: vec![None; most], ..Self::default() };
        for (thread, named) in all {
            let number = match thread {
                ThreadId::Unidentified { .. } => None,
                _ => Some(ThreadRow(numbered.threads.len() as u32)),
            };
            for name in named.iter().flat_map(RowThreads::iter) {
                numbered.names[name.index()] = number;
            }
            if number.is_some() {
                let makes_calls = named.is_some_and(|named| named.makes_calls());
                numbered.threads.push(row(thread, threads, makes_calls, range));
            }
        }
        numbered
    }

    /// Records until when forked threads are known not to have been woken, unless they are seen to be.
    pub(crate) fn set_known_new(&mut self, missed: &Missed, recorded: Recorded) {
        for thread in self.threads.iter_mut().filter(|it| it.is_start_seen && recorded.has_first_wakeups) {
            thread.known_new_until = Some(missed.first_since(thread.start).unwrap_or(RawNs::MAX));
        }
    }

    /// Records that a forked thread is woken, or runs; only the first time counts.
    #[inline]
    pub(crate) fn wake(&mut self, thread: ThreadRow, at: RawNs) {
        let thread = &mut self.threads[thread.index()];
        if thread.is_start_seen && thread.woken.is_none() {
            thread.woken = Some(at);
        }
    }

    /// The row of threads of a number in a row of spans.
    #[inline]
    pub(crate) fn thread(&self, name: ThreadName) -> Option<ThreadRow> {
        self.names.get(name.index()).copied().flatten()
    }
}

/// The lives of threads by number, for the sweep. `range`: the first and the last event.
pub(crate) fn lives(threads: &[ThreadInfo], range: Window<RawNs>, recorded: Recorded) -> Vec<Life> {
    let mode = |row: &ThreadInfo| match row.is_kernel {
        Some(true) => Mode::Kernel,
        Some(false) if recorded.has_all_calls => Mode::User,
        _ => Mode::Unknown,
    };
    let mut lives: Vec<Life> = threads
        .iter()
        .map(|row| Life {
            start: row.start.max(range.start),
            // Idle tasks have no states.
            end: if row.tid.is_some() { range.end } else { RawNs::MIN },
            new_until: row.known_new_until,
            died: row.is_end_seen.then_some(row.end),
            mode: mode(row),
        })
        .collect();
    // Threads of one tid follow each other, by start.
    for next in 1..threads.len() {
        if threads[next].tid.is_some() && threads[next].tid == threads[next - 1].tid {
            lives[next - 1].end = lives[next - 1].end.min(lives[next].start);
        }
    }
    lives
}

fn row(thread: ThreadId, threads: &Threads, makes_calls: bool, range: Window<RawNs>) -> ThreadInfo {
    let facts = threads.get(thread).cloned().unwrap_or_default();
    let inner = threads.inner(thread, &facts);
    let idle_of_cpu = match thread {
        ThreadId::Idle(cpu) => Some(cpu),
        _ => None,
    };
    let born = match thread {
        ThreadId::Thread { born, .. } if born != PIECE_BEGIN => Some(born),
        _ => None,
    };
    ThreadInfo {
        tid: thread.tid().filter(|_| idle_of_cpu.is_none()),
        idle_of_cpu,
        pid: facts.pid,
        comm: facts.names.last().map(Name::to_string).or_else(|| Some(format!("swapper/{}", idle_of_cpu?))),
        names: if facts.names.iter().len() > 1 { facts.names } else { Names::default() },
        parent: facts.parent,
        // The kernel's own threads make none.
        is_kernel: facts.is_kernel.or(makes_calls.then_some(false)),
        inner,
        start: born.unwrap_or(range.start),
        end: facts.dead.unwrap_or(range.end),
        is_start_seen: born.is_some() && facts.was_forked,
        is_end_seen: facts.dead.is_some(),
        exited: facts.exited,
        woken: None,
        known_new_until: None,
    }
}
