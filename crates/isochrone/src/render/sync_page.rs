//! The report of a synchronization as a page, or as a part of one: values for [`isochrone_export::html`],
//! from what was found and from some of the messages.

use std::io;

use isochrone_corrections::artefact::{Artefact, BreakKind, LinkEntry, Refused};
use isochrone_corrections::picture::{self, Dot};
use isochrone_corrections::{Clock, Clocks};
use isochrone_export::html::{Arrow, Edge, Latencies, LinkPicture, LinkSection, Node, Synchronization};
use isochrone_matching::sample::{MessageSample, PairSample};
use isochrone_time::{RawNs, UnixNs, Window};

use super::error_summary::Errors;
use super::{assumptions, breaks, figures, methods, report};

/// Maximum number of links with pictures.
pub(crate) const MAX_PICTURES: usize = 30;
/// Approximate number of dots of all pictures together.
const MAX_DOTS: usize = 16_000;
/// Number of dots of a picture, in each direction.
const DOTS: std::ops::RangeInclusive<usize> = 60..=1500;
/// Number of steps of bounds of a picture, and the same where there are many pictures.
const STEPS: [i64; 2] = [150, 75];
/// More pictures than this are many.
const MANY_PICTURES: usize = 12;
/// Number of messages that are drawn on both kinds of clocks.
const ARROWS: usize = 24;

/// A pair of clocks of the result, and the messages between them that were kept.
struct Pair<'s> {
    /// In the order of names.
    ends: [usize; 2],
    sample: &'s PairSample,
    /// Whether the sample has them in this order.
    is_forth: bool,
}

/// A synchronization with pictures of at most `max_pictures` links. `number` gives the index among the clocks
/// of a number in the sample.
pub(crate) fn of(
    artefact: &Artefact,
    clocks: &Clocks,
    sample: &MessageSample,
    number: impl Fn(usize) -> Option<usize>,
    max_pictures: usize,
) -> io::Result<Synchronization> {
    let of_pair = |((a, b), sample)| {
        let (a, b) = (number(a)?, number(b)?);
        Some(Pair { ends: [a.min(b), a.max(b)], sample, is_forth: a < b })
    };
    let mut pairs: Vec<Pair<'_>> = sample.pairs().filter_map(of_pair).collect();
    let messages = |pair: &Pair<'_>| pair.sample.counts().0 + pair.sample.counts().1;
    pairs.sort_by_key(|pair| (std::cmp::Reverse(messages(pair)), pair.ends));
    let without_picture = pairs.len().saturating_sub(max_pictures);
    let arrows = arrows(clocks, &pairs);
    pairs.truncate(max_pictures);
    pairs.sort_by_key(|pair| pair.ends);
    let max_dots = (MAX_DOTS / (2 * pairs.len().max(1))).clamp(*DOTS.start(), *DOTS.end());
    let steps = STEPS[usize::from(pairs.len() > MANY_PICTURES)];
    Ok(Synchronization {
        verdict: report::verdicts(artefact, clocks),
        hosts: report::clocks_table(clocks).into_page(),
        links: report::links_table(&artefact.links.iter().collect::<Vec<_>>()).into_page(),
        nodes: clocks.iter().map(|clock| node(clock, clocks)).collect(),
        edges: artefact.links.iter().filter_map(|link| edge(link, clocks)).collect(),
        names: clocks.iter().map(|clock| clock.entry.host.clone()).collect(),
        arrows,
        pictures: pairs.iter().filter_map(|pair| section(artefact, clocks, pair, max_dots, steps)).collect(),
        without_picture,
        lists: lists(artefact, clocks)?,
    })
}

impl Pair<'_> {
    /// The messages of a direction that were kept.
    fn messages(&self, is_forth: bool) -> Vec<(RawNs, RawNs)> {
        self.sample.messages(is_forth == self.is_forth)
    }

    /// Number of messages in a direction.
    fn count(&self, is_forth: bool) -> u64 {
        let (forth, back) = self.sample.counts();
        if is_forth == self.is_forth { forth } else { back }
    }

    /// The messages of a direction that bound the clocks, (sent, received).
    fn hull(&self, is_forth: bool) -> Vec<(RawNs, RawNs)> {
        let sent_by_first = is_forth == self.is_forth;
        let hull = if sent_by_first { self.sample.upper() } else { self.sample.lower() };
        // In the sample, x is the time of the first of the two clocks.
        let ends = |(x, y): (RawNs, RawNs)| if sent_by_first { (x, y) } else { (y, x) };
        hull.vertices().iter().map(|vertex| ends((RawNs(vertex.x()), RawNs(vertex.y())))).collect()
    }
}

