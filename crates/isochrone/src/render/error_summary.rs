//! Errors of times: usual, best and worst. Spans around steps are separate: there, either side of the step is possible, and one such span would
//! hide the errors of all other times. Part of [`super::report`].

use isochrone_corrections::artefact::BreakKind;
use isochrone_corrections::{Clock, Clocks};

/// Errors of a clock over its traced span, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errors {
    /// The guarantee half of the time: the median over time.
    pub(crate) usual: i64,
    /// The likely error half of the time.
    pub(crate) usually_likely: i64,
    /// The guarantee at the best instant.
    pub(crate) best: i64,
    /// The guarantee at the worst instant that is not around a step.
    pub(crate) worst: i64,
    /// The guarantee at the worst instant around a step.
    pub(crate) at_steps: Option<i64>,
}

/// Instants, evenly over the traced span, that the medians are of.
const INSTANTS: i128 = 1_000;

/// Rows more than this many times as wide as half of all rows are wide for a reason.
const WIDE: i64 = 2;

impl Errors {
    /// A row is around a step if it reaches to where any clock of the island was set, and is wide for that reason.
    pub(crate) fn of(clock: &Clock, clocks: &Clocks) -> Self {
        let rows = clock.interval.rows();
        let mut widths: Vec<i64> = rows.iter().map(|row| row.hi.saturating_sub(row.lo)).collect();
        widths.sort_unstable();
        let wide = widths.get(widths.len() / 2).map_or(0, |median| median.saturating_mul(WIDE));
        let of_island = clocks.iter().filter(|other| other.entry.island == clock.entry.island);
        let steps: Vec<(i64, i64)> = of_island
            .flat_map(|other| {
                let steps = other.entry.breaks.iter().filter(|found| found.kind == BreakKind::Step);
                let at = |raw| other.correction.apply(raw);
                steps.map(move |step| (at(step.raw_range_ns.0), at(step.raw_range_ns.1)))
            })
            .collect();
        let (usual, usually_likely) = medians(clock);
        let mut errors = Self { usual, usually_likely, best: i64::MAX, worst: 0, at_steps: None };
        for row in rows {
            let error = error_at(clock, row.raw, row.lo, row.hi);
            errors.best = errors.best.min(error);
            let is_wide = row.hi.saturating_sub(row.lo) > wide;
            if is_wide && steps.iter().any(|&(begin, end)| row.lo <= end && begin <= row.hi) {
                errors.at_steps = Some(errors.at_steps.map_or(error, |known| known.max(error)));
            } else {
                errors.worst = errors.worst.max(error);
            }
        }
        errors
    }
}

/// How far the estimate can be from the truth at an instant, ns.
fn error_at(clock: &Clock, raw: i64, lo: i64, hi: i64) -> i64 {
    let estimate = clock.correction.apply(raw);
    hi.saturating_sub(estimate).max(estimate.saturating_sub(lo))
}

/// The guarantee and the likely error that hold half of the time, each by itself. Rows are dense where much happens, so that their number
/// is no measure of time.
fn medians(clock: &Clock) -> (i64, i64) {
    let (Some(first), Some(last)) = (clock.interval.rows().first(), clock.interval.rows().last()) else {
        return (0, 0);
    };
    let span = i128::from(last.raw) - i128::from(first.raw);
    let instants =
        (0..=INSTANTS).filter_map(|n| i64::try_from(i128::from(first.raw) + span * n / INSTANTS).ok());
    let at = |raw| clock.interval.at(raw).map(|(lo, hi, e95)| (error_at(clock, raw, lo, hi), e95));
    let (mut errors, mut likely): (Vec<i64>, Vec<i64>) = instants.filter_map(at).unzip();
    (median(&mut errors), median(&mut likely))
}

/// The middle one; of two, the greater.
fn median(values: &mut [i64]) -> i64 {
    let middle = values.len() / 2;
    if values.is_empty() { 0 } else { *values.select_nth_unstable(middle).1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        let check = |values: &[i64], expect| assert_eq!(median(&mut values.to_vec()), expect, "{values:?}");
        check(&[], 0);
        check(&[7], 7);
        check(&[9, 1], 9);
        check(&[3, 1, 2], 2);
    }
}
