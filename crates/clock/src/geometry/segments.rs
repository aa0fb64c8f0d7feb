//! The guarantee of a link along which different things are assumed: segments of time, each with its own
//! assumption, joined at their ends.
//!
//! In a segment the rate is either nearly constant, about a constant that may be another one in every segment
//! ([`crate::geometry::bounded`]), or anything within a range at every instant
//! ([`crate::geometry::envelope`]). The relation is continuous, so what is known where two segments meet
//! holds for both: a forward pass brings to the end of each segment what it and all before it prove there, a
//! backward pass what all after it prove. Both enter a segment as two more messages at its ends. Since the
//! rates of different segments have nothing to do with each other, nothing else can pass from one to the
//! next, and the bounds are the tightest that the rules of the segments allow, but for what the rounding of a
//! nanosecond, outward, at the border of a segment becomes within it.
//!
//! `steered` decides what the segments are.

use crate::geometry::envelope::{Envelope, RateRange};
use crate::geometry::point::{Direction, Point};
use crate::geometry::{bounded::Bounded, corridor::Corridor, hull::Side, slope::SlopeRange, wander::Wander};
use crate::span::Span;

/// Assumption on the rate in a segment.
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

    /// Range of the rate at any instant.
    pub(crate) fn rates(self) -> RateRange {
        match self {
            Self::Constant { rates, wander } => rates.widened(wander),
            Self::Within(rates) => rates,
        }
    }
}

/// A stretch of a's time with one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
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
    /// The retained messages of a link.
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

/// Bounds of b's time at one instant of a, raw ns.
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

/// A segment in which the messages, together with those of the segments before it, contradict its rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contradicted {
    pub(crate) segment: usize,
    /// Whether the messages of the segment do so by themselves.
    pub(crate) alone: bool,
}

/// Bounds over all of a's time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentChain {
    /// By time, one after the other, without a gap; not empty.
    segments: Vec<SolvedSegment>,
}

/// A segment with its bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SolvedSegment {
    segment: Segment,
    /// Bounds of b's time at the start of the segment.
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

impl SegmentChain {
    /// The bounds of messages along segments that follow one after the other. O(k log k) for k messages kept.
    ///
    /// # Errors
    /// The first segment in which the messages contradict the rules.
    pub(crate) fn new(points: &Points, segments: &[Segment]) -> Result<Self, Contradicted> {
        let own: Vec<Points> = segments.iter().map(|segment| points.during(segment.x)).collect();
        let broken = |segment: usize| {
            let alone = Bounds::of(&own[segment], segments[segment].rule).is_none();
            Contradicted { segment, alone }
        };
        let mut before = vec![Ends::default()];
        for (at, segment) in segments.iter().enumerate() {
            let mut known = own[at].clone();
            known.add(segment.x.begin, before[at]);
            let bounds = Bounds::of(&known, segment.rule).ok_or_else(|| broken(at))?;
            let ends = bounds.ends(segment.x.end);
            if !ends.is_possible() {
                return Err(broken(at));
            }
            before.push(ends);
        }
        let mut after = Ends::default();
        let mut solved = Vec::with_capacity(segments.len());
        for (at, segment) in segments.iter().enumerate().rev() {
            let mut known = own[at].clone();
            known.add(segment.x.end, after);
            let from_here = Bounds::of(&known, segment.rule).ok_or_else(|| broken(at))?.ends(segment.x.begin);
            known.add(segment.x.begin, before[at]);
            let forward = Bounds::of(&known, segment.rule).ok_or_else(|| broken(at))?;
            let begin = from_here.and(before[at]);
            if !begin.is_possible() {
                return Err(broken(at));
            }
            let backward = forward.mirrored();
            solved.push(SolvedSegment { segment: *segment, begin: (begin.lo, begin.hi), forward, backward });
            after = from_here;
        }
        solved.reverse();
        // Clocks do not go back: what bounds one end of a segment bounds what follows, or precedes, as well.
        for at in 1..solved.len() {
            solved[at].begin.0 = solved[at].begin.0.max(solved[at - 1].begin.0);
        }
        for at in (1..solved.len()).rev() {
            let later = solved[at].begin.1;
            let earlier = &mut solved[at - 1].begin.1;
            *earlier = earlier.map_or(later, |hi| Some(later.map_or(hi, |later| hi.min(later))));
        }
        Ok(Self { segments: solved })
    }

    /// The segments, by time.
    pub(crate) fn segments(&self) -> impl Iterator<Item = Segment> + '_ {
        self.segments.iter().map(|solved| solved.segment)
    }

    /// The highest (`Side::Upper`) or lowest time that the other clock can show when one shows `t`. O(log
    /// segments + log k).
    pub(crate) fn bound(&self, direction: Direction, side: Side, t: i64) -> Option<i64> {
        match direction {
            Direction::Forward => {
                let after = self.segments.partition_point(|l| l.segment.x.begin <= t);
                self.segments[after.saturating_sub(1)].forward.at(side, t)
            }
            Direction::Backward => self.inverse(side, t),
        }
    }

    /// When b shows `y`, a is in one of some segments: the last in which b can show as little as `y`
    /// (`Side::Upper`), or the first in which it can show so much.
    fn inverse(&self, side: Side, y: i64) -> Option<i64> {
        let last = self.segments.len() - 1;
        match side {
            Side::Upper => {
                // At the start of a segment b shows at least `begin.0`; that grows from segment to segment.
                let after = self.segments.partition_point(|l| l.begin.0.is_none_or(|lo| lo <= y));
                let at = after.saturating_sub(1);
                let segment = &self.segments[at];
                let x = segment.backward.at(side, y);
                // If it is in a segment before, it is before this one: a bound that rounding put there is
                // none.
                let x = x.map(|x| if at == 0 { x } else { x.max(segment.segment.x.begin) });
                if at == last {
                    x
                } else {
                    Some(x.map_or(segment.segment.x.end, |x| x.min(segment.segment.x.end)))
                }
            }
            Side::Lower => {
                let at =
                    self.segments.partition_point(|l| l.begin.1.is_some_and(|hi| hi < y)).saturating_sub(1);
                let segment = &self.segments[at];
                let x = segment.backward.at(side, y);
                let x = x.map(|x| if at == last { x } else { x.min(segment.segment.x.end) });
                if at == 0 {
                    x
                } else {
                    Some(x.map_or(segment.segment.x.begin, |x| x.max(segment.segment.x.begin)))
                }
            }
        }
    }

    /// The ends of a span of a's time and of all segments within.
    pub(crate) fn instants(&self, span: Span) -> Vec<i64> {
        let inner = self.segments.iter().flat_map(|l| [l.segment.x.begin, l.segment.x.end]);
        let mut all: Vec<i64> =
            inner.filter(|x| span.begin < *x && *x < span.end).chain([span.begin, span.end]).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

#[cfg(test)]
pub(crate) mod tests;
