//! What is wrong with input files, in the same form for all readers: a [`FileError`] stops the reading of a
//! file, a [`Diagnostic`] costs a part of it or nothing.
//!
//! `isochrone-ctf` and `isochrone-capture` report in these terms. The kinds of errors are theirs.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Why a file or directory cannot be used. `R` is the kind of error, without the path.
///
/// Displayed as `PATH: REASON`. A reason that starts with a line number follows the colon directly, as
/// compilers write it and editors understand it: `PATH:LINE:COLUMN: MESSAGE`.
#[derive(Debug)]
pub struct FileError<R> {
    path: PathBuf,
    reason: R,
}

impl<R> FileError<R> {
    /// An error about a file or directory.
    pub fn new(path: &Path, reason: impl Into<R>) -> Self {
        Self { path: path.to_owned(), reason: reason.into() }
    }

    /// The file or directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is wrong with it.
    pub fn reason(&self) -> &R {
        &self.reason
    }
}

impl<R: fmt::Display> fmt::Display for FileError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = self.reason.to_string();
        let space = if reason.starts_with(|first: char| first.is_ascii_digit()) { "" } else { " " };
        write!(f, "{}:{space}{reason}", self.path.display())
    }
}

impl<R: fmt::Debug + fmt::Display> std::error::Error for FileError<R> {}

/// How much a diagnostic costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Severity {
    /// Nothing is lost; something about the file is odd.
    Note,
    /// Something that the file should hold is lost: a packet, the tail of the file.
    Loss,
}

/// A problem with a file that did not stop the reading. Displayed as `PATH: packet 3, byte 4096: MESSAGE`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// What it costs.
    pub severity: Severity,
    /// The file.
    pub path: PathBuf,
    /// Number of the packet (CTF), record (pcap) or block (pcapng) in the file, from 0; `None`: the file as a
    /// whole.
    pub packet: Option<u64>,
    /// Offset in the file, bytes.
    pub offset: Option<u64>,
    /// What is wrong, and what was done about it.
    pub message: String,
}

impl Diagnostic {
    /// A diagnostic of a file as a whole.
    pub fn new(severity: Severity, path: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        Self { severity, path: path.into(), packet: None, offset: None, message: message.into() }
    }

    /// A note about a file as a whole.
    pub fn note(path: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, path, message)
    }

    /// A loss from a file as a whole.
    pub fn loss(path: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        Self::new(Severity::Loss, path, message)
    }

    /// The same diagnostic, about a packet (by its number in the file) and an offset in the file in bytes.
    #[must_use]
    pub fn at(self, packet: impl Into<Option<u64>>, offset: impl Into<Option<u64>>) -> Self {
        Self { packet: packet.into(), offset: offset.into(), ..self }
    }

    /// Whether something that the file should hold is lost.
    pub fn is_loss(&self) -> bool {
        self.severity == Severity::Loss
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(packet) = self.packet {
            write!(f, ": packet {packet}")?;
        }
        if let Some(offset) = self.offset {
            write!(f, ", byte {offset}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Diagnostics of one file or stream that are kept. A damaged file can have one for every few bytes; more
/// than a screen of them is not read.
const MAX_DIAGNOSTICS: usize = 100;

/// The diagnostics of one file or stream in order; after the first hundred, one counts all others.
#[derive(Debug, Default)]
pub struct DiagnosticLog {
    kept: Vec<Diagnostic>,
    /// Number of those that are not kept, and of the losses among them.
    more: u64,
    losses: u64,
}

impl DiagnosticLog {
    /// Adds a diagnostic. `make` is called only if it is kept; `severity` must be that of the diagnostic.
    pub fn add(&mut self, severity: Severity, make: impl FnOnce() -> Diagnostic) {
        if self.kept.len() < MAX_DIAGNOSTICS {
            self.kept.push(make());
            return;
        }
        self.more += 1;
        self.losses += u64::from(severity == Severity::Loss);
        let mut message = format!("and {} more like these", self.more);
        if (1..self.more).contains(&self.losses) {
            message += &format!(", {} of them losses", self.losses);
        }
        match self.kept.get_mut(MAX_DIAGNOSTICS) {
            Some(summary) => {
                summary.message = message;
                summary.severity = summary.severity.max(severity);
            }
            None => self.kept.push(Diagnostic::new(severity, make().path, message)),
        }
    }

    /// The diagnostics so far.
    pub fn as_slice(&self) -> &[Diagnostic] {
        &self.kept
    }

    /// All diagnostics.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_diagnostics_name_the_file() {
        let error = |reason: &str| FileError::<String>::new(Path::new("file"), reason).to_string();
        assert_eq!(error("cannot be read"), "file: cannot be read");
        assert_eq!(error("3:7: no type"), "file:3:7: no type");
        let broken = Diagnostic::loss("file", "broken");
        assert_eq!(broken.to_string(), "file: broken");
        assert_eq!(broken.clone().at(3, 4096).to_string(), "file: packet 3, byte 4096: broken");
        assert_eq!(broken.at(None, 7).to_string(), "file, byte 7: broken");
    }

    #[test]
    fn the_rest_is_counted() {
        let check = |count: u64, expect: &str| {
            let mut log = DiagnosticLog::default();
            for n in 0..count {
                let severity = if n + 1 == count { Severity::Loss } else { Severity::Note };
                log.add(severity, || Diagnostic::new(severity, "file", "broken").at(n, None));
            }
            let last = log.into_vec().pop().unwrap();
            assert_eq!((last.to_string().as_str(), last.severity), (expect, Severity::Loss));
        };
        check(1, "file: packet 0: broken");
        check(100, "file: packet 99: broken");
        check(101, "file: and 1 more like these");
        check(5000, "file: and 4900 more like these, 1 of them losses");
    }
}
