//! The estimate against its definition, and what holds whatever the messages.

use super::*;
use crate::MAX_ABS_NS;
use crate::estimate::posterior::NEAR_FLOOR;
use crate::geometry::SlopeRange;
use crate::model::ASYMMETRY;
use proptest::prelude::*;

type Messages = Vec<(i64, i64)>;

fn band(ppm: u32) -> SlopeBand {
    SlopeRange::prior(ppm).closed().unwrap()
}

fn floor(all: &[(i64, i64)]) -> DirectionSample<'static> {
    DirectionSample::of_all(all.iter().map(|&(x, y)| Point::new(x, y).unwrap()))
}

fn line(upper: &[(i64, i64)], lower: &[(i64, i64)], ppm: u32) -> PairEstimate {
    estimate(&floor(upper), &floor(lower), band(ppm)).unwrap()
}

/// The least room between the line and any message, ns.
fn room(line: &PairEstimate, upper: &[(i64, i64)], lower: &[(i64, i64)]) -> f64 {
    let (offset, tilt) = (line.offset, line.tilt);
    let room = |all: &[(i64, i64)], side, sign: f64| {
        let spots = floor(all).turned(side).into_iter().map(|k| line.frame.spot(side, k.point));
        spots.map(|s| s.slack(tilt) - sign * offset).fold(f64::INFINITY, f64::min)
    };
    room(upper, Side::Upper, 1.0).min(room(lower, Side::Lower, -1.0))
}

/// Messages with delays of 100 and more, over 60 000 ns, between a clock and one that is 1 % fast.
fn messages(sign: i64, count: std::ops::Range<usize>) -> impl Strategy<Value = Messages> {
    prop::collection::vec((0i64..60_000, 0.0f64..1.0), count).prop_map(move |all| {
        let delay = |u: f64| 100 - (200.0 * (1.0 - u).ln()) as i64;
        all.into_iter().map(|(x, u)| (x, 7 + x + x / 100 + sign * delay(u))).collect()
    })
}

/// The posterior mean by its definition: height at 0 and slope; everything from the points, by search and
/// by the trapezoidal rule.
fn by_definition(upper: &[(i64, i64)], lower: &[(i64, i64)], (min, max): (f64, f64)) -> (f64, f64) {
    let value = |&(x, y): &(i64, i64), b: f64| y as f64 - b * x as f64;
    let g = |b: f64| upper.iter().map(|p| value(p, b)).fold(f64::INFINITY, f64::min);
    let h = |b: f64| lower.iter().map(|p| value(p, b)).fold(f64::NEG_INFINITY, f64::max);
    let gap = |b: f64| g(b) - h(b);
    // The gap is concave: its maximum by golden section, its zeros by bisection.
    let (mut left, mut right) = (min, max);
    for _ in 0..200 {
        let (p, q) = (left + (right - left) * 0.382, left + (right - left) * 0.618);
        if gap(p) < gap(q) { left = p } else { right = q }
    }
    let best = f64::midpoint(left, right);
    let edge = |mut inside: f64, mut outside: f64| {
        for _ in 0..100 {
            let middle = f64::midpoint(inside, outside);
            if gap(middle) >= 0.0 { inside = middle } else { outside = middle }
        }
        inside
    };
    let low = if gap(min) >= 0.0 { min } else { edge(best, min) };
    let high = if gap(max) >= 0.0 { max } else { edge(best, max) };
    let rate = |all: &[(i64, i64)], sign: f64| {
        let mut s: Vec<f64> = all.iter().map(|p| sign * value(p, best)).collect();
        s.sort_by(f64::total_cmp);
        let (n, k) = (s.len() as f64, s.len().min(NEAR_FLOOR));
        let above: f64 = s[..k].iter().map(|v| v - s[0]).sum();
        (k as f64 - 1.0) / (above / n + (n - k as f64) / n * (s[k - 1] - s[0])).max(1e-3)
    };
    let (wf, wb) = (rate(upper, 1.0), rate(lower, -1.0));
    let mean = |all: &[(i64, i64)]| all.iter().map(|p| p.0 as f64).sum::<f64>() / all.len() as f64;
    let (xf, xb) = (mean(upper), mean(lower));
    let log = |b: f64| wf * (g(b) + b * xf) - wb * (h(b) + b * xb);
    let slopes: Vec<f64> = (0..=4000).map(|i| low + (high - low) * f64::from(i) / 4000.0).collect();
    let top = slopes.iter().map(|&b| log(b)).fold(f64::NEG_INFINITY, f64::max);
    let (mut weight, mut height, mut slope) = (0.0, 0.0, 0.0);
    for (i, &b) in slopes.iter().enumerate() {
        let w = (log(b) - top).exp() * if i == 0 || i == 4000 { 0.5 } else { 1.0 };
        weight += w;
        height += w * f64::midpoint(g(b), h(b));
        slope += w * b;
    }
    (height / weight, slope / weight)
}

