//! The corridor of a link: all affine relations between two clocks that no message contradicts.
//!
//! Two half hulls ([`crate::hull`]) hold what the messages of either direction prove. From them come the
//! range of rates that the messages alone allow ([`Corridor::rates`]) and, with a prior on the rate, the
//! bounds at any instant ([`crate::bounded::Bounded`]) and the best line ([`crate::margin::MarginLine`]).
//!
//! The relation maps x, the time of clock a, to y, the time of clock b. Only relations that increase are
//! relations of clocks.

use crate::bounded::Bounded;
use crate::error::ClockError;
use crate::hull::{HalfHull, Side};
use crate::point::Point;
use crate::slope::{Slope, SlopeRange};

/// The rates that the messages of a corridor allow, or why there is none.
pub type Feasible = Result<SlopeRange, Infeasible>;

/// Why no increasing affine relation satisfies all messages, with the messages that say so.
///
/// In every pair the first point is a lower point (b → a), the second an upper point (a → b).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Infeasible {
    /// Two messages at the same instant of a exclude each other.
    #[error("two messages at the same instant exclude each other")]
    SameInstant {
        /// The two messages.
        pair: (Point, Point),
    },
    /// One pair of messages needs a rate above what another pair allows.
    #[error("some messages need a rate of at least {:+.3} ppm, others of at most {:+.3} ppm", min.ppm(), max.ppm())]
    Crossed {
        /// The least rate that `min_pair` allows.
        min: Slope,
        /// The greatest rate that `max_pair` allows; below `min`.
        max: Slope,
        /// The messages that prove `min`.
        min_pair: (Point, Point),
        /// The messages that prove `max`.
        max_pair: (Point, Point),
    },
    /// Only relations that do not increase satisfy all messages: one clock would run backwards.
    #[error("one clock would run backwards with respect to the other")]
    Backwards {
        /// The greatest rate allowed; not positive.
        max: Slope,
        /// The messages that prove it.
        max_pair: (Point, Point),
    },
    /// The rates would differ by more than [`crate::slope::MAX_RATE_FACTOR`].
    #[error("no two clocks run at rates this far apart")]
    NotAClock {
        /// The rates that the messages allow.
        rates: SlopeRange,
    },
}

/// All that the messages of a link say. Size: the vertices of two half hulls, whatever the number of
/// messages.
///
/// ```
/// use isochrone_clock::Corridor;
/// let mut link = Corridor::new();
/// for t in [0, 1_000_000_000] {
///     link.a_to_b(t, t + 5_100)?; // b is about 5 µs ahead, and a message takes at least 100 ns
///     link.b_to_a(t + 5_200, t + 300)?;
/// }
/// let rates = link.rates()?;
/// assert!(rates.min.is_some_and(|r| r.ppm() < 0.0) && rates.max.is_some_and(|r| r.ppm() > 0.0));
/// assert_eq!(link.messages(), (2, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corridor {
    upper: HalfHull,
    lower: HalfHull,
    a_to_b: u64,
    b_to_a: u64,
    x_range: Option<(i64, i64)>,
    y_range: Option<(i64, i64)>,
}

impl Corridor {
    /// A link without messages.
    pub const fn new() -> Self {
        Self {
            upper: HalfHull::new(Side::Upper),
            lower: HalfHull::new(Side::Lower),
            a_to_b: 0,
            b_to_a: 0,
            x_range: None,
            y_range: None,
        }
    }

    /// A message that a sent at `sent_x` (a's time) and b received at `received_y` (b's time). O(log h)
    /// almost always.
    ///
    /// # Errors
    /// [`ClockError::TimeOutOfRange`]; the corridor is then unchanged.
    pub fn a_to_b(&mut self, sent_x: i64, received_y: i64) -> Result<(), ClockError> {
        let point = Point::new(sent_x, received_y)?;
        self.a_to_b += 1;
        self.see(point);
        self.upper.insert(point);
        Ok(())
    }

    /// A message that b sent at `sent_y` (b's time) and a received at `received_x` (a's time). O(log h)
    /// almost always.
    ///
    /// # Errors
    /// [`ClockError::TimeOutOfRange`]; the corridor is then unchanged.
    pub fn b_to_a(&mut self, sent_y: i64, received_x: i64) -> Result<(), ClockError> {
        let point = Point::new(received_x, sent_y)?;
        self.b_to_a += 1;
        self.see(point);
        self.lower.insert(point);
        Ok(())
    }

    /// Adds all messages of another corridor between the same clocks, in the same order of clocks.
    pub fn merge(&mut self, other: &Self) {
        self.upper.merge(&other.upper);
        self.lower.merge(&other.lower);
        self.a_to_b += other.a_to_b;
        self.b_to_a += other.b_to_a;
        self.x_range = cover(self.x_range, other.x_range);
        self.y_range = cover(self.y_range, other.y_range);
    }

