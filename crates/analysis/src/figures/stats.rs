//! Count, sum, least, greatest and spread of durations, exact however they are put together.

use isochrone_time::RawNs;
use serde::{Deserialize, Serialize};

use crate::output::table::{Cell, Table, Unit};

/// Duration of a span, ns. One that ends before it begins (a tracer whose clock went back) has no duration.
pub fn duration(begin: RawNs, end: RawNs) -> u64 {
    end.saturating_since(begin).max(0) as u64
}

/// A percentile of sorted values, by nearest rank: always one of them. `None` of no values.
pub fn nearest_rank<T>(sorted: &[T], percent: usize) -> Option<&T> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1)
}

/// Sums over durations in ns. Sums stay at their greatest value instead of overflowing, which no order of
/// adding changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    count: u64,
    min: u64,
    max: u64,
    total: u128,
    squares: u128,
}

impl Default for Stats {
    fn default() -> Self {
        Self { count: 0, min: u64::MAX, max: 0, total: 0, squares: 0 }
    }
}

impl Stats {
    /// Adds one, ns.
    #[inline]
    pub fn add(&mut self, ns: u64) {
        self.count += 1;
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
        self.total = self.total.saturating_add(u128::from(ns));
        self.squares = self.squares.saturating_add(u128::from(ns) * u128::from(ns));
    }

    /// Adds all that another has.
    pub fn absorb(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.total = self.total.saturating_add(other.total);
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// Number of durations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of the durations, ns.
    pub fn total(&self) -> u128 {
        self.total
    }

    /// Least duration, ns; `None` where there are none.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// Greatest duration, ns.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Mean of the durations, ns.
    pub fn avg(&self) -> Option<f64> {
        (self.count > 0).then(|| self.total as f64 / self.count as f64)
    }

    /// The sample standard deviation, ns; `None` for fewer than two. What is subtracted is subtracted in
    /// integers: large durations of small spread lose nothing.
    pub fn stdev(&self) -> Option<f64> {
        if self.count < 2 {
            return None;
        }
        let n = u128::from(self.count);
        let (mean, rest) = (self.total / n, self.total % n);
        // The sum of squares about the whole part of the mean; the mean's own square cannot be the greater
        // one.
        let about = self
            .squares
            .saturating_sub(mean.saturating_mul(mean).saturating_mul(n))
            .saturating_sub(mean.saturating_mul(rest).saturating_mul(2));
        let spread = match about.checked_mul(n) {
            Some(scaled) => scaled.saturating_sub(rest * rest) as f64 / n as f64,
            None => about as f64 - (rest * rest) as f64 / n as f64,
        };
        Some((spread / (n - 1) as f64).sqrt())
    }

    /// A table with the columns of [`Self::cells`] besides its own.
    pub(crate) fn columns(table: Table) -> Table {
        table
            .with_columns(Unit::Count, &["count"])
            .with_columns(Unit::Ns, &["min_ns", "avg_ns", "max_ns", "stdev_ns", "total_ns"])
    }

    /// The cells `count, min_ns, avg_ns, max_ns, stdev_ns, total_ns`.
    pub fn cells(&self) -> [Cell; 6] {
        [
            self.count.into(),
            Cell::or_none(self.min()),
            Cell::or_none(self.avg()),
            Cell::or_none(self.max()),
            Cell::or_none(self.stdev()),
            self.total.into(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_values_that_were() {
        let check = |sorted: &[u64], percent, expect: Option<u64>| {
            assert_eq!(nearest_rank(sorted, percent).copied(), expect, "{sorted:?} {percent}");
        };
        check(&[1, 2, 3, 4], 0, Some(1));
        check(&[1, 2, 3, 4], 50, Some(2));
        check(&[1, 2, 3, 4, 5], 50, Some(3));
        check(&[1, 2, 3, 4], 95, Some(4));
        check(&[1, 2, 3, 4], 100, Some(4));
        check(&[7], 99, Some(7));
        check(&[], 50, None);
    }

    fn of(values: &[u64]) -> Stats {
        let mut stats = Stats::default();
        for &ns in values {
            stats.add(ns);
        }
        stats
    }

    #[test]
    #[allow(clippy::float_cmp)] // The figures have exact values.
    fn figures() {
        let check = |values: &[u64], avg, stdev: Option<f64>| {
            let stats = of(values);
            assert_eq!((stats.avg(), stats.stdev()), (avg, stdev), "{values:?}");
        };
        check(&[], None, None);
        check(&[5], Some(5.0), None);
        check(&[1000, 3000], Some(2000.0), Some(2_000_000f64.sqrt()));
        check(&[2, 4, 4, 4, 5, 5, 7, 9], Some(5.0), Some((32.0f64 / 7.0).sqrt()));
        // Squares of 2⁶² around: a deviation of 1 is still seen.
        let large = 1 << 62;
        check(&[large - 1, large, large + 1], Some(large as f64), Some(1.0));
        check(&[u64::MAX, u64::MAX], Some(u64::MAX as f64), Some(0.0));
    }

    #[test]
    fn durations() {
        for (begin, end, expect) in [(1, 3, 2), (3, 1, 0), (i64::MIN, i64::MAX, i64::MAX as u64)] {
            assert_eq!(duration(RawNs(begin), RawNs(end)), expect, "{begin}..{end}");
        }
    }

    #[test]
    fn parts_add_up() {
        let mut left = of(&[3, 9]);
        left.absorb(of(&[]));
        left.absorb(of(&[1]));
        assert_eq!(left, of(&[1, 3, 9]));
        assert_eq!((left.min(), left.max(), left.total(), left.count()), (Some(1), Some(9), 13, 3));
    }
}
