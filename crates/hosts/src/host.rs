//! A host: all traces of one clock, read as one sequence of events.
//!
//! Which traces share a clock is known to [`crate::clocks`]. Here their streams become [`EventSource`]s in a
//! fixed order, the same stream of all chunks of a rotated session one after the other, and what they lack is
//! found.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use isochrone_ctf::Trace;
use isochrone_ctf::plan::{EventPlan, StreamPlan};
use isochrone_ctf::schema::CUT_OF;
use isochrone_time::{RawNs, Window};

use crate::absent::AbsentStream;
use crate::clocks::{self, HostClock};
use crate::coverage::{self, Coverage, StreamEdges};
use crate::losses::{Extent, LogicalStream, LossKind, StreamLoss, StreamLossBegin, of_series};
use crate::rotation::{self, Archive};
use crate::source::EventSource;

/// The traces of one clock: the kernel's and those of user space, all chunks of rotated sessions.
#[derive(Debug)]
pub struct Host<'t> {
    /// The clock's uuid; else the host's name.
    pub id: String,
    /// Name for people, unlike that of any other host.
    pub name: String,
    /// All names that the traces give the host, sorted.
    pub hostnames: Vec<String>,
    /// Unix time of the clock's zero, from the earliest trace, ns.
    pub offset_ns: i64,
    /// Places of its traces among those that were grouped.
    pub trace_indices: Vec<usize>,
    traces: Vec<&'t Trace>,
    sources: Vec<EventSource<'t>>,
    losses: Vec<StreamLoss>,
    uncovered: Vec<StreamLoss>,
    absent: Vec<AbsentStream>,
    begins: Vec<StreamLossBegin>,
    gaps: Vec<Window<RawNs>>,
    archives: Vec<Archive>,
    extent: Option<(RawNs, RawNs)>,
}

/// All hosts of some traces.
#[derive(Debug)]
pub struct Hosts<'t> {
    /// The hosts, by name.
    pub hosts: Vec<Host<'t>>,
    /// Places of the traces that no usable clock stamps: they are in no host.
    pub left_out: Vec<usize>,
}

impl<'t> Hosts<'t> {
    /// Puts the traces of each clock together. The result does not depend on the order of the traces, but for
    /// the `trace_indices` that it reports.
    pub fn group(traces: impl IntoIterator<Item = &'t Trace>) -> Self {
        let traces: Vec<&Trace> = traces.into_iter().collect();
        let clocks = clocks::group(&traces);
        let hosts: Vec<Host<'_>> = clocks.iter().map(|clock| Host::new(clock, &traces)).collect();
        let used: HashSet<usize> = hosts.iter().flat_map(|host| &host.trace_indices).copied().collect();
        let left_out = (0..traces.len()).filter(|place| !used.contains(place)).collect();
        Self { hosts, left_out }
    }
}

/// A channel: whether of user space, session, id of the class of its streams.
pub(crate) type ChannelKey<'k> = (bool, &'k str, u64);

/// What the same stream of all chunks of a session has in common. The kernel's come first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StreamKey {
    pub(crate) is_user_space: bool,
    pub(crate) session: String,
    pub(crate) class: u64,
    id: Option<u64>,
    /// Where packets carry no number.
    file: Option<String>,
}

