//! Whose events of user space are: programs in containers, programs that do not say who they are.

use std::path::Path;
use std::process::Command;

use isochrone_testkit::LttngTrace;
use serde_json::Value;

/// An answer, and what is written to stderr.
fn answer(arguments: &[&str], trace: &Path) -> (Value, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args(arguments)
        .args(["--format", "json"])
        .arg(trace)
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    let answer = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {err}"));
    (answer, err)
}

/// The tables of an answer, and its notes.
fn ask(arguments: &[&str], trace: &Path) -> (Vec<Value>, String) {
    let (answer, _) = answer(arguments, trace);
    (answer["tables"].as_array().unwrap().clone(), answer["notes"].to_string())
}

/// The values of some columns, row by row.
fn column(tables: &[Value], table: &str, names: &[&str]) -> Vec<Vec<Value>> {
    let table = tables.iter().find(|it| it["name"] == table).unwrap();
    let columns = table["columns"].as_array().unwrap();
    let places: Vec<usize> =
        names.iter().map(|name| columns.iter().position(|it| it["name"] == *name).unwrap()).collect();
    let rows = table["rows"].as_array().unwrap();
    rows.iter().map(|row| places.iter().map(|&place| row[place].clone()).collect()).collect()
}

/// Two programs on two CPUs, each of which begins a phase while that of the other one lasts.
fn two_programs(context: Option<&str>) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut trace = LttngTrace::user_space("h1");
    trace.define("app:job_begin", "").define("app:job_end", "").cpus(2);
    if let Some(context) = context {
        trace.context(context);
    }
    let who =
        |thread: i64| if context.is_some() { vec![("context.vtid", thread.into())] } else { Vec::new() };
    for round in 0..10u64 {
        let at = 1_000_000 + round * 10_000_000;
        // Each goes on on the other CPU.
        trace.event(0, at, "app:job_begin", &who(10));
        trace.event(1, at + 1_000_000, "app:job_begin", &who(11));
        trace.event(1, at + 5_000_000, "app:job_end", &who(10));
        trace.event(0, at + 6_000_000, "app:job_end", &who(11));
    }
    trace.write(directory.path()).unwrap();
    directory
}

#[test]
fn phases_are_of_one_thread() {
    let named = two_programs(Some("integer { size = 32; align = 8; signed = true; } _vtid;"));
    let (tables, _) = ask(&["analyze", "periodstats"], named.path());
    let expect: Vec<Vec<Value>> = vec![vec![20.into(), 5_000_000.into(), 5_000_000.into()]];
    assert_eq!(column(&tables, "stats", &["count", "min_ns", "max_ns"]), expect);

    let nameless = two_programs(None);
    for command in [&["analyze", "periodstats"][..], &["phases"]] {
        let (tables, notes) = ask(command, nameless.path());
        let rows: usize = tables.iter().map(|table| table["rows"].as_array().unwrap().len()).sum();
        assert_eq!(rows, 0, "{tables:?}");
        assert!(notes.contains("lttng add-context --userspace --type vtid"), "{notes}");
    }
}

/// A program is thread 500 of the host and calls itself 100; thread 100 of the host is another one.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn a_number_of_a_namespace_is_no_thread_of_the_host() {
    const PERIOD: &str =
        r#"w : $evt.$name == "my_event" && value == 1 : $evt.$name == "my_event" && value == 2"#;
    for (name, tid) in [("container-tid/b", 100), ("container-tid-taken", 500)] {
        let trace = crate::common::shared().join("data/reports").join(name);
        let (tables, _) = ask(&["analyze", "periodtop", "--period", PERIOD], &trace);
        let who = column(&tables, "top", &["tid", "comm"]);
        assert_eq!(who, [[Value::from(tid), "worker".into()]], "{name}");
        let (tables, _) = ask(&["phases", "--period", PERIOD], &trace);
        assert_eq!(column(&tables, "phase_calls", &["running_ns"]), [[4_800_000]], "{name}");
    }
}

