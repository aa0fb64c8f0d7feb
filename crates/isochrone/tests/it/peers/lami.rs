//! `--format lami` against the machine interface of lttng-analyses: what the tables look like, and what is in them.

use std::process::Command;

use serde_json::Value;

use crate::common::shared;

/// Each analysis, and the file of what its tables look like.
const ANALYSES: [(&str, &str); 15] = [
    ("cputop", "cputop"),
    ("iolatencyfreq", "iolatency"),
    ("iolatencystats", "iolatency"),
    ("iolatencytop", "iolatency"),
    ("iolog", "iolatency"),
    ("iousagetop", "iolatency"),
    ("irqfreq", "irq"),
    ("irqlog", "irq"),
    ("irqstats", "irq"),
    ("memtop", "memtop"),
    ("schedfreq", "sched"),
    ("schedlog", "sched"),
    ("schedstats", "sched"),
    ("schedtop", "sched"),
    ("syscallstats", "syscallstats"),
];

fn document(arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    let output = command.args(["analyze", "-q", "--format", "lami"]).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn reference(path: &str) -> Value {
    let path = shared().join("data/lttng-analyses").join(path);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn metadata() {
    for (analysis, file) in ANALYSES {
        let (ours, theirs) =
            (document(&[analysis, "--metadata"]), reference(&format!("mi-metadata-{file}.json")));
        for part in ["mi-version", "title", "table-classes"] {
            assert_eq!(ours[part], theirs[part], "{analysis}: {part}");
        }
        // A consumer reads these.
        assert!(
            ["version", "description", "authors", "url", "tags"].iter().all(|part| ours.get(part).is_some())
        );
    }
}

/// The class of a result as the metadata have it.
fn class(result: &Value) -> &str {
    let class = &result["class"];
    class.as_str().or_else(|| class["inherit"].as_str()).unwrap()
}

/// Every cell of all results is of the class that its column declares, or says that there is nothing.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn cells_are_what_their_columns_say() {
    let path = shared().join("data/vm/chain3/h1");
    for (analysis, _) in ANALYSES {
        let metadata = document(&[analysis, "--metadata"]);
        let document = document(&[analysis, path.to_str().unwrap()]);
        let results = document["results"].as_array().unwrap();
        assert!(!results.is_empty(), "{analysis}");
        for result in results {
            let columns = metadata["table-classes"][class(result)]["column-descriptions"].as_array().unwrap();
            for row in result["data"].as_array().unwrap() {
                let cells = row.as_array().unwrap();
                assert_eq!(cells.len(), columns.len(), "{analysis}: {row}");
                for (cell, column) in cells.iter().zip(columns) {
                    let is_it =
                        cell.is_null() || cell["class"] == column["class"] || cell["class"] == "unknown";
                    assert!(is_it, "{analysis}: {cell} is no {column}");
                }
            }
        }
    }
}

/// Figures of a result by what each row is of: the first cell's number.
fn figures(document: &Value, class_name: &str, key: &str) -> Vec<(i64, Vec<Option<f64>>)> {
    let results = document["results"].as_array().unwrap();
    let data = results
        .iter()
        .filter(|result| class(result) == class_name)
        .flat_map(|result| result["data"].as_array().unwrap());
    let row = |row: &Value| {
        let cells = &row.as_array().unwrap()[1..];
        (row[0][key].as_i64().unwrap_or(-1), cells.iter().map(|cell| cell["value"].as_f64()).collect())
    };
    let mut rows: Vec<_> = data.map(row).collect();
    rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
    rows
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn figures_are_theirs() {
    let trace = shared().join("data/scp/scp_src");
    let check = |analysis: &str, class: &str, key: &str| {
        let ours = figures(&document(&[analysis, trace.to_str().unwrap()]), class, key);
        let theirs = figures(&reference(&format!("scp_src/{analysis}.json")), class, key);
        assert_eq!(ours.len(), theirs.len(), "{analysis}/{class}");
        for ((of, ours), (their, theirs)) in ours.iter().zip(&theirs) {
            assert_eq!(of, their, "{analysis}/{class}");
            for (ours, theirs) in ours.iter().zip(theirs) {
                // The last bits of a floating-point number are nobody's.
                let is_same = match (ours, theirs) {
                    (Some(ours), Some(theirs)) => (ours - theirs).abs() <= theirs.abs() * 1e-12,
                    (ours, theirs) => ours == theirs,
                };
                assert!(is_same, "{analysis}/{class} {of}: ours {ours:?}, theirs {theirs:?}");
            }
        }
    };
    check("irqstats", "hard-stats", "nr");
    check("schedstats", "per_tid_stats", "tid");
    check("iolatencystats", "disk-latency-stats", "none");
    // No pages were recorded: theirs counts 0, ours are unknown.
    let ours = figures(&document(&["memtop", trace.to_str().unwrap()]), "total", "value");
    assert!(!ours.is_empty() && ours.iter().all(|(value, _)| *value == -1), "{ours:?}");
}
