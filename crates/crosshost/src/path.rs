//! What paths across hosts consist of: threads, instants of them, steps.

use isochrone_store::{Cause, ThreadRow};
use isochrone_time::{RawNs, UnixNs};

/// What is done between the reception of a packet and the wake-up of the thread that waits for it.
pub(crate) const RECEIVES: &str = "receives it";
/// The same, where the softirq received packets of several connections, and it was chosen of these by their
/// order.
pub(crate) const MAY_RECEIVE: &str = "receives it, or a packet of another connection";

/// A thread of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadRef {
    /// Index of the host in the cluster.
    pub host: usize,
    /// The thread in the host's store.
    pub thread: ThreadRow,
}

/// A position of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) host: usize,
    pub(crate) thread: ThreadRow,
    pub(crate) at: RawNs,
}

/// A part of a path: what was done, or waited for, in one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Index of the host; of a packet that of its sender.
    pub host: usize,
    /// The thread; `None` of what the kernel does by itself, and of packets.
    pub thread: Option<ThreadRow>,
    /// The cause.
    pub cause: Cause,
    /// Start on the requested clock.
    pub start: UnixNs,
    /// End.
    pub end: UnixNs,
    /// Of a packet between hosts: how far its time can be from what the clocks say, ns.
    pub uncertainty: Option<i64>,
    /// Of a packet: how much of the time, from its start on, it was in the queue of the sender's device, ns.
    /// `None`: that was not recorded, or it is no packet.
    pub queued: Option<i64>,
}

impl Step {
    /// Its duration, ns.
    pub fn duration(&self) -> i64 {
        self.end.saturating_since(self.start)
    }
}

/// Steps in the order of time, with what more is known of each.
pub type Path = Vec<(Step, Box<str>)>;
