//! Chunks that are mapped where they are recorded: which of them are finished, what the pieces are called,
//! and which pieces have been handed over.
//!
//! Each chunk is mapped alone ([`crate::chunks`]), so nothing waits for its neighbours. The pieces are files
//! in one directory, with a journal beside them ([`journal`]). The name of a piece follows from its chunk, so
//! a process that was killed before it had recorded a piece writes the same file again.

mod journal;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isochrone_files::Inputs;
use isochrone_hosts::{Host, Hosts};
use isochrone_time::{RawNs, Window};

use super::chunks::{self, Chunk};
use super::names::digest;
use super::retention::size;
use super::{Change, Retention, WatchError, locked};
use crate::chunks::ChunkHead;
pub use journal::{Entry, PieceJournal, PieceRecord};

/// Extension of the files of pieces.
const EXTENSION: &str = "piece";
/// Longest name of a file.
const MAX_NAME: usize = 255;

/// Finished chunks below some directories, and the directory with their pieces.
#[derive(Debug)]
pub struct InPlace {
    directories: Vec<PathBuf>,
    out: PathBuf,
    journal: Arc<Mutex<PieceJournal>>,
    /// Chunks that could not be mapped, and are not tried again by this process.
    refused: BTreeSet<PathBuf>,
    /// Directories that could not be listed when it was looked last.
    unreadable: BTreeSet<PathBuf>,
    /// By the ids of hosts and by session: when its last chunk was recorded.
    recorded: BTreeMap<String, BTreeMap<PathBuf, Recorded>>,
    /// Pairs of sessions of one host at a time that were reported.
    reported: BTreeSet<(PathBuf, PathBuf)>,
    /// Held as long as this goes on, so that no other process writes there.
    _lock: File,
}

/// A chunk of a session, when it was recorded.
#[derive(Debug, Clone, Copy)]
struct Recorded {
    window: Window<RawNs>,
    has_kernel: bool,
}

/// A finished chunk that is not mapped yet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FinishedChunk {
    /// Name of its directory, which starts with the time at which it was begun.
    name: String,
    /// Its directory.
    pub path: PathBuf,
    /// The directory of its session.
    session: PathBuf,
}

/// What a chunk is, as its traces show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkFacts {
    /// The host's name.
    pub host: String,
    /// Bytes of its files.
    pub bytes: u64,
    /// The file name of its piece.
    pub piece: String,
    /// Another session that recorded the same host at the same time, reported once: the kernel is in one of
    /// them, whose pieces will not fit.
    pub beside: Option<PathBuf>,
}

impl InPlace {
    /// Opens a directory of pieces, which is made if there is none, and its journal. `head`: what chunks are
    /// mapped for. Gives the number of lines of the journal that cannot be read, too.
    ///
    /// # Errors
    /// A directory or the journal cannot be read or made, another process writes there, or the pieces were
    /// mapped for other analyses or options.
    pub fn open(
        mut directories: Vec<PathBuf>,
        out: &Path,
        head: &ChunkHead,
    ) -> Result<(Self, usize), WatchError> {
        let wrong = |path: &Path| {
            let path = path.to_owned();
            move |source| WatchError::Directory { path, source }
        };
        // Chunks are known by their directories, in whatever way these are named the next time.
        for directory in &mut directories {
            *directory = directory.canonicalize().map_err(wrong(directory))?;
        }
        let lock = locked(out)?;
        let out = out.canonicalize().map_err(wrong(out))?;
        let (journal, damaged) = PieceJournal::open(&out, head)?;
        let this = Self {
            directories,
            out,
            journal: Arc::new(Mutex::new(journal)),
            refused: BTreeSet::new(),
            unreadable: BTreeSet::new(),
            recorded: BTreeMap::new(),
            reported: BTreeSet::new(),
            _lock: lock,
        };
        Ok((this, damaged))
    }

    /// The journal.
    pub fn journal(&self) -> MutexGuard<'_, PieceJournal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The journal, for another thread.
    pub fn shared_journal(&self) -> Arc<Mutex<PieceJournal>> {
        Arc::clone(&self.journal)
    }

    /// The path of a piece of a file name.
    pub fn path_of(&self, piece: &str) -> PathBuf {
        self.out.join(piece)
    }

    /// The chunks that are not mapped yet, those that were begun first first, and directories that cannot be
    /// listed. Linear in the directories below those that are watched.
    ///
    /// # Errors
    /// A directory that was named cannot be listed, or the journal not be written.
    pub fn find(&mut self) -> Result<(Vec<FinishedChunk>, Vec<Change>), WatchError> {
        let found = chunks::find(&self.directories)
            .map_err(|(path, source)| WatchError::Directory { path, source })?;
        let is_new = |directory: &&PathBuf| !self.unreadable.contains(*directory);
        let changes = (found.unreadable.iter())
            .filter(|(directory, _)| is_new(directory))
            .map(|(directory, why)| Change::Unreadable { directory: directory.clone(), why: why.clone() });
        let changes = changes.collect();
        self.unreadable = found.unreadable.into_keys().collect();
        self.refused.retain(|path| path.exists());
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        let known: BTreeSet<String> = found.chunks.iter().map(|chunk| journal::text(&chunk.path)).collect();
        journal.forget(|chunk| !known.contains(chunk))?;
        let is_open = |chunk: &Chunk| !journal.is_mapped(&chunk.path) && !self.refused.contains(&chunk.path);
        let mut open: Vec<FinishedChunk> = (found.chunks.into_iter())
            .filter(is_open)
            .map(|Chunk { session, path, .. }| {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                FinishedChunk { name, path, session }
            })
            .collect();
        open.sort_unstable();
        Ok((open, changes))
    }

