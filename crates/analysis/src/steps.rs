//! A time cut into steps, for analyses that show how something changes over time.

use isochrone_time::{RawNs, UnixNs, Window};
use serde::{Deserialize, Serialize};

/// The steps of a host's time. Each begins where the one before ends, at the same instant of the common clock
/// on all hosts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steps {
    /// How long each is on the clock that is requested, ns.
    pub every_ns: u64,
    /// Where they begin and the last one ends, on the clock of the host, which may be slower or faster.
    pub edges: Vec<RawNs>,
}

impl Steps {
    /// Number of steps.
    pub fn count(&self) -> u32 {
        self.edges.len().saturating_sub(1) as u32
    }

    /// The step that an instant is in, if it is in any. `O(log n)`.
    pub fn at(&self, at: RawNs) -> Option<u32> {
        let next = self.edges.partition_point(|&edge| edge <= at);
        (next > 0 && next < self.edges.len()).then(|| (next - 1) as u32)
    }

    /// How long a span is in each of the steps that it is in, ns: they add up to the part of it that is in
    /// any.
    pub fn parts(&self, begin: RawNs, end: RawNs) -> impl Iterator<Item = (u32, u64)> {
        let first = self.edges.partition_point(|&edge| edge <= begin).saturating_sub(1);
        let bounds = self.edges.windows(2).enumerate().skip(first);
        bounds
            .take_while(move |(_, edges)| edges[0] < end)
            .map(move |(step, edges)| (step as u32, edges[1].min(end) - edges[0].max(begin)))
            .filter(|&(_, ns)| ns > 0)
            .map(|(step, ns)| (step, ns as u64))
    }

    /// The instants at which a step begins and ends; `unix` gives them but for the last ns that a conversion
    /// costs.
    pub fn instants(&self, step: u32, unix: impl Fn(RawNs) -> UnixNs) -> Window<UnixNs> {
        let every = i128::from(self.every_ns.max(1));
        let raw = self.edges.get(step as usize).copied().unwrap_or_default();
        let start = (unix(raw).ns() + every / 2).div_euclid(every) * every;
        Window::new(UnixNs(start), UnixNs(start + every))
    }

    /// The raw times of a step, ns; all times after the last step.
    pub(crate) fn window(&self, step: u32) -> Window<RawNs> {
        let edge = |index: usize| self.edges.get(index).copied().unwrap_or(RawNs::MAX);
        Window::new(edge(step as usize), edge(step as usize + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_cut_at_the_edges() {
        let steps = Steps { every_ns: 10, edges: [0, 10, 20, 30].map(RawNs).into() };
        let check = |begin, end, expect: &[(u32, u64)]| {
            assert_eq!(steps.parts(RawNs(begin), RawNs(end)).collect::<Vec<_>>(), expect, "{begin}..{end}");
        };
        check(0, 10, &[(0, 10)]);
        check(5, 25, &[(0, 5), (1, 10), (2, 5)]);
        check(-5, 3, &[(0, 3)]);
        check(28, 40, &[(2, 2)]);
        check(10, 10, &[]);
        check(12, 8, &[]);
        check(-9, -1, &[]);
        check(30, 50, &[]);
        assert_eq!(Steps::default().parts(RawNs(0), RawNs(10)).count(), 0);
        let at = |at| steps.at(RawNs(at));
        assert_eq!(
            [at(-1), at(0), at(9), at(10), at(29), at(30)],
            [None, Some(0), Some(0), Some(1), Some(2), None]
        );
        assert_eq!((steps.count(), Steps::default().count()), (3, 0));
        // A conversion that is a ns off.
        let unix = |raw: RawNs| UnixNs(i128::from(raw.ns()) + 999);
        assert_eq!(steps.instants(1, unix), Window::new(UnixNs(1010), UnixNs(1020)));
    }
}
