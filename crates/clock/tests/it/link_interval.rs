//! The bounds of links over time: as tight as the corridor, never tighter, in few rows, and only where there are any.

use isochrone_clock::{
    Assumptions, Corridor, Interval, LinkData, Network, Regime, SlopeRange, Span, Steering, Wander, solve,
};

const S: i64 = 1_000_000_000;
const SPAN: Span = Span { begin: 0, end: 100 * S };

/// Messages each way every so often between clock 0, which is right, and clock 1, which shows `shown`; each takes 20 µs.
fn corridor(every: i64, shown: &dyn Fn(i64) -> i64) -> Corridor {
    let mut corridor = Corridor::new();
    for t in (0..SPAN.end).step_by(every as usize) {
        corridor.a_to_b(t, shown(t + 20_000)).unwrap();
        corridor.b_to_a(shown(t + 30_000), t + 50_000).unwrap();
    }
    corridor
}

fn network(corridor: Corridor, shown: &dyn Fn(i64) -> i64) -> Network {
    let own = Span { begin: shown(SPAN.begin), end: shown(SPAN.end) };
    Network { links: vec![LinkData { a: 0, b: 1, corridor }], ..Network::new(vec![SPAN, own]) }
}

fn interval(network: Network) -> Option<Interval> {
    solve(network).unwrap().links.remove(0).interval
}

/// At all rows and between: the truth is inside, and the interval no wider than `widest`.
fn check(interval: &Interval, shown: &dyn Fn(i64) -> i64, widest: i64) {
    let rows = interval.rows();
    assert!(rows.len() <= 512, "{} rows", rows.len());
    assert_eq!((rows[0].raw, rows[rows.len() - 1].raw), (SPAN.begin, SPAN.end));
    for x in (0..=10_000).map(|step| SPAN.end / 10_000 * step).chain(rows.iter().map(|row| row.raw)) {
        let (lo, hi, e95) = interval.at(x).unwrap();
        assert!(lo - 1 <= shown(x) && shown(x) <= hi + 1, "at {x}: {} in {lo} … {hi}", shown(x));
        assert!(hi - lo <= widest && e95 <= hi - lo, "at {x}: {lo} … {hi}, e95 {e95}");
    }
}

#[test]
fn rows_of_straight_clocks_hold_the_corridor() {
    // Also of one that is four times as fast, and of one that is four times as slow.
    for (rate_up, rate_down) in [(1_000_040, 1_000_000), (4, 1), (1, 4)] {
        let shown = |t: i64| 77 * S + (i128::from(t) * rate_up / rate_down) as i64;
        let network = network(corridor(S / 2, &shown), &shown);
        let link = network.links[0].corridor.clone();
        let found = interval(network).unwrap();
        let scale = (rate_up / rate_down).max(1) as i64;
        check(&found, &shown, 100_000 * scale);
        // The bounds of straight lines are the least that can be meant.
        let range = if rate_up > 1_000 { SlopeRange::prior(500) } else { SlopeRange::UNBOUNDED };
        let bounded = link.within(range, Wander::NONE).unwrap();
        for row in found.rows() {
            let (lo, hi) = (bounded.lo(row.raw).unwrap(), bounded.hi(row.raw).unwrap());
            assert!(row.lo <= lo && hi <= row.hi, "{row:?}: {lo} … {hi}");
        }
    }
}

#[test]
fn a_clock_that_was_set_is_anything_between_its_pieces_and_no_more() {
    let shown = |t: i64| t + if t >= 50 * S { 3_000_000 } else { 0 };
    let found = interval(network(corridor(S / 10, &shown), &shown)).unwrap();
    check(&found, &shown, 110_000_000);
}

#[test]
fn steered_clocks_have_no_more_rows_than_allowed() {
    // It swings by 200 ppm every 20 s.
    let shown = |t: i64| {
        let (turn, part) = (t / (20 * S), t % (20 * S));
        let swung = if turn % 2 == 0 { part } else { 20 * S - part };
        t + swung / 5_000
    };
    let mut network = network(corridor(S / 20, &shown), &shown);
    let steered = Regime { from: -(1 << 60), steering: Steering::Steered { ppm: 500 } };
    network.assumptions = vec![Assumptions::default(), Assumptions::new(vec![steered], Vec::new()).unwrap()];
    let found = interval(network).unwrap();
    // 500 ppm over half of the time between two messages, at either side.
    check(&found, &shown, 400_000);
    assert!(found.rows().len() > 50, "{} rows", found.rows().len());
}

#[test]
fn what_is_not_bounded_from_both_sides_has_no_rows() {
    let shown = |t: i64| t;
    let mut one_way = Corridor::new();
    one_way.a_to_b(0, 100).unwrap();
    one_way.a_to_b(S, S + 100).unwrap();
    for corridor in [one_way, Corridor::new()] {
        assert_eq!(interval(network(corridor, &shown)), None);
    }
}
