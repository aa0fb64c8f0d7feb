//! The questions of `docs/sql.md`: each is asked of the example, and its answer is held against what `isochrone` answers.

use std::collections::BTreeMap;

use crate::common::{Here, for_pictures, questions, shop, text};
use serde_json::Value;

/// A row as text, so that rows can be compared whatever made them: times as ns, numbers as they are.
type Row = Vec<String>;

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "?".to_owned(),
        Value::String(text) => time_ns(text).map_or_else(|| text.clone(), |ns| ns.to_string()),
        other => other.to_string(),
    }
}

/// The ns of `2026-11-20T06:11:24.000000001Z`.
fn time_ns(text: &str) -> Option<i128> {
    let is_time = text.ends_with('Z') && text.contains('T') && text.starts_with("20");
    is_time.then(|| text.parse::<jiff::Timestamp>().ok()).flatten().map(jiff::Timestamp::as_nanosecond)
}

/// What a query answers: rows with the columns in their order.
fn asked(here: &Here, query: &str) -> Vec<Row> {
    let shop = shop();
    let output = here.sql(&["-q", "--format", "csv", "-c", query, shop.to_str().unwrap()]);
    assert!(output.status.success(), "{query}\n{}", text(&output.stderr));
    let mut reader = csv::Reader::from_reader(output.stdout.as_slice());
    let value = |text: &str| if text.is_empty() { Value::Null } else { Value::String(text.to_owned()) };
    reader.records().map(|row| row.unwrap().iter().map(|text| cell(&value(text))).collect()).collect()
}

