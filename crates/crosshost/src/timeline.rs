//! What one host did in a window of time, in memory: everything that a walk from cause to cause asks for.

use isochrone_kernel::calls::Object;
use isochrone_net::Flow;
use isochrone_store::{
    BlockSpan, CallSpan, ForkSpan, HandlerSpan, HostStore, ObjectUseSpan, PacketSpan, PagesSpan, PollSpan,
    SliceSpan, State, StateRow, StoreError, ThreadRow, WakeupSpan,
};
use isochrone_time::{RawNs, UnixNs, Window};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::cluster::Cluster;
use crate::device_queue;
use crate::keyed::{Keyed, last_before, last_until};

/// A host in a window of its raw time.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    states: Keyed<StateRow>,
    calls: Keyed<CallSpan>,
    wakeups: Keyed<WakeupSpan>,
    /// By CPU.
    slices: Keyed<SliceSpan>,
    irqs: Keyed<HandlerSpan>,
    softirqs: Keyed<HandlerSpan>,
    packets: Vec<PacketSpan>,
    /// Places in `packets`, by flow and direction.
    flows: FxHashMap<(Flow, bool), Vec<usize>>,
    /// When devices took the packets that were queued, by the instant and the CPU of that.
    taken: FxHashMap<(RawNs, u32), RawNs>,
    forks: FxHashMap<ThreadRow, ForkSpan>,
    polls: FxHashMap<(ThreadRow, RawNs), PollSpan>,
    /// What calls acted on that is no file, by thread and exit.
    objects: FxHashMap<(ThreadRow, RawNs), Object>,
    /// Events of signals that threads sent.
    signals: Keyed<ObjectUseSpan>,
    /// Events of signals that threads got.
    delivered: Keyed<ObjectUseSpan>,
    /// By completion.
    blocks: Vec<BlockSpan>,
    pages: Keyed<PagesSpan>,
}

impl Timeline {
    /// Reads a window. Linear in what overlaps it.
    pub(crate) fn load(store: &HostStore, window: Window<RawNs>) -> Result<Self, StoreError> {
        let rows = (0..).map(ThreadRow).zip(store.threads());
        let threads: Vec<ThreadRow> =
            rows.filter(|(_, thread)| thread.tid.is_some()).map(|(row, _)| row).collect();
        let states = store.states(&threads, window)?;
        let (mut calls, mut wakeups, mut slices) = (Vec::new(), Vec::new(), Vec::new());
        store.syscalls(window, |call| calls.push(call))?;
        store.wakeups(window, |wakeup| wakeups.push(wakeup))?;
        store.slices(window, |slice| slices.push(slice))?;
        let (mut irqs, mut softirqs, mut blocks) = (Vec::new(), Vec::new(), Vec::new());
        store.irqs(window, |irq| irqs.push(irq))?;
        store.softirqs(window, |softirq| softirqs.push(softirq))?;
        store.block_requests(window, |block| blocks.push(block))?;
        blocks.sort_by_key(|block| block.end);
        let (mut forks, mut polls) = (FxHashMap::default(), FxHashMap::default());
        store.forks(window, |fork| {
            forks.insert(fork.thread, fork);
        })?;
        store.polls(window, |poll| {
            if let Some(thread) = poll.thread {
                polls.insert((thread, poll.at), poll);
            }
        })?;
        let (mut objects, mut signals, mut delivered) = (FxHashMap::default(), Vec::new(), Vec::new());
        store.object_uses(window, |used| match used.thread {
            Some(_) if matches!(used.object, Object::Delivered(_)) => delivered.push(used),
            Some(_) if used.is_event => signals.push(used),
            Some(thread) => {
                objects.insert((thread, used.at), used.object);
            }
            None => {}
        })?;
        let mut pages = Vec::new();
        store.pages(window, |it| pages.push(it))?;
        let packets = store.packets(window)?;
        let mut flows: FxHashMap<(Flow, bool), Vec<usize>> = FxHashMap::default();
        for (index, packet) in packets.iter().enumerate() {
            if let Some((flow, _)) = packet.flow {
                flows.entry((flow, packet.is_sent)).or_default().push(index);
            }
        }
        let taken = device_queue::taken(store, &packets, window)?;
        Ok(Self {
            states: Keyed::new(states, |row| Some(row.thread.0), |row| row.start),
            calls: Keyed::new(calls, |call| call.thread.map(|it| it.0), |call| call.start),
            wakeups: Keyed::new(wakeups, |wakeup| wakeup.thread.map(|it| it.0), |wakeup| wakeup.at),
            slices: Keyed::new(slices, |slice| Some(slice.cpu), |slice| slice.start),
            irqs: Keyed::new(irqs, |irq| Some(irq.cpu), |irq| irq.start),
            softirqs: Keyed::new(softirqs, |softirq| Some(softirq.cpu), |softirq| softirq.start),
            packets,
            flows,
            taken,
            forks,
            polls,
            objects,
            signals: Keyed::new(signals, |used| used.thread.map(|it| it.0), |used| used.at),
            delivered: Keyed::new(delivered, |used| used.thread.map(|it| it.0), |used| used.at),
            blocks,
            pages: Keyed::new(pages, |it| it.thread.filter(|_| !it.is_free).map(|it| it.0), |it| it.at),
        })
    }

