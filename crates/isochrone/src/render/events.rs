//! Events as lines: text like babeltrace2's, or JSON.

use isochrone_ctf::json::{Floats, JsonVisitor};
use isochrone_ctf::schema::{ClockClass, EventClass, Scope, StreamClass};
use isochrone_ctf::text::TextVisitor;
use isochrone_ctf::{Event, Packet, digits, json};
use isochrone_sync::apply::{Clock, Clocks};
use isochrone_sync::{InputTrace, hosts};

use super::time;
use crate::arguments::{EventFormat, Events};

/// Lines are meant to be handed to stdout in pieces of this size.
pub(crate) const FLUSH_AT: usize = 1 << 16;

const NS_PER_S: u64 = 1_000_000_000;

/// A trace and the way its times are shown.
pub(crate) struct Source<'i> {
    pub(crate) input: &'i InputTrace,
    pub(crate) host: String,
    pub(crate) clock: Option<&'i Clock>,
    /// By stream: the Unix time of the zero of a clock that counts nanoseconds, where no correction is asked for. The usual
    /// case, in which a time is a sum.
    zeros: Vec<Option<i128>>,
}

impl<'i> Source<'i> {
    /// `None` where corrections are asked for and there is none for this trace.
    pub(crate) fn new(input: &'i InputTrace, clocks: Option<&'i Clocks>) -> Option<Self> {
        let named = hosts::hostname(&input.trace).unwrap_or_default().to_owned();
        let Some(clocks) = clocks else {
            let zero = |stream| {
                input.trace.clock(stream).filter(|c| c.frequency == NS_PER_S).map(ClockClass::offset_ns)
            };
            let zeros = (0..input.trace.streams().len()).map(zero).collect();
            return Some(Self { input, host: named, clock: None, zeros });
        };
        let clock = clocks.of_trace(&input.trace)?;
        // Hosts of one name are told apart by their clocks; containers (and copies) keep their own names.
        let host = match clock.entry.hostnames.as_slice() {
            [only] if *only == named => clock.entry.host.clone(),
            _ => named,
        };
        Some(Self { input, host, clock: Some(clock), zeros: Vec::new() })
    }

    fn raw_ns(&self, event: &Event<'_>) -> Option<i64> {
        let class = self.input.trace.clock(event.stream())?;
        i64::try_from(class.raw_ns(event.cycles()?)).ok()
    }

    /// Unix time of an event; none where it has no time.
    #[inline]
    pub(crate) fn unix_ns(&self, event: &Event<'_>) -> Option<i128> {
        if let Some(Some(zero)) = self.zeros.get(event.stream()) {
            return Some(zero + i128::from(event.cycles()?));
        }
        match self.clock {
            Some(clock) => Some(clock.unix_ns(self.raw_ns(event)?)),
            None => Some(self.input.trace.clock(event.stream())?.ns_from_origin(event.cycles()?)),
        }
    }

    /// Whether an event lies outside the span that the corrections cover.
    pub(crate) fn is_outside(&self, event: &Event<'_>) -> bool {
        self.clock.is_some_and(|clock| self.raw_ns(event).is_some_and(|raw| !clock.covers(raw)))
    }
}

/// A packet, and its context as printed.
type ShownContext<'i> = (&'i Packet, Vec<u8>);

/// Appends events to a buffer.
pub(crate) struct Printer<'i> {
    pub(crate) out: Vec<u8>,
    format: EventFormat,
    times: time::Shower,
    sources: &'i [Source<'i>],
    last_time: Option<i128>,
    /// The packet of the last event of each stream, and its context as printed: the same for many events.
    contexts: Vec<Vec<Option<ShownContext<'i>>>>,
    /// By source, stream class and event class: `host name:`.
    heads: Vec<Vec<Vec<Box<[u8]>>>>,
}

