//! The table `hosts`.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray, Int64Array, StringArray, UInt32Array, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, SchemaRef};
use datafusion::common::Result;
use isochrone_time::RawNs;
use isochrone_timing::Timing;

use super::Columns;
use crate::instants::Shown;
use crate::pruning::Pruner;
use crate::scan::{Chosen, Output, Piece, Selection, Table};
use crate::traced::{StoredHost, Traced};

type Make = Box<dyn Fn(&Traced, &[StoredHost]) -> ArrayRef + Send + Sync>;

/// The hosts: one piece.
#[derive(Debug)]
pub(super) struct HostTable {
    traced: Arc<Traced>,
    columns: Columns<Make>,
}

impl HostTable {
    pub(super) fn new(traced: &Arc<Traced>) -> Self {
        Self { traced: Arc::clone(traced), columns: Columns::new(columns()) }
    }
}

/// The values of a column, one for each host.
fn each<A, T>(value: fn(&Traced, &StoredHost) -> T) -> Make
where
    A: FromIterator<T> + datafusion::arrow::array::Array + 'static,
    T: 'static,
{
    Box::new(move |traced, hosts| {
        let values: A = hosts.iter().map(|host| value(traced, host)).collect();
        Arc::new(values)
    })
}

/// The four columns of an instant of each host.
fn instant(name: &str, raw: fn(&StoredHost) -> Option<i64>) -> Vec<(Field, Make)> {
    let column = |it: Shown| -> (Field, Make) {
        let make: Make = Box::new(move |traced, hosts| {
            let values = hosts.iter().map(|host| {
                let raw = raw(host);
                it.of_stamp(raw.map(|raw| traced.timing(host).stamp(RawNs(raw))), raw)
            });
            it.array(values.collect())
        });
        (it.field(name), make)
    };
    Shown::ALL.map(column).into()
}

/// The columns, which are the same for all traces.
pub(super) fn schema() -> SchemaRef {
    Columns::new(columns()).schema
}

fn columns() -> Vec<(Field, Make)> {
    let mut columns: Vec<(Field, Make)> = vec![
        (
            Field::new("host", DataType::Utf8, false),
            each::<StringArray, _>(|_, host| Some(host.name.to_string())),
        ),
        (
            Field::new("clock", DataType::Utf8, false),
            each::<StringArray, _>(|_, host| Some(host.entry.id.clone())),
        ),
        (
            Field::new("is_corrected", DataType::Boolean, false),
            each::<BooleanArray, _>(|traced, host| Some(traced.timing(host).clock().is_some())),
        ),
        (
            Field::new("island", DataType::UInt64, true),
            each::<UInt64Array, _>(|traced, host| Some(traced.timing(host).clock()?.entry.island as u64)),
        ),
        (
            Field::new("reference", DataType::Utf8, true),
            each::<StringArray, _>(|traced, host| Some(traced.timing(host).clock()?.reference.clone())),
        ),
        (
            Field::new("offset_ns", DataType::Int64, false),
            each::<Int64Array, _>(|traced, host| Some(offset(traced.timing(host)))),
        ),
        (
            Field::new("cpus", DataType::UInt32, false),
            each::<UInt32Array, _>(|_, host| Some(host.entry.cpus.len() as u32)),
        ),
    ];
    columns.extend(instant("begin_time", |host| Some(host.entry.range?.start.0)));
    columns.extend(instant("end_time", |host| Some(host.entry.range?.end.0)));
    columns
}

/// Unix time of the clock's zero as the host itself took it, ns.
fn offset(timing: Timing<'_>) -> i64 {
    match timing {
        Timing::Own { offset_ns } => offset_ns,
        Timing::Common(clock) => clock.entry.clock_offset_ns,
    }
}

impl Table for HostTable {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.columns.schema)
    }

    fn choose(&self, _: &Pruner) -> Result<Chosen> {
        let pieces = vec![(Piece { of: 0, part: 0, from: 0, to: self.traced.hosts().len() as u32 }, 0)];
        Ok(Chosen { pieces, all: 1, selection: Selection::All })
    }

    fn describe(&self, _: &Selection) -> String {
        "hosts".to_owned()
    }

    fn read(&self, _: Piece, _: &Selection, columns: &[usize], out: &mut Output<'_>) -> Result<()> {
        let hosts = self.traced.hosts();
        out.reads(1, 0);
        out.looks_at(hosts.len());
        // Whether anybody wants more is of no interest: there is no more.
        let _ = out.send(self.columns.arrays(columns, |make| make(&self.traced, hosts)), hosts.len())?;
        Ok(())
    }
}
