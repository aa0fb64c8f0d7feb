//! Zoom levels: states of threads by buckets of time, so that a picture reads about as many rows as it has
//! pixels.
//!
//! A level has buckets of one length, and a fixed number of them are one of the next level. Of a thread, a
//! bucket with several states becomes a row with the state that filled most of it; successive buckets with
//! one state become one row. So no row of a level is shorter than a bucket, except the first and the last of
//! a thread. The contents of a bucket are added up in the finest level only: when a bucket is complete, its
//! sums are passed to the next.

use isochrone_time::RawNs;

use crate::state::State;
use crate::tables::ZoomRow;
use crate::threads::ThreadRow;

/// The length of a bucket of the finest level, as a power of two, ns. What is finer is derived from the
/// spans: a window of as many buckets as a screen has pixels has few enough of them.
const FINEST: u32 = 17;

/// The factor between the lengths of two levels, as a power of two.
const FACTOR: u32 = 3;

/// Maximum number of levels.
pub(crate) const MAX_LEVELS: usize = 12;

/// Time by state.
type Filled = [i64; State::ALL.len()];

/// One thread on one level. `begin` to `end` are one bucket, or several with one state.
#[derive(Debug, Clone, Default)]
struct Bucket {
    begin: i64,
    end: i64,
    filled: Filled,
    last: Option<ZoomRow>,
}

/// All levels.
#[derive(Debug)]
pub(crate) struct Levels {
    origin: i64,
    /// By level, by thread.
    levels: Vec<Vec<Bucket>>,
}

impl Levels {
    /// Makes `levels` levels of `threads` threads; buckets are counted from `origin`.
    pub(crate) fn new(levels: usize, threads: usize, origin: i64) -> Self {
        Self { origin, levels: vec![vec![Bucket::default(); threads]; levels] }
    }

    /// Adds the next state of a thread: it begins where the last one ended. `rows` gets complete rows, with
    /// their levels.
    #[inline]
    pub(crate) fn add(
        &mut self,
        thread: u32,
        state: State,
        (begin, end): (i64, i64),
        rows: &mut impl FnMut(usize, ZoomRow),
    ) {
        if let Some(level) = self.levels.first_mut() {
            let bucket = &mut level[thread as usize];
            if end <= bucket.end && begin >= bucket.begin {
                bucket.filled[state as usize] += end - begin;
            } else {
                self.spread(0, thread, state, (begin, end), rows);
            }
        }
    }

    /// Adds the next state on one level, in as many buckets as it fills.
    fn spread(
        &mut self,
        level: usize,
        thread: u32,
        state: State,
        (mut begin, end): (i64, i64),
        rows: &mut impl FnMut(usize, ZoomRow),
    ) {
        while begin < end {
            let border = self.border(level, begin);
            let ns = bucket_ns(level);
            // All buckets that the row fills are one.
            let whole = if border - ns == begin { (end - begin) / ns * ns } else { 0 };
            let (until, border) =
                if whole > 0 { (begin + whole, begin + whole) } else { (end.min(border), border) };
            let mut filled = Filled::default();
            filled[state as usize] = until - begin;
            self.fill(level, thread, (begin, border), &filled, rows);
            begin = until;
        }
    }

    /// The end of the bucket that a time is in.
    fn border(&self, level: usize, time: i64) -> i64 {
        let ns = bucket_ns(level);
        self.origin + ((time - self.origin) / ns + 1) * ns
    }

    /// Adds time by state to the bucket that ends at a border, and completes the one before if that is
    /// another.
    fn fill(
        &mut self,
        level: usize,
        thread: u32,
        (begin, border): (i64, i64),
        filled: &Filled,
        rows: &mut impl FnMut(usize, ZoomRow),
    ) {
        if begin >= self.levels[level][thread as usize].end {
            self.close(level, thread, rows);
            let bucket = &mut self.levels[level][thread as usize];
            (bucket.begin, bucket.end) = (begin, border);
        }
        let bucket = &mut self.levels[level][thread as usize];
        for (sum, ns) in bucket.filled.iter_mut().zip(filled) {
            *sum += ns;
        }
    }

    /// A bucket is complete: rows of a thread have no holes, so that it is as long as what was added to it.
    fn close(&mut self, level: usize, thread: u32, rows: &mut impl FnMut(usize, ZoomRow)) {
        let bucket = &mut self.levels[level][thread as usize];
        let filled = std::mem::take(&mut bucket.filled);
        let longest = State::ALL.into_iter().max_by_key(|&state| filled[state as usize]);
        let Some(state) = longest.filter(|&state| filled[state as usize] > 0) else { return };
        let (begin, used) = (bucket.begin, filled.iter().sum::<i64>());
        let (most, end) = (filled[state as usize], begin + used);
        let row =
            ZoomRow { thread: ThreadRow(thread), state, start: RawNs(begin), end: RawNs(end), filled: most };
        match &mut bucket.last {
            Some(last) if last.state == state && last.end == row.start => {
                last.end = row.end;
                last.filled += row.filled;
            }
            last => {
                if let Some(last) = last.replace(row) {
                    rows(level, last);
                }
            }
        }
        let next = level + 1;
        if next < self.levels.len() {
            if most == used {
                self.spread(next, thread, state, (begin, end), rows);
            } else {
                // Several states are within one bucket, and that within one of the next level.
                let border = self.border(next, begin);
                self.fill(next, thread, (begin, border), &filled, rows);
            }
        }
    }

