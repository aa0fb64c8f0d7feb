//! Questions across hosts, as they are typed.

use serde_json::Value;

use super::{check, hosts, on_hosts, run};

fn tables(said: &str) -> Vec<(String, Vec<String>)> {
    let report: Value = serde_json::from_str(said).unwrap();
    let name = |of: &Value| of["name"].as_str().unwrap().to_owned();
    let table =
        |table: &Value| (name(table), table["columns"].as_array().unwrap().iter().map(name).collect());
    report["tables"].as_array().unwrap().iter().map(table).collect()
}

/// The tables that others build on have the columns that they count on.
#[test]
fn tables_have_their_documented_form() {
    let check = |command: &str, table: &str, columns: &[&str]| {
        let said = on_hosts(&[command, "-q", "--format", "json"]);
        assert_eq!(said.status, Some(0), "{}", said.err);
        // By the name of `analyze`, the same.
        assert_eq!(on_hosts(&["analyze", command, "-q", "--format", "json"]).out, said.out);
        let tables = tables(&said.out);
        let (_, found) = tables.iter().find(|(name, _)| name == table).unwrap();
        assert!(found.starts_with(&columns.iter().map(ToString::to_string).collect::<Vec<_>>()), "{found:?}");
    };
    let requests = [
        "request",
        "client_host",
        "client_pid",
        "client_tid",
        "server_host",
        "server_pid",
        "server_tid",
        "begin_ns",
        "end_ns",
    ];
    check("critical-path", "requests", &requests);
    let path =
        ["request", "begin_ns", "end_ns", "host", "pid", "tid", "comm", "cause", "detail", "uncertainty_ns"];
    check("critical-path", "path", &path);
    check("critical-path", "causes", &["request", "host", "comm", "cause", "total_ns"]);
    let accounting = ["host", "pid", "comm", "parent_host", "parent_pid", "self_ns", "sub_ns", "total_ns"];
    check("accounting", "accounting", &accounting);
    let costs = [
        "client_host",
        "client_pid",
        "client_tid",
        "server_host",
        "server_pid",
        "server_tid",
        "begin_ns",
        "end_ns",
        "cpu_ns",
        "blocked_ns",
    ];
    check("accounting", "requests", &costs);
    check(
        "messages",
        "links",
        &["from", "to", "count", "min_ns", "median_ns", "p99_ns", "max_ns", "uncertainty_ns"],
    );
    check("blocking", "waits", &["host", "pid", "tid", "comm", "begin_ns", "end_ns", "wait_ns", "cause"]);
    check(
        "ipc",
        "relations",
        &["from_host", "from_pid", "from_comm", "to_host", "to_pid", "to_comm", "kind", "object"],
    );
}

#[test]
fn a_request_is_drawn() {
    let said = on_hosts(&["critical-path", "-q", "--request", "14"]);
    assert!(said.out.starts_with("request 14 of 24   h1 wget 247 → h2 appsrv 210"), "{}", said.out);
    assert!(said.out.contains("lttng-consumerd 185 ran"), "{}", said.out);
    // Without a number, the slowest; programs get no drawing.
    assert!(on_hosts(&["critical-path", "-q"]).out.starts_with("request 20 of 24"));
    let csv = on_hosts(&["critical-path", "-q", "--format", "csv", "--table", "requests"]).out;
    assert_eq!(csv.lines().count(), 25, "{csv}");
    assert!(on_hosts(&["ipc", "-q", "--dot"]).out.starts_with("digraph ipc {"));
}

#[test]
fn services_and_threads() {
    let count = |arguments: &[&str]| {
        let said = on_hosts(
            &[&["critical-path", "-q", "--format", "csv", "--table", "requests"], arguments].concat(),
        );
        said.out.lines().count() - 1
    };
    assert_eq!(count(&["--service", "8080"]), 24);
    assert_eq!(count(&["--service", "10.0.0.3:6379"]), 24);
    assert_eq!(count(&["--service", "redis*"]), 24);
    assert_eq!(count(&["--service", "9000"]), 48);
    assert_eq!(count(&["--service", "1"]), 0);
    let said = on_hosts(&["critical-path", "-q", "--thread", "h2:210", "--format", "csv", "--table", "path"]);
    assert!(said.out.lines().any(|line| line.contains("srvhog")), "{}", said.out);
}

#[test]
fn what_is_not_there_is_an_error() {
    check(&on_hosts(&["critical-path", "--request", "25"]), 2, &["there are 24 requests, and no number 25"]);
    check(&on_hosts(&["critical-path", "--thread", "h9:1"]), 2, &["no host is called `h9`"]);
    check(&on_hosts(&["critical-path", "--thread", "h2:99999"]), 2, &["no thread 99999"]);
    check(
        &on_hosts(&["critical-path", "--thread", "14"]),
        2,
        &["several hosts have a thread 14: name one of h1:14, h2:14, h3:14"],
    );
    check(&on_hosts(&["critical-path", "--thread", "x"]), 2, &["not a number of a thread"]);
    check(
        &on_hosts(&["accounting", "--table", "x"]),
        2,
        &["no table is called `x`; there are programs, accounting, requests"],
    );
}

/// Hosts whose clocks cannot be compared are not followed from one to the other, and nothing else is lost.
#[test]
fn own_clocks_end_the_path() {
    let hosts = hosts();
    let said = run(&[
        "critical-path",
        "-q",
        "--no-sync",
        "--format",
        "csv",
        "--table",
        "path",
        &hosts[0],
        &hosts[1],
    ]);
    assert_eq!(said.status, Some(0), "{}", said.err);
    assert!(!said.out.contains("appsrv"), "{}", said.out);
    assert!(said.out.contains("network"), "{}", said.out);
    let latencies =
        run(&["messages", "-q", "--no-sync", "--format", "csv", "--table", "links", &hosts[0], &hosts[1]]);
    let row = latencies.out.lines().nth(1).unwrap();
    // Only round trips.
    assert!(row.starts_with("h1,h2,120,,,,,,550453,"), "{row}");
}