impl<'i> Printer<'i> {
    pub(crate) fn new(arguments: &Events, sources: &'i [Source<'i>]) -> Self {
        let contexts =
            sources.iter().map(|s| s.input.trace.streams().iter().map(|_| None).collect()).collect();
        Self {
            out: Vec::with_capacity(FLUSH_AT * 2),
            format: arguments.format,
            times: time::Shower::new(arguments.date),
            sources,
            last_time: None,
            contexts,
            heads: sources.iter().map(heads).collect(),
        }
    }

    pub(crate) fn event(&mut self, source: usize, unix_ns: Option<i128>, event: &Event<'i>) {
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
            self.times.put(&mut self.out, time);
            self.since_last(time);
            self.last_time = Some(time);
        }
        let stream_class = event.trace().streams()[event.stream()].class;
        self.out.extend_from_slice(&self.heads[source][stream_class][event.class().index]);
        let mut is_first = true;
        if let Some((_, context)) = &self.contexts[source][event.stream()]
            && !context.is_empty()
        {
            separate(&mut self.out, &mut is_first);
            self.out.extend_from_slice(context);
        }
        for scope in [Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
            if event.node(scope).is_some() {
                separate(&mut self.out, &mut is_first);
                let before = self.out.len();
                if let Err(error) = event.visit(scope, &mut TextVisitor::new(&mut self.out)) {
                    self.out.truncate(before);
                    self.out.extend_from_slice(format!("<{error}>").as_bytes());
                }
            }
        }
    }

    /// `] (+since last) `
    #[inline]
    fn since_last(&mut self, time: i128) {
        let since = self.last_time.map(|last| time - last);
        match since.and_then(|since| u32::try_from(since).ok()) {
            // Nearly all.
            Some(ns @ 0..1_000_000_000) => {
                self.out.extend_from_slice(b"] (+0.");
                digits::nanoseconds(&mut self.out, ns);
            }
            _ => self.since_long_ago(since),
        }
        self.out.extend_from_slice(b") ");
    }

    #[inline(never)]
    fn since_long_ago(&mut self, since: Option<i128>) {
        self.out.extend_from_slice(b"] (");
        let Some(since) = since else {
            self.out.extend_from_slice(b"+?.?????????");
            return;
        };
        self.out.push(if since < 0 { b'-' } else { b'+' });
        match u64::try_from(since.unsigned_abs()) {
            Ok(shown) => {
                digits::decimal(&mut self.out, shown / NS_PER_S);
                self.out.push(b'.');
                digits::nanoseconds(&mut self.out, (shown % NS_PER_S) as u32);
            }
            // More than 500 years: clocks with absurd offsets.
            Err(_) => self.out.extend_from_slice(b"?.?????????"),
        }
    }

    /// `{"time_ns":…,"bounds_ns":[…],"island":…,"host":…,"event":…,"packet_context":{…},…}`
    fn json(&mut self, source: usize, unix_ns: Option<i128>, event: &Event<'_>) {
        self.out.extend_from_slice(b"{\"time_ns\":");
        self.number_or_null(unix_ns);
        let source_of = &self.sources[source];
        if let Some((clock, raw)) = source_of.clock.zip(source_of.raw_ns(event)) {
            let (lo, hi) = if clock.proven { clock.to_reference(raw).bounds } else { (None, None) };
            let unix =
                |raw: Option<i64>| raw.map(|raw| i128::from(raw) + i128::from(clock.reference_offset_ns));
            self.out.extend_from_slice(b",\"bounds_ns\":[");
            self.number_or_null(unix(lo));
            self.out.push(b',');
            self.number_or_null(unix(hi));
            self.out.extend_from_slice(b"],\"island\":");
            self.number_or_null(Some(clock.entry.island as i128));
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
            (Scope::CommonContext, ",\"common_context\":"),
            (Scope::SpecificContext, ",\"specific_context\":"),
            (Scope::Payload, ",\"payload\":"),
        ];
        for (scope, key) in scopes {
            if event.node(scope).is_some() {
                self.out.extend_from_slice(key.as_bytes());
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

/// A space, behind a comma but for the first time.
#[inline]
fn separate(out: &mut Vec<u8>, is_first: &mut bool) {
    if !std::mem::take(is_first) {
        out.push(b',');
    }
    out.push(b' ');
}

/// What a line of text has between the time and the fields, by stream class and event class.
fn heads(source: &Source<'_>) -> Vec<Vec<Box<[u8]>>> {
    let space = if source.host.is_empty() { "" } else { " " };
    let head = |class: &EventClass| {
        let name = class.name.as_deref().unwrap_or_default();
        format!("{}{space}{name}:", source.host).into_bytes().into()
    };
    let classes = |stream: &StreamClass| stream.events.iter().map(head).collect();
    source.input.trace.schema().streams.iter().map(classes).collect()
}
