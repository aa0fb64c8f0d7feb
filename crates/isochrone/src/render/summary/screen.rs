//! The first look: what was recorded, what is missing, how good the clocks are, what was slow, and
//! what to type next, on one screen. For `isochrone overview`.

use std::cmp::Reverse;
use std::io::{self, Write};

use isochrone_analysis::{Cell, Need};
use isochrone_crosshost::{Request, ThreadRef};
use isochrone_experiment::SampledStacks;
use isochrone_time::UnixNs;

use super::{Findings, by_cause, verdict, word};
use crate::output;
use crate::render::figures::{self, duration};
use crate::render::{plain::plain, time};

/// Width of the lines where that of the terminal is unknown, and the greatest that is easy to read.
const WIDTHS: (usize, usize) = (80, 100);
/// Width of the labels on the left.
const LABEL: usize = 11;
/// The label of what to type.
const NEXT: &str = "Next";
/// Most requests and programs that are shown.
const FEW: usize = 3;
/// Most causes of the time of a request that are shown.
const CAUSES: usize = 2;
/// Most hosts, and most complaints about them, that are shown.
const MAX_LINES: usize = 6;

/// What a recording has, in the order of how much depends on it.
const PARTS: [(Need, &str); 9] = [
    (Need::Switches, "switches"),
    (Need::Wakeups, "wake-ups"),
    (Need::Calls, "system calls"),
    (Need::Packets, "packets"),
    (Need::Interrupts, "interrupts"),
    (Need::Disks, "disk requests"),
    (Need::Pages, "memory pages"),
    (Need::PageFaults, "page faults"),
    (Need::Dump, "state dump"),
];

/// Prints it.
pub(crate) fn print(findings: &Findings<'_, '_>, out: &mut impl Write) -> io::Result<()> {
    let width = output::width().unwrap_or(WIDTHS.0).clamp(LABEL + 20, WIDTHS.1);
    let mut screen = Screen { out, width };
    screen.lines("Traces", [format!("{}: {}", plain(&findings.name), verdict::what(findings))])?;
    let (recorded, missing) = parts(findings);
    screen.lines("Recorded", [recorded])?;
    screen.lines("Missing", missing)?;
    screen.lines("Lost", losses(findings))?;
    screen.lines("Clocks", [clocks(findings)])?;
    screen.lines("Bottleneck", bottlenecks(findings))?;
    screen.lines("Requests", requests(findings))?;
    screen.lines("Programs", programs(findings))?;
    screen.lines(NEXT, next(findings))
}

/// Lines with labels on their left.
struct Screen<'o, W> {
    out: &'o mut W,
    width: usize,
}

impl<W: Write> Screen<'_, W> {
    /// Prints some texts under a label; nothing where there are none.
    fn lines(&mut self, label: &str, texts: impl IntoIterator<Item = String>) -> io::Result<()> {
        let (of, mut label) = (label, label);
        for text in texts {
            // Commands are copied: they stay whole.
            let width = if of == NEXT { usize::MAX } else { self.width - LABEL };
            for line in wrapped(&text, width) {
                let space = LABEL - label.len();
                let heading = if label.is_empty() { "".into() } else { output::heading(label) };
                writeln!(self.out, "{heading}{:space$}{line}", "")?;
                label = "";
            }
        }
        Ok(())
    }
}

/// A text in lines: broken at spaces, those after the first farther in.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let is_full = unicode_width::UnicodeWidthStr::width(line.as_str())
            + 1
            + unicode_width::UnicodeWidthStr::width(word)
            > width;
        if is_full && !line.trim().is_empty() {
            lines.push(std::mem::replace(&mut line, format!("  {word}")));
        } else if line.is_empty() && lines.is_empty() {
            line.push_str(word);
        } else {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines.push(line);
    lines
}

