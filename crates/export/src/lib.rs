//! What Isochrone found, in forms that need nothing of it to be read: those of other tools, and pages.
//!
//! * Reports and time series: [`lami`], [`openmetrics`] and [`steps`] know [`Report`](isochrone_analysis::Report) and its tables by their names, and nothing of traces, hosts or clocks.
//! * Pages: [`html`] draws plain values.
//! * Timelines: [`export`] walks over the store of an experiment and passes what hosts did to a [`Timeline`](timeline::Timeline), of which there is
//!   one for each format: [`perfetto`], [`chrome`]. The walk knows no format, and a format knows no store.
//!
//! Nothing here prints, and no file is opened: a format writes to what it is given, or is made into text.

pub mod chrome;
pub mod html;
pub mod lami;
pub mod openmetrics;
pub mod perfetto;
pub mod steps;
pub mod timeline;
mod walk;

pub use walk::{ExportError, Exported, SOME_STEPS, export};
