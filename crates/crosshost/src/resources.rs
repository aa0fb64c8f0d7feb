//! What the resources of a host did: how long each was busy, how long threads waited for it, what was queued
//! for it. All are integrals over time, exact to the ns; `bottleneck.rs` compares them.

use std::collections::BTreeMap;

use isochrone_analysis::{Need, Steps};
use isochrone_kernel::Name;
use isochrone_store::{Cause, State, StoreError, ThreadRow};
use isochrone_time::{RawNs, Window};

use crate::cluster::Cluster;
use crate::cluster::WINDOW_ROWS;
use crate::device_queue;
use crate::disjoint::{Disjoint, within, without};
use crate::host::Host;
use crate::waits::Wait;

/// The times of a host that are measured.
#[derive(Debug)]
pub(crate) struct Frame {
    /// All of them.
    pub(crate) window: Window<RawNs>,
    /// The steps that they are cut into.
    pub(crate) steps: Steps,
    /// When requests were in progress that the host takes part in: disjoint, by start.
    pub(crate) in_use: Vec<Window<RawNs>>,
    /// When events may be missing: disjoint, by start.
    pub(crate) missed: Vec<Window<RawNs>>,
}

/// A sum over time, ns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Integral {
    /// In all of the time.
    pub(crate) whole: u64,
    /// While requests were in progress.
    pub(crate) in_use: u64,
    /// By step.
    pub(crate) steps: BTreeMap<u32, u64>,
}

impl Integral {
    /// Adds a time in which one more was so.
    pub(crate) fn add(&mut self, frame: &Frame, start: RawNs, end: RawNs) {
        let part = Window::new(start, end).clip(frame.window);
        if part.is_empty() {
            return;
        }
        self.whole += length(part);
        self.in_use += within(&frame.in_use, part).map(length).sum::<u64>();
        for (step, ns) in frame.steps.parts(part.start, part.end) {
            *self.steps.entry(step).or_default() += ns;
        }
    }

    /// How long any of some disjoint times was.
    fn of(frame: &Frame, times: &[Window<RawNs>]) -> Self {
        let mut sum = Self::default();
        for time in times {
            sum.add(frame, time.start, time.end);
        }
        sum
    }
}

/// How long a time is, ns.
pub(crate) fn length(time: Window<RawNs>) -> u64 {
    u64::try_from(time.end - time.start).unwrap_or_default()
}

/// What is measured of a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Its integral.
    Known(Integral),
    /// It was not recorded.
    #[default]
    Unknown,
    /// The resource has no such thing.
    NotApplicable,
}

impl Measure {
    pub(crate) fn known(&self) -> Option<&Integral> {
        if let Self::Known(integral) = self { Some(integral) } else { None }
    }

    fn if_recorded(integral: Integral, is_recorded: bool) -> Self {
        if is_recorded { Self::Known(integral) } else { Self::Unknown }
    }
}

/// A kind of resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// All CPUs.
    Cpu,
    /// A disk; without a name: which one it was is unknown.
    Disk,
    /// The queue of a network device.
    Network,
    /// What reclaims memory, and the page faults of programs.
    Memory,
    /// Locks, of whatever sort.
    Locks,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Disk => "disk",
            Self::Network => "network",
            Self::Memory => "memory",
            Self::Locks => "locks",
        }
    }

    /// What has to be recorded for it.
    pub(crate) fn needs(self) -> &'static [Need] {
        match self {
            Self::Cpu => &[Need::Switches, Need::Wakeups],
            Self::Disk => &[Need::Disks],
            Self::Network => &[Need::Packets, Need::Sent],
            Self::Memory => &[Need::Switches, Need::Wakeups, Need::PageFaults],
            Self::Locks => &[Need::Switches, Need::Wakeups, Need::Calls],
        }
    }
}

/// What a resource of a host did.
#[derive(Debug, Clone)]
pub(crate) struct Resource {
    pub(crate) kind: Kind,
    /// Which one of its kind.
    pub(crate) name: Option<String>,
    /// How much of it there is: the CPUs; 1 of all others.
    pub(crate) units: u64,
    /// How long it worked; of CPUs, of each of them.
    pub(crate) busy: Measure,
    /// How long threads waited for it: of each of them.
    pub(crate) wait: Measure,
    /// How long any thread waited for it; of the queue of a network device, any packet behind another.
    pub(crate) waited: Measure,
    /// How long requests or packets were queued or served: of each of them.
    pub(crate) queue: Measure,
    /// How many of these failed.
    pub(crate) errors: Option<u64>,
    /// How long it is unknown whether it worked; of CPUs, of each of them.
    pub(crate) unknown: Integral,
}

