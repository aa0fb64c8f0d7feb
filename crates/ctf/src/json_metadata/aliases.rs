//! Field class aliases: names for field classes, which stand for a copy of the class wherever they are used.

use std::collections::HashMap;

use super::place::Detached;

/// The aliases so far. Each can use those before it only, so that none stands for itself.
#[derive(Debug, Default)]
pub(super) struct Aliases<'j> {
    by_name: HashMap<&'j str, (usize, Detached<'j>)>,
    /// While an alias is read, its own number: it sees the ones before.
    reading: Option<usize>,
}

impl<'j> Aliases<'j> {
    /// Adds an alias; `false` if the name is taken.
    pub(super) fn add(&mut self, name: &'j str, class: Detached<'j>) -> bool {
        let number = self.by_name.len();
        self.by_name.insert(name, (number, class)).is_none()
    }

    /// Begins to read what a name stands for; what is given besides goes to [`Self::leave`].
    pub(super) fn enter(&mut self, name: &str) -> Option<(Detached<'j>, Option<usize>)> {
        let &(number, class) = self.by_name.get(name)?;
        if self.reading.is_some_and(|reading| number >= reading) {
            return None;
        }
        Some((class, self.reading.replace(number)))
    }

    pub(super) fn leave(&mut self, before: Option<usize>) {
        self.reading = before;
    }
}
