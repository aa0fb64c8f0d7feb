//! Why mapped chunks cannot be written.

use std::io;
use std::path::PathBuf;

use isochrone_files::piece::PieceError;
use isochrone_files::{ExcerptError, output};

/// Why mapped chunks cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ChunkError {
    /// A file cannot be read.
    #[error(transparent)]
    Piece(#[from] PieceError),
    /// An excerpt of a trace cannot be made.
    #[error(transparent)]
    Excerpt(#[from] ExcerptError),
    /// The file cannot be written.
    #[error(transparent)]
    Output(#[from] output::OutputError),
    /// A part of it cannot be written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Two files were mapped for different questions.
    #[error("{} and {} were mapped {what}", one.display(), other.display())]
    Differ {
        /// A file.
        one: PathBuf,
        /// Another one.
        other: PathBuf,
        /// `with other options`.
        what: &'static str,
    },
}
