//! The page of `isochrone summary`: findings about an experiment as values for [`isochrone_export::html`], in
//! the order of reading. The sentences at its top are in [`verdict`], values over time in [`over_time`],
//! processes and disks in [`pictures`], requests in [`slow`]; the most important of it is on a [`screen`].

mod over_time;
mod pictures;
pub(crate) mod screen;
mod slow;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};

use isochrone_analysis::{Cell, Report, Table};
use isochrone_crosshost::{Cause, Cluster, DiskAccesses, Lives, Request};
use isochrone_export::html::{Block, Section, SummaryPage, Synchronization};
use isochrone_server::CommandLine;
use isochrone_time::UnixNs;
use isochrone_timing::TimedHost;

use super::info::coverage::{self, HostInfo};
use super::{PROGRAM, figures, tables};

/// Maximum number of rows of a table.
pub(crate) const ROWS: usize = 10;
/// Maximum number of rows of each of several tables of one kind.
const FEW_ROWS: usize = 5;
/// Maximum number of rows of resources.
const RESOURCES: usize = 40;
/// Maximum number of hosts whose missing times are shown.
const MAX_INCOMPLETE: usize = 12;

/// Findings.
pub(crate) struct Findings<'f, 'o> {
    /// Name of the traces.
    pub(crate) name: String,
    /// The traces on the command line.
    pub(crate) command: CommandLine,
    /// The time range, Unix ns; `None`: no events.
    pub(crate) range: Option<[UnixNs; 2]>,
    /// The hosts.
    pub(crate) hosts: &'f [&'f TimedHost<'o>],
    /// Number of events.
    pub(crate) events: u64,
    /// Reports of analyses.
    pub(crate) reports: Vec<Report>,
    /// The hosts as requests are followed across them.
    pub(crate) cluster: &'f Cluster<'o>,
    /// All requests.
    pub(crate) requests: Vec<Request>,
    /// The slowest of them, with its path.
    pub(crate) slowest: Option<Request>,
    /// The processes that used the CPUs most.
    pub(crate) lives: Lives,
    /// Requests to each disk, those of disks with the most requests first.
    pub(crate) accesses: Vec<DiskAccesses>,
    /// The reports `bottleneck`, `critical-path` and `messages`.
    pub(crate) bottleneck: Report,
    pub(crate) critical_path: Report,
    pub(crate) messages: Report,
    /// The report of the synchronization.
    pub(crate) synchronization: Option<Synchronization>,
}

/// The page.
pub(crate) fn page(findings: Findings<'_, '_>) -> SummaryPage {
    let mut sections = vec![
        bottlenecks(&findings),
        cpus(&findings),
        disks(&findings),
        network(&findings),
        memory(&findings),
    ];
    sections.extend([slow::section(&findings), calls(&findings), waits(&findings)]);
    let verdict = verdict::sentences(&findings);
    let missing = missing(&findings);
    if let Some(synchronization) = findings.synchronization {
        let blocks = vec![Block::Synchronization(Box::new(synchronization))];
        sections.push(Section {
            heading: "Synchronization".to_owned(),
            command: findings.command.of("sync"),
            blocks,
        });
    }
    sections.push(missing);
    sections.retain(|section| !section.blocks.is_empty());
    SummaryPage { title: findings.name, program: PROGRAM.to_owned(), verdict, sections }
}

impl Findings<'_, '_> {
    /// A table of an analysis.
    fn table(&self, analysis: &str, name: &str) -> Option<&Table> {
        let report = self.reports.iter().find(|report| report.analysis == analysis)?;
        report.table(name).filter(|table| !table.rows.is_empty())
    }

    /// A table of an analysis for the page, sorted by a column; `None` without rows.
    fn part(&self, analysis: &str, name: &str, sort: Option<&str>, rows: usize) -> Option<Block> {
        let mut table = self.table(analysis, name)?.clone();
        if let Some(sort) = sort {
            table.sort(sort);
        }
        Some(part(&table, rows))
    }

    fn section(
        &self,
        heading: &str,
        command: &str,
        blocks: impl IntoIterator<Item = Option<Block>>,
    ) -> Section {
        Section {
            heading: heading.to_owned(),
            command: self.command.of(command),
            blocks: blocks.into_iter().flatten().collect(),
        }
    }
}

/// The text of a name in a table.
fn word(cell: Option<&Cell>) -> String {
    match cell {
        Some(Cell::Text(text)) => text.to_string(),
        Some(Cell::Int(number)) => number.to_string(),
        _ => "?".to_owned(),
    }
}

/// What a request spent its time on, by cause, ns.
fn by_cause(request: &Request) -> BTreeMap<Cause, i64> {
    let mut sums: BTreeMap<Cause, i64> = BTreeMap::new();
    for (on, ns) in &request.spent {
        *sums.entry(on.cause).or_default() += ns;
    }
    sums
}

