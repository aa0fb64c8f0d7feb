//! The report `blocking`: what threads waited for, in which calls, on which descriptors, and the threads that
//! ended their waits.

use std::collections::BTreeMap;

use isochrone_analysis::{Cell, Report, Table, Unit, VERSION};
use isochrone_kernel::Name;
use isochrone_store::{Cause, StoreError};
use isochrone_time::{UnixNs, Window};
use rustc_hash::FxHashMap;

use crate::cluster::Cluster;
use crate::path::ThreadRef;
use crate::waits::{Wait, waits};

/// The host and the pid of the process that ended a wait, if it is known.
type Ender = Option<(usize, i32)>;

/// The sum of some waits.
#[derive(Debug, Clone, Default)]
struct Sum {
    count: u64,
    total: i64,
    longest: i64,
    /// Durations in ns, by the process that ended them: that of the first one, and of all others. Most sums,
    /// of which there may be one for each file, have no others.
    first: Option<(Ender, i64)>,
    others: BTreeMap<Ender, i64>,
}

impl Sum {
    fn add(&mut self, wait: &Wait, by: Ender) {
        let length = wait.end - wait.start;
        self.count += 1;
        self.total += length;
        self.longest = self.longest.max(length);
        match self.first.get_or_insert((by, 0)) {
            (first, total) if *first == by => *total += length,
            _ => *self.others.entry(by).or_default() += length,
        }
    }

    /// The process that ended most of the time.
    fn ended_by(&self) -> Ender {
        let all = self.first.iter().map(|(by, total)| (by, total)).chain(&self.others);
        all.filter_map(|(by, total)| Some((total, (*by)?))).max().map(|(_, by)| by)
    }
}

/// What a row of `blocking` is of: host, pid, cause, call, descriptor, file.
type Key = (usize, Option<i32>, Cause, Option<Name>, Option<i32>, Option<String>);

/// What a row of `ended` is of: host, pid, cause, host and pid of the process that ended the waits.
type EndedKey = (usize, Option<i32>, Cause, Ender);

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
    // There may be a million files.
    let mut by_file: FxHashMap<Key, Sum> = FxHashMap::default();
    let mut by_cause: BTreeMap<(usize, Option<i32>, Cause), Sum> = BTreeMap::new();
    let mut by_ender: BTreeMap<EndedKey, Sum> = BTreeMap::new();
    let mut log = log_table();
    waits(cluster, whole, is_asked, |wait| {
        let host = &cluster.hosts[wait.who.host];
        let pid = host.pid(wait.who.thread);
        let memory = || Some(host.fault(wait.who.thread, wait.start)?.memory.as_str());
        let file = wait.fd.zip(pid).and_then(|(fd, pid)| host.name_of(pid, fd, wait.start));
        let name = file.or(wait.through.object.name()).or_else(memory);
        let by = wait.ended_by.and_then(|by| Some((by.host, cluster.hosts[by.host].pid(by.thread)?)));
        let key = (wait.who.host, pid, wait.cause, wait.call.clone(), wait.fd, name.map(str::to_owned));
        by_file.entry(key).or_default().add(wait, by);
        by_cause.entry((wait.who.host, pid, wait.cause)).or_default().add(wait, by);
        by_ender.entry((wait.who.host, pid, wait.cause, by)).or_default().add(wait, by);
        if has_log {
            log.row(log_row(cluster, wait, name));
        }
    })?;
    log.sort("begin_ns");
    let mut tables = vec![causes(cluster, by_cause), files(cluster, by_file), ended(cluster, by_ender)];
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

fn process_cells(cluster: &Cluster<'_>, host: usize, pid: Option<i32>) -> [Cell; 3] {
    let comm = pid.and_then(|pid| cluster.comm_of_process(host, pid));
    [cluster.host_cell(Some(host)), pid.into(), comm.map_or(Cell::Unknown, Cell::text)]
}

/// Who ended most of some waits.
fn ended_by(cluster: &Cluster<'_>, sum: &Sum) -> Cell {
    let Some((host, pid)) = sum.ended_by() else { return Cell::NotApplicable };
    let comm = cluster.comm_of_process(host, pid).unwrap_or("?");
    Cell::text(&format!("{} {comm} {pid}", cluster.host_name(host)))
}

fn causes(cluster: &Cluster<'_>, sums: BTreeMap<(usize, Option<i32>, Cause), Sum>) -> Table {
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

fn files(cluster: &Cluster<'_>, sums: FxHashMap<Key, Sum>) -> Table {
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
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.total.cmp(&a.1.total).then_with(|| a.0.cmp(&b.0)));
    for ((host, pid, cause, call, fd, file), sum) in sums {
        let [name, pid, comm] = process_cells(cluster, host, pid);
        table.row(vec![
            name,
            pid,
            comm,
            Cell::text(cause.name()),
            call.as_deref().map_or(Cell::NotApplicable, Cell::text),
            fd.map_or(Cell::NotApplicable, Cell::from),
            sum.count.into(),
            sum.total.into(),
            sum.longest.into(),
            ended_by(cluster, &sum),
            file.as_deref().map_or(Cell::NotApplicable, Cell::text),
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
    for ((host, pid, cause, by), sum) in sums {
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
