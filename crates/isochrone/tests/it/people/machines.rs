//! What other programs read.

use std::fs;

use serde_json::Value;

use super::{check, on_hosts, run, run_with, shop};

#[test]
fn lines_of_json_have_keys_and_exact_times() {
    let said = on_hosts(&["analyze", "-q", "schedtop", "--format", "jsonl", "--limit", "2"]);
    let first: Value = serde_json::from_str(said.out.lines().next().unwrap()).unwrap();
    assert_eq!((&first["analysis"], &first["table"]), (&"schedtop".into(), &"top".into()));
    assert_eq!(first["wakeup_ns"].as_i64(), Some(1_795_155_081_555_276_416));
    assert_eq!(first["wakeup"], "1795155081.555276416");
    assert_eq!(said.out.lines().count(), 2);
    // What is printed as text is a time that is read.
    let begin = first["wakeup"].as_str().unwrap();
    let there = on_hosts(&["analyze", "-q", "schedlog", "--begin", begin, "--limit", "1"]);
    assert!(there.out.contains("06:11:21.555276416"), "{}", there.out);
}

#[test]
fn a_table_alone_is_read_in_one_call() {
    let said = on_hosts(&["analyze", "-q", "syscalls", "--format", "csv", "--limit", "3"]);
    assert!(said.out.starts_with("host,begin_ns,end_ns,"), "{}", said.out);
    let one = on_hosts(&["analyze", "-q", "cputop", "--table", "cpus", "--format", "csv"]);
    assert!(one.out.starts_with("host,cpu,busy_ns,"), "{}", one.out);
    // Several have their names before them.
    let all = on_hosts(&["analyze", "-q", "cputop", "--format", "csv"]);
    assert!(all.out.starts_with("# processes\nhost,"), "{}", all.out);
}

/// Events as CSV say what they say as JSON: one header line, and as many cells in each line.
#[test]
fn events_are_read_in_one_call() {
    let cells = |line: &str| -> Vec<String> {
        let mut cells = vec![String::new()];
        let mut is_quoted = false;
        let mut rest = line.chars().peekable();
        while let Some(next) = rest.next() {
            let cell = cells.last_mut().unwrap();
            match next {
                '"' if is_quoted && rest.peek() == Some(&'"') => cell.extend(rest.next()),
                '"' => is_quoted = !is_quoted,
                ',' if !is_quoted => cells.push(String::new()),
                other => cell.push(other),
            }
        }
        cells
    };
    let window = ["--begin", "06:11:23.71", "--end", "06:11:23.72"];
    let said = |format: &str, more: &[&str]| {
        let said = on_hosts(&[&["events", "-q", "--format", format][..], &window, more].concat());
        check(&said, 0, &[]);
        said.out
    };
    let json = said("json", &["--bounds"]);
    assert_eq!(said("jsonl", &["--bounds"]), json);
    for (more, columns) in [
        (&[][..], "time_ns,host,cpu,event,common_context,specific_context,payload"),
        (
            &["--bounds"],
            "time_ns,time_lo_ns,time_hi_ns,e95_ns,ordered,host,cpu,event,common_context,specific_context,payload",
        ),
    ] {
        let csv = said("csv", more);
        let mut lines = csv.lines();
        assert_eq!(lines.next(), Some(columns));
        let names: Vec<&str> = columns.split(',').collect();
        let lines: Vec<&str> = lines.collect();
        assert!(lines.len() > 100 && lines.len() == json.lines().count());
        for (line, json) in lines.iter().zip(json.lines()) {
            let (cells, json): (Vec<String>, Value) = (cells(line), serde_json::from_str(json).unwrap());
            assert_eq!(cells.len(), names.len(), "{line}");
            for (name, cell) in names.iter().zip(&cells) {
                let expect = match *name {
                    "cpu" => &json["packet_context"]["cpu_id"],
                    "time_lo_ns" => &json["bounds_ns"][0],
                    "time_hi_ns" => &json["bounds_ns"][1],
                    name => &json[name],
                };
                match expect {
                    Value::Null => assert_eq!(cell, "", "{name}: {line}"),
                    Value::String(text) => assert_eq!(cell, text, "{name}: {line}"),
                    value => {
                        assert_eq!(&serde_json::from_str::<Value>(cell).unwrap(), value, "{name}: {line}");
                    }
                }
            }
        }
    }
    // Without events there is a header.
    assert_eq!(said("csv", &["--event", "nothing"]).lines().count(), 1);
    check(&on_hosts(&["events", "--date", "--format", "csv"]), 2, &["--date applies to --format text only"]);
}

