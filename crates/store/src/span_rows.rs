//! Spans of a host as they are in its tables, for readers that follow threads, packets and requests through a
//! window of time.
//!
//! Rows come in no specified order. Threads are numbers of [`HostStore::threads`](crate::HostStore::threads):
//! rows of threads that were never identified have none.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use isochrone_kernel::calls::Object;
use isochrone_kernel::{Cause, Name};
use isochrone_net::{Carried, Flow};
use isochrone_time::{RawNs, Window};

use crate::cell::Resolve;
use crate::error::StoreError;
use crate::tables::{
    IrqRow, ObjectUseRow, PacketFlowRow, PacketRow, PollRow, SoftirqRow, ThreadEventRow, WakeupRow,
};
use crate::threads::ThreadRow;

/// An event that wakes a thread: `sched_waking`, `sched_wakeup`, `sched_wakeup_new`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WakeupSpan {
    /// Number of the thread that is woken.
    pub thread: Option<ThreadRow>,
    /// Number of the thread that ran on the CPU of the event: it is what wakes only if the cause says so.
    pub waker: Option<ThreadRow>,
    /// The CPU of the event.
    pub cpu: u32,
    /// When.
    pub at: RawNs,
    /// What wakes.
    pub cause: Cause,
}

/// A packet on its way through the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacketSpan {
    /// When it was queued or received.
    pub at: RawNs,
    /// The CPU.
    pub cpu: u32,
    /// Number of the thread that ran there.
    pub thread: Option<ThreadRow>,
    /// The network device.
    pub device: Name,
    /// Length in bytes, with the headers that it had there.
    pub bytes: u32,
    /// Whether it was sent.
    pub is_sent: bool,
    /// The address of the buffer that holds it, if recorded.
    pub buffer: Option<u64>,
    /// Source and destination, and what it carries, if recorded.
    pub flow: Option<(Flow, Carried)>,
}

/// A run of an interrupt handler or of a softirq.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandlerSpan {
    /// The CPU.
    pub cpu: u32,
    /// Number of the interrupt, or vector of the softirq.
    pub number: i32,
    /// Name of the handler; `None` of a softirq.
    pub name: Option<Name>,
    /// Start.
    pub start: RawNs,
    /// End.
    pub end: RawNs,
}

/// A fork: a thread begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForkSpan {
    /// Number of the new thread.
    pub thread: ThreadRow,
    /// Number of the thread that forked it.
    pub parent: Option<ThreadRow>,
    /// When.
    pub at: RawNs,
}

/// A wait for descriptors that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollSpan {
    /// Number of the thread.
    pub thread: Option<ThreadRow>,
    /// The end of its call.
    pub at: RawNs,
    /// The descriptor of the epoll set, if it is one.
    pub set: Option<i32>,
    /// Descriptors that are ready: 64 at most.
    pub ready: Vec<i32>,
}

/// What a thread did with an object of the kernel that is no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectUseSpan {
    /// Number of the thread.
    pub thread: Option<ThreadRow>,
    /// The end of its call; of an event, its time.
    pub at: RawNs,
    /// The object.
    pub object: Object,
    /// Whether an event says so, not a call.
    pub is_event: bool,
}

/// The descriptors of a list in a column.
pub(crate) fn descriptors(list: &str) -> Vec<i32> {
    list.split_whitespace().filter_map(|fd| fd.parse().ok()).collect()
}

/// Address and port.
fn address(octets: [u8; 16], port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V6(Ipv6Addr::from(octets)).to_canonical(), port)
}

