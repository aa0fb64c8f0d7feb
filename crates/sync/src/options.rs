//! What a user can choose about a synchronization.

use isochrone_clock::RATE_PRIOR_PPM;

/// What to do differently.
#[derive(Debug, Clone)]
pub struct Options {
    /// The host whose clock is the reference, instead of the one that makes the worst uncertainty least.
    pub reference: Option<String>,
    /// How far apart the rates of two clocks may be where messages do not tell, ppm.
    pub rate_prior_ppm: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { reference: None, rate_prior_ppm: RATE_PRIOR_PPM }
    }
}
