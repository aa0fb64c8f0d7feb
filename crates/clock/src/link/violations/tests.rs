//! Where a rate left its range: found, explained, and nothing found that is not there.

use super::*;
use crate::MAX_ABS_NS;
use crate::geometry::segments::tests::{Truth, UNIT};
use crate::geometry::{Rule, Segment, SegmentChain};
use proptest::prelude::*;

/// Rates stay within 500 ppm of 1.
const BY: f64 = 500e-6;
const USUAL: NominalRate = NominalRate { rate: 1.0, error: 0.0 };

/// The loose segments of [`crate::link::motion::Motion::loose`].
fn chain(points: &Points, violations: &LimitViolations) -> Option<SegmentChain> {
    let mut ends = vec![-MAX_ABS_NS, MAX_ABS_NS];
    ends.extend(violations.spans().flat_map(|(s, _)| [s.begin, s.end]));
    ends.sort_unstable();
    ends.dedup();
    let rule = |mid: i64| match (
        LimitViolations::holds(&violations.any, mid),
        LimitViolations::holds(&violations.fast, mid),
    ) {
        (true, _) => crate::geometry::RateRange::ANY,
        (_, true) => USUAL.range(FASTEST),
        _ if LimitViolations::holds(&violations.rising, mid) => USUAL.range(BY).rising(),
        _ if LimitViolations::holds(&violations.falling, mid) => USUAL.range(BY).falling(),
        _ => USUAL.range(BY),
    };
    let segment = |pair: &[i64]| Segment {
        x: Span { begin: pair[0], end: pair[1] },
        rule: Rule::Within(rule(pair[0].midpoint(pair[1]))),
    };
    SegmentChain::new(points, &ends.windows(2).map(segment).collect::<Vec<_>>()).ok()
}

/// Stretches within the range, one that is not, and more within.
type Stretches = Vec<(i64, i64)>;

fn quiet() -> impl Strategy<Value = Stretches> {
    prop::collection::vec(
        (1_000i64..40_000, prop_oneof![Just(99_950i64), Just(100_050), 99_950i64..=100_050]),
        1..6,
    )
}

/// A fast slew, a stop, or a step forward, of 10 ms to a second.
fn events() -> impl Strategy<Value = (i64, i64)> {
    prop_oneof![
        (1_000i64..10_000, prop_oneof![91_000i64..98_000, 102_000i64..109_000]),
        (100i64..10_000, Just(0i64)),
        (1i64..10, 1_000_000i64..1_000_000_000),
    ]
}

/// A message every 10 ms or so either way, with delays of 50 µs and more.
fn talk(truth: &Truth, jitter: &[i64]) -> Points {
    let mut messages = Vec::new();
    let count = (truth.end / 10_000_000).max(4);
    for i in 0..count {
        let delay = 50_000 + jitter[i as usize % jitter.len()];
        let at = |off: i64| ((i * 10_000_000 + off) as f64 / truth.end as f64).min(1.0);
        messages.push((at(delay * 13 % 4_000_000), true, delay));
        messages.push((at(5_000_000 + delay * 17 % 4_000_000), false, delay * 7 / 5));
    }
    truth.points(&messages)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_found_where_nothing_is(
        stretches in quiet(), messages in prop::collection::vec((0.0f64..1.0, any::<bool>(), 1i64..1_000_000), 0..60),
    ) {
        let truth = Truth::new(&stretches);
        let points = truth.points(&messages);
        prop_assert_eq!(LimitViolations::find(&points, USUAL, BY, Cause::Slew, &LimitViolations::default()), Some(LimitViolations::default()));
        prop_assert_eq!(suspects(&points, USUAL, BY, messages.len() as u64), Vec::new());
        let chain = chain(&points, &LimitViolations::default()).unwrap();
        prop_assert_eq!(truth.excluded(&chain, &points), None);
    }

    #[test]
    fn what_happened_is_explained(
        before in quiet(), event in events(), after in quiet(), jitter in prop::collection::vec(1i64..500_000, 1..50),
    ) {
        let begin = before.iter().map(|s| s.0).sum::<i64>() * UNIT;
        let end = begin + event.0 * UNIT;
        let truth = Truth::new(&[before, vec![event], after].concat());
        let points = talk(&truth, &jitter);
        let found = LimitViolations::find(&points, USUAL, BY, Cause::Slew, &LimitViolations::default());
        prop_assert!(found.is_some());
        let found = found.unwrap();
        let chain = chain(&points, &found);
        prop_assert!(chain.is_some(), "{:?}", found);
        // What the messages do not show may be anywhere: within the delays of it.
        let spans = || found.fast.iter().chain(&found.any);
        for span in spans() {
            prop_assert!(span.begin <= end && begin <= span.end, "{:?} {} {}", span, begin, end);
        }
        let covered = spans().any(|s| s.begin <= begin && end <= s.end);
        if covered && !(found.any.is_empty() && (event.1 == 0 || event.1 > 111_000)) {
            let chain = chain.unwrap();
            prop_assert_eq!(truth.excluded(&chain, &points), None);
        }
    }

    #[test]
    fn anything_ends(
        points in prop::collection::vec((any::<bool>(), -400i64..400, -400i64..400), 0..60), rate in 0.1f64..4.0,
    ) {
        let mut all = Points::default();
        for (forth, x, y) in points {
            if forth { all.upper.push(Point { x, y }) } else { all.lower.push(Point { x, y }) }
        }
        all.upper.sort_unstable();
        all.lower.sort_unstable();
        let nominal = NominalRate { rate, error: 1e-3 };
        if let Some(found) = LimitViolations::find(&all, nominal, BY, Cause::Slew, &LimitViolations::default()) {
            let apart = |list: &[Span]| list.windows(2).all(|w| w[0].end < w[1].begin);
            prop_assert!(apart(&found.fast) && apart(&found.any));
        }
        let gone = suspects(&all, nominal, BY, 1000);
        let rest = without(&all, &gone);
        prop_assert_eq!(rest.upper.len() + rest.lower.len() + gone.len(), all.upper.len() + all.lower.len());
    }
}

