//! The machine that executes operations: who has which table, and what is open in it.
//!
//! Threads have seats at tables. A thread that was never told of gets a seat at the table of its process; a table that was
//! made so is *assumed* and may turn out to be another one, with which it is united then. `calls` executes system calls,
//! `seats` says who sits where.

mod calls;
mod guess;
mod seats;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use self::seats::TableKey;
use super::op::{DumpOwner, FileOp, Tally};
use super::open::{End, Open};
use super::span::{ClosedBy, FileKind, OpenedBy};
use crate::calls::open_flag;
use crate::id::{ThreadId, Time};
use crate::keyed::Keyed;
use crate::span::Spans;

/// What is open on a host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Machine {
    /// At which table a thread sits.
    seats: Keyed<ThreadId, TableKey>,
    /// Of which process a thread is, as told last.
    pids: Keyed<ThreadId, i32>,
    /// The table of a process. It may be gone.
    processes: Keyed<i32, TableKey>,
    tables: Keyed<TableKey, Table>,
    /// The table that the dump calls so. It may be gone.
    dumped: Keyed<u64, TableKey>,
    /// How many losses there have been.
    losses: u64,
}

/// A table of descriptors.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Table {
    files: BTreeMap<i32, Open>,
    /// Threads that sit here.
    users: u32,
    /// The process whose it is.
    pid: Option<i32>,
    /// What the dump calls it.
    dump: Option<u64>,
    /// Whether nobody saw it being made.
    is_assumed: bool,
}

impl Machine {
    /// Executes an operation.
    pub(super) fn run(&mut self, op: FileOp, spans: &mut impl Spans) {
        match op {
            FileOp::Call { thread, at, effect: Some(effect), ret, made, .. } => {
                self.call(thread, at, effect, ret, &made, spans);
            }
            FileOp::Call { thread, at, effect: None, name, ret, made } => {
                if let Some(name) = name {
                    self.guess(thread, at, &name, ret, &made, spans);
                }
            }
            FileOp::Fork { parent, child, at, shares_table } => {
                self.fork(parent, child, at, shares_table, spans);
            }
            FileOp::Exec { thread, at } => self.exec(thread, at, spans),
            FileOp::Exit { thread, at } => {
                self.leave(thread, at, spans);
                self.pids.remove(&thread);
            }
            FileOp::Member { thread, pid } => self.member(thread, pid),
            FileOp::DumpOwner { thread, table } => self.dump_owner(thread, table),
            FileOp::DumpFile { owner, at, fd, flags, name } => {
                let flags = flags.unwrap_or_default();
                let key = match owner {
                    DumpOwner::Thread(thread) => self.seat(thread),
                    DumpOwner::Table(table) => self.dumped_table(table),
                };
                let kind = FileKind::of_name(&name, flags & open_flag::DIRECTORY != 0);
                let losses = self.losses;
                let Some(table) = self.tables.get_mut(&key).filter(|_| fd >= 0) else { return };
                let file = table.files.entry(fd).or_insert_with(|| Open {
                    opened_by: OpenedBy::Dump,
                    thread: match owner {
                        DumpOwner::Thread(thread) => Some(thread),
                        DumpOwner::Table(_) => None,
                    },
                    close_on_exec: flags & open_flag::CLOEXEC != 0,
                    ..Open::sighted(at, losses)
                });
                file.learn(&name, kind);
            }
            FileOp::Lost { .. } => self.losses += 1,
        }
    }

    /// Adds up uses of a descriptor. The order of uses between two other operations does not matter.
    pub(super) fn use_file(&mut self, thread: ThreadId, fd: i32, tally: &Tally) {
        if let Some(file) = self.file(thread, fd, tally.first.0) {
            file.count(tally);
        }
    }

    /// Everything that is open ends.
    pub(super) fn finish(mut self, end: Time, spans: &mut impl Spans) {
        // Whoever sits at a table, the first by name, stands for it where nobody is known who used a descriptor.
        let mut sitting: BTreeMap<TableKey, ThreadId> = BTreeMap::new();
        for (&thread, &key) in self.seats.unordered() {
            let first = sitting.entry(key).or_insert(thread);
            *first = thread.min(*first);
        }
        for (key, table) in std::mem::take(&mut self.tables).into_sorted() {
            let end = End {
                at: end,
                by: ClosedBy::TraceEnd,
                closer: sitting.get(&key).copied(),
                losses: self.losses,
            };
            table.end(end, spans);
        }
    }

    /// A descriptor of a thread: it is there if somebody uses it.
    fn file(&mut self, thread: ThreadId, fd: i32, at: Time) -> Option<&mut Open> {
        let key = self.seat(thread);
        let losses = self.losses;
        let table = self.tables.get_mut(&key).filter(|_| fd >= 0)?;
        Some(table.files.entry(fd).or_insert_with(|| Open::sighted(at, losses)))
    }

    /// The table of a thread.
    fn table(&mut self, thread: ThreadId) -> &mut Table {
        let key = self.seat(thread);
        self.tables.or_default(key)
    }

    /// How a descriptor ends now.
    fn end(&self, at: Time, by: ClosedBy, closer: ThreadId) -> End {
        End { at, by, closer: Some(closer), losses: self.losses }
    }
}

impl Table {
    /// All that is open ends.
    fn end(self, end: End, spans: &mut impl Spans) {
        for (fd, file) in self.files {
            tell(file, fd, self.pid, end, spans);
        }
    }

    /// Closes a descriptor, if it is open.
    fn close(&mut self, fd: i32, end: End, spans: &mut impl Spans) {
        if let Some(file) = self.files.remove(&fd) {
            tell(file, fd, self.pid, end, spans);
        }
    }
}

fn tell(file: Open, fd: i32, pid: Option<i32>, end: End, spans: &mut impl Spans) {
    if let Some(span) = file.end(fd, pid, end) {
        spans.file(&span);
    }
}
