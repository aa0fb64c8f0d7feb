//! Of which clocks nothing is guaranteed, and why.
//!
//! Bounds hold if what is assumed of the clocks is true, and messages may show that it is not. Where they also show when, more is
//! allowed for there and the guarantee stands. Where they only show that something is wrong, it does not: not for the clocks
//! concerned, and not for clocks whose way to the reference leads over one of these. [`crate::joint`] publishes it.

use crate::assumption::Assumptions;
use crate::breaks::ClockBreak;
use crate::excess::FASTEST;
use crate::joint::Solution;
use crate::link::{Link, LinkQuality, Refusal};
use crate::reach::Contradiction;
use crate::relation::BreakKind;

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
    let own = doubts.clone();
    let set_back = |clock: usize| matches!(own[clock], Some(Doubt::SetBack { .. }));
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
