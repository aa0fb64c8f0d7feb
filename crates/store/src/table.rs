//! Tables of a store: rows of a type, collected, sorted by their starts, and turned into record batches.
//!
//! The list of tables is in [`mod@crate::tables`]; files of batches are in [`crate::batches`].

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use isochrone_time::RawNs;

use crate::names::NameKind;

/// Number of rows of a batch.
pub(crate) const BATCH_ROWS: usize = 1 << 13;

/// A row of a table.
pub(crate) trait Row: Sized {
    /// The columns of a batch, ready to be read.
    type View: std::fmt::Debug + Clone;
    /// The name of the table, which is that of its file.
    const TABLE: &'static str;
    /// Whether rows have a start and an end that differ.
    const HAS_LENGTH: bool;
    /// Whether the file is compressed: rows repeat much, and few of them are read at once.
    const IS_PACKED: bool;
    /// The kind of names in its column of names.
    const NAMES: Option<NameKind>;

    /// The columns.
    fn schema() -> Schema;

    /// The start, by which rows are sorted; 0 in tables without times.
    fn start(&self) -> RawNs;

    /// The end; of an instant, the instant.
    fn end(&self) -> RawNs;

    /// Columns of some rows in an order. `names`: the texts of numbers of names.
    fn arrays(rows: &[Self], order: &[u32], names: &ArrayRef) -> Result<Vec<ArrayRef>, ArrowError>;

    /// The columns of a batch whose schema was checked.
    fn view(batch: &RecordBatch) -> Self::View;

    /// A row of a batch.
    fn get(view: &Self::View, row: usize) -> Self;

    /// The starts of a batch, raw ns.
    fn starts(view: &Self::View) -> &[i64];

    /// The ends of a batch, raw ns.
    fn ends(view: &Self::View) -> &[i64];
}

/// The times that a batch covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Covered {
    /// The first start.
    pub(crate) start: RawNs,
    /// The last end.
    pub(crate) end: RawNs,
    /// The longest of its rows, ns.
    pub(crate) longest: i64,
}

/// Rows that wait to be written, by their lengths: long ones are in batches of their own, so that few batches
/// overlap an instant.
#[derive(Debug)]
pub(crate) struct Rows<R> {
    lengths: Vec<Vec<R>>,
}

/// Rows of one batch are shorter than 2^20 ns, 2^24 ns, 2^28 ns, 2^32 ns, or longer than all that.
const LENGTHS: u32 = 5;

/// The class of a row's length.
#[inline]
fn length_class(start: RawNs, end: RawNs) -> usize {
    let bits = u64::BITS - (end.0.abs_diff(start.0) >> 20).leading_zeros();
    bits.div_ceil(4).min(LENGTHS - 1) as usize
}

impl<R: Row> Default for Rows<R> {
    fn default() -> Self {
        let lengths = if R::HAS_LENGTH { LENGTHS } else { 1 };
        Self { lengths: (0..lengths).map(|_| Vec::new()).collect() }
    }
}

impl<R: Row> Rows<R> {
    /// Adds a row. Returns a batch that it fills.
    #[inline]
    pub(crate) fn push(&mut self, row: R) -> Option<Vec<R>> {
        let class = if R::HAS_LENGTH { length_class(row.start(), row.end()) } else { 0 };
        let rows = &mut self.lengths[class];
        rows.push(row);
        (rows.len() >= BATCH_ROWS).then(|| std::mem::replace(rows, Vec::with_capacity(BATCH_ROWS)))
    }

    /// Adds all rows of another part of the same table. Calls `full` with each batch that is full.
    pub(crate) fn append(&mut self, other: Self, mut full: impl FnMut(Vec<R>)) {
        for (rows, mut more) in self.lengths.iter_mut().zip(other.lengths) {
            rows.append(&mut more);
            if rows.len() >= BATCH_ROWS {
                full(std::mem::take(rows));
            }
        }
    }

