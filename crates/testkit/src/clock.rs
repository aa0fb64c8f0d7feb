//! Clocks that are wrong in a known way: true time in, the time that a host stamps out.
//!
//! [`crate::cluster`] gives every host one. All times are nanoseconds; the sum of rates is rounded down once, so that a
//! clock without a sine is exact in integers.

use crate::random::sine_of_turns;

const NS_PER_S: i128 = 1_000_000_000;

/// Unix time of true time zero: some November.
pub const UNIX_EPOCH_NS: i64 = 1_700_000_000 * 1_000_000_000;

/// A clock of a simulated host.
///
/// ```
/// use isochrone_testkit::SimClock;
/// let clock = SimClock::new(5_000_000_000, 20_000); // shows 5 s at the begin, runs 20 ppm fast
/// assert_eq!(clock.raw(0), 5_000_000_000);
/// assert_eq!(clock.raw(1_000_000_000), 6_000_020_000);
/// let stepped = clock.step(500, 10);
/// assert_eq!(stepped.raw(500) - stepped.raw(499), 11);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimClock {
    offset_ns: i64,
    rate_ppb: i64,
    changes: Vec<Change>,
    /// By time.
    course: Vec<Stretch>,
    stops: Vec<Stop>,
    sine: Option<Sine>,
    unix_error_ns: i64,
}

/// A time for which the whole host stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stop {
    /// True time, ns.
    begin: i64,
    /// ns.
    length: i64,
}

/// What happens to a clock at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Step { at_ns: i64, by_ns: i64 },
    Slew { from_ns: i64, rate_ppb: i64 },
}

/// From an instant to the next one, a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    /// ns.
    from: i64,
    rate_ppb: i64,
    /// What all stretches before have gained, ns · ppb: an instant is found without adding them up again.
    gained: i128,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sine {
    /// All in ns.
    amplitude: u32,
    period: u64,
    /// How much of the period has passed at time zero.
    phase: u64,
}

impl SimClock {
    /// A clock that shows `offset_ns` at true time zero and runs `rate_ppb` parts per billion too fast.
    pub fn new(offset_ns: i64, rate_ppb: i64) -> Self {
        let (changes, course, stops) = (Vec::new(), Vec::new(), Vec::new());
        Self { offset_ns, rate_ppb, changes, course, stops, sine: None, unix_error_ns: 0 }
    }

    /// From this true time on it shows `by_ns` more. A step back makes stamps go back: traces refuse those.
    #[must_use]
    pub fn step(mut self, at_ns: i64, by_ns: i64) -> Self {
        self.changes.push(Change::Step { at_ns, by_ns });
        self
    }

    /// From this true time on its rate is `rate_ppb` higher.
    #[must_use]
    pub fn slew(mut self, from_ns: i64, rate_ppb: i64) -> Self {
        self.changes.push(Change::Slew { from_ns, rate_ppb });
        self
    }

    /// From each of these instants to the next, its rate is so many ppb higher than it would be without; before the first
    /// one nothing is added. Pairs of ns and ppb, in any order. An instant is true time less what the host has stood still.
    /// There may be many: what the clock shows is found in `O(log n)`, and exact in integers. With rates above −10⁹ ppb in
    /// all, the clock never goes back.
    #[must_use]
    pub fn rates(mut self, knots: &[(i64, i64)]) -> Self {
        let mut knots = knots.to_vec();
        knots.sort_by_key(|knot| knot.0);
        self.course.clear();
        for (from, rate_ppb) in knots {
            let gained = self.steered(i128::from(from));
            self.course.push(Stretch { from, rate_ppb, gained });
        }
        self
    }

    /// Wanders about its line: `amplitude_ns · sin(2π t / period_ns)` is added.
    #[must_use]
    pub fn sine(mut self, amplitude_ns: u32, period_ns: u64) -> Self {
        self.sine = Some(Sine { amplitude: amplitude_ns, period: period_ns.max(1), phase: 0 });
        self
    }

    /// Wanders as a crystal whose temperature goes up and down: its rate is off by `amplitude_ppb · cos(2π t / period_ns)`,
    /// rounded down to what whole nanoseconds of [`Self::sine`] can do. `phase_ns` of the period have passed at time zero.
    #[must_use]
    pub fn rate_sine(mut self, amplitude_ppb: u32, period_ns: u64, phase_ns: u64) -> Self {
        let turn = f64::from(amplitude_ppb) / 1e9 * period_ns as f64;
        let amplitude = (turn / std::f64::consts::TAU) as u32;
        self.sine = Some(Sine { amplitude, period: period_ns.max(1), phase: phase_ns });
        self
    }

