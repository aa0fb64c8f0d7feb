//! The overview of traces before anything is decoded: how much was recorded when, and what is missing, from
//! headers of packets.

use isochrone_experiment::{Experiment, Inputs};
use isochrone_hosts::LossKind;
use isochrone_time::{RawNs, SinceOrigin, UnixNs, Window};
use isochrone_timing::{TimedHost, Timing, extent};
use serde::Serialize;

use super::messages::some;
use super::{origin_of, since};

/// Bins of an overview at its finest.
const BINS: usize = 4096;

/// Losses that are listed.
const MAX_LOSSES: usize = 2000;

/// Bytes of trace over time, and losses.
#[derive(Debug, Clone)]
pub(crate) struct Overview {
    /// The zero of its times.
    pub(crate) origin: UnixNs,
    /// From the first packet to the last.
    pub(crate) extent: Window<SinceOrigin>,
    hosts: Vec<HostOverview>,
    losses: Vec<LossEntry>,
    /// How many there are, listed or not.
    losses_total: usize,
}

#[derive(Debug, Clone)]
struct HostOverview {
    name: String,
    /// From its first packet to its last; `None`: it has none.
    extent: Option<Window<SinceOrigin>>,
    /// Bytes of trace by bin.
    bytes: Vec<f64>,
}

/// Something that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct LossEntry {
    pub(crate) host: usize,
    pub(crate) cpu: Option<u32>,
    pub(crate) begin: SinceOrigin,
    pub(crate) end: SinceOrigin,
    pub(crate) what: &'static str,
    pub(crate) count: Option<u64>,
}

/// A break of a clock.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ClockBreak {
    pub(crate) host: usize,
    pub(crate) at: SinceOrigin,
    pub(crate) text: String,
}

/// An overview with a number of bins, as it is sent.
#[derive(Debug, Serialize)]
pub(crate) struct Binned<'a> {
    begin: SinceOrigin,
    end: SinceOrigin,
    hosts: Vec<HostBytes<'a>>,
    losses: &'a [LossEntry],
    losses_total: usize,
    breaks: Vec<ClockBreak>,
}

#[derive(Debug, Serialize)]
struct HostBytes<'a> {
    host: usize,
    name: &'a str,
    begin: Option<SinceOrigin>,
    end: Option<SinceOrigin>,
    bytes: Vec<f64>,
}

/// From the first packet of some hosts to the last.
fn extent_of(hosts: &[&TimedHost<'_>]) -> Window<UnixNs> {
    let (first, last) = extent(hosts.iter().copied()).unwrap_or_default();
    Window::new(first, last)
}

impl Overview {
    /// The overview of traces on their own clocks. Linear in the packets.
    pub(crate) fn of_headers(inputs: &Inputs) -> Self {
        let experiment = Experiment::new(inputs, None);
        let hosts: Vec<&TimedHost<'_>> = experiment.hosts().iter().collect();
        Self::of_hosts(&hosts, origin_of(extent_of(&hosts).start))
    }

    /// The overview of some hosts on the clocks that they have. Linear in the packets.
    pub(crate) fn of_hosts(hosts: &[&TimedHost<'_>], origin: UnixNs) -> Self {
        let unix = extent_of(hosts);
        let of_host = |host: &&TimedHost<'_>| {
            let mut bytes = vec![0.0; BINS];
            if let Some(timing) = host.timing {
                add_bytes(host, timing, unix, &mut bytes);
            }
            let own = extent([*host]);
            let own = own.map(|(first, last)| Window::new(since(origin, first), since(origin, last)));
            HostOverview { name: host.name().to_owned(), extent: own, bytes }
        };
        Self {
            origin,
            extent: Window::new(since(origin, unix.start), since(origin, unix.end)),
            hosts: hosts.iter().map(of_host).collect(),
            losses: losses_of(hosts, origin),
            losses_total: hosts.iter().map(|host| losses_count(host)).sum(),
        }
    }

    /// The overview in a number of bins.
    pub(crate) fn binned(&self, bins: usize, breaks: Vec<ClockBreak>) -> Binned<'_> {
        let bins = bins.clamp(1, BINS);
        let hosts = self.hosts.iter().enumerate().map(|(host, of_host)| {
            let HostOverview { name, extent, bytes: fine } = of_host;
            let mut bytes = vec![0.0; bins];
            for (index, value) in fine.iter().enumerate() {
                bytes[index * bins / fine.len()] += value;
            }
            let (begin, end) = (extent.map(|it| it.start), extent.map(|it| it.end));
            HostBytes { host, name, begin, end, bytes }
        });
        let hosts = hosts.collect();
        let (Window { start: begin, end }, losses_total) = (self.extent, self.losses_total);
        Binned { begin, end, hosts, losses: &self.losses, losses_total, breaks }
    }
}

