//! All requests of a large trace of two hosts, from a store: how long that takes, and how much memory. By hand:
//!
//! `ISOCHRONE_SPEED_REQUESTS=40000 cargo test --release -p isochrone-crosshost --test it speed:: -- --ignored --nocapture`

#![allow(clippy::print_stdout)] // Says what it measured.

use crate::common::ask;
use crate::common::simulated::Simulated;
use isochrone_crosshost::{Cluster, RequestQuery, critical_path, requests};

/// A field of a file of `/proc/self`, by its place.
fn field(file: &str, place: usize) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/self/{file}")).unwrap();
    text.split_whitespace().nth(place).unwrap().parse().unwrap()
}

/// User and system CPU time so far, in hundredths of a second.
fn cpu() -> u64 {
    field("stat", 13) + field("stat", 14)
}

/// Memory that is not mapped files, MiB.
fn anonymous() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

#[test]
#[ignore = "takes a minute"]
fn all_requests_of_two_hosts() {
    let count = std::env::var("ISOCHRONE_SPEED_REQUESTS").map_or(4_000, |count| count.parse().unwrap());
    let mut cluster = (0..1000).map(Simulated::new).find(|cluster| cluster.len() == 2).unwrap();
    cluster.requests(count);
    let directory = tempfile::tempdir().unwrap();
    let traces = cluster.write(directory.path());
    drop(cluster);
    if let Some(kept) = std::env::var_os("ISOCHRONE_SPEED_KEEP") {
        std::fs::rename(directory.path(), kept).unwrap();
        return;
    }
    ask(&traces, |opened: &Cluster<'_>| {
        let before = (std::time::Instant::now(), cpu(), anonymous());
        let found = requests(opened, &RequestQuery { only_sums: true, ..RequestQuery::default() }).unwrap();
        let report = critical_path(opened, &found, false, true);
        println!(
            "{} requests: {:?} elapsed, {} ms of CPU, {} MiB more memory in the end, {} tables",
            found.len(),
            before.0.elapsed(),
            (cpu() - before.1) * 10,
            anonymous().saturating_sub(before.2),
            report.tables.len()
        );
        assert_eq!(found.len(), count);
    });
}
