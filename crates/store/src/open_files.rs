//! Which file descriptors are open at an instant, and what a number stands for.

use std::collections::BTreeMap;

use isochrone_kernel::files::{Bound, Uses};
use isochrone_kernel::{Missed, Name};
use isochrone_time::{RawNs, Window};

use crate::error::StoreError;
use crate::names::NameId;
use crate::spans::SpanTables;
use crate::store::{HostStore, covering};
use crate::tables::FileRow;
use crate::threads::ThreadRow;

/// The life of a file descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFile {
    /// Number of the thread that opened it, or was first seen to use it, if known.
    pub thread: Option<ThreadRow>,
    /// Pid of the process whose table it is in, if known.
    pub process: Option<i32>,
    /// The descriptor.
    pub fd: i32,
    /// When it was opened, or first seen.
    pub start: RawNs,
    /// When it was closed, or last known to be open.
    pub end: RawNs,
    /// Whether it was seen to be opened: else it was open at any time before.
    pub start_bound: Bound,
    /// Whether it was seen to be closed.
    pub end_bound: Bound,
    /// What it refers to: `file`, `socket` …, if known.
    pub kind: Option<Name>,
    /// Its path, or the kernel's name for it; empty if nothing is known.
    pub name: Name,
    /// How it was opened, if known.
    pub opened_by: Option<Name>,
    /// How it was closed, if it was.
    pub closed_by: Option<Name>,
    /// Whether it is closed on exec, at its end.
    pub close_on_exec: bool,
    /// Since when events are missing between its start and its end: it may be another one since.
    pub doubtful_from: Option<RawNs>,
    /// Its uses.
    pub uses: Uses,
    /// Of a socket: its own address, if known.
    pub local: Option<Name>,
    /// Of a socket: the address of its peer, if known.
    pub peer: Option<Name>,
}

impl OpenFile {
    /// Whether events are missing that would show whether the descriptor is another one at an instant.
    /// `missed`: what is missing of the host.
    pub fn is_doubtful(&self, at: RawNs, missed: &Missed) -> bool {
        at < self.start && missed.is_between(at, self.start)
            || self.doubtful_from.is_some_and(|from| from <= at)
    }
}

/// The file descriptors that are open in a window, by process and number.
#[derive(Debug, Default)]
pub struct Descriptors(BTreeMap<(i32, i32), Vec<OpenFile>>);

impl Descriptors {
    /// What a descriptor of a process is at an instant of the window, if that is known. `O(log n)`.
    pub fn at(&self, process: i32, fd: i32, at: RawNs) -> Option<&OpenFile> {
        let files = self.0.get(&(process, fd))?;
        let next = files.partition_point(|file| file.start <= at);
        let here = files[..next].last().filter(|file| at < file.end);
        // One that was first seen later was the same before, unless its start was seen.
        here.or_else(|| files.get(next).filter(|file| file.start_bound == Bound::Soft))
    }
}

impl HostStore {
    /// The file descriptors that are open in a window, by process and number.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn descriptors(&self, window: Window<RawNs>) -> Result<Descriptors, StoreError> {
        let mut all: BTreeMap<_, Vec<OpenFile>> = BTreeMap::new();
        for file in self.files(window)? {
            if let Some(owner) = owner(self.spans(), &file) {
                all.entry((owner, file.fd)).or_default().push(file);
            }
        }
        Ok(Descriptors(all))
    }

    /// The file descriptors that are open at an instant, by process, number and start. `process`: those of
    /// one process only.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn open_files(&self, at: RawNs, process: Option<i32>) -> Result<Vec<OpenFile>, StoreError> {
        let mut files = Vec::new();
        self.each_file(covering(at), |file| {
            if process.is_none() || owner(self.spans(), &file) == process {
                files.push(file);
            }
        })?;
        Ok(sorted(self.spans(), files))
    }

    /// The file descriptors that are open in a window, by process, number and start.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn files(&self, window: Window<RawNs>) -> Result<Vec<OpenFile>, StoreError> {
        let mut files = Vec::new();
        self.each_file(window, |file| files.push(file))?;
        Ok(sorted(self.spans(), files))
    }

    /// Passes the file descriptors that are open in a window to `each`, in the order of the table. Memory:
    /// that of some batches of rows.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn each_file(&self, window: Window<RawNs>, mut each: impl FnMut(OpenFile)) -> Result<(), StoreError> {
        let spans = self.spans();
        let names = spans.files.names()?;
        let label = |name: Option<NameId>| name.and_then(|NameId(name)| names.get(name as usize)).cloned();
        let bound = |is_seen: bool| if is_seen { Bound::Hard } else { Bound::Soft };
        spans.files.rows(window, |row: FileRow| {
            each(OpenFile {
                uses: row.uses(),
                thread: spans.thread(row.thread),
                process: row.process,
                fd: row.fd,
                start: row.start,
                end: row.end,
                start_bound: bound(row.is_start_seen),
                end_bound: bound(row.is_end_seen),
                kind: label(row.kind),
                name: row.name,
                opened_by: label(row.opened_by),
                closed_by: label(row.closed_by),
                close_on_exec: row.close_on_exec,
                doubtful_from: row.doubtful_from,
                local: row.local,
                peer: row.peer,
            });
        })
    }
}

/// The pid of the process whose table a descriptor is in.
fn owner(spans: &SpanTables, file: &OpenFile) -> Option<i32> {
    let thread = || spans.threads().get(file.thread?.index());
    file.process.or_else(|| thread()?.pid).or_else(|| thread()?.tid)
}

/// Files by process, number and start.
fn sorted(spans: &SpanTables, mut files: Vec<OpenFile>) -> Vec<OpenFile> {
    files.sort_by_cached_key(|file| (owner(spans, file), file.fd, file.start, file.end, file.thread));
    files
}
