//! Times that do not overlap: when anything at all was so, however many things were. `resources.rs` measures
//! with them.

use isochrone_time::{RawNs, Window};

/// As many times as these are added before they are united with the others.
const PENDING: usize = 1 << 16;

/// The union of some times of a host, raw ns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Disjoint {
    /// Disjoint and not adjacent, by start.
    united: Vec<Window<RawNs>>,
    /// In any order.
    pending: Vec<Window<RawNs>>,
}

impl Disjoint {
    /// Adds a time. Amortized logarithmic.
    pub(crate) fn add(&mut self, start: RawNs, end: RawNs) {
        if start >= end {
            return;
        }
        match self.pending.last_mut() {
            // What follows directly needs no place of its own.
            Some(last) if last.end == start => last.end = end,
            _ => self.pending.push(Window::new(start, end)),
        }
        if self.pending.len() >= PENDING.max(self.united.len()) {
            self.unite();
        }
    }

    fn unite(&mut self) {
        let mut all = std::mem::take(&mut self.united);
        all.append(&mut self.pending);
        all.sort_unstable();
        for time in all {
            match self.united.last_mut() {
                Some(last) if time.start <= last.end => last.end = last.end.max(time.end),
                _ => self.united.push(time),
            }
        }
    }

    /// The times, by start.
    pub(crate) fn united(mut self) -> Vec<Window<RawNs>> {
        self.unite();
        self.united
    }
}

/// What some disjoint times and a window have in common, by start. `O(log n)` and what is common.
pub(crate) fn within(
    times: &[Window<RawNs>],
    window: Window<RawNs>,
) -> impl Iterator<Item = Window<RawNs>> + '_ {
    let first = times.partition_point(|time| time.end <= window.start);
    let overlapping = times[first..].iter().take_while(move |time| time.start < window.end);
    overlapping.map(move |time| time.clip(window))
}

/// What is left of some disjoint times without others, by start.
pub(crate) fn without(times: &[Window<RawNs>], others: &[Window<RawNs>]) -> Vec<Window<RawNs>> {
    let mut left = Vec::new();
    for &time in times {
        let mut from = time.start;
        for other in within(others, time) {
            left.push(Window::new(from, other.start));
            from = other.end;
        }
        left.push(Window::new(from, time.end));
    }
    left.retain(|time| !time.is_empty());
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(times: &[(i64, i64)]) -> Vec<Window<RawNs>> {
        times.iter().map(|&(start, end)| Window::new(RawNs(start), RawNs(end))).collect()
    }

    #[test]
    fn times_are_united() {
        let check = |times: &[(i64, i64)], expect: &[(i64, i64)]| {
            let mut all = Disjoint::default();
            for time in windows(times) {
                all.add(time.start, time.end);
            }
            assert_eq!(all.united(), windows(expect), "{times:?}");
        };
        check(&[], &[]);
        check(&[(5, 5), (7, 3)], &[]);
        check(&[(0, 5), (5, 9)], &[(0, 9)]);
        check(&[(20, 30), (0, 5), (4, 9), (40, 50), (22, 24)], &[(0, 9), (20, 30), (40, 50)]);
    }

    #[test]
    fn what_is_common_and_what_is_left() {
        let times = windows(&[(0, 10), (20, 30), (40, 50)]);
        let check = |others: &[(i64, i64)], common: &[(i64, i64)], left: &[(i64, i64)]| {
            let others = windows(others);
            let found: Vec<_> = others.iter().flat_map(|&other| within(&times, other)).collect();
            assert_eq!(found, windows(common), "{others:?}");
            assert_eq!(without(&times, &others), windows(left), "{others:?}");
        };
        check(&[], &[], &[(0, 10), (20, 30), (40, 50)]);
        check(&[(5, 45)], &[(5, 10), (20, 30), (40, 45)], &[(0, 5), (45, 50)]);
        check(&[(2, 3), (4, 5)], &[(2, 3), (4, 5)], &[(0, 2), (3, 4), (5, 10), (20, 30), (40, 50)]);
        check(&[(-5, 100)], &[(0, 10), (20, 30), (40, 50)], &[]);
    }
}
