//! Symmetric positive systems most of whose entries are zero: L·D·Lᵀ within the pattern of their factor.
//!
//! The unknowns are the nodes of a graph, each of `B` components; two have an entry in common only where an
//! edge ties them. Eliminating one ties all its neighbours to each other, so the next to go is the one with
//! the fewest (minimum degree: Tinney and Walker 1967; George and Liu 1989). On trees and stars nothing is
//! added then, on rings one entry a node. What depends on the graph alone, [`Pattern`], is made once for all
//! systems on it. The diagonal of the inverse comes from the entries of the inverse within the same pattern,
//! which follow from each other (Takahashi, Fagan and Chin 1973; Erisman and Tinney 1975).
//!
//! [`crate::network::least_squares`] makes the systems.

use std::collections::BTreeSet;
use std::ops::Range;

use nalgebra::{SMatrix, SVector};

/// An entry: of `B` components of one unknown by those of another.
pub(crate) type Block<const B: usize> = SMatrix<f64, B, B>;

/// In which order unknowns are eliminated, and which entries of the factor that leaves.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    /// Per unknown, its position in the order. Rows and columns are counted by it.
    position: Vec<usize>,
    /// Per column, the first of its entries; one more for the end.
    first: Vec<usize>,
    /// Per entry below the diagonal its row; increasing within a column.
    rows: Vec<usize>,
    /// Per row, its entries left of the diagonal: (column, entry), by column.
    left: Vec<Vec<(usize, usize)>>,
}

impl Pattern {
    /// The pattern of a graph of `size` nodes. O(Σ d² · log d) over the lengths d of the columns, up to where
    /// all nodes left are neighbours.
    pub(crate) fn new(size: usize, edges: impl Iterator<Item = (usize, usize)>) -> Self {
        let mut near: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); size];
        for (a, b) in edges.filter(|(a, b)| a != b) {
            near[a].insert(b);
            near[b].insert(a);
        }
        let mut queue: BTreeSet<(usize, usize)> =
            near.iter().enumerate().map(|(node, near)| (near.len(), node)).collect();
        // Nodes in order, each with its neighbours among those after it.
        let mut columns: Vec<(usize, Vec<usize>)> = Vec::with_capacity(size);
        while let Some((_, node)) = queue.pop_first() {
            let later: Vec<usize> = std::mem::take(&mut near[node]).into_iter().collect();
            let is_complete = later.len() == queue.len();
            columns.push((node, later.clone()));
            if is_complete {
                // From here on any order is as good.
                columns.extend(later.iter().enumerate().map(|(at, &n)| (n, later[at + 1..].to_vec())));
                break;
            }
            for &other in &later {
                queue.remove(&(near[other].len(), other));
                near[other].remove(&node);
                near[other].extend(later.iter().filter(|&&n| n != other));
                queue.insert((near[other].len(), other));
            }
        }
        let mut pattern =
            Self { position: vec![0; size], first: vec![0], rows: Vec::new(), left: vec![Vec::new(); size] };
        for (at, &(node, _)) in columns.iter().enumerate() {
            pattern.position[node] = at;
        }
        for (column, (_, later)) in columns.into_iter().enumerate() {
            let mut rows: Vec<usize> = later.into_iter().map(|node| pattern.position[node]).collect();
            rows.sort_unstable();
            for row in rows {
                pattern.left[row].push((column, pattern.rows.len()));
                pattern.rows.push(row);
            }
            pattern.first.push(pattern.rows.len());
        }
        pattern
    }

    /// The number of unknowns.
    pub(crate) fn size(&self) -> usize {
        self.position.len()
    }

    /// The entries of a column below the diagonal.
    fn column(&self, column: usize) -> Range<usize> {
        self.first[column]..self.first[column + 1]
    }

    /// The products of entries in a factorization: what it costs. As much again, about twice, is the diagonal
    /// of the inverse.
    #[cfg(test)]
    pub(crate) fn products(&self) -> usize {
        (0..self.size()).map(|column| self.column(column).len()).map(|d| d * (d + 3) / 2).sum()
    }

    /// Entries of the factor below its diagonal.
    #[cfg(test)]
    pub(crate) fn entries(&self) -> usize {
        self.rows.len()
    }
}

/// A symmetric matrix with entries on the edges of a graph and on the diagonal.
#[derive(Debug, Clone)]
pub(crate) struct Matrix<'p, const B: usize> {
    pattern: &'p Pattern,
    /// By position.
    diagonal: Vec<Block<B>>,
    /// By entry.
    below: Vec<Block<B>>,
}

impl<'p, const B: usize> Matrix<'p, B> {
    pub(crate) fn zero(pattern: &'p Pattern) -> Self {
        Self {
            pattern,
            diagonal: vec![Block::zeros(); pattern.size()],
            below: vec![Block::zeros(); pattern.rows.len()],
        }
    }

