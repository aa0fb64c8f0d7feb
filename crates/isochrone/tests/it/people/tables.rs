//! Tables fit the room that there is.

use std::fmt::Write as _;

use rayon::prelude::*;

use super::{hosts, run_in};

/// Commands whose tables have the most columns, and those with other kinds of tables.
const WIDE: [&[&str]; 20] = [
    &["messages"],
    &["messages", "--table", "messages"],
    &["messages", "--table", "conversations"],
    &["messages", "--follow", "10.0.0.2:8080"],
    &["accounting"],
    &["critical-path"],
    &["critical-path", "--table", "path"],
    &["blocking"],
    &["blocking", "--table", "waits"],
    &["ipc"],
    &["bottleneck"],
    &["phases"],
    &["usage"],
    &["iousagetop"],
    &["memtop"],
    &["iolog"],
    &["irqlog"],
    &["schedlog"],
    &["sync", "eval"],
    &["overview"],
];

/// No line of any table is wider than the terminal; what is left out is named, and `--wide` shows it.
#[test]
fn in_any_width() {
    let hosts = hosts();
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let width = |line: &str| unicode_width::UnicodeWidthStr::width(line);
    // What is no table: excluded messages, who ran while a request waited, and commands to type.
    let is_sentence = |line: &str| {
        [": sent at ", ": waits for a CPU ", "isochrone "].iter().any(|part| line.contains(part))
    };
    let commands: Vec<_> = COMMANDS.iter().chain(&WIDE).collect();
    commands.par_iter().for_each(|command| {
        for columns in [60, 80, 140] {
            let said = run_in(Some(columns), &[command, &hosts[..]].concat());
            assert_eq!(said.status, Some(0), "{}", said.err);
            for line in said.out.lines().filter(|line| line.starts_with(' ') && !is_sentence(line)) {
                assert!(width(line) <= columns as usize, "{command:?}: {}: {line}", width(line));
            }
        }
        let narrow = run_in(Some(60), &[command, &hosts[..]].concat()).out;
        if narrow.contains("no room for: ") {
            let wide = run_in(Some(60), &[command, &["--wide"][..], &hosts].concat()).out;
            assert!(!wide.contains("no room for: ") && wide.lines().any(|line| width(line) > 60), "{wide}");
        }
    });
}

const COMMANDS: [&[&str]; 8] = [
    &["sync"],
    &["analyze", "-q", "cputop"],
    &["analyze", "-q", "syscallstats"],
    &["analyze", "-q", "schedtop"],
    &["analyze", "-q", "processes", "--at", "06:11:23.76", "--procname", "appsrv,srvhog,wget,redis*"],
    &["analyze", "-q", "irqstats"],
    &["analyze", "-q", "fds", "--procname", "appsrv,wget", "--limit", "20"],
    &["analyze", "-q", "syscalls", "--procname", "appsrv", "--call", "read,write", "--limit", "5"],
];

/// All tables in a width.
fn shown(columns: u32) -> String {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let hosts = hosts();
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let mut text = String::new();
    for command in COMMANDS {
        let said = run_in(Some(columns), &[command, &hosts].concat());
        assert_eq!(said.status, Some(0), "{}", said.err);
        let out = said.out.replace(root.to_str().unwrap(), "~");
        for line in said.out.lines().filter(|line| line.starts_with(' ')) {
            // What is no table: excluded messages, which are sentences.
            let width = unicode_width::UnicodeWidthStr::width(line);
            let is_sentence = line.contains(": sent at ");
            assert!(is_sentence || width <= columns as usize, "{command:?}: {width}: {line}");
        }
        writeln!(text, "$ isochrone {}\n{out}", command.join(" ")).unwrap();
    }
    text
}

#[test]
fn in_80_columns() {
    insta::assert_snapshot!(shown(80));
}

#[test]
fn in_140_columns() {
    insta::assert_snapshot!(shown(140));
}

/// Bars are as long as there is room, and scaled to the greatest.
#[test]
fn bars_are_scaled_to_the_greatest() {
    let [client, ..] = hosts();
    let said = run_in(Some(120), &["analyze", "-q", "cputop", "--table", "processes", &client]);
    let bars: Vec<usize> = said.out.lines().skip(4).map(|line| line.matches('█').count()).collect();
    assert!(bars[0] == 30 && bars.is_sorted_by(|a, b| a >= b) && bars[9] > 5, "{}", said.out);
    let narrow = run_in(Some(60), &["analyze", "-q", "cputop", "--table", "processes", &client]);
    assert!(!narrow.out.contains('█') && narrow.out.contains("no room for: "), "{}", narrow.out);
}
