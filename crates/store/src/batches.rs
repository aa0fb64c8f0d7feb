//! Files of record batches, each batch with the times that it covers, so that those of a window are found
//! without reading others.
//!
//! A file is an Arrow IPC file; the times are in its footer's metadata, which other readers ignore.

use std::fs::File;
use std::io::{BufWriter, Read, Seek};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_ipc::CompressionType;
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions};
use arrow_schema::{DataType, Schema, SchemaRef};
use isochrone_kernel::Name;
use isochrone_time::{RawNs, Window};

use crate::checked::{Checked, Files, Summed};
use crate::error::StoreError;
use crate::manifest::TableEntry;
use crate::names::Names;
use crate::table::{Covered, Row, Rows, batch};

/// The metadata key of the times that the batches cover.
const COVERED: &str = "isochrone.batch_times";

/// The name of the table of a level.
fn level_name<R: Row>(level: usize) -> String {
    format!("{}{level}", R::TABLE)
}

/// Size of a buffer for writing, bytes.
const BUFFER: usize = 1 << 17;

/// A file that is written batch by batch.
pub(crate) struct BatchFile<R> {
    file: TableWriter,
    of: PhantomData<fn(R)>,
}

/// What of it is the same for all rows: compiled once.
struct TableWriter {
    name: String,
    path: PathBuf,
    schema: SchemaRef,
    names: Arc<Names>,
    writer: FileWriter<BufWriter<Summed<File>>>,
    covered: Vec<Covered>,
    rows: u64,
}

impl<R> std::fmt::Debug for BatchFile<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BatchFile").field("path", &self.file.path).finish_non_exhaustive()
    }
}

/// The times that the batches of a file cover.
pub(crate) fn covered_by<F: Read + Seek>(
    reader: &FileReader<F>,
    path: &Path,
) -> Result<Vec<Covered>, StoreError> {
    let covered = reader.custom_metadata().get(COVERED).map_or("[]", String::as_str);
    let all: Vec<(i64, i64, i64)> =
        serde_json::from_str(covered).map_err(|why| StoreError::Manifest { path: path.to_owned(), why })?;
    if all.len() != reader.num_batches() {
        return Err(StoreError::damaged(path, "a list of times that is not that of its batches"));
    }
    let covered = |(start, end, longest)| Covered { start: RawNs(start), end: RawNs(end), longest };
    Ok(all.into_iter().map(covered).collect())
}

impl<R: Row> BatchFile<R> {
    /// Creates the table of these rows.
    pub(crate) fn create(directory: &Path, names: &Arc<Names>) -> Result<Self, StoreError> {
        Self::named(directory, R::TABLE, names)
    }

    /// Creates one of several tables of these rows.
    fn named(directory: &Path, name: &str, names: &Arc<Names>) -> Result<Self, StoreError> {
        let file = TableWriter::create::<R>(directory, name, names)?;
        Ok(Self { file, of: PhantomData })
    }

    /// Writes rows as a batch.
    pub(crate) fn write(&mut self, rows: &[R]) -> Result<(), StoreError> {
        let names = self.file.names.array(R::NAMES);
        let made = batch(rows, &self.file.schema, &names);
        let (batch, covered) = made.map_err(StoreError::arrow(&self.file.path))?;
        self.file.write(&batch, covered)
    }

    /// Finishes the file. Returns its manifest entry.
    pub(crate) fn finish(self) -> Result<TableEntry, StoreError> {
        self.file.finish()
    }
}

/// A table whose rows are collected into batches.
#[derive(Debug)]
pub(crate) struct RowsFile<R: Row> {
    file: BatchFile<R>,
    rows: Rows<R>,
    /// The first error, returned by [`Self::finish`].
    error: Option<StoreError>,
}

impl<R: Row> RowsFile<R> {
    /// Creates the table of these rows.
    pub(crate) fn create(directory: &Path, names: &Arc<Names>) -> Result<Self, StoreError> {
        Self::named(directory, R::TABLE, names)
    }

    /// Creates the tables of some levels.
    pub(crate) fn levels(
        directory: &Path,
        count: usize,
        names: &Arc<Names>,
    ) -> Result<Vec<Self>, StoreError> {
        (0..count).map(|level| Self::named(directory, &level_name::<R>(level), names)).collect()
    }

