//! What a user should know of what a host lacks: the same for every command.
//!
//! [`Host::notes`] says what is known before reading; packets that cannot be decoded are diagnostics.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::host::Host;
use crate::losses::{LossKind, StreamLoss};
use crate::window::Time;

/// Streams that begin or end this much apart do so because a tracer starts and stops one CPU after the other, ns.
const ONE_AFTER_THE_OTHER: Time = 50_000_000;

/// Something that a host lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The tracer had no room for so many events, and so many packets are not there.
    Lost {
        /// Events.
        events: u64,
        /// Packets.
        packets: u64,
    },
    /// Nothing is there between two raw times, ns.
    MissingChunk {
        /// The first instant of which nothing is known.
        from: Time,
        /// The first instant after it.
        to: Time,
    },
    /// The file of a stream is not there in a chunk, or in several.
    MissingStream {
        /// Its name.
        file: String,
        /// The first instant of which nothing is known, raw ns.
        from: Time,
        /// The first instant after it.
        to: Time,
    },
    /// A CPU of which nothing is there.
    MissingCpu(u32),
    /// A stream begins so many ns later than others of its channel, or ends earlier.
    Unrecorded(Unrecorded),
}

/// A stream that does not cover the time of its channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unrecorded {
    /// The file.
    pub file: String,
    /// The CPU, where packets record it.
    pub cpu: Option<u32>,
    /// Whether it is the begin that is not there, or the end.
    pub is_begin: bool,
    /// How long it is, ns.
    pub ns: Time,
}

/// Two traces of the kernel that have one CPU at one time: what both record counts twice, and they may be of two machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The CPU.
    pub cpu: u32,
    /// The traces.
    pub traces: [String; 2],
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
            Self::MissingChunk { from, to } => {
                write!(f, "a chunk is missing: nothing is known from {from} to {to} ns")
            }
            Self::MissingStream { file, from, to } => {
                write!(f, "the stream {file} of a chunk is missing, from {from} to {to} ns")
            }
            Self::MissingCpu(cpu) => write!(
                f,
                "CPU {cpu} has no stream: what it did is unknown, and so is whatever may have gone on there"
            ),
            Self::Unrecorded(Unrecorded { file, cpu, is_begin, ns }) => {
                let who =
                    cpu.map_or_else(|| format!("the stream {file}"), |cpu| format!("CPU {cpu} ({file})"));
                let what = if *is_begin { "begins" } else { "ends" };
                let side = if *is_begin { "later" } else { "earlier" };
                let seconds = *ns as f64 / 1e9;
                write!(
                    f,
                    "{who} {what} {seconds:.3} s {side} than other CPUs: what it did then is unknown, and so is whatever \
                     may have gone on there"
                )
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
        let mut notes: Vec<Note> =
            self.gaps().iter().map(|gap| Note::MissingChunk { from: gap.from, to: gap.to }).collect();
        notes.extend(self.losses().iter().filter_map(|loss| self.missing_stream(loss)));
        let (mut events, mut packets) = (0_u64, 0_u64);
        for loss in self.losses() {
            match loss.what {
                LossKind::Events(count) => events = events.saturating_add(count),
                LossKind::Packets(count) => packets = packets.saturating_add(count),
                _ => {}
            }
        }
        if events > 0 || packets > 0 {
            notes.push(Note::Lost { events, packets });
        }
        notes.extend(self.absent_cpus().iter().map(|&cpu| Note::MissingCpu(cpu)));
        notes.extend(self.uncovered().iter().filter_map(|loss| self.unrecorded(loss)).map(Note::Unrecorded));
        notes
    }

    /// Says that a stream of a chunk is missing altogether, if that is what a loss means. What goes on after a gap has been
    /// reported with the gap.
    pub(crate) fn missing_stream(&self, loss: &StreamLoss) -> Option<Note> {
        let StreamLoss { from, to, .. } = *loss;
        if loss.what != LossKind::All || self.gaps().iter().any(|gap| gap.to == from) {
            return None;
        }
        Some(Note::MissingStream { file: self.file_of(loss)?, from, to })
    }

    fn unrecorded(&self, loss: &StreamLoss) -> Option<Unrecorded> {
        let (begin, end) = self.extent()?;
        let is_begin = loss.what == LossKind::NotBegun;
        let ns = if is_begin { loss.to - begin } else { end - loss.from };
        let cpu = self.sources().get(loss.source)?.cpu;
        (ns > ONE_AFTER_THE_OTHER).then_some(Unrecorded { file: self.file_of(loss)?, cpu, is_begin, ns })
    }

    fn file_of(&self, loss: &StreamLoss) -> Option<String> {
        let source = self.sources().get(loss.source)?;
        Some(source.trace().streams()[source.stream].file.clone())
    }

    /// Traces of the kernel that cannot both be of this host, or record the same twice.
    pub fn contradictions(&self) -> Vec<Contradiction> {
        // By CPU: the traces that have it and their times.
        let mut by_cpu: BTreeMap<u32, Vec<(Time, Time, usize)>> = BTreeMap::new();
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
            let mut last: Option<(Time, usize)> = None;
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
