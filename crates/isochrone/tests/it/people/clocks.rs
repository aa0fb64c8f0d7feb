//! Several hosts are synchronized unless something else is said.

use serde_json::Value;

use super::{check, hosts, on_hosts, run, shop};

const NOTE: &str =
    "note: times of 3 hosts are synchronized to the clock of h2; worst bound ± 332.7 µs (h1)\n";

fn lines(json: &str) -> Vec<Value> {
    json.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn events_of_three_hosts_are_one_time_line() {
    let said = on_hosts(&["events"]);
    check(&said, 0, &[]);
    assert_eq!(said.err, NOTE);
    assert_eq!(said.out.lines().count(), 143_670);
    // Gaps between neighbours are not negative: the second bracket says so.
    assert!(!said.out.contains("] (-"), "out of order");
    // The database is first asked after the client has asked; its own clock is 65 s behind.
    let json = on_hosts(&["events", "-q", "--format", "json", "--event", "syscall_entry_write"]);
    let times: Vec<i64> = lines(&json.out).iter().map(|line| line["time_ns"].as_i64().unwrap()).collect();
    assert!(times.is_sorted() && times.len() > 100);
    assert!(times[times.len() - 1] - times[0] < 11_000_000_000);
}

#[test]
fn own_clocks_where_asked_for() {
    let said = on_hosts(&["events", "--no-sync", "--event", "sched_process_fork"]);
    check(
        &said,
        0,
        &["note: 3 hosts, each on its own clock: the order of events of different hosts is meaningless"],
    );
    let said = on_hosts(&["events", "-q", "--no-sync", "--event", "sched_process_fork"]);
    assert_eq!(said.err, "");
    let one = run(&["events", "--event", "sched_process_fork", &shop("app")]);
    assert_eq!((one.status, one.err.as_str()), (Some(0), ""));
    let both = on_hosts(&["events", "--no-sync", "--sync", "sync.json"]);
    check(&both, 2, &["cannot be used with"]);
}

#[test]
fn kept_corrections_say_what_the_way_says() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("sync.json");
    let file = file.to_str().unwrap();
    check(&on_hosts(&["sync", "-q", "-o", file]), 0, &[]);
    for command in [&["events", "--event", "sched_process_*"][..], &["analyze", "schedtop"]] {
        let kept = on_hosts(&[command, &["--sync", file]].concat());
        assert_eq!((kept.status, kept.err.as_str()), (Some(0), ""));
        assert_eq!(on_hosts(command).out, kept.out);
    }
}