    /// Adds to the entry of two unknowns that an edge ties, and to its mirror image.
    pub(crate) fn add(&mut self, a: usize, b: usize, block: &Block<B>) {
        let (row, column) = (self.pattern.position[a], self.pattern.position[b]);
        if row == column {
            self.diagonal[row] += block;
            return;
        }
        let entries = self.pattern.column(row.min(column));
        if let Ok(at) = self.pattern.rows[entries.clone()].binary_search(&row.max(column)) {
            self.below[entries.start + at] += if row > column { *block } else { block.transpose() };
        }
    }

    /// The factor, column by column from those left of it; `None` unless the matrix is positive definite. O(Σ
    /// d²) over the lengths d of the columns.
    pub(crate) fn factored(mut self) -> Option<Factor<'p, B>> {
        let pattern = self.pattern;
        let mut inverses = Vec::with_capacity(pattern.size());
        let mut sums = vec![Block::zeros(); pattern.size()];
        for column in 0..pattern.size() {
            for entry in pattern.column(column) {
                sums[pattern.rows[entry]] = self.below[entry];
            }
            for &(before, entry) in &pattern.left[column] {
                let own = self.below[entry];
                let scaled = self.diagonal[before] * own.transpose();
                self.diagonal[column] -= own * scaled;
                let rest = entry + 1..pattern.first[before + 1];
                for (&row, below) in pattern.rows[rest.clone()].iter().zip(&self.below[rest]) {
                    sums[row] -= below * scaled;
                }
            }
            let inverse = self.diagonal[column].cholesky()?.inverse();
            for entry in pattern.column(column) {
                self.below[entry] = sums[pattern.rows[entry]] * inverse;
            }
            inverses.push(inverse);
        }
        Some(Factor { pattern, inverses, below: self.below })
    }
}

/// L·D·Lᵀ, the diagonal of L being one.
#[derive(Debug, Clone)]
pub(crate) struct Factor<'p, const B: usize> {
    pattern: &'p Pattern,
    /// Of the entries of D, by position.
    inverses: Vec<Block<B>>,
    /// L, by entry.
    below: Vec<Block<B>>,
}

