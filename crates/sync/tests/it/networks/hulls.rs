//! The peer's estimator, with its reduction repaired: of each pair the line half way between the extreme ones, the most
//! accurate pairs form a tree, and along that all clocks are put on one.
//!
//! Haddad 1988, section 6; the accuracy of a pair is the difference of the extreme rates, and the tree is that of the least
//! sums of them (Floyd and Warshall).

use isochrone_clock::{Corridor, Network, Point};

/// A line through a point: the time of one clock from that of another, both in ns.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    x: f64,
    y: f64,
    slope: f64,
}

impl Line {
    /// The other clock's time.
    pub fn at(self, x: f64) -> f64 {
        self.y + (x - self.x) + (self.slope - 1.0) * (x - self.x)
    }

    fn inverse(self) -> Self {
        Self { x: self.y, y: self.x, slope: 1.0 / self.slope }
    }

    /// This one first.
    fn then(self, next: Self) -> Self {
        Self { x: self.x, y: next.at(self.y), slope: self.slope * next.slope }
    }
}

/// Of all pairs of a lower and an upper point in this order, the line that is flattest (`sign` 1) or, in the other order,
/// steepest (−1).
fn extreme(from: &[Point], to: &[Point], sign: f64) -> Option<Line> {
    let mut best: Option<Line> = None;
    for a in from {
        for b in to.iter().filter(|b| b.x() > a.x()) {
            // The rates are near 1: what counts is how far from it.
            let (dx, dy) = (b.x() - a.x(), b.y() - a.y());
            let slope = 1.0 + (dy - dx) as f64 / dx as f64;
            if best.is_none_or(|known| sign * slope < sign * known.slope) {
                best = Some(Line { x: a.x() as f64, y: a.y() as f64, slope });
            }
        }
    }
    best
}

/// The interior bisector of the extreme lines, and how far apart their rates are.
fn bisector(corridor: &Corridor) -> Option<(Line, f64)> {
    let (upper, lower) = (corridor.upper(), corridor.lower());
    let max = extreme(lower.vertices(), upper.vertices(), 1.0)?;
    let min = extreme(upper.vertices(), lower.vertices(), -1.0)?;
    let accuracy = max.slope - min.slope;
    // Where they meet.
    let run = (min.at(max.x) - max.y) / accuracy;
    let (product, sum) = (max.slope * min.slope, max.slope + min.slope);
    let root = (1.0 + product * product + max.slope * max.slope + min.slope * min.slope).sqrt();
    let slope = (product - 1.0 + root) / sum;
    Some((Line { x: max.x + run, y: max.at(max.x + run), slope }, accuracy))
}

/// Per clock, the line to the reference. Every clock must have a way there.
pub fn to_reference(network: &Network, reference: usize) -> Vec<Line> {
    let clocks = network.clocks.len();
    let mut lines = vec![vec![None; clocks]; clocks];
    let mut lengths = vec![vec![f64::INFINITY; clocks]; clocks];
    let mut next: Vec<Vec<usize>> = vec![(0..clocks).collect(); clocks];
    for link in &network.links {
        let Some((line, accuracy)) = bisector(&link.corridor) else { continue };
        for (a, b, line) in [(link.a, link.b, line), (link.b, link.a, line.inverse())] {
            (lines[a][b], lengths[a][b]) = (Some(line), accuracy);
        }
    }
    for via in 0..clocks {
        for a in 0..clocks {
            for b in 0..clocks {
                let length = lengths[a][via] + lengths[via][b];
                if a != b && length < lengths[a][b] {
                    (lengths[a][b], next[a][b]) = (length, next[a][via]);
                }
            }
        }
    }
    let way = |clock: usize| {
        let mut line = Line { x: 0.0, y: 0.0, slope: 1.0 };
        let mut at = clock;
        while at != reference {
            line = line.then(lines[at][next[at][reference]].expect("a way to the reference"));
            at = next[at][reference];
        }
        line
    };
    (0..clocks).map(way).collect()
}
