//! `events --explain` on real machines, against what their programs logged themselves and against `states`.
//!
//! Without the corpus these tests are ignored; with `ISOCHRONE_REQUIRE_SHARED` set it must be there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::{shared, unpacked};

const MS: i64 = 1_000_000;

/// What a command writes of a trace, a value a line.
fn lines(cache: &Path, arguments: &[&str], trace: &Path) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command.env("XDG_CACHE_HOME", cache).args(arguments).args(["-q", "--format", "jsonl"]);
    let output = command.arg(trace).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = output.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

fn explained(cache: &Path, arguments: &[&str], trace: &Path) -> Vec<Value> {
    lines(cache, &[&["events", "--explain"], arguments].concat(), trace)
}

fn int(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value}"))
}

/// The parts of what an event ends.
fn parts(took: &Value) -> &[Value] {
    took["parts"].as_array().unwrap()
}

/// Time that a thread could run and did not by `states`, ns: all of it, and that in which it had been
/// preempted; how often.
#[derive(Debug, Default, PartialEq, Eq)]
struct Waited {
    total: i64,
    preempted: i64,
    times: i64,
}

/// The states of threads, by tid and in order of time.
struct States(BTreeMap<i64, Vec<Value>>);

impl States {
    fn of(cache: &Path, trace: &Path) -> Self {
        let mut all: BTreeMap<i64, Vec<Value>> = BTreeMap::new();
        for row in lines(cache, &["states"], trace) {
            all.entry(int(&row["tid"])).or_default().push(row);
        }
        Self(all)
    }

    fn waited(&self, tid: i64, begin: i64, end: i64) -> Waited {
        let (mut waited, rows) = (Waited::default(), &self.0[&tid]);
        for (index, row) in rows.iter().enumerate() {
            let (from, to) = (int(&row["begin_ns"]).max(begin), int(&row["end_ns"]).min(end));
            if row["state"] == "wait-cpu" && from < to {
                waited.total += to - from;
                // It ran until it waited.
                if index > 0 && rows[index - 1]["cpu"].is_number() {
                    waited.preempted += to - from;
                    waited.times += 1;
                }
            }
        }
        waited
    }
}

/// What explanations say of the same.
fn waited(took: &Value) -> Waited {
    let mut waited = Waited::default();
    for part in parts(took).iter().filter(|part| part["cause"] == "wait-cpu") {
        waited.total += int(&part["total_ns"]);
        if part.get("preempted_by").is_some() {
            waited.preempted += int(&part["total_ns"]);
            waited.times += int(&part["count"]);
        }
    }
    waited
}

/// The trace of a service, what it logged, and the start of its own clock on that of the trace, ns.
fn service() -> (PathBuf, Value, i64) {
    let trace = shared().join("data/vm/phases3/h2");
    let truth = std::fs::read(trace.parent().unwrap().join("truth.json")).unwrap();
    let mut truth: Value = serde_json::from_slice(&truth).unwrap();
    let host = truth["hosts"]["h2"].take();
    let offset = int(&host["ctf_clock_offset_ns_by_domain"]["kernel"][0]);
    (trace, host, offset)
}

