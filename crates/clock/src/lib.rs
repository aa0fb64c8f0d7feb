//! The mathematics of clocks: what messages prove about two clocks, and how to put many clocks on one.
//!
//! Every host stamps events with a clock of its own. A message sent at local time `x` of one clock and
//! received at local time `y` of another proves one inequality between the two, and nothing else does. This
//! crate keeps those inequalities exactly and turns them into
//!
//! * a **guarantee**: the interval that must contain the other clock's time ([`Bounded`], [`Interval`]), under a stated
//!   [`Model`] of clocks,
//! * an **estimate** inside it: an exact, monotone, invertible map ([`Correction`]).
//!
//! The two are separate on purpose: a better estimator never has to touch the proof.
//!
//! From the ground up:
//!
//! | module | concept |
//! |---|---|
//! | `slope`, `wander` | exact rates: a ratio of two integers, ranges of them; how far a rate may be from constant |
//! | `point`, `hull`, `window` | the messages of one direction that can still matter, by time: half hulls in windows |
//! | `listed` | all messages of a link, while they are few |
//! | `corridor` | both directions of a link; what rates and offsets they allow |
//! | `bounded` | a corridor within a range of rates: lowest and highest time at any instant |
//! | `margin` | the line that stays farthest from all messages |
//! | `posterior`, `folds`, `curve` | the likeliest line of a link, averaged over parts of the messages; bent where no line will do |
//! | `suspect`, `zone`, `measure` | messages that look wrong; where a clock was set; how much a rate was seen to change |
//! | `left_out` | which of the messages that look wrong are left out |
//! | `pieces`, `relation` | a link as pieces between breaks, each with bounds and estimate |
//! | `link` | what a link is worth: accurate, incomplete, approximate, refused |
//! | `link_interval` | the bounds of one link over time, as rows |
//! | `breaks`, `paths` | which clock was set; islands, references, the best paths |
//! | `placement`, `least_squares`, `sparse`, `interior` | the estimate of all clocks by all links, and its repair |
//! | `reach`, `uncertainty` | the guarantee of all clocks by all links: bounds at instants, and intervals made of them |
//! | `motions`, `sweep`, `outline`, `thinned` | the same where rates change: bounds at every message, and rows made of them |
//! | `island`, `joint` | one island; many clocks with judged links |
//! | `stream`, `network` | messages of many clocks as they come; a whole network at once |
//! | `assumption` | who may steer a clock, and when: what a guarantee is conditional on |
//! | [`published`] | estimates as others have published them, to compare with |
//! | `model`, `span`, `way` | what is believed of clocks and links; when a clock was seen; which of two is given |
//! | `correction`, `rate`, `interval` | applying and inverting a piecewise-affine map in integers; uncertainty over time, rounded outward |
//! | `error`, `exact` | what is not accepted; division with a chosen rounding |
//!
//! The crate is pure: no I/O, no events, no packets. All times are *raw nanoseconds* (`i64`, absolute value
//! at most [`MAX_ABS_NS`]), for which every predicate on messages is exact in 128-bit integers. Floating point is used for
//! estimates, which are checked exactly before use, for choices that are safe either way (which messages to leave out, where to
//! cut), for errors that are called statistical, and for figures meant for people; never for a bound. What is
//! proven under which conditions is written in `docs/SYNC.md`.
//!
//! ```
//! use isochrone_clock::{Corridor, SlopeRange, Wander};
//!
//! let mut link = Corridor::new();
//! link.a_to_b(1_000, 1_250)?; // a sent at 1000 (a's time), b received at 1250 (b's time)
//! link.b_to_a(1_300, 1_150)?; // b sent at 1300, a received at 1150
//! let bounded = link.within(SlopeRange::prior(500), Wander::NONE)?;
//! assert_eq!((bounded.lo(1_100), bounded.hi(1_100)), (Some(1_249), Some(1_351)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assumed;
mod assumption;
mod between;
mod blend;
mod bounded;
mod breaks;
mod chain;
mod correction;
mod corridor;
mod curve;
mod doubt;
mod envelope;
mod error;
mod exact;
mod excess;
mod folds;
mod hidden;
mod hull;
mod interior;
mod interval;
mod island;
mod joint;
mod least_squares;
mod left_out;
mod link;
mod link_interval;
mod listed;
mod loops;
mod margin;
mod measure;
mod model;
mod motion;
mod motions;
mod network;
mod outline;
mod paths;
mod pieces;
mod placement;
mod point;
mod posterior;
pub mod published;
mod rate;
mod reach;
mod relation;
mod repair;
mod seesaw;
mod shared;
mod slope;
mod span;
mod sparse;
mod steered;
mod stream;
mod suspect;
mod sweep;
mod thinned;
mod uncertainty;
mod usual;
mod wander;
mod way;
mod window;
mod zone;

pub use assumed::Assumed;
pub use assumption::{Assumptions, MAX_CHANGES, Regime, STEERED_PPM, Steering};
pub use bounded::Bounded;
pub use breaks::ClockBreak;
pub use correction::Correction;
pub use corridor::{Corridor, Feasible, Infeasible};
pub use curve::Slow;
pub use doubt::Doubt;
pub use error::ClockError;
pub use folds::{ASYMMETRY, Basis, PairEstimate, estimate};
pub use hull::{HalfHull, Side};
pub use interval::{Interval, IntervalRow};
pub use island::MAX_ROWS;
pub use joint::{Island, Solution};
pub use link::{LinkQuality, LinkReport, Refusal};
pub use margin::MarginLine;
pub use model::Model;
pub use network::{LinkData, Network, solve};
pub use point::Point;
pub use posterior::{Floor, Kept};
pub use rate::Rate;
pub use relation::{Break, BreakKind};
pub use slope::{RATE_PRIOR_PPM, Slope, SlopeBand, SlopeRange};
pub use span::Span;
pub use stream::Synchronizer;
pub use suspect::{Cleaned, NotAffine, Suspect, SuspectReason, clean};
pub use wander::{MAX_WANDER_PPM, WANDER_PPM, Wander};
pub use window::{Flow, MAX_WINDOWS, Window, windows_per_link};

/// The largest absolute raw time, in nanoseconds, that the crate accepts: 2⁶¹ (about 73 years).
///
/// Differences of two such times stay below 2⁶², products of two differences below 2¹²⁴, and a sum of a few
/// such products below 2¹²⁷: every predicate of the crate is exact in `i128`.
pub const MAX_ABS_NS: i64 = 1 << 61;
