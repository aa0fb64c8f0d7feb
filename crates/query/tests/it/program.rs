//! The program `isochrone-sql` as people and scripts use it.

use std::process::Output;

use crate::common::{Here, TABLES, rows_of, shop, text};
use serde_json::Value;

/// Asks the example.
fn ask(here: &Here, arguments: &[&str]) -> Output {
    let shop = shop();
    here.sql(&[arguments, &[shop.to_str().unwrap()]].concat())
}

fn number(row: &Value, name: &str) -> i64 {
    row[name].as_i64().unwrap_or_else(|| panic!("{name} of {row}"))
}

#[test]
fn every_table_can_be_read() {
    let here = Here::new();
    let tables = here.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'");
    let names: Vec<&str> = tables.iter().map(|row| row["table_name"].as_str().unwrap()).collect();
    for expected in TABLES {
        assert!(names.contains(&expected), "{expected} is not among {names:?}");
    }
    for name in names {
        let all = here.rows(&format!("SELECT count(*) AS n FROM (SELECT * FROM {name})"));
        let counted = here.rows(&format!("SELECT count(*) AS n FROM {name}"));
        assert_eq!(all, counted, "{name}");
        let rows = here.rows(&format!("SELECT * FROM {name} LIMIT 3"));
        assert_eq!(rows.len() as i64, number(&all[0], "n").min(3), "{name}");
    }
}

#[test]
fn times_have_bounds_that_hold_them() {
    let here = Here::new();
    for (table, time) in [("slices", "begin_time"), ("wakeups", "time"), ("events", "time")] {
        let rows = here.rows(&format!(
            "SELECT host, count(*) AS n, count({time}_lo) AS bounded,
                    count(*) FILTER (WHERE {time}_lo <= {time} AND {time} <= {time}_hi) AS held,
                    count(*) FILTER (WHERE {time} = common_time(host, {time}_raw)) AS converted,
                    count(*) FILTER (WHERE ({time}_lo IS NOT DISTINCT FROM bound(host, {time}_raw)['lo'])
                                       AND ({time}_hi IS NOT DISTINCT FROM bound(host, {time}_raw)['hi'])) AS same,
                    count(*) FILTER (WHERE common_time(host, raw_time(host, {time})) = {time}) AS there_and_back
             FROM {table} GROUP BY host"
        ));
        assert_eq!(rows.len(), 3, "{table}");
        for row in rows {
            let all = number(&row, "n");
            assert!(all > 0, "{row}");
            assert_eq!(number(&row, "bounded"), number(&row, "held"), "{table}: {row}");
            assert!(number(&row, "bounded") > 0, "{table}: {row}");
            for figure in ["converted", "same", "there_and_back"] {
                assert_eq!(number(&row, figure), all, "{table}: {figure} of {row}");
            }
        }
    }
}

#[test]
fn no_message_arrives_before_it_is_sent() {
    let query = "SELECT count(*) AS n, min(latency_lo_ns) AS least FROM messages WHERE latency_hi_ns >= 0";
    let rows = Here::new().rows(query);
    assert!(number(&rows[0], "n") > 0 && number(&rows[0], "least") >= 0, "{rows:?}");
}

#[test]
fn on_its_own_clock_no_time_has_bounds() {
    let here = Here::new();
    let query = "SELECT count(begin_time) AS n, count(begin_time_lo) AS lo, count(bound(host, begin_time_raw)['hi']) AS hi FROM slices";
    let rows = rows_of(&ask(&here, &["-q", "--no-sync", "--format", "json", "-c", query]), query);
    assert!(number(&rows[0], "n") > 0);
    assert_eq!((number(&rows[0], "lo"), number(&rows[0], "hi")), (0, 0));
}

