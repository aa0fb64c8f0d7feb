//! Real virtual machines whose clocks are known: their messages, and what their clocks showed when.

use std::path::{Path, PathBuf};

use isochrone_clock::{Network, Solution, Span};
use serde_json::Value;

use super::{Message, network};

/// A scenario.
pub struct Scenario {
    /// Its directory.
    pub name: String,
    /// What the matching found.
    pub messages: Vec<Message>,
    spans: Vec<Span>,
    hosts: Vec<KnownClock>,
}

/// A clock that was read often, together with a common one.
struct KnownClock {
    /// (raw time, common time), by time, ns.
    samples: Vec<(i64, i64)>,
    /// How exact they are, ns.
    slack: i64,
}

/// How a solution stands against the truth.
pub struct Accuracy {
    /// Samples, and those of them outside the interval.
    pub samples: usize,
    pub outside: usize,
    /// Largest error of an estimate, ns.
    pub error: i64,
}

impl Scenario {
    /// Reads the traces of all hosts.
    pub fn read(directory: &Path) -> Self {
        let truth = json(&directory.join("truth.json"));
        let events = json(&directory.join("events.json"));
        let names: Vec<&String> = truth["hosts"].as_object().unwrap().keys().collect();
        let cycles = |host: &str, which: &str| events[host][which].as_i64().unwrap();
        let span =
            |host: &&String| Span { begin: cycles(host, "first_cycles"), end: cycles(host, "last_cycles") };
        Self {
            name: directory.file_name().unwrap().to_string_lossy().into_owned(),
            spans: names.iter().map(span).collect(),
            hosts: names.iter().map(|&name| KnownClock::read(&truth["hosts"][name])).collect(),
            messages: messages(&names.iter().map(|name| directory.join(name)).collect::<Vec<_>>()),
        }
    }

    /// The network with these messages instead of the scenario's own.
    pub fn network(&self, messages: &[Message]) -> Network {
        network(self.spans.clone(), messages.iter().copied())
    }

    /// What the clock of `other` shows when that of `host` shows `raw`.
    pub fn truth(&self, host: usize, raw: i64, other: usize) -> Option<i64> {
        let common = interpolate(&self.hosts[host].samples, raw)?;
        let turned: Vec<(i64, i64)> = self.hosts[other].samples.iter().map(|&(raw, at)| (at, raw)).collect();
        interpolate(&turned, common)
    }

    /// Holds all clocks of a solution against the truth at all samples.
    pub fn hold(&self, solution: &Solution) -> Accuracy {
        let mut held = Accuracy { samples: 0, outside: 0, error: 0 };
        for island in &solution.islands {
            for &clock in island.clocks.iter().filter(|&&c| c != island.reference) {
                let slack = self.hosts[clock].slack + self.hosts[island.reference].slack;
                for &(raw, _) in &self.hosts[clock].samples {
                    let truth = self.truth(clock, raw, island.reference);
                    let Some((truth, (lo, hi, _))) = truth.zip(solution.intervals[clock].at(raw)) else {
                        continue;
                    };
                    held.samples += 1;
                    held.outside += usize::from(truth < lo - slack || hi + slack < truth);
                    held.error = held.error.max((solution.corrections[clock].apply(raw) - truth).abs());
                }
            }
        }
        held
    }
}

impl KnownClock {
    fn read(host: &Value) -> Self {
        let number = |sample: &Value, part: usize| sample[part].as_i64().unwrap();
        let run = host["run"].as_array().unwrap();
        let middle = |s: &Value| (number(s, 1), number(s, 0).midpoint(number(s, 2)));
        let mut samples: Vec<(i64, i64)> = run.iter().map(middle).collect();
        samples.sort_unstable();
        let widest = run.iter().map(|s| (number(s, 2) - number(s, 0)) / 2).max().unwrap();
        Self { samples, slack: host["clock_uncertainty_ns"].as_f64().unwrap().ceil() as i64 + widest }
    }
}

/// Between neighbours of a list by its first part; `None` outside.
fn interpolate(list: &[(i64, i64)], at: i64) -> Option<i64> {
    let right = list.partition_point(|p| p.0 < at);
    let (a, b) = (list.get(right.checked_sub(1)?)?, list.get(right)?);
    Some(a.1 + ((b.1 - a.1) as i128 * (at - a.0) as i128 / ((b.0 - a.0).max(1) as i128)) as i64)
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// What the hosts, one directory of traces each, sent each other; in the order of their names.
fn messages(hosts: &[PathBuf]) -> Vec<Message> {
    let (_, messages, _) = crate::common::messages_of(hosts);
    messages.iter().map(|m| (m.sender, m.sent.ns(), m.receiver, m.received.ns())).collect()
}
