//! The files of a table: rows that come in their order are cut where the host or the day changes, and where a
//! file is full.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use anyhow::Context;
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::compute::BatchCoalescer;
use datafusion::arrow::datatypes::{SchemaRef, TimestampNanosecondType};
use datafusion::common::ScalarValue;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::manifest::FileEntry;
use super::shape::Shape;
use crate::scan::BATCH_ROWS;

/// Days in ns.
const DAY: i64 = 86_400_000_000_000;

/// Sizes of files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// Rows of a row group, at most: what an engine reads at once, or passes over.
    group: usize,
    /// Rows of a file, at most: what is known of its row groups is in memory until it is whole.
    file: u64,
}

/// Sizes of the files that are written.
pub(super) const SIZES: Sizes = Sizes { group: 1 << 16, file: 1 << 24 };

/// The files of a table, of which one is open at a time.
pub(super) struct TableFiles<'d> {
    shape: &'d Shape,
    directory: &'d Path,
    sizes: Sizes,
    schema: SchemaRef,
    /// The column by whose day files are cut.
    start: usize,
    properties: WriterProperties,
    open: Option<OpenFile>,
    /// Of the first file.
    pub(super) first: Option<Key>,
    /// The number of the next file of a host and a day.
    parts: HashMap<Key, u32>,
    files: Vec<FileEntry>,
}

/// The host of rows, and the day in which they start, since 1970.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Key {
    host: Option<String>,
    day: Option<i32>,
}

struct OpenFile {
    key: Key,
    path: [String; 4],
    rows: u64,
    /// Rows until there are enough: how many come at once depends on threads, and decides where pages end.
    waiting: BatchCoalescer,
    writer: ArrowWriter<BufWriter<File>>,
}

impl OpenFile {
    fn write(&mut self, rows: RecordBatch) -> anyhow::Result<()> {
        self.rows += rows.num_rows() as u64;
        self.waiting.push_batch(rows)?;
        self.write_completed()
    }

    fn write_completed(&mut self) -> anyhow::Result<()> {
        while let Some(rows) = self.waiting.next_completed_batch() {
            self.writer.write(&rows)?;
        }
        Ok(())
    }

    /// Ends the file.
    fn finish(mut self) -> anyhow::Result<FileEntry> {
        self.waiting.finish_buffered_batch()?;
        self.write_completed()?;
        let file = self.writer.into_inner()?.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        let bytes = file.metadata()?.len();
        Ok(FileEntry { path: self.path.join("/"), host: self.key.host, rows: self.rows, bytes })
    }
}

