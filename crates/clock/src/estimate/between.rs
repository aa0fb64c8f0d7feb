//! The estimate where no stretch of a clock is straight: between the instants at which the bounds say most.
//!
//! Messages pinch the bounds; between them these widen by all that is assumed possible, often at one side
//! only, while the clock itself continues about as before. So the middle of the bounds counts where they are
//! narrower than what lies between the instants that are known better, taking the rate to differ by `wander`
//! there; elsewhere the estimate is the line between these, inside of the bounds. Statistics, as all of
//! [`crate::estimate::combine`].

use std::collections::BTreeMap;

/// An instant of the estimate, by the clock of a and the clock of b.
pub(crate) struct Node {
    pub(crate) x: i64,
    pub(crate) y: i64,
    /// Variance of y, ns².
    pub(crate) variance: f64,
    /// Guaranteed bounds of y; `None` at an open side.
    pub(crate) bounds: (Option<i64>, Option<i64>),
    /// Whether a straight stretch says y; else y is the middle of the bounds.
    pub(crate) is_known: bool,
    /// Whether the rate may be far from the nominal one there: the clock may be slewed, set or stopped.
    pub(crate) may_leap: bool,
}

impl Node {
    /// Half of what the guarantee leaves; infinite if a side is open.
    pub(crate) fn half(&self) -> f64 {
        let (lo, hi) = self.bounds;
        lo.zip(hi).map_or(f64::INFINITY, |(lo, hi)| (hi as i128 - lo as i128) as f64 / 2.0)
    }

    pub(crate) fn clamped(&self, y: i64) -> i64 {
        self.bounds.0.zip(self.bounds.1).map_or(y, |(lo, hi)| y.clamp(lo, hi))
    }
}

/// Puts the nodes that no stretch knows, in the order of x, on lines between those that say most, or beyond
/// the last two of these. n log n, but for what it takes to find these two.
pub(crate) fn fill_unknown(nodes: &mut [Node], wander: f64) {
    // By index, how far y may be off.
    let mut errors: BTreeMap<usize, f64> = BTreeMap::new();
    errors.extend(nodes.iter().enumerate().filter(|(_, n)| n.is_known).map(|(i, n)| (i, n.variance.sqrt())));
    // Where a clock may leap, no line from elsewhere says anything.
    errors.extend(
        nodes.iter().enumerate().filter(|(_, n)| !n.is_known && n.may_leap).map(|(i, n)| (i, n.half())),
    );
    let mut unknown: Vec<usize> = (0..nodes.len()).filter(|&i| !errors.contains_key(&i)).collect();
    unknown.sort_by(|&a, &b| nodes[a].half().total_cmp(&nodes[b].half()));
    for &at in &unknown {
        let half = nodes[at].half();
        if line(nodes, &errors, at, wander).is_none_or(|line| half <= line.error) {
            errors.insert(at, half);
        }
    }
    for at in unknown {
        if errors.contains_key(&at) {
            continue;
        }
        if let Some(line) = line(nodes, &errors, at, wander) {
            let y = i64::try_from(nodes[at].x as i128 + line.ahead).unwrap_or(nodes[at].y);
            nodes[at].y = nodes[at].clamped(y);
        }
    }
}

/// The line through two nodes at another one.
struct Line {
    /// Time of b minus time of a there, ns.
    ahead: i128,
    error: f64,
}

/// The line of the two nodes around one among those that `errors` holds, or of two before or after it, the
/// farther one as far from the nearer as that is from `at`; `None` without such two.
fn line(nodes: &[Node], errors: &BTreeMap<usize, f64>, at: usize, wander: f64) -> Option<Line> {
    let apart = |i: usize, j: usize| nodes[i].x.abs_diff(nodes[j].x) as f64;
    let (before, after) = (errors.range(..at).next_back(), errors.range(at..).next());
    let far = |near: usize| {
        let is_far = |&(&i, _): &(&usize, &f64)| apart(i, near) >= apart(near, at);
        if near < at {
            errors.range(..near).rev().find(is_far)
        } else {
            errors.range(near + 1..).find(is_far)
        }
    };
    let (near, far) = match (before, after) {
        (Some(before), Some(after)) => (before, after),
        (one, other) => {
            let near = one.or(other)?;
            (near, far(*near.0)?)
        }
    };
    let ((&i, &own), (&j, &other)) = (near, far);
    let sign = if (at < i) == (j < i) { 1.0 } else { -1.0 };
    let part = sign * apart(i, at) / apart(i, j);
    // Of the difference to the rate 1, which a float holds.
    let ahead = |i: usize| nodes[i].y as i128 - nodes[i].x as i128;
    let between = ahead(i) + ((ahead(j) - ahead(i)) as f64 * part).round() as i128;
    let (error, farthest) = match part > 0.0 {
        true => (own + (other - own) * part, apart(i, at).min(apart(j, at))),
        // The rate may have changed on the way from the one to the other, and again since.
        false => (own + (own + other) * -part, 2.0 * apart(i, at)),
    };
    Some(Line { ahead: between, error: error + wander * farthest })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever widens between messages, a clock whose rate stays within what is taken to be usual is met
        /// as well as the messages next to it say, at the ends too.
        #[test]
        fn lines_between_pinches(
            pinches in prop::collection::vec((1_000_i64..2_000, 0_i64..300, 0_i64..300), 3..40),
            rate in -100_i64..100,
        ) {
            let truth = |x: i64| x + x * rate / 1_000_000;
            let mut nodes = Vec::new();
            let mut begin = 0;
            for (length, above, below) in pinches {
                let length = length * 1_000_000;
                for part in 0..10 {
                    let x = begin + length * part / 10;
                    // ± 500 ppm to the nearer message, at either side as far as the other messages leave it.
                    let wide = part.min(10 - part) * length / 10 / 2_000;
                    let y = truth(x);
                    let bounds = (y - 50 - wide * below / 300, y + 50 + wide * above / 300);
                    let middle = bounds.0.midpoint(bounds.1);
                    nodes.push(Node { x, y: middle, variance: 0.0, bounds: (Some(bounds.0), Some(bounds.1)), is_known: false, may_leap: false });
                }
                begin += length;
            }
            fill_unknown(&mut nodes, 1e-9);
            for node in &nodes {
                prop_assert!(node.y.abs_diff(truth(node.x)) <= 160, "{} at {}", node.y - truth(node.x), node.x);
            }
        }
    }
}
