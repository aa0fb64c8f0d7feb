//! The report `diff`: what became slower or faster between two runs, by their requests.
//!
//! Hosts, programs and ports are held against each other by their names: numbers of processes, and addresses,
//! are others in each run.

use std::collections::{BTreeMap, BTreeSet};

use isochrone_analysis::{Cell, Note, Report, Table, Unit, VERSION, Visibility, nearest_rank};

use crate::cluster::Cluster;
use crate::critical_path::request_notes;
use crate::rank_test::{SIGNIFICANT, p_value};
use crate::request::{Request, Served};

/// A run: its hosts, and the requests of it.
#[derive(Debug, Clone, Copy)]
pub struct Run<'r, 'c> {
    /// The hosts.
    pub cluster: &'r Cluster<'c>,
    /// Its requests, with the sums of their paths.
    pub requests: &'r [Request],
}

/// What both runs are called.
pub const RUNS: [&str; 2] = ["before", "after"];

/// What requests are compared as: port or name of a phase, host and program of the server.
type ServiceName = (String, Option<String>, Option<String>);

/// What time is compared as: host, program, cause.
type CauseName = (String, Option<String>, &'static str);

/// The tables `services` (how long requests took in both runs) and `causes` (what their time was spent on,
/// per request of each run: the changes add up to that of the mean, but for what is rounded to ns). A change
/// is `slower` or `faster` where the rank test of Mann and Whitney says that chance alone makes as large a
/// one in less than 1 % of all pairs of runs. `O(n log n)` in the requests, for each cause.
pub fn compare(before: Run<'_, '_>, after: Run<'_, '_>) -> Report {
    let runs = [before, after];
    let mut notes = Vec::new();
    for (run, name) in runs.iter().zip(RUNS) {
        if run.requests.is_empty() {
            notes.push(Note::default().text(&format!("{name}: there are no requests")));
        }
        let of_run =
            |note: Note| Note::default().text(&format!("{name}: {}", note.shown(|ns| ns.to_string())));
        notes.extend(request_notes(run.requests).into_iter().map(of_run));
    }
    Report {
        analysis: "diff",
        version: VERSION,
        sync: true,
        range: None,
        tables: vec![services(runs), causes(runs)],
        notes,
    }
}

/// The columns of a change.
const CHANGE: [(&str, Unit); 3] =
    [("change_ns", Unit::Ns), ("change_percent", Unit::Percent), ("p", Unit::None)];

fn services(runs: [Run<'_, '_>; 2]) -> Table {
    let mut table = Table::new(
        "services",
        "How long requests take",
        &[
            ("service", Unit::None),
            ("server_host", Unit::None),
            ("server_comm", Unit::None),
            ("requests_before", Unit::Count),
            ("requests_after", Unit::Count),
            ("median_before_ns", Unit::Ns),
            ("median_after_ns", Unit::Ns),
            CHANGE[0],
            CHANGE[1],
            ("p95_before_ns", Unit::Ns),
            ("p95_after_ns", Unit::Ns),
            CHANGE[2],
            ("verdict", Unit::None),
        ],
    )
    .top()
    .show(&["p"], Visibility::Hidden);
    let of_runs = runs.map(by_service);
    let names: BTreeSet<&ServiceName> = of_runs.iter().flat_map(BTreeMap::keys).collect();
    let mut rows: Vec<(i128, Vec<Cell>)> = Vec::new();
    for name in names {
        let values = [0, 1].map(|run| of_runs[run].get(name).map_or(&[][..], Vec::as_slice));
        let rank = |run: usize, percent: usize| nearest_rank(values[run], percent).map(|ns| i128::from(*ns));
        let change = rank(0, 50).zip(rank(1, 50)).map(|(before, after)| after - before);
        let p = p_value(values[0], values[1]);
        let (service, host, comm) = name;
        let cell = |text: &Option<String>| text.as_deref().map_or(Cell::Unknown, Cell::text);
        let row = vec![
            Cell::text(service),
            cell(host),
            cell(comm),
            (values[0].len() as i128).into(),
            (values[1].len() as i128).into(),
            figure(rank(0, 50)),
            figure(rank(1, 50)),
            figure(change),
            percent(change, rank(0, 50)),
            figure(rank(0, 95)),
            figure(rank(1, 95)),
            p.map_or(Cell::NotApplicable, Cell::Float),
            verdict_cell(values.map(<[i64]>::len), change, p),
        ];
        rows.push((change.unwrap_or_default(), row));
    }
    rows.sort_by_key(|(change, _)| std::cmp::Reverse(change.abs()));
    for (_, row) in rows {
        table.row(row);
    }
    table
}

fn causes(runs: [Run<'_, '_>; 2]) -> Table {
    let mut table = Table::new(
        "causes",
        "What became slower and faster, per request",
        &[
            ("host", Unit::None),
            ("comm", Unit::None),
            ("cause", Unit::None),
            ("mean_before_ns", Unit::Ns),
            ("mean_after_ns", Unit::Ns),
            CHANGE[0],
            CHANGE[1],
            CHANGE[2],
            ("verdict", Unit::None),
        ],
    )
    .top()
    .show(&["p"], Visibility::Hidden)
    .draw("change_ns", 0);
    if runs.iter().any(|run| run.requests.is_empty()) {
        return table;
    }
    let of_runs = runs.map(by_cause);
    let names: BTreeSet<&CauseName> = of_runs.iter().flat_map(BTreeMap::keys).collect();
    let mut rows: Vec<(i128, Vec<Cell>)> = Vec::new();
    for name in names {
        // Requests that spent nothing on it count, too.
        let values = [0, 1].map(|run| {
            let mut values = of_runs[run].get(name).cloned().unwrap_or_default();
            values.resize(runs[run].requests.len(), 0);
            values.sort_unstable();
            values
        });
        let mean = |run: usize| {
            let sum: i128 = values[run].iter().map(|ns| i128::from(*ns)).sum();
            sum / values[run].len() as i128
        };
        let change = mean(1) - mean(0);
        let p = p_value(&values[0], &values[1]);
        let (host, comm, cause) = name;
        let row = vec![
            Cell::text(host),
            comm.as_deref().map_or(Cell::NotApplicable, Cell::text),
            Cell::text(cause),
            mean(0).into(),
            mean(1).into(),
            change.into(),
            percent(Some(change), Some(mean(0))),
            p.map_or(Cell::NotApplicable, Cell::Float),
            verdict_cell([values[0].len(), values[1].len()], Some(change), p),
        ];
        rows.push((change, row));
    }
    rows.sort_by_key(|(change, _)| std::cmp::Reverse(change.abs()));
    for (_, row) in rows {
        table.row(row);
    }
    table
}

/// A figure of a row, which may have none.
pub(crate) fn figure(value: Option<i128>) -> Cell {
    value.map_or(Cell::NotApplicable, Cell::Int)
}

/// A change in percent of what it was.
pub(crate) fn percent(change: Option<i128>, of: Option<i128>) -> Cell {
    match (change, of) {
        (Some(change), Some(of)) if of > 0 => Cell::Float(100.0 * change as f64 / of as f64),
        _ => Cell::NotApplicable,
    }
}

/// What is said of a change, by how many values there are in both runs; `None`: too few for a test.
pub(crate) fn verdict(counts: [i128; 2], change: Option<i128>, p: Option<f64>) -> Option<&'static str> {
    Some(match (counts, change, p) {
        ([0, _], ..) => "new",
        ([_, 0], ..) => "gone",
        (_, _, None) => return None,
        (_, Some(1..), Some(p)) if p < SIGNIFICANT => "slower",
        (_, Some(..=-1), Some(p)) if p < SIGNIFICANT => "faster",
        _ => "the same",
    })
}

