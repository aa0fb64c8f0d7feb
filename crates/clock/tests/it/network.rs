//! Networks with known truth: the truth is in the interval, no message is inverted, and the estimate is good.

use crate::common::{Cluster, Lcg};
use isochrone_clock::{
    BreakKind, Corridor, Interval, LinkData, LinkQuality, Network, Point, Refusal, Side, Solution, Span,
    solve,
};

/// Largest error and largest half width over the run; panics where the truth is outside the interval.
fn check_against_truth(cluster: &Cluster, solution: &Solution) -> (i64, i64) {
    let (mut error, mut width) = (0, 0);
    for island in &solution.islands {
        for &clock in &island.clocks {
            for step in 0..=50 {
                let t = cluster.duration / 50 * step;
                let (raw, truth) = (cluster.local(clock, t), cluster.local(island.reference, t));
                let (lo, hi, e95) = solution.intervals[clock].at(raw).expect("inside the span");
                let estimate = solution.corrections[clock].apply(raw);
                // Two clocks read at the same instant are each rounded down.
                assert!(lo - 1 <= truth && truth <= hi + 1, "clock {clock}: {lo} {truth} {hi}");
                assert!(lo - 2 <= estimate && estimate <= hi + 2, "clock {clock}: {lo} {estimate} {hi}");
                assert!(e95 <= (hi - estimate).max(estimate - lo));
                error = error.max((estimate - truth).abs());
                width = width.max((hi - lo) / 2);
            }
        }
    }
    (error, width)
}

fn assert_nothing_inverted(solution: &Solution) {
    for link in &solution.links {
        assert_eq!(link.inversions, Some(0), "link {}-{}", link.a, link.b);
    }
}

#[test]
fn random_clusters() {
    let mut rng = Lcg(7);
    let (mut errors, mut widths) = (0.0, 0.0);
    for seed in 0..150 {
        let clocks = 2 + rng.below(7) as usize;
        let mut cluster = Cluster::new(clocks, 60_000_000_000 + rng.below(600_000_000_000) as i64, seed);
        let mut network = cluster.network();
        for b in 1..clocks {
            // A random tree first, so that all are tied, then some more links.
            let a = rng.below(b as u64) as usize;
            network.links.push(cluster.talk(a, b, 300));
        }
        for _ in 0..rng.below(2 * clocks as u64) {
            let (a, b) = (rng.below(clocks as u64) as usize, rng.below(clocks as u64) as usize);
            if a != b {
                network.links.push(cluster.talk(a.min(b), a.max(b), 100 + rng.below(400) as usize));
            }
        }
        let solution = solve(network).expect("a sound network");
        assert_eq!(solution.islands.len(), 1);
        assert!(solution.links.iter().all(|l| l.quality == LinkQuality::Accurate && !l.prior_contradicted));
        let (error, width) = check_against_truth(&cluster, &solution);
        assert_nothing_inverted(&solution);
        assert!(error < width / 10, "seed {seed}: error {error}, half width {width}");
        errors += error as f64;
        widths += width as f64;
    }
    assert!(errors < widths / 100.0, "errors {errors}, half widths {widths}");
}

#[test]
fn a_chain_of_four() {
    let mut cluster = Cluster::new(4, 100_000_000_000, 4);
    let mut network = cluster.network();
    for a in 0..3 {
        network.links.push(cluster.talk(a, a + 1, 500));
    }
    let solution = solve(network.clone()).expect("a sound network");
    check_against_truth(&cluster, &solution);
    assert_nothing_inverted(&solution);
    assert!([1, 2].contains(&solution.islands[0].reference));

    network.reference = Some(3);
    let solution = solve(network.clone()).expect("a sound network");
    assert_eq!(solution.islands[0].reference, 3);
    assert_eq!(solution.path, vec![Some(1), Some(2), Some(3), None]);
    check_against_truth(&cluster, &solution);
    // Farther is less certain.
    let worst = |interval: &Interval| interval.rows().iter().map(|row| row.hi - row.lo).max().unwrap();
    let widths: Vec<i64> = solution.intervals.iter().map(worst).collect();
    assert!(widths.is_sorted_by(|a, b| a > b), "{widths:?}");
    let (begin, end) = (network.clocks[3].begin, network.clocks[3].end);
    let rows: Vec<_> = solution.intervals[3].rows().iter().map(|r| (r.raw, r.lo, r.hi, r.e95)).collect();
    assert_eq!(rows, vec![(begin, begin, begin, 0), (end, end, end, 0)]);
}

