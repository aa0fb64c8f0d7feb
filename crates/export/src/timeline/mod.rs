//! A timeline as viewers show it: tracks with slices, instants, counters and flows. `walk` emits it, a module for each format
//! ([`crate::perfetto`], [`crate::chrome`]) writes it.
//!
//! Nothing here knows hosts, stores or clocks.

mod lanes;
mod sched;

use std::io;

use isochrone_time::{RawNs, UnixNs};

pub(crate) use lanes::Lanes;
pub use sched::{LeftAs, SchedSwitch, SchedWaking, Task};

/// The number by which a [`Timeline`] knows a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Track(pub u64);

/// What a track is, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrackKind<'a> {
    /// A heading for what belongs to a host as a whole.
    Host {
        /// Index among the hosts.
        host: u32,
        /// Name of the host.
        name: &'a str,
    },
    /// A process: its threads follow.
    Process {
        /// Index of its host among the hosts.
        host: u32,
        /// Pid on that host.
        pid: i32,
        /// Name of the process.
        name: &'a str,
        /// Name of its host.
        host_name: &'a str,
    },
    /// A thread of a process.
    Thread {
        /// Index of its host among the hosts.
        host: u32,
        /// Pid of its process on that host.
        pid: i32,
        /// Tid on that host.
        tid: i32,
        /// Name of the thread.
        name: &'a str,
    },
    /// A track of slices under another track.
    Under {
        /// The other track.
        parent: Track,
        /// Name of the track: tracks of one name under one track are shown as one.
        name: &'a str,
    },
    /// A value over time under another track.
    Counter {
        /// The other track.
        parent: Track,
        /// Name of the counter.
        name: &'static str,
        /// Unit of its values.
        unit: &'static str,
    },
}

/// The value of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// A text.
    Text(&'a str),
    /// A number.
    Int(i64),
}

/// The end of a flow at a slice or an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The flow of this number starts here.
    Start(u64),
    /// The flow of this number ends here.
    End(u64),
}

/// A slice from its start on, or an instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event<'a> {
    /// Name of the event.
    pub name: &'a str,
    /// Kind of event.
    pub category: &'static str,
    /// Names and values of its arguments.
    pub args: &'a [(&'static str, Value<'a>)],
    /// A flow that starts or ends here.
    pub flow: Option<Flow>,
}

impl<'a> Event<'a> {
    /// An event without arguments and without a flow.
    pub const fn new(name: &'a str, category: &'static str) -> Self {
        Self { name, category, args: &[], flow: None }
    }
}

/// A format that timelines are written in. What is passed is written at once.
///
/// Slices of a track nest: [`end`](Self::end) ends the one that started last. Times of a track do not go back, except those of instants
/// and of counters. All functions fail where what they write to cannot be written.
pub trait Timeline {
    /// Whether it has events of the scheduler: [`Self::sched_switch`], [`Self::sched_waking`].
    const HAS_SCHED: bool = false;

    /// Adds a track.
    fn track(&mut self, kind: &TrackKind<'_>) -> io::Result<Track>;

    /// Starts a slice.
    fn start(&mut self, track: Track, at: UnixNs, event: &Event<'_>) -> io::Result<()>;

    /// Ends the slice that started last.
    fn end(&mut self, track: Track, at: UnixNs) -> io::Result<()>;

    /// Adds an instant.
    fn instant(&mut self, track: Track, at: UnixNs, event: &Event<'_>) -> io::Result<()>;

    /// Sets the value of a counter from an instant on.
    fn counter(&mut self, track: Track, at: UnixNs, value: f64) -> io::Result<()>;

    /// Adds what the clock of a host (by its index) showed at an instant.
    fn clock(&mut self, host: u32, at: UnixNs, raw: RawNs) -> io::Result<()>;

    /// A CPU switches from one thread to another. Formats without events of the scheduler leave it out.
    fn sched_switch(&mut self, _: &SchedSwitch<'_>) -> io::Result<()> {
        Ok(())
    }

    /// A thread that waits is woken. Formats without events of the scheduler leave it out.
    fn sched_waking(&mut self, _: &SchedWaking<'_>) -> io::Result<()> {
        Ok(())
    }

    /// Ends the file. Nothing may follow.
    fn finish(&mut self) -> io::Result<()>;
}

/// Distance between the ids of processes and threads of different hosts: formats have one space of ids, and hosts have the same ids. Linux
/// has none above 2²².
const HOST_ID_STRIDE: i64 = 10_000_000;

/// Maximum number of hosts whose ids stay below 2³¹.
pub const MAX_HOSTS: usize = 200;

/// The id of a process or a thread of a host (by its index), for formats that know no hosts: those of the first host are its own.
///
/// ```
/// assert_eq!(isochrone_export::timeline::unique_id(0, 842), 842);
/// assert_eq!(isochrone_export::timeline::unique_id(2, 842), 20_000_842);
/// ```
pub fn unique_id(host: u32, id: i32) -> i64 {
    i64::from(host) * HOST_ID_STRIDE + i64::from(id)
}
