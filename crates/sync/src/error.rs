//! Why nothing could be synchronized, and the hosts that a user names.

use isochrone_clock::ClockError;
use isochrone_hosts::clocks::{self, HostClock};

use isochrone_corrections::artefact::ArtefactError;
use isochrone_corrections::artefact::Refused;
use isochrone_files::UnknownCapture;
use isochrone_matching::text_messages::TextError;

/// Why nothing could be synchronized.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// No trace with a clock and events, and no capture of use.
    #[error("no trace holds events with times, and no capture packets of use{}", listed(refused))]
    NothingToDo {
        /// Why each of them is of no use.
        refused: Vec<Refused>,
    },
    /// The reference, or a host whose clock is to be trusted, is not there.
    #[error("no host is called `{name}`; there are {known}")]
    UnknownHost {
        /// The name given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Hosts that are trusted to share a clock say that its zero lies centuries apart.
    #[error("the clock of {0} cannot be shared: its offset is too far from those of the others")]
    TrustedApart(String),
    /// The rate of a clock is declared to change by calls alone, and there are none.
    #[error(
        "--clock {0}=calls: the traces of {0} show neither calls of clock_adjtime and adjtimex nor a \
         daemon that makes them"
    )]
    NoCalls(String),
    /// An option names a capture that is not there.
    #[error(transparent)]
    UnknownCapture(#[from] UnknownCapture),
    /// A method of others knows no clocks that are trusted to be one.
    #[error("a method of others cannot be used where clocks are trusted to be one")]
    MethodWithTrust,
    /// A list of messages that cannot be read.
    #[error(transparent)]
    Messages(#[from] TextError),
    /// Times beyond what can be computed with.
    #[error(transparent)]
    Clock(#[from] ClockError),
    /// What was computed is nothing that can be applied: a defect of this program.
    #[error("the result cannot be applied: {0}")]
    Result(#[from] ArtefactError),
}

fn listed(refused: &[Refused]) -> String {
    let lines: Vec<String> =
        refused.iter().map(|Refused { name, why, .. }| format!("\n  {name}: {why}")).collect();
    lines.concat()
}

/// By clock what a user says. What is said of a host counts before what is said of all; what is said last
/// before what was said first.
pub(crate) fn said_of<T: Copy>(
    clocks: &[HostClock],
    said: &[(Option<String>, T)],
) -> Result<Vec<Option<T>>, SyncError> {
    let all = said.iter().rev().find(|(host, _)| host.is_none()).map(|&(_, what)| what);
    let mut by_clock = vec![all; clocks.len()];
    for (host, what) in said {
        if let Some(host) = host {
            by_clock[find_host(clocks, host)?] = Some(*what);
        }
    }
    Ok(by_clock)
}

/// The clock that a user means.
pub(crate) fn find_host(clocks: &[HostClock], name: &str) -> Result<usize, SyncError> {
    let names =
        clocks.iter().map(|clock| (clock.host.as_str(), clock.id.as_str(), clock.hostnames.as_slice()));
    clocks::find(names, name).ok_or_else(|| SyncError::UnknownHost {
        name: name.to_owned(),
        known: clocks.iter().map(|clock| clock.host.as_str()).collect::<Vec<_>>().join(", "),
    })
}
