//! A host of a cluster: its store, its clock, and what is looked up in it all the time.

use isochrone_analysis::Need;
use isochrone_store::{HostStore, ThreadInfo, ThreadRow, WaitedFault, WaitedFaults};
use isochrone_time::{RawNs, UnixNs, Window};
use isochrone_timing::Timing;
use rustc_hash::FxHashMap;

use crate::files::Files;
use crate::sockets::Sockets;

/// A host.
#[derive(Debug)]
pub(crate) struct Host<'e> {
    /// What people call it.
    pub(crate) name: String,
    pub(crate) store: HostStore,
    /// The first and the last event.
    pub(crate) range: Window<RawNs>,
    pub(crate) sockets: Sockets,
    /// What was not recorded.
    pub(crate) lacking: Vec<Need>,
    /// What descriptors of processes refer to.
    pub(crate) files: Files,
    /// The page faults that threads waited in.
    pub(crate) faults: WaitedFaults,
    /// Numbers of threads by process.
    pub(crate) threads: FxHashMap<i32, Vec<ThreadRow>>,
    pub(crate) timing: Timing<'e>,
}

impl Host<'_> {
    /// A raw time on the requested clock.
    pub(crate) fn common(&self, raw: RawNs) -> UnixNs {
        self.timing.unix(raw)
    }

    /// The last raw time that is not after an instant of the requested clock.
    pub(crate) fn raw(&self, common: UnixNs) -> RawNs {
        self.timing.raw(common)
    }

    /// The raw times of a window of the requested clock, its end included.
    pub(crate) fn raw_window(&self, window: Window<UnixNs>) -> Window<RawNs> {
        Window::new(self.raw(window.start), self.raw(window.end).saturating_add(1))
    }

    /// Whether all of this was recorded.
    pub(crate) fn has(&self, needs: &[Need]) -> bool {
        !needs.iter().any(|need| self.lacking.contains(need))
    }

    pub(crate) fn thread(&self, thread: ThreadRow) -> Option<&ThreadInfo> {
        self.store.thread(thread)
    }

    /// The pid of the process of a thread.
    pub(crate) fn pid(&self, thread: ThreadRow) -> Option<i32> {
        process_of(self.thread(thread)?)
    }

    /// Numbers of the threads of a process.
    pub(crate) fn threads_of(&self, process: i32) -> &[ThreadRow] {
        self.threads.get(&process).map_or(&[], Vec::as_slice)
    }

    /// What kind of file a descriptor of a process is at an instant, raw ns.
    pub(crate) fn kind_of(&self, process: i32, fd: i32, at: RawNs) -> Option<&str> {
        self.files.at(process, fd, at)?.kind
    }

    /// The name of the file of a descriptor of a process at an instant, raw ns.
    pub(crate) fn name_of(&self, process: i32, fd: i32, at: RawNs) -> Option<&str> {
        self.files.at(process, fd, at).map(|file| file.name).filter(|name| !name.is_empty())
    }

    /// The page fault that a thread waits in at an instant, raw ns.
    pub(crate) fn fault(&self, thread: ThreadRow, at: RawNs) -> Option<&WaitedFault> {
        self.faults.at(thread, at)
    }

    /// Since when a descriptor of a process is what it is at an instant, raw ns.
    pub(crate) fn open_since(&self, process: i32, fd: i32, at: RawNs) -> Option<RawNs> {
        self.files.at(process, fd, at).map(|file| file.start)
    }
}

/// The pid of a thread's process; that of a thread whose process no event reported is its own.
pub(crate) fn process_of(thread: &ThreadInfo) -> Option<i32> {
    thread.pid.or(thread.tid)
}
