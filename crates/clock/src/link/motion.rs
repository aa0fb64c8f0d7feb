//! From what is assumed of two clocks to the segments of their relation.
//!
//! One clock of a pair is `x`, the other `y`. Where both run free or are changed at known times only, the
//! rate between them is constant from one such time to the next; where one is steered, it is anything within
//! its limits. What is known on the time of `y` is brought to that of `x` by rough bounds, so that a known
//! instant of `y` becomes a short span of `x` in which the change lies. Used for links by
//! [`crate::link::steered`], and for a clock and its reference by `crate::network::island`.

use crate::geometry::{FASTEST, RateRange, Rule, Segment, Wander};
use crate::link::nominal_rate::NominalRate;
use crate::link::violations::{Allowance, Cause, LimitViolations};
use crate::model::{Assumptions, MAX_CHANGES, Model, Regime, STEERED_PPM, Steering};
use crate::span::{Span, merge};

/// Assumptions on a pair of clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Motion<'a> {
    pub(crate) x: &'a Assumptions,
    pub(crate) y: &'a Assumptions,
    /// Maximal deviation of rates from the nominal one, where messages contradict what was assumed;
    /// dimensionless.
    pub(crate) moved: Option<f64>,
    /// Of two clocks that no daemon steers.
    pub(crate) wander: Wander,
    /// Maximal deviation of the rate from the nominal one where no daemon steers, dimensionless.
    pub(crate) prior: f64,
}

impl<'a> Motion<'a> {
    /// Of two clocks under a model.
    pub(crate) fn new(model: &Model, x: &'a Assumptions, y: &'a Assumptions) -> Self {
        let wander = model.wander().unwrap_or_default();
        Self { x, y, moved: None, wander, prior: f64::from(model.prior_ppm) * 1e-6 }
    }

    /// The same where rates were seen to leave the nominal one by so much more.
    pub(crate) fn moving(self, moved: Option<f64>) -> Self {
        let moved = self.moved.into_iter().chain(moved).reduce(f64::max);
        Self { moved, ..self }
    }

    /// Whether no daemon steers either.
    pub(crate) fn is_free(&self) -> bool {
        self.moved.is_none() && self.x.is_free() && self.y.is_free()
    }

    /// The most that the rate may leave the nominal one anywhere, dimensionless.
    pub(crate) fn most(&self) -> f64 {
        (most(self.x) + most(self.y) + self.moved.unwrap_or(0.0)).max(self.wander.rate())
    }

    /// One segment for all times, in which the rate may be anything within the widest limits, but for the
    /// spans of an violations.
    pub(crate) fn loose(&self, nominal: NominalRate, violations: &LimitViolations) -> Vec<Segment> {
        let rule = |mid: i64| Rule::Within(self.range(nominal, self.most(), violations, mid));
        let ends = violations.spans().flat_map(|(s, _)| [s.begin, s.end]);
        between(ends.collect(), rule)
    }

    /// Assumed cause where messages contradict what is assumed.
    pub(crate) fn cause(&self) -> Cause {
        let is_unknown = |of: &Assumptions| of.regimes().iter().any(|r| r.steering == Steering::Unknown);
        if is_unknown(self.x) || is_unknown(self.y) { Cause::Unknown } else { Cause::Slew }
    }

    /// The segments by what is assumed when, but for spans in which messages contradict that. `to_x` gives
    /// the times of x in which a span of y's time must lie.
    pub(crate) fn segments(
        &self,
        nominal: NominalRate,
        violations: &LimitViolations,
        contradicted: &[Span],
        to_x: impl Fn(Span) -> Span,
    ) -> Vec<Segment> {
        let changes = |assumptions: &Assumptions| -> Vec<Span> {
            let begins = |s: &Span| {
                let within = |regime: &&Regime| s.contains(regime.from);
                assumptions.regimes().iter().filter(within).any(|r| r.steering == Steering::Stepwise)
            };
            let known = |s: &&Span| assumptions.at(s.begin) == Steering::Stepwise || begins(s);
            assumptions.changes().iter().filter(known).copied().collect()
        };
        let (of_x, of_y) = (changes(self.x), changes(self.y));
        if of_x.len().max(of_y.len()) > MAX_CHANGES {
            return self.loose(nominal, violations);
        }
        // Spans in which a change of the rate lies, and in which the regime of y changes.
        let mut changes = of_x;
        changes.extend(of_y.into_iter().map(&to_x));
        let borders_of_y: Vec<Span> =
            self.y.regimes().iter().skip(1).map(|regime| to_x(Span::at(regime.from))).collect();
        changes.extend(&borders_of_y);
        changes.extend(contradicted);
        merge(&mut changes);
        let of_y = |mid: i64| {
            let passed = borders_of_y.iter().filter(|border| border.end <= mid).count();
            self.y.regimes()[passed].steering
        };
        let mut ends: Vec<i64> = changes.iter().flat_map(|s| [s.begin, s.end]).collect();
        ends.extend(self.x.regimes().iter().skip(1).map(|regime| regime.from));
        let pair = |mid: i64| (self.x.at(mid), of_y(mid));
        let rule = |mid: i64| {
            if LimitViolations::holds(&changes, mid) {
                return Rule::Within(self.range(nominal, self.most(), violations, mid));
            }
            self.rule(pair(mid), nominal, violations, mid)
        };
        // A segment of constant rate is not cut where it is faster than the nominal rate: it is still
        // constant.
        let coarse = between(ends.clone(), rule);
        for segment in coarse.iter().filter(|segment| matches!(segment.rule, Rule::Within(_))) {
            let inside = |t: &i64| segment.x.begin < *t && *t < segment.x.end;
            ends.extend(violations.fast.iter().flat_map(|s| [s.begin, s.end]).filter(inside));
        }
        let open = violations.spans().filter(|(_, allowance)| *allowance != Allowance::Fast);
        ends.extend(open.flat_map(|(s, _)| [s.begin, s.end]));
        let faster = |segment: Segment| match segment.rule {
            Rule::Constant { wander, .. } if LimitViolations::meets(&violations.fast, segment.x) => {
                Segment { rule: Rule::Constant { rates: nominal.range(FASTEST), wander }, ..segment }
            }
            _ => segment,
        };
        between(ends, rule).into_iter().map(faster).collect()
    }

