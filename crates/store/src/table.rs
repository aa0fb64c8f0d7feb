//! Rows that become record batches: a list of columns, appended to cell by cell, sorted, and emptied into an Arrow file.
//!
//! Which tables there are is in [`crate::tables`]; files of batches are in [`crate::batches`].

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray, UInt8Array, UInt32Array,
    UInt64Array,
};
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

/// The cells of a column so far. Nulls are kept beside the values.
#[derive(Debug)]
enum Cells {
    Bool(Vec<Option<bool>>),
    U8(Vec<Option<u8>>),
    U32(Vec<Option<u32>>),
    U64(Vec<Option<u64>>),
    I32(Vec<Option<i32>>),
    I64(Vec<Option<i64>>),
    /// All texts one after the other, and where each ends; `None`: null.
    Text(String, Vec<Option<u32>>),
}

impl Cells {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Bool => Self::Bool(Vec::new()),
            Kind::U8 => Self::U8(Vec::new()),
            Kind::U32 => Self::U32(Vec::new()),
            Kind::U64 => Self::U64(Vec::new()),
            Kind::I32 => Self::I32(Vec::new()),
            Kind::I64 => Self::I64(Vec::new()),
            Kind::Text => Self::Text(String::new(), Vec::new()),
        }
    }

    #[inline]
    fn push(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Self::Bool(all), Cell::Bool(value)) => all.push(Some(value)),
            (Self::U8(all), Cell::U8(value)) => all.push(Some(value)),
            (Self::U32(all), Cell::U32(value)) => all.push(Some(value)),
            (Self::U64(all), Cell::U64(value)) => all.push(Some(value)),
            (Self::I32(all), Cell::I32(value)) => all.push(Some(value)),
            (Self::I64(all), Cell::I64(value)) => all.push(Some(value)),
            (Self::Text(text, ends), Cell::Text(value)) => {
                text.push_str(value);
                ends.push(Some(text.len() as u32));
            }
            (all, cell) => {
                debug_assert!(matches!(cell, Cell::Null), "{cell:?} in another column");
                all.push_null();
            }
        }
    }

    fn push_null(&mut self) {
        match self {
            Self::Bool(all) => all.push(None),
            Self::U8(all) => all.push(None),
            Self::U32(all) => all.push(None),
            Self::U64(all) => all.push(None),
            Self::I32(all) => all.push(None),
            Self::I64(all) => all.push(None),
            Self::Text(_, ends) => ends.push(None),
        }
    }

    /// Adds all cells of another column of the same kind.
    fn append(&mut self, other: &mut Self) {
        match (self, other) {
            (Self::Bool(all), Self::Bool(more)) => all.append(more),
            (Self::U8(all), Self::U8(more)) => all.append(more),
            (Self::U32(all), Self::U32(more)) => all.append(more),
            (Self::U64(all), Self::U64(more)) => all.append(more),
            (Self::I32(all), Self::I32(more)) => all.append(more),
            (Self::I64(all), Self::I64(more)) => all.append(more),
            (Self::Text(text, ends), Self::Text(more, more_ends)) => {
                let before = text.len() as u32;
                text.push_str(more);
                ends.extend(more_ends.drain(..).map(|end| end.map(|end| end + before)));
            }
            _ => debug_assert!(false, "another table"),
        }
    }

    fn time(&self, row: usize) -> i64 {
        match self {
            Self::I64(all) => all[row].unwrap_or_default(),
            _ => 0,
        }
    }

    fn number(&self, row: usize) -> u32 {
        match self {
            Self::U32(all) => all[row].unwrap_or_default(),
            _ => 0,
        }
    }

    /// The array of the cells in an order of rows, and none left.
    fn take(&mut self, order: &[u32]) -> ArrayRef {
        macro_rules! take {
            ($all:ident, $Array:ty) => {{
                let array: $Array = order.iter().map(|&row| $all[row as usize]).collect();
                $all.clear();
                Arc::new(array)
            }};
        }
        match self {
            Self::Bool(all) => take!(all, BooleanArray),
            Self::U8(all) => take!(all, UInt8Array),
            Self::U32(all) => take!(all, UInt32Array),
            Self::U64(all) => take!(all, UInt64Array),
            Self::I32(all) => take!(all, Int32Array),
            Self::I64(all) => take!(all, Int64Array),
            Self::Text(text, ends) => {
                let mut begin = 0;
                let texts: Vec<Option<&str>> = ends
                    .iter()
                    .map(|end| {
                        let end = (*end)? as usize;
                        Some(&text[std::mem::replace(&mut begin, end)..end])
                    })
                    .collect();
                let array: StringArray = order.iter().map(|&row| texts[row as usize]).collect();
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
        let columns = layout.columns.iter().map(|column| Cells::new(column.kind)).collect();
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
        // Stable: equal times stay in the order in which they came.
        order.sort_by_key(|&row| (number(row), begin_of(row)));
        let arrays = self.columns.iter_mut().map(|column| column.take(&order)).collect();
        self.len = 0;
        Ok(Batch { rows: RecordBatch::try_new(self.schema.clone(), arrays)?, begin, end })
    }
}
