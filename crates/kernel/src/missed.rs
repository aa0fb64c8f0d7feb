//! Times in which events of a host are missing, and what that leaves of calls whose entry or exit was not
//! seen.
//!
//! What one CPU does not show may have happened on another: so a time in which any CPU lacks events is one
//! time for all threads.

use serde::{Deserialize, Serialize};

use crate::id::Time;

/// Times in which events of the kernel may be missing, on any CPU: disjoint, in order.
///
/// ```
/// use isochrone_kernel::Missed;
/// use isochrone_time::RawNs;
/// let mut missed = Missed::default();
/// missed.add(RawNs(30), RawNs(40));
/// // It was entered at 10, and the next event of the thread's calls is at 50: it may have returned in the loss.
/// assert_eq!(missed.sure_until(RawNs(10), Some(RawNs(50))), Some(RawNs(30)));
/// assert_eq!(missed.sure_since(Some(RawNs(10)), RawNs(50)), Some(RawNs(40)));
/// // It never returned, or was entered before the trace began.
/// assert_eq!((missed.sure_until(RawNs(45), None), missed.sure_since(None, RawNs(20))), (None, None));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missed(Vec<(Time, Time)>);

impl Missed {
    /// Something may be missing at any time.
    pub fn always() -> Self {
        Self(vec![(Time::MIN, Time::MAX)])
    }

    /// Adds a time: `to` is the first instant from which nothing is missing. Constant for one that begins
    /// last, else linear.
    pub fn add(&mut self, from: Time, to: Time) {
        let first = self.0.partition_point(|&(_, end)| end < from);
        let end = self.0.partition_point(|&(begin, _)| begin <= to);
        let united = self
            .0
            .drain(first..end.max(first))
            .fold((from, to), |(from, to), other| (from.min(other.0), to.max(other.1)));
        self.0.insert(first, united);
    }

    /// Adds those of a later piece.
    pub(crate) fn append(&mut self, right: Self) {
        right.0.into_iter().for_each(|(from, to)| self.add(from, to));
    }

    /// All of them: from, to.
    pub fn iter(&self) -> impl Iterator<Item = (Time, Time)> + '_ {
        self.0.iter().copied()
    }

    /// The first instant, not before `at`, at which something is missing, raw ns. `O(log n)`.
    pub fn first_since(&self, at: Time) -> Option<Time> {
        let index = self.0.partition_point(|&(_, end)| end <= at);
        self.0.get(index).map(|&(begin, _)| begin.max(at))
    }

    /// The end of the last time before `at` in which something is missing, not after `at`. `O(log n)`.
    fn last_until(&self, at: Time) -> Option<Time> {
        let index = self.0.partition_point(|&(begin, _)| begin < at);
        index.checked_sub(1).map(|index| self.0[index].1.min(at))
    }

    /// Whether something is missing between two instants.
    pub fn is_between(&self, from: Time, to: Time) -> bool {
        self.first_since(from).is_some_and(|at| at < to)
    }

    /// Until when a thread was in a call for certain that it entered at `begin`, whose exit was not seen;
    /// `None`: to the end of the trace. `next`: the next event of the thread's calls, if there is one.
    pub fn sure_until(&self, begin: Time, next: Option<Time>) -> Option<Time> {
        match self.first_since(begin).filter(|&at| next.is_none_or(|next| at < next)) {
            Some(lost) => Some(lost),
            // Nothing is missing: its exit is none that the tracer records.
            None => next.map(|_| begin),
        }
    }

    /// Since when a thread was in a call for certain that returned at `end`, whose entry was not seen;
    /// `None`: since the begin of the trace. `before`: the last event of the thread's calls before it, if
    /// there is one.
    pub fn sure_since(&self, before: Option<Time>, end: Time) -> Option<Time> {
        match self.last_until(end).filter(|&at| before.is_none_or(|before| at > before)) {
            Some(lost) => Some(lost),
            None => before.map(|_| end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missed(times: &[(i64, i64)]) -> Missed {
        Missed(pairs(times))
    }

    fn pairs(times: &[(i64, i64)]) -> Vec<(Time, Time)> {
        times.iter().map(|&(from, to)| (Time(from), Time(to))).collect()
    }

    fn raw<const N: usize>(times: [Option<Time>; N]) -> [Option<i64>; N] {
        times.map(|at| at.map(Time::ns))
    }

    #[test]
    fn times_are_united_in_any_order() {
        let mut missed = Missed::default();
        for (from, to) in [(30, 40), (10, 15), (12, 20), (20, 22), (50, 60), (45, 70)] {
            missed.add(Time(from), Time(to));
        }
        assert_eq!(missed.iter().collect::<Vec<_>>(), pairs(&[(10, 22), (30, 40), (45, 70)]));
        let mut left = Missed::default();
        left.add(Time(40), Time(45));
        left.append(missed);
        assert_eq!(left.iter().collect::<Vec<_>>(), pairs(&[(10, 22), (30, 70)]));
    }

    #[test]
    fn what_is_missing_has_a_begin_and_an_end() {
        let missed = missed(&[(10, 22), (30, 40)]);
        let since = [0, 10, 21, 22, 35, 40].map(|at| missed.first_since(Time(at)));
        assert_eq!(raw(since), [Some(10), Some(10), Some(21), Some(30), Some(35), None]);
        let until = [10, 11, 22, 30, 35, 50].map(|at| missed.last_until(Time(at)));
        assert_eq!(raw(until), [None, Some(11), Some(22), Some(22), Some(35), Some(40)]);
        let is_between = |from, to| missed.is_between(Time(from), Time(to));
        assert!(is_between(0, 11) && !is_between(0, 10) && !is_between(22, 30));
        assert!(Missed::always().is_between(Time(5), Time(6)));
    }

    #[test]
    fn calls_of_which_an_end_is_missing() {
        let missed = missed(&[(30, 40)]);
        let until = [(10, Some(20)), (10, Some(50)), (10, None), (35, None), (40, None)];
        let until = until.map(|(begin, next)| missed.sure_until(Time(begin), next.map(Time)));
        assert_eq!(raw(until), [Some(10), Some(30), Some(30), Some(35), None]);
        let since = [(None, 20), (None, 50), (None, 35), (Some(10), 50), (Some(45), 50)];
        let since = since.map(|(before, end)| missed.sure_since(before.map(Time), Time(end)));
        assert_eq!(raw(since), [None, Some(40), Some(35), Some(40), Some(50)]);
    }
}
