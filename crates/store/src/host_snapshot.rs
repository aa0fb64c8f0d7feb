//! What a host did at one instant: the state of each thread and each CPU, from the spans that contain the instant.
//!
//! These are the results of `processes --at` (`isochrone_analysis` shows it), from a store: only spans around the instant are
//! read.

use std::collections::{BTreeMap, BTreeSet};

use isochrone_kernel::OffCpuReason;

use crate::error::StoreError;
use crate::spans::SpanTables;
use crate::table::Row;
use crate::tables::{IrqRow, OpenCallRow, SyscallRow};
use crate::writer::reason_of;

/// Threads and CPUs at an instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSnapshot {
    /// The instant, raw ns.
    pub at: i64,
    /// All threads that have a known state at the instant, by number; idle tasks, too.
    pub threads: Vec<ThreadAt>,
    /// All CPUs of the host, in order.
    pub cpus: Vec<CpuAt>,
}

/// The state of a thread at an instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadAt {
    /// Its number.
    pub thread: u32,
    /// Its activity.
    pub activity: Activity,
    /// Begin of the activity, raw ns; `None` if not known.
    pub since: Option<i64>,
    /// Its CPU.
    pub cpu: Option<u32>,
    /// Its waker, if it waits for a CPU: number of a thread.
    pub waker: Option<u32>,
    /// The call that it was in.
    pub call: Option<CallAt>,
    /// Whether it is certain that it is in a call or in none.
    pub is_call_sure: bool,
}

/// Whether a thread was on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// On a CPU.
    Running,
    /// On a CPU that handles an interrupt.
    Interrupted,
    /// Woken, and waiting for a CPU.
    Woken,
    /// Off the CPU: preempted, or waiting for something.
    OffCpu(OffCpuReason),
    /// Not known.
    Unknown,
}

/// A call that a thread is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallAt {
    /// Its name, if known.
    pub name: Option<String>,
    /// Its begin, raw ns, if that was seen.
    pub since: Option<i64>,
    /// Whether one of its ends is missing.
    pub is_half: bool,
}

/// The state of a CPU at an instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuAt {
    /// The CPU.
    pub cpu: u32,
    /// Number of the thread that ran; `None` if not known.
    pub thread: Option<u32>,
    /// Begin of its slice, raw ns.
    pub since: Option<i64>,
    /// The innermost interrupt and its begin.
    pub interrupt: Option<(Interrupt, i64)>,
}

/// What interrupts a CPU.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interrupt {
    /// A hardware interrupt.
    Hard {
        /// Its number.
        number: i32,
        /// The name of its handler.
        name: String,
    },
    /// A softirq, by its vector.
    Soft(u32),
}

/// Keeps the greatest value of a key.
fn keep<K: Ord, V: Ord>(all: &mut BTreeMap<K, V>, key: K, value: V) {
    match all.get_mut(&key) {
        Some(there) => {
            if *there < value {
                *there = value;
            }
        }
        None => {
            all.insert(key, value);
        }
    }
}

