//! The consumer that writes spans to a store, piece by piece.
//!
//! A [`SpanWriter`] collects rows and gives them away in batches to what all pieces of a host share, so that a piece holds a batch
//! of each kind at most. Nothing that was written is changed later: rows name threads by numbers, and the writer keeps what these mean, also
//! when threads turn out to be others.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use isochrone_kernel::calls::WaitedSet;
use isochrone_kernel::files::{Bound, FileKind, FileSpan};
use isochrone_kernel::{
    BlockRequest, CanonicalMap, Cause, Half, HalfSyscall, Irq, Migration, NetPacket, OffCpu, OffCpuReason,
    PageAllocation, Phase, Poll, Retired, SchedLatency, Slice, Softirq, Spans, Syscall, ThreadAliases,
    ThreadChange, ThreadEvent, ThreadId, Time, Unknown, Wakeup, span_kinds,
};

use crate::batches::BatchFile;
use crate::error::StoreError;
use crate::table::{Cell, Rows};
use crate::tables::{OF_SPANS, place};

/// Rows of a batch.
pub(crate) const BATCH_ROWS: usize = 1 << 15;

/// What all pieces of a host share.
#[derive(Debug)]
pub(crate) struct Shared {
    files: Vec<Mutex<Option<BatchFile>>>,
    /// The next number of a thread's name.
    next: AtomicU32,
    /// The first thing that went wrong: consumers cannot say so.
    error: Mutex<Option<StoreError>>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(crate) fn new(files: Vec<BatchFile>) -> Self {
        let files = files.into_iter().map(|file| Mutex::new(Some(file))).collect();
        Self { files, next: AtomicU32::new(0), error: Mutex::new(None) }
    }

    fn write(&self, table: usize, rows: &mut Rows) {
        let mut file = lock(&self.files[table]);
        let Some(file) = file.as_mut() else { return };
        let batch = rows.take(None).map_err(StoreError::arrow(file.path()));
        if let Err(error) = batch.and_then(|batch| file.write(&batch)) {
            lock(&self.error).get_or_insert(error);
        }
    }

    /// Ends all files. Returns them with their numbers of rows.
    pub(crate) fn finish(&self) -> Result<Vec<BatchFile>, StoreError> {
        if let Some(error) = lock(&self.error).take() {
            return Err(error);
        }
        Ok(self.files.iter().filter_map(|file| lock(file).take()).collect())
    }
}

/// A number that stands for a thread in rows, and what is to be known of its calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) number: u32,
    /// When the first of its calls began, as far as that was seen.
    pub(crate) first_call: Time,
    /// The first exit of a call whose entry was not seen: time, name.
    pub(crate) first_exit: Option<(Time, String)>,
}

/// A consumer of spans that writes them to the store of a host: see [`HostWriter::consumer`](crate::HostWriter::consumer).
#[derive(Debug)]
pub struct SpanWriter {
    shared: Arc<Shared>,
    tables: Vec<Rows>,
    threads: CanonicalMap<ThreadId, Vec<Named>>,
}

macro_rules! row {
    ($writer:ident, $table:ident, [$($cell:expr),* $(,)?]) => {
        $writer.push(place::$table, [$(Cell::from($cell)),*])
    };
}

impl SpanWriter {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let tables = OF_SPANS.iter().map(|layout| Rows::new(layout)).collect();
        Self { shared, tables, threads: CanonicalMap::default() }
    }

    fn push<const N: usize>(&mut self, table: usize, cells: [Cell<'_>; N]) {
        let rows = &mut self.tables[table];
        rows.push(cells);
        if rows.len() >= BATCH_ROWS {
            self.shared.write(table, rows);
        }
    }

    fn named(&mut self, thread: ThreadId) -> &mut Named {
        let shared = &self.shared;
        let new = || {
            let number = shared.next.fetch_add(1, Ordering::Relaxed);
            vec![Named { number, first_call: Time::MAX, first_exit: None }]
        };
        // A thread has a name at least.
        &mut self.threads.or_insert_with(thread, new)[0]
    }

    fn thread(&mut self, thread: ThreadId) -> u32 {
        self.named(thread).number
    }

    fn some_thread(&mut self, thread: Option<ThreadId>) -> Option<u32> {
        thread.map(|thread| self.thread(thread))
    }

    /// The number of a thread that calls.
    fn caller(&mut self, thread: ThreadId, begin: Time) -> u32 {
        let named = self.named(thread);
        named.first_call = named.first_call.min(begin);
        named.number
    }

    /// Writes what is left. Returns the numbers that stand for each thread.
    pub(crate) fn flush(mut self) -> CanonicalMap<ThreadId, Vec<Named>> {
        for (table, rows) in self.tables.iter_mut().enumerate() {
            if rows.len() > 0 {
                self.shared.write(table, rows);
            }
        }
        self.threads
    }
}

