//! Islands of clocks, their references, and the way from every clock to its reference.
//!
//! Works on the graph of the usable links only; [`crate::network::joint`] says which these are and what they
//! cost. Every choice is made by value and then by index, so the result does not depend on the order in which
//! links were found.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Clocks that messages tie together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Island {
    /// The clock whose time all corrections of the island give.
    pub reference: usize,
    /// All clocks, sorted, the reference among them.
    pub clocks: Vec<usize>,
}

/// Cost of a path: first the number of links without a guarantee, then the sum of half widths (ns).
pub(crate) type Cost = (u32, u64);

/// A usable link, as the graph sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) a: usize,
    pub(crate) b: usize,
    /// Index of the link.
    pub(crate) link: usize,
    pub(crate) cost: Cost,
}

/// Neighbours of every clock.
#[derive(Debug)]
pub(crate) struct Graph {
    neighbours: Vec<Vec<(usize, usize, Cost)>>,
}

/// The cheapest paths to one root.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Per clock: the next clock toward the root and the link to it; `None` for the root and for clocks it
    /// cannot reach.
    pub(crate) next: Vec<Option<(usize, usize)>>,
    /// Clocks in reach, the root first, every other after its next one.
    pub(crate) order: Vec<usize>,
    /// The cost of the most expensive path.
    pub(crate) worst: Cost,
}

impl Graph {
    pub(crate) fn new(clocks: usize, edges: &[Edge]) -> Self {
        let mut neighbours = vec![Vec::new(); clocks];
        for e in edges {
            neighbours[e.a].push((e.b, e.link, e.cost));
            neighbours[e.b].push((e.a, e.link, e.cost));
        }
        Self { neighbours }
    }

    /// Connected components, each sorted, by least member.
    pub(crate) fn islands(&self) -> Vec<Vec<usize>> {
        let mut seen = vec![false; self.neighbours.len()];
        let mut islands = Vec::new();
        for start in 0..seen.len() {
            if std::mem::replace(&mut seen[start], true) {
                continue;
            }
            let mut island = vec![start];
            let mut done = 0;
            while let Some(&clock) = island.get(done) {
                done += 1;
                for &(other, ..) in &self.neighbours[clock] {
                    if !std::mem::replace(&mut seen[other], true) {
                        island.push(other);
                    }
                }
            }
            island.sort_unstable();
            islands.push(island);
        }
        islands
    }

    /// The tree whose root makes the most expensive path cheapest; ties go to the least index.
    pub(crate) fn best_tree(&self, island: &[usize]) -> Option<(usize, Tree)> {
        island.iter().map(|&root| (root, self.tree(root))).min_by_key(|(root, tree)| (tree.worst, *root))
    }

    /// Cheapest paths to `root` (Dijkstra 1959). Ties: fewer links, then the lower index of the next clock.
    pub(crate) fn tree(&self, root: usize) -> Tree {
        let clocks = self.neighbours.len();
        let mut tree = Tree { next: vec![None; clocks], order: Vec::new(), worst: (0, 0) };
        // Per clock the best known (cost, links, next clock), compared in that order.
        let mut best: Vec<Option<(Cost, u32, usize)>> = vec![None; clocks];
        let mut done = vec![false; clocks];
        let mut queue = BinaryHeap::new();
        best[root] = Some(((0, 0), 0, root));
        queue.push(Reverse(((0, 0), 0, root)));
        while let Some(Reverse((cost, links, clock))) = queue.pop() {
            if std::mem::replace(&mut done[clock], true) {
                continue;
            }
            tree.order.push(clock);
            tree.worst = tree.worst.max(cost);
            for &(other, link, step) in &self.neighbours[clock] {
                let candidate = (sum(cost, step), links + 1, clock);
                if !done[other] && best[other].is_none_or(|known| candidate < known) {
                    best[other] = Some(candidate);
                    tree.next[other] = Some((clock, link));
                    queue.push(Reverse((candidate.0, candidate.1, other)));
                }
            }
        }
        tree
    }
}

fn sum(a: Cost, b: Cost) -> Cost {
    (a.0.saturating_add(b.0), a.1.saturating_add(b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(clocks: usize, edges: &[(usize, usize, Cost)]) -> Graph {
        let edges: Vec<_> =
            edges.iter().enumerate().map(|(link, &(a, b, cost))| Edge { a, b, link, cost }).collect();
        Graph::new(clocks, &edges)
    }

    #[test]
    fn islands_by_least_member() {
        let g = graph(6, &[(4, 1, (0, 1)), (5, 0, (0, 1)), (1, 2, (0, 1))]);
        assert_eq!(g.islands(), vec![vec![0, 5], vec![1, 2, 4], vec![3]]);
        assert_eq!(g.tree(3).order, vec![3]);
        assert!(graph(0, &[]).islands().is_empty());
    }

    #[test]
    fn the_middle_of_a_chain_is_the_reference() {
        let g = graph(5, &[(0, 1, (0, 5)), (1, 2, (0, 5)), (2, 3, (0, 5)), (3, 4, (0, 5))]);
        let (root, tree) = g.best_tree(&[0, 1, 2, 3, 4]).unwrap();
        assert_eq!(root, 2);
        assert_eq!(tree.next, vec![Some((1, 0)), Some((2, 1)), None, Some((2, 2)), Some((3, 3))]);
    }

    #[test]
    fn guaranteed_detours_beat_approximate_shortcuts() {
        let g = graph(3, &[(0, 1, (1, 1)), (0, 2, (0, 900)), (1, 2, (0, 900))]);
        assert_eq!(g.tree(0).next[1], Some((2, 2)));
    }

    #[test]
    fn ties_go_to_fewer_links_then_lower_index() {
        let g = graph(4, &[(0, 3, (0, 2)), (0, 2, (0, 1)), (2, 3, (0, 1)), (0, 1, (0, 1)), (1, 3, (0, 1))]);
        assert_eq!(g.tree(0).next[3], Some((0, 0)));
        let g = graph(4, &[(0, 2, (0, 1)), (2, 3, (0, 1)), (0, 1, (0, 1)), (1, 3, (0, 1))]);
        assert_eq!(g.tree(0).next[3], Some((1, 3)));
    }
}
