//! Finding classes by the ids that streams name them by.

use std::collections::HashMap;

/// Finds the class of an id.
#[derive(Debug)]
pub(super) enum ClassIndex {
    Dense(Vec<u32>),
    Sparse(HashMap<u64, u32>),
}

/// Tables may have this many entries for each class: an id alone must not cost memory.
const ENTRIES_PER_CLASS: u64 = 8;
/// Entries that any table may have.
const SMALL_TABLE: u64 = 64;
const NO_CLASS: u32 = u32::MAX;

impl ClassIndex {
    pub(super) fn new(ids: impl ExactSizeIterator<Item = u64> + Clone) -> Self {
        let Some(max) = ids.clone().max() else { return Self::Dense(Vec::new()) };
        if max >= SMALL_TABLE + ids.len() as u64 * ENTRIES_PER_CLASS {
            return Self::Sparse(ids.zip(0..).collect());
        }
        let mut table = vec![NO_CLASS; max as usize + 1];
        for (id, index) in ids.zip(0..) {
            table[id as usize] = index;
        }
        Self::Dense(table)
    }

    #[inline]
    pub(super) fn get(&self, id: u64) -> Option<usize> {
        let index = match self {
            Self::Dense(table) => *table.get(usize::try_from(id).ok()?)?,
            Self::Sparse(map) => *map.get(&id)?,
        };
        (index != NO_CLASS).then_some(index as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_and_others_are_not() {
        for ids in [vec![], vec![0], vec![3, 1, 7], (0..1000).collect(), vec![65_535], vec![u64::MAX, 2]] {
            let index = ClassIndex::new(ids.iter().copied());
            for (place, id) in ids.iter().enumerate() {
                assert_eq!(index.get(*id), Some(place), "{ids:?}");
            }
            assert_eq!(index.get(5000), None);
        }
    }

    #[test]
    fn a_large_id_costs_no_table() {
        assert!(matches!(ClassIndex::new([65_535].into_iter()), ClassIndex::Sparse(_)));
        assert!(matches!(ClassIndex::new((0..2000_u32).map(u64::from)), ClassIndex::Dense(_)));
    }
}
