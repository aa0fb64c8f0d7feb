//! One clock of an artefact: its raw times to the reference's and back, with bounds.

use isochrone_clock::{Correction, Interval};
use isochrone_time::{RawNs, UnixNs};

use crate::artefact::{Artefact, ArtefactError, ClockEntry};

/// One clock of an artefact.
#[derive(Debug)]
pub struct Clock {
    /// Its index in the artefact.
    pub number: usize,
    /// Its entry in the artefact.
    pub entry: ClockEntry,
    /// Raw time to the reference's raw time, ns.
    pub correction: Correction,
    /// Bounds of the reference's raw time by raw time, ns.
    pub interval: Interval,
    /// Whether the bounds are proven: a chain of links that do not contradict themselves leads to the
    /// reference, and nothing else casts doubt on the clock ([`ClockEntry::doubt`]).
    pub proven: bool,
    /// Unix time of the zero of the reference's clock, ns.
    pub reference_offset_ns: i64,
    /// The reference's host.
    pub reference: String,
}

/// An instant on another clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Converted {
    /// The estimate.
    pub time: RawNs,
    /// The earliest and the latest instant that the truth can be at, where known.
    pub bounds: (Option<RawNs>, Option<RawNs>),
    /// The realistic error of the estimate, ns, where known.
    pub e95: Option<i64>,
}

impl Converted {
    /// An instant that is known exactly.
    pub fn exact(time: RawNs) -> Self {
        Self { time, bounds: (Some(time), Some(time)), e95: Some(0) }
    }
}

impl Clock {
    /// The clock at an index of an artefact; `is_tied`: its item of [`Artefact::tied_to_reference`].
    pub(crate) fn new(artefact: &Artefact, number: usize, is_tied: bool) -> Result<Self, ArtefactError> {
        let entry = &artefact.clocks[number];
        let missing = || ArtefactError::Island(entry.island);
        let island = artefact.islands.iter().find(|i| i.id == entry.island).ok_or_else(missing)?;
        let reference = artefact.clocks.iter().find(|c| c.host == island.reference).ok_or_else(missing)?;
        if !island.hosts.contains(&entry.host) || reference.island != island.id {
            return Err(missing());
        }
        let clock = Self {
            number,
            correction: entry.correction()?,
            interval: entry.uncertainty()?,
            proven: entry.host == reference.host || entry.proven && is_tied,
            reference_offset_ns: reference.clock_offset_ns,
            reference: reference.host.clone(),
            entry: entry.clone(),
        };
        let rows = clock.interval.rows();
        let inside = rows.iter().all(|r| (r.lo..=r.hi).contains(&clock.correction.apply(r.raw)));
        let monotone = rows.is_sorted_by(|a, b| a.lo <= b.lo && a.hi <= b.hi);
        let fixed =
            entry.host != reference.host || rows.iter().all(|r| clock.correction.apply(r.raw) == r.raw);
        // A published method chooses without the bounds.
        let inside = inside || artefact.method.is_some();
        match (inside && monotone, fixed) {
            (true, true) => Ok(clock),
            (false, _) => {
                Err(entry.error(&"its correction leaves its own interval, or its interval goes back in time"))
            }
            (_, false) => Err(entry.error(&"it is the reference and yet corrected")),
        }
    }

    /// The reference's raw time at a raw time: the estimate alone. `O(log knots)`.
    #[inline]
    pub fn corrected(&self, raw: RawNs) -> RawNs {
        RawNs(self.correction.apply(raw.0))
    }

    /// Unix time of a raw time of the reference.
    #[inline]
    pub fn unix_of_reference(&self, reference: RawNs) -> UnixNs {
        UnixNs(i128::from(reference.0) + i128::from(self.reference_offset_ns))
    }

    /// Unix time on the common clock of a raw time: the estimate alone. `O(log knots)`.
    #[inline]
    pub fn unix(&self, raw: RawNs) -> UnixNs {
        self.unix_of_reference(self.corrected(raw))
    }

    /// The last raw time whose [`unix`](Self::unix) is not after an instant; the nearest that can be
    /// represented, where that is out of range. `O(log knots)`.
    pub fn raw(&self, unix: UnixNs) -> RawNs {
        let reference = unix.0.saturating_sub(i128::from(self.reference_offset_ns));
        RawNs(self.correction.invert(reference.clamp(i64::MIN.into(), i64::MAX.into()) as i64))
    }

    /// The reference's raw time at a raw time of this clock. Bounds are known within the traced span. `O(log
    /// rows)`.
    pub fn to_reference(&self, raw: RawNs) -> Converted {
        let time = self.corrected(raw);
        match self.interval.at(raw.0) {
            Some((lo, hi, e95)) => {
                Converted { time, bounds: (Some(RawNs(lo)), Some(RawNs(hi))), e95: Some(e95) }
            }
            None => Converted { time, bounds: (None, None), e95: None },
        }
    }

    /// As [`Self::to_reference`], of an event with the stamp `raw`: it can have taken place until the next
    /// tick.
    pub fn stamped(&self, raw: RawNs) -> Converted {
        let converted = self.to_reference(raw);
        match self.within_tick() {
            0 => converted,
            after => {
                let latest = self.to_reference(raw.saturating_add(after)).bounds.1;
                Converted { bounds: (converted.bounds.0, latest), ..converted }
            }
        }
    }

