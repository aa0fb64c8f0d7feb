//! One island from judged links to corrections with intervals.
//!
//! The estimate comes from [`crate::network::placement`], the guarantee from [`crate::network::reach`] and
//! `crate::interval::rows`; neither knows of the other. Here the estimate is held against the guarantee and
//! against every message that matters, exactly, and repaired where it fails.

use rayon::prelude::*;

use crate::correction::Correction;
use crate::error::ClockError;
use crate::geometry::{Segment, Side, Wander};
use crate::interval::{
    BoundPoints, Bounds, Interval, KnownAt, Outline, Row, thinned_correction, thinned_to, to_interval,
};
use crate::link::{ClockBreak, Link, NominalRate, Relation, narrowest};
use crate::network::placement::{IslandData, Placement};
use crate::network::reach::{Contradiction, Reach};
use crate::network::sweep::{Case, OpenRate, Sweep};
use crate::network::{interior, motions::Motions, repair};
use crate::span::Span;

/// Minimal number of instants at which all links are evaluated.
const INSTANTS: usize = 64;
/// Maximal number of instants at which the clocks are placed.
pub const MAX_ROWS: usize = 512;
/// Approximate number of placements times links in an island of many links.
const PLACEMENTS_OF_ALL_LINKS: usize = 3 << 17;
/// Maximal number of instants at which all links are evaluated where a bound bends …
const MAX_INSTANTS: usize = 8192;
/// … and approximate number of instants times links in an island of many links.
const INSTANTS_OF_ALL_LINKS: usize = 1 << 17;
/// Maximal number of rounds of refining nominal rates.
const ROUNDS_OF_USUAL: usize = 3;
/// Maximal number of segment ends that are among the first instants …
const MAX_SEGMENT_ENDS: usize = 2048;
/// … and approximate number of ends times links in an island of many links.
const SEGMENT_ENDS_OF_ALL_LINKS: usize = 1 << 18;
/// Rows and knots of all clocks together, each, about: of more clocks, those count less without which the
/// others say nearly the same.
const ROWS_OF_ALL_CLOCKS: usize = 1 << 17;
/// Rows and knots that a clock may have in any case.
const MIN_ROWS: usize = 64;
/// Maximal number of rounds in which more instants are added.
const ROUNDS: usize = 16;
/// In islands of more links than this, only the narrowest of every clock are evaluated: the others add little
/// and cost much.
const MAX_QUERIED_LINKS: usize = 800;
/// Minimal number of links of a clock that are evaluated, the narrowest first.
const LINKS_PER_CLOCK: usize = 4;
/// Between two instants a rate may wander by this share of the link's width.
const WANDER_SHARE: f64 = 0.1;

/// Result for one clock.
pub(crate) struct Solved {
    pub(crate) clock: usize,
    pub(crate) correction: Correction,
    pub(crate) interval: Interval,
    pub(crate) breaks: Vec<ClockBreak>,
}

/// Why an island is not solved.
pub(crate) enum Unsolved {
    /// Links contradict each other.
    Contradiction(Contradiction),
    /// A result is out of range.
    Invalid(ClockError),
}

impl From<Contradiction> for Unsolved {
    fn from(found: Contradiction) -> Self {
        Self::Contradiction(found)
    }
}

impl From<ClockError> for Unsolved {
    fn from(error: ClockError) -> Self {
        Self::Invalid(error)
    }
}

/// Solves one island.
pub(crate) struct IslandSolver<'a> {
    island: IslandData<'a>,
    /// Instants of the reference around a break, by clock.
    zones: Vec<Vec<Span>>,
    instants: Vec<i64>,
    /// Per clock: how fast the reference runs against it, about.
    rates: Vec<f64>,
    /// Per clock: half the least round trip of its links, ns.
    margins: Vec<f64>,
    /// Per clock, for every line between it and the reference, when its messages were in the middle, by the
    /// reference, and how far its rate may be off.
    drifts: Vec<Vec<(Span, f64)>>,
}

impl<'a> IslandSolver<'a> {
    pub(crate) fn new(island: IslandData<'a>) -> Self {
        let clocks = island.spans.len();
        let mut solver = Self {
            zones: vec![Vec::new(); clocks],
            instants: Vec::new(),
            rates: vec![1.0; clocks],
            margins: vec![f64::INFINITY; clocks],
            drifts: vec![Vec::new(); clocks],
            island,
        };
        solver.zones = solver.zones();
        solver.instants = solver.instants();
        solver.collect_from_links();
        solver
    }

