//! The guaranteed interval of a clock whose rate changes, from what all links prove at some instants of the reference.
//!
//! As in [`crate::uncertainty`]: when the reference shows τ, the clock shows at least L(τ) and at most G(τ); so at the raw time
//! L(τ) the reference shows τ at the latest, and at G(τ) at the earliest. What lies between two such instants depends on what is
//! assumed there ([`crate::motion`]): where the rate is constant, the truth stays below the chord but for its wander; where it is
//! anything within a range, below the fastest line from the one and the slowest to the other, whichever is lower. Where these
//! two meet high above the chord, one more instant of the reference is asked ([`Outline::wanted`]), until what is left to gain is
//! small. So rows come to lie where the bounds bend, and nowhere else.

use crate::chain::{Leg, Rule};
use crate::envelope::RateRange;
use crate::exact::{ceil_div, floor_div};
use crate::interval::{MAX_BOUND_NS, limited};
use crate::slope::Slope;
use crate::span::Span;
use crate::thinned::thinned;
use crate::uncertainty::{Row, settled};
use crate::wander::Wander;

/// More instants are asked where a bound may be lower by more than this share of the half width …
const WORTH: f64 = 0.02;
/// … or by more than this share where a clock was set …
const WORTH_OF_STEP: f64 = 0.25;
/// … and by more than so many ns.
const WORTH_NS: i64 = 200;
/// Instants are not asked for closer together than this, ns.
const LEAST_GAP_NS: i64 = 20_000;
/// So many instants at either end of a span are tried for one at which bounds are narrow.
const CANDIDATES: usize = 256;
/// Rows are left out where the others say the same, but for this share of the half width.
const THINNED: f64 = 0.005;

/// What is known of one clock at an instant of the reference: the earliest and latest time that it can show.
pub(crate) type Known = (i64, Option<i64>, Option<i64>);

/// A bound of the reference's time: through these points (raw time of the clock, time of the reference), by both.
#[derive(Debug)]
pub(crate) struct Outline<'l> {
    /// The reference is not later.
    latest: Vec<(i64, i64)>,
    /// The reference is not earlier.
    earliest: Vec<(i64, i64)>,
    /// What is assumed of the reference's rate against the clock's, by raw time of the clock.
    legs: &'l [Leg],
}

/// What holds between two points.
enum Gap {
    /// Within ± the wander of a constant; the greatest there is.
    Constant(Wander, Slope),
    Within(RateRange),
}

impl<'l> Outline<'l> {
    /// Of what is known at some instants, by these.
    pub(crate) fn new(known: &[Known], legs: &'l [Leg]) -> Self {
        // Bounds reach farther than times do; where a clock cannot be, they say nothing.
        let most = crate::MAX_ABS_NS;
        let early = |k: &Known| Some((k.1.filter(|raw| *raw >= -most)?.min(most), k.0));
        let late = |k: &Known| Some((k.2.filter(|raw| *raw <= most)?.max(-most), k.0));
        let mut latest: Vec<(i64, i64)> = known.iter().filter_map(early).collect();
        let mut earliest: Vec<(i64, i64)> = known.iter().filter_map(late).collect();
        // Clocks do not go back: of several that lie out of order, the tighter counts.
        let mut most = i64::MIN;
        for point in &mut latest {
            most = most.max(point.0);
            point.0 = most;
        }
        latest.dedup_by_key(|p| p.0);
        let mut least = i64::MAX;
        for point in earliest.iter_mut().rev() {
            least = least.min(point.0);
            point.0 = least;
        }
        earliest.reverse();
        earliest.dedup_by_key(|p| p.0);
        earliest.reverse();
        let mut outline = Self { latest, earliest, legs };
        outline.settle();
        outline
    }

    /// Through what is known at some raw times directly: (raw time, time of the other clock), each by raw time.
    pub(crate) fn through(latest: Vec<(i64, i64)>, earliest: Vec<(i64, i64)>, legs: &'l [Leg]) -> Self {
        let mut outline = Self { latest, earliest, legs };
        outline.settle();
        outline
    }

