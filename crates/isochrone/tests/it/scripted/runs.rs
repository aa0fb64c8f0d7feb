//! `diff` and `check`: two runs of one program of which it is known what became slower in the second.

use std::path::Path;
use std::process::{Command, Output};

use isochrone_testkit::{Generation, KernelScript};

use super::loopback::{Loopback, has_read};

/// What a request waits for in the server, ns.
#[derive(Clone, Copy)]
enum Stall {
    None,
    Disk(u64),
    Lock(u64),
}

/// Requests of a client: how long the server waits for the CPU and computes, ns.
fn run(to: &Path, requests: impl IntoIterator<Item = (u64, u64)>) {
    run_with(to, requests.into_iter().map(|(waits, computes)| (waits, computes, Stall::None)));
}

/// As [`run`], with what the server waits for.
fn run_with(to: &Path, requests: impl IntoIterator<Item = (u64, u64, Stall)>) {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "client").process(20, "server").process(30, "holder");
    let disk = [("dev", (8 << 20).into()), ("diskname", "sda".into())];
    host.at(20).dump_file(20, 7, 0, "/data/x").event("lttng_statedump_block_device", &disk);
    let mut connection = Loopback::dumped(&mut host, [40_000, 8_001], 3, &[10, 20]);
    host.at(80).switch(0, 20);
    connection.waits(&mut host, 85, (20, 10));
    let mut at = 1_000;
    for (mut waits, computes, stall) in requests {
        connection.asks(&mut host, at, Some(20));
        connection.waits(&mut host, at + 7 + waits, (10, 20));
        has_read(&mut host, at + 9 + waits);
        let stalled = at + 20 + waits;
        match stall {
            Stall::None => {}
            Stall::Disk(ns) => {
                host.at(stalled).enter("pread64", &[("fd", 7.into()), ("count", 4096.into())]);
                host.at(stalled + 2).block_issue(8 << 20, 64, 8).after(1).switch(20, 0);
                host.at(stalled + ns).irq_entry(27, "virtio0").after(1).block_complete(8 << 20, 64, 8);
                host.at(stalled + ns + 2).wake(20, 0).after(1).irq_exit(27).after(1).switch(0, 20);
                host.at(stalled + ns + 5).exit("pread64", 4096);
                waits += ns;
            }
            Stall::Lock(ns) => {
                host.at(stalled).enter("futex", &[]).after(1).switch(20, 30);
                host.at(stalled + ns).wake(20, 0).after(1).switch(30, 20).after(1).exit("futex", 0);
                waits += ns;
            }
        }
        connection.answers(&mut host, at + 9 + waits + computes, Some(10));
        connection.waits(&mut host, at + 20 + waits + computes, (20, 10));
        has_read(&mut host, at + 24 + waits + computes);
        at += 10_000;
    }
    host.at(at).switch(10, 0);
    host.write(&to.join("h1")).unwrap();
}

pub(super) fn isochrone(cache: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args(arguments)
        .env("XDG_CACHE_HOME", cache)
        .env("COLUMNS", "80")
        .output()
        .unwrap()
}