/// Each end of a phase has its thread and its duration as the service logged them; its parts add up;
/// preemption is that of `states`.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn phases_of_a_service() {
    let (trace, host, offset) = service();
    let cache = tempfile::tempdir().unwrap();
    let states = States::of(cache.path(), &trace);
    let events = explained(cache.path(), &["--event", "thumb:*"], &trace);
    assert_eq!(events.len(), 300);
    let (mut ends, mut preempted) = (0, 0);
    for event in &events {
        let (it, name) = (&event["explained"], event["event"].as_str().unwrap());
        let request = &event["payload"]["req"];
        let logged = host["phase_log"].as_array().unwrap().iter().find(|log| log["req"] == *request).unwrap();
        assert_eq!(it["thread"]["tid"], logged["tid"], "{event}");
        assert_eq!(it["thread"]["process"], "thumbd", "{event}");
        assert_eq!((&it["state"], &it["call"]), (&"usermode".into(), &Value::Null), "{event}");
        let took = it["took"].as_array().unwrap();
        if !name.ends_with("_end") {
            assert!(took.is_empty(), "{event}");
            continue;
        }
        let [took] = &took[..] else { panic!("{event}") };
        ends += 1;
        let (begin, total) = (int(&took["begin_ns"]), int(&took["total_ns"]));
        assert_eq!(begin + total, int(&event["time_ns"]), "{event}");
        assert_eq!(parts(took).iter().map(|part| int(&part["total_ns"])).sum::<i64>(), total, "{event}");
        if let Some(phase) = event["payload"]["phase"].as_str() {
            let [from, to] = [0, 1].map(|end| int(&logged[phase][end]) + offset);
            // Its tracepoints are between the two looks at the clock; twice the virtual machine stood still
            // there.
            assert!(from <= begin && begin + total <= to && to - from - total < 10 * MS, "{event}");
            assert_eq!(took["name"], format!("thumb:phase {phase}"));
        }
        let expect = states.waited(int(&it["thread"]["tid"]), begin, begin + total);
        assert_eq!(waited(took), expect, "{event}");
        preempted += expect.times;
        for part in parts(took).iter().filter(|part| part.get("preempted_by").is_some()) {
            assert!(part["preempted_by"]["comm"].is_string(), "{event}");
        }
    }
    assert_eq!(ends, 150);
    assert!(preempted > 100, "{preempted}");
}

/// The images that requests read, as their log numbers them, and the file that it says some of them write.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn files_of_a_service() {
    let (trace, host, offset) = service();
    let cache = tempfile::tempdir().unwrap();
    let calls = ["--event", "syscall_exit_pread64,syscall_exit_fsync", "--procname", "thumb-w*"];
    let calls = explained(cache.path(), &calls, &trace);
    for log in host["phase_log"].as_array().unwrap() {
        let within = |phase: &str, event: &str| -> Vec<&Value> {
            let [from, to] = [0, 1].map(|end| int(&log[phase][end]) + offset);
            let is_it = |call: &&Value| {
                call["event"] == event
                    && call["explained"]["thread"]["tid"] == log["tid"]
                    && (from..to).contains(&int(&call["time_ns"]))
            };
            calls.iter().filter(is_it).collect()
        };
        let reads = within("decode", "syscall_exit_pread64");
        assert_eq!(reads.len(), 4, "{log}");
        for read in reads {
            let call = &read["explained"]["call"];
            assert_eq!(call["fd"]["name"], format!("/data/img{}", log["img"]), "{read}");
        }
        let synced = within("encode", "syscall_exit_fsync");
        assert_eq!(synced.len() as i64, int(&log["fsync"]), "{log}");
        for sync in synced {
            let it = &sync["explained"];
            assert!(
                it["call"]["fd"]["name"].as_str().is_some_and(|name| name.starts_with("/data/")),
                "{sync}"
            );
            let disk = parts(&it["took"][0]).iter().filter(|part| part["cause"] == "disk");
            assert!(disk.map(|part| int(&part["total_ns"])).sum::<i64>() > 20 * MS, "{sync}");
        }
    }
}

/// A step of a program: its thread, when it ended, and the number that it noted.
struct Step {
    tid: i64,
    id: i64,
    name: String,
    at: i64,
    noted: i64,
}

/// The steps that a host's programs logged, in the clock of its trace.
fn steps(all: &Path, host: &str, log: &str) -> Vec<Step> {
    let truth: Value = serde_json::from_slice(&std::fs::read(all.join("truth.json")).unwrap()).unwrap();
    let offset = &truth["hosts"][host]["ctf_clock_offset_ns"];
    let offset = offset.as_i64().or(offset[0].as_i64()).unwrap();
    let text = std::fs::read_to_string(all.join("logs").join(log)).unwrap();
    let step = |line: &str| {
        let it: Value = serde_json::from_str(line).unwrap();
        let (name, at) = (it["step"].as_str().unwrap().to_owned(), int(&it["mono"]) + offset);
        Step { tid: int(&it["tid"]), id: int(&it["id"]), name, at, noted: int(&it["aux"]) }
    };
    text.lines().map(step).collect()
}

