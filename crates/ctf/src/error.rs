//! What can go wrong: errors that stop the reading of a trace, diagnostics that cost one packet, and the small
//! `Copy` error of the decoders between them.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why a trace cannot be read (or written) at all.
#[derive(Debug)]
pub struct Error {
    path: PathBuf,
    reason: Reason,
}

/// The kinds of errors.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// The operating system refused to read a file or a directory.
    #[error("cannot be read: {0}")]
    Read(std::io::Error),
    /// The operating system refused to write a file or a directory.
    #[error("cannot be written: {0}")]
    Write(std::io::Error),
    /// A directory without a `metadata` file.
    #[error("not a CTF trace: it has no metadata file")]
    NotATrace,
    /// Metadata that cannot be understood.
    #[error("{line}:{column}: {message}\n{excerpt}")]
    Metadata {
        /// Line from 1, in the text of the metadata (packet headers left out).
        line: usize,
        /// Column from 1, in characters.
        column: usize,
        /// What is wrong.
        message: String,
        /// The source line with a mark under the place.
        excerpt: String,
    },
    /// A metadata file whose packets are broken.
    #[error("{message} (byte {offset})")]
    MetadataPackets {
        /// Byte in the file.
        offset: u64,
        /// What is wrong.
        message: String,
    },
    /// A file that is larger than any of its kind.
    #[error("it has more than {limit} bytes, the most that are read")]
    TooLarge {
        /// Bytes.
        limit: u64,
    },
    /// A trace that is sound but cannot be copied as asked.
    #[error("no copy can be written: {0}")]
    Unwritable(String),
}

impl Error {
    /// An error about a file or directory.
    pub fn new(path: &Path, reason: Reason) -> Self {
        Self { path: path.to_owned(), reason }
    }

    /// Reading a path failed.
    pub fn read(path: &Path, cause: std::io::Error) -> Self {
        Self::new(path, Reason::Read(cause))
    }

    /// Writing a path failed.
    pub fn write(path: &Path, cause: std::io::Error) -> Self {
        Self::new(path, Reason::Write(cause))
    }

    /// The file or directory.
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
        // As compilers write it, so that editors can jump there.
        let colon = if matches!(self.reason, Reason::Metadata { .. }) { ":" } else { ": " };
        write!(f, "{}{colon}{}", self.path.display(), self.reason)
    }
}

impl std::error::Error for Error {}

/// How much a diagnostic costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// All events are there; something about the trace is odd.
    Note,
    /// Something that the trace should hold is lost: a packet, the tail of a file.
    Loss,
}

/// Something wrong with a trace that did not stop the reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What it costs.
    pub severity: Severity,
    /// The file.
    pub path: PathBuf,
    /// Number of the packet in the file, from 0.
    pub packet: Option<u64>,
    /// Byte in the file.
    pub offset: Option<u64>,
    /// What is wrong, and what was done about it.
    pub message: String,
}

impl Diagnostic {
    /// Whether it costs something that the trace should hold.
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

/// Why a packet cannot be decoded further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// A field would reach beyond the packet's content.
    #[error("a field of {bits} bits does not fit the packet's content")]
    PastEnd {
        /// What was asked for.
        bits: u64,
    },
    /// A string without its NUL byte.
    #[error("a string has no end within the packet")]
    UnterminatedString,
    /// An event header naming a class that the metadata lacks.
    #[error("no event class has the id {0}")]
    UnknownEventClass(u64),
    /// A selector value that chooses nothing.
    #[error("the selector value {0} chooses no option of a variant")]
    NoOption(i128),
    /// An array longer than the packet could hold.
    #[error("an array of {0} elements does not fit the packet")]
    TooManyElements(u64),
    /// A number of variable length with more bits than what it is for can have.
    #[error("a number of variable length has more than {bits} bits")]
    TooLarge {
        /// The most it can have.
        bits: u32,
    },
    /// An event elsewhere in time than its packet.
    #[error(
        "an event has the time {cycles} (in cycles), and those of its packet lie between {earliest} and {latest}"
    )]
    OutsidePacket {
        /// Its time.
        cycles: u64,
        /// The first time that it could have.
        earliest: u64,
        /// The last one.
        latest: u64,
    },
    /// An event that takes no space would repeat for ever.
    #[error("an event takes no space")]
    EmptyEvent,
}
