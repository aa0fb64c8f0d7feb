//! Two runs by the tables of analyses: what took longer in the second one, and of what there was more.
//!
//! Rows are held against each other by their names: numbers of processes and threads, and addresses, are
//! others in each run. Threads of one program are one row.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use isochrone_analysis::{Cell, Report, Table, Unit, Visibility, nearest_rank};

use crate::rank_test::{FEWEST, SIGNIFICANT, normal_p, p_value};

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

/// What is made of the rows of both runs, by their names.
struct Both<T> {
    all: BTreeMap<Key, [T; 2]>,
    /// The hosts, by the first of the names, of which each run has any row. Of others nothing was
    /// recorded, or they were not traced.
    hosts: [BTreeSet<Option<String>>; 2],
}

impl<T> Both<T> {
    /// Whether the runs have rows of the host of a row, so that a row that is not there says something.
    fn are_known(&self, key: &Key) -> [bool; 2] {
        [0, 1].map(|run| key.first().is_some_and(|host| self.hosts[run].contains(host)))
    }
}

/// What `add` makes of the rows of both runs.
fn of_both<T: Default>(
    comparison: &Comparison,
    reports: [&Report; 2],
    columns: &[&str],
    add: impl Fn(&mut T, &[Cell]),
) -> Both<T> {
    let mut both = Both { all: BTreeMap::<Key, [T; 2]>::new(), hosts: [BTreeSet::new(), BTreeSet::new()] };
    for (run, report) in reports.into_iter().enumerate() {
        rows(comparison, report, columns, |key, cells| {
            both.hosts[run].extend(key.first().cloned());
            add(&mut both.all.entry(key).or_default()[run], cells);
        });
    }
    both
}

/// Durations of which only the number, the sum and the deviation are known.
#[derive(Debug, Default, Clone, Copy)]
struct Spread {
    count: i128,
    total: i128,
    /// The sum of their squares, ns².
    squares: f64,
}

impl Spread {
    fn add(&mut self, cells: &[Cell]) {
        let number = |cell: &Cell| if let Cell::Int(value) = cell { *value } else { 0 };
        let (count, total) = (number(&cells[0]), number(&cells[1]));
        if count > 0 {
            let (n, mean) = (count as f64, total as f64 / count as f64);
            self.count += count;
            self.total += total;
            self.squares += n * (cells[2].as_f64().powi(2) + mean.powi(2));
        }
    }

    fn mean(&self) -> Option<i128> {
        (self.count > 0).then(|| self.total / self.count)
    }

    /// Mean and variance of the mean.
    fn moments(&self) -> (f64, f64) {
        let n = self.count as f64;
        let mean = self.total as f64 / n;
        (mean, (self.squares / n - mean.powi(2)).max(0.0) / n)
    }
}

/// The probability of a difference of two means as large as this by chance alone, by the test of Welch.
fn p_of_means([a, b]: [Spread; 2]) -> Option<f64> {
    if a.count.min(b.count) < FEWEST as i128 {
        return None;
    }
    let ((mean_a, variance_a), (mean_b, variance_b)) = (a.moments(), b.moments());
    let (difference, variance) = ((mean_a - mean_b).abs(), variance_a + variance_b);
    Some(match (variance > 0.0, difference > 0.0) {
        (true, _) => normal_p(difference / variance.sqrt()),
        (false, true) => 0.0,
        (false, false) => 1.0,
    })
}

/// The columns of how long something takes; `typical`: what of the durations is compared.
fn of_durations(comparison: &Comparison, typical: [&'static str; 2]) -> Table {
    let keys: Vec<(&'static str, Unit)> = comparison.keys.iter().map(|key| (*key, Unit::None)).collect();
    Table::new(comparison.name, comparison.title, &keys)
        .with_columns(Unit::Count, &["count_before", "count_after"])
        .with_columns(Unit::Ns, &typical)
        .with_columns(Unit::Ns, &["change_ns"])
        .with_columns(Unit::Percent, &["change_percent"])
        .with_columns(Unit::None, &["p", "verdict"])
        .show(&["p"], Visibility::Hidden)
        .top()
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
        match (self.counts, self.p, self.ns()) {
            ([0, _], ..) => {
                if self.are_known[0] {
                    "new"
                } else {
                    NOT_RECORDED
                }
            }
            ([_, 0], ..) => {
                if self.are_known[1] {
                    "gone"
                } else {
                    NOT_RECORDED
                }
            }
            (_, None, _) => "too few",
            (_, Some(p), Some(1..)) if p < SIGNIFICANT => "slower",
            (_, Some(p), Some(..=-1)) if p < SIGNIFICANT => "faster",
            _ => "the same",
        }
    }
}

fn put_durations(table: &mut Table, changes: BTreeMap<Key, Change>) {
    let mut changes: Vec<(Key, Change)> = changes.into_iter().collect();
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
        row.extend(change.typical.map(or_none));
        row.push(or_none(change.ns()));
        row.push(percent(change.ns(), change.typical[0]));
        row.push(change.p.map_or(Cell::NotApplicable, Cell::Float));
        row.push(Cell::text(change.verdict()));
        table.row(row);
    }
}