    /// Tightens every point by its neighbours. Only then does a bound rise from each point to the next, and rows need not be
    /// lowered to the ones after them, which lines between them would not survive.
    fn settle(&mut self) {
        let rates = |left: i64, right: i64| match self.gap(left, right) {
            Gap::Within(rates) => rates,
            // Of constant rates it is not asked which.
            Gap::Constant(..) => RateRange::ANY,
        };
        let (mut latest, mut earliest) = (self.latest.clone(), self.earliest.clone());
        for i in (1..latest.len()).rev() {
            let (left, right) = (latest[i - 1], latest[i]);
            let least = rates(left.0, right.0).least(right.0 - left.0);
            latest[i - 1].1 = left.1.min(limit_128(right.1 as i128 - least));
        }
        for i in 1..latest.len() {
            let (left, right) = (latest[i - 1], latest[i]);
            if let Some(most) = rates(left.0, right.0).most(right.0 - left.0) {
                latest[i].1 = right.1.min(limit_128(left.1 as i128 + most));
            }
        }
        for i in 1..earliest.len() {
            let (left, right) = (earliest[i - 1], earliest[i]);
            let least = rates(left.0, right.0).least(right.0 - left.0);
            earliest[i].1 = right.1.max(limit_128(left.1 as i128 + least));
        }
        for i in (1..earliest.len()).rev() {
            let (left, right) = (earliest[i - 1], earliest[i]);
            if let Some(most) = rates(left.0, right.0).most(right.0 - left.0) {
                earliest[i - 1].1 = left.1.max(limit_128(right.1 as i128 - most));
            }
        }
        (self.latest, self.earliest) = (latest, earliest);
    }

    /// Instants of the reference at which more would be known of the clock within `span` (its raw time), most worth first: how
    /// much there is to gain (ns), and when.
    pub(crate) fn wanted(&self, span: Span) -> Vec<(i64, i64)> {
        let mut wanted = Vec::new();
        for pair in self.latest.windows(2) {
            let (left, right) = (pair[0], pair[1]);
            if right.0 < span.begin || span.end < left.0 {
                continue;
            }
            if let Some((raw, peak)) = self.peak(left, right) {
                self.want(
                    &mut wanted,
                    peak.saturating_sub(chord(left, right, raw)),
                    raw,
                    peak,
                    (left.1, right.1),
                );
            }
        }
        for pair in self.earliest.windows(2) {
            let (left, right) = (pair[0], pair[1]);
            if right.0 < span.begin || span.end < left.0 {
                continue;
            }
            if let Some((raw, dip)) = self.dip(left, right) {
                self.want(
                    &mut wanted,
                    chord(left, right, raw).saturating_sub(dip),
                    raw,
                    dip,
                    (left.1, right.1),
                );
            }
        }
        wanted
    }

    /// Raw times within `span` at which more would be known: how much there is to gain (ns), and when.
    pub(crate) fn worth_asking(&self, span: Span) -> Vec<(i64, i64)> {
        let mut worth = Vec::new();
        let mut add = |gain: i64, raw: i64, between: (i64, i64)| {
            let (lo, hi) = self.at(raw);
            let half = (hi.saturating_sub(lo) / 2).max(0);
            let is_any = matches!(self.gap(raw, raw + 1), Gap::Within(RateRange::ANY));
            let share = if is_any { WORTH_OF_STEP } else { WORTH };
            let is_wide = between.1 - between.0 > LEAST_GAP_NS;
            if gain > WORTH_NS.max((half as f64 * share) as i64) && is_wide {
                // At an end of the gap there is no limit to the rate: then any instant between may matter.
                let near_end = raw <= between.0 + 1 || between.1 - 1 <= raw;
                worth.push((gain, if near_end { between.0.midpoint(between.1) } else { raw }));
            }
        };
        let is_inside = |pair: &[(i64, i64)]| pair[0].0 <= span.end && span.begin <= pair[1].0;
        for pair in self.latest.windows(2).filter(|pair| is_inside(pair)) {
            if let Some((raw, peak)) = self.peak(pair[0], pair[1]) {
                add(peak.saturating_sub(chord(pair[0], pair[1], raw)), raw, (pair[0].0, pair[1].0));
            }
        }
        for pair in self.earliest.windows(2).filter(|pair| is_inside(pair)) {
            if let Some((raw, dip)) = self.dip(pair[0], pair[1]) {
                add(chord(pair[0], pair[1], raw).saturating_sub(dip), raw, (pair[0].0, pair[1].0));
            }
        }
        worth
    }

