//! The tables of spans: batches of the files of a store, a query reads those that its times and hosts leave,
//! and the columns that it names.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray, StringBuilder,
    UInt16Array, UInt32Array,
};
use datafusion::arrow::compute::{cast, filter_record_batch};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef, UInt8Type, UInt32Type};
use datafusion::arrow::error::ArrowError;
use datafusion::common::{Result, internal_err};
use isochrone_store::{ColumnKind, HostStore, TableInfo, ThreadInfo, ThreadName, ThreadRow};
use isochrone_strace::{error_in, error_name};
use isochrone_time::RawNs;
use isochrone_timing::Timing;

use super::layout::{Layout, address_and_port, address_text};
use crate::error::QueryError;
use crate::instants::{Shown, in_range, known, timestamps};
use crate::pruning::{Pruner, Ranges};
use crate::scan::{Chosen, Output, Piece, Selection, Table};
use crate::traced::Traced;

/// Bytes of batches that are read as one piece, about.
const PIECE: u64 = 1 << 20;

/// A table of spans.
#[derive(Debug)]
pub(crate) struct Stored {
    traced: Arc<Traced>,
    layout: &'static Layout,
    table: &'static TableInfo,
    schema: SchemaRef,
    makers: Vec<Maker>,
}

/// How a column is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Maker {
    /// The column of the store that it is made of; `None`: of none.
    of: Option<&'static str>,
    make: Make,
}

#[cfg(test)]
impl Maker {
    /// Whether it is the first of the columns of its instant or thread.
    pub(super) fn is_first(self) -> bool {
        use Whose::{Comm, Pid, Tid};
        !matches!(
            self.make,
            Make::Instant(Shown::Raw | Shown::Lo | Shown::Hi) | Make::Thread(Pid | Tid | Comm)
        )
    }
}

#[derive(Debug, Clone, Copy)]
enum Make {
    /// The host's name.
    Host,
    /// As it is; names and addresses as text.
    Same,
    Instant(Shown),
    /// From `begin` to `end`.
    Duration,
    Thread(Whose),
    Word(fn(u8) -> &'static str),
    Errno,
    Address,
    Port,
}

/// What of a thread.
#[derive(Debug, Clone, Copy)]
enum Whose {
    Number,
    Pid,
    Tid,
    Comm,
}

impl Stored {
    /// The table of a layout.
    ///
    /// # Errors
    /// The store has no such table or column.
    pub(crate) fn new(traced: &Arc<Traced>, layout: &'static Layout) -> Result<Self> {
        let (stored, fields, makers) = columns(layout)?;
        Ok(Self {
            traced: Arc::clone(traced),
            layout,
            table: stored,
            schema: Arc::new(Schema::new(fields)),
            makers,
        })
    }
}

/// The table of the store that a layout is of, and the columns with how they are made.
///
/// # Errors
/// The store has no such table or column.
pub(super) fn columns(layout: &'static Layout) -> Result<(&'static TableInfo, Vec<Field>, Vec<Maker>)> {
    let Some(stored) = TableInfo::of(layout.stored) else {
        return internal_err!("a store has no table `{}`", layout.stored);
    };
    let mut columns =
        Columns { table: stored, schema: stored.schema(), fields: Vec::new(), makers: Vec::new() };
    columns.add(Field::new("host", DataType::Utf8, false), None, Make::Host);
    layout.columns.split_whitespace().try_for_each(|item| columns.item(item))?;
    Ok((stored, columns.fields, columns.makers))
}

/// The columns of a table so far.
struct Columns {
    table: &'static TableInfo,
    schema: Schema,
    fields: Vec<Field>,
    makers: Vec<Maker>,
}

impl Columns {
    fn add(&mut self, field: Field, of: Option<&'static str>, make: Make) {
        self.fields.push(field);
        self.makers.push(Maker { of, make });
    }

