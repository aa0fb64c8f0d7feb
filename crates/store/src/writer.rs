//! The consumer that writes spans to a store, piece by piece.
//!
//! A [`SpanWriter`] collects rows and passes them in batches to the files that all pieces of a host share, so
//! that a piece holds some batches of each kind at most. Rows are never changed after they were written: they
//! refer to threads by numbers, and the writer keeps the threads of these, also when threads are renamed.

use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use isochrone_kernel::calls::{Sharing, WaitedSet};
use isochrone_kernel::files::{Bound, FileKind, FileSpan};
use isochrone_kernel::{
    BlockRequest, CanonicalMap, Half, HalfSyscall, Irq, Mapped, Mapping, Migration, Name, NetPacket,
    ObjectUse, OffCpu, PacketTaken, PageAllocation, PageFault, Period, Phase, Poll, Retired, SchedLatency,
    Slice, Softirq, Spans, Syscall, ThreadAliases, ThreadChange, ThreadEvent, ThreadId, Unknown, Wakeup,
    span_kinds,
};
use isochrone_time::RawNs;

use crate::call_target::Target;
use crate::cell::{ActionNumber, CauseNumber, ObjectNumber, ReasonNumber};
use crate::error::StoreError;
use crate::manifest::TableEntry;
use crate::names::{NameCache, NameId, NameKind, Names};
use crate::tables::{
    BlockRequestRow, CallTargetRow, FileRow, HalfSyscallRow, IrqRow, LatencyRow, MappingRow, MigrationRow,
    ObjectUseRow, OffRow, PacketFlowRow, PacketRow, PacketTakenRow, PageFaultRow, PagesRow, PendingRows,
    PhaseRow, PollRow, SliceRow, SoftirqRow, SpanFiles, SpanRow, SyscallRow, ThreadEventRow, UnknownRow,
    WakeupRow, lock,
};
use crate::threads::ThreadName;

/// What all pieces of a host share.
#[derive(Debug)]
pub(crate) struct Shared {
    files: SpanFiles,
    names: Arc<Names>,
    /// The next number of a thread's name.
    next: AtomicU32,
    /// The first error: consumers cannot return one.
    error: Mutex<Option<StoreError>>,
}

impl Shared {
    pub(crate) fn new(directory: &Path) -> Result<Self, StoreError> {
        let names = Arc::new(Names::default());
        let files = SpanFiles::create(directory, &names)?;
        Ok(Self { files, names, next: AtomicU32::new(0), error: Mutex::new(None) })
    }

    /// Finishes all files.
    pub(crate) fn finish(&self) -> Result<Vec<TableEntry>, StoreError> {
        match lock(&self.error).take() {
            Some(error) => Err(error),
            None => self.files.finish(),
        }
    }

    /// The names of the host.
    pub(crate) fn names(&self) -> &Arc<Names> {
        &self.names
    }

    /// Writes a batch of a table.
    #[cold]
    pub(crate) fn write<R: SpanRow>(&self, rows: &[R]) {
        let mut file = lock(R::file(&self.files));
        let Some(file) = file.as_mut() else { return };
        if let Err(error) = file.write(rows) {
            lock(&self.error).get_or_insert(error);
        }
    }
}

/// A consumer of spans that writes them to the store of a host: see
/// [`HostWriter::consumer`](crate::HostWriter::consumer).
#[derive(Debug)]
pub struct SpanWriter {
    shared: Arc<Shared>,
    pending: PendingRows,
    /// The numbers that stand for each thread in rows.
    threads: CanonicalMap<ThreadId, RowThreads>,
    names: NameCache,
    follows_files: bool,
}

/// The numbers that stand for a thread, and whether it makes system calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowThreads {
    first: ThreadName,
    /// The numbers of threads that were identified as this one.
    more: Vec<ThreadName>,
    makes_calls: bool,
}

impl RowThreads {
    fn new(first: ThreadName) -> Self {
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
    pub(crate) fn iter(&self) -> impl Iterator<Item = ThreadName> + '_ {
        std::iter::once(self.first).chain(self.more.iter().copied())
    }
}

impl SpanWriter {
    pub(crate) fn new(shared: Arc<Shared>, follows_files: bool) -> Self {
        Self {
            shared,
            pending: PendingRows::default(),
            threads: CanonicalMap::default(),
            names: NameCache::default(),
            follows_files,
        }
    }

