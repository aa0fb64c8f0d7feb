//! The machine that executes operations: attachments of threads to tables, and what is open in these.
//!
//! Threads are attached to tables. A thread without a known attachment is attached to the table of its
//! process; a table made so is *assumed* and may turn out to be another one, with which it is then united.
//! `calls` executes system calls, `attachments` decides which table a thread is attached to, `tables` stores
//! that, `descriptors` what is open in a table; `doubts` records what losses leave uncertain.

mod attachments;
mod calls;
mod descriptors;
mod doubts;
mod guess;
mod tables;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use self::doubts::Doubts;
use self::tables::{Table, TableKey, Tables};
use super::op::{DumpOwner, FileOp, Tally};
use super::open::{About, OpenFile};
use super::returned::{OneUse, Returned};
use crate::calls::open_flag;
use crate::canonical_map::CanonicalMap;
use crate::id::{ThreadId, Time};
use crate::span::file::{FileKind, OpenedBy};
use crate::span::{Mapped, Mapping, Spans};

/// What is open on a host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Machine {
    /// What is open, and the attachments of threads.
    tables: Tables,
    /// The last known process of each thread.
    pids: CanonicalMap<ThreadId, i32>,
    /// The table of a process. It may be gone.
    processes: CanonicalMap<i32, TableKey>,
    /// The table that has this address in the dump. It may be gone.
    dumped: CanonicalMap<u64, TableKey>,
    /// What losses leave in doubt.
    doubts: Doubts,
}

impl Machine {
    /// Executes an operation.
    pub(super) fn run(&mut self, op: &FileOp, spans: &mut impl Spans) {
        match *op {
            FileOp::Call { .. } => {
                if let Some(call) = op.returned() {
                    self.returned(&call, spans);
                }
            }
            FileOp::Fork { parent, child, at, shares_table, is_guess } => {
                self.fork(parent, child, at, shares_table, spans);
                all_memory(spans, child, at, Mapped::CopyOf(parent));
                if is_guess && self.doubts.are_any() {
                    self.doubt([parent, child]);
                }
            }
            FileOp::Exec { thread, at } => {
                self.exec(thread, at, spans);
                all_memory(spans, thread, at, Mapped::Nothing);
            }
            FileOp::Exit { thread, at } => {
                self.leave(thread, at, spans);
                self.pids.remove(&thread);
            }
            FileOp::Member { thread, pid } => self.member(thread, pid, spans),
            FileOp::DumpOwner { thread, table } => self.dump_owner(thread, table, spans),
            FileOp::DumpFile { owner, at, fd, flags, ref name } => {
                let flags = flags.unwrap_or_default();
                let place = match owner {
                    DumpOwner::Thread(thread) => self.table_of(thread),
                    DumpOwner::Table(table) => self.dumped_table(table),
                };
                if fd < 0 {
                    return;
                }
                let kind = FileKind::of_name(name, flags & open_flag::DIRECTORY != 0);
                let losses = self.doubts.losses_at(at);
                let thread = match owner {
                    DumpOwner::Thread(thread) => Some(thread),
                    DumpOwner::Table(_) => None,
                };
                let file = self.tables.at_mut(place).files.or_insert_with(fd, || OpenFile {
                    opened_by: OpenedBy::Dump,
                    close_on_exec: flags & open_flag::CLOEXEC != 0,
                    about: About { thread, ..About::default() },
                    ..OpenFile::sighted(at, losses)
                });
                file.learn(name.clone(), kind);
            }
            FileOp::LossBegins { at, to } => self.doubts.begin_loss(at, to),
            FileOp::Lost { .. } => self.doubts.end_loss(),
        }
    }

    /// Executes a call.
    pub(super) fn returned(&mut self, call: &Returned<'_>, spans: &mut impl Spans) {
        match (call.effect, call.name) {
            (Some(effect), _) => self.call(call, effect, spans),
            (None, Some(name)) => self.guess(call, name, spans),
            (None, None) => {}
        }
    }

    /// As [`Self::use_file`], of one.
    #[inline]
    pub(super) fn use_once(&mut self, one: OneUse<'_>) {
        if let Some(file) = self.file(one.thread, one.fd, one.at) {
            file.count_use(&one);
        }
    }

    /// Adds up uses of a descriptor. The order of uses between two other operations does not matter.
    pub(super) fn use_file(&mut self, thread: ThreadId, fd: i32, tally: &Tally) {
        if let Some(file) = self.file(thread, fd, tally.first) {
            file.count(thread, tally);
        }
    }

    /// Ends all that is open.
    pub(super) fn finish(self, end: Time, spans: &mut impl Spans) {
        // The first attached thread, by id, is recorded where no thread is known to have used a descriptor.
        let mut sitting: BTreeMap<TableKey, ThreadId> = BTreeMap::new();
        for (thread, place) in self.tables.attached() {
            let first = sitting.entry(self.tables.key(place)).or_insert(thread);
            *first = thread.min(*first);
        }
        for (key, table) in self.tables.into_sorted() {
            let end = self.doubts.end_of_trace(end, sitting.get(&key).copied());
            table.end(end, &self.doubts, spans);
        }
    }

    /// A descriptor of a thread: it exists if a thread uses it.
    #[inline]
    fn file(&mut self, thread: ThreadId, fd: i32, at: Time) -> Option<&mut OpenFile> {
        let losses = self.doubts.losses_at(at);
        let table = self.table(thread);
        (fd >= 0).then(|| table.files.or_insert_with(fd, || OpenFile::sighted(at, losses)))
    }

    /// The table of a thread.
    #[inline]
    fn table(&mut self, thread: ThreadId) -> &mut Table {
        let place = self.table_of(thread);
        self.tables.at_mut(place)
    }
}

/// All memory of a thread's process shows something else.
fn all_memory(spans: &mut impl Spans, thread: ThreadId, at: Time, what: Mapped) {
    spans.mapping(&Mapping { thread, at, address: 0, bytes: u64::MAX, what });
}