/// A table under its own title.
fn part(table: &Table, rows: usize) -> Block {
    let shown = tables::for_page(table, rows);
    let all = table.total_rows.unwrap_or(table.rows.len() as u64);
    let title = match all > shown.rows.len() as u64 {
        true => format!("{}: {} of {}", table.title, shown.rows.len(), figures::count(all)),
        false => table.title.to_owned(),
    };
    Block::Table(title, shown)
}

/// A line for each host, and what each of its resources did.
fn bottlenecks(findings: &Findings<'_, '_>) -> Section {
    let table = |name| findings.bottleneck.table(name).filter(|table| !table.rows.is_empty());
    let lines = table("verdicts").map(|verdicts| {
        let column = |name| verdicts.column(name).unwrap_or_default();
        let (host, verdict) = (column("host"), column("verdict"));
        let line = |row: Vec<Cell>| format!("{}: {}", word(row.get(host)), word(row.get(verdict)));
        Block::List(verdicts.rows.iter().map(line).collect())
    });
    findings.section(
        "Bottlenecks",
        "bottleneck",
        [lines, table("resources").map(|table| part(table, RESOURCES))],
    )
}

fn cpus(findings: &Findings<'_, '_>) -> Section {
    let parts = [
        over_time::cpus(findings),
        pictures::lives(findings),
        findings.part("cputop", "total", None, ROWS),
        findings.part("cputop", "processes", None, ROWS),
    ];
    findings.section("CPUs", "analyze usage,cputop --by-process", parts)
}

fn disks(findings: &Findings<'_, '_>) -> Section {
    let accesses = pictures::accesses(findings).into_iter().map(Some);
    let parts = [
        findings.part("iousagetop", "disks", None, ROWS),
        findings.part("iousagetop", "blocks", None, ROWS),
        findings.part("iousagetop", "files", None, ROWS),
    ];
    let parts = std::iter::once(over_time::disks(findings)).chain(accesses).chain(parts);
    findings.section("Disks and files", "analyze usage,iousagetop --by-process", parts)
}

fn network(findings: &Findings<'_, '_>) -> Section {
    let links = findings.messages.table("links").filter(|table| !table.rows.is_empty());
    let parts = [
        over_time::network(findings),
        findings.part("iousagetop", "interfaces", None, ROWS),
        links.map(|table| part(table, ROWS)),
    ];
    findings.section("Network", "messages", parts)
}

fn memory(findings: &Findings<'_, '_>) -> Section {
    let parts = [
        over_time::memory(findings),
        findings.part("memtop", "total", None, ROWS),
        findings.part("memtop", "processes", None, ROWS),
    ];
    findings.section("Memory", "analyze usage,memtop --by-process", parts)
}

fn calls(findings: &Findings<'_, '_>) -> Section {
    let longest = ["read", "write", "transfer", "sync", "open"]
        .into_iter()
        .map(|table| findings.part("iolatencytop", table, None, FEW_ROWS));
    let parts = std::iter::once(findings.part("syscallstats", "names", None, ROWS)).chain(longest);
    findings.section("System calls", "analyze syscallstats,iolatencytop", parts)
}

fn waits(findings: &Findings<'_, '_>) -> Section {
    let parts = [
        findings.part("schedstats", "total", None, ROWS),
        findings.part("schedstats", "threads", Some("total_ns"), ROWS),
        findings.part("irqstats", "hosts", None, ROWS),
    ];
    findings.section("Waits for a CPU, and interrupts", "analyze schedstats,irqstats", parts)
}

/// Losses of the traces, and what was not recorded.
fn missing(findings: &Findings<'_, '_>) -> Section {
    let infos: Vec<HostInfo> = findings.hosts.iter().map(|host| HostInfo::new(host)).collect();
    let incomplete: Vec<&HostInfo> = infos.iter().filter(|info| !info.notes.is_empty()).collect();
    let mut lines: Vec<String> = Vec::new();
    for info in &incomplete {
        lines.extend(info.notes.iter().map(|note| format!("{}: {note}", info.host)));
    }
    let reports = findings.reports.iter().chain([&findings.critical_path, &findings.messages]);
    let notes: BTreeSet<String> = reports
        .flat_map(|report| &report.notes)
        .map(|note| note.shown(|ns| figures::span(ns.into())))
        .collect();
    lines.extend(notes);
    let mut blocks = Vec::new();
    if incomplete.is_empty() {
        blocks.push(Block::Text("No event of these hosts is known to be lost.".to_owned()));
    }
    if !lines.is_empty() {
        blocks.push(Block::List(lines));
    }
    let shown = incomplete.iter().take(MAX_INCOMPLETE);
    blocks.extend(shown.map(|info| {
        Block::Table(format!("Recorded time of {}", info.host), coverage::table(info).0.into_page())
    }));
    Section { heading: "What is missing".to_owned(), command: findings.command.of("info"), blocks }
}
