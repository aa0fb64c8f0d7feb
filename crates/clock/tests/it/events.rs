//! Clusters of clocks of which nothing is known and of which one is set, stopped or slewed: the truth is inside the intervals, or
//! nothing is guaranteed of the clock; and the one that did it is named.

use crate::common::Lcg;
use isochrone_clock::{Assumptions, Corridor, LinkData, Network, Solution, Span, Steering, solve};

const MS: i64 = 1_000_000;
const S: i64 = 1000 * MS;

/// What happens to one clock.
#[derive(Debug, Clone, Copy)]
enum Event {
    Nothing,
    /// Set forward by so much, ns.
    Step(i64),
    /// Stands still for so long, ns.
    Stop(i64),
    /// Runs faster by so many ppm for so long, ns.
    Slew(i64, i64),
}

#[derive(Debug, Clone, Copy)]
enum Shape {
    Chain,
    Star,
    Mesh,
}

/// A cluster of which one host may do something.
#[derive(Debug, Clone, Copy)]
struct Case {
    shape: Shape,
    clocks: usize,
    seconds: i64,
    /// Exchanges of every link, and of that between the host that moved and the last one, if it is another.
    exchanges: (u64, u64),
    /// Least delay of a message, ns.
    delay: i64,
    host: usize,
    at: i64,
    event: Event,
    seed: u64,
}

impl Case {
    fn raw(&self, clock: usize, t: i64) -> i64 {
        let own = t + t / 1_000_000 * [0, 30, -20, 45, -38][clock % 5] + clock as i64 * 17 * S;
        if clock != self.host {
            return own;
        }
        let since = t - self.at;
        own + match self.event {
            Event::Nothing => 0,
            Event::Step(size) => {
                if since > 0 {
                    size
                } else {
                    0
                }
            }
            Event::Stop(size) => -since.clamp(0, size),
            Event::Slew(ppm, long) => since.clamp(0, long) / 1000 * ppm / 1000,
        }
    }

    fn solved(&self) -> Solution {
        let mut rng = Lcg(self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1));
        let span = |c| Span { begin: self.raw(c, 0), end: self.raw(c, self.seconds * S + S) };
        let mut network = Network::new((0..self.clocks).map(span).collect());
        for a in 0..self.clocks {
            for b in a + 1..self.clocks {
                let is_there = match self.shape {
                    Shape::Chain => b == a + 1,
                    Shape::Star => a == 0,
                    Shape::Mesh => true,
                };
                if !is_there {
                    continue;
                }
                let is_thin = [a, b].contains(&self.host) && b == self.clocks - 1;
                let mut corridor = Corridor::new();
                for _ in 0..if is_thin { self.exchanges.1 } else { self.exchanges.0 } {
                    let t = rng.below((self.seconds * S) as u64) as i64;
                    let mut way =
                        || self.delay + (rng.below(1000) * rng.below(1000)) as i64 * self.delay / 200_000;
                    let there = t + way();
                    let answered = there + 20_000;
                    let back = answered + way();
                    corridor.a_to_b(self.raw(a, t), self.raw(b, there)).expect("in range");
                    corridor.b_to_a(self.raw(b, answered), self.raw(a, back)).expect("in range");
                }
                network.links.push(LinkData { a, b, corridor });
            }
        }
        network.assumptions = vec![Assumptions::always(Steering::Unknown); self.clocks];
        solve(network).expect("a network")
    }

    /// How far the truth is outside of an interval that is guaranteed, ns, and of which clock.
    fn outside(&self, solution: &Solution) -> (i64, usize) {
        let mut worst = (0, 0);
        for island in &solution.islands {
            for &clock in island.clocks.iter().filter(|&&c| solution.doubts[c].is_none()) {
                let grid = (0..=400).map(|i| self.seconds * S / 400 * i);
                let near = (-40..=40).map(|i| self.at + i * 50 * MS / (1 + i64::abs(i) % 7));
                for t in grid.chain(near).filter(|t| (0..=self.seconds * S).contains(t)) {
                    let (raw, truth) = (self.raw(clock, t), self.raw(island.reference, t));
                    let Some((lo, hi, _)) = solution.intervals[clock].at(raw) else { continue };
                    worst = worst.max(((lo - truth).max(truth - hi), clock));
                }
            }
        }
        worst
    }
}

/// As truth and rows are rounded.
const ROUNDING_NS: i64 = 3;

