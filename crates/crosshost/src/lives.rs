//! Lives of processes, and what they used over time: what pictures of them are made of, on the page and in
//! `isochrone summary`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use isochrone_analysis::{Need, Steps};
use isochrone_kernel::Missed;
use isochrone_store::{StoreError, ThreadRow};
use isochrone_time::{RawNs, UnixNs, Window};
use rustc_hash::FxHashMap;

use crate::cluster::Cluster;
use crate::host::Host;
use crate::resources::length;

/// A process in a window, on the requested clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessLife {
    /// Index of the host.
    pub host: usize,
    /// Its pid.
    pub pid: i32,
    /// Its name.
    pub comm: Option<String>,
    /// From the start of its first thread to the end of its last one; of one that was there before the trace,
    /// or after it, to the start or the end of that.
    pub span: Window<UnixNs>,
    /// Whether its start and its end were seen.
    pub is_seen: (bool, bool),
    /// CPU time in the window, ns.
    pub cpu_ns: u64,
    /// How much more CPU time it may have used there: that of all CPUs of which it is unknown what ran, ns.
    pub unknown_ns: u64,
    /// The steps of the window in which either is more than 0, by time.
    pub steps: Vec<LifeStep>,
    /// Page faults in the window; `None`: they were not recorded.
    pub page_faults: Option<PageFaults>,
}

/// What a process used in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LifeStep {
    /// The step, cut to the life.
    pub span: Window<UnixNs>,
    /// CPU time, ns: of several CPUs more than the step is long.
    pub cpu_ns: u64,
    /// How much more it may have been, ns.
    pub unknown_ns: u64,
}

/// Page faults of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageFaults {
    /// How many were recorded.
    pub count: u64,
    /// Whether these are all: no event can be missing, and of none it is unknown whose it was.
    pub is_whole: bool,
}

/// Processes in a window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lives {
    /// How many ran in it.
    pub total: usize,
    /// Those that used the CPUs most, by host, start and pid.
    pub lives: Vec<ProcessLife>,
}

/// What the slices of a process are, in steps.
#[derive(Debug, Default)]
struct Used {
    cpu_ns: u64,
    steps: BTreeMap<u32, u64>,
    page_faults: u64,
}

/// What is known of a host in the window, raw ns.
struct Measured {
    window: Window<RawNs>,
    steps: Steps,
    used: FxHashMap<i32, Used>,
    /// Times of CPUs in which it is unknown what ran.
    unknown: Vec<Window<RawNs>>,
    /// Page faults of which it is unknown whose they are.
    faults_of_any: Vec<RawNs>,
    /// When events may be missing.
    missed: Missed,
}

/// The `limit` processes that used the CPUs most in a window, with what they used in `steps` parts of equal
/// length. A pid that was used again is one life. Linear in the slices and the page faults of the window, and
/// in all threads; memory: for each process that ran, the steps in which it did.
///
/// # Errors
/// The store cannot be read.
pub fn lives(
    cluster: &Cluster<'_>,
    window: Option<Window<UnixNs>>,
    steps: u32,
    limit: usize,
) -> Result<Lives, StoreError> {
    let window = cluster.window(window);
    let mut hosts = Vec::with_capacity(cluster.hosts.len());
    cluster.expect(cluster.hosts.len());
    for host in cluster.hosts.iter() {
        cluster.next_window()?;
        hosts.push(measured(host, window, steps.max(1))?);
    }
    let of_host = |(index, host): (usize, &Measured)| {
        let ran = host.used.iter().filter(|(_, used)| used.cpu_ns > 0);
        ran.map(|(&pid, used)| (Reverse(used.cpu_ns), index, pid)).collect::<Vec<_>>()
    };
    let mut ranked: Vec<_> = hosts.iter().enumerate().flat_map(of_host).collect();
    let total = ranked.len();
    ranked.sort_unstable();
    ranked.truncate(limit);
    let shown = ranked.into_iter();
    let mut lives: Vec<ProcessLife> =
        shown.filter_map(|(_, index, pid)| life(cluster, index, pid, &hosts[index])).collect();
    lives.sort_by_key(|life| (life.host, life.span.start, life.pid));
    Ok(Lives { total, lives })
}

