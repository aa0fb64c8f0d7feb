//! What threads did with files and sockets in a window: calls that are over in it, by file, and by peer.
//!
//! A call counts in the window in which it ends, as a whole; its file is what the descriptor was when it
//! began. Used by: the statistics of the page.

use std::collections::{BTreeMap, BTreeSet};

use isochrone_experiment::Work;
use isochrone_kernel::calls::{Use, use_of};
use isochrone_store::{CallSpan, Descriptors, OpenFile};
use isochrone_time::{SinceOrigin, Window};
use serde::Serialize;

use super::state_at::instant;
use super::{Clock, CommandLine, ExperimentView};
use crate::error::Result;
use crate::works::next_part;

/// Rows of spans of a host that are in memory at once.
const AT_ONCE: u64 = 2_000_000;

/// Files of one answer, and peers.
const MAX_LISTED: usize = 1000;

/// The files and peers of an area.
#[derive(Debug, Default, Serialize)]
pub(crate) struct AreaFiles {
    /// Those with the most bytes first, then those with the most calls: [`MAX_LISTED`] of `file_count`.
    files: Vec<FileSum>,
    file_count: usize,
    /// Hosts at the other end of sockets, by address, in the same order.
    peers: Vec<PeerSum>,
    peer_count: usize,
    /// Sums of all files, of those too that are not listed.
    all: Sums,
    command: String,
}

/// Sums of calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
struct Sums {
    reads: u64,
    read_bytes: u64,
    writes: u64,
    written_bytes: u64,
    /// Calls that do neither.
    others: u64,
    errors: u64,
    /// From entry to exit, ns of the host's own clock, as of all calls.
    total_ns: i64,
}

impl Sums {
    fn add(&mut self, call: &CallSpan) {
        let bytes = u64::try_from(call.ret).unwrap_or(0);
        match use_of(&call.name) {
            Some(Use::Read) => (self.reads, self.read_bytes) = (self.reads + 1, self.read_bytes + bytes),
            Some(Use::Write) => {
                (self.writes, self.written_bytes) = (self.writes + 1, self.written_bytes + bytes);
            }
            _ => self.others += 1,
        }
        self.errors += u64::from(call.ret < 0);
        self.total_ns += call.end - call.start;
    }

    /// Descending: bytes, calls.
    fn rank(&self) -> std::cmp::Reverse<(u64, u64)> {
        std::cmp::Reverse((self.read_bytes + self.written_bytes, self.reads + self.writes + self.others))
    }
}

#[derive(Debug, Serialize)]
struct FileSum {
    host: usize,
    /// Its path; of a socket, both addresses; null where it is unknown what the descriptor was.
    file: Option<String>,
    kind: Option<String>,
    #[serde(flatten)]
    sums: Sums,
}

#[derive(Debug, Serialize)]
struct PeerSum {
    host: usize,
    /// The address without its port.
    peer: String,
    /// Pairs of addresses and ports.
    connections: usize,
    #[serde(flatten)]
    sums: Sums,
}

/// The name of a file as [`FileSum`] has it.
fn name_of(file: &OpenFile) -> Option<String> {
    match (&file.local, &file.peer) {
        (Some(local), Some(peer)) => Some(format!("{local}->{peer}")),
        _ => Some(file.name.to_string()).filter(|name| !name.is_empty()),
    }
}

