//! `isochrone live`.

use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use isochrone_ctf::live::PORT;

use super::analyze::size;
use super::common::{Clock, listen};
use super::events::EventFormat;
use super::time::{Zone, duration};

/// `isochrone live`: sessions, and how their events are printed.
#[derive(Debug, Args)]
pub(crate) struct Live {
    /// Sessions of relay daemons, of one host or many; without a session, the daemon's sessions are listed
    #[arg(required = true, value_name = "net://HOST[:PORT][/host/HOSTNAME/SESSION]", value_parser = session)]
    pub(crate) sessions: Vec<SessionUrl>,
    #[command(flatten)]
    pub(crate) clock: Clock,
    /// How long to wait for messages that tie all hosts; then hosts that are not tied are shown on their own
    /// clocks
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = wait, help_heading = "Times")]
    pub(crate) wait_sync: Duration,
    /// Show the bounds of each time on the common clock, and mark with `~` events that may have happened
    /// before the line above, which is of another host
    #[arg(long, help_heading = "Times")]
    pub(crate) bounds: bool,
    #[command(flatten)]
    pub(crate) zone: Zone,
    /// How to print events
    #[arg(long, value_enum, default_value_t = EventFormat::Text)]
    pub(crate) format: EventFormat,
    /// Print dates as well as times of day
    #[arg(long)]
    pub(crate) date: bool,
    /// End after the first N events
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<NonZeroU64>,
    /// Keep the traces below this directory, which must be empty or new [default: they are removed at the end]
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// End when more than this has been received of all sessions together, kept or not: 500MiB, 20GiB [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) keep_at_most: Option<u64>,
    /// Also serve what has been received as `isochrone view` does, at this address, for any number of browsers and viewers, also after the
    /// sessions have ended, until Ctrl-C. On other addresses than this machine's own, requests need the token that is printed
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = listen)]
    pub(crate) listen: Option<SocketAddr>,
    /// How long to try to connect again when a connection is lost: 30s, 500ms
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = wait)]
    pub(crate) reconnect: Duration,
}

/// The address of a relay daemon, and one of its sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionUrl {
    /// `host:port`.
    pub(crate) address: String,
    /// The traced host's name, and the session's.
    pub(crate) session: Option<(String, String)>,
}

/// Parses `net://relay:5344/host/web1/my-session`.
fn session(text: &str) -> Result<SessionUrl, String> {
    let wrong = || "not of the form net://HOST[:PORT]/host/HOSTNAME/SESSION".to_owned();
    let rest = ["net://", "net4://", "net6://", "tcp://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    let (daemon, path) = rest.map(|rest| rest.split_once('/').unwrap_or((rest, ""))).ok_or_else(wrong)?;
    // An IPv6 address has colons of its own, and brackets around it.
    let has_port = daemon.rsplit_once(':').is_some_and(|(_, port)| !port.contains(']') && !port.is_empty());
    let is_port = |daemon: &str| daemon.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if daemon.is_empty() || daemon.starts_with(':') || has_port && !is_port(daemon) {
        return Err(wrong());
    }
    let address =
        if has_port { daemon.to_owned() } else { format!("{}:{PORT}", daemon.trim_end_matches(':')) };
    if path.is_empty() {
        return Ok(SessionUrl { address, session: None });
    }
    let names = path.strip_prefix("host/").and_then(|names| names.split_once('/'));
    let (host, session) =
        names.filter(|(host, session)| !host.is_empty() && !session.is_empty()).ok_or_else(wrong)?;
    Ok(SessionUrl { address, session: Some((host.to_owned(), session.trim_end_matches('/').to_owned())) })
}

pub(super) fn wait(text: &str) -> Result<Duration, String> {
    duration(text).map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_urls() {
        let check = |text, expect: Option<(&str, Option<(&str, &str)>)>| {
            let found = session(text).ok();
            let expect = expect.map(|(address, session)| SessionUrl {
                address: address.to_owned(),
                session: session.map(|(host, name)| (host.to_owned(), name.to_owned())),
            });
            assert_eq!(found, expect, "{text}");
        };
        check("net://localhost", Some(("localhost:5344", None)));
        check("net://localhost/", Some(("localhost:5344", None)));
        check("net://10.0.0.1:77/host/web1/a", Some(("10.0.0.1:77", Some(("web1", "a")))));
        check("net://[::1]/host/web1/a/b", Some(("[::1]:5344", Some(("web1", "a/b")))));
        check("net://[::1]:77", Some(("[::1]:77", None)));
        check("net://x/host/web1", None);
        check("net://x/web1/a", None);
        check("net://x:y", None);
        check("net://", None);
        check("web1", None);
    }
}
