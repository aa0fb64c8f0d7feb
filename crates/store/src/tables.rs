//! The tables of a store: one for each kind of span, with a row for each span, and those that are derived
//! from them.
//!
//! This is the one list of tables, their columns and what both mean: rows, files, readers, [`tables()`] and
//! `docs/store.md` are made of it. The text of a table and of a column is Markdown.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isochrone_kernel::calls::FileAction;
use isochrone_kernel::files::Uses;
use isochrone_kernel::{Name, OffCpuReason};
use isochrone_time::RawNs;

use crate::batches::{BatchFile, Batches};
use crate::cell::{ActionNumber, CauseNumber, ObjectNumber, ReasonNumber};
use crate::checked::Files;
use crate::error::StoreError;
use crate::manifest::TableEntry;
use crate::names::{NameId, Names};
use crate::state::State;
use crate::table::{Row, Rows, TableInfo, rows};
use crate::threads::{ThreadName, ThreadRow};
use crate::writer::Shared;

/// A file that several pieces write to; `None` when it is finished.
type SharedFile<R> = Mutex<Option<BatchFile<R>>>;

/// The file of a table, locked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A row of a table of spans.
pub(crate) trait SpanRow: Row {
    /// The rows of its table that wait to be written.
    fn pending(of: &mut PendingRows) -> &mut Rows<Self>;

    /// The file of its table.
    fn file(of: &SpanFiles) -> &SharedFile<Self>;

    /// Its table, opened.
    fn batches(of: &SpanBatches) -> &Batches<Self>;
}

/// Defines what there is for each table of spans.
macro_rules! spans {
    ($($field:ident $Row:ident,)*) => {
        /// The files of spans, which all pieces of a host write to.
        #[derive(Debug)]
        pub(crate) struct SpanFiles {
            $($field: SharedFile<$Row>,)*
        }

        impl SpanFiles {
            pub(crate) fn create(directory: &Path, names: &Arc<Names>) -> Result<Self, StoreError> {
                Ok(Self { $($field: Mutex::new(Some(BatchFile::create(directory, names)?)),)* })
            }

            /// Finishes all files.
            pub(crate) fn finish(&self) -> Result<Vec<TableEntry>, StoreError> {
                let mut entries = Vec::new();
                $(if let Some(file) = lock(&self.$field).take() {
                    entries.push(file.finish()?);
                })*
                Ok(entries)
            }
        }

        /// Rows of spans that wait to be written.
        #[derive(Debug, Default)]
        pub(crate) struct PendingRows {
            $($field: Rows<$Row>,)*
        }

        impl PendingRows {
            /// Appends the rows that another piece has not written yet.
            pub(crate) fn append(&mut self, other: Self, shared: &Shared) {
                $(self.$field.append(other.$field, |rows| shared.write(&rows));)*
            }

            /// Writes everything.
            pub(crate) fn flush(&mut self, shared: &Shared) {
                $(self.$field.take().for_each(|rows| shared.write(&rows));)*
            }
        }

        /// The tables of spans, opened.
        #[derive(Debug)]
        pub(crate) struct SpanBatches {
            $(pub(crate) $field: Batches<$Row>,)*
        }

        impl SpanBatches {
            pub(crate) fn open(files: Files<'_>) -> Result<Self, StoreError> {
                Ok(Self { $($field: Batches::open(files)?,)* })
            }
        }

        $(impl SpanRow for $Row {
            fn pending(of: &mut PendingRows) -> &mut Rows<Self> {
                &mut of.$field
            }

            fn file(of: &SpanFiles) -> &SharedFile<Self> {
                &of.$field
            }

            fn batches(of: &SpanBatches) -> &Batches<Self> {
                &of.$field
            }
        })*
    };
}

/// Of derived tables there is no more than rows.
macro_rules! derived {
    ($($field:ident $Row:ident,)*) => {};
}

/// The version of the format: it goes up with each change of the tables below, and of what their columns
/// mean. A store of another version is built again.
pub const VERSION: u32 = 18;

