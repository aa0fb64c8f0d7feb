//! The consumer that writes spans to a store, piece by piece.
//!
//! A [`SpanWriter`] collects rows and passes them in batches to the files that all pieces of a host share, so that a piece
//! holds some batches of each kind at most. Rows are never changed after they were written: they refer to threads by numbers,
//! and the writer keeps the threads of these, also when threads are renamed.

use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use isochrone_kernel::calls::WaitedSet;
use isochrone_kernel::files::{Bound, FileKind, FileSpan};
use isochrone_kernel::{
    BlockRequest, CanonicalMap, Half, HalfSyscall, Irq, Migration, Name, NetPacket, OffCpu, PacketTaken,
    PageAllocation, Period, Phase, Poll, Retired, SchedLatency, Slice, Softirq, Spans, Syscall,
    ThreadAliases, ThreadChange, ThreadEvent, ThreadId, Time, Unknown, Wakeup, span_kinds,
};

use crate::batches::BatchFile;
use crate::cell::NameId;
use crate::error::StoreError;
use crate::manifest::TableEntry;
use crate::names::{Known, Names, Vocabulary};
use crate::table::{Row, Rows};
use crate::tables::{
    BlockRequestRow, FileRow, HalfSyscallRow, IrqRow, LatencyRow, MigrationRow, OffRow, PacketFlowRow,
    PacketRow, PacketTakenRow, PagesRow, PhaseRow, PollRow, SliceRow, SoftirqRow, SyscallRow, ThreadEventRow,
    UnknownRow, WakeupRow,
};

/// A file that several pieces write to.
type SharedFile<R> = Mutex<Option<BatchFile<R>>>;

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// For each table of spans: the field of its files and rows, the type of its rows.
macro_rules! tables_of_spans {
    ($callback:ident) => {
        $callback! {
            slices SliceRow,
            unknown UnknownRow,
            syscalls SyscallRow,
            half_syscalls HalfSyscallRow,
            irqs IrqRow,
            softirqs SoftirqRow,
            latencies LatencyRow,
            wakeups WakeupRow,
            thread_events ThreadEventRow,
            migrations MigrationRow,
            off OffRow,
            block_requests BlockRequestRow,
            packets PacketRow,
            packets_taken PacketTakenRow,
            packet_flows PacketFlowRow,
            pages PagesRow,
            phases PhaseRow,
            files FileRow,
            polls PollRow,
        }
    };
}

macro_rules! shared {
    ($($field:ident $Row:ident,)*) => {
        /// The files that all pieces of a host share.
        #[derive(Debug)]
        pub(crate) struct Shared {
            $($field: SharedFile<$Row>,)*
            names: Arc<Names>,
            /// The next number of a thread's name.
            next: AtomicU32,
            /// The first error: consumers cannot return one.
            error: Mutex<Option<StoreError>>,
        }

        /// Rows that wait to be written.
        #[derive(Debug, Default)]
        struct Waiting {
            $($field: Rows<$Row>,)*
        }

        impl Shared {
            pub(crate) fn new(directory: &Path) -> Result<Self, StoreError> {
                let names = Arc::new(Names::default());
                Ok(Self {
                    $($field: Mutex::new(Some(BatchFile::create(directory, &names)?)),)*
                    names,
                    next: AtomicU32::new(0),
                    error: Mutex::new(None),
                })
            }

            /// Finishes all files.
            pub(crate) fn finish(&self) -> Result<Vec<TableEntry>, StoreError> {
                if let Some(error) = lock(&self.error).take() {
                    return Err(error);
                }
                let mut entries = Vec::new();
                $(if let Some(file) = lock(&self.$field).take() {
                    entries.push(file.finish()?);
                })*
                Ok(entries)
            }
        }

        impl Waiting {
            /// Appends the rows that another piece has not written yet.
            fn append(&mut self, other: Self, shared: &Shared) {
                $(self.$field.append(other.$field, |rows| shared.write(&shared.$field, &rows));)*
            }

            /// Writes everything.
            fn flush(&mut self, shared: &Shared) {
                $(for rows in self.$field.take() {
                    shared.write(&shared.$field, &rows);
                })*
            }
        }
    };
}

