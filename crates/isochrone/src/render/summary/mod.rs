//! The page of `isochrone summary`: what was found of an experiment as values for [`isochrone_export::html`], in the order in which it is read.
//! The sentences at its top are in [`verdict`], figures over time in [`over_time`], requests in [`slow`].

mod over_time;
mod slow;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};

use isochrone_analysis::{Cell, Report, Table};
use isochrone_crosshost::{Cause, Cluster, Request};
use isochrone_experiment::TimedHost;
use isochrone_export::html::{Part, Section, SummaryPage, Synchronization};
use isochrone_server::CommandLine;

use super::info::coverage::{self, HostInfo};
use super::{PROGRAM, figures, tables};

/// Rows of a table.
pub(crate) const ROWS: usize = 10;
/// Rows of each of several tables of one kind.
const FEW_ROWS: usize = 5;
/// Hosts whose missing times are shown, most.
const MOST_INCOMPLETE: usize = 12;

/// What was found.
pub(crate) struct Found<'f, 'o> {
    /// What people call the traces.
    pub(crate) name: String,
    /// How they were named on the command line.
    pub(crate) command: CommandLine,
    /// What is looked at, Unix ns; nothing where there are no events.
    pub(crate) range: Option<(i128, i128)>,
    /// The hosts.
    pub(crate) hosts: &'f [&'f TimedHost<'o>],
    /// Events that were read.
    pub(crate) events: u64,
    /// Reports of analyses.
    pub(crate) reports: Vec<Report>,
    /// The hosts as requests are followed across them.
    pub(crate) cluster: &'f Cluster<'o>,
    /// All requests.
    pub(crate) requests: Vec<Request>,
    /// The slowest of them, with its path.
    pub(crate) slowest: Option<Request>,
    /// The reports `critical-path` and `messages`.
    pub(crate) critical_path: Report,
    pub(crate) messages: Report,
    /// How the clocks were put on one.
    pub(crate) synchronization: Option<Synchronization>,
}

/// The page.
pub(crate) fn page(found: Found<'_, '_>) -> SummaryPage {
    let mut sections = vec![cpus(&found), disks(&found), network(&found), memory(&found)];
    sections.extend([slow::section(&found), calls(&found), waits(&found)]);
    let verdict = verdict::sentences(&found);
    let missing = missing(&found);
    if let Some(synchronization) = found.synchronization {
        let parts = vec![Part::Synchronization(Box::new(synchronization))];
        sections.push(Section {
            heading: "Synchronization".to_owned(),
            command: found.command.of("sync"),
            parts,
        });
    }
    sections.push(missing);
    sections.retain(|section| !section.parts.is_empty());
    SummaryPage { title: found.name, program: PROGRAM.to_owned(), verdict, sections }
}

impl Found<'_, '_> {
    /// A table of an analysis.
    fn table(&self, analysis: &str, name: &str) -> Option<&Table> {
        let report = self.reports.iter().find(|report| report.analysis == analysis)?;
        report.table(name).filter(|table| !table.rows.is_empty())
    }

    /// A table of an analysis, by another column, for the page; nothing without rows.
    fn part(&self, analysis: &str, name: &str, sort: Option<&str>, rows: usize) -> Option<Part> {
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
        parts: impl IntoIterator<Item = Option<Part>>,
    ) -> Section {
        Section {
            heading: heading.to_owned(),
            command: self.command.of(command),
            parts: parts.into_iter().flatten().collect(),
        }
    }
}

/// A name in a table.
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
fn part(table: &Table, rows: usize) -> Part {
    let shown = tables::for_page(table, rows);
    let all = table.of.unwrap_or(table.rows.len() as u64);
    let title = match all > shown.rows.len() as u64 {
        true => format!("{}: {} of {}", table.title, shown.rows.len(), figures::count(all)),
        false => table.title.to_owned(),
    };
    Part::Table(title, shown)
}

fn cpus(found: &Found<'_, '_>) -> Section {
    let parts = [
        over_time::cpus(found),
        found.part("cputop", "total", None, ROWS),
        found.part("cputop", "processes", None, ROWS),
    ];
    found.section("CPUs", "analyze usage,cputop --by-process", parts)
}

fn disks(found: &Found<'_, '_>) -> Section {
    let parts = [
        over_time::disks(found),
        found.part("iousagetop", "disks", None, ROWS),
        found.part("iousagetop", "blocks", None, ROWS),
        found.part("iousagetop", "files", None, ROWS),
    ];
    found.section("Disks and files", "analyze usage,iousagetop --by-process", parts)
}

fn network(found: &Found<'_, '_>) -> Section {
    let links = found.messages.table("links").filter(|table| !table.rows.is_empty());
    let parts = [
        over_time::network(found),
        found.part("iousagetop", "interfaces", None, ROWS),
        links.map(|table| part(table, ROWS)),
    ];
    found.section("Network", "messages", parts)
}

fn memory(found: &Found<'_, '_>) -> Section {
    let parts = [
        over_time::memory(found),
        found.part("memtop", "total", None, ROWS),
        found.part("memtop", "processes", None, ROWS),
    ];
    found.section("Memory", "analyze usage,memtop --by-process", parts)
}

fn calls(found: &Found<'_, '_>) -> Section {
    let longest = ["read", "write", "transfer", "sync", "open"]
        .into_iter()
        .map(|table| found.part("iolatencytop", table, None, FEW_ROWS));
    let parts = std::iter::once(found.part("syscallstats", "names", None, ROWS)).chain(longest);
    found.section("System calls", "analyze syscallstats,iolatencytop", parts)
}

fn waits(found: &Found<'_, '_>) -> Section {
    let parts = [
        found.part("schedstats", "total", None, ROWS),
        found.part("schedstats", "threads", Some("total_ns"), ROWS),
        found.part("irqstats", "hosts", None, ROWS),
    ];
    found.section("Waits for a CPU, and interrupts", "analyze schedstats,irqstats", parts)
}

/// What the traces lack, and what they do not have because it was not recorded.
fn missing(found: &Found<'_, '_>) -> Section {
    let infos: Vec<HostInfo> = found.hosts.iter().map(|host| HostInfo::new(host)).collect();
    let incomplete: Vec<&HostInfo> = infos.iter().filter(|info| !info.notes.is_empty()).collect();
    let mut lines: Vec<String> = Vec::new();
    for info in &incomplete {
        lines.extend(info.notes.iter().map(|note| format!("{}: {note}", info.host)));
    }
    let duration = |ns| figures::duration(i64::try_from(ns).unwrap_or(i64::MAX));
    let reports = found.reports.iter().chain([&found.critical_path, &found.messages]);
    let notes: BTreeSet<String> =
        reports.flat_map(|report| &report.notes).map(|note| note.shown(duration)).collect();
    lines.extend(notes);
    let mut parts = Vec::new();
    if incomplete.is_empty() {
        parts.push(Part::Text("No event of these hosts is known to be lost.".to_owned()));
    }
    if !lines.is_empty() {
        parts.push(Part::List(lines));
    }
    let shown = incomplete.iter().take(MOST_INCOMPLETE);
    parts.extend(shown.map(|info| {
        Part::Table(format!("Recorded time of {}", info.host), coverage::table(info).0.into_page())
    }));
    Section { heading: "What is missing".to_owned(), command: found.command.of("info"), parts }
}
