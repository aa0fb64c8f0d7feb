//! `isochrone analyze phases` on the thumbnail service: real machines, with user-space tracepoints and kernel events in one session
//! that is rotated every two seconds, against what its programs logged themselves.
//!
//! Without the corpus these tests are ignored; with `ISOCHRONE_REQUIRE_SHARED` set it must be there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::shared;

const MS: i64 = 1_000_000;

/// The phases of a request.
const NAMES: [&str; 5] = ["open", "seek", "decode", "encode", "send"];

/// Ends of phases whose tracepoint comes some 8 ms after, or before, the service looked at its clock: all the time the thread ran in user
/// mode, as the traces show; the virtual machine stood still. Phase, number of the request.
const STALLED: [(&str, i64); 2] = [("open", 1), ("send", 20)];

/// So long it stood still at most.
const STALL: i64 = 9 * MS;

/// Requests and phases as definitions.
const PERIODS: [&str; 2] = [
    r#"request : $event == "thumb:request_begin" : $event == "thumb:request_end" && req == $begin.$evt.req && $ctx.vtid == $begin.$evt.$ctx.vtid"#,
    r#"phase(request) : $event == "thumb:phase_begin" && req == $parent.$begin.$evt.req
        : $event == "thumb:phase_end" && phase == $begin.$evt.phase && req == $begin.$evt.req"#,
];

/// A row by the names of its columns.
type Row = BTreeMap<String, Value>;

/// The tables of an analysis, with a cache of its own.
struct Asked {
    cache: tempfile::TempDir,
    trace: PathBuf,
}

impl Asked {
    fn new(part: &str) -> Self {
        Self { cache: tempfile::tempdir().unwrap(), trace: shared().join("data/vm/phases3").join(part) }
    }

    fn json(&self, arguments: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
            .env("XDG_CACHE_HOME", self.cache.path())
            .args(["analyze", "-q", "--format", "json", "--limit", "0"])
            .args(arguments)
            .arg(&self.trace)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn table(&self, arguments: &[&str], name: &str) -> Vec<Row> {
        rows(&self.json(arguments), name)
    }
}

fn rows(json: &str, name: &str) -> Vec<Row> {
    let report: Value = serde_json::from_str(json).unwrap();
    let table = report["tables"].as_array().unwrap().iter().find(|table| table["name"] == name).unwrap();
    let columns = table["columns"].as_array().unwrap();
    let names: Vec<&str> = columns.iter().map(|column| column["name"].as_str().unwrap()).collect();
    let row = |row: &Value| {
        let cells = row.as_array().unwrap().iter().cloned();
        names.iter().map(ToString::to_string).zip(cells).collect()
    };
    table["rows"].as_array().unwrap().iter().map(row).collect()
}

fn text<'r>(row: &'r Row, column: &str) -> &'r str {
    row[column].as_str().unwrap_or_default()
}

fn int(row: &Row, column: &str) -> i64 {
    row[column].as_i64().unwrap()
}

/// A logged phase: request, thread, begin and end in Unix ns.
type Logged = (i64, i64, i64, i64);

/// What the service logged: its phases by name, by begin.
fn logged() -> BTreeMap<&'static str, Vec<Logged>> {
    let path: PathBuf = shared().join("data/vm/phases3/truth.json");
    let truth: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let host = &truth["hosts"]["h2"];
    // The log has the kernel's monotonic clock; times of a host are those of its kernel's trace.
    let offset = host["ctf_clock_offset_ns_by_domain"]["kernel"][0].as_i64().unwrap();
    let requests = host["phase_log"].as_array().unwrap();
    let phases = NAMES.map(|name| {
        let phase = |request: &Value| {
            let time = |place: usize| request[name][place].as_i64().unwrap() + offset;
            let number = |name: &str| request[name].as_i64().unwrap();
            (number("req"), number("tid"), time(0), time(1))
        };
        let mut phases: Vec<_> = requests.iter().map(phase).collect();
        phases.sort_by_key(|(_, _, begin, _)| *begin);
        (name, phases)
    });
    phases.into_iter().collect()
}