    /// Reads the packets of a window, and nothing else. Linear in them.
    fn load_packets(store: &HostStore, window: Window<RawNs>) -> Result<Self, StoreError> {
        Ok(Self { packets: store.packets(window)?, ..Self::default() })
    }

    /// The states of a thread, by time.
    pub(crate) fn states(&self, thread: ThreadRow) -> &[StateRow] {
        self.states.of(thread.0)
    }

    /// The state that a thread is in just before an instant.
    pub(crate) fn state_before(&self, thread: ThreadRow, at: RawNs) -> Option<&StateRow> {
        last_before(self.states.of(thread.0), at, |row| row.start)
    }

    /// The state of a thread after another one.
    pub(crate) fn state_from(&self, thread: ThreadRow, at: RawNs) -> Option<&StateRow> {
        let rows = self.states.of(thread.0);
        rows.get(rows.partition_point(|row| row.start < at))
    }

    /// The calls of a thread, by entry.
    pub(crate) fn calls(&self, thread: ThreadRow) -> &[CallSpan] {
        self.calls.of(thread.0)
    }

    /// The call that a thread is in at an instant, or returns from.
    pub(crate) fn call_at(&self, thread: ThreadRow, at: RawNs) -> Option<&CallSpan> {
        last_before(self.calls.of(thread.0), at, |call| call.start).filter(|call| call.end >= at)
    }

    /// The first event that wakes a thread in a time: the one with the cause, where the kernel records several.
    pub(crate) fn wakeup(
        &self,
        thread: ThreadRow,
        Window { start: from, end: to }: Window<RawNs>,
    ) -> Option<&WakeupSpan> {
        let rows = self.wakeups.of(thread.0);
        let first = rows.get(rows.partition_point(|wakeup| wakeup.at < from))?;
        (first.at <= to).then_some(first)
    }

    /// When a thread whose wait has ended was put into the queue of a CPU: `sched_wakeup`, where `sched_waking` ended the wait.
    pub(crate) fn runnable(&self, wait: &StateRow) -> RawNs {
        let next = self.state_from(wait.thread, wait.end).filter(|next| next.state == State::WaitCpu);
        let Some(next) = next else { return wait.end };
        let rows = self.wakeups.of(wait.thread.0);
        last_until(rows, next.end, |wakeup| wakeup.at).map_or(wait.end, |last| last.at.max(wait.end))
    }

    /// What ran on a CPU in a time, cut to it.
    pub(crate) fn ran_on(
        &self,
        cpu: u32,
        Window { start: from, end: to }: Window<RawNs>,
    ) -> impl Iterator<Item = (ThreadRow, i64)> {
        let rows = self.slices.of(cpu);
        let first = rows.partition_point(|slice| slice.end <= from);
        let overlapping = rows[first..].iter().take_while(move |slice| slice.start < to);
        overlapping.filter_map(move |slice| Some((slice.thread?, slice.end.min(to) - slice.start.max(from))))
    }

    /// The softirq that a CPU handles at an instant.
    pub(crate) fn softirq_at(&self, cpu: u32, at: RawNs) -> Option<&HandlerSpan> {
        last_until(self.softirqs.of(cpu), at, |softirq| softirq.start).filter(|softirq| softirq.end >= at)
    }

    /// The hardware interrupt that a CPU handles at an instant.
    pub(crate) fn irq_at(&self, cpu: u32, at: RawNs) -> Option<&HandlerSpan> {
        last_until(self.irqs.of(cpu), at, |irq| irq.start).filter(|irq| irq.end >= at)
    }

    /// The packets that a CPU received from one instant to another one, both included; the last one first.
    pub(crate) fn received_on(
        &self,
        cpu: u32,
        Window { start: from, end: to }: Window<RawNs>,
    ) -> impl Iterator<Item = &PacketSpan> {
        let first = self.packets.partition_point(|packet| packet.at < from);
        let last = self.packets.partition_point(|packet| packet.at <= to);
        let packets = self.packets[first..last.max(first)].iter().rev();
        packets.filter(move |packet| packet.cpu == cpu && !packet.is_sent)
    }

