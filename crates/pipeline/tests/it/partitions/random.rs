//! The merge invariant on random hosts: all generations of the tracer, words of both sizes and orders, losses, CPUs that are missing.

use isochrone_hosts::Hosts;

use super::hosts::{kernel, seeds};
use super::model::{bracket, bytes, difference, map, merge, random_cuts, times, whole};
use crate::common::open;

#[test]
fn pieces_of_random_hosts_are_the_whole() {
    let mut failures = Vec::new();
    for seed in seeds(60) {
        let (kernel, mut random) = kernel(seed);
        let directory = tempfile::tempdir().unwrap();
        // Every other one with several channels, some of whose streams are not there.
        if seed % 2 == 0 {
            kernel.write(directory.path()).unwrap();
        } else {
            let channels: &[(&str, &[&str])] = &[("rest", &[]), ("sched", &["sched_"]), ("irq", &["irq_"])];
            kernel.script().channels(channels).write(directory.path()).unwrap();
            let lost = ["rest_0", "sched_0", "sched_1", "irq_0"][random.below(4) as usize];
            if random.permille(500) && directory.path().join(lost).exists() {
                std::fs::write(directory.path().join(lost), "").unwrap();
            }
        }
        let traces = open(directory.path());
        let hosts = Hosts::group(&traces);
        let host = &hosts.hosts[0];
        let times = times(host);
        let expect = bytes(whole(host));
        for _ in 0..4 {
            let cuts = random_cuts(&times, &mut random);
            let parts = map(host, &cuts);
            let merged =
                if random.permille(500) { merge(parts, &mut random) } else { bracket(parts, &mut random) };
            if let Some(difference) = difference(&expect, &bytes(merged)) {
                failures.push(format!("seed {seed}: {cuts:?}: {kernel:?}: {difference}"));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} failures: {}",
        failures.len(),
        failures[..failures.len().min(3)].join("\n")
    );
}
