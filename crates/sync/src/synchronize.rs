//! The main job: traces in, artefact out.

use isochrone_clock::{ClockError, Network, Span, solve};
use isochrone_ctf::Severity;

use crate::Progress;
use crate::advice::{self, Advice};
use crate::artefact::Artefact;
use crate::assemble::{Links, assemble};
use crate::extract::{TraceFacts, extract};
use crate::hosts::{self, HostClock};
use crate::input::{Inputs, Refused};
use crate::matching::Matcher;
use crate::options::Options;
use crate::record::Sighting;

/// Offsets of one clock that differ by more than this in two traces are worth a word: LTTng samples the offset anew for
/// each domain, which differs by microseconds; more than that and somebody set the wall clock.
const OFFSET_STEP_NS: i64 = 1_000_000;

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
    /// Things worth knowing that cost nothing.
    pub notes: Vec<String>,
    /// Whether something was refused, or hosts fall into islands.
    pub partial: bool,
}

/// Why nothing could be synchronized.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// No trace with a clock and events.
    #[error("no trace holds events with times")]
    NothingToDo,
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

/// Reads all traces once, matches their packets, and puts their clocks on one.
///
/// # Errors
/// There is nothing to work on, or the reference is unknown. Everything that costs only a part comes back as a value.
pub fn synchronize(inputs: &Inputs, options: &Options, progress: Progress<'_>) -> Result<Outcome, SyncError> {
    let mut refused = inputs.refused.clone();
    let mut stamped = hosts::group(inputs.traces.iter().map(|input| &input.trace).enumerate());
    // By name, so that the order of the clocks is that of the artefact.
    stamped.sort_by(|a, b| a.host.cmp(&b.host));
    refuse_unclocked(inputs, &stamped, &mut refused);
    let (facts, sightings) = read(inputs, &stamped, progress);

    let (mut clocks, mut spans) = (Vec::new(), Vec::new());
    let numbers: Vec<Option<usize>> = stamped
        .into_iter()
        .map(|clock| {
            let Some(span) = span(&clock, &facts) else {
                refuse_eventless(inputs, &clock, &facts, &mut refused);
                return None;
            };
            clocks.push(clock);
            spans.push(span);
            Some(clocks.len() - 1)
        })
        .collect();
    if clocks.is_empty() {
        return Err(SyncError::NothingToDo);
    }
    let reference = find_reference(&clocks, options.reference.as_deref())?;
    let mut matcher = Matcher::default();
    for sighting in sightings {
        if let Some(clock) = numbers[sighting.clock] {
            matcher.add(Sighting { clock, ..sighting });
        }
    }
    let matches = matcher.finish();
    let links = Links::new(&matches);
    let network =
        Network { clocks: spans, links: links.corridors(), prior_ppm: options.rate_prior_ppm, reference };
    let solution = solve(&network)?;

    let notes = inputs.notes.iter().cloned().chain(notes(inputs, &clocks, &facts)).collect();
    let artefact = assemble(inputs, &clocks, &solution, &links, &matches, options, refused);
    let damaged = facts.iter().any(|f| !f.diagnostics.is_empty())
        || inputs.traces.iter().flat_map(|i| i.trace.diagnostics()).any(|d| d.severity == Severity::Loss);
    let partial = damaged || !artefact.refused.is_empty() || artefact.islands.len() > 1;
    let advice = advice::for_hosts(&clocks, &facts);
    Ok(Outcome { artefact, facts, unmatched: matches.unmatched, advice, notes, partial })
}

fn refuse_unclocked(inputs: &Inputs, clocks: &[HostClock], refused: &mut Vec<Refused>) {
    for (index, input) in inputs.traces.iter().enumerate() {
        if !clocks.iter().any(|clock| clock.traces.contains(&index)) {
            let why = match input.trace.schema().single_clock() {
                Some(clock) => format!("the offset of its clock `{}` does not fit 64 bits", clock.name),
                None => "no clock stamps its events, or more than one does".to_owned(),
            };
            refused.push(Refused { what: "trace", name: input.path().display().to_string(), why });
        }
    }
}

