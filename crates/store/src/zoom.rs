//! Zoom levels: states of threads by buckets of time, so that a picture reads about as many rows as it has pixels.
//!
//! A level has buckets of one length. Of a thread, a bucket with several states becomes a row with the state that filled most of
//! it; buckets in a row with one state become one row. So no row of a level is shorter than a bucket, but for the first and the last of a thread.

use crate::state::State;
use crate::sweep::Row;

/// The length of a bucket of the finest level, ns.
pub(crate) const FINEST_NS: i64 = 1 << 14;

/// How many times as long those of the next level are.
pub(crate) const FACTOR: i64 = 8;

/// A row of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Zoomed {
    pub(crate) thread: u32,
    pub(crate) state: State,
    pub(crate) begin: i64,
    pub(crate) end: i64,
    /// So much of it was the state, ns.
    pub(crate) filled: i64,
}

/// One thread on one level.
#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    begin: i64,
    end: i64,
    /// Time by state.
    filled: [i64; State::ALL.len()],
    last: Option<Zoomed>,
}

/// One level.
#[derive(Debug)]
pub(crate) struct Level {
    ns: i64,
    origin: i64,
    threads: Vec<Bucket>,
}

impl Level {
    /// Number `level`, of so many threads; buckets are counted from `origin`.
    pub(crate) fn new(level: usize, threads: usize, origin: i64) -> Self {
        Self { ns: bucket_ns(level), origin, threads: vec![Bucket::default(); threads] }
    }

    /// Adds the next row of a thread.
    pub(crate) fn add(&mut self, row: &Row, rows: &mut impl FnMut(Zoomed)) {
        let Self { ns, origin, threads } = self;
        let bucket = &mut threads[row.thread as usize];
        let (ns, state) = (*ns, row.doing.state);
        let mut begin = row.begin;
        while begin < row.end {
            let first = *origin + (begin - *origin).div_euclid(ns) * ns;
            // All buckets that the row fills are one.
            let whole = if begin == first { (row.end - begin) / ns * ns } else { 0 };
            let (until, border) = if whole > 0 {
                (begin + whole, begin + whole)
            } else {
                (row.end.min(first + ns), first + ns)
            };
            if begin >= bucket.end {
                bucket.close(row.thread, rows);
                (bucket.begin, bucket.end) = (begin, border);
            }
            bucket.filled[state as usize] += until - begin;
            begin = until;
        }
    }

    /// What is left.
    pub(crate) fn finish(mut self, rows: &mut impl FnMut(Zoomed)) {
        for (thread, bucket) in (0..).zip(&mut self.threads) {
            bucket.close(thread, rows);
            if let Some(last) = bucket.last.take() {
                rows(last);
            }
        }
    }
}

impl Bucket {
    /// The bucket ends: rows of a thread have no holes, so that it is as long as what was added to it.
    fn close(&mut self, thread: u32, rows: &mut impl FnMut(Zoomed)) {
        let most = State::ALL.into_iter().max_by_key(|&state| self.filled[state as usize]);
        let Some(state) = most.filter(|&state| self.filled[state as usize] > 0) else { return };
        let filled = self.filled[state as usize];
        let used: i64 = self.filled.iter().sum();
        let row = Zoomed { thread, state, begin: self.begin, end: self.begin + used, filled };
        self.filled = [0; State::ALL.len()];
        match &mut self.last {
            Some(last) if last.state == state && last.end == row.begin => {
                last.end = row.end;
                last.filled += filled;
            }
            last => {
                if let Some(last) = last.replace(row) {
                    rows(last);
                }
            }
        }
    }
}

/// The length of a level's buckets, ns.
pub(crate) fn bucket_ns(level: usize) -> i64 {
    FINEST_NS.saturating_mul(FACTOR.saturating_pow(level as u32))
}

/// How many levels a time needs: the coarsest has some hundred buckets.
pub(crate) fn levels(ns: i64, most: usize) -> usize {
    (0..most).find(|&level| bucket_ns(level).saturating_mul(256) > ns).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::Doing;
    use proptest::prelude::*;

    fn zoomed(rows: &[(i64, State)], end: i64, ns: i64) -> Vec<Zoomed> {
        let mut level = Level { ns, origin: 0, threads: vec![Bucket::default()] };
        let mut out = Vec::new();
        for (place, &(begin, state)) in rows.iter().enumerate() {
            let end = rows.get(place + 1).map_or(end, |next| next.0);
            let doing = Doing { state, cpu: None, call: None, fd: None, waker: None };
            level.add(&Row { thread: 0, begin, end, doing }, &mut |row| out.push(row));
        }
        level.finish(&mut |row| out.push(row));
        out
    }

    #[test]
    fn what_fills_a_bucket_stays() {
        let check = |rows: &[(i64, State)], end, expect: &[(i64, i64, State, i64)]| {
            let shown: Vec<_> =
                zoomed(rows, end, 10).iter().map(|row| (row.begin, row.end, row.state, row.filled)).collect();
            assert_eq!(shown, expect, "{rows:?}");
        };
        let (user, wait) = (State::UserMode, State::Blocked);
        check(&[(0, user)], 35, &[(0, 35, user, 35)]);
        check(&[(0, user), (3, wait)], 10, &[(0, 10, wait, 7)]);
        check(&[(0, user), (3, wait), (24, user)], 40, &[(0, 20, wait, 17), (20, 40, user, 16)]);
        // Neither begins nor ends with a bucket.
        check(&[(7, user), (13, wait)], 15, &[(7, 15, user, 6)]);
    }

    proptest! {
        #[test]
        fn levels_tile_and_fill(lengths in prop::collection::vec((1..50_i64, 0..8_usize), 1..60), begin in 0..30_i64) {
            let mut at = begin;
            let mut rows: Vec<(i64, State)> = Vec::new();
            for (length, state) in lengths {
                rows.push((at, State::ALL[state]));
                at += length;
            }
            let out = zoomed(&rows, at, 10);
            prop_assert_eq!((out[0].begin, out[out.len() - 1].end), (begin, at));
            prop_assert!(out.windows(2).all(|pair| pair[0].end == pair[1].begin && pair[0].state != pair[1].state));
            for row in out.iter().skip(1).take(out.len().saturating_sub(2)) {
                prop_assert!(row.end - row.begin >= 10);
            }
            for row in &out {
                let of_state = rows.iter().enumerate().filter(|(_, it)| it.1 == row.state).map(|(place, it)| {
                    let end = rows.get(place + 1).map_or(at, |next| next.0);
                    (end.min(row.end) - it.0.max(row.begin)).max(0)
                });
                prop_assert_eq!(row.filled, of_state.sum::<i64>());
            }
        }
    }
}
