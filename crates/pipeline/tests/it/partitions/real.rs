//! The merge invariant on traces of real hosts.

use std::path::Path;

use isochrone_hosts::Hosts;
use isochrone_testkit::Random;

use super::model::{bracket, bytes, difference, map, merge, random_cuts, times, whole};
use crate::common::{open, shared, unpacked};

/// All hosts below a directory, cut so many times.
fn check(directory: &Path, rounds: u64, random: &mut Random) {
    let traces = open(directory);
    let hosts = Hosts::group(&traces);
    assert!(!hosts.hosts.is_empty(), "{}", directory.display());
    for host in &hosts.hosts {
        let times = times(host);
        if times.is_empty() {
            continue;
        }
        let expect = bytes(whole(host));
        for round in 0..rounds {
            let cuts = random_cuts(&times, random);
            let parts = map(host, &cuts);
            let merged = if round % 2 == 0 { merge(parts, random) } else { bracket(parts, random) };
            if let Some(difference) = difference(&expect, &bytes(merged)) {
                panic!("{}: {}: {cuts:?}: {difference}", directory.display(), host.name);
            }
        }
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn traces_of_all_kinds() {
    let mut random = Random::new(11);
    for part in [
        "ctf/traces/tc/many-threads",
        "ctf/traces/tc/bug446190",
        "ctf/traces/tc/uneven-streams",
        "ctf/traces/tc/flipping-endianness",
        "ctf/traces/bt/succeed/lttng-tracefile-rotation/kernel",
        "ctf/traces/bt/succeed/multi-domains",
        "scp/scp_src",
        "scp/scp_dest",
        "ust/rotated/single_host",
        "ust/rotated/two_hosts",
        "ust/rotated/snapshot",
    ] {
        check(&shared(part), 3, &mut random);
    }
    let synthetic = shared("lttng-analyses/synthetic");
    for test in std::fs::read_dir(&synthetic).unwrap() {
        let path = test.unwrap().path();
        if path.join("kernel").is_dir() {
            check(&path, 12, &mut random);
        }
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn virtual_machines() {
    let mut random = Random::new(12);
    for scenario in [
        "chain3", "hog2", "ipc1", "ipv6_2", "lossy2", "mpi4", "pause2", "phases3", "ping5", "rot2", "step2",
        "udp2", "web2", "web2gso",
    ] {
        check(&shared(&format!("vm/{scenario}")), 1, &mut random);
    }
    for scenario in ["vm/disk1", "vm/slew3"] {
        let directory = tempfile::tempdir().unwrap();
        check(&unpacked(scenario, directory.path()), 2, &mut random);
    }
}
