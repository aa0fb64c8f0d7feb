//! The prompt, on a terminal that `script` makes.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::common::{Here, shop, text};

/// What a terminal is sent when a prompt begins: pasted text is to be marked as such.
const PROMPT: &str = "\x1b[?2004h";

/// What a person types, one after the other at a new prompt, and what comes then.
const TYPED: [(&str, &str); 4] = [
    ("SELECT count(*) AS found\nFROM hosts;\n", "found"),
    ("SELECT * FROM nothing;\n", "there is no table `nothing`"),
    ("help\n", "DESCRIBE syscalls;"),
    ("SELECT 40 + 2 AS answer;\n", "42"),
];

#[test]
fn a_person_asks_and_what_was_asked_is_kept() {
    let here = Here::new();
    let program = env!("CARGO_BIN_EXE_isochrone-sql");
    // The store is there, so that the prompt comes at once.
    assert!(here.sql(&["-q", "-c", "SELECT 1", shop().to_str().unwrap()]).status.success());
    let mut terminal = Command::new("script")
        .args(["-qec", &format!("{program} -q {}", shop().display()), "/dev/null"])
        .env("TERM", "xterm")
        .env("XDG_CACHE_HOME", here.path("cache"))
        .env("XDG_STATE_HOME", here.path("state"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut keyboard, mut screen) = (terminal.stdin.take().unwrap(), terminal.stdout.take().unwrap());
    let (shown, shows) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = screen.read(&mut bytes) {
            let _ = shown.send(bytes[..count].to_vec());
        }
    });
    let mut seen = Vec::new();
    let deadline = Instant::now() + Duration::from_secs(100);
    let mut until = |is_there: &dyn Fn(&str) -> bool| {
        while !is_there(&text(&seen)) {
            let left = deadline.saturating_duration_since(Instant::now());
            seen.extend(shows.recv_timeout(left).unwrap_or_else(|_| panic!("{}", text(&seen))));
        }
    };
    for (prompts, (typed, expect)) in (1..).zip(TYPED) {
        until(&|said| said.matches(PROMPT).count() == prompts);
        keyboard.write_all(typed.as_bytes()).unwrap();
        until(&|said| said.contains(expect));
    }
    until(&|said| said.matches(PROMPT).count() == TYPED.len() + 1);
    keyboard.write_all(b"quit\n").unwrap();
    assert!(terminal.wait().unwrap().success());
    let history = std::fs::read_to_string(here.path("state/isochrone/sql-history")).unwrap();
    assert!(history.contains("FROM hosts;") && history.contains("SELECT 40 + 2 AS answer;"), "{history}");
}