    /// Adds what an item of [`Layout::columns`] stands for.
    fn item(&mut self, item: &'static str) -> Result<()> {
        if item == "duration" {
            self.add(Field::new("duration_ns", DataType::Int64, true), Some("begin"), Make::Duration);
            return Ok(());
        }
        let (name, of) = item.split_once('=').unwrap_or((item, item));
        if let Some((function, column)) = of.strip_suffix(')').and_then(|of| of.split_once('(')) {
            let (of_type, make) = match function {
                "errno" => (DataType::Utf8, Make::Errno),
                "address" => (DataType::Utf8, Make::Address),
                "port" => (DataType::UInt16, Make::Port),
                _ => return internal_err!("no function `{function}` makes a column"),
            };
            self.add(Field::new(name, of_type, true), Some(column), make);
            return Ok(());
        }
        let Some(kind) = self.table.column(of).map(|column| column.kind) else {
            return internal_err!("the table `{}` of a store has no column `{of}`", self.table.name);
        };
        match kind {
            ColumnKind::Time => {
                let name = if of == "at" { "time".to_owned() } else { format!("{name}_time") };
                for it in Shown::ALL {
                    self.add(it.field(&name), Some(of), Make::Instant(it));
                }
            }
            ColumnKind::Thread => {
                let prefix = if of == "thread" { String::new() } else { format!("{of}_") };
                for (what, of_type, whose) in [
                    ("thread", DataType::UInt32, Whose::Number),
                    ("pid", DataType::Int32, Whose::Pid),
                    ("tid", DataType::Int32, Whose::Tid),
                    ("comm", DataType::Utf8, Whose::Comm),
                ] {
                    self.add(
                        Field::new(format!("{prefix}{what}"), of_type, true),
                        Some(of),
                        Make::Thread(whose),
                    );
                }
            }
            ColumnKind::Word { name: word, .. } => {
                self.add(Field::new(name, DataType::Utf8, false), Some(of), Make::Word(word));
            }
            ColumnKind::Other => {
                let shown = match self.schema.field_with_name(of)?.data_type() {
                    DataType::Dictionary(..) | DataType::FixedSizeBinary(_) => DataType::Utf8,
                    other => other.clone(),
                };
                self.add(Field::new(name, shown, true), Some(of), Make::Same);
            }
        }
        Ok(())
    }
}

impl Table for Stored {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    fn choose(&self, pruner: &Pruner) -> Result<Chosen> {
        let (mut pieces, mut all) = (Vec::new(), 0);
        for (number, host) in (0..).zip(self.traced.hosts()) {
            let named: ArrayRef = Arc::new(StringArray::from(vec![&*host.name]));
            // The tables of a host that is not requested are not opened.
            if pruner.kept(&Ranges::of(1).with("host", Arc::clone(&named), named)) == [false] {
                continue;
            }
            let file = self.traced.tables(host)?.table(self.layout.stored).map_err(QueryError::from)?;
            all += file.batches() as u64;
            let kept = pruner.kept(&self.ranges(&host.name, self.traced.timing(host), &file));
            let bytes = file.bytes_of_batch();
            let most = (PIECE / bytes.max(1)).max(1) as u32;
            let kept = (0..).zip(kept).filter(|(_, kept)| *kept).map(|(batch, _)| batch);
            pieces.extend(
                runs(kept, most).map(|(from, to)| {
                    (Piece { of: number, part: 0, from, to }, u64::from(to - from) * bytes)
                }),
            );
        }
        Ok(Chosen { pieces, all, selection: Selection::All })
    }

    fn describe(&self, _: &Selection) -> String {
        self.layout.name.to_owned()
    }

