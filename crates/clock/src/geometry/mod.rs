//! What messages prove about two clocks, exactly, in integers.
//!
//! A message is a `point`, rates are `slope`s and ranges of them, `wander` is how far a rate may be from
//! constant. A `hull` keeps the messages of one direction that a line can touch, a `window` the hulls of a
//! part of the time, `listed` all messages while they are few. A `corridor` has both directions of a link;
//! `bounded` is the corridor within a range of rates, `margin` the line that stays farthest from its
//! messages. An `envelope` bounds a relation whose rate may be anything within a range at every instant, and
//! `segments` one along which different things are assumed.

mod bounded;
mod corridor;
mod envelope;
mod hull;
mod listed;
mod margin;
mod point;
pub(crate) mod segments;
mod slope;
mod wander;
mod window;

pub use bounded::Bounded;
pub use corridor::{Corridor, Infeasible};
pub use hull::{HalfHull, Side};
pub use margin::MarginLine;
pub use point::Point;
pub use slope::{RATE_PRIOR_PPM, Slope, SlopeBand, SlopeRange};
pub use wander::{WANDER_PPM, Wander};
pub use window::{Flow, MAX_WINDOWS, Window, windows_per_link};

pub(crate) use corridor::Extremes;
pub(crate) use envelope::{ONE, RateRange};
pub(crate) use listed::Listed;
pub(crate) use margin::{Margin, chain, extend};
pub(crate) use point::Direction;
pub(crate) use segments::{Contradicted, Points, Rule, Segment, SegmentChain};
pub(crate) use slope::FASTEST;
