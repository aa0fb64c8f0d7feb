//! Messages of MPI programs: what is a message, and what is not; hosts that nothing else ties together.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::common::shared;
use isochrone_files::Inputs;
use isochrone_sync::{Options, Outcome, synchronize};
use isochrone_testkit::{FieldValue, LttngTrace};
use isochrone_time::RawNs;
use serde::Deserialize;

/// What processes do, one a line: `HOST TIME begun RANK JOB`, `HOST TIME send|recv RANK PEER TAG BYTES COMM`, `HOST TIME lost`.
fn synchronized(script: &str) -> Outcome {
    let root = tempfile::tempdir().unwrap();
    let mut hosts: BTreeMap<&str, LttngTrace> = BTreeMap::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let host = hosts.entry(words[0]).or_insert_with(|| {
            let mut trace = LttngTrace::user_space(words[0]);
            let int = |name: &str| format!("integer {{ size = 64; align = 8; signed = 1; }} _{name};");
            let all = |names: &[&str]| names.iter().map(|name| int(name)).collect::<String>();
            trace.define("mpi:init", &all(&["rank", "size", "job"]));
            trace.define("mpi:msg", &all(&["rank", "is_send", "peer", "tag", "bytes", "job", "comm"]));
            trace
        });
        let number = |word: usize| -> FieldValue { words[word].parse::<i32>().unwrap().into() };
        // Half an hour apart, by their own clocks.
        let time = words[1].parse::<u64>().unwrap() * 1_000_000;
        match words[2] {
            "begun" => {
                let fields = [("rank", number(3)), ("size", 2.into()), ("job", number(4))];
                host.event(0, time, "mpi:init", &fields);
            }
            "lost" => {
                host.end_packet(0).discard(0, 3);
            }
            what => {
                let fields = [
                    ("rank", number(3)),
                    ("is_send", i32::from(what == "send").into()),
                    ("peer", number(4)),
                    ("tag", number(5)),
                    ("bytes", number(6)),
                    ("job", 1.into()),
                    ("comm", number(7)),
                ];
                host.event(0, time, "mpi:msg", &fields);
            }
        }
    }
    for (name, host) in &mut hosts {
        host.write(&root.path().join(name)).unwrap();
    }
    synchronize(&Inputs::open(&[root.path().to_owned()]), &Options::default(), &|_| {}).unwrap()
}

/// Both have begun; each sends to the other one, four times.
fn talk(more: &str) -> String {
    let mut script = "a 1 begun 0 1\n b 1801 begun 1 1\n".to_owned();
    for round in 0..4 {
        let at = 10 + round * 20;
        script += &format!("a {at} send 0 1 7 8 0\n b {} recv 1 0 7 8 0\n", 1800 + at + 3);
        script += &format!("b {} send 1 0 7 8 0\n a {} recv 0 1 7 8 0\n", 1800 + at + 5, at + 9);
    }
    script + more
}

/// `expect`: messages, ends without the other one, ends that are not certain.
fn check(script: &str, expect: [u64; 3], note: &str) {
    let outcome = synchronized(script);
    let mpi = outcome.mpi.unwrap();
    assert_eq!([mpi.messages, mpi.unmatched, mpi.uncertain], expect, "{script}");
    assert!(note.is_empty() || mpi.notes.iter().any(|it| it.contains(note)), "{:?}", mpi.notes);
    let counted: u64 =
        outcome.artefact.links.iter().map(|link| link.messages.a_to_b + link.messages.b_to_a).sum();
    assert_eq!(counted, mpi.messages);
}

#[test]
fn the_nth_sent_is_the_nth_received() {
    check(&talk(""), [8, 0, 0], "8 messages of MPI programs count, too");
    // Other tags and communicators have orders of their own.
    let others = "a 100 send 0 1 8 8 0\n a 101 send 0 1 7 8 5\n a 102 send 0 1 7 8 0\n b 1910 recv 1 0 7 8 0\n b 1911 recv 1 0 8 8 0";
    check(&talk(others), [10, 1, 0], "");
    // What is received as it was not sent ends its channel.
    let broken =
        "a 100 send 0 1 7 8 0\n b 1910 recv 1 0 7 9 0\n a 101 send 0 1 7 8 0\n b 1911 recv 1 0 7 8 0";
    check(&talk(broken), [8, 0, 4], "");
    // Nobody traced the third.
    check(&talk("a 100 send 0 2 7 8 0"), [8, 1, 0], "");
}

