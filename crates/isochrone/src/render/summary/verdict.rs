//! The most important findings, in a few sentences.

use isochrone_analysis::{Table, nearest_rank};
use isochrone_crosshost::Request;

use super::{Findings, by_cause, word};
use crate::render::{figures, time};

/// Maximum number of hosts that a sentence names; the rest is counted.
const MAX_HOSTS: usize = 6;

/// The sentences, in the order of the sections.
pub(super) fn sentences(findings: &Findings<'_, '_>) -> Vec<String> {
    let all = [
        Some(what(findings)),
        cpus(findings),
        disks(findings),
        network(findings),
        requests(findings),
        clocks(findings),
        losses(findings),
    ];
    all.into_iter().flatten().collect()
}

pub(super) fn what(findings: &Findings<'_, '_>) -> String {
    let hosts = figures::plural(findings.hosts.len(), "host");
    let events = figures::plural(findings.events, "event");
    match findings.range {
        None => format!("{hosts}, {events}."),
        Some([begin, end]) => {
            let (length, start) = (figures::span(end - begin), time::full(begin));
            format!("{hosts}, {events} in {length} from {start} {} on.", time::zone_name())
        }
    }
}

/// The number in a row and a column of a table.
fn figure(table: &Table, row: usize, column: &str) -> f64 {
    let cell = table.column(column).and_then(|column| table.rows.cell(row, column));
    cell.map_or(0.0, |cell| cell.as_f64())
}

fn text(table: &Table, row: usize, column: &str) -> String {
    word(table.column(column).and_then(|column| table.rows.cell(row, column)).as_ref())
}

fn sum(table: &Table, column: &str) -> f64 {
    (0..table.rows.len()).map(|row| figure(table, row, column)).sum()
}

/// The process of a row: `appsrv (218) on h2`.
fn who(table: &Table, row: usize) -> String {
    format!("{} ({}) on {}", text(table, row, "comm"), text(table, row, "tid"), text(table, row, "host"))
}

fn cpus(findings: &Findings<'_, '_>) -> Option<String> {
    let total = findings.table("cputop", "total")?;
    let mut busiest: Vec<(f64, String)> =
        (0..total.rows.len()).map(|row| (figure(total, row, "percent"), text(total, row, "host"))).collect();
    busiest.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let hosts: Vec<String> = busiest.iter().map(|(percent, host)| format!("{host} {percent:.1} %")).collect();
    let most = findings.table("cputop", "processes").map_or(String::new(), |table| {
        let ns = figure(table, 0, "cpu_ns") as i64;
        format!("; most was used by {}, {}", who(table, 0), figures::duration(ns))
    });
    Some(format!("CPUs were busy: {}{most}.", figures::listed(&hosts, MAX_HOSTS)))
}

fn disks(findings: &Findings<'_, '_>) -> Option<String> {
    let disks = findings.table("iousagetop", "disks")?;
    let [read, written] = ["read_bytes", "written_bytes"].map(|column| figures::bytes(sum(disks, column)));
    let most = findings.table("iousagetop", "blocks").map_or(String::new(), |table| {
        let bytes = figure(table, 0, "read_bytes") + figure(table, 0, "written_bytes");
        format!("; most by {}, {}", who(table, 0), figures::bytes(bytes))
    });
    Some(format!("Disks: {read} read, {written} written{most}."))
}

fn network(findings: &Findings<'_, '_>) -> Option<String> {
    let interfaces = findings.table("iousagetop", "interfaces")?;
    let [received, sent] =
        ["received_bytes", "sent_bytes"].map(|column| figures::bytes(sum(interfaces, column)));
    Some(format!("Network: {received} received, {sent} sent."))
}

pub(super) fn requests(findings: &Findings<'_, '_>) -> Option<String> {
    let slowest = findings.slowest.as_ref()?;
    let mut values: Vec<i64> = findings.requests.iter().map(Request::duration).collect();
    values.sort_unstable();
    let median = nearest_rank(&values, 50).copied().unwrap_or_default();
    let sums = by_cause(slowest);
    // Of causes with the same time, the last by name.
    let most = sums.iter().max_by_key(|(cause, ns)| (**ns, cause.name()));
    let most = most.map_or(String::new(), |(cause, ns)| {
        format!(", most of it for {} ({})", cause.name(), figures::duration(*ns))
    });
    Some(format!(
        "{}: median {}; the slowest, number {}, took {}{most}.",
        figures::plural(findings.requests.len(), "request"),
        figures::duration(median),
        slowest.number,
        figures::duration(slowest.duration())
    ))
}

pub(super) fn clocks(findings: &Findings<'_, '_>) -> Option<String> {
    let synchronization = findings.synchronization.as_ref()?;
    let lines: Vec<&str> = synchronization.verdict.first()?.lines().map(str::trim).collect();
    Some(format!("Clocks: {}.", lines.join(", ").trim_end_matches('.')))
}

fn losses(findings: &Findings<'_, '_>) -> Option<String> {
    let lacking: Vec<String> = findings
        .hosts
        .iter()
        .filter(|host| !host.traced.notes().is_empty())
        .map(|host| host.name().to_owned())
        .collect();
    let all = || figures::listed(&lacking, MAX_HOSTS);
    (!lacking.is_empty()).then(|| format!("Something is missing of {}: see below.", all()))
}
