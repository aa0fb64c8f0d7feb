//! Which clock it was that was set or stopped: every link of it shows the break, its neighbours' other links do not.
//!
//! `island` asks for the breaks of an island's clocks.

use crate::link::Link;
use crate::relation::{BreakKind, Relation};
use crate::span::Span;

/// A span of time in which something happened to a clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockBreak {
    /// What.
    pub kind: BreakKind,
    /// Between these raw times of the clock.
    pub raw: Span,
    /// By how much the clock got ahead of the others, ns.
    pub size_ns: i64,
    /// By how much its rate changed, ppm.
    pub size_ppm: f64,
}

/// Breaks of the two clocks of a link by themselves.
struct Seen {
    /// The clocks of its link.
    link: (usize, usize),
    kind: BreakKind,
    ends: [(usize, Span); 2],
    size_ns: i64,
    size_ppm: f64,
}

/// The breaks of every clock, by time; where two clocks may be meant, both have it, unless one is the reference.
pub(crate) fn of_clocks(links: &[Link], clocks: usize, reference: Option<usize>) -> Vec<Vec<ClockBreak>> {
    let relations = || links.iter().filter_map(|l| Some((l, l.relation.as_ref()?)));
    let seen: Vec<Seen> = relations().flat_map(|(l, r)| on_link(l, r)).collect();
    // Of the links of a clock with messages before and after, the share that shows a break about then.
    let share = |(clock, at): (usize, Span), of: &Seen| {
        // What a clock did shows on all its links, by the same size.
        let is_alike = |s: &Seen| {
            let is_large = match of.kind {
                BreakKind::Step => s.size_ns.unsigned_abs() >= of.size_ns.unsigned_abs() / 2,
                BreakKind::Slew => s.size_ppm.abs() >= of.size_ppm.abs() / 2.0,
            };
            s.kind == of.kind && is_large
        };
        let same = |s: &&Seen| is_alike(s) && s.ends.iter().any(|&(c, span)| c == clock && overlap(span, at));
        let could = |(link, _): &(&Link, &Relation)| {
            let range = if link.a == clock { link.corridor.x_range() } else { link.corridor.y_range() };
            (link.a == clock || link.b == clock)
                && range.is_some_and(|(first, last)| first <= at.begin && at.end <= last)
        };
        // One link may show several at about one time.
        let mut links: Vec<(usize, usize)> = seen.iter().filter(same).map(|s| s.link).collect();
        links.dedup();
        links.len() as f64 / relations().filter(could).count().max(1) as f64
    };
    let mut found: Vec<Vec<ClockBreak>> = vec![Vec::new(); clocks];
    for s in &seen {
        let shares = s.ends.map(|end| share(end, s));
        for (end, sign) in [(0, -1), (1, 1)] {
            let (clock, raw) = s.ends[end];
            let is_reference = Some(clock) == reference;
            // The reference is meant only where no other clock can be.
            let guilty = shares[end] > shares[1 - end] || (shares[end] >= shares[1 - end] && !is_reference);
            if !guilty {
                continue;
            }
            let new = ClockBreak {
                kind: s.kind,
                raw,
                size_ns: s.size_ns * sign,
                size_ppm: s.size_ppm * sign as f64,
            };
            // Several links show one break: it lies where all of them say.
            match found[clock].iter_mut().find(|known| known.kind == s.kind && overlap(known.raw, raw)) {
                Some(known) => {
                    let both =
                        Span { begin: known.raw.begin.max(raw.begin), end: known.raw.end.min(raw.end) };
                    if both.begin <= both.end {
                        known.raw = both;
                    }
                }
                None => found[clock].push(new),
            }
        }
    }
    for breaks in &mut found {
        breaks.sort_by_key(|b| b.raw.begin);
    }
    found
}

fn on_link(link: &Link, relation: &Relation) -> Vec<Seen> {
    let seen = |b: crate::relation::Break| Seen {
        link: (link.a, link.b),
        kind: b.kind,
        ends: [(link.a, b.x), (link.b, b.y)],
        size_ns: b.size_ns,
        size_ppm: b.size_ppm,
    };
    relation.breaks().into_iter().map(seen).collect()
}

fn overlap(a: Span, b: Span) -> bool {
    a.begin <= b.end && b.begin <= a.end
}
