//! What the model of a piece depends on beside the events in it: which CPUs the host has, what is missing of
//! it, when it is recorded which thread runs.
//!
//! A chunk that is mapped alone is mapped with what it shows of these itself; its model is that of the whole
//! if the whole shows the same.

use std::collections::{BTreeMap, BTreeSet};

use isochrone_hosts::{EventSource, Host, LossKind, StreamLoss};
use isochrone_kernel::SwitchCoverage;
use isochrone_time::{RawNs, Window};
use serde::{Deserialize, Serialize};

/// What surrounds a window of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surroundings {
    /// CPUs of the kernel's streams.
    pub(crate) cpus: BTreeSet<u32>,
    pub(crate) has_kernel: bool,
    /// CPUs of which a stream is not there: whether all of the CPU is.
    absent: Vec<(u32, bool)>,
    /// By CPU: when it is recorded which thread runs there, raw ns, as far as it is in the window.
    switches: BTreeMap<u32, Window<RawNs>>,
    /// What is missing in the window, or from it on, or until it; of programs only where the kernel was not
    /// traced.
    losses: Vec<NearLoss>,
    /// Streams that have packets in the window.
    streams: Vec<NearStream>,
}

/// A stream that has packets in a window.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct NearStream {
    is_kernel: bool,
    cpu: Option<u32>,
    begin: Option<RawNs>,
    end: Option<RawNs>,
}

/// A loss that reaches into a window.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct NearLoss {
    from: RawNs,
    to: RawNs,
    what: LossKind,
    cpu: Option<u32>,
    has_switches: bool,
    /// Whether it lasts since the host begins.
    is_from_begin: bool,
}

/// How what surrounds a window differs from what was known when it was mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// The traces beside it have streams of CPUs, of the kernel or of programs that it has not.
    #[error("the chunks beside it have streams of CPUs that it does not have")]
    Cpus,
    /// Something is missing in its time that it does not show itself.
    #[error("the chunks beside it show that events are missing in its time")]
    Losses,
    /// Others have events in its time.
    #[error("other traces of the host have events in its time: map them together")]
    Streams,
    /// It lies in a time of which nothing is there.
    #[error("the chunks beside it show that a chunk is missing in its time")]
    Gap,
}

impl Surroundings {
    /// Those of a window of a host. Linear in the streams and losses of the host.
    pub fn of(host: &Host<'_>, window: Window<RawNs>) -> Self {
        let clip = |covered: Window<RawNs>| {
            Window::new(covered.start.max(window.start), covered.end.min(window.end))
        };
        let switches = host.switch_coverage().into_iter().map(|(cpu, covered)| (cpu, clip(covered)));
        let begin = host.extent().map(|(begin, _)| begin);
        let has_kernel = host.has_kernel();
        let near = |loss: &&StreamLoss| {
            let is_near = loss.from <= window.end && loss.to >= window.start;
            is_near && (!has_kernel || host.sources()[loss.source].is_kernel)
        };
        let near_stream = |source: &EventSource<'_>| {
            let (begin, end) = (source.begin(), source.end());
            let is_near = begin.is_none_or(|begin| begin < window.end)
                && end.is_none_or(|end| end >= window.start)
                && !source.packets().is_empty();
            is_near.then_some(NearStream { is_kernel: source.is_kernel, cpu: source.cpu, begin, end })
        };
        let mut streams: Vec<NearStream> = host.sources().iter().filter_map(near_stream).collect();
        streams.sort_unstable();
        let near_loss = |loss: &StreamLoss| {
            let source = &host.sources()[loss.source];
            NearLoss {
                from: loss.from,
                to: loss.to,
                what: loss.what,
                cpu: source.cpu,
                has_switches: source.has_switches,
                is_from_begin: Some(loss.from) <= begin,
            }
        };
        let mut losses: Vec<NearLoss> =
            host.losses().iter().chain(host.uncovered()).filter(near).map(near_loss).collect();
        losses.sort_unstable();
        Self {
            cpus: host.cpus(),
            has_kernel,
            absent: host.absent_streams().iter().map(|it| (it.cpu, it.channel.is_none())).collect(),
            switches: switches.collect(),
            losses,
            streams,
        }
    }

    /// In what way those of a host differ, so that the model of the window is another one.
    pub fn difference(&self, host: &Host<'_>, window: Window<RawNs>) -> Option<Difference> {
        let is_gap = |gap: &&Window<RawNs>| gap.start < window.end && window.start < gap.end;
        if host.gaps().iter().any(|gap| is_gap(&gap)) {
            return Some(Difference::Gap);
        }
        let around = Self::of(host, window);
        let has_its_cpus = self.cpus.is_subset(&around.cpus)
            && around.cpus.difference(&self.cpus).all(|&cpu| around.has_no_part(cpu))
            && self.covered().eq(around.covered());
        let Self { has_kernel, absent, losses, streams, .. } = around;
        match has_its_cpus && (has_kernel, &absent) == (self.has_kernel, &self.absent) {
            false => Some(Difference::Cpus),
            true if streams != self.streams => Some(Difference::Streams),
            true => (losses != self.losses).then_some(Difference::Losses),
        }
    }

    /// Whether a CPU was not there in the window: it has nothing there, nor a loss that may be of any CPU.
    fn has_no_part(&self, cpu: u32) -> bool {
        let is_of_it = |other: Option<u32>| other.is_none_or(|other| other == cpu);
        let is_lossless = !self.losses.iter().any(|loss| is_of_it(loss.cpu));
        is_lossless && !self.streams.iter().any(|stream| stream.is_kernel && stream.cpu == Some(cpu))
    }

    /// By CPU: when it is recorded in the window which thread runs there.
    fn covered(&self) -> impl Iterator<Item = (&u32, &Window<RawNs>)> {
        self.switches.iter().filter(|(_, window)| !window.is_empty())
    }

    /// The CPUs of which all streams, or some, are not there: whether all of the CPU is.
    pub(crate) fn absent(&self) -> impl Iterator<Item = (u32, bool)> + '_ {
        self.absent.iter().copied()
    }

    /// When it is recorded which thread runs. `was_recorded`: whether it was before, in traces that are not
    /// open now.
    pub(crate) fn switch_coverage(&self, was_recorded: bool) -> SwitchCoverage {
        let start = |window: &Window<RawNs>| if was_recorded { RawNs::MIN } else { window.start };
        let by_cpu: BTreeMap<u32, (RawNs, RawNs)> =
            self.switches.iter().map(|(&cpu, window)| (cpu, (start(window), window.end))).collect();
        match by_cpu.is_empty() && !was_recorded {
            true if self.has_kernel => SwitchCoverage::Never,
            true => SwitchCoverage::NoKernel,
            false => SwitchCoverage::ByCpu(by_cpu),
        }
    }
}
