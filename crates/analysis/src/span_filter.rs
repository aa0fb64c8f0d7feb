//! Which spans the analyses get: those on the CPUs, of the durations and in the window that were requested.
//!
//! An analysis need not know of any of this. Filters on threads come later, with the tables: who a thread is
//! may be known only when all pieces of the trace are together.

use std::collections::BTreeSet;

use isochrone_kernel::files::{Bound, FileSpan};
use isochrone_kernel::{
    BlockRequest, HalfSyscall, Irq, Mapping, Migration, NetPacket, ObjectUse, OffCpu, PacketTaken,
    PageAllocation, PageFault, Period, Phase, Poll, Retired, SchedLatency, Slice, Softirq, Syscall,
    ThreadEvent, Unknown, Wakeup,
};
use isochrone_time::{RawNs, Window};
use serde::{Deserialize, Serialize};

use crate::figures::intervals::Intervals;
use crate::figures::stats::duration;
use crate::options::Options;
use crate::window::{borders, part};

/// The filter on time, CPUs and durations: a method for each kind of spans gives what counts of one, nothing,
/// the whole or parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpanFilter {
    /// Time.
    #[serde(with = "borders")]
    pub window: Window<RawNs>,
    /// The times within it that count; `None`: all of it.
    pub(crate) within: Option<Intervals>,
    /// CPUs; `None`: all.
    cpus: Option<BTreeSet<u32>>,
    /// Shortest call, interrupt or wait, ns.
    min: Option<u64>,
    /// Longest.
    max: Option<u64>,
}

impl SpanFilter {
    /// The filter of some options.
    pub fn new(options: &Options, window: Window<RawNs>) -> Self {
        let filter = &options.filter;
        let cpus = (!filter.cpus.is_empty()).then(|| filter.cpus.iter().copied().collect());
        Self { window, within: None, cpus, min: filter.min_ns, max: filter.max_ns }
    }

    fn cpu(&self, cpu: u32) -> bool {
        self.cpus.as_ref().is_none_or(|cpus| cpus.contains(&cpu))
    }

    /// Whether what is over at an instant counts.
    fn holds(&self, at: RawNs) -> bool {
        self.window.contains(at) && self.within.as_ref().is_none_or(|within| within.holds(at))
    }

    /// The parts of a time that count.
    fn parts(&self, begin: RawNs, end: RawNs) -> impl Iterator<Item = Window<RawNs>> + '_ {
        let whole = part(self.window, begin, end);
        let parts = self.within.as_ref().and_then(|within| Some(within.parts(whole?)));
        let alone = whole.filter(|_| self.within.is_none());
        alone.into_iter().chain(parts.into_iter().flatten())
    }

    fn accepts(&self, cpu: u32, begin: RawNs, end: RawNs) -> bool {
        self.cpu(cpu) && self.accepts_duration(begin, end)
    }

    fn accepts_duration(&self, begin: RawNs, end: RawNs) -> bool {
        let ns = duration(begin, end);
        self.holds(end) && self.min.is_none_or(|min| ns >= min) && self.max.is_none_or(|max| ns <= max)
    }

    /// The parts of a slice that count.
    pub fn slice(&self, slice: &Slice) -> impl Iterator<Item = Slice> + '_ {
        let slice = *slice;
        let parts = self.parts(slice.begin, slice.end).filter(move |_| self.cpu(slice.cpu));
        parts.map(move |it| Slice { begin: it.start, end: it.end, ..slice })
    }

    /// The parts of an unknown time that count.
    pub fn unknown(&self, unknown: &Unknown) -> impl Iterator<Item = Unknown> + '_ {
        let unknown = *unknown;
        let parts = self.parts(unknown.begin, unknown.end).filter(move |_| self.cpu(unknown.cpu));
        parts.map(move |it| Unknown { begin: it.start, end: it.end, ..unknown })
    }

    /// A file descriptor, if it counts: if it was open within the window.
    pub fn file<'s>(&self, file: &'s FileSpan) -> Option<&'s FileSpan> {
        // A soft bound: it may begin or end at any time.
        let begin = if file.begin_bound == Bound::Soft { RawNs::MIN } else { file.begin };
        let is_over =
            file.end_bound == Bound::Hard && self.window.start != RawNs::MIN && file.end <= self.window.start;
        let is_within = |within: &Intervals| {
            let end = if file.end_bound == Bound::Soft { RawNs::MAX } else { file.end };
            within.parts(Window::new(begin, end)).next().is_some()
        };
        let counts = !is_over
            && (self.window.end == RawNs::MAX || begin < self.window.end)
            && self.within.as_ref().is_none_or(is_within);
        counts.then_some(file)
    }

    /// The parts of a time off all CPUs that count. It belongs to no CPU.
    pub fn off_cpu(&self, off_cpu: &OffCpu) -> impl Iterator<Item = OffCpu> + '_ {
        let off_cpu = *off_cpu;
        let parts = self.parts(off_cpu.begin, off_cpu.end);
        parts.map(move |it| OffCpu { begin: it.start, end: it.end, ..off_cpu })
    }

    /// A thread that has ended: whenever that was, its name may be needed.
    #[allow(clippy::unused_self, clippy::unnecessary_wraps)] // One method for each kind.
    pub fn retired<'s>(&self, retired: &'s Retired) -> Option<&'s Retired> {
        Some(retired)
    }
}

