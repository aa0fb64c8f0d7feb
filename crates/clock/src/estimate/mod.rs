//! The likeliest relation of the two clocks of a link. All of this is statistics: no bound rests on it.
//!
//! A `sample` is what an estimator needs of the messages of one direction. Through the messages of both
//! directions lies the exact line of a `frame`, relative to which floating point works: `posterior` is the
//! likeliest line, `folds` averages it over parts of the messages, and the result is a `line`. `suspect`
//! finds messages that look wrong. Where the clocks did not run straight, `curve` and `combine` join lines of
//! parts of the time, chosen by `straightness`; `between` fills the rest, and `rate_change` measures how much
//! the rate changed.

mod between;
#[cfg(test)]
mod chain_tests;
mod combine;
mod curve;
mod folds;
mod frame;
mod line;
mod posterior;
mod rate_change;
mod sample;
pub(crate) mod straightness;
mod suspect;

pub use curve::SlowPeriod;
pub use folds::estimate;
pub use line::{Basis, PairEstimate};
pub use sample::{DirectionSample, RetainedPoint};
pub use suspect::{Cleaned, NotAffine, Suspect, SuspectReason, clean};

pub(crate) use combine::combined;
pub(crate) use curve::{Curve, Variances};
pub(crate) use line::VARIANCE_FACTOR;
pub(crate) use rate_change::{Change, changes, exceeds, has_moved, is_pinched, range, rate_change};
pub(crate) use suspect::{MAX_CONTRADICTIONS, MESSAGES_PER_CONTRADICTION, MIN_MESSAGES_TO_REFUSE};