    /// Greatest time from the stamp of an event to the event, ns.
    pub(crate) fn within_tick(&self) -> i64 {
        let tick_ns =
            self.entry.resolution.map_or(1, |resolution| resolution.tick_ns.clamp(1, u64::from(u32::MAX)));
        (tick_ns - 1) as i64
    }

    /// This clock's raw time at an instant of the reference: the times whose own bounds meet those given.
    /// `O(log rows)`.
    pub fn from_reference(&self, instant: Converted) -> Converted {
        let time = RawNs(self.correction.invert(instant.time.0));
        let own = self.interval.at(time.0).map(|(_, _, e95)| e95);
        let (lo, hi) = instant.bounds;
        Converted {
            time,
            bounds: (
                lo.and_then(|lo| first_not_before(&self.interval, lo)),
                hi.and_then(|hi| last_not_after(&self.interval, hi)),
            ),
            e95: instant.e95.zip(own).map(|(a, b)| a.saturating_add(b)),
        }
    }

    /// The traced span: the first and the last raw time where bounds are known.
    pub fn span(&self) -> Option<(RawNs, RawNs)> {
        span(&self.interval)
    }

    /// Whether a raw time lies within the traced span, where bounds are known.
    pub fn covers(&self, raw: RawNs) -> bool {
        self.span().is_some_and(|(first, last)| (first..=last).contains(&raw))
    }
}

/// The first time within the rows at which a bounded time may be `at` or later, if the rows start before.
/// `O(log rows)`: between two rows [`Interval::at`] gives the upper bound `left.hi + ⌈rise · run / whole⌉`,
/// and the least `run` that reaches `at` follows from that.
pub(crate) fn first_not_before(interval: &Interval, at: RawNs) -> Option<RawNs> {
    let at = at.0;
    let rows = interval.rows();
    let right = rows.partition_point(|row| row.hi < at);
    let (left, right) = (rows.get(right.checked_sub(1)?)?, rows.get(right)?);
    let (whole, rise) = (between(left.raw, right.raw), between(left.hi, right.hi));
    let run = ((between(left.hi, at) - 1) * whole).div_euclid(rise) + 1;
    Some(RawNs(left.raw + run as i64))
}

/// The last time within the rows at which a bounded time may be `at` or earlier, if the rows end after that.
/// `O(log rows)`, as [`first_not_before`]: the lower bound is `left.lo + ⌊rise · run / whole⌋`.
pub(crate) fn last_not_after(interval: &Interval, at: RawNs) -> Option<RawNs> {
    let at = at.0;
    let rows = interval.rows();
    let right = rows.partition_point(|row| row.lo <= at);
    let (left, right) = (rows.get(right.checked_sub(1)?)?, rows.get(right)?);
    let (whole, rise) = (between(left.raw, right.raw), between(left.lo, right.lo));
    // The first one that passes it is the least multiple that is not below it.
    let passes = -(-(between(left.lo, at) + 1) * whole).div_euclid(rise);
    Some(RawNs(left.raw + passes as i64 - 1))
}

/// A difference, exact. Differences of times and of bounds are below 2⁶⁴, so that the product of two of them
/// fits.
fn between(from: i64, to: i64) -> i128 {
    i128::from(to) - i128::from(from)
}

/// From the first to the last row.
/// From the first to the last row.
fn span(interval: &Interval) -> Option<(RawNs, RawNs)> {
    let rows = interval.rows();
    Some((RawNs(rows.first()?.raw), RawNs(rows.last()?.raw)))
}

#[cfg(test)]
mod tests {
    use isochrone_clock::IntervalRow;
    use proptest::prelude::*;

    use super::*;

    /// The first time in `begin..=end` that a monotone predicate holds for; it holds for `end` and not for
    /// `begin`.
    fn partition(begin: i64, end: i64, holds: impl Fn(i64) -> bool) -> i64 {
        let (mut no, mut yes) = (begin, end);
        while yes - no > 1 {
            let middle = no + (yes - no) / 2;
            if holds(middle) { yes = middle } else { no = middle }
        }
        yes
    }

    proptest! {
        /// Both are where a search by [`Interval::at`] alone finds them.
        #[test]
        fn inverses_are_exact(
            steps in proptest::collection::vec((1_i64..50, 0_i64..60, 0_i64..60), 1..6),
            at in -40_i64..200,
            scale in prop_oneof![Just(1_i64), Just(1_000_003)],
        ) {
            let (mut raw, mut lo, mut hi) = (0, -5 * scale, 5 * scale);
            let mut rows = vec![IntervalRow { raw, lo, hi, e95: 0 }];
            for (run, low, high) in steps {
                raw += run * scale;
                lo += low * scale;
                hi = (hi + high * scale).max(lo);
                rows.push(IntervalRow { raw, lo, hi, e95: 0 });
            }
            let (interval, at) = (Interval::new(rows).unwrap(), at * scale + at);
            let (RawNs(begin), RawNs(end)) = span(&interval).unwrap();
            let reaches = |raw| interval.at(raw).is_some_and(|(_, hi, _)| hi >= at);
            let first = (!reaches(begin) && reaches(end)).then(|| partition(begin, end, reaches));
            prop_assert_eq!(first_not_before(&interval, RawNs(at)), first.map(RawNs));
            let passes = |raw| interval.at(raw).is_some_and(|(lo, _, _)| lo > at);
            let last = (!passes(begin) && passes(end)).then(|| partition(begin, end, passes) - 1);
            prop_assert_eq!(last_not_after(&interval, RawNs(at)), last.map(RawNs));
        }
    }
}
