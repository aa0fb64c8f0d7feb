//! What the tests against other tools' figures share: the tables that the binary computes, read by column names.

mod calls;
mod distributions;
pub(crate) mod interrupts;
pub(crate) mod io;
pub(crate) mod io_usage;
mod lami;
mod machine;
mod periods;
pub(crate) mod printed;
pub(crate) mod theirs;
mod waits;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// A row of a table, by column names.
#[derive(Debug, Clone)]
pub(crate) struct Row(BTreeMap<String, Value>);

impl Row {
    /// A number.
    pub(crate) fn int(&self, column: &str) -> i64 {
        self.maybe(column).unwrap_or_else(|| panic!("{column} of {self:?}"))
    }

    /// A number, if it is known.
    pub(crate) fn maybe(&self, column: &str) -> Option<i64> {
        self.value(column).as_i64()
    }

    /// A name; empty where it is not known.
    pub(crate) fn text(&self, column: &str) -> &str {
        self.value(column).as_str().unwrap_or_default()
    }

    /// Whatever it is.
    pub(crate) fn value(&self, column: &str) -> &Value {
        self.0.get(column).unwrap_or_else(|| panic!("no column {column} in {self:?}"))
    }
}

/// All that one run of `isochrone analyze` says of one host.
pub(crate) struct Ours {
    tables: BTreeMap<(String, String), Vec<Row>>,
    /// First and last event, Unix ns.
    pub(crate) range: (i64, i64),
}

impl Ours {
    /// Runs analyses (names with commas between them) on a trace.
    pub(crate) fn of(trace: &Path, names: &str, options: &[&str]) -> Self {
        let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
            .args(["analyze", "-q", "--format", "json"])
            .args(options)
            .args([Path::new(names), trace])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{names} of {}: {said}", trace.display());
        let mut ours = Self { tables: BTreeMap::new(), range: (0, 0) };
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            ours.add(&serde_json::from_str(line).unwrap());
        }
        ours
    }

    fn add(&mut self, report: &Value) {
        let analysis = report["analysis"].as_str().unwrap();
        self.range = serde_json::from_value(report["range"].clone()).unwrap();
        for table in report["tables"].as_array().unwrap() {
            let columns: Vec<&str> =
                table["columns"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
            let row = |cells: &Value| {
                let cells = cells.as_array().unwrap().iter().cloned();
                Row(columns.iter().map(|&name| name.to_owned()).zip(cells).collect())
            };
            let rows = table["rows"].as_array().unwrap().iter().map(row).collect();
            self.tables.insert((analysis.to_owned(), table["name"].as_str().unwrap().to_owned()), rows);
        }
    }

    /// The rows of a table.
    pub(crate) fn rows(&self, analysis: &str, table: &str) -> &[Row] {
        self.tables
            .get(&(analysis.to_owned(), table.to_owned()))
            .unwrap_or_else(|| panic!("no table {analysis}/{table}"))
    }

    /// How long what was looked at is, ns.
    pub(crate) fn duration(&self) -> i64 {
        self.range.1 - self.range.0
    }
}

/// Calls that LTTng has no description of: it records their numbers in an event `unknown`, as which others count them.
/// Ours know the numbers of x86-64.
const UNKNOWN_TO_THE_TRACER: [&str; 6] =
    ["arch_prctl", "clone3", "getrandom", "membarrier", "rseq", "rt_sigreturn"];

/// The name of a row's system call as the tracer has it.
pub(crate) fn traced_name(row: &Row) -> &str {
    let name = row.text("syscall");
    if UNKNOWN_TO_THE_TRACER.contains(&name) { "unknown" } else { name }
}

/// Differences between two accounts: found one by one, shown together.
#[derive(Default)]
pub(crate) struct Differences(Vec<String>);

impl Differences {
    /// Notes two figures if they differ.
    #[allow(clippy::needless_pass_by_value)] // Most are made for the comparison.
    pub(crate) fn same<T: PartialEq + std::fmt::Debug>(
        &mut self,
        what: impl FnOnce() -> String,
        ours: T,
        theirs: T,
    ) {
        if ours != theirs {
            self.0.push(format!("{}: ours {ours:?}, theirs {theirs:?}", what()));
        }
    }

    /// Notes all that only one of two has, or that has another value there.
    pub(crate) fn same_maps<K: Ord + std::fmt::Debug, V: PartialEq + std::fmt::Debug>(
        &mut self,
        what: &str,
        ours: &BTreeMap<K, V>,
        theirs: &BTreeMap<K, V>,
    ) {
        for key in ours.keys().chain(theirs.keys().filter(|&key| !ours.contains_key(key))) {
            self.same(|| format!("{what} {key:?}"), ours.get(key), theirs.get(key));
        }
    }

    /// Fails if anything was noted.
    pub(crate) fn none(self) {
        let shown = self.0.iter().take(40).cloned().collect::<Vec<_>>().join("\n");
        assert!(self.0.is_empty(), "{} differences:\n{shown}", self.0.len());
    }
}
