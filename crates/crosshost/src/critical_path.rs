//! The report `critical-path`: where requests spent their time, one by one and together.

use std::collections::BTreeMap;

use isochrone_analysis::{Cell, Note, Report, Table, Unit, VERSION, nearest_rank};
use isochrone_kernel::Name;
use isochrone_time::UnixNs;

use crate::cluster::Cluster;
use crate::network;
use crate::path::ThreadRef;
use crate::request::{Request, Served};
use crate::spent::SpentOn;

/// The tables of some requests: `services` (how long requests take), `breakdown` (sums of all of them, with
/// how they differ), `network` (what their packets spent their time on), `requests` and, if `has_steps`,
/// `causes` (sums of each request) and `path` (each step of those whose paths are there). `is_synchronized`:
/// whether all times are on one clock. Linear in the steps.
pub fn critical_path(
    cluster: &Cluster<'_>,
    requests: &[Request],
    has_steps: bool,
    is_synchronized: bool,
) -> Report {
    let mut tables = vec![
        services(cluster, requests),
        breakdown(cluster, requests),
        network::table(cluster, requests.iter().flat_map(|request| request.carried.iter().copied())),
        table_of_requests(cluster, requests),
    ];
    if has_steps {
        tables.extend([causes(cluster, requests), path(cluster, requests)]);
    }
    let range = requests.iter().map(|request| (request.start, request.end));
    let range = range.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)));
    Report {
        analysis: "critical-path",
        version: VERSION,
        sync: is_synchronized,
        range: range.map(|(start, end)| [start, end]),
        tables,
        notes: request_notes(requests),
    }
}

/// What figures of some requests do not show: those of which a part is unknown, and those that may be
/// several.
pub fn request_notes(requests: &[Request]) -> Vec<Note> {
    let mut notes = Vec::new();
    let count = requests.iter().filter(|request| request.is_partly_unknown()).count();
    if count > 0 {
        let what =
            format!("of {count} of {} requests a part is unknown: events of it are missing", requests.len());
        notes.push(Note::default().text(&what));
    }
    let count = requests.iter().filter(|request| request.may_be_several).count();
    if count > 0 {
        let what = format!(
            "{count} of {} requests were sent in several writes of one size before the answer came: each may be several requests \
             (pipelining), which cannot be told apart and count as one",
            requests.len()
        );
        notes.push(Note::default().text(&what));
    }
    notes
}

impl Cluster<'_> {
    /// Pid, tid and the name at an instant of the requested clock of a thread, as cells.
    pub(crate) fn cells(&self, party: Option<ThreadRef>, at: UnixNs) -> [Cell; 3] {
        let thread = party.and_then(|party| self.hosts[party.host].thread(party.thread));
        let pid = party.and_then(|party| self.hosts[party.host].pid(party.thread));
        let comm = party.and_then(|party| self.comm_at(party, at));
        [pid.into(), thread.and_then(|thread| thread.tid).into(), comm.map_or(Cell::Unknown, Cell::text)]
    }

    pub(crate) fn host_cell(&self, host: Option<usize>) -> Cell {
        host.map_or(Cell::Unknown, |host| Cell::text(self.host_name(host)))
    }

    /// The name of a thread at an instant of the requested clock.
    pub fn comm_at(&self, party: ThreadRef, at: UnixNs) -> Option<&str> {
        let host = self.hosts.get(party.host)?;
        host.thread(party.thread)?.comm_at(host.raw(at))
    }

    /// The last name of a thread.
    pub fn comm(&self, party: ThreadRef) -> Option<&str> {
        self.hosts.get(party.host)?.thread(party.thread)?.comm.as_deref()
    }

    /// The number of a thread's process.
    pub fn pid(&self, party: ThreadRef) -> Option<i32> {
        self.hosts.get(party.host)?.pid(party.thread)
    }

    /// The number of a thread as the kernel gave it.
    pub fn tid(&self, party: ThreadRef) -> Option<i32> {
        self.hosts.get(party.host)?.thread(party.thread)?.tid
    }
}

