//! What a link is worth: the verdict on its corridor, and the corridor in the form that paths and estimates
//! use.
//!
//! A link is judged once, here. [`crate::joint`] asks for the verdicts, ties clocks with the usable links,
//! and reports all of them.

use crate::bounded::Bounded;
use crate::corridor::{Corridor, Infeasible};
use crate::exact::ceil_div;
use crate::margin::MarginLine;
use crate::slope::SlopeRange;
use crate::span::Span;

/// With at least this many messages in both directions, a contradiction is no accident: the link is refused.
/// With fewer, the line of least violation is used, and marked as such.
pub const MIN_MESSAGES_TO_REFUSE: u64 = 8;

/// The verdict on a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkQuality {
    /// The messages alone bound the rate from both sides, and do not contradict each other.
    Accurate,
    /// The messages leave the rate open on a side; the prior on the rate closes it.
    Incomplete,
    /// Few messages that contradict each other: the line of least violation is used, without a guarantee.
    Approximate {
        /// By how much that line violates the worst message, ns.
        violation_ns: i64,
    },
    /// Not used.
    Refused {
        /// Why.
        why: Refusal,
    },
    /// No message.
    Absent,
    /// Messages in one direction only: an offset bounded on one side cannot tie two clocks. Not used.
    OneWay,
}

/// Why a link is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No increasing relation satisfies the messages.
    #[error(transparent)]
    Contradiction(#[from] Infeasible),
    /// The bounds over the clocks' spans are beyond the range of times.
    #[error("the bounds are beyond the range of times")]
    OutOfRange,
}

/// All that is known about a link after solving.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkReport {
    /// The clock whose time is x; less than `b`.
    pub a: usize,
    /// The clock whose time is y.
    pub b: usize,
    /// The verdict.
    pub quality: LinkQuality,
    /// The messages contradicted the prior on the rate, and won.
    pub prior_contradicted: bool,
    /// (db/da − 1)·10⁶ from the messages alone, least and greatest; `None` where unbounded or infeasible.
    pub rate_ppm: (Option<f64>, Option<f64>),
    /// The largest half width of the corridor over the spans of both clocks, ns; `None` unless the link is
    /// usable.
    pub half_width_ns: Option<i64>,
    /// Whether the final corrections leave no message of the link inverted (received before it was sent),
    /// exactly; `None` when the two clocks are on different islands.
    pub holds: Option<bool>,
    /// All messages of the link, duplicates of the link merged, in the order (a, b).
    pub corridor: Corridor,
}

/// A judged link between clocks `a < b`.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) corridor: Corridor,
    pub(crate) quality: LinkQuality,
    /// Present when the link can tie its clocks.
    pub(crate) tie: Option<Tie>,
}

/// The relation of a usable link, from either end.
#[derive(Debug, Clone)]
pub(crate) struct Tie {
    /// b's time from a's.
    pub(crate) forward: Bounded,
    /// a's time from b's.
    pub(crate) backward: Bounded,
    /// Largest half width over both spans, ns.
    pub(crate) half_width: i64,
    /// By how much the messages were relaxed to make the corridor feasible, ns; 0 for a corridor that is.
    pub(crate) relaxed_by: i64,
}

impl Link {
    /// Judges a corridor within a prior; the spans say over which times its width matters.
    pub(crate) fn judge(
        (a, span_a): (usize, Span),
        (b, span_b): (usize, Span),
        corridor: Corridor,
        prior: SlopeRange,
    ) -> Self {
        let (quality, relation) = verdict(&corridor, prior);
        let mut link = Self { a, b, corridor, quality, tie: None };
        if let Some((forward, relaxed_by)) = relation {
            link.tie = Tie::over(forward, relaxed_by, span_a, span_b);
            if link.tie.is_none() {
                link.quality = LinkQuality::Refused { why: Refusal::OutOfRange };
            }
        }
        link
    }

    /// The report, given whether the final corrections invert no message.
    pub(crate) fn report(self, holds: Option<bool>) -> LinkReport {
        LinkReport {
            a: self.a,
            b: self.b,
            quality: self.quality,
            prior_contradicted: self.tie.as_ref().is_some_and(|t| t.forward.prior_contradicted()),
            rate_ppm: self.corridor.rate_ppm(),
            half_width_ns: self.tie.map(|t| t.half_width),
            holds,
            corridor: self.corridor,
        }
    }

    /// Every message that matters as (sender, sent, receiver, received), in a fixed order.
    pub(crate) fn messages(&self) -> impl Iterator<Item = (usize, i64, usize, i64)> + '_ {
        let forth = self.corridor.upper().vertices().iter().map(|p| (self.a, p.x(), self.b, p.y()));
        let back = self.corridor.lower().vertices().iter().map(|p| (self.b, p.y(), self.a, p.x()));
        forth.chain(back)
    }
}

