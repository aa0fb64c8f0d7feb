//! The spans around an instant, emitted to a consumer as the pass over the trace emits them: what shows the state of a host at an
//! instant (`isochrone_analysis`) needs no more than these.
//!
//! Of calls of which an end is missing, the ends next to the instant are emitted ([`crate::open_calls`]).

use isochrone_kernel::calls::{Effect, Entry, Exit, ExitOutput};
use isochrone_kernel::files::{Bound, ClosedBy, FileKind, FileSpan, OpenedBy};
use isochrone_kernel::{
    Half, HalfSyscall, Irq, Name, OffCpu, OffCpuReason, PIECE_BEGIN, SchedLatency, Slice, Softirq, Spans,
    Syscall, ThreadId, Unknown,
};

use crate::cell::NameId;
use crate::error::StoreError;
use crate::spans::SpanTables;
use crate::store::HostStore;
use crate::table::Row;
use crate::tables::{
    FileRow, IrqRow, LatencyRow, OffRow, OpenCallRow, SliceRow, SoftirqRow, SyscallRow, UnknownRow,
};

/// Emits the spans of a host that contain an instant. Each of its CPUs is named once more, by an unknown time of no length.
pub(crate) fn emit(host: &HostStore, at: i64, to: &mut impl Spans) -> Result<(), StoreError> {
    for &cpu in &host.entry().cpus {
        to.unknown(&Unknown { cpu, thread: None, begin: at, end: at });
    }
    let threads = ThreadIds { host, spans: host.spans() };
    let window = (at, at.saturating_add(1));
    threads.on_cpus(window, to)?;
    threads.off_cpus(window, to)?;
    threads.interrupts(window, to)?;
    threads.calls(at, to)?;
    threads.files(window, to)
}

/// The id of a thread of a host, by its row: no two of them have the same.
pub(crate) fn thread_id(host: &HostStore, number: u32) -> Option<ThreadId> {
    let row = host.threads().get(number as usize)?;
    if let Some(cpu) = row.idle_of_cpu {
        return Some(ThreadId::Idle(cpu));
    }
    let first = host.entry().range.map_or(PIECE_BEGIN, |(first, _)| first);
    let born = if row.is_begin_seen || row.begin > first { row.begin } else { PIECE_BEGIN };
    Some(ThreadId::Thread { tid: row.tid?, born })
}

struct ThreadIds<'s> {
    host: &'s HostStore,
    spans: &'s SpanTables,
}

