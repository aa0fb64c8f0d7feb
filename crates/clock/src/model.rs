//! What a synchronization believes about clocks and links before it sees a message.

use crate::error::ClockError;
use crate::folds::ASYMMETRY;
use crate::slope::{RATE_PRIOR_PPM, SlopeRange};
use crate::wander::{WANDER_PPM, Wander};

/// The beliefs that guarantees (`wander_ppm`, `prior_ppm`) and realistic errors (`asymmetry`) are conditional on.
///
/// ```
/// use isochrone_clock::Model;
/// let straight = Model { wander_ppm: 0.0, ..Model::default() };
/// assert_eq!((straight.prior_ppm, straight.asymmetry), (500, 0.17));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// How far the rate of a clock stays from constant between two breaks, ppm; see [`WANDER_PPM`].
    pub wander_ppm: f64,
    /// How far the rates of two clocks are believed to lie apart, ppm; see [`RATE_PRIOR_PPM`].
    pub prior_ppm: u32,
    /// By what share of their sum the least delays of the two directions of a link are believed to differ; see
    /// [`ASYMMETRY`].
    pub asymmetry: f64,
}

impl Model {
    /// Rates of two clocks relative to each other.
    pub(crate) fn prior(&self) -> SlopeRange {
        SlopeRange::prior(self.prior_ppm)
    }

    /// Of two clocks.
    ///
    /// # Errors
    /// [`ClockError::BadWander`].
    pub(crate) fn wander(&self) -> Result<Wander, ClockError> {
        Wander::of_pair_ppm(self.wander_ppm)
    }

    /// # Errors
    /// [`ClockError::BadWander`], [`ClockError::BadAsymmetry`] for what is no share.
    pub(crate) fn checked(self) -> Result<Self, ClockError> {
        self.wander()?;
        if (0.0..=1.0).contains(&self.asymmetry) { Ok(self) } else { Err(ClockError::BadAsymmetry) }
    }
}

impl Default for Model {
    fn default() -> Self {
        Self { wander_ppm: WANDER_PPM, prior_ppm: RATE_PRIOR_PPM, asymmetry: ASYMMETRY }
    }
}
