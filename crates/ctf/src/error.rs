//! What can go wrong: errors that stop the reading or writing of a trace, and the small `Copy` error of the
//! decoders, which becomes a diagnostic.

use isochrone_diagnostic::FileError;

/// Why a trace cannot be read (or written) at all.
pub type Error = FileError<Reason>;

/// The kinds of errors.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// The operating system refused to read a file or a directory.
    #[error("cannot be read: {0}")]
    Read(#[from] std::io::Error),
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
