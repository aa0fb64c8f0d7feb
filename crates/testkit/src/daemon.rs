//! Time daemons, and what else moves the rate of a clock: how each of them does it, drawn at random.
//!
//! A daemon gives a *course*: the rates of a clock over the time of a trace. [`crate::steered`] makes a clock of it and says
//! what a tracer would show. The numbers are those of chronyd, ntpd, ptp4l and the kernel on real machines: how often they
//! act, by how much, and which of their changes are calls that a tracer can see.

use crate::random::{Random, sine_of_turns};

const NS_PER_S: i64 = 1_000_000_000;
/// Courses go on for so long after the end of a trace: the last messages arrive then.
const BEYOND_NS: i64 = 5 * NS_PER_S;
/// The kernel's limit for the rate of `adjtime` and for the frequency that its control loop sets, ppb.
const LIMIT_PPB: i64 = 500_000;
/// The longest stop of a machine, ns.
const LONGEST_STOP_NS: u64 = 1_500_000_000;

/// What moves the rate of a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Daemon {
    /// Nothing does.
    None,
    /// chronyd that has settled: every 8 to 64 s another rate within 0.03 to 5 ppm of the base; now and then 10 to 60 ppm for
    /// 10 to 30 s.
    ChronySettled,
    /// chronyd that is started early in the trace: one slew of 10 000 to 83 333 ppm for 0.2 to 1.5 s, then corrections of up to
    /// 500 ppm that get smaller and rarer.
    ChronyStarting,
    /// `adjtime`: 500 ppm for 0.1 to 2 s, every 30 to 120 s.
    Adjtime,
    /// The kernel's control loop: every second a part of the offset that the last poll found, without a call.
    KernelPll,
    /// ptp4l or phc2sys: every second another rate within 5 to 200 ppb of the base.
    Ptp,
    /// No daemon, but a room that gets warm and cold: a sine of 0.05 to 1 ppm, with a period of 2 to 30 minutes.
    Temperature,
    /// No daemon, but a virtual machine that is stopped one to three times, for 5 ms to 1.5 s.
    Paused,
}

/// What a daemon does to a clock during a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Course {
    /// From when on, ns of true time, the rate is how much above the base, ppb: by time, the first at zero. All but the first
    /// are changes by a call, where the daemon steers by calls.
    pub(crate) rates: Vec<(i64, i64)>,
    /// When the machine stands still, and for how long, ns of true time.
    pub(crate) stops: Vec<(i64, i64)>,
}

impl Daemon {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::None,
        Self::ChronySettled,
        Self::ChronyStarting,
        Self::Adjtime,
        Self::KernelPll,
        Self::Ptp,
        Self::Temperature,
        Self::Paused,
    ];

    /// A short name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "straight",
            Self::ChronySettled => "chrony settled",
            Self::ChronyStarting => "chrony starting",
            Self::Adjtime => "adjtime",
            Self::KernelPll => "kernel PLL",
            Self::Ptp => "PTP",
            Self::Temperature => "temperature",
            Self::Paused => "paused",
        }
    }

    /// Whether the rate changes by calls that a tracer can see, and is constant between them.
    pub fn steers_by_calls(self) -> bool {
        matches!(self, Self::ChronySettled | Self::ChronyStarting | Self::Ptp)
    }

    /// Whether a process or the kernel steers the clock.
    pub fn is_steering(self) -> bool {
        self.steers_by_calls() || matches!(self, Self::Adjtime | Self::KernelPll)
    }

    /// What it does during a trace of this length.
    pub(crate) fn course(self, span_ns: i64, random: &mut Random) -> Course {
        let end = span_ns + BEYOND_NS;
        let mut course = Course { rates: vec![(0, 0)], stops: Vec::new() };
        match self {
            Self::None => {}
            Self::ChronySettled => chrony_settled(&mut course.rates, end, random),
            Self::ChronyStarting => chrony_starting(&mut course.rates, span_ns, random),
            Self::Adjtime => adjtime(&mut course.rates, end, random),
            Self::KernelPll => course.rates = kernel_pll(end, random),
            Self::Ptp => {
                let noise = random.within((5, 200)) as u32;
                let first = 1 + random.below(NS_PER_S as u64) as i64;
                course.rates.extend(each_second(first, end, |_| random.around(noise)));
            }
            Self::Temperature => {
                let (amplitude, period) = (random.within((50, 1_000)), random.within((120, 1_800)) * 1_000);
                let phase = random.below(period);
                course.rates = each_second(0, end, |at| {
                    let turns = ((at / 1_000_000) as u64 + phase) % period;
                    (sine_of_turns(turns as f64 / period as f64) * amplitude as f64) as i64
                });
            }
            Self::Paused => course.stops = stops(span_ns, random),
        }
        course
    }
}

