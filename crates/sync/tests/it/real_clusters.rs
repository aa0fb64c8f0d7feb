//! Messages of real hosts whose clocks are known: how many there are, and that each left before it arrived.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::common::{messages_of, shared};
use serde::Deserialize;

#[derive(Deserialize)]
struct Truth {
    hosts: BTreeMap<String, Known>,
}

#[derive(Deserialize)]
struct Known {
    clock_uncertainty_ns: f64,
    /// `(common clock before, raw time, common clock after)`, in order.
    run: Vec<(i64, i64, i64)>,
}

impl Known {
    /// The instant of the common clock at a raw time: the line through the samples around it.
    fn common(&self, raw: i64) -> f64 {
        let after = self.run.partition_point(|sample| sample.1 < raw).clamp(1, self.run.len() - 1);
        let (a, b) = (self.run[after - 1], self.run[after]);
        let middle = |sample: (i64, i64, i64)| i64::midpoint(sample.0, sample.2);
        let slope = (middle(b) - middle(a)) as f64 / (b.1 - a.1) as f64;
        middle(a) as f64 + (raw - a.1) as f64 * slope
    }
}

fn host_directories(scenario: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(scenario).unwrap().map(|entry| entry.unwrap().path());
    let mut hosts: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    hosts.sort();
    hosts
}

/// Scenarios, how many messages must be found, and how many of them were cut up or put together.
const SCENARIOS: [(&str, u64, u64); 12] = [
    ("chain3", 775, 0),
    ("ping5", 1683, 0),
    ("web2", 2708, 0),
    ("web2gso", 815, 143),
    ("udp2", 400, 0),
    ("lossy2", 1450, 0),
    ("ipv6_2", 526, 149),
    ("hog2", 152, 0),
    ("rot2", 660, 0),
    ("pause2", 2161, 0),
    ("mpi4", 1610, 0),
    ("phases3", 670, 21),
];

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn every_message_left_before_it_arrived() {
    let clusters = shared("vm");
    for (scenario, expect, offloaded) in SCENARIOS {
        let scenario = clusters.join(scenario);
        let truth: Truth =
            serde_json::from_slice(&std::fs::read(scenario.join("truth.json")).unwrap()).unwrap();
        let (hosts, messages, summary) = messages_of(&host_directories(&scenario));
        assert!(!messages.is_empty(), "no packets are seen in {}", scenario.display());
        let known: Vec<&Known> = hosts.iter().map(|host| &truth.hosts[host]).collect();
        let mut shortest = f64::INFINITY;
        for message in &messages {
            let (from, to) = (known[message.sender], known[message.receiver]);
            let delay = to.common(message.received.ns()) - from.common(message.sent.ns());
            let slack = from.clock_uncertainty_ns + to.clock_uncertainty_ns;
            assert!(delay > -slack, "{}: {message:?} took {delay} ns", scenario.display());
            shortest = shortest.min(delay);
        }
        let cut: u64 = summary.pairs.values().map(|pair| pair.offloaded).sum();
        let unsure: u64 = summary.pairs.values().map(|pair| pair.ambiguous).sum();
        eprintln!(
            "{}: {} ({cut} offloaded), {unsure} ambiguous; shortest {shortest} ns",
            scenario.display(),
            messages.len()
        );
        assert_eq!((messages.len() as u64, cut), (expect, offloaded), "{}", scenario.display());
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn copies_of_a_file_give_all_messages_of_lttng_addons() {
    let scp = shared("scp");
    let (hosts, messages, summary) = messages_of(&["scp_src", "scp_dest"].map(|trace| scp.join(trace)));
    let count = |from: usize, to: usize| summary.pairs[&(from, to)].messages;
    assert_eq!(hosts, ["VM1", "VM3"]);
    assert_eq!((messages.len(), count(0, 1), count(1, 0)), (46, 24, 22));
}
