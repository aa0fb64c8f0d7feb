//! Windows of instants.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{RawNs, SinceOrigin, UnixNs};

/// An instant of any scale.
pub trait Instant: Copy + Ord + fmt::Debug {
    /// The start of everything.
    const MIN: Self;
    /// The end of everything.
    const MAX: Self;
}

impl Instant for RawNs {
    const MIN: Self = Self::MIN;
    const MAX: Self = Self::MAX;
}

impl Instant for UnixNs {
    const MIN: Self = Self::MIN;
    const MAX: Self = Self::MAX;
}

impl Instant for SinceOrigin {
    const MIN: Self = Self::MIN;
    const MAX: Self = Self::MAX;
}

/// The instants from a start to an end.
///
/// ```
/// use isochrone_time::{RawNs, Window};
/// let window = Window::new(RawNs(10), RawNs(20));
/// assert!(window.contains(RawNs(10)) && !window.contains(RawNs(20)));
/// assert_eq!(window.clip(Window::new(RawNs(15), RawNs(30))), Window::new(RawNs(15), RawNs(20)));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Window<T> {
    /// The first instant in it; `MIN` for the start of everything.
    pub start: T,
    /// The first instant after it; `MAX` for the end of everything, which it contains then.
    pub end: T,
}

impl<T: Instant> Window<T> {
    /// All instants.
    pub const ALL: Self = Self { start: T::MIN, end: T::MAX };

    /// The window from a start to an end.
    pub const fn new(start: T, end: T) -> Self {
        Self { start, end }
    }

    /// Whether an instant is in it.
    #[inline]
    pub fn contains(self, at: T) -> bool {
        self.start <= at && (at < self.end || self.end == T::MAX)
    }

    /// Whether nothing can be in it.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// Whether it has an instant in common with a span, of which the end is no part unless it is empty: an instant.
    #[inline]
    pub fn overlaps(self, start: T, end: T) -> bool {
        start < self.end && (end > self.start || start == end && start == self.start)
    }

    /// What it has in common with another window; empty, with the start not before the end, where that is nothing.
    #[inline]
    #[must_use]
    pub fn clip(self, other: Self) -> Self {
        Self { start: self.start.max(other.start), end: self.end.min(other.end) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn instants_are_in_one_window() {
        let check = |start, end, at, expect| {
            let window = Window::new(RawNs(start), RawNs(end));
            assert_eq!(window.contains(RawNs(at)), expect, "{start} {end} {at}");
        };
        check(10, 20, 9, false);
        check(10, 20, 10, true);
        check(10, 20, 19, true);
        check(10, 20, 20, false);
        check(i64::MIN, 10, i64::MIN, true);
        check(20, i64::MAX, i64::MAX, true);
        check(10, 10, 10, false);
    }

    #[test]
    fn instants_are_written_as_their_numbers() {
        let window = Window::new(UnixNs(1 << 70), UnixNs(-3));
        let text = serde_json::to_string(&window).unwrap();
        assert_eq!(text, r#"{"start":1180591620717411303424,"end":-3}"#);
        assert_eq!(serde_json::from_str::<Window<UnixNs>>(&text).unwrap(), window);
    }

    proptest! {
        /// A clipped window contains what both contain.
        #[test]
        fn clipping_is_and(a in any::<[i8; 2]>(), b in any::<[i8; 2]>(), at in any::<i8>()) {
            let window = |[start, end]: [i8; 2]| Window::new(RawNs(start.into()), RawNs(end.into()));
            let (a, b, at) = (window(a), window(b), RawNs(at.into()));
            prop_assert_eq!(a.clip(b).contains(at), a.contains(at) && b.contains(at));
            prop_assert_eq!(a.overlaps(at, at), a.contains(at));
        }
    }
}