impl<'t> Host<'t> {
    /// The host of a clock, whose traces are at their `trace_indices` among `all`. `O(n log n)` in their
    /// packets.
    pub fn new(clock: &HostClock, all: &[&'t Trace]) -> Self {
        let traces: Vec<&Trace> = clock.traces.iter().map(|&place| all[place]).collect();
        let (mut ranks, mut sessions) = (Vec::new(), BTreeMap::<String, usize>::new());
        let mut keyed = Vec::new();
        for (number, &trace) in traces.iter().enumerate() {
            let is_kernel = trace.schema().environment_text("domain") != Some("ust");
            let name = session_name(trace);
            let next = sessions.entry(name.clone()).or_default();
            ranks.push(*next);
            *next += 1;
            for (stream, info) in trace.streams().iter().enumerate() {
                let Some(source) = EventSource::new(trace, number, stream, is_kernel) else { continue };
                let key = StreamKey {
                    is_user_space: !is_kernel,
                    session: name.clone(),
                    class: trace.stream_class(stream).id,
                    id: info.id,
                    file: info.id.is_none().then(|| info.file.clone()),
                };
                keyed.push((key, source));
            }
        }
        keyed.sort_by(|(a, x), (b, y)| (a, x.trace_number, x.stream).cmp(&(b, y.trace_number, y.stream)));
        let mut series: Vec<(StreamKey, Vec<usize>)> = Vec::new();
        let mut sources = Vec::with_capacity(keyed.len());
        for (number, (key, mut source)) in keyed.into_iter().enumerate() {
            match series.last_mut() {
                Some((last, members)) if *last == key => members.push(number),
                _ => series.push((key, vec![number])),
            }
            source.series = series.len() - 1;
            sources.push(source);
        }
        for (_, members) in &series {
            join(&mut sources, members);
        }
        let archives = match ranks.iter().any(|&rank| rank > 0) {
            true => rotation::archives(&traces, &ranks, &sources),
            false => Vec::new(),
        };
        let mut host = Self {
            id: clock.id.clone(),
            name: clock.host.clone(),
            hostnames: clock.hostnames.clone(),
            offset_ns: clock.offset_ns,
            trace_indices: clock.traces.clone(),
            traces,
            extent: extent(&sources),
            sources,
            losses: Vec::new(),
            uncovered: Vec::new(),
            absent: Vec::new(),
            begins: Vec::new(),
            gaps: Vec::new(),
            archives,
        };
        host.find_losses(&series, &ranks);
        host.absent = host.absent_streams_of(&series);
        host
    }

    fn find_losses(&mut self, series: &[(StreamKey, Vec<usize>)], ranks: &[usize]) {
        let Some((begin, end)) = self.extent else { return };
        for source in &mut self.sources {
            source.host_end = end;
        }
        let sessions = self.ranks_with_packets(series, ranks);
        let (mut losses, mut covers, mut discards) = (Vec::new(), Vec::new(), Vec::new());
        let mut channels: BTreeMap<ChannelKey<'_>, Vec<StreamEdges>> = BTreeMap::new();
        for (key, members) in series {
            let part = |&number: &usize| {
                let source = &self.sources[number];
                (number, ranks[source.trace_number], source)
            };
            let parts: Vec<_> = members.iter().map(part).collect();
            let of_session = sessions.get(key.session.as_str()).copied().unwrap_or_default();
            let is_quiet = self.has_quiet_chunk(key, members);
            let found =
                of_series(&LogicalStream { parts, ranks: of_session, is_quiet }, Extent { begin, end });
            let channel = (key.is_user_space, key.session.as_str(), key.class);
            if let Some(edges) = self.edges(members, &found.losses) {
                channels.entry(channel).or_default().push(edges);
            }
            losses.extend(found.losses);
            discards.extend(found.discards);
            let chunks = members.iter().filter_map(|&number| {
                let source = &self.sources[number];
                Some((source.begin()?, source.end().unwrap_or(end)))
            });
            covers.push(Coverage { chunks: chunks.collect(), holes: found.holes });
        }
        let (late, uncovered) =
            self.uncovered_of(channels).into_iter().partition(|loss| self.hides_switches(loss));
        self.uncovered = uncovered;
        losses.extend::<Vec<StreamLoss>>(late);
        self.gaps = coverage::gaps(&covers);
        self.losses = coverage::without_gaps(&losses, &self.gaps);
        for (number, packet, loss) in discards {
            self.sources[number].discards.push((packet, loss));
        }
        self.sources.iter_mut().for_each(|source| source.discards.sort_unstable());
        self.begins = self.loss_starts_of(begin);
        for gap in &self.gaps {
            for source in &mut self.sources {
                match source.begin() {
                    Some(begin) if begin < gap.start => source.end_by(gap.start - 1),
                    _ => source.clamp_start = gap.end,
                }
            }
        }
    }

    /// Where the losses begin, as far as that is known before reading.
    fn loss_starts_of(&self, begin: RawNs) -> Vec<StreamLossBegin> {
        let discards = self.sources.iter().flat_map(|source| &source.discards);
        let late: BTreeSet<(usize, RawNs)> = discards.map(|(_, loss)| (loss.source, loss.to)).collect();
        let is_found_late = |loss: &StreamLoss| {
            matches!(loss.what, LossKind::Events(_)) && late.contains(&(loss.source, loss.to))
        };
        let losses = self.losses.iter().filter(|loss| !is_found_late(loss)).chain(&self.uncovered);
        let mut begins: Vec<StreamLossBegin> =
            losses.map(|&loss| StreamLossBegin::new(loss, begin)).collect();
        begins.sort_unstable();
        begins
    }

    /// Where a logical stream begins and ends; `None` where its packets do not say.
    fn edges(&self, members: &[usize], losses: &[StreamLoss]) -> Option<StreamEdges> {
        let full = |number: &&usize| !self.sources[**number].packets.is_empty();
        let (&first, &last) = (members.iter().find(full)?, members.iter().rfind(full)?);
        let lost = |from_begin: bool| {
            let edge =
                move |loss: &&StreamLoss| if from_begin { loss.source == first } else { loss.source == last };
            losses
                .iter()
                .filter(edge)
                .filter(|loss| !matches!(loss.what, LossKind::UndecodableTail | LossKind::Disorder))
        };
        let begin = self.sources[first].begin()?;
        // What is lost before the first packet or after the last one is a loss already.
        let begin = lost(true).filter(|loss| loss.to <= begin).map(|loss| loss.from).fold(begin, RawNs::min);
        let end = self.sources[last].end();
        let end = end.map(|end| lost(false).map(|loss| loss.to).fold(end, RawNs::max));
        let counters = self.sources[first].counters_of(self.sources[first].packets.start);
        let number = counters.and_then(|counters| counters.sequence);
        let is_from_start = number.is_some_and(|number| number.value == 0);
        Some(StreamEdges { first, last, begin, is_from_start, end })
    }

    /// By session: ranks of the first and the last trace that have packets which no other one has.
    fn ranks_with_packets<'k>(
        &self,
        series: &'k [(StreamKey, Vec<usize>)],
        ranks: &[usize],
    ) -> BTreeMap<&'k str, (usize, usize)> {
        let mut sessions = BTreeMap::new();
        for (key, members) in series {
            let sources = members.iter().map(|&number| &self.sources[number]);
            for source in sources.filter(|source| !source.packets.is_empty()) {
                let rank = ranks[source.trace_number];
                let (first, last) = sessions.entry(key.session.as_str()).or_insert((rank, rank));
                (*first, *last) = (rank.min(*first), rank.max(*last));
            }
        }
        sessions
    }

    /// Whether a chunk of the session has the file of a stream, but no packets in it.
    fn has_quiet_chunk(&self, key: &StreamKey, members: &[usize]) -> bool {
        let Some(first) = members.first().map(|&number| &self.sources[number]) else { return false };
        let file = &first.trace.streams()[first.stream].file;
        let has = |number: usize| members.iter().any(|&member| self.sources[member].trace_number == number);
        self.traces.iter().enumerate().any(|(number, trace)| {
            !has(number) && session_name(trace) == key.session && trace.file_names().any(|name| name == file)
        })
    }

    /// Where reading begins in streams of its traces, by place of the trace and number of the stream, if that
    /// is not their first packet: a snapshot of a buffer holds what the one before held.
    pub fn first_packets(&self) -> impl Iterator<Item = ((usize, usize), usize)> + '_ {
        let later = self.sources.iter().filter(|source| source.first_packet() > 0);
        later.map(|source| ((self.trace_indices[source.trace_number], source.stream), source.first_packet()))
    }

    /// Discarded events that a trace counts again, by place of the trace and number of the stream: the
    /// counters of a rotated session continue from chunk to chunk, and a chunk that stands alone counts all
    /// of them. Linear in the streams.
    pub fn recounted_discards(&self) -> impl Iterator<Item = ((usize, usize), u64)> + '_ {
        let with_packets = self.sources.iter().filter(|source| !source.packets.is_empty());
        let chunks = with_packets.clone().zip(with_packets.skip(1)).filter(|(a, b)| a.series == b.series);
        chunks.filter_map(|(before, after)| {
            let last = before.counters_of(before.packets.end - 1)?.discarded?;
            let first = after.counters_of(after.packets.start)?.discarded?;
            let again = first.value.saturating_sub(first.since(last)?);
            Some(((self.trace_indices[after.trace_number], after.stream), again))
        })
    }

    /// Its traces, the earliest first.
    pub fn traces(&self) -> &[&'t Trace] {
        &self.traces
    }

    /// What the session is known by that a trace is of, by the number of the trace in [`Self::traces`]: a
    /// part of its uuid, so that all chunks of a rotated session have it, whichever of them are open; 0 where
    /// it has none.
    pub fn session_of(&self, trace: usize) -> u64 {
        let uuid = self.traces.get(trace).and_then(|trace| trace.schema().uuid);
        uuid.map_or(0, |uuid| uuid.as_u64_pair().0)
    }

    /// The streams of all traces, in the order that events with equal times have.
    pub fn sources(&self) -> &[EventSource<'t>] {
        &self.sources
    }

    /// What the traces say that they lack, by the times at which it is reported, and where the channel that
    /// records which thread runs begins later on a CPU than others ([`LossKind::NotBegun`]). What a gap holds
    /// is not in it.
    pub fn losses(&self) -> &[StreamLoss] {
        &self.losses
    }

    /// Where streams begin later or end earlier than others of their channel, in the order of time. A stream
    /// that ends early does so until [`RawNs::MAX`].
    pub fn uncovered(&self) -> &[StreamLoss] {
        &self.uncovered
    }

    /// The kernel's streams of which nothing is there, as far as other streams, indexes and the first events
    /// of other CPUs show; in order.
    pub fn absent_streams(&self) -> &[AbsentStream] {
        &self.absent
    }

    /// CPUs of which nothing is there, in order.
    pub fn unrecorded_cpus(&self) -> impl Iterator<Item = u32> + '_ {
        self.absent.iter().filter(|absent| absent.channel.is_none()).map(|absent| absent.cpu)
    }

    /// CPUs of the kernel's streams, in order.
    pub fn cpus(&self) -> BTreeSet<u32> {
        self.sources.iter().filter(|source| source.is_kernel).filter_map(|source| source.cpu).collect()
    }

    /// Where losses begin, in that order, as far as it is known before reading: after the last event of a
    /// packet LTTng may have discarded some, and packets may break.
    pub(crate) fn loss_starts(&self) -> &[StreamLossBegin] {
        &self.begins
    }

    /// Times from which everything is missing.
    pub fn gaps(&self) -> &[Window<RawNs>] {
        &self.gaps
    }

    /// The chunks, where a session was rotated; else none.
    pub fn archives(&self) -> &[Archive] {
        &self.archives
    }

    /// First and last raw time, ns, as the packets say; `None` where there are none. They may begin long
    /// before the first event and end after the last: see [`Host::first_event`].
    pub fn extent(&self) -> Option<(RawNs, RawNs)> {
        self.extent
    }

    /// Whether the kernel's tracer wrote any of its traces.
    pub fn has_kernel(&self) -> bool {
        self.sources.iter().any(|source| source.is_kernel)
    }

    /// Whether programs recorded events that do not say which thread they are of: without the context `vtid`.
    /// Spans have ids instead.
    pub fn has_nameless_programs(&self) -> bool {
        self.has_class(false, |plan, class| {
            let is_span = class.payload_field(plan, &["span_id"]).is_some();
            class.context_field(plan, "vtid").is_none() && !is_span
        })
    }

    /// Whether the kernel's tracer recorded system calls that do not say which thread they are of: without
    /// the context `tid`.
    pub fn has_nameless_calls(&self) -> bool {
        const NAMES: [&str; 4] = ["syscall_", "sys_", "exit_syscall", "compat_sys"];
        self.has_class(true, |plan, class| {
            let name = class.name.as_deref().unwrap_or_default();
            NAMES.iter().any(|start| name.starts_with(start)) && class.context_field(plan, "tid").is_none()
        })
    }

    /// Whether streams of the kernel, or of programs, have such an event class. Chunks with the same metadata
    /// share what was compiled of them: that is looked at once.
    fn has_class(&self, is_kernel: bool, is_one: impl Fn(&StreamPlan, &EventPlan) -> bool) -> bool {
        let mut looked = HashSet::new();
        let sources = self.sources.iter().filter(|source| source.is_kernel == is_kernel);
        let mut plans = sources
            .map(|source| source.trace.stream_plan(source.stream))
            .filter(|plan| looked.insert(std::ptr::from_ref(*plan)));
        plans.any(|plan| plan.events.iter().any(|class| is_one(plan, class)))
    }

    /// Where its traces are parts of others: which events of these they have, in words ([`CUT_OF`]), sorted.
    pub fn parts(&self) -> BTreeSet<&str> {
        self.traces().iter().filter_map(|trace| trace.schema().environment_text(CUT_OF)).collect()
    }

    /// Bytes of all packets.
    pub fn bytes(&self) -> u64 {
        self.sources.iter().map(EventSource::bytes).sum()
    }
}

