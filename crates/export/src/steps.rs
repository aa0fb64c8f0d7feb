//! Metrics of successive steps of time: the tables of `phases`, `messages` and `accounting`, added up where that is meaningful, else of the last
//! step.
//!
//! Sums are counters, so that any two instants have a difference; quantiles are those of the last step. `isochrone watch` keeps them, and
//! [`crate::openmetrics`] writes them.

use std::collections::{BTreeMap, BTreeSet};

use isochrone_analysis::{Cell, Report};
use serde::{Deserialize, Serialize};

use crate::openmetrics::{Family, Sample};

/// A family: its name, its description, whether it is a counter, whether it counts ns and is shown in seconds.
struct Kind {
    name: &'static str,
    help: &'static str,
    is_sum: bool,
    is_time: bool,
}

/// A column of numbers: its table, its name, its family, and a label that distinguishes it from other columns of the family.
type Metric = (&'static str, &'static str, usize, Option<(&'static str, &'static str)>);

const KINDS: [Kind; 11] = [
    sum("isochrone_phases", "Phases that ended", false),
    sum("isochrone_phase_seconds", "Time in phases that ended", true),
    last("isochrone_phase_duration_seconds", "Durations of phases that ended in the last step"),
    sum("isochrone_phase_calls", "System calls in phases", false),
    sum("isochrone_phase_call_seconds", "Time in phases by system call and by what the thread did", true),
    sum("isochrone_phase_cause_seconds", "Time in phases by cause", true),
    sum("isochrone_link_messages", "Messages between hosts", false),
    sum("isochrone_link_bytes", "Bytes in them", false),
    last("isochrone_link_latency_seconds", "Latencies of messages that arrived in the last step"),
    last("isochrone_link_uncertainty_seconds", "Maximum uncertainty of these, by the clocks"),
    sum("isochrone_payer_cpu_seconds", "CPU time by the program for which it was used", true),
];

const METRICS: [Metric; 21] = [
    ("phases", "count", 0, None),
    ("phases", "total_ns", 1, None),
    ("phases", "min_ns", 2, Some(("quantile", "0"))),
    ("phases", "p50_ns", 2, Some(("quantile", "0.5"))),
    ("phases", "p95_ns", 2, Some(("quantile", "0.95"))),
    ("phases", "max_ns", 2, Some(("quantile", "1"))),
    ("phase_calls", "count", 3, None),
    ("phase_calls", "running_ns", 4, Some(("state", "running"))),
    ("phase_calls", "interrupted_ns", 4, Some(("state", "interrupted"))),
    ("phase_calls", "wait_cpu_ns", 4, Some(("state", "wait-cpu"))),
    ("phase_calls", "blocked_ns", 4, Some(("state", "blocked"))),
    ("phase_calls", "unknown_ns", 4, Some(("state", "unknown"))),
    ("links", "count", 6, None),
    ("links", "bytes", 7, None),
    ("links", "min_ns", 8, Some(("quantile", "0"))),
    ("links", "median_ns", 8, Some(("quantile", "0.5"))),
    ("links", "p99_ns", 8, Some(("quantile", "0.99"))),
    ("links", "max_ns", 8, Some(("quantile", "1"))),
    ("links", "uncertainty_ns", 9, None),
    ("programs", "self_ns", 10, Some(("used_by", "itself"))),
    ("programs", "sub_ns", 10, Some(("used_by", "servers"))),
];

/// The time by cause, without details.
const CAUSES: Metric = ("phase_waits", "total_ns", 5, None);

/// Columns that are labels.
const LABELS: [&str; 10] =
    ["host", "phase", "call", "cause", "from", "to", "comm", "parent_host", "parent_comm", "role"];

/// Maximum number of series. Hosts, phases, calls and programs are few; names that are numbers could be many.
const MAX_SERIES: usize = 100_000;

const fn sum(name: &'static str, help: &'static str, is_time: bool) -> Kind {
    Kind { name, help, is_sum: true, is_time }
}

const fn last(name: &'static str, help: &'static str) -> Kind {
    Kind { name, help, is_sum: false, is_time: true }
}

/// The number of a family, and labels.
type Series = (usize, Vec<(String, String)>);

/// Metrics of all steps so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct StepMetrics {
    sums: BTreeMap<Series, i128>,
    last: BTreeMap<Series, i128>,
    /// Sums that started in the last step.
    #[serde(skip)]
    new: BTreeSet<Series>,
    /// Number of values without a series, as there are too many.
    left_out: u64,
}

impl StepMetrics {
    /// Starts a step, and clears what only the last one had.
    pub fn begin(&mut self) {
        self.last.clear();
        self.new.clear();
    }

    /// Adds a report of the step. Linear in its rows.
    pub fn add(&mut self, report: &Report) {
        for table in &report.tables {
            let index = |name: &str| table.columns.iter().position(|column| column.name == name);
            let labels: Vec<(&str, usize)> =
                LABELS.iter().filter_map(|&name| Some((name, index(name)?))).collect();
            let metrics = METRICS.iter().chain([&CAUSES]).filter(|metric| metric.0 == table.name);
            let metrics: Vec<(usize, &Metric)> =
                metrics.filter_map(|metric| Some((index(metric.1)?, metric))).collect();
            for row in &table.rows {
                for &(column, &(_, _, family, more)) in &metrics {
                    let Cell::Int(value) = row[column] else { continue };
                    let named = labels.iter().map(|&(name, at)| (name.to_owned(), shown(&row[at])));
                    // Sums never decrease: a few ns below zero, by rounding, count as 0.
                    let value = if KINDS[family].is_sum { value.max(0) } else { value };
                    let more = more.map(|(name, value)| (name.to_owned(), value.to_owned()));
                    self.value((family, named.chain(more).collect()), value);
                }
            }
        }
    }

