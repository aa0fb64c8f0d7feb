//! `isochrone events`: events of many traces in the order of time.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use isochrone_ctf::json::{Floats, JsonVisitor};
use isochrone_ctf::merge::Merge;
use isochrone_ctf::schema::Scope;
use isochrone_ctf::text::TextVisitor;
use isochrone_ctf::{Event, Packet, json};
use isochrone_sync::apply::{Clock, Clocks, Converted};
use isochrone_sync::artefact::Artefact;
use isochrone_sync::{InputTrace, Inputs, hosts};

use crate::Ending;
use crate::arguments::{EventFormat, Events};
use crate::render::{complaints, time};

/// Lines are handed to stdout in pieces of this size.
const FLUSH_AT: usize = 1 << 16;

pub(crate) fn run(arguments: &Events, quiet: bool) -> anyhow::Result<Ending> {
    let clocks = arguments.sync.as_deref().map(read_clocks).transpose()?;
    let inputs = Inputs::open(&arguments.traces);
    let mut ending = complaints::of_inputs(&inputs, quiet)?;
    let mut sources = Vec::new();
    for input in &inputs.traces {
        match Source::new(input, clocks.as_ref()) {
            Some(source) => sources.push(source),
            None => {
                eprintln!(
                    "warning: {}: no correction for its clock is known; left out",
                    input.path().display()
                );
                ending = Ending::Partly;
            }
        }
    }
    warn_of_islands(&sources);
    sources.retain(|source| arguments.hosts.is_empty() || arguments.hosts.contains(&source.host));

    let streams = sources.iter().enumerate().flat_map(|(number, source)| {
        let trace = &source.input.trace;
        (0..trace.streams().len()).map(move |stream| (number, trace.events(stream)))
    });
    let mut merge = Merge::new(streams, |source: usize, event: &Event<'_>| sources[source].unix_ns(event));
    let mut printer = Printer::new(arguments, &sources);
    let mut stdout = io::stdout().lock();
    for (source, unix_ns, event) in merge.by_ref() {
        if selected(arguments, unix_ns, &event) {
            printer.event(source, unix_ns, &event);
            if printer.out.len() >= FLUSH_AT {
                stdout.write_all(&printer.out)?;
                printer.out.clear();
            }
        }
    }
    stdout.write_all(&printer.out)?;
    stdout.flush()?;
    let lost: Vec<_> = merge.diagnostics().cloned().collect();
    let read = complaints::show(&lost, quiet);
    Ok(if ending == Ending::Done { read } else { ending })
}

/// Reads the corrections of a `sync.json`.
pub(crate) fn read_clocks(path: &Path) -> anyhow::Result<Clocks> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let artefact = Artefact::from_json(&text).with_context(|| path.display().to_string())?;
    Clocks::new(&artefact).with_context(|| path.display().to_string())
}

/// A trace and the way its times are shown.
struct Source<'i> {
    input: &'i InputTrace,
    host: String,
    clock: Option<&'i Clock>,
}

impl<'i> Source<'i> {
    /// `None` where corrections are asked for and there is none for this trace.
    fn new(input: &'i InputTrace, clocks: Option<&'i Clocks>) -> Option<Self> {
        let named = hosts::hostname(&input.trace).unwrap_or_default().to_owned();
        match clocks {
            None => Some(Self { input, host: named, clock: None }),
            Some(clocks) => {
                let clock = clocks.of_trace(&input.trace)?;
                // Containers keep their own names; hosts of equal names are told apart.
                let host = if clock.entry.hostnames.len() > 1 { named } else { clock.entry.host.clone() };
                Some(Self { input, host, clock: Some(clock) })
            }
        }
    }

    fn raw_ns(&self, event: &Event<'_>) -> Option<i64> {
        let class = self.input.trace.clock(event.stream())?;
        i64::try_from(class.raw_ns(event.cycles()?)).ok()
    }

