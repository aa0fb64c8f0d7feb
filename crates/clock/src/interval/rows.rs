//! The guaranteed interval of a clock over its span, from what all links prove at some instants.
//!
//! When the reference shows τ, a clock shows between L(τ) and G(τ) (`crate::network::reach`). Turned round:
//! when the clock shows L(τ), the reference shows τ at the latest, and when it shows G(τ), τ at the earliest.
//! Between two such instants the truth, a line but for its wander, stays below the chord but for its wander;
//! across a break it stays between the values on either side, since no clock goes back.
//! `crate::network::joint` makes one of these for every clock.

use crate::error::ClockError;
use crate::exact::{ceil_div, floor_div};
use crate::geometry::{Side, Wander};
use crate::interval::{Interval, IntervalRow, MAX_BOUND_NS, limited};
use crate::span::Span;

/// Bounds of one clock at an instant of the reference: the earliest and latest time that it can show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownAt {
    /// Raw ns of the reference.
    pub(crate) instant: i64,
    /// Raw ns of the clock, not before; `None` where nothing is known.
    pub(crate) earliest: Option<i64>,
    /// Raw ns of the clock, not after; `None` where nothing is known.
    pub(crate) latest: Option<i64>,
}

/// A point of a bound: raw ns of the clock, raw ns of the reference.
pub(crate) type BoundPoint = (i64, i64);

/// Bounds of a clock as points between which they lie, each by both times.
#[derive(Debug, Clone, Default)]
pub(crate) struct BoundPoints {
    /// At this raw time the reference is not later.
    pub(crate) latest: Vec<BoundPoint>,
    /// At this raw time the reference is not earlier.
    pub(crate) earliest: Vec<BoundPoint>,
}

impl BoundPoints {
    pub(super) fn on(&self, side: Side) -> &[BoundPoint] {
        match side {
            Side::Upper => &self.latest,
            Side::Lower => &self.earliest,
        }
    }
}

/// Bounds of a clock that runs straight.
#[derive(Debug)]
pub(crate) struct Bounds {
    /// At this raw time the reference is not later.
    latest: Vec<BoundPoint>,
    earliest: Vec<BoundPoint>,
    /// Between these instants of the reference a break lies.
    breaks: Vec<Span>,
    wander: Wander,
}

/// The lowest and highest reference time at an instant of a clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) raw: i64,
    pub(crate) lo: i64,
    pub(crate) hi: i64,
}

impl Bounds {
    /// Of what is known at some instants, by these.
    pub(crate) fn new(known: &[KnownAt], breaks: Vec<Span>, wander: Wander) -> Self {
        let latest = known.iter().filter_map(|k| Some((k.earliest?, k.instant))).collect();
        let earliest = known.iter().filter_map(|k| Some((k.latest?, k.instant))).collect();
        let mut bounds = Self { latest, earliest, breaks, wander };
        // Clocks do not go back: what was provably shown before is shown later too, and the other way round.
        let mut most = i64::MIN;
        for point in &mut bounds.latest {
            most = most.max(point.0);
            point.0 = most;
        }
        let mut least = i64::MAX;
        for point in bounds.earliest.iter_mut().rev() {
            least = least.min(point.0);
            point.0 = least;
        }
        bounds
    }

    /// Rows over the span of the clock: at its ends, at these raw times, and around breaks.
    pub(crate) fn rows(&self, span: Span, at: impl Iterator<Item = i64>) -> Vec<Row> {
        let boxes: Vec<(Row, Row)> = self.breaks.iter().filter_map(|&b| self.around(b)).collect();
        let around = boxes.iter().flat_map(|(l, r)| [l.raw, l.raw + 1, r.raw - 1, r.raw]);
        let mut times: Vec<i64> =
            at.chain(around).chain([span.begin, span.end]).filter(|t| span.contains(*t)).collect();
        times.sort_unstable();
        times.dedup();
        let gap = times.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
        // Half a gap one way and half the other: between rows, the truth may leave the chord by so much.
        let slack = self.wander.over(gap) / 2 + i64::from(self.wander != Wander::NONE);
        let rows = times
            .into_iter()
            .map(|raw| match boxes.iter().find(|(l, r)| l.raw < raw && raw < r.raw) {
                Some((left, right)) => Row { raw, lo: left.lo, hi: right.hi },
                None => self.at(raw),
            })
            .map(|row| Row {
                lo: limited(row.lo.saturating_sub(slack)),
                hi: limited(row.hi.saturating_add(slack)),
                ..row
            });
        tightened(rows.collect())
    }

