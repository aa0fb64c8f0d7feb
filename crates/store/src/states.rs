//! States of threads in a window, and zoom levels: the levels are written as the sweep emits rows; what is
//! finer is swept from the spans of the window when requested.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;

use arrow_array::PrimitiveArray;
use arrow_array::types::UInt32Type;
use isochrone_kernel::Name;
use isochrone_time::{RawNs, Window};

use crate::batches::{Batches, RowsFile};
use crate::cause::PAGE_FAULT;
use crate::cell::Cell;
use crate::error::StoreError;
use crate::manifest::TableEntry;
use crate::merge::SweepSpan;
use crate::names::Names;
use crate::spans::{Numbering, SpanTables};
use crate::state::{State, StateRow};
use crate::sums::{Buckets, StateSumsWriter};
use crate::sweep::{self, Life, Mode, Sweep};
use crate::table::Row;
use crate::tables::{
    IrqRow, LatencyRow, OffRow, OpenCallRow, PageFaultRow, SliceRow, SoftirqRow, SpanRow, SyscallRow, ZoomRow,
};
use crate::threads::{ThreadName, ThreadRow};
use crate::zoom::{Levels, bucket_ns, levels};

/// Writes zoom levels and sums.
#[derive(Debug)]
pub(crate) struct LevelsWriter {
    levels: Levels,
    files: Vec<RowsFile<ZoomRow>>,
    sums: StateSumsWriter,
}

/// Rows of a batch that is sent to another thread.
const ROWS_PER_BATCH: usize = 4096;
/// Maximum number of batches that wait there before the sweep blocks.
const MAX_WAITING_BATCHES: usize = 4;

impl LevelsWriter {
    pub(crate) fn create(
        directory: &Path,
        threads: usize,
        (range, buckets): (Window<RawNs>, Buckets),
        names: &Arc<Names>,
    ) -> Result<Self, StoreError> {
        let sums = StateSumsWriter::create(directory, threads, buckets, names)?;
        let count = levels(range.end.saturating_since(range.start));
        let files = RowsFile::levels(directory, count, names)?;
        Ok(Self { levels: Levels::new(count, threads, range.start.0), files, sums })
    }

    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Adds the next row of a thread. Errors are returned by [`Self::finish`].
    #[inline]
    pub(crate) fn add(&mut self, row: &sweep::Row) {
        let Self { levels, files, sums } = self;
        sums.add(row.thread, row.activity.state, (row.start, row.end));
        let span = (row.start.0, row.end.0);
        levels.add(row.thread, row.activity.state, span, &mut |level, row| files[level].push(row));
    }

    /// Adds all rows that `emit` emits, in their order; where there is a spare thread, on that, while `emit`
    /// makes the next.
    pub(crate) fn add_all<T>(
        &mut self,
        emit: impl FnOnce(&mut dyn FnMut(sweep::Row)) -> T,
        has_spare_thread: bool,
    ) -> T {
        if !has_spare_thread {
            return emit(&mut |row| self.add(&row));
        }
        self.add_on_own_thread(emit).unwrap_or_else(|emit| emit(&mut |row| self.add(&row)))
    }

    /// As [`Self::add_all`], on another thread; returns `emit` where none can be started.
    fn add_on_own_thread<T, E: FnOnce(&mut dyn FnMut(sweep::Row)) -> T>(&mut self, emit: E) -> Result<T, E> {
        thread::scope(|scope| {
            let (sender, receiver) = sync_channel::<Vec<sweep::Row>>(MAX_WAITING_BATCHES);
            let add = move || receiver.into_iter().flatten().for_each(|row| self.add(&row));
            if thread::Builder::new().spawn_scoped(scope, add).is_err() {
                return Err(emit);
            }
            let mut rows = Vec::with_capacity(ROWS_PER_BATCH);
            // A thread that panicked takes no more, and makes the scope panic.
            let emitted = emit(&mut |row| {
                rows.push(row);
                if rows.len() >= ROWS_PER_BATCH {
                    let full = std::mem::replace(&mut rows, Vec::with_capacity(ROWS_PER_BATCH));
                    let _ = sender.send(full);
                }
            });
            let _ = sender.send(rows);
            Ok(emitted)
        })
    }

