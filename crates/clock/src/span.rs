//! Spans of time: when a clock was seen, when something happened to it.

/// The first and the last event of a clock, raw ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// First instant.
    pub begin: i64,
    /// Last instant.
    pub end: i64,
}

impl Span {
    /// Before and after all times.
    pub(crate) const EVER: Self = Self { begin: -crate::MAX_ABS_NS, end: crate::MAX_ABS_NS };

    /// One instant.
    pub(crate) const fn at(instant: i64) -> Self {
        Self { begin: instant, end: instant }
    }

    /// The instant halfway between both ends, rounded toward the start.
    pub(crate) fn middle(self) -> i64 {
        self.begin.midpoint(self.end)
    }

    /// Whether an instant is in the span, its ends included.
    pub(crate) fn contains(self, at: i64) -> bool {
        self.begin <= at && at <= self.end
    }

    /// Whether all of another span is in it.
    pub(crate) fn holds(self, other: Self) -> bool {
        self.begin <= other.begin && other.end <= self.end
    }

    /// Whether both have an instant in common.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.begin <= other.end && other.begin <= self.end
    }

    /// From the first start to the last end.
    pub(crate) fn hull(self, other: Self) -> Self {
        Self { begin: self.begin.min(other.begin), end: self.end.max(other.end) }
    }

    /// The common part; it ends before it begins where there is none.
    pub(crate) fn common(self, other: Self) -> Self {
        Self { begin: self.begin.max(other.begin), end: self.end.min(other.end) }
    }

    /// The span between the images of both ends.
    pub(crate) fn map(self, of: impl Fn(i64) -> i64) -> Self {
        Self { begin: of(self.begin), end: of(self.end) }
    }

    /// Distance of an instant from the nearer end, if it is outside; ns.
    pub(crate) fn beyond(self, at: i64) -> i64 {
        self.begin.saturating_sub(at).max(at.saturating_sub(self.end)).max(0)
    }
}

/// Puts spans in order, those that meet as one. O(n log n).
pub(crate) fn merge(spans: &mut Vec<Span>) {
    spans.sort_unstable_by_key(|s| (s.begin, s.end));
    spans.dedup_by(|later, earlier| {
        let meets = later.begin <= earlier.end;
        if meets {
            earlier.end = earlier.end.max(later.end);
        }
        meets
    });
}
