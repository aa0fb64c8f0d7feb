//! Many clocks on one: islands, references, corrections and their intervals.
//!
//! [`solve_judged`] takes links that [`crate::link`] has judged, ties clocks into islands and finds the way from each to its
//! reference, composes the guaranteed bounds along these ways, and estimates all clocks of an island together. The guarantee
//! never depends on the estimate: the estimate is checked against it. Called by [`crate::stream`], which collects the messages.

use std::collections::HashSet;

use rayon::prelude::*;

use crate::assumed::{self, Assumed};
use crate::assumption::Assumptions;
use crate::breaks::ClockBreak;
use crate::correction::Correction;
use crate::doubt::{self, Doubt};
use crate::error::ClockError;
use crate::interval::Interval;
use crate::island::IslandSolver;
use crate::link::{Link, LinkReport, Refusal};
use crate::link_interval::rows_per_link;
use crate::loops::to_refuse;
use crate::model::Model;
use crate::paths::{Edge, Graph};
use crate::reach::Contradiction;
use crate::shared::among_links;
use crate::span::Span;

/// Clocks that messages tie together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Island {
    /// The clock whose time all corrections of the island give.
    pub reference: usize,
    /// All clocks, sorted, the reference among them.
    pub clocks: Vec<usize>,
}

/// One clock for every island. All vectors but `islands` and `links` are by clock.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The islands, by least clock.
    pub islands: Vec<Island>,
    /// From the raw time of the clock to the raw time of its island's reference.
    pub corrections: Vec<Correction>,
    /// The uncertainty of that, over the span of the clock.
    pub intervals: Vec<Interval>,
    /// The next clock on the way to the reference; `None` for references.
    pub path: Vec<Option<usize>>,
    /// Every link, by (a, b), a < b.
    pub links: Vec<LinkReport>,
    /// Per clock: where it was set or stopped, on its own time.
    pub breaks: Vec<Vec<ClockBreak>>,
    /// Loops of clocks whose links contradict each other, though each by itself is possible.
    pub contradictions: Vec<Vec<usize>>,
    /// Per clock: what its bounds rest on, by time, over its span.
    pub assumed: Vec<Vec<Assumed>>,
    /// Per clock: why nothing is guaranteed of it; `None` where its interval holds under what is assumed, and for references.
    pub doubts: Vec<Option<Doubt>>,
}

/// All of [`crate::solve`] for links that are judged already.
pub(crate) fn solve_judged(
    links: Vec<Link>,
    spans: &[Span],
    model: &Model,
    assumptions: &[Assumptions],
    reference: Option<usize>,
) -> Result<Solution, ClockError> {
    let (links, of_clocks) = among_links(links, spans.len(), model, assumptions);
    let mut links: Vec<Link> = links
        .into_iter()
        .map(|l| {
            let ends = [spans[l.a], spans[l.b]];
            l.over(ends)
        })
        .collect();
    let identities = || spans.iter().map(|s| Correction::identity(s.begin, s.end));
    let mut solution = Solution {
        islands: Vec::new(),
        corrections: identities().collect(),
        intervals: Vec::new(),
        path: vec![None; spans.len()],
        links: Vec::new(),
        breaks: vec![Vec::new(); spans.len()],
        contradictions: Vec::new(),
        assumed: vec![Vec::new(); spans.len()],
        doubts: Vec::new(),
    };
    let mut loops = Contradiction::default();
    let mut intervals = vec![None; spans.len()];
    while let Some(found) =
        try_solve(&links, spans, (model, assumptions), reference, &mut solution, &mut intervals)?
    {
        for refused in to_refuse(&found.loops, &links) {
            // The one that names it.
            let Some(of) = found.loops.iter().find(|l| l.links.contains(&refused)) else { continue };
            links[refused].refuse(Refusal::Loop { clocks: of.clocks.clone() });
            solution.contradictions.push(of.clocks.clone());
        }
        loops.add(found);
    }
    for (clock, interval) in intervals.into_iter().enumerate() {
        let Span { begin, end } = spans[clock];
        let own = |raw| crate::interval::IntervalRow { raw, lo: raw, hi: raw, e95: 0 };
        solution.intervals.push(interval.map_or_else(|| Interval::new(vec![own(begin), own(end)]), Ok)?);
    }
    solution.assumed = assumed::of_clocks(&links, spans, assumptions, &of_clocks);
    solution.doubts = doubt::of_clocks(&links, assumptions, &solution, &loops);
    let in_doubt: HashSet<(usize, usize)> =
        loops.loops.iter().flat_map(|l| &l.links).map(|&l| (links[l].a, links[l].b)).collect();
    let island_of = island_of(&solution.islands, spans.len());
    let most = rows_per_link(links.len());
    let report = |link: Link| {
        let together = island_of[link.a] == island_of[link.b];
        let inversions = together.then(|| link.inversions(&solution.corrections));
        let unverified = if together { link.exposed(&solution.corrections).1 } else { 0 };
        let ends = [link.a, link.b].map(|clock| (&solution.corrections[clock], &solution.intervals[clock]));
        let interval = if together { link.interval(spans[link.a], ends, model, most) } else { None };
        let is_doubtful = in_doubt.contains(&(link.a, link.b));
        LinkReport { is_doubtful, ..link.report((inversions, unverified), interval, model) }
    };
    let reports = links.into_par_iter().map(report).collect();
    solution.links = reports;
    Ok(solution)
}

/// Solves all islands; the loops of the first that contradicts itself, if there is one.
fn try_solve(
    links: &[Link],
    spans: &[Span],
    (model, assumptions): (&Model, &[Assumptions]),
    reference: Option<usize>,
    solution: &mut Solution,
    intervals: &mut [Option<Interval>],
) -> Result<Option<Contradiction>, ClockError> {
    let graph = Graph::new(spans.len(), &edges(links));
    solution.islands.clear();
    for clocks in graph.islands() {
        let asked = reference.filter(|r| clocks.contains(r)).map(|r| (r, graph.tree(r)));
        let Some((reference, tree)) = asked.or_else(|| graph.best_tree(&clocks)) else { continue };
        if clocks.len() > 1 {
            let mut members = vec![false; spans.len()];
            for &clock in &clocks {
                members[clock] = true;
            }
            let solver = IslandSolver::new(reference, &tree, links, spans, model, assumptions, &members);
            let solved = match solver.solve()? {
                Ok(solved) => solved,
                Err(contradiction) => return Ok(Some(contradiction)),
            };
            for solved in solved {
                solution.path[solved.clock] = tree.next[solved.clock].map(|(next, _)| next);
                solution.corrections[solved.clock] = solved.correction;
                solution.breaks[solved.clock] = solved.breaks;
                intervals[solved.clock] = Some(solved.interval);
            }
        }
        solution.islands.push(Island { reference, clocks });
    }
    Ok(None)
}

fn edges(links: &[Link]) -> Vec<Edge> {
    let edge = |(link, l): (usize, &Link)| {
        let relation = l.relation.as_ref().filter(|r| r.reaches_all())?;
        let cost = (u32::from(!relation.is_guaranteed()), relation.half_width.max(0) as u64);
        Some(Edge { a: l.a, b: l.b, link, cost })
    };
    links.iter().enumerate().filter_map(edge).collect()
}

/// Per clock, the index of its island.
fn island_of(islands: &[Island], clocks: usize) -> Vec<usize> {
    let mut of = vec![0; clocks];
    for (index, island) in islands.iter().enumerate() {
        island.clocks.iter().for_each(|&c| of[c] = index);
    }
    of
}
