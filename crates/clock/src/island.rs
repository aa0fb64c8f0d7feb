//! One island from judged links to corrections with intervals.
//!
//! The estimate comes from [`crate::placement`], the guarantee from [`crate::reach`] and [`crate::uncertainty`]; neither knows
//! of the other. Here the estimate is held against the guarantee and against every message that matters, exactly, and
//! repaired where it fails.

use rayon::prelude::*;

use crate::assumption::Assumptions;
use crate::breaks::{ClockBreak, of_clocks};
use crate::chain::Leg;
use crate::correction::Correction;
use crate::error::ClockError;
use crate::hull::Side;
use crate::interior;
use crate::interval::Interval;
use crate::link::{Link, is_inverted, narrowest};
use crate::model::Model;
use crate::motions::Motions;
use crate::outline::{Known, Outline};
use crate::paths::Tree;
use crate::placement::{self, Placement};
use crate::reach::{Contradiction, Reach};
use crate::relation::{BreakKind, Relation};
use crate::repair;
use crate::span::Span;
use crate::sweep::{Case, Lines, Open, Sweep};
use crate::thinned::thinned_to;
use crate::uncertainty::{Bounds, Row, published};
use crate::usual::Usual;
use crate::wander::Wander;

/// Instants at which all links are asked, where rates are constant.
const INSTANTS: usize = 64;
/// Most instants, where rates change.
pub const MAX_ROWS: usize = 512;
/// In an island of many links they are asked so often together, about.
const PLACEMENTS_OF_ALL_LINKS: usize = 3 << 17;
/// Most instants at which all links are asked where a bound bends, …
const MAX_INSTANTS: usize = 8192;
/// … and how many in an island of many links: so often is a link asked.
const INSTANTS_OF_ALL_LINKS: usize = 1 << 17;
/// Rounds of looking at usual rates again.
const ROUNDS_OF_USUAL: usize = 3;
/// Ends of legs that are asked at in any case, most, …
const MAX_LEG_ENDS: usize = 2048;
/// … and how many in an island of many links.
const LEG_ENDS_OF_ALL_LINKS: usize = 1 << 18;
/// Rows and knots of all clocks together, each, about: of more clocks, those count less without which the others say nearly the same.
const ROWS_OF_ALL_CLOCKS: usize = 1 << 17;
/// Rows and knots that a clock may have in any case.
const LEAST_ROWS: usize = 64;
/// Rounds of asking at more instants.
const ROUNDS: usize = 16;
/// In islands of more links than this, only the narrowest of every clock are asked: the others add little and cost much.
const LINKS_TO_ASK: usize = 800;
/// The narrowest links of every clock are asked, so many at least.
const LINKS_PER_CLOCK: usize = 4;
/// Between two instants a rate may wander by this share of the link's width.
const WANDER_SHARE: f64 = 0.1;

/// What is known of one clock in the end.
pub(crate) struct Solved {
    pub(crate) clock: usize,
    pub(crate) correction: Correction,
    pub(crate) interval: Interval,
    pub(crate) breaks: Vec<ClockBreak>,
}

/// Solves one island.
pub(crate) struct IslandSolver<'a> {
    pub(crate) island: placement::Island<'a>,
    pub(crate) spans: &'a [Span],
    pub(crate) assumptions: &'a [Assumptions],
    /// Per clock its breaks.
    breaks: Vec<Vec<ClockBreak>>,
    /// Instants of the reference around a break, by clock.
    zones: Vec<Vec<Span>>,
    instants: Vec<i64>,
    /// Per clock: how fast the reference runs against it, about.
    rates: Vec<f64>,
    /// Per clock: half the least round trip of its links, ns.
    margins: Vec<f64>,
    /// Per clock, for every line between it and the reference, when its messages were in the middle, by the reference, and how far
    /// its rate may be off.
    drifts: Vec<Vec<(Span, f64)>>,
}

impl<'a> IslandSolver<'a> {
    pub(crate) fn new(
        reference: usize,
        tree: &'a Tree,
        links: &'a [Link],
        spans: &'a [Span],
        model: &'a Model,
        assumptions: &'a [Assumptions],
        members: &'a [bool],
    ) -> Self {
        let island = placement::Island { reference, tree, links, model, members };
        let mut solver = Self {
            breaks: of_clocks(links, spans.len(), Some(reference)),
            zones: vec![Vec::new(); spans.len()],
            instants: Vec::new(),
            rates: vec![1.0; spans.len()],
            margins: vec![f64::INFINITY; spans.len()],
            drifts: vec![Vec::new(); spans.len()],
            island,
            spans,
            assumptions,
        };
        solver.zones = solver.zones();
        solver.instants = solver.instants();
        solver.look_at_links();
        solver
    }