/// Each phase begins and ends when the service says, within 1 ms, and never outside of what it says.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn each_phase_is_when_it_was() {
    let asked = Asked::new("h2");
    let by_definition: Vec<&str> = PERIODS.iter().flat_map(|period| ["--period", *period]).collect();
    let captures = ["--period-captures", "phase : $evt.phase"];
    let recorded = asked.table(&["periodlog"], "log");
    let defined = asked.table(&[&["periodlog"], &by_definition[..], &captures].concat(), "log");
    for (name, truth) in logged() {
        let is_recorded = |row: &&Row| text(row, "period") == format!("thumb:phase {name}");
        let is_defined = |row: &&Row| text(row, "begin_captures") == format!("$evt.phase = {name}");
        let recorded: Vec<&Row> = recorded.iter().filter(is_recorded).collect();
        let defined: Vec<&Row> = defined.iter().filter(is_defined).collect();
        for found in [recorded, defined] {
            assert_eq!(found.len(), 25, "{name}");
            for (row, (request, tid, begin, end)) in found.iter().zip(&truth) {
                let bound = if STALLED.contains(&(name, *request)) { STALL } else { MS };
                assert_eq!(int(row, "tid"), *tid, "{name} {row:?}");
                assert!((0..bound).contains(&(int(row, "begin_ns") - begin)), "{name} {row:?} {begin}");
                assert!((0..bound).contains(&(end - int(row, "end_ns"))), "{name} {row:?} {end}");
            }
        }
    }
}

/// The times of a phase's parts add up to its own, and these are those of the log.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn the_breakdown_adds_up() {
    let json = Asked::new("h2").json(&["phases"]);
    let (phases, calls, waits) =
        (rows(&json, "phases"), rows(&json, "phase_calls"), rows(&json, "phase_waits"));
    for row in &phases {
        let name = text(row, "phase");
        let sum = |table: &[Row], column: &str| -> i64 {
            table.iter().filter(|row| text(row, "phase") == name).map(|row| int(row, column)).sum()
        };
        assert_eq!(sum(&waits, "total_ns"), int(row, "total_ns"), "{name}");
        assert_eq!(sum(&calls, "total_ns"), int(row, "total_ns"), "{name}");
        assert_eq!(sum(&calls, "unknown_ns"), 0, "{name}");
    }
    for (name, truth) in logged() {
        let phase = format!("thumb:phase {name}");
        let row = phases.iter().find(|row| text(row, "phase") == phase).unwrap();
        let mut durations: Vec<i64> = truth.iter().map(|(_, _, begin, end)| end - begin).collect();
        durations.sort_unstable();
        assert_eq!(int(row, "count"), 25);
        let bound = if STALLED.iter().any(|(stalled, _)| *stalled == name) { STALL } else { MS };
        let near = |column: &str, expect: i64| {
            assert!((int(row, column) - expect).abs() < bound, "{name} {column}: {row:?}, not {expect}");
        };
        near("min_ns", durations[0]);
        near("p50_ns", durations[12]);
        near("p95_ns", durations[23]);
        near("max_ns", durations[24]);
        // All ends together; each is some µs off.
        let total: i64 = durations.iter().sum();
        assert!((int(row, "total_ns") - total).abs() < bound + 2 * MS, "{name}: {row:?}, not {total}");
        let time = |cause: &str| -> i64 {
            let is_it = |row: &&Row| text(row, "phase") == phase && text(row, "cause") == cause;
            waits.iter().filter(is_it).map(|row| int(row, "total_ns")).sum()
        };
        // By design: what a phase waits for is named, and nothing else is.
        let blocked = ["network", "disk", "sleep", "lock", "pipe", "socket", "child", "signal", "other"];
        let design: &[&str] = match name {
            // It asks the storage server, which sleeps 8 ms.
            "open" => &["network"],
            // Requests 5, 15 and 25 find their image out of the cache, 10 and 20 write one to disk.
            "seek" | "decode" | "encode" => &["disk"],
            _ => &[],
        };
        for cause in blocked {
            assert!(design.contains(&cause) || time(cause) == 0, "{name}: {} ns of {cause}", time(cause));
        }
        match name {
            "open" => assert!(time("network") > 25 * 8 * MS),
            // Four reads of the throttled disk in each: some 133 ms beside the 1.5 that pass at once.
            "decode" => assert!((3 * 133 * MS..3 * 150 * MS).contains(&time("disk")), "{}", time("disk")),
            "encode" => assert!((2 * 33 * MS..2 * 45 * MS).contains(&time("disk")), "{}", time("disk")),
            _ => {}
        }
        // CPU as threads are charged for it: what interrupts take is theirs.
        let cpu = time("cpu") + time("irq");
        match name {
            "decode" => assert!(cpu >= 25 * 24 * MS, "{cpu}"),
            "encode" => assert!(cpu >= 25 * 15 * MS, "{cpu}"),
            _ => {}
        }
    }
}

