//! The estimate of one clock from the margin lines along its path, and how an affine map becomes a
//! correction.
//!
//! Always there, always inside the bounds that are composed along the same path; [`crate::estimate`] starts
//! from it and [`crate::joint`] falls back to it.

use crate::MAX_ABS_NS;
use crate::correction::Correction;
use crate::margin::MarginLine;
use crate::rate::Rate;
use crate::span::Span;

/// Two knots closer than this (ns) do not carry a rate: rounding them to whole ns would show in it.
const MIN_RATE_BASE_NS: i64 = 1_000_000_000;

/// The estimate from margin lines: `path` leads from the clock to the reference.
pub(crate) fn composed(path: &[MarginLine], span: Span) -> Correction {
    let to_reference = |t: i64| path.iter().fold(t, |t, line| line.at(t));
    affine(span, to_reference(span.begin), to_reference(span.end), || {
        let wide = span.begin.saturating_add(MIN_RATE_BASE_NS);
        let rise = to_reference(wide) as i128 - to_reference(span.begin) as i128;
        Rate::of(rise, wide as i128 - span.begin as i128).unwrap_or(Rate::ONE)
    })
}

/// The two-knot correction of a span; `short` gives the rate outside the knots when they are too close to
/// carry one.
pub(crate) fn affine(span: Span, begin: i64, end: i64, short: impl FnOnce() -> Rate) -> Correction {
    let inside = |t: i64| t.clamp(-MAX_ABS_NS, MAX_ABS_NS - 1);
    // Two instants of a clock are never one instant of another, even when rounding says so.
    let (begin, end) = (inside(begin), inside(end).max(inside(begin) + 1));
    let knots = vec![(span.begin, begin), (span.end, end)];
    let made = if span.end - span.begin < MIN_RATE_BASE_NS {
        let rate = short();
        Correction::new(knots, rate, rate)
    } else {
        Correction::through(knots)
    };
    // Cannot fail: a span is in range and longer than nothing. If it does, the identity is caught by the
    // caller's checks.
    made.unwrap_or_else(|_| Correction::identity(span.begin, span.end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Corridor, SlopeRange};

    /// b is 1 s ahead and as fast as a.
    fn ahead() -> MarginLine {
        let mut c = Corridor::new();
        for t in [0, 10_000_000_000] {
            c.a_to_b(t, t + 1_000_000_100).unwrap();
            c.b_to_a(t + 999_999_900, t).unwrap();
        }
        c.within(SlopeRange::prior(500)).unwrap().margin_line().unwrap()
    }

    #[test]
    fn lines_add_up() {
        let c = composed(&[ahead(), ahead()], Span { begin: 0, end: 5_000_000_000 });
        assert_eq!(c.knots(), &[(0, 2_000_000_000), (5_000_000_000, 7_000_000_000)]);
    }

    #[test]
    fn a_short_span_takes_its_rate_from_the_line() {
        let c = composed(&[ahead()], Span { begin: 7, end: 8 });
        assert_eq!(c.knots(), &[(7, 1_000_000_007), (8, 1_000_000_008)]);
        assert_eq!(c.rate_after(), Rate::ONE);
    }

    #[test]
    fn the_ends_of_time_stay_in_range_and_in_order() {
        let m = MAX_ABS_NS;
        let c = composed(&[ahead()], Span { begin: m - 1, end: m });
        assert_eq!(c.knots(), &[(m - 1, m - 1), (m, m)]);
    }
}
