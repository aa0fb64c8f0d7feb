//! From the lines of pairs to one line for each clock, to the reference of its island.
//!
//! LTTV's reduction "accuracy": shortest paths by the accuracies of pairs (Floyd 1962, Warshall 1962), the
//! clock that is nearest to all others is the reference, and factors are multiplied along the paths: along
//! the paths, which the original does not. Trace Compass takes a breadth-first tree from the host whose name
//! is first. Used by [`super::solve`].

use super::line::Line;
use super::{Method, PairResult, Request};

/// Extra decimal places of chained lines.
const GUARD: u32 = 40;

/// The line of one clock.
#[derive(Debug, Clone, PartialEq)]
pub struct ClockLine {
    /// The reference of its island.
    pub reference: usize,
    /// The next clock on the way there; `None` for the reference itself.
    pub predecessor: Option<usize>,
    /// Time of the reference by that of the clock.
    pub line: Line,
}

/// Distances between all clocks, and the first step of each way.
struct Distances {
    clocks: usize,
    /// By (from, to).
    distance: Vec<f64>,
    /// By (root, clock): the next clock on the way from the clock to the root.
    next: Vec<Option<usize>>,
}

/// The lines of all clocks.
pub(super) fn reduced(request: &Request<'_>, pairs: &[PairResult]) -> Vec<ClockLine> {
    let clocks = request.order.len();
    let distances = Distances::new(clocks, request.method, pairs);
    let mut lines: Vec<Option<ClockLine>> = vec![None; clocks];
    for &first in request.order {
        if lines[first].is_some() {
            continue;
        }
        let island: Vec<usize> =
            request.order.iter().copied().filter(|&c| distances.reaches(first, c)).collect();
        let reference = match request.reference.filter(|asked| island.contains(asked)) {
            Some(asked) => asked,
            None if request.method == Method::TraceCompass => first,
            None => distances.nearest_to_all(&island).unwrap_or(first),
        };
        for clock in island {
            chain(&distances, pairs, reference, clock, request.digits + GUARD, &mut lines);
        }
    }
    let alone = |(clock, line): (usize, Option<ClockLine>)| {
        line.unwrap_or_else(|| ClockLine { reference: clock, predecessor: None, line: Line::identity() })
    };
    lines.into_iter().enumerate().map(alone).collect()
}

/// Fills in the line of a clock and of those between it and the reference.
fn chain(
    distances: &Distances,
    pairs: &[PairResult],
    reference: usize,
    clock: usize,
    places: u32,
    lines: &mut [Option<ClockLine>],
) {
    let mut path = Vec::new();
    let mut at = clock;
    while lines[at].is_none() && at != reference {
        path.push(at);
        // A clock that is not reached is in no way.
        let Some(next) = distances.next(reference, at) else { return };
        at = next;
    }
    let known = lines[at].get_or_insert_with(|| ClockLine {
        reference: at,
        predecessor: None,
        line: Line::identity(),
    });
    let mut line = known.line.clone();
    for clock in path.into_iter().rev() {
        let predecessor = distances.next(reference, clock).unwrap_or(reference);
        let Some(step) = step(pairs, clock, predecessor) else { return };
        // Of a single step the coefficients are exact.
        line = match line == Line::identity() {
            true => step,
            false => step.then(&line).rounded(places),
        };
        lines[clock] = Some(ClockLine { reference, predecessor: Some(predecessor), line: line.clone() });
    }
}

/// The time of one clock by that of another, from the line of their pair.
fn step(pairs: &[PairResult], from: usize, to: usize) -> Option<Line> {
    pairs.iter().find_map(|pair| match (pair.x == from && pair.y == to, pair.x == to && pair.y == from) {
        (true, _) => pair.found.line.clone(),
        (_, true) => pair.found.line.as_ref()?.inverse(),
        _ => None,
    })
}

impl Distances {
    fn new(clocks: usize, method: Method, pairs: &[PairResult]) -> Self {
        let mut distances = Self {
            clocks,
            distance: vec![f64::INFINITY; clocks * clocks],
            next: vec![None; clocks * clocks],
        };
        (0..clocks).for_each(|clock| distances.distance[clock * clocks + clock] = 0.0);
        for pair in pairs {
            // What cannot be turned round ties nothing.
            let Some(accuracy) = pair.found.accuracy.filter(|_| is_usable(pair)) else { continue };
            let distance = if method == Method::TraceCompass { 1.0 } else { accuracy };
            for (from, to) in [(pair.x, pair.y), (pair.y, pair.x)] {
                distances.distance[from * clocks + to] = distance;
                distances.next[from * clocks + to] = Some(from);
            }
        }
        for by in 0..clocks {
            for from in 0..clocks {
                let first = distances.distance[from * clocks + by];
                if first == f64::INFINITY {
                    continue;
                }
                for to in 0..clocks {
                    let around = first + distances.distance[by * clocks + to];
                    if around < distances.distance[from * clocks + to] {
                        distances.distance[from * clocks + to] = around;
                        distances.next[from * clocks + to] = distances.next[by * clocks + to];
                    }
                }
            }
        }
        distances
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        self.distance[from * self.clocks + to] < f64::INFINITY
    }

    /// The next clock on the way from a clock to the root.
    fn next(&self, root: usize, clock: usize) -> Option<usize> {
        self.next[root * self.clocks + clock]
    }

    /// The clock of an island whose distances to all others have the least sum.
    fn nearest_to_all(&self, island: &[usize]) -> Option<usize> {
        let sum = |&from: &usize| island.iter().map(|to| self.distance[from * self.clocks + to]).sum::<f64>();
        island.iter().copied().min_by(|a, b| sum(a).total_cmp(&sum(b)).then(a.cmp(b)))
    }
}

fn is_usable(pair: &PairResult) -> bool {
    pair.found.line.as_ref().is_some_and(|line| line.inverse().is_some())
}