/// What all hosts recorded, and what some did not.
fn parts(findings: &Findings<'_, '_>) -> (String, Vec<String>) {
    let lacking: Vec<(&str, Vec<Need>)> =
        findings.hosts.iter().map(|host| (host.name(), host.recorded().lacking())).collect();
    let (mut recorded, mut missing) = (Vec::new(), Vec::new());
    // Calls of which nothing shows whose they are, were recorded.
    let of_nobody = (Need::Callers, "callers of system calls");
    for (need, what) in PARTS.into_iter().chain([of_nobody]) {
        let lacks = |needs: &[Need]| {
            needs.contains(&need) && !(need == Need::Calls && needs.contains(&Need::Callers))
        };
        let names: Vec<String> = lacking
            .iter()
            .filter(|(_, needs)| lacks(needs))
            .map(|(name, _)| plain(name).into_owned())
            .collect();
        match names.len() {
            0 if need == Need::Callers => {}
            0 => recorded.push(what),
            count if count == lacking.len() => missing.push(what.to_owned()),
            _ => missing.push(format!("{what} ({})", figures::listed(&names, MAX_LINES))),
        }
    }
    let programs = findings
        .hosts
        .iter()
        .filter(|host| host.traced.sources().iter().any(|source| !source.is_kernel))
        .count();
    let groups = [
        (!recorded.is_empty()).then(|| recorded.join(", ")),
        (programs > 0).then(|| format!("events of programs on {programs} of {}", lacking.len())),
        has_stacks(findings).then(|| "stacks of calls".to_owned()),
    ];
    let groups: Vec<String> = groups.into_iter().flatten().collect();
    let recorded =
        if groups.is_empty() { "nothing that analyses are made of".to_owned() } else { groups.join("; ") };
    let advice = "; `isochrone info` says how to record it";
    let missing = (!missing.is_empty()).then(|| format!("{}{advice}", missing.join(", ")));
    (recorded, missing.into_iter().collect())
}

fn losses(findings: &Findings<'_, '_>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for host in findings.hosts {
        let name = plain(host.name());
        all.extend(host.traced.notes().into_iter().map(|note| format!("{name}: {note}")));
    }
    let count = all.len();
    if all.is_empty() {
        all.push("nothing that is known".to_owned());
    } else if count > FEW {
        all.truncate(FEW - 1);
        all.push(format!("and {} more; `isochrone info` has all", count - all.len()));
    }
    all
}

fn clocks(findings: &Findings<'_, '_>) -> String {
    match verdict::clocks(findings) {
        Some(sentence) => sentence.trim_start_matches("Clocks: ").to_owned(),
        None if findings.hosts.len() < 2 => "one host".to_owned(),
        None => "each host has its own: times of different hosts cannot be compared".to_owned(),
    }
}

fn bottlenecks(findings: &Findings<'_, '_>) -> Vec<String> {
    let Some(table) = findings.bottleneck.table("verdicts") else { return Vec::new() };
    let column = |name| table.column(name).unwrap_or_default();
    let (host, because, verdict) = (column("host"), column("because"), column("verdict"));
    let text = |row: &Vec<Cell>, column: usize| plain(&word(row.get(column))).into_owned();
    let rows: Vec<Vec<Cell>> = table.rows.iter().collect();
    let of_note = rows.iter().filter(|row| !["nothing", "unknown"].contains(&&*text(row, because)));
    let line = |row: &Vec<Cell>| format!("{}: {}", text(row, host), text(row, verdict));
    let mut lines: Vec<String> = of_note.take(MAX_LINES).map(line).collect();
    let count = |what: &str| rows.iter().filter(|row| text(row, because) == what).count();
    let others = [("nothing", "nothing is saturated"), ("unknown", "see `isochrone bottleneck`")];
    for (what, words) in others {
        let of = count(what);
        if of > 0 {
            lines.push(format!("{of} of {}: {words}", figures::plural(rows.len(), "host")));
        }
    }
    lines
}

