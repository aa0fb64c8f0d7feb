//! The bounds of one link over time: where b's clock can be when a's shows `x`, by the messages of this link
//! alone, as rows that are linear in between.
//!
//! At some instants of a the relation is queried for its exact bounds. What the truth can do between two of
//! these follows from what the relation assumes there, and that is what `crate::interval::outline` draws: a
//! rate that is constant leaves the chord by no more than its wander, a rate within a range stays below the
//! fastest line from the one instant and the slowest to the other, and where a clock was set, no clock goes
//! back. More instants are queried where such a bound lies high above the chord. Rows that say nothing new
//! are left out, the others widened by what that hides.
//!
//! What other links prove is not in it: that is in the intervals of the two clocks. The estimate of
//! `crate::network::joint` only widens rows, never narrows them.

use crate::geometry::{Direction, RateRange, Rule, Segment, Side, Wander};
use crate::interval::{BoundPoints, Interval, Outline, Row, thinned_to, to_interval};
use crate::link::relation::{Guarantee, Piece, Relation};
use crate::span::Span;

/// Rows of all links together, about, …
const ROWS_OF_ALL_LINKS: usize = 1 << 15;
/// … the most of one link, …
const MAX_ROWS: usize = 512;
/// … and how many it may have in any case.
const MIN_ROWS: usize = 16;
/// Instants that are queried at to begin with.
const GRID: usize = 32;
/// Rounds of asking at more instants.
const ROUNDS: usize = 12;

/// Maximal number of rows of a link in a network of `links` links.
pub(crate) fn rows_per_link(links: usize) -> usize {
    (ROWS_OF_ALL_LINKS / links.max(1)).clamp(MIN_ROWS, MAX_ROWS)
}

/// Bounds of b's time over a span of a's.
pub(crate) struct LinkInterval<'l> {
    relation: &'l Relation,
    span: Span,
    most: usize,
    /// On a's time and b's.
    points: BoundPoints,
}

impl<'l> LinkInterval<'l> {
    /// The interval of a relation over a span of a's time, in at most `most` rows.
    pub(crate) fn new(relation: &'l Relation, span: Span, most: usize) -> Self {
        Self { relation, span, most, points: BoundPoints::default() }
    }

    /// The interval around an estimate of b's time from a's, with a likely error; `None` where the bounds are
    /// beyond the range of times. O(rows · k) for k messages kept.
    pub(crate) fn around(
        mut self,
        estimate: &impl Fn(i64) -> i64,
        likely_error: impl Fn(i64) -> Option<f64>,
    ) -> Option<Interval> {
        if !self.relation.reaches_all() {
            return None;
        }
        let rows = self.rows()?;
        to_interval(&rows, estimate, likely_error).ok()
    }

    fn rows(&mut self) -> Option<Vec<Row>> {
        let segments = segments(self.relation);
        let mut next = self.first_instants();
        for _ in 0..ROUNDS {
            self.query(&next)?;
            let more = self.most.saturating_sub(self.points.latest.len());
            if more == 0 {
                break;
            }
            let mut wanted = self.outline(&segments).candidate_instants(self.span);
            wanted.sort_unstable_by_key(|&(gain, raw)| (std::cmp::Reverse(gain), raw));
            wanted.truncate(more);
            next = wanted.into_iter().map(|(_, raw)| raw).collect();
            next.sort_unstable();
            next.dedup();
            next.retain(|&raw| self.points.latest.binary_search_by_key(&raw, |p| p.0).is_err());
            next.retain(|&raw| !self.is_inside_break(raw));
            if next.is_empty() {
                break;
            }
        }
        Some(thinned_to(self.outline(&segments).rows(self.span), self.most))
    }

    fn outline<'g>(&self, segments: &'g [Segment]) -> Outline<'g> {
        Outline::through(self.points.clone(), segments)
    }

    /// A grid, and where pieces and segments begin and end.
    fn first_instants(&self) -> Vec<i64> {
        let Span { begin, end } = self.span;
        let grid = GRID.min(self.most / 2) as i128;
        let inner = (0..=grid).map(|i| begin + ((end as i128 - begin as i128) * i / grid) as i64);
        let pieces = self.relation.pieces().iter().flat_map(|p| [p.x.begin, p.x.end]);
        let segments = self.relation.steered().flat_map(|s| s.chain.instants(self.span));
        let ends: Vec<i64> = pieces.chain(segments).filter(|x| (begin..=end).contains(x)).collect();
        let step = ends.len().div_ceil((self.most / 2).max(1)).max(1);
        // Where rates may change at any time, bounds bend at every message.
        let kept = self.relation.steered().flat_map(|s| s.used.all_points()).map(|(_, p)| p.x());
        let kept = kept.filter(|x| (begin..=end).contains(x));
        let mut all: Vec<i64> = inner.chain(ends.into_iter().step_by(step)).chain(kept).collect();
        all.retain(|&x| x == begin || x == end || !self.is_inside_break(x));
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether a clock may be set just then: between the two pieces it is enough that clocks do not go back.
    fn is_inside_break(&self, x: i64) -> bool {
        let pieces = self.relation.pieces().windows(2);
        pieces.into_iter().any(|pair| pair[0].x.end < x && x < pair[1].x.begin)
    }

    /// Adds the bounds at some instants; `None` where there are none.
    fn query(&mut self, instants: &[i64]) -> Option<()> {
        for &x in instants {
            self.points.latest.push((x, self.relation.bound(Direction::Forward, Side::Upper, x)?));
            self.points.earliest.push((x, self.relation.bound(Direction::Forward, Side::Lower, x)?));
        }
        self.points.latest.sort_unstable();
        self.points.earliest.sort_unstable();
        Some(())
    }
}

/// Assumptions on the rate of b against a, by a's time: one segment after the other, over all times.
fn segments(relation: &Relation) -> Vec<Segment> {
    let pieces = relation.pieces();
    let mut segments = Vec::new();
    let mut from = Span::EVER.begin;
    for (at, piece) in pieces.iter().enumerate() {
        let next = pieces.get(at + 1);
        // Messages of two neighbouring pieces may overlap: the break is among them.
        let until = next.map_or(Span::EVER.end, |next| piece.x.end.min(next.x.begin)).max(from);
        segments.extend(of_piece(piece).into_iter().filter_map(|segment| {
            let x = segment.x.common(Span { begin: from, end: until });
            (x.begin < x.end).then(|| Segment { x, rule: absolute(segment.rule) })
        }));
        if let Some(next) = next {
            let resumed = piece.x.end.max(next.x.begin).max(until);
            segments
                .push(Segment { x: Span { begin: until, end: resumed }, rule: Rule::Within(RateRange::ANY) });
            from = resumed;
        }
    }
    segments
}

fn of_piece(piece: &Piece) -> Vec<Segment> {
    match &piece.bounds {
        Guarantee::Line { forward, .. } => {
            let band = forward.band();
            let rate = |ppm: f64| 1.0 + ppm * 1e-6;
            // Outward: what is lost in floating point is far less.
            let rates = RateRange::around(rate(band.min().ppm()), rate(band.max().ppm()), 1e-12);
            vec![Segment { x: Span::EVER, rule: Rule::Constant { rates, wander: forward.wander() } }]
        }
        Guarantee::Steered(steered) => steered.chain.segments().collect(),
    }
}

/// A rule whose wander holds in units of b, also where b is the slower clock: an outline counts it in units
/// of the slower.
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
