//! Rows of tables, all of them or the top-k. Both are serialized sorted, so that the order in which the rows
//! came leaves no trace.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Rows, sorted when they are read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortedRows<T>(Vec<T>);

impl<T> Default for SortedRows<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Ord> SortedRows<T> {
    /// Adds one.
    pub fn push(&mut self, row: T) {
        self.0.push(row);
    }

    /// Adds all of another.
    pub fn absorb(&mut self, mut other: Self) {
        if self.0.len() < other.0.len() {
            std::mem::swap(self, &mut other);
        }
        self.0.append(&mut other.0);
    }

    /// All rows, to be changed, in no order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut()
    }

    /// All rows in their order. `O(n log n)`.
    pub fn sorted(&self) -> Vec<&T> {
        let mut rows: Vec<&T> = self.0.iter().collect();
        rows.sort_unstable();
        rows
    }
}

impl<T: Ord + Serialize> Serialize for SortedRows<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.sorted())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for SortedRows<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Vec::deserialize(deserializer)?))
    }
}

/// A row with the key that [`TopRows`] sorts by.
pub trait SortKey: Ord {
    /// The key: greater ones come first. It must not depend on thread ids, which change when pieces are
    /// merged.
    fn sort_key(&self) -> u64;
}

/// The rows with the greatest keys: as many as requested, and all that tie with the last of them.
///
/// Because of the latter it is a function of the set of all rows, whatever order they come in. Memory: twice
/// what is requested, and the ties.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "Form<T>", bound(deserialize = "T: Deserialize<'de>"))]
pub struct TopRows<T> {
    /// Number of rows; `None`: all.
    limit: Option<usize>,
    rows: Vec<T>,
    /// Number of rows that were added, kept or not.
    count: u64,
    /// The number of rows at which to throw some away.
    full: usize,
    /// Rows with lesser keys are not among the greatest any more.
    floor: u64,
}

/// What is written of a [`TopRows`].
#[derive(Serialize, Deserialize)]
struct Form<T> {
    limit: Option<usize>,
    rows: Vec<T>,
    count: u64,
}

impl<T> From<Form<T>> for TopRows<T> {
    fn from(form: Form<T>) -> Self {
        Self { rows: form.rows, count: form.count, ..Self::new(form.limit) }
    }
}

impl<T> Default for TopRows<T> {
    fn default() -> Self {
        Self::new(None)
    }
}

impl<T> TopRows<T> {
    /// Of `limit` rows; `None`: of all.
    pub fn new(limit: Option<usize>) -> Self {
        Self { limit, rows: Vec::new(), count: 0, full: 1024, floor: 0 }
    }
}

/// The least key that is among the greatest `limit`.
fn floor(mut ranks: Vec<u64>, limit: Option<usize>) -> u64 {
    match limit {
        Some(0) => u64::MAX,
        Some(limit) if limit < ranks.len() => *ranks.select_nth_unstable_by(limit - 1, |a, b| b.cmp(a)).1,
        _ => 0,
    }
}

impl<T: SortKey> TopRows<T> {
    /// Adds one. Constant on average.
    pub fn push(&mut self, row: T) {
        self.count += 1;
        self.keep(row);
    }

    fn keep(&mut self, row: T) {
        if row.sort_key() < self.floor {
            return;
        }
        self.rows.push(row);
        if self.rows.len() >= self.full {
            self.prune();
        }
    }

    fn prune(&mut self) {
        self.floor = floor(self.rows.iter().map(T::sort_key).collect(), self.limit);
        let floor = self.floor;
        self.rows.retain(|row| row.sort_key() >= floor);
        self.full = (self.rows.len() * 2).max(1024);
    }

    /// Adds all of another of the same limit.
    pub fn absorb(&mut self, other: Self) {
        self.count += other.count;
        other.rows.into_iter().for_each(|row| self.keep(row));
    }

    /// All rows, to be changed (but not their keys), in no order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.rows.iter_mut()
    }

    /// Number of rows that were added, kept or not.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The rows, the greatest first, those of one key in their own order.
    pub fn sorted(&self) -> Vec<&T> {
        let floor = floor(self.rows.iter().map(T::sort_key).collect(), self.limit);
        let mut rows: Vec<&T> = self.rows.iter().filter(|row| row.sort_key() >= floor).collect();
        rows.sort_unstable_by(|a, b| b.sort_key().cmp(&a.sort_key()).then_with(|| a.cmp(b)));
        rows
    }
}

impl<T: SortKey + Serialize> Serialize for TopRows<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Form { limit: self.limit, rows: self.sorted(), count: self.count }.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl SortKey for (u64, char) {
        fn sort_key(&self) -> u64 {
            self.0
        }
    }

    #[test]
    fn the_level_ones_stay() {
        let check = |limit, expect: &[(u64, char)]| {
            let mut top = TopRows::new(limit);
            for row in [(3, 'c'), (1, 'a'), (3, 'b'), (9, 'd'), (2, 'e')] {
                top.push(row);
            }
            assert_eq!(top.sorted().into_iter().copied().collect::<Vec<_>>(), expect, "{limit:?}");
        };
        check(None, &[(9, 'd'), (3, 'b'), (3, 'c'), (2, 'e'), (1, 'a')]);
        check(Some(2), &[(9, 'd'), (3, 'b'), (3, 'c')]);
        check(Some(1), &[(9, 'd')]);
        check(Some(0), &[]);
    }

    #[test]
    fn few_of_many_are_kept() {
        let mut top = TopRows::new(Some(3));
        (0..100_000u64).for_each(|n| top.push((n * 7919 % 100_003, 'x')));
        assert!(top.rows.len() < 1024, "{}", top.rows.len());
        let mut all: Vec<_> = (0..100_000u64).map(|n| n * 7919 % 100_003).collect();
        all.sort_unstable();
        all.reverse();
        assert_eq!(top.sorted().iter().map(|row| row.0).collect::<Vec<_>>(), all[..3]);
    }
}