    /// At this true time the host stands still for so long, as a virtual machine that is paused: its clock shows one time,
    /// and nothing is sent or taken in. Stops do not overlap.
    #[must_use]
    pub fn stop(mut self, at_ns: i64, for_ns: i64) -> Self {
        self.stops.push(Stop { begin: at_ns, length: for_ns.max(0) });
        self
    }

    /// The first instant from a true time on at which the host does not stand still.
    pub fn awake(&self, true_ns: i64) -> i64 {
        let stop =
            self.stops.iter().find(|stop| (0..stop.length).contains(&true_ns.saturating_sub(stop.begin)));
        stop.map_or(true_ns, |stop| stop.begin.saturating_add(stop.length))
    }

    /// How long the host has not stood still, counted from true time zero.
    fn run(&self, true_ns: i64) -> i128 {
        let stood = |stop: &Stop| i128::from(true_ns.saturating_sub(stop.begin).clamp(0, stop.length));
        i128::from(true_ns) - self.stops.iter().map(stood).sum::<i128>()
    }

    /// The host's idea of Unix time is wrong by so much.
    #[must_use]
    pub fn unix_error(mut self, error_ns: i64) -> Self {
        self.unix_error_ns = error_ns;
        self
    }

    /// What the clock shows at a true time.
    pub fn raw(&self, true_ns: i64) -> i64 {
        let t = self.run(true_ns);
        let mut shown = i128::from(self.offset_ns) + t;
        // In ns · ppb: divided once, at the end.
        let mut drift = t * i128::from(self.rate_ppb);
        for change in &self.changes {
            match *change {
                Change::Step { at_ns, by_ns } if true_ns >= at_ns => shown += i128::from(by_ns),
                Change::Slew { from_ns, rate_ppb } if true_ns >= from_ns => {
                    drift += (t - self.run(from_ns)) * i128::from(rate_ppb);
                }
                _ => {}
            }
        }
        drift += self.steered(t);
        shown += drift.div_euclid(NS_PER_S) + self.wander(t);
        shown.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }

    /// What the rates of [`Self::rates`] have gained, ns · ppb.
    fn steered(&self, t: i128) -> i128 {
        let after = self.course.partition_point(|stretch| i128::from(stretch.from) <= t);
        let Some(stretch) = after.checked_sub(1).and_then(|last| self.course.get(last)) else { return 0 };
        stretch.gained + (t - i128::from(stretch.from)) * i128::from(stretch.rate_ppb)
    }

    fn wander(&self, t: i128) -> i128 {
        let Some(Sine { amplitude, period, phase }) = self.sine else { return 0 };
        let turns = (t + i128::from(phase)).rem_euclid(i128::from(period)) as f64 / period as f64;
        (sine_of_turns(turns) * f64::from(amplitude)).round() as i128
    }

    /// The first true time at which the clock shows at least `raw_ns`: within a nanosecond the inverse of
    /// [`Self::raw`], for clocks that never go back.
    pub fn true_ns(&self, raw_ns: i64) -> i64 {
        let middle = raw_ns.saturating_sub(self.offset_ns);
        let mut span = 1_000_000_i64;
        let (mut before, mut reached) = (middle, middle);
        // Brackets the instant; a span of all times ends the search in any case.
        while (self.raw(before) >= raw_ns || self.raw(reached) < raw_ns) && span < i64::MAX / 2 {
            span *= 2;
            (before, reached) = (middle.saturating_sub(span), middle.saturating_add(span));
        }
        while i128::from(reached) - i128::from(before) > 1 {
            let half = before.midpoint(reached);
            if self.raw(half) >= raw_ns {
                reached = half;
            } else {
                before = half;
            }
        }
        reached
    }

