//! The recorded time of each host, by CPU, and what is missing. Hosts that lack nothing are not shown; the
//! JSON has all.

use std::io::{self, Write};

use isochrone_hosts::{LossKind, State};
use isochrone_time::{RawNs, UnixNs};
use isochrone_timing::{TimedHost, Timing};
use serde::Serialize;

use crate::render::figures::{duration, plural};
use crate::render::plain::plain;
use crate::render::table::Table;
use crate::render::time;

/// Maximum number of spans of a host.
const MAX_SPANS: usize = 24;

/// A host.
#[derive(Debug, Serialize)]
pub(crate) struct HostInfo {
    pub(crate) host: String,
    pub(crate) clock: String,
    /// Indices of its traces.
    pub(crate) traces: Vec<usize>,
    /// CPUs without a stream.
    pub(crate) missing_cpus: Vec<u32>,
    pub(crate) streams: Vec<StreamCoverage>,
    /// What it lacks, in words.
    pub(crate) notes: Vec<String>,
}

/// A stream of a host, over all chunks of its session.
#[derive(Debug, Serialize)]
pub(crate) struct StreamCoverage {
    pub(crate) file: String,
    pub(crate) cpu: Option<u32>,
    pub(crate) domain: &'static str,
    pub(crate) coverage: Vec<Span>,
}

/// A span of time.
#[derive(Debug, Serialize)]
pub(crate) struct Span {
    pub(crate) begin_ns: i128,
    pub(crate) end_ns: i128,
    pub(crate) state: &'static str,
    /// Number of missing events or packets, if known.
    pub(crate) count: Option<u64>,
}

impl HostInfo {
    pub(crate) fn new(TimedHost { traced: host, timing, .. }: &TimedHost<'_>) -> Self {
        let own = Timing::Own { offset_ns: host.offset_ns };
        let unix = |raw: i64| timing.unwrap_or(own).unix(RawNs(raw)).0;
        let span = |part: &isochrone_hosts::CoverageSpan| {
            let (state, count) = state(part.state);
            Span { begin_ns: unix(part.begin.ns()), end_ns: unix(part.end.ns()), state, count }
        };
        let timelines = host.timelines();
        let stream = |timeline: &isochrone_hosts::StreamTimeline| {
            let source = &host.sources()[timeline.source];
            StreamCoverage {
                file: source.trace().streams()[source.stream].file.clone(),
                cpu: timeline.cpu,
                domain: if timeline.is_kernel { "kernel" } else { "ust" },
                coverage: timeline.covered.iter().map(span).collect(),
            }
        };
        Self {
            host: host.name.clone(),
            clock: host.id.clone(),
            traces: host.trace_indices.clone(),
            missing_cpus: host.unrecorded_cpus().collect(),
            streams: timelines.iter().map(stream).collect(),
            notes: host.notes().iter().map(ToString::to_string).collect(),
        }
    }
}

fn state(state: State) -> (&'static str, Option<u64>) {
    match state {
        State::Recorded => ("recorded", None),
        State::Missing(LossKind::Events(count)) => ("events lost", Some(count)),
        State::Missing(LossKind::Packets(count)) => ("packets lost", Some(count)),
        State::Missing(LossKind::UndecodableTail) => ("not readable", None),
        State::Missing(LossKind::Disorder) => ("out of order", None),
        State::Missing(LossKind::All) => ("missing", None),
        State::Missing(LossKind::NotBegun) => ("not begun", None),
        State::Missing(LossKind::Over) => ("over", None),
    }
}

/// When the streams of a host were recorded, and the number of spans that are left out.
pub(crate) fn table(info: &HostInfo) -> (Table<'static>, usize) {
    let mut table = Table::new(&["recorded time of", "CPU", "from", "until", "within", ""]);
    let host = plain(&info.host);
    let spans = info.streams.iter().flat_map(|stream| stream.coverage.iter().map(move |span| (stream, span)));
    let all = spans.clone().count();
    for (stream, span) in spans.take(MAX_SPANS) {
        let what = match (span.count, span.state) {
            (Some(count), "events lost") => format!("{} lost", plural(count, "event")),
            (Some(count), _) => format!("{} lost", plural(count, "packet")),
            (None, state) => state.to_owned(),
        };
        table.add_row([
            format!("{host} {}", plain(&stream.file)),
            stream.cpu.map_or_else(|| "?".to_owned(), |cpu| cpu.to_string()),
            time::full(UnixNs(span.begin_ns)),
            time::full(UnixNs(span.end_ns)),
            duration(i64::try_from(span.end_ns - span.begin_ns).unwrap_or(i64::MAX)),
            what,
        ]);
    }
    (table, all.saturating_sub(MAX_SPANS))
}

/// Prints when a host was recorded, if something is missing of it.
pub(crate) fn print(info: &HostInfo, out: &mut impl Write) -> io::Result<()> {
    if info.notes.is_empty() {
        return Ok(());
    }
    let (table, more) = table(info);
    writeln!(out)?;
    table.print_indented(out)?;
    if more > 0 {
        writeln!(out, "  … and {more} more spans; --format json shows all")?;
    }
    for cpu in &info.missing_cpus {
        writeln!(out, "  {} CPU {cpu}: no stream", plain(&info.host))?;
    }
    Ok(())
}