impl Resource {
    /// One of which nothing is known but what may be missing.
    fn new(kind: Kind, name: Option<String>, unknown: Integral) -> Self {
        Self {
            kind,
            name,
            units: 1,
            busy: Measure::Unknown,
            wait: Measure::Unknown,
            waited: Measure::Unknown,
            queue: Measure::Unknown,
            errors: None,
            unknown,
        }
    }
}

/// The waits of threads for one resource.
#[derive(Debug, Default)]
struct Waits {
    sum: Integral,
    any: Disjoint,
}

impl Waits {
    fn add(&mut self, frame: &Frame, start: RawNs, end: RawNs) {
        self.sum.add(frame, start, end);
        let part = Window::new(start, end).clip(frame.window);
        self.any.add(part.start, part.end);
    }

    /// How long each thread waited, and how long any did.
    fn measures(self, frame: &Frame, is_recorded: bool) -> (Measure, Measure) {
        let any = Integral::of(frame, &self.any.united());
        (Measure::if_recorded(self.sum, is_recorded), Measure::if_recorded(any, is_recorded))
    }
}

/// What the threads of a host waited for.
#[derive(Debug, Default)]
pub(crate) struct Waited {
    locks: Waits,
    /// Within page faults, for whatever.
    faults: Waits,
    /// By device; `None`: which one is unknown.
    disks: BTreeMap<Option<u32>, Waits>,
}

impl Waited {
    /// Adds a wait of a host that is over.
    pub(crate) fn add(&mut self, host: &Host<'_>, frame: &Frame, wait: &Wait) {
        if host.fault(wait.who.thread, wait.start).is_some() {
            self.faults.add(frame, wait.start, wait.end);
        }
        match wait.cause {
            Cause::Lock => self.locks.add(frame, wait.start, wait.end),
            Cause::Disk => self.disks.entry(wait.device).or_default().add(frame, wait.start, wait.end),
            _ => {}
        }
    }
}

/// All resources of a host, by kind and name; those of a kind that was not recorded are one that is unknown.
/// Linear in the packets of the window and the requests to disks of all time; memory: the packets, and the
/// times when each resource was busy or waited for.
pub(crate) fn resources(
    host: &Host<'_>,
    frame: &Frame,
    [cpu, reclaim]: [Resource; 2],
    waited: Waited,
) -> Result<Vec<Resource>, StoreError> {
    let Waited { locks, faults, disks } = waited;
    let mut all = vec![cpu];
    all.extend(of_disks(host, frame, disks)?);
    all.extend(of_network(host, frame)?);
    all.push(reclaim);
    all.push(of_waits(host, frame, Kind::Memory, Some("page faults"), faults));
    all.push(of_waits(host, frame, Kind::Locks, None, locks));
    Ok(all)
}

/// What threads wait for, and is not busy itself.
fn of_waits(host: &Host<'_>, frame: &Frame, kind: Kind, name: Option<&str>, waits: Waits) -> Resource {
    let (wait, waited) = waits.measures(frame, host.has(kind.needs()));
    let unknown = Integral::of(frame, &frame.missed);
    let none = || Measure::NotApplicable;
    let resource = Resource::new(kind, name.map(str::to_owned), unknown);
    Resource { busy: none(), wait, waited, queue: none(), ..resource }
}

