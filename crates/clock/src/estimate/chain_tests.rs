//! Chains and their margins against half hulls and enumeration.

use proptest::prelude::*;

use super::sample::DirectionSample;
use super::suspect::chain_without;
use super::suspect::position;
use crate::geometry::{HalfHull, Margin, Point, Side, Slope, SlopeRange, chain};

fn points(all: &[(i64, i64)]) -> Vec<Point> {
    all.iter().map(|&(x, y)| Point::new(x, y).unwrap()).collect()
}

/// The gap of a slope over all points, as a fraction.
fn gap(upper: &[Point], lower: &[Point], s: Slope) -> (i128, i128) {
    let cost = |p: &Point| p.y as i128 * s.dx() as i128 - s.dy() as i128 * p.x as i128;
    let above = upper.iter().map(cost).min().unwrap();
    (above - lower.iter().map(cost).max().unwrap(), s.dx() as i128)
}

#[test]
fn extremes_do_not_overflow() {
    let m = crate::MAX_ABS_NS;
    let band = SlopeRange::UNBOUNDED.closed().unwrap();
    let upper = chain(points(&[(-m, m), (0, -m), (m, m)]));
    let lower = chain(points(&[(-m, -m), (m, -m)]));
    let margin = Margin::of([&upper, &lower], band).unwrap();
    assert!(margin.gap().is_finite() && margin.is_contradictory());
    assert!(Margin::of([&upper, &[]], band).is_none());
}

proptest! {
    #[test]
    fn the_chain_is_the_half_hull(all in prop::collection::vec((-15i64..15, -15i64..15), 1..40)) {
        let floor = DirectionSample::of_all(points(&all));
        for side in Side::BOTH {
            let mut hull = HalfHull::new(side);
            for p in points(&all) {
                hull.insert(p);
            }
            let mut own = chain(floor.turned(side).into_iter().map(|k| k.point));
            if side == Side::Lower {
                own.reverse();
                own = own.into_iter().map(Point::reflected).collect();
            }
            prop_assert_eq!(&own[..], hull.vertices());
        }
    }

    #[test]
    fn without_a_vertex_it_is_the_chain_of_the_others(
        all in prop::collection::vec((-15i64..15, -15i64..15), 1..40),
        vertex in any::<prop::sample::Index>(),
    ) {
        let kept = DirectionSample::of_all(points(&all)).turned(Side::Upper);
        let whole = chain(kept.iter().map(|k| k.point));
        let vertex = vertex.index(whole.len());
        let mut others = kept.clone();
        others.remove(position(&kept, whole[vertex]));
        prop_assert_eq!(
            chain_without(&kept, &whole, vertex),
            chain(others.iter().map(|k| k.point))
        );
    }

    #[test]
    fn no_other_slope_has_a_greater_gap(
        upper in prop::collection::vec((-60i64..60, -60i64..60), 1..10),
        lower in prop::collection::vec((-60i64..60, -60i64..60), 1..10),
        ppm in prop_oneof![Just(500u32), Just(300_000), Just(2_000_000)],
    ) {
        let band = SlopeRange::prior(ppm).closed().unwrap();
        let (upper, lower) = (points(&upper), points(&lower));
        let [u, l] = [(&upper, Side::Upper), (&lower, Side::Lower)].map(|(p, side)| {
            chain(DirectionSample::of_all(p.clone()).turned(side).into_iter().map(|k| k.point))
        });
        let margin = Margin::of([&u, &l], band).unwrap();
        let best = gap(&upper, &lower, margin.slope);
        prop_assert_eq!((margin.scaled_gap, margin.slope.dx() as i128), best);
        for (dx, dy) in (1..40).flat_map(|dx| (1..60).map(move |dy| (dx, dy))) {
            let s = Slope::new(dy, dx).unwrap();
            if band.clamp(s) == s {
                let other = gap(&upper, &lower, s);
                prop_assert!(other.0 * best.1 <= best.0 * other.1, "{:?} beats {:?}", s, margin);
            }
        }
        // All that is said to be touched is.
        for (chain, (first, last)) in [&u, &l].into_iter().zip(margin.touched) {
            let cost = |p: Point| {
                p.y as i128 * margin.slope.dx() as i128 - margin.slope.dy() as i128 * p.x as i128
            };
            let least = chain.iter().map(|&p| cost(p)).min().unwrap();
            prop_assert_eq!((cost(chain[first]), cost(chain[last])), (least, least));
        }
    }
}
