//! Results of reports: which of their tables become which classes, and which of their rows.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use isochrone_analysis::{Cell, Report, Table};
use isochrone_time::{UnixNs, Window};

use super::classes::{TableClass, family};
use super::columns::{CallKey, Row};

/// A result: rows of a report's table that become one of a class.
pub(super) struct ResultTable<'r> {
    pub(super) class: &'static TableClass,
    /// What the rows are of, where there are several results of a class.
    pub(super) subtitle: Option<String>,
    /// The time that the report is about.
    pub(super) range: Window<UnixNs>,
    pub(super) table: &'r Table,
    /// Indices of the rows of the table.
    pub(super) rows: Vec<usize>,
    /// Of bytes in one direction: `read`, `written`, `received` or `sent`.
    pub(super) direction: &'static str,
    /// Of system calls: what they returned, and how often.
    pub(super) returns: BTreeMap<CallKey, String>,
}

impl<'r> ResultTable<'r> {
    pub(super) fn row(&self, index: usize) -> Row<'_> {
        Row { of: self, index }
    }

    /// Those of its rows in which a figure is not 0, the greatest first; of equals, the first.
    fn top(mut self, figure: &str) -> Self {
        let figure_of = |index: &usize| match self.row(*index).cell(figure) {
            Cell::Int(value) => value,
            _ => 0,
        };
        let mut rows: Vec<usize> = self.rows.iter().copied().filter(|index| figure_of(index) != 0).collect();
        rows.sort_by_key(|index| Reverse(figure_of(index)));
        self.rows = rows;
        self
    }

    /// A result with some of its rows.
    fn part(&self, subtitle: String, rows: Vec<usize>) -> ResultTable<'r> {
        let Self { class, range, table, direction, .. } = *self;
        ResultTable {
            class,
            subtitle: Some(subtitle),
            range,
            table,
            rows,
            direction,
            returns: BTreeMap::new(),
        }
    }

    /// A result for each group of rows that follow each other and whose first columns are the same.
    fn groups(self, columns: usize, subtitle: impl Fn(&Row<'_>) -> String) -> Vec<ResultTable<'r>> {
        let head = |index: &usize| -> Vec<Cell> {
            (0..columns).filter_map(|column| self.table.rows.cell(*index, column)).collect()
        };
        let groups = self.rows.chunk_by(|a, b| head(a) == head(b));
        groups.map(|group| self.part(subtitle(&self.row(group[0])), group.to_vec())).collect()
    }
}

/// The results of a report; none of an analysis that has no such form.
pub(super) fn results(report: &Report) -> Vec<ResultTable<'_>> {
    let Some(family) = family(report.analysis) else { return Vec::new() };
    let [start, end] = report.range.unwrap_or_default();
    let range = Window::new(start, end);
    let all = |table: &str, class: &str| {
        let class = family.classes.iter().find(|declared| declared.name == class)?;
        let of = |table| ResultTable {
            class,
            subtitle: None,
            range,
            table,
            rows: (0..table.rows.len()).collect(),
            direction: "",
            returns: BTreeMap::new(),
        };
        report.table(table).map(of)
    };
    let top = |table: &str, class: &str, figure: &str| all(table, class).map(|of| of.top(figure));
    let directed = |table: &str, class: &str, directions: [&'static str; 2]| {
        directions.map(|direction| {
            let of = ResultTable { direction, subtitle: Some(direction.to_owned()), ..all(table, class)? };
            Some(of.top(&format!("{direction}_bytes")))
        })
    };
    let groups = |table: &str, class: &str, columns, subtitle: fn(&Row<'_>) -> String| {
        all(table, class).map_or_else(Vec::new, |of| of.groups(columns, subtitle))
    };
    let found: Vec<Option<ResultTable<'_>>> = match report.analysis {
        "cputop" => vec![all("processes", "per-process"), all("cpus", "per-cpu"), all("total", "total")],
        "iolatencyfreq" => return groups("freq", "freq", 3, distribution_of_io),
        "iolatencystats" => {
            vec![all("calls", "syscall-latency-stats"), all("disks", "disk-latency-stats")]
        }
        "iolatencytop" => {
            let titled = |name: &str, of| ResultTable { subtitle: Some(name.to_owned()), ..of };
            let names = report.tables.iter().map(|table| table.name);
            names.map(|name| all(name, "top-syscall").map(|of| titled(name, of))).collect()
        }
        "iousagetop" => {
            let disks = [
                top("disks", "per-disk-top-sector", "sectors"),
                top("disks", "per-disk-top-request", "requests"),
                top("disks", "per-disk-top-rps", "requests"),
            ];
            let disk_ways = ["read", "written"];
            let mut found = Vec::with_capacity(11);
            found.extend(directed("processes", "per-process-top", disk_ways));
            found.extend(directed("files", "per-file-top", disk_ways));
            found.extend(directed("blocks", "per-process-top-block", disk_ways));
            found.extend(disks);
            found.extend(directed("interfaces", "per-netif-top", ["received", "sent"]));
            found
        }
        "irqfreq" => {
            let mut found = groups("freq", "freq", 5, |row| {
                let [name, number] = ["name", "number"].map(|column| known(row.text(column)));
                format!("{name} ({number})")
            });
            // The class has no place for what else is distributed.
            found.retain(|of| of.row(of.rows[0]).cell("what") == Cell::text("duration"));
            return found;
        }
        "irqstats" => vec![all("hard", "hard-stats"), all("soft", "soft-stats")],
        "memtop" => vec![
            top("processes", "allocd", "allocated_pages"),
            top("processes", "freed", "freed_pages"),
            all("total", "total"),
        ],
        "schedfreq" => {
            let mut found = groups("freq", "freq", 1, |_| "all threads".to_owned());
            let thread = |row: &Row<'_>| format!("TID: {}", known(row.text("tid")));
            found.extend(groups("thread_freq", "freq", 4, thread));
            return found;
        }
        "iolog" | "irqlog" | "schedlog" => vec![all("log", "log")],
        "schedstats" => vec![
            all("total", "total_stats"),
            all("threads", "per_tid_stats"),
            all("priorities", "per_prio_stats"),
        ],
        "schedtop" => vec![all("top", "top")],
        "syscallstats" => {
            let returns = all("returns", "per-tid").map(|of| returns(&of));
            let calls = all("syscalls", "per-tid");
            let threads = calls.iter().flat_map(|calls| by_thread(calls, returns.as_ref()));
            threads.map(Some).chain([all("totals", "total")]).collect()
        }
        _ => Vec::new(),
    };
    found.into_iter().flatten().collect()
}

