//! The table `messages`: packets that two hosts traced, with both ends, who ran there, and how long they
//! took, with what the clocks of both leave open.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::AsArray;
use datafusion::arrow::array::{
    Array, ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray, UInt32Array,
};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, SchemaRef, UInt32Type};
use datafusion::common::{Result, internal_err};
use isochrone_store::{ThreadInfo, ThreadRow};
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

/// One end of a message.
struct End<'h> {
    host: Option<&'h StoredHost>,
    at: i64,
    cpu: Option<u32>,
}

/// A message.
struct Row<'h> {
    sent: End<'h>,
    received: End<'h>,
}

/// Messages, with what was looked up for them where a column needs it.
struct Rows<'h> {
    traced: &'h Traced,
    messages: Vec<Row<'h>>,
    /// Latency and its bounds, ns.
    latencies: Vec<[Option<i64>; 3]>,
    /// The threads that ran at both ends.
    runners: Vec<[Option<(ThreadRow, &'h ThreadInfo)>; 2]>,
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

/// Which end of a message.
type Which = for<'r, 'h> fn(&'r Row<'h>) -> &'r End<'h>;

/// The columns of an end. `prefix`: of their names; `index`: of the end.
fn end(prefix: &str, which: Which, index: usize) -> Vec<(Field, Make)> {
    let name = |what: &str| format!("{prefix}_{what}");
    let hosts: Make = Box::new(move |rows| {
        let names = rows.messages.iter().map(|row| Some(which(row).host?.name.to_string()));
        Arc::new(names.collect::<StringArray>())
    });
    let cpus: Make = Box::new(move |rows| {
        Arc::new(rows.messages.iter().map(|row| which(row).cpu).collect::<UInt32Array>())
    });
    let mut columns = vec![(Field::new(name("host"), DataType::Utf8, true), hosts)];
    columns.extend(Shown::ALL.map(|it| {
        let make: Make = Box::new(move |rows| {
            let value = |row: &Row<'_>| {
                let End { host, at, .. } = which(row);
                it.of_stamp(Some(rows.traced.timing((*host)?).stamp(RawNs(*at))), Some(*at))
            };
            it.array(rows.messages.iter().map(value).collect())
        });
        (it.field(&name("time")), make)
    }));
    columns.push((Field::new(name("cpu"), DataType::UInt32, true), cpus));
    columns
        .push(runner::<UInt32Array, _>(&name("thread"), DataType::UInt32, index, |thread, _| Some(thread.0)));
    columns.push(runner::<Int32Array, _>(&name("pid"), DataType::Int32, index, |_, thread| pid(thread)));
    columns.push(runner::<Int32Array, _>(&name("tid"), DataType::Int32, index, |_, thread| tid(thread)));
    columns.push(runner::<StringArray, _>(&name("comm"), DataType::Utf8, index, |_, thread| {
        thread.comm.clone()
    }));
    columns
}

/// A column of the thread that ran at an end.
fn runner<A, T>(
    name: &str,
    of: DataType,
    end: usize,
    value: fn(ThreadRow, &ThreadInfo) -> Option<T>,
) -> (Field, Make)
where
    A: FromIterator<Option<T>> + Array + 'static,
    T: 'static,
{
    let make: Make = Box::new(move |rows| {
        let each = |ends: &[Option<(ThreadRow, &ThreadInfo)>; 2]| {
            let (number, thread) = ends[end]?;
            value(number, thread)
        };
        Arc::new(rows.runners.iter().map(each).collect::<A>())
    });
    (Field::new(name, of, true), make)
}

/// The columns, which are the same for all traces.
pub(super) fn schema() -> SchemaRef {
    Columns::new(columns()).schema
}

fn columns() -> Vec<(Field, Make)> {
    let mut columns = end("sent", |row| &row.sent, 0);
    columns.extend(end("received", |row| &row.received, 1));
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
        let has_runners = ["_thread", "_pid", "_tid", "_comm"].into_iter().any(is_requested);
        for batch in file.read(&all, piece.from as usize..piece.to as usize).map_err(QueryError::from)? {
            let messages = messages(&batch.map_err(QueryError::from)?, &hosts)?;
            out.reads(1, file.bytes_of_batch());
            out.looks_at(messages.len());
            let mut rows =
                Rows { traced: &self.traced, messages, latencies: Vec::new(), runners: Vec::new() };
            if has_latency {
                rows.latencies = rows.messages.iter().map(|row| latency(&self.traced, row)).collect();
            }
            if has_runners {
                let find = |row| runners(&self.traced, row);
                rows.runners = rows.messages.iter().map(find).collect::<Result<_, QueryError>>()?;
            }
            let made = self.columns.arrays(columns, |make| make(&rows));
            if out.send(made, rows.messages.len())?.is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// The messages of a batch. Its columns are those of the store: host, time and CPU of the sender, then of the
/// receiver.
fn messages<'h>(batch: &RecordBatch, hosts: &HashMap<u32, &'h StoredHost>) -> Result<Vec<Row<'h>>> {
    let [sent_host, sent_at, sent_cpu, received_host, received_at, received_cpu] = batch.columns() else {
        return internal_err!("the messages of the store have other columns");
    };
    let end = |host: &ArrayRef, at: &ArrayRef, cpu: &ArrayRef, row: usize| End {
        host: hosts.get(&host.as_primitive::<UInt32Type>().value(row)).copied(),
        at: at.as_primitive::<Int64Type>().value(row),
        cpu: cpu.is_valid(row).then(|| cpu.as_primitive::<UInt32Type>().value(row)),
    };
    let row = |row| Row {
        sent: end(sent_host, sent_at, sent_cpu, row),
        received: end(received_host, received_at, received_cpu, row),
    };
    Ok((0..batch.num_rows()).map(row).collect())
}

/// How long a message took, ns, and between what bounds; as the analysis `messages` has it. Nothing where the
/// clocks cannot be compared.
fn latency(traced: &Traced, row: &Row<'_>) -> [Option<i64>; 3] {
    let clocks = || {
        let clock = |end: &End<'_>| traced.timing(end.host?).clock();
        Some((clock(&row.sent)?, clock(&row.received)?))
    };
    let Some((sent, received)) = clocks().filter(|(a, b)| a.entry.island == b.entry.island) else {
        return [None; 3];
    };
    let (sent_at, received_at) = (RawNs(row.sent.at), RawNs(row.received.at));
    let took = received.unix(received_at).checked_since(sent.unix(sent_at));
    let related = traced.clocks().and_then(|clocks| clocks.related(sent, received, sent_at));
    let bounds = related.filter(|related| related.proven).map(|related| related.latency_until(received_at));
    let (least, greatest) = bounds.unwrap_or_default();
    [took, least, greatest]
}

/// The threads that ran when a message was sent and received.
fn runners<'h>(
    traced: &Traced,
    row: &Row<'h>,
) -> Result<[Option<(ThreadRow, &'h ThreadInfo)>; 2], QueryError> {
    let one = |end: &End<'h>, is_sent: bool| -> Result<Option<(ThreadRow, &'h ThreadInfo)>, QueryError> {
        let (Some(host), Some(cpu)) = (end.host, end.cpu) else { return Ok(None) };
        let tables = traced.tables(host)?;
        let runner = tables.runner_at_packet(RawNs(end.at), cpu, is_sent)?;
        let number = runner.and_then(|runner| runner.thread);
        Ok(number.and_then(|number| Some((number, tables.thread(number)?))))
    };
    Ok([one(&row.sent, true)?, one(&row.received, false)?])
}
