//! The content of a trace, from its metadata and one pass over it. The JSON has all of it, as described in `docs/json-output.md`; numbers are
//! exact, whatever their size.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use isochrone_ctf::schema::{ClockClass, EnvironmentValue};
use isochrone_ctf::{Loss, Lost, Trace};
use isochrone_files::InputTrace;
use isochrone_hosts::clocks;
use isochrone_matching::traffic::packet_events;
use isochrone_matching::{StreamFacts, Tally, TraceFacts};
use isochrone_net::Direction;
use isochrone_time::UnixNs;
use serde::{Serialize, Serializer};

use super::captured::CaptureInfo;
use super::coverage::HostInfo;

/// All traces and captures.
#[derive(Debug, Serialize)]
pub(crate) struct Document<'t> {
    pub(crate) traces: Vec<TraceInfo<'t>>,
    pub(crate) captures: Vec<CaptureInfo>,
    pub(crate) hosts: Vec<HostInfo>,
}

/// One trace. What is not known is `None`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct TraceInfo<'t> {
    pub(crate) path: String,
    pub(crate) host: Option<&'t str>,
    pub(crate) domain: Option<&'t str>,
    pub(crate) ctf_version: String,
    pub(crate) uuid: Option<String>,
    pub(crate) uid: Option<&'t str>,
    pub(crate) environment: BTreeMap<&'t str, Setting<'t>>,
    /// The one clock that stamps all streams.
    pub(crate) clock: Option<ClockInfo<'t>>,
    pub(crate) clocks: Vec<ClockInfo<'t>>,
    pub(crate) streams: usize,
    pub(crate) stream_list: Vec<StreamInfo<'t>>,
    /// Files without a packet that could be used.
    pub(crate) empty_files: Vec<&'t str>,
    #[serde(flatten)]
    pub(crate) totals: Totals,
    pub(crate) losses: Gaps<'t>,
    /// Inode numbers of the pid namespaces of containers.
    pub(crate) pid_namespaces: BTreeSet<u64>,
    pub(crate) event_classes: Vec<ClassInfo<'t>>,
    pub(crate) diagnostics: Vec<String>,
    /// Events that show packets leave and arrive, for people.
    #[serde(skip)]
    pub(crate) network: (u64, u64),
    /// Number of chunks of a rotated session that it stands for, for people.
    #[serde(skip)]
    pub(crate) chunks: usize,
}

/// A value of the environment.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(untagged)]
pub(crate) enum Setting<'t> {
    Integer(i64),
    Text(&'t str),
}

/// A clock class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ClockInfo<'t> {
    /// The identity that its traces share: the uuid, else the uid with the names before it.
    pub(crate) id: Option<String>,
    pub(crate) name: &'t str,
    pub(crate) uuid: Option<String>,
    pub(crate) namespace: Option<&'t str>,
    pub(crate) uid: Option<&'t str>,
    pub(crate) description: Option<&'t str>,
    pub(crate) frequency_hz: u64,
    /// In cycles.
    pub(crate) precision: u64,
    pub(crate) offset_s: i64,
    pub(crate) offset_cycles: i64,
    /// Both offsets together, rounded down.
    pub(crate) offset_ns: i128,
    pub(crate) absolute: bool,
    /// In cycles.
    pub(crate) accuracy: Option<u64>,
    pub(crate) origin: Option<OriginInfo<'t>>,
}

/// The named origin of a clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct OriginInfo<'t> {
    pub(crate) namespace: Option<&'t str>,
    pub(crate) name: &'t str,
    pub(crate) uid: &'t str,
}

/// A stream.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct StreamInfo<'t> {
    pub(crate) class_id: u64,
    pub(crate) stream_id: Option<u64>,
    /// The first of its files.
    pub(crate) file: &'t str,
    /// Index into the clocks.
    pub(crate) clock: Option<usize>,
    #[serde(flatten)]
    pub(crate) totals: Totals,
}

/// What a trace or a stream has.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Totals {
    pub(crate) packets: usize,
    /// Size of its packets, with padding.
    pub(crate) bytes: u64,
    pub(crate) events: u64,
    /// Time of the first event; `None`: unknown.
    pub(crate) begin_ns: Option<UnixNs>,
    /// Time of the last event.
    pub(crate) end_ns: Option<UnixNs>,
    pub(crate) discarded_events: u128,
    pub(crate) discarded_packets: u128,
}

