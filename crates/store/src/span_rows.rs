//! Spans of a host as they are in its tables, for readers that follow threads, packets and requests through a window of time.
//!
//! Rows come in no specified order. Threads are numbers of [`HostStore::threads`](crate::HostStore::threads): rows of threads that were
//! never identified have none.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use isochrone_kernel::{Cause, Name};
use isochrone_net::{Carried, Flow};

use crate::batches::Batches;
use crate::cell::NameId;
use crate::error::StoreError;
use crate::table::Row;
use crate::tables::{
    BlockRequestRow, IrqRow, PacketFlowRow, PacketRow, PacketTakenRow, PagesRow, PhaseRow, PollRow, SliceRow,
    SoftirqRow, SyscallRow, ThreadEventRow, UnknownRow, WakeupRow,
};

/// A thread on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SliceSpan {
    /// The CPU.
    pub cpu: u32,
    /// Number of the thread.
    pub thread: Option<u32>,
    /// Begin, raw ns.
    pub begin: i64,
    /// End, raw ns.
    pub end: i64,
}

/// A time of a CPU of which it is unknown what ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownSpan {
    /// The CPU.
    pub cpu: u32,
    /// Begin, raw ns.
    pub begin: i64,
    /// End, raw ns.
    pub end: i64,
}

/// A system call with both ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSpan {
    /// Number of the thread.
    pub thread: Option<u32>,
    /// Its name.
    pub name: Name,
    /// The file descriptor that it is about.
    pub fd: Option<i32>,
    /// What it returned.
    pub ret: i64,
    /// Entry, raw ns.
    pub begin: i64,
    /// Exit, raw ns.
    pub end: i64,
}

/// An event that wakes a thread: `sched_waking`, `sched_wakeup`, `sched_wakeup_new`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WakeupSpan {
    /// Number of the thread that is woken.
    pub thread: Option<u32>,
    /// Number of the thread that ran on the CPU of the event: it is what wakes only if the cause says so.
    pub waker: Option<u32>,
    /// The CPU of the event.
    pub cpu: u32,
    /// When, raw ns.
    pub at: i64,
    /// What wakes.
    pub cause: Cause,
}

/// A packet on its way through the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacketSpan {
    /// When it was queued or received, raw ns.
    pub at: i64,
    /// The CPU.
    pub cpu: u32,
    /// Number of the thread that ran there.
    pub thread: Option<u32>,
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
    /// Begin, raw ns.
    pub begin: i64,
    /// End, raw ns.
    pub end: i64,
}

/// A request to a disk: see the table `block_requests`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockSpan {
    /// Number of the device.
    pub device: u32,
    /// Whether it writes.
    pub is_write: bool,
    /// Number of the thread that asked for it.
    pub thread: Option<u32>,
    /// Bytes, if known.
    pub bytes: Option<u32>,
    /// The first thing seen of it, raw ns.
    pub begin: i64,
    /// The last thing seen of it, raw ns.
    pub end: i64,
    /// When it was issued to the driver, raw ns.
    pub issued: Option<i64>,
    /// When it was complete, raw ns.
    pub completed: Option<i64>,
}

/// A fork: a thread begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForkSpan {
    /// Number of the new thread.
    pub thread: u32,
    /// Number of the thread that forked it.
    pub parent: Option<u32>,
    /// When, raw ns.
    pub at: i64,
}

/// A wait for descriptors that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollSpan {
    /// Number of the thread.
    pub thread: Option<u32>,
    /// The end of its call, raw ns.
    pub at: i64,
    /// The descriptor of the epoll set, if it is one.
    pub set: Option<i32>,
    /// Descriptors that are ready: 64 at most.
    pub ready: Vec<i32>,
}

/// Pages of memory that a thread allocated or freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PagesSpan {
    /// Number of the thread.
    pub thread: Option<u32>,
    /// When, raw ns.
    pub at: i64,
    /// How many.
    pub pages: u64,
    /// Whether they were freed.
    pub is_free: bool,
}

/// A phase of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseSpan {
    /// Number of the thread.
    pub thread: Option<u32>,
    /// Its name.
    pub name: Name,
    /// Begin, raw ns.
    pub begin: i64,
    /// End, raw ns.
    pub end: i64,
}

/// Passes the rows of a table that overlap a window to `each`.
fn rows<R: Row>(table: &Batches<R>, window: (i64, i64), mut each: impl FnMut(R)) -> Result<(), StoreError> {
    table.overlapping(window, |view, row| {
        each(R::get(view, row));
        Ok(())
    })
}

/// The window of instants that are in a window with its begin.
fn instants((from, to): (i64, i64)) -> (i64, i64) {
    (from.saturating_sub(1), to)
}

pub(crate) fn named(names: &[Name], NameId(number): NameId) -> Name {
    names.get(number as usize).cloned().unwrap_or_default()
}

/// The descriptors of a list in a column.
pub(crate) fn descriptors(list: &str) -> Vec<i32> {
    list.split_whitespace().filter_map(|fd| fd.parse().ok()).collect()
}

/// Address and port.
fn address(octets: [u8; 16], port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V6(Ipv6Addr::from(octets)).to_canonical(), port)
}

