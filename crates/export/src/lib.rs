//! Reports of analyses in the formats of other tools.
//!
//! A format is a module that knows [`Report`](isochrone_analysis::Report) and its tables by their names, and nothing of traces, hosts or
//! clocks. Nothing here reads files or prints: a format is something that serializes.

pub mod lami;
pub mod openmetrics;
