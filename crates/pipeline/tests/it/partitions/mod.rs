//! The merge invariant: the analysis of a whole trace is that of any pieces of it, merged in any order, byte for byte.

pub mod hosts;
pub mod model;
mod processes;
mod random;
mod real;
pub mod recorders;
mod rotation;
mod scripts;
