//! Simulated clusters with a known truth, shared by the tests of networks.

use isochrone_clock::{Corridor, LinkData, Network, Span};

/// A small linear congruential generator (Knuth's MMIX constants): the same numbers everywhere.
pub(crate) struct Lcg(pub(crate) u64);

impl Lcg {
    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        ((self.step() << 32) | self.step()) % limit
    }

    /// The upper half of the state: the lower bits of such a generator are poor.
    fn step(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 32
    }

    /// A number from −`limit` to `limit`.
    pub(crate) fn around_zero(&mut self, limit: u64) -> i64 {
        self.below(2 * limit + 1) as i64 - limit as i64
    }
}

/// Clocks that are affine in true time: local(t) = offset + t·(1 + ppb·10⁻⁹), rounded down.
pub(crate) struct Cluster {
    /// (offset ns, ppb) per clock.
    pub(crate) clocks: Vec<(i64, i64)>,
    /// Duration of the run, true ns.
    pub(crate) duration: i64,
    rng: Lcg,
}

impl Cluster {
    /// Offsets of ± 10 s and drifts of ± 100 ppm, in whole ppm, so that truths are exact.
    pub(crate) fn new(clocks: usize, duration: i64, seed: u64) -> Self {
        let mut rng = Lcg(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1));
        let clock = |rng: &mut Lcg| (rng.around_zero(10_000_000_000), rng.around_zero(100) * 1000);
        Self { clocks: (0..clocks).map(|_| clock(&mut rng)).collect(), duration, rng }
    }

    /// What clock `c` shows at true time `t`.
    pub(crate) fn local(&self, c: usize, t: i64) -> i64 {
        let (offset, ppb) = self.clocks[c];
        offset + t + (t as i128 * ppb as i128).div_euclid(1_000_000_000) as i64
    }

    /// One-way delay: 50 µs and more, mostly little.
    fn delay(&mut self) -> i64 {
        let (a, b) = (self.rng.below(400_000), self.rng.below(400_000));
        50_000 + (a * b / 400_000) as i64
    }

    /// A network with spans over the whole run and no links.
    pub(crate) fn network(&self) -> Network {
        let span = |c| Span { begin: self.local(c, 0), end: self.local(c, self.duration) };
        Network::new((0..self.clocks.len()).map(span).collect())
    }

    /// `count` exchanges between a and b at random times.
    pub(crate) fn talk(&mut self, a: usize, b: usize, count: usize) -> LinkData {
        let mut corridor = Corridor::new();
        for _ in 0..count {
            let t = self.rng.below((self.duration - 2_000_000) as u64) as i64;
            let there = t + self.delay();
            let back = there + self.delay();
            corridor.a_to_b(self.local(a, t), self.local(b, there)).expect("in range");
            corridor.b_to_a(self.local(b, there), self.local(a, back)).expect("in range");
        }
        LinkData { a, b, corridor }
    }
}
