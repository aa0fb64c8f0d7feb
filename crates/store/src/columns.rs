//! Tables as Arrow record batches, for readers that take whole columns: queries.
//!
//! Rows and columns are those of the file (`docs/store.md`); what rows of a window are is known by
//! [`TableFile::times`].

use std::ops::Range;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::reader::FileReader;
use arrow_schema::SchemaRef;
use isochrone_time::{RawNs, Window};

use crate::batches::covered_by;
use crate::checked::{Checked, Files};
use crate::error::StoreError;
use crate::manifest::TableEntry;
use crate::table::Covered;

/// A table of a host.
#[derive(Debug)]
pub struct TableFile {
    path: PathBuf,
    schema: SchemaRef,
    covered: Vec<Covered>,
    entry: TableEntry,
}

/// Some columns of some batches, batch by batch.
#[derive(Debug)]
pub struct TableColumns {
    path: PathBuf,
    reader: FileReader<Checked>,
    left: Range<usize>,
}

fn reader(
    path: &Path,
    entry: &TableEntry,
    columns: Option<Vec<usize>>,
) -> Result<FileReader<Checked>, StoreError> {
    FileReader::try_new(Checked::open(path, entry)?, columns).map_err(StoreError::arrow(path))
}

impl TableFile {
    /// Opens a table. Linear in the number of its batches.
    pub(crate) fn open(files: Files<'_>, name: &str) -> Result<Self, StoreError> {
        let (path, entry) = (files.path_of(name), files.entry(name)?.clone());
        let reader = reader(&path, &entry, None)?;
        let covered = covered_by(&reader, &path)?;
        Ok(Self { schema: reader.schema(), path, covered, entry })
    }

    /// Its columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Number of its batches.
    pub fn batches(&self) -> usize {
        self.covered.len()
    }

    /// Approximate number of bytes of a batch in the file.
    pub fn bytes_of_batch(&self) -> u64 {
        self.entry.bytes / self.covered.len().max(1) as u64
    }

    /// The first start and the last end of the rows of a batch; of a table without times, both are 0.
    pub fn times(&self, batch: usize) -> Window<RawNs> {
        self.covered.get(batch).map_or(Window::default(), |covered| Window::new(covered.start, covered.end))
    }

    /// Some columns, by their indices in ascending order, of some batches.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn read(&self, columns: &[usize], batches: Range<usize>) -> Result<TableColumns, StoreError> {
        let reader = reader(&self.path, &self.entry, Some(columns.to_vec()))?;
        let left = batches.start..batches.end.min(self.covered.len());
        Ok(TableColumns { path: self.path.clone(), reader, left })
    }
}

impl Iterator for TableColumns {
    type Item = Result<RecordBatch, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let number = self.left.next()?;
        if let Err(error) = self.reader.set_index(number) {
            return Some(Err(StoreError::arrow(&self.path)(error)));
        }
        let batch = self.reader.next()?;
        Some(batch.map_err(StoreError::arrow(&self.path)))
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;

    use super::*;
    use crate::{Message, Store, StoreWriter};

    #[test]
    fn columns_of_batches() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.store");
        let store = StoreWriter::create(&path, || ()).unwrap();
        let mut messages = store.messages().unwrap();
        for at in 0..20_000 {
            messages.push(Message {
                sent_host: 0,
                sent_at: RawNs(at),
                sent_cpu: None,
                sent_thread: None,
                received_host: 1,
                received_at: RawNs(at + 5),
                received_cpu: None,
                received_thread: None,
            });
        }
        let messages = messages.finish().unwrap();
        store.commit(Vec::new(), Some(messages), None, Vec::new()).unwrap();
        let table = Store::open(&path).unwrap().message_table().unwrap().unwrap();
        assert_eq!((table.batches(), table.schema().field(1).name().as_str()), (3, "sent_at"));
        assert_eq!(table.times(1).start, RawNs(8_192));
        let batches: Vec<RecordBatch> = table.read(&[1, 5], 1..9).unwrap().map(Result::unwrap).collect();
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 20_000 - 8_192);
        let first = &batches[0];
        assert_eq!(first.num_columns(), 2);
        assert_eq!(first.column(1).as_primitive::<Int64Type>().value(0), 8_197);
    }
}
