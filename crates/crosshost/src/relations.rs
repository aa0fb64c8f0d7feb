//! The report `ipc`: relations of processes: through what, how often, bytes, and waits for each other.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use isochrone_analysis::{Cell, Report, Table, Unit, VERSION};
use isochrone_store::StoreError;
use isochrone_time::{RawNs, UnixNs, Window};

use crate::cluster::Cluster;
use crate::exchange::connections;
use crate::relation::{Bytes, Key, Process, Relation, Relations, process};
use crate::socket_calls::{counts_messages, is_read};
use crate::through::Through;
use crate::unawaited::{Answered, unawaited};
use crate::waits::{Wait, waits};

/// The reading end of a pipe, of a UNIX socket or of a message queue: process, descriptor, and since when it
/// is that.
type Reader = (Process, i32, RawNs);

/// Who was seen to write to each end that is read from, and through what.
type Readers = BTreeMap<Reader, (BTreeSet<Process>, Through)>;

/// The table `relations`: processes that wake, fork, or talk to each other. Linear in the spans of the
/// window, and in what was done before with objects that are no files.
///
/// # Errors
/// The store cannot be read.
pub fn ipc(
    cluster: &Cluster<'_>,
    window: Option<Window<UnixNs>>,
    is_synchronized: bool,
) -> Result<Report, StoreError> {
    let whole = cluster.window(window);
    let mut relations = Relations::new();
    let mut readers = Readers::new();
    let mut answered = Answered::default();
    waits(
        cluster,
        whole,
        |_| true,
        |wait| add_wait(cluster, wait, &mut relations, &mut readers, &mut answered),
    )?;
    name_fifos(&mut relations);
    add_bytes(cluster, whole, &readers, &mut relations)?;
    add_forks(cluster, whole, &mut relations)?;
    for connection in connections(cluster, whole)? {
        let (Some(client), Some(server)) = (connection.client_process, connection.server_process) else {
            continue;
        };
        let through = Through::connection(client.0 == server.0, Some(connection.server_address));
        for (from, to, bytes) in
            [(client, server, connection.asked_bytes), (server, client, connection.answered_bytes)]
        {
            if bytes > 0 {
                let relation = relations.entry(Key::new(from, to, through.clone())).or_default();
                match connection.has_bytes {
                    true => relation.bytes.add(bytes),
                    false => relation.bytes = Bytes::Unknown,
                }
            }
        }
    }
    unawaited(cluster, whole, answered, &mut relations)?;
    Ok(Report {
        analysis: "ipc",
        version: VERSION,
        sync: is_synchronized,
        range: Some([whole.start, whole.end]),
        tables: vec![table(cluster, relations)],
        notes: Vec::new(),
    })
}

/// Adds a wait that a process or a timer ended.
fn add_wait(
    cluster: &Cluster<'_>,
    wait: &Wait,
    relations: &mut Relations,
    readers: &mut Readers,
    answered: &mut Answered,
) {
    let Some(to) = process(cluster, wait.who.host, wait.who.thread) else { return };
    let from = wait.ended_by.and_then(|by| process(cluster, by.host, by.thread));
    if from.is_none() && !(wait.ended_by.is_none() && wait.through.is_timer()) {
        return;
    }
    let relation = relations.entry(Key { from, to, through: wait.through.clone() }).or_default();
    relation.count += 1;
    relation.waited += wait.end - wait.start;
    if let Some((by, sent)) = wait.ended_by.zip(wait.signal) {
        answered.add(by, sent);
    }
    let has_bytes = ["pipe", "fifo", "unix-socket", "posix-queue"].contains(&wait.through.kind);
    let reader =
        wait.ready.or(wait.fd).filter(|_| has_bytes).and_then(|fd| reader(cluster, to, fd, wait.start));
    if let (Some(reader), Some(from)) = (reader, from) {
        readers.entry(reader).or_insert_with(|| (BTreeSet::new(), wait.through.clone())).0.insert(from);
    }
}

/// A path that one wait has shown to be a FIFO is one in all of them.
fn name_fifos(relations: &mut Relations) {
    let path = |key: &Key| (key.to.0, key.through.object.clone());
    let fifos: BTreeSet<_> = relations.keys().filter(|key| key.through.kind == "fifo").map(path).collect();
    let is_fifo = |key: &Key| key.through.kind == "disk" && fifos.contains(&path(key));
    let others: Vec<Key> = relations.keys().filter(|key| is_fifo(key)).cloned().collect();
    for mut key in others {
        let Some(other) = relations.remove(&key) else { continue };
        key.through.kind = "fifo";
        let relation = relations.entry(key).or_default();
        relation.count += other.count;
        relation.waited += other.waited;
    }
}

