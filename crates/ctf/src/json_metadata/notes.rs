//! What is odd about metadata that are read all the same: each thing is said once, and not without end.

use std::collections::HashSet;

use crate::lower::Complaint;

/// Notes that are kept; nobody reads more.
const MAX_NOTES: usize = 100;

/// Notes in the order they were found.
#[derive(Debug, Default)]
pub(super) struct Notes {
    said: HashSet<String>,
    notes: Vec<Complaint>,
}

impl Notes {
    /// Takes a note, unless it has been said before.
    pub(super) fn add(&mut self, offset: usize, message: impl Into<String>) {
        let message = message.into();
        if self.notes.len() < MAX_NOTES && self.said.insert(message.clone()) {
            self.notes.push(Complaint::new(offset, message));
        }
    }

    /// Something that only release candidates of CTF 2 have.
    pub(super) fn release_candidate(&mut self, offset: usize, what: &str) {
        self.add(offset, format!("{what} is of a release candidate of CTF 2; read all the same"));
    }

    pub(super) fn into_vec(self) -> Vec<Complaint> {
        self.notes
    }
}
