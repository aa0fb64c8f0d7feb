//! Clocks placed by all links at once: weighted least squares over the graph.
//!
//! Every link says by how much two clocks disagree under a first placement, at one instant or at several,
//! with a covariance; the corrections to the placement that make the weighted sum of squares least are the
//! solution of one symmetric positive system, which has entries where there are links
//! ([`crate::network::sparse`]). The diagonal of its inverse is the covariance of the placement.
//! [`crate::network::placement`] says what the disagreements are.

use nalgebra::{SMatrix, SVector};

use crate::network::sparse::{Block, Factor, Matrix, Pattern};

/// A disagreement between the two clocks of a link at `B` instants: at each, correction of the second − scale
/// · correction of the first should be `shift`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Disagreement<const B: usize> {
    pub(crate) scale: f64,
    pub(crate) shift: SVector<f64, B>,
    pub(crate) covariance: SMatrix<f64, B, B>,
}

/// Corrections of every clock at all instants, with their covariances.
#[derive(Debug, Clone)]
pub(crate) struct Placed<const B: usize> {
    pub(crate) corrections: Vec<SVector<f64, B>>,
    pub(crate) covariances: Vec<SMatrix<f64, B, B>>,
}

/// Which clocks are tied to which: what is the same at all instants.
#[derive(Debug)]
pub(crate) struct Ties {
    fixed: usize,
    /// The two clocks of every link.
    ends: Vec<(usize, usize)>,
    pattern: Pattern,
}

impl Ties {
    /// The ties between `clocks` clocks; `fixed` needs no correction. Costs what [`Pattern::new`] does.
    pub(crate) fn new(clocks: usize, fixed: usize, ends: Vec<(usize, usize)>) -> Self {
        let free = ends.iter().copied().filter(|&(a, b)| a != fixed && b != fixed);
        Self { fixed, pattern: Pattern::new(clocks, free), ends }
    }

    /// Corrections of all clocks by what each link says, and their covariances; `None` when the links leave a
    /// clock open. O(links + Σ d²) over the columns of the factor, each of d entries: linear for trees, stars
    /// and rings, cubic in the clocks only where all are tied to all.
    pub(crate) fn place<const B: usize>(&self, links: &[Disagreement<B>]) -> Option<Placed<B>> {
        let factor = self.factored(links)?;
        Some(Placed { corrections: self.solved(&factor, links)?, covariances: self.inverted(&factor) })
    }

    /// The same corrections alone, at a third of the cost.
    pub(crate) fn corrections<const B: usize>(
        &self,
        links: &[Disagreement<B>],
    ) -> Option<Vec<SVector<f64, B>>> {
        self.solved(&self.factored(links)?, links)
    }

    /// The same covariances alone.
    pub(crate) fn covariances<const B: usize>(&self, links: &[Disagreement<B>]) -> Option<Vec<Block<B>>> {
        Some(self.inverted(&self.factored(links)?))
    }

