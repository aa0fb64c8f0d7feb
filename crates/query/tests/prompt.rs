//! The prompt, on a terminal that `script` makes.
#![allow(clippy::unwrap_used)] // A test may panic.

mod common;

use assert_cmd::Command;
use common::{Here, shop, text};

#[test]
fn a_person_asks_and_what_was_asked_is_kept() {
    let here = Here::new();
    let program = env!("CARGO_BIN_EXE_isochrone-sql");
    // The store is there, so that the prompt comes at once.
    assert!(here.sql(&["-q", "-c", "SELECT 1", shop().to_str().unwrap()]).status.success());
    let typed = "SELECT count(*) AS found\nFROM hosts;\nSELECT * FROM nothing;\nhelp\nSELECT 40 + 2 AS answer;\nquit\n";
    let output = Command::new("script")
        .args(["-qec", &format!("{program} -q {}", shop().display()), "/dev/null"])
        .env("TERM", "xterm")
        .env("XDG_CACHE_HOME", here.path("cache"))
        .env("XDG_STATE_HOME", here.path("state"))
        .write_stdin(typed)
        .timeout(std::time::Duration::from_secs(120))
        .output()
        .unwrap();
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}");
    for expect in ["found", "3", "there is no table `nothing`", "DESCRIBE syscalls;", "answer", "42"] {
        assert!(said.contains(expect), "{expect}: {said}");
    }
    let history = std::fs::read_to_string(here.path("state/isochrone/sql-history")).unwrap();
    assert!(history.contains("FROM hosts;") && history.contains("SELECT 40 + 2 AS answer;"), "{history}");
}
