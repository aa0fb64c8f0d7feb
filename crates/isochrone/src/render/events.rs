//! Events as lines: text like babeltrace2's, JSON, or CSV ([`csv`]). Memory is bounded, however long a line
//! gets.

mod csv;
mod explained;

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::rc::Rc;

use isochrone_corrections::Clocks;
use isochrone_ctf::json::{Floats, JsonVisitor};
use isochrone_ctf::room::Room;
use isochrone_ctf::schema::{EventClass, Schema, Scope, StreamClass};
use isochrone_ctf::text::TextVisitor;
use isochrone_ctf::text_plan::{TextPlan, TextWriter};
use isochrone_ctf::{Event, Packet, digits, json, room};
use isochrone_experiment::{TimedTrace, surely_in_order};
use isochrone_time::{RawNs, UnixNs};
use isochrone_timing::Stamp;

use super::plain::plain;
use super::{figures, time};
use crate::arguments::{EventFormat, Events};
use crate::event_cpu::EventCpus;
use crate::output;
pub(crate) use explained::{EventTime, Explained};

/// Lines are passed to the writer in pieces of this size.
const FLUSH_AT: usize = 1 << 16;

/// Longer packet contexts are formatted again for each event; others are kept, one for each stream.
const MAX_KEPT_CONTEXT: usize = 1 << 12;

const NS_PER_S: u64 = 1_000_000_000;

/// A packet, and its context as printed.
type ShownContext<'i> = (&'i Packet, Context);

enum Context {
    /// There is none, or it cannot be read.
    None,
    /// What comes before it included.
    Kept(Vec<u8>),
    /// Too long to be kept.
    Long,
}

/// How events are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    pub(crate) format: EventFormat,
    /// Whether times have bounds.
    pub(crate) bounds: bool,
    /// Whether dates are shown.
    pub(crate) date: bool,
    /// Whether what is known of events comes behind them.
    pub(crate) explains: bool,
}

impl Style {
    pub(crate) fn of(arguments: &Events) -> Self {
        Self {
            format: arguments.format,
            bounds: arguments.bounds,
            date: arguments.date,
            explains: arguments.explain,
        }
    }
}

/// What a printer has written last, for another one to continue.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Last {
    /// The time of the last event that has one.
    time: Option<UnixNs>,
    /// The index of the last event's trace among all that were opened, and its raw time.
    event: Option<(usize, RawNs)>,
}

/// Writes events.
pub(crate) struct Printer<'i, W> {
    writer: W,
    /// What has not been passed to the writer yet.
    out: Vec<u8>,
    format: EventFormat,
    times: time::TimeWriter,
    sources: &'i [TimedTrace<'i>],
    /// The clocks of bounds, if they are requested.
    bounds: Option<&'i Clocks>,
    last_time: Option<UnixNs>,
    /// The last event's trace and raw time.
    last: Option<(usize, RawNs)>,
    /// The packet of the last event of each stream, and its context as printed: the same for many events.
    contexts: Vec<Vec<Option<ShownContext<'i>>>>,
    /// By source, stream class and event class.
    classes: Vec<Rc<Classes>>,
    fields: TextWriter,
    cpus: EventCpus,
    /// A cell of CSV before it is quoted.
    cell: Vec<u8>,
}

