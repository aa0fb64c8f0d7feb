//! Tables of descriptors by key, and the attachments of threads.
//!
//! Each operation on a descriptor begins with a lookup of the table of a thread. So attachments are indexes
//! of a list, and that lookup is one into a hash table. An index depends on what was freed before: it is
//! never emitted, and the keys of tables are serialized and compared instead.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::super::open::{FileEnd, OpenFile};
use super::descriptors::Descriptors;
use super::doubts::Doubts;
use crate::canonical_map::CanonicalMap;
use crate::id::{ThreadId, Time};
use crate::span::Spans;

/// The key of a table: how it was made, so that it depends on nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) enum TableKey {
    /// The table that a thread of no known process had when it was first seen.
    Thread(ThreadId),
    /// The table that a process had when one of its threads was first seen.
    Process(i32),
    /// A table in the dump whose owner was not known then.
    Dump(u64),
    /// A copy that was made for a thread at a time.
    Copy(ThreadId, Time),
}

/// A table of descriptors.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Table {
    /// What is open.
    pub(super) files: Descriptors,
    /// Number of attached threads.
    pub(super) users: u32,
    /// The process that owns it.
    pub(super) pid: Option<i32>,
    /// Its address in the dump.
    pub(super) dump: Option<u64>,
    /// Whether its making was not seen.
    pub(super) is_assumed: bool,
    /// Whether it may be the same as another one.
    pub(super) is_doubtful: bool,
    /// Whether it may be the same as any other one: it was assumed when the fork of its thread may have been
    /// lost.
    pub(super) is_stray: bool,
    /// Number of losses when it was made; 0 if that was not seen.
    pub(super) losses: u64,
}

/// Index of a table, until it is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TableIndex(u32);

/// All tables, and the attachments to them.
#[derive(Debug, Clone, Default)]
pub(super) struct Tables {
    attachments: CanonicalMap<ThreadId, TableIndex>,
    places: CanonicalMap<TableKey, TableIndex>,
    /// The contents of free places mean nothing.
    list: Vec<(TableKey, Table)>,
    free: Vec<TableIndex>,
}

/// Attachments and tables by key.
type Written<T> = (Vec<(ThreadId, TableKey)>, Vec<(TableKey, T)>);

impl Tables {
    /// The table that a thread is attached to.
    #[inline]
    pub(super) fn table_of(&self, thread: ThreadId) -> Option<TableIndex> {
        self.attachments.get(&thread).copied()
    }

    /// The index of a table, if it is still there.
    pub(super) fn find(&self, key: TableKey) -> Option<TableIndex> {
        self.places.get(&key).copied()
    }

    /// The key of a table.
    pub(super) fn key(&self, place: TableIndex) -> TableKey {
        self.list[place.0 as usize].0
    }

    #[inline]
    pub(super) fn at(&self, place: TableIndex) -> &Table {
        &self.list[place.0 as usize].1
    }

    #[inline]
    pub(super) fn at_mut(&mut self, place: TableIndex) -> &mut Table {
        &mut self.list[place.0 as usize].1
    }

    /// Adds a table, unless there is one of that key.
    pub(super) fn add(&mut self, key: TableKey, table: impl FnOnce() -> Table) -> TableIndex {
        if let Some(place) = self.find(key) {
            return place;
        }
        let place = match self.free.pop() {
            Some(place) => {
                self.list[place.0 as usize] = (key, table());
                place
            }
            None => {
                self.list.push((key, table()));
                TableIndex(self.list.len() as u32 - 1)
            }
        };
        self.places.insert(key, place);
        place
    }

    /// Removes a table. No thread is attached to it any more.
    pub(super) fn remove(&mut self, place: TableIndex) -> Table {
        self.places.remove(&self.key(place));
        self.free.push(place);
        std::mem::take(self.at_mut(place))
    }

    /// Attaches a thread that is not attached.
    pub(super) fn attach(&mut self, thread: ThreadId, place: TableIndex) {
        self.attachments.insert(thread, place);
        self.at_mut(place).users += 1;
    }

    /// Detaches a thread.
    pub(super) fn detach(&mut self, thread: ThreadId) -> Option<TableIndex> {
        let place = self.attachments.remove(&thread)?;
        let table = self.at_mut(place);
        table.users = table.users.saturating_sub(1);
        Some(place)
    }

    /// Moves all attachments of one table to another. Linear in the threads.
    pub(super) fn reattach(&mut self, from: TableIndex, into: TableIndex) {
        for (_, place) in self.attachments.unordered_mut().filter(|(_, place)| **place == from) {
            *place = into;
        }
    }

    /// All attachments, in arbitrary order.
    pub(super) fn attached(&self) -> impl Iterator<Item = (ThreadId, TableIndex)> {
        self.attachments.unordered().map(|(&thread, &place)| (thread, place))
    }