#[test]
fn islands_have_their_own_references() {
    let mut cluster = Cluster::new(5, 100_000_000_000, 5);
    let mut network = cluster.network();
    network.links = vec![cluster.talk(0, 3, 200), cluster.talk(1, 4, 200)];
    network.reference = Some(4);
    let solution = solve(network).expect("a sound network");
    let members: Vec<_> = solution.islands.iter().map(|i| (i.reference, i.clocks.clone())).collect();
    assert_eq!(members, vec![(0, vec![0, 3]), (4, vec![1, 4]), (2, vec![2])]);
    assert_eq!(solution.corrections[2].apply(12_345), 12_345);
    check_against_truth(&cluster, &solution);
}

#[test]
fn one_direction_ties_nothing() {
    let cluster = Cluster::new(2, 1_000_000_000, 6);
    let mut network = cluster.network();
    let mut corridor = Corridor::new();
    corridor.a_to_b(cluster.local(0, 5), cluster.local(1, 60_005)).expect("in range");
    network.links.push(LinkData { a: 0, b: 1, corridor });
    let solution = solve(network).expect("a sound network");
    assert_eq!(solution.links[0].quality, LinkQuality::OneWay);
    assert_eq!((solution.islands.len(), solution.links[0].inversions), (2, None));
}

#[test]
fn order_does_not_matter() {
    let mut cluster = Cluster::new(6, 300_000_000_000, 8);
    let mut network = cluster.network();
    for (a, b) in [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5), (1, 4), (0, 1), (2, 5)] {
        network.links.push(cluster.talk(a, b, 150));
    }
    let expected = solve(network.clone()).expect("a sound network");
    for turn in 0..9 {
        network.links.rotate_left(1 + turn);
        assert_eq!(solve(network.clone()).expect("a sound network"), expected);
    }
}

#[test]
fn a_fast_guest_wins_over_the_prior() {
    // One host at 4.1 times the speed of the other.
    let mut corridor = Corridor::new();
    for t in (0..1_000_000_000i64).step_by(10_000_000) {
        corridor.a_to_b(t, (t + 60_000) * 41 / 10).expect("in range");
        corridor.b_to_a(t * 41 / 10, t + 60_000).expect("in range");
    }
    let mut network =
        Network::new(vec![Span { begin: 0, end: 1_000_000_000 }, Span { begin: 0, end: 4_100_000_000 }]);
    network.links.push(LinkData { a: 0, b: 1, corridor });
    network.reference = Some(0);
    let solution = solve(network).expect("a sound network");
    let link = &solution.links[0];
    assert!(link.prior_contradicted && link.quality == LinkQuality::Accurate && link.inversions == Some(0));
    assert!((solution.corrections[1].apply(2_050_000_000) - 500_000_000).abs() < 1000);
}

