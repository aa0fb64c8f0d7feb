//! The table of states and its zoom levels: written as the sweep gives rows, read by thread and time.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt8Type, UInt32Type};
use arrow_array::{Array, RecordBatch};

use crate::batches::{BatchFile, Batches};
use crate::error::StoreError;
use crate::host_writer::write;
use crate::manifest::TableEntry;
use crate::state::{State, StateRow};
use crate::sweep::Row;
use crate::table::{Cell, Rows};
use crate::tables::{LEVELS, STATES};
use crate::writer::BATCH_ROWS;
use crate::zoom::{Level, Zoomed, bucket_ns, levels};

/// The column `thread`, by which rows of a batch are sorted before their begin.
const BY_THREAD: Option<usize> = Some(0);

/// Writes states and their zoom levels.
#[derive(Debug)]
pub(crate) struct StatesWriter {
    file: BatchFile,
    rows: Rows,
    levels: Vec<(Level, BatchFile, Rows)>,
}

impl StatesWriter {
    pub(crate) fn create(
        directory: &Path,
        threads: usize,
        (begin, end): (i64, i64),
    ) -> Result<Self, StoreError> {
        let count = levels(end.saturating_sub(begin), LEVELS.len());
        let level = |(number, layout)| {
            let file = BatchFile::create(directory, layout)?;
            Ok((Level::new(number, threads, begin), file, Rows::new(layout)))
        };
        Ok(Self {
            file: BatchFile::create(directory, &STATES)?,
            rows: Rows::new(&STATES),
            levels: LEVELS.iter().enumerate().take(count).map(level).collect::<Result<_, StoreError>>()?,
        })
    }

    pub(crate) fn levels(&self) -> usize {
        self.levels.len()
    }

