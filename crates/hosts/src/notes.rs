//! What a user should know of what a host lacks: the same for every command.
//!
//! [`Host::notes`] says what is known before reading; packets that cannot be decoded are diagnostics.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use isochrone_time::RawNs;

use crate::absent::ChannelRef;
use crate::clocks;
use crate::host::Host;
use crate::lists::{cpu_list, first_of};
use crate::losses::{LossKind, StreamLoss};
use crate::source::EventSource;

/// Streams that begin or end this much apart do so because a tracer starts and stops one CPU after the other,
/// ns.
const SEQUENTIAL_START_NS: i64 = 50_000_000;

/// Something that a host lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The tracer had no room for this many events, and this many packets are not there.
    Lost {
        /// Events.
        events: u64,
        /// Packets.
        packets: u64,
    },
    /// The clock offsets that its traces declare differ by this many ns.
    WallClockSet(i64),
    /// The times of packets of one stream overlap.
    Disorder {
        /// How often.
        count: usize,
        /// The longest such time, ns.
        longest: i64,
    },
    /// Nothing is there between two raw times, ns.
    MissingChunk {
        /// The first instant of which nothing is known.
        from: RawNs,
        /// The first instant after it.
        to: RawNs,
    },
    /// Files of streams are not there in a chunk, or in several.
    MissingStreams {
        /// Their names, at least one.
        files: Vec<String>,
        /// The first instant of which nothing is known of one of them, raw ns.
        from: RawNs,
        /// The first instant after which something is known of all.
        to: RawNs,
    },
    /// CPUs of which nothing is there.
    MissingCpus(Vec<u32>),
    /// CPUs of which a channel has no stream, although another one has.
    MissingInChannel {
        /// The CPUs, at least one.
        cpus: Vec<u32>,
        /// The channel, by the names of its files; where it has none, by the event that it is for.
        channel: String,
    },
    /// Streams that begin later than others that they are compared with, or end earlier.
    Unrecorded {
        /// Whether it is the start that is not there, or the end.
        is_begin: bool,
        /// The streams, at least one, those that lack most first.
        streams: Vec<Unrecorded>,
    },
}

/// A stream that does not cover the time of those that it is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unrecorded {
    /// The file.
    pub file: String,
    /// The CPU, where packets record it.
    pub cpu: Option<u32>,
    /// How much it lacks, ns.
    pub ns: i64,
}

/// Two traces of the kernel that have one CPU at one time: what both record counts twice, and they may be of
/// two machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The CPU.
    pub cpu: u32,
    /// The traces.
    pub traces: [String; 2],
}

/// Times as ns of the host's own clock.
impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(|raw| format!("{raw} ns")))
    }
}

impl Note {
    /// The note, with its instants as `time` writes them.
    pub fn words(&self, time: impl Fn(RawNs) -> String) -> String {
        let mut text = String::new();
        // Text has room for everything.
        let _ = self.write(&mut text, &time);
        text
    }

    fn write(&self, f: &mut impl fmt::Write, time: &dyn Fn(RawNs) -> String) -> fmt::Result {
        match self {
            Self::Lost { events, packets } => {
                let counts =
                    [(*events, "event"), (*packets, "packet")].into_iter().filter(|(count, _)| *count > 0);
                let lost: Vec<String> = counts
                    .map(|(count, what)| format!("{count} {what}{}", if count == 1 { "" } else { "s" }))
                    .collect();
                let were = if events.saturating_add(*packets) == 1 { "was" } else { "were" };
                write!(f, "{} {were} lost: what happened meanwhile is unknown", lost.join(" and "))
            }
            Self::WallClockSet(step) => write!(
                f,
                "the clock offsets of its traces differ by {step} ns: its wall clock was set between the recordings; times \
                 are taken from the clock itself, so nothing else changes"
            ),
            Self::Disorder { count, longest } => write!(
                f,
                "the times of the packets of a stream go back, {count} times, by up to {:.3} s: what happened then is unknown",
                *longest as f64 / 1e9
            ),
            Self::MissingChunk { from, to } => {
                write!(f, "a chunk is missing: nothing is known from {} to {}", time(*from), time(*to))
            }
            Self::MissingStreams { files, from, to } => {
                match files.as_slice() {
                    [file] => write!(f, "the stream {file} of a chunk is missing")?,
                    files => {
                        write!(f, "{} streams of a chunk are missing ({})", files.len(), first_of(files))?;
                    }
                }
                write!(f, ", from {} to {}", time(*from), time(*to))
            }
            Self::MissingCpus(cpus) => {
                let (have, it) = if cpus.len() == 1 { ("has", "it") } else { ("have", "they") };
                write!(
                    f,
                    "{} {have} no stream: what {it} did is unknown, and so is whatever may have gone on there",
                    cpu_list(cpus)
                )
            }
            Self::MissingInChannel { cpus, channel } => {
                let have = if cpus.len() == 1 { "has" } else { "have" };
                write!(
                    f,
                    "{} {have} no stream of the channel {channel}: what it would have recorded there is unknown, and so is \
                     whatever may have gone on there",
                    cpu_list(cpus)
                )
            }
            Self::Unrecorded { is_begin, streams } => {
                let (one, many, side) =
                    if *is_begin { ("begins", "begin", "later") } else { ("ends", "end", "earlier") };
                let Some(first) = streams.first() else { return Ok(()) };
                let Unrecorded { file, cpu, ns } = first;
                let who =
                    cpu.map_or_else(|| format!("the stream {file}"), |cpu| format!("CPU {cpu} ({file})"));
                let seconds = *ns as f64 / 1e9;
                match streams.len() {
                    1 => write!(
                        f,
                        "{who} {one} {seconds:.3} s {side} than other CPUs: what it did then is unknown"
                    )?,
                    count => write!(
                        f,
                        "{count} streams {many} up to {seconds:.3} s {side} than others ({who} lacks most): what their CPUs \
                         did then is unknown"
                    )?,
                }
                f.write_str(", and so is whatever may have gone on there")
            }
        }
    }
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cpu, traces: [one, other] } = self;
        write!(
            f,
            "{one} and {other} both have CPU {cpu} at one time: what both record counts twice, or they are of two machines \
             with one identity"
        )
    }
}