/// Whether it has no server: it is what a thread did by itself.
fn is_phase(request: &Request) -> bool {
    matches!(request.service, Some(Served::Phase(_)))
}

fn table_of_requests(cluster: &Cluster<'_>, requests: &[Request]) -> Table {
    let mut table = Table::new(
        "requests",
        "Requests",
        &[
            ("request", Unit::None),
            ("client_host", Unit::None),
            ("client_pid", Unit::None),
            ("client_tid", Unit::None),
            ("server_host", Unit::None),
            ("server_pid", Unit::None),
            ("server_tid", Unit::None),
            ("begin_ns", Unit::Time),
            ("end_ns", Unit::Time),
            ("total_ns", Unit::Ns),
            ("service", Unit::None),
            ("client_comm", Unit::None),
            ("server_comm", Unit::None),
        ],
    )
    .by_time("begin_ns");
    for request in requests {
        let [client_pid, client_tid, client_comm] = cluster.cells(request.client, request.start);
        let [server_pid, server_tid, server_comm] = match is_phase(request) {
            true => [Cell::NotApplicable, Cell::NotApplicable, Cell::NotApplicable],
            false => cluster.cells(request.server, request.end),
        };
        let service = request.service.as_ref().map(ToString::to_string);
        table.row(vec![
            (request.number as i128).into(),
            cluster.host_cell(request.client.map(|client| client.host)),
            client_pid,
            client_tid,
            if is_phase(request) {
                Cell::NotApplicable
            } else {
                cluster.host_cell(request.server.map(|server| server.host))
            },
            server_pid,
            server_tid,
            request.start.0.into(),
            request.end.0.into(),
            request.duration().into(),
            service.as_deref().map_or(Cell::NotApplicable, Cell::text),
            client_comm,
            server_comm,
        ]);
    }
    table
}

fn path(cluster: &Cluster<'_>, requests: &[Request]) -> Table {
    let mut table = Table::new(
        "path",
        "Steps of each request",
        &[
            ("request", Unit::None),
            ("begin_ns", Unit::Time),
            ("end_ns", Unit::Time),
            ("host", Unit::None),
            ("pid", Unit::None),
            ("tid", Unit::None),
            ("comm", Unit::None),
            ("cause", Unit::None),
            ("detail", Unit::None),
            ("uncertainty_ns", Unit::Ns),
            ("queue_ns", Unit::Ns),
            ("wire_ns", Unit::Ns),
        ],
    );
    for request in requests {
        for (step, detail) in &request.path {
            let party = step.thread.map(|thread| ThreadRef { host: step.host, thread });
            let [pid, tid, comm] = match party {
                Some(_) => cluster.cells(party, step.start),
                None => [Cell::NotApplicable, Cell::NotApplicable, Cell::NotApplicable],
            };
            table.row(vec![
                (request.number as i128).into(),
                step.start.0.into(),
                step.end.0.into(),
                cluster.host_cell(Some(step.host)),
                pid,
                tid,
                comm,
                Cell::text(step.cause.name()),
                if detail.is_empty() { Cell::NotApplicable } else { Cell::text(detail) },
                step.uncertainty.map_or(Cell::NotApplicable, Cell::from),
                step.queued.map_or(Cell::NotApplicable, Cell::from),
                step.queued.map_or(Cell::NotApplicable, |queued| Cell::from(step.duration() - queued)),
            ]);
        }
    }
    table
}

fn comm_cell(comm: Option<&Name>) -> Cell {
    comm.map_or(Cell::NotApplicable, |comm| Cell::Text(comm.clone()))
}

fn causes(cluster: &Cluster<'_>, requests: &[Request]) -> Table {
    let mut table = Table::new(
        "causes",
        "What each request spent its time on",
        &[
            ("request", Unit::None),
            ("host", Unit::None),
            ("comm", Unit::None),
            ("cause", Unit::None),
            ("total_ns", Unit::Ns),
        ],
    );
    for request in requests {
        for (on, total) in &request.spent {
            table.row(vec![
                (request.number as i128).into(),
                cluster.host_cell(Some(on.host)),
                comm_cell(on.comm.as_ref()),
                Cell::text(on.cause.name()),
                (*total).into(),
            ]);
        }
    }
    table
}