    /// Takes the remaining rows.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Vec<R>> {
        self.lengths.iter_mut().map(std::mem::take).filter(|rows| !rows.is_empty())
    }
}

/// Makes a batch of rows by start, and what it covers. `names`: the texts of numbers of names.
pub(crate) fn batch<R: Row>(
    rows: &[R],
    schema: &SchemaRef,
    names: &ArrayRef,
) -> Result<(RecordBatch, Covered), ArrowError> {
    let start = rows.iter().map(R::start).min().unwrap_or_default();
    let end = rows.iter().map(R::end).max().unwrap_or_default();
    let longest = rows.iter().map(|row| row.end().saturating_since(row.start())).max().unwrap_or_default();
    let arrays = R::arrays(rows, &order(rows, start), names)?;
    Ok((RecordBatch::try_new(Arc::clone(schema), arrays)?, Covered { start, end, longest }))
}

/// The indices of rows by start, those of equal starts in their order.
fn order<R: Row>(rows: &[R], first: RawNs) -> Vec<u32> {
    /// An index fits: see [`BATCH_ROWS`].
    const INDEX_BITS: u32 = 20;
    let distance = |row: &R| row.start().0.abs_diff(first.0);
    let latest = rows.iter().map(distance).max().unwrap_or_default();
    if latest >> (u64::BITS - INDEX_BITS) != 0 || rows.len() >> INDEX_BITS != 0 {
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        order.sort_by_key(|&index| rows[index as usize].start());
        return order;
    }
    // Sorting numbers is faster than sorting rows by what they refer to.
    let keys = (0..).zip(rows).map(|(index, row): (u64, _)| distance(row) << INDEX_BITS | index);
    let mut keys: Vec<u64> = keys.collect();
    if !keys.is_sorted() {
        keys.sort_unstable();
    }
    keys.into_iter().map(|key| (key & ((1 << INDEX_BITS) - 1)) as u32).collect()
}

/// A table of a store, and what it means.
#[derive(Debug)]
pub struct TableInfo {
    /// Its name: that of its file.
    pub name: &'static str,
    /// What a row is, in Markdown.
    pub about: &'static str,
    /// Its columns.
    pub columns: &'static [ColumnInfo],
    /// Whether rows have a start and an end; else they are instants, or have no times.
    pub has_length: bool,
    pub(crate) schema: fn() -> Schema,
}

impl TableInfo {
    /// The table of a name; zoom levels have numbers behind theirs.
    pub fn of(name: &str) -> Option<&'static Self> {
        crate::tables::tables().find(|table| table.name == name)
    }

    /// The Arrow schema of its file.
    pub fn schema(&self) -> Schema {
        (self.schema)()
    }

    /// A column by its name.
    pub fn column(&self, name: &str) -> Option<&'static ColumnInfo> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// A column of a table.
#[derive(Debug)]
pub struct ColumnInfo {
    /// Its name.
    pub name: &'static str,
    /// What its numbers are.
    pub kind: ColumnKind,
}

/// What the numbers of a column are.
#[derive(Debug, Clone, Copy)]
pub enum ColumnKind {
    /// Raw times, ns.
    Time,
    /// Threads by their numbers in `thread_names`.
    Thread,
    /// Numbers that stand for words.
    Word {
        /// The word of a number.
        name: fn(u8) -> &'static str,
        /// The last number.
        last: u8,
    },
    /// What its name says.
    Other,
}

