//! What the stamps of a clock resolve: the coarsest tick that all of them are whole multiples of apart, where
//! that is coarser than what their file declares.
//!
//! Stamps s of a clock with ticks of g ns mean instants from s to s + g − 1 of that clock, however they were
//! rounded: a clock is known by its stamps alone, and one whose stamps are rounded to the nearest tick is a
//! clock that is half a tick ahead and whose stamps are cut off (docs/SYNC.md, section 1). The greatest
//! common divisor of the differences of *some* stamps is a multiple of the tick, so that it is never too
//! small to be safe; of n stamps of a nanosecond it is g or more with a chance of about g^-(n - 2).

use serde::{Deserialize, Serialize};

use isochrone_corrections::artefact::{ResolutionEntry, ResolutionSource};

const NS_PER_S: u64 = 1_000_000_000;
/// Clocks do not tick more slowly, ns: 50 Hz. What stamps have in common beyond that is the schedule of what
/// was stamped, and the tick any part of it.
pub const MAX_TICK_NS: u64 = 20_000_000;
/// The longest tick that a user may declare, ns.
pub const MAX_DECLARED_TICK_NS: u64 = NS_PER_S;
/// Shortest tick that is reported, ns: a few stamps can share a small divisor by chance.
pub const REPORTED_TICK_NS: u64 = 100;

/// The grid that all stamps so far are on. Constant time and memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StampGrid {
    first: Option<i64>,
    /// One that differs from the first.
    second: Option<i64>,
    /// Whether there is one that differs from both.
    several: bool,
    /// Greatest common divisor of the differences; 0 while all stamps are equal.
    step: u64,
    /// That of the stamps themselves.
    whole: u64,
}

impl StampGrid {
    /// Whether no further stamp can change anything.
    #[inline]
    pub fn is_finest(&self) -> bool {
        self.step == 1
    }

    /// Takes a stamp, in any unit.
    #[inline]
    pub fn see(&mut self, stamp: i64) {
        if !self.is_finest() {
            self.add(stamp);
        }
    }

    fn add(&mut self, stamp: i64) {
        let first = *self.first.get_or_insert(stamp);
        let apart = first.abs_diff(stamp);
        if apart != 0 {
            let second = *self.second.get_or_insert(stamp);
            self.several |= second != stamp;
            self.step = divisor(self.step, apart);
        }
        self.whole = divisor(self.whole, stamp.unsigned_abs());
    }

    /// The grid of all stamps of both.
    pub fn merge(&mut self, other: &Self) {
        other.first.into_iter().chain(other.second).for_each(|stamp| self.add(stamp));
        self.several |= other.several;
        self.step = divisor(self.step, other.step);
        self.whole = divisor(self.whole, other.whole);
    }

    /// The tick, in the unit of the stamps; 1 where they show none. Of fewer than three different stamps only
    /// the digits show one: zeros at the end of all of them.
    pub fn tick(&self) -> u64 {
        if self.several {
            return self.step;
        }
        let mut tick = 1;
        while self.whole != 0 && self.whole.is_multiple_of(tick * 10) && tick * 10 <= MAX_TICK_NS {
            tick *= 10;
        }
        tick
    }
}

/// Greatest common divisor; 0 divides nothing.
fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The stamps of a clock, and what is declared of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamps {
    grid: StampGrid,
    /// Units of the grid in a second.
    per_s: u64,
    /// The tick that the file declares, the coarsest of several, ns.
    declared_ns: u64,
    /// By how much arrivals have been taken for later than stamped for that, at least, ns.
    allowed_ns: u64,
}

impl Default for Stamps {
    fn default() -> Self {
        Self::of_list(StampGrid::default())
    }
}

impl Stamps {
    /// Those of a list of messages: its times are ns.
    pub fn of_list(grid: StampGrid) -> Self {
        Self { grid, per_s: NS_PER_S, declared_ns: 1, allowed_ns: 0 }
    }

