//! The tightest bounds when the rate between two clocks may be anything within a range at every instant.
//!
//! An upper point (x₀, y₀) says f(x₀) ≤ y₀. If the rate stays within r⁻ and r⁺, then f(x) ≤ y₀ + r⁺·(x − x₀)
//! after it and f(x) ≤ y₀ − r⁻·(x₀ − x) before it: a tent. The least of all tents is the highest relation
//! that no message contradicts, and there is none higher ("shortest paths with difference constraints";
//! `McShane` 1934). Lower points are the same, turned by 180°. The least over all points on either side of an
//! instant are prefix minima: O(log n) an instant, in exact integers, rounded outward once.
//! [`crate::geometry::segments`] joins envelopes whose ranges differ.

use crate::exact::{ceil_div, floor_div};
use crate::geometry::{hull::Side, point::Point, slope::Slope, wander::Wander};

/// Units of a rate in 1: parts per trillion.
pub(crate) const ONE: i128 = 1_000_000_000_000;
/// Rates beyond this factor say nothing.
const MAX_RATE: i128 = crate::geometry::slope::MAX_RATE_FACTOR as i128 * ONE;

/// The rates that a relation may have at any instant, parts per trillion; never below zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RateRange {
    min: i128,
    /// `None`: without limit, one of the clocks may have been set or stopped.
    max: Option<i128>,
}

impl RateRange {
    /// No clock goes back, and that is all.
    pub(crate) const ANY: Self = Self { min: 0, max: None };

    /// All rates within `by` (dimensionless) of the rates between two others (dimensionless), outward.
    pub(crate) fn around(least: f64, greatest: f64, by: f64) -> Self {
        Self::between(least * (1.0 - by), greatest * (1.0 + by))
    }

    /// All rates between two (dimensionless), outward.
    pub(crate) fn between(least: f64, greatest: f64) -> Self {
        let limit = |rate: f64| rate.clamp(0.0, MAX_RATE as f64) as i128;
        let min = limit((least * ONE as f64).floor());
        let max = limit((greatest * ONE as f64).ceil());
        Self { min: min.min(max), max: Some(max.max(1)) }
    }

    /// The least and the greatest rate, dimensionless; for choices and statistics.
    pub(crate) fn rates(self) -> (f64, f64) {
        let of = |rate: i128| rate as f64 / ONE as f64;
        (of(self.min), self.max.map_or(f64::INFINITY, of))
    }

    /// The least and the greatest rate, parts per trillion; no greatest where there is no limit.
    pub(crate) fn limits(self) -> (i128, Option<i128>) {
        (self.min, self.max)
    }

    /// The ends of the range as slopes, if it has two.
    pub(crate) fn slopes(self) -> Option<(Slope, Slope)> {
        let slope = |rate: i128| Slope::new(i64::try_from(rate).ok()?, i64::try_from(ONE).ok()?).ok();
        Some((slope(self.min.max(1))?, slope(self.max?)?))
    }

    /// All rates about those of the range that wander by so much, of either clock's time.
    pub(crate) fn widened(self, wander: Wander) -> Self {
        let by = |rate: i128| ceil_div((wander.rate() * ONE as f64).ceil() as i128 * rate.max(ONE), ONE);
        let max = self.max.map(|max| (max + by(max)).min(MAX_RATE.max(max)));
        Self { min: (self.min - by(self.max.unwrap_or(self.min))).max(0), max }
    }

    /// Rates of either.
    pub(crate) fn or(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.zip(other.max).map(|(a, b)| a.max(b)) }
    }

    /// The same without an upper limit: of a clock that may have gained any time.
    pub(crate) fn rising(self) -> Self {
        Self { max: None, ..self }
    }

    /// The same without a lower limit: of a clock that may have lost any time, or stood still.
    pub(crate) fn falling(self) -> Self {
        Self { min: 0, ..self }
    }

    /// Whether a side has no limit.
    pub(crate) fn is_open(self) -> bool {
        self.min == 0 || self.max.is_none()
    }

    /// Rates of the inverse relation, outward.
    pub(crate) fn recip(self) -> Self {
        // What rises faster than a clock does at least rises by as much as a clock can.
        let min = self.max.map_or(0, |max| floor_div(ONE * ONE, max).min(MAX_RATE));
        let max = (self.min > 0).then(|| ceil_div(ONE * ONE, self.min));
        Self { min, max: max.filter(|&max| max <= MAX_RATE) }
    }

    /// The most that the relation rises over `run` ns, rounded up; `None` without limit.
    pub(crate) fn most(self, run: i64) -> Option<i128> {
        Some(ceil_div(self.max? * run as i128, ONE))
    }

    /// The least that it rises over `run` ns, rounded down.
    pub(crate) fn least(self, run: i64) -> i128 {
        floor_div(self.min * run as i128, ONE)
    }
}

