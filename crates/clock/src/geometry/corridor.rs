//! The corridor of a link: all affine relations between two clocks that no message contradicts.
//!
//! Windows of half hulls ([`crate::geometry::window`], [`crate::geometry::hull`]) hold what the messages of
//! either direction prove, and when. From them come the range of rates that the messages alone allow
//! ([`Corridor::rates`]) and, with a prior on the rate, the bounds at any instant
//! ([`crate::geometry::bounded::Bounded`]) and the best line ([`crate::geometry::margin::MarginLine`]).
//!
//! The relation maps x, the time of clock a, to y, the time of clock b. Only relations that increase are
//! relations of clocks.

use crate::MAX_ABS_NS;
use crate::error::ClockError;
use crate::geometry::hull::{HalfHull, Side};
use crate::geometry::slope::{Slope, SlopeRange};
use crate::geometry::window::{Flow, MAX_FINE_WINDOWS, Window, Windows};
use crate::geometry::{listed::Listed, point::Point};
use crate::span::Span;

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
    /// The rates would differ by more than `crate::geometry::slope::MAX_RATE_FACTOR`.
    #[error("no two clocks run at rates this far apart")]
    NotAClock {
        /// The rates that the messages allow.
        rates: SlopeRange,
    },
}

/// All that the messages of a link say. Size: bounded, whatever the number of messages
/// (`crate::geometry::window`).
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
    windows: Windows,
    listed: Listed,
    /// By how much arrivals count as later than they were recorded, at a and at b, ns.
    late: [u32; 2],
    x_range: Option<Span>,
    y_range: Option<Span>,
}

impl Corridor {
    /// A link without messages.
    pub const fn new() -> Self {
        Self {
            windows: Windows::new(),
            listed: Listed::new(MAX_FINE_WINDOWS),
            late: [0; 2],
            x_range: None,
            y_range: None,
        }
    }

    /// The same with at most `windows` windows: what a merged window hides can only widen bounds of clocks
    /// that are steered.
    #[must_use]
    pub fn limited_to(mut self, windows: usize) -> Self {
        self.windows.limit_to(windows);
        self.listed.limit_to(windows);
        self
    }

    /// A message that a sent at `sent_x` (a's time) and b received at `received_y` (b's time). O(log n), and
    /// O(windows) at times.
    ///
    /// # Errors
    /// [`ClockError::TimeOutOfRange`]; the corridor is then unchanged.
    pub fn a_to_b(&mut self, sent_x: i64, received_y: i64) -> Result<(), ClockError> {
        self.insert(Side::Upper, Point::new(sent_x, received_y)?);
        Ok(())
    }

    /// A message that b sent at `sent_y` (b's time) and a received at `received_x` (a's time). O(log n), and
    /// O(windows) at times.
    ///
    /// # Errors
    /// [`ClockError::TimeOutOfRange`]; the corridor is then unchanged.
    pub fn b_to_a(&mut self, sent_y: i64, received_x: i64) -> Result<(), ClockError> {
        self.insert(Side::Lower, Point::new(received_x, sent_y)?);
        Ok(())
    }

    /// A message as a point: from a to b on the upper side, from b to a on the lower.
    pub fn insert(&mut self, side: Side, point: Point) {
        self.windows.insert(side, point);
        self.listed.insert(side, point);
        self.see(point);
    }

    /// Adds all messages of another corridor between the same clocks, in the same order of clocks. The result
    /// is that of inserting all messages of both, in any order.
    pub fn merge(&mut self, other: Self) {
        self.windows.merge(other.windows);
        self.listed.merge(other.listed);
        self.late = [0, 1].map(|end| self.late[end].max(other.late[end]));
        self.x_range = cover(self.x_range, other.x_range);
        self.y_range = cover(self.y_range, other.y_range);
    }

