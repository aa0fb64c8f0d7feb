//! Tests that take long and seldom fail: ignored, unless `.ci/nightly` runs them, which `.ci/run` calls
//! where something changed that they depend on.

mod cluster;
mod flight;
