//! A seeded generator and the two curves that simulations need: the same seed gives the same numbers on every machine.
//!
//! [`crate::traffic`] draws delays from it, [`crate::clock`] bends clocks with it. Logarithm and sine are computed here
//! from additions and multiplications: those of the platform differ in their last bits.

/// The splitmix64 generator: small, fast, and good enough for traffic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A generator whose numbers do not depend on how many this one has given: for the parts of a whole.
    #[must_use]
    pub fn part(&self, number: u64) -> Self {
        Self { state: mix(self.state ^ mix(number.wrapping_add(1))) }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// A number below `end`; 0 where `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }

    /// A number between two, small ones as likely as large ones: evenly distributed over orders of magnitude, nearly.
    pub fn within(&mut self, (least, most): (u64, u64)) -> u64 {
        let magnitudes = u64::from((most / least.max(1)).max(1).ilog2());
        let low = least << self.below(magnitudes + 1);
        (low + self.below(low.max(1))).clamp(least, most)
    }

    /// A number between `-size` and `size`, all of them equally likely.
    pub fn around(&mut self, size: u32) -> i64 {
        self.below(2 * u64::from(size) + 1) as i64 - i64::from(size)
    }

    /// `size` or `-size`.
    pub fn either_way(&mut self, size: i64) -> i64 {
        if self.permille(500) { size } else { -size }
    }

    /// `true` in so many of a thousand cases.
    pub fn permille(&mut self, share: u32) -> bool {
        self.below(1000) < u64::from(share)
    }

    /// An exponentially distributed number of nanoseconds with this mean.
    pub fn exponential(&mut self, mean_ns: u64) -> i64 {
        // In (0, 1]: the logarithm stays finite.
        let share = ((self.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        (-ln(share) * mean_ns as f64) as i64
    }
}

/// The finalizer of splitmix64: every bit of the result depends on every bit of the input.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// 16 bytes that follow from a text: for identities that shall not change from run to run.
pub(crate) fn digest(text: &str) -> [u8; 16] {
    let mut state = 0;
    for byte in text.bytes() {
        state = mix(state ^ u64::from(byte)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    }
    let halves = u128::from(mix(state)) << 64 | u128::from(mix(!state));
    halves.to_be_bytes()
}

/// Natural logarithm of a positive, normal number: the series of the inverse hyperbolic tangent.
fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let mut mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    let z = (mantissa - 1.0) / (mantissa + 1.0);
    let series = (0..14).rev().fold(0.0, |sum, n| sum * (z * z) + 2.0 / f64::from(2 * n + 1));
    f64::from(exponent) * std::f64::consts::LN_2 + z * series
}

/// Sine of so many turns, `0 <= turns < 1`.
pub(crate) fn sine_of_turns(turns: f64) -> f64 {
    // Folded to a quarter turn on either side of zero, where the power series needs few terms.
    let folded = match turns {
        t if t < 0.25 => t,
        t if t < 0.75 => 0.5 - t,
        t => t - 1.0,
    };
    let x = folded * std::f64::consts::TAU;
    let series = (1..=12).rev().fold(1.0, |sum, n| 1.0 - sum * (x * x) / f64::from(2 * n * (2 * n + 1)));
    x * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_from_the_seed() {
        // The published first outputs of splitmix64 for seed 0.
        let mut random = Random::new(0);
        assert_eq!([random.bits(), random.bits()], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
        assert_ne!(random.part(0).bits(), random.part(1).bits());
    }

    #[test]
    fn curves_are_those_of_the_library() {
        for n in 1..1000 {
            let x = f64::from(n) / 1000.0;
            assert!((ln(x) - x.ln()).abs() < 1e-14, "ln {x}");
            let sine = (x * std::f64::consts::TAU).sin();
            assert!((sine_of_turns(x) - sine).abs() < 1e-14, "sin {x}");
        }
    }

    #[test]
    fn numbers_are_in_their_ranges() {
        let mut random = Random::new(3);
        let (mut small, mut negative) = (0, 0);
        for _ in 0..1_000 {
            let drawn = random.within((10, 10_000));
            assert!((10..=10_000).contains(&drawn), "{drawn}");
            small += usize::from(drawn < 320);
            let drawn = random.around(7);
            assert!((-7..=7).contains(&drawn), "{drawn}");
            negative += usize::from(random.either_way(5) == -5);
        }
        assert!((400..600).contains(&small) && (400..600).contains(&negative), "{small} {negative}");
    }

    #[test]
    fn means_come_out() {
        let mut random = Random::new(7);
        let mean = (0..100_000).map(|_| random.exponential(200_000)).sum::<i64>() / 100_000;
        assert!((198_000..202_000).contains(&mean), "{mean}");
        let hits = (0..100_000).filter(|_| random.permille(250)).count();
        assert!((24_500..25_500).contains(&hits), "{hits}");
    }
}