rows! { SPANS, spans;
    /// A thread on a CPU.
    slices "slices" SliceRow SliceView as SliceSpan: Copy by start, end {
        /// The CPU.
        cpu: u32,
        /// The thread.
        thread: ThreadName => Option<ThreadRow>,
        /// Its priority.
        priority: Option<i32>,
        /// Start.
        start "begin": RawNs,
        /// End.
        end: RawNs,
    }
    /// A time of a CPU in which it is unknown what ran.
    unknown "unknown" UnknownRow UnknownView as UnknownSpan: Copy by start, end {
        /// The CPU.
        cpu: u32,
        /// The thread, if known.
        thread: Option<ThreadName> => Option<ThreadRow>,
        /// Start.
        start "begin": RawNs,
        /// End.
        end: RawNs,
    }
    /// A system call with both ends. `action`: what it does to descriptors (`opens`, `closes`, `reads`,
    /// `writes`, `transfers` from one to another, or `other`).
    syscalls "syscalls" SyscallRow SyscallView as CallSpan by start, end of Calls {
        /// The thread.
        thread: ThreadName => Option<ThreadRow>,
        /// The CPU of its exit.
        cpu: u32,
        /// Entry.
        start "begin": RawNs,
        /// Exit.
        end: RawNs,
        /// Its name.
        name: NameId => Name,
        /// The file descriptor that it is about.
        fd: Option<i32>,
        /// What it returned.
        ret: i64,
        /// What it does to descriptors.
        action: ActionNumber => FileAction,
    }
    /// A system call of which only the entry (`is_begin`) or the exit was seen.
    half_syscalls "half_syscalls" HalfSyscallRow HalfSyscallView by at of Calls {
        thread: ThreadName, cpu: u32, at: RawNs, is_begin: bool, name: Option<NameId>, fd: Option<i32>,
    }
    /// What an I/O call of `syscalls` (same `thread`, `begin`, `end`, `name`, `ret`) acted on, where that has
    /// no column there: where a transfer writes (`to_fd`), both descriptors of a pair (`fd`, `to_fd`), the
    /// first of a range that is closed (`fd`), and the `path` that was not opened.
    call_targets "call_targets" CallTargetRow CallTargetView by start, end of Calls [packed] {
        thread: ThreadName, start "begin": RawNs, end: RawNs, name: NameId, ret: i64, fd: Option<i32>, to_fd:
        Option<i32>, path: Option<Name>,
    }
    /// A run of the handler of a hardware interrupt.
    irqs "irqs" IrqRow IrqView by start, end of Interrupts {
        cpu: u32, number: i32, name: NameId, ret: i64, start "begin": RawNs, end: RawNs,
    }
    /// A run of the handler of a softirq.
    softirqs "softirqs" SoftirqRow SoftirqView by start, end {
        cpu: u32, vector: u32, raised: Option<RawNs>, start "begin": RawNs, end: RawNs,
    }
    /// A wait of a thread for a CPU.
    latencies "latencies" LatencyRow LatencyView by start, end {
        thread: ThreadName, waker: Option<ThreadName>, cpu: u32, priority: i32, start "begin": RawNs, end:
        RawNs,
    }
    /// An event that wakes a thread, and in which context: `source` is the number or vector of that.
    wakeups "wakeups" WakeupRow WakeupView by at {
        thread: ThreadName, waker: ThreadName, cpu: u32, target_cpu: Option<u32>, at: RawNs, cause:
        CauseNumber, source: Option<i32>,
    }
    /// An event in the life of a thread: `forked` (by `other`), `executed`, `renumbered` (from `other`),
    /// `exits`, `died`; `name` is that of the thread, or of the program.
    thread_events "thread_events" ThreadEventRow ThreadEventView by at [packed] {
        thread: ThreadName, at: RawNs, what: Name, other: Option<ThreadName>, name: Option<Name>,
    }
    /// A move of a thread to another CPU.
    migrations "migrations" MigrationRow MigrationView by at { thread: ThreadName, at: RawNs, to_cpu: u32, }
    /// A thread off the CPUs.
    off "off" OffRow OffView as OffSpan: Copy by start, end {
        /// The thread.
        thread: ThreadName => Option<ThreadRow>,
        /// The thread that woke it, if known.
        waker: Option<ThreadName> => Option<ThreadRow>,
        /// Why it left the CPU.
        why: ReasonNumber => Option<OffCpuReason>,
        /// Start.
        start "begin": RawNs,
        /// End.
        end: RawNs,
    }
    /// A request to a disk, or what was seen of it: inserted into a queue, issued to the driver and completed
    /// (`begin`, `end`: the first and the last of these).
    block_requests "block_requests" BlockRequestRow BlockRequestView as BlockSpan: Copy by start, end {
        /// Number of the device.
        device: u32,
        /// The first sector.
        sector: u64,
        /// Number of sectors.
        sectors: u32,
        /// Whether it writes.
        is_write: bool,
        /// The thread that inserted it, or else issued it.
        thread: Option<ThreadName> => Option<ThreadRow>,
        /// The first instant seen.
        start "begin": RawNs,
        /// The last instant seen.
        end: RawNs,
        /// Bytes, if known.
        bytes: Option<u32>,
        /// When it was inserted into a queue.
        inserted: Option<RawNs>,
        /// When it was issued to the driver.
        issued: Option<RawNs>,
        /// When it was complete.
        completed: Option<RawNs>,
        /// The error that it ended with, or 0.
        error: i32,
        /// Whether only a part of it was complete then.
        is_partial: bool,
    }
    /// A packet: when its event was recorded, on which CPU, who ran there, on which device; `buffer`: the
    /// kernel's address of what holds it.
    packets "packets" PacketRow PacketView by at of Devices {
        at: RawNs, cpu: u32, thread: ThreadName, device: NameId, bytes: u32, is_sent: bool, buffer:
        Option<u64>,
    }
    /// A packet that a device has taken from its queue (`net_dev_xmit`): `buffer` is that of the packet that
    /// was queued there last.
    packets_taken "packets_taken" PacketTakenRow PacketTakenView as PacketTakenSpan: Copy by at {
        /// When.
        at: RawNs,
        /// The CPU.
        cpu: u32,
        /// The address of the buffer that holds it.
        buffer: u64,
    }
    /// The source and the destination of a packet of `packets` (same `at`, `cpu`, `is_sent`), if recorded:
    /// `protocol` (6: TCP, 17: UDP), addresses as 16 bytes of IPv6 (IPv4 as `::ffff:a.b.c.d`) and ports,
    /// `payload` (bytes after that header), `seq` and `flags` of TCP.
    packet_flows "packet_flows" PacketFlowRow PacketFlowView by at [packed] {
        at: RawNs, cpu: u32, is_sent: bool, protocol: u8, source: [u8; 16], source_port: u16, destination:
        [u8; 16], destination_port: u16,
        payload: Option<u32>, seq: Option<u32>, flags: Option<u8>,
    }
    /// Pages of memory that a thread allocated or freed.
    pages "pages" PagesRow PagesView as PagesSpan: Copy by at {
        /// When.
        at: RawNs,
        /// The thread.
        thread: ThreadName => Option<ThreadRow>,
        /// Number of pages.
        pages: u64,
        /// Whether they were freed.
        is_free: bool,
    }
    /// A phase of a program: the name of its two tracepoints, and the text field that says which phase it is,
    /// if both have one.
    phases "phases" PhaseRow PhaseView as PhaseSpan by start, end of Phases {
        /// The thread.
        thread: ThreadName => Option<ThreadRow>,
        /// Its name.
        name: NameId => Name,
        /// Start.
        start "begin": RawNs,
        /// End.
        end: RawNs,
    }
    /// A file descriptor; of a socket, with its own address (`local`) and that of its peer. `open_from` is
    /// `begin`, or the least number where the start was not seen: it was open at any time before.
    files "files" FileRow FileView by open_from, end of Files [packed] {
        thread: ThreadName, process: Option<i32>, fd: i32, open_from: RawNs, start "begin": RawNs, end: RawNs,
        is_start_seen "is_begin_seen": bool, is_end_seen: bool, kind: Option<NameId>, name: Name, opened_by:
        Option<NameId>,
        closed_by: Option<NameId>, close_on_exec: bool, is_doubtful: bool, doubtful_from: Option<RawNs>,
        reads: u64, read_bytes: u64, writes: u64, written_bytes: u64, others: u64, errors: u64,
        local: Option<Name>, peer: Option<Name>,
    }
    /// A page fault (`begin`), until its thread was next seen to go on, or the trace ends (`end`; `begin`
    /// where that is unknown): the `address` that was touched, by the instruction at `ip`, by the program
    /// (`is_user`) or for it by the kernel.
    page_faults "page_faults" PageFaultRow PageFaultView as FaultSpan: Copy by start, end {
        /// The thread.
        thread: ThreadName => Option<ThreadRow>,
        /// The CPU.
        cpu: u32,
        /// Start.
        start "begin": RawNs,
        /// When the thread was next seen to go on; the start where that is unknown.
        end: RawNs,
        /// The address that was touched.
        address: u64,
        /// Address of the instruction.
        ip: u64,
        /// The processor's error code.
        code: Option<u64>,
        /// Whether the program touched it.
        is_user: bool,
    }
    /// A change of what the addresses of a thread's process show: `nothing`, `anonymous` memory, a `file`
    /// (`name`, null if unknown), or what the process of `other` shows (`copy`: a fork). `sharing`: who sees
    /// what is written there: the process alone (`private`), all that map it (`shared`), or all, but it was
    /// not mapped to be written (`read-only`). `made`: when that was made which has no path of its own:
    /// memory that is shared, or a file of `memfd_create`.
    mappings "mappings" MappingRow MappingView by at [packed] {
        thread: ThreadName, at: RawNs, address: u64, bytes: u64, what: Name, other: Option<ThreadName>, name:
        Option<Name>, sharing: Name, made: Option<RawNs>,
    }
    /// A wait for descriptors that is over: `poll`, `select`, and `epoll_wait` where any are ready (`set`:
    /// its descriptor; the call is the one of `syscalls` that ends at `at`). `waited` and `ready` are lists
    /// (`3 5 7`) of at most 64 descriptors, the counts include the others.
    polls "polls" PollRow PollView by at {
        thread: ThreadName, at: RawNs, set: Option<i32>, waited: Name, waited_count: u32, ready: Name,
        ready_count: u32,
    }
    /// What a thread did with an object of the kernel that is no file, by a call that succeeded (the one of
    /// `syscalls` that ends at `at`): `what` it is; `number`: a signal's, the id of what System V has, or the
    /// address of a futex that it waits for. `target`: the tid or pid that a signal is for; where `is_event`
    /// (`signal_generate`), as the host numbers threads, else as the thread's own pid namespace does. The
    /// thread itself got a `delivered-signal` (`signal_deliver`).
    object_uses "object_uses" ObjectUseRow ObjectUseView by at {
        thread: ThreadName, at: RawNs, what: ObjectNumber, number: i64, target: Option<i32>, is_event: bool,
    }
}

