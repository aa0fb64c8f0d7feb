//! `isochrone export`, `isochrone summary` and `isochrone overview`: results in the formats of other
//! tools, as a page, and on a screen.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::analyze::step;
use super::common::Sources;

/// `isochrone export`.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The format
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) to: ExportFormat,
    /// The file to write [default: stdout, unless it is a terminal]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Only these hosts
    #[arg(long = "host", value_name = "NAME", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) hosts: Vec<String>,
    /// Length of the steps of counters and time series: 1ms, 100ms; steps start at whole multiples of it [default: some hundreds of steps]
    #[arg(long, value_name = "DURATION", value_parser = step)]
    pub(crate) every: Option<u64>,
    #[command(flatten)]
    pub(crate) sources: Sources,
}

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Perfetto's own, for ui.perfetto.dev and its trace processor
    Perfetto,
    /// Chrome's trace events, in JSON
    Chrome,
    /// Time series of resource usage, with times, for Prometheus and similar tools
    #[value(name = "openmetrics")]
    OpenMetrics,
    /// Requests and where they spent their time, as traces of OpenTelemetry (JSON): for Jaeger, Tempo
    Otlp,
    /// Reports of analyses: written by another command.
    #[value(hide = true)]
    Lami,
    /// Tables: written by other commands.
    #[value(hide = true, name = "csv", aliases = ["json", "jsonl"])]
    Tables,
}

/// `isochrone summary`.
#[derive(Debug, Args)]
pub(crate) struct Summary {
    /// The page to write [default: stdout, unless it is a terminal]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Only these hosts
    #[arg(long = "host", value_name = "NAME", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) hosts: Vec<String>,
    #[command(flatten)]
    pub(crate) sources: Sources,
}

/// `isochrone overview`.
#[derive(Debug, Args)]
pub(crate) struct Overview {
    /// Only these hosts
    #[arg(long = "host", value_name = "NAME", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) hosts: Vec<String>,
    #[command(flatten)]
    pub(crate) sources: Sources,
}
