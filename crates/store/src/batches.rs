//! A file of record batches, each with the times that it covers, so that those of a window are found without reading others.
//!
//! It is an Arrow IPC file; the times are in its footer's metadata, where other readers do not look for them.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use arrow_array::RecordBatch;
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;

use crate::error::StoreError;
use crate::manifest::TableEntry;
use crate::table::{Batch, Layout};

/// The key of the times of the batches in the metadata.
const TIMES: &str = "isochrone.batch_times";

/// The times that a batch covers: the first begin, the last end.
pub(crate) type Times = (i64, i64);

/// A file that is written batch by batch.
pub(crate) struct BatchFile {
    name: &'static str,
    path: PathBuf,
    writer: FileWriter<Checked<BufWriter<File>>>,
    times: Vec<Times>,
    rows: u64,
}

/// Writes and adds up what is written.
struct Checked<W> {
    to: W,
    bytes: u64,
    sum: crc32fast::Hasher,
}

impl std::fmt::Debug for BatchFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BatchFile").field("path", &self.path).finish_non_exhaustive()
    }
}

impl<W> Checked<W> {
    fn new(to: W) -> Self {
        Self { to, bytes: 0, sum: crc32fast::Hasher::new() }
    }
}

/// The CRC-32 of a file. Linear in its size.
pub(crate) fn sum_of(path: &Path) -> Result<u32, StoreError> {
    let mut file = File::open(path).map_err(StoreError::io(path))?;
    let mut checked = Checked::new(io::sink());
    io::copy(&mut file, &mut checked).map_err(StoreError::io(path))?;
    Ok(checked.sum.finalize())
}

impl<W: Write> Write for Checked<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.sum.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl BatchFile {
    pub(crate) fn create(directory: &Path, layout: &Layout) -> Result<Self, StoreError> {
        let path = directory.join(format!("{}.arrow", layout.name));
        let file = File::create_new(&path).map_err(StoreError::io(&path))?;
        let to = Checked::new(BufWriter::new(file));
        let writer = FileWriter::try_new(to, &layout.schema()).map_err(StoreError::arrow(&path))?;
        Ok(Self { name: layout.name, path, writer, times: Vec::new(), rows: 0 })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn write(&mut self, batch: &Batch) -> Result<(), StoreError> {
        self.writer.write(&batch.rows).map_err(StoreError::arrow(&self.path))?;
        self.times.push((batch.begin, batch.end));
        self.rows += batch.rows.num_rows() as u64;
        Ok(())
    }

    /// Ends the file. Returns what is to be known of it.
    pub(crate) fn finish(mut self) -> Result<TableEntry, StoreError> {
        let path = &self.path;
        let times = serde_json::to_string(&self.times)
            .map_err(|source| StoreError::Manifest { path: path.clone(), source })?;
        self.writer.write_metadata(TIMES, times);
        self.writer.finish().map_err(StoreError::arrow(path))?;
        let Checked { to, bytes, sum } = self.writer.into_inner().map_err(StoreError::arrow(path))?;
        to.into_inner().map_err(|error| StoreError::io(path)(error.into_error()))?;
        Ok(TableEntry { name: self.name.to_owned(), rows: self.rows, bytes, crc32: sum.finalize() })
    }
}

/// A file that is read batch by batch.
#[derive(Debug)]
pub(crate) struct Batches {
    path: PathBuf,
    reader: Mutex<FileReader<BufReader<File>>>,
    times: Vec<Times>,
}

impl Batches {
    /// Opens a file and checks that it is the table that it is called. Constant, but for the list of batches.
    pub(crate) fn open(directory: &Path, layout: &Layout) -> Result<Self, StoreError> {
        let path = directory.join(format!("{}.arrow", layout.name));
        let file = File::open(&path).map_err(StoreError::io(&path))?;
        let reader = FileReader::try_new_buffered(file, None).map_err(StoreError::arrow(&path))?;
        if *reader.schema() != *layout.schema() {
            return Err(StoreError::damaged(&path, "other columns than this version's"));
        }
        let times = reader.custom_metadata().get(TIMES).map_or("[]", String::as_str);
        let times: Vec<Times> = serde_json::from_str(times)
            .map_err(|source| StoreError::Manifest { path: path.clone(), source })?;
        if times.len() != reader.num_batches() {
            return Err(StoreError::damaged(&path, "a list of times that is not that of its batches"));
        }
        Ok(Self { path, reader: Mutex::new(reader), times })
    }

    /// The times of all batches.
    pub(crate) fn times(&self) -> &[Times] {
        &self.times
    }

    /// Reads one batch.
    pub(crate) fn read(&self, number: usize) -> Result<RecordBatch, StoreError> {
        let mut reader = self.reader.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        reader.set_index(number).map_err(StoreError::arrow(&self.path))?;
        match reader.next() {
            Some(batch) => batch.map_err(StoreError::arrow(&self.path)),
            None => Err(StoreError::damaged(&self.path, "fewer batches than its footer says")),
        }
    }
}
