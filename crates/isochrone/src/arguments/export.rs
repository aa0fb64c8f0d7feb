//! `isochrone export`: timelines and time series in the formats of other tools.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::clock::Clock;
use super::time::{Given, Zone, given};

/// What `isochrone export` can be asked.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Traces of the hosts, or a store of them
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// The format
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) to: ExportFormat,
    /// The file to write [default: stdout, unless it is a terminal]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) clock: Clock,
    #[command(flatten)]
    pub(crate) zone: Zone,
    /// Only what begins from this time on: any form in which a command prints one
    #[arg(long, value_name = "TIME", value_parser = given, allow_negative_numbers = true, help_heading = "Filters")]
    pub(crate) begin: Option<Given>,
    /// Only what begins before this time
    #[arg(long, value_name = "TIME", value_parser = given, allow_negative_numbers = true, help_heading = "Filters")]
    pub(crate) end: Option<Given>,
    /// Only these hosts
    #[arg(long = "host", value_name = "NAME", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) hosts: Vec<String>,
    /// How long each step of counters and of time series is: 1ms, 100ms; steps begin at whole multiples of it [default: such that there are some hundreds]
    #[arg(long, value_name = "DURATION", value_parser = super::analyze::step)]
    pub(crate) every: Option<u64>,
    /// The store of timelines, built by `isochrone index -o` [default: in the cache, built if it is missing or stale]
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// How many cores to use [default: all]
    #[arg(long, value_name = "N", value_parser = super::at_least_one)]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
}

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Perfetto's own, for ui.perfetto.dev and its trace processor
    Perfetto,
    /// Chrome's trace events, in JSON
    Chrome,
    /// Time series of what was used, with times, for Prometheus and its relatives
    #[value(name = "openmetrics")]
    OpenMetrics,
    /// Reports of analyses: made by another command.
    #[value(hide = true)]
    Lami,
}
