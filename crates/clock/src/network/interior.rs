//! A placement that no message contradicts, for estimates that some message does.
//!
//! The linear program looks for one affine map per clock, local to reference time, that maximises the sum
//! over links of the link's margin: how much earlier every message of the link could have arrived. Written
//! for maps to the reference, all constraints are linear: `map_sender(sent) + margin ≤
//! map_receiver(received)`. Its answer lies well inside of what all links allow together, and the estimate is
//! pulled toward it until it is inside, too.
//!
//! Numbers: raw times have 60 bits, so the program never sees them. Its unknowns are the *residuals* (µs)
//! against the estimate at the two ends of each clock's span, and its right-hand sides are differences taken
//! in integers. The answer is rounded to whole nanoseconds; [`crate::network::island`] checks it exactly.

use microlp::{ComparisonOp, LinearExpr, OptimizationDirection, Problem, Variable};

use crate::correction::Correction;
use crate::geometry::Slope;
use crate::link::{Guarantee, Link, Message, narrowest};
use crate::network::placement::IslandData;
use crate::rate::Rate;
use crate::span::Span;

/// A coefficient below this is left out: the solver wants coefficients within six orders of magnitude.
const TINY: f64 = 1e-6;

/// A row violated by less than this (µs) counts as satisfied; what it leaves is below the rounding of the
/// knots.
const SATISFIED_US: f64 = 1e-4;

/// Most rows per link and direction that a round adds.
const ROWS_PER_ROUND: usize = 4;

/// About how many links have their margin maximised; the program's time grows with the square of it and more.
const LINKS_TO_WIDEN: usize = 800;

/// In large networks, the narrowest links of every clock that have their margin maximised anyway.
const LINKS_PER_CLOCK: usize = 3;

/// Rounds after which all rows are given to the solver at once.
const MAX_ROUNDS: usize = 20;

/// Halvings of the way from the program's answer to the estimate.
const HALVINGS: usize = 8;

/// Two knots closer than this (ns) do not carry a rate: rounding them to whole ns would show in it.
const MIN_RATE_BASE_NS: i64 = 1_000_000_000;

/// One island as the linear program sees it.
pub(crate) struct Program<'a> {
    pub(crate) reference: usize,
    /// All clocks of the island.
    pub(crate) clocks: &'a [usize],
    /// Per clock of the network.
    pub(crate) spans: &'a [Span],
    /// Per clock of the network: the estimate.
    pub(crate) first: &'a [Correction],
    /// The links to satisfy.
    pub(crate) links: &'a [&'a Link],
}

/// The corrections nearest to the estimate, on the way from it to the program's answer, that `keeps` accepts;
/// `None` when not even the answer is.
pub(crate) fn toward(
    island: &IslandData<'_>,
    estimate: &[Correction],
    keeps: impl Fn(&[Correction]) -> bool,
) -> Option<Vec<Correction>> {
    let links: Vec<&Link> = island.relations().map(|(link, _)| link).collect();
    let (clocks, spans) = (&island.tree.order, island.spans);
    let program = Program { reference: island.reference, clocks, spans, first: estimate, links: &links };
    let mut inside = estimate.to_vec();
    for (&clock, correction) in clocks.iter().zip(widest(&program)?) {
        inside[clock] = correction;
    }
    if !keeps(&inside) {
        return None;
    }
    let mixed = |share: f64| -> Vec<Correction> {
        let mix = |clock: usize| {
            let between = |raw: i64| {
                let (from, to) = (inside[clock].apply(raw), estimate[clock].apply(raw));
                from.saturating_add(((to as i128 - from as i128) as f64 * share).round() as i64)
            };
            let span = spans[clock];
            affine(span, between(span.begin), between(span.end), || estimate[clock].rate_after())
        };
        let mut all = estimate.to_vec();
        clocks.iter().filter(|&&c| c != island.reference).for_each(|&c| all[c] = mix(c));
        all
    };
    let (mut best, mut good, mut bad) = (inside.clone(), 0.0, 1.0);
    for _ in 0..HALVINGS {
        let share = f64::midpoint(good, bad);
        let candidate = mixed(share);
        if keeps(&candidate) {
            (best, good) = (candidate, share);
        } else {
            bad = share;
        }
    }
    Some(best)
}

/// The two-knot correction of a span; `short` gives the rate outside the knots when they are too close to
/// carry one.
fn affine(span: Span, begin: i64, end: i64, short: impl FnOnce() -> Rate) -> Correction {
    let inside = |t: i64| t.clamp(-crate::MAX_ABS_NS, crate::MAX_ABS_NS - 1);
    // Two instants of a clock are never one instant of another, even when rounding says so.
    let (begin, end) = (inside(begin), inside(end).max(inside(begin) + 1));
    let knots = vec![(span.begin, begin), (span.end, end)];
    let made = if span.end - span.begin < MIN_RATE_BASE_NS {
        let rate = short();
        Correction::new(knots, rate, rate)
    } else {
        Correction::through(knots)
    };
    // Cannot fail: a span is in range and longer than nothing. If it does, the identity is caught by the
    // caller's checks.
    made.unwrap_or_else(|_| Correction::identity(span.begin, span.end))
}

