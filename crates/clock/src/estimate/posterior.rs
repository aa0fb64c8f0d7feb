//! The likeliest line of a link: the posterior mean over the slope, in closed form.
//!
//! Every slope b that the messages allow has a highest line g(b) that no message from a to b contradicts and
//! a lowest line h(b) that none from b to a contradicts. Delays above the floor that are about exponential,
//! with rates wf and wb per nanosecond near it, make the slope's log posterior
//!
//! > W(b) = wf·(g(b) + b·xf) − wb·(h(b) + b·xb),  xf, xb the mean abscissas of the messages,
//!
//! concave and piecewise linear with the hull edges as its corners. The estimate is the mean of b and of
//! (g(b) + h(b)) / 2 under the weight exp W, an integral of exponentials: no iteration, nothing to tune. It
//! is a mean of lines inside a convex corridor, hence inside.
//!
//! Everything is computed relative to an exact line through the messages, so that floating point sees
//! residuals only. [`crate::estimate::folds`] averages several such lines and is what callers use.

use crate::estimate::frame::FramePoint;

/// Number of least slacks that estimate the rate of delays near the floor.
///
/// The estimate is insensitive to it: 10, 20, 40, √n and 10 % of n give errors within 5 %.
pub const NEAR_FLOOR: usize = 20;

/// The least mean slack that a rate is made of, ns.
///
/// Slacks of coarse clocks may all be equal; then the rate is not infinite.
const MIN_MEAN_NS: f64 = 1e-3;

/// Below this exponent the moments of a segment are taken from their series: the closed forms cancel.
const SMALL_EXPONENT: f64 = 0.01;

/// Evidence of one direction about the line, turned.
#[derive(Debug, Clone)]
pub(crate) struct Evidence {
    /// The convex chain.
    pub(crate) vertices: Vec<FramePoint>,
    /// Number of messages times the rate of their delays near the floor, 1/ns.
    pub(crate) rate: f64,
    /// Mean run of the messages.
    pub(crate) mean: f64,
}

/// The rate of `count` delays near their floor, times `count`, from the slacks of those kept: the estimate
/// for exponential delays of which only the least are seen. 1/ns, positive.
///
/// A single message has no spread; its delay is taken to be half the `gap` between the directions.
pub(crate) fn near_floor_rate(slacks: impl IntoIterator<Item = f64>, count: f64, gap: f64) -> f64 {
    let slacks = slacks.into_iter();
    let mut least: Vec<f64> = Vec::with_capacity(slacks.size_hint().1.unwrap_or(0));
    least.extend(slacks);
    if least.len() > NEAR_FLOOR {
        least.select_nth_unstable_by(NEAR_FLOOR - 1, f64::total_cmp);
        least.truncate(NEAR_FLOOR);
    }
    least.sort_unstable_by(f64::total_cmp);
    let [first, .., last] = least[..] else { return gap.max(MIN_MEAN_NS).recip() };
    let seen = least.len() as f64;
    let above: f64 = least.iter().map(|s| s - first).sum();
    let mean = (above + (count - seen).max(0.0) * (last - first)) / count.max(seen);
    (seen - 1.0) / mean.max(MIN_MEAN_NS)
}

/// Mean and covariance of offset (ns, at the frame's origin) and tilt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Posterior {
    pub(crate) offset: f64,
    pub(crate) tilt: f64,
    /// Of (offset, tilt), within the corridor's middle: the uncertainty of the floors is not in it.
    pub(crate) covariance: [[f64; 2]; 2],
}

/// One slope of the corridor, relative to the frame.
#[derive(Debug, Clone, Copy)]
struct Corner {
    tilt: f64,
    /// Least slack of either (turned) direction.
    least: [f64; 2],
}

impl Corner {
    fn gap(&self) -> f64 {
        self.least[0] + self.least[1]
    }

    /// The middle of the corridor, turned back.
    fn middle(&self) -> f64 {
        (self.least[0] - self.least[1]) / 2.0
    }

    /// The point at which the gap vanishes on the way to the next corner.
    fn closing(&self, next: &Self) -> Self {
        let t = self.gap() / (self.gap() - next.gap());
        let mix = |from: f64, to: f64| from + t * (to - from);
        let least = [mix(self.least[0], next.least[0]), mix(self.least[1], next.least[1])];
        Self { tilt: mix(self.tilt, next.tilt), least }
    }
}

