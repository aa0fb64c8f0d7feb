//! `--format lami`: the machine interface of lttng-analyses.

use isochrone_testkit::{Generation, KernelScript};
use serde_json::{Value, json};

use super::run::analyze;

fn host(name: &str) -> KernelScript {
    let mut host = KernelScript::new(name, Generation::V2_13);
    host.process(10, "web").at(100).dump();
    host.at(110).switch(0, 10);
    let path = [("dfd", (-100).into()), ("filename", "/x".into())];
    host.at(120).enter("openat", &path).after(5).exit("openat", 3);
    host.at(130).enter("read", &[("fd", 3.into())]).after(10).exit("read", 64);
    host.at(150).enter("read", &[("fd", 3.into())]).after(2).exit("read", -5);
    host.at(160).page_alloc(1).switch(10, 0);
    host
}

fn results(hosts: &[&KernelScript], arguments: &str) -> Value {
    let said = analyze(hosts, &format!("--format lami {arguments}"));
    assert_eq!(said.status, Some(0), "{}", said.stderr);
    serde_json::from_str::<Value>(said.stdout.lines().last().unwrap()).unwrap()["results"].clone()
}

#[test]
fn of_one_host() {
    let time = |at: u64| json!({"class": "timestamp", "value": at});
    let range = |begin, end| json!({"class": "time-range", "begin": time(begin), "end": time(end)});
    let web = json!({"class": "process", "name": "web", "pid": 10, "tid": 10});
    let number = |value: i64| json!({"class": "number", "value": value});
    let expect = json!([
        {"class": "allocd", "time-range": range(100, 160), "data": [[web, number(2)]]},
        {"class": "total", "time-range": range(100, 160), "data": [[number(2), number(0)]]},
    ]);
    assert_eq!(results(&[&host("h1")], "memtop"), expect);
    let log = results(&[&host("h1")], "iolog");
    assert_eq!(log[0]["class"], "log");
    let row = |begin, end, ns: u64, call: &str, size: Value| {
        json!([range(begin, end), {"class": "bool", "value": false}, {"class": "duration", "value": ns},
               {"class": "syscall", "name": call}, size, web, {"class": "path", "path": "/x"}, {"class": "fd", "fd": 3}])
    };
    let rows = json!([
        row(120, 125, 5, "openat", Value::Null),
        row(130, 140, 10, "read", json!({"class": "size", "value": 64})),
        row(150, 152, 2, "read", Value::Null),
    ]);
    assert_eq!(log[0]["data"], rows);
    // A result for each thread, with the errors.
    let calls = results(&[&host("h1")], "syscallstats");
    let class = json!({"inherit": "per-tid", "title": "System call statistics [web (10, TID: 10)]"});
    assert_eq!(calls[0]["class"], class);
    assert_eq!(calls[0]["data"][0][6], json!({"class": "string", "value": "{'success': 1, 'EIO': 1}"}));
}

#[test]
fn of_two_hosts() {
    let (one, two) = (host("h1"), host("h2"));
    let tables = results(&[&one, &two], "memtop --no-sync");
    let columns = &tables[0]["class"]["column-descriptions"];
    assert_eq!(columns[0], json!({"title": "Host", "class": "string"}));
    assert_eq!(
        (columns.as_array().unwrap().len(), &tables[0]["class"]["title"]),
        (3, &json!("Per-TID top allocated memory"))
    );
    let hosts: Vec<&Value> =
        tables[0]["data"].as_array().unwrap().iter().map(|row| &row[0]["value"]).collect();
    assert_eq!(hosts, ["h1", "h2"]);
}

#[test]
fn what_a_consumer_asks() {
    let host = host("h1");
    let say = |arguments: &str| analyze(&[&host], arguments);
    assert_eq!(say("iolog --format lami --mi-version").stdout, "1.0\n");
    assert_eq!(say("irqlog --format lami --test-compatibility").status, Some(0));
    let without = self::host("h1").untraced(&["irq_handler_entry", "irq_softirq_entry"]);
    let said = analyze(&[&without], "irqlog --format lami --test-compatibility");
    assert_eq!((said.status, said.stdout.as_str()), (Some(2), ""));
    assert!(said.stderr.contains("no interrupts were recorded"), "{}", said.stderr);
    let progress = say("memtop --format lami --output-progress").stdout;
    let (lines, document) = progress.trim_end().rsplit_once('\n').unwrap();
    assert!(lines.lines().all(|line| line.split(' ').next().unwrap().parse::<f64>().is_ok()), "{lines}");
    assert!(document.starts_with("{\"results\":["), "{document}");
    let wrong = [
        ("memtop --metadata", "--metadata needs --format lami"),
        ("fds --format lami", "--format lami does not apply to fds; it applies to cputop, iolatencyfreq"),
        ("memtop,iolog --format lami", "--format lami takes one analysis at a time"),
        ("memtop --format lami --table total", "--table does not apply to --format lami"),
    ];
    for (arguments, told) in wrong {
        let said = say(arguments);
        assert_eq!(
            (said.status, said.stderr.contains(told)),
            (Some(2), true),
            "{arguments}: {}",
            said.stderr
        );
    }
}
