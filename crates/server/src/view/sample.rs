//! A sample for the time in which the store is made: what CPUs, and the threads that ran most, did at the
//! start of packets all over the traces, on the hosts' own clocks.

use std::collections::BTreeMap;

use isochrone_experiment::{Experiment, HostSample, Inputs, SampledPart, Spread, sample};
use isochrone_time::{RawNs, UnixNs};
use serde::Serialize;

use super::since;

/// Threads of a host that are shown.
const MAX_THREADS: usize = 8;

/// A sample of all hosts, as it is sent. Times are since the origin of the overview.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sample {
    /// The part of the traces that was read.
    share: f64,
    hosts: Vec<SampledHost>,
}

#[derive(Debug, Clone, Serialize)]
struct SampledHost {
    host: usize,
    name: String,
    cpus: Vec<SampledCpu>,
    threads: Vec<SampledThread>,
}

#[derive(Debug, Clone, Serialize)]
struct SampledCpu {
    cpu: u32,
    /// Start, until when it was read, end, and in thousandths: idle, threads, interrupts, softirqs.
    parts: Vec<[i64; 7]>,
}

#[derive(Debug, Clone, Serialize)]
struct SampledThread {
    label: String,
    tid: i32,
    /// Start, until when it was read, end, and in thousandths: on the CPU.
    parts: Vec<[i64; 4]>,
}

impl Sample {
    /// Samples the hosts of some traces.
    pub(crate) fn of_inputs(inputs: &Inputs, origin: UnixNs, spread: Spread) -> Self {
        let experiment = Experiment::new(inputs, None);
        let hosts = experiment.hosts();
        // Excerpts of mapped chunks are no samples of what happened.
        let samples = if experiment.chunks().is_some() { Vec::new() } else { sample(hosts, spread) };
        let all: u64 = hosts.iter().map(|host| host.traced.bytes()).sum();
        let read: u64 = samples.iter().map(|sample| sample.bytes).sum();
        let of_host = |(index, sample): (usize, HostSample)| {
            let offset = hosts[index].traced.offset_ns;
            let since = |raw: RawNs| since(origin, UnixNs(i128::from(raw.ns())) + offset).ns();
            SampledHost {
                host: index,
                name: hosts[index].name().to_owned(),
                cpus: cpus(&sample, &since),
                threads: threads(&sample, &since),
            }
        };
        let hosts = samples.into_iter().enumerate().map(of_host).collect();
        Self { share: read as f64 / all.max(1) as f64, hosts }
    }
}

fn cpus(sample: &HostSample, since: &dyn Fn(RawNs) -> i64) -> Vec<SampledCpu> {
    let mut all: Vec<SampledCpu> = Vec::new();
    for part in known(sample) {
        let whole = part.idle + part.running;
        let irq = part.irq.min(whole);
        let softirq = part.softirq.min(whole - irq);
        // Handlers run within slices: first in those of threads.
        let from_running = (irq + softirq).min(part.running);
        let [running, idle] = [part.running - from_running, part.idle - (irq + softirq - from_running)];
        let [begin, read, end] = [part.begin, part.read, part.end].map(since);
        let [idle, running, irq, softirq] =
            [idle, running, irq, softirq].map(|time| thousandths(time, whole));
        let shares = [begin, read, end, idle, running, irq, softirq];
        match all.last_mut() {
            Some(last) if last.cpu == part.cpu => last.parts.push(shares),
            _ => all.push(SampledCpu { cpu: part.cpu, parts: vec![shares] }),
        }
    }
    all
}

/// The threads that ran most, those first.
fn threads(sample: &HostSample, since: &dyn Fn(RawNs) -> i64) -> Vec<SampledThread> {
    let mut weights: BTreeMap<i32, i128> = BTreeMap::new();
    for part in known(sample) {
        for (&tid, &time) in &part.threads {
            // What was read of a packet stands for all of it.
            let length = i128::from(part.end.ns()) - i128::from(part.begin.ns());
            let share = i128::from(time) * length / i128::from(part.idle + part.running);
            *weights.entry(tid).or_default() += share;
        }
    }
    let mut most: Vec<(i32, i128)> = weights.into_iter().collect();
    most.sort_by_key(|&(tid, weight)| (std::cmp::Reverse(weight), tid));
    let of_thread = |(tid, _): (i32, i128)| {
        let part = |part: &SampledPart| {
            let time = *part.threads.get(&tid)?;
            let [begin, read, end] = [part.begin, part.read, part.end].map(since);
            Some([begin, read, end, thousandths(time, part.idle + part.running)])
        };
        let label = sample.names.get(&tid).map_or_else(|| "?".to_owned(), ToString::to_string);
        SampledThread { label, tid, parts: known(sample).filter_map(part).collect() }
    };
    most.into_iter().take(MAX_THREADS).map(of_thread).collect()
}

/// The parts with a known time.
fn known(sample: &HostSample) -> impl Iterator<Item = &SampledPart> {
    sample.parts.iter().filter(|part| part.idle + part.running > 0)
}

fn thousandths(time: u64, whole: u64) -> i64 {
    (u128::from(time) * 1000 / u128::from(whole.max(1))) as i64
}
