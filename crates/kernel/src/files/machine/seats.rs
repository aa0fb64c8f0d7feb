//! Who sits at which table.

use serde::{Deserialize, Serialize};

use super::super::open::Open;
use super::super::span::{ClosedBy, OpenedBy};
use super::{Machine, Table};
use crate::id::{ThreadId, Time};
use crate::span::Spans;

/// What a table is called: how it was made, so that the name depends on nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) enum TableKey {
    /// The one that a thread of no known process had when it was first seen.
    Thread(ThreadId),
    /// The one that a process had when one of its threads was first seen.
    Process(i32),
    /// One that the dump told of before it was known whose it is.
    Dump(u64),
    /// A copy that was made for a thread at a time.
    Copy(ThreadId, Time),
}

impl Machine {
    /// The process of a thread as it was told last.
    pub(in super::super) fn pid_of(&self, thread: ThreadId) -> Option<i32> {
        self.pids.get(&thread).copied()
    }

    /// The table of a thread. Who has none yet gets a seat at that of the process.
    pub(super) fn seat(&mut self, thread: ThreadId) -> TableKey {
        if let Some(&key) = self.seats.get(&thread) {
            return key;
        }
        let pid = self.pids.get(&thread).copied();
        let key = match pid {
            None => TableKey::Thread(thread),
            Some(pid) => self.process(pid).unwrap_or(TableKey::Process(pid)),
        };
        if let Some(pid) = pid {
            self.processes.insert(pid, key);
        }
        self.make(key, pid);
        self.sit(thread, key);
        key
    }

    /// The table of a process, if it is known and still there.
    fn process(&self, pid: i32) -> Option<TableKey> {
        self.processes.get(&pid).copied().filter(|key| self.tables.get(key).is_some())
    }

    /// Makes a table that nobody saw being made, unless it is there.
    fn make(&mut self, key: TableKey, pid: Option<i32>) {
        if self.tables.get(&key).is_none() {
            self.tables.insert(key, Table { pid, is_assumed: true, ..Table::default() });
        }
    }

    fn sit(&mut self, thread: ThreadId, key: TableKey) {
        self.seats.insert(thread, key);
        self.tables.or_default(key).users += 1;
    }

    /// A thread leaves its table: with the last one all is closed.
    pub(super) fn leave(&mut self, thread: ThreadId, at: Time, spans: &mut impl Spans) {
        let Some(key) = self.stand_up(thread) else { return };
        let is_empty = self.tables.get(&key).is_some_and(|table| table.users == 0);
        if is_empty && let Some(table) = self.tables.remove(&key) {
            self.forget(&table, key);
            table.end(self.end(at, ClosedBy::Exit, thread), spans);
        }
    }

    fn stand_up(&mut self, thread: ThreadId) -> Option<TableKey> {
        let key = self.seats.remove(&thread)?;
        if let Some(table) = self.tables.get_mut(&key) {
            table.users = table.users.saturating_sub(1);
        }
        Some(key)
    }

    /// A table is gone: nobody is to look for it.
    fn forget(&mut self, table: &Table, key: TableKey) {
        if let Some(pid) = table.pid.filter(|pid| self.processes.get(pid) == Some(&key)) {
            self.processes.remove(&pid);
        }
        if let Some(dump) = table.dump.filter(|dump| self.dumped.get(dump) == Some(&key)) {
            self.dumped.remove(&dump);
        }
    }

    /// A thread is of a process.
    pub(super) fn member(&mut self, thread: ThreadId, pid: i32) {
        self.pids.insert(thread, pid);
        let Some(&own) = self.seats.get(&thread) else {
            self.seat(thread);
            return;
        };
        let is_assumed =
            |machine: &Self, key| machine.tables.get(&key).is_some_and(|table: &Table| table.is_assumed);
        match self.process(pid) {
            None => {
                self.processes.insert(pid, own);
                let table = self.tables.or_default(own);
                table.pid = table.pid.or(Some(pid));
            }
            Some(of_process) if of_process == own => {}
            Some(of_process) if is_assumed(self, own) => self.unite(own, of_process),
            Some(of_process) if is_assumed(self, of_process) => self.unite(of_process, own),
            Some(_) => {}
        }
    }

    /// A thread is made.
    pub(super) fn fork(
        &mut self,
        parent: ThreadId,
        child: ThreadId,
        at: Time,
        shares: bool,
        spans: &mut impl Spans,
    ) {
        let key = self.seat(parent);
        if shares {
            if parent != child {
                // At first a seat, then the old one is left: the table must not be empty in between.
                let before = self.seats.get(&child).copied();
                if before != Some(key) {
                    self.leave(child, at, spans);
                    self.sit(child, key);
                }
            }
            return;
        }
        let copy = self.copied(key, child, at);
        self.leave(child, at, spans);
        let pid = child.tid();
        self.install(child, at, Table { pid, ..copy });
        if let Some(pid) = pid {
            self.processes.insert(pid, TableKey::Copy(child, at));
        }
    }

