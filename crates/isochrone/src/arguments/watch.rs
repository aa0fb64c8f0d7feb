//! `isochrone watch`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::error::ErrorKind;
use isochrone_analysis::AnalysisKind;

use super::analyze::{Analyze, Names, names, size};
use super::common::listen;
use super::in_place::MapInPlace;
use super::live::wait;
use super::options::PHASES;

/// `isochrone watch`: the options of `isochrone analyze`, for sessions that are being rotated.
#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// What to compute, separated by commas: analyses, of all chunks so far; phases, messages and accounting,
    /// of successive steps of time. With --map: a directory
    #[arg(value_name = "NAME", required_unless_present = "map")]
    first: Option<OsString>,
    /// What is computed, without --map.
    #[arg(skip)]
    pub(crate) names: WatchNames,
    #[command(flatten)]
    pub(crate) analyze: Analyze,
    #[command(flatten)]
    pub(crate) in_place: MapInPlace,
    /// Map the existing chunks, show their tables, and end; with --map, --exec is run once for each piece
    #[arg(long, help_heading = "Watching")]
    pub(crate) once: bool,
    /// Keep what has been mapped in this directory, and continue from there [default: nothing is kept]
    #[arg(long, value_name = "DIR", group = "kept", help_heading = "Watching")]
    pub(crate) state: Option<PathBuf>,
    /// Serve metrics at http://ADDRESS:PORT/metrics, for Prometheus
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        value_parser = listen,
        conflicts_with = "map",
        help_heading = "Watching"
    )]
    pub(crate) listen: Option<SocketAddr>,
    /// Write the metrics to this file whenever they change, as `OpenMetrics`
    #[arg(long, value_name = "FILE", conflicts_with = "map", help_heading = "Watching")]
    pub(crate) metrics_file: Option<PathBuf>,
    /// Write the metrics after each chunk and each step to a file of its own in this directory, with the times of the traces, for `promtool
    /// tsdb create-blocks-from openmetrics`
    #[arg(long, value_name = "DIR", conflicts_with = "map", help_heading = "Watching")]
    pub(crate) backfill: Option<PathBuf>,
    /// How long to wait for a missing chunk when a later one exists; its time is unknown then
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "300s",
        conflicts_with = "map",
        value_parser = wait,
        help_heading = "Watching"
    )]
    pub(crate) wait_missing: Duration,
    /// Interval of the search for chunks, where the system does not report them
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = wait, help_heading = "Watching")]
    pub(crate) poll: Duration,
    /// Delete mapped chunks of this age; the last one of each host is needed, and stays. With --map: those
    /// whose pieces were handed over
    #[arg(long, value_name = "DURATION", value_parser = wait, requires = "kept", help_heading = "Watching")]
    pub(crate) delete_after: Option<Duration>,
    /// Delete the oldest mapped chunks while all mapped chunks take more than this: 500MiB, 20GiB
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "kept", help_heading = "Watching")]
    pub(crate) delete_above: Option<u64>,
}

/// What is wrong with the arguments of a command.
pub(super) type Misuse = (ErrorKind, String);

impl Watch {
    /// Divides what was named into what is computed and directories.
    pub(super) fn resolve(&mut self) -> Result<(), Misuse> {
        let first = self.first.take();
        if self.in_place.map.is_some() {
            self.analyze.traces.splice(0..0, first.map(PathBuf::from));
            return match self.analyze.traces.is_empty() {
                true => {
                    Err((ErrorKind::MissingRequiredArgument, "no directory to map the chunks of".to_owned()))
                }
                false => Ok(()),
            };
        }
        let text = first.unwrap_or_default();
        let wrong = |why: String| {
            let shown = text.to_string_lossy();
            (ErrorKind::ValueValidation, format!("invalid value '{shown}' for '<NAME>': {why}"))
        };
        self.names = watch_names(text.to_str().unwrap_or_default()).map_err(wrong)?;
        Ok(())
    }
}

/// What is computed.
#[derive(Debug, Clone, Default)]
pub(crate) struct WatchNames {
    /// Of all chunks so far.
    pub(crate) kinds: Vec<AnalysisKind>,
    /// Of successive steps of time.
    pub(crate) stepped: Vec<Stepped>,
}

/// What is computed of a step of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stepped {
    /// Where the time of phases went.
    Phases,
    /// Latencies of messages.
    Messages,
    /// CPU time by client.
    Accounting,
}

impl Stepped {
    const ALL: [Self; 3] = [Self::Phases, Self::Messages, Self::Accounting];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Phases => PHASES,
            Self::Messages => "messages",
            Self::Accounting => "accounting",
        }
    }
}

fn watch_names(text: &str) -> Result<WatchNames, String> {
    let (mut kinds, mut stepped) = (Vec::new(), Vec::new());
    for name in text.split(',').map(str::trim) {
        match Stepped::ALL.into_iter().find(|stepped| stepped.name() == name) {
            Some(of_steps) => stepped.push(of_steps),
            None => match names(name)? {
                Names::Kinds(more) => kinds.extend(more),
                Names::States | Names::Phases => {
                    return Err(format!(
                        "{name} are read from a store of whole traces, and cannot be watched"
                    ));
                }
            },
        }
    }
    Ok(WatchNames { kinds, stepped })
}
