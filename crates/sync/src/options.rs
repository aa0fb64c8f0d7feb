//! What a user can choose about a synchronization.

use isochrone_clock::Model;

/// What to do differently.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The host whose clock is the reference, instead of the one that makes the worst uncertainty least.
    pub reference: Option<String>,
    /// What is believed of clocks and links.
    pub model: Model,
}
