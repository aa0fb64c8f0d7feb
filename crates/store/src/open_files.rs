//! Which file descriptors are open at an instant.

use isochrone_kernel::Name;
use isochrone_kernel::files::{Bound, Uses};

use crate::cell::NameId;
use crate::error::StoreError;
use crate::spans::SpanTables;
use crate::table::Row;
use crate::tables::FileRow;

/// The life of a file descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFile {
    /// Number of the thread that opened it, or was first seen to use it, if known.
    pub thread: Option<u32>,
    /// Pid of the process whose table it is in, if known.
    pub process: Option<i32>,
    /// The descriptor.
    pub fd: i32,
    /// When it was opened, or first seen; raw ns.
    pub begin: i64,
    /// When it was closed, or last known to be open; raw ns.
    pub end: i64,
    /// Whether it was seen to be opened: else it was open at any time before.
    pub begin_bound: Bound,
    /// Whether it was seen to be closed.
    pub end_bound: Bound,
    /// What it refers to: `file`, `socket` …, if known.
    pub kind: Option<String>,
    /// Its path, or the kernel's name for it; empty if nothing is known.
    pub name: String,
    /// How it was opened, if known.
    pub opened_by: Option<String>,
    /// How it was closed, if it was.
    pub closed_by: Option<String>,
    /// Whether it is closed on exec, at its end.
    pub close_on_exec: bool,
    /// Since when events are missing between its begin and its end, raw ns: it may be another one since.
    pub doubtful_from: Option<i64>,
    /// Its uses.
    pub uses: Uses,
    /// Of a socket: its own address, if known.
    pub local: Option<Name>,
    /// Of a socket: the address of its peer, if known.
    pub peer: Option<Name>,
}

/// Descriptors that are open in a window: by process, number and begin. `process`: those of one process only.
pub(crate) fn open_files(
    spans: &SpanTables,
    window: (i64, i64),
    process: Option<i32>,
) -> Result<Vec<OpenFile>, StoreError> {
    let mut rows = Vec::new();
    spans.files.overlapping(window, |view, row| {
        rows.push(FileRow::get(view, row));
        Ok(())
    })?;
    let names = if rows.is_empty() { Vec::new() } else { spans.files.names()? };
    let label =
        |name: Option<NameId>| name.and_then(|NameId(name)| names.get(name as usize)).map(Name::to_string);
    let bound = |is_seen: bool| if is_seen { Bound::Hard } else { Bound::Soft };
    let mut files: Vec<OpenFile> = rows
        .into_iter()
        .map(|it| OpenFile {
            uses: it.uses(),
            thread: spans.thread(it.thread),
            process: it.process,
            fd: it.fd,
            begin: it.begin,
            end: it.end,
            begin_bound: bound(it.is_begin_seen),
            end_bound: bound(it.is_end_seen),
            kind: label(it.kind),
            name: it.name.to_string(),
            opened_by: label(it.opened_by),
            closed_by: label(it.closed_by),
            close_on_exec: it.close_on_exec,
            doubtful_from: it.doubtful_from,
            local: it.local,
            peer: it.peer,
        })
        .collect();
    let owner = |file: &OpenFile| {
        let thread = || spans.threads().get(file.thread? as usize);
        file.process.or_else(|| thread()?.pid).or_else(|| thread()?.tid)
    };
    if process.is_some() {
        files.retain(|file| owner(file) == process);
    }
    files.sort_by_cached_key(|file| (owner(file), file.fd, file.begin, file.end, file.thread));
    Ok(files)
}
