//! Rows by a small number (of a thread, of a CPU) and time, looked up by both.

use std::collections::BTreeMap;

use isochrone_time::RawNs;

/// Rows by key, each key's by time. Keys are as traces have them: they may be any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Keyed<T>(BTreeMap<u32, List<T>>);

/// The rows of a key.
#[derive(Debug, Clone)]
struct List<T> {
    rows: Vec<T>,
    /// How many of them are forgotten: the first ones.
    forgotten: usize,
    /// How many of them are sorted: the first ones.
    sorted: usize,
}

impl<T> List<T> {
    fn rows(&self) -> &[T] {
        &self.rows[self.forgotten..]
    }

    /// See [`Keyed::forget`].
    fn forget(&mut self, until: RawNs, at: impl Fn(&T) -> RawNs, keep: impl Fn(&mut T) -> bool) {
        let before = self.rows().partition_point(|row| at(row) <= until);
        let mut first = self.forgotten + before;
        for index in (self.forgotten..first).rev() {
            if keep(&mut self.rows[index]) {
                first -= 1;
                self.rows.swap(index, first);
            }
        }
        self.forgotten = first;
        // A part of the memory is the price for moving each row a few times only.
        if self.forgotten > self.rows.len() / 8 {
            self.rows.drain(..self.forgotten);
            self.sorted = self.sorted.saturating_sub(self.forgotten);
            self.forgotten = 0;
        }
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), forgotten: 0, sorted: 0 }
    }
}

impl<T: PartialEq> PartialEq for List<T> {
    fn eq(&self, other: &Self) -> bool {
        self.rows() == other.rows()
    }
}

impl<T: Eq> Eq for List<T> {}

impl<T> Default for Keyed<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> Keyed<T> {
    /// Sorts rows by key and time. Rows without a key are left out.
    pub(crate) fn new(rows: Vec<T>, key: impl Fn(&T) -> Option<u32>, at: impl Fn(&T) -> RawNs) -> Self {
        let mut all = Self::default();
        for row in rows {
            all.add(key(&row), row);
        }
        all.sort(at);
        all
    }

    /// Adds a row that is not earlier than those that were sorted, after which they have to be
    /// [sorted](Self::sort) again. One without a key is left out.
    pub(crate) fn add(&mut self, key: Option<u32>, row: T) {
        if let Some(key) = key {
            self.0.entry(key).or_default().rows.push(row);
        }
    }

    /// Sorts what was added to the rows of each key by time; those of one time stay in the order in which
    /// they were added. Linear where they are sorted.
    pub(crate) fn sort(&mut self, at: impl Fn(&T) -> RawNs) {
        for List { rows, sorted, .. } in self.0.values_mut() {
            let new = &mut rows[*sorted..];
            if !new.is_sorted_by_key(&at) {
                new.sort_by_key(&at);
            }
            *sorted = rows.len();
        }
    }

    /// Forgets the rows up to an instant, that included, for which `keep` is false; it may cut those that
    /// remain, without another order. Linear in these rows, and some moves of each row in all.
    pub(crate) fn forget(&mut self, until: RawNs, at: impl Fn(&T) -> RawNs, keep: impl Fn(&mut T) -> bool) {
        self.0.retain(|_, list| {
            list.forget(until, &at, &keep);
            !list.rows().is_empty()
        });
    }

    /// The rows of a key, by time.
    pub(crate) fn of(&self, key: u32) -> &[T] {
        self.0.get(&key).map_or(&[], List::rows)
    }

    /// The last row of a key, to be changed without another order.
    pub(crate) fn last_mut(&mut self, key: u32) -> Option<&mut T> {
        let List { rows, forgotten, .. } = self.0.get_mut(&key)?;
        rows[*forgotten..].last_mut()
    }

    /// All rows, by key.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.values().flat_map(List::rows)
    }
}

/// The last of some rows, sorted by time, that is before an instant.
pub(crate) fn last_before<T>(rows: &[T], at: RawNs, time: impl Fn(&T) -> RawNs) -> Option<&T> {
    let index = rows.partition_point(|row| time(row) < at);
    rows[..index].last()
}

