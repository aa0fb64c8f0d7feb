//! Watches how many instructions the reader executes for an event: `cargo bench -p isochrone --bench instructions`.
//!
//! Times depend on the machine and on what else it does; instruction counts nearly do not, and on this code they go
//! together with time. Each kernel runs under valgrind's callgrind over two traces of different size, and the difference
//! is divided by the difference in events, which takes out starting, opening and ending. The figures are held against
//! `instructions.tsv` beside this file; `-- --accept` writes that anew.
//!
//! A figure may be off by [`TOLERANCE`]. Another compiler moves them (Rust 1.97 against 1.95: by up to 2.2 %), another
//! `memcpy` of libc's, which depends on the processor, hardly (0.1 %). What this is to notice costs more: without the inlining
//! of the event decoder `skip` takes 20 % more. Fewer instructions than expected are a failure too, so that what was
//! won is accepted, and cannot be lost again in silence.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // A bench reports and may panic.

mod kernels;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use isochrone_testkit::Bulk;

/// How far a count may be from the expected one, as a part of that.
const TOLERANCE: f64 = 0.05;
/// What is watched; `text` is the program's `events`, the others are loops in [`kernels`].
const WATCHED: [&str; 4] = ["skip", "merged", "integers", "text"];
/// Events of the two traces.
const EVENTS: [u64; 2] = [20_000, 220_000];
const ACCEPT: &str = "cargo bench -p isochrone --bench instructions -- --accept";

fn main() -> ExitCode {
    if kernels::is_done() {
        return ExitCode::SUCCESS;
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/instructions.tsv");
    let expected = read(&file);
    let traces = EVENTS.map(|events| {
        let directory = tempfile::tempdir().unwrap();
        Bulk { events, ..Bulk::default() }.write(directory.path()).unwrap();
        directory
    });
    let mut found = "kernel\tinstructions per event\n".to_owned();
    let mut off = false;
    for kernel in WATCHED {
        let [small, large] = traces.each_ref().map(|trace| count(kernel, trace.path()));
        let each = (large - small) as f64 / (EVENTS[1] - EVENTS[0]) as f64;
        writeln!(found, "{kernel}\t{each:.1}").unwrap();
        let verdict = match expected.get(kernel) {
            None => "not known yet".to_owned(),
            Some(expect) => {
                let change = each / expect - 1.0;
                let within = change.abs() <= TOLERANCE;
                let verdict = if within { "as expected" } else { "NOT AS EXPECTED" };
                format!("{:+.1} % of the expected {expect:.1}: {verdict}", change * 100.0)
            }
        };
        off |= !verdict.ends_with(": as expected");
        println!("{kernel:9} {each:8.1} instructions per event, {verdict}");
    }
    if std::env::args().any(|argument| argument == "--accept") {
        fs::write(&file, found).unwrap();
        println!("accepted");
    } else if off {
        println!(
            "\nThe tolerance is {} %. If the change is meant, accept it:\n\n    {ACCEPT}",
            TOLERANCE * 100.0
        );
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Instructions per event by kernel.
fn read(file: &Path) -> BTreeMap<String, f64> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let figure = |line: &str| {
        let (kernel, figure) = line.split_once('\t')?;
        Some((kernel.to_owned(), figure.parse().ok()?))
    };
    text.lines().filter_map(figure).collect()
}

/// Instructions that a kernel executes on a trace, from the begin of its process to the end.
fn count(kernel: &str, trace: &Path) -> u64 {
    let (program, arguments) = match kernel {
        "text" => (PathBuf::from(env!("CARGO_BIN_EXE_isochrone")), vec!["events", "-q"]),
        _ => (std::env::current_exe().unwrap(), vec!["--kernel", kernel]),
    };
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(arguments)
        .arg(trace)
        .stdout(Stdio::null())
        .output()
        .expect("valgrind must be installed");
    let report = String::from_utf8_lossy(&run.stderr);
    let collected = report.lines().find_map(|line| line.split_once("Collected :"));
    let count = collected.and_then(|(_, count)| count.trim().parse().ok());
    assert!(run.status.success(), "{report}");
    count.unwrap_or_else(|| panic!("valgrind gives no count: {report}"))
}
