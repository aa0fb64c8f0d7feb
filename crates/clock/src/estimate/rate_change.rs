//! How much the rate between two clocks was seen to change.
//!
//! A synchronization believes that rates are constant but for a small wander. Two things can prove it wrong:
//! messages that contradict each other, which is certain, and lines fitted to parts of the trace that differ
//! more than their errors, which is statistics and needs care: when the *delay* of one direction changes for
//! a while, the fitted lines move too, by half of it. But then the round trip changes by as much; when a
//! clock moves, the round trip stays. `crate::link::pieces` requires both.

use crate::estimate::curve::{Stretch, fits};
use crate::estimate::line::{PairEstimate, VARIANCE_FACTOR};
use crate::geometry::{Corridor, SlopeBand, Wander};
use crate::span::Span;

/// Number of standard errors within which a rate counts as seen.
const SURE: f64 = 3.0;
/// The same where the rate wandered by more than the model allows: of a hundred short stretches some
/// are off by [`SURE`].
const CERTAIN: f64 = 5.0;
/// Fits that differ from the line by more than this many standard errors on the average (root mean square)
/// are no accident.
const NO_ACCIDENT: f64 = 3.0;
/// A clock has moved when the fits move by this many times more than the round trips do. Were it the delays
/// of either direction, both would move alike.
const MORE_THAN_DELAYS: f64 = 2.0;
/// That the rate wandered by more than the model allows is not believed of this share of the fits at either
/// end.
const OUTLIERS: f64 = 0.15;
/// Fewer fits say nothing of how much they scatter.
const MIN_SCATTERED: usize = 8;
/// The rate changed by what is seen in stretches of some length, and in shorter ones it may have changed by
/// more.
const SAFETY: f64 = 1.5;
/// A line through all messages has at least this part of the room of lines through halves of them.
const PINCHED: f64 = 3.0;
/// Stretches tried: from a half of the piece to this part of it.
const SHORTEST: i64 = 32;
/// Fewer fits say nothing of a range.
const MIN_FITS: usize = 3;

/// By how much the rate was seen to leave its middle, as a rate (dimensionless), made larger for what was not
/// seen; 0 where the fits do not differ by more than their errors.
pub(crate) fn rate_change(corridor: &Corridor, band: SlopeBand) -> f64 {
    SAFETY * by_length(corridor, band).iter().map(|fits| half_range(fits, SURE)).fold(0.0, f64::max)
}

/// Whether the rate was surely seen to leave its middle by more than it may wander: in more than some fits,
/// or because the clock is farther from the line than such a wander can bring it.
pub(crate) fn exceeds(
    corridor: &Corridor,
    band: SlopeBand,
    wander: Wander,
    line: Option<&PairEstimate>,
) -> bool {
    line.is_some_and(|line| is_beyond(corridor, band, wander, line))
        || by_length(corridor, band).iter().any(|fits| {
            // Of many fits some are off: what the clock did shows in more.
            let outliers = (fits.len() as f64 * OUTLIERS).ceil() as usize;
            let edge = |sign: f64| {
                let mut ends: Vec<f64> = fits.iter().map(|f| sign * rate(f) - CERTAIN * error(f)).collect();
                ends.sort_by(|a, b| b.total_cmp(a));
                ends.get(outliers).copied().unwrap_or(f64::NEG_INFINITY)
            };
            f64::midpoint(edge(1.0), edge(-1.0)) > wander.rate()
        })
}

/// Whether fits to parts of the time surely lie farther from a line than a rate within ± `wander` of a
/// constant can bring them: by a quarter of what it makes over all of the time.
fn is_beyond(corridor: &Corridor, band: SlopeBand, wander: Wander, line: &PairEstimate) -> bool {
    let Some(Span { begin, end }) = corridor.x_range() else { return false };
    let most = wander.rate() * (end - begin) as f64 / 4.0;
    let apart = |f: &Stretch| {
        let error = (VARIANCE_FACTOR * f.line.offset_variance(f.middle)).sqrt();
        (f.line.at(f.middle) as f64 - line.at(f.middle) as f64).abs() - CERTAIN * error
    };
    [8, 16].into_iter().any(|part| stretches(corridor, band, part, 1).iter().any(|f| apart(f) > most))
}

/// A change of rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Change {
    /// Between these times of a.
    pub(crate) x: Span,
    /// Rate after − rate before.
    pub(crate) rate: f64,
}