    fn read(&self, piece: Piece, _: &Selection, columns: &[usize], out: &mut Output<'_>) -> Result<()> {
        let Some(host) = self.traced.hosts().get(piece.of as usize) else {
            return internal_err!("no host has the number {}", piece.of);
        };
        let tables = self.traced.tables(host)?;
        let file = tables.table(self.layout.stored).map_err(QueryError::from)?;
        let makers: Vec<Maker> = columns.iter().map(|&column| self.makers[column]).collect();
        // The columns of the file that are needed, by name, with their indices in what is read.
        let ends = makers.iter().any(|maker| matches!(maker.make, Make::Duration)).then_some("end");
        let only = self.layout.only.map(|(column, _)| column);
        let wanted = makers.iter().filter_map(|maker| maker.of).chain(ends).chain(only);
        let mut indices: BTreeMap<usize, &str> = BTreeMap::new();
        for name in wanted {
            indices.insert(file.schema().index_of(name)?, name);
        }
        let read: Vec<usize> = indices.keys().copied().collect();
        let at: BTreeMap<&str, usize> = indices.into_values().zip(0..).collect();
        let whole = Whole { name: &host.name, timing: self.traced.timing(host), tables, at };
        for batch in file.read(&read, piece.from as usize..piece.to as usize).map_err(QueryError::from)? {
            let batch = batch.map_err(QueryError::from)?;
            out.reads(1, file.bytes_of_batch());
            out.looks_at(batch.num_rows());
            let batch = self.only(batch, &whole)?;
            let rows = batch.num_rows();
            let made = makers.iter().map(|maker| whole.column(*maker, &batch));
            let made: Vec<ArrayRef> = made.collect::<Result<_, _>>().map_err(self.error())?;
            if out.send(made, rows)?.is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// Consecutive numbers, as ranges of at most `most` numbers.
pub(crate) fn runs(numbers: impl Iterator<Item = u32>, most: u32) -> impl Iterator<Item = (u32, u32)> {
    let mut numbers = numbers.peekable();
    std::iter::from_fn(move || {
        let from = numbers.next()?;
        let mut to = from + 1;
        while to - from < most && numbers.next_if_eq(&to).is_some() {
            to += 1;
        }
        Some((from, to))
    })
}

impl Stored {
    /// What is known of the values of each batch.
    fn ranges(&self, host: &str, timing: Timing<'_>, file: &isochrone_store::TableFile) -> Ranges {
        let batches = file.batches();
        let hosts: ArrayRef = Arc::new(StringArray::from(vec![host; batches]));
        let ranges = Ranges::of(batches).with("host", Arc::clone(&hosts), hosts);
        let (first, last) = if self.table.has_length { ("begin_time", "end_time") } else { ("time", "time") };
        // Corrections are monotonic.
        let common = |RawNs(raw): RawNs| known(raw).and_then(|raw| in_range(timing.unix(RawNs(raw))));
        let begins = || timestamps((0..batches).map(|batch| common(file.times(batch).start)));
        let ends = || timestamps((0..batches).map(|batch| common(file.times(batch).end)));
        let ranges = ranges.with(first, begins(), ends());
        if first == last { ranges } else { ranges.with(last, begins(), ends()) }
    }

    fn error(&self) -> impl Fn(ArrowError) -> QueryError + '_ {
        |source| QueryError::Columns { table: self.layout.name.to_owned(), source }
    }
}

impl Stored {
    /// The rows that the layout wants.
    fn only(&self, batch: RecordBatch, whole: &Whole<'_>) -> Result<RecordBatch> {
        let Some((column, value)) = self.layout.only else { return Ok(batch) };
        let texts = cast(batch.column(whole.at[column]), &DataType::Utf8)?;
        let is_wanted: BooleanArray =
            texts.as_string::<i32>().iter().map(|text| Some(text == Some(value))).collect();
        Ok(filter_record_batch(&batch, &is_wanted)?)
    }
}

/// What columns of a host are made with.
struct Whole<'h> {
    name: &'h str,
    timing: Timing<'h>,
    tables: &'h HostStore,
    /// The columns in a batch that was read.
    at: BTreeMap<&'h str, usize>,
}

impl Whole<'_> {
    fn column(&self, maker: Maker, batch: &RecordBatch) -> Result<ArrayRef, ArrowError> {
        let of = maker.of.and_then(|name| self.at.get(name)).map(|&index| batch.column(index));
        let Some(of) = of else {
            return Ok(Arc::new(StringArray::from(vec![self.name; batch.num_rows()])));
        };
        Ok(match maker.make {
            Make::Host => Arc::new(StringArray::from(vec![self.name; batch.num_rows()])),
            Make::Same => shown(of)?,
            Make::Instant(it) => {
                let raw = of.as_primitive::<Int64Type>();
                it.of(self.timing, raw.iter().map(|raw| raw.and_then(known)))
            }
            Make::Duration => {
                let end = self.at.get("end").map(|&index| batch.column(index));
                let ends = end.unwrap_or(of).as_primitive::<Int64Type>();
                let both = of.as_primitive::<Int64Type>().iter().zip(ends.iter());
                let duration =
                    |(begin, end): (Option<i64>, Option<i64>)| known(end?)?.checked_sub(known(begin?)?);
                Arc::new(both.map(duration).collect::<Int64Array>())
            }
            Make::Thread(whose) => self.thread(whose, of),
            Make::Word(word) => {
                let numbers = of.as_primitive::<UInt8Type>();
                Arc::new(numbers.iter().map(|number| number.map(word)).collect::<StringArray>())
            }
            Make::Errno => {
                let returned = of.as_primitive::<Int64Type>();
                Arc::new(returned.iter().map(|ret| errno(ret?)).collect::<StringArray>())
            }
            Make::Address => {
                let texts = of.as_string::<i32>().iter();
                Arc::new(texts.map(|text| Some(address_and_port(text?)?.0)).collect::<StringArray>())
            }
            Make::Port => {
                let texts = of.as_string::<i32>().iter();
                Arc::new(texts.map(|text| Some(address_and_port(text?)?.1)).collect::<UInt16Array>())
            }
        })
    }

