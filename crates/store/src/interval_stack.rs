//! Which of the spans of one kind counts at an instant, where several of a thread cover it. Part of
//! [`crate::sweep`].
//!
//! A thread is on one CPU and in one call at a time, so that mostly one span covers an instant at most. Where
//! an event is missing that the tracer did not report, two can: then the one that started last counts, and
//! when it has ended the other again. What counts at an instant is a function of the spans that cover it
//! alone, not of those before.

use std::cmp::Reverse;

use isochrone_time::RawNs;

/// The end of what is not there.
pub(crate) const NEVER: RawNs = RawNs::MAX;

/// A span that covers an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interval<T> {
    pub(crate) start: RawNs,
    pub(crate) end: RawNs,
    pub(crate) what: T,
}

impl<T: Ord + Copy> Interval<T> {
    /// The greatest one counts: that which started last, of these the one that ends first. The rest makes the
    /// order total.
    fn rank(&self) -> (RawNs, Reverse<RawNs>, T) {
        (self.start, Reverse(self.end), self.what)
    }
}

/// The spans of one kind that cover an instant of a thread: mostly one at most.
#[derive(Debug, Clone)]
pub(crate) struct IntervalStack<T> {
    /// The one that counts.
    top: Option<Interval<T>>,
    /// All others, the greatest one last.
    below: Vec<Interval<T>>,
}

impl<T> Default for IntervalStack<T> {
    fn default() -> Self {
        Self { top: None, below: Vec::new() }
    }
}

impl<T: Ord + Copy> IntervalStack<T> {
    /// The one that counts.
    #[inline]
    pub(crate) fn top(&self) -> Option<T> {
        self.top.map(|top| top.what)
    }

    /// Adds a span; those that have ended by its start have been removed.
    #[inline]
    pub(crate) fn add(&mut self, new: Interval<T>) {
        match self.top {
            None => self.top = Some(new),
            Some(top) => self.add_below(top, new),
        }
    }

    #[cold]
    fn add_below(&mut self, top: Interval<T>, new: Interval<T>) {
        let (top, under) = if top.rank() < new.rank() { (new, top) } else { (top, new) };
        self.top = Some(top);
        let index = self.below.partition_point(|other| other.rank() < under.rank());
        self.below.insert(index, under);
    }

    /// Removes those that have ended by an instant.
    #[inline]
    pub(crate) fn end_until(&mut self, at: RawNs) {
        if self.top.is_some_and(|top| top.end <= at) {
            self.top = None;
        }
        if !self.below.is_empty() {
            self.retain_below(|other| other.end > at);
        }
    }

    #[cold]
    fn retain_below(&mut self, keep: impl Fn(&Interval<T>) -> bool) {
        self.below.retain(keep);
        if self.top.is_none() {
            self.top = self.below.pop();
        }
    }

    /// When the one that counts ends, or [`NEVER`].
    #[inline]
    pub(crate) fn end(&self) -> RawNs {
        self.top.map_or(NEVER, |top| top.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What counts from when on, of spans (begin, end, name) that are added by their begins, in this order
    /// and in the reverse one of those that begin at the same instant.
    fn check(spans: &[(i64, i64, char)], expect: &[(i64, char)]) {
        for is_reversed in [false, true] {
            let mut spans = spans.to_vec();
            if is_reversed {
                spans.reverse();
            }
            spans.sort_by_key(|span| span.0);
            let mut covering = IntervalStack::default();
            let mut found: Vec<(i64, char)> = Vec::new();
            for at in 0..100 {
                covering.end_until(RawNs(at));
                for &(begin, end, what) in spans.iter().filter(|span| span.0 == at) {
                    covering.add(Interval { start: RawNs(begin), end: RawNs(end), what });
                }
                let what = covering.top().unwrap_or('-');
                if found.last().map_or('-', |last| last.1) != what {
                    found.push((at, what));
                }
            }
            assert_eq!(found, expect);
        }
    }

    #[test]
    fn the_last_to_begin_counts() {
        check(&[(10, 20, 'a'), (30, 40, 'b')], &[(10, 'a'), (20, '-'), (30, 'b'), (40, '-')]);
        check(&[(10, 40, 'a'), (20, 30, 'b')], &[(10, 'a'), (20, 'b'), (30, 'a'), (40, '-')]);
        check(&[(10, 30, 'a'), (20, 40, 'b')], &[(10, 'a'), (20, 'b'), (40, '-')]);
        check(
            &[(10, 60, 'a'), (20, 30, 'b'), (25, 50, 'c')],
            &[(10, 'a'), (20, 'b'), (25, 'c'), (50, 'a'), (60, '-')],
        );
        // They begin at the same instant.
        check(&[(10, 60, 'a'), (10, 30, 'b')], &[(10, 'b'), (30, 'a'), (60, '-')]);
    }
}
