//! Recordings become traces: real ones against what their tracers' own tools print, made ones of every kind
//! of file, and damaged ones.
#![allow(clippy::unwrap_used)]

mod damaged;
mod made;
mod reports;
mod shapes;
mod spans;