/// What the chunks of a session have in common: its uuid. A trace without one is a session of its own.
pub(crate) fn session_name(trace: &Trace) -> String {
    trace.schema().uuid.map_or_else(|| trace.path().display().to_string(), |uuid| uuid.to_string())
}

/// First and last time of sources.
fn extent(sources: &[EventSource<'_>]) -> Option<(RawNs, RawNs)> {
    let begin = sources.iter().filter_map(EventSource::begin).min()?;
    let last = |source: &EventSource<'_>| {
        source.end().or_else(|| source.begin_of(source.packets.end.checked_sub(1)?))
    };
    let end = sources.iter().filter_map(last).max().unwrap_or(begin);
    Some((begin, end.max(begin)))
}

/// Sources of one stream follow each other: a packet that two of them have is the first one's (snapshots of a
/// buffer hold what the one before held).
fn join(sources: &mut [EventSource<'_>], members: &[usize]) {
    let mut before: Option<usize> = None;
    for &number in members {
        if let Some(last) = before {
            let last_packet = sources[last].packets.end - 1;
            let known = begin_and_number(&sources[last], last_packet);
            let first = sources[number].packets.start;
            let overlaps = known.zip(begin_and_number(&sources[number], first));
            if let Some(((begin, sequence), (_, first_sequence))) =
                overlaps.filter(|(old, new)| new.0 <= old.0)
                && first_sequence <= sequence
            {
                let packets = sources[number].packets.clone();
                let known = |&packet: &usize| sources[number].begin_of(packet).is_none_or(|b| b <= begin);
                let count = packets.take_while(known).count();
                sources[number].packets.start += count;
            }
            if let Some(begin) = sources[number].begin() {
                sources[last].goes_on(begin);
            }
        }
        if !sources[number].packets.is_empty() {
            before = Some(number);
        }
    }
}

/// Start of a packet and its number in the stream, where it records both.
fn begin_and_number(source: &EventSource<'_>, packet: usize) -> Option<(RawNs, u64)> {
    let counters = source.counters_of(packet)?;
    Some((source.begin_of(packet)?, counters.sequence?.value))
}
