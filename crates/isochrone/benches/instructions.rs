//! Watches how many instructions the reader executes for an event: `cargo bench -p isochrone --bench instructions`.
//!
//! Times depend on the machine and on what else it does; instruction counts nearly do not, and on this code they go
//! together with time. Each kernel runs under valgrind's callgrind over two traces of different size, and the difference
//! is divided by the difference in events, which takes out starting, opening and ending. The figures are held against
//! `instructions.tsv` beside this file; `-- --accept` writes that anew. They are held for each of two builds:
//! what a release is, and what the tests are (`cargo test --workspace --bench instructions`), which is there
//! without another build.
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
/// What is watched; `text`, `analyzed` and `mapped` are the program's `events`, `analyze` and `map`, the
/// others are loops in [`kernels`].
const WATCHED: [&str; 6] = ["skip", "merged", "integers", "text", "analyzed", "mapped"];
/// Events of the two traces.
const EVENTS: [u64; 2] = [20_000, 220_000];
/// The columns of the file: by how this was built.
const BUILDS: [&str; 2] = ["release", "tests"];
const BUILD: usize = if cfg!(debug_assertions) { 1 } else { 0 };
const ACCEPT: [&str; 2] = [
    "cargo bench -p isochrone --bench instructions -- --accept",
    "cargo test --workspace --bench instructions -- --accept",
];

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
    let mut found = format!("kernel\t{}\n", BUILDS.join("\t"));
    let mut off = false;
    for kernel in WATCHED {
        let [small, large] = traces.each_ref().map(|trace| count(kernel, trace.path()));
        let each = (large - small) as f64 / (EVENTS[1] - EVENTS[0]) as f64;
        let mut figures = expected.get(kernel).copied().unwrap_or_default();
        let before = figures[BUILD].replace(each);
        let text = figures.map(|figure| figure.map_or_else(String::new, |it| format!("{it:.1}")));
        writeln!(found, "{kernel}\t{}", text.join("\t")).unwrap();
        let verdict = match before {
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
            "\nThe tolerance is {} %. If the change is meant, accept it:\n\n    {}",
            TOLERANCE * 100.0,
            ACCEPT[BUILD]
        );
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Instructions per event by kernel, of each build.
fn read(file: &Path) -> BTreeMap<String, [Option<f64>; 2]> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let figures = |line: &str| {
        let (kernel, figures) = line.split_once('\t')?;
        let mut figures = figures.split('\t').map(|figure| figure.parse().ok());
        Some((kernel.to_owned(), [figures.next().flatten(), figures.next().flatten()]))
    };
    text.lines().skip(1).filter_map(figures).collect()
}

/// Instructions that a kernel executes on a trace, from the begin of its process to the end.
fn count(kernel: &str, trace: &Path) -> u64 {
    let isochrone = || PathBuf::from(env!("CARGO_BIN_EXE_isochrone"));
    let directory = tempfile::tempdir().unwrap();
    let piece = directory.path().join("piece");
    let (program, arguments) = match kernel {
        "text" => (isochrone(), vec!["events", "-q"]),
        "analyzed" => (isochrone(), vec!["analyze", "cputop,syscallstats", "-q", "--threads", "1"]),
        "mapped" => {
            let to = piece.to_str().unwrap();
            (isochrone(), vec!["map", "cputop,syscallstats", "-q", "--threads", "1", "-o", to])
        }
        _ => (std::env::current_exe().unwrap(), vec!["--kernel", kernel]),
    };
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(arguments)
        .arg(trace)
        // No index of before.
        .env("XDG_CACHE_HOME", directory.path())
        .stdout(Stdio::null())
        .output()
        .expect("valgrind must be installed");
    let report = String::from_utf8_lossy(&run.stderr);
    let collected = report.lines().find_map(|line| line.split_once("Collected :"));
    let count = collected.and_then(|(_, count)| count.trim().parse().ok());
    assert!(run.status.success(), "{report}");
    count.unwrap_or_else(|| panic!("valgrind gives no count: {report}"))
}