/// The rows of a table as text: some columns.
pub(super) fn rows(said: &Output, table: &str, columns: &[&str]) -> Vec<String> {
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let report: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap();
    let table = report["tables"].as_array().unwrap().iter().find(|it| it["name"] == table).unwrap();
    let names = table["columns"].as_array().unwrap();
    let index = |column: &str| names.iter().position(|it| it["name"] == *column).unwrap();
    let cell = |row: &serde_json::Value, column: &str| match &row[index(column)] {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let row = |row: &serde_json::Value| {
        columns.iter().map(|column| cell(row, column)).collect::<Vec<_>>().join(" ")
    };
    table["rows"].as_array().unwrap().iter().map(row).collect()
}

pub(super) const CAUSES: [&str; 6] =
    ["comm", "cause", "mean_before_ns", "mean_after_ns", "change_ns", "verdict"];

#[test]
fn what_became_slower_is_first() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let computes = |number: u64| 1_000 + number * 37 % 101;
    run(&path("before"), (0..24).map(|number| (0, computes(number))));
    run(&path("same"), (0..24).map(|number| (0, computes(number + 7))));
    run(&path("computes"), (0..24).map(|number| (0, 500 + computes(number))));
    run(&path("loaded"), (0..24).map(|number| (700, computes(number))));
    run(&path("few"), (0..3).map(|number| (700, computes(number))));
    let cache = path("cache");
    let diff = |after: &str| {
        let [before, after] = ["before", after].map(|name| path(name).to_str().unwrap().to_owned());
        isochrone(&cache, &["diff", "-q", "--format", "json", &before, &after])
    };
    let services = ["requests_before", "requests_after", "change_ns", "verdict"];
    let said = diff("computes");
    assert_eq!(rows(&said, "services", &services), ["24 24 500 slower"]);
    let first = &rows(&said, "causes", &CAUSES)[0];
    assert!(first.starts_with("server cpu ") && first.ends_with(" 500 slower"), "{first}");
    let said = diff("loaded");
    assert_eq!(rows(&said, "services", &services), ["24 24 700 slower"]);
    let first = &rows(&said, "causes", &CAUSES)[0];
    assert!(first.starts_with("server wait-cpu ") && first.ends_with(" 700 slower"), "{first}");
    let said = diff("same");
    assert!(rows(&said, "services", &services)[0].ends_with(" the same"));
    assert!(rows(&said, "causes", &CAUSES).iter().all(|row| row.ends_with(" the same")));
    let said = diff("few");
    assert!(rows(&said, "services", &services)[0].ends_with(" too few requests"));
    // The other way round it is faster.
    let [before, after] = ["computes", "before"].map(|name| path(name).to_str().unwrap().to_owned());
    let said = isochrone(&cache, &["diff", "-q", "--format", "json", &before, &after]);
    assert_eq!(rows(&said, "services", &services), ["24 24 -500 faster"]);
    // As text it fits a terminal.
    let said = isochrone(&cache, &["diff", "-q", &before, &after]);
    let text = String::from_utf8(said.stdout).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// A disk that became slower, and a lock that is held longer, are what is named first.
#[test]
fn what_requests_wait_for_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let requests = |stall: &dyn Fn(u64) -> Stall| {
        let of = |number: u64| (0, 1_000 + number * 37 % 101, stall(number * 13 % 11));
        (0..24).map(of).collect::<Vec<_>>()
    };
    run_with(Path::new(&path("disk")), requests(&|more| Stall::Disk(500 + more)));
    run_with(Path::new(&path("slow disk")), requests(&|more| Stall::Disk(2_500 + more)));
    run_with(Path::new(&path("lock")), requests(&|more| Stall::Lock(100 + more)));
    run_with(Path::new(&path("held")), requests(&|more| Stall::Lock(1_100 + more)));
    let cache = directory.path().join("cache");
    let diff = |before: &str, after: &str, more: &[&str]| {
        let runs = [path(before), path(after)];
        let arguments = [&["diff", "-q", "--format", "json", &runs[0], &runs[1]], more].concat();
        isochrone(&cache, &arguments)
    };
    for (before, after, cause, ns) in [("disk", "slow disk", "disk", 2000), ("lock", "held", "lock", 1000)] {
        let first = &rows(&diff(before, after, &[]), "causes", &CAUSES)[0];
        assert!(first.starts_with(&format!("server {cause} ")), "{first}");
        assert!(first.ends_with(&format!(" {ns} slower")), "{first}");
        let columns = ["comm", "cause", "change_ns", "verdict"];
        let waits = rows(&diff(before, after, &["blocking"]), "blocking", &columns);
        assert!(waits.contains(&format!("server {cause} {ns} slower")), "{waits:?}");
        let first = &rows(&diff(after, before, &[]), "causes", &CAUSES)[0];
        assert!(first.ends_with(&format!(" -{ns} faster")), "{first}");
    }
    let latencies = rows(
        &diff("disk", "slow disk", &["iolatencystats"]),
        "iolatencystats_disks",
        &["disk", "count_before", "count_after", "change_ns", "verdict"],
    );
    assert_eq!(latencies, ["sda 24 24 2000 slower"]);
}

