//! Names that rows repeat (of calls, interrupts, devices, phases, kinds of files) by numbers: one list of
//! each kind for a host, which only grows.
//!
//! In files they are values of Arrow dictionaries; a batch with new names adds them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, StringArray};
use isochrone_kernel::Name;
use rustc_hash::FxBuildHasher;

/// A text by its number in the list of its column. In files it is a value of a dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NameId(pub(crate) u32);

/// Kinds of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameKind {
    /// System calls.
    Calls,
    /// Handlers of interrupts.
    Interrupts,
    /// Network devices.
    Devices,
    /// Phases of programs.
    Phases,
    /// Kinds of files, and how they were opened and closed.
    Files,
}

impl NameKind {
    const COUNT: usize = Self::Files as usize + 1;
}

type Numbers = HashMap<Name, NameId, FxBuildHasher>;

/// A list of names.
#[derive(Debug, Default)]
struct List {
    numbers: Numbers,
    names: Vec<Name>,
    /// The names at the last call of [`Names::array`].
    array: Option<ArrayRef>,
}

/// All lists of names of a host.
#[derive(Debug, Default)]
pub(crate) struct Names {
    lists: [Mutex<List>; NameKind::COUNT],
}

impl Names {
    /// The number of a name, which is added if it is new.
    fn number(&self, of: NameKind, name: &str) -> NameId {
        let mut list = self.lists[of as usize].lock().unwrap_or_else(PoisonError::into_inner);
        let List { numbers, names, .. } = &mut *list;
        if let Some(&number) = numbers.get(name) {
            return number;
        }
        let number = NameId(names.len() as u32);
        numbers.insert(Name::from(name), number);
        names.push(Name::from(name));
        number
    }

    /// The number of a name, if it is known.
    pub(crate) fn known(&self, of: NameKind, name: &str) -> Option<NameId> {
        let list = self.lists[of as usize].lock().unwrap_or_else(PoisonError::into_inner);
        list.numbers.get(name).copied()
    }

    /// All names of a list by number, including those of all rows that were made before.
    pub(crate) fn array(&self, of: Option<NameKind>) -> ArrayRef {
        let Some(of) = of else { return Arc::new(StringArray::new_null(0)) };
        let mut list = self.lists[of as usize].lock().unwrap_or_else(PoisonError::into_inner);
        let List { names, array, .. } = &mut *list;
        match array {
            Some(array) if array.len() == names.len() => array.clone(),
            _ => array.insert(Arc::new(StringArray::from_iter_values(names))).clone(),
        }
    }
}

/// A writer's cache of the numbers of names.
#[derive(Debug, Default)]
pub(crate) struct NameCache {
    numbers: [Numbers; NameKind::COUNT],
}

impl NameCache {
    /// The number of a name.
    #[inline]
    pub(crate) fn number(&mut self, names: &Names, of: NameKind, name: &str) -> NameId {
        let numbers = &mut self.numbers[of as usize];
        if let Some(&number) = numbers.get(name) {
            return number;
        }
        let number = names.number(of, name);
        numbers.insert(Name::from(name), number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number() {
        let names = Names::default();
        let (mut left, mut right) = (NameCache::default(), NameCache::default());
        assert_eq!(left.number(&names, NameKind::Calls, "read"), NameId(0));
        assert_eq!(left.number(&names, NameKind::Calls, "poll"), NameId(1));
        let before = names.array(Some(NameKind::Calls));
        assert_eq!(right.number(&names, NameKind::Calls, "poll"), NameId(1));
        assert!(Arc::ptr_eq(&before, &names.array(Some(NameKind::Calls))));
        assert_eq!(right.number(&names, NameKind::Calls, "write"), NameId(2));
        assert_eq!(right.number(&names, NameKind::Phases, "write"), NameId(0));
        assert_eq!((before.len(), names.array(Some(NameKind::Calls)).len()), (2, 3));
    }
}