/// The CPUs, and what reclaims memory. Linear in the spans of the window, which are read part by part.
pub(crate) fn cpu_and_reclaim(
    cluster: &Cluster<'_>,
    host: &Host<'_>,
    frame: &Frame,
) -> Result<[Resource; 2], StoreError> {
    let is_reclaiming = |thread: ThreadRow| {
        let comm = host.thread(thread).and_then(|thread| thread.comm.as_deref());
        comm.is_some_and(|comm| comm.starts_with("kswapd"))
    };
    let is_idle = |thread: ThreadRow| host.thread(thread).is_some_and(|thread| thread.tid.is_none());
    let (mut busy, mut unknown, mut reclaims) =
        (Integral::default(), Integral::default(), Integral::default());
    host.store.slices(frame.window, |slice| {
        if !slice.thread.is_some_and(is_idle) {
            busy.add(frame, slice.start, slice.end);
        }
        if slice.thread.is_some_and(is_reclaiming) {
            reclaims.add(frame, slice.start, slice.end);
        }
    })?;
    host.store.unknown(frame.window, |time| unknown.add(frame, time.start, time.end))?;
    let threads: Vec<ThreadRow> = (0..).map(ThreadRow).take(host.store.threads().len()).collect();
    let mut waits = Waits::default();
    let step = cluster.time_of_rows(WINDOW_ROWS).max(1);
    cluster.expect(length(frame.window).div_ceil(step as u64) as usize);
    let mut at = frame.window.start;
    while at < frame.window.end {
        cluster.next_window()?;
        let part = Window::new(at, at.saturating_add(step).min(frame.window.end));
        for state in host.store.states(&threads, part)? {
            if state.state == State::WaitCpu {
                let time = Window::new(state.start, state.end).clip(part);
                waits.add(frame, time.start, time.end);
            }
        }
        at = part.end;
    }
    let has_switches = host.has(&[Need::Switches]);
    let (wait, waited) = waits.measures(frame, host.has(Kind::Cpu.needs()));
    let cpu = Resource {
        units: host.store.entry().cpus.len().max(1) as u64,
        busy: Measure::if_recorded(busy, has_switches),
        // Who waits is all that is queued.
        queue: wait.clone(),
        wait,
        waited,
        ..Resource::new(Kind::Cpu, None, unknown)
    };
    let is_known = has_switches && threads.iter().any(|&thread| is_reclaiming(thread));
    let missed = Integral::of(frame, &frame.missed);
    let reclaim = Resource {
        busy: Measure::if_recorded(reclaims, is_known),
        ..Resource::new(Kind::Memory, Some("kswapd".to_owned()), missed)
    };
    Ok([cpu, reclaim])
}

/// What a disk did.
#[derive(Debug, Default)]
struct Disk {
    busy: Disjoint,
    /// When it may have worked at a request of which an end is missing.
    half: Disjoint,
    /// Issues and completions of flushes of its cache, which name no sectors that both have.
    flushes: [Vec<RawNs>; 2],
    queue: Integral,
    errors: u64,
}

impl Disk {
    /// Adds flushes to what is unknown: the disk has one at a time, which is over by the next completion.
    fn flush(&mut self, frame: &Frame) {
        let [issued, completed] = &mut self.flushes;
        completed.sort_unstable();
        for &issued in issued.iter() {
            let next = completed.partition_point(|&at| at < issued);
            let until = completed.get(next).copied().unwrap_or(frame.window.end);
            self.half.add(issued.max(frame.window.start), until.min(frame.window.end));
        }
    }
}

fn of_disks(
    host: &Host<'_>,
    frame: &Frame,
    mut waits: BTreeMap<Option<u32>, Waits>,
) -> Result<Vec<Resource>, StoreError> {
    let missed = || Integral::of(frame, &frame.missed);
    if !host.has(Kind::Disk.needs()) {
        return Ok(vec![Resource::new(Kind::Disk, None, missed())]);
    }
    let mut disks: BTreeMap<u32, Disk> = BTreeMap::new();
    // A request of which an end is missing may have begun or ended at any time.
    host.store.block_requests(Window::ALL, |block| {
        let disk = disks.entry(block.device).or_default();
        match (block.issued, block.completed) {
            (Some(issued), Some(completed)) => {
                disk.busy.add(issued.max(frame.window.start), completed.min(frame.window.end));
                disk.queue.add(frame, block.inserted.unwrap_or(issued), completed);
                disk.errors += u64::from(block.error != 0 && frame.window.contains(completed));
            }
            (Some(issued), None) if block.sectors == 0 => disk.flushes[0].push(issued),
            (None, Some(completed)) if block.sectors == 0 => disk.flushes[1].push(completed),
            (Some(issued), None) => {
                let next = frame.missed.partition_point(|time| time.end <= issued);
                let until = frame.missed.get(next).map_or(RawNs::MAX, |time| time.start.max(issued));
                disk.half.add(issued.max(frame.window.start), until.min(frame.window.end));
            }
            (None, Some(completed)) => {
                let before = frame.missed.partition_point(|time| time.start < completed);
                let since = frame.missed[..before].last().map_or(RawNs::MIN, |time| time.end.min(completed));
                disk.half.add(since.max(frame.window.start), completed.min(frame.window.end));
            }
            // It was merged into another one.
            (None, None) => {}
        }
    })?;
    let is_known = host.has(&[Need::Switches, Need::Wakeups, Need::HardInterrupts, Need::Softirqs]);
    let mut all = Vec::new();
    for (device, mut disk) in disks {
        disk.flush(frame);
        let busy = disk.busy.united();
        frame.missed.iter().for_each(|time| disk.half.add(time.start, time.end));
        let unknown = Integral::of(frame, &without(&disk.half.united(), &busy));
        let (wait, waited) = waits.remove(&Some(device)).unwrap_or_default().measures(frame, is_known);
        let name = host.store.entry().disk_name(device).into_owned();
        all.push(Resource {
            busy: Measure::Known(Integral::of(frame, &busy)),
            wait,
            waited,
            queue: Measure::Known(disk.queue),
            errors: Some(disk.errors),
            ..Resource::new(Kind::Disk, Some(name), unknown)
        });
    }
    if let Some(waits) = waits.remove(&None) {
        let (wait, waited) = waits.measures(frame, is_known);
        let none = || Measure::NotApplicable;
        let rest = Resource::new(Kind::Disk, None, missed());
        all.push(Resource { busy: none(), queue: none(), wait, waited, ..rest });
    }
    Ok(all)
}