/// Defines types of rows, each with its [`Row`] and, after `as`, with what readers of its spans get. The list
/// of their [`TableInfo`]s has the first name; the macro of the second name gets the fields and rows of all.
///
/// A column that is called otherwise in files has that name as a literal; one that readers get as another
/// type has that after `=>`. A table of all hosts has `for Store` behind the type that readers get, which is
/// what is written, too.
macro_rules! rows {
    ($LIST:ident, $group:ident; $(
        $(#[doc = $about:literal])*
        $field:ident $table:literal $Row:ident $View:ident
        $(as $Span:ident $(: $Copy:ident)? $(for $Of:ident)?)?
        $(by $start:ident $(, $end:ident)?)?
        $(of $Names:ident)? $([$packed:ident])? {
            $($(#[doc = $doc:literal])* $column:ident $($stored:literal)?: $Type:ty $(=> $Shown:ty)?,)*
        }
    )*) => {
        /// What these tables are.
        pub(crate) static $LIST: &[$crate::table::TableInfo] = &[$($crate::table::TableInfo {
            name: $table,
            about: concat!($($about),*),
            columns: &[$($crate::table::ColumnInfo {
                name: $crate::table::stored_name!($column $($stored)?),
                kind: <$Type as $crate::cell::Cell>::KIND,
            },)*],
            has_length: <$Row as $crate::table::Row>::HAS_LENGTH,
            schema: <$Row as $crate::table::Row>::schema,
        },)*];

        $group! { $($field $Row,)* }

        $(
        $(#[doc = $about])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) struct $Row {
            $($(#[doc = $doc])* pub(crate) $column: $Type,)*
        }

        /// The columns of a batch.
        #[derive(Debug, Clone)]
        pub(crate) struct $View {
            $(pub(crate) $column: <$Type as $crate::cell::Cell>::View,)*
        }

        impl $crate::table::Row for $Row {
            type View = $View;
            const TABLE: &'static str = $table;
            const HAS_LENGTH: bool = $crate::table::is_some(&[$($(stringify!($end))?)?]);
            const IS_PACKED: bool = $crate::table::is_some(&[$(stringify!($packed))?]);
            const NAMES: Option<$crate::names::NameKind> =
                $crate::table::first(&[$($crate::names::NameKind::$Names)?]);

            fn schema() -> arrow_schema::Schema {
                arrow_schema::Schema::new(vec![$(arrow_schema::Field::new(
                    $crate::table::stored_name!($column $($stored)?),
                    <$Type as $crate::cell::Cell>::data_type(),
                    <$Type as $crate::cell::Cell>::NULLABLE,
                ),)*])
            }

            #[inline]
            fn start(&self) -> RawNs {
                let _at = RawNs(0);
                $(let _at = self.$start;)?
                _at
            }

            #[inline]
            fn end(&self) -> RawNs {
                let _at = RawNs(0);
                $(let _at = self.$start; $(let _at = self.$end;)?)?
                _at
            }

            fn arrays(
                rows: &[Self],
                order: &[u32],
                names: &arrow_array::ArrayRef,
            ) -> Result<Vec<arrow_array::ArrayRef>, arrow_schema::ArrowError> {
                Ok(vec![$(<$Type as $crate::cell::Cell>::array(
                    order.iter().map(|&index| &rows[index as usize].$column),
                    names,
                )?,)*])
            }

            fn view(batch: &arrow_array::RecordBatch) -> Self::View {
                let mut columns = batch.columns().iter();
                $View {
                    $($column: columns
                        .next()
                        .map(<$Type as $crate::cell::Cell>::view)
                        .unwrap_or_else(|| unreachable!("the schema was checked")),)*
                }
            }

            #[inline]
            fn get(view: &Self::View, row: usize) -> Self {
                Self { $($column: <$Type as $crate::cell::Cell>::get(&view.$column, row),)* }
            }

            #[inline]
            fn starts(view: &Self::View) -> &[i64] {
                let _times: &[i64] = &[];
                $(let _times = view.$start.values();)?
                let _ = view;
                _times
            }

            #[inline]
            fn ends(view: &Self::View) -> &[i64] {
                let _times: &[i64] = &[];
                $(let _times = view.$start.values(); $(let _times = view.$end.values();)?)?
                let _ = view;
                _times
            }
        }

        $crate::table::span! { $($Span $([$Copy])? $(for $Of)?)?; $field $Row [$($about)*] $(
            { [$($doc)*] $column: $crate::table::shown!($Type $(, $Shown)?) }
        )* }
        )*
    };
}

/// What readers get of a row, and the method that passes it to them.
macro_rules! span {
    (; $($rest:tt)*) => {};
    (@struct $Span:ident $([$Copy:ident])?; [$($about:literal)*] $(
        { [$($doc:literal)*] $column:ident: $Shown:ty }
    )*) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, $($Copy,)? PartialEq, Eq)]
        pub struct $Span {
            $($(#[doc = $doc])* pub $column: $Shown,)*
        }
    };
    ($Span:ident $([$Copy:ident])? for $Of:ident; $field:ident $Row:ident $about:tt $(
        { $docs:tt $column:ident: $Shown:ty }
    )*) => {
        $crate::table::span! { @struct $Span $([$Copy])?; $about $({ $docs $column: $Shown })* }

        impl From<$Span> for $Row {
            fn from(row: $Span) -> Self {
                Self { $($column: row.$column,)* }
            }
        }

        impl crate::$Of {
            /// Passes all rows of the table to `each`, none where there is no such table. Batches are in the
            /// order of their first times, each on its own clock.
            ///
            /// # Errors
            /// The table cannot be read.
            pub fn $field(&self, mut each: impl FnMut($Span)) -> Result<(), StoreError> {
                let Some(files) = self.of_all(<$Row as $crate::table::Row>::TABLE) else { return Ok(()) };
                Batches::open(files)?.each(|row: $Row| each($Span { $($column: row.$column,)* }))
            }
        }
    };
    ($Span:ident $([$Copy:ident])?; $field:ident $Row:ident $about:tt $(
        { $docs:tt $column:ident: $Shown:ty }
    )*) => {
        $crate::table::span! { @struct $Span $([$Copy])?; $about $({ $docs $column: $Shown })* }

        impl crate::HostStore {
            /// Passes the rows of the table that overlap a window (of instants: that are in it) to `each`, in
            /// no specified order. Linear in these rows.
            ///
            /// # Errors
            /// The table cannot be read.
            pub fn $field(
                &self,
                window: isochrone_time::Window<RawNs>,
                mut each: impl FnMut($Span),
            ) -> Result<(), StoreError> {
                let spans = self.spans();
                let names = spans.$field.names()?;
                spans.$field.rows(window, |row: $Row| {
                    each($Span { $($column: $crate::cell::Resolve::resolve(row.$column, spans, names),)* });
                })
            }
        }
    };
}

/// The type of a column for readers.
macro_rules! shown {
    ($Type:ty) => {
        $Type
    };
    ($Type:ty, $Shown:ty) => {
        $Shown
    };
}

/// The name of a column in files.
macro_rules! stored_name {
    ($column:ident) => {
        stringify!($column)
    };
    ($column:ident $stored:literal) => {
        $stored
    };
}

pub(crate) use {rows, shown, span, stored_name};

/// Whether there is one.
pub(crate) const fn is_some(all: &[&str]) -> bool {
    !all.is_empty()
}

/// The first of at most one.
pub(crate) const fn first(all: &[NameKind]) -> Option<NameKind> {
    match all {
        [] => None,
        [first, ..] => Some(*first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_rows_are_by_themselves() {
        let check =
            |length: i64, class| assert_eq!(length_class(RawNs(-7), RawNs(length - 7)), class, "{length}");
        check(0, 0);
        check((1 << 20) - 1, 0);
        check(1 << 20, 1);
        check((1 << 24) - 1, 1);
        check(1 << 24, 2);
        check(1 << 28, 3);
        check(1 << 32, 4);
        check(i64::MAX, 4);
        // An end before its begin: the length is the absolute difference.
        check(-(1 << 24), 2);
    }
}