/// Determines what a host did at an instant. `cpus`: those of the host; `has_calls`: whether the trace has calls at all.
pub(crate) fn snapshot(
    spans: &SpanTables,
    cpus: &[u32],
    has_calls: bool,
    at: i64,
) -> Result<HostSnapshot, StoreError> {
    let window = (at, at.saturating_add(1));
    // Of each thread: begin, reason (`None`: it was woken), waker.
    let mut rests: BTreeMap<u32, (i64, Option<OffCpuReason>, Option<u32>)> = BTreeMap::new();
    spans.off.overlapping(window, |view, row| {
        if let Some(thread) = spans.thread(view.thread.values()[row]) {
            let why = reason_of(view.why.values()[row]);
            keep(&mut rests, thread, (view.begin.values()[row], Some(why), None));
        }
        Ok(())
    })?;
    spans.latencies.overlapping(window, |view, row| {
        let it = crate::tables::LatencyRow::get(view, row);
        if let Some(thread) = spans.thread(it.thread) {
            keep(&mut rests, thread, (it.begin, None, it.waker.and_then(|waker| spans.thread(waker))));
        }
        Ok(())
    })?;
    let interrupts = interrupts(spans, window)?;
    // Of each CPU: begin, thread.
    let mut ran: BTreeMap<u32, (i64, Option<u32>)> = BTreeMap::new();
    spans.slices.overlapping(window, |view, row| {
        let thread = spans.thread(view.thread.values()[row]);
        keep(&mut ran, view.cpu.values()[row], (view.begin.values()[row], thread));
        Ok(())
    })?;
    spans.unknown.overlapping(window, |view, row| {
        keep(&mut ran, view.cpu.values()[row], (view.begin.values()[row], None));
        Ok(())
    })?;
    let (calls, unsure) = calls(spans, window)?;

    let cpus: Vec<CpuAt> = cpus
        .iter()
        .map(|&cpu| {
            let here = ran.get(&cpu);
            CpuAt {
                cpu,
                thread: here.and_then(|here| here.1),
                since: here.map(|here| here.0),
                interrupt: here.and_then(|_| interrupts.get(&cpu)).map(|(begin, it)| (it.clone(), *begin)),
            }
        })
        .collect();
    // The weakest evidence first: certain evidence overwrites it.
    let mut threads: BTreeMap<u32, ThreadAt> = BTreeMap::new();
    let is_call_sure = |thread: u32| has_calls && !unsure.contains(&thread);
    let nothing = |thread: u32| ThreadAt {
        thread,
        activity: Activity::Unknown,
        since: None,
        cpu: None,
        waker: None,
        call: None,
        is_call_sure: is_call_sure(thread),
    };
    for (thread, (begin, why, waker)) in rests {
        let activity = why.map_or(Activity::Woken, Activity::OffCpu);
        threads.insert(thread, ThreadAt { activity, since: Some(begin), waker, ..nothing(thread) });
    }
    for it in &cpus {
        let Some(thread) = it.thread else { continue };
        let activity = if it.interrupt.is_some() { Activity::Interrupted } else { Activity::Running };
        threads.insert(thread, ThreadAt { activity, since: it.since, cpu: Some(it.cpu), ..nothing(thread) });
    }
    for (thread, call) in calls {
        threads.entry(thread).or_insert_with(|| nothing(thread)).call = Some(call);
    }
    Ok(HostSnapshot { at, threads: threads.into_values().collect(), cpus })
}

/// The innermost interrupt of each CPU, and its begin: the one that began last.
fn interrupts(spans: &SpanTables, window: (i64, i64)) -> Result<BTreeMap<u32, (i64, Interrupt)>, StoreError> {
    let mut hard = Vec::new();
    spans.irqs.overlapping(window, |view, row| {
        hard.push(IrqRow::get(view, row));
        Ok(())
    })?;
    let names = if hard.is_empty() { Vec::new() } else { spans.irqs.names()? };
    let mut interrupts = BTreeMap::new();
    for IrqRow { cpu, number, name, begin, .. } in hard {
        let name = names.get(name.0 as usize).map(ToString::to_string).unwrap_or_default();
        keep(&mut interrupts, cpu, (begin, Interrupt::Hard { number, name }));
    }
    spans.softirqs.overlapping(window, |view, row| {
        let soft = Interrupt::Soft(view.vector.values()[row]);
        keep(&mut interrupts, view.cpu.values()[row], (view.begin.values()[row], soft));
        Ok(())
    })?;
    Ok(interrupts)
}

/// The calls that threads are in, and the threads of which it is unknown whether they are in one.
fn calls(
    spans: &SpanTables,
    window: (i64, i64),
) -> Result<(BTreeMap<u32, CallAt>, BTreeSet<u32>), StoreError> {
    let names = spans.call_names()?;
    let name_of = |name: crate::cell::NameId| names.get(name.0 as usize).map(ToString::to_string);
    let (mut calls, mut unsure) = (BTreeMap::new(), BTreeSet::new());
    spans.open_calls.overlapping(window, |view, row| {
        let OpenCallRow { thread, is_sure, begin, name, .. } = OpenCallRow::get(view, row);
        if is_sure {
            calls.insert(thread, CallAt { name: name.and_then(name_of), since: begin, is_half: true });
        } else {
            unsure.insert(thread);
        }
        Ok(())
    })?;
    let mut whole = BTreeMap::new();
    spans.syscalls.overlapping(window, |view, row| {
        let SyscallRow { thread, begin, name, .. } = SyscallRow::get(view, row);
        if let Some(thread) = spans.thread(thread) {
            keep(&mut whole, thread, (begin, name_of(name)));
        }
        Ok(())
    })?;
    for (thread, (begin, name)) in whole {
        calls.insert(thread, CallAt { name, since: Some(begin), is_half: false });
        unsure.remove(&thread);
    }
    Ok((calls, unsure))
}