/// The posterior mean line of two turned directions with tilts within `band`; `None` when the corridor leaves
/// no range of slopes. O(h).
pub(crate) fn posterior(sides: &[Evidence; 2], band: (f64, f64)) -> Option<Posterior> {
    let corners = feasible(&corners(sides, band));
    let log_weight = |c: &Corner| {
        [0, 1].map(|s| sides[s].rate * (c.least[s] + c.tilt * sides[s].mean)).iter().sum::<f64>()
    };
    let weights: Vec<f64> = corners.iter().map(log_weight).collect();
    let highest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let parts: Vec<LinearPart> = (corners.windows(2).zip(weights.windows(2)))
        .map(|(c, w)| LinearPart::new([&c[0], &c[1]], [w[0] - highest, w[1] - highest]))
        .collect();

    let total: f64 = parts.iter().map(|s| s.weight * s.moments[0]).sum();
    if !(total.is_finite() && total > 0.0) {
        return None;
    }
    let mean = |of: &dyn Fn(&LinearPart) -> f64| parts.iter().map(|s| s.weight * of(s)).sum::<f64>() / total;
    let tilt = mean(&|s| s.tilt.at(s.moments, 0.0));
    let offset = mean(&|s| s.middle.at(s.moments, 0.0));
    let product = |s: &LinearPart, p: Linear, p0: f64, q: Linear, q0: f64| {
        let (p_left, q_left) = (p.left - p0, q.left - q0);
        p_left * q_left * s.moments[0]
            + (p_left * q.change + q_left * p.change) * s.moments[1]
            + p.change * q.change * s.moments[2]
    };
    let mixed = mean(&|s| product(s, s.middle, offset, s.tilt, tilt));
    let covariance = [
        [mean(&|s| product(s, s.middle, offset, s.middle, offset)), mixed],
        [mixed, mean(&|s| product(s, s.tilt, tilt, s.tilt, tilt))],
    ];
    let finite = covariance.iter().flatten().all(|v| v.is_finite());
    (finite && offset.is_finite() && tilt.is_finite()).then_some(Posterior { offset, tilt, covariance })
}

/// The slopes between which the least slacks are linear, both ends of the band included.
fn corners(sides: &[Evidence; 2], band: (f64, f64)) -> Vec<Corner> {
    let edge = |s: usize, i: usize| match sides[s].vertices.get(i..i + 2) {
        Some([left, right]) => (right.residual - left.residual) / (right.run - left.run),
        _ => f64::INFINITY,
    };
    let mut corners = Vec::with_capacity(2 + sides[0].vertices.len() + sides[1].vertices.len());
    let mut support = [0, 0];
    let mut tilt = band.0;
    loop {
        for (s, i) in support.iter_mut().enumerate() {
            while edge(s, *i) <= tilt {
                *i += 1;
            }
        }
        let least = [0, 1].map(|s| sides[s].vertices.get(support[s]).map_or(0.0, |v| v.slack(tilt)));
        corners.push(Corner { tilt, least });
        if tilt >= band.1 {
            return corners;
        }
        // Each edge is passed once: the loop ends after at most all of them.
        tilt = edge(0, support[0]).min(edge(1, support[1])).min(band.1);
    }
}

/// The part in which a line fits between the directions. The gap is concave: it opens once and closes once.
fn feasible(corners: &[Corner]) -> Vec<Corner> {
    let mut feasible = Vec::with_capacity(corners.len() + 2);
    let mut before: Option<&Corner> = None;
    for corner in corners {
        if let Some(before) = before
            && (before.gap() < 0.0) != (corner.gap() < 0.0)
        {
            feasible.push(before.closing(corner));
        }
        if corner.gap() >= 0.0 {
            feasible.push(*corner);
        }
        before = Some(corner);
    }
    feasible
}

/// A quantity that is linear along a segment: at its left end, and how much it grows to the right end.
#[derive(Debug, Clone, Copy)]
struct Linear {
    left: f64,
    change: f64,
}

impl Linear {
    /// Its integral over the segment, relative to `origin`.
    fn at(self, moments: [f64; 3], origin: f64) -> f64 {
        (self.left - origin) * moments[0] + self.change * moments[1]
    }
}

/// Between two corners: the log weight is linear.
#[derive(Debug, Clone, Copy)]
struct LinearPart {
    /// Weight of the heavier end times the width.
    weight: f64,
    /// ∫ tⁱ·exp(…) dt over the segment with t from 0 on the left to 1 on the right, relative to `weight`.
    moments: [f64; 3],
    tilt: Linear,
    middle: Linear,
}