impl Host<'_> {
    /// What is known before reading of what the host lacks.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes: Vec<Note> = self.wall_clock_set().into_iter().collect();
        notes.extend(self.gaps().iter().map(|gap| Note::MissingChunk { from: gap.start, to: gap.end }));
        notes.extend(self.missing_streams());
        let (mut events, mut packets) = (0_u64, 0_u64);
        for loss in self.losses() {
            match loss.what {
                LossKind::Events(count) => events = events.saturating_add(count),
                LossKind::Packets(count) => packets = packets.saturating_add(count),
                _ => {}
            }
        }
        let disorders = self.losses().iter().filter(|loss| loss.what == LossKind::Disorder);
        if let Some(longest) = disorders.clone().map(|loss| loss.to - loss.from).max() {
            notes.push(Note::Disorder { count: disorders.count(), longest });
        }
        if events > 0 || packets > 0 {
            notes.push(Note::Lost { events, packets });
        }
        let mut absent: BTreeMap<Option<ChannelRef>, Vec<u32>> = BTreeMap::new();
        for stream in self.absent_streams() {
            absent.entry(stream.channel).or_default().push(stream.cpu);
        }
        notes.extend(absent.into_iter().map(|(channel, cpus)| match channel {
            None => Note::MissingCpus(cpus),
            Some(channel) => Note::MissingInChannel { cpus, channel: self.channel_name(channel) },
        }));
        for is_begin in [true, false] {
            let kind = if is_begin { LossKind::NotBegun } else { LossKind::Over };
            let of_side = self.losses().iter().chain(self.uncovered()).filter(|loss| loss.what == kind);
            let mut streams: Vec<Unrecorded> =
                of_side.filter_map(|loss| self.unrecorded(loss, is_begin)).collect();
            streams.sort_by_key(|stream| Reverse(stream.ns));
            notes.extend((!streams.is_empty()).then_some(Note::Unrecorded { is_begin, streams }));
        }
        notes
    }

    fn wall_clock_set(&self) -> Option<Note> {
        let clocks = self.traces().iter().filter_map(|trace| trace.schema().single_clock());
        let offsets = clocks.filter_map(clocks::offset_ns);
        let (least, greatest) = offsets.clone().min().zip(offsets.max())?;
        (!clocks::same_offset(least, greatest)).then(|| Note::WallClockSet(greatest.saturating_sub(least)))
    }

    /// A channel by the names of its files, without the numbers that LTTng appends; where it has none, by an
    /// event.
    fn channel_name(&self, channel: ChannelRef) -> String {
        let plan = channel.plan(self.traces());
        let is_its = |source: &&EventSource<'_>| {
            let class = source.trace().stream_class(source.stream).id;
            source.is_kernel && plan.is_some_and(|plan| plan.id == class)
        };
        let file = self.sources().iter().find(is_its).map(|it| &it.trace().streams()[it.stream].file);
        if let Some(file) = file {
            return file.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_').to_owned();
        }
        let event = plan.and_then(|plan| plan.events.iter().find_map(|class| class.name.as_deref()));
        format!("of {}", event.unwrap_or("which nothing is there"))
    }

    /// The streams that are missing altogether of a chunk: those of a common time are one note. What
    /// continues after a gap has been reported with the gap.
    fn missing_streams(&self) -> Vec<Note> {
        let is_whole = |loss: &&StreamLoss| {
            loss.what == LossKind::All && !self.gaps().iter().any(|gap| gap.end == loss.from)
        };
        let missing = self.losses().iter().filter(is_whole);
        let mut missing: Vec<(RawNs, RawNs, String)> =
            missing.filter_map(|loss| Some((loss.from, loss.to, self.file_of(loss)?))).collect();
        missing.sort();
        // With the end of the time that all streams of a note have in common.
        let mut notes: Vec<(RawNs, RawNs, RawNs, Vec<String>)> = Vec::new();
        for (from, to, file) in missing {
            match notes.last_mut() {
                Some((_, common, end, files)) if from < *common => {
                    (*common, *end) = ((*common).min(to), (*end).max(to));
                    files.push(file);
                }
                _ => notes.push((from, to, to, vec![file])),
            }
        }
        notes.into_iter().map(|(from, _, to, files)| Note::MissingStreams { files, from, to }).collect()
    }

    fn unrecorded(&self, loss: &StreamLoss, is_begin: bool) -> Option<Unrecorded> {
        let source = self.sources().get(loss.source)?;
        // What ends early is compared up to an end that the host has, or that the kernel's streams have.
        let ns = match is_begin || loss.to < RawNs::MAX {
            true => loss.to - loss.from,
            false => self.end_beside(source)? - loss.from,
        };
        let (file, cpu) = (self.file_of(loss)?, source.cpu);
        (ns > SEQUENTIAL_START_NS).then_some(Unrecorded { file, cpu, ns })
    }

    /// When the last of the streams of its session ends.
    fn end_beside(&self, stream: &EventSource<'_>) -> Option<RawNs> {
        let is_beside = |other: &&EventSource<'_>| {
            let (own, other_trace) = (stream.trace_number, other.trace_number);
            other.is_kernel == stream.is_kernel
                && (own == other_trace || self.is_one_session(own, other_trace))
        };
        self.sources().iter().filter(is_beside).filter_map(EventSource::end).max()
    }

    fn file_of(&self, loss: &StreamLoss) -> Option<String> {
        let source = self.sources().get(loss.source)?;
        Some(source.trace().streams()[source.stream].file.clone())
    }

    /// Traces of the kernel that cannot both be of this host, or record the same twice.
    pub fn contradictions(&self) -> Vec<Contradiction> {
        // By CPU: the traces that have it and their times.
        let mut by_cpu: BTreeMap<u32, Vec<(RawNs, RawNs, usize)>> = BTreeMap::new();
        for source in self.sources().iter().filter(|source| source.is_kernel) {
            if let (Some(cpu), Some(begin)) = (source.cpu, source.begin()) {
                let end = source.end().unwrap_or(begin);
                by_cpu.entry(cpu).or_default().push((begin, end, source.trace_number));
            }
        }
        let mut told: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut found = Vec::new();
        for (cpu, mut there) in by_cpu {
            there.sort_unstable();
            let mut last: Option<(RawNs, usize)> = None;
            for (begin, end, trace) in there {
                if let Some((reach, other)) = last
                    && other != trace
                    && begin < reach
                    && !self.is_one_session(other, trace)
                    && told.insert((other.min(trace), other.max(trace)))
                {
                    let path = |number: usize| self.traces()[number].path().display().to_string();
                    found.push(Contradiction { cpu, traces: [path(other), path(trace)] });
                }
                if last.is_none_or(|(reach, _)| end > reach) {
                    last = Some((end, trace));
                }
            }
        }
        found
    }

    /// Whether two traces are chunks or snapshots of one session, which may overlap.
    fn is_one_session(&self, a: usize, b: usize) -> bool {
        let uuid = |number: usize| self.traces()[number].schema().uuid;
        uuid(a).is_some() && uuid(a) == uuid(b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_one_chunk_are_one_note() {
        let files = (0..79).map(|cpu| format!("channel0_{cpu}")).collect();
        let note = Note::MissingStreams { files, from: RawNs(1), to: RawNs(9) };
        assert_eq!(
            note.to_string(),
            "79 streams of a chunk are missing (channel0_0, channel0_1, channel0_2, channel0_3, channel0_4, \
             channel0_5, channel0_6, channel0_7, …), from 1 ns to 9 ns"
        );
    }
}