/// A rate for every second from `first` to `end`.
fn each_second(first: i64, end: i64, mut rate: impl FnMut(i64) -> i64) -> Vec<(i64, i64)> {
    (first..end).step_by(NS_PER_S as usize).map(|at| (at, rate(at))).collect()
}

fn chrony_settled(rates: &mut Vec<(i64, i64)>, end: i64, random: &mut Random) {
    let period = random.within((8, 64)) as i64 * NS_PER_S;
    let noise = random.within((30, 5_000)) as u32;
    let mut at = 1 + random.below(period as u64) as i64;
    while at < end {
        // Updates come within ± 5 % of the period.
        let late = period * random.around(1_000) / 20_000;
        let mut next = at + period + late;
        if random.permille(100) {
            // A correction of the offset, which a call of its own ends.
            let size = 10_000 + random.below(50_001) as i64;
            let length = (10 + random.below(21) as i64) * NS_PER_S;
            rates.push((at, random.either_way(size)));
            next = next.max(at + length + NS_PER_S);
            at += length;
        }
        rates.push((at, random.around(noise)));
        at = next;
    }
}

fn chrony_starting(rates: &mut Vec<(i64, i64)>, span_ns: i64, random: &mut Random) {
    let mut at = span_ns / 1_000 * (100 + random.below(101) as i64);
    let size = 10_000_000 + random.below(73_333_001) as i64;
    rates.push((at, random.either_way(size)));
    at += 200_000_000 + random.below(1_300_000_001) as i64;
    let mut size = LIMIT_PPB as u32;
    let mut period = NS_PER_S + random.below(NS_PER_S as u64) as i64;
    while at < span_ns + BEYOND_NS {
        rates.push((at, random.around(size)));
        at += period;
        size = (size / 100 * 72).max(1_000);
        period = (period / 100 * 115).min(16 * NS_PER_S);
    }
}

fn adjtime(rates: &mut Vec<(i64, i64)>, end: i64, random: &mut Random) {
    let every = (30 + random.below(91)) as i64 * NS_PER_S;
    let mut at = 1 + random.below(every as u64) as i64;
    while at < end {
        rates.push((at, random.either_way(LIMIT_PPB)));
        rates.push((at + random.within((100_000_000, 2 * NS_PER_S as u64)) as i64, 0));
        at += every;
    }
}

/// Each second the rate takes its part of the offset that is left, so that this decays; each poll finds a new one.
fn kernel_pll(end: i64, random: &mut Random) -> Vec<(i64, i64)> {
    let time_constant = 4 + random.below(4) as u32;
    let found = random.within((20_000, 20_000_000)) as u32;
    let poll = NS_PER_S << time_constant;
    let (mut offset, mut polled) = (0, -poll);
    each_second(0, end, |at| {
        if at >= polled + poll {
            (offset, polled) = (random.around(found), at);
        }
        // A nanosecond in a second is one in a billion.
        let rate = (offset >> (2 + time_constant)).clamp(-LIMIT_PPB, LIMIT_PPB);
        offset -= rate;
        rate
    })
}

