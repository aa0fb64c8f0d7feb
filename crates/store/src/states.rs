//! States of threads in a window, and zoom levels: the levels are written as the sweep emits rows; what is finer is swept
//! from the spans of the window when requested.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;

use crate::batches::{BatchFile, Batches};
use crate::checked::Files;
use crate::error::StoreError;
use crate::manifest::TableEntry;
use crate::merge::Input;
use crate::names::Names;
use crate::spans::{Numbering, SpanTables};
use crate::state::{State, StateRow};
use crate::sweep::{self, Life, Mode, Sweep};
use crate::table::{Row, Rows};
use crate::tables::{OpenCallRow, ZoomRow};
use crate::zoom::{Levels, Zoomed, bucket_ns, levels};

/// Writes zoom levels.
#[derive(Debug)]
pub(crate) struct LevelsWriter {
    levels: Levels,
    files: Vec<LevelFile>,
    /// The first error.
    error: Option<StoreError>,
}

/// The file of a level.
#[derive(Debug)]
struct LevelFile {
    file: BatchFile<ZoomRow>,
    rows: Rows<ZoomRow>,
}

impl LevelFile {
    fn push(&mut self, it: &Zoomed) -> Result<(), StoreError> {
        let Zoomed { thread, state, begin, end, filled } = *it;
        match self.rows.push(ZoomRow { thread, state: state as u8, begin, end, filled }) {
            Some(full) => self.file.write(&full),
            None => Ok(()),
        }
    }
}

/// Rows that are handed to another thread at once.
const ROWS_AT_ONCE: usize = 4096;
/// Batches of rows that wait for it at most.
const MOST_BATCHES: usize = 4;

/// The name of the table of a level.
fn level_name(level: usize) -> String {
    format!("{}{level}", ZoomRow::TABLE)
}

impl LevelsWriter {
    pub(crate) fn create(
        directory: &Path,
        threads: usize,
        (begin, end): (i64, i64),
        names: &Arc<Names>,
    ) -> Result<Self, StoreError> {
        let count = levels(end.saturating_sub(begin));
        let file = |level| {
            let file = BatchFile::named(directory, &level_name(level), names)?;
            Ok(LevelFile { file, rows: Rows::default() })
        };
        let files = (0..count).map(file).collect::<Result<_, StoreError>>()?;
        Ok(Self { levels: Levels::new(count, threads, begin), files, error: None })
    }

    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Adds the next row of a thread. Errors are returned by [`Self::finish`].
    #[inline]
    pub(crate) fn add(&mut self, row: &sweep::Row) {
        let Self { levels, files, error } = self;
        levels.add(row.thread, row.doing.state, (row.begin, row.end), &mut |level, zoomed| {
            if let Err(wrong) = files[level].push(&zoomed) {
                error.get_or_insert(wrong);
            }
        });
    }

    /// Adds all rows that `emit` emits, in their order; where there is a spare thread, on that, while `emit` makes the next.
    pub(crate) fn add_all<T>(
        &mut self,
        emit: impl FnOnce(&mut dyn FnMut(sweep::Row)) -> T,
        has_spare_thread: bool,
    ) -> T {
        if !has_spare_thread {
            return emit(&mut |row| self.add(&row));
        }
        self.add_apart(emit).unwrap_or_else(|emit| emit(&mut |row| self.add(&row)))
    }

    /// As [`Self::add_all`], on another thread; gives `emit` back where none is to be had.
    fn add_apart<T, E: FnOnce(&mut dyn FnMut(sweep::Row)) -> T>(&mut self, emit: E) -> Result<T, E> {
        thread::scope(|scope| {
            let (sender, receiver) = sync_channel::<Vec<sweep::Row>>(MOST_BATCHES);
            let add = move || receiver.into_iter().flatten().for_each(|row| self.add(&row));
            if thread::Builder::new().spawn_scoped(scope, add).is_err() {
                return Err(emit);
            }
            let mut rows = Vec::with_capacity(ROWS_AT_ONCE);
            // A thread that panicked takes no more, and makes the scope panic.
            let emitted = emit(&mut |row| {
                rows.push(row);
                if rows.len() >= ROWS_AT_ONCE {
                    let full = std::mem::replace(&mut rows, Vec::with_capacity(ROWS_AT_ONCE));
                    let _ = sender.send(full);
                }
            });
            let _ = sender.send(rows);
            Ok(emitted)
        })
    }

