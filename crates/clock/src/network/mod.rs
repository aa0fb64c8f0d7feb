//! A whole network of clocks at once: corridors in, one clock for every island out.
//!
//! [`solve`] is the batch form of [`crate::network::stream`]. The result does not depend on the order of the
//! links, nor on how messages were split over several [`LinkData`] of the same pair, nor on the orientation
//! of these (but for messages that only a decreasing relation could touch, see [`Corridor::mirrored`]).

mod assumed;
mod breaks;
mod doubt;
mod findings;
mod interior;
mod island;
mod joint;
mod least_squares;
mod motions;
mod paths;
mod placement;
mod reach;
mod repair;
mod sparse;
mod stream;
mod sweep;

pub use assumed::Assumed;
pub use doubt::Doubt;
pub use island::MAX_ROWS;
pub use joint::Solution;
pub use paths::Island;
pub use stream::Synchronizer;

use crate::error::ClockError;
use crate::geometry::Corridor;
use crate::model::{Assumptions, Model};
use crate::span::Span;

/// The messages between two clocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkData {
    /// Index of the clock whose time is x in the corridor.
    pub a: usize,
    /// Index of the clock whose time is y; greater than `a`.
    pub b: usize,
    /// Bounds that the messages prove.
    pub corridor: Corridor,
}

/// All clocks and the messages between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// Per clock, when it was seen. Widened to the messages of its links, and to 1 ns.
    pub clocks: Vec<Span>,
    /// The links, in any order; several of the same pair are merged.
    pub links: Vec<LinkData>,
    /// Assumptions on all clocks and links.
    pub model: Model,
    /// Assumptions on each clock; clocks beyond the end of the list are free-running.
    pub assumptions: Vec<Assumptions>,
    /// The clock to use as reference of its island, if the choice matters.
    pub reference: Option<usize>,
}

impl Network {
    /// A network of clocks without messages, with the default model.
    pub fn new(clocks: Vec<Span>) -> Self {
        Self { clocks, links: Vec::new(), model: Model::default(), assumptions: Vec::new(), reference: None }
    }
}

/// Puts the clocks of every island on one clock.
///
/// * Quality of links: see [`crate::LinkQuality`]. Accurate, incomplete and approximate links tie their
///   clocks.
/// * The reference of an island is the requested one, else the clock for which the worst sum of half widths
///   along a path is least. Paths avoid links without a guarantee, then minimise the sum of the links' worst
///   half widths.
/// * The interval is what all links of the island together prove. With an approximate link among them it
///   covers the lines that are at most that link's violation worse than the best, and is no guarantee.
/// * Links that are possible each by itself but contradict each other around a loop are found; those that
///   explain most of the loops go, until none is left, and nothing is guaranteed of the clocks on them
///   ([`Solution::doubts`]).
/// * The estimate weighs what all links say by their errors, and is inside the interval at every row.
///
/// Complexity: linear in the links, each O(k log k) for k kept messages (k² where a link contradicts itself),
/// then for the estimate, at each instant, O(links) on trees, stars and rings, up to O(clocks³) where all
/// clocks are linked to all, and O(instants · links) for the bounds.
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
/// network.model.wander_ppm = 0.0; // straight clocks
/// let solution = solve(network)?;
/// assert_eq!(solution.corrections[1].apply(505_000_000), 500_000_000);
/// let (lo, hi, _) = solution.intervals[1].at(505_000_000).ok_or("inside the span")?;
/// assert!(lo <= 500_000_000 && 500_000_000 <= hi && hi - lo <= 102);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn solve(network: Network) -> Result<Solution, ClockError> {
    let mut clocks = Synchronizer::new(network.clocks.len(), network.model)?;
    for (clock, span) in network.clocks.iter().enumerate() {
        if span.end < span.begin {
            return Err(ClockError::BadSpan { clock });
        }
        clocks.see(clock, span.begin)?;
        clocks.see(clock, span.end)?;
    }
    for link in network.links {
        clocks.messages(link.a, link.b, link.corridor)?;
    }
    for (clock, assumptions) in network.assumptions.into_iter().enumerate() {
        clocks.assume(clock, assumptions)?;
    }
    clocks.set_reference(network.reference)?;
    clocks.into_solution()
}
