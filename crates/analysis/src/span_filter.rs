//! Which spans the analyses get: those on the CPUs, of the durations and in the window that were asked for.
//!
//! An analysis need not know of any of this. Filters on threads come later, with the tables: who a thread is may be
//! known only when all pieces of the trace are together.

use std::collections::BTreeSet;

use isochrone_kernel::files::{Bound, FileSpan};
use isochrone_kernel::{
    BlockRequest, HalfSyscall, Irq, Migration, NetPacket, OffCpu, PageAllocation, Phase, Poll, Retired,
    SchedLatency, Slice, Softirq, Syscall, ThreadEvent, Time, Unknown, Wakeup,
};
use serde::{Deserialize, Serialize};

use crate::options::Options;
use crate::stats::duration;
use crate::window::Window;

/// The filter on time, CPUs and durations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpanFilter {
    /// Time.
    pub window: Window,
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
        Self { window, cpus, min: filter.min_ns, max: filter.max_ns }
    }

    fn cpu(&self, cpu: u32) -> bool {
        self.cpus.as_ref().is_none_or(|cpus| cpus.contains(&cpu))
    }

    fn whole(&self, cpu: u32, begin: Time, end: Time) -> bool {
        self.cpu(cpu) && self.long(begin, end)
    }

    fn long(&self, begin: Time, end: Time) -> bool {
        let ns = duration(begin, end);
        self.window.holds(end) && self.min.is_none_or(|min| ns >= min) && self.max.is_none_or(|max| ns <= max)
    }

    /// The part of a slice that counts.
    pub fn slice(&self, slice: &Slice) -> Option<Slice> {
        let (begin, end) = self.window.clip(slice.begin, slice.end).filter(|_| self.cpu(slice.cpu))?;
        Some(Slice { begin, end, ..*slice })
    }

    /// The part of a time of which nothing is known that counts.
    pub fn unknown(&self, unknown: &Unknown) -> Option<Unknown> {
        let (begin, end) = self.window.clip(unknown.begin, unknown.end).filter(|_| self.cpu(unknown.cpu))?;
        Some(Unknown { begin, end, ..*unknown })
    }

    /// A call, if it counts. It belongs to the CPU that it returned on.
    pub fn syscall<'s, 'c>(&self, call: &'s Syscall<'c>) -> Option<&'s Syscall<'c>> {
        self.whole(call.cpu, call.begin, call.end).then_some(call)
    }

    /// A call of which one end is missing, if it counts. Neither its CPU nor its duration is known: it does not
    /// where any are asked for.
    pub fn half_syscall<'s, 'c>(&self, half: &'s HalfSyscall<'c>) -> Option<&'s HalfSyscall<'c>> {
        (self.window.holds(half.at) && self.cpus.is_none() && self.min.is_none() && self.max.is_none())
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
        let counts = !is_over && self.window.end.is_none_or(|last| begin < last);
        counts.then_some(file)
    }

    /// A migration, if it counts. It belongs to the CPU that it leads to.
    pub fn migration<'s>(&self, migration: &'s Migration) -> Option<&'s Migration> {
        (self.window.holds(migration.at) && self.cpu(migration.to)).then_some(migration)
    }

    /// A wake-up, if it counts. It belongs to the CPU that does it.
    pub fn wakeup<'s>(&self, wakeup: &'s Wakeup) -> Option<&'s Wakeup> {
        (self.window.holds(wakeup.at) && self.cpu(wakeup.cpu)).then_some(wakeup)
    }

    /// A begin or end of a thread, if it counts. It belongs to no CPU.
    pub fn thread_event<'s>(&self, event: &'s ThreadEvent) -> Option<&'s ThreadEvent> {
        self.window.holds(event.at).then_some(event)
    }

    /// The part of a time off all CPUs that counts. It belongs to no CPU.
    pub fn off_cpu(&self, off_cpu: &OffCpu) -> Option<OffCpu> {
        let (begin, end) = self.window.clip(off_cpu.begin, off_cpu.end)?;
        Some(OffCpu { begin, end, ..*off_cpu })
    }

    /// A request to a disk, if it counts. It belongs to no CPU.
    pub fn block_request<'s>(&self, request: &'s BlockRequest) -> Option<&'s BlockRequest> {
        self.long(request.begin(), request.end()).then_some(request)
    }

    /// A wait for descriptors, if it counts. It belongs to no CPU.
    pub fn poll<'s>(&self, poll: &'s Poll) -> Option<&'s Poll> {
        self.window.holds(poll.at).then_some(poll)
    }

    /// A thread that has ended: whenever that was, its name may be needed.
    #[allow(clippy::unused_self, clippy::unnecessary_wraps)] // One method for each kind.
    pub fn retired<'s>(&self, retired: &'s Retired) -> Option<&'s Retired> {
        Some(retired)
    }

    /// A packet, if it counts.
    pub fn packet<'s>(&self, packet: &'s NetPacket) -> Option<&'s NetPacket> {
        (self.window.holds(packet.at) && self.cpu(packet.cpu)).then_some(packet)
    }

    /// Pages, if they count.
    pub fn page_allocation<'s>(&self, pages: &'s PageAllocation) -> Option<&'s PageAllocation> {
        self.window.holds(pages.at).then_some(pages)
    }

    /// A phase, if it counts. It belongs to no CPU.
    pub fn phase<'s>(&self, phase: &'s Phase) -> Option<&'s Phase> {
        self.long(phase.begin, phase.end).then_some(phase)
    }
}
