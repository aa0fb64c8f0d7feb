//! What the generators of traces write.

#![allow(clippy::unwrap_used)] // A test may panic.

mod captures;
mod cluster;
mod common;
mod kernel_random;
mod kernel_scripts;
mod layouts;
mod links;
mod random_clusters;
mod traces;
