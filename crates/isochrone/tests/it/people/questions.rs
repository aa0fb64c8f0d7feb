//! The questions that people have.

use serde_json::Value;

use super::{check, on_hosts, run, run_with, shop};

/// Rows as objects.
fn rows(arguments: &[&str]) -> Vec<Value> {
    let said = on_hosts(&[&["analyze", "-q", "--format", "jsonl"], arguments].concat());
    assert_eq!(said.status, Some(0), "{}", said.err);
    said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn system_calls_by_name_thread_and_process() {
    let names = rows(&["syscallstats", "--table", "names"]);
    let threads = rows(&["syscallstats", "--table", "syscalls"]);
    let processes = rows(&["syscallstats", "--table", "syscalls", "--by-process"]);
    let sum = |rows: &[Value], host: &str, call: &str, column: &str| -> i64 {
        let is_it = |row: &&Value| row["host"] == host && row["syscall"] == call;
        rows.iter().filter(is_it).map(|row| row[column].as_i64().unwrap()).sum()
    };
    for host in ["h1", "h2", "h3"] {
        for call in ["read", "epoll_wait", "openat"] {
            for column in ["count", "total_ns", "errors"] {
                let expect = sum(&threads, host, call, column);
                assert_eq!(sum(&names, host, call, column), expect, "{host} {call} {column}");
                assert_eq!(sum(&processes, host, call, column), expect, "{host} {call} {column}");
            }
        }
    }
    assert!(processes.len() < threads.len());
    // The most time first; quantiles are in order.
    for rows in [&names, &threads, &processes] {
        assert!(rows.is_sorted_by(|a, b| a["total_ns"].as_i64() >= b["total_ns"].as_i64()));
        for row in rows {
            let ns = |column: &str| row[column].as_i64().unwrap();
            assert!(ns("min_ns") <= ns("p50_ns") && ns("p50_ns") <= ns("p95_ns"), "{row}");
            assert!(ns("p95_ns") <= ns("p99_ns") && ns("p99_ns") <= ns("max_ns"), "{row}");
        }
    }
    let calls = rows(&["syscallstats", "--table", "names", "--call", "*read*"]);
    assert!(!calls.is_empty() && calls.iter().all(|row| row["syscall"].as_str().unwrap().contains("read")));
}

/// What each host did in all, where several are looked at: the sums of the other tables.
#[test]
fn totals_by_host() {
    for (arguments, table, columns) in [
        (&["syscallstats"][..], "syscalls", &["count", "total_ns", "errors"][..]),
        (&["syscallstats", "--procname", "redis*", "--call", "*read*"], "syscalls", &["count", "total_ns"]),
        (&["fds"], "fds", &["reads", "read_bytes", "writes", "written_bytes", "errors"]),
        (&["processes"], "processes", &["cpu_ns", "syscalls"]),
        (&["irqstats", "--irq"], "hard", &["count", "total_ns"]),
        (&["irqstats", "--softirq"], "soft", &["count", "total_ns"]),
    ] {
        let of = |name: &str| rows(&[arguments, &["--table", name]].concat());
        let (hosts, parts) = (of("hosts"), of(table));
        assert_eq!(hosts.len(), 3, "{arguments:?}");
        for host in &hosts {
            for &column in columns {
                let of_host = parts.iter().filter(|row| row["host"] == host["host"]);
                let sum: i64 = of_host.map(|row| row[column].as_i64().unwrap()).sum();
                assert_eq!(host[column].as_i64(), Some(sum), "{arguments:?} {column}: {host}");
            }
        }
        // However the traces are cut.
        assert_eq!(
            hosts,
            rows(&[arguments, &["--table", "hosts", "--chunks", "7"]].concat()),
            "{arguments:?}"
        );
    }
    // Those of CPUs and of waits are in tables of their own.
    for analysis in ["cputop", "schedstats"] {
        let hosts: Vec<Value> =
            rows(&[analysis, "--table", "total"]).iter().map(|row| row["host"].clone()).collect();
        assert_eq!(hosts, ["h1", "h2", "h3"]);
    }
    // One host has nothing to be compared with.
    let alone = run(&["analyze", "syscallstats", "--table", "hosts", &shop("app")]);
    check(&alone, 2, &["no table is called `hosts`; there are names, syscalls, returns, totals, unfinished"]);
}

/// Distributions of each thread are long: they are shown where they are asked for.
#[test]
fn details_are_shown_where_they_are_asked_for() {
    let short = on_hosts(&["analyze", "schedfreq", "-q"]).out;
    assert!(short.lines().count() < 250, "{}", short.lines().count());
    assert!(short.contains(" rows; shown with --table thread_freq\n"), "{short}");
    let long = on_hosts(&["analyze", "schedfreq", "-q", "--table", "thread_freq"]).out;
    assert!(long.lines().count() > 1000);
    let all = on_hosts(&["analyze", "schedfreq", "-q", "--limit", "0"]).out;
    assert!(all.lines().count() > 2000 && !all.contains("shown with"));
    let one = on_hosts(&["analyze", "schedfreq", "-q", "--tid", "199"]).out;
    assert!(!one.contains("shown with") && one.contains("appsrv"), "{one}");
}

/// The time line of a thread, by either name of the command.
#[test]
fn states_are_a_command() {
    let cache = tempfile::tempdir().unwrap();
    let app = shop("app");
    let said = |arguments: &[&str]| {
        let variables = [("XDG_CACHE_HOME", cache.path().to_str().unwrap())];
        run_with(&variables, &[arguments, &["-q", "--tid", "199", &app]].concat())
    };
    for more in [&[][..], &["--format", "csv"], &["--begin", "06:11:23.7", "--end", "06:11:23.75"]] {
        let short = said(&[&["states"], more].concat());
        assert_eq!((short.status, short.err.as_str()), (Some(0), ""));
        assert_eq!(short.out, said(&[&["analyze", "states"], more].concat()).out);
        assert!(short.out.contains("appsrv"), "{}", short.out);
    }
    // A blocked thread is on no CPU, and that is known.
    let text = said(&["states"]).out;
    let blocked = text.lines().find(|line| line.contains("  blocked  ")).unwrap();
    assert!(blocked.contains(" - ") && !blocked.contains('?'), "{blocked}");
    check(&said(&["states", "--call", "read"]), 2, &["--call does not apply to states"]);
    let help = run(&["states", "--help"]).out;
    assert!(help.contains("The same as `isochrone analyze states`.") && help.contains("--pixels"), "{help}");
}

#[test]
fn sorted_and_cut() {
    let by_p99 = rows(&["syscallstats", "--table", "names", "--sort", "p99", "--limit", "5"]);
    assert_eq!(by_p99.len(), 5);
    assert!(by_p99.is_sorted_by(|a, b| a["p99_ns"].as_i64() >= b["p99_ns"].as_i64()));
    let by_name = rows(&["cputop", "--table", "processes", "--sort", "comm"]);
    assert!(by_name.is_sorted_by(|a, b| a["comm"].as_str() <= b["comm"].as_str()));
    let latest = rows(&["schedtop", "--sort", "switch_ns", "--limit", "3"]);
    let all = rows(&["schedlog", "--sort", "switch"]);
    let switches =
        |rows: &[Value]| rows.iter().map(|row| row["switch_ns"].as_i64().unwrap()).collect::<Vec<_>>();
    assert_eq!(switches(&latest), switches(&all)[..3]);
    // A top says of how many it is.
    let text = on_hosts(&["analyze", "cputop", "-q", "--table", "processes"]);
    assert!(text.out.contains("\nPer-TID usage: 10 of 191\n"), "{}", text.out);
    let all = on_hosts(&["analyze", "cputop", "-q", "--table", "processes", "--limit", "0"]);
    assert!(all.out.contains("\nPer-TID usage\n") && all.out.lines().count() == 191 + 4, "{}", all.out);
    let waits = on_hosts(&["analyze", "schedtop", "-q"]);
    assert!(waits.out.contains("\nScheduling top: 10 of 3,807\n"), "{}", waits.out);
}

#[test]
fn processes_cpus_and_interrupts() {
    // The server forks for each request.
    let of_pid = rows(&["cputop", "--table", "processes", "--pid", "144,151"]);
    assert!(of_pid.len() > 1 && of_pid.iter().all(|row| [144, 151].contains(&row["pid"].as_i64().unwrap())));
    let ranges = |cpus: &str| rows(&["cputop", "--table", "cpus", "--cpu", cpus]).len();
    assert_eq!((ranges("0"), ranges("0-3"), ranges("1-3,7")), (3, 3, 0));
    let named = rows(&["irqstats", "--table", "hard", "--irq=virtio0*"]);
    assert!(named.len() == 6 && named.iter().all(|row| row["name"].as_str().unwrap().starts_with("virtio0")));
    assert_eq!(named, rows(&["irqstats", "--table", "hard", "--irq=29,30"]));
    let net = rows(&["irqstats", "--table", "soft", "--softirq=net_rx"]);
    assert!(net.len() == 3 && net.iter().all(|row| row["name"] == "NET_RX_SOFTIRQ"));
    assert_eq!(net, rows(&["irqstats", "--table", "soft", "--softirq=3"]));
}

#[test]
fn one_line_shows_what_is_not_known_of_cpus() {
    let said = on_hosts(&["analyze", "cputop"]);
    let told = "note: what CPUs did is not known for 28.79 ms on h1, 37.90 ms on h2, 31.10 ms on h3: neither busy nor idle";
    check(&said, 0, &[told]);
    assert_eq!(said.err.matches("not known").count(), 1, "{}", said.err);
}

#[test]
fn what_does_not_apply_is_not_unknown() {
    let said = on_hosts(&["analyze", "irqstats", "-q", "--irq=34"]);
    let line = said.out.lines().find(|line| line.starts_with("  h2 ")).unwrap();
    assert!(line.contains(" - ") && !line.contains('?'), "{line}");
    let running =
        run(&["analyze", "processes", "-q", "--at", "06:11:25", "--table", "running", &shop("app")]);
    assert!(!running.out.contains('?'), "{}", running.out);
}

/// Events by thread, process, name and CPU: each is what a look at all lines finds.
#[test]
fn events_of_some_threads() {
    let all = on_hosts(&["events", "-q"]).out;
    // The context is the second of the groups in braces.
    let context = |line: &str| line.split(" }, {").nth(1).unwrap_or_default().to_owned();
    let bare = |line: &str| line.split_once(") h").map(|(_, rest)| rest.to_owned());
    for (arguments, text) in [
        (["--tid", "199"], " tid = 199, "),
        (["--pid", "144"], ", pid = 144, "),
        (["--procname", "redis-server"], "procname = \"redis-server\""),
    ] {
        let found = on_hosts(&[&["events", "-q"][..], &arguments].concat()).out;
        let expect: Vec<_> = all.lines().filter(|line| context(line).contains(text)).map(bare).collect();
        assert!(expect.len() > 50, "{text}");
        assert_eq!(found.lines().map(bare).collect::<Vec<_>>(), expect, "{text}");
    }
    for (condition, texts) in [
        ("prev_tid == 199 && $host == \"h2\"", &[" h2 sched_switch:", " prev_tid = 199,"][..]),
        ("$event == \"sched_sw*\" && next_comm == \"redis-server\"", &["next_comm = \"redis-server\""]),
    ] {
        let found = on_hosts(&["events", "-q", "--where", condition]).out;
        let has_all = |line: &&str| texts.iter().all(|text| line.contains(text));
        let expect: Vec<_> = all.lines().filter(has_all).map(bare).collect();
        assert!(expect.len() > 5, "{condition}");
        assert_eq!(found.lines().map(bare).collect::<Vec<_>>(), expect, "{condition}");
    }
    let wrong = on_hosts(&["events", "--where", "prev_tidd == 1"]);
    check(&wrong, 2, &["--where: no event has a field `prev_tidd`; did you mean `prev_tid`?"]);
    check(&on_hosts(&["events", "--where", "prev_tid = 1"]), 2, &["a condition looks like `prev_tid == 199"]);
    assert_eq!(on_hosts(&["events", "-q", "--cpu", "0"]).out, all);
    assert_eq!(on_hosts(&["events", "-q", "--cpu", "1-7"]).out, "");
    let first = on_hosts(&["events", "-q", "--limit", "5"]).out;
    assert!(all.starts_with(&first) && first.lines().count() == 5);
    // Without contexts nobody knows.
    let directory = tempfile::tempdir().unwrap();
    let mut trace = isochrone_testkit::LttngTrace::user_space("web1");
    trace.define("app:work", "");
    trace.event(0, 100, "app:work", &[]);
    trace.write(directory.path()).unwrap();
    let said = run(&["events", "--tid", "3", directory.path().to_str().unwrap()]);
    check(
        &said,
        2,
        &[
            "--tid: no event has the context `tid`; before the next recording, type: lttng add-context --kernel --type tid",
        ],
    );
}

/// Numbers that two hosts have are told apart by the host.
#[test]
fn one_host_of_several() {
    let pids = |said: &str| -> Vec<String> {
        let document: serde_json::Value = serde_json::from_str(said).unwrap();
        let table = document["tables"].as_array().unwrap().iter().find(|table| table["name"] == "processes");
        let rows = table.unwrap()["rows"].as_array().unwrap().iter();
        rows.map(|row| format!("{}:{}", row[0].as_str().unwrap(), row[2])).collect()
    };
    let cputop =
        |options: &[&str]| on_hosts(&[&["cputop", "-q", "--format", "json"][..], options].concat()).out;
    assert_eq!(pids(&cputop(&["--tid", "199"])), ["h2:199", "h3:199"]);
    assert_eq!(pids(&cputop(&["--tid", "h2:199"])), ["h2:199"]);
    assert_eq!(pids(&cputop(&["--pid", "h3:199"])), ["h3:199"]);
    let events = on_hosts(&["events", "-q", "--no-sync", "--tid", "h3:199", "--limit", "5"]).out;
    assert!(events.lines().count() == 5 && events.lines().all(|line| line.contains(") h3 ")), "{events}");
    let states = on_hosts(&["states", "-q", "--tid", "h2:199", "--format", "csv"]).out;
    assert!(states.lines().count() > 5 && states.lines().skip(1).all(|line| line.starts_with("h2,")));
    let blocking =
        on_hosts(&["blocking", "-q", "--pid", "h2:199", "--table", "causes", "--format", "csv"]).out;
    assert!(blocking.lines().count() > 1 && blocking.lines().skip(1).all(|line| line.starts_with("h2,199,")));
    // In analyses across hosts.
    for command in ["blocking", "ipc", "messages", "accounting", "bottleneck"] {
        let said = on_hosts(&[command, "-q", "--host", "h3", "--format", "json"]);
        let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        for table in document["tables"].as_array().unwrap() {
            let columns = table["columns"].as_array().unwrap();
            let is_host = |name: &str| name.ends_with("host") || name == "from" || name == "to";
            let hosts: Vec<usize> = (0..columns.len())
                .filter(|&index| is_host(columns[index]["name"].as_str().unwrap()))
                .collect();
            for row in table["rows"].as_array().unwrap() {
                assert!(hosts.iter().any(|&index| row[index] == "h3"), "{command} {}: {row}", table["name"]);
            }
        }
    }
    // A graph or a tree of one host would lack what is of others in it.
    for form in [["ipc", "--dot"], ["blocking", "--dot"], ["blocking", "--tree"]] {
        check(&on_hosts(&[&form[..], &["--host", "h3"]].concat()), 2, &["cannot be used with"]);
    }
    let wrong = on_hosts(&["ipc", "--host", "h4"]);
    check(&wrong, 2, &["no host is called `h4`"]);
}
