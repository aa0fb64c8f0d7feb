//! Networks made of arbitrary messages: nothing panics, nothing is refused that is in range, and what is
//! promised holds.

use isochrone_clock::{Corridor, LinkData, LinkQuality, MAX_ABS_NS, Model, Network, Span, solve};
use proptest::prelude::*;

fn times() -> impl Strategy<Value = i64> {
    prop_oneof![
        -50i64..50,
        -1_000_000_000_000i64..1_000_000_000_000,
        -MAX_ABS_NS..=MAX_ABS_NS,
        Just(MAX_ABS_NS),
        Just(-MAX_ABS_NS),
    ]
}

/// Messages around a relation with an offset, so that many corridors are feasible, and some wild ones.
fn corridors() -> impl Strategy<Value = Corridor> {
    let message = (any::<bool>(), -1_000_000i64..1_000_000, 0i64..1000);
    let near = (prop::collection::vec(message, 0..24), -1_000_000_000i64..1_000_000_000);
    let wild = prop::collection::vec((any::<bool>(), times(), times()), 0..3);
    (near, prop::option::weighted(0.2, wild)).prop_map(|((near, offset), wild)| {
        let mut corridor = Corridor::new();
        for (forth, t, delay) in near {
            let inserted = if forth {
                corridor.a_to_b(t, t + offset + delay)
            } else {
                corridor.b_to_a(t + offset, t + delay)
            };
            inserted.expect("in range");
        }
        for (forth, s, r) in wild.unwrap_or_default() {
            if forth { corridor.a_to_b(s, r) } else { corridor.b_to_a(s, r) }.expect("in range");
        }
        corridor
    })
}

fn networks() -> impl Strategy<Value = Network> {
    let span = (times(), times()).prop_map(|(s, t)| Span { begin: s.min(t), end: s.max(t) });
    let spans = prop::collection::vec(span, 1..6);
    let links = prop::collection::vec((0usize..6, 0usize..6, corridors()), 0..9);
    let prior = prop_oneof![Just(0u32), Just(500), Just(100_000), any::<u32>()];
    (spans, links, prior, prop::option::of(0usize..6)).prop_map(|(clocks, links, prior_ppm, reference)| {
        let n = clocks.len();
        let links = links.into_iter().map(|(a, b, corridor)| (a % n, b % n, corridor));
        let link = |(a, b, corridor): (usize, usize, _)| LinkData { a: a.min(b), b: a.max(b), corridor };
        let links = links.map(link).filter(|l| l.a != l.b).collect();
        Network {
            clocks,
            links,
            model: Model { prior_ppm, ..Model::default() },
            assumptions: Vec::new(),
            reference: reference.map(|r| r % n),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_promised_holds(mut network in networks()) {
        let solution = solve(&network).expect("in range");
        let clocks = network.clocks.len();
        prop_assert_eq!(solution.islands.iter().map(|i| i.clocks.len()).sum::<usize>(), clocks);
        for clock in 0..clocks {
            let rows = solution.intervals[clock].rows();
            for row in rows {
                let estimate = solution.corrections[clock].apply(row.raw);
                prop_assert!(row.lo <= estimate && estimate <= row.hi);
            }
            prop_assert!(rows[0].raw <= network.clocks[clock].begin);
            prop_assert!(rows[rows.len() - 1].raw >= network.clocks[clock].end);
        }
        for island in &solution.islands {
            for &clock in &island.clocks {
                let way = std::iter::successors(Some(clock), |&c| solution.path[c]);
                prop_assert_eq!(way.take(clocks + 1).last(), Some(island.reference));
            }
        }
        for link in &solution.links {
            let ties = matches!(
                link.quality,
                LinkQuality::Accurate | LinkQuality::Incomplete | LinkQuality::Approximate { .. }
            );
            prop_assert_eq!(link.half_width_ns.is_some(), ties);
            prop_assert!(!ties || link.is_severed || link.inversions.is_some());
        }
        network.links.reverse();
        prop_assert_eq!(solve(&network).expect("in range"), solution);
    }
}
