//! Many clocks on one: islands, references, corrections and their intervals.
//!
//! [`solve_judged`] takes links that [`crate::link`] has judged, ties clocks into islands and finds the way
//! from each to its reference, composes the guaranteed bounds along these ways, and estimates all clocks of
//! an island together. The guarantee never depends on the estimate: the estimate is checked against it.
//! Called by [`crate::network::stream`], which collects the messages.

use std::collections::HashSet;

use rayon::prelude::*;

use crate::correction::Correction;
use crate::error::ClockError;
use crate::interval::Interval;
use crate::link::{ClockBreak, Link, LinkReport, Refusal, rows_per_link};
use crate::model::{Assumptions, Model};
use crate::network::island::{IslandSolver, Unsolved};
use crate::network::paths::{Edge, Graph, Island};
use crate::network::reach::{Contradiction, links_to_refuse};
use crate::network::{
    assumed, assumed::Assumed, breaks::of_clocks, doubt, doubt::Doubt, findings::share_findings,
    placement::IslandData,
};
use crate::span::Span;

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
    /// Per clock: why nothing is guaranteed of it; `None` where its interval holds under what is assumed, and
    /// for references.
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
    let (links, of_clocks) = share_findings(links, spans.len(), model, assumptions);
    let over = |link: Link| {
        let ends = [spans[link.a], spans[link.b]];
        link.over(ends)
    };
    let mut links: Vec<Link> = links.into_iter().map(over).collect();
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
    let clocks = Clocks { spans, model, assumptions };
    let mut loops = Contradiction::default();
    let mut intervals = vec![None; spans.len()];
    loop {
        let found = match solve_islands(&links, clocks, reference, &mut solution, &mut intervals) {
            Ok(()) => break,
            Err(Unsolved::Contradiction(found)) => found,
            Err(Unsolved::Invalid(error)) => return Err(error),
        };
        for refused in links_to_refuse(&found.loops, &links) {
            // The loop that names it.
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
    solution.doubts = doubt::of_clocks(&links, assumptions, &solution.path, &solution.islands, &loops);
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
        LinkReport { is_doubtful, ..link.report(inversions, unverified, interval, model) }
    };
    let reports = links.into_par_iter().map(report).collect();
    solution.links = reports;
    Ok(solution)
}

/// Spans and assumptions of all clocks.
#[derive(Clone, Copy)]
struct Clocks<'a> {
    spans: &'a [Span],
    model: &'a Model,
    assumptions: &'a [Assumptions],
}

/// Solves all islands, up to the first that contradicts itself.
fn solve_islands(
    links: &[Link],
    Clocks { spans, model, assumptions }: Clocks<'_>,
    reference: Option<usize>,
    solution: &mut Solution,
    intervals: &mut [Option<Interval>],
) -> Result<(), Unsolved> {
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
            let breaks = of_clocks(links, spans.len(), Some(reference));
            let (tree, members) = (&tree, &members[..]);
            let data = IslandData { reference, tree, links, model, spans, assumptions, members, breaks };
            for solved in IslandSolver::new(data).solve()? {
                solution.path[solved.clock] = tree.next[solved.clock].map(|(next, _)| next);
                solution.corrections[solved.clock] = solved.correction;
                solution.breaks[solved.clock] = solved.breaks;
                intervals[solved.clock] = Some(solved.interval);
            }
        }
        solution.islands.push(Island { reference, clocks });
    }
    Ok(())
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
