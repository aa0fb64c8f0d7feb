//! Two runs by the tables of analyses: what took longer in the second one, and of what there was more.
//!
//! Rows are held against each other by their names: numbers of processes and threads, and addresses, are
//! others in each run. Threads of one program are one row.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use isochrone_analysis::{Cell, Report, Table, Unit, Visibility, nearest_rank};

use crate::compare::{figure, percent, verdict};
use crate::mean_test::{Spread, p_of_means};
use crate::rank_test::p_value;

/// How two tables are held against each other.
struct Comparison {
    analysis: &'static str,
    /// The table that is read.
    from: &'static str,
    /// The name of the table that comes of it, and its heading.
    name: &'static str,
    title: &'static str,
    /// The columns that rows of both runs have in common.
    keys: &'static [&'static str],
    by: By,
}

/// What is compared.
enum By {
    /// How long one takes, of columns `count`, `total_ns` and `stdev_ns`.
    Mean,
    /// How long one takes, each with a row of its own, by a column of ns.
    Each(&'static str),
    /// A sum, per second of the run.
    Sum(&'static str, Unit),
}

const COMPARISONS: [Comparison; 15] = [
    of(
        "cputop",
        "processes",
        "cputop",
        "CPU time by program",
        &["host", "comm"],
        By::Sum("cpu_ns", Unit::Ns),
    ),
    of(
        "syscallstats",
        "syscalls",
        "syscallstats",
        "System calls by program",
        &["host", "comm", "syscall"],
        By::Mean,
    ),
    of("schedstats", "threads", "schedstats", "Waits for a CPU by program", &["host", "comm"], By::Mean),
    of("irqstats", "hard", "irqstats_hard", "Interrupts", &["host", "name"], By::Mean),
    of("irqstats", "soft", "irqstats_soft", "Softirqs", &["host", "name"], By::Mean),
    of("iolatencystats", "calls", "iolatencystats_calls", "I/O calls", &["host", "kind"], By::Mean),
    of("iolatencystats", "disks", "iolatencystats_disks", "Requests to disks", &["host", "disk"], By::Mean),
    of(
        "iousagetop",
        "processes",
        "iousagetop_read",
        "Bytes read by program",
        &["host", "comm"],
        By::Sum("read_bytes", Unit::Bytes),
    ),
    of(
        "iousagetop",
        "processes",
        "iousagetop_written",
        "Bytes written by program",
        &["host", "comm"],
        By::Sum("written_bytes", Unit::Bytes),
    ),
    of(
        "memtop",
        "processes",
        "memtop",
        "Memory pages allocated by program",
        &["host", "comm"],
        By::Sum("allocated_pages", Unit::Count),
    ),
    of(
        "pagefaults",
        "pagefaults",
        "pagefaults",
        "Waits of page faults by program",
        &["host", "comm"],
        By::Sum("waited_ns", Unit::Ns),
    ),
    of("messages", "messages", "messages", "Latencies of messages", &["from", "to"], By::Each("latency_ns")),
    of(
        "blocking",
        "waits",
        "blocking",
        "Waits by program and cause",
        &["host", "comm", "cause"],
        By::Each("wait_ns"),
    ),
    of(
        "accounting",
        "programs",
        "accounting",
        "CPU time by client",
        &["host", "comm", "parent_host", "parent_comm"],
        By::Sum("total_ns", Unit::Ns),
    ),
    of(
        "ipc",
        "relations",
        "ipc",
        "Waits between programs",
        &["from_host", "from_comm", "to_host", "to_comm", "kind"],
        By::Sum("waited_ns", Unit::Ns),
    ),
];

const fn of(
    analysis: &'static str,
    from: &'static str,
    name: &'static str,
    title: &'static str,
    keys: &'static [&'static str],
    by: By,
) -> Comparison {
    Comparison { analysis, from, name, title, keys, by }
}

/// The analyses whose tables can be compared.
pub fn comparable() -> Vec<&'static str> {
    let mut names: Vec<&'static str> = COMPARISONS.iter().map(|it| it.analysis).collect();
    names.dedup();
    names
}

/// The tables that hold the reports of one analysis, of two runs, against each other. How long something
/// takes is `slower` or `faster` where a test says that chance alone makes as large a difference in less than
/// 1 % of all pairs of runs: of durations with a row each the rank test of Mann and Whitney, of means that of
/// Welch by the normal approximation. Sums are compared per second of the time that was looked at; nothing is
/// said of chance. `O(n log n)` in the rows.
pub fn compare_reports(before: &Report, after: &Report) -> Vec<Table> {
    COMPARISONS
        .iter()
        .filter(|it| it.analysis == before.analysis)
        .map(|comparison| match comparison.by {
            By::Mean => means(comparison, [before, after]),
            By::Each(column) => each(comparison, column, [before, after]),
            By::Sum(column, unit) => sums(comparison, (column, unit), [before, after]),
        })
        .collect()
}

/// The names that rows have in common; `None`: unknown.
type Key = Vec<Option<String>>;