#[test]
fn what_happened_is_inside_or_not_proven() {
    use Event::{Slew, Step, Stop};
    use Shape::{Chain, Mesh, Star};
    let case = |shape, clocks, seconds, exchanges, delay, host, event| Case {
        shape,
        clocks,
        seconds,
        exchanges,
        delay,
        host,
        at: seconds * S * 11 / 23,
        event,
        seed: 5,
    };
    // Shape, clocks, seconds, exchanges (on the thin link), least delay, who, what.
    let cases = [
        // A step that the next link cannot show by itself.
        case(Chain, 4, 30, (400, 400), 120_000, 1, Step(1_012_000)),
        case(Chain, 5, 60, (300, 300), 400_000, 2, Step(2 * MS)),
        // A step in a silence, on one link alone.
        case(Star, 6, 60, (90, 90), 150_000, 3, Step(8 * MS + 500_000)),
        // Links with few messages of the host that moves.
        case(Mesh, 6, 20, (60, 4), 100_000, 1, Slew(4800, 1150 * MS)),
        case(Mesh, 5, 15, (500, 3), 60_000, 1, Step(MS)),
        case(Mesh, 5, 40, (300, 4), 60_000, 2, Slew(-15_000, 2 * S)),
        // A machine that is stopped, or moved to another one.
        case(Star, 4, 40, (500, 500), 80_000, 2, Stop(350 * MS)),
        case(Chain, 3, 300, (800, 800), 200_000, 1, Stop(20 * MS)),
        case(Mesh, 4, 100, (300, 300), 200_000, 1, Step(5 * S)),
        // chronyd as it starts.
        case(Star, 5, 100, (300, 300), 90_000, 4, Slew(-83_333, 1400 * MS)),
    ];
    for case in cases {
        let solution = case.solved();
        let (outside, clock) = case.outside(&solution);
        assert!(outside <= ROUNDING_NS, "{case:?}: clock {clock} by {outside} ns, {:?}", solution.breaks);
        assert!(
            solution.contradictions.is_empty() || solution.doubts.iter().any(Option::is_some),
            "{case:?}: {:?}",
            solution.contradictions
        );
    }
}

#[test]
fn random_clusters() {
    let most: u64 = std::env::var("ISOCHRONE_EVENTS").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    let (mut proven, mut all) = (0, 0);
    let mut outside = Vec::new();
    for seed in 0..most {
        let mut rng = Lcg(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(7));
        let clocks = 3 + rng.below(4) as usize;
        let seconds = 10 + rng.below(100) as i64;
        let many = 50 + rng.below(400);
        let size = [1, 3, 10, 40, 200][rng.below(5) as usize] * MS;
        let case = Case {
            shape: [Shape::Chain, Shape::Star, Shape::Mesh][rng.below(3) as usize],
            clocks,
            seconds,
            exchanges: (many, if rng.below(2) == 0 { 4 } else { many }),
            delay: 20_000 + rng.below(200_000) as i64,
            host: rng.below(clocks as u64) as usize,
            at: seconds * S / 10 * (1 + rng.below(9) as i64),
            event: match rng.below(4) {
                0 => Event::Nothing,
                1 => Event::Step(size),
                2 => Event::Stop(size),
                _ => Event::Slew([-80_000, -9_000, 5_000, 30_000][rng.below(4) as usize], size * 20),
            },
            seed,
        };
        let solution = case.solved();
        let (by, clock) = case.outside(&solution);
        proven += solution.doubts.iter().filter(|d| d.is_none()).count();
        all += clocks;
        // What no message contradicts, as on an only link of few messages, cannot be seen.
        let is_seen =
            solution.breaks.iter().any(|b| !b.is_empty()) || solution.doubts.iter().any(Option::is_some);
        if by > ROUNDING_NS && is_seen {
            outside.push((seed, clock, by, case));
        }
        if matches!(case.event, Event::Nothing) {
            assert!(by <= ROUNDING_NS && solution.doubts.iter().all(Option::is_none), "{case:?}: {by}");
            assert!(solution.breaks.iter().all(Vec::is_empty), "{case:?}: {:?}", solution.breaks);
        }
    }
    println!("{proven} of {all} clocks proven; outside of {most} clusters: {}", outside.len());
    // Of several links of a clock that moved one may hide what the others show.
    assert!(outside.len() as u64 * 50 <= most, "{outside:#?}");
    assert!(proven * 10 >= all * 9, "{proven} of {all}");
}

/// Four in a chain, each link with many messages: who moved is named, not who is at the end.
#[test]
fn the_host_that_moved_is_named() {
    for (host, reference) in [(1, 3), (1, 0), (2, 0), (2, 3)] {
        let case = Case {
            shape: Shape::Chain,
            clocks: 4,
            seconds: 30,
            exchanges: (900, 900),
            delay: 50_000,
            host,
            at: 13 * S,
            event: Event::Step(20 * MS),
            seed: reference,
        };
        let solution = case.solved();
        let named: Vec<usize> = (0..4).filter(|&c| !solution.breaks[c].is_empty()).collect();
        assert_eq!(named, [host], "{:?}", solution.breaks);
    }
}
