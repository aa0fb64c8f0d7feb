//! What traces show of who steers the clock: `watch` looks at the events of one stream, in the pass that
//! finds packets; [`evidence`] puts streams together; [`daemons`] knows the programs. What is concluded from
//! it is in `isochrone_sync`.

pub mod daemons;
pub mod evidence;
mod watch;

pub use evidence::{StreamEvidence, add_trace};
pub(crate) use watch::SteeringWatch;