impl ThreadIds<'_> {
    /// The thread of a number in a row of spans, if it is known.
    fn id(&self, name: u32) -> Option<ThreadId> {
        thread_id(self.host, self.spans.thread(name)?)
    }

    fn on_cpus(&self, window: (i64, i64), to: &mut impl Spans) -> Result<(), StoreError> {
        self.spans.slices.overlapping(window, |view, row| {
            let SliceRow { cpu, thread, priority, begin, end } = SliceRow::get(view, row);
            match self.id(thread) {
                Some(thread) => to.slice(&Slice { cpu, thread, priority, begin, end }),
                None => to.unknown(&Unknown { cpu, thread: None, begin, end }),
            }
            Ok(())
        })?;
        self.spans.unknown.overlapping(window, |view, row| {
            let UnknownRow { cpu, begin, end, .. } = UnknownRow::get(view, row);
            to.unknown(&Unknown { cpu, thread: None, begin, end });
            Ok(())
        })
    }

    fn off_cpus(&self, window: (i64, i64), to: &mut impl Spans) -> Result<(), StoreError> {
        self.spans.off.overlapping(window, |view, row| {
            let OffRow { thread, waker, why, begin, end } = OffRow::get(view, row);
            if let Some(thread) = self.id(thread) {
                let waker = waker.and_then(|waker| self.id(waker));
                if let Some(reason) = OffCpuReason::of(why) {
                    to.off_cpu(&OffCpu { thread, waker, reason, begin, end });
                }
            }
            Ok(())
        })?;
        self.spans.latencies.overlapping(window, |view, row| {
            let LatencyRow { thread, waker, cpu, priority, begin, end } = LatencyRow::get(view, row);
            if let Some(thread) = self.id(thread) {
                let waker = waker.and_then(|waker| self.id(waker));
                to.sched_latency(&SchedLatency { thread, waker, cpu, priority, begin, end });
            }
            Ok(())
        })
    }

    fn interrupts(&self, window: (i64, i64), to: &mut impl Spans) -> Result<(), StoreError> {
        let mut hard = Vec::new();
        self.spans.irqs.overlapping(window, |view, row| {
            hard.push(IrqRow::get(view, row));
            Ok(())
        })?;
        let names = if hard.is_empty() { Vec::new() } else { self.spans.irqs.names()? };
        for IrqRow { cpu, number, name, ret, begin, end } in hard {
            let name = names.get(name.0 as usize).cloned().unwrap_or_default();
            to.irq(&Irq { cpu, number, name, ret, begin, end });
        }
        self.spans.softirqs.overlapping(window, |view, row| {
            let SoftirqRow { cpu, vector, raised, begin, end } = SoftirqRow::get(view, row);
            to.softirq(&Softirq { cpu, vector, raised, begin, end });
            Ok(())
        })
    }

    fn calls(&self, at: i64, to: &mut impl Spans) -> Result<(), StoreError> {
        let names = self.spans.call_names()?;
        let name_of = |NameId(name): NameId| names.get(name as usize);
        let mut call = |SyscallRow { thread, cpu, begin, end, name, ret, .. }: SyscallRow| {
            let (Some(thread), Some(name)) = (self.id(thread), name_of(name)) else { return };
            let entry = Entry { name: name.clone(), effect: Effect::Nothing, arguments: None };
            let exit = Exit { name: None, ret, output: ExitOutput::default(), arguments: None };
            to.syscall(&Syscall { thread, cpu, begin, end, entry: &entry, exit: &exit });
        };
        // Any call shows that calls are traced.
        let has_whole = !self.spans.syscalls.covered().is_empty();
        if has_whole {
            call(SyscallRow::get(&self.spans.syscalls.read(0)?, 0));
        }
        let window = (at, at.saturating_add(1));
        self.spans.syscalls.overlapping(window, |view, row| {
            call(SyscallRow::get(view, row));
            Ok(())
        })?;
        let mut half = |thread: ThreadId, at: i64, half: Half, name: Option<&Name>| {
            to.half_syscall(&HalfSyscall { thread, cpu: 0, name, at, half, entry: None });
        };
        if !has_whole && !self.spans.open_calls.covered().is_empty() {
            let OpenCallRow { thread, from, until, .. } =
                OpenCallRow::get(&self.spans.open_calls.read(0)?, 0);
            match thread_id(self.host, thread) {
                Some(thread) if until <= at => half(thread, until, Half::End, None),
                Some(thread) if from > at => half(thread, from, Half::Begin, None),
                _ => {}
            }
        }
        self.spans.open_calls.overlapping(window, |view, row| {
            let OpenCallRow { thread, from, until, is_sure, begin, name, .. } = OpenCallRow::get(view, row);
            let Some(thread) = thread_id(self.host, thread) else { return Ok(()) };
            let name = name.and_then(name_of);
            match (begin, is_sure) {
                (Some(begin), true) => half(thread, begin, Half::Begin, name),
                (None, true) => half(thread, until, Half::End, name),
                // It was in the call until some time before the next one.
                (Some(begin), false) => {
                    half(thread, begin, Half::Begin, name);
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

    fn files(&self, window: (i64, i64), to: &mut impl Spans) -> Result<(), StoreError> {
        let mut rows = Vec::new();
        self.spans.files.overlapping(window, |view, row| {
            rows.push(FileRow::get(view, row));
            Ok(())
        })?;
        let labels = if rows.is_empty() { Vec::new() } else { self.spans.files.names()? };
        let label = |label: Option<NameId>| Some(labels.get(label?.0 as usize)?.as_str());
        let bound = |is_seen: bool| if is_seen { Bound::Hard } else { Bound::Soft };
        for it in rows {
            let Some(thread) = self.id(it.thread) else { continue };
            let uses = it.uses();
            to.file(&FileSpan {
                thread,
                process: it.process,
                fd: it.fd,
                begin: it.begin,
                end: it.end,
                begin_bound: bound(it.is_begin_seen),
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
