//! Messages that hulls hide: whether corrections that bend within a window can invert one.
//!
//! Both corrections of a link make one piecewise linear relation f between its clocks. The upper messages of
//! a window all lie on or above their lower convex chain H, so that none is inverted if f ≤ H over the
//! window. f − H is piecewise linear plus concave: its greatest value is at a vertex of H or where f bends.
//! The vertices are messages themselves ([`crate::link`]); here f is held against the edges where it bends.
//! It matters for links with more messages than are listed (`crate::geometry::listed`).

use crate::correction::Correction;
use crate::exact::{ceil_div, floor_div};
use crate::geometry::{Point, Side, Window};

/// A message in place of those that an edge hides, and how many these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exposed {
    pub(crate) side: Side,
    /// On the edge, rounded toward the relation: if this one is not inverted, the edge is not crossed here.
    pub(crate) point: Point,
}

/// Where corrections of a and b cross edges of hulls that hide messages, and how many messages these hide;
/// times are compared as whole ns, and a crossing by one is none. O(w + k·log k) for k knots.
pub(crate) fn exposed(windows: &[Window], a: &Correction, b: &Correction) -> (Vec<Exposed>, u64) {
    let bends = Side::BOTH.map(|side| bends(a, b, side));
    let (mut found, mut messages) = (Vec::new(), 0);
    for window in windows {
        for (side, bends) in Side::BOTH.into_iter().zip(&bends) {
            let flow = window.flow(side);
            let vertices = flow.hull.vertices();
            let hidden = flow.count.saturating_sub(vertices.len() as u64);
            let ([first, .., last], 1..) = (vertices, hidden) else { continue };
            let from = bends.partition_point(|bend| bend.0 <= first.x());
            let before = found.len();
            for &(x, y) in bends[from..].iter().take_while(|bend| bend.0 < last.x()) {
                let right = vertices.partition_point(|v| v.x() < x);
                let (left, right) = (vertices[right - 1], vertices[right]);
                let rise = (right.y() as i128 - left.y() as i128) * (x - left.x()) as i128;
                let run = (right.x() - left.x()) as i128;
                let (edge, is_crossed) = match side {
                    Side::Upper => {
                        let edge = left.y() as i128 + floor_div(rise, run);
                        (edge, y as i128 > edge + 1)
                    }
                    Side::Lower => {
                        let edge = left.y() as i128 + ceil_div(rise, run);
                        (edge, (y as i128) < edge - 1)
                    }
                };
                // Between two times of vertices.
                if let Some(point) = is_crossed.then(|| Point::new(x, edge as i64).ok()).flatten() {
                    found.push(Exposed { side, point });
                }
            }
            if found.len() > before {
                messages += hidden;
            }
        }
    }
    (found, messages)
}

/// Where the relation of two corrections bends, by x: with y the least (for upper messages) or the greatest
/// that is not inverted.
fn bends(a: &Correction, b: &Correction, side: Side) -> Vec<(i64, i64)> {
    let least = |correction: &Correction, t: i64| correction.invert(t.saturating_sub(1)).saturating_add(1);
    let of_a = a.knots().iter().map(|&(x, t)| match side {
        Side::Upper => (x, least(b, t)),
        Side::Lower => (x, b.invert(t)),
    });
    let of_b = b.knots().iter().map(|&(y, t)| match side {
        Side::Upper => (a.invert(t), y),
        Side::Lower => (least(a, t), y),
    });
    let mut all: Vec<(i64, i64)> = of_a.chain(of_b).collect();
    all.sort_unstable();
    all
}