/// The counters of the node that reads, as `EXPLAIN ANALYZE` shows them.
fn counters(here: &Here, query: &str) -> (u64, u64, u64, u64) {
    let rows = here.rows(&format!("EXPLAIN ANALYZE {query}"));
    let plan = rows.iter().map(|row| row["plan"].as_str().unwrap()).collect::<String>();
    let line = plan.lines().find(|line| line.contains("ScanExec")).unwrap_or_else(|| panic!("{plan}"));
    let counter = |name: &str| {
        let (_, rest) = line.split_once(&format!("{name}=")).unwrap_or_else(|| panic!("{name}: {line}"));
        let value: String = rest.chars().take_while(|c| !",]".contains(*c)).collect();
        let (digits, unit) = match value.split_once(' ') {
            Some((digits, unit)) => (digits, unit.trim()),
            None => (value.as_str(), ""),
        };
        let scale = match unit {
            "" => 1.0,
            "K" => 1e3,
            "M" => 1e6,
            other => panic!("{other} of {line}"),
        };
        (digits.parse::<f64>().unwrap() * scale) as u64
    };
    (counter("items_read"), counter("items_in_table"), counter("bytes_read"), counter("rows_read"))
}

#[test]
fn conditions_choose_what_is_read() {
    let here = Here::new();
    let check = |query: &str, most: f64| {
        let (read, all, bytes, rows) = counters(&here, query);
        assert!(all > 0, "{query}");
        assert!(read as f64 <= all as f64 * most, "{query}: {read} of {all}, {bytes} bytes, {rows} rows");
        (read, all, bytes)
    };
    let (read, all, bytes) = check("SELECT count(*) FROM events", 1.0);
    assert_eq!(read, all, "all packets are read where nothing is asked of them");
    assert!(bytes > 0);
    let second = "time BETWEEN '2026-11-20 06:11:24' AND '2026-11-20 06:11:24.5'";
    let (of_second, _, bytes_of_second) =
        check(&format!("SELECT count(*) FROM events WHERE event = 'sched_switch' AND {second}"), 0.5);
    // Packets of the example are up to a megabyte: four of its eight have events of that half second.
    assert_eq!((of_second, all), (4, 8));
    assert!(bytes_of_second < bytes * 2 / 3, "{bytes_of_second} of {bytes} bytes");
    let (of_host, ..) = check("SELECT count(*) FROM events WHERE host = 'h2'", 0.8);
    assert!(of_host > 0);
    check("SELECT count(*) FROM events WHERE host = 'nobody'", 0.0);
    check("SELECT count(*) FROM events WHERE event = 'nothing'", 0.0);
    check("SELECT count(*) FROM events WHERE time < '2020-01-01'", 0.0);
    check("SELECT count(*) FROM slices WHERE begin_time > '2030-01-01'", 0.0);
    // Tables of hosts that are not asked for are not even opened.
    let (read, all, ..) = counters(&here, "SELECT count(*) FROM slices WHERE host = 'nobody'");
    assert_eq!((read, all), (0, 0));
}

#[test]
fn conditions_change_no_answer() {
    let here = Here::new();
    // `+ INTERVAL '0'` hides a column from what chooses packets.
    let both = |table: &str, time: &str, from: &str, to: &str| {
        let chosen = format!("{time} >= '{from}' AND {time} < '{to}'");
        let hidden =
            format!("{time} + INTERVAL '0 seconds' >= '{from}' AND {time} + INTERVAL '0 seconds' < '{to}'");
        let count = |condition: &str| {
            here.rows(&format!(
                "SELECT host, count(*) AS n FROM {table} WHERE {condition} GROUP BY host ORDER BY host"
            ))
        };
        assert_eq!(count(&chosen), count(&hidden), "{table}.{time} from {from} to {to}");
    };
    for (table, time) in [
        ("events", "time"),
        ("slices", "begin_time"),
        ("syscalls", "end_time"),
        ("wakeups", "time"),
        ("thread_states", "begin_time"),
        ("thread_states", "end_time"),
    ] {
        both(table, time, "2026-11-20 06:11:23.9", "2026-11-20 06:11:24");
        both(table, time, "2026-11-20 06:11:21.4", "2026-11-20 06:11:26");
    }
    // States at the edges of a window are whole.
    let at = "begin_time <= '2026-11-20 06:11:24' AND end_time > '2026-11-20 06:11:24'";
    let hidden = "begin_time + INTERVAL '0 seconds' <= '2026-11-20 06:11:24' AND end_time + INTERVAL '0 seconds' > '2026-11-20 06:11:24'";
    let states = |condition: &str| {
        here.rows(&format!(
            "SELECT host, tid, state, begin_time_raw, end_time_raw FROM thread_states WHERE {condition} ORDER BY host, tid"
        ))
    };
    assert_eq!(states(at), states(hidden));
}