    fn at(&self, raw: i64) -> Row {
        let hi = self.on(&self.latest, raw, 1).unwrap_or(MAX_BOUND_NS);
        let lo = self.on(&self.earliest, raw, -1).unwrap_or(-MAX_BOUND_NS);
        Row { raw, lo, hi }
    }

    /// The bound at `raw`, rounded up (`outward` 1) or down (−1). Beyond the points nothing is known on the
    /// open side.
    fn on(&self, line: &[BoundPoint], raw: i64, outward: i64) -> Option<i64> {
        let right = line.partition_point(|p| p.0 < raw);
        match (right.checked_sub(1).map(|left| line[left]), line.get(right)) {
            (_, Some(&(at, instant))) if at == raw => Some(instant),
            (Some(left), Some(&right)) => {
                let (run, whole) = ((raw - left.0) as i128, (right.0 - left.0) as i128);
                let rise = (right.1 as i128 - left.1 as i128) * run;
                let chord = if outward > 0 { ceil_div(rise, whole) } else { floor_div(rise, whole) };
                let near = (raw - left.0).min(right.0 - raw);
                let slack = outward * 2 * self.wander.over(near);
                Some(left.1.saturating_add(chord as i64).saturating_add(slack))
            }
            // The past is not later than what follows it, the future not earlier than what precedes it.
            (None, Some(&(_, instant))) if outward > 0 => Some(instant),
            (Some((_, instant)), None) if outward < 0 => Some(instant),
            _ => None,
        }
    }

    /// The rows just before and just after all instants at which a break may show.
    fn around(&self, at: Span) -> Option<(Row, Row)> {
        let left = self.latest.iter().rev().find(|p| p.1 <= at.begin)?.0;
        let right = self.earliest.iter().find(|p| p.1 >= at.end)?.0;
        (left < right).then(|| (self.at(left), self.at(right)))
    }
}

/// Rows by time, each as tight as the others make it.
pub(crate) fn tightened(mut rows: Vec<Row>) -> Vec<Row> {
    // Clocks do not go back: what bounds the past bounds the future from below.
    for i in 1..rows.len() {
        rows[i].lo = rows[i].lo.max(rows[i - 1].lo);
    }
    for i in (1..rows.len()).rev() {
        rows[i - 1].hi = rows[i - 1].hi.min(rows[i].hi);
    }
    // Bounds that have crossed contradict what is assumed, though no loop showed it: then either may be
    // wrong.
    for row in &mut rows {
        (row.lo, row.hi) = (row.lo.min(row.hi), row.hi.max(row.lo));
    }
    rows
}

/// The interval to publish: rows, estimate and likely error. Where rounding left the estimate outside a
/// row, the row is widened to hold it.
pub(crate) fn to_interval(
    rows: &[Row],
    estimate: impl Fn(i64) -> i64,
    likely_error: impl Fn(i64) -> Option<f64>,
) -> Result<Interval, ClockError> {
    let row = |&Row { raw, lo, hi }: &Row| {
        let t = limited(estimate(raw));
        let (lo, hi) = (lo.min(t), hi.max(t));
        let sure = hi.saturating_sub(t).max(t.saturating_sub(lo));
        // Half the width is linear between rows, how far the estimate is from the farther side is not.
        let half = sure.min((hi.saturating_sub(lo) / 2).saturating_add(1));
        let e95 = likely_error(raw).map_or(sure, |error| (error.ceil() as i64).clamp(0, half));
        IntervalRow { raw, lo, hi, e95 }
    };
    Interval::new(rows.iter().map(row).collect())
}
