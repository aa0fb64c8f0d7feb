//! Clock classes, and the exact conversion of their cycles to nanoseconds.

use uuid::Uuid;

/// Nanoseconds in a second.
pub const NS_PER_S: i128 = 1_000_000_000;

/// What a stream's timestamps count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClockClass {
    /// Name, by which metadata refer to the clock.
    pub name: String,
    /// Identity: two traces with clocks of the same uuid share one time line. LTTng puts the boot id here.
    pub uuid: Option<Uuid>,
    /// The space of names that `uid` is unique in (CTF 2).
    pub namespace: Option<String>,
    /// Identity as text (CTF 2); where it is the text of a uuid, `uuid` holds that.
    pub uid: Option<String>,
    /// Text for people.
    pub description: Option<String>,
    /// Cycles per second, never 0.
    pub frequency: u64,
    /// Uncertainty of a stamp in cycles, as declared.
    pub precision: u64,
    /// How far the clock may be off its origin in cycles, as declared (CTF 2).
    pub accuracy: Option<u64>,
    /// Whole seconds of the clock's zero since its origin (the Unix epoch for LTTng).
    pub offset_s: i64,
    /// Cycles to add to `offset_s`; signed, may exceed a second.
    pub offset_cycles: i64,
    /// Whether the origin is one that all such clocks share, even of other traces: the Unix epoch.
    pub absolute: bool,
    /// An origin that is named instead (CTF 2).
    pub origin: Option<ClockOrigin>,
}

/// An instant with a name: clocks that have it in common can be compared, also in different traces (CTF 2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClockOrigin {
    /// The space of names that the others are unique in.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Its unique name.
    pub uid: String,
}

impl ClockClass {
    /// What distinguishes the clock from all others: its uuid, else its uid and the names that belong to it
    /// (CTF 2). Clocks of the same identity share one time line, also in different traces.
    pub fn identity(&self) -> Option<String> {
        let full = |uid: &String| match &self.namespace {
            Some(namespace) => format!("{namespace}/{}/{uid}", self.name),
            None => format!("{}/{uid}", self.name),
        };
        self.uuid.map(|uuid| uuid.to_string()).or_else(|| self.uid.as_ref().map(full))
    }

    /// The clock's own value in ns, without any offset: exact, rounded down; `O(1)`.
    ///
    /// ```
    /// # use isochrone_ctf::schema::ClockClass;
    /// let clock = ClockClass { frequency: 3_000_000_000, ..ClockClass::monotonic("tsc") };
    /// assert_eq!(clock.raw_ns(7), 2);
    /// ```
    pub fn raw_ns(&self, cycles: u64) -> i128 {
        if self.frequency == 1_000_000_000 {
            return i128::from(cycles);
        }
        i128::from(cycles) * NS_PER_S / i128::from(self.frequency)
    }

    /// The latest time that a stamp can mean, in raw ns: for clocks of a nanosecond or finer the stamp
    /// itself, for coarser ones the next tick, rounded up.
    pub fn latest_raw_ns(&self, cycles: u64) -> i128 {
        if self.frequency >= 1_000_000_000 {
            return self.raw_ns(cycles);
        }
        let frequency = i128::from(self.frequency);
        ((i128::from(cycles) + 1) * NS_PER_S + frequency - 1) / frequency
    }

    /// Cycles that read as this raw time: the inverse of [`Self::raw_ns`], rounded up, so that
    /// `raw_ns(cycles(t)) == t` whenever the frequency resolves a nanosecond. `None` where it does not fit.
    pub fn cycles(&self, raw_ns: i128) -> Option<u64> {
        let product = raw_ns.checked_mul(i128::from(self.frequency))?;
        u64::try_from(product.checked_add(NS_PER_S - 1)?.div_euclid(NS_PER_S)).ok()
    }

    /// Time of the clock's zero since its origin in ns: exact, rounded down.
    pub fn offset_ns(&self) -> i128 {
        i128::from(self.offset_s) * NS_PER_S
            + (i128::from(self.offset_cycles) * NS_PER_S).div_euclid(i128::from(self.frequency))
    }

    /// Time since the origin in ns: exact, rounded down, of any size (real metadata holds offsets that do not
    /// fit 64-bit nanoseconds).
    pub fn ns_from_origin(&self, cycles: u64) -> i128 {
        let cycles = i128::from(self.offset_cycles) + i128::from(cycles);
        // The usual frequency needs no division, which is slow in 128 bits.
        let ns = match self.frequency {
            1_000_000_000 => cycles,
            frequency => (cycles * NS_PER_S).div_euclid(i128::from(frequency)),
        };
        i128::from(self.offset_s) * NS_PER_S + ns
    }

    /// A 1 GHz clock without offset.
    pub fn monotonic(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            uuid: None,
            namespace: None,
            uid: None,
            description: None,
            frequency: 1_000_000_000,
            precision: 0,
            accuracy: None,
            offset_s: 0,
            offset_cycles: 0,
            absolute: false,
            origin: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_identity_enough() {
        let check = |uuid, namespace: Option<&str>, uid: Option<&str>, expect: Option<&str>| {
            let [namespace, uid] = [namespace, uid].map(|text| text.map(str::to_owned));
            let clock = ClockClass { uuid, namespace, uid, ..ClockClass::monotonic("c") };
            assert_eq!(clock.identity().as_deref(), expect);
        };
        let uuid = Some(Uuid::nil());
        check(uuid, Some("n"), Some("u"), Some("00000000-0000-0000-0000-000000000000"));
        check(None, Some("n"), Some("u"), Some("n/c/u"));
        check(None, None, Some("u"), Some("c/u"));
        check(None, Some("n"), None, None);
    }

    #[test]
    fn conversion_is_exact_where_doubles_are_not() {
        let clock = ClockClass { frequency: 2_400_000_000, ..ClockClass::monotonic("tsc") };
        for cycles in [0, 1, 11, 12, u64::MAX / 3, u64::MAX] {
            let ns = clock.raw_ns(cycles);
            let back = clock.cycles(ns).unwrap();
            assert_eq!(clock.raw_ns(back), ns);
            assert!(back <= cycles);
        }
    }

    #[test]
    fn offsets_may_be_negative_or_huge() {
        let clock = ClockClass { offset_s: -1, offset_cycles: 5, ..ClockClass::monotonic("c") };
        assert_eq!(clock.ns_from_origin(1), -999_999_994);
        let clock = ClockClass { offset_s: 1_351_530_929_945_824_323, ..ClockClass::monotonic("c") };
        assert_eq!(clock.ns_from_origin(1), 1_351_530_929_945_824_323_000_000_001);
    }
}