/// A chain of services: the disk and the lock of one, the CPU of the other that a program of higher priority
/// takes.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn calls_of_a_chain() {
    let directory = tempfile::tempdir().unwrap();
    let all: PathBuf = unpacked("vm/chain4b", directory.path());
    let cache = tempfile::tempdir().unwrap();
    // Between `b_unlocked` and `b_disk` a worker reads its file so many times as it noted.
    let calls = ["--event", "syscall_exit_pread64,syscall_exit_futex", "--procname", "back-w*"];
    let calls = explained(cache.path(), &calls, &all.join("h4"));
    let logged = steps(&all, "h4", "h4.c4.jsonl");
    let mut locks = 0;
    for pair in logged.windows(2) {
        let [before, step] = pair else { continue };
        if before.tid != step.tid || before.id != step.id {
            continue;
        }
        let within = |event: &str| -> Vec<&Value> {
            let is_it = |call: &&Value| {
                call["event"] == event
                    && call["explained"]["thread"]["tid"] == step.tid
                    && (before.at..step.at).contains(&int(&call["time_ns"]))
            };
            calls.iter().filter(is_it).collect()
        };
        match step.name.as_str() {
            "b_disk" => {
                // It reads `/proc/self/task/TID/schedstat` for its log besides.
                let is_data = |read: &&&Value| read["explained"]["call"]["fd"]["name"] == "/data/c4.dat";
                let reads = within("syscall_exit_pread64");
                let reads: Vec<&Value> = reads.iter().filter(is_data).copied().collect();
                assert_eq!(reads.len() as i64, step.noted, "{} {}", step.tid, step.id);
                for read in reads {
                    let it = &read["explained"];
                    assert!(int(&it["took"][0]["total_ns"]) < step.at - before.at, "{read}");
                }
            }
            // Who waits for the lock is woken by who has it: the holder, or another worker.
            "b_locked" => {
                for wait in within("syscall_exit_futex") {
                    let parts = parts(&wait["explained"]["took"][0]);
                    for part in parts.iter().filter(|part| part["cause"] == "lock") {
                        let comm = part["ended_by"]["comm"].as_str().unwrap_or_default();
                        assert!(comm.starts_with("back-"), "{wait}");
                        locks += 1;
                    }
                }
            }
            _ => {}
        }
    }
    assert!(locks >= 7, "{locks}");
    // The program of higher priority takes the CPU from a worker that computes: 25 ms of CPU each time.
    let hogs = steps(&all, "h3", "h3.c4hog.jsonl");
    let periods = r#"work : $event == "syscall_exit_read" && ret > 0 && procname == "back-w?"
        : $event == "syscall_entry_clock_nanosleep" && $ctx.tid == $begin.$evt.$ctx.tid"#;
    let ends = ["--event", "syscall_entry_clock_nanosleep", "--period", periods];
    let ends = explained(cache.path(), &ends, &all.join("h3"));
    let states = States::of(cache.path(), &all.join("h3"));
    let mut taken = 0_usize;
    for end in &ends {
        for took in end["explained"]["took"].as_array().unwrap() {
            let tid = int(&end["explained"]["thread"]["tid"]);
            let (begin, total) = (int(&took["begin_ns"]), int(&took["total_ns"]));
            assert_eq!(waited(took), states.waited(tid, begin, begin + total), "{end}");
            let hog = parts(took).iter().filter(|part| part["preempted_by"]["comm"] == "c4hog");
            let ns: i64 = hog.map(|part| int(&part["total_ns"])).sum();
            let runs = hogs.chunks(2).any(|run| run[0].at < begin + total && begin < run[1].at);
            assert!(runs || ns == 0, "{end}");
            taken += usize::from(ns > 24 * MS);
        }
    }
    assert_eq!(taken, hogs.len() / 2, "each time");
}