    /// Looks at the traces of a chunk: whose they are, and what its piece is called. Reads the heads of
    /// packets.
    ///
    /// # Errors
    /// Why the chunk is of no use.
    pub fn look(&mut self, chunk: &FinishedChunk) -> Result<ChunkFacts, String> {
        let inputs = Inputs::open(std::slice::from_ref(&chunk.path));
        if inputs.traces.is_empty() {
            let why = inputs.refused.first().map(|refused| refused.why.clone());
            return Err(why.unwrap_or_else(|| "no trace is in it".to_owned()));
        }
        let hosts = Hosts::group(inputs.traces.iter().map(|input| &input.trace)).hosts;
        let [host] = hosts.as_slice() else {
            return Err(format!("it has traces of {} hosts", hosts.len()));
        };
        let Some((start, end)) = host.extent() else { return Err("no packet is in it".to_owned()) };
        let uuids = inputs.traces.iter().filter_map(|input| input.trace.schema().uuid);
        let mut uuids: Vec<String> = uuids.map(|uuid| format!("{uuid:?}")).collect();
        uuids.sort_unstable();
        let recorded = Recorded { window: Window::new(start, end), has_kernel: host.has_kernel() };
        let beside = self.beside(host, &chunk.session, recorded);
        Ok(ChunkFacts {
            host: host.name.clone(),
            bytes: size(&chunk.path),
            piece: piece_name(
                &host.name,
                &chunk.session,
                &chunk.name,
                &[vec![host.id.clone()], uuids].concat(),
            ),
            beside,
        })
    }

    /// Another session that records a host at the same time, if it was not reported yet.
    fn beside(&mut self, host: &Host<'_>, session: &Path, recorded: Recorded) -> Option<PathBuf> {
        let sessions = self.recorded.entry(host.id.clone()).or_default();
        sessions.insert(session.to_owned(), recorded);
        let overlaps = |other: &Recorded| {
            other.window.start < recorded.window.end && recorded.window.start < other.window.end
        };
        let is_beside = |(path, other): &(&PathBuf, &Recorded)| {
            path.as_path() != session && overlaps(other) && (other.has_kernel || recorded.has_kernel)
        };
        let (other, _) = sessions.iter().find(is_beside)?;
        let mut pair = [session.to_owned(), other.clone()];
        pair.sort();
        let [first, second] = pair;
        let other = other.clone();
        self.reported.insert((first, second)).then_some(other)
    }

    /// Records that a chunk was mapped to a file, which is on the disk, and gives the line of the journal.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn mapped(&self, chunk: &FinishedChunk, record: PieceRecord) -> Result<String, WatchError> {
        self.journal().record(Entry::Mapped { chunk: journal::text(&chunk.path), record })
    }

    /// Records that a chunk cannot be mapped, and gives the line of the journal. This process does not try
    /// it again.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn refuse(&mut self, chunk: &FinishedChunk, why: &str) -> Result<String, WatchError> {
        self.refused.insert(chunk.path.clone());
        self.journal().record(Entry::Refused { chunk: journal::text(&chunk.path), why: why.to_owned() })
    }

    /// Whether no chunk is known.
    pub fn is_empty(&self) -> bool {
        self.refused.is_empty() && self.journal().is_empty()
    }

    /// Deletes chunks whose pieces have been handed over, as far as they are not to be kept.
    pub fn delete(&self, retention: Retention) {
        let done = self.journal().handed_over_chunks();
        retention.delete(done.into_iter().filter(|path| path.exists()).collect());
    }
}

/// The file name of the piece of a chunk: the names of its host, of the directory of its session and of its
/// own, and a digest of `ids`, which distinguishes hosts and sessions of one name.
fn piece_name(host: &str, session: &Path, chunk: &str, ids: &[String]) -> String {
    let session = session.file_name().unwrap_or_default().to_string_lossy();
    let end = format!("_{}_{}.{EXTENSION}", escaped(chunk), digest(ids));
    let mut name = format!("{}_{}", escaped(host), escaped(&session));
    // The digest is enough to distinguish those that are too long.
    name.truncate(MAX_NAME.saturating_sub(end.len()));
    name + &end
}

/// A name with all but letters, digits, `.`, `-` and `+` as `=` and two hexadecimal digits for each byte; a
/// file name does not begin with a dot then.
fn escaped(name: &str) -> String {
    let mut text = String::new();
    for (index, byte) in name.bytes().enumerate() {
        match byte {
            b'.' if index == 0 => text.push_str("=2e"),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'+' => text.push(char::from(byte)),
            other => _ = write!(text, "={other:02x}"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_pieces_are_file_names_of_their_own() {
        let name = |host: &str, session: &str, id: &str| {
            piece_name(host, Path::new(session), "20261120T0538+0000-20261120T0539+0000-3", &[id.to_owned()])
        };
        let found = name("web1", "/traces/shop_1", "a");
        let digest = found.strip_prefix("web1_shop=5f1_20261120T0538+0000-20261120T0539+0000-3_");
        assert!(digest.is_some_and(|digest| digest.len() == 16 + ".piece".len()), "{found}");
        assert_eq!(found, name("web1", "/traces/shop_1", "a"));
        for other in [name("web1", "/traces/shop_1", "b"), name("web1_shop", "/traces/1", "a")] {
            assert_ne!(found, other);
        }
        assert!(name("../etc/\n", "/", "a").starts_with("=2e.=2fetc=2f=0a__2026"));
        let long = name(&"x".repeat(300), "/s", "a");
        let extension = Path::new(&long).extension();
        assert!(long.len() <= MAX_NAME && extension.is_some_and(|it| it == EXTENSION), "{long}");
    }
}
