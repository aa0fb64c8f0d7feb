//! What the estimator knows of one direction of a link: the messages near its floor, and how many there were.
//!
//! A link keeps few of its messages. [`DirectionSample`] holds those, and two sums over all of them.
//! [`crate::estimate::folds`] and [`crate::estimate::suspect`] take two floors; inside, both directions are
//! *turned* to look the same: the lower points are reflected through the origin, (x, y) → (−x, −y), which
//! leaves slopes alone and makes "the relation passes above" into "the relation passes below".

use std::borrow::Cow;

use crate::exact::floor_div;
use crate::geometry::{Corridor, Point, Side, Window};

/// Number of folds that the messages of a direction are dealt out to.
///
/// Relative to no folds, on virtual machines with known truth: 3, 4, 5, 8, 10 folds give 0.83, 0.51, 0.76,
/// 0.86, 0.90 of the error, in simulation 1.07, 1.06, 1.03, 1.01, 1.01.
pub const FOLDS: usize = 5;

/// One message that was kept, and the fold it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RetainedPoint {
    /// Time on a's clock, time on b's clock.
    pub point: Point,
    /// Which of the `FOLDS` folds the message is in, modulo their number.
    pub fold: u8,
}

/// One direction of a link: the messages kept, sorted by x and then y, and what all messages were like.
///
/// ```
/// use isochrone_clock::Point;
/// use isochrone_clock::{DirectionSample, RetainedPoint};
/// let kept = [RetainedPoint { point: Point::new(10, 30)?, fold: 0 }];
/// let floor = DirectionSample::new(&kept[..], 3, 36); // three messages, at 36 / 3 = 12 on average
/// assert_eq!((floor.kept().len(), floor.count()), (1, 3));
/// # Ok::<(), isochrone_clock::ClockError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectionSample<'a> {
    kept: Cow<'a, [RetainedPoint]>,
    count: u64,
    sum_x: i128,
}

impl<'a> DirectionSample<'a> {
    /// The messages of a direction: `kept`, among them every vertex of the direction's convex chain and the
    /// messages of least slack, of `count` messages whose x add up to `sum_x`, the kept ones included.
    ///
    /// Points that are not sorted are sorted; a count below the number of points is raised to it.
    pub fn new(kept: impl Into<Cow<'a, [RetainedPoint]>>, count: u64, sum_x: i128) -> Self {
        let mut kept = kept.into();
        if !kept.is_sorted() {
            kept.to_mut().sort_unstable();
        }
        let count = count.max(kept.len() as u64);
        Self { kept, count, sum_x }
    }

    /// A direction with every message kept; folds are dealt out in the order of time.
    pub fn of_all(points: impl IntoIterator<Item = Point>) -> Self {
        let mut points: Vec<Point> = points.into_iter().collect();
        points.sort_unstable();
        let sum_x = points.iter().map(|p| p.x as i128).sum();
        let count = points.len() as u64;
        let fold = |(rank, point)| RetainedPoint { point, fold: (rank % FOLDS) as u8 };
        Self::new(points.into_iter().enumerate().map(fold).collect::<Vec<_>>(), count, sum_x)
    }

    /// The messages kept, sorted.
    pub fn kept(&self) -> &[RetainedPoint] {
        &self.kept
    }

    /// Number of messages, those not kept included.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Takes one message at `point` away, if one was kept there.
    pub(crate) fn remove(&mut self, point: Point) {
        let at = self.kept.partition_point(|k| k.point < point);
        if self.kept.get(at).is_some_and(|k| k.point == point) {
            self.kept.to_mut().remove(at);
            self.count -= 1;
            self.sum_x = self.sum_x.saturating_sub(point.x as i128);
        }
    }

    /// The kept messages as upper points, sorted: reflected if they are lower ones.
    pub(crate) fn turned(&self, side: Side) -> Vec<RetainedPoint> {
        match side {
            Side::Upper => self.kept.to_vec(),
            Side::Lower => {
                self.kept.iter().rev().map(|k| RetainedPoint { point: k.point.reflected(), ..*k }).collect()
            }
        }
    }