    /// Completes the remaining buckets.
    pub(crate) fn finish(mut self, rows: &mut impl FnMut(usize, ZoomRow)) {
        for level in 0..self.levels.len() {
            for thread in 0..self.levels[level].len() {
                self.close(level, thread as u32, rows);
                if let Some(last) = self.levels[level][thread].last.take() {
                    rows(level, last);
                }
            }
        }
    }
}

/// The length of a level's buckets, ns.
pub(crate) fn bucket_ns(level: usize) -> i64 {
    1 << (FINEST + FACTOR * level as u32)
}

/// The number of levels that a time needs: the coarsest has some hundred buckets.
pub(crate) fn levels(ns: i64) -> usize {
    (0..MAX_LEVELS).find(|&level| bucket_ns(level).saturating_mul(256) > ns).unwrap_or(MAX_LEVELS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The finest bucket.
    const NS: i64 = 1 << FINEST;

    /// Rows of levels from states that follow each other: when each begins, which it is.
    fn zoomed(rows: &[(i64, State)], end: i64, count: usize) -> Vec<Vec<ZoomRow>> {
        let mut levels = Levels::new(count, 1, 0);
        let mut out = vec![Vec::new(); count];
        for (index, &(begin, state)) in rows.iter().enumerate() {
            let end = rows.get(index + 1).map_or(end, |next| next.0);
            levels.add(0, state, (begin, end), &mut |level, row| out[level].push(row));
        }
        levels.finish(&mut |level, row| out[level].push(row));
        out
    }

    #[test]
    fn what_fills_a_bucket_stays() {
        // Times are tenths of a bucket.
        let check = |rows: &[(i64, State)], end, expect: &[(i64, i64, State, i64)]| {
            let ns = |tenths: i64| tenths * (NS / 10);
            // Ten of these are a bit less than a bucket: whole buckets are expressed by their own length.
            let ns = |tenths: i64| tenths / 10 * NS + ns(tenths % 10);
            let rows: Vec<_> = rows.iter().map(|&(begin, state)| (ns(begin), state)).collect();
            let shown: Vec<_> = zoomed(&rows, ns(end), 1)[0]
                .iter()
                .map(|row| (row.start.0, row.end.0, row.state, row.filled * 10 / NS))
                .collect();
            let expect: Vec<_> = expect
                .iter()
                .map(|&(begin, end, state, filled)| (ns(begin), ns(end), state, filled))
                .collect();
            assert_eq!(shown, expect, "{rows:?}");
        };
        let (user, wait) = (State::UserMode, State::Blocked);
        check(&[(0, user)], 35, &[(0, 35, user, 34)]);
        check(&[(0, user), (3, wait)], 10, &[(0, 10, wait, 7)]);
        check(&[(0, user), (3, wait), (24, user)], 40, &[(0, 20, wait, 17), (20, 40, user, 16)]);
        // Neither begins nor ends with a bucket.
        check(&[(7, user), (13, wait)], 15, &[(7, 15, user, 6)]);
    }

    proptest! {
        #[test]
        fn levels_tile_and_fill(
            lengths in prop::collection::vec((1..NS * 6, 0..40_u32, 0..8_usize), 1..80),
            begin in 0..NS * 3,
        ) {
            let mut at = begin;
            let mut rows: Vec<(i64, State)> = Vec::new();
            for (length, scale, state) in lengths {
                rows.push((at, State::ALL[state]));
                // Mostly short, some of them as long as many buckets.
                at += (length >> (scale / 2)).max(1);
            }
            for (level, out) in zoomed(&rows, at, 3).into_iter().enumerate() {
                prop_assert_eq!((out[0].start.0, out[out.len() - 1].end.0), (begin, at));
                prop_assert!(out.windows(2).all(|pair| pair[0].end == pair[1].start && pair[0].state != pair[1].state));
                for row in out.iter().skip(1).take(out.len().saturating_sub(2)) {
                    prop_assert!(row.end - row.start >= bucket_ns(level));
                }
                for row in &out {
                    let of_state = rows.iter().enumerate().filter(|(_, it)| it.1 == row.state).map(|(index, it)| {
                        let end = rows.get(index + 1).map_or(at, |next| next.0);
                        (end.min(row.end.0) - it.0.max(row.start.0)).max(0)
                    });
                    prop_assert_eq!(row.filled, of_state.sum::<i64>());
                }
            }
        }
    }
}