tables_of_spans!(shared);

impl Shared {
    /// The names of the host.
    pub(crate) fn names(&self) -> &Arc<Names> {
        &self.names
    }

    #[cold]
    fn write<R: Row>(&self, file: &SharedFile<R>, rows: &[R]) {
        let mut file = lock(file);
        let Some(file) = file.as_mut() else { return };
        if let Err(error) = file.write(rows) {
            lock(&self.error).get_or_insert(error);
        }
    }
}

/// A consumer of spans that writes them to the store of a host: see [`HostWriter::consumer`](crate::HostWriter::consumer).
#[derive(Debug)]
pub struct SpanWriter {
    shared: Arc<Shared>,
    waiting: Waiting,
    /// The numbers that stand for each thread in rows.
    threads: CanonicalMap<ThreadId, Numbers>,
    names: Known,
    follows_files: bool,
}

/// The numbers that stand for a thread, and whether it makes system calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Numbers {
    first: u32,
    /// The numbers of threads that were identified as this one.
    more: Vec<u32>,
    makes_calls: bool,
}

impl Numbers {
    fn new(first: u32) -> Self {
        Self { first, more: Vec::new(), makes_calls: false }
    }

    fn absorb(&mut self, other: Self) {
        self.more.push(other.first);
        self.more.extend(other.more);
        self.makes_calls |= other.makes_calls;
    }

    /// Whether it makes system calls.
    pub(crate) fn makes_calls(&self) -> bool {
        self.makes_calls
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        std::iter::once(self.first).chain(self.more.iter().copied())
    }
}

impl SpanWriter {
    pub(crate) fn new(shared: Arc<Shared>, follows_files: bool) -> Self {
        Self {
            shared,
            waiting: Waiting::default(),
            threads: CanonicalMap::default(),
            names: Known::default(),
            follows_files,
        }
    }

    #[inline]
    fn numbers(&mut self, thread: ThreadId) -> &mut Numbers {
        let shared = &self.shared;
        self.threads.or_insert_with(thread, || Numbers::new(shared.next.fetch_add(1, Ordering::Relaxed)))
    }

    #[inline]
    fn thread(&mut self, thread: ThreadId) -> u32 {
        self.numbers(thread).first
    }

    #[inline]
    fn some_thread(&mut self, thread: Option<ThreadId>) -> Option<u32> {
        thread.map(|thread| self.thread(thread))
    }

    #[inline]
    fn name(&mut self, of: Vocabulary, name: &str) -> NameId {
        self.names.number(&self.shared.names, of, name)
    }

    fn some_name(&mut self, of: Vocabulary, name: Option<&str>) -> Option<NameId> {
        name.map(|name| self.name(of, name))
    }

    /// Writes the remaining rows. Returns the numbers that stand for each thread.
    pub(crate) fn flush(mut self) -> CanonicalMap<ThreadId, Numbers> {
        self.waiting.flush(&self.shared);
        self.threads
    }
}

/// An address as IPv6; an IPv4 address is mapped.
fn octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

/// Adds a row to its table.
macro_rules! push {
    ($writer:ident, $field:ident, $row:expr) => {
        if let Some(full) = $writer.waiting.$field.push($row) {
            $writer.shared.write(&$writer.shared.$field, &full);
        }
    };
}

/// A row for each kind of span: a kind that has none would call itself, which the lint `unconditional_recursion` refuses.
impl SpanWriter {
    fn slice(&mut self, it: &Slice) {
        let Slice { cpu, thread, priority, begin, end } = *it;
        let thread = self.thread(thread);
        push!(self, slices, SliceRow { cpu, thread, priority, begin, end });
    }

    fn unknown(&mut self, it: &Unknown) {
        let Unknown { cpu, thread, begin, end } = *it;
        let thread = self.some_thread(thread);
        push!(self, unknown, UnknownRow { cpu, thread, begin, end });
    }

    fn syscall(&mut self, it: &Syscall<'_>) {
        let Syscall { thread, cpu, begin, end, entry, exit } = *it;
        let caller = self.numbers(thread);
        caller.makes_calls = true;
        let thread = caller.first;
        let name = self.name(Vocabulary::Calls, &entry.name);
        let fd = entry.effect.descriptor();
        push!(self, syscalls, SyscallRow { thread, cpu, begin, end, name, fd, ret: exit.ret });
    }

