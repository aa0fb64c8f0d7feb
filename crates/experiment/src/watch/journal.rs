//! The journal of a watch: one file for each host, with its model and with the chunks that are in it. A file is replaced as a whole, so
//! that whoever reads it finds both before a chunk or both after it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use isochrone_files::output;
use isochrone_pipeline::piece_file::{self, PieceFileError};
use isochrone_time::RawNs;
use serde::{Deserialize, Serialize};

use super::WatchError;
use crate::pieces::{Asked, FORM, HostFacts, Mapped};

/// So many chunks that were given up are remembered, of which it is told when they come late.
const MOST_MISSING: usize = 10_000;

/// What a file says of itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) asked: Asked,
    pub(super) facts: HostFacts,
    pub(super) done: Done,
}

/// A chunk that is in the model and still needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Recent {
    pub(super) session: PathBuf,
    pub(super) path: PathBuf,
    /// Up to which raw time it was mapped, ns.
    pub(super) to: RawNs,
}

/// Which chunks of a host are in its model.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Done {
    /// How many.
    pub(super) chunks: u64,
    /// By session: the number of the next chunk.
    next: BTreeMap<PathBuf, u64>,
    /// The last ones, by time: the last of each session is opened once more with the next, others are still needed by steps.
    pub(super) recent: Vec<Recent>,
    /// When the first chunk begins, raw ns.
    pub(super) begin: Option<RawNs>,
    /// Sessions of which nothing more is waited for.
    ended: BTreeSet<PathBuf>,
    /// Those that did not come.
    pub(super) missing: BTreeSet<(PathBuf, u64)>,
}

impl Done {
    /// The number of the next chunk of a session that may still come.
    pub(super) fn next(&self, session: &Path) -> u64 {
        let mut number = self.next.get(session).copied().unwrap_or(0);
        while self.missing.contains(&(session.to_owned(), number)) {
            number += 1;
        }
        number
    }

    /// A part of a chunk of a session is in the model.
    pub(super) fn join(&mut self, session: &Path, number: u64, begin: RawNs) {
        self.next.entry(session.to_owned()).or_insert(number);
        self.begin.get_or_insert(begin);
    }

    /// Whether nothing of a session is in the model yet.
    pub(super) fn is_new(&self, session: &Path) -> bool {
        !self.next.contains_key(session)
    }

    /// Sessions of which chunks are in the model and more are waited for.
    pub(super) fn running(&self) -> impl Iterator<Item = &Path> {
        self.next.keys().map(PathBuf::as_path).filter(|path| !self.ended.contains(*path))
    }

    /// A chunk is in the model.
    pub(super) fn pass(&mut self, session: PathBuf, number: u64, recent: Recent) {
        self.chunks += 1;
        self.ended.remove(&session);
        self.next.insert(session, number + 1);
        self.recent.push(recent);
    }

    /// Nothing more is waited for of a session.
    pub(super) fn end(&mut self, session: PathBuf) {
        self.ended.insert(session);
    }

    /// The last ones that are in the model, of each session that goes on, and of all.
    pub(super) fn before(&self) -> Vec<&Path> {
        self.recent
            .iter()
            .filter(|recent| self.is_before(recent))
            .map(|recent| recent.path.as_path())
            .collect()
    }

    fn is_before(&self, recent: &Recent) -> bool {
        let last = self.recent.iter().rfind(|other| other.session == recent.session);
        last == Some(recent) && !self.ended.contains(&recent.session) || self.recent.last() == Some(recent)
    }

    /// Chunks that end before a raw time are not needed any more, but for the last of them, and the last of each session: they show what
    /// was lost before the next ones. Sessions whose directories are gone are forgotten.
    pub(super) fn forget(&mut self, before: RawNs) {
        let first = self.recent.partition_point(|recent| recent.to < before).saturating_sub(1);
        let kept: Vec<Recent> = self
            .recent
            .iter()
            .enumerate()
            .filter(|(place, recent)| *place >= first && before < RawNs::MAX || self.is_before(recent))
            .map(|(_, recent)| recent.clone())
            .collect();
        self.recent = kept;
        // The sessions of pieces are on other machines.
        let is_there = |session: &Path| session.is_relative() || session.exists();
        self.next.retain(|session, _| is_there(session));
        self.ended.retain(|session| is_there(session));
        self.missing.retain(|(session, _)| is_there(session));
    }

    /// That nothing is in the model; chunks that did not come are not waited for again.
    pub(super) fn anew(&self, come: impl Fn(&(PathBuf, u64)) -> bool) -> Self {
        let missing = self.missing.iter().filter(|chunk| !come(chunk)).cloned().collect();
        Self { missing, ..Self::default() }
    }

    /// A chunk that is needed is at another path.
    pub(super) fn moved(&mut self, from: &Path, to: &Path) {
        for recent in self.recent.iter_mut().filter(|recent| recent.path == from) {
            recent.path = to.to_owned();
        }
    }

    /// Chunks of a session did not come: from a number to another, which is there.
    pub(super) fn skip(&mut self, session: &Path, (from, to): (u64, u64)) {
        let left = MOST_MISSING.saturating_sub(self.missing.len());
        self.missing.extend((from..to).take(left).map(|number| (session.to_owned(), number)));
    }
}

/// The journal in a directory.
pub(super) fn read(state: &Path) -> Result<Vec<(Head, Mapped)>, PieceFileError> {
    let io = |source| PieceFileError::Io { path: state.to_owned(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(state).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.extension().is_some_and(|extension| extension == EXTENSION) {
            found.push(path);
        }
    }
    found.sort_unstable();
    found.iter().map(|path| piece_file::read(path, FORM)).collect()
}

/// Writes what is known of a host.
pub(super) fn write(state: &Path, head: &Head, mapped: &Mapped) -> Result<(), WatchError> {
    // Ids may have any characters.
    let name = head.facts.id.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'-' => char::from(byte).to_string(),
        other => format!("_{other:02x}"),
    });
    let path = state.join(name.collect::<String>()).with_extension(EXTENSION);
    output::write_with(&path, |to| Ok(piece_file::write(to, &path, FORM, head, mapped)?))
}

/// Another one of a model, which can be ended while the first goes on.
pub(super) fn copy(mapped: &Mapped) -> Result<Mapped, PieceFileError> {
    piece_file::copy(mapped)
}

/// Of the files of a journal.
const EXTENSION: &str = "host";