    /// Finishes the files.
    pub(crate) fn finish(self) -> Result<Vec<TableEntry>, StoreError> {
        let Self { levels, mut files, sums } = self;
        levels.finish(&mut |level, row| files[level].push(row));
        let levels: Vec<_> = files.into_iter().map(RowsFile::finish).collect::<Result<_, _>>()?;
        Ok(levels.into_iter().chain(sums.finish()?).collect())
    }
}

/// The order of spans with equal starts: that of [`crate::merge`].
fn order_of(input: &SweepSpan) -> u8 {
    match input {
        SweepSpan::Slice { .. } => 0,
        SweepSpan::OffCpu { .. } => 1,
        SweepSpan::SchedLatency { .. } => 2,
        SweepSpan::HalfCall { .. } => 3,
        SweepSpan::OpenCall { .. } => 4,
        SweepSpan::Call { .. } => 5,
        SweepSpan::PageFault { .. } => 6,
        SweepSpan::Interrupt { .. } => 7,
    }
}

/// Adds the rows of a table that overlap a window and for which a condition holds, as the sweep needs them,
/// with their starts.
fn read<R: SpanRow>(
    spans: &SpanTables,
    window: Window<RawNs>,
    condition: impl Fn(&R::View, usize) -> bool,
    to: &mut Vec<(RawNs, SweepSpan)>,
) -> Result<(), StoreError>
where
    SweepSpan: From<R>,
{
    R::batches(spans).overlapping(window, |view, row| {
        if condition(view, row) {
            let row = R::get(view, row);
            to.push((row.start(), row.into()));
        }
        Ok(())
    })
}

