//! What can go wrong: errors that stop the reading of a capture, diagnostics that cost a record or nothing.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a capture cannot be read at all.
#[derive(Debug)]
pub struct Error {
    path: PathBuf,
    reason: Reason,
}

/// The kinds of errors.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// The operating system refused to read the file.
    #[error("cannot be read: {0}")]
    Read(#[from] io::Error),
    /// The file begins like none of the formats.
    #[error("not a packet capture: it begins neither like pcap nor like pcapng")]
    NotACapture,
    /// The file was compressed as a whole.
    #[error("it is compressed with {0}: unpack it first")]
    Compressed(&'static str),
    /// The file is one of another tool.
    #[error("not a packet capture: it is {0}")]
    OfAnotherTool(&'static str),
    /// The file ends within its first header.
    #[error("it ends within its header")]
    Short,
}

impl Error {
    /// An error about a file.
    pub fn new(path: &Path, reason: impl Into<Reason>) -> Self {
        Self { path: path.to_owned(), reason: reason.into() }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is wrong with it.
    pub fn reason(&self) -> &Reason {
        &self.reason
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason)
    }
}

impl std::error::Error for Error {}

/// Something wrong with a capture that did not stop the reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether a packet that the capture should hold is lost.
    pub is_loss: bool,
    /// The file.
    pub path: PathBuf,
    /// Number of the record (pcap) or block (pcapng) in the file, from 0.
    pub record: Option<u64>,
    /// Its first byte in the file.
    pub offset: Option<u64>,
    /// What is wrong, and what was done about it.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(record) = self.record {
            write!(f, ": record {record}")?;
        }
        if let Some(offset) = self.offset {
            write!(f, ", byte {offset}")?;
        }
        write!(f, ": {}", self.message)
    }
}
