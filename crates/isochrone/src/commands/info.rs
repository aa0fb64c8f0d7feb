//! `isochrone info`: what is in traces.

use std::io::{self, Write};

use isochrone_ctf::{Diagnostic, Lost, Trace};
use isochrone_sync::record::Direction;
use isochrone_sync::{InputTrace, Inputs, hosts, tracer};
use rayon::prelude::*;
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
    let summaries: Vec<(TraceInfo, Vec<Diagnostic>)> =
        inputs.traces.par_iter().map(|input| summarize(input, &|bytes| bar.inc(bytes))).collect();
    bar.finish_and_clear();
    for (_, diagnostics) in &summaries {
        if complaints::show(diagnostics, quiet) == Ending::Partly {
            ending = Ending::Partly;
        }
    }
    let traces: Vec<TraceInfo> = summaries.into_iter().map(|(info, _)| info).collect();
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
    id: String,
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

/// Reads a whole trace, streams side by side.
fn summarize(input: &InputTrace, progress: &(dyn Fn(u64) + Sync)) -> (TraceInfo, Vec<Diagnostic>) {
    let trace = &input.trace;
    let streams: Vec<StreamCounts> =
        (0..trace.streams().len()).into_par_iter().map(|stream| count(trace, stream, progress)).collect();
    let schema = trace.schema();
    let clock = schema.single_clock();
    let ns = |cycles: Option<u64>| Some(clock?.ns_from_origin(cycles?));
    let mut classes: Vec<ClassInfo> = Vec::new();
    let mut totals = StreamCounts::default();
    for (stream, counts) in streams.into_iter().enumerate() {
        for (class, (count, bytes)) in trace.stream_class(stream).events.iter().zip(counts.classes) {
            match classes.iter_mut().find(|c| c.id == class.id && c.name == class.name) {
                Some(known) => {
                    known.count += count;
                    known.bytes += bytes;
                }
                None if count > 0 => {
                    classes.push(ClassInfo { name: class.name.clone(), id: class.id, count, bytes });
                }
                None => {}
            }
        }
        totals.events += counts.events;
        totals.first = [totals.first, counts.first].into_iter().flatten().min();
        totals.last = totals.last.max(counts.last);
        totals.lost_events += counts.lost_events;
        totals.lost_packets += counts.lost_packets;
        totals.sent += counts.sent;
        totals.received += counts.received;
        totals.diagnostics.extend(counts.diagnostics);
    }
    classes.sort_by_key(|class| (std::cmp::Reverse(class.count), class.id));
    let diagnostics =
        trace.diagnostics().iter().chain(&totals.diagnostics).map(ToString::to_string).collect();
    let info = TraceInfo {
        path: input.path().display().to_string(),
        host: hosts::hostname(trace).map(str::to_owned),
        domain: schema.environment_text("domain").map(str::to_owned),
        ctf_version: format!("{}.{}", schema.version.0, schema.version.1),
        clock: clock.map(|clock| ClockInfo {
            id: hosts::clock_id(trace).unwrap_or_default(),
            name: clock.name.clone(),
            frequency_hz: clock.frequency,
            offset_ns: clock.offset_ns(),
        }),
        streams: trace.streams().len(),
        packets: trace.streams().iter().map(|s| s.packets.len()).sum(),
        events: totals.events,
        begin_ns: ns(totals.first),
        end_ns: ns(totals.last),
        discarded_events: totals.lost_events,
        discarded_packets: totals.lost_packets,
        event_classes: classes,
        diagnostics,
        packets_to_match: (totals.sent, totals.received),
    };
    (info, totals.diagnostics)
}

#[derive(Default)]
struct StreamCounts {
    events: u64,
    first: Option<u64>,
    last: Option<u64>,
    lost_events: u64,
    lost_packets: u64,
    sent: u64,
    received: u64,
    /// Per event class: events, bytes.
    classes: Vec<(u64, u64)>,
    diagnostics: Vec<Diagnostic>,
}

fn count(trace: &Trace, stream: usize, progress: &(dyn Fn(u64) + Sync)) -> StreamCounts {
    let plan = trace.stream_plan(stream);
    let extractors: Vec<_> = plan.events.iter().map(|class| tracer::extractor(plan, class)).collect();
    let mut counts = StreamCounts { classes: vec![(0, 0); plan.events.len()], ..StreamCounts::default() };
    let mut events = trace.events(stream);
    let mut packet = None;
    for event in events.by_ref() {
        if packet.is_none_or(|last| !std::ptr::eq(last, event.packet())) {
            packet = Some(event.packet());
            progress(event.packet().total_bits / 8);
        }
        counts.events += 1;
        let class = &mut counts.classes[event.class().index];
        class.0 += 1;
        class.1 += event.size();
        counts.first = counts.first.or(event.cycles()).min(event.cycles());
        counts.last = counts.last.max(event.cycles());
        if let Some(extractor) = &extractors[event.class().index]
            && extractor.packet(&event).is_some()
        {
            match extractor.direction() {
                Direction::Sent => counts.sent += 1,
                Direction::Received => counts.received += 1,
            }
        }
    }
    counts.diagnostics.extend_from_slice(events.diagnostics());
    for loss in trace.losses(stream) {
        match loss.lost {
            Lost::Events(count) => counts.lost_events += count,
            Lost::Packets(count) => counts.lost_packets += count,
        }
    }
    counts
}

fn text(info: &TraceInfo, out: &mut impl Write) -> io::Result<()> {
    let host = info.host.as_deref().unwrap_or("unknown host");
    let domain = info.domain.as_deref().map(|domain| format!(", {domain}")).unwrap_or_default();
    writeln!(out, "{}: {host}{domain}, CTF {}", info.path, info.ctf_version)?;
    match &info.clock {
        Some(clock) => {
            writeln!(out, "  clock      {} ({}), {} Hz", clock.name, clock.id, clock.frequency_hz)?;
        }
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
