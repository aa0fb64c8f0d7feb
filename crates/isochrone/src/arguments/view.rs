//! `isochrone view`: traces in a browser.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::clock::Clock;

/// What `isochrone view` can be asked.
#[derive(Debug, Args)]
pub(crate) struct View {
    /// Traces of the hosts, or a store of them
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) clock: Clock,
    /// Do not open the browser: only print the address
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Where to listen; on other addresses than this machine's own, requests need the token that is printed [default: 127.0.0.1:8191, or
    /// a free port where that is taken]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// The store to use, built by `isochrone index -o` [default: in the cache, built if it is missing or stale]
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// How many cores to use where the store has to be built [default: all]
    #[arg(long, value_name = "N", value_parser = super::at_least_one)]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
}