/// The queues of network devices: a packet is in it from `net_dev_queue` until the device has taken it, and
/// waits there while others are, which the device takes one after the other.
fn of_network(host: &Host<'_>, frame: &Frame) -> Result<Vec<Resource>, StoreError> {
    let missed = || Integral::of(frame, &frame.missed);
    if !host.has(Kind::Network.needs()) {
        return Ok(vec![Resource::new(Kind::Network, None, missed())]);
    }
    let packets = host.store.packets(frame.window)?;
    let taken = device_queue::taken(&host.store, &packets, frame.window)?;
    // Without `net_dev_xmit` it is unknown when a packet was taken.
    let is_known = !taken.is_empty() || !packets.iter().any(|packet| packet.is_sent);
    let mut queues: BTreeMap<&Name, Vec<Window<RawNs>>> = BTreeMap::new();
    for packet in &packets {
        let queue = queues.entry(&packet.device).or_default();
        if let Some(&end) = taken.get(&(packet.at, packet.cpu)).filter(|_| packet.is_sent) {
            queue.push(Window::new(packet.at, end).clip(frame.window));
        }
    }
    let resource = |(device, packets): (&Name, Vec<Window<RawNs>>)| {
        let (any, several) = (occupied(&packets, 1), occupied(&packets, 2));
        Resource {
            busy: Measure::if_recorded(Integral::of(frame, &any), is_known),
            wait: Measure::NotApplicable,
            waited: Measure::if_recorded(Integral::of(frame, &several), is_known),
            queue: Measure::if_recorded(Integral::of(frame, &packets), is_known),
            ..Resource::new(Kind::Network, Some(device.to_string()), missed())
        }
    };
    Ok(queues.into_iter().map(resource).collect())
}

/// When at least so many of some times overlap: disjoint, by start.
fn occupied(times: &[Window<RawNs>], least: usize) -> Vec<Window<RawNs>> {
    let mut edges: Vec<(RawNs, bool)> = times
        .iter()
        .filter(|time| !time.is_empty())
        .flat_map(|time| [(time.start, true), (time.end, false)])
        .collect();
    // At one instant, ends come first.
    edges.sort_unstable();
    let (mut count, mut since, mut found) = (0_usize, RawNs::MIN, Vec::new());
    for (at, is_start) in edges {
        if is_start {
            count += 1;
            if count == least {
                since = at;
            }
        } else {
            if count == least && since < at {
                found.push(Window::new(since, at));
            }
            count -= 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_many_overlap() {
        let check = |times: &[(i64, i64)], least, expect: &[(i64, i64)]| {
            let windows = |times: &[(i64, i64)]| -> Vec<_> {
                times.iter().map(|&(start, end)| Window::new(RawNs(start), RawNs(end))).collect()
            };
            assert_eq!(occupied(&windows(times), least), windows(expect), "{times:?} {least}");
        };
        let times = [(0, 10), (5, 20), (8, 9), (20, 30), (40, 40)];
        check(&times, 1, &[(0, 20), (20, 30)]);
        check(&times, 2, &[(5, 10)]);
        check(&times, 3, &[(8, 9)]);
        check(&[], 1, &[]);
    }
}
