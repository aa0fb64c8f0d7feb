//! LTTV's analysis `chull` (Poirier, 2009): two half hulls for each pair of traces, and the line that halves the angle between the
//! extreme lines (Duda and others 1987; Haddad 1988, section 6.1). Where no line satisfies all messages, the best of those through one vertex of
//! each half hull, as Ashton (1995) has it. Used by [`super::solve`].
//!
//! What is left of the original: its geometry. What is not: it drops messages that come out of order, decides signs in floating point, and
//! replaces the result by that of a linear program whose tolerances do not suit nanoseconds where it is built with one.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One as _, Signed as _, ToPrimitive as _, Zero as _};

use crate::hull::{HalfHull, Side};
use crate::point::Point;

use super::extremes::Extremes;
use super::line::{Line, integer};
use super::{Found, Outcome};

/// Vertices of a half hull between which the line of least violation is looked for; of more, so many spread over all of them.
const CANDIDATES: usize = 256;
/// Digits beyond those asked for, in the one root that is not a ratio.
const GUARD: u32 = 60;

/// The line between two clocks by their half hulls. `digits`: how many will be shown.
pub(crate) fn line(upper: &HalfHull, lower: &HalfHull, digits: u32) -> Found {
    let extremes = Extremes::of(upper, lower);
    let (min, max) = (extremes.min.and_then(Line::through), extremes.max.and_then(Line::through));
    let found = Found { min, max, ..Found::default() };
    if !extremes.feasible {
        return match least_violation(upper, lower) {
            Some((line, sum)) => {
                let accuracy = sum.to_f64();
                Found { outcome: Outcome::Approximate, line: Some(line), accuracy, ..found }
            }
            None => found,
        };
    }
    match (&found.min, &found.max) {
        (Some(min), Some(max)) => {
            let accuracy = (max.slope() - min.slope()).to_f64();
            let line = bisector(min, max, digits);
            Found { outcome: Outcome::Accurate, line, accuracy, ..found }
        }
        (None, None) => found,
        _ => Found { outcome: Outcome::Incomplete, ..found },
    }
}

/// The line that halves the angle between the line of least and that of greatest slope. With slopes p/q and r/s its slope is
/// (pr − qs + √((p² + q²)(r² + s²))) / (ps + qr).
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

/// Of all lines through one vertex of each half hull the one with the least sum of violations of all vertices, and that sum, ns.
/// `O(h₁·h₂·(h₁ + h₂))`, with `h` at most `CANDIDATES` in the first two places.
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