#[test]
fn contradictions_are_approximated_or_refused() {
    let mut cluster = Cluster::new(3, 100_000_000_000, 9);
    let mut network = cluster.network();
    network.links = vec![cluster.talk(0, 1, 200), cluster.talk(0, 2, 200), cluster.talk(1, 2, 200)];
    // An answer from the past: it is named and left out, and nothing else changes.
    let clean = solve(network.clone()).expect("a sound network");
    let (x, y) = (cluster.local(1, 50_000_000_000), cluster.local(2, 50_000_000_000));
    network.links[2].corridor.a_to_b(x, y - 1_000_000).expect("in range");
    let solution = solve(network.clone()).expect("a network");
    let link = &solution.links[2];
    let named: Vec<_> = link.suspects.iter().map(|s| (s.side, s.point)).collect();
    assert_eq!(named, [(Side::Upper, Point::new(x, y - 1_000_000).expect("in range"))]);
    assert_eq!((&link.quality, link.inversions), (&LinkQuality::Accurate, Some(0)));
    check_against_truth(&cluster, &solution);
    assert_eq!(solution.islands, clean.islands);

    // Answers from the past now and then: no clock explains them. The others still tie all three.
    for i in 0..40 {
        let t = 2_000_000_000 * i + 1_000_000_000;
        let (x, y) = (cluster.local(1, t), cluster.local(2, t));
        network.links[2].corridor.a_to_b(x, y - 1_000_000 * (1 + i % 7)).expect("in range");
    }
    let solution = solve(network.clone()).expect("a network");
    let refused = &solution.links[2];
    let why = Refusal::Contradiction(refused.corridor.rates().expect_err("they contradict each other"));
    assert_eq!(refused.quality, LinkQuality::Refused { why });
    assert!(solution.islands.len() == 1 && refused.inversions > Some(10), "{:?}", refused.inversions);
    check_against_truth(&cluster, &solution);

    // Few messages: tied all the same, and the error is of the order of the violation.
    let mut network = cluster.network();
    let mut link = cluster.talk(0, 1, 3);
    let (x, y) = (cluster.local(0, 50_000_000_000), cluster.local(1, 50_000_000_000));
    link.corridor.a_to_b(x, y - 2_000_000).expect("in range");
    network.links.push(link);
    let solution = solve(network).expect("a network");
    let LinkQuality::Approximate { violation_ns } = solution.links[0].quality.clone() else {
        panic!("{:?}", solution.links[0].quality)
    };
    assert!(violation_ns > 0 && violation_ns < 2_000_000);
    assert!(solution.islands.len() == 2 && solution.links[0].inversions > Some(0));
    let reference = solution.islands[0].reference;
    let clock = 1 - reference;
    let t = 50_000_000_000;
    let error = solution.corrections[clock].apply(cluster.local(clock, t)) - cluster.local(reference, t);
    assert!(error.abs() < 3_000_000, "{error}");
}

#[test]
fn short_spans_and_single_messages() {
    let mut corridor = Corridor::new();
    corridor.a_to_b(100, 1_000_100).expect("in range");
    corridor.b_to_a(1_000_000, 100).expect("in range");
    let mut network =
        Network::new(vec![Span { begin: 100, end: 100 }, Span { begin: 1_000_000, end: 1_000_100 }]);
    network.links.push(LinkData { a: 0, b: 1, corridor });
    let solution = solve(network).expect("a sound network");
    assert_eq!(solution.links[0].quality, LinkQuality::Incomplete);
    assert_eq!(solution.links[0].inversions, Some(0));
    // The rate of a span too short to carry one is still a believable rate.
    for correction in &solution.corrections {
        assert!(correction.rate_after().ppm().abs() <= 501.0, "{correction:?}");
    }
}

#[test]
fn nonsense_is_refused_politely() {
    let span = Span { begin: 0, end: 10 };
    assert!(solve(Network::new(vec![Span { begin: 1, end: 0 }])).is_err());
    assert!(solve(Network::new(vec![Span { begin: i64::MIN, end: 0 }])).is_err());
    let link = |a, b| LinkData { a, b, corridor: Corridor::new() };
    for (a, b) in [(0, 0), (0, 7), (1, 0)] {
        let mut network = Network::new(vec![span, span]);
        network.links.push(link(a, b));
        assert!(solve(network).is_err());
    }
    let mut network = Network::new(vec![span]);
    network.reference = Some(1);
    assert!(solve(network).is_err());
    let empty = solve(Network::new(vec![])).expect("nothing to do");
    assert!(empty.islands.is_empty());
    let mut network = Network::new(vec![span, span]);
    network.links.push(link(0, 1));
    assert_eq!(solve(network).expect("a network").links[0].quality, LinkQuality::Absent);
}

