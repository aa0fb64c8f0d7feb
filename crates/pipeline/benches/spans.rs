//! From traces to all spans of the model, without a consumer of spans: `cargo bench -p isochrone-pipeline --bench spans [-- TRACE...]`.
//!
//! Says how many events a second one thread takes and how many two, by the clock on the wall, and writes the table of `docs/COMPARE.md`
//! anew. Small traces take less time than the start of a program, so all is measured in one process, again and again: the best of some
//! rounds counts. Here and not among the benches of the program, because what takes each event to its spans is compiled as one unit in
//! this crate, as it is for the program.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // A bench reports and may panic.

#[path = "../../isochrone/benches/measuring/document.rs"]
mod document;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use isochrone_ctf::Trace;
use isochrone_hosts::{Host, Hosts};
use isochrone_pipeline::{Plan, run};
use isochrone_testkit::Bulk;

/// Rounds of a large trace; a small one has as many as take about as long.
const ROUNDS: u64 = 9;
/// Events of a trace that counts as large.
const LARGE: u64 = 5_000_000;

fn main() {
    let named: Vec<PathBuf> =
        std::env::args().skip(1).filter(|it| !it.starts_with("--")).map(Into::into).collect();
    let generated = tempfile::tempdir().unwrap();
    let traces = if named.is_empty() {
        let large = generated.path().join("generated");
        Bulk { events: LARGE, ..Bulk::default() }.write(&large).unwrap();
        let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
        let hosts = ["client", "db"].map(|host| shop.join(host).join("kernel"));
        [large].into_iter().chain(hosts).collect()
    } else {
        named
    };
    let mut text =
        "| trace | events | opened in ms | one thread, M events/s | two threads, M events/s | speedup |\n\
                    |---|---|---|---|---|---|\n"
            .to_owned();
    for path in &traces {
        let openings = (0..ROUNDS).map(|_| {
            let begin = Instant::now();
            Trace::open(path).unwrap();
            begin.elapsed()
        });
        let opened = openings.min().unwrap();
        let trace = Trace::open(path).unwrap();
        let hosts = Hosts::group([&trace]);
        let host = &hosts.hosts[0];
        let (events, _) = round(host, 1);
        let rounds = (ROUNDS * LARGE / events.max(1)).clamp(ROUNDS, 1000);
        let mut best = [Duration::MAX; 2];
        // In turns, so that a quiet moment serves both.
        for number in 0..2 * rounds as usize {
            let took = round(host, number % 2 + 1).1;
            best[number % 2] = best[number % 2].min(took);
        }
        let [one, two] = best.map(|took| events as f64 / took.as_secs_f64() / 1e6);
        let _ = writeln!(
            text,
            "| {} | {events} | {:.1} | {one:.2} | {two:.2} | {:.2} |",
            name(path, generated.path()),
            opened.as_secs_f64() * 1e3,
            two / one
        );
    }
    println!("{text}");
    document::rewrite("spans", &text);
}

/// The last parts of a path: where it is on this machine does not matter.
fn name(path: &Path, generated: &Path) -> String {
    if path.starts_with(generated) {
        return "one by `testkit`'s generator".to_owned();
    }
    let parts: Vec<_> =
        path.components().rev().take(3).map(|part| part.as_os_str().to_string_lossy()).collect();
    format!("`{}`", parts.into_iter().rev().collect::<Vec<_>>().join("/"))
}

/// Makes all spans of a host on so many threads: how many events there were, and the time, that of dropping what was made included.
fn round(host: &Host<'_>, threads: usize) -> (u64, Duration) {
    let begin = Instant::now();
    let events = run(host, &Plan::for_threads(host, threads), threads, || (), None).unwrap().model.events();
    (events, begin.elapsed())
}
