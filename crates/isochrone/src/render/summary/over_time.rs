//! Values over time: strips made of the tables of `usage`.

use isochrone_analysis::{Cell, Table};
use isochrone_export::html::{Block, Step, Strip};
use isochrone_time::{SinceOrigin, UnixNs, Window};

use super::{Findings, word};
use crate::render::{figures, time};

/// CPU usage of each host.
pub(super) fn cpus(findings: &Findings<'_, '_>) -> Option<Block> {
    let table = findings.table("usage", "host")?;
    let of_host = |(name, rows): (String, Vec<Row<'_>>)| {
        let sums =
            rows.iter().map(|row| [row.figure("cpu_ns"), row.figure("idle_ns"), row.figure("unknown_ns")]);
        let [busy, idle, unknown] =
            sums.clone().fold([0.0; 3], |all, one| [0, 1, 2].map(|at| all[at] + one[at]));
        let whole = busy + idle + unknown;
        if whole <= 0.0 {
            return None;
        }
        let percent = |[busy, idle, unknown]: [f64; 3]| {
            let whole = (busy + idle + unknown).max(1.0);
            (100.0 * busy / whole, 100.0 * unknown / whole)
        };
        let steps: Vec<Step> =
            rows.iter().zip(sums).map(|(row, sums)| row.step(findings, percent(sums))).collect();
        let most = steps.iter().map(|step| step.value).fold(0.0, f64::max);
        let caption = format!("{:.1} %, at most {most:.0} %", 100.0 * busy / whole);
        Some(Strip { name, caption, kind: "busy", top: 100.0, steps })
    };
    let strips = groups(table, &["host"]).into_iter().filter_map(of_host).collect();
    strips_of(findings, strips, "CPU usage: the height is all CPUs of the host; grey is unknown.")
}

/// Bytes of each disk.
pub(super) fn disks(findings: &Findings<'_, '_>) -> Option<Block> {
    let ways = [("read", "read_bytes"), ("written", "written_bytes")];
    let strips = rates(findings, "disks", "disk", ways, "disk");
    strips_of(findings, strips, "Bytes by time: the height of each strip is its greatest value.")
}

/// Bytes of each interface.
pub(super) fn network(findings: &Findings<'_, '_>) -> Option<Block> {
    let ways = [("received", "received_bytes"), ("sent", "sent_bytes")];
    let strips = rates(findings, "interfaces", "interface", ways, "network");
    strips_of(findings, strips, "Bytes by time: the height of each strip is its greatest value.")
}

/// Pages that were allocated on each host.
pub(super) fn memory(findings: &Findings<'_, '_>) -> Option<Block> {
    let of_host = |(name, rows): (String, Vec<Row<'_>>)| {
        let sum: f64 = rows.iter().map(|row| row.figure("allocated_pages")).sum();
        let caption = format!("{} pages", figures::count(sum as u64));
        let steps = rows.iter().map(|row| row.step(findings, (row.figure("allocated_pages"), 0.0))).collect();
        (sum > 0.0).then_some(Strip { name, caption, kind: "memory", top: 0.0, steps })
    };
    let strips =
        groups(findings.table("usage", "host")?, &["host"]).into_iter().filter_map(of_host).collect();
    strips_of(findings, strips, "Pages that were allocated, by time.")
}

fn strips_of(findings: &Findings<'_, '_>, strips: Vec<Strip>, caption: &str) -> Option<Block> {
    let [begin, _] = findings.range?;
    let caption = format!("{caption} Times are since {} {}.", time::full(begin), time::zone_name());
    (!strips.is_empty()).then_some(Block::Strips(strips, caption))
}

/// Strips of bytes: of each thing of a table one for each way in which some passed.
fn rates(
    findings: &Findings<'_, '_>,
    table: &str,
    what: &str,
    ways: [(&str, &str); 2],
    kind: &'static str,
) -> Vec<Strip> {
    let Some(table) = findings.table("usage", table) else { return Vec::new() };
    let mut strips = Vec::new();
    for (name, rows) in groups(table, &["host", what]) {
        for (way, column) in ways {
            let sum: f64 = rows.iter().map(|row| row.figure(column)).sum();
            if sum <= 0.0 {
                continue;
            }
            let rate = |row: &Row<'_>| row.figure(column) * 1e9 / row.length().max(1.0);
            let steps: Vec<Step> = rows.iter().map(|row| row.step(findings, (rate(row), 0.0))).collect();
            let most = steps.iter().map(|step| step.value).fold(0.0, f64::max);
            let caption = format!("{}, at most {}/s", figures::bytes(sum), figures::bytes(most));
            strips.push(Strip { name: format!("{name} {way}"), caption, kind, top: 0.0, steps });
        }
    }
    strips
}

/// A row of a table.
struct Row<'t> {
    table: &'t Table,
    cells: Vec<Cell>,
}

impl Row<'_> {
    /// The number in a column; 0 where it is unknown.
    fn figure(&self, column: &str) -> f64 {
        self.table.column(column).map_or(0.0, |column| self.cells[column].as_f64())
    }

    fn instant(&self, column: &str) -> i128 {
        match self.table.column(column).map(|column| &self.cells[column]) {
            Some(Cell::Int(at)) => *at,
            _ => 0,
        }
    }

    /// Length of the step of the row, ns.
    fn length(&self) -> f64 {
        (self.instant("end_ns") - self.instant("begin_ns")) as f64
    }

    /// The step, with a value and its unknown part.
    fn step(&self, findings: &Findings<'_, '_>, (value, unknown): (f64, f64)) -> Step {
        let begin = findings.range.map_or(UnixNs(0), |[begin, _]| begin);
        let since = |at: i128| SinceOrigin(UnixNs(at).saturating_since(begin).max(0));
        // Steps start at round times: the first may start before the first event.
        let [begin, end] = ["begin_ns", "end_ns"].map(|column| since(self.instant(column)));
        Step { span: Window::new(begin, end), value, unknown }
    }
}

/// The rows of each thing, as some columns name it, in their order.
fn groups<'t>(table: &'t Table, names: &[&str]) -> Vec<(String, Vec<Row<'t>>)> {
    let indices: Vec<usize> = names.iter().filter_map(|name| table.column(name)).collect();
    let mut groups: Vec<(String, Vec<Row<'t>>)> = Vec::new();
    for cells in &table.rows {
        let names: Vec<String> = indices.iter().map(|&column| word(cells.get(column))).collect();
        let name = names.join(" ");
        let row = Row { table, cells };
        match groups.last_mut() {
            Some((last, rows)) if *last == name => rows.push(row),
            _ => groups.push((name, vec![row])),
        }
    }
    groups
}
