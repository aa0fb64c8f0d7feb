//! The line of greatest margin: the one for which the fastest message of either direction could have been faster by most. It is the
//! solution of the linear program that several authors give (Sirdey and Maurice, 2008, among them). Used by [`super::solve`].

use num_traits::ToPrimitive as _;

use crate::hull::HalfHull;
use crate::margin::MarginLine;
use crate::slope::{RATE_PRIOR_PPM, SlopeRange};

use super::extremes::Extremes;
use super::line::{Line, ratio};
use super::{Found, Outcome};

/// The line between two clocks by their half hulls. Rates that the messages leave open are those that computers have.
pub(crate) fn line(upper: &HalfHull, lower: &HalfHull) -> Found {
    let extremes = Extremes::of(upper, lower);
    let (min, max) = (extremes.min.and_then(Line::through), extremes.max.and_then(Line::through));
    let found = Found { min, max, ..Found::default() };
    let prior = SlopeRange::prior(RATE_PRIOR_PPM);
    let rates = if extremes.feasible { extremes.slopes() } else { prior };
    let Some(band) = rates.intersect(prior).closed().or_else(|| rates.closed()) else { return found };
    let Some(margin) = MarginLine::between(upper, lower, band) else { return found };
    let slope = ratio(margin.slope().dy(), margin.slope().dx());
    let parallel = |point| Line::of_slope(slope.clone(), point);
    let line = parallel(margin.upper()).mean(&parallel(margin.lower()));
    let outcome = match (extremes.feasible, &found.min, &found.max) {
        (false, ..) => Outcome::Approximate,
        (true, Some(_), Some(_)) => Outcome::Accurate,
        _ => Outcome::Incomplete,
    };
    let wide = ratio(band.max().dy(), band.max().dx()) - ratio(band.min().dy(), band.min().dx());
    Found { outcome, line: Some(line), accuracy: wide.to_f64(), ..found }
}