    fn named(directory: &Path, name: &str, names: &Arc<Names>) -> Result<Self, StoreError> {
        let file = BatchFile::named(directory, name, names)?;
        Ok(Self { file, rows: Rows::default(), error: None })
    }

    /// Adds a row. Errors are returned by [`Self::finish`].
    #[inline]
    pub(crate) fn push(&mut self, row: R) {
        if let Some(full) = self.rows.push(row)
            && let Err(error) = self.file.write(&full)
        {
            self.error.get_or_insert(error);
        }
    }

    /// Writes the remaining rows and finishes the file. Returns its manifest entry.
    pub(crate) fn finish(mut self) -> Result<TableEntry, StoreError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        for rows in self.rows.take() {
            self.file.write(&rows)?;
        }
        self.file.finish()
    }
}

impl TableWriter {
    fn create<R: Row>(directory: &Path, name: &str, names: &Arc<Names>) -> Result<Self, StoreError> {
        let path = Files { directory, entries: &[] }.path_of(name);
        let file = File::create_new(&path).map_err(StoreError::io(&path))?;
        let to = BufWriter::with_capacity(BUFFER, Summed::new(file));
        let schema = Arc::new(R::schema());
        let compression = R::IS_PACKED.then_some(CompressionType::LZ4_FRAME);
        let options = IpcWriteOptions::default()
            .with_dictionary_handling(DictionaryHandling::Delta)
            .try_with_compression(compression)
            .map_err(StoreError::arrow(&path))?;
        let writer =
            FileWriter::try_new_with_options(to, &schema, options).map_err(StoreError::arrow(&path))?;
        let (name, names) = (name.to_owned(), Arc::clone(names));
        Ok(Self { name, path, schema, names, writer, covered: Vec::new(), rows: 0 })
    }

    fn write(&mut self, batch: &RecordBatch, covered: Covered) -> Result<(), StoreError> {
        self.writer.write(batch).map_err(StoreError::arrow(&self.path))?;
        self.covered.push(covered);
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    fn finish(mut self) -> Result<TableEntry, StoreError> {
        let path = &self.path;
        let covered: Vec<_> = self.covered.iter().map(|it| (it.start, it.end, it.longest)).collect();
        let covered = serde_json::to_string(&covered)
            .map_err(|why| StoreError::Manifest { path: path.clone(), why })?;
        self.writer.write_metadata(COVERED, covered);
        self.writer.finish().map_err(StoreError::arrow(path))?;
        let buffer = self.writer.into_inner().map_err(StoreError::arrow(path))?;
        let file = buffer.into_inner().map_err(|error| StoreError::io(path)(error.into_error()))?;
        let (bytes, crc32) = file.finish();
        Ok(TableEntry { name: self.name, rows: self.rows, bytes, crc32 })
    }
}

/// A file that is read batch by batch.
#[derive(Debug)]
pub(crate) struct Batches<R: Row> {
    file: TableReader,
    /// Batches that were read last, the latest first, with their numbers: successive queries are mostly about
    /// near instants.
    recent: Mutex<Vec<(usize, R::View)>>,
    names: OnceLock<Vec<Name>>,
}

/// What of it is the same for all rows: compiled once.
#[derive(Debug)]
struct TableReader {
    path: PathBuf,
    reader: Mutex<FileReader<Checked>>,
    covered: Vec<Covered>,
}

/// Number of batches that are kept.
const RECENT: usize = 8;

impl<R: Row> Batches<R> {
    /// Opens a file and checks that it is the table of that name. Linear in the number of batches.
    pub(crate) fn open(files: Files<'_>) -> Result<Self, StoreError> {
        Self::named(files, R::TABLE)
    }

    /// Opens the tables of some levels.
    pub(crate) fn levels(files: Files<'_>, count: usize) -> Result<Vec<Self>, StoreError> {
        (0..count).map(|level| Self::named(files, &level_name::<R>(level))).collect()
    }

    fn named(files: Files<'_>, name: &str) -> Result<Self, StoreError> {
        let file = TableReader::open(files, name, &R::schema())?;
        Ok(Self { file, recent: Mutex::default(), names: OnceLock::new() })
    }

    /// The times that each batch covers.
    pub(crate) fn covered(&self) -> &[Covered] {
        &self.file.covered
    }

    /// Reads one batch.
    pub(crate) fn read(&self, number: usize) -> Result<R::View, StoreError> {
        Ok(R::view(&self.file.batch(number)?))
    }

