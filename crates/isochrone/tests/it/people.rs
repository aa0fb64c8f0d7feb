//! What people meet on the command line, finding by finding: clocks, times, wrong and silent answers, questions, tables, machines.

mod clocks;
mod colours;
mod crosshost;
mod export;
mod machines;
mod mistakes;
mod options;
mod order;
mod overview;
mod parts;
mod questions;
mod summary;
mod tables;
mod times;
mod words;

use std::path::Path;
use std::process::Command;

/// What the binary said.
struct Said {
    out: String,
    err: String,
    status: Option<i32>,
}

/// A directory of the example.
fn shop(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop").join(name);
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// The three hosts of the example.
fn hosts() -> [String; 3] {
    ["client", "app", "db"].map(shop)
}

/// The binary, with variables of the environment that it looks at.
fn command(variables: &[(&str, &str)], arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command.args(arguments).env("LANG", "C.UTF-8").env("TERM", "xterm");
    command.env_remove("COLUMNS").env_remove("NO_COLOR");
    command.envs(variables.iter().copied());
    command
}

/// Runs the binary with such variables.
fn run_with(variables: &[(&str, &str)], arguments: &[&str]) -> Said {
    let output = command(variables, arguments).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    Said { out, err, status: output.status.code() }
}

/// Runs the binary; tables are `columns` wide, or as wide as they are.
fn run_in(columns: Option<u32>, arguments: &[&str]) -> Said {
    let columns = columns.map(|columns| columns.to_string());
    let variables: Vec<(&str, &str)> = columns.iter().map(|columns| ("COLUMNS", columns.as_str())).collect();
    run_with(&variables, arguments)
}

fn run(arguments: &[&str]) -> Said {
    run_in(None, arguments)
}

/// Runs the binary on the three hosts.
fn on_hosts(arguments: &[&str]) -> Said {
    let hosts = hosts();
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    run(&[arguments, &hosts].concat())
}

/// Compares the status, and looks for texts on stderr.
fn check(said: &Said, status: i32, expect: &[&str]) {
    assert_eq!(said.status, Some(status), "{}", said.err);
    for text in expect {
        assert!(said.err.contains(text), "`{text}` is not in: {}", said.err);
    }
}
