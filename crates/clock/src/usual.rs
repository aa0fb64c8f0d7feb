//! The usual rate between two clocks: what a daemon that steers one of them steers about.
//!
//! The mean over the trace would do, were there no slew of tens of thousands of ppm when a daemon starts: so it is the median of
//! the rates over short stretches. It is a choice that becomes a part of the assumption ("within 500 ppm of this"), so floating
//! point decides.

use crate::chain::Points;
use crate::point::Point;

/// Stretches of which each gives one middle of the corridor.
const STRETCHES: usize = 64;
/// Rates are taken between the middles of stretches that are this many apart.
const APART: usize = 4;
/// With fewer middles, the rate is that between the first and the last.
const FEW: usize = 8;

/// A rate, dimensionless, and how far the messages leave it open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Usual {
    pub(crate) rate: f64,
    pub(crate) error: f64,
}

/// The middle of the corridor in a stretch: time, b − line, half the gap, ns.
#[derive(Debug, Clone, Copy)]
struct Middle {
    x: f64,
    offset: f64,
    half: f64,
}

impl Usual {
    /// Of messages; `prior` is how far the rate may be from 1 where they leave it open, dimensionless. O(k).
    pub(crate) fn of(points: &Points, prior: f64) -> Self {
        let open = Self { rate: 1.0, error: prior };
        let all = || points.upper.iter().chain(&points.lower);
        let (Some(first), Some(last)) = (all().min(), all().max()) else { return open };
        if points.upper.is_empty() || points.lower.is_empty() || last.x <= first.x {
            return open;
        }
        let length = (last.x - first.x) as f64;
        // Twice: with the rate of the first time, stretches are flat.
        let mut rate = (last.y as f64 - first.y as f64) / length;
        let mut error = f64::INFINITY;
        for _ in 0..2 {
            let middles = middles(points, *first, length, rate);
            let (Some(begin), Some(end)) = (middles.first(), middles.last()) else { return open };
            let mut halves: Vec<f64> = middles.iter().map(|m| m.half.abs()).collect();
            halves.sort_by(f64::total_cmp);
            error = 2.0 * halves[halves.len() / 2] / (end.x - begin.x).max(1.0);
            if middles.len() < FEW {
                if end.x > begin.x {
                    rate += (end.offset - begin.offset) / (end.x - begin.x);
                }
                continue;
            }
            let mut slopes: Vec<f64> = middles
                .iter()
                .zip(&middles[APART..])
                .map(|(a, b)| (b.offset - a.offset) / (b.x - a.x))
                .collect();
            slopes.sort_by(f64::total_cmp);
            rate += slopes[slopes.len() / 2];
        }
        if !(rate.is_finite() && rate > 0.0) || error >= prior {
            // What is left open is no more than what is believed beforehand, unless that is contradicted.
            return if (rate - 1.0).abs() <= prior + error.min(1.0) || !rate.is_finite() {
                open
            } else {
                Self { rate: rate.max(f64::MIN_POSITIVE), error: error.min(0.5) }
            };
        }
        Self { rate, error }
    }
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
    let middle = |(at, (upper, lower)): (usize, (&f64, &f64))| {
        (upper.is_finite() && lower.is_finite()).then(|| Middle {
            x: (at as f64 + 0.5) * length / STRETCHES as f64,
            offset: f64::midpoint(*upper, *lower),
            half: (upper - lower) / 2.0,
        })
    };
    upper.iter().zip(&lower).enumerate().filter_map(middle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let usual = Usual::of(&points, 500e-6);
        assert!((usual.rate - 1.000_020).abs() < 2e-6, "{usual:?}");
        assert!(usual.error < 10e-6, "{usual:?}");
    }

    #[test]
    fn few_messages_leave_it_to_the_prior() {
        let point = |x, y| Point::new(x, y).unwrap();
        let one = Points { upper: vec![point(0, 100)], lower: vec![point(50, 40)] };
        assert_eq!(Usual::of(&one, 500e-6), Usual { rate: 1.0, error: 500e-6 });
        let way =
            Points { upper: vec![point(0, 100), point(1_000_000_000, 1_000_000_000)], lower: Vec::new() };
        assert_eq!(Usual::of(&way, 500e-6), Usual { rate: 1.0, error: 500e-6 });
    }
}
