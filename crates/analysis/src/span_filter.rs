//! Which spans the analyses get: those on the CPUs, of the durations and in the window that were asked for.
//!
//! An analysis need not know of any of this. Filters on threads come later, with the tables: who a thread is may be
//! known only when all pieces of the trace are together.

use std::collections::BTreeSet;

use isochrone_kernel::files::{Bound, FileSpan};
use isochrone_kernel::{
    BlockRequest, HalfSyscall, Irq, Migration, NetPacket, OffCpu, PacketTaken, PageAllocation, Period, Phase,
    Poll, Retired, SchedLatency, Slice, Softirq, Syscall, ThreadEvent, Time, Unknown, Wakeup,
};
use serde::{Deserialize, Serialize};

use crate::intervals::Intervals;
use crate::options::Options;
use crate::stats::duration;
use crate::window::Window;

/// The filter on time, CPUs and durations: a method for each kind of spans gives what of one counts, nothing, the whole or parts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpanFilter {
    /// Time.
    pub window: Window,
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
    pub fn new(options: &Options, window: Window) -> Self {
        let filter = &options.filter;
        let cpus = (!filter.cpus.is_empty()).then(|| filter.cpus.iter().copied().collect());
        Self { window, within: None, cpus, min: filter.min_ns, max: filter.max_ns }
    }

    fn cpu(&self, cpu: u32) -> bool {
        self.cpus.as_ref().is_none_or(|cpus| cpus.contains(&cpu))
    }

    /// Whether what is over at an instant counts.
    fn holds(&self, at: Time) -> bool {
        self.window.holds(at) && self.within.as_ref().is_none_or(|within| within.holds(at))
    }

    /// The parts of a time that count.
    fn parts(&self, begin: Time, end: Time) -> impl Iterator<Item = (Time, Time)> + '_ {
        let whole = self.window.clip(begin, end);
        let parts = self.within.as_ref().and_then(|within| Some(within.parts(whole?)));
        let alone = whole.filter(|_| self.within.is_none());
        alone.into_iter().chain(parts.into_iter().flatten())
    }

    fn whole(&self, cpu: u32, begin: Time, end: Time) -> bool {
        self.cpu(cpu) && self.long(begin, end)
    }

    fn long(&self, begin: Time, end: Time) -> bool {
        let ns = duration(begin, end);
        self.holds(end) && self.min.is_none_or(|min| ns >= min) && self.max.is_none_or(|max| ns <= max)
    }

    /// The parts of a slice that count.
    pub fn slice(&self, slice: &Slice) -> impl Iterator<Item = Slice> + '_ {
        let slice = *slice;
        let parts = self.parts(slice.begin, slice.end).filter(move |_| self.cpu(slice.cpu));
        parts.map(move |(begin, end)| Slice { begin, end, ..slice })
    }

    /// The parts of a time of which nothing is known that count.
    pub fn unknown(&self, unknown: &Unknown) -> impl Iterator<Item = Unknown> + '_ {
        let unknown = *unknown;
        let parts = self.parts(unknown.begin, unknown.end).filter(move |_| self.cpu(unknown.cpu));
        parts.map(move |(begin, end)| Unknown { begin, end, ..unknown })
    }

    /// A call, if it counts. It belongs to the CPU that it returned on.
    pub fn syscall<'s, 'c>(&self, call: &'s Syscall<'c>) -> Option<&'s Syscall<'c>> {
        self.whole(call.cpu, call.begin, call.end).then_some(call)
    }

    /// A call of which one end is missing, if it counts. Neither its CPU nor its duration is known: it does not
    /// where any are asked for.
    pub fn half_syscall<'s, 'c>(&self, half: &'s HalfSyscall<'c>) -> Option<&'s HalfSyscall<'c>> {
        (self.holds(half.at) && self.cpus.is_none() && self.min.is_none() && self.max.is_none())
            .then_some(half)
    }

    /// An interrupt, if it counts.
    pub fn irq<'s>(&self, irq: &'s Irq) -> Option<&'s Irq> {
        self.whole(irq.cpu, irq.begin, irq.end).then_some(irq)
    }

    /// A softirq, if it counts.
    pub fn softirq<'s>(&self, softirq: &'s Softirq) -> Option<&'s Softirq> {
        self.whole(softirq.cpu, softirq.begin, softirq.end).then_some(softirq)
    }

    /// A wait for a CPU, if it counts. It belongs to the CPU that it was for.
    pub fn sched_latency<'s>(&self, latency: &'s SchedLatency) -> Option<&'s SchedLatency> {
        self.whole(latency.cpu, latency.begin, latency.end).then_some(latency)
    }

    /// A file descriptor, if it counts: if it was open within the window.
    pub fn file<'s>(&self, file: &'s FileSpan) -> Option<&'s FileSpan> {
        // A soft bound: it may have begun, or go on, at any time.
        let begin = if file.begin_bound == Bound::Soft { Time::MIN } else { file.begin };
        let is_over =
            self.window.begin.is_some_and(|first| file.end_bound == Bound::Hard && file.end <= first);
        let is_within = |within: &Intervals| {
            let end = if file.end_bound == Bound::Soft { Time::MAX } else { file.end };
            within.parts((begin, end)).next().is_some()
        };
        let counts = !is_over
            && self.window.end.is_none_or(|last| begin < last)
            && self.within.as_ref().is_none_or(is_within);
        counts.then_some(file)
    }

    /// A migration, if it counts. It belongs to the CPU that it leads to.
    pub fn migration<'s>(&self, migration: &'s Migration) -> Option<&'s Migration> {
        (self.holds(migration.at) && self.cpu(migration.to)).then_some(migration)
    }

    /// A wake-up, if it counts. It belongs to the CPU that does it.
    pub fn wakeup<'s>(&self, wakeup: &'s Wakeup) -> Option<&'s Wakeup> {
        (self.holds(wakeup.at) && self.cpu(wakeup.cpu)).then_some(wakeup)
    }

    /// A begin or end of a thread, if it counts. It belongs to no CPU.
    pub fn thread_event<'s>(&self, event: &'s ThreadEvent) -> Option<&'s ThreadEvent> {
        self.holds(event.at).then_some(event)
    }

    /// The parts of a time off all CPUs that count. It belongs to no CPU.
    pub fn off_cpu(&self, off_cpu: &OffCpu) -> impl Iterator<Item = OffCpu> + '_ {
        let off_cpu = *off_cpu;
        let parts = self.parts(off_cpu.begin, off_cpu.end);
        parts.map(move |(begin, end)| OffCpu { begin, end, ..off_cpu })
    }

    /// A request to a disk, if it counts. It belongs to no CPU.
    pub fn block_request<'s>(&self, request: &'s BlockRequest) -> Option<&'s BlockRequest> {
        self.long(request.begin(), request.end()).then_some(request)
    }

    /// A wait for descriptors, if it counts. It belongs to no CPU.
    pub fn poll<'s>(&self, poll: &'s Poll) -> Option<&'s Poll> {
        self.holds(poll.at).then_some(poll)
    }

    /// A thread that has ended: whenever that was, its name may be needed.
    #[allow(clippy::unused_self, clippy::unnecessary_wraps)] // One method for each kind.
    pub fn retired<'s>(&self, retired: &'s Retired) -> Option<&'s Retired> {
        Some(retired)
    }

    /// A packet, if it counts.
    pub fn packet<'s>(&self, packet: &'s NetPacket) -> Option<&'s NetPacket> {
        (self.holds(packet.at) && self.cpu(packet.cpu)).then_some(packet)
    }

    /// A packet that a device has taken, if it counts.
    pub fn packet_taken<'s>(&self, taken: &'s PacketTaken) -> Option<&'s PacketTaken> {
        (self.holds(taken.at) && self.cpu(taken.cpu)).then_some(taken)
    }

    /// Pages, if they count.
    pub fn page_allocation<'s>(&self, pages: &'s PageAllocation) -> Option<&'s PageAllocation> {
        self.holds(pages.at).then_some(pages)
    }

    /// A period, if it counts. It belongs to no CPU.
    pub fn period<'s>(&self, period: &'s Period) -> Option<&'s Period> {
        self.long(period.begin, period.end).then_some(period)
    }

    /// A phase, if it counts. It belongs to no CPU.
    pub fn phase<'s>(&self, phase: &'s Phase) -> Option<&'s Phase> {
        self.long(phase.begin, phase.end).then_some(phase)
    }
}
