//! Colours and widths on a terminal: a pseudo terminal stands for one.

use std::fs::File;
use std::io::Read;
use std::process::Stdio;

use nix::pty::{OpenptyResult, Winsize, openpty};

use super::{command, hosts, run_in, run_with};

/// What the binary writes to a terminal of 80 columns.
fn on_terminal(variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    let OpenptyResult { master, slave } = openpty(&size, None).unwrap();
    let mut child = command(variables, arguments).stdout(slave).stderr(Stdio::null()).spawn().unwrap();
    let (mut terminal, mut bytes, mut piece) = (File::from(master), Vec::new(), [0; 4096]);
    // The end of a terminal is an error.
    while let Ok(count @ 1..) = terminal.read(&mut piece) {
        bytes.extend_from_slice(&piece[..count]);
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
    String::from_utf8(bytes).unwrap().replace("\r\n", "\n")
}

/// A text without the sequences that choose colours.
fn bare(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| kept + part.split_once('m').unwrap().1)
}

const TABLES: [&[&str]; 3] = [
    &["analyze", "cputop", "-q"],
    &["analyze", "schedtop", "-q"],
    &["events", "-q", "--event", "sched_process_fork"],
];

fn with_hosts<'a>(arguments: &[&'a str], hosts: &'a [String]) -> Vec<&'a str> {
    arguments.iter().copied().chain(hosts.iter().map(String::as_str)).collect()
}

#[test]
fn hosts_and_headings_have_colours_on_a_terminal() {
    let hosts = hosts();
    let events = on_terminal(&[], &with_hosts(TABLES[2], &hosts));
    for coloured in ["\u{1b}[36mh1\u{1b}[0m ", "\u{1b}[33mh2\u{1b}[0m ", "\u{1b}[35mh3\u{1b}[0m "] {
        assert!(events.contains(coloured), "{events}");
    }
    let cputop = on_terminal(&[], &with_hosts(TABLES[0], &hosts));
    assert!(cputop.contains("\n\u{1b}[1mPer-CPU usage\u{1b}[0m\n\u{1b}[1m  host  cpu "), "{cputop}");
    assert!(on_terminal(&[], &["--help"]).contains("\u{1b}["));
}

/// A terminal changes nothing but colours, and how wide tables may be.
#[test]
fn without_its_colours_the_text_is_the_same() {
    let hosts = hosts();
    for arguments in TABLES {
        let arguments = with_hosts(arguments, &hosts);
        let there = on_terminal(&[], &arguments);
        assert_eq!(bare(&there), run_in(Some(80), &arguments).out, "{arguments:?}");
        // What is said of the width is stronger than what the terminal says.
        let wide = on_terminal(&[("COLUMNS", "140")], &arguments);
        assert_eq!(bare(&wide), run_in(Some(140), &arguments).out, "{arguments:?}");
    }
}

#[test]
fn no_colours_where_nobody_wants_them() {
    let hosts = hosts();
    for arguments in TABLES.into_iter().chain([&["--help"][..]]) {
        let arguments = with_hosts(arguments, if arguments[0] == "--help" { &[] } else { &hosts });
        for variables in [("NO_COLOR", "1"), ("TERM", "dumb")] {
            // Some libraries colour whatever runs in a CI.
            let there = on_terminal(&[variables, ("CI", "true")], &arguments);
            assert!(!there.contains('\u{1b}') && !there.is_empty(), "{variables:?}: {there}");
        }
        // An empty one says nothing.
        assert!(on_terminal(&[("NO_COLOR", "")], &arguments).contains('\u{1b}'), "{arguments:?}");
        // Nor in a file or a pipe.
        assert!(!run_with(&[], &arguments).out.contains('\u{1b}'), "{arguments:?}");
    }
}