#[test]
fn fields_of_an_event_are_columns() {
    let here = Here::new();
    let rows = here.rows(
        "SELECT count(*) AS n, count(prev_tid) AS prev, count(next_comm) AS named FROM events('sched_switch')",
    );
    let (all, prev, named) = (number(&rows[0], "n"), number(&rows[0], "prev"), number(&rows[0], "named"));
    assert!(all > 0 && prev == all && named == all, "{rows:?}");
    // What is called like a column of all events has another name.
    let rows = here.rows("SELECT count(field_tid) AS woken, count(*) AS n FROM events('sched_waking')");
    assert!(number(&rows[0], "n") > 0 && rows[0]["woken"] == rows[0]["n"], "{rows:?}");
    let by_name = here.rows("SELECT count(*) AS n FROM events WHERE event = 'sched_waking'");
    assert_eq!(by_name[0]["n"], rows[0]["n"]);
}

#[test]
fn a_result_does_not_depend_on_threads() {
    let here = Here::new();
    let query = "SELECT host, event, count(*) AS n, min(time) AS first, max(time) AS last FROM events GROUP BY 1, 2 ORDER BY 1, 2";
    let with = |threads: &str| {
        rows_of(&ask(&here, &["-q", "--threads", threads, "--format", "json", "-c", query]), query)
    };
    assert_eq!(with("1"), with("4"));
}

#[test]
fn functions() {
    let here = Here::new();
    let rows = here.rows(
        "SELECT duration_text(41900) AS d, errno_name(-2) AS e, errno_name(7) AS ok, address_of('10.0.0.1:80') AS a,
                port_of('[fe80::1]:443') AS p, common_time('nobody', 1) AS t",
    );
    let expect =
        serde_json::json!({"d": "41.90 µs", "e": "ENOENT", "ok": null, "a": "10.0.0.1", "p": 443, "t": null});
    assert_eq!(rows[0], expect);
}