    #[inline]
    fn numbers(&mut self, thread: ThreadId) -> &mut RowThreads {
        let shared = &self.shared;
        self.threads.or_insert_with(thread, || {
            RowThreads::new(ThreadName(shared.next.fetch_add(1, Ordering::Relaxed)))
        })
    }

    #[inline]
    fn thread(&mut self, thread: ThreadId) -> ThreadName {
        self.numbers(thread).first
    }

    #[inline]
    fn some_thread(&mut self, thread: Option<ThreadId>) -> Option<ThreadName> {
        thread.map(|thread| self.thread(thread))
    }

    #[inline]
    fn name(&mut self, of: NameKind, name: &str) -> NameId {
        self.names.number(&self.shared.names, of, name)
    }

    fn some_name(&mut self, of: NameKind, name: Option<&str>) -> Option<NameId> {
        name.map(|name| self.name(of, name))
    }

    /// Adds a row to its table.
    #[inline]
    fn push<R: SpanRow>(&mut self, row: R) {
        if let Some(full) = R::pending(&mut self.pending).push(row) {
            self.shared.write(&full);
        }
    }

    /// Writes the remaining rows. Returns the numbers that stand for each thread.
    pub(crate) fn flush(mut self) -> CanonicalMap<ThreadId, RowThreads> {
        self.pending.flush(&self.shared);
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

/// A row for each kind of span: a kind that has none would call itself, which the lint
/// `unconditional_recursion` refuses.
impl SpanWriter {
    fn slice(&mut self, it: &Slice) {
        let Slice { cpu, thread, priority, begin, end } = *it;
        let thread = self.thread(thread);
        self.push(SliceRow { cpu, thread, priority, start: begin, end });
    }

    fn unknown(&mut self, it: &Unknown) {
        let Unknown { cpu, thread, begin, end } = *it;
        let thread = self.some_thread(thread);
        self.push(UnknownRow { cpu, thread, start: begin, end });
    }

    fn syscall(&mut self, it: &Syscall<'_>) {
        let Syscall { thread, cpu, begin, end, entry, exit } = *it;
        let caller = self.numbers(thread);
        caller.makes_calls = true;
        let thread = caller.first;
        let name = self.name(NameKind::Calls, &entry.name);
        let fd = entry.effect.descriptor();
        let action = ActionNumber(entry.effect.action().number());
        let ret = exit.ret;
        self.push(SyscallRow { thread, cpu, start: begin, end, name, fd, ret, action });
        if let Some(Target { fd, to_fd, path }) = Target::of(entry, exit) {
            self.push(CallTargetRow { thread, start: begin, end, name, ret, fd, to_fd, path });
        }
    }

    fn half_syscall(&mut self, it: &HalfSyscall<'_>) {
        let HalfSyscall { thread, cpu, name, at, half, entry } = *it;
        let name = self.some_name(NameKind::Calls, name.map(Name::as_str));
        let is_begin = half == Half::Begin;
        let caller = self.numbers(thread);
        caller.makes_calls = true;
        let thread = caller.first;
        let fd = entry.and_then(|entry| entry.effect.descriptor());
        let row = HalfSyscallRow { thread, cpu, at, is_begin, name, fd };
        self.push(row);
    }

    fn irq(&mut self, it: &Irq) {
        let Irq { cpu, number, ref name, ret, begin, end } = *it;
        let name = self.name(NameKind::Interrupts, name);
        self.push(IrqRow { cpu, number, name, ret, start: begin, end });
    }

    fn softirq(&mut self, it: &Softirq) {
        let Softirq { cpu, vector, raised, begin, end } = *it;
        self.push(SoftirqRow { cpu, vector, raised, start: begin, end });
    }

    fn sched_latency(&mut self, it: &SchedLatency) {
        let SchedLatency { thread, waker, cpu, priority, begin, end } = *it;
        let (thread, waker) = (self.thread(thread), self.some_thread(waker));
        self.push(LatencyRow { thread, waker, cpu, priority, start: begin, end });
    }

    fn wakeup(&mut self, it: &Wakeup) {
        let Wakeup { thread, at, cpu, target_cpu, waker, cause } = *it;
        let (thread, waker) = (self.thread(thread), self.thread(waker));
        let (cause, source) = cause.number();
        self.push(WakeupRow { thread, waker, cpu, target_cpu, at, cause: CauseNumber(cause), source });
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
        self.push(row);
    }

    fn migration(&mut self, it: &Migration) {
        let thread = self.thread(it.thread);
        self.push(MigrationRow { thread, at: it.at, to_cpu: it.to });
    }

    fn off_cpu(&mut self, it: &OffCpu) {
        let OffCpu { thread, reason, begin, end, waker } = *it;
        let (thread, waker) = (self.thread(thread), self.some_thread(waker));
        self.push(OffRow { thread, waker, why: ReasonNumber(reason.number()), start: begin, end });
    }

    fn block_request(&mut self, it: &BlockRequest) {
        let thread = self.some_thread(it.thread);
        let BlockRequest { device, sector, sectors, is_write, bytes, inserted, issued, completed, .. } = *it;
        self.push(BlockRequestRow {
            device,
            sector,
            sectors,
            is_write,
            thread,
            start: it.begin(),
            end: it.end(),
            bytes,
            inserted,
            issued,
            completed,
            error: it.error,
            is_partial: it.is_partial,
        });
    }

    fn packet(&mut self, it: &NetPacket) {
        let NetPacket { at, cpu, thread, ref device, bytes, is_sent, buffer, flow, carried } = *it;
        let (thread, device) = (self.thread(thread), self.name(NameKind::Devices, device));
        self.push(PacketRow { at, cpu, thread, device, bytes, is_sent, buffer });
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
            self.push(row);
        }
    }

    fn packet_taken(&mut self, it: &PacketTaken) {
        let PacketTaken { at, cpu, buffer } = *it;
        self.push(PacketTakenRow { at, cpu, buffer });
    }

    fn page_fault(&mut self, it: &PageFault) {
        let PageFault { thread, cpu, begin, end, address, ip, code, is_user } = *it;
        let thread = self.thread(thread);
        self.push(PageFaultRow {
            thread,
            cpu,
            start: begin,
            end: end.unwrap_or(begin),
            address,
            ip,
            code,
            is_user,
        });
    }

    fn mapping(&mut self, it: &Mapping) {
        let Mapping { thread, at, address, bytes, ref what } = *it;
        let (mut other, mut name, mut shared) = (None, None, (Sharing::Private, None));
        let what = match what {
            Mapped::Nothing => "nothing",
            Mapped::Anonymous { made, sharing } => {
                shared = (*sharing, *made);
                "anonymous"
            }
            Mapped::File { name: of, made, sharing } => {
                name = Some(of.clone()).filter(|name| !name.is_empty());
                shared = (*sharing, *made);
                "file"
            }
            Mapped::CopyOf(parent) => {
                other = Some(*parent);
                "copy"
            }
        };
        let (thread, other) = (self.thread(thread), self.some_thread(other));
        let (what, (sharing, made)) = (Name::const_new(what), shared);
        let sharing = Name::const_new(sharing.name());
        self.push(MappingRow { thread, at, address, bytes, what, other, name, sharing, made });
    }

    fn page_allocation(&mut self, it: &PageAllocation) {
        let PageAllocation { at, thread, pages, is_free } = *it;
        let thread = self.thread(thread);
        self.push(PagesRow { at, thread, pages, is_free });
    }

    /// A store is of the traces alone: what a question defines is not in it.
    #[allow(clippy::unused_self)] // One method for each kind.
    fn period(&mut self, _: &Period) {}

    fn phase(&mut self, it: &Phase) {
        let (thread, name) = (self.thread(it.thread), self.name(NameKind::Phases, &it.name));
        self.push(PhaseRow { thread, name, start: it.begin, end: it.end });
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
        let mut label = |label| self.some_name(NameKind::Files, label);
        let row = FileRow {
            thread,
            process: it.process,
            fd: it.fd,
            open_from: if it.begin_bound == Bound::Hard { it.begin } else { RawNs::MIN },
            start: it.begin,
            end: it.end,
            is_start_seen: it.begin_bound == Bound::Hard,
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
        self.push(row);
    }

    fn object_use(&mut self, it: &ObjectUse) {
        let ObjectUse { thread, at, object, is_event } = *it;
        let (thread, (what, number, target)) = (self.thread(thread), object.parts());
        self.push(ObjectUseRow { thread, at, what: ObjectNumber(what), number, target, is_event });
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
        self.push(row);
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
                    self.threads.rekey(|thread| aliases.of(*thread), RowThreads::absorb);
                }
            }

            fn absorb(&mut self, right: Self) {
                self.threads.absorb(right.threads, RowThreads::absorb);
                self.pending.append(right.pending, &self.shared);
            }
        }
    };
}

span_kinds!(write_rows);