/// The states of some threads (sorted) in a window, cut to it, by thread and start. `lives`: of all threads
/// of the host.
pub(crate) fn rows(
    spans: &SpanTables,
    lives: &[Life],
    threads: &[ThreadRow],
    window: Window<RawNs>,
) -> Result<Vec<StateRow>, StoreError> {
    let Window { start: from, end: to } = window;
    let numbering = Numbering::new(spans.thread_names(), threads);
    let mut inputs: Vec<(RawNs, SweepSpan)> = Vec::new();
    let has = |thread: &PrimitiveArray<UInt32Type>, row: usize| numbering.has(thread.values()[row]);
    read::<SliceRow>(spans, window, |view, row| has(&view.thread, row), &mut inputs)?;
    let cpu_of = |(_, span): &(RawNs, SweepSpan)| match span {
        SweepSpan::Slice { cpu, .. } => Some(*cpu),
        _ => None,
    };
    let cpus: BTreeSet<u32> = inputs.iter().filter_map(cpu_of).collect();
    read::<OffRow>(spans, window, |view, row| has(&view.thread, row), &mut inputs)?;
    read::<LatencyRow>(spans, window, |view, row| has(&view.thread, row), &mut inputs)?;
    read::<SyscallRow>(spans, window, |view, row| has(&view.thread, row), &mut inputs)?;
    read::<PageFaultRow>(spans, window, |view, row| has(&view.thread, row), &mut inputs)?;
    read::<IrqRow>(spans, window, |view, row| cpus.contains(&view.cpu.values()[row]), &mut inputs)?;
    read::<SoftirqRow>(spans, window, |view, row| cpus.contains(&view.cpu.values()[row]), &mut inputs)?;
    let local: Vec<Life> = threads
        .iter()
        .map(|&thread| {
            let unheard = Life { start: to, end: from, new_until: None, died: None, mode: Mode::Unknown };
            let life = lives.get(thread.index()).copied().unwrap_or(unheard);
            let is_new = spans.woken(thread).is_none_or(|woken| woken >= from);
            let new_until = life.new_until.filter(|_| is_new);
            Life { start: life.start.max(from), end: life.end.min(to), new_until, ..life }
        })
        .collect();
    spans.open_calls.overlapping(window, |view, row| {
        if let Ok(index) = threads.binary_search(&ThreadRow(view.thread.values()[row])) {
            let row = OpenCallRow { thread: ThreadRow(index as u32), ..OpenCallRow::get(view, row) };
            inputs.push((row.from, row.into()));
        }
        Ok(())
    })?;
    // Numbers are moved, not spans.
    let key = |(index, (start, input)): (usize, &(RawNs, SweepSpan))| (*start, order_of(input), index as u32);
    let mut order: Vec<(RawNs, u8, u32)> = inputs.iter().enumerate().map(key).collect();
    order.sort();
    let mut sweep = Sweep::new(&local);
    // By thread: those of each are emitted in the order of time.
    let mut out: Vec<Vec<sweep::Row>> = vec![Vec::new(); threads.len()];
    let mut put = |row: sweep::Row| out[row.thread as usize].push(row);
    for (at, _, index) in order {
        let mut input = inputs[index as usize].1;
        if let SweepSpan::SchedLatency { waker, .. } = &mut input {
            *waker = waker.and_then(|waker| spans.thread(ThreadName(waker))).map(|thread| thread.0);
        }
        sweep.begin(at, input, |name| numbering.index(name.0), &mut put);
    }
    sweep.finish(to, &mut put);
    let names = spans.call_names()?;
    let mut rows: Vec<StateRow> = Vec::with_capacity(out.iter().map(Vec::len).sum());
    let mut last: Option<sweep::Row> = None;
    for row in out.into_iter().flatten() {
        if let (Some(last), Some(shown)) = (&mut last, rows.last_mut())
            && (last.thread, last.end, last.activity) == (row.thread, row.start, row.activity)
        {
            (last.end, shown.end) = (row.end, row.end);
            continue;
        }
        let sweep::Row { thread, start, end, activity } = row;
        let name = |call: sweep::Call| {
            if call == sweep::Call::PAGE_FAULT {
                return Name::const_new(PAGE_FAULT);
            }
            call.name.and_then(|name| names.get(name.0 as usize)).cloned().unwrap_or_default()
        };
        rows.push(StateRow {
            thread: threads[thread as usize],
            state: activity.state,
            start,
            end,
            cpu: activity.cpu,
            syscall: activity.call.map(name),
            fd: activity.call.and_then(|call| call.fd),
            waker: activity.waker.map(ThreadRow),
        });
        last = Some(row);
    }
    Ok(rows)
}

/// As [`rows`], with no row shorter than a pixel except where a thread begins or ends: of each thread, about
/// `pixels` rows at most.
pub(crate) fn zoomed(
    spans: &SpanTables,
    zoom: &[Batches<ZoomRow>],
    lives: &[Life],
    threads: &[ThreadRow],
    (window, pixels): (Window<RawNs>, u32),
) -> Result<Vec<StateRow>, StoreError> {
    let pixel = (window.end.saturating_since(window.start) / i64::from(pixels.max(1))).max(1);
    let level = (0..zoom.len()).rev().find(|&level| bucket_ns(level) <= pixel);
    let rows = match level {
        Some(level) => of_level(&zoom[level], threads, window)?,
        None => rows(spans, lives, threads, window)?,
    };
    Ok(to_pixels(&rows, window.start, pixel))
}

/// Rows of some threads that overlap a window, cut to it, by thread and start.
fn of_level(
    level: &Batches<ZoomRow>,
    threads: &[ThreadRow],
    window: Window<RawNs>,
) -> Result<Vec<StateRow>, StoreError> {
    let mut rows = Vec::new();
    level.overlapping(window, |view, row| {
        let thread = ThreadRow(view.thread.values()[row]);
        if threads.binary_search(&thread).is_ok() {
            rows.push(StateRow {
                thread,
                state: Cell::get(&view.state, row),
                start: RawNs(view.start.values()[row]).max(window.start),
                end: RawNs(view.end.values()[row]).min(window.end),
                cpu: None,
                syscall: None,
                fd: None,
                waker: None,
            });
        }
        Ok(())
    })?;
    rows.sort_by_key(|row| (row.thread, row.start));
    Ok(rows)
}

