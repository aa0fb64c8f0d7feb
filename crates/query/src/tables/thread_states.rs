//! The table `thread_states`: what each thread did, without holes while it lives. It is swept from the spans
//! of a window.
//!
//! A condition on threads leaves a few of them, one on times a window: rows at its edges are whole
//! nevertheless.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, Int32Array, Int64Array, StringArray, UInt32Array};
use datafusion::arrow::datatypes::{DataType, Field, SchemaRef};
use datafusion::common::{Result, ScalarValue, internal_err};
use isochrone_store::{HostStore, StateRow, ThreadInfo, ThreadRow};
use isochrone_time::{RawNs, Window};
use isochrone_timing::Timing;

use super::stored::{pid, runs, tid};
use super::{Columns, ThreadIndex};
use crate::error::QueryError;
use crate::instants::{Shown, in_range, timestamps};
use crate::pruning::{Pruner, Ranges};
use crate::scan::{BATCH_ROWS, Chosen, Output, Piece, Selection, Table};
use crate::traced::{StoredHost, Traced};

/// States of threads of a host.
struct Rows<'h> {
    host: &'h str,
    timing: Timing<'h>,
    threads: &'h [ThreadInfo],
    states: &'h [StateRow],
}

type Make = Box<dyn Fn(&Rows<'_>) -> ArrayRef + Send + Sync>;

/// The states of the threads of all hosts: a piece is some threads of a host.
#[derive(Debug)]
pub(super) struct StateTable {
    traced: Arc<Traced>,
    columns: Columns<Make>,
}

impl StateTable {
    pub(super) fn new(traced: &Arc<Traced>) -> Self {
        Self { traced: Arc::clone(traced), columns: Columns::new(columns()) }
    }
}

/// A column with a value of each state.
fn each<A, T>(name: &str, of: DataType, value: fn(&StateRow) -> Option<T>) -> (Field, Make)
where
    A: FromIterator<Option<T>> + Array + 'static,
    T: 'static,
{
    let make: Make = Box::new(move |rows| Arc::new(rows.states.iter().map(value).collect::<A>()));
    (Field::new(name, of, true), make)
}

/// A column with a value of a thread of each state.
fn of_thread<A, T>(
    name: &str,
    of: DataType,
    number: fn(&StateRow) -> Option<ThreadRow>,
    value: fn(&ThreadInfo) -> Option<T>,
) -> (Field, Make)
where
    A: FromIterator<Option<T>> + Array + 'static,
    T: 'static,
{
    let make: Make = Box::new(move |rows| {
        let thread = |state| rows.threads.get(number(state)?.index());
        Arc::new(rows.states.iter().map(|state| value(thread(state)?)).collect::<A>())
    });
    (Field::new(name, of, true), make)
}

fn instant(name: &str, raw: fn(&StateRow) -> RawNs) -> [(Field, Make); 4] {
    Shown::ALL.map(|it| {
        let make: Make =
            Box::new(move |rows| it.of(rows.timing, rows.states.iter().map(|state| Some(raw(state).0))));
        (it.field(name), make)
    })
}

/// The columns, which are the same for all traces.
pub(super) fn schema() -> SchemaRef {
    Columns::new(columns()).schema
}

fn columns() -> Vec<(Field, Make)> {
    let hosts: Make = Box::new(|rows| Arc::new(StringArray::from(vec![rows.host; rows.states.len()])));
    let own: fn(&StateRow) -> Option<ThreadRow> = |state| Some(state.thread);
    let waker: fn(&StateRow) -> Option<ThreadRow> = |state| state.waker;
    let comm: fn(&ThreadInfo) -> Option<String> = |thread| thread.comm.clone();
    let mut columns = vec![
        (Field::new("host", DataType::Utf8, false), hosts),
        each::<UInt32Array, _>("thread", DataType::UInt32, |state| Some(state.thread.0)),
        of_thread::<Int32Array, _>("pid", DataType::Int32, own, pid),
        of_thread::<Int32Array, _>("tid", DataType::Int32, own, tid),
        of_thread::<StringArray, _>("comm", DataType::Utf8, own, comm),
        each::<StringArray, _>("state", DataType::Utf8, |state| Some(state.state.name())),
    ];
    columns.extend(instant("begin_time", |state| state.start));
    columns.extend(instant("end_time", |state| state.end));
    columns.push(each::<Int64Array, _>("duration_ns", DataType::Int64, |state| {
        state.end.checked_since(state.start)
    }));
    columns.push(each::<UInt32Array, _>("cpu", DataType::UInt32, |state| state.cpu));
    columns.push(each::<StringArray, _>("syscall", DataType::Utf8, |state| {
        state.syscall.as_ref().filter(|name| !name.is_empty()).map(ToString::to_string)
    }));
    columns.push(each::<Int32Array, _>("fd", DataType::Int32, |state| state.fd));
    columns.push(each::<UInt32Array, _>("waker_thread", DataType::UInt32, |state| Some(state.waker?.0)));
    columns.push(of_thread::<Int32Array, _>("waker_pid", DataType::Int32, waker, pid));
    columns.push(of_thread::<Int32Array, _>("waker_tid", DataType::Int32, waker, tid));
    columns.push(of_thread::<StringArray, _>("waker_comm", DataType::Utf8, waker, comm));
    columns
}

/// Number of parts of the time of a host that conditions are tested on.
const PARTS: i64 = 512;

/// The runs of threads that are read by themselves: each costs a sweep over all spans.
const MAX_RUNS: usize = 4;

impl StateTable {
    /// The part of a host's time with all requested rows: none starts after it, none ends before it. `None`:
    /// no row is requested.
    fn window(&self, host: &StoredHost, pruner: &Pruner) -> Option<Window<RawNs>> {
        let Window { start: first, end: last } = host.entry.range?;
        let timing = self.traced.timing(host);
        let step = (last.saturating_since(first) / PARTS).saturating_add(1);
        let parts: Vec<Window<RawNs>> = (0..=PARTS)
            .map(|part| first.saturating_add(part.saturating_mul(step)))
            .take_while(|&begin| begin <= last)
            .map(|begin| Window::new(begin, begin.saturating_add(step).min(last)))
            .collect();
        let time = |raw: RawNs| in_range(timing.unix(raw));
        let column = |values: &mut dyn Iterator<Item = Option<i64>>| timestamps(values);
        let lows = || column(&mut parts.iter().map(|part| time(part.start)));
        let highs = || column(&mut parts.iter().map(|part| time(part.end)));
        let (earliest, latest) = (vec![time(first); parts.len()], vec![time(last); parts.len()]);
        let named = host_column(&host.name, parts.len());
        let ranges = || Ranges::of(parts.len()).with("host", Arc::clone(&named), Arc::clone(&named));
        // Of rows by the part that they begin in, then by the one that they end in.
        let begin_in = ranges().with("begin_time", lows(), highs()).with(
            "end_time",
            lows(),
            column(&mut latest.iter().copied()),
        );
        let end_in = ranges().with("begin_time", column(&mut earliest.iter().copied()), highs()).with(
            "end_time",
            lows(),
            highs(),
        );
        let to = parts.iter().zip(pruner.kept(&begin_in)).rev().find(|(_, kept)| *kept)?.0.end;
        let from = parts.iter().zip(pruner.kept(&end_in)).find(|(_, kept)| *kept)?.0.start;
        Some(Window::new(from, to.saturating_add(1)))
    }

    /// The requested threads, as ranges of their numbers.
    fn threads(host: &StoredHost, tables: &HostStore, pruner: &Pruner) -> Vec<(u32, u32)> {
        let threads = tables.threads();
        let index = ThreadIndex::new(threads);
        let named = host_column(&host.name, threads.len());
        let mut ranges = Ranges::of(threads.len()).with("host", Arc::clone(&named), named);
        for (name, column) in index.columns() {
            ranges = ranges.with(name, Arc::clone(&column), column);
        }
        // Idle tasks have no states.
        let kept = pruner.kept(&ranges);
        let kept = (0..).zip(threads).zip(kept).filter(|((_, thread), kept)| *kept && thread.tid.is_some());
        let numbers: Vec<u32> = kept.map(|((number, _), _)| number).collect();
        let all: Vec<(u32, u32)> = runs(numbers.iter().copied(), u32::MAX).collect();
        match (all.len() > MAX_RUNS, numbers.first(), numbers.last()) {
            (true, Some(&first), Some(&last)) => vec![(first, last + 1)],
            _ => all,
        }
    }
}

fn host_column(name: &str, rows: usize) -> ArrayRef {
    ScalarValue::from(name).to_array_of_size(rows).unwrap_or_else(|_| Arc::new(StringArray::new_null(rows)))
}

impl Table for StateTable {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.columns.schema)
    }

    fn choose(&self, pruner: &Pruner) -> Result<Chosen> {
        let (mut pieces, mut windows, mut all) = (Vec::new(), Vec::new(), 0);
        for (of, host) in (0..).zip(self.traced.hosts()) {
            all += 1;
            let window = self.window(host, pruner);
            windows.push(window);
            let Some(Window { start: RawNs(from), end: RawNs(to) }) = window else { continue };
            let bytes = to.abs_diff(from);
            let threads = Self::threads(host, self.traced.tables(host)?, pruner);
            pieces.extend(threads.into_iter().map(|(from, to)| (Piece { of, part: 0, from, to }, bytes)));
        }
        Ok(Chosen { pieces, all, selection: Selection::Windows(windows) })
    }

    fn describe(&self, _: &Selection) -> String {
        "thread_states".to_owned()
    }

    fn read(
        &self,
        piece: Piece,
        selection: &Selection,
        columns: &[usize],
        out: &mut Output<'_>,
    ) -> Result<()> {
        let index = piece.of as usize;
        let Selection::Windows(windows) = selection else {
            return internal_err!("states are read by windows");
        };
        let (Some(host), Some(Some(window))) = (self.traced.hosts().get(index), windows.get(index)) else {
            return internal_err!("no states of a host of the number {index} are requested");
        };
        let tables = self.traced.tables(host)?;
        let threads: Vec<ThreadRow> = (piece.from..piece.to)
            .map(ThreadRow)
            .filter(|&thread| tables.thread(thread).is_some_and(|it| it.tid.is_some()))
            .collect();
        let states = whole(tables, &threads, *window)?;
        out.reads(1, 0);
        out.looks_at(states.len());
        let (timing, all) = (self.traced.timing(host), tables.threads());
        for states in states.chunks(BATCH_ROWS) {
            let rows = Rows { host: &host.name, timing, threads: all, states };
            if out.send(self.columns.arrays(columns, |make| make(&rows)), states.len())?.is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// The states that overlap a window, whole.
fn whole(
    tables: &HostStore,
    threads: &[ThreadRow],
    window: Window<RawNs>,
) -> Result<Vec<StateRow>, QueryError> {
    let mut states = tables.states(threads, window)?;
    let range = tables.entry().range.unwrap_or_default();
    for state in &mut states {
        let is_cut = (state.start <= window.start && window.start > range.start)
            || (state.end >= window.end && window.end < range.end);
        if is_cut && let Some(whole) = tables.whole_state(state.thread, state.start)? {
            *state = whole;
        }
    }
    Ok(states)
}