#[test]
fn extreme_times_do_not_panic() {
    let m = isochrone_clock::MAX_ABS_NS;
    let mut corridor = Corridor::new();
    for (x, y) in [(-m, m), (m, m), (0, m - 5), (m, -m + 1)] {
        corridor.a_to_b(x, y).expect("in range");
        corridor.b_to_a(-y, -x).expect("in range");
    }
    let span = Span { begin: -m, end: m };
    let mut network = Network::new(vec![span, span, span]);
    network.links = vec![
        LinkData { a: 0, b: 1, corridor: corridor.clone() },
        LinkData { a: 1, b: 2, corridor: corridor.mirrored() },
    ];
    for prior_ppm in [0, 500, u32::MAX] {
        network.model.prior_ppm = prior_ppm;
        let solution = solve(network.clone()).expect("in range");
        assert_eq!(solution.corrections.len(), 3);
    }
}

/// Links between three clocks over 100 s, of which the third shows what `third` says: a link with the first all the time, with
/// the second for the first `seconds` only.
fn third_clock_misbehaves(third: impl Fn(i64) -> i64, seconds: i64) -> (Network, Vec<Span>) {
    const S: i64 = 1_000_000_000;
    let local = |clock: usize, t: i64| match clock {
        0 => t,
        1 => t + t / 40_000 + 5 * S,
        _ => third(t),
    };
    let mut rng = Lcg(11);
    let mut talk = |a: usize, b: usize, until: i64, count: usize| {
        let mut corridor = Corridor::new();
        for _ in 0..count {
            let t = rng.below((until * S) as u64) as i64;
            let mut delay = || 50_000 + rng.below(200_000) as i64;
            let there = t + delay();
            let back = there + delay();
            corridor.a_to_b(local(a, t), local(b, there)).expect("in range");
            corridor.b_to_a(local(b, there), local(a, back)).expect("in range");
        }
        LinkData { a, b, corridor }
    };
    let spans: Vec<Span> =
        (0..3).map(|c| Span { begin: local(c, 0), end: local(c, 100 * S + 1_000_000) }).collect();
    let mut network = Network::new(spans.clone());
    network.links = vec![talk(0, 1, 100, 2000), talk(0, 2, 100, 2000), talk(1, 2, seconds, 12)];
    network.reference = Some(1);
    let solution = solve(network.clone()).expect("a network");
    assert_eq!((solution.islands.len(), &solution.contradictions), (1, &Vec::new()));
    for clock in [0, 2] {
        for step in 0..=200 {
            let t = 100 * S / 200 * step;
            let (raw, truth) = (local(clock, t), local(1, t));
            let (lo, hi, _) = solution.intervals[clock].at(raw).expect("inside the span");
            assert!(lo - 1 <= truth && truth <= hi + 1, "clock {clock} at {t}: {lo} {truth} {hi}");
            let far = (t - 50 * S).abs() > S;
            assert!(!far || hi - lo < 400_000, "clock {clock} at {t}: {lo} … {hi}");
        }
    }
    (network, spans)
}