#[test]
fn tables_of_analyses_are_compared() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let computes = |number: u64| 1_000 + number * 37 % 101;
    run(Path::new(&path("before")), (0..24).map(|number| (0, computes(number))));
    run(Path::new(&path("same")), (0..24).map(|number| (0, computes(number + 7))));
    run(Path::new(&path("computes")), (0..24).map(|number| (0, 500 + computes(number))));
    run(Path::new(&path("loaded")), (0..24).map(|number| (700, computes(number))));
    run(Path::new(&path("few")), (0..3).map(|number| (700, computes(number))));
    let cache = directory.path().join("cache");
    let diff = |before: &str, after: &str, analysis: &str| {
        isochrone(&cache, &["diff", "-q", "--format", "json", &path(before), &path(after), analysis])
    };
    let durations = ["comm", "count_before", "count_after", "verdict"];
    let find = |rows: Vec<String>, program: &str| {
        rows.into_iter().find(|row| row.starts_with(program)).unwrap_or_default()
    };
    let waits = |before: &str, after: &str| {
        find(rows(&diff(before, after, "schedstats"), "schedstats", &durations), "server ")
    };
    assert!(waits("before", "loaded").ends_with(" slower"), "{}", waits("before", "loaded"));
    assert!(waits("loaded", "before").ends_with(" faster"), "{}", waits("loaded", "before"));
    assert!(waits("before", "same").ends_with(" the same"), "{}", waits("before", "same"));
    assert!(waits("before", "few").ends_with(" too few"), "{}", waits("before", "few"));
    // What changed is first, and by how much.
    let columns = ["comm", "cause", "change_ns", "verdict"];
    let first = &rows(&diff("before", "computes", "blocking"), "blocking", &columns)[0];
    assert_eq!(first, "client socket 500 slower");
    let sums = ["comm", "verdict"];
    let first = &rows(&diff("before", "computes", "cputop"), "cputop", &sums)[0];
    assert_eq!(first, "server more");
    // Several at once, each with its tables, which fit a terminal.
    let several =
        isochrone(&cache, &["diff", "-q", &path("before"), &path("loaded"), "syscallstats,cputop,irqstats"]);
    let text = String::from_utf8(several.stdout).unwrap();
    for title in ["System calls by program", "CPU time by program", "Interrupts", "Softirqs"] {
        assert!(text.contains(title), "{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    // What one run did not record is neither gone nor new.
    let cut = isochrone(&cache, &["cut", "-q", "--event", "sched_*", "-o", &path("cut"), &path("before")]);
    assert!(cut.status.success(), "{}", String::from_utf8_lossy(&cut.stderr));
    for (before, after, side) in [("before", "cut", "count_after"), ("cut", "before", "count_before")] {
        let columns = [side, "change_ns", "verdict"];
        let found = rows(&diff(before, after, "syscallstats"), "syscallstats", &columns);
        let is_unknown = |row: &String| row == "null null not recorded";
        assert!(!found.is_empty() && found.iter().all(is_unknown), "{found:?}");
    }
    let said = isochrone(&cache, &["diff", &path("before"), &path("cut"), "syscallstats"]);
    let notes = String::from_utf8(said.stderr).unwrap();
    let of_runs = [format!("note: before, {}:", path("before")), format!("note: after, {}:", path("cut"))];
    assert!(of_runs.iter().all(|run| notes.contains(run)), "{notes}");
    let wrong = isochrone(&cache, &["diff", &path("before"), &path("same"), "syscallstat"]);
    assert_eq!(wrong.status.code(), Some(2));
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert!(said.contains("`syscallstat` cannot be compared; did you mean `syscallstats`?"), "{said}");
}

#[test]
fn limits() {
    let directory = tempfile::tempdir().unwrap();
    let (run_path, cache) = (directory.path().join("run"), directory.path().join("cache"));
    // From the client's write to its read they take 24 ns more.
    run(&run_path, (1..=20).map(|number| (0, number * 100)));
    let path = run_path.to_str().unwrap();
    let check = |limits: &[&str], status: i32, expect: &str| {
        let options: Vec<&str> = limits.iter().flat_map(|limit| ["--max", limit]).collect();
        let said = isochrone(&cache, &[&["check", "-q"][..], &options, &[path]].concat());
        assert_eq!(String::from_utf8_lossy(&said.stdout), expect);
        assert_eq!(said.status.code(), Some(status), "{limits:?}");
    };
    check(&["max(request) <= 2024ns"], 0, "ok       max(request) <= 2024ns: 2.024 µs\n");
    check(
        &["max(request) < 2024ns", "count(request) >= 20", "median(request) < 1us"],
        1,
        "FAILED   max(request) < 2024ns: 2.024 µs\nok       count(request) >= 20: 20\n\
         FAILED   median(request) < 1us: 1.024 µs\n",
    );
    check(&["mean(request) < 1074ns"], 1, "FAILED   mean(request) < 1074ns: 1.074 µs\n");
    let said = isochrone(&cache, &["check", "--service", "7", "--max", "p99(request) < 1s", path]);
    assert_eq!(said.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&said.stderr).contains("there are no requests"));
    let said = isochrone(&cache, &["check", "--format", "json", "--max", "p95(request) < 1s", path]);
    let json: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(json["limits"][0]["value"], 1924);
    assert_eq!((json["limits"][0]["holds"].as_bool(), json["requests"].as_u64()), (Some(true), Some(20)));
}
