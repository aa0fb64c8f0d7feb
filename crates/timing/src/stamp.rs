//! Conversion of a raw time of a host to Unix time on the requested clock, with bounds; and back. The one
//! place that converts.
//!
//! All is integers. What is proven is rounded outward by [`isochrone_clock`](isochrone_corrections), and only
//! shifted here.

use isochrone_corrections::{Clock, Converted};
use isochrone_time::{RawNs, UnixNs};

/// A raw time of a host on the requested clock.
///
/// On a host's own clock, `unix` is what the host itself took for the time; how that compares with any other
/// host is unknown, so there are no bounds, no realistic error and no island. Stamps of different hosts can
/// be compared if they are of one island.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The estimate.
    pub unix: UnixNs,
    /// Lower bound of the true time on the reference's clock. `None`: nothing is proven, outside the
    /// synchronized time or where the messages contradict each other.
    pub lo: Option<UnixNs>,
    /// Upper bound.
    pub hi: Option<UnixNs>,
    /// Realistic error of the estimate, ns: a statistic, known within the synchronized time.
    pub e95: Option<i64>,
    /// Number of the island: the hosts that messages tie together.
    pub island: Option<usize>,
}

impl Stamp {
    /// An instant of which nothing but the estimate is known.
    pub fn unbounded(unix: UnixNs) -> Self {
        Self { unix, lo: None, hi: None, e95: None, island: None }
    }

    /// Distance of the bounds from the estimate, ns: the first is not positive, the second not negative.
    /// `None` where either side is not proven.
    ///
    /// ```
    /// use isochrone_timing::Stamp;
    /// use isochrone_time::UnixNs;
    /// let (unix, lo, hi) = (UnixNs(100), Some(UnixNs(90)), Some(UnixNs(120)));
    /// let stamp = Stamp { unix, lo, hi, e95: None, island: None };
    /// assert_eq!(stamp.bounds_around(), Some((-10, 20)));
    /// ```
    pub fn bounds_around(&self) -> Option<(i64, i64)> {
        let around = |bound: Option<UnixNs>| bound?.checked_since(self.unix);
        around(self.lo).zip(around(self.hi))
    }
}

/// An instant of the requested clock on a host's own clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawStamp {
    /// The last raw time whose estimate is not after the instant; the nearest representable one, where it is
    /// out of range.
    pub raw: RawNs,
    /// Lower bound: the first raw time whose own bounds reach the instant. `None` as in [`Stamp`].
    pub lo: Option<RawNs>,
    /// Upper bound.
    pub hi: Option<RawNs>,
    /// Realistic error, ns.
    pub e95: Option<i64>,
}

/// Conversion from a host's raw time to the requested clock. Cheap to copy.
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

    /// Unix time of a raw time: the estimate alone.
    #[inline]
    pub fn unix(self, raw: RawNs) -> UnixNs {
        match self {
            Self::Own { offset_ns } => on_clock(raw, offset_ns),
            Self::Common(clock) => clock.unix(raw),
        }
    }

    /// Unix time of an event with this raw time, with its bounds. `O(log n)` in the rows of the correction.
    ///
    /// ```
    /// use isochrone_timing::{Stamp, Timing};
    /// use isochrone_time::{RawNs, UnixNs};
    /// let own = Timing::Own { offset_ns: 1_000 };
    /// assert_eq!(own.stamp(RawNs(7)), Stamp::unbounded(UnixNs(1_007)));
    /// assert_eq!(own.raw(UnixNs(1_007)), RawNs(7));
    /// ```
    pub fn stamp(self, raw: RawNs) -> Stamp {
        let clock = match self {
            Self::Own { .. } => return Stamp::unbounded(self.unix(raw)),
            Self::Common(clock) => clock,
        };
        let Converted { time, bounds: (lo, hi), e95 } = clock.stamped(raw);
        let unix = |time: RawNs| clock.unix_of_reference(time);
        let proven = |bound: Option<RawNs>| bound.filter(|_| clock.proven).map(unix);
        let island = Some(clock.entry.island);
        Stamp { unix: unix(time), lo: proven(lo), hi: proven(hi), e95, island }
    }

    /// The raw time of an instant: the last one whose [`unix`](Self::unix) is not after it; the nearest
    /// representable one where it is out of range. `unix(raw(unix(r))) == unix(r)` for all raw times that a
    /// correction does not put out of range.
    pub fn raw(self, unix: UnixNs) -> RawNs {
        match self {
            Self::Own { offset_ns } => saturated(unix, offset_ns),
            Self::Common(clock) => {
                RawNs(clock.correction.invert(saturated(unix, clock.reference_offset_ns).0))
            }
        }
    }

    /// The raw time of an instant, with its bounds. `O(log² n)` in the rows of the correction.
    pub fn raw_stamp(self, unix: UnixNs) -> RawStamp {
        let raw = self.raw(unix);
        let unknown = RawStamp { raw, lo: None, hi: None, e95: None };
        let Self::Common(clock) = self else { return unknown };
        let time = unix.0.checked_sub(i128::from(clock.reference_offset_ns));
        let Some(time) = time.and_then(|time| i64::try_from(time).ok()) else { return unknown };
        let exact = Converted::exact(RawNs(time));
        let Converted { bounds: (lo, hi), e95, .. } = clock.from_reference(exact);
        let proven = |bound: Option<RawNs>| bound.filter(|_| clock.proven);
        RawStamp { raw, lo: proven(lo), hi: proven(hi), e95 }
    }

    /// Whether a raw time lies within the synchronized time. On a host's own clock all times do.
    pub fn covers(self, raw: RawNs) -> bool {
        self.clock().is_none_or(|clock| clock.covers(raw))
    }
}

