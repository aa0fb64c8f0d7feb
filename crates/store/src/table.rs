//! Rows that become record batches: a list of columns, appended to cell by cell, sorted, and emptied into an Arrow file.
//!
//! Which tables there are is in [`crate::tables`]; files of batches are in [`crate::batches`].

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray, UInt8Array, UInt32Array,
    UInt64Array,
};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    U8,
    U32,
    U64,
    I32,
    I64,
    Text,
}

/// A column of a table: its name, what it holds, whether a cell may be null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) nullable: bool,
}

/// A table: its name, which is that of its file, and its columns. `times`: places of the columns with begin and end, by which
/// rows are sorted and batches are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [Column],
    pub(crate) times: Option<(usize, usize)>,
}

impl Layout {
    pub(crate) fn schema(&self) -> SchemaRef {
        let field = |column: &Column| {
            let kind = match column.kind {
                Kind::Bool => DataType::Boolean,
                Kind::U8 => DataType::UInt8,
                Kind::U32 => DataType::UInt32,
                Kind::U64 => DataType::UInt64,
                Kind::I32 => DataType::Int32,
                Kind::I64 => DataType::Int64,
                Kind::Text => DataType::Utf8,
            };
            Field::new(column.name, kind, column.nullable)
        };
        Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }
}

/// A value of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cell<'c> {
    Null,
    Bool(bool),
    U8(u8),
    U32(u32),
    U64(u64),
    I32(i32),
    I64(i64),
    Text(&'c str),
}

macro_rules! cells {
    ($($Type:ty => $Variant:ident,)*) => {$(
        impl From<$Type> for Cell<'_> {
            fn from(value: $Type) -> Self {
                Self::$Variant(value)
            }
        }
    )*};
}

cells! {
    bool => Bool,
    u8 => U8,
    u32 => U32,
    u64 => U64,
    i32 => I32,
    i64 => I64,
}

impl<'c> From<&'c str> for Cell<'c> {
    fn from(value: &'c str) -> Self {
        Self::Text(value)
    }
}

impl<T> From<Option<T>> for Cell<'_>
where
    Self: From<T>,
{
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::from)
    }
}

/// The cells of a column so far.
#[derive(Debug)]
struct Cells {
    values: Values,
    /// Whether each has a value; of columns without nulls nothing is kept.
    valid: Option<Vec<bool>>,
}

/// The values; of a null, a zero.
#[derive(Debug)]
enum Values {
    Bool(Vec<bool>),
    U8(Vec<u8>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    /// All texts one after the other, and where each ends.
    Text(String, Vec<u32>),
}

/// Does the same to the list of each kind; texts are left to the caller.
macro_rules! each {
    ($values:expr, $all:ident => $do:expr, $text:pat => $other:expr) => {
        match $values {
            Values::Bool($all) => $do,
            Values::U8($all) => $do,
            Values::U32($all) => $do,
            Values::U64($all) => $do,
            Values::I32($all) => $do,
            Values::I64($all) => $do,
            $text => $other,
        }
    };
}

impl Cells {
    fn new(column: &Column) -> Self {
        let values = match column.kind {
            Kind::Bool => Values::Bool(Vec::new()),
            Kind::U8 => Values::U8(Vec::new()),
            Kind::U32 => Values::U32(Vec::new()),
            Kind::U64 => Values::U64(Vec::new()),
            Kind::I32 => Values::I32(Vec::new()),
            Kind::I64 => Values::I64(Vec::new()),
            Kind::Text => Values::Text(String::new(), Vec::new()),
        };
        Self { values, valid: column.nullable.then(Vec::new) }
    }

    #[inline]
    fn push(&mut self, cell: Cell<'_>) {
        let mut is_valid = true;
        match (&mut self.values, cell) {
            (Values::Bool(all), Cell::Bool(value)) => all.push(value),
            (Values::U8(all), Cell::U8(value)) => all.push(value),
            (Values::U32(all), Cell::U32(value)) => all.push(value),
            (Values::U64(all), Cell::U64(value)) => all.push(value),
            (Values::I32(all), Cell::I32(value)) => all.push(value),
            (Values::I64(all), Cell::I64(value)) => all.push(value),
            (Values::Text(text, ends), Cell::Text(value)) => {
                text.push_str(value);
                ends.push(text.len() as u32);
            }
            (values, cell) => {
                debug_assert!(matches!(cell, Cell::Null), "{cell:?} in another column");
                is_valid = false;
                each!(values, all => all.push(Default::default()), Values::Text(text, ends) => ends.push(text.len() as u32));
            }
        }
        if let Some(valid) = &mut self.valid {
            valid.push(is_valid);
        } else {
            debug_assert!(is_valid, "a null in a column without nulls");
        }
    }

