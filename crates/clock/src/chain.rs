//! The guarantee of a link along which different things are assumed: legs of time, each with its own assumption, joined at
//! their ends.
//!
//! In a leg the rate is either nearly constant, about a constant that may be another one in every leg ([`crate::bounded`]), or
//! anything within a range at every instant ([`crate::envelope`]). The relation is continuous, so what is known where two legs
//! meet holds for both: a forward pass brings to the end of each leg what it and all before it prove there, a backward pass
//! what all after it prove. Both enter a leg as two more messages at its ends. Since the rates of different legs have nothing
//! to do with each other, nothing else can pass from one to the next, and the bounds are the tightest that the rules of the
//! legs allow, but for what the rounding of a nanosecond, outward, at the border of a leg becomes within it.
//!
//! `steered` decides what the legs are.

use crate::bounded::Bounded;
use crate::corridor::Corridor;
use crate::envelope::{Envelope, RateRange};
use crate::hull::Side;
use crate::point::Point;
use crate::slope::SlopeRange;
use crate::span::Span;
use crate::wander::Wander;
use crate::way::Way;

/// What is assumed of the rate in a leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Within ± `wander` of a constant that is one of `rates`.
    Constant { rates: RateRange, wander: Wander },
    /// Anything within these rates at every instant.
    Within(RateRange),
}

impl Rule {
    /// Whether rates that differ by more are possible, as a part of 1.
    pub(crate) fn may_leap(self, by: f64) -> bool {
        let (least, greatest) = self.rates().rates();
        greatest - least > by
    }

    /// What the rate can be at any instant.
    pub(crate) fn rates(self) -> RateRange {
        match self {
            Self::Constant { rates, wander } => rates.widened(wander),
            Self::Within(rates) => rates,
        }
    }
}

/// A stretch of a's time with one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leg {
    pub(crate) x: Span,
    pub(crate) rule: Rule,
}

/// Upper and lower points, both by x.
#[derive(Debug, Clone, Default)]
pub(crate) struct Points {
    pub(crate) upper: Vec<Point>,
    pub(crate) lower: Vec<Point>,
}

impl Points {
    /// What is kept of the messages of a link.
    pub(crate) fn of(corridor: &Corridor) -> Self {
        let sorted = |side| {
            let mut points: Vec<Point> = corridor.points(side).collect();
            points.sort_unstable();
            points
        };
        Self { upper: sorted(Side::Upper), lower: sorted(Side::Lower) }
    }

    /// Those within a span, ends included.
    pub(crate) fn during(&self, x: Span) -> Self {
        let part = |points: &[Point]| {
            let begin = points.partition_point(|p| p.x < x.begin);
            let end = points.partition_point(|p| p.x <= x.end);
            points[begin..end.max(begin)].to_vec()
        };
        Self { upper: part(&self.upper), lower: part(&self.lower) }
    }

    fn add(&mut self, x: i64, known: Ends) {
        self.upper.extend(known.hi.and_then(|y| Point::new(x, y).ok()));
        self.lower.extend(known.lo.and_then(|y| Point::new(x, y).ok()));
    }
}

/// What is known of b's time at one instant of a.
#[derive(Debug, Clone, Copy, Default)]
struct Ends {
    lo: Option<i64>,
    hi: Option<i64>,
}

impl Ends {
    fn is_possible(self) -> bool {
        self.lo.zip(self.hi).is_none_or(|(lo, hi)| lo <= hi)
    }

    fn and(self, other: Self) -> Self {
        let both = |a: Option<i64>, b: Option<i64>, pick: fn(i64, i64) -> i64| match (a, b) {
            (Some(a), Some(b)) => Some(pick(a, b)),
            (one, other) => one.or(other),
        };
        Self { lo: both(self.lo, other.lo, i64::max), hi: both(self.hi, other.hi, i64::min) }
    }
}

/// A leg in which the messages, together with those of the legs before it, contradict its rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) leg: usize,
    /// Whether the messages of the leg do so by themselves.
    pub(crate) alone: bool,
}

/// Bounds over all of a's time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chain {
    /// By time, one after the other, without a gap; not empty.
    legs: Vec<Solved>,
}

/// A leg with its bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Solved {
    leg: Leg,
    /// Bounds of b's time at the begin of the leg.
    begin: (Option<i64>, Option<i64>),
    forward: Bounds,
    backward: Bounds,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Bounds {
    Constant(Bounded),
    Within(Envelope),
}

impl Bounds {
    /// `None` where the messages contradict the rule.
    fn of(points: &Points, rule: Rule) -> Option<Self> {
        match rule {
            Rule::Within(rates) => {
                let envelope = Envelope::new(&points.upper, &points.lower, rates);
                envelope.contradiction().is_none().then_some(Self::Within(envelope))
            }
            Rule::Constant { rates, wander } => {
                let mut corridor = Corridor::new();
                points.upper.iter().for_each(|&p| corridor.insert(Side::Upper, p));
                points.lower.iter().for_each(|&p| corridor.insert(Side::Lower, p));
                let (min, max) = rates.slopes()?;
                let range = SlopeRange { min: Some(min), max: Some(max) };
                let bounded = corridor.within(range, wander).ok()?;
                (!bounded.prior_contradicted()).then_some(Self::Constant(bounded))
            }
        }
    }