fn requests(findings: &Findings<'_, '_>) -> Vec<String> {
    let Some(sentence) = verdict::requests(findings) else { return Vec::new() };
    let mut slowest: Vec<&Request> = findings.requests.iter().collect();
    slowest.sort_by_key(|request| (Reverse(request.duration()), request.number));
    let line = |request: &&Request| {
        let of_thread = |party: Option<ThreadRef>| party.map(|party| thread(findings, party));
        let service = || request.service.as_ref().map(|of| plain(&of.to_string()).into_owned());
        let unknown = || "?".to_owned();
        let client = of_thread(request.client).unwrap_or_else(unknown);
        let server = of_thread(request.server).or_else(service).unwrap_or_else(unknown);
        let mut spent: Vec<(&str, i64)> =
            by_cause(request).into_iter().map(|(cause, ns)| (cause.name(), ns)).collect();
        spent.sort_by_key(|&(name, ns)| (Reverse(ns), name));
        let spent: Vec<String> =
            spent.iter().take(CAUSES).map(|&(name, ns)| format!("{name} {}", duration(ns))).collect();
        let (number, took) = (request.number, duration(request.duration()));
        let at = when(findings, request.start);
        format!("#{number} {took} at {at}, {client} -> {server}: {}", spent.join(", "))
    };
    std::iter::once(sentence).chain(slowest.iter().take(FEW).map(line)).collect()
}

/// A time, with its date where there are several.
fn when(findings: &Findings<'_, '_>, at: UnixNs) -> String {
    let full = time::full(at);
    let dates =
        findings.range.map(|range| range.map(|at| time::full(at).split(' ').next().map(str::to_owned)));
    match full.split_once(' ') {
        Some((_, of_day)) if dates.is_some_and(|[first, last]| first == last) => of_day.to_owned(),
        _ => full,
    }
}

/// Whether events have stacks of calls.
fn has_stacks(findings: &Findings<'_, '_>) -> bool {
    let mut traces = findings.hosts.iter().flat_map(|host| host.traced.traces());
    traces.any(|trace| SampledStacks::recorded(trace).contains(&true))
}

/// `wget 263 on h1`.
fn thread(findings: &Findings<'_, '_>, party: ThreadRef) -> String {
    let cluster = findings.cluster;
    let comm = cluster.comm(party).unwrap_or("?");
    let tid = cluster.tid(party).map_or("?".to_owned(), |tid| tid.to_string());
    format!("{} {tid} on {}", plain(comm), plain(cluster.host_name(party.host)))
}

/// The programs that used most CPU time, without the tracer's own.
fn programs(findings: &Findings<'_, '_>) -> Vec<String> {
    let Some(table) = findings.table("cputop", "processes") else { return Vec::new() };
    let column = |name| table.column(name).unwrap_or_default();
    let [host, tid, comm, cpu, percent] = ["host", "tid", "comm", "cpu_ns", "percent"].map(column);
    let is_tracer = |row: &Vec<Cell>| word(row.get(comm)).starts_with("lttng");
    let line = |row: Vec<Cell>| {
        let number = |column: usize| row.get(column).map_or(0.0, Cell::as_f64);
        let of_host = word(row.get(host));
        let is_partial =
            findings.hosts.iter().any(|host| host.name() == of_host && !host.traced.notes().is_empty());
        format!(
            "{} ({}) on {}: {}{}, {:.1} % of its CPUs",
            plain(&word(row.get(comm))),
            word(row.get(tid)),
            plain(&of_host),
            if is_partial { "≥ " } else { "" },
            duration(number(cpu) as i64),
            number(percent)
        )
    };
    table.rows.iter().filter(|row| !is_tracer(row)).take(FEW).map(line).collect()
}

/// What to type next.
fn next(findings: &Findings<'_, '_>) -> Vec<String> {
    let of = |command: &str| findings.command.of(command);
    let mut lines = vec![of("view")];
    if let Some(slowest) = &findings.slowest {
        lines.push(of(&format!("critical-path --request {}", slowest.number)));
    }
    lines.push(of("summary -o summary.html"));
    lines.push(of("analyze cputop"));
    if has_stacks(findings) {
        lines.push(of("flame -o flame.svg"));
    }
    lines
}