impl<'i, W: Write> Printer<'i, W> {
    pub(crate) fn new(
        style: Style,
        sources: &'i [TimedTrace<'i>],
        clocks: Option<&'i Clocks>,
        writer: W,
    ) -> Self {
        let mut printer = Self::continued(style, Last::default(), sources, clocks, writer);
        if style.format == EventFormat::Csv {
            csv::header(printer.bounds.is_some(), style.explains, &mut printer.out);
        }
        printer
    }

    /// Continues the output of another printer.
    pub(crate) fn continued(
        style: Style,
        last: Last,
        sources: &'i [TimedTrace<'i>],
        clocks: Option<&'i Clocks>,
        writer: W,
    ) -> Self {
        let contexts =
            sources.iter().map(|s| s.input.trace.streams().iter().map(|_| None).collect()).collect();
        let bounds = clocks.filter(|_| style.bounds);
        let out = Vec::with_capacity(FLUSH_AT * 2);
        Self {
            writer,
            out,
            format: style.format,
            times: time::TimeWriter::new(style.date),
            sources,
            bounds,
            last_time: last.time,
            last: last.event.and_then(|(place, raw)| {
                Some((sources.iter().position(|source| source.place == place)?, raw))
            }),
            contexts,
            classes: classes(sources),
            fields: TextWriter::default(),
            cpus: EventCpus::default(),
            cell: Vec::new(),
        }
    }

    pub(crate) fn event(&mut self, source: usize, at: Option<UnixNs>, event: &Event<'i>) -> io::Result<()> {
        self.explained(source, at, event, b"")
    }

    /// An event, and what comes behind it ([`Explained`]).
    pub(crate) fn explained(
        &mut self,
        source: usize,
        at: Option<UnixNs>,
        event: &Event<'i>,
        explanation: &[u8],
    ) -> io::Result<()> {
        match self.format {
            EventFormat::Text => self.text(source, at, event)?,
            EventFormat::Json => self.json(source, at, event)?,
            EventFormat::Csv => self.csv(source, at, event)?,
        }
        if !explanation.is_empty() {
            self.out.extend_from_slice(explanation);
        }
        if self.format == EventFormat::Json {
            self.out.push(b'}');
        }
        self.out.push(b'\n');
        if self.out.len() >= FLUSH_AT {
            self.writer.write_all(&self.out)?;
            self.out.clear();
        }
        Ok(())
    }

    /// Passes the rest to the writer.
    pub(crate) fn finish(mut self) -> io::Result<Last> {
        self.writer.write_all(&self.out)?;
        self.writer.flush()?;
        let event = self.last.map(|(source, raw)| (self.sources[source].place, raw));
        Ok(Last { time: self.last_time, event })
    }

    fn refresh_context(&mut self, source: usize, event: &Event<'i>, before: &str) {
        let slot = &mut self.contexts[source][event.stream()];
        if slot.as_ref().is_some_and(|(packet, _)| std::ptr::eq(*packet, event.packet())) {
            return;
        }
        let mut shown = before.as_bytes().to_vec();
        let kept =
            room::keep(&mut shown, MAX_KEPT_CONTEXT, |out, room| show_context(self.format, event, out, room));
        let context = match kept {
            Ok(true) => Context::Kept(shown),
            Ok(false) => Context::Long,
            Err(NoContext) => Context::None,
        };
        *slot = Some((event.packet(), context));
    }

    /// Writes the context of the event's packet, after `before`, if there is one; returns whether there is.
    fn packet_context(&mut self, source: usize, event: &Event<'i>, before: &str) -> io::Result<bool> {
        self.refresh_context(source, event, before);
        match &self.contexts[source][event.stream()] {
            None | Some((_, Context::None)) => return Ok(false),
            Some((_, Context::Kept(shown))) => self.out.extend_from_slice(shown),
            Some((_, Context::Long)) => {
                self.out.extend_from_slice(before.as_bytes());
                // Its length was seen when it was complete.
                let _ = room::append(&mut self.out, &mut self.writer, |out, room| {
                    show_context(self.format, event, out, room)
                })?;
            }
        }
        Ok(true)
    }

    /// `[time] (+since last) host name: { packet context }, { contexts }, { fields }`
    fn text(&mut self, source: usize, at: Option<UnixNs>, event: &Event<'i>) -> io::Result<()> {
        if let Some(clocks) = self.bounds {
            let mark: &[u8] = if self.is_ordered(clocks, source, event) { b"  " } else { b"~ " };
            self.out.extend_from_slice(mark);
        }
        if let Some(at) = at {
            let since = self.last_time.map(|last| at - last);
            let short = since.and_then(|since| u32::try_from(since).ok()).filter(|ns| *ns < 1_000_000_000);
            match self.times.of_day(at).zip(short).filter(|_| self.bounds.is_none()) {
                // Nearly all.
                Some(((second, ns), since)) => {
                    self.out.push(b'[');
                    self.out.extend_from_slice(&second);
                    self.out.extend_from_slice(&ns);
                    self.out.extend_from_slice(b"] (+0.");
                    self.out.extend_from_slice(&digits::nine(since));
                    self.out.extend_from_slice(b") ");
                }
                None => self.long_time(source, at, since, event),
            }
            self.last_time = Some(at);
        }
        let (stream, class) = (event.trace().streams()[event.stream()].class, event.class().index);
        self.out.extend_from_slice(&self.classes[source][stream][class].head);
        let is_first = !self.packet_context(source, event, " ")?;
        let plan = &self.classes[source][stream][class].plan;
        let plan = plan.get_or_init(|| TextPlan::new(event.stream_plan(), event.class()));
        let before = self.out.len();
        if let Some(plan) = plan {
            if !plan.is_empty() {
                separate(&mut self.out, is_first);
            }
            if self.fields.put(plan, event, &mut self.out) {
                return Ok(());
            }
            self.out.truncate(before);
        }
        self.scopes(event, is_first)
    }

    /// Contexts and fields one by one: of an event that is long, or that has a field that cannot be decoded.
    fn scopes(&mut self, event: &Event<'i>, mut is_first: bool) -> io::Result<()> {
        for scope in [Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
            if event.node(scope).is_some() {
                separate(&mut self.out, is_first);
                is_first = false;
                let shown = room::append(&mut self.out, &mut self.writer, |out, room| {
                    event.visit(scope, &mut TextVisitor::within(out, room))
                })?;
                if let Err(error) = shown {
                    self.out.extend_from_slice(format!("<{error}>").as_bytes());
                }
            }
        }
        Ok(())
    }

    /// Whether an event surely did not happen before the previous one, which it becomes.
    fn is_ordered(&mut self, clocks: &Clocks, source: usize, event: &Event<'_>) -> bool {
        let raw = self.sources[source].raw(event);
        let last = std::mem::replace(&mut self.last, raw.map(|raw| (source, raw)));
        let (Some((before, before_raw)), Some(raw)) = (last, raw) else { return true };
        match (self.sources[before].clock(), self.sources[source].clock()) {
            (Some(first), Some(second)) => surely_in_order(clocks, (first, before_raw), (second, raw)),
            _ => self.sources[before].host == self.sources[source].host,
        }
    }

    /// ` -98.12 µs +134.2 µs`: how much earlier and later it may have been; ` ±?` where nothing is proven.
    fn put_bounds(&mut self, source: usize, event: &Event<'_>) {
        let stamp = self.sources[source].stamp(event);
        let bounds = stamp.and_then(|stamp| stamp.bounds_around());
        let shown =
            bounds.map_or_else(|| " ±?".to_owned(), |(lo, hi)| format!(" {}", figures::bounds(lo, hi)));
        self.out.extend_from_slice(shown.as_bytes());
    }

    /// `[time] (+since last) `, with bounds and a date where they are requested.
    #[inline(never)]
    fn long_time(&mut self, source: usize, at: UnixNs, since: Option<i128>, event: &Event<'_>) {
        self.out.push(b'[');
        self.times.put(&mut self.out, at);
        if self.bounds.is_some() {
            self.put_bounds(source, event);
        }
        self.out.extend_from_slice(b"] (");
        match since {
            Some(since) => self.put_since(since),
            None => self.out.extend_from_slice(b"+?.?????????"),
        }
        self.out.extend_from_slice(b") ");
    }

    fn put_since(&mut self, since: i128) {
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

    /// `{"time_ns":…,"bounds_ns":[…],"island":…,"host":…,"event":…,"packet_context":{…},…`, without the end;
    /// where bounds are requested, also `"e95_ns"` and `"ordered"`.
    fn json(&mut self, source: usize, at: Option<UnixNs>, event: &Event<'i>) -> io::Result<()> {
        self.out.extend_from_slice(b"{\"time_ns\":");
        self.number_or_null(at.map(|at| at.0));
        // A host's own clock has no bounds.
        if let Some(Stamp { lo, hi, e95, island: Some(island), .. }) = self.sources[source].stamp(event) {
            self.out.extend_from_slice(b",\"bounds_ns\":[");
            self.number_or_null(lo.map(UnixNs::ns));
            self.out.push(b',');
            self.number_or_null(hi.map(UnixNs::ns));
            self.out.extend_from_slice(b"],\"island\":");
            self.number_or_null(Some(island as i128));
            if let Some(clocks) = self.bounds {
                self.out.extend_from_slice(b",\"e95_ns\":");
                self.number_or_null(e95.map(i128::from));
                let ordered = self.is_ordered(clocks, source, event);
                self.out.extend_from_slice(if ordered {
                    b",\"ordered\":true"
                } else {
                    b",\"ordered\":false"
                });
            }
        }
        self.out.extend_from_slice(b",\"host\":");
        json::string(&mut self.out, self.sources[source].host.as_bytes());
        self.out.extend_from_slice(b",\"event\":");
        json::string(&mut self.out, event.name().unwrap_or_default().as_bytes());
        self.packet_context(source, event, ",\"packet_context\":")?;
        let scopes = [
            (Scope::CommonContext, ",\"common_context\":"),
            (Scope::SpecificContext, ",\"specific_context\":"),
            (Scope::Payload, ",\"payload\":"),
        ];
        for (scope, key) in scopes {
            if event.node(scope).is_some() {
                self.out.extend_from_slice(key.as_bytes());
                let shown = room::append(&mut self.out, &mut self.writer, |out, room| {
                    event.visit(scope, &mut JsonVisitor::within(out, room, Floats::Numbers))
                })?;
                if shown.is_err() {
                    self.out.extend_from_slice(b"null");
                }
            }
        }
        Ok(())
    }

    fn number_or_null(&mut self, number: Option<i128>) {
        match number {
            Some(number) => self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
            None => self.out.extend_from_slice(b"null"),
        }
    }
}

