//! Clocks that daemons steer: what each shows, what a tracer sees of it, and what may be assumed by that.
//!
//! [`crate::daemon`] says how the rate changes. What may be assumed is plain data here, because this crate does not know who
//! uses it; and it says whether the assumption is true, because it knows the clock.

use crate::clock::SimClock;
use crate::daemon::Daemon;
use crate::random::Random;
use crate::random_cluster::straight;

/// Rates without a daemon are up to this far off, ppb.
const BASE_PPB: u32 = 40_000;
/// What a daemon may do to a rate that the kernel does: the limit of its frequency.
const LIMIT_PPM: u32 = 500;
/// A call begins and ends so long before and after its change, ns.
const CALL_NS: (u64, u64) = (10_000, 50_000);

/// What is known of the daemon of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Evidence {
    /// Whether there is one, and all of its calls.
    Calls,
    /// Whether there is one.
    Daemon,
    /// Nothing.
    Nothing,
}

impl Evidence {
    /// A short name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Daemon => "daemon",
            Self::Nothing => "nothing",
        }
    }
}

/// What is assumed of the rate of a clock for a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// It stays near a constant.
    Free,
    /// It stays near a constant between the changes, and within 500 ppm of the usual rate.
    Stepwise,
    /// It stays so near to the usual rate.
    Steered {
        /// Parts per million.
        ppm: u32,
    },
    /// Nothing is known: as if it was steered by up to 500 ppm.
    Unknown,
}

/// What is assumed of a clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// From which raw time on there is which rule: by time; the first one holds before, too.
    pub regimes: Vec<(i64, Rule)>,
    /// Begin and end of each span of raw time in which the rate may change, where the rule is [`Rule::Stepwise`]: by time.
    pub changes: Vec<(i64, i64)>,
}

impl Rules {
    /// Begin, end and rule of each regime; the first begins and the last ends with all time.
    pub fn spans(&self) -> impl Iterator<Item = (i64, i64, Rule)> {
        self.regimes.iter().enumerate().map(|(number, &(from, rule))| {
            let begin = if number == 0 { i64::MIN } else { from };
            (begin, self.regimes.get(number + 1).map_or(i64::MAX, |next| next.0), rule)
        })
    }
}

/// A clock, and who steers it.
///
/// ```
/// use isochrone_testkit::{Daemon, Evidence, Random, Rule, SteeredClock};
/// let ptp = SteeredClock::random(Daemon::Ptp, 60, &mut Random::new(1));
/// let rules = ptp.rules(Evidence::Calls);
/// assert_eq!((rules.regimes[0].1, rules.changes.len()), (Rule::Stepwise, 65)); // a call each second
/// assert!(ptp.is_kept(Evidence::Calls, 0)); // between them the rate is constant
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SteeredClock {
    /// Who steers it.
    pub daemon: Daemon,
    /// The clock.
    pub clock: SimClock,
    seconds: u64,
    /// By true time, ns: from when on the rate is so many ppb above the base.
    rates: Vec<(i64, i64)>,
    /// Begin and end of each call, raw ns.
    calls: Vec<(i64, i64)>,
}

impl SteeredClock {
    /// A clock with such a daemon, for a trace of so many seconds from true time zero on.
    pub fn random(daemon: Daemon, seconds: u64, random: &mut Random) -> Self {
        let base = random.around(BASE_PPB);
        let course = daemon.course(seconds as i64 * 1_000_000_000, random);
        let clock = straight(random, base).rates(&course.rates);
        let clock = course.stops.iter().fold(clock, |clock, &(at, length)| clock.stop(at, length));
        let mut calls = Vec::new();
        if daemon.steers_by_calls() {
            for &(at, _) in &course.rates[1..] {
                let [before, after] = [0, 1].map(|_| random.within(CALL_NS) as i64);
                calls.push((clock.raw(at - before), clock.raw(at + after)));
            }
        }
        Self { daemon, clock, seconds, rates: course.rates, calls }
    }

