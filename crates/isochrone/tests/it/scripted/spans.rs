//! Spans of OpenTelemetry beside the kernel trace of their host: they are on its clock, and of the threads
//! that they name themselves; of others it is unknown what their thread did.

use isochrone_testkit::{Generation, KernelScript};
use serde_json::{Value, json};

use super::run::{Said, analyze_in, rows};

/// Two CPUs. Thread 10 runs on CPU 0 from 100 to 200; thread 20 on CPU 1 from 110 to 140, then it sleeps
/// until 170 and has the CPU again from 175 to 190.
fn host() -> KernelScript {
    let mut host = KernelScript::new("h1", Generation::V2_13).cpus(2).contexts(true);
    host.process(10, "sh").process(20, "web");
    host.at(90).switch(0, 0).cpu(1).switch(0, 0);
    host.at(100).cpu(0).switch(0, 10);
    host.at(110).cpu(1).switch(0, 20);
    host.at(140).cpu(1).switch(20, 0);
    host.at(170).cpu(0).wake(20, 1);
    host.at(175).cpu(1).switch(0, 20);
    host.at(190).cpu(1).switch(20, 0);
    host.at(200).cpu(0).switch(10, 0);
    host.at(300).switch(0, 10).after(20).switch(10, 0);
    host
}

/// A file of spans of a host: name, begin, end, thread.
fn file(host: &str, spans: &[(&str, u64, u64, Option<i32>)]) -> String {
    let span = |(number, (name, begin, end, tid)): (usize, &(&str, u64, u64, Option<i32>))| {
        let tid = tid.map(|tid| json!({ "key": "isochrone.tid", "value": { "intValue": tid.to_string() } }));
        let runtime = json!({ "key": "thread.id", "value": { "intValue": "10" } });
        json!({
            "traceId": "5b8efff798038103d269b633813fc60c",
            "spanId": format!("{:016x}", number + 1),
            "name": name,
            "startTimeUnixNano": begin.to_string(),
            "endTimeUnixNano": end.to_string(),
            "attributes": tid.into_iter().chain([runtime]).collect::<Vec<_>>(),
        })
    };
    let attribute = |key: &str, value: Value| json!({ "key": key, "value": value });
    let resource = [
        attribute("host.name", json!({ "stringValue": host })),
        attribute("process.pid", json!({ "intValue": "20" })),
    ];
    let spans: Vec<Value> = spans.iter().enumerate().map(span).collect();
    let scope = json!({ "spans": spans });
    json!({ "resourceSpans": [{ "resource": { "attributes": resource }, "scopeSpans": [scope] }] })
        .to_string()
}

/// The file beside the trace of [`host`].
fn beside(file: &str, arguments: &str) -> Said {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("trace");
    std::fs::create_dir(&trace).unwrap();
    host().write(&trace).unwrap();
    std::fs::write(directory.path().join("spans.jsonl"), file).unwrap();
    analyze_in(directory.path(), arguments)
}

const SPAN: &str = r#"span:$event=="otel:span_begin":$event=="otel:span_end"&&span_id==$begin.$evt.span_id"#;

/// Two of one thread that do not nest, and one of an unknown thread, while another one runs on CPU 0.
const SPANS: [(&str, u64, u64, Option<i32>); 3] =
    [("query", 115, 180, Some(20)), ("render", 130, 185, Some(20)), ("wait", 120, 160, None)];

#[test]
fn periods_are_of_the_threads_that_spans_name() {
    let expect = [
        "h1 span 115 180 20 name = query",
        "h1 span 120 160 ? name = wait",
        "h1 span 130 185 20 name = render",
    ];
    for chunks in [1, 2, 3, 5, 9] {
        let arguments =
            format!("periodlog --chunks {chunks} --period {SPAN} --period-captures span:name --format json");
        let said = beside(&file("h1", &SPANS), &arguments);
        assert_eq!(said.status, Some(0), "{}", said.stderr);
        assert_eq!(rows(&said.stdout, "host period begin_ns end_ns tid begin_captures"), expect, "{chunks}");
        let note = "the thread of 1 of 3 spans of `h1` is unknown: `thread.id` is a number of the program's";
        assert!(said.stderr.contains(note), "{}", said.stderr);
    }
}

/// In `query` it ran for 30 ns, slept for 30 and could have run for 5; in `render` for 20, 30 and 5.
#[test]
fn causes_are_those_of_the_thread() {
    let period = format!("phases --table phase_waits --period {SPAN} --format json");
    let said = beside(&file("h1", &SPANS), &period);
    assert_eq!(said.status, Some(0), "{}", said.stderr);
    let mut found = rows(&said.stdout, "cause total_ns");
    found.sort();
    assert_eq!(found, ["cpu 50", "other 60", "unknown 40", "wait-cpu 10"]);
}

