//! Traces of which a part was not recorded, and every analysis: each answer is that of the whole trace, or less with a note. A row that the
//! whole trace does not have, another value, or a larger sum is a wrong answer.
//!
//! Where `ISOCHRONE_ALL` is set, all recordings of the corpus are cut; else a few, which takes a minute.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::cuts::{GROUPS, chosen, hosts, is_of, none, streams};
use crate::common::without::copy_without;
use serde_json::Value;

/// All analyses that need no further options; each is a part of one reading.
const ANALYSES: &str = "cputop,memtop,iousagetop,iolatencytop,iolatencystats,iolatencyfreq,iolog,irqlog,irqstats,irqfreq,schedlog,\
                        schedtop,schedstats,schedfreq,syscallstats,syscalls,usage,processes,fds";

/// A table: its columns with their units, and its rows.
struct Table {
    columns: Vec<(String, String)>,
    rows: Vec<Vec<Value>>,
}

/// The tables by analysis and name, and the notes of each analysis.
struct Answers {
    tables: BTreeMap<(String, String), Table>,
    notes: BTreeMap<String, Vec<Value>>,
    /// What is said of the traces, whatever the analysis.
    said: Vec<String>,
}

impl Answers {
    /// Whether an analysis says something here that it does not say there.
    fn has_more_notes(&self, analysis: &str, there: &Self) -> bool {
        let is_new = |note: &Value| !there.notes[analysis].contains(note);
        self.notes[analysis].iter().any(is_new) || self.said.iter().any(|line| !there.said.contains(line))
    }
}

fn ask(traces: &[PathBuf]) -> Answers {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args(["analyze", "--no-sync", "--format", "json", ANALYSES])
        .args(traces)
        .output()
        .unwrap();
    // A stream that is missing is partial success.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&output.stderr));
    let (mut tables, mut notes) = (BTreeMap::new(), BTreeMap::new());
    for report in serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>() {
        let report = report.unwrap();
        let analysis = report["analysis"].as_str().unwrap().to_owned();
        notes.insert(analysis.clone(), report["notes"].as_array().unwrap().clone());
        for table in report["tables"].as_array().unwrap() {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let columns = table["columns"].as_array().unwrap();
            let columns = columns.iter().map(|it| (text(&it["name"]), text(&it["unit"]))).collect();
            let rows = table["rows"].as_array().unwrap();
            let rows = rows.iter().map(|row| row.as_array().unwrap().clone()).collect();
            tables.insert((analysis.clone(), text(&table["name"])), Table { columns, rows });
        }
    }
    let of_traces = ["no stream", "no such stream file", "begins", "ends"];
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().filter(|line| of_traces.iter().any(|part| line.contains(part)));
    Answers { tables, notes, said: said.map(str::to_owned).collect() }
}

/// What a column is for in the comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It says what the row is about: the same, or unknown.
    About,
    /// It grows with each event: the same, less, or unknown.
    Sum,
    /// It follows from the events that are there (a mean, a share, a quantile): it says nothing about another set of them.
    Derived,
}

/// Times and texts are what a row is about; counts, bytes and durations are sums, where they are not statistics of several.
fn role(table: &Table, column: usize) -> Role {
    let (name, unit) = (&*table.columns[column].0, &*table.columns[column].1);
    match unit {
        // How the values that are there are divided.
        _ if has(table, "lo_ns") => Role::Derived,
        // With the name of a process, where there is one.
        "none" if has(table, "resource") && name == "of" => Role::Derived,
        // Whether one process alone used it.
        "none" if has(table, "owners") && matches!(name, "pid" | "comm") => Role::Derived,
        // The first thread that was seen to use it.
        "none" if has(table, "close_on_exec") && matches!(name, "tid" | "comm") => Role::Derived,
        "time" if name.ends_with("_seen_ns") => Role::Derived,
        // A drawing, or a call with the names of its descriptors.
        "none" if name == "line" => Role::Derived,
        "none" if matches!(name, "mean_in_flight" | "priorities" | "owners" | "doubtful") => Role::Derived,
        "none" | "time" => Role::About,
        "percent" => Role::Derived,
        // What is unknown is more where less was recorded.
        _ if name.starts_with("unknown") || name.starts_with("net_") || name.starts_with("other_") => {
            Role::Derived
        }
        "count" | "bytes" => Role::Sum,
        _ if is_log(table) => Role::About,
        _ if matches!(
            name,
            "total_ns" | "cpu_ns" | "busy_ns" | "idle_ns" | "service_ns" | "in_flight_ns"
        ) =>
        {
            Role::Sum
        }
        _ => Role::Derived,
    }
}

fn has(table: &Table, column: &str) -> bool {
    table.columns.iter().any(|(name, _)| name == column)
}

/// Whether each row is of one thing that happened, not of several.
fn is_log(table: &Table) -> bool {
    has(table, "duration_ns") || has(table, "latency_ns")
}

/// Whether a cell says what another one does, or less of it.
fn is_within(part: &Value, whole: &Value, role: Role) -> bool {
    match role {
        Role::Derived => true,
        _ if part.is_null() || part == whole => true,
        Role::Sum => part.as_f64().zip(whole.as_f64()).is_some_and(|(part, whole)| part <= whole),
        Role::About => part == "?" || part == "unseen" || is_part_of_name(part, whole),
    }
}