/// The highest and lowest relation of messages when rates stay within a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Envelope {
    upper: Tents,
    /// Turned by 180°, so that lower points are upper points.
    lower: Tents,
}

/// Upper points by x with the least tents of those up to each and of those from each on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tents {
    rates: RateRange,
    points: Vec<Point>,
    /// Least y − r⁺·x of the points up to this one, ppt·ns.
    up_to: Vec<i128>,
    /// Least y − r⁻·x of the points from this one on, ppt·ns.
    from: Vec<i128>,
}

impl Envelope {
    /// Of upper and lower points in any order.
    pub(crate) fn new(upper: &[Point], lower: &[Point], rates: RateRange) -> Self {
        let turned = lower.iter().map(|p| p.reflected());
        Self { upper: Tents::new(upper.to_vec(), rates), lower: Tents::new(turned.collect(), rates) }
    }

    /// The highest time of b when a shows `x`, rounded up; `None` without a message that bounds it.
    pub(crate) fn hi(&self, x: i64) -> Option<i64> {
        self.upper.least(x)
    }

    /// The lowest, rounded down.
    pub(crate) fn lo(&self, x: i64) -> Option<i64> {
        self.lower.least(x.checked_neg()?)?.checked_neg()
    }

    /// A lower point that is above every relation that the upper points allow, with one of the upper points
    /// that say so.
    pub(crate) fn contradiction(&self) -> Option<(Point, Point)> {
        let above = |p: &Point| self.hi(p.x).is_some_and(|hi| hi < p.y);
        let lower = self.lower.points.iter().map(|p| p.reflected()).find(above)?;
        let upper = self.upper.points.iter().find(|u| self.upper.tent(**u, lower.x) < lower.y as i128)?;
        Some((lower, *upper))
    }

    /// The same with the clocks in the other order.
    pub(crate) fn mirrored(&self) -> Self {
        let lower: Vec<Point> = self.lower.points.iter().map(|p| p.reflected().swapped()).collect();
        let upper: Vec<Point> = self.upper.points.iter().map(|p| p.swapped()).collect();
        Self::new(&lower, &upper, self.upper.rates.recip())
    }

    pub(crate) fn side(&self, side: Side, x: i64) -> Option<i64> {
        if side == Side::Upper { self.hi(x) } else { self.lo(x) }
    }
}

impl Tents {
    fn new(mut points: Vec<Point>, rates: RateRange) -> Self {
        points.sort_unstable();
        points.dedup_by_key(|p| p.x);
        let minima = |terms: &mut dyn Iterator<Item = i128>| {
            let least = |least: &mut i128, term: i128| {
                *least = (*least).min(term);
                Some(*least)
            };
            terms.scan(i128::MAX, least).collect::<Vec<_>>()
        };
        let max = rates.max.unwrap_or(0);
        let up_to = minima(&mut points.iter().map(|p| p.y as i128 * ONE - max * p.x as i128));
        let mut from = minima(&mut points.iter().rev().map(|p| p.y as i128 * ONE - rates.min * p.x as i128));
        from.reverse();
        Self { rates, points, up_to, from }
    }

    /// The least of all tents at `x`, rounded up.
    fn least(&self, x: i64) -> Option<i64> {
        let x = crate::error::checked_time(x).ok()?;
        let after = self.points.partition_point(|p| p.x <= x);
        let at_or_after = self.points.partition_point(|p| p.x < x);
        let before =
            after.checked_sub(1).and_then(|last| Some(self.up_to[last] + self.rates.max? * x as i128));
        // A point at the instant itself counts on both sides, without a limit too.
        let from_there = self.from.get(at_or_after).map(|least| least + self.rates.min * x as i128);
        let least = match (before, from_there) {
            (Some(a), Some(b)) => a.min(b),
            (one, other) => one.or(other)?,
        };
        i64::try_from(ceil_div(least, ONE)).ok()
    }

