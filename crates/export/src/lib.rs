//! Results of Isochrone in formats of other tools, and as pages.
//!
//! * Reports and time series: [`lami`], [`openmetrics`], [`otlp`] and [`steps`] know
//!   [`Report`](isochrone_analysis::Report) and its tables by their names, and nothing of traces, hosts or clocks.
//! * Pages and pictures: [`html`] and [`flame`] draw plain values.
//! * Timelines: [`export`] walks over the store of an experiment and passes what hosts did to a [`Timeline`](timeline::Timeline), one for each
//!   format: [`perfetto`], [`chrome`]. The walk knows no format, and a format knows no store.
//!
//! Nothing here prints or opens files: a format writes to a given output, or returns text.

pub mod chrome;
pub mod flame;
pub mod html;
pub mod lami;
pub mod openmetrics;
pub mod otlp;
pub mod perfetto;
pub mod steps;
pub mod timeline;
mod walk;

pub use walk::{DEFAULT_STEPS, ExportError, ExportInput, SchedOfHost, WithoutSched, export};