impl LinearPart {
    /// Anchored at the heavier end, so that no exponential overflows, however many messages there are.
    fn new([left, right]: [&Corner; 2], [w_left, w_right]: [f64; 2]) -> Self {
        let width = (right.tilt - left.tilt).max(0.0);
        let [f0, f1, f2] = exponential_moments(-(w_right - w_left).abs());
        let moments = if w_right > w_left { [f0, f0 - f1, f0 - 2.0 * f1 + f2] } else { [f0, f1, f2] };
        Self {
            weight: w_left.max(w_right).exp() * width,
            moments,
            tilt: Linear { left: left.tilt, change: width },
            middle: Linear { left: left.middle(), change: right.middle() - left.middle() },
        }
    }
}

/// ∫₀¹ tⁱ·exp(y·t) dt for i = 0, 1, 2 and y ≤ 0.
fn exponential_moments(y: f64) -> [f64; 3] {
    if y > -SMALL_EXPONENT {
        let (y2, y3) = (y * y, y * y * y);
        return [
            1.0 + y / 2.0 + y2 / 6.0 + y3 / 24.0,
            1.0 / 2.0 + y / 3.0 + y2 / 8.0 + y3 / 30.0,
            1.0 / 3.0 + y / 4.0 + y2 / 10.0 + y3 / 36.0,
        ];
    }
    let e = y.exp();
    // e·y² is 0 and not NaN for the largest |y|: e underflows long before y² overflows.
    [(e - 1.0) / y, (e * (y - 1.0) + 1.0) / (y * y), (e * (y * y - 2.0 * y + 2.0) - 2.0) / (y * y * y)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::sample::DirectionSample;
    use crate::geometry::chain;
    use proptest::prelude::*;

    fn evidence(spots: &[(i32, i32)], rate: f64, mean: f64) -> Evidence {
        let points: Vec<_> =
            spots.iter().map(|&(x, y)| crate::Point::new(x.into(), y.into()).unwrap()).collect();
        let vertices =
            chain(DirectionSample::of_all(points).turned(crate::Side::Upper).iter().map(|k| k.point));
        let spot = |p: crate::Point| FramePoint { run: p.x() as f64, residual: p.y() as f64 };
        Evidence { vertices: vertices.into_iter().map(spot).collect(), rate, mean }
    }

    /// Mean and covariance by the trapezoidal rule over the slopes that fit, from the points themselves.
    fn integrated(spots: [&[(i32, i32)]; 2], rates: [f64; 2], means: [f64; 2]) -> Option<Posterior> {
        const STEPS: i32 = 20_000;
        let least = |s: usize, b: f64| {
            spots[s].iter().map(|&(x, y)| f64::from(y) - b * f64::from(x)).fold(f64::INFINITY, f64::min)
        };
        // The ends of the range: slopes of lines through an upper and a (turned) lower point.
        let (mut low, mut high) = (-1.0f64, 1.0f64);
        for &(x, y) in spots[0] {
            for &(p, q) in spots[1] {
                let (run, rise) = (f64::from(x + p), f64::from(y + q));
                match run {
                    r if r > 0.0 => high = high.min(rise / r),
                    r if r < 0.0 => low = low.max(rise / r),
                    _ if rise < 0.0 => return None,
                    _ => {}
                }
            }
        }
        if high - low < 1e-6 {
            return None;
        }
        let at = |i: i32| {
            let b = low + (high - low) * f64::from(i) / f64::from(STEPS);
            let [g, h] = [least(0, b), least(1, b)];
            let log = rates[0] * (g + b * means[0]) + rates[1] * (h + b * means[1]);
            (b, (g - h) / 2.0, log)
        };
        let samples: Vec<_> = (0..=STEPS).map(at).collect();
        let top = samples.iter().map(|s| s.2).fold(f64::NEG_INFINITY, f64::max);
        let sum = |of: &dyn Fn(f64, f64) -> f64| {
            let terms = samples.iter().enumerate().map(|(i, &(b, a, log))| {
                let end = i == 0 || i == STEPS as usize;
                of(a, b) * (log - top).exp() * if end { 0.5 } else { 1.0 }
            });
            terms.sum::<f64>()
        };
        let total = sum(&|_, _| 1.0);
        let (offset, tilt) = (sum(&|a, _| a) / total, sum(&|_, b| b) / total);
        let second = |of: &dyn Fn(f64, f64) -> f64| sum(of) / total;
        let mixed = second(&|a, b| (a - offset) * (b - tilt));
        let covariance = [
            [second(&|a, _| (a - offset) * (a - offset)), mixed],
            [mixed, second(&|_, b| (b - tilt) * (b - tilt))],
        ];
        Some(Posterior { offset, tilt, covariance })
    }

    #[test]
    fn rates_near_the_floor() {
        let check = |slacks: &[f64], count: f64, expect: f64| {
            let found = near_floor_rate(slacks.iter().copied(), count, 500.0);
            assert!((found / expect - 1.0).abs() < 1e-12, "{found} {expect}");
        };
        check(&[7.0], 1.0, 1.0 / 500.0);
        check(&[], 5.0, 1.0 / 500.0);
        check(&[7.0, 17.0], 2.0, 1.0 / 5.0);
        check(&[17.0, 7.0, 12.0], 3.0, 2.0 / 5.0);
        check(&[17.0, 7.0, 12.0], 10.0, 2.0 / ((15.0 + 7.0 * 10.0) / 10.0));
        check(&[3.0; 9], 9.0, 8.0 / MIN_MEAN_NS);
        // Only the twenty least count: 0, 1, …, 19 of a hundred.
        let hundred: Vec<f64> = (0..100).rev().map(f64::from).collect();
        check(&hundred, 100.0, 19.0 / ((190.0 + 80.0 * 19.0) / 100.0));
    }

    #[test]
    fn series_and_closed_form_agree_where_they_meet() {
        let (series, closed) = (
            exponential_moments(-SMALL_EXPONENT * 0.999_999),
            exponential_moments(-SMALL_EXPONENT * 1.000_001),
        );
        for (s, c) in series.iter().zip(closed) {
            assert!((s - c).abs() < 1e-7, "{s} {c}");
        }
        for y in [0.0, -800.0, -1e9, -1e60] {
            let [f0, f1, f2] = exponential_moments(y);
            assert!(f0 > 0.0 && f1 >= 0.0 && f2 >= 0.0 && f0.is_finite(), "{y}");
        }
    }

    #[test]
    fn no_width_no_posterior() {
        let check = |upper: &[(i32, i32)], lower: &[(i32, i32)], band, some: bool| {
            let sides = [evidence(upper, 1.0, 0.0), evidence(lower, 1.0, 0.0)];
            assert_eq!(posterior(&sides, band).is_some(), some, "{upper:?} {lower:?}");
        };
        check(&[(0, 5)], &[(0, 5)], (-1.0, 1.0), true);
        check(&[(0, 5)], &[(0, 5)], (1.0, 1.0), false);
        check(&[(0, 5)], &[(0, -6)], (-1.0, 1.0), false);
        check(&[(0, 5)], &[(1, -6)], (-1.0, 1.0), false); // touches at slope −1 only
        check(&[(0, 5)], &[(2, -6)], (-1.0, 1.0), true);
    }

    #[test]
    fn a_great_many_messages_do_not_overflow() {
        for rate in [1e3, 1e6, 1e12, 1e30] {
            let sides = [
                evidence(&[(-900, 4), (0, 1), (800, 3)], rate, 1.0),
                evidence(&[(-7, 5), (9, 2)], rate, 0.0),
            ];
            let found = posterior(&sides, (-1.0, 1.0)).unwrap();
            assert!(found.covariance.iter().flatten().all(|v| v.is_finite()), "{found:?}");
            assert!(found.covariance[1][1] >= 0.0 && found.covariance[1][1] < 1e-6, "{found:?}");
        }
    }

    proptest! {
        #[test]
        fn the_closed_form_is_the_integral(
            upper in prop::collection::vec((-100i32..100, 0i32..60), 1..9),
            lower in prop::collection::vec((-100i32..100, 0i32..60), 1..9),
            rates in prop::array::uniform2(0.001f64..3.0),
            means in prop::array::uniform2(-50f64..50.0),
        ) {
            let sides = [evidence(&upper, rates[0], means[0]), evidence(&lower, rates[1], means[1])];
            let found = posterior(&sides, (-1.0, 1.0));
            if let Some(expect) = integrated([&upper, &lower], rates, means) {
                let found = found.unwrap();
                let [[a, _], [_, b]] = expect.covariance;
                let close = |f: f64, e: f64, scale: f64| (f - e).abs() <= 2e-3 * scale + 1e-9;
                prop_assert!(close(found.tilt, expect.tilt, b.sqrt()), "{found:?} {expect:?}");
                prop_assert!(close(found.offset, expect.offset, a.sqrt()), "{found:?} {expect:?}");
                let scales = [[a, (a * b).sqrt()], [(a * b).sqrt(), b]];
                for ((f, e), s) in found.covariance.iter().flatten()
                    .zip(expect.covariance.iter().flatten()).zip(scales.iter().flatten())
                {
                    prop_assert!(close(*f, *e, *s), "{found:?} {expect:?}");
                }
                for (side, sign) in sides.iter().zip([1.0, -1.0]) {
                    for v in &side.vertices {
                        prop_assert!(v.slack(found.tilt) - sign * found.offset > 0.0, "{found:?}");
                    }
                }
            }
        }
    }
}
