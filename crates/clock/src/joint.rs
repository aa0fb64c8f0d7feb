//! Many clocks on one: islands, references, corrections and their intervals.
//!
//! [`solve`] is the one entry: corridors in, corrections out. It judges every link ([`crate::link`]), ties
//! clocks into islands and finds the way from each to its reference, composes the guaranteed bounds along
//! these ways, and estimates all clocks of an island together. The guarantee never depends on the estimate:
//! the estimate is checked against it.
//!
//! The result does not depend on the order of the links, nor on how messages were split over several
//! [`LinkData`] of the same pair, nor on the orientation of these (but for messages that only a decreasing
//! relation could touch, see [`Corridor::mirrored`]).

use std::collections::BTreeMap;

use crate::MAX_ABS_NS;
use crate::bounded::Bounded;
use crate::composed::composed;
use crate::correction::Correction;
use crate::corridor::Corridor;
use crate::error::{ClockError, checked_time};
use crate::estimate;
use crate::interval::Interval;
use crate::link::{Link, LinkReport, Tie};
use crate::margin::MarginLine;
use crate::paths::{Edge, Graph, Tree};
use crate::slope::{RATE_PRIOR_PPM, SlopeRange};
use crate::span::Span;
use crate::uncertainty::Bounds;

pub use crate::uncertainty::MAX_ROWS;

/// The messages between two clocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkData {
    /// Index of the clock whose time is x in the corridor.
    pub a: usize,
    /// Index of the clock whose time is y.
    pub b: usize,
    /// What the messages prove.
    pub corridor: Corridor,
}

/// All clocks and the messages between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// Per clock, when it was seen. Widened to the messages of its links, and to 1 ns.
    pub clocks: Vec<Span>,
    /// The links, in any order and orientation; several of the same pair are merged.
    pub links: Vec<LinkData>,
    /// How far the rates of two clocks are believed to lie apart, ppm; see [`RATE_PRIOR_PPM`].
    pub prior_ppm: u32,
    /// The clock to use as reference of its island, if the choice matters.
    pub reference: Option<usize>,
}

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
}

impl Network {
    /// A network of clocks without messages, with the default prior.
    pub fn new(clocks: Vec<Span>) -> Self {
        Self { clocks, links: Vec::new(), prior_ppm: RATE_PRIOR_PPM, reference: None }
    }
}

