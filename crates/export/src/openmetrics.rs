//! `OpenMetrics`: metrics as Prometheus and similar tools scrape them, or read them from a file.
//!
//! Each column of numbers of a table is a family, `isochrone_cputop_processes_cpu_seconds`, whose labels are the names in the row: the
//! host, the process, the call. Durations are in seconds, exact to the ns. Tables of instants (logs) become no
//! series. Tables of steps become [`series`]: the usage up to the end of each step, with its time. Format:
//! `OpenMetrics` 1.0.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use isochrone_analysis::{Cell, Column, Report, Table, Unit};
use isochrone_time::UnixNs;

/// The media type.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A family of samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// Its name, without the suffix of its kind.
    pub name: String,
    /// A description, for people.
    pub help: String,
    /// Whether it never decreases.
    pub is_counter: bool,
    /// Its samples.
    pub samples: Vec<Sample>,
}

/// A sample: its labels, and its value as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Names and values of its labels.
    pub labels: Vec<(String, String)>,
    /// Its value, a number.
    pub value: String,
    /// Its time; `None`: when it is read.
    pub at: Option<UnixNs>,
}

impl Sample {
    /// A sample of a whole number.
    pub fn count(labels: &[(&str, &str)], count: u64) -> Self {
        Self { labels: owned(labels), value: count.to_string(), at: None }
    }

    /// A sample of a whole number that may be negative.
    pub fn whole(labels: &[(&str, &str)], number: i128) -> Self {
        Self { labels: owned(labels), value: number.to_string(), at: None }
    }

    /// A sample of ns, in seconds.
    pub fn seconds(labels: &[(&str, &str)], ns: i128) -> Self {
        Self { labels: owned(labels), value: seconds(ns), at: None }
    }
}

