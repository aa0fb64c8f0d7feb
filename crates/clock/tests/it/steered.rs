//! Clocks whose rate changes by less than the messages of a link contradict: temperature, daemons that correct a little every
//! few seconds. A line fits between all messages, and yet it is not what the clocks did.

use isochrone_clock::{Corridor, LinkData, Network, Solution, Span, solve};

const SECOND: i64 = 1_000_000_000;

/// A clock that is true but for a rate in ppb that changes at whole seconds.
struct Clock {
    ppb: Vec<i64>,
    /// What it is ahead at each second, ns.
    ahead: Vec<i64>,
}

impl Clock {
    fn new(ppb: Vec<i64>) -> Self {
        let mut ahead = vec![0];
        for rate in &ppb {
            ahead.push(ahead[ahead.len() - 1] + rate);
        }
        Self { ppb, ahead }
    }

    fn raw(&self, t: i64) -> i64 {
        let second = (t / SECOND).clamp(0, self.ppb.len() as i64 - 1) as usize;
        let run = i128::from(t - second as i64 * SECOND) * i128::from(self.ppb[second]);
        t + self.ahead[second] + (run / i128::from(SECOND)) as i64
    }
}

/// Ten exchanges a second over floors of 50 µs with exponential delays of 50 µs.
fn exchanges(b: &Clock, seconds: i64, mut seed: u64) -> Corridor {
    let mut delay = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let uniform = ((seed >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
        50_000 + (-50_000.0 * uniform.ln()) as i64
    };
    let mut corridor = Corridor::new();
    for i in 0..seconds * 10 {
        let sent = i * SECOND / 10 + 1_000_000;
        let received = sent + delay();
        let answered = received + 200_000;
        corridor.a_to_b(sent, b.raw(received)).unwrap();
        corridor.b_to_a(b.raw(answered), answered + delay()).unwrap();
    }
    corridor
}

fn solved(corridor: Corridor, seconds: i64) -> Solution {
    let span = Span { begin: 0, end: seconds * SECOND };
    let mut network = Network::new(vec![span; 2]);
    network.links.push(LinkData { a: 0, b: 1, corridor });
    network.reference = Some(0);
    solve(network).unwrap()
}

/// Instants, one each second, at which the truth is outside the interval of `b`.
fn outside(solution: &Solution, b: &Clock, seconds: i64) -> usize {
    let is_out = |second: &i64| {
        let t = second * SECOND;
        let (lo, hi, _) = solution.intervals[1].at(b.raw(t)).unwrap();
        t < lo || hi < t
    };
    (1..seconds).filter(is_out).count()
}

#[test]
fn a_line_that_fits_is_not_taken_for_proof_that_the_clock_is_straight() {
    // A daemon sets a new rate every 16 s, within about 1.5 ppm.
    let seconds = 600;
    for seed in 1..=6 {
        let mut state: u64 = seed * 7_919;
        let mut next = || {
            state = state.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(3_037_000_493);
            (state >> 33) as i64 % 3_001 - 1_500
        };
        let rates: Vec<i64> = (0..=seconds / 16).map(|_| next()).collect();
        let b = Clock::new((0..seconds).map(|second| 20_000 + rates[(second / 16) as usize]).collect());
        let solution = solved(exchanges(&b, seconds, seed), seconds);
        assert_eq!(outside(&solution, &b, seconds), 0, "seed {seed}");
    }
}
