//! The rows of the time graph: hosts, and below each its CPUs, disks, processes and threads, and phases of
//! threads.

use std::collections::BTreeMap;

use isochrone_kernel::Namespace;
use isochrone_store::ThreadRow;
use isochrone_time::{RawNs, SinceOrigin};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::{Clock, ExperimentView};
use crate::error::{ApiError, Result};

/// The kind of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RowKind {
    Host,
    Cpu,
    Disk,
    Process,
    Thread,
    Phase,
}

impl RowKind {
    /// Its name in answers.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Cpu => "cpu",
            Self::Disk => "disk",
            Self::Process => "process",
            Self::Thread => "thread",
            Self::Phase => "phase",
        }
    }

    /// Whether rows of this kind have states of their own.
    pub(crate) fn has_states(self) -> bool {
        !matches!(self, Self::Host | Self::Process)
    }
}

/// A row of the time graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct GraphRow {
    /// Its index in the tree.
    pub(crate) id: u32,
    pub(crate) parent: Option<u32>,
    pub(crate) kind: RowKind,
    /// Index of the host.
    pub(crate) host: usize,
    pub(crate) label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cpu: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pid: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tid: Option<i32>,
    /// The container of a thread, as text, if it is known to be in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) container: Option<String>,
    /// The inode of its pid namespace, if it is known to be in a container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) namespace: Option<u64>,
    /// The rank of a thread of an MPI program, as its messages show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rank: Option<i64>,
    /// First and last instant of its life on the common clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) begin: Option<SinceOrigin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) end: Option<SinceOrigin>,
    /// The thread in the store, of threads and their phases.
    #[serde(skip)]
    pub(super) thread: Option<ThreadRow>,
    /// The device, of disks.
    #[serde(skip)]
    pub(super) device: Option<u32>,
}

/// All rows in the order of the tree, and indices of them.
#[derive(Debug, Default)]
pub(crate) struct RowTree {
    pub(crate) all: Vec<GraphRow>,
    /// By index of the host and thread.
    threads: FxHashMap<(usize, ThreadRow), u32>,
    cpus: FxHashMap<(usize, u32), u32>,
    /// By index of the host.
    hosts: Vec<u32>,
}

impl RowTree {
    /// The rows of the hosts of a view.
    pub(super) fn new(view: &ExperimentView<'_>) -> Self {
        let mut rows = Self::default();
        for host in 0..view.hosts.len() {
            rows.add_host(view, host);
        }
        rows
    }

