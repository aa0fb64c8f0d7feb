//! The report `blocking`: what threads waited for, in which calls, on which descriptors, and the threads that
//! ended their waits.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use isochrone_analysis::{Cell, Report, Table, Unit, VERSION};
use isochrone_kernel::Name;
use isochrone_store::{Cause, StoreError};
use isochrone_time::{UnixNs, Window};
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::cluster::Cluster;
use crate::path::ThreadRef;
use crate::waits::{Wait, waits};

/// The index of the host and the pid of the process that ended a wait, if it is known.
type Ender = Option<(u32, i32)>;

/// The sum of some waits; there may be one for each file.
#[derive(Debug)]
struct Sum {
    count: u64,
    total: i64,
    longest: i64,
    /// Who ended the first one, and how long the waits were that it ended, ns.
    first: (Ender, i64),
    /// The same of all others who ended some. Most sums have none.
    others: BTreeMap<Ender, i64>,
}

impl Sum {
    /// Of no waits, of which the first one is going to be one that was ended so.
    fn new(by: Ender) -> Self {
        Self { count: 0, total: 0, longest: 0, first: (by, 0), others: BTreeMap::new() }
    }

    fn add(&mut self, wait: &Wait, by: Ender) {
        let length = wait.end - wait.start;
        self.count += 1;
        self.total += length;
        self.longest = self.longest.max(length);
        match &mut self.first {
            (first, total) if *first == by => *total += length,
            _ => *self.others.entry(by).or_default() += length,
        }
    }

    /// The process that ended most of the time.
    fn ended_by(&self) -> Ender {
        let (by, total) = &self.first;
        let all = std::iter::once((by, total)).chain(&self.others);
        all.filter_map(|(by, total)| Some((total, (*by)?))).max().map(|(_, by)| by)
    }
}

/// What a row of `causes` is of: index of the host, pid, cause.
type CauseKey = (u32, Option<i32>, Cause);

/// What a row of `blocking` is of. Names are in the order in which they were added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct FileKey {
    of: CauseKey,
    /// Index of the name of the call.
    call: Option<u32>,
    fd: Option<i32>,
    /// Index of the name of the file.
    file: Option<u32>,
}

/// Sums of waits by call, descriptor and file: a few dozen bytes each.
#[derive(Debug, Default)]
struct ByFile {
    sums: FxHashMap<FileKey, Sum>,
    names: IndexSet<Name, FxBuildHasher>,
}

impl ByFile {
    fn add(&mut self, of: CauseKey, wait: &Wait, file: Option<&str>, by: Ender) {
        let mut index = |name: &str| {
            let known = self.names.get_index_of(name);
            known.unwrap_or_else(|| self.names.insert_full(name.into()).0) as u32
        };
        let (call, file) = (wait.call.as_deref().map(&mut index), file.map(&mut index));
        let key = FileKey { of, call, fd: wait.fd, file };
        self.sums.entry(key).or_insert_with(|| Sum::new(by)).add(wait, by);
    }

    fn name(&self, index: Option<u32>) -> Option<&str> {
        Some(&**self.names.get_index(index? as usize)?)
    }

    /// The longest first.
    fn sorted(&self) -> Vec<(&FileKey, &Sum)> {
        let mut sums: Vec<_> = self.sums.iter().collect();
        let key = |it: &FileKey| (it.of, self.name(it.call), it.fd, self.name(it.file));
        sums.sort_unstable_by(|a, b| b.1.total.cmp(&a.1.total).then_with(|| key(a.0).cmp(&key(b.0))));
        sums
    }
}

/// What a row of `ended` is of, and the process that ended the waits.
type EndedKey = (CauseKey, Ender);

