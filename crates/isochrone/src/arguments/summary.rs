//! `isochrone summary`: one page about an experiment.

use std::path::PathBuf;

use clap::Args;

use super::clock::Clock;
use super::time::{Given, Zone, given};

/// What `isochrone summary` can be asked.
#[derive(Debug, Args)]
pub(crate) struct Summary {
    /// Traces of one host or many, or a store of them
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// The page to write [default: stdout, unless it is a terminal]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) clock: Clock,
    #[command(flatten)]
    pub(crate) zone: Zone,
    /// Only from this time on: any form in which a command prints one
    #[arg(long, value_name = "TIME", value_parser = given, allow_negative_numbers = true, help_heading = "Filters")]
    pub(crate) begin: Option<Given>,
    /// Only before this time
    #[arg(long, value_name = "TIME", value_parser = given, allow_negative_numbers = true, help_heading = "Filters")]
    pub(crate) end: Option<Given>,
    /// Only these hosts
    #[arg(long = "host", value_name = "NAME", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) hosts: Vec<String>,
    /// The store to use, built by `isochrone index -o` [default: in the cache, built if it is missing or stale]
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// How many cores to use [default: all]
    #[arg(long, value_name = "N", value_parser = super::at_least_one)]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
}
