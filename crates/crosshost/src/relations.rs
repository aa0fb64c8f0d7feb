//! The report `ipc`: relations of processes: through what, how often, bytes, and waits for each other.

use std::collections::{BTreeMap, BTreeSet};

use isochrone_analysis::{Cell, Report, Table, Unit, VERSION};
use isochrone_store::Cause;
use isochrone_store::{StoreError, ThreadRow};
use isochrone_time::{RawNs, UnixNs, Window};

use crate::cluster::Cluster;
use crate::exchange::{connections, is_read};
use crate::request::NONE;
use crate::waits::waits;

/// A process: index of its host, and pid.
type Process = (usize, i32);

/// What joins two processes.
#[derive(Debug, Clone, Copy, Default)]
struct Relation {
    count: u64,
    /// Of connections, pipes and UNIX sockets: bytes from the first to the second.
    bytes: Bytes,
    /// How long the second waited for the first, ns.
    waited: i64,
}

/// What goes from one process to another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Bytes {
    /// Nothing that has bytes.
    #[default]
    None,
    /// Somebody else writes there, too.
    Unknown,
    Some(u64),
}

impl Bytes {
    fn add(&mut self, bytes: u64) {
        *self = match *self {
            Self::None => Self::Some(bytes),
            Self::Unknown => Self::Unknown,
            Self::Some(all) => Self::Some(all + bytes),
        };
    }

    fn cell(self) -> Cell {
        match self {
            Self::None => Cell::NotApplicable,
            Self::Unknown => Cell::Unknown,
            Self::Some(bytes) => bytes.into(),
        }
    }
}

/// The reading end of a pipe or of a UNIX socket: process, descriptor, and since when it is that.
type Reader = (Process, i32, RawNs);

