//! The rows of a log while a trace is read: a bounded number of them as they are, the rest as sorted runs,
//! encoded and outside of memory where there is a [`Scratch`] for them.
//!
//! They are read merged, in their order, one by one. So neither the order in which they came nor where they
//! are kept makes a difference, in the tables and in what is serialized.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fmt;
use std::marker::PhantomData;

use isochrone_kernel::files::FileSpan;
use isochrone_kernel::scratch::{Kept, Scratch};
use isochrone_kernel::{ThreadAliases, ThreadId};
use serde::de::{DeserializeOwned, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::storage::encoding::append;

/// Bytes of rows that are kept as they are.
const FRESH: usize = if cfg!(test) { 256 } else { 1 << 20 };
/// Bytes that are read of a run to know its first row.
const FIRST_READ: usize = if cfg!(test) { 16 } else { 512 };
/// Bytes that are read at a time of a run that is being merged.
const READ: usize = if cfg!(test) { 32 } else { 8 << 10 };

/// A row of a log. Its order is that of the log.
pub trait LogRow: Ord + Clone + Serialize + DeserializeOwned {
    /// The threads that it names.
    fn threads(&mut self) -> [Option<&mut ThreadId>; 2];

    /// Gives them the names that they have now.
    fn rename(&mut self, aliases: &ThreadAliases) {
        self.threads().into_iter().flatten().for_each(|thread| aliases.change(thread));
    }
}

impl LogRow for FileSpan {
    fn threads(&mut self) -> [Option<&mut ThreadId>; 2] {
        [Some(&mut self.thread), None]
    }
}

/// Rows, sorted whenever they are read or written. Memory: that of `FRESH` bytes of rows, and some hundred
/// bytes for each run of so many; without a scratch, that of all rows encoded.
pub struct LogRows<T> {
    fresh: Vec<T>,
    runs: Vec<Run>,
    scratch: Scratch,
}

/// Rows in their order, encoded one after the other.
#[derive(Debug)]
struct Run {
    rows: usize,
    bytes: Kept,
    /// The threads that they name, sorted.
    threads: Box<[ThreadId]>,
}

impl<T> LogRows<T> {
    /// Without rows so far.
    pub fn new(scratch: &Scratch) -> Self {
        Self { fresh: Vec::new(), runs: Vec::new(), scratch: scratch.clone() }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.fresh.len() + self.runs.iter().map(|run| run.rows).sum::<usize>()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: LogRow> LogRows<T> {
    /// Maximum number of rows that are kept as they are.
    const MAX_FRESH: usize = if size_of::<T>() < FRESH { FRESH / size_of::<T>() } else { 1 };

    /// Adds one. Logarithmic on average.
    pub fn push(&mut self, row: T) {
        self.fresh.push(row);
        if self.fresh.len() >= Self::MAX_FRESH {
            let rows = std::mem::take(&mut self.fresh);
            self.runs.push(Run::new(rows, &self.scratch));
        }
    }

    /// Adds all of another.
    pub fn absorb(&mut self, right: Self) {
        // What was read from a file is in memory so far.
        let adopted = |run: Run| Run { bytes: self.scratch.adopt(run.bytes), ..run };
        self.runs.extend(right.runs.into_iter().map(adopted));
        right.fresh.into_iter().for_each(|row| self.push(row));
    }

    /// Gives threads the names that they have now. Linear in the rows of the runs that name any of them.
    pub fn rename(&mut self, aliases: &ThreadAliases) {
        self.fresh.iter_mut().for_each(|row| row.rename(aliases));
        for run in &mut self.runs {
            if aliases.iter().any(|(from, _)| run.threads.binary_search(&from).is_ok()) {
                let mut rows: Vec<T> = Reader::new(run).collect();
                for row in &mut rows {
                    row.rename(aliases);
                }
                *run = Run::new(rows, &self.scratch);
            }
        }
    }

    /// All rows in their order. Logarithmic for each in the number of runs. Memory: of a run that others
    /// interleave with, `READ` bytes while it is read, else those of its first row.
    pub fn sorted(&self) -> Sorted<'_, T> {
        let mut fresh: Vec<&T> = self.fresh.iter().collect();
        fresh.sort_unstable();
        let mut readers: Vec<Reader<'_, T>> = self.runs.iter().map(Reader::new).collect();
        let first = |(run, reader): (usize, &mut Reader<'_, T>)| Some(Head { row: reader.next()?, run });
        let heads = readers.iter_mut().enumerate().filter_map(first).collect();
        Sorted { fresh: fresh.into_iter(), heads, readers }
    }
}

impl Run {
    fn new<T: LogRow>(mut rows: Vec<T>, scratch: &Scratch) -> Self {
        rows.sort_unstable();
        let (mut bytes, mut threads) = (Vec::new(), Vec::new());
        for row in &mut rows {
            threads.extend(row.threads().into_iter().flatten().map(|thread| *thread));
            append(row, &mut bytes);
        }
        threads.sort_unstable();
        threads.dedup();
        Self { rows: rows.len(), bytes: scratch.keep(&bytes), threads: threads.into() }
    }
}

/// Reads the rows of a run.
struct Reader<'r, T> {
    run: &'r Run,
    /// Number of rows that are still to be read.
    left: usize,
    /// Number of bytes of the run that have been read.
    read: usize,
    /// What was read of a run that is not in memory, and how much of that was decoded.
    buffer: Vec<u8>,
    decoded: usize,
    rows: PhantomData<T>,
}

impl<'r, T> Reader<'r, T> {
    fn new(run: &'r Run) -> Self {
        Self { run, left: run.rows, read: 0, buffer: Vec::new(), decoded: 0, rows: PhantomData }
    }

    /// Reads more of the run. Says whether there was more.
    fn fill(&mut self) -> bool {
        self.buffer.drain(..self.decoded);
        self.decoded = 0;
        let before = self.buffer.len();
        // A row that is longer than what is read at a time takes more of it.
        let size = if self.read == 0 { FIRST_READ } else { READ.max(before) };
        self.run.bytes.read(self.read..self.read + size, &mut self.buffer);
        self.read += self.buffer.len() - before;
        self.buffer.len() > before
    }
}

impl<T: DeserializeOwned> Iterator for Reader<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        while self.left > 0 {
            let decoded = match self.run.bytes.in_memory() {
                Some(all) => postcard::take_from_bytes(all.get(self.read..)?).map(|(row, rest)| {
                    self.read = all.len() - rest.len();
                    row
                }),
                None => postcard::take_from_bytes(&self.buffer[self.decoded..]).map(|(row, rest)| {
                    self.decoded = self.buffer.len() - rest.len();
                    row
                }),
            };
            match decoded {
                Ok(row) => {
                    self.left -= 1;
                    return Some(row);
                }
                Err(_) if self.run.bytes.in_memory().is_none() && self.fill() => {}
                Err(_) => {
                    self.run.bytes.report_damage();
                    self.left = 0;
                }
            }
        }
        self.buffer = Vec::new();
        None
    }
}