#[test]
fn what_one_link_shows_of_a_clock_holds_for_its_others() {
    const S: i64 = 1_000_000_000;
    // Set by 3 ms after 50 s: the few messages with the second clock, all before, do not show it.
    let stepped = |t: i64| t - t / 30_000 + 9 * S + if t > 50 * S { 3_000_000 } else { 0 };
    let (network, _) = third_clock_misbehaves(stepped, 40);
    let solution = solve(network).expect("a network");
    let [found] = &solution.breaks[2][..] else { panic!("{:?}", solution.breaks) };
    assert!(found.kind == BreakKind::Step && (found.size_ns - 3_000_000).abs() < 20_000, "{found:?}");
    assert!(found.raw.begin <= stepped(50 * S) && stepped(50 * S) <= found.raw.end);
    assert!(solution.breaks[..2].iter().all(Vec::is_empty));
    // Slewed by 20 ppm from 50 s on.
    let slewed = |t: i64| t - t / 30_000 + 9 * S + (t - 50 * S).max(0) / 50_000;
    let (network, _) = third_clock_misbehaves(slewed, 100);
    let solution = solve(network).expect("a network");
    let of = |a: usize, b: usize| solution.links.iter().find(|l| (l.a, l.b) == (a, b)).expect("a link");
    assert!(of(0, 2).wander_ppm > 5.0 && of(0, 1).wander_ppm < 0.2);
    assert_eq!(of(1, 2).wander_ppm.to_bits(), of(0, 2).wander_ppm.to_bits());
    let slews: Vec<_> = solution.breaks[2].iter().filter(|b| b.kind == BreakKind::Slew).collect();
    assert!(!slews.is_empty() && slews.iter().map(|b| b.size_ppm).sum::<f64>() > 15.0, "{slews:?}");
}

/// Links between all pairs of true clocks, by the least delay of each.
fn all_pairs(clocks: usize, delay: impl Fn(usize, usize) -> i64) -> Network {
    const S: i64 = 1_000_000_000;
    let mut rng = Lcg(3);
    let mut network = Network::new(vec![Span { begin: 0, end: 10 * S }; clocks]);
    network.reference = Some(0);
    for a in 0..clocks {
        for b in a + 1..clocks {
            let mut corridor = Corridor::new();
            for _ in 0..30 {
                let t = rng.below(9 * S as u64) as i64;
                let mut way = || delay(a, b) + rng.below(1000) as i64;
                let there = t + way();
                corridor.a_to_b(t, there).expect("in range");
                corridor.b_to_a(there, there + way()).expect("in range");
            }
            network.links.push(LinkData { a, b, corridor });
        }
    }
    network
}

#[test]
fn many_improvements_are_no_contradiction() {
    // The more links a way has, the tighter it is: every clock is improved again and again.
    for clocks in [5, 8, 12] {
        let network = all_pairs(clocks, |a, b| ((b - a) * (b - a)) as i64 * 50_000);
        let solution = solve(network).expect("a sound network");
        assert_eq!((solution.islands.len(), &solution.contradictions), (1, &Vec::new()));
        for clock in 1..clocks {
            for t in (0..=10_000_000_000).step_by(500_000_000) {
                let (lo, hi, _) = solution.intervals[clock].at(t).expect("inside the span");
                assert!(lo <= t && t <= hi, "clock {clock}: {lo} {t} {hi}");
                // Along the chain of neighbours, of which each way takes 50 µs and up to 1 µs more; wider at the ends, where
                // no message is.
                let inside = (1_000_000_000..8_000_000_000).contains(&t);
                assert!(!inside || hi - lo < 110_000 * clock as i64, "clock {clock}: {}", hi - lo);
            }
        }
    }
}

#[test]
fn a_loop_that_contradicts_itself_is_named() {
    let mut network = all_pairs(3, |_, _| 20_000);
    // Each link is possible by itself; around the triangle the offsets do not add up.
    let mut shifted = Corridor::new();
    for p in network.links[2].corridor.points(Side::Upper) {
        shifted.a_to_b(p.x(), p.y() + 1_000_000).expect("in range");
    }
    for p in network.links[2].corridor.points(Side::Lower) {
        shifted.b_to_a(p.y() + 1_000_000, p.x()).expect("in range");
    }
    network.links[2].corridor = shifted;
    let solution = solve(network).expect("a network");
    let mut named = solution.contradictions.clone();
    for clocks in &mut named {
        clocks.sort_unstable();
    }
    assert_eq!(named, [vec![0, 1, 2]]);
    let refused = solution.links.iter().filter(|l| matches!(l.quality, LinkQuality::Refused { .. }));
    assert_eq!((refused.count(), solution.islands.len()), (1, 1));
}
