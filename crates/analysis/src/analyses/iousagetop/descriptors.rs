//! What calls read and wrote, by thread and by file.
//!
//! A descriptor may have been opened by another piece of the trace, and a thread's process be known only in
//! the end: calls are kept as they are, a few words each, until then.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use isochrone_kernel::files::{FileKind, FileSpan};
use isochrone_kernel::{Name, Syscall, ThreadAliases, ThreadId};
use isochrone_time::RawNs;
use serde::{Deserialize, Serialize};

use super::IoUsageTop;
use crate::analysis::HostResult;
use crate::file_io::call::{IoCall, SizeFilter};
use crate::file_io::fd_names::{FdNames, NamedFile};
use crate::host::ThreadIdentity;
use crate::options::Options;
use crate::output::table::{Cell, Row, Table, Unit, Visibility};
use crate::storage::log_rows::{LogRow, LogRows};

/// `AF_INET`, `AF_INET6`.
const INTERNET: [u16; 2] = [2, 10];

/// Maximum number of owners of a file that are named: a library may be open everywhere.
const MAX_OWNERS: usize = 16;

/// Calls that read or wrote, and what descriptors were.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Descriptors {
    sizes: SizeFilter,
    moved: LogRows<Moved>,
    pub(super) files: LogRows<FileSpan>,
}

/// One side of a call that moved bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Moved {
    thread: ThreadId,
    /// `None`: not known.
    fd: Option<i32>,
    /// When the call began.
    at: RawNs,
    is_write: bool,
    bytes: u64,
}

impl LogRow for Moved {
    fn threads(&mut self) -> [Option<&mut ThreadId>; 2] {
        [Some(&mut self.thread), None]
    }
}

/// Bytes and calls.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    read: u64,
    written: u64,
    reads: u64,
    writes: u64,
}

/// Where bytes go to or come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Medium {
    /// A file or a directory.
    File,
    /// Another host, or this one by its network.
    Net,
    /// A pipe, a local socket, something that is not known.
    Other,
}

/// What a thread moved.
#[derive(Debug, Clone, Default)]
struct OfThread {
    all: Sum,
    by_medium: BTreeMap<Medium, Sum>,
}

/// A file, or something that has no path: then it is the process's own.
type FileKey<'a> = (Option<&'a Name>, Option<&'static str>, Option<ThreadId>);

/// What was moved of a file, and which processes had it as which descriptor.
#[derive(Debug, Clone, Default)]
struct OfFile {
    all: Sum,
    owners: BTreeSet<(ThreadId, i32)>,
}

impl Sum {
    fn add(&mut self, moved: &Moved) {
        let (bytes, calls) = match moved.is_write {
            true => (&mut self.written, &mut self.writes),
            false => (&mut self.read, &mut self.reads),
        };
        *bytes = bytes.saturating_add(moved.bytes);
        *calls += 1;
    }

    fn bytes(&self) -> u64 {
        self.read.saturating_add(self.written)
    }
}

impl Medium {
    fn of(file: Option<&NamedFile>) -> Self {
        match file.map(|file| &file.kind) {
            Some(FileKind::File | FileKind::Directory) => Self::File,
            Some(FileKind::Socket(socket))
                if socket.family.is_some_and(|family| INTERNET.contains(&family)) =>
            {
                Self::Net
            }
            _ => Self::Other,
        }
    }
}

impl Descriptors {
    pub(super) fn new(options: &Options) -> Self {
        let scratch = &options.scratch;
        let (moved, files) = (LogRows::new(scratch), LogRows::new(scratch));
        Self { sizes: SizeFilter::new(options), moved, files }
    }

    pub(super) fn call(&mut self, call: &Syscall<'_>) {
        let Some(io) = IoCall::of(call).filter(|io| self.sizes.keeps(io.bytes)) else { return };
        let (thread, at) = (call.thread, call.begin);
        if let Some(bytes) = io.read() {
            self.moved.push(Moved { thread, fd: io.fd, at, is_write: false, bytes });
        }
        if let Some((fd, bytes)) = io.written() {
            self.moved.push(Moved { thread, fd, at, is_write: true, bytes });
        }
    }

    pub(super) fn file(&mut self, file: &FileSpan) {
        self.files.push(file.clone());
    }

    pub(super) fn rename(&mut self, aliases: &ThreadAliases) {
        self.moved.rename(aliases);
        self.files.rename(aliases);
    }

    pub(super) fn absorb(&mut self, right: Self) {
        self.moved.absorb(right.moved);
        self.files.absorb(right.files);
    }
}

