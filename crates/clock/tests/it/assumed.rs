//! Networks of clocks of which some are steered, by assumptions that hold: the truth is inside all bounds.

use crate::common::Lcg;
use isochrone_clock::{
    Assumptions, Corridor, LinkData, Network, Regime, Span, Steering, Synchronizer, solve,
};
use proptest::prelude::*;

const SECOND: i64 = 1_000_000_000;
/// Rates change at whole tenths of a second, if they do.
const STEP: i64 = SECOND / 10;

/// A clock whose rate in ppb changes with time, and what is truly assumed of it.
struct Clock {
    /// By step of true time: what it shows, and its rate from there on.
    shown: Vec<(i64, i64)>,
    assumptions: Assumptions,
}

impl Clock {
    fn new(kind: u64, seconds: i64, rng: &mut Lcg) -> Self {
        let steps = seconds * SECOND / STEP;
        let base = rng.around_zero(100_000);
        let away = |rng: &mut Lcg| base + rng.around_zero(90_000);
        let turn = rng.below(steps as u64) as i64;
        // From `turn` on it is of another kind.
        let (first, second) = (kind % 4, if kind < 4 { kind } else { kind / 4 % 4 });
        let (mut rate, mut raw) = (base, rng.around_zero(5_000_000_000));
        let (mut shown, mut changes, mut from) = (Vec::new(), Vec::new(), raw);
        let mut slow = 0;
        for step in 0..=steps {
            let kind = if step < turn { first } else { second };
            if step == turn {
                from = raw;
                if kind != first {
                    rate = base;
                }
            }
            let old = rate;
            match kind {
                1 if rng.below(30) == 0 => rate = away(rng),
                // Slowly this way and that, or anything at any time.
                2 if step >= slow => (rate, slow) = (away(rng), step + 1 + rng.below(60) as i64),
                0..=2 => {}
                _ => rate = away(rng),
            }
            if kind == 1 && rate != old {
                changes.push(Span {
                    begin: raw - rng.below(20_000) as i64,
                    end: raw + rng.below(20_000) as i64,
                });
            }
            shown.push((raw, rate));
            raw += STEP + STEP / 1000 * rate / (SECOND / 1000);
        }
        let steering = |kind| match kind {
            0 => Steering::Free,
            1 => Steering::Stepwise,
            2 => Steering::Steered { ppm: 190 },
            _ => Steering::Unknown,
        };
        let mut regimes = vec![Regime { from: from - 1, steering: steering(first) }];
        regimes.push(Regime { from, steering: steering(second) });
        Self { shown, assumptions: Assumptions::new(regimes, changes).unwrap() }
    }

    fn raw(&self, t: i64) -> i64 {
        let (raw, rate) = self.shown[((t / STEP).clamp(0, self.shown.len() as i64 - 1)) as usize];
        let run = t - t / STEP * STEP;
        raw + run + (i128::from(run) * i128::from(rate)).div_euclid(i128::from(SECOND)) as i64
    }
}

/// Clocks, links and their messages: (sender, sent, receiver, received), all by true time.
struct Cluster {
    clocks: Vec<Clock>,
    seconds: i64,
    messages: Vec<(usize, i64, usize, i64)>,
}

impl Cluster {
    fn new(kinds: &[u64], seconds: i64, everywhere: bool, seed: u64) -> Self {
        let mut rng = Lcg(seed);
        let clocks: Vec<Clock> = kinds.iter().map(|&kind| Clock::new(kind, seconds, &mut rng)).collect();
        let mut messages = Vec::new();
        for b in 1..clocks.len() {
            for a in 0..b {
                if a + 1 != b && rng.below(2) == 0 {
                    continue;
                }
                // A while in which they talk, and now and then nothing.
                let length = seconds * SECOND - 10_000_000;
                let (from, to) = if everywhere {
                    (0, length)
                } else {
                    let (s, t) = (rng.below(length as u64) as i64, rng.below(length as u64) as i64);
                    (s.min(t), s.max(t) + 1)
                };
                for _ in 0..10 + rng.below(400) {
                    let t = from + rng.below((to - from) as u64) as i64;
                    let mut delay = || 30_000 + rng.below(300) as i64 * rng.below(300) as i64;
                    let (there, back) = (t + delay(), t + 400_000 + delay());
                    messages.push((a, t, b, there));
                    messages.push((b, t + 400_000, a, back));
                }
            }
        }
        Self { clocks, seconds, messages }
    }

