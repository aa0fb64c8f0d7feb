//! How durations are distributed: exact counts in buckets whose width grows with the value.
//!
//! Up to 16 ns each value has a bucket of its own; above, each power of two is cut into 16. So a value is
//! known within 1/16 of itself, there are at most 976 buckets, and two histograms add up to the same one in
//! any order. (The crate `hdrhistogram` keeps the same buckets as an array of all of them, which is too much
//! for one per thread, and has no form that equal contents are sure to share.)

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::figures::buckets::{BITS, Buckets};
use crate::output::table::{Cell, Table, Unit};

/// Counts of durations in ns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    buckets: Buckets,
    /// Each duration with its number, where they are to be shown in rows of equal width. Buckets do not show
    /// how many are in such a row, and where the rows begin is known in the end only.
    exact: BTreeMap<u64, u64>,
    min: u64,
    max: u64,
}

/// A part of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bar {
    /// The least duration that belongs to it, ns.
    pub lo: u64,
    /// The greatest, ns.
    pub hi: u64,
    /// Number of durations in it.
    pub count: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: Buckets::default(), exact: BTreeMap::new(), min: u64::MAX, max: 0 }
    }
}

/// The bucket of a duration.
fn bucket(ns: u64) -> u16 {
    if ns < 1 << BITS {
        return ns as u16;
    }
    let exponent = ns.ilog2();
    let part = (ns >> (exponent - BITS)) as u16 & ((1 << BITS) - 1);
    ((exponent - BITS + 1) as u16) << BITS | part
}

/// The least duration of a bucket.
fn least(bucket: u16) -> u64 {
    let (octave, part) = (u32::from(bucket >> BITS), u64::from(bucket & ((1 << BITS) - 1)));
    match octave {
        0 => part,
        // Beyond the last bucket of all: only requested to find where that one ends.
        _ if octave > u64::BITS - BITS => u64::MAX,
        _ => (part | 1 << BITS) << (octave - 1),
    }
}

/// The greatest duration of a bucket.
fn greatest(bucket: u16) -> u64 {
    match least(bucket + 1) {
        u64::MAX => u64::MAX,
        next => next - 1,
    }
}

impl Histogram {
    /// Adds one, ns. Constant, but for the first of a power of two.
    pub fn add(&mut self, ns: u64) {
        *self.buckets.counter(bucket(ns)) += 1;
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
    }

    /// Adds one, ns, to be shown in rows of equal width or not. Of one histogram, either all are or none.
    pub fn add_to(&mut self, ns: u64, linear: bool) {
        self.add(ns);
        if linear {
            *self.exact.entry(ns).or_default() += 1;
        }
    }

