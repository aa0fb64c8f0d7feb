//! The hosts as a graph: a circle for each, coloured by how far its clock can be off, and a line for each link, drawn by what it is worth.

use std::f64::consts::TAU;

use super::scale::duration;
use super::svg::{Anchor, Svg};

const WIDTH: f64 = 920.0;
/// Maximum number of hosts that are drawn: a picture of more shows nothing.
const MAX_HOSTS: usize = 60;
/// Maximum number of links with labels: more would cover each other.
const MAX_LABELS: usize = 4;
/// Steps of colour, from the surest to the least sure: two for a factor of two.
const STEPS: usize = 6;

/// A host in the graph.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// Name of the host.
    pub name: String,
    /// Bound of its error, ns: 0 for a reference; `None` where nothing is proven.
    pub bound_ns: Option<i64>,
    /// Whether it is the reference of its island.
    pub is_reference: bool,
}

/// A link in the graph.
#[derive(Debug, Clone, Default)]
pub struct Edge {
    /// Indices of its hosts among the nodes.
    pub ends: (usize, usize),
    /// `accurate`, `incomplete`, `approximate`, `refused`, `trusted` or `absent`.
    pub quality: String,
    /// Bound of the error between its clocks, ns.
    pub bound_ns: Option<i64>,
}

/// Draws the graph; empty with one host, or with too many.
pub(crate) fn draw(nodes: &[Node], edges: &[Edge]) -> String {
    if !(2..=MAX_HOSTS).contains(&nodes.len()) {
        return String::new();
    }
    let radius = (nodes.len() as f64 * 14.0).clamp(70.0, 260.0);
    let height = 2.0 * radius + 110.0;
    let place = |node: usize| {
        // From the left, so that two hosts are side by side.
        let turn = TAU * (0.5 + node as f64 / nodes.len() as f64);
        (WIDTH / 2.0 + radius * 1.5 * turn.cos(), height / 2.0 - 8.0 + radius * turn.sin())
    };
    let mut svg = Svg::new(WIDTH, height, "hosts, their links, and how far their clocks can be off");
    for edge in edges.iter().filter(|edge| edge.quality != "absent") {
        let (from, to) = (place(edge.ends.0), place(edge.ends.1));
        svg.line(&format!("edge {}", edge.quality), from, to);
        if let Some(bound) = edge.bound_ns.filter(|_| edges.len() <= MAX_LABELS) {
            let middle = (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1) - 5.0);
            svg.text("mark", middle, Anchor::Middle, &format!("± {}", duration(bound as f64)));
        }
    }
    let worst = nodes.iter().filter_map(|node| node.bound_ns).max().unwrap_or(0);
    for (number, node) in nodes.iter().enumerate() {
        let (x, y) = place(number);
        let (class, caption) = match node.bound_ns {
            _ if node.is_reference => ("reference".to_owned(), "the reference".to_owned()),
            Some(bound) => (format!("sure{}", step(bound, worst)), format!("± {}", duration(bound as f64))),
            None => ("unproven".to_owned(), "not proven".to_owned()),
        };
        svg.circle(&format!("node {class}"), (x, y), 16.0, &format!("{}: {caption}", node.name));
        svg.text("label", (x, y + 32.0), Anchor::Middle, &node.name);
        svg.text("mark", (x, y + 46.0), Anchor::Middle, &caption);
    }
    svg.finish()
}

/// The colour of a bound: by its share of the worst, on a scale of ratios.
fn step(bound: i64, worst: i64) -> usize {
    let ratio = worst.max(1) as f64 / bound.max(1) as f64;
    let steps = (2.0 * ratio.log2()).max(0.0) as usize;
    (STEPS - 1).saturating_sub(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(bounds: &[Option<i64>]) -> Vec<Node> {
        let node = |(number, &bound_ns): (usize, &Option<i64>)| Node {
            name: format!("h{number}"),
            bound_ns,
            is_reference: number == 0,
        };
        bounds.iter().enumerate().map(node).collect()
    }

    #[test]
    fn hosts_are_coloured_by_their_bounds() {
        let edge = |ends, quality: &str| Edge { ends, quality: quality.to_owned(), bound_ns: Some(40_000) };
        let edges = [edge((0, 1), "accurate"), edge((1, 2), "incomplete"), edge((0, 3), "absent")];
        let text = draw(&nodes(&[Some(0), Some(1000), Some(40_000), None]), &edges);
        for part in [
            "node reference",
            "node sure0",
            "node sure5",
            "node unproven",
            "edge accurate",
            "edge incomplete",
        ] {
            assert_eq!(text.matches(part).count(), 1, "{part}: {text}");
        }
        assert!(!text.contains("absent") && text.contains("± 40 µs") && text.contains(">h3<"), "{text}");
    }

    #[test]
    fn one_host_is_no_graph() {
        assert_eq!(draw(&nodes(&[Some(0)]), &[]), "");
        assert_eq!(draw(&nodes(&[Some(0); 61]), &[]), "");
    }

    #[test]
    fn two_hosts_stand_side_by_side() {
        let text = draw(&nodes(&[Some(0), Some(5)]), &[]);
        let heights: Vec<&str> =
            text.split("cy=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        assert_eq!(heights[0], heights[1], "{text}");
    }
}