/// [`verdict`] of requests.
fn verdict_cell(counts: [usize; 2], change: Option<i128>, p: Option<f64>) -> Cell {
    let counts = counts.map(|count| count as i128);
    Cell::text(verdict(counts, change, p).unwrap_or("too few requests"))
}

/// Durations of requests by service, sorted, ns.
fn by_service(run: Run<'_, '_>) -> BTreeMap<ServiceName, Vec<i64>> {
    let mut all: BTreeMap<ServiceName, Vec<i64>> = BTreeMap::new();
    for request in run.requests {
        let Some(service) = &request.service else { continue };
        let (service, who) = match service {
            Served::Address(address) => (format!("port {}", address.port()), request.server),
            Served::Phase(name) => (name.to_string(), request.client),
        };
        let host = who.map(|who| run.cluster.host_name(who.host).to_owned());
        let comm = who.and_then(|who| run.cluster.comm_at(who, request.end)).map(str::to_owned);
        all.entry((service, host, comm)).or_default().push(request.duration());
    }
    for values in all.values_mut() {
        values.sort_unstable();
    }
    all
}

/// What requests spent on each cause, of those that did, ns.
fn by_cause(run: Run<'_, '_>) -> BTreeMap<CauseName, Vec<i64>> {
    let mut all: BTreeMap<CauseName, Vec<i64>> = BTreeMap::new();
    for request in run.requests {
        // Threads of one name are one; of one request each name counts once.
        let mut of_request: BTreeMap<CauseName, i64> = BTreeMap::new();
        for (on, ns) in &request.spent {
            let comm = on.comm.as_ref().map(ToString::to_string);
            let host = run.cluster.host_name(on.host).to_owned();
            *of_request.entry((host, comm, on.cause.name())).or_default() += ns;
        }
        for (name, ns) in of_request {
            all.entry(name).or_default().push(ns);
        }
    }
    all
}
