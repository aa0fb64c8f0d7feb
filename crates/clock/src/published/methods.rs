//! The methods: from the messages of a pair of clocks to one line between them. Used by [`super::solve`].
//!
//! All but the regression begin with the steepest and the flattest line that no message of the pair
//! contradicts (Haddad 1988, section 6.2). Their slopes may be negative: the methods do not ask whether what
//! they find is a relation of clocks.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One as _, Signed as _, ToPrimitive as _, Zero as _};

use super::line::{Line, integer, ratio};
use super::{Outcome, PairFit};
use crate::geometry::{Extremes, HalfHull, MarginLine, Point, RATE_PRIOR_PPM, Side, SlopeRange};

/// Maximal number of vertices of a half hull among which the line of least violation is searched; of more,
/// every n-th counts.
const CANDIDATES: usize = 256;
/// Extra digits of the one root that is not a ratio.
const GUARD: u32 = 60;

/// The slopes that the messages of a pair leave, `None` where no line satisfies all of them, and the extreme
/// lines.
fn extreme_lines(upper: &HalfHull, lower: &HalfHull) -> (Option<SlopeRange>, PairFit) {
    let extremes = Extremes::of(lower.vertices(), upper.vertices());
    let line = |touched: Option<(Point, Point)>| touched.and_then(Line::through);
    let found = PairFit { min: line(extremes.min), max: line(extremes.max), ..PairFit::default() };
    (extremes.rates().ok().filter(|rates| !rates.is_empty()), found)
}

/// The line of greatest margin: the one for which the fastest message of either direction could have been
/// faster by most. It is the solution of the linear program that several authors give (Sirdey and Maurice,
/// 2008, among them). Rates that the messages leave open are those that computers have.
pub(super) fn margin(upper: &HalfHull, lower: &HalfHull) -> PairFit {
    let (rates, found) = extreme_lines(upper, lower);
    let prior = SlopeRange::prior(RATE_PRIOR_PPM);
    let is_feasible = rates.is_some();
    let rates = rates.unwrap_or(prior);
    let Some(band) = rates.intersect(prior).closed().or_else(|| rates.closed()) else { return found };
    let Some(margin) = MarginLine::between(upper, lower, band) else { return found };
    let slope = ratio(margin.slope().dy(), margin.slope().dx());
    let parallel = |point| Line::of_slope(slope.clone(), point);
    let line = parallel(margin.upper()).mean(&parallel(margin.lower()));
    let outcome = match (is_feasible, &found.min, &found.max) {
        (false, ..) => Outcome::Approximate,
        (true, Some(_), Some(_)) => Outcome::Accurate,
        _ => Outcome::Incomplete,
    };
    let wide = ratio(band.max().dy(), band.max().dx()) - ratio(band.min().dy(), band.min().dx());
    PairFit { outcome, line: Some(line), accuracy: wide.to_f64(), ..found }
}

/// Trace Compass's `SyncAlgorithmFullyIncremental` (Jabbarifar, Dagenais and others, 2011–2013): the mean of
/// the slopes and of the offsets of the extreme lines. x is the clock whose name is first in the order of
/// names.
///
/// A line that is missing has slope 1 and passes through the last message of its side. What is not kept:
/// signs decided in 64 bits, which overflow without notice; a half hull of one message that no line begins
/// at; messages that have to come in order; and a formula that continues to be applied after its messages
/// contradict each other.
pub(super) fn tracecompass(upper: &HalfHull, lower: &HalfHull) -> PairFit {
    let (rates, found) = extreme_lines(upper, lower);
    if rates.is_none() {
        return PairFit { outcome: Outcome::Failed, ..found };
    }
    let through = |hull: &HalfHull| Some(Line::of_slope(BigRational::one(), *hull.vertices().last()?));
    let (outcome, pair) = match (&found.min, &found.max) {
        (Some(min), Some(max)) => (Outcome::Accurate, Some((min.clone(), max.clone()))),
        (Some(min), None) => (Outcome::Approximate, through(upper).map(|max| (min.clone(), max))),
        (None, Some(max)) => (Outcome::Approximate, through(lower).map(|min| (min, max.clone()))),
        (None, None) => (Outcome::Incomplete, None),
    };
    let Some((min, max)) = pair else { return PairFit { outcome, ..found } };
    let accuracy = (max.slope() - min.slope()).to_f64().map(f64::abs);
    PairFit { outcome, accuracy, line: Some(min.mean(&max)).filter(is_within), ..found }
}

