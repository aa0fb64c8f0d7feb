//! Events that are named by their host, a condition, a time or a number. Not exactly one such event is an
//! error, which lists some.

use std::collections::VecDeque;

use isochrone_ctf::{Diagnostic, Event};
use isochrone_experiment::{Experiment, Instant, Opened, TimedTrace, TimedTraces};
use isochrone_time::UnixNs;
use isochrone_timing::{check_names, extent_of_events};

use super::events::{hosts_of, refuse_chunks};
use super::filter::BoundCondition;
use super::host_selection;
use crate::arguments::{EventArg, EventFormat};
use crate::event_cpu::EventCpus;
use crate::render::events::{Printer, Style};
use crate::render::figures;
use crate::render::plain::{Plain, plain};

/// Maximum number of events that an error lists.
const MAX_LISTED: usize = 4;

/// An event that was named.
pub(super) struct NamedEvent<'c> {
    pub(super) instant: Instant<'c>,
    /// The host, as it was typed.
    pub(super) host: &'c str,
    /// The name of the event.
    pub(super) name: String,
}

/// A search for an event, and what it has found.
struct Search<'a, 'e> {
    wanted: &'a EventArg,
    condition: BoundCondition<'a>,
    /// Unix time, where it has one.
    at: Option<UnixNs>,
    /// Number of events that match, at the given time if there is one.
    count: u64,
    /// The first of them.
    matches: Vec<Match<'e>>,
    /// The last ones before the given time and the first ones after it.
    near: VecDeque<Match<'e>>,
    after: usize,
}

/// An event that matches: index of the trace, time, the event and its number among all.
type Match<'e> = (usize, Option<UnixNs>, Event<'e>, u64);

/// Finds events, in one pass over the traces of their hosts; with what could not be read on the way.
///
/// # Errors
/// There is no such host, no such field, or not exactly one such event.
pub(super) fn find<'c>(
    opened: &'c Opened,
    wanted: &'c [EventArg],
) -> anyhow::Result<(Vec<NamedEvent<'c>>, Vec<Diagnostic>)> {
    if wanted.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let experiment = opened.experiment();
    refuse_chunks(&experiment)?;
    let TimedTraces { traces: mut sources, .. } = experiment.traces();
    let is_of = |source: &TimedTrace<'_>, event: &EventArg| {
        source.host == event.host || source.clock().is_some_and(|clock| clock.entry.host == event.host)
    };
    let names = |source: &TimedTrace<'c>| {
        [Some(source.host.clone()), source.clock().map(|clock| clock.entry.host.clone())]
            .into_iter()
            .flatten()
    };
    let known: Vec<String> = sources.iter().flat_map(names).collect();
    let hosts: Vec<String> = wanted.iter().map(|event| event.host.clone()).collect();
    check_names(&hosts, known.iter().map(String::as_str))
        .map_err(|error| host_selection::unknown_host(&error))?;
    sources.retain(|source| wanted.iter().any(|event| is_of(source, event)));
    let mut searches = Vec::with_capacity(wanted.len());
    for event in wanted {
        let traces = || sources.iter().filter(|source| is_of(source, event));
        let events = || extent_of_events(hosts_of(&experiment, traces()));
        let at = event.at.map(|at| at.unix(events())).transpose().map_err(anyhow::Error::msg)?;
        let condition = BoundCondition::new("--event", &event.condition, &sources)?;
        searches.push(Search {
            wanted: event,
            condition,
            at,
            count: 0,
            matches: Vec::new(),
            near: VecDeque::new(),
            after: 0,
        });
    }
    let lost = read(&experiment, &sources, &mut searches, is_of);
    let mut found = Vec::with_capacity(searches.len());
    for search in &searches {
        let (source, _, event, number) = search.only(&sources)?;
        let traced = &sources[*source];
        let (Some(clock), Some(raw)) = (traced.clock(), traced.raw(event)) else {
            anyhow::bail!("{}: this event has no time", Plain(&search.wanted.text));
        };
        let index = Some(((traced.place << 32) | event.stream(), *number));
        found.push(NamedEvent {
            instant: Instant::of_event(clock, raw, index),
            host: &search.wanted.host,
            name: event.name().unwrap_or("?").to_owned(),
        });
    }
    Ok((found, lost))
}