/// Those of a known thread are phases of it, paired by their ids and not as brackets, however the trace is
/// cut.
#[test]
fn spans_of_known_threads_are_phases() {
    let twice = [SPANS[0], SPANS[1], SPANS[2], ("query", 120, 188, Some(20))];
    for chunks in [1, 2, 3, 5, 9] {
        let ask = |table: &str| {
            beside(&file("h1", &twice), &format!("phases --chunks {chunks} --table {table} --format json"))
        };
        let said = ask("phases");
        let expect = ["query 2 133 65 68", "render 1 55 55 55"];
        assert_eq!(rows(&said.stdout, "phase count total_ns min_ns max_ns"), expect, "{}", said.stderr);
        let mut found = rows(&ask("phase_waits").stdout, "phase cause total_ns");
        found.sort();
        let expect = ["query cpu 63", "query other 60", "query wait-cpu 10", "render cpu 20"];
        assert_eq!(found, [&expect[..], &["render other 30", "render wait-cpu 5"]].concat(), "{chunks}");
    }
    // Alone, too: of the threads that they name.
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("spans.jsonl"), file("h1", &twice)).unwrap();
    let said = analyze_in(directory.path(), "phases --table phases --format json");
    let expect = ["query 2 133", "render 1 55"];
    assert_eq!(rows(&said.stdout, "phase count total_ns"), expect, "{}", said.stderr);
}

/// Spans are followed as requests are, by the id of one or of their trace, from their start to their end;
/// those of unknown threads are counted.
#[test]
fn spans_are_followed() {
    let all = "5b8efff798038103d269b633813fc60c";
    let of = |id: &str, table: &str| {
        let file = file("h1", &SPANS);
        beside(&file, &format!("critical-path --span {id} --table {table} --no-sync --format json"))
    };
    let said = of(all, "requests");
    assert_eq!(said.status, Some(0), "{}", said.stderr);
    let expect = ["1 query 115 180 65", "2 render 130 185 55"];
    assert_eq!(rows(&said.stdout, "request service begin_ns end_ns total_ns"), expect, "{}", said.stdout);
    assert!(said.stderr.contains("1 of 3 spans do not say which thread they are of"), "{}", said.stderr);
    // The trace does not say what ended its wait.
    let expect = ["1 cpu 30", "1 wait-cpu 5", "1 other 30", "2 cpu 20", "2 wait-cpu 5", "2 other 30"];
    assert_eq!(rows(&of(all, "causes").stdout, "request cause total_ns"), expect);
    let one = of("0000000000000002", "requests");
    assert_eq!(rows(&one.stdout, "request service total_ns"), ["1 render 55"], "{}", one.stderr);
    for (id, words) in [
        ("0000000000000009", "no span has the id 0000000000000009"),
        ("0000000000000003", "no thread can be followed"),
    ] {
        let said = of(id, "requests");
        assert!(said.status == Some(2) && said.stderr.contains(words), "{}", said.stderr);
    }
    let directory = tempfile::tempdir().unwrap();
    host().write(directory.path()).unwrap();
    let without = analyze_in(directory.path(), &format!("critical-path --span {all} --no-sync"));
    assert!(without.stderr.contains("no spans of OpenTelemetry are among the traces"), "{}", without.stderr);
}

/// What the kernel's own tables say does not change.
#[test]
fn the_kernel_is_as_without() {
    for analysis in ["cputop --table processes", "states", "usage"] {
        let arguments = format!("{analysis} --begin @90 --end @320 --format json");
        let directory = tempfile::tempdir().unwrap();
        host().write(directory.path()).unwrap();
        let without = analyze_in(directory.path(), &arguments);
        let with = beside(&file("h1", &SPANS), &arguments);
        let tables = |said: &Said| serde_json::from_str::<Value>(&said.stdout).unwrap()["tables"].clone();
        assert_eq!(tables(&with), tables(&without), "{analysis}: {}", with.stderr);
    }
}

/// Whose clock they are on is said where it is none of the others'.
#[test]
fn a_clock_of_their_own_is_said() {
    let far = [("a", 1_000_000, 1_000_001, None)];
    for (file, host, words) in [
        (
            file("h2", &SPANS),
            "h2",
            "no trace beside it is of host `h2`: its spans are on a clock of their own",
        ),
        (file("h1", &far), "h1#2", "the spans of `h1` are of another time than its traces"),
    ] {
        let arguments = format!("periodlog --no-sync --period {SPAN} --format json");
        let said = beside(&file, &arguments);
        assert!(said.stderr.contains(words), "{}", said.stderr);
        assert!(rows(&said.stdout, "host").iter().all(|it| it == host), "{}", said.stdout);
    }
}
