//! The methods on messages whose lines are known.

use num_traits::ToPrimitive as _;

use super::*;
use crate::geometry::{Point, Side};

fn pair((a, b): (usize, usize), forth: &[(i64, i64)], back: &[(i64, i64)]) -> Pair {
    let hull = |side, points: &[(i64, i64)]| {
        let mut hull = HalfHull::new(side);
        for &(x, y) in points {
            hull.insert(Point::new(x, y).unwrap());
        }
        hull
    };
    let exchanges = [Exchanges::default(), Exchanges::default()];
    Pair { a, b, upper: hull(Side::Upper, forth), lower: hull(Side::Lower, back), exchanges }
}

fn solved(method: Method, clocks: usize, pairs: &[Pair]) -> Published {
    let order: Vec<usize> = (0..clocks).collect();
    solve(&Request { method, digits: 30, order: &order, reference: None }, pairs)
}

/// Messages between clocks of which b shows `rate` · a + `offset`, each `delay` on its way.
fn regular((a, b): (usize, usize), rate: i64, offset: i64, delay: i64) -> Pair {
    let at = |x: i64| x * rate + offset;
    let times = || (0..10).map(|i| i * 1000);
    let forth: Vec<_> = times().map(|x| (x, at(x + delay))).collect();
    let back: Vec<_> = times().map(|x| (x + delay + 500, at(x + 500))).collect();
    pair((a, b), &forth, &back)
}

/// Trace Compass's own tests, with (sent or received by the first, by the second) as points.
#[test]
fn trace_compass_says_what_its_tests_expect() {
    let check = |forth: &[(i64, i64)], back: &[(i64, i64)], expect: (Outcome, Option<(f64, f64)>)| {
        let solution = solved(Method::TraceCompass, 2, &[pair((0, 1), forth, back)]);
        let found = &solution.pairs[0].found;
        let shown = |line: &Line| (line.slope().to_f64().unwrap(), line.offset().to_f64().unwrap());
        assert_eq!((found.outcome, found.line.as_ref().map(shown)), expect, "{forth:?} {back:?}");
    };
    let three = [(1, 3), (3, 5), (4, 8)];
    check(&[], &[(1, 1)], (Outcome::Incomplete, None));
    check(&[(1, 3)], &[(1, 1)], (Outcome::Incomplete, None));
    check(&three[..2], &[(1, 1), (3, 2)], (Outcome::Accurate, Some((0.75, 1.25))));
    check(&three, &[(1, 1), (3, 2), (5, 4)], (Outcome::Accurate, Some((1.125, 0.875))));
    check(&three, &[(1, 1), (3, 2), (5, 4), (6, 4)], (Outcome::Accurate, Some((1.125, 0.875))));
    let four = [(1, 3), (3, 5), (4, 8), (6, 7)];
    check(&four, &[(1, 1), (3, 2), (5, 4), (6, 4)], (Outcome::Accurate, Some((0.725, 1.275))));
    let messages = [(1, 1), (3, 2), (5, 4), (6, 4), (4, 7)];
    check(&four, &messages, (Outcome::Failed, None));
    check(&[(1, 3), (2, 5), (3, 5), (4, 7)], &[], (Outcome::Incomplete, None));
    check(
        &[(1, 3), (2, 5), (3, 5), (4, 7)],
        &[(6, 7), (6, 8), (8, 10)],
        (Outcome::Approximate, Some((1.0, 2.5))),
    );
}

/// The original multiplies the factors of the wrong pair here.
#[test]
fn lines_are_chained_along_the_way() {
    for method in [Method::Margin, Method::Hull, Method::TraceCompass] {
        // 0 – 1 – 2 – 3, each twice as fast as the one before, and ahead.
        let chain = [regular((0, 1), 2, 70, 0), regular((1, 2), 2, 900, 0), regular((2, 3), 2, -40, 0)];
        let order = [0, 1, 2, 3];
        let request = Request { method, digits: 30, order: &order, reference: Some(0) };
        let solution = solve(&request, &chain);
        let times = [5, 5 * 2 + 70, (5 * 2 + 70) * 2 + 900, ((5 * 2 + 70) * 2 + 900) * 2 - 40];
        for (clock, time) in times.into_iter().enumerate() {
            assert_eq!(solution.clocks[clock].line.at(time), Some(5), "{method:?} {clock}");
        }
        assert_eq!(solution.clocks[3].predecessor, Some(2));
    }
}

#[test]
fn the_reference_is_near_to_all_or_the_first_by_name() {
    let chain = [regular((0, 1), 1, 70, 10), regular((1, 2), 1, 900, 10)];
    assert_eq!(solved(Method::Hull, 3, &chain).clocks.map_references(), [1, 1, 1]);
    assert_eq!(solved(Method::TraceCompass, 3, &chain).clocks.map_references(), [0, 0, 0]);
    let order = [2, 0, 1];
    let request = Request { method: Method::TraceCompass, digits: 30, order: &order, reference: None };
    let solution = solve(&request, &chain);
    assert_eq!(solution.clocks.map_references(), [2, 2, 2]);
    // The first of each pair in that order is x.
    assert_eq!((solution.pairs[1].x, solution.pairs[1].y), (2, 1));
    assert_eq!(solved(Method::Hull, 4, &chain).clocks[3].reference, 3);
}

trait References {
    fn map_references(&self) -> Vec<usize>;
}

impl References for Vec<ClockLine> {
    fn map_references(&self) -> Vec<usize> {
        self.iter().map(|clock| clock.reference).collect()
    }
}

#[test]
fn methods_choose_lines_that_no_message_contradicts() {
    let forth = [(0, 120), (1000, 1350), (2500, 2600), (4000, 4190)];
    let back = [(400, 380), (1700, 1790), (3300, 3310), (4500, 4400)];
    for method in [Method::Margin, Method::Hull, Method::TraceCompass] {
        let pair = pair((0, 1), &forth, &back);
        let solution = solved(method, 2, std::slice::from_ref(&pair));
        let line = solution.pairs[0].found.line.clone().unwrap();
        assert!(forth.iter().all(|&(x, y)| line.at(x).unwrap() <= y), "{method:?} {line:?}");
        assert!(back.iter().all(|&(x, y)| line.at(x).unwrap() >= y - 1), "{method:?} {line:?}");
    }
}
