//! Which part of a host's time counts.
//!
//! The rule that makes consecutive windows add up to the whole: time on a CPU is cut at the borders, and what
//! has a duration of its own (a call, an interrupt, a wait) counts where it ends.

use isochrone_time::{RawNs, Window};
use serde::{Deserialize, Serialize};

/// Which times of a host are requested: they differ from host to host as its clocks do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct When {
    /// What counts.
    #[serde(with = "borders")]
    pub window: Window<RawNs>,
    /// The instant at which `processes`, `fds` and `syscalls` show the state. The window does not concern
    /// them then.
    pub at: Option<RawNs>,
}

impl Default for When {
    /// All of the time.
    fn default() -> Self {
        Self { window: Window::ALL, at: None }
    }
}

/// The part of a span that is within a window. A span that ends just where the window begins has an empty
/// part, not none: it ends in this window and not in the one before.
pub(crate) fn part(window: Window<RawNs>, begin: RawNs, end: RawNs) -> Option<Window<RawNs>> {
    let is_after = window.end != RawNs::MAX && begin >= window.end;
    (end >= window.start && !is_after).then(|| window.clip(Window::new(begin, end)))
}

/// Whether a span is there at an instant. Its begin belongs to it, its end does not.
pub fn contains(begin: RawNs, at: RawNs, end: RawNs) -> bool {
    begin <= at && at < end
}

/// A window as it is written down: a border that is none takes one byte.
pub(crate) mod borders {
    use isochrone_time::{RawNs, Window};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(window: &Window<RawNs>, to: S) -> Result<S::Ok, S::Error> {
        let Window { start, end } = *window;
        (Some(start).filter(|&it| it != RawNs::MIN), Some(end).filter(|&it| it != RawNs::MAX)).serialize(to)
    }

    pub(crate) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Window<RawNs>, D::Error> {
        let (start, end) = <(Option<RawNs>, Option<RawNs>)>::deserialize(from)?;
        Ok(Window::new(start.unwrap_or(RawNs::MIN), end.unwrap_or(RawNs::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(start: i64, end: i64) -> Window<RawNs> {
        Window::new(RawNs(start), RawNs(end))
    }

    #[test]
    fn a_span_is_cut_at_the_borders() {
        let check = |begin, end, expect: Option<(i64, i64)>| {
            let found = part(window(10, 20), RawNs(begin), RawNs(end));
            assert_eq!(found, expect.map(|(start, end)| window(start, end)), "{begin}..{end}");
        };
        check(0, 9, None);
        check(0, 10, Some((10, 10)));
        check(5, 15, Some((10, 15)));
        check(12, 13, Some((12, 13)));
        check(15, 25, Some((15, 20)));
        check(0, 30, Some((10, 20)));
        check(15, 20, Some((15, 20)));
        check(20, 25, None);
        assert_eq!(part(Window::ALL, RawNs::MIN, RawNs::MAX), Some(Window::ALL));
    }

    #[test]
    fn windows_are_written_as_two_borders() {
        for window in [Window::ALL, window(-5, i64::MAX), window(i64::MIN, 7), window(-5, 7)] {
            let when = When { window, at: Some(RawNs(3)) };
            let start = Some(window.start.ns()).filter(|&it| it != i64::MIN);
            let end = Some(window.end.ns()).filter(|&it| it != i64::MAX);
            let bytes = postcard::to_stdvec(&when).unwrap();
            assert_eq!(bytes, postcard::to_stdvec(&(start, end, Some(3_i64))).unwrap());
            assert_eq!(postcard::from_bytes::<When>(&bytes).unwrap(), when);
        }
    }
}
