//! Rendering that several commands share.

mod assumptions;
mod breaks;
pub(crate) mod complaints;
pub(crate) mod drawing;
pub(crate) mod error_summary;
pub(crate) mod evaluation;
pub(crate) mod events;
pub(crate) mod figures;
pub(crate) mod info;
mod methods;
pub(crate) mod plain;
pub(crate) mod report;
pub(crate) mod rows;
pub(crate) mod summary;
pub(crate) mod sync_page;
pub(crate) mod table;
pub(crate) mod tables;
pub(crate) mod time;

/// The program and its version, for the foot of pages.
pub(crate) const PROGRAM: &str = concat!("isochrone ", env!("CARGO_PKG_VERSION"));
