//! The rank test of Mann and Whitney: whether values of one sample are larger than those of another by more
//! than chance. [`compare()`](crate::compare()) uses it.
//!
//! Source: H. B. Mann, D. R. Whitney, "On a test of whether one of two random variables is stochastically
//! larger than the other", Annals of Mathematical Statistics 18 (1947); the variance with ties as in E. L.
//! Lehmann, "Nonparametrics" (1975), section 1.4.

/// Differences of which chance makes as large ones more often than this are no differences.
pub(crate) const SIGNIFICANT: f64 = 0.01;
/// Below this many values of a sample the normal distribution is no good approximation.
pub(crate) const FEWEST: usize = 8;

/// The probability, by the normal approximation, that two samples of one distribution differ in their ranks
/// at least as much as these (both sides; ties halved, corrected for continuity). Both are sorted. `None`:
/// one has fewer than 8 values. Linear in both.
pub(crate) fn p_value(a: &[i64], b: &[i64]) -> Option<f64> {
    if a.len().min(b.len()) < FEWEST {
        return None;
    }
    // Twice the number of pairs in which the value of `b` is larger, ties counting half.
    let (mut twice, mut ties) = (0_u128, 0_f64);
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let value = match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) => *x.min(y),
            (Some(x), None) => *x,
            (None, Some(y)) => *y,
            (None, None) => break,
        };
        let of_a = a[i..].iter().take_while(|it| **it == value).count();
        let of_b = b[j..].iter().take_while(|it| **it == value).count();
        twice += of_b as u128 * (2 * i + of_a) as u128;
        let tied = (of_a + of_b) as f64;
        ties += tied.powi(3) - tied;
        (i, j) = (i + of_a, j + of_b);
    }
    let (m, n) = (a.len() as f64, b.len() as f64);
    let total = m + n;
    let variance = m * n / 12.0 * ((total + 1.0) - ties / (total * (total - 1.0)));
    if variance <= 0.0 {
        return Some(1.0);
    }
    let distance = (twice as f64 / 2.0 - m * n / 2.0).abs() - 0.5;
    let z = distance.max(0.0) / variance.sqrt();
    Some(normal_p(z))
}

/// The probability that a value of the normal distribution is at least this many deviations off, on both
/// sides.
pub(crate) fn normal_p(deviations: f64) -> f64 {
    libm::erfc(deviations / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against `scipy.stats.mannwhitneyu(a, b, method='asymptotic')`.
    #[test]
    fn known_values() {
        let check = |a: &[i64], b: &[i64], expect: f64| {
            let p = p_value(a, b).unwrap();
            assert!((p - expect).abs() < 1e-9, "{p} {expect}");
            assert!((p_value(b, a).unwrap() - expect).abs() < 1e-9);
        };
        let a: Vec<i64> = (0..10).collect();
        check(&a, &a, 1.0);
        let b: Vec<i64> = (5..15).collect();
        check(&a, &b, 0.005_075_392_315_273_923);
        let b: Vec<i64> = (100..110).collect();
        check(&a, &b, 0.000_182_671_791_109_550_02);
        check(&[1, 1, 1, 2, 2, 3, 3, 3], &[1, 2, 3, 3, 4, 4, 4, 4, 9], 0.029_522_175_929_137_53);
        check(&[7; 8], &[7; 9], 1.0);
        assert_eq!(p_value(&a[..7], &a), None);
    }
}