/// The acting process, the one acted on, the means.
type Key = (Process, Process, &'static str);

/// The table `relations`: processes that wake, fork, or talk to each other. Linear in the spans of the
/// window.
///
/// # Errors
/// The store cannot be read.
pub fn ipc(
    cluster: &Cluster<'_>,
    window: Option<Window<UnixNs>>,
    is_synchronized: bool,
) -> Result<Report, StoreError> {
    let whole = window.or_else(|| cluster.range()).unwrap_or(NONE);
    let mut relations: BTreeMap<Key, Relation> = BTreeMap::new();
    let process = |host: usize, thread: ThreadRow| Some((host, cluster.hosts[host].pid(thread)?));
    // Who was seen to write to it, and whether it is a pipe.
    let mut readers: BTreeMap<Reader, (BTreeSet<Process>, Cause)> = BTreeMap::new();
    waits(
        cluster,
        whole,
        |_| true,
        |wait| {
            let to = process(wait.who.host, wait.who.thread);
            let from = wait.ended_by.and_then(|by| process(by.host, by.thread));
            if let (Some(from), Some(to)) = (from, to) {
                let relation = relations.entry((from, to, through(wait.cause))).or_default();
                relation.count += 1;
                relation.waited += wait.end - wait.start;
                let reader = wait.fd.and_then(|fd| reader(cluster, to, fd, wait.start));
                if let Some(reader) = reader.filter(|_| from.0 == to.0) {
                    readers.entry(reader).or_insert_with(|| (BTreeSet::new(), wait.cause)).0.insert(from);
                }
            }
        },
    )?;
    for (reader, bytes) in read_bytes(cluster, whole, &readers)? {
        let (writers, cause) = &readers[&reader];
        for &from in writers {
            let relation = relations.entry((from, reader.0, through(*cause))).or_default();
            match writers.len() {
                1 => relation.bytes.add(bytes),
                _ => relation.bytes = Bytes::Unknown,
            }
        }
    }
    for (index, host) in cluster.hosts.iter().enumerate() {
        host.store.forks(host.raw_window(whole), |fork| {
            let (from, to) =
                (fork.parent.and_then(|parent| process(index, parent)), process(index, fork.thread));
            // Threads of one process are no relation of processes.
            if let (Some(from), Some(to)) = (from, to)
                && from != to
            {
                relations.entry((from, to, "fork")).or_default().count += 1;
            }
        })?;
    }
    for connection in connections(cluster, whole)? {
        let (Some(client), Some(server)) = (connection.client_process, connection.server_process) else {
            continue;
        };
        let through = if client.0 == server.0 { through(Cause::Socket) } else { through(Cause::Network) };
        for (from, to, bytes) in
            [(client, server, connection.asked_bytes), (server, client, connection.answered_bytes)]
        {
            if bytes > 0 {
                let relation = relations.entry((from, to, through)).or_default();
                relation.bytes.add(bytes);
            }
        }
    }
    Ok(Report {
        analysis: "ipc",
        version: VERSION,
        sync: is_synchronized,
        range: Some([whole.start, whole.end]),
        tables: vec![table(cluster, &relations)],
        notes: Vec::new(),
    })
}

/// The end of a pipe or of a UNIX socket that a descriptor of a process is at an instant, raw ns. Bytes of
/// other sockets are known by their addresses.
fn reader(cluster: &Cluster<'_>, process: Process, fd: i32, at: RawNs) -> Option<Reader> {
    let host = &cluster.hosts[process.0];
    let is_unix = || host.name_of(process.1, fd, at).is_some_and(|name| name.starts_with("AF_UNIX"));
    let is_local = match host.kind_of(process.1, fd, at)? {
        "pipe" => true,
        "socket" => is_unix(),
        _ => false,
    };
    is_local.then_some((process, fd, host.open_since(process.1, fd, at)?))
}

/// How many bytes processes read from ends that others were seen to write to. Linear in the calls of the
/// window.
fn read_bytes(
    cluster: &Cluster<'_>,
    whole: Window<UnixNs>,
    readers: &BTreeMap<Reader, (BTreeSet<Process>, Cause)>,
) -> Result<BTreeMap<Reader, u64>, StoreError> {
    let mut read: BTreeMap<Reader, u64> = BTreeMap::new();
    for (index, host) in cluster.hosts.iter().enumerate() {
        if !readers.keys().any(|(process, ..)| process.0 == index) {
            continue;
        }
        host.store.syscalls(host.raw_window(whole), |call| {
            let Some(fd) = call.fd.filter(|_| call.ret > 0 && is_read(&call.name)) else { return };
            let process = call.thread.and_then(|thread| host.pid(thread));
            let reader = process.and_then(|pid| reader(cluster, (index, pid), fd, call.start));
            if let Some(reader) = reader.filter(|reader| readers.contains_key(reader)) {
                *read.entry(reader).or_default() += call.ret as u64;
            }
        })?;
    }
    Ok(read)
}

/// What a wait for another process goes through.
fn through(cause: Cause) -> &'static str {
    match cause {
        Cause::Network => "network",
        Cause::Socket => "socket",
        Cause::Pipe => "pipe",
        Cause::Lock => "lock",
        Cause::Signal => "signal",
        Cause::Child => "child",
        Cause::Disk => "disk",
        _ => "other",
    }
}

fn table(cluster: &Cluster<'_>, relations: &BTreeMap<Key, Relation>) -> Table {
    let mut table = Table::new(
        "relations",
        "Who acts on whom: wakes, sends to, forks",
        &[
            ("from_host", Unit::None),
            ("from_pid", Unit::None),
            ("from_comm", Unit::None),
            ("to_host", Unit::None),
            ("to_pid", Unit::None),
            ("to_comm", Unit::None),
            ("kind", Unit::None),
            ("count", Unit::Count),
            ("bytes", Unit::Bytes),
            ("waited_ns", Unit::Ns),
        ],
    )
    .top();
    let mut rows: Vec<_> = relations.iter().collect();
    rows.sort_by(|a, b| (b.1.waited, b.1.count).cmp(&(a.1.waited, a.1.count)).then_with(|| a.0.cmp(b.0)));
    for ((from, to, kind), relation) in rows {
        let comm = |process: &Process| cluster.comm_of_process(process.0, process.1);
        table.row(vec![
            cluster.host_cell(Some(from.0)),
            from.1.into(),
            comm(from).map_or(Cell::Unknown, Cell::text),
            cluster.host_cell(Some(to.0)),
            to.1.into(),
            comm(to).map_or(Cell::Unknown, Cell::text),
            Cell::text(kind),
            relation.count.into(),
            relation.bytes.cell(),
            relation.waited.into(),
        ]);
    }
    table
}
