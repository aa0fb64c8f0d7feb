//! The events of a window in the order of time: text of their fields, and the rows of the threads that ran.

use std::str::FromStr;

use isochrone_ctf::schema::Scope;
use isochrone_ctf::text::TextVisitor;
use isochrone_ctf::{Event, room};
use isochrone_experiment::{TimedTraces, Work};
use isochrone_kernel::cpu_of;
use isochrone_periods::{Binding, Condition, PacketFields, Reading};
use isochrone_store::ThreadRow;
use isochrone_time::{RawNs, SinceOrigin, UnixNs, Window};
use memchr::memmem::Finder;
use rustc_hash::FxHashMap;
use serde::{Serialize, Serializer};

use super::{Clock, CommandLine, ExperimentView};
use crate::error::{ApiError, Result};

/// Events of one answer.
const MAX_EVENTS: usize = 5000;

/// Events that one request reads.
const MAX_READ: u64 = 20_000_000;

/// Events that are read before it is looked whether anybody still waits.
const EVENTS_AT_ONCE: u64 = 1 << 16;

/// Text of one event: what is longer is cut.
const MAX_TEXT: usize = 1 << 12;

/// An event as it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct EventEntry {
    at: SinceOrigin,
    host: usize,
    cpu: Option<u32>,
    name: String,
    text: String,
    row: Option<u32>,
}

/// Some events of a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct EventPage {
    events: Vec<EventEntry>,
    /// The start of the next page; `None` at the end.
    next: Option<EventCursor>,
    command: String,
}

/// A position among the events that match a query: an instant, and the number of matching events of that
/// instant before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventCursor {
    at: SinceOrigin,
    skip: u64,
}

impl EventCursor {
    /// The start of any window.
    pub(crate) const FIRST: Self = Self { at: SinceOrigin::MIN, skip: 0 };
}

impl Serialize for EventCursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{},{}", self.at, self.skip))
    }
}

impl FromStr for EventCursor {
    type Err = ApiError;

    fn from_str(text: &str) -> Result<Self> {
        let parsed = text.split_once(',').and_then(|(at, skip)| Some((at.parse().ok()?, skip.parse().ok()?)));
        let (at, skip) =
            parsed.ok_or_else(|| ApiError::wrong(format!("`{text}` is not a `next` of an answer")))?;
        Ok(Self { at: SinceOrigin(at), skip })
    }
}

/// Which events are requested.
#[derive(Debug, Clone)]
pub(crate) struct EventQuery {
    pub(crate) window: Window<SinceOrigin>,
    pub(crate) limit: usize,
    /// A text that name or fields contain; an expression after `=`.
    pub(crate) search: String,
    /// Indices of hosts; empty for all.
    pub(crate) hosts: Vec<usize>,
    /// The position to start from.
    pub(crate) after: EventCursor,
}

/// The condition on events of a query.
enum Search {
    All,
    Text(Finder<'static>),
    Where(Condition),
}

impl Search {
    fn of(text: &str) -> Result<Self> {
        let text = text.trim();
        Ok(match text.strip_prefix('=') {
            _ if text.is_empty() => Self::All,
            Some(expression) => {
                let condition = Condition::parse(expression);
                Self::Where(condition.map_err(|error| ApiError::wrong(error.to_string()))?)
            }
            None => Self::Text(Finder::new(text).into_owned()),
        })
    }
}

/// A packet with its CPU and the values of its fields.
type KnownPacket = (*const isochrone_ctf::Packet, Option<u32>, PacketFields);

/// An event with its time and its source.
pub(crate) struct TimedEvent<'a, 'o> {
    pub(crate) unix: UnixNs,
    /// Index of its host.
    pub(crate) host: usize,
    /// Number of its trace.
    source: usize,
    event: &'a Event<'o>,
    pub(crate) cpu: Option<u32>,
    packet: &'a PacketFields,
}

impl TimedEvent<'_, '_> {
    /// The name of the event.
    pub(crate) fn name(&self) -> &str {
        self.event.name().unwrap_or_default()
    }

