//! The table `threads`.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, BooleanArray, Int32Array, Int64Array, StringArray, UInt32Array, UInt64Array,
};
use datafusion::arrow::datatypes::{DataType, Field, SchemaRef};
use datafusion::common::{Result, internal_err};
use isochrone_store::ThreadInfo;
use isochrone_time::RawNs;
use isochrone_timing::Timing;

use super::Columns;
use super::stored::{pid, tid};
use crate::instants::{Shown, known};
use crate::pruning::{Pruner, Ranges};
use crate::scan::{Chosen, Output, Piece, Selection, Table};
use crate::traced::Traced;

/// Threads of a host.
struct Rows<'h> {
    host: &'h str,
    timing: Timing<'h>,
    threads: &'h [ThreadInfo],
}

type Make = Box<dyn Fn(&Rows<'_>) -> ArrayRef + Send + Sync>;

/// The threads of all hosts: a piece a host.
#[derive(Debug)]
pub(super) struct ThreadTable {
    traced: Arc<Traced>,
    columns: Columns<Make>,
}

impl ThreadTable {
    pub(super) fn new(traced: &Arc<Traced>) -> Self {
        Self { traced: Arc::clone(traced), columns: Columns::new(columns()) }
    }
}

/// A column with a value of each thread.
fn each<A, T>(name: &str, of: DataType, value: fn(&ThreadInfo) -> Option<T>) -> (Field, Make)
where
    A: FromIterator<Option<T>> + Array + 'static,
    T: 'static,
{
    let make: Make = Box::new(move |rows| Arc::new(rows.threads.iter().map(value).collect::<A>()));
    (Field::new(name, of, true), make)
}

/// The columns of an instant of each thread.
fn instant(name: &str, raw: fn(&ThreadInfo) -> Option<RawNs>) -> [(Field, Make); 4] {
    Shown::ALL.map(|it| {
        let make: Make =
            Box::new(move |rows| it.of(rows.timing, rows.threads.iter().map(|thread| known(raw(thread)?.0))));
        (it.field(name), make)
    })
}

/// The columns, which are the same for all traces.
pub(super) fn schema() -> SchemaRef {
    Columns::new(columns()).schema
}

fn columns() -> Vec<(Field, Make)> {
    let hosts: Make = Box::new(|rows| Arc::new(StringArray::from(vec![rows.host; rows.threads.len()])));
    let numbers: Make = Box::new(|rows| Arc::new((0..rows.threads.len() as u32).collect::<UInt32Array>()));
    let mut columns = vec![
        (Field::new("host", DataType::Utf8, false), hosts),
        (Field::new("thread", DataType::UInt32, false), numbers),
        each::<Int32Array, _>("pid", DataType::Int32, pid),
        each::<Int32Array, _>("tid", DataType::Int32, tid),
        each::<StringArray, _>("comm", DataType::Utf8, |thread| thread.comm.clone()),
        each::<Int32Array, _>("parent_pid", DataType::Int32, |thread| thread.parent),
        each::<BooleanArray, _>("is_kernel", DataType::Boolean, |thread| thread.is_kernel),
        each::<UInt64Array, _>("pid_namespace", DataType::UInt64, |thread| thread.inner?.inode),
        each::<UInt32Array, _>("pid_namespace_level", DataType::UInt32, |thread| Some(thread.inner?.level)),
        each::<Int32Array, _>("vpid", DataType::Int32, |thread| thread.inner?.vpid),
        each::<Int32Array, _>("vtid", DataType::Int32, |thread| Some(thread.inner?.vtid)),
        each::<UInt32Array, _>("idle_of_cpu", DataType::UInt32, |thread| thread.idle_of_cpu),
        each::<BooleanArray, _>("is_begin_seen", DataType::Boolean, |thread| Some(thread.is_start_seen)),
        each::<BooleanArray, _>("is_end_seen", DataType::Boolean, |thread| Some(thread.is_end_seen)),
    ];
    columns.extend(instant("begin_time", |thread| Some(thread.start)));
    columns.extend(instant("end_time", |thread| Some(thread.end)));
    columns.push(each::<Int64Array, _>("duration_ns", DataType::Int64, |thread| {
        known(thread.end.0)?.checked_sub(known(thread.start.0)?)
    }));
    columns.extend(instant("woken_time", |thread| thread.woken));
    columns.extend(instant("exit_time", |thread| thread.exited));
    columns
}

impl Table for ThreadTable {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.columns.schema)
    }

    fn choose(&self, pruner: &Pruner) -> Result<Chosen> {
        let hosts = self.traced.hosts();
        let names: ArrayRef =
            Arc::new(hosts.iter().map(|host| Some(host.name.to_string())).collect::<StringArray>());
        let kept = pruner.kept(&Ranges::of(hosts.len()).with("host", Arc::clone(&names), names));
        let kept = (0..).zip(kept).filter(|(_, kept)| *kept);
        let pieces = kept.map(|(of, _)| (Piece { of, part: 0, from: 0, to: 1 }, 0)).collect();
        Ok(Chosen { pieces, all: hosts.len() as u64, selection: Selection::All })
    }

    fn describe(&self, _: &Selection) -> String {
        "threads".to_owned()
    }

    fn read(&self, piece: Piece, _: &Selection, columns: &[usize], out: &mut Output<'_>) -> Result<()> {
        let Some(host) = self.traced.hosts().get(piece.of as usize) else {
            return internal_err!("no host has the number {}", piece.of);
        };
        let threads = self.traced.tables(host)?.threads();
        out.reads(1, 0);
        out.looks_at(threads.len());
        let rows = Rows { host: &host.name, timing: self.traced.timing(host), threads };
        let _ = out.send(self.columns.arrays(columns, |make| make(&rows)), threads.len())?;
        Ok(())
    }
}