    /// Those of a capture: `allowed` are the least and the greatest difference of the latest and the earliest
    /// ns that one can mean.
    pub fn of_capture(grid: StampGrid, allowed: (u64, u64)) -> Self {
        Self { grid, per_s: NS_PER_S, declared_ns: allowed.1.max(1), allowed_ns: allowed.0 }
    }

    /// Those of a stream, in cycles of its clock, `per_s` of which are a second.
    pub(crate) fn of_stream(grid: StampGrid, per_s: u64) -> Self {
        let allowed_ns = if per_s < NS_PER_S { NS_PER_S / per_s } else { 0 };
        Self { grid, per_s, declared_ns: NS_PER_S.div_ceil(per_s), allowed_ns }
    }

    /// All stamps of both. Of clocks that count in different units nothing but what they declare is known.
    pub fn merge(&mut self, other: &Self) {
        match self.per_s == other.per_s {
            true => self.grid.merge(&other.grid),
            false => self.grid = StampGrid { several: true, step: 1, ..self.grid },
        }
        self.declared_ns = self.declared_ns.max(other.declared_ns);
        self.allowed_ns = self.allowed_ns.min(other.allowed_ns);
    }

    /// What the stamps resolve: as a user says, else as they show, and never finer than their file can state.
    pub fn resolution(&self, said_ns: Option<u64>) -> Resolution {
        let found = u128::from(self.grid.tick()) * u128::from(NS_PER_S);
        let found = found.div_ceil(self.per_s.into()).min(MAX_TICK_NS.into()) as u64;
        let tick_ns = said_ns.unwrap_or(found);
        if tick_ns <= self.declared_ns {
            return Resolution { tick_ns: self.declared_ns, source: ResolutionSource::Declared, late_ns: 0 };
        }
        let source = if said_ns.is_some() { ResolutionSource::User } else { ResolutionSource::Stamps };
        // A stamp in cycles was rounded down to ns before.
        let latest = if self.per_s == NS_PER_S { tick_ns - 1 } else { tick_ns };
        let late_ns = u32::try_from(latest.saturating_sub(self.allowed_ns)).unwrap_or(u32::MAX);
        Resolution { tick_ns, source, late_ns }
    }
}

/// What the stamps of a clock resolve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resolution {
    /// How far apart two different stamps are at least, ns.
    pub tick_ns: u64,
    /// The evidence.
    pub source: ResolutionSource,
    /// How much later an arrival can be than the time that counts for it so far, ns.
    pub late_ns: u32,
}