/// The last of some rows, sorted by time, that is not after an instant.
pub(crate) fn last_until<T>(rows: &[T], at: RawNs, time: impl Fn(&T) -> RawNs) -> Option<&T> {
    last_before(rows, at.saturating_add(1), time)
}

#[cfg(test)]
mod tests {
    use isochrone_testkit::Random;

    use super::*;

    #[test]
    fn rows_by_key_and_time() {
        let at = |key, ns| (key, RawNs(ns));
        let rows = vec![at(3, 9), at(1, 5), at(3, 2), at(1, 7), at(8, 1)];
        let key = |row: &(u32, RawNs)| Some(row.0).filter(|&key| key < 8);
        let mut keyed = Keyed::new(rows, key, |row| row.1);
        let check =
            |keyed: &Keyed<_>, key, expect: &[(u32, RawNs)]| assert_eq!(keyed.of(key), expect, "{key}");
        check(&keyed, 0, &[]);
        check(&keyed, 1, &[at(1, 5), at(1, 7)]);
        check(&keyed, 2, &[]);
        check(&keyed, 3, &[at(3, 2), at(3, 9)]);
        check(&keyed, 4, &[]);
        check(&keyed, 8, &[]);
        let of_three = keyed.of(3);
        assert_eq!(last_before(of_three, RawNs(9), |row| row.1), Some(&at(3, 2)));
        assert_eq!(last_until(of_three, RawNs(9), |row| row.1), Some(&at(3, 9)));
        assert_eq!(last_until(of_three, RawNs(1), |row| row.1), None);
        assert_eq!(keyed.iter().count(), 4);
        assert!(Keyed::<(u32, RawNs)>::default().of(0).is_empty());
        keyed.forget(RawNs(5), |row| row.1, |row| row.1 >= RawNs(5));
        for row in [at(5, 12), at(3, 14), at(3, 11), at(9, 1)] {
            keyed.add(key(&row), row);
        }
        keyed.sort(|row| row.1);
        check(&keyed, 1, &[at(1, 5), at(1, 7)]);
        check(&keyed, 3, &[at(3, 9), at(3, 11), at(3, 14)]);
        check(&keyed, 5, &[at(5, 12)]);
    }

    /// Rows are spans that start in order and end anywhere; what is forgotten and added is as in a list that
    /// is searched as a whole.
    #[test]
    fn what_is_forgotten_is_what_ended() {
        let mut random = Random::new(7);
        for _ in 0..200 {
            let mut keyed: Keyed<(RawNs, RawNs)> = Keyed::default();
            let mut expect: Vec<(u32, (RawNs, RawNs))> = Vec::new();
            let mut now = RawNs(0);
            for _ in 0..random.below(12) {
                let until = now + random.below(8) as i64;
                let ends_after = |row: &mut (RawNs, RawNs)| {
                    row.0 = row.0.max(until);
                    row.1 > until
                };
                keyed.forget(until, |row| row.0, ends_after);
                expect.retain_mut(|(_, row)| row.0 > until || ends_after(row));
                now = now.max(until) + random.below(3) as i64;
                for _ in 0..random.below(30) {
                    let start = now + random.below(20) as i64;
                    let (key, row) = (random.below(3) as u32, (start, start + random.below(9) as i64));
                    keyed.add(Some(key), row);
                    expect.push((key, row));
                }
                keyed.sort(|row| row.0);
                expect.sort_by_key(|(key, row)| (*key, row.0));
                now += 20;
                assert!(keyed.iter().eq(expect.iter().map(|(_, row)| row)));
                let of_key = |key| expect.iter().filter(move |it| it.0 == key).map(|it| &it.1);
                (0..4).for_each(|key| assert!(keyed.of(key).iter().eq(of_key(key))));
                (0..4)
                    .for_each(|key| assert_eq!(keyed.last_mut(key).map(|it| &*it), of_key(key).next_back()));
            }
        }
    }
}
