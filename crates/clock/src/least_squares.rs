//! Clocks placed by all links at once: weighted least squares over the graph.
//!
//! Every link says by how much two clocks disagree under a first placement, with a covariance; the corrections to the
//! placement that make the weighted sum of squares least are the solution of one symmetric positive system. Its inverse
//! is the covariance of the placement. [`crate::placement`] says what the disagreements are.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn, Matrix2, Vector2};

/// A disagreement between two clocks at two instants: at each, correction of `to` − scale · correction of `from` should be
/// `shift`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Disagreement {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) scale: f64,
    pub(crate) shift: Vector2<f64>,
    pub(crate) covariance: Matrix2<f64>,
}

/// Corrections of every unknown at both instants, with their covariances.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    pub(crate) corrections: Vec<Vector2<f64>>,
    pub(crate) covariances: Vec<Matrix2<f64>>,
}

/// Corrections of `unknowns` clocks, of which `fixed` has none; `None` when the links leave a clock open.
/// O(unknowns³ + links).
pub(crate) fn place(unknowns: usize, fixed: usize, links: &[Disagreement]) -> Option<Placed> {
    // The fixed clock has no place in the system.
    let row = |clock: usize| (clock != fixed).then(|| 2 * if clock < fixed { clock } else { clock - 1 });
    let size = 2 * unknowns.checked_sub(1)?;
    let (mut normal, mut right) = (DMatrix::<f64>::zeros(size, size), DVector::<f64>::zeros(size));
    for link in links {
        let weight = link.covariance.try_inverse()?;
        let ends = [(row(link.from), -link.scale), (row(link.to), 1.0)];
        for (i, by_i) in ends {
            let Some(i) = i else { continue };
            let mut part = right.fixed_rows_mut::<2>(i);
            part += weight * link.shift * by_i;
            for (j, by_j) in ends {
                let Some(j) = j else { continue };
                let mut part = normal.fixed_view_mut::<2, 2>(i, j);
                part += weight * (by_i * by_j);
            }
        }
    }
    let factor: Cholesky<f64, Dyn> = Cholesky::new(normal)?;
    let solved = factor.solve(&right);
    let inverse = factor.inverse();
    let of = |clock| row(clock).map(|i| solved.fixed_rows::<2>(i).into_owned()).unwrap_or_default();
    let spread =
        |clock| row(clock).map(|i| inverse.fixed_view::<2, 2>(i, i).into_owned()).unwrap_or_default();
    let placed = Placed {
        corrections: (0..unknowns).map(of).collect(),
        covariances: (0..unknowns).map(spread).collect(),
    };
    let is_finite = placed.corrections.iter().all(|c| c.iter().all(|v| v.is_finite()));
    is_finite.then_some(placed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(from: usize, to: usize, shift: f64, sd: f64) -> Disagreement {
        let covariance = Matrix2::from_diagonal_element(sd * sd);
        Disagreement { from, to, scale: 1.0, shift: Vector2::new(shift, -shift), covariance }
    }

    #[test]
    fn a_tree_is_placed_as_it_says() {
        let placed = place(3, 1, &[link(1, 0, 5.0, 1.0), link(1, 2, -7.0, 2.0)]).unwrap();
        assert_eq!(placed.corrections[1], Vector2::zeros());
        assert!((placed.corrections[0] - Vector2::new(5.0, -5.0)).norm() < 1e-9);
        assert!((placed.covariances[2][(0, 0)] - 4.0).abs() < 1e-9);
    }

    #[test]
    fn a_loop_is_shared_by_weight() {
        // 0 → 1 → 2 says 20, 0 → 2 says 0 and is as sure as both together.
        let placed =
            place(3, 0, &[link(0, 1, 10.0, 1.0), link(1, 2, 10.0, 1.0), link(0, 2, 0.0, 2f64.sqrt())]);
        let at = |clock: usize| placed.as_ref().unwrap().corrections[clock][0];
        assert!((at(2) - 10.0).abs() < 1e-9 && (at(1) - 5.0).abs() < 1e-9, "{} {}", at(1), at(2));
    }

    #[test]
    fn what_is_open_is_not_placed() {
        assert!(place(3, 0, &[link(0, 1, 1.0, 1.0)]).is_none());
        assert!(place(0, 0, &[]).is_none());
        assert!(place(1, 0, &[]).is_some());
    }
}
