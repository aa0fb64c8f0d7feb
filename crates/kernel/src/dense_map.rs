//! A table by number: low numbers are indexes of a list, all others are keys of a hash table.
//!
//! CPUs and file descriptors have low numbers, so that a lookup is an index into a list; in bad input they
//! may be any. As [`CanonicalMap`], it is serialized in the order of the numbers, so that equal contents are
//! equal bytes.

use std::hash::Hash;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::canonical_map::CanonicalMap;

/// A table by number. A number below `LOW` allocates the list up to it.
#[derive(Debug, Clone)]
pub(crate) struct DenseMap<K: Eq + Hash, V, const LOW: usize> {
    low: Vec<Option<V>>,
    high: CanonicalMap<K, V>,
}

impl<K: Eq + Hash, V, const LOW: usize> Default for DenseMap<K, V, LOW> {
    fn default() -> Self {
        Self { low: Vec::new(), high: CanonicalMap::default() }
    }
}

impl<K: Copy + Ord + Hash + TryInto<usize> + TryFrom<usize>, V, const LOW: usize> DenseMap<K, V, LOW> {
    /// The index of a number in the list, if it is low.
    #[inline]
    fn index(number: K) -> Option<usize> {
        number.try_into().ok().filter(|&index| index < LOW)
    }

    #[inline]
    pub(crate) fn get(&self, number: K) -> Option<&V> {
        match Self::index(number) {
            Some(index) => self.low.get(index)?.as_ref(),
            None => self.high.get(&number),
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: K) -> Option<&mut V> {
        match Self::index(number) {
            Some(index) => self.low.get_mut(index)?.as_mut(),
            None => self.high.get_mut(&number),
        }
    }

    /// Returns the value of a number, inserting what `make` returns if there is none.
    // An index, nearly always: a call would cost more than that.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub(crate) fn or_insert_with(&mut self, number: K, make: impl FnOnce() -> V) -> &mut V {
        match Self::index(number) {
            Some(index) if index < self.low.len() => self.low[index].get_or_insert_with(|| new(make)),
            Some(index) => self.low_mut(index).get_or_insert_with(|| new(make)),
            None => self.high.or_insert_with(number, make),
        }
    }

    /// Returns the value of a number, inserting the default if there is none.
    #[inline]
    pub(crate) fn or_default(&mut self, number: K) -> &mut V
    where
        V: Default,
    {
        self.or_insert_with(number, V::default)
    }

    /// Sets a value and returns the previous one.
    pub(crate) fn insert(&mut self, number: K, value: V) -> Option<V> {
        match Self::index(number) {
            Some(index) => self.low_mut(index).replace(value),
            None => self.high.insert(number, value),
        }
    }

    /// Removes a value and returns it.
    pub(crate) fn remove(&mut self, number: K) -> Option<V> {
        match Self::index(number) {
            Some(index) => self.low.get_mut(index)?.take(),
            None => self.high.remove(&number),
        }
    }

    /// All values, in arbitrary order.
    pub(crate) fn unordered(&self) -> impl Iterator<Item = (K, &V)> {
        let low = self.low.iter().enumerate();
        let low = low.filter_map(|(index, value)| Some((K::try_from(index).ok()?, value.as_ref()?)));
        low.chain(self.high.unordered().map(|(&number, value)| (number, value)))
    }

    /// All values, mutable, in arbitrary order.
    pub(crate) fn unordered_mut(&mut self) -> impl Iterator<Item = (K, &mut V)> {
        let low = self.low.iter_mut().enumerate();
        let low = low.filter_map(|(index, value)| Some((K::try_from(index).ok()?, value.as_mut()?)));
        low.chain(self.high.unordered_mut().map(|(&number, value)| (number, value)))
    }

    /// Takes all values, in arbitrary order.
    pub(crate) fn into_unordered(self) -> impl Iterator<Item = (K, V)> {
        let low = self.low.into_iter().enumerate();
        let low = low.filter_map(|(index, value)| Some((K::try_from(index).ok()?, value?)));
        low.chain(self.high.into_unordered())
    }

