//! Traces of which a part was not recorded: each answer is that of the whole trace, or less with a note, never another one.
//!
//! An event class is taken away by giving it, in the metadata, a name of the same length that nothing knows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::without::copy_without;
use isochrone_analysis::RECIPE;
use serde_json::Value;

/// Whether a name is of a pattern of `lttng enable-event`: `*` at its end stands for anything.
fn is_of(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(name == pattern, |head| name.starts_with(head))
}

/// The rows of a table that a command prints as JSON, and how many notes it has.
fn rows(
    command: &str,
    table: &str,
    traces: &[PathBuf],
    cache: &Path,
) -> (Vec<BTreeMap<String, Value>>, usize) {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args([command, "--format", "json", "--table", table])
        .args(traces)
        .env("XDG_CACHE_HOME", cache)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {text}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let tables = json["tables"].as_array().cloned().unwrap_or_default();
    let found =
        tables.iter().find(|it| it["name"] == table).unwrap_or_else(|| panic!("{command}: no table {table}"));
    let names: Vec<&str> =
        found["columns"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
    let row = |row: &Value| match row {
        Value::Object(cells) => cells.iter().map(|(name, cell)| (name.clone(), cell.clone())).collect(),
        row => {
            names.iter().map(|name| (*name).to_owned()).zip(row.as_array().unwrap().iter().cloned()).collect()
        }
    };
    let notes = json["notes"].as_array().map_or(0, Vec::len) + text.matches("note:").count();
    (found["rows"].as_array().unwrap().iter().map(row).collect(), notes)
}

/// Commands, a table of each, and what its rows are known by.
const TABLES: [(&str, &str, &[&str]); 4] = [
    ("blocking", "waits", &["host", "tid", "begin_ns", "end_ns"]),
    ("critical-path", "requests", &["client_host", "server_host", "begin_ns", "end_ns"]),
    ("messages", "messages", &["from", "to", "sent_raw_ns", "received_raw_ns"]),
    ("accounting", "requests", &["client_host", "server_host", "begin_ns", "end_ns"]),
];

/// What is not compared: numbers by order, and the times on the common clock, which less known steering widens.
fn is_compared(column: &str) -> bool {
    !matches!(column, "request" | "latency_lo_ns" | "latency_hi_ns")
}

/// Whether a cell says less than another one, or the same: nothing, unknown, or a part of its text.
fn is_within(part: &Value, whole: &Value) -> bool {
    let words = |value: &Value| value.as_str().unwrap_or_default().replace(['→', ':'], " ");
    part == whole
        || part.is_null()
        || part == "unknown"
        || part == "?"
        // Without its requests, all that is known of a disk is that a device ended the wait.
        || part == "irq" && whole == "disk"
        || part.is_string() && {
            let whole = words(whole);
            words(part).split_whitespace().all(|word| whole.split_whitespace().any(|other| other == word))
        }
}

fn hosts(directory: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("kernel").is_dir())
        .collect();
    all.sort();
    all
}

/// Groups of events that somebody may leave out; system calls are what all of this is made of.
const GROUPS: [&str; 9] = [
    "sched_switch",
    "irq_*",
    "irq_handler_*",
    "irq_softirq_*",
    "timer_*",
    "block_*",
    "kmem_*",
    "net_dev_xmit",
    "sched_migrate_task",
];

/// Wake-ups on the CPU that decides them. Without these, what another CPU did just then is taken for the cause (`docs/limits.md`), which
/// shows in recordings of several CPUs.
const WAKING: &str = "sched_waking";

fn check(scenario: &Path, groups: &[&str]) {
    let scratch = tempfile::tempdir().unwrap();
    let cache = scratch.path().join("cache");
    let whole: Vec<_> =
        TABLES.iter().map(|(command, table, _)| rows(command, table, &hosts(scenario), &cache)).collect();
    for group in groups {
        let cut = scratch.path().join("cut");
        let classes = copy_without(scenario, &cut, &|name| is_of(group, name));
        if classes == 0 {
            continue;
        }
        for ((command, table, key), (all, notes)) in TABLES.iter().zip(&whole) {
            let id = |row: &BTreeMap<String, Value>| -> Vec<String> {
                key.iter().map(|name| row[*name].to_string()).collect()
            };
            let by_id: BTreeMap<Vec<String>, &BTreeMap<String, Value>> =
                all.iter().map(|row| (id(row), row)).collect();
            let (part, with_cut) = rows(command, table, &hosts(&cut), &cache);
            let mut is_less = part.len() < all.len();
            for row in &part {
                let same = by_id.get(&id(row));
                let same = same
                    .unwrap_or_else(|| panic!("{}: {command} without {group}: {row:?}", scenario.display()));
                for (name, cell) in row.iter().filter(|(name, _)| is_compared(name)) {
                    is_less |= *cell != same[name];
                    assert!(
                        is_within(cell, &same[name]),
                        "{}: {command} without {group}: {name} of\n{row:?}\nof the whole trace:\n{same:?}",
                        scenario.display()
                    );
                }
            }
            assert!(!is_less || with_cut > *notes, "{command} without {group}: less, and no note");
        }
        std::fs::remove_dir_all(&cut).unwrap();
    }
}

#[test]
fn less_with_a_note_or_the_same() {
    check(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop"),
        &[&GROUPS[..], &[WAKING]].concat(),
    );
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn less_with_a_note_or_the_same_on_recordings() {
    let vm = crate::common::shared().join("data/vm");
    let few = || ["chain3", "hog2", "ipc1"].map(|name| vm.join(name)).to_vec();
    let all = || {
        let mut all: Vec<PathBuf> = std::fs::read_dir(&vm).unwrap().map(|it| it.unwrap().path()).collect();
        all.retain(|path| path.is_dir() && !hosts(path).is_empty());
        all.sort();
        all
    };
    let chosen = if std::env::var_os("ISOCHRONE_ALL").is_some() { all() } else { few() };
    for scenario in &chosen {
        check(scenario, &GROUPS);
    }
}

/// What the tutorial has one record is enough for all commands: with nothing else, all answers are the same.
#[test]
fn the_recipe_is_enough() {
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
    let events = |line: &str| line.strip_prefix("lttng enable-event --kernel ").map(str::to_owned);
    let patterns: Vec<String> = RECIPE
        .iter()
        .filter_map(|line| events(line))
        .flat_map(|list| list.split(',').map(|it| it.trim_matches('\'').to_owned()).collect::<Vec<_>>())
        .map(|it| if it.starts_with("--syscall") { "syscall_*".to_owned() } else { it })
        .collect();
    let scratch = tempfile::tempdir().unwrap();
    let (cut, cache) = (scratch.path().join("cut"), scratch.path().join("cache"));
    copy_without(&shop, &cut, &|name| !patterns.iter().any(|pattern| is_of(pattern, name)));
    for (command, table, _) in TABLES {
        assert_eq!(rows(command, table, &hosts(&cut), &cache), rows(command, table, &hosts(&shop), &cache));
    }
}

/// Every page and help text that says what to record for all of it says the same.
#[test]
fn one_recipe_everywhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages = [
        "tutorial",
        "watch",
        "analyses/critical-path",
        "analyses/blocking",
        "analyses/accounting",
        "analyses/ipc",
    ];
    let help = |command: &str| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_isochrone")).args([command, "--help"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let pages =
        pages.map(|page| std::fs::read_to_string(root.join("docs").join(page).with_extension("md")).unwrap());
    for text in pages.into_iter().chain([help("critical-path"), help("analyze")]) {
        for line in RECIPE {
            assert!(text.contains(line), "without {line}:\n{text}");
        }
    }
}