/// Each in a part of the trace of its own, so that they do not meet.
fn stops(span_ns: i64, random: &mut Random) -> Vec<(i64, i64)> {
    let count = 1 + random.below(3) as i64;
    let (first, part) = (span_ns / 10, span_ns / 10 * 8 / count);
    let mut stop = |number| {
        let length = random.within((5_000_000, LONGEST_STOP_NS)) as i64;
        let room = (part - length).max(1) as u64;
        (first + part * number + random.below(room) as i64, length)
    };
    (0..count).map(&mut stop).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some courses of each daemon, over traces of 10 s to 20 minutes.
    fn courses(daemon: Daemon) -> Vec<(i64, Course)> {
        let lengths = [10, 37, 120, 600, 1_200];
        let drawn = |seed: u64| {
            let span = lengths[seed as usize % lengths.len()] * NS_PER_S;
            (span, daemon.course(span, &mut Random::new(seed)))
        };
        (0..60).map(drawn).collect()
    }

    /// The greatest distance from the base, ppb.
    fn farthest(course: &Course) -> i64 {
        course.rates.iter().map(|rate| rate.1.abs()).max().unwrap()
    }

    /// Lengths of the stretches of one rate, ns.
    fn lengths(course: &Course) -> impl Iterator<Item = i64> {
        course.rates.windows(2).map(|pair| pair[1].0 - pair[0].0)
    }

    #[test]
    fn courses_begin_with_the_trace_and_are_in_order() {
        for daemon in Daemon::ALL {
            for (span, course) in courses(daemon) {
                assert_eq!(course.rates[0].0, 0, "{daemon:?}");
                assert!(lengths(&course).all(|length| length > 0), "{daemon:?}");
                let mut free = 0;
                for (at, length) in course.stops {
                    assert!(at >= free && at + length <= span, "{daemon:?} {at} {length}");
                    free = at + length;
                }
            }
        }
    }

    #[test]
    fn rates_are_as_promised() {
        let limits = [
            (Daemon::None, 0..=0),
            (Daemon::ChronySettled, 0..=60_000),
            (Daemon::ChronyStarting, 10_000_000..=83_333_000),
            (Daemon::Adjtime, 0..=500_000),
            (Daemon::KernelPll, 0..=500_000),
            (Daemon::Ptp, 1..=200),
            (Daemon::Temperature, 0..=1_000),
            (Daemon::Paused, 0..=0),
        ];
        for (daemon, limit) in limits {
            for (_, course) in courses(daemon) {
                assert!(limit.contains(&farthest(&course)), "{daemon:?}: {}", farthest(&course));
                assert_eq!(course.stops.is_empty(), daemon != Daemon::Paused);
            }
        }
    }

    #[test]
    fn chrony_settles_after_one_fast_slew() {
        for (span, course) in courses(Daemon::ChronyStarting) {
            let [_, (start, _), (end, _), ..] = course.rates[..] else { panic!("{course:?}") };
            assert!((span / 10..=span / 5).contains(&start), "{start} of {span}");
            assert!((200_000_000..=LONGEST_STOP_NS as i64).contains(&(end - start)));
            assert!(course.rates[2..].iter().all(|rate| rate.1.abs() <= LIMIT_PPB));
            assert!(course.rates[2..].windows(2).all(|pair| pair[1].0 - pair[0].0 <= 16 * NS_PER_S));
        }
    }

    #[test]
    fn settled_chrony_corrects_now_and_then() {
        let all = courses(Daemon::ChronySettled);
        let is_correction = |rate: i64| rate.abs() >= 10_000;
        let mut corrections = 0;
        for (_, course) in &all {
            for pair in course.rates.windows(2).filter(|pair| is_correction(pair[0].1)) {
                let length = (pair[1].0 - pair[0].0) / NS_PER_S;
                assert!((10..=30).contains(&length) && !is_correction(pair[1].1), "{pair:?}");
                corrections += 1;
            }
        }
        let changes: usize = all.iter().map(|(_, course)| course.rates.len()).sum();
        assert!((changes / 30..changes / 5).contains(&corrections), "{corrections} of {changes}");
    }

    #[test]
    fn the_control_loop_decays_and_changes_each_second() {
        for (_, course) in courses(Daemon::KernelPll) {
            assert!(lengths(&course).all(|length| length == NS_PER_S));
            // The first poll is 16 s long at least.
            let first: Vec<i64> = course.rates.iter().take(15).map(|rate| rate.1.abs()).collect();
            assert!(first.is_sorted_by(|a, b| a >= b), "{first:?}");
        }
    }

    #[test]
    fn adjtime_ends_what_it_begins() {
        for (_, course) in courses(Daemon::Adjtime) {
            for pair in course.rates[1..].chunks(2) {
                let [(begin, rate), (end, rest)] = pair[..] else { panic!("{course:?}") };
                assert!((100_000_000..=2 * NS_PER_S).contains(&(end - begin)));
                assert_eq!((rate.abs(), rest), (LIMIT_PPB, 0));
            }
        }
    }
}
