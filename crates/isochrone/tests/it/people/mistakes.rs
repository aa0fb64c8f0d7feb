//! Mistakes are named, and nothing is answered that was not asked.

use std::fs;

use super::{check, on_hosts, run, run_with, shop};

#[test]
fn options_that_do_not_apply_name_where_they_do() {
    let app = shop("app");
    for (arguments, told) in [
        (
            &["cputop", "--at", "06:11:25"][..],
            "--at does not apply to cputop; it applies to fds, processes, syscalls",
        ),
        (
            &["cputop", "--min", "1ms"],
            "--min does not apply to cputop; it applies to iolatencyfreq, iolatencystats",
        ),
        (
            &["syscallstats", "--errno", "EAGAIN"],
            "--errno does not apply to syscallstats; it applies to syscalls",
        ),
        (&["irqstats", "--tid", "199"], "--tid does not apply to irqstats; it applies to cputop, fds"),
        (&["irqlog", "--procname", "appsrv"], "--procname does not apply to irqlog"),
        (&["fds", "--cpu", "0"], "--cpu does not apply to fds"),
        (&["processes", "--fd", "3"], "--fd does not apply to processes; it applies to fds"),
        (
            &["schedlog", "--by-process"],
            "--by-process does not apply to schedlog; it applies to cputop, iousagetop, memtop, pagefaults, \
             syscallstats",
        ),
        (&["cputop", "--pixels", "10"], "--pixels does not apply to cputop; it applies to states"),
        (
            &["states", "--call", "read"],
            "--call does not apply to states; it applies to syscalls, syscallstats",
        ),
    ] {
        let said = run(&[&["analyze"], arguments, &[&app]].concat());
        check(&said, 2, &[told]);
        assert_eq!(said.out, "");
    }
    // Where one of several uses it, the others are named.
    let both = run(&["analyze", "cputop,schedtop", "--min", "1ms", &app]);
    check(&both, 0, &["note: --min does not apply to cputop\n"]);
    check(
        &run(&["events", "--date", "--format", "json", &app]),
        2,
        &["--date applies to --format text only"],
    );
}

/// Columns and tables have the names that people see, too.
#[test]
fn names_as_they_are_printed() {
    let app = shop("app");
    let said = |arguments: &[&str]| {
        let said = run(&[arguments, &[&app]].concat());
        check(&said, 0, &[]);
        said.out
    };
    let io = |sort: &str| said(&["iousagetop", "-q", "--table", "processes", "--sort", sort, "--top", "3"]);
    for printed in ["written bytes", "written", "Written-Bytes"] {
        assert_eq!(io(printed), io("written_bytes"), "{printed}");
    }
    assert_ne!(io("written_bytes"), io("read_bytes"));
    let cpu = |sort: &str| said(&["cputop", "-q", "--sort", sort, "--table", "processes"]);
    assert_eq!(cpu("cpu time"), cpu("cpu_ns"));
    let table = |name: &str| said(&["cputop", "-q", "--table", name]);
    assert_eq!(table("Per-CPU usage"), table("cpus"));
    let waits = |name: &str| said(&["blocking", "-q", "--limit", "5", "--table", name]);
    let heading = waits("waits").lines().nth(2).unwrap().split(": ").next().unwrap().to_owned();
    assert_eq!(waits(&heading), waits("waits"));
    assert_eq!(waits("Waits"), waits("waits"));
}

