//! Calls with a missing end, from what comes before and after it.
//!
//! Between the end of one call of a thread and the start of the next, the thread is in no call. If the first
//! is an entry without an exit, or the second an exit without an entry, it was in that call for some of the
//! time, or for all of it. That becomes rows: where nothing is missing between the end that was seen and an
//! instant, it is in the call then for sure; else it may be.

use std::path::Path;
use std::sync::Arc;

use isochrone_kernel::Missed;
use isochrone_kernel::calls::WITHOUT_EXIT;
use isochrone_time::{RawNs, Window};

use crate::batches::RowsFile;
use crate::checked::Files;
use crate::error::StoreError;
use crate::manifest::TableEntry;
use crate::merge::{Merge, SweepSpan};
use crate::names::{NameId, NameKind, Names};
use crate::sweep::Call;
use crate::tables::OpenCallRow;
use crate::threads::{ThreadName, ThreadRow};

/// The last event of a thread's calls.
#[derive(Debug, Clone, Copy)]
enum Last {
    /// No call was seen.
    Nothing,
    /// A call ended.
    Ended(RawNs),
    /// A call began, and its end was not seen.
    Open(RawNs, Call),
}

/// Follows the calls of all threads, and writes the table.
#[derive(Debug)]
struct OpenCalls<'m> {
    threads: Vec<Last>,
    range: Window<RawNs>,
    missed: &'m Missed,
    /// [`WITHOUT_EXIT`], as far as they occur: they take no time here.
    without_exit: [Option<NameId>; WITHOUT_EXIT.len()],
    file: RowsFile<OpenCallRow>,
}

/// The host whose table is written.
pub(crate) struct OpenCallsOf<'m> {
    /// Its directory.
    pub(crate) directory: &'m Path,
    /// Its tables of calls.
    pub(crate) files: Files<'m>,
    /// Number of its threads.
    pub(crate) threads: usize,
    /// From the first to the last event.
    pub(crate) range: Window<RawNs>,
    /// When events may be missing.
    pub(crate) missed: &'m Missed,
    /// Its names.
    pub(crate) names: &'m Arc<Names>,
}

/// Writes the table, of calls that are written. `thread_of`: the thread of a number in rows. `O(n log n)` in
/// the calls; memory: that of batches that overlap, and a few bytes for each thread.
pub(crate) fn write_open_calls(
    of: &OpenCallsOf<'_>,
    thread_of: impl Fn(ThreadName) -> Option<ThreadRow>,
) -> Result<TableEntry, StoreError> {
    let file = RowsFile::create(of.directory, of.names)?;
    let without_exit = WITHOUT_EXIT.map(|name| of.names.known(NameKind::Calls, name));
    let threads = vec![Last::Nothing; of.threads];
    let mut calls = OpenCalls { threads, range: of.range, missed: of.missed, without_exit, file };
    let mut merge = Merge::calls(of.files)?;
    while let Some((at, input)) = merge.next()? {
        match input {
            SweepSpan::Call { thread, end, .. } => {
                if let Some(thread) = thread_of(thread) {
                    calls.call(thread, at, end);
                }
            }
            SweepSpan::HalfCall { thread, is_begin, name, fd } => {
                if let Some(thread) = thread_of(thread) {
                    calls.half(thread, at, is_begin, Call { name, fd });
                }
            }
            _ => {}
        }
    }
    calls.finish()
}

impl OpenCalls<'_> {
    /// A call with both ends.
    #[inline]
    fn call(&mut self, thread: ThreadRow, start: RawNs, end: RawNs) {
        if let Last::Open(at, call) = std::mem::replace(&mut self.threads[thread.index()], Last::Ended(end)) {
            self.entered(thread, at, Some(start), call);
        }
    }

    /// An entry without an exit (`is_begin`), or an exit without an entry.
    fn half(&mut self, thread: ThreadRow, at: RawNs, is_begin: bool, call: Call) {
        let ends_at_once = call.name.is_some() && self.without_exit.contains(&call.name);
        let now = if is_begin && !ends_at_once { Last::Open(at, call) } else { Last::Ended(at) };
        match std::mem::replace(&mut self.threads[thread.index()], now) {
            Last::Open(start, before) => {
                self.entered(thread, start, Some(at), before);
                // An entry and an exit on either side of a loss; without one they contradict each other.
                if self.missed.is_between(start, at) && !is_begin {
                    self.exited(thread, Some(at), at, call);
                }
            }
            Last::Nothing if !is_begin => self.exited(thread, None, at, call),
            Last::Ended(before) if !is_begin => self.exited(thread, Some(before), at, call),
            Last::Nothing | Last::Ended(_) => {}
        }
    }

    /// A call that was entered at `start`. `next`: the next event of the thread's calls.
    fn entered(&mut self, thread: ThreadRow, start: RawNs, next: Option<RawNs>, call: Call) {
        // What never returned lasts beyond the last event.
        let until = next.unwrap_or_else(|| self.range.end.saturating_add(1));
        let sure_until = self.missed.sure_until(start, next).unwrap_or(until).min(until);
        let Call { name, fd } = call;
        let row =
            |from, until, is_sure| OpenCallRow { thread, from, until, is_sure, start: Some(start), name, fd };
        self.push(row(start, sure_until, true));
        self.push(row(sure_until, until, false));
    }

    /// A call that returned at `end`. `before`: the last event of the thread's calls.
    fn exited(&mut self, thread: ThreadRow, before: Option<RawNs>, end: RawNs, call: Call) {
        let from = before.unwrap_or(self.range.start);
        let sure_from = self.missed.sure_since(before, end).unwrap_or(from).max(from);
        // In none, until something may be missing.
        let missing = before.and_then(|before| self.missed.first_since(before));
        let from = missing.filter(|&at| at < end).unwrap_or(from);
        let Call { name, fd } = call;
        let row = |from, until, is_sure| OpenCallRow { thread, from, until, is_sure, start: None, name, fd };
        self.push(row(from, sure_from, false));
        self.push(row(sure_from, end, true));
    }

    fn push(&mut self, row: OpenCallRow) {
        if row.from < row.until {
            self.file.push(row);
        }
    }

    /// Finishes the table.
    fn finish(mut self) -> Result<TableEntry, StoreError> {
        for (number, last) in (0..).zip(std::mem::take(&mut self.threads)) {
            if let Last::Open(at, call) = last {
                self.entered(ThreadRow(number), at, None, call);
            }
        }
        self.file.finish()
    }
}
