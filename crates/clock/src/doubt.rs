//! Of which clocks nothing is guaranteed, and why.
//!
//! Bounds hold if what is assumed of the clocks is true, and messages may show that it is not. Where they also show when, more is
//! allowed for there and the guarantee stands. Where they only show that something is wrong, it does not: not for the clocks
//! concerned, and not for clocks whose way to the reference leads over one of these. Nor does it where an island shows more than
//! one such change: each is found, and laid to a clock, as if it was the only one of its time. [`crate::joint`] publishes it.

use crate::assumption::Assumptions;
use crate::breaks::{ClockBreak, overlap};
use crate::excess::FASTEST;
use crate::joint::Solution;
use crate::link::{Link, LinkQuality, Refusal};
use crate::reach::Contradiction;
use crate::relation::BreakKind;
use crate::span::Span;

/// Why nothing is guaranteed of a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// It is on a loop of links that contradict each other.
    Loop,
    /// No motion of clocks explains its messages with this one.
    Refused {
        /// The other clock.
        other: usize,
    },
    /// Its messages with this clock show that it was set back, or are too far apart to tell that from a stop: one time of it may
    /// stand for several instants.
    SetBack {
        /// The other clock.
        other: usize,
    },
    /// Its messages with this clock show that it was set or slewed, and others that the same happened to other clocks as well:
    /// what is allowed for one of these may hide another.
    Moved {
        /// The other clock.
        other: usize,
    },
    /// Its way to the reference leads over this clock, of which nothing is guaranteed.
    Way {
        /// The clock on the way.
        over: usize,
    },
}

/// Whether what a clock lost is too much for a slew, and so little that messages that far apart do not show whether it stood still
/// or was set back. A span is three times as long as the messages are apart.
fn may_be_set_back(found: &ClockBreak) -> bool {
    let run = (found.raw.end as i128 - found.raw.begin as i128) as f64;
    let lost = -(found.size_ns as f64);
    FASTEST * run / 3.0 <= lost && lost <= run
}

/// By clock, once all is solved; `loops` are those that contradicted themselves on the way there. Linear but for the lengths of paths.
pub(crate) fn of_clocks(
    links: &[Link],
    assumptions: &[Assumptions],
    solution: &Solution,
    loops: &Contradiction,
) -> Vec<Option<Doubt>> {
    let mut doubts: Vec<Option<Doubt>> = vec![None; solution.path.len()];
    let is_reference = |clock: usize| solution.islands.iter().any(|i| i.reference == clock);
    let mut doubt = |clock: usize, why: Doubt| doubts[clock] = doubts[clock].or(Some(why));
    for clock in loops.loops.iter().flat_map(|l| &l.clocks) {
        doubt(*clock, Doubt::Loop);
    }
    for link in links {
        let (a, b) = (link.a, link.b);
        if matches!(&link.quality, LinkQuality::Refused { why: Refusal::Contradiction(_) }) {
            doubt(a, Doubt::Refused { other: b });
            doubt(b, Doubt::Refused { other: a });
        }
        if assumptions[a].is_free() && assumptions[b].is_free() {
            // What cuts a straight line need not go back.
            continue;
        }
        for shown in link.shown.iter().filter(|s| s.found.kind == BreakKind::Step) {
            for (end, clock, other) in [(0, a, b), (1, b, a)] {
                // The reference is meant only where no other clock can be.
                let is_meant = shown.meant[end] && !(is_reference(clock) && shown.meant[1 - end]);
                if is_meant && (shown.wider.is_none() || may_be_set_back(&shown.of(end))) {
                    doubt(clock, Doubt::SetBack { other });
                }
            }
        }
    }
    for (clock, other) in moved_with_others(links, assumptions, solution) {
        doubt(clock, Doubt::Moved { other });
    }
    let own = doubts.clone();
    let set_back = |clock: usize| matches!(own[clock], Some(Doubt::SetBack { .. } | Doubt::Moved { .. }));
    for (clock, doubt) in doubts.iter_mut().enumerate() {
        let mut at = clock;
        // A path has no more clocks than there are.
        for _ in 0..own.len() {
            let Some(next) = solution.path[at] else { break };
            at = next;
            // Its own time is the reference's by definition, whatever is wrong with links of it.
            let counts = if is_reference(at) { set_back(at) } else { own[at].is_some() };
            if counts && doubt.is_none() {
                *doubt = Some(Doubt::Way { over: at });
            }
        }
        if is_reference(clock) {
            *doubt = None;
        }
    }
    doubts
}

/// A change of the motion of clocks as links show it: which clocks may have done it, with the other end of that link, and when.
struct Change {
    island: usize,
    by: Vec<(usize, usize, Span)>,
}

impl Change {
    /// Whether both may be one: the same clock, at times that overlap.
    fn is_of(&self, other: &Self) -> bool {
        let of = |&(clock, _, at): &(usize, usize, Span)| {
            other.by.iter().any(|&(c, _, there)| c == clock && overlap(at, there))
        };
        self.by.iter().any(of)
    }
}

/// The clocks of islands with more than one change that may have done one of these, each with the other end of the link that shows it.
/// Quadratic in the number of changes of an island.
fn moved_with_others(
    links: &[Link],
    assumptions: &[Assumptions],
    solution: &Solution,
) -> Vec<(usize, usize)> {
    let mut all: Vec<Change> = Vec::new();
    for link in links.iter().filter(|l| !(assumptions[l.a].is_free() && assumptions[l.b].is_free())) {
        let Some(island) = solution.islands.iter().position(|i| i.clocks.contains(&link.a)) else { continue };
        for shown in link.shown.iter().filter(|s| s.found.kind == BreakKind::Step) {
            let ends = [(0, link.a, link.b), (1, link.b, link.a)];
            let by = ends.into_iter().filter(|&(end, ..)| shown.meant[end]);
            let by = by.map(|(end, clock, other)| (clock, other, shown.raw(end))).collect();
            let mut change = Change { island, by };
            let (same, apart) = all.into_iter().partition(|known: &Change| change.is_of(known));
            all = apart;
            change.by.extend(Vec::into_iter(same).flat_map(|known: Change| known.by));
            all.push(change);
        }
    }
    let mut count = vec![0_usize; solution.islands.len()];
    for change in &all {
        count[change.island] += 1;
    }
    let several = all.iter().filter(|change| count[change.island] > 1);
    several.flat_map(|change| change.by.iter().map(|&(clock, other, _)| (clock, other))).collect()
}
