//! The tables of a host that queries read, opened.

use std::sync::OnceLock;

use isochrone_kernel::{Name, Names, Namespace};

use crate::batches::Batches;
use crate::checked::Files;
use crate::error::StoreError;
use crate::table::Row;
use crate::tables::{
    BlockRequestRow, CommRow, FileRow, IrqRow, LatencyRow, OffRow, OpenCallRow, PacketFlowRow, PacketRow,
    PacketTakenRow, PagesRow, PhaseRow, PollRow, SliceRow, SoftirqRow, SyscallRow, ThreadEventRow,
    ThreadNameRow, ThreadTableRow, UnknownRow, WakeupRow,
};
use crate::threads::ThreadRow;

/// The tables of spans that queries read.
#[derive(Debug)]
pub(crate) struct SpanTables {
    pub(crate) slices: Batches<SliceRow>,
    pub(crate) unknown: Batches<UnknownRow>,
    pub(crate) off: Batches<OffRow>,
    pub(crate) latencies: Batches<LatencyRow>,
    pub(crate) syscalls: Batches<SyscallRow>,
    pub(crate) open_calls: Batches<OpenCallRow>,
    pub(crate) irqs: Batches<IrqRow>,
    pub(crate) softirqs: Batches<SoftirqRow>,
    pub(crate) packets: Batches<PacketRow>,
    pub(crate) packets_taken: Batches<PacketTakenRow>,
    pub(crate) packet_flows: Batches<PacketFlowRow>,
    pub(crate) wakeups: Batches<WakeupRow>,
    pub(crate) thread_events: Batches<ThreadEventRow>,
    pub(crate) block_requests: Batches<BlockRequestRow>,
    pub(crate) polls: Batches<PollRow>,
    pub(crate) phases: Batches<PhaseRow>,
    pub(crate) pages: Batches<PagesRow>,
    pub(crate) files: Batches<FileRow>,
    threads: Vec<ThreadRow>,
    thread_names: Vec<Option<u32>>,
    call_names: OnceLock<Vec<Name>>,
}

impl SpanTables {
    pub(crate) fn open(files: Files<'_>) -> Result<Self, StoreError> {
        let mut thread_names = Vec::new();
        each(&Batches::<ThreadNameRow>::open(files)?, |row| thread_names.push((row.number, row.thread)))?;
        let mut threads = Vec::new();
        each(&Batches::<ThreadTableRow>::open(files)?, |row| threads.push((row.number, thread(row))))?;
        // Batches are sorted by begin.
        threads.sort_unstable_by_key(|(number, _)| *number);
        each(&Batches::<CommRow>::open(files)?, |row| {
            if let Some((_, thread)) = threads.get_mut(row.number as usize) {
                thread.names.push(row.since, row.comm);
            }
        })?;
        thread_names.sort_unstable_by_key(|(number, _)| *number);
        Ok(Self {
            slices: Batches::open(files)?,
            unknown: Batches::open(files)?,
            off: Batches::open(files)?,
            latencies: Batches::open(files)?,
            syscalls: Batches::open(files)?,
            open_calls: Batches::open(files)?,
            irqs: Batches::open(files)?,
            softirqs: Batches::open(files)?,
            packets: Batches::open(files)?,
            packets_taken: Batches::open(files)?,
            packet_flows: Batches::open(files)?,
            wakeups: Batches::open(files)?,
            thread_events: Batches::open(files)?,
            block_requests: Batches::open(files)?,
            polls: Batches::open(files)?,
            phases: Batches::open(files)?,
            pages: Batches::open(files)?,
            files: Batches::open(files)?,
            threads: threads.into_iter().map(|(_, row)| row).collect(),
            thread_names: thread_names.into_iter().map(|(_, thread)| thread).collect(),
            call_names: OnceLock::new(),
        })
    }

    /// Where the batches of the tables begin that have most rows, in no order.
    pub(crate) fn batch_begins(&self) -> Vec<i64> {
        let mut begins = Vec::new();
        macro_rules! of_tables {
            ($($table:ident)*) => {
                $(begins.extend(self.$table.covered().iter().map(|covered| covered.begin));)*
            };
        }
        of_tables!(slices off latencies syscalls irqs softirqs packets wakeups block_requests phases);
        begins
    }

    /// Threads by number.
    pub(crate) fn threads(&self) -> &[ThreadRow] {
        &self.threads
    }

    /// The numbers of threads by numbers in rows of spans, if known.
    pub(crate) fn thread_names(&self) -> &[Option<u32>] {
        &self.thread_names
    }

    /// The thread of a number in a row of spans.
    pub(crate) fn thread(&self, name: u32) -> Option<u32> {
        self.thread_names.get(name as usize).copied().flatten()
    }

    /// When a thread that was forked was woken first.
    pub(crate) fn woken(&self, thread: u32) -> Option<i64> {
        self.threads.get(thread as usize)?.woken
    }

    /// Names of calls by number.
    pub(crate) fn call_names(&self) -> Result<&[Name], StoreError> {
        if let Some(names) = self.call_names.get() {
            return Ok(names);
        }
        // One list for both tables, each of which has what it needs.
        let (all, open) = (self.syscalls.names()?, self.open_calls.names()?);
        Ok(self.call_names.get_or_init(|| if all.len() >= open.len() { all } else { open }))
    }
}

/// Passes all rows of a table to `to`.
pub(crate) fn each<R: Row>(batches: &Batches<R>, mut to: impl FnMut(R)) -> Result<(), StoreError> {
    for number in 0..batches.covered().len() {
        let (rows, view) = batches.read_all(number)?;
        (0..rows).for_each(|row| to(R::get(&view, row)));
    }
    Ok(())
}

fn thread(row: ThreadTableRow) -> ThreadRow {
    ThreadRow {
        tid: row.tid,
        idle_of_cpu: row.idle_of_cpu,
        pid: row.pid,
        comm: row.comm.map(|comm| comm.to_string()),
        names: Names::default(),
        parent: row.parent,
        is_kernel: row.is_kernel,
        inner: row.vtid.map(|vtid| Namespace {
            vtid,
            vpid: row.vpid,
            level: row.pid_namespace_level.unwrap_or_default(),
            inode: row.pid_namespace,
        }),
        begin: row.begin,
        known_new_until: row.known_new_until,
        end: row.end,
        is_begin_seen: row.is_begin_seen,
        is_end_seen: row.is_end_seen,
        exited: row.exited,
        woken: row.woken,
    }
}

/// Some threads, by the numbers that rows of spans have for them.
#[derive(Debug)]
pub(crate) struct Numbering {
    /// By number in rows: the index in the list of threads, or `u32::MAX`.
    places: Vec<u32>,
}

impl Numbering {
    /// `names`: see [`SpanTables::thread_names`]; `threads`: sorted.
    pub(crate) fn new(names: &[Option<u32>], threads: &[u32]) -> Self {
        let place = |thread: &Option<u32>| {
            let place = threads.binary_search(&(*thread)?).ok()?;
            Some(place as u32)
        };
        Self { places: names.iter().map(|thread| place(thread).unwrap_or(u32::MAX)).collect() }
    }

    /// The index of a thread in the list.
    #[inline]
    pub(crate) fn place(&self, name: u32) -> Option<u32> {
        self.places.get(name as usize).copied().filter(|&place| place != u32::MAX)
    }

    /// Whether a thread is one of them.
    #[inline]
    pub(crate) fn has(&self, name: u32) -> bool {
        self.place(name).is_some()
    }
}
