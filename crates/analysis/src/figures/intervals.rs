//! Times within which things count: those of the periods that are requested.

use std::sync::Arc;

use isochrone_kernel::Time;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::figures::stats::duration;

/// Disjoint intervals in the order of time, raw ns of a host: their begins belong to them, their ends do not.
/// Copies share them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Intervals(Arc<[(Time, Time)]>);

impl FromIterator<(Time, Time)> for Intervals {
    /// All that lies in one of some intervals, which may overlap. `O(n log n)`.
    fn from_iter<I: IntoIterator<Item = (Time, Time)>>(intervals: I) -> Self {
        let mut all: Vec<(Time, Time)> = intervals.into_iter().filter(|(begin, end)| begin < end).collect();
        all.sort_unstable();
        let mut joined: Vec<(Time, Time)> = Vec::new();
        for (begin, end) in all {
            match joined.last_mut() {
                Some(last) if begin <= last.1 => last.1 = last.1.max(end),
                _ => joined.push((begin, end)),
            }
        }
        Self(joined.into())
    }
}

impl Intervals {
    /// Whether an instant lies in one of them. Logarithmic.
    pub fn holds(&self, at: Time) -> bool {
        let next = self.0.partition_point(|&(begin, _)| begin <= at);
        next > 0 && at < self.0[next - 1].1
    }

    /// The parts of a time that lie in them. Logarithmic, and linear in the parts.
    pub fn parts(&self, (begin, end): (Time, Time)) -> impl Iterator<Item = (Time, Time)> + '_ {
        let first = self.0.partition_point(|&(_, over)| over <= begin);
        let overlapping = self.0[first..].iter().take_while(move |(from, _)| *from < end);
        overlapping.map(move |&(from, to)| (from.max(begin), to.min(end)))
    }

    /// How long they are in all, ns.
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum: u64, &(begin, end)| sum.saturating_add(duration(begin, end)))
    }
}

impl Serialize for Intervals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter())
    }
}

impl<'de> Deserialize<'de> for Intervals {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<(Time, Time)>::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_them() {
        let all: Intervals = [(30, 40), (0, 10), (5, 20), (20, 22), (50, 50)].into_iter().collect();
        assert_eq!(all.total(), 32);
        for (at, expect) in
            [(-1, false), (0, true), (21, true), (22, false), (30, true), (40, false), (50, false)]
        {
            assert_eq!(all.holds(at), expect, "{at}");
        }
        let check = |time, expect: &[(Time, Time)]| {
            assert_eq!(all.parts(time).collect::<Vec<_>>(), expect, "{time:?}");
        };
        check((-5, 100), &[(0, 22), (30, 40)]);
        check((10, 35), &[(10, 22), (30, 35)]);
        check((22, 30), &[]);
        check((31, 31), &[(31, 31)]);
        assert!(!Intervals::default().holds(0));
    }
}
