//! Spans of a window, emitted to a consumer as the pass over the trace emits them: analyses that need no
//! more than tables keep are computed from a store.

use std::cell::Cell;

use isochrone_kernel::calls::{Effect, Entry, Exit, ExitOutput};
use isochrone_kernel::files::{Bound, ClosedBy, FileKind, FileSpan, OpenedBy};
use isochrone_kernel::{
    BlockRequest, Half, HalfSyscall, Irq, Migration, NetPacket, OffCpu, OffCpuReason, PIECE_BEGIN,
    PageAllocation, PageFault, SchedLatency, Slice, Softirq, SpanKind, Spans, Syscall, ThreadId, Unknown,
};
use isochrone_net::Carried;
use isochrone_time::{RawNs, Window};

use crate::call_target::{Target, Targets};
use crate::error::StoreError;
use crate::names::NameId;
use crate::spans::SpanTables;
use crate::store::HostStore;
use crate::table::Row;
use crate::tables::{
    BlockRequestRow, CallTargetRow, FileRow, HalfSyscallRow, IrqRow, LatencyRow, MigrationRow, OffRow,
    PacketRow, PageFaultRow, PagesRow, SliceRow, SoftirqRow, SyscallRow, UnknownRow,
};
use crate::threads::{ThreadName, ThreadRow};

impl HostStore {
    /// What makes spans of its rows again. Linear in the numbers of threads.
    pub fn replay(&self) -> Replay<'_> {
        Replay::new(self)
    }

    /// The id of a thread: no two of them have the same. `None`: there is no such thread.
    pub fn thread_id(&self, thread: ThreadRow) -> Option<ThreadId> {
        let row = self.thread(thread)?;
        if let Some(cpu) = row.idle_of_cpu {
            return Some(ThreadId::Idle(cpu));
        }
        let first = self.entry().range.map_or(PIECE_BEGIN, |range| range.start);
        let born = if row.is_start_seen || row.start > first { row.start } else { PIECE_BEGIN };
        Some(ThreadId::Thread { tid: row.tid?, born })
    }
}

/// A host whose rows become spans again.
#[derive(Debug)]
pub struct Replay<'s> {
    pub(crate) host: &'s HostStore,
    pub(crate) spans: &'s SpanTables,
    /// The ids of threads by their numbers in rows.
    ids: Vec<Option<ThreadId>>,
    /// Whether all threads of rows were identified.
    is_whole: Cell<bool>,
}

/// What a call returned. What it wrote to memory is not kept.
pub(crate) fn exit(ret: i64) -> Exit {
    Exit { name: None, ret, output: ExitOutput::default(), arguments: None }
}

/// A call by its name. Its arguments are not kept.
pub(crate) fn entry(name: &isochrone_kernel::Name) -> Entry {
    Entry { name: name.clone(), effect: Effect::Nothing, arguments: None }
}

