//! The estimate of a link by itself: five posterior means, each without a fifth of the messages, averaged.
//!
//! The posterior mean of [`crate::estimate::posterior`] rests on the few messages that touch the corridor.
//! Leaving out each fold in turn and averaging lets more messages have their say: the same in simulation, a
//! quarter less error on real floors, without a threshold. Spread and rates are those of the whole.
//!
//! The estimate is statistics and proves nothing; the guarantee is the corridor's
//! (`crate::geometry::bounded`).

#[cfg(test)]
mod tests;

use crate::estimate::frame::{Frame, FramePoint};
use crate::estimate::line::{Basis, PairEstimate};
use crate::estimate::posterior::{Evidence, Posterior, near_floor_rate, posterior};
use crate::estimate::sample::{DirectionSample, FOLDS, RetainedPoint};
use crate::geometry::{Margin, Point, Side, SlopeBand, chain};

/// Fewer messages than this in a direction are not dealt out to folds: a fold would hold one message, and
/// leaving out the decisive one is not a second opinion.
pub const MIN_MESSAGES_TO_FOLD: u64 = 10;

/// The estimate of the relation between the clocks of a link; `None` unless there are messages both ways.
///
/// `upper` are the messages from a to b (x sent, y received), `lower` those from b to a (x received, y sent);
/// `band` limits the slopes. Deterministic. O(n + h log h) for n messages kept.
///
/// ```
/// use isochrone_clock::{Basis, estimate};
/// use isochrone_clock::DirectionSample;
/// use isochrone_clock::{Point, SlopeRange};
/// let points = |all: &[(i64, i64)]| all.iter().map(|&(x, y)| Point::new(x, y)).collect::<Result<Vec<_>, _>>();
/// let upper = DirectionSample::of_all(points(&[(0, 150), (1_000_000, 1_000_120)])?);
/// let lower = DirectionSample::of_all(points(&[(500_000, 499_930), (900_000, 899_890)])?);
/// let band = SlopeRange::prior(500).closed().ok_or("not empty")?;
/// let line = estimate(&upper, &lower, band).ok_or("messages both ways")?;
/// assert!((line.at(500_000) - 500_030).abs() < 20 && line.basis() == Basis::Whole);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn estimate(
    upper: &DirectionSample<'_>,
    lower: &DirectionSample<'_>,
    band: SlopeBand,
) -> Option<PairEstimate> {
    let pair = Pair::new([upper, lower], band)?;
    let (margin, evidence) = pair.evidence(None)?;
    let messages = (upper.count(), lower.count());
    let estimate = |line: Posterior, covariance, basis| PairEstimate {
        frame: pair.frame,
        offset: line.offset,
        tilt: line.tilt,
        covariance,
        rates: (evidence[0].rate, evidence[1].rate),
        margin: margin.gap() / 2.0,
        messages,
        basis,
    };
    let floors = evidence.iter().map(|e| e.rate.powi(-2)).sum::<f64>() / 4.0;
    let middle = middle_line(&evidence, &margin);

    let whole = if margin.is_contradictory() { None } else { posterior(&evidence, pair.tilts()) };
    let Some(whole) = whole else {
        let violation = (-margin.gap() / 2.0).max(0.0);
        let leverage = violation / half_span(&evidence);
        let guess = [[violation * violation + floors, 0.0], [0.0, leverage * leverage]];
        let basis = if margin.is_contradictory() { Basis::Contradiction } else { Basis::OneSlope };
        return Some(estimate(middle, guess, basis));
    };
    let mut covariance = whole.covariance;
    covariance[0][0] += floors;
    let folded = if messages.0.min(messages.1) < MIN_MESSAGES_TO_FOLD { None } else { pair.folded() };
    let (line, basis) = match folded {
        None => (whole, Basis::Whole),
        Some(folded) => pulled_inside(&evidence, &middle, folded),
    };
    Some(estimate(line, covariance, basis))
}

/// Both directions, turned and seen from the margin line of all messages.
struct Pair {
    directions: [SideData; 2],
    frame: Frame,
    band: SlopeBand,
}

/// One direction, turned.
struct SideData {
    side: Side,
    /// The vertices of the chains of every fold, sorted: without a fold, the chain is among the others'.
    vertices: Vec<RetainedPoint>,
    spots: Vec<(FramePoint, u8)>,
    /// Mean run and number of the messages that were not kept.
    rest: (f64, f64),
}