    fn value(&mut self, series: Series, value: i128) {
        let is_sum = KINDS[series.0].is_sum;
        let of = if is_sum { &mut self.sums } else { &mut self.last };
        if !of.contains_key(&series) {
            if of.len() >= MAX_SERIES {
                self.left_out += 1;
                return;
            }
            if is_sum {
                self.new.insert(series.clone());
            }
        }
        let known = of.entry(series).or_default();
        *known = if is_sum { *known + value } else { value };
    }

    /// Number of values that were left out because there are too many series.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Number of series.
    pub fn series(&self) -> usize {
        self.sums.len() + self.last.len()
    }

    /// The current families.
    pub fn families(&self) -> Vec<Family> {
        self.families_of(|_| true, |value| value)
    }

    /// Those that started in the last step, as they were before it: zero.
    pub fn before(&self) -> Vec<Family> {
        self.families_of(|series| self.new.contains(series), |_| 0)
    }

    fn families_of(&self, is_wanted: impl Fn(&Series) -> bool, value: impl Fn(i128) -> i128) -> Vec<Family> {
        let mut families: Vec<Family> = KINDS
            .iter()
            .map(|&Kind { name, help, is_sum, .. }| Family {
                name: name.to_owned(),
                help: help.to_owned(),
                is_counter: is_sum,
                samples: Vec::new(),
            })
            .collect();
        for (series, &known) in self.sums.iter().chain(&self.last).filter(|(series, _)| is_wanted(series)) {
            let labels: Vec<(&str, &str)> =
                series.1.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let value = value(known);
            families[series.0].samples.push(match KINDS[series.0].is_time {
                true => Sample::seconds(&labels, value),
                false => Sample::whole(&labels, value),
            });
        }
        families.retain(|family| !family.samples.is_empty());
        families
    }
}

/// A name in a row, as tables show it.
fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Text(_) | Cell::Call(_) => cell.as_text().unwrap_or_default().into_owned(),
        Cell::Int(number) => number.to_string(),
        Cell::Float(number) => number.to_string(),
        Cell::NotApplicable => "-".to_owned(),
        Cell::Unknown => "?".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use isochrone_analysis::{Table, Unit};

    use super::*;
    use crate::openmetrics::text;

    fn report(rows: &[(&str, Option<&str>, i128, i128)]) -> Report {
        let columns = [
            ("host", Unit::None),
            ("phase", Unit::None),
            ("cause", Unit::None),
            ("detail", Unit::None),
            ("count", Unit::Count),
            ("total_ns", Unit::Ns),
        ];
        let mut waits = Table::new("phase_waits", "Time by cause", &columns);
        let columns =
            [("from", Unit::None), ("to", Unit::None), ("count", Unit::Count), ("p99_ns", Unit::Ns)];
        let mut links = Table::new("links", "Links", &columns);
        for &(cause, detail, count, ns) in rows {
            let detail = detail.map_or(Cell::NotApplicable, Cell::text);
            let (count, ns) = (Cell::Int(count), Cell::Int(ns));
            let head = [Cell::text("h"), Cell::text("p"), Cell::text(cause), detail];
            waits.row(head.into_iter().chain([count.clone(), ns.clone()]).collect());
            links.row(vec![Cell::text("a"), Cell::text(cause), count, ns]);
        }
        let (tables, notes) = (vec![waits, links], Vec::new());
        Report { analysis: "phases", version: 1, sync: false, range: None, tables, notes }
    }

    #[test]
    fn steps_add_up() {
        let mut figures = StepMetrics::default();
        figures.add(&report(&[("disk", Some("a"), 1, 1_000_000_000), ("disk", Some("b"), 2, 500)]));
        let kept = serde_json::to_string(&figures.families().len()).unwrap();
        assert_eq!(kept, "3");
        let shown = text(&figures.families());
        for expect in [
            "isochrone_phase_cause_seconds_total{host=\"h\",phase=\"p\",cause=\"disk\"} 1.000000500\n",
            "isochrone_link_messages_total{from=\"a\",to=\"disk\"} 3\n",
            "isochrone_link_latency_seconds{from=\"a\",to=\"disk\",quantile=\"0.99\"} 0.000000500\n",
        ] {
            assert!(shown.contains(expect), "{expect} is not in {shown}");
        }
        let before = text(&figures.before());
        assert!(before.contains("cause=\"disk\"} 0.000000000\n") && !before.contains("latency"), "{before}");
        // The next step has another cause, and nothing of the first one.
        figures.begin();
        figures.add(&report(&[("network", None, 1, 7)]));
        let shown = text(&figures.families());
        assert!(shown.contains("cause=\"disk\"} 1.000000500\n"), "{shown}");
        assert!(shown.contains("cause=\"network\"} 0.000000007\n"), "{shown}");
        assert!(shown.contains("isochrone_link_latency_seconds{from=\"a\",to=\"network\""), "{shown}");
        assert!(!shown.contains("isochrone_link_latency_seconds{from=\"a\",to=\"disk\""), "{shown}");
        let before = text(&figures.before());
        assert!(before.contains("network") && !before.contains("disk"), "{before}");
        assert_eq!((figures.series(), figures.left_out()), (5, 0));
    }

    #[test]
    fn series_are_not_without_number() {
        let mut figures = StepMetrics::default();
        for number in 0..MAX_SERIES + 10 {
            figures.value((0, vec![("phase".to_owned(), number.to_string())]), 1);
        }
        assert_eq!((figures.series(), figures.left_out()), (MAX_SERIES, 10));
        figures.value((0, vec![("phase".to_owned(), "0".to_owned())]), 1);
        assert_eq!(figures.left_out(), 10);
    }
}
