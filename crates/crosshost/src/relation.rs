//! A relation of two processes: who acts on whom, through what, how often. For `relations.rs` and
//! `unawaited.rs`, which find them.

use std::collections::BTreeMap;

use isochrone_analysis::Cell;
use isochrone_store::ThreadRow;

use crate::cluster::Cluster;
use crate::through::Through;

/// A process: index of its host, and pid.
pub(crate) type Process = (usize, i32);

/// What joins two processes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Relation {
    pub(crate) count: u64,
    /// Of connections, pipes, UNIX sockets and message queues: bytes from the first to the second.
    pub(crate) bytes: Bytes,
    /// How long the second waited for the first, ns.
    pub(crate) waited: i64,
}

/// What goes from one process to another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Bytes {
    /// Nothing that has bytes.
    #[default]
    None,
    /// Somebody else writes there, too.
    Unknown,
    Some(u64),
}

impl Bytes {
    pub(crate) fn add(&mut self, bytes: u64) {
        *self = match *self {
            Self::None => Self::Some(bytes),
            Self::Unknown => Self::Unknown,
            Self::Some(all) => Self::Some(all + bytes),
        };
    }

    pub(crate) fn cell(self) -> Cell {
        match self {
            Self::None => Cell::NotApplicable,
            Self::Unknown => Cell::Unknown,
            Self::Some(bytes) => bytes.into(),
        }
    }
}

/// Who acts on whom.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    /// The process that acts; `None`: a timer of the kernel.
    pub(crate) from: Option<Process>,
    pub(crate) to: Process,
    pub(crate) through: Through,
}

impl Key {
    pub(crate) fn new(from: Process, to: Process, through: Through) -> Self {
        Self { from: Some(from), to, through }
    }
}

pub(crate) type Relations = BTreeMap<Key, Relation>;

/// The process of a thread.
pub(crate) fn process(cluster: &Cluster<'_>, host: usize, thread: ThreadRow) -> Option<Process> {
    Some((host, cluster.hosts[host].pid(thread)?))
}
