//! Adds up by thread and bucket.

use super::Buckets;

/// What a bucket has of a thread.
pub(crate) trait Filled: Default {
    /// What time is added up by.
    type Key: Copy;

    /// Adds time.
    fn add(&mut self, key: Self::Key, ns: i64);

    /// Adds all of a part of the bucket.
    fn absorb(&mut self, part: &Self);
}

/// Gets sums: level, thread, start and end of the time, and what is in it.
pub(super) trait Output<F> {
    /// Gets the sums of one bucket.
    fn bucket(&mut self, level: usize, thread: u32, time: (i64, i64), filled: &F);
}

/// A bucket of a thread that is being filled.
#[derive(Debug)]
struct Open<F> {
    /// Its start; `i64::MIN`: there is none.
    start: i64,
    filled: F,
}

/// The buckets that are being filled, of all levels and threads. What is added of a thread is in the order of
/// time, more or less: where it goes back to a bucket, that has several sums.
#[derive(Debug)]
pub(super) struct Adder<F> {
    pub(super) buckets: Buckets,
    /// By level, by thread.
    levels: Vec<Vec<Open<F>>>,
}

impl<F: Filled> Adder<F> {
    pub(super) fn new(buckets: Buckets, threads: usize) -> Self {
        let open = || Open { start: i64::MIN, filled: F::default() };
        let level = || (0..threads).map(|_| open()).collect();
        Self { buckets, levels: (0..buckets.levels).map(|_| level()).collect() }
    }

    /// The sums of a bucket that begins at an instant.
    pub(super) fn at(&mut self, level: usize, thread: u32, start: i64, to: &mut impl Output<F>) -> &mut F {
        if self.levels[level][thread as usize].start != start {
            self.close(level, thread, to);
            self.levels[level][thread as usize].start = start;
        }
        &mut self.levels[level][thread as usize].filled
    }

    /// Adds a time of a thread.
    #[inline]
    pub(super) fn time(
        &mut self,
        thread: u32,
        key: F::Key,
        (start, end): (i64, i64),
        to: &mut impl Output<F>,
    ) {
        let open = &mut self.levels[0][thread as usize];
        if start >= open.start && open.start != i64::MIN && end - open.start <= self.buckets.ns(0) {
            open.filled.add(key, end - start);
        } else if start < end {
            self.spread(0, thread, key, (start, end), to);
        }
    }

    /// Adds a time to one level: to the buckets that it fills in part, and, whole, to those between them.
    fn spread(&mut self, level: usize, thread: u32, key: F::Key, time: (i64, i64), to: &mut impl Output<F>) {
        let ((start, end), buckets) = (time, self.buckets);
        let (first, last) = (buckets.ceil(level, start), buckets.floor(level, end));
        if first >= last {
            // No bucket is filled: it lies in one, or in two.
            for (start, end) in [(start, end.min(first)), (first.max(start), end)] {
                if start < end {
                    self.at(level, thread, buckets.floor(level, start), to).add(key, end - start);
                }
            }
            return;
        }
        if start < first {
            self.at(level, thread, buckets.floor(level, start), to).add(key, first - start);
        }
        self.whole(level, thread, key, (first, last), to);
        if last < end {
            self.at(level, thread, last, to).add(key, end - last);
        }
    }

    /// Adds a time that fills some buckets of a level. It is written as one, cut where buckets of the next
    /// level begin.
    fn whole(&mut self, level: usize, thread: u32, key: F::Key, time: (i64, i64), to: &mut impl Output<F>) {
        let (start, end) = time;
        let is_last = level + 1 == self.levels.len();
        let border = |at: i64| {
            if is_last {
                end
            } else {
                self.buckets.floor(level + 1, at).saturating_add(self.buckets.ns(level + 1))
            }
        };
        let mut from = start;
        while from < end {
            let until = border(from).min(end);
            let mut filled = F::default();
            filled.add(key, until - from);
            to.bucket(level, thread, (from, until), &filled);
            from = until;
        }
        if !is_last {
            self.spread(level + 1, thread, key, time, to);
        }
    }

    /// Completes a bucket: what it has goes to the one of the next level that it is a part of, too.
    fn close(&mut self, level: usize, thread: u32, to: &mut impl Output<F>) {
        let open = &mut self.levels[level][thread as usize];
        let start = std::mem::replace(&mut open.start, i64::MIN);
        if start == i64::MIN {
            return;
        }
        let filled = std::mem::take(&mut open.filled);
        to.bucket(level, thread, (start, start.saturating_add(self.buckets.ns(level))), &filled);
        if level + 1 < self.levels.len() {
            let of_next = self.buckets.floor(level + 1, start);
            self.at(level + 1, thread, of_next, to).absorb(&filled);
        }
    }

    /// Completes all buckets.
    pub(super) fn finish(mut self, to: &mut impl Output<F>) {
        for level in 0..self.levels.len() {
            for thread in 0..self.levels[level].len() {
                self.close(level, thread as u32, to);
            }
        }
    }
}