    /// Its contexts and its fields.
    pub(crate) fn contents(&self) -> String {
        let mut text = Vec::new();
        write_fields(self.event, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    }
}

impl<'o> ExperimentView<'o> {
    /// Passes the events of some hosts (of all, if `hosts` is empty) from an instant on in the order of time
    /// to `each`, until that returns `false`. Events without a time are left out.
    pub(super) fn each_event(
        &self,
        hosts: &[usize],
        since: UnixNs,
        mut each: impl FnMut(TimedEvent<'_, 'o>) -> bool,
    ) {
        let TimedTraces { traces: mut sources, .. } = self.experiment.traces();
        let host_of = |place: usize| {
            self.hosts.iter().position(|host| host.timed.traced.trace_indices.contains(&place))
        };
        sources.retain(|source| {
            host_of(source.place).is_some_and(|host| hosts.is_empty() || hosts.contains(&host))
        });
        let host_of_source: Vec<usize> =
            sources.iter().map(|source| host_of(source.place).unwrap_or_default()).collect();
        // The packet that each stream is in.
        let mut packets: FxHashMap<(usize, usize), KnownPacket> = FxHashMap::default();
        for (source, unix, event) in self.experiment.events_since(&sources, since) {
            let Some(unix) = unix.filter(|unix| *unix >= since) else { continue };
            let (stream, packet) = (event.stream(), event.packet());
            let known = packets
                .entry((source, stream))
                .or_insert_with(|| (std::ptr::null(), None, PacketFields::default()));
            if !std::ptr::eq(known.0, packet) {
                let trace = event.trace();
                *known = (packet, cpu_of(trace, stream, packet), PacketFields::of(trace, stream, packet));
            }
            let (_, cpu, packet) = &*known;
            let host = host_of_source[source];
            if !each(TimedEvent { unix, host, source, event: &event, cpu: *cpu, packet }) {
                return;
            }
        }
    }

    /// Refuses to show events of mapped chunks, which have a part of them only.
    ///
    /// # Errors
    /// Hosts are of mapped chunks.
    pub(crate) fn refuse_chunks(&self) -> Result<()> {
        match self.experiment.chunks() {
            Some(_) => Err(ApiError::missing(
                "mapped pieces hold a part of the events only: open the traces that they were mapped of",
            )),
            None => Ok(()),
        }
    }

    /// A page of events. Linear in the events from its start on, as far as they are read.
    ///
    /// # Errors
    /// The expression is wrong, or the store cannot be read.
    pub(crate) fn events(&self, query: &EventQuery, work: &Work) -> Result<EventPage> {
        self.refuse_chunks()?;
        let search = Search::of(&query.search)?;
        let limit = query.limit.clamp(1, MAX_EVENTS);
        let (start, end) = (self.unix(query.window.start), self.unix(query.window.end));
        let mut bindings: FxHashMap<(usize, usize, usize), Binding> = FxHashMap::default();
        let (mut events, mut read, mut next) = (Vec::new(), 0_u64, None);
        // The instant of the current event, and the number of matching ones of that instant so far.
        let mut position = EventCursor::FIRST;
        let mut text: Vec<u8> = Vec::new();
        self.each_event(&query.hosts, start.max(self.unix(query.after.at)), |it| {
            if it.unix >= end {
                return false;
            }
            let at = self.since(it.unix);
            if at != position.at {
                position = EventCursor { at, skip: 0 };
            }
            read += 1;
            if read.is_multiple_of(EVENTS_AT_ONCE) && work.is_stopped() {
                return false;
            }
            if read > MAX_READ {
                next = Some(position);
                return false;
            }
            text.clear();
            let matches = match &search {
                Search::All => true,
                Search::Text(finder) => {
                    let is_named = finder.find(it.name().as_bytes()).is_some();
                    is_named || {
                        write_fields(it.event, &mut text);
                        finder.find(&text).is_some()
                    }
                }
                Search::Where(condition) => {
                    let class = it.event.trace().streams()[it.event.stream()].class;
                    let binding = bindings.entry((it.source, class, it.event.class().index));
                    let binding = binding.or_insert_with(|| {
                        let name = &self.hosts[it.host].name;
                        Binding::new(condition.fields(), it.event.class(), it.event.stream_plan(), name)
                    });
                    condition.holds(binding, Reading { event: it.event, cpu: it.cpu, packet: it.packet })
                }
            };
            if !matches {
                return true;
            }
            if at > query.after.at || position.skip >= query.after.skip {
                if events.len() == limit {
                    next = Some(position);
                    return false;
                }
                if text.is_empty() {
                    write_fields(it.event, &mut text);
                }
                let name = it.name().to_owned();
                let text = String::from_utf8_lossy(&text).into_owned();
                events.push(EventEntry { at, host: it.host, cpu: it.cpu, name, text, row: None });
            }
            position.skip += 1;
            true
        });
        if work.is_stopped() {
            return Err(ApiError::stopped());
        }
        self.find_rows(&mut events)?;
        Ok(EventPage { events, next, command: self.command_of_events(query) })
    }