fn node(clock: &Clock, clocks: &Clocks) -> Node {
    let is_reference = clock.entry.host == clock.reference;
    let bound_ns = clock.proven.then(|| Errors::of(clock, clocks).worst);
    Node { name: clock.entry.host.clone(), bound_ns, is_reference }
}

fn edge(link: &LinkEntry, clocks: &Clocks) -> Option<Edge> {
    let (a, b) = (clocks.of_host(&link.a)?, clocks.of_host(&link.b)?);
    let bound_ns = middle(clocks, a, b).map(|(lo, hi, _)| hi.max(-lo));
    Some(Edge { ends: (a.number, b.number), quality: report::quality(link).to_owned(), bound_ns })
}

/// The bounds of a link in the middle of the trace of its first host.
fn middle(clocks: &Clocks, a: &Clock, b: &Clock) -> Option<(i64, i64, i64)> {
    let (begin, end) = span(a)?;
    picture::between(clocks, a, b, RawNs(begin.midpoint(end)))
}

fn span(clock: &Clock) -> Option<(i64, i64)> {
    let rows = clock.interval.rows();
    Some((rows.first()?.raw, rows.last()?.raw))
}

/// The pictures of a link, with at most `max_dots` dots in each direction and `steps` steps of bounds; `None`
/// where its clocks cannot be compared.
fn section(
    artefact: &Artefact,
    clocks: &Clocks,
    pair: &Pair<'_>,
    max_dots: usize,
    steps: i64,
) -> Option<LinkSection> {
    let [a, b] = pair.ends.map(|clock| clocks.get(clock));
    let (a, b) = (a?, b?);
    if a.entry.island != b.entry.island {
        return None;
    }
    let (begin, end) = span(a)?;
    let since = a.correction.apply(begin);
    let at = |clock: &Clock, raw: RawNs| clock.correction.apply(raw.ns()).saturating_sub(since);
    // From a to b above the estimate, from b to a below it.
    let forth = |(sent, received): (RawNs, RawNs)| -> Dot {
        (at(a, sent), at(b, received).saturating_sub(at(a, sent)))
    };
    let back = |(sent, received): (RawNs, RawNs)| -> Dot {
        (at(a, received), at(b, sent).saturating_sub(at(a, received)))
    };
    let dots = |messages: Vec<(RawNs, RawNs)>, of: &dyn Fn((RawNs, RawNs)) -> Dot| {
        let mut dots: Vec<Dot> = messages.into_iter().map(of).collect();
        dots.sort_unstable();
        dots
    };
    let (forths, backs) = (dots(pair.messages(true), &forth), dots(pair.messages(false), &back));
    let hull = |dots: &[Dot], of_hull: Vec<Dot>, side| {
        picture::half_hull(&[dots, of_hull.as_slice()].concat(), side)
    };
    let upper = hull(&forths, dots(pair.hull(true), &forth), 1);
    let lower = hull(&backs, dots(pair.hull(false), &back), -1);
    let (of_a, of_b) = (&a.entry.host, &b.entry.host);
    let latencies =
        [(of_a, of_b, &forths, true), (of_b, of_a, &backs, false)].map(|(from, to, dots, is_forth)| {
            let sign = if is_forth { 1 } else { -1 };
            Latencies {
                title: format!("{from} → {to}"),
                values: dots.iter().map(|dot| sign * dot.1).collect(),
                total: pair.count(is_forth),
            }
        });
    let bounds = picture::bounds(clocks, a, b, Window::new(RawNs(begin), RawNs(end)), steps);
    let link = artefact.links.iter().find(|link| link.a == *of_a && link.b == *of_b);
    let suspects = artefact.suspects.iter().filter_map(|suspect| {
        let is_forth = (&suspect.link.0, &suspect.link.1) == (of_a, of_b);
        let is_back = (&suspect.link.0, &suspect.link.1) == (of_b, of_a);
        let ends = (RawNs(suspect.sent_raw_ns), RawNs(suspect.received_raw_ns));
        let dot = if is_forth { forth(ends) } else { back(ends) };
        (is_forth || is_back).then(|| (dot.0, dot.1, suspect.why.clone()))
    });
    let broken = [a, b].into_iter().flat_map(|clock| {
        clock.entry.breaks.iter().map(move |found| {
            let what = match found.kind {
                BreakKind::Step => {
                    format!("{}: step of {}", clock.entry.host, figures::signed(found.size_ns))
                }
                BreakKind::Slew => format!("{}: slew by {:+.1} ppm", clock.entry.host, found.size_ppm),
            };
            (clock, [found.raw_range_ns.0, found.raw_range_ns.1].map(RawNs), what)
        })
    });
    let broken = broken.map(|(clock, [from, to], what)| (at(clock, from), at(clock, to), what));
    let picture = LinkPicture {
        a: of_a.clone(),
        b: of_b.clone(),
        upper,
        lower,
        bounds: bounds.into_iter().map(|(raw, lo, hi, likely)| (at(a, raw), lo, hi, likely)).collect(),
        breaks: broken.collect(),
        suspects: suspects.collect(),
        forth: picture::thinned(forths, max_dots),
        back: picture::thinned(backs, max_dots),
    };
    Some(LinkSection {
        facts: link.map(|link| facts(link, middle(clocks, a, b))).unwrap_or_default(),
        picture,
        latencies,
        least_round_trip_ns: link.and_then(|link| link.min_rtt_ns),
    })
}

