//! The test of Welch: whether the means of two samples differ by more than chance, where only number, sum and
//! deviation are known. [`compare_reports()`](crate::compare_reports()) uses it.
//!
//! Source: B. L. Welch, "The generalization of 'Student's' problem when several different population
//! variances are involved", Biometrika 34 (1947); by the normal approximation.

use isochrone_analysis::Cell;

use crate::rank_test::{FEWEST, normal_p};

/// Durations of which only the number, the sum and the deviation are known.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) count: i128,
    total: i128,
    /// The sum of their squares, ns².
    squares: f64,
}

impl Spread {
    /// Adds the cells `count`, `total_ns` and `stdev_ns` of a row.
    pub(crate) fn add_cells(&mut self, cells: &[Cell]) {
        let number = |cell: &Cell| if let Cell::Int(value) = cell { *value } else { 0 };
        let (count, total) = (number(&cells[0]), number(&cells[1]));
        if count > 0 {
            let (n, mean) = (count as f64, total as f64 / count as f64);
            self.count += count;
            self.total += total;
            self.squares += n * (cells[2].as_f64().powi(2) + mean.powi(2));
        }
    }

    pub(crate) fn mean(&self) -> Option<i128> {
        (self.count > 0).then(|| self.total / self.count)
    }

    /// Mean and variance of the mean.
    fn moments(&self) -> (f64, f64) {
        let n = self.count as f64;
        let mean = self.total as f64 / n;
        (mean, (self.squares / n - mean.powi(2)).max(0.0) / n)
    }
}

/// The probability of a difference of two means as large as this by chance alone, by the test of Welch.
pub(crate) fn p_of_means([a, b]: [Spread; 2]) -> Option<f64> {
    if a.count.min(b.count) < FEWEST as i128 {
        return None;
    }
    let ((mean_a, variance_a), (mean_b, variance_b)) = (a.moments(), b.moments());
    let (difference, variance) = ((mean_a - mean_b).abs(), variance_a + variance_b);
    Some(match (variance > 0.0, difference > 0.0) {
        (true, _) => normal_p(difference / variance.sqrt()),
        (false, true) => 0.0,
        (false, false) => 1.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(values: &[f64]) -> Spread {
        let n = values.len() as f64;
        let total: f64 = values.iter().sum();
        let variance = values.iter().map(|it| (it - total / n).powi(2)).sum::<f64>() / n;
        let mut spread = Spread::default();
        spread.add_cells(&[
            Cell::Int(values.len() as i128),
            Cell::Int(total as i128),
            Cell::Float(variance.sqrt()),
        ]);
        spread
    }

    #[test]
    fn means_differ_by_more_than_chance() {
        let (low, high): (Vec<f64>, Vec<f64>) =
            (0..30).map(|it| (100.0 + f64::from(it % 7), 200.0 + f64::from(it % 11))).unzip();
        let p = p_of_means([spread(&low), spread(&high)]).unwrap();
        assert!(p < 1e-9, "{p}");
        assert!(p_of_means([spread(&low), spread(&low)]).unwrap() > 0.99);
        assert_eq!(p_of_means([spread(&low[..7]), spread(&high)]), None);
        assert_eq!(p_of_means([spread(&[5.0; 9]), spread(&[5.0; 8])]), Some(1.0));
        assert_eq!(p_of_means([spread(&[5.0; 9]), spread(&[6.0; 8])]), Some(0.0));
        // Threads of one program are one: parts give what the whole gives.
        let mut parts = spread(&low[..10]);
        let rest = spread(&low[10..]);
        parts.add_cells(&[
            Cell::Int(20),
            Cell::Int(rest.total),
            Cell::Float((rest.moments().1 * 20.0).sqrt()),
        ]);
        let whole = spread(&low);
        assert_eq!((parts.count, parts.total), (whole.count, whole.total));
        assert!((parts.squares - whole.squares).abs() < 1e-3 * whole.squares);
    }
}