    fn add_host(&mut self, view: &ExperimentView<'_>, index: usize) {
        let host = &view.hosts[index];
        let row = |kind, parent, begin: Option<RawNs>, end: Option<RawNs>| GraphRow {
            id: 0,
            parent,
            kind,
            host: index,
            label: String::new(),
            cpu: None,
            pid: None,
            tid: None,
            container: None,
            namespace: None,
            rank: None,
            begin: begin.map(|begin| view.at(index, begin, Clock::Common)),
            end: end.map(|end| view.at(index, end, Clock::Common)),
            thread: None,
            device: None,
        };
        let of_host = |kind, parent| row(kind, parent, Some(host.range.start), Some(host.range.end));
        let entry = host.store.entry();
        let top = self.push(GraphRow { label: host.name.clone(), ..of_host(RowKind::Host, None) });
        self.hosts.push(top);
        for &cpu in &entry.cpus {
            let label = format!("CPU {cpu}");
            let id = self.push(GraphRow { label, cpu: Some(cpu), ..of_host(RowKind::Cpu, Some(top)) });
            self.cpus.insert((index, cpu), id);
        }
        for &device in &entry.block_devices {
            let label = format!("disk {}", entry.disk_name(device));
            self.push(GraphRow { label, device: Some(device), ..of_host(RowKind::Disk, Some(top)) });
        }
        let threads = host.store.threads();
        let by_tid = if entry.ranks.is_empty() { FxHashMap::default() } else { host.store.threads_by_tid() };
        let rank = |(tid, rank): (&i32, &i64)| Some((*by_tid.get(tid)?, *rank));
        let ranks: FxHashMap<ThreadRow, i64> = entry.ranks.iter().filter_map(rank).collect();
        let name = |comm: Option<&String>| comm.cloned().unwrap_or_else(|| "?".to_owned());
        // By pid: the threads.
        let mut processes: BTreeMap<i32, Vec<ThreadRow>> = BTreeMap::new();
        for (number, thread) in (0..).zip(threads) {
            if let Some(pid) = thread.pid.or(thread.tid).filter(|_| thread.tid.is_some()) {
                processes.entry(pid).or_default().push(ThreadRow(number));
            }
        }
        for (pid, of_pid) in processes {
            let of_process = || of_pid.iter().map(|number| &threads[number.index()]);
            let parent = if of_pid.len() == 1 {
                top
            } else {
                let main = of_process().rev().find(|thread| thread.tid == Some(pid)).or(of_process().next());
                let label = name(main.and_then(|thread| thread.comm.as_ref()));
                let begin = of_process().map(|thread| thread.start).min();
                let end = of_process().map(|thread| thread.end).max();
                self.push(GraphRow { label, pid: Some(pid), ..row(RowKind::Process, Some(top), begin, end) })
            };
            for &number in &of_pid {
                let thread = &threads[number.index()];
                let inner = thread.inner.filter(|inner| inner.level > 0);
                let of_thread = |kind, parent| row(kind, Some(parent), Some(thread.start), Some(thread.end));
                let id = self.push(GraphRow {
                    label: name(thread.comm.as_ref()),
                    pid: Some(pid),
                    tid: thread.tid,
                    container: inner.map(container),
                    namespace: inner.and_then(|inner| inner.inode),
                    rank: ranks.get(&number).copied(),
                    thread: Some(number),
                    ..of_thread(RowKind::Thread, parent)
                });
                self.threads.insert((index, number), id);
                if entry.phase_threads.binary_search(&number).is_ok() {
                    let label = "phases".to_owned();
                    self.push(GraphRow { label, thread: Some(number), ..of_thread(RowKind::Phase, id) });
                }
            }
        }
    }

    fn push(&mut self, row: GraphRow) -> u32 {
        let id = self.all.len() as u32;
        self.all.push(GraphRow { id, ..row });
        id
    }

    /// The row with an id.
    pub(crate) fn get(&self, id: u32) -> Option<&GraphRow> {
        self.all.get(id as usize)
    }

    /// The row of a thread. Idle tasks have none.
    pub(crate) fn of_thread(&self, host: usize, thread: ThreadRow) -> Option<u32> {
        self.threads.get(&(host, thread)).copied()
    }

    /// The row of a CPU, else of its host.
    pub(crate) fn of_cpu(&self, host: usize, cpu: Option<u32>) -> u32 {
        let row = cpu.and_then(|cpu| self.cpus.get(&(host, cpu)).copied());
        row.unwrap_or_else(|| self.of_host(host).unwrap_or_default())
    }

    /// The row of a host.
    pub(crate) fn of_host(&self, host: usize) -> Option<u32> {
        self.hosts.get(host).copied()
    }

    /// Whether a row is one of some, or below one of them.
    pub(crate) fn is_below(&self, id: u32, rows: &[u32]) -> bool {
        std::iter::successors(self.get(id), |row| self.get(row.parent?)).any(|row| rows.contains(&row.id))
    }

    /// The name of a row for people: with its host, and the number of a thread.
    pub(crate) fn title(&self, id: u32) -> String {
        let Some(row) = self.get(id) else { return String::new() };
        let host = self.of_host(row.host).and_then(|host| self.get(host)).map_or("", |host| &host.label);
        match (row.kind, row.tid.or(row.pid)) {
            (RowKind::Host, _) => host.to_owned(),
            (_, Some(number)) => format!("{host} {} {number}", row.label),
            (_, None) => format!("{host} {}", row.label),
        }
    }
}

impl ExperimentView<'_> {
    /// The row with an id.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn row(&self, id: u32) -> Result<&GraphRow> {
        self.rows.get(id).ok_or_else(|| ApiError::missing(format!("there is no row {id}")))
    }
}

/// A container by its pid namespace, and the ids of a thread there.
fn container(inner: Namespace) -> String {
    let namespace =
        inner.inode.map_or_else(|| "pid namespace".to_owned(), |id| format!("pid namespace {id}"));
    let pid = inner.vpid.map(|vpid| format!(", pid {vpid}")).unwrap_or_default();
    format!("{namespace}{pid}, tid {} there", inner.vtid)
}