/// A text, or what stands for one that is unknown.
fn known(text: Option<String>) -> String {
    text.unwrap_or_else(|| "?".to_owned())
}

fn distribution_of_io(row: &Row<'_>) -> String {
    let name = known(row.text("name"));
    if row.cell("of") == Cell::text("disk") { format!("disk: {name}") } else { name }
}

/// What calls returned, and how often: `'0': 3, 'EAGAIN': 1`.
fn returns(of: &ResultTable<'_>) -> BTreeMap<CallKey, Vec<String>> {
    let mut returns: BTreeMap<CallKey, Vec<String>> = BTreeMap::new();
    for row in of.rows.iter().map(|&index| of.row(index)) {
        let [result, count] = ["result", "count"].map(|column| row.text(column).unwrap_or_default());
        returns.entry(row.call_key()).or_default().push(format!("'{result}': {count}"));
    }
    returns
}

/// A result for the calls of each thread.
fn by_thread<'r>(
    calls: &ResultTable<'r>,
    returns: Option<&BTreeMap<CallKey, Vec<String>>>,
) -> Vec<ResultTable<'r>> {
    let mut threads: BTreeMap<[Option<String>; 4], Vec<usize>> = BTreeMap::new();
    for &index in &calls.rows {
        let [host, pid, tid, comm, _] = calls.row(index).call_key();
        threads.entry([host, pid, tid, comm]).or_default().push(index);
    }
    let of_thread = |([_, pid, tid, comm], rows): ([Option<String>; 4], Vec<usize>)| {
        let returned = |&index: &usize| {
            let key = calls.row(index).call_key();
            let all = returns.and_then(|returns| returns.get(&key)).map(|all| all.join(", "));
            (key, format!("{{{}}}", all.unwrap_or_default()))
        };
        let returns = rows.iter().map(returned).collect();
        let subtitle = format!("{} ({}, TID: {})", known(comm), known(pid), known(tid));
        ResultTable { returns, ..calls.part(subtitle, rows) }
    };
    threads.into_iter().map(of_thread).collect()
}
