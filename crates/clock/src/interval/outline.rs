//! The guaranteed interval of a clock whose rate changes, from what all links prove at some instants of the
//! reference.
//!
//! As in [`crate::interval::rows`]: when the reference shows τ, the clock shows at least L(τ) and at most
//! G(τ); so at the raw time L(τ) the reference shows τ at the latest, and at G(τ) at the earliest. What lies
//! between two such instants depends on what is assumed there (`crate::link::motion`): where the rate is
//! constant, the truth stays below the chord but for its wander; where it is anything within a range, below
//! the fastest line from the one and the slowest to the other, whichever is lower. Where these two meet high
//! above the chord, one more instant of the reference is evaluated ([`Outline::wanted_instants`]), until what
//! is left to gain is small. So rows come to lie where the bounds bend, and nowhere else.

use crate::exact::{ceil_div, floor_div};
use crate::geometry::{RateRange, Rule, Segment, Side, Slope, Wander};
use crate::interval::rows::{BoundPoint, BoundPoints, KnownAt, Row, tightened};
use crate::interval::{MAX_BOUND_NS, limited, thinned::thinned};
use crate::span::Span;

/// More instants are wanted where a bound may be tighter by more than this share of the half width …
const WORTH: f64 = 0.02;
/// … or by more than this share where a clock was set …
const WORTH_OF_STEP: f64 = 0.25;
/// … and by more than this, ns.
const WORTH_NS: i64 = 200;
/// Minimal distance of instants, ns.
const MIN_GAP_NS: i64 = 20_000;
/// Number of instants at either end of a span that are tried for one at which bounds are narrow.
const CANDIDATES: usize = 256;
/// Rows are left out where the others say the same, but for this share of the half width.
const THINNED: f64 = 0.005;

/// A bound of the reference's time along segments of the clock's.
#[derive(Debug)]
pub(crate) struct Outline<'l> {
    points: BoundPoints,
    /// Assumptions on the reference's rate against the clock's, by raw time of the clock.
    segments: &'l [Segment],
}

/// Rule between two points.
enum Gap {
    /// Within ± the wander of a constant; the greatest there is.
    Constant(Wander, Slope),
    Within(RateRange),
}

/// Where a bound turns between two of its points, and lies far from the chord.
struct Turn {
    /// Distance from the chord, ns: more knowledge gains no more.
    gain: i64,
    raw: i64,
    /// The bound there, raw ns of the reference.
    value: i64,
    left: BoundPoint,
    right: BoundPoint,
}

/// Points turned by 180°: a lower bound becomes an upper one.
fn turned(points: &[BoundPoint]) -> Vec<BoundPoint> {
    points.iter().rev().map(|p| (-p.0, -p.1)).collect()
}

/// Points of an upper bound by time, in range. Clocks do not go back: of several that lie out of order, the
/// tighter counts.
fn in_order(points: impl Iterator<Item = BoundPoint>) -> Vec<BoundPoint> {
    // Bounds reach farther than times do; where a clock cannot be, they say nothing.
    let (limit, mut last) = (crate::MAX_ABS_NS, i64::MIN);
    let mut points: Vec<BoundPoint> = points.filter(|p| p.0 >= -limit).collect();
    for point in &mut points {
        last = last.max(point.0.min(limit));
        point.0 = last;
    }
    points.dedup_by_key(|p| p.0);
    points
}

/// Tightens every point of an upper bound by its neighbours; `rates` holds between two raw times.
fn tighten(points: &mut [BoundPoint], rates: impl Fn(i64, i64) -> RateRange) {
    for i in (1..points.len()).rev() {
        let (left, right) = (points[i - 1], points[i]);
        let least = rates(left.0, right.0).least(right.0 - left.0);
        points[i - 1].1 = left.1.min(limit_128(right.1 as i128 - least));
    }
    for i in 1..points.len() {
        let (left, right) = (points[i - 1], points[i]);
        if let Some(most) = rates(left.0, right.0).most(right.0 - left.0) {
            points[i].1 = right.1.min(limit_128(left.1 as i128 + most));
        }
    }
}