rows! { DERIVED, derived;
    /// A thread with the number that zoom levels and `open_calls` use, its life, when it was first woken,
    /// names of threads and processes, its numbers in its innermost pid namespace (of level 0 if that is the
    /// host's). An idle task has a CPU and no tid.
    threads "threads" ThreadTableRow ThreadView by start, end {
        number: ThreadRow, tid: Option<i32>, idle_of_cpu: Option<u32>, pid: Option<i32>, start "begin": RawNs,
        end: RawNs,
        comm: Option<Name>, parent: Option<i32>, is_kernel: Option<bool>, is_start_seen "is_begin_seen": bool,
        is_end_seen: bool,
        exited: Option<RawNs>, woken: Option<RawNs>, known_new_until: Option<RawNs>,
        pid_namespace: Option<u64>, pid_namespace_level: Option<u32>, vpid: Option<i32>, vtid: Option<i32>,
    }
    /// What the columns `thread`, `waker` and `other` of spans mean: number → row of `threads`, null where
    /// that is not known. A thread may have had another id when its spans were written.
    thread_names "thread_names" ThreadNameRow ThreadNameView {
        number: ThreadName, thread: Option<ThreadRow>,
    }
    /// A name of a thread that had several (a program executes another one, or renames itself): number of the
    /// thread, since when.
    comms "comms" CommRow CommView { number: ThreadRow, since: RawNs, comm: Name, }
    /// A time of a call of which an end is missing: from the end of the thread's call before to the start of
    /// its next. `is_sure`: it is in that call all the time; else it may be, as losses may have hidden the
    /// missing end. `begin`: when that started, where it was seen.
    open_calls "open_calls" OpenCallRow OpenCallView by from, until of Calls {
        thread: ThreadRow, from: RawNs, until: RawNs, is_sure: bool, start "begin": Option<RawNs>, name:
        Option<NameId>, fd: Option<i32>,
    }
    /// A time in which events are missing: of which CPU (null: all), `what`, how many. `what`: `events` the
    /// tracer had no room for, `packets`, the `rest` of a packet, the `stream`, a `chunk` of a rotated
    /// session, all of a `cpu`; `not-begun` and `over`: the stream starts later or ends earlier than others.
    losses "losses" LossRow LossView by start, end {
        start "begin": RawNs, end: RawNs, cpu: Option<u32>, what: Name, count: Option<u64>,
    }
    /// A time in which events of the kernel may be missing on any CPU: disjoint.
    missed "missed" MissedRow MissedView by start, end { start "begin": RawNs, end: RawNs, }
    /// (Beside `store.json`.) A packet that two hosts traced: number of the host (`number` in `store.json`),
    /// raw time and CPU of its event at each end, and the thread that ran there, by its number in `threads`.
    messages "messages" MessageRow MessageView as Message: Copy for Store by sent_at {
        /// Number of the host that sent it: [`HostEntry::number`](crate::HostEntry::number).
        sent_host: u32,
        /// When its event was recorded there, on the clock of that host.
        sent_at: RawNs,
        /// The CPU whose stream has the event, if known.
        sent_cpu: Option<u32>,
        /// The thread that ran there, if known.
        sent_thread: Option<ThreadRow>,
        /// Number of the host that received it.
        received_host: u32,
        /// When its event was recorded there, on the clock of that host.
        received_at: RawNs,
        /// The CPU whose stream has the event, if known.
        received_cpu: Option<u32>,
        /// The thread that ran there, if known.
        received_thread: Option<ThreadRow>,
    }
    /// (Beside `store.json`, where there are any.) A message of an MPI program: number of the host, raw time,
    /// thread (`tid`) and rank at each end (`sender`, `receiver`), `communicator`, `tag`, `bytes`.
    mpi "mpi" MpiRow MpiView as MpiMessage: Copy for Store by sent_at {
        /// Number of the host that sent it: [`HostEntry::number`](crate::HostEntry::number).
        sent_host: u32,
        /// When it was about to be sent, on the clock of that host.
        sent_at: RawNs,
        /// The thread that sent it, as the kernel numbers it, if it was recorded.
        sent_tid: Option<i32>,
        /// Its rank in `MPI_COMM_WORLD`.
        sender: i64,
        /// Number of the host that received it.
        received_host: u32,
        /// When it had been received, on the clock of that host.
        received_at: RawNs,
        /// The thread that received it, as the kernel numbers it, if it was recorded.
        received_tid: Option<i32>,
        /// Its rank in `MPI_COMM_WORLD`.
        receiver: i64,
        /// The communicator; 0 where it was not recorded.
        communicator: u64,
        /// The tag.
        tag: i64,
        /// Bytes that were sent.
        bytes: u64,
    }
    /// (`states-zoom0` …) States of threads by buckets of 2¹⁷ ns · 8ⁿ: the state that filled most of a
    /// bucket, and how much of it (`filled`).
    states_zoom "states-zoom" ZoomRow ZoomView by start, end [packed] {
        thread: ThreadRow, state: State, start "begin": RawNs, end: RawNs, filled: i64,
    }
    /// (`states-sums0` …) Time of threads by state in buckets of time (`sums` in `store.json`: their origin,
    /// and the length of the finest as a power of two; those of the next level are 64 times as long): `ns`.
    /// Buckets that a state fills are one row, cut where buckets of the next level begin.
    states_sums "states-sums" StateSumRow StateSumView by start, end [packed] {
        thread: ThreadRow, state: State, start "begin": RawNs, end: RawNs, ns: i64,
    }
    /// (`calls-sums0` …) System calls of which both ends were recorded, by the buckets of `states-sums`: how
    /// many start in one (`starts`), their time in it (`ns`), and the durations of the two longest that end
    /// in it. There may be several rows for a thread, a name and a bucket.
    calls_sums "calls-sums" CallSumRow CallSumView by start, end of Calls [packed] {
        thread: ThreadRow, name: NameId, start "begin": RawNs, end: RawNs, starts: u32, ns: i64, longest: i64,
        second: i64,
    }
}