#[test]
fn formats() {
    let here = Here::new();
    let query = "SELECT host, cpus, NULL AS nothing FROM hosts ORDER BY host LIMIT 2";
    let check = |format: &str, expect: &str| {
        let output = ask(&here, &["-q", "--format", format, "-c", query]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(text(&output.stdout), expect, "{format}");
    };
    check("table", " host  cpus  nothing\n h1       1  ?\n h2       1  ?\n");
    check("csv", "host,cpus,nothing\nh1,1,\nh2,1,\n");
    check(
        "json",
        "[{\"host\":\"h1\",\"cpus\":1,\"nothing\":null},{\"host\":\"h2\",\"cpus\":1,\"nothing\":null}]\n",
    );
    check(
        "jsonl",
        "{\"host\":\"h1\",\"cpus\":1,\"nothing\":null}\n{\"host\":\"h2\",\"cpus\":1,\"nothing\":null}\n",
    );
    // Files are read back by the program itself.
    for name in ["answer.parquet", "answer.csv", "answer.arrow", "answer.jsonl"] {
        let file = here.path(name);
        let written = ask(&here, &["-q", "-o", file.to_str().unwrap(), "-c", "SELECT host, cpus FROM hosts"]);
        assert!(written.status.success() && written.stdout.is_empty(), "{}", text(&written.stderr));
        let kind = match name.rsplit_once('.').unwrap().1 {
            "parquet" => "PARQUET",
            "csv" => "CSV",
            "arrow" => "ARROW",
            _ => "JSON",
        };
        let back = format!(
            "CREATE EXTERNAL TABLE answer STORED AS {kind} LOCATION '{}'; SELECT host, cpus FROM answer ORDER BY host",
            file.display()
        );
        let rows = here.rows(&back);
        assert_eq!(
            (rows.len(), rows[0]["host"].as_str(), rows[0]["cpus"].as_i64()),
            (3, Some("h1"), Some(1)),
            "{name}"
        );
    }
    let stream = ask(&here, &["-q", "--format", "arrow", "-c", query]).stdout;
    let rows: usize = datafusion::arrow::ipc::reader::StreamReader::try_new(stream.as_slice(), None)
        .unwrap()
        .map(|batch| batch.unwrap().num_rows())
        .sum();
    assert_eq!(rows, 2);
    assert!(ask(&here, &["-q", "--format", "parquet", "-c", query]).stdout.starts_with(b"PAR1"));
}

#[test]
fn several_statements_come_from_files_options_and_stdin() {
    let here = Here::new();
    let file = here.path("q.sql");
    std::fs::write(&file, "CREATE VIEW v AS SELECT host FROM hosts;\nSELECT count(*) AS n FROM v;").unwrap();
    let output = ask(
        &here,
        &["-q", "--format", "csv", "-f", file.to_str().unwrap(), "-c", "SELECT min(host) AS first FROM v"],
    );
    assert_eq!(text(&output.stdout), "n\n3\n\nfirst\nh1\n", "{}", text(&output.stderr));
    let shop = shop();
    let output =
        here.sql_with(&["-q", "--format", "csv", shop.to_str().unwrap()], "SELECT 1 AS one; SELECT 2 AS two");
    assert_eq!(text(&output.stdout), "one\n1\n\ntwo\n2\n", "{}", text(&output.stderr));
}

#[test]
fn mistakes_are_said_in_words() {
    let here = Here::new();
    let check = |arguments: &[&str], expect: &str| {
        let output = ask(&here, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stdout));
        let said = text(&output.stderr);
        assert!(said.contains(expect), "{arguments:?}: {said}");
        assert!(said.contains("isochrone-sql: "), "{said}");
    };
    check(&["-q", "-c", "SELECT * FROM slces"], "there is no table `slces`; did you mean `slices`?");
    check(&["-q", "-c", "SELECT * FROM elephants"], "there is no table `elephants`; SHOW TABLES lists all");
    check(
        &["-q", "-c", "SELECT durtion_ns FROM slices"],
        "there is no column `durtion_ns`; did you mean `duration_ns`?",
    );
    check(
        &["-q", "-c", "SELECT * FROM events('sched_swich')"],
        "no event in the traces is called `sched_swich`; did you mean `sched_switch`?",
    );
    check(&["-q", "-c", "SELECT * FROM events(7)"], "events takes the name of an event in quotes");
    check(&["-q", "-c", "SELEC 1"], "not SQL that is understood: ");
    check(&["-q", "-c", "SELECT comon_time('h1', 1)"], "comon_time");
    check(&["-q", "-f", "no/such.sql"], "cannot read no/such.sql: ");
    check(
        &["-q", "--format", "csv", "-c", "SELECT bound(host, 1) AS b FROM hosts"],
        "CSV has no cells for `b`",
    );
    check(&["-q", "-o", "/no/such/a.csv", "-c", "SELECT 1"], "cannot write /no/such/a.csv");
    check(
        &["-q", "-o", here.path("a.parquet").to_str().unwrap(), "-c", "SELECT 1; SELECT 2"],
        "a file of Parquet or Arrow holds one answer, and there are several",
    );
    assert!(!here.path("a.parquet").exists(), "a file has its name when it is whole");
    let nothing = here.sql(&["-c", "SELECT 1", "no/such/trace"]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(text(&nothing.stderr).contains("cannot read no/such/trace: no such file or directory"));
}

#[test]
fn isochrone_hands_over() {
    let here = Here::new();
    let shop = shop();
    // The example is not beside isochrone-sql, so that it is found by PATH.
    let output =
        here.isochrone(&["sql", "-q", "--format", "csv", "-c", "SELECT 1 AS one", shop.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("cargo install --path crates/query"), "{}", text(&output.stderr));
    let programs = std::path::Path::new(env!("CARGO_BIN_EXE_isochrone-sql")).parent().unwrap();
    let output = assert_cmd::Command::new(programs.join("examples/isochrone"))
        .env("PATH", programs)
        .env("XDG_CACHE_HOME", here.path("cache"))
        .args(["-q", "sql", "--format", "csv", "-c", "SELECT 1 AS one", shop.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(text(&output.stdout), "one\n1\n", "{}", text(&output.stderr));
}

/// Mapped pieces that hold spans stand for their traces.
#[test]
fn pieces_are_asked_as_traces_are() {
    let here = Here::new();
    let shop = shop();
    let shop = shop.to_str().unwrap();
    let mut pieces = Vec::new();
    for number in ["2/2", "1/2"] {
        let piece = here.path(&format!("{}.piece", &number[..1])).to_str().unwrap().to_owned();
        let mapped = here.isochrone(&["map", "-q", "spans", "--piece", number, "-o", &piece, shop]);
        assert!(mapped.status.success(), "{}", text(&mapped.stderr));
        pieces.push(piece);
    }
    let query =
        "SELECT host, state, count(*), sum(duration_ns) FROM thread_states GROUP BY 1, 2 ORDER BY 1, 2";
    let asked = ["-q", "--format", "csv", "-c", query];
    // Of pieces first: the store of the traces is made of them.
    let of_pieces = here.sql(&[&asked[..], &[&pieces[0], &pieces[1]]].concat());
    let of_traces = Here::new().sql(&[&asked[..], &[shop]].concat());
    assert!(of_pieces.status.success(), "{}", text(&of_pieces.stderr));
    assert!(text(&of_pieces.stdout).lines().count() > 10, "{}", text(&of_pieces.stdout));
    assert_eq!(text(&of_pieces.stdout), text(&of_traces.stdout));
}

/// Neither a store that is not finished nor a file of results stays when a signal ends the program.
#[test]
fn signals_leave_nothing() {
    let here = Here::new();
    let (cache, all) = (here.path("cache/isochrone"), here.path("all.csv"));
    let hidden = || {
        let entries = [cache.parent().unwrap().parent().unwrap(), &cache].map(std::fs::read_dir);
        let names = entries.into_iter().flatten().flatten().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().contains(".partial")).collect::<Vec<_>>()
    };
    let mut ended_by_signal = 0;
    for signal in ["-INT", "-TERM"].repeat(5) {
        let _ = std::fs::remove_dir_all(&cache);
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_isochrone-sql"))
            .args(["-q", "-c", "SELECT * FROM events", "-o"])
            .args([&all, &shop()])
            .env("XDG_CACHE_HOME", here.path("cache"))
            .spawn()
            .unwrap();
        while hidden().is_empty() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
        ended_by_signal += u32::from(!child.wait().unwrap().success());
        assert_eq!(hidden(), Vec::<std::ffi::OsString>::new(), "{signal}");
    }
    assert!(ended_by_signal > 0, "the program is never ended while it writes");
}

/// What ran and what was open, as the tables have it.
#[test]
fn functions_of_the_model() {
    let here = Here::new();
    let rows = here.rows(
        "SELECT count(*) AS n,
                count(*) FILTER (WHERE running(host, cpu, begin_time)['tid'] = coalesce(tid, 0)) AS same
         FROM slices WHERE duration_ns > 1000 AND comm IS NOT NULL",
    );
    assert!(number(&rows[0], "n") > 1000, "{rows:?}");
    // A time on the common clock is a raw time within a ns.
    assert!(number(&rows[0], "n") - number(&rows[0], "same") < 10, "{rows:?}");
    let rows = here.rows(
        "SELECT count(*) AS n, count(*) FILTER (WHERE path = name) AS same FROM
         (SELECT path AS name, fd_path(host, pid, fd, begin_time + INTERVAL '500 nanoseconds') AS path
          FROM fds WHERE kind = 'file' AND duration_ns > 1000 AND begin_time IS NOT NULL)",
    );
    assert!(number(&rows[0], "n") > 100, "{rows:?}");
    assert_eq!(number(&rows[0], "n"), number(&rows[0], "same"), "{rows:?}");
    let rows = here.rows(
        "SELECT fd_path('nobody', 1, 1, TIMESTAMP '2026-11-20 06:11:25') AS a,
                fd_path('h1', 1, 1, TIMESTAMP '2000-01-01 00:00:00') AS b,
                running('h1', 99, TIMESTAMP '2026-11-20 06:11:25')['tid'] AS c",
    );
    assert_eq!(rows[0], serde_json::json!({"a": null, "b": null, "c": null}));
}
