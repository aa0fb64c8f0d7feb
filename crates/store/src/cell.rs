//! Cells: how values become an Arrow array, and how they are read from one.

use std::convert::identity;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, FixedSizeBinaryArray, PrimitiveArray, StringArray,
    UInt32Array,
};
use arrow_schema::{ArrowError, DataType};
use isochrone_kernel::calls::{FileAction, Object};
use isochrone_kernel::{Cause, Name, OffCpuReason};
use isochrone_time::RawNs;

use crate::names::NameId;
use crate::spans::SpanTables;
use crate::state::State;
use crate::table::ColumnKind;
use crate::threads::{ThreadName, ThreadRow};

/// Why a thread is off the CPUs: [`OffCpuReason::number`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReasonNumber(pub(crate) u8);

/// What a call does to descriptors: [`FileAction::number`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ActionNumber(pub(crate) u8);

impl ActionNumber {
    pub(crate) fn action(self) -> FileAction {
        FileAction::of(self.0).unwrap_or(FileAction::Other)
    }
}

/// What wakes a thread: the first part of [`Cause::number`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CauseNumber(pub(crate) u8);

/// What an object is: the first part of [`Object::parts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ObjectNumber(pub(crate) u8);

fn state_name(number: u8) -> &'static str {
    State::of(number).unwrap_or(State::Unknown).name()
}

fn reason_name(number: u8) -> &'static str {
    OffCpuReason::of(number).map_or("unknown", OffCpuReason::name)
}

fn action_name(number: u8) -> &'static str {
    FileAction::of(number).map_or("unknown", FileAction::name)
}

fn cause_name(number: u8) -> &'static str {
    // The word is the same whatever the number of its source.
    Cause::of(number, Some(0)).name()
}

/// A value of a column.
pub(crate) trait Cell: Sized {
    /// The array of a batch, ready to be read.
    type View: std::fmt::Debug + Clone;
    /// Whether the column is nullable.
    const NULLABLE: bool = false;
    /// What its numbers are.
    const KIND: ColumnKind = ColumnKind::Other;

    /// The type of the column.
    fn data_type() -> DataType;

    /// Makes the array of a column. `names`: the texts of [`NameId`]s.
    fn array<'c>(
        cells: impl ExactSizeIterator<Item = &'c Self> + Clone,
        names: &ArrayRef,
    ) -> Result<ArrayRef, ArrowError>
    where
        Self: 'c;

    /// The array of a batch whose schema was checked.
    fn view(array: &ArrayRef) -> Self::View;

    /// The value of a row.
    fn get(view: &Self::View, row: usize) -> Self;
}

/// A value that is a number in files.
pub(crate) trait Number: Copy {
    /// The type of the number.
    type Arrow: ArrowPrimitiveType<Native: Default>;
    /// What the number is.
    const KIND: ColumnKind = ColumnKind::Other;

    /// The number in files.
    fn number(self) -> <Self::Arrow as ArrowPrimitiveType>::Native;

    /// The value of a number in files.
    fn of(number: <Self::Arrow as ArrowPrimitiveType>::Native) -> Self;
}

macro_rules! numbers {
    ($($Type:ty => $Arrow:ident, $it:pat => $number:expr, $of:expr $(, $KIND:expr)?;)*) => {$(
        impl Number for $Type {
            type Arrow = $Arrow;
            $(const KIND: ColumnKind = $KIND;)?

            #[inline]
            fn number(self) -> <$Arrow as ArrowPrimitiveType>::Native {
                let $it = self;
                $number
            }

            #[inline]
            fn of(number: <$Arrow as ArrowPrimitiveType>::Native) -> Self {
                $of(number)
            }
        }
    )*};
}

numbers! {
    u8 => UInt8Type, it => it, identity;
    u16 => UInt16Type, it => it, identity;
    u32 => UInt32Type, it => it, identity;
    u64 => UInt64Type, it => it, identity;
    i32 => Int32Type, it => it, identity;
    i64 => Int64Type, it => it, identity;
    RawNs => Int64Type, RawNs(it) => it, RawNs, ColumnKind::Time;
    ThreadName => UInt32Type, ThreadName(it) => it, ThreadName, ColumnKind::Thread;
    ThreadRow => UInt32Type, ThreadRow(it) => it, ThreadRow;
    State => UInt8Type, it => it as u8, |number| Self::of(number).unwrap_or(Self::Unknown),
        ColumnKind::Word { name: state_name, last: 8 };
    ReasonNumber => UInt8Type, ReasonNumber(it) => it, ReasonNumber,
        ColumnKind::Word { name: reason_name, last: 3 };
    ActionNumber => UInt8Type, ActionNumber(it) => it, ActionNumber,
        ColumnKind::Word { name: action_name, last: 5 };
    CauseNumber => UInt8Type, CauseNumber(it) => it, CauseNumber,
        ColumnKind::Word { name: cause_name, last: 6 };
    ObjectNumber => UInt8Type, ObjectNumber(it) => it, ObjectNumber,
        ColumnKind::Word { name: Object::name_of, last: 5 };
}

impl<T: Number> Cell for T {
    type View = PrimitiveArray<T::Arrow>;
    const KIND: ColumnKind = T::KIND;

    fn data_type() -> DataType {
        T::Arrow::DATA_TYPE
    }

    #[inline]
    fn array<'c>(
        cells: impl ExactSizeIterator<Item = &'c Self> + Clone,
        _: &ArrayRef,
    ) -> Result<ArrayRef, ArrowError>
    where
        Self: 'c,
    {
        let values: Vec<_> = cells.map(|cell| cell.number()).collect();
        Ok(Arc::new(PrimitiveArray::<T::Arrow>::new(values.into(), None)))
    }

    fn view(array: &ArrayRef) -> Self::View {
        array.as_primitive::<T::Arrow>().clone()
    }

    #[inline]
    fn get(view: &Self::View, row: usize) -> Self {
        T::of(view.values()[row])
    }
}