    fn factored<const B: usize>(&self, links: &[Disagreement<B>]) -> Option<Factor<'_, B>> {
        let mut normal = Matrix::zero(&self.pattern);
        if self.fixed < self.pattern.size() {
            normal.add(self.fixed, self.fixed, &Block::identity());
        }
        for (&(from, to), link) in self.ends.iter().zip(links) {
            let weight = link.covariance.try_inverse()?;
            for (clock, by) in [(from, -link.scale), (to, 1.0)] {
                if clock != self.fixed {
                    normal.add(clock, clock, &(weight * (by * by)));
                }
            }
            if from != self.fixed && to != self.fixed {
                normal.add(from, to, &(weight * -link.scale));
            }
        }
        normal.factored()
    }

    fn solved<const B: usize>(
        &self,
        factor: &Factor<'_, B>,
        links: &[Disagreement<B>],
    ) -> Option<Vec<SVector<f64, B>>> {
        let mut right = vec![SVector::<f64, B>::zeros(); self.pattern.size()];
        for (&(from, to), link) in self.ends.iter().zip(links) {
            let weight = link.covariance.try_inverse()?;
            for (clock, by) in [(from, -link.scale), (to, 1.0)] {
                if clock != self.fixed {
                    right[clock] += weight * link.shift * by;
                }
            }
        }
        let corrections = factor.solve(&right);
        corrections.iter().all(|c| c.iter().all(|v| v.is_finite())).then_some(corrections)
    }

    fn inverted<const B: usize>(&self, factor: &Factor<'_, B>) -> Vec<Block<B>> {
        let mut covariances = factor.inverse_diagonal();
        if let Some(fixed) = covariances.get_mut(self.fixed) {
            *fixed = Block::zeros();
        }
        covariances
    }

    /// Nothing is moved, and nothing but the fixed clock is known.
    pub(crate) fn open<const B: usize>(&self) -> Placed<B> {
        let unknown = |clock| if clock == self.fixed { 0.0 } else { f64::MAX.sqrt() };
        let clocks = 0..self.pattern.size();
        Placed {
            corrections: vec![SVector::zeros(); clocks.len()],
            covariances: clocks.map(|c| Block::from_diagonal_element(unknown(c))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Matrix2, Vector2};

    /// Clocks with one fixed, by links (from, to, shift at the first instant and its opposite at the second,
    /// standard deviation).
    fn place(clocks: usize, fixed: usize, links: &[(usize, usize, f64, f64)]) -> Option<Placed<2>> {
        let said = |&(_, _, shift, sd): &(usize, usize, f64, f64)| Disagreement {
            scale: 1.0,
            shift: Vector2::new(shift, -shift),
            covariance: Matrix2::from_diagonal_element(sd * sd),
        };
        let ties = Ties::new(clocks, fixed, links.iter().map(|l| (l.0, l.1)).collect());
        ties.place(&links.iter().map(said).collect::<Vec<_>>())
    }

    #[test]
    fn a_tree_is_placed_as_it_says() {
        let placed = place(3, 1, &[(1, 0, 5.0, 1.0), (1, 2, -7.0, 2.0)]).unwrap();
        assert_eq!(placed.corrections[1], Vector2::zeros());
        assert_eq!(placed.covariances[1], Matrix2::zeros());
        assert!((placed.corrections[0] - Vector2::new(5.0, -5.0)).norm() < 1e-9);
        assert!((placed.covariances[2][(0, 0)] - 4.0).abs() < 1e-9);
    }

    #[test]
    fn a_loop_is_shared_by_weight() {
        // 0 → 1 → 2 says 20, 0 → 2 says 0 and is as sure as both together.
        let placed = place(3, 0, &[(0, 1, 10.0, 1.0), (1, 2, 10.0, 1.0), (0, 2, 0.0, 2f64.sqrt())]).unwrap();
        let at = |clock: usize| placed.corrections[clock][0];
        assert!((at(2) - 10.0).abs() < 1e-9 && (at(1) - 5.0).abs() < 1e-9, "{} {}", at(1), at(2));
    }

    #[test]
    fn either_alone_is_as_both() {
        let said = |by: f64| Disagreement {
            scale: 1.0 + by * 1e-5,
            shift: Vector2::new(by, -2.0 * by),
            covariance: Matrix2::from_diagonal_element(by),
        };
        let (links, ties) = ([3.0, 5.0, 7.0].map(said), Ties::new(3, 0, vec![(0, 1), (1, 2), (0, 2)]));
        let placed = ties.place(&links).unwrap();
        assert_eq!(ties.corrections(&links), Some(placed.corrections));
        assert_eq!(ties.covariances(&links), Some(placed.covariances));
    }

    #[test]
    fn what_is_open_is_not_placed() {
        assert!(place(3, 0, &[(0, 1, 1.0, 1.0)]).is_none());
        assert!(place(1, 0, &[]).is_some());
    }
}
