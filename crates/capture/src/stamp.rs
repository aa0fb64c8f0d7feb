//! Times of frames: exact nanoseconds, and what a coarse stamp can mean.

const NS_PER_S: i128 = 1_000_000_000;

/// When a frame was seen, ns since the epoch of the capture's stamps (the Unix epoch).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// The stamp itself, rounded down to a nanosecond: the earliest instant that it can mean.
    pub earliest_ns: i64,
    /// The latest instant that it can mean: the stamp itself where it resolves a nanosecond, else the next
    /// tick, rounded up.
    pub latest_ns: i64,
}

/// How the stamps of an interface count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticks {
    /// Ticks in a second.
    per_s: u128,
    /// Seconds to add.
    offset_s: i64,
}

impl Ticks {
    pub(crate) const MICROSECONDS: Self = Self { per_s: 1_000_000, offset_s: 0 };
    pub(crate) const NANOSECONDS: Self = Self { per_s: 1_000_000_000, offset_s: 0 };

    /// As the option `if_tsresol` of pcapng states it: 10^-n, or 2^-n with the highest bit set. `None`: finer
    /// than any clock.
    pub(crate) fn from_option(resolution: u8) -> Option<Self> {
        let exponent = u32::from(resolution & 0x7f);
        let base: u128 = if resolution & 0x80 == 0 { 10 } else { 2 };
        // Beyond 64 bits a stamp could not count one second.
        let per_s = base.checked_pow(exponent).filter(|&per_s| per_s <= u128::from(u64::MAX) + 1)?;
        Some(Self { per_s, offset_s: 0 })
    }

    pub(crate) fn with_offset(self, offset_s: i64) -> Self {
        Self { offset_s, ..self }
    }

    /// How far apart two stamps are at least, ns; a nanosecond where they are nearer.
    pub(crate) fn granularity_ns(self) -> u64 {
        u64::try_from((NS_PER_S as u128).div_ceil(self.per_s)).unwrap_or(u64::MAX)
    }

    /// What a count of ticks means; `None` where it does not fit 64 bits of ns.
    pub(crate) fn stamp(self, ticks: u64) -> Option<Stamp> {
        let per_s = i128::try_from(self.per_s).ok()?;
        // 2⁶⁴ · 10⁹ < 2⁹⁴.
        let scaled = i128::from(ticks) * NS_PER_S;
        let offset = i128::from(self.offset_s) * NS_PER_S;
        let earliest = scaled / per_s + offset;
        let latest =
            if per_s >= NS_PER_S { earliest } else { (scaled + NS_PER_S + per_s - 1) / per_s + offset };
        Some(Stamp { earliest_ns: i64::try_from(earliest).ok()?, latest_ns: i64::try_from(latest).ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_exact() {
        let check = |resolution: u8, offset_s: i64, ticks: u64, expect: Option<(i64, i64)>| {
            let ticks_of = Ticks::from_option(resolution).map(|ticks| ticks.with_offset(offset_s));
            let stamp = ticks_of.and_then(|of| of.stamp(ticks));
            assert_eq!(
                stamp.map(|s| (s.earliest_ns, s.latest_ns)),
                expect,
                "{resolution:#x} {offset_s} {ticks}"
            );
        };
        check(6, 0, 1_795_154_041_823_216, Some((1_795_154_041_823_216_000, 1_795_154_041_823_217_000)));
        check(9, 0, 1_795_154_041_823_216_897, Some((1_795_154_041_823_216_897, 1_795_154_041_823_216_897)));
        check(9, 10, 5, Some((10_000_000_005, 10_000_000_005)));
        check(9, -10, 5, Some((-9_999_999_995, -9_999_999_995)));
        check(0, 0, 7, Some((7_000_000_000, 8_000_000_000)));
        check(12, 0, 1_999, Some((1, 1)));
        check(0x80, 0, 3, Some((3_000_000_000, 4_000_000_000)));
        // 1/1024 s = 976 562.5 ns.
        check(0x8a, 0, 1, Some((976_562, 1_953_125)));
        check(0xa0, 0, 1 << 31, Some((500_000_000, 500_000_000)));
        check(0xc0, 0, 1 << 63, Some((500_000_000, 500_000_000)));
        check(19, 0, u64::MAX, Some((1_844_674_407, 1_844_674_407)));
        // Beyond 64 bits of ns.
        check(6, 0, u64::MAX, None);
        check(0, i64::MAX, u64::MAX, None);
        check(9, i64::MIN, 0, None);
        // Beyond any clock.
        check(20, 0, 0, None);
        check(0xc1, 0, 0, None);
        check(0xff, 0, 0, None);
    }
}