impl ExperimentView<'_> {
    /// What threads did with files in a window on the common clock: those of all threads, or of those that
    /// are one of `rows` or below one of them. Linear in the calls of the window, which are read part by
    /// part, and in the descriptors that are open in it.
    pub(crate) fn files_of(
        &self,
        rows: Option<&[u32]>,
        window: Window<SinceOrigin>,
        work: &Work,
    ) -> Result<AreaFiles> {
        let mut files: BTreeMap<(usize, Option<String>), (Option<String>, Sums)> = BTreeMap::new();
        let mut peers: BTreeMap<(usize, String), (BTreeSet<String>, Sums)> = BTreeMap::new();
        let mut all = Sums::default();
        for (index, host) in self.hosts.iter().enumerate() {
            let raw = self.recorded(index, window, Clock::Common);
            let threads = self.threads_below(index, rows);
            if threads.is_empty() || raw.end < raw.start {
                continue;
            }
            let missed = host.store.missed()?;
            let parts = host.store.parts(raw, AT_ONCE);
            work.expect(parts.len() as u64);
            for part in parts {
                next_part(work)?;
                let around = Window::new(part.start.saturating_sub(1), part.end.saturating_add(1));
                let mut calls = host.store.calls_between(&threads, around)?;
                // In the part in which it ends; the last event may be the end of one.
                let is_last = part.end == raw.end;
                calls.retain(|call| {
                    let end = self.at(index, call.end, Clock::Common);
                    call.fd.is_some()
                        && (part.start <= call.end
                            && (call.end < part.end || is_last && call.end == part.end))
                        && (window.start <= end && end < window.end)
                });
                let starts = calls.iter().map(|call| call.start);
                let Some((first, last)) = starts.clone().min().zip(starts.max()) else { continue };
                let known = host.store.descriptors(Window::new(first, last.saturating_add(1)))?;
                for call in &calls {
                    let file = self.file_of(index, call, &known);
                    let file = file.filter(|file| !file.is_doubtful(call.start, &missed));
                    let of_file = files.entry((index, file.and_then(name_of))).or_default();
                    of_file.0 = file.and_then(|file| file.kind.as_ref().map(ToString::to_string));
                    of_file.1.add(call);
                    all.add(call);
                    if let Some((local, peer)) = file.and_then(|it| it.local.as_ref().zip(it.peer.as_ref())) {
                        let address = peer.rsplit_once(':').map_or(&**peer, |(address, _)| address);
                        let of_peer = peers.entry((index, address.to_owned())).or_default();
                        of_peer.0.insert(format!("{local}->{peer}"));
                        of_peer.1.add(call);
                    }
                }
            }
        }
        let mut files: Vec<FileSum> = files
            .into_iter()
            .map(|((host, file), (kind, sums))| FileSum { host, file, kind, sums })
            .collect();
        files.sort_by_key(|file| file.sums.rank());
        let mut peers: Vec<PeerSum> = peers
            .into_iter()
            .map(|((host, peer), (pairs, sums))| PeerSum { host, peer, connections: pairs.len(), sums })
            .collect();
        peers.sort_by_key(|peer| peer.sums.rank());
        let (file_count, peer_count) = (files.len(), peers.len());
        files.truncate(MAX_LISTED);
        peers.truncate(MAX_LISTED);
        let command = self.files_command(rows, window);
        Ok(AreaFiles { files, file_count, peers, peer_count, all, command })
    }

    /// What the descriptor of a call was when it began.
    fn file_of<'d>(&self, host: usize, call: &CallSpan, known: &'d Descriptors) -> Option<&'d OpenFile> {
        let thread = self.hosts[host].store.thread(call.thread?)?;
        known.at(thread.pid.or(thread.tid)?, call.fd?, call.start)
    }

    /// The query with the same sums, call by call; none where it would have to name too many threads.
    fn files_command(&self, rows: Option<&[u32]>, window: Window<SinceOrigin>) -> String {
        let Some(of_rows) = self.named_threads(rows, "") else { return String::new() };
        let [start, end] = [window.start, window.end].map(|at| instant(self.unix(at)));
        let query = format!(
            "SELECT host, fd_path(host, coalesce(pid, tid), fd, begin_time) AS file, name AS call, \
             count(*) AS count, sum(CASE WHEN ret > 0 THEN ret ELSE 0 END) AS returned, \
             sum(CASE WHEN ret < 0 THEN 1 ELSE 0 END) AS errors, sum(duration_ns) AS total_ns FROM syscalls \
             WHERE fd IS NOT NULL AND end_time >= '{start}' AND end_time < '{end}'{of_rows} \
             GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        );
        self.command.of(&format!("sql -c {}", CommandLine::quoted(&query)))
    }
}
