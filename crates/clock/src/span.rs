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

    /// How far an instant is from the nearer end, if it is outside.
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
