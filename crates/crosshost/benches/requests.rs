//! How long it takes to follow all requests of a large trace from its store, and how much memory: two simulated hosts, `REQUESTS` requests
//! (default 60,000; about 60 events each).
#![allow(clippy::unwrap_used, clippy::print_stdout)] // A bench may panic, and prints.

#[path = "../tests/it/common/opened.rs"]
mod opened;
#[path = "../tests/it/common/simulated.rs"]
mod simulated;

use std::time::Instant;

use isochrone_crosshost::{RequestQuery, accounting, blocking, critical_path, messages, requests};
use isochrone_experiment::TimeBase;
use opened::ask_on;
use simulated::Simulated;

/// Peak resident memory of this process, MiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// The events of a trace.
fn events(trace: &std::path::Path) -> u64 {
    let trace = isochrone_ctf::Trace::open(trace).unwrap();
    (0..trace.streams().len()).map(|stream| trace.events(stream).count() as u64).sum()
}

/// The variable that names the traces for the process that follows their requests.
const TRACES: &str = "ISOCHRONE_BENCH_TRACES";

fn main() {
    match std::env::var(TRACES) {
        Ok(directory) => follow(&directory),
        Err(_) => make(),
    }
}

/// Makes the traces, and follows their requests in another process, whose memory has none of that.
fn make() {
    let count = std::env::var("REQUESTS").ok().and_then(|count| count.parse().ok()).unwrap_or(60_000);
    let mut cluster = (0..100).map(Simulated::new).find(|cluster| cluster.len() == 2).unwrap();
    cluster.requests(count);
    let directory = tempfile::tempdir().unwrap();
    cluster.write(directory.path());
    drop(cluster);
    let itself = std::env::current_exe().unwrap();
    let status = std::process::Command::new(itself).env(TRACES, directory.path()).status().unwrap();
    assert!(status.success());
}

fn follow(directory: &str) {
    let traces = ["h0", "h1"].map(|host| std::path::Path::new(directory).join(host).join("kernel"));
    ask_on(&traces, TimeBase::Usual, |opened| {
        let events: u64 = traces.iter().map(|trace| events(trace)).sum();
        println!("{events} events; opened: peak {} MiB", peak());
        let timed = |name: &str, work: &dyn Fn() -> usize| {
            let begin = Instant::now();
            let found = work();
            println!("{name}: {found} in {:.2} s, peak so far {} MiB", begin.elapsed().as_secs_f64(), peak());
        };
        timed("messages", &|| messages(opened, None, false, true).unwrap().tables[1].rows.len());
        timed("blocking", &|| blocking(opened, None, |_| true, false, true).unwrap().tables[0].rows.len());
        timed("accounting", &|| accounting(opened, None, true).unwrap().tables[1].rows.len());
        timed("requests, followed", &|| requests(opened, &RequestQuery::default()).unwrap().len());
        timed("critical-path, with tables", &|| {
            let found = requests(opened, &RequestQuery::default()).unwrap();
            critical_path(opened, &found, true, true).tables.iter().map(|table| table.rows.len()).sum()
        });
    });
}