    /// Adds the next row of a thread. `names`: of calls, by number.
    pub(crate) fn add(&mut self, row: &Row, names: &[String]) -> Result<(), StoreError> {
        let Row { thread, begin, end, doing } = *row;
        let call = doing.call.and_then(|call| names.get(call as usize)).map(String::as_str);
        self.rows.push([
            Cell::from(thread),
            (doing.state as u8).into(),
            begin.into(),
            end.into(),
            doing.cpu.into(),
            call.into(),
            doing.fd.into(),
            doing.waker.into(),
        ]);
        if self.rows.len() >= BATCH_ROWS {
            write(&mut self.rows, &mut self.file, BY_THREAD)?;
        }
        for (level, file, rows) in &mut self.levels {
            level.add(row, &mut |zoomed| push(rows, &zoomed));
            if rows.len() >= BATCH_ROWS {
                write(rows, file, BY_THREAD)?;
            }
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Vec<TableEntry>, StoreError> {
        write(&mut self.rows, &mut self.file, BY_THREAD)?;
        let mut tables = vec![self.file.finish()?];
        for (level, mut file, mut rows) in self.levels {
            level.finish(&mut |zoomed| push(&mut rows, &zoomed));
            write(&mut rows, &mut file, BY_THREAD)?;
            tables.push(file.finish()?);
        }
        Ok(tables)
    }
}

fn push(rows: &mut Rows, it: &Zoomed) {
    rows.push([
        Cell::from(it.thread),
        (it.state as u8).into(),
        it.begin.into(),
        it.end.into(),
        it.filled.into(),
    ]);
}

/// States and their zoom levels, to be read.
#[derive(Debug)]
pub(crate) struct States {
    states: Batches,
    levels: Vec<Batches>,
}

impl States {
    pub(crate) fn open(directory: &Path, levels: usize) -> Result<Self, StoreError> {
        let levels = LEVELS.iter().take(levels).map(|layout| Batches::open(directory, layout));
        Ok(Self { states: Batches::open(directory, &STATES)?, levels: levels.collect::<Result<_, _>>()? })
    }

    /// What some threads (sorted) do in a window, cut to it, by thread and begin.
    pub(crate) fn rows(&self, threads: &[u32], window: (i64, i64)) -> Result<Vec<StateRow>, StoreError> {
        let mut rows = collect(&self.states, threads, window, |batch, row| {
            let number = |place: usize| {
                let column = batch.column(place).as_primitive::<UInt32Type>();
                column.is_valid(row).then(|| column.value(row))
            };
            let (syscall, fd) =
                (batch.column(5).as_string::<i32>(), batch.column(6).as_primitive::<Int32Type>());
            StateRow {
                cpu: number(4),
                syscall: syscall.is_valid(row).then(|| syscall.value(row).to_owned()),
                fd: fd.is_valid(row).then(|| fd.value(row)),
                waker: number(7),
                ..plain(batch, row)
            }
        })?;
        cut(&mut rows, window);
        Ok(rows)
    }

    /// As [`Self::rows`], with no row shorter than a pixel but where a thread begins or ends: of each thread, about `pixels` rows at most.
    pub(crate) fn zoomed(
        &self,
        threads: &[u32],
        window: (i64, i64),
        pixels: u32,
    ) -> Result<Vec<StateRow>, StoreError> {
        let pixel = (window.1.saturating_sub(window.0) / i64::from(pixels.max(1))).max(1);
        let level = (0..self.levels.len()).rev().find(|&level| bucket_ns(level) <= pixel);
        let rows = match level {
            Some(level) => {
                let mut rows = collect(&self.levels[level], threads, window, plain)?;
                cut(&mut rows, window);
                rows
            }
            None => self.rows(threads, window)?,
        };
        Ok(to_pixels(&rows, window.0, pixel))
    }
}

/// The columns that all levels have.
fn plain(batch: &RecordBatch, row: usize) -> StateRow {
    let time = |place: usize| batch.column(place).as_primitive::<Int64Type>().value(row);
    StateRow {
        thread: batch.column(0).as_primitive::<UInt32Type>().value(row),
        state: State::of(batch.column(1).as_primitive::<UInt8Type>().value(row)).unwrap_or(State::Unknown),
        begin: time(2),
        end: time(3),
        cpu: None,
        syscall: None,
        fd: None,
        waker: None,
    }
}

/// Rows of some threads that overlap a window, by thread and begin. Batches are sorted by thread and begin; those that do not overlap the
/// window are not read.
fn collect(
    batches: &Batches,
    threads: &[u32],
    (from, to): (i64, i64),
    row_of: impl Fn(&RecordBatch, usize) -> StateRow,
) -> Result<Vec<StateRow>, StoreError> {
    let mut rows = Vec::new();
    for (number, &(begin, end)) in batches.times().iter().enumerate() {
        if begin >= to || end <= from {
            continue;
        }
        let batch = batches.read(number)?;
        let thread = batch.column(0).as_primitive::<UInt32Type>().values();
        let begins = batch.column(2).as_primitive::<Int64Type>().values();
        let ends = batch.column(3).as_primitive::<Int64Type>().values();
        for wanted in threads {
            let first = thread.partition_point(|thread| thread < wanted);
            let last = first + thread[first..].partition_point(|thread| thread == wanted);
            let first = first + ends[first..last].partition_point(|&end| end <= from);
            let last = first + begins[first..last].partition_point(|&begin| begin < to);
            rows.extend((first..last).map(|row| row_of(&batch, row)));
        }
    }
    rows.sort_by_key(|row| (row.thread, row.begin));
    Ok(rows)
}

fn cut(rows: &mut [StateRow], (from, to): (i64, i64)) {
    for row in rows {
        (row.begin, row.end) = (row.begin.max(from), row.end.min(to));
    }
}

/// Puts rows that are shorter than a pixel together with others of their pixel: the state that fills most of it stays, and what
/// follows it with the same state goes with it.
fn to_pixels(rows: &[StateRow], origin: i64, pixel: i64) -> Vec<StateRow> {
    let mut out: Vec<StateRow> = Vec::new();
    let mut put = |row: StateRow| match out.last_mut() {
        Some(last) if last.thread == row.thread && last.state == row.state && last.end == row.begin => {
            last.end = row.end;
            // Several are one now: what only one of them was is not true of both.
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
