//! A client of LTTng's live protocol: the sessions that a relay daemon (`lttng-relayd`) receives, while they
//! are recorded.
//!
//! [`Connection`] speaks the protocol (`wire.rs` has its messages), [`LiveSession`] follows one session:
//! packets and metadata arrive as bytes, and are appended to files as the tracer itself would write them, so
//! that [`Trace::open`](crate::Trace::open) and [`Trace::refresh`](crate::Trace::refresh) read what is there
//! so far. What other packets can still bring is known by [`LiveTrace::through`].
//!
//! The protocol: version 2.x as of LTTng-tools 2.4 and later, by its published description and header
//! (`doc/live-reading-protocol.txt`, `lttng-viewer-abi.h`).

mod connection;
mod session;
mod wire;

use std::io;
use std::path::PathBuf;

pub use connection::Connection;
pub use session::{LiveSession, LiveTrace, Progress, Room};
pub use wire::Session;

/// The port that relay daemons serve viewers on.
pub const PORT: u16 = 5344;

/// Why a session cannot be followed, or not any more.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The connection. It may be made again.
    #[error("{address}: {source}")]
    Connection {
        /// Of the relay daemon.
        address: String,
        /// Why.
        source: io::Error,
    },
    /// What came is not what the protocol has.
    #[error("{address}: the relay daemon sent something that is not understood: {what}")]
    Protocol {
        /// Of the relay daemon.
        address: String,
        /// What.
        what: &'static str,
    },
    /// The relay daemon refuses.
    #[error("{address}: {what}")]
    Refused {
        /// Of the relay daemon.
        address: String,
        /// In its words.
        what: &'static str,
    },
    /// It has no such session, or not any more.
    #[error("{address}: there is no session {name}")]
    NoSession {
        /// Of the relay daemon.
        address: String,
        /// `host/session`.
        name: String,
        /// The sessions there are, in the same form.
        known: Vec<String>,
    },
    /// More has come than was to be kept.
    #[error("more has come than the {0} bytes that may be kept")]
    Full(u64),
    /// What arrives cannot be kept.
    #[error("{}: {source}", path.display())]
    Spool {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