#[test]
fn names_that_match_nothing() {
    let app = shop("app");
    for (arguments, told) in [
        (
            &["events", "--event", "sched_swich"][..],
            "no event in the traces is called `sched_swich`; did you mean `sched_switch`?",
        ),
        (&["events", "--event", "nothing_*"], "no event in the traces is called `nothing_*`\n"),
        (
            &["analyze", "syscalls", "--call", "sys_read"],
            "no system call in the traces is called `sys_read`; did you mean `read`",
        ),
        (
            &["analyze", "syscallstats", "--call", "raed"],
            "no system call in the traces is called `raed`; did you mean `read`?",
        ),
        (
            &["analyze", "cputop", "--procname", "appsvr"],
            "no thread in the traces is called `appsvr`; did you mean `appsrv`?",
        ),
        (&["analyze", "cputop", "--tid", "4711"], "note: no thread 4711 is in the traces\n"),
        (
            &["events", "--procname", "appsvr"],
            "note: no event that was looked at is of a thread called `appsvr`; did you mean `appsrv`?\n",
        ),
        (&["events", "--tid", "4711"], "note: no event that was looked at is of a thread 4711\n"),
        (&["events", "--pid", "4711"], "note: no event that was looked at is of a process 4711\n"),
        (&["events", "--cpu", "99"], "note: no event that was looked at is of one of the CPUs of --cpu\n"),
        (&["events", "--where", "ret == 123456"], "note: --where holds for no event that was looked at\n"),
        (&["analyze", "cputop", "--pid", "4711"], "note: no process 4711 is in the traces\n"),
    ] {
        let said = run(&[arguments, &[&app]].concat());
        check(&said, 0, &[told]);
        let quiet = run(&[arguments, &["-q", &app]].concat());
        assert_eq!(quiet.err, "");
    }
    for (arguments, told) in [
        (
            &["events", "--where", "network_header.ipv4.tot_ln == 1"][..],
            "a field `network_header.ipv4.tot_ln`; did you mean `network_header.ipv4.tot_len`",
        ),
        (
            &["events", "--where", "$ctx.procnam == \"x\""],
            "no event has a field `$ctx.procnam`; did you mean `procname`?",
        ),
        (
            &["analyze", "cputopp"],
            "no analysis is called `cputopp`; did you mean `cputop`? [possible values: cputop, fds",
        ),
        (
            &["analyze", "cputop", "--sort", "nothing"],
            "--sort: no column is called `nothing`; there are host, pid, tid, comm, cpu_ns",
        ),
        (
            &["analyze", "cputop", "--table", "cpu"],
            "no table is called `cpu`; there are processes, cpus, total",
        ),
        (&["analyze", "cputop", "--host", "h9"], "no host is called `h9`; there are h2"),
        (&["events", "--host", "h1,h2"], "no host is called `h1`; there are h2"),
        (&["analyze", "cputop", "--tid", "abc"], "not a number of a thread"),
        (&["analyze", "cputop", "--cpu", "3-1"], "not a CPU or a range of CPUs, as in 0-3"),
        (&["analyze", "cputop", "--threads", "0"], "not a number from 1 on"),
    ] {
        let said = run(&[arguments, &[&app]].concat());
        check(&said, 2, &[told]);
        assert_eq!(said.out, "", "{arguments:?}");
    }
    // With commas, as everywhere.
    let two = run(&["events", "-q", "--event", "sched_switch,sched_wakeup", &app]);
    let apart = run(&["events", "-q", "--event", "sched_switch", "--event", "sched_wakeup", &app]);
    assert!(two.out == apart.out && !two.out.is_empty());
    check(
        &run(&["analyze", &app, "cputop"]),
        2,
        &["is a path: the analysis comes first, as in `isochrone analyze cputop "],
    );
}

#[test]
fn what_was_not_recorded_is_said() {
    let directory = tempfile::tempdir().unwrap();
    // Only user space was traced.
    let mut trace = isochrone_testkit::LttngTrace::user_space("web1");
    trace.define("app:work", "");
    trace.event(0, 100, "app:work", &[]).event(0, 200, "app:work", &[]);
    trace.write(directory.path()).unwrap();
    let path = directory.path().to_str().unwrap();
    let without = |analysis: &str, told: &str| {
        let said = run(&["analyze", analysis, path]);
        check(&said, 0, &[told]);
        let json = run(&["analyze", analysis, "--format", "json", path]);
        assert!(json.out.contains(told.trim_start_matches("note: ")), "{}", json.out);
    };
    without(
        "syscallstats",
        "web1: no system calls were recorded, or only their entries or exits; before the next recording, type: lttng enable-event --kernel --syscall --all",
    );
    without(
        "irqstats",
        "web1: no interrupts were recorded, or not how they ended; before the next recording, type: \
         lttng enable-event --kernel 'irq_*'",
    );
    without(
        "cputop",
        "web1: no switches between threads were recorded; before the next recording, type: lttng enable-event",
    );
    let said = run(&["analyze", "cputop,syscallstats,irqstats,schedtop", &shop("app")]);
    assert!(!said.err.contains("were recorded"), "{}", said.err);
}