fn measured(host: &Host<'_>, window: Window<UnixNs>, steps: u32) -> Result<Measured, StoreError> {
    let raw = Window::new(host.raw(window.start), host.raw(window.end)).clip(host.range);
    let whole = window.end - window.start;
    let edge = |step: u32| UnixNs(window.start.0 + whole * i128::from(step) / i128::from(steps));
    let edges = (0..=steps).map(|step| host.raw(edge(step))).collect();
    let every_ns = u64::try_from(whole / i128::from(steps)).unwrap_or_default();
    let steps = Steps { every_ns, edges };
    let missed = host.store.missed()?;
    let (used, unknown, faults_of_any) = (FxHashMap::default(), Vec::new(), Vec::new());
    let mut all = Measured { window: raw, steps, used, unknown, faults_of_any, missed };
    let is_idle = |thread: ThreadRow| host.thread(thread).is_some_and(|thread| thread.tid.is_none());
    host.store.slices(raw, |slice| {
        let part = Window::new(slice.start, slice.end).clip(raw);
        if part.is_empty() || slice.thread.is_some_and(is_idle) {
            return;
        }
        let Some(pid) = slice.thread.and_then(|thread| host.pid(thread)) else {
            all.unknown.push(part);
            return;
        };
        let used = all.used.entry(pid).or_default();
        used.cpu_ns += length(part);
        for (step, ns) in all.steps.parts(part.start, part.end) {
            *used.steps.entry(step).or_default() += ns;
        }
    })?;
    host.store.unknown(raw, |time| all.unknown.push(Window::new(time.start, time.end).clip(raw)))?;
    host.store.page_faults(raw, |fault| {
        if !raw.contains(fault.start) {
            return;
        }
        match fault.thread.and_then(|thread| host.pid(thread)) {
            Some(pid) => all.used.entry(pid).or_default().page_faults += 1,
            None => all.faults_of_any.push(fault.start),
        }
    })?;
    all.unknown.retain(|time| !time.is_empty());
    Ok(all)
}

/// From the start of the first thread of a process to the end of its last one, and whether these were seen.
fn span(host: &Host<'_>, pid: i32) -> Option<(Window<RawNs>, (bool, bool))> {
    let threads = host.threads_of(pid).iter().filter_map(|&thread| host.thread(thread));
    let (first, last) = (threads.clone().min_by_key(|it| it.start)?, threads.max_by_key(|it| it.end)?);
    Some((Window::new(first.start, last.end), (first.is_start_seen, last.is_end_seen)))
}

fn life(cluster: &Cluster<'_>, index: usize, pid: i32, measured: &Measured) -> Option<ProcessLife> {
    let host = &cluster.hosts[index];
    let (whole, is_seen) = span(host, pid)?;
    let used = measured.used.get(&pid)?;
    let inside = whole.clip(measured.window);
    let mut unknown: BTreeMap<u32, u64> = BTreeMap::new();
    let mut unknown_ns = 0;
    for part in measured.unknown.iter().map(|time| time.clip(inside)).filter(|part| !part.is_empty()) {
        unknown_ns += length(part);
        for (step, ns) in measured.steps.parts(part.start, part.end) {
            *unknown.entry(step).or_default() += ns;
        }
    }
    let is_missed = measured.missed.is_between(inside.start, inside.end);
    let is_whole = !is_missed && !measured.faults_of_any.iter().any(|&at| inside.contains(at));
    let page_faults = PageFaults { count: used.page_faults, is_whole };
    let common = |raw: Window<RawNs>| Window::new(host.common(raw.start), host.common(raw.end));
    let mut steps: Vec<u32> = used.steps.keys().chain(unknown.keys()).copied().collect();
    steps.sort_unstable();
    steps.dedup();
    let step = |step: u32| {
        let edges = &measured.steps.edges[step as usize..];
        LifeStep {
            span: common(Window::new(edges[0], edges[1]).clip(inside)),
            cpu_ns: used.steps.get(&step).copied().unwrap_or_default(),
            unknown_ns: unknown.get(&step).copied().unwrap_or_default(),
        }
    };
    Some(ProcessLife {
        host: index,
        pid,
        comm: cluster.comm_of_process(index, pid).map(str::to_owned),
        span: common(whole),
        is_seen,
        cpu_ns: used.cpu_ns,
        unknown_ns,
        steps: steps.into_iter().map(step).collect(),
        page_faults: host.has(&[Need::PageFaults]).then_some(page_faults),
    })
}