/// Puts the clocks of every island on one clock.
///
/// * Quality of links: see [`crate::link::LinkQuality`]. Accurate, incomplete and approximate links tie their
///   clocks.
/// * The reference of an island is the one asked for, else the clock for which the worst sum of half widths
///   along a path is least. Paths avoid links without a guarantee, then minimise the sum of the links' worst
///   half widths.
/// * The interval is the composition of the corridors along the path; see [`MAX_ROWS`]. With an approximate
///   link on the path it covers the lines that are at most that link's violation worse than the best, and is
///   no guarantee.
/// * The estimate maximises the sum of the margins of all links of the island; it is inside the interval at
///   every row.
///
/// Complexity: O(links·h²) for hulls of h vertices, O(clocks·links·log) for the reference, plus a linear
/// program with two unknowns a clock and one a link per island.
///
/// # Errors
/// [`ClockError`] for spans or links that make no sense.
///
/// ```
/// use isochrone_clock::{Corridor, LinkData, Network, Span, solve};
/// let mut corridor = Corridor::new();
/// for t in (0..=1_000_000_000).step_by(100_000_000) {
///     corridor.a_to_b(t, t + 5_000_050)?; // clock 1 is 5 ms ahead, messages take 50 ns
///     corridor.b_to_a(t + 5_000_000, t + 50)?;
/// }
/// let span = Span { begin: 0, end: 1_000_000_000 };
/// let mut network = Network::new(vec![span, Span { begin: 5_000_000, end: 1_005_000_000 }]);
/// network.links.push(LinkData { a: 0, b: 1, corridor });
/// network.reference = Some(0);
/// let solution = solve(&network)?;
/// assert_eq!(solution.corrections[1].apply(505_000_000), 500_000_000);
/// let (lo, hi, _) = solution.intervals[1].at(505_000_000).ok_or("inside the span")?;
/// assert!(lo <= 500_000_000 && 500_000_000 <= hi && hi - lo <= 102);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn solve(network: &Network) -> Result<Solution, ClockError> {
    let corridors = merged(network)?;
    let spans = widened(&network.clocks, &corridors)?;
    let prior = SlopeRange::prior(network.prior_ppm);
    let links: Vec<Link> = corridors
        .into_iter()
        .map(|((a, b), corridor)| Link::judge((a, spans[a]), (b, spans[b]), corridor, prior))
        .collect();
    let graph = Graph::new(spans.len(), &edges(&links));

    let mut solution = Solution {
        islands: Vec::new(),
        corrections: spans.iter().map(|s| Correction::identity(s.begin, s.end)).collect(),
        intervals: Vec::new(),
        path: vec![None; spans.len()],
        links: Vec::new(),
    };
    let mut bounds: Vec<Bounds> = spans.iter().map(|&span| Bounds::along(&[], span)).collect();
    for clocks in graph.islands() {
        let asked = network.reference.filter(|r| clocks.contains(r)).map(|r| (r, graph.tree(r)));
        let Some((reference, tree)) = asked.or_else(|| graph.best_tree(&clocks)) else { continue };
        for &clock in &tree.order {
            solution.path[clock] = tree.next[clock].map(|(next, _)| next);
            bounds[clock] = Bounds::along(&relations(clock, &tree, &links), spans[clock]);
        }
        estimate_island(reference, &tree, &links, &spans, &bounds, &mut solution.corrections);
        solution.islands.push(Island { reference, clocks });
    }
    let intervals = bounds.iter().zip(&solution.corrections).map(|(b, estimate)| b.around(estimate));
    solution.intervals = intervals.collect::<Result<_, _>>()?;
    let island_of = island_of(&solution.islands, spans.len());
    let report = |link: Link| {
        let together = island_of[link.a] == island_of[link.b];
        let holds = together.then(|| inversions(&link, &solution.corrections) == 0);
        link.report(holds)
    };
    solution.links = links.into_iter().map(report).collect();
    Ok(solution)
}

/// One corridor per pair, oriented from the lower to the higher clock.
fn merged(network: &Network) -> Result<BTreeMap<(usize, usize), Corridor>, ClockError> {
    let clocks = network.clocks.len();
    if let Some(clock) = network.reference.filter(|&r| r >= clocks) {
        return Err(ClockError::BadClock { clock });
    }
    let mut corridors: BTreeMap<(usize, usize), Corridor> = BTreeMap::new();
    for link in &network.links {
        let (low, high) = (link.a.min(link.b), link.a.max(link.b));
        if low == high || high >= clocks {
            return Err(ClockError::BadClock { clock: high });
        }
        let known = corridors.entry((low, high)).or_default();
        if link.a == low { known.merge(&link.corridor) } else { known.merge(&link.corridor.mirrored()) }
    }
    Ok(corridors)
}

/// The spans, checked, wide enough for all messages, and at least a nanosecond long.
fn widened(clocks: &[Span], corridors: &BTreeMap<(usize, usize), Corridor>) -> Result<Vec<Span>, ClockError> {
    let mut spans = Vec::with_capacity(clocks.len());
    for (clock, &span) in clocks.iter().enumerate() {
        checked_time(span.begin)?;
        checked_time(span.end)?;
        if span.end < span.begin {
            return Err(ClockError::BadSpan { clock });
        }
        spans.push(span);
    }
    for (&(a, b), corridor) in corridors {
        for (clock, range) in [(a, corridor.x_range()), (b, corridor.y_range())] {
            if let Some((first, last)) = range {
                spans[clock].begin = spans[clock].begin.min(first);
                spans[clock].end = spans[clock].end.max(last);
            }
        }
    }
    for span in spans.iter_mut().filter(|s| s.begin == s.end) {
        if span.end < MAX_ABS_NS {
            span.end += 1;
        } else {
            span.begin -= 1;
        }
    }
    Ok(spans)
}

