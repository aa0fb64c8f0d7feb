//! One value of a table.

use std::borrow::Cow;
use std::cmp::Ordering;

use isochrone_kernel::Name;
use serde::{Serialize, Serializer};

use crate::file_io::annotated_call::AnnotatedCall;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Unknown: it was not recorded, or events are missing.
    Unknown,
    /// Not applicable: the CPU of a thread that is on none, the deviation of a single value. Programs get it
    /// like [`Self::Unknown`].
    NotApplicable,
    /// Whatever is measured or counted.
    Int(i128),
    /// Derived figures only: means, deviations, percents. Always finite.
    Float(f64),
    /// A name.
    Text(Name),
    /// A system call, whose text is made when it is shown.
    Call(Box<AnnotatedCall>),
}

impl Cell {
    /// A text.
    pub fn text(text: &str) -> Self {
        Self::Text(Name::from(text))
    }

    /// `yes` or `no`.
    pub(crate) fn yes_or_no(is_so: bool) -> Self {
        Self::text(if is_so { "yes" } else { "no" })
    }

    /// The cell of a value; [`Self::NotApplicable`] where there is none to know.
    pub(crate) fn or_none(value: Option<impl Into<Self>>) -> Self {
        value.map_or(Self::NotApplicable, Into::into)
    }

    /// Whether there is no value.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Unknown | Self::NotApplicable)
    }

    /// Numbers before texts; each in their order.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            _ => match (self.as_text(), other.as_text()) {
                (Some(a), Some(b)) => a.cmp(&b),
                (Some(_), None) => Ordering::Greater,
                (None, Some(_)) => Ordering::Less,
                (None, None) => self.as_f64().total_cmp(&other.as_f64()),
            },
        }
    }

    /// The text, of a cell that has one.
    pub fn as_text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Call(call) => Some(Cow::Owned(call.to_string())),
            Self::Unknown | Self::NotApplicable | Self::Int(_) | Self::Float(_) => None,
        }
    }

    /// As a number to draw; what is none is 0.
    pub fn as_f64(&self) -> f64 {
        match self {
            Self::Int(value) => *value as f64,
            Self::Float(value) => *value,
            Self::Unknown | Self::NotApplicable | Self::Text(_) | Self::Call(_) => 0.0,
        }
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unknown | Self::NotApplicable => serializer.serialize_none(),
            // 128 bits only where they are needed: not every serializer knows them.
            Self::Int(value) => match i64::try_from(*value) {
                Ok(value) => serializer.serialize_i64(value),
                Err(_) => serializer.serialize_i128(*value),
            },
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Call(call) => serializer.collect_str(call),
        }
    }
}

macro_rules! cells_of {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Cell {
            fn from(value: $integer) -> Self {
                Self::Int(value.into())
            }
        }
    )*};
}

cells_of!(i32, u32, i64, u64, i128);

impl From<u128> for Cell {
    fn from(value: u128) -> Self {
        Self::Int(i128::try_from(value).unwrap_or(i128::MAX))
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        if value.is_finite() { Self::Float(value) } else { Self::Unknown }
    }
}

impl From<&Name> for Cell {
    fn from(value: &Name) -> Self {
        Self::Text(value.clone())
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Unknown, T::into)
    }
}

/// `part` of `whole` in percent; unknown where there is no whole.
pub fn percent(part: u128, whole: u128) -> Cell {
    (part as f64 * 100.0 / whole as f64).into()
}
