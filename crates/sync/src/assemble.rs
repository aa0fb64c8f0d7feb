//! From a solution of the clocks to the artefact.

use std::collections::HashMap;

use isochrone_clock::SuspectReason;
use isochrone_clock::published::{ClockLine, Line, Method, PairFit, PairResult, Published};
use isochrone_clock::{
    BreakKind, ClockBreak, Doubt, Interval, LinkQuality, LinkReport, Side, Solution, Suspect,
};

use crate::links::Links;
use crate::options::Options;
use isochrone_corrections::artefact::{
    self, Artefact, AssumptionEntry, BreakEntry, ClockEntry, FactorsEntry, Formula, IslandEntry, LinkEntry,
    MessageCounts, MethodEntry, Model, Quality, Row, SlowEntry, SuspectEntry, TraceEntry, VERSION,
};
use isochrone_files::Inputs;
use isochrone_hosts::clocks::{self, HostClock};
use isochrone_matching::stamps::Resolution;

/// What an artefact is made of, but for what was refused.
pub(crate) struct Assembly<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) clocks: &'a [HostClock],
    pub(crate) solution: &'a Solution,
    pub(crate) links: &'a Links,
    /// By clock.
    pub(crate) assumptions: Vec<Vec<AssumptionEntry>>,
    /// By clock.
    pub(crate) resolutions: &'a [Resolution],
    /// The clock that the user chose as the reference.
    pub(crate) reference: Option<usize>,
    pub(crate) published: Option<&'a Published>,
}

impl Assembly<'_> {
    /// The artefact, without what was refused.
    pub(crate) fn artefact(self, options: &Options) -> Artefact {
        let Self { inputs, clocks, solution, links, assumptions, resolutions, reference, published } = self;
        let name = |clock: usize| clocks[clock].host.clone();
        let island_of = |clock: usize| solution.islands.iter().position(|i| i.clocks.contains(&clock));
        let islands = solution.islands.iter().enumerate().map(|(id, island)| IslandEntry {
            id,
            reference: name(island.reference),
            hosts: island.clocks.iter().map(|&clock| name(clock)).collect(),
        });
        let assumed = clocks.iter().zip(assumptions).enumerate();
        let entries = assumed.filter_map(|(index, (clock, assumptions))| {
            let entry = clock_entry(inputs, clock, index, island_of(index)?, solution);
            let doubt = solution.doubts[index].map(|doubt| reason(doubt, clocks));
            let stated = published.map(|published| stated(published, clocks, index, options));
            let resolution = resolutions.get(index).map(Resolution::entry);
            Some(ClockEntry { assumptions, resolution, stated, proven: doubt.is_none(), doubt, ..entry })
        });
        // The chosen reference, else that of the largest island.
        let largest =
            solution.islands.iter().max_by_key(|i| (i.clocks.len(), std::cmp::Reverse(i.reference)));
        let reference = reference.or_else(|| largest.map(|island| island.reference));
        let mut artefact = Artefact {
            version: VERSION,
            reference: reference.map(name).unwrap_or_default(),
            model: Model {
                wander_ppm: options.model.wander_ppm,
                rate_prior_ppm: options.model.prior_ppm,
                asymmetry: options.model.asymmetry,
            },
            method: options.published.map(|(method, _)| MethodEntry {
                name: method.into(),
                title: method.title().to_owned(),
                left_out: method.left_out().iter().map(ToString::to_string).collect(),
            }),
            islands: islands.collect(),
            clocks: entries.collect(),
            links: link_entries(clocks, solution, links, published.zip(options.published)),
            suspects: suspects(clocks, solution, resolutions),
            refused: Vec::new(),
            contradictions: solution
                .contradictions
                .iter()
                .map(|l| l.iter().map(|&c| name(c)).collect())
                .collect(),
        };
        doubt_the_rest(&mut artefact);
        artefact
    }
}

/// Nothing is guaranteed either of hosts that only links which contradict something tie to the reference.
fn doubt_the_rest(artefact: &mut Artefact) {
    let tied = artefact.tied_to_reference();
    for (entry, _) in artefact.clocks.iter_mut().zip(tied).filter(|(entry, tied)| entry.proven && !tied) {
        entry.proven = false;
        entry.doubt =
            Some("every way from it to the reference leads over messages that contradict others".to_owned());
    }
}