    /// Adds all that another has.
    pub fn absorb(&mut self, other: &Self) {
        for (&ns, &count) in &other.exact {
            let here = self.exact.entry(ns).or_default();
            *here = here.saturating_add(count);
        }
        for (bucket, count) in other.buckets.iter() {
            let here = self.buckets.counter(bucket);
            *here = here.saturating_add(count);
        }
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// As [`Self::absorb`], of one that is not needed any more.
    #[allow(clippy::needless_pass_by_value)] // The tables of histograms want it like that.
    pub(crate) fn join(&mut self, other: Self) {
        self.absorb(&other);
    }

    /// Number of durations.
    pub fn count(&self) -> u64 {
        self.buckets.iter().fold(0, |sum, (_, count)| sum.saturating_add(count))
    }

    /// A duration that `part` of `whole` of all do not exceed: the least and the greatest that it can be, ns.
    /// The second is at most 1/16 above the first. `None` where there are no durations or no whole.
    pub fn quantile(&self, part: u64, whole: u64) -> Option<(u64, u64)> {
        // The rank, counted from 1, rounded up: the smallest sample that has that part of all at or below it.
        let product = u128::from(self.count()) * u128::from(part);
        let sort_key = product.checked_add(u128::from(whole.checked_sub(1)?))? / u128::from(whole);
        let sort_key = sort_key.max(1);
        let mut below = 0u128;
        for (bucket, count) in self.buckets.iter() {
            below += u128::from(count);
            if below >= sort_key {
                return Some((least(bucket).max(self.min), greatest(bucket).min(self.max)));
            }
        }
        None
    }

    /// The distribution in at most `rows` bars without a hole between them, each of whole buckets, all as
    /// wide by the logarithm: a power of two or parts of it, or several. The first begins at the least
    /// duration and the last ends at the greatest.
    ///
    /// Where each duration was kept, they are just as wide instead: the first begins at the least duration,
    /// the last ends at the greatest and has that one too.
    pub fn bars(&self, rows: usize) -> Vec<Bar> {
        if !self.exact.is_empty() {
            return self.linear_bars(rows);
        }
        let (Some((first, _)), Some((last, _))) =
            (self.buckets.iter().next(), self.buckets.iter().next_back())
        else {
            return Vec::new();
        };
        let mut shift = 0;
        while usize::from((last >> shift) - (first >> shift)) >= rows.max(1) && shift < 15 {
            shift += 1;
        }
        ((first >> shift)..=(last >> shift))
            .map(|group| {
                let (begin, end) = (group << shift, ((group + 1) << shift) - 1);
                let of_group = self.buckets.iter().filter(|(bucket, _)| (begin..=end).contains(bucket));
                let count = of_group.fold(0u64, |sum, (_, n)| sum.saturating_add(n));
                Bar { lo: least(begin).max(self.min), hi: greatest(end).min(self.max), count }
            })
            .collect()
    }

    fn linear_bars(&self, rows: usize) -> Vec<Bar> {
        let spread = u128::from(self.max - self.min);
        // No row is narrower than 1 ns.
        let rows = (rows as u128).min(spread).max(1);
        let least = |row: u128| self.min + (row * spread).div_ceil(rows) as u64;
        (0..rows)
            .map(|row| {
                let (lo, hi) = (least(row), if row + 1 == rows { self.max } else { least(row + 1) - 1 });
                let count = self.exact.range(lo..=hi).fold(0u64, |sum, (_, &n)| sum.saturating_add(n));
                Bar { lo, hi, count }
            })
            .collect()
    }

    /// A table for [`Histogram::rows`]: a bar in each row, to the right of the columns of a key.
    pub(crate) fn freq_table(key: Table) -> Table {
        let group = key.columns.len();
        let table = key.with_columns(Unit::Ns, &["lo_ns", "hi_ns"]).with_columns(Unit::Count, &["count"]);
        table.draw("count", group)
    }

    /// A table for [`Histogram::rows`]: quantiles, to the right of the columns of a key. A figure is at most
    /// 1/16 above the exact one and never below it.
    pub(crate) fn quantiles_table(key: Table) -> Table {
        let quantiles = ["p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns"];
        key.with_columns(Unit::Count, &["count"]).with_columns(Unit::Ns, &quantiles)
    }

    /// Adds the rows of this distribution to the two tables, at most `bars` to the first and one to the
    /// second.
    pub fn rows(&self, key: &[Cell], bars: usize, freq: &mut Table, quantiles: &mut Table) {
        for bar in self.bars(bars) {
            freq.row([key, &[bar.lo.into(), bar.hi.into(), bar.count.into()]].concat());
        }
        let at = |part| Cell::from(self.quantile(part, 1000).map(|(_, hi)| hi));
        quantiles.row([key, &[self.count().into(), at(500), at(900), at(990), at(999), at(1000)]].concat());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn buckets_tile_all_durations() {
        for (ns, expect) in
            [(0, 0), (15, 15), (16, 16), (31, 31), (32, 32), (33, 32), (34, 33), (u64::MAX, 975)]
        {
            assert_eq!(bucket(ns), expect, "{ns}");
        }
        for index in 0..975 {
            assert_eq!(bucket(least(index)), index);
            assert_eq!(bucket(greatest(index)), index);
            assert_eq!(greatest(index) + 1, least(index + 1));
        }
        assert_eq!(greatest(975), u64::MAX);
    }

    #[test]
    fn bars_are_few_and_lose_nothing() {
        let mut histogram = Histogram::default();
        for ns in [3, 3, 100, 1000, 1001] {
            histogram.add(ns);
        }
        let bars: Vec<_> = histogram.bars(9).iter().map(|bar| (bar.lo, bar.hi, bar.count)).collect();
        let expect = [
            (3, 15, 2),
            (16, 31, 0),
            (32, 63, 0),
            (64, 127, 1),
            (128, 255, 0),
            (256, 511, 0),
            (512, 1001, 2),
        ];
        assert_eq!(bars, expect);
        assert_eq!(histogram.bars(0), [Bar { lo: 3, hi: 1001, count: 5 }]);
        assert_eq!(Histogram::default().bars(20), []);
    }

    #[test]
    fn bars_of_equal_width() {
        let check = |values: &[u64], rows, expect: &[(u64, u64, u64)]| {
            let mut histogram = Histogram::default();
            for &ns in values {
                histogram.add_to(ns, true);
            }
            let bars: Vec<_> = histogram.bars(rows).iter().map(|bar| (bar.lo, bar.hi, bar.count)).collect();
            assert_eq!(bars, expect, "{values:?} {rows}");
        };
        check(&[10, 12, 13, 20], 4, &[(10, 12, 2), (13, 14, 1), (15, 17, 0), (18, 20, 1)]);
        check(&[5, 5], 20, &[(5, 5, 2)]);
        check(&[5, 7], 20, &[(5, 5, 1), (6, 7, 1)]);
        check(&[0, u64::MAX], 2, &[(0, (1 << 63) - 1, 1), (1 << 63, u64::MAX, 1)]);
        check(&[1, 2, 3], 0, &[(1, 3, 3)]);
    }

    #[test]
    fn quantiles() {
        let mut histogram = Histogram::default();
        (1..=100).for_each(|ns| histogram.add(ns));
        let check =
            |part, whole, expect| assert_eq!(histogram.quantile(part, whole), expect, "{part}/{whole}");
        check(0, 100, Some((1, 1)));
        check(50, 100, Some((50, 51)));
        check(99, 100, Some((96, 99)));
        check(100, 100, Some((100, 100)));
        check(1, 0, None);
        assert_eq!(Histogram::default().quantile(1, 2), None);
    }

    proptest! {
        #[test]
        fn a_quantile_is_within_its_bounds(mut values in prop::collection::vec(any::<u64>(), 1..50), part in 1u64..=100) {
            let mut histogram = Histogram::default();
            for &ns in &values {
                histogram.add(ns);
            }
            values.sort_unstable();
            let exact = values[(values.len() * part as usize).div_ceil(100) - 1];
            let (lo, hi) = histogram.quantile(part, 100).unwrap();
            prop_assert!(lo <= exact && exact <= hi);
            prop_assert!(hi - lo <= lo / 16);
        }
    }
}
