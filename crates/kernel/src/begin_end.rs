//! Matches begins and ends by a key alone: requests to disks, phases of programs.
//!
//! Part of a `PartialState`. An end closes the latest open begin, as brackets do; unmatched begins and ends
//! are all that a piece keeps.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::canonical_map::CanonicalMap;

/// The unmatched begins and ends of one key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(
    serialize = "K: Ord + Serialize, B: Serialize, E: Serialize",
    deserialize = "K: DeserializeOwned, B: DeserializeOwned, E: DeserializeOwned"
))]
pub(crate) struct BeginEndMatcher<K: Eq + std::hash::Hash, B, E> {
    /// Everything was lost at some time: begins before it are dropped, and an end without a begin does not
    /// wait for one.
    cut: bool,
    left: CanonicalMap<K, Unmatched<B, E>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "B: DeserializeOwned, E: DeserializeOwned"))]
struct Unmatched<B, E> {
    /// Ends whose begins are in earlier pieces.
    ends: Vec<E>,
    /// Begins whose ends are in later pieces.
    begins: Vec<B>,
}

impl<K: Eq + std::hash::Hash, B, E> Default for BeginEndMatcher<K, B, E> {
    fn default() -> Self {
        Self { cut: false, left: CanonicalMap::default() }
    }
}

impl<B, E> Default for Unmatched<B, E> {
    fn default() -> Self {
        Self { ends: Vec::new(), begins: Vec::new() }
    }
}

impl<K: Eq + std::hash::Hash + Ord + Clone, B, E> BeginEndMatcher<K, B, E> {
    /// The matcher of a piece that is missing.
    pub(crate) fn missing() -> Self {
        Self { cut: true, left: CanonicalMap::default() }
    }

    pub(crate) fn begin(&mut self, key: K, begin: B) {
        self.left.or_default(key).begins.push(begin);
    }

    /// Returns the begin that matches an end, and the end; `None` where the begin is in an earlier piece or
    /// missing.
    pub(crate) fn end(&mut self, key: &K, end: E) -> Option<(B, E)> {
        if let Some(track) = self.left.get_mut(key)
            && let Some(begin) = track.begins.pop()
        {
            if track.begins.is_empty() && track.ends.is_empty() {
                self.left.remove(key);
            }
            return Some((begin, end));
        }
        if !self.cut {
            self.left.or_default(key.clone()).ends.push(end);
        }
        None
    }

    /// Appends the matcher of the next piece; calls `emit` for each pair that this closes.
    pub(crate) fn append(&mut self, right: Self, mut emit: impl FnMut(&K, B, E)) {
        let mut tracks = right.left.into_sorted();
        for (key, track) in &mut tracks {
            for end in track.ends.drain(..) {
                if let Some((begin, end)) = self.end(key, end) {
                    emit(key, begin, end);
                }
            }
        }
        if right.cut {
            self.cut = true;
            self.left.retain(|_, track| {
                track.begins.clear();
                !track.ends.is_empty()
            });
        }
        for (key, track) in tracks {
            for begin in track.begins {
                self.begin(key.clone(), begin);
            }
        }
    }

    /// Changes all unmatched begins and ends.
    pub(crate) fn change(&mut self, mut begin: impl FnMut(&mut B), mut end: impl FnMut(&mut E)) {
        for (_, track) in self.left.unordered_mut() {
            track.begins.iter_mut().for_each(&mut begin);
            track.ends.iter_mut().for_each(&mut end);
        }
    }

    /// Changes keys: two that become one are joined, and `is_first` returns whether the entries of an old key
    /// are before those of the other. Calls `emit` for each pair that this closes.
    pub(crate) fn rekey(
        &mut self,
        rename: impl Fn(&K) -> K,
        is_first: impl Fn(&K) -> bool,
        mut emit: impl FnMut(&K, B, E),
    ) {
        let mut moved: Vec<K> =
            self.left.unordered().map(|(key, _)| key).filter(|&key| rename(key) != *key).cloned().collect();
        moved.sort_unstable();
        let moved: Vec<_> =
            moved.into_iter().filter_map(|key| self.left.remove(&key).map(|track| (key, track))).collect();
        for (old, track) in moved {
            let key = rename(&old);
            let known = self.left.remove(&key).unwrap_or_default();
            let (mut first, second) = if is_first(&old) { (track, known) } else { (known, track) };
            for end in second.ends {
                match first.begins.pop() {
                    Some(begin) => emit(&key, begin, end),
                    None => first.ends.push(end),
                }
            }
            first.begins.extend(second.begins);
            if !first.begins.is_empty() || !first.ends.is_empty() {
                self.left.insert(key, first);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `(1` opens 1, `)1` closes it; the digits after them are the places of the closed ones.
    fn closed(script: &str, cut: usize) -> Vec<(usize, usize)> {
        let mut halves = [BeginEndMatcher::default(), BeginEndMatcher::default()];
        let mut emitted = Vec::new();
        for (place, step) in script.split(' ').enumerate() {
            let half = &mut halves[usize::from(place >= cut)];
            let key = step[1..].to_owned();
            if step.starts_with('(') {
                half.begin(key, place);
            } else {
                emitted.extend(half.end(&key, place));
            }
        }
        let [mut left, right] = halves;
        left.append(right, |_, begin, end| emitted.push((begin, end)));
        emitted.sort_unstable();
        emitted
    }

    #[test]
    fn a_cut_changes_nothing() {
        for cut in 0..=8 {
            let emitted = closed("(1 (2 )1 (2 )2 )2 )2 (2", cut);
            assert_eq!(emitted, [(0, 2), (1, 5), (3, 4)], "cut at {cut}");
        }
    }

    #[test]
    fn nothing_crosses_a_gap() {
        let piece = |script: &str| {
            let mut piece = BeginEndMatcher::default();
            for (place, step) in script.split(' ').enumerate() {
                match step {
                    "(" => piece.begin(1, place),
                    ")" => assert_eq!(piece.end(&1, place), None),
                    _ => piece = BeginEndMatcher::missing(),
                }
            }
            piece
        };
        for left_first in [true, false] {
            let [mut left, mut gap, right] = ["( (", "gap", ") ( ("].map(piece);
            let emit = |_: &i32, begin, end| panic!("{begin} {end}");
            if left_first {
                left.append(gap, emit);
                left.append(right, emit);
            } else {
                gap.append(right, emit);
                left.append(gap, emit);
            }
            assert_eq!(left.left.get(&1).map(|track| (track.ends.len(), track.begins.len())), Some((0, 2)));
        }
    }
}
