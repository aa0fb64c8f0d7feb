//! Rows of an interval without those that the others imply well enough: [`crate::outline`] and [`crate::link_interval`] leave out
//! what says nothing new, and widen what is left by what that hides.

use crate::exact::floor_div;
use crate::interval::limited;
use crate::uncertainty::Row;

/// The rows without those that the ones around them imply well enough; what they imply too little by, the ones around them are
/// widened by. `share` of the half width is little enough.
pub(crate) fn thinned(rows: &[Row], share: f64) -> Vec<Row> {
    /// So many rows at most are left out one after the other.
    const FARTHEST: usize = 128;
    let Some(first) = rows.first() else { return Vec::new() };
    let mut kept = vec![*first];
    // By how much (lo, hi) of the rows between the last two kept lie outside of the lines between them.
    let mut beyond: Vec<(i64, i64)> = Vec::new();
    let mut from = 0;
    while from + 1 < rows.len() {
        let (mut next, mut outside) = (from + 1, (0, 0));
        for to in (from + 2)..rows.len().min(from + FARTHEST) {
            let Some(found) = told(&rows[from], &rows[to], &rows[from + 1..to], share) else { break };
            (next, outside) = (to, found);
        }
        kept.push(rows[next]);
        beyond.push(outside);
        from = next;
    }
    for (at, &(lo, hi)) in beyond.iter().enumerate() {
        for row in &mut kept[at..=at + 1] {
            // Both intervals at a row may want it wider.
            let original = rows.binary_search_by_key(&row.raw, |r| r.raw).map_or(*row, |i| rows[i]);
            row.lo = row.lo.min(limited(original.lo.saturating_sub(lo)));
            row.hi = row.hi.max(limited(original.hi.saturating_add(hi)));
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
        let room = ((row.hi as i128 - row.lo as i128) as f64 / 2.0 * share) as i128;
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
