//! The nominal rate between two clocks: what a daemon that steers one of them steers about.
//!
//! It is *defined* as the mean rate of the relation over some stretches of time, so that "within 500 ppm of
//! the nominal rate" is a statement about clocks and not about messages. Which stretches is a choice, made in
//! floating point: all of the time with messages both ways, but for parts in which messages prove that the
//! rate was far from that of the rest (a slew of tens of thousands of ppm when a daemon starts). What the
//! mean over them can be is proven by the messages alone, whatever the delays: a queue moves the middle
//! between the messages of two directions, but not what they prove.

use crate::geometry::{Point, Points, RateRange};
use crate::span::Span;

/// Number of stretches; each gives one middle of the corridor, to choose by.
const STRETCHES: usize = 64;
/// Rates are taken between the middles of stretches that are this many apart.
const APART: usize = 4;
/// With fewer middles, nothing is left out.
const FEW: usize = 8;
/// A rate is far from that of the rest beyond this share of what it may leave the nominal one by.
const FAR: f64 = 0.25;
/// Rounds of bounding the mean by what the round before has proven.
const ROUNDS: usize = 4;
/// Bound on rounding errors in floating point, with a large margin.
const ROUNDING: f64 = 1e-12;

/// A rate, dimensionless, and how far the messages leave it open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NominalRate {
    pub(crate) rate: f64,
    pub(crate) error: f64,
}

/// The least and the greatest that a rate can be.
type Ends = (f64, f64);

/// The least and the greatest that a clock can show, ns.
type Bounds = (i128, i128);

/// The middle of the corridor in a stretch: b − line and half the gap, ns; below zero where no line passes.
#[derive(Debug, Clone, Copy)]
struct Middle {
    stretch: usize,
    offset: f64,
    half: f64,
}

impl NominalRate {
    /// Of messages. `prior` is how far the nominal rate may be from 1 unless messages prove that it is
    /// farther, `by` how far the rate may leave the nominal one at any instant; both dimensionless. O(k).
    pub(crate) fn of(points: &Points, prior: f64, by: f64) -> Self {
        let prior = (1.0 - prior, 1.0 + prior);
        let parts: Vec<Points> = steady(points, by).into_iter().map(|x| points.during(x)).collect();
        // That clocks do not go back holds whatever their rates are.
        let Some(known) = mean(&parts, RateRange::ANY) else { return Self::between(prior) };
        // Beyond the prior, the messages win.
        let mut known = both(known, prior).unwrap_or(known);
        for _ in 0..ROUNDS {
            let rates = Self::between(known).range(by);
            // Messages that contradict the assumption say nothing here.
            let Some(closer) = mean(&parts, rates).and_then(|found| both(found, known)) else { break };
            known = closer;
        }
        Self::between(known)
    }

    /// The rates of a pair whose clocks leave their own nominal rates by no more than `by` together
    /// (dimensionless): the one may run slow while the other runs fast, and a quotient of two such rates
    /// exceeds their sum.
    pub(crate) fn range(self, by: f64) -> RateRange {
        let slowest = (1.0 - by).max(f64::MIN_POSITIVE);
        RateRange::between((self.rate - self.error) * slowest, (self.rate + self.error) / slowest)
    }

    /// The rates between two.
    pub(crate) fn between((least, most): Ends) -> Self {
        let error = (most - least).max(0.0) / 2.0 + ROUNDING * most.abs();
        Self { rate: f64::midpoint(least, most), error }
    }

    /// The range that both allow, if there is one.
    pub(crate) fn and(self, other: Self) -> Option<Self> {
        let ends = |nominal: Self| (nominal.rate - nominal.error, nominal.rate + nominal.error);
        both(ends(self), ends(other)).map(Self::between)
    }
}

fn both(a: Ends, b: Ends) -> Option<Ends> {
    let (least, most) = (a.0.max(b.0), a.1.min(b.1));
    (least <= most).then_some((least, most))
}

/// Range of the mean rate over some stretches (theorem 1 of docs/SYNC.md), given the length of each and the
/// bounds of the relation at its start and at its end; `None` without a stretch, or where the bounds
/// contradict each other.
pub(crate) fn mean_over(stretches: impl Iterator<Item = (i64, Bounds, Bounds)>) -> Option<Ends> {
    let (mut least, mut most, mut length) = (0.0, 0.0, 0.0);
    for (run, early, late) in stretches {
        least += (late.0 - early.1) as f64;
        most += (late.1 - early.0) as f64;
        length += run as f64;
    }
    (length > 0.0 && least <= most && most > 0.0).then(|| ((least / length).max(0.0), most / length))
}