    /// All values by number. `O(n log n)`.
    pub(crate) fn sorted(&self) -> Vec<(K, &V)> {
        let mut all: Vec<_> = self.unordered().collect();
        all.sort_unstable_by_key(|&(number, _)| number);
        all
    }

    /// Takes all values, in the order of their numbers.
    pub(crate) fn into_sorted(self) -> Vec<(K, V)> {
        let mut all: Vec<_> = self.into_unordered().collect();
        all.sort_unstable_by_key(|&(number, _)| number);
        all
    }

    #[cold]
    fn low_mut(&mut self, index: usize) -> &mut Option<V> {
        if index >= self.low.len() {
            self.low.resize_with(index + 1, || None);
        }
        &mut self.low[index]
    }
}

/// Makes a value that was not there: rare, and kept out of the code of lookups.
#[cold]
fn new<V>(make: impl FnOnce() -> V) -> V {
    make()
}

impl<K, V, const LOW: usize> FromIterator<(K, V)> for DenseMap<K, V, LOW>
where
    K: Copy + Ord + Hash + TryInto<usize> + TryFrom<usize>,
{
    fn from_iter<I: IntoIterator<Item = (K, V)>>(values: I) -> Self {
        let mut all = Self::default();
        for (number, value) in values {
            all.insert(number, value);
        }
        all
    }
}

impl<K, V: PartialEq, const LOW: usize> PartialEq for DenseMap<K, V, LOW>
where
    K: Copy + Ord + Hash + TryInto<usize> + TryFrom<usize>,
{
    fn eq(&self, other: &Self) -> bool {
        self.sorted() == other.sorted()
    }
}

impl<K, V: Eq, const LOW: usize> Eq for DenseMap<K, V, LOW> where
    K: Copy + Ord + Hash + TryInto<usize> + TryFrom<usize>
{
}

impl<K, V: Serialize, const LOW: usize> Serialize for DenseMap<K, V, LOW>
where
    K: Copy + Ord + Hash + TryInto<usize> + TryFrom<usize> + Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.sorted())
    }
}

impl<'de, K, V: DeserializeOwned, const LOW: usize> Deserialize<'de> for DenseMap<K, V, LOW>
where
    K: Copy + Ord + Hash + TryInto<usize> + TryFrom<usize> + DeserializeOwned,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<(K, V)>::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_be_any() {
        let mut table: DenseMap<i32, i64, 64> = DenseMap::default();
        let numbers = [i32::MAX, 3, 63, 64, 0, -1, 65_535];
        for number in numbers {
            assert_eq!(table.get(number), None);
            assert_eq!(table.insert(number, number.into()), None);
            assert_eq!(table.get_mut(number).copied(), Some(number.into()));
        }
        assert_eq!(table.insert(3, 7), Some(3));
        assert_eq!(*table.or_insert_with(3, || 8), 7);
        assert_eq!(*table.or_default(4), 0);
        let bytes = postcard::to_stdvec(&table).unwrap();
        assert_eq!(postcard::from_bytes::<DenseMap<i32, i64, 64>>(&bytes).unwrap(), table);
        assert_eq!(table.remove(63), Some(63));
        // Removed values make no difference.
        let same: DenseMap<i32, i64, 64> =
            [(65_535, 65_535), (4, 0), (3, 7), (0, 0), (-1, -1), (i32::MAX, i32::MAX.into()), (64, 64)]
                .into_iter()
                .collect();
        assert_eq!(table, same);
        assert_eq!(postcard::to_stdvec(&table).unwrap(), postcard::to_stdvec(&same).unwrap());
        let all: Vec<i32> = table.into_sorted().into_iter().map(|(number, _)| number).collect();
        assert_eq!(all, [-1, 0, 3, 4, 64, 65_535, i32::MAX]);
    }
}