/// Passes the rows of a table: their names, and the cells of some columns.
fn rows(comparison: &Comparison, report: &Report, columns: &[&str], mut with: impl FnMut(Key, &[Cell])) {
    let Some(table) = report.table(comparison.from) else { return };
    let index = |names: &[&str]| names.iter().map(|name| table.column(name)).collect::<Option<Vec<_>>>();
    let (Some(keys), Some(columns)) = (index(comparison.keys), index(columns)) else {
        debug_assert!(false, "{}: {:?}", comparison.from, comparison.keys);
        return;
    };
    for row in &table.rows {
        let key = keys.iter().map(|&column| row[column].as_text().map(Cow::into_owned)).collect();
        let cells: Vec<Cell> = columns.iter().map(|&column| row[column].clone()).collect();
        with(key, &cells);
    }
}

/// The hosts, by the first of the names, of which each run has any row. Of others nothing was recorded, or
/// they were not traced.
#[derive(Default)]
struct Hosts([BTreeSet<Option<String>>; 2]);

impl Hosts {
    /// Whether the runs have rows of the host of a row, so that a row that is not there says something.
    fn are_known(&self, key: &Key) -> [bool; 2] {
        self.0.each_ref().map(|hosts| key.first().is_some_and(|host| hosts.contains(host)))
    }
}

/// What `add` makes of the rows of both runs, by their names.
fn of_both<T: Default>(
    comparison: &Comparison,
    reports: [&Report; 2],
    columns: &[&str],
    add: impl Fn(&mut T, &[Cell]),
) -> (BTreeMap<Key, [T; 2]>, Hosts) {
    let (mut all, mut hosts) = (BTreeMap::<Key, [T; 2]>::new(), Hosts::default());
    for (run, report) in reports.into_iter().enumerate() {
        rows(comparison, report, columns, |key, cells| {
            hosts.0[run].extend(key.first().cloned());
            add(&mut all.entry(key).or_default()[run], cells);
        });
    }
    (all, hosts)
}

/// A table with the names of rows.
fn keyed(comparison: &Comparison) -> Table {
    Table::new(comparison.name, comparison.title, &[]).with_columns(Unit::None, comparison.keys).top()
}

/// The columns of how long something takes; `typical`: what of the durations is compared.
fn of_durations(comparison: &Comparison, typical: [&'static str; 2]) -> Table {
    keyed(comparison)
        .with_columns(Unit::Count, &["count_before", "count_after"])
        .with_columns(Unit::Ns, &typical)
        .with_columns(Unit::Ns, &["change_ns"])
        .with_columns(Unit::Percent, &["change_percent"])
        .with_columns(Unit::None, &["p", "verdict"])
        .show(&["p"], Visibility::Hidden)
}

/// The verdict where a run has nothing at all of the host.
const NOT_RECORDED: &str = "not recorded";

/// How a row of durations is.
struct Change {
    /// Whether the runs recorded the like of it.
    are_known: [bool; 2],
    counts: [i128; 2],
    typical: [Option<i128>; 2],
    p: Option<f64>,
}

impl Change {
    fn ns(&self) -> Option<i128> {
        let [before, after] = self.typical;
        Some(after? - before?)
    }

    /// How much time the change makes, of all that there were in the second run: what rows are sorted by.
    fn weight(&self) -> i128 {
        let [of_before, of_after] = [0, 1].map(|run| self.typical[run].unwrap_or(0) * self.counts[run]);
        self.ns().map_or(of_after - of_before, |ns| ns * self.counts[1]).abs()
    }

    fn verdict(&self) -> &'static str {
        let is_unknown = |run: usize| self.counts[run] == 0 && !self.are_known[run];
        match is_unknown(0) || is_unknown(1) {
            true => NOT_RECORDED,
            false => verdict(self.counts, self.ns(), self.p).unwrap_or("too few"),
        }
    }
}

/// Adds rows, in the order of their keys, to a table of [`of_durations`].
fn put_durations(table: &mut Table, changes: impl Iterator<Item = (Key, Change)>) {
    let mut changes: Vec<(Key, Change)> = changes.collect();
    // What became slower is the question, and what is the same no answer.
    changes.sort_by_key(|(_, change)| {
        let verdict = change.verdict();
        (verdict == "the same", verdict != "slower", Reverse(change.weight()))
    });
    for (key, change) in changes {
        let mut row = names(key);
        row.extend([0, 1].map(|run| match change.counts[run] {
            0 if !change.are_known[run] => Cell::Unknown,
            count => Cell::Int(count),
        }));
        row.extend(change.typical.map(figure));
        row.push(figure(change.ns()));
        row.push(percent(change.ns(), change.typical[0]));
        row.push(change.p.map_or(Cell::NotApplicable, Cell::Float));
        row.push(Cell::text(change.verdict()));
        table.row(row);
    }
}

