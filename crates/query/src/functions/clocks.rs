//! What a raw time of a host means, and back: `common_time(host, raw)`, `bound(host, raw)`, `raw_time(host,
//! time)`.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array, StructArray};
use datafusion::arrow::datatypes::{DataType, Field, Fields, Int64Type, TimestampNanosecondType};
use datafusion::common::Result;
use isochrone_time::{RawNs, UnixNs};
use isochrone_timing::{Stamp, Timing};

use super::Function;
use crate::instants::{in_range, timestamp, timestamps};
use crate::traced::Traced;

/// The functions. `None`: for their names alone.
pub(super) fn functions(traced: Option<&Arc<Traced>>) -> Vec<Function> {
    let host_and = |of: DataType| vec![DataType::Utf8, of];
    let clock = |name, takes, gives, values| Function::of_clocks(name, takes, gives, traced, values);
    vec![
        clock("common_time", host_and(DataType::Int64), timestamp(), common_time),
        clock("bound", host_and(DataType::Int64), DataType::Struct(bounds()), bound),
        clock("raw_time", host_and(timestamp()), DataType::Int64, raw_time),
    ]
}

#[allow(clippy::unnecessary_wraps)] // All functions have one shape.
fn common_time(traced: &Traced, arguments: &[ArrayRef]) -> Result<ArrayRef> {
    let value = |stamp: Stamp| in_range(stamp.unix);
    Ok(timestamps(stamps(traced, arguments).map(|stamp| stamp.and_then(value))))
}

/// The fields of what `bound` gives.
fn bounds() -> Fields {
    ["lo", "hi"].map(|name| Field::new(name, timestamp(), true)).into_iter().collect()
}

fn bound(traced: &Traced, arguments: &[ArrayRef]) -> Result<ArrayRef> {
    let bound = |of: fn(&Stamp) -> Option<UnixNs>| {
        let value = move |stamp: Stamp| of(&stamp).and_then(in_range);
        timestamps(stamps(traced, arguments).map(move |stamp| stamp.and_then(value)))
    };
    let both = vec![bound(|stamp| stamp.lo), bound(|stamp| stamp.hi)];
    Ok(Arc::new(StructArray::try_new(bounds(), both, None)?))
}

#[allow(clippy::unnecessary_wraps)] // As above.
fn raw_time(traced: &Traced, arguments: &[ArrayRef]) -> Result<ArrayRef> {
    let times = arguments[1].as_primitive::<TimestampNanosecondType>().iter();
    let raw = times.zip(timings(traced, &arguments[0]));
    Ok(Arc::new(raw.map(|(time, timing)| Some(timing?.raw(UnixNs(time?.into())).0)).collect::<Int64Array>()))
}

/// The clock of each host that is named; none where no host is called so.
fn timings<'t>(traced: &'t Traced, names: &'t ArrayRef) -> impl Iterator<Item = Option<Timing<'t>>> + 't {
    let names = names.as_string::<i32>();
    let mut last: Option<(&str, Option<Timing<'_>>)> = None;
    names.iter().map(move |name| {
        let name = name?;
        match last {
            Some((known, timing)) if known == name => timing,
            _ => {
                let timing = traced.host_named(name).map(|host| traced.timing(host));
                last = Some((name, timing));
                timing
            }
        }
    })
}

/// What is known of each raw time of a host.
fn stamps<'t>(traced: &'t Traced, arguments: &'t [ArrayRef]) -> impl Iterator<Item = Option<Stamp>> + 't {
    let raw = arguments[1].as_primitive::<Int64Type>();
    timings(traced, &arguments[0]).zip(raw.iter()).map(|(timing, raw)| Some(timing?.stamp(RawNs(raw?))))
}
