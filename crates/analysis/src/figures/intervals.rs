//! Times within which things count: those of the periods that are requested.

use std::sync::Arc;

use isochrone_time::{RawNs, Window};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::figures::stats::duration;

/// Disjoint intervals of a host's time, in order: their begins belong to them, their ends do not.
/// Copies share them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Intervals(Arc<[Window<RawNs>]>);

impl FromIterator<Window<RawNs>> for Intervals {
    /// All that lies in one of some intervals, which may overlap. `O(n log n)`.
    fn from_iter<I: IntoIterator<Item = Window<RawNs>>>(intervals: I) -> Self {
        let mut all: Vec<Window<RawNs>> = intervals.into_iter().filter(|it| !it.is_empty()).collect();
        all.sort_unstable();
        let mut joined: Vec<Window<RawNs>> = Vec::new();
        for interval in all {
            match joined.last_mut() {
                Some(last) if interval.start <= last.end => last.end = last.end.max(interval.end),
                _ => joined.push(interval),
            }
        }
        Self(joined.into())
    }
}

impl Intervals {
    /// Whether an instant lies in one of them. Logarithmic.
    pub fn holds(&self, at: RawNs) -> bool {
        let next = self.0.partition_point(|it| it.start <= at);
        next > 0 && at < self.0[next - 1].end
    }

    /// The parts of a time that lie in them. Logarithmic, and linear in the parts.
    pub fn parts(&self, time: Window<RawNs>) -> impl Iterator<Item = Window<RawNs>> + '_ {
        let first = self.0.partition_point(|it| it.end <= time.start);
        let overlapping = self.0[first..].iter().take_while(move |it| it.start < time.end);
        overlapping.map(move |it| it.clip(time))
    }

    /// How long they are in all, ns.
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum: u64, it| sum.saturating_add(duration(it.start, it.end)))
    }
}

impl Serialize for Intervals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter())
    }
}

impl<'de> Deserialize<'de> for Intervals {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Window<RawNs>>::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_them() {
        let window = |(start, end)| Window::new(RawNs(start), RawNs(end));
        let all: Intervals =
            [(30, 40), (0, 10), (5, 20), (20, 22), (50, 50)].into_iter().map(window).collect();
        assert_eq!(all.total(), 32);
        for (at, expect) in
            [(-1, false), (0, true), (21, true), (22, false), (30, true), (40, false), (50, false)]
        {
            assert_eq!(all.holds(RawNs(at)), expect, "{at}");
        }
        let check = |time, expect: &[(i64, i64)]| {
            let expect: Vec<_> = expect.iter().copied().map(window).collect();
            assert_eq!(all.parts(window(time)).collect::<Vec<_>>(), expect, "{time:?}");
        };
        check((-5, 100), &[(0, 22), (30, 40)]);
        check((10, 35), &[(10, 22), (30, 35)]);
        check((22, 30), &[]);
        check((31, 31), &[(31, 31)]);
        assert!(!Intervals::default().holds(RawNs(0)));
    }
}