/// Reads events until all searches are over.
fn read<'e>(
    experiment: &Experiment<'e>,
    sources: &[TimedTrace<'e>],
    searches: &mut [Search<'_, 'e>],
    is_of: impl Fn(&TimedTrace<'_>, &EventArg) -> bool,
) -> Vec<Diagnostic> {
    let mut cpus = EventCpus::default();
    let mut merge = experiment.events(sources);
    for ((source, unix, event), number) in merge.by_ref().zip(0_u64..) {
        for search in searches.iter_mut().filter(|search| is_of(&sources[source], search.wanted)) {
            let cpu = cpus.of(source, &event);
            if search.condition.holds(source, &sources[source].host, cpu, &event) {
                search.take((source, unix, event, number));
            }
        }
        if searches.iter().all(|search| search.is_over(unix)) {
            break;
        }
    }
    merge.diagnostics().cloned().collect()
}

impl<'e> Search<'_, 'e> {
    fn take(&mut self, found: Match<'e>) {
        if let Some(at) = self.at
            && found.1 != Some(at)
        {
            let is_before = found.1.is_some_and(|time| time < at);
            match is_before {
                true if self.near.len() == MAX_LISTED / 2 => drop(self.near.pop_front()),
                true => {}
                false if self.after == MAX_LISTED / 2 => return,
                false => self.after += 1,
            }
            self.near.push_back(found);
            return;
        }
        self.count += 1;
        let is_wanted = self.wanted.number.is_none_or(|number| number.get() == self.count);
        if self.matches.len() < MAX_LISTED && (is_wanted || self.wanted.number.is_none()) {
            self.matches.push(found);
        }
    }

    /// Whether no later event can be the one, nor be listed.
    fn is_over(&self, at: Option<UnixNs>) -> bool {
        let is_numbered = self.wanted.number.is_some() && !self.matches.is_empty();
        let is_past = self.at.zip(at).is_some_and(|(at, time)| time > at);
        is_numbered || is_past && (self.count > 0 || self.after == MAX_LISTED / 2)
    }

    /// The only event that matches.
    fn only(&self, sources: &[TimedTrace<'_>]) -> anyhow::Result<&Match<'e>> {
        let text = Plain(&self.wanted.text);
        let host = plain(&self.wanted.host);
        match (&self.matches[..], self.wanted.number) {
            ([only], _) => Ok(only),
            ([], Some(_)) if self.count > 0 => {
                anyhow::bail!("--event {text}: {host} has only {}", figures::plural(self.count, "such event"))
            }
            ([], _) if self.near.is_empty() => anyhow::bail!("--event {text}: {host} has no such event"),
            ([], _) => anyhow::bail!(
                "--event {text}: {host} has no such event at this time; the nearest are\n{}",
                lines(sources, self.near.iter())
            ),
            (several, _) => anyhow::bail!(
                "--event {text}: {host} has {} such events; add @TIME or #N, or a narrower condition. The first are\n{}",
                figures::count(self.count),
                lines(sources, several.iter())
            ),
        }
    }
}

/// Events as `isochrone events` shows them.
fn lines<'m, 'e: 'm>(sources: &[TimedTrace<'e>], events: impl Iterator<Item = &'m Match<'e>>) -> String {
    let style = Style { format: EventFormat::Text, bounds: false, date: false, explains: false };
    let mut shown = Vec::new();
    let mut printer = Printer::new(style, sources, None, &mut shown);
    for (source, unix, event, _) in events {
        // It is written to memory.
        let _ = printer.event(*source, *unix, event);
    }
    let _ = printer.finish();
    String::from_utf8_lossy(&shown).trim_end().to_owned()
}
