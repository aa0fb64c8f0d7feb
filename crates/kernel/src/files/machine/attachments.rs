//! Attachments: which table a thread is attached to.

use super::super::open::OpenFile;
use super::Machine;
use super::tables::{Table, TableIndex, TableKey, emit};
use crate::id::{ThreadId, Time};
use crate::span::Spans;
use crate::span::file::{ClosedBy, OpenedBy};

impl Machine {
    /// The last known process of a thread.
    pub(in super::super) fn pid_of(&self, thread: ThreadId) -> Option<i32> {
        self.pids.get(&thread).copied()
    }

    /// The table of a thread. A thread without one is attached to that of its process.
    #[inline]
    pub(super) fn table_of(&mut self, thread: ThreadId) -> TableIndex {
        match self.tables.table_of(thread) {
            Some(place) => place,
            None => self.attach_new(thread),
        }
    }

    fn attach_new(&mut self, thread: ThreadId) -> TableIndex {
        let pid = self.pids.get(&thread).copied();
        let place = match pid.and_then(|pid| self.process(pid)) {
            Some(place) => place,
            None => self.assume(pid.map_or(TableKey::Thread(thread), TableKey::Process), pid),
        };
        if let Some(pid) = pid {
            self.processes.insert(pid, self.tables.key(place));
        }
        self.tables.attach(thread, place);
        place
    }

    /// The table of a process, if it is known and still there.
    fn process(&self, pid: i32) -> Option<TableIndex> {
        self.processes.get(&pid).and_then(|&key| self.tables.find(key))
    }

    /// Adds a table whose making was not seen.
    fn assume(&mut self, key: TableKey, pid: Option<i32>) -> TableIndex {
        // The dump records each table once.
        let is_stray = self.doubts.are_any() && !matches!(key, TableKey::Dump(_));
        self.tables.add(key, || Table { pid, is_assumed: true, is_stray, ..Table::default() })
    }

    /// Detaches a thread from its table: with the last one all is closed.
    pub(super) fn leave(&mut self, thread: ThreadId, at: Time, spans: &mut impl Spans) {
        let Some(place) = self.tables.detach(thread) else { return };
        if self.tables.at(place).users == 0 {
            let key = self.tables.key(place);
            let table = self.tables.remove(place);
            self.forget(&table, key);
            table.end(self.doubts.end(at, ClosedBy::Exit, thread), &self.doubts, spans);
        }
    }

    /// Removes a table that is gone from the lookups.
    fn forget(&mut self, table: &Table, key: TableKey) {
        if let Some(pid) = table.pid.filter(|pid| self.processes.get(pid) == Some(&key)) {
            self.processes.remove(&pid);
        }
        if let Some(dump) = table.dump.filter(|dump| self.dumped.get(dump) == Some(&key)) {
            self.dumped.remove(&dump);
        }
    }

    /// Records the process of a thread.
    pub(super) fn member(&mut self, thread: ThreadId, pid: i32, spans: &mut impl Spans) {
        self.pids.insert(thread, pid);
        let Some(own) = self.tables.table_of(thread) else {
            self.attach_new(thread);
            return;
        };
        match self.process(pid) {
            None => {
                self.processes.insert(pid, self.tables.key(own));
                let table = self.tables.at_mut(own);
                table.pid = table.pid.or(Some(pid));
            }
            Some(of_process) if of_process == own => {}
            Some(of_process) if self.tables.at(own).is_assumed => self.unite(own, of_process, spans),
            Some(of_process) if self.tables.at(of_process).is_assumed => self.unite(of_process, own, spans),
            Some(_) => {}
        }
    }

    /// A thread is forked.
    pub(super) fn fork(
        &mut self,
        parent: ThreadId,
        child: ThreadId,
        at: Time,
        shares: bool,
        spans: &mut impl Spans,
    ) {
        let place = self.table_of(parent);
        if shares {
            if parent != child && self.tables.table_of(child) != Some(place) {
                self.leave(child, at, spans);
                self.tables.attach(child, place);
            }
            return;
        }
        let copy = self.copied(place, child, at);
        self.leave(child, at, spans);
        let pid = child.tid();
        self.install(child, at, Table { pid, ..copy });
        if let Some(pid) = pid {
            self.processes.insert(pid, TableKey::Copy(child, at));
        }
    }

    /// Marks that it is unknown whether these threads share one table: what one opens the other may close.
    pub(super) fn doubt(&mut self, threads: [ThreadId; 2]) {
        for thread in threads {
            let place = self.table_of(thread);
            self.tables.at_mut(place).is_doubtful = true;
        }
    }

    /// A thread stops sharing its table.
    pub(super) fn unshare(&mut self, thread: ThreadId, at: Time) {
        let place = self.table_of(thread);
        if self.tables.at(place).users <= 1 {
            return self.doubt_what_is_left(place);
        }
        let table = self.tables.at(place);
        let copy = Table { pid: table.pid, ..self.copied(place, thread, at) };
        self.tables.detach(thread);
        self.install(thread, at, copy);
    }

