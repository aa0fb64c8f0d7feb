//! Scripts, written and shown to the binary, and what it says of them.
//!
//! Times of scripts are ns since 1970: what a test writes is what the tables show.

use std::fs;
use std::process::Command;

use isochrone_testkit::{FieldValue, KernelScript};
use serde_json::Value;

/// What the binary said.
pub(super) struct Said {
    /// What it found.
    pub(super) stdout: String,
    /// What it remarked.
    pub(super) stderr: String,
    /// How it ended.
    pub(super) status: Option<i32>,
}

/// Runs `isochrone analyze` with arguments between blanks on the traces of some hosts.
pub(super) fn analyze(hosts: &[&KernelScript], arguments: &str) -> Said {
    let directory = tempfile::tempdir().unwrap();
    for (place, host) in hosts.iter().enumerate() {
        let trace = directory.path().join(place.to_string());
        fs::create_dir(&trace).unwrap();
        host.write(&trace).unwrap();
    }
    analyze_in(directory.path(), arguments)
}

/// As [`analyze`], on what a directory holds.
pub(super) fn analyze_in(directory: &std::path::Path, arguments: &str) -> Said {
    // `@120`: 120 ns after 1970. The binary takes so few ns for a mistake.
    let word = |word: &str| match word.strip_prefix('@') {
        Some(ns) => format!("0.{ns:0>9}"),
        None => word.to_owned(),
    };
    let cache = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command.env("XDG_CACHE_HOME", cache.path());
    command.arg("analyze").args(arguments.split_whitespace().map(word)).arg(directory);
    let output = command.output().unwrap();
    Said {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        status: output.status.code(),
    }
}

/// Compares some columns of a table: that of `--table`, else the first one. Cells have blanks between them; what is not
/// known is `?`.
pub(super) fn check(host: &KernelScript, arguments: &str, columns: &str, expect: &[&str]) {
    check_all(&[host], arguments, columns, expect);
}

/// As [`check`], of several hosts.
pub(super) fn check_all(hosts: &[&KernelScript], arguments: &str, columns: &str, expect: &[&str]) {
    let said = analyze(hosts, &format!("{arguments} --format json"));
    assert_eq!(said.status, Some(0), "{arguments}: {}", said.stderr);
    assert_eq!(rows(&said.stdout, columns), expect, "{arguments}: {columns}");
}

/// Some columns of the first table of a JSON document.
pub(super) fn rows(json: &str, columns: &str) -> Vec<String> {
    let report: Value = serde_json::from_str(json).unwrap();
    let table = &report["tables"][0];
    let names = table["columns"].as_array().unwrap();
    let place = |name: &str| {
        let found = names.iter().position(|column| column["name"] == name);
        found.unwrap_or_else(|| panic!("{} has no column {name}", table["name"]))
    };
    let places: Vec<usize> = columns.split_whitespace().map(place).collect();
    let cell = |cell: &Value| match cell {
        Value::Null => "?".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap().to_string(),
        other => other.to_string(),
    };
    let line = |row: &Value| places.iter().map(|&place| cell(&row[place])).collect::<Vec<_>>().join(" ");
    table["rows"].as_array().unwrap().iter().map(line).collect()
}

/// A system call of the thread that CPU 0 runs: entered at a time, left one ns later.
pub(super) fn call(host: &mut KernelScript, at: u64, name: &str, fields: &[(&str, FieldValue)], ret: i64) {
    host.at(at).enter(name, fields).after(1).exit(name, ret);
}
