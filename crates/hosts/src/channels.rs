//! The streams of channels: a channel has one of each CPU, and a CPU one in each channel. Which of them are
//! not there, which do not cover the time of the others, and when it is recorded which thread runs.

use std::collections::{BTreeMap, BTreeSet};

use isochrone_ctf::Trace;
use isochrone_time::{RawNs, Window};

use crate::absent::{self, AbsentStream, ChannelRef};
use crate::clocks;
use crate::coverage::{self, StreamEdges};
use crate::host::{ChannelKey, Host, StreamKey, session_name};
use crate::losses::{LossKind, StreamLoss};
use crate::source::EventSource;

impl Host<'_> {
    /// By CPU: the window in which it is recorded which thread runs there. A stream whose end is unknown
    /// never ends.
    pub fn switch_coverage(&self) -> BTreeMap<u32, Window<RawNs>> {
        let mut by_cpu: BTreeMap<u32, Window<RawNs>> = BTreeMap::new();
        for source in self.sources().iter().filter(|source| source.is_kernel && source.has_switches) {
            let (Some(cpu), Some(begin)) = (source.cpu, source.begin()) else { continue };
            let end = source.end().unwrap_or(RawNs::MAX);
            let all = by_cpu.entry(cpu).or_insert(Window::new(begin, end));
            *all = Window::new(all.start.min(begin), all.end.max(end));
        }
        by_cpu
    }

    /// The kernel's streams of which nothing is there, in no chunk, by CPU and channel.
    pub(crate) fn absent_streams_of(&self, series: &[(StreamKey, Vec<usize>)]) -> Vec<AbsentStream> {
        // By session and id of the class of streams: the channel, and CPUs that only an index lists.
        let mut channels: BTreeMap<(String, u64), (ChannelRef, BTreeSet<u32>)> = BTreeMap::new();
        for (number, trace) in self.traces().iter().enumerate().filter(|(_, it)| clocks::is_of_kernel(it)) {
            let session = session_name(trace);
            for (class, plan) in trace.plan().streams.iter().enumerate() {
                let (_, listed) = channels
                    .entry((session.clone(), plan.id))
                    .or_insert_with(|| (ChannelRef { trace: number, class }, BTreeSet::new()));
                let files = trace.missing_files().iter().filter(|file| file.stream_class == plan.id);
                // LTTng numbers the streams of a kernel's channel by CPU.
                listed.extend(files.filter_map(|file| u32::try_from(file.stream_id?).ok()));
            }
        }
        let listed = channels.values().flat_map(|(_, listed)| listed).copied();
        let there = self.cpus();
        let known = absent::cpus(self.sources(), &there, listed, self.is_full());
        let mut absent: Vec<AbsentStream> =
            known.difference(&there).map(|&cpu| AbsentStream { cpu, channel: None }).collect();
        for ((session, id), (channel, listed)) in &channels {
            let of_channel = series
                .iter()
                .filter(|(key, _)| !key.is_user_space && (&key.session, &key.class) == (session, id));
            let has: BTreeSet<u32> =
                of_channel.filter_map(|(_, members)| self.sources()[*members.first()?].cpu).collect();
            let is_frequent = channel.plan(self.traces()).is_some_and(absent::is_frequent);
            let lacks = there.difference(&has).filter(|cpu| is_frequent || listed.contains(cpu));
            absent.extend(lacks.map(|&cpu| AbsentStream { cpu, channel: Some(*channel) }));
        }
        absent.sort_unstable();
        absent
    }

    /// Whether all files of the kernel's streams hold packets.
    pub(crate) fn is_full(&self) -> bool {
        let is_full = |trace: &&Trace| {
            let packets = trace.streams().iter().flat_map(|stream| &stream.packets);
            let full: BTreeSet<&str> = packets.map(|packet| trace.packet_file_name(packet)).collect();
            trace.file_names().all(|name| full.contains(name))
        };
        self.traces().iter().filter(|trace| clocks::is_of_kernel(trace)).all(is_full)
    }

    /// Where streams do not cover the time of those that they are compared with: the others of their channel.
    /// Channels of one session of the kernel that record what happens all the time are compared with each
    /// other, too; those of user space begin with their first program.
    pub(crate) fn uncovered_of(
        &self,
        channels: BTreeMap<ChannelKey<'_>, Vec<StreamEdges>>,
    ) -> Vec<StreamLoss> {
        let mut compared: BTreeMap<(ChannelKey<'_>, bool), Vec<StreamEdges>> = BTreeMap::new();
        for (key @ (is_user_space, session, _), edges) in channels {
            let of_channel = edges.first().map(|edges| &self.sources()[edges.first]);
            let plan = of_channel.map(|source| source.trace.stream_plan(source.stream));
            let is_frequent = !is_user_space && plan.is_some_and(absent::is_frequent);
            let key = if is_frequent { (is_user_space, session, 0) } else { key };
            compared.entry((key, is_frequent)).or_default().extend(edges);
        }
        let mut uncovered: Vec<StreamLoss> =
            compared.iter().flat_map(|((key, _), edges)| coverage::uncovered(edges, key.0)).collect();
        uncovered.sort_unstable();
        uncovered
    }

    /// Whether events of another channel were recorded on a CPU before the channel began that records which
    /// thread runs there: what the first switch shows does not hold for these.
    pub(crate) fn hides_switches(&self, loss: &StreamLoss) -> bool {
        let source = &self.sources()[loss.source];
        let is_before = |other: &EventSource<'_>| {
            let is_beside = other.is_kernel && other.cpu == source.cpu && other.series != source.series;
            is_beside && other.begin().is_some_and(|begin| begin < loss.to)
        };
        loss.what == LossKind::NotBegun && source.has_switches && self.sources().iter().any(is_before)
    }
}
