//! Why a value was not accepted. All constructors of the crate that take outside numbers return
//! [`ClockError`].
//!
//! Contradictory *messages* are not an error of this kind: they are a result, see
//! `crate::geometry::corridor::Infeasible`.

use crate::MAX_ABS_NS;

/// Largest ρ ([`crate::WANDER_PPM`]) accepted, ppm: beyond, a rate says nothing.
pub const MAX_WANDER_PPM: f64 = 100_000.0;

/// A number or a combination of numbers that the crate cannot represent exactly, or that makes no sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClockError {
    /// A time outside ±[`MAX_ABS_NS`].
    #[error("time {0} ns is outside ±{MAX_ABS_NS} ns")]
    TimeOutOfRange(i64),
    /// A slope whose run is not positive, or whose rise or run exceeds 2⁶².
    #[error("a slope of {dy}/{dx} is not a ratio of two differences of times")]
    BadSlope {
        /// Rise, ns.
        dy: i64,
        /// Run, ns.
        dx: i64,
    },
    /// A correction or an interval without a row.
    #[error("at least {needed} rows are needed, {got} were given")]
    TooFewRows {
        /// Minimal number of rows.
        needed: usize,
        /// Number of rows given.
        got: usize,
    },
    /// Rows whose raw time does not increase strictly, or whose reference time decreases.
    #[error("row {row} is not in order")]
    OutOfOrder {
        /// Index of the first offending row.
        row: usize,
    },
    /// An interval row with `lo > hi`, a negative `e95`, or a bound beyond ±2⁶².
    #[error("row {row} is not an interval")]
    BadInterval {
        /// Index of the first offending row.
        row: usize,
    },
    /// A wander that is not a number within its limits.
    #[error("a clock's rate cannot wander by that: 0 to {} ppm", MAX_WANDER_PPM)]
    BadWander,
    /// An asymmetry of delays that is not a share.
    #[error("the asymmetry of delays is a share of their sum: 0 to 1")]
    BadAsymmetry,
    /// A rate that is not a positive decimal with at most 15 decimals.
    #[error("not a positive rate with at most 15 decimals")]
    BadRate,
    /// A span that ends before it begins.
    #[error("clock {clock} ends before it begins")]
    BadSpan {
        /// Index of the clock.
        clock: usize,
    },
    /// A link or a reference that names a clock that is not there, a link of a clock with itself, or the
    /// clocks of a link in the wrong order.
    #[error("no such clock, or not the second of a link: {clock}")]
    BadClock {
        /// The offending index.
        clock: usize,
    },
}

/// `time` if it is within ±[`MAX_ABS_NS`].
pub(crate) fn checked_time(time: i64) -> Result<i64, ClockError> {
    // Not `abs()`: it overflows on i64::MIN.
    if (-MAX_ABS_NS..=MAX_ABS_NS).contains(&time) { Ok(time) } else { Err(ClockError::TimeOutOfRange(time)) }
}
