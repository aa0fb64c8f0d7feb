//! The picture of a link as points: offset against time, with the estimate taken out. The page of `isochrone
//! view` and the report that `isochrone sync --html` writes draw the same.

use isochrone_time::{RawNs, Window};

use crate::{Clock, Clocks};

/// A message in a picture: when, and how much later by the common clock it was received than sent; of those
/// from b to a, that is negative.
pub type Dot = (i64, i64);

/// The bounds of b at an instant of a: the time of a, and, less the estimate, the earliest and the latest
/// time of b, and its likely error, ns.
pub type BoundsAt<T> = (T, Option<i64>, Option<i64>, Option<i64>);

/// The messages of a link.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkPicture {
    /// From a to b.
    pub forth: Vec<Dot>,
    /// From b to a.
    pub back: Vec<Dot>,
    /// The half hull that no message from a to b lies below.
    pub upper: Vec<Dot>,
    /// The half hull that no message from b to a lies above.
    pub lower: Vec<Dot>,
}

impl LinkPicture {
    /// Of all messages, with at most `max` dots each way. `O(n log n)`.
    pub fn new(forth: Vec<Dot>, back: Vec<Dot>, max: usize) -> Self {
        let (upper, lower) = (half_hull(&forth, 1), half_hull(&back, -1));
        Self { forth: thinned(forth, max), back: thinned(back, max), upper, lower }
    }
}

/// How far the clock of b can be from the estimate at a raw time of a, ns: at least, at most, likely. `None`
/// where nothing is proven.
pub fn between(clocks: &Clocks, a: &Clock, b: &Clock, raw: RawNs) -> Option<(i64, i64, i64)> {
    let related = clocks.related(a, b, raw).filter(|related| related.proven)?;
    let off = |time: RawNs| time.saturating_since(related.time);
    Some((off(related.bounds.0?), off(related.bounds.1?), related.e95?))
}

/// The bounds of a link at `steps` + 1 instants from the start of a window of a's time to its end.
pub fn bounds(
    clocks: &Clocks,
    a: &Clock,
    b: &Clock,
    window: Window<RawNs>,
    steps: i64,
) -> Vec<BoundsAt<RawNs>> {
    let (RawNs(start), RawNs(end)) = (window.start, window.end);
    let at = |step: i64| {
        let length = i128::from(end) - i128::from(start);
        let raw = RawNs(start + (length * i128::from(step) / i128::from(steps.max(1))) as i64);
        match between(clocks, a, b, raw) {
            Some((lo, hi, likely)) => (raw, Some(lo), Some(hi), Some(likely)),
            None => (raw, None, None, None),
        }
    };
    (0..=steps.max(1)).map(at).collect()
}

/// The half hull of some points that nothing lies below (`side` 1) or above (−1), by time. `O(n log n)`.
pub fn half_hull(points: &[Dot], side: i64) -> Vec<Dot> {
    let mut sorted: Vec<Dot> = points.iter().map(|&(at, delay)| (at, side * delay)).collect();
    sorted.sort_unstable();
    let mut out: Vec<Dot> = Vec::new();
    for point in sorted {
        while let &[.., before, last] = out.as_slice() {
            let (dx, dy) = (i128::from(last.0 - before.0), i128::from(last.1 - before.1));
            let (px, py) = (i128::from(point.0 - before.0), i128::from(point.1 - before.1));
            // The last one stays where the way turns upward at it.
            if dx * py - dy * px > 0 {
                break;
            }
            out.pop();
        }
        if out.last().is_none_or(|last| last.0 != point.0) {
            out.push(point);
        }
    }
    out.into_iter().map(|(at, delay)| (at, side * delay)).collect()
}

/// At most `max` of some points: of each group of neighbours the one with the least delay, which says most.
pub fn thinned(points: Vec<Dot>, max: usize) -> Vec<Dot> {
    if points.len() <= max {
        return points;
    }
    let group = points.len().div_ceil(max.max(1));
    points.chunks(group).filter_map(|group| group.iter().copied().min_by_key(|dot| dot.1.abs())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_lies_on_the_wrong_side_of_a_half_hull() {
        let check =
            |points: &[Dot], side, expect: &[Dot]| assert_eq!(half_hull(points, side), expect, "{points:?}");
        check(&[], 1, &[]);
        check(&[(0, 5), (10, 1), (20, 5)], 1, &[(0, 5), (10, 1), (20, 5)]);
        check(&[(0, 1), (10, 5), (20, 1)], 1, &[(0, 1), (20, 1)]);
        check(&[(0, -1), (10, -5), (20, -1)], -1, &[(0, -1), (20, -1)]);
        check(&[(0, 3), (0, 1), (5, 9)], 1, &[(0, 1), (5, 9)]);
    }

    #[test]
    fn of_many_dots_those_of_least_delay_are_left() {
        let dots = (0..100).map(|at| (at, -(at % 10) - 1)).collect();
        let picture = LinkPicture::new(Vec::new(), dots, 10);
        assert_eq!(picture.back, (0..10).map(|at| (at * 10, -1)).collect::<Vec<_>>());
        assert_eq!(picture.lower.first().zip(picture.lower.last()), Some((&(0, -1), &(99, -10))));
    }
}