/// Why nothing is guaranteed of a clock, in words.
fn reason(doubt: Doubt, clocks: &[HostClock]) -> String {
    let name = |clock: usize| &clocks[clock].host;
    match doubt {
        Doubt::Loop => "it is on a loop of links that contradict each other".to_owned(),
        Doubt::Refused { other } => format!("no motion of clocks explains its messages with {}", name(other)),
        Doubt::SetBack { other } => {
            format!("its messages with {} show, or do not exclude, that it was set back", name(other))
        }
        Doubt::Moved { other } => format!(
            "its messages with {} show that it was set or slewed, and so were others: more of that may be \
             hidden",
            name(other)
        ),
        Doubt::Path { through } => {
            format!("its way to the reference leads over {}, of which nothing is guaranteed", name(through))
        }
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
        let offset_ns = trace.schema().single_clock().and_then(clocks::offset_ns).unwrap_or(clock.offset_ns);
        TraceEntry { path: trace.path().display().to_string(), offset_ns, captured: None }
    });
    let captures = clock.captures.iter().map(|&capture| {
        let path = inputs.captures[capture].path.display().to_string();
        TraceEntry { path, offset_ns: clock.offset_ns, captured: None }
    });
    ClockEntry {
        id: clock.id.clone(),
        host: clock.host.clone(),
        hostnames: clock.hostnames.clone(),
        island,
        clock_offset_ns: clock.offset_ns,
        traces: traces.chain(captures).collect(),
        knots: correction.knots().to_vec(),
        rate_before: correction.rate_before(),
        rate_after: correction.rate_after(),
        interval: rows(&solution.intervals[index]),
        proven: true,
        doubt: None,
        breaks: solution.breaks[index].iter().map(break_entry).collect(),
        assumptions: Vec::new(),
        resolution: None,
        stated: None,
    }
}

/// The formula of a clock as a method of others states it: on Unix times.
fn stated(published: &Published, clocks: &[HostClock], index: usize, options: &Options) -> Formula {
    let ClockLine { reference, line, .. } = &published.clocks[index];
    let line = line.with_offsets(clocks[index].offset_ns, clocks[*reference].offset_ns);
    Formula::of_line(&line, options.published.map_or(1, |(_, digits)| digits))
}

/// What a method of others says of a pair of clocks.
fn factors(clocks: &[HostClock], judged: &PairResult, digits: u32) -> FactorsEntry {
    let [x, y] = [judged.x, judged.y].map(|clock| &clocks[clock]);
    let formula = |line: &Line| Formula::of_line(&line.with_offsets(x.offset_ns, y.offset_ns), digits);
    let PairFit { outcome, line, min, max, accuracy } = &judged.found;
    FactorsEntry {
        x: x.host.clone(),
        y: y.host.clone(),
        outcome: (*outcome).into(),
        line: line.as_ref().map(formula),
        min: min.as_ref().map(formula),
        max: max.as_ref().map(formula),
        accuracy: *accuracy,
        hull_points: judged.vertices,
        exchanges: judged.exchanges,
    }
}

/// The pairs of clocks with messages or trust, by their numbers. Among a thousand hosts nearly all pairs have
/// no messages: they are not listed.
fn link_entries(
    clocks: &[HostClock],
    solution: &Solution,
    links: &Links,
    published: Option<(&Published, (Method, u32))>,
) -> Vec<LinkEntry> {
    let judged = published.iter().flat_map(|(published, _)| &published.pairs);
    let judged: HashMap<_, _> = judged.map(|pair| ((pair.x.min(pair.y), pair.x.max(pair.y)), pair)).collect();
    let reports: HashMap<_, _> = solution.links.iter().map(|report| ((report.a, report.b), report)).collect();
    let mut entries = Vec::new();
    for a in 0..clocks.len() {
        for b in a + 1..clocks.len() {
            let (report, counts) = (reports.get(&(a, b)).copied(), links.counts(a, b));
            let trusted = links.groups().between(a, b);
            let why = links.why(a, b);
            if report.is_none() && trusted.is_none() && why.is_none() && counts == MessageCounts::default() {
                continue;
            }
            let mut entry = link_entry(&clocks[a], &clocks[b], report, counts);
            entry.why = why.cloned();
            if let Some(found) = trusted {
                (entry.method, entry.quality) = (artefact::Method::Trusted, Quality::Accurate);
                entry.inversions = found.messages;
                entry.interval = links.groups().shifts(a, b, &solution.intervals[a]);
            }
            if let Some((_, (method, digits))) = published {
                entry.method = method.into();
                entry.factors = judged.get(&(a, b)).map(|pair| factors(clocks, pair, digits));
            }
            entry.quality = held_against(entry.inversions, entry.quality);
            entries.push(entry);
        }
    }
    entries
}