    /// Unix time of the clock's zero, as the host believes: what its traces declare.
    pub fn unix_offset_ns(&self) -> i64 {
        UNIX_EPOCH_NS - self.offset_ns + self.unix_error_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affine_clocks_are_exact() {
        let clock = SimClock::new(-7, -50_001);
        // −50 001 · t / 10⁹ rounded down, at times where doubles have lost the nanoseconds.
        assert_eq!(clock.raw(1_000_000_000_000_000_001), 999_949_999_000_000_001 - 8);
        assert_eq!(SimClock::new(0, 0).raw(i64::MAX), i64::MAX);
    }

    #[test]
    fn changes_add_up() {
        let clock = SimClock::new(100, 0).step(1000, 50).slew(2_000_000_000, 1_000_000);
        assert_eq!([clock.raw(999), clock.raw(1000)], [1099, 1150]);
        assert_eq!(clock.raw(2_000_000_000), 2_000_000_150);
        assert_eq!(clock.raw(3_000_000_000), 3_001_000_150);
    }

    #[test]
    fn rates_are_those_of_slews() {
        // The same clock described twice: by rates, and by the changes of the rate.
        let told = SimClock::new(9, -7).rates(&[(3_000, -40_000), (1_000, 250_000), (7_777, 11)]);
        let slewed = SimClock::new(9, -7).slew(1_000, 250_000).slew(3_000, -290_000).slew(7_777, 40_011);
        for t in (-1_000..1_000_000_000_000).step_by(9_999_999_967).chain(0..9_000) {
            assert_eq!(told.raw(t), slewed.raw(t), "at {t}");
        }
        assert_eq!(SimClock::new(0, 0).rates(&[(0, 500_000)]).stop(0, 2_000).raw(4_000), 2_001);
    }

    #[test]
    fn the_sine_returns() {
        let clock = SimClock::new(0, 0).sine(1000, 4_000_000);
        let shown = [0, 1_000_000, 2_000_000, 3_000_000, 4_000_000].map(|t| clock.raw(t) - t);
        assert_eq!(shown, [0, 1000, 0, -1000, 0]);
    }

    #[test]
    fn the_rate_wanders_within_its_amplitude() {
        // 1 ppm, a period of 100 s: 15.9 µs to either side, and steepest where the sine is zero.
        let clock = SimClock::new(0, 0).rate_sine(1000, 100_000_000_000, 25_000_000_000);
        let wander = |t: i64| clock.raw(t) - t;
        assert_eq!([wander(0), wander(50_000_000_000)], [15_915, -15_915]);
        let steps = (0..100).map(|n| wander((n + 1) * 1_000_000_000) - wander(n * 1_000_000_000));
        let steepest = steps.map(i64::abs).max();
        assert!((995..=1001).contains(&steepest.unwrap()), "{steepest:?}");
    }

    #[test]
    fn a_stopped_clock_shows_one_time_and_goes_on() {
        let clock = SimClock::new(7, 3_000_000_000).stop(1_000, 500).slew(2_000, 1_000_000_000);
        assert_eq!(
            [999, 1_000, 1_250, 1_500, 1_501, 2_001].map(|t| clock.raw(t)),
            [4003, 4007, 4007, 4007, 4011, 6012]
        );
        assert_eq!([999, 1_000, 1_499, 1_500].map(|t| clock.awake(t)), [999, 1_500, 1_500, 1_500]);
    }

    #[test]
    fn true_time_is_found_again() {
        let clocks = [
            SimClock::new(5_000_000_000_000, 50_000),
            SimClock::new(-3, -400_000).step(1_000_000, 10_000_000).slew(5_000_000_000, -50_000),
            SimClock::new(0, 123).sine(95_000, 600_000_000_000),
            SimClock::new(4_000_000_000_000, 3_000_000_000),
        ];
        for clock in clocks {
            for t in [-1_000_000_000, 0, 1, 999_999, 1_000_000, 6_000_000_001, 3_600_000_000_000] {
                let back = clock.true_ns(clock.raw(t));
                assert!((back - t).abs() <= 1, "{t} came back as {back} from {clock:?}");
            }
        }
        // In the gap that a step leaves, time stands.
        let stepped = SimClock::new(0, 0).step(100, 50);
        assert_eq!([stepped.true_ns(120), stepped.true_ns(150)], [100, 100]);
    }

    #[test]
    fn unix_time_is_right_but_for_the_error() {
        let clock = SimClock::new(123, 0).unix_error(7);
        assert_eq!(clock.unix_offset_ns() + clock.raw(0), UNIX_EPOCH_NS + 7);
    }
}
