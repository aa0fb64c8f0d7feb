//! Messages of a link by time: a bounded number of windows, each with the half hulls of its own messages.
//!
//! One pair of hulls would do for clocks that are straight lines. Clocks wander, are slewed and set,
//! estimates are made with parts of the messages left out, and so it matters *when* a message that can matter
//! was seen. The time axis of clock a is cut on a dyadic grid; when more windows hold messages than may be
//! kept, the grid becomes twice as coarse and neighbours are merged. Which grid that is depends on the
//! messages alone, so that any order of insertion, and any bracketing of merges, gives the same windows.
//!
//! Clocks that run free need few windows ([`MAX_WINDOWS`]); where a daemon steers them, only near messages
//! count, and many more are kept until it is known that none does ([`MAX_FINE_WINDOWS`]).
//!
//! [`crate::geometry::corridor`] is the only user.

use crate::geometry::hull::{HalfHull, Side};
use crate::geometry::point::Point;

/// Maximal number of windows of a link between clocks that run free. Enough that a window is short against
/// all that happens to a clock during a trace, few enough that five thousand links fit into memory.
pub const MAX_WINDOWS: usize = 128;

/// Maximal number of windows of any link.
pub const MAX_FINE_WINDOWS: usize = 1 << 14;

/// Approximate number of windows of all links of a network together: 20 MB.
const WINDOWS_OF_ALL_LINKS: usize = 1 << 16;

/// Maximal number of windows of each link of a network with `links` links; it never grows with more links.
pub fn windows_per_link(links: usize) -> usize {
    (WINDOWS_OF_ALL_LINKS / links.max(1)).clamp(MAX_WINDOWS, MAX_FINE_WINDOWS)
}

/// The first grid has cells of 2^10 ns: about a microsecond, in which no host sends twice.
const FIRST_SHIFT: u32 = 10;

/// The messages of one direction in one window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// The messages that a line can touch.
    pub hull: HalfHull,
    /// All messages.
    pub count: u64,
    /// Sum of their x, raw ns.
    pub sum_x: i128,
    /// Sum of their y, raw ns.
    pub sum_y: i128,
}

impl Flow {
    pub(crate) const fn new(side: Side) -> Self {
        Self { hull: HalfHull::new(side), count: 0, sum_x: 0, sum_y: 0 }
    }

    fn insert(&mut self, point: Point) {
        self.hull.insert(point);
        self.count += 1;
        self.sum_x += point.x() as i128;
        self.sum_y += point.y() as i128;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.hull.merge(&other.hull);
        self.count += other.count;
        self.sum_x += other.sum_x;
        self.sum_y += other.sum_y;
    }
}

/// The messages of one cell of the grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    cell: i64,
    /// From a to b.
    pub upper: Flow,
    /// From b to a.
    pub lower: Flow,
}

impl Window {
    const fn new(cell: i64) -> Self {
        Self { cell, upper: Flow::new(Side::Upper), lower: Flow::new(Side::Lower) }
    }

    /// Start: the time of its first message, raw ns of a.
    pub fn begin(&self) -> i64 {
        let first = |flow: &Flow| flow.hull.vertices().first().map_or(i64::MAX, |p| p.x());
        first(&self.upper).min(first(&self.lower))
    }

    /// The messages of one direction.
    pub fn flow(&self, side: Side) -> &Flow {
        match side {
            Side::Upper => &self.upper,
            Side::Lower => &self.lower,
        }
    }

    fn flow_mut(&mut self, side: Side) -> &mut Flow {
        match side {
            Side::Upper => &mut self.upper,
            Side::Lower => &mut self.lower,
        }
    }

    fn merge(&mut self, other: &Self) {
        self.upper.merge(&other.upper);
        self.lower.merge(&other.lower);
    }
}

/// All windows that hold messages, by time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Windows {
    shift: u32,
    /// Maximal number of windows.
    limit: usize,
    list: Vec<Window>,
}

impl Windows {
    pub(crate) const fn new() -> Self {
        Self { shift: FIRST_SHIFT, limit: MAX_FINE_WINDOWS, list: Vec::new() }
    }