fn edges(links: &[Link]) -> Vec<Edge> {
    let edge = |(link, l): (usize, &Link)| {
        let tie = l.tie.as_ref()?;
        let cost = (u32::from(!tie.is_guaranteed()), tie.half_width.max(0) as u64);
        Some(Edge { a: l.a, b: l.b, link, cost })
    };
    links.iter().enumerate().filter_map(edge).collect()
}

/// The relations along the way from `clock` to the root.
fn relations<'a>(clock: usize, tree: &Tree, links: &'a [Link]) -> Vec<&'a Bounded> {
    let mut at = clock;
    let mut path = Vec::new();
    while let Some((next, link)) = tree.next[at] {
        path.extend(links[link].tie.as_ref().map(|tie| tie.from(&links[link], at)));
        at = next;
    }
    path
}

/// Estimates the clocks of one island into `corrections`: by the linear program if its answer keeps every
/// message in order and every estimate within its bounds, else by the margin lines along the paths.
fn estimate_island(
    reference: usize,
    tree: &Tree,
    links: &[Link],
    spans: &[Span],
    bounds: &[Bounds],
    corrections: &mut [Correction],
) {
    for &clock in &tree.order {
        let path: Option<Vec<MarginLine>> =
            relations(clock, tree, links).into_iter().map(Bounded::margin_line).collect();
        if let Some(path) = path.filter(|p| !p.is_empty()) {
            corrections[clock] = composed(&path, spans[clock]);
        }
    }
    let on_a_path = |link: usize| tree.order.iter().any(|&c| tree.next[c].is_some_and(|(_, l)| l == link));
    let members: Vec<&Link> = links
        .iter()
        .enumerate()
        .filter(|&(i, l)| {
            // An approximate link has a say only where nothing else ties its clocks.
            tree.order.contains(&l.a)
                && l.tie.as_ref().is_some_and(|t: &Tie| t.is_guaranteed() || on_a_path(i))
        })
        .map(|(_, l)| l)
        .collect();
    if members.is_empty() {
        return;
    }
    let island =
        estimate::Island { reference, clocks: &tree.order, spans, first: corrections, links: &members };
    let Some(wide) = estimate::widest(&island) else { return };

    let mut candidate = corrections.to_vec();
    for (&clock, correction) in tree.order.iter().zip(wide) {
        candidate[clock] = correction;
    }
    let inside = tree.order.iter().all(|&c| bounds[c].contain(&candidate[c]));
    let inverted = |corrections: &[Correction]| -> usize {
        let guaranteed = members.iter().filter(|l| l.tie.as_ref().is_some_and(Tie::is_guaranteed));
        guaranteed.map(|l| inversions(l, corrections)).sum()
    };
    // Rounding may cost a corridor of no width a nanosecond, whatever the estimate: then the better one is
    // used.
    let clean = inverted(&candidate);
    if inside && (clean == 0 || clean < inverted(corrections)) {
        corrections.clone_from_slice(&candidate);
    }
}

/// How many of the messages that matter are received before they were sent, by these corrections, exactly.
fn inversions(link: &Link, corrections: &[Correction]) -> usize {
    link.messages()
        .filter(|&(sender, sent, receiver, received)| {
            corrections[sender].apply(sent) > corrections[receiver].apply(received)
        })
        .count()
}

/// Per clock, the index of its island.
fn island_of(islands: &[Island], clocks: usize) -> Vec<usize> {
    let mut of = vec![0; clocks];
    for (index, island) in islands.iter().enumerate() {
        island.clocks.iter().for_each(|&c| of[c] = index);
    }
    of
}
