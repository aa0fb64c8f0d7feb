//! Where on disks the requests of a window were, over time, by process.

use std::sync::Arc;

use isochrone_crosshost::{AccessesOfProcess, DiskAccess, DiskAccesses, disk_accesses};
use isochrone_experiment::Work;
use isochrone_time::{SinceOrigin, Window};
use serde::Serialize;

use super::rows::RowKind;
use super::state_at::instant;
use super::{CommandLine, ExperimentView};
use crate::error::Result;

/// Requests of each disk in one answer.
const MAX_ACCESSES: usize = 100_000;

/// A request: when it was issued, its first byte on the disk, its size, the index of its process in the list
/// of the disk, whether it writes, and how long it took, ns.
type Access = (SinceOrigin, u64, u64, usize, bool, Option<i64>);

/// The requests to all disks.
#[derive(Debug, Serialize)]
pub(crate) struct DiskPictures {
    disks: Vec<DiskPicture>,
    command: String,
}

/// The requests to a disk.
#[derive(Debug, Serialize)]
struct DiskPicture {
    host: usize,
    row: Option<u32>,
    disk: String,
    /// How many there are in the window.
    total: usize,
    /// How many start where the one before ends, how many elsewhere, and how far from there on average.
    follow: u64,
    elsewhere: u64,
    mean_bytes: u64,
    /// Those with the most bytes first.
    processes: Vec<Process>,
    /// By time; evenly chosen, where there are too many.
    accesses: Vec<Access>,
}

/// A process; null where it is unknown.
#[derive(Debug, Serialize)]
struct Process {
    pid: Option<i32>,
    comm: Option<String>,
    requests: u64,
    read_bytes: u64,
    written_bytes: u64,
}

impl ExperimentView<'_> {
    /// The requests to each disk in a window on the common clock, `limit` of each at most; disks with the
    /// most requests first.
    ///
    /// # Errors
    /// The window is empty, or the store cannot be read.
    pub(crate) fn accesses(
        &self,
        window: Window<SinceOrigin>,
        limit: usize,
        work: &Arc<Work>,
    ) -> Result<DiskPictures> {
        let window = self.inside(window)?;
        let unix = Window::new(self.unix(window.start), self.unix(window.end));
        let disks = disk_accesses(&self.cluster()?.for_work(work), Some(unix))?;
        let limit = limit.clamp(1, MAX_ACCESSES);
        let disks = disks.iter().map(|disk| self.disk_picture(disk, limit)).collect::<Result<_>>()?;
        Ok(DiskPictures { disks, command: self.accesses_command(window) })
    }

    /// The query with the same answer.
    fn accesses_command(&self, window: Window<SinceOrigin>) -> String {
        let [start, end] = [window.start, window.end].map(|at| instant(self.unix(at)));
        let times = match window == self.extent {
            true => String::new(),
            false => format!(" AND issued_time BETWEEN '{start}' AND '{end}'"),
        };
        let query = format!(
            "SELECT host, device, issued_time, pid, comm, is_write, sector * 512 AS first_byte, \
             sectors * 512 AS bytes, completed_time_raw - issued_time_raw AS latency_ns FROM block_requests \
             WHERE issued_time IS NOT NULL AND sectors > 0{times} ORDER BY host, device, issued_time_raw"
        );
        self.command.of(&format!("sql -c {}", CommandLine::quoted(&query)))
    }

    fn disk_picture(&self, disk: &DiskAccesses, limit: usize) -> Result<DiskPicture> {
        let cluster = self.cluster()?;
        let processes = disk.processes();
        let comm = |pid| cluster.comm_of_process(disk.host, pid).map(str::to_owned);
        let process = |it: &AccessesOfProcess| Process {
            pid: it.pid,
            comm: it.pid.and_then(comm),
            requests: it.requests,
            read_bytes: it.read_bytes,
            written_bytes: it.written_bytes,
        };
        let access = |it: &DiskAccess| {
            let place = processes.iter().position(|one| one.pid == it.pid).unwrap_or_default();
            (self.since(it.at), it.offset, it.bytes, place, it.is_write, it.latency_ns)
        };
        let of_disk = |row: &&super::rows::GraphRow| {
            row.kind == RowKind::Disk && row.host == disk.host && row.device == Some(disk.device)
        };
        let seeks = disk.seeks();
        Ok(DiskPicture {
            host: disk.host,
            row: self.rows.all.iter().find(of_disk).map(|row| row.id),
            disk: disk.disk.clone(),
            total: disk.all.len(),
            follow: seeks.follow,
            elsewhere: seeks.elsewhere,
            mean_bytes: seeks.mean_bytes,
            accesses: disk.some(limit).map(access).collect(),
            processes: processes.iter().map(process).collect(),
        })
    }
}