fn means(comparison: &Comparison, reports: [&Report; 2]) -> Table {
    let mut table = of_durations(comparison, ["mean_before_ns", "mean_after_ns"]);
    let (all, hosts) = of_both(comparison, reports, &["count", "total_ns", "stdev_ns"], Spread::add_cells);
    let changes = all.into_iter().filter(|(_, spreads)| spreads.iter().any(|it| it.count > 0));
    let changes = changes.map(|(key, spreads)| {
        let change = Change {
            are_known: hosts.are_known(&key),
            counts: spreads.map(|it| it.count),
            typical: spreads.map(|it| it.mean()),
            p: p_of_means(spreads),
        };
        (key, change)
    });
    put_durations(&mut table, changes);
    table
}

fn each(comparison: &Comparison, column: &str, reports: [&Report; 2]) -> Table {
    let mut table = of_durations(comparison, ["median_before_ns", "median_after_ns"]);
    let add = |values: &mut Vec<i64>, cells: &[Cell]| {
        if let Cell::Int(value) = cells[0] {
            values.extend(i64::try_from(value).ok());
        }
    };
    let (all, hosts): (BTreeMap<Key, [Vec<i64>; 2]>, Hosts) = of_both(comparison, reports, &[column], add);
    let known = all.into_iter().filter(|(_, values)| values.iter().any(|values| !values.is_empty()));
    let changes = known.map(|(key, mut values)| {
        for values in &mut values {
            values.sort_unstable();
        }
        let median = |values: &Vec<i64>| nearest_rank(values, 50).map(|value| i128::from(*value));
        let change = Change {
            are_known: hosts.are_known(&key),
            counts: [values[0].len() as i128, values[1].len() as i128],
            typical: [median(&values[0]), median(&values[1])],
            p: p_value(&values[0], &values[1]),
        };
        (key, change)
    });
    put_durations(&mut table, changes);
    table
}

fn sums(comparison: &Comparison, (column, unit): (&str, Unit), reports: [&Report; 2]) -> Table {
    let (figures, change): ([&'static str; 2], &'static str) = match unit {
        Unit::Ns => (["before_ns", "after_ns"], "change_ns_per_s"),
        Unit::Bytes => (["before_bytes", "after_bytes"], "change_bytes_per_s"),
        _ => (["before", "after"], "change_per_s"),
    };
    let mut table = keyed(comparison)
        .with_columns(unit, &figures)
        .with_columns(unit, &[change])
        .with_columns(Unit::Percent, &["change_percent"])
        .with_columns(Unit::None, &["verdict"]);
    // Whether a run has the row, and the sum.
    let add = |(is_there, sum): &mut (bool, i128), cells: &[Cell]| {
        *is_there = true;
        if let Cell::Int(value) = cells[0] {
            *sum += value;
        }
    };
    let (all, hosts): (BTreeMap<Key, [(bool, i128); 2]>, Hosts) =
        of_both(comparison, reports, &[column], add);
    let seconds = reports.map(|report| {
        let ns = report.range.map_or(0, |[start, end]| end.saturating_since(start));
        ns as f64 / 1e9
    });
    let mut rows = Vec::new();
    for (key, sums) in all.into_iter().filter(|(_, sums)| sums.iter().any(|(_, sum)| *sum != 0)) {
        let are_known = hosts.are_known(&key);
        let is_compared = [0, 1].iter().all(|&run| sums[run].0 || are_known[run]);
        let rate = |run: usize| (seconds[run] > 0.0).then(|| sums[run].1 as f64 / seconds[run]);
        let change = rate(0).zip(rate(1)).filter(|_| is_compared).map(|(before, after)| after - before);
        let of = rate(0).filter(|rate| *rate != 0.0);
        let share = change.zip(of).map(|(change, of)| 100.0 * change / of);
        let verdict = match (sums[0].0, sums[1].0, change) {
            _ if !is_compared => NOT_RECORDED,
            (false, ..) => "new",
            (_, false, _) => "gone",
            (.., Some(change)) if change > 0.0 => "more",
            (.., Some(change)) if change < 0.0 => "less",
            _ => "the same",
        };
        let mut row = names(key);
        row.extend([0, 1].map(|run| match sums[run] {
            (true, sum) => Cell::Int(sum),
            (false, _) if are_known[run] => Cell::NotApplicable,
            (false, _) => Cell::Unknown,
        }));
        row.push(change.map_or(Cell::Unknown, |change| Cell::Int(change.round() as i128)));
        row.push(share.map_or(Cell::NotApplicable, Cell::Float));
        row.push(Cell::text(verdict));
        rows.push((change.unwrap_or(0.0).abs(), row));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, row) in rows {
        table.row(row);
    }
    table
}

fn names(key: Key) -> Vec<Cell> {
    key.into_iter().map(|name| name.map_or(Cell::Unknown, |name| Cell::text(&name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_is_compared_once() {
        let mut names: Vec<&str> = COMPARISONS.iter().map(|it| it.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COMPARISONS.len());
        assert!(comparable().contains(&"messages") && comparable().len() == 12, "{:?}", comparable());
    }
}
