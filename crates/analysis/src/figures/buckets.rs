//! Counts by bucket, for [`crate::Histogram`]: the buckets of each power of two that is in use are next to
//! each other, and a bucket is found without a search. There is a distribution for each thread, so that to
//! look for a bucket would be to wait for memory.

use serde::{Deserialize, Serialize};

/// Buckets in a power of two: 2⁴.
pub(crate) const BITS: u32 = 4;
/// Buckets in a row.
const ROW: usize = 1 << BITS;
/// More rows than there are.
const ROWS: u32 = u64::BITS;

/// The numbers in each bucket. They are written in the order of the buckets, without those that are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(u16, u64)>", into = "Vec<(u16, u64)>")]
pub(crate) struct Buckets {
    /// Which rows are in use: bits.
    used: u64,
    /// These rows, in their order.
    rows: Vec<[u64; ROW]>,
}

impl Buckets {
    /// The number in a bucket, an index below 1024. Constant, but for the first of a row.
    #[inline]
    pub(crate) fn counter(&mut self, bucket: u16) -> &mut u64 {
        let (row, column) = (u32::from(bucket) >> BITS, usize::from(bucket) % ROW);
        let bit = 1 << (row % ROWS);
        let place = (self.used & (bit - 1)).count_ones() as usize;
        if self.used & bit == 0 {
            self.used |= bit;
            // Not twice as many: most distributions have few.
            self.rows.reserve_exact(1);
            self.rows.insert(place, [0; ROW]);
        }
        &mut self.rows[place][column]
    }

    /// The buckets that are not empty, in their order, with the number in each.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u16, u64)> + '_ {
        let used: Vec<u32> = (0..ROWS).filter(|row| self.used >> row & 1 == 1).collect();
        let of_row = |(row, counts): (u32, &[u64; ROW])| {
            let first = (row << BITS) as u16;
            let counts = *counts;
            (0..ROW as u16).map(move |column| (first | column, counts[usize::from(column)]))
        };
        used.into_iter().zip(&self.rows).flat_map(of_row).filter(|(_, count)| *count > 0)
    }
}

impl From<Vec<(u16, u64)>> for Buckets {
    fn from(counts: Vec<(u16, u64)>) -> Self {
        let mut all = Self::default();
        for (bucket, count) in counts {
            let here = all.counter(bucket);
            *here = here.saturating_add(count);
        }
        all
    }
}

impl From<Buckets> for Vec<(u16, u64)> {
    fn from(all: Buckets) -> Self {
        all.iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_written_in_their_order() {
        let mut buckets = Buckets::default();
        let counted = [(975, 1), (3, 2), (16, 7), (15, 1), (3, 1), (31, 1), (500, 4)];
        for (bucket, count) in counted {
            *buckets.counter(bucket) += count;
        }
        let expect = vec![(3, 3), (15, 1), (16, 7), (31, 1), (500, 4), (975, 1)];
        assert_eq!(buckets.iter().collect::<Vec<_>>(), expect);
        assert_eq!(buckets.iter().next_back(), Some((975, 1)));
        let bytes = postcard::to_stdvec(&buckets).unwrap();
        assert_eq!(bytes, postcard::to_stdvec(&expect).unwrap());
        assert_eq!(postcard::from_bytes::<Buckets>(&bytes).unwrap(), buckets);
        // A file may hold any number.
        assert_eq!(Buckets::from(vec![(u16::MAX, 1)]).iter().map(|(_, count)| count).sum::<u64>(), 1);
    }
}