/// All tables, and what their columns mean.
pub fn tables() -> impl Iterator<Item = &'static TableInfo> {
    SPANS.iter().chain(DERIVED)
}

/// The tables of spans alone, one for each kind.
pub fn span_tables() -> impl Iterator<Item = &'static TableInfo> {
    SPANS.iter()
}

impl FileRow {
    /// The uses of the descriptor.
    pub(crate) fn uses(&self) -> Uses {
        let &Self { reads, read_bytes, writes, written_bytes, others, errors, .. } = self;
        Uses { reads, read_bytes, writes, written_bytes, others, errors }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may panic.
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::table::ColumnKind;

    const FROM: &str = "<!-- Made of crates/store/src/tables.rs. -->\n\n";
    const TO: &str = "\n<!-- End of what is made. -->";

    /// The tables of tables, and of numbers that stand for words.
    fn made() -> String {
        let mut text = "| table | a row | columns |\n|---|---|---|\n".to_owned();
        for table in tables() {
            let columns: Vec<String> = table.columns.iter().map(|it| format!("`{}`", it.name)).collect();
            writeln!(text, "| `{}` | {} | {} |", table.name, table.about.trim(), columns.join(", ")).unwrap();
        }
        text += "\n| column | numbers |\n|---|---|\n";
        for (table, column) in tables().flat_map(|table| table.columns.iter().map(move |it| (table, it))) {
            if let ColumnKind::Word { name, last } = column.kind {
                let words: Vec<String> = (0..=last).map(|it| format!("{it} `{}`", name(it))).collect();
                writeln!(text, "| `{}` of `{}` | {} |", column.name, table.name, words.join(", ")).unwrap();
            }
        }
        text
    }

    /// With `ISOCHRONE_UPDATE_DOCS` in the environment, the document is made current.
    #[test]
    fn the_document_has_all_tables() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/store.md");
        let page = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = page.split_once(FROM).unwrap();
        let (old, after) = rest.split_once(TO).unwrap();
        if std::env::var_os("ISOCHRONE_UPDATE_DOCS").is_some() {
            std::fs::write(&path, [before, FROM, &made(), TO, after].concat()).unwrap();
        } else {
            assert_eq!(old, made());
        }
    }

    #[test]
    fn words_have_their_last_numbers() {
        for column in tables().flat_map(|table| table.columns) {
            if let ColumnKind::Word { name, last } = column.kind {
                assert_eq!(name(last + 1), "unknown");
                assert!((1..=last).all(|number| name(number) != "unknown"), "{}", column.name);
            }
        }
    }
}