impl<'l> Outline<'l> {
    /// Of what is known at some instants, by these.
    pub(crate) fn new(known: &[KnownAt], segments: &'l [Segment]) -> Self {
        let latest = in_order(known.iter().filter_map(|k| Some((k.earliest?, k.instant))));
        let late = known.iter().rev().filter_map(|k| Some((k.latest?.saturating_neg(), -k.instant)));
        Self::through(BoundPoints { latest, earliest: turned(&in_order(late)) }, segments)
    }

    /// Through what is known at some raw times directly, by raw time. Every point is tightened by its
    /// neighbours: only then does a bound rise from each to the next, and rows need not be lowered to the
    /// ones after them, which lines between them would not survive.
    pub(crate) fn through(mut points: BoundPoints, segments: &'l [Segment]) -> Self {
        let outline = Self { points: BoundPoints::default(), segments };
        let rates = |left: i64, right: i64| match outline.gap(left, right) {
            Gap::Within(rates) => rates,
            // Of constant rates it does not matter which.
            Gap::Constant(..) => RateRange::ANY,
        };
        tighten(&mut points.latest, rates);
        let mut earliest = turned(&points.earliest);
        tighten(&mut earliest, |left, right| rates(-right, -left));
        points.earliest = turned(&earliest);
        Self { points, segments }
    }

    /// Instants of the reference at which more would be known of the clock within `span` (its raw time): how
    /// much there is to gain (ns), and when.
    pub(crate) fn wanted_instants(&self, span: Span) -> Vec<(i64, i64)> {
        let instant = |turn: Turn| {
            let (begin, end) = (turn.left.1, turn.right.1);
            // At an end of the gap there is no limit to the rate: then any instant between may matter.
            let at = if turn.value <= begin || end <= turn.value { begin.midpoint(end) } else { turn.value };
            (end - begin > MIN_GAP_NS).then(|| (turn.gain, at.clamp(begin + 1, end - 1)))
        };
        self.turns(span).filter_map(instant).collect()
    }

    /// Raw times within `span` at which more would be known: how much there is to gain (ns), and when.
    pub(crate) fn candidate_instants(&self, span: Span) -> Vec<(i64, i64)> {
        let instant = |turn: Turn| {
            let (begin, end) = (turn.left.0, turn.right.0);
            let is_near_end = turn.raw <= begin + 1 || end - 1 <= turn.raw;
            let at = if is_near_end { begin.midpoint(end) } else { turn.raw };
            (end - begin > MIN_GAP_NS).then_some((turn.gain, at))
        };
        self.turns(span).filter_map(instant).collect()
    }