impl Totals {
    /// Adds those of another part.
    pub(super) fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
        self.events += other.events;
        self.begin_ns = self.begin_ns.into_iter().chain(other.begin_ns).min();
        self.end_ns = self.end_ns.max(other.end_ns);
        self.discarded_events = self.discarded_events.saturating_add(other.discarded_events);
        self.discarded_packets = self.discarded_packets.saturating_add(other.discarded_packets);
    }
}

/// All that is missing, by trace and stream. There can be as many gaps as packets: each is made when it is shown.
#[derive(Debug, Clone)]
pub(crate) struct Gaps<'t> {
    parts: Vec<(&'t Trace, &'t TraceFacts)>,
}

/// Events or packets that the tracer could not write, and where they are missing.
#[derive(Debug, Serialize)]
pub(crate) struct Gap<'t> {
    /// Index into the streams.
    pub(crate) stream: usize,
    pub(crate) file: &'t str,
    pub(crate) kind: Kind,
    pub(crate) count: u64,
    /// Number of the packet in the stream that shows the gap.
    pub(crate) packet: usize,
    pub(crate) begin_ns: Option<UnixNs>,
    pub(crate) end_ns: Option<UnixNs>,
}

/// What is missing in a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Events,
    Packets,
}

/// An event class that occurs.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ClassInfo<'t> {
    pub(crate) name: Option<&'t str>,
    pub(crate) id: u64,
    pub(crate) count: u64,
    pub(crate) bytes: u64,
}

impl<'t> TraceInfo<'t> {
    /// Of a trace and what one pass over it gave. Linear in its packets and event classes.
    pub(crate) fn new(input: &'t InputTrace, facts: &'t TraceFacts) -> Self {
        let trace = &input.trace;
        let schema = trace.schema();
        let stream_list: Vec<StreamInfo<'_>> = facts
            .streams
            .iter()
            .enumerate()
            .map(|(stream, facts)| StreamInfo::new(trace, stream, facts))
            .collect();
        let mut totals = Totals::default();
        for stream in &stream_list {
            totals.add(&stream.totals);
        }
        Self {
            path: input.path().display().to_string(),
            host: clocks::hostname(trace),
            domain: schema.environment_text("domain"),
            ctf_version: format!("{}.{}", schema.version.0, schema.version.1),
            uuid: schema.uuid.map(|uuid| uuid.to_string()),
            uid: schema.uid.as_deref(),
            environment: schema
                .environment
                .iter()
                .map(|(name, value)| (name.as_str(), value.into()))
                .collect(),
            clock: schema.single_clock().map(ClockInfo::new),
            clocks: schema.clocks.iter().map(ClockInfo::new).collect(),
            streams: stream_list.len(),
            empty_files: empty_files(trace),
            totals,
            losses: Gaps { parts: vec![(trace, facts)] },
            pid_namespaces: facts.streams.iter().flat_map(|it| &it.pid_namespaces).copied().collect(),
            event_classes: event_classes(trace, facts),
            diagnostics: trace
                .diagnostics()
                .iter()
                .chain(facts.diagnostics())
                .map(ToString::to_string)
                .collect(),
            network: (
                packet_events(trace, facts, Direction::Sent),
                packet_events(trace, facts, Direction::Received),
            ),
            stream_list,
            chunks: 1,
        }
    }
}

impl<'t> From<&'t EnvironmentValue> for Setting<'t> {
    fn from(value: &'t EnvironmentValue) -> Self {
        match value {
            EnvironmentValue::Integer(number) => Self::Integer(*number),
            EnvironmentValue::Text(text) => Self::Text(text),
        }
    }
}