impl Resolution {
    /// Its entry in `sync.json`.
    pub fn entry(&self) -> ResolutionEntry {
        ResolutionEntry { tick_ns: self.tick_ns, source: self.source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grid(stamps: &[i64]) -> StampGrid {
        let mut grid = StampGrid::default();
        for &stamp in stamps {
            grid.see(stamp);
        }
        grid
    }

    #[test]
    fn ticks_are_found() {
        let check = |stamps: &[i64], expect: u64| assert_eq!(grid(stamps).tick(), expect, "{stamps:?}");
        check(&[], 1);
        check(&[0], 1);
        check(&[5], 1);
        check(&[1_795_000_000_123_456_789], 1);
        check(&[1_795_000_000_123_000_000], 1_000_000);
        check(&[1_795_000_000_000_000_000], 10_000_000);
        // Two stamps are some time apart, which says nothing; their digits do.
        check(&[1_000_007, 4_000_007], 1);
        check(&[1_795_000_000_123_000_000, 1_795_000_000_130_000_000], 1_000_000);
        check(&[1_795_000_000_123_000_000, 1_795_000_000_130_000_000, 1_795_000_000_130_000_000], 1_000_000);
        // Windows: 64 ticks a second, from anywhere.
        let windows: Vec<i64> = [0, 1, 4, 9, 11].map(|k| 1_795_000_000_001_234_500 + k * 15_625_000).into();
        check(&windows, 15_625_000);
        check(&[-7, 5, 17], 12);
        check(&[3, 10, 18], 1);
        check(&[i64::MIN, 0, i64::MAX], 1);
    }

    #[test]
    fn ticks_are_shown_exactly() {
        let check = |tick_ns, expect: &str| {
            assert_eq!(ResolutionEntry { tick_ns, source: ResolutionSource::User }.to_string(), expect);
        };
        check(1, "1 ns");
        check(1_000, "1 µs");
        check(10_500, "10.5 µs");
        check(15_625_000, "15.625 ms");
        check(1_000_001, "1.000001 ms");
        check(10_000_000, "10 ms");
        check(1_000_000_000, "1 s");
    }

    #[test]
    fn what_is_coarser_counts() {
        use ResolutionSource::{Declared, Stamps as Found, User};
        let windows = grid(&[3, 15_625_003, 46_875_003]);
        let check = |stamps: Stamps, said: Option<u64>, expect: (u64, ResolutionSource, u32)| {
            let found = stamps.resolution(said);
            assert_eq!((found.tick_ns, found.source, found.late_ns), expect, "{stamps:?}");
        };
        check(Stamps::of_list(StampGrid::default()), None, (1, Declared, 0));
        check(Stamps::of_list(windows), None, (15_625_000, Found, 15_624_999));
        check(Stamps::of_list(windows), Some(1), (1, Declared, 0));
        check(Stamps::of_list(windows), Some(20_000_000), (20_000_000, User, 19_999_999));
        check(Stamps::of_capture(windows, (1000, 1000)), None, (15_625_000, Found, 15_623_999));
        check(Stamps::of_capture(windows, (1000, 1000)), Some(10), (1000, Declared, 0));
        // Interfaces of several resolutions: what is declared of one of them may not hold for another.
        check(Stamps::of_capture(grid(&[0, 7, 9]), (0, 1000)), None, (1000, Declared, 0));
        check(Stamps::of_capture(grid(&[0, 2000, 6000]), (0, 1000)), None, (2000, Found, 1999));
        // No clock ticks once in five seconds.
        check(
            Stamps::of_list(grid(&[0, 5 * 1_000_000_000, 15 * 1_000_000_000])),
            None,
            (MAX_TICK_NS, Found, 19_999_999),
        );
        let ticks = grid(&[100, 400, 1000]);
        check(Stamps::of_stream(ticks, NS_PER_S), None, (300, Found, 299));
        // Three ticks a microsecond: 300 cycles are 100 µs, rounded down before.
        check(Stamps::of_stream(ticks, 3_000_000), None, (100_000, Found, 100_000 - 333));
        check(Stamps::of_stream(grid(&[1, 2, 4]), 3_000_000), None, (334, Declared, 0));
        check(Stamps::of_stream(ticks, 3 * NS_PER_S), None, (100, Found, 100));
        let mut both = Stamps::of_stream(ticks, NS_PER_S);
        both.merge(&Stamps::of_stream(ticks, 1000));
        check(both, None, (1_000_000, Declared, 0));
    }

    proptest! {
        #[test]
        fn a_divisor_of_some_is_never_too_small(
            tick in 1u64..20_000_000,
            begin in -1i64 << 60..1i64 << 60,
            ticks in prop::collection::vec(0i64..1 << 30, 3..40),
            cut in 0usize..40,
        ) {
            let stamps: Vec<i64> = ticks.iter().map(|&k| begin + k * tick as i64).collect();
            let whole = grid(&stamps);
            let (left, right) = stamps.split_at(cut.min(stamps.len()));
            let mut merged = grid(left);
            merged.merge(&grid(right));
            prop_assert_eq!(merged.tick(), whole.tick());
            if whole.several {
                prop_assert_eq!(whole.tick() % tick, 0);
                prop_assert!(stamps.iter().all(|s| s.abs_diff(stamps[0]) % whole.tick() == 0));
            }
        }
    }
}