/// Changes of the rate that fits to stretches of one length show: the length that shows most.
pub(crate) fn changes(corridor: &Corridor, band: SlopeBand) -> Vec<Change> {
    let all = by_length(corridor, band);
    let Some(best) = all.iter().max_by(|a, b| half_range(a, SURE).total_cmp(&half_range(b, SURE))) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    // Every other one: these do not share messages.
    let mut apart = best.iter().step_by(2);
    let Some(first) = apart.next() else { return found };
    let (mut mean, mut variance, mut last) = (rate(first), error(first).powi(2), first.middle);
    for fit in apart {
        let (new, spread) = (rate(fit), error(fit).powi(2));
        if (new - mean).abs() > SURE * (variance + spread).sqrt() {
            found.push(Change { x: Span { begin: last, end: fit.middle }, rate: new - mean });
            (mean, variance) = (new, spread);
        } else {
            // The more certain one counts more.
            mean = (mean * spread + new * variance) / (variance + spread).max(f64::MIN_POSITIVE);
            variance = variance * spread / (variance + spread).max(f64::MIN_POSITIVE);
        }
        last = fit.middle;
    }
    found
}

/// Half of the range of rates that a series of changes leads through.
pub(crate) fn range(changes: &[Change]) -> f64 {
    let (mut rate, mut lowest, mut highest) = (0.0, 0.0_f64, 0.0_f64);
    for change in changes {
        rate += change.rate;
        (lowest, highest) = (lowest.min(rate), highest.max(rate));
    }
    SAFETY * (highest - lowest) / 2.0
}

/// Rate of a fit, less 1.
fn rate(fit: &Stretch) -> f64 {
    fit.line.rate_ppm() * 1e-6
}

/// Standard error of that rate.
fn error(fit: &Stretch) -> f64 {
    (VARIANCE_FACTOR * fit.line.covariance()[1][1]).sqrt()
}

/// Half of the range of rates that is seen beyond `sure` standard errors, relative to the rate.
fn half_range(fits: &[Stretch], sure: f64) -> f64 {
    let highest = fits.iter().map(|f| rate(f) - sure * error(f)).fold(f64::NEG_INFINITY, f64::max);
    let lowest = fits.iter().map(|f| rate(f) + sure * error(f)).fold(f64::INFINITY, f64::min);
    let typical: f64 = 1.0 + f64::midpoint(highest, lowest);
    (highest - lowest) / 2.0 / typical.max(f64::MIN_POSITIVE)
}

/// Whether the clocks moved against each other by more than a line allows and errors or delays explain.
pub(crate) fn has_moved(corridor: &Corridor, band: SlopeBand, line: &PairEstimate) -> bool {
    // Stretches that do not overlap: every link is tested, and nearly none has moved.
    [8, 16, 32].into_iter().map(|part| stretches(corridor, band, part, 1)).any(|fits| {
        if fits.len() < MIN_SCATTERED {
            return false;
        }
        let moved = |f: &Stretch| f.line.at(f.middle) as f64 - line.at(f.middle) as f64;
        let variance = |f: &Stretch| VARIANCE_FACTOR * f.line.offset_variance(f.middle) + 1.0;
        let mean = |of: &dyn Fn(&Stretch) -> f64| fits.iter().map(of).sum::<f64>() / fits.len() as f64;
        let usual = mean(&|f| f.line.margin_ns());
        let delays = mean(&|f| (f.line.margin_ns() - usual).powi(2));
        mean(&|f| moved(f).powi(2) / variance(f)) > NO_ACCIDENT.powi(2)
            && mean(&|f| moved(f).powi(2)) > MORE_THAN_DELAYS.powi(2) * delays
    })
}

/// Whether messages leave a line so little room, compared with what they leave lines through halves of them,
/// that the line is not what they follow: a wrong message taken away gives back all of the room, a bent clock
/// none.
pub(crate) fn is_pinched(corridor: &Corridor, band: SlopeBand, line: &PairEstimate) -> bool {
    let Some(Span { begin, end }) = corridor.x_range() else { return false };
    let half = ((end - begin) / 2).max(1);
    let least = fits(corridor, band, half, half).iter().map(|f| f.line.margin_ns()).reduce(f64::min);
    least.is_some_and(|least| line.margin_ns() * PINCHED < least)
}

/// Fits to stretches that overlap by half, by length.
fn by_length(corridor: &Corridor, band: SlopeBand) -> Vec<Vec<Stretch>> {
    let parts = std::iter::successors(Some(2), |part| Some(part * 2)).take_while(|&part| part <= SHORTEST);
    parts.map(|part| stretches(corridor, band, part, 2)).take_while(|fits| fits.len() >= MIN_FITS).collect()
}

/// Fits to stretches of a part of the time of all messages; as many as `overlap` of them hold every instant.
fn stretches(corridor: &Corridor, band: SlopeBand, part: i64, overlap: i64) -> Vec<Stretch> {
    let Some(Span { begin, end }) = corridor.x_range() else { return Vec::new() };
    let length = ((end - begin) / part).max(1);
    fits(corridor, band, length, (length / overlap).max(1))
}