/// Combines rows that are shorter than a pixel with others of their pixel: the state that fills most of it
/// remains, and following rows of the same state are joined to it.
fn to_pixels(rows: &[StateRow], origin: RawNs, pixel: i64) -> Vec<StateRow> {
    let mut out: Vec<StateRow> = Vec::new();
    let mut put = |row: StateRow| match out.last_mut() {
        Some(last) if last.thread == row.thread && last.state == row.state && last.end == row.start => {
            last.end = row.end;
            // Several become one: values that differ between them are dropped.
            (last.cpu, last.syscall, last.fd, last.waker) = (
                last.cpu.filter(|cpu| row.cpu == Some(*cpu)),
                last.syscall.take().filter(|call| row.syscall.as_ref() == Some(call)),
                last.fd.filter(|fd| row.fd == Some(*fd)),
                last.waker.filter(|waker| row.waker == Some(*waker)),
            );
        }
        _ => out.push(row),
    };
    let mut at = 0;
    while let Some(first) = rows.get(at) {
        if first.end - first.start >= pixel {
            put(first.clone());
            at += 1;
            continue;
        }
        let border = origin + ((first.start - origin) / pixel + 1) * pixel;
        let here = rows[at..].iter().take_while(|row| {
            row.thread == first.thread && row.start < border && row.end - row.start < pixel
        });
        let here = &rows[at..at + here.count()];
        let mut filled = [0_i64; State::ALL.len()];
        for row in here {
            filled[row.state as usize] += row.end - row.start;
        }
        let state =
            State::ALL.into_iter().max_by_key(|&state| filled[state as usize]).unwrap_or(State::Unknown);
        let like = here.iter().filter(|row| row.state == state).max_by_key(|row| row.end - row.start);
        let end = here.last().map_or(first.end, |row| row.end);
        put(StateRow { start: first.start, end, ..like.unwrap_or(first).clone() });
        at += here.len();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written of some rows, by the calling thread or by another, and what `emit` returned.
    fn written(rows: u32, fails: bool, has_spare_thread: bool) -> (Result<u32, &'static str>, Vec<Vec<u8>>) {
        const LENGTH: i64 = 70_000;
        let directory = tempfile::tempdir().unwrap();
        let (end, names) = (i64::from(rows) * LENGTH, Arc::new(Names::default()));
        let range = Window::new(RawNs(0), RawNs(end));
        let of = (range, Buckets::new(range, rows.into()));
        let mut levels = LevelsWriter::create(directory.path(), 2, of, &names).unwrap();
        let emit = |put: &mut dyn FnMut(sweep::Row)| {
            for number in 0..rows {
                let begin = i64::from(number) * LENGTH;
                let state = State::ALL[number as usize % 3];
                let activity = sweep::Activity { state, cpu: None, call: None, waker: None };
                let (start, end) = (RawNs(begin), RawNs(begin + LENGTH));
                put(sweep::Row { thread: number % 2, start, end, activity });
            }
            if fails { Err("no more") } else { Ok(rows) }
        };
        let emitted = levels.add_all(emit, has_spare_thread);
        let entries = levels.finish().unwrap();
        let files = entries.iter().map(|it| directory.path().join(format!("{}.arrow", it.name)));
        (emitted, files.map(|file| std::fs::read(file).unwrap()).collect())
    }

    #[test]
    fn another_thread_writes_the_same() {
        let at_once = ROWS_PER_BATCH as u32;
        // More than may wait, and none left over.
        for rows in [1, at_once, at_once + 1, 8 * at_once] {
            for fails in [false, true] {
                let expect = written(rows, fails, false);
                assert_eq!(expect.0, if fails { Err("no more") } else { Ok(rows) });
                assert!(expect == written(rows, fails, true), "{rows} rows, fails: {fails}");
            }
        }
    }
}
