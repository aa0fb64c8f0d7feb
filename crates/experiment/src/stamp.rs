//! What a raw time of a host means: Unix time on the clock that is asked for, with bounds; and back.
//!
//! All is integers. What is proven is rounded outward by [`isochrone_clock`](isochrone_sync::apply), and only shifted here.

use isochrone_hosts::Time;
use isochrone_sync::apply::{Clock, Converted};

/// A raw time of a host on the clock that is asked for.
///
/// On a host's own clock, `unix_ns` is what the host itself took for the time; nothing is known of how that compares with any
/// other host, so there are no bounds, no realistic error and no island. Stamps of different hosts can be compared if they are of
/// one island.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The estimate, Unix ns.
    pub unix_ns: i128,
    /// What the truth on the reference's clock is surely not before, Unix ns. `None`: nothing is proven, outside the time that
    /// was synchronized or where the messages contradict each other.
    pub lo: Option<i128>,
    /// What it is surely not after.
    pub hi: Option<i128>,
    /// The realistic error of the estimate, ns: a statistic, known within the time that was synchronized.
    pub e95: Option<i64>,
    /// The number of the hosts that messages tie together.
    pub island: Option<usize>,
}

impl Stamp {
    /// How far before and after the estimate the truth can be, ns: the first is not positive, the second not negative. `None` where
    /// either side is not proven.
    ///
    /// ```
    /// use isochrone_experiment::Stamp;
    /// let stamp = Stamp { unix_ns: 100, lo: Some(90), hi: Some(120), e95: None, island: None };
    /// assert_eq!(stamp.bounds_around(), Some((-10, 20)));
    /// ```
    pub fn bounds_around(&self) -> Option<(i64, i64)> {
        let around = |bound: Option<i128>| i64::try_from(bound? - self.unix_ns).ok();
        around(self.lo).zip(around(self.hi))
    }
}

/// An instant of the clock that is asked for, on a host's own: raw ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawStamp {
    /// The last raw time whose estimate is not after the instant; the nearest that there is, where it is out of range.
    pub raw: Time,
    /// What the host's clock surely did not show before the instant: the first raw time whose own bounds reach it. `None` as in
    /// [`Stamp`].
    pub lo: Option<Time>,
    /// What it surely did not show after it.
    pub hi: Option<Time>,
    /// The realistic error, ns.
    pub e95: Option<i64>,
}

/// The way from a host's raw time to the clock that is asked for. It costs nothing to copy.
#[derive(Debug, Clone, Copy)]
pub enum Timing<'c> {
    /// It stays on its own clock.
    Own {
        /// Unix time of the clock's zero, ns.
        offset_ns: i64,
    },
    /// It is put on the clock of the reference of its island.
    Common(&'c Clock),
}

impl<'c> Timing<'c> {
    /// The correction, where there is one.
    pub fn clock(self) -> Option<&'c Clock> {
        match self {
            Self::Own { .. } => None,
            Self::Common(clock) => Some(clock),
        }
    }

    /// Unix time of a raw time, ns: the estimate alone.
    #[inline]
    pub fn unix_ns(self, raw: Time) -> i128 {
        match self {
            Self::Own { offset_ns } => i128::from(raw) + i128::from(offset_ns),
            Self::Common(clock) => clock.unix_ns(raw),
        }
    }

    /// Unix time of an event with this raw time, with all that is known of it. `O(log n)` in the rows of the correction.
    ///
    /// ```
    /// use isochrone_experiment::{Stamp, Timing};
    /// let own = Timing::Own { offset_ns: 1_000 };
    /// assert_eq!(own.stamp(7), Stamp { unix_ns: 1_007, lo: None, hi: None, e95: None, island: None });
    /// assert_eq!(own.raw(1_007), 7);
    /// ```
    pub fn stamp(self, raw: Time) -> Stamp {
        let clock = match self {
            Self::Own { .. } => {
                return Stamp { unix_ns: self.unix_ns(raw), lo: None, hi: None, e95: None, island: None };
            }
            Self::Common(clock) => clock,
        };
        let Converted { time, bounds: (lo, hi), e95 } = clock.stamped(raw);
        let unix = |time: i64| i128::from(time) + i128::from(clock.reference_offset_ns);
        let proven = |bound: Option<i64>| bound.filter(|_| clock.proven).map(unix);
        let island = Some(clock.entry.island);
        Stamp { unix_ns: unix(time), lo: proven(lo), hi: proven(hi), e95, island }
    }

    /// The raw time of an instant: the last one whose [`unix_ns`](Self::unix_ns) is not after it; the nearest that there is where
    /// it is out of range. `unix_ns(raw(unix_ns(r))) == unix_ns(r)` for all raw times that a correction does not put out of range.
    pub fn raw(self, unix_ns: i128) -> Time {
        match self {
            Self::Own { offset_ns } => saturated(unix_ns, offset_ns),
            Self::Common(clock) => clock.correction.invert(saturated(unix_ns, clock.reference_offset_ns)),
        }
    }

    /// The raw time of an instant, with all that is known of it. `O(log² n)` in the rows of the correction.
    pub fn raw_stamp(self, unix_ns: i128) -> RawStamp {
        let raw = self.raw(unix_ns);
        let unknown = RawStamp { raw, lo: None, hi: None, e95: None };
        let Self::Common(clock) = self else { return unknown };
        let time = unix_ns.checked_sub(i128::from(clock.reference_offset_ns));
        let Some(time) = time.and_then(|time| Time::try_from(time).ok()) else { return unknown };
        let exact = Converted { time, bounds: (Some(time), Some(time)), e95: Some(0) };
        let Converted { bounds: (lo, hi), e95, .. } = clock.from_reference(exact);
        let proven = |bound: Option<Time>| bound.filter(|_| clock.proven);
        RawStamp { raw, lo: proven(lo), hi: proven(hi), e95 }
    }

    /// Whether a raw time lies within what was synchronized. On a host's own clock all times do.
    pub fn covers(self, raw: Time) -> bool {
        self.clock().is_none_or(|clock| clock.covers(raw))
    }
}