    /// As [`Self::read`], of a batch that may have been read before.
    fn read_again(&self, number: usize) -> Result<R::View, StoreError> {
        let lock = || self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let mut recent = lock();
        if let Some(index) = recent.iter().position(|(other, _)| *other == number) {
            recent[..=index].rotate_right(1);
            return Ok(recent[0].1.clone());
        }
        drop(recent);
        let view = self.read(number)?;
        let mut recent = lock();
        // Another thread may have read it meanwhile.
        recent.retain(|(other, _)| *other != number);
        recent.truncate(RECENT - 1);
        recent.insert(0, (number, view.clone()));
        Ok(view)
    }

    /// The names of the column of names, by number: all that any batch has. None, if the table has no such
    /// column. They are read once.
    pub(crate) fn names(&self) -> Result<&[Name], StoreError> {
        if let Some(names) = self.names.get() {
            return Ok(names);
        }
        let names = if R::NAMES.is_some() { self.file.names()? } else { Vec::new() };
        Ok(self.names.get_or_init(|| names))
    }

    /// Passes all rows to `to`, batch by batch.
    pub(crate) fn each(&self, mut to: impl FnMut(R)) -> Result<(), StoreError> {
        for number in 0..self.covered().len() {
            let batch = self.file.batch(number)?;
            let view = R::view(&batch);
            (0..batch.num_rows()).for_each(|row| to(R::get(&view, row)));
        }
        Ok(())
    }

    /// Passes all rows to `each` that overlap a window; of instants, those that are in it.
    pub(crate) fn rows(&self, window: Window<RawNs>, mut each: impl FnMut(R)) -> Result<(), StoreError> {
        let start = if R::HAS_LENGTH { window.start } else { window.start.saturating_sub(1) };
        self.overlapping(Window::new(start, window.end), |view, row| {
            each(R::get(view, row));
            Ok(())
        })
    }

    /// Passes all rows that overlap a window to `each`: those with a start before its end and an end after
    /// its start.
    pub(crate) fn overlapping(
        &self,
        window: Window<RawNs>,
        mut each: impl FnMut(&R::View, usize) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for (number, covered) in self.file.covered.iter().enumerate() {
            if covered.start >= window.end || covered.end <= window.start {
                continue;
            }
            let view = self.read_again(number)?;
            let (starts, ends) = (R::starts(&view), R::ends(&view));
            let Window { start: RawNs(from), end: RawNs(to) } = window;
            // A row whose start was not seen has no length that fits.
            let is_measured = covered.longest < i64::MAX;
            let earliest = if is_measured { from.saturating_sub(covered.longest) } else { i64::MIN };
            let first = starts.partition_point(|&start| start < earliest);
            for row in first..starts.len() {
                if starts[row] >= to {
                    break;
                }
                if ends[row] > from {
                    each(&view, row)?;
                }
            }
        }
        Ok(())
    }
}

impl TableReader {
    fn open(files: Files<'_>, name: &str, schema: &Schema) -> Result<Self, StoreError> {
        let path = files.path_of(name);
        let file = Checked::open(&path, files.entry(name)?)?;
        let reader = FileReader::try_new(file, None).map_err(StoreError::arrow(&path))?;
        if *reader.schema() != *schema {
            return Err(StoreError::damaged(&path, "other columns than this version's"));
        }
        let covered = covered_by(&reader, &path)?;
        Ok(Self { path, reader: Mutex::new(reader), covered })
    }

    fn batch(&self, number: usize) -> Result<RecordBatch, StoreError> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        reader.set_index(number).map_err(StoreError::arrow(&self.path))?;
        match reader.next() {
            Some(batch) => batch.map_err(StoreError::arrow(&self.path)),
            None => Err(StoreError::damaged(&self.path, "fewer batches than its footer says")),
        }
    }

    fn names(&self) -> Result<Vec<Name>, StoreError> {
        if self.covered.is_empty() {
            return Ok(Vec::new());
        }
        let batch = self.batch(0)?;
        let column =
            batch.columns().iter().find(|column| matches!(column.data_type(), DataType::Dictionary(..)));
        let names =
            column.map(|column| column.as_dictionary::<UInt32Type>().values().as_string::<i32>().clone());
        Ok(names
            .iter()
            .flat_map(|names| names.iter())
            .map(|name| Name::from(name.unwrap_or_default()))
            .collect())
    }
}
