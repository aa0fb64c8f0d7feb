//! What a user should know about a synchronization though it costs nothing.

use std::collections::BTreeMap;

use isochrone_clock::{ClockBreak, LinkQuality, LinkReport, Solution};

use crate::clock_groups::Contradicted;
use crate::links::Links;
use crate::options::Options;
use isochrone_corrections::artefact::{AssumptionEntry, ResolutionEntry, ResolutionSource};
use isochrone_files::Inputs;
use isochrone_hosts::Host;
use isochrone_hosts::clocks::HostClock;
use isochrone_matching::Summary;
use isochrone_matching::stamps::{REPORTED_TICK_NS, Resolution};

/// Hosts that a note names; more are counted.
const MAX_NAMED: usize = 8;

/// All notes, about hosts first, then about links. `missing_data`: what the traces of hosts lack.
pub(crate) fn about(
    inputs: &Inputs,
    clocks: &[HostClock],
    missing_data: &[String],
    links: &Links,
    summary: &Summary,
    solution: &Solution,
    options: &Options,
) -> Vec<String> {
    let mut notes = Vec::new();
    for clock in clocks {
        notes.extend(same_name(inputs, clock));
    }
    notes.extend(missing_data.iter().cloned());
    notes.extend(translated(clocks, links));
    notes.extend(expired(summary));
    notes.extend(solution.links.iter().filter_map(|link| assumption(clocks, link, options)));
    notes.extend(solution.links.iter().filter_map(|link| inverted(clocks, link)));
    notes.extend(links.groups().contradicted().map(|(pair, found)| mistrusted(clocks, pair, found)));
    if let [only] = clocks {
        let host = &only.host;
        notes.push(match only.traces.is_empty() {
            false => format!("all traces are of one clock, that of {host}: there is nothing to synchronize"),
            true => format!(
                "all packets are taken to be stamped by one clock, that of {host}: there is nothing to \
                 synchronize (captures of several machines that were merged into \
                 one file are one clock, unless --per-interface {host} makes one of each interface)"
            ),
        });
    }
    notes
}

fn same_name(inputs: &Inputs, clock: &HostClock) -> Option<String> {
    let (name, _) =
        clock.host.split_once('#').filter(|(name, _)| clock.hostnames.iter().any(|host| host == name))?;
    let path = inputs.traces[*clock.traces.first()?].path().display();
    Some(format!("several hosts are called {name}; {} is the one of {path}", clock.host))
}

/// What the traces of hosts lack, as every command says it, and what contradicts that a host is one.
pub(crate) fn missing_data(hosts: &[Host<'_>]) -> Vec<String> {
    let of_host = |host: &Host<'_>| {
        let name = &host.name;
        let contradictions = host.contradictions().into_iter().map(move |found| format!("{name}: {found}"));
        let notes = host.notes().into_iter().map(move |note| format!("{name}: {note}"));
        contradictions.chain(notes).collect::<Vec<_>>()
    };
    hosts.iter().flat_map(of_host).collect()
}

/// Who talks through a translator of addresses.
fn translated(clocks: &[HostClock], links: &Links) -> Option<String> {
    let pair =
        |(a, b, count): (usize, usize, u64)| format!("{} – {} ({count})", clocks[a].host, clocks[b].host);
    let pairs: Vec<String> = links.translated().map(pair).collect();
    (!pairs.is_empty()).then(|| {
        format!(
            "packets between these hosts changed their addresses or ports on the way and were matched by \
             their other \
             numbers: {}",
            pairs.join(", ")
        )
    })
}

/// Packets that might have found their partners with more memory.
fn expired(summary: &Summary) -> Option<String> {
    (summary.expired > 0).then(|| {
        format!(
            "{} packets were given up early because too many waited for their partners: messages may be \
             missing",
            summary.expired
        )
    })
}

/// Bounds that rest on more than messages, and messages that contradict what is usual.
fn assumption(clocks: &[HostClock], link: &LinkReport, options: &Options) -> Option<String> {
    let pair = format!("{} – {}", clocks[link.a].host, clocks[link.b].host);
    let prior = options.model.prior_ppm;
    if link.prior_contradicted {
        return Some(format!(
            "{pair}: by the messages, the rates of the two clocks differ by more than {prior} ppm, which \
             is rare; the \
             messages are believed"
        ));
    }
    (link.quality == LinkQuality::Incomplete).then(|| {
        format!("{pair}: the messages leave the rates open; the bounds assume that they differ by at most {prior} ppm")
    })
}