fn owned(labels: &[(&str, &str)]) -> Vec<(String, String)> {
    labels.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The families of reports: one for each column of numbers of a table that is not a log.
pub fn families(reports: &[Report]) -> Vec<Family> {
    let tables = reports.iter().flat_map(|report| report.tables.iter().map(|table| (report.analysis, table)));
    tables
        .filter(|(_, table)| !table.columns.iter().any(|it| it.unit == Unit::Time))
        .flat_map(of_table)
        .collect()
}

/// The families of a table.
fn of_table((analysis, table): (&str, &Table)) -> Vec<Family> {
    let figures = table.columns.iter().enumerate().filter(|(_, column)| column.unit != Unit::None);
    let mut families: Vec<(usize, Family)> =
        figures.map(|(index, column)| (index, family(analysis, table, column, false))).collect();
    let mut known: BTreeMap<Vec<(String, String)>, u64> = BTreeMap::new();
    for row in &table.rows {
        let mut labels = labels(table, &row);
        // Numbers of threads are reused: two rows may have the same labels.
        let times = known.entry(labels.clone()).and_modify(|times| *times += 1).or_insert(1);
        if *times > 1 {
            labels.push(("again".to_owned(), times.to_string()));
        }
        for (index, family) in &mut families {
            let value = match (&row[*index], table.columns[*index].unit) {
                (Cell::Int(ns), Unit::Ns) => seconds(*ns),
                (Cell::Int(number), _) => number.to_string(),
                (Cell::Float(ns), Unit::Ns) => (ns / 1e9).to_string(),
                (Cell::Float(number), _) => number.to_string(),
                // What is unknown has no sample.
                _ => continue,
            };
            family.samples.push(Sample { labels: labels.clone(), value, at: None });
        }
    }
    families.into_iter().map(|(_, family)| family).filter(|family| !family.samples.is_empty()).collect()
}

/// The family of a column, without samples.
fn family(analysis: &str, table: &Table, column: &Column, is_counter: bool) -> Family {
    let (name, unit) = match column.unit {
        Unit::Ns => (column.name.trim_end_matches("_ns"), "_seconds"),
        _ => (&*column.name, ""),
    };
    let name = format!("isochrone_{}_{}_{}{unit}", word(analysis), word(table.name), word(name));
    let help = format!("{}: {}", table.title, column.name);
    Family { name, help, is_counter, samples: Vec::new() }
}

/// The labels of a row: its names.
fn labels(table: &Table, row: &[Cell]) -> Vec<(String, String)> {
    let columns = table.columns.iter().zip(row).filter(|(column, _)| column.unit == Unit::None);
    let label = |(column, cell): (&Column, &Cell)| {
        let value = match cell {
            Cell::Text(_) | Cell::Call(_) => cell.as_text()?.into_owned(),
            Cell::Int(number) => number.to_string(),
            Cell::Float(_) | Cell::Unknown | Cell::NotApplicable => return None,
        };
        Some((word(&column.name), value))
    };
    columns.filter_map(label).collect()
}

/// Columns of steps with a level at the end of the step, not an increase in it.
const LEVELS: [&str; 1] = ["net_pages"];

/// The time series of reports that have tables of steps (`usage`): counters of usage, with samples at the start of the first step and at the ends of
/// all steps, so that Prometheus' `rate` of them is what a step shows. Where empty steps are left out, there is a sample before the next one.
/// Means and shares follow from these, and are not series. Linear in the rows.
pub fn series(reports: &[Report]) -> Vec<Family> {
    let tables = reports.iter().flat_map(|report| report.tables.iter().map(|table| (report.analysis, table)));
    tables.flat_map(|(analysis, table)| of_steps(analysis, table)).collect()
}

/// The families of a table of steps; none of another table.
fn of_steps(analysis: &str, table: &Table) -> Vec<Family> {
    let (Some(begins), Some(ends)) = (table.column("begin_ns"), table.column("end_ns")) else {
        return Vec::new();
    };
    let is_summed = |unit| matches!(unit, Unit::Ns | Unit::Count | Unit::Bytes);
    let columns: Vec<usize> =
        (0..table.columns.len()).filter(|&index| is_summed(table.columns[index].unit)).collect();
    let is_level = |index: usize| LEVELS.contains(&&*table.columns[index].name);
    let mut families: Vec<Family> = columns
        .iter()
        .map(|&index| family(analysis, table, &table.columns[index], !is_level(index)))
        .collect();
    // The sums of one thing by column; rows of one thing follow each other.
    let mut sums: Vec<i128> = Vec::new();
    // Whether it has a sample at that time, by column.
    let mut is_open: Vec<bool> = Vec::new();
    let mut until: Option<(Vec<(String, String)>, UnixNs)> = None;
    let mut times: BTreeMap<Vec<(String, String)>, u64> = BTreeMap::new();
    for row in &table.rows {
        let (Cell::Int(begin), Cell::Int(end)) = (&row[begins], &row[ends]) else { continue };
        let (start, end) = (UnixNs(*begin), UnixNs(*end));
        let about = labels(table, &row);
        let continued =
            until.as_ref().filter(|(known, last)| *known == about && *last <= start).map(|it| it.1);
        if continued.is_none() {
            sums = vec![0; columns.len()];
            is_open = vec![false; columns.len()];
            *times.entry(about.clone()).or_default() += 1;
        }
        let mut shown = about.clone();
        if let Some(again @ 2..) = times.get(&about).copied() {
            // Numbers of processes are reused.
            shown.push(("again".to_owned(), again.to_string()));
        }
        for (at, ((sum, family), &index)) in sums.iter_mut().zip(&mut families).zip(&columns).enumerate() {
            let unit = table.columns[index].unit;
            let mut push = |sum: i128, at: UnixNs| {
                let value = if unit == Unit::Ns { seconds(sum) } else { sum.to_string() };
                family.samples.push(Sample { labels: shown.clone(), value, at: Some(at) });
            };
            // A step in which a value is unknown has no sample: the counter is of what is known.
            let Cell::Int(value) = &row[index] else {
                is_open[at] = false;
                continue;
            };
            if continued != Some(start) || !is_open[at] {
                push(*sum, start);
            }
            is_open[at] = true;
            *sum = if is_level(index) { *value } else { sum.saturating_add(*value) };
            push(*sum, end);
        }
        until = Some((about, end));
    }
    // Families that are 0 throughout are left out.
    let is_used = |family: &Family| {
        family.samples.iter().any(|sample| sample.value.bytes().any(|it| (b'1'..=b'9').contains(&it)))
    };
    families.retain(is_used);
    families
}

/// The text of families, with its end.
pub fn text(families: &[Family]) -> String {
    text_at(&[(families, None)])
}

/// The text of families at several instants, the earliest first, of which Prometheus keeps whole ms. `None`: when it is read, which is for a
/// single instant. Samples of one name and labels are together, as the format requires.
pub fn text_at(instants: &[(&[Family], Option<UnixNs>)]) -> String {
    // In the order of the first family of each name.
    let mut names: Vec<&Family> = Vec::new();
    let mut lines: BTreeMap<&str, Vec<(&Sample, Option<UnixNs>)>> = BTreeMap::new();
    for &(families, at) in instants {
        for family in families {
            let of_name = lines.entry(&family.name).or_insert_with(|| {
                names.push(family);
                Vec::new()
            });
            of_name.extend(family.samples.iter().map(|sample| (sample, at)));
        }
    }
    let mut out = String::new();
    for Family { name, help, is_counter, .. } in names {
        let (kind, suffix) = if *is_counter { ("counter", "_total") } else { ("gauge", "") };
        // Writing to a text does not fail.
        let _ = writeln!(out, "# TYPE {name} {kind}\n# HELP {name} {}", escaped(help));
        let mut samples = lines.remove(name.as_str()).unwrap_or_default();
        if instants.len() > 1 {
            samples.sort_by(|a, b| (&a.0.labels, a.1).cmp(&(&b.0.labels, b.1)));
        }
        for (Sample { labels, value, at: own }, at) in samples {
            let labels: Vec<String> =
                labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
            let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            let at = own.map(|at| seconds(at.0)).or_else(|| at.map(milliseconds));
            let at = at.map_or_else(String::new, |at| format!(" {at}"));
            let _ = writeln!(out, "{name}{suffix}{labels} {value}{at}");
        }
    }
    out.push_str("# EOF\n");
    out
}

/// An instant in seconds, to whole ms.
fn milliseconds(at: UnixNs) -> String {
    let ms = at.0.div_euclid(1_000_000);
    format!("{}.{:03}", ms.div_euclid(1000), ms.rem_euclid(1000))
}

/// A number of ns in seconds, exact.
fn seconds(ns: i128) -> String {
    let (sign, ns) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
    format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// A name that is valid in the format.
fn word(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(rows: &[Vec<Cell>]) -> Report {
        let columns = [
            ("host", Unit::None),
            ("tid", Unit::None),
            ("comm", Unit::None),
            ("cpu_ns", Unit::Ns),
            ("count", Unit::Count),
        ];
        let mut table = Table::new("processes", "CPU by thread", &columns);
        rows.iter().cloned().for_each(|row| table.row(row));
        let log = Table::new("log", "Every wait", &[("begin_ns", Unit::Time), ("wait_ns", Unit::Ns)]);
        Report {
            analysis: "cputop",
            version: 1,
            sync: false,
            range: None,
            tables: vec![table, log],
            notes: Vec::new(),
        }
    }

    #[test]
    fn figures_have_names_and_labels() {
        let row = |tid: i32, comm: &str, ns: i128| {
            vec![Cell::text("web1"), Cell::Int(tid.into()), Cell::text(comm), Cell::Int(ns), Cell::Unknown]
        };
        let shown = text(&families(&[report(&[
            row(7, "a\"b\\c", 1_500_000_000),
            row(7, "a\"b\\c", -1),
            row(8, "d", 0),
        ])]));
        let expect = "# TYPE isochrone_cputop_processes_cpu_seconds gauge\n\
            # HELP isochrone_cputop_processes_cpu_seconds CPU by thread: cpu_ns\n\
            isochrone_cputop_processes_cpu_seconds{host=\"web1\",tid=\"7\",comm=\"a\\\"b\\\\c\"} 1.500000000\n\
            isochrone_cputop_processes_cpu_seconds{host=\"web1\",tid=\"7\",comm=\"a\\\"b\\\\c\",again=\"2\"} -0.000000001\n\
            isochrone_cputop_processes_cpu_seconds{host=\"web1\",tid=\"8\",comm=\"d\"} 0.000000000\n\
            # EOF\n";
        assert_eq!(shown, expect);
        assert_eq!(text(&families(&[report(&[])])), "# EOF\n");
    }

    #[test]
    fn instants_are_written_in_order() {
        let family = |value: u64, labels: &[&str]| Family {
            name: "n".to_owned(),
            help: "h".to_owned(),
            is_counter: true,
            samples: labels.iter().map(|label| Sample::count(&[("a", label)], value)).collect(),
        };
        let (before, after) = ([family(0, &["y"])], [family(5, &["x", "y"])]);
        let shown = text_at(&[(&before, Some(UnixNs(1_999_999))), (&after, Some(UnixNs(1_500_000_000)))]);
        let expect = "# TYPE n counter\n# HELP n h\nn_total{a=\"x\"} 5 1.500\nn_total{a=\"y\"} 0 0.001\n\
            n_total{a=\"y\"} 5 1.500\n# EOF\n";
        assert_eq!(shown, expect);
    }

    #[test]
    fn counters_say_so() {
        let family = Family {
            name: "isochrone_watch_chunks".to_owned(),
            help: "Chunks".to_owned(),
            is_counter: true,
            samples: vec![Sample::count(&[("host", "a")], 3), Sample::seconds(&[], 1_000_000_001)],
        };
        let shown = text(&[family]);
        assert!(shown.contains("# TYPE isochrone_watch_chunks counter\n"), "{shown}");
        assert!(
            shown.contains(
                "\nisochrone_watch_chunks_total{host=\"a\"} 3\nisochrone_watch_chunks_total 1.000000001\n"
            ),
            "{shown}"
        );
    }

    #[test]
    fn steps_become_counters_with_times() {
        let columns = [
            ("host", Unit::None),
            ("pid", Unit::None),
            ("begin_ns", Unit::Time),
            ("end_ns", Unit::Time),
            ("cpu_ns", Unit::Ns),
            ("percent", Unit::Percent),
            ("net_pages", Unit::Count),
            ("read_bytes", Unit::Bytes),
            ("mean_in_flight", Unit::None),
        ];
        let mut table = Table::new("processes", "Processes over time", &columns);
        // Steps 0, 1 and 4 of a process; its number is used again.
        for (begin, cpu, net) in [(0_i128, 5_i128, 3_i128), (10, 7, -2), (40, 1, -2), (20, 9, 0)] {
            let [begin, end] = [begin, begin + 10].map(|at| Cell::Int(1_000_000_000 + at));
            let host = Cell::text("h");
            let (share, mean) = (Cell::Float(50.0), Cell::Float(0.25));
            table.row(vec![
                host,
                Cell::Int(7),
                begin,
                end,
                cpu.into(),
                share,
                net.into(),
                Cell::Int(0),
                mean,
            ]);
        }
        let whole = Table::new("overview", "Usage over time", &[("host", Unit::None), ("busy_ns", Unit::Ns)]);
        let report = Report {
            analysis: "usage",
            version: 1,
            sync: true,
            range: None,
            tables: vec![whole, table],
            notes: Vec::new(),
        };
        let shown = text(&series(&[report]));
        let line = |name: &str, again: &str, value: &str, at: u64| {
            format!("isochrone_usage_processes_{name}{{host=\"h\",pid=\"7\"{again}}} {value} 1.{at:09}\n")
        };
        let cpu = |again: &str, ns: u64, at| line("cpu_seconds_total", again, &format!("0.{ns:09}"), at);
        let net = |again: &str, pages: i32, at| line("net_pages", again, &pages.to_string(), at);
        let again = ",again=\"2\"";
        let expect = [
            "# TYPE isochrone_usage_processes_cpu_seconds counter\n".to_owned(),
            "# HELP isochrone_usage_processes_cpu_seconds Processes over time: cpu_ns\n".to_owned(),
            [cpu("", 0, 0), cpu("", 5, 10), cpu("", 12, 20), cpu("", 12, 40), cpu("", 13, 50)].concat(),
            [cpu(again, 0, 20), cpu(again, 9, 30)].concat(),
            "# TYPE isochrone_usage_processes_net_pages gauge\n".to_owned(),
            "# HELP isochrone_usage_processes_net_pages Processes over time: net_pages\n".to_owned(),
            [net("", 0, 0), net("", 3, 10), net("", -2, 20), net("", -2, 40), net("", -2, 50)].concat(),
            [net(again, 0, 20), net(again, 0, 30)].concat(),
            "# EOF\n".to_owned(),
        ];
        assert_eq!(shown, expect.concat());
    }
}
