//! Several traces as one experiment.

#![allow(clippy::unwrap_used)] // A test may panic.

mod callers;
mod chunks;
mod explained;
mod fleet;
mod instants;
mod live;
mod messages;
mod order;
mod pool;
mod sample;
mod stamps;
mod stored;
mod watch;