/// The tables `causes` (by process and cause), `blocking` (by process, cause, call or page fault, and
/// descriptor or what is at the address of the fault), `ended`
/// (by process, cause and the process that ended them) and, if `has_log`, `waits` (each of them). `window`:
/// those that end in it, Unix ns. Only of threads that `is_asked` says. Linear in the spans of the window.
///
/// # Errors
/// The store cannot be read.
pub fn blocking(
    cluster: &Cluster<'_>,
    window: Option<Window<UnixNs>>,
    is_asked: impl Fn(ThreadRef) -> bool,
    has_log: bool,
    is_synchronized: bool,
) -> Result<Report, StoreError> {
    let whole = cluster.window(window);
    let mut by_file = ByFile::default();
    let mut by_cause: BTreeMap<CauseKey, Sum> = BTreeMap::new();
    let mut by_ender: BTreeMap<EndedKey, Sum> = BTreeMap::new();
    let mut log = log_table();
    waits(cluster, whole, is_asked, |wait| {
        let host = &cluster.hosts[wait.who.host];
        let pid = host.pid(wait.who.thread);
        let memory = || Some(host.fault(wait.who.thread, wait.start)?.memory.as_str());
        let file = wait.fd.zip(pid).and_then(|(fd, pid)| host.name_of(pid, fd, wait.start));
        let name = file.or(wait.through.object.name()).or_else(memory);
        let by = wait.ended_by.and_then(|by| Some((by.host as u32, cluster.hosts[by.host].pid(by.thread)?)));
        let key = (wait.who.host as u32, pid, wait.cause);
        by_file.add(key, wait, name, by);
        by_cause.entry(key).or_insert_with(|| Sum::new(by)).add(wait, by);
        by_ender.entry((key, by)).or_insert_with(|| Sum::new(by)).add(wait, by);
        if has_log {
            log.row(log_row(cluster, wait, name));
        }
    })?;
    log.sort("begin_ns");
    let mut tables = vec![causes(cluster, by_cause), files(cluster, &by_file), ended(cluster, by_ender)];
    if has_log {
        tables.push(log);
    }
    Ok(Report {
        analysis: "blocking",
        version: VERSION,
        sync: is_synchronized,
        range: Some([whole.start, whole.end]),
        tables,
        notes: Vec::new(),
    })
}

fn process_cells(cluster: &Cluster<'_>, host: u32, pid: Option<i32>) -> [Cell; 3] {
    let host = host as usize;
    let comm = pid.and_then(|pid| cluster.comm_of_process(host, pid));
    [cluster.host_cell(Some(host)), pid.into(), comm.map_or(Cell::Unknown, Cell::text)]
}

/// Who ended most of some waits.
fn ended_by(cluster: &Cluster<'_>, sum: &Sum) -> Cell {
    let Some((host, pid)) = sum.ended_by() else { return Cell::NotApplicable };
    let host = host as usize;
    let comm = cluster.comm_of_process(host, pid).unwrap_or("?");
    Cell::text(&format!("{} {comm} {pid}", cluster.host_name(host)))
}

fn causes(cluster: &Cluster<'_>, sums: BTreeMap<CauseKey, Sum>) -> Table {
    let mut table = Table::new(
        "causes",
        "What processes waited for",
        &[
            ("host", Unit::None),
            ("pid", Unit::None),
            ("comm", Unit::None),
            ("cause", Unit::None),
            ("count", Unit::Count),
            ("total_ns", Unit::Ns),
            ("max_ns", Unit::Ns),
            ("ended_by", Unit::None),
        ],
    )
    .top();
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.total.cmp(&a.1.total).then_with(|| a.0.cmp(&b.0)));
    for ((host, pid, cause), sum) in sums {
        let [name, pid, comm] = process_cells(cluster, host, pid);
        table.row(vec![
            name,
            pid,
            comm,
            Cell::text(cause.name()),
            sum.count.into(),
            sum.total.into(),
            sum.longest.into(),
            ended_by(cluster, &sum),
        ]);
    }
    table
}

