//! SQL over stores, from the command line and over the network.

#![allow(clippy::unwrap_used)] // A test may panic.

mod common;
mod cookbook;
mod engines;
mod nightly;
mod parquet;
mod program;
mod prompt;