    /// The same link with the clocks in the other order: all increasing relations of the result are the
    /// inverses of those here.
    ///
    /// The vertices suffice: an increasing line that touches the points of a window from one side touches
    /// them at a vertex.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        let flow = |side: Side, flow: &Flow| Flow {
            count: flow.count,
            sum_x: flow.sum_y,
            sum_y: flow.sum_x,
            ..Flow::new(side.other())
        };
        Self {
            windows: self.remapped(|_, p| Some(p.swapped()), flow),
            listed: self.listed.mapped(|side, p| Some((side.other(), p.swapped()))),
            late: [self.late[1], self.late[0]],
            x_range: self.y_range,
            y_range: self.x_range,
        }
    }

    /// The same link where each arrival counts as later than it was recorded, at a by `at_a` ns and at b by
    /// `at_b`: the latest instants that coarse stamps can mean. That moves each half hull as a whole, so that
    /// nothing but the grid can hide anything. Of messages whose times would then be beyond ±[`MAX_ABS_NS`],
    /// nothing is kept. O(k log k) for k vertices.
    #[must_use]
    pub fn arriving_later(self, at_a: u32, at_b: u32) -> Self {
        if (at_a, at_b) == (0, 0) {
            return self;
        }
        let by = |side| if side == Side::Upper { (0, at_b) } else { (at_a, 0) };
        let later = |side, p: Point| p.later(by(side).0, by(side).1);
        let flow = |side, flow: &Flow| {
            let (by_x, by_y) = by(side);
            let sum = |sum: i128, by: u32| sum + i128::from(flow.count) * i128::from(by);
            let (sum_x, sum_y) = (sum(flow.sum_x, by_x), sum(flow.sum_y, by_y));
            Flow { count: flow.count, sum_x, sum_y, ..Flow::new(side) }
        };
        let until = |range: Span, by: u32| Span { end: (range.end + i64::from(by)).min(MAX_ABS_NS), ..range };
        Self {
            windows: self.remapped(later, flow),
            listed: self.listed.mapped(|side, p| Some((side, later(side, p)?))),
            late: [self.late[0].saturating_add(at_a), self.late[1].saturating_add(at_b)],
            x_range: self.x_range.map(|range| until(range, at_a)),
            y_range: self.y_range.map(|range| until(range, at_b)),
        }
    }

    /// The windows of the same messages as other points: `point` says where a vertex of a side comes to lie,
    /// `of_flow` on which side, and with which sums. The vertices are inserted one by one, as they may be of
    /// several windows now. What is known of messages that are not kept goes where the first vertex is.
    fn remapped(
        &self,
        point: impl Fn(Side, Point) -> Option<Point>,
        of_flow: impl Fn(Side, &Flow) -> Flow,
    ) -> Windows {
        let mut windows = Windows::limited(self.windows.limit());
        for (window, side) in self.windows().iter().flat_map(|w| Side::BOTH.map(|side| (w, side))) {
            let flow = window.flow(side);
            let mut rest = of_flow(side, flow);
            let mut first = None;
            for vertex in flow.hull.vertices().iter().filter_map(|&p| point(side, p)) {
                rest.count = rest.count.saturating_sub(1);
                rest.sum_x -= i128::from(vertex.x);
                rest.sum_y -= i128::from(vertex.y);
                windows.insert(rest.hull.side(), vertex);
                first.get_or_insert(vertex);
            }
            if let Some(first) = first {
                rest.hull.insert(first);
                windows.insert_flow(rest.hull.side(), &rest);
            }
        }
        windows
    }

    /// The messages by time: at most `crate::geometry::window::MAX_FINE_WINDOWS` windows, none of them empty.
    pub fn windows(&self) -> &[Window] {
        self.windows.list()
    }

    /// The half hull of all messages from a to b.
    pub fn upper(&self) -> HalfHull {
        self.hull(Side::Upper)
    }

    /// The half hull of all messages from b to a.
    pub fn lower(&self) -> HalfHull {
        self.hull(Side::Lower)
    }

    /// The half hull of all messages of a side; linear in what is kept.
    pub fn hull(&self, side: Side) -> HalfHull {
        let mut all = HalfHull::new(side);
        self.points(side).for_each(|p| all.append(p));
        all
    }

    /// The retained messages of one side, by x.
    pub fn points(&self, side: Side) -> impl Iterator<Item = Point> + Clone + '_ {
        self.windows().iter().flat_map(move |w| w.flow(side).hull.vertices().iter().copied())
    }

    /// The retained messages of both sides, the upper first, each by x.
    pub(crate) fn all_points(&self) -> impl Iterator<Item = (Side, Point)> + '_ {
        Side::BOTH.into_iter().flat_map(|side| self.points(side).map(move |point| (side, point)))
    }

    /// By how much arrivals count as later than they were recorded, at a and at b, ns.
    pub(crate) fn late(&self) -> [u32; 2] {
        self.late
    }

    /// All messages, if they are few enough to be listed.
    pub(crate) fn all_listed(&self) -> &Listed {
        &self.listed
    }

    /// Number of messages (a to b, b to a), all of them.
    pub fn messages(&self) -> (u64, u64) {
        let sum = |side| self.windows().iter().map(|w| w.flow(side).count).sum();
        (sum(Side::Upper), sum(Side::Lower))
    }

    /// Number of messages of the direction that has fewer.
    pub(crate) fn fewer_messages(&self) -> u64 {
        let (forth, back) = self.messages();
        forth.min(back)
    }

    /// First and last time of clock a in any message.
    pub(crate) fn x_range(&self) -> Option<Span> {
        self.x_range
    }

    /// First and last time of clock b in any message.
    pub(crate) fn y_range(&self) -> Option<Span> {
        self.y_range
    }

    /// The messages of the windows that start in a span of a's time.
    #[must_use]
    pub fn during(&self, from: i64, to: i64) -> Self {
        let mut part = Self::new();
        part.windows = self.windows.during(from, to);
        part.listed = Listed::UNKNOWN;
        // The ends of a window are among its vertices.
        part.all_points().collect::<Vec<_>>().into_iter().for_each(|(_, p)| part.see(p));
        part
    }

    /// The messages for which `keep` holds. Windows that lose none keep all that is known of them; of a
    /// window that loses a vertex, what the vertex hid is not known any more, so that bounds can only get
    /// wider.
    #[must_use]
    pub fn filtered(&self, keep: impl Fn(Side, Point) -> bool) -> Self {
        let mut kept = Self::new().limited_to(self.windows.limit());
        for window in self.windows() {
            for side in Side::BOTH {
                let flow = window.flow(side);
                if flow.hull.vertices().iter().all(|&p| keep(side, p)) {
                    kept.windows.insert_flow(side, flow);
                    flow.hull.vertices().iter().for_each(|&p| kept.see(p));
                } else {
                    let left = flow.hull.vertices().iter().copied().filter(|&p| keep(side, p));
                    left.for_each(|p| kept.insert(side, p));
                }
            }
        }
        kept.listed = self.listed.mapped(|side, p| keep(side, p).then_some((side, p)));
        kept
    }

    /// The rates (db/da) that the messages alone allow. A minimum that is not positive says nothing about
    /// clocks, but is what the messages prove, and is reported as it is. O(h₁·h₂).
    ///
    /// # Errors
    /// [`Infeasible`] when no increasing relation satisfies all messages.
    pub fn rates(&self) -> Result<SlopeRange, Infeasible> {
        let found = Extremes::of(self.lower().vertices(), self.upper().vertices());
        let rates = found.rates()?;
        let (min, max) = (rates.min.zip(found.min), rates.max.zip(found.max));
        if let (Some((min, (upper, lower))), Some((max, max_pair))) = (min, max)
            && min > max
        {
            return Err(Infeasible::Crossed { min, max, min_pair: (lower, upper), max_pair });
        }
        match max {
            Some((max, max_pair)) if !max.is_positive() => Err(Infeasible::Backwards { max, max_pair }),
            _ => Ok(rates),
        }
    }

    /// (db/da − 1)·10⁶ from the messages alone: least and greatest; `None` where unbounded or infeasible.
    pub fn rate_ppm(&self) -> (Option<f64>, Option<f64>) {
        let rates = self.rates().unwrap_or_default();
        (rates.min.map(Slope::ppm), rates.max.map(Slope::ppm))
    }

    fn see(&mut self, point: Point) {
        self.x_range = cover(self.x_range, Some(Span::at(point.x())));
        self.y_range = cover(self.y_range, Some(Span::at(point.y())));
    }
}

