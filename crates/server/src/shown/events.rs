//! The events of a window, in the order of time: text of their fields, and the rows of the threads that ran.

use std::str::FromStr;

use isochrone_ctf::Event;
use isochrone_ctf::room;
use isochrone_ctf::schema::Scope;
use isochrone_ctf::text::TextVisitor;
use isochrone_experiment::TimedTraces;
use isochrone_kernel::cpu_of;
use isochrone_periods::{Binding, Condition, PacketFields, Reading};
use memchr::memmem::Finder;
use rustc_hash::FxHashMap;
use serde::{Serialize, Serializer};

use super::Shown;
use crate::error::ApiError;
use crate::session::CommandLine;

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
    /// Where the following ones begin; `None` at the end.
    next: Option<Place>,
    command: String,
}

/// A place in the events of a window: an instant since the origin, and how many of those of that instant that fit come before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    at: i64,
    skip: u64,
}

impl Place {
    /// The begin of any window.
    pub(crate) const FIRST: Self = Self { at: i64::MIN, skip: 0 };
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{},{}", self.at, self.skip))
    }
}

impl FromStr for Place {
    type Err = ApiError;

    fn from_str(text: &str) -> Result<Self, ApiError> {
        let parsed = text.split_once(',').and_then(|(at, skip)| Some((at.parse().ok()?, skip.parse().ok()?)));
        let (at, skip) =
            parsed.ok_or_else(|| ApiError::wrong(format!("`{text}` is no place that an answer gave")))?;
        Ok(Self { at, skip })
    }
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
    /// From where on.
    pub(crate) after: Place,
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

    /// Events of a window since the origin. Linear in the events from the place asked for on, as far as they are looked at.
    ///
    /// # Errors
    /// The expression is none.
    pub(crate) fn events(&self, asked: &Asked) -> Result<EventsShown, ApiError> {
        let search = Search::of(&asked.search)?;
        let limit = asked.limit.clamp(1, MOST_EVENTS);
        let window = (i128::from(asked.window.0) + self.origin, i128::from(asked.window.1) + self.origin);
        let mut bindings: FxHashMap<(usize, usize, usize), Binding> = FxHashMap::default();
        let (mut events, mut looked_at, mut next) = (Vec::new(), 0_u64, None);
        // Where it is: the instant, and how many events of it have fitted.
        let mut here = Place { at: i64::MIN, skip: 0 };
        let mut text: Vec<u8> = Vec::new();
        let since = window.0.max(i128::from(asked.after.at) + self.origin);
        self.each_event(&asked.hosts, since, |it| {
            if it.unix >= window.1 {
                return false;
            }
            let at = self.since(it.unix);
            if at != here.at {
                here = Place { at, skip: 0 };
            }
            looked_at += 1;
            if looked_at > MOST_LOOKED_AT {
                next = Some(here);
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
            if at > asked.after.at || here.skip >= asked.after.skip {
                if events.len() == limit {
                    next = Some(here);
                    return false;
                }
                if text.is_empty() {
                    write_fields(it.event, &mut text);
                }
                events.push(EventShown {
                    at,
                    host: it.host,
                    cpu: it.cpu,
                    name: it.event.name().unwrap_or_default().to_owned(),
                    text: String::from_utf8_lossy(&text).into_owned(),
                    row: None,
                });
            }
            here.skip += 1;
            true
        });
        self.find_rows(&mut events)?;
        Ok(EventsShown { events, next, command: self.command_of_events(asked) })
    }

    /// The command that shows the same events. What a text is looked for in is its output.
    fn command_of_events(&self, asked: &Asked) -> String {
        let mut command = "events".to_owned();
        let hosts: Vec<String> = asked
            .hosts
            .iter()
            .filter_map(|&host| self.hosts.get(host))
            .map(|host| CommandLine::word(&host.name))
            .collect();
        if !hosts.is_empty() {
            command += &format!(" --host {}", hosts.join(","));
        }
        let text = asked.search.trim();
        let expression = text.strip_prefix('=').map(str::trim);
        if let Some(expression) = expression {
            command += &format!(" --where {}", CommandLine::word(expression));
        }
        let command = self.command_of(&command, Some(asked.window));
        match text.is_empty() || expression.is_some() {
            true => command,
            false => format!("{command} | grep -F {}", CommandLine::word(text)),
        }
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