    /// Adds all cells of another column of the same kind.
    fn append(&mut self, other: &mut Self) {
        match (&mut self.values, &mut other.values) {
            (Values::Bool(all), Values::Bool(more)) => all.append(more),
            (Values::U8(all), Values::U8(more)) => all.append(more),
            (Values::U32(all), Values::U32(more)) => all.append(more),
            (Values::U64(all), Values::U64(more)) => all.append(more),
            (Values::I32(all), Values::I32(more)) => all.append(more),
            (Values::I64(all), Values::I64(more)) => all.append(more),
            (Values::Text(text, ends), Values::Text(more, more_ends)) => {
                let before = text.len() as u32;
                text.push_str(more);
                more.clear();
                ends.extend(more_ends.drain(..).map(|end| end + before));
            }
            _ => debug_assert!(false, "another table"),
        }
        if let (Some(valid), Some(more)) = (&mut self.valid, &mut other.valid) {
            valid.append(more);
        }
    }

    fn time(&self, row: usize) -> i64 {
        match &self.values {
            Values::I64(all) => all[row],
            _ => 0,
        }
    }

    fn number(&self, row: usize) -> u32 {
        match &self.values {
            Values::U32(all) => all[row],
            _ => 0,
        }
    }

    /// The array of the cells in an order of rows, and none left.
    fn take(&mut self, order: &[u32]) -> ArrayRef {
        let nulls = self.valid.as_mut().map(|valid| {
            let nulls: NullBuffer = order.iter().map(|&row| valid[row as usize]).collect();
            valid.clear();
            nulls
        });
        macro_rules! numbers {
            ($all:ident, $Array:ident) => {{
                let sorted: Vec<_> = order.iter().map(|&row| $all[row as usize]).collect();
                $all.clear();
                Arc::new($Array::new(sorted.into(), nulls))
            }};
        }
        match &mut self.values {
            Values::Bool(all) => {
                let sorted: BooleanBuffer = order.iter().map(|&row| all[row as usize]).collect();
                all.clear();
                Arc::new(BooleanArray::new(sorted, nulls))
            }
            Values::U8(all) => numbers!(all, UInt8Array),
            Values::U32(all) => numbers!(all, UInt32Array),
            Values::U64(all) => numbers!(all, UInt64Array),
            Values::I32(all) => numbers!(all, Int32Array),
            Values::I64(all) => numbers!(all, Int64Array),
            Values::Text(text, ends) => {
                let begin = |row: usize| row.checked_sub(1).map_or(0, |before| ends[before]) as usize;
                let is_valid = |place: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(place));
                let texts = order.iter().enumerate().map(|(place, &row)| {
                    let row = row as usize;
                    is_valid(place).then(|| &text[begin(row)..ends[row] as usize])
                });
                let array: StringArray = texts.collect();
                text.clear();
                ends.clear();
                Arc::new(array)
            }
        }
    }
}

/// Rows of a table that wait to be written.
#[derive(Debug)]
pub(crate) struct Rows {
    layout: &'static Layout,
    schema: SchemaRef,
    columns: Vec<Cells>,
    len: usize,
}

/// A batch, and the times that it covers: the first begin, the last end.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) rows: RecordBatch,
    pub(crate) begin: i64,
    pub(crate) end: i64,
}

impl Rows {
    pub(crate) fn new(layout: &'static Layout) -> Self {
        let columns = layout.columns.iter().map(Cells::new).collect();
        Self { layout, schema: layout.schema(), columns, len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn push<const N: usize>(&mut self, cells: [Cell<'_>; N]) {
        debug_assert_eq!(N, self.columns.len(), "{}", self.layout.name);
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell);
        }
        self.len += 1;
    }

    /// Adds all rows of another part of the same table.
    pub(crate) fn append(&mut self, other: &mut Self) {
        for (column, more) in self.columns.iter_mut().zip(&mut other.columns) {
            column.append(more);
        }
        self.len += std::mem::take(&mut other.len);
    }

    /// All rows by begin, and none left. `by`: the column of numbers by which they are sorted before, if any.
    pub(crate) fn take(&mut self, by: Option<usize>) -> Result<Batch, ArrowError> {
        let rows = 0..self.len as u32;
        let begin_of =
            |row: u32| self.layout.times.map_or(0, |times| self.columns[times.0].time(row as usize));
        let end_of = |row: u32| self.layout.times.map_or(0, |times| self.columns[times.1].time(row as usize));
        let begin = rows.clone().map(begin_of).min().unwrap_or_default();
        let end = rows.clone().map(end_of).max().unwrap_or_default();
        let mut order: Vec<u32> = rows.collect();
        let number = |row: u32| by.map_or(0, |column| self.columns[column].number(row as usize));
        let key = |row: &u32| (number(*row), begin_of(*row));
        // Stable: equal times stay in the order in which they came.
        if !order.is_sorted_by_key(key) {
            order.sort_by_key(key);
        }
        let arrays = self.columns.iter_mut().map(|column| column.take(&order)).collect();
        self.len = 0;
        Ok(Batch { rows: RecordBatch::try_new(self.schema.clone(), arrays)?, begin, end })
    }
}