/// Filters that give a span whole or not at all.
macro_rules! whole_spans {
    ($($(#[$doc:meta])* $method:ident $(@ $life:lifetime)? $Span:ty: |$filter:ident, $span:ident| $counts:expr;)*) => {
        impl SpanFilter {
            $($(#[$doc])* pub fn $method<'s $(, $life)?>(&self, $span: &'s $Span) -> Option<&'s $Span> {
                let $filter = self;
                ($counts).then_some($span)
            })*
        }
    };
}

whole_spans! {
    /// A call, if it counts. It belongs to the CPU that it returned on.
    syscall @'c Syscall<'c>: |filter, call| filter.accepts(call.cpu, call.begin, call.end);
    /// A call whose entry or exit is missing, if it counts. Neither its CPU nor its duration is known: it
    /// does not where any are requested.
    half_syscall @'c HalfSyscall<'c>: |filter, half| {
        filter.holds(half.at) && filter.cpus.is_none() && filter.min.is_none() && filter.max.is_none()
    };
    /// An interrupt, if it counts.
    irq Irq: |filter, irq| filter.accepts(irq.cpu, irq.begin, irq.end);
    /// A softirq, if it counts.
    softirq Softirq: |filter, softirq| filter.accepts(softirq.cpu, softirq.begin, softirq.end);
    /// A wait for a CPU, if it counts. It belongs to the CPU that it was for.
    sched_latency SchedLatency: |filter, latency| filter.accepts(latency.cpu, latency.begin, latency.end);
    /// A migration, if it counts. It belongs to the CPU that it leads to.
    migration Migration: |filter, migration| filter.holds(migration.at) && filter.cpu(migration.to);
    /// A wake-up, if it counts. It belongs to the CPU that does it.
    wakeup Wakeup: |filter, wakeup| filter.holds(wakeup.at) && filter.cpu(wakeup.cpu);
    /// A begin or end of a thread, if it counts. It belongs to no CPU.
    thread_event ThreadEvent: |filter, event| filter.holds(event.at);
    /// A request to a disk, if it counts. It belongs to no CPU.
    block_request BlockRequest: |filter, request| filter.accepts_duration(request.begin(), request.end());
    /// A wait for descriptors, if it counts. It belongs to no CPU.
    poll Poll: |filter, poll| filter.holds(poll.at);
    /// A packet, if it counts.
    packet NetPacket: |filter, packet| filter.holds(packet.at) && filter.cpu(packet.cpu);
    /// A packet that a device has taken, if it counts.
    packet_taken PacketTaken: |filter, taken| filter.holds(taken.at) && filter.cpu(taken.cpu);
    /// A page fault, if it counts. It belongs to the CPU and the instant that it starts at.
    page_fault PageFault: |filter, fault| filter.holds(fault.begin) && filter.cpu(fault.cpu);
    /// What addresses show: later times need it.
    mapping Mapping: |_filter, _mapping| true;
    /// A use of an object, if it counts. It belongs to no CPU.
    object_use ObjectUse: |filter, used| filter.holds(used.at);
    /// Pages, if they count.
    page_allocation PageAllocation: |filter, pages| filter.holds(pages.at);
    /// A period, if it counts. It belongs to no CPU.
    period Period: |filter, period| filter.accepts_duration(period.begin, period.end);
    /// A phase, if it counts. It belongs to no CPU.
    phase Phase: |filter, phase| filter.accepts_duration(phase.begin, phase.end);
}