    /// Marks a table that has one thread left. If a loss may have hidden another thread attached to it, what
    /// is open now may be a copy of what is open there.
    fn doubt_what_is_left(&mut self, place: TableIndex) {
        let table = self.tables.at_mut(place);
        if self.doubts.are_newer(table.losses) {
            table.files.unordered_mut().for_each(|(_, file)| file.doubt());
        }
    }

    /// Attaches a thread to its copy of a table.
    fn install(&mut self, thread: ThreadId, at: Time, table: Table) {
        // Only impossible histories have one of that key already.
        let place = self.tables.add(TableKey::Copy(thread, at), || table);
        self.tables.attach(thread, place);
    }

    /// A copy of a table that is made for a thread now.
    fn copied(&self, place: TableIndex, thread: ThreadId, at: Time) -> Table {
        let copies = self.tables.at(place).files.unordered().map(|(fd, file)| {
            let inherited = file.copy(thread, at, OpenedBy::Inherited);
            (fd, OpenFile { close_on_exec: file.close_on_exec, ..inherited })
        });
        let is_doubtful = self.tables.at(place).is_doubtful;
        let losses = self.doubts.losses_at(at);
        Table { files: copies.collect(), is_doubtful, losses, ..Table::default() }
    }

    /// A thread executes another program. It no longer shares its table, and the other threads of its process
    /// have ended.
    pub(super) fn exec(&mut self, thread: ThreadId, at: Time, spans: &mut impl Spans) {
        let place = self.table_of(thread);
        if self.tables.at(place).users > 1
            && let Some(pid) = self.pids.get(&thread).copied()
        {
            let others = self.tables.attached().filter(|&(other, at)| at == place && other != thread);
            let gone: Vec<ThreadId> = others
                .map(|table_of| table_of.0)
                .filter(|other| self.pids.get(other) == Some(&pid))
                .collect();
            for other in gone {
                self.tables.detach(other);
            }
        }
        self.unshare(thread, at);
        let end = self.doubts.end(at, ClosedBy::Exec, thread);
        let place = self.table_of(thread);
        self.tables.at_mut(place).close_all(|_, file| file.close_on_exec, end, &self.doubts, spans);
    }

    /// Applies the dump's record of the table of a thread.
    pub(super) fn dump_owner(&mut self, thread: ThreadId, dump: u64, spans: &mut impl Spans) {
        let own = self.table_of(thread);
        let table = self.tables.at(own);
        let (own_dump, is_assumed) = (table.dump, table.is_assumed);
        if own_dump == Some(dump) {
            return;
        }
        if own_dump.is_some() {
            // It has another one than the threads that were assumed to share it.
            if is_assumed {
                let place = self.dumped_table(dump);
                self.tables.detach(thread);
                self.tables.attach(thread, place);
            }
            return;
        }
        match self.known_dump(dump) {
            None => {
                self.tables.at_mut(own).dump = Some(dump);
                self.dumped.insert(dump, self.tables.key(own));
            }
            Some(there) if is_assumed => self.unite(own, there, spans),
            Some(there) => {
                if self.tables.at(there).is_assumed {
                    self.unite(there, own, spans);
                }
            }
        }
    }

    /// The table that has this address in the dump, if that is known and still there.
    fn known_dump(&self, dump: u64) -> Option<TableIndex> {
        self.dumped.get(&dump).and_then(|&key| self.tables.find(key))
    }

    /// The table that has this address in the dump.
    pub(super) fn dumped_table(&mut self, dump: u64) -> TableIndex {
        if let Some(place) = self.known_dump(dump) {
            return place;
        }
        let key = TableKey::Dump(dump);
        let place = self.assume(key, None);
        self.tables.at_mut(place).dump = Some(dump);
        self.dumped.insert(dump, key);
        place
    }

    /// Unites two tables that turned out to be one. Linear in the threads.
    fn unite(&mut self, from: TableIndex, into: TableIndex, spans: &mut impl Spans) {
        if from == into {
            return;
        }
        let [key, new] = [from, into].map(|place| self.tables.key(place));
        let gone = self.tables.remove(from);
        self.tables.reattach(from, into);
        for known in [
            gone.pid.and_then(|pid| self.processes.get_mut(&pid)),
            gone.dump.and_then(|dump| self.dumped.get_mut(&dump)),
        ] {
            if let Some(known) = known.filter(|known| **known == key) {
                *known = new;
            }
        }
        let table = self.tables.at_mut(into);
        table.users += gone.users;
        table.pid = table.pid.or(gone.pid);
        table.dump = table.dump.or(gone.dump);
        table.is_doubtful |= gone.is_doubtful;
        for (fd, file) in gone.files.into_sorted() {
            let Some(there) = table.files.get_mut(fd) else {
                table.files.insert(fd, file);
                continue;
            };
            if let Some(first) = there.unite(file) {
                let end = self.doubts.end_unseen(there);
                emit(first, fd, table.owner(), end, &self.doubts, spans);
            }
        }
    }
}