fn facts(link: &LinkEntry, middle: Option<(i64, i64, i64)>) -> Vec<(String, String)> {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts = vec![
        fact("quality", report::quality(link).to_owned()),
        fact(&format!("{} → {}", link.a, link.b), figures::count(link.messages.a_to_b)),
        fact(&format!("{} → {}", link.b, link.a), figures::count(link.messages.b_to_a)),
        fact("inversions", figures::count(link.inversions)),
    ];
    if let Some(least) = link.min_rtt_ns {
        facts.push(fact("least round trip", figures::duration(least)));
    }
    if let Some((lo, hi, likely)) = middle {
        facts.push(fact(
            "bounds, at the middle",
            format!("{} to {}", figures::signed(lo), figures::signed(hi)),
        ));
        facts.push(fact("likely, at the middle", format!("± {}", figures::duration(likely))));
    }
    facts
}

/// When a message was sent and received.
type SentReceived = (UnixNs, UnixNs);

/// A message on the common clock, on the hosts' own, and the numbers of the hosts.
type Drawn = (SentReceived, SentReceived, (usize, usize));

/// Messages that are drawn before and after: those that follow each other most closely.
fn arrows(clocks: &Clocks, pairs: &[Pair<'_>]) -> Vec<Arrow> {
    let mut all: Vec<Drawn> = Vec::new();
    for pair in pairs {
        let [a, b] = pair.ends.map(|clock| clocks.get(clock));
        let (Some(a), Some(b)) = (a, b) else { continue };
        if a.entry.island != b.entry.island {
            continue;
        }
        for (is_forth, from, to) in [(true, a, b), (false, b, a)] {
            let own = |clock: &Clock, raw: RawNs| {
                UnixNs(i128::from(raw.ns()) + i128::from(clock.entry.clock_offset_ns))
            };
            all.extend(pair.messages(is_forth).into_iter().map(|(sent, received)| {
                let common = (from.unix(sent), to.unix(received));
                (common, (own(from, sent), own(to, received)), (from.number, to.number))
            }));
        }
    }
    all.sort_unstable();
    let wanted = ARROWS.min(all.len());
    let Some(closest) = all.windows(wanted.max(1)).min_by_key(|group| {
        let last = group.iter().map(|message| message.0.1).max();
        last.zip(group.first()).map_or(0, |(last, first)| last - first.0.0)
    }) else {
        return Vec::new();
    };
    let first = |of: fn(&Drawn) -> SentReceived| {
        closest.iter().flat_map(|message| [of(message).0, of(message).1]).min().unwrap_or(UnixNs(0))
    };
    let (common, own) = (first(|message| message.0), first(|message| message.1));
    let since = |(sent, received): SentReceived, first: UnixNs| {
        let since = |at: UnixNs| at.saturating_since(first).max(0);
        (since(sent), since(received))
    };
    let arrow = |&(on_common, on_own, hosts): &_| Arrow {
        hosts,
        own_ns: since(on_own, own),
        common_ns: since(on_common, common),
    };
    closest.iter().map(arrow).collect()
}

/// What the report for the terminal has below its tables, heading by heading.
fn lists(artefact: &Artefact, clocks: &Clocks) -> io::Result<Vec<(String, Vec<String>)>> {
    let mut text = Vec::new();
    methods::print(artefact, clocks, &mut text)?;
    assumptions::print(artefact, clocks, &mut text)?;
    breaks::print(artefact, clocks, &mut text)?;
    let mut lists: Vec<(String, Vec<String>)> = Vec::new();
    for line in String::from_utf8_lossy(&text).lines().filter(|line| !line.is_empty()) {
        match (line.strip_prefix(' '), lists.last_mut()) {
            (Some(item), Some((_, items))) => items.push(item.trim_start().to_owned()),
            _ => lists.push((line.trim_end_matches(':').to_owned(), Vec::new())),
        }
    }
    let refused = |entry: &Refused| format!("{}: {}", entry.name, entry.why);
    lists.push(("Not used".to_owned(), artefact.refused.iter().map(refused).collect()));
    Ok(lists)
}
