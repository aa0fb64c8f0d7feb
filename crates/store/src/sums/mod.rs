//! Sums of what threads did, by buckets of time: time by state, and calls. What a window of any length adds
//! up to is read from those of the buckets in it, of which there are 126 of a level at most but of the
//! coarsest, and from the spans of two buckets.
//!
//! Buckets of a level have one length, and 2^[`FACTOR`] of them are one of the next level. The finest are so
//! long that the host has some [`SPANS`] spans in one, on average. A window is a whole number of buckets, of
//! the coarsest level that fits, and what is left at its ends, of which the spans are read: `read.rs`.
//! `buckets.rs` adds up, `tables.rs` has the tables.

mod buckets;
mod read;
mod tables;

use isochrone_time::{RawNs, Window};
use serde::{Deserialize, Serialize};

pub use read::{CallSum, Sums, Totals};
pub(crate) use tables::{CallSumsWriter, StateSumsWriter, SumTables};

/// Spans of a finest bucket, on average: so many are read at each end of a window.
const SPANS: u64 = 1 << 13;
/// The least number of finest buckets, as a power of two: hosts with few spans have shorter buckets.
const LEAST: u32 = 6;
/// The factor between the lengths of two levels, as a power of two.
const FACTOR: u32 = 6;
/// Maximum number of levels.
const MAX_LEVELS: usize = 4;
/// Length of the longest bucket, as a power of two, ns.
const LONGEST: u32 = 61;

/// The buckets of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buckets {
    /// The start of the first one, raw ns.
    origin: RawNs,
    /// The length of the finest, as a power of two, ns.
    finest: u32,
    /// Number of levels.
    levels: usize,
}

impl Buckets {
    /// Those of a host with so many spans in a window.
    pub(crate) fn new(range: Window<RawNs>, spans: u64) -> Self {
        let length = range.end.saturating_since(range.start).max(1).unsigned_abs();
        let least = (length >> LEAST).max(1);
        let wanted = (length / (spans / SPANS).max(1)).clamp(1, least);
        let finest = wanted.ilog2();
        // One bucket of the next level would have all, or be longer than times can be.
        let is_enough = |&levels: &usize| {
            let next = finest + FACTOR * levels as u32;
            next > LONGEST || length >> next == 0
        };
        let levels = (1..MAX_LEVELS).find(is_enough).unwrap_or(MAX_LEVELS);
        Self { origin: range.start, finest, levels }
    }

    /// The length of the buckets of a level, ns.
    fn ns(&self, level: usize) -> i64 {
        1 << (self.finest + FACTOR * level as u32)
    }

    /// The start of the bucket that an instant is in.
    fn floor(&self, level: usize, at: i64) -> i64 {
        // Modulo 2^64, which a bucket's length divides.
        at.wrapping_sub(at.wrapping_sub(self.origin.0) & (self.ns(level) - 1))
    }

    /// The first start of a bucket that is not before an instant.
    fn ceil(&self, level: usize, at: i64) -> i64 {
        let floor = self.floor(level, at);
        if floor == at { at } else { floor.saturating_add(self.ns(level)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_follow_from_length_and_spans() {
        let check = |length: i64, spans, expect: (u32, usize)| {
            let buckets = Buckets::new(Window::new(RawNs(5), RawNs(5 + length)), spans);
            assert_eq!((buckets.finest, buckets.levels), expect, "{length} ns, {spans} spans");
            assert_eq!((buckets.floor(0, 5), buckets.ceil(0, 6)), (5, 5 + buckets.ns(0)));
        };
        check(0, 0, (0, 1));
        check(1, 1, (0, 1));
        check(1 << 20, 0, (14, 2));
        // A thousand buckets.
        check(1 << 30, SPANS << 10, (20, 2));
        check(1 << 50, SPANS << 40, (10, MAX_LEVELS));
        check(i64::MAX - 5, 0, (56, 1));
        check(1 << 60, 0, (54, 2));
        check(1_700_000_000_000_000_000, SPANS << 6, (54, 2));
    }
}
