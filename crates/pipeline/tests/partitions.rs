//! The merge invariant: the analysis of a whole trace is that of any pieces of it, merged in any order, byte for byte.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // A test may panic; a skipped one says so.

mod common;

#[allow(dead_code)] // Each test takes what it needs.
mod partitions {
    pub mod hosts;
    pub mod model;
    mod processes;
    mod random;
    mod real;
    pub mod recorders;
    mod rotation;
    mod scripts;

    use super::common;
}