#[test]
fn analyses_are_on_one_clock() {
    let sync = |arguments: &[&str]| {
        let said = on_hosts(&[&["analyze", "schedtop", "--format", "json", "-q"], arguments].concat());
        serde_json::from_str::<Value>(&said.out).unwrap()["sync"].as_bool().unwrap()
    };
    assert!(sync(&[]) && !sync(&["--no-sync"]));
    // One host of three is on the clock of the others, too.
    assert!(sync(&["--host", "h1"]));
    let said = on_hosts(&["analyze", "cputop", "--host", "h1"]);
    check(&said, 0, &["note: times of h1 are synchronized to the clock of h2; worst bound ± 332.7 µs (h1)"]);
    let states = ["analyze", "states", "--tid", "199", "--format", "jsonl", "-q"];
    let directory = tempfile::tempdir().unwrap();
    let states = |more: &[&str]| {
        let hosts = hosts();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_isochrone"));
        command.args(states).args(more).args(hosts).env("XDG_CACHE_HOME", directory.path());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert_ne!(states(&[]), states(&["--no-sync"]));
}

/// Without packets in common, the hosts are named, what to record is said, and the status says that it is done in part.
#[test]
fn hosts_that_cannot_be_tied_are_named() {
    let (client, db) = (shop("client"), shop("db"));
    let said = run(&["events", "--event", "sched_process_exit", &client, &db]);
    let told =
        "warning: no usable chain of messages ties h1 and h3 together: the order of their events is unknown";
    check(&said, 1, &[told]);
    assert!(!said.out.is_empty());
    check(
        &run(&["analyze", "cputop", &client, &db]),
        1,
        &["h1 and h3 together: their times cannot be compared"],
    );
    check(&run(&["events", "--no-sync", "--event", "x", &client, &db]), 0, &[]);
    // One of them alone can be compared with itself.
    check(&run(&["events", "--host", "h1", "--event", "sched_process_exit", &client, &db]), 0, &[]);
    // The same of a kept file.
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("islands.json");
    let file = file.to_str().unwrap();
    check(&run(&["sync", "-q", "-o", file, &client, &db]), 1, &[]);
    let kept = run(&["events", "--sync", file, "--event", "sched_process_exit", &client, &db]);
    check(&kept, 1, &["warning: no usable chain of messages ties h1 and h3 together"]);
}

#[test]
fn bounds_of_events_and_their_order() {
    let window = ["--begin", "06:11:23.680", "--end", "06:11:23.684", "--event", "net_*"];
    let said = on_hosts(&[&["events", "-q", "--bounds"][..], &window].concat());
    check(&said, 0, &[]);
    let plain = on_hosts(&[&["events", "-q"][..], &window].concat());
    let (mut unsure, mut kept) = (0, String::new());
    for line in said.out.lines() {
        let (mark, rest) = line.split_at(2);
        assert!(["  ", "~ "].contains(&mark), "{line}");
        unsure += usize::from(mark == "~ ");
        let (time, after) = rest.split_once(' ').unwrap();
        let (bounds, after) = after.split_once("] ").unwrap();
        assert!(bounds == "±0" || (bounds.starts_with('-') && bounds.contains(" +")), "{line}");
        kept += &format!("{time}] {after}\n");
    }
    // Without the bounds it is what it is without the option.
    assert_eq!(kept, plain.out);
    assert!(unsure > 0 && unsure < said.out.lines().count() / 2, "{}", said.out);
    let json = on_hosts(&[&["events", "-q", "--bounds", "--format", "json"][..], &window].concat());
    let lines = lines(&json.out);
    assert_eq!(lines.iter().filter(|line| line["ordered"] == false).count(), unsure);
    assert!(lines.iter().all(|line| line["e95_ns"].is_i64()));
    // Neighbours of one host are in order.
    for pair in lines.windows(2).filter(|pair| pair[0]["host"] == pair[1]["host"]) {
        assert_eq!(pair[1]["ordered"], true);
    }
}

#[test]
fn bounds_of_tables() {
    let said = on_hosts(&["analyze", "schedtop", "-q", "--bounds", "--limit", "3", "--format", "csv"]);
    check(&said, 0, &[]);
    let header = "host,wakeup_ns,wakeup_lo_ns,wakeup_hi_ns,switch_ns,switch_lo_ns,switch_hi_ns,latency_ns,";
    assert!(said.out.starts_with(header), "{}", said.out);
    for line in said.out.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let ns = |place: usize| cells[place].parse::<i64>().unwrap();
        assert!(ns(2) <= ns(1) && ns(1) <= ns(3) && ns(3) - ns(2) < 700_000, "{line}");
    }
    let text = on_hosts(&["analyze", "schedtop", "-q", "--bounds", "--limit", "1"]);
    assert!(text.out.contains("06:11:21.555276416 -"), "{}", text.out);
    // What has no bounds cannot show any.
    let own = run(&["events", "--bounds", &shop("app")]);
    check(&own, 2, &["--bounds: a host's own clock has no bounds"]);
    check(&on_hosts(&["analyze", "schedtop", "--no-sync", "--bounds"]), 2, &["own clock has no bounds"]);
    check(&on_hosts(&["analyze", "cputop", "--bounds"]), 2, &["--bounds: no times are in these tables"]);
}

#[test]
fn times_are_converted_without_a_kept_file() {
    let hosts = hosts();
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let time = "06:10:30.5";
    let said = run(&[&["convert", "--from", "h1", "--to", "h3", time, "--traces"][..], &hosts].concat());
    check(&said, 0, &[]);
    let expect = "h1 1795155030.500000000 (2026-11-20 06:10:30.500000000) = h3 1795155025.048786181 \
                  (2026-11-20 06:10:25.048786181)\n  guaranteed -359.6 µs +332.4 µs, likely (e95) ± 115.1 µs\n";
    assert_eq!(said.out, expect);
    check(&run(&["convert", "--from", "h1", time]), 2, &["the traces of the hosts with --traces"]);
}

#[test]
fn the_report_says_which_path_is_which_host() {
    let said = on_hosts(&["sync"]);
    for (host, name) in [("h1", "client"), ("h2", "app"), ("h3", "db")] {
        let path = format!("{name}/kernel");
        let line = said.out.lines().find(|line| line.ends_with(&path)).unwrap();
        assert!(line.starts_with(&format!(" {host} ")), "{line}");
    }
    let alone = run(&["sync", &shop("app")]);
    assert_eq!(alone.status, Some(0));
    assert_eq!(alone.out, "h2 is the only host: it keeps its own time\n");
}

/// Logs of all hosts are in the order of time.
#[test]
fn logs_are_in_the_order_of_time() {
    for (analysis, column) in [("syscalls", 1), ("schedlog", 1), ("irqlog", 1)] {
        let said = on_hosts(&["analyze", analysis, "-q", "--format", "csv"]);
        let mut turns = 0;
        let mut last = (0, String::new());
        for line in said.out.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let Ok(time) = cells[column].parse::<i64>() else { continue };
            assert!(time >= last.0, "{analysis}: {line}");
            turns += usize::from(cells[0] != last.1);
            last = (time, cells[0].to_owned());
        }
        assert!(turns > 100, "{analysis}: {turns} turns");
        // On their own clocks they stay apart.
        let own = on_hosts(&["analyze", analysis, "-q", "--no-sync", "--format", "csv"]);
        let mut hosts: Vec<&str> =
            own.out.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
        hosts.dedup();
        assert_eq!(hosts, ["h1", "h2", "h3"], "{analysis}");
    }
}
