//! Columns of times: an instant on a host's clock as Unix time on the requested clock, as raw time, and with
//! its bounds.
//!
//! Every instant `x` has four columns: `x`, a timestamp in UTC with nanoseconds; `x_raw`, ns on the host's
//! own clock; `x_lo` and `x_hi`, between which the truth surely lies, null where nothing is proven. What is
//! out of the range of a timestamp (the years 1677 to 2262) is null, as is an end that no trace has.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, TimestampNanosecondArray};
use datafusion::arrow::datatypes::{DataType, Field, TimeUnit};
use isochrone_time::{RawNs, UnixNs};
use isochrone_timing::{Stamp, Timing};

/// One of the four columns of an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The estimate.
    Common,
    /// Ns on the host's clock.
    Raw,
    /// What the truth is surely not before.
    Lo,
    /// What it is surely not after.
    Hi,
}

impl Shown {
    /// All, in the order of their columns.
    pub(crate) const ALL: [Self; 4] = [Self::Common, Self::Raw, Self::Lo, Self::Hi];

    /// The column of an instant of a name.
    pub(crate) fn field(self, name: &str) -> Field {
        match self {
            Self::Common => Field::new(name, timestamp(), true),
            Self::Raw => Field::new(format!("{name}_raw"), DataType::Int64, true),
            Self::Lo => Field::new(format!("{name}_lo"), timestamp(), true),
            Self::Hi => Field::new(format!("{name}_hi"), timestamp(), true),
        }
    }

    /// Its values for raw times. Linear, for bounds times the logarithm of the rows of the correction.
    pub(crate) fn of(self, timing: Timing<'_>, raw: impl Iterator<Item = Option<i64>>) -> ArrayRef {
        match self {
            Self::Raw => Arc::new(raw.collect::<Int64Array>()),
            Self::Common => timestamps(raw.map(|raw| in_range(timing.unix(RawNs(raw?))))),
            Self::Lo => timestamps(raw.map(|raw| in_range(timing.stamp(RawNs(raw?)).lo?))),
            Self::Hi => timestamps(raw.map(|raw| in_range(timing.stamp(RawNs(raw?)).hi?))),
        }
    }

    /// Its value of a stamp, as nanoseconds; `raw`: ns on the host's clock.
    pub(crate) fn of_stamp(self, stamp: Option<Stamp>, raw: Option<i64>) -> Option<i64> {
        match self {
            Self::Raw => raw,
            Self::Common => in_range(stamp?.unix),
            Self::Lo => in_range(stamp?.lo?),
            Self::Hi => in_range(stamp?.hi?),
        }
    }

    /// An array of nanoseconds as this column.
    pub(crate) fn array(self, values: Vec<Option<i64>>) -> ArrayRef {
        match self {
            Self::Raw => Arc::new(Int64Array::from(values)),
            _ => timestamps(values.into_iter()),
        }
    }
}

/// The type of a time: ns since 1970 in UTC.
pub(crate) fn timestamp() -> DataType {
    DataType::Timestamp(TimeUnit::Nanosecond, Some(UTC.into()))
}

const UTC: &str = "UTC";

/// An array of times, ns since 1970.
pub(crate) fn timestamps(values: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.collect::<TimestampNanosecondArray>().with_timezone(UTC))
}

/// A time that a timestamp can hold.
pub(crate) fn in_range(unix: UnixNs) -> Option<i64> {
    i64::try_from(unix.0).ok()
}

/// A raw time that is known: tables have the ends of all times where there is none.
pub(crate) fn known(raw: i64) -> Option<i64> {
    (raw != i64::MIN && raw != i64::MAX).then_some(raw)
}