/// The value that `percent` percent of sorted values do not exceed.
fn rank(sorted: &[i64], percent: usize) -> i64 {
    nearest_rank(sorted, percent).copied().unwrap_or_default()
}

fn breakdown(cluster: &Cluster<'_>, requests: &[Request]) -> Table {
    let mut table = Table::new(
        "breakdown",
        "What all of them spent their time on",
        &[
            ("host", Unit::None),
            ("comm", Unit::None),
            ("cause", Unit::None),
            ("total_ns", Unit::Ns),
            ("percent", Unit::Percent),
            ("median_ns", Unit::Ns),
            ("p95_ns", Unit::Ns),
            ("max_ns", Unit::Ns),
            ("worst_request", Unit::None),
        ],
    )
    .top();
    // By what was spent: of each request that did, how much, and its number.
    let mut all: BTreeMap<&SpentOn, Vec<(i64, usize)>> = BTreeMap::new();
    for request in requests {
        for (on, ns) in &request.spent {
            all.entry(on).or_default().push((*ns, request.number));
        }
    }
    let whole: i64 = requests.iter().map(Request::duration).sum();
    let mut rows: Vec<_> =
        all.into_iter().map(|(on, of)| (of.iter().map(|(ns, _)| ns).sum::<i64>(), on, of)).collect();
    rows.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    for (total, on, mut of) in rows {
        of.sort_unstable();
        let worst = of.last().map(|(_, number)| *number as i128);
        // Requests that spent nothing on it count, too.
        let mut values = vec![0; requests.len() - of.len()];
        values.extend(of.iter().map(|(ns, _)| ns));
        table.row(vec![
            cluster.host_cell(Some(on.host)),
            comm_cell(on.comm.as_ref()),
            Cell::text(on.cause.name()),
            total.into(),
            Cell::Float(100.0 * total as f64 / whole.max(1) as f64),
            rank(&values, 50).into(),
            rank(&values, 95).into(),
            rank(&values, 100).into(),
            worst.into(),
        ]);
    }
    table
}

/// The name of a service, and host and name of the program that serves it or has the phase.
type ServiceKey = (String, Option<usize>, Option<String>);

fn services(cluster: &Cluster<'_>, requests: &[Request]) -> Table {
    let mut table = Table::new(
        "services",
        "How long requests take",
        &[
            ("service", Unit::None),
            ("server_host", Unit::None),
            ("server_comm", Unit::None),
            ("requests", Unit::Count),
            ("min_ns", Unit::Ns),
            ("median_ns", Unit::Ns),
            ("p95_ns", Unit::Ns),
            ("p99_ns", Unit::Ns),
            ("max_ns", Unit::Ns),
            ("slowest", Unit::None),
        ],
    );
    let mut all: BTreeMap<ServiceKey, Vec<(i64, usize)>> = BTreeMap::new();
    for request in requests {
        let Some(service) = &request.service else { continue };
        let who = if is_phase(request) { request.client } else { request.server };
        let comm = who.and_then(|who| cluster.comm_at(who, request.end)).map(str::to_owned);
        let key = (service.to_string(), who.map(|who| who.host), comm);
        all.entry(key).or_default().push((request.duration(), request.number));
    }
    for ((service, host, comm), mut of) in all {
        of.sort_unstable();
        let values: Vec<i64> = of.iter().map(|(ns, _)| *ns).collect();
        let slowest = of.last().map(|(_, number)| *number as i128);
        table.row(vec![
            Cell::text(&service),
            cluster.host_cell(host),
            comm.as_deref().map_or(Cell::Unknown, Cell::text),
            (values.len() as i128).into(),
            rank(&values, 0).into(),
            rank(&values, 50).into(),
            rank(&values, 95).into(),
            rank(&values, 99).into(),
            rank(&values, 100).into(),
            slowest.into(),
        ]);
    }
    table
}
