//! Rows of an interval without those that the others imply well enough: [`crate::outline`] and [`crate::link_interval`] leave out
//! what says nothing new, and widen what is left by what that hides.

use crate::exact::floor_div;
use crate::interval::limited;
use crate::uncertainty::Row;

/// So many rows at most are left out one after the other.
const FARTHEST: usize = 128;
/// Where more than this share of the half width has to be given for fewer rows, they are left out evenly.
const MOST_SHARE: f64 = 0.5;

/// The rows without those that the ones around them imply well enough; what they imply too little by, the ones around them are
/// widened by. `share` of the half width is little enough.
pub(crate) fn thinned(rows: &[Row], share: f64) -> Vec<Row> {
    left_out(rows, |from| {
        let mut next = (from + 1, (0, 0));
        for to in (from + 2)..rows.len().min(from + FARTHEST) {
            let Some(outside) = told(&rows[from], &rows[to], &rows[from + 1..to], share) else { break };
            next = (to, outside);
        }
        next
    })
}

/// At most so many rows, about: those that say the most.
pub(crate) fn fewer(mut rows: Vec<Row>, most: usize) -> Vec<Row> {
    let mut share = 0.01;
    while rows.len() > most && share < MOST_SHARE {
        rows = thinned(&rows, share);
        share *= 1.5;
    }
    if rows.len() <= most {
        return rows;
    }
    // Every so many of them.
    let step = rows.len().div_ceil(most.max(2) - 1);
    left_out(&rows, |from| {
        let to = (from + step).min(rows.len() - 1);
        // Without a limit to how far inside the others lie, there is an answer but for numbers that are out of range.
        told(&rows[from], &rows[to], &rows[from + 1..to], f64::INFINITY)
            .map_or((from + 1, (0, 0)), |outside| (to, outside))
    })
}

/// The rows that are kept, from the first one on: `next` of each of them, with by how much (lo, hi) the rows between lie outside of the lines
/// between the two.
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

/// By how much rows lie outside of the lines between two others, at most; `None` if that, or how far they lie inside, is more than
/// a small share of their width.
fn told(left: &Row, right: &Row, between: &[Row], share: f64) -> Option<(i64, i64)> {
    let line = |a: i64, b: i64, raw: i64| {
        let rise = (b as i128 - a as i128) * (raw - left.raw) as i128;
        a as i128 + floor_div(rise, (right.raw - left.raw) as i128)
    };
    let (mut lo, mut hi) = (0, 0);
    for row in between {
        // An infinite share of nothing is no number.
        let half = (row.hi as i128 - row.lo as i128).max(1) as f64 / 2.0;
        let room = (half * share) as i128;
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
