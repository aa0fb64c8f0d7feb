//! `isochrone info`: what is in traces.

use std::collections::BTreeMap;
use std::io::{self, Write};

use isochrone_sync::{InputTrace, Inputs, TraceFacts, extract, hosts};
use serde::Serialize;

use crate::Ending;
use crate::arguments::{Info, ReportFormat};
use crate::progress;
use crate::render::{complaints, figures, time};

/// Event classes that the text shows of a trace; the JSON has all.
const MAX_CLASSES: usize = 12;

pub(crate) fn run(arguments: &Info, quiet: bool) -> anyhow::Result<Ending> {
    let inputs = Inputs::open(&arguments.traces);
    let mut ending = complaints::of_inputs(&inputs, quiet)?;
    let bar = progress::over_bytes(&inputs, "reading", quiet);
    let traces: Vec<_> = inputs.traces.iter().map(|input| (&input.trace, 0)).collect();
    let facts = extract(&traces, &|bytes| bar.inc(bytes)).facts;
    bar.finish_and_clear();
    for facts in &facts {
        ending = ending.max(complaints::show(&facts.diagnostics, quiet));
    }
    let traces: Vec<TraceInfo> =
        inputs.traces.iter().zip(&facts).map(|(input, facts)| summarize(input, facts)).collect();
    let mut stdout = io::stdout().lock();
    match arguments.format {
        ReportFormat::Json => {
            serde_json::to_writer_pretty(&mut stdout, &Document { traces })?;
            writeln!(stdout)?;
        }
        ReportFormat::Text => {
            for info in &traces {
                text(info, &mut stdout)?;
            }
        }
    }
    Ok(ending)
}

#[derive(Serialize)]
struct Document {
    traces: Vec<TraceInfo>,
}

/// One trace, as the JSON shows it.
#[derive(Debug, Serialize)]
struct TraceInfo {
    path: String,
    host: Option<String>,
    domain: Option<String>,
    ctf_version: String,
    clock: Option<ClockInfo>,
    /// Declared clocks, for people.
    #[serde(skip)]
    clocks: usize,
    streams: usize,
    packets: usize,
    events: u64,
    begin_ns: Option<i128>,
    end_ns: Option<i128>,
    discarded_events: u64,
    discarded_packets: u64,
    event_classes: Vec<ClassInfo>,
    diagnostics: Vec<String>,
    /// What `sync` would find here, for people.
    #[serde(skip)]
    packets_to_match: (u64, u64),
}

#[derive(Debug, Serialize)]
struct ClockInfo {
    /// Uuid.
    id: Option<String>,
    name: String,
    frequency_hz: u64,
    offset_ns: i128,
}

#[derive(Debug, Clone, Serialize)]
struct ClassInfo {
    name: Option<String>,
    id: u64,
    count: u64,
    bytes: u64,
}

/// What one pass over a trace gave, as people and programs want it.
fn summarize(input: &InputTrace, facts: &TraceFacts) -> TraceInfo {
    let trace = &input.trace;
    let schema = trace.schema();
    let clock = schema.single_clock();
    let ns = |cycles: Option<u64>| Some(clock?.ns_from_origin(cycles?));
    let mut classes: BTreeMap<(u64, Option<&str>), (u64, u64)> = BTreeMap::new();
    for (stream, counts) in facts.classes.iter().enumerate() {
        for (class, &(count, bytes)) in trace.stream_class(stream).events.iter().zip(counts) {
            let total = classes.entry((class.id, class.name.as_deref())).or_default();
            *total = (total.0 + count, total.1 + bytes);
        }
    }
    let mut event_classes: Vec<ClassInfo> = classes
        .into_iter()
        .filter(|(_, (count, _))| *count > 0)
        .map(|((id, name), (count, bytes))| ClassInfo { name: name.map(str::to_owned), id, count, bytes })
        .collect();
    event_classes.sort_by_key(|class| (std::cmp::Reverse(class.count), class.id));
    TraceInfo {
        path: input.path().display().to_string(),
        host: hosts::hostname(trace).map(str::to_owned),
        domain: schema.environment_text("domain").map(str::to_owned),
        ctf_version: format!("{}.{}", schema.version.0, schema.version.1),
        clock: clock.map(|clock| ClockInfo {
            id: hosts::clock_uuid(trace),
            name: clock.name.clone(),
            frequency_hz: clock.frequency,
            offset_ns: clock.offset_ns(),
        }),
        clocks: schema.clocks.len(),
        streams: trace.streams().len(),
        packets: trace.streams().iter().map(|s| s.packets.len()).sum(),
        events: facts.events,
        begin_ns: ns(facts.first),
        end_ns: ns(facts.last),
        discarded_events: facts.discarded_events,
        discarded_packets: facts.discarded_packets,
        event_classes,
        diagnostics: trace.diagnostics().iter().chain(&facts.diagnostics).map(ToString::to_string).collect(),
        packets_to_match: (facts.sent.packets, facts.received.packets),
    }
}

fn text(info: &TraceInfo, out: &mut impl Write) -> io::Result<()> {
    let host = info.host.as_deref().unwrap_or("unknown host");
    let domain = info.domain.as_deref().map(|domain| format!(", {domain}")).unwrap_or_default();
    writeln!(out, "{}: {host}{domain}, CTF {}", info.path, info.ctf_version)?;
    match &info.clock {
        Some(clock) => {
            let id = clock.id.as_deref().unwrap_or("no uuid");
            writeln!(out, "  clock      {} ({id}), {} Hz", clock.name, clock.frequency_hz)?;
        }
        None if info.clocks > 1 => writeln!(out, "  clock      {} clocks", info.clocks)?,
        None => writeln!(out, "  clock      none")?,
    }
    if let Some((begin, end)) = info.begin_ns.zip(info.end_ns) {
        let length = i64::try_from(end - begin).unwrap_or(i64::MAX);
        writeln!(
            out,
            "  time       {} … {} ({})",
            time::full(begin),
            time::full(end),
            figures::duration(length)
        )?;
    }
    let (events, packets) = (figures::count(info.events), figures::count(info.packets as u64));
    writeln!(
        out,
        "  events     {events} in {packets} packets of {}",
        figures::plural(info.streams, "stream")
    )?;
    if info.discarded_events > 0 || info.discarded_packets > 0 {
        let (events, packets) =
            (figures::count(info.discarded_events), figures::count(info.discarded_packets));
        writeln!(out, "  lost       {events} events and {packets} packets that the tracer could not write")?;
    }
    let (sent, received) = info.packets_to_match;
    match (sent, received) {
        (0, 0) => writeln!(out, "  for sync   nothing: no TCP packet with its headers was traced")?,
        _ => writeln!(
            out,
            "  for sync   {} TCP packets sent, {} received",
            figures::count(sent),
            figures::count(received)
        )?,
    }
    for class in info.event_classes.iter().take(MAX_CLASSES) {
        let (count, bytes) = (figures::count(class.count), figures::count(class.bytes));
        writeln!(out, "  {count:>12}  {bytes:>14} B  {}", class.name.as_deref().unwrap_or("(unnamed)"))?;
    }
    if let Some(more) = info.event_classes.len().checked_sub(MAX_CLASSES + 1) {
        writeln!(out, "  … and {} more kinds of events (--format json shows all)", more + 1)?;
    }
    Ok(())
}
