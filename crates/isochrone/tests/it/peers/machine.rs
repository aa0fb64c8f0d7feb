//! The machine-readable output of lttng-analyses: what texts round, to the ns.

use serde_json::Value;

use super::theirs::traces;
use super::{Differences, Row};
use crate::common::shared;

/// Compares the statistics of an output: of each row, what it is of by the number that `key` names, and the values.
fn compare(analysis: &str, class: &str, table: &str, key: &str, column: &str) {
    let shared = shared();
    let mut differences = Differences::default();
    for name in ["many-threads", "scp_src"] {
        let path = shared.join("data/lttng-analyses").join(name).join(format!("{analysis}.json"));
        let output: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let trace = traces().iter().find(|trace| trace.name == name).unwrap();
        let rows = trace.ours.rows(analysis, table);
        let of_class = |result: &&Value| result["class"] == class;
        let result = output["results"].as_array().unwrap().iter().find(of_class).unwrap();
        let theirs = result["data"].as_array().unwrap();
        differences.same(|| format!("{name}: rows"), rows.len(), theirs.len());
        for theirs in theirs {
            let number = theirs[0][key].as_i64().unwrap();
            let Some(row) = rows.iter().find(|row| row.int(column) == number) else {
                differences.same(|| format!("{name}: {number}"), "none", "one");
                continue;
            };
            compare_row(&mut differences, &format!("{name}: {number}"), row, theirs);
        }
    }
    differences.none();
}

fn compare_row(differences: &mut Differences, what: &str, ours: &Row, theirs: &Value) {
    for (place, column) in [(1, "count"), (2, "min_ns"), (4, "max_ns")] {
        differences.same(|| format!("{what}: {column}"), ours.maybe(column), theirs[place]["value"].as_i64());
    }
    for (place, column) in [(3, "avg_ns"), (5, "stdev_ns")] {
        let [ours, theirs] = [ours.value(column), &theirs[place]["value"]].map(Value::as_f64);
        // The last bits of a floating-point number are nobody's.
        let is_same = match (ours, theirs) {
            (Some(ours), Some(theirs)) => (ours - theirs).abs() <= theirs.abs() * 1e-12,
            (ours, theirs) => ours == theirs,
        };
        if !is_same {
            differences.same(|| format!("{what}: {column}"), ours, theirs);
        }
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn irqstats() {
    compare("irqstats", "hard-stats", "hard", "nr", "number");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn schedstats() {
    compare("schedstats", "per_tid_stats", "threads", "tid", "tid");
}
