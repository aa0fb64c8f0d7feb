//! The spans around an instant, emitted to a consumer as the pass over the trace emits them: what shows the
//! state of a host at an instant (`isochrone_analysis`) needs no more than these.
//!
//! Of calls with a missing end, the ends next to the instant are emitted ([`crate::open_calls`]).

use isochrone_kernel::calls::{Effect, Entry, Exit, ExitOutput};
use isochrone_kernel::files::{Bound, ClosedBy, FileKind, FileSpan, OpenedBy};
use isochrone_kernel::{
    Half, HalfSyscall, Irq, Name, OffCpu, OffCpuReason, PIECE_BEGIN, SchedLatency, Slice, Softirq, Spans,
    Syscall, ThreadId, Unknown,
};
use isochrone_time::{RawNs, Window};

use crate::cell::NameId;
use crate::error::StoreError;
use crate::spans::SpanTables;
use crate::store::{HostStore, covering};
use crate::table::Row;
use crate::tables::{
    FileRow, IrqRow, LatencyRow, OffRow, OpenCallRow, SliceRow, SoftirqRow, SyscallRow, UnknownRow,
};
use crate::threads::{ThreadName, ThreadRow};

impl HostStore {
    /// Emits the spans that contain an instant to a consumer, with the ids of [`Self::thread_id`]: what the
    /// pass over the trace would emit of it. Descriptors that were open before they were first seen are among
    /// them. Each CPU is named once more, by an unknown time of no length. Reads the spans around the instant
    /// only, however long the trace is.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn emit_at(&self, at: RawNs, to: &mut impl Spans) -> Result<(), StoreError> {
        for &cpu in &self.entry().cpus {
            to.unknown(&Unknown { cpu, thread: None, begin: at, end: at });
        }
        let threads = ThreadIds { host: self, spans: self.spans() };
        let window = covering(at);
        threads.on_cpus(window, to)?;
        threads.off_cpus(window, to)?;
        threads.interrupts(window, to)?;
        threads.calls(at, to)?;
        threads.files(window, to)
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

struct ThreadIds<'s> {
    host: &'s HostStore,
    spans: &'s SpanTables,
}

