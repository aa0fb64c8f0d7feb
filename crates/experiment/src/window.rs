//! Windows of time as people name them, on the clock of each host. What a window does to spans is known to `isochrone-analysis`.

use isochrone_analysis::{When, Window};

use crate::experiment::TimedHost;
use crate::stamp::Timing;

/// A day.
const DAY_NS: i128 = 86_400_000_000_000;

/// An instant as people name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instant {
    /// Unix ns.
    Unix(i128),
    /// ns since midnight, UTC, of the day on which the experiment begins, or of the day after.
    OfDay(i128),
}

impl Instant {
    /// Unix ns, for an experiment that begins at a time.
    ///
    /// ```
    /// use isochrone_experiment::Instant;
    /// const HOUR: i128 = 3_600_000_000_000;
    /// let begin = 3 * 24 * HOUR + 23 * HOUR;
    /// assert_eq!(Instant::Unix(7).unix_ns(begin), 7);
    /// assert_eq!(Instant::OfDay(23 * HOUR + 5).unix_ns(begin), begin + 5);
    /// assert_eq!(Instant::OfDay(HOUR).unix_ns(begin), begin + 2 * HOUR); // after midnight
    /// ```
    pub fn unix_ns(self, begin: i128) -> i128 {
        match self {
            Self::Unix(unix_ns) => unix_ns,
            Self::OfDay(ns) => {
                let that_day = begin - begin.rem_euclid(DAY_NS) + ns;
                // Traces that run over midnight: a time long before they begin is one of the next day.
                if begin - that_day > DAY_NS / 2 { that_day + DAY_NS } else { that_day }
            }
        }
    }
}

/// The times that are asked for, Unix ns on the clock that is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// The first instant that counts.
    pub begin: Option<i128>,
    /// The first instant that does not count any more.
    pub end: Option<i128>,
    /// The instant whose state is asked for.
    pub at: Option<i128>,
}

/// A window whose end is not after its begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the window ends before it has begun")]
pub struct EmptyWindow;

impl Times {
    /// Times of day are those of the day on which the first of these hosts begins.
    ///
    /// # Errors
    /// The end is not after the begin.
    pub fn new<'h, 'o: 'h>(
        [begin, end, at]: [Option<Instant>; 3],
        hosts: impl IntoIterator<Item = &'h TimedHost<'o>>,
    ) -> Result<Self, EmptyWindow> {
        let first = hosts.into_iter().filter_map(|host| Some(host.timing?.unix_ns(host.traced.extent()?.0)));
        let first = first.min().unwrap_or_default();
        let [begin, end, at] = [begin, end, at].map(|time| time.map(|time| time.unix_ns(first)));
        if begin.zip(end).is_some_and(|(begin, end)| end <= begin) {
            return Err(EmptyWindow);
        }
        Ok(Self { begin, end, at })
    }

    /// The same on the clock of a host.
    ///
    /// ```
    /// use isochrone_experiment::{Times, Timing};
    /// let times = Times { begin: Some(1_010), end: None, at: None };
    /// assert_eq!(times.on(Timing::Own { offset_ns: 1_000 }).window.begin, Some(10));
    /// ```
    pub fn on(self, timing: Timing<'_>) -> When {
        let raw = |unix_ns: i128| timing.raw(unix_ns);
        When { window: Window { begin: self.begin.map(raw), end: self.end.map(raw) }, at: self.at.map(raw) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day() {
        let begin = 3 * DAY_NS + 86_000_000_000_000;
        let check = |time: Instant, expect| assert_eq!(time.unix_ns(begin), expect, "{time:?}");
        check(Instant::OfDay(86_001_000_000_000), begin + 1_000_000_000);
        check(Instant::OfDay(1_000_000_000), 4 * DAY_NS + 1_000_000_000);
        check(Instant::Unix(7), 7);
    }

    #[test]
    fn windows_end_after_they_begin() {
        let check = |begin, end, expect: bool| {
            let times = [begin, end, None].map(|time: Option<i128>| time.map(Instant::Unix));
            assert_eq!(Times::new(times, []).is_ok(), expect, "{begin:?} {end:?}");
        };
        check(None, None, true);
        check(Some(1), None, true);
        check(None, Some(1), true);
        check(Some(1), Some(2), true);
        check(Some(2), Some(2), false);
        check(Some(2), Some(1), false);
    }
}
