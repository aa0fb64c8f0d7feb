//! Questions across hosts, on example, recorded and simulated traces.

#![allow(clippy::unwrap_used)] // A test may panic.

mod common;
mod fan_out;
mod latencies;
mod phases;
mod references;
mod simulated;
mod speed;
mod waits;