/// Reads the traces of all clocks: facts by input trace, sightings with the numbers of their clocks.
fn read(inputs: &Inputs, clocks: &[HostClock], progress: Progress<'_>) -> (Vec<TraceFacts>, Vec<Sighting>) {
    let mut order = Vec::new();
    for (number, clock) in clocks.iter().enumerate() {
        order.extend(clock.traces.iter().map(|&trace| (trace, number)));
    }
    let traces: Vec<_> = order.iter().map(|&(trace, clock)| (&inputs.traces[trace].trace, clock)).collect();
    let extraction = extract(&traces, progress);
    let mut facts = vec![TraceFacts::default(); inputs.traces.len()];
    for ((trace, _), found) in order.into_iter().zip(extraction.facts) {
        facts[trace] = found;
    }
    (facts, extraction.sightings)
}

/// First and last event of a clock over all its traces.
fn span(clock: &HostClock, facts: &[TraceFacts]) -> Option<Span> {
    let of = |pick: fn(&TraceFacts) -> Option<i64>| {
        clock.traces.iter().filter_map(move |&trace| pick(&facts[trace]))
    };
    Some(Span { begin: of(|f| f.first).min()?, end: of(|f| f.last).max()? })
}

fn refuse_eventless(inputs: &Inputs, clock: &HostClock, facts: &[TraceFacts], refused: &mut Vec<Refused>) {
    for &trace in &clock.traces {
        let name = inputs.traces[trace].path().display().to_string();
        let why = match facts[trace].events {
            0 => "it holds no events".to_owned(),
            events => format!("none of its {events} events has a time that fits 64 bits of ns"),
        };
        refused.push(Refused { what: "trace", name, why });
    }
}

fn find_reference(clocks: &[HostClock], name: Option<&str>) -> Result<Option<usize>, SyncError> {
    let Some(name) = name else { return Ok(None) };
    clocks
        .iter()
        .position(|clock| clock.host == name || clock.id == name)
        .or_else(|| clocks.iter().position(|clock| clock.hostnames.iter().any(|host| host == name)))
        .map(Some)
        .ok_or_else(|| SyncError::UnknownReference {
            name: name.to_owned(),
            known: clocks.iter().map(|clock| clock.host.as_str()).collect::<Vec<_>>().join(", "),
        })
}

/// What is odd about the inputs but costs nothing.
fn notes(inputs: &Inputs, clocks: &[HostClock], facts: &[TraceFacts]) -> Vec<String> {
    let mut notes = Vec::new();
    for clock in clocks {
        let offsets = clock.traces.iter().filter_map(|&trace| {
            inputs.traces[trace].trace.schema().single_clock().and_then(hosts::offset_ns)
        });
        let step = offsets.clone().max().zip(offsets.min()).map_or(0, |(max, min)| max - min);
        if step > 0 {
            let cause = if step > OFFSET_STEP_NS {
                "its wall clock was set between the recordings"
            } else {
                "LTTng samples the offset anew for each of them"
            };
            notes.push(format!(
                "{}: the clock offsets of its traces differ by {step} ns ({cause}); times are taken from the clock \
                 itself, so nothing else changes",
                clock.host
            ));
        }
        let lost =
            clock.traces.iter().map(|&trace| (facts[trace].discarded_events, facts[trace].discarded_packets));
        let (events, packets) = lost.fold((0, 0), |sum, add| (sum.0 + add.0, sum.1 + add.1));
        if events > 0 || packets > 0 {
            notes.push(format!("{}: the tracer lost {events} events and {packets} packets", clock.host));
        }
    }
    if clocks.len() == 1 {
        notes.push(format!(
            "all traces are of one clock, that of {}: there is nothing to synchronize",
            clocks[0].host
        ));
    }
    notes
}