fn link_entry(
    a: &HostClock,
    b: &HostClock,
    report: Option<&LinkReport>,
    messages: MessageCounts,
) -> LinkEntry {
    let mut entry = LinkEntry {
        a: a.host.clone(),
        b: b.host.clone(),
        quality: Quality::Absent,
        method: artefact::Method::Default,
        messages,
        inversions: 0,
        unverified: 0,
        slow: None,
        rate_ppm: (None, None),
        offset_at_middle_ns: (None, None),
        min_rtt_ns: None,
        wander_ppm: 0.0,
        interval: Vec::new(),
        factors: None,
        why: None,
    };
    let Some(report) = report else { return entry };
    entry.inversions = report.inversions.unwrap_or(0) as u64;
    entry.unverified = report.unverified;
    entry.slow = report.slow.map(|slow| SlowEntry {
        share: (slow.share * 1e6).round() / 1e6,
        usual_rtt_ns: slow.usual_ns,
        rtt_ns: slow.slow_ns,
    });
    entry.rate_ppm = report.rate_ppm;
    entry.quality = match &report.quality {
        LinkQuality::Accurate => Quality::Accurate,
        LinkQuality::Incomplete | LinkQuality::OneWay => Quality::Incomplete,
        LinkQuality::Approximate { .. } => Quality::Approximate,
        LinkQuality::Absent => Quality::Absent,
        LinkQuality::Refused { .. } => Quality::Refused,
    };
    if report.is_doubtful {
        entry.quality = doubted(entry.quality);
    }
    let suspects = |side| report.suspects.iter().filter(|s| s.side == side).count() as u64;
    entry.messages.a_to_b -= suspects(Side::Upper);
    entry.messages.b_to_a -= suspects(Side::Lower);
    entry.messages.suspect = report.suspects.len() as u64;
    let with_offsets = |raw: i64| raw.checked_add(b.offset_ns.checked_sub(a.offset_ns)?);
    let (lo, hi) = report.offset_at_middle_ns;
    entry.offset_at_middle_ns = (lo.and_then(with_offsets), hi.and_then(with_offsets));
    entry.min_rtt_ns = report.min_rtt_ns;
    // As it was given: the mathematics counts in parts per trillion.
    entry.wander_ppm = (report.wander_ppm * 1e6).round() / 1e6;
    entry.interval = report.interval.as_ref().map(rows).unwrap_or_default();
    entry
}

fn rows(interval: &Interval) -> Vec<Row> {
    interval.rows().iter().map(|row| (row.raw, row.lo, row.hi, row.e95)).collect()
}

/// Whatever a solution thinks of a link: nothing is proven where a message arrives before it was sent.
fn held_against(inversions: u64, quality: Quality) -> Quality {
    if inversions > 0 { doubted(quality) } else { quality }
}

/// The quality of a link without a guarantee.
fn doubted(quality: Quality) -> Quality {
    match quality {
        Quality::Accurate | Quality::Incomplete => Quality::Approximate,
        quality => quality,
    }
}

/// The messages of all links that were left out because they look wrong, as they were recorded.
fn suspects(clocks: &[HostClock], solution: &Solution, resolutions: &[Resolution]) -> Vec<SuspectEntry> {
    let late = |clock: usize| resolutions.get(clock).map_or(0, |resolution| resolution.late_ns.into());
    let entry = |link: &LinkReport, suspect: &Suspect| {
        let (a, b) = (clocks[link.a].host.clone(), clocks[link.b].host.clone());
        let (x, y) = (suspect.point.x(), suspect.point.y());
        let why = match suspect.reason {
            SuspectReason::Contradicts { violation_ns } if violation_ns > 0.0 => {
                format!(
                    "no relation between the clocks fits both it and the others; the best one misses it by \
                     {violation_ns:.0} ns"
                )
            }
            SuspectReason::Contradicts { .. } => "it contradicts the messages before and after it".to_owned(),
            SuspectReason::TooEarly { z } => {
                format!(
                    "its delay is shorter than that of the fastest other messages by {z:.0} times their \
                     jitter"
                )
            }
        };
        match suspect.side {
            Side::Upper => {
                SuspectEntry { link: (a, b), sent_raw_ns: x, received_raw_ns: y - late(link.b), why }
            }
            Side::Lower => {
                SuspectEntry { link: (b, a), sent_raw_ns: y, received_raw_ns: x - late(link.a), why }
            }
        }
    };
    solution.links.iter().flat_map(|link| link.suspects.iter().map(move |s| entry(link, s))).collect()
}

/// Where a clock was set, stopped or slewed.
fn break_entry(found: &ClockBreak) -> BreakEntry {
    BreakEntry {
        raw_ns: found.raw.begin.midpoint(found.raw.end),
        raw_range_ns: (found.raw.begin, found.raw.end),
        kind: match found.kind {
            BreakKind::Step => artefact::BreakKind::Step,
            BreakKind::Slew => artefact::BreakKind::Slew,
        },
        size_ppm: found.size_ppm,
        size_ns: found.size_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_message_of_a_sound_link_is_inverted() {
        let check = |quality, expect| {
            assert_eq!(held_against(0, quality), quality);
            assert_eq!(held_against(1, quality), expect);
        };
        check(Quality::Accurate, Quality::Approximate);
        check(Quality::Incomplete, Quality::Approximate);
        check(Quality::Approximate, Quality::Approximate);
        check(Quality::Refused, Quality::Refused);
        check(Quality::Absent, Quality::Absent);
    }
}
