//! Estimates as others have published them, over the messages that the corridors hold: to compare with.
//!
//! [`solve`] takes the half hulls of all pairs and gives, by a [`Method`], a line for each pair and, chained
//! along a tree, one for each clock, in exact arithmetic. [`with_lines`] puts these lines in the place of the
//! estimates of a [`Solution`](crate::Solution); its bounds stay as they are, because no method here has any
//! for more than one pair, and the guarantee never sees an estimate.
//!
//! | module | concept |
//! |---|---|
//! | `line` | a line with exact coefficients, and its decimals |
//! | `methods`, `regression` | from a pair's messages to its line |
//! | `reduction` | from the lines of pairs to one for each clock |
//! | `placed` | from there to corrections |
//!
//! Errors of the originals that are not reproduced are named in [`Method::left_out`].

mod line;
mod methods;
mod placed;
mod reduction;
mod regression;
#[cfg(test)]
mod tests;

use crate::geometry::HalfHull;

pub use line::{Line, decimal};
pub use placed::{RejectedLine, with_lines};
pub use reduction::ClockLine;
pub use regression::Exchanges;

/// Maximal number of digits of a formula.
pub const MAX_DIGITS: u32 = 1000;

/// Method that chooses a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// The line of greatest margin.
    Margin,
    /// LTTV's convex hulls.
    Hull,
    /// Trace Compass's incremental algorithm.
    TraceCompass,
    /// LTTV's linear regression.
    Linreg,
}

impl Method {
    /// Short description for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Margin => "the line of greatest margin of each pair, chained along the narrowest pairs",
            Self::Hull => "LTTV's convex hulls (chull): the bisector of the extreme lines of each pair",
            Self::TraceCompass => {
                "Trace Compass's incremental algorithm: the mean of the extreme lines of each pair"
            }
            Self::Linreg => "LTTV's linear regression (linreg): least squares over exchanges of each pair",
        }
    }

    /// Behaviour of the original that is not reproduced, one sentence each.
    pub fn left_out(self) -> &'static [&'static str] {
        match self {
            Self::Margin => &[],
            Self::Hull => &[
                "LTTV chains clocks of more than one hop with the factors of the wrong pair, or aborts",
                "LTTV computes in doubles, which lose milliseconds of Unix times, and drops messages that come out of order",
                "LTTV built with GLPK replaces the result by one that its tolerances spoil",
                "LTTV prints six digits, which cannot convert a time stamp",
            ],
            Self::TraceCompass => &[
                "Trace Compass decides turns in 64 bits that overflow without notice, by tens of milliseconds",
                "Trace Compass goes on applying an old formula when messages contradict each other (FAIL)",
                "Trace Compass depends on the order in which messages come, and begins no line at a half hull of one message",
                "Trace Compass leaves hosts alone that are on another island than the first",
            ],
            Self::Linreg => &[
                "LTTV gives pairs without exchanges factors that are no numbers",
                "LTTV computes in doubles, which lose hundreds of milliseconds of Unix times",
                "LTTV chains clocks of more than one hop with the factors of the wrong pair, or aborts",
                "LTTV fits both directions of a pair and takes either; here it is the one with the smaller deviation",
            ],
        }
    }
}

/// Verdict of a method on a pair, in the words of its authors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Outcome {
    /// Both extreme lines are there.
    Accurate,
    /// A line was chosen although one of them is missing, or although no line satisfies all messages.
    Approximate,
    /// One of them is missing, and no line was chosen.
    Incomplete,
    /// The messages contradict each other, and no line was chosen.
    Failed,
    /// Nothing is known.
    #[default]
    Absent,
}

/// Result of a method for a pair: lines of y by x.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PairFit {
    /// Verdict on the pair.
    pub outcome: Outcome,
    /// Line chosen.
    pub line: Option<Line>,
    /// Line of least slope that no message contradicts.
    pub min: Option<Line>,
    /// The line of greatest slope that no message contradicts.
    pub max: Option<Line>,
    /// Figure of merit by which pairs are compared, less is better; units differ between outcomes, as in the
    /// original.
    pub accuracy: Option<f64>,
}

/// Messages between two clocks, `a < b`.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The clock whose time is x.
    pub a: usize,
    /// The clock whose time is y.
    pub b: usize,
    /// Messages from a to b.
    pub upper: HalfHull,
    /// Messages from b to a.
    pub lower: HalfHull,
    /// Exchanges that a began, and those that b began.
    pub exchanges: [Exchanges; 2],
}

/// Result of a method for a pair, with its clocks.
#[derive(Debug, Clone, PartialEq)]
pub struct PairResult {
    /// The clock whose time is x.
    pub x: usize,
    /// The clock whose time is y.
    pub y: usize,
    /// The lines.
    pub found: PairFit,
    /// Vertices of the half hulls: of messages from x to y, and from y to x.
    pub vertices: (usize, usize),
    /// Exchanges that x began, and those that y began.
    pub exchanges: (u64, u64),
}

/// Result of a method for all clocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// Every pair, in the order given.
    pub pairs: Vec<PairResult>,
    /// Every clock, by number.
    pub clocks: Vec<ClockLine>,
}

/// How to apply a method.
#[derive(Debug, Clone)]
pub struct Request<'q> {
    /// Method to apply.
    pub method: Method,
    /// Number of digits that will be shown.
    pub digits: u32,
    /// The clocks in the order that breaks ties: Trace Compass takes the first of a pair for x, and the first
    /// of all for the reference.
    pub order: &'q [usize],
    /// The reference of its island, instead of what the method chooses.
    pub reference: Option<usize>,
}

/// Applies a method to all pairs, and reduces the lines of pairs to one line for each clock. Besides the
/// lines of pairs `O(clocks³)`.
pub fn solve(request: &Request<'_>, pairs: &[Pair]) -> Published {
    let mut rank = vec![0; request.order.len()];
    request.order.iter().enumerate().for_each(|(index, &clock)| rank[clock] = index);
    let pairs: Vec<PairResult> = pairs.iter().map(|pair| result(request, &rank, pair)).collect();
    let clocks = reduction::reduced(request, &pairs);
    Published { pairs, clocks }
}

fn result(request: &Request<'_>, rank: &[usize], pair: &Pair) -> PairResult {
    let turned = request.method == Method::TraceCompass && rank[pair.b] < rank[pair.a];
    let pair = if turned { &pair.turned() } else { pair };
    let Pair { a, b, upper, lower, exchanges } = pair;
    let found = match request.method {
        Method::Margin => methods::margin(upper, lower),
        Method::Hull => methods::hull(upper, lower, request.digits),
        Method::TraceCompass => methods::tracecompass(upper, lower),
        Method::Linreg => regression::line(exchanges),
    };
    let [by_a, by_b] = exchanges;
    PairResult {
        x: *a,
        y: *b,
        found,
        vertices: (upper.len(), lower.len()),
        exchanges: (by_a.count(), by_b.count()),
    }
}

impl Pair {
    /// The same with the clocks in the other order.
    fn turned(&self) -> Self {
        let [by_a, by_b] = self.exchanges.clone();
        Self {
            a: self.b,
            b: self.a,
            upper: self.lower.mirrored(),
            lower: self.upper.mirrored(),
            exchanges: [by_b, by_a],
        }
    }
}