/// How many losses a host has.
fn losses_count(host: &TimedHost<'_>) -> usize {
    let (traced, has_clock) = (&host.traced, host.timing.is_some());
    let of_streams = traced.losses().len() + traced.uncovered().len();
    if has_clock { of_streams + traced.gaps().len() + traced.absent_streams().len() } else { 0 }
}

/// The losses of some hosts, at most [`MAX_LOSSES`]: of a host with many, evenly chosen.
pub(crate) fn losses_of(hosts: &[&TimedHost<'_>], origin: UnixNs) -> Vec<LossEntry> {
    let unix = extent_of(hosts);
    let extent = Window::new(since(origin, unix.start), since(origin, unix.end));
    let of_host = |(host, timed): (usize, &&TimedHost<'_>)| {
        let Some(timing) = timed.timing else { return Vec::new() };
        let at = |raw| match raw {
            RawNs::MIN => extent.start,
            RawNs::MAX => extent.end,
            raw => since(origin, timing.unix(raw)).clamp(extent.start, extent.end),
        };
        let entry = |from: RawNs, to: RawNs, cpu: Option<u32>, what: &'static str, count: Option<u64>| {
            LossEntry { host, cpu, begin: at(from), end: at(to), what, count }
        };
        let traced = &timed.traced;
        let of_streams = traced.losses().iter().chain(traced.uncovered()).map(|loss| {
            let cpu = traced.sources()[loss.source].cpu;
            let (what, count) = match loss.what {
                LossKind::Events(count) => ("events", Some(count)),
                LossKind::Packets(count) => ("packets", Some(count)),
                LossKind::UndecodableTail => ("rest of a packet", None),
                LossKind::Disorder => ("order of packets", None),
                LossKind::All => ("stream", None),
                LossKind::NotBegun => ("the stream begins later", None),
                LossKind::Over => ("the stream ends earlier", None),
            };
            entry(loss.from, loss.to, cpu, what, count)
        });
        let gaps = traced.gaps().iter().map(|gap| entry(gap.start, gap.end, None, "chunk", None));
        let absent = traced.absent_streams().iter().map(|stream| {
            let what = if stream.channel.is_none() { "CPU" } else { "stream" };
            entry(RawNs::MIN, RawNs::MAX, Some(stream.cpu), what, None)
        });
        of_streams.chain(gaps).chain(absent).collect::<Vec<_>>()
    };
    let all: Vec<Vec<LossEntry>> = hosts.iter().enumerate().map(of_host).collect();
    let counts: Vec<usize> = all.iter().map(Vec::len).collect();
    let most = fair_share(&counts, MAX_LOSSES);
    all.iter().flat_map(|of_host| some(of_host, most)).collect()
}

/// How many each may have of what all have together, so that those are at most `limit`.
fn fair_share(counts: &[usize], limit: usize) -> usize {
    let mut sorted = counts.to_vec();
    sorted.sort_unstable();
    let (mut left, mut most) = (limit, limit);
    for (index, &count) in sorted.iter().enumerate() {
        most = left / (sorted.len() - index);
        if count > most {
            return most;
        }
        left -= count;
    }
    most.max(sorted.last().copied().unwrap_or_default())
}

/// Adds the bytes of all packets of a host to the bins that they overlap.
fn add_bytes(host: &TimedHost<'_>, timing: Timing<'_>, extent: Window<UnixNs>, bins: &mut [f64]) {
    let width = ((extent.end - extent.start) as f64 / bins.len() as f64).max(1.0);
    for source in host.traced.sources() {
        let trace = host.traced.traces()[source.trace_number];
        let Some(class) = trace.clock(source.stream) else { continue };
        let raw = |cycles: u64| i64::try_from(class.raw_ns(cycles)).ok();
        for packet in &trace.streams()[source.stream].packets {
            let Some(from) = packet.begin().and_then(raw) else { continue };
            let to = packet.end().and_then(raw).unwrap_or(from).max(from);
            let bin_at = |raw: i64| ((timing.unix(RawNs(raw)) - extent.start) as f64 / width).max(0.0);
            let (from, to) = (bin_at(from), bin_at(to));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_with_many_losses_leaves_room_for_others() {
        let check = |counts: &[usize], limit, expect: &[usize]| {
            let most = fair_share(counts, limit);
            let given: Vec<usize> = counts.iter().map(|&count| count.min(most)).collect();
            assert_eq!(given, expect, "{counts:?} {limit}");
        };
        check(&[], 10, &[]);
        check(&[3, 4], 10, &[3, 4]);
        check(&[100, 4], 10, &[6, 4]);
        check(&[4, 100], 10, &[4, 6]);
        check(&[100, 100, 1], 11, &[5, 5, 1]);
        check(&[9, 9, 9], 2, &[0, 0, 0]);
        check(&[10], 10, &[10]);
    }
}