    pub(crate) fn limited(windows: usize) -> Self {
        Self { shift: FIRST_SHIFT, limit: windows, list: Vec::new() }
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    pub(crate) fn list(&self) -> &[Window] {
        &self.list
    }

    /// Coarsens the grid until there are at most `windows` windows.
    pub(crate) fn limit_to(&mut self, windows: usize) {
        self.limit = self.limit.min(windows);
        self.settle();
    }

    /// The windows whose first message lies in `from..=to`.
    pub(crate) fn during(&self, from: i64, to: i64) -> Self {
        let begins = |w: &&Window| (from..=to).contains(&w.begin());
        Self {
            shift: self.shift,
            limit: self.limit,
            list: self.list.iter().filter(begins).cloned().collect(),
        }
    }

    /// O(log w + log h), and O(w) on the rare occasions when a window is new or the grid gets coarser.
    pub(crate) fn insert(&mut self, side: Side, point: Point) {
        self.at(point.x() >> self.shift).flow_mut(side).insert(point);
        self.settle();
    }

    /// Adds a flow whose vertices all lie in one cell of this grid or of a finer one.
    pub(crate) fn insert_flow(&mut self, side: Side, flow: &Flow) {
        let Some(first) = flow.hull.vertices().first() else { return };
        self.at(first.x() >> self.shift).flow_mut(side).merge(flow);
        self.settle();
    }

    pub(crate) fn merge(&mut self, mut other: Self) {
        self.limit = self.limit.min(other.limit);
        while self.shift < other.shift {
            self.coarsen();
        }
        while other.shift < self.shift {
            other.coarsen();
        }
        if self.list.is_empty() {
            self.list = other.list;
        } else {
            for window in &other.list {
                self.at(window.cell).merge(window);
            }
        }
        self.settle();
    }

    fn at(&mut self, cell: i64) -> &mut Window {
        // Messages mostly come in the order of time.
        let at = match self.list.last() {
            Some(last) if last.cell < cell => self.list.len(),
            Some(last) if last.cell == cell => self.list.len() - 1,
            _ => self.list.partition_point(|w| w.cell < cell),
        };
        if self.list.get(at).is_none_or(|w| w.cell != cell) {
            self.list.insert(at, Window::new(cell));
        }
        &mut self.list[at]
    }

    fn settle(&mut self) {
        while self.list.len() > self.limit {
            self.coarsen();
        }
    }

    fn coarsen(&mut self) {
        self.shift += 1;
        self.list.dedup_by(|later, earlier| {
            let same = later.cell >> 1 == earlier.cell >> 1;
            if same {
                earlier.merge(later);
            }
            same
        });
        self.list.iter_mut().for_each(|w| w.cell >>= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn windows(points: &[(i64, i64, bool)]) -> Windows {
        let mut windows = Windows::new();
        for &(x, y, upper) in points {
            let side = if upper { Side::Upper } else { Side::Lower };
            windows.insert(side, Point::new(x, y).unwrap());
        }
        windows
    }

    #[test]
    fn the_grid_follows_the_messages() {
        let second = 1_000_000_000;
        let many: Vec<_> = (0..1000).map(|i| (i * second, i * second, i % 2 == 0)).collect();
        let w = windows(&many);
        assert_eq!(w.list.len(), 1000);
        let mut w = w;
        w.limit_to(MAX_WINDOWS);
        assert!((MAX_WINDOWS / 2..=MAX_WINDOWS).contains(&w.list.len()), "{}", w.list.len());
        assert_eq!(w.list.iter().map(|w| w.upper.count + w.lower.count).sum::<u64>(), 1000);
        let sum: i128 = w.list.iter().map(|w| w.upper.sum_x + w.lower.sum_x).sum();
        assert_eq!(sum, i128::from(second) * 999 * 500);
        assert!(w.list.is_sorted_by(|a, b| a.cell < b.cell));
    }

    #[test]
    fn extremes_do_not_overflow() {
        let m = crate::MAX_ABS_NS;
        let w = windows(&[(-m, m, true), (m, -m, false), (0, 0, true)]);
        assert_eq!(w.list.len(), 3);
    }

    proptest! {
        #[test]
        fn neither_order_nor_bracketing_matters(
            points in prop::collection::vec((-1i64 << 40..1 << 40, -1000i64..1000, any::<bool>()), 0..400),
            cut in 0usize..400,
            turn in 0usize..400,
        ) {
            let whole = windows(&points);
            let mut turned = points.clone();
            turned.rotate_left(turn.min(points.len()));
            prop_assert_eq!(&windows(&turned), &whole);
            let (left, right) = points.split_at(cut.min(points.len()));
            let mut merged = windows(right);
            merged.merge(windows(left));
            prop_assert_eq!(merged, whole);
        }
    }
}