    /// Unix time of an event; none where it has no time.
    fn unix_ns(&self, event: &Event<'_>) -> Option<i128> {
        match self.clock {
            Some(clock) => Some(clock.unix_ns(self.raw_ns(event)?)),
            None => Some(self.input.trace.clock(event.stream())?.ns_from_origin(event.cycles()?)),
        }
    }
}

/// Times of different islands cannot be compared: the order between them means nothing.
fn warn_of_islands(sources: &[Source<'_>]) {
    let mut islands: Vec<usize> =
        sources.iter().filter_map(|s| s.clock).map(|clock| clock.entry.island).collect();
    islands.sort_unstable();
    islands.dedup();
    if islands.len() > 1 {
        eprintln!(
            "warning: the hosts fall into {} islands; the order of events of different islands is not known",
            islands.len()
        );
    }
}

fn selected(arguments: &Events, unix_ns: Option<i128>, event: &Event<'_>) -> bool {
    let Events { begin, end, names, .. } = arguments;
    let in_time = match unix_ns {
        Some(time) => begin.is_none_or(|begin| time >= begin) && end.is_none_or(|end| time < end),
        None => begin.is_none() && end.is_none(),
    };
    let name = event.name().unwrap_or_default();
    in_time && (names.is_empty() || names.iter().any(|pattern| matches(pattern, name)))
}

/// Whether a name fits a pattern in which `*` stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

/// A packet, and its context as printed.
type ShownContext<'i> = (&'i Packet, Vec<u8>);

/// Appends events to a buffer.
struct Printer<'i> {
    out: Vec<u8>,
    format: EventFormat,
    date: bool,
    sources: &'i [Source<'i>],
    last_time: Option<i128>,
    /// The packet of the last event of each stream, and its context as printed: the same for many events.
    contexts: Vec<Vec<Option<ShownContext<'i>>>>,
}

