//! Channels that do not cover all CPUs or all of the time: what they would have recorded is unknown, and nothing else is.

use std::path::Path;
use std::process::Command;

use crate::common::shared;
use serde_json::Value;

/// What a command writes to stdout and stderr.
fn run(arguments: &[&str], trace: &Path) -> (String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone")).args(arguments).arg(trace).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

fn rows(arguments: &[&str], trace: &Path, table: &str) -> Vec<Value> {
    let all: Vec<&str> = arguments.iter().copied().chain(["--format", "json"]).collect();
    let (out, err) = run(&all, trace);
    let answer: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out} {err}"));
    let tables = answer["tables"].as_array().unwrap();
    let table = tables.iter().find(|it| it["name"] == table).unwrap();
    table["rows"].as_array().unwrap().clone()
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn a_cpu_without_a_switch_is_unknown() {
    let trace = shared().join("data/reports/cputop-no-switch");
    let cpus = rows(&["analyze", "cputop"], &trace, "cpus");
    assert_eq!(cpus.len(), 4, "{cpus:?}");
    // Host, CPU, busy, idle, unknown.
    for cpu in &cpus {
        assert_eq!((&cpu[2], &cpu[3]), (&0.into(), &0.into()), "{cpu}");
        assert_eq!(cpu[4], cpus[0][4]);
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn a_program_that_starts_later_makes_no_cpu_late() {
    let trace = shared().join("data/reports/ust-begins-later");
    let (_, err) = run(&["analyze", "cputop"], &trace);
    assert!(!err.contains("begins"), "{err}");
    let (out, _) = run(&["info", "--format", "json"], &trace);
    let info: Value = serde_json::from_str(&out).unwrap();
    let streams = info["hosts"][0]["streams"].as_array().unwrap();
    for stream in streams {
        let first = &stream["coverage"][0];
        let ns = first["end_ns"].as_i64().unwrap() - first["begin_ns"].as_i64().unwrap();
        let is_late = first["state"] == "not begun" && ns > 10_000_000_000;
        assert_eq!(is_late, stream["domain"] == "ust", "{stream}");
    }
}

/// 80 CPUs of which one begins on time.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn many_cpus_make_one_note() {
    let directory = tempfile::tempdir().unwrap();
    let mut script =
        isochrone_testkit::KernelScript::new("wide", isochrone_testkit::Generation::V2_13).cpus(80);
    script.at(1_000).cpu(0).switch(0, 10);
    for cpu in 1..80 {
        script.lose(cpu, 1_000, 2_000_000_000, 1);
        script.at(2_000_000_000 + u64::from(cpu)).cpu(cpu).switch(0, 10);
    }
    script.write(directory.path()).unwrap();
    let (_, err) = run(&["analyze", "cputop"], directory.path());
    assert!(err.lines().count() <= 6, "{err}");
}
