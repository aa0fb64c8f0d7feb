//! The tables of a host that queries read, opened.

use std::ops::Deref;

use isochrone_kernel::Name;
use isochrone_time::RawNs;

use crate::batches::Batches;
use crate::checked::Files;
use crate::error::StoreError;
use crate::tables::{CommRow, OpenCallRow, SpanBatches, ThreadNameRow, ThreadTableRow};
use crate::threads::{ThreadInfo, ThreadName, ThreadRow};

/// The tables of spans and of threads, opened.
#[derive(Debug)]
pub(crate) struct SpanTables {
    batches: SpanBatches,
    pub(crate) open_calls: Batches<OpenCallRow>,
    threads: Vec<ThreadInfo>,
    thread_names: Vec<Option<ThreadRow>>,
}

/// The tables of spans by their names.
impl Deref for SpanTables {
    type Target = SpanBatches;

    fn deref(&self) -> &SpanBatches {
        &self.batches
    }
}

impl SpanTables {
    pub(crate) fn open(files: Files<'_>) -> Result<Self, StoreError> {
        let mut threads = Vec::new();
        Batches::open(files)?
            .each(|row: ThreadTableRow| threads.push((row.number, ThreadInfo::from(row))))?;
        // Batches are sorted by start.
        threads.sort_unstable_by_key(|(number, _)| *number);
        Batches::open(files)?.each(|row: CommRow| {
            if let Some((_, thread)) = threads.get_mut(row.number.index()) {
                thread.names.push(row.since, row.comm);
            }
        })?;
        Ok(Self {
            batches: SpanBatches::open(files)?,
            open_calls: Batches::open(files)?,
            threads: threads.into_iter().map(|(_, row)| row).collect(),
            thread_names: thread_names(files)?,
        })
    }

    /// The starts of the batches of the tables that have most rows, in no order.
    pub(crate) fn batch_starts(&self) -> Vec<RawNs> {
        let mut starts = Vec::new();
        macro_rules! of_tables {
            ($($table:ident)*) => {
                $(starts.extend(self.$table.covered().iter().map(|covered| covered.start));)*
            };
        }
        of_tables!(slices off latencies syscalls irqs softirqs packets wakeups block_requests phases);
        starts
    }

    /// Threads by number.
    pub(crate) fn threads(&self) -> &[ThreadInfo] {
        &self.threads
    }

    /// The numbers of threads by numbers in rows of spans, if known.
    pub(crate) fn thread_names(&self) -> &[Option<ThreadRow>] {
        &self.thread_names
    }

    /// The thread of a number in a row of spans.
    pub(crate) fn thread(&self, name: ThreadName) -> Option<ThreadRow> {
        self.thread_names.get(name.index()).copied().flatten()
    }

    /// When a thread that was forked was woken first.
    pub(crate) fn woken(&self, thread: ThreadRow) -> Option<RawNs> {
        self.threads.get(thread.index())?.woken
    }

    /// Names of calls by number.
    pub(crate) fn call_names(&self) -> Result<&[Name], StoreError> {
        // One list for both tables, each of which has what it needs.
        let (all, open) = (self.syscalls.names()?, self.open_calls.names()?);
        Ok(if all.len() >= open.len() { all } else { open })
    }
}

/// The numbers of threads by numbers in rows of spans, if known.
pub(crate) fn thread_names(files: Files<'_>) -> Result<Vec<Option<ThreadRow>>, StoreError> {
    let mut names = Vec::new();
    Batches::open(files)?.each(|row: ThreadNameRow| names.push((row.number, row.thread)))?;
    // Batches are sorted by start.
    names.sort_unstable_by_key(|(number, _)| *number);
    Ok(names.into_iter().map(|(_, thread)| thread).collect())
}

/// Some threads, by the numbers that rows of spans have for them.
#[derive(Debug)]
pub(crate) struct Numbering {
    /// By number in rows: the index in the list of threads, or `u32::MAX`.
    indices: Vec<u32>,
}

impl Numbering {
    /// `names`: see [`SpanTables::thread_names`]; `threads`: sorted.
    pub(crate) fn new(names: &[Option<ThreadRow>], threads: &[ThreadRow]) -> Self {
        let index = |thread: &Option<ThreadRow>| {
            let index = threads.binary_search(&(*thread)?).ok()?;
            Some(index as u32)
        };
        Self { indices: names.iter().map(|thread| index(thread).unwrap_or(u32::MAX)).collect() }
    }

    /// The index of a thread in the list.
    #[inline]
    pub(crate) fn index(&self, name: u32) -> Option<u32> {
        self.indices.get(name as usize).copied().filter(|&index| index != u32::MAX)
    }

    /// Whether a thread is one of them.
    #[inline]
    pub(crate) fn has(&self, name: u32) -> bool {
        self.index(name).is_some()
    }
}