impl<'s> Replay<'s> {
    /// Emits the spans of a kind that overlap a window, or end where it starts (descriptors: all), to a
    /// consumer, with the ids of [`HostStore::thread_id`]. Of a call there are its name, its result, its
    /// times and what it does to descriptors; of a packet no addresses, of a page fault no end.
    /// Returns whether these are all: of a thread that was never identified, and of a kind that is kept in
    /// another form, spans are left out. Linear in the rows of the batches that overlap the window.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn emit(
        &self,
        kind: SpanKind,
        window: Window<RawNs>,
        to: &mut impl Spans,
    ) -> Result<bool, StoreError> {
        // What ends at its start counts as within it.
        let window = Window::new(window.start.saturating_sub(1), window.end);
        match kind {
            SpanKind::Slice => self.slices(window, to)?,
            SpanKind::Unknown => self.unknown(window, to)?,
            SpanKind::Syscall => self.syscalls(window, to)?,
            SpanKind::HalfSyscall => self.half_syscalls(window, to)?,
            SpanKind::Irq => self.irqs(window, to)?,
            SpanKind::Softirq => self.softirqs(window, to)?,
            SpanKind::SchedLatency => self.latencies(window, to)?,
            SpanKind::Migration => self.migrations(window, to)?,
            SpanKind::BlockRequest => self.block_requests(window, to)?,
            SpanKind::Packet => self.packets(window, to)?,
            SpanKind::PageFault => self.page_faults(window, to)?,
            SpanKind::PageAllocation => self.pages(window, to)?,
            // Of one that was not seen to be opened or closed, the bounds are not those of its life.
            SpanKind::File => self.files(Window::ALL, to)?,
            _ => return Ok(false),
        }
        Ok(self.is_whole.get())
    }

    pub(crate) fn new(host: &'s HostStore) -> Self {
        let spans = host.spans();
        let ids = spans.thread_names().iter().map(|row| host.thread_id((*row)?)).collect();
        Self { host, spans, ids, is_whole: Cell::new(true) }
    }

    /// The thread of a number in a row of spans, if it was identified.
    pub(crate) fn id(&self, name: ThreadName) -> Option<ThreadId> {
        let id = self.ids.get(name.index()).copied().flatten();
        if id.is_none() {
            self.is_whole.set(false);
        }
        id
    }

    /// Times of a thread that was not identified are unknown.
    pub(crate) fn slices(&self, window: Window<RawNs>, to: &mut impl Spans) -> Result<(), StoreError> {
        self.spans.slices.overlapping(window, |view, row| {
            let SliceRow { cpu, thread, priority, start, end } = SliceRow::get(view, row);
            match self.id(thread) {
                Some(thread) => to.slice(&Slice { cpu, thread, priority, begin: start, end }),
                None => to.unknown(&Unknown { cpu, thread: None, begin: start, end }),
            }
            Ok(())
        })
    }

    pub(crate) fn unknown(&self, window: Window<RawNs>, to: &mut impl Spans) -> Result<(), StoreError> {
        self.spans.unknown.overlapping(window, |view, row| {
            let UnknownRow { cpu, thread, start, end } = UnknownRow::get(view, row);
            let thread = thread.and_then(|thread| self.id(thread));
            to.unknown(&Unknown { cpu, thread, begin: start, end });
            Ok(())
        })
    }

    pub(crate) fn off_cpus(&self, window: Window<RawNs>, to: &mut impl Spans) -> Result<(), StoreError> {
        self.spans.off.overlapping(window, |view, row| {
            let OffRow { thread, waker, why, start, end } = OffRow::get(view, row);
            if let (Some(thread), Some(reason)) = (self.id(thread), OffCpuReason::of(why.0)) {
                let waker = waker.and_then(|waker| self.id(waker));
                to.off_cpu(&OffCpu { thread, waker, reason, begin: start, end });
            }
            Ok(())
        })
    }

    pub(crate) fn latencies(&self, window: Window<RawNs>, to: &mut impl Spans) -> Result<(), StoreError> {
        self.spans.latencies.overlapping(window, |view, row| {
            let LatencyRow { thread, waker, cpu, priority, start, end } = LatencyRow::get(view, row);
            if let Some(thread) = self.id(thread) {
                let waker = waker.and_then(|waker| self.id(waker));
                to.sched_latency(&SchedLatency { thread, waker, cpu, priority, begin: start, end });
            }
            Ok(())
        })
    }

    fn migrations(&self, window: Window<RawNs>, to: &mut impl Spans) -> Result<(), StoreError> {
        self.spans.migrations.overlapping(window, |view, row| {
            let MigrationRow { thread, at, to_cpu } = MigrationRow::get(view, row);
            if let Some(thread) = self.id(thread) {
                to.migration(&Migration { thread, at, to: to_cpu });
            }
            Ok(())
        })
    }

    fn pages(&self, window: Window<RawNs>, to: &mut impl Spans) -> Result<(), StoreError> {
        self.spans.pages.overlapping(window, |view, row| {
            let PagesRow { at, thread, pages, is_free } = PagesRow::get(view, row);
            if let Some(thread) = self.id(thread) {
                to.page_allocation(&PageAllocation { at, thread, pages, is_free });
            }
            Ok(())
        })
    }

    fn page_faults(&self, window: Window<RawNs>, to: &mut impl Spans) -> Result<(), StoreError> {
        self.spans.page_faults.overlapping(window, |view, row| {
            let PageFaultRow { thread, cpu, start, address, ip, code, is_user, .. } =
                PageFaultRow::get(view, row);
            if let Some(thread) = self.id(thread) {
                let fault = PageFault { thread, cpu, begin: start, end: None, address, ip, code, is_user };
                to.page_fault(&fault);
            }
            Ok(())
        })
    }

    fn packets(&self, window: Window<RawNs>, to: &mut impl Spans) -> Result<(), StoreError> {
        let devices = self.spans.packets.names()?;
        self.spans.packets.overlapping(window, |view, row| {
            let PacketRow { at, cpu, thread, device: NameId(device), bytes, is_sent, buffer } =
                PacketRow::get(view, row);
            if let (Some(thread), Some(device)) = (self.id(thread), devices.get(device as usize)) {
                let (device, carried) = (device.clone(), Carried::default());
                to.packet(&NetPacket {
                    at,
                    cpu,
                    thread,
                    device,
                    bytes,
                    buffer,
                    flow: None,
                    carried,
                    is_sent,
                });
            }
            Ok(())
        })
    }

    fn block_requests(&self, window: Window<RawNs>, to: &mut impl Spans) -> Result<(), StoreError> {
        self.spans.block_requests.overlapping(window, |view, row| {
            let it = BlockRequestRow::get(view, row);
            to.block_request(&BlockRequest {
                device: it.device,
                sector: it.sector,
                sectors: it.sectors,
                is_write: it.is_write,
                bytes: it.bytes,
                thread: it.thread.and_then(|thread| self.id(thread)),
                inserted: it.inserted,
                issued: it.issued,
                completed: it.completed,
                error: it.error,
                is_partial: it.is_partial,
            });
            Ok(())
        })
    }

    pub(crate) fn irqs(&self, window: Window<RawNs>, to: &mut impl Spans) -> Result<(), StoreError> {
        let names = self.spans.irqs.names()?;
        self.spans.irqs.overlapping(window, |view, row| {
            let IrqRow { cpu, number, name, ret, start, end } = IrqRow::get(view, row);
            let name = names.get(name.0 as usize).cloned().unwrap_or_default();
            to.irq(&Irq { cpu, number, name, ret, begin: start, end });
            Ok(())
        })
    }

    pub(crate) fn softirqs(&self, window: Window<RawNs>, to: &mut impl Spans) -> Result<(), StoreError> {
        self.spans.softirqs.overlapping(window, |view, row| {
            let SoftirqRow { cpu, vector, raised, start, end } = SoftirqRow::get(view, row);
            to.softirq(&Softirq { cpu, vector, raised, begin: start, end });
            Ok(())
        })
    }

    fn syscalls(&self, window: Window<RawNs>, to: &mut impl Spans) -> Result<(), StoreError> {
        let mut entries: Vec<Entry> = self.spans.call_names()?.iter().map(entry).collect();
        let mut targets = Targets::default();
        self.spans.call_targets.rows(window, |it: CallTargetRow| {
            let CallTargetRow { thread, start, end, name, ret, fd, to_fd, path } = it;
            targets.add((thread.0, start, end, name.0, ret), Target { fd, to_fd, path });
        })?;
        self.spans.syscalls.overlapping(window, |view, row| {
            let SyscallRow { thread, cpu, start, end, name: NameId(name), fd, ret, action } =
                SyscallRow::get(view, row);
            let (effect, output) = targets.effect((thread.0, start, end, name, ret), (action.action(), fd));
            if let (Some(thread), Some(entry)) = (self.id(thread), entries.get_mut(name as usize)) {
                entry.effect = effect;
                let exit = Exit { output, ..exit(ret) };
                to.syscall(&Syscall { thread, cpu, begin: start, end, entry, exit: &exit });
            }
            Ok(())
        })
    }

    fn half_syscalls(&self, window: Window<RawNs>, to: &mut impl Spans) -> Result<(), StoreError> {
        let names = self.spans.half_syscalls.names()?;
        self.spans.half_syscalls.overlapping(window, |view, row| {
            let HalfSyscallRow { thread, cpu, at, is_begin, name, .. } = HalfSyscallRow::get(view, row);
            if let Some(thread) = self.id(thread) {
                let name = name.and_then(|NameId(name)| names.get(name as usize));
                let half = if is_begin { Half::Begin } else { Half::End };
                to.half_syscall(&HalfSyscall { thread, cpu, name, at, half, entry: None });
            }
            Ok(())
        })
    }

    pub(crate) fn files(&self, window: Window<RawNs>, to: &mut impl Spans) -> Result<(), StoreError> {
        let labels = self.spans.files.names()?;
        let label = |label: Option<NameId>| Some(labels.get(label?.0 as usize)?.as_str());
        let bound = |is_seen: bool| if is_seen { Bound::Hard } else { Bound::Soft };
        self.spans.files.overlapping(window, |view, row| {
            let it = FileRow::get(view, row);
            let Some(thread) = self.id(it.thread) else { return Ok(()) };
            let uses = it.uses();
            to.file(&FileSpan {
                thread,
                process: it.process,
                fd: it.fd,
                begin: it.start,
                end: it.end,
                begin_bound: bound(it.is_start_seen),
                end_bound: bound(it.is_end_seen),
                kind: FileKind::of_label(label(it.kind)),
                name: it.name,
                opened_by: OpenedBy::of_label(label(it.opened_by)),
                closed_by: ClosedBy::of_label(label(it.closed_by)),
                close_on_exec: it.close_on_exec,
                is_doubtful: it.is_doubtful,
                doubtful_from: it.doubtful_from,
                uses,
            });
            Ok(())
        })
    }
}
