//! Bounds against random truths, against an oracle by linear programming, and against the clock on the wall.

use super::*;
use crate::MAX_ABS_NS;
use proptest::prelude::*;

/// Rates are whole multiples of 10⁻⁵, and times whole multiples of this, so that truths are exact.
pub(crate) const UNIT: i64 = 100_000;

/// A relation made of straight stretches from time 0 on, exact at whole units.
#[derive(Debug, Clone)]
pub(crate) struct Truth {
    /// (time, what b shows, rate from there on in 10⁻⁵).
    knots: Vec<(i64, i64, i64)>,
    pub(crate) end: i64,
}

impl Truth {
    /// From (units, rate in 10⁻⁵).
    pub(crate) fn new(stretches: &[(i64, i64)]) -> Self {
        let (mut x, mut y) = (0, 7_000_000_123);
        let mut knots = Vec::new();
        for &(units, rate) in stretches {
            knots.push((x, y, rate));
            (x, y) = (x + units * UNIT, y + units * rate);
        }
        Self { knots, end: x }
    }

    /// What b shows, in 10⁻⁵ ns.
    fn exact(&self, x: i64) -> i128 {
        let at = self.knots.partition_point(|k| k.0 <= x).saturating_sub(1);
        let (from, y, rate) = self.knots[at];
        i128::from(y) * i128::from(UNIT) + i128::from(x - from) * i128::from(rate)
    }

    pub(crate) fn floor(&self, x: i64) -> i64 {
        self.exact(x).div_euclid(i128::from(UNIT)) as i64
    }

    pub(crate) fn ceil(&self, x: i64) -> i64 {
        -(-self.exact(x)).div_euclid(i128::from(UNIT)) as i64
    }

    /// The points of messages (share of the time, forth, delay).
    pub(crate) fn points(&self, messages: &[(f64, bool, i64)]) -> Points {
        let mut points = Points::default();
        for &(share, forth, delay) in messages {
            let x = (share * self.end as f64) as i64;
            // Half of them at whole units.
            let x = if x % 2 == 0 { x / UNIT * UNIT } else { x };
            if forth {
                points.upper.push(Point { x, y: self.ceil(x) + delay });
            } else {
                points.lower.push(Point { x, y: self.floor(x) - delay });
            }
        }
        points.upper.sort_unstable();
        points.lower.sort_unstable();
        points
    }

