//! The tables of sums: written, and opened.

use std::path::Path;
use std::sync::Arc;

use isochrone_time::RawNs;

use super::Buckets;
use super::buckets::{Adder, Filled, Output};
use crate::batches::{Batches, RowsFile};
use crate::checked::Files;
use crate::error::StoreError;
use crate::manifest::TableEntry;
use crate::names::NameId;
use crate::names::Names;
use crate::state::State;
use crate::table::Row;
use crate::tables::{CallSumRow, StateSumRow};
use crate::threads::ThreadRow;

/// The tables of sums, opened, by level.
#[derive(Debug)]
pub(crate) struct SumTables {
    pub(super) states: Vec<Batches<StateSumRow>>,
    pub(super) calls: Vec<Batches<CallSumRow>>,
}

impl SumTables {
    pub(crate) fn open(files: Files<'_>, buckets: Buckets) -> Result<Self, StoreError> {
        Ok(Self { states: open(files, buckets)?, calls: open(files, buckets)? })
    }
}

fn open<R: Row>(files: Files<'_>, buckets: Buckets) -> Result<Vec<Batches<R>>, StoreError> {
    (0..buckets.levels).map(|level| Batches::named(files, &table_name::<R>(level))).collect()
}

/// The name of the table of a level.
fn table_name<R: Row>(level: usize) -> String {
    format!("{}{level}", R::TABLE)
}

fn create<R: Row>(
    directory: &Path,
    buckets: Buckets,
    names: &Arc<Names>,
) -> Result<Vec<RowsFile<R>>, StoreError> {
    (0..buckets.levels).map(|level| RowsFile::named(directory, &table_name::<R>(level), names)).collect()
}

/// Time by state.
type ByState = [i64; State::ALL.len()];

impl Filled for ByState {
    type Key = State;

    #[inline]
    fn add(&mut self, state: State, ns: i64) {
        self[state as usize] += ns;
    }

    fn absorb(&mut self, part: &Self) {
        for (sum, ns) in self.iter_mut().zip(part) {
            *sum += ns;
        }
    }
}

/// By level.
#[derive(Debug)]
struct StateFiles(Vec<RowsFile<StateSumRow>>);

impl Output<ByState> for StateFiles {
    fn bucket(&mut self, level: usize, thread: u32, (start, end): (i64, i64), filled: &ByState) {
        let (thread, start, end) = (ThreadRow(thread), RawNs(start), RawNs(end));
        for (state, &ns) in State::ALL.into_iter().zip(filled).filter(|(_, ns)| **ns > 0) {
            self.0[level].push(StateSumRow { thread, state, start, end, ns });
        }
    }
}

/// Writes sums of states.
#[derive(Debug)]
pub(crate) struct StateSumsWriter {
    adder: Adder<ByState>,
    files: StateFiles,
}

impl StateSumsWriter {
    pub(crate) fn create(
        directory: &Path,
        threads: usize,
        buckets: Buckets,
        names: &Arc<Names>,
    ) -> Result<Self, StoreError> {
        let files = StateFiles(create(directory, buckets, names)?);
        Ok(Self { adder: Adder::new(buckets, threads), files })
    }

    /// Adds the next state of a thread.
    #[inline]
    pub(crate) fn add(&mut self, thread: u32, state: State, (start, end): (RawNs, RawNs)) {
        self.adder.time(thread, state, (start.0, end.0), &mut self.files);
    }

    /// Finishes the files.
    pub(crate) fn finish(self) -> Result<Vec<TableEntry>, StoreError> {
        let Self { adder, mut files } = self;
        adder.finish(&mut files);
        files.0.into_iter().map(RowsFile::finish).collect()
    }
}

/// The calls of one name in a bucket.
#[derive(Debug, Clone, Copy)]
struct OfName {
    name: NameId,
    starts: u32,
    ns: i64,
    /// The durations of the two longest that end in it.
    longest: [i64; 2],
}

impl OfName {
    fn ends(&mut self, ns: i64) {
        let [first, second] = self.longest;
        self.longest = if ns > first { [ns, first] } else { [first, second.max(ns)] };
    }
}

/// Calls by name: few, so that a list is fast.
#[derive(Debug, Default)]
struct ByName(Vec<OfName>);

impl ByName {
    fn of(&mut self, name: NameId) -> &mut OfName {
        let index = self.0.iter().position(|it| it.name == name).unwrap_or_else(|| {
            self.0.push(OfName { name, starts: 0, ns: 0, longest: [0; 2] });
            self.0.len() - 1
        });
        &mut self.0[index]
    }
}

impl Filled for ByName {
    type Key = NameId;

    fn add(&mut self, name: NameId, ns: i64) {
        self.of(name).ns += ns;
    }

    fn absorb(&mut self, part: &Self) {
        for it in &part.0 {
            let sum = self.of(it.name);
            sum.starts += it.starts;
            sum.ns += it.ns;
            for ns in it.longest {
                sum.ends(ns);
            }
        }
    }
}

/// By level.
#[derive(Debug)]
struct CallFiles(Vec<RowsFile<CallSumRow>>);

impl Output<ByName> for CallFiles {
    fn bucket(&mut self, level: usize, thread: u32, (start, end): (i64, i64), filled: &ByName) {
        let (thread, start, end) = (ThreadRow(thread), RawNs(start), RawNs(end));
        for &OfName { name, starts, ns, longest: [longest, second] } in &filled.0 {
            self.0[level].push(CallSumRow { thread, name, start, end, starts, ns, longest, second });
        }
    }
}

/// Writes sums of calls.
#[derive(Debug)]
pub(crate) struct CallSumsWriter {
    adder: Adder<ByName>,
    files: CallFiles,
}

impl CallSumsWriter {
    pub(crate) fn create(
        directory: &Path,
        threads: usize,
        buckets: Buckets,
        names: &Arc<Names>,
    ) -> Result<Self, StoreError> {
        let files = CallFiles(create(directory, buckets, names)?);
        Ok(Self { adder: Adder::new(buckets, threads), files })
    }

    /// Adds the next call of a thread.
    pub(crate) fn add(&mut self, thread: u32, name: NameId, (start, end): (RawNs, RawNs)) {
        let Self { adder, files } = self;
        let bucket = |at: i64| adder.buckets.floor(0, at);
        let (first, last) = (bucket(start.0), bucket((end.0 - 1).max(start.0)));
        adder.at(0, thread, first, files).of(name).starts += 1;
        adder.time(thread, name, (start.0, end.0), files);
        adder.at(0, thread, last, files).of(name).ends(end.0 - start.0);
    }

    /// Finishes the files.
    pub(crate) fn finish(self) -> Result<Vec<TableEntry>, StoreError> {
        let Self { adder, mut files } = self;
        adder.finish(&mut files);
        files.0.into_iter().map(RowsFile::finish).collect()
    }
}
