//! Partitions of traces, merged, and spans of damaged traces.

#![allow(clippy::unwrap_used)] // A test may panic.

mod causes;
mod common;
mod dropped;
mod flat;
mod losses;
mod many_hosts;
mod order;
mod partitions;
mod processes;
mod real;
mod removed;
mod spans;
mod speed;
mod store;
