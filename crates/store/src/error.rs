//! Errors of a store.

use std::io;
use std::path::{Path, PathBuf};

/// Why a store cannot be written or read. The texts have the causes in them: they are not sources as well.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file or directory cannot be read or written.
    #[error("{path}: {why}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        why: std::io::Error,
    },
    /// A file is no Arrow file, or not one of this store.
    #[error("{path}: {why}")]
    Arrow {
        /// The file.
        path: PathBuf,
        /// The cause.
        why: arrow_schema::ArrowError,
    },
    /// The manifest cannot be understood.
    #[error("{path}: {why}")]
    Manifest {
        /// The file.
        path: PathBuf,
        /// The cause.
        why: serde_json::Error,
    },
    /// The store is of another version of the format.
    #[error(
        "{path}: the store has version {found}, and this program needs version {expected}: build it again with `isochrone index`"
    )]
    Version {
        /// The manifest.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version of this program.
        expected: u32,
    },
    /// A file is not what was written.
    #[error("{path}: {what}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Nobody wants what is read of it any more.
    #[error("{store}: reading it was stopped")]
    Stopped {
        /// The directory of the tables.
        store: PathBuf,
    },
    /// A directory holds something else than a store, which would be lost if a store replaced it.
    #[error("{store}: is not replaced by a store: {found} belongs to none")]
    Foreign {
        /// The directory.
        store: PathBuf,
        /// Something in it.
        found: PathBuf,
    },
}

/// Bytes are not those that were written.
#[derive(Debug, thiserror::Error)]
#[error("other bytes than were written")]
pub(crate) struct OtherBytes;

impl From<OtherBytes> for io::Error {
    fn from(why: OtherBytes) -> Self {
        Self::new(io::ErrorKind::InvalidData, why)
    }
}

impl StoreError {
    /// The file or directory that it is about.
    pub fn path(&self) -> &Path {
        match self {
            Self::Io { path, .. }
            | Self::Arrow { path, .. }
            | Self::Manifest { path, .. }
            | Self::Version { path, .. }
            | Self::Damaged { path, .. }
            | Self::Stopped { store: path }
            | Self::Foreign { store: path, .. } => path,
        }
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        |why| match why.get_ref() {
            Some(cause) if cause.is::<OtherBytes>() => Self::damaged(path, cause.to_string()),
            _ => Self::Io { path: path.to_owned(), why },
        }
    }

    pub(crate) fn arrow(path: &Path) -> impl FnOnce(arrow_schema::ArrowError) -> Self + '_ {
        |why| match why {
            arrow_schema::ArrowError::IoError(_, why) => Self::io(path)(why),
            why => Self::Arrow { path: path.to_owned(), why },
        }
    }

    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.into() }
    }
}
