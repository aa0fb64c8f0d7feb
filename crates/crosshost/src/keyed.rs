//! Rows by a small number (of a thread, of a CPU) and time, looked up by both.

use std::collections::BTreeMap;

use isochrone_time::RawNs;

/// Rows by key, each key's by time. Keys are as traces have them: they may be any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Keyed<T>(BTreeMap<u32, Vec<T>>);

impl<T> Default for Keyed<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> Keyed<T> {
    /// Sorts rows by key and time. Rows without a key are left out.
    pub(crate) fn new(rows: Vec<T>, key: impl Fn(&T) -> Option<u32>, at: impl Fn(&T) -> RawNs) -> Self {
        let mut all = Self::default();
        all.extend(rows, key, at);
        all
    }

    /// Adds rows, in any order, none of which is earlier than one of its key that is there. Rows without a
    /// key are left out. `O(n log n)` in the new rows, if they are in no order.
    pub(crate) fn extend(&mut self, rows: Vec<T>, key: impl Fn(&T) -> Option<u32>, at: impl Fn(&T) -> RawNs) {
        let mut new = Self::default();
        for row in rows {
            if let Some(key) = key(&row) {
                new.of_mut(key).push(row);
            }
        }
        for (key, mut list) in new.0 {
            list.sort_by_key(&at);
            self.of_mut(key).append(&mut list);
        }
    }

    /// Keeps the rows for which a condition holds.
    pub(crate) fn retain(&mut self, condition: impl Fn(&T) -> bool) {
        self.0.retain(|_, list| {
            list.retain(&condition);
            !list.is_empty()
        });
    }

    /// Passes all rows, to be changed without another order.
    pub(crate) fn each_mut(&mut self, change: impl FnMut(&mut T)) {
        self.0.values_mut().flatten().for_each(change);
    }

    /// The rows of a key, by time.
    pub(crate) fn of(&self, key: u32) -> &[T] {
        self.0.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The rows of a key, to be changed without another order.
    pub(crate) fn of_mut(&mut self, key: u32) -> &mut Vec<T> {
        self.0.entry(key).or_default()
    }

    /// All rows, by key.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.values().flatten()
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
        keyed.retain(|row| row.1 >= RawNs(5));
        keyed.extend(vec![at(5, 12), at(3, 14), at(3, 11)], key, |row| row.1);
        check(&keyed, 1, &[at(1, 5), at(1, 7)]);
        check(&keyed, 3, &[at(3, 9), at(3, 11), at(3, 14)]);
        check(&keyed, 5, &[at(5, 12)]);
    }
}
