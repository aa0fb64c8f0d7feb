//! Puts the lines of a published method in the place of the estimates of a solution.
//!
//! The bounds stay those of the corridors. A line that was chosen without them may leave them: then its error
//! has the same bounds as ever, and they say that it is wrong. The likely error is that of the estimate that
//! was there, and how far the line is from it, since what is likely is known of nothing else.

use num_bigint::BigInt;
use num_traits::{Signed as _, ToPrimitive as _};

use super::{Line, Published};
use crate::MAX_ABS_NS;
use crate::correction::Correction;
use crate::error::ClockError;
use crate::geometry::Side;
use crate::interval::{Interval, IntervalRow, MAX_BOUND_NS};
use crate::network::{Island, Network, Solution, solve};
use crate::rate::Rate;
use crate::span::Span;

/// A clock whose line cannot be applied; it keeps its own time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RejectedLine {
    /// The clock.
    pub clock: usize,
    /// Whether the line runs backwards; else its times are out of range.
    pub backwards: bool,
}

/// The solution of a network with the lines of a method for estimates, its islands and its references; and
/// the clocks whose lines cannot be applied, each an island by itself. The network is solved once for each
/// reference, because the bounds of all clocks are about it.
///
/// # Errors
/// As [`solve`].
pub fn with_lines(
    network: &Network,
    published: &Published,
) -> Result<(Solution, Vec<RejectedLine>), ClockError> {
    let clocks = &published.clocks;
    let mut corrections: Vec<Option<Correction>> = Vec::with_capacity(clocks.len());
    let mut unplaced = Vec::new();
    for (clock, reduced) in clocks.iter().enumerate() {
        let correction = correction(&reduced.line, network.clocks[clock]);
        if correction.is_none() {
            unplaced.push(RejectedLine { clock, backwards: !reduced.line.slope().is_positive() });
        }
        corrections.push(correction);
    }
    let islands = islands(published, &corrections);
    let mut tied = islands.iter().filter(|island| island.clocks.len() > 1);
    let first = tied.next();
    let mut solution = solved(network, first)?;
    let mut intervals: Vec<Option<Interval>> = vec![None; clocks.len()];
    if let Some(island) = first {
        bound(island, &solution, &corrections, &network.clocks, &mut intervals)?;
    }
    for island in tied {
        bound(island, &solved(network, Some(island))?, &corrections, &network.clocks, &mut intervals)?;
    }
    for (clock, correction) in corrections.into_iter().enumerate() {
        let Span { begin, end } = network.clocks[clock];
        let own = |raw| IntervalRow { raw, lo: raw, hi: raw, e95: 0 };
        let is_reference = islands.iter().any(|island| island.reference == clock);
        solution.corrections[clock] = match correction {
            Some(correction) if !is_reference => correction,
            _ => Correction::identity(begin, end),
        };
        solution.intervals[clock] = match intervals[clock].take() {
            Some(interval) if !is_reference => interval,
            _ => Interval::new(if begin < end { vec![own(begin), own(end)] } else { vec![own(begin)] })?,
        };
        solution.path[clock] = clocks[clock].predecessor.filter(|_| !is_reference);
    }
    let mut island_of = vec![0; clocks.len()];
    for (number, island) in islands.iter().enumerate() {
        island.clocks.iter().for_each(|&clock| island_of[clock] = number);
    }
    for link in &mut solution.links {
        let together = island_of[link.a] == island_of[link.b];
        link.inversions = together.then(|| {
            let [a, b] = [link.a, link.b].map(|clock| &solution.corrections[clock]);
            let forth = link.corridor.points(Side::Upper).filter(|p| a.apply(p.x()) > b.apply(p.y()));
            let back = link.corridor.points(Side::Lower).filter(|p| b.apply(p.y()) > a.apply(p.x()));
            forth.count() + back.count()
        });
    }
    solution.islands = islands;
    Ok((solution, unplaced))
}

/// The intervals of the clocks of an island, from a solution about its reference.
fn bound(
    island: &Island,
    found: &Solution,
    corrections: &[Option<Correction>],
    spans: &[Span],
    intervals: &mut [Option<Interval>],
) -> Result<(), ClockError> {
    let proven = found.islands.iter().find(|proven| proven.clocks.contains(&island.reference));
    for &clock in &island.clocks {
        let Some(correction) = &corrections[clock] else { continue };
        let is_tied = proven.is_some_and(|proven| proven.clocks.contains(&clock));
        let known = is_tied.then(|| (&found.corrections[clock], &found.intervals[clock]));
        intervals[clock] = Some(interval(correction, known, spans[clock])?);
    }
    Ok(())
}

fn solved(network: &Network, island: Option<&Island>) -> Result<Solution, ClockError> {
    solve(Network { reference: island.map(|island| island.reference), ..network.clone() })
}

/// The islands that the method leaves, by least clock. A clock without a correction is alone.
fn islands(published: &Published, corrections: &[Option<Correction>]) -> Vec<Island> {
    let reference = |clock: usize| match corrections[clock] {
        Some(_) => published.clocks[clock].reference,
        None => clock,
    };
    let mut islands: Vec<Island> = Vec::new();
    for clock in 0..corrections.len() {
        let of = reference(clock);
        match islands.iter_mut().find(|island| island.reference == of) {
            Some(island) => island.clocks.push(clock),
            None => islands.push(Island { reference: of, clocks: vec![clock] }),
        }
    }
    islands
}

/// A line as a correction over the span of a clock; `None` if it runs backwards or leaves the range of times.
fn correction(line: &Line, span: Span) -> Option<Correction> {
    const SCALE: i64 = 1_000_000_000_000_000;
    let units = (line.slope() * BigInt::from(SCALE)).floor().to_integer().to_i128()?;
    let rate = Rate::of(units, SCALE.into()).ok()?;
    let knot = |raw: i64| Some((raw, line.at(raw)?));
    let inside = |time: i64| (-MAX_ABS_NS..=MAX_ABS_NS).contains(&time);
    let (begin, end) = (knot(span.begin)?, knot(span.end)?);
    let knots = if begin.0 < end.0 { vec![begin, end] } else { vec![begin] };
    let usable = knots.iter().all(|knot| inside(knot.1));
    usable.then(|| Correction::new(knots, rate, rate).ok())?
}

/// The bounds of a clock with a likely error of the line.
fn interval(
    line: &Correction,
    known: Option<(&Correction, &Interval)>,
    span: Span,
) -> Result<Interval, ClockError> {
    let Some((estimate, interval)) = known else {
        // The method ties what nothing proves to be tied.
        let open = |raw| IntervalRow { raw, lo: -MAX_BOUND_NS, hi: MAX_BOUND_NS, e95: MAX_BOUND_NS };
        let ends = if span.begin < span.end { vec![span.begin, span.end] } else { vec![span.begin] };
        return Interval::new(ends.into_iter().map(open).collect());
    };
    let row = |row: &IntervalRow| {
        let at = line.apply(row.raw);
        let apart = at.saturating_sub(estimate.apply(row.raw)).saturating_abs();
        let most = row.hi.saturating_sub(at).max(at.saturating_sub(row.lo));
        IntervalRow { e95: row.e95.saturating_add(apart).min(most), ..*row }
    };
    Interval::new(interval.rows().iter().map(row).collect())
}