    /// The packet whose event is at an instant.
    pub(crate) fn packet(&self, at: RawNs, cpu: Option<u32>, is_sent: bool) -> Option<&PacketSpan> {
        let first = self.packets.partition_point(|packet| packet.at < at);
        let of_instant = self.packets[first..].iter().take_while(|packet| packet.at == at);
        of_instant
            .filter(|packet| packet.is_sent == is_sent)
            .find(|packet| cpu.is_none_or(|cpu| packet.cpu == cpu))
    }

    /// The packets of a flow that were sent, or received, by time, up to an instant; the last one first.
    pub(crate) fn of_flow(
        &self,
        flow: Flow,
        is_sent: bool,
        until: RawNs,
    ) -> impl Iterator<Item = &PacketSpan> {
        let indices = self.flows.get(&(flow, is_sent)).map_or(&[][..], Vec::as_slice);
        let last = indices.partition_point(|&index| self.packets[index].at <= until);
        indices[..last].iter().rev().map(|&index| &self.packets[index])
    }

    /// When a device took a packet that was sent, if that was recorded.
    pub(crate) fn taken(&self, sent: &PacketSpan) -> Option<RawNs> {
        self.taken.get(&(sent.at, sent.cpu)).copied()
    }

    /// All packets, by time.
    pub(crate) fn packets(&self) -> &[PacketSpan] {
        &self.packets
    }

    /// How a thread started.
    pub(crate) fn fork(&self, thread: ThreadRow) -> Option<&ForkSpan> {
        self.forks.get(&thread)
    }

    /// The descriptors that were ready when a thread's wait for descriptors ended.
    pub(crate) fn ready(&self, thread: ThreadRow, call_end: RawNs) -> &[i32] {
        self.polls.get(&(thread, call_end)).map_or(&[], |poll| &poll.ready)
    }

    /// What the call of a thread that returned at an instant acted on, if that is no file.
    pub(crate) fn object(&self, thread: ThreadRow, call_end: RawNs) -> Option<Object> {
        self.objects.get(&(thread, call_end)).copied()
    }

    /// The number of the last signal that a thread sent in a time, and when, by an event of it.
    pub(crate) fn signal(
        &self,
        thread: ThreadRow,
        Window { start: from, end: to }: Window<RawNs>,
    ) -> Option<(i32, RawNs)> {
        let last = last_until(self.signals.of(thread.0), to, |used| used.at)?;
        match last.object {
            Object::Signal { number, .. } if last.at >= from => Some((number, last.at)),
            _ => None,
        }
    }

    /// The number of the signal that interrupted a call of a thread, by the event of its delivery,
    /// which comes before the next call.
    pub(crate) fn delivered(&self, thread: ThreadRow, call: &CallSpan) -> Option<i32> {
        let rows = self.delivered.of(thread.0);
        let first = rows.get(rows.partition_point(|used| used.at < call.end))?;
        let calls = self.calls(thread);
        let next = calls.get(calls.partition_point(|next| next.start <= call.start));
        match first.object {
            Object::Delivered(number) if next.is_none_or(|next| first.at <= next.start) => Some(number),
            _ => None,
        }
    }

    /// The last request to a disk that ended in a time.
    pub(crate) fn disk(&self, Window { start: from, end: to }: Window<RawNs>) -> Option<&BlockSpan> {
        last_until(&self.blocks, to, |block| block.end).filter(|block| block.end >= from)
    }

    /// The pages that a thread allocated, by time.
    pub(crate) fn pages(&self, thread: ThreadRow) -> &[PagesSpan] {
        self.pages.of(thread.0)
    }

    /// All requests to disks, by their ends.
    pub(crate) fn disks(&self) -> &[BlockSpan] {
        &self.blocks
    }
}

/// All hosts in a window of the requested clock.
#[derive(Debug)]
pub(crate) struct ClusterWindow<'c, 'e> {
    pub(crate) cluster: &'c Cluster<'e>,
    /// By host.
    pub(crate) timelines: Vec<Timeline>,
}

impl<'c, 'e> ClusterWindow<'c, 'e> {
    /// Reads what all hosts did in a window.
    pub(crate) fn load(cluster: &'c Cluster<'e>, window: Window<UnixNs>) -> Result<Self, StoreError> {
        cluster.next_window()?;
        let load = |host: &crate::host::Host<'_>| Timeline::load(&host.store, host.raw_window(window));
        let timelines = cluster.hosts.par_iter().map(load).collect::<Result<_, _>>()?;
        Ok(Self { cluster, timelines })
    }

    /// Reads the packets of all hosts in a window, and nothing else.
    pub(crate) fn load_packets(cluster: &'c Cluster<'e>, window: Window<UnixNs>) -> Result<Self, StoreError> {
        cluster.next_window()?;
        let load =
            |host: &crate::host::Host<'_>| Timeline::load_packets(&host.store, host.raw_window(window));
        let timelines = cluster.hosts.par_iter().map(load).collect::<Result<_, _>>()?;
        Ok(Self { cluster, timelines })
    }
}
