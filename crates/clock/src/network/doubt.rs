//! Clocks of which nothing is guaranteed, and why.
//!
//! Bounds hold if what is assumed of the clocks is true, and messages may show that it is not. Where they
//! also show when, more is allowed for there and the guarantee stands. Where they only show that something is
//! wrong, it does not: not for the clocks concerned, and not for clocks whose way to the reference leads over
//! one of these. Nor does it where an island shows more than one such change: each is found, and laid to a
//! clock, as if it was the only one of its time. [`crate::network::joint`] publishes it.

use crate::geometry::FASTEST;
use crate::link::{BreakKind, ClockBreak, Link, LinkQuality, Refusal};
use crate::model::Assumptions;
use crate::network::{paths::Island, reach::Contradiction};
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
    /// Its messages with this clock show that it was set back, or are too far apart to tell that from a stop:
    /// one time of it may stand for several instants.
    SetBack {
        /// The other clock.
        other: usize,
    },
    /// Its messages with this clock show that it was set or slewed, and others that the same happened to
    /// other clocks as well: what is allowed for one of these may hide another.
    Moved {
        /// The other clock.
        other: usize,
    },
    /// Its way to the reference leads over this clock, of which nothing is guaranteed.
    Path {
        /// The clock on the way.
        through: usize,
    },
}

/// Whether what a clock lost is too much for a slew, and so little that messages that far apart do not show
/// whether it stood still or was set back. A span is three times as long as the messages are apart.
fn may_be_set_back(found: &ClockBreak) -> bool {
    let run = (found.raw.end as i128 - found.raw.begin as i128) as f64;
    let lost = -(found.size_ns as f64);
    FASTEST * run / 3.0 <= lost && lost <= run
}

/// By clock, once all is solved; `loops` are those that contradicted themselves on the way there. Linear but
/// for the lengths of paths.
pub(crate) fn of_clocks(
    links: &[Link],
    assumptions: &[Assumptions],
    path: &[Option<usize>],
    islands: &[Island],
    loops: &Contradiction,
) -> Vec<Option<Doubt>> {
    let mut doubts: Vec<Option<Doubt>> = vec![None; path.len()];
    let is_reference = |clock: usize| islands.iter().any(|i| i.reference == clock);
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
        for shown in link.events.iter().filter(|s| s.change.kind == BreakKind::Step) {
            for (end, clock, other) in [(0, a, b), (1, b, a)] {
                // The reference is suspected only where no other clock can be.
                let is_meant = shown.suspected[end] && !(is_reference(clock) && shown.suspected[1 - end]);
                if is_meant && (shown.allowance.is_none() || may_be_set_back(&shown.of(end))) {
                    doubt(clock, Doubt::SetBack { other });
                }
            }
        }
    }
    for (clock, other) in moved_with_others(links, assumptions, islands) {
        doubt(clock, Doubt::Moved { other });
    }
    let own = doubts.clone();
    let set_back = |clock: usize| matches!(own[clock], Some(Doubt::SetBack { .. } | Doubt::Moved { .. }));
    for (clock, doubt) in doubts.iter_mut().enumerate() {
        let mut at = clock;
        // A path has no more clocks than there are.
        for _ in 0..own.len() {
            let Some(next) = path[at] else { break };
            at = next;
            // Its own time is the reference's by definition, whatever is wrong with links of it.
            let counts = if is_reference(at) { set_back(at) } else { own[at].is_some() };
            if counts && doubt.is_none() {
                *doubt = Some(Doubt::Path { through: at });
            }
        }
        if is_reference(clock) {
            *doubt = None;
        }
    }
    doubts
}

/// A change of the motion of clocks as links show it: which clocks may have done it, with the other end of
/// that link, and when.
struct Change {
    island: usize,
    by: Vec<(usize, usize, Span)>,
    /// The clocks that may have done all that these links show.
    of_all: Vec<usize>,
}

impl Change {
    /// Whether both may be one: the same clock, at times that overlap.
    fn is_of(&self, other: &Self) -> bool {
        let of = |&(clock, _, at): &(usize, usize, Span)| {
            other.by.iter().any(|&(c, _, there)| c == clock && at.overlaps(there))
        };
        self.by.iter().any(of)
    }

    /// This one and others; those that may be the same change become one.
    fn among(self, others: Vec<Self>) -> Vec<Self> {
        let (same, mut all): (Vec<Self>, Vec<Self>) = others.into_iter().partition(|other| self.is_of(other));
        all.push(same.into_iter().fold(self, Self::with));
        all
    }

    fn with(mut self, other: Self) -> Self {
        self.by.extend(other.by);
        self.of_all.retain(|clock| other.of_all.contains(clock));
        self
    }

    /// Least number of changes: what no clock alone explains is more than one.
    fn count(&self) -> usize {
        if self.of_all.is_empty() { 2 } else { 1 }
    }
}

/// The clocks of islands with more than one change that may have done one of these, each with the other end
/// of the link that shows it. Quadratic in the number of changes of an island.
fn moved_with_others(links: &[Link], assumptions: &[Assumptions], islands: &[Island]) -> Vec<(usize, usize)> {
    let mut all: Vec<Change> = Vec::new();
    for link in links.iter().filter(|l| !(assumptions[l.a].is_free() && assumptions[l.b].is_free())) {
        let Some(island) = islands.iter().position(|i| i.clocks.contains(&link.a)) else { continue };
        for shown in link.events.iter().filter(|s| s.change.kind == BreakKind::Step) {
            let ends = [(0, link.a, link.b), (1, link.b, link.a)];
            let by = ends.into_iter().filter(|&(end, ..)| shown.suspected[end]);
            let by: Vec<_> = by.map(|(end, clock, other)| (clock, other, shown.raw(end))).collect();
            let of_all = by.iter().map(|&(clock, ..)| clock).collect();
            let change = Change { island, by, of_all };
            all = change.among(all);
        }
    }
    let mut count = vec![0_usize; islands.len()];
    for change in &all {
        count[change.island] += change.count();
    }
    let several = all.iter().filter(|change| count[change.island] > 1);
    several.flat_map(|change| change.by.iter().map(|&(clock, other, _)| (clock, other))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By how many changes it can be that links showed what these clocks may have done, each at a time.
    fn count(shown: &[(&[usize], i64)]) -> usize {
        let change = |&(clocks, at): &(&[usize], i64)| Change {
            island: 0,
            by: clocks.iter().map(|&clock| (clock, 9, Span { begin: at, end: at + 10 })).collect(),
            of_all: clocks.to_vec(),
        };
        let all = shown.iter().map(change).fold(Vec::new(), |all, change| change.among(all));
        all.iter().map(Change::count).sum()
    }

    #[test]
    fn what_one_clock_explains_is_one_change() {
        assert_eq!(count(&[]), 0);
        assert_eq!(count(&[(&[0, 1], 0), (&[0, 2], 5), (&[0], 9)]), 1);
        // Clock 0 may have done either, not both at once: they are apart.
        assert_eq!(count(&[(&[0, 1], 0), (&[0, 2], 50)]), 2);
        // All are at one time, and share a clock with the next, but none did all of it, whichever came first.
        let shown: [(&[usize], i64); 4] = [(&[0, 1], 0), (&[0, 2], 5), (&[1], 2), (&[2], 3)];
        for first in 0..4 {
            let mut turned = shown;
            turned.rotate_left(first);
            assert_eq!(count(&turned), 2);
        }
    }
}