    fn spans(&self) -> Vec<Span> {
        self.clocks.iter().map(|c| Span { begin: c.raw(0), end: c.raw(self.seconds * SECOND) }).collect()
    }

    fn network(&self) -> Network {
        let mut network = Network::new(self.spans());
        for &(sender, sent, receiver, received) in &self.messages {
            let (a, b) = (sender.min(receiver), sender.max(receiver));
            let at = network.links.iter().position(|l| (l.a, l.b) == (a, b)).unwrap_or_else(|| {
                network.links.push(LinkData { a, b, corridor: Corridor::new() });
                network.links.len() - 1
            });
            let (sent, received) = (self.clocks[sender].raw(sent), self.clocks[receiver].raw(received));
            let corridor = &mut network.links[at].corridor;
            if sender == a { corridor.a_to_b(sent, received) } else { corridor.b_to_a(sent, received) }
                .unwrap();
        }
        network.assumptions = self.clocks.iter().map(|c| c.assumptions.clone()).collect();
        network
    }

    /// By how much the truth is outside, at most: ns, of which clock, when.
    fn worst(&self, solution: &isochrone_clock::Solution) -> (i64, usize, i64) {
        let mut worst = (0, 0, 0);
        for island in &solution.islands {
            for &clock in &island.clocks {
                for step in 0..self.seconds * 40 {
                    let t = step * (SECOND / 40);
                    let truth = self.clocks[island.reference].raw(t);
                    let Some((lo, hi, _)) = solution.intervals[clock].at(self.clocks[clock].raw(t)) else {
                        continue;
                    };
                    worst = worst.max(((lo - truth).max(truth - hi), clock, step));
                }
            }
        }
        worst
    }
}

fn kinds(clocks: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(0u64..16, clocks)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_truth_is_inside(kinds in kinds(2..5), seconds in 5i64..120, everywhere in any::<bool>(), seed in any::<u64>()) {
        let cluster = Cluster::new(&kinds, seconds, everywhere, seed);
        let solution = solve(cluster.network()).unwrap();
        let worst = cluster.worst(&solution);
        // Clocks show whole ns.
        prop_assert!(worst.0 <= 3, "{:?} {:?} {:?}", worst, solution.islands, solution.contradictions);
    }

    #[test]
    fn one_by_one_and_assumed_late(kinds in kinds(2..4), seed in any::<u64>(), order in any::<u64>()) {
        let cluster = Cluster::new(&kinds, 20, false, seed);
        let network = cluster.network();
        let mut rng = Lcg(order);
        let mut clocks = Synchronizer::new(network.clocks.len(), network.model).unwrap();
        for (clock, span) in network.clocks.iter().enumerate() {
            clocks.see(clock, span.begin).unwrap();
            clocks.see(clock, span.end).unwrap();
        }
        let mut messages = cluster.messages.clone();
        for i in (1..messages.len()).rev() {
            messages.swap(i, rng.below(i as u64 + 1) as usize);
        }
        let asked = rng.below(messages.len() as u64) as usize;
        for (at, &(sender, sent, receiver, received)) in messages.iter().enumerate() {
            let (sent, received) = (cluster.clocks[sender].raw(sent), cluster.clocks[receiver].raw(received));
            clocks.message(sender, sent, receiver, received).unwrap();
            if at == asked {
                // A change of mind.
                clocks.assume(0, Assumptions::always(Steering::Unknown)).unwrap();
                clocks.solution().unwrap();
            }
        }
        if rng.below(2) == 0 {
            clocks.solution().unwrap();
        }
        for (clock, assumptions) in network.assumptions.iter().enumerate() {
            clocks.assume(clock, assumptions.clone()).unwrap();
        }
        prop_assert_eq!(clocks.solution().unwrap(), &solve(network.clone()).unwrap());
        let mut turned = network.clone();
        turned.links.reverse();
        prop_assert_eq!(solve(turned).unwrap(), solve(network).unwrap());
    }
}