impl<T: Number> Cell for Option<T> {
    type View = PrimitiveArray<T::Arrow>;
    const NULLABLE: bool = true;
    const KIND: ColumnKind = T::KIND;

    fn data_type() -> DataType {
        T::Arrow::DATA_TYPE
    }

    #[inline]
    fn array<'c>(
        cells: impl ExactSizeIterator<Item = &'c Self> + Clone,
        _: &ArrayRef,
    ) -> Result<ArrayRef, ArrowError>
    where
        Self: 'c,
    {
        let valid = cells.clone().map(Option::is_some).collect();
        let values: Vec<_> = cells.map(|cell| cell.map(T::number).unwrap_or_default()).collect();
        Ok(Arc::new(PrimitiveArray::<T::Arrow>::new(values.into(), Some(valid))))
    }

    fn view(array: &ArrayRef) -> Self::View {
        array.as_primitive::<T::Arrow>().clone()
    }

    #[inline]
    fn get(view: &Self::View, row: usize) -> Self {
        view.is_valid(row).then(|| T::of(view.values()[row]))
    }
}

macro_rules! other {
    ($($Type:ty, $Array:ty, $nullable:literal, $kind:expr;
        $cells:ident, $names:pat => $make:expr;
        $array:ident => $view:expr;
        $column:ident, $row:ident => $get:expr;)*) => {$(
        impl Cell for $Type {
            type View = $Array;
            const NULLABLE: bool = $nullable;

            fn data_type() -> DataType {
                $kind
            }

            fn array<'c>(
                $cells: impl ExactSizeIterator<Item = &'c Self> + Clone,
                $names: &ArrayRef,
            ) -> Result<ArrayRef, ArrowError> {
                $make
            }

            fn view($array: &ArrayRef) -> Self::View {
                $view
            }

            #[inline]
            fn get($column: &Self::View, $row: usize) -> Self {
                $get
            }
        }
    )*};
}

/// A column of numbers of names.
fn dictionary(keys: UInt32Array, names: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(DictionaryArray::try_new(keys, names.clone())?))
}

/// The type of a column of names.
fn name_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8))
}

other! {
    bool, BooleanArray, false, DataType::Boolean;
    cells, _ => Ok(Arc::new(BooleanArray::new(cells.copied().collect(), None)));
    array => array.as_boolean().clone();
    column, row => column.value(row);

    Option<bool>, BooleanArray, true, DataType::Boolean;
    cells, _ => Ok(Arc::new(cells.copied().collect::<BooleanArray>()));
    array => array.as_boolean().clone();
    column, row => column.is_valid(row).then(|| column.value(row));

    [u8; 16], FixedSizeBinaryArray, false, DataType::FixedSizeBinary(16);
    cells, _ => {
        let bytes: Vec<u8> = cells.copied().flatten().collect();
        Ok(Arc::new(FixedSizeBinaryArray::try_new(16, bytes.into(), None)?))
    };
    array => array.as_fixed_size_binary().clone();
    column, row => column.value(row).try_into().unwrap_or_default();

    Name, StringArray, false, DataType::Utf8;
    cells, _ => Ok(Arc::new(StringArray::from_iter_values(cells)));
    array => array.as_string::<i32>().clone();
    column, row => Name::from(column.value(row));

    Option<Name>, StringArray, true, DataType::Utf8;
    cells, _ => Ok(Arc::new(cells.map(Option::as_ref).collect::<StringArray>()));
    array => array.as_string::<i32>().clone();
    column, row => column.is_valid(row).then(|| Name::from(column.value(row)));

    NameId, UInt32Array, false, name_type();
    cells, names => dictionary(cells.map(|cell| cell.0).collect::<Vec<_>>().into(), names);
    array => array.as_dictionary::<UInt32Type>().keys().clone();
    column, row => Self(column.values()[row]);

    Option<NameId>, UInt32Array, true, name_type();
    cells, names => dictionary(cells.map(|cell| cell.map(|name| name.0)).collect(), names);
    array => array.as_dictionary::<UInt32Type>().keys().clone();
    column, row => column.is_valid(row).then(|| NameId(column.values()[row]));
}

/// A value as readers of spans get it.
pub(crate) trait Resolve {
    /// The type for readers.
    type To;

    /// The value for readers. `names`: those of the table's column of names, by number.
    fn resolve(self, spans: &SpanTables, names: &[Name]) -> Self::To;
}

macro_rules! resolve {
    ($($Type:ty => $To:ty, $it:ident, $spans:pat, $names:pat => $to:expr;)*) => {$(
        impl Resolve for $Type {
            type To = $To;

            #[inline]
            fn resolve(self, $spans: &SpanTables, $names: &[Name]) -> $To {
                let $it = self;
                $to
            }
        }
    )*};
    (as they are: $($Type:ty)*) => { resolve! { $($Type => Self, it, _, _ => it;)* } };
}

resolve! {
    as they are: bool u32 u64 i32 i64 RawNs Option<u32> Option<u64> Option<i32>
        Option<RawNs>
}

resolve! {
    ThreadName => Option<ThreadRow>, it, spans, _ => spans.thread(it);
    Option<ThreadName> => Option<ThreadRow>, it, spans, _ => it.and_then(|it| spans.thread(it));
    ActionNumber => FileAction, it, _, _ => it.action();
    ReasonNumber => Option<OffCpuReason>, it, _, _ => OffCpuReason::of(it.0);
    NameId => Name, it, _, names => names.get(it.0 as usize).cloned().unwrap_or_default();
}
