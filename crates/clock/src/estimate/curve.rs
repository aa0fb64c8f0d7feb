//! The estimate of one piece of a relation: a straight line where clocks are straight, a curve where they are
//! not.
//!
//! The line is that of [`crate::estimate::folds`]. Where no line will do, lines are fitted to stretches of
//! the piece and joined where each of them is surest, in its middle. The length of the stretches balances two
//! errors: a short one has few messages, a long one cannot follow the clock. `crate::link::relation` makes
//! these, `crate::estimate::rate_change` shares the fits.

use crate::correction::{Correction, end_rates};
use crate::estimate::folds::estimate;
use crate::estimate::line::{MIN_MESSAGES_TO_STATE_ERROR, PairEstimate, VARIANCE_FACTOR};
use crate::geometry::{Corridor, Side, SlopeBand, Wander};
use crate::rate::Rate;
use crate::span::Span;

/// Stretches overlap: this many begin within the length of one.
const OVERLAP: i64 = 4;
/// The shortest stretch tried is the piece's length divided by this.
const MAX_STRETCHES: i64 = 64;
/// Beyond the messages, approximate error of the rate of a clock that does not run straight.
const RATE_BEYOND: f64 = 100e-6;
/// The rate at an end is that over the length of the messages divided by this …
const NEAR_END: i64 = 24;
/// … or over this number of messages if that is longer …
const MESSAGES_AT_END: f64 = 16.0;
/// … but over no more than the length divided by this.
const MAX_PART_AT_END: i64 = 4;

/// An estimate of the relation a → b over a piece, with its statistical error.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    /// From a's time to b's.
    pub(crate) map: Correction,
    spread: Spread,
    /// Half the least round trip, ns: the scale of the asymmetry of delays, which messages do not show.
    pub(crate) margin: f64,
    /// Whether there are enough messages for a statistical error.
    pub(crate) is_statistical: bool,
    /// Part of the time in which messages took long, if that was seen.
    pub(crate) slow: Option<SlowPeriod>,
}

/// Part of the time of a link in which its least round trip was far longer than usual. If only one direction
/// was slow there, which messages do not show, the estimate is off by half of what it was longer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlowPeriod {
    /// Share of the time, above 0 and at most 1.
    pub share: f64,
    /// The usual least round trip, ns.
    pub usual_ns: i64,
    /// The least round trip in that part of the time, the median over it, ns.
    pub slow_ns: i64,
}

/// Variances of an estimate at an instant, ns², without the factor for delays that are not exponential.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Variances {
    /// By which it is weighed against what other links say.
    pub(crate) weight: f64,
    /// That of the stated error.
    pub(crate) error: f64,
}

impl Variances {
    /// One variance for both.
    fn both(variance: f64) -> Self {
        Self { weight: variance, error: variance }
    }

    /// Both with the same added.
    pub(crate) fn plus(self, more: f64) -> Self {
        Self { weight: self.weight + more, error: self.error + more }
    }

    fn max(self, other: Self) -> Self {
        Self { weight: self.weight.max(other.weight), error: self.error.max(other.error) }
    }
}

/// Variances over time.
#[derive(Debug, Clone, PartialEq)]
enum Spread {
    Line(Box<PairEstimate>),
    /// By x.
    Nodes(Vec<(i64, Variances)>),
}

impl Curve {
    /// The straight estimate over `ends`; `None` without messages both ways.
    pub(crate) fn line(corridor: &Corridor, band: SlopeBand, ends: (i64, i64)) -> Option<Self> {
        let line = fit(corridor, band)?;
        Some(Self {
            map: through(&[(ends.0, line.at(ends.0)), (ends.1, line.at(ends.1))], &line)?,
            margin: line.margin_ns().max(0.0),
            is_statistical: is_statistical(&line),
            slow: None,
            spread: Spread::Line(Box::new(line)),
        })
    }

    /// The estimate that follows a rate which wanders by up to `wander`.
    pub(crate) fn bent(
        corridor: &Corridor,
        band: SlopeBand,
        wander: Wander,
        ends: (i64, i64),
    ) -> Option<Self> {
        let whole = fit(corridor, band)?;
        let length = (ends.1 - ends.0).max(1);
        let mut best: Option<(f64, i64, Vec<Stretch>)> = None;
        let mut stretch = length / 2;
        while stretch > length / MAX_STRETCHES && stretch >= OVERLAP {
            let fits = fits(corridor, band, stretch, stretch / OVERLAP);
            if fits.is_empty() {
                break;
            }
            let error = balance(&fits, wander, stretch);
            if best.as_ref().is_none_or(|(known, ..)| error < *known) {
                best = Some((error, stretch, fits));
            }
            stretch /= 2;
        }
        let Some((_, stretch, fits)) = best else {
            return Self::line(corridor, band, ends);
        };
        let bias = bias(wander, stretch);
        let node = |f: &Stretch, x: i64| {
            (x, f.line.at(x), VARIANCE_FACTOR * f.line.offset_variance(x) + bias * bias)
        };
        let mut nodes: Vec<_> = fits.iter().map(|f| node(f, f.middle)).collect();
        let (first, last) = (fits.first()?, fits.last()?);
        if ends.0 < first.middle {
            nodes.insert(0, node(first, ends.0));
        }
        if last.middle < ends.1 {
            nodes.push(node(last, ends.1));
        }
        // A clock does not go back, whatever two neighbouring fits say.
        for i in 1..nodes.len() {
            nodes[i].1 = nodes[i].1.max(nodes[i - 1].1);
        }
        let knots: Vec<_> = nodes.iter().map(|&(x, y, _)| (x, y)).collect();
        let mut margins: Vec<f64> = fits.iter().map(|f| f.line.margin_ns().max(0.0)).collect();
        margins.sort_by(f64::total_cmp);
        Some(Self {
            map: through(&knots, &whole)?,
            margin: margins[margins.len() / 2],
            is_statistical: is_statistical(&whole),
            slow: None,
            // The factor is in already.
            spread: Spread::Nodes(
                nodes.into_iter().map(|(x, _, v)| (x, Variances::both(v / VARIANCE_FACTOR))).collect(),
            ),
        })
    }

