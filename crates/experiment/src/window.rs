//! Windows of time, on the clock of each host. What a window does to spans is known to `isochrone-analysis`.

use isochrone_analysis::{When, Window};
use serde::{Deserialize, Serialize};

use crate::experiment::TimedHost;
use crate::stamp::Timing;

/// The times that are asked for, Unix ns on the clock that is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// The first instant that counts.
    pub begin: Option<i128>,
    /// The first instant that does not count any more.
    pub end: Option<i128>,
    /// The instant whose state is asked for.
    pub at: Option<i128>,
}

/// Times at which there is nothing to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WrongTimes {
    /// The end of a window is not after its begin.
    #[error("the end of the window is not after its begin")]
    Empty,
    /// The whole window, or the instant, lies before the first or after the last event.
    #[error("outside the traces, which run from {first} ns to {last} ns")]
    Outside {
        /// The first event, Unix ns.
        first: i128,
        /// The last event.
        last: i128,
    },
}

/// From the first to the last event of some hosts, Unix ns on the clock that is asked for; `None` where there are no events.
pub fn extent<'h, 'o: 'h>(hosts: impl IntoIterator<Item = &'h TimedHost<'o>>) -> Option<(i128, i128)> {
    let of_host = |host: &TimedHost<'_>| {
        let (timing, (first, last)) = (host.timing?, host.traced.extent()?);
        Some((timing.unix_ns(first), timing.unix_ns(last)))
    };
    let all = hosts.into_iter().filter_map(of_host);
    all.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
}

impl Times {
    /// A window, or an instant; `extent` is what the traces hold: see [`extent()`].
    ///
    /// ```
    /// use isochrone_experiment::{Times, WrongTimes};
    /// let traced = Some((1_000, 2_000));
    /// assert!(Times::new([Some(0), Some(1_500), None], traced).is_ok());
    /// let wrong = Times::new([Some(3_000), None, None], traced);
    /// assert_eq!(wrong, Err(WrongTimes::Outside { first: 1_000, last: 2_000 }));
    /// ```
    ///
    /// # Errors
    /// The end is not after the begin, or nothing was traced then.
    pub fn new(
        [begin, end, at]: [Option<i128>; 3],
        extent: Option<(i128, i128)>,
    ) -> Result<Self, WrongTimes> {
        if begin.zip(end).is_some_and(|(begin, end)| end <= begin) {
            return Err(WrongTimes::Empty);
        }
        let Some((first, last)) = extent else { return Ok(Self { begin, end, at }) };
        let is_outside = begin.is_some_and(|begin| begin > last)
            || end.is_some_and(|end| end <= first)
            || at.is_some_and(|at| !(first..=last).contains(&at));
        match is_outside {
            true => Err(WrongTimes::Outside { first, last }),
            false => Ok(Self { begin, end, at }),
        }
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
    fn windows_are_checked() {
        let check = |times: [Option<i128>; 3], expect: Option<WrongTimes>| {
            assert_eq!(Times::new(times, Some((10, 20))).err(), expect, "{times:?}");
            let is_empty = expect == Some(WrongTimes::Empty);
            assert_eq!(Times::new(times, None).is_err(), is_empty, "{times:?}, nothing traced");
        };
        let (empty, outside) = (Some(WrongTimes::Empty), Some(WrongTimes::Outside { first: 10, last: 20 }));
        check([None; 3], None);
        check([Some(1), None, None], None);
        check([None, Some(11), None], None);
        check([Some(1), Some(2), None], outside);
        check([None, Some(10), None], outside);
        check([Some(20), None, None], None);
        check([Some(21), None, None], outside);
        check([Some(2), Some(2), None], empty);
        check([Some(2), Some(1), None], empty);
        check([None, None, Some(10)], None);
        check([None, None, Some(20)], None);
        check([None, None, Some(21)], outside);
        check([None, None, Some(9)], outside);
    }
}
