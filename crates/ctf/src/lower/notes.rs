//! What is odd about metadata that are read all the same, TSDL and JSON alike: each thing is said once, and not without
//! end.

use std::collections::HashSet;

use super::Complaint;

/// Notes that are kept, as many as the diagnostics of one file.
const MAX_NOTES: usize = 100;

/// The first notes that were found, and the number of all others.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    said: HashSet<String>,
    kept: Vec<Complaint>,
    more: usize,
}

impl Notes {
    /// Takes a note, unless it has been said before.
    pub(crate) fn add(&mut self, offset: usize, message: impl Into<String>) {
        let message = message.into();
        if self.kept.len() >= MAX_NOTES {
            self.more += usize::from(!self.said.contains(&message));
        } else if self.said.insert(message.clone()) {
            self.kept.push(Complaint::new(offset, message));
        }
    }

    /// The notes in the order of the text; after [`MAX_NOTES`] comes one that counts all others.
    pub(crate) fn into_vec(mut self) -> Vec<Complaint> {
        self.kept.sort_by_key(|note| note.offset);
        if self.more > 0
            && let Some(last) = self.kept.last()
        {
            self.kept.push(Complaint::new(last.offset, format!("and {} more like these", self.more)));
        }
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_counted() {
        let check = |different: usize, times: usize, kept: usize, last: &str| {
            let mut notes = Notes::default();
            for n in 0..different * times {
                notes.add(n, format!("odd {}", n % different));
            }
            let notes = notes.into_vec();
            assert_eq!((notes.len(), notes.last().unwrap().message.as_str()), (kept, last));
        };
        check(1, 5, 1, "odd 0");
        check(100, 3, 100, "odd 99");
        check(101, 1, 101, "and 1 more like these");
        check(1000, 1, 101, "and 900 more like these");
    }
}
