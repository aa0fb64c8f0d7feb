//! What `isochrone watch` can be asked.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::analyze::{Analyze, Names, duration, names};

/// `isochrone watch`: what `isochrone analyze` is asked, of sessions that are being rotated.
#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// What to compute, with commas between them
    #[arg(value_name = "NAME", value_parser = names)]
    pub(crate) names: Names,
    #[command(flatten)]
    pub(crate) analyze: Analyze,
    /// Map what is there, show the tables of all of it, and end
    #[arg(long, help_heading = "Watching")]
    pub(crate) once: bool,
    /// Keep what has been mapped in this directory, and go on from there [default: nothing is kept]
    #[arg(long, value_name = "DIR", help_heading = "Watching")]
    pub(crate) state: Option<PathBuf>,
    /// Serve the figures at http://ADDRESS:PORT/metrics, for Prometheus
    #[arg(long, value_name = "ADDRESS:PORT", help_heading = "Watching")]
    pub(crate) listen: Option<SocketAddr>,
    /// Write the figures to this file whenever they change, in the form of `OpenMetrics`
    #[arg(long, value_name = "FILE", help_heading = "Watching")]
    pub(crate) metrics_file: Option<PathBuf>,
    /// How long to wait for a chunk that is missing when a later one is there: then its time is unknown
    #[arg(long, value_name = "DURATION", default_value = "300s", value_parser = time, help_heading = "Watching")]
    pub(crate) wait_missing: Duration,
    /// Look for chunks so often where the system does not tell of them
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = time, help_heading = "Watching")]
    pub(crate) poll: Duration,
    /// Delete chunks that have been mapped when they are this old; the last one of each host is needed, and stays
    #[arg(long, value_name = "DURATION", value_parser = time, requires = "state", help_heading = "Watching")]
    pub(crate) delete_after: Option<Duration>,
}

fn time(text: &str) -> Result<Duration, String> {
    duration(text).map(Duration::from_nanos)
}

/// What `isochrone analyze` has, and what is of whole traces. Using one is an error.
const OF_WHOLE_TRACES: &[&str] = &[
    "begin",
    "end",
    "at",
    "every",
    "around",
    "bounds",
    "periods",
    "period_captures",
    "pixels",
    "store",
    "metadata",
    "mi_version",
    "test_compatibility",
    "output_progress",
    "chunks",
    "no_sync",
];

/// The command line with a help of `watch` that names only what applies to it.
pub(super) fn with_own_help(command: clap::Command) -> clap::Command {
    command.mut_subcommand("watch", |command| {
        let command = command.mut_args(|argument| {
            let is_hidden = OF_WHOLE_TRACES.contains(&argument.get_id().as_str());
            argument.hide(is_hidden)
        });
        let command = command.mut_arg("traces", |argument| {
            argument.value_name("DIR").help(
                "Directories of rotated sessions, or above them: what `lttng create --output` names, or the output of a relay daemon",
            )
        });
        command.mut_arg("sync", |argument| {
            argument.help(
                "Put times on the common clock of this file, which `isochrone sync -o` wrote [default: each host stays on its own clock]",
            )
        })
    })
}
