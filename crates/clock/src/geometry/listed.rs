//! All messages of a link, one by one, as long as they are few.
//!
//! Windows of half hulls ([`crate::geometry::window`]) keep what a straight line can touch. A correction that
//! bends within a window can invert a message that no vertex shows, so that of links with few messages all
//! are kept besides the hulls: then whether one is inverted is decided for each ([`crate::link`],
//! `crate::network::repair`). A link either lists all of its messages or none.

use std::sync::Arc;

use crate::geometry::{hull::Side, point::Point};

/// Messages of a link that are listed, by the number of windows that it may have: as much memory again.
const MESSAGES_PER_WINDOW: usize = 16;

/// The messages of a link, by side, in any order. Copies share them.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    limit: usize,
    /// Whether all are listed; otherwise none is.
    is_whole: bool,
    all: Option<Arc<[Vec<Point>; 2]>>,
}

impl Listed {
    /// Of messages that are not known one by one.
    pub(crate) const UNKNOWN: Self = Self { limit: 0, is_whole: false, all: None };

    /// No messages yet, of a link that may have `windows` windows.
    pub(crate) const fn new(windows: usize) -> Self {
        Self { limit: windows.saturating_mul(MESSAGES_PER_WINDOW), is_whole: true, all: None }
    }

    /// The same for a link that may have at most `windows` windows.
    pub(crate) fn limit_to(&mut self, windows: usize) {
        self.limit = self.limit.min(windows.saturating_mul(MESSAGES_PER_WINDOW));
        self.settle();
    }

    /// O(1), amortized.
    pub(crate) fn insert(&mut self, side: Side, point: Point) {
        if self.is_whole {
            Arc::make_mut(self.all.get_or_insert_default())[at(side)].push(point);
            self.settle();
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.limit = self.limit.min(other.limit);
        self.is_whole &= other.is_whole;
        match (&mut self.all, other.all) {
            (Some(all), Some(other)) if self.is_whole => {
                for (all, other) in Arc::make_mut(all).iter_mut().zip(other.iter()) {
                    all.extend(other);
                }
            }
            (all, other) => *all = all.take().or(other),
        }
        self.settle();
    }

    /// The messages where `to` puts them, without those that it puts nowhere.
    pub(crate) fn mapped(&self, to: impl Fn(Side, Point) -> Option<(Side, Point)>) -> Self {
        let all = self.all.as_ref().map(|_| {
            let mut moved = [Vec::new(), Vec::new()];
            for side in Side::BOTH {
                for (side, point) in self.on(side).iter().filter_map(|&p| to(side, p)) {
                    moved[at(side)].push(point);
                }
            }
            Arc::new(moved)
        });
        Self { all, ..*self }
    }

    /// All messages of a side; `None` if there are more than are listed.
    pub(crate) fn points(&self, side: Side) -> Option<&[Point]> {
        self.is_whole.then(|| self.on(side))
    }

    fn on(&self, side: Side) -> &[Point] {
        self.all.as_ref().map_or(&[], |all| &all[at(side)])
    }

    fn settle(&mut self) {
        self.is_whole &= self.on(Side::Upper).len() + self.on(Side::Lower).len() <= self.limit;
        if !self.is_whole {
            self.all = None;
        }
    }
}

fn at(side: Side) -> usize {
    match side {
        Side::Upper => 0,
        Side::Lower => 1,
    }
}

/// Equal if the same messages are listed, in whatever order they came.
impl PartialEq for Listed {
    fn eq(&self, other: &Self) -> bool {
        let sorted = |listed: &Self| {
            Side::BOTH.map(|side| {
                let mut points = listed.on(side).to_vec();
                points.sort_unstable();
                points
            })
        };
        (self.limit, self.is_whole) == (other.limit, other.is_whole) && sorted(self) == sorted(other)
    }
}

impl Eq for Listed {}

#[cfg(test)]
mod tests {
    use super::*;

    /// All or none: a list that lost one message could not say that none is inverted.
    #[test]
    fn all_messages_are_listed_or_none() {
        let point = |i: i64| Point::new(i, -i).unwrap();
        let of = |range: std::ops::Range<i64>, windows: usize| {
            let mut listed = Listed::new(windows);
            range.for_each(|i| listed.insert(if i % 3 == 0 { Side::Upper } else { Side::Lower }, point(i)));
            listed
        };
        let most = MESSAGES_PER_WINDOW as i64;
        assert_eq!(of(0..most, 1).points(Side::Upper).unwrap().len(), MESSAGES_PER_WINDOW.div_ceil(3));
        assert_eq!(of(0..most + 1, 1).points(Side::Upper), None);
        for (cut, windows) in [(3, 2), (most, 2), (most, 1), (1, 1)] {
            let (mut merged, whole) = (of(cut..most + 1, windows), of(0..most + 1, windows));
            merged.merge(of(0..cut, windows));
            assert_eq!(merged, whole, "{cut} {windows}");
            let mirrored = |of: &Listed| of.mapped(|side, p| Some((side.other(), p.swapped())));
            assert_eq!(mirrored(&mirrored(&whole)), whole);
        }
        let mut unknown = of(0..3, 1);
        unknown.merge(Listed::UNKNOWN);
        assert_eq!(unknown.points(Side::Lower), None);
        assert_eq!(
            of(0..6, 1).mapped(|side, p| (p.x() != 3).then_some((side, p))).points(Side::Upper).unwrap(),
            &[point(0)]
        );
        let mut limited = of(0..most + 1, 2);
        limited.limit_to(1);
        assert_eq!(limited, of(0..most + 1, 1));
    }
}