/// What is usual between two clocks that only a third talks to, each at another time, is not what their links say of the third.
#[test]
fn a_steered_clock_between_two_that_are_not() {
    let seconds = 120;
    let rates = |of: &dyn Fn(i64) -> i64| {
        let mut raw = 0;
        let mut shown = Vec::new();
        for step in 0..=seconds * SECOND / STEP {
            let rate = of(step);
            shown.push((raw, rate));
            raw += STEP + STEP / 1000 * rate / (SECOND / 1000);
        }
        shown
    };
    let half = seconds * SECOND / STEP / 2;
    let clock = |of: &dyn Fn(i64) -> i64, steering| Clock {
        shown: rates(of),
        assumptions: Assumptions::always(steering),
    };
    let clocks = vec![
        clock(&|_| 0, Steering::Free),
        clock(&|step| if step < half { 240_000 } else { -240_000 }, Steering::Unknown),
        clock(&|step| if step / 50 % 2 == 0 { 4_000 } else { -4_000 }, Steering::Steered { ppm: 10 }),
    ];
    let mut messages = Vec::new();
    for i in 0..60 * 20 {
        for (a, b, t) in [(0, 1, i * SECOND / 20), (1, 2, (60 * SECOND) + i * SECOND / 20)] {
            messages.push((a, t, b, t + 60_000));
            messages.push((b, t + 400_000, a, t + 460_000));
        }
    }
    let cluster = Cluster { clocks, seconds, messages };
    for reference in 0..3 {
        let mut network = cluster.network();
        network.reference = Some(reference);
        let solution = solve(network).unwrap();
        let worst = cluster.worst(&solution);
        assert!(worst.0 <= 3, "{reference} {worst:?}");
    }
}

/// In a long silence bounds are widest, and what one clock's times are on the other is least known there.
#[test]
fn changes_in_a_long_silence() {
    for seed in 0..20 {
        let seconds = 400;
        let mut rng = Lcg(seed);
        let clocks = vec![Clock::new(0, seconds, &mut rng), Clock::new(1, seconds, &mut rng)];
        let mut messages = Vec::new();
        for i in 0..100 {
            for t in [i * SECOND / 10, 390 * SECOND - i * SECOND / 10] {
                messages.push((0, t, 1, t + 60_000));
                messages.push((1, t + 400_000, 0, t + 460_000));
            }
        }
        let cluster = Cluster { clocks, seconds, messages };
        for reference in 0..2 {
            let mut network = cluster.network();
            network.reference = Some(reference);
            let solution = solve(network).unwrap();
            let worst = cluster.worst(&solution);
            assert!(worst.0 <= 3, "{seed} {reference} {worst:?}");
        }
    }
}

/// Nothing is said to be contradicted where nothing is.
#[test]
fn what_is_assumed_is_what_was_said() {
    let mut rng = Lcg(5);
    // Free at first, then within 190 ppm.
    let clocks = vec![Clock::new(0, 60, &mut rng), Clock::new(8, 60, &mut rng)];
    let mut messages = Vec::new();
    for i in 0..590 {
        let t = i * SECOND / 10;
        messages.push((0, t, 1, t + 60_000));
        messages.push((1, t + 400_000, 0, t + 460_000));
    }
    let cluster = Cluster { clocks, seconds: 60, messages };
    let solution = solve(cluster.network()).unwrap();
    for assumed in solution.assumed.iter().flatten() {
        assert!(!assumed.is_contradicted && assumed.ppm <= 190.0, "{assumed:?}");
    }
}

/// Many known changes, and messages that contradict all that is assumed between them.
#[test]
fn two_thousand_legs_take_a_moment() {
    let seconds = 300;
    let start = std::time::Instant::now();
    for contradicted in [false, true] {
        let mut rng = Lcg(3);
        let mut clocks = vec![Clock::new(0, seconds, &mut rng), Clock::new(3, seconds, &mut rng)];
        let every = |i: i64| if contradicted { i * STEP + STEP / 2 } else { i * STEP };
        let change = |i: i64| {
            let raw = clocks[1].raw(every(i));
            Span { begin: raw - 1000, end: raw + 1000 }
        };
        let most = if contradicted { 1999 } else { 2000 };
        let changes: Vec<Span> = (1..=most).map(change).collect();
        let regime = |from, steering| Regime { from, steering };
        // Later on it is not known when.
        let late = clocks[1].raw(200 * SECOND);
        let regimes = vec![regime(late - 1, Steering::Stepwise), regime(late, Steering::Unknown)];
        clocks[1].assumptions = Assumptions::new(regimes, changes).unwrap();
        let mut messages = Vec::new();
        for i in 0..(seconds - 1) * 100 {
            let t = i * SECOND / 100;
            messages.push((0, t, 1, t + 300));
            messages.push((1, t + 40_000, 0, t + 40_300));
        }
        let cluster = Cluster { clocks, seconds, messages };
        let solution = solve(cluster.network()).unwrap();
        assert!(contradicted || cluster.worst(&solution).0 <= 3);
    }
    assert!(start.elapsed() < std::time::Duration::from_secs(60), "{:?}", start.elapsed());
}
