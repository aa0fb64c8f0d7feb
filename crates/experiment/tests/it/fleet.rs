//! Pieces of many hosts, each with many chunks that were mapped alone: merged in one go, they are the hosts.
//!
//! `ISOCHRONE_FLEET=100x100` takes that many hosts and chunks of each, and prints what it took.

#![allow(clippy::print_stdout)] // Says what it measured.

use std::path::PathBuf;
use std::time::Instant;

use isochrone_analysis::HostContext;
use isochrone_experiment::chunks::merge_chunks;
use isochrone_experiment::{Inputs, ModelledHost, Opened, Spread, TimeBase, Wanted, model};
use isochrone_kernel::Recorder;
use isochrone_sync::Options;
use isochrone_testkit::{Cluster, Family, Random};

use crate::chunks::map_alone;

/// Hosts, and chunks of each.
fn size() -> (usize, u64) {
    let text = std::env::var("ISOCHRONE_FLEET").unwrap_or_else(|_| "6x8".to_owned());
    let (hosts, chunks) = text.split_once('x').expect("HOSTSxCHUNKS");
    (hosts.parse().unwrap(), chunks.parse().unwrap())
}

/// The corrections, and of each host its window and what is in its model.
fn read(paths: &[PathBuf]) -> String {
    let inputs = Inputs::open(paths);
    assert!(inputs.refused.is_empty(), "{:?}", inputs.refused);
    let opened = Opened::new(inputs, TimeBase::Synchronize(Box::<Options>::default()), &|_| ()).unwrap();
    let experiment = opened.experiment();
    let clocks = opened.clocks().unwrap().iter();
    let mut all =
        format!("{:?}\n", clocks.map(|it| (&it.entry.host, it.interval.rows())).collect::<Vec<_>>());
    let hosts: Vec<_> = experiment.hosts().iter().collect();
    for host in model(&hosts, Spread::default(), &Wanted::default(), |_, _| Recorder::default, None) {
        let host: ModelledHost<'_, Recorder> = host.unwrap();
        let spans = host.model.spans.0.len();
        all +=
            &format!("{} {:?} {:?} {} {spans}\n", host.name(), host.window(), host.report, host.model.events);
    }
    all
}

/// The most memory that the process had, bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) << 10
}

#[test]
fn pieces_of_many_hosts_are_the_hosts() {
    let (hosts, chunks) = size();
    let directory = tempfile::tempdir().unwrap();
    let (sessions, pieces) = (directory.path().join("sessions"), directory.path().join("pieces"));
    std::fs::create_dir_all(&pieces).unwrap();
    let cluster = Cluster::star(hosts).seconds(chunks).messages(chunks * 10);
    let simulation = cluster.simulate().unwrap();
    let (mut random, mut files) = (Random::new(7), Vec::new());
    for (number, host) in cluster.hosts.iter().enumerate() {
        let mut trace = cluster.trace(&simulation, number, Family::IPV4, |_| ()).unwrap();
        let turn = |chunk: u64| host.clock.raw(chunk as i64 * 1_000_000_000) as u64;
        let session = sessions.join(&host.name);
        trace.write_rotated(&session, &(1..chunks).map(turn).collect::<Vec<_>>()).unwrap();
        for chunk in 0..chunks {
            let piece = pieces.join(format!("{}-{chunk}", host.name));
            map_alone(&session.join("archives").join(chunk.to_string()), &piece);
            files.insert(random.below(files.len() as u64 + 1) as usize, piece);
        }
    }
    let before = peak();
    let start = Instant::now();
    let merged = directory.path().join("merged");
    merge_chunks(&files, &merged).unwrap();
    let of_merging = (start.elapsed(), peak());
    let start = Instant::now();
    let found = read(&[merged]);
    println!(
        "{} pieces of {hosts} hosts: merged in {:.1?}, read in {:.1?}; memory {} MiB before, {} MiB, {} MiB",
        files.len(),
        of_merging.0,
        start.elapsed(),
        before >> 20,
        of_merging.1 >> 20,
        peak() >> 20
    );
    assert!(found == read(&[sessions]), "the merged pieces are not the sessions");
}
