//! `isochrone cut`.

use std::path::PathBuf;

use clap::Args;

use super::common::Clock;
use super::events::EventFilters;
use super::time::Zone;

/// `isochrone cut`.
#[derive(Debug, Args)]
pub(crate) struct Cut {
    /// Traces, of one host or many
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// The directory to write below, which is made
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) clock: Clock,
    #[command(flatten)]
    pub(crate) zone: Zone,
    #[command(flatten)]
    pub(crate) filters: EventFilters,
}