/// The next row of a run. The least one is the greatest, for a heap that has the greatest on top.
struct Head<T> {
    row: T,
    run: usize,
}

impl<T: Ord> Ord for Head<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.row.cmp(&self.row)
    }
}

impl<T: Ord> PartialOrd for Head<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Ord> PartialEq for Head<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T: Ord> Eq for Head<T> {}

/// The rows of a log in their order: see [`LogRows::sorted`].
pub struct Sorted<'r, T> {
    fresh: std::vec::IntoIter<&'r T>,
    heads: BinaryHeap<Head<T>>,
    readers: Vec<Reader<'r, T>>,
}

impl<T: LogRow> Iterator for Sorted<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let Self { fresh, heads, readers } = self;
        let Some(mut head) = heads.peek_mut() else { return fresh.next().cloned() };
        if fresh.as_slice().first().is_some_and(|row| **row <= head.row) {
            return fresh.next().cloned();
        }
        Some(match readers[head.run].next() {
            Some(next) => std::mem::replace(&mut head.row, next),
            None => PeekMut::pop(head).row,
        })
    }
}

impl<T: fmt::Debug> fmt::Debug for LogRows<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogRows")
            .field("fresh", &self.fresh)
            .field("runs", &self.runs)
            .finish_non_exhaustive()
    }
}

impl<T> Default for LogRows<T> {
    fn default() -> Self {
        Self::new(&Scratch::default())
    }
}

impl<T: LogRow> Serialize for LogRows<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut written = 0;
        let mut sequence = serializer.serialize_seq(Some(self.len()))?;
        for row in self.sorted() {
            sequence.serialize_element(&row)?;
            written += 1;
        }
        if written < self.len() {
            return Err(S::Error::custom("rows cannot be read again from a temporary file"));
        }
        sequence.end()
    }
}

impl<'de, T: LogRow> Deserialize<'de> for LogRows<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All<T>(PhantomData<T>);

        impl<'de, T: LogRow> Visitor<'de> for All<T> {
            type Value = LogRows<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("rows of a log")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<LogRows<T>, A::Error> {
                let mut rows = LogRows::default();
                while let Some(row) = sequence.next_element()? {
                    rows.push(row);
                }
                Ok(rows)
            }
        }

        deserializer.deserialize_seq(All(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{scratch, thread};

    #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    struct Row {
        at: u8,
        thread: ThreadId,
        text: String,
    }

    impl LogRow for Row {
        fn threads(&mut self) -> [Option<&mut ThreadId>; 2] {
            [Some(&mut self.thread), None]
        }
    }

    fn rows() -> impl Strategy<Value = Vec<Row>> {
        let row = (any::<u8>(), 1..5, ".{0,60}");
        prop::collection::vec(row.prop_map(|(at, tid, text)| Row { at, thread: thread(tid), text }), 0..60)
    }

    proptest! {
        #[test]
        fn rows_come_back_in_order(pieces in prop::collection::vec((rows(), any::<bool>()), 0..4)) {
            let mut aliases = ThreadAliases::default();
            aliases.add(thread(2), thread(9));
            for scratch in [Scratch::default(), scratch()] {
                let (mut log, mut expect) = (LogRows::new(&scratch), Vec::new());
                for (piece, is_file) in &pieces {
                    let mut part = if *is_file { LogRows::default() } else { LogRows::new(&scratch) };
                    for row in piece {
                        part.push(row.clone());
                    }
                    log.absorb(part);
                    log.rename(&aliases);
                    expect.extend(piece.iter().cloned());
                }
                for row in &mut expect {
                    aliases.change(&mut row.thread);
                }
                expect.sort();
                prop_assert_eq!(log.len(), expect.len());
                prop_assert_eq!(log.sorted().collect::<Vec<_>>(), expect.clone());
                let bytes = postcard::to_stdvec(&log).unwrap();
                prop_assert_eq!(&bytes, &postcard::to_stdvec(&expect).unwrap());
                let back: LogRows<Row> = postcard::from_bytes(&bytes).unwrap();
                prop_assert_eq!(back.sorted().collect::<Vec<_>>(), expect);
            }
        }
    }
}