    /// The turns within a span at which the bounds would be tighter by a worthwhile gain if more was known:
    /// first the upper bound's.
    fn turns(&self, span: Span) -> impl Iterator<Item = Turn> + '_ {
        self.pairs().filter_map(move |(side, left, right)| {
            let (raw, value) =
                self.turn(side, left, right).filter(|_| right.0 >= span.begin && left.0 <= span.end)?;
            let chord = chord(left, right, raw);
            let gain =
                if side == Side::Upper { value.saturating_sub(chord) } else { chord.saturating_sub(value) };
            let (lo, hi) = self.at(raw);
            let half = (hi.saturating_sub(lo) / 2).max(0);
            // Where a clock was set, bounds are as wide as what happened: steps of them need not be fine.
            let is_any = matches!(self.gap(raw, raw + 1), Gap::Within(RateRange::ANY));
            let share = if is_any { WORTH_OF_STEP } else { WORTH };
            let is_worth = gain > WORTH_NS.max((half as f64 * share) as i64);
            is_worth.then_some(Turn { gain, raw, value, left, right })
        })
    }

    /// Neighbouring points of either bound, by time.
    fn pairs(&self) -> impl Iterator<Item = (Side, BoundPoint, BoundPoint)> + '_ {
        let of = |side| self.points.on(side).windows(2).map(move |pair| (side, pair[0], pair[1]));
        Side::BOTH.into_iter().flat_map(of)
    }

    /// The rows of the interval over the span of the clock: where the bounds bend.
    pub(crate) fn rows(&self, span: Span) -> Vec<Row> {
        let BoundPoints { latest, earliest } = &self.points;
        let mut times: Vec<i64> = latest.iter().chain(earliest).map(|p| p.0).collect();
        for (side, left, right) in self.pairs() {
            // A turn lies between two whole ns: the line through both its neighbours is beyond it.
            let turn = self.turn(side, left, right).into_iter().flat_map(|(raw, _)| [raw, raw + 1]);
            times.extend(turn.filter(|raw| *raw < right.0));
        }
        // Beyond the points nothing is known at once, not little by little.
        times.extend(latest.last().map(|p| p.0 + 1).into_iter().chain(earliest.first().map(|p| p.0 - 1)));
        times.retain(|raw| (span.begin..=span.end).contains(raw));
        times.extend([span.begin, span.end]);
        times.sort_unstable();
        times.dedup();
        let row = |raw: i64| {
            let (lo, hi) = self.at(raw);
            Row { raw, lo, hi }
        };
        thinned(&tightened(times.into_iter().map(row).collect()), THINNED)
    }

    /// Between which raw times both bounds are known.
    pub(crate) fn both_ways(&self) -> Option<Span> {
        let begin = self.points.latest.first()?.0.max(self.points.earliest.first()?.0);
        let end = self.points.latest.last()?.0.min(self.points.earliest.last()?.0);
        (begin < end).then_some(Span { begin, end })
    }

    /// A span within another that reaches over most of it, and at whose ends the bounds are narrow: of some
    /// such spans the one of which the mean rate is known best.
    pub(crate) fn narrow_ends(&self, span: Span) -> Span {
        let third = (span.end - span.begin) / 3;
        let narrowest = |within: Span, outer: i64| {
            let corners = self.points.latest.iter().chain(&self.points.earliest).map(|p| p.0);
            let inside: Vec<i64> = corners.filter(|raw| within.begin <= *raw && *raw <= within.end).collect();
            let some = inside.iter().copied().step_by(inside.len().div_ceil(CANDIDATES).max(1));
            let width = |raw: i64| {
                let (lo, hi) = self.at(raw);
                (hi as i128 - lo as i128) as f64
            };
            some.chain([outer]).map(|raw| (raw, width(raw))).collect::<Vec<_>>()
        };
        let early = narrowest(Span { begin: span.begin, end: span.begin + third }, span.begin);
        let late = narrowest(Span { begin: span.end - third, end: span.end }, span.end);
        let pairs = early.iter().flat_map(|begin| late.iter().map(move |end| (begin, end)));
        let open = |&(begin, end): &(&(i64, f64), &(i64, f64))| (begin.1 + end.1) / (end.0 - begin.0) as f64;
        let best = pairs.filter(|(begin, end)| begin.0 < end.0).min_by(|a, b| open(a).total_cmp(&open(b)));
        best.map_or(span, |(begin, end)| Span { begin: begin.0, end: end.0 })
    }

    /// (lo, hi) at a raw time, rounded outward. Beyond the points nothing is known on the open side.
    pub(crate) fn at(&self, raw: i64) -> (i64, i64) {
        let bound = |side: Side, open: i64| {
            let points = self.points.on(side);
            let right = points.partition_point(|p| p.0 < raw);
            limited(match (right.checked_sub(1).map(|l| points[l]), points.get(right)) {
                (_, Some(&(at, instant))) if at == raw => instant,
                (Some(left), Some(&right)) => self.between(side, left, right, raw),
                (None, Some(&(_, instant))) if side == Side::Upper => instant,
                (Some((_, instant)), None) if side == Side::Lower => instant,
                _ => open,
            })
        };
        (bound(Side::Lower, -MAX_BOUND_NS), bound(Side::Upper, MAX_BOUND_NS))
    }

    /// The highest value between two points of the upper bound, the lowest between two of the lower one.
    fn between(&self, side: Side, left: BoundPoint, right: BoundPoint, raw: i64) -> i64 {
        let gap = self.gap(left.0, right.0);
        // The lower bound is an upper one turned by 180°.
        let (left, right, raw, sign) = match side {
            Side::Upper => (left, right, raw, 1),
            Side::Lower => ((-right.0, -right.1), (-left.0, -left.1), -raw, -1),
        };
        let (run, rest) = (raw - left.0, right.0 - raw);
        let value = match gap {
            Gap::Constant(wander, greatest) => {
                let rise = (right.1 as i128 - left.1 as i128) * run as i128;
                let chord = ceil_div(rise, (right.0 - left.0) as i128) as i64;
                left.1.saturating_add(chord).saturating_add(2 * wander.over_at(run.min(rest), greatest))
            }
            Gap::Within(rates) => {
                let from_right = limit_128(right.1 as i128 - rates.least(rest));
                rates.most(run).map_or(from_right, |rise| from_right.min(limit_128(left.1 as i128 + rise)))
            }
        };
        sign * value
    }

    /// Where the fastest line from the left meets the slowest to the right, the peak of the upper bound, or
    /// the slowest from the left the fastest to the right, the dip of the lower one: (raw time, value).
    fn turn(&self, side: Side, left: BoundPoint, right: BoundPoint) -> Option<BoundPoint> {
        let (width, rise) = ((right.0 - left.0) as f64, (right.1 - left.1) as f64);
        let share = match self.gap(left.0, right.0) {
            Gap::Constant(Wander::NONE, _) => return None,
            Gap::Constant(..) => 0.5,
            Gap::Within(rates) => {
                let (least, most) = rates.rates();
                let range = ((most - least) * width).max(1.0);
                match (side, most.is_finite()) {
                    (Side::Upper, true) => (rise - least * width) / range,
                    (Side::Lower, true) => (most * width - rise) / range,
                    // Without a limit it is at an end.
                    (Side::Upper, false) => 0.0,
                    (Side::Lower, false) => 1.0,
                }
            }
        };
        let raw = left.0 + (width * share.clamp(0.0, 1.0)) as i64;
        let last = if side == Side::Upper { right.0 } else { right.0 - 1 };
        let raw = raw.clamp(left.0 + 1, last.max(left.0 + 1));
        (raw < right.0).then(|| (raw, self.between(side, left, right, raw)))
    }

    /// Rule that holds all the way between two raw times.
    fn gap(&self, from: i64, to: i64) -> Gap {
        let first = self.segments.partition_point(|segment| segment.x.end <= from);
        let touched = self.segments[first.min(self.segments.len() - 1)..]
            .iter()
            .take_while(|segment| segment.x.begin < to);
        let mut touched = touched.map(|segment| segment.rule);
        let Some(rule) = touched.next() else { return Gap::Within(RateRange::ANY) };
        let mut rates = rule.rates();
        let mut several = false;
        for rule in touched {
            rates = rates.or(rule.rates());
            several = true;
        }
        match rule {
            Rule::Constant { wander, .. } if !several => match rates.slopes() {
                Some((_, greatest)) => Gap::Constant(wander, greatest),
                None => Gap::Within(rates),
            },
            _ => Gap::Within(rates),
        }
    }
}

/// The line between two points at a raw time.
fn chord(left: (i64, i64), right: (i64, i64), raw: i64) -> i64 {
    let rise = (right.1 as i128 - left.1 as i128) * (raw - left.0) as i128;
    left.1.saturating_add(floor_div(rise, ((right.0 - left.0) as i128).max(1)) as i64)
}

fn limit_128(time: i128) -> i64 {
    time.clamp(-(MAX_BOUND_NS as i128), MAX_BOUND_NS as i128) as i64
}

#[cfg(test)]
mod tests;
