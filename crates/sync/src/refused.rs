//! What could not be used, and why: a value, wherever it was found.

use serde::{Deserialize, Serialize};

/// Something that was not used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// What it is.
    pub what: RefusedKind,
    /// Its name.
    pub name: String,
    /// The reason, without the name; it may have several lines.
    pub why: String,
}

/// What can be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RefusedKind {
    /// A trace, or a capture.
    Trace,
    /// A link between two clocks.
    Link,
    /// A host.
    Host,
    /// Lines of a list of messages.
    List,
}

impl RefusedKind {
    /// As `sync.json` and messages for people name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Link => "link",
            Self::Host => "host",
            Self::List => "list",
        }
    }
}