    /// By true time, ns: from when on the rate is so many ppb above the base.
    pub fn rates(&self) -> &[(i64, i64)] {
        &self.rates
    }

    /// Begin and end of each call of the daemon that changes the rate, raw ns, by time.
    pub fn calls(&self) -> &[(i64, i64)] {
        &self.calls
    }

    /// What may be assumed by this evidence.
    pub fn rules(&self, evidence: Evidence) -> Rules {
        let always = |rule| Rules { regimes: vec![(self.clock.raw(0), rule)], changes: Vec::new() };
        let (rule, changes) = match evidence {
            Evidence::Nothing => return always(Rule::Unknown),
            _ if !self.daemon.is_steering() => return always(Rule::Free),
            Evidence::Calls if self.daemon.steers_by_calls() => (Rule::Stepwise, self.calls.clone()),
            Evidence::Calls | Evidence::Daemon => (Rule::Steered { ppm: LIMIT_PPM }, Vec::new()),
        };
        let mut regimes = vec![(self.clock.raw(0), rule)];
        if self.daemon == Daemon::ChronyStarting {
            // Its first call follows at once when it starts; before that, no daemon steers.
            regimes = vec![(self.clock.raw(0), Rule::Free)];
            regimes.extend(self.calls.first().map(|call| (call.0, rule)));
        }
        Rules { regimes, changes }
    }

    /// Whether what is assumed by this evidence is true during the trace, where a rate counts as constant that stays within
    /// `wander_ppb` of a constant. The usual rate is the one that the clock has half of the time above it, half below.
    pub fn is_kept(&self, evidence: Evidence, wander_ppb: u32) -> bool {
        let rules = self.rules(evidence);
        let within = |begin: i64, end: i64, rule: Rule| {
            let stretches = self.stretches(begin, end);
            let mut changes = stretches.iter().skip(1).map(|stretch| stretch.0);
            let limit = i64::from(LIMIT_PPM) * 1_000;
            match rule {
                Rule::Free => {
                    let rates = || stretches.iter().map(|stretch| stretch.2);
                    rates().max() <= rates().min().map(|least| least + 2 * i64::from(wander_ppb))
                }
                Rule::Stepwise => {
                    let is_told = |at: i64| rules.changes.iter().any(|call| (call.0..=call.1).contains(&at));
                    changes.all(is_told) && is_usual(&stretches, limit)
                }
                Rule::Steered { ppm } => is_usual(&stretches, i64::from(ppm) * 1_000),
                Rule::Unknown => is_usual(&stretches, limit),
            }
        };
        // No rule allows for a clock that stands.
        self.daemon != Daemon::Paused && rules.spans().all(|(begin, end, rule)| within(begin, end, rule))
    }

    /// Begin and end in raw time and rate of each stretch of one rate, where it is in the trace and in this span of raw time.
    fn stretches(&self, begin: i64, end: i64) -> Vec<(i64, i64, i64)> {
        let last = self.seconds as i64 * 1_000_000_000;
        let ends = self.rates.iter().skip(1).map(|rate| rate.0).chain([i64::MAX]);
        let raw = |at: i64| self.clock.raw(at.min(last)).clamp(begin, end);
        let stretch = |(&(from, rate), to): (&(i64, i64), i64)| (raw(from), raw(to), rate);
        let mut all: Vec<_> = self.rates.iter().zip(ends).map(stretch).collect();
        all.retain(|stretch| stretch.0 < stretch.1);
        all
    }
}