impl<'i> Printer<'i> {
    fn new(arguments: &Events, sources: &'i [Source<'i>]) -> Self {
        let contexts =
            sources.iter().map(|s| s.input.trace.streams().iter().map(|_| None).collect()).collect();
        Self {
            out: Vec::with_capacity(FLUSH_AT * 2),
            format: arguments.format,
            date: arguments.date,
            sources,
            last_time: None,
            contexts,
        }
    }

    fn event(&mut self, source: usize, unix_ns: Option<i128>, event: &Event<'i>) {
        self.refresh_context(source, event);
        match self.format {
            EventFormat::Text => self.text(source, unix_ns, event),
            EventFormat::Json => self.json(source, unix_ns, event),
        }
        self.out.push(b'\n');
    }

    fn refresh_context(&mut self, source: usize, event: &Event<'i>) {
        let slot = &mut self.contexts[source][event.stream()];
        if slot.as_ref().is_some_and(|(packet, _)| std::ptr::eq(*packet, event.packet())) {
            return;
        }
        let mut shown = Vec::new();
        let complete = match self.format {
            EventFormat::Text => {
                let mut visitor = TextVisitor::new(&mut shown);
                event.trace().visit_packet_context(event.stream(), event.packet(), &mut visitor)
            }
            EventFormat::Json => {
                let mut visitor = JsonVisitor::new(&mut shown, Floats::Numbers);
                event.trace().visit_packet_context(event.stream(), event.packet(), &mut visitor)
            }
        };
        if complete.is_none() {
            shown.clear();
        }
        *slot = Some((event.packet(), shown));
    }

    /// `[time] (+since last) host name: { packet context }, { contexts }, { fields }`
    fn text(&mut self, source: usize, unix_ns: Option<i128>, event: &Event<'_>) {
        if let Some(time) = unix_ns {
            self.out.push(b'[');
            time::put(&mut self.out, time, self.date);
            self.out.extend_from_slice(b"] (");
            self.since_last(time);
            self.out.extend_from_slice(b") ");
            self.last_time = Some(time);
        }
        let host = self.sources[source].host.as_bytes();
        if !host.is_empty() {
            self.out.extend_from_slice(host);
            self.out.push(b' ');
        }
        self.out.extend_from_slice(event.name().unwrap_or_default().as_bytes());
        self.out.push(b':');
        let mut separator: &[u8] = b" ";
        if let Some((_, context)) = &self.contexts[source][event.stream()]
            && !context.is_empty()
        {
            self.out.extend_from_slice(separator);
            self.out.extend_from_slice(context);
            separator = b", ";
        }
        for scope in [Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
            if event.node(scope).is_some() {
                self.out.extend_from_slice(separator);
                let before = self.out.len();
                if let Err(error) = event.visit(scope, &mut TextVisitor::new(&mut self.out)) {
                    self.out.truncate(before);
                    self.out.extend_from_slice(format!("<{error}>").as_bytes());
                }
                separator = b", ";
            }
        }
    }

    fn since_last(&mut self, time: i128) {
        let Some(last) = self.last_time else {
            self.out.extend_from_slice(b"+?.?????????");
            return;
        };
        let since = time - last;
        let shown = since.unsigned_abs();
        self.out.push(if since < 0 { b'-' } else { b'+' });
        self.out.extend_from_slice(itoa::Buffer::new().format(shown / 1_000_000_000).as_bytes());
        self.out.extend_from_slice(format!(".{:09}", shown % 1_000_000_000).as_bytes());
    }

    /// `{"time_ns":…,"bounds_ns":[…],"host":…,"event":…,"packet_context":{…},…}`
    fn json(&mut self, source: usize, unix_ns: Option<i128>, event: &Event<'_>) {
        self.out.extend_from_slice(b"{\"time_ns\":");
        self.number_or_null(unix_ns);
        let source_of = &self.sources[source];
        if let Some((clock, raw)) = source_of.clock.zip(source_of.raw_ns(event)) {
            let Converted { bounds: (lo, hi), .. } = clock.to_reference(raw);
            let unix =
                |raw: Option<i64>| raw.map(|raw| i128::from(raw) + i128::from(clock.reference_offset_ns));
            self.out.extend_from_slice(b",\"bounds_ns\":[");
            self.number_or_null(unix(lo));
            self.out.push(b',');
            self.number_or_null(unix(hi));
            self.out.push(b']');
        }
        self.out.extend_from_slice(b",\"host\":");
        json::string(&mut self.out, self.sources[source].host.as_bytes());
        self.out.extend_from_slice(b",\"event\":");
        json::string(&mut self.out, event.name().unwrap_or_default().as_bytes());
        if let Some((_, context)) = &self.contexts[source][event.stream()]
            && !context.is_empty()
        {
            self.out.extend_from_slice(b",\"packet_context\":");
            self.out.extend_from_slice(context);
        }
        let scopes = [
            (Scope::CommonContext, "common_context"),
            (Scope::SpecificContext, "specific_context"),
            (Scope::Payload, "payload"),
        ];
        for (scope, name) in scopes {
            if event.node(scope).is_some() {
                self.out.extend_from_slice(format!(",\"{name}\":").as_bytes());
                let before = self.out.len();
                if event.visit(scope, &mut JsonVisitor::new(&mut self.out, Floats::Numbers)).is_err() {
                    self.out.truncate(before);
                    self.out.extend_from_slice(b"null");
                }
            }
        }
        self.out.push(b'}');
    }

    fn number_or_null(&mut self, number: Option<i128>) {
        match number {
            Some(number) => self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
            None => self.out.extend_from_slice(b"null"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns() {
        let check = |pattern, name, expect| assert_eq!(matches(pattern, name), expect, "{pattern} {name}");
        check("sched_switch", "sched_switch", true);
        check("sched_switch", "sched_switch2", false);
        check("sched_*", "sched_switch", true);
        check("*", "", true);
        check("*_entry_*", "syscall_entry_read", true);
        check("*_entry_*", "syscall_entry", false);
        check("a*a", "a", false);
        check("*read", "syscall_entry_read", true);
    }
}
