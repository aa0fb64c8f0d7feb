//! What tables need of a host when all of its trace is known: the identity of threads, and times.

use std::borrow::Cow;

use isochrone_kernel::{Missed, Name, Namespace, ThreadId};
use isochrone_time::{RawNs, UnixNs, Window};

use crate::needs::Need;
use crate::output::table::Cell;

/// What tables need of a host: names, times, threads. Several threads make tables of it.
pub trait HostContext: Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// From its first to its last event; `None` where it has none.
    fn window(&self) -> Option<Window<RawNs>>;

    /// Unix time of a raw time: on the host's own clock, or on the reference's where clocks are
    /// synchronized.
    fn unix(&self, raw: RawNs) -> UnixNs;

    /// Ids, name and lifetime of a thread.
    fn thread(&self, thread: ThreadId) -> Option<ThreadIdentity<'_>>;

    /// The name that a thread had at a raw time: the last one that was seen until then.
    fn comm_at(&self, thread: ThreadId, at: RawNs) -> Option<&str>;

    /// Name of a disk or a partition by its device, if the dump at the begin of the trace has it.
    fn disk(&self, device: u32) -> Option<&Name>;

    /// Whether the host did not record events of a kind: what is counted of them is unknown then, and not 0.
    fn lacks(&self, need: Need) -> bool;

    /// When events of its kernel may be missing.
    fn missed(&self) -> &Missed;

    /// All threads that are known, those that never did anything too, in their order.
    fn threads(&self) -> Vec<ThreadId>;
}

/// Ids, name and lifetime of a thread.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreadIdentity<'h> {
    /// Its number.
    pub tid: Option<i32>,
    /// The number of its process.
    pub pid: Option<i32>,
    /// The first thread of its process, whose name is the process's.
    pub leader: Option<ThreadId>,
    /// The number of its process's parent.
    pub ppid: Option<i32>,
    /// Its last name, or the one that it had at the time that is requested.
    pub comm: Option<Cow<'h, str>>,
    /// Whether it is one of the kernel's own.
    pub is_kernel: Option<bool>,
    /// Its numbers in its innermost pid namespace.
    pub inner: Option<Namespace>,
    /// When it was forked, if that was seen.
    pub born: Option<RawNs>,
    /// When it ended, if that was seen.
    pub died: Option<RawNs>,
}

impl<'h> ThreadIdentity<'h> {
    /// Who a thread of a host is. What the host does not know may follow from the thread's own number.
    pub fn of(host: &'h dyn HostContext, thread: ThreadId) -> Self {
        let mut who = host.thread(thread).unwrap_or_default();
        who.tid = who.tid.or(thread.tid());
        if let ThreadId::Idle(cpu) = thread {
            who.pid = who.pid.or(Some(0));
            who.comm = who.comm.or_else(|| Some(format!("swapper/{cpu}").into()));
        }
        who
    }

    /// Who a thread of a host was at a raw time: as [`Self::of`], with the name that it had then.
    pub fn at(host: &'h dyn HostContext, thread: ThreadId, at: RawNs) -> Self {
        let who = Self::of(host, thread);
        Self { comm: host.comm_at(thread, at).map(Cow::Borrowed).or(who.comm), ..who }
    }

    /// The first thread of a thread's process; the thread itself where that is unknown.
    pub fn process(&self, thread: ThreadId) -> ThreadId {
        self.leader
            .or_else(|| Some(ThreadId::Thread { tid: self.pid?, born: isochrone_kernel::PIECE_BEGIN }))
            .unwrap_or(thread)
    }

    /// The cells `pid, tid, comm` of a process by its first thread.
    pub fn process_cells(&self) -> [Cell; 3] {
        let [_, tid, comm] = self.cells();
        [tid.clone(), tid, comm]
    }

    /// The cells `pid, tid, comm`.
    pub fn cells(&self) -> [Cell; 3] {
        [self.pid.into(), self.tid.into(), self.comm()]
    }

    /// The cell `comm`.
    pub fn comm(&self) -> Cell {
        self.comm.as_deref().map_or(Cell::Unknown, Cell::text)
    }
}
