//! The table `messages`: packets that two hosts traced, with both ends, who ran there, and how long they
//! took, with what the clocks of both leave open.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::AsArray;
use datafusion::arrow::array::{
    Array, ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray, UInt32Array,
};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, SchemaRef, UInt32Type};
use datafusion::common::{Result, internal_datafusion_err, internal_err};
use isochrone_store::{TableInfo, ThreadInfo, ThreadRow};
use isochrone_time::RawNs;

use super::Columns;
use super::stored::{pid, tid};
use crate::error::QueryError;
use crate::instants::Shown;
use crate::pruning::Pruner;
use crate::scan::{Chosen, Output, Piece, Selection, Table};
use crate::traced::{StoredHost, Traced};

/// Batches that are read as one piece.
const BATCHES: u32 = 8;

/// What names of columns of the two ends begin with.
const END_NAMES: [&str; 2] = ["sent", "received"];

/// One end of a message.
struct End<'h> {
    host: Option<&'h StoredHost>,
    at: i64,
}

/// Messages of a batch, with what was looked up for them where a column needs it.
struct Rows<'h> {
    traced: &'h Traced,
    batch: &'h RecordBatch,
    /// The sends and the receptions.
    ends: [Vec<End<'h>>; 2],
    /// Latency and its bounds, ns.
    latencies: Vec<[Option<i64>; 3]>,
    /// The threads that ran at the sends and at the receptions.
    runners: [Vec<Option<&'h ThreadInfo>>; 2],
}

type Make = Box<dyn Fn(&Rows<'_>) -> ArrayRef + Send + Sync>;

/// The messages of all hosts: a piece is some batches of their file.
#[derive(Debug)]
pub(super) struct MessageTable {
    traced: Arc<Traced>,
    columns: Columns<Make>,
}

impl MessageTable {
    pub(super) fn new(traced: &Arc<Traced>) -> Self {
        Self { traced: Arc::clone(traced), columns: Columns::new(columns()) }
    }
}

/// The columns that a column of the store becomes: a host its name, a time all of its forms, a thread its
/// numbers and name, others what they are.
fn of_stored(index: usize, field: &Field) -> Vec<(Field, Make)> {
    let as_stored = || -> (Field, Make) {
        let make: Make = Box::new(move |rows| Arc::clone(rows.batch.column(index)));
        (field.clone().with_nullable(true), make)
    };
    let Some((end, what)) = END_NAMES
        .iter()
        .enumerate()
        .find_map(|(end, name)| Some((end, field.name().strip_prefix(name)?.strip_prefix('_')?)))
    else {
        return vec![as_stored()];
    };
    let name = |what: &str| format!("{}_{what}", END_NAMES[end]);
    match what {
        "host" => {
            let make: Make = Box::new(move |rows| {
                let names = rows.ends[end].iter().map(|it| Some(it.host?.name.to_string()));
                Arc::new(names.collect::<StringArray>())
            });
            vec![(Field::new(name("host"), DataType::Utf8, true), make)]
        }
        "at" => Shown::ALL
            .map(|shown| {
                let make: Make = Box::new(move |rows| {
                    let value = |&End { host, at }: &End<'_>| {
                        shown.of_stamp(Some(rows.traced.timing(host?).stamp(RawNs(at))), Some(at))
                    };
                    shown.array(rows.ends[end].iter().map(value).collect())
                });
                (shown.field(&name("time")), make)
            })
            .into(),
        "thread" => vec![
            // Of a host that is not there, a number says nothing.
            (
                Field::new(name("thread"), DataType::UInt32, true),
                Box::new(move |rows| {
                    let numbers = rows.batch.column(index).as_primitive::<UInt32Type>();
                    let of_known =
                        |(end, number): (&End<'_>, Option<u32>)| number.filter(|_| end.host.is_some());
                    Arc::new(rows.ends[end].iter().zip(numbers).map(of_known).collect::<UInt32Array>())
                }),
            ),
            runner::<Int32Array, _>(&name("pid"), DataType::Int32, end, pid),
            runner::<Int32Array, _>(&name("tid"), DataType::Int32, end, tid),
            runner::<StringArray, _>(&name("comm"), DataType::Utf8, end, |thread| thread.comm.clone()),
        ],
        _ => vec![as_stored()],
    }
}

/// A column of the thread that ran at an end.
fn runner<A, T>(name: &str, of: DataType, end: usize, value: fn(&ThreadInfo) -> Option<T>) -> (Field, Make)
where
    A: FromIterator<Option<T>> + Array + 'static,
    T: 'static,
{
    let make: Make =
        Box::new(move |rows| Arc::new(rows.runners[end].iter().map(|it| value((*it)?)).collect::<A>()));
    (Field::new(name, of, true), make)
}

/// The columns, which are the same for all traces.
pub(super) fn schema() -> SchemaRef {
    Columns::new(columns()).schema
}

fn columns() -> Vec<(Field, Make)> {
    let stored = TableInfo::of("messages").map(TableInfo::schema);
    let fields = stored.iter().flat_map(|schema| schema.fields().iter().enumerate());
    let mut columns: Vec<(Field, Make)> = fields.flat_map(|(index, field)| of_stored(index, field)).collect();
    for (index, name) in ["latency_ns", "latency_lo_ns", "latency_hi_ns"].into_iter().enumerate() {
        let make: Make = Box::new(move |rows| {
            Arc::new(rows.latencies.iter().map(|latency| latency[index]).collect::<Int64Array>())
        });
        columns.push((Field::new(name, DataType::Int64, true), make));
    }
    columns
}

impl Table for MessageTable {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.columns.schema)
    }

    fn choose(&self, _: &Pruner) -> Result<Chosen> {
        let Some(file) = self.traced.store().message_table().map_err(QueryError::from)? else {
            return Ok(Chosen { pieces: Vec::new(), all: 0, selection: Selection::All });
        };
        let all = file.batches() as u32;
        let pieces = (0..all).step_by(BATCHES as usize).map(|from| {
            let to = (from + BATCHES).min(all);
            (Piece { of: 0, part: 0, from, to }, u64::from(to - from) * file.bytes_of_batch())
        });
        Ok(Chosen { pieces: pieces.collect(), all: u64::from(all), selection: Selection::All })
    }

    fn describe(&self, _: &Selection) -> String {
        "messages".to_owned()
    }

    fn read(&self, piece: Piece, _: &Selection, columns: &[usize], out: &mut Output<'_>) -> Result<()> {
        let Some(file) = self.traced.store().message_table().map_err(QueryError::from)? else {
            return internal_err!("the store has no messages");
        };
        let all: Vec<usize> = (0..file.schema().fields().len()).collect();
        let hosts: HashMap<u32, &StoredHost> =
            self.traced.hosts().iter().map(|host| (host.entry.number, host)).collect();
        let is_requested = |part: &str| {
            columns.iter().any(|&column| self.columns.schema.field(column).name().contains(part))
        };
        let has_latency = is_requested("latency");
        let has_runners = ["_pid", "_tid", "_comm"].into_iter().any(is_requested);
        for batch in file.read(&all, piece.from as usize..piece.to as usize).map_err(QueryError::from)? {
            let batch = &batch.map_err(QueryError::from)?;
            let ends = [ends(batch, 0, &hosts)?, ends(batch, 1, &hosts)?];
            let rows_count = batch.num_rows();
            out.reads(1, file.bytes_of_batch());
            out.looks_at(rows_count);
            let mut rows = Rows {
                traced: &self.traced,
                batch,
                ends,
                latencies: Vec::new(),
                runners: [Vec::new(), Vec::new()],
            };
            if has_latency {
                let [sent, received] = &rows.ends;
                let pairs = sent.iter().zip(received);
                rows.latencies =
                    pairs.map(|(sent, received)| latency(&self.traced, sent, received)).collect();
            }
            if has_runners {
                for end in [0, 1] {
                    rows.runners[end] = runners(&self.traced, batch, end, &rows.ends[end])?;
                }
            }
            let made = self.columns.arrays(columns, |make| make(&rows));
            if out.send(made, rows_count)?.is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// A column of an end of the messages of a batch.
fn column<'b>(batch: &'b RecordBatch, end: usize, what: &str) -> Result<&'b ArrayRef> {
    let column = batch.column_by_name(&format!("{}_{what}", END_NAMES[end]));
    column.ok_or_else(|| internal_datafusion_err!("the messages of the store have no {what}"))
}

/// The ends of the messages of a batch.
fn ends<'h>(batch: &RecordBatch, end: usize, hosts: &HashMap<u32, &'h StoredHost>) -> Result<Vec<End<'h>>> {
    let numbers = column(batch, end, "host")?.as_primitive::<UInt32Type>().values();
    let times = column(batch, end, "at")?.as_primitive::<Int64Type>().values();
    let of = |(number, &at)| End { host: hosts.get(number).copied(), at };
    Ok(numbers.iter().zip(times).map(of).collect())
}

