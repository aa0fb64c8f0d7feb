//! Analyses of what Linux hosts did: one file each, from spans to tables.
//!
//! `isochrone-kernel` gives what happened as spans. [`AnalysisSet`] is the set of analyses that a pass over a
//! trace is to compute, one for each host; it consumes spans ([`isochrone_kernel::Spans`]), merges and
//! serializes. In the end [`reports`] turns those of all hosts into tables, with names of threads from a
//! [`HostContext`]. To write another analysis, copy the file of one in [`analyses`] and add a line to
//! `registry.rs`.
//!
//! The merge invariant of this crate: the result of a whole trace equals the merged results of any pieces of
//! it, in any order, byte for byte. So an analysis has integers only, adds what does not depend on the order,
//! and sorts what it keeps.
//!
//! Nothing here reads files or prints; rows that are too many for memory go where a [`Storage`] keeps them,
//! which the caller provides. A [`Table`] becomes CSV in [`csv`] and JSON by way of [`Report`].

pub mod analyses;
mod analysis;
mod analysis_set;
#[cfg(test)]
mod any_partition;
mod cpu_states;
mod figures;
mod file_io;
mod host;
mod host_totals;
mod interrupt;
mod latency_row;
mod machine_io;
mod needs;
mod options;
mod output;
mod period_row;
mod registry;
mod snapshot;
mod span_filter;
mod steps;
mod storage;
#[cfg(test)]
mod testing;
mod window;

pub use analysis::{Analysis, HostResult};
pub use analysis_set::{AnalysisSet, Answers, empty_reports, reports};
pub use figures::histogram::{Bar, Histogram};
pub use figures::intervals::Intervals;
pub use figures::stats::{Stats, duration, nearest_rank};
pub use file_io::annotated_call::AnnotatedCall;
pub use host::{HostContext, ThreadIdentity};
pub use interrupt::InterruptSource;
pub use isochrone_kernel::scratch::{Scratch, ScratchError, Storage};
pub use needs::{Need, RECIPE, Recorded, TIMELINE, lacking};
pub use options::{Calls, Filter, Interrupt, Interrupts, OfHosts, OptionKind, Options};
pub use output::cell::Cell;
pub use output::note::Note;
pub use output::report::{Report, VERSION};
pub use output::table::{Column, Drawn, Table, Unit, Visibility, bar};
pub use output::{csv, json, jsonl};
pub use registry::{Accumulator, AnalysisKind};
pub use span_filter::SpanFilter;
pub use steps::Steps;
pub use storage::log_rows::{LogRow, LogRows, Sorted};
pub use storage::rows::{Iter, Rows};
pub use storage::sorted_rows::{SortKey, SortedRows, TopRows};
pub use window::{When, contains};
