//! Lives of processes, and where on disks their requests were: what pictures are made of.

use std::collections::BTreeMap;

use isochrone_store::{StoreError, ThreadRow};
use isochrone_time::{UnixNs, Window};

use crate::cluster::Cluster;
use crate::request::NONE;

/// The life of a process, on the requested clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessLife {
    /// Index of the host.
    pub host: usize,
    /// Its pid.
    pub pid: i32,
    /// Its name.
    pub comm: Option<String>,
    /// From the start of its first thread to the end of its last one; of one that was there before the trace,
    /// or after it, to the start or the end of that.
    pub span: Window<UnixNs>,
    /// Whether its start and its end were seen.
    pub is_seen: (bool, bool),
}

/// A request to a disk that was issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DiskAccess {
    /// When, on the requested clock.
    pub at: UnixNs,
    /// The first sector of 512 bytes.
    pub sector: u64,
    /// Number of sectors.
    pub sectors: u32,
    /// The process that caused it, as far as the kernel tells: that of the thread that inserted or issued it.
    pub pid: Option<i32>,
    /// Whether it writes.
    pub is_write: bool,
}

/// The lives of all processes, by host and pid. A pid that was used again is one life. Linear in the threads.
pub fn lives(cluster: &Cluster<'_>) -> Vec<ProcessLife> {
    let mut all: BTreeMap<(usize, i32), ProcessLife> = BTreeMap::new();
    for (index, host) in cluster.hosts.iter().enumerate() {
        for (row, thread) in (0..).map(ThreadRow).zip(host.store.threads()) {
            let Some(pid) = host.pid(row).filter(|_| thread.tid.is_some()) else { continue };
            let span = Window::new(host.common(thread.start), host.common(thread.end));
            let is_seen = (thread.is_start_seen, thread.is_end_seen);
            let life = all.entry((index, pid)).or_insert_with(|| {
                let comm = cluster.comm_of_process(index, pid).map(str::to_owned);
                ProcessLife { host: index, pid, comm, span, is_seen }
            });
            if span.start < life.span.start {
                (life.span.start, life.is_seen.0) = (span.start, is_seen.0);
            }
            if span.end > life.span.end {
                (life.span.end, life.is_seen.1) = (span.end, is_seen.1);
            }
        }
    }
    all.into_values().collect()
}

/// The requests to each disk of each host that were issued in a window and move bytes, by time: by the host's
/// index and the name of the disk. Linear in the requests of the window.
///
/// # Errors
/// The store cannot be read.
pub fn disk_accesses(
    cluster: &Cluster<'_>,
    window: Option<Window<UnixNs>>,
) -> Result<BTreeMap<(usize, String), Vec<DiskAccess>>, StoreError> {
    let window = window.or_else(|| cluster.range()).unwrap_or(NONE);
    let mut all: BTreeMap<(usize, String), Vec<DiskAccess>> = BTreeMap::new();
    for (index, host) in cluster.hosts.iter().enumerate() {
        let raw = host.raw_window(window);
        host.store.block_requests(raw, |block| {
            let issued = block.issued.filter(|&at| raw.contains(at) && block.sectors > 0);
            let Some(at) = issued else { return };
            let name = host.store.entry().disk_name(block.device).into_owned();
            all.entry((index, name)).or_default().push(DiskAccess {
                at: host.common(at),
                sector: block.sector,
                sectors: block.sectors,
                pid: block.thread.and_then(|thread| host.pid(thread)),
                is_write: block.is_write,
            });
        })?;
    }
    for of_disk in all.values_mut() {
        of_disk.sort_unstable();
    }
    Ok(all)
}