    fn collect_from_links(&mut self) {
        if let [first, .., last] = self.instants[..] {
            let [early, late] = [first, last].map(|t| self.island.along_the_tree(self.island.spans.len(), t));
            for (rate, (early, late)) in self.rates.iter_mut().zip(early.into_iter().zip(late)) {
                let shown = (late as i128 - early as i128).max(1) as f64;
                *rate = (last as i128 - first as i128) as f64 / shown;
            }
        }
        for (link, relation) in self.island.relations() {
            let margin = link.margin(relation);
            for clock in [link.a, link.b] {
                self.margins[clock] = self.margins[clock].min(margin);
            }
        }
        // Nearer clocks come first.
        for &clock in &self.island.tree.order {
            if let Some((nearer, link)) = self.island.tree.next[clock] {
                let link = &self.island.links[link];
                let to_reference = |x: i64| self.island.to_reference(link.a, x);
                let own = link.drift().map(|(x, rate)| (x.map(to_reference), rate));
                self.drifts[clock] = self.drifts[nearer].iter().copied().chain(own).collect();
            }
        }
    }

    /// Corrections and intervals of all clocks of the island, or the loops that contradict themselves.
    pub(crate) fn solve(&self) -> Result<Vec<Solved>, Unsolved> {
        let placement = self.island.placed(self.island.spans.len(), &self.instants);
        if !self.island.is_straight() {
            return self.solve_moving(&placement);
        }
        let bounds = self.bounds()?;
        let rows: Vec<Vec<Row>> =
            self.island.clocks().map(|c| self.rows(c, &bounds[c], &placement)).collect();
        let mut corrections = self.corrections(&placement, &rows)?;
        // Of messages that tie no clocks, and by a rounded nanosecond of those that hulls hide.
        if self.believed().any(|link| link.recorded().iter().any(|m| m.is_inverted(&corrections))) {
            corrections = self.uninverted(corrections, &rows, &self.motions(&placement).segments)?;
        }
        Ok(self.solved(&corrections, &rows, &placement)?)
    }

    /// Results for the clocks from their corrections and rows.
    fn solved(
        &self,
        corrections: &[Correction],
        rows: &[Vec<Row>],
        placement: &Placement,
    ) -> Result<Vec<Solved>, ClockError> {
        let solved = |(clock, rows): (usize, &Vec<Row>)| {
            let correction = corrections[clock].clone();
            let likely_error = |raw: i64| self.likely_error(clock, correction.apply(raw), placement);
            let interval = to_interval(rows, |raw| correction.apply(raw), likely_error)?;
            Ok(Solved { clock, interval, breaks: self.island.breaks[clock].clone(), correction })
        };
        self.island.clocks().zip(rows).map(solved).collect()
    }

    /// The same where some clocks do not run straight.
    fn solve_moving(&self, placement: &Placement) -> Result<Vec<Solved>, Unsolved> {
        let (rows, motions) = self.moving_rows(placement)?;
        let mut corrections: Vec<Correction> =
            self.island.spans.iter().map(|s| Correction::identity(s.begin, s.end)).collect();
        for (clock, rows) in self.island.clocks().zip(&rows).filter(|&(c, _)| c != self.island.reference) {
            corrections[clock] =
                repair::inside(&thinned_correction(&placement.correction(clock), self.max_rows())?, rows)?;
        }
        let corrections = self.uninverted(corrections, &rows, &motions.segments)?;
        Ok(self.solved(&corrections, &rows, placement)?)
    }