impl<'t> ClockInfo<'t> {
    fn new(clock: &'t ClockClass) -> Self {
        Self {
            id: clock.identity(),
            name: &clock.name,
            uuid: clock.uuid.map(|uuid| uuid.to_string()),
            namespace: clock.namespace.as_deref(),
            uid: clock.uid.as_deref(),
            description: clock.description.as_deref(),
            frequency_hz: clock.frequency,
            precision: clock.precision,
            offset_s: clock.offset_s,
            offset_cycles: clock.offset_cycles,
            offset_ns: clock.offset_ns(),
            absolute: clock.absolute,
            accuracy: clock.accuracy,
            origin: clock.origin.as_ref().map(|origin| OriginInfo {
                namespace: origin.namespace.as_deref(),
                name: &origin.name,
                uid: &origin.uid,
            }),
        }
    }
}

impl<'t> StreamInfo<'t> {
    fn new(trace: &'t Trace, stream: usize, facts: &StreamFacts) -> Self {
        let found = &trace.streams()[stream];
        Self {
            class_id: trace.stream_class(stream).id,
            stream_id: found.id,
            file: &found.file,
            clock: trace.stream_class(stream).clock,
            totals: Totals {
                packets: found.packets.len() - facts.first_packet,
                bytes: facts.bytes,
                events: facts.events(),
                begin_ns: unix(trace, stream, facts.first),
                end_ns: unix(trace, stream, facts.last),
                discarded_events: facts.lost_events(),
                discarded_packets: facts.lost_packets(),
            },
        }
    }
}

impl<'t> Gaps<'t> {
    pub(crate) fn len(&self) -> usize {
        let streams = self.parts.iter().flat_map(|(_, facts)| &facts.streams);
        streams.map(|stream| stream.losses.len()).sum()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Gap<'t>> {
        self.parts.iter().flat_map(|&(trace, facts)| {
            let streams = facts.streams.iter().enumerate();
            streams.flat_map(move |(stream, facts)| {
                facts.losses.iter().map(move |loss| Gap::new(trace, stream, loss))
            })
        })
    }

    /// Appends those of other traces.
    pub(super) fn extend(&mut self, others: &Self) {
        self.parts.extend_from_slice(&others.parts);
    }
}

impl Serialize for Gaps<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'t> Gap<'t> {
    fn new(trace: &'t Trace, stream: usize, loss: &Loss) -> Self {
        let (kind, count) = match loss.lost {
            Lost::Events(count) => (Kind::Events, count),
            Lost::Packets(count) => (Kind::Packets, count),
        };
        Self {
            stream,
            file: &trace.streams()[stream].file,
            kind,
            count,
            packet: loss.before_packet,
            begin_ns: unix(trace, stream, loss.begin),
            end_ns: unix(trace, stream, loss.end),
        }
    }
}

/// A time of a stream, where it has a clock.
fn unix(trace: &Trace, stream: usize, cycles: Option<u64>) -> Option<UnixNs> {
    Some(UnixNs(trace.clock(stream)?.ns_from_origin(cycles?)))
}

/// Files of a trace that no packet is in.
fn empty_files(trace: &Trace) -> Vec<&str> {
    let packets = trace.streams().iter().flat_map(|stream| &stream.packets);
    let full: HashSet<&str> = packets.map(|packet| trace.packet_file_name(packet)).collect();
    trace.file_names().filter(|name| !full.contains(name)).collect()
}

/// The event classes that occur, the most frequent first. Classes of several streams that have id and name in common are
/// one.
fn event_classes<'t>(trace: &'t Trace, facts: &TraceFacts) -> Vec<ClassInfo<'t>> {
    let mut classes: BTreeMap<(u64, Option<&str>), Tally> = BTreeMap::new();
    for (stream, facts) in facts.streams.iter().enumerate() {
        let tallies = trace.stream_class(stream).events.iter().zip(&facts.classes);
        for (class, tally) in tallies.filter(|(_, tally)| tally.count > 0) {
            let total = classes.entry((class.id, class.name.as_deref())).or_default();
            total.count += tally.count;
            total.bytes += tally.bytes;
        }
    }
    let classes = classes.into_iter();
    let mut classes: Vec<ClassInfo<'_>> =
        classes.map(|((id, name), Tally { count, bytes })| ClassInfo { name, id, count, bytes }).collect();
    sort_classes(&mut classes);
    classes
}

/// The most frequent first.
pub(super) fn sort_classes(classes: &mut [ClassInfo<'_>]) {
    classes.sort_by_key(|class| (Reverse(class.count), class.id));
}
