//! Windows of time, on the clock of each host. What a window does to spans is in `isochrone-analysis`.

use isochrone_analysis::When;
use isochrone_time::{RawNs, UnixNs, Window};
use serde::{Deserialize, Serialize};

use crate::host::TimedHost;
use crate::stamp::Timing;

/// A selection by time, on the requested clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// The first instant in the window; `None`: that of the traces.
    pub start: Option<UnixNs>,
    /// The first instant after the window; `None`: after that of the traces.
    pub end: Option<UnixNs>,
    /// The instant whose state is requested.
    pub at: Option<UnixNs>,
}

/// Times at which the traces hold nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WrongTimes {
    /// The end of a window is not after its start.
    #[error("the end of the window is not after its start")]
    Empty,
    /// The whole window, or the instant, lies before the first or after the last event.
    #[error("outside the traces, which run from {first} ns to {last} ns")]
    Outside {
        /// The first event.
        first: UnixNs,
        /// The last event.
        last: UnixNs,
    },
}

/// From the start of the first packet of some hosts to the end of the last one, on the requested clock.
/// `None` where there are no packets. No event is outside, but the first and the last may be far inside: see
/// [`extent_of_events`].
pub fn extent<'h, 'o: 'h>(hosts: impl IntoIterator<Item = &'h TimedHost<'o>>) -> Option<(UnixNs, UnixNs)> {
    union(hosts, |host| host.traced.extent())
}

/// The first and the last event of some hosts on the requested clock; `None` where no event can be read.
/// Reads the first and the last packets of each host.
pub fn extent_of_events<'h, 'o: 'h>(
    hosts: impl IntoIterator<Item = &'h TimedHost<'o>>,
) -> Option<(UnixNs, UnixNs)> {
    union(hosts, |host| host.traced.first_event().zip(host.traced.last_event()))
}

/// What spans of some hosts cover together, on the requested clock.
fn union<'h, 'o: 'h>(
    hosts: impl IntoIterator<Item = &'h TimedHost<'o>>,
    span: impl Fn(&TimedHost<'o>) -> Option<(RawNs, RawNs)>,
) -> Option<(UnixNs, UnixNs)> {
    let of_host = |host: &TimedHost<'o>| {
        let (timing, (first, last)) = (host.timing?, span(host)?);
        Some((timing.unix(first), timing.unix(last)))
    };
    let all = hosts.into_iter().filter_map(of_host);
    all.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
}

impl Times {
    /// A start, an end and an instant, of traces whose first and last event are given: see
    /// [`extent_of_events`].
    ///
    /// ```
    /// use isochrone_timing::{Times, WrongTimes};
    /// use isochrone_time::UnixNs;
    /// let (first, last) = (UnixNs(1_000), UnixNs(2_000));
    /// assert!(Times::new([Some(UnixNs(0)), Some(UnixNs(1_500)), None], Some((first, last))).is_ok());
    /// let wrong = Times::new([Some(UnixNs(3_000)), None, None], Some((first, last)));
    /// assert_eq!(wrong, Err(WrongTimes::Outside { first, last }));
    /// ```
    ///
    /// # Errors
    /// The end is not after the start, or nothing was traced then.
    pub fn new(
        [start, end, at]: [Option<UnixNs>; 3],
        extent: Option<(UnixNs, UnixNs)>,
    ) -> Result<Self, WrongTimes> {
        if start.zip(end).is_some_and(|(start, end)| end <= start) {
            return Err(WrongTimes::Empty);
        }
        let Some((first, last)) = extent else { return Ok(Self { start, end, at }) };
        let is_outside = start.is_some_and(|start| start > last)
            || end.is_some_and(|end| end <= first)
            || at.is_some_and(|at| !(first..=last).contains(&at));
        match is_outside {
            true => Err(WrongTimes::Outside { first, last }),
            false => Ok(Self { start, end, at }),
        }
    }

    /// The same on the clock of a host.
    ///
    /// ```
    /// use isochrone_timing::{Times, Timing};
    /// use isochrone_time::{RawNs, UnixNs};
    /// let times = Times { start: Some(UnixNs(1_010)), end: None, at: None };
    /// assert_eq!(times.on(Timing::Own { offset_ns: 1_000 }).window.start, RawNs(10));
    /// ```
    pub fn on(self, timing: Timing<'_>) -> When {
        let raw = |unix: UnixNs| timing.raw(unix);
        let (start, end) = (self.start.map_or(RawNs::MIN, raw), self.end.map_or(RawNs::MAX, raw));
        When { window: Window::new(start, end), at: self.at.map(raw) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_checked() {
        let check = |times: [Option<i128>; 3], expect: Option<WrongTimes>| {
            let times = times.map(|time| time.map(UnixNs));
            assert_eq!(Times::new(times, Some((UnixNs(10), UnixNs(20)))).err(), expect, "{times:?}");
            let is_empty = expect == Some(WrongTimes::Empty);
            assert_eq!(Times::new(times, None).is_err(), is_empty, "{times:?}, nothing traced");
        };
        let (empty, outside) =
            (Some(WrongTimes::Empty), Some(WrongTimes::Outside { first: UnixNs(10), last: UnixNs(20) }));
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
