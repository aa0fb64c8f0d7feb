//! Where on disks requests were: what pictures of seeks are made of, on the page and in `isochrone summary`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use isochrone_store::StoreError;
use isochrone_time::{UnixNs, Window};

use crate::cluster::Cluster;

/// Bytes of a sector, whatever the disk has.
const SECTOR: u64 = 512;

/// A request to a disk that was issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DiskAccess {
    /// When, on the requested clock.
    pub at: UnixNs,
    /// The first byte on the disk.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// The process that caused it, as far as the kernel tells: that of the thread that inserted or issued it.
    pub pid: Option<i32>,
    /// Whether it writes.
    pub is_write: bool,
    /// From the issue to the completion, ns; `None`: that was not seen.
    pub latency_ns: Option<i64>,
}

/// The requests to a disk that were issued in a window and move bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskAccesses {
    /// Index of the host.
    pub host: usize,
    /// Number of the device.
    pub device: u32,
    /// Name of the disk.
    pub disk: String,
    /// The requests, by time.
    pub all: Vec<DiskAccess>,
}

/// The requests of a process to a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessesOfProcess {
    /// Its pid; `None`: unknown.
    pub pid: Option<i32>,
    /// How many there are.
    pub requests: u64,
    /// What they read, bytes.
    pub read_bytes: u64,
    /// What they wrote, bytes.
    pub written_bytes: u64,
}

/// How requests follow each other on a disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seeks {
    /// How many start where the one before ends.
    pub follow: u64,
    /// How many start elsewhere. The first one is neither.
    pub elsewhere: u64,
    /// How far these are away from there on average, bytes.
    pub mean_bytes: u64,
}

impl DiskAccesses {
    /// How the requests follow each other. Linear.
    pub fn seeks(&self) -> Seeks {
        let (mut seeks, mut sum) = (Seeks::default(), 0_u128);
        for two in self.all.windows(2) {
            match two[0].offset.saturating_add(two[0].bytes).abs_diff(two[1].offset) {
                0 => seeks.follow += 1,
                distance => (seeks.elsewhere, sum) = (seeks.elsewhere + 1, sum + u128::from(distance)),
            }
        }
        let mean = sum / u128::from(seeks.elsewhere.max(1));
        Seeks { mean_bytes: u64::try_from(mean).unwrap_or(u64::MAX), ..seeks }
    }

    /// The processes that the requests are of, those with the most bytes first. Linear.
    pub fn processes(&self) -> Vec<AccessesOfProcess> {
        let mut sums: BTreeMap<Option<i32>, AccessesOfProcess> = BTreeMap::new();
        for one in &self.all {
            let new = AccessesOfProcess { pid: one.pid, requests: 0, read_bytes: 0, written_bytes: 0 };
            let sum = sums.entry(one.pid).or_insert(new);
            sum.requests += 1;
            *if one.is_write { &mut sum.written_bytes } else { &mut sum.read_bytes } += one.bytes;
        }
        let mut ranked: Vec<_> = sums.into_values().collect();
        ranked.sort_by_key(|it| (Reverse(it.read_bytes + it.written_bytes), it.pid));
        ranked
    }

    /// At most `limit` of the requests, evenly chosen.
    pub fn some(&self, limit: usize) -> impl Iterator<Item = &DiskAccess> {
        let (count, shown) = (self.all.len(), self.all.len().min(limit));
        (0..shown).map(move |place| &self.all[place * count / shown])
    }
}

/// The requests to each disk of each host that were issued in a window and move bytes; disks with the most
/// requests come first. Linear in the requests of the window.
///
/// # Errors
/// The store cannot be read.
pub fn disk_accesses(
    cluster: &Cluster<'_>,
    window: Option<Window<UnixNs>>,
) -> Result<Vec<DiskAccesses>, StoreError> {
    let window = cluster.window(window);
    let mut disks: BTreeMap<(usize, u32), DiskAccesses> = BTreeMap::new();
    cluster.expect(cluster.hosts.len());
    for (index, host) in cluster.hosts.iter().enumerate() {
        cluster.next_window()?;
        let raw = host.raw_window(window);
        host.store.block_requests(raw, |block| {
            let issued = block.issued.filter(|&at| raw.contains(at) && block.sectors > 0);
            let Some(at) = issued else { return };
            let device = block.device;
            let of_disk = disks.entry((index, device)).or_insert_with(|| {
                let disk = host.store.entry().disk_name(device).into_owned();
                DiskAccesses { host: index, device, disk, all: Vec::new() }
            });
            of_disk.all.push(DiskAccess {
                at: host.common(at),
                offset: block.sector.saturating_mul(SECTOR),
                bytes: u64::from(block.sectors) * SECTOR,
                pid: block.thread.and_then(|thread| host.pid(thread)),
                is_write: block.is_write,
                latency_ns: block.completed.map(|completed| completed - at),
            });
        })?;
    }
    let mut disks: Vec<DiskAccesses> = disks.into_values().collect();
    for of_disk in &mut disks {
        of_disk.all.sort_unstable();
    }
    disks.sort_by_key(|of_disk| Reverse(of_disk.all.len()));
    Ok(disks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(requests: &[(u64, u64, Option<i32>)]) -> DiskAccesses {
        let access = |(at, &(offset, bytes, pid)): (usize, &(u64, u64, Option<i32>))| DiskAccess {
            at: UnixNs(at as i128),
            offset,
            bytes,
            pid,
            is_write: false,
            latency_ns: None,
        };
        let all = requests.iter().enumerate().map(access).collect();
        DiskAccesses { host: 0, device: 1, disk: "vda".to_owned(), all }
    }

    #[test]
    fn requests_follow_each_other_or_are_elsewhere() {
        let check = |requests: &[(u64, u64)], follow, elsewhere, mean_bytes| {
            let all: Vec<_> = requests.iter().map(|&(offset, bytes)| (offset, bytes, None)).collect();
            assert_eq!(disk(&all).seeks(), Seeks { follow, elsewhere, mean_bytes }, "{requests:?}");
        };
        check(&[], 0, 0, 0);
        check(&[(512, 512)], 0, 0, 0);
        check(&[(0, 512), (512, 1024), (1536, 512)], 2, 0, 0);
        // 1 kB ahead, then 3 kB back.
        check(&[(2000, 1000), (4000, 1000), (2000, 1000), (3000, 500)], 1, 2, 2000);
        check(&[(u64::MAX, u64::MAX), (0, 512)], 0, 1, u64::MAX);
    }

    #[test]
    fn processes_are_ranked_and_requests_chosen_evenly() {
        let requests: Vec<_> = (0..10).map(|at| (at * 10, 10, (at % 3 != 0).then_some(7))).collect();
        let all = disk(&requests);
        let processes = all.processes();
        let sums = processes.iter().map(|it| (it.pid, it.requests, it.read_bytes, it.written_bytes));
        assert_eq!(sums.collect::<Vec<_>>(), [(Some(7), 6, 60, 0), (None, 4, 40, 0)]);
        let offsets = |limit| all.some(limit).map(|it| it.offset / 10).collect::<Vec<_>>();
        assert_eq!(offsets(100), (0..10).collect::<Vec<_>>());
        assert_eq!(offsets(4), [0, 2, 5, 7]);
        assert_eq!(disk(&[]).some(3).count() + all.some(0).count(), 0);
    }
}
