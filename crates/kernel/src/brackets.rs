//! Begins and ends that belong together by a key alone: requests to disks, phases of programs.
//!
//! Part of a `Chunk`. An end closes the latest begin that is open, as brackets do; what a piece cannot close is left over at
//! either side, so that a piece keeps no more than that.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::keyed::Keyed;

/// What is left over of each key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(
    serialize = "K: Ord + Serialize, B: Serialize, E: Serialize",
    deserialize = "K: DeserializeOwned, B: DeserializeOwned, E: DeserializeOwned"
))]
pub(crate) struct Brackets<K: Eq + std::hash::Hash, B, E>(Keyed<K, Track<B, E>>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "B: DeserializeOwned, E: DeserializeOwned"))]
struct Track<B, E> {
    /// Ends whose begins are in pieces before.
    ends: Vec<E>,
    /// Begins whose ends are in pieces behind.
    begins: Vec<B>,
}

impl<K: Eq + std::hash::Hash, B, E> Default for Brackets<K, B, E> {
    fn default() -> Self {
        Self(Keyed::default())
    }
}

impl<B, E> Default for Track<B, E> {
    fn default() -> Self {
        Self { ends: Vec::new(), begins: Vec::new() }
    }
}

impl<K: Eq + std::hash::Hash + Ord + Clone, B, E> Brackets<K, B, E> {
    pub(crate) fn begin(&mut self, key: K, begin: B) {
        self.0.or_default(key).begins.push(begin);
    }

    /// Returns the begin that belongs to an end, and the end; nothing where it is to be waited for.
    pub(crate) fn end(&mut self, key: &K, end: E) -> Option<(B, E)> {
        let track = self.0.or_default(key.clone());
        match track.begins.pop() {
            Some(begin) => {
                if track.begins.is_empty() && track.ends.is_empty() {
                    self.0.remove(key);
                }
                Some((begin, end))
            }
            None => {
                track.ends.push(end);
                None
            }
        }
    }

    /// Adds what came next; `tell` is told of what closes.
    pub(crate) fn append(&mut self, right: Self, mut tell: impl FnMut(&K, B, E)) {
        for (key, track) in right.0.into_sorted() {
            for end in track.ends {
                if let Some((begin, end)) = self.end(&key, end) {
                    tell(&key, begin, end);
                }
            }
            for begin in track.begins {
                self.begin(key.clone(), begin);
            }
        }
    }

    /// Changes keys and what is left over of each.
    pub(crate) fn rename(&mut self, change_key: impl Fn(&K) -> K, mut change: impl FnMut(&mut B)) {
        self.0.rekey(change_key, |there, mut track| {
            there.ends.append(&mut track.ends);
            there.begins.append(&mut track.begins);
        });
        self.0.unordered_mut().for_each(|(_, track)| track.begins.iter_mut().for_each(&mut change));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `(1` opens 1, `)1` closes it; the digits behind are the places of the closed ones.
    fn closed(script: &str, cut: usize) -> Vec<(usize, usize)> {
        let mut halves = [Brackets::default(), Brackets::default()];
        let mut told = Vec::new();
        for (place, step) in script.split(' ').enumerate() {
            let half = &mut halves[usize::from(place >= cut)];
            let key = step[1..].to_owned();
            if step.starts_with('(') {
                half.begin(key, place);
            } else {
                told.extend(half.end(&key, place));
            }
        }
        let [mut left, right] = halves;
        left.append(right, |_, begin, end| told.push((begin, end)));
        told.sort_unstable();
        told
    }

    #[test]
    fn a_cut_changes_nothing() {
        for cut in 0..=8 {
            let told = closed("(1 (2 )1 (2 )2 )2 )2 (2", cut);
            assert_eq!(told, [(0, 2), (1, 5), (3, 4)], "cut at {cut}");
        }
    }
}