/// Reading of spans: all functions pass what overlaps a window of raw time (of instants: what lies in it),
/// and are linear in that.
impl crate::HostStore {
    /// Passes wake-ups to `each`.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn wakeups(&self, window: Window<RawNs>, mut each: impl FnMut(WakeupSpan)) -> Result<(), StoreError> {
        let spans = self.spans();
        spans.wakeups.rows(window, |row: WakeupRow| {
            each(WakeupSpan {
                thread: spans.thread(row.thread),
                waker: spans.thread(row.waker),
                cpu: row.cpu,
                at: row.at,
                cause: Cause::of(row.cause.0, row.source),
            });
        })
    }

    /// Packets, by time.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn packets(&self, window: Window<RawNs>) -> Result<Vec<PacketSpan>, StoreError> {
        let spans = self.spans();
        let names = spans.packets.names()?;
        let mut packets = Vec::new();
        spans.packets.rows(window, |row: PacketRow| {
            packets.push(PacketSpan {
                at: row.at,
                cpu: row.cpu,
                thread: spans.thread(row.thread),
                device: row.device.resolve(spans, names),
                bytes: row.bytes,
                is_sent: row.is_sent,
                buffer: row.buffer,
                flow: None,
            });
        })?;
        let key = |packet: &PacketSpan| (packet.at, packet.cpu, packet.is_sent);
        packets.sort_by_key(key);
        spans.packet_flows.rows(window, |row: PacketFlowRow| {
            let index = packets.binary_search_by_key(&(row.at, row.cpu, row.is_sent), key);
            if let Some(packet) = index.ok().and_then(|index| packets.get_mut(index)) {
                let flow = Flow {
                    protocol: row.protocol,
                    source: address(row.source, row.source_port),
                    destination: address(row.destination, row.destination_port),
                };
                packet.flow = Some((flow, Carried { payload: row.payload, seq: row.seq, flags: row.flags }));
            }
        })?;
        Ok(packets)
    }

    /// Passes runs of interrupt handlers to `each`.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn irqs(&self, window: Window<RawNs>, mut each: impl FnMut(HandlerSpan)) -> Result<(), StoreError> {
        let names = self.spans().irqs.names()?;
        self.spans().irqs.rows(window, |row: IrqRow| {
            let IrqRow { cpu, number, name, start, end, .. } = row;
            let name = Some(name.resolve(self.spans(), names));
            each(HandlerSpan { cpu, number, name, start, end });
        })
    }

    /// Passes runs of softirqs to `each`.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn softirqs(
        &self,
        window: Window<RawNs>,
        mut each: impl FnMut(HandlerSpan),
    ) -> Result<(), StoreError> {
        self.spans().softirqs.rows(window, |row: SoftirqRow| {
            let SoftirqRow { cpu, vector, start, end, .. } = row;
            each(HandlerSpan { cpu, number: vector as i32, name: None, start, end });
        })
    }

    /// Passes forks to `each`.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn forks(&self, window: Window<RawNs>, mut each: impl FnMut(ForkSpan)) -> Result<(), StoreError> {
        let spans = self.spans();
        spans.thread_events.rows(window, |row: ThreadEventRow| {
            if row.what == "forked"
                && let Some(thread) = spans.thread(row.thread)
            {
                let parent = row.other.and_then(|other| spans.thread(other));
                each(ForkSpan { thread, parent, at: row.at });
            }
        })
    }

    /// Passes waits for descriptors to `each`.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn polls(&self, window: Window<RawNs>, mut each: impl FnMut(PollSpan)) -> Result<(), StoreError> {
        let spans = self.spans();
        spans.polls.rows(window, |row: PollRow| {
            let ready = descriptors(&row.ready);
            each(PollSpan { thread: spans.thread(row.thread), at: row.at, set: row.set, ready });
        })
    }

    /// Passes uses of objects that are no files to `each`.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn object_uses(
        &self,
        window: Window<RawNs>,
        mut each: impl FnMut(ObjectUseSpan),
    ) -> Result<(), StoreError> {
        let spans = self.spans();
        spans.object_uses.rows(window, |row: ObjectUseRow| {
            let ObjectUseRow { at, what, number, target, is_event, .. } = row;
            if let Some(object) = Object::of_parts(what.0, number, target) {
                each(ObjectUseSpan { thread: spans.thread(row.thread), at, object, is_event });
            }
        })
    }
}