    fn at(&self, side: Side, t: i64) -> Option<i64> {
        match (self, side) {
            (Self::Constant(bounded), Side::Upper) => bounded.hi(t),
            (Self::Constant(bounded), Side::Lower) => bounded.lo(t),
            (Self::Within(envelope), side) => envelope.side(side, t),
        }
    }

    fn ends(&self, x: i64) -> Ends {
        Ends { lo: self.at(Side::Lower, x), hi: self.at(Side::Upper, x) }
    }

    fn mirrored(&self) -> Self {
        match self {
            Self::Constant(bounded) => Self::Constant(bounded.mirrored()),
            Self::Within(envelope) => Self::Within(envelope.mirrored()),
        }
    }
}

impl Chain {
    /// The bounds of messages along legs that follow one after the other. O(k log k) for k messages kept.
    ///
    /// # Errors
    /// The first leg in which the messages contradict the rules.
    pub(crate) fn new(points: &Points, legs: &[Leg]) -> Result<Self, Broken> {
        let own: Vec<Points> = legs.iter().map(|leg| points.during(leg.x)).collect();
        let broken = |leg: usize| {
            let alone = Bounds::of(&own[leg], legs[leg].rule).is_none();
            Broken { leg, alone }
        };
        let mut before = vec![Ends::default()];
        for (at, leg) in legs.iter().enumerate() {
            let mut known = own[at].clone();
            known.add(leg.x.begin, before[at]);
            let bounds = Bounds::of(&known, leg.rule).ok_or_else(|| broken(at))?;
            let ends = bounds.ends(leg.x.end);
            if !ends.is_possible() {
                return Err(broken(at));
            }
            before.push(ends);
        }
        let mut after = Ends::default();
        let mut solved = Vec::with_capacity(legs.len());
        for (at, leg) in legs.iter().enumerate().rev() {
            let mut known = own[at].clone();
            known.add(leg.x.end, after);
            let from_here = Bounds::of(&known, leg.rule).ok_or_else(|| broken(at))?.ends(leg.x.begin);
            known.add(leg.x.begin, before[at]);
            let forward = Bounds::of(&known, leg.rule).ok_or_else(|| broken(at))?;
            let begin = from_here.and(before[at]);
            if !begin.is_possible() {
                return Err(broken(at));
            }
            let backward = forward.mirrored();
            solved.push(Solved { leg: *leg, begin: (begin.lo, begin.hi), forward, backward });
            after = from_here;
        }
        solved.reverse();
        // Clocks do not go back: what bounds one end of a leg bounds what follows, or precedes, as well.
        for at in 1..solved.len() {
            solved[at].begin.0 = solved[at].begin.0.max(solved[at - 1].begin.0);
        }
        for at in (1..solved.len()).rev() {
            let later = solved[at].begin.1;
            let earlier = &mut solved[at - 1].begin.1;
            *earlier = earlier.map_or(later, |hi| Some(later.map_or(hi, |later| hi.min(later))));
        }
        Ok(Self { legs: solved })
    }

    /// The legs, by time.
    pub(crate) fn legs(&self) -> impl Iterator<Item = Leg> + '_ {
        self.legs.iter().map(|solved| solved.leg)
    }

    /// The highest (`Side::Upper`) or lowest time that the other clock can show when one shows `t`. O(log legs + log k).
    pub(crate) fn bound(&self, way: Way, side: Side, t: i64) -> Option<i64> {
        match way {
            Way::Forward => {
                let after = self.legs.partition_point(|l| l.leg.x.begin <= t);
                self.legs[after.saturating_sub(1)].forward.at(side, t)
            }
            Way::Backward => self.inverse(side, t),
        }
    }

    /// When b shows `y`, a is in one of some legs: the last in which b can show so little (`Side::Upper`), or the first in which
    /// it can show so much.
    fn inverse(&self, side: Side, y: i64) -> Option<i64> {
        let last = self.legs.len() - 1;
        match side {
            Side::Upper => {
                // At the begin of a leg b shows at least `begin.0`; that grows from leg to leg.
                let after = self.legs.partition_point(|l| l.begin.0.is_none_or(|lo| lo <= y));
                let at = after.saturating_sub(1);
                let leg = &self.legs[at];
                let x = leg.backward.at(side, y);
                // If it is in a leg before, it is before this one: a bound that rounding put there is none.
                let x = x.map(|x| if at == 0 { x } else { x.max(leg.leg.x.begin) });
                if at == last { x } else { Some(x.map_or(leg.leg.x.end, |x| x.min(leg.leg.x.end))) }
            }
            Side::Lower => {
                let at = self.legs.partition_point(|l| l.begin.1.is_some_and(|hi| hi < y)).saturating_sub(1);
                let leg = &self.legs[at];
                let x = leg.backward.at(side, y);
                let x = x.map(|x| if at == last { x } else { x.min(leg.leg.x.end) });
                if at == 0 { x } else { Some(x.map_or(leg.leg.x.begin, |x| x.max(leg.leg.x.begin))) }
            }
        }
    }

    /// The ends of a span of a's time and of all legs within.
    pub(crate) fn instants(&self, span: Span) -> Vec<i64> {
        let inner = self.legs.iter().flat_map(|l| [l.leg.x.begin, l.leg.x.end]);
        let mut all: Vec<i64> =
            inner.filter(|x| span.begin < *x && *x < span.end).chain([span.begin, span.end]).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

#[cfg(test)]
pub(crate) mod tests;
