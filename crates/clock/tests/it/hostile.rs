//! Networks made of arbitrary messages: nothing panics, nothing is refused that is in range, and what is
//! promised holds.

use isochrone_clock::{
    Assumptions, Corridor, LinkData, LinkQuality, MAX_ABS_NS, Model, Network, Regime, Span, Steering, solve,
};
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

/// Any regimes at any times, known changes that meet and touch, or none at all.
fn assumptions() -> impl Strategy<Value = Assumptions> {
    let steering = prop_oneof![
        Just(Steering::Free),
        Just(Steering::Stepwise),
        Just(Steering::Unknown),
        prop_oneof![Just(0u32), 0u32..1000, Just(60_000), any::<u32>()]
            .prop_map(|ppm| Steering::Steered { ppm }),
    ];
    let regimes = prop::collection::vec((times(), steering), 1..5);
    let length = prop_oneof![Just(0i64), 0i64..1000, 0i64..1_000_000_000, any::<i64>()];
    let changes = prop::collection::vec((times(), length), 0..6);
    (regimes, changes).prop_map(|(mut regimes, changes)| {
        regimes.sort_by_key(|r| r.0);
        regimes.dedup_by_key(|r| r.0);
        let regimes = regimes.into_iter().map(|(from, steering)| Regime { from, steering }).collect();
        let span = |(begin, length): (i64, i64)| Span {
            begin,
            end: begin.saturating_add(length.saturating_abs()).clamp(begin, MAX_ABS_NS),
        };
        Assumptions::new(regimes, changes.into_iter().map(span).collect()).expect("in range")
    })
}

fn networks() -> impl Strategy<Value = Network> {
    let span = (times(), times()).prop_map(|(s, t)| Span { begin: s.min(t), end: s.max(t) });
    let spans = prop::collection::vec(span, 1..6);
    let links = prop::collection::vec((0usize..6, 0usize..6, corridors()), 0..9);
    let prior = prop_oneof![Just(0u32), Just(500), Just(100_000), any::<u32>()];
    let assumed = prop_oneof![
        1 => Just(Vec::new()),
        2 => prop::collection::vec(assumptions(), 0..6),
    ];
    let reference = prop::option::of(0usize..6);
    (spans, links, prior, reference, assumed).prop_map(
        |(clocks, links, prior_ppm, reference, mut assumed)| {
            assumed.truncate(clocks.len());
            let n = clocks.len();
            let links = links.into_iter().map(|(a, b, corridor)| (a % n, b % n, corridor));
            let link = |(a, b, corridor): (usize, usize, _)| LinkData { a: a.min(b), b: a.max(b), corridor };
            let links = links.map(link).filter(|l| l.a != l.b).collect();
            Network {
                clocks,
                links,
                model: Model { prior_ppm, ..Model::default() },
                assumptions: assumed,
                reference: reference.map(|r| r % n),
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_promised_holds(mut network in networks()) {
        let solution = solve(network.clone()).expect("in range");
        let clocks = network.clocks.len();
        prop_assert_eq!(solution.islands.iter().map(|i| i.clocks.len()).sum::<usize>(), clocks);
        for clock in 0..clocks {
            let rows = solution.intervals[clock].rows();
            for row in rows {
                let estimate = solution.corrections[clock].apply(row.raw);
                prop_assert!(row.lo <= estimate && estimate <= row.hi);
            }
            // What the artefact is refused for.
            prop_assert!(rows.is_sorted_by(|a, b| a.raw < b.raw && a.lo <= b.lo && a.hi <= b.hi));
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
        prop_assert_eq!(solve(network).expect("in range"), solution);
    }
}
