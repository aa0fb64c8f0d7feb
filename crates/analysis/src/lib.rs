//! Analyses of what Linux hosts did: one file each, from spans to tables.
//!
//! `isochrone-kernel` says what happened as spans. [`Asked`] is the set of analyses that a pass over a trace is to
//! compute, one for each host; it consumes spans ([`isochrone_kernel::Spans`]), merges and serializes. In the end
//! [`reports`] turns those of all hosts into tables, with names of threads from a [`Host`]. To write another
//! analysis, copy the file of one in [`analyses`] and add a line to `registry.rs`.
//!
//! The law of this crate: what is heard of a whole trace equals what is heard of any pieces of it, put together in
//! any order, byte for byte. So an analysis has integers only, adds what does not depend on the order, and sorts what
//! it keeps.
//!
//! Nothing here reads files or prints. A [`Table`] becomes CSV in [`csv`] and JSON by way of [`Report`].

pub mod analyses;
mod analysis;
mod annotated;
mod asked;
pub mod csv;
mod errno;
mod gate;
mod histogram;
mod host;
mod instant;
mod interrupt;
mod kept;
#[cfg(test)]
mod law;
mod opened;
mod options;
mod registry;
mod report;
mod running;
mod stats;
mod table;
#[cfg(test)]
mod testing;
mod wait;
mod window;

pub use analysis::{Analysis, Heard};
pub use asked::{Asked, reports};
pub use errno::{errno_name, errno_of};
pub use gate::Gate;
pub use histogram::{Bar, Histogram};
pub use host::{Host, Who};
pub use interrupt::Source;
pub use kept::{Log, Ranked, Top};
pub use options::{Calls, Filter, Interrupts, Options};
pub use registry::{Accumulator, Kind};
pub use report::{Note, Report, VERSION};
pub use stats::{Stats, duration};
pub use table::{Cell, Column, Drawn, Shown, Table, Unit, bar};
pub use window::{When, Window, contains};
