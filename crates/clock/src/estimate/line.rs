//! What an estimate of a link is: a line relative to an exact one, with its statistics.

use crate::estimate::frame::Frame;
use crate::exact::{floor_div, saturate};

/// Fewer messages than this in a direction say nothing about the spread of delays: 95 of 100 stated errors
/// hold with 4 messages, 90 with 3, 63 with 2. Only the guaranteed interval should be stated.
pub const MIN_MESSAGES_TO_STATE_ERROR: u64 = 5;

/// Factor of the posterior's variance in stated errors: 1.5², since delays near the floor are not
/// exponential.
pub const VARIANCE_FACTOR: f64 = 2.25;

/// Basis of an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Basis {
    /// The mean over the folds.
    Folds,
    /// The mean over the folds, pulled toward the margin line until no message contradicts it.
    FoldsPulled,
    /// The posterior mean of all messages: too few for folds, or a fold holds a whole direction.
    Whole,
    /// The line of greatest margin: the messages or the band leave one slope only.
    OneSlope,
    /// The line of least violation: no line of the band satisfies the messages. Approximate; its variance is
    /// a guess from the violation.
    Contradiction,
}

/// A line between two clocks with its statistics, relative to an exact line:
/// y(x) = y0 + s0·(x − x0) + offset + tilt·(x − x0).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairEstimate {
    pub(super) frame: Frame,
    pub(super) offset: f64,
    pub(super) tilt: f64,
    pub(super) covariance: [[f64; 2]; 2],
    pub(super) rates: (f64, f64),
    pub(super) margin: f64,
    pub(super) messages: (u64, u64),
    pub(super) basis: Basis,
}

impl PairEstimate {
    /// Time of b when a shows `x`, the nearest ns; the nearest `i64` when it does not fit.
    ///
    /// The line itself is inside the corridor; rounding may leave it by less than a nanosecond.
    pub fn at(&self, x: i64) -> i64 {
        let run = x as i128 - self.frame.x0 as i128;
        // Below 2⁶⁴ · 2⁶².
        let rise = self.frame.slope.dy() as i128 * run;
        let dx = self.frame.slope.dx() as i128;
        let whole = floor_div(rise, dx);
        let part = (rise - whole * dx) as i64 as f64 / self.frame.slope.dx() as f64;
        let rest = part + self.offset + self.tilt * run as f64;
        saturate((self.frame.y0 as i128 + whole).saturating_add(rest.round() as i128))
    }

    /// (x0, y0) of the exact line: the middle of the messages.
    pub fn origin(&self) -> (i64, i64) {
        (self.frame.x0, self.frame.y0)
    }

    /// (dy/dx − 1)·10⁶.
    pub fn rate_ppm(&self) -> f64 {
        self.frame.slope.ppm() + self.tilt * 1e6
    }

    /// Covariance of offset (ns, at the origin) and tilt: the posterior's, and on the offset that of the two
    /// floors.
    pub fn covariance(&self) -> [[f64; 2]; 2] {
        self.covariance
    }

    /// Variance of the line at `x`, ns²: statistics only, no asymmetry.
    pub fn offset_variance(&self, x: i64) -> f64 {
        let run = (x as i128 - self.frame.x0 as i128) as f64;
        let [[a, ab], [_, b]] = self.covariance;
        (a + run * (2.0 * ab + run * b)).max(0.0)
    }

    /// The error at `x` that 95 of 100 estimates stay below, ns, if the minimum delays of the two directions
    /// differ by about `asymmetry` (`ASYMMETRY`) of their sum; `None` for fewer than
    /// `MIN_MESSAGES_TO_STATE_ERROR` messages in a direction. Not yet capped by the guaranteed interval.
    pub fn likely_error(&self, x: i64, asymmetry: f64) -> Option<f64> {
        let (forth, back) = self.messages;
        (forth.min(back) >= MIN_MESSAGES_TO_STATE_ERROR).then(|| {
            let floors = asymmetry * self.margin;
            2.0 * (floors * floors + VARIANCE_FACTOR * self.offset_variance(x)).sqrt()
        })
    }

    /// Half the vertical gap between the two directions at the slope of greatest margin, ns; negative: minus
    /// the least violation.
    pub fn margin_ns(&self) -> f64 {
        self.margin
    }

    /// Per direction (a to b, b to a) the number of messages times the rate of delays near the floor, 1/ns.
    pub fn rates(&self) -> (f64, f64) {
        self.rates
    }

    /// Number of messages (a to b, b to a) after it.
    pub fn messages(&self) -> (u64, u64) {
        self.messages
    }

    /// Basis of the estimate.
    pub fn basis(&self) -> Basis {
        self.basis
    }
}