impl Pair {
    fn new(floors: [&DirectionSample<'_>; 2], band: SlopeBand) -> Option<Self> {
        let sides = Side::BOTH;
        let turned = [0, 1].map(|s| floors[s].turned(sides[s]));
        let vertices = [0, 1].map(|s| vertices_by_fold(&turned[s]));
        let chains = [0, 1].map(|s| chain(vertices[s].iter().map(|k| k.point)));
        let chains = [&chains[0][..], &chains[1][..]];
        let frame = Frame::of(&Margin::of(chains, band)?, chains)?;
        let mut vertices = vertices.into_iter();
        let directions = [0, 1].map(|s| {
            let (mean, number) = floors[s].rest(frame.x0);
            let spot = |k: &RetainedPoint| (frame.spot(sides[s], k.point), k.fold % FOLDS as u8);
            SideData {
                side: sides[s],
                vertices: vertices.next().unwrap_or_default(),
                spots: turned[s].iter().map(spot).collect(),
                rest: (if sides[s] == Side::Upper { mean } else { -mean }, number),
            }
        });
        Some(Self { directions, frame, band })
    }

    /// The band relative to the frame.
    fn tilts(&self) -> (f64, f64) {
        (self.frame.tilt(self.band.min()), self.frame.tilt(self.band.max()))
    }

    /// Evidence of all messages, or of all but those of a fold; `None` when a direction is empty without it.
    fn evidence(&self, without: Option<u8>) -> Option<(Margin, [Evidence; 2])> {
        let chains = self.directions.each_ref().map(|d| {
            chain(d.vertices.iter().filter(|k| Some(k.fold % FOLDS as u8) != without).map(|k| k.point))
        });
        let margin = Margin::of([&chains[0], &chains[1]], self.band)?;
        let tilt = self.frame.tilt(margin.slope);
        let evidence = [0, 1].map(|s| {
            let direction = &self.directions[s];
            let spots = || direction.spots.iter().filter(|(_, fold)| Some(*fold) != without).map(|(s, _)| s);
            // Of the messages that were not kept, a fold holds its share.
            let share = if without.is_some() { 1.0 - 1.0 / FOLDS as f64 } else { 1.0 };
            let (rest_mean, rest) = (direction.rest.0, direction.rest.1 * share);
            let (runs, number) = spots().fold((0.0, 0.0), |(sum, n), s| (sum + s.run, n + 1.0));
            let count: f64 = number + rest;
            Evidence {
                vertices: chains[s].iter().map(|&p| self.frame.spot(direction.side, p)).collect(),
                rate: near_floor_rate(spots().map(|s| s.slack(tilt)), count, margin.gap()),
                mean: (runs + rest_mean * rest) / count.max(1.0),
            }
        });
        Some((margin, evidence))
    }

    /// The mean of the posterior means without each fold; the covariance is of no meaning.
    fn folded(&self) -> Option<Posterior> {
        let mut mean = Posterior { offset: 0.0, tilt: 0.0, covariance: [[0.0; 2]; 2] };
        for fold in 0..FOLDS as u8 {
            let (_, evidence) = self.evidence(Some(fold))?;
            let line = posterior(&evidence, self.tilts())?;
            mean.offset += line.offset / FOLDS as f64;
            mean.tilt += line.tilt / FOLDS as f64;
        }
        Some(mean)
    }
}

/// The vertices of every fold's own chain, sorted.
fn vertices_by_fold(turned: &[RetainedPoint]) -> Vec<RetainedPoint> {
    let mut all: Vec<RetainedPoint> = Vec::new();
    for fold in 0..FOLDS as u8 {
        let own = turned.iter().filter(|k| k.fold % FOLDS as u8 == fold).map(|k| k.point);
        all.extend(chain(own).into_iter().map(|point: Point| RetainedPoint { point, fold }));
    }
    all.sort_unstable();
    all
}

/// Half the time that the messages span, ns.
fn half_span(evidence: &[Evidence; 2]) -> f64 {
    evidence.iter().flat_map(|e| &e.vertices).map(|v| v.run.abs()).fold(0.5, f64::max)
}

/// The margin line in its own frame: halfway between the parallels.
fn middle_line(evidence: &[Evidence; 2], margin: &Margin) -> Posterior {
    let [p, q] = [0, 1].map(|s| evidence[s].vertices[margin.touched[s].0].residual);
    Posterior { offset: (p - q) / 2.0, tilt: 0.0, covariance: [[0.0; 2]; 2] }
}

/// The mean over the folds if no message contradicts it; otherwise as far toward it from a line inside the
/// corridor as the messages allow.
fn pulled_inside(evidence: &[Evidence; 2], inside: &Posterior, folded: Posterior) -> (Posterior, Basis) {
    let mut share: f64 = 1.0;
    for (side, sign) in evidence.iter().zip([1.0, -1.0]) {
        for spot in &side.vertices {
            let room = |line: &Posterior| spot.slack(line.tilt) - sign * line.offset;
            let (at_inside, at_folded) = (room(inside).max(0.0), room(&folded));
            if at_folded < 0.0 {
                share = share.min(at_inside / (at_inside - at_folded));
            }
        }
    }
    if share >= 1.0 {
        return (folded, Basis::Folds);
    }
    let mix = |from: f64, to: f64| from + share * (to - from);
    let (offset, tilt) = (mix(inside.offset, folded.offset), mix(inside.tilt, folded.tilt));
    (Posterior { offset, tilt, ..folded }, Basis::FoldsPulled)
}