    /// A thread parts with the others at its table.
    pub(super) fn unshare(&mut self, thread: ThreadId, at: Time) {
        let key = self.seat(thread);
        let Some(table) = self.tables.get(&key) else { return };
        if table.users <= 1 {
            return;
        }
        let pid = table.pid;
        let copy = self.copied(key, thread, at);
        self.stand_up(thread);
        self.install(thread, at, Table { pid, ..copy });
    }

    /// A thread has got a copy of a table.
    fn install(&mut self, thread: ThreadId, at: Time, table: Table) {
        let key = TableKey::Copy(thread, at);
        // Only impossible histories have one of that name already.
        if self.tables.get(&key).is_none() {
            self.tables.insert(key, table);
        }
        self.sit(thread, key);
    }

    /// A copy of a table that is made for a thread now.
    fn copied(&self, key: TableKey, thread: ThreadId, at: Time) -> Table {
        let mut copy = Table::default();
        for (&fd, file) in self.tables.get(&key).into_iter().flat_map(|table| &table.files) {
            let close_on_exec = file.close_on_exec;
            let inherited = file.copy(thread, at, OpenedBy::Inherited, self.losses);
            copy.files.insert(fd, Open { close_on_exec, ..inherited });
        }
        copy
    }

    /// A thread runs another program. It has its table for itself then, and the others of its process are gone.
    pub(super) fn exec(&mut self, thread: ThreadId, at: Time, spans: &mut impl Spans) {
        let key = self.seat(thread);
        if self.tables.get(&key).is_some_and(|table| table.users > 1) {
            if let Some(pid) = self.pids.get(&thread).copied() {
                let mut gone: Vec<ThreadId> = Vec::new();
                for (&other, _) in self.seats.unordered().filter(|&(_, &at)| at == key) {
                    if other != thread && self.pids.get(&other) == Some(&pid) {
                        gone.push(other);
                    }
                }
                for other in gone {
                    self.stand_up(other);
                }
            }
            self.unshare(thread, at);
        }
        let end = self.end(at, ClosedBy::Exec, thread);
        let table = self.table(thread);
        let marked: Vec<i32> =
            table.files.iter().filter(|(_, file)| file.close_on_exec).map(|(&fd, _)| fd).collect();
        for fd in marked {
            table.close(fd, end, spans);
        }
    }

    /// The dump says which table a thread has.
    pub(super) fn dump_owner(&mut self, thread: ThreadId, dump: u64) {
        let own = self.seat(thread);
        let table = self.tables.or_default(own);
        let (own_dump, is_assumed) = (table.dump, table.is_assumed);
        if own_dump == Some(dump) {
            return;
        }
        if own_dump.is_some() {
            // It has another one than the threads that it was thought to share with.
            if is_assumed {
                let key = self.dumped_table(dump);
                self.stand_up(thread);
                self.sit(thread, key);
            }
            return;
        }
        match self.dumped.get(&dump).copied().filter(|key| self.tables.get(key).is_some()) {
            None => {
                self.tables.or_default(own).dump = Some(dump);
                self.dumped.insert(dump, own);
            }
            Some(there) if is_assumed => self.unite(own, there),
            Some(there) => {
                if self.tables.get(&there).is_some_and(|table| table.is_assumed) {
                    self.unite(there, own);
                }
            }
        }
    }

    /// The table that the dump calls so.
    pub(super) fn dumped_table(&mut self, dump: u64) -> TableKey {
        if let Some(&key) = self.dumped.get(&dump)
            && self.tables.get(&key).is_some()
        {
            return key;
        }
        let key = TableKey::Dump(dump);
        self.make(key, None);
        self.tables.or_default(key).dump = Some(dump);
        self.dumped.insert(dump, key);
        key
    }

    /// Two tables turned out to be one. Linear in the threads.
    fn unite(&mut self, from: TableKey, into: TableKey) {
        if from == into {
            return;
        }
        let Some(gone) = self.tables.remove(&from) else { return };
        for (_, key) in self.seats.unordered_mut().filter(|(_, key)| **key == from) {
            *key = into;
        }
        if let Some(key) = gone.pid.and_then(|pid| self.processes.get_mut(&pid))
            && *key == from
        {
            *key = into;
        }
        if let Some(key) = gone.dump.and_then(|dump| self.dumped.get_mut(&dump))
            && *key == from
        {
            *key = into;
        }
        let table = self.tables.or_default(into);
        table.users += gone.users;
        table.pid = table.pid.or(gone.pid);
        table.dump = table.dump.or(gone.dump);
        for (fd, file) in gone.files {
            match table.files.entry(fd) {
                std::collections::btree_map::Entry::Vacant(place) => {
                    place.insert(file);
                }
                std::collections::btree_map::Entry::Occupied(mut place) => place.get_mut().unite(file),
            }
        }
    }
}