/// A packet has no context.
struct NoContext;

fn show_context<'r>(
    format: EventFormat,
    event: &Event<'_>,
    out: &'r mut Vec<u8>,
    room: Room<'r>,
) -> Result<(), NoContext> {
    let (trace, stream, packet) = (event.trace(), event.stream(), event.packet());
    match format {
        EventFormat::Text => trace.visit_packet_context(stream, packet, &mut TextVisitor::within(out, room)),
        EventFormat::Json | EventFormat::Csv => {
            trace.visit_packet_context(stream, packet, &mut JsonVisitor::within(out, room, Floats::Numbers))
        }
    }
    .ok_or(NoContext)
}

/// A space, after a comma except for the first.
#[inline]
fn separate(out: &mut Vec<u8>, is_first: bool) {
    if !is_first {
        out.push(b',');
    }
    out.push(b' ');
}

/// What lines of text have of an event class of a host.
struct Class {
    /// `host name:`
    head: Box<[u8]>,
    /// How its contexts and fields are shown; known once there was an event.
    plan: OnceCell<Option<TextPlan>>,
}

/// By stream class and event class.
type Classes = Vec<Vec<Class>>;

/// Those of all sources. The chunks of a rotated session share theirs, as they share their schema.
fn classes(sources: &[TimedTrace<'_>]) -> Vec<Rc<Classes>> {
    let mut known = HashMap::new();
    let names: BTreeSet<&str> = sources.iter().map(|source| source.host.as_str()).collect();
    let of = |source: &TimedTrace<'_>| {
        let schema: *const Schema = source.input.trace.schema();
        let classes = known.entry((schema, source.host.clone()));
        let number = names.iter().position(|name| *name == source.host).unwrap_or_default();
        Rc::clone(classes.or_insert_with(|| Rc::new(classes_of(source, number))))
    };
    sources.iter().map(of).collect()
}

fn classes_of(source: &TimedTrace<'_>, number: usize) -> Classes {
    let space = if source.host.is_empty() { "" } else { " " };
    let class = |class: &EventClass| {
        let name = class.name.as_deref().unwrap_or_default();
        let host = plain(&source.host);
        let head = format!("{}{space}{}:", output::host(number, &host), plain(name));
        Class { head: head.into_bytes().into(), plan: OnceCell::new() }
    };
    let classes = |stream: &StreamClass| stream.events.iter().map(class).collect();
    source.input.trace.schema().streams.iter().map(classes).collect()
}
