//! Trace Compass's `SyncAlgorithmFullyIncremental` (Jabbarifar, Dagenais and others, 2011–2013): the extreme lines of each pair, and the
//! mean of their slopes and of their offsets. Used by [`super::solve`].
//!
//! A line that is missing has slope 1 and passes through the last message of its side. What is not kept: signs decided in 64 bits, which
//! overflow without notice; a half hull of one message that no line begins at; messages that have to come in order; and a formula that goes on to be
//! applied after its messages contradict each other.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One as _, ToPrimitive as _};

use crate::hull::HalfHull;

use super::extremes::Extremes;
use super::line::Line;
use super::{Found, Outcome};

/// The line between two clocks by their half hulls; x is the clock whose name is first in the order of names.
pub(crate) fn line(upper: &HalfHull, lower: &HalfHull) -> Found {
    let extremes = Extremes::of(upper, lower);
    let (min, max) = (extremes.min.and_then(Line::through), extremes.max.and_then(Line::through));
    let found = Found { min, max, ..Found::default() };
    if !extremes.feasible {
        return Found { outcome: Outcome::Failed, ..found };
    }
    let through = |hull: &HalfHull| Some(Line::of_slope(BigRational::one(), *hull.vertices().last()?));
    let (outcome, pair) = match (&found.min, &found.max) {
        (Some(min), Some(max)) => (Outcome::Accurate, Some((min.clone(), max.clone()))),
        (Some(min), None) => (Outcome::Approximate, through(upper).map(|max| (min.clone(), max))),
        (None, Some(max)) => (Outcome::Approximate, through(lower).map(|min| (min, max.clone()))),
        (None, None) => (Outcome::Incomplete, None),
    };
    let Some((min, max)) = pair else { return Found { outcome, ..found } };
    let accuracy = (max.slope() - min.slope()).to_f64().map(f64::abs);
    Found { outcome, accuracy, line: Some(min.mean(&max)).filter(is_within), ..found }
}

/// Whether Trace Compass takes the slope: from 10⁻⁹ to 10⁹.
fn is_within(line: &Line) -> bool {
    let limit = BigRational::from_integer(BigInt::from(1_000_000_000));
    (limit.recip()..=limit).contains(line.slope())
}