    /// Finishes the files.
    pub(crate) fn finish(self) -> Result<Vec<TableEntry>, StoreError> {
        let Self { levels, mut files, mut error } = self;
        levels.finish(&mut |level, zoomed| {
            if let Err(wrong) = files[level].push(&zoomed) {
                error.get_or_insert(wrong);
            }
        });
        if let Some(error) = error {
            return Err(error);
        }
        let finish = |LevelFile { mut file, mut rows }: LevelFile| {
            for rows in rows.take() {
                file.write(&rows)?;
            }
            file.finish()
        };
        files.into_iter().map(finish).collect()
    }
}

/// Opens the tables of all levels.
pub(crate) fn open_levels(files: Files<'_>, levels: usize) -> Result<Vec<Batches<ZoomRow>>, StoreError> {
    (0..levels).map(|level| Batches::named(files, &level_name(level))).collect()
}

/// The order of spans with equal begins: that of [`crate::merge`].
fn order_of(input: &Input) -> u8 {
    match input {
        Input::Slice { .. } => 0,
        Input::OffCpu { .. } => 1,
        Input::SchedLatency { .. } => 2,
        Input::HalfCall { .. } => 3,
        Input::OpenCall { .. } => 4,
        Input::Call { .. } => 5,
        Input::Interrupt { .. } => 6,
    }
}

/// The states of some threads (sorted) in a window, cut to it, by thread and begin. `lives`: of all threads of the host.
pub(crate) fn rows(
    spans: &SpanTables,
    lives: &[Life],
    threads: &[u32],
    (from, to): (i64, i64),
) -> Result<Vec<StateRow>, StoreError> {
    let window = (from, to);
    let numbering = Numbering::new(spans.thread_names(), threads);
    let mut inputs: Vec<(i64, Input)> = Vec::new();
    let mut cpus = Vec::new();
    spans.slices.overlapping(window, |view, row| {
        if numbering.has(view.thread.values()[row]) {
            inputs.push((view.begin.values()[row], view.input(row)));
            cpus.push(view.cpu.values()[row]);
        }
        Ok(())
    })?;
    cpus.sort_unstable();
    cpus.dedup();
    macro_rules! of_threads {
        ($($table:ident)*) => {$(
            spans.$table.overlapping(window, |view, row| {
                if numbering.has(view.thread.values()[row]) {
                    inputs.push((view.begin.values()[row], view.input(row)));
                }
                Ok(())
            })?;
        )*};
    }
    of_threads!(off latencies syscalls);
    macro_rules! of_cpus {
        ($($table:ident)*) => {$(
            spans.$table.overlapping(window, |view, row| {
                if cpus.binary_search(&view.cpu.values()[row]).is_ok() {
                    inputs.push((view.begin.values()[row], view.input(row)));
                }
                Ok(())
            })?;
        )*};
    }
    of_cpus!(irqs softirqs);
    let local: Vec<Life> = threads
        .iter()
        .map(|&thread| {
            let unheard = Life { begin: to, end: from, new_until: None, died: None, mode: Mode::Unknown };
            let life = lives.get(thread as usize).copied().unwrap_or(unheard);
            let is_new = spans.woken(thread).is_none_or(|woken| woken >= from);
            let new_until = life.new_until.filter(|_| is_new);
            Life { begin: life.begin.max(from), end: life.end.min(to), new_until, ..life }
        })
        .collect();
    spans.open_calls.overlapping(window, |view, row| {
        if let Ok(place) = threads.binary_search(&view.thread.values()[row]) {
            let row = OpenCallRow { thread: place as u32, ..OpenCallRow::get(view, row) };
            inputs.push((row.from, row.input()));
        }
        Ok(())
    })?;
    inputs.sort_by_key(|(begin, input)| (*begin, order_of(input)));
    let mut sweep = Sweep::new(&local);
    let mut out: Vec<sweep::Row> = Vec::new();
    let mut put = |row| out.push(row);
    for (at, mut input) in inputs {
        if let Input::SchedLatency { waker, .. } = &mut input {
            *waker = waker.and_then(|waker| spans.thread(waker));
        }
        sweep.begin(at, input, |name| numbering.place(name), &mut put);
    }
    sweep.finish(to, &mut put);
    out.sort_by_key(|row| (row.thread, row.begin));
    let names = spans.call_names()?;
    let mut rows: Vec<StateRow> = Vec::new();
    let mut last: Option<sweep::Row> = None;
    for row in out {
        if let (Some(last), Some(shown)) = (&mut last, rows.last_mut())
            && (last.thread, last.end, last.doing) == (row.thread, row.begin, row.doing)
        {
            (last.end, shown.end) = (row.end, row.end);
            continue;
        }
        let sweep::Row { thread, begin, end, doing } = row;
        let name = |call: sweep::Call| {
            call.name.and_then(|name| names.get(name.0 as usize)).cloned().unwrap_or_default()
        };
        rows.push(StateRow {
            thread: threads[thread as usize],
            state: doing.state,
            begin,
            end,
            cpu: doing.cpu,
            syscall: doing.call.map(name),
            fd: doing.call.and_then(|call| call.fd),
            waker: doing.waker,
        });
        last = Some(row);
    }
    Ok(rows)
}

