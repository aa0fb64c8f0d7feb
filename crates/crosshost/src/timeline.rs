//! What one host did in a window of time, in memory: everything that a walk from cause to cause asks for.

use isochrone_kernel::calls::Object;
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
use crate::packets::Packets;

/// A host in a window of its raw time.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Timeline {
    /// What is read; `None`: nothing.
    window: Option<Window<RawNs>>,
    states: Keyed<StateRow>,
    calls: Keyed<CallSpan>,
    wakeups: Keyed<WakeupSpan>,
    /// By CPU.
    slices: Keyed<SliceSpan>,
    irqs: Keyed<HandlerSpan>,
    softirqs: Keyed<HandlerSpan>,
    packets: Packets,
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
        let mut timeline = Self::default();
        timeline.advance(store, window)?;
        Ok(timeline)
    }

    /// Moves to another window: the result is that of [`Self::load`]. Of one that starts in this window and
    /// ends after it, only what is new is read, but for when devices took packets. Linear in what is new and
    /// in what overlaps both; after an error, it is of no window.
    fn advance(&mut self, store: &HostStore, window: Window<RawNs>) -> Result<(), StoreError> {
        let before = self.window.take();
        let Some(old) = before.filter(|old| old.contains(window.start) && old.end <= window.end) else {
            *self = Self::default();
            return self.read(store, window, None);
        };
        self.forget(window.start);
        self.read(store, window, Some(old.end))
    }

    /// Forgets what lies before an instant.
    fn forget(&mut self, start: RawNs) {
        let cut = |row: &mut StateRow| {
            row.start = row.start.max(start);
            row.end > start
        };
        self.states.forget(start, |row| row.start, cut);
        self.calls.forget(start, |call| call.start, |call| call.end > start);
        self.slices.forget(start, |slice| slice.start, |slice| slice.end > start);
        self.irqs.forget(start, |irq| irq.start, |irq| irq.end > start);
        self.softirqs.forget(start, |softirq| softirq.start, |softirq| softirq.end > start);
        self.blocks.retain(|block| block.end > start);
        self.wakeups.forget(start, |wakeup| wakeup.at, |wakeup| wakeup.at >= start);
        self.packets.forget(start);
        self.forks.retain(|_, fork| fork.at >= start);
        self.polls.retain(|(_, at), _| *at >= start);
        self.objects.retain(|(_, at), _| *at >= start);
        self.signals.forget(start, |used| used.at, |used| used.at >= start);
        self.delivered.forget(start, |used| used.at, |used| used.at >= start);
        self.pages.forget(start, |it| it.at, |it| it.at >= start);
    }

    /// Reads what starts in the part of a window that begins at `since`, where what starts before is there
    /// already; `None`: all that overlaps the window. The large tables are read on several cores.
    fn read(
        &mut self,
        store: &HostStore,
        window: Window<RawNs>,
        since: Option<RawNs>,
    ) -> Result<(), StoreError> {
        let mut states = std::mem::take(&mut self.states);
        let (in_states, others) = rayon::join(
            || add_states(&mut states, store, since.map_or(window, |since| Window::new(since, window.end))),
            || self.read_others(store, window, since),
        );
        self.states = states;
        in_states.and(others)?;
        self.window = Some(window);
        Ok(())
    }

    /// Reads all but the states.
    fn read_others(
        &mut self,
        store: &HostStore,
        window: Window<RawNs>,
        since: Option<RawNs>,
    ) -> Result<(), StoreError> {
        // What has no length, and starts where the part begins, overlaps the time before alone.
        let part = since.map_or(window, |since| Window::new(since.saturating_sub(1), window.end));
        let is_new = |at: RawNs| since.is_none_or(|since| at >= since);
        let Self { calls, wakeups, slices, irqs, softirqs, packets, taken, blocks, .. } = self;
        let of_calls = || {
            store
                .syscalls(part, |it| calls.add(it.thread.map(|it| it.0).filter(|_| is_new(it.start)), it))?;
            calls.sort(|call| call.start);
            Ok(())
        };
        let of_wakeups = || {
            store.wakeups(part, |it| wakeups.add(it.thread.map(|it| it.0).filter(|_| is_new(it.at)), it))?;
            wakeups.sort(|wakeup| wakeup.at);
            Ok(())
        };
        let of_cpus = || {
            store.slices(part, |it| slices.add(is_new(it.start).then_some(it.cpu), it))?;
            slices.sort(|slice| slice.start);
            store.irqs(part, |it| irqs.add(is_new(it.start).then_some(it.cpu), it))?;
            irqs.sort(|irq| irq.start);
            store.softirqs(part, |it| softirqs.add(is_new(it.start).then_some(it.cpu), it))?;
            softirqs.sort(|softirq| softirq.start);
            Ok(())
        };
        let of_devices = || {
            store.block_requests(part, |it| blocks.extend(is_new(it.start).then_some(it)))?;
            // Whatever was read when: one order.
            blocks.sort_by_key(|block| (block.end, block.start, block.device, block.sector));
            packets.extend(store.packets(part)?.into_iter().filter(|packet| is_new(packet.at)));
            *taken = device_queue::taken(store, packets.all(), window)?;
            Ok(())
        };
        let ((calls, wakeups), (cpus, devices)): ((Result<_, StoreError>, Result<_, _>), (_, Result<_, _>)) =
            rayon::join(|| rayon::join(of_calls, of_wakeups), || rayon::join(of_cpus, of_devices));
        calls.and(wakeups).and(cpus).and(devices)?;
        let (forks, polls) = (&mut self.forks, &mut self.polls);
        store.forks(part, |fork| {
            if is_new(fork.at) {
                forks.insert(fork.thread, fork);
            }
        })?;
        store.polls(part, |poll| {
            if let Some(thread) = poll.thread.filter(|_| is_new(poll.at)) {
                polls.insert((thread, poll.at), poll);
            }
        })?;
        let Self { objects, signals, delivered, pages, .. } = self;
        store.object_uses(part, |used| match used.thread.filter(|_| is_new(used.at)) {
            Some(thread) if matches!(used.object, Object::Delivered(_)) => {
                delivered.add(Some(thread.0), used);
            }
            Some(thread) if used.is_event => signals.add(Some(thread.0), used),
            Some(thread) => {
                objects.insert((thread, used.at), used.object);
            }
            None => {}
        })?;
        signals.sort(|used| used.at);
        delivered.sort(|used| used.at);
        let thread_of = |it: &PagesSpan| it.thread.filter(|_| !it.is_free && is_new(it.at)).map(|it| it.0);
        store.pages(part, |it| pages.add(thread_of(&it), it))?;
        pages.sort(|it| it.at);
        Ok(())
    }

    /// Reads the packets of a window, and nothing else. Linear in them.
    fn load_packets(store: &HostStore, window: Window<RawNs>) -> Result<Self, StoreError> {
        Ok(Self { packets: Packets::without_flows(store.packets(window)?), ..Self::default() })
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

    /// When a device took a packet that was sent, if that was recorded.
    pub(crate) fn taken(&self, sent: &PacketSpan) -> Option<RawNs> {
        self.taken.get(&(sent.at, sent.cpu)).copied()
    }

    /// All packets.
    pub(crate) fn packets(&self) -> &Packets {
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

/// Rows of spans of a host from which states are made at a time, by each core.
const ROWS_AT_ONCE: u64 = 1 << 17;

/// Adds the states of a window, where the window before it ended: one that reaches across is one. They are
/// made part by part, which takes the memory of the spans of a part, on all cores.
fn add_states(
    states: &mut Keyed<StateRow>,
    store: &HostStore,
    window: Window<RawNs>,
) -> Result<(), StoreError> {
    let rows = (0..).map(ThreadRow).zip(store.threads());
    let threads: Vec<ThreadRow> =
        rows.filter(|(_, thread)| thread.tid.is_some()).map(|(row, _)| row).collect();
    let cuts = store.cuts(ROWS_AT_ONCE).into_iter().filter(|&cut| window.start < cut && cut < window.end);
    let borders: Vec<RawNs> = [window.start].into_iter().chain(cuts).chain([window.end]).collect();
    let parts: Vec<Window<RawNs>> = borders.windows(2).map(|it| Window::new(it[0], it[1])).collect();
    for parts in parts.chunks(rayon::current_num_threads()) {
        let of_parts: Vec<Vec<StateRow>> =
            parts.par_iter().map(|&part| store.states(&threads, part)).collect::<Result<_, _>>()?;
        for row in of_parts.into_iter().flatten() {
            match states.last_mut(row.thread.0) {
                Some(last) if last.end == row.start && is_same(last, &row) => last.end = row.end,
                _ => states.add(Some(row.thread.0), row),
            }
        }
    }
    Ok(())
}

/// Whether a thread does the same in two states.
fn is_same(one: &StateRow, other: &StateRow) -> bool {
    let does = |row: &StateRow| (row.state, row.cpu, row.fd, row.waker);
    does(one) == does(other) && one.syscall == other.syscall
}

/// All hosts in a window of the requested clock.
#[derive(Debug)]
pub(crate) struct ClusterWindow<'c, 'e> {
    pub(crate) cluster: &'c Cluster<'e>,
    /// By host.
    pub(crate) timelines: Vec<Timeline>,
}

impl<'c, 'e> ClusterWindow<'c, 'e> {
    /// Of no time.
    pub(crate) fn empty(cluster: &'c Cluster<'e>) -> Self {
        Self { cluster, timelines: cluster.hosts.iter().map(|_| Timeline::default()).collect() }
    }

    /// Moves to another window: the result is that of [`Self::load`], but what is there is not read again.
    /// After an error, there is nothing of some hosts.
    pub(crate) fn advance(&mut self, window: Window<UnixNs>) -> Result<(), StoreError> {
        self.cluster.next_window()?;
        let hosts = self.cluster.hosts.par_iter();
        let advance = |(timeline, host): (&mut Timeline, &crate::host::Host<'_>)| {
            timeline.advance(&host.store, host.raw_window(window))
        };
        self.timelines.par_iter_mut().zip(hosts).try_for_each(advance)
    }

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

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may panic.
mod tests {
    use std::path::Path;

    use isochrone_experiment::{Indexing, Inputs, Opened, Spread, index};
    use isochrone_store::Store;
    use isochrone_testkit::Random;

    use super::*;

    /// Moves through each host of some traces in random steps, forth, over what was not read, and back.
    fn check(traces: &Path, seed: u64) {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("store");
        let opened = Opened::unsynchronized(Inputs::open(&[traces.to_owned()]));
        index(&opened.experiment(), &path, Spread::default(), Indexing::default()).unwrap();
        let store = Store::open(&path).unwrap();
        let mut random = Random::new(seed);
        for entry in &store.manifest().hosts {
            let (host, Some(range)) = (store.host(entry).unwrap(), entry.range) else { continue };
            let length = range.end - range.start;
            let mut some = |most: i64| random.below(most.max(1) as u64) as i64;
            let mut moved = Timeline::default();
            let mut start = range.start - length / 20;
            while start < range.end {
                let window = Window::new(start, start + some(length / 3));
                moved.advance(&host, window).unwrap();
                let read = Timeline::load(&host, window).unwrap();
                let at = format!("{} {window:?} of {range:?}", entry.name);
                macro_rules! same {
                    ($($part:ident)*) => {
                        $(assert!(moved.$part == read.$part, "{}: {at}", stringify!($part));)*
                    };
                }
                same!(window states calls wakeups slices irqs softirqs packets taken forks);
                same!(polls objects signals delivered blocks pages);
                start = match some(8) {
                    0 => window.end + some(length / 20),
                    1 => window.start - some(length / 20),
                    2 => window.end,
                    _ => window.start + some(length / 10),
                };
            }
        }
    }

    #[test]
    fn a_window_that_moves_is_the_window() {
        let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
        (0..4).for_each(|seed| check(&shop, seed));
    }

    #[test]
    #[cfg_attr(not(shared_data), ignore = "needs ../shared")]
    fn and_of_real_traces() {
        let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/vm");
        for part in ["chain3", "web2", "hog2", "lossy2", "mpi4"] {
            check(&shared.join(part), 1);
        }
    }
}
