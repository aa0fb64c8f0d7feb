//! Stores that are written and read back.

#![allow(clippy::unwrap_used)] // A test may panic.

mod common;
mod python;
mod random;
mod states;
mod sums;
