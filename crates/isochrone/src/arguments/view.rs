//! `isochrone view` and `isochrone serve`: traces in a browser, and by the Trace Server Protocol.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::common::{Clock, StoreOptions, listen};

/// Options of both commands.
#[derive(Debug, Args)]
pub(crate) struct Served {
    #[command(flatten)]
    pub(crate) clock: Clock,
    #[command(flatten)]
    pub(crate) store: StoreOptions,
    /// A directory below which viewers of the Trace Server Protocol may open more traces [default: only the traces named]; requests then
    /// need the token that is printed, on this machine's own addresses, too
    #[arg(long, value_name = "DIR", help_heading = "Trace Server Protocol")]
    pub(crate) root: Vec<PathBuf>,
    /// Let all programs of this machine, of any user, open traces below a root, without the token that is printed
    #[arg(long, requires = "root", help_heading = "Trace Server Protocol")]
    pub(crate) no_token: bool,
    /// Accept viewers whose page has this origin, a scheme and a name; those of VS Code and Theia on this machine are always accepted
    #[arg(long, value_name = "ORIGIN", value_parser = origin, help_heading = "Trace Server Protocol")]
    pub(crate) allow_origin: Vec<String>,
}

/// `isochrone view`.
#[derive(Debug, Args)]
pub(crate) struct View {
    /// Traces of the hosts, or a store of them
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Do not open the browser: only print the address
    #[arg(long)]
    pub(crate) no_open: bool,
    /// The address to listen on; on other addresses than this machine's own, and with --root, requests need the token that is printed [default: 127.0.0.1:8191, or
    /// a free port where that is taken]
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = listen)]
    pub(crate) listen: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) served: Served,
}

/// `isochrone serve`.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Traces of the hosts, or a store of them: one experiment, in addition to those that viewers make
    #[arg(required_unless_present = "root", value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// The address to listen on; on other addresses than this machine's own, and with --root, requests need the token in the address that is
    /// printed
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = listen, default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,
    #[command(flatten)]
    pub(crate) served: Served,
}

impl Served {
    /// Whether this machine's own programs need the token: with --root, they could read files that are private to its user.
    pub(crate) fn needs_token(&self) -> bool {
        !self.root.is_empty() && !self.no_token
    }
}

/// Parses an origin as browsers send it.
fn origin(text: &str) -> Result<String, String> {
    let rest = text.split_once("://").map(|(_, rest)| rest);
    match rest {
        Some(name) if !name.is_empty() && !name.contains(['/', ' ', '*']) => Ok(text.to_owned()),
        _ => Err("an origin is a scheme and a name: https://traces.example".to_owned()),
    }
}
