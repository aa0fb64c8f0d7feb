//! Events that are named: by their host, a condition, a time or a number. Exactly one event is meant, or it is an error that lists what there is.

use std::collections::VecDeque;

use isochrone_ctf::{Diagnostic, Event};
use isochrone_experiment::{Experiment, Instant, Opened, TimedTrace, TimedTraces, check_names};
use isochrone_sync::apply::Clock;

use super::filter::Holding;
use super::host_selection;
use crate::arguments::{EventFormat, EventOf};
use crate::event_cpu::EventCpus;
use crate::render::events::{Printer, Style};
use crate::render::figures;
use crate::render::plain::{Plain, plain};

/// Events that an error lists.
const MOST_LISTED: usize = 4;

/// An event that was named.
pub(super) struct Found<'c> {
    pub(super) instant: Instant<'c>,
    /// The host, as it was typed.
    pub(super) host: &'c str,
    /// The name of the event.
    pub(super) name: String,
}

/// What is looked for, and what was seen of it.
struct Search<'a, 'e> {
    asked: &'a EventOf,
    condition: Holding<'a>,
    /// Unix time, where it has one.
    at: Option<i128>,
    /// Events that are alike, and of the time that was given.
    count: u64,
    /// The first of them: trace, its Unix time, the event and its place among all.
    matches: Vec<Match<'e>>,
    /// Where none is of the time that was given: the last ones before it and the first ones after it.
    near: VecDeque<Match<'e>>,
    after: usize,
}

type Match<'e> = (usize, Option<i128>, Event<'e>, u64);

/// Finds events, in one pass over the traces of their hosts; with what could not be read on the way.
///
/// # Errors
/// There is no such host, no such field, or not exactly one such event.
pub(super) fn find<'c>(
    opened: &'c Opened,
    asked: &'c [EventOf],
) -> anyhow::Result<(Vec<Found<'c>>, Vec<Diagnostic>)> {
    if asked.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let experiment = opened.experiment();
    let TimedTraces { traces: mut sources, .. } = experiment.traces();
    let is_of = |source: &TimedTrace<'_>, asked: &EventOf| {
        source.host == asked.host || source.clock().is_some_and(|clock| clock.entry.host == asked.host)
    };
    let names = |source: &TimedTrace<'c>| {
        [Some(source.host.clone()), source.clock().map(|clock| clock.entry.host.clone())]
            .into_iter()
            .flatten()
    };
    let known: Vec<String> = sources.iter().flat_map(names).collect();
    let hosts: Vec<String> = asked.iter().map(|asked| asked.host.clone()).collect();
    check_names(&hosts, known.iter().map(String::as_str))
        .map_err(|error| host_selection::unknown_host(&error))?;
    sources.retain(|source| asked.iter().any(|asked| is_of(source, asked)));
    let mut searches = Vec::with_capacity(asked.len());
    for asked in asked {
        let of_host = sources.iter().filter(|source| is_of(source, asked));
        let first = |clock: &Clock| Some(clock.unix_ns(clock.interval.rows().first()?.raw));
        let begin = of_host.filter_map(|source| first(source.clock()?)).min();
        let at = asked.at.map(|at| at.unix_ns(begin)).transpose().map_err(anyhow::Error::msg)?;
        let condition = Holding::new("--event", &asked.condition, &sources)?;
        searches.push(Search {
            asked,
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
        let (Some(clock), Some(raw)) = (traced.clock(), traced.raw_ns(event)) else {
            anyhow::bail!("{}: this event has no time", Plain(&search.asked.text));
        };
        let place = Some(((traced.place << 32) | event.stream(), *number));
        found.push(Found {
            instant: Instant::of_event(clock, raw, place),
            host: &search.asked.host,
            name: event.name().unwrap_or("?").to_owned(),
        });
    }
    Ok((found, lost))
}

/// Reads events until all that is looked for was seen.
fn read<'e>(
    experiment: &Experiment<'e>,
    sources: &[TimedTrace<'e>],
    searches: &mut [Search<'_, 'e>],
    is_of: impl Fn(&TimedTrace<'_>, &EventOf) -> bool,
) -> Vec<Diagnostic> {
    let mut cpus = EventCpus::default();
    let mut merge = experiment.events(sources);
    for ((source, unix_ns, event), number) in merge.by_ref().zip(0_u64..) {
        for search in searches.iter_mut().filter(|search| is_of(&sources[source], search.asked)) {
            let cpu = cpus.of(source, &event);
            if search.condition.holds((source, &sources[source].host), cpu, &event) {
                search.take((source, unix_ns, event, number));
            }
        }
        if searches.iter().all(|search| search.is_over(unix_ns)) {
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
                true if self.near.len() == MOST_LISTED / 2 => drop(self.near.pop_front()),
                true => {}
                false if self.after == MOST_LISTED / 2 => return,
                false => self.after += 1,
            }
            self.near.push_back(found);
            return;
        }
        self.count += 1;
        let is_wanted = self.asked.number.is_none_or(|number| number.get() == self.count);
        if self.matches.len() < MOST_LISTED && (is_wanted || self.asked.number.is_none()) {
            self.matches.push(found);
        }
    }

    /// Whether no later event can be the one, nor be listed.
    fn is_over(&self, unix_ns: Option<i128>) -> bool {
        let is_numbered = self.asked.number.is_some() && !self.matches.is_empty();
        let is_past = self.at.zip(unix_ns).is_some_and(|(at, time)| time > at);
        is_numbered || is_past && (self.count > 0 || self.after == MOST_LISTED / 2)
    }

    /// The event that was meant.
    fn only(&self, sources: &[TimedTrace<'_>]) -> anyhow::Result<&Match<'e>> {
        let asked = Plain(&self.asked.text);
        let host = plain(&self.asked.host);
        match (&self.matches[..], self.asked.number) {
            ([only], _) => Ok(only),
            ([], Some(_)) if self.count > 0 => {
                anyhow::bail!(
                    "--event {asked}: {host} has only {}",
                    figures::plural(self.count, "such event")
                )
            }
            ([], _) if self.near.is_empty() => anyhow::bail!("--event {asked}: {host} has no such event"),
            ([], _) => anyhow::bail!(
                "--event {asked}: {host} has no such event at this time; near it are\n{}",
                lines(sources, self.near.iter())
            ),
            (several, _) => anyhow::bail!(
                "--event {asked}: {host} has {} events that fit; add @TIME or #N, or say more of it. The first are\n{}",
                figures::count(self.count),
                lines(sources, several.iter())
            ),
        }
    }
}

/// Events as `isochrone events` shows them.
fn lines<'m, 'e: 'm>(sources: &[TimedTrace<'e>], events: impl Iterator<Item = &'m Match<'e>>) -> String {
    let style = Style { format: EventFormat::Text, bounds: false, date: false };
    let mut shown = Vec::new();
    let mut printer = Printer::new(style, sources, None, &mut shown);
    for (source, unix_ns, event, _) in events {
        // It is written to memory.
        let _ = printer.event(*source, *unix_ns, event);
    }
    let _ = printer.finish();
    String::from_utf8_lossy(&shown).trim_end().to_owned()
}
