//! What a report says about its tables in words.

use serde::{Serialize, Serializer};

/// What is to be said about tables. Durations in it stay numbers: programs read them in ns, people in the
/// unit that fits.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note(Vec<Part>);

/// A part of a note.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Text(String),
    Ns(u64),
}

impl Note {
    /// The note with a text after it.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        self.0.push(Part::Text(text.to_owned()));
        self
    }

    /// The note with a duration after it, ns.
    #[must_use]
    pub fn ns(mut self, ns: u64) -> Self {
        self.0.push(Part::Ns(ns));
        self
    }

    /// The note as a text in which durations, ns, are shown so.
    pub fn shown(&self, duration: impl Fn(u64) -> String) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Ns(ns) => duration(*ns),
        };
        self.0.iter().map(part).collect()
    }
}

impl Serialize for Note {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.shown(|ns| format!("{ns} ns")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_have_ns_for_programs() {
        let note = Note::default().text("h: ").ns(1_500_000).text(" are missing");
        assert_eq!(serde_json::to_string(&note).unwrap(), r#""h: 1500000 ns are missing""#);
        assert_eq!(note.shown(|ns| format!("{} µs", ns / 1_000)), "h: 1500 µs are missing");
    }
}
