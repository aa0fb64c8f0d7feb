//! Rows of an interval without those that the others imply well enough: [`crate::interval::outline`] and
//! `crate::link::rows` leave out what says nothing new, and widen what is left by what that hides. And
//! knots of a correction, on which no bound depends.
//!
//! From one that is kept, those after it are gone through with the range of slopes that pass all in between
//! near enough: the next to be kept is the last one before none is left (Williams 1978).

use crate::correction::Correction;
use crate::error::ClockError;
use crate::exact::floor_div;
use crate::interval::{limited, rows::Row};

/// Maximal number of rows that are left out one after the other.
const MAX_SKIPPED: usize = 128;
/// Where more than this share of the half width has to be given for fewer rows, they are left out evenly.
const MAX_SHARE: f64 = 0.5;

/// The rows without those that the ones around them imply well enough; what they imply too little by, the
/// ones around them are widened by. `share` of the half width is little enough. O(rows).
pub(crate) fn thinned(rows: &[Row], share: f64) -> Vec<Row> {
    left_out(rows, |from| {
        let far = &rows[from + 1..rows.len().min(from + MAX_SKIPPED)];
        // As `covering` rounds.
        let lo = reachable(
            (rows[from].raw, rows[from].lo),
            far,
            |r| (r.raw, r.lo),
            |r| (room(r, share).saturating_add(1), room(r, share)),
        );
        let hi = reachable(
            (rows[from].raw, rows[from].hi),
            far,
            |r| (r.raw, r.hi),
            |r| (room(r, share), room(r, share).saturating_add(1)),
        );
        // Slopes were rounded: what counts is exact. Between neighbours there is no row to cover.
        let exactly =
            |&next: &usize| Some((next, covering(&rows[from], &rows[next], &rows[from + 1..next], share)?));
        let nearer = (from + 1..=from + lo.min(hi)).rev();
        nearer.into_iter().find_map(|next| exactly(&next)).unwrap_or((from + 1, (0, 0)))
    })
}

/// At most `most` rows: those without which the others imply the rest well enough. O(rows · log) of how far
/// apart they are.
pub(crate) fn thinned_to(mut rows: Vec<Row>, most: usize) -> Vec<Row> {
    let mut share = 0.01;
    while rows.len() > most && share < MAX_SHARE {
        rows = thinned(&rows, share);
        share *= 1.5;
    }
    if rows.len() <= most {
        return rows;
    }
    // Every n-th of them.
    let step = rows.len().div_ceil(most.max(2) - 1);
    left_out(&rows, |from| {
        let to = (from + step).min(rows.len() - 1);
        // Without a limit to how far inside the others lie, there is an answer but for numbers that are out
        // of range.
        let outside = covering(&rows[from], &rows[to], &rows[from + 1..to], f64::INFINITY);
        outside.map_or((from + 1, (0, 0)), |outside| (to, outside))
    })
}

/// The rows that are kept, from the first one on: `next` of each of them, with by how much (lo, hi) the rows
/// between lie outside of the lines between the two.
fn left_out(rows: &[Row], next: impl Fn(usize) -> (usize, (i64, i64))) -> Vec<Row> {
    let Some(first) = rows.first() else { return Vec::new() };
    let (mut kept, mut indices) = (vec![*first], vec![0]);
    let mut beyond: Vec<(i64, i64)> = Vec::new();
    let mut from = 0;
    while from + 1 < rows.len() {
        let (to, outside) = next(from);
        kept.push(rows[to]);
        indices.push(to);
        beyond.push(outside);
        from = to;
    }
    for (at, &(lo, hi)) in beyond.iter().enumerate() {
        for row in at..=at + 1 {
            // Both intervals at a row may want it wider.
            let original = rows[indices[row]];
            kept[row].lo = kept[row].lo.min(limited(original.lo.saturating_sub(lo)));
            kept[row].hi = kept[row].hi.max(limited(original.hi.saturating_add(hi)));
        }
    }
    for i in 1..kept.len() {
        kept[i].hi = kept[i].hi.max(kept[i - 1].hi);
    }
    for i in (1..kept.len()).rev() {
        kept[i - 1].lo = kept[i - 1].lo.min(kept[i].lo);
    }
    kept
}

/// At most `most` of the knots of an estimate: those without which it would be off by the least power of two
/// ns. O(knots · log) of how far that is.
fn knots_thinned_to(knots: &[(i64, i64)], most: usize) -> Vec<(i64, i64)> {
    let mut kept = knots.to_vec();
    let mut near = 1_i64;
    while kept.len() > most.max(2) {
        let mut at = 0;
        kept.truncate(1);
        while at + 1 < knots.len() {
            at += reachable(knots[at], &knots[at + 1..], |&knot| knot, |_| (near, near));
            kept.push(knots[at]);
        }
        near = near.saturating_mul(2);
    }
    kept
}