/// The Unix time of a raw time of the clock whose zero is at `offset_ns`.
#[inline]
fn on_clock(raw: RawNs, offset_ns: i64) -> UnixNs {
    UnixNs(i128::from(raw.0) + i128::from(offset_ns))
}

/// An instant on the clock whose zero is at `offset_ns`.
fn saturated(unix: UnixNs, offset_ns: i64) -> RawNs {
    let raw = unix.0.saturating_sub(i128::from(offset_ns));
    RawNs(raw.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
}

#[cfg(test)]
mod tests {
    use isochrone_clock::{Correction, Interval, IntervalRow, Rate};
    use isochrone_corrections::artefact::ClockEntry;
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
        let check = |raw, unix: i128, bounds: Option<(i128, i128)>, e95| {
            let (lo, hi) = bounds.map(|(lo, hi)| (UnixNs(lo), UnixNs(hi))).unzip();
            let expect = Stamp { unix: UnixNs(unix), lo, hi, e95, island: Some(3) };
            let raw = RawNs(raw);
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
        let check = |unix, raw, bounds: (Option<i64>, Option<i64>), e95| {
            let (raw, unix) = (RawNs(raw), UnixNs(unix));
            let expect = RawStamp { raw, lo: bounds.0.map(RawNs), hi: bounds.1.map(RawNs), e95 };
            assert_eq!(Timing::Common(&proven).raw_stamp(unix), expect, "{unix}");
            let expect = RawStamp { lo: None, hi: None, ..expect };
            assert_eq!(Timing::Common(&doubtful).raw_stamp(unix), expect, "{unix}, not proven");
        };
        // Of the two raw times that are shown as one instant, the later one. The bounds of raw 481 are
        // 249.348 at most and those of 517 are 250.915 at least, which is 250 in whole ns both times, rounded
        // outward.
        check(50 + 250, 501, (Some(481), Some(517)), Some(3));
        // Before the span nothing is known of what the clock may have shown earlier.
        check(50, 1, (None, Some(12)), Some(3));
        check(i128::MAX, i64::MAX, (None, None), None);
        check(i128::MIN, i64::MIN, (None, None), None);
    }

    proptest! {
        #[test]
        fn there_and_back(raw in -2_000_i64..3_000, far in any::<i64>(), offset_ns in any::<i64>()) {
            let (own, far, raw) = (Timing::Own { offset_ns }, RawNs(far), RawNs(raw));
            prop_assert_eq!(own.raw(own.unix(far)), far);
            prop_assert!(own.covers(far));
            let clock = clock(true);
            let common = Timing::Common(&clock);
            let back = common.raw(common.unix(raw));
            prop_assert!(back >= raw);
            prop_assert_eq!(common.unix(back), common.unix(raw));
            prop_assert_eq!(common.covers(raw), common.stamp(raw).lo.is_some());
        }

        #[test]
        fn bounds_of_the_inverse_hold_all_that_may_be(raw in 0_i64..=1_000, share in 0_i128..=1_000) {
            let clock = clock(true);
            let common = Timing::Common(&clock);
            let raw = RawNs(raw);
            let stamp = common.stamp(raw);
            let (lo, hi) = (stamp.lo.unwrap(), stamp.hi.unwrap());
            // Whenever the truth lies within the bounds of a raw time, that raw time lies within the bounds
            // of the truth.
            let truth = UnixNs(lo.0 + (hi - lo) * share / 1_000);
            let back = common.raw_stamp(truth);
            prop_assert!(back.lo.is_none_or(|first| first <= raw), "{:?}", back);
            prop_assert!(back.hi.is_none_or(|last| raw <= last), "{:?}", back);
        }
    }
}
