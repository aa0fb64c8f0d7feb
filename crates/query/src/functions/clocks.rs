//! What a raw time of a host means, and back: `common_time(host, raw)`, `bound(host, raw)`, `raw_time(host, time)`.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array, StructArray};
use datafusion::arrow::datatypes::{DataType, Field, Fields, Int64Type, TimestampNanosecondType};
use datafusion::logical_expr::ScalarUDF;
use isochrone_experiment::{Stamp, Timing};

use super::function;
use crate::instants::{in_range, timestamp, timestamps};
use crate::traced::Traced;

pub(super) fn functions(traced: &Arc<Traced>) -> Vec<ScalarUDF> {
    let host_and = |of: DataType| vec![DataType::Utf8, of];
    let bounds: Fields = ["lo", "hi"].map(|name| Field::new(name, timestamp(), true)).into_iter().collect();
    let shared = || Arc::clone(traced);
    let (common, back, around) = (shared(), shared(), shared());
    let fields = bounds.clone();
    vec![
        function("common_time", host_and(DataType::Int64), timestamp(), move |arguments| {
            let value = |stamp: Stamp| in_range(stamp.unix_ns);
            Ok(timestamps(stamps(&common, arguments).map(|stamp| stamp.and_then(value))))
        }),
        function("bound", host_and(DataType::Int64), DataType::Struct(bounds), move |arguments| {
            let bound = |of: fn(&Stamp) -> Option<i128>| {
                let value = move |stamp: Stamp| of(&stamp).and_then(in_range);
                timestamps(stamps(&around, arguments).map(move |stamp| stamp.and_then(value)))
            };
            let both = vec![bound(|stamp| stamp.lo), bound(|stamp| stamp.hi)];
            Ok(Arc::new(StructArray::try_new(fields.clone(), both, None)?))
        }),
        function("raw_time", host_and(timestamp()), DataType::Int64, move |arguments| {
            let times = arguments[1].as_primitive::<TimestampNanosecondType>().iter();
            let raw = times.zip(timings(&back, &arguments[0]));
            Ok(Arc::new(raw.map(|(time, timing)| Some(timing?.raw(time?.into()))).collect::<Int64Array>()))
        }),
    ]
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
    timings(traced, &arguments[0]).zip(raw.iter()).map(|(timing, raw)| Some(timing?.stamp(raw?)))
}
