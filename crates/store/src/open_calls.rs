//! Calls of which an end is missing: the longest time that each can have lasted, from what comes before and after it.
//!
//! Between the end of one call of a thread and the begin of the next, the thread is in no call. If the first is an entry
//! without an exit, or the second an exit without an entry, it was in that call for some of the time, or for all of it: that
//! becomes a row.

use std::path::Path;
use std::sync::Arc;

use crate::batches::BatchFile;
use crate::error::StoreError;
use crate::manifest::TableEntry;
use crate::names::Names;
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
pub(crate) struct OpenCalls {
    threads: Vec<Last>,
    range: (i64, i64),
    rows: Rows<OpenCallRow>,
    file: BatchFile<OpenCallRow>,
}

impl OpenCalls {
    pub(crate) fn create(
        directory: &Path,
        threads: usize,
        range: (i64, i64),
        names: &Arc<Names>,
    ) -> Result<Self, StoreError> {
        let file = BatchFile::create(directory, names)?;
        Ok(Self { threads: vec![Last::Nothing; threads], range, rows: Rows::default(), file })
    }

    /// A call with both ends.
    #[inline]
    pub(crate) fn call(&mut self, thread: Option<u32>, begin: i64, end: i64) -> Result<(), StoreError> {
        let Some(number) = thread else { return Ok(()) };
        match std::mem::replace(&mut self.threads[number as usize], Last::Ended(end)) {
            Last::Open(at, call) => self.push(open(number, at, begin, false, call)),
            Last::Nothing | Last::Ended(_) => Ok(()),
        }
    }

    /// An entry without an exit (`is_begin`), or an exit without an entry.
    pub(crate) fn half(
        &mut self,
        thread: Option<u32>,
        at: i64,
        is_begin: bool,
        call: Call,
    ) -> Result<(), StoreError> {
        let Some(number) = thread else { return Ok(()) };
        let now = if is_begin { Last::Open(at, call) } else { Last::Ended(at) };
        let row = match std::mem::replace(&mut self.threads[number as usize], now) {
            // An entry and an exit on either side of a loss.
            Last::Open(begin, before) => {
                open(number, begin, at, !is_begin && before.name == call.name, before)
            }
            Last::Nothing if !is_begin => {
                let from = self.range.0;
                OpenCallRow { begin: None, ..open(number, from, at, true, call) }
            }
            Last::Ended(from) if !is_begin => {
                OpenCallRow { begin: None, ..open(number, from, at, false, call) }
            }
            Last::Nothing | Last::Ended(_) => return Ok(()),
        };
        self.push(row)
    }

    fn push(&mut self, row: OpenCallRow) -> Result<(), StoreError> {
        match self.rows.push(row) {
            Some(full) => self.file.write(&full),
            None => Ok(()),
        }
    }

    /// Finishes the table: calls that never returned last beyond the last event.
    pub(crate) fn finish(mut self) -> Result<TableEntry, StoreError> {
        let end = self.range.1.saturating_add(1);
        for (number, last) in (0..).zip(std::mem::take(&mut self.threads)) {
            if let Last::Open(at, call) = last {
                self.push(open(number, at, end, true, call))?;
            }
        }
        for rows in self.rows.take() {
            self.file.write(&rows)?;
        }
        self.file.finish()
    }
}

/// The row of a call that began at `from`.
fn open(thread: u32, from: i64, until: i64, is_sure: bool, call: Call) -> OpenCallRow {
    OpenCallRow { thread, from, until, is_sure, begin: Some(from), name: call.name, fd: call.fd }
}