    fn half_syscall(&mut self, it: &HalfSyscall<'_>) {
        let HalfSyscall { thread, cpu, name, at, half, entry } = *it;
        let name = self.some_name(Vocabulary::Calls, name.map(Name::as_str));
        let is_begin = half == Half::Begin;
        let caller = self.numbers(thread);
        caller.makes_calls = true;
        let thread = caller.first;
        let fd = entry.and_then(|entry| entry.effect.descriptor());
        let row = HalfSyscallRow { thread, cpu, at, is_begin, name, fd };
        push!(self, half_syscalls, row);
    }

    fn irq(&mut self, it: &Irq) {
        let Irq { cpu, number, ref name, ret, begin, end } = *it;
        let name = self.name(Vocabulary::Interrupts, name);
        push!(self, irqs, IrqRow { cpu, number, name, ret, begin, end });
    }

    fn softirq(&mut self, it: &Softirq) {
        let Softirq { cpu, vector, raised, begin, end } = *it;
        push!(self, softirqs, SoftirqRow { cpu, vector, raised, begin, end });
    }

    fn sched_latency(&mut self, it: &SchedLatency) {
        let SchedLatency { thread, waker, cpu, priority, begin, end } = *it;
        let (thread, waker) = (self.thread(thread), self.some_thread(waker));
        push!(self, latencies, LatencyRow { thread, waker, cpu, priority, begin, end });
    }

    fn wakeup(&mut self, it: &Wakeup) {
        let Wakeup { thread, at, cpu, target_cpu, waker, cause } = *it;
        let (thread, waker) = (self.thread(thread), self.thread(waker));
        let (cause, source) = cause.number();
        push!(self, wakeups, WakeupRow { thread, waker, cpu, target_cpu, at, cause, source });
    }

    fn thread_event(&mut self, it: &ThreadEvent) {
        let thread = self.thread(it.thread);
        let (what, other, name) = match &it.what {
            ThreadChange::Forked { parent, comm } => ("forked", Some(*parent), Some(comm)),
            ThreadChange::Executed { program } => ("executed", None, Some(program)),
            ThreadChange::Renumbered { was } => ("renumbered", Some(*was), None),
            ThreadChange::Exits => ("exits", None, None),
            ThreadChange::Died => ("died", None, None),
        };
        let other = self.some_thread(other);
        let row =
            ThreadEventRow { thread, at: it.at, what: Name::const_new(what), other, name: name.cloned() };
        push!(self, thread_events, row);
    }

    fn migration(&mut self, it: &Migration) {
        let thread = self.thread(it.thread);
        push!(self, migrations, MigrationRow { thread, at: it.at, to_cpu: it.to });
    }

    fn off_cpu(&mut self, it: &OffCpu) {
        let OffCpu { thread, reason, begin, end, waker } = *it;
        let (thread, waker) = (self.thread(thread), self.some_thread(waker));
        push!(self, off, OffRow { thread, waker, why: reason.number(), begin, end });
    }

    fn block_request(&mut self, it: &BlockRequest) {
        let thread = self.some_thread(it.thread);
        let BlockRequest { device, sector, sectors, is_write, bytes, inserted, issued, completed, .. } = *it;
        push!(
            self,
            block_requests,
            BlockRequestRow {
                device,
                sector,
                sectors,
                is_write,
                thread,
                begin: it.begin(),
                end: it.end(),
                bytes,
                inserted,
                issued,
                completed,
                error: it.error,
                is_partial: it.is_partial,
            }
        );
    }

    fn packet(&mut self, it: &NetPacket) {
        let NetPacket { at, cpu, thread, ref device, bytes, is_sent, buffer, flow, carried } = *it;
        let (thread, device) = (self.thread(thread), self.name(Vocabulary::Devices, device));
        push!(self, packets, PacketRow { at, cpu, thread, device, bytes, is_sent, buffer });
        if let Some(flow) = flow {
            let (source, destination) = (flow.source, flow.destination);
            let row = PacketFlowRow {
                at,
                cpu,
                is_sent,
                protocol: flow.protocol,
                source: octets(source.ip()),
                source_port: source.port(),
                destination: octets(destination.ip()),
                destination_port: destination.port(),
                payload: carried.payload,
                seq: carried.seq,
                flags: carried.flags,
            };
            push!(self, packet_flows, row);
        }
    }

