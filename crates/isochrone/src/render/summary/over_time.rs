//! Figures over time: strips made of the tables of `usage`.

use isochrone_analysis::{Cell, Table};
use isochrone_export::html::{Part, Step, Strip};

use super::{Found, word};
use crate::render::{figures, time};

/// How busy the CPUs of each host were.
pub(super) fn cpus(found: &Found<'_, '_>) -> Option<Part> {
    let table = found.table("usage", "host")?;
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
            rows.iter().zip(sums).map(|(row, sums)| row.step(found, percent(sums))).collect();
        let most = steps.iter().map(|step| step.value).fold(0.0, f64::max);
        let says = format!("{:.1} %, at most {most:.0} %", 100.0 * busy / whole);
        Some(Strip { name, says, kind: "busy", whole: 100.0, steps })
    };
    let strips = groups(table, &["host"]).into_iter().filter_map(of_host).collect();
    strips_of(found, strips, "How busy CPUs were: the height is all CPUs of the host; grey is not known.")
}

/// Bytes of each disk.
pub(super) fn disks(found: &Found<'_, '_>) -> Option<Part> {
    let ways = [("read", "read_bytes"), ("written", "written_bytes")];
    let strips = rates(found, "disks", "disk", ways, "disk");
    strips_of(found, strips, "Bytes by time: each strip is as high as its own greatest value.")
}

/// Bytes of each interface.
pub(super) fn network(found: &Found<'_, '_>) -> Option<Part> {
    let ways = [("received", "received_bytes"), ("sent", "sent_bytes")];
    let strips = rates(found, "interfaces", "interface", ways, "network");
    strips_of(found, strips, "Bytes by time: each strip is as high as its own greatest value.")
}

/// Pages that were allocated on each host.
pub(super) fn memory(found: &Found<'_, '_>) -> Option<Part> {
    let of_host = |(name, rows): (String, Vec<Row<'_>>)| {
        let sum: f64 = rows.iter().map(|row| row.figure("allocated_pages")).sum();
        let says = format!("{} pages", figures::count(sum as u64));
        let steps = rows.iter().map(|row| row.step(found, (row.figure("allocated_pages"), 0.0))).collect();
        (sum > 0.0).then_some(Strip { name, says, kind: "memory", whole: 0.0, steps })
    };
    let strips = groups(found.table("usage", "host")?, &["host"]).into_iter().filter_map(of_host).collect();
    strips_of(found, strips, "Pages that were allocated, by time.")
}

fn strips_of(found: &Found<'_, '_>, strips: Vec<Strip>, says: &str) -> Option<Part> {
    let (begin, _) = found.range?;
    let says = format!("{says} Times are since {} {}.", time::full(begin), time::zone_name());
    (!strips.is_empty()).then_some(Part::Strips(strips, says))
}

/// Strips of bytes: of each thing of a table one for each way in which some passed.
fn rates(
    found: &Found<'_, '_>,
    table: &str,
    what: &str,
    ways: [(&str, &str); 2],
    kind: &'static str,
) -> Vec<Strip> {
    let Some(table) = found.table("usage", table) else { return Vec::new() };
    let mut strips = Vec::new();
    for (name, rows) in groups(table, &["host", what]) {
        for (way, column) in ways {
            let sum: f64 = rows.iter().map(|row| row.figure(column)).sum();
            if sum <= 0.0 {
                continue;
            }
            let rate = |row: &Row<'_>| row.figure(column) * 1e9 / row.length().max(1.0);
            let steps: Vec<Step> = rows.iter().map(|row| row.step(found, (rate(row), 0.0))).collect();
            let most = steps.iter().map(|step| step.value).fold(0.0, f64::max);
            let says = format!("{}, at most {}/s", figures::bytes(sum), figures::bytes(most));
            strips.push(Strip { name: format!("{name} {way}"), says, kind, whole: 0.0, steps });
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
    /// The figure in a column; 0 where it is not known.
    fn figure(&self, column: &str) -> f64 {
        self.table.column(column).map_or(0.0, |place| self.cells[place].as_f64())
    }

    fn instant(&self, column: &str) -> i128 {
        match self.table.column(column).map(|place| &self.cells[place]) {
            Some(Cell::Int(at)) => *at,
            _ => 0,
        }
    }

    /// How long the step of the row is, ns.
    fn length(&self) -> f64 {
        (self.instant("end_ns") - self.instant("begin_ns")) as f64
    }

    /// The step, with a value and what is unknown of it.
    fn step(&self, found: &Found<'_, '_>, (value, unknown): (f64, f64)) -> Step {
        let begin = found.range.map_or(0, |(begin, _)| begin);
        let since = |at: i128| (at - begin).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        // Steps begin at round times: the first may begin before the first event.
        let [begin, end] = ["begin_ns", "end_ns"].map(|column| since(self.instant(column)).max(0));
        Step { begin, end, value, unknown }
    }
}

/// The rows of each thing that some columns name, in their order.
fn groups<'t>(table: &'t Table, names: &[&str]) -> Vec<(String, Vec<Row<'t>>)> {
    let places: Vec<usize> = names.iter().filter_map(|name| table.column(name)).collect();
    let mut groups: Vec<(String, Vec<Row<'t>>)> = Vec::new();
    for cells in &table.rows {
        let names: Vec<String> = places.iter().map(|&place| word(cells.get(place))).collect();
        let name = names.join(" ");
        let row = Row { table, cells };
        match groups.last_mut() {
            Some((last, rows)) if *last == name => rows.push(row),
            _ => groups.push((name, vec![row])),
        }
    }
    groups
}
