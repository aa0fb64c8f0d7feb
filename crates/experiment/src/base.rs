//! Whose clock the times of an experiment are on: every host's own, or the reference's of a kept or of a new synchronization.
//!
//! `sync.json` is read with the bounds on its size here; what is in it is known to [`isochrone_corrections::artefact`] alone.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use isochrone_corrections::Clocks;
use isochrone_corrections::artefact::{Artefact, ArtefactError};
use isochrone_sync::Options;

/// The most bytes of a `sync.json` that are read: some times what a thousand hosts that all talk to each other make.
pub const MAX_ARTEFACT: u64 = 256 << 20;

/// Which clock the times of all hosts are to be on.
#[derive(Debug, Default)]
pub enum TimeBase {
    /// Every host's own: times of different hosts cannot be compared.
    #[default]
    Own,
    /// The references' of a kept artefact.
    Kept(Clocks),
    /// As [`Self::Usual`], with the references that the packets in these very traces led to when a store was made of them.
    Stored(Clocks),
    /// The references' that the packets in these very traces lead to.
    Synchronize(Box<Options>),
    /// What people expect who say nothing of clocks: several hosts are synchronized, one host stays on its own clock.
    Usual,
}

impl TimeBase {
    /// That of a `sync.json`.
    ///
    /// # Errors
    /// As [`read_clocks`].
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        read_clocks(path).map(Self::Kept)
    }
}

/// Why a file is no `sync.json` that can be used. The reasons of others are sources and not part of the text.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It cannot be read.
    #[error("cannot read {}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A directory, a pipe, a device: it may have no end.
    #[error("cannot read {}: not a regular file", .0.display())]
    Irregular(PathBuf),
    /// More than any experiment makes.
    #[error("cannot read {}: it has more than {MAX_ARTEFACT} bytes, the most that are read", .0.display())]
    TooLarge(PathBuf),
    /// It is something else, or contradicts itself.
    #[error("{}", path.display())]
    Artefact {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: ArtefactError,
    },
}

/// Reads the corrections of a `sync.json`.
///
/// ```
/// use isochrone_experiment::{ReadError, read_clocks};
/// let missing = read_clocks("no/such/sync.json".as_ref());
/// assert!(matches!(missing, Err(ReadError::Io { .. })));
/// ```
///
/// # Errors
/// It cannot be read, has more than [`MAX_ARTEFACT`] bytes, or is not what a synchronization writes.
pub fn read_clocks(path: &Path) -> Result<Clocks, ReadError> {
    read_corrections(path).map(|(clocks, _)| clocks)
}

/// As [`read_clocks`], with the text of the file.
///
/// # Errors
/// The same.
pub fn read_corrections(path: &Path) -> Result<(Clocks, String), ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    // To open a pipe would wait for somebody who writes.
    if !fs::metadata(path).map_err(io)?.is_file() {
        return Err(ReadError::Irregular(path.to_owned()));
    }
    let mut text = String::new();
    File::open(path).map_err(io)?.take(MAX_ARTEFACT + 1).read_to_string(&mut text).map_err(io)?;
    if text.len() as u64 > MAX_ARTEFACT {
        return Err(ReadError::TooLarge(path.to_owned()));
    }
    let wrong = |source| ReadError::Artefact { path: path.to_owned(), source };
    let artefact = Artefact::from_json(&text).map_err(wrong)?;
    Ok((Clocks::new(&artefact).map_err(wrong)?, text))
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    #[test]
    fn what_is_no_artefact_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("sync.json");
        let check = |text: &[u8], expect: &str| {
            fs::write(&file, text).unwrap();
            let error = read_clocks(&file).unwrap_err();
            let why = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            assert!(why.contains(expect), "{why}");
            assert!(error.to_string().contains("sync.json"), "{error}");
        };
        check(b"", "not a sync.json");
        check(b"\xff", "valid UTF-8");
        check(b"{\"version\": 7}", "version 7");
        let error = read_clocks(directory.path()).unwrap_err();
        assert!(matches!(error, ReadError::Irregular(_)), "{error}");
        let large = File::create(&file).unwrap();
        large.set_len(MAX_ARTEFACT + 1).unwrap();
        assert!(matches!(read_clocks(&file), Err(ReadError::TooLarge(_))));
    }
}
