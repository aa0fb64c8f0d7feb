//! Reports in forms that need nothing of this project to be read: those of other tools, and pages.
//!
//! A format is a module. [`lami`] knows [`Report`](isochrone_analysis::Report) and its tables by their names; [`html`] draws plain values. Neither
//! knows anything of traces, hosts or clocks. Nothing here reads files or prints: a format is something that is made into text.

pub mod html;
pub mod lami;
pub mod openmetrics;