/// The same for any cuts; a chunk of the session alone has what lies within it.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn chunk_by_chunk_is_the_whole() {
    let periods: Vec<&str> = PERIODS.iter().flat_map(|period| ["--period", *period]).collect();
    for arguments in [vec!["phases"], [vec!["phases"], periods.clone()].concat()] {
        let whole = Asked::new("h2").json(&arguments);
        for chunks in ["2", "5", "13"] {
            let cut = Asked::new("h2").json(&[&arguments[..], &["--chunks", chunks]].concat());
            assert!(cut == whole, "{arguments:?} in {chunks}");
        }
    }
    let question = [vec!["periodlog,periodstats,periodfreq,periodtop"], periods.clone()].concat();
    let whole = Asked::new("h2").json(&question);
    for chunks in ["3", "17"] {
        assert!(Asked::new("h2").json(&[&question[..], &["--chunks", chunks]].concat()) == whole, "{chunks}");
    }
    // A phase that crosses a rotation is in no chunk, and in the whole.
    let archives = Path::new("h2/archives");
    let mut chunks: Vec<_> = std::fs::read_dir(shared().join("data/vm/phases3").join(archives))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    chunks.sort();
    let count = |part: &str| -> i64 {
        let stats = Asked::new(part).table(&["periodstats", "--no-sync"], "stats");
        stats
            .iter()
            .filter(|row| text(row, "period").starts_with("thumb:"))
            .map(|row| int(row, "count"))
            .sum()
    };
    let alone: i64 = chunks.iter().map(|chunk| count(archives.join(chunk).to_str().unwrap())).sum();
    let all = count("h2");
    assert_eq!(all, 150);
    assert!(alone < all, "{alone} of {all}");
}

/// Definitions of the same find the same phases, and the same time in them.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn definitions_find_what_programs_record() {
    let asked = Asked::new("h2");
    let periods: Vec<&str> = PERIODS.iter().flat_map(|period| ["--period", *period]).collect();
    let sums = |rows: &[Row], name: &str| {
        let of_name = rows.iter().filter(|row| text(row, "phase").starts_with(name));
        let mut sums: BTreeMap<(String, String), (i64, i64)> = BTreeMap::new();
        for row in of_name {
            let sum =
                sums.entry((text(row, "cause").to_owned(), text(row, "detail").to_owned())).or_default();
            (sum.0, sum.1) = (sum.0 + int(row, "count"), sum.1 + int(row, "total_ns"));
        }
        sums
    };
    let recorded = asked.table(&["phases"], "phase_waits");
    let defined = asked.table(&[&["phases"], &periods[..]].concat(), "phase_waits");
    assert_eq!(sums(&recorded, "thumb:request"), sums(&defined, "request"));
    assert_eq!(sums(&recorded, "thumb:phase"), sums(&defined, "phase"));
}
