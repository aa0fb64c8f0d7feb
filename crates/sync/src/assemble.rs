//! From a solution of the clocks to the artefact.

use isochrone_clock::{Bounded, LinkQuality, LinkReport, SlopeRange, Solution};

use crate::artefact::{
    Artefact, ClockEntry, Formula, IslandEntry, LinkEntry, MessageCounts, Model, Quality, TraceEntry, VERSION,
};
use crate::hosts::{self, HostClock};
use crate::input::Inputs;
use crate::links::{Links, inversions};
use crate::matching::Matches;
use crate::options::Options;

/// The clocks are taken for straight lines.
const WANDER_PPM: f64 = 0.0;
/// `e95` is the half width of the interval: it makes nothing of the delays being about the same both ways.
const ASYMMETRY: f64 = 1.0;
/// How the point inside the corridors is chosen: the whole graph's sum of margins is made greatest.
const METHOD: &str = "margin";

/// Puts everything but refusals into its place in the artefact.
pub(crate) fn assemble(
    inputs: &Inputs,
    clocks: &[HostClock],
    solution: &Solution,
    links: &Links,
    matches: &Matches,
    reference: Option<usize>,
    options: &Options,
) -> Artefact {
    let name = |clock: usize| clocks[clock].host.clone();
    let island_of = |clock: usize| solution.islands.iter().position(|i| i.clocks.contains(&clock));
    let islands = solution.islands.iter().enumerate().map(|(id, island)| IslandEntry {
        id,
        reference: name(island.reference),
        hosts: island.clocks.iter().map(|&clock| name(clock)).collect(),
    });
    let entries = clocks
        .iter()
        .enumerate()
        .filter_map(|(index, clock)| Some(clock_entry(inputs, clock, index, island_of(index)?, solution)));
    let inversions = inversions(matches, solution, &island_of);
    let mut link_entries = Vec::new();
    for a in 0..clocks.len() {
        for b in a + 1..clocks.len() {
            let report = solution.links.iter().find(|l| (l.a, l.b) == (a, b));
            let mut entry = link_entry(&clocks[a], &clocks[b], report, links.counts(a, b), options);
            entry.inversions = inversions.get(&(a, b)).copied().unwrap_or(0);
            link_entries.push(entry);
        }
    }
    // The reference asked for, else that of the largest island.
    let largest = solution.islands.iter().max_by_key(|i| (i.clocks.len(), std::cmp::Reverse(i.reference)));
    let reference = reference.or_else(|| largest.map(|island| island.reference));
    Artefact {
        version: VERSION,
        reference: reference.map(name).unwrap_or_default(),
        model: Model { wander_ppm: WANDER_PPM, rate_prior_ppm: options.rate_prior_ppm, asymmetry: ASYMMETRY },
        islands: islands.collect(),
        clocks: entries.collect(),
        links: link_entries,
        suspects: Vec::new(),
        refused: Vec::new(),
        contradictions: Vec::new(),
    }
}

fn clock_entry(
    inputs: &Inputs,
    clock: &HostClock,
    index: usize,
    island: usize,
    solution: &Solution,
) -> ClockEntry {
    let correction = &solution.corrections[index];
    let traces = clock.traces.iter().map(|&trace| {
        let trace = &inputs.traces[trace].trace;
        let offset_ns = trace.schema().single_clock().and_then(hosts::offset_ns).unwrap_or(clock.offset_ns);
        TraceEntry { path: trace.path().display().to_string(), offset_ns }
    });
    ClockEntry {
        id: clock.id.clone(),
        host: clock.host.clone(),
        hostnames: clock.hostnames.clone(),
        island,
        clock_offset_ns: clock.offset_ns,
        traces: traces.collect(),
        knots: correction.knots().to_vec(),
        rate_before: correction.rate_before().to_string(),
        rate_after: correction.rate_after().to_string(),
        formula: Formula::of(correction),
        interval: solution.intervals[index].rows().iter().map(|r| (r.raw, r.lo, r.hi, r.e95)).collect(),
        breaks: Vec::new(),
    }
}

fn link_entry(
    a: &HostClock,
    b: &HostClock,
    report: Option<&LinkReport>,
    messages: MessageCounts,
    options: &Options,
) -> LinkEntry {
    let mut entry = LinkEntry {
        a: a.host.clone(),
        b: b.host.clone(),
        quality: Quality::Absent,
        method: METHOD.to_owned(),
        messages,
        inversions: 0,
        rate_ppm: (None, None),
        offset_at_middle_ns: (None, None),
        min_rtt_ns: None,
    };
    let Some(report) = report else { return entry };
    entry.rate_ppm = report.rate_ppm;
    entry.quality = match &report.quality {
        LinkQuality::Accurate => Quality::Accurate,
        LinkQuality::Incomplete | LinkQuality::OneWay => Quality::Incomplete,
        LinkQuality::Approximate { .. } => Quality::Approximate,
        LinkQuality::Absent => Quality::Absent,
        LinkQuality::Refused { .. } => Quality::Refused,
    };
    if let Some(bounded) = relation(report, options) {
        let (first, last) = report.corridor.x_range().unwrap_or_default();
        let (lo, hi) = bounded.offset_bounds_at(first + (last - first) / 2);
        let with_offsets = |raw: i64| raw.checked_add(b.offset_ns.checked_sub(a.offset_ns)?);
        entry.offset_at_middle_ns = (lo.and_then(with_offsets), hi.and_then(with_offsets));
        entry.min_rtt_ns = bounded.margin_line().map(|line| line.margin_ns().saturating_mul(2));
    }
    entry
}

/// The relation that a link's messages prove: by themselves where they bound the rate, else within the prior.
fn relation(report: &LinkReport, options: &Options) -> Option<Bounded> {
    let (min, max) = report.rate_ppm;
    let range = if min.is_some() && max.is_some() {
        SlopeRange::UNBOUNDED
    } else {
        SlopeRange::prior(options.rate_prior_ppm)
    };
    report.corridor.within(range).ok()
}
