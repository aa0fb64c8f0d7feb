//! What is assumed between every clock of an island and its reference, by the clock's own time: from what is assumed of both,
//! and from what the links of the island showed. [`crate::outline`] draws bounds by it.

use crate::chain::{Leg, Rule};
use crate::excess::Excess;
use crate::island::IslandSolver;
use crate::motion::{Motion, most, range_around};
use crate::outline::Outline;
use crate::placement::Placement;
use crate::relation::{Guarantee, Relation};
use crate::slope::FASTEST;
use crate::span::{Span, merge};
use crate::steered::Looser;
use crate::sweep::{Lines, Open};
use crate::usual::{Usual, mean_over};

/// Per clock of the network, what is assumed between it and the reference; empty for the reference and other islands.
pub(crate) struct Motions {
    pub(crate) legs: Vec<Vec<Leg>>,
    /// The usual rate of the reference against it, and by how much rates may leave it (dimensionless).
    usual: Vec<Option<(Usual, f64)>>,
}

/// The usual rate is looked at again where the messages leave it open by more than this share of what rates may leave it by, …
const OPEN: f64 = 0.01;
/// … and what is found then is used if it is better by as much as this.
const BETTER: f64 = 0.8;

impl Motions {
    /// From what is assumed and what the links showed; `closer` is by clock what is known of the usual rate of the reference beyond what links
    /// say.
    pub(crate) fn of(solver: &IslandSolver<'_>, placement: &Placement, closer: &[Option<Usual>]) -> Self {
        let island = &solver.island;
        // Estimate and truth can be apart by the whole width.
        let slack =
            (island.tree.worst.1.min(i64::MAX as u64 / 16) as i64).saturating_mul(2).saturating_add(1);
        let looser = looser(solver, slack);
        let mut legs = vec![Vec::new(); solver.spans.len()];
        let mut rates = vec![None; solver.spans.len()];
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
            let mut excess = Excess {
                fast: spans(&looser.excess.fast),
                any: spans(&looser.excess.any),
                ..Excess::default()
            };
            excess.any.extend(solver.steps(clock));
            excess.any.extend(solver.steps(island.reference).into_iter().map(own));
            merge(&mut excess.any);
            let contradicted = spans(&looser.contradicted);
            let (usual, moved) = along_the_path(solver, clock);
            let usual = closer[clock].unwrap_or(usual);
            let motion =
                Motion::new(island.model, &solver.assumptions[clock], &solver.assumptions[island.reference])
                    .moving(moved);
            legs[clock] = motion.legs(usual, &excess, &contradicted, own);
            rates[clock] = Some((usual, motion.most()));
        }
        Self { legs, usual: rates }
    }

    /// Whether the rate between some clock and the reference is constant for some time.
    pub(crate) fn has_constants(&self) -> bool {
        self.legs.iter().flatten().any(|leg| matches!(leg.rule, Rule::Constant { .. }))
    }

    /// What the bounds of all clocks together prove of the usual rates, where that is much more than what was used for these bounds; `None`
    /// if it is so for no clock.
    pub(crate) fn closer(&self, lines: &[Lines], spans: &[Span]) -> Option<Vec<Option<Usual>>> {
        let mut is_any = false;
        let mut of = |clock: usize| {
            let (usual, by) = self.usual[clock]?;
            let proven = || Some(self.proven(clock, &lines[clock], spans[clock])?.0.and(usual));
            let closer = if usual.error > OPEN * by { proven().flatten() } else { None };
            let closer = closer.filter(|closer| closer.error < BETTER * usual.error);
            is_any |= closer.is_some();
            Some(closer.unwrap_or(usual))
        };
        let all = (0..spans.len()).map(&mut of).collect();
        is_any.then_some(all)
    }

    /// The usual rates, by clock, as far as the bounds of all clocks together prove them.
    pub(crate) fn open(&self, lines: &[Lines], spans: &[Span]) -> Vec<Option<Open>> {
        let of = |clock: usize| {
            let (_, by) = self.usual[clock]?;
            let (usual, over) = self.proven(clock, &lines[clock], spans[clock])?;
            Some(Open { usual, by, over })
        };
        (0..spans.len()).map(of).collect()
    }

    /// What the bounds of a clock prove of its usual rate: here the mean over its span, less what is allowed to be faster, and the stretch that
    /// is, if it is one.
    fn proven(&self, clock: usize, lines: &Lines, span: Span) -> Option<(Usual, Option<Span>)> {
        let (usual, _) = self.usual[clock]?;
        let fast = range_around(usual, FASTEST).rates().1;
        let is_usual = |leg: &&Leg| leg.rule.rates().rates().1 < fast;
        let outline = Outline::through(lines.latest.clone(), lines.earliest.clone(), &self.legs[clock]);
        let reach = outline.both_ways()?;
        let (begin, end) = (span.begin.max(reach.begin), span.end.min(reach.end));
        let mut parts: Vec<Span> = self.legs[clock]
            .iter()
            .filter(is_usual)
            .map(|leg| Span { begin: leg.x.begin.max(begin), end: leg.x.end.min(end) })
            .filter(|part| part.begin < part.end)
            .collect();
        merge(&mut parts);
        if let [one] = &mut parts[..] {
            // Of one part, the ends are where the bounds are narrowest.
            *one = outline.narrow_ends(*one);
        }
        let at = |raw: i64| {
            let (lo, hi) = outline.at(raw);
            (i128::from(lo), i128::from(hi))
        };
        let bounded = |part: &Span| (part.end - part.begin, at(part.begin), at(part.end));
        let usual = Usual::between(mean_over(parts.iter().map(bounded))?);
        Some((usual, if let [one] = parts[..] { Some(one) } else { None }))
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
    Usual::between(ends.fold((f64::INFINITY, 0.0), |(a, b), (c, d)| (f64::min(a, c), f64::max(b, d))))
}