    /// The mean of x − `origin` over the messages that were *not* kept, and their number; (0, 0) when all
    /// were kept.
    ///
    /// A sum that cannot be (the mean lies outside the kept messages, which span all) is brought back into
    /// their range.
    pub(crate) fn rest(&self, origin: i64) -> (f64, f64) {
        let kept_sum: i128 = self.kept.iter().map(|k| k.point.x as i128).sum();
        let number = self.count - self.kept.len() as u64;
        let (Some(first), Some(last)) = (self.kept.first(), self.kept.last()) else { return (0.0, 0.0) };
        if number == 0 {
            return (0.0, 0.0);
        }
        let sum = self.sum_x.saturating_sub(kept_sum);
        let whole = floor_div(sum, number as i128);
        let part = sum.rem_euclid(number as i128) as f64 / number as f64;
        let from_origin = |x: i64| (x as i128 - origin as i128) as f64;
        let mean = (whole.saturating_sub(origin as i128)) as f64 + part;
        (mean.clamp(from_origin(first.point.x), from_origin(last.point.x)), number as f64)
    }
}

impl Corridor {
    /// The messages of one side as an estimator wants them: folds are dealt out to windows in the order of
    /// time.
    pub fn sample(&self, side: Side) -> DirectionSample<'static> {
        sample_of(self.windows(), side)
    }
}

/// The messages of one side in some windows, as [`Corridor::sample`] gives those of all.
pub(crate) fn sample_of(windows: &[Window], side: Side) -> DirectionSample<'static> {
    let flows = windows.iter().map(|w| w.flow(side)).filter(|f| f.count > 0);
    let dealt = flows.clone().zip((0..FOLDS as u8).cycle());
    let kept = dealt.flat_map(|(flow, fold)| {
        flow.hull.vertices().iter().map(move |&point| RetainedPoint { point, fold })
    });
    let (count, sum_x) = flows.fold((0, 0), |(count, sum), f| (count + f.count, sum + f.sum_x));
    DirectionSample::new(kept.collect::<Vec<_>>(), count, sum_x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(all: &[(i64, i64)]) -> Vec<Point> {
        all.iter().map(|&(x, y)| Point::new(x, y).unwrap()).collect()
    }

    #[test]
    fn order_does_not_matter_and_folds_follow_time() {
        let floor = DirectionSample::of_all(points(&[(9, 1), (3, 2), (3, 1), (5, 0), (8, 0), (7, 0)]));
        let folds: Vec<_> = floor.kept().iter().map(|k| (k.point.x, k.fold)).collect();
        assert_eq!(folds, [(3, 0), (3, 1), (5, 2), (7, 3), (8, 4), (9, 0)]);
        let mut backwards = floor.kept().to_vec();
        backwards.reverse();
        assert_eq!(DirectionSample::new(backwards, 6, 35), floor);
        assert_eq!(DirectionSample::new(floor.kept().to_vec(), 0, 35).count(), 6);
    }

    #[test]
    fn the_rest_is_what_was_not_kept() {
        let kept: Vec<RetainedPoint> =
            points(&[(10, 0), (20, 0)]).into_iter().map(|point| RetainedPoint { point, fold: 0 }).collect();
        let check =
            |count, sum, expect| assert_eq!(DirectionSample::new(&kept[..], count, sum).rest(10), expect);
        check(2, 30, (0.0, 0.0));
        check(4, 30 + 27, (3.5, 2.0));
        check(4, i128::MAX, (10.0, 2.0));
        check(u64::MAX, i128::MIN, (0.0, (u64::MAX - 2) as f64));
    }

    #[test]
    fn removing_takes_one_message() {
        let mut floor = DirectionSample::of_all(points(&[(1, 1), (1, 1), (2, 2)]));
        floor.remove(Point::new(1, 1).unwrap());
        floor.remove(Point::new(5, 5).unwrap());
        assert_eq!((floor.kept().len(), floor.count(), floor.sum_x), (2, 2, 3));
    }
}