    /// Instants at which something may be wrong: all knots and messages, and some between.
    pub(crate) fn instants(&self, points: &Points) -> Vec<i64> {
        let mut all: Vec<i64> = self.knots.iter().map(|k| k.0).collect();
        all.extend(points.upper.iter().chain(&points.lower).map(|p| p.x));
        all.extend((0..=40).map(|i| self.end / 40 * i / UNIT * UNIT));
        let around = all.iter().flat_map(|x| [x - UNIT, x - 1, *x, x + 1, x + UNIT]);
        let mut all: Vec<i64> = around.filter(|x| (0..=self.end).contains(x)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The first instant at which a chain excludes the truth, with what it says.
    pub(crate) fn excluded(&self, chain: &SegmentChain, points: &Points) -> Option<String> {
        let bound = |direction, side, t| chain.bound(direction, side, t);
        for x in self.instants(points) {
            let (lo, hi) =
                (bound(Direction::Forward, Side::Lower, x), bound(Direction::Forward, Side::Upper, x));
            let (floor, ceil) = (self.floor(x), self.ceil(x));
            if lo.is_some_and(|lo| lo > floor) || hi.is_some_and(|hi| hi < ceil) {
                return Some(format!("at {x}: {floor} {ceil} outside of {lo:?} {hi:?}"));
            }
            // While b stands still, it shows one time at many of a: bounds hold just before and just after
            // it.
            let is_still = [x - 1, x + 1].iter().any(|&near| self.exact(near) == self.exact(x));
            let (floor, ceil) = if is_still { (floor - 1, ceil + 1) } else { (floor, ceil) };
            let (lo, hi) = (
                bound(Direction::Backward, Side::Lower, floor),
                bound(Direction::Backward, Side::Upper, ceil),
            );
            if lo.is_some_and(|lo| lo > x) || hi.is_some_and(|hi| hi < x) {
                return Some(format!("back from {floor} {ceil}: {x} outside of {lo:?} {hi:?}"));
            }
        }
        None
    }
}

pub(crate) fn messages(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<(f64, bool, i64)>> {
    let delay = prop_oneof![Just(0i64), 0i64..100, 0i64..50_000, 0i64..2_000_000];
    prop::collection::vec((0.0f64..1.0, any::<bool>(), delay), count)
}

pub(crate) fn rates(least: i64, most: i64) -> RateRange {
    RateRange::around(least as f64 / UNIT as f64, most as f64 / UNIT as f64, 0.0)
}

/// Legs of so many units from 0 on; the first and the last reach to the ends of time.
fn segments(rules: &[(i64, Rule)]) -> Vec<Segment> {
    let mut begin = 0;
    let mut all = Vec::new();
    for &(units, rule) in rules {
        all.push(Segment { x: Span { begin, end: begin + units * UNIT }, rule });
        begin += units * UNIT;
    }
    all[0].x.begin = -MAX_ABS_NS;
    all.last_mut().unwrap().x.end = MAX_ABS_NS;
    all
}

/// What a segment is, and the stretches of the truth in it (units, share of the range of rates).
#[derive(Debug, Clone)]
enum Kind {
    /// A rate, and how far below and above it the rule reaches.
    Constant {
        rate: i64,
        below: i64,
        above: i64,
    },
    /// The same where the rate wanders by 1 % about it.
    Wandering {
        rate: i64,
        below: i64,
        above: i64,
    },
    Within {
        least: i64,
        most: i64,
    },
    Any,
}

fn kinds() -> impl Strategy<Value = Kind> {
    let limits = || (20_000i64..250_000, 0i64..19_000, 0i64..100_000);
    prop_oneof![
        limits().prop_map(|(rate, below, above)| Kind::Constant { rate, below, above }),
        limits().prop_map(|(rate, below, above)| Kind::Wandering { rate: rate / 100 * 100, below, above }),
        limits().prop_map(|(least, _, more)| Kind::Within { least, most: least + more }),
        Just(Kind::Any),
    ]
}

type Stretches = Vec<(i64, f64)>;

fn build(all: &[(Kind, Stretches)]) -> (Truth, Vec<Segment>) {
    let mut stretches = Vec::new();
    let mut rules = Vec::new();
    for (kind, own) in all {
        let along = |from: i64, to: i64, share: f64| from + ((to - from) as f64 * share) as i64;
        let units: i64 = own.iter().map(|s| s.0).sum();
        match *kind {
            Kind::Constant { rate, below, above } => {
                stretches.push((units, rate));
                let rates = rates(rate - below, rate + above);
                rules.push((units, Rule::Constant { rates, wander: Wander::NONE }));
            }
            Kind::Wandering { rate, below, above } => {
                // A little less than 1 %: both the constants and the messages are widened to first order
                // only.
                let most = rate / 10_000 * 97;
                let rate_of = |share| along(rate - most, rate + most, share);
                stretches.extend(own.iter().map(|&(units, share)| (units, rate_of(share))));
                let rates = rates(rate - below, rate + above);
                rules.push((units, Rule::Constant { rates, wander: Wander::of_rate(0.01) }));
            }
            Kind::Within { least, most } => {
                stretches.extend(own.iter().map(|&(units, share)| (units, along(least, most, share))));
                rules.push((units, Rule::Within(rates(least, most))));
            }
            Kind::Any => {
                // It stops, or is set forward, or both.
                let rate_of = |share: f64| if share < 0.5 { 0 } else { (share.powi(8) * 1e8) as i64 };
                stretches.extend(own.iter().map(|&(units, share)| (units, rate_of(share))));
                rules.push((units, Rule::Within(RateRange::ANY)));
            }
        }
    }
    (Truth::new(&stretches), segments(&rules))
}

fn cases() -> impl Strategy<Value = Vec<(Kind, Stretches)>> {
    let share = prop_oneof![Just(0.0f64), Just(1.0f64), 0.0f64..=1.0];
    prop::collection::vec((kinds(), prop::collection::vec((1i64..9, share), 1..4)), 1..7)
}

/// The highest and the lowest value at `x` over all truths with a constant rate in each segment, by the
/// corners of all that is possible. `None` where nothing is possible.
fn by_corners(points: &Points, borders: &[i64], limits: &[(f64, f64)], x: i64) -> Option<(f64, f64)> {
    let count = borders.len();
    let row = |x: i64| {
        let segment = borders.partition_point(|b| *b <= x).clamp(1, count - 1) - 1;
        let share = (x - borders[segment]) as f64 / (borders[segment + 1] - borders[segment]) as f64;
        let mut row = vec![0.0; count];
        (row[segment], row[segment + 1]) = (1.0 - share, share);
        row
    };
    // row · y ≤ limit, in units of y from the origin.
    let origin = points.upper[0].y;
    let mut all: Vec<(Vec<f64>, f64)> = Vec::new();
    all.extend(points.upper.iter().map(|p| (row(p.x), (p.y - origin) as f64)));
    let turned = |row: Vec<f64>| row.into_iter().map(|c| -c).collect::<Vec<f64>>();
    all.extend(points.lower.iter().map(|p| (turned(row(p.x)), (origin - p.y) as f64)));
    for (segment, &(least, most)) in limits.iter().enumerate() {
        let width = (borders[segment + 1] - borders[segment]) as f64;
        let mut rise = vec![0.0; count];
        (rise[segment], rise[segment + 1]) = (-1.0, 1.0);
        all.push((rise.clone(), most * width));
        all.push((turned(rise), -least * width));
    }
    let objective = row(x);
    let mut chosen: Vec<usize> = (0..count).collect();
    let mut found: Option<(f64, f64)> = None;
    loop {
        if let Some(corner) = corner(&all, &chosen) {
            let dot = |row: &[f64]| row.iter().zip(&corner).map(|(a, b)| a * b).sum::<f64>();
            if all.iter().all(|(row, limit)| dot(row) <= limit + 1e-2) {
                let value = dot(&objective) + origin as f64;
                let (lo, hi) = found.unwrap_or((value, value));
                found = Some((lo.min(value), hi.max(value)));
            }
        }
        // The next choice.
        let Some(at) = (0..count).rev().find(|&i| chosen[i] < all.len() - count + i) else { return found };
        chosen[at] += 1;
        for i in at + 1..count {
            chosen[i] = chosen[i - 1] + 1;
        }
    }
}

/// Where some of the limits hold exactly.
fn corner(all: &[(Vec<f64>, f64)], chosen: &[usize]) -> Option<Vec<f64>> {
    let n = chosen.len();
    let mut m: Vec<Vec<f64>> = chosen.iter().map(|&c| [&all[c].0[..], &[all[c].1]].concat()).collect();
    for i in 0..n {
        let pivot = (i..n).max_by(|&a, &b| m[a][i].abs().total_cmp(&m[b][i].abs()))?;
        m.swap(i, pivot);
        if m[i][i].abs() < 1e-9 {
            return None;
        }
        let row = m[i].clone();
        for (_, other) in m.iter_mut().enumerate().filter(|(r, _)| *r != i) {
            let factor = other[i] / row[i];
            other.iter_mut().zip(&row).skip(i).for_each(|(own, from)| *own -= factor * from);
        }
    }
    Some((0..n).map(|i| m[i][n] / m[i][i]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_truth_is_inside(all in cases(), messages in messages(0..40)) {
        let (truth, segments) = build(&all);
        let points = truth.points(&messages);
        let chain = SegmentChain::new(&points, &segments);
        prop_assert!(chain.is_ok(), "{:?}", chain);
        prop_assert_eq!(truth.excluded(&chain.unwrap(), &points), None);
    }

    /// However late is the latest instant of a by what b shows, b can have shown so little by then, and no
    /// later.
    #[test]
    fn there_and_back(all in cases(), messages in messages(2..40), share in 0.0f64..1.0) {
        let (truth, segments) = build(&all);
        let points = truth.points(&messages);
        let chain = SegmentChain::new(&points, &segments).unwrap();
        let y = truth.floor((share * truth.end as f64) as i64);
        let back = |side| chain.bound(Direction::Backward, side, y);
        let forth = |side, x| chain.bound(Direction::Forward, side, x);
        // A nanosecond of b is at most five of a here, but where b may stop; and wander is turned outward.
        if all.iter().all(|(kind, _)| matches!(kind, Kind::Constant { .. } | Kind::Within { .. })) {
            if let Some(latest) = back(Side::Upper) && (0..=truth.end).contains(&latest) {
                prop_assert!(forth(Side::Lower, latest + 20).is_some_and(|lo| lo >= y), "{}", latest);
                prop_assert!(forth(Side::Lower, latest - 20).is_none_or(|lo| lo <= y), "{}", latest);
            }
            if let Some(earliest) = back(Side::Lower) && (0..=truth.end).contains(&earliest) {
                prop_assert!(forth(Side::Upper, earliest - 20).is_some_and(|hi| hi <= y), "{}", earliest);
                prop_assert!(forth(Side::Upper, earliest + 20).is_none_or(|hi| hi >= y), "{}", earliest);
            }
        }
    }

    /// Of messages, more never say less, and their order is nothing.
    #[test]
    fn more_messages_never_widen(all in cases(), messages in messages(1..24), share in 0.0f64..1.0) {
        let (truth, segments) = build(&all);
        let x = (share * truth.end as f64) as i64;
        let of = |messages: &[(f64, bool, i64)]| SegmentChain::new(&truth.points(messages), &segments).unwrap();
        let (most, fewer) = (of(&messages), of(&messages[1..]));
        let tighter = |direction, t| {
            let ends = |chain: &SegmentChain| [Side::Lower, Side::Upper].map(|side| chain.bound(direction, side, t));
            let ([lo, hi], [wide_lo, wide_hi]) = (ends(&most), ends(&fewer));
            // A nanosecond or two of rounding per segment.
            let slack = 16;
            lo >= wide_lo.map(|lo| lo - slack) && wide_hi.is_none_or(|wide| hi.is_some_and(|hi| hi <= wide + slack))
        };
        prop_assert!(tighter(Direction::Forward, x));
        if all.iter().all(|(kind, _)| matches!(kind, Kind::Constant { .. } | Kind::Within { .. })) {
            prop_assert!(tighter(Direction::Backward, truth.floor(x)));
        }
        let mut turned = messages.clone();
        turned.reverse();
        prop_assert_eq!(of(&turned), most);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn constant_legs_are_as_tight_as_can_be(
        all in prop::collection::vec((20_000i64..250_000, 0i64..19_000, 0i64..100_000, 1i64..9), 1..4),
        messages in messages(2..9), share in 0.0f64..1.0,
    ) {
        let with = |&(rate, below, above, units): &(i64, i64, i64, i64)| {
            (Kind::Constant { rate, below, above }, vec![(units, 0.0)])
        };
        let cases: Vec<_> = all.iter().map(with).collect();
        let (truth, segments) = build(&cases);
        // At whole units: next to a border, a nanosecond of rounding there has a long lever.
        let mut points = truth.points(&messages);
        let whole = |list: &mut Vec<Point>, round: fn(&Truth, i64) -> i64| {
            for p in list {
                let delay = p.y - round(&truth, p.x);
                p.x = p.x / UNIT * UNIT;
                p.y = round(&truth, p.x) + delay;
            }
        };
        whole(&mut points.upper, Truth::ceil);
        whole(&mut points.lower, Truth::floor);
        if points.upper.is_empty() || points.lower.is_empty() {
            return Ok(());
        }
        let mut borders = vec![0];
        for segment in &all {
            borders.push(borders[borders.len() - 1] + segment.3 * UNIT);
        }
        let limits: Vec<(f64, f64)> = all.iter().map(|l| ((l.0 - l.1) as f64 / 1e5, (l.0 + l.2) as f64 / 1e5)).collect();
        let x = (share * truth.end as f64) as i64;
        let (least, most) = by_corners(&points, &borders, &limits, x).unwrap();
        let chain = SegmentChain::new(&points, &segments).unwrap();
        let lo = chain.bound(Direction::Forward, Side::Lower, x).unwrap() as f64;
        let hi = chain.bound(Direction::Forward, Side::Upper, x).unwrap() as f64;
        // Roundings of a nanosecond at the end of a segment have a lever.
        let slack = 40.0;
        prop_assert!((lo - least).abs() <= slack && (hi - most).abs() <= slack, "{lo} {least} {most} {hi}");
    }
}

#[test]
fn one_leg_and_legs_without_length() {
    let always = Span { begin: -MAX_ABS_NS, end: MAX_ABS_NS };
    let segment = |begin, end, rule| Segment { x: Span { begin, end }, rule };
    let rule = Rule::Within(rates(90_000, 110_000));
    let points = Points { upper: vec![Point { x: 10, y: 20 }], lower: vec![Point { x: 5, y: 3 }] };
    for rule in [rule, Rule::Constant { rates: rates(90_000, 110_000), wander: Wander::NONE }] {
        let one = SegmentChain::new(&points, &[Segment { x: always, rule }]).unwrap();
        assert_eq!(one.bound(Direction::Forward, Side::Upper, 10), Some(20));
        assert_eq!(one.bound(Direction::Backward, Side::Lower, 20), Some(10));
        let m = MAX_ABS_NS;
        let cut = [segment(-m, 7, rule), segment(7, 7, rule), segment(7, 8, rule), segment(8, m, rule)];
        let cut = SegmentChain::new(&points, &cut).unwrap();
        for t in [-m, -1, 0, 5, 7, 8, 10, m, i64::MIN, i64::MAX] {
            for side in Side::BOTH {
                let _ = (cut.bound(Direction::Forward, side, t), cut.bound(Direction::Backward, side, t));
            }
        }
        assert!(SegmentChain::new(&Points::default(), &[Segment { x: always, rule }]).is_ok());
    }
}

/// Clocks that run at rates so far apart that no clock does.
#[test]
fn extreme_rates_do_not_overflow() {
    let m = MAX_ABS_NS;
    let always = Span { begin: -m, end: m };
    for (least, greatest) in [(1e-18, 1e-18), (1e-9, 1e-9), (1e-3, 1e3), (1e3, 1e3), (0.0, 1e18)] {
        let range = RateRange::around(least, greatest, 0.01);
        for rule in [Rule::Within(range), Rule::Constant { rates: range, wander: Wander::of_rate(0.2) }] {
            let points = Points { upper: vec![Point { x: -m, y: 5 }], lower: vec![Point { x: -m, y: 0 }] };
            let Ok(chain) = SegmentChain::new(&points, &[Segment { x: always, rule }]) else { continue };
            for t in [-m, -1, 0, 1, 5, m] {
                for side in Side::BOTH {
                    let _ =
                        (chain.bound(Direction::Forward, side, t), chain.bound(Direction::Backward, side, t));
                }
            }
        }
    }
}
