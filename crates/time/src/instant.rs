//! The types of instants.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use serde::{Deserialize, Serialize};

/// A type of instants over an integer of ns, with what all of them can do.
macro_rules! instants {
    ($($(#[$doc:meta])* $name:ident($number:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[repr(transparent)]
        #[serde(transparent)]
        pub struct $name(pub $number);

        impl $name {
            /// The first instant that can be represented: stands for the start of everything in windows.
            pub const MIN: Self = Self(<$number>::MIN);
            /// The last instant that can be represented: stands for the end of everything in windows.
            pub const MAX: Self = Self(<$number>::MAX);

            /// The number of ns since the zero of the scale.
            #[inline]
            pub const fn ns(self) -> $number {
                self.0
            }

            /// The instant `ns` later (earlier, if negative), or the nearest that can be represented.
            #[inline]
            #[must_use]
            pub const fn saturating_add(self, ns: i64) -> Self {
                Self(self.0.saturating_add(ns as $number))
            }

            /// The instant `ns` earlier (later, if negative), or the nearest that can be represented.
            #[inline]
            #[must_use]
            pub const fn saturating_sub(self, ns: i64) -> Self {
                Self(self.0.saturating_sub(ns as $number))
            }
        }

        impl Add<i64> for $name {
            type Output = Self;

            #[inline]
            fn add(self, ns: i64) -> Self {
                Self(self.0 + <$number>::from(ns))
            }
        }

        impl Sub<i64> for $name {
            type Output = Self;

            #[inline]
            fn sub(self, ns: i64) -> Self {
                Self(self.0 - <$number>::from(ns))
            }
        }

        impl AddAssign<i64> for $name {
            #[inline]
            fn add_assign(&mut self, ns: i64) {
                *self = *self + ns;
            }
        }

        impl SubAssign<i64> for $name {
            #[inline]
            fn sub_assign(&mut self, ns: i64) {
                *self = *self - ns;
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    )*};
}

instants! {
    /// A raw time: ns of the clock of one host, as its tracer stamped events.
    ///
    /// ```
    /// use isochrone_time::RawNs;
    /// assert_eq!(RawNs(7) - RawNs(3), 4);
    /// assert_eq!(RawNs(7) + 3, RawNs(10));
    /// ```
    RawNs(i64);
    /// A Unix time in ns, on the clock that was asked for. 128 bits: any raw time has one, whatever the offset of its clock.
    UnixNs(i128);
    /// An instant of the common clock in ns since the origin of an experiment: a Unix time near its first event. 64 bits are enough for 292
    /// years around it.
    SinceOrigin(i64);
}

/// The duration from one instant to another in ns. Overflows where it does not fit 64 bits: 292 years.
macro_rules! durations {
    ($($name:ident)*) => {$(
        impl Sub for $name {
            type Output = i64;

            #[inline]
            fn sub(self, earlier: Self) -> i64 {
                self.0 - earlier.0
            }
        }

        impl $name {
            /// The duration since another instant in ns, or the nearest that can be represented.
            #[inline]
            pub const fn saturating_since(self, earlier: Self) -> i64 {
                self.0.saturating_sub(earlier.0)
            }

            /// The duration since another instant in ns; `None` where it does not fit 64 bits.
            #[inline]
            pub const fn checked_since(self, earlier: Self) -> Option<i64> {
                self.0.checked_sub(earlier.0)
            }
        }
    )*};
}

durations! { RawNs SinceOrigin }

impl Sub for UnixNs {
    type Output = i128;

    #[inline]
    fn sub(self, earlier: Self) -> i128 {
        self.0 - earlier.0
    }
}

impl UnixNs {
    /// The duration since another instant in ns, or the nearest that 64 bits can represent: 292 years.
    ///
    /// ```
    /// use isochrone_time::UnixNs;
    /// assert_eq!(UnixNs(7).saturating_since(UnixNs(3)), 4);
    /// assert_eq!(UnixNs::MAX.saturating_since(UnixNs(0)), i64::MAX);
    /// ```
    #[inline]
    pub fn saturating_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0).clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// The duration since another instant in ns; `None` where it does not fit 64 bits.
    #[inline]
    pub fn checked_since(self, earlier: Self) -> Option<i64> {
        i64::try_from(self.0.checked_sub(earlier.0)?).ok()
    }
}