/// Range of the mean rate over all parts when rates stay within a range: each part from its first message
/// from b to its last one from a, where any range bounds either end. `None` where there is no such part, or
/// where the messages contradict the range.
fn mean(parts: &[Points], rates: RateRange) -> Option<Ends> {
    let ends = |part: &Points| {
        let (begin, end) = (part.lower.first()?.x, part.upper.last()?.x);
        (begin < end).then_some((begin, end))
    };
    let held = parts.iter().filter_map(|part| Some((part, ends(part)?)));
    let bounded =
        held.map(|(part, (begin, end))| Some((end - begin, at(part, rates, begin)?, at(part, rates, end)?)));
    mean_over(bounded.collect::<Option<Vec<_>>>()?.into_iter())
}

/// The least and the greatest that b can show when a shows `x`, by all tents; `None` where a side is open, or
/// both contradict each other.
fn at(points: &Points, rates: RateRange, x: i64) -> Option<Bounds> {
    let above = |p: &Point| match x <= p.x {
        true => Some(p.y as i128 - rates.least(p.x - x)),
        false => Some(p.y as i128 + rates.most(x - p.x)?),
    };
    let below = |p: &Point| match x >= p.x {
        true => Some(p.y as i128 + rates.least(x - p.x)),
        false => Some(p.y as i128 - rates.most(p.x - x)?),
    };
    let hi = points.upper.iter().filter_map(above).min()?;
    let lo = points.lower.iter().filter_map(below).max()?;
    (lo <= hi).then_some((lo, hi))
}

/// The stretches of a's time whose mean rate is taken.
fn steady(points: &Points, by: f64) -> Vec<Span> {
    let all = || points.upper.iter().chain(&points.lower);
    let (Some(first), Some(last)) = (all().min(), all().max()) else { return Vec::new() };
    let whole = Span { begin: first.x, end: last.x };
    let length = (last.x - first.x) as f64;
    if points.upper.is_empty() || points.lower.is_empty() || length <= 0.0 {
        return vec![whole];
    }
    // Twice: with the rate of the first time, stretches are flat.
    let mut rate = (last.y as f64 - first.y as f64) / length;
    let width = length / STRETCHES as f64;
    for _ in 0..2 {
        let middles = middles(points, *first, length, rate);
        if middles.len() < FEW {
            return vec![whole];
        }
        let slope =
            |(a, b): (&Middle, &Middle)| (b.offset - a.offset) / ((b.stretch - a.stretch) as f64 * width);
        let mut slopes: Vec<f64> = middles.iter().zip(&middles[APART..]).map(slope).collect();
        slopes.sort_by(f64::total_cmp);
        rate += slopes[slopes.len() / 2];
    }
    let middles = middles(points, *first, length, rate);
    let is_far = |a: &Middle, b: &Middle| {
        let run = (b.stretch - a.stretch) as f64 * width;
        // Between two stretches the line may be anywhere within their gaps.
        (b.offset - a.offset).abs() - a.half.max(0.0) - b.half.max(0.0) > FAR * by * rate * run.max(width)
    };
    let begin = |stretch: usize| first.x.saturating_add((stretch as f64 * width) as i64);
    let mut spans = Vec::new();
    let mut from = whole.begin;
    let mut leave_out = |begin: i64, end: i64| {
        if from < begin {
            spans.push(Span { begin: from, end: begin });
        }
        from = from.max(end);
    };
    for (place, middle) in middles.iter().enumerate() {
        if middle.half < 0.0 {
            leave_out(begin(middle.stretch), begin(middle.stretch + 1));
        }
        if let Some(next) = middles.get(place + 1).filter(|next| is_far(middle, next)) {
            leave_out(begin(middle.stretch), begin(next.stretch + 1));
        }
    }
    leave_out(whole.end, whole.end);
    spans
}