#[test]
fn outputs_that_cannot_be_written_are_errors_before_any_work() {
    check(&on_hosts(&["sync", "-o", "-"]), 2, &["-o -: use --format json"]);
    check(&on_hosts(&["sync", "-o", "/proc/sync.json"]), 2, &["cannot write"]);
    check(&on_hosts(&["sync", "--write", "/proc/together"]), 2, &["cannot write"]);
    check(&on_hosts(&["index", "-o", "/proc/a.store"]), 2, &["cannot write"]);
}

#[test]
fn files_of_traces_name_their_directory() {
    let metadata = format!("{}/kernel/metadata", shop("app"));
    for command in [&["info"][..], &["events"], &["analyze", "cputop"], &["sync"]] {
        let said = run(&[command, &[&metadata]].concat());
        check(&said, 2, &["metadata: a file of a trace: name its directory, ", "app/kernel\n"]);
    }
}

#[test]
fn a_directory_with_one_trace_stands_for_it() {
    let (app, kernel) = (shop("app"), format!("{}/kernel", shop("app")));
    let whole = run(&["dump", "-q", &kernel]);
    assert!(run(&["dump", "-q", &app]).out == whole.out && !whole.out.is_empty());
    check(&run(&["dump", &shop("")]), 2, &["name one of the traces in it: ", "db/kernel"]);
}

/// Losses are told by `events`, as by all other commands.
#[test]
fn losses_are_reported() {
    let directory = tempfile::tempdir().unwrap();
    isochrone_testkit::RandomKernel::new(3)
        .host("web1")
        .events(800)
        .losses(3)
        .packet_events(40)
        .write(directory.path())
        .unwrap();
    let said = run(&["events", directory.path().to_str().unwrap()]);
    check(&said, 0, &["note: web1: ", " were lost: what happened meanwhile is unknown"]);
}

#[test]
fn numbers_of_system_errors_are_not_shown() {
    let said = run(&["sync", "--messages", "/no/such/list"]);
    check(&said, 2, &["No such file or directory"]);
    assert!(!said.err.contains("os error"), "{}", said.err);
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("x.json"), "{}").unwrap();
    let file = directory.path().join("x.json");
    check(&run(&["events", "--sync", file.to_str().unwrap(), &shop("app")]), 2, &["x.json"]);
}

