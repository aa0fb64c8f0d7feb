//! The main job: traces in, artefact out.

use isochrone_clock::{ClockError, Network, Span, solve};
use isochrone_ctf::{Diagnostic, Trace};

use crate::Progress;
use crate::advice::{self, Advice};
use crate::artefact::Artefact;
use crate::assemble::assemble;
use crate::extract::{Extraction, extract};
use crate::facts::TraceFacts;
use crate::hosts::{self, HostClock};
use crate::input::{Inputs, Refused};
use crate::links::{self, Links};
use crate::matching::Matcher;
use crate::notes;
use crate::options::Options;
use crate::record::Sighting;
use crate::traffic::Traffic;

/// The artefact and what a report says beside it.
#[derive(Debug)]
pub struct Outcome {
    /// The result.
    pub artefact: Artefact,
    /// What each trace gave, by input trace; traces without a clock gave nothing.
    pub facts: Vec<TraceFacts>,
    /// Packets that no other host saw.
    pub unmatched: u64,
    /// Hosts that lack something, and how to record it.
    pub advice: Vec<Advice>,
    /// What was found useless beyond [`Inputs::refused`]; the artefact names all of them.
    pub refused: Vec<Refused>,
    /// Things worth knowing that cost nothing, beyond [`Inputs::notes`].
    pub notes: Vec<String>,
    /// Whether something was refused or damaged, or hosts fall into islands.
    pub partial: bool,
}

