//! What is assumed between every clock of an island and its reference, by the clock's own time: from what is
//! assumed of both, and from what the links of the island showed. `crate::interval::outline` draws bounds
//! by it.

use crate::geometry::{FASTEST, Rule, Segment};
use crate::interval::{BoundPoints, Outline};
use crate::link::{Guarantee, LimitViolations, Loosened, Motion, NominalRate, Relation, mean_over, most};
use crate::network::placement::{IslandData, Placement};
use crate::network::sweep::OpenRate;
use crate::span::{Span, merge};

/// Per clock of the network, what is assumed between it and the reference; empty for the reference and other
/// islands.
pub(crate) struct Motions {
    pub(crate) segments: Vec<Vec<Segment>>,
    /// The nominal rate of the reference against it, and by how much rates may leave it (dimensionless).
    nominal: Vec<Option<(NominalRate, f64)>>,
}

/// The nominal rate is looked at again where the messages leave it open by more than this share of what rates
/// may leave it by, …
const OPEN: f64 = 0.01;
/// … and what is found then is used if it is better by as much as this.
const BETTER: f64 = 0.8;

impl Motions {
    /// From what is assumed and what the links showed; `refined` is by clock what is known of the nominal
    /// rate of the reference beyond what links say.
    pub(crate) fn of(
        island: &IslandData<'_>,
        placement: &Placement,
        refined: &[Option<NominalRate>],
    ) -> Self {
        // Estimate and truth can be apart by the whole width.
        let slack =
            (island.tree.worst.1.min(i64::MAX as u64 / 16) as i64).saturating_mul(2).saturating_add(1);
        let loosened = loosened(island, slack);
        let mut segments = vec![Vec::new(); island.spans.len()];
        let mut rates = vec![None; island.spans.len()];
        for clock in island.clocks().filter(|&c| c != island.reference) {
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
            let mut violations = LimitViolations {
                fast: spans(&loosened.violations.fast),
                any: spans(&loosened.violations.any),
                ..LimitViolations::default()
            };
            violations.any.extend(island.steps(clock));
            violations.any.extend(island.steps(island.reference).into_iter().map(own));
            merge(&mut violations.any);
            let contradicted = spans(&loosened.contradicted);
            let (nominal, moved) = along_path(island, clock);
            let nominal = refined[clock].unwrap_or(nominal);
            let motion =
                Motion::new(island.model, &island.assumptions[clock], &island.assumptions[island.reference])
                    .moving(moved);
            segments[clock] = motion.segments(nominal, &violations, &contradicted, own);
            rates[clock] = Some((nominal, motion.most()));
        }
        Self { segments, nominal: rates }
    }

    /// Whether the rate between some clock and the reference is constant for some time.
    pub(crate) fn has_constants(&self) -> bool {
        self.segments.iter().flatten().any(|segment| matches!(segment.rule, Rule::Constant { .. }))
    }

    /// What the bounds of all clocks together prove of the nominal rates, where that is much more than what
    /// was used for these bounds; `None` if it is so for no clock.
    pub(crate) fn refined(&self, lines: &[BoundPoints], spans: &[Span]) -> Option<Vec<Option<NominalRate>>> {
        let mut is_any = false;
        let mut of = |clock: usize| {
            let (nominal, by) = self.nominal[clock]?;
            let proven = || Some(self.proven(clock, &lines[clock], spans[clock])?.0.and(nominal));
            let refined = if nominal.error > OPEN * by { proven().flatten() } else { None };
            let refined = refined.filter(|refined| refined.error < BETTER * nominal.error);
            is_any |= refined.is_some();
            Some(refined.unwrap_or(nominal))
        };
        let all = (0..spans.len()).map(&mut of).collect();
        is_any.then_some(all)
    }