/// Who has no cache gets the same answers, and a note.
#[test]
fn a_cache_that_cannot_be_written() {
    let app = shop("app");
    let expect = run(&["states", "-q", "--limit", "3", &app]);
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().to_str().unwrap();
    let variables = [("XDG_CACHE_HOME", "/dev/null"), ("TMPDIR", directory)];
    let said = run_with(&variables, &["states", "--limit", "3", &app]);
    check(&said, 0, &["note: the index is not kept: /dev/null/isochrone: ", "set XDG_CACHE_HOME"]);
    assert_eq!(said.out, expect.out);
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
    // Nor is anything made by a shell that completes.
    let variables = [("COMPLETE", "bash"), ("_CLAP_COMPLETE_INDEX", "4"), variables[0], variables[1]];
    run_with(&variables, &["--", "isochrone", "cputop", &app, "--procname", ""]);
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
fn the_cache_is_shown_and_cleaned() {
    let cache = tempfile::tempdir().unwrap();
    let variables = [("XDG_CACHE_HOME", cache.path().to_str().unwrap())];
    let run = |arguments: &[&str]| run_with(&variables, arguments);
    let empty = run(&["cache"]);
    assert!(empty.out.ends_with("isochrone: 0 stores, 0 B\n"), "{}", empty.out);
    let traces = tempfile::tempdir().unwrap();
    let gone = traces.path().join("gone");
    check(&run(&["cut", "-q", "-o", gone.to_str().unwrap(), "--end", "+1s", &shop("app")]), 0, &[]);
    for trace in [gone.to_str().unwrap(), &shop("db")] {
        check(&run(&["index", "-q", trace]), 0, &[]);
    }
    std::fs::remove_dir_all(&gone).unwrap();
    let said = run(&["cache", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let mut states: Vec<&str> =
        document["stores"].as_array().unwrap().iter().map(|store| store["state"].as_str().unwrap()).collect();
    states.sort_unstable();
    assert_eq!(states, ["stale", "usable"]);
    assert!(run(&["cache"]).out.contains("isochrone: 2 stores, "));
    assert!(run(&["cache", "clean"]).out.starts_with("1 store removed, "));
    assert!(run(&["cache", "clean", "--all"]).out.starts_with("1 store removed, "));
    // What a recording became is kept as long as the recording is as it was.
    let recording = traces.path().join("r.data");
    std::fs::copy("tests/it/data/samples/perf.data", &recording).unwrap();
    let events = || run(&["events", "-q", "--count", recording.to_str().unwrap()]).out;
    let first = events();
    let document: serde_json::Value = serde_json::from_str(&run(&["cache", "--format", "json"]).out).unwrap();
    let kept = document["recordings"][0]["path"].as_str().unwrap().to_owned();
    let when = || std::fs::metadata(std::path::Path::new(&kept).join("trace/metadata")).unwrap().modified();
    let made = when().unwrap();
    assert_eq!((events(), when().unwrap()), (first, made));
    assert!(run(&["cache"]).out.contains("isochrone: 0 stores, 1 recording, "));
    assert!(run(&["cache", "clean"]).out.starts_with("0 stores removed, "));
    std::fs::remove_file(&recording).unwrap();
    assert!(run(&["cache", "clean"]).out.starts_with("0 stores and 1 recording removed, "));
    assert_eq!(std::fs::read_dir(cache.path().join("isochrone/recordings")).unwrap().count(), 0);
}

/// Whether or not there was a store before, and in JSON but for what `watch` prints, too.
#[test]
fn losses_are_noted_each_time() {
    let [directory, cache] = [(), ()].map(|()| tempfile::tempdir().unwrap());
    let kernel = isochrone_testkit::RandomKernel::new(3).host("web1").events(800).losses(3).packet_events(40);
    kernel.write(directory.path()).unwrap();
    let (trace, cache) = (directory.path().to_str().unwrap(), cache.path().to_str().unwrap());
    for command in [
        &["blocking"][..],
        &["bottleneck"],
        &["critical-path"],
        &["accounting"],
        &["messages"],
        &["ipc"],
        &["analyze", "states"],
        &["analyze", "fds", "--at", "+1us"],
        &["analyze", "cputop"],
    ] {
        let run = |more: &[&str]| run_with(&[("XDG_CACHE_HOME", cache)], &[command, more, &[trace]].concat());
        for _ in 0..2 {
            let said = run(&[]);
            let notes = said.err.matches(" were lost: what happened meanwhile is unknown").count();
            assert_eq!(notes, 1, "{command:?}: {}", said.err);
        }
        if matches!(command, ["analyze", "fds" | "cputop", ..]) {
            continue;
        }
        let said = run(&["--format", "json"]);
        assert!(
            said.out.contains(" were lost: what happened meanwhile is unknown"),
            "{command:?}: {}",
            said.out
        );
    }
}

#[test]
fn how_many_requests_there_are_is_unknown_where_some_may_be_missing() {
    let part = tempfile::tempdir().unwrap();
    let part = part.path().join("part");
    let (app, part) = (shop("app"), part.to_str().unwrap());
    let limit = &["check", "--max", "count(request) < 1000"][..];
    check(&run(&[limit, &[&app]].concat()), 0, &[]);
    check(&run(&["cut", "-q", "--event", "sched_*", "-o", part, &app]), 0, &[]);
    let said = run(&[limit, &[part]].concat());
    check(&said, 2, &["events are missing that may have been of more requests, so that it is unknown"]);
    assert!(said.out.contains("UNKNOWN  count(request) < 1000: at least 0"), "{}", said.out);
}
