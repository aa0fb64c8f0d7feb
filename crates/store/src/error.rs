//! Errors of a store.

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
}

impl StoreError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        |why| Self::Io { path: path.to_owned(), why }
    }

    pub(crate) fn arrow(path: &Path) -> impl FnOnce(arrow_schema::ArrowError) -> Self + '_ {
        |why| Self::Arrow { path: path.to_owned(), why }
    }

    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.into() }
    }
}
