//! `isochrone view` and `isochrone serve`: traces in a browser, and by the Trace Server Protocol.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::clock::Clock;

/// How traces are served, by either command.
#[derive(Debug, Args)]
pub(crate) struct Served {
    #[command(flatten)]
    pub(crate) clock: Clock,
    /// The store to use, built by `isochrone index -o` [default: in the cache, built if it is missing or stale]
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// How many cores to use where the store has to be built [default: all]
    #[arg(long, value_name = "N", value_parser = super::at_least_one)]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// A directory below which viewers of the Trace Server Protocol may open more traces [default: only the traces named]; requests then
    /// need the token that is printed, on this machine's own addresses, too
    #[arg(long, value_name = "DIR", help_heading = "Trace Server Protocol")]
    pub(crate) root: Vec<PathBuf>,
    /// Let in all programs of this machine below a root, whoever's they are, without the token that is printed
    #[arg(long, requires = "root", help_heading = "Trace Server Protocol")]
    pub(crate) no_token: bool,
    /// Let in viewers whose page is of this origin, a scheme and a name; those of VS Code and Theia on this machine always are
    #[arg(long, value_name = "ORIGIN", value_parser = origin, help_heading = "Trace Server Protocol")]
    pub(crate) allow_origin: Vec<String>,
}

/// What `isochrone view` can be asked.
#[derive(Debug, Args)]
pub(crate) struct View {
    /// Traces of the hosts, or a store of them
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Do not open the browser: only print the address
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Where to listen; on other addresses than this machine's own, and where there is a root, requests need the token that is printed [default: 127.0.0.1:8191, or
    /// a free port where that is taken]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) served: Served,
}

/// What `isochrone serve` can be asked.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Traces of the hosts, or a store of them: one experiment, beside those that viewers make
    #[arg(required_unless_present = "root", value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Where to listen; on other addresses than this machine's own, and where there is a root, requests need the token that is part of the address that is printed
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,
    #[command(flatten)]
    pub(crate) served: Served,
}

impl Served {
    /// Whether this machine's own programs need the token. Who may open more than was named could open what its user alone may read.
    pub(crate) fn needs_token(&self) -> bool {
        !self.root.is_empty() && !self.no_token
    }
}

/// An origin as browsers send it.
fn origin(text: &str) -> Result<String, String> {
    let rest = text.split_once("://").map(|(_, rest)| rest);
    match rest {
        Some(name) if !name.is_empty() && !name.contains(['/', ' ', '*']) => Ok(text.to_owned()),
        _ => Err("an origin is a scheme and a name: https://traces.example".to_owned()),
    }
}
