//! The events of a window, in the order of time: text of their fields, and the rows of the threads that ran.

use isochrone_ctf::Event;
use isochrone_ctf::room;
use isochrone_ctf::schema::Scope;
use isochrone_ctf::text::TextVisitor;
use isochrone_experiment::TimedTraces;
use isochrone_kernel::cpu_of;
use isochrone_periods::{Binding, Condition, PacketFields, Reading};
use memchr::memmem::Finder;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::Shown;
use crate::error::ApiError;

/// Events of one answer.
const MOST_EVENTS: usize = 5000;

/// Events that one request looks through.
const MOST_LOOKED_AT: u64 = 20_000_000;

/// Text of one event: what is longer is cut.
const MOST_TEXT: usize = 1 << 12;

/// An event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct EventShown {
    at: i64,
    host: usize,
    cpu: Option<u32>,
    name: String,
    text: String,
    row: Option<u32>,
}

/// Some events of a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct EventsShown {
    events: Vec<EventShown>,
    /// How many events that fit come before the next one; `None` at the end.
    next: Option<u64>,
}

/// Which events.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) window: (i64, i64),
    pub(crate) limit: usize,
    /// A text that name or fields contain; an expression after `=`.
    pub(crate) search: String,
    /// Places of hosts; all, where there are none.
    pub(crate) hosts: Vec<usize>,
    /// How many of those that fit are left out.
    pub(crate) after: u64,
}

/// What events are searched for.
enum Search {
    All,
    Text(Finder<'static>),
    Where(Condition),
}

impl Search {
    fn of(text: &str) -> Result<Self, ApiError> {
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

/// What is known of a packet.
type OfPacket = (*const isochrone_ctf::Packet, Option<u32>, PacketFields);

/// An event as it passes by.
pub(super) struct Passing<'a, 'o> {
    pub(super) unix: i128,
    /// Place of its host.
    pub(super) host: usize,
    /// Number of its trace.
    source: usize,
    pub(super) event: &'a Event<'o>,
    pub(super) cpu: Option<u32>,
    packet: &'a PacketFields,
}

impl<'o> Shown<'o> {
    /// Shows the events of some hosts (all, where there are none) one after the other, from an instant (Unix ns) on, until `each` says `false`.
    /// Events without a time are left out.
    pub(super) fn each_event(
        &self,
        hosts: &[usize],
        since: i128,
        mut each: impl FnMut(Passing<'_, 'o>) -> bool,
    ) {
        let TimedTraces { traces: mut sources, .. } = self.experiment.traces();
        let host_of =
            |place: usize| self.hosts.iter().position(|host| host.timed.traced.places.contains(&place));
        sources.retain(|source| {
            host_of(source.place).is_some_and(|host| hosts.is_empty() || hosts.contains(&host))
        });
        let places: Vec<usize> =
            sources.iter().map(|source| host_of(source.place).unwrap_or_default()).collect();
        // What is known of the packets that streams are in.
        let mut packets: FxHashMap<(usize, usize), OfPacket> = FxHashMap::default();
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
            let passing = Passing { unix, host: places[source], source, event: &event, cpu: *cpu, packet };
            if !each(passing) {
                return;
            }
        }
    }

    /// Events of a window since the origin. Linear in the events of the window, as far as they are looked at.
    ///
    /// # Errors
    /// The expression is none.
    pub(crate) fn events(&self, asked: &Asked) -> Result<EventsShown, ApiError> {
        let search = Search::of(&asked.search)?;
        let limit = asked.limit.clamp(1, MOST_EVENTS);
        let window = (i128::from(asked.window.0) + self.origin, i128::from(asked.window.1) + self.origin);
        let mut bindings: FxHashMap<(usize, usize, usize), Binding> = FxHashMap::default();
        let (mut events, mut fitting, mut looked_at, mut next) = (Vec::new(), 0_u64, 0_u64, None);
        let mut text: Vec<u8> = Vec::new();
        self.each_event(&asked.hosts, window.0, |it| {
            if it.unix >= window.1 {
                return false;
            }
            looked_at += 1;
            if looked_at > MOST_LOOKED_AT {
                next = Some(fitting);
                return false;
            }
            text.clear();
            let fits = match &search {
                Search::All => true,
                Search::Text(finder) => {
                    let is_named = finder.find(it.event.name().unwrap_or_default().as_bytes()).is_some();
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
            if !fits {
                return true;
            }
            if fitting >= asked.after {
                if events.len() == limit {
                    next = Some(fitting);
                    return false;
                }
                if text.is_empty() {
                    write_fields(it.event, &mut text);
                }
                events.push(EventShown {
                    at: self.since(it.unix),
                    host: it.host,
                    cpu: it.cpu,
                    name: it.event.name().unwrap_or_default().to_owned(),
                    text: String::from_utf8_lossy(&text).into_owned(),
                    row: None,
                });
            }
            fitting += 1;
            true
        });
        self.find_rows(&mut events)?;
        Ok(EventsShown { events, next })
    }

    /// Finds the threads that ran when events were recorded.
    fn find_rows(&self, events: &mut [EventShown]) -> Result<(), ApiError> {
        let (Some(first), Some(last)) = (events.first(), events.last()) else { return Ok(()) };
        let window = (first.at, last.at.saturating_add(1));
        for (place, host) in self.hosts.iter().enumerate() {
            let raw = self.raw_window(place, window, super::Clock::Common);
            let mut slices: FxHashMap<u32, Vec<(i64, i64, u32)>> = FxHashMap::default();
            host.store.slices((raw.0, raw.1.saturating_add(1)), |slice| {
                if let Some(thread) = slice.thread {
                    slices.entry(slice.cpu).or_default().push((slice.begin, slice.end, thread));
                }
            })?;
            for of_cpu in slices.values_mut() {
                of_cpu.sort_unstable();
            }
            for event in events.iter_mut().filter(|event| event.host == place) {
                let Some(cpu) = event.cpu else { continue };
                let at = self.raw(place, event.at, super::Clock::Common);
                let of_cpu = slices.get(&cpu).map(Vec::as_slice).unwrap_or_default();
                let before = of_cpu.partition_point(|(begin, ..)| *begin <= at);
                let running = of_cpu[..before].last().filter(|(_, end, _)| at <= *end);
                let row = running.and_then(|(.., thread)| self.rows.of_thread(place, *thread));
                event.row = row.or_else(|| Some(self.rows.of_cpu(place, Some(cpu))));
            }
        }
        Ok(())
    }
}

/// Contexts and fields of an event as text.
pub(super) fn write_fields(event: &Event<'_>, out: &mut Vec<u8>) {
    for scope in [Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
        if event.node(scope).is_none() {
            continue;
        }
        if !out.is_empty() {
            out.extend_from_slice(b", ");
        }
        let mut shown = Vec::new();
        let kept = room::keep(&mut shown, MOST_TEXT, |out, room| {
            event.visit(scope, &mut TextVisitor::within(out, room))
        });
        match kept {
            Ok(true) => out.extend_from_slice(&shown),
            Ok(false) => out.extend_from_slice(b"{ too long to be shown here }"),
            Err(error) => out.extend_from_slice(format!("<{error}>").as_bytes()),
        }
    }
}
