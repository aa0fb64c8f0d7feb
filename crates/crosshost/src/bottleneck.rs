//! The report `bottleneck`: what each resource of a host did (utilization, saturation, errors), and which of
//! them is the bottleneck. The sentences are in `verdict.rs`.

use isochrone_analysis::{Cell, Report, Steps, Table, Unit, VERSION};
use isochrone_store::StoreError;
use isochrone_time::{RawNs, UnixNs, Window};
use rayon::prelude::*;

use crate::cluster::Cluster;
use crate::disjoint::Disjoint;
use crate::host::Host;
use crate::request::Request;
use crate::resources::{
    Frame, Integral, Kind, Measure, Resource, Waited, cpu_and_reclaim, length, resources,
};
use crate::verdict::{OfRequests, Seen, verdict};
use crate::waits::{Wait, waits};

/// The tables `verdicts` (a line for each host: its bottleneck), `resources` (what each resource of each host
/// did) and `steps` (the same over time, in steps of `every` ns on the requested clock). `window`: Unix ns;
/// `None`: all. `requests`: those in it whose times tell what they waited for. Linear in the spans of the
/// window and after it, where waits end that began in it; they are read part by part.
///
/// # Errors
/// The store cannot be read.
pub fn bottleneck(
    cluster: &Cluster<'_>,
    window: Option<Window<UnixNs>>,
    requests: &[Request],
    every: u64,
    is_synchronized: bool,
) -> Result<Report, StoreError> {
    let whole = cluster.window(window);
    let hosts = &cluster.hosts;
    let frames = (0..hosts.len()).map(|index| frame(cluster, index, whole, requests, every));
    let frames = frames.collect::<Result<Vec<Frame>, StoreError>>()?;
    let mut waited: Vec<Waited> = frames.iter().map(|_| Waited::default()).collect();
    let until = cluster.range().map_or(whole.end, |range| range.end.max(whole.end));
    let add = |wait: &Wait| {
        let index = wait.who.host;
        waited[index].add(&hosts[index], &frames[index], wait);
    };
    let (found, of_cpus) = rayon::join(
        || waits(cluster, Window::new(whole.start, until), |_| true, add),
        || {
            let of_hosts = hosts.par_iter().zip(&frames);
            let of_cpus = of_hosts.map(|(host, frame)| cpu_and_reclaim(cluster, host, frame));
            of_cpus.collect::<Result<Vec<_>, StoreError>>()
        },
    );
    found?;
    let [mut verdicts, mut table, mut steps] = [verdict_table(), resource_table(), step_table()];
    for (index, ((frame, waited), of_cpus)) in frames.into_iter().zip(waited).zip(of_cpus?).enumerate() {
        let host = &hosts[index];
        let of_requests = OfRequests::of(requests, index);
        let all = resources(host, &frame, of_cpus, waited)?;
        let name = || cluster.host_cell(Some(index));
        let found = verdict(&Seen { host, frame: &frame, resources: &all, requests: &of_requests });
        verdicts.row(vec![
            name(),
            found.kind.map_or(Cell::NotApplicable, |kind| Cell::text(kind.name())),
            found.name.map_or(Cell::NotApplicable, Cell::text),
            Cell::text(found.because),
            Cell::text(&found.sentence),
        ]);
        for (at, resource) in all.iter().enumerate() {
            // Which disk a request waited for is not known: the time of all disks stands once.
            let is_first = at == 0 || all[at - 1].kind != resource.kind;
            let spent = of_requests.spent_on(resource.kind).filter(|_| is_first);
            table.row([vec![name()], row(resource, &frame, spent)].concat());
            step_rows(name, host, resource, &frame, &mut steps);
        }
    }
    Ok(Report {
        analysis: "bottleneck",
        version: VERSION,
        sync: is_synchronized,
        range: Some([whole.start, whole.end]),
        tables: vec![verdicts, table, steps],
        notes: Vec::new(),
    })
}

/// The times of a host in a window of the requested clock.
fn frame(
    cluster: &Cluster<'_>,
    index: usize,
    whole: Window<UnixNs>,
    requests: &[Request],
    every: u64,
) -> Result<Frame, StoreError> {
    let host = &cluster.hosts[index];
    let window = Window::new(host.raw(whole.start), host.raw(whole.end)).clip(host.range);
    let every_ns = i128::from(every.max(1));
    let first = host.common(window.start).0.div_euclid(every_ns);
    let count = (host.common(window.end).0 - first * every_ns).div_euclid(every_ns).max(0) + 1;
    let edges = (0..=count).map(|step| host.raw(UnixNs((first + step) * every_ns))).collect();
    let mut in_use = Disjoint::default();
    for request in requests.iter().filter(|it| it.spent.iter().any(|(on, _)| on.host == index)) {
        let time = Window::new(host.raw(request.start), host.raw(request.end)).clip(window);
        in_use.add(time.start, time.end);
    }
    let missed = host.store.missed()?;
    let missed = missed.iter().map(|(start, end)| Window::new(start, end).clip(window));
    Ok(Frame {
        window,
        steps: Steps { every_ns: every, edges },
        in_use: in_use.united(),
        missed: missed.filter(|time| !time.is_empty()).collect(),
    })
}