/// What bash is offered for the last of some words.
fn completed(words: &[&str]) -> Vec<String> {
    let index = words.len().to_string();
    let variables = [("COMPLETE", "bash"), ("_CLAP_COMPLETE_INDEX", index.as_str()), ("_CLAP_IFS", "\n")];
    let said = run_with(&variables, &[&["--", "isochrone"][..], words].concat());
    assert_eq!(said.status, Some(0), "{}", said.err);
    said.out.lines().map(str::to_owned).collect()
}

#[test]
fn words_are_completed() {
    let app = shop("app");
    let check = |words: &[&str], expect: &[&str]| assert_eq!(completed(words), expect, "{words:?}");
    check(&["analyze", "cpu"], &["cputop"]);
    check(&["analyze", "cputop,irqst"], &["cputop,irqstats"]);
    check(&["analyze", "cputop", "--table", "p"], &["processes"]);
    check(&["analyze", "cputop", "--sort", "cpu_"], &["cpu_ns"]);
    check(&["critical-path", "--table", "se"], &["services"]);
    check(&["blocking", "--sort", "depth"], &["depth"]);
    assert!(completed(&["crit"]).contains(&"critical-path".to_owned()));
    check(&["events", &app, "--host", ""], &["h2"]);
    // Threads are known once the traces have been indexed.
    assert_eq!(run(&["index", "-q", &app]).status, Some(0));
    check(&["analyze", "cputop", &app, "--procname", "redis,apps"], &["redis,appsrv"]);
    check(&["analyze", "cputop", &app, "--pid", "199"], &["199"]);
}

#[test]
fn shells_and_manuals() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = run(&["completions", shell]);
        check(&said, 0, &[]);
        assert!(said.out.contains("isochrone") && said.out.contains("COMPLETE"), "{shell}");
    }
    let directory = tempfile::tempdir().unwrap();
    let there = directory.path().join("man/man1");
    check(&run(&["man", there.to_str().unwrap()]), 0, &[]);
    for page in ["isochrone.1", "isochrone-events.1", "isochrone-analyze.1", "isochrone-sync.1"] {
        let text = fs::read_to_string(there.join(page)).unwrap();
        assert!(text.contains(".SH NAME") && text.contains("isochrone"), "{page}");
    }
    check(&run(&["man", "/proc/none"]), 2, &["cannot write to /proc/none"]);
}

#[test]
fn the_help_has_examples_and_no_tools_for_developers() {
    let said = run(&["--help"]);
    check(&said, 0, &[]);
    assert!(said.out.contains("Examples:") && said.out.contains("isochrone sync web/ app/ db/ -o sync.json"));
    assert!(!said.out.contains("ctf-dump"), "{}", said.out);
    let nothing = run(&["analyze"]);
    assert_eq!(nothing.status, Some(2));
    assert!(nothing.err.contains("schedtop       The longest waits for a CPU"), "{}", nothing.err);
    let typo = run(&["anlyze"]);
    check(&typo, 2, &["a similar subcommand exists: 'analyze'"]);
    let usage = run(&["sync", "--help"]);
    assert!(usage.out.contains("isochrone sync [OPTIONS] --messages <FILE>"), "{}", usage.out);
}