/// The flattest and the steepest line that no message contradicts, each by two messages that it touches, the
/// earlier one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Extremes {
    /// From an upper point to a later lower one; `None` where the slope is not bounded below.
    pub(crate) min: Option<(Point, Point)>,
    /// From a lower point to a later upper one; `None` where the slope is not bounded above.
    pub(crate) max: Option<(Point, Point)>,
    /// A lower and an upper point that exclude each other at one instant.
    at_once: Option<(Point, Point)>,
}

impl Extremes {
    /// Of points in any order; of equal slopes the first, lower points first. Exact. O(lower · upper).
    pub(crate) fn of(lowers: &[Point], uppers: &[Point]) -> Self {
        let mut found = Self::default();
        let (mut min, mut max): (Option<Slope>, Option<Slope>) = (None, None);
        for &lower in lowers {
            for &upper in uppers {
                if let Some(slope) = Slope::between(lower, upper) {
                    if max.is_none_or(|known| slope < known) {
                        (max, found.max) = (Some(slope), Some((lower, upper)));
                    }
                } else if let Some(slope) = Slope::between(upper, lower) {
                    if min.is_none_or(|known| slope > known) {
                        (min, found.min) = (Some(slope), Some((upper, lower)));
                    }
                } else if lower.y() > upper.y() {
                    found.at_once.get_or_insert((lower, upper));
                }
            }
        }
        found
    }