    fn look_at_links(&mut self) {
        if let [first, .., last] = self.instants[..] {
            let [early, late] = [first, last].map(|t| self.island.along_the_tree(self.spans.len(), t));
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
                let own = link
                    .drift()
                    .map(|(x, rate)| (Span { begin: to_reference(x.begin), end: to_reference(x.end) }, rate));
                self.drifts[clock] = self.drifts[nearer].iter().copied().chain(own).collect();
            }
        }
    }

    /// Corrections and intervals of all clocks of the island, or the loops that contradict themselves.
    pub(crate) fn solve(&self) -> Result<Result<Vec<Solved>, Contradiction>, ClockError> {
        let placement = self.island.placed(self.spans.len(), &self.instants);
        if !self.island.is_straight() {
            return self.solve_moving(&placement);
        }
        let bounds = match self.bounds() {
            Ok(bounds) => bounds,
            Err(contradiction) => return Ok(Err(contradiction)),
        };
        let rows: Vec<Vec<Row>> = self.members().map(|c| self.rows(c, &bounds[c], &placement)).collect();
        let mut corrections = self.corrections(&placement, &rows)?;
        // Of messages that tie no clocks, and by a rounded nanosecond of those that hulls hide.
        if self.believed().any(|link| link.recorded().into_iter().any(|m| is_inverted(m, &corrections))) {
            corrections = self.uninverted(corrections, &rows, &self.motions(&placement).legs)?;
        }
        Ok(Ok(self.solved(&corrections, &rows, &placement)?))
    }

    /// What is known of the clocks by their corrections and rows.
    fn solved(
        &self,
        corrections: &[Correction],
        rows: &[Vec<Row>],
        placement: &Placement,
    ) -> Result<Vec<Solved>, ClockError> {
        let solved = |(clock, rows): (usize, &Vec<Row>)| {
            let correction = corrections[clock].clone();
            let realistic = |raw: i64| self.realistic(clock, correction.apply(raw), placement);
            let interval = published(rows, |raw| correction.apply(raw), realistic)?;
            Ok(Solved { clock, interval, breaks: self.breaks[clock].clone(), correction })
        };
        self.members().zip(rows).map(solved).collect()
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = usize> + '_ {
        self.island.tree.order.iter().copied()
    }

    /// The same for clocks of which some do not run straight.
    fn solve_moving(&self, placement: &Placement) -> Result<Result<Vec<Solved>, Contradiction>, ClockError> {
        let (rows, motions) = match self.moving_rows(placement) {
            Ok(found) => found,
            Err(contradiction) => return Ok(Err(contradiction)),
        };
        let mut corrections: Vec<Correction> =
            self.spans.iter().map(|s| Correction::identity(s.begin, s.end)).collect();
        for (clock, rows) in self.members().zip(&rows).filter(|&(c, _)| c != self.island.reference) {
            corrections[clock] =
                repair::inside(&placement.correction(clock).thinned_to(self.most_rows()), rows)?;
        }
        let corrections = self.uninverted(corrections, &rows, &motions.legs)?;
        Ok(Ok(self.solved(&corrections, &rows, placement)?))
    }

    /// The rows of all members, of all messages, and what was assumed for that.
    fn moving_rows(&self, placement: &Placement) -> Result<(Vec<Vec<Row>>, Motions), Contradiction> {
        let mut motions = self.motions(placement);
        // A clock that may have gone back shows one time twice: its events have no order.
        let goes_on = self.island.relations().all(|(_, relation)| relation.pieces().len() == 1);
        let known = match goes_on && !motions.has_constants() {
            true => vec![Vec::new(); self.spans.len()],
            false => self.known(&motions)?,
        };
        let mut lines = if goes_on { Some(self.swept(&motions, &known)?) } else { None };
        for _ in 0..ROUNDS_OF_USUAL {
            let Some(closer) = lines.as_ref().and_then(|lines| motions.closer(lines, self.spans)) else {
                break;
            };
            motions = Motions::of(self, placement, &closer);
            lines = Some(self.swept(&motions, &known)?);
        }
        if let Some(closer) =
            lines.as_ref().and_then(|lines| self.by_cases(placement, &motions, lines, &known))
        {
            lines = Some(closer);
        }
        let most = self.most_rows();
        let members: Vec<usize> = self.members().collect();
        let rows = |&clock: &usize| {
            let legs = &motions.legs[clock];
            if clock == self.island.reference {
                return self.own_rows();
            }
            let outline = match &lines {
                Some(lines) => {
                    Outline::through(lines[clock].latest.clone(), lines[clock].earliest.clone(), legs)
                }
                None => Outline::new(&known[clock], legs),
            };
            thinned_to(outline.rows(self.spans[clock]), most)
        };
        let rows = members.par_iter().map(rows).collect();
        Ok((rows, motions))
    }

    /// What is assumed before more is known of the usual rates.
    fn motions(&self, placement: &Placement) -> Motions {
        Motions::of(self, placement, &vec![None; self.spans.len()])
    }

    /// The rows and knots that a clock may have.
    fn most_rows(&self) -> usize {
        (ROWS_OF_ALL_CLOCKS / self.spans.len().max(1)).max(LEAST_ROWS)
    }

    /// What all messages prove where usual rates that they leave open are taken case by case; `None` where nothing is gained by that.
    fn by_cases(
        &self,
        placement: &Placement,
        motions: &Motions,
        lines: &[Lines],
        known: &[Vec<Known>],
    ) -> Option<Vec<Lines>> {
        if motions.has_constants() {
            return None;
        }
        let open = motions.open(lines, self.spans);
        let sweep = self.sweep(motions, known);
        let events = self.members().map(|clock| sweep.events(clock).len()).sum();
        let parts: Vec<usize> = open.iter().map(|o| o.as_ref().map_or(1, |o| o.parts(events))).collect();
        let most = parts.iter().copied().max().filter(|&most| most > 1)?;
        let mut cases: Vec<Vec<Case>> = self.spans.iter().map(|_| Vec::new()).collect();
        for part in 0..most {
            let of = |(open, &of): (&Option<Open>, &usize)| Some(open.as_ref()?.part(part.min(of - 1), of));
            let usual: Vec<Option<Usual>> = open.iter().zip(&parts).map(of).collect();
            let motions = Motions::of(self, placement, &usual);
            for clock in self.members().filter(|&clock| part < parts[clock] && parts[clock] > 1) {
                if let Some((usual, open)) = usual[clock].zip(open[clock]) {
                    let (raw, legs) = (sweep.events(clock), &motions.legs[clock]);
                    cases[clock].push(Case::new(raw, legs, usual, open.over));
                }
            }
        }
        sweep.lines_by_cases(&cases)
    }

    /// What all messages prove, and what is known at some instants.
    fn swept(&self, motions: &Motions, known: &[Vec<Known>]) -> Result<Vec<Lines>, Contradiction> {
        self.sweep(motions, known).lines().map_err(|mut contradiction| {
            // One loop is found there; which link is to go, more of them tell.
            let asked = self.asked();
            let reach = Reach::new(self.spans.len(), self.island.links, |l| asked[l]);
            if let Err(more) = self.ask(&reach, &self.instants, &mut vec![Vec::new(); self.spans.len()]) {
                contradiction.add(more);
            }
            contradiction
        })
    }

    fn sweep(&self, motions: &Motions, known: &[Vec<Known>]) -> Sweep<'_> {
        let is_proven = |link: &Link| match &link.relation {
            Some(relation) => relation.is_guaranteed(),
            None => link.one_way.is_some(),
        };
        let members = &self.island.members;
        let take = |link: &Link| members[link.a] && members[link.b] && is_proven(link);
        let island = (self.island.reference, self.members().collect());
        Sweep::new(self.island.links, take, island, self.spans, &motions.legs, known)
    }

    fn uninverted(
        &self,
        corrections: Vec<Correction>,
        rows: &[Vec<Row>],
        legs: &[Vec<Leg>],
    ) -> Result<Vec<Correction>, ClockError> {
        let rows = self.members().zip(rows.iter().map(Vec::as_slice)).collect();
        let guarantees = repair::Guarantees { reference: self.island.reference, rows, legs };
        repair::uninverted(corrections, &guarantees, &self.believed().collect::<Vec<_>>())
    }

    /// The links whose messages are believed, also those that tie no clocks.
    fn believed(&self) -> impl Iterator<Item = &Link> {
        let members = self.island.members;
        self.island.links.iter().filter(|l| members[l.a] && members[l.b] && l.is_believed())
    }

    fn own_rows(&self) -> Vec<Row> {
        let span = self.spans[self.island.reference];
        [span.begin, span.end].map(|raw| Row { raw, lo: raw, hi: raw }).to_vec()
    }

    /// What all links together prove, per clock: at the instants given, and at more of them where that narrows them.
    fn known(&self, motions: &Motions) -> Result<Vec<Vec<Known>>, Contradiction> {
        let asked = self.asked();
        let reach = Reach::new(self.spans.len(), self.island.links, |l| asked[l]);
        let reference = self.island.reference;
        let most = (INSTANTS_OF_ALL_LINKS / self.island.links.len().max(1)).clamp(MAX_ROWS, MAX_INSTANTS);
        let mut known: Vec<Vec<Known>> = vec![Vec::new(); self.spans.len()];
        let mut asked_at = 0;
        let mut next = self.instants.clone();
        for _ in 0..ROUNDS {
            self.ask(&reach, &next, &mut known)?;
            asked_at += next.len();
            self.members().for_each(|clock| known[clock].sort_unstable_by_key(|k| k.0));
            let others: Vec<usize> = self.members().filter(|&c| c != reference).collect();
            let wanted =
                |&clock: &usize| Outline::new(&known[clock], &motions.legs[clock]).wanted(self.spans[clock]);
            let mut wanted: Vec<(i64, i64)> = others.par_iter().flat_map(wanted).collect();
            wanted.sort_unstable_by_key(|w| (std::cmp::Reverse(w.0), w.1));
            wanted.truncate(most.saturating_sub(asked_at));
            next = wanted.into_iter().map(|w| w.1).collect();
            next.sort_unstable();
            next.dedup();
            let old: &[Known] = self.members().next().map_or(&[], |clock| &known[clock]);
            next.retain(|t| old.binary_search_by_key(t, |k| k.0).is_err());
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
            move |b: &ClockBreak| Span {
                begin: self.island.to_reference(clock, b.raw.begin).saturating_sub(slack + 1),
                end: self.island.to_reference(clock, b.raw.end).saturating_add(slack + 1),
            }
        };
        let steps = |clock: usize| self.breaks[clock].iter().filter(|b| b.kind == BreakKind::Step);
        (0..self.spans.len()).map(|clock| steps(clock).map(zone(clock)).collect()).collect()
    }

    /// Where a clock was set or stopped, its own time.
    pub(crate) fn steps(&self, clock: usize) -> Vec<Span> {
        self.breaks[clock].iter().filter(|b| b.kind == BreakKind::Step).map(|b| b.raw).collect()
    }

    /// Instants of the reference at which to look: over all spans and a little beyond, and around breaks.
    fn instants(&self) -> Vec<i64> {
        let ends = self.members().flat_map(|clock| {
            let Span { begin, end } = self.spans[clock];
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
        let edges = (0..self.spans.len()).flat_map(|clock| {
            self.breaks[clock]
                .iter()
                .flat_map(move |b| [b.raw.begin, b.raw.end].map(|raw| self.island.to_reference(clock, raw)))
        });
        let pieces = self.island.relations().filter(|(_, r)| r.pieces().len() > 1).flat_map(|(link, r)| {
            let ends = r.pieces().iter().flat_map(|p| [p.x.begin, p.x.end]);
            ends.map(|x| self.island.to_reference(link.a, x)).collect::<Vec<_>>()
        });
        let ends = self.island.relations().flat_map(|(link, r)| {
            let ends = r.steered().flat_map(|s| s.chain.instants(self.spans[link.a]));
            ends.map(|x| self.island.to_reference(link.a, x)).collect::<Vec<_>>()
        });
        // More are asked at where that narrows the bounds: of too many legs, some will do to begin with.
        let mut ends: Vec<i64> = ends.collect();
        ends.sort_unstable();
        let most = (LEG_ENDS_OF_ALL_LINKS / self.island.links.len().max(1)).clamp(1, MAX_LEG_ENDS);
        let legs = ends.iter().copied().step_by(ends.len().div_ceil(most).max(1));
        let mut instants: Vec<i64> = inner
            .chain(zones)
            .chain(pieces)
            .chain(legs)
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

    /// What all links together prove, per clock.
    fn bounds(&self) -> Result<Vec<Bounds>, Contradiction> {
        let asked = self.asked();
        let reach = Reach::new(self.spans.len(), self.island.links, |l| asked[l]);
        let reference = self.island.reference;
        let mut known: Vec<Vec<Known>> = vec![Vec::new(); self.spans.len()];
        self.ask(&reach, &self.instants, &mut known)?;
        let of = |(clock, known): (usize, Vec<_>)| {
            let mut zones = self.zones[clock].clone();
            if clock != reference {
                zones.extend(&self.zones[reference]);
            }
            // In units of the reference, which may run faster.
            let rate = self.rates[clock].max(1.0) * (1.0 + f64::EPSILON);
            Bounds::new(known.into_iter(), zones, Wander::of_rate(self.wander(clock).rate() * rate))
        };
        Ok(known.into_iter().enumerate().map(of).collect())
    }

    /// Adds what the links prove at some instants of the reference, per clock.
    fn ask(
        &self,
        reach: &Reach<'_>,
        instants: &[i64],
        known: &mut [Vec<Known>],
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
            for clock in self.members() {
                known[clock].push((instant, earliest[clock], latest[clock]));
            }
        }
        if contradiction.loops.is_empty() { Ok(()) } else { Err(contradiction) }
    }

    /// Which links to ask: all of a small island, of a large one the tree's and the narrowest of every clock.
    fn asked(&self) -> Vec<bool> {
        let links = self.island.links;
        if links.len() <= LINKS_TO_ASK {
            return vec![true; links.len()];
        }
        let per_clock = (LINKS_TO_ASK / self.island.tree.order.len().max(1)).max(LINKS_PER_CLOCK);
        let mut asked = narrowest(links, self.spans.len(), per_clock);
        for (_, l) in self.members().filter_map(|c| self.island.tree.next[c]) {
            asked[l] = true;
        }
        asked
    }

    /// How far the rate of a clock against the reference's may wander: that of the links between them.
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
        let span = self.spans[clock];
        if clock == self.island.reference {
            return self.own_rows();
        }
        let correction = placement.correction(clock);
        bounds.rows(span, self.instants.iter().map(|&t| correction.invert(t)))
    }

    /// The corrections to publish: those of the placement, if no message contradicts them; else as near to them as the
    /// messages allow.
    fn corrections(&self, placement: &Placement, rows: &[Vec<Row>]) -> Result<Vec<Correction>, ClockError> {
        let mut corrections: Vec<Correction> =
            self.spans.iter().map(|s| Correction::identity(s.begin, s.end)).collect();
        for clock in self.members().filter(|&c| c != self.island.reference) {
            corrections[clock] = placement.correction(clock);
        }
        if self.is_kept(&corrections, rows) {
            return Ok(corrections);
        }
        if self.island.is_straight()
            && let Some(repaired) =
                interior::toward(&self.island, self.spans, &corrections, |c| self.is_kept(c, rows))
        {
            return Ok(repaired);
        }
        for (clock, rows) in self.members().zip(rows).filter(|&(c, _)| c != self.island.reference) {
            corrections[clock] = repair::inside(&corrections[clock], rows)?;
        }
        Ok(corrections)
    }

    /// Whether corrections stay inside all rows, but for rounding, and invert no message.
    fn is_kept(&self, corrections: &[Correction], rows: &[Vec<Row>]) -> bool {
        const ROUNDING: i64 = 2;
        let inside = self.members().zip(rows).all(|(clock, rows)| {
            rows.iter().all(|r| {
                let t = corrections[clock].apply(r.raw);
                r.lo.saturating_sub(ROUNDING) <= t && t <= r.hi.saturating_add(ROUNDING)
            })
        });
        let obeys = |link: &Link| link.touching().all(|message| !is_inverted(message, corrections));
        inside && self.island.relations().all(|(link, r)| !r.is_guaranteed() || obeys(link))
    }

    /// The realistic error when the reference shows `instant`, ns; `None` where statistics say nothing.
    fn realistic(&self, clock: usize, instant: i64, placement: &Placement) -> Option<f64> {
        if clock == self.island.reference {
            return Some(0.0);
        }
        // Around a break, anything that is possible is as likely.
        let zones = self.zones[clock].iter().chain(&self.zones[self.island.reference]);
        if zones.into_iter().any(|zone| (zone.begin..=zone.end).contains(&instant)) {
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