/// Whether a name says less: of a socket fewer of its kind and addresses, of a disk its number.
fn is_part_of_name(part: &Value, whole: &Value) -> bool {
    let (Some(part), Some(whole)) = (part.as_str(), whole.as_str()) else { return false };
    let is_of_whole =
        |word: &str| matches!(word, "socket" | "listening" | "→") || whole.split(' ').any(|it| it == word);
    let is_socket = |name: &str| name.starts_with("socket") || name.starts_with("AF_");
    // A disk without a name has its number.
    let is_number = |name: &str| {
        name.split_once(':').is_some_and(|(major, minor)| {
            [major, minor].iter().all(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit()))
        })
    };
    is_number(part) || is_socket(part) && is_socket(whole) && part.split(' ').all(is_of_whole)
}

/// What is cut, where that is a stream.
const STREAM: &str = "stream";

/// Compares what a cut trace gives with what the whole one does; `why`: what was cut.
fn compare(whole: &Answers, cut: &Answers, why: &str, group: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (key @ (analysis, name), part) in &cut.tables {
        if group == STREAM && name == "unfinished" {
            // More calls lack an end, which it is about.
            continue;
        }
        if group == "sched_waking" && ["schedlog", "schedtop"].contains(&analysis.as_str()) {
            // Waits begin with another event then, which a note says.
            assert!(cut.has_more_notes(analysis, whole));
            continue;
        }
        let all = &whole.tables[key];
        let role_of = |column: usize| {
            let name = &part.columns[column].0;
            // Where fewer events show a thread it has its name of before until it is seen with the next one.
            let is_name = name == "comm" || name == "waker_comm";
            if is_name && ["sched_process_*", "*syscall_*", STREAM].contains(&group) {
                Role::Derived
            } else {
                role(part, column)
            }
        };
        let roles: Vec<Role> = (0..part.columns.len()).map(role_of).collect();
        // By host and the first time, where there is one: the rows that one may be a part of.
        let host_of = |row: &[Value]| row[0].to_string();
        let mut by_host: BTreeMap<String, Vec<&Vec<Value>>> = BTreeMap::new();
        all.rows.iter().for_each(|row| by_host.entry(host_of(row)).or_default().push(row));
        let mut by_text: BTreeMap<String, Vec<&Vec<Value>>> = BTreeMap::new();
        let exact = |row: &[Value]| {
            let about =
                row.iter().zip(&roles).filter(|(_, role)| **role == Role::About).map(|(cell, _)| cell);
            about.map(Value::to_string).collect::<Vec<_>>().join("\u{1f}")
        };
        all.rows.iter().for_each(|row| by_text.entry(exact(row)).or_default().push(row));
        let mut is_less = part.rows.len() != all.rows.len();
        for row in &part.rows {
            // What is of nobody known, or of sockets of which not all addresses are, is the sum of what is of several.
            let is_nobody =
                |cell: &Value| cell.is_null() || cell.as_str().is_some_and(|it| it.starts_with("AF_"));
            let is_rest = row.iter().zip(&roles).any(|(cell, role)| *role == Role::About && is_nobody(cell));
            let fits = |other: &&&Vec<Value>| {
                let is_bound = |role: Role| role != Role::Sum || !is_rest;
                let cells = row.iter().zip(other.iter()).zip(&roles);
                cells.filter(|(_, role)| is_bound(**role)).all(|((a, b), role)| is_within(a, b, *role))
            };
            let same = by_text.get(&exact(row)).and_then(|rows| rows.iter().find(fits));
            // It says itself that something is missing between its begin and its end.
            let is_doubtful =
                part.columns.iter().zip(row).any(|((name, _), cell)| name == "doubtful" && cell == "yes");
            if group == STREAM && is_doubtful {
                continue;
            }
            if by_text.get(&exact(row)).is_some_and(|rows| rows.contains(&row)) {
                continue;
            }
            let found = same.or_else(|| by_host.get(&host_of(row))?.iter().find(fits));
            match found {
                Some(other) => {
                    is_less |= row.iter().zip(other.iter()).zip(&roles).any(|((a, b), role)| {
                        *role != Role::Derived && a != b && !(analysis == "cputop" && a.is_null())
                    });
                }
                None => {
                    let near = by_text.get(&exact(row)).map(|rows| &rows[0]);
                    wrong.push(format!(
                        "{why}: {analysis} {name}: {}\n  whole: {near:?}",
                        Value::from(row.clone())
                    ));
                }
            }
        }
        if is_less && !cut.has_more_notes(analysis, whole) {
            wrong.push(format!("{why}: {analysis} {name}: less, and no note"));
        }
    }
    wrong
}

fn check(scenario: &Path) -> Vec<String> {
    let scratch = tempfile::tempdir().unwrap();
    let whole = ask(&hosts(scenario));
    let mut wrong = Vec::new();
    for group in GROUPS {
        let cut = scratch.path().join("cut");
        if copy_without(scenario, &cut, &|name| is_of(group, name)) > 0 {
            let why = format!("{} without {group}", scenario.file_name().unwrap().to_string_lossy());
            let mut found = compare(&whole, &ask(&hosts(&cut)), &why, group);
            found.truncate(12);
            wrong.extend(found);
        }
        std::fs::remove_dir_all(&cut).unwrap();
    }
    for stream in streams(scenario) {
        let cut = scratch.path().join("cut");
        copy_without(scenario, &cut, &|_| false);
        std::fs::remove_file(cut.join(&stream)).unwrap();
        let why = format!("{} without {}", scenario.file_name().unwrap().to_string_lossy(), stream.display());
        let mut found = compare(&whole, &ask(&hosts(&cut)), &why, STREAM);
        found.truncate(12);
        wrong.extend(found);
        std::fs::remove_dir_all(&cut).unwrap();
    }
    wrong
}

#[test]
fn of_the_example() {
    none(&check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop")));
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn of_recordings() {
    none(&chosen(&crate::common::shared()).iter().flat_map(|it| check(it)).collect::<Vec<_>>());
}
