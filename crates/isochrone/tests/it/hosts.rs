//! Which traces are of which host, and what every command says of what a host lacks.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use isochrone_testkit::{ClockSpec, LttngTrace};
use serde_json::Value;

fn isochrone(arguments: &[&str], paths: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_isochrone")).args(arguments).args(paths).output().unwrap()
}

fn json(arguments: &[&str], paths: &[&Path]) -> Value {
    let output = isochrone(arguments, paths);
    assert!(!output.stdout.is_empty(), "{}", said(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn shop() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop").canonicalize().unwrap()
}

/// Busy, idle and unknown time by host and CPU, ns.
fn cpus(paths: &[&Path]) -> BTreeMap<(String, u64), Vec<i64>> {
    let report = json(&["analyze", "-q", "cputop", "--format", "json", "--table", "cpus"], paths);
    let rows = report["tables"][0]["rows"].as_array().unwrap().clone();
    let row = |row: &Value| {
        let times = [2, 3, 4].map(|at| row[at].as_i64().unwrap());
        ((row[0].as_str().unwrap().to_owned(), row[1].as_u64().unwrap()), times.to_vec())
    };
    rows.iter().map(row).collect()
}

/// The longest wait for a CPU, ns.
fn longest_latency(path: &Path) -> i64 {
    let report = json(&["analyze", "-q", "schedtop", "--format", "json", "--limit", "1"], &[path]);
    let mut columns = report["tables"][0]["columns"].as_array().unwrap().iter();
    let latency = columns.position(|column| column["name"] == "latency_ns").unwrap();
    report["tables"][0]["rows"][0][latency].as_i64().unwrap()
}

#[test]
fn synchronized_copies_are_of_as_many_hosts() {
    let root = tempfile::tempdir().unwrap();
    let copies = root.path().join("copies");
    let arguments = ["sync", "-q", "--write", copies.to_str().unwrap()];
    assert!(isochrone(&arguments, &[&shop()]).status.success());
    let (originals, copied) = (cpus(&[&shop()]), cpus(&[&copies]));
    assert_eq!(originals.keys().collect::<Vec<_>>(), copied.keys().collect::<Vec<_>>());
    assert!(originals.keys().map(|(host, _)| host).collect::<std::collections::BTreeSet<_>>().len() == 3);
    for (cpu, times) in &originals {
        for (original, copy) in times.iter().zip(&copied[cpu]) {
            // Of the reference's ns: rates differ by some hundred ppm at most.
            assert!(
                (original - copy).abs() <= original / 1000 + 1000,
                "{cpu:?}: {times:?}, {:?}",
                copied[cpu]
            );
        }
    }
    // Hosts of one clock are synchronized to what they are already.
    let synced = json(&["sync", "-q", "--format", "json"], &[&copies]);
    assert_eq!(synced["clocks"].as_array().unwrap().len(), 3);
    for clock in synced["clocks"].as_array().unwrap() {
        for row in clock["interval"].as_array().unwrap() {
            let [raw, lo, hi] = [0, 1, 2].map(|at| row[at].as_i64().unwrap());
            assert!(lo <= raw && raw <= hi, "{row}");
        }
    }
}

/// A host with a switch each millisecond on two CPUs, on a clock that all of them share.
fn kernel(host: &str, directory: &Path, millis: std::ops::Range<u64>) {
    let mut trace = LttngTrace::kernel(host);
    // Each is a session of its own.
    trace.uuid(uuid::Uuid::from_u128(u128::from(millis.start) << 8 | u128::from(host.as_bytes()[1])));
    let clock = ClockSpec { uuid: Some(uuid::Uuid::from_u128(7)), ..trace.clock_spec() };
    trace.clock(clock).cpus(2);
    for at in millis {
        let fields = [("prev_tid", 0.into()), ("next_tid", (10 + at % 3).into())];
        trace.event((at % 2) as u32, at * 1_000_000, "sched_switch", &fields);
    }
    trace.write(directory).unwrap();
}

#[test]
fn machines_of_one_snapshot_are_two_hosts() {
    let root = tempfile::tempdir().unwrap();
    for host in ["h1", "h2"] {
        kernel(host, &root.path().join(host), 1000..1100);
    }
    let hosts: Vec<String> = cpus(&[root.path()]).into_keys().map(|(host, _)| host).collect();
    assert_eq!(hosts, ["h1", "h1", "h2", "h2"]);
    let info = json(&["info", "--format", "json"], &[root.path()]);
    let names: Vec<&str> =
        info["hosts"].as_array().unwrap().iter().map(|host| host["host"].as_str().unwrap()).collect();
    assert_eq!(names, ["h1", "h2"]);
    let synced = json(&["sync", "-q", "--format", "json"], &[root.path()]);
    assert_eq!(synced["islands"].as_array().unwrap().len(), 2, "{synced}");
}

#[test]
fn two_kernels_with_one_identity_are_named() {
    let root = tempfile::tempdir().unwrap();
    kernel("h1", &root.path().join("a"), 1000..1100);
    kernel("h1", &root.path().join("b"), 1050..1150);
    for command in [&["analyze", "cputop"][..], &["info"], &["events"], &["sync"]] {
        let said = said(&isochrone(command, &[root.path()]));
        assert!(said.contains("both have CPU 0 at one time"), "{command:?}: {said}");
    }
    // One after the other: two sessions.
    kernel("h1", &root.path().join("b"), 1100..1150);
    let said = said(&isochrone(&["analyze", "cputop"], &[root.path()]));
    assert!(!said.contains("both have"), "{said}");
}

#[test]
fn what_is_missing_is_said_alike() {
    let root = tempfile::tempdir().unwrap();
    let mut trace = LttngTrace::kernel("h1");
    trace.cpus(2);
    for at in 1000..4000_u64 {
        trace.event(
            (at % 2) as u32,
            at * 1_000_000,
            "sched_switch",
            &[("prev_tid", 0.into()), ("next_tid", 9.into())],
        );
    }
    trace.write_rotated(root.path(), &[2_000_000_000, 3_000_000_000]).unwrap();
    fs::remove_file(root.path().join("archives/1/kernel/ch_0")).unwrap();
    fs::remove_file(root.path().join("archives/1/kernel/index/ch_0.idx")).unwrap();
    for command in [&["analyze", "cputop"][..], &["info"], &["events"], &["sync"]] {
        let said = said(&isochrone(command, &[root.path()]));
        assert!(
            said.contains("h1: ") && said.contains(" packets were lost: what happened"),
            "{command:?}: {said}"
        );
    }
    let info = json(&["info", "--format", "json"], &[root.path()]);
    let first = &info["hosts"][0]["streams"][0];
    let states: Vec<&str> =
        first["coverage"].as_array().unwrap().iter().map(|part| part["state"].as_str().unwrap()).collect();
    assert_eq!(
        (first["cpu"].as_u64(), &states[..]),
        (Some(0), &["recorded", "packets lost", "recorded"][..])
    );
    assert!(cpus(&[root.path()])[&("h1".to_owned(), 0)][2] > 900_000_000);
}

/// The counter of discarded events goes on from chunk to chunk; each event is lost once.
#[test]
fn discarded_events_count_once() {
    let root = tempfile::tempdir().unwrap();
    let mut trace = LttngTrace::kernel("h1");
    for at in 1000..4000_u64 {
        if at == 1500 {
            trace.discard(0, 3).end_packet(0);
        }
        if at == 3500 {
            trace.discard(0, 2).end_packet(0);
        }
        let fields = [("prev_tid", 0.into()), ("next_tid", 9.into())];
        trace.event(0, at * 1_000_000, "sched_switch", &fields);
    }
    trace.write_rotated(root.path(), &[2_000_000_000, 3_000_000_000]).unwrap();
    let info = json(&["info", "--format", "json"], &[root.path()]);
    let counts = |trace: &Value| {
        [&trace["discarded_events"], &trace["stream_list"][0]["discarded_events"]].map(Value::as_u64)
    };
    let traces: Vec<_> = info["traces"].as_array().unwrap().iter().map(counts).collect();
    assert_eq!(traces, [3, 0, 2].map(|count| [Some(count); 2]));
}

/// A snapshot of two CPUs, of which one begins 1.4 s later: a wait is told only where both were recorded.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn snapshots_invent_no_waits() {
    let root = tempfile::tempdir().unwrap();
    let host = crate::common::unpacked("vm/snap2", root.path()).join("h1");
    let longest = longest_latency(&host);
    assert!((5_000_000..10_000_000).contains(&longest), "{longest}");
    let said = said(&isochrone(&["analyze", "schedtop"], &[&host]));
    assert_eq!(said.matches("later than other CPUs").count(), 1, "{said}");
    let info = json(&["info", "--format", "json"], &[&host]);
    let begun = &info["hosts"][0]["streams"][1]["coverage"];
    assert_eq!((&begun[0]["state"], &begun[1]["state"]), (&"not begun".into(), &"recorded".into()));
}

/// A file that is cut: its CPU is unknown, and no wait is told that may have ended there.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn a_cut_file_invents_nothing() {
    let shared = crate::common::shared();
    let root = tempfile::tempdir().unwrap();
    let copy = root.path().join("kernel");
    let original = shared.join("data/vm/web2/h1/kernel");
    for directory in ["", "index"] {
        fs::create_dir_all(copy.join(directory)).unwrap();
        for entry in fs::read_dir(original.join(directory)).unwrap().map(Result::unwrap) {
            if entry.path().is_file() {
                fs::copy(entry.path(), copy.join(directory).join(entry.file_name())).unwrap();
            }
        }
    }
    let whole = cpus(&[&copy]);
    fs::File::options().write(true).open(copy.join("ch_1")).unwrap().set_len(1_500_000).unwrap();
    let cut = cpus(&[&copy]);
    for (cpu, [busy, idle]) in cut.iter().map(|(cpu, times)| (cpu, [times[0], times[1]])) {
        let [most_busy, most_idle] = [0, 1].map(|at| whole[cpu][at]);
        assert!(
            busy <= most_busy && idle <= most_idle,
            "{cpu:?}: {busy} of {most_busy}, {idle} of {most_idle}"
        );
    }
    assert!(longest_latency(&copy) <= longest_latency(&original));
}
