//! Events of the scheduler: the switches of CPUs and the wake-ups of threads that wait, made of the spans
//! of the store.
//!
//! Readers of such events take what no event says to go on as it was: they have no state for what is
//! unknown. So a host of which events are missing in the exported time has none of them.

use std::collections::BTreeMap;

use isochrone_kernel::{Cause, OffCpuReason};
use isochrone_store::{SliceSpan, StateRow, ThreadRow, WakeupSpan};
use isochrone_time::{RawNs, Window};
use rustc_hash::FxHashMap;

use super::ExportError;
use super::host::{Host, Sched, name_of};
use crate::timeline::{LeftAs, SchedSwitch, SchedWaking, Task, Timeline, unique_id};

/// Readers of events of the scheduler have no CPUs from this number on.
const MAX_CPUS: u32 = 1024;

/// The tid of what was never identified; Linux has none so great.
const UNIDENTIFIED: i32 = 9_999_999;

/// What runs where no thread does.
const IDLE: Task<'static> = Task { id: 0, name: "swapper", priority: None };

/// Why a host has no events of the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithoutSched {
    /// Events are missing in the exported time.
    Missing,
    /// Its CPUs would have greater numbers than readers know.
    TooManyCpus,
}

impl Sched {
    fn cpu(&self, cpu: u32) -> u32 {
        self.first_cpu.saturating_add(cpu)
    }
}

/// Lets a host have events of the scheduler, if it can: `first_cpu` is the number of its CPU 0 among those
/// of all hosts, and becomes that of the next host's. Returns that number.
pub(super) fn start(
    host: &mut Host<'_>,
    first_cpu: &mut u32,
) -> Result<Result<u32, WithoutSched>, ExportError> {
    let first = *first_cpu;
    let cpus = host.store.entry().cpus.iter().max().map_or(0, |&last| last.saturating_add(1));
    let next = first.saturating_add(cpus);
    if next > MAX_CPUS {
        return Ok(Err(WithoutSched::TooManyCpus));
    }
    if is_missing(host)? {
        return Ok(Err(WithoutSched::Missing));
    }
    *first_cpu = next;
    host.sched = Some(Sched { first_cpu: first, runs: BTreeMap::new() });
    Ok(Ok(first))
}

/// Whether events may be missing in the exported time, or a CPU did what its events do not explain, after
/// it was first known.
fn is_missing(host: &Host<'_>) -> Result<bool, ExportError> {
    let Window { start, end } = host.window;
    let mut is_missing = host.store.missed()?.iter().any(|(from, to)| from < end && start < to);
    let first = host.store.entry().range.unwrap_or_default().start;
    host.store.unknown(host.window, |it| is_missing |= it.start > first && it.end > it.start)?;
    Ok(is_missing)
}

impl Host<'_> {
    /// A thread in events of the scheduler.
    fn task(&self, thread: Option<ThreadRow>, priority: Option<i32>) -> Task<'_> {
        let Some(thread) = thread.and_then(|row| self.store.thread(row)) else {
            return Task { id: unique_id(self.index, UNIDENTIFIED), name: "?", priority };
        };
        let Some(tid) = thread.tid else { return Task { priority, ..IDLE } };
        Task { id: unique_id(self.index, tid), name: name_of(Some(thread)), priority }
    }

    /// How a thread left its CPU at an instant, where the spans of threads off the CPUs do not say it.
    fn left_as(&self, thread: Option<ThreadRow>, at: RawNs) -> LeftAs {
        let exited = thread.and_then(|row| self.store.thread(row)?.exited);
        if exited.is_some_and(|exited| exited <= at) { LeftAs::Dead } else { LeftAs::Unknown }
    }
}

/// Passes the switches of a part of a host's time.
pub(super) fn emit<T: Timeline>(
    host: &mut Host<'_>,
    part: Window<RawNs>,
    to: &mut T,
) -> Result<(), ExportError> {
    let Some(mut sched) = host.sched.take() else { return Ok(()) };
    let mut reasons: FxHashMap<(ThreadRow, RawNs), OffCpuReason> = FxHashMap::default();
    host.store.off(part, |off| {
        if let (Some(thread), Some(why)) = (off.thread, off.why) {
            reasons.insert((thread, off.start), why);
        }
    })?;
    let begin = host.window.start;
    let mut slices: Vec<SliceSpan> = Vec::new();
    host.store.slices(part, |slice| {
        if part.contains(slice.start.max(begin)) {
            slices.push(slice);
        }
    })?;
    slices.sort_unstable_by_key(|slice| (slice.cpu, slice.start, slice.end));
    for slice in slices {
        let last = sched.runs.insert(slice.cpu, slice);
        let left = last.filter(|last| last.end == slice.start);
        let reason = left.and_then(|left| reasons.get(&(left.thread?, left.end)));
        let prev_state = match (left, reason) {
            (Some(_), Some(OffCpuReason::Preempted)) | (None, _) => LeftAs::Runnable,
            (Some(_), Some(OffCpuReason::Blocked)) => LeftAs::Interruptible,
            (Some(_), Some(OffCpuReason::Uninterruptible)) => LeftAs::Uninterruptible,
            (Some(_), Some(OffCpuReason::Stopped)) => LeftAs::Stopped,
            (Some(left), None) => host.left_as(left.thread, left.end),
        };
        let prev = match left {
            Some(left) => host.task(left.thread, left.priority),
            // The first one that is known, or the one that runs where the exported time starts.
            None => IDLE,
        };
        let (cpu, at) = (sched.cpu(slice.cpu), host.common(slice.start.max(begin)));
        let next = host.task(slice.thread, slice.priority);
        to.sched_switch(&SchedSwitch { cpu, at, prev, prev_state, next })?;
    }
    host.sched = Some(sched);
    Ok(())
}

/// Passes the wake-up of a thread that waited, at which a state of it starts.
pub(super) fn waking<T: Timeline>(
    host: &Host<'_>,
    state: &StateRow,
    wakeup: &WakeupSpan,
    to: &mut T,
) -> std::io::Result<()> {
    let Some(sched) = &host.sched else { return Ok(()) };
    to.sched_waking(&SchedWaking {
        cpu: sched.cpu(wakeup.cpu),
        at: host.common(wakeup.at),
        waker: host.task(wakeup.waker, None).id,
        is_by_interrupt: !matches!(wakeup.cause, Cause::Thread | Cause::Unknown),
        woken: host.task(Some(state.thread), None),
    })
}

/// Ends what runs at the end of a host's time: other hosts may have later events.
pub(super) fn finish<T: Timeline>(host: &Host<'_>, to: &mut T) -> std::io::Result<()> {
    let Some(sched) = &host.sched else { return Ok(()) };
    for (&cpu, last) in &sched.runs {
        let prev = host.task(last.thread, last.priority);
        if prev.id != IDLE.id {
            let at = host.common(last.end.min(host.window.end));
            to.sched_switch(&SchedSwitch {
                cpu: sched.cpu(cpu),
                at,
                prev,
                prev_state: LeftAs::Unknown,
                next: IDLE,
            })?;
        }
    }
    Ok(())
}