    /// The nominal rates, by clock, as far as the bounds of all clocks together prove them.
    pub(crate) fn open(&self, lines: &[BoundPoints], spans: &[Span]) -> Vec<Option<OpenRate>> {
        let of = |clock: usize| {
            let (_, by) = self.nominal[clock]?;
            let (nominal, over) = self.proven(clock, &lines[clock], spans[clock])?;
            Some(OpenRate { nominal, by, over })
        };
        (0..spans.len()).map(of).collect()
    }

    /// What the bounds of a clock prove of its nominal rate: here the mean over its span, less what is
    /// allowed to be faster, and the stretch that is, if it is one.
    fn proven(&self, clock: usize, lines: &BoundPoints, span: Span) -> Option<(NominalRate, Option<Span>)> {
        let (nominal, _) = self.nominal[clock]?;
        let fast = nominal.range(FASTEST).rates().1;
        let is_usual = |segment: &&Segment| segment.rule.rates().rates().1 < fast;
        let outline = Outline::through(lines.clone(), &self.segments[clock]);
        let reach = outline.both_ways()?;
        let known = span.common(reach);
        let mut parts: Vec<Span> = self.segments[clock]
            .iter()
            .filter(is_usual)
            .map(|segment| segment.x.common(known))
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
        let nominal = NominalRate::between(mean_over(parts.iter().map(bounded))?);
        Some((nominal, if let [one] = parts[..] { Some(one) } else { None }))
    }
}

/// Spans in which the links of the island allow for more than what is assumed, by the reference's time along
/// the tree.
fn loosened(island: &IslandData<'_>, slack: i64) -> Loosened {
    let mut all = Loosened::default();
    for (link, relation) in island.relations() {
        let to_reference = |s: &Span| Span {
            begin: island.to_reference(link.a, s.begin).saturating_sub(slack),
            end: island.to_reference(link.a, s.end).saturating_add(slack),
        };
        for piece in relation.pieces() {
            if let Some(steered) = piece.bounds.steered() {
                let found = steered.loosened();
                all.violations.fast.extend(found.violations.fast.iter().map(to_reference));
                all.violations.any.extend(found.violations.any.iter().map(to_reference));
                all.contradicted.extend(found.contradicted.iter().map(to_reference));
            }
        }
    }
    for list in [&mut all.violations.fast, &mut all.violations.any, &mut all.contradicted] {
        merge(list);
    }
    all
}

/// The nominal rate of the reference against a clock, and how far rates were seen to leave it, by the links
/// between them.
fn along_path(island: &IslandData<'_>, clock: usize) -> (NominalRate, Option<f64>) {
    let (mut rate, mut error, mut moved) = (1.0, 0.0, None);
    let mut at = clock;
    while let Some((nearer, link)) = island.tree.next[at] {
        let link = &island.links[link];
        if let Some(relation) = &link.relation {
            let own = nominal(relation);
            rate *= if at == link.a { own.rate } else { own.rate.recip() };
            error += own.error;
            // What is nominal of a clock in between is what it was while it talked to the one, or to the
            // other.
            if nearer != island.reference {
                error += 2.0 * most(&island.assumptions[nearer]) * rate;
            }
            moved = match (moved, relation.moved()) {
                (Some(a), Some(b)) => Some(a + b),
                (one, other) => one.or(other),
            };
        }
        at = nearer;
    }
    (NominalRate { rate, error }, moved)
}

/// The nominal rate of a link: the range of the nominal rates of its pieces.
fn nominal(relation: &Relation) -> NominalRate {
    let ends = relation.pieces().iter().map(|piece| match &piece.bounds {
        Guarantee::Steered(steered) => {
            (steered.nominal.rate - steered.nominal.error, steered.nominal.rate + steered.nominal.error)
        }
        Guarantee::Line { forward, .. } => {
            let band = forward.band();
            (1.0 + band.min().ppm() * 1e-6, 1.0 + band.max().ppm() * 1e-6)
        }
    });
    NominalRate::between(ends.fold((f64::INFINITY, 0.0), |(a, b), (c, d)| (f64::min(a, c), f64::max(b, d))))
}
