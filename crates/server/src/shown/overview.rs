//! What can be said before anything is decoded: how much was traced when, and what is missing, from headers of packets.

use isochrone_experiment::{Experiment, Inputs, TimedHost, Timing};
use isochrone_hosts::LossKind;
use serde::Serialize;

/// Bins of an overview at its finest.
const BINS: usize = 4096;

/// Losses that are listed.
const MOST_LOSSES: usize = 2000;

/// How much was traced when.
#[derive(Debug, Clone)]
pub(crate) struct Overview {
    /// Unix time that times are since.
    pub(crate) origin: i128,
    pub(crate) begin: i64,
    pub(crate) end: i64,
    hosts: Vec<(String, Vec<f64>)>,
    losses: Vec<LossShown>,
}

/// Something that is missing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct LossShown {
    pub(crate) host: usize,
    pub(crate) cpu: Option<u32>,
    pub(crate) begin: i64,
    pub(crate) end: i64,
    pub(crate) what: &'static str,
    pub(crate) count: Option<u64>,
}

/// A break of a clock.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct BreakShown {
    pub(crate) host: usize,
    pub(crate) at: i64,
    pub(crate) text: String,
}

/// An overview in so many bins, as it is sent.
#[derive(Debug, Serialize)]
pub(crate) struct Binned<'a> {
    begin: i64,
    end: i64,
    hosts: Vec<BytesOf<'a>>,
    losses: &'a [LossShown],
    breaks: Vec<BreakShown>,
}

#[derive(Debug, Serialize)]
struct BytesOf<'a> {
    host: usize,
    name: &'a str,
    bytes: Vec<f64>,
}

/// The overview of traces on their own clocks. Linear in the packets.
pub(crate) fn of_headers(inputs: &Inputs) -> Overview {
    let experiment = Experiment::new(inputs, None);
    let hosts: Vec<&TimedHost<'_>> = experiment.hosts().iter().collect();
    let (begin, _) = isochrone_experiment::extent(hosts.iter().copied()).unwrap_or_default();
    of_hosts(&hosts, begin.div_euclid(super::NS_PER_S) * super::NS_PER_S)
}

/// The overview of some hosts on the clocks that they have. `origin`: the Unix time that its times are since.
pub(crate) fn of_hosts(hosts: &[&TimedHost<'_>], origin: i128) -> Overview {
    let extent = isochrone_experiment::extent(hosts.iter().copied()).unwrap_or_default();
    let since = |unix: i128| (unix - origin).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    let (begin, end) = (since(extent.0), since(extent.1));
    let mut overview = Overview { origin, begin, end, hosts: Vec::new(), losses: Vec::new() };
    for host in hosts {
        let mut bytes = vec![0.0; BINS];
        if let Some(timing) = host.timing {
            spread(host, timing, (extent.0, extent.1), &mut bytes);
        }
        overview.hosts.push((host.name().to_owned(), bytes));
    }
    overview.losses = losses_of(hosts, origin);
    overview
}

/// What is missing of some hosts. `origin`: as in [`of_hosts`].
pub(crate) fn losses_of(hosts: &[&TimedHost<'_>], origin: i128) -> Vec<LossShown> {
    let extent = isochrone_experiment::extent(hosts.iter().copied()).unwrap_or_default();
    let since = |unix: i128| (unix - origin).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    let mut all = Vec::new();
    for (place, host) in hosts.iter().enumerate() {
        if let Some(timing) = host.timing {
            let at = |raw| since(timing.unix_ns(raw));
            all.extend(losses(place, host, &at, (since(extent.0), since(extent.1))));
        }
    }
    all.truncate(MOST_LOSSES);
    all
}

/// Adds the bytes of all packets of a host to the bins that they overlap.
fn spread(host: &TimedHost<'_>, timing: Timing<'_>, (begin, end): (i128, i128), bins: &mut [f64]) {
    let width = ((end - begin) as f64 / bins.len() as f64).max(1.0);
    for source in host.traced.sources() {
        let trace = host.traced.traces()[source.trace_number];
        let Some(class) = trace.clock(source.stream) else { continue };
        let raw = |cycles: u64| i64::try_from(class.raw_ns(cycles)).ok();
        for packet in &trace.streams()[source.stream].packets {
            let Some(from) = packet.begin().and_then(raw) else { continue };
            let to = packet.end().and_then(raw).unwrap_or(from).max(from);
            let place = |raw: i64| ((timing.unix_ns(raw) - begin) as f64 / width).max(0.0);
            let (from, to) = (place(from), place(to));
            let (first, last) = (from as usize, (to as usize).min(bins.len() - 1));
            if first > last {
                continue;
            }
            let bytes = (packet.content_bits / 8) as f64;
            let length = (to - from).max(f64::EPSILON);
            for (bin, sum) in bins.iter_mut().enumerate().take(last + 1).skip(first) {
                let part = (to.min((bin + 1) as f64) - from.max(bin as f64)).max(0.0) / length;
                *sum += if first == last { bytes } else { bytes * part };
            }
        }
    }
}

fn losses(
    place: usize,
    host: &TimedHost<'_>,
    at: &dyn Fn(i64) -> i64,
    (begin, end): (i64, i64),
) -> Vec<LossShown> {
    let shown = |from: i64, to: i64, cpu: Option<u32>, what: &'static str, count: Option<u64>| {
        let inside = |raw: i64| match raw {
            i64::MIN => begin,
            i64::MAX => end,
            raw => at(raw).clamp(begin, end),
        };
        LossShown { host: place, cpu, begin: inside(from), end: inside(to), what, count }
    };
    let traced = &host.traced;
    let of_streams = traced.losses().iter().chain(traced.uncovered()).map(|loss| {
        let cpu = traced.sources()[loss.source].cpu;
        let (what, count) = match loss.what {
            LossKind::Events(count) => ("events", Some(count)),
            LossKind::Packets(count) => ("packets", Some(count)),
            LossKind::Rest => ("rest of a packet", None),
            LossKind::Disorder => ("order of packets", None),
            LossKind::All => ("stream", None),
            LossKind::NotBegun => ("the stream begins later", None),
            LossKind::Over => ("the stream ends earlier", None),
        };
        shown(loss.from, loss.to, cpu, what, count)
    });
    let gaps = traced.gaps().iter().map(|gap| shown(gap.from, gap.to, None, "chunk", None));
    let absent = traced.absent_streams().iter().map(|stream| {
        let what = if stream.channel.is_none() { "CPU" } else { "stream" };
        shown(i64::MIN, i64::MAX, Some(stream.cpu), what, None)
    });
    of_streams.chain(gaps).chain(absent).take(MOST_LOSSES).collect()
}

impl Overview {
    /// In so many bins.
    pub(crate) fn binned(&self, bins: usize, breaks: Vec<BreakShown>) -> Binned<'_> {
        let bins = bins.clamp(1, BINS);
        let hosts = self.hosts.iter().enumerate().map(|(host, (name, fine))| {
            let mut bytes = vec![0.0; bins];
            for (place, value) in fine.iter().enumerate() {
                bytes[place * bins / fine.len()] += value;
            }
            BytesOf { host, name, bytes }
        });
        let hosts = hosts.collect();
        Binned { begin: self.begin, end: self.end, hosts, losses: &self.losses, breaks }
    }
}