    /// The same link with the clocks in the other order: all increasing relations of the result are the
    /// inverses of those here.
    ///
    /// The vertices suffice: an increasing line that touches the points from one side touches them at a
    /// vertex. Vertices that only a decreasing line could touch may be dropped, so mirroring twice gives back
    /// the same corridor for all that concerns increasing relations, and exactly the same from the second
    /// time on.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        Self {
            upper: swapped(&self.lower, Side::Upper),
            lower: swapped(&self.upper, Side::Lower),
            a_to_b: self.b_to_a,
            b_to_a: self.a_to_b,
            x_range: self.y_range,
            y_range: self.x_range,
        }
    }

    /// The messages from a to b that matter.
    pub fn upper(&self) -> &HalfHull {
        &self.upper
    }

    /// The messages from b to a that matter.
    pub fn lower(&self) -> &HalfHull {
        &self.lower
    }

    /// Number of messages (a to b, b to a), all of them.
    pub fn messages(&self) -> (u64, u64) {
        (self.a_to_b, self.b_to_a)
    }

    /// First and last time of clock a in any message.
    pub fn x_range(&self) -> Option<(i64, i64)> {
        self.x_range
    }

    /// First and last time of clock b in any message.
    pub fn y_range(&self) -> Option<(i64, i64)> {
        self.y_range
    }

    /// The rates (db/da) that the messages alone allow. A minimum that is not positive says nothing about
    /// clocks, but is what the messages prove, and is reported as it is. O(h₁·h₂).
    ///
    /// # Errors
    /// [`Infeasible`] when no increasing relation satisfies all messages.
    pub fn rates(&self) -> Feasible {
        let mut min: Option<(Slope, (Point, Point))> = None;
        let mut max: Option<(Slope, (Point, Point))> = None;
        for &lower in self.lower.vertices() {
            for &upper in self.upper.vertices() {
                if let Some(slope) = Slope::between(lower, upper) {
                    if max.is_none_or(|(known, _)| slope < known) {
                        max = Some((slope, (lower, upper)));
                    }
                } else if let Some(slope) = Slope::between(upper, lower) {
                    if min.is_none_or(|(known, _)| slope > known) {
                        min = Some((slope, (lower, upper)));
                    }
                } else if lower.y() > upper.y() {
                    return Err(Infeasible::SameInstant { pair: (lower, upper) });
                }
            }
        }
        if let (Some((min, min_pair)), Some((max, max_pair))) = (min, max)
            && min > max
        {
            return Err(Infeasible::Crossed { min, max, min_pair, max_pair });
        }
        if let Some((max, max_pair)) = max
            && !max.is_positive()
        {
            return Err(Infeasible::Backwards { max, max_pair });
        }
        Ok(SlopeRange { min: min.map(|(slope, _)| slope), max: max.map(|(slope, _)| slope) })
    }

    /// (db/da − 1)·10⁶ from the messages alone: least and greatest; `None` where unbounded or infeasible.
    pub fn rate_ppm(&self) -> (Option<f64>, Option<f64>) {
        let rates = self.rates().unwrap_or_default();
        (rates.min.map(Slope::ppm), rates.max.map(Slope::ppm))
    }

    /// The corridor within a prior range of rates. When the messages contradict the prior, the messages win
    /// and the result says so.
    ///
    /// # Errors
    /// [`Infeasible`] as for [`Corridor::rates`], or when the rates are not those of clocks.
    pub fn within(&self, prior: SlopeRange) -> Result<Bounded, Infeasible> {
        let rates = self.rates()?;
        let narrowed = rates.intersect(prior);
        let (band, prior_contradicted) = match narrowed.closed().filter(|_| !narrowed.is_empty()) {
            Some(band) => (band, false),
            None => (rates.closed().ok_or(Infeasible::NotAClock { rates })?, true),
        };
        Ok(Bounded::new(self.clone(), band, prior_contradicted))
    }

    /// The corridor when every message may be wrong by `ns` against us: upper points raised, lower points
    /// lowered. Only the vertices are kept. Counts and ranges stay.
    ///
    /// # Errors
    /// [`ClockError::TimeOutOfRange`] when a moved point is out of range.
    pub fn relaxed(&self, ns: i64) -> Result<Self, ClockError> {
        let moved = |hull: &HalfHull, by: i64| {
            let mut out = HalfHull::new(hull.side());
            for v in hull.vertices() {
                out.insert(Point::new(v.x(), v.y().saturating_add(by))?);
            }
            Ok::<_, ClockError>(out)
        };
        Ok(Self {
            upper: moved(&self.upper, ns)?,
            lower: moved(&self.lower, ns.saturating_neg())?,
            ..self.clone()
        })
    }

    fn see(&mut self, point: Point) {
        self.x_range = cover(self.x_range, Some((point.x(), point.x())));
        self.y_range = cover(self.y_range, Some((point.y(), point.y())));
    }
}

impl Default for Corridor {
    fn default() -> Self {
        Self::new()
    }
}

fn swapped(hull: &HalfHull, side: Side) -> HalfHull {
    let mut out = HalfHull::new(side);
    for vertex in hull.vertices() {
        out.insert(vertex.swapped());
    }
    out
}