    /// An estimate through nodes (a's time, b's time, variances), by time; `messages` is the number of those
    /// of the direction that has fewer.
    pub(crate) fn through_nodes(
        nodes: Vec<(i64, i64, Variances)>,
        margin: f64,
        slow: Option<SlowPeriod>,
        messages: u64,
    ) -> Option<Self> {
        let mut knots: Vec<(i64, i64)> = nodes.iter().map(|&(x, y, _)| (x, y)).collect();
        knots.dedup_by(|later, earlier| later.0 <= earlier.0);
        let (&first, &last) = (knots.first()?, knots.last()?);
        // Outside of the messages the rate is that next to them, over some time.
        let length = last.0 - first.0;
        let enough = (length as f64 * MESSAGES_AT_END / messages.max(1) as f64) as i64;
        let near = (length / NEAR_END).max(enough).min(length / MAX_PART_AT_END).max(1);
        let [before, after] = end_rates(&knots, near)?.map(|rate| rate.unwrap_or(Rate::ONE));
        let map = Correction::new(knots, before, after).ok()?;
        let spread = Spread::Nodes(nodes.into_iter().map(|(x, _, v)| (x, v)).collect());
        Some(Self { map, spread, margin, slow, is_statistical: messages >= MIN_MESSAGES_TO_STATE_ERROR })
    }

    /// The line, where the estimate is one.
    pub(crate) fn as_line(&self) -> Option<&PairEstimate> {
        match &self.spread {
            Spread::Line(line) => Some(line),
            Spread::Nodes(_) => None,
        }
    }

    /// Statistical variances at `x`.
    pub(crate) fn variances(&self, x: i64) -> Variances {
        match &self.spread {
            Spread::Line(line) => Variances::both(line.offset_variance(x)),
            Spread::Nodes(nodes) => {
                let right = nodes.partition_point(|n| n.0 < x).min(nodes.len().saturating_sub(1));
                let left = right.saturating_sub(1);
                let around = nodes.get(left).zip(nodes.get(right));
                let near = around.map_or(Variances::both(0.0), |(l, r)| l.1.max(r.1));
                let ends = nodes.first().zip(nodes.last());
                let beyond = ends.map_or(0, |(first, last)| {
                    first.0.saturating_sub(x).max(x.saturating_sub(last.0)).max(0)
                });
                near.plus((RATE_BEYOND * beyond as f64).powi(2))
            }
        }
    }
}

/// A line fitted to the messages of a stretch of time.
#[derive(Debug, Clone)]
pub(crate) struct Stretch {
    /// The middle of the stretch, a's time.
    pub(crate) middle: i64,
    pub(crate) line: PairEstimate,
}

/// Lines fitted to stretches of this length, one every `step`; those with too few messages are left out.
pub(crate) fn fits(corridor: &Corridor, band: SlopeBand, length: i64, step: i64) -> Vec<Stretch> {
    let Some(Span { begin, end }) = corridor.x_range() else { return Vec::new() };
    let mut found = Vec::new();
    let mut from = begin;
    loop {
        let to = from.saturating_add(length);
        let part = corridor.during(from, to);
        if part.fewer_messages() >= MIN_MESSAGES_TO_STATE_ERROR
            && let Some(line) = fit(&part, band)
        {
            let x = part.x_range().unwrap_or(Span { begin: from, end: to });
            found.push(Stretch { middle: x.middle(), line });
        }
        if to >= end {
            break;
        }
        from = from.saturating_add(step.max(1));
    }
    found.dedup_by(|later, earlier| later.middle <= earlier.middle);
    found
}

fn fit(corridor: &Corridor, band: SlopeBand) -> Option<PairEstimate> {
    estimate(&corridor.sample(Side::Upper), &corridor.sample(Side::Lower), band)
}

fn is_statistical(line: &PairEstimate) -> bool {
    let (forth, back) = line.messages();
    forth.min(back) >= MIN_MESSAGES_TO_STATE_ERROR
}

/// How far the middle of a fit can be off because the rate wandered during the stretch: the rate goes one way
/// for one half and the other way for the other, and the line sees half of that.
fn bias(wander: Wander, stretch: i64) -> f64 {
    wander.rate() * stretch as f64 / 8.0
}

fn balance(fits: &[Stretch], wander: Wander, stretch: i64) -> f64 {
    let variances = fits.iter().map(|f| VARIANCE_FACTOR * f.line.offset_variance(f.middle));
    let bias = bias(wander, stretch);
    bias * bias + variances.sum::<f64>() / fits.len() as f64
}

/// A correction through knots with the rate of a line outside, when they are too close to have their own.
fn through(knots: &[(i64, i64)], line: &PairEstimate) -> Option<Correction> {
    let mut knots = knots.to_vec();
    knots.dedup_by(|later, earlier| later.0 <= earlier.0);
    let (x0, _) = line.origin();
    let far = 1_000_000_000;
    let rate = Rate::of(line.at(x0.checked_add(far)?) as i128 - line.at(x0) as i128, far as i128).ok()?;
    if knots.len() > 2 {
        return Correction::through(knots.clone()).or_else(|_| Correction::new(knots, rate, rate)).ok();
    }
    Correction::new(knots, rate, rate).ok()
}