    fn packet_taken(&mut self, it: &PacketTaken) {
        let PacketTaken { at, cpu, buffer } = *it;
        push!(self, packets_taken, PacketTakenRow { at, cpu, buffer });
    }

    fn page_allocation(&mut self, it: &PageAllocation) {
        let PageAllocation { at, thread, pages, is_free } = *it;
        let thread = self.thread(thread);
        push!(self, pages, PagesRow { at, thread, pages, is_free });
    }

    /// A store is of the traces alone: what a question defines is not in it.
    #[allow(clippy::unused_self)] // One method for each kind.
    fn period(&mut self, _: &Period) {}

    fn phase(&mut self, it: &Phase) {
        let (thread, name) = (self.thread(it.thread), self.name(Vocabulary::Phases, &it.name));
        push!(self, phases, PhaseRow { thread, name, begin: it.begin, end: it.end });
    }

    fn file(&mut self, it: &FileSpan) {
        if !self.follows_files {
            return;
        }
        let thread = self.thread(it.thread);
        let [local, peer] = match &it.kind {
            FileKind::Socket(socket) => [socket.local, socket.peer],
            _ => [None, None],
        };
        let [local, peer] = [local, peer].map(|end| end.map(|end| Name::from(end.to_string())));
        let mut label = |label| self.some_name(Vocabulary::Files, label);
        let row = FileRow {
            thread,
            process: it.process,
            fd: it.fd,
            open_from: if it.begin_bound == Bound::Hard { it.begin } else { Time::MIN },
            begin: it.begin,
            end: it.end,
            is_begin_seen: it.begin_bound == Bound::Hard,
            is_end_seen: it.end_bound == Bound::Hard,
            kind: label(it.kind.label()),
            name: it.name.clone(),
            opened_by: label(it.opened_by.label()),
            closed_by: label(it.closed_by.label()),
            close_on_exec: it.close_on_exec,
            is_doubtful: it.is_doubtful,
            doubtful_from: it.doubtful_from,
            reads: it.uses.reads,
            read_bytes: it.uses.read_bytes,
            writes: it.uses.writes,
            written_bytes: it.uses.written_bytes,
            others: it.uses.others,
            errors: it.uses.errors,
            local,
            peer,
        };
        push!(self, files, row);
    }

    fn poll(&mut self, it: &Poll) {
        let thread = self.thread(it.thread);
        let list = |set: &WaitedSet| -> Name {
            let all: Vec<String> = set.first.iter().map(|waited| waited.fd.to_string()).collect();
            all.join(" ").into()
        };
        let (waited, ready) = (list(&it.waited), list(&it.ready));
        let row = PollRow {
            thread,
            at: it.at,
            set: it.set,
            waited,
            waited_count: it.waited.count,
            ready,
            ready_count: it.ready.count,
        };
        push!(self, polls, row);
    }

    /// The table of threads is written at the end, of all of them.
    #[allow(clippy::unused_self)] // One method for each kind.
    fn retired(&mut self, _: &Retired) {}
}

macro_rules! write_rows {
    ($($(#[$doc:meta])* $method:ident $Variant:ident $Type:ty => $Owned:ty;)*) => {
        impl Spans for SpanWriter {
            $(fn $method(&mut self, it: &$Type) {
                Self::$method(self, it);
            })*

            fn wants_files(&self) -> bool {
                self.follows_files
            }

            /// Rows do not change: only the threads of their numbers do.
            fn rename(&mut self, aliases: &ThreadAliases) {
                if !aliases.is_empty() {
                    self.threads.rekey(|thread| aliases.of(*thread), Numbers::absorb);
                }
            }

            fn absorb(&mut self, right: Self) {
                self.threads.absorb(right.threads, Numbers::absorb);
                self.waiting.append(right.waiting, &self.shared);
            }
        }
    };
}

span_kinds!(write_rows);
