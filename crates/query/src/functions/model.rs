//! What the model of a host knows of an instant: `fd_path(host, pid, fd, time)`, `running(host, cpu, time)`.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Int32Array, PrimitiveArray, StringArray, StructArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Fields, Int64Type, TimestampNanosecondType};
use datafusion::common::Result;
use isochrone_store::{HostStore, OpenFile, ThreadRow};
use isochrone_time::{RawNs, UnixNs, Window};

use super::Function;
use crate::error::QueryError;
use crate::instants::timestamp;
use crate::traced::Traced;

/// The functions. `None`: for their names alone.
pub(super) fn functions(traced: Option<&Arc<Traced>>) -> Vec<Function> {
    let model = |name, takes, gives, values| Function::of_clocks(name, takes, gives, traced, values);
    let (number, text) = (DataType::Int64, DataType::Utf8);
    let descriptor = vec![text.clone(), number.clone(), number.clone(), timestamp()];
    vec![
        model("fd_path", descriptor, text.clone(), fd_path),
        model("running", vec![text, number, timestamp()], DataType::Struct(thread()), running),
    ]
}

/// Rows of one host, each with its time on the clock of that host.
type RowsOfHost<'t> = (&'t HostStore, Vec<(RawNs, usize)>);

/// The rows of columns, the first of which names a host and the last a time, by host and raw time of its
/// clock: what is read for one is near what is read for the next.
fn in_order<'t>(traced: &'t Traced, arguments: &[ArrayRef]) -> Result<Vec<RowsOfHost<'t>>> {
    let names = arguments[0].as_string::<i32>();
    let times: &PrimitiveArray<TimestampNanosecondType> = arguments[arguments.len() - 1].as_primitive();
    let mut hosts = Vec::new();
    for host in traced.hosts() {
        let timing = traced.timing(host);
        let is_its =
            |row: &usize| names.is_valid(*row) && times.is_valid(*row) && names.value(*row) == &*host.name;
        let rows = (0..names.len()).filter(is_its);
        let mut rows: Vec<_> = rows.map(|row| (timing.raw(UnixNs(times.value(row).into())), row)).collect();
        if rows.is_empty() {
            continue;
        }
        let store = traced.tables(host)?;
        // Of times that were not recorded nothing is known.
        let range = store.entry().range;
        rows.retain(|(at, _)| range.is_some_and(|range| range.start <= *at && *at <= range.end));
        rows.sort_unstable();
        hosts.push((store, rows));
    }
    Ok(hosts)
}

/// A number of a row, if it is one of 32 bits.
fn number<N: TryFrom<i64>>(column: &ArrayRef, row: usize) -> Option<N> {
    let column = column.as_primitive::<Int64Type>();
    column.is_valid(row).then(|| column.value(row).try_into().ok()).flatten()
}

fn fd_path(traced: &Traced, arguments: &[ArrayRef]) -> Result<ArrayRef> {
    let mut paths: Vec<Option<String>> = vec![None; arguments[0].len()];
    for (store, rows) in in_order(traced, arguments)? {
        let (Some((first, _)), Some((last, _))) = (rows.first(), rows.last()) else { continue };
        let window = Window::new(*first, last.saturating_add(1));
        let open = store.descriptors(window).map_err(QueryError::from)?;
        let missed = store.missed().map_err(QueryError::from)?;
        for (at, row) in rows {
            let (Some(pid), Some(fd)) = (number(&arguments[1], row), number(&arguments[2], row)) else {
                continue;
            };
            let file = open.at(pid, fd, at).filter(|file| !file.is_doubtful(at, &missed));
            paths[row] = file.and_then(path);
        }
    }
    Ok(Arc::new(StringArray::from(paths)))
}

/// The path of a file; of a socket both addresses, where they are known.
fn path(file: &OpenFile) -> Option<String> {
    match (&file.local, &file.peer) {
        (Some(local), Some(peer)) => Some(format!("{local}->{peer}")),
        _ => Some(file.name.to_string()).filter(|name| !name.is_empty()),
    }
}

/// The fields of what `running` gives.
fn thread() -> Fields {
    let fields = [("pid", DataType::Int32), ("tid", DataType::Int32), ("comm", DataType::Utf8)];
    fields.map(|(name, of)| Field::new(name, of, true)).into_iter().collect()
}

fn running(traced: &Traced, arguments: &[ArrayRef]) -> Result<ArrayRef> {
    let count = arguments[0].len();
    let (mut pids, mut tids) = (vec![None; count], vec![None; count]);
    let mut comms: Vec<Option<String>> = vec![None; count];
    for (store, rows) in in_order(traced, arguments)? {
        for (at, row) in rows {
            let Some(cpu) = number::<u32>(&arguments[1], row) else { continue };
            let mut found: Option<ThreadRow> = None;
            let instant = Window::new(at, at.saturating_add(1));
            let slices =
                store.slices(instant, |slice| found = found.or(slice.thread.filter(|_| slice.cpu == cpu)));
            slices.map_err(QueryError::from)?;
            if let Some(thread) = found.and_then(|thread| store.thread(thread)) {
                // Idle tasks are thread 0.
                let idle = thread.idle_of_cpu.map(|_| 0);
                (pids[row], tids[row]) = (thread.pid.or(idle), thread.tid.or(idle));
                comms[row] = thread.comm_at(at).map(str::to_owned);
            }
        }
    }
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(pids)),
        Arc::new(Int32Array::from(tids)),
        Arc::new(StringArray::from(comms)),
    ];
    Ok(Arc::new(StructArray::try_new(thread(), columns, None)?))
}
