//! A hash table that is serialized in the order of its keys, so that equal contents are equal bytes.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

use rustc_hash::FxBuildHasher;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A hash table whose serialized form is sorted by key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CanonicalMap<K: Eq + Hash, V>(HashMap<K, V, FxBuildHasher>);

impl<K: Eq + Hash, V> Default for CanonicalMap<K, V> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<K: Eq + Hash + Ord + Clone, V> CanonicalMap<K, V> {
    /// Returns the value of a key.
    #[inline]
    pub fn get(&self, key: &K) -> Option<&V> {
        self.0.get(key)
    }

    /// Returns the value of a key, mutable.
    #[inline]
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.0.get_mut(key)
    }

    /// Returns the value of a key, inserting the default if there is none.
    #[inline]
    pub fn or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.0.entry(key).or_default()
    }

    /// Returns the value of a key, inserting what `make` returns if there is none.
    pub fn or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        self.0.entry(key).or_insert_with(make)
    }

    /// Sets a value and returns the previous one.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.0.insert(key, value)
    }

    /// Removes a value and returns it.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        self.0.remove(key)
    }

    /// Keeps the values for which `keep` returns true.
    pub fn retain(&mut self, keep: impl FnMut(&K, &mut V) -> bool) {
        self.0.retain(keep);
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All values in arbitrary order: for sums, and for changes that concern each value alone.
    pub fn unordered(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter()
    }

    /// All values, mutable, in arbitrary order.
    pub fn unordered_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.0.iter_mut()
    }

    /// All values in the order of their keys. `O(n log n)`.
    pub fn sorted(&self) -> Vec<(&K, &V)> {
        sorted(&self.0)
    }

    /// Takes all values, in arbitrary order.
    pub fn into_unordered(self) -> impl Iterator<Item = (K, V)> {
        self.0.into_iter()
    }

    /// Takes all values, in the order of their keys.
    pub fn into_sorted(self) -> Vec<(K, V)> {
        let mut all: Vec<_> = self.0.into_iter().collect();
        all.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        all
    }

    /// Moves values to other keys; `join` merges a value into the one that the new key has already. Only keys
    /// that change are touched, so the cost is that of looking at them.
    pub fn rekey(&mut self, change: impl Fn(&K) -> K, mut join: impl FnMut(&mut V, V)) {
        let moved: Vec<(K, K)> = self
            .0
            .keys()
            .filter_map(|key| {
                let new = change(key);
                (new != *key).then(|| (key.clone(), new))
            })
            .collect();
        // Remove first, then insert: a key may be both an old and a new one.
        let moved: Vec<(K, Option<V>)> =
            moved.into_iter().map(|(old, new)| (new, self.0.remove(&old))).collect();
        for (key, value) in moved {
            if let Some(value) = value {
                self.join(key, value, &mut join);
            }
        }
    }

    /// Adds the values of another table to this one.
    pub fn absorb(&mut self, other: Self, mut join: impl FnMut(&mut V, V)) {
        for (key, value) in other.0 {
            self.join(key, value, &mut join);
        }
    }

    /// Adds a value: `join` merges it into the one that its key has already.
    pub(crate) fn join(&mut self, key: K, value: V, join: impl FnOnce(&mut V, V)) {
        match self.0.entry(key) {
            Entry::Occupied(mut known) => join(known.get_mut(), value),
            Entry::Vacant(free) => {
                free.insert(value);
            }
        }
    }
}

fn sorted<K: Ord, V>(map: &HashMap<K, V, FxBuildHasher>) -> Vec<(&K, &V)> {
    let mut all: Vec<_> = map.iter().collect();
    all.sort_unstable_by(|a, b| a.0.cmp(b.0));
    all
}

impl<K: Eq + Hash + Ord + Serialize, V: Serialize> Serialize for CanonicalMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(sorted(&self.0))
    }
}

impl<'de, K, V> Deserialize<'de> for CanonicalMap<K, V>
where
    K: Eq + Hash + DeserializeOwned,
    V: DeserializeOwned,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Vec::<(K, V)>::deserialize(deserializer)?.into_iter().collect()))
    }
}

impl<K: Eq + Hash, V> FromIterator<(K, V)> for CanonicalMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_move_and_values_join() {
        let mut table: CanonicalMap<i32, Vec<i32>> =
            [(1, vec![1]), (2, vec![2]), (3, vec![3])].into_iter().collect();
        // 1 becomes 2 and 2 becomes 3: neither is moved twice.
        table.rekey(|&key| if key < 3 { key + 1 } else { key }, |there, mut value| there.append(&mut value));
        assert_eq!(table.into_sorted(), [(2, vec![1]), (3, vec![3, 2])]);
    }
}