/// Some columns of a table of a report.
fn reported(here: &Here, arguments: &[&str], table: &str, columns: &[&str]) -> Vec<Row> {
    let shop = shop();
    let output =
        here.isochrone(&[&["-q"], arguments, &["--format", "json", shop.to_str().unwrap()]].concat());
    assert!(output.status.success(), "{arguments:?}\n{}", text(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = document["tables"].as_array().unwrap().iter().find(|it| it["name"] == table);
    let found = found.unwrap_or_else(|| panic!("{arguments:?} has no table {table}"));
    let names: Vec<&str> =
        found["columns"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
    let places: Vec<usize> = columns
        .iter()
        .map(|name| names.iter().position(|it| it == name).unwrap_or_else(|| panic!("{name} of {names:?}")))
        .collect();
    let rows = found["rows"].as_array().unwrap().iter();
    rows.map(|row| places.iter().map(|&place| cell(&row[place])).collect()).collect()
}

/// How many rows of an answer there must be.
enum Count {
    /// All that there are.
    All,
    /// So many, of more.
    First(usize),
}

/// Every row of the answer must be one of those that are expected.
fn same(number: u32, mut answer: Vec<Row>, mut expect: Vec<Row>, count: &Count) {
    assert!(!answer.is_empty(), "question {number} has no answer");
    if let Count::First(rows) = count {
        assert!(expect.len() > *rows, "question {number}: {} rows are all there are", expect.len());
        assert_eq!(answer.len(), *rows, "question {number}");
        let missing: Vec<&Row> = answer.iter().filter(|row| !expect.contains(row)).collect();
        assert!(missing.is_empty(), "question {number}: not in the report: {missing:?}\n{expect:?}");
        return;
    }
    answer.sort();
    expect.sort();
    let only =
        |a: &[Row], b: &[Row]| -> Vec<Row> { a.iter().filter(|row| !b.contains(row)).cloned().collect() };
    let (more, less) = (only(&answer, &expect), only(&expect, &answer));
    assert!(
        more.is_empty() && less.is_empty(),
        "question {number}: only in SQL {more:?}, only in the report {less:?}"
    );
    assert_eq!(answer.len(), expect.len(), "question {number}");
}

/// Rows with their last columns added up over all that have the others in common.
fn added_up(rows: Vec<Row>, numbers: usize) -> Vec<Row> {
    let mut sums: BTreeMap<Row, Vec<i128>> = BTreeMap::new();
    for row in rows {
        let (key, values) = row.split_at(row.len() - numbers);
        let sum = sums.entry(key.to_vec()).or_insert_with(|| vec![0; numbers]);
        for (sum, value) in sum.iter_mut().zip(values) {
            *sum += value.parse::<i128>().unwrap();
        }
    }
    sums.into_iter()
        .map(|(key, sums)| key.into_iter().chain(sums.iter().map(ToString::to_string)).collect())
        .collect()
}

/// The events that `isochrone events` shows.
fn events(here: &Here, arguments: &[&str]) -> Vec<Value> {
    let shop = shop();
    let output = here
        .isochrone(&[&["-q", "events", "--format", "json"], arguments, &[shop.to_str().unwrap()]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    output
        .stdout
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// How often each row comes.
fn counted(rows: impl IntoIterator<Item = Row>) -> Vec<Row> {
    added_up(rows.into_iter().map(|row| [row, vec!["1".to_owned()]].concat()).collect(), 1)
}

#[test]
fn every_question_is_answered_as_isochrone_does() {
    use Count::{All, First};

    let here = Here::new();
    let questions = questions();
    let answer = |number: u32| asked(&here, &questions[&number]);
    // Those that are the columns of a table.
    let check = |number, arguments: &[&str], table, columns: &[&str], count: Count| {
        same(number, answer(number), reported(&here, arguments, table, columns), &count);
    };
    let figures = ["count", "min_ns", "max_ns", "total_ns"];
    check(1, &["analyze", "cputop"], "cpus", &["host", "cpu", "busy_ns"], All);
    check(2, &["analyze", "cputop"], "processes", &["host", "pid", "tid", "comm", "cpu_ns"], First(10));
    let threads = ["host", "pid", "tid", "comm", "ppid", "begin_ns"];
    let threads = reported(&here, &["analyze", "processes"], "processes", &threads);
    same(3, answer(3), threads.into_iter().filter(|row| row[5] != "?").collect(), &All);
    check(
        4,
        &["analyze", "syscallstats"],
        "names",
        &["host", "syscall", "count", "total_ns", "min_ns", "max_ns", "errors"],
        All,
    );
    check(
        5,
        &["analyze", "syscalls"],
        "syscalls",
        &["host", "begin_ns", "duration_ns", "pid", "tid", "comm", "syscall"],
        First(10),
    );
    let returns = ["host", "pid", "tid", "comm", "syscall", "result", "count"];
    let returned = reported(&here, &["analyze", "syscallstats"], "returns", &returns);
    same(6, answer(6), returned.into_iter().filter(|row| row[5] != "success").collect(), &All);
    check(7, &["analyze", "irqstats"], "hard", &[&["host", "number", "name"], &figures[..]].concat(), All);
    check(
        8,
        &["analyze", "irqstats"],
        "soft",
        &["host", "number", "count", "total_ns", "raised_max_ns"],
        All,
    );
    check(
        9,
        &["analyze", "schedstats"],
        "threads",
        &[&["host", "pid", "tid", "comm"], &figures[..]].concat(),
        All,
    );
    // Names are the last ones in SQL, and those of the time in the report.
    let nameless = |rows: Vec<Row>| -> Vec<Row> {
        rows.into_iter().map(|row| [0, 1, 2, 3, 5].map(|place| row[place].clone()).to_vec()).collect()
    };
    let waits = reported(
        &here,
        &["analyze", "schedtop"],
        "top",
        &["host", "switch_ns", "latency_ns", "tid", "comm", "waker_tid", "waker_comm"],
    );
    same(10, nameless(answer(10)), nameless(waits), &First(5));
    // A correction changes durations, so each host is left on its own clock.
    let states =
        reported(&here, &["states", "--no-sync"], "states", &["host", "tid", "state", "begin_ns", "end_ns"]);
    let lasted = states.into_iter().map(|row| {
        let ns = row[4].parse::<i128>().unwrap() - row[3].parse::<i128>().unwrap();
        [&row[..3], &[ns.to_string()]].concat()
    });
    same(11, answer(11), added_up(lasted.collect(), 1), &All);
    check(
        12,
        &["states", "--host", "h2", "--begin", "06:11:24", "--end", "06:11:24.000000001"],
        "states",
        &["host", "tid", "comm", "state", "cpu", "syscall"],
        All,
    );
    check(13, &["messages"], "links", &["from", "to", "count", "min_ns", "max_ns"], All);
    check(
        14,
        &["messages", "--table", "messages"],
        "messages",
        &["from", "to", "received_ns", "latency_ns", "latency_lo_ns", "latency_hi_ns"],
        First(5),
    );
    let descriptors = ["host", "fd", "name", "reads", "read_bytes", "writes", "written_bytes"];
    check(15, &["analyze", "fds"], "fds", &descriptors, First(10));
    let sockets = reported(
        &here,
        &["analyze", "fds"],
        "fds",
        &["kind", "host", "tid", "comm", "name", "read_bytes", "written_bytes"],
    );
    let talked = sockets.into_iter().filter(|row| row[0] == "socket").filter_map(|row| {
        let (_, peer) = row[4].split_once('→')?;
        let (address, port) = peer.trim().rsplit_once(':')?;
        let [_, host, tid, comm, _, read, written] = row.as_slice() else { return None };
        Some([host, tid, comm, address, port, read, written].map(ToString::to_string).to_vec())
    });
    same(16, answer(16), added_up(talked.collect(), 2), &All);
    let passed = ["host", "interface", "received_bytes", "sent_bytes", "received_packets", "sent_packets"];
    check(17, &["analyze", "iousagetop"], "interfaces", &passed, All);
    let output = here.isochrone(&["-q", "info", "--format", "json", shop().to_str().unwrap()]);
    let info: Value = serde_json::from_slice(&output.stdout).unwrap();
    let traced = info["traces"].as_array().unwrap().iter().flat_map(|trace| {
        let row = |class: &Value| [&trace["host"], &class["name"], &class["count"]].map(cell).to_vec();
        trace["event_classes"].as_array().unwrap().iter().map(row).collect::<Vec<_>>()
    });
    same(18, answer(18), added_up(traced.collect(), 1), &All);
    let second = ["--event", "sched_switch", "--begin", "06:11:24", "--end", "06:11:25.000000001"];
    let switches = events(&here, &second);
    same(19, answer(19), counted(switches.iter().map(|event| vec![cell(&event["host"])])), &All);
    let all = events(&here, &["--event", "sched_switch"]);
    let given = all.iter().map(|event| {
        let payload = &event["payload"];
        vec![cell(&event["host"]), cell(&payload["prev_comm"]), cell(&payload["next_comm"])]
    });
    same(20, answer(20), counted(given), &First(20));
}

/// Pictures can be made of queries: what is in them is what commands say.
#[test]
fn pictures_have_queries() {
    let here = Here::new();
    let [lives, requests] = for_pictures();
    let used = asked(&here, &lives).into_iter().filter(|row| row[4] != "?");
    let mut used: Vec<Row> = used.map(|row| vec![row[0].clone(), row[1].clone(), row[4].clone()]).collect();
    let arguments = ["analyze", "cputop", "--by-process", "--limit", "0"];
    let mut expected = reported(&here, &arguments, "processes", &["host", "pid", "cpu_ns"]);
    expected.retain(|row| row[2] != "0");
    used.sort();
    expected.sort();
    assert_eq!(used, expected);
    // What requests read and wrote is what disks did.
    let requests = asked(&here, &requests);
    let bytes: i64 = requests.iter().map(|row| row[7].parse::<i64>().unwrap()).sum();
    let disks = reported(&here, &["analyze", "iousagetop"], "disks", &["read_bytes", "written_bytes"]);
    assert_eq!(bytes, disks.iter().flatten().map(|cell| cell.parse::<i64>().unwrap()).sum::<i64>());
    let away = requests.iter().filter(|row| row[9] != "?").map(|row| row[9].parse::<i64>().unwrap());
    assert!(away.clone().any(|sectors| sectors == 0) && away.clone().any(|sectors| sectors < 0));
}