/// Clocks that are not as was assumed: those to which messages lay it, one by one. Of the others it is said
/// together that their links allow for it, since one of two clocks was set or slewed.
pub(crate) fn contradicted(
    clocks: &[HostClock],
    assumptions: &[Vec<AssumptionEntry>],
    breaks: &[Vec<ClockBreak>],
) -> Vec<String> {
    let mut unclear = Vec::new();
    let mut notes = Vec::new();
    for ((clock, entries), breaks) in clocks.iter().zip(assumptions).zip(breaks) {
        let contradicted = || entries.iter().filter(|entry| entry.contradicted);
        let is_own = |entry: &&AssumptionEntry| {
            let (begin, end) = entry.raw_ns;
            // Without a break, as where rates bend all the time, it is known of the clock by all of its
            // links.
            breaks.iter().any(|found| found.raw.begin <= end && begin <= found.raw.end)
                || entries.iter().all(|entry| entry.contradicted)
        };
        let own: Vec<&AssumptionEntry> = contradicted().filter(is_own).collect();
        if own.is_empty() && contradicted().next().is_some() {
            unclear.push(clock.host.clone());
        }
        let Some(first) = own.first() else { continue };
        // Without a number, the clock was set or stopped.
        let most = own.iter().map(|entry| entry.ppm.unwrap_or(f64::INFINITY)).fold(0.0, f64::max);
        let allowed = match most.is_finite() {
            true => format!("bounds allow for ± {} ppm", most.round()),
            false => "it was set or stopped, or slewed faster than any kernel does".to_owned(),
        };
        let more = match own.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (begin, end) = first.raw_ns;
        notes.push(format!(
            "{}: messages contradict what is assumed of its clock ({}) in 1 span of time{more}, first \
             between {begin} and \
             {end} ns of its own time; there, {allowed}",
            clock.host, first.why,
        ));
    }
    if !unclear.is_empty() {
        notes.push(format!(
            "{}: links allow for more than is assumed of these clocks where messages show that one of two \
             clocks was set, \
             stopped or slewed, and nothing lays it to these",
            unclear.join(", ")
        ));
    }
    notes
}

/// Stamps that are coarser than their files declare, a note for each tick.
pub(crate) fn coarse(clocks: &[HostClock], resolutions: &[Resolution]) -> Vec<String> {
    let is_told = |of: &Resolution| of.source == ResolutionSource::Stamps && of.tick_ns >= REPORTED_TICK_NS;
    let mut by_tick: BTreeMap<u64, (ResolutionEntry, Vec<&str>)> = BTreeMap::new();
    for (clock, of) in clocks.iter().zip(resolutions).filter(|(_, of)| is_told(of)) {
        by_tick.entry(of.tick_ns).or_insert_with(|| (of.entry(), Vec::new())).1.push(&clock.host);
    }
    let told = |(tick, hosts): (ResolutionEntry, Vec<&str>)| {
        let named = hosts[..hosts.len().min(MAX_NAMED)].join(", ");
        let more = match hosts.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("stamps of {named}{more} are in steps of {tick}: bounds allow for that")
    };
    by_tick.into_values().map(told).collect()
}

/// A link that seems sound, and whose messages the corrections nevertheless do not obey.
fn inverted(clocks: &[HostClock], link: &LinkReport) -> Option<String> {
    let count = link.inversions.filter(|&count| count > 0)?;
    matches!(link.quality, LinkQuality::Accurate | LinkQuality::Incomplete).then(|| {
        format!(
            "{} – {}: by the corrections, {count} of its messages still arrive before they were sent; the \
             link is taken for \
             approximate",
            clocks[link.a].host, clocks[link.b].host
        )
    })
}

/// Messages that a clock which two hosts are said to share has no place for.
fn mistrusted(clocks: &[HostClock], (a, b): (usize, usize), found: Contradicted) -> String {
    format!(
        "{} – {}: {} messages contradict the trust in their common clock: by it they arrive up to {} ns \
         before they were \
         sent; nothing is proven of these hosts",
        clocks[a].host, clocks[b].host, found.messages, found.by_ns
    )
}
