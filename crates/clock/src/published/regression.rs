//! LTTV's analysis `linreg` (Poirier, 2009): least squares over exchanges, each of which says how the clocks
//! stood in its middle if both of its messages took equally long. Used by [`super::solve`]; [`Exchanges`] are
//! what the caller finds.
//!
//! What is not kept: sums in floating point of times as they are, which lose all digits where times are Unix
//! times; and a result for pairs without exchanges, which is no number. LTTV fits either direction of a pair
//! and prints both; of the two the one that its points are nearer to is used.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed as _, ToPrimitive as _, Zero as _};

use super::line::Line;
use super::{Outcome, PairFit};

/// Sums over the exchanges that one clock began with another, exactly: a message there and, after it has
/// arrived, one back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exchanges {
    count: u64,
    /// Of twice the middles, twice the offsets, their squares and products.
    t: BigInt,
    t2: BigInt,
    d: BigInt,
    d2: BigInt,
    td: BigInt,
}

impl Exchanges {
    /// Adds a message sent at `sent` and received at `received`, answered by one sent at `answered` and
    /// received at `returned`: the first and the last of these on the clock that began, ns. `O(1)`.
    pub fn add(&mut self, sent: i64, received: i64, answered: i64, returned: i64) {
        let t = i128::from(sent) + i128::from(returned);
        let d = i128::from(received) + i128::from(answered) - t;
        self.count += 1;
        self.t += t;
        self.d += d;
        self.t2 += BigInt::from(t) * t;
        self.d2 += BigInt::from(d) * d;
        self.td += BigInt::from(t) * d;
    }

    /// Number of exchanges.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The line of least squares, and the standard deviation of the points about it, ns; `None` with less
    /// than three exchanges, or all at one instant.
    fn fitted(&self) -> Option<(Line, f64)> {
        if self.count < 3 {
            return None;
        }
        let n = BigInt::from(self.count);
        let delta = &n * &self.t2 - &self.t * &self.t;
        if delta.is_zero() {
            return None;
        }
        let ratio = |numerator: BigInt| BigRational::new(numerator, delta.clone());
        let drift = ratio(&n * &self.td - &self.t * &self.d);
        let offset = ratio(&self.t2 * &self.d - &self.t * &self.td) / BigInt::from(2);
        let explained = &n * &self.td * &self.td + &self.d * &self.d * &self.t2
            - BigInt::from(2) * &self.t * &self.d * &self.td;
        let rest = BigRational::from_integer(self.d2.clone()) - ratio(explained);
        let variance = rest / BigInt::from(4 * (self.count - 2));
        let deviation = variance.abs().to_f64()?.sqrt();
        Some((Line::new(drift + BigInt::from(1), offset), deviation))
    }
}

/// The line of b by a from the exchanges that a and those that b began.
pub(crate) fn line([by_a, by_b]: &[Exchanges; 2]) -> PairFit {
    let forth = by_a.fitted();
    let back = by_b.fitted().and_then(|(line, deviation)| Some((line.inverse()?, deviation)));
    let fitted = [forth, back].into_iter().flatten().reduce(|a, b| if b.1 < a.1 { b } else { a });
    match fitted {
        Some((line, deviation)) => {
            let (line, accuracy) = (Some(line), Some(deviation));
            PairFit { outcome: Outcome::Approximate, line, accuracy, ..PairFit::default() }
        }
        None => PairFit::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::line::{integer, ratio};

    #[test]
    fn symmetric_exchanges_give_the_line_itself() {
        // b = 1.25 a + 1000, each way 40 ns of a.
        let b = |a: i64| a * 5 / 4 + 1000;
        let mut exchanges = Exchanges::default();
        for sent in (0..4000).step_by(400) {
            exchanges.add(sent, b(sent + 40), b(sent + 80), sent + 120);
        }
        let found = line(&[exchanges.clone(), Exchanges::default()]);
        assert_eq!(found.line, Some(Line::new(ratio(5, 4), integer(1000))));
        assert_eq!((found.accuracy, found.outcome), (Some(0.0), Outcome::Approximate));
        // Begun by the other clock, it is the same relation.
        let mirrored = line(&[Exchanges::default(), exchanges]);
        assert_eq!(mirrored.line, Line::new(ratio(5, 4), integer(1000)).inverse());
    }

    #[test]
    fn nothing_comes_of_few_exchanges() {
        let mut exchanges = Exchanges::default();
        assert_eq!(line(&[exchanges.clone(), Exchanges::default()]), PairFit::default());
        for _ in 0..9 {
            exchanges.add(5, 6, 7, 8);
        }
        assert_eq!(line(&[exchanges, Exchanges::default()]).line, None);
    }
}