fn middles(points: &Points, origin: Point, length: f64, rate: f64) -> Vec<Middle> {
    let stretch = |p: &Point| {
        let share = (p.x - origin.x) as f64 / length;
        ((share * STRETCHES as f64) as usize).min(STRETCHES - 1)
    };
    let residual = |p: &Point| (p.y - origin.y) as f64 - rate * (p.x - origin.x) as f64;
    let mut upper = [f64::INFINITY; STRETCHES];
    let mut lower = [f64::NEG_INFINITY; STRETCHES];
    for p in &points.upper {
        upper[stretch(p)] = upper[stretch(p)].min(residual(p));
    }
    for p in &points.lower {
        lower[stretch(p)] = lower[stretch(p)].max(residual(p));
    }
    let middle = |(stretch, (upper, lower)): (usize, (&f64, &f64))| {
        (upper.is_finite() && lower.is_finite()).then(|| Middle {
            stretch,
            offset: f64::midpoint(*upper, *lower),
            half: (upper - lower) / 2.0,
        })
    };
    upper.iter().zip(&lower).enumerate().filter_map(middle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_fast_slew_is_not_usual() {
        // 160 s at 20 ppm, with −83,000 ppm for 1.4 s of them.
        let f = |x: i64| x + x / 50_000 - (x - 22_000_000_000).clamp(0, 1_400_000_000) / 1000 * 83;
        let mut points = Points::default();
        for i in 0..1600 {
            let x = i * 100_000_000;
            points.upper.push(Point::new(x, f(x) + 180_000 + i * 7919 % 90_000).unwrap());
            points
                .lower
                .push(Point::new(x + 5_000_000, f(x + 5_000_000) - 180_000 - i * 104_729 % 70_000).unwrap());
        }
        let nominal = NominalRate::of(&points, 500e-6, 1000e-6);
        assert!((nominal.rate - 1.000_020).abs() < 2e-6, "{nominal:?}");
        assert!(nominal.error < 10e-6, "{nominal:?}");
    }

    #[test]
    fn few_messages_leave_it_to_the_prior() {
        let point = |x, y| Point::new(x, y).unwrap();
        let prior = NominalRate::between((1.0 - 500e-6, 1.0 + 500e-6));
        let one = Points { upper: vec![point(0, 100)], lower: vec![point(50, 40)] };
        assert_eq!(NominalRate::of(&one, 500e-6, 1000e-6), prior);
        let direction =
            Points { upper: vec![point(0, 100), point(1_000_000_000, 1_000_000_000)], lower: Vec::new() };
        assert_eq!(NominalRate::of(&direction, 500e-6, 1000e-6), prior);
    }

    #[test]
    fn a_rate_beyond_the_prior_is_believed_when_it_is_proven() {
        let mut points = Points::default();
        for i in 0..200 {
            let (x, y) = (i * 10_000_000, i * 41_000_000);
            points.upper.push(Point::new(x, y + 90_000).unwrap());
            points.lower.push(Point::new(x + 1_000_000, y + 4_100_000 - 80_000).unwrap());
        }
        let nominal = NominalRate::of(&points, 500e-6, 1000e-6);
        assert!((nominal.rate - 4.1).abs() <= nominal.error && nominal.error < 0.02, "{nominal:?}");
    }

    proptest! {
        /// Whatever the delays are, the mean of a constant rate is within the error of the nominal rate.
        #[test]
        fn delays_do_not_move_it(
            ppm in -450i64..450,
            messages in prop::collection::vec((0i64..3_000_000_000, any::<bool>(), 0i64..40_000_000), 2..60),
            period in 20_000_000i64..2_000_000_000, queue in 0i64..50_000_000,
        ) {
            let f = |x: i64| x + (x as i128 * ppm as i128 / 1_000_000) as i64;
            let mut points = Points::default();
            for (x, forth, delay) in messages {
                // A queue one way that fills and empties.
                let held = (x % period) as i128 * queue as i128 / period as i128;
                if forth {
                    points.upper.push(Point::new(x, f(x) + held as i64 + delay % 200_000 + 1).unwrap());
                } else {
                    points.lower.push(Point::new(x, f(x) - delay - 1).unwrap());
                }
            }
            points.upper.sort_unstable();
            points.lower.sort_unstable();
            let nominal = NominalRate::of(&points, 500e-6, 1000e-6);
            let rate = 1.0 + ppm as f64 * 1e-6;
            prop_assert!((rate - nominal.rate).abs() <= nominal.error + 1e-9, "{nominal:?}");
        }
    }
}