/// A message that must not be inverted, relative to the first estimates.
struct Row {
    /// Index of the link among the island's.
    link: usize,
    /// Whether the link's margin is maximised; otherwise the message must only not be inverted.
    widened: bool,
    /// Sender and receiver: (clock, weight of the residual at the end of its span).
    ends: [(usize, f64); 2],
    /// received − sent on the reference clock by the first estimates, µs.
    slack: f64,
    /// A row of the problem now being solved.
    active: bool,
}

/// A bound on a rate that the messages leave open: first term ≤ second term + slack, in µs over a common
/// span.
struct RateRow {
    terms: [(usize, f64); 2],
    slack: f64,
}

/// The unknowns of a solved program.
struct Answer {
    /// Per clock of the network: residuals (µs) at the start and the end of its span.
    residuals: Vec<[f64; 2]>,
    /// Per link of the island; 0 for links that are not widened.
    margins: Vec<f64>,
}

/// The estimates of an island's clocks that maximise the sum of the links' margins, in the order of `clocks`;
/// `None` when the program has no answer.
///
/// Rows are generated lazily (cutting planes): few messages touch the optimum, whatever the size of the
/// hulls.
pub(crate) fn widest(island: &Program<'_>) -> Option<Vec<Correction>> {
    let mut rows = rows(island);
    let rates = rate_rows(island);
    start(&mut rows);
    for round in 0.. {
        if round >= MAX_ROUNDS {
            activate_all(&mut rows);
        }
        let complete = rows.iter().all(|r| r.active);
        match solve(island, &rows, &rates) {
            Ok(answer) if complete || !activate_violated(&mut rows, &answer) => {
                return island.clocks.iter().map(|&c| rounded(island, c, answer.residuals[c])).collect();
            }
            // Too few rows to bound the margins: give them all.
            Err(microlp::Error::Unbounded) if !complete => activate_all(&mut rows),
            Ok(_) => {}
            Err(_) => return None,
        }
    }
    None
}

fn rows(island: &Program<'_>) -> Vec<Row> {
    let weight = |clock: usize, raw: i64| {
        let span = island.spans[clock];
        (raw as i128 - span.begin as i128) as f64 / (span.end as i128 - span.begin as i128) as f64
    };
    let mut rows = Vec::new();
    let widened = to_widen(island);
    for (index, link) in island.links.iter().enumerate() {
        let relaxed = link.relation.as_ref().map_or(0, |r| r.relaxed_by) as i128;
        for Message { sender, sent, receiver, received } in link.touching() {
            let arrival = island.first[receiver].apply(received) as i128;
            let slack = arrival - island.first[sender].apply(sent) as i128 + relaxed;
            rows.push(Row {
                link: index,
                widened: widened[index],
                ends: [(sender, weight(sender, sent)), (receiver, weight(receiver, received))],
                slack: slack as f64 * 1e-3,
                active: false,
            });
        }
    }
    rows
}

/// Per link whether to maximise its margin: all of a small island, of a large one the narrowest of every
/// clock. A hundred clocks that all talk to each other need not have five thousand margins in balance to be
/// well placed.
fn to_widen(island: &Program<'_>) -> Vec<bool> {
    let per_clock = (LINKS_TO_WIDEN / island.clocks.len().max(1)).max(LINKS_PER_CLOCK);
    narrowest(island.links, island.spans.len(), per_clock)
}

/// The bounds of the band that the messages do not imply.
fn rate_rows(island: &Program<'_>) -> Vec<RateRow> {
    let mut rows = Vec::new();
    for link in island.links {
        let Some(first) = link.relation.as_ref().and_then(|r| r.pieces().first()) else { continue };
        let proven = link.corridor.rates().unwrap_or_default();
        let Guarantee::Line { forward, .. } = &first.bounds else { continue };
        let band = forward.band();
        // rate_a ≤ max·rate_b, and min·rate_b ≤ rate_a, where rate = d(reference)/d(local).
        if proven.max.is_none() {
            rows.push(rate_row(island, (link.a, Slope::ONE), (link.b, band.max())));
        }
        if proven.min.is_none() {
            rows.push(rate_row(island, (link.b, band.min()), (link.a, Slope::ONE)));
        }
    }
    rows
}

