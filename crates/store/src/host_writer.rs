//! Writes the tables of one host: spans as they come, then threads, states and zoom levels.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use isochrone_kernel::Finished;

use crate::batches::{BatchFile, Batches};
use crate::error::StoreError;
use crate::manifest::{HostEntry, TableEntry};
use crate::merge::{Merge, Table};
use crate::states::StatesWriter;
use crate::sweep::Sweep;
use crate::table::{Cell, Layout, Rows};
use crate::tables::{OF_SPANS, THREAD_NAMES, THREADS};
use crate::threads::Numbered;
use crate::writer::{BATCH_ROWS, Shared, SpanWriter};

/// The tables of a host while they are written.
///
/// Each piece of the host's trace gets a [consumer](Self::consumer) of its own. When the pieces are merged, [`Self::finish`]
/// makes the rest.
#[derive(Debug)]
pub struct HostWriter {
    /// Where its directory is.
    path: PathBuf,
    entry: HostEntry,
    shared: Arc<Shared>,
}

impl HostWriter {
    /// In a new directory. `id`: identity of the host's clock; `offset_ns`: Unix time of the clock's zero.
    pub(crate) fn create(
        store: &Path,
        number: u32,
        directory: String,
        id: &str,
        name: &str,
        offset_ns: i64,
    ) -> Result<Self, StoreError> {
        let path = store.join(&directory);
        std::fs::create_dir(&path).map_err(StoreError::io(&path))?;
        let files = OF_SPANS.iter().map(|layout| BatchFile::create(&path, layout));
        let shared = Arc::new(Shared::new(files.collect::<Result<_, _>>()?));
        let (id, name) = (id.to_owned(), name.to_owned());
        let (range, levels, tables) = (None, 0, Vec::new());
        let entry = HostEntry { number, id, name, directory, offset_ns, range, levels, tables };
        Ok(Self { path, entry, shared })
    }

    /// A consumer for a piece of the host's trace.
    pub fn consumer(&self) -> SpanWriter {
        SpanWriter::new(self.shared.clone())
    }

    /// Writes threads, states and zoom levels; of a model that has the threads that have ended, too
    /// ([`isochrone_kernel::WithThreads`]). Memory: what overlaps at an instant, and some numbers for each thread. `O(n log n)`
    /// in the spans.
    ///
    /// # Errors
    /// Something could not be written, now or when a consumer wrote it.
    pub fn finish(mut self, model: Finished<SpanWriter>) -> Result<HostEntry, StoreError> {
        let Finished { spans, threads, range, .. } = model;
        let named = spans.flush();
        self.entry.tables =
            self.shared.finish()?.into_iter().map(BatchFile::finish).collect::<Result<_, _>>()?;
        self.entry.range = range;
        let range = range.unwrap_or_default();
        let numbered = Numbered::new(&threads, named, range);
        self.write_threads(&numbered)?;
        self.write_states(&numbered, range)?;
        Ok(self.entry)
    }

    fn write_threads(&mut self, numbered: &Numbered) -> Result<(), StoreError> {
        let rows = (0..).zip(&numbered.threads);
        let threads = rows.map(|(number, it)| {
            let number: u32 = number;
            [
                Cell::from(number),
                it.tid.into(),
                it.idle_of_cpu.into(),
                it.pid.into(),
                it.begin.into(),
                it.end.into(),
                it.comm.as_deref().into(),
                it.parent.into(),
                it.is_kernel.into(),
                it.is_begin_seen.into(),
                it.is_end_seen.into(),
            ]
        });
        let names = (0..).zip(&numbered.names).map(|(number, &thread)| {
            let number: u32 = number;
            [Cell::from(number), thread.into()]
        });
        let tables = [self.table(&THREADS, threads)?, self.table(&THREAD_NAMES, names)?];
        self.entry.tables.extend(tables);
        Ok(())
    }

    /// Writes a small table.
    fn table<'c, const N: usize>(
        &self,
        layout: &'static Layout,
        all: impl Iterator<Item = [Cell<'c>; N]>,
    ) -> Result<TableEntry, StoreError> {
        let mut file = BatchFile::create(&self.path, layout)?;
        let mut rows = Rows::new(layout);
        for cells in all {
            rows.push(cells);
            if rows.len() >= BATCH_ROWS {
                write(&mut rows, &mut file, None)?;
            }
        }
        write(&mut rows, &mut file, None)?;
        file.finish()
    }

    fn write_states(&mut self, numbered: &Numbered, range: (i64, i64)) -> Result<(), StoreError> {
        let open = |table: Table| Ok((table, Batches::open(&self.path, table.layout())?));
        let mut merge = Merge::new(Table::ALL.into_iter().map(open).collect::<Result<_, StoreError>>()?);
        let mut writer = StatesWriter::create(&self.path, numbered.threads.len(), range)?;
        let mut sweep = Sweep::new(numbered, range);
        let mut done = Vec::new();
        while merge.next(|at, input| sweep.begin(at, input, &mut |row| done.push(row)))? {
            for row in done.drain(..) {
                writer.add(&row, sweep.names())?;
            }
        }
        let names = sweep.names().to_vec();
        sweep.finish(&mut |row| done.push(row));
        for row in done.drain(..) {
            writer.add(&row, &names)?;
        }
        self.entry.levels = writer.levels();
        self.entry.tables.extend(writer.finish()?);
        Ok(())
    }
}

/// Writes all rows that wait. `by`: the column of numbers by which they are sorted before time.
pub(crate) fn write(rows: &mut Rows, file: &mut BatchFile, by: Option<usize>) -> Result<(), StoreError> {
    if rows.len() == 0 {
        return Ok(());
    }
    let batch = rows.take(by).map_err(StoreError::arrow(file.path()))?;
    file.write(&batch)
}
