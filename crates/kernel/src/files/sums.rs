//! Uses of descriptors, added up by thread and descriptor, for the log.
//!
//! Mostly there are few between two other operations: these are a list that is searched, because a hash table
//! for each such run would take more room and time than what is in it.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::op::Tally;
use crate::id::{ThreadAliases, ThreadId};

/// A thread and a descriptor.
type Key = (ThreadId, i32);

/// Maximum number of entries that are found faster without a hash table.
const FEW: usize = 8;

/// Uses added up. They are written in the order of their keys, so that equal contents are equal bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct Sums {
    all: Vec<(Key, Tally)>,
    /// Where each of them is, once they are more than [`FEW`].
    places: FxHashMap<Key, usize>,
}

impl Sums {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The uses of a descriptor by a thread, none at first. Constant.
    pub(super) fn tally(&mut self, key: Key) -> &mut Tally {
        let place = match self.all.len() {
            0..=FEW => self.all.iter().position(|(known, _)| *known == key),
            _ => self.places.get(&key).copied(),
        };
        let place = place.unwrap_or_else(|| self.push(key, Tally::default()));
        &mut self.all[place].1
    }

    /// Adds the uses of another run.
    pub(super) fn join(&mut self, more: Self) {
        if self.is_empty() {
            *self = more;
            return;
        }
        for (key, tally) in more.all {
            self.tally(key).add(&tally);
        }
    }

    /// Renames threads.
    pub(super) fn rename(&mut self, aliases: &ThreadAliases) {
        if self.all.iter().any(|&((thread, _), _)| aliases.of(thread) != thread) {
            let before = std::mem::take(&mut self.all).into_iter();
            *self = before.map(|((thread, fd), tally)| ((aliases.of(thread), fd), tally)).collect();
        }
    }

    /// Keeps those of some threads.
    pub(super) fn retain(&mut self, mut is_kept: impl FnMut(Key, &Tally) -> bool) {
        self.places = FxHashMap::default();
        self.all.retain(|(key, tally)| is_kept(*key, tally));
        self.index();
    }

    /// All of them, in arbitrary order.
    pub(super) fn unordered(&self) -> impl Iterator<Item = (Key, &Tally)> {
        self.all.iter().map(|(key, tally)| (*key, tally))
    }

    /// Adds one that is not there.
    fn push(&mut self, key: Key, tally: Tally) -> usize {
        let place = self.all.len();
        // Most runs have a few, and there are many runs.
        if place == self.all.capacity() {
            self.all.reserve_exact(1 + place / 2);
        }
        self.all.push((key, tally));
        self.index();
        place
    }

    /// Notes the places of those that were added.
    fn index(&mut self) {
        if self.all.len() > FEW {
            let noted = self.places.len();
            let new = self.all.iter().enumerate().skip(noted);
            self.places.extend(new.map(|(place, (key, _))| (*key, place)));
        }
    }

    fn sorted(&self) -> Vec<&(Key, Tally)> {
        let mut all: Vec<_> = self.all.iter().collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all
    }
}

/// Adds up those of equal keys.
impl FromIterator<(Key, Tally)> for Sums {
    fn from_iter<I: IntoIterator<Item = (Key, Tally)>>(all: I) -> Self {
        let mut sums = Self::default();
        for (key, tally) in all {
            sums.tally(key).add(&tally);
        }
        sums
    }
}

impl PartialEq for Sums {
    fn eq(&self, other: &Self) -> bool {
        self.sorted() == other.sorted()
    }
}

impl Eq for Sums {}

impl Serialize for Sums {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.sorted())
    }
}

impl<'de> Deserialize<'de> for Sums {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<(Key, Tally)>::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{PIECE_BEGIN, Time};

    fn key(number: i32) -> Key {
        (ThreadId::Thread { tid: number / 4, born: PIECE_BEGIN }, number % 4)
    }

    /// Sums of so many uses of each key.
    fn sums(uses: impl IntoIterator<Item = (i32, u64)>) -> Sums {
        let mut sums = Sums::default();
        for (number, uses) in uses {
            let tally = sums.tally(key(number));
            tally.first = tally.first.min(Time(number.into()));
            tally.uses.reads += uses;
        }
        sums
    }

    #[test]
    fn few_and_many_are_the_same() {
        for count in [0, 1, 7, 8, 9, 10, 40] {
            let sums_to = |count: i32| sums((0..count).map(|number| (number, 1)));
            let mut twice = sums_to(count);
            twice.join(sums((0..count).rev().map(|number| (number, 1))));
            let expect = sums((0..count).rev().map(|number| (number, 2)));
            assert_eq!(twice, expect, "{count}");
            let bytes = postcard::to_stdvec(&twice).unwrap();
            assert_eq!(bytes, postcard::to_stdvec(&expect).unwrap(), "{count}");
            assert_eq!(postcard::from_bytes::<Sums>(&bytes).unwrap(), twice, "{count}");
            // What is left can be added to.
            twice.retain(|key, _| key.1 == 0);
            twice.join(sums((0..count).filter(|number| number % 4 != 0).map(|number| (number, 2))));
            assert_eq!(twice, expect, "{count}");
            let mut aliases = ThreadAliases::default();
            aliases.add(key(0).0, key(4).0);
            twice.rename(&aliases);
            let first = twice.unordered().filter(|(known, _)| known.0 == key(4).0).map(|(_, tally)| tally);
            let reads: u64 = first.map(|tally| tally.uses.reads).sum();
            assert_eq!(reads, 2 * u64::from(count.unsigned_abs().min(8)), "{count}");
        }
    }
}
