//! The tables of sums: written, and opened.

use std::path::Path;
use std::sync::Arc;

use isochrone_time::{RawNs, Window};

use super::Buckets;
use super::buckets::{Adder, Filled, Output};
use crate::batches::{Batches, RowsFile};
use crate::checked::Files;
use crate::error::StoreError;
use crate::manifest::TableEntry;
use crate::names::{NameId, Names};
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
        let levels = buckets.levels;
        Ok(Self { states: Batches::levels(files, levels)?, calls: Batches::levels(files, levels)? })
    }
}

/// What a bucket has of a thread, as rows of a table.
pub(crate) trait InTable: Filled {
    /// The table.
    type Row: Row;

    /// Passes its rows to `put`.
    fn rows(&self, thread: ThreadRow, time: Window<RawNs>, put: impl FnMut(Self::Row));
}

/// The tables of all levels.
#[derive(Debug)]
struct LevelFiles<R: Row>(Vec<RowsFile<R>>);

impl<F: InTable> Output<F> for LevelFiles<F::Row> {
    fn bucket(&mut self, level: usize, thread: u32, (start, end): (i64, i64), filled: &F) {
        let time = Window::new(RawNs(start), RawNs(end));
        filled.rows(ThreadRow(thread), time, |row| self.0[level].push(row));
    }
}

/// Writes sums.
#[derive(Debug)]
pub(crate) struct SumsWriter<F: InTable> {
    adder: Adder<F>,
    files: LevelFiles<F::Row>,
}

/// Writes sums of states.
pub(crate) type StateSumsWriter = SumsWriter<ByState>;

/// Writes sums of calls.
pub(crate) type CallSumsWriter = SumsWriter<ByName>;

impl<F: InTable> SumsWriter<F> {
    pub(crate) fn create(
        directory: &Path,
        threads: usize,
        buckets: Buckets,
        names: &Arc<Names>,
    ) -> Result<Self, StoreError> {
        let files = LevelFiles(RowsFile::levels(directory, buckets.levels, names)?);
        Ok(Self { adder: Adder::new(buckets, threads), files })
    }

    /// Finishes the files.
    pub(crate) fn finish(self) -> Result<Vec<TableEntry>, StoreError> {
        let Self { adder, mut files } = self;
        adder.finish(&mut files);
        files.0.into_iter().map(RowsFile::finish).collect()
    }
}

/// Time by state.
pub(crate) type ByState = [i64; State::ALL.len()];

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

impl InTable for ByState {
    type Row = StateSumRow;

    fn rows(
        &self,
        thread: ThreadRow,
        Window { start, end }: Window<RawNs>,
        mut put: impl FnMut(StateSumRow),
    ) {
        for (state, &ns) in State::ALL.into_iter().zip(self).filter(|(_, ns)| **ns > 0) {
            put(StateSumRow { thread, state, start, end, ns });
        }
    }
}

impl StateSumsWriter {
    /// Adds the next state of a thread.
    #[inline]
    pub(crate) fn add(&mut self, thread: u32, state: State, (start, end): (RawNs, RawNs)) {
        self.adder.time(thread, state, (start.0, end.0), &mut self.files);
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
pub(crate) struct ByName(Vec<OfName>);

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

impl InTable for ByName {
    type Row = CallSumRow;

    fn rows(&self, thread: ThreadRow, Window { start, end }: Window<RawNs>, mut put: impl FnMut(CallSumRow)) {
        for &OfName { name, starts, ns, longest: [longest, second] } in &self.0 {
            put(CallSumRow { thread, name, start, end, starts, ns, longest, second });
        }
    }
}

impl CallSumsWriter {
    /// Adds the next call of a thread.
    pub(crate) fn add(&mut self, thread: u32, name: NameId, (start, end): (RawNs, RawNs)) {
        let Self { adder, files } = self;
        let bucket = |at: i64| adder.buckets.floor(0, at);
        let (first, last) = (bucket(start.0), bucket((end.0 - 1).max(start.0)));
        adder.at(0, thread, first, files).of(name).starts += 1;
        adder.time(thread, name, (start.0, end.0), files);
        adder.at(0, thread, last, files).of(name).ends(end.0 - start.0);
    }
}
