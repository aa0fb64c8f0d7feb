//! The names of a thread: an exec and `prctl(PR_SET_NAME)` give it another one.

use serde::{Deserialize, Serialize};

use crate::id::{Name, Time};

/// The names that a thread was seen to have, each with the time (raw ns) of the first event that shows it.
/// Memory is proportional to the renamings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names(Vec<(Time, Name)>);

impl Names {
    /// The last one.
    pub fn last(&self) -> Option<&Name> {
        self.0.last().map(|(_, name)| name)
    }

    /// The one that it had at a time: the last that was seen until then, or the first of all. `O(log n)`.
    pub fn at(&self, time: Time) -> Option<&Name> {
        let seen = self.0.partition_point(|&(since, _)| since <= time);
        self.0.get(seen.saturating_sub(1)).map(|(_, name)| name)
    }

    /// All, in the order of time, each with the time since which it was seen.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Time, &Name)> {
        self.0.iter().map(|(since, name)| (*since, name))
    }

    /// Adds a sighting, later than all others; an empty name is none.
    #[inline]
    pub(crate) fn see(&mut self, name: &[u8], at: Time) {
        if !name.is_empty() && self.last().is_none_or(|last| last.as_bytes() != name) {
            self.push(at, Name::from_utf8_lossy(name));
        }
    }

    /// Adds the names of a later time.
    pub(crate) fn append(&mut self, later: Self) {
        if self.0.is_empty() {
            *self = later;
        } else {
            for (since, name) in later.0 {
                self.push(since, name);
            }
        }
    }

    /// Adds what was seen meanwhile of the same thread under another id: `last` and `their_last` are the
    /// times at which either was named last. Of equal times theirs count.
    pub(crate) fn interleave(&mut self, theirs: Self, last: Time, their_last: Time) {
        let now = if their_last < last { self.last() } else { theirs.last().or(self.last()) }.cloned();
        let mut all = std::mem::take(&mut self.0);
        all.extend(theirs.0);
        all.sort_by_key(|&(since, _)| since);
        for (since, name) in all {
            self.push(since, name);
        }
        if let Some(now) = now {
            self.push(last.max(their_last), now);
        }
    }

    /// Drops what was seen after an instant.
    pub(crate) fn end(&mut self, at: Time) {
        self.0.retain(|&(since, _)| since <= at);
    }

    /// Adds a name since a time that is not before those of the others.
    pub fn push(&mut self, since: Time, name: Name) {
        if self.last() != Some(&name) {
            self.0.push((since, name));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(seen: &[(i64, u8)]) -> Names {
        let mut names = Names::default();
        for &(at, name) in seen {
            names.see(&[name], Time(at));
        }
        names
    }

    #[test]
    fn the_name_at_a_time() {
        let names = names(&[(5, b'a'), (7, b'a'), (9, b'b'), (12, b'a')]);
        let at = |time| names.at(Time(time)).map(Name::as_str);
        assert_eq!(
            [at(0), at(5), at(8), at(9), at(11), at(12), at(99)],
            [Some("a"), Some("a"), Some("a"), Some("b"), Some("b"), Some("a"), Some("a")]
        );
        assert_eq!((names.last().map(Name::as_str), names.iter().len()), (Some("a"), 3));
        assert_eq!(Names::default().at(Time(3)), None);
        let mut same = names.clone();
        same.see(b"", Time(20));
        assert_eq!(same, names);
    }

    proptest! {
        /// Whatever the cut, the names are those of the whole.
        #[test]
        fn pieces_are_the_whole(seen in prop::collection::vec(b'a'..b'd', 0..12), cut in 0usize..12) {
            let seen: Vec<(i64, u8)> = (0..).zip(seen).collect();
            let (left, right) = seen.split_at(cut.min(seen.len()));
            let mut joined = names(left);
            joined.append(names(right));
            prop_assert_eq!(joined, names(&seen));
        }

        /// What two ids of a thread saw in turns is what one would have seen, if neither was seen across a
        /// renaming by the other.
        #[test]
        fn two_ids_are_one(runs in prop::collection::vec((b'a'..b'd', any::<bool>()), 1..12)) {
            let seen: Vec<(i64, u8, bool)> =
                (0..).zip(runs).map(|(at, (name, is_first))| (at, name, is_first)).collect();
            let of = |which: bool| -> Vec<(i64, u8)> {
                seen.iter().filter(|it| it.2 == which).map(|&(at, name, _)| (at, name)).collect()
            };
            let last = |of: &[(i64, u8)]| of.last().map_or(Time::MIN, |it| Time(it.0));
            let (ours, theirs) = (of(true), of(false));
            let mut joined = names(&ours);
            joined.interleave(names(&theirs), last(&ours), last(&theirs));
            let whole = names(&seen.iter().map(|&(at, name, _)| (at, name)).collect::<Vec<_>>());
            prop_assert_eq!(joined.last(), whole.last());
        }
    }
}
