//! Colours, widths and the pager on a terminal: a pseudo terminal stands for one.

use std::fs::File;
use std::io::Read;
use std::process::Stdio;

use nix::pty::{OpenptyResult, Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{command, hosts, run_in, run_with};

/// What the binary writes to a terminal of 80 columns, without a pager unless `variables` name one.
fn on_terminal(variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let (text, status) = ended_on_terminal(variables, arguments);
    assert_eq!(status, Some(0));
    text
}

/// As [`on_terminal`], with the status.
fn ended_on_terminal(variables: &[(&str, &str)], arguments: &[&str]) -> (String, Option<i32>) {
    let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    let OpenptyResult { master, slave } = openpty(&size, None).unwrap();
    let variables = &[&[("ISOCHRONE_PAGER", "")][..], variables].concat();
    let mut child = command(variables, arguments).stdout(slave).stderr(Stdio::null()).spawn().unwrap();
    let (mut terminal, mut bytes, mut piece) = (File::from(master), Vec::new(), [0; 4096]);
    // The end of a terminal is an error.
    while let Ok(count @ 1..) = terminal.read(&mut piece) {
        bytes.extend_from_slice(&piece[..count]);
    }
    let status = child.wait().unwrap().code();
    (String::from_utf8(bytes).unwrap().replace("\r\n", "\n"), status)
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

/// A pager has all lines, as wide and as coloured as the terminal would have them.
#[test]
fn a_pager_has_what_the_terminal_would() {
    let hosts = hosts();
    for arguments in TABLES {
        let arguments = with_hosts(arguments, &hosts);
        let there = on_terminal(&[], &arguments);
        let paged: String = there.lines().flat_map(|line| ["> ", line, "\n"]).collect();
        let of_sed = |name| on_terminal(&[(name, "sed 's/^/> /'")], &arguments);
        assert_eq!(of_sed("ISOCHRONE_PAGER"), paged, "{arguments:?}");
        // One that no shell has to read.
        let last = on_terminal(&[("ISOCHRONE_PAGER", "tail -n 1 ")], &arguments);
        assert_eq!(last.lines().collect::<Vec<_>>(), [there.lines().last().unwrap()]);
        // A reader who leaves early is no error.
        let first = on_terminal(&[("ISOCHRONE_PAGER", "head -n 1")], &arguments);
        assert_eq!(first.lines().collect::<Vec<_>>(), [there.lines().next().unwrap()]);
        for none in ["", "cat", "no-such-pager"] {
            assert_eq!(on_terminal(&[("ISOCHRONE_PAGER", none)], &arguments), there, "{none}");
        }
        let sed = ("ISOCHRONE_PAGER", "sed 's/^/> /'");
        let refused = [&["--no-pager"], &arguments[..]].concat();
        assert_eq!(on_terminal(&[sed], &refused), there);
        // A file or a pipe has no pager.
        assert!(!run_with(&[sed], &arguments).out.starts_with("> "));
    }
    // A shell looks for it: without one, nothing was read, which is an error.
    let unread = with_hosts(TABLES[0], &hosts);
    assert_eq!(ended_on_terminal(&[("ISOCHRONE_PAGER", "A=1 no-such-pager")], &unread).1, Some(2));
    // What has no result starts none.
    let directory = tempfile::tempdir().unwrap();
    let started = directory.path().join("started");
    let pager = format!("touch {}; cat", started.display());
    let nothing = with_hosts(&["events", "-q", "--event", "no_such_event"], &hosts);
    assert_eq!(on_terminal(&[("ISOCHRONE_PAGER", &pager)], &nothing), "");
    assert!(!started.exists());
}

/// A signal does not end the program before its reader has left the pager: a shell would read beside it.
#[test]
fn a_signal_waits_for_the_pager() {
    let directory = tempfile::tempdir().unwrap();
    let kept = directory.path().join("kept");
    let pager = format!("cat > {0}; sleep 1; echo left >> {0}", kept.display());
    let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    let OpenptyResult { master: _master, slave } = openpty(&size, None).unwrap();
    let hosts = hosts();
    let mut child = command(&[("ISOCHRONE_PAGER", &pager)], &with_hosts(TABLES[2], &hosts))
        .stdout(slave)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let text = || std::fs::read_to_string(&kept).unwrap_or_default();
    while text().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    child.wait().unwrap();
    assert!(text().ends_with("left\n"), "{}", text());
}
