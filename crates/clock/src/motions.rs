//! What is assumed between every clock of an island and its reference, by the clock's own time: from what is assumed of both,
//! and from what the links of the island showed. [`crate::outline`] draws bounds by it.

use crate::chain::Leg;
use crate::excess::Excess;
use crate::island::IslandSolver;
use crate::motion::{Motion, most};
use crate::placement::Placement;
use crate::relation::{Guarantee, Relation};
use crate::span::{Span, merge};
use crate::steered::Looser;
use crate::usual::Usual;

/// Per clock of the network, the legs between it and the reference; empty for the reference and other islands.
pub(crate) struct Motions {
    pub(crate) legs: Vec<Vec<Leg>>,
}

impl Motions {
    pub(crate) fn of(solver: &IslandSolver<'_>, placement: &Placement) -> Self {
        let island = &solver.island;
        // Estimate and truth can be apart by the whole width.
        let slack =
            (island.tree.worst.1.min(i64::MAX as u64 / 16) as i64).saturating_mul(2).saturating_add(1);
        let looser = looser(solver, slack);
        let mut legs = vec![Vec::new(); solver.spans.len()];
        for clock in solver.members().filter(|&c| c != island.reference) {
            let estimate = placement.correction(clock);
            let own = |s: Span| Span {
                begin: estimate.invert(s.begin.saturating_sub(slack)),
                end: estimate.invert(s.end.saturating_add(slack)),
            };
            let spans = |list: &[Span]| {
                let mut own: Vec<Span> = list.iter().copied().map(own).collect();
                merge(&mut own);
                own
            };
            let mut excess = Excess { fast: spans(&looser.excess.fast), any: spans(&looser.excess.any) };
            excess.any.extend(solver.steps(clock));
            excess.any.extend(solver.steps(island.reference).into_iter().map(own));
            merge(&mut excess.any);
            let contradicted = spans(&looser.contradicted);
            let (usual, moved) = along_the_path(solver, clock);
            let motion =
                Motion::new(island.model, &solver.assumptions[clock], &solver.assumptions[island.reference])
                    .moving(moved);
            legs[clock] = motion.legs(usual, &excess, &contradicted, own);
        }
        Self { legs }
    }
}

/// Where the links of the island allow for more than what is assumed, by the reference's time by the tree.
fn looser(solver: &IslandSolver<'_>, slack: i64) -> Looser {
    let island = &solver.island;
    let mut all = Looser::default();
    for (link, relation) in island.relations() {
        let to_reference = |s: &Span| Span {
            begin: island.to_reference(link.a, s.begin).saturating_sub(slack),
            end: island.to_reference(link.a, s.end).saturating_add(slack),
        };
        for piece in relation.pieces() {
            if let Some(steered) = piece.bounds.steered() {
                let found = steered.looser();
                all.excess.fast.extend(found.excess.fast.iter().map(to_reference));
                all.excess.any.extend(found.excess.any.iter().map(to_reference));
                all.contradicted.extend(found.contradicted.iter().map(to_reference));
            }
        }
    }
    for list in [&mut all.excess.fast, &mut all.excess.any, &mut all.contradicted] {
        merge(list);
    }
    all
}

/// The usual rate of the reference against a clock, and how far rates were seen to leave it, by the links between them.
fn along_the_path(solver: &IslandSolver<'_>, clock: usize) -> (Usual, Option<f64>) {
    let island = &solver.island;
    let (mut rate, mut error, mut moved) = (1.0, 0.0, None);
    let mut at = clock;
    while let Some((nearer, link)) = island.tree.next[at] {
        let link = &island.links[link];
        if let Some(relation) = &link.relation {
            let own = usual(relation);
            rate *= if at == link.a { own.rate } else { own.rate.recip() };
            error += own.error;
            // What is usual of a clock in between is what it was while it talked to the one, or to the other.
            if nearer != island.reference {
                error += 2.0 * most(&solver.assumptions[nearer]) * rate;
            }
            moved = match (moved, relation.moved()) {
                (Some(a), Some(b)) => Some(a + b),
                (one, other) => one.or(other),
            };
        }
        at = nearer;
    }
    (Usual { rate, error }, moved)
}

/// What is usual of a link's rates: all that any of its pieces takes for that.
fn usual(relation: &Relation) -> Usual {
    let ends = relation.pieces().iter().map(|piece| match &piece.bounds {
        Guarantee::Steered(steered) => {
            (steered.usual.rate - steered.usual.error, steered.usual.rate + steered.usual.error)
        }
        Guarantee::Line { forward, .. } => {
            let band = forward.band();
            (1.0 + band.min().ppm() * 1e-6, 1.0 + band.max().ppm() * 1e-6)
        }
    });
    let (least, most) = ends.fold((f64::INFINITY, 0.0), |(a, b), (c, d)| (f64::min(a, c), f64::max(b, d)));
    Usual { rate: f64::midpoint(least, most), error: (most - least).max(0.0) / 2.0 }
}
