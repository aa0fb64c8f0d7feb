//! Tables of a store: rows of a type, collected, sorted by their begins, and turned into record batches.
//!
//! The list of tables is in [`crate::tables`]; files of batches are in [`crate::batches`].

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Schema, SchemaRef};

use crate::names::Vocabulary;

/// Number of rows of a batch.
pub(crate) const BATCH_ROWS: usize = 1 << 13;

/// A row of a table.
pub(crate) trait Row: Sized {
    /// The columns of a batch, ready to be read.
    type View: std::fmt::Debug + Clone;
    /// The name of the table, which is that of its file.
    const TABLE: &'static str;
    /// Whether rows have a begin and an end that differ.
    const HAS_LENGTH: bool;
    /// The kind of names in its column of names.
    const NAMES: Option<Vocabulary>;

    /// The columns.
    fn schema() -> Schema;

    /// The begin, by which rows are sorted; 0 in tables without times.
    fn begin(&self) -> i64;

    /// The end; of an instant, the instant.
    fn end(&self) -> i64;

    /// Columns of some rows in an order. `names`: the texts of numbers of names.
    fn arrays(rows: &[Self], order: &[u32], names: &ArrayRef) -> Result<Vec<ArrayRef>, ArrowError>;

    /// The columns of a batch whose schema was checked.
    fn view(batch: &RecordBatch) -> Self::View;

    /// A row of a batch.
    fn get(view: &Self::View, row: usize) -> Self;

    /// The begins of a batch.
    fn begins(view: &Self::View) -> &[i64];

    /// The ends of a batch.
    fn ends(view: &Self::View) -> &[i64];
}

/// The times that a batch covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Covered {
    /// The first begin, ns.
    pub(crate) begin: i64,
    /// The last end, ns.
    pub(crate) end: i64,
    /// The longest of its rows, ns.
    pub(crate) longest: i64,
}

/// Rows that wait to be written, by their lengths: long ones are in batches of their own, so that few batches overlap an
/// instant.
#[derive(Debug)]
pub(crate) struct Rows<R> {
    lengths: Vec<Vec<R>>,
}

/// Rows of one batch are shorter than 2^20 ns, 2^24 ns, 2^28 ns, 2^32 ns, or longer than all that.
const LENGTHS: u32 = 5;

/// The class of a row's length.
#[inline]
fn length_class(begin: i64, end: i64) -> usize {
    let bits = u64::BITS - (end.abs_diff(begin) >> 20).leading_zeros();
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
        let class = if R::HAS_LENGTH { length_class(row.begin(), row.end()) } else { 0 };
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

/// Makes a batch of rows by begin, and what it covers. `names`: the texts of numbers of names.
pub(crate) fn batch<R: Row>(
    rows: &[R],
    schema: &SchemaRef,
    names: &ArrayRef,
) -> Result<(RecordBatch, Covered), ArrowError> {
    let begin = rows.iter().map(R::begin).min().unwrap_or_default();
    let end = rows.iter().map(R::end).max().unwrap_or_default();
    let longest = rows.iter().map(|row| row.end().saturating_sub(row.begin())).max().unwrap_or_default();
    let arrays = R::arrays(rows, &order(rows, begin), names)?;
    Ok((RecordBatch::try_new(Arc::clone(schema), arrays)?, Covered { begin, end, longest }))
}

/// The indexes of rows by begin, those of equal begins in their order.
fn order<R: Row>(rows: &[R], first: i64) -> Vec<u32> {
    /// An index fits: see [`BATCH_ROWS`].
    const PLACE_BITS: u32 = 20;
    let latest = rows.iter().map(|row| row.begin().abs_diff(first)).max().unwrap_or_default();
    if latest >> (u64::BITS - PLACE_BITS) != 0 || rows.len() >> PLACE_BITS != 0 {
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        order.sort_by_key(|&place| rows[place as usize].begin());
        return order;
    }
    // Sorting numbers is faster than sorting rows by what they refer to.
    let keys =
        (0..).zip(rows).map(|(place, row): (u64, _)| row.begin().abs_diff(first) << PLACE_BITS | place);
    let mut keys: Vec<u64> = keys.collect();
    if !keys.is_sorted() {
        keys.sort_unstable();
    }
    keys.into_iter().map(|key| (key & ((1 << PLACE_BITS) - 1)) as u32).collect()
}

/// Defines types of rows, each with its [`Row`].
macro_rules! rows {
    ($($(#[$doc:meta])* $Row:ident $View:ident $table:literal $(by $begin:ident $(, $end:ident)?)? $(of $Vocabulary:ident)? {
        $($column:ident: $Type:ty,)*
    })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) struct $Row {
            $(pub(crate) $column: $Type,)*
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
            const NAMES: Option<$crate::names::Vocabulary> =
                $crate::table::first(&[$($crate::names::Vocabulary::$Vocabulary)?]);

            fn schema() -> arrow_schema::Schema {
                arrow_schema::Schema::new(vec![$(arrow_schema::Field::new(
                    stringify!($column),
                    <$Type as $crate::cell::Cell>::data_type(),
                    <$Type as $crate::cell::Cell>::NULLABLE,
                ),)*])
            }

            #[inline]
            fn begin(&self) -> i64 {
                let _at = 0;
                $(let _at = self.$begin;)?
                _at
            }

            #[inline]
            fn end(&self) -> i64 {
                let _at = 0;
                $(let _at = self.$begin; $(let _at = self.$end;)?)?
                _at
            }

            fn arrays(
                rows: &[Self],
                order: &[u32],
                names: &arrow_array::ArrayRef,
            ) -> Result<Vec<arrow_array::ArrayRef>, arrow_schema::ArrowError> {
                Ok(vec![$(<$Type as $crate::cell::Cell>::array(
                    order.iter().map(|&place| &rows[place as usize].$column),
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
            fn begins(view: &Self::View) -> &[i64] {
                let _times: &[i64] = &[];
                $(let _times = view.$begin.values();)?
                let _ = view;
                _times
            }

            #[inline]
            fn ends(view: &Self::View) -> &[i64] {
                let _times: &[i64] = &[];
                $(let _times = view.$begin.values(); $(let _times = view.$end.values();)?)?
                let _ = view;
                _times
            }
        }
    )*};
}

pub(crate) use rows;

/// Whether there is one.
pub(crate) const fn is_some(all: &[&str]) -> bool {
    !all.is_empty()
}

/// The first of at most one.
pub(crate) const fn first(all: &[Vocabulary]) -> Option<Vocabulary> {
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
        let check = |length: i64, class| assert_eq!(length_class(-7, length - 7), class, "{length}");
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
