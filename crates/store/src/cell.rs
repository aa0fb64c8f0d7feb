//! Cells: how values become an Arrow array, and how they are read from one.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, FixedSizeBinaryArray, PrimitiveArray, StringArray,
    UInt32Array,
};
use arrow_schema::{ArrowError, DataType};
use isochrone_kernel::Name;

/// A text by its number in the list of its column: see [`crate::names`]. In files it is a value of a dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NameId(pub(crate) u32);

/// A value of a column.
pub(crate) trait Cell: Sized {
    /// The array of a batch, ready to be read.
    type View: std::fmt::Debug + Clone;
    /// Whether the column is nullable.
    const NULLABLE: bool = false;

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

macro_rules! numbers {
    ($($Type:ty => $Arrow:ident,)*) => {$(
        impl Cell for $Type {
            type View = PrimitiveArray<$Arrow>;

            fn data_type() -> DataType {
                $Arrow::DATA_TYPE
            }

            #[inline]
            fn array<'c>(
                cells: impl ExactSizeIterator<Item = &'c Self> + Clone,
                _: &ArrayRef,
            ) -> Result<ArrayRef, ArrowError> {
                let values: Vec<Self> = cells.copied().collect();
                Ok(Arc::new(PrimitiveArray::<$Arrow>::new(values.into(), None)))
            }

            fn view(array: &ArrayRef) -> Self::View {
                array.as_primitive::<$Arrow>().clone()
            }

            #[inline]
            fn get(view: &Self::View, row: usize) -> Self {
                view.values()[row]
            }
        }

        impl Cell for Option<$Type> {
            type View = PrimitiveArray<$Arrow>;
            const NULLABLE: bool = true;

            fn data_type() -> DataType {
                $Arrow::DATA_TYPE
            }

            #[inline]
            fn array<'c>(
                cells: impl ExactSizeIterator<Item = &'c Self> + Clone,
                _: &ArrayRef,
            ) -> Result<ArrayRef, ArrowError> {
                let valid = cells.clone().map(Option::is_some).collect();
                let values: Vec<$Type> = cells.map(|cell| cell.unwrap_or_default()).collect();
                Ok(Arc::new(PrimitiveArray::<$Arrow>::new(values.into(), Some(valid))))
            }

            fn view(array: &ArrayRef) -> Self::View {
                array.as_primitive::<$Arrow>().clone()
            }

            #[inline]
            fn get(view: &Self::View, row: usize) -> Self {
                view.is_valid(row).then(|| view.values()[row])
            }
        }
    )*};
}

numbers! {
    u8 => UInt8Type,
    u16 => UInt16Type,
    u32 => UInt32Type,
    u64 => UInt64Type,
    i16 => Int16Type,
    i32 => Int32Type,
    i64 => Int64Type,
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
    cells, _ => Ok(Arc::new(FixedSizeBinaryArray::try_new(16, cells.copied().flatten().collect::<Vec<u8>>().into(), None)?));
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
