//! What `isochrone watch` can be asked.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use isochrone_analysis::AnalysisKind;

use super::analyze::{Analyze, Names, PHASES, duration, names, size};
use super::options;

/// `isochrone watch`: what `isochrone analyze` is asked, of sessions that are being rotated.
#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// What to compute, with commas between them: analyses, of all chunks so far; phases, messages and accounting, of one step of time after
    /// the other
    #[arg(value_name = "NAME", value_parser = watch_names)]
    pub(crate) names: WatchNames,
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
    /// Write the figures after each chunk and each step to a file of its own in this directory, with the times of the traces: `promtool
    /// tsdb create-blocks-from openmetrics` takes them
    #[arg(long, value_name = "DIR", help_heading = "Watching")]
    pub(crate) backfill: Option<PathBuf>,
    /// How long to wait for a chunk that is missing when a later one is there: then its time is unknown
    #[arg(long, value_name = "DURATION", default_value = "300s", value_parser = time, help_heading = "Watching")]
    pub(crate) wait_missing: Duration,
    /// Look for chunks so often where the system does not tell of them
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = time, help_heading = "Watching")]
    pub(crate) poll: Duration,
    /// Delete chunks that have been mapped when they are this old; the last one of each host is needed, and stays
    #[arg(long, value_name = "DURATION", value_parser = time, requires = "state", help_heading = "Watching")]
    pub(crate) delete_after: Option<Duration>,
    /// Delete the oldest chunks that have been mapped while all of these take more than this: 500MiB, 20GiB
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "state", help_heading = "Watching")]
    pub(crate) delete_above: Option<u64>,
}

/// What is watched for.
#[derive(Debug, Clone)]
pub(crate) struct WatchNames {
    /// Of all chunks so far.
    pub(crate) kinds: Vec<AnalysisKind>,
    /// Of one step of time after the other.
    pub(crate) stepped: Vec<Stepped>,
}

/// What is asked of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stepped {
    /// Where the time of phases went.
    Phases,
    /// How long messages took.
    Messages,
    /// Who pays.
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

fn time(text: &str) -> Result<Duration, String> {
    duration(text).map(Duration::from_nanos)
}

/// The command line with a help of `watch` that names only what applies to it.
pub(super) fn with_own_help(command: clap::Command) -> clap::Command {
    command.mut_subcommand("watch", |command| {
        let command = command.mut_args(|argument| {
            // Each host stays on its own clock here unless something else is said.
            let is_hidden = match options::by_id(argument.get_id().as_str()) {
                Some(option) => !option.is_watched || option.name == "--no-sync",
                None => argument.is_hide_set(),
            };
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
