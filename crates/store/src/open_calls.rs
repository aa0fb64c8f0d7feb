//! Calls of which an end is missing, from what comes before and after it.
//!
//! Between the end of one call of a thread and the begin of the next, the thread is in no call. If the first is an entry
//! without an exit, or the second an exit without an entry, it was in that call for some of the time, or for all of it. That
//! becomes rows: where nothing is missing between the end that was seen and an instant, it is in the call then for sure; else it may be.

use std::path::Path;
use std::sync::Arc;

use isochrone_kernel::Missed;
use isochrone_kernel::calls::WITHOUT_EXIT;

use crate::batches::BatchFile;
use crate::cell::NameId;
use crate::checked::Files;
use crate::error::StoreError;
use crate::manifest::TableEntry;
use crate::merge::{Input, Merge};
use crate::names::{Names, Vocabulary};
use crate::sweep::Call;
use crate::table::Rows;
use crate::tables::OpenCallRow;

/// The last event of a thread's calls.
#[derive(Debug, Clone, Copy)]
enum Last {
    /// No call was seen.
    Nothing,
    /// A call ended.
    Ended(i64),
    /// A call began, and its end was not seen.
    Open(i64, Call),
}

/// Follows the calls of all threads, and writes the table.
#[derive(Debug)]
struct OpenCalls<'m> {
    threads: Vec<Last>,
    range: (i64, i64),
    missed: &'m Missed,
    /// [`WITHOUT_EXIT`], as far as they occur: they take no time here.
    without_exit: [Option<NameId>; WITHOUT_EXIT.len()],
    rows: Rows<OpenCallRow>,
    file: BatchFile<OpenCallRow>,
}

/// Writes the table, of calls that are written. `threads`: how many there are, and the number of each by that in rows; `range`: the first and
/// the last event. `O(n log n)` in the calls; memory: that of batches that overlap, and a few bytes for each thread.
pub(crate) fn write_open_calls(
    (directory, files): (&Path, Files<'_>),
    (threads, thread_of): (usize, impl Fn(u32) -> Option<u32>),
    range: (i64, i64),
    missed: &Missed,
    names: &Arc<Names>,
) -> Result<TableEntry, StoreError> {
    let file = BatchFile::create(directory, names)?;
    let without_exit = WITHOUT_EXIT.map(|name| names.known(Vocabulary::Calls, name));
    let (threads, rows) = (vec![Last::Nothing; threads], Rows::default());
    let mut calls = OpenCalls { threads, range, missed, without_exit, rows, file };
    let mut merge = Merge::calls(files)?;
    while let Some((at, input)) = merge.next()? {
        match input {
            Input::Call { thread, end, .. } => calls.call(thread_of(thread), at, end)?,
            Input::HalfCall { thread, is_begin, name, fd } => {
                calls.half(thread_of(thread), at, is_begin, Call { name, fd })?;
            }
            _ => {}
        }
    }
    calls.finish()
}

impl OpenCalls<'_> {
    /// A call with both ends.
    #[inline]
    fn call(&mut self, thread: Option<u32>, begin: i64, end: i64) -> Result<(), StoreError> {
        let Some(number) = thread else { return Ok(()) };
        match std::mem::replace(&mut self.threads[number as usize], Last::Ended(end)) {
            Last::Open(at, call) => self.entered(number, at, Some(begin), call),
            Last::Nothing | Last::Ended(_) => Ok(()),
        }
    }

    /// An entry without an exit (`is_begin`), or an exit without an entry.
    fn half(&mut self, thread: Option<u32>, at: i64, is_begin: bool, call: Call) -> Result<(), StoreError> {
        let Some(number) = thread else { return Ok(()) };
        let ends_at_once = call.name.is_some() && self.without_exit.contains(&call.name);
        let now = if is_begin && !ends_at_once { Last::Open(at, call) } else { Last::Ended(at) };
        match std::mem::replace(&mut self.threads[number as usize], now) {
            Last::Open(begin, before) => {
                self.entered(number, begin, Some(at), before)?;
                // An entry and an exit on either side of a loss; without one they contradict each other.
                match self.missed.is_between(begin, at) && !is_begin {
                    true => self.exited(number, Some(at), at, call),
                    false => Ok(()),
                }
            }
            Last::Nothing if !is_begin => self.exited(number, None, at, call),
            Last::Ended(before) if !is_begin => self.exited(number, Some(before), at, call),
            Last::Nothing | Last::Ended(_) => Ok(()),
        }
    }

    /// A call that was entered at `begin`. `next`: the next event of the thread's calls.
    fn entered(&mut self, thread: u32, begin: i64, next: Option<i64>, call: Call) -> Result<(), StoreError> {
        // What never returned lasts beyond the last event.
        let until = next.unwrap_or_else(|| self.range.1.saturating_add(1));
        let sure_until = self.missed.sure_until(begin, next).unwrap_or(until).min(until);
        let row = OpenCallRow {
            thread,
            from: begin,
            until,
            is_sure: false,
            begin: Some(begin),
            name: call.name,
            fd: call.fd,
        };
        self.push(OpenCallRow { until: sure_until, is_sure: true, ..row.clone() })?;
        self.push(OpenCallRow { from: sure_until, ..row })
    }

    /// A call that returned at `end`. `before`: the last event of the thread's calls.
    fn exited(&mut self, thread: u32, before: Option<i64>, end: i64, call: Call) -> Result<(), StoreError> {
        let from = before.unwrap_or(self.range.0);
        let sure_from = self.missed.sure_since(before, end).unwrap_or(from).max(from);
        // In none, until something may be missing.
        let from =
            before.and_then(|before| self.missed.first_since(before)).filter(|&at| at < end).unwrap_or(from);
        let row = OpenCallRow {
            thread,
            from,
            until: end,
            is_sure: false,
            begin: None,
            name: call.name,
            fd: call.fd,
        };
        self.push(OpenCallRow { until: sure_from, ..row.clone() })?;
        self.push(OpenCallRow { from: sure_from, is_sure: true, ..row })
    }

    fn push(&mut self, row: OpenCallRow) -> Result<(), StoreError> {
        if row.from >= row.until {
            return Ok(());
        }
        match self.rows.push(row) {
            Some(full) => self.file.write(&full),
            None => Ok(()),
        }
    }

    /// Finishes the table.
    fn finish(mut self) -> Result<TableEntry, StoreError> {
        for (number, last) in (0..).zip(std::mem::take(&mut self.threads)) {
            if let Last::Open(at, call) = last {
                self.entered(number, at, None, call)?;
            }
        }
        for rows in self.rows.take() {
            self.file.write(&rows)?;
        }
        self.file.finish()
    }
}
