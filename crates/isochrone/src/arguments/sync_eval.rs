//! What `isochrone sync eval` can be asked, and the methods of `isochrone sync --method`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use isochrone_clock::published;

use super::analyze::TableFormat;
use super::clock::Clock;

/// What `isochrone sync` does beside synchronizing.
#[derive(Debug, Subcommand)]
pub(crate) enum SyncCommand {
    /// Judge a synchronization by the messages themselves: inversions, messages that are too fast, latencies, round trips
    #[command(
        override_usage = "isochrone sync eval [OPTIONS] <TRACE>...\n       isochrone sync eval [OPTIONS] <SYNC.JSON> [TRACE]...\n       isochrone sync eval [OPTIONS] [SYNC.JSON] --messages <FILE>",
        after_help = "Examples:\n  \
        isochrone sync eval web/ app/ db/                    as `isochrone sync` puts them on one clock\n  \
        isochrone sync eval --no-sync web/ app/ db/          as they are, each host on its own clock\n  \
        isochrone sync eval sync.json                        as these corrections have it, by the traces that they were made of\n  \
        isochrone sync eval sync.json --messages list.txt    the same, by a list of messages\n  \
        isochrone sync eval --sync sync.json web2/ app2/     by other traces of these hosts\n  \
        isochrone sync eval --rtt pings.txt web/ app/        which messages are faster than the network\n  \
        isochrone sync eval --table histogram web/ app/      latencies each way\n\n\
        A directory that is called `eval` is named ./eval."
    )]
    Eval(Eval),
}

#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// Traces or captures of two or more hosts. A `sync.json` among them is what --sync names; without a trace beside it, those are read
    /// that it was made of
    #[arg(required_unless_present_any = ["messages", "sync"], value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Read messages from this text instead of traces, as `isochrone sync --messages` does
    #[arg(long, value_name = "FILE")]
    pub(crate) messages: Option<PathBuf>,
    /// Least round trips that were measured: a line `FROM TO MS` for each, hosts by name or address, `#` begins a comment. A message
    /// that takes less than half of one is too fast. A pair of which only the opposite direction is there is judged by that
    #[arg(long, value_name = "FILE")]
    pub(crate) rtt: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) clock: Clock,
    /// What to print: tables for people, comma-separated values, or JSON; all but the first have all tables and columns
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) format: TableFormat,
    /// Only the table of this name; an unknown name lists the valid ones
    #[arg(long, value_name = "NAME")]
    pub(crate) table: Option<String>,
}

/// How the estimate is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// By all messages of all links together: docs/SYNC.md
    Default,
    /// The line of greatest margin of each pair of hosts
    Margin,
    /// LTTV's convex hulls: the bisector of the extreme lines of each pair
    Hull,
    /// Trace Compass's algorithm: the mean of the extreme lines of each pair
    Tracecompass,
    /// LTTV's linear regression: least squares over exchanges of each pair
    Linreg,
}

impl Method {
    /// The method of others, if it is one.
    pub(crate) fn published(self) -> Option<published::Method> {
        Some(match self {
            Self::Default => return None,
            Self::Margin => published::Method::Margin,
            Self::Hull => published::Method::Hull,
            Self::Tracecompass => published::Method::TraceCompass,
            Self::Linreg => published::Method::Linreg,
        })
    }
}