impl<const B: usize> Factor<'_, B> {
    /// The solution for a right-hand side, both by unknown. O(entries).
    pub(crate) fn solve(&self, right: &[SVector<f64, B>]) -> Vec<SVector<f64, B>> {
        let pattern = self.pattern;
        let mut x = vec![SVector::zeros(); pattern.size()];
        for (&position, &right) in pattern.position.iter().zip(right) {
            x[position] = right;
        }
        for column in 0..pattern.size() {
            for entry in pattern.column(column) {
                let product = self.below[entry] * x[column];
                x[pattern.rows[entry]] -= product;
            }
        }
        for column in (0..pattern.size()).rev() {
            x[column] = self.inverses[column] * x[column];
            for entry in pattern.column(column) {
                let product = self.below[entry].transpose() * x[pattern.rows[entry]];
                x[column] -= product;
            }
        }
        pattern.position.iter().map(|&position| x[position]).collect()
    }

    /// The diagonal of the inverse Z, by unknown. Z·L = L⁻ᵀ·D⁻¹ has no entries below the diagonal, so a
    /// column of Z follows from those after it: rows of one column are neighbours, and the entries needed are
    /// in the pattern. O(Σ d · d′) over the lengths d of the columns and d′ of those of their rows.
    pub(crate) fn inverse_diagonal(&self) -> Vec<Block<B>> {
        let pattern = self.pattern;
        let mut diagonal = self.inverses.clone();
        let mut inverse: Vec<Block<B>> = vec![Block::zeros(); pattern.rows.len()];
        // Per row, its entry in the column at hand; what earlier columns left is in no range of this one.
        let mut entry_of = vec![usize::MAX; pattern.size()];
        for column in (0..pattern.size()).rev() {
            let own = pattern.column(column);
            for entry in own.clone() {
                entry_of[pattern.rows[entry]] = entry;
            }
            for entry in own.clone() {
                let (row, factor) = (pattern.rows[entry], self.below[entry]);
                let mut sum = diagonal[row] * factor;
                for other in pattern.column(row) {
                    let lower = entry_of[pattern.rows[other]];
                    if own.contains(&lower) {
                        sum += inverse[other].transpose() * self.below[lower];
                        let product = inverse[other] * factor;
                        inverse[lower] -= product;
                    }
                }
                inverse[entry] -= sum;
            }
            for entry in own {
                let product = self.below[entry].transpose() * inverse[entry];
                diagonal[column] -= product;
            }
        }
        pattern.position.iter().map(|&position| diagonal[position]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};
    use proptest::prelude::*;

    type Edges = Vec<(usize, usize)>;

    fn pattern(size: usize, edges: &Edges) -> Pattern {
        Pattern::new(size, edges.iter().copied())
    }

    fn ring(size: usize) -> Edges {
        (0..size).map(|at| (at, (at + 1) % size)).collect()
    }

    fn star(size: usize, hub: usize) -> Edges {
        (0..size).filter(|&at| at != hub).map(|at| (hub, at)).collect()
    }

    /// Every node but the first hangs on an earlier one.
    fn tree(size: usize) -> Edges {
        (1..size).map(|at| (at, at * 7919 % at.min(50))).collect()
    }

    fn mesh(size: usize) -> Edges {
        (0..size).flat_map(|a| (a + 1..size).map(move |b| (a, b))).collect()
    }

    #[test]
    fn the_factor_has_about_as_many_entries_as_there_are_edges() {
        let check = |edges: Edges, size: usize, entries: usize, products: usize| {
            let pattern = pattern(size, &edges);
            assert!(pattern.entries() <= entries, "{} entries", pattern.entries());
            assert!(pattern.products() <= products, "{} products", pattern.products());
        };
        for size in [10, 100, 1000, 10_000] {
            check(ring(size), size, 2 * size, 5 * size);
            check(star(size, 0), size, size, 2 * size);
            check(star(size, size / 2), size, size, 2 * size);
            check(tree(size), size, size, 2 * size);
        }
        // Two stars whose leaves are tied in pairs, and a star of meshes.
        let pairs: Edges = (1..500).flat_map(|at| [(0, at), (at, 500 + at), (500 + at, 500)]).collect();
        check(pairs, 1000, 2000, 5000);
        let racks: Edges = (0..100)
            .flat_map(|rack| mesh(10).into_iter().map(move |(a, b)| (10 * rack + a, 10 * rack + b)))
            .chain((1..100).map(|rack| (0, 10 * rack)))
            .collect();
        check(racks, 1000, 100 * 47, 100 * 220);
        check(mesh(300), 300, 300 * 299 / 2, 300 * 300 * 300 / 6 + 300 * 300);
    }

    /// A graph with a few pieces, double edges and loops of one, a weight for each edge and a right-hand
    /// side.
    fn systems() -> impl Strategy<Value = (usize, Vec<(usize, usize, [f64; 5])>)> {
        (1..24usize).prop_flat_map(|size| {
            let edge = (0..size, 0..size, prop::array::uniform5(-1.0..1.0f64));
            (Just(size), prop::collection::vec(edge, 0..3 * size))
        })
    }

    /// Aᵀ·A over edges, and what keeps the whole positive; the right-hand side from the edges too.
    fn check<const B: usize>(size: usize, edges: &[(usize, usize, [f64; 5])]) {
        let pattern = Pattern::new(size, edges.iter().map(|e| (e.0, e.1)));
        let mut sparse = Matrix::<B>::zero(&pattern);
        let mut dense = DMatrix::<f64>::identity(B * size, B * size) * 0.01;
        let mut right = vec![SVector::<f64, B>::repeat(0.25); size];
        for node in 0..size {
            sparse.add(node, node, &(Block::identity() * 0.01));
        }
        for &(a, b, values) in edges {
            let [to, from] = [0, 1].map(|end| Block::<B>::from_fn(|i, j| values[end + 2 * i + j]));
            let ends = [(a, to), (b, from)];
            for (i, (one, by_one)) in ends.into_iter().enumerate() {
                right[one] += by_one.column(0) * values[4];
                for (j, (other, by_other)) in ends.into_iter().enumerate() {
                    let block = by_one.transpose() * by_other;
                    let mut part = dense.fixed_view_mut::<B, B>(B * one, B * other);
                    part += block;
                    // Of two different unknowns an entry is added once, of one with itself as it comes.
                    if i <= j || a == b {
                        sparse.add(one, other, &block);
                    }
                }
            }
        }
        let rights = DVector::from_iterator(B * size, right.iter().flat_map(|r| r.iter().copied()));
        let factor = sparse.factored().unwrap();
        let inverse = dense.try_inverse().unwrap();
        let solved = &inverse * rights;
        for (node, (x, z)) in factor.solve(&right).into_iter().zip(factor.inverse_diagonal()).enumerate() {
            let expect_x = solved.fixed_rows::<B>(B * node);
            let expect_z = inverse.fixed_view::<B, B>(B * node, B * node);
            assert!((x - expect_x).norm() <= 1e-7 * (1.0 + expect_x.norm()), "{x} {expect_x}");
            assert!((z - expect_z).norm() <= 1e-7 * (1.0 + expect_z.norm()), "{z} {expect_z}");
        }
    }

    proptest! {
        #[test]
        fn it_is_what_the_dense_inverse_says((size, edges) in systems()) {
            check::<1>(size, &edges);
            check::<2>(size, &edges);
        }
    }

    #[test]
    fn what_is_not_positive_has_no_factor() {
        let pattern = pattern(2, &vec![(0, 1)]);
        assert!(Matrix::<1>::zero(&pattern).factored().is_none());
        let mut matrix = Matrix::<1>::zero(&pattern);
        matrix.add(0, 0, &Block::repeat(1.0));
        matrix.add(1, 1, &Block::repeat(1.0));
        matrix.add(0, 1, &Block::repeat(2.0));
        assert!(matrix.factored().is_none());
    }
}