/// CPU time of the phases of programs in containers, by their own logs: within 5 %, and as much of it unknown at most.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn programs_in_containers() {
    let directory = tempfile::tempdir().unwrap();
    let all = crate::common::unpacked("vm/cont1", directory.path());
    let (answer, _) = answer(&["phases", "-q"], &all.join("h1"));
    let tables = answer["tables"].as_array().unwrap();
    let truth: Value = serde_json::from_slice(&std::fs::read(all.join("truth.json")).unwrap()).unwrap();
    let offset = &truth["hosts"]["h1"]["ctf_clock_offset_ns"];
    let offset = offset.as_i64().or(offset[0].as_i64()).unwrap();
    let [first, last] = [0, 1].map(|end| answer["range"][end].as_i64().unwrap() - offset);
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    let waits = column(tables, "phase_waits", &["cause", "total_ns"]);
    let of =
        |cause: &str| -> f64 { waits.iter().filter(|row| row[0] == cause).map(|row| number(&row[1])).sum() };
    let total: f64 = waits.iter().map(|row| number(&row[1])).sum();
    let mut logged = 0.0;
    for entry in std::fs::read_dir(all.join("logs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "jsonl")
            && path.file_name().unwrap().to_str().unwrap().starts_with("h1.")
        {
            for line in std::fs::read_to_string(path).unwrap().lines() {
                let phase: Value = serde_json::from_str(line).unwrap();
                let at = |end: &str| phase[end].as_i64().unwrap();
                if first <= at("begin_mono_ns") && at("end_mono_ns") <= last {
                    logged += number(&phase["cpu_ns"]);
                }
            }
        }
    }
    assert!((of("cpu") - logged).abs() <= logged * 0.05, "{} of {logged}", of("cpu"));
    assert!(of("unknown") <= total * 0.05 && of("child") == 0.0, "{waits:?}");
}

/// Without switches it is unknown which threads of the host programs are, and their numbers are those of others.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn programs_without_switches_are_no_threads_of_the_host() {
    let directory = tempfile::tempdir().unwrap();
    let all = crate::common::unpacked("vm/cont1", directory.path());
    let cut = directory.path().join("cut");
    assert_eq!(
        crate::common::without::copy_without(&all.join("h1"), &cut, &|name| name == "sched_switch"),
        1
    );
    let (tables, _) = ask(&["analyze", "periodtop"], &cut);
    let who = column(&tables, "top", &["tid", "comm"]);
    assert!(!who.is_empty() && who.iter().flatten().all(Value::is_null), "{who:?}");
    let (tables, notes) = ask(&["phases"], &cut);
    assert_eq!(column(&tables, "phases", &["count"]), [[69]]);
    assert_eq!(column(&tables, "phase_calls", &["call"]), [[Value::Null]]);
    assert!(notes.contains("sched_switch"), "{notes}");
}

/// Containers, in the list of threads and in what a trace is said to hold, by the state dump and by forks.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn containers_are_shown() {
    let directory = tempfile::tempdir().unwrap();
    let h1 = crate::common::unpacked("vm/cont1", directory.path()).join("h1");
    let (tables, _) = ask(&["analyze", "processes"], &h1);
    let rows = column(&tables, "processes", &["comm", "tid", "pid_namespace", "vpid", "vtid"]);
    let ids = |row: &[Value]| [2, 3, 4].map(|at| row[at].as_u64());
    let of = |comm: &str| -> Vec<[Option<u64>; 3]> {
        rows.iter().filter(|row| row[0] == comm).map(|row| ids(row)).collect()
    };
    let inside = Some(4_026_532_238);
    assert_eq!(of("boxA"), [[inside, Some(1), Some(1)]]);
    assert_eq!(of("boxC"), [[inside, Some(2), Some(2)]]);
    assert_eq!(of("boxD"), [[inside, Some(3), Some(3)]]);
    // A further thread of a process has the number of its first one there.
    assert!(of("job-ust").contains(&[inside, Some(3), Some(4)]), "{:?}", of("job-ust"));
    // What runs on the host has the host's numbers.
    let host = Some(4_026_531_836);
    for row in rows.iter().filter(|row| ids(row)[0] == host) {
        assert_eq!(row[1], row[4], "{row:?}");
    }
    let (info, _) = answer(&["info"], &h1);
    assert_eq!(info["traces"][0]["pid_namespaces"], serde_json::json!([4_026_532_238_u64]));
}

/// A thread that executes another program has the name of before until then, wherever a row is of one time.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn threads_have_the_name_of_the_time() {
    let directory = tempfile::tempdir().unwrap();
    let h1 = crate::common::unpacked("vm/cont1", directory.path()).join("h1");
    let (tables, _) = ask(&["analyze", "syscalls"], &h1);
    let calls = column(&tables, "syscalls", &["tid", "comm", "syscall"]);
    let of = |tid: u64| calls.iter().filter(move |row| row[0] == tid);
    let exec = of(214).position(|row| row[2] == "execve").expect("an execve of 214");
    let names = |range: std::ops::Range<usize>| -> std::collections::BTreeSet<&str> {
        of(214).skip(range.start).take(range.len()).map(|row| row[1].as_str().unwrap()).collect()
    };
    assert_eq!(names(0..exec + 1).into_iter().collect::<Vec<_>>(), ["vminit"]);
    assert_eq!(names(exec + 1..usize::MAX - 1).into_iter().collect::<Vec<_>>(), ["bash"]);
    let (states, _) = ask(&["analyze", "states", "--tid", "214"], &h1);
    let states = column(&states, "states", &["comm"]);
    let names: std::collections::BTreeSet<&str> = states.iter().map(|row| row[0].as_str().unwrap()).collect();
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["bash", "vminit"]);
}