/// The number of a reason in the column `why`.
pub(crate) fn number_of(why: OffCpuReason) -> u8 {
    match why {
        OffCpuReason::Preempted => 0,
        OffCpuReason::Blocked => 1,
        OffCpuReason::Uninterruptible => 2,
        OffCpuReason::Stopped => 3,
    }
}

/// A row for each kind of span: a kind that has none would call itself, which the compiler refuses.
impl SpanWriter {
    fn slice(&mut self, it: &Slice) {
        let thread = self.thread(it.thread);
        row!(self, SLICES, [it.cpu, thread, it.priority, it.begin, it.end]);
    }

    fn unknown(&mut self, it: &Unknown) {
        let thread = self.some_thread(it.thread);
        row!(self, UNKNOWN, [it.cpu, thread, it.begin, it.end]);
    }

    fn syscall(&mut self, it: &Syscall<'_>) {
        let thread = self.caller(it.thread, it.begin);
        let fd = it.entry.effect.descriptor();
        row!(self, SYSCALLS, [thread, it.cpu, it.begin, it.end, it.entry.name.as_str(), fd, it.exit.ret]);
    }

    fn half_syscall(&mut self, it: &HalfSyscall<'_>) {
        let is_begin = it.half == Half::Begin;
        let name = it.name.map(isochrone_kernel::Name::as_str);
        let named = self.named(it.thread);
        if is_begin {
            named.first_call = named.first_call.min(it.at);
        } else if named.first_exit.as_ref().is_none_or(|first| it.at < first.0) {
            named.first_exit = Some((it.at, name.unwrap_or_default().to_owned()));
        }
        let thread = named.number;
        let fd = it.entry.and_then(|entry| entry.effect.descriptor());
        row!(self, HALF_SYSCALLS, [thread, it.cpu, it.at, is_begin, name, fd]);
    }

    fn irq(&mut self, it: &Irq) {
        row!(self, IRQS, [it.cpu, it.number, it.name.as_str(), it.ret, it.begin, it.end]);
    }

    fn softirq(&mut self, it: &Softirq) {
        row!(self, SOFTIRQS, [it.cpu, it.vector, it.raised, it.begin, it.end]);
    }

    fn sched_latency(&mut self, it: &SchedLatency) {
        let (thread, waker) = (self.thread(it.thread), self.some_thread(it.waker));
        row!(self, LATENCIES, [thread, waker, it.cpu, it.priority, it.begin, it.end]);
    }

    fn wakeup(&mut self, it: &Wakeup) {
        let (thread, waker) = (self.thread(it.thread), self.thread(it.waker));
        let (cause, source) = match it.cause {
            Cause::Thread => (Some("thread"), None),
            Cause::Irq(number) => (Some("irq"), Some(i64::from(number))),
            Cause::Softirq(vector) => (Some("softirq"), Some(i64::from(vector))),
            Cause::Timer => (Some("timer"), None),
            Cause::Ipi(vector) => (Some("ipi"), Some(i64::from(vector))),
            Cause::Vector(vector) => (Some("vector"), Some(i64::from(vector))),
            Cause::Unknown => (None, None),
        };
        row!(self, WAKEUPS, [thread, waker, it.cpu, it.target_cpu, it.at, cause, source]);
    }

    fn thread_event(&mut self, it: &ThreadEvent) {
        let thread = self.thread(it.thread);
        let (what, other, name) = match &it.what {
            ThreadChange::Forked { parent, comm } => ("forked", Some(*parent), Some(comm.as_str())),
            ThreadChange::Executed { program } => ("executed", None, Some(program.as_str())),
            ThreadChange::Renumbered { was } => ("renumbered", Some(*was), None),
            ThreadChange::Exits => ("exits", None, None),
            ThreadChange::Died => ("died", None, None),
        };
        let other = self.some_thread(other);
        row!(self, THREAD_EVENTS, [thread, it.at, what, other, name]);
    }