/// Whether Trace Compass takes the slope: from 10⁻⁹ to 10⁹.
fn is_within(line: &Line) -> bool {
    let limit = BigRational::from_integer(BigInt::from(1_000_000_000));
    (limit.recip()..=limit).contains(line.slope())
}

/// LTTV's analysis `chull` (Poirier, 2009): two half hulls for each pair of traces, and the line that halves
/// the angle between the extreme lines (Duda and others 1987; Haddad 1988, section 6.1). Where no line
/// satisfies all messages, the best of those through one vertex of each half hull, as Ashton (1995) has it.
/// `digits`: number of digits that will be shown.
///
/// What is left of the original: its geometry. What is not: it drops messages that come out of order, decides
/// signs in floating point, and replaces the result by that of a linear program whose tolerances do not suit
/// nanoseconds where it is built with one.
pub(super) fn hull(upper: &HalfHull, lower: &HalfHull, digits: u32) -> PairFit {
    let (rates, found) = extreme_lines(upper, lower);
    if rates.is_none() {
        return match least_violation(upper, lower) {
            Some((line, sum)) => {
                let accuracy = sum.to_f64();
                PairFit { outcome: Outcome::Approximate, line: Some(line), accuracy, ..found }
            }
            None => found,
        };
    }
    match (&found.min, &found.max) {
        (Some(min), Some(max)) => {
            let accuracy = (max.slope() - min.slope()).to_f64();
            let line = bisector(min, max, digits);
            PairFit { outcome: Outcome::Accurate, line, accuracy, ..found }
        }
        (None, None) => found,
        _ => PairFit { outcome: Outcome::Incomplete, ..found },
    }
}

/// The line that halves the angle between the line of least and that of greatest slope. With slopes p/q and
/// r/s its slope is (pr − qs + √((p² + q²)(r² + s²))) / (ps + qr).
fn bisector(min: &Line, max: &Line, digits: u32) -> Option<Line> {
    let (p, q) = (max.slope().numer(), max.slope().denom());
    let (r, s) = (min.slope().numer(), min.slope().denom());
    let scale = BigInt::from(10).pow(digits + GUARD);
    let square: BigInt = (p * p + q * q) * (r * r + s * s) * &scale * &scale;
    let root = BigRational::new(square.sqrt(), scale);
    let sum = p * s + q * r;
    let slope = match sum.is_zero() {
        true => BigRational::zero(),
        false => (root + p * r - q * s) / sum,
    };
    let tilt = BigRational::one() + &slope * max.slope();
    if tilt.is_zero() {
        return None;
    }
    // The offsets belong to the lines the other way round: the flattest has the greatest.
    let (high, low) = (min.offset(), max.offset());
    let half = (high - low) / BigInt::from(2);
    let offset = high - half * (&slope * &slope + BigInt::one()) / tilt;
    Some(Line::new(slope, offset))
}

/// Of all lines through one vertex of each half hull the one with the least sum of violations of all
/// vertices, and that sum, ns. `O(h₁·h₂·(h₁ + h₂))`, with `h` at most `CANDIDATES` in the first two places.
fn least_violation(upper: &HalfHull, lower: &HalfHull) -> Option<(Line, BigRational)> {
    let spread = |hull: &HalfHull| {
        let vertices = hull.vertices();
        let step = vertices.len().div_ceil(CANDIDATES).max(1);
        vertices.iter().copied().step_by(step).collect::<Vec<_>>()
    };
    let mut best: Option<(Line, BigRational)> = None;
    for high in spread(upper) {
        for low in spread(lower) {
            let ordered = if high.x() < low.x() { (high, low) } else { (low, high) };
            let Some(line) = Line::through(ordered) else { continue };
            let sum = violation(&line, upper) + violation(&line, lower);
            if best.as_ref().is_none_or(|(_, least)| sum < *least) {
                best = Some((line, sum));
            }
        }
    }
    best
}

fn violation(line: &Line, hull: &HalfHull) -> BigRational {
    let of = |&point: &Point| {
        let above = line.height(point.x()) - integer(point.y());
        match hull.side() {
            Side::Upper => above,
            Side::Lower => -above,
        }
    };
    hull.vertices()
        .iter()
        .map(of)
        .filter(BigRational::is_positive)
        .fold(BigRational::zero(), |sum, by| sum + by)
}