    /// Takes all tables, by key.
    pub(super) fn into_sorted(mut self) -> Vec<(TableKey, Table)> {
        let places = std::mem::take(&mut self.places).into_sorted();
        places.into_iter().map(|(key, place)| (key, std::mem::take(self.at_mut(place)))).collect()
    }

    /// The form that is serialized and compared.
    fn written(&self) -> Written<&Table> {
        let attachments =
            self.attachments.sorted().into_iter().map(|(&thread, &place)| (thread, self.key(place)));
        let tables = self.places.sorted().into_iter().map(|(&key, &place)| (key, self.at(place)));
        (attachments.collect(), tables.collect())
    }
}

impl PartialEq for Tables {
    fn eq(&self, other: &Self) -> bool {
        self.written() == other.written()
    }
}

impl Eq for Tables {}

impl Serialize for Tables {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.written().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Tables {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (attachments, tables) = Written::<Table>::deserialize(deserializer)?;
        let mut all = Self::default();
        for (key, table) in tables {
            all.add(key, || table);
        }
        for (thread, key) in attachments {
            // Not `attach`: the attached threads have been counted.
            let place = all.add(key, Table::default);
            all.attachments.insert(thread, place);
        }
        Ok(all)
    }
}

impl Table {
    /// Its owner.
    pub(super) fn owner(&self) -> Owner {
        Owner { pid: self.pid, is_doubtful: self.is_doubtful || self.is_stray }
    }

    /// Ends all that is open.
    pub(super) fn end(self, end: FileEnd, doubts: &Doubts, spans: &mut impl Spans) {
        let owner = self.owner();
        for (fd, file) in self.files.into_sorted() {
            emit(file, fd, owner, end, doubts, spans);
        }
    }

    /// Closes a descriptor, if it is open.
    pub(super) fn close(&mut self, fd: i32, end: FileEnd, doubts: &Doubts, spans: &mut impl Spans) {
        if let Some(file) = self.files.remove(fd) {
            emit(file, fd, self.owner(), end, doubts, spans);
        }
    }

    /// Closes all of some descriptors.
    pub(super) fn close_all(
        &mut self,
        which: impl Fn(i32, &OpenFile) -> bool,
        end: FileEnd,
        doubts: &Doubts,
        spans: &mut impl Spans,
    ) {
        let mut fds: Vec<i32> =
            self.files.unordered().filter(|&(fd, file)| which(fd, file)).map(|(fd, _)| fd).collect();
        fds.sort_unstable();
        for fd in fds {
            self.close(fd, end, doubts, spans);
        }
    }

    /// Adds a descriptor. `replaced`: how one of that number ends, if there is one.
    pub(super) fn open(
        &mut self,
        fd: i32,
        file: OpenFile,
        replaced: FileEnd,
        doubts: &Doubts,
        spans: &mut impl Spans,
    ) {
        if let Some(before) = self.files.insert(fd, file) {
            // No loss hides the close: if one hides what made the table, it is not the one that it seems to
            // be.
            self.is_doubtful |= before.losses == replaced.losses && replaced.losses > self.losses;
            emit(before, fd, self.owner(), replaced, doubts, spans);
        }
    }
}

/// The owner of a table, and whether others may share it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner {
    pid: Option<i32>,
    is_doubtful: bool,
}

/// Emits the span of a descriptor that ends.
pub(super) fn emit(
    file: OpenFile,
    fd: i32,
    owner: Owner,
    end: FileEnd,
    doubts: &Doubts,
    spans: &mut impl Spans,
) {
    let is_doubtful = owner.is_doubtful || doubts.is_of_strays(fd, &file);
    let doubtful_from = doubts.doubtful_from(&file, &end);
    if let Some(mut span) = file.end(fd, owner.pid, FileEnd { doubtful_from, ..end }) {
        span.is_doubtful |= is_doubtful;
        spans.file(&span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::PIECE_BEGIN;

    fn attach(tables: &mut Tables, number: i32) {
        let place = tables.add(TableKey::Process(number), Table::default);
        tables.attach(ThreadId::Thread { tid: number, born: PIECE_BEGIN }, place);
    }

    #[test]
    fn places_make_no_difference() {
        let (mut one, mut other) = (Tables::default(), Tables::default());
        (1..=3).for_each(|number| attach(&mut one, number));
        let place = one.detach(ThreadId::Thread { tid: 1, born: PIECE_BEGIN }).unwrap();
        one.remove(place);
        attach(&mut one, 4);
        (2..=4).for_each(|number| attach(&mut other, number));
        assert_eq!(one, other);
        let bytes = postcard::to_stdvec(&one).unwrap();
        assert_eq!(bytes, postcard::to_stdvec(&other).unwrap());
        assert_eq!(postcard::from_bytes::<Tables>(&bytes).unwrap(), one);
        attach(&mut other, 5);
        assert_ne!(one, other);
    }
}
