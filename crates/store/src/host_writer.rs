//! Writes the tables of one host: spans as they come, then threads and what is derived from all spans.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use isochrone_kernel::{Finished, Missed, Name};
use isochrone_time::{RawNs, Window};

use crate::batches::{BatchFile, Batches};
use crate::checked::Files;
use crate::error::StoreError;
use crate::losses::{Loss, write_losses};
use crate::manifest::{HostEntry, Recorded, TableEntry};
use crate::merge::{Merge, SweepSpan};
use crate::names::Names;
use crate::open_calls::{OpenCallsOf, write_open_calls};
use crate::states::LevelsWriter;
use crate::sums::{Buckets, CallSumsWriter};
use crate::sweep::Sweep;
use crate::table::{BATCH_ROWS, Row};
use crate::tables::{
    BlockRequestRow, CommRow, MissedRow, PhaseRow, ThreadNameRow, ThreadTableRow, UnknownRow,
};
use crate::threads::{NumberedThreads, ThreadName, ThreadRow, lives};
use crate::writer::{Shared, SpanWriter};

/// Writer of the tables of a host.
///
/// Each piece of the host's trace gets a [consumer](Self::consumer) of its own. When the pieces are merged,
/// [`Self::finish`] writes the rest.
#[derive(Debug)]
pub struct HostWriter {
    /// Path of its directory.
    path: PathBuf,
    entry: HostEntry,
    shared: Arc<Shared>,
    follows_files: bool,
}

impl HostWriter {
    /// Creates the host's directory. `id`: identity of the host's clock; `offset_ns`: Unix time of the
    /// clock's zero.
    pub(crate) fn create(
        store: &Path,
        number: u32,
        directory: String,
        id: &str,
        name: &str,
        offset_ns: i64,
    ) -> Result<Self, StoreError> {
        let path = store.join(&directory);
        std::fs::create_dir(&path).map_err(StoreError::io(&path))?;
        let shared = Arc::new(Shared::new(&path)?);
        let entry = HostEntry {
            number,
            id: id.to_owned(),
            name: name.to_owned(),
            directory,
            offset_ns,
            range: None,
            cpus: Vec::new(),
            disks: BTreeMap::new(),
            block_devices: Vec::new(),
            phase_threads: Vec::new(),
            ranks: BTreeMap::new(),
            recorded: Recorded::ALL,
            is_undecodable: false,
            levels: 0,
            sums: Buckets::new(Window::default(), 0),
            tables: Vec::new(),
        };
        Ok(Self { path, entry, shared, follows_files: true })
    }

    /// Leaves descriptors out: where calls that open or close them were not recorded, what a number stands
    /// for is unknown.
    pub fn leave_out_files(&mut self) {
        self.follows_files = false;
    }

    /// Says what was recorded; all, if it is not said.
    pub fn set_recorded(&mut self, recorded: Recorded) {
        self.entry.recorded = recorded;
    }

    /// A consumer for a piece of the host's trace.
    pub fn consumer(&self) -> SpanWriter {
        SpanWriter::new(self.shared.clone(), self.follows_files)
    }

    /// Writes threads, zoom levels and the other tables that are derived from all spans; of a model that
    /// includes ended threads ([`isochrone_kernel::WithThreads`]). `losses`: what is missing of the host's
    /// trace, as far as known. `has_spare_thread`: whether the zoom levels may be written by another thread
    /// meanwhile. Memory: what overlaps at an instant, and some numbers for each thread. `O(n log n)` in the
    /// spans.
    ///
    /// # Errors
    /// A file cannot be written, now or when a consumer wrote it.
    pub fn finish(
        mut self,
        model: Finished<SpanWriter>,
        losses: &[Loss],
        has_spare_thread: bool,
    ) -> Result<HostEntry, StoreError> {
        let Finished { spans, threads, disks, range, missed, .. } = model;
        let named = spans.flush();
        self.entry.tables = self.shared.finish()?;
        let range = range.map(|(first, last)| Window::new(first, last));
        self.entry.range = range;
        self.entry.disks = disks.into_iter().map(|(device, name)| (device, name.into())).collect();
        let range = range.unwrap_or_default();
        let mut numbered = NumberedThreads::new(&threads, named, range);
        let names = Arc::clone(self.shared.names());
        // What has no exit in a trace without exits has ended some time.
        let of_calls = if self.entry.recorded.has_both_ends { missed.clone() } else { Missed::always() };
        let of = OpenCallsOf {
            directory: &self.path,
            files: self.files(),
            threads: numbered.threads.len(),
            range,
            missed: &of_calls,
            names: &names,
        };
        let open = write_open_calls(&of, |name| numbered.thread(name))?;
        self.entry.tables.push(open);
        numbered.set_known_new(&missed, self.entry.recorded);
        self.sweep(&mut numbered, range, &names, has_spare_thread)?;
        self.list_rows(&numbered)?;
        self.write_threads(&numbered, &names)?;
        self.entry.tables.push(write_losses(&self.path, losses, &names)?);
        let missed = missed.iter().map(|(begin, end)| MissedRow { start: begin, end });
        self.entry.tables.push(write_table(&self.path, missed, &names)?);
        Ok(self.entry)
    }