/// How long a message took, ns, and between what bounds; as the analysis `messages` has it. Nothing where the
/// clocks cannot be compared.
fn latency(traced: &Traced, sent: &End<'_>, received: &End<'_>) -> [Option<i64>; 3] {
    let clocks = || {
        let clock = |end: &End<'_>| traced.timing(end.host?).clock();
        Some((clock(sent)?, clock(received)?))
    };
    let Some((sender, receiver)) = clocks().filter(|(a, b)| a.entry.island == b.entry.island) else {
        return [None; 3];
    };
    let (sent_at, received_at) = (RawNs(sent.at), RawNs(received.at));
    let took = receiver.unix(received_at).checked_since(sender.unix(sent_at));
    let related = traced.clocks().and_then(|clocks| clocks.related(sender, receiver, sent_at));
    let bounds = related.filter(|related| related.proven).map(|related| related.latency_until(received_at));
    let (least, greatest) = bounds.unwrap_or_default();
    [took, least, greatest]
}

/// The threads that ran at ends of the messages of a batch.
fn runners<'h>(
    traced: &'h Traced,
    batch: &RecordBatch,
    end: usize,
    ends: &[End<'h>],
) -> Result<Vec<Option<&'h ThreadInfo>>> {
    let numbers = column(batch, end, "thread")?.as_primitive::<UInt32Type>();
    let one = |(host, number): (Option<&'h StoredHost>, Option<u32>)| {
        let (Some(host), Some(number)) = (host, number) else { return Ok(None) };
        Ok(traced.tables(host)?.thread(ThreadRow(number)))
    };
    let found = ends.iter().map(|end| end.host).zip(numbers).map(one);
    Ok(found.collect::<Result<_, QueryError>>()?)
}
