//! The bounds of one link over time: where b's clock can be when a's shows `x`, by the messages of this link alone, as rows that
//! are linear in between.
//!
//! At some instants of a the relation is asked for its exact bounds. What the truth can do between two of these follows from
//! what the relation assumes there, and that is what [`crate::outline`] draws: a rate that is constant leaves the chord by no
//! more than its wander, a rate within a range stays below the fastest line from the one instant and the slowest to the other,
//! and where a clock was set, no clock goes back. More instants are asked where such a bound lies high above the chord. Rows
//! that say nothing new are left out, the others widened by what that hides.
//!
//! What other links prove is not in it: that is in the intervals of the two clocks. The estimate of [`crate::joint`] only widens
//! rows, never narrows them.

use crate::chain::{Leg, Rule};
use crate::envelope::RateRange;
use crate::hull::Side;
use crate::interval::Interval;
use crate::outline::Outline;
use crate::point::Point;
use crate::relation::{Guarantee, Piece, Relation};
use crate::span::Span;
use crate::thinned::thinned_to;
use crate::uncertainty::{Row, published};
use crate::wander::Wander;
use crate::way::Way;

/// Rows of all links together, about, …
const ROWS_OF_ALL_LINKS: usize = 1 << 15;
/// … the most of one link, …
const MAX_ROWS: usize = 512;
/// … and how many it may have in any case.
const LEAST_ROWS: usize = 16;
/// Instants that are asked at to begin with.
const GRID: usize = 32;
/// Rounds of asking at more instants.
const ROUNDS: usize = 12;

/// Rows that a link may have in a network of so many links.
pub(crate) fn rows_per_link(links: usize) -> usize {
    (ROWS_OF_ALL_LINKS / links.max(1)).clamp(LEAST_ROWS, MAX_ROWS)
}

/// What is known of b's time over a span of a's.
pub(crate) struct LinkInterval<'l> {
    relation: &'l Relation,
    span: Span,
    most: usize,
    /// (a's time, b's time) of the points of either bound, by both.
    latest: Vec<(i64, i64)>,
    earliest: Vec<(i64, i64)>,
}

impl<'l> LinkInterval<'l> {
    /// Of a relation that reaches over all of a span of a's time, in at most so many rows.
    pub(crate) fn new(relation: &'l Relation, span: Span, most: usize) -> Self {
        Self { relation, span, most, latest: Vec::new(), earliest: Vec::new() }
    }

    /// The interval around an estimate of b's time from a's, with a likely error; `None` where the bounds are beyond the range of
    /// times. O(rows · k) for k messages kept.
    pub(crate) fn around(
        mut self,
        estimate: &impl Fn(i64) -> i64,
        realistic: impl Fn(i64) -> Option<f64>,
    ) -> Option<Interval> {
        if !self.relation.reaches_all() {
            return None;
        }
        let rows = self.rows()?;
        published(&rows, estimate, realistic).ok()
    }

    fn rows(&mut self) -> Option<Vec<Row>> {
        let legs = legs(self.relation);
        let mut next = self.first_instants();
        for _ in 0..ROUNDS {
            self.ask(&next)?;
            let more = self.most.saturating_sub(self.latest.len());
            if more == 0 {
                break;
            }
            let mut wanted = self.outline(&legs).worth_asking(self.span);
            wanted.sort_unstable_by_key(|&(gain, raw)| (std::cmp::Reverse(gain), raw));
            wanted.truncate(more);
            next = wanted.into_iter().map(|(_, raw)| raw).collect();
            next.sort_unstable();
            next.dedup();
            next.retain(|&raw| self.latest.binary_search_by_key(&raw, |p| p.0).is_err());
            next.retain(|&raw| !self.is_in_a_break(raw));
            if next.is_empty() {
                break;
            }
        }
        Some(thinned_to(self.outline(&legs).rows(self.span), self.most))
    }