/// Why nothing could be synchronized.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// No trace with a clock and events.
    #[error("no trace holds events with times{}", listed(refused))]
    NothingToDo {
        /// Why each of them is of no use.
        refused: Vec<Refused>,
    },
    /// `--reference` names no host.
    #[error("no host is called `{name}`; there are {known}")]
    UnknownReference {
        /// The name given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Times beyond what can be computed with.
    #[error(transparent)]
    Clock(#[from] ClockError),
}

fn listed(refused: &[Refused]) -> String {
    let lines: Vec<String> =
        refused.iter().map(|Refused { name, why, .. }| format!("\n  {name}: {why}")).collect();
    lines.concat()
}

/// Reads all traces once, matches their packets, and puts their clocks on one.
///
/// # Errors
/// There is nothing to work on, or the reference is unknown. Everything that costs only a part comes back as a value.
pub fn synchronize(inputs: &Inputs, options: &Options, progress: Progress<'_>) -> Result<Outcome, SyncError> {
    let traces: Vec<&Trace> = inputs.traces.iter().map(|input| &input.trace).collect();
    let stamped = hosts::group(&traces);
    let mut refused = unclocked(inputs, &stamped);
    let Extraction { facts, traffic, sightings } = read(inputs, &stamped, progress);

    let (mut clocks, mut spans) = (Vec::new(), Vec::new());
    let numbers: Vec<Option<usize>> = stamped
        .into_iter()
        .map(|clock| {
            let Some(span) = span(inputs, &clock, &facts) else {
                refused.extend(eventless(inputs, &clock, &facts));
                return None;
            };
            clocks.push(clock);
            spans.push(span);
            Some(clocks.len() - 1)
        })
        .collect();
    if clocks.is_empty() {
        return Err(SyncError::NothingToDo { refused });
    }
    let reference = find_reference(&clocks, options.reference.as_deref())?;
    let mut matcher = Matcher::default();
    for sighting in sightings {
        if let Some(clock) = numbers[sighting.clock] {
            matcher.add(Sighting { clock, ..sighting });
        }
    }
    let matches = matcher.finish();
    let messages = Links::new(&matches);
    let network = Network { clocks: spans, links: messages.corridors(), model: options.model, reference };
    let solution = solve(&network)?;
    refused.extend(links::refused(&clocks, &solution));

    let notes = notes::about(inputs, &clocks, &facts, &solution, options);
    let mut artefact = assemble(inputs, &clocks, &solution, &messages, reference, options);
    artefact.refused = inputs.refused.iter().chain(&refused).map(Into::into).collect();
    let opened = inputs.traces.iter().flat_map(|input| input.trace.diagnostics());
    let damaged = opened.chain(facts.iter().flat_map(TraceFacts::diagnostics)).any(Diagnostic::is_loss);
    let partial = damaged || !artefact.refused.is_empty() || artefact.islands.len() > 1;
    let advice = advice::for_hosts(&clocks, &traffic);
    Ok(Outcome { artefact, facts, unmatched: matches.unmatched, advice, refused, notes, partial })
}

/// Traces that no clock stamps, or none that can be used.
fn unclocked(inputs: &Inputs, clocks: &[HostClock]) -> Vec<Refused> {
    let without = inputs
        .traces
        .iter()
        .enumerate()
        .filter(|(index, _)| !clocks.iter().any(|c| c.traces.contains(index)));
    without
        .map(|(_, input)| {
            let why = match input.trace.schema().single_clock() {
                Some(clock) => format!("the offset of its clock `{}` does not fit 64 bits of ns", clock.name),
                None => "no clock stamps its events, or more than one does".to_owned(),
            };
            Refused { what: "trace", name: input.path().display().to_string(), why }
        })
        .collect()
}

/// Reads the traces of all clocks: what they gave by input trace, sightings with the numbers of their clocks.
fn read(inputs: &Inputs, clocks: &[HostClock], progress: Progress<'_>) -> Extraction {
    let mut order = Vec::new();
    for (number, clock) in clocks.iter().enumerate() {
        order.extend(clock.traces.iter().map(|&trace| (trace, number)));
    }
    let traces: Vec<_> = order.iter().map(|&(trace, clock)| (&inputs.traces[trace].trace, clock)).collect();
    let found = extract(&traces, progress);
    let mut facts = vec![TraceFacts::default(); inputs.traces.len()];
    let mut traffic = vec![Traffic::default(); inputs.traces.len()];
    for (((trace, _), found), shown) in order.into_iter().zip(found.facts).zip(found.traffic) {
        facts[trace] = found;
        traffic[trace] = shown;
    }
    Extraction { facts, traffic, sightings: found.sightings }
}

/// First and last event of a clock over all its traces, raw ns.
fn span(inputs: &Inputs, clock: &HostClock, facts: &[TraceFacts]) -> Option<Span> {
    let of = |pick: fn(&TraceFacts) -> Option<u64>| {
        clock.traces.iter().filter_map(move |&trace| {
            let stamps = inputs.traces[trace].trace.schema().single_clock()?;
            i64::try_from(stamps.raw_ns(pick(&facts[trace])?)).ok()
        })
    };
    Some(Span { begin: of(TraceFacts::first).min()?, end: of(TraceFacts::last).max()? })
}

/// The traces of a clock without a usable time.
fn eventless(inputs: &Inputs, clock: &HostClock, facts: &[TraceFacts]) -> Vec<Refused> {
    let refuse = |&trace: &usize| {
        let why = match facts[trace].events() {
            0 => "it holds no events".to_owned(),
            events => format!("none of its {events} events has a time that fits 64 bits of ns"),
        };
        Refused { what: "trace", name: inputs.traces[trace].path().display().to_string(), why }
    };
    clock.traces.iter().map(refuse).collect()
}

fn find_reference(clocks: &[HostClock], name: Option<&str>) -> Result<Option<usize>, SyncError> {
    let Some(name) = name else { return Ok(None) };
    let names =
        clocks.iter().map(|clock| (clock.host.as_str(), clock.id.as_str(), clock.hostnames.as_slice()));
    hosts::find(names, name).map(Some).ok_or_else(|| SyncError::UnknownReference {
        name: name.to_owned(),
        known: clocks.iter().map(|clock| clock.host.as_str()).collect::<Vec<_>>().join(", "),
    })
}