    /// The slopes between the two lines, empty where no line satisfies all points.
    ///
    /// # Errors
    /// [`Infeasible::SameInstant`].
    pub(crate) fn rates(&self) -> Result<SlopeRange, Infeasible> {
        let slope = |(left, right)| Slope::between(left, right);
        match self.at_once {
            Some(pair) => Err(Infeasible::SameInstant { pair }),
            None => Ok(SlopeRange { min: self.min.and_then(slope), max: self.max.and_then(slope) }),
        }
    }
}

impl Default for Corridor {
    fn default() -> Self {
        Self::new()
    }
}

fn cover(a: Option<Span>, b: Option<Span>) -> Option<Span> {
    a.into_iter().chain(b).reduce(Span::hull)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::geometry::wander::Wander;
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
        assert_eq!(
            (c.x_range(), c.y_range()),
            (Some(Span { begin: 0, end: 9 }), Some(Span { begin: 5, end: 20 }))
        );
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
        assert!(matches!(
            jump.within(SlopeRange::prior(500), Wander::NONE),
            Err(Infeasible::NotAClock { .. })
        ));
    }

    #[test]
    fn the_messages_win_over_the_prior() {
        let guest = corridor(&[(0, 5), (1000, 4105)], &[(5, 0), (1005, 4100)]);
        let bounded = guest.within(SlopeRange::prior(500), Wander::NONE).unwrap();
        assert!(bounded.prior_contradicted());
        assert!(bounded.band().min() > Slope::new(4, 1).unwrap());
    }

    #[test]
    fn out_of_range_changes_nothing() {
        let mut c = Corridor::default();
        assert!(c.a_to_b(0, i64::MAX).is_err() && c.b_to_a(i64::MIN, 0).is_err());
        assert_eq!(c, Corridor::new());
    }

    /// Whether slope dy/dx leaves room between all upper and lower points.
    fn admits(dy: i64, dx: i64, upper: &Messages, lower: &Messages) -> bool {
        let cost = |&(x, y): &(i64, i64)| y * dx - dy * x;
        lower.iter().map(cost).max().unwrap_or(i64::MIN) <= upper.iter().map(cost).min().unwrap_or(i64::MAX)
    }

    fn messages() -> impl Strategy<Value = Messages> {
        prop::collection::vec((-40i64..40, -40i64..40), 0..10)
    }

    /// Messages of (time / 100, delay) between clocks whose span is long against the delays: no vertex
    /// belongs to a decreasing line only.
    fn of_clocks(upper: &Messages, lower: &Messages) -> Corridor {
        let upper: Messages = upper.iter().map(|&(x, d)| (50 + x * 100, 50 + x * 100 + d)).collect();
        let lower: Messages = lower.iter().map(|&(x, d)| (50 + x * 100, 50 + x * 100 - d)).collect();
        corridor(&upper, &lower)
    }

    /// Sums of both coordinates of both directions.
    fn sums(c: &Corridor) -> [i128; 4] {
        let of = |sum: fn(&Window) -> i128| c.windows().iter().map(sum).sum();
        [of(|w| w.upper.sum_x), of(|w| w.upper.sum_y), of(|w| w.lower.sum_x), of(|w| w.lower.sum_y)]
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
            merged.merge(corridor(&v, &m));
            prop_assert_eq!(merged, corridor(&[u, v].concat(), &[l, m].concat()));
        }

        #[test]
        fn mirroring_keeps_what_bounds(u in messages(), l in messages()) {
            let once = corridor(&u, &l).mirrored();
            let thrice = once.mirrored().mirrored();
            prop_assert_eq!((thrice.upper(), thrice.lower()), (once.upper(), once.lower()));
            prop_assert_eq!(thrice.messages(), once.messages());
        }

        #[test]
        fn mirroring_twice_is_identity_for_clocks_within_a_window(
            u in prop::collection::vec((0i64..10, 0i64..30), 0..12),
            l in prop::collection::vec((0i64..10, 0i64..30), 0..12),
        ) {
            let c = of_clocks(&u, &l);
            prop_assert!(c.windows().len() <= 1);
            prop_assert_eq!(c.mirrored().mirrored(), c);
        }

        /// Where messages that are one window by one clock are two by the other, a window may lose a vertex
        /// that lies inside the hull of both, and what is known of messages that are not kept may move to its
        /// neighbour: what is known of the whole link stays.
        #[test]
        fn mirroring_twice_keeps_all_that_bounds_clocks(
            u in prop::collection::vec((0i64..2000, 0i64..30), 0..12),
            l in prop::collection::vec((0i64..2000, 0i64..30), 0..12),
        ) {
            let c = of_clocks(&u, &l);
            let twice = c.mirrored().mirrored();
            prop_assert_eq!((twice.upper(), twice.lower()), (c.upper(), c.lower()));
            prop_assert_eq!(twice.messages(), c.messages());
            prop_assert_eq!((twice.x_range, twice.y_range), (c.x_range, c.y_range));
            prop_assert_eq!(sums(&twice), sums(&c));
        }

        /// Moving a corridor is what inserting later messages would have been, but for the grid.
        #[test]
        fn later_arrivals_move_the_hulls(
            u in prop::collection::vec((0i64..20_000_000, 0i64..3000), 0..40),
            l in prop::collection::vec((0i64..20_000_000, 0i64..3000), 0..40),
            at_a in 0u32..20_000_000,
            at_b in 0u32..20_000_000,
        ) {
            let c = of_clocks(&u, &l);
            let later = c.clone().arriving_later(at_a, at_b);
            let mut inserted = Corridor::new();
            c.points(Side::Upper).for_each(|p| inserted.a_to_b(p.x, p.y + i64::from(at_b)).unwrap());
            c.points(Side::Lower).for_each(|p| inserted.b_to_a(p.y, p.x + i64::from(at_a)).unwrap());
            prop_assert_eq!((later.upper(), later.lower()), (inserted.upper(), inserted.lower()));
            prop_assert_eq!(later.messages(), c.messages());
            let (upper, lower) = c.messages();
            let ([ux, uy, lx, ly], [x, y, v, w]) = (sums(&later), sums(&c));
            prop_assert_eq!((ux, ly), (x, w));
            prop_assert_eq!(uy - y, i128::from(upper) * i128::from(at_b));
            prop_assert_eq!(lx - v, i128::from(lower) * i128::from(at_a));
            prop_assert!(later.windows().is_sorted_by(|a, b| a.begin() < b.begin()));
            prop_assert_eq!(c.clone().arriving_later(0, 0), c);
        }
    }
}
