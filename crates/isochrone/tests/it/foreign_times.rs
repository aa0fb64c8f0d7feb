//! Times that are not what a clock shows: several offsets of one clock, stamps that go back, stamps of another age. Each answer is that of
//! what can be believed, with a warning for the rest.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

use crate::common::shared;
use serde_json::Value;

/// What a command writes to stdout and stderr, and its exit status.
fn run(arguments: &[&str], traces: &[&Path]) -> (String, String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone")).args(arguments).args(traces).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

fn events(traces: &[&Path]) -> Vec<Value> {
    let (out, ..) = run(&["events", "-q", "--format", "json"], traces);
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The offsets of the kernel's trace and of the program's are 2 s apart; both are of the clock that stamps them.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn one_clock_with_two_offsets_is_one_clock() {
    let all = shared().join("data/reports/two-offsets");
    let place = |traces: &[&Path]| {
        let events = events(traces);
        let of_a: Vec<&Value> = events.iter().filter(|event| event["host"] == "a").collect();
        of_a.iter().position(|event| event["event"] == "my_event").unwrap()
    };
    let (a, b) = (all.join("a"), all.join("b"));
    assert_eq!(place(&[&a]), place(&[&a, &b]));
    let (_, err, _) = run(&["events"], &[&a]);
    assert!(err.contains("the clock offsets of its traces differ by"), "{err}");
}

/// A program's own events are never inside of a system call of the thread that records them.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn no_event_of_a_program_is_inside_a_call_of_its_thread() {
    let all = shared().join("data/vm/phases3");
    let mut seen = 0;
    for host in ["h1", "h2", "h3"] {
        let mut inside: HashSet<i64> = HashSet::new();
        for event in events(&[&all.join(host)]) {
            let name = event["event"].as_str().unwrap();
            let context = &event["common_context"];
            if let Some(thread) = context["vtid"].as_i64() {
                seen += 1;
                assert!(!inside.contains(&thread), "{host}: {event}");
            } else if let Some(thread) = context["tid"].as_i64() {
                if name.starts_with("syscall_entry_") {
                    inside.insert(thread);
                } else if name.starts_with("syscall_exit_") {
                    inside.remove(&thread);
                }
            }
        }
    }
    assert!(seen >= 324, "{seen}");
}

/// Each read takes 2 ms and the CPU is busy for half of the time; from the middle on all stamps are 3 s earlier.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn what_goes_back_in_time_is_lost_and_named() {
    for name in ["back", "glitch"] {
        let trace = shared().join("data/reports/clock-back").join(name);
        let (out, err, status) = run(&["analyze", "syscallstats", "--format", "json"], &[&trace]);
        assert!(err.contains("before the event that precedes it"), "{name}: {err}");
        assert_eq!(status, Some(1), "{name}");
        let answer: Value = serde_json::from_str(&out).unwrap();
        let columns = answer["tables"][0]["columns"].as_array().unwrap();
        let column = |name: &str| columns.iter().position(|it| it["name"] == name).unwrap();
        for row in answer["tables"][0]["rows"].as_array().unwrap() {
            assert_eq!(
                (&row[column("min_ns")], &row[column("max_ns")]),
                (&2_000_000.into(), &2_000_000.into()),
                "{name}"
            );
        }
        let (out, ..) = run(&["analyze", "cputop", "--format", "json"], &[&trace]);
        let answer: Value = serde_json::from_str(&out).unwrap();
        let total =
            answer["tables"].as_array().unwrap().iter().find(|table| table["name"] == "total").unwrap();
        let total = &total["rows"][0];
        let (busy, idle) = (total[2].as_u64().unwrap(), total[3].as_u64().unwrap());
        assert!(busy.abs_diff(idle) <= 11_000_000, "{name}: {total}");
    }
}

/// One stamp of 363 is of the year 2116: it is named, and everything else is as without it.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn a_stamp_of_another_age_ends_nothing() {
    let trace = shared().join("data/reports/far-time/last");
    let (out, err, status) = run(&["analyze", "cputop", "--format", "json"], &[&trace]);
    assert!(err.contains("4611686018") && status == Some(1), "{err}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    let [begin, end] = [0, 1].map(|place| answer["range"][place].as_i64().unwrap());
    assert!(end - begin < 10_000_000_000, "{}", answer["range"]);
}