    /// The command that shows the same events: `grep` searches its output for a text.
    fn command_of_events(&self, query: &EventQuery) -> String {
        let hosts = query.hosts.iter().filter_map(|&host| self.hosts.get(host));
        let hosts: Vec<String> = hosts.map(|host| CommandLine::quoted(&host.name)).collect();
        let hosts = if hosts.is_empty() { String::new() } else { format!(" --host {}", hosts.join(",")) };
        let text = query.search.trim();
        let (condition, grep) = match text.strip_prefix('=') {
            Some(expression) => {
                (format!(" --where {}", CommandLine::quoted(expression.trim())), String::new())
            }
            None if text.is_empty() => Default::default(),
            None => (String::new(), format!(" | grep -F {}", CommandLine::quoted(text))),
        };
        self.command_of(&format!("events{hosts}{condition}"), Some(query.window)) + &grep
    }

    /// Finds the threads that ran when events were recorded.
    fn find_rows(&self, events: &mut [EventEntry]) -> Result<()> {
        let (Some(first), Some(last)) = (events.first(), events.last()) else { return Ok(()) };
        let window = Window::new(first.at, last.at.saturating_add(1));
        for (index, host) in self.hosts.iter().enumerate() {
            let mut raw = self.raw_window(index, window, Clock::Common);
            // What ends with the first event belongs to it, too.
            raw.start = raw.start.saturating_sub(1);
            raw.end = raw.end.saturating_add(1);
            // By CPU: start, end, thread.
            let mut slices: FxHashMap<u32, Vec<(RawNs, RawNs, ThreadRow)>> = FxHashMap::default();
            host.store.slices(raw, |slice| {
                if let Some(thread) = slice.thread {
                    slices.entry(slice.cpu).or_default().push((slice.start, slice.end, thread));
                }
            })?;
            for of_cpu in slices.values_mut() {
                of_cpu.sort_unstable();
            }
            for event in events.iter_mut().filter(|event| event.host == index) {
                let Some(cpu) = event.cpu else { continue };
                let at = self.raw(index, event.at, Clock::Common);
                let of_cpu = slices.get(&cpu).map(Vec::as_slice).unwrap_or_default();
                // A switch is an event of the thread that it takes off the CPU.
                let is_switch = event.name == "sched_switch";
                let before = of_cpu.partition_point(|(begin, ..)| *begin < at || *begin == at && !is_switch);
                let running = of_cpu[..before].last().filter(|(_, end, _)| at <= *end);
                let row = running.and_then(|(.., thread)| self.rows.of_thread(index, *thread));
                event.row = row.or_else(|| Some(self.rows.of_cpu(index, Some(cpu))));
            }
        }
        Ok(())
    }
}

/// Contexts and fields of an event as text.
fn write_fields(event: &Event<'_>, out: &mut Vec<u8>) {
    for scope in [Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
        if event.node(scope).is_none() {
            continue;
        }
        if !out.is_empty() {
            out.extend_from_slice(b", ");
        }
        let mut text = Vec::new();
        let kept = room::keep(&mut text, MAX_TEXT, |out, room| {
            event.visit(scope, &mut TextVisitor::within(out, room))
        });
        match kept {
            Ok(true) => out.extend_from_slice(&text),
            Ok(false) => out.extend_from_slice(b"{ too long to be shown here }"),
            Err(error) => out.extend_from_slice(format!("<{error}>").as_bytes()),
        }
    }
}