/// A correction in at most `max_knots` knots (two at least), as near to the given one as that allows.
///
/// # Errors
/// None: knots of a correction are in order.
pub(crate) fn thinned_correction(of: &Correction, max_knots: usize) -> Result<Correction, ClockError> {
    Correction::new(knots_thinned_to(of.knots(), max_knots), of.rate_before(), of.rate_after())
}

/// Number of points after one that come before the first line from there that does not pass all points in
/// between near enough: from so much below each to so much above it. At least one.
fn reachable<T>(
    from: (i64, i64),
    points: &[T],
    of: impl Fn(&T) -> (i64, i64),
    near: impl Fn(&T) -> (i64, i64),
) -> usize {
    let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
    for (before, point) in points.iter().enumerate() {
        let to = of(point);
        // Of numbers that are not in range, the nearest that is.
        let run = to.0.saturating_sub(from.0).max(1) as f64;
        let rise = to.1.saturating_sub(from.1) as f64;
        if rise < least * run || rise > most * run {
            return before;
        }
        let (below, above) = near(point);
        (least, most) = (least.max((rise - below as f64) / run), most.min((rise + above as f64) / run));
    }
    points.len()
}

/// A share of the half width of a row, whole ns rounded down. An infinite share of nothing would be no
/// number.
fn room(row: &Row, share: f64) -> i64 {
    (row.hi.saturating_sub(row.lo).max(1) as f64 / 2.0 * share) as i64
}

/// By how much rows lie outside of the lines between two others, at most; `None` if that, or how far they lie
/// inside, is more than a small share of their width.
fn covering(left: &Row, right: &Row, between: &[Row], share: f64) -> Option<(i64, i64)> {
    let line = |a: i64, b: i64, raw: i64| {
        let rise = (b as i128 - a as i128) * (raw - left.raw) as i128;
        a as i128 + floor_div(rise, (right.raw - left.raw) as i128)
    };
    let (mut lo, mut hi) = (0, 0);
    for row in between {
        let room = room(row, share) as i128;
        let above = row.hi as i128 - line(left.hi, right.hi, row.raw);
        // The line was rounded down: a nanosecond more may be missing.
        let below = line(left.lo, right.lo, row.raw) + 1 - row.lo as i128;
        if above.abs() > room || below.abs() > room {
            return None;
        }
        (lo, hi) = (lo.max(below), hi.max(above));
    }
    Some((i64::try_from(lo).ok()?, i64::try_from(hi).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points() -> impl Strategy<Value = Vec<(i64, i64)>> {
        let step = (1..1000i64, 0..1000i64);
        prop::collection::vec(step, 2..400).prop_map(|steps| {
            let sum = |at: &mut (i64, i64), (x, y): (i64, i64)| {
                *at = (at.0 + x, at.1 + y);
                Some(*at)
            };
            steps.into_iter().scan((0, 0), sum).collect()
        })
    }

    /// The line through points, at one of their first.
    fn line(points: &[(i64, i64)], x: i64) -> f64 {
        let right = points.partition_point(|p| p.0 < x).max(1);
        let (from, to) = (points[right - 1], points[right]);
        from.1 as f64 + (to.1 - from.1) as f64 * (x - from.0) as f64 / (to.0 - from.0) as f64
    }

    proptest! {
        #[test]
        fn few_knots_tell_the_others(knots in points(), most in 2..100usize) {
            let kept = knots_thinned_to(&knots, most);
            prop_assert!(kept.len() <= most && kept.iter().all(|k| knots.contains(k)));
            prop_assert_eq!((kept[0], kept[kept.len() - 1]), (knots[0], knots[knots.len() - 1]));
            let far = |kept: &[(i64, i64)]| {
                let off = |&(x, y): &(i64, i64)| (line(kept, x) - y as f64).abs();
                knots.iter().map(off).fold(0.0, f64::max)
            };
            // With one more allowed than there are, none is nearer; all of them are what they are.
            prop_assert!(far(&knots_thinned_to(&knots, knots.len())) == 0.0);
            prop_assert!(far(&kept) <= 2e5);
        }

        #[test]
        fn what_is_left_of_rows_holds_the_others(points in points(), half in prop::collection::vec(0..5000i64, 400), most in 8..100usize) {
            let row = |(&(raw, at), half): (&(i64, i64), &i64)| Row { raw, lo: at - half, hi: at + half };
            let rows = crate::interval::rows::tightened(points.iter().zip(&half).map(row).collect());
            for kept in [thinned(&rows, 0.1), thinned_to(rows.clone(), most)] {
                let los: Vec<(i64, i64)> = kept.iter().map(|r| (r.raw, r.lo)).collect();
                let his: Vec<(i64, i64)> = kept.iter().map(|r| (r.raw, r.hi)).collect();
                for row in &rows {
                    prop_assert!(line(&los, row.raw) <= row.lo as f64 + 1e-6);
                    prop_assert!(line(&his, row.raw) >= row.hi as f64 - 1e-6);
                }
            }
            prop_assert!(thinned_to(rows.clone(), most).len() <= most);
        }
    }
}