/// Reading of spans: all functions pass what overlaps a window of raw time (of instants: what lies in it), and are linear in that.
impl crate::HostStore {
    /// Passes slices of threads on CPUs to `each`.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn slices(&self, window: (i64, i64), mut each: impl FnMut(SliceSpan)) -> Result<(), StoreError> {
        let spans = self.spans();
        rows(&spans.slices, window, |row: SliceRow| {
            let SliceRow { cpu, thread, begin, end, .. } = row;
            each(SliceSpan { cpu, thread: spans.thread(thread), begin, end });
        })
    }

    /// Passes times of CPUs of which it is unknown what ran to `each`.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn unknown(&self, window: (i64, i64), mut each: impl FnMut(UnknownSpan)) -> Result<(), StoreError> {
        rows(&self.spans().unknown, window, |row: UnknownRow| {
            let UnknownRow { cpu, begin, end, .. } = row;
            each(UnknownSpan { cpu, begin, end });
        })
    }

    /// Passes phases of programs to `each`.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn phases(&self, window: (i64, i64), mut each: impl FnMut(PhaseSpan)) -> Result<(), StoreError> {
        let spans = self.spans();
        let names = spans.phases.names()?;
        rows(&spans.phases, window, |row: PhaseRow| {
            let PhaseRow { thread, name, begin, end } = row;
            each(PhaseSpan { thread: spans.thread(thread), name: named(&names, name), begin, end });
        })
    }

    /// Passes system calls that have both ends to `each`.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn calls(&self, window: (i64, i64), mut each: impl FnMut(CallSpan)) -> Result<(), StoreError> {
        let spans = self.spans();
        let names = spans.call_names()?;
        rows(&spans.syscalls, window, |row: SyscallRow| {
            let SyscallRow { thread, begin, end, name, fd, ret, .. } = row;
            each(CallSpan { thread: spans.thread(thread), name: named(names, name), fd, ret, begin, end });
        })
    }

    /// Passes wake-ups to `each`.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn wakeups(&self, window: (i64, i64), mut each: impl FnMut(WakeupSpan)) -> Result<(), StoreError> {
        let spans = self.spans();
        rows(&spans.wakeups, instants(window), |row: WakeupRow| {
            each(WakeupSpan {
                thread: spans.thread(row.thread),
                waker: spans.thread(row.waker),
                cpu: row.cpu,
                at: row.at,
                cause: Cause::of(row.cause, row.source),
            });
        })
    }

    /// Packets, by time.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn packets(&self, window: (i64, i64)) -> Result<Vec<PacketSpan>, StoreError> {
        let spans = self.spans();
        let names = spans.packets.names()?;
        let mut packets = Vec::new();
        rows(&spans.packets, instants(window), |row: PacketRow| {
            packets.push(PacketSpan {
                at: row.at,
                cpu: row.cpu,
                thread: spans.thread(row.thread),
                device: named(&names, row.device),
                bytes: row.bytes,
                is_sent: row.is_sent,
                buffer: row.buffer,
                flow: None,
            });
        })?;
        let key = |packet: &PacketSpan| (packet.at, packet.cpu, packet.is_sent);
        packets.sort_by_key(key);
        rows(&spans.packet_flows, instants(window), |row: PacketFlowRow| {
            let place = packets.binary_search_by_key(&(row.at, row.cpu, row.is_sent), key);
            if let Some(packet) = place.ok().and_then(|place| packets.get_mut(place)) {
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

    /// Passes when devices took packets, and the addresses of their buffers, to `each`.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn packets_taken(
        &self,
        window: (i64, i64),
        mut each: impl FnMut(i64, u64),
    ) -> Result<(), StoreError> {
        rows(&self.spans().packets_taken, instants(window), |row: PacketTakenRow| each(row.at, row.buffer))
    }

    /// Passes runs of interrupt handlers to `each`.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn irqs(&self, window: (i64, i64), mut each: impl FnMut(HandlerSpan)) -> Result<(), StoreError> {
        let names = self.spans().irqs.names()?;
        rows(&self.spans().irqs, window, |row: IrqRow| {
            let IrqRow { cpu, number, name, begin, end, .. } = row;
            each(HandlerSpan { cpu, number, name: Some(named(&names, name)), begin, end });
        })
    }

    /// Passes runs of softirqs to `each`.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn softirqs(&self, window: (i64, i64), mut each: impl FnMut(HandlerSpan)) -> Result<(), StoreError> {
        rows(&self.spans().softirqs, window, |row: SoftirqRow| {
            let SoftirqRow { cpu, vector, begin, end, .. } = row;
            each(HandlerSpan { cpu, number: vector as i32, name: None, begin, end });
        })
    }

    /// Passes requests to disks to `each`.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn block_requests(
        &self,
        window: (i64, i64),
        mut each: impl FnMut(BlockSpan),
    ) -> Result<(), StoreError> {
        let spans = self.spans();
        rows(&spans.block_requests, window, |row: BlockRequestRow| {
            let BlockRequestRow { device, is_write, bytes, begin, end, issued, completed, .. } = row;
            let thread = row.thread.and_then(|thread| spans.thread(thread));
            each(BlockSpan { device, is_write, thread, bytes, begin, end, issued, completed });
        })
    }

    /// Passes forks to `each`.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn forks(&self, window: (i64, i64), mut each: impl FnMut(ForkSpan)) -> Result<(), StoreError> {
        let spans = self.spans();
        rows(&spans.thread_events, instants(window), |row: ThreadEventRow| {
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
    pub fn polls(&self, window: (i64, i64), mut each: impl FnMut(PollSpan)) -> Result<(), StoreError> {
        let spans = self.spans();
        rows(&spans.polls, instants(window), |row: PollRow| {
            let ready = descriptors(&row.ready);
            each(PollSpan { thread: spans.thread(row.thread), at: row.at, set: row.set, ready });
        })
    }

    /// Passes allocations of pages to `each`.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn pages(&self, window: (i64, i64), mut each: impl FnMut(PagesSpan)) -> Result<(), StoreError> {
        let spans = self.spans();
        rows(&spans.pages, instants(window), |row: PagesRow| {
            let PagesRow { at, thread, pages, is_free } = row;
            each(PagesSpan { thread: spans.thread(thread), at, pages, is_free });
        })
    }
}
