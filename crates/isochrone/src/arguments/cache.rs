//! `isochrone cache`.

use clap::{Args, Subcommand};

use super::ReportFormat;

/// `isochrone cache`.
#[derive(Debug, Args)]
pub(crate) struct Cache {
    #[command(subcommand)]
    pub(crate) action: Option<CacheAction>,
    /// How to print the list
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// What is done with the cache.
#[derive(Debug, Subcommand)]
pub(crate) enum CacheAction {
    /// Remove indexes that are of no use: of traces that have changed or are gone, or of another version
    Clean {
        /// Remove all of them
        #[arg(long)]
        all: bool,
    },
}
