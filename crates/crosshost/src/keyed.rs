//! Rows by a small number (of a thread, of a CPU) and time, looked up by both.

use isochrone_time::RawNs;
/// Rows that were sorted by their key and then by time.
#[derive(Debug)]
pub(crate) struct Keyed<T> {
    rows: Vec<T>,
    /// By key: where its rows start; one more than there are keys.
    starts: Vec<usize>,
}

impl<T> Default for Keyed<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), starts: vec![0] }
    }
}

impl<T> Keyed<T> {
    /// Sorts rows by key and time. Rows without a key are left out.
    pub(crate) fn new(rows: Vec<T>, key: impl Fn(&T) -> Option<u32>, at: impl Fn(&T) -> RawNs) -> Self {
        let mut rows: Vec<T> = rows.into_iter().filter(|row| key(row).is_some()).collect();
        rows.sort_by_key(|row| (key(row), at(row)));
        let most = rows.last().and_then(&key).map_or(0, |key| key as usize + 1);
        let mut starts = Vec::with_capacity(most + 1);
        let mut index = 0;
        for number in 0..=most {
            while rows.get(index).and_then(&key).is_some_and(|key| (key as usize) < number) {
                index += 1;
            }
            starts.push(index);
        }
        Self { rows, starts }
    }

    /// The rows of a key, by time.
    pub(crate) fn of(&self, key: u32) -> &[T] {
        let key = key as usize;
        match (self.starts.get(key), self.starts.get(key + 1)) {
            (Some(&from), Some(&to)) => &self.rows[from..to],
            _ => &[],
        }
    }

    /// All rows.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.rows.iter()
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
        let keyed = Keyed::new(rows, |row| Some(row.0).filter(|&key| key < 8), |row| row.1);
        let check = |key, expect: &[(u32, RawNs)]| assert_eq!(keyed.of(key), expect, "{key}");
        check(0, &[]);
        check(1, &[at(1, 5), at(1, 7)]);
        check(2, &[]);
        check(3, &[at(3, 2), at(3, 9)]);
        check(4, &[]);
        check(8, &[]);
        let of_three = keyed.of(3);
        assert_eq!(last_before(of_three, RawNs(9), |row| row.1), Some(&at(3, 2)));
        assert_eq!(last_until(of_three, RawNs(9), |row| row.1), Some(&at(3, 9)));
        assert_eq!(last_until(of_three, RawNs(1), |row| row.1), None);
        assert_eq!(keyed.iter().count(), 4);
        assert!(Keyed::<(u32, RawNs)>::default().of(0).is_empty());
    }
}