    /// The rule for a pair of regimes.
    fn rule(
        &self,
        (x, y): (Steering, Steering),
        nominal: NominalRate,
        violations: &LimitViolations,
        mid: i64,
    ) -> Rule {
        let is_constant = |steering| matches!(steering, Steering::Free | Steering::Stepwise);
        let by = limit(x) + limit(y);
        if self.moved.is_none() && is_constant(x) && is_constant(y) && !violations.is_open(mid) {
            return Rule::Constant { rates: nominal.range(by.max(self.prior)), wander: self.wander };
        }
        Rule::Within(self.range(nominal, by + self.moved.unwrap_or(0.0), violations, mid))
    }

    fn range(&self, nominal: NominalRate, by: f64, violations: &LimitViolations, mid: i64) -> RateRange {
        if LimitViolations::holds(&violations.any, mid) {
            return RateRange::ANY;
        }
        let by = if LimitViolations::holds(&violations.fast, mid) { by.max(FASTEST) } else { by };
        // The nominal rate of clocks that no daemon steers is not constant either.
        let range = nominal.range(by + self.wander.rate());
        let range = if LimitViolations::holds(&violations.rising, mid) { range.rising() } else { range };
        if LimitViolations::holds(&violations.falling, mid) { range.falling() } else { range }
    }
}

/// The most that the rate of a clock may be from its nominal one at any time, dimensionless.
pub(crate) fn most(assumptions: &Assumptions) -> f64 {
    assumptions.regimes().iter().map(|regime| limit(regime.steering)).fold(0.0, f64::max)
}

/// Maximal deviation of the rate of a clock from its nominal one, dimensionless.
fn limit(steering: Steering) -> f64 {
    let ppm = match steering {
        // From one constant to the next.
        Steering::Stepwise => STEERED_PPM,
        other => other.limit_ppm().unwrap_or(0),
    };
    f64::from(ppm) * 1e-6
}

/// Segments between some instants, over all times, each by the rule of its middle.
fn between(mut ends: Vec<i64>, rule: impl Fn(i64) -> Rule) -> Vec<Segment> {
    let Span { begin, end } = Span::EVER;
    ends.extend([begin, end]);
    ends.retain(|t| (begin..=end).contains(t));
    ends.sort_unstable();
    ends.dedup();
    let segment = |pair: &[i64]| {
        let x = Span { begin: pair[0], end: pair[1] };
        Segment { x, rule: rule(x.middle()) }
    };
    ends.windows(2).map(segment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A daemon that came and went within a span in which it may have changed the rate.
    #[test]
    fn a_change_around_a_whole_regime_counts() {
        let regime = |from, steering| Regime { from, steering };
        let regimes =
            vec![regime(0, Steering::Free), regime(1000, Steering::Stepwise), regime(2000, Steering::Free)];
        let known = Assumptions::new(regimes, vec![Span { begin: 900, end: 2100 }]).unwrap();
        let free = Assumptions::default();
        for (x, y) in [(&known, &free), (&free, &known)] {
            let motion = Motion { x, y, moved: None, wander: Wander::NONE, prior: 500e-6 };
            let nominal = NominalRate { rate: 1.0, error: 0.0 };
            let segments = motion.segments(nominal, &LimitViolations::default(), &[], |span| span);
            assert!(segments.iter().all(|segment| {
                let inside = segment.x.begin < 2100 && 900 < segment.x.end;
                inside == matches!(segment.rule, Rule::Within(_))
            }));
            assert!(segments.windows(2).all(|pair| pair[0].x.end == pair[1].x.begin));
        }
    }
}