/// Whether no rate of a stretch is further than this from the usual one, ppb.
fn is_usual(stretches: &[(i64, i64, i64)], limit: i64) -> bool {
    let mut by_rate: Vec<(i64, i64)> = stretches.iter().map(|s| (s.2, s.1 - s.0)).collect();
    by_rate.sort_unstable();
    let whole: i64 = by_rate.iter().map(|part| part.1).sum();
    let mut before = 0;
    let usual = by_rate.iter().find(|part| {
        before += part.1;
        2 * before >= whole
    });
    usual.is_none_or(|usual| by_rate.iter().all(|part| (part.0 - usual.0).abs() <= limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some clocks of each daemon, over traces of 10 s to 20 minutes.
    fn clocks(daemon: Daemon) -> impl Iterator<Item = SteeredClock> {
        let lengths = [10, 45, 300, 1_200];
        (0..40)
            .map(move |seed| SteeredClock::random(daemon, lengths[seed % 4], &mut Random::new(seed as u64)))
    }

    #[test]
    fn clocks_never_go_back() {
        for clock in Daemon::ALL.into_iter().flat_map(clocks) {
            let end = clock.seconds as i64 * 1_000_000_000;
            let spread = (0..=1_000).map(|part| end / 1_000 * part);
            let around = clock.rates.iter().flat_map(|&(at, _)| (-3..=3).map(move |by| at + by));
            let mut instants: Vec<i64> = spread.chain(around).collect();
            instants.sort_unstable();
            let shown: Vec<i64> = instants.iter().map(|&at| clock.clock.raw(at)).collect();
            assert!(shown.is_sorted(), "{:?}", clock.daemon);
        }
    }

    #[test]
    fn calls_cover_all_changes() {
        for clock in Daemon::ALL.into_iter().flat_map(clocks).filter(|clock| clock.daemon.steers_by_calls()) {
            assert_eq!(clock.calls.len() + 1, clock.rates.len());
            for (&(at, _), &(begin, end)) in clock.rates[1..].iter().zip(&clock.calls) {
                let change = clock.clock.raw(at);
                assert!(begin < change && change < end, "{:?}", clock.daemon);
                // Raw time runs by up to 8 % faster or slower than true time.
                assert!((18_000..110_000).contains(&(end - begin)), "{}", end - begin);
            }
        }
    }

    #[test]
    fn assumptions_are_kept_by_whom_they_fit() {
        use Evidence::{Calls, Daemon as Seen, Nothing};
        let every = |daemon: Daemon, evidence: Evidence, kept: bool| {
            for clock in clocks(daemon) {
                assert_eq!(
                    clock.is_kept(evidence, 100),
                    kept,
                    "{daemon:?} by {evidence:?}: {:?}",
                    clock.rates
                );
            }
        };
        for evidence in [Calls, Seen, Nothing] {
            for kept in [Daemon::None, Daemon::ChronySettled, Daemon::Adjtime, Daemon::Ptp] {
                every(kept, evidence, true);
            }
            // One slew is faster than all that is assumed.
            every(Daemon::ChronyStarting, evidence, false);
            every(Daemon::Paused, evidence, false);
        }
        every(Daemon::Temperature, Nothing, true);
        let free: Vec<bool> = clocks(Daemon::Temperature).map(|clock| clock.is_kept(Calls, 100)).collect();
        assert!(free.contains(&true) && free.contains(&false));
    }

    #[test]
    fn chrony_is_free_until_it_starts() {
        for clock in clocks(Daemon::ChronyStarting) {
            let Rules { regimes, changes } = clock.rules(Evidence::Calls);
            let [(_, Rule::Free), (start, Rule::Stepwise)] = regimes[..] else { panic!("{regimes:?}") };
            assert_eq!((start, changes.len()), (clock.calls[0].0, clock.calls.len()));
            let first = clock.clock.raw(clock.rates[1].0);
            assert!(start < first && clock.stretches(i64::MIN, start).len() == 1);
        }
    }

    #[test]
    fn a_change_without_a_call_is_noticed() {
        let mut clock = SteeredClock::random(Daemon::Ptp, 60, &mut Random::new(5));
        assert!(clock.is_kept(Evidence::Calls, 0));
        clock.calls.remove(7);
        assert!(!clock.is_kept(Evidence::Calls, 0));
    }
}