    fn want(&self, wanted: &mut Vec<(i64, i64)>, gain: i64, raw: i64, at: i64, between: (i64, i64)) {
        let (lo, hi) = self.at(raw);
        // At an end of the gap there is no limit to the rate: then any instant between may matter.
        let at = if at <= between.0 || between.1 <= at { between.0.midpoint(between.1) } else { at };
        let half = (hi.saturating_sub(lo) / 2).max(0);
        // Where a clock was set, bounds are as wide as what happened: steps of them need not be fine.
        let is_any = matches!(self.gap(raw, raw + 1), Gap::Within(RateRange::ANY));
        let worth = if is_any { WORTH_OF_STEP } else { WORTH };
        if gain > WORTH_NS.max((half as f64 * worth) as i64) && between.1 - between.0 > LEAST_GAP_NS {
            wanted.push((gain, at.clamp(between.0 + 1, between.1 - 1)));
        }
    }

    /// The rows of the interval over the span of the clock: where the bounds bend.
    pub(crate) fn rows(&self, span: Span) -> Vec<Row> {
        let mut times = vec![span.begin, span.end];
        let inside = |raw: &i64| (span.begin..=span.end).contains(raw);
        for line in [&self.latest, &self.earliest] {
            times.extend(line.iter().map(|p| p.0).filter(inside));
        }
        for pair in self.latest.windows(2) {
            times.extend(self.bends(pair[0], pair[1], true).into_iter().filter(inside));
        }
        for pair in self.earliest.windows(2) {
            times.extend(self.bends(pair[0], pair[1], false).into_iter().filter(inside));
        }
        // Beyond the points nothing is known at once, not little by little.
        times.extend(self.latest.last().map(|p| p.0 + 1).filter(inside));
        times.extend(self.earliest.first().map(|p| p.0 - 1).filter(inside));
        times.sort_unstable();
        times.dedup();
        let row = |raw: i64| {
            let (lo, hi) = self.at(raw);
            Row { raw, lo, hi }
        };
        thinned(&settled(times.into_iter().map(row).collect()), THINNED)
    }

    /// Where a bound bends between two of its points.
    fn bends(&self, left: (i64, i64), right: (i64, i64), is_upper: bool) -> Vec<i64> {
        let turn = if is_upper { self.peak(left, right) } else { self.dip(left, right) };
        // A peak lies between two whole ns: the line through both its neighbours is above it.
        turn.map_or_else(Vec::new, |(raw, _)| vec![raw, raw + 1])
            .into_iter()
            .filter(|r| *r < right.0)
            .collect()
    }

    /// Between which raw times both bounds are known.
    pub(crate) fn both_ways(&self) -> Option<Span> {
        let begin = self.latest.first()?.0.max(self.earliest.first()?.0);
        let end = self.latest.last()?.0.min(self.earliest.last()?.0);
        (begin < end).then_some(Span { begin, end })
    }