/// Adds processes that others have made.
fn add_forks(
    cluster: &Cluster<'_>,
    whole: Window<UnixNs>,
    relations: &mut Relations,
) -> Result<(), StoreError> {
    for (index, host) in cluster.hosts.iter().enumerate() {
        host.store.forks(host.raw_window(whole), |fork| {
            let from = fork.parent.and_then(|parent| process(cluster, index, parent));
            // Threads of one process are no relation of processes.
            if let (Some(from), Some(to)) = (from, process(cluster, index, fork.thread))
                && from != to
            {
                relations.entry(Key::new(from, to, Through::nameless("fork"))).or_default().count += 1;
            }
        })?;
    }
    Ok(())
}

/// The end that a descriptor of a process is at an instant, raw ns.
fn reader(cluster: &Cluster<'_>, process: Process, fd: i32, at: RawNs) -> Option<Reader> {
    Some((process, fd, cluster.hosts[process.0].open_since(process.1, fd, at)?))
}

/// Adds how many bytes processes read from ends that others were seen to write to. Linear in the calls of the
/// window.
fn add_bytes(
    cluster: &Cluster<'_>,
    whole: Window<UnixNs>,
    readers: &Readers,
    relations: &mut Relations,
) -> Result<(), StoreError> {
    let mut read: BTreeMap<Reader, Bytes> = BTreeMap::new();
    for (index, host) in cluster.hosts.iter().enumerate() {
        if !readers.keys().any(|(process, ..)| process.0 == index) {
            continue;
        }
        host.store.syscalls(host.raw_window(whole), |call| {
            let is_read = is_read(&call.name) || call.name.starts_with("mq_timedreceive");
            let Some(fd) = call.fd.filter(|_| call.ret > 0 && is_read) else { return };
            let process = call.thread.and_then(|thread| host.pid(thread));
            let reader = process.and_then(|pid| reader(cluster, (index, pid), fd, call.start));
            let Some(reader) = reader.filter(|reader| readers.contains_key(reader)) else { return };
            let bytes = read.entry(reader).or_default();
            match counts_messages(&call.name) {
                true => *bytes = Bytes::Unknown,
                false => bytes.add(call.ret as u64),
            }
        })?;
    }
    for (reader, bytes) in read {
        let (writers, through) = &readers[&reader];
        for &from in writers {
            let relation = relations.entry(Key::new(from, reader.0, through.clone())).or_default();
            match bytes {
                Bytes::Some(bytes) if writers.len() == 1 => relation.bytes.add(bytes),
                _ => relation.bytes = Bytes::Unknown,
            }
        }
    }
    Ok(())
}

fn table(cluster: &Cluster<'_>, relations: Relations) -> Table {
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
            ("object", Unit::None),
            ("count", Unit::Count),
            ("bytes", Unit::Bytes),
            ("waited_ns", Unit::Ns),
        ],
    )
    .top();
    let mut rows: Vec<_> = relations.into_iter().collect();
    // Timers come last: processes that sleep have nothing to do with each other.
    rows.sort_by(|(a, of_a), (b, of_b)| {
        let key = |key: &Key, it: &Relation| (key.from.is_none(), Reverse((it.waited, it.count)));
        key(a, of_a).cmp(&key(b, of_b)).then_with(|| a.cmp(b))
    });
    for (Key { from, to, through }, relation) in rows {
        let comm = |process: Process| {
            cluster.comm_of_process(process.0, process.1).map_or(Cell::Unknown, Cell::text)
        };
        table.row(vec![
            cluster.host_cell(Some(from.map_or(to.0, |from| from.0))),
            from.map_or(Cell::NotApplicable, |from| from.1.into()),
            from.map_or(Cell::NotApplicable, comm),
            cluster.host_cell(Some(to.0)),
            to.1.into(),
            comm(to),
            Cell::text(through.kind),
            through.object.cell(),
            relation.count.into(),
            relation.bytes.cell(),
            relation.waited.into(),
        ]);
    }
    table
}
