//! What is known of one clock, or of two, expressed by other clocks that differ from these by constants, or
//! the other way round: for [`crate::clock_groups`].

use isochrone_clock::{Correction, Interval, IntervalRow, Span};

pub(crate) fn span_shifted(span: Span, by: i64) -> Span {
    Span { begin: span.begin.saturating_add(by), end: span.end.saturating_add(by) }
}

/// From own raw time (`own_shift` less than the group's) to the reference's (`to_shift` less than its
/// group's).
pub(crate) fn shifted_correction(of_group: &Correction, own_shift: i64, to_shift: i64) -> Correction {
    let shift = |&(x, y): &(i64, i64)| (x.saturating_sub(own_shift), y.saturating_sub(to_shift));
    let knots = of_group.knots().iter().map(shift).collect();
    // Only times out of range are refused, and those have not come so far.
    Correction::new(knots, of_group.rate_before(), of_group.rate_after()).unwrap_or_else(|_| of_group.clone())
}

/// The bounds of a link of two groups by the times of a clock of each.
pub(crate) fn shifted_link(of_groups: &Interval, from_shift: i64, to_shift: i64) -> Option<Interval> {
    let row = |row: &IntervalRow| {
        let raw = row.raw.checked_sub(from_shift)?;
        let (lo, hi) = (row.lo.checked_sub(to_shift)?, row.hi.checked_sub(to_shift)?);
        Some(IntervalRow { raw, lo, hi, e95: row.e95 })
    };
    Interval::new(of_groups.rows().iter().map(row).collect::<Option<_>>()?).ok()
}

/// The bounds of a's time by b's from those of b's by a's, where both are known. A clock that shows y is
/// within y − 1 and y + 1, as bounds are rounded: so much is added at either side. In between, rows are as
/// exact, since the inverse of a line is one; where a bound does not rise, its inverse jumps, and the line
/// across that is outside of it.
pub(crate) fn inverse(interval: &Interval) -> Option<Interval> {
    let rows = interval.rows();
    let (first, last) = (rows.first()?.hi.checked_add(1)?, rows.last()?.lo.checked_sub(1)?);
    let mut times: Vec<i64> =
        rows.iter().flat_map(|row| [row.lo - 1, row.hi + 1]).chain([first, last]).collect();
    times.retain(|time| (first..=last).contains(time));
    times.sort_unstable();
    times.dedup();
    let row = |raw: i64| {
        // The first instant at which b may show so much, and the last at which it may show so little.
        let lo = crossing(rows, raw - 1, |row| row.hi, -1)?;
        let hi = crossing(rows, raw + 1, |row| row.lo, 1)?;
        let e95 = interval.at(lo.midpoint(hi)).map_or(hi.saturating_sub(lo), |(_, _, e95)| e95);
        Some(IntervalRow { raw, lo, hi, e95 })
    };
    Interval::new(times.into_iter().map(row).collect::<Option<_>>()?).ok()
}

/// When a bound that rises from row to row reaches a value: the earliest such time, rounded down (`outward`
/// −1), or the latest, rounded up.
fn crossing(rows: &[IntervalRow], value: i64, bound: fn(&IntervalRow) -> i64, outward: i64) -> Option<i64> {
    let right = match outward {
        1.. => rows.partition_point(|row| bound(row) <= value),
        _ => rows.partition_point(|row| bound(row) < value),
    };
    let Some(after) = rows.get(right) else { return rows.last().map(|row| row.raw) };
    let Some(before) = right.checked_sub(1).map(|left| &rows[left]) else { return Some(after.raw) };
    let rise = i128::from(bound(after)) - i128::from(bound(before));
    let part = (i128::from(value) - i128::from(bound(before))) * i128::from(after.raw - before.raw);
    let run = match outward {
        1.. => -(-part).div_euclid(rise.max(1)),
        _ => part.div_euclid(rise.max(1)),
    };
    before.raw.checked_add(i64::try_from(run).ok()?)
}

/// The rows of the group within the clock's own span, and one at each of its ends.
pub(crate) fn shifted_interval(
    of_group: &Interval,
    own_shift: i64,
    to_shift: i64,
    span: Span,
    correction: &Correction,
) -> Interval {
    let end = |raw: i64| {
        let (lo, hi, e95) = of_group.at(raw.saturating_add(own_shift))?;
        let (lo, hi) = (lo.saturating_sub(to_shift), hi.saturating_sub(to_shift));
        // Between two rows of the group the correction may lie a rounding outside of them.
        let estimate = correction.apply(raw);
        Some(IntervalRow { raw, lo: lo.min(estimate), hi: hi.max(estimate), e95 })
    };
    let inner = of_group.rows().iter().map(|r| IntervalRow {
        raw: r.raw.saturating_sub(own_shift),
        lo: r.lo.saturating_sub(to_shift),
        hi: r.hi.saturating_sub(to_shift),
        e95: r.e95,
    });
    let inner = inner.filter(|r| span.begin < r.raw && r.raw < span.end);
    let last = end(span.end).filter(|_| span.begin < span.end);
    let rows = end(span.begin).into_iter().chain(inner).chain(last).collect();
    Interval::new(rows).unwrap_or_else(|_| of_group.clone())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bounds_turn_round() {
        let row = |raw, lo, hi| IntervalRow { raw, lo, hi, e95: 1 };
        let check = |rows: &[IntervalRow], expect: &[(i64, i64, i64)]| {
            let found = inverse(&Interval::new(rows.to_vec()).unwrap());
            let rows = found.iter().flat_map(Interval::rows).map(|row| (row.raw, row.lo, row.hi));
            assert_eq!(rows.collect::<Vec<_>>(), expect);
        };
        check(&[row(0, 90, 110), row(100, 190, 210)], &[(111, 0, 22), (189, 78, 100)]);
        // Half as fast, rounded outward.
        check(&[row(0, 0, 1), row(9, 4, 5)], &[(2, 0, 7), (3, 2, 9)]);
        // Never both known.
        check(&[row(0, 0, 50), row(10, 10, 60)], &[]);
        // It stood still meanwhile.
        check(
            &[row(0, 0, 2), row(10, 10, 12), row(50, 10, 12), row(60, 20, 22)],
            &[(3, 0, 4), (9, 6, 50), (13, 10, 54), (19, 56, 60)],
        );
    }

    proptest! {
        /// Whatever is within the bounds one way is within them the other way.
        #[test]
        fn nothing_is_lost_by_turning(
            steps in prop::collection::vec((1i64..50, 0i64..60, 0i64..60), 1..12), width in 0i64..80, at in 0i64..600, up in 0f64..=1.0,
        ) {
            let (mut raw, mut lo, mut hi) = (0, 0, width);
            let mut rows = vec![IntervalRow { raw, lo, hi, e95: 0 }];
            for (run, rise, other) in steps {
                (raw, lo) = (raw + run, lo + rise);
                hi = (hi + other).max(lo);
                rows.push(IntervalRow { raw, lo, hi, e95: 0 });
            }
            let interval = Interval::new(rows).unwrap();
            let x = at % (raw + 1);
            let (lo, hi, _) = interval.at(x).unwrap();
            let y = lo + ((hi - lo) as f64 * up) as i64;
            if let Some((first, last, _)) = inverse(&interval).and_then(|turned| turned.at(y)) {
                prop_assert!(first <= x && x <= last, "{x} → {y}: {first} … {last}");
            }
        }
    }
}
