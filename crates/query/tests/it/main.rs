//! SQL over stores, from the command line and over the network.

#![allow(clippy::unwrap_used)] // A test may panic.

mod common;
mod cookbook;
mod nightly;
mod program;
mod prompt;
