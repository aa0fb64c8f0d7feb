//! Which part of a host's time counts.
//!
//! The rule that makes consecutive windows add up to the whole: time on a CPU is cut at the borders, and what
//! has a duration of its own (a call, an interrupt, a wait) counts where it ends.

use isochrone_kernel::Time;
use serde::{Deserialize, Serialize};

/// From when to when things count, raw ns of a host. The begin belongs to it, the end does not; `None`: no
/// border there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// First instant that counts.
    pub begin: Option<Time>,
    /// First instant that does not count any more.
    pub end: Option<Time>,
}

impl Window {
    /// Whether an instant is within.
    pub fn holds(self, at: Time) -> bool {
        self.begin.is_none_or(|begin| begin <= at) && self.end.is_none_or(|end| at < end)
    }

    /// The part of a span that is within. A span that ends just where the window begins has an empty part,
    /// not none: it ends in this window and not in the one before.
    pub fn clip(self, begin: Time, end: Time) -> Option<(Time, Time)> {
        if self.begin.is_some_and(|first| end < first) || self.end.is_some_and(|last| begin >= last) {
            return None;
        }
        Some((self.begin.map_or(begin, |first| first.max(begin)), self.end.map_or(end, |last| last.min(end))))
    }

    /// The window as two instants, for a host with events from `whole.0` to `whole.1`. Never negative in
    /// length.
    pub fn within(self, whole: (Time, Time)) -> (Time, Time) {
        let begin = self.begin.map_or(whole.0, |begin| begin.max(whole.0));
        let end = self.end.map_or(whole.1, |end| end.min(whole.1));
        (begin, end.max(begin))
    }
}

/// Which times of a host are requested: they differ from host to host as its clocks do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct When {
    /// What counts.
    pub window: Window,
    /// The instant at which `processes`, `fds` and `syscalls` show the state, raw ns. The window does not
    /// concern them then.
    pub at: Option<Time>,
}

/// Whether a span is there at an instant. Its begin belongs to it, its end does not.
pub fn contains(begin: Time, at: Time, end: Time) -> bool {
    begin <= at && at < end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_cut_at_the_borders() {
        let window = Window { begin: Some(10), end: Some(20) };
        let check = |begin, end, expect| assert_eq!(window.clip(begin, end), expect, "{begin}..{end}");
        check(0, 9, None);
        check(0, 10, Some((10, 10)));
        check(5, 15, Some((10, 15)));
        check(12, 13, Some((12, 13)));
        check(15, 25, Some((15, 20)));
        check(0, 30, Some((10, 20)));
        check(15, 20, Some((15, 20)));
        check(20, 25, None);
        assert_eq!(Window::default().clip(i64::MIN, i64::MAX), Some((i64::MIN, i64::MAX)));
    }

    #[test]
    fn the_end_belongs_to_the_next() {
        let window = Window { begin: Some(10), end: Some(20) };
        for (at, expect) in [(9, false), (10, true), (19, true), (20, false)] {
            assert_eq!(window.holds(at), expect, "{at}");
        }
        assert!(Window::default().holds(i64::MAX));
        assert_eq!(window.within((12, 30)), (12, 20));
        assert_eq!(window.within((25, 30)), (25, 25));
    }
}