fn cover(a: Option<(i64, i64)>, b: Option<(i64, i64)>) -> Option<(i64, i64)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    type Messages = Vec<(i64, i64)>;

    /// A corridor of these messages from a to b and from b to a, as points (a's time, b's time).
    pub(crate) fn corridor(upper: &[(i64, i64)], lower: &[(i64, i64)]) -> Corridor {
        let mut c = Corridor::new();
        for &(x, y) in upper {
            c.a_to_b(x, y).unwrap();
        }
        for &(x, y) in lower {
            c.b_to_a(y, x).unwrap();
        }
        c
    }

    #[test]
    fn one_direction_bounds_no_rate() {
        let c = corridor(&[(0, 5), (9, 20)], &[]);
        assert_eq!(c.rates(), Ok(SlopeRange::UNBOUNDED));
        assert_eq!(c.rate_ppm(), (None, None));
        assert_eq!((c.x_range(), c.y_range()), (Some((0, 9)), Some((5, 20))));
    }

    #[test]
    fn contradictions_name_their_messages() {
        let same = corridor(&[(3, 1)], &[(3, 2)]);
        assert!(
            matches!(same.rates(), Err(Infeasible::SameInstant { pair: (l, u) }) if l.y() == 2 && u.y() == 1)
        );
        let crossed = corridor(&[(0, 0), (20, 1)], &[(10, 5)]);
        assert!(matches!(crossed.rates(), Err(Infeasible::Crossed { min, max, .. }) if min > max));
        let backwards = corridor(&[(10, 0)], &[(0, 5)]);
        assert!(matches!(backwards.rates(), Err(Infeasible::Backwards { .. })));
        let jump = corridor(&[(0, 0)], &[(1, 5000)]);
        assert!(matches!(jump.within(SlopeRange::prior(500)), Err(Infeasible::NotAClock { .. })));
    }

    #[test]
    fn the_messages_win_over_the_prior() {
        let guest = corridor(&[(0, 5), (1000, 4105)], &[(5, 0), (1005, 4100)]);
        let bounded = guest.within(SlopeRange::prior(500)).unwrap();
        assert!(bounded.prior_contradicted());
        assert!(bounded.band().min() > Slope::new(4, 1).unwrap());
    }

    #[test]
    fn out_of_range_changes_nothing() {
        let mut c = Corridor::default();
        assert!(c.a_to_b(0, i64::MAX).is_err() && c.b_to_a(i64::MIN, 0).is_err());
        assert_eq!(c, Corridor::new());
        let edge = corridor(&[(0, crate::MAX_ABS_NS)], &[]);
        assert!(edge.relaxed(1).is_err() && edge.relaxed(0).is_ok());
    }

    /// Whether slope dy/dx leaves room between all upper and lower points.
    fn admits(dy: i64, dx: i64, upper: &Messages, lower: &Messages) -> bool {
        let cost = |&(x, y): &(i64, i64)| y * dx - dy * x;
        lower.iter().map(cost).max().unwrap_or(i64::MIN) <= upper.iter().map(cost).min().unwrap_or(i64::MAX)
    }

    fn messages() -> impl Strategy<Value = Messages> {
        prop::collection::vec((-40i64..40, -40i64..40), 0..10)
    }

    proptest! {
        #[test]
        fn rates_are_those_that_all_messages_admit(upper in messages(), lower in messages(), lift in 0i64..60) {
            let upper: Messages = upper.into_iter().map(|(x, y)| (x, y + lift)).collect();
            let rates = corridor(&upper, &lower).rates();
            for dx in 1..8 {
                for dy in 1..40 {
                    let inside = rates.is_ok_and(|r| r.contains(Slope::new(dy, dx).unwrap()));
                    prop_assert_eq!(inside, admits(dy, dx, &upper, &lower), "{}/{}", dy, dx);
                }
            }
        }

        #[test]
        fn merge_is_union(u in messages(), l in messages(), v in messages(), m in messages()) {
            let mut merged = corridor(&u, &l);
            merged.merge(&corridor(&v, &m));
            prop_assert_eq!(merged, corridor(&[u, v].concat(), &[l, m].concat()));
        }

        #[test]
        fn mirroring_twice_is_identity_once_settled(u in messages(), l in messages()) {
            let once = corridor(&u, &l).mirrored();
            prop_assert_eq!(once.mirrored().mirrored(), once);
        }

        #[test]
        fn mirroring_twice_is_identity_for_clocks(
            u in prop::collection::vec((0i64..2000, 0i64..30), 0..12),
            l in prop::collection::vec((0i64..2000, 0i64..30), 0..12),
        ) {
            // Messages between clocks whose span is long against the delays: no vertex belongs to a
            // decreasing line only.
            let u: Messages = u.into_iter().map(|(x, d)| (x * 100, x * 100 + d)).collect();
            let l: Messages = l.into_iter().map(|(x, d)| (x * 100, x * 100 - d)).collect();
            let c = corridor(&u, &l);
            prop_assert_eq!(c.mirrored().mirrored(), c);
        }
    }
}