/// factor·rate(small) ≤ factor·rate(large), over the shorter of the two spans, divided by the greater factor.
fn rate_row(island: &Program<'_>, small: (usize, Slope), large: (usize, Slope)) -> RateRow {
    let length = |c: usize| (island.spans[c].end as i128 - island.spans[c].begin as i128) as f64;
    let base = length(small.0).min(length(large.0));
    // factor·rate − 1 without cancellation, from the parts beyond 1.
    let difference = |(clock, factor): (usize, Slope)| {
        let beyond = |dy: i128, dx: i128| (dy - dx) as f64 / dx as f64;
        let knots = island.first[clock].knots();
        let (from, to) = (knots[0], knots[knots.len() - 1]);
        let rate = beyond(to.1 as i128 - from.1 as i128, (to.0 as i128 - from.0 as i128).max(1));
        let factor = beyond(factor.dy() as i128, factor.dx() as i128);
        rate + factor + rate * factor
    };
    let value = |factor: Slope| factor.dy() as f64 / factor.dx() as f64;
    let scale = value(small.1).max(value(large.1)).max(1.0);
    let term = |(clock, factor): (usize, Slope)| (clock, value(factor) * base / length(clock) / scale);
    RateRow {
        terms: [term(small), term(large)],
        slack: (difference(large) - difference(small)) * base * 1e-3 / scale,
    }
}

/// The first rows: per link and direction the ends of the chain and the messages with the least slack.
fn start(rows: &mut [Row]) {
    each_direction(rows, |chain| {
        if !chain.iter().all(|r| r.widened) {
            return; // Most likely satisfied without being a row.
        }
        if let [first, .., last] = chain {
            (first.active, last.active) = (true, true);
        }
        tightest(chain, |r| r.slack, f64::INFINITY);
    });
}

fn activate_all(rows: &mut [Row]) {
    for row in rows {
        row.active = true;
    }
}

/// Adds the most violated rows; whether there were any.
fn activate_violated(rows: &mut [Row], answer: &Answer) -> bool {
    let mut any = false;
    each_direction(rows, |chain| {
        let left = |r: &Row| {
            let shift = |(clock, weight): (usize, f64)| {
                let [begin, end] = answer.residuals[clock];
                begin + weight * (end - begin)
            };
            r.slack + shift(r.ends[1]) - shift(r.ends[0]) - answer.margins[r.link]
        };
        any |= tightest(chain, left, -SATISFIED_US);
    });
    any
}

/// Activates the few rows of least `slack` below `limit`; whether there was one.
fn tightest(chain: &mut [Row], slack: impl Fn(&Row) -> f64, limit: f64) -> bool {
    let mut below: Vec<(f64, usize)> =
        chain.iter().enumerate().filter(|(_, r)| !r.active).map(|(i, r)| (slack(r), i)).collect();
    below.retain(|&(s, _)| s < limit);
    below.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    below.iter().take(ROWS_PER_ROUND).for_each(|&(_, i)| chain[i].active = true);
    !below.is_empty()
}

/// Calls `work` with the rows of every link and direction.
fn each_direction(rows: &mut [Row], mut work: impl FnMut(&mut [Row])) {
    let same = |a: &Row, b: &Row| a.link == b.link && a.ends[0].0 == b.ends[0].0;
    rows.chunk_by_mut(same).for_each(&mut work);
}

fn solve(island: &Program<'_>, rows: &[Row], rates: &[RateRow]) -> Result<Answer, microlp::Error> {
    let mut problem = Problem::new(OptimizationDirection::Maximize);
    let mut unknowns: Vec<Option<[Variable; 2]>> = vec![None; island.spans.len()];
    for &clock in island.clocks.iter().filter(|&&c| c != island.reference) {
        let mut free = || problem.add_var(0.0, (f64::NEG_INFINITY, f64::INFINITY));
        unknowns[clock] = Some([free(), free()]);
    }
    let mut margins: Vec<Option<Variable>> = vec![None; island.links.len()];
    for row in rows.iter().filter(|r| r.widened) {
        margins[row.link].get_or_insert_with(|| problem.add_var(1.0, (0.0, f64::INFINITY)));
    }

    for row in rows.iter().filter(|r| r.active) {
        let mut terms = LinearExpr::empty();
        for ((clock, weight), sign) in row.ends.into_iter().zip([1.0, -1.0]) {
            let Some([begin, end]) = unknowns[clock] else { continue };
            add(&mut terms, begin, sign * (1.0 - weight));
            add(&mut terms, end, sign * weight);
        }
        if let Some(margin) = margins[row.link] {
            terms.add(margin, 1.0);
        }
        problem.add_constraint(terms, ComparisonOp::Le, row.slack);
    }
    for row in rates {
        let mut terms = LinearExpr::empty();
        for ((clock, weight), sign) in row.terms.into_iter().zip([1.0, -1.0]) {
            let Some([begin, end]) = unknowns[clock] else { continue };
            add(&mut terms, end, sign * weight);
            add(&mut terms, begin, -sign * weight);
        }
        problem.add_constraint(terms, ComparisonOp::Le, row.slack);
    }

    let outcome = problem.solve()?;
    let solution = outcome.solution().ok_or(microlp::Error::Infeasible)?;
    let value = |v: Variable| solution.var_value(v);
    Ok(Answer {
        residuals: unknowns.iter().map(|u| u.map_or([0.0; 2], |u| u.map(value))).collect(),
        margins: margins.into_iter().map(|m| m.map_or(0.0, value)).collect(),
    })
}

