//! `irqfreq` and `schedfreq` against those of lttng-analyses.

use std::collections::{BTreeMap, BTreeSet};

use super::printed::{Distribution, Printed, distributions};
use super::theirs::{each, misses_softirqs, printed};
use super::{Differences, Row};

/// Counts of 20 rows of a distribution as theirs have them. Fault: the row of a value is found with a rounded width,
/// so that a value on the edge of two may fall into the lower one.
pub(crate) fn their_counts(values: &[i64]) -> Vec<i64> {
    let us = |ns: &i64| *ns as f64 / 1000.0;
    let (min, max) = (us(values.iter().min().unwrap()), us(values.iter().max().unwrap()));
    let width = (max - min) / 20.0;
    let mut counts = vec![0; 20];
    for value in values {
        let row = ((us(value) - min) / width) as usize;
        counts[row.min(19)] += 1;
    }
    counts
}

/// The exact ones of ours: rows are no narrower than 1 ns.
pub(crate) fn our_counts(values: &[i64]) -> Vec<i64> {
    let (min, max) = (values.iter().min().unwrap(), values.iter().max().unwrap());
    let rows = (max - min).min(20);
    let mut counts = vec![0; usize::try_from(rows).unwrap()];
    for value in values {
        let row = ((value - min) * rows / (max - min)).min(rows - 1);
        counts[usize::try_from(row).unwrap()] += 1;
    }
    counts
}

/// A distribution of the values of logs, which other tests compare: the least value of each row, and how many are in
/// it. Whether both have the same rows.
fn compare_distribution(
    differences: &mut Differences,
    what: &str,
    values: &[i64],
    ours: &[&Row],
    theirs: &[(Printed, i64)],
) -> bool {
    let counts: Vec<i64> = ours.iter().map(|row| row.int("count")).collect();
    differences.same(|| format!("{what}: counts of ours"), &counts, &our_counts(values));
    let printed_counts: Vec<i64> = theirs.iter().map(|row| row.1).collect();
    differences.same(|| format!("{what}: counts of theirs"), &their_counts(values), &printed_counts);
    let (min, max) = (values.iter().min().unwrap(), values.iter().max().unwrap());
    differences.same(|| format!("{what}: last"), ours[ours.len() - 1].int("hi_ns"), *max);
    let least = |row: usize, rows: usize| *min as f64 + (max - min) as f64 * row as f64 / rows as f64;
    for (row, theirs) in theirs.iter().enumerate() {
        printed(differences, || format!("{what}, row {row}"), Some(least(row, 20) / 1000.0), &theirs.0, 3);
    }
    for (row, of) in ours.iter().enumerate() {
        // Ours begin with the first whole ns of a row, theirs anywhere in it.
        let exact = *min + ((max - min) * row as i64 + ours.len() as i64 - 1) / ours.len() as i64;
        differences.same(|| format!("{what}, row {row} of ours"), of.int("lo_ns"), exact);
    }
    counts == printed_counts
}

/// Ours by what they are of, without those that have no spread.
fn our_distributions(rows: &[Row], of: impl Fn(&Row) -> Option<String>) -> BTreeMap<String, Vec<&Row>> {
    let mut found: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let Some(of) = of(row) else { continue };
        found.entry(of).or_default().push(row);
    }
    found.retain(|_, rows| rows[0].int("lo_ns") < rows[rows.len() - 1].int("hi_ns"));
    found
}

/// The values of a log by what they are of.
fn values_by(rows: &[Row], of: impl Fn(&Row) -> (String, i64)) -> BTreeMap<String, Vec<i64>> {
    let mut values: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for (of, value) in rows.iter().map(of) {
        values.entry(of).or_default().push(value);
    }
    values
}

/// Threads of `many-threads` whose distributions have other rows: a value on an edge, and all values within 3 ns.
const OTHER_ROWS: [&str; 2] = ["34", "9262"];

/// Compares which distributions there are, and each of them. Returns those whose rows are others.
fn compare_all<'t>(
    differences: &mut Differences,
    trace: &str,
    ours: &BTreeMap<String, Vec<&Row>>,
    values: &BTreeMap<String, Vec<i64>>,
    theirs: &'t [Distribution],
) -> Vec<&'t str> {
    let shown: Vec<&String> = ours.keys().collect();
    let expect: BTreeSet<&String> = theirs.iter().map(|distribution| &distribution.of).collect();
    differences.same(|| format!("{trace}: distributions"), shown, expect.into_iter().collect());
    let mut different = Vec::new();
    for Distribution { of, rows } in theirs {
        let ours = ours.get(of).map(Vec::as_slice).unwrap_or_default();
        if !compare_distribution(differences, &format!("{trace}: {of}"), &values[of], ours, rows) {
            different.push(of.as_str());
        }
    }
    different
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn irqfreq() {
    each("irqfreq", 7, |differences, trace, text| {
        let ours = our_distributions(trace.ours.rows("irqfreq", "freq"), |row| {
            let is_shown =
                row.text("what") == "duration" && !(misses_softirqs(trace) && row.text("type") == "SoftIRQ");
            is_shown.then(|| format!("{} ({})", row.text("name"), row.int("number")))
        });
        let values =
            |row: &Row| (format!("{} ({})", row.text("name"), row.int("number")), row.int("duration_ns"));
        let values = values_by(trace.ours.rows("irqlog", "log"), values);
        let theirs = distributions(text, "Handler duration frequency distribution ");
        let different = compare_all(differences, trace.name, &ours, &values, &theirs);
        assert!(different.is_empty(), "{}: {different:?}", trace.name);
    });
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn schedfreq() {
    each("schedfreq", 7, |differences, trace, text| {
        let ours = our_distributions(trace.ours.rows("schedfreq", "thread_freq"), |row| {
            Some(row.int("tid").to_string())
        });
        let values = values_by(trace.ours.rows("schedlog", "log"), |row| {
            (row.int("tid").to_string(), row.int("latency_ns"))
        });
        let theirs = distributions(text, "Scheduling latency frequency distribution - TID: ");
        let different = compare_all(differences, trace.name, &ours, &values, &theirs);
        let expect: &[&str] = if trace.name == "many-threads" { &OTHER_ROWS } else { &[] };
        differences.same(|| format!("{}: other rows", trace.name), different.as_slice(), expect);
    });
}
