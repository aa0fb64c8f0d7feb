//! Which clock it was that was set or stopped: every link of it shows the break, its neighbours' other links do not.
//!
//! [`crate::island`] asks for the breaks of an island's clocks.

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
    kind: BreakKind,
    ends: [(usize, Span); 2],
    size_ns: i64,
    size_ppm: f64,
}

/// The breaks of every clock, by time; where two clocks may be meant, both have it, unless one is the reference.
pub(crate) fn of_clocks(links: &[Link], clocks: usize, reference: usize) -> Vec<Vec<ClockBreak>> {
    let relations = || links.iter().filter_map(|l| Some((l, l.relation.as_ref()?)));
    let mut degree = vec![0_u32; clocks];
    for (link, _) in relations() {
        degree[link.a] += 1;
        degree[link.b] += 1;
    }
    let seen: Vec<Seen> = relations().flat_map(|(l, r)| on_link(l, r)).collect();
    // The share of a clock's links that show a break about then.
    let share = |(clock, at): (usize, Span)| {
        let same = |s: &&Seen| s.ends.iter().any(|&(c, span)| c == clock && overlap(span, at));
        seen.iter().filter(same).count() as f64 / f64::from(degree[clock].max(1))
    };
    let mut found: Vec<Vec<ClockBreak>> = vec![Vec::new(); clocks];
    for s in &seen {
        let shares = s.ends.map(share);
        for (end, sign) in [(0, -1), (1, 1)] {
            let (clock, raw) = s.ends[end];
            let other = s.ends[1 - end].0;
            let guilty =
                shares[end] > shares[1 - end] || (shares[end] >= shares[1 - end] && clock != reference);
            if !guilty || (shares[end] <= shares[1 - end] && clock == reference && other != reference) {
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
                    known.raw =
                        Span { begin: known.raw.begin.max(raw.begin), end: known.raw.end.min(raw.end) };
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
