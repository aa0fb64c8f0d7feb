//! Analyses of what Linux hosts did: one file each, from spans to tables.
//!
//! `isochrone-kernel` says what happened as spans. [`AnalysisSet`] is the set of analyses that a pass over a trace is to
//! compute, one for each host; it consumes spans ([`isochrone_kernel::Spans`]), merges and serializes. In the end
//! [`reports`] turns those of all hosts into tables, with names of threads from a [`HostContext`]. To write another
//! analysis, copy the file of one in [`analyses`] and add a line to `registry.rs`.
//!
//! The merge invariant of this crate: the result of a whole trace equals the merged results of any pieces of it, in
//! any order, byte for byte. So an analysis has integers only, adds what does not depend on the order, and sorts what
//! it keeps.
//!
//! Nothing here reads files or prints; rows that are too many for memory go where a [`Storage`] keeps them, which others provide. A [`Table`] becomes CSV in [`csv`] and JSON by way of [`Report`].

pub mod analyses;
mod analysis;
mod analysis_set;
mod annotated_call;
#[cfg(test)]
mod any_partition;
mod buckets;
mod cpu_states;
pub mod csv;
mod disk;
mod encoding;
mod errno;
mod fd_annotation;
mod fd_names;
mod histogram;
mod host;
mod host_totals;
mod interrupt;
mod intervals;
mod io_call;
mod io_durations;
mod io_row;
pub mod json;
pub mod jsonl;
mod latency_row;
mod log_rows;
mod machine_io;
mod needs;
mod options;
mod period_row;
mod registry;
mod report;
mod rows;
mod scratch;
mod snapshot;
mod sorted_rows;
mod span_filter;
mod sparkline;
mod stats;
mod steps;
mod table;
#[cfg(test)]
mod testing;
mod window;

pub use analysis::{Analysis, HostResult};
pub use analysis_set::{AnalysisSet, Answers, empty_reports, reports};
pub use annotated_call::AnnotatedCall;
pub use errno::{errno_name, errno_of};
pub use histogram::{Bar, Histogram};
pub use host::{HostContext, ThreadIdentity};
pub use interrupt::InterruptSource;
pub use intervals::Intervals;
pub use log_rows::{LogRow, LogRows, Sorted};
pub use needs::{Need, RECIPE, Recorded, TIMELINE, lacking};
pub use options::{Asks, Calls, Filter, Interrupt, Interrupts, Options};
pub use registry::{Accumulator, AnalysisKind};
pub use report::{Note, Report, VERSION};
pub use rows::{Iter, Rows};
pub use scratch::{Scratch, ScratchError, Storage};
pub use sorted_rows::{SortKey, SortedRows, TopRows};
pub use span_filter::SpanFilter;
pub use stats::{Stats, duration, nearest_rank};
pub use steps::Steps;
pub use table::{Cell, Column, Drawn, Shown, Table, Unit, bar};
pub use window::{When, Window, contains};