impl Tie {
    fn over(forward: Bounded, relaxed_by: i64, span_a: Span, span_b: Span) -> Option<Self> {
        let backward = forward.mirrored();
        // hi − lo is convex: its largest value over a span is at an end.
        let ends = [
            half_width(&forward, span_a.begin)?,
            half_width(&forward, span_a.end)?,
            half_width(&backward, span_b.begin)?,
            half_width(&backward, span_b.end)?,
        ];
        Some(Self { half_width: ends.into_iter().max()?, forward, backward, relaxed_by })
    }

    /// The relation from `child`, one of the two clocks of `link`, to the other.
    pub(crate) fn from(&self, link: &Link, child: usize) -> &Bounded {
        if child == link.a { &self.forward } else { &self.backward }
    }

    /// Whether the bounds are proven rather than a least violation.
    pub(crate) fn is_guaranteed(&self) -> bool {
        self.relaxed_by == 0
    }
}

/// The verdict, and for a usable link the relation a → b with the relaxation it needed.
fn verdict(corridor: &Corridor, prior: SlopeRange) -> (LinkQuality, Option<(Bounded, i64)>) {
    match corridor.messages() {
        (0, 0) => return (LinkQuality::Absent, None),
        (0, _) | (_, 0) => return (LinkQuality::OneWay, None),
        _ => {}
    }
    match corridor.within(prior) {
        Ok(bounded) => {
            let complete = corridor.rates().is_ok_and(|r| r.min.is_some() && r.max.is_some());
            let quality = if complete { LinkQuality::Accurate } else { LinkQuality::Incomplete };
            (quality, Some((bounded, 0)))
        }
        Err(why) => least_violation(corridor, prior, why)
            .unwrap_or((LinkQuality::Refused { why: Refusal::Contradiction(why) }, None)),
    }
}

/// An infeasible corridor made feasible: all messages relaxed by twice the violation of the best line, which
/// leaves the lines that are at most that violation worse than the best one. `None` when the link must be
/// refused.
fn least_violation(
    corridor: &Corridor,
    prior: SlopeRange,
    why: Infeasible,
) -> Option<(LinkQuality, Option<(Bounded, i64)>)> {
    let contradictory = matches!(why, Infeasible::Crossed { .. } | Infeasible::SameInstant { .. });
    let (forth, back) = corridor.messages();
    if !contradictory || forth.min(back) >= MIN_MESSAGES_TO_REFUSE {
        return None;
    }
    let violation_ns = MarginLine::of(corridor, prior.closed()?)?.margin_ns().checked_neg()?;
    // One more nanosecond: the violation is rounded.
    let relax_by = violation_ns.checked_mul(2)?.checked_add(1)?;
    let bounded = corridor.relaxed(relax_by).ok()?.within(prior).ok()?;
    Some((LinkQuality::Approximate { violation_ns }, Some((bounded, relax_by))))
}

/// Half of hi − lo at `x`, rounded up.
fn half_width(bounded: &Bounded, x: i64) -> Option<i64> {
    let (lo, hi) = (bounded.lo(x)? as i128, bounded.hi(x)? as i128);
    i64::try_from(ceil_div(hi - lo, 2)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corridor::tests::corridor;

    fn judge(upper: &[(i64, i64)], lower: &[(i64, i64)]) -> Link {
        let span = Span { begin: 0, end: 1000 };
        Link::judge((0, span), (1, span), corridor(upper, lower), SlopeRange::prior(500))
    }

    #[test]
    fn verdicts() {
        assert_eq!(judge(&[], &[]).quality, LinkQuality::Absent);
        assert_eq!(judge(&[(0, 5)], &[]).quality, LinkQuality::OneWay);
        assert_eq!(judge(&[(0, 5)], &[(9, 2)]).quality, LinkQuality::Incomplete);
        let accurate = judge(&[(0, 5), (1000, 1005)], &[(0, 0), (1000, 1000)]);
        assert_eq!(accurate.quality, LinkQuality::Accurate);
        let report = accurate.report(Some(true));
        assert_eq!((report.half_width_ns, report.prior_contradicted), (Some(3), false));
    }

    #[test]
    fn few_contradictory_messages_are_approximated_many_refused() {
        let few = judge(&[(0, 0)], &[(0, 10)]);
        assert_eq!(few.quality, LinkQuality::Approximate { violation_ns: 5 });
        let tie = few.tie.unwrap();
        assert!(!tie.is_guaranteed() && tie.forward.lo(0) == Some(-1) && tie.forward.hi(0) == Some(11));
        let up: Vec<_> = (0..8).map(|t| (t * 100, t * 100)).collect();
        let down: Vec<_> = (0..8).map(|t| (t * 100, t * 100 + 10)).collect();
        let many = judge(&up, &down);
        assert!(matches!(many.quality, LinkQuality::Refused { why: Refusal::Contradiction(_) }));
        assert!(many.tie.is_none());
    }

    #[test]
    fn a_clock_that_runs_backwards_is_refused_however_few() {
        let link = judge(&[(1000, 0)], &[(0, 500)]);
        let why = Refusal::Contradiction(link.corridor.rates().unwrap_err());
        assert_eq!(link.quality, LinkQuality::Refused { why });
        assert!(why.to_string().contains("backwards"));
    }
}
