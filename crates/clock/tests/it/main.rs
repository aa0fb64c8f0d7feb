//! Bounds between clocks, from pairs of hosts to networks of them.

#![allow(clippy::unwrap_used)] // A test may panic.

mod assumed;
mod common;
mod delays;
mod estimate;
mod events;
mod hostile;
mod link_interval;
mod lttv;
mod network;
mod no_inversion;
mod pairwise;
mod steered;
mod stops;
