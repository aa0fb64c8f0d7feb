//! What can go wrong when a trace is described or written.

use std::path::{Path, PathBuf};

use isochrone_ctf::write::EncodeError;

/// Why a trace could not be written.
#[derive(Debug, thiserror::Error)]
pub enum TestkitError {
    /// The description of the trace is wrong.
    #[error(transparent)]
    Misuse(#[from] Misuse),
    /// The operating system refused a file.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A packet could not be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

impl TestkitError {
    /// Wraps an I/O error with the path it happened at.
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

/// A mistake in the description of a trace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misuse {
    /// An event of a class that the trace does not have.
    #[error("there is no event class {name}")]
    UnknownClass {
        /// The name asked for.
        name: String,
    },
    /// A field that the class does not have, or has in an option of a variant that was not chosen.
    #[error("{class} has no field {field} here")]
    UnknownField {
        /// The event class.
        class: String,
        /// The field asked for.
        field: String,
    },
    /// A value that does not fit its field.
    #[error("{class}: {field}: {reason}")]
    BadValue {
        /// The event class.
        class: String,
        /// The field.
        field: String,
        /// Why.
        reason: String,
    },
    /// An event on a CPU that the host does not have.
    #[error("there is no CPU {cpu}: the host has {cpus}")]
    NoCpu {
        /// The number asked for.
        cpu: u32,
        /// How many there are.
        cpus: u32,
    },
    /// An event before the one before it on its CPU.
    #[error("an event of CPU {cpu} at {cycles} comes after one at {last}")]
    BackInTime {
        /// The CPU.
        cpu: u32,
        /// Time of the event in cycles.
        cycles: u64,
        /// Time of the event before in cycles.
        last: u64,
    },
    /// A simulated clock shows a time before its zero, which no trace can stamp.
    #[error("the clock of {host} shows {raw_ns} ns, which is before its zero")]
    BeforeZero {
        /// The host.
        host: String,
        /// What the clock shows.
        raw_ns: i64,
    },
    /// A packet that cannot be put into a frame.
    #[error("a frame cannot be made: {0}")]
    Frame(String),
    /// The layout was changed after the first event.
    #[error("the trace must be described before its first event")]
    Late,
    /// The metadata that follow from the description cannot be understood.
    #[error("the metadata cannot be understood: {0}")]
    Metadata(String),
    /// A trace that cannot be copied.
    #[error("the trace cannot be copied: {0}")]
    Copy(String),
    /// A cluster refers to a host that it does not have.
    #[error("there is no host {0}")]
    NoHost(usize),
}