/// As [`rows`], with no row shorter than a pixel except where a thread begins or ends: of each thread, about `pixels` rows at
/// most.
pub(crate) fn zoomed(
    spans: &SpanTables,
    zoom: &[Batches<ZoomRow>],
    lives: &[Life],
    threads: &[u32],
    (window, pixels): ((i64, i64), u32),
) -> Result<Vec<StateRow>, StoreError> {
    let pixel = (window.1.saturating_sub(window.0) / i64::from(pixels.max(1))).max(1);
    let level = (0..zoom.len()).rev().find(|&level| bucket_ns(level) <= pixel);
    let rows = match level {
        Some(level) => of_level(&zoom[level], threads, window)?,
        None => rows(spans, lives, threads, window)?,
    };
    Ok(to_pixels(&rows, window.0, pixel))
}

/// Rows of some threads that overlap a window, cut to it, by thread and begin.
fn of_level(
    level: &Batches<ZoomRow>,
    threads: &[u32],
    (from, to): (i64, i64),
) -> Result<Vec<StateRow>, StoreError> {
    let mut rows = Vec::new();
    level.overlapping((from, to), |view, row| {
        let thread = view.thread.values()[row];
        if threads.binary_search(&thread).is_ok() {
            rows.push(StateRow {
                thread,
                state: State::of(view.state.values()[row]).unwrap_or(State::Unknown),
                begin: view.begin.values()[row].max(from),
                end: view.end.values()[row].min(to),
                cpu: None,
                syscall: None,
                fd: None,
                waker: None,
            });
        }
        Ok(())
    })?;
    rows.sort_by_key(|row| (row.thread, row.begin));
    Ok(rows)
}

/// Combines rows that are shorter than a pixel with others of their pixel: the state that fills most of it remains, and
/// following rows of the same state are joined to it.
fn to_pixels(rows: &[StateRow], origin: i64, pixel: i64) -> Vec<StateRow> {
    let mut out: Vec<StateRow> = Vec::new();
    let mut put = |row: StateRow| match out.last_mut() {
        Some(last) if last.thread == row.thread && last.state == row.state && last.end == row.begin => {
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
        if first.end - first.begin >= pixel {
            put(first.clone());
            at += 1;
            continue;
        }
        let border = origin + ((first.begin - origin) / pixel + 1) * pixel;
        let here = rows[at..].iter().take_while(|row| {
            row.thread == first.thread && row.begin < border && row.end - row.begin < pixel
        });
        let here = &rows[at..at + here.count()];
        let mut filled = [0_i64; State::ALL.len()];
        for row in here {
            filled[row.state as usize] += row.end - row.begin;
        }
        let state =
            State::ALL.into_iter().max_by_key(|&state| filled[state as usize]).unwrap_or(State::Unknown);
        let like = here.iter().filter(|row| row.state == state).max_by_key(|row| row.end - row.begin);
        let end = here.last().map_or(first.end, |row| row.end);
        put(StateRow { begin: first.begin, end, ..like.unwrap_or(first).clone() });
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
        let mut levels = LevelsWriter::create(directory.path(), 2, (0, end), &names).unwrap();
        let emit = |put: &mut dyn FnMut(sweep::Row)| {
            for number in 0..rows {
                let begin = i64::from(number) * LENGTH;
                let state = State::ALL[number as usize % 3];
                let doing = sweep::Doing { state, cpu: None, call: None, waker: None };
                put(sweep::Row { thread: number % 2, begin, end: begin + LENGTH, doing });
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
        let at_once = ROWS_AT_ONCE as u32;
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