#[test]
fn what_it_rests_on() {
    let steps = |n: i64, y: i64| (0..n).map(|i| (i * 1000, i * 1000 + y + i * 7 % 5)).collect::<Messages>();
    let check = |upper: &[(i64, i64)], lower: &[(i64, i64)], ppm, expect, states_error| {
        let line = line(upper, lower, ppm);
        let errors = [-1_000_000, 0, 9_000].map(|x| line.likely_error(x, ASYMMETRY));
        assert_eq!((line.basis(), errors[0].is_some()), (expect, states_error), "{line:?}");
        assert!(errors.iter().flatten().all(|e| e.is_finite() && *e >= 0.0), "{line:?}");
    };
    check(&steps(10, 100), &steps(10, -100), 500, Basis::Folds, true);
    check(&steps(10, 100), &steps(9, -100), 500, Basis::Whole, true);
    check(&steps(5, 100), &steps(50, -100), 500, Basis::Whole, true);
    check(&steps(4, 100), &steps(50, -100), 500, Basis::Whole, false);
    check(&steps(1, 100), &steps(1, -100), 500, Basis::Whole, false);
    check(&steps(10, 100), &steps(10, -100), 0, Basis::OneSlope, true);
    check(&[(0, 0), (2000, 2000)], &[(0, 0), (2000, 2000)], 500, Basis::OneSlope, false);
    check(&steps(10, 0), &steps(10, 50), 500, Basis::Contradiction, true);
    let nothing = DirectionSample::of_all([]);
    assert_eq!(estimate(&nothing, &floor(&[(0, 0)]), band(500)), None);
    assert_eq!(estimate(&floor(&[(0, 0)]), &nothing, band(500)), None);
}

#[test]
fn a_direction_within_one_fold_is_not_folded() {
    let kept = |y: i64, fold: u8| {
        let all = (0..12).map(|i| Point::new(i * 100, i * 100 + y + i % 3).unwrap());
        DirectionSample::new(all.map(|point| RetainedPoint { point, fold }).collect::<Vec<_>>(), 12, 100 * 66)
    };
    for fold in [0, 4, 5, 255] {
        let line = estimate(&kept(50, fold), &kept(-50, 1), band(500)).unwrap();
        assert_eq!(line.basis(), Basis::Whole, "{fold}");
    }
}

#[test]
fn the_floors_are_uncertain_even_for_one_slope() {
    let steps = |y: i64| (0..30).map(|i| (i * 1000, i * 1000 + y + i * 7 % 5)).collect::<Messages>();
    let line = line(&steps(100), &steps(-100), 0);
    let (wf, wb) = line.rates();
    let floors = (wf.powi(-2) + wb.powi(-2)) / 4.0;
    for x in [-1_000_000, 0, 1_000_000] {
        assert!((line.offset_variance(x) / floors - 1.0).abs() < 1e-12);
    }
}

#[test]
fn a_contradiction_is_violated_evenly() {
    let line = line(&[(0, 0), (1000, 1000)], &[(0, 8), (1000, 1008)], 0);
    assert_eq!((line.margin_ns(), line.at(0), line.at(2000)), (-4.0, 4, 2004));
    assert!(line.offset_variance(0) >= 16.0);
}

#[test]
fn a_mean_that_leaves_the_corridor_is_pulled_back() {
    // One message holds the upper side down; the mean over the folds gives in to the others.
    let upper: Messages =
        (0..15).map(|i| (i * 1000, i * 1000 + if i == 7 { 10 } else { 3000 + i % 4 * 500 })).collect();
    let lower: Messages = (0..15).map(|i| (i * 1000, i * 1000 - i * 7 % 3)).collect();
    let line = line(&upper, &lower, 500);
    assert_eq!(line.basis(), Basis::FoldsPulled);
    let room = room(&line, &upper, &lower);
    assert!(room.abs() < 1e-9, "as far as possible: {room}");
}

