//! Which spans the analyses get to hear: those on the CPUs, of the durations and in the window that were asked for.
//!
//! An analysis need not know of any of this. Filters on threads come later, with the tables: who a thread is may be
//! known only when all pieces of the trace are together.

use std::collections::BTreeSet;

use isochrone_kernel::files::{Bound, FileSpan};
use isochrone_kernel::{
    BlockRequest, HalfSyscall, Irq, Latency, Migration, NetPacket, Off, Pages, Phase, Slice, Softirq,
    Syscall, Time, Unknown,
};
use serde::{Deserialize, Serialize};

use crate::options::Options;
use crate::stats::duration;
use crate::window::Window;

/// What is let through.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// Time.
    pub window: Window,
    /// CPUs; `None`: all.
    cpus: Option<BTreeSet<u32>>,
    /// Shortest call, interrupt or wait, ns.
    min: Option<u64>,
    /// Longest.
    max: Option<u64>,
}

impl Gate {
    /// The gate that the options ask for.
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

    /// Whether a call counts. It belongs to the CPU that it returned on.
    pub fn syscall(&self, call: &Syscall<'_>) -> bool {
        self.whole(call.cpu, call.begin, call.end)
    }

    /// Whether a call of which one end is missing counts. Neither its CPU nor its duration is known: it does not
    /// where any are asked for.
    pub fn half_syscall(&self, half: &HalfSyscall<'_>) -> bool {
        self.window.holds(half.at) && self.cpus.is_none() && self.min.is_none() && self.max.is_none()
    }

    /// Whether an interrupt counts.
    pub fn irq(&self, irq: &Irq) -> bool {
        self.whole(irq.cpu, irq.begin, irq.end)
    }

    /// Whether a softirq counts.
    pub fn softirq(&self, softirq: &Softirq) -> bool {
        self.whole(softirq.cpu, softirq.begin, softirq.end)
    }

    /// Whether a wait for a CPU counts. It belongs to the CPU that it was for.
    pub fn latency(&self, latency: &Latency) -> bool {
        self.whole(latency.cpu, latency.begin, latency.end)
    }

    /// Whether a file descriptor counts: if it was open within the window.
    pub fn file(&self, file: &FileSpan) -> bool {
        // What is known softly may have begun, or go on, at any time.
        let begin = if file.begin_bound == Bound::Soft { Time::MIN } else { file.begin };
        let is_over =
            self.window.begin.is_some_and(|first| file.end_bound == Bound::Hard && file.end <= first);
        !is_over && self.window.end.is_none_or(|last| begin < last)
    }

    /// Whether a migration counts. It belongs to the CPU that it leads to.
    pub fn migration(&self, migration: &Migration) -> bool {
        self.window.holds(migration.at) && self.cpu(migration.to)
    }

    /// The part of a time off all CPUs that counts. It belongs to no CPU.
    pub fn off(&self, off: &Off) -> Option<Off> {
        let (begin, end) = self.window.clip(off.begin, off.end)?;
        Some(Off { begin, end, ..*off })
    }

    /// Whether a request to a disk counts. It belongs to no CPU.
    pub fn block_request(&self, request: &BlockRequest) -> bool {
        self.long(request.begin, request.end)
    }

    /// Whether a packet counts.
    pub fn packet(&self, packet: &NetPacket) -> bool {
        self.window.holds(packet.at) && self.cpu(packet.cpu)
    }

    /// Whether pages count.
    pub fn pages(&self, pages: &Pages) -> bool {
        self.window.holds(pages.at)
    }

    /// Whether a phase counts. It belongs to no CPU.
    pub fn phase(&self, phase: &Phase) -> bool {
        self.long(phase.begin, phase.end)
    }
}
