//! Threads of a host by their final numbers.

use std::collections::BTreeMap;

use isochrone_kernel::{CanonicalMap, Missed, Name, Names, Namespace, PIECE_BEGIN, ThreadId, Threads, Time};

use crate::manifest::Recorded;
use crate::sweep::{Life, Mode};
use crate::writer::Numbers;

/// A thread of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadRow {
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
    /// When it began, raw ns: the begin of the trace, if it existed before.
    pub begin: Time,
    /// When it ended, raw ns: the end of the trace, if it had not.
    pub end: Time,
    /// Whether its begin was seen.
    pub is_begin_seen: bool,
    /// Whether its end was seen.
    pub is_end_seen: bool,
    /// When it began to exit, raw ns; it runs on for a while.
    pub exited: Option<Time>,
    /// Of threads whose begin was seen: until when a first wake-up cannot have been missed, raw ns. `None`: at no time.
    pub known_new_until: Option<Time>,
    /// When it was woken first or was first on a CPU, raw ns; only of threads whose begin was seen.
    pub woken: Option<Time>,
}

impl ThreadRow {
    /// All of its names, the last one first.
    pub fn comms(&self) -> impl Iterator<Item = &str> {
        self.comm.as_deref().into_iter().chain(self.names.iter().map(|(_, name)| name.as_str()))
    }

    /// Its name at a time, raw ns: the last one that was seen until then. `O(log n)` in its names.
    pub fn comm_at(&self, at: Time) -> Option<&str> {
        self.names.at(at).map(Name::as_str).or(self.comm.as_deref())
    }
}

/// All threads of a host, and the threads of the numbers in rows of spans.
#[derive(Debug, Default)]
pub(crate) struct Numbered {
    pub(crate) threads: Vec<ThreadRow>,
    /// By number in rows of spans: number of the thread, if it is known.
    pub(crate) names: Vec<Option<u32>>,
}

impl Numbered {
    /// Numbers threads in the order of their ids. `range`: the first and the last event.
    pub(crate) fn new(
        threads: &Threads,
        named: CanonicalMap<ThreadId, Numbers>,
        range: (Time, Time),
    ) -> Self {
        let mut all: BTreeMap<ThreadId, Option<Numbers>> =
            named.into_sorted().into_iter().map(|(thread, named)| (thread, Some(named))).collect();
        for (thread, _) in threads.iter() {
            all.entry(thread).or_default();
        }
        let numbers = all.values().flatten().flat_map(Numbers::iter);
        let most = numbers.map(|number| number as usize + 1).max().unwrap_or(0);
        let mut numbered = Self { names: vec![None; most], ..Self::default() };
        for (thread, named) in all {
            let number = match thread {
                ThreadId::Unidentified { .. } => None,
                _ => Some(numbered.threads.len() as u32),
            };
            for name in named.iter().flat_map(Numbers::iter) {
                numbered.names[name as usize] = number;
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
        for thread in self.threads.iter_mut().filter(|it| it.is_begin_seen && recorded.has_first_wakeups) {
            thread.known_new_until = Some(missed.first_since(thread.begin).unwrap_or(Time::MAX));
        }
    }

    /// Records that a forked thread is woken, or runs; only the first time counts.
    #[inline]
    pub(crate) fn wake(&mut self, number: u32, at: Time) {
        let thread = &mut self.threads[number as usize];
        if thread.is_begin_seen && thread.woken.is_none() {
            thread.woken = Some(at);
        }
    }

    /// The row of threads of a number in a row of spans.
    #[inline]
    pub(crate) fn thread(&self, name: u32) -> Option<u32> {
        self.names.get(name as usize).copied().flatten()
    }
}

/// The lives of threads by number, for the sweep. `range`: the first and the last event.
pub(crate) fn lives(threads: &[ThreadRow], (first, last): (Time, Time), recorded: Recorded) -> Vec<Life> {
    let mode = |row: &ThreadRow| match row.is_kernel {
        Some(true) => Mode::Kernel,
        Some(false) if recorded.has_all_calls => Mode::User,
        _ => Mode::Unknown,
    };
    let mut lives: Vec<Life> = threads
        .iter()
        .map(|row| Life {
            begin: row.begin.max(first),
            // Idle tasks have no states.
            end: if row.tid.is_some() { last } else { Time::MIN },
            new_until: row.known_new_until,
            died: row.is_end_seen.then_some(row.end),
            mode: mode(row),
        })
        .collect();
    // Threads of one tid follow each other, by begin.
    for next in 1..threads.len() {
        if threads[next].tid.is_some() && threads[next].tid == threads[next - 1].tid {
            lives[next - 1].end = lives[next - 1].end.min(lives[next].begin);
        }
    }
    lives
}

fn row(thread: ThreadId, threads: &Threads, makes_calls: bool, (first, last): (Time, Time)) -> ThreadRow {
    let facts = threads.get(thread).cloned().unwrap_or_default();
    let idle_of_cpu = match thread {
        ThreadId::Idle(cpu) => Some(cpu),
        _ => None,
    };
    let born = match thread {
        ThreadId::Thread { born, .. } if born != PIECE_BEGIN => Some(born),
        _ => None,
    };
    ThreadRow {
        tid: thread.tid().filter(|_| idle_of_cpu.is_none()),
        idle_of_cpu,
        pid: facts.pid,
        comm: facts.names.last().map(Name::to_string).or_else(|| Some(format!("swapper/{}", idle_of_cpu?))),
        names: if facts.names.iter().len() > 1 { facts.names } else { Names::default() },
        parent: facts.parent,
        // The kernel's own threads make none.
        is_kernel: facts.is_kernel.or(makes_calls.then_some(false)),
        inner: threads.inner(thread),
        begin: born.unwrap_or(first),
        end: facts.dead.unwrap_or(last),
        is_begin_seen: born.is_some() && facts.was_forked,
        is_end_seen: facts.dead.is_some(),
        exited: facts.exited,
        woken: None,
        known_new_until: None,
    }
}