    /// The tent of one point at `x`, rounded up; the greatest number where it says nothing.
    fn tent(&self, point: Point, x: i64) -> i128 {
        if x >= point.x {
            self.rates.most(x - point.x).map_or(i128::MAX, |rise| point.y as i128 + rise)
        } else {
            point.y as i128 - self.rates.least(point.x - x)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points(list: &[(i64, i64)]) -> Vec<Point> {
        list.iter().map(|&(x, y)| Point::new(x, y).unwrap()).collect()
    }

    /// All tents one by one, as ceilings of fractions.
    fn brute_hi(upper: &[Point], x: i64, range: RateRange) -> Option<i64> {
        let tent = |p: &Point| {
            let run = (x - p.x) as i128;
            let rate = if run >= 0 { range.max? } else { range.min };
            Some(ceil_div(p.y as i128 * ONE + rate * run, ONE) as i64)
        };
        let at = |p: &Point| if p.x == x { Some(p.y) } else { tent(p) };
        upper.iter().filter_map(at).min()
    }

    #[test]
    fn rates_turn_outward() {
        let range = RateRange::around(1.0, 1.0, 500e-6);
        assert_eq!((range.most(1_000_000), range.least(1_000_000)), (Some(1_000_500), 999_500));
        let back = range.recip();
        assert!(
            back.most(1_000_000_000).unwrap() >= 1_000_500_250 && back.least(1_000_000_000) <= 999_500_249
        );
        assert_eq!(RateRange::ANY.recip(), RateRange::ANY);
        assert_eq!(RateRange::ANY.most(1), None);
    }

    #[test]
    fn without_a_limit_only_order_counts() {
        let e =
            Envelope::new(&points(&[(10, 100), (20, 300)]), &points(&[(5, 40), (15, 90)]), RateRange::ANY);
        assert_eq!((e.hi(3), e.hi(11), e.hi(20), e.hi(21)), (Some(100), Some(300), Some(300), None));
        assert_eq!((e.lo(4), e.lo(5), e.lo(14), e.lo(99)), (None, Some(40), Some(40), Some(90)));
        assert_eq!(e.contradiction(), None);
        let wrong = Envelope::new(&points(&[(10, 30)]), &points(&[(5, 40)]), RateRange::ANY);
        assert_eq!(wrong.contradiction(), Some((Point { x: 5, y: 40 }, Point { x: 10, y: 30 })));
    }

    #[test]
    fn extremes_do_not_overflow() {
        let m = crate::MAX_ABS_NS;
        let range = RateRange::around(1e-3, 1e3, 0.5);
        let e = Envelope::new(&points(&[(-m, m), (m, m)]), &points(&[(-m, -m), (m, -m)]), range);
        for x in [-m, 0, m] {
            let _ = (e.hi(x), e.lo(x), e.mirrored().hi(x), e.contradiction());
        }
        assert_eq!(e.hi(i64::MAX), None);
    }

    proptest! {
        #[test]
        fn equals_all_tents(
            upper in prop::collection::vec((-60i64..60, -60i64..60), 0..9),
            lower in prop::collection::vec((-60i64..60, -60i64..60), 0..9),
            x in -200i64..200, least in 0.2f64..1.0, more in 0.0f64..2.0,
        ) {
            let range = RateRange::around(least, least + more, 0.01);
            let upper: Vec<Point> = points(&upper).into_iter().map(|p| Point { y: p.y + 200, ..p }).collect();
            let lower = points(&lower);
            let e = Envelope::new(&upper, &lower, range);
            prop_assert_eq!(e.hi(x), brute_hi(&upper, x, range));
            let turned: Vec<Point> = lower.iter().map(|p| Point { x: -p.x, y: -p.y }).collect();
            prop_assert_eq!(e.lo(x), brute_hi(&turned, -x, range).map(|y| -y));
            // The mirror bounds the inverse of every relation within: what is highest at x is at hi(x) not
            // before x, but for a nanosecond of b, which is some of a.
            if e.contradiction().is_none() && let Some(hi) = e.hi(x) {
                let back = e.mirrored();
                prop_assert!(back.lo(hi).is_none_or(|lo| lo <= x + 6), "{:?}", back.lo(hi));
            }
        }
    }
}