impl ThreadIds<'_> {
    /// The thread of a number in a row of spans, if it is known.
    fn id(&self, name: ThreadName) -> Option<ThreadId> {
        self.host.thread_id(self.spans.thread(name)?)
    }

    fn on_cpus(&self, window: Window<RawNs>, to: &mut impl Spans) -> Result<(), StoreError> {
        self.spans.slices.overlapping(window, |view, row| {
            let SliceRow { cpu, thread, priority, start, end } = SliceRow::get(view, row);
            match self.id(thread) {
                Some(thread) => to.slice(&Slice { cpu, thread, priority, begin: start, end }),
                None => to.unknown(&Unknown { cpu, thread: None, begin: start, end }),
            }
            Ok(())
        })?;
        self.spans.unknown.overlapping(window, |view, row| {
            let UnknownRow { cpu, start, end, .. } = UnknownRow::get(view, row);
            to.unknown(&Unknown { cpu, thread: None, begin: start, end });
            Ok(())
        })
    }

    fn off_cpus(&self, window: Window<RawNs>, to: &mut impl Spans) -> Result<(), StoreError> {
        self.spans.off.overlapping(window, |view, row| {
            let OffRow { thread, waker, why, start, end } = OffRow::get(view, row);
            if let Some(thread) = self.id(thread) {
                let waker = waker.and_then(|waker| self.id(waker));
                if let Some(reason) = OffCpuReason::of(why.0) {
                    to.off_cpu(&OffCpu { thread, waker, reason, begin: start, end });
                }
            }
            Ok(())
        })?;
        self.spans.latencies.overlapping(window, |view, row| {
            let LatencyRow { thread, waker, cpu, priority, start, end } = LatencyRow::get(view, row);
            if let Some(thread) = self.id(thread) {
                let waker = waker.and_then(|waker| self.id(waker));
                to.sched_latency(&SchedLatency { thread, waker, cpu, priority, begin: start, end });
            }
            Ok(())
        })
    }

    fn interrupts(&self, window: Window<RawNs>, to: &mut impl Spans) -> Result<(), StoreError> {
        let mut hard = Vec::new();
        self.spans.irqs.overlapping(window, |view, row| {
            hard.push(IrqRow::get(view, row));
            Ok(())
        })?;
        let names = self.spans.irqs.names()?;
        for IrqRow { cpu, number, name, ret, start, end } in hard {
            let name = names.get(name.0 as usize).cloned().unwrap_or_default();
            to.irq(&Irq { cpu, number, name, ret, begin: start, end });
        }
        self.spans.softirqs.overlapping(window, |view, row| {
            let SoftirqRow { cpu, vector, raised, start, end } = SoftirqRow::get(view, row);
            to.softirq(&Softirq { cpu, vector, raised, begin: start, end });
            Ok(())
        })
    }

    fn calls(&self, at: RawNs, to: &mut impl Spans) -> Result<(), StoreError> {
        let names = self.spans.call_names()?;
        let name_of = |NameId(name): NameId| names.get(name as usize);
        let mut call = |SyscallRow { thread, cpu, start, end, name, ret, .. }: SyscallRow| {
            let (Some(thread), Some(name)) = (self.id(thread), name_of(name)) else { return };
            let entry = Entry { name: name.clone(), effect: Effect::Nothing, arguments: None };
            let exit = Exit { name: None, ret, output: ExitOutput::default(), arguments: None };
            to.syscall(&Syscall { thread, cpu, begin: start, end, entry: &entry, exit: &exit });
        };
        // Any call shows that calls are traced.
        let has_whole = !self.spans.syscalls.covered().is_empty();
        if has_whole {
            call(SyscallRow::get(&self.spans.syscalls.read(0)?, 0));
        }
        let window = covering(at);
        self.spans.syscalls.overlapping(window, |view, row| {
            call(SyscallRow::get(view, row));
            Ok(())
        })?;
        let mut half = |thread: ThreadId, at: RawNs, half: Half, name: Option<&Name>| {
            to.half_syscall(&HalfSyscall { thread, cpu: 0, name, at, half, entry: None });
        };
        if !has_whole && !self.spans.open_calls.covered().is_empty() {
            let OpenCallRow { thread, from, until, .. } =
                OpenCallRow::get(&self.spans.open_calls.read(0)?, 0);
            match self.host.thread_id(thread) {
                Some(thread) if until <= at => half(thread, until, Half::End, None),
                Some(thread) if from > at => half(thread, from, Half::Begin, None),
                _ => {}
            }
        }
        self.spans.open_calls.overlapping(window, |view, row| {
            let OpenCallRow { thread, from, until, is_sure, start, name, .. } = OpenCallRow::get(view, row);
            let Some(thread) = self.host.thread_id(thread) else { return Ok(()) };
            let name = name.and_then(name_of);
            match (start, is_sure) {
                (Some(start), true) => half(thread, start, Half::Begin, name),
                (None, true) => half(thread, until, Half::End, name),
                // It was in the call until some time before the next one.
                (Some(start), false) => {
                    half(thread, start, Half::Begin, name);
                    half(thread, until, Half::Begin, None);
                }
                // It entered the call some time after the one before.
                (None, false) => {
                    half(thread, from, Half::End, None);
                    half(thread, until, Half::End, name);
                }
            }
            Ok(())
        })
    }

    fn files(&self, window: Window<RawNs>, to: &mut impl Spans) -> Result<(), StoreError> {
        let mut rows = Vec::new();
        self.spans.files.overlapping(window, |view, row| {
            rows.push(FileRow::get(view, row));
            Ok(())
        })?;
        let labels = self.spans.files.names()?;
        let label = |label: Option<NameId>| Some(labels.get(label?.0 as usize)?.as_str());
        let bound = |is_seen: bool| if is_seen { Bound::Hard } else { Bound::Soft };
        for it in rows {
            let Some(thread) = self.id(it.thread) else { continue };
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
        }
        Ok(())
    }
}