fn means(comparison: &Comparison, reports: [&Report; 2]) -> Table {
    let mut table = of_durations(comparison, ["mean_before_ns", "mean_after_ns"]);
    let both = of_both(comparison, reports, &["count", "total_ns", "stdev_ns"], Spread::add);
    let changes = both.all.iter().filter(|(_, spreads)| spreads.iter().any(|it| it.count > 0));
    let change = |key: &Key, spreads: [Spread; 2]| Change {
        are_known: both.are_known(key),
        counts: spreads.map(|it| it.count),
        typical: spreads.map(|it| it.mean()),
        p: p_of_means(spreads),
    };
    put_durations(&mut table, changes.map(|(key, spreads)| (key.clone(), change(key, *spreads))).collect());
    table
}

fn each(comparison: &Comparison, column: &str, reports: [&Report; 2]) -> Table {
    let mut table = of_durations(comparison, ["median_before_ns", "median_after_ns"]);
    let add = |values: &mut Vec<i64>, cells: &[Cell]| {
        if let Cell::Int(value) = cells[0] {
            values.extend(i64::try_from(value).ok());
        }
    };
    let mut both: Both<Vec<i64>> = of_both(comparison, reports, &[column], add);
    let all = std::mem::take(&mut both.all);
    let known = all.into_iter().filter(|(_, values)| values.iter().any(|values| !values.is_empty()));
    let changes = known.map(|(key, mut values)| {
        for values in &mut values {
            values.sort_unstable();
        }
        let median = |values: &Vec<i64>| nearest_rank(values, 50).map(|value| i128::from(*value));
        let change = Change {
            are_known: both.are_known(&key),
            counts: [values[0].len() as i128, values[1].len() as i128],
            typical: [median(&values[0]), median(&values[1])],
            p: p_value(&values[0], &values[1]),
        };
        (key, change)
    });
    put_durations(&mut table, changes.collect());
    table
}

fn sums(comparison: &Comparison, (column, unit): (&str, Unit), reports: [&Report; 2]) -> Table {
    let (figures, change): ([&'static str; 2], &'static str) = match unit {
        Unit::Ns => (["before_ns", "after_ns"], "change_ns_per_s"),
        Unit::Bytes => (["before_bytes", "after_bytes"], "change_bytes_per_s"),
        _ => (["before", "after"], "change_per_s"),
    };
    let keys: Vec<(&'static str, Unit)> = comparison.keys.iter().map(|key| (*key, Unit::None)).collect();
    let mut table = Table::new(comparison.name, comparison.title, &keys)
        .with_columns(unit, &figures)
        .with_columns(unit, &[change])
        .with_columns(Unit::Percent, &["change_percent"])
        .with_columns(Unit::None, &["verdict"])
        .top();
    // Whether a run has the row, and the sum.
    let add = |(is_there, sum): &mut (bool, i128), cells: &[Cell]| {
        *is_there = true;
        if let Cell::Int(value) = cells[0] {
            *sum += value;
        }
    };
    let both: Both<(bool, i128)> = of_both(comparison, reports, &[column], add);
    let seconds = reports.map(|report| {
        let ns = report.range.map_or(0, |[start, end]| end.saturating_since(start));
        ns as f64 / 1e9
    });
    let mut rows = Vec::new();
    for (key, sums) in both.all.iter().filter(|(_, sums)| sums.iter().any(|(_, sum)| *sum != 0)) {
        let are_known = both.are_known(key);
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
        let mut row = names(key.clone());
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

fn or_none(value: Option<i128>) -> Cell {
    value.map_or(Cell::NotApplicable, Cell::Int)
}

fn percent(change: Option<i128>, of: Option<i128>) -> Cell {
    match (change, of) {
        (Some(change), Some(of)) if of > 0 => Cell::Float(100.0 * change as f64 / of as f64),
        _ => Cell::NotApplicable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(values: &[f64]) -> Spread {
        let n = values.len() as f64;
        let total: f64 = values.iter().sum();
        let variance = values.iter().map(|it| (it - total / n).powi(2)).sum::<f64>() / n;
        let mut spread = Spread::default();
        spread.add(&[
            Cell::Int(values.len() as i128),
            Cell::Int(total as i128),
            Cell::Float(variance.sqrt()),
        ]);
        spread
    }

    #[test]
    fn means_differ_by_more_than_chance() {
        let (low, high): (Vec<f64>, Vec<f64>) =
            (0..30).map(|it| (100.0 + f64::from(it % 7), 200.0 + f64::from(it % 11))).unzip();
        let p = p_of_means([spread(&low), spread(&high)]).unwrap();
        assert!(p < 1e-9, "{p}");
        assert!(p_of_means([spread(&low), spread(&low)]).unwrap() > 0.99);
        assert_eq!(p_of_means([spread(&low[..7]), spread(&high)]), None);
        assert_eq!(p_of_means([spread(&[5.0; 9]), spread(&[5.0; 8])]), Some(1.0));
        assert_eq!(p_of_means([spread(&[5.0; 9]), spread(&[6.0; 8])]), Some(0.0));
        // Threads of one program are one: parts give what the whole gives.
        let mut parts = spread(&low[..10]);
        let rest = spread(&low[10..]);
        parts.add(&[Cell::Int(20), Cell::Int(rest.total), Cell::Float((rest.moments().1 * 20.0).sqrt())]);
        let whole = spread(&low);
        assert_eq!((parts.count, parts.total), (whole.count, whole.total));
        assert!((parts.squares - whole.squares).abs() < 1e-3 * whole.squares);
    }

    #[test]
    fn each_table_is_compared_once() {
        let mut names: Vec<&str> = COMPARISONS.iter().map(|it| it.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COMPARISONS.len());
        assert!(comparable().contains(&"messages") && comparable().len() == 12, "{:?}", comparable());
    }
}