impl<'d> TableFiles<'d> {
    /// Files of a table below a directory.
    ///
    /// # Errors
    /// None in practice.
    pub(super) fn new(shape: &'d Shape, directory: &'d Path, sizes: Sizes) -> anyhow::Result<Self> {
        let schema = shape.file_schema();
        let column_idx = i32::try_from(schema.index_of(shape.start)?)?;
        let sorted = SortingColumn { column_idx, descending: false, nulls_first: true };
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(sizes.group))
            .set_statistics_enabled(EnabledStatistics::Page)
            .set_sorting_columns(Some(vec![sorted]))
            .set_created_by(concat!("isochrone-sql ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        Ok(Self {
            shape,
            directory,
            sizes,
            start: shape.schema.index_of(shape.start)?,
            schema,
            properties,
            open: None,
            first: None,
            parts: HashMap::new(),
            files: Vec::new(),
        })
    }

    /// Writes rows, which follow those before in the order of the shape.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> anyhow::Result<()> {
        let hosts = batch.column(0).as_string::<i32>();
        let starts = batch.column(self.start).as_primitive::<TimestampNanosecondType>();
        let host = |row: usize| hosts.is_valid(row).then(|| hosts.value(row));
        let day = |row: usize| starts.is_valid(row).then(|| starts.value(row).div_euclid(DAY) as i32);
        let columns: Vec<usize> = (1..batch.num_columns()).collect();
        let in_file = batch.project(&columns)?;
        let mut from = 0;
        while from < batch.num_rows() {
            let of_key = |&row: &usize| host(row) == host(from) && day(row) == day(from);
            let rows = (from..batch.num_rows()).take_while(of_key).count();
            let key = Key { host: host(from).map(ToOwned::to_owned), day: day(from) };
            self.write_rows(&key, in_file.slice(from, rows))?;
            from += rows;
        }
        Ok(())
    }

    /// Writes rows of one host and day.
    fn write_rows(&mut self, key: &Key, mut rows: RecordBatch) -> anyhow::Result<()> {
        while rows.num_rows() > 0 {
            let is_open = |open: &OpenFile| open.key == *key && open.rows < self.sizes.file;
            let mut open = match self.open.take() {
                Some(open) if is_open(&open) => open,
                other => {
                    self.close(other)?;
                    self.create(key)?
                }
            };
            let room = usize::try_from(self.sizes.file - open.rows)?.min(rows.num_rows());
            open.write(rows.slice(0, room))?;
            rows = rows.slice(room, rows.num_rows() - room);
            self.open = Some(open);
        }
        Ok(())
    }

    fn create(&mut self, key: &Key) -> anyhow::Result<OpenFile> {
        self.first.get_or_insert_with(|| key.clone());
        let part = self.parts.entry(key.clone()).or_default();
        let day = key.day.map(|day| ScalarValue::Date32(Some(day)).to_string());
        let path = self.shape.path(key.host.as_deref(), day.as_deref(), *part);
        *part += 1;
        // Never the directory itself: a signal may have removed it.
        for depth in 1..path.len() {
            let above = self.directory.join(path[..depth].join("/"));
            match fs::create_dir(&above) {
                Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                    return Err(error).with_context(|| format!("cannot write {}", above.display()));
                }
                _ => {}
            }
        }
        let file = self.directory.join(path.join("/"));
        let file = File::create_new(&file).with_context(|| format!("cannot write {}", file.display()))?;
        let (schema, properties) = (SchemaRef::clone(&self.schema), self.properties.clone());
        let writer = ArrowWriter::try_new(BufWriter::new(file), schema, Some(properties))?;
        let waiting = BatchCoalescer::new(SchemaRef::clone(&self.schema), BATCH_ROWS);
        Ok(OpenFile { key: key.clone(), path, rows: 0, waiting, writer })
    }

    fn close(&mut self, open: Option<OpenFile>) -> anyhow::Result<()> {
        self.files.extend(open.map(OpenFile::finish).transpose()?);
        Ok(())
    }

    /// The files. A table without rows has one with its columns, `empty`.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(super) fn finish(mut self, empty: &Key) -> anyhow::Result<Vec<FileEntry>> {
        let open = match self.open.take() {
            None if self.files.is_empty() => Some(self.create(empty)?),
            open => open,
        };
        self.close(open)?;
        Ok(self.files)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may panic.
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{ArrayRef, StringArray, new_null_array};
    use parquet::file::reader::FileReader;
    use parquet::file::serialized_reader::SerializedFileReader;
    use parquet::file::statistics::Statistics;

    use super::*;
    use crate::instants::timestamps;

    /// Rows of `wakeups` at these times of hosts, ns.
    fn rows(shape: &Shape, rows: &[(Option<&str>, Option<i64>)]) -> RecordBatch {
        let column = |field: &datafusion::arrow::datatypes::FieldRef| -> ArrayRef {
            match field.name().as_str() {
                "host" => Arc::new(rows.iter().map(|row| row.0).collect::<StringArray>()),
                "time" => timestamps(rows.iter().map(|row| row.1)),
                "cause" => Arc::new(StringArray::from(vec!["irq"; rows.len()])),
                _ => new_null_array(field.data_type(), rows.len()),
            }
        };
        let columns = shape.schema.fields().iter().map(column).collect();
        let fields = shape.schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
        let schema = datafusion::arrow::datatypes::Schema::new(fields.collect::<Vec<_>>());
        RecordBatch::try_new(Arc::new(schema), columns).unwrap()
    }

    /// Files are cut where the host or the day changes, and where they are full; row groups know their times.
    #[test]
    fn files_are_cut_by_host_day_and_size() {
        let root = tempfile::tempdir().unwrap();
        let mut shape = Shape::of("wakeups").unwrap();
        let day = |days: i64, ns: i64| Some(days * DAY + ns);
        let all = [
            (None, day(1, 0)),
            (Some("a"), None),
            (Some("a"), day(-1, DAY - 1)),
            (Some("a"), day(0, 0)),
            (Some("a"), day(0, 1)),
            (Some("a"), day(0, 2)),
            (Some("a"), day(0, 3)),
            (Some("a"), day(0, 4)),
            (Some("a"), day(1, 0)),
            (Some("b"), day(1, 0)),
        ];
        let all = rows(&shape, &all);
        shape.schema = all.schema();
        let mut files = TableFiles::new(&shape, root.path(), Sizes { group: 2, file: 3 }).unwrap();
        // However the rows come.
        for (from, count) in [(0, 4), (4, 0), (4, 1), (5, 5)] {
            files.write(&all.slice(from, count)).unwrap();
        }
        let files = files.finish(&Key::default()).unwrap();
        let found: Vec<(&str, u64)> = files.iter().map(|file| (file.path.as_str(), file.rows)).collect();
        let unknown = "__HIVE_DEFAULT_PARTITION__";
        let expect = [
            (format!("wakeups/host={unknown}/day=1970-01-02/part-0.parquet"), 1),
            (format!("wakeups/host=a/day={unknown}/part-0.parquet"), 1),
            ("wakeups/host=a/day=1969-12-31/part-0.parquet".to_owned(), 1),
            ("wakeups/host=a/day=1970-01-01/part-0.parquet".to_owned(), 3),
            ("wakeups/host=a/day=1970-01-01/part-1.parquet".to_owned(), 2),
            ("wakeups/host=a/day=1970-01-02/part-0.parquet".to_owned(), 1),
            ("wakeups/host=b/day=1970-01-02/part-0.parquet".to_owned(), 1),
        ];
        assert_eq!(found, expect.each_ref().map(|(path, rows)| (path.as_str(), *rows)));
        assert_eq!(files[1].host.as_deref(), Some("a"));
        let path = root.path().join(&files[3].path);
        assert_eq!(path.metadata().unwrap().len(), files[3].bytes);
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        let time = shape.file_schema().index_of("time").unwrap();
        let ranges = reader.metadata().row_groups().iter().map(|group| {
            assert_eq!(group.sorting_columns().unwrap()[0].column_idx as usize, time);
            match group.column(time).statistics() {
                Some(Statistics::Int64(values)) => (*values.min_opt().unwrap(), *values.max_opt().unwrap()),
                other => panic!("{other:?}"),
            }
        });
        assert_eq!(ranges.collect::<Vec<_>>(), [(0, 1), (2, 2)]);
    }

    #[test]
    fn a_table_without_rows_has_its_columns() {
        let root = tempfile::tempdir().unwrap();
        let shape = Shape::of("messages").unwrap();
        let files = TableFiles::new(&shape, root.path(), SIZES).unwrap().finish(&Key::default()).unwrap();
        assert_eq!((files.len(), files[0].rows), (1, 0));
        let reader =
            SerializedFileReader::new(File::open(root.path().join(&files[0].path)).unwrap()).unwrap();
        let columns = reader.metadata().file_metadata().schema_descr().num_columns();
        assert_eq!(columns, shape.schema.fields().len() - 1);
    }
}