fn verdict_table() -> Table {
    let table = Table::new("verdicts", "The bottleneck of each host", &[]);
    table.with_columns(Unit::None, &["host", "resource", "of", "because", "verdict"])
}

const NS: [&str; 6] = ["busy_ns", "wait_ns", "waited_ns", "queued_ns", "unknown_ns", "requests_ns"];

fn resource_table() -> Table {
    Table::new("resources", "What resources did", &[])
        .with_columns(Unit::None, &["host", "resource", "of"])
        .with_columns(Unit::Ns, &NS[..1])
        .with_columns(Unit::Percent, &["busy_percent"])
        .with_columns(Unit::Ns, &NS[1..3])
        .with_columns(Unit::Percent, &["waited_percent"])
        .with_columns(Unit::Ns, &NS[3..4])
        .with_columns(Unit::None, &["mean_queue"])
        .with_columns(Unit::Count, &["errors"])
        .with_columns(Unit::Ns, &NS[4..])
}

fn step_table() -> Table {
    Table::new("steps", "Resources over time", &[])
        .with_columns(Unit::None, &["host", "resource", "of"])
        .with_columns(Unit::Time, &["begin_ns", "end_ns"])
        .with_columns(Unit::Ns, &NS[..1])
        .with_columns(Unit::Percent, &["busy_percent"])
        .with_columns(Unit::Ns, &NS[1..5])
        .detail()
}

/// The part of a measure as a cell.
fn cell(measure: &Measure, part: impl Fn(&Integral) -> u64) -> Cell {
    match measure {
        Measure::Known(integral) => part(integral).into(),
        Measure::Unknown => Cell::Unknown,
        Measure::NotApplicable => Cell::NotApplicable,
    }
}

/// A share of a time, of a measure whose cell is known.
fn share(of: &Cell, whole: u64) -> Cell {
    match of {
        Cell::Int(ns) => (*ns as f64 * 100.0 / whole as f64).into(),
        other => other.clone(),
    }
}

/// The columns of `resources` after the host.
fn row(resource: &Resource, frame: &Frame, requests: Option<u64>) -> Vec<Cell> {
    let time = length(frame.window);
    let whole = |integral: &Integral| integral.whole;
    let [busy, wait, waited, queued] =
        [&resource.busy, &resource.wait, &resource.waited, &resource.queue].map(|it| cell(it, whole));
    let mean = match &resource.queue {
        Measure::Known(queue) => (queue.whole as f64 / time as f64).into(),
        other => cell(other, whole),
    };
    vec![
        Cell::text(resource.kind.name()),
        name(resource),
        busy.clone(),
        share(&busy, time.saturating_mul(resource.units)),
        wait,
        waited.clone(),
        share(&waited, time),
        queued,
        mean,
        errors(resource),
        resource.unknown.whole.into(),
        requests.map_or(Cell::NotApplicable, Cell::from),
    ]
}

fn name(resource: &Resource) -> Cell {
    match (&resource.name, resource.kind) {
        (Some(name), _) => Cell::text(name),
        (None, Kind::Disk | Kind::Network) => Cell::Unknown,
        (None, _) => Cell::NotApplicable,
    }
}

fn errors(resource: &Resource) -> Cell {
    match (resource.errors, resource.kind) {
        (Some(errors), _) => errors.into(),
        (None, Kind::Cpu | Kind::Locks) => Cell::NotApplicable,
        (None, _) => Cell::Unknown,
    }
}

/// The rows of a resource in `steps`.
fn step_rows(name_of: impl Fn() -> Cell, host: &Host<'_>, of: &Resource, frame: &Frame, table: &mut Table) {
    for step in 0..frame.steps.count() {
        let edges = &frame.steps.edges[step as usize..];
        let part = Window::new(edges[0], edges[1]).clip(frame.window);
        if part.is_empty() {
            continue;
        }
        let ns = |integral: &Integral| integral.steps.get(&step).copied().unwrap_or_default();
        let [busy, wait, waited, queued] = [&of.busy, &of.wait, &of.waited, &of.queue].map(|it| cell(it, ns));
        let times = frame.steps.instants(step, |raw: RawNs| host.common(raw));
        table.row(vec![
            name_of(),
            Cell::text(of.kind.name()),
            name(of),
            times.start.ns().into(),
            times.end.ns().into(),
            busy.clone(),
            share(&busy, length(part).saturating_mul(of.units)),
            wait,
            waited,
            queued,
            ns(&of.unknown).into(),
        ]);
    }
}