fn files(cluster: &Cluster<'_>, sums: &ByFile) -> Table {
    let mut table = Table::new(
        "blocking",
        "In which calls, and on what",
        &[
            ("host", Unit::None),
            ("pid", Unit::None),
            ("comm", Unit::None),
            ("cause", Unit::None),
            ("syscall", Unit::None),
            ("fd", Unit::None),
            ("count", Unit::Count),
            ("total_ns", Unit::Ns),
            ("max_ns", Unit::Ns),
            ("ended_by", Unit::None),
            ("file", Unit::None),
        ],
    )
    .top();
    for (key, sum) in sums.sorted() {
        let (host, pid, cause) = key.of;
        let [name, pid, comm] = process_cells(cluster, host, pid);
        table.row(vec![
            name,
            pid,
            comm,
            Cell::text(cause.name()),
            sums.name(key.call).map_or(Cell::NotApplicable, Cell::text),
            key.fd.map_or(Cell::NotApplicable, Cell::from),
            sum.count.into(),
            sum.total.into(),
            sum.longest.into(),
            ended_by(cluster, sum),
            sums.name(key.file).map_or(Cell::NotApplicable, Cell::text),
        ]);
    }
    table
}

fn ended(cluster: &Cluster<'_>, sums: BTreeMap<EndedKey, Sum>) -> Table {
    let mut table = Table::new(
        "ended",
        "Who waited for whom",
        &[
            ("host", Unit::None),
            ("pid", Unit::None),
            ("comm", Unit::None),
            ("cause", Unit::None),
            ("count", Unit::Count),
            ("total_ns", Unit::Ns),
            ("max_ns", Unit::Ns),
            ("by_host", Unit::None),
            ("by_pid", Unit::None),
            ("by_comm", Unit::None),
        ],
    )
    .top()
    .detail();
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.total.cmp(&a.1.total).then_with(|| a.0.cmp(&b.0)));
    for (((host, pid, cause), by), sum) in sums {
        let [name, pid, comm] = process_cells(cluster, host, pid);
        let [by_host, by_pid, by_comm] = match by {
            Some((host, pid)) => process_cells(cluster, host, Some(pid)),
            None => [Cell::NotApplicable, Cell::NotApplicable, Cell::NotApplicable],
        };
        table.row(vec![
            name,
            pid,
            comm,
            Cell::text(cause.name()),
            sum.count.into(),
            sum.total.into(),
            sum.longest.into(),
            by_host,
            by_pid,
            by_comm,
        ]);
    }
    table
}

fn log_table() -> Table {
    Table::new(
        "waits",
        "Each wait",
        &[
            ("host", Unit::None),
            ("pid", Unit::None),
            ("tid", Unit::None),
            ("comm", Unit::None),
            ("begin_ns", Unit::Time),
            ("end_ns", Unit::Time),
            ("wait_ns", Unit::Ns),
            ("cause", Unit::None),
            ("syscall", Unit::None),
            ("syscall_ns", Unit::Ns),
            ("fd", Unit::None),
            ("ended_by_host", Unit::None),
            ("ended_by_pid", Unit::None),
            ("ended_by_tid", Unit::None),
            ("ended_by_comm", Unit::None),
            ("file", Unit::None),
        ],
    )
    .by_time("begin_ns")
}

fn log_row(cluster: &Cluster<'_>, wait: &Wait, file: Option<&str>) -> Vec<Cell> {
    let host = &cluster.hosts[wait.who.host];
    let (start, end) = (host.common(wait.start), host.common(wait.end));
    let [pid, tid, comm] = cluster.cells(Some(wait.who), start);
    let [by_pid, by_tid, by_comm] = match wait.ended_by {
        Some(by) => cluster.cells(Some(by), end),
        None => [Cell::NotApplicable, Cell::NotApplicable, Cell::NotApplicable],
    };
    vec![
        cluster.host_cell(Some(wait.who.host)),
        pid,
        tid,
        comm,
        start.0.into(),
        end.0.into(),
        (wait.end - wait.start).into(),
        Cell::text(wait.cause.name()),
        wait.call.as_deref().map_or(Cell::NotApplicable, Cell::text),
        wait.call_ns.map_or(Cell::NotApplicable, Cell::from),
        wait.fd.map_or(Cell::NotApplicable, Cell::from),
        wait.ended_by.map_or(Cell::NotApplicable, |by| cluster.host_cell(Some(by.host))),
        by_pid,
        by_tid,
        by_comm,
        file.map_or(Cell::NotApplicable, Cell::text),
    ]
}
