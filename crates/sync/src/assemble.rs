//! From a solution of the clocks to the artefact.

use std::collections::BTreeMap;

use isochrone_clock::{Bounded, Corridor, LinkData, LinkQuality, LinkReport, SlopeRange, Solution};

use crate::artefact::{
    Artefact, ClockEntry, Formula, IslandEntry, LinkEntry, MessageCounts, Model, Quality, RefusedEntry,
    TraceEntry, VERSION,
};
use crate::hosts::{self, HostClock};
use crate::input::{Inputs, Refused};
use crate::matching::{Matches, Message};
use crate::options::Options;

/// The clocks are taken for straight lines.
const WANDER_PPM: f64 = 0.0;
/// `e95` is the half width of the interval: it makes nothing of the delays being about the same both ways.
const ASYMMETRY: f64 = 1.0;
/// How the point inside the corridors is chosen: the whole graph's sum of margins is made greatest.
const METHOD: &str = "margin";

/// The messages of every pair of clocks `(a, b)`, `a < b`.
#[derive(Debug, Default)]
pub(crate) struct Links {
    pairs: BTreeMap<(usize, usize), Pair>,
}

#[derive(Debug, Default)]
struct Pair {
    corridor: Corridor,
    counts: MessageCounts,
}

impl Links {
    pub(crate) fn new(matches: &Matches) -> Self {
        let mut links = Self::default();
        for message in &matches.messages {
            let (a, b) = pair_of(message.sender, message.receiver);
            let Pair { corridor, counts } = links.pairs.entry((a, b)).or_default();
            let (inserted, count) = if message.sender == a {
                (corridor.a_to_b(message.sent, message.received), &mut counts.a_to_b)
            } else {
                (corridor.b_to_a(message.sent, message.received), &mut counts.b_to_a)
            };
            *(if inserted.is_ok() { count } else { &mut counts.dropped }) += 1;
        }
        for (&(sender, receiver), &count) in &matches.ambiguous {
            links.pairs.entry(pair_of(sender, receiver)).or_default().counts.ambiguous += count;
        }
        links
    }

    pub(crate) fn corridors(&self) -> Vec<LinkData> {
        self.pairs.iter().map(|(&(a, b), pair)| LinkData { a, b, corridor: pair.corridor.clone() }).collect()
    }
}

fn pair_of(x: usize, y: usize) -> (usize, usize) {
    (x.min(y), x.max(y))
}

/// Puts everything into its place in the artefact.
pub(crate) fn assemble(
    inputs: &Inputs,
    clocks: &[HostClock],
    solution: &Solution,
    links: &Links,
    matches: &Matches,
    options: &Options,
    mut refused: Vec<Refused>,
) -> Artefact {
    let name = |clock: usize| clocks[clock].host.clone();
    let island_of =
        |clock: usize| solution.islands.iter().position(|i| i.clocks.contains(&clock)).unwrap_or(0);
    let islands: Vec<_> = solution
        .islands
        .iter()
        .enumerate()
        .map(|(id, island)| IslandEntry {
            id,
            reference: name(island.reference),
            hosts: island.clocks.iter().map(|&clock| name(clock)).collect(),
        })
        .collect();
    let entries = clocks
        .iter()
        .enumerate()
        .map(|(index, clock)| clock_entry(inputs, clock, island_of(index), solution, index));
    let inversions = inversions(matches, solution, &island_of);
    let mut link_entries = Vec::new();
    for a in 0..clocks.len() {
        for b in a + 1..clocks.len() {
            let report = solution.links.iter().find(|l| (l.a, l.b) == (a, b));
            let pair = links.pairs.get(&(a, b));
            let mut entry = link_entry(&clocks[a], &clocks[b], report, pair, &mut refused);
            entry.inversions = inversions.get(&(a, b)).copied().unwrap_or(0);
            link_entries.push(entry);
        }
    }
    // The reference asked for, else that of the largest island.
    let largest = solution.islands.iter().max_by_key(|i| (i.clocks.len(), std::cmp::Reverse(i.reference)));
    let asked = options
        .reference
        .as_deref()
        .and_then(|asked| islands.iter().find(|i| i.hosts.iter().any(|h| h == asked)));
    let reference = asked.map(|i| i.reference.clone()).or_else(|| largest.map(|i| name(i.reference)));
    Artefact {
        version: VERSION,
        reference: reference.unwrap_or_default(),
        model: Model { wander_ppm: WANDER_PPM, rate_prior_ppm: options.rate_prior_ppm, asymmetry: ASYMMETRY },
        islands,
        clocks: entries.collect(),
        links: link_entries,
        suspects: Vec::new(),
        refused: refused
            .into_iter()
            .map(|r| RefusedEntry { what: r.what.to_owned(), name: r.name, why: r.why })
            .collect(),
        contradictions: Vec::new(),
    }
}

fn clock_entry(
    inputs: &Inputs,
    clock: &HostClock,
    island: usize,
    solution: &Solution,
    index: usize,
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
    pair: Option<&Pair>,
    refused: &mut Vec<Refused>,
) -> LinkEntry {
    let mut entry = LinkEntry {
        a: a.host.clone(),
        b: b.host.clone(),
        quality: Quality::Absent,
        method: METHOD.to_owned(),
        messages: pair.map(|pair| pair.counts).unwrap_or_default(),
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
        LinkQuality::Refused { why } => {
            let name = format!("{} – {}", a.host, b.host);
            refused.push(Refused { what: "link", name, why: why.to_string() });
            Quality::Refused
        }
    };
    if let Some(bounded) = relation(report) {
        let (first, last) = report.corridor.x_range().unwrap_or_default();
        let (lo, hi) = bounded.offset_bounds_at(first + (last - first) / 2);
        let with_offsets = |raw: i64| raw.checked_add(b.offset_ns.checked_sub(a.offset_ns)?);
        entry.offset_at_middle_ns = (lo.and_then(with_offsets), hi.and_then(with_offsets));
        entry.min_rtt_ns = bounded.margin_line().map(|line| line.margin_ns().saturating_mul(2));
    }
    entry
}

/// The relation that a link's messages prove: by themselves where they bound the rate, else within the prior.
fn relation(report: &LinkReport) -> Option<Bounded> {
    let (min, max) = report.rate_ppm;
    let range = if min.is_some() && max.is_some() {
        SlopeRange::UNBOUNDED
    } else {
        SlopeRange::prior(isochrone_clock::RATE_PRIOR_PPM)
    };
    report.corridor.within(range).ok()
}

/// Messages per pair that the corrections show as received before they were sent.
fn inversions(
    matches: &Matches,
    solution: &Solution,
    island_of: &impl Fn(usize) -> usize,
) -> BTreeMap<(usize, usize), u64> {
    let mut counts = BTreeMap::new();
    for &Message { sender, sent, receiver, received } in &matches.messages {
        let inverted =
            solution.corrections[sender].apply(sent) > solution.corrections[receiver].apply(received);
        if inverted && island_of(sender) == island_of(receiver) {
            *counts.entry(pair_of(sender, receiver)).or_default() += 1;
        }
    }
    counts
}