fn add(terms: &mut LinearExpr, variable: Variable, weight: f64) {
    if weight.abs() > TINY {
        terms.add(variable, weight);
    }
}

/// The first estimate of a clock moved by residuals, on whole nanoseconds.
fn rounded(island: &Program<'_>, clock: usize, [begin, end]: [f64; 2]) -> Option<Correction> {
    let (span, first) = (island.spans[clock], &island.first[clock]);
    if clock == island.reference {
        return Some(first.clone());
    }
    let moved = |raw: i64, by: f64| {
        // Beyond this, the answer is not one that microseconds of residual describe.
        (by.abs() < 1e15).then(|| first.apply(raw).saturating_add((by * 1e3).round() as i64))
    };
    Some(affine(span, moved(span.begin, begin)?, moved(span.end, end)?, || first.rate_after()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Corridor;
    use crate::model::{Assumptions, Model};

    const SECOND: i64 = 1_000_000_000;

    /// Exchanges every 1.7 s between clock a, which is true, and clock b, which is `ppm` fast and `offset`
    /// ahead.
    fn link(a: usize, b: usize, ppm: i64, offset: i64, spans: &[Span]) -> Link {
        let mut corridor = Corridor::new();
        let local = |t: i64| t + t / 1_000_000 * ppm + offset;
        let mut noise: i64 = 1 + a as i64 * 977 + b as i64;
        for i in 0..60 {
            noise = noise * 1_103_515_245 % 2_147_483_647;
            let (t, delay) = (i * 1_700_000_000 + noise % 1_000_000, 50_000 + noise % 300_000);
            corridor.a_to_b(t, local(t + delay)).unwrap();
            corridor.b_to_a(local(t + SECOND), t + SECOND + 50_000 + noise % 77_000).unwrap();
        }
        let straight = Model { wander_ppm: 0.0, ..Model::default() };
        Link::judge(a, b, corridor, &straight, &vec![Assumptions::default(); b + 1])
            .over([spans[a], spans[b]])
    }

    #[test]
    fn a_tree_gives_the_margin_lines() {
        let spans = [Span { begin: 0, end: 110 * SECOND }; 3];
        let links = [link(0, 1, 80, 3 * SECOND, &spans), link(0, 2, -60, -2 * SECOND, &spans)];
        let line = |l: &Link| {
            let band = crate::SlopeRange::prior(500).closed().unwrap();
            crate::MarginLine::of(&l.corridor.mirrored(), band).unwrap()
        };
        let lines = [line(&links[0]), line(&links[1])];
        let through = |by: i64, tilt: i64, at: &dyn Fn(i64) -> i64| {
            Correction::through(vec![(0, at(0) + by), (110 * SECOND, at(110 * SECOND) + by + tilt)]).unwrap()
        };
        // Wherever it starts, the program finds the same.
        for [one, other] in [[(0, 0); 2], [(40_000, -9_000), (-900_000, 5_000)]] {
            let start = [
                Correction::identity(0, 110 * SECOND),
                through(one.0, one.1, &|t| lines[0].at(t)),
                through(other.0, other.1, &|t| lines[1].at(t)),
            ];
            let island = Program {
                reference: 0,
                clocks: &[0, 1, 2],
                spans: &spans,
                first: &start,
                links: &[&links[0], &links[1]],
            };
            let wide = widest(&island).unwrap();
            for (found, line) in wide[1..].iter().zip(&lines) {
                for t in [0, 55 * SECOND, 110 * SECOND] {
                    let (found, line) = (found.apply(t), line.at(t));
                    assert!((found - line).abs() <= 3, "{found} {line}");
                }
            }
        }
    }

    #[test]
    fn contradictory_links_have_no_answer() {
        let spans = [Span { begin: 0, end: 110 * SECOND }; 3];
        // Around the triangle the offsets do not add up.
        let links = [link(0, 1, 0, 0, &spans), link(1, 2, 0, 0, &spans), link(0, 2, 0, 5_000_000, &spans)];
        let first = [0, 1, 2].map(|_| Correction::identity(0, 110 * SECOND));
        let links: Vec<&Link> = links.iter().collect();
        let island =
            Program { reference: 0, clocks: &[0, 1, 2], spans: &spans, first: &first, links: &links };
        assert!(widest(&island).is_none());
    }
}