    fn outline<'g>(&self, legs: &'g [Leg]) -> Outline<'g> {
        Outline::through(self.latest.clone(), self.earliest.clone(), legs)
    }

    /// A grid, and where pieces and legs begin and end.
    fn first_instants(&self) -> Vec<i64> {
        let Span { begin, end } = self.span;
        let grid = GRID.min(self.most / 2) as i128;
        let inner = (0..=grid).map(|i| begin + ((end as i128 - begin as i128) * i / grid) as i64);
        let pieces = self.relation.pieces().iter().flat_map(|p| [p.x.begin, p.x.end]);
        let legs = self.relation.steered().flat_map(|s| s.chain.instants(self.span));
        let ends: Vec<i64> = pieces.chain(legs).filter(|x| (begin..=end).contains(x)).collect();
        let step = ends.len().div_ceil((self.most / 2).max(1)).max(1);
        // Where rates may change at any time, bounds bend at every message.
        let kept = self.relation.steered().flat_map(|s| {
            [Side::Upper, Side::Lower].into_iter().flat_map(|side| s.used.points(side)).map(Point::x)
        });
        let kept = kept.filter(|x| (begin..=end).contains(x));
        let mut all: Vec<i64> = inner.chain(ends.into_iter().step_by(step)).chain(kept).collect();
        all.retain(|&x| x == begin || x == end || !self.is_in_a_break(x));
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether a clock may be set just then: between the two pieces it is enough that clocks do not go back.
    fn is_in_a_break(&self, x: i64) -> bool {
        let pieces = self.relation.pieces().windows(2);
        pieces.into_iter().any(|pair| pair[0].x.end < x && x < pair[1].x.begin)
    }

    /// Adds the bounds at some instants; `None` where there are none.
    fn ask(&mut self, instants: &[i64]) -> Option<()> {
        for &x in instants {
            self.latest.push((x, self.relation.bound(Way::Forward, Side::Upper, x)?));
            self.earliest.push((x, self.relation.bound(Way::Forward, Side::Lower, x)?));
        }
        self.latest.sort_unstable();
        self.earliest.sort_unstable();
        Some(())
    }
}

/// What is assumed of the rate of b against a, by a's time: one leg after the other, over all times.
fn legs(relation: &Relation) -> Vec<Leg> {
    let pieces = relation.pieces();
    let mut legs = Vec::new();
    let mut from = Span::EVER.begin;
    for (at, piece) in pieces.iter().enumerate() {
        let next = pieces.get(at + 1);
        // Messages of two neighbouring pieces may overlap: the break is among them.
        let until = next.map_or(Span::EVER.end, |next| piece.x.end.min(next.x.begin)).max(from);
        legs.extend(of_piece(piece).into_iter().filter_map(|leg| {
            let x = Span { begin: leg.x.begin.max(from), end: leg.x.end.min(until) };
            (x.begin < x.end).then(|| Leg { x, rule: absolute(leg.rule) })
        }));
        if let Some(next) = next {
            let resumed = piece.x.end.max(next.x.begin).max(until);
            legs.push(Leg { x: Span { begin: until, end: resumed }, rule: Rule::Within(RateRange::ANY) });
            from = resumed;
        }
    }
    legs
}

fn of_piece(piece: &Piece) -> Vec<Leg> {
    match &piece.bounds {
        Guarantee::Line { forward, .. } => {
            let band = forward.band();
            let rate = |ppm: f64| 1.0 + ppm * 1e-6;
            // Outward: what is lost in floating point is far less.
            let rates = RateRange::around(rate(band.min().ppm()), rate(band.max().ppm()), 1e-12);
            vec![Leg { x: Span::EVER, rule: Rule::Constant { rates, wander: forward.wander() } }]
        }
        Guarantee::Steered(steered) => steered.chain.legs().collect(),
    }
}

/// A rule whose wander holds in units of b, also where b is the slower clock: an outline counts it in units of the slower.
fn absolute(rule: Rule) -> Rule {
    match rule {
        Rule::Constant { rates, wander } if wander != Wander::NONE => {
            let greatest = rule.rates().rates().1;
            let wander = Wander::of_rate(wander.rate() / greatest.clamp(f64::MIN_POSITIVE, 1.0) + 1e-12);
            Rule::Constant { rates, wander }
        }
        rule => rule,
    }
}