/// An instant on the clock whose zero is at `offset_ns`.
fn saturated(unix_ns: i128, offset_ns: i64) -> Time {
    unix_ns.saturating_sub(i128::from(offset_ns)).clamp(Time::MIN.into(), Time::MAX.into()) as Time
}

#[cfg(test)]
mod tests {
    use isochrone_clock::{Correction, Interval, IntervalRow, Rate};
    use isochrone_sync::artefact::ClockEntry;
    use proptest::prelude::*;

    use super::*;

    /// A clock that runs at half speed from raw 0 to 1000, and whose reference's zero is at Unix time 50.
    fn clock(proven: bool) -> Clock {
        let row = |raw, lo, hi, e95| IntervalRow { raw, lo, hi, e95 };
        let correction = Correction::new(vec![(0, 0), (1000, 500)], Rate::ONE, Rate::ONE).unwrap();
        let entry = ClockEntry {
            id: "id".to_owned(),
            host: "b".to_owned(),
            hostnames: vec!["b".to_owned()],
            island: 3,
            clock_offset_ns: 7,
            traces: Vec::new(),
            knots: correction.knots().to_vec(),
            rate_before: Rate::ONE,
            rate_after: Rate::ONE,
            interval: Vec::new(),
            proven: true,
            doubt: None,
            breaks: Vec::new(),
            assumptions: Vec::new(),
            resolution: None,
            stated: None,
        };
        let interval = Interval::new(vec![row(0, -5, 5, 2), row(1000, 490, 513, 3)]).unwrap();
        Clock {
            number: 0,
            entry,
            correction,
            interval,
            proven,
            reference_offset_ns: 50,
            reference: "a".to_owned(),
        }
    }

    #[test]
    fn stamps_are_rounded_outward() {
        let (proven, doubtful) = (clock(true), clock(false));
        let check = |raw, unix_ns: i128, bounds: Option<(i128, i128)>, e95| {
            let (lo, hi) = bounds.unzip();
            let expect = Stamp { unix_ns, lo, hi, e95, island: Some(3) };
            assert_eq!(Timing::Common(&proven).stamp(raw), expect, "{raw}");
            let expect = Stamp { lo: None, hi: None, ..expect };
            assert_eq!(Timing::Common(&doubtful).stamp(raw), expect, "{raw}, not proven");
        };
        check(0, 50, Some((45, 55)), Some(2));
        check(1000, 550, Some((540, 563)), Some(3));
        // A quarter of the way: 118.75, 132, 2.25.
        check(250, 50 + 125, Some((50 + 118, 50 + 132)), Some(3));
        // Nothing is proven outside, though the correction goes on.
        check(-1, 49, None, None);
        check(1001, 551, None, None);
    }

    #[test]
    fn instants_on_the_hosts_clock() {
        let (proven, doubtful) = (clock(true), clock(false));
        let check = |unix_ns, raw, bounds: (Option<i64>, Option<i64>), e95| {
            let expect = RawStamp { raw, lo: bounds.0, hi: bounds.1, e95 };
            assert_eq!(Timing::Common(&proven).raw_stamp(unix_ns), expect, "{unix_ns}");
            let expect = RawStamp { lo: None, hi: None, ..expect };
            assert_eq!(Timing::Common(&doubtful).raw_stamp(unix_ns), expect, "{unix_ns}, not proven");
        };
        // Of the two raw times that are shown as one instant, the later one. The bounds of raw 481 are 249.348 at most and those of
        // 517 are 250.915 at least, which is 250 in whole ns both times, rounded outward.
        check(50 + 250, 501, (Some(481), Some(517)), Some(3));
        // Before the span nothing is known of what the clock may have shown earlier.
        check(50, 1, (None, Some(12)), Some(3));
        check(i128::MAX, Time::MAX, (None, None), None);
        check(i128::MIN, Time::MIN, (None, None), None);
    }

    proptest! {
        #[test]
        fn there_and_back(raw in -2_000_i64..3_000, far in any::<i64>(), offset_ns in any::<i64>()) {
            let own = Timing::Own { offset_ns };
            prop_assert_eq!(own.raw(own.unix_ns(far)), far);
            prop_assert!(own.covers(far));
            let clock = clock(true);
            let common = Timing::Common(&clock);
            let back = common.raw(common.unix_ns(raw));
            prop_assert!(back >= raw);
            prop_assert_eq!(common.unix_ns(back), common.unix_ns(raw));
            prop_assert_eq!(common.covers(raw), common.stamp(raw).lo.is_some());
        }

        #[test]
        fn bounds_of_the_inverse_hold_all_that_may_be(raw in 0_i64..=1_000, share in 0_i128..=1_000) {
            let clock = clock(true);
            let common = Timing::Common(&clock);
            let stamp = common.stamp(raw);
            let (lo, hi) = (stamp.lo.unwrap(), stamp.hi.unwrap());
            // Whenever the truth lies within the bounds of a raw time, that raw time lies within the bounds of the truth.
            let truth = lo + (hi - lo) * share / 1_000;
            let back = common.raw_stamp(truth);
            prop_assert!(back.lo.is_none_or(|first| first <= raw), "{:?}", back);
            prop_assert!(back.hi.is_none_or(|last| raw <= last), "{:?}", back);
        }
    }
}