    /// The rows of all members, of all messages, and what was assumed for that.
    fn moving_rows(&self, placement: &Placement) -> Result<(Vec<Vec<Row>>, Motions), Contradiction> {
        let mut motions = self.motions(placement);
        // A clock that may have gone back shows one time twice: its events have no order.
        let goes_on = self.island.relations().all(|(_, relation)| relation.pieces().len() == 1);
        let known = match goes_on && !motions.has_constants() {
            true => vec![Vec::new(); self.island.spans.len()],
            false => self.known(&motions)?,
        };
        let mut lines = if goes_on { Some(self.swept(&motions, &known)?) } else { None };
        for _ in 0..ROUNDS_OF_USUAL {
            let Some(refined) = lines.as_ref().and_then(|lines| motions.refined(lines, self.island.spans))
            else {
                break;
            };
            motions = Motions::of(&self.island, placement, &refined);
            lines = Some(self.swept(&motions, &known)?);
        }
        if let Some(refined) =
            lines.as_ref().and_then(|lines| self.by_cases(placement, &motions, lines, &known))
        {
            lines = Some(refined);
        }
        let most = self.max_rows();
        let members: Vec<usize> = self.island.clocks().collect();
        let rows = |&clock: &usize| {
            let segments = &motions.segments[clock];
            if clock == self.island.reference {
                return self.reference_rows();
            }
            let outline = match &lines {
                Some(lines) => Outline::through(lines[clock].clone(), segments),
                None => Outline::new(&known[clock], segments),
            };
            thinned_to(outline.rows(self.island.spans[clock]), most)
        };
        let rows = members.par_iter().map(rows).collect();
        Ok((rows, motions))
    }

    /// Assumptions before the nominal rates are refined.
    fn motions(&self, placement: &Placement) -> Motions {
        Motions::of(&self.island, placement, &vec![None; self.island.spans.len()])
    }

    /// The rows and knots that a clock may have.
    fn max_rows(&self) -> usize {
        (ROWS_OF_ALL_CLOCKS / self.island.spans.len().max(1)).max(MIN_ROWS)
    }

    /// Bounds from all messages with the nominal rates that they leave open taken case by case; `None` where
    /// nothing is gained.
    fn by_cases(
        &self,
        placement: &Placement,
        motions: &Motions,
        lines: &[BoundPoints],
        known: &[Vec<KnownAt>],
    ) -> Option<Vec<BoundPoints>> {
        if motions.has_constants() {
            return None;
        }
        let open = motions.open(lines, self.island.spans);
        let sweep = self.sweep(motions, known);
        let events = self.island.clocks().map(|clock| sweep.events(clock).len()).sum();
        let parts: Vec<usize> = open.iter().map(|o| o.as_ref().map_or(1, |o| o.parts(events))).collect();
        let most = parts.iter().copied().max().filter(|&most| most > 1)?;
        let mut cases: Vec<Vec<Case>> = self.island.spans.iter().map(|_| Vec::new()).collect();
        for part in 0..most {
            let of =
                |(open, &of): (&Option<OpenRate>, &usize)| Some(open.as_ref()?.part(part.min(of - 1), of));
            let nominal: Vec<Option<NominalRate>> = open.iter().zip(&parts).map(of).collect();
            let motions = Motions::of(&self.island, placement, &nominal);
            for clock in self.island.clocks().filter(|&clock| part < parts[clock] && parts[clock] > 1) {
                if let Some((nominal, open)) = nominal[clock].zip(open[clock]) {
                    let (raw, segments) = (sweep.events(clock), &motions.segments[clock]);
                    cases[clock].push(Case::new(raw, segments, nominal, open.over));
                }
            }
        }
        sweep.bounds_by_cases(&cases)
    }

    /// Bounds from all messages, and from what is known at some instants.
    fn swept(&self, motions: &Motions, known: &[Vec<KnownAt>]) -> Result<Vec<BoundPoints>, Contradiction> {
        self.sweep(motions, known).lines().map_err(|mut contradiction| {
            // One loop is found there; more of them show which link is wrong.
            let queried = self.queried();
            let reach = Reach::new(self.island.spans.len(), self.island.links, |l| queried[l]);
            if let Err(more) =
                self.query(&reach, &self.instants, &mut vec![Vec::new(); self.island.spans.len()])
            {
                contradiction.add(more);
            }
            contradiction
        })
    }