    fn migration(&mut self, it: &Migration) {
        let thread = self.thread(it.thread);
        row!(self, MIGRATIONS, [thread, it.at, it.to]);
    }

    fn off_cpu(&mut self, it: &OffCpu) {
        let (thread, waker) = (self.thread(it.thread), self.some_thread(it.waker));
        row!(self, OFF, [thread, waker, number_of(it.reason), it.begin, it.end]);
    }

    fn block_request(&mut self, it: &BlockRequest) {
        let thread = self.some_thread(it.thread);
        row!(
            self,
            BLOCK_REQUESTS,
            [
                it.device,
                it.sector,
                it.sectors,
                it.is_write,
                thread,
                it.begin(),
                it.end(),
                it.bytes,
                it.inserted,
                it.issued,
                it.completed,
                it.error,
                it.is_partial,
            ]
        );
    }

    fn packet(&mut self, it: &NetPacket) {
        let thread = self.thread(it.thread);
        let protocol = it.flow.map(|flow| flow.protocol);
        let ends = it.flow.map(|flow| [flow.source, flow.destination].map(|end| end.to_string()));
        let [source, destination] = [0, 1].map(|end| ends.as_ref().map(|ends| ends[end].as_str()));
        row!(
            self,
            PACKETS,
            [it.at, it.cpu, thread, it.device.as_str(), it.bytes, it.is_sent, protocol, source, destination]
        );
    }

    fn page_allocation(&mut self, it: &PageAllocation) {
        let thread = self.thread(it.thread);
        row!(self, PAGES, [it.at, thread, it.pages, it.is_free]);
    }

    fn phase(&mut self, it: &Phase) {
        let thread = self.thread(it.thread);
        row!(self, PHASES, [thread, it.name.as_str(), it.begin, it.end]);
    }

    fn file(&mut self, it: &FileSpan) {
        let thread = self.thread(it.thread);
        let (is_begin_seen, is_end_seen) = (it.begin_bound == Bound::Hard, it.end_bound == Bound::Hard);
        let (opened_by, closed_by) = (it.opened_by.label(), it.closed_by.label());
        let [local, peer] = match &it.kind {
            FileKind::Socket(socket) => [socket.local, socket.peer],
            _ => [None, None],
        };
        let [local, peer] = [local, peer].map(|end| end.map(|end| end.to_string()));
        row!(
            self,
            FILES,
            [
                thread,
                it.process,
                it.fd,
                it.begin,
                it.end,
                is_begin_seen,
                is_end_seen,
                it.kind.label(),
                it.name.as_str(),
                opened_by,
                closed_by,
                it.is_doubtful,
                it.uses.read_bytes,
                it.uses.written_bytes,
                local.as_deref(),
                peer.as_deref(),
            ]
        );
    }

    fn poll(&mut self, it: &Poll) {
        let thread = self.thread(it.thread);
        let list = |set: &WaitedSet| {
            let all: Vec<String> = set.first.iter().map(|waited| waited.fd.to_string()).collect();
            all.join(" ")
        };
        let (waited, ready) = (list(&it.waited), list(&it.ready));
        let counts = (it.waited.count, it.ready.count);
        row!(self, POLLS, [thread, it.at, it.set, waited.as_str(), counts.0, ready.as_str(), counts.1]);
    }

    /// The table of threads is written in the end, of all of them.
    #[allow(clippy::unused_self)] // One method for each kind.
    fn retired(&mut self, _: &Retired) {}
}

macro_rules! write_rows {
    ($($(#[$doc:meta])* $method:ident $Variant:ident $Type:ty => $Owned:ty;)*) => {
        impl Spans for SpanWriter {
            $(fn $method(&mut self, it: &$Type) {
                Self::$method(self, it);
            })*

            /// Rows stay as they are: only what their numbers mean changes.
            fn rename(&mut self, aliases: &ThreadAliases) {
                if !aliases.is_empty() {
                    self.threads.rekey(|thread| aliases.of(*thread), Extend::extend);
                }
            }

            fn absorb(&mut self, right: Self) {
                self.threads.absorb(right.threads, Extend::extend);
                for (table, mut rows) in right.tables.into_iter().enumerate() {
                    let own = &mut self.tables[table];
                    own.append(&mut rows);
                    if own.len() >= BATCH_ROWS {
                        self.shared.write(table, own);
                    }
                }
            }
        }
    };
}

span_kinds!(write_rows);
