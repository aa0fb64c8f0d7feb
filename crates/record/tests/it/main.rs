//! The parts of the script of a host that can be run without a tracer.

#![allow(clippy::unwrap_used)] // A test may panic.

mod probes;
mod sk_buff;
