//! Tests that take long and seldom fail: `.ci/nightly` runs them, and `.ci/run` when something changed that they depend on.

mod cluster;
mod flight;