    /// A span within another that reaches over most of it, and at whose ends the bounds are narrow: of some such spans the one of which the
    /// mean rate is known best.
    pub(crate) fn narrow_ends(&self, span: Span) -> Span {
        let third = (span.end - span.begin) / 3;
        let narrowest = |within: Span, outer: i64| {
            let corners = self.latest.iter().chain(&self.earliest).map(|p| p.0);
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
        let right = self.latest.partition_point(|p| p.0 < raw);
        let hi = match (right.checked_sub(1).map(|l| self.latest[l]), self.latest.get(right)) {
            (_, Some(&(at, instant))) if at == raw => instant,
            (Some(left), Some(&right)) => self.below(left, right, raw),
            (None, Some(&(_, instant))) => instant,
            _ => MAX_BOUND_NS,
        };
        let right = self.earliest.partition_point(|p| p.0 < raw);
        let lo = match (right.checked_sub(1).map(|l| self.earliest[l]), self.earliest.get(right)) {
            (_, Some(&(at, instant))) if at == raw => instant,
            (Some(left), Some(&right)) => self.above(left, right, raw),
            (Some((_, instant)), None) => instant,
            _ => -MAX_BOUND_NS,
        };
        (limited(lo), limited(hi))
    }

    /// The highest value between two points of the upper bound.
    fn below(&self, left: (i64, i64), right: (i64, i64), raw: i64) -> i64 {
        let (run, rest) = (raw - left.0, right.0 - raw);
        match self.gap(left.0, right.0) {
            Gap::Constant(wander, greatest) => {
                let rise = (right.1 as i128 - left.1 as i128) * run as i128;
                let chord = ceil_div(rise, (right.0 - left.0) as i128) as i64;
                left.1.saturating_add(chord).saturating_add(2 * wander.over_at(run.min(rest), greatest))
            }
            Gap::Within(rates) => {
                let from_right = (right.1 as i128 - rates.least(rest)) as i64;
                rates.most(run).map_or(from_right, |rise| from_right.min(limit_128(left.1 as i128 + rise)))
            }
        }
    }

    /// The lowest value between two points of the lower bound.
    fn above(&self, left: (i64, i64), right: (i64, i64), raw: i64) -> i64 {
        let (run, rest) = (raw - left.0, right.0 - raw);
        match self.gap(left.0, right.0) {
            Gap::Constant(wander, greatest) => {
                let rise = (right.1 as i128 - left.1 as i128) * run as i128;
                let chord = floor_div(rise, (right.0 - left.0) as i128) as i64;
                left.1.saturating_add(chord).saturating_sub(2 * wander.over_at(run.min(rest), greatest))
            }
            Gap::Within(rates) => {
                let from_left = limit_128(left.1 as i128 + rates.least(run));
                rates.most(rest).map_or(from_left, |rise| from_left.max(limit_128(right.1 as i128 - rise)))
            }
        }
    }

    /// Where the fastest line from the left meets the slowest to the right: the peak of the upper bound.
    fn peak(&self, left: (i64, i64), right: (i64, i64)) -> Option<(i64, i64)> {
        let (width, rise) = ((right.0 - left.0) as f64, (right.1 - left.1) as f64);
        let share = match self.gap(left.0, right.0) {
            Gap::Constant(Wander::NONE, _) => return None,
            Gap::Constant(..) => 0.5,
            Gap::Within(rates) => {
                let (least, most) = rates.rates();
                // Without a limit it is at the left end.
                if most.is_finite() {
                    (rise - least * width) / ((most - least) * width).max(1.0)
                } else {
                    0.0
                }
            }
        };
        let raw = left.0 + (width * share.clamp(0.0, 1.0)) as i64;
        let raw = raw.clamp(left.0 + 1, right.0.max(left.0 + 1));
        (raw < right.0).then(|| (raw, self.below(left, right, raw)))
    }

    /// Where the slowest line from the left meets the fastest to the right: the dip of the lower bound.
    fn dip(&self, left: (i64, i64), right: (i64, i64)) -> Option<(i64, i64)> {
        let (width, rise) = ((right.0 - left.0) as f64, (right.1 - left.1) as f64);
        let share = match self.gap(left.0, right.0) {
            Gap::Constant(Wander::NONE, _) => return None,
            Gap::Constant(..) => 0.5,
            Gap::Within(rates) => {
                let (least, most) = rates.rates();
                if most.is_finite() { (most * width - rise) / ((most - least) * width).max(1.0) } else { 1.0 }
            }
        };
        let raw = left.0 + (width * share.clamp(0.0, 1.0)) as i64;
        let raw = raw.clamp(left.0 + 1, (right.0 - 1).max(left.0 + 1));
        (raw < right.0).then(|| (raw, self.above(left, right, raw)))
    }

    /// What holds all the way between two raw times.
    fn gap(&self, from: i64, to: i64) -> Gap {
        let first = self.legs.partition_point(|leg| leg.x.end <= from);
        let touched = self.legs[first.min(self.legs.len() - 1)..].iter().take_while(|leg| leg.x.begin < to);
        let mut touched = touched.map(|leg| leg.rule);
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