#[test]
fn messages_not_kept_count() {
    let points = |y: i64| (0..40).map(move |i| (i * 1000, i * 1000 + y + i * 37 % 40)).collect::<Messages>();
    let (upper, lower) = (points(100), points(-150));
    let few = line(&upper, &lower, 500);
    // Ten times as many messages, none of them near the floor.
    let more = |all: &[(i64, i64)]| {
        let sum: i64 = all.iter().map(|p| p.0).sum();
        DirectionSample::new(floor(all).kept().to_vec(), 400, i128::from(sum) * 10)
    };
    let many = estimate(&more(&upper), &more(&lower), band(500)).unwrap();
    assert_eq!((many.basis(), many.messages()), (Basis::Folds, (400, 400)));
    assert!(many.rates().0 < few.rates().0 * 1.5 && many.rates().0 > few.rates().0 * 0.3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn it_is_what_the_definition_says(
        upper in messages(1, 10..40),
        lower in messages(-1, 10..40),
    ) {
        let line = line(&upper, &lower, 100_000);
        let sorted = |all: &Messages| {
            let mut all = all.clone();
            all.sort_unstable();
            all
        };
        let (upper, lower) = (sorted(&upper), sorted(&lower));
        let without = |all: &Messages, q: usize| -> Messages {
            all.iter().enumerate().filter(|(r, _)| r % FOLDS != q).map(|(_, p)| *p).collect()
        };
        let limits = (0.9, 1.1);
        let five: Vec<(f64, f64)> = (0..FOLDS)
            .map(|q| by_definition(&without(&upper, q), &without(&lower, q), limits))
            .collect();
        if line.basis() == Basis::Folds {
            let sd = line.offset_variance(30_000).sqrt();
            for x in [0i64, 30_000, 60_000] {
                let expect = five.iter().map(|(a, b)| a + b * x as f64).sum::<f64>() / FOLDS as f64;
                let found = line.at(x) as f64;
                prop_assert!((found - expect).abs() <= 0.5 + 0.02 * sd, "{x}: {found} {expect} {line:?}");
            }
        }
    }
}

proptest! {
    #[test]
    fn inside_whatever_the_order_and_the_origins(
        upper in messages(1, 1..60),
        lower in messages(-1, 1..60),
        shift in (-MAX_ABS_NS / 2..MAX_ABS_NS / 2, -MAX_ABS_NS / 2..MAX_ABS_NS / 2),
    ) {
        let plain = line(&upper, &lower, 100_000);
        let room = room(&plain, &upper, &lower);
        let strictly = matches!(plain.basis(), Basis::Folds | Basis::Whole);
        prop_assert!(if strictly { room > 0.0 } else { room > -1e-9 }, "{room} {plain:?}");

        let moved = |all: &Messages| -> Messages {
            all.iter().rev().map(|&(x, y)| (x + shift.0, y + shift.1)).collect()
        };
        let moved = line(&moved(&upper), &moved(&lower), 100_000);
        prop_assert_eq!(moved.origin(), (plain.origin().0 + shift.0, plain.origin().1 + shift.1));
        prop_assert_eq!((moved.offset, moved.tilt), (plain.offset, plain.tilt));
        prop_assert_eq!(moved.covariance(), plain.covariance());
        for x in [-900, 0, 77_777] {
            prop_assert_eq!(moved.at(x + shift.0), plain.at(x) + shift.1);
            let variances = [moved.offset_variance(x + shift.0), plain.offset_variance(x)];
                prop_assert_eq!(variances[0].to_bits(), variances[1].to_bits());
        }
    }

    #[test]
    fn nothing_panics_and_all_is_finite(
        upper in prop::collection::vec(hostile(), 1..40),
        lower in prop::collection::vec(hostile(), 1..40),
        ppm in prop_oneof![Just(0u32), Just(500), Just(u32::MAX)],
        count in any::<u64>(),
        sum in any::<i128>(),
        x in any::<i64>(),
    ) {
        let claimed = |all: &Messages| DirectionSample::new(floor(all).kept().to_vec(), count, sum);
        for (upper, lower) in [(floor(&upper), floor(&lower)), (claimed(&upper), claimed(&lower))] {
            let line = estimate(&upper, &lower, band(ppm)).unwrap();
            let (offset, tilt) = (line.offset, line.tilt);
            let (wf, wb) = line.rates();
            let figures = [
                offset, tilt, wf, wb, line.margin_ns(), line.rate_ppm(),
                line.likely_error(x, ASYMMETRY).unwrap_or_default(),
            ];
            prop_assert!(figures.iter().all(|f| f.is_finite()), "{line:?}");
            prop_assert!(line.covariance().iter().flatten().all(|f| f.is_finite()), "{line:?}");
            prop_assert!(wf > 0.0 && wb > 0.0 && line.offset_variance(x) >= 0.0);
            prop_assert!(line.at(i64::MIN) <= line.at(x) && line.at(x) <= line.at(i64::MAX));
        }
    }
}

fn hostile() -> impl Strategy<Value = (i64, i64)> {
    let time = || {
        prop_oneof![
            Just(MAX_ABS_NS),
            Just(-MAX_ABS_NS),
            -3i64..3,
            -MAX_ABS_NS..MAX_ABS_NS,
            (-3i64..3).prop_map(|t| t * (1 << 54)),
        ]
    };
    (time(), time())
}