#[test]
fn messages_without_any_delay_are_possible() {
    let point = |x, y| Point { x, y };
    // Two messages at one instant, both without a delay.
    let points = Points {
        upper: vec![point(0, 0), point(1_000_000, 1_000_000)],
        lower: vec![point(500_000, 499_000), point(1_000_000, 1_000_000)],
    };
    assert_eq!(
        LimitViolations::find(&points, USUAL, BY, Cause::Slew, &LimitViolations::default()),
        Some(LimitViolations::default())
    );
}

#[test]
fn a_step_of_any_size_is_explained() {
    for step in [1_000_000, 1_000_000_000, 3_600_000_000_000, 1_700_000_000_000_000_000] {
        let mut points = Points::default();
        for i in 0..1000 {
            let x = i * 1_000_000;
            let y = x + if i < 500 { 0 } else { step };
            points.upper.push(Point { x, y: y + 60_000 });
            points.lower.push(Point { x: x + 300_000, y: y + 300_000 - 70_000 });
        }
        let found = LimitViolations::find(&points, USUAL, BY, Cause::Slew, &LimitViolations::default());
        let any = found.map(|found| found.any);
        assert!(
            any.as_ref().is_some_and(|any| any.len() == 1 && any[0].end - any[0].begin < 10_000_000),
            "{step} {any:?}"
        );
    }
}

#[test]
fn a_step_in_a_long_silence_is_explained_and_nothing_else() {
    const DAY: i64 = 86_400_000_000_000;
    let mut points = Points::default();
    for i in 0..2000 {
        let x = i * 1_000_000 + if i < 1000 { 0 } else { 10 * DAY };
        let y = x + if i < 1000 { 0 } else { 40 * DAY };
        // Short round trips.
        points.upper.push(Point { x, y: y + 400 });
        points.lower.push(Point { x: x + 1000, y: y + 1000 - 300 });
    }
    let found = LimitViolations::find(&points, USUAL, BY, Cause::Slew, &LimitViolations::default()).unwrap();
    assert_eq!(found.any.len(), 1, "{found:?}");
    assert!(found.any[0].end - found.any[0].begin < 11 * DAY && found.fast.len() == 1, "{found:?}");
}

#[test]
fn many_points_take_a_moment() {
    // One wrong message excludes all others one way. That is quadratic so far: 50,000 points a side take 7 s
    // and 14 s.
    let start = std::time::Instant::now();
    let mut points = Points::default();
    for i in 0..5_000 {
        let x = i * 8_000_000;
        points.upper.push(Point { x, y: x + 60_000 });
        points.lower.push(Point { x: x + 1000, y: x + 1000 - 60_000 });
    }
    points.upper[10].y -= 10_000_000_000;
    assert_eq!(suspects(&points, USUAL, BY, 10_000), vec![(Side::Upper, points.upper[10])]);
    assert_eq!(LimitViolations::find(&points, USUAL, BY, Cause::Slew, &LimitViolations::default()), None);
    assert!(start.elapsed() < std::time::Duration::from_secs(10), "{:?}", start.elapsed());
}

/// Of a clock of which nothing is known, a step, a stop and a slew between messages that are far apart are
/// all inside, and what is known is about half as wide as what happened.
#[test]
fn one_way_is_the_hull_of_both_sides() {
    // (units of 100 µs, rate of b in them in 10⁻⁵)
    for (units, rate) in [(1, 8_600_000), (200, 0), (2_000, 60_000)] {
        // 5 s as nominal, then that, and 5 s as nominal.
        let truth = Truth::new(&[(50_000, 100_000), (units, rate), (50_000, 100_000)]);
        let mut points = talk(&truth, &[1_000, 40_000, 7_000]);
        // A silence of 0.8 s around it.
        let silence = truth.end / 2 - 400_000_000..truth.end / 2 + 400_000_000;
        for list in [&mut points.upper, &mut points.lower] {
            list.retain(|p| !silence.contains(&p.x));
        }
        let found =
            LimitViolations::find(&points, USUAL, BY, Cause::Unknown, &LimitViolations::default()).unwrap();
        let gained = units * (rate - 100_000);
        assert_eq!(
            (found.rising.is_empty(), found.falling.is_empty()),
            (gained < 0, gained > 0),
            "{found:?}"
        );
        assert!(found.fast.is_empty() && found.any.is_empty(), "{found:?}");
        let chain = chain(&points, &found).unwrap();
        assert_eq!(truth.excluded(&chain, &points), None, "{rate}");
        let bound = |side| chain.bound(crate::geometry::Direction::Forward, side, truth.end / 2).unwrap();
        let width = bound(Side::Upper) - bound(Side::Lower);
        assert!(width < gained.abs() + 1_500_000, "{rate}: {width}");
    }
}

/// What a clock is reported counts like what its own messages show.
#[test]
fn what_is_told_is_allowed_for() {
    let span = Span { begin: 10, end: 20 };
    for allowance in [Allowance::Fast, Allowance::Rising, Allowance::Falling, Allowance::Any] {
        let mut reported = LimitViolations::default();
        reported.list_mut(allowance).push(span);
        let found = LimitViolations::find(&Points::default(), USUAL, BY, Cause::Unknown, &reported).unwrap();
        assert_eq!(found.spans().collect::<Vec<_>>(), [(span, allowance)]);
        assert_eq!(allowance.turned().turned(), allowance);
    }
}