/// The tables of threads and files.
pub(super) fn tables(hosts: &[HostResult<'_, IoUsageTop>], options: &Options) -> [Table; 2] {
    let (mut threads, mut files) = (Vec::new(), Vec::new());
    for result in hosts {
        let names = FdNames::new(result.host, &result.of.descriptors.files);
        let mut by_thread: BTreeMap<ThreadId, OfThread> = BTreeMap::new();
        let mut by_file: BTreeMap<FileKey<'_>, OfFile> = BTreeMap::new();
        // Sorted by thread: each is looked up once.
        let mut processes: Option<(ThreadId, Option<ThreadId>)> = None;
        for moved in result.of.descriptors.moved.sorted() {
            let thread = moved.thread;
            let process = match processes {
                Some((of, process)) if of == thread => process,
                _ => result.who(thread, options).map(|who| who.process(thread)),
            };
            processes = Some((thread, process));
            let Some(process) = process else { continue };
            let sums = by_thread.entry(if options.by_process { process } else { thread }).or_default();
            let file = moved.fd.and_then(|fd| names.file(thread, fd, moved.at));
            sums.all.add(&moved);
            sums.by_medium.entry(Medium::of(file)).or_default().add(&moved);
            let name = file.and_then(NamedFile::name);
            let has_path = name.is_some() && Medium::of(file) == Medium::File;
            let key = (name, file.and_then(|file| file.kind.label()), (!has_path).then_some(process));
            let of_file = by_file.entry(key).or_default();
            of_file.all.add(&moved);
            of_file.owners.extend(moved.fd.map(|fd| (process, fd)));
        }
        threads.extend(by_thread.into_iter().map(|(thread, sums)| (result, thread, sums)));
        let row = |(key, of_file)| file_row(result, key, &of_file);
        files.extend(by_file.into_iter().map(row));
    }
    // Stable: those that moved as much stay in the order of hosts and threads, or of names.
    threads.sort_by_key(|(_, _, sums)| Reverse(sums.all.bytes()));
    files.sort_by_key(|(bytes, _)| Reverse(*bytes));
    let title = if options.by_process { "I/O by process" } else { "I/O by thread" };
    let mut processes = process_table(title);
    for (result, thread, sums) in threads {
        processes.add(process_row(result, thread, &sums, options));
    }
    let mut by_file = file_table();
    by_file.extend(files.into_iter().map(|(_, row)| row));
    [processes, by_file]
}

fn process_table(title: &'static str) -> Table {
    const BYTES: [&str; 8] = [
        "read_bytes",
        "written_bytes",
        "file_read_bytes",
        "file_written_bytes",
        "net_read_bytes",
        "net_written_bytes",
        "other_read_bytes",
        "other_written_bytes",
    ];
    Table::new("processes", title, &[])
        .with_columns(Unit::None, &["host", "pid", "tid", "comm"])
        .with_columns(Unit::Bytes, &BYTES)
        .with_columns(Unit::Count, &["reads", "writes"])
        .show(&BYTES[6..], Visibility::Hidden)
        .top()
}

fn process_row(
    result: &HostResult<'_, IoUsageTop>,
    thread: ThreadId,
    sums: &OfThread,
    options: &Options,
) -> Row {
    let by_medium = [Medium::File, Medium::Net, Medium::Other].into_iter().flat_map(|medium| {
        let sum = sums.by_medium.get(&medium).copied().unwrap_or_default();
        [sum.read, sum.written]
    });
    let Sum { read, written, reads, writes } = sums.all;
    result.group_row(thread, options).cells([read, written]).cells(by_medium).cells([reads, writes])
}

fn file_table() -> Table {
    Table::new("files", "I/O by file", &[])
        .with_columns(Unit::None, &["host", "path", "kind", "pid", "comm"])
        .with_columns(Unit::Bytes, &["read_bytes", "written_bytes"])
        .with_columns(Unit::Count, &["reads", "writes", "processes"])
        .with_columns(Unit::None, &["owners"])
        .show(&["path"], Visibility::Trailing)
        .show(&["owners"], Visibility::Hidden)
        .top()
}

/// A row of the table of files, and the number of bytes that were moved.
fn file_row(
    result: &HostResult<'_, IoUsageTop>,
    (name, kind, _): FileKey<'_>,
    of_file: &OfFile,
) -> (u64, Row) {
    let processes: BTreeSet<ThreadId> = of_file.owners.iter().map(|&(process, _)| process).collect();
    let owner = match processes.len() {
        1 => processes.first().map(|&process| ThreadIdentity::of(result.host, process)),
        _ => None,
    };
    let [pid, _, comm] = owner
        .map_or([Cell::NotApplicable, Cell::NotApplicable, Cell::NotApplicable], |owner| {
            owner.process_cells()
        });
    let owner = |&(process, fd): &(ThreadId, i32)| {
        let who = ThreadIdentity::of(result.host, process);
        let (comm, tid) = (who.comm.as_deref().unwrap_or("?"), who.tid);
        format!("fd {fd} in {comm} ({})", tid.map_or_else(|| "?".to_owned(), |tid| tid.to_string()))
    };
    let mut owners: Vec<String> = of_file.owners.iter().take(MAX_OWNERS).map(owner).collect();
    if of_file.owners.len() > MAX_OWNERS {
        owners.push(format!("and {} more", of_file.owners.len() - MAX_OWNERS));
    }
    let Sum { read, written, reads, writes } = of_file.all;
    let row = result.row().cell(name).cell(kind.map(Cell::text)).cells([pid, comm]);
    let row = row.cells([read, written, reads, writes, processes.len() as u64]);
    (of_file.all.bytes(), row.cell(Cell::text(&owners.join(", "))))
}