    fn sweep(&self, motions: &Motions, known: &[Vec<KnownAt>]) -> Sweep<'_> {
        let is_proven = |link: &Link| match &link.relation {
            Some(relation) => relation.is_guaranteed(),
            None => link.one_way.is_some(),
        };
        let members = &self.island.members;
        let take = |link: &Link| members[link.a] && members[link.b] && is_proven(link);
        let (reference, members) = (self.island.reference, self.island.clocks().collect());
        Sweep::new(self.island.links, take, reference, members, self.island.spans, &motions.segments, known)
    }

    fn uninverted(
        &self,
        corrections: Vec<Correction>,
        rows: &[Vec<Row>],
        segments: &[Vec<Segment>],
    ) -> Result<Vec<Correction>, ClockError> {
        let rows = self.island.clocks().zip(rows.iter().map(Vec::as_slice)).collect();
        let guarantees = repair::Guarantees { reference: self.island.reference, rows, segments };
        repair::uninverted(corrections, &guarantees, &self.believed().collect::<Vec<_>>())
    }

    /// The links whose messages are believed, also those that tie no clocks.
    fn believed(&self) -> impl Iterator<Item = &Link> {
        let members = self.island.members;
        self.island.links.iter().filter(|l| members[l.a] && members[l.b] && l.is_believed())
    }

    fn reference_rows(&self) -> Vec<Row> {
        let span = self.island.spans[self.island.reference];
        [span.begin, span.end].map(|raw| Row { raw, lo: raw, hi: raw }).to_vec()
    }

    /// Bounds from all links together, per clock: at the first instants, and at more of them where that
    /// narrows them.
    fn known(&self, motions: &Motions) -> Result<Vec<Vec<KnownAt>>, Contradiction> {
        let queried = self.queried();
        let reach = Reach::new(self.island.spans.len(), self.island.links, |l| queried[l]);
        let reference = self.island.reference;
        let most = (INSTANTS_OF_ALL_LINKS / self.island.links.len().max(1)).clamp(MAX_ROWS, MAX_INSTANTS);
        let mut known: Vec<Vec<KnownAt>> = vec![Vec::new(); self.island.spans.len()];
        let mut queried_at = 0;
        let mut next = self.instants.clone();
        for _ in 0..ROUNDS {
            self.query(&reach, &next, &mut known)?;
            queried_at += next.len();
            self.island.clocks().for_each(|clock| known[clock].sort_unstable_by_key(|k| k.instant));
            let others: Vec<usize> = self.island.clocks().filter(|&c| c != reference).collect();
            let wanted = |&clock: &usize| {
                Outline::new(&known[clock], &motions.segments[clock])
                    .wanted_instants(self.island.spans[clock])
            };
            let mut wanted: Vec<(i64, i64)> = others.par_iter().flat_map(wanted).collect();
            wanted.sort_unstable_by_key(|w| (std::cmp::Reverse(w.0), w.1));
            wanted.truncate(most.saturating_sub(queried_at));
            next = wanted.into_iter().map(|w| w.1).collect();
            next.sort_unstable();
            next.dedup();
            let old: &[KnownAt] = self.island.clocks().next().map_or(&[], |clock| &known[clock]);
            next.retain(|t| old.binary_search_by_key(t, |k| k.instant).is_err());
            if next.is_empty() {
                break;
            }
        }
        Ok(known)
    }

    /// Per clock the instants of the reference between which its breaks show.
    fn zones(&self) -> Vec<Vec<Span>> {
        // Estimate and truth can be apart by the whole width.
        let slack = self.island.tree.worst.1.min(i64::MAX as u64 / 16) as i64 * 2;
        let zone = |clock: usize| {
            move |raw: Span| Span {
                begin: self.island.to_reference(clock, raw.begin).saturating_sub(slack + 1),
                end: self.island.to_reference(clock, raw.end).saturating_add(slack + 1),
            }
        };
        (0..self.island.spans.len())
            .map(|clock| self.island.steps(clock).into_iter().map(zone(clock)).collect())
            .collect()
    }

    /// Instants of the reference at which to look: over all spans and a little beyond, and around breaks.
    fn instants(&self) -> Vec<i64> {
        let ends = self.island.clocks().flat_map(|clock| {
            let Span { begin, end } = self.island.spans[clock];
            [begin, end].map(|raw| self.island.to_reference(clock, raw))
        });
        let (first, last) = ends.fold((i64::MAX, i64::MIN), |(a, b), t| (a.min(t), b.max(t)));
        let limit = |t: i64| t.clamp(-crate::MAX_ABS_NS, crate::MAX_ABS_NS);
        let (first, last) = (limit(first), limit(last));
        // Far enough out for the bounds of the ends of all spans.
        let beyond = (self.island.tree.worst.1.min(1 << 60) as i64).saturating_mul(2).saturating_add(1000);
        let (from, to) = (limit(first.saturating_sub(beyond)), limit(last.saturating_add(beyond)));
        let steps = self.grid(first, last);
        let inner =
            (0..=steps).map(|i| first + ((last as i128 - first as i128) * i as i128 / steps as i128) as i64);
        let zones = self.zones.iter().flatten().flat_map(|z| [z.begin, z.end]);
        let edges = (0..self.island.spans.len()).flat_map(|clock| {
            self.island.breaks[clock]
                .iter()
                .flat_map(move |b| [b.raw.begin, b.raw.end].map(|raw| self.island.to_reference(clock, raw)))
        });
        let pieces = self.island.relations().filter(|(_, r)| r.pieces().len() > 1).flat_map(|(link, r)| {
            let ends = r.pieces().iter().flat_map(|p| [p.x.begin, p.x.end]);
            ends.map(|x| self.island.to_reference(link.a, x)).collect::<Vec<_>>()
        });
        let ends = self.island.relations().flat_map(|(link, r)| {
            let ends = r.steered().flat_map(|s| s.chain.instants(self.island.spans[link.a]));
            ends.map(|x| self.island.to_reference(link.a, x)).collect::<Vec<_>>()
        });
        // More are queried at where that narrows the bounds: of too many segments, some will do to begin
        // with.
        let mut ends: Vec<i64> = ends.collect();
        ends.sort_unstable();
        let most = (SEGMENT_ENDS_OF_ALL_LINKS / self.island.links.len().max(1)).clamp(1, MAX_SEGMENT_ENDS);
        let segments = ends.iter().copied().step_by(ends.len().div_ceil(most).max(1));
        let mut instants: Vec<i64> = inner
            .chain(zones)
            .chain(pieces)
            .chain(segments)
            .chain(edges)
            .map(limit)
            .filter(|t| (from..=to).contains(t))
            .chain([from, to])
            .collect();
        instants.sort_unstable();
        instants.dedup();
        instants
    }

    fn grid(&self, first: i64, last: i64) -> usize {
        let most = |(_, r): (&Link, &Relation)| {
            let wander = r.wander().rate() * (last as i128 - first as i128) as f64;
            let by_width = wander / (WANDER_SHARE * r.half_width.max(1) as f64);
            (by_width.min(MAX_ROWS as f64) as usize).max(r.map.knots().len())
        };
        let highest = (PLACEMENTS_OF_ALL_LINKS / self.island.links.len().max(1)).clamp(INSTANTS, MAX_ROWS);
        self.island.relations().map(most).max().unwrap_or(0).clamp(INSTANTS, highest)
    }

    /// Bounds from all links together, per clock.
    fn bounds(&self) -> Result<Vec<Bounds>, Contradiction> {
        let queried = self.queried();
        let reach = Reach::new(self.island.spans.len(), self.island.links, |l| queried[l]);
        let reference = self.island.reference;
        let mut known: Vec<Vec<KnownAt>> = vec![Vec::new(); self.island.spans.len()];
        self.query(&reach, &self.instants, &mut known)?;
        let of = |(clock, known): (usize, Vec<_>)| {
            let mut zones = self.zones[clock].clone();
            if clock != reference {
                zones.extend(&self.zones[reference]);
            }
            // In units of the reference, which may run faster.
            let rate = self.rates[clock].max(1.0) * (1.0 + f64::EPSILON);
            Bounds::new(&known, zones, Wander::of_rate(self.wander(clock).rate() * rate))
        };
        Ok(known.into_iter().enumerate().map(of).collect())
    }

    /// Adds what the links prove at some instants of the reference, per clock.
    fn query(
        &self,
        reach: &Reach<'_>,
        instants: &[i64],
        known: &mut [Vec<KnownAt>],
    ) -> Result<(), Contradiction> {
        let reference = self.island.reference;
        let at = |&instant: &i64| {
            let earliest = reach.from(reference, instant, Side::Lower)?;
            Ok((instant, earliest, reach.from(reference, instant, Side::Upper)?))
        };
        // In the order of the instants, so that it is always the same loops that are found.
        let found: Vec<Result<_, Contradiction>> = instants.par_iter().map(at).collect();
        let mut contradiction = Contradiction::default();
        for found in found {
            let (instant, earliest, latest) = match found {
                Ok(found) => found,
                Err(more) => {
                    contradiction.add(more);
                    continue;
                }
            };
            for clock in self.island.clocks() {
                let (earliest, latest) = (earliest[clock], latest[clock]);
                known[clock].push(KnownAt { instant, earliest, latest });
            }
        }
        if contradiction.loops.is_empty() { Ok(()) } else { Err(contradiction) }
    }

    /// Which links to evaluate: all of a small island, of a large one the tree's and the narrowest of every
    /// clock.
    fn queried(&self) -> Vec<bool> {
        let links = self.island.links;
        if links.len() <= MAX_QUERIED_LINKS {
            return vec![true; links.len()];
        }
        let per_clock = (MAX_QUERIED_LINKS / self.island.tree.order.len().max(1)).max(LINKS_PER_CLOCK);
        let mut queried = narrowest(links, self.island.spans.len(), per_clock);
        for (_, l) in self.island.clocks().filter_map(|c| self.island.tree.next[c]) {
            queried[l] = true;
        }
        queried
    }

    /// Wander of a clock against the reference: the sum over the links between them.
    fn wander(&self, clock: usize) -> Wander {
        let (mut at, mut sum) = (clock, Wander::NONE);
        while let Some((nearer, link)) = self.island.tree.next[at] {
            sum =
                sum.plus(self.island.links[link].relation.as_ref().map(Relation::wander).unwrap_or_default());
            at = nearer;
        }
        sum
    }

    fn rows(&self, clock: usize, bounds: &Bounds, placement: &Placement) -> Vec<Row> {
        let span = self.island.spans[clock];
        if clock == self.island.reference {
            return self.reference_rows();
        }
        let correction = placement.correction(clock);
        bounds.rows(span, self.instants.iter().map(|&t| correction.invert(t)))
    }

    /// The corrections to publish: those of the placement, if no message contradicts them; else as near to
    /// them as the messages allow.
    fn corrections(&self, placement: &Placement, rows: &[Vec<Row>]) -> Result<Vec<Correction>, ClockError> {
        let mut corrections: Vec<Correction> =
            self.island.spans.iter().map(|s| Correction::identity(s.begin, s.end)).collect();
        for clock in self.island.clocks().filter(|&c| c != self.island.reference) {
            corrections[clock] = placement.correction(clock);
        }
        if self.is_consistent(&corrections, rows) {
            return Ok(corrections);
        }
        if self.island.is_straight()
            && let Some(repaired) =
                interior::toward(&self.island, &corrections, |c| self.is_consistent(c, rows))
        {
            return Ok(repaired);
        }
        for (clock, rows) in self.island.clocks().zip(rows).filter(|&(c, _)| c != self.island.reference) {
            corrections[clock] = repair::inside(&corrections[clock], rows)?;
        }
        Ok(corrections)
    }

    /// Whether corrections stay inside all rows, but for rounding, and invert no message.
    fn is_consistent(&self, corrections: &[Correction], rows: &[Vec<Row>]) -> bool {
        const ROUNDING: i64 = 2;
        let inside = self.island.clocks().zip(rows).all(|(clock, rows)| {
            rows.iter().all(|r| {
                let t = corrections[clock].apply(r.raw);
                r.lo.saturating_sub(ROUNDING) <= t && t <= r.hi.saturating_add(ROUNDING)
            })
        });
        let obeys = |link: &Link| link.touching().all(|message| !message.is_inverted(corrections));
        inside && self.island.relations().all(|(link, r)| !r.is_guaranteed() || obeys(link))
    }

    /// The likely error when the reference shows `instant`, ns; `None` where statistics say nothing.
    fn likely_error(&self, clock: usize, instant: i64, placement: &Placement) -> Option<f64> {
        if clock == self.island.reference {
            return Some(0.0);
        }
        // Around a break, anything that is possible is as likely.
        let zones = self.zones[clock].iter().chain(&self.zones[self.island.reference]);
        if zones.into_iter().any(|zone| zone.contains(instant)) {
            return None;
        }
        // What belongs to a host, a slow way to interrupt it, cancels around loops: no loop can see it.
        let (own, reference) = (self.margins[clock], self.margins[self.island.reference]);
        let hosts = self.island.model.asymmetry.powi(2) / 4.0 * (own * own + reference * reference);
        let drift = |&(messages, rate): &(Span, f64)| (messages.beyond(instant) as f64 * rate).powi(2);
        let drift: f64 = self.drifts[clock].iter().map(drift).sum();
        let error = 2.0 * (placement.variance(clock, instant) + hosts + drift).sqrt();
        error.is_finite().then_some(error)
    }
}
