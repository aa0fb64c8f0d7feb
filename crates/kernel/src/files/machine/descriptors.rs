//! What is open in a table, by number.
//!
//! A process may have any number of descriptors open, and each use looks one up. So they are one list without
//! holes, in no order, and a small index says where each number is: a table is in few pages, as large as the
//! most that were open at once. The order of the list depends on what was closed before: it is never emitted,
//! and descriptors are serialized and compared by number.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::super::open::OpenFile;
use crate::dense_map::DenseMap;
use crate::id::Time;

/// As many descriptors as Linux makes room for in a new table (`NR_OPEN_DEFAULT`).
const LOW_FDS: usize = 64;

/// Open descriptors by number. Numbers may be any in bad input.
#[derive(Debug, Clone, Default)]
pub(super) struct Descriptors {
    /// With their numbers.
    files: Vec<(i32, OpenFile)>,
    /// By number: the index of the descriptor in the list.
    places: DenseMap<i32, u32, LOW_FDS>,
}

impl Descriptors {
    #[inline]
    fn place(&self, fd: i32) -> Option<usize> {
        self.places.get(fd).map(|&place| place as usize)
    }

    /// The index of a number; of one that is not there, that of the next descriptor, which has to be appended
    /// then.
    #[inline]
    fn place_or_next(&mut self, fd: i32) -> usize {
        let next = self.files.len() as u32;
        *self.places.or_insert_with(fd, || next) as usize
    }

    #[inline]
    pub(super) fn get(&self, fd: i32) -> Option<&OpenFile> {
        self.place(fd).map(|place| &self.files[place].1)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, fd: i32) -> Option<&mut OpenFile> {
        self.place(fd).map(|place| &mut self.files[place].1)
    }

    /// Returns the descriptor of a number, inserting what `make` returns if there is none. Amortized
    /// constant.
    pub(super) fn or_insert_with(&mut self, fd: i32, make: impl FnOnce() -> OpenFile) -> &mut OpenFile {
        let place = self.place_or_next(fd);
        if place == self.files.len() {
            self.files.push((fd, make()));
        }
        &mut self.files[place].1
    }

    /// Sets the descriptor of a number and returns the previous one. Amortized constant.
    pub(super) fn insert(&mut self, fd: i32, file: OpenFile) -> Option<OpenFile> {
        let place = self.place_or_next(fd);
        if let Some((_, there)) = self.files.get_mut(place) {
            return Some(std::mem::replace(there, file));
        }
        self.files.push((fd, file));
        None
    }

    /// Removes the descriptor of a number and returns it. Constant.
    pub(super) fn remove(&mut self, fd: i32) -> Option<OpenFile> {
        let place = self.places.remove(fd)?;
        let (_, file) = self.files.swap_remove(place as usize);
        // The last one is in its place now.
        if let Some(&(moved, _)) = self.files.get(place as usize) {
            self.places.insert(moved, place);
        }
        Some(file)
    }

    /// All of them, in arbitrary order.
    pub(super) fn unordered(&self) -> impl Iterator<Item = (i32, &OpenFile)> {
        self.files.iter().map(|(fd, file)| (*fd, file))
    }

    /// All of them, mutable, in arbitrary order.
    pub(super) fn unordered_mut(&mut self) -> impl Iterator<Item = (i32, &mut OpenFile)> {
        self.files.iter_mut().map(|(fd, file)| (*fd, file))
    }

    /// Takes all of them, in the order of their numbers. `O(n log n)`.
    pub(super) fn into_sorted(mut self) -> impl Iterator<Item = (i32, OpenFile)> {
        // What is sorted are indexes: descriptors are large.
        let mut order: Vec<(i32, usize)> =
            self.files.iter().enumerate().map(|(place, &(fd, _))| (fd, place)).collect();
        order.sort_unstable();
        order.into_iter().map(move |(fd, place)| {
            let nothing = OpenFile::sighted(Time(0), 0);
            (fd, std::mem::replace(&mut self.files[place].1, nothing))
        })
    }

    /// The form that is serialized and compared.
    fn sorted(&self) -> Vec<&(i32, OpenFile)> {
        let mut all: Vec<_> = self.files.iter().collect();
        all.sort_unstable_by_key(|(fd, _)| *fd);
        all
    }
}

impl FromIterator<(i32, OpenFile)> for Descriptors {
    fn from_iter<I: IntoIterator<Item = (i32, OpenFile)>>(all: I) -> Self {
        let mut descriptors = Self::default();
        let all = all.into_iter();
        descriptors.files.reserve(all.size_hint().0);
        for (fd, file) in all {
            descriptors.insert(fd, file);
        }
        descriptors
    }
}

impl PartialEq for Descriptors {
    fn eq(&self, other: &Self) -> bool {
        self.sorted() == other.sorted()
    }
}

impl Eq for Descriptors {}

impl Serialize for Descriptors {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.sorted())
    }
}

impl<'de> Deserialize<'de> for Descriptors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<(i32, OpenFile)>::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    /// What may be done with a number.
    #[derive(Debug, Clone, Copy)]
    enum Step {
        Insert(i32),
        Find(i32),
        Remove(i32),
    }

    fn step() -> impl Strategy<Value = Step> {
        let fd = prop_oneof![0..6_i32, 62..66_i32, Just(i32::MAX)];
        (fd, 0..3_u8).prop_map(|(fd, what)| match what {
            0 => Step::Insert(fd),
            1 => Step::Find(fd),
            _ => Step::Remove(fd),
        })
    }

    proptest! {
        #[test]
        fn they_are_a_map(steps in prop::collection::vec(step(), 0..60)) {
            let (mut own, mut expect) = (Descriptors::default(), BTreeMap::new());
            for (number, step) in (0_i64..).zip(steps) {
                let new = || OpenFile::sighted(Time(number), 0);
                match step {
                    Step::Insert(fd) => prop_assert_eq!(own.insert(fd, new()), expect.insert(fd, new())),
                    Step::Find(fd) => {
                        prop_assert_eq!(own.or_insert_with(fd, new), expect.entry(fd).or_insert_with(new));
                    }
                    Step::Remove(fd) => prop_assert_eq!(own.remove(fd), expect.remove(&fd)),
                }
                for fd in (0..6).chain(62..66).chain([i32::MAX]) {
                    prop_assert_eq!(own.get(fd), expect.get(&fd));
                }
                prop_assert_eq!(own.unordered().count(), expect.len());
            }
            // Whatever was there before.
            let again: Descriptors = expect.clone().into_iter().rev().collect();
            prop_assert_eq!(&own, &again);
            let bytes = postcard::to_stdvec(&own).unwrap();
            prop_assert_eq!(&bytes, &postcard::to_stdvec(&again).unwrap());
            prop_assert_eq!(&postcard::from_bytes::<Descriptors>(&bytes).unwrap(), &own);
            prop_assert!(own.into_sorted().eq(expect));
        }
    }
}