#[test]
fn what_may_be_another_message_is_none() {
    let unbegun = talk("").replace("b 1801 begun 1 1", "b 1801 send 1 0 9 8 0");
    check(&unbegun, [0, 17, 0], "the begin of MPI rank 1 was not traced");
    check(&talk("b 1990 begun 1 1"), [0, 16, 0], "cannot be told apart");
    // Two jobs that are told apart.
    check(&talk("b 1990 begun 1 2"), [8, 0, 0], "");
    // After events were lost, nothing is certain: that is from the last event before them on. Nobody traced the third.
    let script = talk("b 1890 send 1 2 7 8 0\n b 1900 lost\n a 150 send 0 1 7 8 0\n b 1955 recv 1 0 7 8 0");
    check(&script, [8, 2, 1], "");
}

#[derive(Deserialize)]
struct Truth {
    hosts: BTreeMap<String, Known>,
}

#[derive(Deserialize)]
struct Known {
    clock_uncertainty_ns: f64,
    /// `(common clock before, raw time, common clock after)`, in order.
    run: Vec<(i64, i64, i64)>,
    mpi_log: Vec<Logged>,
}

#[derive(Deserialize)]
struct Logged {
    rank: i64,
}

impl Known {
    /// The raw time at an instant of the common clock: the line through the samples around it.
    fn raw(&self, common: f64) -> f64 {
        let middle = |sample: &(i64, i64, i64)| i64::midpoint(sample.0, sample.2) as f64;
        let after = self.run.partition_point(|it| middle(it) < common).clamp(1, self.run.len() - 1);
        let (a, b) = (&self.run[after - 1], &self.run[after]);
        a.1 as f64 + (common - middle(a)) * (b.1 - a.1) as f64 / (middle(b) - middle(a))
    }
}

/// Four hosts that run a grid: every message that the program logged is found, and these alone tie the clocks, with the truth inside.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn real_hosts_are_synchronized_by_their_programs() {
    let scenario = shared("vm/mpi4");
    let truth: Truth = serde_json::from_slice(&std::fs::read(scenario.join("truth.json")).unwrap()).unwrap();
    let traces: Vec<PathBuf> = truth.hosts.keys().map(|host| scenario.join(host).join("ust")).collect();
    let outcome = synchronize(&Inputs::open(&traces), &Options::default(), &|_| {}).unwrap();
    // Each iteration of a rank exchanges with each neighbour in the row: a message there, one back.
    let iterations: usize = truth.hosts.values().map(|host| host.mpi_log.len()).sum();
    let ranks: i64 =
        truth.hosts.values().flat_map(|host| host.mpi_log.iter().map(|it| it.rank + 1)).max().unwrap();
    let logged = iterations as u64 / ranks as u64 * (ranks as u64 - 1) * 2;
    let mpi = outcome.mpi.as_ref().unwrap();
    assert_eq!([mpi.messages, mpi.unmatched, mpi.uncertain], [logged, 0, 0]);
    assert_eq!(logged, 240);
    assert_eq!(outcome.artefact.islands.len(), 1);
    assert!(outcome.advice.iter().all(|advice| !advice.missing.contains("network")), "{:?}", outcome.advice);

    let reference = &truth.hosts[&outcome.artefact.reference];
    for clock in outcome.clocks.iter().filter(|clock| clock.entry.host != clock.reference) {
        let known = &truth.hosts[&clock.entry.host];
        let slack = known.clock_uncertainty_ns + reference.clock_uncertainty_ns;
        let mut inside = 0;
        for sample in &known.run {
            let (Some(lo), Some(hi)) = clock.to_reference(RawNs(sample.1)).bounds else { continue };
            let common = i64::midpoint(sample.0, sample.2) as f64;
            let expect = reference.raw(common);
            assert!(
                lo.0 as f64 - slack <= expect && expect <= hi.0 as f64 + slack,
                "{} at {}: {expect} is not in {lo} … {hi}",
                clock.entry.host,
                sample.1
            );
            inside += 1;
        }
        assert!(inside > 5, "{}: {inside}", clock.entry.host);
    }
}
