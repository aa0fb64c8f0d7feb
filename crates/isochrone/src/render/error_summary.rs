//! How far times are off, apart from the stretches around steps: there, either side of the step is possible, and one such
//! stretch would hide what all other times are worth. Part of [`super::report`].

use isochrone_sync::apply::{Clock, Clocks};
use isochrone_sync::artefact::BreakKind;

/// Errors of a clock over its traced span, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errors {
    /// The guarantee at the best instant.
    pub(crate) best: i64,
    /// The guarantee at the worst instant that is not around a step.
    pub(crate) worst: i64,
    /// The guarantee at the worst instant around a step.
    pub(crate) at_steps: Option<i64>,
    /// The likely error at the worst instant that is not around a step.
    pub(crate) likely: i64,
}

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
        let mut errors = Self { best: i64::MAX, worst: 0, at_steps: None, likely: 0 };
        for row in rows {
            let estimate = clock.correction.apply(row.raw);
            let error = row.hi.saturating_sub(estimate).max(estimate.saturating_sub(row.lo));
            errors.best = errors.best.min(error);
            let is_wide = row.hi.saturating_sub(row.lo) > wide;
            if is_wide && steps.iter().any(|&(begin, end)| row.lo <= end && begin <= row.hi) {
                errors.at_steps = Some(errors.at_steps.map_or(error, |known| known.max(error)));
            } else {
                errors.worst = errors.worst.max(error);
                errors.likely = errors.likely.max(row.e95);
            }
        }
        errors
    }
}
