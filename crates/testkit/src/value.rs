//! Values as tests write them down: `7.into()`, `"sh".into()`, `[10, 0, 0, 1].into()`.
//!
//! [`crate::assign`] turns them into the values of fields.

/// A value for a field of an event, or for an entry of the environment.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldValue {
    /// A number; for enumerations and numbers of any size and sign.
    Integer(i128),
    /// A floating point number.
    Float(f64),
    /// Text; for an enumeration, the label of a value.
    Text(String),
    /// The elements of an array, or the first members of a structure.
    Array(Vec<FieldValue>),
}

macro_rules! from_integers {
    ($($integer:ty),*) => {
        $(impl From<$integer> for FieldValue {
            fn from(value: $integer) -> Self {
                Self::Integer(value.into())
            }
        })*
    };
}
from_integers!(i8, i16, i32, i64, u8, u16, u32, u64);

impl From<f64> for FieldValue {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for FieldValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for FieldValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<FieldValue>, const N: usize> From<[T; N]> for FieldValue {
    fn from(elements: [T; N]) -> Self {
        Self::Array(elements.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<FieldValue>> From<Vec<T>> for FieldValue {
    fn from(elements: Vec<T>) -> Self {
        Self::Array(elements.into_iter().map(Into::into).collect())
    }
}