    /// What is known of the threads that rows name.
    fn thread(&self, whose: Whose, of: &ArrayRef) -> ArrayRef {
        let names = of.as_primitive::<UInt32Type>();
        let numbers = names.iter().map(|name| self.tables.thread_of(ThreadName(name?)));
        let row = |thread: Option<ThreadRow>| self.tables.thread(thread?);
        match whose {
            Whose::Number => Arc::new(numbers.map(|thread| Some(thread?.0)).collect::<UInt32Array>()),
            Whose::Pid => Arc::new(numbers.map(|number| pid(row(number)?)).collect::<Int32Array>()),
            Whose::Tid => Arc::new(numbers.map(|number| tid(row(number)?)).collect::<Int32Array>()),
            Whose::Comm => {
                let mut comms = StringBuilder::with_capacity(names.len(), names.len() * 8);
                numbers.for_each(|number| comms.append_option(row(number).and_then(|it| it.comm.as_deref())));
                Arc::new(comms.finish())
            }
        }
    }
}

/// The tid of a thread; an idle task is thread 0.
pub(crate) fn tid(thread: &ThreadInfo) -> Option<i32> {
    thread.tid.or(thread.idle_of_cpu.map(|_| 0))
}

/// The pid of a thread; an idle task is of process 0.
pub(crate) fn pid(thread: &ThreadInfo) -> Option<i32> {
    thread.pid.or(thread.idle_of_cpu.map(|_| 0))
}

/// The name of the error in what a call returned.
pub(crate) fn errno(ret: i64) -> Option<&'static str> {
    error_in(ret).and_then(error_name)
}

/// A column of the store as queries have it.
fn shown(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    Ok(match column.data_type() {
        DataType::Dictionary(..) => cast(column, &DataType::Utf8)?,
        DataType::FixedSizeBinary(_) => {
            let addresses = column.as_fixed_size_binary().iter();
            Arc::new(addresses.map(|octets| address_text(octets?)).collect::<StringArray>())
        }
        _ => ArrayRef::clone(column),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_ranges() {
        let check = |numbers: &[u32], most, expect: &[(u32, u32)]| {
            assert_eq!(runs(numbers.iter().copied(), most).collect::<Vec<_>>(), expect, "{numbers:?}");
        };
        check(&[], 4, &[]);
        check(&[0, 1, 2, 5], 9, &[(0, 3), (5, 6)]);
        check(&[0, 1, 2, 3, 4], 2, &[(0, 2), (2, 4), (4, 5)]);
    }

    #[test]
    fn errors_of_calls() {
        let check = |ret, expect| assert_eq!(errno(ret), expect, "{ret}");
        check(-2, Some("ENOENT"));
        check(0, None);
        check(2, None);
        check(-4096, None);
        check(i64::MIN, None);
    }
}
