//! The mathematics of clocks: what messages prove about two clocks, and how to put many clocks on one.
//!
//! Every host stamps events with a clock of its own. A message sent at local time `x` of one clock and
//! received at local time `y` of another proves one inequality between the two, and nothing else does. This
//! crate keeps those inequalities exactly and turns them into
//!
//! * a **guarantee**: the interval that must contain the other clock's time ([`Bounded`], [`Interval`]), under
//!   a stated [`Model`] of clocks,
//! * an **estimate** inside it: an exact, monotone, invertible map ([`Correction`]).
//!
//! The two are separate on purpose: a better estimator never has to touch the proof.
//!
//! From the ground up:
//!
//! | module | concept |
//! |---|---|
//! | `error`, `exact`, `span`, `rate` | errors; integer division; spans of time; a rate as an exact decimal |
//! | `geometry` | messages as points, exact rates, half hulls, the corridor of a link and its bounds |
//! | `correction`, `interval` | the map from a clock to its reference; rows of bounds over time |
//! | `model` | what is assumed: of all clocks, and of each clock over time |
//! | `estimate` | the likeliest relation of two clocks, and messages that look wrong |
//! | `link` | the verdict on a link: pieces between breaks, each with bounds and an estimate |
//! | `network` | many clocks at once: islands, references, joint estimate and bounds; as a batch or as a stream |
//! | [`published`] | estimates as others have published them, to compare with |
//!
//! The crate is pure: no I/O, no events, no packets. All times are *raw nanoseconds* (`i64`, absolute value
//! at most [`MAX_ABS_NS`]), for which every predicate on messages is exact in 128-bit integers. Floating
//! point is used for estimates, which are checked exactly before use, for choices that are safe either way
//! (which messages to leave out, where to cut), for errors that are called statistical, and for values meant
//! for people; never for a bound. What is proven under which conditions is written in `docs/SYNC.md`.
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

mod correction;
mod error;
mod estimate;
mod exact;
mod geometry;
mod interval;
mod link;
mod model;
mod network;
pub mod published;
mod rate;
mod span;

pub use correction::Correction;
pub use error::{ClockError, MAX_WANDER_PPM};
pub use estimate::{
    Basis, Cleaned, DirectionSample, NotAffine, PairEstimate, RetainedPoint, SlowPeriod, Suspect,
    SuspectReason, clean, estimate,
};
pub use geometry::{
    Bounded, Corridor, Flow, HalfHull, Infeasible, MAX_WINDOWS, MarginLine, Point, RATE_PRIOR_PPM, Side,
    Slope, SlopeBand, SlopeRange, WANDER_PPM, Wander, Window, windows_per_link,
};
pub use interval::{Interval, IntervalRow};
pub use link::{Break, BreakKind, ClockBreak, LinkQuality, LinkReport, Refusal};
pub use model::{ASYMMETRY, Assumptions, MAX_CHANGES, Model, Regime, STEERED_PPM, Steering};
pub use network::{Assumed, Doubt, Island, LinkData, MAX_ROWS, Network, Solution, Synchronizer, solve};
pub use rate::Rate;
pub use span::Span;

/// The largest absolute raw time, in nanoseconds, that the crate accepts: 2⁶¹ (about 73 years).
///
/// Differences of two such times stay below 2⁶², products of two differences below 2¹²⁴, and a sum of a few
/// such products below 2¹²⁷: every predicate of the crate is exact in `i128`.
pub const MAX_ABS_NS: i64 = 1 << 61;