    /// One pass over all spans in the order of time.
    fn sweep(
        &mut self,
        numbered: &mut NumberedThreads,
        range: Window<RawNs>,
        names: &Arc<Names>,
        has_spare_thread: bool,
    ) -> Result<(), StoreError> {
        let lives = lives(&numbered.threads, range, self.entry.recorded);
        let mut merge = Merge::open(self.files())?;
        let buckets = Buckets::new(range, self.entry.tables.iter().map(|table| table.rows).sum());
        let mut levels = LevelsWriter::create(&self.path, lives.len(), (range, buckets), names)?;
        let mut calls = CallSumsWriter::create(&self.path, lives.len(), buckets, names)?;
        let mut sweep = Sweep::new(&lives);
        let emit = |rows: &mut dyn FnMut(_)| -> Result<BTreeSet<u32>, StoreError> {
            while let Some((at, input)) = merge.next()? {
                let thread_of = |name| numbered.thread(name).map(|thread| thread.0);
                if let SweepSpan::Call { thread, name: Some(name), end, .. } = input
                    && let Some(thread) = thread_of(thread)
                {
                    calls.add(thread, name, (at, end));
                }
                sweep.begin(at, input, thread_of, rows);
                if let SweepSpan::Slice { thread, .. } | SweepSpan::SchedLatency { thread, .. } = input
                    && let Some(number) = numbered.thread(thread)
                {
                    numbered.wake(number, at);
                }
            }
            let cpus = sweep.cpus().collect();
            sweep.finish(range.end, rows);
            Ok(cpus)
        };
        let mut cpus = levels.add_all(emit, has_spare_thread)?;
        Batches::open(self.files())?.each(|row: UnknownRow| cpus.extend([row.cpu]))?;
        self.entry.cpus = cpus.into_iter().collect();
        self.entry.levels = levels.len();
        self.entry.sums = buckets;
        self.entry.tables.extend(levels.finish()?);
        self.entry.tables.extend(calls.finish()?);
        Ok(())
    }

    /// Lists the devices and threads with rows of their own in pictures, so that readers need not read all
    /// spans for that.
    fn list_rows(&mut self, numbered: &NumberedThreads) -> Result<(), StoreError> {
        let (mut devices, mut threads) = (BTreeSet::new(), BTreeSet::new());
        Batches::open(self.files())?.each(|row: BlockRequestRow| devices.extend([row.device]))?;
        Batches::open(self.files())?.each(|row: PhaseRow| threads.extend(numbered.thread(row.thread)))?;
        self.entry.block_devices = devices.into_iter().collect();
        self.entry.phase_threads = threads.into_iter().collect();
        Ok(())
    }

    /// The tables that are written so far.
    fn files(&self) -> Files<'_> {
        Files { directory: &self.path, entries: &self.entry.tables }
    }

    fn write_threads(&mut self, numbered: &NumberedThreads, names: &Arc<Names>) -> Result<(), StoreError> {
        let threads = (0..).map(ThreadRow).zip(&numbered.threads).map(|(number, it)| ThreadTableRow {
            number,
            tid: it.tid,
            idle_of_cpu: it.idle_of_cpu,
            pid: it.pid,
            start: it.start,
            end: it.end,
            comm: it.comm.as_deref().map(Name::from),
            parent: it.parent,
            is_kernel: it.is_kernel,
            is_start_seen: it.is_start_seen,
            is_end_seen: it.is_end_seen,
            exited: it.exited,
            woken: it.woken,
            known_new_until: it.known_new_until,
            pid_namespace: it.inner.and_then(|it| it.inode),
            pid_namespace_level: it.inner.map(|it| it.level),
            vpid: it.inner.and_then(|it| it.vpid),
            vtid: it.inner.map(|it| it.vtid),
        });
        let named = (0..)
            .map(ThreadName)
            .zip(&numbered.names)
            .map(|(number, &thread)| ThreadNameRow { number, thread });
        let comms = (0..).map(ThreadRow).zip(&numbered.threads).flat_map(|(number, it)| {
            it.names.iter().map(move |(since, comm)| CommRow { number, since, comm: comm.clone() })
        });
        let tables = [
            write_table(&self.path, threads, names)?,
            write_table(&self.path, named, names)?,
            write_table(&self.path, comms, names)?,
        ];
        self.entry.tables.extend(tables);
        Ok(())
    }
}

/// Writes a small table.
pub(crate) fn write_table<R: Row>(
    directory: &Path,
    all: impl Iterator<Item = R>,
    names: &Arc<Names>,
) -> Result<TableEntry, StoreError> {
    let mut file = BatchFile::create(directory, names)?;
    let mut rows = Vec::new();
    for row in all {
        rows.push(row);
        if rows.len() >= BATCH_ROWS {
            file.write(&rows)?;
            rows.clear();
        }
    }
    if !rows.is_empty() {
        file.write(&rows)?;
    }
    file.finish()
}
